/* SPDX-License-Identifier: Apache-2.0 */
/* The lifetime ledger: whose records, how much, and what is refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "lifetime_tools.h"
#include "testing.h"

static const char path[] = "life";

/* One release of it is about epsilon 1 at 1e-5. */
static tacit_ledger_entry item_of(const tacit_cost *cost, uint64_t releases)
{
    return (tacit_ledger_entry){.cost = cost, .releases = releases};
}

static tacit_lifetime *fresh(double epsilon)
{
    tacit_error err = {0};
    remove_lifetime(path);
    tacit_lifetime *l = opened_lifetime(path);
    const tacit_lifetime_terms terms = life_terms(epsilon);
    if (epsilon > 0)
        check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    return l;
}

static tacit_lifetime *again(tacit_lifetime *l)
{
    tacit_lifetime_close(l);
    return opened_lifetime(path);
}

/* ---- the budget belongs to the records ---- */

static void test_a_second_run_does_not_start_from_zero(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(1.6);
    const tacit_cost cost = gaussian_cost("gradient", 40);
    const tacit_ledger_entry item = item_of(&cost, 100);
    tacit_lifetime_request first = life_request("patients", "run 1", &item);
    tacit_lifetime_request second = life_request("patients", "run 2", &item);
    tacit_lifetime_request third = life_request("patients", "run 3", &item);
    uint64_t id;
    life_reserve(l, &first);
    const double one = life_spent(l, "patients");
    assert_in_range((int)(1000 * one), 900, 1100);
    l = again(l);
    second.protocol = "average";
    life_reserve(l, &second);
    const double two = life_spent(l, "patients");
    assert_true(two > 1.2 * one && two < 1.9 * one); /* tighter than adding up */
    for (int k = 0; k < 2; k++) {
        third.nonce[0] = (uint8_t)(9 + k);
        size_t len;
        char *before = read_all(path, &len);
        check_fails(tacit_lifetime_reserve(l, &third, 2, &id, &err), TACIT_EBUDGET, &err,
                    "\"patients\" may spend epsilon = 1.6 at delta = 1e-05 in its life");
        check_same_bytes(path, before, len); /* nothing was written */
        free(before);
        assert_true(life_spent(l, "patients") == two);
        l = again(l);
    }
    tacit_lifetime_close(l);
}

/* The filter of the set over all costs is what is counted, whatever way they came. */
static void test_spent_is_the_filter_over_all_entries(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(50);
    const tacit_cost a = gaussian_cost("gradient", 40), b = ledger_cost("count", 0.25);
    const tacit_ledger_entry items[] = {item_of(&a, 30), item_of(&b, 2)};
    tacit_loss loss[3];
    const tacit_lifetime_terms terms = life_terms(50);
    double want, found;
    for (int k = 0; k < 2; k++) {
        tacit_lifetime_request r = life_request("patients", k ? "two" : "one", items);
        r.plan.count = 2;
        life_reserve(l, &r);
    }
    tacit_cost_loss(&a, 60, &loss[0]);
    tacit_cost_loss(&b, 4, &loss[1]);
    check_ok(tacit_filter_epsilon(&terms, loss, 2, &want, &err), &err);
    assert_float_equal(life_spent(l, "patients"), want, 1e-12);
    tacit_lifetime_view *view;
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    assert_int_equal(view->count, 1);
    const tacit_lifetime_dataset *set = &view->sets[0];
    assert_int_equal(set->count, 2);
    assert_string_equal(set->entries[1].run, "two");
    assert_string_equal(set->entries[0].protocol, "cd");
    assert_true(set->by_owner && set->entries[0].state == TACIT_LIFETIME_RESERVED);
    for (int by = TACIT_BY_RDP; by <= TACIT_BY_PLD; by++) {
        check_ok(tacit_account_epsilon((tacit_accountant)by, loss, 2, 1e-5, &want, &err), &err);
        check_ok(tacit_lifetime_epsilon(set, NULL, (tacit_accountant)by, 1e-5, &found, &err), &err);
        assert_float_equal(found, want, 1e-9);
    }
    /* What if: one more run of the first kind. */
    loss[0].count = 90;
    const tacit_lifetime_plan more = {.items = items, .count = 1, .epsilon = 1, .delta = 1e-5};
    check_ok(tacit_filter_epsilon(&terms, loss, 2, &want, &err), &err);
    check_ok(tacit_lifetime_spent(set, &more, &found, &err), &err);
    assert_float_equal(found, want, 1e-12);
    check_ok(tacit_lifetime_alone(&terms, &more, TACIT_BY_GDP, 1e-5, &found, &err), &err);
    loss[0].count = 30;
    check_ok(tacit_account_epsilon(TACIT_BY_GDP, loss, 1, 1e-5, &want, &err), &err);
    assert_float_equal(found, want, 1e-12);
    tacit_lifetime_view_free(view);
    tacit_lifetime_close(l);
}

