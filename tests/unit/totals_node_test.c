/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents among real nodes, frames through the test's hands: frames get lost, nodes
 * die and come back, or stay away. Every total that is heard is the plain sum over its members.
 * Words and seeds on the wire are watched, whatever crashed in between: a member says one word a
 * try, of a number of its own, and opens it by one seed.
 */
#include <string.h>

#include "net/wire.h"
#include "nodes.h"
#include "problem.h"
#include "protocol/totals_inside.h"
#include "testing.h"
#include "totals_toy.h"

enum { AGENTS = 10, NODES = 5, ROUNDS = 3, CHILD = 2 };

typedef struct scene {
    tacit_graph graph;
    totals_toy_options toy;
    tacit_protocol protocol;
    tacit_world world;
    nodes all;
} scene;

static void scene_open(scene *s, uint64_t rounds)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    graph_ring(&s->graph, AGENTS, 0, 2);
    s->toy = (totals_toy_options){.plan = {.numbers = 3,
                                           .quorum = 0.7,
                                           .least = 3,
                                           .absent = 0.3,
                                           .span = 4,
                                           .patience = 3,
                                           .jitter = 1,
                                           .tries = 8,
                                           .child = CHILD},
                                  .rounds = rounds,
                                  .silent = UINT32_MAX,
                                  .liar = UINT32_MAX};
    s->protocol = totals_toy;
    s->protocol.flags |= TACIT_EVERYBODY;
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->toy;
    check_ok(nodes_init(&s->all, &s->world, NODES, false, &err), &err);
    check_ok(nodes_open_all(&s->all, &err), &err);
}

static void scene_run(scene *s, double clock)
{
    tacit_error err = {0};
    check_ok(nodes_run(&s->all, clock, &err), &err);
}

static void scene_clear(scene *s)
{
    nodes_clear(&s->all);
    tacit_graph_clear(&s->graph);
}

static const totals_toy_agent *agent_of(const scene *s, uint32_t agent)
{
    return nodes_agent(&s->all, agent)->state;
}

/* ---- the wire ---- */

typedef struct seen {
    uint64_t from, trial, hash;
    uint32_t kind;
} seen;

static seen log_of[1 << 13];
static size_t seen_count;
static uint64_t contradictions;
static dice coin;
static double lose;

static uint64_t hash_of(const uint8_t *bytes, size_t len)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t k = 0; k < len; k++)
        h = (h ^ bytes[k]) * UINT64_C(0x100000001b3);
    return h;
}

/* Payloads of the toy as nodes decode them: by the shapes of one of the nodes. */
static uint64_t trial_of(const nodes *all, const tacit_wire_header *h, const uint8_t *payload)
{
    const tacit_node *n = NULL;
    for (uint32_t k = 0; k < all->count && !n; k++)
        n = all->place[k].node;
    const tacit_shape *shape = n->plan.protocol->payload(n->shared, h->at);
    tacit_vector *v = tacit_pool_vector(n->pool, shape, 0);
    assert_int_equal(tacit_wire_decode(tacit_vector_public(v), payload, h->payload, 1e300, NULL),
                     TACIT_OK);
    const uint64_t trial = (uint64_t)((const int64_t *)tacit_vector_segment(v, 0))[0];
    tacit_vector_drop(n->pool, v);
    return trial;
}

static void watch(const nodes *all, const tacit_wire_header *h, const uint8_t *payload)
{
    if (h->at.channel != CHILD || (h->at.kind != TOTALS_WORD && h->at.kind != TOTALS_SEED))
        return;
    const seen new = {.from = h->from,
                      .trial = trial_of(all, h, payload),
                      .hash = hash_of(payload, h->payload),
                      .kind = h->at.kind};
    for (size_t k = 0; k < seen_count; k++) {
        const seen *old = &log_of[k];
        if (old->from == new.from && old->kind == new.kind && old->trial == new.trial)
            contradictions += old->hash != new.hash;
    }
    assert_true(seen_count < sizeof log_of / sizeof *log_of);
    log_of[seen_count++] = new;
}

/* Of what agent 0 says to 1 about their edges: the first answer to its greeting, and the first word
 * that the edge is used. So 0 uses an edge of which 1 does not know. */
static unsigned to_cut;
static bool is_cut(const nodes *all, const tacit_wire_header *h, const uint8_t *payload)
{
    enum { WELCOME = 1, USE = 3 };
    if (!to_cut || h->at.channel != CHILD || h->at.kind != TOTALS_HELLO || h->from != 0 ||
        h->to != 1)
        return false;
    const unsigned bit = 1u << trial_of(all, h, payload); /* the first number: what it is */
    const bool cut = to_cut & bit & (1u << WELCOME | 1u << USE);
    to_cut &= ~bit;
    return cut;
}

static bool toss(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    (void)from, (void)to;
    if (tacit_wire_open(&h, &payload, bytes, len, NULL) == TACIT_OK &&
        h.kind == TACIT_WIRE_MESSAGE) {
        watch(all, &h, payload);
        if (is_cut(all, &h, payload))
            return false;
    }
    return dice_unit(&coin) >= lose;
}

