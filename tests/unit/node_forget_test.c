/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What hides numbers in a sum must not outlive the run: secret halves of mask keys, secrets of
 * pairs and of own seeds. Nodes run a protocol with masks to its end; no file of theirs holds a
 * byte sequence of those secrets, neither before the end (states are encrypted) nor after it (and
 * then the key is gone as well), and a node that is started again after the end knows that it is
 * over.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "node_scene.h"
#include "nodes.h"
#include "protocol/chorus.h"
#include "protocol/diffusion.h"
#include "protocol/gopa_inside.h"
#include "protocol/sums_inside.h"
#include "protocol/totals_inside.h"
#include "runtime/node/store_inside.h"
#include "stage.h"

enum { NODES = 2, SECRETS = 4096, KEY = TACIT_MASK_KEY };

typedef struct secrets {
    uint8_t bytes[SECRETS][KEY];
    size_t count;
} secrets;

static void add_secret(secrets *all, const uint8_t bytes[KEY])
{
    static const uint8_t zero[KEY];
    if (memcmp(bytes, zero, KEY) == 0)
        return;
    assert_true(all->count < SECRETS);
    memcpy(all->bytes[all->count++], bytes, KEY);
}

static void of_totals(secrets *all, const tacit_totals *t)
{
    add_secret(all, t->keys.secret);
    add_secret(all, t->secret);
    for (uint32_t k = 0; k < t->partners; k++)
        add_secret(all, t->partner[k].shared);
}

static void of_gopa(secrets *all, const void *shared, const void *state)
{
    (void)shared;
    of_totals(all, (const void *)((const gopa_agent *)state + 1));
}

static void of_chorus(secrets *all, const void *shared, const void *state)
{
    (void)shared;
    of_totals(all, chorus_totals(state));
}

static void of_diffusion(secrets *all, const void *shared, const void *state)
{
    const tacit_sums_plan *plan = &((const diffusion_shared *)shared)->sums;
    tacit_sums *t = diffusion_sums(state);
    add_secret(all, t->keys.secret);
    add_secret(all, t->secret);
    for (uint32_t k = 0; k < t->neighbours; k++)
        for (uint32_t j = 0; j < t->slot[k].partners; j++)
            if (sums_directory(plan, t, k)[j].knows == SUMS_AGREED)
                add_secret(all, sums_directory(plan, t, k)[j].key);
}

typedef struct act {
    const char *protocol;
    const char *set[8][2];
    void (*of)(secrets *all, const void *shared, const void *state);
} act;

static const act acts[] = {
    {"gopa", {{"rounds", "2"}, {"quorum", "0.6"}, {"absent", "0.3"}}, of_gopa},
    {"chorus", {{"sum", "masks"}, {"quorum", "0.6"}, {"absent", "0.3"}}, of_chorus},
    {"diffusion",
     {{"noise", "local-homomorphic"},
      {"least", "3"},
      {"radius", "2"},
      {"sigma", "0.1"},
      {"iterations", "3"}},
     of_diffusion},
};

typedef struct scene {
    stage s;
    nodes all;
} scene;

static void scene_open(scene *c, const act *a)
{
    tacit_error err = {0};
    stage_init(&c->s, a->protocol, 3, 0);
    tacit_graph_clear(&c->s.q.graph); /* masks hide a word among at least three */
    graph_ring(&c->s.q.graph, PROBLEM_AGENTS, PROBLEM_AGENTS * (PROBLEM_AGENTS - 3) / 2, 2);
    stage_noise(&c->s, 4);
    for (int k = 0; k < 8 && a->set[k][0]; k++)
        stage_set(&c->s, a->set[k][0], a->set[k][1]);
    check_ok(nodes_init(&c->all, &c->s.world, NODES, false, &err), &err);
    c->all.until = 16;
    check_ok(nodes_open_all(&c->all, &err), &err);
}

