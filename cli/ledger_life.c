/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit ledger over several runs: show, budget and join of lifetime ledgers. Looking changes
 * nothing.
 */
#include "ledger.h"
#include "lifetime.h"
#include "terminal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AGENTS_MAGIC 0x5443544cU /* of a peer's ledger, which is SQLite, too */

bool ledger_is_life(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    uint8_t start[72] = {0};
    FILE *file = fopen(path, "rb");
    const bool read = file && fread(start, 1, sizeof start, file) == sizeof start;
    if (file)
        fclose(file);
    const uint32_t id = (uint32_t)start[68] << 24 | (uint32_t)start[69] << 16 |
                        (uint32_t)start[70] << 8 | start[71];
    return read && memcmp(start, magic, sizeof magic) == 0 && id != AGENTS_MAGIC;
}

/* ---- opening ---- */

static int by_time(const void *a, const void *b, void *entries)
{
    const tacit_lifetime_entry *all = entries;
    const tacit_lifetime_entry *x = &all[*(const size_t *)a], *y = &all[*(const size_t *)b];
    return (x->reserved > y->reserved) - (x->reserved < y->reserved);
}

/* The smallest of what accountants say; they differ in what they know. */
static tacit_status find_fixed(life_set *s, tacit_error *err)
{
    s->fixed = INFINITY;
    for (int by = 0; by < TACIT_ACCOUNTANTS; by++) {
        double epsilon;
        tacit_status status = tacit_lifetime_epsilon(s->set, NULL, (tacit_accountant)by,
                                                     s->set->terms.delta, &epsilon, err);
        if (status)
            return status;
        s->fixed = isnan(epsilon) ? s->fixed : fmin(s->fixed, epsilon);
    }
    return TACIT_OK;
}

static tacit_status find_alone(life_set *s, size_t k, tacit_error *err)
{
    s->alone[k] = INFINITY;
    for (int by = 0; by < TACIT_ACCOUNTANTS; by++) {
        double epsilon;
        tacit_status status =
            tacit_lifetime_alone(&s->set->terms, &s->set->entries[s->entry[k]].plan,
                                 (tacit_accountant)by, s->set->terms.delta, &epsilon, err);
        if (status)
            return status;
        s->alone[k] = isnan(epsilon) ? s->alone[k] : fmin(s->alone[k], epsilon);
    }
    return TACIT_OK;
}

/* What was spent by each of its runs and all before. */
static tacit_status follow(life_set *s, tacit_error *err)
{
    const size_t count = s->set->count;
    tacit_lifetime_dataset first = *s->set;
    tacit_lifetime_entry *entries = calloc(count + 1, sizeof *entries);
    s->until = calloc(count + 1, sizeof *s->until);
    s->alone = calloc(count + 1, sizeof *s->alone);
    s->entry = calloc(count + 1, sizeof *s->entry);
    tacit_status status =
        entries && s->until && s->alone && s->entry ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t k = 0; k < count && !status; k++)
        s->entry[k] = k;
    if (!status)
        qsort_r(s->entry, count, sizeof *s->entry, by_time, (void *)(uintptr_t)s->set->entries);
    first.entries = entries;
    for (size_t k = 0; k < count && !status; k++) {
        entries[k] = s->set->entries[s->entry[k]];
        first.count = k + 1;
        status = tacit_lifetime_spent(&first, NULL, &s->until[k], err);
        if (!status)
            status = find_alone(s, k, err);
    }
    free(entries);
    return status;
}

static tacit_status add_up(life_set *s, const tacit_lifetime_dataset *set, tacit_error *err)
{
    *s = (life_set){.set = set};
    if (!set->has_terms)
        return TACIT_OK;
    tacit_status status = tacit_lifetime_spent(set, NULL, &s->spent, err);
    if (!status)
        status = find_fixed(s, err);
    return status ? status : follow(s, err);
}

tacit_status ledger_life_open(life *l, const char *path, bool write, tacit_error *err)
{
    *l = (life){.ledger = NULL};
    tacit_status status = cli_lifetime_path(l->path, path, write, err);
    if (!status)
        status = write ? tacit_lifetime_open(&l->ledger, l->path, err)
                       : tacit_lifetime_look(&l->ledger, l->path, err);
    if (!status)
        status = tacit_lifetime_read(l->ledger, &l->view, err);
    if (!status && !(l->sets = calloc(l->view->count + 1, sizeof *l->sets)))
        status = tacit_out_of_memory(err);
    for (size_t k = 0; !status && k < l->view->count; k++)
        status = add_up(&l->sets[k], &l->view->sets[k], err);
    if (status)
        ledger_life_close(l);
    return status;
}

