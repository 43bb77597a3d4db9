/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of nodes: frames get lost, nodes go and come back, ledgers are put back by somebody,
 * runs end. Frames go through the test's hands; real kills of real processes are in tests/e2e/.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_scene.h"

static double last_word(const node_scene *s, tacit_agent agent)
{
    return (double)node_scene_agent(s, agent)->number;
}

/* What `agent` heard last of `from`; 0: nothing. */
static double last_heard(const node_scene *s, tacit_agent agent, tacit_agent from)
{
    const node_agent *a = nodes_agent(&s->all, agent);
    const probe_agent *p = a->state;
    return p->heard[from];
}

static void all_know_the_last_words(const node_scene *s)
{
    const tacit_graph *g = &s->graph;
    for (uint32_t a = 0; a < SCENE_AGENTS; a++)
        for (uint64_t e = g->row[a]; e < g->row[a + 1]; e++)
            assert_true(last_heard(s, a, g->neighbour[e]) == last_word(s, g->neighbour[e]));
}

/* ---- loss ---- */

static dice coin;
static double lose;
static bool toss(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all, (void)from, (void)to, (void)bytes, (void)len;
    return dice_unit(&coin) >= lose;
}

static void stop_ticking(node_scene *s)
{
    s->probe.on = NULL;
}

static void test_last_words_get_through(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    coin.state = 11;
    lose = 0.6;
    s.all.hand = toss;
    node_scene_open(&s);
    node_scene_run(&s, 40);
    stop_ticking(&s);
    lose = 0.3; /* still lossy, but nobody speaks any more: only what was lost is said again */
    node_scene_run(&s, 70);
    all_know_the_last_words(&s);
    uint64_t resent = 0;
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        for (size_t j = 0; j < s.all.place[k].node->peer_count; j++)
            resent += s.all.place[k].node->peers[j].resent;
    assert_true(resent > 0);
    node_scene_clear(&s);
}

static bool cut;
static bool partition(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all, (void)bytes, (void)len;
    return !cut || (from != 0 && to != 0);
}

static void test_a_partition_heals(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.hand = partition;
    cut = false;
    node_scene_open(&s);
    node_scene_run(&s, 10);
    cut = true;
    node_scene_run(&s, 70);
    assert_true(nodes_logged(&s.all, 0, "peer_down", "node-1"));
    assert_true(node_scene_agent(&s, 0)->of_type[TACIT_PEER_DOWN] >= 2); /* both neighbours */
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_PEER_UP], 0);
    cut = false;
    node_scene_run(&s, 90);
    assert_true(node_scene_agent(&s, 0)->of_type[TACIT_PEER_UP] >= 2);
    stop_ticking(&s);
    node_scene_run(&s, 100);
    all_know_the_last_words(&s);
    node_scene_clear(&s);
}

/* ---- crashes ---- */

/* Node 0 loses everything it sends, releases, and dies: after it has come back its peers hear the
 * very words it had released before. */
static bool muted;
static bool mute_first(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    uint8_t version, kind;
    (void)all, (void)to;
    return !(muted && from == 0 && tacit_wire_peek(bytes, len, &version, &kind) &&
             kind == TACIT_WIRE_MESSAGE);
}

static void test_the_same_bytes_after_a_crash(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.hand = mute_first;
    muted = false;
    node_scene_open(&s);
    node_scene_run(&s, 5);
    muted = true;
    const double before = last_word(&s, 0);
    while (last_word(&s, 0) < before + 2)
        node_scene_run(&s, s.all.clock + 0.1);
    const double told = last_word(&s, 0);
    const uint64_t releases = node_scene_releases(&s, 0);
    const uint64_t incarnation = s.all.place[0].node->incarnation;
    stop_ticking(&s);
    nodes_crash(&s.all, 0);
    assert_true(last_heard(&s, 1, 0) < told);
    muted = false;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    assert_true(s.all.place[0].node->incarnation > incarnation);
    assert_int_equal(node_scene_releases(&s, 0), releases);
    assert_true(last_word(&s, 0) == told); /* its state is the one that goes with the release */
    node_scene_run(&s, s.all.clock + 5);
    assert_true(last_heard(&s, 1, 0) == told);
    assert_true(last_heard(&s, 5, 0) == told);
    assert_int_equal(node_scene_releases(&s, 0), releases); /* and it cost nothing again */
    all_know_the_last_words(&s);
    node_scene_clear(&s);
}

/* Crashes at random moments, under loss: nothing is heard twice, numbers only grow, everybody ends
 * with everybody's last word, and each word was charged once. */
static void test_many_crashes(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    dice d = {3};
    node_scene_init(&s, TACIT_WAKES);
    coin.state = 5;
    lose = 0.2;
    s.all.hand = toss;
    node_scene_open(&s);
    for (int k = 0; k < (SLOW ? 15 : 40); k++) {
        node_scene_run(&s, s.all.clock + 2 * dice_unit(&d));
        const uint32_t who = (uint32_t)dice_below(&d, SCENE_NODES);
        nodes_crash(&s.all, who);
        node_scene_run(&s, s.all.clock + 3 * dice_unit(&d));
        check_ok(nodes_open(&s.all, who, &err), &err);
    }
    node_scene_run(&s, s.all.clock + 10);
    stop_ticking(&s);
    lose = 0;
    node_scene_run(&s, s.all.clock + 30);
    all_know_the_last_words(&s);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++) {
        assert_int_equal(node_scene_agent(&s, a)->twice, 0);
        assert_true((double)node_scene_releases(&s, a) == last_word(&s, a));
    }
    node_scene_clear(&s);
}

