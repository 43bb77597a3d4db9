/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An adaptive timeout on silence, with two thresholds.
 *
 * The gaps between signs of life have a running mean m and mean deviation v (Jacobson 1988, the
 * estimator of TCP, with half its gains: 1/16 and 1/8, so that one lapse is no habit). Silence of
 *
 *     max(slow * interval, m + 4 v)    is slow,
 *     max(down * interval, m + 12 v)   is down, but never more than longest * interval.
 *
 * Why not phi accrual: its level is a monotone function of (silence - mean) / deviation under an
 * assumed normal law. Gaps over a link that loses messages are nowhere near normal (they are
 * multiples of the interval), so the probability it names is not one; what is left is the same
 * threshold in deviations, and a person cannot see from a level when a peer will be down. Here
 * the seconds are there to be shown, and floors in whole intervals say what matters: with one
 * message in twenty lost, independently, six in a row are lost once in 6e7.
 *
 * Hysteresis: a peer that was slow or down is up after `steady` signs of life in a row, each in
 * time. The silence of an outage is not a gap: it would teach us that the peer is irregular.
 *
 * Our own time moves by at most half an interval a step and never backwards. If this machine
 * slept for an hour, or hung, nobody is dead for that: everybody has the same whole limit to be
 * heard again, less half an interval.
 */
#include "net/suspect.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

typedef struct watched {
    bool used;
    tacit_health health, told;
    uint32_t in_time; /* signs of life in a row while not up */
    double heard, mean, deviation;
} watched;

struct tacit_suspect {
    tacit_suspect_options o;
    double clock, time; /* of the machine when last seen; ours, bounded steps */
    watched *peer;
    size_t count, capacity;
    size_t cursor; /* where tacit_suspect_next goes on */
};

void tacit_suspect_defaults(tacit_suspect_options *o)
{
    *o = (tacit_suspect_options){
        .interval = 1, .slow = 2.5, .down = 6.5, .longest = 60, .steady = 2};
}

tacit_status tacit_suspect_create(tacit_suspect **out, const tacit_suspect_options *o, double now,
                                  tacit_error *err)
{
    *out = NULL;
    if (!(o->interval > 0 && o->interval <= 86400))
        return tacit_fail(err, TACIT_EINPUT,
                          "an interval of \"%g\" s between signs of life must be more than 0 and "
                          "at most a day",
                          o->interval);
    if (!(o->slow > 1 && o->down > o->slow && o->longest >= o->down && o->longest <= 1e6))
        return tacit_fail(err, TACIT_EINPUT,
                          "limits \"%g\", \"%g\" and \"%g\" must grow: slow above 1 interval, "
                          "down above slow, longest at least down",
                          o->slow, o->down, o->longest);
    if (!isfinite(now))
        return tacit_fail(err, TACIT_EINPUT, "the time \"%g\" is no time", now);
    tacit_suspect *s = calloc(1, sizeof *s);
    if (!s)
        return tacit_out_of_memory(err);
    s->o = *o;
    s->clock = now;
    *out = s;
    return TACIT_OK;
}

void tacit_suspect_free(tacit_suspect *s)
{
    if (!s)
        return;
    free(s->peer);
    free(s);
}

/* A clock that is no number, or goes back, stands still for us. */
static void pass(tacit_suspect *s, double now)
{
    double step = now - s->clock;
    if (!isfinite(now))
        return;
    s->clock = now;
    if (step > 0)
        s->time += fmin(step, s->o.interval / 2);
}

tacit_status tacit_suspect_add(tacit_suspect *s, uint32_t *slot, double now, tacit_error *err)
{
    size_t at = 0;
    pass(s, now);
    while (at < s->count && s->peer[at].used)
        at++;
    if (at == s->count) {
        if (s->count >= UINT32_MAX)
            return tacit_out_of_memory(err);
        watched *peer = tacit_array_grow(s->peer, &s->capacity, s->count + 1, sizeof *peer);
        if (!peer)
            return tacit_out_of_memory(err);
        s->peer = peer;
        s->count++;
    }
    s->peer[at] = (watched){
        .used = true, .heard = s->time, .mean = s->o.interval, .deviation = s->o.interval / 4};
    *slot = (uint32_t)at;
    return TACIT_OK;
}

static watched *peer_of(const tacit_suspect *s, uint32_t slot)
{
    assert(slot < s->count && s->peer[slot].used);
    return &s->peer[slot];
}

void tacit_suspect_remove(tacit_suspect *s, uint32_t slot)
{
    peer_of(s, slot)->used = false;
}

static double limit(const tacit_suspect *s, const watched *w, double intervals, double deviations)
{
    double adaptive = w->mean + deviations * w->deviation;
    return fmin(fmax(intervals * s->o.interval, adaptive), s->o.longest * s->o.interval);
}

static double slow_limit(const tacit_suspect *s, const watched *w)
{
    return limit(s, w, s->o.slow, 4);
}

static double down_limit(const tacit_suspect *s, const watched *w)
{
    return limit(s, w, s->o.down, 12);
}

/* Only silence makes worse, and only being heard makes better; late is a row that begins anew. */
static void judge(const tacit_suspect *s, watched *w)
{
    double silence = s->time - w->heard;
    if (silence > down_limit(s, w))
        w->health = TACIT_HEALTH_DOWN, w->in_time = 0;
    else if (silence > slow_limit(s, w)) {
        w->in_time = 0;
        if (w->health == TACIT_HEALTH_UP)
            w->health = TACIT_HEALTH_SLOW;
    }
}

void tacit_suspect_heard(tacit_suspect *s, uint32_t slot, double now)
{
    watched *w = peer_of(s, slot);
    pass(s, now);
    judge(s, w);
    double gap = s->time - w->heard;
    w->heard = s->time;
    if (gap <= down_limit(s, w)) {
        double error = gap - w->mean;
        w->mean += error / 16;
        w->deviation += (fabs(error) - w->deviation) / 8;
    }
    if (w->health == TACIT_HEALTH_UP)
        return;
    if (++w->in_time >= s->o.steady)
        w->health = TACIT_HEALTH_UP, w->in_time = 0;
}

void tacit_suspect_tick(tacit_suspect *s, double now)
{
    pass(s, now);
    for (size_t i = 0; i < s->count; i++) {
        if (s->peer[i].used)
            judge(s, &s->peer[i]);
    }
}

bool tacit_suspect_next(tacit_suspect *s, tacit_suspect_change *change)
{
    for (size_t k = 0; k < s->count; k++) {
        size_t at = (s->cursor + k) % s->count;
        watched *w = &s->peer[at];
        if (!w->used || w->told == w->health)
            continue;
        *change = (tacit_suspect_change){(uint32_t)at, w->told, w->health};
        w->told = w->health;
        s->cursor = at + 1;
        return true;
    }
    return false;
}

tacit_health tacit_suspect_health(const tacit_suspect *s, uint32_t slot)
{
    return peer_of(s, slot)->health;
}

double tacit_suspect_silence(const tacit_suspect *s, uint32_t slot)
{
    return s->time - peer_of(s, slot)->heard;
}

double tacit_suspect_limit(const tacit_suspect *s, uint32_t slot)
{
    return down_limit(s, peer_of(s, slot));
}
