/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diffusion: one model for all, learned by neighbours that average (paper 003, equations (21)-(23);
 * docs/protocols/diffusion.md). With a_mp the weight agent p gives agent m,
 *
 *     phi_p = sum_m a1_mp w_m                                          (21)
 *     psi_p = sum_m a0_mp phi_m - eta grad J_p(phi_p)                  (22)
 *     w_p   = sum_m a2_mp psi_m                                        (23)
 *
 * consensus is A0 = A, cta (combine, then adapt) A1 = A, atc (adapt, then combine) A2 = A, the
 * others being the identity, which needs no exchange. All approach the minimiser of
 * sum_p q_p J_p, q the Perron vector: the plain mean for doubly stochastic weights.
 *
 * An iteration is a short list of acts (diffusion_setup.c): exchanges, one of which, or none,
 * comes with the gradient. An exchange is a round of local synchrony: tell all neighbours, hear
 * all, combine. A neighbour that is late counts with its last word; one that was never heard has
 * its weight added to the agent's own. So weights always sum to one.
 *
 * Invariants:
 *  1. w is secret and only changed by tracked.h, which carries along what data can move.
 *  2. Everything told was released (diffusion_tell.c), at a cost fixed beforehand.
 *  3. Between telling and combining w does not change: own and told copies are of one time.
 */
#include "protocol/diffusion.h"

#include <math.h>
#include <stddef.h>

#define TICK (UINT64_C(1) << 62) /* timers of iterations; those of rounds are smaller */

const tacit_public **diffusion_words(diffusion_agent *self)
{
    return (const tacit_public **)(void *)(self + 1);
}

const tacit_public **diffusion_last(diffusion_agent *self, uint32_t neighbours)
{
    return diffusion_words(self) + 2 * (size_t)neighbours;
}

uint32_t *diffusion_degrees(diffusion_agent *self, uint32_t neighbours)
{
    return (uint32_t *)(void *)(diffusion_last(self, neighbours) + neighbours);
}

tacit_sums *diffusion_sums(const diffusion_agent *self)
{
    return (tacit_sums *)(uintptr_t)(self + 1);
}

/* ---- weights ---- */

static uint32_t degree_of(tacit_env *env, const diffusion_shared *s, const diffusion_agent *self,
                          uint32_t slot)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    const uint32_t told = diffusion_masks(s)
                              ? tacit_sums_degree(diffusion_sums(self), slot)
                              : diffusion_degrees((diffusion_agent *)(uintptr_t)self, n)[slot];
    return told ? told : n; /* nothing heard: as if it had as many as we do */
}

static tacit_combination_sight sight_of(tacit_env *env, const diffusion_shared *s,
                                        const diffusion_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    tacit_combination_sight sight = {.degree = n, .closed = (uint64_t)n + 1, .largest = s->largest};
    for (uint32_t m = 0; m < n; m++)
        sight.closed += (uint64_t)degree_of(env, s, self, m) + 1;
    return sight;
}

static double weight_of(tacit_env *env, const diffusion_shared *s, const diffusion_agent *self,
                        int combination, const tacit_combination_sight *sight, uint32_t slot)
{
    return tacit_combination_weight((tacit_combination)combination, sight,
                                    degree_of(env, s, self, slot));
}

/* Degrees are known: what the agent keeps in each act, and what its releases will cost. */
static tacit_status get_ready(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    const tacit_combination_sight sight = sight_of(env, s, self);
    double own[3] = {1, 1, 1};
    for (uint32_t k = 0; k < s->acts; k++) {
        double others = 0; /* as combine_words adds them up: a last bit more is not paid for */
        for (uint32_t m = 0; s->act[k].combination != TACIT_COMBINE_NONE && m < sight.degree; m++)
            others += weight_of(env, s, self, s->act[k].combination, &sight, m);
        own[k] = 1 - others;
    }
    for (uint32_t k = 0; k < s->acts; k++)
        if (!(own[k] > 1e-12) && s->options.noise == DIFFUSION_HOMOMORPHIC)
            return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                              "agent %llu gives itself no weight: homomorphic noise would be "
                              "divided by zero",
                              (unsigned long long)tacit_facts_of(env)->self);
    self->ready = true;
    return diffusion_plan(env, s, self, own);
}

/* ---- combining ---- */

/* With noise, what is told must not be more sensitive than what was paid for. Where neighbours were
 * missing, and the agent kept more of its own than planned, it stands still until it may go on; who
 * sees it knows what was missing, not what the records are. */
