/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked sums among agents that lie. Agent 0 is played by the test: it has a right to call its
 * neighbours, and tries to learn more than one sum. The bench itself watches every word and seed
 * (sums_bench.h). Then all agents are honest, and the network is not.
 */
#include <math.h>

#include "sums_bench.h"
#include "testing.h"

enum { LIAR = 0, SIZE = 5, ENTRY = 15 };

static const tacit_sums_plan plan = {.numbers = BENCH_NUMBERS,
                                     .fraction = 32,
                                     .neighbours = SIZE,
                                     .least = 2,
                                     .patience = 8,
                                     .child = 2};

static bench *fresh(const tacit_sums_plan *of)
{
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, SIZE, of);
    return b;
}

static void done(bench *b)
{
    bench_clear(b);
    free(b);
}

/* ---- what the liar says ---- */

static tacit_public *blank(bench *b, const tacit_shape *shape)
{
    return bench_public(&b->agent[LIAR], shape);
}

static tacit_status tell(bench *b, uint32_t to, uint32_t kind, tacit_public *v)
{
    const bench_message m = {LIAR, to, kind, v};
    tacit_status status = bench_deliver(b, &m);
    bench_lose(b, &m);
    return status;
}

/* The KEY that `agent` sent to the liar. */
static const tacit_public *key_of(const bench *b, uint32_t agent)
{
    for (size_t k = 0; k < b->messages; k++)
        if (b->message[k].to == LIAR && b->message[k].from == agent &&
            b->message[k].kind == TACIT_SUMS_KEY)
            return b->message[k].payload;
    fail();
    return NULL;
}

/* The PAGE that an honest receiver would send. */
static tacit_public *right_page(bench *b)
{
    tacit_public *page = blank(b, &b->agent[LIAR].plan.page);
    tacit_public_set_int(page, 0, 1, SIZE - 1);
    for (uint32_t k = 0; k < SIZE - 1; k++) {
        const tacit_public *key = key_of(b, k + 1);
        const size_t at = (size_t)k * ENTRY;
        tacit_public_set_int(page, 1, at, k + 1);
        tacit_public_set_int(page, 1, at + 1, 1);
        tacit_public_set_int(page, 1, at + 2, tacit_public_get_int(key, 0, 2));
        for (size_t j = 0; j < 4; j++)
            tacit_public_set_int(page, 1, at + 3 + j, tacit_public_get_int(key, 1, j));
        for (size_t j = 0; j < 8; j++)
            tacit_public_set_int(page, 1, at + 7 + j, tacit_public_get_int(key, 2, j));
    }
    return page;
}

static tacit_public *call_of(bench *b, uint64_t round, uint32_t attempt, uint64_t set)
{
    tacit_public *call = blank(b, &b->agent[LIAR].plan.call);
    tacit_public_set_int(call, 0, 0, (int64_t)round);
    tacit_public_set_int(call, 0, 1, attempt);
    tacit_public_set_int(call, 0, 3, plan.fraction);
    tacit_public_set_int(call, 1, 0, (int64_t)set);
    return call;
}

static void call(bench *b, uint32_t to, uint64_t round, uint32_t attempt, uint64_t set)
{
    assert_int_equal(tell(b, to, TACIT_SUMS_CALL, call_of(b, round, attempt, set)), TACIT_OK);
}

static void open_it(bench *b, uint32_t to, uint64_t round, uint32_t attempt)
{
    tacit_public *v = blank(b, &b->agent[LIAR].plan.turn);
    tacit_public_set_int(v, 0, 0, (int64_t)round);
    tacit_public_set_int(v, 0, 1, attempt);
    assert_int_equal(tell(b, to, TACIT_SUMS_OPEN, v), TACIT_OK);
}

