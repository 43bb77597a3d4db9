/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger that survives: what is committed is there after opening again, what was edited, cut
 * or moved is noticed and named, nothing is told over budget, and no failing disk makes it forget.
 */
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    const tacit_cost costs[] = {ledger_cost("gradient", 0.25),
                                {.mechanism = TACIT_MECHANISM_GAUSSIAN,
                                 .norm = TACIT_L2,
                                 .unit = TACIT_UNIT_USER,
                                 .adjacency = TACIT_ADD_REMOVE,
                                 .grid = -20,
                                 .coordinates = 12345678901,
                                 .sensitivity = 0.5,
                                 .noise = 64,
                                 .sampling = 0.01,
                                 .what = "momentum"}};
    uint64_t id[3], pending[4];
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

/* ---- edits ---- */

/* A ledger of five entries, two of them pending, closed; its bytes are kept. */
static char *five_entries(const char *name, size_t *len)
{
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger(name, 100.0);
    const tacit_cost a = ledger_cost("gradient", 0.25), b = ledger_cost("count", 0.5);
    uint64_t id;
    for (int k = 0; k < 5; k++) {
        char text[20];
        snprintf(text, sizeof text, "message %d", k);
        check_ok(commit_text(file, k == 2 ? &b : &a, k, text, &id, &err), &err);
        if (k != 1 && k != 3)
            check_ok(tacit_ledger_file_mark_sent(file, id, &err), &err);
    }
    check_ok(tacit_ledger_file_close(file, 9, &err), &err);
    return read_all(name, len);
}

