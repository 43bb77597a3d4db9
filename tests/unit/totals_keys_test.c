/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets of pairs and what is made of them for a try: the same at both ends and nowhere else, and
 * nothing that is told (a pair's key, a pad, a seed) says anything else that is not.
 */
#include "testing.h"
#include "totals_bench.h"

enum { SIZE = 5, TRIES = 3, KEYS = 3 * SIZE * (SIZE - 1) / 2 * TRIES + SIZE * TRIES * 3 };

static const tacit_totals_plan plan = {.quorum = 0.7,
                                       .colluders = 1,
                                       .least = 4,
                                       .patience = 8,
                                       .tries = 4,
                                       .rounds = 1000,
                                       .child = 2};

static bench *started(void)
{
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, SIZE, &plan);
    for (uint32_t k = 0; k < SIZE; k++)
        assert_int_equal(bench_start(b, k), TACIT_OK);
    return b;
}

static void done(bench *b)
{
    bench_clear(b);
    free(b);
}

static totals_at at(bench *b, uint32_t agent)
{
    return (totals_at){.env = bench_env(b, agent), .plan = &b->plan, .s = b->agent[agent].totals};
}

typedef struct collection {
    uint8_t key[KEYS][TACIT_MASK_KEY];
    size_t count;
} collection;

static uint8_t *room_for(collection *c)
{
    assert_true(c->count < KEYS);
    return c->key[c->count++];
}

static void expand(uint8_t *key, tacit_mask_source from, uint64_t trial)
{
    tacit_mask_expand(key, TACIT_MASK_KEY, &from, 1, trial);
}

/* Key and pads of a pair, as one of them computes them; the other has the same. */
static void collect_pair(collection *c, bench *b, uint32_t one, uint32_t other, uint64_t trial)
{
    const totals_at here = at(b, one), there = at(b, other);
    const totals_partner *p = totals_find(here.s, other), *q = totals_find(there.s, one);
    uint8_t again[TACIT_MASK_KEY], *key = room_for(c), *pad = room_for(c), *others = room_for(c);
    assert_true(p && q && p->agreed && q->agreed);
    totals_pair_key(p, trial, key);
    totals_pair_key(q, trial, again);
    assert_memory_equal(key, again, sizeof again);
    expand(pad, totals_pad_source(&here, p, true), trial);
    totals_pad_key(&there, q, trial, again);
    assert_memory_equal(pad, again, sizeof again);
    expand(others, totals_pad_source(&there, q, true), trial);
    totals_pad_key(&here, p, trial, again);
    assert_memory_equal(others, again, sizeof again);
}

static void test_keys_of_tries(void **state)
{
    (void)state;
    static collection c;
    bench *b = started();
    assert_int_equal(bench_settle(b, UINT32_MAX), TACIT_OK);
    for (uint64_t k = 0; k < TRIES; k++) {
        const uint64_t trial = TOTALS_TRY(UINT64_C(1) << 24 * k, k);
        for (uint32_t one = 0; one < SIZE; one++) {
            const totals_at a = at(b, one);
            uint8_t coins[2][TACIT_MASK_KEY];
            for (uint32_t other = one + 1; other < SIZE; other++)
                collect_pair(&c, b, one, other, trial);
            totals_seed(&a, trial, room_for(&c));
            totals_coins(&a, trial, coins, 2);
            memcpy(room_for(&c), coins[0], TACIT_MASK_KEY);
            memcpy(room_for(&c), coins[1], TACIT_MASK_KEY);
        }
    }
    assert_int_equal(c.count, KEYS);
    for (size_t k = 0; k < KEYS; k++)
        for (size_t j = 0; j < k; j++)
            assert_memory_not_equal(c.key[k], c.key[j], TACIT_MASK_KEY);
    done(b);
}

/* Agent 1 passes off the open half of agent 2 as its own, under its own signature. What agent 0
 * then shares with the name 1 is not what it shares with 2: or 1, gone missing on purpose, would
 * have 0 tell the key of its pair with 2. */
