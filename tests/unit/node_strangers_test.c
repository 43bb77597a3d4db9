/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes whose agents talk to everybody over a graph where each has two neighbours: six agents in a
 * ring, one a node. Who is met before the start, what reaches peers that host no neighbour, what is
 * sent to them again after a crash; and what a protocol's flags do when options decide on them.
 */
#include <string.h>

#include "node_scene.h"
#include "tacit/board.h"

enum { AGENTS = SCENE_AGENTS };
#define EVERYBODY (TACIT_CHATTY | TACIT_EVERYBODY)

/* On six nodes, frames over real links or through the test's hands; none is open yet. */
static void scene_init(node_scene *s, uint32_t flags, bool links)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    probe_init(&s->probe);
    s->protocol = probe_protocol(flags);
    graph_ring(&s->graph, AGENTS, 0, 7);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
    check_ok(nodes_init(&s->all, &s->world, AGENTS, links, &err), &err);
}

/* ---- talking ---- */

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

static void all_have_talked(const node_scene *s)
{
    for (uint32_t a = 0; a < AGENTS; a++) {
        const probe_agent *agent = node_scene_agent(s, a);
        assert_int_equal(agent->of_type[TACIT_MESSAGE], 2 * (AGENTS - 1));
        for (uint32_t b = 0; b < AGENTS; b++)
            assert_true(a == b || agent->heard[b] == 2);
    }
}

static void test_everybody_hears_everybody(void **state)
{
    (void)state;
    for (int links = 0; links <= 1; links++)
        for (int watched = 0; watched <= 1; watched++) {
            node_scene s;
            scene_init(&s, watched ? EVERYBODY : TACIT_CHATTY, links);
            s.probe.on = talk;
            node_scene_open(&s);
            node_scene_run(&s, 5);
            all_have_talked(&s);
            for (uint32_t k = 0; k < AGENTS; k++)
                assert_int_equal(node_watched(s.all.place[k].node), watched ? AGENTS - 1 : 2);
            node_scene_clear(&s);
        }
}

/* The simulator has no members to meet, and the same messages. */
static void test_simulated_strangers(void **state)
{
    (void)state;
    node_scene s;
    scene_init(&s, EVERYBODY, false);
    s.probe.on = talk;
    tacit_runtime *rt = world_create(&tacit_simulator, &s.world);
    world_run(rt, 5);
    for (uint32_t a = 0; a < AGENTS; a++) {
        const probe_agent *agent = rt->ops->agent_state(rt, a);
        assert_int_equal(agent->of_type[TACIT_MESSAGE], 2 * (AGENTS - 1));
    }
    rt->ops->destroy(rt);
    node_scene_clear(&s);
}

/* ---- meeting ---- */

static bool has_started(const node_scene *s, uint32_t k)
{
    return s->all.place[k].node->phase == NODE_RUNNING;
}

/* Node 3 comes late, and is no neighbour of node 0. */
static void test_the_start_waits_for_all(void **state)
{
    (void)state;
    for (int watched = 0; watched <= 1; watched++) {
        node_scene s;
        tacit_error err = {0};
        scene_init(&s, watched ? EVERYBODY : TACIT_CHATTY, false);
        s.probe.on = talk;
        for (uint32_t k = 0; k < AGENTS; k++)
            if (k != 3)
                check_ok(nodes_open(&s.all, k, &err), &err);
        node_scene_run(&s, 5);
        assert_int_equal(has_started(&s, 0), !watched);
        assert_false(has_started(&s, 2)); /* its neighbour */
        check_ok(nodes_open(&s.all, 3, &err), &err);
        node_scene_run(&s, 9);
        for (uint32_t k = 0; k < AGENTS; k++)
            assert_true(has_started(&s, k));
        if (watched) /* so nothing that anybody said was missed */
            all_have_talked(&s);
        node_scene_clear(&s);
    }
}

/* It never comes: patience ends, and the others talk among themselves. */
static void test_patience_with_a_stranger(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    scene_init(&s, EVERYBODY, false);
    s.probe.on = talk;
    for (uint32_t k = 0; k < AGENTS; k++)
        if (k != 3)
            check_ok(nodes_open(&s.all, k, &err), &err);
    node_scene_run(&s, s.all.place[0].options.patience + 1);
    for (uint32_t a = 0; a < AGENTS; a++)
        if (a != 3)
            assert_int_equal(node_scene_agent(&s, a)->of_type[TACIT_MESSAGE], 2 * (AGENTS - 2));
    node_scene_clear(&s);
}

/* The end waits for everybody, too: node 3 began late and is not done. */
static void test_the_end_waits_for_all(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    scene_init(&s, EVERYBODY, false);
    s.all.until = 20;
    for (uint32_t k = 0; k < AGENTS; k++) {
        s.all.place[k].options.patience = 8;
        if (k != 3)
            check_ok(nodes_open(&s.all, k, &err), &err);
    }
    node_scene_run(&s, 12);
    assert_true(has_started(&s, 0));
    check_ok(nodes_open(&s.all, 3, &err), &err);
    node_scene_run(&s, 30); /* the others were done at 28 */
    assert_int_equal(s.all.place[0].node->phase, NODE_WAITING);
    node_scene_run(&s, 34);
    for (uint32_t k = 0; k < AGENTS; k++)
        assert_int_equal(s.all.place[k].node->phase, NODE_ENDED);
    node_scene_clear(&s);
}

