/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chorus-colluders: what it costs to distrust. Over masks (protocol.sum) every agent adds a share
 * of the noise, and shares of those who may collude do not count: they know them. So the others
 * bring all of it. Where a part f of the agents is allowed for the sum has a little more than
 * 1/(1 - f) times the variance: who adds up may lie, and not all of the honest are in a sum for
 * sure. The same problems with the ideal sum stand beside it.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/study_chorus.h"

static const double fractions[] = {0, 0.1, 0.2, 0.3, 0.5};
#define FRACTIONS (sizeof fractions / sizeof *fractions)
#define TOLD 2             /* the fraction of which something is promised: */
#define PROMISED_LOSS 0.02 /* with it, accuracy is at most this much lower than with none */
static const double epsilons[] = {1.05, 0.55, 0.15};
#define EPSILONS (sizeof epsilons / sizeof *epsilons)

#define MASKS STUDY_CHORUS "protocol.sum=masks;protocol.absent=0;protocol.quorum=0.95;run.time=60;"
static const case_method ideal = {
    .name = "ideal sum", .label = "ideal sum", .settings = STUDY_CHORUS, .colour = 6};
static const case_method masked[EPSILONS] = {
    {.name = "masks 1.05", .label = "epsilon 1.05", .settings = MASKS, .colour = 2},
    {.name = "masks 0.55", .label = "epsilon 0.55", .settings = MASKS, .colour = 1},
    {.name = "masks 0.15", .label = "epsilon 0.15", .settings = MASKS, .colour = 0},
};

typedef struct study {
    case_book book;
    uint32_t agents;
    size_t ideal[EPSILONS], cell[EPSILONS][FRACTIONS];
} study;

static void plan(study *s, bool quick)
{
    const int p = quick ? 8 : 100;
    for (size_t e = 0; e < EPSILONS; e++) {
        s->ideal[e] =
            case_add(&s->book, &ideal, "data.dimension=%d;privacy.epsilon=%g", p, epsilons[e]);
        for (size_t f = 0; f < FRACTIONS; f++)
            s->cell[e][f] = case_add(
                &s->book, &masked[e],
                "data.dimension=%d;privacy.epsilon=%g;protocol.least=%u;protocol.colluders=%.0f", p,
                epsilons[e], s->agents, floor(fractions[f] * s->agents));
    }
}

static void add_findings(tacit_reproduced *out, const study *s, bool quick)
{
    for (size_t e = 0; e < EPSILONS; e++) {
        char text[300], none[80];
        size_t used = 0;
        study_words(case_score(&s->book, s->cell[e][0]), none, sizeof none);
        for (size_t f = 1; f < FRACTIONS && used < sizeof text; f++)
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%+.4f with %g", f > 1 ? ", " : "",
                case_gain(&s->book, s->cell[e][f], s->cell[e][0]).mean, fractions[f]);
        const tacit_interval loss = case_gain(&s->book, s->cell[e][TOLD], s->cell[e][0]);
        figure_find(out, "Epsilon %g: %s without colluders; %s.%s", epsilons[e], none, text,
                    quick                         ? ""
                    : loss.mean >= -PROMISED_LOSS ? " Promised: at most 0.02 less with 0.2. Holds."
                                                  : " Promised: at most 0.02 less with 0.2. Does "
                                                    "NOT hold.");
        const tacit_interval same = case_gain(&s->book, s->cell[e][0], s->ideal[e]);
        figure_find(out,
                    "Epsilon %g: masks without colluders less the ideal sum: %+.4f "
                    "(%+.4f to %+.4f).",
                    epsilons[e], same.mean, same.low, same.high);
    }
}

static void add_rows(tacit_reproduced *out, const study *s)
{
    for (size_t e = 0; e < EPSILONS; e++) {
        tacit_interval i = case_score(&s->book, s->ideal[e]);
        figure_add_row(out, i.mean, i.low, i.high, NAN, "epsilon %g, ideal sum", epsilons[e]);
        for (size_t f = 0; f < FRACTIONS; f++) {
            i = case_score(&s->book, s->cell[e][f]);
            figure_add_row(out, i.mean, i.low, i.high, NAN, "epsilon %g, colluding fraction %g",
                           epsilons[e], fractions[f]);
        }
    }
}

static void show(tacit_reproduced *out, const study *s, const tacit_reproduce_request *request)
{
    static const figure_panel panel = {"accuracy-by-colluders",
                                       "Accuracy by the fraction that may collude",
                                       "part of the agents that may collude",
                                       "test accuracy",
                                       "mean over agents; bands: 95 % intervals",
                                       false,
                                       false};
    const size_t at = figure_add_panel(out, &panel);
    add_findings(out, s, request->quick);
    for (size_t e = 0; e < EPSILONS; e++)
        case_line(out, &s->book, at, masked[e].label, FRACTIONS, fractions, s->cell[e]);
    add_rows(out, s);
    study_settings(out, request, request->quick ? "12 agents, p = 8" : "100 agents, p = 100");
    figure_set(out, "colluders",
               "stated, not played: everybody is honest here, and the noise is what holds if so "
               "many were not. What colluders see is the sum less their own noise");
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    study s = {.agents = request->quick ? 12 : 100};
    separators_open(&s.book, request);
    plan(&s, request->quick);
    tacit_status status = case_run(&s.book, err);
    if (!status)
        show(out, &s, request);
    case_close(&s.book);
    return status;
}

const tacit_reproduction tacit_reproduction_chorus_colluders = {
    .name = "chorus-colluders",
    .paper = STUDY_PAPER,
    .title = "Accuracy by the fraction of agents that may collude",
    .seeds = 20,
    .run = run,
};
