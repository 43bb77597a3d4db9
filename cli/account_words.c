/* SPDX-License-Identifier: Apache-2.0 */
/* tacit account for people: what holds, against whom, and who says so. */
#include "account.h"
#include "account_ledger.h"
#include "report/writer.h"
#include "terminal.h"
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INDENT 16

static void say(const char *label, const char *text)
{
    printf("  %-*s", INDENT - 2, label);
    cli_wrap(text, INDENT, INDENT);
}

void cli_account_number(double epsilon, bool up, char *out, size_t size)
{
    if (isnan(epsilon) || isinf(epsilon)) {
        snprintf(out, size, "%s", isnan(epsilon) ? "-" : "unbounded");
        return;
    }
    for (int k = 0; k < 2; k++) { /* a bound is rounded away from what it bounds */
        snprintf(out, size, "%.6g", epsilon);
        double shown = strtod(out, NULL), step = fabs(epsilon) * 1e-6;
        if (up ? shown >= epsilon : shown <= epsilon)
            return;
        epsilon += up ? step : -step;
    }
}

/* ---- the question ---- */

static void add_number(tacit_writer *out, const char *name, double value)
{
    tacit_write_format(out, "%s %.9g", name, value);
}

static void add_noise(tacit_writer *out, const cli_account_request *q)
{
    if (CLI_GIVEN(q, MULTIPLIER))
        add_number(out, ", noise multiplier", q->multiplier);
    if (CLI_GIVEN(q, SIGMA))
        add_number(out, ", sigma", q->sigma);
    if (CLI_GIVEN(q, SCALE))
        add_number(out, ", scale", q->scale);
    if (CLI_GIVEN(q, SENSITIVITY))
        add_number(out, ", sensitivity", q->sensitivity);
    if (CLI_GIVEN(q, CATEGORIES))
        tacit_write_format(out, ", %" PRId64 " answers", q->categories);
    if (CLI_GIVEN(q, TRUTH))
        add_number(out, ", true with probability", q->truth);
    if (CLI_GIVEN(q, EPSILON))
        add_number(out, ", epsilon", q->epsilon);
    if (CLI_GIVEN(q, RELEASE_DELTA))
        add_number(out, ", delta", q->release_delta);
    if (CLI_GIVEN(q, RHO))
        add_number(out, ", rho", q->rho);
    if (CLI_GIVEN(q, EPSILON) || CLI_GIVEN(q, RHO))
        tacit_write_text(out, " each");
}

void cli_account_question(tacit_writer *out, const cli_account_request *q)
{
    char count[40];
    add_noise(out, q);
    cli_count((uint64_t)q->agents, count, sizeof count);
    if (q->form->shuffle)
        tacit_write_format(out, ", %s agents", count);
    cli_count((uint64_t)q->steps, count, sizeof count);
    tacit_write_format(out, ", %s release%s", count, q->steps == 1 ? "" : "s");
    if (q->sampling < 1)
        add_number(out, ", sampling", q->sampling);
}

static void say_question(const cli_account_facts *f)
{
    const cli_account_request *q = f->request;
    printf("%s%s%s", cli_bold(), q->form->words, cli_plain());
    if (q->form->ledger) {
        printf(": %s\n", q->path);
        return;
    }
    tacit_writer out = {0};
    cli_account_question(&out, q);
    char *text = tacit_writer_take(&out);
    cli_wrap(text ? text : "", (int)strlen(q->form->words), 2);
    free(text);
}

/* ---- the answer ---- */

static void say_found(const cli_account_facts *f)
{
    const cli_account_request *q = f->request;
    const char *name = CLI_GIVEN(q, MULTIPLIER) ? "noise multiplier"
                       : CLI_GIVEN(q, SIGMA)    ? "sigma"
                       : CLI_GIVEN(q, SCALE)    ? "scale"
                       : CLI_GIVEN(q, RHO)      ? "rho of each release"
                       : q->form->shuffle       ? "epsilon of each report"
                                                : "epsilon of each release";
    const double value = CLI_GIVEN(q, MULTIPLIER) ? q->multiplier
                         : CLI_GIVEN(q, SIGMA)    ? q->sigma
                         : CLI_GIVEN(q, SCALE)    ? q->scale
                         : CLI_GIVEN(q, RHO)      ? q->rho
                                                  : q->epsilon;
    const bool noise = CLI_GIVEN(q, MULTIPLIER) || CLI_GIVEN(q, SIGMA) || CLI_GIVEN(q, SCALE);
    char text[200];
    snprintf(text, sizeof text, "%s %.9g: the %s that keeps within epsilon %g at delta %g by %s",
             name, value, noise ? "least" : "largest", q->target, q->delta,
             tacit_accountant_names[f->by]);
    say("found", text);
}