/* ---- after a crash ---- */

static bool cut;
static bool lose_words(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    (void)all, (void)from, (void)to;
    return !cut || tacit_wire_open(&h, &payload, bytes, len, NULL) != TACIT_OK ||
           h.kind != TACIT_WIRE_MESSAGE;
}

/* Agent 0 releases a number and tells it agent 3, a stranger. */
static tacit_status release_once(tacit_env *env, const probe *p, probe_agent *self,
                                 const tacit_event *event)
{
    tacit_permit *permit;
    const tacit_cost cost = {.what = "word"};
    (void)self;
    if (event->type != TACIT_START || tacit_facts_of(env)->self != 0)
        return TACIT_OK;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    return status == TACIT_OK ? probe_say(env, p, 3, 42) : status;
}

static void test_a_release_reaches_a_stranger(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    scene_init(&s, EVERYBODY, false);
    s.probe.on = release_once;
    s.all.hand = lose_words;
    cut = true;
    node_scene_open(&s);
    node_scene_run(&s, 3);
    assert_int_equal(node_scene_releases(&s, 0), 1);
    assert_true(node_scene_agent(&s, 3)->heard[0] == 0);
    nodes_crash(&s.all, 0);
    cut = false;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_run(&s, 10);
    assert_true(node_scene_agent(&s, 3)->heard[0] == 42);
    assert_int_equal(node_scene_releases(&s, 0), 1); /* the same, not another */
    node_scene_clear(&s);
}

/* ---- flags that options decide on, graphs, boards ---- */

static uint32_t chatty_if_asked(const void *options)
{
    return ((const probe *)options)->ctx ? TACIT_CHATTY : 0;
}

static void test_flags_follow_options(void **state)
{
    (void)state;
    for (int chatty = 0; chatty <= 1; chatty++) {
        node_scene s;
        tacit_error err = {0};
        scene_init(&s, chatty ? 0 : TACIT_CHATTY, false); /* what the defaults say is not asked */
        s.protocol.flags_for = chatty_if_asked;
        s.probe.ctx = chatty ? &s : NULL;
        s.probe.on = talk;
        node_scene_open(&s);
        const tacit_status status = nodes_run(&s.all, 5, &err);
        tacit_runtime *rt = world_create(&tacit_simulator, &s.world);
        const tacit_status simulated = rt->ops->run(rt, 5, NULL, &err);
        if (chatty) {
            all_have_talked(&s);
            check_ok(simulated, &err);
        } else {
            assert_int_equal(status, TACIT_EUSAGE);
            assert_int_equal(simulated, TACIT_EUSAGE);
            assert_non_null(strstr(err.text, "TACIT_CHATTY"));
        }
        rt->ops->destroy(rt);
        node_scene_clear(&s);
    }
}

static const tacit_graph *shown;
static tacit_status setup_looks(void *shared, const void *options, const tacit_setup *setup,
                                tacit_error *err)
{
    (void)err;
    assert_null(setup->records);
    shown = setup->graph;
    *(const probe **)shared = options;
    return TACIT_OK;
}

static void test_the_whole_graph(void **state)
{
    (void)state;
    node_scene s;
    tacit_error err = {0};
    tacit_graph small = {0};
    scene_init(&s, TACIT_CHATTY, false);
    s.protocol.setup = setup_looks;
    shown = &s.graph;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_null(shown); /* it is nobody's business */
    nodes_crash(&s.all, 0);
    s.protocol.flags |= TACIT_WHOLE;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_ptr_equal(shown, &s.graph);
    tacit_node_plan plan = s.all.place[0].node->plan;
    const node_io io = s.all.place[0].node->io;
    nodes_crash(&s.all, 0);
    tacit_node *node;
    plan.graph = NULL;
    assert_int_equal(node_create(&node, &plan, &io, 0, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "must know the edges of all 6 agents"));
    graph_ring(&small, AGENTS - 1, 0, 7);
    plan.graph = &small;
    assert_int_equal(node_create(&node, &plan, &io, 0, &err), TACIT_EINPUT);
    tacit_graph_clear(&small);
    node_scene_clear(&s);
}

static tacit_status board_of(const void *shared, const void *self, tacit_board *out)
{
    (void)shared;
    out->round = ((const probe_agent *)self)->count;
    return TACIT_OK;
}

static void test_boards(void **state)
{
    (void)state;
    node_scene s;
    tacit_board board = {0};
    scene_init(&s, TACIT_CHATTY, false);
    node_scene_open(&s);
    node_scene_run(&s, 2);
    assert_int_equal(tacit_node_board(s.all.place[2].node, 0, &board), TACIT_NO);
    s.protocol.board = board_of;
    assert_int_equal(tacit_node_board(s.all.place[2].node, 0, &board), TACIT_OK);
    assert_int_equal(board.round, node_scene_agent(&s, 2)->count);
    assert_true(board.round > 0);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody_hears_everybody),
        cmocka_unit_test(test_simulated_strangers),
        cmocka_unit_test(test_the_start_waits_for_all),
        cmocka_unit_test(test_patience_with_a_stranger),
        cmocka_unit_test(test_the_end_waits_for_all),
        cmocka_unit_test(test_a_release_reaches_a_stranger),
        cmocka_unit_test(test_flags_follow_options),
        cmocka_unit_test(test_the_whole_graph),
        cmocka_unit_test(test_boards),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
