/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Disks that fail (failing_disk.h): every step of a short life is chosen once. Afterwards the
 * ledger must open, verify, and hold every release whose commit had returned; and what came back
 * with an error must not have been called released. Last, a kill at every step and then damage to
 * what is left, file and journal: it may be refused, it must not have forgotten.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "failing_disk.h"
#include "ledger_tools.h"
#include "privacy/release.h"
#include "testing.h"

static const char name[] = "disk";

/* ---- a short life ---- */

enum { RELEASES = 6 };

typedef struct life {
    uint64_t told[RELEASES]; /* whose commit had returned: they may have been sent */
    size_t count;
    bool opened, failed;
} life;

static life live(void)
{
    life l = {.count = 0};
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    const tacit_cost a = ledger_cost("gradient", 0.25), b = ledger_cost("count", 0.5);
    tacit_status status = tacit_ledger_file_open(&file, name, &key, NULL, &err);
    l.failed = status != TACIT_OK;
    if (l.failed) {
        assert_int_equal(status, TACIT_EINPUT);
        return l;
    }
    l.opened = true;
    for (int k = 0; k < RELEASES && !l.failed; k++) {
        char text[2000];
        uint64_t id = 0;
        memset(text, 'a' + k, sizeof text - 1);
        text[sizeof text - 1] = '\0';
        status = commit_text(file, k % 2 ? &a : &b, k, text, &id, &err);
        if (!status)
            l.told[l.count++] = id;
        if (!status && k % 2)
            status = tacit_ledger_file_mark_sent(file, id, &err);
        l.failed = status != TACIT_OK;
    }
    if (l.failed) { /* it must go on refusing, whatever comes */
        tacit_permit *permit;
        assert_int_equal(tacit_ledger_file_reserve(file, &a, 9, &permit, &err), TACIT_EINPUT);
    }
    if (tacit_ledger_file_close(file, 10, &err))
        l.failed = true;
    return l;
}

typedef struct found {
    uint64_t id[64];
    size_t count;
} found;

static tacit_status note(void *context, const tacit_ledger_record *record, tacit_error *err)
{
    (void)err;
    found *f = context;
    assert_in_range(f->count, 0, 63);
    f->id[f->count++] = record->release;
    return TACIT_OK;
}

static void check_after(const life *l)
{
    tacit_error err = {0};
    found f = {.count = 0};
    tacit_ledger_file *file = reopen_ledger(name);
    check_ok(tacit_ledger_file_each(file, note, &f, &err), &err);
    for (size_t k = 0; k < l->count; k++) {
        bool there = false;
        for (size_t i = 0; i < f.count; i++)
            there = there || f.id[i] == l->told[k];
        assert_true(there);
    }
    assert_in_range(f.count, l->count, l->count + 1); /* at most the one that was under way */
    uint64_t pending[64];
    const size_t count = tacit_ledger_file_pending(file, pending, 64);
    for (size_t k = 0; k < count; k++) {
        void *bytes;
        size_t len;
        check_ok(tacit_ledger_file_fetch(file, pending[k], &bytes, &len, &err), &err);
        assert_int_equal(len, 1999);
        free(bytes);
    }
    check_ok(tacit_ledger_file_close(file, 11, &err), &err);
}

static void remove_ledger(void)
{
    unlink("disk");
    unlink("disk-wal");
    unlink("disk-journal");
}

static char *newborn;
static size_t newborn_len;
static life lived;

static void be_born(void)
{
    remove_ledger();
    write_all(name, newborn, newborn_len);
}

static void live_once(bool *failed)
{
    lived = live();
    *failed = lived.failed;
}

static void look_back(void)
{
    check_after(&lived);
}

static long fail_everywhere(failure how)
{
    tacit_error err = {0};
    remove_ledger();
    check_ok(tacit_ledger_file_close(fresh_ledger(name, 100.0), 0, &err), &err);
    newborn = read_all(name, &newborn_len);
    const long steps = disk_fail_everywhere(how, be_born, live_once, look_back);
    free(newborn);
    return steps;
}

static void test_a_disk_that_goes_away(void **state)
{
    (void)state;
    assert_in_range(fail_everywhere(DISK_GONE), 30, 1000);
}

static void test_power_that_goes_away(void **state)
{
    (void)state;
    assert_in_range(fail_everywhere(POWER_LOST), 30, 1000);
    disk.d = (dice){3};
    for (int k = 0; k < 5; k++)
        assert_in_range(fail_everywhere(POWER_LOST_IN_PART), 30, 1000);
}

