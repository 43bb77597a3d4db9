/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chorus: many voices summed, no single one heard (docs/protocols/chorus.md).
 *
 * Every agent has a public column c_i of rank r from the graph, |c_i| <= 1, alike for agents that
 * are near each other. In a round agent j computes the sum over its records of the clipped
 * negative gradient at its prior, s_j, and gives c_j (x) s_j to a sum over all agents, which comes
 * back with the noise of one release:
 *
 *     Y = sum_j c_j s_j^T + Z          (r x p numbers, public from here on)
 *
 * If the mean of a record's statistic is about linear in c (smooth over the graph), Y says which
 * linear function: chorus_smooth.c. Agent i steps by it from its prior, theta_i <- theta_i +
 * step H^T c_i / curvature, and starts the next round there. In the end it fits its raw records
 * near its prior, as strongly as the uncertainty of H deserves; that is never sent.
 *
 * Accounting: one record replaced moves s_j by 2C, c_j (x) s_j by |c_j| 2C <= 2C, and the sum by
 * that: a round costs each giver one Gaussian release, whatever the number of agents and
 * whoever reads it. Sensitivity, on integers: src/privacy/spread.c.
 *
 * Invariants:
 *  1. The prior is a function of sums and of public numbers (columns, m_i of those who gave). Never
 *     is a statistic taken at a finished model.
 *  2. An agent whose budget refuses gives nothing and listens on. So does one without records, and
 *     one that opted out of this round. One with a column of zeros, whom nobody is near, learns
 *     alone.
 */
#include "protocol/chorus.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where agents have no column before they learned it, this is NULL. */
static tacit_status find_column(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    if (!self->column && chorus_learned(s))
        return chorus_book_find(env, s, self);
    if (!self->column)
        self->column = chorus_column(s, tacit_facts_of(env)->self);
    return TACIT_OK;
}

/* An agent that the voices do not reach: it neither gives nor learns from others. */
static bool is_apart(const chorus_shared *s, const chorus_agent *self)
{
    double sum = 0;
    for (size_t k = 0; self->column && k < s->rank; k++)
        sum += fabs(self->column[k]);
    return sum == 0;
}

/* A kernel takes the first period to learn. */
static double closing(const chorus_shared *s, uint64_t round)
{
    return s->options.period * (double)(round + (chorus_learned(s) ? 1 : 0));
}

/* ---- giving ---- */

/* m_i c_i c_i^T, the upper triangle, openly: so everybody knows what the sum is a sum of. */
void chorus_weights(const tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                    int64_t *out)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const double *c = self->column;
    size_t at = 0;
    for (size_t k = 0; k < s->rank; k++)
        for (size_t l = k; l < s->rank; l++)
            out[at++] = llrint((double)facts->records * c[k] * c[l] * CHORUS_BESIDE_ONE);
}

/* The statistic is the negative gradient; without noise kernels yield means, not sums. */
static tacit_status spread(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                           const tacit_shape *shape, tacit_permit *permit, tacit_bounded **out)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    double *column = tacit_temporary(env, s->rank * sizeof *column);
    if (!column)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < s->rank; k++)
        column[k] = -self->column[k] * (noisy ? 1 : (double)facts->records);
    tacit_status status = tacit_model_gradient(
        tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN), self->prior, s->clip,
        tacit_own_scratch(env), out, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_bounded_spread(*out, column, s->rank, shape, tacit_own_scratch(env),
                                      tacit_own_error(env));
    return status;
}

/* A budget that does not allow for one sum is a wrong setting, if it is everybody's; one that is
 * used up, by rounds or by tries that failed, is not. */
tacit_status chorus_voice(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                          uint64_t round, const tacit_shape *shape, tacit_permit **permit,
                          tacit_bounded **out)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (round > s->rounds || facts->records == 0 || is_apart(s, self) ||
        chorus_has_left(s, facts->self, round))
        return TACIT_NO;
    tacit_status status = tacit_reserve(env, chorus_cost(s, round), permit);
    if (status == TACIT_EBUDGET && (s->budgets || self->sung > 0 || round > 1))
        return TACIT_NO;
    self->sung += status == TACIT_OK;
    return status == TACIT_OK ? spread(env, s, self, shape, *permit, out) : status;
}

