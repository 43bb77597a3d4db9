/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at random instants, 200 times, of a node of two agents that releases and keeps
 * checkpoints without pause. It reports each of them through a pipe once the store has it, before
 * anything is sent. After each crash
 *   - every reported release is charged, and at most the one under way beside them,
 *   - the frames are those of the last committed release: what was reported, byte by byte, or the
 *     one that was under way,
 *   - the state is the one that goes with these frames, or one that a checkpoint kept after them,
 *   - the incarnation is larger than any before.
 * Each life goes on from what it finds. Words are fresh random bytes, so that computing them
 * anew would show.
 */
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger_tools.h"
#include "store_tools.h"
#include "testing.h"

enum { CRASHES = 200, LONGEST_US = 20000, WORD = 32, STATE = 3000 };

typedef struct frame {
    uint64_t serial;
    uint32_t permits;
    uint8_t word[WORD];
} frame;

/* What an agent knows: everything in it follows from the first two, so that halves show. */
typedef struct memory {
    uint64_t serial; /* of its last release */
    uint64_t kept;   /* checkpoints since */
    uint8_t rest[STATE];
} memory;

/* Smaller than PIPE_BUF: it comes whole or not at all. */
typedef struct report {
    uint32_t agent;
    bool checkpoint;
    uint64_t incarnation, kept;
    frame told;
} report;

static memory memory_of(uint64_t serial, uint64_t kept)
{
    memory m = {.serial = serial, .kept = kept};
    memset(m.rest, (int)(serial * 7 + kept), sizeof m.rest);
    return m;
}

static bool is_whole(const memory *m)
{
    const memory want = memory_of(m->serial, m->kept);
    return memcmp(m, &want, sizeof want) == 0;
}

/* ---- the node ---- */

static bool release(node_store *store, uint32_t agent, memory *m, int to)
{
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    tacit_permit *permits[3];
    report r = {.agent = agent, .incarnation = node_store_incarnation(store)};
    r.told.serial = m->serial + 1;
    r.told.permits = 1 + (uint32_t)(r.told.serial % 3);
    randombytes_buf(r.told.word, WORD);
    *m = memory_of(m->serial + 1, 0);
    for (uint32_t k = 0; k < r.told.permits; k++) {
        if (tacit_ledger_file_reserve(node_store_ledger(store, agent), &cost, 1, &permits[k], NULL))
            return false;
        permits[k]->state = TACIT_PERMIT_TOUCHED;
    }
    return !node_store_release(store, agent, permits, r.told.permits, &r.told, sizeof r.told, m,
                               sizeof *m, 1, NULL) &&
           write(to, &r, sizeof r) == (ssize_t)sizeof r;
}

static bool keep(node_store *store, memory m[2], int to)
{
    if (node_store_begin(store, 1, NULL))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        m[i] = memory_of(m[i].serial, m[i].kept + 1);
        if (node_store_put(store, i, &m[i], sizeof m[i], NULL))
            return false;
    }
    if (node_store_end(store, NULL))
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        const report r = {.agent = i,
                          .checkpoint = true,
                          .incarnation = node_store_incarnation(store),
                          .kept = m[i].kept,
                          .told = {.serial = m[i].serial}};
        if (write(to, &r, sizeof r) != (ssize_t)sizeof r)
            return false;
    }
    return true;
}

/* Ends only when it is killed, or something is wrong. */
static int node(int to)
{
    node_store *store;
    memory m[2];
    const node_store_plan plan = plan_of();
    if (node_store_open(&store, &plan, NULL))
        return 2;
    for (uint32_t i = 0; i < 2; i++) {
        void *state, *frames;
        size_t len, frames_len;
        bool current;
        if (node_store_restore(store, i, &state, &len, &frames, &frames_len, &current, NULL))
            return 3;
        m[i] = memory_of(0, 0);
        if (state && len == sizeof m[i])
            memcpy(&m[i], state, len);
        free(state);
        free(frames);
    }
    for (int k = 0;; k++) {
        if (!release(store, (uint32_t)k % 2, &m[k % 2], to))
            return 4;
        if (k % 5 == 4 && !keep(store, m, to))
            return 5;
    }
}

