/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A data owner. Its clock says when it answers, its ledger how often.
 *
 *     start   tells the learner how many records it has (unit user: 1)
 *     tick    request: asks for a query; broadcast: answers the last query, or asks for one
 *     query   request: answers, if its clock has ticked since its last answer
 *
 * A query that comes unasked is not answered: the learner is told not to wait.
 */
#include "protocol/learner.h"

#include <math.h>

static tacit_status wish(tacit_env *env, const learner_shared *s, int64_t what)
{
    tacit_public *word = tacit_new_public(env, &s->wish);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    /* Unit user: an owner is one whatever it holds, and the number of its records a secret. */
    const bool user = s->privacy.unit == TACIT_UNIT_USER;
    const int64_t weight = user ? 1 : (int64_t)tacit_facts_of(env)->records;
    tacit_public_set_int(word, 0, WISH_RECORDS, weight);
    tacit_public_set_int(word, 0, WISH_WHAT, what);
    tacit_status status = tacit_send(env, (tacit_agent)s->options.learner, LEARNER_WISH, word);
    tacit_drop(env, word);
    return status;
}

static tacit_status start(tacit_env *env, const learner_shared *s)
{
    const tacit_facts *facts = tacit_facts_of(env);
    bool known = false;
    for (uint32_t j = 0; j < facts->neighbours; j++)
        known |= facts->neighbour[j] == (uint32_t)s->options.learner;
    if (!known)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %llu has no edge to agent %lld, the learner "
                          "(\"protocol.learner\"); the graph must be a star around it",
                          (unsigned long long)facts->self, (long long)s->options.learner);
    if (facts->records == 0) /* it would count among those who share the questions */
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %llu owns no records: only the learner may have none "
                          "(\"data.without: 1\"); leave it out, or give it some",
                          (unsigned long long)facts->self);
    if (s->costs.groups == 0)
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "agent %llu has records but no budget; give it a line of "
                          "\"privacy.budgets\", or all a finite \"privacy.epsilon\"",
                          (unsigned long long)facts->self);
    return wish(env, s, WISH_NOTHING);
}

/* The mean clipped gradient at `at`, with noise: the one place where records are touched. */
static tacit_status ask_records(tacit_env *env, const learner_shared *s, const tacit_cost *cost,
                                const tacit_public *at, tacit_public **out)
{
    const double radius = s->privacy.clip > 0 ? s->privacy.clip : INFINITY;
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    const tacit_clip clip = noisy ? tacit_cost_clip(cost) : (tacit_clip){TACIT_L2, radius};
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, cost, &permit);
    if (status == TACIT_OK)
        status =
            tacit_model_gradient(tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN), at,
                                 clip, tacit_own_scratch(env), &bounded, tacit_own_error(env));
    return status == TACIT_OK ? tacit_release(env, permit, bounded, out) : status;
}

static tacit_status rest(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    self->spent = true;
    tacit_drop(env, self->point);
    self->point = NULL;
    return wish(env, s, WISH_REST);
}

static tacit_status answer(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    const double epsilon = tacit_facts_of(env)->epsilon;
    const bool more = s->cap == 0 || self->made < s->cap;
    const tacit_cost *cost = more ? spending_next(&s->costs, epsilon, self->made) : NULL;
    tacit_public *gradient = NULL;
    tacit_status status = cost ? ask_records(env, s, cost, self->point, &gradient) : TACIT_EBUDGET;
    /* One that could never speak is a mistake to be told. */
    if (status == TACIT_EBUDGET && self->made > 0)
        return rest(env, s, self);
    if (status != TACIT_OK)
        return status;
    tacit_public *word = tacit_new_public(env, &s->answer);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    learner_put(word, ANSWER_GRADIENT, gradient);
    tacit_public_set_int(word, ANSWER_NUMBER, 0, (int64_t)self->number);
    self->made++;
    self->answered = self->number;
    self->ticked = false;
    tacit_drop(env, self->point);
    self->point = NULL;
    status = tacit_send(env, (tacit_agent)s->options.learner, LEARNER_ANSWER, word);
    tacit_drop(env, word);
    return status;
}

static tacit_status tick(tacit_env *env, const learner_shared *s, learner_agent *self)
{
    if (self->over || self->spent || tacit_facts_of(env)->records == 0)
        return TACIT_OK;
    self->ticked = true;
    return self->point ? answer(env, s, self) : wish(env, s, WISH_QUERY);
}

/* The model is everybody's; the query is for who has something to say. */
static tacit_status hear(tacit_env *env, const learner_shared *s, learner_agent *self,
                         const tacit_public *word)
{
    const int64_t number = tacit_public_get_int(word, WORD_ABOUT, WORD_NUMBER);
    tacit_public *theta = learner_copy(env, s, word, WORD_MODEL);
    if (!theta)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_drop(env, self->theta);
    self->theta = theta;
    self->over = tacit_public_get_int(word, WORD_ABOUT, WORD_OVER) != 0;
    tacit_drop(env, self->point);
    self->point = NULL;
    if (self->over || number <= 0 || (uint64_t)number <= self->answered ||
        tacit_facts_of(env)->records == 0)
        return TACIT_OK;
    if (self->spent)
        return wish(env, s, WISH_REST);
    self->point = learner_copy(env, s, word, WORD_POINT);
    if (!self->point)
        return tacit_out_of_memory(tacit_own_error(env));
    self->number = (uint64_t)number;
    if (s->options.mode == LEARNER_BROADCAST)
        return TACIT_OK;
    if (self->ticked)
        return answer(env, s, self);
    tacit_drop(env, self->point);
    self->point = NULL;
    return wish(env, s, WISH_NOTHING);
}

tacit_status learner_owner_on(tacit_env *env, const learner_shared *s, learner_agent *self,
                              const tacit_event *event)
{
    switch (event->type) {
    case TACIT_START:
        return start(env, s);
    case TACIT_WAKE:
        return tick(env, s, self);
    case TACIT_MESSAGE:
        return event->from == (tacit_agent)s->options.learner && event->at.kind == LEARNER_WORD
                   ? hear(env, s, self, event->payload)
                   : TACIT_OK;
    default:
        return TACIT_OK;
    }
}
