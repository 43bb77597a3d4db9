/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When nodes begin and end together: the first who loses patience begins for all, and agents that
 * are done (tacit_protocol.done) end a run long before its time. Six agents, one a node.
 */
#include <string.h>

#include "node_scene.h"

enum { AGENTS = SCENE_AGENTS, ABSENT = 3 };

/* A word to everybody at the start, and an answer to each. */
static tacit_status talk(tacit_env *env, const probe *p, probe_agent *self,
                         const tacit_event *event)
{
    const tacit_agent own = tacit_facts_of(env)->self;
    tacit_status status = TACIT_OK;
    (void)self;
    for (tacit_agent a = 0; a < AGENTS && event->type == TACIT_START && status == TACIT_OK; a++)
        if (a != own)
            status = probe_say(env, p, a, 1);
    if (event->type == TACIT_MESSAGE && tacit_public_get(event->payload, 0, 0) == 1)
        status = probe_say(env, p, event->from, 2);
    return status;
}

static void scene_init(node_scene *s, uint32_t flags)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    probe_init(&s->probe);
    s->probe.on = talk;
    s->protocol = probe_protocol(flags);
    graph_ring(&s->graph, AGENTS, 0, 7);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
    check_ok(nodes_init(&s->all, &s->world, AGENTS, false, &err), &err);
    for (uint32_t k = 0; k < AGENTS; k++)
        s->all.place[k].options.patience = 8;
}

static uint32_t in_phase(const node_scene *s, node_phase phase)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < AGENTS; k++)
        count += s->all.place[k].node && s->all.place[k].node->phase == phase;
    return count;
}

/* Node 0 came five seconds before the others, and one never comes. */
static void test_the_first_begins_for_all(void **state)
{
    (void)state;
    for (int everybody = 0; everybody < 2; everybody++) {
        node_scene s;
        tacit_error err = {0};
        scene_init(&s, everybody ? TACIT_CHATTY | TACIT_EVERYBODY : TACIT_CHATTY);
        check_ok(nodes_open(&s.all, 0, &err), &err);
        node_scene_run(&s, 5);
        for (uint32_t k = 1; k < AGENTS; k++)
            if (k != ABSENT)
                check_ok(nodes_open(&s.all, k, &err), &err);
        node_scene_run(&s, 7.5);
        if (everybody)
            assert_int_equal(in_phase(&s, NODE_RUNNING), 0);
        node_scene_run(&s, 10); /* its patience ended at 8, theirs would at 13 */
        if (everybody) {
            assert_int_equal(in_phase(&s, NODE_RUNNING), AGENTS - 1);
            for (uint32_t a = 0; a < AGENTS; a++)
                assert_true(a == ABSENT ||
                            node_scene_agent(&s, a)->of_type[TACIT_MESSAGE] == 2 * (AGENTS - 2));
        } else { /* those beside the absent one wait for it, whoever has begun */
            assert_int_equal(s.all.place[2].node->phase, NODE_MEETING);
            assert_int_equal(s.all.place[4].node->phase, NODE_MEETING);
        }
        node_scene_clear(&s);
    }
}

static bool has_talked(const void *shared, const void *self)
{
    (void)shared;
    return ((const probe_agent *)self)->of_type[TACIT_MESSAGE] == 2 * (AGENTS - 1);
}

/* All have said and heard what there was to say; run.time is far away. */
static void test_done_before_time(void **state)
{
    (void)state;
    for (int knows = 0; knows < 2; knows++) {
        node_scene s;
        scene_init(&s, TACIT_CHATTY | TACIT_EVERYBODY);
        s.all.until = 1000;
        s.protocol.done = knows ? has_talked : NULL;
        node_scene_open(&s);
        node_scene_run(&s, 5);
        assert_int_equal(in_phase(&s, NODE_ENDED), knows ? AGENTS : 0);
        for (uint32_t a = 0; a < AGENTS && knows; a++)
            assert_int_equal(node_scene_agent(&s, a)->of_type[TACIT_FINISH], 1);
        node_scene_clear(&s);
    }
}

