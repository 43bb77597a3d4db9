/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ledger file that somebody has been at: every column edited, rows removed, added and moved,
 * heads exchanged, files cut and garbled. All of it is noticed, the entry is named, and the file
 * is left as it was found.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "testing.h"

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

/* After a crash what was committed is in the file itself. Who cannot verify it leaves it alone. */
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
    size_t len, left;
    char *bytes = read_all("evidence", &len);
    free(read_all("evidence-journal", &left));
    assert_int_equal(left, 0);
    assert_int_not_equal(access("evidence-wal", F_OK), 0);
    tacit_ledger_file *file;
    check_fails(tacit_ledger_file_open(&file, "evidence", &other, NULL, &err), TACIT_EVERIFY, &err,
                "another key");
    check_same_bytes("evidence", bytes, len);
    free(bytes);
    file = reopen_ledger("evidence");
    assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
    check_ok(tacit_ledger_file_close(file, 1, &err), &err);
    assert_int_not_equal(access("evidence-journal", F_OK), 0);
    /* A database with a log is none of ours: logs lose entries unnoticed. */
    edit_ledger("evidence", "PRAGMA journal_mode=WAL");
    check_fails(tacit_ledger_file_open(&file, "evidence", &key, NULL, &err), TACIT_EVERIFY, &err,
                "a log");
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

/* On a medium that cannot be written to, as it is to who is not root. */
static int look_as_nobody(void)
{
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 77;
    if (access("shelf/a b?%", W_OK) == 0)
        return 78;
    tacit_status status = tacit_ledger_file_look(&file, "shelf/a b?%", &key, &err);
    if (status)
        return (int)status;
    const uint64_t found = tacit_ledger_releases(tacit_ledger_file_ledger(file));
    status = tacit_ledger_file_close(file, 0, &err);
    return found == 5 ? (int)status : 79;
}

static void test_looking_at_an_archive(void **state)
{
    (void)state;
    size_t len;
    assert_int_equal(mkdir("shelf", 0755), 0);
    free(five_entries("shelf/a b?%", &len));
    chmod("shelf/a b?%", 0444);
    chmod("shelf", 0555);
    chmod(".", 0711); /* the scratch folder is closed to others */
    const pid_t child = fork();
    if (child == 0)
        _exit(look_as_nobody());
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    chmod(".", 0700);
    chmod("shelf", 0755); /* so that it can be removed */
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == 77) /* root, and not allowed to be anybody else */
        skip();
    assert_int_equal(WEXITSTATUS(how), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_edit_is_noticed),
        cmocka_unit_test(test_heads_do_not_travel_in_time),
        cmocka_unit_test(test_heads_do_not_change_histories),
        cmocka_unit_test(test_other_keys_and_other_agents),
        cmocka_unit_test(test_cut_and_garbled_files),
        cmocka_unit_test(test_evidence_is_left_alone),
        cmocka_unit_test(test_looking_changes_nothing),
        cmocka_unit_test(test_looking_at_an_archive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
