/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks (net/mark.h): what proves to a node that its ledger is an old copy.
 *
 * Every frame of an agent carries its latest mark, and greetings carry those of the sender's agents
 * that the receiver may not have yet, so that a release is marked at whoever heard of it. Peers
 * keep the highest mark of each agent and show it to the agent's node with every answer. The
 * signature is made once for each release, when the first frame leaves, and is looked at only by
 * who made it, and only when the mark is not what its own ledger says: nobody else has a use for
 * it, and who is given a false one by an agent's own node cannot be told from who makes one up.
 *
 * Why one witness is enough: only this node can sign, it signs only what its ledger held when the
 * disk had it, and a ledger only grows. So a mark under its signature that its ledger does not
 * contain comes from a later ledger, or from one that went another way. Why a liar cannot stop
 * anybody: it has no such signature.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "runtime/node/node.h"

_Static_assert(TACIT_MARK_HEAD == NODE_STORE_HEAD, "marks hold what the store gives");

const tacit_mark *node_mark(tacit_node *n, node_agent *a)
{
    uint8_t head[TACIT_MARK_HEAD];
    const uint64_t entries = node_store_entries(n->store, a->index, head);
    if (entries == 0 ||
        (entries == a->mark.releases && memcmp(head, a->mark.head, sizeof head) == 0))
        return &a->mark; /* while mute the last one that was known to be on the disk */
    a->mark.releases = entries;
    memcpy(a->mark.head, head, sizeof head);
    tacit_mark_sign(&a->mark, n->plan.identity, n->plan.run, a->plan->agent);
    a->mark_stamp = n->stamps;
    return &a->mark;
}

/* ---- of others ---- */

/* The first of two with the same number stays: it is what the other contradicts. */
void node_keep_mark(node_heard *heard, const tacit_mark *mark)
{
    if (mark->releases > heard->mark.releases)
        heard->mark = *mark;
}

/* At each of our agents that has it as a neighbour; else, where everybody talks to everybody, at
 * the first. */
static void keep_told(tacit_node *n, const tacit_marked *m)
{
    bool kept = false;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_heard *heard = node_slot(&n->agents[k], m->agent) == TACIT_NO_SLOT
                                ? NULL
                                : node_heard_of(&n->agents[k], m->agent);
        if (heard)
            node_keep_mark(heard, &m->mark);
        kept |= heard != NULL;
    }
    node_heard *heard =
        kept || !(n->flags & TACIT_CHATTY) ? NULL : node_heard_of(&n->agents[0], m->agent);
    if (heard)
        node_keep_mark(heard, &m->mark);
}

/* ---- in greetings ---- */

typedef struct list {
    tacit_marked *item;
    size_t count, capacity;
} list;

static void add(list *l, uint32_t agent, const tacit_mark *mark)
{
    tacit_marked *all = mark->releases == 0
                            ? NULL
                            : tacit_array_grow(l->item, &l->capacity, l->count + 1, sizeof *all);
    if (!all)
        return;
    l->item = all;
    all[l->count++] = (tacit_marked){agent, *mark};
}

/* By agent; the highest first. */
static int by_agent(const void *a, const void *b)
{
    const tacit_marked *x = a, *y = b;
    if (x->agent != y->agent)
        return x->agent < y->agent ? -1 : 1;
    return x->mark.releases > y->mark.releases ? -1 : x->mark.releases < y->mark.releases;
}

static bool speaks_to(const tacit_node *n, const node_agent *a, const node_peer *peer)
{
    if (n->flags & TACIT_CHATTY)
        return true;
    for (uint32_t j = 0; j < a->plan->neighbours; j++)
        if (node_peer_of(n, a->plan->neighbour[j]) == peer)
            return true;
    return false;
}

tacit_marked *node_list_marks(tacit_node *n, const node_peer *peer, bool hello, bool theirs,
                              uint32_t *count)
{
    list l = {0};
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_agent *a = &n->agents[k];
        const tacit_mark *mark = node_mark(n, a);
        /* What was made before a ping that was answered, it has. */
        if ((hello || a->mark_stamp >= peer->answered) && speaks_to(n, a, peer))
            add(&l, a->plan->agent, mark);
        for (size_t j = 0; theirs && j < a->heard_count; j++)
            if (node_peer_of(n, a->heard[j].from) == peer)
                add(&l, a->heard[j].from, &a->heard[j].mark);
    }
    if (l.count)
        qsort(l.item, l.count, sizeof *l.item, by_agent);
    *count = 0;
    for (size_t k = 0; k < l.count && *count < TACIT_GREETING_AGENTS; k++)
        if (k == 0 || l.item[k].agent != l.item[k - 1].agent)
            l.item[(*count)++] = l.item[k];
    return l.item;
}

static void note_false_mark(tacit_node *n, node_peer *peer, const tacit_marked *m)
{
    log_fields f;
    log_begin(&f);
    log_text(&f, "peer", peer->name);
    log_u64(&f, "agent", m->agent);
    log_u64(&f, "releases", m->mark.releases);
    node_note(n, peer->lied ? TACIT_LOG_DEBUG : TACIT_LOG_WARN, "false_mark", &f);
    peer->lied = true;
}

/* A mark of an agent of ours. False: our signature is not under it. */
static bool check_own(tacit_node *n, node_peer *peer, const node_agent *a, const tacit_marked *m)
{
    uint8_t head[TACIT_MARK_HEAD];
    bool accepted = false;
    const tacit_status status =
        node_store_past(n->store, a->index, m->mark.releases, head, &accepted, NULL);
    const bool known = status == TACIT_OK;
    if ((known && (accepted || memcmp(head, m->mark.head, sizeof head) == 0)) ||
        (!known && status != TACIT_NO)) /* the ledger cannot be read now: the mark comes again */
        return true;
    if (!tacit_mark_signed(&m->mark, n->plan.identity->public_key, n->plan.run, m->agent)) {
        note_false_mark(n, peer, m);
        return false;
    }
    tacit_fail(&n->error, TACIT_EVERIFY,
               "\"%s\" has this node's own signature under %llu releases of agent %u, and the "
               "ledger %s: the ledger is an old copy, which could spend its budget twice; put "
               "the latest one back",
               peer->name, (unsigned long long)m->mark.releases, m->agent,
               known ? "has another past" : "knows fewer");
    node_fail(n, TACIT_EVERIFY, NULL);
    return true;
}

void node_on_marks(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    bool honest = true;
    for (uint32_t k = 0; k < g->mark_count && n->status == TACIT_OK; k++) {
        const tacit_marked *m = &g->mark[k];
        const node_agent *a = node_hosted(n, m->agent);
        if (a && honest) /* of a liar one signature a greeting is looked at, not thousands */
            honest = check_own(n, peer, a, m);
        else if (!a && node_peer_of(n, m->agent) == peer)
            keep_told(n, m);
    }
}
