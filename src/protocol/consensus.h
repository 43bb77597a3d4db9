/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_CONSENSUS_H
#define TACIT_PROTOCOL_CONSENSUS_H
/*
 * One model for all, learned in rounds with neighbours: what dsgd.c, dsgt.c and dinno.c share
 * (paper 004; docs/protocols/consensus.md).
 *
 *   consensus.c        iterations: when an agent speaks, hears, and goes on
 *   consensus_words.c  what it hears of neighbours, and who is there
 *   consensus_setup.c  options, lots, and what a release costs
 *   dsgd.c, ...        what an iteration computes, beside the paper's algorithm
 *
 * Everything an agent holds but its records is public: it was computed from released gradients and
 * from what neighbours said. So averaging, momentum, duals and means cost nothing.
 */
#include "tacit/protocol.h"

enum { CONSENSUS_WORD = 1 }; /* the one kind of message */
enum { RATE_CONSTANT, RATE_LINEAR, RATE_COSINE, RATE_EXPONENTIAL };
enum { ORDER_COMBINE_FIRST, ORDER_ADAPT_FIRST };
enum { STEPS_ADAM, STEPS_PLAIN };
enum { COUPLING_EQUAL, COUPLING_WEIGHTED };

typedef struct consensus_options {
    int64_t iterations;
    double step, step_last; /* eta at the first and, by the schedule, at the last iteration */
    int schedule;
    int64_t lot;    /* expected records of a lot: L; 0: all, or by privacy.sampling */
    double average; /* decay of the mean of models that is the result; 0: the last model is */
    int policy;     /* tacit_combination */
    double period, patience;
    int order;       /* dsgd */
    double momentum; /* dsgd; dinno: beta 1 of Adam */
    double rho;      /* dinno, at the first iteration */
    double rho_last; /* dinno; 0: rho */
    int coupling;    /* dinno */
    int64_t primal;  /* dinno: T */
    int steps;       /* dinno */
} consensus_options;

/* What an agent remembers: vectors of the model's shape. */
enum consensus_vector {
    THETA,
    DUAL,     /* dsgt: y, the tracked gradient; dinno: y, the dual */
    GRADIENT, /* dsgt: the last that was released; dsgd: momentum */
    FIRST,    /* adam */
    SECOND,
    MEAN, /* of models, if asked for */
    CONSENSUS_VECTORS
};

struct consensus_way;
typedef struct consensus_shared {
    const struct consensus_way *way;
    consensus_options options;
    tacit_privacy_options privacy;
    const tacit_model *model;
    const tacit_shape *shape;
    tacit_shape word; /* parts of `way`, then degree and round */
    uint64_t largest; /* degree in the graph; 0 on a node */
} consensus_shared;

typedef struct consensus_agent {
    tacit_public *vector[CONSENSUS_VECTORS];
    double noise;       /* sigma over the clip; 0: nothing is planned yet, or nothing needed */
    uint64_t iteration; /* that is at hand, from 1 on */
    uint64_t due;       /* iterations that may have begun by now */
    uint64_t steps;     /* of adam */
    bool waiting;       /* for words */
    bool spent;         /* nothing is left to compute gradients with */
    tacit_rounds rounds;
} consensus_agent;
/* Behind it: two words a neighbour for rounds, the last one each said, and whether it is gone. */

/* What an agent has when a round is complete: of itself at [0] and of each neighbour behind it the
 * weight (they sum to one) and the last word, NULL if it never said any. */
typedef struct consensus_heard {
    uint32_t count; /* neighbours + 1 */
    double *weight;
    const tacit_public **word; /* [0] is the agent's own */
} consensus_heard;

typedef struct consensus_way {
    uint32_t parts;     /* vectors in a word */
    uint32_t remembers; /* bit k: vector k is needed from the start, zero then */
    /* Once, when theta is there. NULL: nothing. */
    tacit_status (*begin)(tacit_env *env, const consensus_shared *s, consensus_agent *self);
    /* Before it speaks. NULL: nothing. */
    tacit_status (*before)(tacit_env *env, const consensus_shared *s, consensus_agent *self);
    /* Fill part `part` of a word. */
    void (*tell)(const consensus_shared *s, const consensus_agent *self, uint32_t part,
                 tacit_public *word);
    tacit_status (*step)(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         const consensus_heard *heard);
} consensus_way;

