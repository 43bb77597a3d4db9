/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers that somebody put back. A node speaks again after a restart only when every neighbour it
 * ever met has told what it knows, one neighbour is enough to stop it, and nobody waits for ever
 * where all start at once. Frames go through the test's hands.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_scene.h"
#include "runtime/node/store_inside.h"

static void copy_folder(const nodes *all, uint32_t k, const char *from, const char *to)
{
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s/%u%s' && cp -a '%s/%u%s' '%s/%u%s'", all->folder,
             k, to, all->folder, k, from, all->folder, k, to);
    assert_int_equal(system(command), 0);
}

static void open_node(node_scene *s, uint32_t k)
{
    tacit_error err = {0};
    check_ok(nodes_open(&s->all, k, &err), &err);
}

/* All have met and spoken for five seconds, and there is a copy of node 0's folder of then. */
static void open_with_copy(node_scene *s)
{
    node_scene_init(s, TACIT_WAKES);
    node_scene_open(s);
    node_scene_run(s, 5);
    nodes_crash(&s->all, 0);
    copy_folder(&s->all, 0, "", "-old");
    open_node(s, 0);
}

static void put_back(node_scene *s, uint32_t k)
{
    nodes_crash(&s->all, k);
    copy_folder(&s->all, k, "-old", "");
}

static bool is_mute(const node_scene *s, uint32_t k, const char *text)
{
    tacit_node_status look;
    tacit_error err = {0};
    check_ok(node_look(s->all.place[k].node, &look, &err), &err);
    const bool mute = look.mute && strstr(look.mute, text);
    tacit_node_status_clear(&look);
    return mute;
}

/* Node 2 is away for good: what node 1 has heard is enough. */
static void test_one_neighbour_away(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    open_with_copy(&s);
    node_scene_run(&s, 15);
    nodes_crash(&s.all, 2);
    node_scene_run(&s, 20);
    put_back(&s, 0);
    open_node(&s, 0);
    const uint64_t before = node_scene_releases(&s, 0);
    check_fails(nodes_run(&s.all, 60, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), before);
    node_scene_clear(&s);
}

/* Only node 2 has heard what the old copies of nodes 0 and 1 lack, and it is away: both wait, past
 * any patience, and are stopped when it comes back. */
static void test_the_only_witness_is_away(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    open_with_copy(&s);
    nodes_crash(&s.all, 1);
    copy_folder(&s.all, 1, "", "-old");
    open_node(&s, 1);
    node_scene_run(&s, 15);
    nodes_crash(&s.all, 2);
    put_back(&s, 0);
    put_back(&s, 1);
    open_node(&s, 0);
    open_node(&s, 1);
    const uint64_t before = node_scene_releases(&s, 0);
    node_scene_run(&s, 100);
    assert_int_equal(s.all.place[0].node->phase, NODE_MEETING);
    assert_int_equal(node_scene_releases(&s, 0), before);
    open_node(&s, 2);
    check_fails(nodes_run(&s.all, 120, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), before);
    assert_int_equal(s.all.place[1].node->status, TACIT_EVERIFY);
    node_scene_clear(&s);
}

/* Nothing was put back, but node 2 is away: node 0 cannot tell. It answers pings, says what it
 * waits for, and goes on when node 2 is back. */
static void test_waits_for_whom_it_met(void **state)
{
    (void)state;
    node_scene s;
    open_with_copy(&s);
    node_scene_run(&s, 10);
    nodes_crash(&s.all, 0);
    nodes_crash(&s.all, 2);
    open_node(&s, 0);
    const uint64_t before = node_scene_releases(&s, 0);
    node_scene_run(&s, 12);
    assert_false(is_mute(&s, 0, "")); /* that is within patience */
    node_scene_run(&s, 60);
    assert_int_equal(node_scene_releases(&s, 0), before);
    assert_true(is_mute(&s, 0, "answer of \"node-2\""));
    assert_true(nodes_logged(&s.all, 0, "waits", "node-2"));
    const node_peer *seen = node_peer_by_key(s.all.place[1].node, s.all.members[0].key);
    assert_int_equal(tacit_suspect_health(s.all.place[1].node->suspect, seen->slot),
                     TACIT_HEALTH_UP);
    open_node(&s, 2);
    node_scene_run(&s, 70);
    assert_true(node_scene_releases(&s, 0) > before);
    assert_false(is_mute(&s, 0, ""));
    node_scene_clear(&s);
}

