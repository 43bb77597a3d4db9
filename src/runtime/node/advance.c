/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time passes: agents wake by Poisson clocks, timers ring, peers are pinged, phases follow.
 *
 *     meeting --all neighbours greeted, or out of patience--> running --agents done--> waiting
 *             --neighbours done or gone, or out of patience--> ended
 *
 * An event happens at its own time, even if the node gets to it a little late, so that what agents
 * see does not depend on how busy the machine is. A node that cannot keep up must not spend budgets
 * for words that nobody has time to hear: in one turn it handles a few events, then it listens; and
 * a tick that is late by more than its period is shed. It releases nothing, and the agent's
 * clock starts anew. So nothing ticks in a burst either when the machine has slept.
 *
 * Agreement without anybody who counts for all: a node's agents are quiet when their last words
 * hardly differ from those before. Its number `quiet` is zero while they are not, else one more
 * than the least of its neighbours' (which pings tell). A number above h says that everybody
 * within h hops was quiet when last heard of; the run ends where it exceeds what was agreed on.
 * Neighbours that are away or done are not asked, so that nobody waits for them.
 */
#include <math.h>

#include "runtime/node/node.h"

#define LATE_UNITS 1.0    /* a tick is shed that is late by more than its period, */
#define LATE_SECONDS 0.5  /* and by more than what a busy machine makes of a very short one */
#define TICKS_A_TURN 4    /* events that may compute, write to the disk and release, */
#define EVENTS_A_TURN 256 /* and events of any kind, before the node listens again */
#define RETRY 5.0         /* seconds after which a disk that was full is tried again */

/* ---- events to come ---- */

tacit_status node_post(tacit_node *n, const runtime_event *event)
{
    return runtime_queue_push(&n->queue, event) ? TACIT_OK : tacit_out_of_memory(&n->error);
}

void node_plan_wake(tacit_node *n, node_agent *a, double after)
{
    tacit_stream stream;
    tacit_stream_open(&stream, &n->random, a->plan->agent, TACIT_FOR_CLOCK, a->drawn++);
    const double gap = tacit_stream_exponential(&stream);
    tacit_stream_clear(&stream);
    const runtime_event wake = {.time = after + gap,
                                .to = a->plan->agent,
                                .from = a->plan->agent,
                                .counter = a->counter++,
                                .type = TACIT_WAKE};
    if (node_post(n, &wake) != TACIT_OK)
        node_fail(n, TACIT_EINTERNAL, "out of memory");
}

static bool take_request(node_agent *a, uint64_t id)
{
    for (size_t k = 0; k < a->request_count; k++)
        if (a->requests[k].id == id) {
            a->requests[k] = a->requests[--a->request_count];
            return true;
        }
    return false;
}

/* Ticks by number are done when there were enough; otherwise time ends them. */
static bool is_done(const tacit_node *n, const node_agent *a)
{
    return n->plan.consortium->end == TACIT_END_TICKS && n->plan.until > 0 &&
           ((double)a->wakes >= n->plan.until || node_is_silent(n, a) ||
            (!a->started && n->time >= n->plan.until)); /* nobody came to hear it */
}

/* How late it is, if that is too late; else 0. */
static double too_late(const tacit_node *n, double time)
{
    const double late = node_time_at(n, n->now) - time;
    return late > fmax(LATE_UNITS, LATE_SECONDS / n->plan.consortium->unit) ? late : 0;
}

/* Told once: the counter goes on. */
static void shed(tacit_node *n, const node_agent *a, double late)
{
    if (n->shed++ > 0)
        return;
    log_fields f;
    log_begin(&f);
    log_u64(&f, "agent", a->plan->agent);
    log_number(&f, "late_units", late);
    log_text(&f, "why",
             "this node cannot keep up: ticks that are late are skipped, and cost "
             "nothing; host fewer agents here, agree on a longer \"consortium.unit\", "
             "or use a faster disk");
    node_note(n, TACIT_LOG_WARN, "ticks_shed", &f);
}

static void wake(tacit_node *n, node_agent *a, const runtime_event *event)
{
    static const tacit_event wakes = {
        .type = TACIT_WAKE, .from = TACIT_NOBODY, .slot = TACIT_NO_SLOT};
    const double late = too_late(n, event->time);
    if (n->phase != NODE_RUNNING || is_done(n, a))
        return;
    node_plan_wake(n, a, event->time + late);
    if (!a->started || node_is_silent(n, a) || node_store_mute(n->store))
        return;
    if (late > 0) {
        shed(n, a, late);
        return;
    }
    a->wakes++;
    n->traffic.ticks++;
    node_handle(n, a, event->time, &wakes);
}