/* Agents of one node are saved each with its own releases: after a crash one may not have heard
 * what another had said. */
static void test_agents_of_one_node(void **state)
{
    (void)state;
    tacit_error err = {0};
    dice d = {9};
    for (uint32_t turn = 0; turn < 6; turn++) {
        node_scene s;
        node_scene_init_on(&s, TACIT_WAKES, 1 + turn % 2);
        s.all.world.seed = turn;
        node_scene_open(&s);
        for (int k = 0; k < (SLOW ? 8 : 20); k++) {
            node_scene_run(&s, s.all.clock + 2 * dice_unit(&d));
            nodes_crash(&s.all, 0);
            check_ok(nodes_open(&s.all, 0, &err), &err);
        }
        stop_ticking(&s);
        node_scene_run(&s, s.all.clock + 5);
        all_know_the_last_words(&s);
        for (uint32_t a = 0; a < SCENE_AGENTS; a++)
            assert_int_equal(node_scene_agent(&s, a)->twice, 0);
        node_scene_clear(&s);
    }
}

/* Many words in one breath arrive in order, at home as elsewhere. */
static tacit_status chatter(tacit_env *env, const probe *p, probe_agent *self,
                            const tacit_event *event)
{
    tacit_status status = TACIT_OK;
    for (int k = 0; event->type == TACIT_WAKE && k < 10 && status == TACIT_OK; k++)
        status = probe_say(env, p, TACIT_NOBODY, (double)++self->number);
    return status;
}

static void test_many_words_in_one_breath(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= SCENE_NODES; count += 2) {
        node_scene s;
        node_scene_init_on(&s, TACIT_WAKES, count);
        s.probe.on = chatter;
        node_scene_open(&s);
        node_scene_run(&s, 5);
        for (uint32_t a = 0; a < SCENE_AGENTS; a++)
            assert_int_equal(node_scene_agent(&s, a)->twice, 0);
        all_know_the_last_words(&s);
        node_scene_clear(&s);
    }
}

/* Words that cost nothing are on the disk from a checkpoint on. */
static tacit_status relay(tacit_env *env, const probe *p, probe_agent *self,
                          const tacit_event *event)
{
    return event->type == TACIT_WAKE ? probe_say(env, p, TACIT_NOBODY, (double)++self->number)
                                     : TACIT_OK;
}

static void test_words_survive_a_checkpoint(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = relay;
    s.all.hand = mute_first;
    muted = false;
    node_scene_open(&s);
    node_scene_run(&s, 5);
    muted = true;
    const double before = last_word(&s, 0);
    while (last_word(&s, 0) < before + 2)
        node_scene_run(&s, s.all.clock + 0.1);
    const double told = last_word(&s, 0);
    stop_ticking(&s);
    node_checkpoint(s.all.place[0].node);
    nodes_crash(&s.all, 0);
    muted = false;
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_run(&s, s.all.clock + 5);
    assert_true(last_word(&s, 0) == told);
    assert_true(last_heard(&s, 1, 0) == told);
    node_scene_clear(&s);
}

/* The state of an agent is no use to one with other neighbours. */
static void test_other_neighbours_are_refused(void **state)
{
    (void)state;
    static const uint32_t others[] = {1, 2};
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    node_scene_run(&s, 5);
    nodes_crash(&s.all, 0);
    s.all.place[0].hosted[0].neighbour = others;
    check_fails(nodes_open(&s.all, 0, &err), TACIT_EVERIFY, &err, "neighbours");
    node_scene_clear(&s);
}

/* ---- an old copy of a ledger ---- */

static void copy_folder(const nodes *all, uint32_t k, const char *from, const char *to)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s/%u%s' && cp -a '%s/%u%s' '%s/%u%s'", all->folder,
             k, to, all->folder, k, from, all->folder, k, to);
    assert_int_equal(system(command), 0);
}

static void test_an_old_copy_is_noticed(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    node_scene_open(&s);
    node_scene_run(&s, 5);
    nodes_crash(&s.all, 0);
    copy_folder(&s.all, 0, "", "-old");
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_run(&s, 15);
    const uint64_t releases = node_scene_releases(&s, 0);
    nodes_crash(&s.all, 0);
    copy_folder(&s.all, 0, "-old", "");
    check_ok(nodes_open(&s.all, 0, &err), &err); /* by itself it cannot know */
    const uint64_t older = node_scene_releases(&s, 0);
    assert_true(older < releases);
    check_fails(nodes_run(&s.all, 20, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), older); /* nothing was released before */
    node_scene_clear(&s);
}

/* ---- ends ---- */

