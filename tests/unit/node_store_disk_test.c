/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A disk that takes no more: the store falls mute, keeps nothing, and pays before it speaks again.
 * Full disks are made by a limit on file sizes, and by a small tmpfs where mounting is allowed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "store_tools.h"
#include "testing.h"

static const char ledger7[] = "peer/agent-7.ledger";

/* No file may grow beyond so many bytes; RLIM_INFINITY: there is room again. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int set_up(void **state)
{
    signal(SIGXFSZ, SIG_IGN);
    return start_empty(state);
}

/* Also when a test has failed under the limit: the next must not. */
static int tear_down(void **state)
{
    (void)state;
    limit_files(RLIM_INFINITY);
    return 0;
}

static rlim_t size_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(name, &info), 0);
    return (rlim_t)info.st_size;
}

static tacit_status release(node_store *store, tacit_permit *const *permits, size_t count,
                            const char *frames, const char *state, tacit_error *err)
{
    return node_store_release(store, 0, permits, count, frames, strlen(frames), state,
                              strlen(state), 2, err);
}

/* Nothing can be written, and nothing is. */
static void check_mute(node_store *store)
{
    tacit_error err = {0};
    uint8_t who[32] = {1};
    assert_non_null(node_store_mute(store));
    check_fails(node_store_begin(store, 1, &err), TACIT_EINPUT, &err, "nothing is written");
    check_fails(node_store_put_peer(store, who, "x", 1, &err), TACIT_EINPUT, &err, "nothing is");
    check_fails(node_store_rise(store, node_store_incarnation(store), &err), TACIT_EINPUT, &err,
                "nothing is written");
}

static void revived(node_store *store)
{
    tacit_error err = {0};
    check_ok(node_store_revive(store, 5, &err), &err);
    assert_null(node_store_mute(store));
}

/* ---- releases ---- */

/* At each size: whatever part of the transaction fails, two releases are charged in the end. */
static void try_limit(rlim_t bytes, size_t *failed)
{
    tacit_error err = {0};
    char big[STATE_MAX];
    memset(big, 's', sizeof big - 1), big[sizeof big - 1] = '\0';
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    tacit_permit *permit = permit_of(store, 0);
    limit_files(bytes);
    const tacit_status status = release(store, &permit, 1, "two", big, &err);
    if (status) {
        ++*failed;
        assert_int_equal(status, TACIT_EINPUT);
        check_mute(store);
        for (int k = 0; k < 3; k++) /* no debt grows by trying */
            if (node_store_revive(store, 4, &err) != TACIT_OK)
                check_mute(store);
        limit_files(RLIM_INFINITY);
        revived(store);
    }
    limit_files(RLIM_INFINITY);
    assert_int_equal(releases(store, 0), 2);
    tell(store, 0, "three", "state three");
    tell(store, 1, "drei", "Zustand drei");
    checkpoint(store, 3, NULL, NULL);
    store = again(store); /* verifies */
    assert_int_equal(releases(store, 0), 3);
    check_restores(store, 0, "three", "state three", true);
    check_restores(store, 1, "drei", "Zustand drei", true);
    closed(store);
}

static void test_no_room_at_any_size(void **state)
{
    size_t tried = 0, failed = 0;
    for (rlim_t bytes = 0; bytes < 48 * 1024; bytes += SLOW ? 3000 : 1300, tried++) {
        start_empty(state);
        try_limit(bytes, &failed);
    }
    print_message("%zu of %zu releases failed\n", failed, tried);
    assert_true(failed > tried / 4 && failed < tried);
}

/* The first two charges fit, the third with its large state does not. */
static void test_the_last_of_three_permits(void **state)
{
    (void)state;
    tacit_error err = {0};
    char big[STATE_MAX];
    memset(big, 's', sizeof big - 1), big[sizeof big - 1] = '\0';
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    tacit_permit *permits[3];
    for (int k = 0; k < 3; k++)
        permits[k] = permit_of(store, 0);
    limit_files(size_of(ledger7));
    check_fails(release(store, permits, 3, "two", big, &err), TACIT_EINPUT, &err, "room");
    limit_files(RLIM_INFINITY);
    assert_string_equal(node_store_mute(store), err.text);
    revived(store);
    assert_int_equal(releases(store, 0), 4);
    check_restores(store, 0, "one", "state one", true); /* two was never told */
    store = again(store);
    assert_int_equal(releases(store, 0), 4);
    check_restores(store, 0, "one", "state one", true);
    closed(store);
}

