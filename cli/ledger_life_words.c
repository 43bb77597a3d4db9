/* SPDX-License-Identifier: Apache-2.0 */
/* What a lifetime ledger says: words, JSON (schema tacit.lifetime/1), a picture. */
#include "ledger.h"
#include "terminal.h"

#include "base/writer.h"
#include "report/life.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WHEN = 24, WHO = 300 };

static const char *const states[] = {
    [TACIT_LIFETIME_RESERVED] = "reserved",
    [TACIT_LIFETIME_SETTLED] = "settled",
    [TACIT_LIFETIME_OVERRUN] = "overrun",
};

static const tacit_lifetime_entry *entry_at(const life_set *s, size_t k)
{
    return &s->set->entries[s->entry[k]];
}

static void when_words(double at, char out[WHEN])
{
    const time_t seconds = (time_t)at;
    struct tm local;
    out[0] = '\0';
    if (isfinite(at) && localtime_r(&seconds, &local))
        strftime(out, WHEN, "%Y-%m-%d %H:%M", &local);
}

void ledger_life_about(const tacit_lifetime_terms *terms, char *out, size_t size)
{
    snprintf(out, size, "for one %s (adjacency %s)", tacit_unit_name(terms->unit),
             tacit_adjacency_name(terms->adjacency));
}

static uint64_t releases_of(const tacit_lifetime_entry *e)
{
    uint64_t releases = 0;
    for (size_t k = 0; k < e->plan.count; k++)
        releases += e->plan.items[k].releases;
    return releases;
}

/* ---- words ---- */

static void say(const char *label, const char *text)
{
    printf("  %-22s", label);
    cli_wrap(text, 24, 24);
}

static void say_spent(const life_set *s)
{
    const tacit_lifetime_terms *t = &s->set->terms;
    char spent[40], budget[40], left[40], about[100], text[500];
    cli_epsilon(s->spent, spent, sizeof spent);
    ledger_life_about(t, about, sizeof about);
    if (isinf(t->epsilon)) {
        snprintf(text, sizeof text, "epsilon %s, no limit, at delta %g %s", spent, t->delta, about);
    } else {
        cli_epsilon(t->epsilon, budget, sizeof budget);
        cli_epsilon(ledger_life_left(s), left, sizeof left);
        snprintf(text, sizeof text, "epsilon %s of %s at delta %g %s: %s left", spent, budget,
                 t->delta, about, left);
    }
    say("spent", text);
    if (s->fixed < s->spent) {
        snprintf(text, sizeof text,
                 "epsilon %.4g, if no run was set up by what earlier ones said; the larger one "
                 "above holds in any case, by the filter \"%s\"",
                 s->fixed, tacit_filter_names[t->filter]);
        say("at most", text);
    }
}

static void say_budget(const life_set *s)
{
    char text[600];
    if (s->set->by_owner)
        snprintf(text, sizeof text, "set by its owner; it does not change");
    else
        snprintf(text, sizeof text,
                 "as much as its first run, since nobody has set one: \"tacit ledger budget "
                 "%.200s --epsilon E --delta D\" does, once",
                 s->set->name);
    say("budget", text);
}

static void say_run(const life_set *s, size_t k)
{
    const tacit_lifetime_entry *e = entry_at(s, k);
    char when[WHEN], alone[40], until[40];
    when_words(e->reserved, when);
    cli_epsilon(s->alone[k], alone, sizeof alone);
    cli_epsilon(s->until[k], until, sizeof until);
    printf("  %-16s  %-8.8s  %-12.12s %-14.14s %9s %10s  %s\n", when, e->run, e->protocol,
           e->agent_name, alone, until, states[e->state]);
}

static void say_set(const life_set *s, const ledger_flags *flags)
{
    const size_t count = s->set->count;
    const size_t shown = count < (uint64_t)flags->last ? count : (size_t)flags->last;
    bool open = false;
    printf("%s%s%s: %zu run%s", cli_bold(), s->set->name, cli_plain(), count,
           count == 1 ? "" : "s");
    if (s->set->records > 0)
        printf(", %" PRIu64 " records known", s->set->records);
    putchar('\n');
    if (!s->set->has_terms) {
        say("spent", "nothing, and nobody has set a budget");
        return;
    }
    say_spent(s);
    say_budget(s);
    if (shown > 0)
        printf("\n  %-16s  %-8s  %-12s %-14s %9s %10s\n", "when", "run", "protocol", "who", "alone",
               "all so far");
    for (size_t k = count - shown; k < count; k++) {
        say_run(s, k);
        open |= entry_at(s, k)->state == TACIT_LIFETIME_RESERVED;
    }
    if (open)
        cli_wrap("  reserved: the whole plan of the run counts, since it goes on, or did not come "
                 "to a clean end (started again to its end it gives back what it did not spend), "
                 "or has agents that spent differently",
                 0, 2);
}

static bool is_asked(const life *l, const life_set *s, const ledger_flags *flags)
{
    return !*flags->data_set || tacit_lifetime_find(l->view, flags->data_set) == s->set;
}

void ledger_life_words(const life *l, const ledger_flags *flags)
{
    bool first = true;
    if (l->view->count == 0)
        printf("%s: no data set yet\n", l->path);
    for (size_t k = 0; k < l->view->count; k++) {
        if (!is_asked(l, &l->sets[k], flags))
            continue;
        if (!first)
            putchar('\n');
        first = false;
        say_set(&l->sets[k], flags);
    }
}

