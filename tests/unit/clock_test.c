/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator's clocks and queue by themselves: when things happen, and in which order. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/queue.h"
#include "runtime/sim/clock.h"
#include "testing.h"

enum { MOST = 100000 };

typedef struct ticks {
    sim_tick tick[MOST];
    size_t count;
} ticks;

/* Take all ticks before `end`, asking for pieces that end wherever `d` says (NULL: for all). */
static void take_until(sim_clock *clock, double from, double end, dice *d, ticks *out)
{
    double now = from;
    while (now < end) {
        double piece = end;
        if (d && dice_unit(d) < 0.7)
            piece = fmin(end, now + dice_between(d, 0, 0.4));
        size_t count;
        const sim_tick *tick = sim_clock_take(clock, &piece, &count);
        assert_non_null(tick);
        assert_true(piece > now || count == 0);
        assert_true(piece <= end);
        for (size_t k = 0; k < count; k++) {
            assert_true(tick[k].time < piece && tick[k].time >= now);
            assert_true(out->count < MOST);
            out->tick[out->count++] = tick[k];
        }
        now = fmax(now, piece);
    }
}

static int by_time(const void *x, const void *y)
{
    const sim_tick *a = x, *b = y;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->agent < b->agent ? -1 : a->agent > b->agent;
}

/* All ticks before `end` from the definition: the k-th gap is drawn from stream (agent, k). */
static void expect_until(uint32_t agents, const tacit_random *random, double end, ticks *out)
{
    for (uint32_t a = 0; a < agents; a++) {
        double now = 0;
        for (uint64_t k = 0;; k++) {
            tacit_stream s;
            tacit_stream_open(&s, random, a, TACIT_FOR_CLOCK, k);
            now += tacit_stream_exponential(&s);
            if (now >= end)
                break;
            assert_true(out->count < MOST);
            out->tick[out->count++] = (sim_tick){now, a};
        }
    }
    qsort(out->tick, out->count, sizeof *out->tick, by_time);
}

static void check_same(const ticks *a, const ticks *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t k = 0; k < a->count; k++) {
        assert_true(a->tick[k].time == b->tick[k].time);
        assert_int_equal(a->tick[k].agent, b->tick[k].agent);
    }
}

typedef struct fixture {
    tacit_random random;
    ticks want, found;
} fixture;

static fixture *fixture_make(uint64_t seed)
{
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    tacit_random_init(&f->random, seed);
    return f;
}

/* Sorted, complete, and the same in any pieces. */
static void test_ticks_in_any_pieces(void **state)
{
    (void)state;
    static const struct {
        uint32_t agents;
        double end;
    } cases[] = {{1, 300}, {2, 100}, {300, 20}, {1500, 5}, {20000, 1.3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t round = 0; round < 4; round++) {
            fixture *f = fixture_make(k);
            dice d = {round};
            sim_clock *clock = sim_clock_create(cases[k].agents, &f->random);
            expect_until(cases[k].agents, &f->random, cases[k].end, &f->want);
            if (f->want.count > 0)
                assert_true(sim_clock_next(clock) == f->want.tick[0].time);
            take_until(clock, 0, cases[k].end, round ? &d : NULL, &f->found);
            check_same(&f->found, &f->want);
            assert_true(sim_clock_next(clock) >= cases[k].end);
            sim_clock_free(clock);
            free(f);
        }
}

/* Kolmogorov-Smirnov on 20,000 gaps, false alarm 0.001 at the time of writing. */
static void test_gaps_are_exponential(void **state)
{
    (void)state;
    fixture *f = fixture_make(77);
    static double gap[MOST], last[400];
    size_t count = 0;
    sim_clock *clock = sim_clock_create(400, &f->random);
    take_until(clock, 0, 50, NULL, &f->found);
    for (size_t k = 0; k < f->found.count; k++) {
        const sim_tick *t = &f->found.tick[k];
        gap[count++] = -expm1(-(t->time - last[t->agent]));
        last[t->agent] = t->time;
    }
    assert_in_range(count, 20000 - 600, 20000 + 600); /* four deviations */
    /* Gaps cut by the end are missing, the more the longer: 2 % of agents' last gaps, a bias
     * of the statistic of 0.02 * sqrt(20000) / e at most, which the limit makes room for. */
    assert_true(kolmogorov(count, gap) < 1.95 + 1.1);
    sim_clock_free(clock);
    free(f);
}

/* First gaps are not cut by anything: here the limit is exact. */
static void test_first_gaps_are_exponential(void **state)
{
    (void)state;
    fixture *f = fixture_make(78);
    static double gap[20000];
    sim_clock *clock = sim_clock_create(20000, &f->random);
    for (uint32_t a = 0; a < 20000; a++) {
        uint64_t drawn;
        sim_clock_get(clock, a, &gap[a], &drawn);
        assert_int_equal(drawn, 1);
        gap[a] = -expm1(-gap[a]);
    }
    assert_true(kolmogorov(20000, gap) < 1.95);
    sim_clock_free(clock);
    free(f);
}

/* Get all clocks at any time, put them into a fresh calendar, and go on. */
static void test_resume(void **state)
{
    (void)state;
    enum { AGENTS = 300 };
    const double cuts[] = {0, 0.001, 1, 2.5, 3.0000001, 15.9, 16, 17.3};
    fixture *f = fixture_make(5);
    expect_until(AGENTS, &f->random, 25, &f->want);
    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        sim_clock *first = sim_clock_create(AGENTS, &f->random);
        sim_clock *second = sim_clock_create(AGENTS, &f->random);
        f->found.count = 0;
        take_until(first, 0, cuts[k], NULL, &f->found);
        for (uint32_t a = 0; a < AGENTS; a++) {
            double next;
            uint64_t drawn;
            sim_clock_get(first, a, &next, &drawn);
            sim_clock_put(second, a, next, drawn);
        }
        sim_clock_seek(second, cuts[k]);
        take_until(second, cuts[k], 25, NULL, &f->found);
        check_same(&f->found, &f->want);
        sim_clock_free(first);
        sim_clock_free(second);
    }
    free(f);
}