/* The liar's own KEY, with a degree that it may tell differently to each. */
static tacit_public *own_key(bench *b, uint32_t degree)
{
    static const char domain[] = "tacit sums key 1";
    uint8_t text[sizeof domain + 24 + TACIT_MASK_KEY] = {0}, signature[TACIT_SIGNATURE];
    const uint8_t seed[TACIT_MASK_KEY] = {77};
    tacit_mask_keys keys;
    tacit_mask_keys_make(&keys, seed);
    memcpy(text, domain, sizeof domain);
    text[sizeof domain + 16] = (uint8_t)degree;
    memcpy(text + sizeof domain + 24, keys.open, TACIT_MASK_KEY);
    bench_sign_as(LIAR, text, sizeof text, signature);
    tacit_public *key = blank(b, &b->agent[LIAR].plan.key);
    tacit_public_set_int(key, 0, 2, degree);
    sums_put(key, 1, 0, keys.open, TACIT_MASK_KEY);
    sums_put(key, 2, 0, signature, TACIT_SIGNATURE);
    return key;
}

/* The latest message of this kind from `from` to the liar, out of the list; NULL if there is none.
 * Good until the bench is cleared: the reference moves to `held`. */
static const tacit_public *answer(bench *b, uint32_t from, uint32_t kind)
{
    for (size_t k = b->messages; k-- > 0;)
        if (b->message[k].to == LIAR && b->message[k].from == from && b->message[k].kind == kind)
            return bench_take(b, k).payload;
    return NULL;
}

static bool says(bench *b, uint32_t from, uint32_t kind)
{
    const tacit_public *v = answer(b, from, kind);
    if (v)
        tacit_vector_drop(b->pool, tacit_vector_of_public(v));
    return v != NULL;
}

static sums_reason cannot(bench *b, uint32_t from)
{
    const tacit_public *v = answer(b, from, TACIT_SUMS_CANNOT);
    const sums_reason reason = v ? (sums_reason)tacit_public_get_int(v, 0, 2) : 0;
    if (v)
        tacit_vector_drop(b->pool, tacit_vector_of_public(v));
    return reason;
}

/* Members 1 to 4 are in round 1; the liar has their keys and, if it wants to, has told the page. */
static bench *scene(bool page)
{
    bench *b = fresh(&plan);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_int_equal(bench_start(b, k), TACIT_OK);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_int_equal(tell(b, k, TACIT_SUMS_KEY, own_key(b, SIZE - 1)), TACIT_OK);
    for (uint32_t k = 1; k < SIZE && page; k++)
        assert_int_equal(tell(b, k, TACIT_SUMS_PAGE, right_page(b)), TACIT_OK);
    return b;
}

enum { ALL = 15, BUT_4 = 7 }; /* sets, by the liar's slots */

/* word - seeds, as far as there are any: what the liar can work out. */
static void gather(bench *b, tacit_public *sum, uint32_t from, uint64_t round, uint32_t attempt)
{
    const tacit_public *word = answer(b, from, TACIT_SUMS_WORD);
    assert_non_null(word);
    assert_int_equal(tacit_public_get_int(word, 0, 0), round);
    assert_int_equal(tacit_public_get_int(word, 0, 1), attempt);
    tacit_mask_gather(sum, word, 1);
    tacit_vector_drop(b->pool, tacit_vector_of_public(word));
}

static void uncover(bench *b, tacit_public *sum, uint32_t from, uint64_t round, uint32_t attempt)
{
    const tacit_public *seed = answer(b, from, TACIT_SUMS_SEED);
    uint8_t own[TACIT_MASK_KEY];
    assert_non_null(seed);
    sums_get(seed, 1, 0, own, sizeof own);
    tacit_mask_uncover(sum, own, round, attempt);
    tacit_vector_drop(b->pool, tacit_vector_of_public(seed));
}

static bool is_sum(const tacit_public *sum, uint64_t round, uint64_t set)
{
    for (size_t k = 0; k < BENCH_NUMBERS; k++) {
        int64_t plain = 0;
        for (uint32_t j = 0; j < SIZE - 1; j++)
            if (set >> j & 1)
                plain += bench_number(j + 1, round, LIAR, k);
        if (plain != tacit_public_get_int(sum, 0, k))
            return false;
    }
    return true;
}

