/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents, as an ideal function: what masks or shares would compute among real peers
 * is here computed by nobody and seen by nobody. Gifts are integers that are added under a lock,
 * so neither their order nor the number of threads matters. When a round closes, the noise of one
 * release is drawn for it by no agent's stream, and everybody hears the result.
 *
 * When, exactly: a round takes gifts made before `closes` (earlier by the least latency, if
 * messages take time) and closes before anything else happens at that time. Rounds that close at
 * one time do so by (channel, round). So the order of events stays total: the n-th round to close
 * is the same in every run, and n names its noise.
 *
 * While a round is told, sends wait until all have been told, as at the start: then agents are
 * independent and threads share the work. Who is offline hears it on return.
 */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/saver.h"
#include "privacy/costs.h"
#include "privacy/release.h"
#include "runtime/sim/sim.h"

#define FAR (UINT64_C(1) << 61)

/* A round that takes gifts. */
typedef struct open_round {
    tacit_address at;
    uint64_t round;
    double closes;
    const tacit_shape *shape, *beside; /* `beside` NULL: nothing is given openly */
    const tacit_cost *cost;            /* kept */
    const tacit_noise *noise;
    size_t count;    /* of numbers in the sum */
    int64_t *sum;    /* secret: steps */
    int64_t *openly; /* sum of what is given beside */
    uint64_t *gave;  /* a bit an agent */
    uint64_t most;   /* bound on the sum's size, from public numbers */
    struct open_round *next;
} open_round;

typedef struct round_name {
    uint32_t channel;
    uint64_t round;
} round_name;

struct sim_groups {
    pthread_mutex_t lock;
    open_round *open;
    round_name *closed; /* names are never used twice */
    size_t closed_count, closed_capacity;
};

sim_groups *sim_groups_create(void)
{
    sim_groups *g = calloc(1, sizeof *g);
    if (g && pthread_mutex_init(&g->lock, NULL)) {
        free(g);
        return NULL;
    }
    return g;
}

static void round_free(open_round *r)
{
    if (!r)
        return;
    if (r->sum)
        sodium_memzero(r->sum, r->count * sizeof *r->sum);
    free(r->sum);
    free(r->openly);
    free(r->gave);
    free(r);
}

void sim_groups_free(sim_groups *g)
{
    if (!g)
        return;
    while (g->open) {
        open_round *next = g->open->next;
        round_free(g->open);
        g->open = next;
    }
    pthread_mutex_destroy(&g->lock);
    free(g->closed);
    free(g);
}

static size_t numbers_of(const tacit_shape *shape)
{
    size_t count = 0;
    for (uint32_t s = 0; shape && s < shape->segments; s++)
        count += shape->segment[s].count;
    return count;
}

/* Zeroed room for what the shapes ask for. */
static open_round *round_create(const open_round *like, uint32_t agents)
{
    open_round *r = malloc(sizeof *r);
    if (!r)
        return NULL;
    *r = *like;
    r->next = NULL;
    r->count = numbers_of(r->shape);
    const size_t beside = numbers_of(r->beside);
    r->sum = calloc(r->count ? r->count : 1, sizeof *r->sum);
    r->openly = calloc(beside ? beside : 1, sizeof *r->openly);
    r->gave = calloc((size_t)agents / 64 + 1, sizeof *r->gave);
    if (r->sum && r->openly && r->gave)
        return r;
    round_free(r);
    return NULL;
}

/* In the order in which they close. */
static bool round_before(const open_round *a, const open_round *b)
{
    if (a->closes != b->closes)
        return a->closes < b->closes;
    if (a->at.channel != b->at.channel)
        return a->at.channel < b->at.channel;
    return a->round < b->round;
}

static void round_insert(sim_groups *g, open_round *r)
{
    open_round **link = &g->open;
    while (*link && round_before(*link, r))
        link = &(*link)->next;
    r->next = *link;
    *link = r;
}

/* ---- giving ---- */

static open_round *find_open(const sim_groups *g, uint32_t channel, uint64_t round)
{
    open_round *r = g->open;
    while (r && !(r->at.channel == channel && r->round == round))
        r = r->next;
    return r;
}

static bool was_closed(const sim_groups *g, uint32_t channel, uint64_t round)
{
    for (size_t k = 0; k < g->closed_count; k++)
        if (g->closed[k].channel == channel && g->closed[k].round == round)
            return true;
    return false;
}

static const tacit_shape *declared(const sim *s, tacit_address at)
{
    const tacit_protocol *p = s->world.protocol;
    return p->payload ? p->payload(s->shared, at) : NULL;
}

