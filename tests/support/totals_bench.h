/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_TOTALS_BENCH_H
#define TACIT_TEST_TOTALS_BENCH_H
/*
 * A few agents with sums over all of them and no runtime: what they send lies in a list, and a test
 * or a fuzzer says what arrives when, twice or never, and what nobody sent at all. Whatever an
 * honest agent says to others is watched (totals.h, totals_member.c), for each try:
 *
 *   - one word, and one seed; with `again`, one set confirmed a round, and one sum of it told;
 *   - one hash is confirmed, and a seed told only with a quorum of those it chose behind it;
 *   - never a pair's key and a pad of the same partner; no pair's key of a member of the set it
 *     confirmed; its partners only get fewer, and no set has more members than there are agents;
 *   - pads only after the own seed; keys of no more of those it chose than planned;
 *   - all that can be read, by seeds or by pads, belongs to one set;
 *   - words that can be read, and whose masks with others can be read or are told, make up one sum,
 *     with as many honest members as shares of noise were made for.
 *
 * Used by a fuzzer too, so without cmocka: what must hold, or the process ends.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/saver.h"
#include "protocol/totals_inside.h"

enum { BENCH_AGENTS = 10, BENCH_NUMBERS = 2, BENCH_LIST = 1 << 13, BENCH_TRIES = 1 << 9 };
enum { BENCH_TEMPORARY = 64 };

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

typedef struct bench_hash {
    uint8_t byte[16];
} bench_hash;

/* What one agent has said and heard of one try. */
typedef struct bench_said {
    bool worded, confirmed, seeded;
    bench_hash hash;
    bench_hash word, seed;          /* all of them: they go to a deputy as well */
    uint32_t paid, pads, in, heard; /* bits by agent */
    uint32_t masked;                /* the same: of its word */
    uint32_t parts, threshold;      /* of its word */
    bool looked;                    /* `in` is known */
    bench_hash told[BENCH_AGENTS];  /* CONFIRM of each, the first */
} bench_said;

typedef struct bench_try {
    uint64_t trial;
    bench_said said[BENCH_AGENTS];
} bench_try;

typedef struct bench_agent {
    struct bench *bench;
    uint32_t id;
    tacit_facts facts;
    tacit_totals *totals;
    bool liar;       /* not watched */
    bool refuses;    /* the protocol holds nothing */
    uint64_t rounds; /* goes on up to this one */
    uint64_t over, last, heard, spoiled;
    uint32_t members; /* of the latest sum */
    uint64_t holds;
    uint32_t parts; /* what it was asked to share its noise among, the last time */
} bench_agent;

typedef struct bench {
    tacit_pool *pool;
    tacit_totals_plan plan;
    bench_agent agent[BENCH_AGENTS];
    uint32_t agents;
    bench_message message[BENCH_LIST];
    size_t messages;
    bench_timer timer[BENCH_LIST];
    size_t timers;
    bench_try tries[BENCH_TRIES];
    size_t try_count;
    void *temporary[BENCH_TEMPORARY];
    size_t temporaries;
    double now;
    bool honest;     /* nobody forges: totals must be right */
    uint64_t budget; /* of each agent: numbers it may give; 0: any */
    tacit_error error;
    tacit_env_ops ops;
} bench;

/* ---- watching ---- */

static inline bench_try *bench_trial(bench *b, uint64_t trial)
{
    for (size_t k = b->try_count; k-- > 0;)
        if (b->tries[k].trial == trial)
            return &b->tries[k];
    if (b->try_count == BENCH_TRIES)
        return NULL;
    bench_try *t = &b->tries[b->try_count++];
    *t = (bench_try){.trial = trial};
    return t;
}

static inline bool bench_same(const bench_hash *x, const bench_hash *y)
{
    return memcmp(x, y, sizeof *x) == 0;
}

static inline bench_hash bench_hash_in(const tacit_public *v)
{
    uint8_t all[TACIT_MASK_KEY];
    bench_hash hash;
    totals_get(v, 1, 0, all, sizeof all);
    memcpy(hash.byte, all, sizeof hash.byte);
    return hash;
}

