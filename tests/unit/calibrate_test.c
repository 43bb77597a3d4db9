/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise from a budget: against values computed elsewhere, and by the two promises themselves for
 * every accountant and kind: what is returned is within the budget, and a millionth less is not.
 */
#include <math.h>
#include <string.h>

#include "golden.h"
#include "testing.h"

static double found(tacit_accountant by, const tacit_loss *loss, const tacit_loss *spent,
                    size_t count, double epsilon, double delta)
{
    tacit_error err = {0};
    double noise = -1;
    check_ok(tacit_account_calibrate(by, loss, spent, count, epsilon, delta, &noise, &err), &err);
    return noise;
}

static double epsilon_of(tacit_accountant by, const tacit_loss *loss, size_t count, double delta)
{
    tacit_error err = {0};
    double epsilon;
    check_ok(tacit_account_epsilon(by, loss, count, delta, &epsilon, &err), &err);
    return epsilon;
}

static void golden_sigmas_are_met(void **state)
{
    (void)state;
    golden g = golden_read("epsilon.csv");
    int seen = 0;
    for (size_t k = 0; k < g.count; k++) {
        const golden_row *row = &g.row[k];
        if (strcmp(row->mechanism, "gaussian_calibrated") != 0)
            continue;
        tacit_loss loss[4];
        size_t count;
        assert_true(golden_losses(row, loss, &count));
        const double want = loss->noise;
        loss->noise = NAN; /* ignored */
        const double sigma = found(TACIT_BY_GDP, loss, NULL, 0, row->epsilon, row->delta);
        if (!(sigma >= want * (1 - 1e-13) && sigma <= want * (1 + 1e-6)))
            fail_msg("%s: %.17g, not %.17g", row->name, sigma, want);
        seen++;
    }
    assert_int_equal(seen, 22);
    golden_free(&g);
}

static bool inverse(tacit_loss_kind kind)
{
    return kind == TACIT_LOSS_PURE || kind == TACIT_LOSS_RESPONSE;
}

/* Both promises; with something spent before when `spent` is given. */
static void round_trip(tacit_accountant by, tacit_loss loss, const tacit_loss *spent,
                       double epsilon, double delta)
{
    const double noise = found(by, &loss, spent, spent != NULL, epsilon, delta);
    tacit_loss list[2];
    if (spent)
        list[1] = *spent;
    const size_t count = spent ? 2 : 1;
    for (int less = 0; less < 2; less++) {
        list[0] = loss;
        const double off = less ? 1e-6 : 0;
        if (inverse(loss.kind))
            list[0].epsilon = noise * (1 + off);
        else
            list[0].noise = noise * (1 - off);
        const double got = epsilon_of(by, list, count, delta);
        if (less ? !(got > epsilon) : !(got <= epsilon))
            fail_msg("accountant %d, kind %d, epsilon %g, delta %g: %s noise %.9g costs %.9g", by,
                     loss.kind, epsilon, delta, less ? "a little less than" : "", noise, got);
    }
}

static void every_accountant_keeps_both_promises(void **state)
{
    (void)state;
    static const tacit_loss losses[] = {
        {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 3, .count = 50},
        {.kind = TACIT_LOSS_GAUSSIAN,
         .adjacency = TACIT_ADD_REMOVE,
         .sampling = 0.01,
         .shift = 1,
         .count = 2000},
        {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 0.05, .shift = 2, .count = 100},
        {.kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 0.5, .count = 40},
        {.kind = TACIT_LOSS_LAPLACE,
         .adjacency = TACIT_ADD_REMOVE,
         .sampling = 0.2,
         .shift = 1,
         .count = 10},
        {.kind = TACIT_LOSS_DISCRETE_GAUSSIAN, .sampling = 1, .shift = 7, .count = 9},
        {.kind = TACIT_LOSS_DISCRETE_LAPLACE, .sampling = 1, .shift = 16, .count = 5},
        {.kind = TACIT_LOSS_RESPONSE, .sampling = 1, .categories = 6, .count = 30},
        {.kind = TACIT_LOSS_PURE, .sampling = 1, .count = 64},
    };
    static const double budgets[] = {0.05, 1, 12};
    int done = 0;
    for (int by = 0; by <= TACIT_BY_RDP; by++)
        for (size_t k = 0; k < sizeof losses / sizeof *losses; k++) {
            tacit_loss probe = losses[k];
            probe.noise = probe.epsilon = 1;
            if (isnan(epsilon_of((tacit_accountant)by, &probe, 1, 1e-6)))
                continue;
            for (size_t b = 0; b < 3; b++, done++)
                round_trip((tacit_accountant)by, losses[k], NULL, budgets[b], 1e-6);
            const tacit_loss spent = {.kind = by == TACIT_BY_GDP ? TACIT_LOSS_GAUSSIAN
                                                                 : TACIT_LOSS_PURE,
                                      .sampling = 1,
                                      .shift = 1,
                                      .noise = 30,
                                      .epsilon = 0.01,
                                      .count = 20};
            round_trip((tacit_accountant)by, losses[k], &spent, 1.5, 1e-6);
        }
    assert_int_equal(done, 78);
}

