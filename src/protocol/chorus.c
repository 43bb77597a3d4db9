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

static const double *column_of(const chorus_shared *s, tacit_agent agent)
{
    return s->column + (size_t)agent * s->rank;
}

/* An agent that the voices do not reach: it neither gives nor learns from others. */
static bool is_apart(const chorus_shared *s, tacit_agent agent)
{
    double sum = 0;
    for (size_t k = 0; k < s->rank; k++)
        sum += fabs(column_of(s, agent)[k]);
    return sum == 0;
}

static double closing(const chorus_shared *s, uint64_t round)
{
    return s->options.period * (double)round;
}

/* ---- giving ---- */

/* m_i c_i c_i^T, the upper triangle, openly: so everybody knows what the sum is a sum of. */
static tacit_public *weights(tacit_env *env, const chorus_shared *s, const double *c, double m)
{
    tacit_public *out = tacit_new_public(env, &s->beside);
    size_t at = 0;
    for (size_t k = 0; out && k < s->rank; k++)
        for (size_t l = k; l < s->rank; l++)
            tacit_public_set_int(out, 0, at++, llrint(m * c[k] * c[l] * CHORUS_BESIDE_ONE));
    return out;
}

/* The statistic is the negative gradient; without noise kernels yield means, not sums. */
static tacit_status voice(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                          tacit_permit *permit, tacit_bounded **out)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    const double *c = column_of(s, facts->self);
    double *column = tacit_temporary(env, s->rank * sizeof *column);
    if (!column)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < s->rank; k++)
        column[k] = -c[k] * (noisy ? 1 : (double)facts->records);
    tacit_status status = tacit_model_gradient(
        tacit_own_model(env), permit, tacit_own_data(env, TACIT_TRAIN), self->prior, s->clip,
        tacit_own_scratch(env), out, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_bounded_spread(*out, column, s->rank, &s->sum, tacit_own_scratch(env),
                                      tacit_own_error(env));
    return status;
}

static tacit_status sing(tacit_env *env, const chorus_shared *s, const chorus_agent *self,
                         uint64_t round)
{
    const tacit_facts *facts = tacit_facts_of(env);
    const double closes = closing(s, round);
    if (round > s->rounds || facts->records == 0 || is_apart(s, facts->self) ||
        chorus_has_left(s, facts->self, round) || !(facts->now < closes))
        return TACIT_OK;
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = tacit_reserve(env, chorus_cost(s, round), &permit);
    if (status == TACIT_EBUDGET && (s->budgets || round > 1))
        return TACIT_OK;
    if (status == TACIT_OK)
        status = voice(env, s, self, permit, &bounded);
    if (status != TACIT_OK)
        return status;
    tacit_public *beside = weights(env, s, column_of(s, facts->self), (double)facts->records);
    if (!beside)
        return tacit_out_of_memory(tacit_own_error(env));
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

/* What the sum of this round says, from the memo or worked out; the lock is held on success. */
static tacit_status recall(tacit_env *env, const chorus_shared *s, const tacit_event *event)
{
    chorus_memo *memo = s->memo;
    const size_t r = s->rank, p = s->features;
    pthread_mutex_lock(&memo->lock);
    if (memo->round == event->id)
        return TACIT_OK;
    memo->round = 0;
    size_t at = 0;
    for (size_t k = 0; k < r; k++)
        for (size_t l = k; l < r; l++) {
            const double q = (double)tacit_public_get_int(event->beside, 0, at++);
            memo->q[k * r + l] = memo->q[l * r + k] = q / CHORUS_BESIDE_ONE;
        }
    double *y = malloc(r * p * sizeof *y);
    tacit_status status = y ? TACIT_OK : tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; y && k < r * p; k++)
        y[k] = tacit_public_get(event->payload, 0, k);
    const tacit_cost *cost = chorus_cost(s, event->id);
    if (status == TACIT_OK)
        status = chorus_smooth(
            &(chorus_heard){.rank = r,
                            .features = p,
                            .y = y,
                            .q = memo->q,
                            .variance = s->variance,
                            .noise = cost->mechanism == TACIT_MECHANISM_NONE ? 0 : cost->noise,
                            .modes = s->options.spreads == CHORUS_SPREAD_MODES,
                            .sparse = s->options.spreads == CHORUS_SPREAD_COORDINATES},
            &memo->smoothed, tacit_own_error(env));
    free(y);
    if (status == TACIT_OK)
        memo->round = event->id;
    else
        pthread_mutex_unlock(&memo->lock);
    return status;
}

