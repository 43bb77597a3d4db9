/* SPDX-License-Identifier: Apache-2.0 */
/* The store of a node: what comes back after closing, by which clock, and whose folder it is. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "store_tools.h"
#include "testing.h"

static const char folder[] = "peer";
static const char db[] = "peer/node.db";
static const char ledger7[] = "peer/agent-7.ledger";

static void refused(tacit_status want, const char *word)
{
    tacit_error err = {0};
    node_store *store;
    const node_store_plan plan = plan_of();
    check_fails(node_store_open_by(&store, &plan, told_time, &moment, &err), want, &err, word);
    assert_null(store);
}

/* ---- what comes back ---- */

static void test_a_fresh_folder(void **state)
{
    (void)state;
    struct stat info;
    node_store *store = opened();
    assert_int_equal(stat(folder, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    assert_int_equal(stat(db, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_null(node_store_mute(store));
    check_restores(store, 0, NULL, NULL, false);
    assert_true(node_store_elapsed(store, 0) == 0);
    closed(store);
    assert_int_not_equal(access("peer/node.db-journal", F_OK), 0); /* one file at rest */
}

static void test_the_last_release_comes_back(void **state)
{
    (void)state;
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    tell(store, 1, "uno", "estado uno");
    tell(store, 0, "two", "state two");
    check_restores(store, 0, "two", "state two", true);
    store = again(store);
    check_restores(store, 0, "two", "state two", true);
    check_restores(store, 1, "uno", "estado uno", true);
    assert_int_equal(releases(store, 0), 2);
    /* What was pending before a restart is replaced all the same. */
    tell(store, 0, "three", "state three");
    store = again(store);
    check_restores(store, 0, "three", "state three", true);
    assert_int_equal(tacit_ledger_file_pending(node_store_ledger(store, 0), NULL, 0), 1);
    tell(store, 0, "", "");
    check_restores(store, 0, "", "", true); /* nothing is not the same as none */
    closed(store);
}

static void test_checkpoints_and_releases_in_turn(void **state)
{
    (void)state;
    node_store *store = opened();
    checkpoint(store, 1, "kept 0", "kept 0b");
    check_restores(store, 0, NULL, "kept 0", true);
    tell(store, 0, "one", "state one"); /* newer than what was kept */
    store = again(store);
    check_restores(store, 0, "one", "state one", true);
    check_restores(store, 1, NULL, "kept 0b", true);
    checkpoint(store, 2, "kept 1", NULL); /* newer than the release */
    store = again(store);
    check_restores(store, 0, "one", "kept 1", true);
    check_restores(store, 1, NULL, "kept 0b", true);
    tell(store, 0, "two", NULL); /* a release without a state: what was kept is older */
    store = again(store);
    check_restores(store, 0, "two", "kept 1", false);
    checkpoint(store, 3, "kept 2", NULL);
    check_restores(store, 0, "two", "kept 2", true);
    closed(store);
}

static void test_a_large_state_waits_for_a_checkpoint(void **state)
{
    (void)state;
    char large[STATE_MAX + 2];
    memset(large, 'x', sizeof large);
    large[STATE_MAX] = '\0';
    node_store *store = opened();
    tell(store, 0, "fits", large);
    check_restores(store, 0, "fits", large, true);
    large[STATE_MAX] = 'x';
    large[STATE_MAX + 1] = '\0';
    tell(store, 0, "too large", large);
    check_restores(store, 0, "too large", NULL, false);
    checkpoint(store, 1, large, NULL);
    store = again(store);
    check_restores(store, 0, "too large", large, true);
    closed(store);
}

/* All are charged, whatever state they are in; the frames come with the last. */
static void test_many_permits(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    tell(store, 0, "before", "state before");
    tacit_permit *permits[4];
    for (int k = 0; k < 4; k++)
        permits[k] = permit_of(store, 0);
    permits[0]->state = TACIT_PERMIT_RESERVED;
    permits[1]->state = TACIT_PERMIT_SPENT;
    check_ok(node_store_release(store, 0, permits, 4, "four", 4, "state four", 10, 3, &err), &err);
    check_fails(node_store_release(store, 0, permits, 0, "x", 1, NULL, 0, 3, &err), TACIT_EUSAGE,
                &err, "permit");
    assert_null(node_store_mute(store));
    /* Only charged: what was told before is still the last. */
    permits[0] = permit_of(store, 0), permits[1] = permit_of(store, 0);
    check_ok(node_store_release(store, 0, permits, 2, NULL, 0, NULL, 0, 4, &err), &err);
    check_restores(store, 0, "four", "state four", true);
    store = again(store);
    assert_int_equal(releases(store, 0), 7);
    check_restores(store, 0, "four", "state four", true);
    assert_int_equal(tacit_ledger_file_pending(node_store_ledger(store, 0), NULL, 0), 1);
    closed(store);
}

/* ---- other folders, other files ---- */

static void test_one_at_a_time(void **state)
{
    (void)state;
    node_store *store = opened();
    refused(TACIT_EINPUT, "in use by another node");
    tell(store, 0, "a", "b");
    closed(store);
    closed(opened());
}

static void test_folders_of_others(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store;
    closed(opened());
    node_store_plan plan = plan_of();
    plan.run[0] ^= 1;
    check_fails(node_store_open(&store, &plan, &err), TACIT_EINPUT, &err, "another run");
    plan = plan_of();
    plan.identity[31] ^= 1;
    check_fails(node_store_open(&store, &plan, &err), TACIT_EINPUT, &err, "another key");
    plan = plan_of();
    plan.count = 1;
    check_fails(node_store_open(&store, &plan, &err), TACIT_EINPUT, &err,
                "for 2 agents, not for 1");
    pair[1].agent = 4;
    refused(TACIT_EINPUT, "4 \"bob\" is not among them");
    pair[1].agent = 3;
    pair[1].budget.epsilon = 7;
    refused(TACIT_EINPUT, "a budget does not change");
    pair[1].budget.epsilon = 1e6;
    assert_int_not_equal(access("peer/agent-4.ledger", F_OK), 0); /* nothing was made */
    closed(opened());
    plan.folder = "no/such/place";
    check_fails(node_store_open(&store, &plan, &err), TACIT_EINPUT, &err, "no/such/place");
    plan.folder = db;
    check_fails(node_store_open(&store, &plan, &err), TACIT_EINPUT, &err, "Not a directory");
}

static void edit_db(const char *sql)
{
    edit_ledger(db, sql); /* any database */
}

static void test_a_database_of_something_else(void **state)
{
    (void)state;
    assert_int_equal(mkdir(folder, 0700), 0);
    static const char text[] = "this is not a database, but a letter to somebody";
    write_all(db, text, sizeof text);
    refused(TACIT_EVERIFY, "no node's database");
    check_same_bytes(db, text, sizeof text);
    assert_int_equal(unlink(db), 0);
    sqlite3 *other;
    assert_int_equal(sqlite3_open(db, &other), SQLITE_OK);
    assert_int_equal(sqlite3_exec(other, "CREATE TABLE cake(eggs)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    refused(TACIT_EVERIFY, "no node's database");
    assert_int_equal(ledger_rows(db, "cake"), 0); /* it is still there */
    assert_int_not_equal(access(ledger7, F_OK), 0);
    assert_int_equal(unlink(db), 0);
    write_all(db, "", 0); /* what a crash may leave of one that was being made */
    closed(opened());
    edit_db("CREATE TABLE more(x)");
    refused(TACIT_EVERIFY, "no node's database");
    edit_db("DROP TABLE more;PRAGMA user_version=1");
    refused(TACIT_EVERIFY, "another version");
    edit_db("PRAGMA user_version=2;UPDATE head SET incarnation=5");
    refused(TACIT_EVERIFY, "head");
}

/* Any byte of node.db turned: it is refused, or what comes back is what was kept. */
static void test_turned_bits(void **state)
{
    (void)state;
    tacit_error err = {0};
    char text[1500]; /* a good part of a page, so that some bits are turned in it */
    memset(text, 'k', sizeof text - 1), text[sizeof text - 1] = '\0';
    node_store *store = opened();
    checkpoint(store, 5, text, "and of the other");
    closed(store);
    size_t len, told = 0, silent = 0;
    char *good = read_all(db, &len);
    dice d = {5};
    for (size_t at = 0; at < len; at += 1 + dice_below(&d, SLOW ? 181 : 61)) {
        good[at] ^= 0x10;
        write_all(db, good, len);
        good[at] ^= 0x10;
        const node_store_plan plan = plan_of();
        void *kept = NULL, *frames;
        size_t kept_len, frames_len;
        bool current;
        tacit_status status = node_store_open_by(&store, &plan, told_time, &moment, &err);
        if (!status)
            status = node_store_restore(store, 0, &kept, &kept_len, &frames, &frames_len, &current,
                                        &err);
        assert_true(!status || status == TACIT_EVERIFY || status == TACIT_EINPUT);
        if (!status)
            assert_true(is_text(kept, kept_len, text) && node_store_elapsed(store, 0) == 5);
        *(status ? &told : &silent) += 1;
        free(kept);
        node_store_close(store, 0, NULL);
        store = NULL;
    }
    print_message("%zu changes refused, %zu in places that hold nothing\n", told, silent);
    assert_true(told > 5 && silent > 5); /* pages are mostly empty */
    free(good);
}

static void test_a_lost_node_db(void **state)
{
    (void)state;
    node_store *store = opened();
    const uint64_t life = node_store_incarnation(store);
    tell(store, 0, "one", "state one");
    checkpoint(store, 5, "kept", "kept too");
    closed(store);
    assert_int_equal(unlink(db), 0);
    moment.wall += 1;
    store = opened();
    check_restores(store, 0, "one", "state one", true);
    check_restores(store, 1, NULL, NULL, false);
    assert_int_equal(releases(store, 0), 1);
    assert_true(node_store_incarnation(store) > life);
    closed(store);
}

/* The same ledgers in another run: what was spent stays spent, what was said is no more. */
static void test_another_run_with_the_same_ledgers(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    closed(store);
    assert_int_equal(unlink(db), 0);
    node_store_plan plan = plan_of();
    plan.run[15] ^= 1;
    check_ok(node_store_open(&store, &plan, &err), &err);
    assert_int_equal(releases(store, 0), 1);
    check_restores(store, 0, NULL, NULL, false);
    checkpoint(store, 1, "kept", NULL);
    check_restores(store, 0, NULL, "kept", true);
    tell(store, 0, "two", "state two");
    check_restores(store, 0, "two", "state two", true);
    closed(store);
}

static void test_an_older_node_db(void **state)
{
    (void)state;
    size_t len;
    node_store *store = opened();
    checkpoint(store, 5, "kept first", NULL);
    closed(store);
    char *old = read_all(db, &len);
    store = opened();
    tell(store, 0, "one", "state one");
    checkpoint(store, 6, "kept later", NULL);
    tell(store, 0, "two", NULL);
    closed(store);
    write_all(db, old, len);
    store = opened();
    check_restores(store, 0, "two", "kept first", false);
    assert_int_equal(releases(store, 0), 2); /* all that was told is charged */
    closed(store);
    free(old);
}

static void test_an_older_ledger(void **state)
{
    (void)state;
    size_t len;
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    closed(store);
    char *old = read_all(ledger7, &len);
    store = opened();
    tell(store, 0, "two", "state two");
    checkpoint(store, 5, "kept", NULL);
    closed(store);
    write_all(ledger7, old, len);
    refused(TACIT_EVERIFY, "older copy");
    free(old);
}

static void test_a_lost_ledger(void **state)
{
    (void)state;
    closed(opened());
    assert_int_equal(rename(ledger7, "away"), 0);
    refused(TACIT_EVERIFY, "is gone");
    assert_int_equal(rename("peer/agent-7.ledger.key", "away.key"), 0);
    refused(TACIT_EVERIFY, "and its key");
    assert_int_not_equal(access(ledger7, F_OK), 0); /* none was made */
    assert_int_equal(rename("away", ledger7), 0);
    assert_int_equal(rename("away.key", "peer/agent-7.ledger.key"), 0);
    closed(opened());
}

/* The bytes as store_release.c describes them. Two of them are never pending, but if so, the newer
 * counts; charges without bytes do not. */
static void test_the_newest_pending_words(void **state)
{
    (void)state;
    tacit_error err = {0};
    uint64_t id;
    uint8_t blob[] = "TCTR\1\0\0\0\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0"
                     "\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0oldstate";
    node_store *store = opened();
    for (int k = 0; k < 2; k++) {
        tacit_permit *permit = permit_of(store, 0);
        memcpy(blob + 40, k ? "new" : "old", 3);
        check_ok(tacit_ledger_file_commit(node_store_ledger(store, 0), permit, blob,
                                          sizeof blob - 1, 1, &id, &err),
                 &err);
    }
    check_ok(tacit_ledger_file_commit(node_store_ledger(store, 0), permit_of(store, 0), NULL, 0, 1,
                                      &id, &err),
             &err);
    store = again(store);
    check_restores(store, 0, "new", "state", true);
    tell(store, 0, "newest", "state");
    assert_int_equal(tacit_ledger_file_pending(node_store_ledger(store, 0), NULL, 0), 1);
    closed(store);
}

static void test_words_that_no_node_wrote(void **state)
{
    (void)state;
    tacit_error err = {0};
    void *a, *b;
    size_t n, m;
    bool current;
    node_store *store = opened();
    uint64_t id;
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    check_ok(commit_text(node_store_ledger(store, 0), &cost, 1,
                         "TCTRand then something else, as long as a head", &id, &err),
             &err);
    check_fails(node_store_restore(store, 0, &a, &n, &b, &m, &current, &err), TACIT_EVERIFY, &err,
                "not written by a node");
    assert_true(!a && !b && n == 0 && m == 0);
    closed(store);
}

/* ---- lives and time ---- */

static void test_incarnations_grow(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    assert_true(node_store_incarnation(store) == UINT64_C(1000000000000)); /* ms */
    store = again(store);
    assert_true(node_store_incarnation(store) == UINT64_C(1000000000001));
    moment.wall -= 3e7; /* a year back */
    store = again(store);
    assert_true(node_store_incarnation(store) == UINT64_C(1000000000002));
    moment.wall += 3e8; /* ten years ahead */
    store = again(store);
    assert_true(node_store_incarnation(store) == UINT64_C(1270000000000));
    moment.wall = -5;
    store = again(store);
    assert_true(node_store_incarnation(store) == UINT64_C(1270000000001));

    check_ok(node_store_rise(store, 5, &err), &err);
    assert_true(node_store_incarnation(store) == UINT64_C(1270000000001));
    check_ok(node_store_rise(store, UINT64_C(1270000000001), &err), &err);
    assert_true(node_store_incarnation(store) == UINT64_C(1270000000002));
    check_ok(node_store_rise(store, UINT64_C(1) << 62, &err), &err);
    check_fails(node_store_rise(store, UINT64_MAX, &err), TACIT_EINPUT, &err, "incarnation");
    assert_null(node_store_mute(store));
    store = again(store);
    assert_true(node_store_incarnation(store) == (UINT64_C(1) << 62) + 2);
    closed(store);
}

static double elapsed_after(node_store **store, double most)
{
    *store = again(*store);
    return node_store_elapsed(*store, most);
}

static void test_time_that_was_away(void **state)
{
    (void)state;
    node_store *store = opened();
    moment.wall += 7, moment.boot += 7; /* no checkpoint yet: since it began */
    assert_float_equal(elapsed_after(&store, 0), 7, 1e-9);
    checkpoint(store, 20, NULL, NULL);
    moment.boot += 30, moment.wall += 30;
    assert_float_equal(elapsed_after(&store, 0), 50, 1e-9);
    assert_float_equal(node_store_elapsed(store, 10), 30, 1e-9);
    assert_float_equal(node_store_elapsed(store, 1000), 50, 1e-9);
    assert_float_equal(elapsed_after(&store, 0), 50, 1e-9); /* opening alone moves nothing */
    checkpoint(store, 51, NULL, NULL);
    moment.boot += 3, moment.wall -= 3e7; /* the wall clock a year back */
    assert_float_equal(elapsed_after(&store, 0), 54, 1e-9);
    moment.wall += 3e8; /* ten years ahead */
    assert_float_equal(elapsed_after(&store, 0), 54, 1e-9);
    checkpoint(store, 60, NULL, NULL);
    moment.boot = 4, moment.wall += 40; /* started anew: only the wall clock knows */
    memcpy(moment.boot_id, "second", sizeof "second");
    assert_float_equal(elapsed_after(&store, 0), 100, 1e-9);
    assert_float_equal(node_store_elapsed(store, 25), 85, 1e-9);
    moment.wall -= 1000; /* ... and it was set back */
    assert_float_equal(elapsed_after(&store, 0), 60, 1e-9);
    checkpoint(store, 61, NULL, NULL);
    moment.boot -= 2, moment.wall += 5; /* the same boot, but its clock went back */
    assert_float_equal(elapsed_after(&store, 0), 66, 1e-9);
    checkpoint(store, 70, NULL, NULL);
    moment.boot_id[0] = '\0'; /* a machine that does not say */
    moment.boot += 1000, moment.wall += 5;
    assert_float_equal(elapsed_after(&store, 0), 75, 1e-9);
    checkpoint(store, 80, NULL, NULL);
    moment.boot += 1000, moment.wall += 5;
    assert_float_equal(elapsed_after(&store, 0), 85, 1e-9);
    closed(store);
}

static void test_this_machines_clocks(void **state)
{
    (void)state;
    node_moment a, b;
    store_clock(NULL, &a);
    store_clock(NULL, &b);
    assert_true(a.wall > 1.5e9 && a.boot > 0 && b.boot >= a.boot);
    assert_string_equal(a.boot_id, b.boot_id);
    assert_null(strchr(a.boot_id, '\n'));
    assert_true(store_between(&a, &b) >= 0 && store_between(&a, &b) < 600);
}

/* ---- peers ---- */

typedef struct list {
    char text[200];
} list;

static tacit_status note_peer(void *ctx, const uint8_t identity[32], const void *bytes, size_t len,
                              tacit_error *err)
{
    list *l = ctx;
    const size_t used = strlen(l->text);
    snprintf(l->text + used, sizeof l->text - used, "%d=%.*s ", identity[0], (int)len,
             (const char *)bytes);
    return identity[0] == 200 ? tacit_fail(err, TACIT_NO, "enough") : TACIT_OK;
}

static void test_peers(void **state)
{
    (void)state;
    tacit_error err = {0};
    uint8_t who[32] = {2};
    list l = {{0}};
    node_store *store = opened();
    check_ok(node_store_put_peer(store, who, "there", 5, &err), &err);
    who[0] = 1;
    check_ok(node_store_put_peer(store, who, "here", 4, &err), &err);
    who[0] = 2;
    check_ok(node_store_put_peer(store, who, "elsewhere", 9, &err), &err);
    check_ok(node_store_begin(store, 1, &err), &err); /* within a checkpoint, too */
    who[0] = 3;
    check_ok(node_store_put_peer(store, who, "", 0, &err), &err);
    check_ok(node_store_end(store, &err), &err);
    store = again(store);
    check_ok(node_store_each_peer(store, note_peer, &l, &err), &err);
    assert_string_equal(l.text, "1=here 2=elsewhere 3= ");
    who[0] = 200;
    check_ok(node_store_put_peer(store, who, "x", 1, &err), &err);
    who[0] = 201;
    check_ok(node_store_put_peer(store, who, "y", 1, &err), &err);
    l.text[0] = '\0';
    check_fails(node_store_each_peer(store, note_peer, &l, &err), TACIT_NO, &err, "enough");
    assert_string_equal(l.text, "1=here 2=elsewhere 3= 200=x ");
    check_fails(node_store_put_peer(store, who, "y", 1 << 20, &err), TACIT_EINPUT, &err,
                "too many");
    assert_null(node_store_mute(store));
    closed(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_fresh_folder, start_empty),
        cmocka_unit_test_setup(test_the_last_release_comes_back, start_empty),
        cmocka_unit_test_setup(test_checkpoints_and_releases_in_turn, start_empty),
        cmocka_unit_test_setup(test_a_large_state_waits_for_a_checkpoint, start_empty),
        cmocka_unit_test_setup(test_many_permits, start_empty),
        cmocka_unit_test_setup(test_one_at_a_time, start_empty),
        cmocka_unit_test_setup(test_folders_of_others, start_empty),
        cmocka_unit_test_setup(test_a_database_of_something_else, start_empty),
        cmocka_unit_test_setup(test_turned_bits, start_empty),
        cmocka_unit_test_setup(test_a_lost_node_db, start_empty),
        cmocka_unit_test_setup(test_another_run_with_the_same_ledgers, start_empty),
        cmocka_unit_test_setup(test_an_older_node_db, start_empty),
        cmocka_unit_test_setup(test_an_older_ledger, start_empty),
        cmocka_unit_test_setup(test_a_lost_ledger, start_empty),
        cmocka_unit_test_setup(test_the_newest_pending_words, start_empty),
        cmocka_unit_test_setup(test_words_that_no_node_wrote, start_empty),
        cmocka_unit_test_setup(test_incarnations_grow, start_empty),
        cmocka_unit_test_setup(test_time_that_was_away, start_empty),
        cmocka_unit_test_setup(test_this_machines_clocks, start_empty),
        cmocka_unit_test_setup(test_peers, start_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
