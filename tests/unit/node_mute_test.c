/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node whose disk is full: it stops speaking, keeps listening, says so, and when there is room
 * again it pays first and speaks then. The disk is full by a limit on the size of files.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "node_scene.h"
#include "runtime/node/store_inside.h"

/* Of one node only, the one that writes while the limit holds; so nothing else runs then. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int set_up(void **state)
{
    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    limit_files(RLIM_INFINITY);
    return 0;
}

/* Let node 0 alone live for a while. */
static void advance_alone(node_scene *s, double seconds)
{
    for (const double end = s->all.clock + seconds; s->all.clock < end; s->all.clock += 0.1)
        node_advance(s->all.place[0].node, s->all.clock);
}

static void test_full_disk(void **state)
{
    (void)state;
    node_scene s;
    uint8_t frame[256];
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    node_scene_run(&s, 5);
    tacit_node *n = s.all.place[0].node;
    const uint64_t releases = node_scene_releases(&s, 0) + node_scene_releases(&s, 3);
    const uint64_t messages = n->traffic.messages;
    limit_files(1);
    advance_alone(&s, 20);
    assert_non_null(node_store_mute(n->store));
    assert_int_equal(n->status, TACIT_OK); /* it lives, */
    assert_true(nodes_logged(&s.all, 0, "mute", "why"));
    assert_int_equal(n->traffic.messages, messages); /* says nothing, */
    const uint64_t ticks = n->traffic.ticks;
    advance_alone(&s, 5);
    assert_int_equal(n->traffic.ticks, ticks); /* computes nothing more, */
    const uint64_t heard = node_scene_agent(&s, 0)->of_type[TACIT_MESSAGE];
    nodes_inject(&s.all, 1, 0, frame,
                 node_scene_frame(&s, frame, node_scene_header(&s, 1, 0), 1e5));
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_MESSAGE], heard + 1); /* listens, */
    node_checkpoint(n);
    assert_int_equal(n->checkpoints, 0); /* and keeps nothing that nobody paid for. */

    limit_files(RLIM_INFINITY);
    advance_alone(&s, 6);
    assert_null(node_store_mute(n->store));
    assert_true(nodes_logged(&s.all, 0, "speaks_again", ""));
    node_scene_run(&s, s.all.clock + 5);
    assert_true(n->traffic.messages > messages);
    const uint64_t said = node_scene_agent(&s, 0)->number + node_scene_agent(&s, 3)->number;
    const uint64_t paid = node_scene_releases(&s, 0) + node_scene_releases(&s, 3);
    assert_true(said > releases);
    assert_int_equal(paid, said); /* every number it ever made was paid for, once */
    node_scene_clear(&s);
}

/* Whatever meets the full disk first, it is told, and it passes. */
static void test_any_write_may_be_the_first(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    node_scene_run(&s, 5);
    tacit_node *n = s.all.place[0].node;
    limit_files(1);
    node_rise(n, n->incarnation + 5);
    limit_files(RLIM_INFINITY);
    assert_non_null(node_store_mute(n->store));
    const uint64_t ticks = n->traffic.ticks;
    node_scene_run(&s, s.all.clock + 20);
    assert_true(nodes_logged(&s.all, 0, "mute", "why"));
    assert_null(node_store_mute(n->store));
    assert_true(n->traffic.ticks > ticks);
    node_scene_clear(&s);
}

/* Agents release when they start. */
static tacit_status speak_first(tacit_env *env, const probe *p, probe_agent *self,
                                const tacit_event *event)
{
    tacit_permit *permit;
    const tacit_cost cost = {.what = "first word"};
    if (event->type != TACIT_START)
        return node_scene_speak(env, p, self, event);
    tacit_status status = tacit_reserve(env, &cost, &permit);
    return status == TACIT_OK ? probe_say(env, p, TACIT_NOBODY, (double)++self->number) : status;
}

static void test_a_full_disk_at_the_start(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = speak_first;
    node_scene_open(&s);
    limit_files(1); /* all three want to start */
    for (; s.all.clock < 3; s.all.clock += 0.1) {
        for (uint32_t k = 0; k < SCENE_NODES; k++)
            node_advance(s.all.place[k].node, s.all.clock);
        nodes_settle(&s.all);
    }
    assert_non_null(node_store_mute(s.all.place[0].node->store));
    node_checkpoint(s.all.place[0].node);
    limit_files(RLIM_INFINITY);
    node_scene_run(&s, 15);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++) {
        const probe_agent *p = node_scene_agent(&s, a);
        assert_int_equal(p->of_type[TACIT_START], 1);
        assert_true(p->of_type[TACIT_WAKE] > 0 && p->of_type[TACIT_MESSAGE] > 0);
        assert_true(node_scene_releases(&s, a) >= p->number); /* the failed start was paid, too */
    }
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_true(nodes_agent(&s.all, 0)->started);
    node_scene_clear(&s);
}

/* Who cannot pay is done, and its node ends. */
static void test_a_silent_agent_ends(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.consortium.end = TACIT_END_TICKS;
    s.all.until = 10;
    node_scene_open(&s);
    node_scene_run(&s, 3);
    s.all.place[0].node->store->agents[1].barred = true; /* agent 3 */
    node_scene_run(&s, 300);
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        assert_int_equal(s.all.place[k].node->phase, NODE_ENDED);
    assert_true(node_scene_agent(&s, 3)->of_type[TACIT_WAKE] < 10);
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_WAKE], 10);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_full_disk, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_any_write_may_be_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_full_disk_at_the_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_silent_agent_ends, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