static void scene_run(scene *c, double clock)
{
    tacit_error err = {0};
    check_ok(nodes_run(&c->all, clock, &err), &err);
}

static void scene_clear(scene *c)
{
    nodes_clear(&c->all);
    stage_clear(&c->s);
}

static void collect(secrets *all, const scene *c, const act *a)
{
    for (uint32_t k = 0; k < PROBLEM_AGENTS; k++)
        a->of(all, nodes_host(&c->all, k)->shared, nodes_agent(&c->all, k)->state);
}

/* Until keys have been agreed on. */
static double run_to_the_middle(scene *c, const act *a, secrets *all)
{
    double clock = 0;
    do {
        scene_run(c, clock += 1);
        all->count = 0;
        collect(all, c, a);
    } while (clock < 30 && all->count < 4 * PROBLEM_AGENTS);
    assert_true(all->count >= 4 * PROBLEM_AGENTS); /* two of its own and some of pairs */
    return clock;
}

/* ---- files ---- */

static size_t found_in(const secrets *all, const char *text, size_t len)
{
    size_t found = 0;
    for (size_t k = 0; k < all->count; k++)
        found += memmem(text, len, all->bytes[k], KEY) != NULL;
    return found;
}

/* In how many places of all files of all nodes one of the secrets stands. */
static size_t found_on_disk(const secrets *all, const scene *c, size_t *bytes)
{
    size_t found = 0;
    *bytes = 0;
    for (uint32_t k = 0; k < NODES; k++) {
        DIR *dir = opendir(c->all.place[k].options.folder);
        assert_non_null(dir);
        for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
            char path[1300], *text;
            size_t len;
            snprintf(path, sizeof path, "%s/%s", c->all.place[k].options.folder, entry->d_name);
            if (tacit_file_read(&text, &len, path, (size_t)1 << 30, NULL) != TACIT_OK)
                continue;
            found += found_in(all, text, len);
            *bytes += len;
            free(text);
        }
        closedir(dir);
    }
    return found;
}

static bool has_key(const scene *c, uint32_t node, secrets *keys)
{
    char path[1300];
    tacit_key key;
    snprintf(path, sizeof path, "%s/state.key", c->all.place[node].options.folder);
    if (tacit_key_read(&key, path, NULL) != TACIT_OK)
        return false;
    add_secret(keys, key.bytes);
    return true;
}

static void check_forgotten(const act *a)
{
    static secrets all, keys, rest;
    scene c;
    tacit_error err = {0};
    size_t bytes;
    all.count = keys.count = rest.count = 0;
    scene_open(&c, a);
    const double middle = run_to_the_middle(&c, a, &all);
    for (uint32_t k = 0; k < NODES; k++) {
        node_checkpoint(c.all.place[k].node);
        assert_int_equal(c.all.place[k].node->phase, NODE_RUNNING);
        assert_true(has_key(&c, k, &keys));
    }
    assert_int_equal(found_on_disk(&all, &c, &bytes), 0);
    assert_true(bytes > 50000);
    /* A crash before the end, and back: states can be read. */
    nodes_crash(&c.all, 0);
    check_ok(nodes_open(&c.all, 0, &err), &err);
    scene_run(&c, middle + 4);
    collect(&all, &c, a);

    scene_run(&c, 100);
    for (uint32_t k = 0; k < NODES; k++) {
        assert_int_equal(c.all.place[k].node->phase, NODE_ENDED);
        assert_false(has_key(&c, k, &keys));
        assert_false(nodes_logged(&c.all, k, "secrets_kept", ""));
    }
    collect(&rest, &c, a);
    assert_int_equal(rest.count, 0);
    assert_int_equal(found_on_disk(&all, &c, &bytes), 0);
    assert_int_equal(found_on_disk(&keys, &c, &bytes), 0);

    /* Once more: what is left says that it is over. */
    nodes_crash(&c.all, 0);
    check_ok(nodes_open(&c.all, 0, &err), &err);
    assert_true(c.all.place[0].node->resumed_end);
    collect(&rest, &c, a);
    assert_int_equal(rest.count, 0);
    scene_clear(&c);
}

