/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learner: one learner without records, and owners who answer its queries with private gradients at
 * times of their own (paper 002, algorithm 1; docs/protocols/learner.md). All together minimise
 *
 *     f(theta) = g(theta) + (1/n) sum_i sum_{r in D_i} loss(theta; r),   g = lambda |theta|^2,  (2)
 *
 * over |theta|_inf <= range. When owner i's turn comes, Q is its mean clipped gradient with noise,
 *
 *     bar     = (theta_L + theta_i) / 2
 *     theta_i = P[bar - (N alpha / sigma) (grad g(bar) / (2 N) + (n_i / n) Q(bar))]
 *     theta_L = P[bar - (alpha / (2 sigma)) grad g(bar)],          sigma = 2 lambda,
 *
 * P the projection on the box. Since grad g / sigma is theta itself, these are
 *
 *     theta_i = P[(1 - alpha/2) bar - (N alpha n_i / (n sigma)) Q],   theta_L = P[(1 - alpha/2)
 * bar].
 *
 * Deviations from the paper:
 *  - line 7 prints (N-1)/N in the place of 1/2 for the learner; its proof has eta = 1/(2N), hence
 *    1 - eta N = 1/2, and with any other number the parts of g do not add up to g (slip S17).
 *    `inertia: printed` has it. `inertia: none` keeps no copies: plain steps on theta_L.
 *  - alpha is chosen, not rho / T^2, which never leaves the start (S17).
 *  - Laplace noise goes with l1 clipping, Gaussian with l2; the paper has an l2 bound under Laplace
 *    noise (S11).
 *  - an owner's budget is split over the answers it will give, not over T (S11): a cap T_i that
 *    Bin(T, 1/N) exceeds with probability beta. Beyond it the owner rests. `split: horizon` is the
 *    paper's.
 *  - with unit user an owner's mean gradient is all it says of its records: n_i = 1 for everybody,
 *    and f is the mean over owners of their mean losses. n_i itself would be told uncovered.
 *  - N and n count the owners that are there: who is away or has spent its budget does not.
 *
 * Invariants:
 *  1. An owner releases one gradient for a query at most, and one a tick of its own clock: nobody
 *     can make it spend faster.
 *  2. The learner takes one answer a query, from the owner it asked; what else comes is dropped. So
 *     a lost, late or second answer was paid for in vain.
 *  3. All the learner has is public: released by owners, or arithmetic on that.
 */
#include "protocol/learner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ITERATIONS 1000000

/* ---- how often an owner answers ---- */

/* From the top down: probabilities are summed from the smallest on. */
uint64_t learner_cap(uint64_t iterations, uint64_t owners, double beta)
{
    if (owners <= 1)
        return iterations;
    const double odds = log((double)owners - 1); /* (1 - p) / p, p = 1 / owners */
    double log_mass = -(double)iterations * log((double)owners), tail = 0; /* P(X = j), P(X > j) */
    for (uint64_t j = iterations; j > 1; j--) {
        const double more = tail + exp(log_mass);
        if (more > beta)
            return j;
        tail = more;
        log_mass += odds + log((double)j / (double)(iterations - j + 1));
    }
    return 1;
}

/* ---- before agents exist ---- */

static tacit_status check_graph(const learner_options *o, const tacit_setup *setup,
                                tacit_error *err)
{
    const tacit_graph *g = setup->graph;
    if ((uint64_t)o->learner >= setup->agents || setup->agents < 2)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.learner\" is agent %lld of %llu; there must be such an "
                          "agent, and an owner beside it",
                          (long long)o->learner, (unsigned long long)setup->agents);
    if (g && g->row[o->learner + 1] - g->row[o->learner] != setup->agents - 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "owners speak to the learner alone, but agent %lld (\"protocol.learner\")"
                          " has %llu neighbours among %llu agents; use \"graph.kind: star\"",
                          (long long)o->learner,
                          (unsigned long long)(g->row[o->learner + 1] - g->row[o->learner]),
                          (unsigned long long)setup->agents);
    return TACIT_OK;
}

