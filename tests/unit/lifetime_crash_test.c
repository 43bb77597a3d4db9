/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at random instants, 200 times, over three runs of two kinds on one data set. Each run
 * reserves its plan in the lifetime ledger, releases under a ledger of its own, and settles; an
 * observer at the other end of a pipe writes down every release. After each crash the lifetime
 * ledger verifies, what it says is spent is at least what the observer has seen, and never more
 * than the budget. In the end all three have settled, exactly what was released is charged, and
 * the fourth run is refused with 5.
 *
 * Then many processes at once: one ledger is made, and no more is reserved than the budget has.
 */
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "lifetime_tools.h"
#include "privacy/release.h"
#include "testing.h"

enum { CRASHES = 200, RUNS = 3, PLANNED = 320, USED = 220, LONGEST_US = 12000 };
static const char path[] = "lives";

/* What each run releases: the second ends early. */
static const uint64_t used[RUNS + 1] = {PLANNED, USED, PLANNED, PLANNED};

static tacit_cost cost_of(int run)
{
    return run % 2 ? gaussian_cost("gradient", 60) : ledger_cost("count", 0.004);
}

/* The filter's epsilon of `a` releases of the first kind and `b` of the second. */
static double epsilon_of(const tacit_lifetime_terms *terms, uint64_t a, uint64_t b)
{
    tacit_error err = {0};
    const tacit_cost first = cost_of(0), second = cost_of(1);
    tacit_loss loss[2];
    double epsilon;
    tacit_cost_loss(&first, a, &loss[0]);
    tacit_cost_loss(&second, b, &loss[1]);
    check_ok(tacit_filter_epsilon(terms, loss, 2, &epsilon, &err), &err);
    return epsilon;
}

/* What all three plans need, and a little. */
static tacit_lifetime_terms budget(void)
{
    tacit_lifetime_terms terms = life_terms(2);
    for (int k = 0; k < 3; k++)
        terms.epsilon = 1.0001 * epsilon_of(&terms, (uint64_t)2 * PLANNED, PLANNED);
    return terms;
}

/* ---- the peer ---- */

typedef struct message {
    uint64_t run, release;
} message;

static uint64_t released(const tacit_ledger_file *file)
{
    return tacit_ledger_releases(tacit_ledger_file_ledger(file));
}

static tacit_status release_all(tacit_ledger_file *file, int run, int to)
{
    const tacit_cost cost = cost_of(run);
    uint64_t pending[8], id;
    for (size_t k = tacit_ledger_file_pending(file, pending, 8); k-- > 0;) {
        const message m = {(uint64_t)run, pending[k]};
        if (write(to, &m, sizeof m) != sizeof m ||
            tacit_ledger_file_mark_sent(file, m.release, NULL))
            return TACIT_EPEER;
    }
    while (released(file) < used[run]) {
        tacit_status status = commit_text(file, &cost, 1, "a release", &id, NULL);
        const message m = {(uint64_t)run, id};
        if (status)
            return status;
        if (write(to, &m, sizeof m) != sizeof m || tacit_ledger_file_mark_sent(file, id, NULL))
            return TACIT_EPEER;
    }
    return TACIT_OK;
}

/* One run from where it was left: reserve, release, settle. */
static tacit_status one_run(tacit_lifetime *l, int run, int to)
{
    char name[30];
    tacit_ledger_file *file;
    tacit_ledger_holder holder = test_holder(INFINITY);
    const tacit_cost cost = cost_of(run);
    const tacit_ledger_entry item = {.cost = &cost, .releases = PLANNED};
    tacit_lifetime_request r = life_request("patients", name, &item);
    tacit_lifetime_records *records = some_records(l, 0, 20);
    uint64_t id;
    snprintf(name, sizeof name, "lives-run-%d", run);
    holder.budget.delta = 1e-5;
    holder.budget.accountant = TACIT_BY_RDP;
    tacit_status status = tacit_ledger_file_at(&file, name, &holder, NULL);
    if (!status) {
        tacit_ledger_file_nonce(file, r.nonce);
        r.records = records;
        status = tacit_lifetime_reserve(l, &r, 1, &id, NULL);
        if (!status)
            status = release_all(file, run, to);
        const tacit_ledger *spent = tacit_ledger_file_ledger(file);
        if (!status)
            status = tacit_lifetime_settle(l, id, spent->entries, spent->count, 0, 2, NULL);
        tacit_ledger_file_close(file, 3, NULL);
    }
    tacit_lifetime_records_free(records);
    return status;
}

