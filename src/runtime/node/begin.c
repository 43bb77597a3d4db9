/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a node's agents may begin to speak.
 *
 * 1. A node that has released before cannot tell by itself whether its ledger is the latest. Its
 *    neighbours can (marks.c), so it waits until each that it ever met has answered in this life;
 *    patience does not end that. Who waits answers pings, so that nodes that start at the same time
 *    tell each other. Its owner ends the waiting by saying how many releases count as spent.
 *    Whom it met is in node.db, before anything is said to it; without a node.db it may have met
 *    every neighbour.
 * 2. An agent does not begin before somebody can hear it: what it releases would be spent for
 *    nothing.
 *
 * Neither lasts beyond the run's time; nor beyond patience where everybody talks to everybody, for
 * there all begin together or not at all.
 *
 * Agents of an earlier life for which the run is over need neither: they have nothing left to
 * release. If nobody answers within patience they finish without having spoken in this life.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/node/node.h"

enum { NAMED = 3 }; /* peers at most, in a sentence */

/* ---- 1. is the ledger the latest? ---- */

static bool must_answer(const tacit_node *n, const node_peer *peer)
{
    return n->unsure && peer->watched && (peer->known || n->forgot) && !peer->testified;
}

static bool is_unsure(const tacit_node *n)
{
    for (size_t k = 0; k < n->peer_count; k++)
        if (must_answer(n, &n->peers[k]))
            return true;
    return false;
}

/* Everything that can be refused is, before a ledger is charged. */
static tacit_status check_accepted(const tacit_node *n, tacit_error *err)
{
    const int policy = n->plan.privacy.policy;
    if (policy != TACIT_POLICY_UNIFORM && n->plan.accept_spent != UINT64_MAX)
        return tacit_fail(err, TACIT_EINPUT,
                          "with \"privacy.policy: %s\" releases cost differently, and those that a "
                          "ledger lacks may cost more than any that it knows: a number of them has "
                          "no price; start the node with \"--accept-spent all\"",
                          tacit_policy_names[policy]);
    return node_store_may_accept(n->store, n->plan.accept_spent, err);
}

tacit_status node_accept_spent(tacit_node *n, tacit_error *err)
{
    if (n->plan.accept_spent == 0)
        return TACIT_OK;
    tacit_status status = check_accepted(n, err);
    for (uint32_t k = 0; k < n->plan.hosted_count && status == TACIT_OK; k++) {
        uint64_t charged = 0;
        status = node_store_accept(n->store, k, n->plan.accept_spent, n->time, &charged, err);
        log_fields f;
        log_begin(&f);
        log_u64(&f, "agent", n->plan.hosted[k].agent);
        log_u64(&f, "releases", charged);
        if (charged > 0)
            node_note(n, TACIT_LOG_WARN, "accepted_as_spent", &f);
    }
    n->unsure = false;
    return status;
}

/* ---- 2. does anybody listen? ---- */

static bool is_there(const tacit_node *n, tacit_agent agent)
{
    const node_peer *peer = node_peer_of(n, agent);
    return peer && (peer->self || peer->met);
}

bool node_is_heard(const tacit_node *n, const node_agent *a)
{
    const bool anybody = n->flags & TACIT_CHATTY; /* it may talk to all */
    for (size_t k = 0; anybody && k < n->peer_count; k++)
        if (!n->peers[k].self && n->peers[k].met)
            return true;
    for (uint32_t j = 0; j < a->plan->neighbours; j++)
        if (is_there(n, a->plan->neighbour[j]))
            return true;
    return anybody ? node_watched(n) == 0 : a->plan->neighbours == 0;
}

static bool is_any_heard(const tacit_node *n)
{
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        if (node_is_heard(n, &n->agents[k]))
            return true;
    return false;
}

