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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_of_tries),
        cmocka_unit_test(test_borrowed_open_half),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