static bool must_stand(const diffusion_shared *s, const diffusion_agent *self, double keep,
                       size_t batch, size_t records)
{
    return self->planned > 0 && s->options.noise != DIFFUSION_HOMOMORPHIC &&
           tacit_tracked_moved(&s->tracking, s->model, self->w.moved, keep, s->options.step, batch,
                               records) > self->planned;
}

/* Where a batch begins; drawn ones depend on chance alone, so bounds are the same. */
static size_t first_record(tacit_env *env, const diffusion_shared *s, const diffusion_agent *self,
                           size_t batch)
{
    const size_t records = tacit_facts_of(env)->records;
    uint64_t draw = self->batches * batch;
    if (s->options.order)
        tacit_draw(env, self->batches, &draw, sizeof draw);
    return (size_t)(draw % records);
}

static tacit_status descend(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            double keep)
{
    const size_t records = tacit_facts_of(env)->records;
    const size_t wish = diffusion_batch(s, records);
    const size_t batch = must_stand(s, self, keep, wish, records) ? 0 : wish;
    const tacit_some_records some = {.first = batch ? first_record(env, s, self, batch) : 0,
                                     .count = batch};
    self->batches++;
    return tacit_tracked_descend(&self->w, &s->tracking, s->model, tacit_own_data(env, TACIT_TRAIN),
                                 some, keep, s->options.step, tacit_own_scratch(env),
                                 tacit_own_error(env));
}

/* w <- keep w (with the gradient at w, if the act descends) + sum of terms. */
static tacit_status combine(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            double keep, size_t terms, const double *coef,
                            const tacit_public *const *term)
{
    const diffusion_act *act = &s->act[self->act];
    if (s->options.noise == DIFFUSION_HOMOMORPHIC && s->privacy.mechanism != TACIT_MECHANISM_NONE)
        self->planned = diffusion_plan_act(s, act, self->planned, 1, tacit_facts_of(env)->records,
                                           tacit_facts_of(env)->neighbours);
    if (act->descends) {
        tacit_status status = descend(env, s, self, keep);
        if (status != TACIT_OK)
            return status;
        keep = 1;
    }
    if (act->combination != TACIT_COMBINE_NONE)
        tacit_tracked_mix(&self->w, &s->tracking, keep, terms, coef, term);
    return TACIT_OK;
}

/* This round's word of a neighbour, else its last one; NULL: it never said any. */
static const tacit_public *latest(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                                  uint32_t slot)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    const tacit_public *word = tacit_rounds_word(&self->rounds, slot);
    const tacit_public **last = &diffusion_last(self, n)[slot];
    if (word && tacit_public_get_int(word, WORD_DEGREE, 0) >= 0 &&
        tacit_tracked_takes(&s->tracking, word) && word != *last) {
        tacit_drop(env, *last);
        *last = tacit_keep(word);
    }
    return *last;
}

/* All words of an exchange are here, or patience is over. */
static tacit_status combine_words(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    const tacit_combination_sight sight = sight_of(env, s, self);
    double *coef = tacit_temporary(env, (n + 1) * sizeof *coef), others = 0;
    const tacit_public **term = tacit_temporary(env, (n + 1) * sizeof *term);
    if (!coef || !term)
        return tacit_out_of_memory(tacit_own_error(env));
    for (uint32_t m = 0; m < n; m++) {
        term[m] = latest(env, s, self, m);
        coef[m] = term[m] ? weight_of(env, s, self, s->act[self->act].combination, &sight, m) : 0;
        others += coef[m];
    }
    const bool cancels = s->options.noise == DIFFUSION_HOMOMORPHIC && self->said;
    term[n] = cancels ? self->said : NULL;
    coef[n] = cancels ? -others : 0;
    return combine(env, s, self, cancels ? 1 : 1 - others, (size_t)n + 1, coef, term);
}

/* The weights of neighbours that are in the sum at hand, and of all. */
static double sum_weights(tacit_env *env, const diffusion_shared *s, const diffusion_agent *self,
                          double *all)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    const tacit_combination_sight sight = sight_of(env, s, self);
    double weight, there = 0;
    *all = 0;
    for (uint32_t m = 0; m < n; m++) {
        *all += weight_of(env, s, self, s->act[self->act].combination, &sight, m);
        if (tacit_sums_has(diffusion_sums(self), m, &weight))
            there += weight;
    }
    return there;
}