/* ---- the play as it is meant ---- */

static void test_honest_calls(void **state)
{
    (void)state;
    bench *b = scene(true);
    tacit_public *sum = blank(b, &b->agent[LIAR].plan.number);
    for (uint32_t k = 1; k < SIZE; k++)
        call(b, k, 1, 1, ALL);
    for (uint32_t k = 1; k < SIZE; k++)
        gather(b, sum, k, 1, 1);
    assert_false(is_sum(sum, 1, ALL)); /* the seeds are still in it */
    for (uint32_t k = 1; k < SIZE; k++)
        open_it(b, k, 1, 1);
    for (uint32_t k = 1; k < SIZE; k++)
        uncover(b, sum, k, 1, 1);
    assert_true(is_sum(sum, 1, ALL));
    tacit_vector_drop(b->pool, tacit_vector_of_public(sum));
    done(b);
}

/* ---- two continuations of one memory image ---- */

static uint8_t drawn; /* what the environment gives, all the same byte */

static void draw_bytes(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len)
{
    (void)ctx, (void)channel, (void)counter;
    memset(out, drawn, len);
}

/* Members are copied before they make their words, and both copies go on: the seeds under which
 * they hide their numbers differ, since what the environment draws differs (snapshot_test). The
 * seed that a copy tells is that of its word, also after a checkpoint in between. */
static void test_own_seeds_of_words_are_drawn_anew(void **state)
{
    (void)state;
    int64_t word[2]; /* its first number: what is held, masks of pairs, and the own mask */
    for (int copy = 0; copy < 2; copy++) {
        bench *b = scene(true);
        tacit_public *sum = blank(b, &b->agent[LIAR].plan.number);
        b->ops.random = draw_bytes;
        drawn = (uint8_t)(1 + copy);
        for (uint32_t k = 1; k < SIZE; k++)
            call(b, k, 1, 1, ALL);
        gather(b, sum, 1, 1, 1);
        word[copy] = tacit_public_get_int(sum, 0, 0);
        for (uint32_t k = 2; k < SIZE; k++)
            gather(b, sum, k, 1, 1);
        drawn = 3;
        bench_reload(b, 1);
        for (uint32_t k = 1; k < SIZE; k++)
            open_it(b, k, 1, 1);
        for (uint32_t k = 1; k < SIZE; k++)
            uncover(b, sum, k, 1, 1);
        assert_true(is_sum(sum, 1, ALL));
        tacit_vector_drop(b->pool, tacit_vector_of_public(sum));
        done(b);
    }
    assert_int_not_equal(word[0], word[1]);
}

/* ---- two sums of one round ---- */

static void test_one_sum_a_round(void **state)
{
    (void)state;
    bench *b = scene(true);
    for (uint32_t k = 1; k < SIZE; k++)
        call(b, k, 1, 1, ALL);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_true(says(b, k, TACIT_SUMS_WORD));
    open_it(b, 1, 1, 1);
    assert_true(says(b, 1, TACIT_SUMS_SEED));
    /* whoever has told its seed makes no word of the round any more */
    call(b, 1, 1, 2, BUT_4);
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    /* who has not, makes one, and then tells nothing of the earlier attempt */
    call(b, 2, 1, 2, BUT_4);
    assert_true(says(b, 2, TACIT_SUMS_WORD));
    open_it(b, 2, 1, 1);
    assert_false(says(b, 2, TACIT_SUMS_SEED));
    open_it(b, 2, 1, 2);
    assert_true(says(b, 2, TACIT_SUMS_SEED));
    open_it(b, 2, 1, 1);
    assert_false(says(b, 2, TACIT_SUMS_SEED));
    assert_int_equal(b->agent[2].holds, 1); /* both attempts hid the same */
    done(b);
}