static tacit_status sing(tacit_env *env, const chorus_shared *s, chorus_agent *self, uint64_t round)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const double closes = closing(s, round);
    tacit_permit *permit;
    tacit_bounded *bounded;
    if (!(facts->now < closes))
        return TACIT_OK;
    tacit_status status = chorus_voice(env, s, self, round, &s->sum, &permit, &bounded);
    if (status != TACIT_OK)
        return status == TACIT_NO ? TACIT_OK : status;
    const size_t count = s->beside.segment[0].count;
    int64_t *weight = tacit_temporary(env, count * sizeof *weight);
    tacit_public *beside = tacit_new_public(env, &s->beside);
    if (!beside || !weight) {
        tacit_drop(env, beside);
        return tacit_out_of_memory(tacit_own_error(env));
    }
    chorus_weights(env, s, self, weight);
    for (size_t k = 0; k < count; k++)
        tacit_public_set_int(beside, 0, k, weight[k]);
    status = tacit_give(env, CHORUS_SUM, round, closes, permit, bounded, beside);
    tacit_drop(env, beside);
    if (status == TACIT_NO && facts->now == 0) /* then nobody is ever in time */
        return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                          "gifts are on their way for longer than a round takes: budgets would be "
                          "spent and nothing heard; raise \"protocol.period\", or lower "
                          "\"network.latency-floor\"");
    return status == TACIT_NO ? TACIT_OK : status;
}

/* ---- listening ---- */

/* Tells sums of one round apart: peers who are lied to may hear different ones. */
static uint64_t print_of(const chorus_news *news, const double *y, size_t count)
{
    uint64_t print = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &y[k], sizeof bits);
        print = (print ^ bits) * UINT64_C(0x9e3779b97f4a7c15) + news->round;
        print ^= print >> 32;
    }
    return print;
}

static tacit_status smooth(tacit_env *env, const chorus_shared *s, const chorus_news *news,
                           const double *y)
{
    chorus_memo *memo = s->memo;
    size_t at = 0;
    for (size_t k = 0; k < s->rank; k++)
        for (size_t l = k; l < s->rank; l++) {
            const double q = (double)tacit_public_get_int(news->beside, 0, at++);
            memo->q[k * s->rank + l] = memo->q[l * s->rank + k] = q / CHORUS_BESIDE_ONE;
        }
    return chorus_smooth(&(chorus_heard){.rank = s->rank,
                                         .features = s->features,
                                         .y = y,
                                         .q = memo->q,
                                         .variance = s->variance,
                                         .noise = news->noise,
                                         .modes = s->options.spreads == CHORUS_SPREAD_MODES,
                                         .sparse = s->options.spreads == CHORUS_SPREAD_COORDINATES},
                         &memo->smoothed, tacit_own_error(env));
}

/* What the sum of this round says, from the memo or worked out; the lock is held on success. */
static tacit_status recall(tacit_env *env, const chorus_shared *s, const chorus_news *news)
{
    chorus_memo *memo = s->memo;
    const size_t count = s->rank * s->features;
    double *y = malloc(count * sizeof *y);
    if (!y)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < count; k++)
        y[k] = news->step > 0 ? (double)tacit_public_get_int(news->sum, 0, k) * news->step
                              : tacit_public_get(news->sum, 0, k);
    const uint64_t print = print_of(news, y, count);
    pthread_mutex_lock(&memo->lock);
    tacit_status status = TACIT_OK;
    if (memo->round != news->round || memo->print != print) {
        memo->round = 0;
        status = smooth(env, s, news, y);
    }
    free(y);
    memo->print = print;
    if (status == TACIT_OK)
        memo->round = news->round;
    else
        pthread_mutex_unlock(&memo->lock);
    return status;
}

