/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterations of dsgd, dsgt and dinno. In each an agent says one word to all neighbours, waits for
 * theirs (consensus_words.c: who is late, who is gone), and computes.
 *
 * Invariants:
 *  1. The only thing computed from records is the gradient, under a permit; it is released once and
 *     then used as often as need be, never drawn anew.
 *  2. All agents begin with the same model, drawn from the name of the run.
 *  3. An agent whose budget is used up has the gradient zero: it goes on averaging, which costs
 *     nothing. So does one without records, where everybody may know that (consensus_has_none).
 *     Where the number of records is a secret, it releases zero with noise and is charged.
 */
#include "protocol/consensus.h"

#include <math.h>

#define TICK (UINT64_C(1) << 62) /* timers of iterations; those of rounds are smaller */

/* ---- vectors ---- */

void consensus_put(tacit_env *env, consensus_agent *self, enum consensus_vector which,
                   tacit_public *vector)
{
    tacit_drop(env, self->vector[which]);
    self->vector[which] = vector;
}

void consensus_tell_theta(const consensus_shared *s, const consensus_agent *self, uint32_t part,
                          tacit_public *word)
{
    (void)s;
    tacit_public_copy_segment(word, part, self->vector[THETA], 0);
}

tacit_status consensus_mix(tacit_env *env, const consensus_shared *s, const consensus_heard *heard,
                           uint32_t part, size_t more, const double *coef,
                           const tacit_public *const *term, tacit_public **out)
{
    const size_t count = heard->count + more;
    double *weight = tacit_temporary(env, count * sizeof *weight);
    const tacit_public **from = tacit_temporary(env, count * sizeof *from);
    uint32_t *segment = tacit_temporary(env, count * sizeof *segment);
    *out = tacit_new_public(env, s->shape);
    if (!weight || !from || !segment || !*out) {
        tacit_drop(env, *out);
        *out = NULL;
        return tacit_out_of_memory(tacit_own_error(env));
    }
    for (size_t k = 0; k < count; k++) {
        const bool said = k < heard->count;
        weight[k] = said ? heard->weight[k] : coef[k - heard->count];
        from[k] = said ? heard->word[k] : term[k - heard->count];
        segment[k] = said ? part : 0;
    }
    tacit_public_combine_segments(*out, 0, count, weight, from, segment);
    return TACIT_OK;
}

/* ---- gradients ---- */

static tacit_status add_regulariser(tacit_env *env, const consensus_shared *s,
                                    const tacit_public *at, tacit_public *gradient)
{
    const double lambda = tacit_model_lambda(s->model, tacit_facts_of(env)->records);
    if (lambda > 0)
        tacit_public_axpy(gradient, 2 * lambda, at);
    return TACIT_OK;
}

/* The released gradient lives as long as the event: *out is a scaled copy. */
static tacit_status release(tacit_env *env, const consensus_shared *s, const tacit_cost *cost,
                            tacit_permit *permit, const tacit_public *at, tacit_public *out)
{
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_status status = tacit_model_gradient(s->model, permit, tacit_own_data(env, TACIT_TRAIN),
                                               at, consensus_clip(s, cost), tacit_own_scratch(env),
                                               &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status == TACIT_OK)
        tacit_public_combine(out, 1, (const double[]){consensus_scale(s, tacit_facts_of(env))},
                             (const tacit_public *const[]){released});
    return status;
}

tacit_status consensus_gradient(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                                const tacit_public *at, tacit_public **out)
{
    tacit_cost cost;
    tacit_permit *permit;
    *out = tacit_new_public(env, s->shape);
    if (!*out)
        return tacit_out_of_memory(tacit_own_error(env));
    if (consensus_has_none(s, tacit_facts_of(env)) || self->spent)
        return TACIT_OK;
    tacit_status status =
        consensus_cost(s, tacit_facts_of(env), self->noise, &cost, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_EBUDGET) {
        self->spent = true;
        return TACIT_OK;
    }
    if (status == TACIT_OK)
        status = release(env, s, &cost, permit, at, *out);
    if (status == TACIT_OK)
        status = add_regulariser(env, s, at, *out);
    if (status != TACIT_OK) {
        tacit_drop(env, *out);
        *out = NULL;
    }
    return status;
}