/* What this gift is, as the round it would open; checks all that needs no lock. */
static tacit_status describe(sim_worker *w, open_round *like, tacit_permit *permit,
                             const tacit_bounded *bounded, const tacit_public *beside)
{
    const sim *s = w->sim;
    const char *name = s->world.protocol->name;
    if (!s->groups)
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "protocol \"%s\" gives to a sum; it must declare TACIT_GROUPS", name);
    if (s->phase == SIM_FINISHED)
        return tacit_fail(&w->error, TACIT_EUSAGE, "nothing can be given after the run has ended");
    if (!isfinite(like->closes) || (like->at.kind & TACIT_BESIDE))
        return tacit_fail(&w->error, TACIT_EUSAGE, "round %" PRIu64 " cannot close at time %g",
                          like->round, like->closes);
    like->shape = declared(s, like->at);
    like->beside = beside ? tacit_public_shape(beside) : NULL;
    const tacit_address aside = {like->at.channel, like->at.kind | TACIT_BESIDE};
    bool good = like->shape && bounded->value && bounded->value->shape == like->shape &&
                (!beside || declared(s, aside) == like->beside);
    for (uint32_t k = 0; good && like->beside && k < like->beside->segments; k++)
        good = like->beside->segment[k].scalar == TACIT_I64;
    if (!good)
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "protocol \"%s\" gives kind %u on channel %u with a shape it did not "
                          "declare",
                          name, like->at.kind, like->at.channel);
    like->cost = tacit_costs_keep(s->costs, &permit->cost);
    like->noise = permit->noise;
    return like->cost ? TACIT_OK : tacit_out_of_memory(&w->error);
}

/* The round a gift belongs to, opened if need be; TACIT_NO if it is over. */
static tacit_status find_round(sim_worker *w, const open_round *like, open_round **out)
{
    sim_groups *g = w->sim->groups;
    const tacit_network_options *network = &w->sim->world.network;
    const double least = network->latency == TACIT_LATENCY_ZERO ? 0 : network->latency_floor;
    open_round *r = find_open(g, like->at.channel, like->round);
    const bool late = !(w->now < like->closes) || w->now + least > like->closes;
    if (late || (!r && was_closed(g, like->at.channel, like->round)))
        return TACIT_NO;
    if (!r) {
        if (!(r = round_create(like, w->sim->agents)))
            return tacit_out_of_memory(&w->error);
        round_insert(g, r);
    }
    if (r->at.kind != like->at.kind || r->closes != like->closes || r->shape != like->shape ||
        r->beside != like->beside || r->cost != like->cost)
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "agent %" PRIu32 " gives to round %" PRIu64 " of protocol \"%s\" with "
                          "another kind, cost, shape or time of closing than others did",
                          w->agent, like->round, w->sim->world.protocol->name);
    *out = r;
    return TACIT_OK;
}

static tacit_status add_openly(open_round *r, const tacit_public *beside, tacit_error *err)
{
    size_t at = 0;
    for (uint32_t s = 0; beside && s < r->beside->segments; s++)
        for (size_t k = 0; k < r->beside->segment[s].count; k++, at++) {
            const int64_t more = tacit_public_get_int(beside, s, k);
            if (__builtin_add_overflow(r->openly[at], more, &r->openly[at]))
                return tacit_fail(err, TACIT_EINPUT,
                                  "what is given openly to round %" PRIu64 " overflows", r->round);
        }
    return TACIT_OK;
}

static tacit_status add_gift(sim_worker *w, open_round *r, tacit_permit *permit,
                             tacit_bounded *bounded, const tacit_public *beside)
{
    const uint64_t bit = UINT64_C(1) << w->agent % 64;
    if (r->gave[w->agent / 64] & bit)
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "agent %" PRIu32 " gives twice to round %" PRIu64, w->agent, r->round);
    uint64_t most;
    tacit_status status =
        tacit_gift_most(r->cost, tacit_facts_of(&w->env)->records, &most, &w->error);
    if (status != TACIT_OK)
        return status;
    if (r->most > FAR - most)
        return tacit_fail(&w->error, TACIT_EINPUT,
                          "the sum of round %" PRIu64 " of \"%s\" could leave the grid", r->round,
                          r->cost->what);
    status = tacit_mechanism_give(permit, bounded, r->sum, r->count, &w->error);
    if (status == TACIT_OK)
        status = add_openly(r, beside, &w->error);
    if (status != TACIT_OK)
        return status;
    r->most += most;
    r->gave[w->agent / 64] |= bit;
    return TACIT_OK;
}

