/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gopa-dropouts: a private average while three agents of ten drop out at random moments. Is the
 * mean that is told unbiased, is its noise what was planned, does a coalition see no more than was
 * claimed, and would it be noticed if it did? Rounds are independent; so are the numbers of one
 * round, each of which has noise of its own, and counts as one average.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reproduce/dropouts.h"
#include "reproduce/figure.h"
#include "tacit/audit.h"

#define CONFIDENCE 0.95
#define NORMAL 1.959964 /* its quantile: intervals of means of thousands */
#define POINTS 10       /* of a curve */

enum { UNIFORM, GAUSSIAN, MASKS };
static const char *const masks[] = {"uniform", "gaussian"};

typedef struct study {
    const tacit_reproduce_request *request;
    dropouts_task task[MASKS];
    uint32_t rounds[DROPOUTS_BREAKS]; /* of each build */
    dropouts_round *of;               /* mask by mask, build by build */
    size_t count;
    figure_work work;
} study;

static size_t rounds_of_mask(const study *s)
{
    size_t sum = 0;
    for (size_t b = 0; b < DROPOUTS_BREAKS; b++)
        sum += s->rounds[b];
    return sum;
}

static const dropouts_round *rounds_of(const study *s, size_t mask, size_t broken)
{
    size_t at = mask * rounds_of_mask(s);
    for (size_t b = 0; b < broken; b++)
        at += s->rounds[b];
    return s->of + at;
}

static tacit_status piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    study *s = ctx;
    const size_t mask = k / rounds_of_mask(s);
    size_t at = k % rounds_of_mask(s), broken = 0;
    while (at >= s->rounds[broken])
        at -= s->rounds[broken++];
    const tacit_status status =
        dropouts_run(&s->of[k], &s->task[mask], (uint64_t)s->request->seed + k, broken, err);
    return status ? status : figure_done(worker, 1);
}

/* ---- what came out ---- */

typedef struct moments {
    double count, sum, squares;
} moments;

static void add(moments *m, double x)
{
    m->count++;
    m->sum += x;
    m->squares += x * x;
}

static double mean_of(const moments *m)
{
    return m->sum / m->count;
}

static double error_of(const moments *m)
{
    const double mean = mean_of(m);
    return sqrt(fmax(m->squares / m->count - mean * mean, 0) / m->count);
}

typedef struct tally {
    uint64_t heard, refused, lost;
    uint64_t refused_charged, lost_charged; /* releases, over all agents */
    uint64_t gone[DROPOUTS_MOMENTS], present, members;
    moments bias;    /* mean that was told - mean over its members */
    moments drift;   /* - mean over all agents, a round each */
    moments squares; /* of errors, as parts of what was planned */
} tally;

/* A try that came as far as words is charged; a round without one must not be. What agents call
 * refused is the last try, whatever an earlier one cost, so trace and ledgers decide here. */
static void count_round(tally *t, const dropouts_round *r, uint32_t numbers)
{
    const bool heard = r->outcome == TACIT_TOTAL_HEARD;
    t->refused += !heard && !r->worded;
    t->refused_charged += !heard && !r->worded ? r->charged : 0;
    t->lost += !heard && r->worded;
    t->lost_charged += !heard && r->worded ? r->charged : 0;
    if (!heard)
        return;
    t->heard++;
    t->present += r->present;
    t->members += r->members;
    for (size_t m = 0; m < DROPOUTS_MOMENTS; m++)
        t->gone[m] += r->gone[m];
    for (uint32_t k = 0; k < numbers; k++) {
        const double z = r->error[k] / r->planned;
        add(&t->bias, r->error[k] / r->members);
        add(&t->squares, z * z);
    }
    add(&t->drift, r->drift);
}

/* The ratio of variances; its standard error is what Gaussian noise gives it. */
static double ratio_error(const tally *t)
{
    return sqrt(2 / t->squares.count);
}

/* ---- the audit ---- */

/* Rounds with a sum are in turn those without the canary and those with it. Rounds have unlike
 * members, so scores of all of them come first, for the pilot to see. */
static size_t gather(const study *s, size_t mask, size_t broken, double *without, double *with)
{
    const dropouts_round *r = rounds_of(s, mask, broken);
    size_t heard = 0, count[2] = {0, 0};
    for (uint32_t n = 0; n < s->task[mask].numbers; n++, heard = 0)
        for (uint32_t k = 0; k < s->rounds[broken]; k++) {
            if (r[k].outcome != TACIT_TOTAL_HEARD)
                continue;
            const bool planted = heard++ % 2;
            (planted ? with : without)[count[planted]++] =
                r[k].score[n] + (planted ? r[k].lift : 0);
        }
    return count[1]; /* the fewer */
}