static void the_distribution_of_losses_keeps_them_too(void **state)
{
    (void)state;
    static const tacit_loss losses[] = {
        {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 3, .count = 5},
        {.kind = TACIT_LOSS_GAUSSIAN,
         .adjacency = TACIT_ADD_REMOVE,
         .sampling = 0.2,
         .shift = 1,
         .count = 100},
        {.kind = TACIT_LOSS_DISCRETE_LAPLACE, .sampling = 1, .shift = 2, .count = 5},
        {.kind = TACIT_LOSS_RESPONSE, .sampling = 1, .categories = 6, .count = 30},
    };
    for (size_t k = 0; k < sizeof losses / sizeof *losses; k++)
        for (double epsilon = 0.5; epsilon < 5; epsilon *= 4) {
            round_trip(TACIT_BY_PLD, losses[k], NULL, epsilon, 1e-6);
            const double pld = found(TACIT_BY_PLD, &losses[k], NULL, 0, epsilon, 1e-6);
            const double rdp = found(TACIT_BY_RDP, &losses[k], NULL, 0, epsilon, 1e-6);
            assert_true(inverse(losses[k].kind) ? pld >= rdp : pld <= rdp);
        }
}

/* The sum has an answer one can write down. */
static void sums_are_divided(void **state)
{
    (void)state;
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .count = 8};
    const double epsilon = found(TACIT_BY_SUM, &pure, NULL, 0, 2, 0);
    assert_true(epsilon <= 0.25 && epsilon >= 0.25 * (1 - 1e-6));
    const tacit_loss lap = {.kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 5, .count = 4};
    const double scale = found(TACIT_BY_SUM, &lap, NULL, 0, 0.1, 0);
    assert_true(scale >= 200 && scale <= 200 * (1 + 1e-6));
    const tacit_loss spent = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.5, .count = 2};
    const double left = found(TACIT_BY_SUM, &pure, &spent, 1, 2, 0);
    assert_true(left <= 0.125 && left >= 0.125 * (1 - 1e-6));
}

static void shift_scales_the_noise(void **state)
{
    (void)state;
    tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                       .adjacency = TACIT_ADD_REMOVE,
                       .sampling = 0.02,
                       .shift = 1,
                       .count = 500};
    const double one = found(TACIT_BY_RDP, &loss, NULL, 0, 2, 1e-5);
    for (double size = 1e-12; size < 1e13; size *= 1e6) {
        loss.shift = size;
        const double noise = found(TACIT_BY_RDP, &loss, NULL, 0, 2, 1e-5);
        assert_true(fabs(noise / size / one - 1) < 2e-6);
    }
}

/* ---- refusals ---- */