/* Whom it never met has heard nothing of it: no reason to wait. */
static void test_does_not_wait_for_strangers(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    open_node(&s, 0);
    open_node(&s, 1);
    node_scene_run(&s, 20);
    nodes_crash(&s.all, 0);
    open_node(&s, 0);
    const uint64_t before = node_scene_releases(&s, 0);
    assert_true(before > 0);
    node_scene_run(&s, 40);
    assert_true(node_scene_releases(&s, 0) > before);
    node_scene_clear(&s);
}

/* Everybody at once: none speaks yet, and each is answered. */
static void test_all_restart_at_once(void **state)
{
    (void)state;
    node_scene s;
    uint64_t before[SCENE_AGENTS];
    open_with_copy(&s);
    node_scene_run(&s, 10);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++)
        before[a] = node_scene_releases(&s, a);
    for (uint32_t k = 0; k < SCENE_NODES; k++)
        nodes_crash(&s.all, k);
    node_scene_open(&s);
    node_scene_run(&s, 25);
    for (uint32_t a = 0; a < SCENE_AGENTS; a++)
        assert_true(node_scene_releases(&s, a) > before[a]);
    node_scene_clear(&s);
}

/* The folder is gone, or only node.db is: nothing here tells whom it met. */
static void test_without_a_past(void **state)
{
    (void)state;
    tacit_error err = {0};
    char command[300];
    node_scene s;
    open_with_copy(&s);
    node_scene_run(&s, 10);
    nodes_crash(&s.all, 0);
    nodes_crash(&s.all, 2);
    snprintf(command, sizeof command, "rm -f '%s/0/node.db'*", s.all.folder);
    assert_int_equal(system(command), 0);
    open_node(&s, 0); /* the ledgers are there, and all neighbours are asked */
    const uint64_t before = node_scene_releases(&s, 0);
    node_scene_run(&s, 60);
    assert_int_equal(node_scene_releases(&s, 0), before);
    nodes_crash(&s.all, 0);
    snprintf(command, sizeof command, "rm -rf '%s/0'", s.all.folder);
    assert_int_equal(system(command), 0);
    open_node(&s, 0); /* as if it had never been: node 1 knows better */
    check_fails(nodes_run(&s.all, 120, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), 0);
    node_scene_clear(&s);
}

/* An old copy that has been spoken from until it is longer than what was told before: its past
 * shows. (A new folder knows nobody to wait for, and node 2 had heard nothing.) */
static void test_a_longer_ledger_with_another_past(void **state)
{
    (void)state;
    tacit_error err = {0};
    char command[300];
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    open_node(&s, 0);
    open_node(&s, 1);
    node_scene_run(&s, 15);
    const uint64_t told = node_scene_releases(&s, 0);
    assert_true(told > 0);
    nodes_crash(&s.all, 0);
    nodes_crash(&s.all, 1);
    snprintf(command, sizeof command, "rm -rf '%s/0'", s.all.folder);
    assert_int_equal(system(command), 0);
    open_node(&s, 0);
    open_node(&s, 2);
    node_scene_run(&s, 60);
    assert_true(node_scene_releases(&s, 0) > told);
    open_node(&s, 1);
    check_fails(nodes_run(&s.all, 120, &err), TACIT_EVERIFY, &err, "another past");
    node_scene_clear(&s);
}

/* The owner says that at most so many releases were made: they are charged, and the node goes on.
 * What was told within that number is paid for; what was told beyond it is not. */