/* A permit that a handler touched and nobody handed over is charged, too; one that was only
 * reserved is not. */
static void test_other_permits(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    tacit_permit *permit = permit_of(store, 0);
    permit_of(store, 0);
    permit_of(store, 0)->state = TACIT_PERMIT_RESERVED;
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    limit_files(RLIM_INFINITY);
    revived(store);
    assert_int_equal(releases(store, 0), 2);
    closed(store);
}

/* Reserving writes now and then; the store does not see it, but knows. */
static void test_reserving_without_room(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_permit *permit;
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    node_store *store = opened();
    limit_files(0);
    check_fails(tacit_ledger_file_reserve(node_store_ledger(store, 0), &cost, 1, &permit, &err),
                TACIT_EINPUT, &err, "");
    check_mute(store);
    limit_files(RLIM_INFINITY);
    revived(store);
    tell(store, 0, "one", "state one");
    closed(store);
}

/* A ledger that could not be opened again can be looked at, and asked for anything. */
static void check_shut(node_store *store)
{
    tacit_error err = {0};
    tacit_ledger_file *file = node_store_ledger(store, 0);
    tacit_permit *permit;
    void *bytes;
    size_t len;
    double epsilon = 0;
    uint64_t id = 0;
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    assert_int_equal(releases(store, 0), 2);
    check_ok(tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, &err), &err);
    assert_float_equal(epsilon, 2 * EPSILON, 1e-12);
    assert_int_equal(tacit_ledger_file_holder(file)->agent, 7);
    check_fails(tacit_ledger_file_reserve(file, &cost, 1, &permit, &err), TACIT_EINPUT, &err,
                "takes no more");
    if (tacit_ledger_file_pending(file, &id, 1) > 0)
        assert_int_not_equal(tacit_ledger_file_fetch(file, id, &bytes, &len, &err), TACIT_OK);
    assert_int_not_equal(tacit_ledger_file_mark_sent(file, id, &err), TACIT_OK);
}

/* Written, though it looked as if not: it is charged once, and its frames are the last. */
static int move_away(void *ctx)
{
    return rename(ledger7, ctx);
}

static void test_a_release_that_was_written_after_all(void **state)
{
    (void)state;
    tacit_error err = {0};
    static char away[] = "peer/away";
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    tacit_permit *permit = permit_of(store, 0);
    sqlite3_commit_hook(node_store_ledger(store, 0)->db, move_away, away);
    check_fails(release(store, &permit, 1, "two", "state two", &err), TACIT_EVERIFY, &err, "moved");
    check_mute(store);
    check_fails(node_store_revive(store, 4, &err), TACIT_EINPUT, &err, "cannot open the ledger");
    check_mute(store);
    check_shut(store);
    assert_int_equal(rename(away, ledger7), 0);
    revived(store);
    assert_int_equal(releases(store, 0), 2);
    check_restores(store, 0, "two", "state two", true);
    store = again(store);
    assert_int_equal(releases(store, 0), 2);
    closed(store);
}

/* ---- closing ---- */

static void test_closing_pays(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    tacit_permit *permit = permit_of(store, 0);
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    limit_files(RLIM_INFINITY);
    store = again(store);
    assert_int_equal(releases(store, 0), 1);
    /* If it cannot, it says so. The value died with the store. */
    permit = permit_of(store, 0);
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    assert_int_not_equal(node_store_close(store, 5, &err), TACIT_OK);
    limit_files(RLIM_INFINITY);
    store = opened();
    assert_int_equal(releases(store, 0), 1);
    closed(store);
}

/* ---- checkpoints ---- */

