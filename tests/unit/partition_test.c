/* SPDX-License-Identifier: Apache-2.0 */
/* Who gets which record: every partition deals every record once, in the counts it promises. */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/partition.h"
#include "data/shares.h"

#define UNTOUCHED 0x7fffffffU

/* A table of labels only. */
typedef struct labels {
    tacit_table table;
    double y[6000];
    uint32_t owner[6000]; /* what came out */
    uint32_t agents;
} labels;

/* Labels 0, 1, ..., classes - 1 in turn, `rows` of them. */
static labels *make_labels(size_t rows, uint32_t classes)
{
    labels *l = calloc(1, sizeof *l);
    assert_non_null(l);
    for (size_t k = 0; k < rows; k++)
        l->y[k] = (double)(k % classes);
    l->table = (tacit_table){.rows = rows, .features = 1, .y = l->y};
    return l;
}

static tacit_data_options options_for(int partition, int64_t agents)
{
    tacit_data_options o;
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, &o, &err), &err);
    o.partition = partition;
    o.agents = agents;
    return o;
}

static tacit_status try_deal(labels *l, const tacit_data_options *o, uint64_t seed,
                             tacit_error *err)
{
    tacit_random random;
    for (size_t k = 0; k < l->table.rows; k++)
        l->owner[k] = UNTOUCHED;
    tacit_random_init(&random, seed);
    return tacit_partition_deal(l->owner, &l->agents, &l->table, o, &random, err);
}

static void deal(labels *l, const tacit_data_options *o, uint64_t seed)
{
    tacit_error err = {0};
    check_ok(try_deal(l, o, seed, &err), &err);
}

/* Records of `agent` with label `y`; NaN: with any. */
static uint32_t count(const labels *l, uint32_t agent, double y)
{
    uint32_t n = 0;
    for (size_t k = 0; k < l->table.rows; k++)
        n += l->owner[k] == agent && (isnan(y) || l->y[k] == y);
    return n;
}

/* ---- what all have in common ---- */

static void test_every_record_goes_to_one_agent(void **state)
{
    (void)state;
    const int64_t agents[] = {1, 2, 7, 64, 300};
    labels *l = make_labels(1234, 10);
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        for (size_t a = 0; a < sizeof agents / sizeof *agents; a++) {
            tacit_data_options o = options_for(p, agents[a]);
            o.alpha = a % 2 ? 0.05 : 3;
            deal(l, &o, 40 + a);
            assert_int_equal(l->agents, agents[a]);
            for (size_t k = 0; k < l->table.rows; k++)
                assert_in_range(l->owner[k], 0, (uint64_t)agents[a] - 1);
        }
    }
    free(l);
}

static void test_the_seed_decides(void **state)
{
    (void)state;
    labels *l = make_labels(1000, 10), *again = make_labels(1000, 10);
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        tacit_data_options o = options_for(p, 10);
        deal(l, &o, 5);
        deal(again, &o, 5);
        assert_memory_equal(l->owner, again->owner, 1000 * sizeof *l->owner);
        deal(again, &o, 6);
        assert_memory_not_equal(l->owner, again->owner, 1000 * sizeof *l->owner);
    }
    free(l);
    free(again);
}

/* Who gets what under a seed is part of every published result: keep it. */
static void test_the_partition_of_a_seed_is_pinned(void **state)
{
    (void)state;
    const uint32_t expected[][12] = {
        [TACIT_PARTITION_IID] = {1, 0, 2, 0, 0, 2, 1, 2, 1, 1, 2, 0},
        [TACIT_PARTITION_SHARDS] = {0, 2, 1, 2, 2, 1, 0, 0, 1, 2, 0, 1},
        [TACIT_PARTITION_CLASSES] = {2, 0, 2, 0, 1, 2, 1, 1, 1, 0, 2, 0},
    };
    labels *l = make_labels(12, 3);
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        tacit_data_options o = options_for(p, 3);
        if (p == TACIT_PARTITION_DIRICHLET || p == TACIT_PARTITION_QUANTITY)
            continue; /* their shares are pinned below */
        deal(l, &o, 1);
        assert_memory_equal(l->owner, expected[p], sizeof expected[p]);
    }
    free(l);
    double share[3];
    tacit_random random;
    tacit_random_init(&random, 1);
    tacit_draw_dirichlet(share, 3, 0.5, &random, 7);
    assert_float_equal(share[0], 0.027880714531214115, 1e-12);
    assert_float_equal(share[1], 0.62278377026839671, 1e-12);
}

