/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_SUMS_BENCH_H
#define TACIT_TEST_SUMS_BENCH_H
/*
 * A few agents with masked sums and no runtime: what they send lies in a list, and a test or a
 * fuzzer says what arrives when, twice or never, and what nobody sent at all. Every agent has a
 * plan of its own. What an agent says as a member is watched:
 *
 *   - no two words for one (receiver, round, attempt), and no earlier attempt after a later one;
 *   - seeds of one attempt only for one (receiver, round), and no word of that round after it.
 *
 * Used by a fuzzer too, so without cmocka: what must hold, or the process ends.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/saver.h"
#include "protocol/sums_inside.h"

enum { BENCH_AGENTS = 6, BENCH_NUMBERS = 3, BENCH_LIST = 1 << 14, BENCH_SEEN = 1 << 12 };

#define BENCH_DEMAND(holds)                                                            \
    do {                                                                               \
        if (!(holds)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds); \
            abort();                                                                   \
        }                                                                              \
    } while (0)

typedef struct bench_message {
    uint32_t from, to, kind;
    const tacit_public *payload;
} bench_message;

typedef struct bench_timer {
    uint32_t agent;
    double at;
    uint64_t id;
} bench_timer;

/* What a member has said to a receiver. */
typedef struct bench_said {
    uint32_t member, receiver, kind;
    uint64_t round;
    int64_t attempt;
} bench_said;

typedef struct bench_agent {
    struct bench *bench;
    uint32_t id;
    uint32_t neighbour[BENCH_AGENTS];
    double weight[BENCH_AGENTS];
    tacit_facts facts;
    tacit_sums_plan plan;
    tacit_sums *sums;
    bool refuses;     /* the protocol holds nothing */
    uint64_t rounds;  /* goes on up to this one */
    uint64_t over;    /* rounds that are over, */
    uint64_t last;    /* the latest, */
    uint64_t heard;   /* and how many had a sum */
    uint32_t members; /* of the latest sum */
    uint64_t holds;
} bench_agent;

typedef struct bench {
    tacit_pool *pool;
    bench_agent agent[BENCH_AGENTS];
    uint32_t agents;
    bench_message message[BENCH_LIST];
    size_t messages;
    bench_timer timer[BENCH_LIST];
    size_t timers;
    bench_said said[BENCH_SEEN];
    size_t said_count;
    double now;
    bool honest; /* nobody forges: sums must be right */
    tacit_error error;
    tacit_env_ops ops;
} bench;

/* ---- the environment ---- */

static inline const tacit_facts *bench_facts(void *ctx)
{
    bench_agent *a = ctx;
    a->facts.now = a->bench->now;
    return &a->facts;
}

static inline void bench_watch(bench *b, const bench_agent *a, uint32_t to, uint32_t kind,
                               const tacit_public *v)
{
    if (kind != TACIT_SUMS_WORD && kind != TACIT_SUMS_SEED)
        return;
    const bench_said new = {.member = a->id,
                            .receiver = to,
                            .kind = kind,
                            .round = (uint64_t)tacit_public_get_int(v, 0, 0),
                            .attempt = tacit_public_get_int(v, 0, 1)};
    bool worded = kind == TACIT_SUMS_WORD;
    for (size_t k = 0; k < b->said_count; k++) {
        const bench_said *old = &b->said[k];
        if (old->member != new.member || old->receiver != new.receiver || old->round != new.round)
            continue;
        if (kind == TACIT_SUMS_WORD) {
            BENCH_DEMAND(old->kind == TACIT_SUMS_WORD); /* none after a seed */
            BENCH_DEMAND(old->attempt < new.attempt);   /* none twice */
        } else if (old->kind == TACIT_SUMS_SEED) {
            BENCH_DEMAND(old->attempt == new.attempt);
        } else {
            worded |= old->attempt == new.attempt;
        }
    }
    BENCH_DEMAND(worded); /* no seed without its word */
    if (b->said_count < BENCH_SEEN)
        b->said[b->said_count++] = new;
}

