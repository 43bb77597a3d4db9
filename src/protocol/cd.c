/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cd: personalized models by asynchronous block coordinate descent (paper 000, section 2.3;
 * MATH section 2). All agents together minimise
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
 *  1. theta_i, as soon as an agent has neighbours, is a function of released and received
 *     values: it is public. An agent without neighbours learns alone and its model is secret.
 *  2. An agent without records never asks for a permit: it only averages.
 *  3. A tick is one linear combination: neighbours, own model, released gradient.
 */
#include <math.h>
#include <stddef.h>

#include "protocol/confidence.h"
#include "tacit/protocol.h"

enum { START_ZERO, START_LOCAL };
enum { SMOOTHNESS_EXACT, SMOOTHNESS_BOUND };
enum { KIND_MODEL = 1 };

typedef struct cd_options {
    double mu;
    int start;
    int smoothness;
    double radius;
    double full_confidence;
} cd_options;

typedef struct cd_shared {
    cd_options options;
    tacit_privacy_options privacy;
    double full_confidence; /* M */
    const tacit_shape *shape;
} cd_shared;

typedef struct cd_agent {
    double alpha;                 /* step of (4) */
    const tacit_public *theta;    /* NULL without neighbours */
    const tacit_secret *solitary; /* the model of an agent without neighbours */
    const tacit_public *view[];   /* theta_j as last heard; nothing heard means zero */
} cd_agent;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    cd_shared *s = shared;
    s->options = *(const cd_options *)options;
    s->privacy = *setup->privacy;
    s->shape = tacit_model_shape(setup->model);
    return tacit_full_confidence(s->options.full_confidence, setup, &s->full_confidence, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    return at.channel == 0 && at.kind == KIND_MODEL ? ((const cd_shared *)shared)->shape : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(cd_agent) + neighbours * sizeof(const tacit_public *);
}

/* Smoothness of the unregularised loss: measured and released, or a public bound. */
static tacit_status smoothness(tacit_env *env, const cd_shared *s, double *out)
{
    const tacit_model *model = tacit_own_model(env);
    if (s->options.smoothness == SMOOTHNESS_BOUND) {
        *out = tacit_model_smoothness_bound(model, s->options.radius);
        return TACIT_OK;
    }
    tacit_cost cost = tacit_cost_of(&s->privacy, "smoothness");
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_smoothness(model, permit, tacit_own_data(env, TACIT_TRAIN),
                                        tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status == TACIT_OK)
        *out = tacit_public_get(released, 0, 0);
    return status;
}

static tacit_status choose_step(tacit_env *env, const cd_shared *s, cd_agent *self)
{
    size_t records = tacit_facts_of(env)->records;
    double smooth = 0;
    if (records > 0) {
        tacit_status status = smoothness(env, s, &smooth);
        if (status != TACIT_OK)
            return status;
    }
    double local = smooth + 2 * tacit_model_lambda(tacit_own_model(env), records);
    self->alpha = 1 / (1 + s->options.mu * tacit_confidence(s->full_confidence, records) * local);
    return TACIT_OK;
}

static tacit_status first_model(tacit_env *env, const cd_shared *s, cd_agent *self)
{
    tacit_public *theta = NULL;
    tacit_status status = TACIT_OK;
    if (s->options.start == START_LOCAL && tacit_facts_of(env)->records > 0) {
        status = tacit_publish_local(env, &s->privacy, &theta);
        if (status == TACIT_OK)
            status = tacit_broadcast(env, KIND_MODEL, theta);
    } else if (!(theta = tacit_new_public(env, s->shape))) {
        status = tacit_out_of_memory(tacit_own_error(env));
    }
    self->theta = theta;
    return status;
}

static tacit_status start(tacit_env *env, const cd_shared *s, cd_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (facts->neighbours == 0) {
        tacit_secret *alone = NULL;
        tacit_status status = tacit_learn_alone(env, &alone);
        self->solitary = alone;
        return status;
    }
    tacit_status status = choose_step(env, s, self);
    return status == TACIT_OK ? first_model(env, s, self) : status;
}