/* Rows left out stay left out and count for nothing. */
static void test_rows_left_out(void **state)
{
    (void)state;
    labels *l = make_labels(1000, 10);
    tacit_random random;
    tacit_error err = {0};
    tacit_random_init(&random, 3);
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        tacit_data_options o = options_for(p, 9);
        o.t = 0;
        for (size_t k = 0; k < 1000; k++) /* all of label 9 go */
            l->owner[k] = l->y[k] == 9 ? TACIT_NOT_DEALT : UNTOUCHED;
        check_ok(tacit_partition_deal(l->owner, &l->agents, &l->table, &o, &random, &err), &err);
        for (size_t k = 0; k < 1000; k++) {
            if (l->y[k] == 9)
                assert_int_equal(l->owner[k], TACIT_NOT_DEALT);
            else
                assert_in_range(l->owner[k], 0, 8);
        }
        for (uint32_t i = 0; p == TACIT_PARTITION_IID && i < 9; i++)
            assert_int_equal(count(l, i, NAN), 100);
    }
    free(l);
}

/* ---- each of them ---- */

static void test_own(void **state)
{
    (void)state;
    labels *l = make_labels(4, 2);
    tacit_error err = {0};
    uint32_t number, owner[] = {1, 0, 1, 1};
    bool added;
    tacit_data_options o = options_for(TACIT_PARTITION_OWN, 100);
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.agent-column");
    check_ok(tacit_names_intern(&l->table.owners, "a", 1, &number, &added, &err), &err);
    check_ok(tacit_names_intern(&l->table.owners, "b", 1, &number, &added, &err), &err);
    l->table.owner = owner;
    deal(l, &o, 1);
    assert_int_equal(l->agents, 2);
    assert_memory_equal(l->owner, owner, sizeof owner);
    tacit_names_clear(&l->table.owners);
    free(l);
}

static void test_iid_gives_equal_shares(void **state)
{
    (void)state;
    labels *l = make_labels(1003, 10);
    tacit_data_options o = options_for(TACIT_PARTITION_IID, 10);
    deal(l, &o, 11);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(count(l, i, NAN), i < 3 ? 101 : 100);
    free(l);
}

/* Label and agent are independent: Pearson's statistic of 20 x 10 cells with 5000 records, 171
 * degrees of freedom, is above 262 with probability 1e-5. */
static void test_iid_mixes_classes(void **state)
{
    (void)state;
    labels *l = make_labels(5000, 10);
    tacit_data_options o = options_for(TACIT_PARTITION_IID, 20);
    deal(l, &o, 12);
    double statistic = 0;
    for (uint32_t i = 0; i < 20; i++) {
        for (int c = 0; c < 10; c++)
            statistic += pow(count(l, i, c) - 25.0, 2) / 25;
    }
    assert_true(statistic < 262 && statistic > 100); /* nor too even: below 100 with 2e-6 */
    free(l);
}

static void test_quantity_follows_its_draw(void **state)
{
    (void)state;
    labels *l = make_labels(2000, 10);
    tacit_data_options o = options_for(TACIT_PARTITION_QUANTITY, 30);
    double share[30];
    tacit_random random;
    o.alpha = 0.7;
    deal(l, &o, 13);
    tacit_random_init(&random, 13);
    tacit_draw_dirichlet(share, 30, 0.7, &random, 0);
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < 30; i++) {
        uint32_t n = count(l, i, NAN);
        assert_true(fabs(n - 2000 * share[i]) < 1); /* rounded down or up */
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    assert_true(most > 5 * (least + 1));
    free(l);
}

static void test_dirichlet_follows_its_draws(void **state)
{
    (void)state;
    labels *l = make_labels(2000, 4);
    tacit_data_options o = options_for(TACIT_PARTITION_DIRICHLET, 8);
    double share[8];
    tacit_random random;
    o.alpha = 0.4;
    deal(l, &o, 14);
    tacit_random_init(&random, 14);
    for (uint32_t c = 0; c < 4; c++) {
        tacit_draw_dirichlet(share, 8, 0.4, &random, c);
        for (uint32_t i = 0; i < 8; i++)
            assert_true(fabs(count(l, i, c) - 500 * share[i]) < 1);
    }
    free(l);
}

