/* SPDX-License-Identifier: Apache-2.0 */
/*
 * one-shot: each agent publishes one vector about its records, once, and nothing else ever
 * (docs/protocols/one-shot.md). At the end each agent makes a prior of what it heard and fits its
 * own raw records near it; the result is never sent.
 *
 *     start    s_i = sum_r y_r x_r (squared loss: and sum_r x_r x_r^T), with noise; to neighbours
 *     all      with `reach: all`: whoever hears of an agent for the first time passes it on to all
 *              neighbours but the one it came from, so nobody says the same twice to anybody
 *     finish   one_shot_finish.c
 *
 * A word also says whose it is, how many records are in it and how much noise: both are public, and
 * differ between agents. A whole budget goes into one release, whose noise therefore is the least
 * that the budget allows; all that follows is post-processing.
 *
 * Invariants:
 *  1. At most one release an agent. Who may not speak (no records, no budget) listens and learns
 *     from others all the same.
 *  2. What is kept of others is what they said first; words that cannot be true are dropped.
 *  3. The model is a secret and made at TACIT_FINISH, when nothing can be sent any more.
 */
#include "protocol/one_shot.h"

#include <math.h>
#include <stdlib.h>

#define MOST_AGENTS 2000 /* reach: all: everyone keeps a word of everyone */
#define NEVER 40.0       /* standard deviations that noise does not reach */
#define UNKNOWN 0.3      /* likeness of neighbours where weights say nothing */

size_t one_shot_room(const one_shot_shared *s, uint32_t neighbours)
{
    return s->options.reach == REACH_ALL ? s->agents : neighbours;
}

/* ---- plan ---- */

static tacit_status check(const one_shot_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *o = setup->privacy;
    if (o->mechanism != TACIT_MECHANISM_NONE && o->adjacency != TACIT_REPLACE)
        return tacit_fail(
            err, TACIT_EINPUT,
            "under \"privacy.adjacency: add-remove\" the number of an agent's records "
            "is a secret, but one-shot says it with its sums; use \"replace\"");
    if (tacit_model_classes(setup->model) > 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"one-shot\" has no sums for \"model.loss: softmax\"; use "
                          "\"chorus\" or \"cd\"");
    if (s->squared && s->options.prior == PRIOR_SPARSE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.prior: sparse\" is for \"model.loss: logistic\"");
    if (s->options.reach == REACH_ALL && (!setup->graph || setup->agents > MOST_AGENTS))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.reach: all\" needs a public graph of at most %d agents; use "
                          "\"neighbours\"",
                          MOST_AGENTS);
    if (s->options.rules.likeness < 0) /* it takes the whole graph to tell */
        return tacit_fail(
            err, TACIT_EINPUT,
            "nobody knows all weights of the graph here; set \"protocol.likeness\": 1 "
            "if weights differ, 0.3 if all are the same");
    return TACIT_OK;
}

/* Weights that are all the same stand for no angles: 1 would make neighbours one agent. */
double one_shot_likeness(const tacit_graph *graph)
{
    const uint64_t edges = graph->row[graph->agents];
    for (uint64_t e = 1; e < edges; e++)
        if (graph->weight[e] != graph->weight[0])
            return 1;
    return edges > 0 ? UNKNOWN : 1;
}

static tacit_status measure(one_shot_shared *s, tacit_error *err)
{
    if (s->options.reach != REACH_ALL || s->options.rules.kernel != KRIGING_GEODESIC)
        return TACIT_OK;
    s->distance = calloc(s->agents * s->agents + 1, sizeof *s->distance);
    return s->distance ? kriging_distances(s->graph, &s->options.rules, s->distance, err)
                       : tacit_out_of_memory(err);
}

static tacit_status cost_of(const void *ctx, const tacit_setup *setup, double epsilon,
                            tacit_cost *cost, tacit_error *err)
{
    const one_shot_options *o = ctx;
    return tacit_model_statistics_cost(setup->model, cost, setup->privacy, epsilon, o->radius,
                                       o->most, err);
}