/* Which run it is at: the first one that has not settled. */
static int next_run(tacit_lifetime *l)
{
    tacit_lifetime_view *view;
    if (tacit_lifetime_read(l, &view, NULL))
        return -1;
    int run = 0;
    for (size_t k = 0; k < view->sets[0].count; k++)
        run += view->sets[0].entries[k].state == TACIT_LIFETIME_SETTLED;
    tacit_lifetime_view_free(view);
    return run;
}

static int peer(int to)
{
    tacit_lifetime *l;
    tacit_status status = tacit_lifetime_open(&l, path, NULL);
    for (int run = status ? RUNS + 1 : next_run(l); run <= RUNS && !status; run++)
        status = run < 0 ? TACIT_EINTERNAL : one_run(l, run, to);
    return (int)status;
}

/* ---- the observer ---- */

typedef struct observer {
    uint64_t seen[RUNS + 1]; /* releases of each run */
    uint64_t last[RUNS + 1];
} observer;

static bool hear(observer *o, int from)
{
    message m;
    const ssize_t n = read(from, &m, sizeof m);
    if (n == 0)
        return false;
    assert_int_equal(n, sizeof m);
    assert_in_range(m.run, 0, RUNS);
    if (m.release > o->last[m.run]) { /* else it was sent again */
        o->seen[m.run]++;
        o->last[m.run] = m.release;
    }
    return true;
}

/* After `messages` of them and `us` microseconds more it is killed; us < 0: it ends by itself. */
static int run_peer(observer *o, uint64_t messages, long us)
{
    int ends[2], how;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        _exit(peer(ends[1]));
    }
    close(ends[1]);
    while (messages > 0 && hear(o, ends[0]))
        messages--;
    if (us >= 0) {
        usleep((useconds_t)us);
        kill(child, SIGKILL);
    }
    while (hear(o, ends[0]))
        continue;
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    return WIFEXITED(how) ? WEXITSTATUS(how) : -1;
}

static double check_disk(const observer *o, const tacit_lifetime_terms *terms)
{
    tacit_error err = {0};
    tacit_lifetime *l;
    check_ok(tacit_lifetime_look(&l, path, &err), &err); /* verifies */
    const double spent = life_spent(l, "patients");
    assert_true(spent >= epsilon_of(terms, o->seen[0] + o->seen[2], o->seen[1] + o->seen[3]));
    assert_true(spent <= terms->epsilon);
    tacit_lifetime_close(l);
    return spent;
}

static void test_killed_two_hundred_times_over_three_runs(void **state)
{
    (void)state;
    tacit_error err = {0};
    observer o = {{0}, {0}};
    dice d = {2026};
    int early = 0, ended = 0;
    const tacit_lifetime_terms terms = budget();
    remove_lifetime(path);
    for (int run = 0; run <= RUNS; run++) {
        char name[30];
        snprintf(name, sizeof name, "lives-run-%d", run);
        remove_lifetime(name); /* an earlier life of this test */
    }
    tacit_lifetime *l = opened_lifetime(path);
    check_ok(tacit_lifetime_set(l, "patients", &terms, 0, &err), &err);
    tacit_lifetime_close(l);
    for (int crash = 0; crash < (SLOW ? CRASHES / 4 : CRASHES); crash++) {
        const uint64_t before = o.seen[0] + o.seen[1] + o.seen[2];
        const int how = crash % 2 ? run_peer(&o, 0, (long)dice_below(&d, LONGEST_US))
                                  : run_peer(&o, 1 + dice_below(&d, 12), (long)dice_below(&d, 900));
        ended += how >= 0;
        early += o.seen[0] + o.seen[1] + o.seen[2] == before;
        check_disk(&o, &terms);
    }
    print_message("killed in run %d, %d times before a new release, %d ended by themselves\n",
                  1 + (o.seen[1] > 0) + (o.seen[2] > 0), early, ended);
    /* What is left of the three goes through; the fourth is refused. */
    for (int k = 0; k < 2; k++)
        assert_int_equal(run_peer(&o, 0, -1), TACIT_EBUDGET);
    for (int run = 0; run <= RUNS; run++)
        assert_int_equal(o.seen[run], run < RUNS ? used[run] : 0);
    assert_float_equal(check_disk(&o, &terms), epsilon_of(&terms, 2 * PLANNED, USED), 1e-12);
}

