/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at random instants, 200 times, of a peer that releases without pause. An observer at
 * the other end of a pipe writes down every message: after each crash
 *   - the ledger opens and verifies,
 *   - every release the observer saw is in it, and it never says less than the observer knows,
 *   - what is pending and was seen before is the same, byte by byte (the bytes are fresh random
 *     ones, so computing them anew would show),
 *   - no id stands for two messages.
 * In the end the budget is used up: refused with 5, not a release too many.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "privacy/release.h"
#include "testing.h"

enum { CRASHES = 200, LONGEST_US = 20000, WORD = 16, MOST = 4096 };
#define EPSILON 0.0625
static const char name[] = "crash";

/* What an observer sees: smaller than PIPE_BUF, so that it comes whole or not at all. */
typedef struct message {
    uint64_t id;
    double epsilon; /* so far, as the peer believes */
    uint8_t word[WORD];
    uint8_t again; /* sent after a crash */
} message;

typedef struct observer {
    message *seen; /* by order of arrival */
    size_t count, capacity;
    size_t repeated;
    double most; /* the largest epsilon it was told */
} observer;

/* ---- the peer ---- */

static double epsilon_of(tacit_ledger_file *file)
{
    double epsilon = NAN;
    return tacit_ledger_file_epsilon(file, TACIT_BY_SUM, 0, &epsilon, NULL) ? NAN : epsilon;
}

static bool tell(int to, uint64_t id, double epsilon, const void *word, bool again)
{
    message m = {.id = id, .epsilon = epsilon, .again = again};
    memcpy(m.word, word, WORD);
    return write(to, &m, sizeof m) == (ssize_t)sizeof m;
}

static bool resend(tacit_ledger_file *file, int to)
{
    uint64_t id[MOST];
    const size_t pending = tacit_ledger_file_pending(file, id, MOST);
    for (size_t k = 0; k < pending && k < MOST; k++) {
        void *bytes;
        size_t len;
        if (tacit_ledger_file_fetch(file, id[k], &bytes, &len, NULL) || len != WORD ||
            !tell(to, id[k], epsilon_of(file), bytes, true) ||
            tacit_ledger_file_mark_sent(file, id[k], NULL))
            return false;
        free(bytes);
    }
    return true;
}

/* Ends only when it is killed or something is refused. */
static int peer(int to)
{
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    tacit_status status = tacit_ledger_file_open(&file, name, &key, NULL, NULL);
    if (status)
        return (int)status;
    if (!resend(file, to))
        return 99;
    for (int k = 0;; k++) {
        tacit_permit *permit;
        uint8_t word[WORD];
        uint64_t id;
        status = tacit_ledger_file_reserve(file, &cost, k, &permit, NULL);
        if (status)
            break;
        permit->state = TACIT_PERMIT_TOUCHED;
        randombytes_buf(word, sizeof word);
        status = tacit_ledger_file_commit(file, permit, word, sizeof word, k, &id, NULL);
        if (status)
            break;
        if (!tell(to, id, epsilon_of(file), word, false))
            return 98;
        if (k % 3 && tacit_ledger_file_mark_sent(file, id, NULL))
            return 97;
    }
    tacit_ledger_file_close(file, 0, NULL);
    return (int)status;
}

/* ---- the observer ---- */

static const message *find(const observer *o, uint64_t id)
{
    for (size_t k = 0; k < o->count; k++)
        if (o->seen[k].id == id)
            return &o->seen[k];
    return NULL;
}

/* One message, if the other end has not gone. */
static bool hear(observer *o, int from)
{
    message m;
    const ssize_t n = read(from, &m, sizeof m);
    if (n == 0)
        return false;
    assert_int_equal(n, sizeof m);
    o->most = fmax(o->most, m.epsilon);
    const message *before = find(o, m.id);
    if (before) {
        assert_true(m.again); /* an id of old is only ever sent again */
        assert_memory_equal(before->word, m.word, WORD);
        o->repeated++;
        return true;
    }
    if (o->count == o->capacity) {
        o->capacity = o->capacity ? 2 * o->capacity : 256;
        o->seen = realloc(o->seen, o->capacity * sizeof *o->seen);
        assert_non_null(o->seen);
    }
    o->seen[o->count++] = m;
    return true;
}

/* Run a peer; after `messages` of them and `us` microseconds more it is killed (us < 0: it may
 * end by itself). */
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

