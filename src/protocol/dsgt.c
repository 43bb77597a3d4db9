/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsgt: gradient tracking with private gradients (paper 004, algorithm 2;
 * docs/protocols/consensus.md). Beside its model an agent keeps y_i, which follows the mean
 * gradient of all agents, and sends both:
 *
 *     theta_i <- sum_j w_ij (theta_j - eta y_j),                                          (4)
 *     y_i     <- sum_j w_ij y_j + G_i(new theta_i) - G_i(old theta_i).                    (5)
 *
 * The last G_i is the very vector that was released the iteration before: to compute it anew would
 * be a second release. Since rows and columns of w sum to one, sum_i y_i = sum_i G_i at all times,
 * up to rounding, as long as no word is missing.
 *
 * y begins as the gradient at the first model; in the last iteration nobody needs a new one. So
 * K iterations are K releases.
 */
#include <stddef.h>

#include "protocol/consensus.h"

enum { PART_MODEL, PART_DIRECTION };

static tacit_status begin(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    tacit_public *gradient;
    tacit_status status = consensus_gradient(env, s, self, self->vector[THETA], &gradient);
    if (status != TACIT_OK)
        return status;
    tacit_public_copy(self->vector[DUAL], gradient);
    consensus_put(env, self, GRADIENT, gradient);
    return TACIT_OK;
}

static void tell(const consensus_shared *s, const consensus_agent *self, uint32_t part,
                 tacit_public *word)
{
    if (part == PART_DIRECTION) {
        tacit_public_copy_segment(word, part, self->vector[DUAL], 0);
        return;
    }
    tacit_public_combine_segments(
        word, part, 2, (const double[]){1, -consensus_rate(s, self->iteration)},
        (const tacit_public *const[]){self->vector[THETA], self->vector[DUAL]},
        (const uint32_t[]){0, 0});
}

/* (5), with the gradient at the model that (4) has just made. */
static tacit_status track(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                          const consensus_heard *heard)
{
    tacit_public *gradient, *next;
    if (self->iteration == (uint64_t)s->options.iterations)
        return TACIT_OK;
    tacit_status status =
        self->spent ? TACIT_OK : consensus_gradient(env, s, self, self->vector[THETA], &gradient);
    if (status != TACIT_OK)
        return status;
    if (self->spent) /* the last gradient stays as it was: nothing new is tracked */
        gradient = NULL;
    status = consensus_mix(env, s, heard, PART_DIRECTION, 2, (const double[]){1, gradient ? -1 : 0},
                           (const tacit_public *const[]){gradient, self->vector[GRADIENT]}, &next);
    if (status != TACIT_OK) {
        tacit_drop(env, gradient);
        return status;
    }
    consensus_put(env, self, DUAL, next);
    if (gradient)
        consensus_put(env, self, GRADIENT, gradient);
    return TACIT_OK;
}

static tacit_status step(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         const consensus_heard *heard)
{
    tacit_public *next;
    tacit_status status = consensus_mix(env, s, heard, PART_MODEL, 0, NULL, NULL, &next);
    if (status != TACIT_OK)
        return status;
    consensus_put(env, self, THETA, next);
    return track(env, s, self, heard);
}

static const consensus_way way = {
    .parts = 2, .remembers = 1U << DUAL, .begin = begin, .tell = tell, .step = step};

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    return consensus_setup(&way, shared, options, setup, err);
}

static const tacit_option rows[] = {CONSENSUS_OPTIONS};

const tacit_protocol tacit_protocol_dsgt = {
    .name = "dsgt",
    .summary = "one model for all by tracking the mean gradient, whoever has which records (004)",
    .wire_id = 13,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(consensus_options)},
    .setup = setup,
    CONSENSUS_TABLE,
};
