/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two continuations of one memory image: a machine that was restored from a snapshot twice, or two
 * children that were forked with the same process id in namespaces of their own. Both hold the same
 * keys, the same counters and the same ledger, and must nevertheless draw different noise,
 * different lots and different secrets for masks: whoever sees two values under one noise subtracts
 * them.
 *
 * A fork stands for the snapshot. The guard against forks is forged in each child (it takes over
 * the mark of keys that the child drew itself), so that a pass does not come from being refused.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "charged.h"
#include "node_scene.h"

enum { DRAWN = 8 };

typedef struct drawn {
    tacit_status status;
    int64_t noise, share[DRAWN];
    uint8_t lot[DRAWN * 8];
} drawn;

typedef struct image {
    tacit_random keys;
    tacit_ledger ledger;
    tacit_scratch *scratch;
} image;

static image image_make(void)
{
    image i = {.scratch = tacit_scratch_create()};
    tacit_error err = {0};
    check_ok(tacit_random_system(&i.keys, &err), &err);
    return i;
}

static void image_free(image *i)
{
    tacit_ledger_clear(&i->ledger);
    tacit_scratch_free(i->scratch);
    tacit_random_clear(&i->keys);
}

static tacit_status draw_noise(image *i, int64_t *noise)
{
    tacit_cost cost = {.mechanism = TACIT_MECHANISM_GAUSSIAN, .what = "count"};
    tacit_error err = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *released = NULL;
    check_ok(tacit_cost_count(&cost, 1e9, &err), &err);
    charged_reserve(&i->ledger, &cost, &permit);
    check_ok(tacit_bound_count(&permit, (tacit_private_metric){7}, i->scratch, &bounded, &err),
             &err);
    const tacit_status status = tacit_mechanism_apply(
        &permit, bounded, &(tacit_noise_source){&i->keys, 3, NULL}, &released, &err);
    *noise = status == TACIT_OK ? tacit_public_get_int(released, 0, 0) : 0;
    return status;
}

static void draw_share(image *i, int64_t share[DRAWN])
{
    const tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 100, DRAWN);
    tacit_error err = {0};
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_shape shape;
    check_ok(tacit_shape_init(&shape, &(tacit_segment){"value", TACIT_I64, DRAWN}, 1, &err), &err);
    charged_reserve(&i->ledger, &cost, &permit);
    check_ok(tacit_bounded_on_grid(&bounded, &permit, &shape, i->scratch, &err), &err);
    check_ok(tacit_mechanism_conceal(&permit, bounded, 2, &(tacit_noise_source){&i->keys, 3, NULL},
                                     share, DRAWN, &err),
             &err);
}

static void draw_lot(image *i, uint8_t lot[DRAWN * 8])
{
    tacit_cost cost = charged_plan(TACIT_MECHANISM_GAUSSIAN, 1, 100, DRAWN);
    tacit_error err = {0};
    tacit_permit permit;
    tacit_lot open;
    charged_reserve(&i->ledger, &cost, &permit);
    permit.cost.sampling = 0.5;
    tacit_permit_draw_from(&permit, &i->keys, 3);
    check_ok(tacit_lot_open(&open, &permit, DRAWN * 8, &err), &err);
    for (int k = 0; k < DRAWN * 8; k++)
        lot[k] = tacit_lot_takes(&open);
    tacit_lot_close(&open);
}

/* ---- continuing ---- */

typedef void continuation(void *ctx, void *out);

/* What `go` writes to `out` in a child that starts from this very memory. */
static void continue_in(void *ctx, continuation *go, void *out, size_t len, unsigned long spaces)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = (pid_t)syscall(SYS_clone, spaces | SIGCHLD, NULL, NULL, NULL, NULL);
    assert_true(child >= 0);
    if (child == 0) {
        void *bytes = calloc(1, len);
        go(ctx, bytes);
        _exit(write(ends[1], bytes, len) == (ssize_t)len ? 0 : 1);
    }
    close(ends[1]);
    const ssize_t got = read(ends[0], out, len);
    close(ends[0]);
    int status = 0;
    assert_true(waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0 && got == (ssize_t)len);
}

/* Take over the mark of keys that this process drew: nothing that looks at processes can tell. */
static void forge(tacit_random *keys)
{
    tacit_random own;
    tacit_error err = {0};
    check_ok(tacit_random_system(&own, &err), &err);
    keys->process = own.process;
}

static void draw_all(void *ctx, void *out)
{
    image *i = ctx;
    drawn *d = out;
    forge(&i->keys);
    d->status = draw_noise(i, &d->noise);
    draw_share(i, d->share);
    draw_lot(i, d->lot);
}