static void test_a_checkpoint_without_room(void **state)
{
    (void)state;
    tacit_error err = {0};
    static char big[100000];
    node_store *store = opened();
    checkpoint(store, 1, "kept", "kept too");
    check_ok(node_store_begin(store, 2, &err), &err);
    check_ok(node_store_put(store, 0, "newer", 5, &err), &err);
    check_fails(node_store_begin(store, 2, &err), TACIT_EUSAGE, &err, "begins once");
    limit_files(20000);
    tacit_status status = node_store_put(store, 1, big, sizeof big, &err);
    if (!status)
        status = node_store_end(store, &err);
    assert_int_equal(status, TACIT_EINPUT);
    check_mute(store);
    check_fails(node_store_put(store, 0, "x", 1, &err), TACIT_EUSAGE, &err, "begun");
    check_fails(node_store_end(store, &err), TACIT_EUSAGE, &err, "begun");
    limit_files(RLIM_INFINITY);
    revived(store);
    check_restores(store, 0, NULL, "kept", true); /* all or nothing */
    checkpoint(store, 3, "newest", NULL);
    store = again(store);
    check_restores(store, 0, NULL, "newest", true);
    check_restores(store, 1, NULL, "kept too", true);
    closed(store);
}

/* A release fails while a checkpoint is under way: nothing of it stays. */
static void test_mute_within_a_checkpoint(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    checkpoint(store, 1, "kept", "kept too");
    tacit_permit *permit = permit_of(store, 0);
    check_ok(node_store_begin(store, 2, &err), &err);
    check_ok(node_store_put(store, 0, "has seen it", 11, &err), &err);
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    limit_files(RLIM_INFINITY);
    check_fails(node_store_put(store, 1, "y", 1, &err), TACIT_EINPUT, &err, "nothing is written");
    check_fails(node_store_end(store, &err), TACIT_EINPUT, &err, "nothing is written");
    revived(store);
    store = again(store);
    check_restores(store, 0, NULL, "kept", true);
    /* The same if it is revived before anybody ends the checkpoint. */
    permit = permit_of(store, 0);
    check_ok(node_store_begin(store, 2, &err), &err);
    check_ok(node_store_put(store, 0, "has seen it", 11, &err), &err);
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    limit_files(RLIM_INFINITY);
    revived(store);
    check_fails(node_store_end(store, &err), TACIT_EUSAGE, &err, "begun");
    check_restores(store, 0, NULL, "kept", true);
    checkpoint(store, 3, "newer", NULL);
    /* ... or closed. */
    check_ok(node_store_begin(store, 4, &err), &err);
    check_ok(node_store_put(store, 0, "not yet", 7, &err), &err);
    store = again(store);
    check_restores(store, 0, NULL, "newer", true);
    closed(store);
}

static void test_a_node_db_that_went_away(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_store *store = opened();
    checkpoint(store, 1, "kept", NULL);
    assert_int_equal(rename("peer/node.db", "peer/away"), 0);
    check_fails(node_store_begin(store, 2, &err), TACIT_EVERIFY, &err, "moved");
    check_mute(store);
    check_fails(node_store_revive(store, 2, &err), TACIT_EINPUT, &err, "node.db");
    assert_int_not_equal(access("peer/node.db", F_OK), 0);
    assert_int_equal(rename("peer/away", "peer/node.db"), 0);
    revived(store);
    checkpoint(store, 2, "newer", NULL);
    check_restores(store, 0, NULL, "newer", true);
    closed(store);
}

/* ---- debts beyond the budget ---- */