/* All whom it waits for are there, and agreed on something else. */
static bool is_among_others(const tacit_node *n)
{
    const uint32_t other = UINT32_C(1) << TACIT_REFUSED_RUN | UINT32_C(1) << TACIT_REFUSED_VERSION;
    for (size_t k = 0; k < n->peer_count; k++)
        if (n->peers[k].watched && !(n->peers[k].reported & other))
            return false;
    return true;
}

/* ---- words ---- */

/* "b", "c" and 4 more */
static void list_names(char *out, size_t room, const tacit_node *n, bool answer)
{
    uint32_t named = 0, more = 0;
    size_t len = 0;
    out[0] = '\0';
    for (size_t k = 0; k < n->peer_count; k++) {
        const node_peer *peer = &n->peers[k];
        if (answer ? !must_answer(n, peer) : !peer->watched || peer->met)
            continue;
        if (named++ < NAMED)
            len += (size_t)snprintf(out + len, room - len, "%s\"%s\"", len ? ", " : "", peer->name);
        else
            more++;
    }
    if (more > 0)
        snprintf(out + len, room - len, " and %" PRIu32 " more", more);
}

/* What those say who were not met, if anything. */
static const char *why_not_met(const tacit_node *n)
{
    for (size_t k = 0; k < n->peer_count; k++) {
        const node_peer *peer = &n->peers[k];
        if (peer->watched && !peer->met && peer->reported >> TACIT_REFUSED_RUN & 1)
            return "one takes part in another run: compare the files that were agreed on, and how "
                   "many features your records have";
        if (peer->watched && !peer->met && peer->reported >> TACIT_REFUSED_VERSION & 1)
            return "one speaks another version: install the same release on all";
    }
    return "are they started, and are addresses, keys and firewalls right?";
}

const char *node_begins_not(const tacit_node *n, char *words, size_t room)
{
    char names[NAMED * 70 + 40];
    if (n->phase != NODE_MEETING || n->resumed_end || n->now < n->meet_by)
        return NULL;
    if (is_unsure(n)) {
        list_names(names, sizeof names, n, true);
        snprintf(words, room,
                 "it has released before and cannot tell by itself whether its ledger is the "
                 "latest: it waits for an answer of %s; or start it with \"--accept-spent\"",
                 names);
        return words;
    }
    if (is_any_heard(n))
        return NULL;
    list_names(names, sizeof names, n, false);
    snprintf(words, room, "nobody is there to hear its agents: it waits for %s; %s", names,
             why_not_met(n));
    return words;
}

/* ---- beginning ---- */

/* Once, and when it is about somebody else. */
static void note_waiting(tacit_node *n)
{
    char words[sizeof n->waits] = "";
    node_begins_not(n, words, sizeof words);
    if (strcmp(words, n->waits) == 0)
        return;
    memcpy(n->waits, words, sizeof words);
    log_fields f;
    log_begin(&f);
    log_text(&f, "why", words);
    if (words[0] != '\0')
        node_note(n, TACIT_LOG_WARN, "waits", &f);
}

double node_begin_by(const tacit_node *n)
{
    if (n->now < n->meet_by)
        return n->meet_by;
    return n->give_up;
}

static void give_up(tacit_node *n, bool unsure)
{
    char words[sizeof n->waits] = "";
    node_begins_not(n, words, sizeof words);
    tacit_fail(&n->error, TACIT_EPEER, "%s; nothing was spent%s", words,
               unsure ? " since it was started" : "");
    node_fail(n, TACIT_EPEER, NULL);
}

void node_try_begin(tacit_node *n)
{
    const bool unsure = !n->resumed_end && is_unsure(n);
    const bool heard = n->resumed_end || is_any_heard(n);
    const bool late = n->now >= n->meet_by;
    if (!unsure && heard && (late || node_all_met(n))) {
        n->waits[0] = '\0';
        node_start(n);
        return;
    }
    if (late && node_is_over(n)) {
        n->waits[0] = '\0';
        node_end_unheard(n);
        return;
    }
    note_waiting(n);
    if (n->now >= n->give_up || (late && !heard && !unsure && is_among_others(n)))
        give_up(n, unsure);
}