/* ---- JSON ---- */

static void put_run(tacit_json *json, const life_set *s, size_t k)
{
    const tacit_lifetime_entry *e = entry_at(s, k);
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "run", e->run);
    tacit_json_text(json, "protocol", e->protocol);
    tacit_json_text(json, "who", e->agent_name);
    tacit_json_count(json, "agent", e->agent);
    tacit_json_text(json, "adversary", tacit_trust_name(e->trust));
    tacit_json_text(json, "state", states[e->state]);
    tacit_json_real(json, "reserved", e->reserved);
    tacit_json_real(json, "settled", e->settled);
    if (e->plan.count > 0)
        tacit_json_count(json, "releases", releases_of(e));
    else
        tacit_json_null(json, "releases");
    tacit_json_real(json, "epsilon_alone", s->alone[k]);
    tacit_json_real(json, "epsilon_so_far", s->until[k]);
    tacit_json_bool(json, "unbounded", isinf(s->until[k]));
    tacit_json_end(json, '}');
}

static void put_set(tacit_json *json, const life_set *s)
{
    const tacit_lifetime_terms *t = &s->set->terms;
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "name", s->set->name);
    tacit_json_count(json, "records", s->set->records);
    tacit_json_real(json, "created", s->set->created);
    tacit_json_bool(json, "has_budget", s->set->has_terms);
    if (s->set->has_terms) {
        tacit_json_text(json, "budget_by", s->set->by_owner ? "owner" : "first run");
        tacit_json_real(json, "epsilon_budget", t->epsilon);
        tacit_json_real(json, "delta", t->delta);
        tacit_json_text(json, "unit", tacit_unit_name(t->unit));
        tacit_json_text(json, "adjacency", tacit_adjacency_name(t->adjacency));
        tacit_json_text(json, "filter", tacit_filter_names[t->filter]);
        tacit_json_real(json, "epsilon_spent", s->spent);
        tacit_json_bool(json, "unbounded", isinf(s->spent));
        tacit_json_real(json, "epsilon_spent_if_costs_were_fixed", s->fixed);
        tacit_json_real(json, "epsilon_left", ledger_life_left(s));
        tacit_json_begin(json, "runs", '[');
        for (size_t k = 0; k < s->set->count; k++)
            put_run(json, s, k);
        tacit_json_end(json, ']');
    }
    tacit_json_end(json, '}');
}

char *ledger_life_json(const life *l)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.lifetime/1");
    tacit_json_text(&json, "version", TACIT_VERSION);
    tacit_json_text(&json, "path", l->path);
    tacit_json_begin(&json, "data_sets", '[');
    for (size_t k = 0; k < l->view->count; k++)
        put_set(&json, &l->sets[k]);
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

/* ---- the picture ---- */

typedef struct drawn_run {
    char when[WHEN], name[WHO];
} drawn_run;

typedef struct drawn {
    tacit_life_run *runs;
    drawn_run *words;
    char note[300];
} drawn;

static bool draw_set(tacit_life *to, drawn *d, const life_set *s)
{
    const size_t count = s->set->has_terms ? s->set->count : 0;
    char about[100], spent[40], left[40] = "";
    d->runs = calloc(count + 1, sizeof *d->runs);
    d->words = calloc(count + 1, sizeof *d->words);
    if (!d->runs || !d->words)
        return false;
    for (size_t k = 0; k < count; k++) {
        const tacit_lifetime_entry *e = entry_at(s, k);
        when_words(e->reserved, d->words[k].when);
        snprintf(d->words[k].name, WHO, "%.100s, %.190s", e->protocol, e->agent_name);
        d->runs[k] = (tacit_life_run){.when = d->words[k].when,
                                      .name = d->words[k].name,
                                      .kind = e->protocol,
                                      .until = s->until[k],
                                      .open = e->state == TACIT_LIFETIME_RESERVED};
    }
    ledger_life_about(&s->set->terms, about, sizeof about);
    cli_epsilon(s->spent, spent, sizeof spent);
    if (isfinite(s->set->terms.epsilon))
        snprintf(left, sizeof left, ", %.4g left", ledger_life_left(s));
    if (s->set->has_terms)
        snprintf(d->note, sizeof d->note, "epsilon %s spent%s, at delta %g, %s", spent, left,
                 s->set->terms.delta, about);
    *to = (tacit_life){.name = s->set->name,
                       .note = d->note,
                       .budget = s->set->has_terms ? s->set->terms.epsilon : INFINITY,
                       .runs = d->runs,
                       .count = count};
    return true;
}

char *ledger_life_svg(const life *l)
{
    tacit_writer out = {0};
    const size_t count = l->view->count;
    tacit_life *lives = calloc(count + 1, sizeof *lives);
    drawn *d = calloc(count + 1, sizeof *d);
    bool good = lives && d;
    for (size_t k = 0; good && k < count; k++)
        good = draw_set(&lives[k], &d[k], &l->sets[k]);
    if (good)
        tacit_draw_lives(&out, "What was spent on each data set", lives, count);
    for (size_t k = 0; d && k < count; k++) {
        free(d[k].runs);
        free(d[k].words);
    }
    free(lives);
    free(d);
    return good ? tacit_writer_take(&out) : NULL;
}