static tacit_status make_word(one_shot_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const tacit_shape *sums = tacit_model_statistics_shape(setup->model);
    if (!sums)
        return tacit_fail(err, TACIT_EINPUT,
                          "%zu features are too many for one-shot with \"model.loss: squared\"",
                          s->features);
    const tacit_segment segments[WORD_SEGMENTS] = {
        [WORD_SUMS] = sums->segment[0],
        [WORD_ABOUT] = {"about", TACIT_F64, ABOUT_NUMBERS},
        [WORD_AGENT] = {"agent", TACIT_I64, 1},
    };
    return tacit_shape_init(&s->word, segments, WORD_SEGMENTS, err);
}

static tacit_status set_up(void *shared, const void *options, const tacit_setup *setup,
                           tacit_error *err)
{
    one_shot_shared *s = shared;
    s->options = *(const one_shot_options *)options;
    s->graph = setup->graph;
    s->model = tacit_model_shape(setup->model);
    s->features = s->model->segment[0].count;
    s->squared = !tacit_model_score_up(setup->model);
    if (s->options.size == 0)
        s->options.size = s->squared ? 1 : 0.25;
    if (s->options.rules.likeness < 0 && setup->graph)
        s->options.rules.likeness = one_shot_likeness(setup->graph);
    s->noisy = setup->privacy->mechanism != TACIT_MECHANISM_NONE;
    s->budgets = setup->epsilon != NULL;
    tacit_status status = check(s, setup, err);
    if (status != TACIT_OK)
        return status;
    s->agents = s->options.reach == REACH_ALL ? (size_t)setup->agents : 0;
    status = make_word(s, setup, err);
    if (status == TACIT_OK && s->options.share)
        status = spending_once(&s->costs, setup, 0, cost_of, &s->options, err);
    if (status == TACIT_OK)
        status = measure(s, err);
    return status;
}

static void tear_down(void *shared)
{
    one_shot_shared *s = shared;
    spending_end(&s->costs);
    free(s->distance);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    return at.channel == 0 && at.kind == ONE_SHOT_WORD ? &((const one_shot_shared *)shared)->word
                                                       : NULL;
}

/* ---- the one word ---- */

static tacit_status release(tacit_env *env, const one_shot_shared *s, const tacit_cost *cost,
                            tacit_public **out)
{
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, cost, &permit);
    if (status == TACIT_OK)
        status = tacit_model_statistics(
            tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN), s->options.radius,
            s->options.most, tacit_own_scratch(env), &bounded, tacit_own_error(env));
    return status == TACIT_OK ? tacit_release(env, permit, bounded, out) : status;
}

/* Refused by the ledger: silent, if budgets differ; else the run's budget is too small for all. */
static tacit_status speak(tacit_env *env, const one_shot_shared *s, one_shot_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const tacit_cost *cost = s->options.share ? spending_next(&s->costs, facts->epsilon, 0) : NULL;
    tacit_public *sums;
    if (!cost || facts->records == 0 || facts->neighbours == 0)
        return TACIT_OK;
    tacit_status status = release(env, s, cost, &sums);
    if (status != TACIT_OK)
        return status == TACIT_EBUDGET && s->budgets ? TACIT_OK : status;
    tacit_public *word = tacit_new_public(env, &s->word);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < tacit_public_count(sums, 0); k++)
        tacit_public_set(word, WORD_SUMS, k, tacit_public_get(sums, 0, k));
    tacit_public_set(word, WORD_ABOUT, ABOUT_RECORDS, (double)facts->records);
    tacit_public_set(word, WORD_ABOUT, ABOUT_NOISE,
                     tacit_model_statistics_noise(tacit_own_model(env), cost, s->options.radius,
                                                  s->options.most));
    tacit_public_set_int(word, WORD_AGENT, 0, (int64_t)facts->self);
    self->own = word;
    return tacit_broadcast(env, ONE_SHOT_WORD, word);
}