/* The layer itself must be able to lose things: a database that does not wait loses a row. */
static void test_the_layer_loses_what_was_not_synchronised(void **state)
{
    (void)state;
    sqlite3 *db;
    unlink("layer");
    disk.fail_at = -1;
    edit_ledger("layer", "CREATE TABLE t(x); INSERT INTO t VALUES(1)");
    assert_int_equal(sqlite3_open("layer", &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db,
                                  "PRAGMA synchronous=OFF; PRAGMA journal_mode=TRUNCATE;"
                                  "INSERT INTO t VALUES(2)",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    disk.fail_at = disk.steps;
    disk.how = POWER_LOST;
    assert_int_not_equal(sqlite3_exec(db, "INSERT INTO t VALUES(3)", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    disk.fail_at = -1;
    disk.dead = false;
    disk_forget(NULL);
    assert_int_equal(ledger_rows("layer", "t"), 1);
}

/* That something was sent is written with the next release, or at the end: after a crash it is
 * pending again. */
static void test_sent_is_written_with_the_next_release(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    for (int last = 0; last < 3; last++) {
        uint64_t id;
        tacit_ledger_file *file;
        remove_ledger();
        file = fresh_ledger(name, 100.0);
        check_ok(commit_text(file, &cost, 0, "x", &id, &err), &err);
        check_ok(tacit_ledger_file_mark_sent(file, id, &err), &err);
        assert_int_equal(tacit_ledger_file_pending(file, NULL, 0), 0);
        check_fails(tacit_ledger_file_mark_sent(file, id, &err), TACIT_EUSAGE, &err, "not pending");
        if (last == 1)
            check_ok(commit_text(file, &cost, 1, "y", &id, &err), &err);
        if (last < 2) { /* the disk goes */
            disk.fail_at = disk.steps;
            disk.how = DISK_GONE;
            assert_int_equal(commit_text(file, &cost, 2, "z", &id, &err), TACIT_EINPUT);
        }
        tacit_ledger_file_close(file, 3, NULL);
        disk.fail_at = -1;
        disk.dead = false;
        disk_forget(NULL);
        file = reopen_ledger(name);
        assert_int_equal(tacit_ledger_file_pending(file, NULL, 0), last < 2);
        if (last < 2)
            check_bytes(file, last == 0 ? 1 : 2, last == 0 ? "x" : "y");
        check_ok(tacit_ledger_file_close(file, 4, &err), &err);
    }
}

/* Killed while a ledger and its key are made, at every step: the next attempt succeeds. */
static void test_interrupted_births(void **state)
{
    (void)state;
    const tacit_ledger_holder holder = test_holder(100.0);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    static const failure hows[] = {KILLED, DISK_GONE, POWER_LOST};
    for (size_t h = 0; h < 3; h++) {
        bool reached = true;
        for (long at = 0; reached && at < 100; at++) {
            tacit_error err = {0};
            tacit_ledger_file *file;
            uint64_t id;
            remove_ledger();
            unlink("disk.key");
            unlink("disk.key.new");
            const pid_t child = fork();
            if (child == 0) {
                disk.how = hows[h];
                disk.steps = 0;
                disk.fail_at = at;
                tacit_status status = tacit_ledger_file_at(&file, name, &holder, NULL);
                _exit(!disk.dead ? 7 : status == TACIT_OK);
            }
            int how;
            waitpid(child, &how, 0);
            assert_true(WIFEXITED(how) && (WEXITSTATUS(how) == 0 || WEXITSTATUS(how) == 7));
            reached = WEXITSTATUS(how) == 0;
            check_ok(tacit_ledger_file_at(&file, name, &holder, &err), &err);
            check_ok(commit_text(file, &cost, 0, "x", &id, &err), &err);
            check_ok(tacit_ledger_file_close(file, 1, &err), &err);
            check_ok(tacit_ledger_file_at(&file, name, &holder, &err), &err);
            assert_int_equal(tacit_ledger_releases(tacit_ledger_file_ledger(file)), 1);
            check_ok(tacit_ledger_file_close(file, 1, &err), &err);
            assert_true(reached || at > 5);
        }
        assert_false(reached);
    }
}

/* ---- damage after a kill ---- */

static const char *const parts[] = {"disk", "disk-journal", "disk-wal"};
enum { PARTS = 3, WAYS = 24 };

typedef struct remains {
    char *bytes[PARTS]; /* NULL: not there */
    size_t len[PARTS];
    size_t told;
} remains;

/* Killed before step `at`; false if it ended before. */
static bool kill_at(long at, remains *r)
{
    int ends[2], how;
    uint64_t id;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        const tacit_key key = test_key(1);
        const tacit_cost cost = ledger_cost("gradient", 0.25);
        tacit_ledger_file *file;
        disk.how = KILLED;
        disk.steps = 0;
        disk.fail_at = at;
        if (tacit_ledger_file_open(&file, name, &key, NULL, NULL))
            _exit(2);
        for (int k = 0; k < RELEASES / 2; k++)
            if (commit_text(file, &cost, k, "some words", &id, NULL) ||
                write(ends[1], &id, sizeof id) != sizeof id ||
                (k % 2 && tacit_ledger_file_mark_sent(file, id, NULL)))
                _exit(3);
        _exit(4); /* without closing */
    }
    close(ends[1]);
    *r = (remains){.told = 0};
    while (read(ends[0], &id, sizeof id) == sizeof id)
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
    remove_ledger();
    for (int p = 0; p < PARTS; p++)
        if (r->bytes[p])
            write_all(parts[p], r->bytes[p], r->len[p]);
}

/* Gone, empty, cut, or a bit turned over; false if this way does not make a difference. */
static bool damage(const remains *r, int part, int way)
{
    const size_t len = r->len[part];
    if (!r->bytes[part] || (len == 0 && way > 0))
        return false;
    if (way == 0)
        return unlink(parts[part]) == 0;
    if (way < WAYS / 2)
        return truncate(parts[part], (off_t)(len * (size_t)(way - 1) / (WAYS / 2))) == 0;
    const size_t at = way < WAYS * 2 / 3 ? (size_t)dice_below(&disk.d, len < 32 ? len : 32)
                                         : (size_t)dice_below(&disk.d, len);
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
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    const tacit_status status = tacit_ledger_file_open(&file, name, &key, NULL, &err);
    if (status) {
        if (status != TACIT_EVERIFY)
            assert_true(strstr(err.text, "cannot open") || strstr(err.text, "cannot write") ||
                        strstr(err.text, "cannot read"));
        return false;
    }
    assert_in_range(tacit_ledger_releases(tacit_ledger_file_ledger(file)), r->told, r->told + 1);
    check_ok(tacit_ledger_file_close(file, 9, &err), &err);
    return true;
}

static void test_damage_after_a_kill(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t good = 0, refused = 0, len;
    bool killed = true;
    disk.d = (dice){11};
    remove_ledger();
    check_ok(tacit_ledger_file_close(fresh_ledger(name, 100.0), 0, &err), &err);
    char *bytes = read_all(name, &len);
    for (long at = 0; killed; at += SLOW ? 3 : 1) {
        remains r;
        remove_ledger();
        write_all(name, bytes, len);
        killed = kill_at(at, &r);
        put_back(&r);
        assert_true(opens_and_remembers(&r));
        for (int k = 0; k < PARTS * WAYS; k++) {
            put_back(&r);
            if (damage(&r, k / WAYS, k % WAYS))
                *(opens_and_remembers(&r) ? &good : &refused) += 1;
        }
        for (int k = 0; k < WAYS; k++) { /* both at once */
            put_back(&r);
            if (damage(&r, 1, k) && damage(&r, 0, 1 + (int)dice_below(&disk.d, WAYS - 1)))
                *(opens_and_remembers(&r) ? &good : &refused) += 1;
        }
        for (int p = 0; p < PARTS; p++)
            free(r.bytes[p]);
    }
    free(bytes);
    print_message("%zu damaged ledgers were refused, %zu had lost nothing\n", refused, good);
    assert_true(refused > 500 && good > 500);
}

/* ---- full and read-only ---- */

/* In a child: files may not grow beyond `limit`. Exit code: the status of the first failure, 0 if
 * there was none, 200 if something was wrong. */
static int fill_up(rlim_t limit)
{
    tacit_ledger_file *file;
    tacit_error err = {0};
    const tacit_key key = test_key(1);
    const tacit_cost cost = ledger_cost("gradient", 0.25);
    static char bytes[5000];
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
    tacit_status status = tacit_ledger_file_open(&file, name, &key, NULL, &err);
    for (int k = 0; k < 100 && !status; k++) {
        tacit_permit *permit;
        uint64_t id;
        status = tacit_ledger_file_reserve(file, &cost, k, &permit, &err);
        if (!status)
            status = tacit_ledger_file_commit(file, permit, bytes, sizeof bytes, k, &id, &err);
        if (status && !strstr(err.text, "room"))
            _exit(200);
    }
    tacit_ledger_file_close(file, 0, NULL);
    return (int)status;
}

static void test_no_room(void **state)
{
    (void)state;
    for (rlim_t limit = 40000; limit < 400000; limit += 90000) {
        tacit_error err = {0};
        remove_ledger();
        check_ok(tacit_ledger_file_close(fresh_ledger(name, 100.0), 0, &err), &err);
        const pid_t child = fork();
        if (child == 0)
            _exit(fill_up(limit));
        int how;
        waitpid(child, &how, 0);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), TACIT_EINPUT);
        tacit_ledger_file *file = reopen_ledger(name); /* verifies */
        uint64_t id;
        const tacit_cost cost = ledger_cost("gradient", 0.25);
        check_ok(commit_text(file, &cost, 0, "there is room again", &id, &err), &err);
        check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    }
}

/* SQLite gets no more memory at some point: an error, and the ledger is as good as after a crash.
 */
static void test_no_memory(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t refused = 0, len;
    remove_ledger();
    check_ok(tacit_ledger_file_close(fresh_ledger(name, 100.0), 0, &err), &err);
    char *bytes = read_all(name, &len);
    for (sqlite3_int64 room = 1; room < 400000; room += 1 + room / 6) {
        remove_ledger();
        write_all(name, bytes, len);
        disk_forget(NULL);
        life l = {.count = 0};
        tacit_ledger_file *file;
        const tacit_key key = test_key(1);
        const tacit_cost cost = ledger_cost("gradient", 0.25);
        static char text[20000];
        memset(text, 'x', sizeof text - 1);
        sqlite3_hard_heap_limit64(sqlite3_memory_used() + room);
        tacit_status status = tacit_ledger_file_open(&file, name, &key, NULL, &err);
        for (int k = 0; k < RELEASES && !status; k++) {
            status = commit_text(file, &cost, k, text, &l.told[l.count], &err);
            l.count += !status;
        }
        sqlite3_hard_heap_limit64(0);
        if (status) {
            refused++;
            assert_int_equal(status, TACIT_EINTERNAL);
        }
        tacit_ledger_file_close(file, 9, NULL);
        found f = {.count = 0};
        file = reopen_ledger(name);
        check_ok(tacit_ledger_file_each(file, note, &f, &err), &err);
        assert_true(f.count >= l.count);
        for (size_t k = 0; k < l.count; k++)
            assert_int_equal(f.id[k], l.told[k]);
        check_ok(tacit_ledger_file_close(file, 10, &err), &err);
    }
    free(bytes);
    assert_in_range(refused, 10, 100);
}

static void test_a_folder_that_is_not_there(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    const tacit_ledger_holder holder = test_holder(1.0);
    check_fails(tacit_ledger_file_create(&file, "no/such/folder", &key, &holder, &err),
                TACIT_EINPUT, &err, "no/such/folder");
    check_fails(tacit_ledger_file_at(&file, "no/such/folder", &holder, &err), TACIT_EINPUT, &err,
                "no/such/folder");
    mkdir("folder", 0755);
    check_fails(tacit_ledger_file_open(&file, "folder", &key, NULL, &err), TACIT_EINPUT, &err,
                "folder");
    check_fails(tacit_ledger_file_create(&file, "folder", &key, &holder, &err), TACIT_EINPUT, &err,
                "folder");
    if (geteuid() == 0)
        return; /* root may write everywhere */
    check_ok(tacit_ledger_file_close(fresh_ledger("sealed", 1.0), 0, &err), &err);
    chmod("sealed", 0400);
    check_fails(tacit_ledger_file_open(&file, "sealed", &key, NULL, &err), TACIT_EINPUT, &err,
                "sealed");
}

static int set_up(void **state)
{
    (void)state;
    disk_use();
    return 0;
}

int main(void)
{
    disk.fail_at = -1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_disk_that_goes_away),
        cmocka_unit_test(test_power_that_goes_away),
        cmocka_unit_test(test_the_layer_loses_what_was_not_synchronised),
        cmocka_unit_test(test_sent_is_written_with_the_next_release),
        cmocka_unit_test(test_interrupted_births),
        cmocka_unit_test(test_damage_after_a_kill),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_a_folder_that_is_not_there),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