static tacit_status audit(double *shown, const study *s, size_t mask, size_t broken,
                          tacit_error *err)
{
    const size_t most = (size_t)s->rounds[broken] * s->task[mask].numbers;
    double *without = malloc(most * sizeof *without), *with = malloc(most * sizeof *with);
    tacit_status status = without && with ? TACIT_OK : tacit_out_of_memory(err);
    const size_t trials = status ? 0 : gather(s, mask, broken, without, with);
    *shown = NAN; /* too few rounds gave a sum */
    if (trials >= 30) {
        tacit_audit found = {.pilot = trials / 3,
                             .trials = trials - trials / 3,
                             .with = with,
                             .without = without,
                             .delta = s->task[mask].delta,
                             .confidence = CONFIDENCE};
        status = tacit_audit_find(&found, TACIT_CURVE_GAUSSIAN, err);
        *shown = status ? NAN : tacit_audit_shown(&found);
    }
    free(without);
    free(with);
    return status;
}

/* ---- what is shown ---- */

static void add_rows(tacit_reproduced *out, const study *s, size_t mask, const tally *t)
{
    const double rounds = s->rounds[DROPOUTS_SOUND], one = ratio_error(t);
    const double agents = (double)t->heard * s->task[mask].agents;
    const struct {
        const char *what;
        double mean, error;
    } shown[] = {
        {"mean told - mean of its members", mean_of(&t->bias), error_of(&t->bias)},
        {"mean told - mean of all agents", mean_of(&t->drift), error_of(&t->drift)},
        {"variance, measured / planned", mean_of(&t->squares), one},
    };
    figure_add_row(out, (double)t->heard / rounds, NAN, NAN, NAN, "%s: rounds with a sum",
                   masks[mask]);
    figure_add_row(out, (double)t->refused / rounds, NAN, NAN, NAN,
                   "%s: rounds refused before any word", masks[mask]);
    figure_add_row(out, (double)t->refused_charged, NAN, NAN, NAN,
                   "%s: releases charged in refused rounds", masks[mask]);
    figure_add_row(out, (double)t->lost / rounds, NAN, NAN, NAN, "%s: rounds lost after words",
                   masks[mask]);
    for (size_t m = 0; m < DROPOUTS_MOMENTS; m++)
        figure_add_row(out, (double)t->gone[m] / agents, NAN, NAN, NAN, "%s: gone %s", masks[mask],
                       dropouts_moments[m]);
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++)
        figure_add_row(out, shown[k].mean, shown[k].mean - NORMAL * shown[k].error,
                       shown[k].mean + NORMAL * shown[k].error, NAN, "%s: %s", masks[mask],
                       shown[k].what);
}

static void find_rounds(tacit_reproduced *out, const study *s, size_t mask, const tally *t)
{
    uint64_t gone = 0;
    for (size_t m = 0; m < DROPOUTS_MOMENTS; m++)
        gone += t->gone[m];
    const double heard = (double)t->heard;
    figure_find(
        out,
        "Masks %s: of %u rounds %llu came to a sum, %llu were refused before any word (releases "
        "charged: "
        "%llu), "
        "%llu were lost after words (charged: %llu). In rounds with a sum %.1f %% of agents "
        "dropped "
        "out; on average %.1f of %u said HERE and %.1f are in the sum.",
        masks[mask], s->rounds[DROPOUTS_SOUND], (unsigned long long)t->heard,
        (unsigned long long)t->refused, (unsigned long long)t->refused_charged,
        (unsigned long long)t->lost, (unsigned long long)t->lost_charged,
        100 * (double)gone / (heard * s->task[mask].agents), (double)t->present / heard,
        s->task[mask].agents, (double)t->members / heard);
}

static void find_noise(tacit_reproduced *out, size_t mask, const tally *t)
{
    const double bias = mean_of(&t->bias), wide = NORMAL * error_of(&t->bias);
    figure_find(out,
                "Masks %s: the mean told is off its members' by %.5f on average (standard error "
                "%.5f; the 95 %% interval, %.5f to %.5f, %s 0). Its variance is %.4f of what was "
                "planned (standard error %.4f, %.0f averages).",
                masks[mask], bias, error_of(&t->bias), bias - wide, bias + wide,
                fabs(bias) <= wide ? "contains" : "DOES NOT CONTAIN", mean_of(&t->squares),
                ratio_error(t), t->squares.count);
}