void ledger_life_close(life *l)
{
    for (size_t k = 0; l->sets && k < l->view->count; k++) {
        free(l->sets[k].until);
        free(l->sets[k].alone);
        free(l->sets[k].entry);
    }
    free(l->sets);
    tacit_lifetime_view_free(l->view);
    tacit_lifetime_close(l->ledger);
    *l = (life){.ledger = NULL};
}

double ledger_life_left(const life_set *s)
{
    const double left = s->set->terms.epsilon - s->spent;
    return isinf(s->set->terms.epsilon) ? INFINITY : left > 0 ? left : 0;
}

/* ---- show ---- */

tacit_status ledger_life_show(const char *path, const ledger_flags *flags, tacit_error *err)
{
    life l;
    tacit_status status = ledger_life_open(&l, path, false, err);
    if (status)
        return status;
    if (*flags->data_set && !tacit_lifetime_find(l.view, flags->data_set))
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" has no data set \"%.200s\"", l.path,
                            flags->data_set);
    if (!status && *flags->svg)
        status = cli_write_file(flags->svg, ledger_life_svg(&l), flags->force, err);
    if (!status && flags->json)
        status = cli_print_text(ledger_life_json(&l), err);
    else if (!status)
        ledger_life_words(&l, flags);
    ledger_life_close(&l);
    return status;
}

/* ---- budget ---- */

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Unit and adjacency as they are, unless it was said otherwise. */
static tacit_lifetime_terms terms_of(const ledger_flags *f, const tacit_lifetime_dataset *set)
{
    tacit_lifetime_terms terms = {.epsilon = f->epsilon,
                                  .delta = f->delta,
                                  .aside = f->aside,
                                  .filter = (tacit_filter)f->filter,
                                  .unit = TACIT_UNIT_RECORD,
                                  .adjacency = TACIT_REPLACE};
    if (set && set->has_terms) {
        terms.unit = set->terms.unit;
        terms.adjacency = set->terms.adjacency;
    }
    if (f->unit != LEDGER_AS_KNOWN)
        terms.unit = (tacit_unit)(f->unit - 1);
    if (f->adjacency != LEDGER_AS_KNOWN)
        terms.adjacency = (tacit_adjacency)(f->adjacency - 1);
    return terms;
}

tacit_status ledger_life_budget(const cli_args *args, tacit_error *err)
{
    const ledger_flags *f = args->flags;
    life l;
    if (args->word_count < 2 || !(f->epsilon > 0))
        return tacit_fail(err, TACIT_EUSAGE,
                          "expected a data set and its budget, as in \"tacit ledger budget "
                          "patients --epsilon 3 --delta 1e-5\"");
    tacit_status status = ledger_life_open(&l, f->lifetime, true, err);
    if (status)
        return status;
    for (size_t k = 1; k < args->word_count && !status; k++) {
        const char *name = args->words[k];
        const tacit_lifetime_terms terms = terms_of(f, tacit_lifetime_find(l.view, name));
        char about[100], text[500];
        status = tacit_lifetime_set(l.ledger, name, &terms, wall_clock(), err);
        if (status)
            break;
        ledger_life_about(&terms, about, sizeof about);
        snprintf(text, sizeof text,
                 "%.200s: all runs together may spend epsilon %g at delta %g %s; this does not "
                 "change any more",
                 name, terms.epsilon, terms.delta, about);
        cli_wrap(text, 0, 2);
    }
    ledger_life_close(&l);
    return status;
}

/* ---- join ---- */

tacit_status ledger_life_join(const cli_args *args, tacit_error *err)
{
    const ledger_flags *f = args->flags;
    life l;
    if (args->word_count != 3)
        return tacit_fail(err, TACIT_EUSAGE,
                          "expected two data sets, as in \"tacit ledger join patients "
                          "patients-2026\": the second becomes a part of the first");
    tacit_status status = ledger_life_open(&l, f->lifetime, true, err);
    if (status)
        return status;
    status = tacit_lifetime_join(l.ledger, args->words[1], args->words[2], wall_clock(), err);
    ledger_life_close(&l);
    if (!status)
        printf("%s is a part of %s now: the runs of both count, the smaller budget holds\n",
               args->words[2], args->words[1]);
    return status;
}