static inline tacit_status bench_send(void *ctx, tacit_agent to, tacit_address at,
                                      const tacit_public *payload)
{
    bench_agent *a = ctx;
    bench *b = a->bench;
    BENCH_DEMAND(at.channel == a->plan.child);
    BENCH_DEMAND(tacit_sums_payload(&a->plan, (tacit_address){0, at.kind}) ==
                 tacit_public_shape(payload));
    bench_watch(b, a, (uint32_t)to, at.kind, payload);
    if (b->messages < BENCH_LIST)
        b->message[b->messages++] =
            (bench_message){a->id, (uint32_t)to, at.kind, tacit_keep(payload)};
    return TACIT_OK;
}

static inline tacit_status bench_set_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    bench_agent *a = ctx;
    bench *b = a->bench;
    BENCH_DEMAND(channel == a->plan.child && delay >= 0);
    if (b->timers < BENCH_LIST)
        b->timer[b->timers++] = (bench_timer){a->id, b->now + delay, id};
    return TACIT_OK;
}

static inline void bench_random(void *ctx, uint32_t channel, uint64_t counter, void *out,
                                size_t len)
{
    const uint64_t name[3] = {((bench_agent *)ctx)->id, channel, counter};
    crypto_generichash(out, len, (const uint8_t *)name, sizeof name, NULL, 0);
}

static inline tacit_public *bench_public(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_public(tacit_pool_vector(((bench_agent *)ctx)->bench->pool, shape, 0));
}

static inline tacit_secret *bench_secret(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_secret(
        tacit_pool_vector(((bench_agent *)ctx)->bench->pool, shape, TACIT_VECTOR_SECRET));
}

static inline void bench_drop(void *ctx, const void *vector)
{
    tacit_vector_drop(((bench_agent *)ctx)->bench->pool, (tacit_vector *)(uintptr_t)vector);
}

/* As good as a signature where nobody looks into the process. */
static inline void bench_sign_as(uint32_t agent, const void *text, size_t len,
                                 uint8_t signature[TACIT_SIGNATURE])
{
    uint8_t key[32] = "of the bench";
    key[31] = (uint8_t)agent;
    crypto_generichash(signature, TACIT_SIGNATURE, text, len, key, sizeof key);
}

static inline tacit_status bench_sign(void *ctx, const void *text, size_t len,
                                      uint8_t signature[TACIT_SIGNATURE])
{
    bench_sign_as(((bench_agent *)ctx)->id, text, len, signature);
    return TACIT_OK;
}

static inline tacit_status bench_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                                        const uint8_t signature[TACIT_SIGNATURE])
{
    uint8_t right[TACIT_SIGNATURE];
    (void)ctx;
    bench_sign_as((uint32_t)agent, text, len, right);
    return agent < BENCH_AGENTS && memcmp(right, signature, sizeof right) == 0 ? TACIT_OK
                                                                               : TACIT_NO;
}

static inline tacit_error *bench_error(void *ctx)
{
    return &((bench_agent *)ctx)->bench->error;
}

static inline tacit_env bench_env(bench *b, uint32_t agent)
{
    return (tacit_env){.ops = &b->ops, .ctx = &b->agent[agent]};
}

/* ---- what agents hold ---- */

static inline int64_t bench_number(uint32_t agent, uint64_t round, uint32_t receiver, size_t k)
{
    return (int64_t)(round << 40 | (uint64_t)agent << 20 | (uint64_t)receiver << 10 | k);
}

static inline double bench_weight(const void *shared, uint64_t round, uint32_t receiver,
                                  uint32_t member)
{
    (void)shared, (void)round, (void)receiver;
    return 1.0 / (1 + member);
}

static inline tacit_status bench_hold(tacit_env *env, const void *shared, void *self, uint32_t slot,
                                      double weight, tacit_secret **out)
{
    bench_agent *a = self;
    (void)shared;
    BENCH_DEMAND(weight > 0 && weight <= 1);
    a->holds++;
    if (a->refuses)
        return TACIT_NO;
    *out = tacit_new_secret(env, &a->plan.number);
    BENCH_DEMAND(*out);
    int64_t *x = tacit_vector_segment(tacit_vector_of_secret(*out), 0);
    for (size_t k = 0; k < BENCH_NUMBERS; k++)
        x[k] = bench_number(a->id, tacit_sums_round(a->sums), a->neighbour[slot], k);
    return TACIT_OK;
}