/* ---- once ---- */

static void test_the_same_run_is_charged_once(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(3);
    const tacit_cost cost = gaussian_cost("gradient", 40);
    const tacit_ledger_entry item = item_of(&cost, 100), other = item_of(&cost, 99);
    tacit_lifetime_request r = life_request("patients", "run", &item);
    const uint64_t id = life_reserve(l, &r);
    const double one = life_spent(l, "patients");
    l = again(l);
    assert_int_equal(life_reserve(l, &r), id); /* as after a crash */
    assert_true(life_spent(l, "patients") == one);
    r.plan.items = &other;
    uint64_t more;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EINPUT, &err, "another plan");
    r.plan.items = &item;
    r.nonce[3] = 1; /* its own ledger was lost */
    assert_int_not_equal(life_reserve(l, &r), id);
    assert_true(life_spent(l, "patients") > 1.2 * one);
    r.agent = 8;
    assert_int_not_equal(life_reserve(l, &r), id);
    tacit_lifetime_close(l);
}

static void test_what_is_unused_returns_at_a_clean_end(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(2);
    const tacit_cost cost = gaussian_cost("gradient", 40), rare = gaussian_cost("rare", 80);
    const tacit_ledger_entry item = item_of(&cost, 300), used = item_of(&cost, 100);
    tacit_lifetime_request r = life_request("patients", "run", &item);
    tacit_lifetime_request next = life_request("patients", "next", &used);
    uint64_t id = life_reserve(l, &r), more;
    check_fails(tacit_lifetime_reserve(l, &next, 2, &more, &err), TACIT_EBUDGET, &err, "patients");
    check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 3, &err), &err);
    assert_in_range((int)(1000 * life_spent(l, "patients")), 900, 1100);
    check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 3, &err), &err); /* twice is fine */
    check_fails(tacit_lifetime_settle(l, 99, NULL, 0, 0, 3, &err), TACIT_EUSAGE, &err, "99");
    life_reserve(l, &next);
    /* The first run goes on: its whole plan would count again, and does not fit any more. */
    check_fails(tacit_lifetime_reserve(l, &r, 4, &more, &err), TACIT_EBUDGET, &err, "patients");
    tacit_lifetime_close(l);
    l = fresh(2);
    id = life_reserve(l, &r);
    check_ok(tacit_lifetime_settle(l, id, NULL, 0, 0, 3, &err), &err); /* nothing was released */
    assert_true(life_spent(l, "patients") == 0);
    assert_int_equal(life_reserve(l, &r), id); /* it goes on */
    const double whole = life_spent(l, "patients");
    assert_true(whole > 1);
    /* Other costs than planned, but no more of anything. */
    const tacit_ledger_entry gentle = item_of(&rare, 300);
    check_ok(tacit_lifetime_settle(l, id, &gentle, 1, 0, 5, &err), &err);
    assert_true(life_spent(l, "patients") < whole);
    tacit_lifetime_close(l);
}

