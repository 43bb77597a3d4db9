/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_SESSION_H
#define TACIT_EXPERIMENT_SESSION_H
/* Inside of a session, shared by the files of this module. */
#include "base/threads.h"
#include "base/vector_internal.h"
#include "tacit/experiment.h"

/* Stands in the words of TACIT_LEAK_CLAIM, so that who has only the words knows too. */
#define TACIT_UNSOUND "(UNSOUND)"

/* Stands before what an epsilon says nothing about. */
#define TACIT_NOT_COUNTED "not counted: "

/* What results must be kept secret for, although they come with an epsilon. */
typedef enum tacit_secrecy {
    TACIT_KEEP_NOTHING,
    TACIT_KEEP_FINISH, /* models made of raw records, or what is known of them */
    TACIT_KEEP_NOISE   /* noise whose seed is told, as well */
} tacit_secrecy;
tacit_secrecy tacit_experiment_secrecy(const tacit_experiment *experiment);
#define TACIT_PEERS_SEE "epsilon is for what that adversary would see of real peers; "

struct tacit_session {
    const tacit_experiment *experiment;
    tacit_source source;
    tacit_graph graph;
    tacit_model *model;
    tacit_world world;
    tacit_runtime *runtime;
    tacit_threads *threads; /* NULL: one */
    tacit_vector *zero;     /* the model of an agent that has none yet */
    unsigned leaks;         /* TACIT_LEAK_ bits */
    double *epsilon;        /* budget of each agent; NULL: privacy.epsilon for all */
    unsigned char *given; /* models to measure, a tacit_vector every given_step bytes; NULL: the */
    size_t given_step;    /* runtime's */
    bool ran;
};

/* Sum in a fixed tree, so that the result depends on the numbers alone. */
double tacit_pairwise_sum(const double *x, size_t n);

/* What metrics.csv and summary.json are made of. */
typedef struct tacit_measure {
    tacit_snapshot now;
    double *loss, *validation, *test; /* one an agent, NaN where there is nothing */
} tacit_measure;
tacit_status tacit_measure_take(tacit_measure *out, tacit_session *session, tacit_error *err);
void tacit_measure_clear(tacit_measure *measure);

/* The k-th of `count` agents evenly spaced among `agents`. */
static inline uint32_t tacit_sampled(uint32_t agents, uint32_t count, uint32_t k)
{
    return (uint32_t)((uint64_t)k * agents / count);
}

/* TACIT_LEAK_ bits in words; returns how many. */
size_t tacit_leak_words(unsigned leaks, const char *words[TACIT_LEAKS]);

/* compare.c: rows for a similarity graph, made from training records. */
tacit_status tacit_compare_agents(tacit_targets *out, const tacit_session *session,
                                  tacit_compare by, tacit_error *err);

/* The session's run with other noise, and all else as it was; before the run. */
tacit_status tacit_session_renoise(tacit_session *session, uint64_t noise_seed, tacit_error *err);

/* What every agent may spend, and against whom; where budgets differ, the largest. */
tacit_budget tacit_session_budget(const tacit_session *session);
/* budgets.c: the budget of each agent from privacy.budgets; `others` for who is not listed. */
tacit_status tacit_budgets_load(double **out, const char *path, const tacit_dataset *data,
                                double others, tacit_error *err);
/* The same where agents have no names. */
tacit_status tacit_budgets_by_number(double **out, const char *path, uint32_t agents, double others,
                                     tacit_error *err);
/* The same from text; `epsilon` has room for all agents. */
tacit_status tacit_budgets_parse(double *epsilon, const tacit_dataset *data, double others,
                                 const char *path, const char *text, size_t len, tacit_error *err);
char *tacit_summary_text(tacit_session *session, const tacit_snapshot *now, bool complete);

#endif