/* Sums of so many records cannot be larger than this, whatever the noise. */
static bool is_possible(const one_shot_shared *s, const tacit_public *word)
{
    const double records = tacit_public_get(word, WORD_ABOUT, ABOUT_RECORDS);
    const double noise = tacit_public_get(word, WORD_ABOUT, ABOUT_NOISE);
    const double each = s->squared ? s->options.radius * s->options.most : s->options.radius;
    if (!(records >= 1 && records <= 1e15) || !(noise >= 0 && noise <= 1e100) ||
        (noise > 0) != s->noisy)
        return false;
    const double most =
        noise > 0 ? records * each + NEVER * noise : 1e100; /* bare sums are uncut */
    for (size_t k = 0; k < tacit_public_count(word, WORD_SUMS); k++)
        if (!(fabs(tacit_public_get(word, WORD_SUMS, k)) <= most))
            return false;
    return true;
}

/* To all but those who have it for certain. */
static tacit_status pass_on(tacit_env *env, const tacit_event *event, tacit_agent who)
{
    const tacit_facts *facts = tacit_facts_of(env);
    tacit_status status = TACIT_OK;
    for (uint32_t j = 0; j < facts->neighbours && status == TACIT_OK; j++)
        if (j != event->slot && facts->neighbour[j] != who)
            status = tacit_send(env, facts->neighbour[j], ONE_SHOT_WORD, event->payload);
    return status;
}

static tacit_status hear(tacit_env *env, const one_shot_shared *s, one_shot_agent *self,
                         const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const int64_t who = tacit_public_get_int(event->payload, WORD_AGENT, 0);
    if (event->slot == TACIT_NO_SLOT || who < 0 || (tacit_agent)who == facts->self ||
        !is_possible(s, event->payload))
        return TACIT_OK;
    if (s->options.reach == REACH_NEIGHBOURS) {
        if ((tacit_agent)who == event->from && !self->heard[event->slot])
            tacit_view_put(env, self->heard, event->slot, event->payload);
        return TACIT_OK;
    }
    if ((size_t)who >= s->agents || self->heard[who])
        return TACIT_OK;
    self->heard[who] = tacit_keep(event->payload);
    return pass_on(env, event, (tacit_agent)who);
}

/* Somebody is back who may have missed what was said. */
static tacit_status repeat(tacit_env *env, const one_shot_shared *s, const one_shot_agent *self,
                           tacit_agent to)
{
    tacit_status status = TACIT_OK;
    if (self->own)
        status = tacit_send(env, to, ONE_SHOT_WORD, self->own);
    for (size_t k = 0; k < s->agents && status == TACIT_OK; k++)
        if (self->heard[k] && k != to)
            status = tacit_send(env, to, ONE_SHOT_WORD, self->heard[k]);
    return status;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    one_shot_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        return speak(env, shared, self);
    case TACIT_MESSAGE:
        return hear(env, shared, self, event);
    case TACIT_PEER_UP:
        return repeat(env, shared, self, event->from);
    case TACIT_FINISH:
        return self->kept ? TACIT_OK : one_shot_finish(env, shared, self);
    default:
        return TACIT_OK;
    }
}

/* ---- state ---- */

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    return sizeof(one_shot_agent) +
           one_shot_room(shared, neighbours) * sizeof(const tacit_public *);
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const one_shot_agent *self = state;
    tacit_save_public(saver, self->own);
    tacit_save_secret(saver, self->kept);
    tacit_view_save(self->heard, (uint32_t)one_shot_room(shared, neighbours), saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const one_shot_shared *s = shared;
    one_shot_agent *self = state;
    self->own = tacit_load_public(loader, &s->word);
    self->kept = tacit_load_secret(loader, s->model);
    tacit_view_load(self->heard, (uint32_t)one_shot_room(s, neighbours), loader, &s->word);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    one_shot_agent *self = state;
    tacit_drop(env, self->own);
    tacit_drop(env, self->kept);
    tacit_view_end(env, self->heard,
                   (uint32_t)one_shot_room(shared, tacit_facts_of(env)->neighbours));
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    return ((const one_shot_agent *)state)->kept;
}