static void test_more_than_planned_is_charged_and_told(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_cost cost = gaussian_cost("gradient", 40);
    const tacit_ledger_entry item = item_of(&cost, 100), used = item_of(&cost, 101);
    for (int risky = 0; risky < 2; risky++) {
        tacit_lifetime *l = fresh(2);
        tacit_lifetime_request r = life_request("patients", "run", &item);
        r.plan.risk = 1e-7;
        const uint64_t id = life_reserve(l, &r);
        const double one = life_spent(l, "patients");
        for (int k = 0; k < 2; k++)
            check_fails(
                tacit_lifetime_settle(l, id, risky ? &item : &used, 1, risky ? 2e-7 : 0, 3, &err),
                TACIT_EBUDGET, &err, "more than it had reserved");
        assert_true(life_spent(l, "patients") > 1.3 * one);
        uint64_t again_id;
        check_fails(tacit_lifetime_reserve(l, &r, 4, &again_id, &err), TACIT_EBUDGET, &err,
                    "may not go on");
        tacit_lifetime_view *view;
        check_ok(tacit_lifetime_read(l, &view, &err), &err);
        assert_int_equal(view->sets[0].entries[0].state, TACIT_LIFETIME_OVERRUN);
        assert_int_equal(view->sets[0].entries[0].plan.count, 2);
        tacit_lifetime_view_free(view);
        tacit_lifetime_close(l);
    }
}

/* A copy of the run's folder from before its last releases has the same nonce: what the other copy
 * has settled stays charged, whether the run was opened again or not. */
static void test_an_older_copy_returns_nothing(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_cost cost = gaussian_cost("gradient", 40), small = gaussian_cost("rare", 400);
    const tacit_ledger_entry item = item_of(&cost, 100), used = item_of(&cost, 60),
                             less = item_of(&cost, 10), more = item_of(&cost, 70),
                             other = item_of(&small, 80);
    const tacit_ledger_entry *const copies[] = {&less, &other, NULL, &more};
    for (int k = 0; k < 8; k++) {
        const tacit_ledger_entry *copy = copies[k / 2];
        const bool reopened = k % 2;
        tacit_lifetime *l = fresh(9);
        tacit_lifetime_request r = life_request("patients", "run", &item);
        const uint64_t id = life_reserve(l, &r);
        check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 2, &err), &err);
        const double before = life_spent(l, "patients");
        if (reopened)
            assert_int_equal(life_reserve(l, &r), id);
        if (reopened && copy == &more) /* the same folder, and it went on */
            check_ok(tacit_lifetime_settle(l, id, copy, 1, 0, 3, &err), &err);
        else
            check_fails(tacit_lifetime_settle(l, id, copy, copy != NULL, 0, 3, &err), TACIT_EBUDGET,
                        &err, "an older copy");
        assert_true(life_spent(l, "patients") > before);
        tacit_lifetime_close(l);
    }
}

/* Nor does it of a block that stayed, since it needs less room than what was released. */
static void test_an_older_copy_of_a_block(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_cost cost = gaussian_cost("gradient", 60), small = gaussian_cost("gradient", 400);
    const tacit_ledger_entry used = item_of(&cost, 100), less = item_of(&small, 10);
    tacit_lifetime *l = fresh(1.75);
    tacit_loss loss;
    tacit_lifetime_request r = life_request("patients", "run", NULL);
    r.plan.block = true;
    r.plan.delta = 0;
    life_reserve(l, &r);
    r.run = "other";
    r.plan.delta = 4e-6;
    tacit_cost_loss(&cost, 100, &loss);
    check_ok(tacit_account_epsilon(TACIT_BY_PLD, &loss, 1, 4e-6, &r.plan.epsilon, &err), &err);
    const uint64_t id = life_reserve(l, &r);
    const double spent = life_spent(l, "patients");
    assert_float_equal(spent, 1 + r.plan.epsilon, 1e-9);
    check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 2, &err), &err);
    assert_float_equal(life_spent(l, "patients"), spent, 0);
    assert_int_equal(life_reserve(l, &r), id);
    check_ok(tacit_lifetime_settle(l, id, &less, 1, 0, 3, &err), &err);
    assert_float_equal(life_spent(l, "patients"), spent, 0);
    tacit_lifetime_close(l);
}

/* ---- blocks and risks ---- */

