/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger that survives: what is committed is there after opening again, nothing is told over
 * budget, permits end as they should, ids never come twice, keys and ledgers belong together.
 * Edits are in ledger_edit_test, crashes in ledger_crash_test, failing disks in ledger_disk_test.
 */
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "privacy/release.h"
#include "testing.h"

/* ---- what comes back ---- */

typedef struct seen {
    tacit_ledger_record record[8];
    tacit_cost cost[8];
    char what[8][32];
    size_t count;
} seen;

static tacit_status see(void *context, const tacit_ledger_record *record, tacit_error *err)
{
    (void)err;
    seen *s = context;
    assert_in_range(s->count, 0, 7);
    s->record[s->count] = *record;
    s->cost[s->count] = *record->cost;
    snprintf(s->what[s->count], sizeof s->what[0], "%s", record->cost->what);
    s->count++;
    return TACIT_OK;
}

static void test_what_was_committed_comes_back(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("back", INFINITY);
    tacit_cost costs[] = {ledger_cost("gradient", 0.25),
                          {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                           .norm = TACIT_L2,
                           .adjacency = TACIT_ADD_REMOVE,
                           .grid = -20,
                           .coordinates = 12345678901,
                           .sensitivity = 0.5,
                           .noise = 64,
                           .sampling = 0x1p-7,
                           .what = "momentum"}};
    uint64_t id[3], pending[4];
    costs[0].adjacency = TACIT_ADD_REMOVE;
    check_ok(commit_text(file, &costs[0], 10, "one", &id[0], &err), &err);
    check_ok(commit_text(file, &costs[1], 11, "", &id[1], &err), &err);
    check_ok(commit_text(file, &costs[0], 12, "three", &id[2], &err), &err);
    assert_true(id[0] < id[1] && id[1] < id[2]);
    check_ok(tacit_ledger_file_mark_sent(file, id[1], &err), &err);
    check_ok(tacit_ledger_file_close(file, 13, &err), &err);

    file = reopen_ledger("back");
    assert_string_equal(tacit_ledger_file_holder(file)->name, "alice");
    assert_true(isinf(tacit_ledger_file_holder(file)->budget.epsilon));
    assert_int_equal(tacit_ledger_file_holder(file)->agent, 7);
    seen s = {.count = 0};
    check_ok(tacit_ledger_file_each(file, see, &s, &err), &err);
    assert_int_equal(s.count, 3);
    for (size_t k = 0; k < 3; k++) {
        const tacit_cost *want = &costs[k == 1], *got = &s.cost[k];
        assert_int_equal(s.record[k].entry, k + 1);
        assert_int_equal(s.record[k].release, id[k]);
        assert_true(s.record[k].reserved == 10 + (double)k);
        assert_true(s.record[k].committed == 10.5 + (double)k);
        assert_false(s.record[k].forfeited);
        assert_string_equal(s.what[k], want->what);
        assert_true(got->mechanism == want->mechanism && got->norm == want->norm &&
                    got->unit == want->unit && got->adjacency == want->adjacency &&
                    got->grid == want->grid && got->coordinates == want->coordinates &&
                    got->sensitivity == want->sensitivity && got->noise == want->noise &&
                    got->sampling == want->sampling);
    }
    assert_int_equal(s.record[0].bytes, 3);
    assert_int_equal(tacit_ledger_file_pending(file, pending, 4), 2);
    assert_true(pending[0] == id[0] && pending[1] == id[2]);
    check_bytes(file, id[0], "one");
    check_bytes(file, id[2], "three");
    void *bytes;
    size_t len;
    check_fails(tacit_ledger_file_fetch(file, id[1], &bytes, &len, &err), TACIT_EUSAGE, &err,
                "not pending");
    check_ok(tacit_ledger_file_close(file, 20, &err), &err);
}