/* What belongs to an answer that came, or can no longer come, is not told. */
static bool is_void(node_agent *a, const runtime_event *event)
{
    return (event->type == TACIT_REPLY || event->type == TACIT_NO_REPLY) &&
           !take_request(a, event->id);
}

/* A message of another agent of this node, unless it was heard. After a crash each is as its own
 * last save left it, so who has heard what is written down as for agents elsewhere. */
static bool hear_at_home(tacit_node *n, node_agent *a, const runtime_event *event)
{
    node_heard *heard = node_heard_of(a, event->from);
    if (heard && heard->incarnation == n->incarnation && heard->sequence >= event->counter)
        return false;
    n->traffic.delivered++;
    a->messages_in++;
    if (heard) {
        heard->incarnation = n->incarnation;
        heard->sequence = event->counter;
    }
    return true;
}

void node_deliver(tacit_node *n, const runtime_event *event)
{
    node_agent *a = node_hosted(n, event->to);
    const bool rings = event->type == TACIT_TIMER || event->type == TACIT_NO_REPLY;
    if (a && event->type == TACIT_WAKE) {
        wake(n, a, event);
        return;
    }
    const bool home = a && event->payload && node_hosted(n, event->from);
    if (a && a->started && (!home || hear_at_home(n, a, event)) && !is_void(a, event)) {
        const tacit_event e = {.type = (tacit_event_type)event->type,
                               .at = event->at,
                               .from = rings ? TACIT_NOBODY : event->from,
                               .slot = rings ? TACIT_NO_SLOT : node_slot(a, event->from),
                               .id = event->id,
                               .payload =
                                   event->payload ? tacit_vector_public(event->payload) : NULL};
        node_handle(n, a, event->time, &e);
    }
    if (event->payload)
        tacit_vector_drop(n->pool, event->payload);
}

/* Timers of a node that cannot release wait until it can. */
static bool must_wait(const tacit_node *n)
{
    return n->queue.heap[0].type != TACIT_WAKE && n->flags & TACIT_CHATTY &&
           node_store_mute(n->store);
}

static double last_time(const tacit_node *n)
{
    const bool by_time = n->plan.until > 0 && n->plan.consortium->end != TACIT_END_TICKS;
    const double until = by_time ? n->plan.until : INFINITY;
    return n->phase == NODE_RUNNING ? until : INFINITY;
}

/* Compared in seconds, as node_next tells them: units may round to just before. */
static bool is_due(const tacit_node *n, double time)
{
    return node_seconds_at(n, time) <= n->now;
}

/* Something in the queue is to be handled now. */
static bool is_behind(const tacit_node *n)
{
    if (n->status != TACIT_OK || n->queue.count == 0 || must_wait(n))
        return false;
    const double next = runtime_queue_next(&n->queue);
    return is_due(n, next) && next <= last_time(n);
}

/* May an agent release something when it is told? A word of another agent of this node makes it
 * speak only in protocols that take turns. */
static bool may_take_long(const tacit_node *n, const runtime_event *event)
{
    return event->type != TACIT_MESSAGE || n->flags & TACIT_CHATTY;
}

/* A few of the events that are due: what is left waits until the node has listened. */
static void run_queue(tacit_node *n)
{
    int ticks = 0;
    for (int k = 0; k < EVENTS_A_TURN && ticks < TICKS_A_TURN && is_behind(n); k++) {
        const uint64_t skipped = n->shed;
        const runtime_event event = runtime_queue_pop(&n->queue);
        ticks += may_take_long(n, &event);
        node_deliver(n, &event);
        ticks -= n->shed > skipped;
    }
}

/* ---- agreement ---- */

static void count_quiet(tacit_node *n)
{
    if (n->plan.consortium->end != TACIT_END_AGREEMENT)
        return;
    /* A word that nobody paid for must not show, not even in this. */
    const bool speaks = n->phase == NODE_RUNNING && !node_store_mute(n->store);
    n->quiet = speaks ? 1 + node_quiet_around(n) : 0;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        if (!(n->agents[k].change <= n->plan.consortium->tolerance))
            n->quiet = 0;
}

/* ---- phases ---- */

/* All of them say that nothing more will come. */
static bool agents_say_done(const tacit_node *n)
{
    const tacit_protocol *p = n->plan.protocol;
    if (!p->done)
        return false;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        if (!n->agents[k].started || !p->done(n->shared, n->agents[k].state))
            return false;
    return true;
}