static tacit_status check(learner_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *privacy = setup->privacy;
    if (privacy->mechanism != TACIT_MECHANISM_NONE && privacy->adjacency != TACIT_REPLACE)
        return tacit_fail(err, TACIT_EINPUT,
                          "under \"privacy.adjacency: add-remove\" the number of an owner's "
                          "records is a secret, but the learner weighs owners by it; use "
                          "\"replace\"");
    s->lambda = tacit_model_lambda(setup->model, 1);
    if (!(s->lambda > 0) || tacit_model_lambda(setup->model, 1000) != s->lambda)
        return tacit_fail(err, TACIT_EINPUT,
                          "the learner needs a regulariser that does not depend on anybody's "
                          "records; set \"model.lambda\" to a number above 0");
    return check_graph(&s->options, setup, err);
}

static tacit_status make_shapes(learner_shared *s, tacit_error *err)
{
    const tacit_segment numbers = s->model->segment[0];
    const tacit_segment word[WORD_PARTS] = {
        [WORD_POINT] = {"point", numbers.scalar, numbers.count},
        [WORD_MODEL] = {"model", numbers.scalar, numbers.count},
        [WORD_ABOUT] = {"about", TACIT_I64, WORD_FIGURES},
    };
    const tacit_segment wish[] = {{"wish", TACIT_I64, WISH_FIGURES}};
    const tacit_segment answer[ANSWER_PARTS] = {
        [ANSWER_GRADIENT] = {"gradient", numbers.scalar, numbers.count},
        [ANSWER_NUMBER] = {"number", TACIT_I64, 1},
    };
    tacit_status status = tacit_shape_init(&s->word, word, WORD_PARTS, err);
    if (status == TACIT_OK)
        status = tacit_shape_init(&s->wish, wish, 1, err);
    if (status == TACIT_OK)
        status = tacit_shape_init(&s->answer, answer, ANSWER_PARTS, err);
    return status;
}

/* Where nobody says a step: with rows of norm 1 a step takes away half of what is wrong at most, on
 * average over owners. */
static double usual_step(const learner_shared *s, const tacit_model *model)
{
    const double sigma = 2 * s->lambda;
    return 0.5 * sigma / (sigma + tacit_model_smoothness_bound(model, 1));
}

/* Budgets to plan for. The learner's may be without limit, since it spends nothing; and a node
 * knows only those of the agents it hosts, others' stand there as what they are by default. Whoever
 * has none to plan for gets that of somebody who has. */
static double *budgets_of(const learner_shared *s, const tacit_setup *setup)
{
    size_t bytes;
    double *epsilon = tacit_mul_size(setup->agents, sizeof *epsilon, &bytes) ? malloc(bytes) : NULL;
    double finite = INFINITY;
    if (!epsilon)
        return NULL;
    memcpy(epsilon, setup->epsilon, bytes);
    for (uint64_t k = 0; k < setup->agents; k++)
        if (k != (uint64_t)s->options.learner)
            finite = fmin(finite, epsilon[k]);
    for (uint64_t k = 0; k < setup->agents; k++)
        if (k == (uint64_t)s->options.learner || (!setup->graph && isinf(epsilon[k])))
            epsilon[k] = finite;
    return epsilon;
}

static tacit_status plan_costs(learner_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const bool horizon = s->options.split == LEARNER_SPLIT_HORIZON;
    tacit_privacy_options privacy = s->privacy;
    tacit_setup owners = *setup;
    double *epsilon = NULL;
    if (s->noisy && privacy.noise == 0 && isinf(privacy.epsilon) && !setup->epsilon &&
        !setup->graph)
        return TACIT_OK; /* perhaps the learner's own node: an owner will complain */
    if (setup->epsilon && !(owners.epsilon = epsilon = budgets_of(s, setup)))
        return tacit_out_of_memory(err);
    privacy.releases = horizon ? s->options.iterations : (int64_t)s->cap;
    tacit_status status =
        spending_plan(&s->costs, &owners, &privacy, s->features, "gradient", NULL, 0, err);
    free(epsilon);
    return status;
}