/* A tick so far away that it laps the ring several times still comes once, on time. */
static void test_long_gaps(void **state)
{
    (void)state;
    fixture *f = fixture_make(6);
    sim_clock *clock = sim_clock_create(3, &f->random);
    const double far[3] = {70.25, 1000.5, 16.0};
    for (uint32_t a = 0; a < 3; a++)
        sim_clock_put(clock, a, far[a], 40);
    sim_clock_seek(clock, 3);
    assert_true(sim_clock_next(clock) == 16.0);
    take_until(clock, 3, 1001, NULL, &f->found);
    bool seen[3] = {false};
    for (size_t k = 0; k < f->found.count; k++) {
        const sim_tick *t = &f->found.tick[k];
        if (!seen[t->agent])
            assert_true(t->time == far[t->agent]);
        seen[t->agent] = true;
        assert_true(k == 0 || f->found.tick[k - 1].time <= t->time);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
    sim_clock_free(clock);
    free(f);
}

/* ---- queue ---- */

static runtime_event random_event(dice *d, uint64_t counter)
{
    /* few values, so that ties in each of the first three keys are common */
    return (runtime_event){.time = (double)dice_below(d, 6),
                           .to = (uint32_t)dice_below(d, 4),
                           .from = (uint32_t)dice_below(d, 3),
                           .counter = counter,
                           .type = TACIT_TIMER};
}

static void shuffle(dice *d, runtime_event *event, size_t n)
{
    for (size_t k = n; k > 1; k--) {
        size_t other = dice_below(d, k);
        runtime_event e = event[k - 1];
        event[k - 1] = event[other];
        event[other] = e;
    }
}

static void test_queue_is_a_total_order(void **state)
{
    (void)state;
    enum { N = 3000 };
    static runtime_event event[N], sorted[N];
    dice d = {9};
    for (uint64_t k = 0; k < N; k++)
        event[k] = random_event(&d, k);
    for (int round = 0; round < 5; round++) {
        runtime_queue q = {0};
        assert_true(isinf(runtime_queue_next(&q)));
        shuffle(&d, event, N);
        for (size_t k = 0; k < N; k++)
            assert_true(runtime_queue_push(&q, &event[k]));
        for (size_t k = 0; k < N; k++) {
            assert_true(runtime_queue_next(&q) == q.heap[0].time);
            runtime_event e = runtime_queue_pop(&q);
            if (k > 0) {
                assert_true(runtime_event_before(&sorted[k - 1], &e) || round > 0);
                assert_false(runtime_event_before(&e, &e));
            }
            if (round == 0)
                sorted[k] = e;
            assert_int_equal(sorted[k].counter, e.counter); /* whoever was inserted first */
        }
        assert_int_equal(q.count, 0);
        free(q.heap);
    }
    for (size_t k = 1; k < N; k++) { /* time, receiver, sender, counter */
        const runtime_event *a = &sorted[k - 1], *b = &sorted[k];
        assert_true(a->time < b->time ||
                    (a->time == b->time &&
                     (a->to < b->to ||
                      (a->to == b->to &&
                       (a->from < b->from || (a->from == b->from && a->counter < b->counter))))));
    }
}

static void test_queue_mixes_pushes_and_pops(void **state)
{
    (void)state;
    dice d = {10};
    runtime_queue q = {0};
    double now = 0;
    for (uint64_t k = 0; k < 20000; k++) {
        runtime_event e = random_event(&d, k);
        e.time += now;
        assert_true(runtime_queue_push(&q, &e));
        if (dice_unit(&d) < 0.9) {
            e = runtime_queue_pop(&q);
            assert_true(e.time >= now);
            now = e.time;
        }
    }
    free(q.heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ticks_in_any_pieces),
        cmocka_unit_test(test_gaps_are_exponential),
        cmocka_unit_test(test_first_gaps_are_exponential),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_long_gaps),
        cmocka_unit_test(test_queue_is_a_total_order),
        cmocka_unit_test(test_queue_mixes_pushes_and_pops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