static void test_blocks(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(2);
    const tacit_cost cost = gaussian_cost("gradient", 60), small = gaussian_cost("gradient", 400);
    const tacit_ledger_entry used = item_of(&cost, 100), little = item_of(&small, 10);
    tacit_lifetime_request r = life_request("patients", "run", NULL);
    uint64_t id, more;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EUSAGE, &err, "spends nothing");
    r.plan.block = true;
    r.plan.delta = 5.1e-6; /* half of 1e-5 is for them */
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EBUDGET, &err, "5e-06");
    r.plan.delta = 3e-6;
    id = life_reserve(l, &r);
    assert_float_equal(life_spent(l, "patients"), 1, 1e-9);
    r.run = "other";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EBUDGET, &err, "5e-06");
    r.plan.delta = 0;
    life_reserve(l, &r);
    assert_float_equal(life_spent(l, "patients"), 2, 1e-9);
    /* What was released is less than the block: it takes its place. */
    check_ok(tacit_lifetime_settle(l, id, &little, 1, 0, 3, &err), &err);
    assert_true(life_spent(l, "patients") < 1.5);
    tacit_lifetime_close(l);
    l = fresh(2);
    r.plan.delta = 1e-6;
    id = life_reserve(l, &r);
    check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 3, &err), &err);
    const double spent = life_spent(l, "patients");
    assert_true(spent > 0.3 && spent < 1);
    tacit_lifetime_close(l);
    l = fresh(2);
    id = life_reserve(l, &r);
    const tacit_ledger_entry over = item_of(&cost, 1000);
    check_fails(tacit_lifetime_settle(l, id, &over, 1, 0, 3, &err), TACIT_EBUDGET, &err, "more");
    tacit_lifetime_close(l);
}

/* A run may use its block up to the last digit, by the accountant of its own ledger. */
static void test_blocks_used_up(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int by = TACIT_BY_ZCDP; by <= TACIT_BY_PLD; by++) {
        tacit_lifetime *l = fresh(2);
        const tacit_cost cost = gaussian_cost("gradient", 60);
        const tacit_ledger_entry used = item_of(&cost, 100);
        tacit_lifetime_request r = life_request("patients", "run", NULL);
        tacit_loss loss;
        tacit_cost_loss(&cost, 100, &loss);
        r.plan.block = true;
        r.plan.delta = 1e-6;
        check_ok(tacit_account_epsilon((tacit_accountant)by, &loss, 1, 1e-6, &r.plan.epsilon, &err),
                 &err);
        const uint64_t id = life_reserve(l, &r);
        check_ok(tacit_lifetime_settle(l, id, &used, 1, 0, 3, &err), &err);
        tacit_lifetime_close(l);
    }
}

/* ---- records ---- */

static void test_shared_records_make_one_data_set(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(0);
    const tacit_cost cost = gaussian_cost("gradient", 100);
    const tacit_ledger_entry item = item_of(&cost, 100);
    const tacit_lifetime_terms terms = life_terms(3), less = life_terms(2);
    check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    check_ok(tacit_lifetime_set(l, "visits", &less, 0, &err), &err);
    tacit_lifetime_records *a = some_records(l, 0, 100), *b = some_records(l, 100, 50),
                           *bridge = some_records(l, 99, 2), *grown = some_records(l, 90, 15),
                           *none = some_records(l, 1000, 0), *last = some_records(l, 99, 1);
    tacit_lifetime_request r = life_request("patients", "1", &item);
    uint64_t id;
    r.records = a;
    life_reserve(l, &r);
    r = life_request("visits", "2", &item);
    r.records = b;
    life_reserve(l, &r);
    r.records = last;
    r.run = "3";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EINPUT, &err, "\"patients\"");
    r.name = "new words";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EINPUT, &err,
                "these records are of data set \"patients\" already");
    r.given = false; /* nobody gave a name: the records say which it is */
    life_reserve(l, &r);
    r.run = "4";
    r.records = bridge;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EINPUT, &err, "join");
    const double before = life_spent(l, "patients"), other = life_spent(l, "visits");
    check_ok(tacit_lifetime_join(l, "patients", "visits", 1, &err), &err);
    check_ok(tacit_lifetime_join(l, "patients", "visits", 1, &err), &err); /* they are */
    check_fails(tacit_lifetime_join(l, "patients", "nobody", 1, &err), TACIT_EINPUT, &err,
                "nobody");
    l = again(l);
    assert_true(life_spent(l, "patients") > fmax(before, other));
    assert_true(life_spent(l, "visits") == life_spent(l, "patients"));
    life_reserve(l, &r);
    r.run = "5";
    r.records = grown; /* known ones and new ones */
    life_reserve(l, &r);
    tacit_lifetime_view *view;
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    assert_int_equal(view->count, 1);
    assert_int_equal(view->sets[0].records, 150);
    assert_int_equal(view->sets[0].count, 5);
    assert_true(view->sets[0].terms.epsilon == 2);
    assert_null(tacit_lifetime_find(view, "new words"));
    tacit_lifetime_view_free(view);
    /* Without a name and without a record nobody would know it again: every run would be new. */
    r.records = none;
    r.run = "6";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EINPUT, &err, "node.data-set");
    r.records = NULL;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EUSAGE, &err, "nobody knows");
    tacit_lifetime_records_free(a);
    tacit_lifetime_records_free(b);
    tacit_lifetime_records_free(bridge);
    tacit_lifetime_records_free(grown);
    tacit_lifetime_records_free(none);
    tacit_lifetime_records_free(last);
    tacit_lifetime_close(l);
}