static const struct {
    const char *sql, *says;
} edits[] = {
    {"UPDATE entry SET release=release+1 WHERE id=3", "entry 3"},
    {"UPDATE entry SET reserved=99 WHERE id=3", "entry 3"},
    {"UPDATE entry SET committed=99 WHERE id=3", "entry 3"},
    {"UPDATE entry SET forfeited=1 WHERE id=3", "entry 3"},
    {"UPDATE entry SET what='trifle' WHERE id=3", "entry 3"},
    {"UPDATE entry SET mechanism='gaussian' WHERE id=3", "entry 3"},
    {"UPDATE entry SET mechanism='magic' WHERE id=3", "entry 3"},
    {"UPDATE entry SET norm='l2' WHERE id=3", "entry 3"},
    {"UPDATE entry SET unit='user' WHERE id=3", "entry 3"},
    {"UPDATE entry SET adjacency='add-remove' WHERE id=3", "entry 3"},
    {"UPDATE entry SET adversary='central' WHERE id=3", "entry 3"},
    {"UPDATE entry SET sensitivity=0 WHERE id=3", "entry 3"},
    {"UPDATE entry SET noise=1e6 WHERE id=3", "entry 3"},
    {"UPDATE entry SET grid=1 WHERE id=3", "entry 3"},
    {"UPDATE entry SET coordinates=7 WHERE id=3", "entry 3"},
    {"UPDATE entry SET sampling=0.5 WHERE id=3", "entry 3"},
    {"UPDATE entry SET categories=2 WHERE id=3", "entry 3"},
    {"UPDATE entry SET bytes=1 WHERE id=3", "entry 3"},
    {"UPDATE entry SET digest=zeroblob(32) WHERE id=3", "entry 3"},
    {"UPDATE entry SET mac=zeroblob(32) WHERE id=3", "entry 3"},
    {"UPDATE entry SET mac=zeroblob(31) WHERE id=3", "entry 3"},
    {"UPDATE entry SET noise='4' || char(0) WHERE id=3", "entry 3"},
    {"DELETE FROM entry WHERE id=3", "entry 3"},
    {"DELETE FROM entry WHERE id=1", "entry 1"},
    {"DELETE FROM entry WHERE id=5", "entry 5"},
    {"DELETE FROM entry", "entry 1"},
    {"DELETE FROM entry WHERE id=3;UPDATE entry SET id=id-1 WHERE id>3", "entry 3"},
    {"UPDATE entry SET id=-1 WHERE id=2;UPDATE entry SET id=2 WHERE id=4;"
     "UPDATE entry SET id=4 WHERE id=-1",
     "entry 2"},
    {"INSERT INTO entry SELECT 6,release,reserved,committed,forfeited,what,mechanism,norm,unit,"
     "adjacency,adversary,sensitivity,noise,grid,coordinates,sampling,categories,bytes,digest,mac "
     "FROM entry WHERE id=5",
     "entry 6"},
    {"INSERT INTO entry SELECT 0,release,reserved,committed,forfeited,what,mechanism,norm,unit,"
     "adjacency,adversary,sensitivity,noise,grid,coordinates,sampling,categories,bytes,digest,mac "
     "FROM entry WHERE id=5",
     "entry 1"},
    {"DELETE FROM head", "head"},
    {"UPDATE head SET id=2", NULL}, /* where the row stands says nothing */
    {"INSERT INTO head SELECT 2,agent,name,epsilon,delta,adversary,accountant,entries,next_release,"
     "last_mac,outbox,key_check,seal FROM head",
     "head"},
    {"UPDATE head SET agent=8", "head"},
    {"UPDATE head SET name='bob'", "head"},
    {"UPDATE head SET epsilon=1e9", "head"},
    {"UPDATE head SET delta=0.5", "head"},
    {"UPDATE head SET adversary='central'", "head"},
    {"UPDATE head SET accountant='pld'", "head"},
    {"UPDATE head SET entries=4", "head"},
    {"UPDATE head SET next_release=1", "head"},
    {"UPDATE head SET last_mac=(SELECT mac FROM entry WHERE id=4)", "head"},
    {"UPDATE head SET outbox=zeroblob(32)", "head"},
    {"UPDATE head SET key_check=zeroblob(32)", "head"},
    {"UPDATE head SET seal=zeroblob(32)", "head"},
    {"UPDATE head SET seal='x'", "head"},
    {"UPDATE outbox SET bytes=x'00' WHERE entry=2", "entry 2"},
    {"DELETE FROM outbox WHERE entry=4", "waits to be sent"},
    {"DELETE FROM outbox", "waits to be sent"},
    {"UPDATE outbox SET entry=5 WHERE entry=4", "entry 5"},
    {"UPDATE outbox SET entry=9 WHERE entry=4", "waits to be sent"},
    {"INSERT INTO outbox VALUES(7,x'00')", "waits to be sent"},
    {"CREATE TABLE more(x)", "tables"},
    {"CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END", "tables"},
    {"DROP TABLE outbox", "tables"},
    {"PRAGMA application_id=7", "no ledger"},
    {"PRAGMA user_version=7", "another version"},
};

static void test_every_edit_is_noticed(void **state)
{
    (void)state;
    size_t len, after;
    char *bytes = five_entries("edits", &len);
    const tacit_key key = test_key(1);
    for (size_t k = 0; k < sizeof edits / sizeof *edits; k++) {
        tacit_error err = {0};
        tacit_ledger_file *file;
        write_all("edits", bytes, len);
        edit_ledger("edits", edits[k].sql);
        char *edited = read_all("edits", &after);
        tacit_status status = tacit_ledger_file_open(&file, "edits", &key, NULL, &err);
        if (!edits[k].says) {
            check_ok(status, &err);
            check_ok(tacit_ledger_file_close(file, 0, &err), &err);
            free(edited);
            continue;
        }
        if (status != TACIT_EVERIFY || !strstr(err.text, edits[k].says))
            fail_msg("%s: status %d, \"%s\"", edits[k].sql, (int)status, err.text);
        assert_null(file);
        check_same_bytes("edits", edited, after); /* evidence stays as it is */
        free(edited);
    }
    free(bytes);
}

