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
 * With noise, what the k-th release of an agent costs is planned for its budget and the run's
 * policy (spending.h, docs/budgets.md). When its schedule is used up or its ledger refuses, it
 * computes no gradients any more and either rests, or relays: it goes on averaging, anchored on
 * the model it was left with, by the step of model-propagation,
 *
 *     theta_i <- (sum_j W_ij/D_i theta_j + mu c_i anchor_i) / (1 + mu c_i),             (16)
 *
 * which costs nothing, being arithmetic on public values. (Without an anchor all would end in
 * consensus.)
 *
 * `start: propagated` (remark 3, appendix C): each agent first publishes a local model with noise
 * (warm.h), which is the first of what it may spend, and its first ticks propagate these by (16).
 *
 * Invariants:
 *  1. theta_i is a function of released and received values: it is public (personal.h).
 *  2. An agent without records never asks for a permit: it only averages.
 *  3. A tick is one linear combination: neighbours, own model, released gradient.
 */
#include <math.h>
#include <stddef.h>

#include "protocol/personal.h"
#include "protocol/spending.h"
#include "protocol/warm.h"

enum { START_ZERO, START_LOCAL, START_PROPAGATED };
enum { AFTER_RELAY, AFTER_REST };

typedef struct cd_options {
    double mu;
    int start;
    int smoothness;
    double radius;
    double full_confidence;
    int after;
    double warm_epsilon, warm_mu;
    int64_t warm_ticks;
    warm_options warm;
    finish_options finish;
} cd_options;

typedef struct cd_shared {
    personal_shared common; /* must be first */
    cd_options options;
    spending gradients;
    warm_plan warm; /* start: propagated */
} cd_shared;

/*
 * r of the policies where nobody said one: what is left of the squared noise after one of an
 * agent's ticks, from public figures alone. What neighbours do not share averages out in a tick or
 * two; what a neighbourhood has in common only goes by curvature, its own (a Hessian whose trace is
 * at most the smoothness bound, hence that over p on average) and the regulariser's:
 *
 *     r = (1 - alpha mu c (S/p + 2 lambda))^2    for an agent with half the records of the largest.
 */
static double public_ratio(const cd_shared *s, const tacit_setup *setup)
{
    const size_t records = (size_t)fmin(fmax(s->common.full_confidence / 2, 1), 1e15);
    const double weight = s->common.mu * personal_confidence(&s->common, records);
    const double smooth = tacit_model_smoothness_bound(setup->model, s->options.radius);
    const double twice = 2 * tacit_model_lambda(setup->model, records);
    const double alpha = 1 / (1 + weight * (smooth + twice));
    const double curved = smooth / (double)s->common.shape->segment[0].count + twice;
    const double kept = 1 - alpha * weight * curved;
    return fmin(fmax(kept * kept, 0.5), 0.99);
}

/* What the warm start costs is the first of what an agent may spend. */
static tacit_status plan_costs(cd_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const cd_options *o = &s->options;
    const bool warm = o->start == START_PROPAGATED;
    tacit_status status =
        warm ? warm_prepare(&s->warm, &o->warm, o->radius, o->warm_epsilon, setup, err) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    tacit_privacy_options privacy = *setup->privacy;
    if (privacy.ratio == 0)
        privacy.ratio = public_ratio(s, setup);
    return spending_plan(&s->gradients, setup, &privacy, s->common.shape->segment[0].count,
                         "gradient", s->warm.costs.cost, s->warm.costs.groups, err);
}

/* For unit user m_i is a part of what is protected, and must not show in c_i and lambda_i. */
static tacit_status check_user(const cd_options *o, const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *privacy = setup->privacy;
    if (privacy->mechanism == TACIT_MECHANISM_NONE || privacy->unit != TACIT_UNIT_USER ||
        privacy->adjacency != TACIT_REPLACE)
        return TACIT_OK;
    const bool alike = o->full_confidence > 0 && o->full_confidence <= 1;
    if (alike && tacit_model_lambda(setup->model, 1) == tacit_model_lambda(setup->model, 2))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "for \"privacy.unit: user\" the number of an agent's records is a secret, "
                      "but cd weighs agents by it; set \"protocol.full-confidence: 1\", so that "
                      "all weigh the same, and \"model.lambda\"");
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    cd_shared *s = shared;
    s->options = *(const cd_options *)options;
    tacit_status status = finish_prepare(&s->common.finish, &s->options.finish, err);
    if (status != TACIT_OK)
        return status;
    status =
        personal_setup_silent(&s->common, s->options.mu, s->options.full_confidence, setup, err);
    if (status == TACIT_OK)
        status = check_user(&s->options, setup, err);
    if (status != TACIT_OK)
        return status;
    return plan_costs(s, setup, err);
}

