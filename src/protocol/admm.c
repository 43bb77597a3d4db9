/* SPDX-License-Identifier: Apache-2.0 */
/*
 * admm: personalized models by asynchronous gossip ADMM (Vanhaesebrouck, Bellet, Tommasi 2017;
 * docs/protocols/admm.md), the algorithm that paper 000 compares cd with. All agents together
 * minimise the same Q as cd. Agent i keeps its model theta_i^i and a copy theta_i^j of each
 * neighbour's; an edge e = (i,j) holds Z_e^k and duals Lambda_ei^k, Lambda_ej^k for k in {i,j}
 * that make both ends agree in the limit. The agent's own part is
 *
 *     F_i = 1/4 sum_j W_ij ||theta_i^i - theta_i^j||^2 + mu D_i c_i L_i(theta_i^i)
 *         + sum_{e=(i,j)} sum_k [Lambda_ei^k . (theta_i^k - Z_e^k) + rho/2 ||theta_i^k -
 * Z_e^k||^2].
 *
 * When agent i's clock ticks it draws a neighbour j. Both lower F, tell each other theta^i and
 * theta^j, and for k in {i,j} both compute
 *
 *     Z_e^k     <- 1/2 [(Lambda_ei^k + Lambda_ej^k) / rho + theta_i^k + theta_j^k]
 *     Lambda_e^k <- Lambda_e^k + rho (theta^k - Z_e^k).
 *
 * That is four vectors a tick. Duals of the two ends start at zero and each update leaves them
 * opposite, so that they need not be sent: Z is the mean of what was said, and the dual moves by
 * half the difference. U = Lambda / rho is what is stored.
 *
 * F is quadratic in the copies, which have a closed form given theta_i^i; they are eliminated,
 * and what is left is lowered by `steps` gradient steps of length one over its smoothness. The
 * paper says only that it takes ten gradient steps on F.
 *
 * Messages may be late or lost. An update of an edge has a number, `version`, and is made of two
 * words: one that asks and one that answers. An agent that asked repeats the same word, whenever
 * it draws that neighbour again, until it is answered; one that answered keeps its word and
 * repeats it if it is asked again for the same update. If both ask at once, the end with the
 * smaller id is served. See the invariants.
 *
 * Invariants:
 *  1. theta, Z and U are functions of released and received values: they are public.
 *  2. An agent without records never asks for a permit.
 *  3. An update of an edge is made by both ends from the same two words, or not yet by the one
 *     that asked for it, and that one still holds its word. So versions differ by one at most.
 *  4. Where versions are equal, Z is the same at both ends and U is opposite, to the last bit.
 */
#include "protocol/admm.h"

#include <math.h>
#include <stddef.h>

#include "protocol/personal.h"

typedef struct admm_options {
    double mu, rho;
    int64_t steps;
    int smoothness;
    double radius;
    double full_confidence;
} admm_options;

typedef struct admm_shared {
    personal_shared common; /* must be first */
    admm_options options;
    tacit_shape word; /* "own", "copy", "version" */
} admm_shared;

enum { WORD_VERSION = ADMM_SIDES }; /* the segment behind the two vectors */

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    admm_shared *s = shared;
    s->options = *(const admm_options *)options;
    tacit_status status =
        personal_setup(&s->common, s->options.mu, s->options.full_confidence, setup, err);
    if (status != TACIT_OK)
        return status;
    if (s->common.shape->segments != 1)
        return tacit_fail(err, TACIT_EINPUT, "admm takes models of one segment, not %u",
                          s->common.shape->segments);
    const tacit_segment *model = &s->common.shape->segment[0];
    const tacit_segment word[] = {{"own", model->scalar, model->count},
                                  {"copy", model->scalar, model->count},
                                  {"version", TACIT_I64, 1}};
    return tacit_shape_init(&s->word, word, 3, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const admm_shared *s = shared;
    if (at.channel != 0)
        return NULL;
    if (at.kind == ADMM_GREETING)
        return s->common.shape;
    return at.kind == ADMM_ASK || at.kind == ADMM_ANSWER ? &s->word : NULL;
}

/* ---- lowering F ---- */

/* Half of W_ij: the second derivative of 1/4 W_ij ||theta_i^i - theta_i^j||^2 by either. */
static double bond(double weight)
{
    return 0.5 * weight;
}