/* ---- options ---- */

static const char *const reaches[] = {"neighbours", "all", NULL};
static const char *const kernels[] = {"geodesic", "power", NULL};
static const char *const priors[] = {"dense", "sparse", NULL};
#define FIELD(name) offsetof(one_shot_options, name)

static const tacit_option options[] = {
    {.key = "share",
     .type = TACIT_OPT_BOOL,
     .fallback = "true",
     .offset = FIELD(share),
     .help = "publish; false: every agent learns alone, with the same prior"},
    {.key = "reach",
     .type = TACIT_OPT_CHOICE,
     .fallback = "neighbours",
     .choices = reaches,
     .offset = FIELD(reach),
     .help = "who hears an agent: its neighbours, or all who are connected, by passing it on"},
    {.key = "kernel",
     .type = TACIT_OPT_CHOICE,
     .fallback = "geodesic",
     .choices = kernels,
     .offset = FIELD(rules.kernel),
     .help = "how alike agents are: by the angles that weights stand for, added up along paths; or "
             "a power of weights"},
    {.key = "gamma",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-6,
     .max = 1e6,
     .offset = FIELD(rules.gamma),
     .help = "geodesic: that of the graph's weights, exp((cos - 1) / gamma)"},
    {.key = "kappa",
     .type = TACIT_OPT_REAL,
     .fallback = "0.5",
     .min = 0,
     .max = 100,
     .offset = FIELD(rules.kappa),
     .help = "power: the exponent"},
    {.key = "likeness",
     .type = TACIT_OPT_REAL,
     .fallback = "-1",
     .min = -1,
     .max = 1,
     .offset = FIELD(rules.likeness),
     .help = "the correlation of neighbours with an edge of weight 1; below 0: 1, but 0.3 if all "
             "weights of the graph are the same"},
    {.key = "common",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .offset = FIELD(rules.common),
     .help = "the part of what an agent looks for that everybody looks for"},
    {.key = "prior",
     .type = TACIT_OPT_CHOICE,
     .fallback = "dense",
     .choices = priors,
     .offset = FIELD(prior),
     .help = "dense: all weights matter; sparse: perhaps only some (logistic loss)"},
    {.key = "dense-weight",
     .type = TACIT_OPT_REAL,
     .fallback = "0.95",
     .min = 1e-6,
     .max = 0.999999,
     .offset = FIELD(dense),
     .help = "sparse: the probability beforehand that all weights matter"},
    {.key = "size",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e6,
     .offset = FIELD(size),
     .help =
         "how much there is to learn, beforehand: p |E[y x]|^2 over the squared radius; squared "
         "loss: variance of weights, over what the regulariser says; 0: 0.25, or 1"},
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "public bound on the norm of a row: longer ones are cut to it for what is published"},
    {.key = "label-bound",
     .type = TACIT_OPT_REAL,
     .fallback = "2",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(most),
     .help = "squared loss: the same for labels"},
    {.key = "sources",
     .type = TACIT_OPT_INT,
     .fallback = "200",
     .min = 1,
     .max = 2000,
     .offset = FIELD(sources),
     .help = "how many of those it heard an agent listens to: the most alike"},
};

const tacit_protocol tacit_protocol_one_shot = {
    .name = "one-shot",
    .summary = "sums over records published once, then learning at home near what others said",
    .wire_id = 7,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_CHATTY | TACIT_OWN_BOUND,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(one_shot_options)},
    .shared_size = sizeof(one_shot_shared),
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