/* alpha 1e-6: a class goes to one agent as a whole, the others stay without records. */
static void test_dirichlet_with_a_tiny_alpha(void **state)
{
    (void)state;
    labels *l = make_labels(1000, 5);
    tacit_data_options o = options_for(TACIT_PARTITION_DIRICHLET, 50);
    o.alpha = 1e-6;
    deal(l, &o, 15);
    assert_int_equal(l->agents, 50);
    for (int c = 0; c < 5; c++) {
        uint32_t owners = 0;
        for (uint32_t i = 0; i < 50; i++)
            owners += count(l, i, c) > 0;
        assert_int_equal(owners, 1);
    }
    free(l);
}

static void test_shards(void **state)
{
    (void)state;
    labels *l = make_labels(1000, 10); /* 100 of each */
    tacit_data_options o = options_for(TACIT_PARTITION_SHARDS, 10);
    o.shards = 2;
    deal(l, &o, 16);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(count(l, i, NAN), 100); /* two shards of 50, each of one class */
        for (int c = 0; c < 10; c++)
            assert_int_equal(count(l, i, c) % 50, 0);
    }
    /* 1003 records in 20 shards: 3 shards of 51. */
    labels *odd = make_labels(1003, 1);
    deal(odd, &o, 16);
    uint32_t more = 0;
    for (uint32_t i = 0; i < 10; i++) {
        assert_in_range(count(odd, i, NAN), 100, 102);
        more += count(odd, i, NAN) - 100;
    }
    assert_int_equal(more, 3);
    free(l);
    free(odd);
}

/* Numbers that are no classes can be cut into shards all the same. */
static void test_shards_of_continuous_labels(void **state)
{
    (void)state;
    labels *l = make_labels(3000, 3000);
    tacit_data_options o = options_for(TACIT_PARTITION_SHARDS, 30);
    o.shards = 1;
    deal(l, &o, 17);
    for (size_t k = 1; k < 3000; k++) {
        if (k % 100)
            assert_int_equal(l->owner[k], l->owner[k - 1]);
    }
    free(l);
}

/* Paper 004, equation 8, written down as it stands there, for agents <= classes. */
static double paper_share(uint32_t i, uint32_t j, uint32_t agents, double t)
{
    if (i != j % agents)
        return (1 - t) / agents;
    double others = 0;
    for (uint32_t k = 0; k < agents; k++)
        others += k == i ? 0 : (1 - t) / agents;
    return 1 - others;
}

static void test_class_shares_are_the_papers(void **state)
{
    (void)state;
    for (uint32_t agents = 1; agents <= 10; agents++) {
        for (double t = 0; t <= 1; t += 0.25) {
            for (uint32_t i = 0; i < agents; i++) {
                for (uint32_t j = 0; j < 10; j++)
                    assert_true(fabs(tacit_class_share(i, agents, j, 10, t) -
                                     paper_share(i, j, agents, t)) < 1e-14);
            }
        }
    }
}

/* More agents than classes: columns still sum to 1, and at t = 1 everybody has one class. */
static void test_class_shares_of_many_agents(void **state)
{
    (void)state;
    for (double t = 0; t <= 1; t += 0.5) {
        for (uint32_t j = 0; j < 4; j++) {
            double sum = 0;
            for (uint32_t i = 0; i < 11; i++) {
                double share = tacit_class_share(i, 11, j, 4, t);
                double owners = j < 3 ? 3 : 2; /* 11 = 3 + 3 + 3 + 2 */
                assert_true(fabs(share - (1 - t) / 11 - (i % 4 == j ? t / owners : 0)) < 1e-14);
                sum += share;
            }
            assert_true(fabs(sum - 1) < 1e-14);
        }
    }
}

static void test_classes_at_t(void **state)
{
    (void)state;
    labels *l = make_labels(6000, 10); /* 600 of each */
    const double t[] = {0, 0.5, 1};
    for (size_t k = 0; k < 3; k++) {
        tacit_data_options o = options_for(TACIT_PARTITION_CLASSES, 10);
        o.t = t[k];
        deal(l, &o, 18);
        for (uint32_t i = 0; i < 10; i++) {
            for (uint32_t c = 0; c < 10; c++)
                assert_int_equal(count(l, i, c), i == c ? 60 + 540 * t[k] : 60 - 60 * t[k]);
        }
        o.agents = 4; /* agent 1 owns classes 1, 5 and 9 */
        deal(l, &o, 18);
        for (uint32_t c = 0; c < 10; c++)
            assert_int_equal(count(l, 1, c), c % 4 == 1 ? 150 + 450 * t[k] : 150 - 150 * t[k]);
    }
    free(l);
}

