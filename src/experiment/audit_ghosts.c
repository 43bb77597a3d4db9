/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adversary makes of an agent's releases, for any protocol. It knows the protocol, every
 * record but the one in question and all messages; so it can run the agent's code itself, once with
 * the canary and once without, on the messages that were heard and the values that were released,
 * and knows what each release would have been without its noise. That is what the two ghosts are:
 * states of the audited agent beside its own, handed the same events. They say nothing to anybody;
 * where the agent releases a value, a ghost notes what it would have released, and goes on with the
 * value that everybody saw. The score of a release is its log-likelihood ratio between the two
 * (Neyman and Pearson: nobody can do better against Gaussian and Laplace noise).
 *
 * Invariants:
 *  1. A ghost that runs on the records the agent really has computes what the agent computes, bit
 *     by bit: the same events, facts, draws and released values.
 *  2. A ghost changes nothing of the run: it sends, charges, sets and logs nothing.
 *  3. Worlds in which the agent releases another number of values, or values of another shape or
 *     scale, are told apart with certainty: the score says so.
 *
 * Not followed: lots (privacy.sampling), which the adversary does not know; sums, of which it sees
 * no part; requests and samples of peers, whose answers would have to be kept.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/scratch.h"
#include "experiment/audit.h"
#include "privacy/audit.h"
#include "privacy/release.h"

#define CERTAIN 1e6 /* a score beyond any that noise makes */

enum { WITH, WITHOUT, GHOSTS };

/* One release of the event at hand. */
typedef struct seen_release {
    unsigned char *bytes; /* as released */
    size_t len;
    double *value;
    size_t count;
    double *reference[2]; /* without noise, by each ghost; NULL: it would not have told this */
    double factor[2];
    tacit_cost cost;
} seen_release;

typedef struct ghost {
    void *state;
    tacit_facts facts;
    const tacit_shard *train;
    size_t asked, told; /* of the event at hand */
    bool lost;          /* it does not do what was seen */
} ghost;

struct tacit_ghosts {
    const tacit_protocol *of;
    tacit_protocol protocol; /* the same, with ghosts */
    uint32_t agent;
    ghost ghost[GHOSTS];
    ghost *now; /* NULL: the agent itself */
    const tacit_env_ops *real;
    tacit_env_ops watched, haunted;
    tacit_status *asked; /* answers to reserve, in turn */
    size_t asked_count;
    seen_release *told;
    size_t told_count;
    double sum;
    uint64_t scored;
    tacit_status status;
    tacit_error *error;
};

/* Handlers are handed no more than the environment; a training runs on one thread. */
static _Thread_local tacit_ghosts *here;

static tacit_status cannot(const char *what)
{
    if (here->status == TACIT_OK)
        here->status = tacit_fail(here->error, TACIT_EINPUT, "the audit does not follow %s", what);
    return TACIT_EINPUT;
}

/* ---- the agent itself, watched ---- */

static tacit_status watch_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    tacit_ghosts *g = here;
    const tacit_status status = g->real->reserve(ctx, cost, permit);
    tacit_status *grown = realloc(g->asked, (g->asked_count + 1) * sizeof *grown);
    if (!grown)
        return tacit_out_of_memory(g->error);
    g->asked = grown;
    g->asked[g->asked_count++] = status;
    return status;
}

static tacit_status keep_release(tacit_ghosts *g, const tacit_public *out)
{
    const tacit_vector *v = tacit_vector_of_public(out);
    seen_release *grown = realloc(g->told, (g->told_count + 1) * sizeof *grown);
    if (!grown)
        return tacit_out_of_memory(g->error);
    g->told = grown;
    seen_release *r = &grown[g->told_count++];
    *r = (seen_release){.len = v->shape->bytes, .count = v->shape->segment[0].count};
    r->bytes = malloc(r->len + 1);
    r->value = calloc(r->count + 1, sizeof *r->value);
    if (!r->bytes || !r->value)
        return tacit_out_of_memory(g->error);
    memcpy(r->bytes, v->data, r->len);
    for (size_t k = 0; k < r->count; k++)
        r->value[k] = v->shape->segment[0].scalar == TACIT_I64
                          ? (double)tacit_public_get_int(out, 0, k)
                          : tacit_public_get(out, 0, k);
    return TACIT_OK;
}

static tacit_status watch_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                  tacit_public **out)
{
    const tacit_status status = here->real->release(ctx, permit, bounded, out);
    return status == TACIT_OK ? keep_release(here, *out) : status;
}

static void forget_event(tacit_ghosts *g)
{
    for (size_t k = 0; k < g->told_count; k++) {
        free(g->told[k].bytes);
        free(g->told[k].value);
        free(g->told[k].reference[WITH]);
        free(g->told[k].reference[WITHOUT]);
    }
    g->told_count = g->asked_count = 0;
}

/* ---- ghosts ---- */

