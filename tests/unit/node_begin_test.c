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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_begins_for_all),
        cmocka_unit_test(test_done_before_time),
        cmocka_unit_test(test_done_waits_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