static void test_borrowed_open_half(void **state)
{
    (void)state;
    static const char domain[] = "tacit total key 1";
    bench *b = started();
    uint8_t text[sizeof domain + 8 + 2 * TACIT_MASK_KEY] = {0}, signature[TACIT_SIGNATURE];
    const uint8_t *open = b->agent[2].totals->keys.open;
    memcpy(text, domain, sizeof domain);
    text[sizeof domain] = 1;
    memcpy(text + sizeof domain + 8, b->plan.terms, TACIT_MASK_KEY);
    memcpy(text + sizeof domain + 8 + TACIT_MASK_KEY, open, TACIT_MASK_KEY);
    bench_sign_as(1, text, sizeof text, signature);
    tacit_public *v = bench_blank(b, TOTALS_HELLO);
    totals_put(v, 1, 0, open, TACIT_MASK_KEY);
    totals_put(v, 2, 0, signature, sizeof signature);
    assert_int_equal(bench_forge(b, 1, 0, TOTALS_HELLO, v), TACIT_OK);
    const totals_partner *liar = totals_find(b->agent[0].totals, 1);
    assert_true(liar && liar->agreed);
    assert_int_equal(bench_settle(b, UINT32_MAX), TACIT_OK);
    const totals_partner *owner = totals_find(b->agent[0].totals, 2);
    assert_true(owner && owner->agreed);
    assert_memory_not_equal(liar->shared, owner->shared, TACIT_MASK_KEY);
    done(b);
}

/* ---- draws ---- */

enum { PARTNER_DRAWS = 4096, JITTERS = 64 };

typedef struct recorded {
    tacit_random keys;
    uint64_t jitter[JITTERS]; /* first words of what was drawn after the start */
    size_t count;
    bool begun;
} recorded;
static recorded record;

/* As the simulator draws. */
static void draw_and_record(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len)
{
    (void)channel;
    tacit_stream stream;
    tacit_stream_open(&stream, &record.keys, ((bench_agent *)ctx)->id, TACIT_FOR_PROTOCOL, counter);
    tacit_stream_bytes(&stream, out, len);
    if (record.begun && ((bench_agent *)ctx)->id == 0 && record.count < JITTERS)
        memcpy(&record.jitter[record.count++], out, sizeof(uint64_t));
}

/* The delay before a word is seen by all, and is a draw of its own: none of the words that choose
 * partners (or make keys), of which there may be thousands, and no draw of another try. */
static void test_delays_tell_nothing_of_other_draws(void **state)
{
    (void)state;
    record = (recorded){0};
    tacit_random_init(&record.keys, 5);
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    tacit_totals_plan delayed = plan;
    delayed.jitter = 2;
    bench_init(b, SIZE, &delayed);
    b->ops.random = draw_and_record;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 4;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    record.begun = true;
    tacit_status status = bench_settle(b, UINT32_MAX);
    for (int k = 0; k < 3000 && status == TACIT_OK && bench_ring(b, &status); k++)
        if (status == TACIT_OK)
            status = bench_settle(b, UINT32_MAX);
    assert_int_equal(status, TACIT_OK);
    assert_true(record.count >= 4);
    for (size_t k = 0; k < record.count; k++) {
        for (size_t j = 0; j < k; j++)
            assert_true(record.jitter[k] != record.jitter[j]);
        for (uint64_t n = 0; n < PARTNER_DRAWS; n++) {
            tacit_stream stream;
            tacit_stream_open(&stream, &record.keys, 0, TACIT_FOR_PROTOCOL, n);
            assert_true(record.jitter[k] != tacit_stream_u64(&stream));
        }
    }
    done(b);
}

/* Two continuations of one memory image before a word: the seeds under which they hide their
 * numbers differ, since what the environment draws differs (snapshot_test). */
static void test_seeds_of_tries_are_drawn_anew(void **state)
{
    (void)state;
    bench *b = started();
    uint8_t seed[2][TACIT_MASK_KEY], before[TACIT_MASK_KEY], coins[2][2][TACIT_MASK_KEY];
    totals_at a = at(b, 0);
    const uint64_t trial = TOTALS_TRY(UINT64_C(7), UINT64_C(1));
    memcpy(before, a.s->secret, sizeof before);
    for (int k = 0; k < 2; k++) {
        tacit_random_init(&record.keys, (uint64_t)k);
        b->ops.random = draw_and_record;
        memcpy(a.s->secret, before, sizeof before);
        totals_renew_secret(&a, trial);
        totals_seed(&a, trial, seed[k]);
        totals_coins(&a, trial, coins[k], 2);
    }
    assert_memory_not_equal(seed[0], seed[1], TACIT_MASK_KEY);
    assert_memory_not_equal(coins[0][0], coins[1][0], TACIT_MASK_KEY);
    assert_memory_not_equal(coins[0][1], coins[1][1], TACIT_MASK_KEY);
    done(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_tries),
        cmocka_unit_test(test_borrowed_open_half),
        cmocka_unit_test(test_delays_tell_nothing_of_other_draws),
        cmocka_unit_test(test_seeds_of_tries_are_drawn_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
