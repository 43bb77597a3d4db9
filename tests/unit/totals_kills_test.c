/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One of ten peers dies, at every step of a sum over all of them: "tacit average" with its
 * defaults, where everybody's budget is for one word. It ends in a sum, or nothing was charged.
 * Seeds are fixed, so that nothing here is by chance.
 */
#include <math.h>

#include "testing.h"
#include "totals_bench.h"

enum { PEERS = 10, NOBODY = PEERS };

/* As tacit_average_config says it. */
static const tacit_totals_plan plan = {.quorum = 0.75,
                                       .absent = 0.2,
                                       .patience = 5,
                                       .tries = 6,
                                       .rounds = 1,
                                       .board = true,
                                       .again = true,
                                       .child = 2};

typedef struct trial {
    uint64_t seed;
    uint32_t victim; /* NOBODY: none */
    uint64_t step;   /* before which event it dies */
    double spread;   /* in patience: how far apart they begin */
} trial;

typedef struct outcome {
    uint64_t steps;
    uint32_t heard, charged; /* of those who live */
} outcome;

/* Some message for one who has begun (a node keeps what comes before): from one to another they
 * arrive in order, and others overtake them. SIZE_MAX: there is none. */
static size_t any_message(const bench *b, dice *d, uint32_t started)
{
    const size_t from = b->messages ? (size_t)dice_below(d, b->messages) : 0;
    size_t k = SIZE_MAX;
    for (size_t j = 0; j < b->messages && k == SIZE_MAX; j++)
        if (started >> b->message[(from + j) % b->messages].to & 1)
            k = (from + j) % b->messages;
    for (size_t first = 0; k < SIZE_MAX && first < k; first++)
        if (b->message[first].from == b->message[k].from &&
            b->message[first].to == b->message[k].to)
            return first;
    return k;
}

/* What was for it is lost, and of what it had said to each some of the last. */
static void die(bench *b, dice *d, uint32_t victim)
{
    bool cut[PEERS] = {false};
    for (size_t k = 0; k < b->messages;) {
        const bench_message *m = &b->message[k];
        if (m->from == victim && dice_unit(d) < 0.3)
            cut[m->to] = true;
        if (m->to == victim || (m->from == victim && cut[m->to])) {
            const bench_message lost = bench_take(b, k);
            bench_lose(b, &lost);
        } else {
            k++;
        }
    }
    size_t kept = 0;
    for (size_t k = 0; k < b->timers; k++)
        if (b->timer[k].agent != victim)
            b->timer[kept++] = b->timer[k];
    b->timers = kept;
}

/* Messages are quick beside patience; starts are timers. */
static bool one_step(bench *b, dice *d, const double *start, uint32_t *started, uint32_t victim)
{
    tacit_status status = TACIT_OK;
    const size_t k = any_message(b, d, *started);
    if (k < SIZE_MAX) {
        const bench_message m = bench_take(b, k);
        if (m.to != victim)
            status = bench_deliver(b, &m);
        bench_lose(b, &m);
        assert_int_equal(status, TACIT_OK);
        return true;
    }
    uint32_t next = NOBODY;
    for (uint32_t p = 0; p < PEERS; p++)
        if (!(*started >> p & 1) && p != victim && (next == NOBODY || start[p] < start[next]))
            next = p;
    double ring = INFINITY;
    for (size_t j = 0; j < b->timers; j++)
        ring = fmin(ring, b->timer[j].at);
    if (next != NOBODY && start[next] <= ring) {
        b->now = fmax(b->now, start[next]);
        *started |= UINT32_C(1) << next;
        assert_int_equal(bench_start(b, next), TACIT_OK);
        return true;
    }
    const bool rang = bench_ring(b, &status);
    assert_int_equal(status, TACIT_OK);
    return rang;
}

static outcome play(const trial *t)
{
    dice d = {t->seed};
    double start[PEERS];
    uint32_t started = 0, dead = NOBODY;
    outcome out = {0};
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, PEERS, &plan);
    b->honest = true;
    b->budget = 1;
    for (uint32_t k = 0; k < PEERS; k++) {
        start[k] = t->spread * plan.patience * dice_unit(&d);
        b->agent[k].rounds = 1;
    }
    for (;; out.steps++) {
        if (out.steps == t->step && t->victim < NOBODY)
            die(b, &d, dead = t->victim);
        if (!one_step(b, &d, start, &started, dead))
            break;
    }
    for (uint32_t k = 0; k < PEERS; k++)
        if (k != dead) {
            assert_int_equal(b->agent[k].last, 1);
            out.heard += b->agent[k].heard > 0;
            out.charged += b->agent[k].holds > 0;
        }
    bench_clear(b);
    free(b);
    return out;
}

/* Everybody who lives has the sum, or nobody was charged. */
static bool is_good(const outcome *out)
{
    return out->heard >= PEERS - 1 || out->charged == 0;
}

/* Who has a duty in the first try. */
static bool is_busy(uint32_t peer)
{
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, PEERS, &plan);
    const bool busy = bench_position(b, TOTALS_TRY(UINT64_C(1), 0), peer) <= 1;
    bench_clear(b);
    free(b);
    return busy;
}

