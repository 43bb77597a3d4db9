/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_DIFFUSION_H
#define TACIT_PROTOCOL_DIFFUSION_H
/*
 * What the files of `diffusion` share (docs/protocols/diffusion.md):
 *
 *   diffusion.c        the iterations: when an agent descends, tells, hears and combines
 *   diffusion_tell.c   what crosses an edge: the four noises
 *   diffusion_setup.c  options, and what each release will cost
 */
#include "tacit/protocol.h"
#include "tacit/sums.h"
#include "tacit/tracked.h"

enum { DIFFUSION_CONSENSUS, DIFFUSION_CTA, DIFFUSION_ATC, DIFFUSION_GENERAL };
enum { DIFFUSION_NONE, DIFFUSION_INDEPENDENT, DIFFUSION_HOMOMORPHIC, DIFFUSION_LOCAL_HOMOMORPHIC };
enum { DIFFUSION_WORD = 1 };                  /* the one kind of plain message */
enum { DIFFUSION_SUMS = 1 };                  /* the child that masked sums speak as */
enum { WORD_MODEL, WORD_DEGREE, WORD_ROUND }; /* segments; degree -1: nothing to tell */

typedef struct diffusion_options {
    int strategy, policy, combine[3]; /* general: the policies of A0, A1, A2 */
    int noise;
    double sigma; /* of what is added to a model; masked: to a sum. 0: found from epsilon */
    double step;
    int64_t iterations;
    double period, patience;
    int64_t batch; /* records a step; 0: all */
    int order;     /* of batches: 0 one after the other, 1 drawn */
    double reach, radius;
    int64_t fraction, least, colluders, epoch;
    int pairs;
} diffusion_options;

/* One thing an agent does in an iteration. */
typedef struct diffusion_act {
    int combination; /* tacit_combination: an exchange; TACIT_COMBINE_NONE: none */
    bool descends;   /* steps down its own gradient: at what it held before the exchange */
} diffusion_act;

typedef struct diffusion_shared {
    diffusion_options options;
    tacit_privacy_options privacy;
    tacit_tracking tracking;
    const tacit_model *model;
    diffusion_act act[3];
    uint32_t acts;
    uint64_t exchanges; /* an iteration */
    uint64_t largest;   /* degree in the graph; 0 on a node */
    tacit_shape word;
    tacit_sums_plan sums;
} diffusion_shared;

typedef struct diffusion_agent {
    tacit_tracked w;
    double planned; /* a bound of w.moved that was fixed beforehand: what releases are paid for */
    double sigma;   /* of this agent's noise */
    uint64_t iteration;       /* the one at hand, or the last one */
    uint64_t due;             /* iterations that may have begun by now */
    uint64_t batches;         /* taken so far */
    uint32_t act;             /* at hand */
    bool ready;               /* degrees of neighbours are known */
    bool waiting;             /* for words of an exchange */
    bool spent;               /* nothing is left to tell with */
    uint64_t silent;          /* times it had nothing to tell, or too much */
    const tacit_public *said; /* homomorphic: its word of the exchange at hand; masked: the last
                                 mean of neighbours it heard */
    tacit_rounds rounds;
} diffusion_agent;
/* Behind it, for plain words: two words a neighbour for rounds, the last one each neighbour said,
 * and their degrees; for masked sums: a tacit_sums. */
const tacit_public **diffusion_words(diffusion_agent *self);
const tacit_public **diffusion_last(diffusion_agent *self, uint32_t neighbours);
uint32_t *diffusion_degrees(diffusion_agent *self, uint32_t neighbours);
tacit_sums *diffusion_sums(const diffusion_agent *self);

static inline bool diffusion_masks(const diffusion_shared *s)
{
    return s->options.noise == DIFFUSION_LOCAL_HOMOMORPHIC;
}

/* ---- diffusion_setup.c ---- */
tacit_status diffusion_setup(void *shared, const void *options, const tacit_setup *setup,
                             tacit_error *err);
tacit_trust diffusion_trust(const void *options);
void diffusion_sees(char *out, size_t size, const void *options);
extern const tacit_option diffusion_rows[];
enum { DIFFUSION_ROWS = 20 };
#define DIFFUSION_SECTION                                                     \
    {                                                                         \
        "protocol", diffusion_rows, DIFFUSION_ROWS, sizeof(diffusion_options) \
    }
/* How many records a step of an agent uses. */
size_t diffusion_batch(const diffusion_shared *s, size_t records);
/* The least of a few values that is no smaller: so that few costs differ, and ledgers stay short.
 */
double diffusion_coarse(double moved);
/* What planned becomes by an act: `own` is the agent's own weight. */
double diffusion_plan_act(const diffusion_shared *s, const diffusion_act *act, double planned,
                          double own, size_t records, uint32_t neighbours);
/* Once degrees are known: the agent's noise. */
tacit_status diffusion_plan(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            const double own[3]);

/* ---- diffusion_tell.c ---- */
/* Tell neighbours what the agent holds, by the noise of the run. */
tacit_status diffusion_tell(tacit_env *env, const diffusion_shared *s, diffusion_agent *self);
/* What goes into the masked sum of receiver `slot`. */
tacit_status diffusion_hold(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            double weight, tacit_secret **out);
/* A first word, before anything was learned: the agent's degree. */
tacit_status diffusion_greet(tacit_env *env, const diffusion_shared *s, diffusion_agent *self);

#endif