tacit_status chorus_listen(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                           const chorus_news *news)
{
    if (news->round < 1 || news->round > s->rounds || is_apart(s, self))
        return TACIT_OK;
    tacit_public *next = tacit_new_public(env, s->model);
    if (!next)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = recall(env, s, news);
    if (status != TACIT_OK) {
        tacit_drop(env, next);
        return status;
    }
    const chorus_smoothed *heard = &s->memo->smoothed;
    const double *c = self->column;
    const double scale = (self->heard == 0 ? s->options.step : 1) / s->curvature;
    for (size_t i = 0; i < s->features; i++) {
        double sum = 0;
        for (size_t l = 0; l < s->rank; l++)
            sum += c[l] * heard->h[l * s->features + i];
        tacit_public_set(next, 0, i, tacit_public_get(self->prior, 0, i) + scale * sum);
    }
    if (self->heard == 0)
        self->spread = heard->spread * scale * scale;
    if (heard->spread > 0) /* else nothing but noise was heard, and nothing is surer than before */
        self->doubt = chorus_doubt(heard, s->rank, c) * scale * scale;
    pthread_mutex_unlock(&s->memo->lock);
    tacit_drop(env, self->prior);
    self->prior = next;
    self->heard = news->round;
    return TACIT_OK;
}

/* From the ideal sum. */
static tacit_status on_result(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                              const tacit_event *event)
{
    if (event->at.kind != CHORUS_SUM || event->id < 1 || event->id > s->rounds || !event->beside)
        return TACIT_OK;
    const tacit_cost *cost = chorus_cost(s, event->id);
    const chorus_news news = {.round = event->id,
                              .sum = event->payload,
                              .beside = event->beside,
                              .noise = cost->mechanism == TACIT_MECHANISM_NONE ? 0 : cost->noise};
    tacit_status status = chorus_listen(env, s, self, &news);
    return status == TACIT_OK ? sing(env, s, self, event->id + 1) : status;
}

/* ---- the end ---- */

/* What the prior weighs beside a sum over records: the variance of a residual over its own. */
static double strength(const chorus_shared *s, const chorus_agent *self)
{
    const double doubt = self->doubt + s->options.misfit * self->spread;
    const double p = (double)s->features, radius = s->options.radius;
    const double residual = s->squared ? s->variance * p / (4 * radius * radius) : 0.5;
    return residual / doubt;
}

static tacit_status finish(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    if (!s->finish.wanted)
        return TACIT_OK;
    const double weight = strength(s, self);
    if (!(weight > 0) || !isfinite(weight)) { /* nothing was heard, or nothing but noise */
        const tacit_model *model = tacit_own_model(env);
        tacit_secret *alone = tacit_new_secret(env, s->model);
        self->finished = alone;
        if (!alone)
            return tacit_out_of_memory(tacit_own_error(env));
        tacit_status status =
            tacit_model_solve(model, tacit_own_data(env, TACIT_TRAIN), alone, tacit_own_error(env));
        return status == TACIT_EINPUT ? TACIT_OK : status; /* unfit records: zeros, a secret */
    }
    finish_plan plan = s->finish;
    for (size_t k = 0; k < plan.how.strengths; k++)
        plan.strength[k] = fmin(fmax(plan.strength[k] * weight, 1e-12), 1e12);
    return finish_privately(env, &plan, self->prior, &self->finished);
}

tacit_status chorus_begin(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    const tacit_status status = find_column(env, s, self);
    if (status != TACIT_OK)
        return status;
    return chorus_masked(s) ? chorus_masks_begin(env, s, self) : sing(env, s, self, 1);
}

static tacit_status start(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    if (!(self->prior = tacit_new_public(env, s->model)))
        return tacit_out_of_memory(tacit_own_error(env));
    const tacit_status status = chorus_masked(s) ? chorus_masks_start(env, s, self) : TACIT_OK;
    if (status != TACIT_OK)
        return status;
    return chorus_learned(s) ? chorus_kernel_start(env, s, self) : chorus_begin(env, s, self);
}

tacit_status chorus_on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    const tacit_status status = find_column(env, s, self);
    if (status != TACIT_OK)
        return status;
    switch (event->type) {
    case TACIT_START:
        return start(env, s, self);
    case TACIT_GROUP_RESULT:
        return on_result(env, s, self, event);
    case TACIT_MESSAGE:
    case TACIT_TIMER:
        if (chorus_learned(s) && event->at.channel == env->channel)
            return chorus_kernel_feed(env, s, self, event);
        return chorus_masked(s) ? chorus_masks_feed(env, s, self, event) : TACIT_OK;
    case TACIT_FINISH:
        if (chorus_masked(s))
            tacit_totals_forget(&s->totals, chorus_totals(self));
        return finish(env, s, self);
    default:
        return TACIT_OK;
    }
}
