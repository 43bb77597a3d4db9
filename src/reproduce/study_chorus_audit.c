/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chorus-audit: beside each epsilon that chorus claims, what an attacker shows of it. Whole
 * trainings with a canary in one agent and without, many times; the adversary sees every sum, knows
 * all records but one, and takes the likelihood ratio (src/experiment/audit_sums.c). Few agents,
 * so that many trainings can be had: what others add is known to the adversary anyway.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/study_chorus.h"
#include "tacit/canary.h"

static const double epsilons[] = {0.05, 0.15, 0.55, 1.05, 2, 5};
#define EPSILONS (sizeof epsilons / sizeof *epsilons)
static const char *const ways[] = {"one sum", "four rounds"};
#define WAYS 2

typedef struct shown {
    double epsilon, claimed;
    bool refuted;
} shown;

typedef struct study {
    const tacit_reproduce_request *request;
    shown *of; /* way by way, epsilon by epsilon, seed by seed */
    figure_work work;
} study;

/* Rounds take longer. */
static uint64_t trials(const tacit_reproduce_request *request, size_t way)
{
    return request->quick ? 16 : way ? 1000 : 4000;
}

static tacit_status configure(tacit_config *config, const tacit_reproduce_request *request,
                              size_t way, double epsilon, int64_t seed, tacit_error *err)
{
    char yaml[900];
    snprintf(yaml, sizeof yaml,
             "run: {name: chorus-audit, seed: %lld, every: 0, time: %d}\n"
             "data: {source: linear-separators, agents: %d, dimension: %d, min-records: 10, "
             "max-records: %d, test-records: 0, label-noise: 0.05, bound: l2}\n"
             "graph: {kind: similarity, gamma: 0.1, cutoff: 0}\n"
             "model: {loss: logistic, lambda-records: 0.1}\n"
             "protocol: {name: chorus, finish: none, rounds: %d}\n"
             "privacy: {mechanism: gaussian, delta: " SEPARATORS_DELTA
             ", clip: %s, epsilon: %.17g}\n",
             (long long)seed, way ? 4 : 1, request->quick ? 5 : 10, request->quick ? 6 : 100,
             request->quick ? 20 : 100, way ? 4 : 1, way ? "0.3" : "0.5", epsilon);
    return tacit_config_parse(config, "a figure", yaml, strlen(yaml), err);
}

static tacit_status audit(shown *out, const tacit_experiment *experiment,
                          const tacit_reproduce_request *request, size_t way, tacit_error *err)
{
    const tacit_canary canary = {.agent = TACIT_NOBODY, .kind = TACIT_CANARY_WORST};
    const tacit_audit_plan plan = {
        .trials = trials(request, way), .confidence = 0.95, .threads = 1, .stop = request->stop};
    tacit_audit audit = {0};
    tacit_audit_facts facts;
    tacit_status status = tacit_audit_experiment(&audit, &facts, experiment, &canary, &plan, err);
    if (!status)
        *out = (shown){.epsilon = tacit_audit_shown(&audit),
                       .claimed = facts.claimed,
                       .refuted = tacit_audit_refutes(&audit, &facts)};
    tacit_audit_clear(&audit);
    return status;
}

static tacit_status piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    study *s = ctx;
    const size_t seeds = s->request->seeds, way = k / seeds / EPSILONS;
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_config_init(&config);
    tacit_status status = configure(&config, s->request, way, epsilons[k / seeds % EPSILONS],
                                    s->request->seed + (int64_t)(k % seeds), err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = audit(&s->of[k], &experiment, s->request, way, err);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status ? status : figure_done(worker, 1);
}

/* ---- what is shown ---- */

typedef struct summary {
    double mean, low, high, claimed;
    size_t refuted;
} summary;

static summary summarise(const study *s, size_t way, size_t e)
{
    const size_t seeds = s->request->seeds;
    const shown *of = s->of + (way * EPSILONS + e) * seeds;
    summary out = {.low = INFINITY, .high = -INFINITY};
    for (size_t k = 0; k < seeds; k++) {
        out.mean += of[k].epsilon / (double)seeds;
        out.low = fmin(out.low, of[k].epsilon);
        out.high = fmax(out.high, of[k].epsilon);
        out.claimed = fmax(out.claimed, of[k].claimed);
        out.refuted += of[k].refuted;
    }
    return out;
}

static void add_line(tacit_reproduced *out, const study *s, size_t panel, size_t way)
{
    double y[EPSILONS], low[EPSILONS], high[EPSILONS];
    size_t refuted = 0;
    char text[300];
    size_t used = 0;
    for (size_t e = 0; e < EPSILONS; e++) {
        const summary sum = summarise(s, way, e);
        y[e] = sum.mean;
        low[e] = sum.low;
        high[e] = sum.high;
        refuted += sum.refuted;
        figure_add_row(out, sum.mean, sum.low, sum.high, NAN, "epsilon %g claimed (%.3f), %s",
                       epsilons[e], sum.claimed, ways[way]);
        if (used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%.2f of %g", e ? ", " : "",
                                     sum.mean, epsilons[e]);
    }
    figure_add_series(out, panel, ways[way], EPSILONS, epsilons, y, low, high);
    figure_find(out, "%s: shown %s; %zu of %zu audits refute the claim.", ways[way], text, refuted,
                EPSILONS * s->request->seeds);
}

static void show(tacit_reproduced *out, const study *s)
{
    static const figure_panel panel = {"shown-by-claimed",
                                       "What an attacker shows of each claim",
                                       "epsilon claimed",
                                       "epsilon shown",
                                       "lower bounds with confidence 0.95; above the dashed line "
                                       "a claim would be refuted",
                                       true,
                                       true};
    const size_t at = figure_add_panel(out, &panel);
    figure_add_series(out, at, "the claim", EPSILONS, epsilons, epsilons, epsilons, epsilons);
    figure_draw(out, 6, true);
    for (size_t way = 0; way < WAYS; way++)
        add_line(out, s, at, way);
    study_settings(out, s->request, s->request->quick ? "5 agents, p = 6" : "10 agents, p = 100");
    out->spread = "the least and the largest of them";
    figure_set(out, "audit",
               "%llu trainings with the canary and as many without (four rounds: %llu), after half "
               "as many that choose thresholds; confidence 0.95; the worst canary "
               "(docs/audit.md); no private finish, which nobody sees",
               (unsigned long long)trials(s->request, 0),
               (unsigned long long)trials(s->request, 1));
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    const size_t pieces = WAYS * EPSILONS * request->seeds;
    study s = {.request = request,
               .of = calloc(pieces, sizeof *s.of),
               .work = {.request = request, .total = (double)pieces}};
    if (!s.of)
        return tacit_out_of_memory(err);
    tacit_status status = figure_run(&s.work, pieces, piece, &s, err);
    if (!status)
        show(out, &s);
    free(s.of);
    return status;
}

const tacit_reproduction tacit_reproduction_chorus_audit = {
    .name = "chorus-audit",
    .paper = STUDY_PAPER,
    .title = "What an attacker shows of each epsilon",
    .seeds = 3,
    .run = run,
};