/* What does not divide goes round: at t = 0 nobody has more than one record more than others. */
static void test_classes_at_zero_are_even(void **state)
{
    (void)state;
    labels *l = make_labels(1070, 10); /* 107 of each to 40 agents: 27 left over, ten times */
    tacit_data_options o = options_for(TACIT_PARTITION_CLASSES, 40);
    o.t = 0;
    deal(l, &o, 19);
    for (uint32_t i = 0; i < 40; i++)
        assert_in_range(count(l, i, NAN), 26, 27);
    free(l);
}

static void test_what_cannot_be_dealt(void **state)
{
    (void)state;
    labels *l = make_labels(150, 10);
    tacit_error err = {0};
    tacit_data_options o = options_for(TACIT_PARTITION_SHARDS, 10);
    o.shards = 16;
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "more shards than the 150 records");
    o.shards = 0;
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.shards");
    o.shards = INT64_MAX;
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "more shards");
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        o = options_for(k % 2 ? TACIT_PARTITION_DIRICHLET : TACIT_PARTITION_QUANTITY, 10);
        o.alpha = bad[k];
        check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.alpha");
        o = options_for(TACIT_PARTITION_CLASSES, 10);
        o.t = bad[k] == 0 ? 1.5 : bad[k];
        check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.t is");
    }
    for (int p = TACIT_PARTITION_IID; p <= TACIT_PARTITION_CLASSES; p++) {
        o = options_for(p, 151);
        check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.agents is \"151\"");
        o = options_for(p, 0);
        check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.agents");
    }
    o = options_for(99, 10);
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "data.partition");
    free(l);
    l = make_labels(1000, 1000); /* the most there may be */
    o = options_for(TACIT_PARTITION_DIRICHLET, 10);
    deal(l, &o, 1);
    free(l);
    l = make_labels(1001, 1001);
    check_fails(try_deal(l, &o, 1, &err), TACIT_EINPUT, &err, "look continuous");
    free(l);
}

/* ---- shares ---- */

/* Two shares of Dirichlet(a, a): the first is Beta(a, a), whose distribution function is known
 * for a = 1/2, 1 and 2. Kolmogorov's statistic is above 2.23 with probability 1e-4. */
static double beta_cdf(double a, double x)
{
    return a == 0.5 ? 2 / acos(-1) * asin(sqrt(x)) : a == 1 ? x : x * x * (3 - 2 * x);
}

static void test_two_shares_are_beta(void **state)
{
    (void)state;
    static double value[4000];
    const double alpha[] = {0.5, 1, 2};
    tacit_random random;
    tacit_random_init(&random, 21);
    for (size_t a = 0; a < 3; a++) {
        for (uint32_t k = 0; k < 4000; k++) {
            double share[2];
            tacit_draw_dirichlet(share, 2, alpha[a], &random, k);
            value[k] = beta_cdf(alpha[a], share[0]);
        }
        assert_true(kolmogorov(4000, value) < 2.23);
    }
}

/* Mean 1/n and variance (1/n)(1 - 1/n)/(n alpha + 1) of a share of n; each within 5 standard
 * errors, estimated from the draws: a false alarm has probability below 1e-5 for all together. */
static void test_moments_of_dirichlet(void **state)
{
    (void)state;
    enum { N = 6, DRAWS = 5000 };
    const double alpha[] = {0.1, 0.5, 4};
    tacit_random random;
    tacit_random_init(&random, 22);
    for (size_t a = 0; a < 3; a++) {
        double sum = 0, squares = 0, fourth = 0;
        double mean = 1.0 / N, variance = mean * (1 - mean) / (N * alpha[a] + 1);
        for (uint32_t k = 0; k < DRAWS; k++) {
            double share[N], total = 0;
            tacit_draw_dirichlet(share, N, alpha[a], &random, k);
            for (int i = 0; i < N; i++)
                total += share[i];
            assert_true(fabs(total - 1) < 1e-12);
            double off = share[k % N] - mean;
            sum += off;
            squares += off * off;
            fourth += pow(off, 4);
        }
        assert_true(fabs(sum / DRAWS) < 5 * sqrt(variance / DRAWS));
        double error = sqrt((fourth / DRAWS - variance * variance) / DRAWS);
        assert_true(fabs(squares / DRAWS - variance) < 5 * error);
    }
}