/* The mean of the neighbours in a sum. *out NULL: there is none, or none to listen to. */
static tacit_status mean_of(tacit_env *env, const diffusion_shared *s, const tacit_public *sum,
                            double weights, tacit_public **out)
{
    *out = NULL;
    if (!sum || !(weights > 0))
        return TACIT_OK;
    tacit_public *mean = tacit_new_public(env, tacit_model_shape(s->model));
    if (!mean)
        return tacit_out_of_memory(tacit_own_error(env));
    for (size_t k = 0; k < tacit_public_count(mean, 0); k++)
        tacit_public_set(mean, 0, k, tacit_sums_value(&s->sums, sum, k) / weights);
    if (tacit_tracked_takes(&s->tracking, mean))
        *out = mean;
    else
        tacit_drop(env, mean);
    return TACIT_OK;
}

/* What is missing of a masked sum counts with the last mean that was heard; without one it stays
 * with the agent. */
static tacit_status combine_sum(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                                const tacit_public *sum)
{
    double all;
    const double there = sum_weights(env, s, self, &all);
    tacit_public *mean;
    tacit_status status = mean_of(env, s, sum, there, &mean);
    if (status != TACIT_OK)
        return status;
    const double fresh = mean ? there : 0, stale = self->said ? fmax(0, all - fresh) : 0;
    status = combine(env, s, self, 1 - fresh - stale, 2, (const double[]){fresh, stale},
                     (const tacit_public *const[]){mean, self->said});
    if (mean) {
        tacit_drop(env, self->said);
        self->said = mean;
    }
    return status;
}

/* ---- iterations ---- */

static bool has_ended(const diffusion_shared *s, const diffusion_agent *self)
{
    return self->iteration == (uint64_t)s->options.iterations && self->act == s->acts;
}

static const tacit_sums_user sums_user;

/* Exchanges are numbered from 1 on through all iterations. */
static uint64_t exchange_number(const diffusion_shared *s, const diffusion_agent *self)
{
    uint64_t number = (self->iteration - 1) * s->exchanges + 1;
    for (uint32_t k = 0; k < self->act; k++)
        number += s->act[k].combination != TACIT_COMBINE_NONE;
    return number;
}

static void go_to_exchange(const diffusion_shared *s, diffusion_agent *self, uint64_t number)
{
    self->iteration = (number - 1) / s->exchanges + 1;
    uint64_t left = (number - 1) % s->exchanges;
    for (self->act = 0; s->act[self->act].combination == TACIT_COMBINE_NONE || left > 0;
         self->act++)
        left -= s->act[self->act].combination != TACIT_COMBINE_NONE;
}

static tacit_status begin_exchange(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    self->waiting = true;
    if (!diffusion_masks(s))
        return diffusion_tell(env, s, self);
    return tacit_sums_next(env, &s->sums, diffusion_sums(self), exchange_number(s, self),
                           &sums_user, s, self);
}

/* Acts up to the next exchange. */
static tacit_status go_on(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    const bool alone = tacit_facts_of(env)->neighbours == 0;
    for (; self->act < s->acts; self->act++) {
        if (s->act[self->act].combination != TACIT_COMBINE_NONE && !alone)
            return begin_exchange(env, s, self);
        tacit_status status = combine(env, s, self, 1, 0, NULL, NULL);
        if (status != TACIT_OK)
            return status;
    }
    return TACIT_OK;
}

static bool heard_all(const diffusion_shared *s, const diffusion_agent *self)
{
    return !diffusion_masks(s) && self->rounds.missing == 0;
}

static tacit_status end_exchange(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    tacit_status status = combine_words(env, s, self);
    if (status != TACIT_OK)
        return status;
    tacit_rounds_next(env, &self->rounds);
    self->waiting = false;
    self->act++;
    return TACIT_OK;
}

/* As far as clock and neighbours allow. */
static tacit_status advance(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    tacit_status status = TACIT_OK;
    while (status == TACIT_OK && self->ready) {
        if (self->waiting) {
            if (!heard_all(s, self))
                break;
            status = end_exchange(env, s, self);
        } else if (self->iteration > 0 && self->act < s->acts) {
            status = go_on(env, s, self);
        } else if (self->iteration < self->due) {
            self->iteration++;
            self->act = 0;
        } else {
            break;
        }
    }
    return status;
}

static tacit_status set_clock(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    if (s->options.period == 0) {
        self->due = (uint64_t)s->options.iterations;
        return TACIT_OK;
    }
    if (self->due >= (uint64_t)s->options.iterations)
        return TACIT_OK;
    const double next = s->options.period * (double)(self->due + 1);
    const double wait = next - tacit_facts_of(env)->now;
    return tacit_timer(env, wait > 0 ? wait : 0, TICK | (self->due + 1));
}