/*
 * Without the copies, F is mu D_i c_i L_i(theta) + pull/2 ||theta||^2 - theta . centre + constant:
 * each neighbour pulls to Z^j - U^j through bond and rho in series, and to Z^i - U^i with rho.
 */
static tacit_status find_centre(tacit_env *env, const admm_shared *s, const admm_agent *self,
                                double *pull, tacit_public *centre)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t n = facts->neighbours;
    double *coef = tacit_temporary(env, (size_t)n * 4 * sizeof *coef);
    const tacit_public **term = tacit_temporary(env, (size_t)n * 4 * sizeof *term);
    if (!coef || !term)
        return tacit_out_of_memory(tacit_own_error(env));
    *pull = 0;
    for (uint32_t j = 0; j < n; j++) {
        double half = bond(facts->weight[j]), rho = s->options.rho;
        double strength[ADMM_SIDES] = {rho, half * rho / (half + rho)};
        for (int side = 0; side < ADMM_SIDES; side++) {
            size_t at = (size_t)j * 4 + 2 * (size_t)side;
            coef[at] = strength[side];
            term[at] = self->edge[j].z[side];
            coef[at + 1] = -strength[side];
            term[at + 1] = self->edge[j].u[side];
            *pull += strength[side];
        }
    }
    tacit_public_combine(centre, (size_t)n * 4, coef, term);
    return TACIT_OK;
}

static tacit_status descend(tacit_env *env, const admm_shared *s, admm_agent *self, double pull,
                            const tacit_public *centre)
{
    const tacit_facts *facts = tacit_facts_of(env);
    double weight = s->common.mu * facts->degree * personal_confidence(&s->common, facts->records);
    double lambda = tacit_model_lambda(tacit_own_model(env), facts->records);
    double step = 1 / (pull + weight * (self->smooth + 2 * lambda));
    for (int64_t k = 0; k < s->options.steps; k++) {
        tacit_public *gradient = NULL;
        if (facts->records > 0) {
            tacit_status status =
                personal_gradient(env, &s->common, &s->common.gradient, self->theta, &gradient);
            if (status != TACIT_OK)
                return status;
        }
        tacit_public_scale(self->theta, 1 - step * (pull + weight * 2 * lambda));
        tacit_public_axpy(self->theta, step, centre);
        if (gradient)
            tacit_public_axpy(self->theta, -step * weight, gradient);
    }
    return TACIT_OK;
}

static tacit_status lower(tacit_env *env, const admm_shared *s, admm_agent *self)
{
    double pull = 0;
    tacit_public *centre = tacit_new_public(env, s->common.shape);
    if (!centre)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = find_centre(env, s, self, &pull, centre);
    if (status == TACIT_OK)
        status = descend(env, s, self, pull, centre);
    tacit_drop(env, centre);
    return status;
}

/* ---- words ---- */

/* theta_i^i and theta_i^j for update `version` of the edge; NULL when memory is out. */
static tacit_public *word_for(tacit_env *env, const admm_shared *s, const admm_agent *self,
                              uint32_t slot)
{
    tacit_public *word = tacit_new_public(env, &s->word);
    if (!word)
        return NULL;
    const admm_edge *edge = &self->edge[slot];
    double half = bond(tacit_facts_of(env)->weight[slot]), rho = s->options.rho;
    size_t p = tacit_public_count(self->theta, 0);
    for (size_t k = 0; k < p; k++) {
        double own = tacit_public_get(self->theta, 0, k);
        double goal =
            tacit_public_get(edge->z[ADMM_COPY], 0, k) - tacit_public_get(edge->u[ADMM_COPY], 0, k);
        tacit_public_set(word, ADMM_OWN, k, own);
        tacit_public_set(word, ADMM_COPY, k, (half * own + rho * goal) / (half + rho));
    }
    tacit_public_set_int(word, WORD_VERSION, 0, (int64_t)edge->version);
    return word;
}

static uint64_t version_of(const tacit_public *word)
{
    return (uint64_t)tacit_public_get_int(word, WORD_VERSION, 0);
}

/* Z and U of the edge from what this end said and what it heard. Mean and half difference are
 * symmetric in rounding, too: the other end computes the same Z and the opposite U. */
