/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lifetime ledger on disks that fail, at every step of a short life: two runs on one data set,
 * the first of which settles. Afterwards the ledger opens and verifies, and what had returned is
 * in it; a reservation is there with its records or not at all. Then a kill at every step and
 * damage to what is left, files that are edited, and a disk without room.
 */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_disk.h"
#include "ledger_tools.h"
#include "lifetime_tools.h"

static const char path[] = "shelf";
enum { PLAN = 40, USED = 10, RECORDS = 20 };

/* ---- a short life ---- */

typedef struct life {
    int done; /* how many of its steps had returned: reserved, settled, reserved */
    bool failed;
} life;

static life lived;

/* Tells `to` after each step, unless that is -1. */
static life live(int to)
{
    life v = {0};
    tacit_error err = {0};
    tacit_lifetime *l;
    tacit_status status = tacit_lifetime_open(&l, path, &err);
    if (status) {
        v.failed = true;
        return v;
    }
    const tacit_cost cost = ledger_cost("count", 0.0625);
    const tacit_ledger_entry plan = {.cost = &cost, .releases = PLAN};
    const tacit_ledger_entry used = {.cost = &cost, .releases = USED};
    tacit_lifetime_request first = life_request("patients", "first", &plan);
    tacit_lifetime_request second = life_request("patients", "second", &used);
    tacit_lifetime_records *records = some_records(l, 0, RECORDS);
    uint64_t id = 0, other;
    first.records = records;
    for (int k = 0; k < 3 && !status; k++) {
        status = k == 0   ? tacit_lifetime_reserve(l, &first, 1, &id, &err)
                 : k == 1 ? tacit_lifetime_settle(l, id, &used, 1, 0, 2, &err)
                          : tacit_lifetime_reserve(l, &second, 3, &other, &err);
        v.done += !status;
        if (!status && to >= 0 && write(to, "x", 1) != 1)
            _exit(9);
    }
    v.failed = status != TACIT_OK;
    if (v.failed)
        assert_int_equal(tacit_lifetime_reserve(l, &second, 9, &other, &err), TACIT_EINPUT);
    tacit_lifetime_records_free(records);
    if (to < 0)
        tacit_lifetime_close(l);
    return v;
}

/* The ledger says all that had returned, and at most the step that was under way. */
static void check_book(const tacit_lifetime_view *view, int done)
{
    const tacit_lifetime_dataset *set = tacit_lifetime_find(view, "patients");
    assert_non_null(set);
    const tacit_lifetime_entry *first = set->count > 0 ? &set->entries[0] : NULL;
    assert_in_range(set->count, done == 0 ? 0 : done < 3 ? 1 : 2, done < 2 ? 1 : 2);
    assert_int_equal(set->records, first ? RECORDS : 0);
    if (first && first->state == TACIT_LIFETIME_SETTLED)
        assert_true(done >= 1 && first->plan.items[0].releases == USED);
    else if (first)
        assert_true(done < 2 && first->plan.items[0].releases == PLAN);
}

static void check_after(int done)
{
    tacit_error err = {0};
    tacit_lifetime_view *view;
    tacit_lifetime *l = opened_lifetime(path);
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    check_book(view, done);
    tacit_lifetime_view_free(view);
    tacit_lifetime_close(l);
}

/* ---- failures ---- */

static char *newborn;
static size_t newborn_len;

static void be_born(void)
{
    unlink("shelf-journal");
    write_all(path, newborn, newborn_len);
}

static void live_once(bool *failed)
{
    lived = live(-1);
    *failed = lived.failed;
}

static void look_back(void)
{
    check_after(lived.done);
}

static int set_up(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_lifetime_terms terms = life_terms(4);
    disk_use();
    remove_lifetime(path);
    tacit_lifetime *l = opened_lifetime(path);
    check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    tacit_lifetime_close(l);
    newborn = read_all(path, &newborn_len);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    free(newborn);
    return 0;
}

static void test_disks_and_power_that_go_away(void **state)
{
    (void)state;
    disk.d = (dice){4};
    assert_in_range(disk_fail_everywhere(DISK_GONE, be_born, live_once, look_back), 20, 1000);
    assert_in_range(disk_fail_everywhere(POWER_LOST, be_born, live_once, look_back), 20, 1000);
    for (int k = 0; k < 3; k++)
        assert_in_range(disk_fail_everywhere(POWER_LOST_IN_PART, be_born, live_once, look_back), 20,
                        1000);
}

/* Killed while the ledger and its key are made, at every step: the next attempt succeeds. */
static void test_interrupted_births(void **state)
{
    (void)state;
    bool reached = true;
    for (long at = 0; reached && at < 100; at++) {
        remove_lifetime("cradle");
        const pid_t child = fork();
        if (child == 0) {
            tacit_lifetime *l;
            disk.how = KILLED;
            disk.steps = 0;
            disk.fail_at = at;
            _exit(tacit_lifetime_open(&l, "cradle", NULL) ? 1 : 7);
        }
        int how;
        waitpid(child, &how, 0);
        assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 7));
        reached = WEXITSTATUS(how) == 0;
        for (int k = 0; k < 2; k++)
            tacit_lifetime_close(opened_lifetime("cradle"));
        assert_true(reached || at > 5);
    }
    assert_false(reached);
}