/* ---- the observer ---- */

typedef struct observer {
    report last[2];      /* release of each agent */
    uint64_t kept[2];    /* checkpoints of each since */
    uint64_t charged[2]; /* permits */
    uint64_t incarnation;
    size_t releases, checkpoints;
} observer;

static bool hear(observer *o, int from)
{
    report r;
    const ssize_t n = read(from, &r, sizeof r);
    if (n == 0)
        return false;
    assert_int_equal(n, sizeof r);
    assert_true(r.incarnation > o->incarnation);
    if (r.checkpoint) {
        assert_int_equal(r.told.serial, o->last[r.agent].told.serial);
        o->kept[r.agent] = r.kept;
        o->checkpoints++;
        return true;
    }
    assert_true(r.told.serial == o->last[r.agent].told.serial + 1);
    o->last[r.agent] = r;
    o->kept[r.agent] = 0;
    o->charged[r.agent] += r.told.permits;
    o->releases++;
    return true;
}

static void run_and_kill(observer *o, uint64_t reports, long us)
{
    int ends[2], how;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[0]);
        _exit(node(ends[1]));
    }
    close(ends[1]);
    while (reports > 0 && hear(o, ends[0]))
        reports--;
    usleep((useconds_t)us);
    kill(child, SIGKILL);
    while (hear(o, ends[0]))
        continue;
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_false(WIFEXITED(how));
}

static void check_agent(observer *o, node_store *store, uint32_t i)
{
    tacit_error err = {0};
    void *state, *bytes;
    size_t len, bytes_len;
    bool current;
    report *last = &o->last[i];
    check_ok(node_store_restore(store, i, &state, &len, &bytes, &bytes_len, &current, &err), &err);
    const frame *f = bytes;
    const memory *m = state;
    if (!f) {
        assert_int_equal(last->told.serial, 0);
        assert_true(!m || m->serial == 0);
        free(state);
        return;
    }
    assert_int_equal(bytes_len, sizeof *f);
    assert_non_null(m);
    assert_int_equal(len, sizeof *m);
    assert_true(current && is_whole(m));
    assert_int_equal(m->serial, f->serial);
    if (f->serial == last->told.serial) {
        assert_memory_equal(f, &last->told, sizeof *f);
        assert_true(m->kept == o->kept[i] || m->kept == o->kept[i] + 1);
    } else { /* the one under way */
        assert_int_equal(f->serial, last->told.serial + 1);
        last->told = *f;
        o->charged[i] += f->permits;
    }
    o->kept[i] = m->kept;
    free(state);
    free(bytes);
}

/* What is on the disk; a release under way may be charged in part. */
static void check_disk(observer *o)
{
    tacit_error err = {0};
    node_store *store;
    const node_store_plan plan = plan_of();
    check_ok(node_store_open(&store, &plan, &err), &err);
    assert_true(node_store_incarnation(store) > o->incarnation);
    o->incarnation = node_store_incarnation(store);
    for (uint32_t i = 0; i < 2; i++) {
        check_agent(o, store, i);
        const uint64_t charged = releases(store, i);
        assert_in_range(charged, o->charged[i], o->charged[i] + 2);
        o->charged[i] = charged;
    }
    closed(store);
}

static void test_killed_two_hundred_times(void **state)
{
    (void)state;
    static observer o;
    dice d = {2025};
    for (int crash = 0; crash < (SLOW ? CRASHES / 4 : CRASHES); crash++) {
        if (crash % 2) /* from its birth on, and among releases */
            run_and_kill(&o, 0, (long)dice_below(&d, LONGEST_US));
        else
            run_and_kill(&o, dice_below(&d, 12), (long)dice_below(&d, 1500));
        check_disk(&o);
    }
    print_message("%zu releases and %zu checkpoints reported\n", o.releases, o.checkpoints);
    assert_true(o.releases > CRASHES / 4 && o.checkpoints > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_killed_two_hundred_times, start_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