/* Of those it chose, who has told it that set? */
static inline uint32_t bench_backing(const bench_agent *a, const bench_said *said)
{
    bench_hash own;
    uint32_t count = 0;
    memcpy(own.byte, a->totals->member.hash, sizeof own.byte);
    for (uint32_t k = 0; k < a->totals->partners; k++) {
        const totals_partner *p = &a->totals->partner[k];
        count +=
            p->chosen && said->heard >> p->agent & 1 && bench_same(&said->told[p->agent], &own);
    }
    return count;
}

/* By seed, or by as many pads as liars cannot add to a quorum: can its word be read, and with which
 * set? */
static inline bool bench_is_open(const bench *b, const bench_try *t, uint32_t whose,
                                 bench_hash *hash)
{
    uint32_t liars = 0;
    if (t->said[whose].seeded) {
        *hash = t->said[whose].hash;
        return true;
    }
    for (uint32_t k = 0; k < b->agents; k++)
        liars += b->agent[k].liar;
    for (uint32_t one = 0; one < b->agents; one++) {
        uint32_t count = 0;
        if (!(t->said[one].pads >> whose & 1))
            continue;
        for (uint32_t k = 0; k < b->agents; k++)
            count +=
                t->said[k].pads >> whose & 1 && bench_same(&t->said[k].hash, &t->said[one].hash);
        *hash = t->said[one].hash;
        if (count + liars >= b->plan.threshold)
            return true;
    }
    return false;
}

static inline void bench_one_sum(const bench *b, const bench_try *t)
{
    bench_hash first, hash;
    bool any = false;
    for (uint32_t k = 0; k < b->agents; k++) {
        if (b->agent[k].liar || !bench_is_open(b, t, k, &hash))
            continue;
        BENCH_DEMAND(!any || bench_same(&first, &hash));
        first = hash;
        any = true;
    }
}

static inline uint32_t bench_bits(const bench *b, bool liars)
{
    uint32_t bits = 0;
    for (uint32_t k = 0; k < b->agents; k++)
        bits |= (uint32_t)(b->agent[k].liar == liars) << k;
    return bits;
}

/* Honest partners whose masks with `one` nobody else knows. */
static inline uint32_t bench_covers(const bench *b, const bench_try *t, uint32_t one)
{
    uint32_t unknown = t->said[one].masked & bench_bits(b, false) & ~t->said[one].paid;
    for (uint32_t k = 0; k < b->agents; k++)
        if (t->said[k].paid >> one & 1)
            unknown &= ~(UINT32_C(1) << k);
    return unknown;
}

/* Honest agents whose seed can be known. */
static inline uint32_t bench_opened(const bench *b, const bench_try *t)
{
    const uint32_t liars = (uint32_t)__builtin_popcount(bench_bits(b, true));
    uint32_t open = 0;
    for (uint32_t one = 0; one < b->agents; one++) {
        uint32_t pads = liars;
        for (uint32_t k = 0; k < b->agents; k++)
            pads += !b->agent[k].liar && t->said[k].pads >> one & 1;
        if (t->said[one].worded && (t->said[one].seeded || pads >= t->said[one].threshold))
            open |= UINT32_C(1) << one;
    }
    return open & bench_bits(b, false);
}

/* What liars, no more than were stated, can add up: all or nothing. */
static inline void bench_sums(const bench *b, const bench_try *t)
{
    if ((uint32_t)__builtin_popcount(bench_bits(b, true)) > b->plan.colluders)
        return;
    uint32_t open = bench_opened(b, t), before;
    do {
        before = open;
        for (uint32_t k = 0; k < b->agents; k++)
            if (bench_covers(b, t, k) & ~open)
                open &= ~(UINT32_C(1) << k);
    } while (open != before);
    if (!open)
        return;
    uint32_t piece = open & (0 - open);
    do {
        before = piece;
        for (uint32_t k = 0; k < b->agents; k++)
            if (piece >> k & 1)
                piece |= bench_covers(b, t, k);
    } while (piece != before);
    BENCH_DEMAND(piece == open);
    for (uint32_t k = 0; k < b->agents; k++)
        if (open >> k & 1)
            BENCH_DEMAND((uint32_t)__builtin_popcount(open) >=
                         t->said[k].parts + (b->plan.colluders == 0));
    for (size_t k = 0; b->plan.again && k < b->try_count; k++) /* of one number, one sum */
        BENCH_DEMAND(&b->tries[k] == t || b->tries[k].trial >> 8 != t->trial >> 8 ||
                     !bench_opened(b, &b->tries[k]));
}