static void refused(tacit_accountant by, const tacit_loss *loss, const tacit_loss *spent,
                    double epsilon, double delta, tacit_status want, const char *word)
{
    tacit_error err = {0};
    double noise = 5;
    check_fails(
        tacit_account_calibrate(by, loss, spent, spent != NULL, epsilon, delta, &noise, &err), want,
        &err, word);
    assert_true(noise == 5); /* nothing is left behind */
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    const tacit_loss bell = {.kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 1, .count = 10};
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t k = 0; k < 4; k++)
        refused(TACIT_BY_GDP, &bell, NULL, bad[k], 1e-5, TACIT_EINPUT, "\"epsilon\"");
    refused(TACIT_BY_GDP, &bell, NULL, 1, NAN, TACIT_EINPUT, "\"delta\"");
    refused(TACIT_BY_GDP, &bell, NULL, 1, 1, TACIT_EINPUT, "\"delta\"");
    for (int by = 0; by < TACIT_ACCOUNTANTS; by++)
        refused((tacit_accountant)by, &bell, NULL, 1, 0, TACIT_EINPUT, "Laplace");
    refused(TACIT_ACCOUNTANTS, &bell, NULL, 1, 1e-5, TACIT_EINPUT, "accountant");

    tacit_loss loss = bell;
    loss.sampling = 0.5;
    refused(TACIT_BY_GDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "take one of rdp, pld");
    refused(TACIT_BY_SUM, &bell, NULL, 1, 1e-5, TACIT_EINPUT, "take one of zcdp, gdp, rdp, pld");
    loss.sampling = 2;
    refused(TACIT_BY_RDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "\"sampling\"");
    loss = bell, loss.shift = 0;
    refused(TACIT_BY_RDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "\"shift\"");
    loss = bell, loss.count = 0;
    refused(TACIT_BY_RDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "\"count\"");
    loss = bell, loss.delta = 1e-3;
    refused(TACIT_BY_RDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "\"delta\"");
    loss = bell, loss.kind = TACIT_LOSS_ZCDP;
    refused(TACIT_BY_RDP, &loss, NULL, 1, 1e-5, TACIT_EINPUT, "no noise to calibrate");
    const tacit_loss lap = {.kind = TACIT_LOSS_LAPLACE, .sampling = 1, .shift = 1, .count = 3};
    refused(TACIT_BY_ZCDP, &lap, NULL, 1, 0, TACIT_EINPUT, "zcdp");
    const tacit_loss rare = {.kind = TACIT_LOSS_GAUSSIAN,
                             .adjacency = TACIT_ADD_REMOVE,
                             .sampling = 1e-4,
                             .shift = 1,
                             .count = 1};
    for (int by = 0; by < TACIT_ACCOUNTANTS; by++)
        refused((tacit_accountant)by, &rare, NULL, 20, 0.1, TACIT_EINPUT, "without any noise");
}

static void spent_budgets_are_refused(void **state)
{
    (void)state;
    const tacit_loss pure = {.kind = TACIT_LOSS_PURE, .sampling = 1, .count = 3};
    tacit_loss spent = {.kind = TACIT_LOSS_PURE, .sampling = 1, .epsilon = 0.5, .count = 5};
    refused(TACIT_BY_SUM, &pure, &spent, 2, 1e-5, TACIT_EBUDGET, "2.5 was spent");
    refused(TACIT_BY_SUM, &pure, &spent, 2.5, 1e-5, TACIT_EBUDGET, "after what was spent");
    spent.kind = TACIT_LOSS_BARE;
    refused(TACIT_BY_RDP, &pure, &spent, 2, 1e-5, TACIT_EBUDGET, "inf was spent");
    const tacit_loss bell = {
        .kind = TACIT_LOSS_GAUSSIAN, .sampling = 1, .shift = 1, .noise = 9, .count = 10};
    refused(TACIT_BY_SUM, &pure, &bell, 2, 1e-5, TACIT_EINPUT, "spent before");
    spent = bell, spent.noise = -1;
    refused(TACIT_BY_RDP, &pure, &spent, 2, 1e-5, TACIT_EINPUT, "\"noise\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_sigmas_are_met),
        cmocka_unit_test(every_accountant_keeps_both_promises),
        cmocka_unit_test(the_distribution_of_losses_keeps_them_too),
        cmocka_unit_test(sums_are_divided),
        cmocka_unit_test(shift_scales_the_noise),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(spent_budgets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