/* ---- who sets the budget ---- */

static void test_the_owner_sets_it_once(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(2);
    tacit_lifetime_terms terms = life_terms(2);
    check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    terms.epsilon = 3;
    check_fails(tacit_lifetime_set(l, "patients", &terms, 0, &err), TACIT_EINPUT, &err,
                "does not change");
    terms.epsilon = NAN;
    check_fails(tacit_lifetime_set(l, "others", &terms, 0, &err), TACIT_EINPUT, &err, "budget");
    tacit_lifetime_close(l);
}

static void test_the_first_run_sets_it_if_nobody_has(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(0);
    const tacit_cost cost = gaussian_cost("gradient", 37.3); /* (1, 1e-5) by pld */
    const tacit_ledger_entry item = item_of(&cost, 100);
    tacit_lifetime_request r = life_request("patients", "1", &item);
    tacit_lifetime_view *view;
    uint64_t id = life_reserve(l, &r), more;
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    const tacit_lifetime_terms got = view->sets[0].terms;
    assert_false(view->sets[0].by_owner);
    assert_true(got.epsilon >= 1 && got.epsilon < 1.05 && got.delta == 1e-5);
    tacit_lifetime_view_free(view);
    r.run = "2";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EBUDGET, &err,
                "set by its first run");
    check_ok(tacit_lifetime_settle(l, id, &item, 1, 0, 2, &err), &err);
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EBUDGET, &err, "first run");
    tacit_lifetime_terms terms = life_terms(2);
    check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    life_reserve(l, &r);
    terms.epsilon = 4;
    check_fails(tacit_lifetime_set(l, "patients", &terms, 0, &err), TACIT_EINPUT, &err, "change");
    /* A block alone, and one with risk. */
    r = life_request("blocks", "b1", NULL);
    r.plan.block = true;
    life_reserve(l, &r);
    assert_float_equal(life_spent(l, "blocks"), 1, 1e-9);
    r.run = "b2";
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EBUDGET, &err, "first run");
    r = life_request("blocks", "b3", &item); /* of another kind */
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EBUDGET, &err, "first run");
    r.plan.block = true;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EUSAGE, &err, "not both");
    r = life_request("risky", "r1", &item);
    r.plan.risk = 0.5e-5;
    life_reserve(l, &r);
    r = life_request("risky blocks", "rb1", NULL);
    r.plan.block = true;
    r.plan.risk = 0.5e-5;
    life_reserve(l, &r);
    r = life_request("too risky", "tr1", &item);
    r.plan.risk = 1e-5;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &more, &err), TACIT_EINPUT, &err, "risk");
    tacit_lifetime_close(l);
}