static inline bench_hash bench_hash_all(const tacit_public *v)
{
    bench_hash hash;
    crypto_generichash_state h;
    crypto_generichash_init(&h, NULL, 0, sizeof hash.byte);
    for (uint32_t k = 0; k < tacit_public_shape(v)->segments; k++)
        crypto_generichash_update(&h, (const uint8_t *)tacit_public_ints(v, k),
                                  tacit_public_count(v, k) * sizeof(int64_t));
    crypto_generichash_final(&h, hash.byte, sizeof hash.byte);
    return hash;
}

/* True if it was said before, byte by byte. */
static inline bool bench_repeats(bool said, bench_hash *before, const tacit_public *v)
{
    const bench_hash now = bench_hash_all(v);
    BENCH_DEMAND(!said || bench_same(before, &now));
    *before = now;
    return said;
}

static inline void bench_watch_word(bench_said *said, const bench_agent *a, const tacit_public *v)
{
    const tacit_totals *s = a->totals;
    if (bench_repeats(said->worded, &said->word, v))
        return;
    BENCH_DEMAND(!said->seeded);
    said->worded = true;
    said->parts = a->parts;
    said->threshold = s->member.threshold;
    for (uint32_t k = 0; k < s->partners; k++)
        said->masked |= (uint32_t)(s->partner[k].masked != 0) << s->partner[k].agent;
}

static inline void bench_watch_paid(const bench *b, const tacit_public *v, bench_said *said)
{
    const size_t width = b->plan.board ? 13 : 5;
    BENCH_DEMAND(!said->confirmed && !said->seeded);
    for (size_t k = 0; k < totals_head(v, 2); k++) {
        const uint64_t gone = (uint64_t)tacit_public_get_int(v, 1, k * width);
        BENCH_DEMAND(gone < b->agents && !(said->in >> gone & 1));
        said->paid |= UINT32_C(1) << gone;
    }
}

/* `in`: partners of the set that it works with. */
static inline void bench_look(bench *b, const bench_agent *a)
{
    const tacit_totals *s = a->totals;
    const bool in_try = s->phase >= TOTALS_JITTER && s->phase <= TOTALS_OPENED;
    bench_try *t = in_try ? bench_trial(b, s->member.trial) : NULL;
    if (a->liar || !t)
        return;
    bench_said *said = &t->said[a->id];
    uint32_t in = 0;
    for (uint32_t k = 0; k < s->partners; k++)
        in |= (uint32_t)(s->partner[k].in != 0) << s->partner[k].agent;
    BENCH_DEMAND(!said->looked || (in & ~said->in) == 0);
    BENCH_DEMAND(s->member.count <= s->member.present && s->member.present <= b->agents);
    BENCH_DEMAND(s->member.count >= tacit_totals_parts(&b->plan, s->member.present));
    if (b->plan.partners + 1 == b->agents) /* it knows all members */
        BENCH_DEMAND(s->member.count == 1 + (uint32_t)__builtin_popcount(in));
    BENCH_DEMAND((said->paid & in) == 0);
    said->in = in;
    said->looked = true;
}