static void test_gopa_forgets(void **state)
{
    (void)state;
    check_forgotten(&acts[0]);
}

static void test_chorus_forgets(void **state)
{
    (void)state;
    check_forgotten(&acts[1]);
}

static void test_diffusion_forgets(void **state)
{
    (void)state;
    check_forgotten(&acts[2]);
}

/* A key that is gone before the run has ended is told; nothing is guessed. */
static void test_a_lost_key_is_told(void **state)
{
    (void)state;
    static secrets all;
    scene c;
    char path[1300];
    tacit_error err = {0};
    scene_open(&c, &acts[0]);
    (void)run_to_the_middle(&c, &acts[0], &all);
    node_checkpoint(c.all.place[0].node);
    nodes_crash(&c.all, 0);
    snprintf(path, sizeof path, "%s/state.key", c.all.place[0].options.folder);
    assert_int_equal(remove(path), 0);
    check_fails(nodes_open(&c.all, 0, &err), TACIT_EVERIFY, &err, "state.key");
    scene_clear(&c);
}

static void key_of(char path[1300], const node_scene *s)
{
    snprintf(path, 1300, "%s/state.key", s->all.place[0].options.folder);
}

/* An agent that owes more than its budget keeps no state. When the run has ended nothing of it may
 * need the key, which is gone: the node can be started again, and knows that it is over. */
static void test_a_silent_agent_needs_no_key(void **state)
{
    (void)state;
    tacit_error err = {0};
    char path[1300];
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    key_of(path, &s);
    s.all.until = 10;
    node_scene_open(&s);
    node_scene_run(&s, 4);
    assert_int_equal(node_checkpoint(s.all.place[0].node), TACIT_OK);
    for (uint32_t k = 0; k < s.all.place[0].count; k++)
        s.all.place[0].node->store->agents[k].barred = true;
    node_scene_run(&s, 100);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    assert_int_not_equal(access(path, F_OK), 0);
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_true(s.all.place[0].node->resumed_end);
    node_scene_clear(&s);
}

/* The last states could not be written: those before them need the key. */
static void test_the_key_stays_if_the_end_is_not_written(void **state)
{
    (void)state;
    tacit_error err = {0};
    char path[1300];
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    key_of(path, &s);
    s.all.until = 10;
    node_scene_open(&s);
    node_scene_run(&s, 4);
    node_store *store = s.all.place[0].node->store;
    check_ok(node_store_begin(store, 4, &err), &err); /* so that no other checkpoint can begin */
    node_scene_run(&s, 100);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    assert_true(nodes_logged(&s.all, 0, "checkpoint_failed", ""));
    assert_int_equal(access(path, F_OK), 0);
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_clear(&s);
}

/* A crash between overwriting the key and removing it leaves zeros, which are no key. */
static void test_zeros_are_no_key(void **state)
{
    (void)state;
    static const uint8_t zeros[TACIT_KEY_BYTES];
    tacit_error err = {0};
    char path[1300];
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    key_of(path, &s);
    s.all.until = 10;
    node_scene_open(&s);
    node_scene_run(&s, 100);
    nodes_crash(&s.all, 0);
    check_ok(tacit_file_replace(path, 0600, zeros, sizeof zeros, "key file", &err), &err);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_false(s.all.place[0].node->store->state_keyed);
    assert_int_not_equal(access(path, F_OK), 0);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gopa_forgets),
        cmocka_unit_test(test_chorus_forgets),
        cmocka_unit_test(test_diffusion_forgets),
        cmocka_unit_test(test_a_lost_key_is_told),
        cmocka_unit_test(test_a_silent_agent_needs_no_key),
        cmocka_unit_test(test_the_key_stays_if_the_end_is_not_written),
        cmocka_unit_test(test_zeros_are_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