static void test_accepted_as_spent(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int enough = 0; enough < 2; enough++) {
        node_scene s;
        open_with_copy(&s);
        node_scene_run(&s, 25);
        const uint64_t told = node_scene_releases(&s, 0);
        nodes_crash(&s.all, 2);
        nodes_crash(&s.all, 1);
        put_back(&s, 0);
        s.all.place[0].accept_spent = enough ? 100 : told - 1;
        open_node(&s, 0);
        assert_int_equal(node_scene_releases(&s, 0), enough ? 100 : told - 1);
        assert_true(nodes_logged(&s.all, 0, "accepted_as_spent", "\"agent\":0"));
        open_node(&s, 1);
        const tacit_status status = nodes_run(&s.all, 60, &err);
        assert_int_equal(status, enough ? TACIT_OK : TACIT_EVERIFY);
        if (enough)
            assert_true(node_scene_releases(&s, 0) > 100);
        node_scene_clear(&s);
    }
}

/* A ledger without entries does not say what a release costs, one without a limit has no all. */
static void test_what_cannot_be_accepted(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.place[0].accept_spent = 10;
    check_fails(nodes_open(&s.all, 0, &err), TACIT_EINPUT, &err, "released nothing");
    s.all.place[0].accept_spent = 0;
    node_scene_open(&s);
    node_scene_run(&s, 5);
    nodes_crash(&s.all, 0);
    s.all.place[0].accept_spent = UINT64_MAX;
    check_fails(nodes_open(&s.all, 0, &err), TACIT_EINPUT, &err, "no limit");
    node_scene_clear(&s);
}

/* Agent 3 listens. */
static tacit_status all_but_one_speak(tacit_env *env, const probe *p, probe_agent *self,
                                      const tacit_event *event)
{
    return tacit_facts_of(env)->self == 3 ? TACIT_OK : node_scene_speak(env, p, self, event);
}

/* An agent that has released nothing is charged by the price of the node's other agent. */
static void test_an_empty_ledger_among_others(void **state)
{
    (void)state;
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = all_but_one_speak;
    node_scene_open(&s);
    node_scene_run(&s, 10);
    assert_true(node_scene_releases(&s, 0) > 0);
    assert_int_equal(node_scene_releases(&s, 3), 0);
    nodes_crash(&s.all, 0);
    s.all.place[0].accept_spent = 50;
    open_node(&s, 0);
    assert_int_equal(node_scene_releases(&s, 0), 50);
    assert_int_equal(node_scene_releases(&s, 3), 50);
    node_scene_clear(&s);
}

/* Nobody is charged if one cannot be: agent 3 has a larger budget, so it may release with less
 * noise than agent 0 ever did. */
static void test_all_or_nobody_is_charged(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = all_but_one_speak;
    node_scene_open(&s);
    node_scene_run(&s, 10);
    node_store *store = s.all.place[0].node->store;
    const uint64_t before = node_scene_releases(&s, 0);
    store->agents[0].holder.budget.epsilon = 1; /* the other has no limit */
    s.all.place[0].node->plan.accept_spent = 50;
    check_fails(node_accept_spent(s.all.place[0].node, &err), TACIT_EINPUT, &err, "agent 3");
    assert_int_equal(node_scene_releases(&s, 0), before);
    node_scene_clear(&s);
}

/* Where releases cost differently nobody knows the price of those that a ledger lacks. */
static void test_no_number_where_costs_differ(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.all.world.privacy.policy = TACIT_POLICY_OPTIMAL;
    node_scene_open(&s);
    node_scene_run(&s, 5);
    const uint64_t before = node_scene_releases(&s, 0);
    nodes_crash(&s.all, 0);
    s.all.place[0].accept_spent = 100;
    check_fails(nodes_open(&s.all, 0, &err), TACIT_EINPUT, &err, "policy: optimal");
    s.all.place[0].accept_spent = 0;
    open_node(&s, 0);
    assert_int_equal(node_scene_releases(&s, 0), before);
    node_scene_clear(&s);
}