/* A head of yesterday over the entries of today, and the other way round. */
static void test_heads_do_not_travel_in_time(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t len;
    char *bytes = five_entries("time", &len);
    const tacit_key key = test_key(1);
    tacit_ledger_file *file = reopen_ledger("time");
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    uint64_t id;
    write_all("old", bytes, len);
    check_ok(commit_text(file, &cost, 10, "more", &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 11, &err), &err);
    char *newer = read_all("time", &len);
    edit_ledger("time", "ATTACH 'old' AS old;DELETE FROM head;"
                        "INSERT INTO head SELECT * FROM old.head");
    check_fails(tacit_ledger_file_open(&file, "time", &key, NULL, &err), TACIT_EVERIFY, &err,
                "entry 6");
    write_all("time", newer, len);
    edit_ledger("old", "ATTACH 'time' AS new;DELETE FROM head;"
                       "INSERT INTO head SELECT * FROM new.head");
    check_fails(tacit_ledger_file_open(&file, "old", &key, NULL, &err), TACIT_EVERIFY, &err,
                "entry 6");
    free(newer);
    free(bytes);
}

/* Twice the same beginning, then two different ends: the head of one does not fit the other,
 * though both are good ledgers of equal length. */
static void test_heads_do_not_change_histories(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t len;
    char *bytes = five_entries("one", &len);
    const tacit_key key = test_key(1);
    const tacit_cost dear = ledger_cost("gradient", 4.0), cheap = ledger_cost("gradient", 0.25);
    uint64_t id;
    write_all("two", bytes, len);
    tacit_ledger_file *file = reopen_ledger("one");
    check_ok(commit_text(file, &dear, 10, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 11, &err), &err);
    file = reopen_ledger("two");
    check_ok(commit_text(file, &cheap, 10, "x", &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 11, &err), &err);
    edit_ledger("two", "ATTACH 'one' AS one;DELETE FROM head;"
                       "INSERT INTO head SELECT * FROM one.head");
    check_fails(tacit_ledger_file_open(&file, "two", &key, NULL, &err), TACIT_EVERIFY, &err,
                "entry 6");
    free(bytes);
}

static void test_other_keys_and_other_agents(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t len;
    free(five_entries("others", &len));
    tacit_ledger_file *file;
    tacit_key key = test_key(2);
    check_fails(tacit_ledger_file_open(&file, "others", &key, NULL, &err), TACIT_EVERIFY, &err,
                "another key");
    key = test_key(1);
    tacit_ledger_holder holder = test_holder(100.0);
    check_ok(tacit_ledger_file_open(&file, "others", &key, &holder, &err), &err);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    holder.agent++;
    check_fails(tacit_ledger_file_open(&file, "others", &key, &holder, &err), TACIT_EVERIFY, &err,
                "alice");
    holder = test_holder(100.0);
    snprintf(holder.name, sizeof holder.name, "bob");
    check_fails(tacit_ledger_file_open(&file, "others", &key, &holder, &err), TACIT_EVERIFY, &err,
                "bob");
    holder = test_holder(200.0);
    check_fails(tacit_ledger_file_open(&file, "others", &key, &holder, &err), TACIT_EINPUT, &err,
                "epsilon = 100");
    holder = test_holder(100.0);
    check_fails(tacit_ledger_file_create(&file, "others", &key, &holder, &err), TACIT_EINPUT, &err,
                "others");
    /* An entry of somebody else with the same key does not fit into the chain. */
    holder.agent = 8;
    check_ok(tacit_ledger_file_create(&file, "eight", &key, &holder, &err), &err);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    uint64_t id;
    check_ok(commit_text(file, &cost, 0, "message 0", &id, &err), &err);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    edit_ledger("others", "ATTACH 'eight' AS e;DELETE FROM entry WHERE id=1;"
                          "INSERT INTO entry SELECT * FROM e.entry WHERE id=1");
    check_fails(tacit_ledger_file_open(&file, "others", &key, NULL, &err), TACIT_EVERIFY, &err,
                "entry 1");
}

/* ---- cut and garbled files ---- */