static tacit_status set_up(void *shared, const void *options, const tacit_setup *setup,
                           tacit_error *err)
{
    learner_shared *s = shared;
    s->options = *(const learner_options *)options;
    s->privacy = *setup->privacy;
    s->model = tacit_model_shape(setup->model);
    s->features = s->model->segment[0].count;
    tacit_status status = check(s, setup, err);
    if (status == TACIT_OK)
        status = make_shapes(s, err);
    if (status != TACIT_OK)
        return status;
    s->alpha = s->options.step > 0 ? s->options.step : usual_step(s, setup->model);
    s->noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    s->cap = (uint64_t)s->options.answers;
    if (s->cap == 0 && s->noisy && s->options.split == LEARNER_SPLIT_CAP)
        s->cap = learner_cap((uint64_t)s->options.iterations, setup->agents - 1, s->options.beta);
    return plan_costs(s, setup, err);
}

static void tear_down(void *shared)
{
    spending_end(&((learner_shared *)shared)->costs);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const learner_shared *s = shared;
    if (at.channel != 0)
        return NULL;
    switch (at.kind) {
    case LEARNER_WORD:
        return &s->word;
    case LEARNER_WISH:
        return &s->wish;
    case LEARNER_ANSWER:
        return &s->answer;
    default:
        return NULL;
    }
}

/* ---- agents ---- */

tacit_public *learner_copy(tacit_env *env, const learner_shared *s, const tacit_public *from,
                           uint32_t segment)
{
    tacit_public *copy = tacit_new_public(env, s->model);
    for (size_t k = 0; copy && k < s->features; k++)
        tacit_public_set(copy, 0, k, tacit_public_get(from, segment, k));
    return copy;
}

void learner_put(tacit_public *to, uint32_t segment, const tacit_public *from)
{
    for (size_t k = 0; from && k < tacit_public_count(from, 0); k++)
        tacit_public_set(to, segment, k, tacit_public_get(from, 0, k));
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const learner_shared *s = shared;
    return tacit_facts_of(env)->self == (tacit_agent)s->options.learner
               ? learner_center_on(env, s, state, event)
               : learner_owner_on(env, s, state, event);
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(learner_agent) + neighbours * sizeof(learner_owner);
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    const learner_agent *self = state;
    const uint64_t figures[] = {self->number,  self->answered, self->made,
                                self->dropped, self->turns,    self->open};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        tacit_save_u64(saver, figures[k]);
    tacit_save_u64(saver,
                   (uint64_t)self->ticked | (uint64_t)self->over << 1 | (uint64_t)self->spent << 2);
    tacit_save_public(saver, self->theta);
    tacit_save_public(saver, self->point);
    for (uint32_t j = 0; j < neighbours; j++) {
        const learner_owner *o = &self->owner[j];
        const uint64_t of[] = {o->number, o->waits, o->records, o->answers, o->standing};
        for (size_t k = 0; k < sizeof of / sizeof *of; k++)
            tacit_save_u64(saver, of[k]);
        tacit_save_f64(saver, o->asked);
        tacit_save_public(saver, o->theta);
        tacit_save_public(saver, o->point);
    }
}