static void test_extreme_alphas_stay_numbers(void **state)
{
    (void)state;
    const double alpha[] = {1e-300, 1e-12, 1e-6, 1e-3, 1e6, 1e15};
    static double share[500];
    tacit_random random;
    tacit_random_init(&random, 23);
    for (size_t a = 0; a < sizeof alpha / sizeof *alpha; a++) {
        for (uint32_t k = 0; k < 50; k++) {
            double sum = 0, largest = 0;
            tacit_draw_dirichlet(share, 500, alpha[a], &random, k);
            for (int i = 0; i < 500; i++) {
                assert_true(share[i] >= 0 && share[i] <= 1);
                sum += share[i];
                largest = fmax(largest, share[i]);
            }
            assert_true(fabs(sum - 1) < 1e-9);
            if (alpha[a] <= 1e-12) /* two as good as equal: 50 draws of 500, below 1e-6 */
                assert_true(largest > 0.999);
            if (alpha[a] >= 1e6)
                assert_true(largest < 0.0021);
        }
    }
}

static void test_rounding_adds_up(void **state)
{
    (void)state;
    tacit_error err = {0};
    static double share[100];
    static uint32_t counts[100];
    uint32_t start = 0;
    dice d = {.state = 77};
    for (int k = 0; k < 200; k++) {
        uint32_t total = (uint32_t)dice_below(&d, k % 2 ? 50 : 4000000000U), given = 0;
        double sum = 0;
        for (int i = 0; i < 100; i++)
            sum += share[i] = pow(dice_unit(&d), 20);
        for (int i = 0; i < 100; i++) /* a little too much or too little now and then */
            share[i] *= (k % 3 ? 1 : k % 5 ? 1 + 1e-15 : 1 - 1e-15) / sum;
        check_ok(tacit_round_shares(counts, share, 100, total, &start, &err), &err);
        for (int i = 0; i < 100; i++) {
            assert_true(fabs(counts[i] - share[i] * total) <= 1.001);
            given += counts[i];
        }
        assert_int_equal(given, total);
    }
    /* Far too much: what is there goes to the first, and no more. */
    const double much[] = {0.5, 0.5, 0.5};
    check_ok(tacit_round_shares(counts, much, 3, 10, &start, &err), &err);
    assert_true(counts[0] == 5 && counts[1] == 5 && counts[2] == 0);
    /* Largest remainders first: 7 x (0.5, 0.3, 0.2) = 3.5, 2.1, 1.4. */
    const double three[] = {0.5, 0.3, 0.2};
    start = 0;
    check_ok(tacit_round_shares(counts, three, 3, 7, &start, &err), &err);
    assert_int_equal(counts[0], 4);
    assert_int_equal(counts[1], 2);
    assert_int_equal(counts[2], 1);
    /* Among equals in turn, starting where the last call ended. */
    const double four[] = {0.25, 0.25, 0.25, 0.25};
    start = 3;
    check_ok(tacit_round_shares(counts, four, 4, 6, &start, &err), &err);
    assert_int_equal(counts[3], 2);
    assert_int_equal(counts[0], 2);
    assert_int_equal(counts[1], 1);
    assert_int_equal(start, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_record_goes_to_one_agent),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_the_partition_of_a_seed_is_pinned),
        cmocka_unit_test(test_rows_left_out),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_iid_gives_equal_shares),
        cmocka_unit_test(test_iid_mixes_classes),
        cmocka_unit_test(test_quantity_follows_its_draw),
        cmocka_unit_test(test_dirichlet_follows_its_draws),
        cmocka_unit_test(test_dirichlet_with_a_tiny_alpha),
        cmocka_unit_test(test_shards),
        cmocka_unit_test(test_shards_of_continuous_labels),
        cmocka_unit_test(test_class_shares_are_the_papers),
        cmocka_unit_test(test_class_shares_of_many_agents),
        cmocka_unit_test(test_classes_at_t),
        cmocka_unit_test(test_classes_at_zero_are_even),
        cmocka_unit_test(test_what_cannot_be_dealt),
        cmocka_unit_test(test_two_shares_are_beta),
        cmocka_unit_test(test_moments_of_dirichlet),
        cmocka_unit_test(test_extreme_alphas_stay_numbers),
        cmocka_unit_test(test_rounding_adds_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