static void test_odometer(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("odometer", INFINITY);
    const tacit_cost a = ledger_cost("a", 0.03125), b = ledger_cost("b", 0.0625),
                     bare = {.what = "bare"};
    uint64_t id;
    double epsilon;
    check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
    assert_true(epsilon == 0);
    for (int k = 0; k < 100; k++)
        check_ok(commit_text(file, k % 2 ? &a : &b, k, "x", &id, &err), &err);
    for (int again = 0; again < 2; again++) {
        check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
        assert_float_equal(epsilon, 50 * 0.03125 + 50 * 0.0625, 1e-12);
        double smaller, larger;
        check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_KOV, 1e-3, &smaller, &err), &err);
        check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_KOV, 1e-9, &larger, &err), &err);
        assert_true(smaller < larger && larger < epsilon);
        assert_int_equal(tacit_ledger_file_ledger(file)->count, 2); /* whatever their order */
        check_ok(tacit_ledger_file_close(file, 20, &err), &err);
        file = reopen_ledger("odometer");
    }
    check_fails(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, NAN, &epsilon, &err), TACIT_EINPUT,
                &err, "delta");
    check_ok(commit_text(file, &bare, 30, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
    assert_true(isinf(epsilon));
    check_ok(tacit_ledger_file_close(file, 31, &err), &err);
}

/* ---- budget and permits ---- */

static void test_over_budget_is_refused_and_leaves_nothing(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("budget", 1.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25), small = ledger_cost("count", 0.125),
                     bare = {.what = "bare"};
    tacit_permit *permit;
    uint64_t id;
    for (int k = 0; k < 3; k++)
        check_ok(commit_text(file, &cost, k, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 4, &permit, &err), &err); /* outstanding */
    for (int again = 0; again < 2; again++) {
        tacit_permit *refused;
        check_fails(tacit_ledger_file_reserve(file, &cost, 5, &refused, &err), TACIT_EBUDGET, &err,
                    "gradient");
        assert_non_null(strstr(err.text, "agent 7 \"")); /* whose, and where */
        assert_non_null(strstr(err.text, "ledger \"budget"));
        assert_null(refused);
        check_fails(tacit_ledger_file_reserve(file, &small, 5, &refused, &err), TACIT_EBUDGET, &err,
                    "count");
        check_fails(tacit_ledger_file_reserve(file, &bare, 5, &refused, &err), TACIT_EBUDGET, &err,
                    "bare");
    }
    assert_int_equal(ledger_rows("budget", "entry"), -1); /* locked while it is open */
    check_ok(tacit_ledger_file_give_back(file, permit, &err), &err);
    check_ok(tacit_ledger_file_close(file, 6, &err), &err);
    assert_int_equal(ledger_rows("budget", "entry"), 3);
    assert_int_equal(ledger_rows("budget", "outbox"), 3);

    file = reopen_ledger("budget");
    check_ok(commit_text(file, &cost, 7, "x", &id, &err), &err);
    check_fails(tacit_ledger_file_reserve(file, &small, 8, &permit, &err), TACIT_EBUDGET, &err,
                "count");
    check_ok(tacit_ledger_file_close(file, 9, &err), &err);
    assert_int_equal(ledger_rows("budget", "entry"), 4);
}

/* "tacit ledger show" of a peer: an epsilon is never told alone. */
static void test_shown_epsilon_says_of_what(void **state)
{
    (void)state;
    const char *program = getenv("TACIT"); /* not there in builds without it */
    if (!program)
        return;
    static const char *const words[] = {"epsilon 0 of 1 at delta 0 (of what unit",
                                        "epsilon 0.25 of 1 at delta 0 for one record (adjacency "
                                        "replace), by sum against whom adversary \"local\", that"};
    tacit_error err = {0};
    const tacit_ledger_holder holder = test_holder(1);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    for (int spoke = 0; spoke < 2; spoke++) {
        tacit_ledger_file *file;
        uint64_t id;
        char command[600], shown[2000] = "";
        check_ok(tacit_ledger_file_at(&file, "shown", &holder, &err), &err);
        if (spoke)
            check_ok(commit_text(file, &cost, 1, "x", &id, &err), &err);
        check_ok(tacit_ledger_file_close(file, 2, &err), &err);
        snprintf(command, sizeof command, "'%s' ledger show shown | tr -s ' \\n' ' '", program);
        FILE *pipe = popen(command, "r");
        assert_non_null(pipe);
        shown[fread(shown, 1, sizeof shown - 1, pipe)] = '\0';
        assert_int_equal(pclose(pipe), 0);
        if (!strstr(shown, words[spoke]))
            fail_msg("no \"%s\" in: %s", words[spoke], shown);
    }
}

static void test_permits(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("permits", INFINITY);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    tacit_permit *a, *b, *c;
    uint64_t first, second;
    check_ok(tacit_ledger_file_reserve(file, &cost, 0, &a, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 1, &b, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 2, &c, &err), &err);
    b->state = TACIT_PERMIT_TOUCHED; /* as a kernel would */
    check_fails(tacit_ledger_file_give_back(file, b, &err), TACIT_EUSAGE, &err, "touched");
    check_ok(tacit_ledger_file_commit(file, c, "c", 1, 3, &first, &err), &err);
    check_ok(tacit_ledger_file_give_back(file, a, &err), &err);
    check_fails(tacit_ledger_file_commit(file, a, "a", 1, 4, &second, &err), TACIT_EUSAGE, &err,
                "permit");
    check_fails(tacit_ledger_file_commit(file, c, "c", 1, 4, &second, &err), TACIT_EUSAGE, &err,
                "permit");
    check_ok(tacit_ledger_file_commit(file, b, "b", 1, 5, &second, &err), &err);
    assert_true(first != second);
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 2);
    check_ok(tacit_ledger_file_close(file, 6, &err), &err);
    assert_int_equal(ledger_rows("permits", "entry"), 2);
}