static void update(admm_edge *edge, const tacit_public *said, const tacit_public *heard)
{
    for (uint32_t side = 0; side < ADMM_SIDES; side++) {
        uint32_t across = side == ADMM_OWN ? ADMM_COPY : ADMM_OWN;
        size_t p = tacit_public_count(said, side);
        for (size_t k = 0; k < p; k++) {
            double mine = tacit_public_get(said, side, k);
            double other = tacit_public_get(heard, across, k);
            double u = tacit_public_get(edge->u[side], 0, k);
            tacit_public_set(edge->z[side], 0, k, 0.5 * (mine + other));
            tacit_public_set(edge->u[side], 0, k, u + 0.5 * (mine - other));
        }
    }
    edge->version++;
}

static void forget(tacit_env *env, const tacit_public **word)
{
    tacit_drop(env, *word);
    *word = NULL;
}

/* ---- events ---- */

/* Everything at the local model; without records, at zero. */
static tacit_status start(tacit_env *env, const admm_shared *s, admm_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    tacit_status status = TACIT_OK;
    if (facts->records > 0) {
        if ((status = personal_smoothness(env, &s->common, s->options.smoothness, s->options.radius,
                                          &self->smooth)) != TACIT_OK)
            return status;
        status = personal_publish_local(env, &s->common, &self->theta);
    } else {
        self->theta = tacit_new_public(env, s->common.shape);
    }
    if (status != TACIT_OK)
        return status;
    for (uint32_t j = 0; self->theta && j < facts->neighbours; j++)
        for (int side = 0; side < ADMM_SIDES; side++) {
            admm_edge *edge = &self->edge[j];
            edge->z[side] = tacit_new_public(env, s->common.shape);
            edge->u[side] = tacit_new_public(env, s->common.shape);
            if (!edge->z[side] || !edge->u[side])
                return tacit_out_of_memory(tacit_own_error(env));
            tacit_public_copy(edge->z[side], self->theta);
        }
    if (!self->theta)
        return tacit_out_of_memory(tacit_own_error(env));
    if (facts->records == 0)
        return TACIT_OK;
    tacit_public *greeting = tacit_new_public(env, s->common.shape); /* theta itself will move */
    if (!greeting)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_copy(greeting, self->theta);
    status = tacit_broadcast(env, ADMM_GREETING, greeting);
    tacit_drop(env, greeting);
    return status;
}

static tacit_status tick(tacit_env *env, const admm_shared *s, admm_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint64_t draw;
    tacit_draw(env, self->draws++, &draw, sizeof draw);
    uint32_t slot = (uint32_t)(draw % facts->neighbours);
    admm_edge *edge = &self->edge[slot];
    if (!edge->asked) {
        tacit_status status = lower(env, s, self);
        if (status != TACIT_OK)
            return status;
        if (!(edge->asked = word_for(env, s, self, slot)))
            return tacit_out_of_memory(tacit_own_error(env));
    }
    return tacit_send(env, facts->neighbour[slot], ADMM_ASK, edge->asked);
}

/* The neighbour wants an update of our edge. */
static tacit_status serve(tacit_env *env, const admm_shared *s, admm_agent *self,
                          const tacit_event *event)
{
    admm_edge *edge = &self->edge[event->slot];
    uint64_t version = version_of(event->payload);
    if (edge->answered && version + 1 == edge->version) /* it has missed our answer */
        return tacit_send(env, event->from, ADMM_ANSWER, edge->answered);
    bool first = edge->asked && tacit_facts_of(env)->self < event->from;
    if (version != edge->version || first)
        return TACIT_OK;
    forget(env, &edge->asked);
    forget(env, &edge->answered);
    tacit_status status = lower(env, s, self);
    if (status != TACIT_OK)
        return status;
    if (!(edge->answered = word_for(env, s, self, event->slot)))
        return tacit_out_of_memory(tacit_own_error(env));
    update(edge, edge->answered, event->payload);
    return tacit_send(env, event->from, ADMM_ANSWER, edge->answered);
}

static void hear_answer(tacit_env *env, admm_edge *edge, const tacit_public *word)
{
    if (!edge->asked || version_of(word) != edge->version)
        return; /* a repetition */
    update(edge, edge->asked, word);
    forget(env, &edge->asked);
    forget(env, &edge->answered);
}