static bool agents_done(const tacit_node *n)
{
    const tacit_consortium_options *c = n->plan.consortium;
    if (agents_say_done(n))
        return true;
    if (n->plan.until <= 0)
        return false;
    if (c->end == TACIT_END_AGREEMENT && n->quiet > (uint64_t)c->hops)
        return true;
    if (c->end != TACIT_END_TICKS) /* what was to happen by then happens first */
        return is_due(n, n->plan.until) && !is_behind(n);
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        if (!is_done(n, &n->agents[k]))
            return false;
    return true;
}

/* Seconds since the run began here. */
static double seconds_of_run(const tacit_node *n)
{
    return node_store_elapsed(n->store, 0) + (n->now - n->born);
}

bool node_is_over(const tacit_node *n)
{
    bool any = false, done = true;
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        any |= n->agents[k].resumed;
        done &= is_done(n, &n->agents[k]);
    }
    if (!any)
        return false;
    return done || agents_say_done(n) ||
           (n->plan.until > 0 && seconds_of_run(n) >= n->plan.until * n->plan.consortium->unit);
}

static void note_phase(const tacit_node *n, const char *event)
{
    log_fields f;
    log_begin(&f);
    log_number(&f, "time_units", n->time);
    node_note(n, TACIT_LOG_INFO, event, &f);
}

static void step(tacit_node *n)
{
    if (n->phase == NODE_RUNNING && agents_done(n)) {
        n->phase = NODE_WAITING;
        n->meet_by = n->now + n->plan.options->patience;
        note_phase(n, "agents_done");
        n->beats &= ~UINT64_C(1); /* the neighbours want to know at once */
        node_beat(n);
    }
    if (n->phase == NODE_WAITING && (node_all_ended(n) || n->now >= n->meet_by))
        node_finish(n);
}

/* ---- a disk that took no more ---- */

static void note_why(const tacit_node *n, const char *event, const char *why)
{
    log_fields f;
    log_begin(&f);
    log_text(&f, "why", why);
    node_note(n, TACIT_LOG_ERROR, event, &f);
}

/* Whoever met the full disk first: it is told once, and tried again. */
static void revive(tacit_node *n)
{
    tacit_error why = {0};
    const char *mute = node_store_mute(n->store);
    if (mute && !n->was_mute) {
        note_why(n, "mute", mute);
        n->was_mute = true;
        n->retry_at = n->now + RETRY;
    }
    if (!n->was_mute || n->now < n->retry_at)
        return;
    n->retry_at = n->now + RETRY;
    const tacit_status status = node_store_revive(n->store, n->time, &why);
    if (status == TACIT_EBUDGET) /* the others speak again */
        note_why(n, "agent_silent", why.text);
    else if (status != TACIT_OK)
        return;
    n->was_mute = false;
    note_phase(n, "speaks_again");
    node_start_late(n);
    if (!(n->flags & TACIT_CHATTY))
        node_say_at_home(n, UINT64_MAX);
}

static void advance(tacit_node *n)
{
    if (n->now >= n->next_beat) {
        node_beat(n);
        node_gossip_cycle(n);
        count_quiet(n);
        node_start_late(n);
        n->next_beat = n->now + n->plan.options->heartbeat / 2;
    }
    if (n->phase == NODE_MEETING)
        node_try_begin(n);
    if (n->phase == NODE_RUNNING || n->phase == NODE_WAITING)
        run_queue(n);
    if (n->status == TACIT_OK)
        step(n);
    revive(n);
    if (n->plan.options->checkpoint > 0 && n->now >= n->next_save && n->status == TACIT_OK &&
        n->phase != NODE_MEETING) {
        node_checkpoint(n);
        n->next_save = n->now + n->plan.options->checkpoint;
    }
}

void node_advance(tacit_node *n, double now)
{
    n->now = now > n->now ? now : n->now;
    if (n->status == TACIT_OK && n->phase != NODE_ENDED)
        advance(n);
    if (n->phase != NODE_ENDED)  /* then it has said goodbye */
        node_send_all_packed(n); /* also what was said since the last turn */
}

double node_next(const tacit_node *n)
{
    if (n->packing_count > 0)
        return n->now;
    double next = n->next_beat;
    if (n->phase == NODE_MEETING)
        next = fmin(next, node_begin_by(n));
    if (n->phase == NODE_WAITING)
        next = fmin(next, n->meet_by);
    if ((n->phase == NODE_RUNNING || n->phase == NODE_WAITING) && n->queue.count > 0 &&
        !must_wait(n))
        next = fmin(next, node_seconds_at(n, fmin(runtime_queue_next(&n->queue), last_time(n))));
    if (n->phase == NODE_RUNNING && n->plan.until > 0 && n->plan.consortium->end != TACIT_END_TICKS)
        next = fmin(next, node_seconds_at(n, n->plan.until));
    return next;
}