static void test_repeated(void **state)
{
    (void)state;
    bench *b = scene(true);
    call(b, 1, 1, 1, ALL);
    assert_true(says(b, 1, TACIT_SUMS_WORD));
    call(b, 1, 1, 1, ALL);
    call(b, 1, 1, 1, BUT_4); /* another set under the same name */
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    open_it(b, 1, 1, 2);
    open_it(b, 1, 2, 1);
    assert_false(says(b, 1, TACIT_SUMS_SEED));
    open_it(b, 1, 1, 1);
    const tacit_public *one = answer(b, 1, TACIT_SUMS_SEED);
    open_it(b, 1, 1, 1); /* it may have got lost: the same again */
    const tacit_public *two = answer(b, 1, TACIT_SUMS_SEED);
    assert_non_null(one);
    assert_non_null(two);
    for (size_t k = 0; k < 4; k++)
        assert_true(tacit_public_get_int(one, 1, k) == tacit_public_get_int(two, 1, k));
    tacit_vector_drop(b->pool, tacit_vector_of_public(one));
    tacit_vector_drop(b->pool, tacit_vector_of_public(two));
    call(b, 1, 1, 1, ALL);
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    done(b);
}

/* Two sets that differ by one member, told to different members as one attempt: nothing cancels. */
static void test_two_stories(void **state)
{
    (void)state;
    bench *b = scene(true);
    tacit_public *sum = blank(b, &b->agent[LIAR].plan.number);
    for (uint32_t k = 1; k < SIZE; k++)
        call(b, k, 1, 1, k < 3 ? BUT_4 : ALL);
    for (uint32_t k = 1; k < SIZE; k++)
        open_it(b, k, 1, 1);
    for (uint32_t k = 1; k < SIZE; k++) {
        gather(b, sum, k, 1, 1);
        uncover(b, sum, k, 1, 1);
        for (uint64_t set = 0; set <= ALL; set++)
            assert_false(is_sum(sum, 1, set));
    }
    tacit_vector_drop(b->pool, tacit_vector_of_public(sum));
    done(b);
}

/* ---- keys ---- */

/* A member that was told a wrong PAGE makes no word with a set of all. */
static void try_page(bench *b, tacit_public *page, sums_reason want)
{
    const uint64_t refused = b->agent[1].sums->refused;
    assert_int_equal(tell(b, 1, TACIT_SUMS_PAGE, page), TACIT_OK);
    assert_true(b->agent[1].sums->refused > refused);
    call(b, 1, 1, 1, ALL);
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    assert_int_equal(cannot(b, 1), want);
    done(b);
}

static void test_forged_pages(void **state)
{
    (void)state;
    bench *b = scene(false);
    tacit_public *page = right_page(b);
    tacit_public_set_int(page, 1, 2 * ENTRY + 3, 12345); /* a key of its own for agent 3 */
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    for (size_t k = 2; k < ENTRY; k++) /* the key of agent 2 for agent 3, signature and all */
        tacit_public_set_int(page, 1, 2 * ENTRY + k, tacit_public_get_int(page, 1, ENTRY + k));
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    for (size_t k = 0; k < ENTRY; k++) /* agent 2 twice */
        tacit_public_set_int(page, 1, 2 * ENTRY + k, tacit_public_get_int(page, 1, ENTRY + k));
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    tacit_public_set_int(page, 1, 0, 0); /* a list without the one who reads it */
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    tacit_public_set_int(page, 0, 0, 1); /* signed for epoch 0 */
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    tacit_public_set_int(page, 1, 2 * ENTRY + 2, 77); /* another degree than was signed */
    try_page(b, page, SUMS_LACKS);

    b = scene(false);
    page = right_page(b);
    tacit_public_set_int(page, 0, 1, 1000); /* more than there is room for */
    try_page(b, page, SUMS_LACKS);
}