/* Closed with a touched permit: charged, nothing to send. With an untouched one: not. */
static void test_touched_permits_are_forfeited(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("forfeit", 1.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    tacit_permit *touched, *untouched;
    double epsilon;
    check_ok(tacit_ledger_file_reserve(file, &cost, 0, &touched, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 1, &untouched, &err), &err);
    touched->state = TACIT_PERMIT_TOUCHED;
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);
    file = reopen_ledger("forfeit");
    seen s = {.count = 0};
    check_ok(tacit_ledger_file_each(file, see, &s, &err), &err);
    assert_int_equal(s.count, 1);
    assert_true(s.record[0].forfeited);
    assert_int_equal(tacit_ledger_file_pending(file, NULL, 0), 0);
    check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
    assert_float_equal(epsilon, 0.25, 1e-12);
    check_ok(tacit_ledger_file_close(file, 3, &err), &err);
}

/* The whole road: reserve, bound, noise, commit; and what was touched stays charged. */
static void test_a_release_under_a_files_permit(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("road", 1.0);
    tacit_random keys;
    tacit_scratch *scratch = tacit_scratch_create();
    tacit_cost cost = {.mechanism = TACIT_MECHANISM_LAPLACE, .what = "records"};
    check_ok(tacit_cost_count(&cost, 4, &err), &err);
    tacit_random_init(&keys, 1);
    for (int k = 0; k < 2; k++) {
        tacit_permit *permit;
        tacit_bounded *bounded;
        tacit_public *out;
        uint64_t id;
        check_ok(tacit_ledger_file_reserve(file, &cost, k, &permit, &err), &err);
        check_ok(tacit_bound_count(permit, (tacit_private_metric){20}, scratch, &bounded, &err),
                 &err);
        check_fails(tacit_ledger_file_give_back(file, permit, &err), TACIT_EUSAGE, &err, "touched");
        check_ok(tacit_mechanism_apply(permit, bounded, &(tacit_noise_source){&keys, 7, NULL}, &out,
                                       &err),
                 &err);
        if (k == 1)
            break; /* never committed */
        const int64_t word = tacit_public_get_int(out, 0, 0);
        check_ok(tacit_ledger_file_commit(file, permit, &word, sizeof word, k, &id, &err), &err);
    }
    check_ok(tacit_ledger_file_close(file, 3, &err), &err);
    tacit_scratch_free(scratch);
    file = reopen_ledger("road");
    double epsilon;
    check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
    assert_float_equal(epsilon, 2 * cost.sensitivity / cost.noise, 1e-12);
    assert_int_equal(tacit_ledger_file_pending(file, NULL, 0), 1);
    check_ok(tacit_ledger_file_close(file, 4, &err), &err);
}

