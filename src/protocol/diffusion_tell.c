/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What crosses an edge (003, section III; MATH.md section 6). An agent holds psi, a secret.
 *
 *   none          psi itself; the ledger writes down epsilon = infinity
 *   independent   psi + g_pm, fresh for each neighbour m (24)-(26): as many releases as neighbours
 *   homomorphic   y = psi + g_p, the same to all. Its own copy is psi - (1-a)/a g_p, weighted by a
 *                 that is psi - (1-a) y (diffusion.c): right for any left-stochastic A with a > 0;
 *                 the paper's factor (44) only for symmetric ones. So the noise of all agents sums
 *                 to zero in the centroid; and an agent's memory of its own data is not diluted.
 *   local-homomorphic   weighted psi, hidden in the sum of the receiver's neighbours (sums.h)
 *
 * How much a record can change psi is carried by psi (tracked.h). What is paid for was fixed
 * before the run began: an agent whose psi would become more sensitive than that, because
 * neighbours were missing, stands still until it may go on (diffusion.c). Should it be so all the
 * same, it holds its tongue.
 */
#include <math.h>

#include "protocol/diffusion.h"

static tacit_public *new_word(tacit_env *env, const diffusion_shared *s, int64_t degree)
{
    tacit_public *word = tacit_new_public(env, &s->word);
    if (word)
        tacit_public_set_int(word, WORD_DEGREE, 0, degree);
    return word;
}

tacit_status diffusion_greet(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    tacit_public *word = new_word(env, s, tacit_facts_of(env)->neighbours);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_status status = tacit_rounds_say(env, &self->rounds, DIFFUSION_WORD, word);
    tacit_drop(env, word);
    return status;
}

/* What one release costs. What data moved by less than noise could show is paid for as if they had
 * moved it that far: a grid has room for so much. */
static tacit_status cost_now(tacit_env *env, const diffusion_shared *s, const diffusion_agent *self,
                             double weight, tacit_cost *cost)
{
    const double moved = diffusion_coarse(fmax(self->planned * weight, self->sigma * 0x1p-16));
    if (diffusion_masks(s))
        return tacit_tracked_cost_fixed(cost, s->model, &s->privacy, moved, self->sigma,
                                        (int32_t)s->options.fraction, tacit_own_error(env));
    return tacit_tracked_cost(cost, s->model, &s->privacy, moved, self->sigma,
                              tacit_own_error(env));
}

/* A permit; TACIT_NO if the agent has nothing to tell with, or holds more than was planned. */
static tacit_status ask(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                        double weight, tacit_permit **permit)
{
    tacit_cost cost;
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    if (self->spent || (noisy && self->w.moved > self->planned))
        return TACIT_NO;
    tacit_status status = noisy ? cost_now(env, s, self, weight, &cost) : TACIT_OK;
    if (!noisy)
        cost = (tacit_cost){.norm = TACIT_L2,
                            .unit = (tacit_unit)s->privacy.unit,
                            .adjacency = (tacit_adjacency)s->privacy.adjacency,
                            .what = diffusion_masks(s) ? "weighted model" : "model"};
    if (status == TACIT_OK)
        status = tacit_reserve(env, &cost, permit);
    if (status == TACIT_EBUDGET) {
        self->spent = true;
        return TACIT_NO;
    }
    return status;
}

/* psi with noise, in a word of its own. TACIT_NO: *word says that there is none. */
static tacit_status release_word(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                                 tacit_public **word)
{
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *released;
    tacit_status status = ask(env, s, self, 1, &permit);
    if (status != TACIT_OK && status != TACIT_NO)
        return status;
    if (!(*word =
              new_word(env, s, status == TACIT_OK ? (int64_t)tacit_facts_of(env)->neighbours : -1)))
        return tacit_out_of_memory(tacit_own_error(env));
    if (status == TACIT_NO) {
        self->silent++;
        return status;
    }
    status = tacit_tracked_bound(&self->w, permit, tacit_own_scratch(env), &bounded,
                                 tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &released);
    if (status == TACIT_OK)
        tacit_public_copy_segment(*word, WORD_MODEL, released, 0);
    return status;
}

static tacit_status tell_each(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    const uint32_t n = tacit_facts_of(env)->neighbours;
    for (uint32_t m = 0; m < n; m++) {
        tacit_public *word = NULL;
        tacit_status status = release_word(env, s, self, &word);
        if (status == TACIT_OK || status == TACIT_NO)
            status = tacit_rounds_tell(env, &self->rounds, tacit_facts_of(env)->neighbour[m],
                                       DIFFUSION_WORD, word);
        tacit_drop(env, word);
        if (status != TACIT_OK)
            return status;
    }
    return tacit_rounds_wait(env, &self->rounds);
}

tacit_status diffusion_tell(tacit_env *env, const diffusion_shared *s, diffusion_agent *self)
{
    tacit_public *word = NULL;
    if (s->options.noise == DIFFUSION_INDEPENDENT)
        return tell_each(env, s, self);
    tacit_status status = release_word(env, s, self, &word);
    const bool told = status == TACIT_OK;
    if (told || status == TACIT_NO)
        status = tacit_rounds_say(env, &self->rounds, DIFFUSION_WORD, word);
    tacit_drop(env, self->said);
    self->said = NULL;
    if (status == TACIT_OK && told && s->options.noise == DIFFUSION_HOMOMORPHIC)
        self->said = word;
    else
        tacit_drop(env, word);
    return status;
}

tacit_status diffusion_hold(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            double weight, tacit_secret **out)
{
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_status status = ask(env, s, self, weight, &permit);
    if (status == TACIT_NO)
        self->silent++;
    if (status != TACIT_OK)
        return status;
    status = tacit_tracked_bound_fixed(&self->w, permit, weight, (int32_t)s->options.fraction,
                                       &s->sums.number, tacit_own_scratch(env), &bounded,
                                       tacit_own_error(env));
    const uint32_t parts = (uint32_t)(s->options.least - s->options.colluders);
    return status == TACIT_OK ? tacit_conceal(env, permit, bounded, parts, out) : status;
}