/* Agent 3 helps the liar: it signs a second key. The first one stays. */
static void test_second_key(void **state)
{
    (void)state;
    static const char domain[] = "tacit sums key 1";
    bench *b = scene(true);
    uint8_t text[sizeof domain + 24 + TACIT_MASK_KEY] = {0}, signature[TACIT_SIGNATURE];
    uint8_t seed[TACIT_MASK_KEY] = {3};
    tacit_mask_keys other;
    tacit_mask_keys_make(&other, seed);
    memcpy(text, domain, sizeof domain);
    text[sizeof domain] = 3;
    text[sizeof domain + 16] = SIZE - 1;
    memcpy(text + sizeof domain + 24, other.open, TACIT_MASK_KEY);
    bench_sign_as(3, text, sizeof text, signature);
    tacit_public *page = right_page(b);
    sums_put(page, 1, 2 * ENTRY + 3, other.open, TACIT_MASK_KEY);
    sums_put(page, 1, 2 * ENTRY + 7, signature, TACIT_SIGNATURE);
    tacit_keep(page);
    assert_int_equal(tell(b, 1, TACIT_SUMS_PAGE, page), TACIT_OK);
    assert_int_equal(b->agent[1].sums->refused, 1);
    bench *c = scene(false); /* it is well signed: who had none before takes it */
    assert_int_equal(tell(c, 1, TACIT_SUMS_PAGE, page), TACIT_OK);
    assert_int_equal(c->agent[1].sums->refused, 0);
    /* the masks of the first key are used: the sum comes out */
    tacit_public *sum = blank(b, &b->agent[LIAR].plan.number);
    for (uint32_t k = 1; k < SIZE; k++) {
        call(b, k, 1, 1, ALL);
        open_it(b, k, 1, 1);
        gather(b, sum, k, 1, 1);
        uncover(b, sum, k, 1, 1);
    }
    assert_true(is_sum(sum, 1, ALL));
    tacit_vector_drop(b->pool, tacit_vector_of_public(sum));
    done(b);
    done(c);
}

/* ---- calls that make no sense ---- */

static void test_absurd_calls(void **state)
{
    (void)state;
    const struct {
        int64_t round, attempt, set;
    } all[] = {
        {0, 1, ALL},      {-1, 1, ALL},      {INT64_MAX, 1, ALL}, {1 << 30, 1, ALL}, {1, 0, ALL},
        {1, -5, ALL},     {1, 1 << 20, ALL}, {1, 1, 1 << 20},     {1, 1, -1},        {1, 1, 0},
        {1, 1, 1},        {1, 1, ALL - 1}, /* without the one that is called */
        {1, 1, ALL | 16},                  /* a slot that the liar does not have */
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        bench *b = scene(true);
        tacit_public *v = call_of(b, 1, 1, 0);
        tacit_public_set_int(v, 0, 0, all[k].round);
        tacit_public_set_int(v, 0, 1, all[k].attempt);
        tacit_public_set_int(v, 1, 0, all[k].set);
        assert_int_equal(tell(b, 1, TACIT_SUMS_CALL, v), TACIT_OK);
        assert_false(says(b, 1, TACIT_SUMS_WORD));
        assert_int_equal(tacit_sums_round(b->agent[1].sums), 1);
        assert_int_equal(b->agent[1].holds, 0);
        call(b, 1, 1, 2, ALL); /* and it still answers what makes sense */
        assert_true(says(b, 1, TACIT_SUMS_WORD));
        done(b);
    }
}

/* ---- a receiver among its own members ---- */

static void test_receiver_in_its_own_set(void **state)
{
    (void)state;
    bench *b = scene(false);
    tacit_public *page = blank(b, &b->agent[LIAR].plan.page);
    const tacit_public *keys[] = {own_key(b, SIZE - 1), key_of(b, 1)}; /* itself, and its victim */
    tacit_public_set_int(page, 0, 1, 2);
    for (uint32_t k = 0; k < 2; k++) {
        const size_t at = (size_t)k * ENTRY;
        tacit_public_set_int(page, 1, at, k);
        tacit_public_set_int(page, 1, at + 1, 1);
        tacit_public_set_int(page, 1, at + 2, tacit_public_get_int(keys[k], 0, 2));
        for (size_t j = 0; j < 4; j++)
            tacit_public_set_int(page, 1, at + 3 + j, tacit_public_get_int(keys[k], 1, j));
        for (size_t j = 0; j < 8; j++)
            tacit_public_set_int(page, 1, at + 7 + j, tacit_public_get_int(keys[k], 2, j));
    }
    assert_int_equal(tell(b, 1, TACIT_SUMS_PAGE, page), TACIT_OK);
    call(b, 1, 1, 1, 3);
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    assert_int_equal(b->agent[1].holds, 0);
    tacit_vector_drop(b->pool, tacit_vector_of_public(keys[0]));
    done(b);
}