/* The same as rounds add up. */
static void add_curves(tacit_reproduced *out, const study *s, const size_t panel[2], size_t mask)
{
    double x[POINTS], y[2][POINTS], low[2][POINTS], high[2][POINTS];
    const dropouts_round *r = rounds_of(s, mask, DROPOUTS_SOUND);
    const uint32_t rounds = s->rounds[DROPOUTS_SOUND];
    size_t points = 0;
    tally t = {0};
    for (uint32_t k = 0; k < rounds; k++) {
        count_round(&t, &r[k], s->task[mask].numbers);
        if (t.heard == 0 || (uint64_t)(k + 1) * POINTS / rounds == (uint64_t)k * POINTS / rounds)
            continue;
        const double mean[] = {mean_of(&t.squares), mean_of(&t.bias)};
        const double wide[] = {NORMAL * ratio_error(&t), NORMAL * error_of(&t.bias)};
        x[points] = k + 1;
        for (size_t p = 0; p < 2; p++) {
            y[p][points] = mean[p];
            low[p][points] = mean[p] - wide[p];
            high[p][points] = mean[p] + wide[p];
        }
        points++;
    }
    for (size_t p = 0; p < 2; p++)
        figure_add_series(out, panel[p], masks[mask], points, x, y[p], low[p], high[p]);
}

static void add_moments(tacit_reproduced *out, size_t panel, const study *s, size_t mask,
                        const tally *t)
{
    double x[DROPOUTS_MOMENTS], y[DROPOUTS_MOMENTS];
    for (size_t m = 0; m < DROPOUTS_MOMENTS; m++) {
        x[m] = (double)m + 1;
        y[m] = (double)t->gone[m] / ((double)t->heard * s->task[mask].agents);
    }
    figure_add_series(out, panel, masks[mask], DROPOUTS_MOMENTS, x, y, NULL, NULL);
}

static tacit_status add_audits(tacit_reproduced *out, size_t panel, const study *s, size_t mask,
                               tacit_error *err)
{
    const double claimed = s->task[mask].epsilon;
    double x[DROPOUTS_BREAKS], shown[DROPOUTS_BREAKS];
    for (size_t b = 0; b < DROPOUTS_BREAKS; b++) {
        const tacit_status status = audit(&shown[b], s, mask, b, err);
        if (status)
            return status;
        x[b] = (double)b;
        figure_add_row(out, shown[b], NAN, NAN, NAN, "%s: epsilon shown, %s", masks[mask],
                       dropouts_breaks[b]);
    }
    figure_add_series(out, panel, masks[mask], DROPOUTS_BREAKS, x, shown, NULL, NULL);
    figure_find(out,
                "Masks %s: of epsilon %g claimed a coalition of %u, with who adds up among them, "
                "shows %.2f; if two of three members left their noise out, %.2f; if all did, %.2f. "
                "The audit %s.",
                masks[mask], claimed, s->task[mask].colluders, shown[DROPOUTS_SOUND],
                shown[DROPOUTS_THIRD_OWN], shown[DROPOUTS_NO_OWN],
                shown[DROPOUTS_SOUND] <= claimed && shown[DROPOUTS_THIRD_OWN] > claimed &&
                        shown[DROPOUTS_NO_OWN] > claimed
                    ? "lets the build pass and catches both broken ones"
                    : "DOES NOT TELL sound from broken");
    return TACIT_OK;
}

static void set_words(tacit_reproduced *out, const study *s)
{
    const dropouts_task *t = &s->task[UNIFORM];
    out->spread = "the 95 % interval of a mean over rounds or numbers";
    out->paper_numbers = "A check of ours; there is no paper's figure beside it.";
    figure_set(out, "task",
               "the mean of %u numbers that each of %u agents holds, by protocol gopa in the "
               "simulator; each number is an average of its own, in the same %u rounds (of broken "
               "builds: %u)",
               t->numbers, t->agents, s->rounds[DROPOUTS_SOUND], s->rounds[DROPOUTS_NO_OWN]);
    figure_set(out, "drop-outs",
               "each agent with probability %g, at one of four moments: %s, %s, %s, %s; it never "
               "comes back. Who adds up is no exception",
               t->chance, dropouts_moments[0], dropouts_moments[1], dropouts_moments[2],
               dropouts_moments[3]);
    figure_set(
        out, "options",
        "adders curious, partners %u, quorum %g, absent %g, colluders %u, least %u, tries %lld",
        t->partners, t->quorum, t->absent, t->colluders, t->least,
        (long long)t->options.totals.tries);
    figure_set(out, "planned",
               "variance of the sum = sigma^2 members / parts, parts = ceil((1 - absent) of who "
               "said HERE, less one where a number can be said again) - colluders (gaussian masks: "
               "divided by "
               "1 + slack, rounded down)");
    figure_set(out, "privacy",
               "epsilon %g, delta %g; unit: user; adjacency: replace; adversary: %u agents of the "
               "sum that are curious and keep to the rules, one of them who adds up",
               t->epsilon, t->delta, t->colluders);
    figure_set(out, "audit",
               "likelihood ratio of what is left of words when all that the coalition knows is "
               "taken away; each number is a trial, the canary moves it by the sensitivity; "
               "confidence %g; the adversary knows how a build is broken",
               CONFIDENCE);
}