static void test_bare_releases(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(100);
    const tacit_cost bare = {.what = "model", .sensitivity = INFINITY},
                     claim = {.what = "x", .claimed = true, .mechanism = TACIT_MECHANISM_LAPLACE};
    const tacit_ledger_entry item = item_of(&bare, 1), claims = item_of(&claim, 1);
    tacit_lifetime_request r = life_request("patients", "1", &item);
    uint64_t id;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EBUDGET, &err, "without noise");
    r.plan.items = &claims;
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EINPUT, &err, "claims");
    r = life_request("open", "1", &item); /* nobody has set a budget: it has none from now on */
    life_reserve(l, &r);
    assert_true(isinf(life_spent(l, "open")));
    r.run = "2";
    life_reserve(l, &r);
    l = again(l);
    assert_true(isinf(life_spent(l, "open")));
    tacit_lifetime_close(l);
}

/* ---- conversions ---- */

static tacit_status losses_of(tacit_unit unit, tacit_adjacency adjacency, tacit_cost cost,
                              tacit_loss *loss, tacit_error *err)
{
    const tacit_lifetime_terms terms = {
        .epsilon = 1, .delta = 1e-5, .unit = unit, .adjacency = adjacency};
    const tacit_ledger_entry item = item_of(&cost, 3);
    const tacit_lifetime_plan plan = {.items = &item, .count = 1, .delta = 1e-5};
    size_t count;
    tacit_loss all[3];
    tacit_status status = tacit_lifetime_losses(&terms, &plan, all, &count, err);
    *loss = all[0];
    return status;
}

static void test_conversions(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_loss loss, plain;
    tacit_cost cost = gaussian_cost("gradient", 40);
    cost.adjacency = TACIT_ADD_REMOVE;
    tacit_cost_loss(&cost, 3, &plain);
    /* One replacement is at most a removal and an addition. */
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_REPLACE, cost, &loss, &err), &err);
    assert_float_equal(loss.shift, 2 * plain.shift, 0);
    assert_int_equal(loss.adjacency, TACIT_REPLACE);
    assert_float_equal(loss.noise, plain.noise, 0);
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_ADD_REMOVE, cost, &loss, &err), &err);
    assert_float_equal(loss.shift, plain.shift, 0);
    /* Sampled: no more than two steps of add-remove, by the triangle at every order. */
    cost.sampling = 0.1;
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_REPLACE, cost, &loss, &err), &err);
    assert_true(loss.sampling == 0.1 && loss.shift == 2 * plain.shift);
    tacit_cost_loss(&cost, 3, &plain);
    for (double a = 1.5; a < 40; a *= 1.7)
        assert_true(tacit_loss_renyi(&loss, a) <=
                    (a - 0.5) / (a - 1) * tacit_loss_renyi(&plain, 2 * a) +
                        tacit_loss_renyi(&plain, 2 * a - 1));
    cost.sampling = 1;
    cost.unit = TACIT_UNIT_USER;
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_ADD_REMOVE, cost, &loss, &err), &err);
    assert_float_equal(loss.shift, 2 * plain.shift, 0);
    cost.adjacency = TACIT_REPLACE;
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_REPLACE, cost, &loss, &err), &err);
    assert_float_equal(loss.shift, plain.shift, 0);
    check_fails(losses_of(TACIT_UNIT_RECORD, TACIT_ADD_REMOVE, cost, &loss, &err), TACIT_EINPUT,
                &err, "nothing follows");
    cost.unit = TACIT_UNIT_RECORD;
    check_fails(losses_of(TACIT_UNIT_RECORD, TACIT_ADD_REMOVE, cost, &loss, &err), TACIT_EINPUT,
                &err, "nothing follows");
    check_fails(losses_of(TACIT_UNIT_USER, TACIT_REPLACE, cost, &loss, &err), TACIT_EINPUT, &err,
                "nothing follows");
    cost = (tacit_cost){.mechanism = TACIT_MECHANISM_RESPONSE,
                        .adjacency = TACIT_ADD_REMOVE,
                        .categories = 5,
                        .noise = 0.7,
                        .what = "choice"};
    check_ok(losses_of(TACIT_UNIT_RECORD, TACIT_REPLACE, cost, &loss, &err), &err);
    assert_int_equal(loss.kind, TACIT_LOSS_PURE);
    assert_float_equal(loss.epsilon, 1.4, 1e-12);
    const tacit_lifetime_terms terms = life_terms(1);
    const tacit_lifetime_plan block = {
        .block = true, .epsilon = 0.5, .delta = 1e-7, .adjacency = TACIT_ADD_REMOVE, .risk = 1e-9};
    tacit_loss both[2];
    size_t count;
    check_ok(tacit_lifetime_losses(&terms, &block, both, &count, &err), &err);
    assert_int_equal(count, 2);
    assert_float_equal(both[0].epsilon, 1, 1e-12);
    assert_float_equal(both[0].delta, 1e-7 * (1 + exp(0.5)), 1e-15);
    assert_float_equal(both[1].delta, 1e-9, 0);
}