/* ---- weights: nobody's wish ---- */

/* Told different degrees, members would weigh differently: their masks do not cancel. */
static void test_two_degrees(void **state)
{
    (void)state;
    for (int lies = 0; lies < 2; lies++) {
        bench *b = fresh(&plan);
        for (uint32_t k = 1; k < SIZE; k++)
            assert_int_equal(bench_start(b, k), TACIT_OK);
        for (uint32_t k = 1; k < SIZE; k++) {
            const uint32_t degree = lies && k == 1 ? 1 : 200;
            assert_int_equal(tell(b, k, TACIT_SUMS_KEY, own_key(b, degree)), TACIT_OK);
            assert_int_equal(tell(b, k, TACIT_SUMS_PAGE, right_page(b)), TACIT_OK);
            call(b, k, 1, 1, ALL);
        }
        tacit_public *sum = blank(b, &b->agent[LIAR].plan.number);
        for (uint32_t k = 1; k < SIZE; k++)
            gather(b, sum, k, 1, 1);
        for (uint32_t k = 1; k < SIZE; k++) {
            open_it(b, k, 1, 1);
            uncover(b, sum, k, 1, 1);
        }
        assert_true(is_sum(sum, 1, ALL) == !lies);
        tacit_vector_drop(b->pool, tacit_vector_of_public(sum));
        done(b);
    }
}

/* ---- who would stop others ---- */

/* One call of a far round moves nobody; a second neighbour's does. */
static void test_far_calls(void **state)
{
    (void)state;
    bench *b = scene(true);
    call(b, 1, 1000, 1, ALL);
    assert_int_equal(tacit_sums_round(b->agent[1].sums), 1);
    const tacit_public *v = call_of(b, 1000, 1, ALL);
    const bench_message m = {2, 1, TACIT_SUMS_CALL, (tacit_public *)(uintptr_t)v};
    assert_int_equal(bench_deliver(b, &m), TACIT_OK);
    bench_lose(b, &m);
    assert_true(tacit_sums_round(b->agent[1].sums) >= 999);
    done(b);

    tacit_sums_plan ends = plan; /* and there is a last round */
    ends.rounds = 20;
    b = fresh(&ends);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_int_equal(bench_start(b, k), TACIT_OK);
    for (uint32_t from = 0; from < 4; from += 3) {
        const bench_message far = {from, 1, TACIT_SUMS_CALL, call_of(b, 21, 1, ALL)};
        assert_int_equal(bench_deliver(b, &far), TACIT_OK);
        bench_lose(b, &far);
    }
    assert_int_equal(tacit_sums_round(b->agent[1].sums), 1);
    done(b);
}

/* A neighbour that says it was set up otherwise is left out; it does not end anybody. */
static void test_false_differences(void **state)
{
    (void)state;
    bench *b = scene(true);
    assert_int_equal(bench_settle(b, LIAR), TACIT_OK);
    for (uint32_t k = 1; k < SIZE; k++) {
        tacit_public *v = blank(b, &b->agent[LIAR].plan.turn);
        tacit_public_set_int(v, 0, 0, 1);
        tacit_public_set_int(v, 0, 1, 1);
        tacit_public_set_int(v, 0, 2, SUMS_SCALE);
        tacit_public_set_int(v, 0, 3, 7);
        assert_int_equal(tell(b, k, TACIT_SUMS_CANNOT, v), TACIT_OK);
    }
    assert_int_equal(bench_settle(b, LIAR), TACIT_OK);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_int_equal(b->agent[k].sums->attempt, 2); /* without the liar */
    done(b);
}

