/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cd: personalized models by asynchronous block coordinate descent (paper 000, section 2.3;
 * docs/protocols/cd.md). All agents together minimise
 *
 *     Q(Theta) = 1/2 sum_{i<j} W_ij ||theta_i - theta_j||^2 + mu sum_i D_i c_i L_i(theta_i).  (2)
 *
 * When agent i's clock ticks it takes one gradient step on its own block, with step 1/L_i:
 *
 *     theta_i <- (1-alpha) theta_i + alpha (sum_j W_ij/D_i theta_j - mu c_i grad L_i(theta_i)), (4)
 *     alpha = 1 / (1 + mu c_i L_i^loc),
 *
 * and broadcasts theta_i. theta_j is the latest value received from j.
 *
 * Deviations from the paper: (4) is printed with the gradient outside the bracket that alpha
 * multiplies; the step above is the one its proofs use. The data enters through one released
 * vector a tick, the mean gradient of the loss; the regulariser 2 lambda_i theta_i is added
 * after it and touches no data. L_i^loc is a release of its own, or a public bound.
 *
 * Invariants:
 *  1. theta_i is a function of released and received values: it is public (personal.h).
 *  2. An agent without records never asks for a permit: it only averages.
 *  3. A tick is one linear combination: neighbours, own model, released gradient.
 */
#include <stddef.h>

#include "protocol/personal.h"

enum { START_ZERO, START_LOCAL };

typedef struct cd_options {
    double mu;
    int start;
    int smoothness;
    double radius;
    double full_confidence;
    finish_options finish;
} cd_options;

typedef struct cd_shared {
    personal_shared common; /* must be first */
    cd_options options;
} cd_shared;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    cd_shared *s = shared;
    s->options = *(const cd_options *)options;
    tacit_status status = finish_prepare(&s->common.finish, &s->options.finish, err);
    if (status != TACIT_OK)
        return status;
    return personal_setup(&s->common, s->options.mu, s->options.full_confidence, setup, err);
}

/* alpha of (4). Without records L_i is zero, and so is c_i. */
static tacit_status choose_step(tacit_env *env, const cd_shared *s, personal_agent *self)
{
    size_t records = tacit_facts_of(env)->records;
    double smooth = 0;
    tacit_status status = records > 0 ? personal_smoothness(env, &s->common, s->options.smoothness,
                                                            s->options.radius, &smooth)
                                      : TACIT_OK;
    double local = smooth + 2 * tacit_model_lambda(tacit_own_model(env), records);
    self->alpha = 1 / (1 + s->common.mu * personal_confidence(&s->common, records) * local);
    return status;
}

static tacit_status start(tacit_env *env, const void *shared, personal_agent *self)
{
    const cd_shared *s = shared;
    tacit_status status = choose_step(env, s, self);
    if (status != TACIT_OK)
        return status;
    if (s->options.start == START_ZERO || tacit_facts_of(env)->records == 0) {
        self->theta = tacit_new_public(env, s->common.shape);
        return self->theta ? TACIT_OK : tacit_out_of_memory(tacit_own_error(env));
    }
    tacit_public *local = NULL;
    status = personal_publish_local(env, &s->common, &local);
    self->theta = local;
    return status == TACIT_OK ? tacit_broadcast(env, PERSONAL_MODEL, local) : status;
}

/* Equation (4) as one linear combination. */
static tacit_status tick(tacit_env *env, const void *shared, personal_agent *self)
{
    const cd_shared *s = shared;
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    tacit_public *gradient = NULL;
    if (facts->records > 0) {
        tacit_status status = personal_gradient(env, &s->common, self->theta, &gradient);
        /* A spent budget ends an agent's own learning: its last words stand. One that could
         * never speak is a mistake to be told. */
        if (status == TACIT_EBUDGET && self->spoken > 0)
            return TACIT_OK;
        if (status != TACIT_OK)
            return status;
        self->spoken++;
    }
    double *coef = tacit_temporary(env, (n + 2) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 2) * sizeof *term);
    if (!coef || !term)
        return tacit_out_of_memory(tacit_own_error(env));

    double alpha = self->alpha;
    double weight = s->common.mu * personal_confidence(&s->common, facts->records);
    double lambda = tacit_model_lambda(tacit_own_model(env), facts->records);
    for (uint32_t j = 0; j < n; j++) {
        coef[j] = alpha * facts->weight[j] / facts->degree;
        term[j] = self->view[j];
    }
    coef[n] = 1 - alpha - alpha * weight * 2 * lambda;
    term[n] = self->theta;
    coef[n + 1] = -alpha * weight;
    term[n + 1] = gradient;
    return personal_say(env, shared, self, n + 2, coef, term);
}

static tacit_status on(tacit_env *env, const void *shared, void *self, const tacit_event *event)
{
    return personal_on(env, shared, self, event, start, tick);
}

static bool coupling(const void *shared, size_t records, double *mu, double *confidence)
{
    const cd_shared *s = shared;
    *mu = s->common.mu;
    *confidence = personal_confidence(&s->common, records);
    return true;
}

static const char *const starts[] = {"zero", "local", NULL};
#define FIELD(name) offsetof(cd_options, name)

static const tacit_option options[] = {
    {.key = "mu",
     .type = TACIT_OPT_REAL,
     .fallback = "5",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(mu),
     .help = "trust in own data: large learns alone, small learns one shared model"},
    {.key = "start",
     .type = TACIT_OPT_CHOICE,
     .fallback = "zero",
     .choices = starts,
     .offset = FIELD(start),
     .help = "first model: zero, or the local one (which is then released)"},
    {.key = "smoothness",
     .type = TACIT_OPT_CHOICE,
     .fallback = "auto",
     .choices = personal_smoothnesses,
     .offset = FIELD(smoothness),
     .help = "step size from own data (exact, released once) or from the public bound on rows; "
             "auto: bound when there is noise"},
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "public bound on the norm of a row, for \"smoothness: bound\""},
    {.key = "full-confidence",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .offset = FIELD(full_confidence),
     .help = "records from which on an agent trusts its data fully; 0: the largest agent's"},
    FINISH_OPTIONS(cd_options, finish, "none"),
};

const tacit_protocol tacit_protocol_cd = {
    .name = "cd",
    .summary = "personalized models by asynchronous coordinate descent (paper 000)",
    .wire_id = 3,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(cd_options)},
    .shared_size = sizeof(cd_shared),
    .setup = setup,
    .payload = personal_payload,
    .agent_size = personal_agent_size,
    .on = on,
    .save = personal_save,
    .load = personal_load,
    .end = personal_end,
    .model = personal_model,
    .expect = personal_expect,
    .coupling = coupling,
};