/* ---- what the disk says afterwards ---- */

typedef struct disk {
    uint64_t *id;
    size_t count, capacity;
} disk;

static tacit_status note_id(void *context, const tacit_ledger_record *record, tacit_error *err)
{
    (void)err;
    disk *d = context;
    if (d->count == d->capacity) {
        d->capacity = d->capacity ? 2 * d->capacity : 256;
        d->id = realloc(d->id, d->capacity * sizeof *d->id);
        assert_non_null(d->id);
    }
    d->id[d->count++] = record->release;
    return TACIT_OK;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void check_pending(const observer *o, tacit_ledger_file *file)
{
    tacit_error err = {0};
    uint64_t id[MOST];
    const size_t pending = tacit_ledger_file_pending(file, id, MOST);
    assert_in_range(pending, 0, MOST);
    for (size_t k = 0; k < pending; k++) {
        const message *before = find(o, id[k]);
        void *bytes;
        size_t len;
        check_ok(tacit_ledger_file_fetch(file, id[k], &bytes, &len, &err), &err);
        assert_int_equal(len, WORD);
        if (before)
            assert_memory_equal(bytes, before->word, WORD);
        free(bytes);
    }
}

static double check_disk(const observer *o)
{
    tacit_error err = {0};
    disk d = {.count = 0};
    tacit_ledger_file *file;
    const tacit_key key = test_key(1);
    check_ok(tacit_ledger_file_look(&file, name, &key, &err), &err); /* verifies */
    const double epsilon = epsilon_of(file);
    assert_true(epsilon >= o->most);
    assert_true(epsilon >= EPSILON * (double)o->count);
    check_ok(tacit_ledger_file_each(file, note_id, &d, &err), &err);
    assert_float_equal(epsilon, EPSILON * (double)d.count, 1e-9);
    if (d.count > 0)
        qsort(d.id, d.count, sizeof *d.id, by_value);
    for (size_t k = 1; k < d.count; k++)
        assert_true(d.id[k - 1] < d.id[k]);
    for (size_t k = 0; k < o->count; k++)
        assert_non_null(bsearch(&o->seen[k].id, d.id, d.count, sizeof *d.id, by_value));
    check_pending(o, file);
    free(d.id);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
    return epsilon;
}

static void set_budget(double epsilon)
{
    tacit_error err = {0};
    tacit_ledger_file *file = fresh_ledger(name, epsilon);
    check_ok(tacit_ledger_file_close(file, 0, &err), &err);
}

static void test_killed_two_hundred_times(void **state)
{
    (void)state;
    observer o = {.count = 0};
    dice d = {2024};
    int early = 0;
    set_budget(1e6);
    for (int crash = 0; crash < CRASHES; crash++) {
        const size_t before = o.count;
        /* By turns at any instant from its birth on, opening included, and among messages: on a
         * slow machine too, both are met. */
        if (crash % 2)
            assert_int_equal(run_peer(&o, 0, (long)dice_below(&d, LONGEST_US)), -1);
        else
            assert_int_equal(run_peer(&o, dice_below(&d, 12), (long)dice_below(&d, 1500)), -1);
        early += o.count == before;
        check_disk(&o);
    }
    print_message("%zu messages, %zu sent again, %d crashes before the first new one\n", o.count,
                  o.repeated, early);
    assert_true(o.count > CRASHES / 4);
    free(o.seen);
}

/* A budget for 150 releases, crashes included: the last peer is refused with 5. */
static void test_the_budget_holds_through_crashes(void **state)
{
    (void)state;
    observer o = {.count = 0};
    dice d = {7};
    int ended = -1;
    set_budget(150 * EPSILON);
    for (int crash = 0; crash < 20 && ended < 0; crash++) {
        ended = run_peer(&o, dice_below(&d, 12), (long)dice_below(&d, 1500));
        check_disk(&o);
    }
    if (ended < 0)
        ended = run_peer(&o, 0, -1);
    assert_int_equal(ended, TACIT_EBUDGET);
    assert_int_equal(run_peer(&o, 0, -1), TACIT_EBUDGET);
    assert_float_equal(check_disk(&o), 150 * EPSILON, 1e-9);
    assert_int_equal(o.count, 150); /* what was pending has been sent by now */
    free(o.seen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_two_hundred_times),
        cmocka_unit_test(test_the_budget_holds_through_crashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