static bool slow_cut;
static bool lose_to_last(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    (void)all, (void)from;
    return !slow_cut || to != AGENTS - 1 ||
           tacit_wire_open(&h, &payload, bytes, len, NULL) != TACIT_OK ||
           h.kind != TACIT_WIRE_MESSAGE;
}

/* One has not heard what the others have: they wait for it. */
static void test_done_waits_for_others(void **state)
{
    (void)state;
    node_scene s;
    scene_init(&s, TACIT_CHATTY | TACIT_EVERYBODY);
    s.all.until = 1000;
    s.protocol.done = has_talked;
    s.all.hand = lose_to_last;
    slow_cut = true;
    node_scene_open(&s);
    node_scene_run(&s, 4);
    assert_int_equal(s.all.place[AGENTS - 1].node->phase, NODE_RUNNING);
    assert_int_equal(in_phase(&s, NODE_ENDED), 0);
    slow_cut = false;
    node_scene_clear(&s);
}

/* ---- nobody listens ---- */

static bool is_mute(const node_scene *s, uint32_t k, const char *text)
{
    tacit_node_status look;
    tacit_error err = {0};
    check_ok(node_look(s->all.place[k].node, &look, &err), &err);
    const bool mute = look.mute && strstr(look.mute, text);
    tacit_node_status_clear(&look);
    return mute;
}

/* Whoever is alone releases nothing, says whom it waits for, and gives up when the run is over. */
static void test_alone(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.until = 30;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_run(&s, 35);
    assert_int_equal(node_scene_releases(&s, 0), 0);
    assert_true(is_mute(&s, 0, "\"node-1\", \"node-2\"; are they started"));
    check_fails(nodes_run(&s.all, 100, &err), TACIT_EPEER, &err, "nothing was spent");
    assert_int_equal(node_scene_releases(&s, 0), 0);
    node_scene_clear(&s);
}

/* All the others agreed on something else: patience is enough to know that. */
static void test_another_run(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.until = 1000;
    check_ok(nodes_open(&s.all, 1, &err), &err);
    check_ok(nodes_open(&s.all, 2, &err), &err);
    memcpy(s.all.run, "another run....", TACIT_NODE_RUN);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    check_fails(nodes_run(&s.all, 30, &err), TACIT_EPEER, &err, "another run");
    assert_int_equal(node_scene_releases(&s, 0), 0);
    nodes_crash(&s.all, 0);
    node_scene_run(&s, 30);
    assert_true(node_scene_releases(&s, 1) > 0); /* those two hear each other */
    node_scene_clear(&s);
}

/* Agent 0 has a neighbour on node 1, agent 3 one on node 2, which comes late. */
static void test_each_agent_is_heard(void **state)
{
    (void)state;
    static const uint32_t one[] = {1}, two[] = {2};
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.place[0].hosted[0].neighbour = one;
    s.all.place[0].hosted[1].neighbour = two;
    s.all.place[0].hosted[0].neighbours = s.all.place[0].hosted[1].neighbours = 1;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    check_ok(nodes_open(&s.all, 1, &err), &err);
    node_scene_run(&s, 30);
    assert_true(node_scene_releases(&s, 0) > 0);
    assert_int_equal(node_scene_releases(&s, 3), 0);
    assert_int_equal(node_scene_agent(&s, 3)->of_type[TACIT_START], 0);
    check_ok(nodes_open(&s.all, 2, &err), &err);
    node_scene_run(&s, 60);
    assert_true(node_scene_releases(&s, 3) > 0);
    assert_int_equal(node_scene_agent(&s, 3)->of_type[TACIT_START], 1);
    assert_int_equal(node_scene_agent(&s, 3)->log[0].type, TACIT_START); /* before anything else */
    node_scene_clear(&s);
}

/* ---- the end ---- */

static node_scene *at_end;