static void load_owner(learner_owner *o, tacit_loader *loader, const tacit_shape *shape)
{
    uint64_t *const of[] = {&o->number, &o->waits, &o->records, &o->answers, &o->standing};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        *of[k] = tacit_load_u64(loader);
    if (o->standing >= OWNER_STANDINGS)
        tacit_loader_refuse(loader, "an owner of the learner stands nowhere");
    o->asked = tacit_load_f64(loader);
    o->theta = tacit_load_public(loader, shape);
    o->point = tacit_load_public(loader, shape);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const tacit_shape *shape = ((const learner_shared *)shared)->model;
    learner_agent *self = state;
    uint64_t *const figures[] = {&self->number,  &self->answered, &self->made,
                                 &self->dropped, &self->turns,    &self->open};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        *figures[k] = tacit_load_u64(loader);
    if (self->open > neighbours)
        tacit_loader_refuse(loader, "the learner waits for an owner that is not there");
    const uint64_t flags = tacit_load_u64(loader);
    self->ticked = flags & 1;
    self->over = flags >> 1 & 1;
    self->spent = flags >> 2 & 1;
    self->theta = tacit_load_public(loader, shape);
    self->point = tacit_load_public(loader, shape);
    for (uint32_t j = 0; j < neighbours; j++)
        load_owner(&self->owner[j], loader, shape);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    learner_agent *self = state;
    tacit_drop(env, self->theta);
    tacit_drop(env, self->point);
    for (uint32_t j = 0; j < tacit_facts_of(env)->neighbours; j++) {
        tacit_drop(env, self->owner[j].theta);
        tacit_drop(env, self->owner[j].point);
    }
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    const learner_agent *self = state;
    return self->theta ? tacit_public_as_secret(self->theta) : NULL;
}

/* ---- options ---- */

static const char *const modes[] = {"request", "broadcast", NULL};
static const char *const inertias[] = {"sound", "printed", "none", NULL};
static const char *const splits[] = {"cap", "horizon", NULL};
#define FIELD(name) offsetof(learner_options, name)

static const tacit_option options[] = {
    {.key = "learner",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = TACIT_DATASET_MAX_AGENTS,
     .offset = FIELD(learner),
     .help = "which agent learns; it has no records, and all others are data owners"},
    {.key = "mode",
     .type = TACIT_OPT_CHOICE,
     .fallback = "request",
     .choices = modes,
     .offset = FIELD(mode),
     .help = "an owner whose clock ticks asks for a query, one at a time; or the learner sends "
             "queries to all, and the first answer counts (others are charged and lost)"},
    {.key = "iterations",
     .type = TACIT_OPT_INT,
     .fallback = "1000",
     .min = 1,
     .max = MOST_ITERATIONS,
     .offset = FIELD(iterations),
     .help = "T: answers of all owners together, after which the learner is done"},
    {.key = "step",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .offset = FIELD(step),
     .help = "alpha, above 0; 0: half of sigma / (sigma + smoothness of the loss for rows of "
             "norm 1), sigma = 2 model.lambda"},
    {.key = "range",
     .type = TACIT_OPT_REAL,
     .fallback = "10",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(range),
     .help = "no weight is larger than this: models are cut to it"},
    {.key = "inertia",
     .type = TACIT_OPT_CHOICE,
     .fallback = "sound",
     .choices = inertias,
     .offset = FIELD(inertia),
     .help = "the learner follows the mean of its model and the owner's copy; with the paper's "
             "printed coefficient; or it takes every step in full and keeps no copies"},
    {.key = "split",
     .type = TACIT_OPT_CHOICE,
     .fallback = "cap",
     .choices = splits,
     .offset = FIELD(split),
     .help = "an owner's budget is for as many answers as it will hardly exceed, or (the paper) "
             "for all iterations"},
    {.key = "beta",
     .type = TACIT_OPT_REAL,
     .fallback = "0.001",
     .min = 1e-15,
     .max = 0.5,
     .offset = FIELD(beta),
     .help = "split cap: the probability that an owner is asked more often than its budget is for"},
    {.key = "answers",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = MOST_ITERATIONS,
     .offset = FIELD(answers),
     .help = "answers of an owner at most; 0: from iterations, the number of owners and beta"},
    {.key = "patience",
     .type = TACIT_OPT_REAL,
     .fallback = "5",
     .min = 0,
     .max = INFINITY,
     .offset = FIELD(patience),
     .help = "how long the learner waits for an answer before it asks another owner, or again"},
};

const tacit_protocol tacit_protocol_learner = {
    .name = "learner",
    .summary = "a learner without records asks owners for private gradients (paper 002)",
    .wire_id = 9,
    .trust = TACIT_TRUST_LEARNER,
    .flags = TACIT_WAKES | TACIT_CHATTY,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(learner_options)},
    .shared_size = sizeof(learner_shared),
    .setup = set_up,
    .teardown = tear_down,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
