/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks (net/mark.h): what proves to a node that its ledger is an old copy.
 *
 * Every frame of an agent carries its latest mark, and greetings carry those of the sender's agents
 * that the receiver may not have yet, so that a release is marked at whoever heard of it. Peers
 * keep the highest mark of each agent in each of its last two lives and show both to the agent's
 * node with every answer. The
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

static bool same(const tacit_mark *a, const tacit_mark *b)
{
    return a->releases == b->releases && memcmp(a->head, b->head, sizeof a->head) == 0;
}

/* Within a life the highest contains the others, and the first of two with the same number stays:
 * it is what the other contradicts. A later life may have begun from an old copy, so its marks do
 * not take the place of those before, however high they are. */
void node_keep_mark(node_heard *heard, uint64_t life, const tacit_mark *mark)
{
    node_kept *latest = &heard->latest, *earlier = &heard->earlier;
    if (mark->releases == 0)
        return;
    if (life > latest->life) {
        if (latest->mark.releases > 0 && !same(&latest->mark, mark))
            *earlier = *latest;
        *latest = (node_kept){life, *mark};
        return;
    }
    node_kept *kept = life == latest->life ? latest : life == earlier->life ? earlier : NULL;
    if (kept && mark->releases > kept->mark.releases)
        kept->mark = *mark;
}

/* At each of our agents that has it as a neighbour; else, where everybody talks to everybody, at
 * the first. */
static void keep_told(tacit_node *n, uint64_t life, const tacit_marked *m)
{
    bool kept = false;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_heard *heard = node_slot(&n->agents[k], m->agent) == TACIT_NO_SLOT
                                ? NULL
                                : node_heard_of(&n->agents[k], m->agent);
        if (heard)
            node_keep_mark(heard, life, &m->mark);
        kept |= heard != NULL;
    }
    node_heard *heard =
        kept || !(n->flags & TACIT_CHATTY) ? NULL : node_heard_of(&n->agents[0], m->agent);
    if (heard)
        node_keep_mark(heard, life, &m->mark);
}

/* ---- in greetings ---- */

typedef struct known_mark {
    uint32_t agent;
    node_kept kept;
} known_mark;

typedef struct list {
    known_mark *item;
    size_t count, capacity;
} list;

static void add(list *l, uint32_t agent, const node_kept *kept)
{
    known_mark *all = kept->mark.releases == 0
                          ? NULL
                          : tacit_array_grow(l->item, &l->capacity, l->count + 1, sizeof *all);
    if (!all)
        return;
    l->item = all;
    all[l->count++] = (known_mark){agent, *kept};
}

/* By agent; the latest life first, of each the highest first. */
static int by_agent(const void *a, const void *b)
{
    const known_mark *x = a, *y = b;
    const node_kept *k = &x->kept, *l = &y->kept;
    if (x->agent != y->agent)
        return x->agent < y->agent ? -1 : 1;
    if (k->life != l->life)
        return k->life > l->life ? -1 : 1;
    return k->mark.releases > l->mark.releases ? -1 : k->mark.releases < l->mark.releases;
}

static int by_order(const void *a, const void *b)
{
    return tacit_marked_order(a, b);
}

/* Of each agent the highest mark of each of its last two lives, once if they are the same. */
static uint32_t choose(tacit_marked *out, const list *l)
{
    uint32_t count = 0, of_agent = 0;
    for (size_t k = 0; k < l->count && count < TACIT_GREETING_AGENTS; k++) {
        const known_mark *i = &l->item[k], *before = k ? i - 1 : NULL;
        const bool first = !before || before->agent != i->agent;
        of_agent = first ? 0 : of_agent;
        if (!first && (before->kept.life == i->kept.life || of_agent == 2 ||
                       same(&out[count - 1].mark, &i->kept.mark)))
            continue;
        out[count++] = (tacit_marked){i->agent, i->kept.mark};
        of_agent++;
    }
    if (count)
        qsort(out, count, sizeof *out, by_order);
    return count;
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
        const node_kept own = {n->incarnation, *node_mark(n, a)};
        /* What was made before a ping that was answered, it has. */
        if ((hello || a->mark_stamp >= peer->answered) && speaks_to(n, a, peer))
            add(&l, a->plan->agent, &own);
        for (size_t j = 0; theirs && j < a->heard_count; j++)
            if (node_peer_of(n, a->heard[j].from) == peer) {
                add(&l, a->heard[j].from, &a->heard[j].latest);
                add(&l, a->heard[j].from, &a->heard[j].earlier);
            }
    }
    if (l.count)
        qsort(l.item, l.count, sizeof *l.item, by_agent);
    tacit_marked *out = l.count ? calloc(l.count, sizeof *out) : NULL;
    *count = out ? choose(out, &l) : 0;
    free(l.item);
    return out;
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

typedef enum verdict { IN_LEDGER, NOT_OURS, UNREAD, PROOF } verdict;

/* A mark of an agent of ours. */
static verdict check_own(tacit_node *n, node_peer *peer, const node_agent *a, const tacit_marked *m)
{
    uint8_t head[TACIT_MARK_HEAD];
    bool accepted = false;
    if (same(&a->mark, &m->mark)) /* the usual one, and it costs no look into the file */
        return IN_LEDGER;
    const tacit_status status =
        node_store_past(n->store, a->index, m->mark.releases, head, &accepted, NULL);
    const bool known = status == TACIT_OK;
    if (!known && status != TACIT_NO)
        return UNREAD; /* the mark comes again */
    if (known && (accepted || memcmp(head, m->mark.head, sizeof head) == 0))
        return IN_LEDGER;
    if (!tacit_mark_signed(&m->mark, n->plan.identity->public_key, n->plan.run, m->agent)) {
        note_false_mark(n, peer, m);
        return NOT_OURS;
    }
    tacit_fail(&n->error, TACIT_EVERIFY,
               "\"%s\" has this node's own signature under %llu releases of agent %u, and the "
               "ledger %s: the ledger is an old copy, which could spend its budget twice; put "
               "the latest one back",
               peer->name, (unsigned long long)m->mark.releases, m->agent,
               known ? "has another past" : "knows fewer");
    node_fail(n, TACIT_EVERIFY, NULL);
    return PROOF;
}

bool node_check_marks(tacit_node *n, node_peer *peer, const tacit_greeting *g)
{
    bool compared = true;
    for (uint32_t k = 0; k < g->mark_count; k++) {
        const node_agent *a = node_hosted(n, g->mark[k].agent);
        const verdict v = a ? check_own(n, peer, a, &g->mark[k]) : IN_LEDGER;
        compared &= v != UNREAD;
        if (v == NOT_OURS || v == PROOF) /* of a liar one signature per greeting is looked at */
            break;
    }
    return compared;
}

void node_keep_marks(tacit_node *n, const node_peer *peer, uint64_t life, const tacit_greeting *g)
{
    for (uint32_t k = 0; k < g->mark_count; k++)
        if (!node_hosted(n, g->mark[k].agent) && node_peer_of(n, g->mark[k].agent) == peer)
            keep_told(n, life, &g->mark[k]);
}