/* ---- for the ways ---- */
/* eta of an iteration, from 1 on. */
double consensus_rate(const consensus_shared *s, uint64_t iteration);
/* The running mean of models after an iteration, as if it had begun with the first model and not
 * with zero; nothing if nobody asked for it. */
void consensus_average(const consensus_shared *s, uint64_t iteration, const tacit_public *theta,
                       tacit_public *mean);
/* The noisy gradient at `at`, regulariser included, as a new vector of the model's shape that is
 * the caller's to drop. Zero once the budget is used up. */
tacit_status consensus_gradient(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                                const tacit_public *at, tacit_public **out);
/* A new vector: sum of weight * part of each word, and of `more` terms beside, model-shaped. */
tacit_status consensus_mix(tacit_env *env, const consensus_shared *s, const consensus_heard *heard,
                           uint32_t part, size_t more, const double *coef,
                           const tacit_public *const *term, tacit_public **out);
/* `vector` becomes what the agent remembers as `which`. */
void consensus_put(tacit_env *env, consensus_agent *self, enum consensus_vector which,
                   tacit_public *vector);
void consensus_tell_theta(const consensus_shared *s, const consensus_agent *self, uint32_t part,
                          tacit_public *word);

/* ---- the protocol's table ---- */
tacit_status consensus_setup(const consensus_way *way, consensus_shared *s,
                             const consensus_options *options, const tacit_setup *setup,
                             tacit_error *err);
const tacit_shape *consensus_payload(const void *shared, tacit_address at);
size_t consensus_agent_size(const void *shared, uint32_t neighbours);
tacit_status consensus_on(tacit_env *env, const void *shared, void *self, const tacit_event *event);
void consensus_save(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver);
void consensus_load(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader);
void consensus_end(tacit_env *env, const void *shared, void *self);
const tacit_secret *consensus_model(const void *shared, const void *self);
bool consensus_done(const void *shared, const void *self);
#define CONSENSUS_TABLE                                                             \
    .trust = TACIT_TRUST_LOCAL, .flags = TACIT_CHATTY | TACIT_NETS,                 \
    .shared_size = sizeof(consensus_shared), .payload = consensus_payload,          \
    .agent_size = consensus_agent_size, .on = consensus_on, .save = consensus_save, \
    .load = consensus_load, .end = consensus_end, .model = consensus_model, .done = consensus_done

/* ---- consensus_words.c ---- */
/* Two places a neighbour, for rounds. */
const tacit_public **consensus_words(consensus_agent *self);
/* The neighbour spoke, came back, or is gone. */
void consensus_come_and_go(tacit_env *env, consensus_agent *self, const tacit_event *event);
/* Has everybody who is there said its word of this round? */
bool consensus_complete(tacit_env *env, consensus_agent *self);
/* What the agent would say now, the caller's to drop. */
tacit_status consensus_make_word(tacit_env *env, const consensus_shared *s,
                                 const consensus_agent *self, tacit_public **word);
/* What was heard, with weights. heard->word[0], the agent's own word, is the caller's to drop. */
tacit_status consensus_listen(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                              consensus_heard *heard);
void consensus_words_save(const consensus_agent *self, uint32_t neighbours, tacit_saver *saver);
void consensus_words_load(const consensus_shared *s, consensus_agent *self, uint32_t neighbours,
                          tacit_loader *loader);
void consensus_words_end(tacit_env *env, consensus_agent *self);

/* ---- consensus_setup.c ---- */
/* What one gradient of an agent costs. `sigma` > 0: its noise over the clip, found before; 0: find
 * it. */
tacit_status consensus_cost(const consensus_shared *s, const tacit_facts *facts, double sigma,
                            tacit_cost *cost, tacit_error *err);
/* Is the agent known to be without records? Never where their number is a secret (add-remove, or
 * unit user, with noise): what it says must then look like what others say. */