tacit_status sim_give(void *ctx, tacit_address at, uint64_t round, double closes,
                      tacit_permit *permit, tacit_bounded *bounded, const tacit_public *beside)
{
    sim_worker *w = ctx;
    open_round like = {.at = at, .round = round, .closes = closes}, *r = NULL;
    tacit_status status = describe(w, &like, permit, bounded, beside);
    if (status != TACIT_OK)
        return status;
    pthread_mutex_lock(&w->sim->groups->lock);
    status = find_round(w, &like, &r);
    if (status == TACIT_OK)
        status = add_gift(w, r, permit, bounded, beside);
    pthread_mutex_unlock(&w->sim->groups->lock);
    if (status != TACIT_OK) {
        if (bounded->steps) /* what was not given is a secret still */
            sodium_memzero(bounded->steps, bounded->coordinates * sizeof *bounded->steps);
        return status;
    }
    w->traffic.releases++;
    w->traffic.messages++;
    w->traffic.delivered++;
    w->traffic.bytes += like.shape->bytes + (like.beside ? like.beside->bytes : 0);
    return TACIT_OK;
}

/* ---- closing ---- */

double sim_groups_next(const sim *s)
{
    return s->groups && s->groups->open ? s->groups->open->closes : INFINITY;
}

tacit_status sim_groups_finish(const sim *s, tacit_error *err)
{
    const sim_groups *g = s->groups;
    if (!g || !g->open || g->closed_count > 0)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "the run ended at time %g, before its first sum at time %g: budgets were "
                      "spent and nothing was heard; raise \"run.time\", or lower "
                      "\"protocol.period\"",
                      s->now, g->open->closes);
}

/* Public vectors that last, of the sum and of what was given openly. */
static tacit_status results(sim *s, const open_round *r, tacit_vector **sum, tacit_vector **beside,
                            tacit_error *err)
{
    sim_worker *w = &s->worker[0];
    const tacit_sum whole = {.cost = r->cost,
                             .noise = r->noise,
                             .shape = r->shape,
                             .steps = r->sum,
                             .count = r->count,
                             .number = s->groups->closed_count};
    const tacit_noise_source source = {
        .random = &s->random, .agent = SIM_NOBODYS_NOISE, .threads = s->threads};
    tacit_scratch_mark mark = tacit_scratch_now(w->scratch);
    tacit_public *released = NULL;
    tacit_status status = tacit_mechanism_sum(&whole, &source, w->scratch, &released, err);
    if (status == TACIT_OK) {
        *sum = tacit_pool_vector_raw(w->pool, r->shape, TACIT_VECTOR_FROZEN);
        *beside = r->beside ? tacit_pool_vector_raw(w->pool, r->beside, TACIT_VECTOR_FROZEN) : NULL;
        if (!*sum || (r->beside && !*beside))
            status = tacit_out_of_memory(err);
    }
    if (status == TACIT_OK) {
        memcpy((*sum)->data, tacit_vector_of_public(released)->data, r->shape->bytes);
        const uint32_t segments = r->beside ? r->beside->segments : 0;
        for (size_t k = 0, at = 0; k < segments; at += r->beside->segment[k++].count)
            memcpy(tacit_vector_segment(*beside, (uint32_t)k), r->openly + at,
                   r->beside->segment[k].count * sizeof *r->openly);
        if (s->runtime.trace)
            tacit_trace_sum(s->runtime.trace, r->cost, tacit_vector_public(*sum));
    }
    tacit_scratch_rewind(w->scratch, mark);
    return status;
}

typedef struct telling {
    sim *s;
    const open_round *round;
    tacit_vector *sum, *beside;
} telling;

/* A sleeping agent hears it when it is back. */
static void tell_later(sim_worker *w, const telling *t, uint32_t agent)
{
    tacit_vector_keep(t->sum);
    if (t->beside)
        tacit_vector_keep(t->beside);
    runtime_event later = {.time = w->sim->agent[agent].toggle_at,
                           .to = agent,
                           .from = agent,
                           .counter = w->sim->agent[agent].counter++,
                           .type = TACIT_GROUP_RESULT,
                           .at = t->round->at,
                           .id = t->round->round,
                           .payload = t->sum,
                           .beside = t->beside};
    if (sim_post(w, &later) != TACIT_OK)
        sim_fail(w, t->round->closes, TACIT_EINTERNAL, "out of memory");
}

static void tell(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    const telling *t = ctx;
    sim_worker *w = &t->s->worker[worker];
    const tacit_event event = {.type = TACIT_GROUP_RESULT,
                               .at = t->round->at,
                               .from = TACIT_NOBODY,
                               .slot = TACIT_NO_SLOT,
                               .id = t->round->round,
                               .payload = tacit_vector_public(t->sum),
                               .beside = t->beside ? tacit_vector_public(t->beside) : NULL};
    for (size_t k = begin; k < end; k++) {
        if (!sim_online(t->s, (uint32_t)k)) {
            tell_later(w, t, (uint32_t)k);
            continue;
        }
        w->traffic.messages++;
        w->traffic.delivered++;
        w->traffic.bytes += t->sum->shape->bytes + (t->beside ? t->beside->shape->bytes : 0);
        sim_handle(w, (uint32_t)k, t->round->closes, &event);
    }
}