static inline void bench_watch(bench *b, const bench_agent *a, uint32_t kind, const tacit_public *v)
{
    if (a->liar)
        return;
    bench_look(b, a);
    bench_try *t = bench_trial(b, totals_head(v, 0));
    if (!t)
        return;
    bench_said *said = &t->said[a->id];
    if (kind == TOTALS_WORD) {
        bench_watch_word(said, a, v);
    } else if (kind == TOTALS_CONFIRM) {
        const bench_hash hash = bench_hash_in(v);
        BENCH_DEMAND(!said->confirmed || bench_same(&said->hash, &hash));
        for (size_t k = 0; b->plan.again && k < b->try_count; k++)
            BENCH_DEMAND(&b->tries[k] == t || b->tries[k].trial >> 8 != t->trial >> 8 ||
                         !b->tries[k].said[a->id].confirmed);
        said->confirmed = true;
        said->hash = hash;
    } else if (kind == TOTALS_SEED) {
        if (bench_repeats(said->seeded, &said->seed, v))
            return;
        BENCH_DEMAND(totals_head(v, 0) == a->totals->member.trial);
        BENCH_DEMAND(bench_backing(a, said) >= a->totals->member.threshold);
        memcpy(said->hash.byte, a->totals->member.hash, sizeof said->hash.byte);
        said->seeded = true;
    } else if (kind == TOTALS_PAID) {
        bench_watch_paid(b, v, said);
    } else if (kind == TOTALS_PAD) {
        BENCH_DEMAND(totals_head(v, 1) < b->agents && !(said->paid >> totals_head(v, 1) & 1));
        BENCH_DEMAND(a->totals->phase == TOTALS_OPENED);
        memcpy(said->hash.byte, a->totals->member.hash, sizeof said->hash.byte);
        said->pads |= UINT32_C(1) << totals_head(v, 1);
    }
    bench_one_sum(b, t);
    bench_sums(b, t);
}

/* ---- the environment ---- */

static inline const tacit_facts *bench_facts(void *ctx)
{
    bench_agent *a = ctx;
    a->facts.now = a->bench->now;
    return &a->facts;
}

static inline tacit_status bench_send(void *ctx, tacit_agent to, tacit_address at,
                                      const tacit_public *payload)
{
    bench_agent *a = ctx;
    bench *b = a->bench;
    BENCH_DEMAND(at.channel == b->plan.child && to < b->agents && to != a->id);
    BENCH_DEMAND(tacit_totals_payload(&b->plan, (tacit_address){0, at.kind}) ==
                 tacit_public_shape(payload));
    bench_watch(b, a, at.kind, payload);
    if (b->messages < BENCH_LIST)
        b->message[b->messages++] =
            (bench_message){a->id, (uint32_t)to, at.kind, tacit_keep(payload)};
    return TACIT_OK;
}

static inline tacit_status bench_set_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    bench_agent *a = ctx;
    bench *b = a->bench;
    BENCH_DEMAND(channel == b->plan.child && delay >= 0);
    if (b->timers < BENCH_LIST)
        b->timer[b->timers++] = (bench_timer){a->id, b->now + delay, id};
    return TACIT_OK;
}