static tacit_status start(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    if (!(self->w.value = tacit_new_secret(env, tacit_model_shape(s->model))))
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = set_clock(env, s, self);
    if (status != TACIT_OK)
        return status;
    if (n == 0) {
        self->ready = true;
        return advance(env, s, self);
    }
    if (diffusion_masks(s)) {
        self->ready = true; /* degrees come with the keys that the first sum waits for */
        status = tacit_sums_start(env, &s->sums, diffusion_sums(self));
        return status == TACIT_OK ? advance(env, s, self) : status;
    }
    tacit_rounds_init(&self->rounds, diffusion_words(self), n,
                      s->options.patience > 0 ? s->options.patience : INFINITY);
    return diffusion_greet(env, s, self);
}

/* ---- events ---- */

static void hear_degree(tacit_env *env, diffusion_agent *self, const tacit_event *event)
{
    if (event->type != TACIT_MESSAGE || event->slot == TACIT_NO_SLOT)
        return;
    const int64_t degree = tacit_public_get_int(event->payload, WORD_DEGREE, 0);
    uint32_t *known = &diffusion_degrees(self, tacit_facts_of(env)->neighbours)[event->slot];
    if (*known == 0 && degree > 0 && degree < UINT32_MAX)
        *known = (uint32_t)degree;
}

/* A round is complete, or patience is over. */
static tacit_status on_round(tacit_env *env, const void *shared, void *state,
                             const tacit_event *event)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    (void)event;
    if (!self->ready) {
        tacit_status status = get_ready(env, s, self);
        if (status != TACIT_OK)
            return status;
        tacit_rounds_next(env, &self->rounds);
    } else if (self->waiting) {
        tacit_status status = end_exchange(env, s, self);
        if (status != TACIT_OK)
            return status;
    }
    return advance(env, s, self);
}

static tacit_status feed_rounds(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                                const tacit_event *event)
{
    if (has_ended(s, self) || !self->rounds.word)
        return TACIT_OK;
    hear_degree(env, self, event);
    return tacit_rounds_feed(env, &self->rounds, event, on_round, s, self);
}

static tacit_status tick(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                         uint64_t number)
{
    if (number != self->due + 1)
        return TACIT_OK;
    self->due = number;
    tacit_status status = set_clock(env, s, self);
    return status == TACIT_OK ? advance(env, s, self) : status;
}

/* ---- masked sums ---- */

/* Metropolis, averaging and uniform weights: all that two degrees decide. */
static double sums_weight(const void *shared, uint64_t round, uint32_t receiver, uint32_t member)
{
    const diffusion_shared *s = shared;
    diffusion_agent at = {0};
    go_to_exchange(s, &at, round);
    const tacit_combination_sight sight = {.degree = receiver, .largest = s->largest};
    return tacit_combination_weight((tacit_combination)s->act[at.act].combination, &sight, member);
}

static tacit_status sums_hold(tacit_env *env, const void *shared, void *state, uint32_t slot,
                              double weight, tacit_secret **out)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    (void)slot;
    if (self->sigma == 0 && s->privacy.mechanism != TACIT_MECHANISM_NONE) {
        tacit_status status = get_ready(env, s, self);
        if (status != TACIT_OK)
            return status;
    }
    return diffusion_hold(env, s, self, weight, out);
}

/* A sum is there, or there will be none; neighbours may have gone on without this agent. */
static tacit_status sums_on(tacit_env *env, const void *shared, void *state,
                            const tacit_event *event)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    if (event->id > exchange_number(s, self))
        go_to_exchange(s, self, event->id);
    tacit_status status = combine_sum(env, s, self, event->payload);
    self->waiting = false;
    self->act++;
    if (has_ended(s, self) || status != TACIT_OK)
        return status;
    return advance(env, s, self);
}

static const tacit_sums_user sums_user = {sums_weight, sums_hold, sums_on};

/* ---- everything ---- */

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    if (event->type == TACIT_START)
        return start(env, s, self);
    if (event->type == TACIT_FINISH && self->w.value && diffusion_masks(s) &&
        tacit_facts_of(env)->neighbours > 0)
        tacit_sums_forget(env, &s->sums, diffusion_sums(self));
    if (event->type == TACIT_FINISH || !self->w.value)
        return TACIT_OK;
    const bool own = tacit_event_child(env, event) == 0;
    if (own && event->type == TACIT_TIMER && event->id & TICK)
        return tick(env, s, self, event->id & ~TICK);
    if (!diffusion_masks(s))
        return own ? feed_rounds(env, s, self, event) : TACIT_OK;
    return tacit_facts_of(env)->neighbours > 0
               ? tacit_sums_feed(env, &s->sums, diffusion_sums(self), event, &sums_user, s, self)
               : TACIT_OK;
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const diffusion_shared *s = shared;
    tacit_address inner;
    const uint32_t child = tacit_address_child(at, &inner);
    if (diffusion_masks(s))
        return child == DIFFUSION_SUMS ? tacit_sums_payload(&s->sums, inner) : NULL;
    return child == 0 && at.channel == 0 && at.kind == DIFFUSION_WORD ? &s->word : NULL;
}