static void test_continuations_draw_different_noise(void **state)
{
    (void)state;
    image i = image_make();
    drawn a, b;
    int64_t warm;
    assert_int_equal(draw_noise(&i, &warm), TACIT_OK); /* not the first release of its life */
    continue_in(&i, draw_all, &a, sizeof a, 0);
    continue_in(&i, draw_all, &b, sizeof b, 0);
    assert_int_equal(a.status, TACIT_OK);
    assert_int_equal(b.status, TACIT_OK);
    /* Equal by chance: once in 3.5 billion, 2^-80, 2^-64. */
    assert_true(a.noise != b.noise);
    assert_memory_not_equal(a.share, b.share, sizeof a.share);
    assert_memory_not_equal(a.lot, b.lot, sizeof a.lot);
    image_free(&i);
}

/* Keys of a seed are for simulations, which repeat themselves in every process. */
static void test_seeds_repeat_themselves(void **state)
{
    (void)state;
    image i = image_make();
    int64_t one, two;
    i.keys = charged_random;
    assert_int_equal(draw_noise(&i, &one), TACIT_OK);
    tacit_ledger_clear(&i.ledger);
    i.ledger = (tacit_ledger){0};
    assert_int_equal(draw_noise(&i, &two), TACIT_OK);
    assert_true(one == two);
    image_free(&i);
}

/* ---- two children that are process 1 ---- */

typedef struct twins {
    int32_t pid, possible;
    tacit_status status[2];
    int64_t noise[2];
} twins;

typedef struct child_word {
    int32_t pid;
    tacit_status status;
    int64_t noise;
} child_word;

static void draw_as_child(void *ctx, void *out)
{
    child_word *w = out;
    w->pid = (int32_t)getpid();
    w->status = draw_noise(ctx, &w->noise);
}

/* Process 1 of its namespace draws keys; so are its two children, each of its own. */
static void draw_as_first(void *ctx, void *out)
{
    (void)ctx;
    twins *t = out;
    image i = image_make();
    t->pid = (int32_t)getpid();
    for (int k = 0; k < 2; k++) {
        child_word w;
        continue_in(&i, draw_as_child, &w, sizeof w, CLONE_NEWPID);
        t->status[k] = w.status;
        t->noise[k] = w.noise;
        t->possible += w.pid == 1;
    }
    image_free(&i);
}

/* Root needs no namespace of users; others may be allowed to make one. 0: neither. */
static unsigned long permitted_spaces(void)
{
    static const unsigned long tries[] = {CLONE_NEWPID, CLONE_NEWUSER | CLONE_NEWPID};
    for (int k = 0; k < 2; k++) {
        const pid_t child = (pid_t)syscall(SYS_clone, tries[k] | SIGCHLD, NULL, NULL, NULL, NULL);
        if (child == 0)
            _exit(0);
        if (child > 0) {
            waitpid(child, NULL, 0);
            return tries[k];
        }
    }
    return 0;
}

static void test_two_first_processes_share_no_noise(void **state)
{
    (void)state;
    const unsigned long spaces = permitted_spaces();
    if (!spaces) { /* the test above forges the guard and needs no permission */
        print_message("namespaces of processes are not permitted here: %s\n", strerror(errno));
        skip();
    }
    twins t;
    continue_in(NULL, draw_as_first, &t, sizeof t, spaces);
    assert_int_equal(t.pid, 1);
    assert_int_equal(t.possible, 2); /* both were process 1 as well */
    for (int k = 0; k < 2; k++)
        assert_int_equal(t.status[k], TACIT_EINTERNAL); /* forked: nothing was released */
}

/* ---- what protocols of a node draw: seeds of mask keys and of own masks ---- */

typedef struct seeds {
    uint8_t flat[32], nested[32];
} seeds;

static void draw_seeds(void *ctx, void *out)
{
    node_scene *s = ctx;
    seeds *d = out;
    tacit_node *n = s->all.place[0].node;
    forge(&n->random);
    n->at = &n->agents[0];
    node_env_ops.random(n, 0, 5, d->flat, sizeof d->flat);
    node_env_ops.random(n, 7, 5, d->nested, sizeof d->nested);
}

static void test_continuations_of_a_node_draw_different_seeds(void **state)
{
    (void)state;
    node_scene s;
    seeds a, b;
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    continue_in(&s, draw_seeds, &a, sizeof a, 0);
    continue_in(&s, draw_seeds, &b, sizeof b, 0);
    assert_memory_not_equal(a.flat, b.flat, sizeof a.flat);
    assert_memory_not_equal(a.nested, b.nested, sizeof a.nested);
    assert_memory_not_equal(a.flat, a.nested, sizeof a.flat);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_continuations_draw_different_noise),
        cmocka_unit_test(test_seeds_repeat_themselves),
        cmocka_unit_test(test_two_first_processes_share_no_noise),
        cmocka_unit_test(test_continuations_of_a_node_draw_different_seeds),
    };
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
