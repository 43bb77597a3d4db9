/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masked sums among real nodes, frames through the test's hands: frames get lost, nodes die and
 * come back, or stay away. Every sum that is heard is the plain one over its members; words and
 * seeds on the wire are watched, whatever crashed in between.
 */
#include <math.h>
#include <string.h>

#include "net/wire.h"
#include "nodes.h"
#include "problem.h"
#include "sums_toy.h"
#include "testing.h"

enum { AGENTS = 8, NODES = 4, ROUNDS = 10, CHILD = 4 };

typedef struct scene {
    tacit_graph graph;
    sums_toy_options toy;
    tacit_world world;
    nodes all;
} scene;

static void scene_open(scene *s, uint64_t rounds, double patience)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    graph_ring(&s->graph, AGENTS, 10, 2);
    s->toy = (sums_toy_options){.plan = {.numbers = 4,
                                         .fraction = 32,
                                         .neighbours = AGENTS,
                                         .least = 2,
                                         .epoch_rounds = 4,
                                         .patience = patience,
                                         .child = CHILD},
                                .rounds = rounds,
                                .refuses = UINT32_MAX};
    s->world = world_defaults(&s->graph, &sums_toy);
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

static const sums_toy_agent *agent_of(const scene *s, uint32_t agent)
{
    return nodes_agent(&s->all, agent)->state;
}

/* ---- the wire ---- */

/* Words and seeds that were seen, by who said them to whom. A word is made once: it may come again
 * as the same frame, after a crash, and not as a new one; and seeds of one attempt only. */
typedef struct seen {
    uint64_t from, to, round, attempt, incarnation, sequence;
    uint32_t kind;
    uint64_t hash;
} seen;

static seen log_of[1 << 14];
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

static void watch(const tacit_wire_header *h, const uint8_t *payload)
{
    static tacit_sums_plan plan = {.numbers = 4,
                                   .fraction = 32,
                                   .neighbours = AGENTS,
                                   .least = 2,
                                   .patience = 1,
                                   .child = CHILD};
    static tacit_pool *pool;
    if (!pool) {
        pool = tacit_pool_create(true);
        assert_int_equal(tacit_sums_prepare(&plan, NULL), TACIT_OK);
    }
    if (h->at.channel != CHILD || (h->at.kind != TACIT_SUMS_WORD && h->at.kind != TACIT_SUMS_SEED))
        return;
    const tacit_shape *shape = tacit_sums_payload(&plan, (tacit_address){0, h->at.kind});
    tacit_vector *v = tacit_pool_vector(pool, shape, 0);
    assert_int_equal(tacit_wire_decode(tacit_vector_public(v), payload, h->payload, 1e6, NULL),
                     TACIT_OK);
    const int64_t *head = tacit_vector_segment(v, 0);
    const seen new = {.from = h->from,
                      .to = h->to,
                      .round = (uint64_t)head[0],
                      .attempt = (uint64_t)head[1],
                      .incarnation = h->incarnation,
                      .sequence = h->sequence,
                      .kind = h->at.kind,
                      .hash = hash_of(payload, h->payload)};
    tacit_vector_drop(pool, v);
    for (size_t k = 0; k < seen_count; k++) {
        const seen *old = &log_of[k];
        if (old->from != new.from || old->to != new.to || old->round != new.round)
            continue;
        const bool same = old->kind == new.kind && old->attempt == new.attempt;
        contradictions += same && old->hash != new.hash;
        contradictions += same && new.kind == TACIT_SUMS_WORD &&
                          (old->incarnation != new.incarnation || old->sequence != new.sequence);
        contradictions += old->kind == TACIT_SUMS_SEED && new.kind == TACIT_SUMS_SEED && !same;
        contradictions += old->kind == TACIT_SUMS_SEED &&
                          new.kind == TACIT_SUMS_WORD &&new.attempt > old->attempt;
    }
    if (seen_count < sizeof log_of / sizeof *log_of)
        log_of[seen_count++] = new;
}

static bool toss(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    tacit_wire_header h;
    const uint8_t *payload;
    (void)all, (void)from, (void)to;
    if (tacit_wire_open(&h, &payload, bytes, len, NULL) == TACIT_OK && h.kind == TACIT_WIRE_MESSAGE)
        watch(&h, payload);
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

static uint64_t check_all(const scene *s)
{
    uint64_t sums = 0;
    for (uint32_t k = 0; k < AGENTS; k++) {
        const sums_toy_agent *a = agent_of(s, k);
        assert_int_equal(a->last, s->toy.rounds);
        assert_int_equal(a->wrong, 0);
        assert_int_equal(a->twice, 0);
        sums += a->sums;
    }
    assert_true(seen_count > 0);
    assert_int_equal(contradictions, 0);
    return sums;
}

static void test_quiet(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, ROUNDS, INFINITY);
    listen(&s, 1, 0);
    scene_run(&s, 20);
    assert_int_equal(check_all(&s), AGENTS * ROUNDS);
    scene_clear(&s);
}

static void test_lost_frames(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (SLOW ? 1 : 2); seed++) {
        scene s;
        scene_open(&s, ROUNDS, 2);
        listen(&s, seed, 0.02);
        scene_run(&s, 300);
        assert_true(check_all(&s) > AGENTS * ROUNDS / 4);
        scene_clear(&s);
    }
}

/* Nodes die at any moment and come back from their disks: the same words again, or later ones. Lost
 * frames make rounds slow, so that they die in the middle of them. */
static void test_deaths(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= (SLOW ? 1 : 2); seed++) {
        scene s;
        tacit_error err = {0};
        int within = 0;
        scene_open(&s, 2 * ROUNDS, 2);
        listen(&s, seed, 0.04);
        double clock = 0;
        for (int k = 0; k < 12; k++) {
            const uint32_t victim = (uint32_t)dice_below(&coin, NODES);
            scene_run(&s, clock += 2 * dice_unit(&coin));
            const uint64_t last = agent_of(&s, victim)->last;
            within += last > 0 && last < s.toy.rounds;
            nodes_crash(&s.all, victim);
            scene_run(&s, clock += k % 4 == 3 && k > 4 ? 15 : 0.2); /* long enough to be noticed */
            check_ok(nodes_open(&s.all, victim, &err), &err);
        }
        assert_true(within >= 2); /* rounds take 1 or more each, this took 10 before the long one */
        scene_run(&s, clock + 400);
        assert_true(check_all(&s) > AGENTS);
        scene_clear(&s);
    }
}

/* One never comes back: its neighbours go on without it. */
static void test_one_stays_away(void **state)
{
    (void)state;
    scene s;
    scene_open(&s, ROUNDS, 5);
    listen(&s, 1, 0);
    nodes_crash(&s.all, 1);
    scene_run(&s, 500);
    for (uint32_t k = 0; k < AGENTS; k++) {
        if (nodes_host(&s.all, k) == NULL)
            continue;
        assert_int_equal(agent_of(&s, k)->last, ROUNDS);
        assert_int_equal(agent_of(&s, k)->wrong, 0);
    }
    assert_int_equal(contradictions, 0);
    scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quiet),
        cmocka_unit_test(test_lost_frames),
        cmocka_unit_test(test_deaths),
        cmocka_unit_test(test_one_stays_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
