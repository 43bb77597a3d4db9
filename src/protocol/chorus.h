/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_CHORUS_H
#define TACIT_PROTOCOL_CHORUS_H
/* Inside of protocol "chorus": chorus_setup.c (options, costs, the protocol's struct),
 * chorus_columns.c (columns, who leaves), chorus.c (what agents do), chorus_smooth.c (what a sum
 * says). */
#include <pthread.h>

#include "protocol/chorus_smooth.h"
#include "protocol/finish.h"
#include "protocol/totals_options.h"
#include "tacit/protocol.h"

enum { CHORUS_SUM = 1 };         /* the one kind of gift */
#define CHORUS_BESIDE_ONE 0x1p20 /* what is given openly are whole numbers of its inverse */

typedef struct chorus_options {
    tacit_kernel kernel;
    char kernel_file[TACIT_TEXT_MAX], opt_out[TACIT_TEXT_MAX];
    int factor;
    int64_t rank, rounds;
    int sum; /* CHORUS_IDEAL, CHORUS_MASKS */
    totals_options totals;
    int64_t spares, most_records;
    double period;
    double radius, variance, step, misfit;
    int spreads;
    finish_options finish;
} chorus_options;

enum { CHORUS_IDEAL, CHORUS_MASKS };
enum { CHORUS_FACTOR_SVD, CHORUS_FACTOR_OPTIMAL };
enum { CHORUS_SPREAD_COMMON, CHORUS_SPREAD_MODES, CHORUS_SPREAD_COORDINATES };

/* The last sum as smoothed. All agents of a process would compute the same from the same public
 * numbers; so one does, and the result does not depend on who. */
typedef struct chorus_memo {
    pthread_mutex_t lock;
    uint64_t round; /* 0: nothing yet */
    uint64_t print; /* of its numbers */
    chorus_smoothed smoothed;
    double *q;
} chorus_memo;

typedef struct chorus_shared {
    chorus_options options;
    bool squared;   /* loss */
    size_t classes; /* of the softmax loss; 0: another */
    size_t rank, features;
    uint64_t agents, rounds;
    const tacit_shape *model;
    tacit_shape sum, beside;
    tacit_totals_plan totals; /* of masks */
    tacit_privacy_options privacy;
    bool budgets;      /* they differ */
    tacit_cost *costs; /* one a round, or one for all */
    size_t cost_count;
    tacit_clip clip;
    double variance;  /* of one record's statistic, a coordinate */
    double curvature; /* of a record's loss, in one direction */
    double *column;   /* rank numbers an agent */
    uint64_t *leaves; /* the first round without it, one an agent; NULL: all stay */
    finish_plan finish;
    chorus_memo *memo;
} chorus_shared;

typedef struct chorus_agent {
    uint64_t heard;               /* rounds so far */
    double spread, doubt;         /* of the prior, a coordinate: variances */
    tacit_public *prior;          /* a function of sums: public */
    const tacit_secret *finished; /* its own, at the end */
    uint64_t over;                /* masks: rounds that are */
    /* behind it, with masks: tacit_totals */
} chorus_agent;

/* A sum as it was heard: with masks in whole steps, and of so many members. */
typedef struct chorus_news {
    uint64_t round;
    const tacit_public *sum, *beside;
    double step;  /* 0: numbers are values */
    double noise; /* on each of them */
} chorus_news;

/* chorus_setup.c */
const tacit_cost *chorus_cost(const chorus_shared *shared, uint64_t round);

/* chorus_masks.c: the same over sums that nobody in particular adds up (totals.h). */
static inline bool chorus_masked(const chorus_shared *shared)
{
    return shared->options.sum == CHORUS_MASKS;
}
static inline tacit_totals *chorus_totals(const chorus_agent *self)
{
    return (tacit_totals *)(uintptr_t)(self + 1);
}
tacit_status chorus_masks_plan(chorus_shared *shared, tacit_error *err);
tacit_status chorus_masks_start(tacit_env *env, const chorus_shared *shared, chorus_agent *self);
tacit_status chorus_masks_feed(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                               const tacit_event *event);
bool chorus_done(const void *shared, const void *state);

/* chorus.c: what this agent sings in a round, and what it makes of a sum. TACIT_NO: nothing. */
tacit_status chorus_voice(tacit_env *env, const chorus_shared *shared, const chorus_agent *self,
                          uint64_t round, const tacit_shape *shape, tacit_permit **permit,
                          tacit_bounded **out);
void chorus_weights(const tacit_env *env, const chorus_shared *shared, int64_t *out);
tacit_status chorus_listen(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                           const chorus_news *news);

/* chorus_columns.c */
tacit_status chorus_columns(chorus_shared *shared, const tacit_setup *setup, tacit_error *err);
tacit_status chorus_leavers(chorus_shared *shared, uint64_t agents, tacit_error *err);
/* It decided to give nothing from this round or an earlier one on. */
bool chorus_has_left(const chorus_shared *shared, tacit_agent agent, uint64_t round);

/* chorus.c: for the fields of tacit_protocol of these names. */
const tacit_shape *chorus_payload(const void *shared, tacit_address at);
size_t chorus_agent_size(const void *shared, uint32_t neighbours);
tacit_status chorus_on(tacit_env *env, const void *shared, void *state, const tacit_event *event);
void chorus_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver);
void chorus_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader);
void chorus_end(tacit_env *env, const void *shared, void *state);
const tacit_secret *chorus_model(const void *shared, const void *state);

#endif