static void teardown(void *shared)
{
    warm_end(&((cd_shared *)shared)->warm);
    spending_end(&((cd_shared *)shared)->gradients);
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
    const bool warm = s->options.start == START_PROPAGATED;
    status = warm ? warm_publish(env, &s->common, &s->warm, &local)
                  : personal_publish_local(env, &s->common, &local);
    self->theta = local;
    if (warm && status == TACIT_OK)
        self->anchor = tacit_keep(local);
    return status == TACIT_OK ? tacit_broadcast(env, PERSONAL_MODEL, local) : status;
}

/* Equation (16): on with what others say, near the model published first, or the one left. */
static tacit_status relay(tacit_env *env, const cd_shared *s, double mu, personal_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    double *coef = tacit_temporary(env, (n + 1) * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (n + 1) * sizeof *term);
    if (!coef || !term)
        return tacit_out_of_memory(tacit_own_error(env));
    const double weight = mu * personal_confidence(&s->common, facts->records);
    for (uint32_t j = 0; j < n; j++) {
        coef[j] = facts->weight[j] / facts->degree / (1 + weight);
        term[j] = self->view[j];
    }
    coef[n] = weight / (1 + weight);
    term[n] = self->anchor;
    return personal_say(env, s, self, n + 1, coef, term);
}

/* The gradient at theta_i, released; `spent` when nothing is left for it. */
static tacit_status ask_records(tacit_env *env, const cd_shared *s, personal_agent *self,
                                tacit_public **gradient)
{
    const double epsilon = tacit_facts_of(env)->epsilon;
    const tacit_cost *cost = spending_next(&s->gradients, epsilon, self->spoken);
    tacit_status status =
        cost ? personal_gradient(env, &s->common, cost, self->theta, gradient) : TACIT_EBUDGET;
    /* One that could never speak is a mistake to be told. */
    if (status == TACIT_EBUDGET && self->spoken > 0) {
        self->spent = true;
        tacit_drop(env, self->anchor);
        self->anchor = tacit_keep(self->theta);
        return TACIT_OK;
    }
    self->spoken += status == TACIT_OK;
    return status;
}

/* Equation (4) as one linear combination. */
static tacit_status tick(tacit_env *env, const void *shared, personal_agent *self)
{
    const cd_shared *s = shared;
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    tacit_public *gradient = NULL;
    if (s->options.start == START_PROPAGATED && self->warmed < (uint64_t)s->options.warm_ticks) {
        self->warmed++;
        return relay(env, s, s->options.warm_mu, self);
    }
    if (facts->records > 0 && !self->spent) {
        tacit_status status = ask_records(env, s, self, &gradient);
        if (status != TACIT_OK)
            return status;
    }
    if (self->spent)
        return s->options.after == AFTER_RELAY ? relay(env, s, s->common.mu, self) : TACIT_OK;
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

static const char *const starts[] = {"zero", "local", "propagated", NULL};
static const char *const afters[] = {"relay", "rest", NULL};
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
     .help = "first model: zero; the local one, released bare; or local ones released with noise "
             "and propagated"},
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
     .help = "public bound on the norm of a row, for \"smoothness: bound\"; with \"start: "
             "propagated\" rows are cut to it"},
    {.key = "full-confidence",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .offset = FIELD(full_confidence),
     .help = "records from which on an agent trusts its data fully; 0: the largest agent's"},
    {.key = "after",
     .type = TACIT_OPT_CHOICE,
     .fallback = "relay",
     .choices = afters,
     .offset = FIELD(after),
     .help = "once the budget is spent: go on averaging near the model that was left, which costs "
             "nothing, or rest"},
    {.key = "warm-epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "0.05",
     .min = 1e-6,
     .max = 1e6,
     .offset = FIELD(warm_epsilon),
     .help = "start: propagated: how much of the budget is for the first model"},
    {.key = "warm-ticks",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(warm_ticks),
     .help = "start: propagated: ticks of an agent that propagate, before it asks its records"},
    {.key = "warm-mu",
     .type = TACIT_OPT_REAL,
     .fallback = "0.3",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(warm_mu),
     .help = "start: propagated: how strongly these hold a model to the one published first"},
    WARM_OPTIONS(cd_options, warm),
    FINISH_OPTIONS_WIDE(cd_options, finish),
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
    .teardown = teardown,
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