static bool remember(sim_groups *g, const open_round *r)
{
    round_name *closed =
        tacit_array_grow(g->closed, &g->closed_capacity, g->closed_count + 1, sizeof *closed);
    if (!closed)
        return false;
    g->closed = closed;
    g->closed[g->closed_count++] = (round_name){r->at.channel, r->round};
    return true;
}

tacit_status sim_groups_close(sim *s, tacit_error *err)
{
    open_round *r = s->groups->open;
    telling t = {.s = s, .round = r};
    tacit_status status = results(s, r, &t.sum, &t.beside, err);
    s->groups->open = r->next;
    if (status == TACIT_OK && !remember(s->groups, r))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK) {
        s->together = true;
        /* A trace is written in order, so a traced run has one thread. */
        tacit_threads_run(s->threads, s->agents, s->runtime.trace ? s->agents : 16, tell, &t);
        s->together = false;
        status = sim_collect(s, err);
    }
    if (t.sum)
        tacit_vector_drop(s->worker[0].pool, t.sum);
    if (t.beside)
        tacit_vector_drop(s->worker[0].pool, t.beside);
    round_free(r);
    return status;
}

/* ---- checkpoints ---- */

static void save_numbers(tacit_saver *saver, const int64_t *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        tacit_save_u64(saver, (uint64_t)x[k]);
}

static void load_numbers(tacit_loader *loader, int64_t *x, size_t count)
{
    for (size_t k = 0; k < count; k++)
        x[k] = (int64_t)tacit_load_u64(loader);
}

void sim_groups_save(const sim *s, tacit_saver *saver)
{
    const sim_groups *g = s->groups;
    tacit_save_u64(saver, g->closed_count);
    for (size_t k = 0; k < g->closed_count; k++) {
        tacit_save_u64(saver, g->closed[k].channel);
        tacit_save_u64(saver, g->closed[k].round);
    }
    for (const open_round *r = g->open; r; r = r->next) {
        tacit_save_u64(saver, 1);
        tacit_save_u64(saver, r->at.channel);
        tacit_save_u64(saver, r->at.kind);
        tacit_save_u64(saver, r->round);
        tacit_save_f64(saver, r->closes);
        tacit_save_u64(saver, r->beside != NULL);
        sim_save_cost(saver, r->cost);
        tacit_save_u64(saver, r->most);
        save_numbers(saver, r->sum, r->count);
        save_numbers(saver, r->openly, numbers_of(r->beside));
        for (size_t k = 0; k <= s->agents / 64; k++)
            tacit_save_u64(saver, r->gave[k]);
    }
    tacit_save_u64(saver, 0);
}

static bool load_round(sim *s, tacit_loader *loader)
{
    open_round like = {.at.channel = (uint32_t)tacit_load_u64(loader)};
    like.at.kind = (uint32_t)tacit_load_u64(loader);
    like.round = tacit_load_u64(loader);
    like.closes = tacit_load_f64(loader);
    const bool beside = tacit_load_u64(loader) != 0;
    like.cost = sim_load_cost(s, loader);
    like.most = tacit_load_u64(loader);
    like.shape = declared(s, like.at);
    const tacit_address aside = {like.at.channel, like.at.kind | TACIT_BESIDE};
    like.beside = beside ? declared(s, aside) : NULL;
    if (!like.cost || !like.shape || (beside && !like.beside) || !(like.closes >= s->now) ||
        !isfinite(like.closes) || numbers_of(like.shape) > tacit_loader_left(loader) / 8 ||
        (like.cost->mechanism != TACIT_MECHANISM_NONE &&
         like.cost->coordinates < numbers_of(like.shape)) ||
        tacit_cost_check(like.cost, NULL) != TACIT_OK ||
        tacit_costs_noise(s->costs, like.cost, &like.noise, NULL) != TACIT_OK)
        return false;
    open_round *r = round_create(&like, s->agents);
    if (!r)
        return false;
    load_numbers(loader, r->sum, r->count);
    load_numbers(loader, r->openly, numbers_of(r->beside));
    for (size_t k = 0; k <= s->agents / 64; k++)
        r->gave[k] = tacit_load_u64(loader);
    round_insert(s->groups, r);
    return true;
}

void sim_groups_load(sim *s, tacit_loader *loader)
{
    sim_groups *g = s->groups;
    const uint64_t closed = tacit_load_u64(loader);
    for (uint64_t k = 0; k < closed && tacit_loader_status(loader, NULL) == TACIT_OK; k++) {
        open_round name = {.at.channel = (uint32_t)tacit_load_u64(loader)};
        name.round = tacit_load_u64(loader);
        if (!remember(g, &name))
            tacit_loader_refuse(loader, "out of memory");
    }
    while (tacit_load_u64(loader) == 1)
        if (!load_round(s, loader)) {
            tacit_loader_refuse(loader, "a sum makes no sense");
            return;
        }
}
