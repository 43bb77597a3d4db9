/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perturbed: the local-DP baseline of paper 000, appendix D (docs/protocols/perturbed.md). Each
 * agent releases its records themselves, once, with noise, and learns from what was released:
 * alone, or with its neighbours by the step of cd,
 *
 *     theta_i <- (1-alpha) theta_i + alpha (sum_j W_ij/D_i theta_j - mu c_i grad L_i(theta_i)), (4)
 *
 * where L_i is that of the released records. It hides a record as a part of nothing, so the noise
 * does not get smaller with m_i: it is expected to be bad, and there to be compared with.
 *
 * Deviations from the paper: it perturbs x; here -y x is released, which is all the logistic loss
 * sees of a record, so that labels are hidden too. Agents without neighbours do the same as others.
 *
 * Invariants:
 *  1. Records are touched once, at the start; all else is a function of released and received
 * values.
 *  2. Memory of the released records lies in front of a personal_agent, which personal.c knows.
 */
#include <stddef.h>

#include "protocol/personal.h"
#include "protocol/spending.h"

typedef struct perturbed_options {
    double mu;
    double full_confidence;
    double radius;
    int64_t most_records;
    bool collaborate;
} perturbed_options;

typedef struct perturbed_shared {
    personal_shared common; /* must be first */
    perturbed_options options;
    size_t most; /* records of an agent */
    tacit_shape records;
    spending costs;
} perturbed_shared;

typedef struct perturbed_agent {
    const tacit_public *records; /* as released; NULL without records */
    max_align_t personal[];      /* a personal_agent */
} perturbed_agent;

static perturbed_agent *front(personal_agent *self)
{
    return (perturbed_agent *)(void *)((char *)self - offsetof(perturbed_agent, personal));
}

/* ---- plan ---- */

static tacit_status cost_of(const void *ctx, const tacit_setup *setup, double epsilon,
                            tacit_cost *cost, tacit_error *err)
{
    const perturbed_shared *s = ctx;
    return tacit_model_records_cost(setup->model, cost, setup->privacy, epsilon, s->options.radius,
                                    s->most, err);
}

static tacit_status make_room(perturbed_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const tacit_segment *weights = &s->common.shape->segment[0];
    size_t count;
    s->most = s->options.most_records > 0 ? (size_t)s->options.most_records : setup->max_records;
    if (s->most == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "nobody knows the largest number of records here; set "
                          "\"protocol.most-records\"");
    if (!tacit_mul_size(s->most, weights->count, &count))
        return tacit_fail(err, TACIT_EINPUT, "\"protocol.most-records: %zu\" is too many", s->most);
    return tacit_shape_init(&s->records, &(tacit_segment){"records", weights->scalar, count}, 1,
                            err);
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    perturbed_shared *s = shared;
    s->options = *(const perturbed_options *)options;
    tacit_status status =
        personal_setup_silent(&s->common, s->options.mu, s->options.full_confidence, setup, err);
    if (status == TACIT_OK)
        status = make_room(s, setup, err);
    if (status == TACIT_OK)
        status = spending_once(&s->costs, setup, 0, cost_of, s, err);
    return status;
}

static void teardown(void *shared)
{
    spending_end(&((perturbed_shared *)shared)->costs);
}

/* ---- start ---- */

static tacit_status release_records(tacit_env *env, const perturbed_shared *s,
                                    perturbed_agent *agent)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const tacit_cost *cost = spending_next(&s->costs, facts->epsilon, 0);
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released, *kept;
    if (!cost || facts->records > s->most)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent \"%llu\" has %zu records, or a budget, that was not planned for",
                          (unsigned long long)facts->self, facts->records);
    tacit_status status = tacit_reserve(env, cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_records(tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN),
                                     s->options.radius, &s->records, tacit_own_scratch(env),
                                     &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status != TACIT_OK)
        return status;
    if (!(kept = tacit_new_public(env, &s->records)))
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_copy(kept, released);
    agent->records = kept;
    return TACIT_OK;
}

/* alpha of (4): the smoothness of public records is public. */
static tacit_status choose_step(tacit_env *env, const perturbed_shared *s, personal_agent *self)
{
    const size_t records = tacit_facts_of(env)->records;
    double smooth = 0;
    tacit_status status = tacit_model_smoothness_of_records(
        tacit_own_model(env), front(self)->records, records, &smooth, tacit_own_error(env));
    const double local = smooth + 2 * tacit_model_lambda(tacit_own_model(env), records);
    self->alpha = 1 / (1 + s->common.mu * personal_confidence(&s->common, records) * local);
    return status;
}

