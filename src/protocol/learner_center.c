/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learner: it has no records, keeps theta_L and a copy theta_i of every owner, asks, and takes
 * the steps of learner.c.
 *
 *   request    owners who want to be asked stand in a queue; one query is open at a time, until it
 *              is answered, declined, or `patience` is over
 *   broadcast  every owner has a query; the first answer to any of them is taken, and all get new
 *              ones. An owner that asks again may have missed its query, which is repeated, or its
 *              answer got lost: after `patience` it gets a new one.
 *
 * Time is looked at when something happens: every owner's wish, and the learner's own clock.
 */
#include "protocol/learner.h"

#include <math.h>

#define MOST_RECORDS 1000000000000000

static void close_query(tacit_env *env, learner_owner *owner)
{
    tacit_drop(env, owner->point);
    owner->point = NULL;
    owner->number = 0;
}

/* Too long for an answer? A clock that went back says yes. */
static bool waited(tacit_env *env, const learner_shared *s, const learner_owner *owner)
{
    const double since = tacit_facts_of(env)->now - owner->asked;
    return !(since >= 0 && since <= s->options.patience);
}

/* ---- speaking ---- */

/* To `to`: the model, and a query unless that is NULL. */
static tacit_status say(tacit_env *env, const learner_shared *s, const learner_agent *self,
                        tacit_agent to, const learner_owner *query)
{
    tacit_public *word = tacit_new_public(env, &s->word);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    learner_put(word, WORD_POINT, query ? query->point : NULL);
    learner_put(word, WORD_MODEL, self->theta);
    tacit_public_set_int(word, WORD_ABOUT, WORD_NUMBER, query ? (int64_t)query->number : 0);
    tacit_public_set_int(word, WORD_ABOUT, WORD_OVER, self->over);
    tacit_status status = tacit_send(env, to, LEARNER_WORD, word);
    tacit_drop(env, word);
    return status;
}

/* A new query for one owner: bar of line 4. */
static tacit_status ask(tacit_env *env, const learner_shared *s, learner_agent *self, uint32_t slot)
{
    learner_owner *owner = &self->owner[slot];
    const bool copies = s->options.inertia != INERTIA_NONE;
    const double coef[] = {copies ? 0.5 : 1, 0.5};
    const tacit_public *const term[] = {self->theta, copies ? owner->theta : NULL};
    tacit_public *bar = tacit_new_public(env, s->model);
    if (!bar)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_combine(bar, 2, coef, term);
    tacit_drop(env, owner->point);
    owner->point = bar;
    owner->number = ++self->number;
    owner->asked = tacit_facts_of(env)->now;
    return say(env, s, self, tacit_facts_of(env)->neighbour[slot], owner);
}

/* All is said: the result, to all. */
static tacit_status finish(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    const uint32_t neighbours = tacit_facts_of(env)->neighbours;
    self->over = true;
    self->open = 0;
    for (uint32_t j = 0; j < neighbours; j++)
        close_query(env, &self->owner[j]);
    return say(env, s, self, TACIT_NOBODY, NULL);
}

/* ---- whose turn it is ---- */

static void count_in(tacit_env *env, const learner_agent *self, double *owners, double *records)
{
    const uint32_t neighbours = tacit_facts_of(env)->neighbours;
    *owners = *records = 0;
    for (uint32_t j = 0; j < neighbours; j++)
        if (self->owner[j].standing == OWNER_IN) {
            *owners += 1;
            *records += (double)self->owner[j].records;
        }
}

/* Who has waited longest. */
static tacit_status next_request(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    const uint32_t neighbours = tacit_facts_of(env)->neighbours;
    uint32_t best = neighbours;
    for (uint32_t j = 0; j < neighbours; j++) {
        const learner_owner *o = &self->owner[j];
        if (o->standing == OWNER_IN && o->waits > 0 &&
            (best == neighbours || o->waits < self->owner[best].waits))
            best = j;
    }
    if (best == neighbours)
        return TACIT_OK;
    self->owner[best].waits = 0;
    self->open = (uint64_t)best + 1;
    return ask(env, s, self, best);
}