static tacit_status listen(tacit_env *env, const chorus_shared *s, chorus_agent *self,
                           const tacit_event *event)
{
    if (event->at.kind != CHORUS_SUM || event->id < 1 || event->id > s->rounds || !event->beside ||
        is_apart(s, tacit_facts_of(env)->self))
        return TACIT_OK;
    tacit_public *next = tacit_new_public(env, s->model);
    if (!next)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = recall(env, s, event);
    if (status != TACIT_OK) {
        tacit_drop(env, next);
        return status;
    }
    const chorus_smoothed *heard = &s->memo->smoothed;
    const double *c = column_of(s, tacit_facts_of(env)->self);
    const double scale = (event->id == 1 ? s->options.step : 1) / s->curvature;
    for (size_t i = 0; i < s->features; i++) {
        double sum = 0;
        for (size_t l = 0; l < s->rank; l++)
            sum += c[l] * heard->h[l * s->features + i];
        tacit_public_set(next, 0, i, tacit_public_get(self->prior, 0, i) + scale * sum);
    }
    if (event->id == 1)
        self->spread = heard->spread * scale * scale;
    if (heard->spread > 0) /* else nothing but noise was heard, and nothing is surer than before */
        self->doubt = chorus_doubt(heard, s->rank, c) * scale * scale;
    pthread_mutex_unlock(&s->memo->lock);
    tacit_drop(env, self->prior);
    self->prior = next;
    self->heard = event->id;
    return TACIT_OK;
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

tacit_status chorus_on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        if (!(self->prior = tacit_new_public(env, s->model)))
            return tacit_out_of_memory(tacit_own_error(env));
        return sing(env, s, self, 1);
    case TACIT_GROUP_RESULT: {
        tacit_status status = listen(env, s, self, event);
        return status == TACIT_OK ? sing(env, s, self, event->id + 1) : status;
    }
    case TACIT_FINISH:
        return finish(env, s, self);
    default:
        return TACIT_OK;
    }
}

/* ---- state ---- */

const tacit_shape *chorus_payload(const void *shared, tacit_address at)
{
    const chorus_shared *s = shared;
    if (at.channel != 0)
        return NULL;
    return at.kind == CHORUS_SUM                    ? &s->sum
           : at.kind == (CHORUS_SUM | TACIT_BESIDE) ? &s->beside
                                                    : NULL;
}

size_t chorus_agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(chorus_agent);
}

void chorus_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    (void)neighbours;
    const chorus_agent *self = state;
    tacit_save_u64(saver, self->heard);
    tacit_save_f64(saver, self->spread);
    tacit_save_f64(saver, self->doubt);
    tacit_save_public(saver, self->prior);
    tacit_save_secret(saver, self->finished);
}

void chorus_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)neighbours;
    const chorus_shared *s = shared;
    chorus_agent *self = state;
    self->heard = tacit_load_u64(loader);
    self->spread = tacit_load_f64(loader);
    self->doubt = tacit_load_f64(loader);
    self->prior = tacit_load_public(loader, s->model);
    self->finished = tacit_load_secret(loader, s->model);
}

void chorus_end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    chorus_agent *self = state;
    tacit_drop(env, self->prior);
    tacit_drop(env, self->finished);
}

const tacit_secret *chorus_model(const void *shared, const void *state)
{
    (void)shared;
    const chorus_agent *self = state;
    return self->finished ? self->finished : tacit_public_as_secret(self->prior);
}