/* ---- many at once ---- */

enum { PEERS = 6, TRIES = 10, FIT = 31 };

/* How many of its reservations were granted; 99: something went wrong. */
static int greedy(int who)
{
    tacit_lifetime *l;
    tacit_error err = {0};
    const tacit_cost cost = ledger_cost("count", 0.125);
    const tacit_ledger_entry item = {.cost = &cost, .releases = 1};
    const tacit_lifetime_terms terms = {
        .epsilon = 0.125 * FIT, .delta = 0, .filter = TACIT_FILTER_SUM};
    int granted = 0;
    if (tacit_lifetime_open(&l, path, &err) || tacit_lifetime_set(l, "patients", &terms, 0, &err))
        return 99;
    tacit_lifetime_records *records = some_records(l, (uint64_t)who, 10);
    for (int k = 0; k < TRIES; k++) {
        char run[40];
        uint64_t id;
        snprintf(run, sizeof run, "%d-%d", who, k);
        tacit_lifetime_request r = life_request("patients", run, &item);
        r.records = records;
        const tacit_status status = tacit_lifetime_reserve(l, &r, 1, &id, &err);
        if (status != TACIT_OK && status != TACIT_EBUDGET)
            return 99;
        granted += !status;
    }
    tacit_lifetime_records_free(records);
    tacit_lifetime_close(l);
    return granted;
}

static void test_processes_share_one_budget(void **state)
{
    (void)state;
    tacit_error err = {0};
    int granted = 0;
    remove_lifetime(path); /* they make it, too */
    pid_t child[PEERS];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (int k = 0; k < PEERS; k++)
        if ((child[k] = fork()) == 0) {
            char none;
            close(gate[1]);
            _exit(read(gate[0], &none, 1) == 0 ? greedy(k) : 99); /* all begin at once */
        }
    close(gate[0]);
    close(gate[1]);
    for (int k = 0; k < PEERS; k++) {
        int how;
        assert_int_equal(waitpid(child[k], &how, 0), child[k]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) <= TRIES);
        granted += WEXITSTATUS(how);
    }
    assert_int_equal(granted, FIT);
    tacit_lifetime *l = opened_lifetime(path);
    assert_float_equal(life_spent(l, "patients"), 0.125 * FIT, 1e-12);
    tacit_lifetime_view *view;
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    assert_int_equal(view->sets[0].count, FIT);
    assert_in_range(view->sets[0].records, 10, 10 + PEERS - 1);
    tacit_lifetime_view_free(view);
    tacit_lifetime_close(l);
}

/* Who finds another at it waits for his turn before he reads anything. */
static void test_a_turn_is_waited_for(void **state)
{
    (void)state;
    int ready[2], go[2], how;
    char one = 'x';
    sqlite3 *db;
    remove_lifetime(path);
    tacit_lifetime_close(opened_lifetime(path));
    assert_true(pipe(ready) == 0 && pipe(go) == 0);
    const pid_t child = fork();
    if (child == 0) {
        tacit_lifetime *l;
        const tacit_lifetime_terms terms = life_terms(1);
        if (tacit_lifetime_open(&l, path, NULL) || write(ready[1], &one, 1) != 1 ||
            read(go[0], &one, 1) != 1)
            _exit(99);
        _exit(tacit_lifetime_set(l, "patients", &terms, 0, NULL));
    }
    assert_int_equal(read(ready[0], &one, 1), 1);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(write(go[1], &one, 1), 1);
    usleep(50000); /* too short for a busy machine: then there is nothing to wait for */
    assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), TACIT_OK);
    for (int k = 0; k < 2; k++) {
        close(ready[k]);
        close(go[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_two_hundred_times_over_three_runs),
        cmocka_unit_test(test_processes_share_one_budget),
        cmocka_unit_test(test_a_turn_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