bool consensus_has_none(const consensus_shared *s, const tacit_facts *facts);
/* What each record is clipped to; infinity: it is not. */
tacit_clip consensus_clip(const consensus_shared *s, const tacit_cost *cost);
/* By what a gradient must be multiplied to be that of a lot of L expected records. */
double consensus_scale(const consensus_shared *s, const tacit_facts *facts);
/* Rows of options that all have, for tables of options. */
extern const char *const consensus_schedules[];
#define CONSENSUS_FIELD(name) offsetof(consensus_options, name)
#define CONSENSUS_OPTIONS CONSENSUS_OPTIONS_OF_STEPS, CONSENSUS_OPTIONS_OF_WORDS
#define CONSENSUS_OPTIONS_OF_STEPS                                                                \
    {.key = "iterations",                                                                         \
     .type = TACIT_OPT_INT,                                                                       \
     .fallback = "100",                                                                           \
     .min = 1,                                                                                    \
     .max = 1e7,                                                                                  \
     .offset = CONSENSUS_FIELD(iterations),                                                       \
     .help = "of every agent: K"},                                                                \
        {.key = "step",                                                                           \
         .type = TACIT_OPT_REAL,                                                                  \
         .fallback = "0.1",                                                                       \
         .min = 1e-12,                                                                            \
         .max = 1e9,                                                                              \
         .offset = CONSENSUS_FIELD(step),                                                         \
         .help = "learning rate: eta"},                                                           \
        {.key = "schedule",                                                                       \
         .type = TACIT_OPT_CHOICE,                                                                \
         .fallback = "constant",                                                                  \
         .choices = consensus_schedules,                                                          \
         .offset = CONSENSUS_FIELD(schedule),                                                     \
         .help = "how the learning rate goes from step to step-last"},                            \
        {.key = "step-last",                                                                      \
         .type = TACIT_OPT_REAL,                                                                  \
         .fallback = "0",                                                                         \
         .min = 0,                                                                                \
         .max = 1e9,                                                                              \
         .offset = CONSENSUS_FIELD(step_last),                                                    \
         .help = "learning rate of the last iteration, with a schedule; 0: a tenth of step"},     \
        {.key = "lot",                                                                            \
         .type = TACIT_OPT_INT,                                                                   \
         .fallback = "0",                                                                         \
         .min = 0,                                                                                \
         .max = 1e9,                                                                              \
         .offset = CONSENSUS_FIELD(lot),                                                          \
         .help = "records of a step, on average: each takes part with probability lot / records " \
                 "(or privacy.sampling), and sums are divided by lot; 0: all records"},           \
        {.key = "average",                                                                        \
         .type = TACIT_OPT_REAL,                                                                  \
         .fallback = "0",                                                                         \
         .min = 0,                                                                                \
         .max = 0.999999,                                                                         \
         .offset = CONSENSUS_FIELD(average),                                                      \
         .help = "the result is the running mean of models with this decay, such as 0.99; "       \
                 "0: the last model"},                                                            \
    {                                                                                             \
        .key = "period", .type = TACIT_OPT_REAL, .fallback = "1", .min = 0, .max = 1e9,           \
        .offset = CONSENSUS_FIELD(period),                                                        \
        .help = "time between the beginnings of two iterations; 0: as fast as neighbours are"     \
    }
#define CONSENSUS_OPTIONS_OF_WORDS                                                               \
    {.key = "policy",                                                                            \
     .type = TACIT_OPT_CHOICE,                                                                   \
     .fallback = "metropolis",                                                                   \
     .choices = tacit_combination_kinds,                                                         \
     .offset = CONSENSUS_FIELD(policy),                                                          \
     .help = "weights of neighbours; metropolis and uniform lead to the mean of all"},           \
    {                                                                                            \
        .key = "patience", .type = TACIT_OPT_REAL, .fallback = "30", .min = 0, .max = 1e9,       \
        .offset = CONSENSUS_FIELD(patience),                                                     \
        .help =                                                                                  \
            "how long a neighbour's word is waited for, then its last one counts again; 0: for " \
            "ever"                                                                               \
    }

#define CONSENSUS_OPTION_MOMENTUM                                                             \
    {                                                                                         \
        .key = "momentum", .type = TACIT_OPT_REAL, .fallback = "0", .min = 0, .max = 0.9999,  \
        .offset = CONSENSUS_FIELD(momentum), .help = "how much of the last direction is kept" \
    }

#endif