/* Who has no duty may die at fewer moments: they are all alike. */
static void check(double spread)
{
    uint64_t trials = 0, good = 0, heard = 0;
    for (uint32_t victim = 0; victim < PEERS; victim++) {
        const uint64_t stride = (is_busy(victim) ? 11 : 61) * (SLOW ? 4 : 1);
        trial t = {.seed = 1 + victim, .victim = NOBODY, .spread = spread};
        const outcome quiet = play(&t);
        assert_int_equal(quiet.heard, PEERS);
        t.victim = victim;
        for (t.step = victim % stride; t.step < quiet.steps; t.step += stride) {
            t.seed += 100;
            const outcome out = play(&t);
            trials++;
            good += is_good(&out);
            heard += out.heard >= PEERS - 1;
            if (!is_good(&out))
                print_message("victim %u at step %llu of %llu: %u heard, %u charged\n", victim,
                              (unsigned long long)t.step, (unsigned long long)quiet.steps,
                              out.heard, out.charged);
        }
    }
    print_message("%llu kills: %llu with a sum, %llu good\n", (unsigned long long)trials,
                  (unsigned long long)heard, (unsigned long long)good);
    assert_true(100 * good >= 99 * trials);
    assert_true(100 * heard >= 99 * trials);
}

static void test_kills(void **state)
{
    (void)state;
    check(0);
}

static void test_kills_after_slow_starts(void **state)
{
    (void)state;
    check(1.5);
}

/* ---- what is not said again ---- */

static bench *begin(void)
{
    bench *b = malloc(sizeof *b);
    assert_non_null(b);
    bench_init(b, PEERS, &plan);
    b->honest = true;
    b->budget = 1;
    for (uint32_t k = 0; k < PEERS; k++) {
        b->agent[k].rounds = 1;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    return b;
}

/* Words in tries after the first. */
static uint32_t said_again(const bench *b)
{
    uint32_t words = 0;
    for (size_t k = 0; k < b->try_count; k++)
        for (uint32_t p = 0; p < PEERS; p++)
            words += (b->tries[k].trial & 255) > 0 && b->tries[k].said[p].worded;
    return words;
}

/* To the end, without messages of the kinds whose bits are in `lost`. */
static void play_on(bench *b, dice *d, uint32_t lost)
{
    tacit_status status = TACIT_OK;
    do {
        for (size_t k; (k = any_message(b, d, UINT32_MAX)) < SIZE_MAX;) {
            const bench_message m = bench_take(b, k);
            if (!(lost >> m.kind & 1))
                status = bench_deliver(b, &m);
            bench_lose(b, &m);
            assert_int_equal(status, TACIT_OK);
        }
    } while (bench_ring(b, &status) && status == TACIT_OK);
    assert_int_equal(status, TACIT_OK);
}

/* The set was confirmed, so that the sum may have been told to somebody: no second sum with the
 * same numbers over other members, from which theirs could be subtracted. */
static void test_confirmed_numbers_stay(void **state)
{
    (void)state;
    dice d = {1};
    bench *b = begin();
    play_on(b, &d, 1 << TOTALS_SEED | 1 << TOTALS_PAD);
    for (uint32_t p = 0; p < PEERS; p++) {
        assert_int_equal(b->agent[p].holds, 1);
        assert_int_equal(b->agent[p].heard, 0);
    }
    assert_int_equal(said_again(b), 0);
    bench_clear(b);
    free(b);
}

/* Words came to nobody: all numbers are said again. With two gone there would be less noise in a
 * sum than was planned for, and they are not. */
static void test_enough_for_the_noise(void **state)
{
    (void)state;
    for (uint32_t gone = 1; gone <= 2; gone++) {
        dice d = {gone};
        bench *b = begin();
        const uint32_t speaker = bench_speaker(b, TOTALS_TRY(UINT64_C(1), 0));
        uint32_t charged = 0;
        while (charged < PEERS) {
            tacit_status status = TACIT_OK;
            const size_t k = any_message(b, &d, UINT32_MAX);
            if (k == SIZE_MAX) {
                assert_true(bench_ring(b, &status));
            } else {
                const bench_message m = bench_take(b, k);
                if (m.kind != TOTALS_WORD)
                    status = bench_deliver(b, &m);
                bench_lose(b, &m);
            }
            assert_int_equal(status, TACIT_OK);
            charged = 0;
            for (uint32_t p = 0; p < PEERS; p++)
                charged += b->agent[p].holds > 0;
        }
        uint32_t dead = 0;
        for (uint32_t k = 0, p = speaker; k < gone; k++, p = (p + 1) % PEERS) {
            die(b, &d, p);
            dead |= UINT32_C(1) << p;
        }
        tacit_status status = TACIT_OK;
        do {
            for (size_t k; (k = any_message(b, &d, UINT32_MAX)) < SIZE_MAX;) {
                const bench_message m = bench_take(b, k);
                if (!(dead >> m.to & 1))
                    status = bench_deliver(b, &m);
                bench_lose(b, &m);
            }
        } while (status == TACIT_OK && bench_ring(b, &status));
        assert_int_equal(status, TACIT_OK);
        assert_int_equal(said_again(b) > 0, gone == 1);
        for (uint32_t p = 0; p < PEERS; p++)
            if (!(dead >> p & 1))
                assert_int_equal(b->agent[p].heard, gone == 1);
        bench_clear(b);
        free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kills),
        cmocka_unit_test(test_kills_after_slow_starts),
        cmocka_unit_test(test_confirmed_numbers_stay),
        cmocka_unit_test(test_enough_for_the_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