/* One that repeats its call and never opens is not waited for for ever. */
static void test_repeated_calls(void **state)
{
    (void)state;
    bench *b = scene(true);
    tacit_status status = TACIT_OK;
    for (int turn = 0; turn < 600 && tacit_sums_round(b->agent[1].sums) < 3; turn++) {
        for (uint32_t k = 1; k < SIZE; k++)
            call(b, k, 1, 1, ALL);
        assert_int_equal(bench_settle(b, LIAR), TACIT_OK);
        bench_ring(b, &status);
        assert_int_equal(status, TACIT_OK);
    }
    assert_true(tacit_sums_round(b->agent[1].sums) >= 3);
    done(b);
}

/* A member whose seeds never come costs its neighbours a round, and then is left out for a while.
 */
static void test_withheld_seeds(void **state)
{
    (void)state;
    tacit_sums_plan ends = plan;
    bench *b = fresh(&ends);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 12;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int turn = 0; turn < 20000 && b->agent[1].last < 12; turn++) {
        if (b->messages == 0) {
            assert_true(bench_ring(b, &status));
            assert_int_equal(status, TACIT_OK);
            continue;
        }
        const bench_message m = bench_take(b, 0);
        if (m.from != LIAR || m.kind != TACIT_SUMS_SEED)
            assert_int_equal(bench_deliver(b, &m), TACIT_OK);
        bench_lose(b, &m);
    }
    assert_int_equal(b->agent[1].last, 12);
    assert_true(b->agent[1].heard >= 10);
    done(b);
}

static void test_too_few(void **state)
{
    (void)state;
    tacit_sums_plan wary = plan;
    wary.least = 3;
    bench *b = fresh(&wary);
    for (uint32_t k = 1; k < SIZE; k++)
        assert_int_equal(bench_start(b, k), TACIT_OK);
    assert_int_equal(tell(b, 1, TACIT_SUMS_KEY, own_key(b, SIZE - 1)), TACIT_OK);
    assert_int_equal(tell(b, 1, TACIT_SUMS_PAGE, right_page(b)), TACIT_OK);
    call(b, 1, 1, 1, 3);
    assert_false(says(b, 1, TACIT_SUMS_WORD));
    assert_int_equal(cannot(b, 1), SUMS_SMALL);
    call(b, 1, 1, 2, 7);
    assert_true(says(b, 1, TACIT_SUMS_WORD));
    b->agent[2].facts.neighbours = 2; /* and it does not start among fewer */
    tacit_env env = bench_env(b, 2);
    check_fails(tacit_sums_start(&env, &b->agent[2].plan, b->agent[2].sums), TACIT_EINPUT,
                &b->error, "agent 2 has 2 neighbours");
    b->agent[2].facts.neighbours = SIZE - 1;
    done(b);
}

/* ---- settings that differ: whoever is told first says so ---- */

static void differ(uint32_t agent, const tacit_sums_plan *other, const char *words)
{
    bench *b = fresh(&plan);
    b->agent[agent].plan = *other;
    assert_int_equal(tacit_sums_prepare(&b->agent[agent].plan, &b->error), TACIT_OK);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE && status == TACIT_OK; k++)
        status = bench_start(b, k);
    if (status == TACIT_OK)
        status = bench_settle(b, UINT32_MAX);
    check_fails(status, TACIT_EPEER, &b->error, words);
    done(b);
}

static void test_unequal_settings(void **state)
{
    (void)state;
    tacit_sums_plan other = plan;
    other.fraction = 24;
    differ(4, &other, "counts in steps of 2^-32, this agent in steps of 2^-24");
    other = plan;
    other.split = true;
    differ(4, &other, "and this agent do not mask between the same pairs");
}

