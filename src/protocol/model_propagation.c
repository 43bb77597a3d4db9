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

#include "protocol/personal.h"
#include "protocol/warm.h"

typedef struct mp_options {
    double mu;
    double full_confidence;
    double radius;
    warm_options warm;
    finish_options finish;
} mp_options;

typedef struct mp_shared {
    personal_shared common; /* must be first */
    warm_plan warm;
} mp_shared;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    const mp_options *o = options;
    mp_shared *s = shared;
    tacit_status status = finish_prepare(&s->common.finish, &o->finish, err);
    if (status == TACIT_OK)
        status = personal_setup_silent(&s->common, o->mu, o->full_confidence, setup, err);
    if (status == TACIT_OK)
        status = warm_prepare(&s->warm, &o->warm, o->radius, 0, setup, err);
    return status;
}

static void teardown(void *shared)
{
    warm_end(&((mp_shared *)shared)->warm);
}

static tacit_status start(tacit_env *env, const void *shared, personal_agent *self)
{
    const mp_shared *s = shared;
    if (tacit_facts_of(env)->records == 0) {
        self->theta = tacit_new_public(env, s->common.shape);
        return self->theta ? TACIT_OK : tacit_out_of_memory(tacit_own_error(env));
    }
    tacit_public *local = NULL;
    tacit_status status = warm_publish(env, &s->common, &s->warm, &local);
    if (status != TACIT_OK)
        return status;
    self->anchor = local;
    self->theta = tacit_keep(local);
    return tacit_broadcast(env, PERSONAL_MODEL, local);
}

/* Equation (16). */
static tacit_status tick(tacit_env *env, const void *shared, personal_agent *self)
{
    const personal_shared *s = shared;
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    double *coef = tacit_temporary(env, (n + 1) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 1) * sizeof *term);
    if (!coef || !term)
        return tacit_out_of_memory(tacit_own_error(env));
    double hold = s->mu * personal_confidence(s, facts->records);
    for (uint32_t j = 0; j < n; j++) {
        coef[j] = facts->weight[j] / facts->degree / (1 + hold);
        term[j] = self->view[j];
    }
    coef[n] = hold / (1 + hold);
    term[n] = self->anchor;
    return personal_say(env, shared, self, n + 1, coef, term);
}

static tacit_status on(tacit_env *env, const void *shared, void *self, const tacit_event *event)
{
    return personal_on(env, shared, self, event, start, tick);
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
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "with noise, rows longer than this are cut to it"},
    WARM_OPTIONS(mp_options, warm),
    FINISH_OPTIONS_WIDE(mp_options, finish),
};

const tacit_protocol tacit_protocol_model_propagation = {
    .name = "model-propagation",
    .summary = "smooth models learned alone over the graph (paper 000, appendix C)",
    .wire_id = 4,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES | TACIT_OWN_BOUND,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(mp_options)},
    .shared_size = sizeof(mp_shared),
    .setup = setup,
    .teardown = teardown,
    .payload = personal_payload,
    .agent_size = personal_agent_size,
    .on = on,
    .save = personal_save,
    .load = personal_load,
    .end = personal_end,
    .model = personal_model,
    .expect = personal_expect,
};
