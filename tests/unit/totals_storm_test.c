/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents in bad weather: one of them forges whatever comes to mind, or all are honest
 * and the network is not. The bench itself watches what honest agents say (totals_bench.h).
 */
#include "testing.h"
#include "totals_bench.h"

enum { SIZE = 7 };

static const tacit_totals_plan plan = {.quorum = 0.7,
                                       .colluders = 1,
                                       .absent = 0.3,
                                       .least = 4,
                                       .patience = 8,
                                       .tries = 4,
                                       .rounds = 1000,
                                       .child = 2};

static bench *fresh(const tacit_totals_plan *of)
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

static int64_t odd_number(dice *d, const bench *b)
{
    static const int64_t odd[] = {-1, INT64_MAX, INT64_MIN, INT64_C(1) << 32, 1 << 20, 255, 256};
    const uint64_t what = dice_below(d, 12);
    if (what < 7)
        return odd[what];
    const tacit_totals *s = b->agent[dice_below(d, SIZE)].totals;
    return what < 10 ? (int64_t)dice_below(d, 9) : (int64_t)s->member.trial;
}

/* Something its machine might say, or a copy of what somebody said, with some fields changed. */
static tacit_status forge(bench *b, dice *d, uint32_t liar)
{
    uint32_t kind = 1 + (uint32_t)dice_below(d, TOTALS_BOARD);
    const bench_message *m = b->messages ? &b->message[dice_below(d, b->messages)] : NULL;
    const bool copy = m && dice_unit(d) < 0.7;
    kind = copy ? m->kind : kind;
    tacit_public *v = bench_blank(b, kind);
    const tacit_shape *shape = &b->plan.kind[kind];
    for (uint32_t k = 0; copy && k < shape->segments; k++)
        tacit_public_copy_segment(v, k, m->payload, k);
    if (!copy)
        tacit_public_set_int(v, 0, 0, (int64_t)b->agent[dice_below(d, SIZE)].totals->member.trial);
    for (uint64_t changes = dice_below(d, 4); changes > 0; changes--) {
        const uint32_t k = (uint32_t)dice_below(d, shape->segments);
        tacit_public_set_int(v, k, dice_below(d, shape->segment[k].count), odd_number(d, b));
    }
    return bench_forge(b, liar, (liar + 1 + (uint32_t)dice_below(d, SIZE - 1)) % SIZE, kind, v);
}

/* Deliver, repeat, lose or delay; messages may overtake each other. */
static tacit_status one_step(bench *b, dice *d, uint32_t liar)
{
    tacit_status status = TACIT_OK;
    const double what = dice_unit(d);
    if (liar < SIZE && what > 0.9)
        return forge(b, d, liar);
    if (what > 0.88 && what < 0.885)
        bench_reload(b, (uint32_t)dice_below(d, SIZE));
    if (!b->messages || what < 0.03) {
        bench_ring(b, &status);
        return status;
    }
    const bench_message m = bench_take(b, (size_t)dice_below(d, b->messages < 8 ? b->messages : 8));
    if (what > 0.035)
        status = bench_deliver(b, &m);
    if (what < 0.1 && status == TACIT_OK && b->messages + 1 < BENCH_LIST) /* again, later */
        b->message[b->messages++] = (bench_message){m.from, m.to, m.kind, tacit_keep(m.payload)};
    bench_lose(b, &m);
    return status;
}

static bench *storm(uint64_t seed, uint64_t rounds, bool lies)
{
    dice d = {seed};
    tacit_totals_plan p = plan;
    p.span = seed % 3 == 0 ? 4 : 0;
    p.board = seed % 3 == 1;
    p.jitter = seed % 2;
    p.curious = !lies && seed % 2;
    p.pair = p.curious && seed % 5 == 0 ? 100 : 0;
    p.again = seed % 4 < 2;
    bench *b = fresh(&p);
    const uint32_t liar = lies ? (uint32_t)(seed % SIZE) : SIZE;
    b->honest = !lies;
    if (lies)
        b->agent[liar].liar = true;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b->agent[k].rounds = rounds;
        assert_int_equal(bench_start(b, k), TACIT_OK);
    }
    for (int step = 0; step < 3000 && status == TACIT_OK; step++)
        status = one_step(b, &d, liar);
    for (int step = 0; step < 2000 && status == TACIT_OK; step++) {
        status = bench_settle(b, UINT32_MAX);
        if (status == TACIT_OK && !bench_ring(b, &status))
            break;
    }
    assert_int_equal(status, TACIT_OK);
    return b;
}

static void test_storms(void **state)
{
    (void)state;
    const uint64_t storms = SLOW ? 8 : 60, rounds = 5;
    uint64_t heard = 0, over = 0;
    for (uint64_t seed = 1; seed <= storms; seed++) {
        bench *b = storm(seed, rounds, false);
        for (uint32_t k = 0; k < SIZE; k++) {
            assert_int_equal(b->agent[k].last, rounds);
            heard += b->agent[k].heard;
            over += b->agent[k].over;
        }
        done(b);
    }
    print_message("%llu sums heard of %llu\n", (unsigned long long)heard, (unsigned long long)over);
    assert_true(heard > storms * SIZE * rounds / 4);
}

static void test_liars(void **state)
{
    (void)state;
    const uint64_t storms = SLOW ? 10 : 80;
    for (uint64_t seed = 1; seed <= storms; seed++)
        done(storm(seed, 4, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storms),
        cmocka_unit_test(test_liars),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