static tacit_status go_on(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    if (self->over || s->options.mode == LEARNER_BROADCAST)
        return TACIT_OK;
    if (self->open && waited(env, s, &self->owner[self->open - 1])) {
        close_query(env, &self->owner[self->open - 1]);
        self->open = 0;
    }
    return self->open ? TACIT_OK : next_request(env, s, self);
}

/* It will not answer now, or never. */
static void give_up(tacit_env *env, learner_agent *self, uint32_t slot)
{
    self->owner[slot].waits = 0;
    close_query(env, &self->owner[slot]);
    if (self->open == (uint64_t)slot + 1)
        self->open = 0;
}

/* After somebody has left for good: is there anybody to ask? */
static bool all_done(tacit_env *env, const learner_agent *self)
{
    const uint32_t neighbours = tacit_facts_of(env)->neighbours;
    for (uint32_t j = 0; j < neighbours; j++)
        if (self->owner[j].standing != OWNER_DONE)
            return false;
    return true;
}

/* ---- hearing ---- */

static tacit_status hear_wish(tacit_env *env, const learner_shared *s, learner_agent *self,
                              const tacit_event *event)
{
    learner_owner *owner = &self->owner[event->slot];
    const int64_t records = tacit_public_get_int(event->payload, 0, WISH_RECORDS);
    const int64_t what = tacit_public_get_int(event->payload, 0, WISH_WHAT);
    if (records < 1 || records > MOST_RECORDS)
        return TACIT_OK;
    if (self->over)
        return say(env, s, self, event->from, NULL);
    if (owner->records == 0)
        owner->records = (uint64_t)records;
    if (owner->standing == OWNER_DONE)
        return TACIT_OK;
    owner->standing = what == WISH_REST ? OWNER_DONE : OWNER_IN;
    if (what == WISH_REST && all_done(env, self))
        return finish(env, s, self);
    if (s->options.mode == LEARNER_BROADCAST && what != WISH_REST)
        return owner->number == 0 || waited(env, s, owner) ? ask(env, s, self, event->slot)
                                                           : say(env, s, self, event->from, owner);
    if (what != WISH_QUERY)
        give_up(env, self, event->slot);
    else if (self->open != (uint64_t)event->slot + 1 && owner->waits == 0)
        owner->waits = ++self->turns;
    return go_on(env, s, self);
}

static bool is_finite(const tacit_public *answer)
{
    for (size_t k = 0; k < tacit_public_count(answer, ANSWER_GRADIENT); k++)
        if (!isfinite(tacit_public_get(answer, ANSWER_GRADIENT, k)))
            return false;
    return true;
}

/* ---- a step ---- */

/* P[a bar + b q] */
static tacit_public *step(tacit_env *env, const learner_shared *s, double a,
                          const tacit_public *bar, double b, const tacit_public *q)
{
    const double coef[] = {a, b}, range = s->options.range;
    const tacit_public *const term[] = {bar, q};
    tacit_public *out = tacit_new_public(env, s->model);
    if (!out)
        return NULL;
    tacit_public_combine(out, 2, coef, term);
    for (size_t k = 0; k < s->features; k++) {
        const double x = tacit_public_get(out, 0, k);
        if (fabs(x) > range)
            tacit_public_set(out, 0, k, x > 0 ? range : -range);
    }
    return out;
}

/* Line 7, for an answer `q` to the query at owner->point. */
static tacit_status update(tacit_env *env, const learner_shared *s, learner_agent *self,
                           learner_owner *owner, const tacit_public *q)
{
    double owners, records;
    count_in(env, self, &owners, &records);
    const double alpha = s->alpha, sigma = 2 * s->lambda;
    const double pull = owners * alpha / sigma * ((double)owner->records / records);
    const bool none = s->options.inertia == INERTIA_NONE;
    const double keep_owner = none ? 1 - alpha : 1 - alpha / 2;
    const double keep =
        s->options.inertia == INERTIA_PRINTED ? 1 - alpha * (owners - 1) / owners : 1 - alpha / 2;
    tacit_public *copy = step(env, s, keep_owner, owner->point, -pull, q);
    tacit_public *own = none ? copy : step(env, s, keep, owner->point, 0, NULL);
    if (!copy || !own) {
        tacit_drop(env, copy);
        return tacit_out_of_memory(tacit_own_error(env));
    }
    tacit_drop(env, self->theta);
    self->theta = own;
    if (!none) {
        tacit_drop(env, owner->theta);
        owner->theta = copy;
    }
    owner->answers++;
    self->made++;
    return TACIT_OK;
}