static void test_bad_plans(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sums_plan p = plan;
    p.least = 1;
    check_fails(tacit_sums_prepare(&p, &err), TACIT_EINPUT, &err, "at least 2 members");
    p = plan;
    p.least = SIZE + 1;
    check_fails(tacit_sums_prepare(&p, &err), TACIT_EINPUT, &err, "at most as many");
    p = plan;
    p.neighbours = TACIT_SUMS_MOST + 1;
    check_fails(tacit_sums_prepare(&p, &err), TACIT_EINPUT, &err, "at most 256");
    p = plan;
    p.patience = NAN;
    check_fails(tacit_sums_prepare(&p, &err), TACIT_EINPUT, &err, "patience");
    p = plan;
    p.fraction = 63;
    check_fails(tacit_sums_prepare(&p, &err), TACIT_EINPUT, &err, "2^-63");
    p = plan;
    p.numbers = SIZE_MAX / 4;
    assert_int_not_equal(tacit_sums_prepare(&p, &err), TACIT_OK);
}

/* ---- honest agents, any order, any loss ---- */

/* Deliver, repeat, lose or delay; a peer may go and come back. Messages of one pair may overtake
 * each other. In the end all is delivered, and all come to the end. */
static uint64_t one_storm(uint64_t seed)
{
    dice d = {seed};
    tacit_sums_plan p = plan;
    p.split = seed % 2;
    p.epoch_rounds = seed % 3;
    bench *b = fresh(&p);
    b->honest = true;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = 6;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int step = 0; step < 4000 && status == TACIT_OK; step++) {
        const double what = dice_unit(&d);
        if (b->messages && what < 0.9) {
            const bench_message m = bench_take(b, (size_t)dice_below(&d, b->messages));
            if (what > 0.02)
                status = bench_deliver(b, &m);
            if (what < 0.1 && status == TACIT_OK)
                status = bench_deliver(b, &m);
            bench_lose(b, &m);
        } else if (what > 0.99 && what <= 0.995) {
            bench_reload(b, (uint32_t)dice_below(&d, SIZE));
        } else if (what > 0.995) {
            const uint32_t one = (uint32_t)dice_below(&d, SIZE), two = (one + 1) % SIZE;
            status = bench_peer(b, one, two, what > 0.997 ? TACIT_PEER_DOWN : TACIT_PEER_UP);
        } else if (!b->messages || what < 0.91) {
            bench_ring(b, &status);
        }
    }
    for (uint32_t k = 0; k < SIZE && status == TACIT_OK; k++)
        status = bench_peer(b, k, (k + 1) % SIZE, TACIT_PEER_UP);
    for (int step = 0; step < 4000 && status == TACIT_OK; step++) {
        status = bench_settle(b, UINT32_MAX);
        if (status == TACIT_OK && !bench_ring(b, &status))
            break;
    }
    assert_int_equal(status, TACIT_OK);
    uint64_t heard = 0;
    for (uint32_t k = 0; k < SIZE; k++) {
        assert_int_equal(b->agent[k].last, 6);
        heard += b->agent[k].heard;
    }
    done(b);
    return heard;
}

static void test_storms(void **state)
{
    (void)state;
    const uint64_t storms = SLOW ? 60 : 400;
    uint64_t heard = 0;
    for (uint64_t seed = 1; seed <= storms; seed++)
        heard += one_storm(seed);
    assert_true(heard > storms * SIZE * 6 / 4); /* with luck it is all of them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_honest_calls),
        cmocka_unit_test(test_own_seeds_of_words_are_drawn_anew),
        cmocka_unit_test(test_one_sum_a_round),
        cmocka_unit_test(test_repeated),
        cmocka_unit_test(test_two_stories),
        cmocka_unit_test(test_forged_pages),
        cmocka_unit_test(test_second_key),
        cmocka_unit_test(test_absurd_calls),
        cmocka_unit_test(test_receiver_in_its_own_set),
        cmocka_unit_test(test_two_degrees),
        cmocka_unit_test(test_far_calls),
        cmocka_unit_test(test_false_differences),
        cmocka_unit_test(test_repeated_calls),
        cmocka_unit_test(test_withheld_seeds),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_unequal_settings),
        cmocka_unit_test(test_bad_plans),
        cmocka_unit_test(test_storms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