/* ---- state ---- */

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    const diffusion_shared *s = shared;
    if (diffusion_masks(s))
        return sizeof(diffusion_agent) + (neighbours ? tacit_sums_size(&s->sums, neighbours) : 0);
    const size_t plain = 3 * sizeof(const tacit_public *) + sizeof(uint32_t);
    return (sizeof(diffusion_agent) + neighbours * plain + 15) / 16 * 16;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = (diffusion_agent *)(uintptr_t)state;
    const uint64_t flags = (uint64_t)(self->ready | self->waiting << 1 | self->spent << 2);
    tacit_save_secret(saver, self->w.value);
    tacit_save_f64(saver, self->w.moved);
    tacit_save_f64(saver, self->planned);
    tacit_save_f64(saver, self->sigma);
    tacit_save_u64(saver, self->iteration);
    tacit_save_u64(saver, self->due);
    tacit_save_u64(saver, self->batches);
    tacit_save_u64(saver, self->act);
    tacit_save_u64(saver, flags);
    tacit_save_u64(saver, self->silent);
    tacit_save_public(saver, self->said);
    if (diffusion_masks(s)) {
        if (neighbours)
            tacit_sums_save(&s->sums, diffusion_sums(self), neighbours, saver);
        return;
    }
    tacit_save_u64(saver, self->rounds.word != NULL);
    if (self->rounds.word)
        tacit_rounds_save(&self->rounds, saver);
    tacit_view_save(diffusion_last(self, neighbours), neighbours, saver);
    for (uint32_t k = 0; k < neighbours; k++)
        tacit_save_u64(saver, diffusion_degrees(self, neighbours)[k]);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    self->w.value = tacit_load_secret(loader, tacit_model_shape(s->model));
    self->w.moved = tacit_load_f64(loader);
    self->planned = tacit_load_f64(loader);
    self->sigma = tacit_load_f64(loader);
    self->iteration = tacit_load_u64(loader);
    self->due = tacit_load_u64(loader);
    self->batches = tacit_load_u64(loader);
    const uint64_t act = tacit_load_u64(loader), flags = tacit_load_u64(loader);
    if (act > s->acts)
        tacit_loader_refuse(loader, "an iteration has fewer acts");
    self->act = act > s->acts ? 0 : (uint32_t)act;
    self->ready = flags & 1;
    self->waiting = flags >> 1 & 1;
    self->spent = flags >> 2 & 1;
    self->silent = tacit_load_u64(loader);
    self->said =
        tacit_load_public(loader, diffusion_masks(s) ? tacit_model_shape(s->model) : &s->word);
    if (diffusion_masks(s)) {
        if (neighbours)
            tacit_sums_load(&s->sums, diffusion_sums(self), neighbours, loader);
        return;
    }
    if (tacit_load_u64(loader))
        tacit_rounds_load(&self->rounds, diffusion_words(self), neighbours, loader, &s->word);
    tacit_view_load(diffusion_last(self, neighbours), neighbours, loader, &s->word);
    for (uint32_t k = 0; k < neighbours; k++)
        diffusion_degrees(self, neighbours)[k] = (uint32_t)tacit_load_u64(loader);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    const diffusion_shared *s = shared;
    diffusion_agent *self = state;
    const uint32_t n = tacit_facts_of(env)->neighbours;
    tacit_drop(env, self->w.value);
    tacit_drop(env, self->said);
    if (diffusion_masks(s)) {
        if (n)
            tacit_sums_end(env, &s->sums, diffusion_sums(self));
        return;
    }
    if (self->rounds.word)
        tacit_rounds_end(env, &self->rounds);
    tacit_view_end(env, diffusion_last(self, n), n);
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    return ((const diffusion_agent *)state)->w.value;
}

const tacit_protocol tacit_protocol_diffusion = {
    .name = "diffusion",
    .summary = "one model by consensus or diffusion, with noise that knows the graph (paper 003)",
    .wire_id = 10,
    .trust = TACIT_TRUST_LOCAL,
    .trust_for = diffusion_trust,
    .sees = diffusion_sees,
    .flags = TACIT_CHATTY,
    .options = DIFFUSION_SECTION,
    .shared_size = sizeof(diffusion_shared),
    .setup = diffusion_setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
