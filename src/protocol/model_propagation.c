/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model-propagation: smooth models that were learned alone (paper 000, appendix C). Each
 * agent publishes its local model once; then the network minimises
 *
 *     Q_MP(Theta) = 1/2 (sum_{i<j} W_ij ||theta_i - theta_j||^2
 *                        + mu sum_i D_i c_i ||theta_i - theta_i^loc||^2)               (15)
 *
 * by exact block minimisation, which on a tick of agent i is
 *
 *     theta_i <- (sum_j W_ij/D_i theta_j + mu c_i theta_i^loc) / (1 + mu c_i).          (16)
 *
 * Invariant: the data is touched once, at the start; every tick is post-processing.
 */
#include <stddef.h>

#include "protocol/confidence.h"
#include "tacit/protocol.h"

enum { KIND_MODEL = 1 };

typedef struct mp_options {
    double mu;
    double full_confidence;
} mp_options;

typedef struct mp_shared {
    mp_options options;
    tacit_privacy_options privacy;
    double full_confidence;
    const tacit_shape *shape;
} mp_shared;

typedef struct mp_agent {
    const tacit_public *local; /* theta_i^loc as published; NULL without records */
    const tacit_public *theta;
    const tacit_secret *solitary; /* the model of an agent without neighbours */
    const tacit_public *view[];   /* theta_j as last heard */
} mp_agent;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    mp_shared *s = shared;
    s->options = *(const mp_options *)options;
    s->privacy = *setup->privacy;
    s->shape = tacit_model_shape(setup->model);
    return tacit_full_confidence(s->options.full_confidence, setup, &s->full_confidence, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    return at.channel == 0 && at.kind == KIND_MODEL ? ((const mp_shared *)shared)->shape : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(mp_agent) + neighbours * sizeof(const tacit_public *);
}

static tacit_status start(tacit_env *env, const mp_shared *s, mp_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (facts->neighbours == 0) {
        tacit_secret *alone = NULL;
        tacit_status status = tacit_learn_alone(env, &alone);
        self->solitary = alone;
        return status;
    }
    if (facts->records == 0) {
        self->theta = tacit_new_public(env, s->shape);
        return self->theta ? TACIT_OK : tacit_out_of_memory(tacit_own_error(env));
    }
    tacit_public *local = NULL;
    tacit_status status = tacit_publish_local(env, &s->privacy, &local);
    if (status != TACIT_OK)
        return status;
    self->local = local;
    self->theta = tacit_keep(local);
    return tacit_broadcast(env, KIND_MODEL, local);
}

/* Equation (16). */
static tacit_status tick(tacit_env *env, const mp_shared *s, mp_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    double *coef = tacit_temporary(env, (n + 1) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 1) * sizeof *term);
    tacit_public *next = tacit_new_public(env, s->shape);
    if (!coef || !term || !next)
        return tacit_out_of_memory(tacit_own_error(env));
    double anchor = s->options.mu * tacit_confidence(s->full_confidence, facts->records);
    for (uint32_t j = 0; j < n; j++) {
        coef[j] = facts->weight[j] / facts->degree / (1 + anchor);
        term[j] = self->view[j];
    }
    coef[n] = anchor / (1 + anchor);
    term[n] = self->local;
    tacit_public_combine(next, n + 1, coef, term);
    tacit_drop(env, self->theta);
    self->theta = next;
    return tacit_broadcast(env, KIND_MODEL, next);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    mp_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        return start(env, shared, self);
    case TACIT_WAKE:
        return self->theta ? tick(env, shared, self) : TACIT_OK;
    case TACIT_MESSAGE:
        if (event->slot != TACIT_NO_SLOT)
            tacit_view_put(env, self->view, event->slot, event->payload);
        return TACIT_OK;
    case TACIT_PEER_UP:
        return self->theta ? tacit_send(env, event->from, KIND_MODEL, self->theta) : TACIT_OK;
    default:
        return TACIT_OK;
    }
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    const mp_agent *self = state;
    tacit_save_public(saver, self->local);
    tacit_save_public(saver, self->theta);
    tacit_save_secret(saver, self->solitary);
    tacit_view_save(self->view, neighbours, saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const mp_shared *s = shared;
    mp_agent *self = state;
    self->local = tacit_load_public(loader, s->shape);
    self->theta = tacit_load_public(loader, s->shape);
    self->solitary = tacit_load_secret(loader, s->shape);
    tacit_view_load(self->view, neighbours, loader, s->shape);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    mp_agent *self = state;
    tacit_drop(env, self->local);
    tacit_drop(env, self->theta);
    tacit_drop(env, self->solitary);
    tacit_view_end(env, self->view, tacit_facts_of(env)->neighbours);
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    const mp_agent *self = state;
    return self->solitary ? self->solitary : tacit_public_as_secret(self->theta);
}

#define FIELD(name) offsetof(mp_options, name)

static const tacit_option options[] = {
    {.key = "mu",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(mu),
     .help = "how strongly a model is held to the one learned alone"},
    {.key = "full-confidence",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .offset = FIELD(full_confidence),
     .help = "records from which on an agent trusts its data fully; 0: the largest agent's"},
};

const tacit_protocol tacit_protocol_model_propagation = {
    .name = "model-propagation",
    .summary = "smooth models learned alone over the graph (paper 000, appendix C)",
    .wire_id = 4,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(mp_options)},
    .shared_size = sizeof(mp_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