static inline void bench_random(void *ctx, uint32_t channel, uint64_t counter, void *out,
                                size_t len)
{
    const uint64_t name[3] = {((bench_agent *)ctx)->id, channel, counter};
    uint8_t all[64];
    crypto_generichash(all, sizeof all, (const uint8_t *)name, sizeof name, NULL, 0);
    BENCH_DEMAND(len <= sizeof all);
    memcpy(out, all, len);
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

static inline void *bench_temporary(void *ctx, size_t bytes)
{
    bench *b = ((bench_agent *)ctx)->bench;
    BENCH_DEMAND(b->temporaries < BENCH_TEMPORARY);
    return b->temporary[b->temporaries++] = malloc(bytes);
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
    return memcmp(right, signature, sizeof right) == 0 ? TACIT_OK : TACIT_NO;
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

static inline int64_t bench_number(uint32_t agent, uint64_t round, size_t k)
{
    return (int64_t)(round % 1024 << 20 | (uint64_t)agent << 10 | k) * (agent % 2 ? -1 : 1);
}

static inline tacit_status bench_hold(tacit_env *env, const void *shared, void *self,
                                      uint32_t parts, tacit_secret **out, int64_t *beside)
{
    bench_agent *a = self;
    (void)shared;
    BENCH_DEMAND(parts >= 1 && parts <= a->bench->agents);
    if (a->refuses || (a->bench->budget > 0 && a->holds >= a->bench->budget))
        return TACIT_NO;
    a->holds++;
    a->parts = parts;
    *out = tacit_new_secret(env, &a->bench->plan.number);
    BENCH_DEMAND(*out);
    int64_t *x = tacit_vector_segment(tacit_vector_of_secret(*out), 0);
    for (size_t k = 0; k < BENCH_NUMBERS; k++)
        x[k] = bench_number(a->id, tacit_totals_round(a->totals), k);
    beside[a->id] = 1;
    return TACIT_OK;
}

static inline tacit_status bench_on(tacit_env *env, const void *shared, void *self,
                                    const tacit_event *event, tacit_totals_outcome outcome);
static inline const tacit_totals_user *bench_user(void)
{
    static const tacit_totals_user user = {bench_hold, bench_on};
    return &user;
}

/* True if a total is the plain sum over those in it, who are `members`. */
static inline bool bench_is_plain(const bench *b, const tacit_event *event, uint32_t members)
{
    uint32_t count = 0;
    for (uint32_t u = 0; u < b->agents; u++) {
        const int64_t in = tacit_public_get_int(event->beside, 0, u);
        if (in != 0 && in != 1)
            return false;
        count += in == 1;
    }
    for (size_t k = 0; k < BENCH_NUMBERS; k++) {
        int64_t plain = 0;
        for (uint32_t u = 0; u < b->agents; u++)
            if (tacit_public_get_int(event->beside, 0, u) == 1)
                plain += bench_number(u, event->id, k);
        if (plain != tacit_public_get_int(event->payload, 0, k))
            return false;
    }
    return count == members;
}

static inline tacit_status bench_on(tacit_env *env, const void *shared, void *self,
                                    const tacit_event *event, tacit_totals_outcome outcome)
{
    bench_agent *a = self;
    bench *b = a->bench;
    BENCH_DEMAND(event->type == TACIT_ROUND && event->id > a->last);
    BENCH_DEMAND((outcome == TACIT_TOTAL_HEARD) == (event->payload != NULL));
    a->last = event->id;
    a->over++;
    a->spoiled += outcome == TACIT_TOTAL_SPOILED;
    if (event->payload) {
        a->heard++;
        a->members = tacit_totals_members(a->totals);
        BENCH_DEMAND(!b->honest || bench_is_plain(b, event, a->members));
    }
    if (event->id >= a->rounds)
        return TACIT_OK;
    return tacit_totals_next(env, &b->plan, a->totals, event->id + 1, bench_user(), shared, self);
}

/* ---- making it ---- */

static inline void bench_init(bench *b, uint32_t agents, const tacit_totals_plan *plan)
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
                             .temporary = bench_temporary,
                             .sign = bench_sign,
                             .verify = bench_verify,
                             .error = bench_error};
    b->plan = *plan;
    b->plan.agents = agents;
    b->plan.numbers = BENCH_NUMBERS;
    b->plan.beside = agents;
    b->plan.most = 0x1p32;
    b->plan.beside_most = 1;
    b->plan.step = 1;
    BENCH_DEMAND(tacit_totals_prepare(&b->plan, &b->error) == TACIT_OK);
    for (uint32_t k = 0; k < agents; k++) {
        bench_agent *a = &b->agent[k];
        *a = (bench_agent){.bench = b, .id = k, .rounds = UINT64_MAX};
        a->facts.self = k;
        a->totals = calloc(1, tacit_totals_size(&b->plan));
        BENCH_DEMAND(a->totals);
    }
}

static inline void bench_after(bench *b, uint32_t agent)
{
    bench_look(b, &b->agent[agent]);
    while (b->temporaries)
        free(b->temporary[--b->temporaries]);
}

