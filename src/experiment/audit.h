/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_AUDIT_H
#define TACIT_EXPERIMENT_AUDIT_H
/* Inside of audits of experiments: worlds with and without the canary, and scores. */
#include "experiment/session.h"
#include "tacit/canary.h"

/* audit_data.c */
typedef struct tacit_canary_data {
    tacit_dataset *with, *without; /* all agents */
    tacit_dataset *rest;           /* one agent: the target's records but the one in question */
    double *x;                     /* the canary's features */
} tacit_canary_data;
tacit_status tacit_canary_data_make(tacit_canary_data *out, const tacit_session *session,
                                    uint32_t agent, tacit_canary_kind kind, tacit_error *err);
void tacit_canary_data_clear(tacit_canary_data *data);

/* audit_score.c: the likelihood of what an agent releases, summed up as it happens. */
typedef struct tacit_canary_score {
    const tacit_canary_data *data;
    const tacit_model *model;
    const tacit_privacy_options *privacy;
    tacit_runtime *runtime;
    uint32_t agent;
    tacit_scratch *scratch;
    double *seen, *reference[3];
    double *sums[3]; /* of sums over all agents: with the canary, without it, and as heard */
    size_t sum_count;
    double radius, most; /* of statistics, by the protocol's options */
    double factor;       /* of the last value the kernels made */
    double sum;
    bool only_counts;  /* ghosts make the score */
    uint64_t releases; /* of the agent */
    uint64_t scored;   /* of a kind known here */
    double lean;       /* how far local models lean towards the canary, */
    uint64_t leaned;   /* and how many there were */
    tacit_status status;
    tacit_error *error;
} tacit_canary_score;
tacit_status tacit_canary_score_init(tacit_canary_score *out, const tacit_session *session,
                                     const tacit_canary_data *data, uint32_t agent,
                                     tacit_error *err);
void tacit_canary_score_clear(tacit_canary_score *score);
/* audit_sums.c: the same for sums over all agents; `check` refuses what it cannot follow. */
tacit_status tacit_canary_sums_check(const tacit_experiment *experiment, tacit_error *err);
tacit_status tacit_canary_score_sum(tacit_canary_score *score, const tacit_cost *cost,
                                    const tacit_public *sum);

/* audit_ghosts.c: the likelihood of what an agent releases under any protocol. `begin` puts another
 * protocol into the world, for a runtime that is created, run and destroyed on this thread before
 * `end`. `score`: how many releases were scored, and why the rest was not. */
typedef struct tacit_ghosts tacit_ghosts;
tacit_status tacit_ghosts_begin(tacit_ghosts **out, tacit_world *world,
                                const tacit_canary_data *data, uint32_t agent, tacit_error *err);
tacit_status tacit_ghosts_score(const tacit_ghosts *ghosts, double *sum, uint64_t *scored);
void tacit_ghosts_end(tacit_ghosts *ghosts);

/* A tacit_release_watcher. */
void tacit_canary_watch(void *score, tacit_agent agent, const tacit_cost *cost,
                        const tacit_public *released);

#endif