/* How many goodbyes were under way when the agent was told to finish, if links were closed then. */
static tacit_status finish(tacit_env *env, const probe *p, probe_agent *self,
                           const tacit_event *event)
{
    (void)p;
    const nodes *all = &at_end->all;
    const uint32_t k = (uint32_t)(tacit_facts_of(env)->self % all->count);
    if (event->type == TACIT_FINISH) {
        self->number = 0;
        for (size_t f = 0; f < all->frame_count; f++)
            self->number += all->frames[f].from == k && all->frames[f].bytes[5] == TACIT_WIRE_BYE;
        self->number += all->place[k].closed ? 0 : 100;
    }
    return TACIT_OK;
}

/* What an agent does at the end takes as long as its records make it take: before that all others
 * have been told goodbye, and there are no links by which they could see when it is over. */
static void test_goodbye_comes_before_the_finish(void **state)
{
    (void)state;
    node_scene s;
    at_end = &s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = finish;
    s.all.until = 5;
    node_scene_open(&s);
    node_scene_run(&s, 30);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++) {
        assert_int_equal(node_scene_agent(&s, a)->of_type[TACIT_FINISH], 1);
        assert_int_equal(node_scene_agent(&s, a)->number, 2); /* to both others */
    }
    node_scene_clear(&s);
}

/* Node 0 crashes when its agents are done, or after five units of a run that ends by time. The
 * others end and are gone: nobody is left who could answer it. */
static void open_after_all_others(node_scene *s, int end)
{
    tacit_error err = {0};
    node_scene_init(s, TACIT_WAKES);
    s->all.until = 10;
    s->all.consortium.end = end;
    node_scene_open(s);
    double clock = 5;
    node_scene_run(s, clock);
    while (end == TACIT_END_TICKS && s->all.place[0].node->phase == NODE_RUNNING)
        node_scene_run(s, clock += 0.1);
    node_checkpoint(s->all.place[0].node);
    nodes_crash(&s->all, 0);
    node_scene_run(s, 100);
    for (uint32_t k = 1; k < SCENE_NODES; k++) {
        assert_int_equal(s->all.place[k].node->phase, NODE_ENDED);
        nodes_crash(&s->all, k);
    }
    check_ok(nodes_open(&s->all, 0, &err), &err);
}

/* It has nothing left to release, so it need not know whether its ledger is the latest. */
static void test_finishes_after_all_others(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    open_after_all_others(&s, TACIT_END_TIME);
    node_scene_run(&s, 200);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    node_scene_clear(&s);
    open_after_all_others(&s, TACIT_END_TICKS);
    const uint64_t before = node_scene_releases(&s, 0);
    const uint64_t ticks = node_scene_agent(&s, 0)->of_type[TACIT_WAKE];
    check_ok(nodes_run(&s.all, 200, &err), &err);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_FINISH], 1);
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_WAKE], ticks);
    assert_int_equal(node_scene_releases(&s, 0), before);
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_true(s.all.place[0].node->resumed_end);
    node_scene_clear(&s);
}

/* An ended node that is started again and stopped before it ends again has ended all the same. */
static void test_the_end_is_remembered(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    node_scene_init(&s, TACIT_WAKES);
    s.all.until = 10;
    node_scene_open(&s);
    node_scene_run(&s, 100);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    for (int life = 0; life < 2; life++) {
        nodes_crash(&s.all, 0);
        check_ok(nodes_open(&s.all, 0, &err), &err);
        assert_true(s.all.place[0].node->resumed_end);
        node_checkpoint(s.all.place[0].node);
    }
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_begins_for_all),
        cmocka_unit_test(test_done_before_time),
        cmocka_unit_test(test_done_waits_for_others),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_another_run),
        cmocka_unit_test(test_each_agent_is_heard),
        cmocka_unit_test(test_goodbye_comes_before_the_finish),
        cmocka_unit_test(test_finishes_after_all_others),
        cmocka_unit_test(test_the_end_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
