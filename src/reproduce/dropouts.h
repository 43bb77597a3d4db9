/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_DROPOUTS_H
#define TACIT_REPRODUCE_DROPOUTS_H
/*
 * Rounds of protocol "gopa" in the simulator, from which agents drop out at random moments, and
 * what a coalition sees of them. dropouts_round.c runs a round, dropouts_view.c looks at it as
 * colluders do, gopa_dropouts.c is the figure.
 */
#include "protocol/gopa_inside.h"
#include "tacit/gopa.h"
#include "tacit/runtime.h"

/* An agent that drops out never says this, nor anything afterwards. */
typedef enum dropouts_moment {
    DROPOUTS_HERE,    /* it chose partners, and that was all */
    DROPOUTS_WORD,    /* others masked their words for it */
    DROPOUTS_ANSWER,  /* to a set after its word: PAID or CONFIRM */
    DROPOUTS_SEED,    /* its word is in the sum, and its seed comes from its partners */
    DROPOUTS_MOMENTS, /* it stays */
} dropouts_moment;
extern const char *const dropouts_moments[DROPOUTS_MOMENTS];

/* Builds that bring less noise than they claim. */
typedef enum dropouts_break {
    DROPOUTS_SOUND,
    DROPOUTS_THIRD_OWN, /* two of three agents leave their share out */
    DROPOUTS_NO_OWN,    /* everybody does */
    DROPOUTS_BREAKS
} dropouts_break;
extern const char *const dropouts_breaks[DROPOUTS_BREAKS];

/* What all rounds have in common. */
typedef struct dropouts_task {
    /* for the caller to fill: */
    uint32_t agents, numbers; /* each agent holds so many; each is an average of its own */
    uint32_t colluders, partners, least;
    double chance; /* that an agent drops out */
    double absent, quorum, epsilon, delta;
    bool gaussian; /* masks */
    /* filled in: */
    gopa_options options;
    tacit_dataset *data;
    tacit_model *model;
    tacit_graph graph;
} dropouts_task;
tacit_status dropouts_open(dropouts_task *task, tacit_error *err);
void dropouts_close(dropouts_task *task);
/* Agent `agent` holds this as its number k. */
double dropouts_value(uint32_t agent, uint32_t k);

typedef struct dropouts_round {
    uint32_t gone[DROPOUTS_MOMENTS]; /* agents */
    tacit_totals_outcome outcome;
    bool worded;      /* some try came as far as words */
    uint64_t charged; /* releases, over all agents */
    /* if there is a sum: */
    uint32_t present, members; /* who said HERE, who is in the sum */
    double parts, planned;     /* shares that make up the noise; deviation of the sum */
    double *error;             /* sum that was told - sum over its members, a number each */
    double drift;              /* mean that was told - mean over all agents, over all numbers */
    double *score;             /* of the coalition's test; see dropouts_view */
    double lift;               /* by which the canary raises the score */
} dropouts_round;
tacit_status dropouts_run(dropouts_round *out, const dropouts_task *task, uint64_t seed,
                          dropouts_break broken, tacit_error *err);
void dropouts_round_clear(dropouts_round *round);

/* ---- between dropouts_round.c and dropouts_view.c ---- */

/* A round that gave a sum, for who looks back at it. */
typedef struct dropouts_past {
    const dropouts_task *task;
    const tacit_runtime *rt;
    const tacit_trace *trace; /* what really was sent */
    const gopa_shared *shared;
    uint64_t trial;
    const bool *in; /* by agent: is in the sum */
    uint8_t run[TACIT_RUN_ID];
    double parts;
    dropouts_break broken;
    uint64_t seed;
} dropouts_past;
tacit_totals *dropouts_totals(const tacit_runtime *rt, uint32_t agent);
/* Shares of the noise that an agent's own is one of, more if its build is broken. */
uint32_t dropouts_parts(dropouts_break broken, tacit_agent agent, uint32_t parts);
/* `score` has room for task->numbers. */
tacit_status dropouts_view(double *score, double *lift, const dropouts_past *past,
                           tacit_error *err);

#endif