static void test_what_does_not_add_up_is_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("kinds", INFINITY);
    const tacit_cost good = ledger_cost("gradient", 0.25);
    tacit_cost user = good, added = good;
    tacit_permit *permit;
    uint64_t id;
    user.unit = TACIT_UNIT_USER;
    added.adjacency = TACIT_ADD_REMOVE;
    check_ok(tacit_ledger_file_reserve(file, &user, 0, &permit, &err), &err);
    check_fails(commit_text(file, &good, 0, "x", &id, &err), TACIT_EUSAGE, &err, "add up");
    check_ok(tacit_ledger_file_give_back(file, permit, &err), &err); /* as if it had not been */
    check_ok(commit_text(file, &good, 0, "x", &id, &err), &err);
    for (int again = 0; again < 2; again++) {
        check_fails(tacit_ledger_file_reserve(file, &user, 1, &permit, &err), TACIT_EUSAGE, &err,
                    "\"user\"");
        assert_null(permit);
        check_fails(tacit_ledger_file_reserve(file, &added, 1, &permit, &err), TACIT_EUSAGE, &err,
                    "\"add-remove\"");
        check_ok(commit_text(file, &good, 2, "x", &id, &err), &err);
        check_ok(tacit_ledger_file_close(file, 3, &err), &err);
        file = reopen_ledger("kinds");
    }
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 3);
    check_ok(tacit_ledger_file_close(file, 3, &err), &err);
}

/* A value is in hand and cannot be charged: whoever has it is told not to use it. */
static void test_closing_what_cannot_be_charged(void **state)
{
    (void)state;
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    for (int how = 0; how < 4; how++) {
        tacit_error err = {0};
        tacit_ledger_file *file = fresh_ledger("uncharged", 1.0);
        tacit_permit *permit;
        uint64_t id;
        check_ok(tacit_ledger_file_reserve(file, &cost, 0, &permit, &err), &err);
        if (how != 3)
            permit->state = TACIT_PERMIT_TOUCHED;
        if (how > 0)
            rename("uncharged", "away");
        if (how > 1)
            assert_int_not_equal(tacit_ledger_file_commit(file, permit, "x", 1, 1, &id, &err),
                                 TACIT_OK);
        const tacit_status status = tacit_ledger_file_close(file, how == 0 ? NAN : 2, &err);
        check_fails(status,
                    how == 0   ? TACIT_EUSAGE
                    : how == 1 ? TACIT_EVERIFY
                               : TACIT_EINPUT,
                    &err, "must not be used");
    }
}