static const tacit_facts *ghost_facts(void *ctx)
{
    (void)ctx;
    return &here->now->facts;
}

static tacit_status ghost_send(void *ctx, tacit_agent to, tacit_address at,
                               const tacit_public *payload)
{
    (void)ctx, (void)to, (void)at, (void)payload;
    return TACIT_OK;
}

static tacit_status ghost_reply(void *ctx, const tacit_event *request, uint32_t kind,
                                const tacit_public *payload)
{
    (void)ctx, (void)request, (void)kind, (void)payload;
    return TACIT_OK;
}

static tacit_status ghost_request(void *ctx, tacit_agent to, tacit_address at,
                                  const tacit_public *payload, double deadline, uint64_t *id)
{
    (void)ctx, (void)to, (void)at, (void)payload, (void)deadline;
    *id = 0;
    return cannot("protocols whose agents ask each other");
}

static tacit_status ghost_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    (void)ctx, (void)channel, (void)delay, (void)id;
    return TACIT_OK; /* those of the agent ring for its ghosts, too */
}

static tacit_agent ghost_sample_peer(void *ctx)
{
    (void)ctx;
    cannot("protocols whose agents draw peers");
    return TACIT_NOBODY;
}

static tacit_status ghost_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    ghost *self = here->now;
    tacit_permit *p = tacit_scratch_alloc(here->real->scratch(ctx), sizeof *p);
    if (!p)
        return tacit_out_of_memory(here->error);
    *p = (tacit_permit){.cost = *cost, .state = TACIT_PERMIT_RESERVED};
    *permit = p;
    if (self->asked < here->asked_count)
        return here->asked[self->asked++];
    self->lost = true;
    return TACIT_NO;
}

static tacit_status ghost_give_back(void *ctx, tacit_permit *permit)
{
    (void)ctx;
    permit->state = TACIT_PERMIT_SPENT;
    return TACIT_OK;
}

/* What it would have released. */
static tacit_status note(seen_release *r, const tacit_permit *permit, const tacit_bounded *b)
{
    const size_t which = (size_t)(here->now - here->ghost);
    double *value = calloc(r->count + 1, sizeof *value);
    if (!value)
        return tacit_out_of_memory(here->error);
    r->reference[which] = value;
    r->factor[which] = b->factor;
    r->cost = permit->cost;
    for (size_t k = 0; k < r->count; k++)
        value[k] =
            b->steps ? (double)b->steps[k] * tacit_cost_step(&permit->cost) * b->factor + b->offset
                     : tacit_vector_get(b->value, 0, k);
    return TACIT_OK;
}

static tacit_status ghost_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                  tacit_public **out)
{
    (void)ctx;
    ghost *self = here->now;
    tacit_vector *v = bounded->value;
    seen_release *r = self->told < here->told_count ? &here->told[self->told] : NULL;
    if (!r || v->shape->bytes != r->len || v->shape->segment[0].count != r->count) {
        self->lost = true;
        return TACIT_NO;
    }
    self->told++;
    const tacit_status status = note(r, permit, bounded);
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_SPENT;
    memcpy(v->data, r->bytes, r->len);
    v->flags &= ~(uint32_t)TACIT_VECTOR_SECRET;
    bounded->value = NULL;
    *out = tacit_vector_public(v);
    return TACIT_OK;
}

static tacit_status ghost_give(void *ctx, tacit_address at, uint64_t round, double closes,
                               tacit_permit *permit, tacit_bounded *bounded,
                               const tacit_public *beside)
{
    (void)ctx, (void)at, (void)round, (void)closes, (void)permit, (void)bounded, (void)beside;
    return cannot("what agents give to sums");
}

static tacit_status ghost_conceal(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                  uint32_t parts, tacit_secret **out)
{
    (void)ctx, (void)permit, (void)bounded, (void)parts, (void)out;
    return cannot("sums under masks; what is heard of them has the noise of one release or more");
}

static const tacit_shard *ghost_shard(void *ctx, tacit_split split)
{
    return split == TACIT_TRAIN ? here->now->train : here->real->shard(ctx, split);
}

static void ghost_metric(void *ctx, const char *name, double value, bool is_private)
{
    (void)ctx, (void)name, (void)value, (void)is_private;
}

static void prepare_ops(tacit_ghosts *g, const tacit_env_ops *real)
{
    g->real = real;
    g->watched = g->haunted = *real;
    g->watched.reserve = watch_reserve;
    g->watched.release = watch_release;
    g->haunted.facts = ghost_facts;
    g->haunted.send = ghost_send;
    g->haunted.request = ghost_request;
    g->haunted.reply = ghost_reply;
    g->haunted.timer = ghost_timer;
    g->haunted.sample_peer = ghost_sample_peer;
    g->haunted.reserve = ghost_reserve;
    g->haunted.give_back = ghost_give_back;
    g->haunted.release = ghost_release;
    g->haunted.give = ghost_give;
    g->haunted.conceal = ghost_conceal;
    g->haunted.shard = ghost_shard;
    g->haunted.metric = ghost_metric;
}