static void listen(scene *s, uint64_t seed, double loss)
{
    coin.state = seed;
    lose = loss;
    seen_count = 0;
    contradictions = 0;
    s->all.hand = toss;
}

/* ---- tests ---- */

/* Until all who are there have come to the last round, but no longer than this. */
static void run_out(scene *s, double limit)
{
    bool done = false;
    while (!done && s->all.clock < limit) {
        scene_run(s, s->all.clock + 5);
        done = true;
        for (uint32_t k = 0; k < AGENTS; k++)
            done &= !nodes_host(&s->all, k) || agent_of(s, k)->last == s->toy.rounds;
    }
}

/* How many sums were heard by those who are there; all of them have come to the last round. */
static uint64_t check_all(const scene *s)
{
    uint64_t heard = 0;
    for (uint32_t k = 0; k < AGENTS; k++) {
        if (!nodes_host(&s->all, k))
            continue;
        const totals_toy_agent *a = agent_of(s, k);
        assert_int_equal(a->last, s->toy.rounds);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->spoiled, 0);
        heard += a->heard;
    }
    assert_true(seen_count > 0);
    assert_int_equal(contradictions, 0);
    return heard;
}

static void test_quiet(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, ROUNDS);
    listen(&s, 1, 0);
    run_out(&s, 60);
    assert_int_equal(check_all(&s), AGENTS * ROUNDS);
    for (uint32_t k = 0; k < AGENTS; k++) {
        assert_int_equal(agent_of(&s, k)->least, AGENTS);
        assert_int_equal(agent_of(&s, k)->holds, ROUNDS);
    }
    scene_clear(&s);
}

static void test_lost_frames(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, ROUNDS);
    listen(&s, 7, 0.01);
    run_out(&s, 2000);
    assert_true(check_all(&s) > AGENTS * ROUNDS / 2);
    scene_clear(&s);
}

/* An edge that one end uses and the other does not would make every sum fail, at a price. */
static void test_a_lost_edge(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, ROUNDS);
    listen(&s, 1, 0);
    to_cut = 1u << 1 | 1u << 2;
    run_out(&s, 1000);
    assert_int_equal(to_cut, 0);
    assert_int_equal(check_all(&s), AGENTS * ROUNDS);
    for (uint32_t k = 0; k < AGENTS; k++)
        assert_true(agent_of(&s, k)->holds <= ROUNDS + 1);
    scene_clear(&s);
}

/* A scene in which the agent's number of the second round is on its way. Frames take no time: if it
 * is the last to speak (keys are random, so nobody knows beforehand) the round is over already, and
 * another scene is tried. */
static double open_in_second_round(scene *s, uint32_t agent)
{
    for (int tries = 0; tries < 30; tries++) { /* one in ten fails: never, in 1e30 */
        double clock = 0;
        scene_open(s, ROUNDS);
        listen(s, 1, 0);
        while (agent_of(s, agent)->holds < 2)
            scene_run(s, clock += 0.05);
        if (agent_of(s, agent)->last < 2)
            return clock;
        scene_clear(s);
    }
    fail_msg("the second round is always over");
    return 0;
}

/* One node is gone from the start of the second round on: its agents are missing in all sums after,
 * and where they had masks those are taken out. */
static void test_one_goes_away(void **state)
{
    (void)state;
    scene s;
    const double clock = open_in_second_round(&s, 3);
    nodes_crash(&s.all, 1);
    run_out(&s, clock + 2000);
    assert_true(check_all(&s) > (AGENTS - 2) * (ROUNDS - 2));
    for (uint32_t k = 0; k < AGENTS; k++)
        if (nodes_host(&s.all, k))
            assert_true(agent_of(&s, k)->least >= AGENTS - 2);
    scene_clear(&s);
}

/* Nodes die at any moment and come back from their disks. Frames take no time and rounds would
 * be over at once: lost ones make them slow, so that deaths come in the middle. */
static void test_deaths(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    int within = 0;
    scene_open(&s, 2 * ROUNDS);
    listen(&s, 1, 0.02);
    double clock = 0;
    for (int k = 0; k < 10; k++) {
        const uint32_t victim = (uint32_t)dice_below(&coin, NODES);
        scene_run(&s, clock += 8 * dice_unit(&coin));
        const uint64_t last = agent_of(&s, victim)->last;
        within += last < s.toy.rounds;
        nodes_crash(&s.all, victim);
        scene_run(&s, clock += k % 4 == 3 ? 15 : 0.2); /* long enough to be noticed */
        check_ok(nodes_open(&s.all, victim, &err), &err);
    }
    assert_true(within >= 3);
    lose = 0;
    run_out(&s, clock + 4000);
    assert_true(check_all(&s) > AGENTS * ROUNDS / 2);
    scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),       cmocka_unit_test(test_lost_frames),
        cmocka_unit_test(test_a_lost_edge), cmocka_unit_test(test_one_goes_away),
        cmocka_unit_test(test_deaths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