static tacit_status hear(tacit_env *env, const admm_shared *s, admm_agent *self,
                         const tacit_event *event)
{
    if (event->slot == TACIT_NO_SLOT || !self->theta)
        return TACIT_OK;
    admm_edge *edge = &self->edge[event->slot];
    if (event->at.kind == ADMM_ASK)
        return serve(env, s, self, event);
    if (event->at.kind == ADMM_ANSWER)
        hear_answer(env, edge, event->payload);
    else if (event->at.kind == ADMM_GREETING && edge->version == 0)
        tacit_public_copy(edge->z[ADMM_COPY], event->payload);
    return TACIT_OK;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    admm_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        return tacit_facts_of(env)->neighbours > 0 ? start(env, shared, self)
                                                   : personal_learn_alone(env, &self->solitary);
    case TACIT_WAKE:
        return self->theta ? tick(env, shared, self) : TACIT_OK;
    case TACIT_MESSAGE:
        return hear(env, shared, self, event);
    default:
        return TACIT_OK;
    }
}

/* ---- state ---- */

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(admm_agent) + neighbours * sizeof(admm_edge);
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    const admm_agent *self = state;
    tacit_save_f64(saver, self->smooth);
    tacit_save_u64(saver, self->draws);
    tacit_save_public(saver, self->theta);
    tacit_save_secret(saver, self->solitary);
    for (uint32_t j = 0; j < neighbours; j++) {
        const admm_edge *edge = &self->edge[j];
        tacit_save_u64(saver, edge->version);
        for (int side = 0; side < ADMM_SIDES; side++) {
            tacit_save_public(saver, edge->z[side]);
            tacit_save_public(saver, edge->u[side]);
        }
        tacit_save_public(saver, edge->asked);
        tacit_save_public(saver, edge->answered);
    }
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const admm_shared *s = shared;
    admm_agent *self = state;
    self->smooth = tacit_load_f64(loader);
    self->draws = tacit_load_u64(loader);
    self->theta = tacit_load_public(loader, s->common.shape);
    self->solitary = tacit_load_secret(loader, s->common.shape);
    for (uint32_t j = 0; j < neighbours; j++) {
        admm_edge *edge = &self->edge[j];
        edge->version = tacit_load_u64(loader);
        for (int side = 0; side < ADMM_SIDES; side++) {
            edge->z[side] = tacit_load_public(loader, s->common.shape);
            edge->u[side] = tacit_load_public(loader, s->common.shape);
            if (self->theta && (!edge->z[side] || !edge->u[side]))
                tacit_loader_refuse(loader, "an edge of admm has no variables");
        }
        edge->asked = tacit_load_public(loader, &s->word);
        edge->answered = tacit_load_public(loader, &s->word);
    }
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    admm_agent *self = state;
    tacit_drop(env, self->theta);
    tacit_drop(env, self->solitary);
    for (uint32_t j = 0; j < tacit_facts_of(env)->neighbours; j++) {
        admm_edge *edge = &self->edge[j];
        for (int side = 0; side < ADMM_SIDES; side++) {
            tacit_drop(env, edge->z[side]);
            tacit_drop(env, edge->u[side]);
        }
        tacit_drop(env, edge->asked);
        tacit_drop(env, edge->answered);
    }
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    const admm_agent *self = state;
    return self->solitary ? self->solitary : tacit_public_as_secret(self->theta);
}

static bool coupling(const void *shared, size_t records, double *mu, double *confidence)
{
    const admm_shared *s = shared;
    *mu = s->common.mu;
    *confidence = personal_confidence(&s->common, records);
    return true;
}

/* ---- the table ---- */

#define FIELD(name) offsetof(admm_options, name)

static const tacit_option options[] = {
    {.key = "mu",
     .type = TACIT_OPT_REAL,
     .fallback = "5",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(mu),
     .help = "trust in own data: large learns alone, small learns one shared model"},
    {.key = "rho",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(rho),
     .help = "penalty on two ends of an edge that disagree: how far an exchange may move a model"},
    {.key = "steps",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 1,
     .max = 1000000,
     .offset = FIELD(steps),
     .help = "gradient steps an end of an exchange takes before it speaks; each is a release"},
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
};

const tacit_protocol tacit_protocol_admm = {
    .name = "admm",
    .summary = "personalized models by gossip ADMM, which paper 000 compares cd with",
    .wire_id = 5,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES | TACIT_CHATTY,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(admm_options)},
    .shared_size = sizeof(admm_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
    .coupling = coupling,
};