/* ---- events ---- */

static void score(tacit_ghosts *g, const seen_release *r)
{
    const bool as_with = r->reference[WITH] != NULL, as_without = r->reference[WITHOUT] != NULL;
    g->scored++;
    if (as_with != as_without)
        g->sum += as_with ? CERTAIN : -CERTAIN;
    if (!as_with && !as_without) /* one of them has the agent's own records */
        cannot("how this protocol computes what it releases");
    if (!as_with || !as_without)
        return;
    if (r->factor[WITH] != r->factor[WITHOUT]) {
        cannot("releases whose scale depends on how many records there are, with \"add-remove\"");
        return;
    }
    g->sum += tacit_audit_likelihood(r->cost.mechanism, r->cost.noise * fabs(r->factor[WITH]),
                                     r->count, r->value, r->reference[WITH], r->reference[WITHOUT]);
}

static tacit_status haunt(tacit_ghosts *g, ghost *self, const tacit_env *env, const void *shared,
                          const tacit_event *event)
{
    const tacit_facts *facts = g->real->facts(env->ctx);
    if (!self->state)
        self->state = calloc(1, g->of->agent_size(shared, facts->neighbours) + 1);
    if (!self->state)
        return tacit_out_of_memory(g->error);
    if (self->lost)
        return TACIT_OK;
    self->facts = *facts;
    self->facts.records = tacit_shard_rows(self->train);
    self->asked = self->told = 0;
    g->now = self;
    tacit_env inner = {.ops = &g->haunted, .ctx = env->ctx, .channel = env->channel};
    const tacit_status status = g->of->on(&inner, shared, self->state, event);
    g->now = NULL;
    if (status == TACIT_EINTERNAL) /* a kernel had no key to draw from: that is the agent's alone */
        (void)cannot("noise that is drawn into what is minimised (\"perturbation: objective\")");
    self->lost = self->lost || self->told < g->told_count;
    return self->lost || g->status != TACIT_OK ? TACIT_OK : status;
}

static tacit_status on_with_ghosts(tacit_env *env, const void *shared, void *state,
                                   const tacit_event *event)
{
    tacit_ghosts *g = here;
    if (tacit_facts_of(env)->self != g->agent)
        return g->of->on(env, shared, state, event);
    prepare_ops(g, env->ops);
    tacit_env watched = {.ops = &g->watched, .ctx = env->ctx, .channel = env->channel};
    tacit_status status = g->of->on(&watched, shared, state, event);
    for (int k = 0; k < GHOSTS && status == TACIT_OK && g->status == TACIT_OK; k++)
        status = haunt(g, &g->ghost[k], env, shared, event);
    for (size_t k = 0; k < g->told_count && status == TACIT_OK && g->status == TACIT_OK; k++)
        score(g, &g->told[k]);
    forget_event(g);
    return status;
}

static void end_with_ghosts(tacit_env *env, const void *shared, void *state)
{
    tacit_ghosts *g = here;
    const bool haunted = tacit_facts_of(env)->self == g->agent;
    g->of->end(env, shared, state);
    for (int k = 0; haunted && k < GHOSTS; k++) {
        if (g->ghost[k].state)
            g->of->end(env, shared, g->ghost[k].state);
        free(g->ghost[k].state);
        g->ghost[k].state = NULL;
    }
}

/* ---- a training ---- */

tacit_status tacit_ghosts_begin(tacit_ghosts **out, tacit_world *world,
                                const tacit_canary_data *data, uint32_t agent, tacit_error *err)
{
    tacit_ghosts *g = calloc(1, sizeof *g);
    if (!g)
        return tacit_out_of_memory(err);
    const tacit_dataset *const sets[GHOSTS] = {data->with, data->without};
    g->of = world->protocol;
    g->protocol = *world->protocol;
    g->protocol.on = on_with_ghosts;
    g->protocol.end = end_with_ghosts;
    g->agent = agent;
    g->error = err;
    for (int k = 0; k < GHOSTS; k++)
        g->ghost[k].train = tacit_dataset_shard(sets[k], agent, TACIT_TRAIN);
    world->protocol = &g->protocol;
    *out = here = g;
    return TACIT_OK;
}

tacit_status tacit_ghosts_score(const tacit_ghosts *g, double *sum, uint64_t *scored)
{
    *sum = g->sum;
    *scored = g->scored;
    return g->status;
}

void tacit_ghosts_end(tacit_ghosts *g)
{
    if (!g)
        return;
    forget_event(g);
    for (int k = 0; k < GHOSTS; k++)
        free(g->ghost[k].state);
    free(g->asked);
    free(g->told);
    free(g);
    here = NULL;
}