static void test_a_debt_that_cannot_be_paid(void **state)
{
    (void)state;
    tacit_error err = {0};
    pair[0].budget.epsilon = 2 * EPSILON;
    node_store *store = opened();
    tell(store, 0, "one", "state one");
    checkpoint(store, 1, "kept", "kept too");
    tacit_permit *permit = permit_of(store, 0);
    limit_files(0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EINPUT, &err, "");
    limit_files(RLIM_INFINITY);
    permit->cost.noise /= 8; /* as if something dearer had been computed */
    check_fails(node_store_revive(store, 5, &err), TACIT_EBUDGET, &err, "agent 7 \"ann\"");
    assert_null(node_store_mute(store)); /* the other goes on */
    assert_true(node_store_silent(store, 0) && !node_store_silent(store, 1));
    tell(store, 1, "zwei", "Zustand zwei");
    check_ok(node_store_begin(store, 2, &err), &err);
    check_ok(node_store_put(store, 0, "has seen it", 11, &err), &err);
    check_ok(node_store_put(store, 1, "kept later", 10, &err), &err);
    check_ok(node_store_end(store, &err), &err);
    check_restores(store, 0, "one", "kept", true); /* what nobody paid for is not kept */
    check_restores(store, 1, "zwei", "kept later", true);
    permit = permit_of(store, 0);
    check_fails(release(store, &permit, 1, "x", "y", &err), TACIT_EBUDGET, &err, "silent");
    assert_null(node_store_mute(store));
    store = again(store);
    assert_int_equal(releases(store, 0), 2); /* what could be charged was */
    check_restores(store, 0, "one", "kept", true);
    closed(store);
}

/* ---- a real disk that is full ---- */

/* Until nothing more fits. */
static bool fill_up(const char *name)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    char page[4096] = {1};
    ssize_t n = fd < 0 ? -1 : 0;
    while (n >= 0)
        n = write(fd, page, sizeof page);
    const bool full = fd >= 0 && errno == ENOSPC;
    close(fd);
    return full;
}

/* In a child, where cmocka must not speak: the line, as an exit code. */
#define DEMAND(what)                    \
    do {                                \
        if (!(what))                    \
            return __LINE__ % 200 + 20; \
    } while (0)

static int on_a_small_disk(void)
{
    tacit_error err = {0};
    node_store *store;
    tacit_permit *permit;
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    char state[5000] = "state";
    if (mkdir("full", 0700) || mount("none", "full", "tmpfs", 0, "size=300k,mode=700"))
        return 1;
    node_store_plan plan = plan_of();
    plan.folder = "full/peer";
    DEMAND(!node_store_open(&store, &plan, &err));
    for (int k = 0; k < 3; k++) {
        DEMAND(!tacit_ledger_file_reserve(node_store_ledger(store, 0), &cost, 1, &permit, &err));
        DEMAND(fill_up("full/ballast"));
        tacit_status status = TACIT_OK;
        int told = 0;
        while (!(status = node_store_release(store, 0, &permit, 1, "frames", 6, state, sizeof state,
                                             2, &err)) &&
               told++ < 1000)
            DEMAND(
                !tacit_ledger_file_reserve(node_store_ledger(store, 0), &cost, 1, &permit, &err));
        DEMAND(status == TACIT_EINPUT && node_store_mute(store));
        DEMAND(node_store_begin(store, 1, &err) == TACIT_EINPUT);
        const uint64_t owed = releases(store, 0);
        DEMAND(node_store_revive(store, 3, &err) == TACIT_EINPUT && node_store_mute(store));
        DEMAND(unlink("full/ballast") == 0);
        DEMAND(!node_store_revive(store, 3, &err) && !node_store_mute(store));
        DEMAND(releases(store, 0) == owed);
    }
    const uint64_t all = releases(store, 0);
    DEMAND(!node_store_close(store, 4, &err));
    DEMAND(!node_store_open(&store, &plan, &err));
    DEMAND(releases(store, 0) == all && all >= 3);
    DEMAND(!node_store_close(store, 4, &err));
    return 0;
}

static void test_a_full_disk(void **state)
{
    (void)state;
    int how;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool alone = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
        _exit(alone ? on_a_small_disk() : 1);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    if (WEXITSTATUS(how) == 1)
        skip(); /* mounting is not allowed here */
    assert_int_equal(WEXITSTATUS(how), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_room_at_any_size),
        TEST(test_the_last_of_three_permits),
        TEST(test_other_permits),
        TEST(test_reserving_without_room),
        TEST(test_a_release_that_was_written_after_all),
        TEST(test_closing_pays),
        TEST(test_a_checkpoint_without_room),
        TEST(test_mute_within_a_checkpoint),
        TEST(test_a_node_db_that_went_away),
        TEST(test_a_debt_that_cannot_be_paid),
        TEST(test_a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