static inline tacit_status bench_start(bench *b, uint32_t agent)
{
    bench_agent *a = &b->agent[agent];
    tacit_env env = bench_env(b, agent);
    tacit_status status = tacit_totals_start(&env, &b->plan, a->totals);
    if (status == TACIT_OK)
        status = tacit_totals_next(&env, &b->plan, a->totals, 1, bench_user(), NULL, a);
    bench_after(b, agent);
    return status;
}

static inline tacit_status bench_event(bench *b, uint32_t agent, tacit_event *event)
{
    bench_agent *a = &b->agent[agent];
    tacit_env env = bench_env(b, agent);
    event->at.channel = b->plan.child;
    event->slot = TACIT_NO_SLOT;
    const tacit_status status =
        tacit_totals_feed(&env, &b->plan, a->totals, event, bench_user(), NULL, a);
    bench_after(b, agent);
    return status;
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
    if (m->kind == TOTALS_CONFIRM) {
        bench_try *t = bench_trial(b, totals_head(m->payload, 0));
        bench_said *said = t ? &t->said[m->to] : NULL;
        if (said && !(said->heard >> m->from & 1)) {
            said->heard |= UINT32_C(1) << m->from;
            said->told[m->from] = bench_hash_in(m->payload);
        }
    }
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

/* Somebody says what its machine did not: delivered at once. */
static inline tacit_status bench_forge(bench *b, uint32_t from, uint32_t to, uint32_t kind,
                                       tacit_public *v)
{
    const bench_message m = {from, to, kind, v};
    const tacit_status status = bench_deliver(b, &m);
    bench_lose(b, &m);
    return status;
}

static inline tacit_public *bench_blank(bench *b, uint32_t kind)
{
    tacit_public *v = bench_public(&b->agent[0], &b->plan.kind[kind]);
    BENCH_DEMAND(v);
    return v;
}

/* Deliver everything in order, but all except greetings for `mute` (UINT32_MAX: nobody). */
static inline tacit_status bench_settle(bench *b, uint32_t mute)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < b->messages && status == TACIT_OK;) {
        if (b->message[k].to == mute && b->message[k].kind != TOTALS_HELLO) {
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
    tacit_totals *other = calloc(1, tacit_totals_size(&b->plan));
    BENCH_DEMAND(saver && other);
    tacit_totals_save(&b->plan, a->totals, saver);
    BENCH_DEMAND(tacit_saver_finish(saver, &bytes, &len, &b->error) == TACIT_OK);
    BENCH_DEMAND(tacit_loader_create(&loader, bytes, len, &b->error) == TACIT_OK);
    tacit_loader_use(loader, b->pool);
    tacit_totals_load(&b->plan, other, loader);
    BENCH_DEMAND(tacit_loader_status(loader, &b->error) == TACIT_OK);
    tacit_loader_free(loader);
    tacit_saver_free(saver);
    tacit_totals_end(&env, &b->plan, a->totals);
    free(a->totals);
    a->totals = other;
}

static inline void bench_clear(bench *b)
{
    while (b->messages) {
        const bench_message m = bench_take(b, b->messages - 1);
        bench_lose(b, &m);
    }
    for (uint32_t k = 0; k < b->agents; k++) {
        tacit_env env = bench_env(b, k);
        tacit_totals_end(&env, &b->plan, b->agent[k].totals);
        free(b->agent[k].totals);
    }
    tacit_totals_clear(&b->plan);
    tacit_pool_free(b->pool);
}

/* ---- who adds up ---- */

static inline totals_roles bench_roles(const bench *b, uint64_t trial)
{
    return totals_roles_of(&b->plan, b->agent[0].facts.run, trial);
}

static inline uint32_t bench_speaker(const bench *b, uint64_t trial)
{
    const totals_roles roles = bench_roles(b, trial);
    return (uint32_t)totals_agent_at(&roles, 0);
}

static inline uint64_t bench_position(const bench *b, uint64_t trial, uint32_t agent)
{
    const totals_roles roles = bench_roles(b, trial);
    return totals_position(&roles, agent);
}

#endif