/* Nothing enforced a sensitivity: then no figure is a guarantee. */
static bool is_claim(const cli_account_facts *f)
{
    return f->ledger && f->ledger->lines.claimed;
}

/* Epsilon 0.7 says little to most people; how far the odds can move says more. */
static void say_meaning(const cli_account_facts *f)
{
    const cli_account_answer *a = &f->answer;
    char text[400], number[40], user[60] = "the record was this and not another";
    if (f->request->group > 1)
        snprintf(user, sizeof user, "the %" PRId64 " records were these and not others",
                 f->request->group);
    if (a->best < 0) {
        snprintf(text, sizeof text, "nothing: no epsilon is large enough%s",
                 a->delta == 0 ? " at delta 0" : "");
        say("what holds", text);
        return;
    }
    const double epsilon = a->epsilon[a->best];
    if (epsilon > 10)
        snprintf(number, sizeof number, "e^%.4g, which is next to nothing,", epsilon);
    else
        snprintf(number, sizeof number, "%.4g", exp(epsilon));
    const int used = snprintf(text, sizeof text,
                              "the odds that %s change by a factor of at "
                              "most %s",
                              user, number);
    if (a->delta > 0)
        snprintf(text + used, sizeof text - (size_t)used, " but for probability %g", a->delta);
    say(is_claim(f) ? "is claimed" : "what holds", text);
}

static void say_unbounded(const cli_account_facts *f)
{
    for (size_t k = 0; k < f->count; k++) {
        if (f->loss[k].kind == TACIT_LOSS_BARE) {
            say("why", "something was released without noise: it says what it says");
            return;
        }
    }
    if (f->answer.delta == 0)
        say("why", "at delta 0 the rarest results count as much as the others, and they may give a "
                   "record away; allow them a small probability, as in --delta 1e-5");
    else if (f->request->form->kind == TACIT_LOSS_APPROXIMATE)
        say("why", "the releases may fail more often than --delta allows; give a larger one");
}

static void say_adjacency(const cli_account_facts *f)
{
    const bool noise =
        f->loss[0].kind >= TACIT_LOSS_GAUSSIAN && f->loss[0].kind < TACIT_LOSS_RESPONSE;
    char text[400];
    if (f->adjacency == TACIT_ADD_REMOVE)
        snprintf(text, sizeof text,
                 "add-remove: one record is there or not. To replace one by another (the default "
                 "of tacit) is two such changes and costs more: compare figures of one adjacency");
    else
        snprintf(text, sizeof text,
                 "replace: one record is another%s. Figures for add-remove (a record is there or "
                 "not) are smaller: compare figures of one adjacency",
                 noise ? ", so that noise must hide one contribution that goes and one that comes"
                       : "");
    say("adjacency", text);
}

static void say_guarantee(const cli_account_facts *f)
{
    const cli_account_answer *a = &f->answer;
    char text[500], number[40];
    cli_account_number(a->best < 0 ? INFINITY : a->epsilon[a->best], true, number, sizeof number);
    printf("\n  %-*s%sepsilon %s%s at delta %g%s%s\n", INDENT - 2,
           is_claim(f) ? "claim" : "guarantee", cli_bold(), number, cli_plain(), a->delta,
           a->best < 0 ? "" : ", by ", a->best < 0 ? "" : tacit_accountant_names[a->best]);
    say_meaning(f);
    if (a->best < 0)
        say_unbounded(f);
    say("against whom", f->adversary);
    if (f->request->group > 1)
        snprintf(text, sizeof text, "user: %" PRId64 " records of one person together",
                 f->request->group);
    else
        snprintf(text, sizeof text, "%s",
                 f->unit == TACIT_UNIT_USER ? "user: all records of one agent together"
                                            : "record: one record, not all that one person has");
    say("unit", text);
    say_adjacency(f);
}

