/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PERSONAL_H
#define TACIT_PERSONAL_H
/*
 * What the protocols of paper 000 share: agents with a model each, who hear the models of
 * their neighbours. A protocol of this family says how it starts and what a tick computes;
 * listening, answering those who come back, saving and loading are the same for all.
 *
 * An agent with neighbours has a public model: a function of released and received values.
 * One without learns alone, says nothing, and its model is secret. So is a model finished
 * privately (finish.h), when everything was said.
 */
#include "protocol/finish.h"
#include "tacit/protocol.h"

enum { PERSONAL_MODEL = 1 }; /* the one kind of message: theta_i */

/* First member of such a protocol's shared struct. */
typedef struct personal_shared {
    double mu;
    double full_confidence; /* M */
    tacit_privacy_options privacy;
    tacit_cost gradient; /* what each tick costs */
    const tacit_shape *shape;
    finish_plan finish;
} personal_shared;

typedef struct personal_agent {
    double alpha;               /* cd: step of equation (4) */
    uint64_t spoken;            /* gradients released so far */
    uint64_t warmed;            /* cd, start: propagated: ticks that propagated so far */
    bool spent;                 /* cd: nothing is left to release a gradient with */
    const tacit_public *anchor; /* model-propagation: the local model as published; cd: the
                                   same while it warms up, the model it was left with once spent */
    const tacit_public *theta;  /* NULL without neighbours */
    const tacit_secret *kept;   /* a model for nobody else: learned alone, or finished privately */
    const tacit_public *view[]; /* theta_j as last heard; nothing heard means zero */
} personal_agent;

/* M: `full` if positive, otherwise the largest m_i, which only a simulator knows. */
tacit_status personal_setup(personal_shared *shared, double mu, double full,
                            const tacit_setup *setup, tacit_error *err);
/* The same for a protocol whose ticks release no gradient. */
tacit_status personal_setup_silent(personal_shared *shared, double mu, double full,
                                   const tacit_setup *setup, tacit_error *err);
/* c_i = min(1, m_i / M) */
double personal_confidence(const personal_shared *shared, size_t records);

/* For the fields of a tacit_protocol of the same names. */
const tacit_shape *personal_payload(const void *shared, tacit_address at);
size_t personal_agent_size(const void *shared, uint32_t neighbours);
void personal_save(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver);
void personal_load(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader);
void personal_end(tacit_env *env, const void *shared, void *self);
const tacit_secret *personal_model(const void *shared, const void *self);
void personal_expect(const void *shared, const void *self, uint32_t neighbours);

typedef tacit_status personal_step(tacit_env *env, const void *shared, personal_agent *self);
/* A handler: `start` and `tick` are called for agents with neighbours only. */
tacit_status personal_on(tacit_env *env, const void *shared, void *self, const tacit_event *event,
                         personal_step *start, personal_step *tick);
/* theta_i <- sum_k coef[k] term[k], told to all neighbours: how every tick ends. */
tacit_status personal_say(tacit_env *env, const void *shared, personal_agent *self, size_t terms,
                          const double *coef, const tacit_public *const *term);

/* grad of the mean loss at `theta`, released at `cost`: the one place where a tick touches
 * records. */
tacit_status personal_gradient(tacit_env *env, const personal_shared *shared,
                               const tacit_cost *cost, const tacit_public *theta,
                               tacit_public **out);
/* Smoothness of the unregularised loss: measured and released (`auto`: when nothing is noisy), or
 * the public bound for rows of norm at most `radius`. The options of both ways are named alike in
 * every protocol. */
enum { PERSONAL_SMOOTHNESS_AUTO, PERSONAL_SMOOTHNESS_EXACT, PERSONAL_SMOOTHNESS_BOUND };
extern const char *const personal_smoothnesses[];
tacit_status personal_smoothness(tacit_env *env, const personal_shared *shared, int how,
                                 double radius, double *out);

/* What one release of `what` costs under the run's privacy options. */
tacit_cost personal_cost(const personal_shared *shared, const char *what);
/* Reserve, let `kernel` compute from the agent's own records, release. */
typedef tacit_status personal_kernel(const tacit_model *model, tacit_permit *permit,
                                     const tacit_shard *shard, tacit_scratch *scratch,
                                     tacit_bounded **out, tacit_error *err);
tacit_status personal_release(tacit_env *env, const personal_shared *shared, const char *what,
                              personal_kernel *kernel, tacit_public **out);
/* The exact local model, released and copied into a vector that lasts. */
tacit_status personal_publish_local(tacit_env *env, const personal_shared *shared,
                                    tacit_public **out);
/* The exact local model, for nobody else. */
tacit_status personal_learn_alone(tacit_env *env, const tacit_secret **out);

#endif