double consensus_rate(const consensus_shared *s, uint64_t iteration)
{
    const consensus_options *o = &s->options;
    const double first = o->step, last = o->step_last > 0 ? o->step_last : first / 10;
    const double way =
        o->iterations > 1 ? (double)(iteration - 1) / (double)(o->iterations - 1) : 0;
    switch (o->schedule) {
    case RATE_LINEAR:
        return first + way * (last - first);
    case RATE_COSINE:
        return last + (first - last) * 0.5 * (1 + cos(way * 3.14159265358979323846));
    case RATE_EXPONENTIAL:
        return first * pow(last / first, way);
    default:
        return first;
    }
}

/* ---- words ---- */

static tacit_status speak(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    tacit_public *word;
    tacit_status status = s->way->before ? s->way->before(env, s, self) : TACIT_OK;
    if (status == TACIT_OK)
        status = consensus_make_word(env, s, self, &word);
    if (status != TACIT_OK)
        return status;
    self->waiting = true;
    status = tacit_rounds_say(env, &self->rounds, CONSENSUS_WORD, word);
    tacit_drop(env, word);
    return status;
}

/* ---- iterations ---- */

void consensus_average(const consensus_shared *s, uint64_t iteration, const tacit_public *theta,
                       tacit_public *mean)
{
    const double decay = s->options.average;
    if (decay == 0)
        return;
    const double weight = (1 - decay) / (1 - pow(decay, (double)iteration));
    tacit_public_scale(mean, 1 - weight);
    tacit_public_axpy(mean, weight, theta);
}

static tacit_status compute(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    consensus_heard heard = {0};
    tacit_status status = consensus_listen(env, s, self, &heard);
    if (status != TACIT_OK)
        return status;
    status = s->way->step(env, s, self, &heard);
    tacit_drop(env, heard.word[0]);
    if (status != TACIT_OK)
        return status;
    consensus_average(s, self->iteration, self->vector[THETA], self->vector[MEAN]);
    self->waiting = false;
    return TACIT_OK;
}

static bool has_ended(const consensus_shared *s, const consensus_agent *self)
{
    return self->iteration == (uint64_t)s->options.iterations && !self->waiting;
}

/* By its clock; or because all neighbours have begun the next iteration: whoever was away, whose
 * clock stood still, does not let them wait for it. */
static bool may_begin(const consensus_shared *s, const consensus_agent *self)
{
    const bool behind = self->rounds.count > 0 && self->rounds.missing == 0;
    return self->iteration < self->due ||
           (behind && self->iteration < (uint64_t)s->options.iterations);
}

/* As far as clock and neighbours allow. */
static tacit_status advance(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK) {
        if (self->waiting) {
            if (!consensus_complete(env, self))
                break;
            status = compute(env, s, self);
            tacit_rounds_next(env, &self->rounds);
        } else if (may_begin(s, self)) {
            self->iteration++;
            status = speak(env, s, self);
        } else {
            break;
        }
    }
    return status;
}

static tacit_status set_clock(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    const uint64_t most = (uint64_t)s->options.iterations;
    if (s->options.period == 0)
        self->due = most;
    if (self->due >= most)
        return TACIT_OK;
    const double next = s->options.period * (double)(self->due + 1);
    const double wait = next - tacit_facts_of(env)->now;
    return tacit_timer(env, wait > 0 ? wait : 0, TICK | (self->due + 1));
}

/* What each release costs is settled before the first. */
static tacit_status plan_noise(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    tacit_cost cost;
    if (s->privacy.mechanism == TACIT_MECHANISM_NONE || consensus_has_none(s, tacit_facts_of(env)))
        return TACIT_OK;
    tacit_status status = consensus_cost(s, tacit_facts_of(env), 0, &cost, tacit_own_error(env));
    self->noise = status == TACIT_OK ? cost.noise / s->privacy.clip : 0;
    return status;
}