/* grad of the loss at theta_i, released: the only place where a tick touches data. */
static tacit_status released_gradient(tacit_env *env, const cd_shared *s, const cd_agent *self,
                                      tacit_public **out)
{
    static const tacit_clip unclipped = {TACIT_L2, INFINITY};
    tacit_cost cost = tacit_cost_of(&s->privacy, "gradient");
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_gradient(tacit_own_model(env), permit,
                                      tacit_own_data(env, TACIT_TRAIN), self->theta, unclipped,
                                      tacit_own_scratch(env), &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, out);
    return status;
}

/* Equation (4) as one linear combination. */
static tacit_status tick(tacit_env *env, const cd_shared *s, cd_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    tacit_public *gradient = NULL;
    if (facts->records > 0) {
        tacit_status status = released_gradient(env, s, self, &gradient);
        if (status != TACIT_OK)
            return status;
    }
    double *coef = tacit_temporary(env, (n + 2) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 2) * sizeof *term);
    tacit_public *next = tacit_new_public(env, s->shape);
    if (!coef || !term || !next)
        return tacit_out_of_memory(tacit_own_error(env));

    double alpha = self->alpha;
    double weight = s->options.mu * tacit_confidence(s->full_confidence, facts->records);
    double lambda = tacit_model_lambda(tacit_own_model(env), facts->records);
    for (uint32_t j = 0; j < n; j++) {
        coef[j] = alpha * facts->weight[j] / facts->degree;
        term[j] = self->view[j];
    }
    coef[n] = 1 - alpha - alpha * weight * 2 * lambda;
    term[n] = self->theta;
    coef[n + 1] = -alpha * weight;
    term[n + 1] = gradient;
    tacit_public_combine(next, n + 2, coef, term);

    tacit_drop(env, self->theta);
    self->theta = next;
    return tacit_broadcast(env, KIND_MODEL, next);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const cd_shared *s = shared;
    cd_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        return start(env, s, self);
    case TACIT_WAKE:
        return self->theta ? tick(env, s, self) : TACIT_OK;
    case TACIT_MESSAGE:
        if (event->slot != TACIT_NO_SLOT)
            tacit_view_put(env, self->view, event->slot, event->payload);
        return TACIT_OK;
    case TACIT_PEER_UP: /* it may have missed our last words */
        return self->theta ? tacit_send(env, event->from, KIND_MODEL, self->theta) : TACIT_OK;
    default:
        return TACIT_OK;
    }
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    const cd_agent *self = state;
    tacit_save_f64(saver, self->alpha);
    tacit_save_public(saver, self->theta);
    tacit_save_secret(saver, self->solitary);
    tacit_view_save(self->view, neighbours, saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const cd_shared *s = shared;
    cd_agent *self = state;
    self->alpha = tacit_load_f64(loader);
    self->theta = tacit_load_public(loader, s->shape);
    self->solitary = tacit_load_secret(loader, s->shape);
    tacit_view_load(self->view, neighbours, loader, s->shape);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    cd_agent *self = state;
    tacit_drop(env, self->theta);
    tacit_drop(env, self->solitary);
    tacit_view_end(env, self->view, tacit_facts_of(env)->neighbours);
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    const cd_agent *self = state;
    return self->solitary ? self->solitary : tacit_public_as_secret(self->theta);
}

static void expect(const void *shared, const void *state, uint32_t neighbours)
{
    (void)shared;
    const cd_agent *self = state;
    tacit_public_expect(self->theta);
    for (uint32_t j = 0; j < neighbours; j++)
        tacit_public_expect(self->view[j]);
}

static bool coupling(const void *shared, size_t records, double *mu, double *confidence)
{
    const cd_shared *s = shared;
    *mu = s->options.mu;
    *confidence = tacit_confidence(s->full_confidence, records);
    return true;
}

static const char *const starts[] = {"zero", "local", NULL};
static const char *const smoothnesses[] = {"exact", "bound", NULL};
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
     .fallback = "exact",
     .choices = smoothnesses,
     .offset = FIELD(smoothness),
     .help = "step size from own data (released once), or from the public bound on rows"},
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
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
    .expect = expect,
    .coupling = coupling,
};