static void test_cut_and_garbled_files(void **state)
{
    (void)state;
    size_t len;
    char *bytes = five_entries("garbled", &len), *copy = malloc(len);
    const tacit_key key = test_key(1);
    dice d = {12};
    size_t noticed = 0;
    for (int k = 0; k < 400; k++) {
        tacit_error err = {0};
        tacit_ledger_file *file;
        size_t size = len;
        memcpy(copy, bytes, len);
        if (k < 100) /* cut; some at the borders of pages */
            size = k < 40 ? (size_t)k * 512 % len : (size_t)dice_below(&d, len);
        else /* one byte, or a hundred */
            for (uint64_t n = k < 300 ? 1 : 100; n > 0; n--)
                copy[dice_below(&d, len)] ^= (char)(1 + dice_below(&d, 255));
        write_all("garbled", copy, size);
        tacit_status status = tacit_ledger_file_open(&file, "garbled", &key, NULL, &err);
        if (status == TACIT_OK) { /* a byte that says nothing: all entries are there */
            assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 5);
            tacit_ledger_file_close(file, 0, &err);
            continue;
        }
        noticed++;
        if (status != TACIT_EVERIFY && status != TACIT_EINPUT)
            fail_msg("case %d: status %d, \"%s\"", k, (int)status, err.text);
        if (k < 100)
            assert_int_equal(status, TACIT_EVERIFY);
        check_same_bytes("garbled", copy, size);
    }
    assert_true(noticed >= 200);
    const char text[] = "this is no ledger, and never was one; it is only a few words in a file\n";
    tacit_error err = {0};
    tacit_ledger_file *file;
    write_all("garbled", text, sizeof text);
    check_fails(tacit_ledger_file_open(&file, "garbled", &key, NULL, &err), TACIT_EVERIFY, &err,
                "no ledger");
    check_same_bytes("garbled", text, sizeof text);
    free(copy);
    free(bytes);
}

/* A crash leaves entries in the log only. Who then cannot verify leaves file and log alone. */
static void test_evidence_is_left_alone(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_key key = test_key(1), other = test_key(2);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    check_ok(tacit_ledger_file_close(fresh_ledger("evidence", INFINITY), 0, &err), &err);
    const pid_t child = fork();
    if (child == 0) {
        tacit_ledger_file *mine;
        uint64_t id;
        _exit(tacit_ledger_file_open(&mine, "evidence", &key, NULL, NULL) ||
              commit_text(mine, &cost, 0, "x", &id, NULL));
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    size_t len, log;
    char *bytes = read_all("evidence", &len), *wal = read_all("evidence-wal", &log);
    assert_true(log > 0);
    tacit_ledger_file *file;
    check_fails(tacit_ledger_file_open(&file, "evidence", &other, NULL, &err), TACIT_EVERIFY, &err,
                "another key");
    check_same_bytes("evidence", bytes, len);
    check_same_bytes("evidence-wal", wal, log);
    free(bytes);
    free(wal);
    file = reopen_ledger("evidence");
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
    check_ok(tacit_ledger_file_close(file, 1, &err), &err);
    assert_int_not_equal(access("evidence-wal", F_OK), 0); /* now it is in the file */
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

/* ---- one user ---- */

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

static void test_looking_changes_nothing(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t len;
    char *bytes = five_entries("look", &len);
    const tacit_key key = test_key(1);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    tacit_ledger_file *file;
    tacit_permit *permit;
    check_ok(tacit_ledger_file_look(&file, "look", &key, &err), &err);
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 5);
    check_fails(tacit_ledger_file_reserve(file, &cost, 0, &permit, &err), TACIT_EUSAGE, &err,
                "look");
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    check_same_bytes("look", bytes, len);
    free(bytes);
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
        cmocka_unit_test(test_permits),
        cmocka_unit_test(test_touched_permits_are_forfeited),
        cmocka_unit_test(test_nonsense_is_refused),
        cmocka_unit_test(test_every_edit_is_noticed),
        cmocka_unit_test(test_heads_do_not_travel_in_time),
        cmocka_unit_test(test_heads_do_not_change_histories),
        cmocka_unit_test(test_other_keys_and_other_agents),
        cmocka_unit_test(test_cut_and_garbled_files),
        cmocka_unit_test(test_evidence_is_left_alone),
        cmocka_unit_test(test_key_files),
        cmocka_unit_test(test_a_ledger_and_its_key_belong_together),
        cmocka_unit_test(test_others_are_locked_out),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_ids_are_never_given_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