/* ---- damage after a kill ---- */

static const char *const parts[] = {"shelf", "shelf-journal"};
enum { PARTS = 2, WAYS = 12 };

typedef struct remains {
    char *bytes[PARTS]; /* NULL: not there */
    size_t len[PARTS];
    int told;
} remains;

/* Killed before step `at`; false if it ended before. */
static bool kill_at(long at, remains *r)
{
    int ends[2], how;
    char one;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        disk.how = KILLED;
        disk.steps = 0;
        disk.fail_at = at;
        _exit(live(ends[1]).failed ? 3 : 4);
    }
    close(ends[1]);
    *r = (remains){.told = 0};
    while (read(ends[0], &one, 1) == 1)
        r->told++;
    close(ends[0]);
    waitpid(child, &how, 0);
    assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 4));
    for (int p = 0; p < PARTS; p++)
        if (access(parts[p], F_OK) == 0)
            r->bytes[p] = read_all(parts[p], &r->len[p]);
    return WEXITSTATUS(how) == 0;
}

static void put_back(const remains *r)
{
    for (int p = 0; p < PARTS; p++)
        unlink(parts[p]);
    for (int p = 0; p < PARTS; p++)
        if (r->bytes[p])
            write_all(parts[p], r->bytes[p], r->len[p]);
}

/* Gone, cut, or a bit turned over; false if this way does not make a difference. */
static bool damage(const remains *r, int part, int way)
{
    const size_t len = r->len[part];
    if (!r->bytes[part] || (len == 0 && way > 0))
        return false;
    if (way == 0)
        return unlink(parts[part]) == 0;
    if (way < WAYS / 2)
        return truncate(parts[part], (off_t)(len * (size_t)(way - 1) / (WAYS / 2))) == 0;
    const size_t at = (size_t)dice_below(&disk.d, way < WAYS * 2 / 3 && len > 32 ? 32 : len);
    const char turned = (char)(r->bytes[part][at] ^ (1 << dice_below(&disk.d, 8)));
    const int fd = open(parts[part], O_WRONLY);
    const bool done = pwrite(fd, &turned, 1, (off_t)at) == 1;
    close(fd);
    return done;
}

/* False: refused. Else all that was told is in it. */
static bool opens_and_remembers(const remains *r)
{
    tacit_error err = {0};
    tacit_lifetime *l;
    tacit_lifetime_view *view;
    const tacit_status status = tacit_lifetime_open(&l, path, &err);
    if (status) {
        assert_true(status == TACIT_EVERIFY || strstr(err.text, "cannot "));
        return false;
    }
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    check_book(view, r->told);
    tacit_lifetime_view_free(view);
    tacit_lifetime_close(l);
    return true;
}

static void test_damage_after_a_kill(void **state)
{
    (void)state;
    size_t good = 0, refused = 0;
    bool killed = true;
    disk.d = (dice){12};
    for (long at = 0; killed; at += SLOW ? 4 : 1) {
        remains r;
        be_born();
        killed = kill_at(at, &r);
        put_back(&r);
        assert_true(opens_and_remembers(&r));
        for (int k = 0; k < PARTS * WAYS; k++) {
            put_back(&r);
            if (damage(&r, k / WAYS, k % WAYS))
                *(opens_and_remembers(&r) ? &good : &refused) += 1;
        }
        for (int p = 0; p < PARTS; p++)
            free(r.bytes[p]);
    }
    print_message("%zu damaged ledgers were refused, %zu had lost nothing\n", refused, good);
    assert_true(refused > 50 && good > 50);
}

/* ---- edits ---- */

