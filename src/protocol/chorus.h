/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_CHORUS_H
#define TACIT_PROTOCOL_CHORUS_H
/* Inside of protocol "chorus": chorus_setup.c (options, the protocol's struct),
 * chorus_costs.c, chorus_columns.c (columns, who leaves), chorus_kernel.c and
 * chorus_book.c (a kernel that is learned), chorus.c and chorus_state.c (what agents do),
 * chorus_smooth.c (what a sum says). */
#include <pthread.h>

#include "protocol/chorus_smooth.h"
#include "protocol/finish.h"
#include "protocol/totals_options.h"
#include "tacit/protocol.h"

/* Kinds: the one gift, and what is said while a kernel is learned. */
enum { CHORUS_SUM = 1, CHORUS_WORD, CHORUS_PRINT, CHORUS_ASK };
/* Behind tacit_kernel_kind in "protocol.kernel". */
enum { CHORUS_KERNEL_LEARNED = TACIT_KERNEL_GIVEN + 1 };
#define CHORUS_BESIDE_ONE 0x1p20 /* what is given openly are whole numbers of its inverse */

typedef struct chorus_options {
    tacit_kernel kernel;
    char kernel_file[TACIT_TEXT_MAX], opt_out[TACIT_TEXT_MAX];
    double kernel_share;
    int64_t kernel_neighbours;
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

/* Columns of a learned kernel: like the memo, a function of public numbers that all agents of a
 * process share. Made once and never changed. */
typedef struct chorus_book {
    pthread_mutex_t lock;
    uint64_t print; /* of the words it was made of; 0: not made yet */
    double *column;
} chorus_book;

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
    double *column;   /* rank numbers an agent; NULL: learned */
    uint64_t *leaves; /* the first round without it, one an agent; NULL: all stay */
    finish_plan finish;
    chorus_memo *memo;
    tacit_cost likeness;    /* learned: of an agent's one word */
    tacit_shape word, note; /* what is said of it */
    chorus_book *book;
} chorus_shared;

typedef enum chorus_phase {
    CHORUS_GATHERING, /* words */
    CHORUS_COMPARING, /* prints of words */
    CHORUS_SETTLED,   /* most have the same words: there is a column */
    CHORUS_APART      /* they have not */
} chorus_phase;

typedef struct chorus_agent {
    uint64_t heard;               /* rounds so far */
    double spread, doubt;         /* of the prior, a coordinate: variances */
    tacit_public *prior;          /* a function of sums: public */
    const tacit_secret *finished; /* its own, at the end */
    uint64_t over;                /* masks: rounds that are */
    uint64_t sung;                /* sums it was charged for */
    const double *column;         /* shared; not saved, but found again */
    uint64_t phase;               /* learned: chorus_phase */
    /* behind it, with masks: tacit_totals; then, learned: chorus_learning */
} chorus_agent;

/* A sum as it was heard: with masks in whole steps, and of so many members. */
typedef struct chorus_news {
    uint64_t round;
    const tacit_public *sum, *beside;
    double step;  /* 0: numbers are values */
    double noise; /* on each of them */
} chorus_news;

/* chorus_costs.c */
tacit_status chorus_plan_costs(chorus_shared *shared, tacit_error *err);
const tacit_cost *chorus_cost(const chorus_shared *shared, uint64_t round);

static inline bool chorus_learned(const chorus_shared *shared)
{
    return shared->options.kernel.kind == CHORUS_KERNEL_LEARNED;
}

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
tacit_status chorus_masks_begin(tacit_env *env, const chorus_shared *shared, chorus_agent *self);
tacit_status chorus_masks_feed(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                               const tacit_event *event);
bool chorus_done(const void *shared, const void *state);

/* chorus.c: what this agent sings in a round, and what it makes of a sum. TACIT_NO: nothing. */
tacit_status chorus_voice(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                          uint64_t round, const tacit_shape *shape, tacit_permit **permit,
                          tacit_bounded **out);
void chorus_weights(const tacit_env *env, const chorus_shared *shared, const chorus_agent *self,
                    int64_t *out);
/* The first round, once there is a column or it is certain that there will be none. */
tacit_status chorus_begin(tacit_env *env, const chorus_shared *shared, chorus_agent *self);
tacit_status chorus_listen(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                           const chorus_news *news);

/* chorus_columns.c */
tacit_status chorus_columns(chorus_shared *shared, const tacit_setup *setup, tacit_error *err);
/* Any agent's column, NULL as long as there is none: public. */
const double *chorus_column(const chorus_shared *shared, tacit_agent agent);
/* Columns of all agents from a graph; with a `diagonal` it is a kernel that was given. */
tacit_status chorus_basis(const chorus_shared *shared, const tacit_graph *graph,
                          const double *diagonal, double *column, tacit_error *err);
tacit_status chorus_leavers(chorus_shared *shared, uint64_t agents, tacit_error *err);
/* It decided to give nothing from this round or an earlier one on. */
bool chorus_has_left(const chorus_shared *shared, tacit_agent agent, uint64_t round);

/* chorus_kernel.c: a kernel that agents learn, before the first round. */
typedef struct chorus_learning {
    uint64_t words, same;       /* heard; prints that are one's own */
    const tacit_public *word[]; /* one an agent, NULL if missing; behind it prints, 0 if missing */
} chorus_learning;
static inline chorus_learning *chorus_learning_of(const chorus_shared *s, const chorus_agent *self)
{
    const size_t before = chorus_masked(s) ? tacit_totals_size(&s->totals) : 0;
    return (chorus_learning *)((uintptr_t)(self + 1) + (before + 7) / 8 * 8);
}
static inline uint64_t *chorus_prints(const chorus_shared *s, chorus_learning *learning)
{
    return (uint64_t *)(uintptr_t)(learning->word + s->agents);
}

tacit_status chorus_kernel_check(const chorus_options *options, const tacit_setup *setup,
                                 tacit_error *err);
tacit_status chorus_kernel_prepare(chorus_shared *shared, tacit_error *err);
size_t chorus_kernel_size(const chorus_shared *shared);
const tacit_shape *chorus_kernel_payload(const chorus_shared *shared, tacit_address at);
tacit_status chorus_kernel_start(tacit_env *env, const chorus_shared *shared, chorus_agent *self);
tacit_status chorus_kernel_feed(tacit_env *env, const chorus_shared *shared, chorus_agent *self,
                                const tacit_event *event);
void chorus_kernel_save(const chorus_shared *shared, const chorus_agent *self, tacit_saver *saver);
void chorus_kernel_load(const chorus_shared *shared, chorus_agent *self, tacit_loader *loader);
void chorus_kernel_end(tacit_env *env, const chorus_shared *shared, chorus_agent *self);

/* chorus_book.c: columns of what was learned. */
tacit_status chorus_book_open(chorus_shared *shared, tacit_error *err);
void chorus_book_close(chorus_shared *shared);
/* The column of a settled agent, worked out if nobody of this process did yet. */
tacit_status chorus_book_find(tacit_env *env, const chorus_shared *shared, chorus_agent *self);

/* chorus.c and chorus_state.c: for the fields of tacit_protocol of these names. */
tacit_status chorus_on(tacit_env *env, const void *shared, void *state, const tacit_event *event);
const tacit_shape *chorus_payload(const void *shared, tacit_address at);
size_t chorus_agent_size(const void *shared, uint32_t neighbours);
void chorus_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver);
void chorus_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader);
void chorus_end(tacit_env *env, const void *shared, void *state);
const tacit_secret *chorus_model(const void *shared, const void *state);

#endif