/* Agent 0 releases once and tells only agent 1. */
static tacit_status whisper(tacit_env *env, const probe *p, probe_agent *self,
                            const tacit_event *event)
{
    tacit_permit *permit;
    const tacit_cost cost = {.what = "word"};
    if (event->type != TACIT_WAKE || tacit_facts_of(env)->self != 0 || self->number++ > 0)
        return TACIT_OK;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    return status == TACIT_OK ? probe_say(env, p, 1, 1) : status;
}

/* Who was told is away. Others were told nothing, but pings have told them that there was
 * something; and a copy from before the first release has nobody to wait for. */
static void test_pings_tell_it_too(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    node_scene_init_on(&s, TACIT_WAKES | TACIT_CHATTY | TACIT_EVERYBODY, SCENE_AGENTS);
    s.probe.on = NULL;
    node_scene_open(&s);
    node_scene_run(&s, 1);
    nodes_crash(&s.all, 0);
    copy_folder(&s.all, 0, "", "-old");
    s.probe.on = whisper;
    open_node(&s, 0);
    node_scene_run(&s, 20);
    assert_int_equal(node_scene_releases(&s, 0), 1);
    for (uint32_t k = 1; k < SCENE_AGENTS; k++)
        if (k != 3)
            nodes_crash(&s.all, k);
    put_back(&s, 0);
    open_node(&s, 0);
    assert_int_equal(node_scene_releases(&s, 0), 0);
    check_fails(nodes_run(&s.all, 60, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), 0);
    node_scene_clear(&s);
}

/* Frames between nodes 0 and 1 are lost. */
static bool cut(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all;
    (void)bytes;
    (void)len;
    return from + to != 1;
}

/* The witness was there all the time and could not be reached: when it can, the node's greeting
 * carries a higher mark than what the witness knows. That must not take its place. */
static void test_a_witness_that_was_cut_off(void **state)
{
    (void)state;
    tacit_error err = {0};
    char command[300];
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    open_node(&s, 0);
    open_node(&s, 1);
    node_scene_run(&s, 15);
    const uint64_t told = node_scene_releases(&s, 0);
    assert_true(told > 0);
    nodes_crash(&s.all, 0);
    snprintf(command, sizeof command, "rm -rf '%s/0'", s.all.folder);
    assert_int_equal(system(command), 0);
    s.all.hand = cut;
    open_node(&s, 0);
    open_node(&s, 2);
    node_scene_run(&s, 60);
    assert_true(node_scene_releases(&s, 0) > told);
    s.all.hand = NULL;
    check_fails(nodes_run(&s.all, 120, &err), TACIT_EVERIFY, &err, "another past");
    node_scene_clear(&s);
}

/* What a witness keeps: the highest mark of each of the last two lives, and also on its disk. */
static void test_marks_of_two_lives(void **state)
{
    (void)state;
    const tacit_mark five = {.releases = 5, .head = {5}}, six = {.releases = 6, .head = {6}};
    const tacit_mark more = {.releases = 31, .head = {31}}, other = {.releases = 5, .head = {9}};
    node_scene s;
    node_scene_init(&s, TACIT_WAKES);
    s.probe.on = NULL;
    node_scene_open(&s);
    node_scene_run(&s, 1);
    node_heard *h = node_heard_of(node_hosted(s.all.place[1].node, 1), 0);
    node_keep_mark(h, UINT64_C(1) << 46, &five);
    node_keep_mark(h, UINT64_C(1) << 46, &other); /* the first stays */
    assert_memory_equal(&h->latest.mark, &five, sizeof five);
    node_keep_mark(h, (UINT64_C(1) << 46) + 1, &five); /* goes on from it */
    assert_int_equal(h->earlier.mark.releases, 0);
    node_keep_mark(h, (UINT64_C(1) << 46) + 1, &six);
    node_keep_mark(h, (UINT64_C(1) << 46) + 2, &more);
    node_keep_mark(h, UINT64_C(1) << 46, &more); /* late, of a life that is not kept */
    node_checkpoint(s.all.place[1].node);
    nodes_crash(&s.all, 1);
    open_node(&s, 1);
    h = node_heard_of(node_hosted(s.all.place[1].node, 1), 0);
    assert_memory_equal(&h->latest.mark, &more, sizeof more);
    assert_memory_equal(&h->earlier.mark, &six, sizeof six);
    node_scene_clear(&s);
}