/* Every column of every row, one by one: another number, another word, other bytes. */
static void test_every_edit_is_noticed(void **state)
{
    (void)state;
    static const char *const tables[] = {"head", "event", "cost", "record"};
    static const char *const values[] = {"9", "7.5", "'other'", "zeroblob(32)", "zeroblob(16)"};
    tacit_error err = {0};
    tacit_lifetime *l;
    int tried = 0;
    be_born();
    lived = live(-1);
    assert_false(lived.failed);
    size_t len;
    char *bytes = read_all(path, &len);
    for (size_t t = 0; t < 4; t++) {
        char sql[400], names[40][40];
        int columns = 0;
        sqlite3 *db;
        sqlite3_stmt *s;
        snprintf(sql, sizeof sql, "PRAGMA table_info(%s)", tables[t]);
        assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
        assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
        while (sqlite3_step(s) == SQLITE_ROW)
            snprintf(names[columns++], 40, "%.30s", (const char *)sqlite3_column_text(s, 1));
        sqlite3_finalize(s);
        sqlite3_close(db);
        for (int c = 0; c < columns; c++) {
            if (t == 0 && c == 0)
                continue; /* where the head's row stands says nothing */
            const size_t most = c == 0 && t < 3 ? 1 : 5; /* a key is a whole number */
            for (size_t v = 0; v < most; v++) {
                write_all(path, bytes, len);
                snprintf(
                    sql, sizeof sql,
                    "UPDATE OR REPLACE %s SET %.30s=%s WHERE %.30s=(SELECT max(%.30s) FROM %s)",
                    tables[t], names[c], values[v], names[0], names[0], tables[t]);
                edit_ledger(path, sql);
                const tacit_status status = tacit_lifetime_open(&l, path, &err);
                if (status != TACIT_EVERIFY)
                    fail_msg("%s: %d %s", sql, status, err.text);
                tried++;
            }
        }
    }
    static const char *const others[] = {
        "DELETE FROM record WHERE print=(SELECT max(print) FROM record)",
        "INSERT INTO record VALUES(zeroblob(16),1)",
        "DELETE FROM event WHERE id=(SELECT max(id) FROM event)",
        "DELETE FROM cost WHERE id=(SELECT max(id) FROM cost)",
        "DELETE FROM head",
        "CREATE TABLE more(x)",
        "CREATE TRIGGER t AFTER INSERT ON event BEGIN DELETE FROM event; END",
        "PRAGMA user_version=7",
        "PRAGMA application_id=7",
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++, tried++) {
        write_all(path, bytes, len);
        edit_ledger(path, others[k]);
        check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "shelf");
    }
    assert_true(tried > 200);
    free(bytes);
}

/* All rows are there, but turned around in their page: a search by key would not find them. */
static void test_records_out_of_order(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime *l;
    sqlite3 *db;
    sqlite3_stmt *s;
    be_born();
    lived = live(-1);
    assert_false(lived.failed);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT rootpage,page_size FROM sqlite_master,"
                                        "pragma_page_size WHERE name='record'",
                                        -1, &s, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(s), SQLITE_ROW);
    const size_t page = (size_t)(sqlite3_column_int(s, 0) - 1) * (size_t)sqlite3_column_int(s, 1);
    sqlite3_finalize(s);
    sqlite3_close(db);
    size_t len;
    char *bytes = read_all(path, &len);
    char *cells = bytes + page + 8; /* where each row stands, two bytes per row */
    assert_int_equal(bytes[page], 10);
    assert_int_equal(bytes[page + 4], RECORDS);
    for (size_t a = 0, b = 2 * (RECORDS - 1); a < b; a += 2, b -= 2)
        for (size_t k = 0; k < 2; k++) {
            const char kept = cells[a + k];
            cells[a + k] = cells[b + k];
            cells[b + k] = kept;
        }
    write_all(path, bytes, len);
    free(bytes);
    check_fails(tacit_lifetime_open(&l, path, &err), TACIT_EVERIFY, &err, "moved");
}

/* Edited while it is open: the next transaction notices. */
static void test_an_edit_under_an_open_ledger(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_lifetime_view *view;
    be_born();
    tacit_lifetime *l = opened_lifetime(path);
    edit_ledger(path, "UPDATE event SET epsilon=1e9 WHERE kind='budget'");
    check_fails(tacit_lifetime_read(l, &view, &err), TACIT_EVERIFY, &err, "event 2");
    tacit_lifetime_close(l);
}

/* ---- no room ---- */

static int fill_up(rlim_t limit)
{
    tacit_lifetime *l;
    tacit_error err = {0};
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
    const tacit_cost cost = ledger_cost("count", 0.0625);
    const tacit_ledger_entry plan = {.cost = &cost, .releases = 1};
    tacit_lifetime_request r = life_request("patients", "large", &plan);
    uint64_t id;
    tacit_status status = tacit_lifetime_open(&l, path, &err);
    if (status)
        return 200;
    tacit_lifetime_records *records = some_records(l, 0, 20000);
    r.records = records;
    status = tacit_lifetime_reserve(l, &r, 1, &id, &err);
    if (status && !strstr(err.text, "room"))
        return 201;
    return (int)status;
}

static void test_no_room(void **state)
{
    (void)state;
    for (rlim_t limit = 40000; limit < 400000; limit += 120000) {
        int how;
        be_born();
        const pid_t child = fork();
        if (child == 0)
            _exit(fill_up(limit));
        waitpid(child, &how, 0);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), TACIT_EINPUT);
        check_after(0); /* none of it is there */
        lived = live(-1);
        assert_int_equal(lived.done, 3); /* there is room again */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disks_and_power_that_go_away),
        cmocka_unit_test(test_interrupted_births),
        cmocka_unit_test(test_damage_after_a_kill),
        cmocka_unit_test(test_every_edit_is_noticed),
        cmocka_unit_test(test_records_out_of_order),
        cmocka_unit_test(test_an_edit_under_an_open_ledger),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
