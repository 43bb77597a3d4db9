/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node that has more to do than it can: its disk takes so long for every release that its agents
 * would spend twice the time there is. The clock is virtual. It moves by what releases take, and a
 * turn of the loop is what drive.c does: take in what came, let time pass, wait.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "node_scene.h"

enum { AGENTS = 40, NODES = 2, HOSTED = AGENTS / NODES, TAKEN_A_TURN = 256 };
#define RELEASE_TAKES 0.1 /* seconds; 20 agents wake 20 times per second in all */
#define FRAMES_A_SECOND 200.0

typedef struct overload {
    node_scene s;
    uint64_t arrived, taken, pings;
    double longest_turn, longest_silence, last_ping, longest_wait;
} overload;

static void overload_init(overload *o)
{
    tacit_error err = {0};
    memset(o, 0, sizeof *o);
    node_scene *s = &o->s;
    probe_init(&s->probe);
    s->protocol = probe_protocol(TACIT_WAKES);
    graph_ring(&s->graph, AGENTS, 0, 7);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
    s->probe.on = node_scene_speak;
    check_ok(nodes_init(&s->all, &s->world, NODES, false, &err), &err);
    node_scene_open(s);
    node_scene_run(s, 0.1);
}

static uint64_t charged(const node_scene *s)
{
    uint64_t sum = 0;
    for (tacit_agent a = 0; a < AGENTS; a += NODES)
        sum += node_scene_releases(s, a);
    return sum;
}

/* Agent 1 speaks to agent 0, `k` times so far. */
static void inject(node_scene *s, uint64_t k)
{
    uint8_t frame[256];
    tacit_wire_header h = node_scene_header(s, 1, 0);
    nodes_inject(&s->all, 1, 0, frame, node_scene_frame(s, frame, h, (double)k + 1));
}

/* Is there a ping of node 0 among what it has just sent? */
static bool look_at_sent(node_scene *s)
{
    bool ping = false;
    for (size_t k = 0; k < s->all.frame_count; k++) {
        uint8_t version, kind;
        const nodes_frame *f = &s->all.frames[k];
        ping = ping || (f->from == 0 && tacit_wire_peek(f->bytes, f->len, &version, &kind) &&
                        (kind == TACIT_WIRE_PING || kind == TACIT_WIRE_HELLO));
        free(f->bytes);
    }
    s->all.frame_count = 0;
    return ping;
}

static void turn(overload *o, double begin)
{
    node_scene *s = &o->s;
    const double before = s->all.clock;
    const uint64_t releases = charged(s);
    o->arrived = (uint64_t)(FRAMES_A_SECOND * (s->all.clock - begin));
    for (int k = 0; k < TAKEN_A_TURN && o->taken < o->arrived; k++) {
        const double came = begin + (double)o->taken / FRAMES_A_SECOND;
        o->longest_wait = fmax(o->longest_wait, s->all.clock - came);
        inject(s, o->taken++);
    }
    node_advance(s->all.place[0].node, s->all.clock);
    if (look_at_sent(s)) {
        o->longest_silence = fmax(o->longest_silence, s->all.clock - o->last_ping);
        o->last_ping = s->all.clock;
        o->pings++;
    }
    s->all.clock += RELEASE_TAKES * (double)(charged(s) - releases);
    o->longest_turn = fmax(o->longest_turn, s->all.clock - before);
    const double next = node_next(s->all.place[0].node);
    if (next > s->all.clock)
        s->all.clock = fmin(next, s->all.clock + 0.25);
}

static void test_a_node_under_load_goes_on_listening(void **state)
{
    (void)state;
    static overload o;
    overload_init(&o);
    const tacit_node *n = o.s.all.place[0].node;
    const double begin = o.last_ping = o.s.all.clock, end = begin + 60;
    const uint64_t before = charged(&o.s), ticks = n->traffic.ticks;
    while (o.s.all.clock < end)
        turn(&o, begin);
    const uint64_t releases = charged(&o.s) - before;
    print_message("turn %.1f s, ping after %.1f s, frame after %.1f s; %llu of %llu frames taken\n",
                  o.longest_turn, o.longest_silence, o.longest_wait, (unsigned long long)o.taken,
                  (unsigned long long)o.arrived);
    assert_true(o.longest_turn < 1);
    assert_true(o.longest_silence < 2.5 &&
                o.pings >= 30); /* neighbours must not think it is slow */
    assert_true(o.longest_wait < 1);
    assert_true(o.taken + 200 > (uint64_t)(FRAMES_A_SECOND * 60));
    assert_int_equal(node_scene_agent(&o.s, 0)->of_type[TACIT_MESSAGE], o.taken);
    /* It works as much as it can, and what it could not do was neither done nor paid for. */
    assert_in_range(releases, 500, 610);
    assert_int_equal(n->traffic.ticks - ticks, releases);
    assert_in_range(n->shed, 150, 900);
    tacit_node_status look;
    assert_int_equal(node_look(n, &look, NULL), TACIT_OK);
    assert_int_equal(look.ticks_shed, n->shed);
    tacit_node_status_clear(&look);
    /* All agents get their turns: nobody starves. */
    for (tacit_agent a = 0; a < AGENTS; a += NODES)
        assert_true(node_scene_releases(&o.s, a) >= 10);
    uint64_t told = 0;
    for (size_t k = 0; k < sizeof o.s.all.place[0].log / sizeof *o.s.all.place[0].log; k++)
        told += strcmp(o.s.all.place[0].log[k].event, "ticks_shed") == 0;
    assert_int_equal(told, 1);
    node_scene_clear(&o.s);
}

/* Without load nothing is shed, and all that was due is done before a run ends by its time. */
static void test_nothing_is_shed_without_load(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.until = 30;
    node_scene_open(&s);
    node_scene_run(&s, 100);
    for (uint32_t k = 0; k < SCENE_NODES; k++) {
        const tacit_node *n = s.all.place[k].node;
        assert_int_equal(n->phase, NODE_ENDED);
        assert_int_equal(n->shed, 0);
        assert_in_range(n->traffic.ticks, 30, 100); /* two agents, 30 units */
    }
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_node_under_load_goes_on_listening),
        cmocka_unit_test(test_nothing_is_shed_without_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