static void test_ends_by_time_and_ticks(void **state)
{
    (void)state;
    for (int end = TACIT_END_TIME; end <= TACIT_END_TICKS; end++) {
        node_scene s;
        node_scene_init(&s, TACIT_WAKES);
        s.all.consortium.end = end;
        s.all.until = 12;
        for (uint32_t k = 0; k < SCENE_NODES; k++)
            s.all.place[k].options.patience = 100; /* the slowest is waited for */
        node_scene_open(&s);
        node_scene_run(&s, 200);
        for (uint32_t k = 0; k < SCENE_NODES; k++)
            assert_int_equal(s.all.place[k].node->phase, NODE_ENDED);
        for (uint32_t a = 0; a < SCENE_AGENTS; a++) {
            const probe_agent *p = node_scene_agent(&s, a);
            assert_int_equal(p->of_type[TACIT_FINISH], 1);
            if (end == TACIT_END_TICKS)
                assert_int_equal(p->of_type[TACIT_WAKE], 12);
        }
        assert_true(end == TACIT_END_TICKS || s.all.place[0].node->time <= 14);
        all_know_the_last_words(&s);
        node_scene_clear(&s);
    }
}

static void test_leavers_do_not_hang_others(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.consortium.end = TACIT_END_TICKS;
    s.all.until = 10;
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        s.all.place[k].options.patience = 1000; /* it is not patience that ends it */
    node_scene_open(&s);
    node_scene_run(&s, 3);
    nodes_crash(&s.all, 2); /* for good */
    node_scene_run(&s, 200);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    assert_int_equal(s.all.place[1].node->phase, NODE_ENDED);
    node_scene_clear(&s);
}

/* Who is not there at the start is not waited for beyond patience, and joins when it comes. */
static void test_a_late_joiner(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    check_ok(nodes_open(&s.all, 1, &err), &err);
    node_scene_run(&s, 5);
    assert_int_equal(s.all.place[0].node->phase, NODE_MEETING); /* patience is 10 seconds */
    node_scene_run(&s, 30);
    assert_int_equal(s.all.place[0].node->phase, NODE_RUNNING);
    assert_true(last_word(&s, 0) > 0);
    check_ok(nodes_open(&s.all, 2, &err), &err);
    node_scene_run(&s, 45);
    stop_ticking(&s);
    node_scene_run(&s, 50);
    all_know_the_last_words(&s);
    node_scene_clear(&s);
}

/* Words that stop changing: agents say min(ticks, 30), those of node 0 the same from the start. */
static tacit_status settle_down(tacit_env *env, const probe *p, probe_agent *self,
                                const tacit_event *event)
{
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    self->number += self->number < (tacit_facts_of(env)->self % SCENE_NODES ? 30 : 1);
    return probe_say(env, p, TACIT_NOBODY, (double)self->number);
}

static void test_ends_by_agreement(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = settle_down;
    s.all.consortium.end = TACIT_END_AGREEMENT;
    s.all.consortium.hops = 4;
    s.all.until = 10000;
    node_scene_open(&s);
    node_scene_run(&s, 9000);
    for (uint32_t k = 0; k < SCENE_NODES; k++) {
        assert_int_equal(s.all.place[k].node->phase, NODE_ENDED);
        /* Two agents ticked until all had settled, also where they were quiet; and not for ever. */
        assert_true(s.all.place[k].node->traffic.ticks > 2 * 12);
        assert_true(s.all.place[k].node->time < 300);
    }
    for (uint32_t a = 0; a < SCENE_AGENTS; a++)
        assert_int_equal(node_scene_agent(&s, a)->number, a % SCENE_NODES ? 30 : 1);
    node_scene_clear(&s);
}

/* Who was restarted after the end does not begin again. */
static void test_an_end_is_an_end(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.until = 5;
    node_scene_open(&s);
    node_scene_run(&s, 100);
    const double said = last_word(&s, 0);
    nodes_crash(&s.all, 0);
    check_ok(nodes_open(&s.all, 0, &err), &err);
    node_scene_run(&s, 200);
    assert_int_equal(s.all.place[0].node->phase, NODE_ENDED);
    assert_true(last_word(&s, 0) == said);
    assert_int_equal(node_scene_agent(&s, 0)->of_type[TACIT_FINISH], 1);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_words_get_through),
        cmocka_unit_test(test_a_partition_heals),
        cmocka_unit_test(test_the_same_bytes_after_a_crash),
        cmocka_unit_test(test_many_crashes),
        cmocka_unit_test(test_agents_of_one_node),
        cmocka_unit_test(test_many_words_in_one_breath),
        cmocka_unit_test(test_words_survive_a_checkpoint),
        cmocka_unit_test(test_other_neighbours_are_refused),
        cmocka_unit_test(test_an_old_copy_is_noticed),
        cmocka_unit_test(test_ends_by_time_and_ticks),
        cmocka_unit_test(test_leavers_do_not_hang_others),
        cmocka_unit_test(test_a_late_joiner),
        cmocka_unit_test(test_ends_by_agreement),
        cmocka_unit_test(test_an_end_is_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