/* ---- the file ---- */

static void test_key_and_ledger_belong_together(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(2);
    struct stat info;
    tacit_lifetime_close(l);
    assert_int_equal(stat("life.key", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat("life", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    rename("life.key", "kept.key");
    check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "is gone");
    check_fails(tacit_lifetime_look(&l, path, &err), TACIT_EVERIFY, &err, "is gone");
    rename("kept.key", "life.key");
    rename("life", "kept");
    check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "is gone");
    check_fails(tacit_lifetime_look(&l, path, &err), TACIT_EVERIFY, &err, "is gone");
    unlink("life.key");
    check_fails(tacit_lifetime_look(&l, path, &err), TACIT_EINPUT, &err, "no lifetime ledger");
    assert_int_not_equal(access(path, F_OK), 0);
    tacit_lifetime_close(opened_lifetime(path)); /* another one, with another key */
    rename("kept", "life");
    check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "another key");
    /* A run's ledger is none. */
    check_ok(tacit_ledger_file_close(fresh_ledger("run", 1), 0, &err), &err);
    rename("run", "life");
    check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "no ledger");
}

static void test_looking_changes_nothing(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l = fresh(2), *other;
    const tacit_cost cost = gaussian_cost("gradient", 40);
    const tacit_ledger_entry item = item_of(&cost, 1);
    tacit_lifetime_request r = life_request("patients", "1", &item);
    uint64_t id;
    check_ok(tacit_lifetime_look(&other, path, &err), &err);
    check_fails(tacit_lifetime_reserve(other, &r, 1, &id, &err), TACIT_EUSAGE, &err, "to look");
    life_reserve(l, &r); /* while the other is open */
    assert_true(life_spent(other, "patients") > 0);
    tacit_lifetime_close(other);
    /* A child has its own handle or none. */
    const pid_t child = fork();
    if (child == 0)
        _exit(tacit_lifetime_reserve(l, &r, 1, &id, NULL));
    int how;
    waitpid(child, &how, 0);
    assert_int_equal(WEXITSTATUS(how), TACIT_EUSAGE);
    /* Replaced while it is open. */
    rename("life", "moved");
    check_fails(tacit_lifetime_reserve(l, &r, 1, &id, &err), TACIT_EVERIFY, &err, "moved");
    tacit_lifetime_close(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_second_run_does_not_start_from_zero),
        cmocka_unit_test(test_spent_is_the_filter_over_all_entries),
        cmocka_unit_test(test_the_same_run_is_charged_once),
        cmocka_unit_test(test_what_is_unused_returns_at_a_clean_end),
        cmocka_unit_test(test_more_than_planned_is_charged_and_told),
        cmocka_unit_test(test_an_older_copy_returns_nothing),
        cmocka_unit_test(test_an_older_copy_of_a_block),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_blocks_used_up),
        cmocka_unit_test(test_shared_records_make_one_data_set),
        cmocka_unit_test(test_the_owner_sets_it_once),
        cmocka_unit_test(test_the_first_run_sets_it_if_nobody_has),
        cmocka_unit_test(test_bare_releases),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_key_and_ledger_belong_together),
        cmocka_unit_test(test_looking_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