static tacit_status start(tacit_env *env, const void *shared, personal_agent *self)
{
    const perturbed_shared *s = shared;
    const size_t records = tacit_facts_of(env)->records;
    tacit_public *theta = tacit_new_public(env, s->common.shape);
    self->theta = theta;
    self->alpha = 1;
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    if (records == 0)
        return TACIT_OK;
    tacit_status status = release_records(env, s, front(self));
    if (status == TACIT_OK)
        status = tacit_model_of_records(tacit_own_model(env), front(self)->records, records, theta,
                                        tacit_own_error(env));
    if (status != TACIT_OK || !s->options.collaborate)
        return status;
    status = choose_step(env, s, self);
    return status == TACIT_OK ? tacit_broadcast(env, PERSONAL_MODEL, theta) : status;
}

/* ---- together ---- */

/* Equation (4) as one linear combination. */
static tacit_status tick(tacit_env *env, const void *shared, personal_agent *self)
{
    const perturbed_shared *s = shared;
    const tacit_facts *facts = tacit_facts_of(env);
    const uint32_t n = facts->neighbours;
    if (!s->options.collaborate || n == 0)
        return TACIT_OK;
    double *coef = tacit_temporary(env, (n + 2) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 2) * sizeof *term);
    tacit_public *gradient = tacit_new_public(env, s->common.shape);
    tacit_status status = TACIT_OK;
    if (!coef || !term || !gradient)
        status = tacit_out_of_memory(tacit_own_error(env));
    else if (facts->records > 0)
        status = tacit_model_gradient_of_records(tacit_own_model(env), front(self)->records,
                                                 facts->records, self->theta, gradient,
                                                 tacit_own_error(env));
    if (status == TACIT_OK) {
        const double alpha = self->alpha;
        const double weight = s->common.mu * personal_confidence(&s->common, facts->records);
        const double lambda = tacit_model_lambda(tacit_own_model(env), facts->records);
        for (uint32_t j = 0; j < n; j++) {
            coef[j] = alpha * facts->weight[j] / facts->degree;
            term[j] = self->view[j];
        }
        coef[n] = 1 - alpha - alpha * weight * 2 * lambda;
        term[n] = self->theta;
        coef[n + 1] = -alpha * weight;
        term[n + 1] = gradient;
        status = personal_say(env, shared, self, n + 2, coef, term);
    }
    tacit_drop(env, gradient);
    return status;
}

static tacit_status on(tacit_env *env, const void *shared, void *self, const tacit_event *event)
{
    personal_agent *personal = (personal_agent *)(void *)((perturbed_agent *)self)->personal;
    if (event->type == TACIT_START)
        return start(env, shared, personal);
    if (event->type == TACIT_PEER_UP && !((const perturbed_shared *)shared)->options.collaborate)
        return TACIT_OK;
    return personal_on(env, shared, personal, event, start, tick);
}

/* ---- state ---- */

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    return offsetof(perturbed_agent, personal) + personal_agent_size(shared, neighbours);
}

static void save(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver)
{
    const perturbed_agent *agent = self;
    tacit_save_public(saver, agent->records);
    personal_save(shared, agent->personal, neighbours, saver);
}

static void load(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader)
{
    perturbed_agent *agent = self;
    agent->records = tacit_load_public(loader, &((const perturbed_shared *)shared)->records);
    personal_load(shared, agent->personal, neighbours, loader);
}

static void end(tacit_env *env, const void *shared, void *self)
{
    perturbed_agent *agent = self;
    tacit_drop(env, agent->records);
    personal_end(env, shared, agent->personal);
}

static const tacit_secret *model(const void *shared, const void *self)
{
    return personal_model(shared, ((const perturbed_agent *)self)->personal);
}

#define FIELD(name) offsetof(perturbed_options, name)

static const tacit_option options[] = {
    {.key = "collaborate",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = FIELD(collaborate),
     .help = "learn from released records together with neighbours, instead of alone"},
    {.key = "mu",
     .type = TACIT_OPT_REAL,
     .fallback = "5",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(mu),
     .help = "collaborate: trust in own released records"},
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "with noise, rows longer than this are cut to it"},
    {.key = "full-confidence",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .offset = FIELD(full_confidence),
     .help = "records from which on an agent trusts its data fully; 0: the largest agent's"},
    {.key = "most-records",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(most_records),
     .help = "room for released records; 0: as many as the largest agent has"},
};

const tacit_protocol tacit_protocol_perturbed = {
    .name = "perturbed",
    .summary = "records released with noise, then learned from (paper 000, appendix D)",
    .wire_id = 6,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES | TACIT_OWN_BOUND,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(perturbed_options)},
    .shared_size = sizeof(perturbed_shared),
    .setup = setup,
    .teardown = teardown,
    .payload = personal_payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