static inline tacit_status bench_on(tacit_env *env, const void *shared, void *self,
                                    const tacit_event *event);
static inline const tacit_sums_user *bench_user(void)
{
    static const tacit_sums_user user = {bench_weight, bench_hold, bench_on};
    return &user;
}

/* True if a sum is the plain one over those in it. */
static inline bool bench_is_plain(const bench_agent *a, const tacit_event *event)
{
    for (size_t k = 0; k < BENCH_NUMBERS; k++) {
        uint64_t plain = 0;
        for (uint32_t n = 0; n < a->facts.neighbours; n++)
            if (tacit_sums_has(a->sums, n, NULL))
                plain += (uint64_t)bench_number(a->neighbour[n], event->id, a->id, k);
        if (plain != (uint64_t)tacit_public_get_int(event->payload, 0, k))
            return false;
    }
    return true;
}

static inline tacit_status bench_on(tacit_env *env, const void *shared, void *self,
                                    const tacit_event *event)
{
    bench_agent *a = self;
    BENCH_DEMAND(event->type == TACIT_ROUND && event->id > a->last);
    a->last = event->id;
    a->over++;
    if (event->payload) {
        a->heard++;
        a->members = 0;
        for (uint32_t n = 0; n < a->facts.neighbours; n++)
            a->members += tacit_sums_has(a->sums, n, NULL);
        BENCH_DEMAND(a->members >= a->plan.least);
        BENCH_DEMAND(!a->bench->honest || bench_is_plain(a, event));
    }
    if (event->id >= a->rounds)
        return TACIT_OK;
    return tacit_sums_next(env, &a->plan, a->sums, event->id + 1, bench_user(), shared, self);
}

/* ---- making it ---- */

static inline void bench_init(bench *b, uint32_t agents, const tacit_sums_plan *plan)
{
    memset(b, 0, sizeof *b);
    BENCH_DEMAND(sodium_init() >= 0 && agents <= BENCH_AGENTS);
    b->pool = tacit_pool_create(true);
    b->agents = agents;
    b->ops = (tacit_env_ops){.facts = bench_facts,
                             .send = bench_send,
                             .timer = bench_set_timer,
                             .random = bench_random,
                             .new_public = bench_public,
                             .new_secret = bench_secret,
                             .drop = bench_drop,
                             .sign = bench_sign,
                             .verify = bench_verify,
                             .error = bench_error};
    for (uint32_t k = 0; k < agents; k++) { /* everybody is everybody's neighbour */
        bench_agent *a = &b->agent[k];
        *a = (bench_agent){.bench = b, .id = k, .plan = *plan, .rounds = UINT64_MAX};
        for (uint32_t j = 0; j < agents; j++)
            if (j != k)
                a->neighbour[a->facts.neighbours++] = j;
        a->facts.self = k;
        a->facts.neighbour = a->neighbour;
        a->facts.weight = a->weight;
        BENCH_DEMAND(tacit_sums_prepare(&a->plan, &b->error) == TACIT_OK);
        a->sums = calloc(1, tacit_sums_size(&a->plan, a->facts.neighbours));
        BENCH_DEMAND(a->sums);
    }
}

static inline tacit_status bench_start(bench *b, uint32_t agent)
{
    bench_agent *a = &b->agent[agent];
    tacit_env env = bench_env(b, agent);
    tacit_status status = tacit_sums_start(&env, &a->plan, a->sums);
    return status == TACIT_OK ? tacit_sums_next(&env, &a->plan, a->sums, 1, bench_user(), NULL, a)
                              : status;
}

static inline uint32_t bench_slot(const bench *b, uint32_t agent, uint32_t neighbour)
{
    for (uint32_t k = 0; k < b->agent[agent].facts.neighbours; k++)
        if (b->agent[agent].neighbour[k] == neighbour)
            return k;
    return TACIT_NO_SLOT;
}