static void say_table(const cli_account_facts *f)
{
    const cli_account_answer *a = &f->answer;
    char number[40];
    printf("\n  %s%-12s %12s   %s%s\n", cli_faint(), "accountant", "epsilon", "how", cli_plain());
    for (int k = TACIT_ACCOUNTANTS - 1; k >= 0; k--) {
        cli_account_number(a->epsilon[k], true, number, sizeof number);
        printf("  %-12s %12s   %s%s\n", tacit_accountant_names[k], number,
               isnan(a->epsilon[k]) ? cli_account_silence((tacit_accountant)k, f->loss, f->count)
                                    : cli_account_method((tacit_accountant)k),
               k == a->best && !is_claim(f) ? "  <- quote this" : "");
        if (k == TACIT_BY_PLD && !isnan(a->optimistic)) {
            cli_account_number(a->optimistic, false, number, sizeof number);
            printf("  %-12s %12s   %s\n", "  at least", number,
                   "rounded down: no accountant can prove less");
        }
    }
}

/* ---- ledgers ---- */

static void say_seal(const cli_account_ledger *ledger)
{
    static const char *const words[] = {
        [TACIT_SEAL_NONE] =
            "none: the figures are as good as the lines, which anyone may have edited",
        [TACIT_SEAL_RUN] = "whole: not cut or edited by accident (anyone could seal it anew)",
        [TACIT_SEAL_KEY] = "whole: not cut or edited by anyone without the key",
    };
    say("seal", words[ledger->lines.seal]);
}

static void say_ledger(const cli_account_facts *f)
{
    const cli_account_ledger *ledger = f->ledger;
    const cli_account_spender *worst = &ledger->spender[0];
    char text[300], agents[40], some[40], least[40], most[40];
    putchar('\n');
    say_seal(ledger);
    cli_count(ledger->lines.agents, agents, sizeof agents);
    cli_count(ledger->least, least, sizeof least);
    cli_count(ledger->most, most, sizeof most);
    if (CLI_GIVEN(f->request, AGENT) || ledger->lines.agents == 1) {
        snprintf(text, sizeof text, "agent %" PRIu64 "%s%s: %s releases", worst->agent,
                 ledger->lines.agents == 1 ? "" : ", one of ",
                 ledger->lines.agents == 1 ? "" : agents, most);
        say("figures for", text);
        return;
    }
    const uint64_t spoke = cli_account_ledger_spoke(ledger);
    const bool all = spoke == 0 || spoke >= ledger->lines.agents;
    cli_count(spoke, some, sizeof some);
    snprintf(text, sizeof text, "%s%s%s, with %s%s%s releases each%s", all ? "" : some,
             all ? "" : " of ", agents, least, ledger->least == ledger->most ? "" : " to ",
             ledger->least == ledger->most ? "" : most, all ? "" : "; the others have none");
    say("agents", text);
    if (ledger->envelope)
        snprintf(text, sizeof text,
                 "no agent spent more than this; they differ too much to name the worst");
    else if (ledger->lines.accounts < 2)
        snprintf(text, sizeof text, "each of them");
    else
        snprintf(text, sizeof text, "agent %" PRIu64 "%s, who spent most", worst->agent,
                 worst->agents == 1 ? "" : " and others like it");
    say("figures for", text);
}

static void say_spenders(const cli_account_ledger *ledger)
{
    if (ledger->shown < 2)
        return;
    printf("\n  %s%-12s %10s %12s %14s%s\n", cli_faint(), "agent", "alike", "releases", "epsilon",
           cli_plain());
    for (size_t k = 0; k < ledger->shown; k++) {
        const cli_account_spender *s = &ledger->spender[k];
        char name[40], alike[40], releases[40], number[40];
        snprintf(name, sizeof name, "%" PRIu64, s->agent);
        cli_count(s->agents, alike, sizeof alike);
        cli_count(s->releases, releases, sizeof releases);
        cli_account_number(s->answer.best < 0 ? INFINITY : s->answer.epsilon[s->answer.best], true,
                           number, sizeof number);
        printf("  %-12s %10s %12s %14s\n", ledger->envelope && k == 0 ? "at most" : name, alike,
               releases, number);
    }
    if (ledger->shown < ledger->lines.accounts)
        printf("  %sand others; --agent N for one of them%s\n", cli_faint(), cli_plain());
}

void cli_account_words(const cli_account_facts *f)
{
    say_question(f);
    if (f->ledger)
        say_ledger(f);
    if (CLI_GIVEN(f->request, TARGET))
        say_found(f);
    say_guarantee(f);
    say_table(f);
    if (f->ledger)
        say_spenders(f->ledger);
}