/* Its disk was full when the answers came, so nothing was compared with its ledger: no testimony,
 * and when the disk has room again the next answers stop it. */
static void test_answers_to_a_mute_node(void **state)
{
    (void)state;
    tacit_error err = {0};
    node_scene s;
    open_with_copy(&s);
    node_scene_run(&s, 15);
    put_back(&s, 0);
    open_node(&s, 0);
    tacit_node *n = s.all.place[0].node;
    const uint64_t before = node_scene_releases(&s, 0);
    snprintf(n->store->why, sizeof n->store->why, "no room");
    n->store->db_broken = n->was_mute = true;
    n->retry_at = s.all.clock + 8;
    node_scene_run(&s, s.all.clock + 6);
    for (uint32_t k = 1; k < SCENE_NODES; k++) {
        const node_peer *peer = node_peer_by_key(n, s.all.members[k].key);
        assert_true(peer->greeted);
        assert_false(peer->testified);
    }
    check_fails(nodes_run(&s.all, 60, &err), TACIT_EVERIFY, &err, "old copy");
    assert_int_equal(node_scene_releases(&s, 0), before);
    node_scene_clear(&s);
}

static nodes_frame late[8];
static uint32_t late_count;

/* What node 1 says to node 0 stays under way: the first of it is kept for later. */
static bool hold(nodes *all, uint32_t from, uint32_t to, uint8_t *bytes, size_t len)
{
    (void)all;
    if (from != 1 || to != 0)
        return true;
    uint8_t *copy = late_count < 8 ? malloc(len) : NULL;
    if (copy) {
        memcpy(copy, bytes, len);
        late[late_count++] = (nodes_frame){from, to, len, copy};
    }
    return false;
}

/* Answers to pings of an earlier life, which knew less, come in this one: they answer nothing. */
static void test_answers_to_an_earlier_life(void **state)
{
    (void)state;
    node_scene s;
    open_with_copy(&s);
    node_scene_run(&s, 6);
    late_count = 0;
    s.all.hand = hold;
    node_scene_run(&s, 20);
    assert_true(late_count > 0);
    s.all.hand = cut;
    nodes_crash(&s.all, 2);
    put_back(&s, 0);
    open_node(&s, 0);
    node_scene_run(&s, 60); /* more pings than in the life before */
    for (uint32_t k = 0; k < late_count; k++) {
        nodes_inject(&s.all, 1, 0, late[k].bytes, late[k].len);
        free(late[k].bytes);
    }
    const node_peer *peer = node_peer_by_key(s.all.place[0].node, s.all.members[1].key);
    assert_false(peer->testified);
    assert_int_equal(peer->answered, 0);
    node_scene_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_neighbour_away),
        cmocka_unit_test(test_the_only_witness_is_away),
        cmocka_unit_test(test_waits_for_whom_it_met),
        cmocka_unit_test(test_does_not_wait_for_strangers),
        cmocka_unit_test(test_all_restart_at_once),
        cmocka_unit_test(test_without_a_past),
        cmocka_unit_test(test_a_longer_ledger_with_another_past),
        cmocka_unit_test(test_a_witness_that_was_cut_off),
        cmocka_unit_test(test_marks_of_two_lives),
        cmocka_unit_test(test_answers_to_a_mute_node),
        cmocka_unit_test(test_answers_to_an_earlier_life),
        cmocka_unit_test(test_pings_tell_it_too),
        cmocka_unit_test(test_accepted_as_spent),
        cmocka_unit_test(test_what_cannot_be_accepted),
        cmocka_unit_test(test_an_empty_ledger_among_others),
        cmocka_unit_test(test_all_or_nobody_is_charged),
        cmocka_unit_test(test_no_number_where_costs_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