static inline tacit_status bench_event(bench *b, uint32_t agent, tacit_event *event)
{
    bench_agent *a = &b->agent[agent];
    tacit_env env = bench_env(b, agent);
    if (event->type == TACIT_MESSAGE || event->type == TACIT_TIMER)
        event->at.channel = a->plan.child;
    event->slot =
        event->type == TACIT_TIMER ? TACIT_NO_SLOT : bench_slot(b, agent, (uint32_t)event->from);
    return tacit_sums_feed(&env, &a->plan, a->sums, event, bench_user(), NULL, a);
}

static inline tacit_status bench_peer(bench *b, uint32_t agent, uint32_t peer,
                                      tacit_event_type type)
{
    return bench_event(b, agent, &(tacit_event){.type = type, .from = peer});
}

/* Take message `k` out of the list. */
static inline bench_message bench_take(bench *b, size_t k)
{
    const bench_message m = b->message[k];
    memmove(&b->message[k], &b->message[k + 1], (--b->messages - k) * sizeof m);
    return m;
}

static inline tacit_status bench_deliver(bench *b, const bench_message *m)
{
    return bench_event(b, m->to,
                       &(tacit_event){.type = TACIT_MESSAGE,
                                      .at = {.kind = m->kind},
                                      .from = m->from,
                                      .payload = m->payload});
}

static inline void bench_lose(bench *b, const bench_message *m)
{
    tacit_vector_drop(b->pool, tacit_vector_of_public(m->payload));
}

/* Deliver everything in order, but what is for `mute` (UINT32_MAX: nobody). */
static inline tacit_status bench_settle(bench *b, uint32_t mute)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < b->messages && status == TACIT_OK;) {
        if (b->message[k].to == mute) {
            k++;
            continue;
        }
        const bench_message m = bench_take(b, k);
        status = bench_deliver(b, &m);
        bench_lose(b, &m);
    }
    return status;
}

/* The earliest timer rings; false if there is none. */
static inline bool bench_ring(bench *b, tacit_status *status)
{
    size_t first = 0;
    for (size_t k = 1; k < b->timers; k++)
        if (b->timer[k].at < b->timer[first].at)
            first = k;
    if (b->timers == 0)
        return false;
    const bench_timer t = b->timer[first];
    memmove(&b->timer[first], &b->timer[first + 1], (--b->timers - first) * sizeof t);
    b->now = t.at > b->now ? t.at : b->now;
    *status = bench_event(b, t.agent, &(tacit_event){.type = TACIT_TIMER, .id = t.id});
    return true;
}

/* To a checkpoint and back, into other memory. */
static inline void bench_reload(bench *b, uint32_t agent)
{
    bench_agent *a = &b->agent[agent];
    tacit_env env = bench_env(b, agent);
    const uint8_t *bytes;
    size_t len;
    tacit_loader *loader;
    tacit_saver *saver = tacit_saver_create();
    tacit_sums *other = calloc(1, tacit_sums_size(&a->plan, a->facts.neighbours));
    BENCH_DEMAND(saver && other);
    tacit_sums_save(&a->plan, a->sums, a->facts.neighbours, saver);
    BENCH_DEMAND(tacit_saver_finish(saver, &bytes, &len, &b->error) == TACIT_OK);
    BENCH_DEMAND(tacit_loader_create(&loader, bytes, len, &b->error) == TACIT_OK);
    tacit_loader_use(loader, b->pool);
    tacit_sums_load(&a->plan, other, a->facts.neighbours, loader);
    BENCH_DEMAND(tacit_loader_status(loader, &b->error) == TACIT_OK);
    tacit_loader_free(loader);
    tacit_saver_free(saver);
    tacit_sums_end(&env, &a->plan, a->sums);
    free(a->sums);
    a->sums = other;
}

static inline void bench_clear(bench *b)
{
    while (b->messages) {
        const bench_message m = bench_take(b, b->messages - 1);
        bench_lose(b, &m);
    }
    for (uint32_t k = 0; k < b->agents; k++) {
        tacit_env env = bench_env(b, k);
        tacit_sums_end(&env, &b->agent[k].plan, b->agent[k].sums);
        free(b->agent[k].sums);
    }
    tacit_pool_free(b->pool);
}

#endif