static tacit_status show(tacit_reproduced *out, const study *s, tacit_error *err)
{
    static const figure_panel panels[] = {
        {"variance", "Variance of the sum, measured over planned", "rounds", "ratio",
         "with its 95 % interval, as rounds add up", false, false},
        {"bias", "Mean told less the mean of its members", "rounds", "error",
         "with its 95 % interval, as rounds add up", false, false},
        {"moments", "When agents dropped out", "moment", "part of all agents",
         "1 before HERE, 2 before WORD, 3 before the last set, 4 before SEED", false, false},
        {"shown", "What a coalition shows", "build", "epsilon",
         "0 as built, 1 two of three add no own noise, 2 nobody does", false, true}};
    size_t at[4];
    tacit_status status = TACIT_OK;
    for (size_t p = 0; p < 4; p++)
        at[p] = figure_add_panel(out, &panels[p]);
    for (size_t mask = 0; mask < MASKS && !status; mask++) {
        tally t = {0};
        const dropouts_round *r = rounds_of(s, mask, DROPOUTS_SOUND);
        for (uint32_t k = 0; k < s->rounds[DROPOUTS_SOUND]; k++)
            count_round(&t, &r[k], s->task[mask].numbers);
        if (t.heard == 0)
            return tacit_fail(err, TACIT_EINPUT,
                              "none of %u rounds came to a sum; use more \"--seeds\"",
                              s->rounds[DROPOUTS_SOUND]);
        add_rows(out, s, mask, &t);
        find_rounds(out, s, mask, &t);
        find_noise(out, mask, &t);
        add_curves(out, s, at, mask);
        add_moments(out, at[2], s, mask, &t);
        status = add_audits(out, at[3], s, mask, err);
    }
    set_words(out, s);
    return status;
}

/* ---- the figure ---- */

/* In small everybody shares masks with everybody, and more may get lost by chance. */
static dropouts_task task_of(bool quick, bool gaussian)
{
    return (dropouts_task){.agents = quick ? 16 : 100,
                           .numbers = quick ? 512 : 1024,
                           .colluders = quick ? 2 : 5,
                           .partners = quick ? 15 : 70,
                           .least = quick ? 12 : 90,
                           .chance = 0.3,
                           .absent = quick ? 0.4 : 0.3,
                           .quorum = quick ? 0.6 : 0.55,
                           .epsilon = 5,
                           .delta = 1e-5,
                           .gaussian = gaussian};
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    const uint32_t rounds = request->quick ? 6 * request->seeds : request->seeds;
    const uint32_t fewer = rounds / 5 > 8 ? rounds / 5 : 8; /* broken builds show at once */
    study s = {.request = request,
               .task = {task_of(request->quick, false), task_of(request->quick, true)},
               .rounds = {rounds, fewer, fewer}};
    s.count = MASKS * rounds_of_mask(&s);
    s.work = (figure_work){.request = request, .total = (double)s.count};
    s.of = calloc(s.count, sizeof *s.of);
    tacit_status status = s.of ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t mask = 0; mask < MASKS && !status; mask++)
        status = dropouts_open(&s.task[mask], err);
    if (!status)
        status = figure_run(&s.work, s.count, piece, &s, err);
    if (!status)
        status = show(out, &s, err);
    for (size_t k = 0; s.of && k < s.count; k++)
        dropouts_round_clear(&s.of[k]);
    for (size_t mask = 0; mask < MASKS; mask++)
        dropouts_close(&s.task[mask]);
    free(s.of);
    return status;
}

const tacit_reproduction tacit_reproduction_gopa_dropouts = {
    .name = "gopa-dropouts",
    .paper = "a check of ours, docs/protocols/gopa.md; protocol of thesis 001, section 4.1",
    .title = "A private average while agents drop out",
    .seeds = 60,
    .run = reproduce,
};