/* mode broadcast: new queries for all who are there. */
static tacit_status ask_all(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    const uint32_t neighbours = tacit_facts_of(env)->neighbours;
    tacit_status status = TACIT_OK;
    for (uint32_t j = 0; j < neighbours && status == TACIT_OK; j++) {
        close_query(env, &self->owner[j]);
        if (self->owner[j].standing == OWNER_IN)
            status = ask(env, s, self, j);
    }
    return status;
}

static tacit_status hear_answer(tacit_env *env, const learner_shared *s, learner_agent *self,
                                const tacit_event *event)
{
    learner_owner *owner = &self->owner[event->slot];
    const int64_t number = tacit_public_get_int(event->payload, ANSWER_NUMBER, 0);
    if (owner->number == 0 || number != (int64_t)owner->number || owner->standing == OWNER_DONE ||
        !owner->point || !is_finite(event->payload)) {
        self->dropped++;
        return TACIT_OK;
    }
    owner->standing = OWNER_IN;
    tacit_public *q = learner_copy(env, s, event->payload, ANSWER_GRADIENT);
    tacit_status status =
        q ? update(env, s, self, owner, q) : tacit_out_of_memory(tacit_own_error(env));
    tacit_drop(env, q);
    if (status != TACIT_OK)
        return status;
    close_query(env, owner);
    self->open = 0;
    if (self->made >= (uint64_t)s->options.iterations)
        return finish(env, s, self);
    return s->options.mode == LEARNER_BROADCAST ? ask_all(env, s, self) : go_on(env, s, self);
}

/* ---- all events ---- */

static tacit_status start(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    if (tacit_facts_of(env)->records > 0)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %lld is the learner (\"protocol.learner\") but has records, which "
                          "nobody would learn from; \"data.without: 1\" deals to the others only",
                          (long long)s->options.learner);
    self->theta = tacit_new_public(env, s->model);
    return self->theta ? TACIT_OK : tacit_out_of_memory(tacit_own_error(env));
}

static tacit_status come_and_go(tacit_env *env, const learner_shared *s, learner_agent *self,
                                const tacit_event *event)
{
    learner_owner *owner = &self->owner[event->slot];
    const bool up = event->type == TACIT_PEER_UP;
    if (up && self->over)
        return say(env, s, self, event->from, NULL);
    if (!up && owner->standing == OWNER_IN) {
        owner->standing = OWNER_AWAY;
        give_up(env, self, event->slot);
    } else if (up && owner->standing == OWNER_AWAY) {
        owner->standing = OWNER_IN;
        if (s->options.mode == LEARNER_BROADCAST)
            return ask(env, s, self, event->slot);
    }
    return go_on(env, s, self);
}

/* Figures of a run: public, all of them. */
static void tell(tacit_env *env, const learner_agent *self)
{
    tacit_metric(env, "iterations", (double)self->made);
    tacit_metric(env, "answers_dropped", (double)self->dropped);
}

tacit_status learner_center_on(tacit_env *env, const learner_shared *s, learner_agent *self,
                               const tacit_event *event)
{
    const bool known = event->slot != TACIT_NO_SLOT;
    switch (event->type) {
    case TACIT_START:
        return start(env, s, self);
    case TACIT_WAKE:
        return go_on(env, s, self);
    case TACIT_MESSAGE:
        if (known && event->at.kind == LEARNER_WISH)
            return hear_wish(env, s, self, event);
        return known && event->at.kind == LEARNER_ANSWER ? hear_answer(env, s, self, event)
                                                         : TACIT_OK;
    case TACIT_PEER_UP:
    case TACIT_PEER_DOWN:
        return known ? come_and_go(env, s, self, event) : TACIT_OK;
    case TACIT_FINISH:
        tell(env, self);
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}