static tacit_status start(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    const uint32_t wanted =
        s->way->remembers | 1U << THETA | (s->options.average > 0 ? 1U << MEAN : 0);
    for (uint32_t k = 0; k < CONSENSUS_VECTORS; k++)
        if (wanted >> k & 1 && !(self->vector[k] = tacit_new_public(env, s->shape)))
            return tacit_out_of_memory(tacit_own_error(env));
    tacit_model_start(s->model, tacit_facts_of(env)->run, self->vector[THETA]);
    tacit_rounds_init(&self->rounds, consensus_words(self), tacit_facts_of(env)->neighbours,
                      s->options.patience > 0 ? s->options.patience : INFINITY);
    tacit_status status = plan_noise(env, s, self);
    if (status == TACIT_OK && s->way->begin)
        status = s->way->begin(env, s, self);
    if (status == TACIT_OK)
        status = set_clock(env, s, self);
    return status == TACIT_OK ? advance(env, s, self) : status;
}

/* A round is complete, or patience is over. */
static tacit_status on_round(tacit_env *env, const void *shared, void *state,
                             const tacit_event *event)
{
    consensus_agent *self = state;
    (void)event;
    if (!self->waiting)
        return TACIT_OK; /* words for an iteration that has not begun here */
    tacit_status status = compute(env, shared, self);
    if (status != TACIT_OK)
        return status;
    tacit_rounds_next(env, &self->rounds);
    return advance(env, shared, self);
}

static tacit_status tick(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         uint64_t number)
{
    if (number != self->due + 1)
        return TACIT_OK;
    self->due = number;
    tacit_status status = set_clock(env, s, self);
    return status == TACIT_OK ? advance(env, s, self) : status;
}

tacit_status consensus_on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const consensus_shared *s = shared;
    consensus_agent *self = state;
    if (event->type == TACIT_START)
        return start(env, s, self);
    if (event->type == TACIT_TIMER && event->id & TICK)
        return tick(env, s, self, event->id & ~TICK);
    const bool moves = event->type == TACIT_PEER_UP || event->type == TACIT_PEER_DOWN;
    if (!(moves || event->type == TACIT_MESSAGE || event->type == TACIT_TIMER) ||
        has_ended(s, self))
        return TACIT_OK;
    if (event->type != TACIT_TIMER)
        consensus_come_and_go(env, self, event);
    tacit_status status = tacit_rounds_feed(env, &self->rounds, event, on_round, s, self);
    return status == TACIT_OK ? advance(env, s, self) : status; /* all who are left have spoken */
}

/* ---- state ---- */

const tacit_shape *consensus_payload(const void *shared, tacit_address at)
{
    const consensus_shared *s = shared;
    return at.channel == 0 && at.kind == CONSENSUS_WORD ? &s->word : NULL;
}

void consensus_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const consensus_agent *self = state;
    (void)shared;
    for (uint32_t k = 0; k < CONSENSUS_VECTORS; k++)
        tacit_save_public(saver, self->vector[k]);
    tacit_save_f64(saver, self->noise);
    tacit_save_u64(saver, self->iteration);
    tacit_save_u64(saver, self->due);
    tacit_save_u64(saver, self->steps);
    tacit_save_u64(saver, self->waiting);
    tacit_save_u64(saver, self->spent);
    consensus_words_save(self, neighbours, saver);
}

void consensus_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const consensus_shared *s = shared;
    consensus_agent *self = state;
    for (uint32_t k = 0; k < CONSENSUS_VECTORS; k++)
        self->vector[k] = tacit_load_public(loader, s->shape);
    self->noise = tacit_load_f64(loader);
    self->iteration = tacit_load_u64(loader);
    self->due = tacit_load_u64(loader);
    self->steps = tacit_load_u64(loader);
    self->waiting = tacit_load_u64(loader) != 0;
    self->spent = tacit_load_u64(loader) != 0;
    consensus_words_load(s, self, neighbours, loader);
}

void consensus_end(tacit_env *env, const void *shared, void *state)
{
    consensus_agent *self = state;
    (void)shared;
    for (uint32_t k = 0; k < CONSENSUS_VECTORS; k++)
        tacit_drop(env, self->vector[k]);
    consensus_words_end(env, self);
}

const tacit_secret *consensus_model(const void *shared, const void *state)
{
    const consensus_agent *self = state;
    const consensus_shared *s = shared;
    const bool mean = s->options.average > 0 && self->iteration > 0;
    const tacit_public *model = self->vector[mean ? MEAN : THETA];
    return model ? tacit_public_as_secret(model) : NULL;
}

bool consensus_done(const void *shared, const void *state)
{
    return has_ended(shared, state);
}