static void test_nonsense_is_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("nonsense", INFINITY), *none;
    const tacit_cost good = ledger_cost("gradient", 0.25);
    tacit_permit *permit;
    tacit_cost bad[6];
    for (int k = 0; k < 6; k++)
        bad[k] = good;
    bad[0].noise = NAN;
    bad[1].noise = -1;
    bad[2].sensitivity = NAN;
    bad[3].sensitivity = 0.3; /* off the grid of whole numbers */
    bad[4].sampling = 0.5, bad[4].noise = 0;
    bad[5].what = NULL;
    for (int k = 0; k < 6; k++)
        assert_int_not_equal(tacit_ledger_file_reserve(file, &bad[k], 0, &permit, &err), TACIT_OK);
    check_fails(tacit_ledger_file_reserve(file, &good, NAN, &permit, &err), TACIT_EUSAGE, &err,
                "time");
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 0);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    const tacit_key key = test_key(1);
    tacit_ledger_holder holder = test_holder(1.0);
    holder.budget.epsilon = -1;
    check_fails(tacit_ledger_file_create(&none, "never", &key, &holder, &err), TACIT_EINPUT, &err,
                "epsilon");
    holder = test_holder(1.0);
    holder.budget.delta = NAN;
    check_fails(tacit_ledger_file_create(&none, "never", &key, &holder, &err), TACIT_EINPUT, &err,
                "delta");
    assert_int_not_equal(access("never", F_OK), 0);
    check_fails(tacit_ledger_file_open(&none, "never", &key, NULL, &err), TACIT_EINPUT, &err,
                "never");
}

/* ---- keys ---- */

static void test_key_files(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_key key, again;
    struct stat info;
    check_ok(tacit_key_create(&key, "k", &err), &err);
    assert_int_equal(stat("k", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    check_ok(tacit_key_read(&again, "k", &err), &err);
    assert_memory_equal(&key, &again, sizeof key);
    check_fails(tacit_key_create(&again, "k", &err), TACIT_EINPUT, &err, "exists");
    check_ok(tacit_key_create(&again, "k2", &err), &err);
    assert_memory_not_equal(&key, &again, sizeof key);
    static const mode_t open_to[] = {0640, 0604, 0620, 0601};
    for (size_t i = 0; i < 4; i++) {
        chmod("k", open_to[i]);
        check_fails(tacit_key_read(&again, "k", &err), TACIT_EINPUT, &err, "open to others");
    }
    write_all("short", "1234", 4);
    chmod("short", 0600);
    check_fails(tacit_key_read(&again, "short", &err), TACIT_EINPUT, &err, "4 bytes");
    check_fails(tacit_key_read(&again, "absent", &err), TACIT_EINPUT, &err, "absent");
    check_fails(tacit_key_read(&again, ".", &err), TACIT_EINPUT, &err, "regular");
}

/* ---- with the key beside it ---- */

static void test_a_ledger_and_its_key_belong_together(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_ledger_holder holder = test_holder(1.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    uint64_t id;
    check_ok(tacit_ledger_file_at(&file, "pair", &holder, &err), &err);
    check_ok(commit_text(file, &cost, 1, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);
    assert_int_not_equal(access("pair.key.new", F_OK), 0);
    check_ok(tacit_ledger_file_at(&file, "pair", &holder, &err), &err);
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);

    rename("pair.key", "elsewhere");
    check_fails(tacit_ledger_file_at(&file, "pair", &holder, &err), TACIT_EVERIFY, &err, "gone");
    assert_int_not_equal(access("pair.key", F_OK), 0); /* no new key for an old ledger */
    rename("elsewhere", "pair.key");
    rename("pair", "elsewhere");
    check_fails(tacit_ledger_file_at(&file, "pair", &holder, &err), TACIT_EVERIFY, &err, "forget");
    assert_int_not_equal(access("pair", F_OK), 0);
    rename("elsewhere", "pair");

    /* Interrupted while both were made: before the ledger, at its first byte, before the end. */
    tacit_key key;
    check_ok(tacit_key_create(&key, "half.key.new", &err), &err);
    check_ok(tacit_ledger_file_at(&file, "half", &holder, &err), &err);
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);
    check_ok(tacit_key_create(&key, "zero.key.new", &err), &err);
    write_all("zero", "", 0);
    check_ok(tacit_ledger_file_at(&file, "zero", &holder, &err), &err);
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);
    rename("pair.key", "pair.key.new");
    check_ok(tacit_ledger_file_at(&file, "pair", &holder, &err), &err);
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
    check_ok(tacit_ledger_file_close(file, 2, &err), &err);
    assert_int_equal(access("pair.key", F_OK), 0);
    /* A ledger emptied under its key is not an interrupted one. */
    write_all("pair", "", 0);
    check_fails(tacit_ledger_file_at(&file, "pair", &holder, &err), TACIT_EVERIFY, &err, "ledger");
    chmod("half.key", 0644);
    check_fails(tacit_ledger_file_at(&file, "half", &holder, &err), TACIT_EINPUT, &err, "others");
}

/* A crash while the key was written leaves a part of it. It has sealed nothing: away with it. But
 * not if there is a ledger, for then it was whole once. */
static void test_half_a_key(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_ledger_holder holder = test_holder(1.0);
    for (size_t len = 0; len < 32; len += 31) {
        write_all("part.key.new", "0123456789012345678901234567890", len);
        if (len)
            write_all("part", "", 0);
        check_ok(tacit_ledger_file_at(&file, "part", &holder, &err), &err);
        check_ok(tacit_ledger_file_close(file, 1, &err), &err);
        check_ok(tacit_ledger_file_at(&file, "part", &holder, &err), &err);
        check_ok(tacit_ledger_file_close(file, 1, &err), &err);
        assert_int_not_equal(access("part.key.new", F_OK), 0);
        if (!len) {
            unlink("part");
            unlink("part.key");
        }
    }
    size_t len;
    char *bytes = read_all("part", &len);
    unlink("part.key");
    write_all("part.key.new", "", 0);
    chmod("part.key.new", 0600);
    check_fails(tacit_ledger_file_at(&file, "part", &holder, &err), TACIT_EINPUT, &err, "0 bytes");
    check_same_bytes("part", bytes, len);
    free(bytes);
}

/* ---- one user ---- */

/* Another peer is about to make the ledger: it has the lock, half a key and an empty file. That
 * looks like the rest of a crash, and must be left alone. */
static void test_what_another_is_making_is_left_alone(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_ledger_holder holder = test_holder(1.0);
    const tacit_key key = test_key(1);
    struct stat before, after;
    const int lock = open("born.lock", O_RDWR | O_CREAT, 0600);
    assert_int_equal(flock(lock, LOCK_EX), 0);
    write_all("born.key.new", "half", 4);
    write_all("born", "", 0);
    stat("born", &before);
    check_fails(tacit_ledger_file_at(&file, "born", &holder, &err), TACIT_EINPUT, &err, "in use");
    check_fails(tacit_ledger_file_open(&file, "born", &key, NULL, &err), TACIT_EINPUT, &err,
                "in use");
    check_fails(tacit_ledger_file_look(&file, "born", &key, &err), TACIT_EINPUT, &err, "in use");
    check_fails(tacit_ledger_file_create(&file, "born", &key, &holder, &err), TACIT_EINPUT, &err,
                "in use");
    assert_int_equal(stat("born", &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    check_same_bytes("born.key.new", "half", 4);
    close(lock);
    check_fails(tacit_ledger_file_create(&file, "born", &key, &holder, &err), TACIT_EINPUT, &err,
                "exists");
    check_ok(tacit_ledger_file_at(&file, "born", &holder, &err), &err);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
}

/* Peers that start at the same time: one gets it, and what it tells is there afterwards. */
static void test_peers_that_start_at_once(void **state)
{
    (void)state;
    enum { PEERS = 3, ROUNDS = 30 };
    const tacit_ledger_holder holder = test_holder(100.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    for (int round = 0; round < ROUNDS; round++) {
        tacit_error err = {0};
        tacit_ledger_file *file;
        pid_t child[PEERS];
        int go[2], how;
        size_t told = 0;
        static const char *const ends[] = {"once", "once.key", "once.key.new", "once-journal"};
        for (size_t k = 0; k < 4; k++)
            unlink(ends[k]);
        assert_int_equal(pipe(go), 0);
        for (int k = 0; k < PEERS; k++) {
            child[k] = fork();
            if (child[k] == 0) {
                char c;
                uint64_t id;
                close(go[1]);
                if (read(go[0], &c, 1) != 0 || tacit_ledger_file_at(&file, "once", &holder, NULL))
                    _exit(1);
                _exit(commit_text(file, &cost, 0, "x", &id, NULL) ? 2 : 0); /* not closed */
            }
        }
        close(go[1]); /* all at once */
        for (int k = 0; k < PEERS; k++) {
            assert_int_equal(waitpid(child[k], &how, 0), child[k]);
            assert_true(WIFEXITED(how) && WEXITSTATUS(how) < 2);
            told += WEXITSTATUS(how) == 0;
        }
        close(go[0]);
        assert_true(told > 0);
        check_ok(tacit_ledger_file_at(&file, "once", &holder, &err), &err);
        assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), told);
        check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    }
}

/* A running peer whose file was taken away, or replaced by a copy, tells nothing more. */
static void test_a_file_that_was_moved(void **state)
{
    (void)state;
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    for (int how = 0; how < 3; how++) {
        tacit_error err = {0};
        tacit_ledger_file *file = fresh_ledger("moved", 100.0), *other;
        const tacit_key key = test_key(1);
        tacit_permit *permit;
        uint64_t id;
        size_t len;
        check_ok(commit_text(file, &cost, 0, "x", &id, &err), &err);
        check_ok(tacit_ledger_file_reserve(file, &cost, 1, &permit, &err), &err);
        rename("moved", "moved.old");
        if (how == 1)
            unlink("moved.old");
        if (how == 2) {
            char *bytes = read_all("moved.old", &len);
            write_all("moved", bytes, len);
            free(bytes);
            check_fails(tacit_ledger_file_open(&other, "moved", &key, NULL, &err), TACIT_EINPUT,
                        &err, "in use");
        }
        check_fails(tacit_ledger_file_commit(file, permit, "y", 1, 2, &id, &err), TACIT_EVERIFY,
                    &err, "moved");
        if (how == 0)
            rename("moved.old", "moved"); /* it stays refused until opened again */
        assert_int_not_equal(tacit_ledger_file_commit(file, permit, "y", 1, 2, &id, &err),
                             TACIT_OK);
        assert_int_not_equal(tacit_ledger_file_reserve(file, &cost, 3, &permit, &err), TACIT_OK);
        tacit_ledger_file_close(file, 4, NULL);
        if (how == 0) {
            file = reopen_ledger("moved");
            assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
            check_ok(tacit_ledger_file_close(file, 5, &err), &err);
        }
    }
}

static void test_others_are_locked_out(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("locked", 1.0), *second;
    const tacit_key key = test_key(1);
    check_fails(tacit_ledger_file_open(&second, "locked", &key, NULL, &err), TACIT_EINPUT, &err,
                "in use");
    const pid_t child = fork();
    if (child == 0) {
        tacit_ledger_file *mine;
        _exit((int)tacit_ledger_file_open(&mine, "locked", &key, NULL, NULL));
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), TACIT_EINPUT);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    file = reopen_ledger("locked");
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
}

/* A child has a copy of everything, and would spend the same budget a second time. */
static void test_a_forked_child_cannot_spend(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger("forked", 1.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    tacit_permit *permit, *touched;
    uint64_t id;
    check_ok(commit_text(file, &cost, 0, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 1, &permit, &err), &err);
    check_ok(tacit_ledger_file_reserve(file, &cost, 1, &touched, &err), &err);
    touched->state = TACIT_PERMIT_TOUCHED;
    const pid_t child = fork();
    if (child == 0) {
        tacit_permit *more;
        uint64_t mine;
        int wrong = tacit_ledger_file_reserve(file, &cost, 2, &more, NULL) != TACIT_EUSAGE;
        wrong |= (tacit_ledger_file_commit(file, permit, "y", 1, 2, &mine, NULL) != TACIT_EUSAGE)
                 << 1;
        wrong |= (tacit_ledger_file_mark_sent(file, id, NULL) != TACIT_EUSAGE) << 2;
        wrong |= (tacit_ledger_file_close(file, 2, NULL) != TACIT_EUSAGE) << 3;
        _exit(wrong);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    /* The parent goes on undisturbed, and is still the only one. */
    tacit_ledger_file *second;
    const tacit_key key = test_key(1);
    check_fails(tacit_ledger_file_open(&second, "forked", &key, NULL, &err), TACIT_EINPUT, &err,
                "in use");
    check_ok(tacit_ledger_file_commit(file, permit, "y", 1, 3, &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 4, &err), &err);
    assert_int_equal(ledger_rows("forked", "entry"), 3);
}

/* ---- ids ---- */

/* A child reserves and dies; nothing was told, and yet its ids do not come again: its noise was
 * drawn by them. */
static void test_ids_are_never_given_twice(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    const tacit_key key = test_key(1);
    check_ok(tacit_ledger_file_close(fresh_ledger("ids", INFINITY), 0, &err), &err);
    uint64_t last = 0;
    for (int crash = 0; crash < 5; crash++) {
        int ends[2];
        uint64_t id = 0;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) {
            tacit_ledger_file *file;
            tacit_permit *permit = NULL;
            if (tacit_ledger_file_open(&file, "ids", &key, NULL, NULL) ||
                tacit_ledger_file_reserve(file, &cost, 0, &permit, NULL))
                _exit(1);
            _exit(write(ends[1], &permit->id, sizeof permit->id) != sizeof permit->id);
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], &id, sizeof id), sizeof id);
        close(ends[0]);
        waitpid(child, NULL, 0);
        assert_true(id > last);
        last = id;
    }
    tacit_ledger_file *file = reopen_ledger("ids");
    uint64_t id;
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 0);
    for (int k = 0; k < 3000; k++) { /* past what is set aside at a time */
        tacit_permit *permit;
        check_ok(tacit_ledger_file_reserve(file, &cost, 0, &permit, &err), &err);
        assert_true(permit->id > last);
        last = permit->id;
        check_ok(tacit_ledger_file_give_back(file, permit, &err), &err);
    }
    check_ok(commit_text(file, &cost, 0, "x", &id, &err), &err);
    assert_true(id > last);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    file = reopen_ledger("ids");
    check_ok(commit_text(file, &cost, 0, "x", &last, &err), &err);
    assert_int_equal(last, id + 1); /* closed in order: nothing is wasted */
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_committed_comes_back),
        cmocka_unit_test(test_odometer),
        cmocka_unit_test(test_over_budget_is_refused_and_leaves_nothing),
        cmocka_unit_test(test_shown_epsilon_says_of_what),
        cmocka_unit_test(test_permits),
        cmocka_unit_test(test_touched_permits_are_forfeited),
        cmocka_unit_test(test_a_release_under_a_files_permit),
        cmocka_unit_test(test_what_does_not_add_up_is_refused),
        cmocka_unit_test(test_closing_what_cannot_be_charged),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_key_files),
        cmocka_unit_test(test_a_ledger_and_its_key_belong_together),
        cmocka_unit_test(test_half_a_key),
        cmocka_unit_test(test_what_another_is_making_is_left_alone),
        cmocka_unit_test(test_peers_that_start_at_once),
        cmocka_unit_test(test_a_file_that_was_moved),
        cmocka_unit_test(test_others_are_locked_out),
        cmocka_unit_test(test_a_forked_child_cannot_spend),
        cmocka_unit_test(test_ids_are_never_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
