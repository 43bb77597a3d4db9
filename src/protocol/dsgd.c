/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dsgd: decentralised stochastic gradient descent with private gradients (paper 004, algorithm 1;
 * docs/protocols/consensus.md). In iteration k every agent sends theta_i to its neighbours and
 * takes
 *
 *     theta_i <- sum_j w_ij theta_j - eta G_i(theta_i),                                    (3)
 *     G_i = (sum over a lot of clipped gradients + sigma C xi) / L.
 *
 * `order: adapt-first` steps before it speaks, and averages what came of it:
 *
 *     psi_i = theta_i - eta G_i(theta_i),    theta_i <- sum_j w_ij psi_j,
 *
 * which on a complete graph is central DP-SGD: all agents hold the same model, and move it by the
 * mean of n gradients. With momentum b, G_i is replaced by m_i <- b m_i + G_i.
 */
#include <stddef.h>

#include "protocol/consensus.h"

/* -eta times the direction to go in, as a vector the caller drops. */
static tacit_status direction(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                              tacit_public **out)
{
    tacit_status status = consensus_gradient(env, s, self, self->vector[THETA], out);
    if (status != TACIT_OK || s->options.momentum == 0)
        return status;
    tacit_public_axpy(*out, s->options.momentum, self->vector[GRADIENT]);
    tacit_public_copy(self->vector[GRADIENT], *out);
    return TACIT_OK;
}

static tacit_status before(tacit_env *env, const consensus_shared *s, consensus_agent *self)
{
    tacit_public *way;
    if (s->options.order != ORDER_ADAPT_FIRST)
        return TACIT_OK;
    tacit_status status = direction(env, s, self, &way);
    if (status != TACIT_OK)
        return status;
    tacit_public_axpy(self->vector[THETA], -consensus_rate(s, self->iteration), way);
    tacit_drop(env, way);
    return TACIT_OK;
}

static tacit_status step(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         const consensus_heard *heard)
{
    tacit_public *way = NULL, *next;
    const bool adapts = s->options.order == ORDER_COMBINE_FIRST;
    tacit_status status = adapts ? direction(env, s, self, &way) : TACIT_OK;
    if (status == TACIT_OK)
        status = consensus_mix(env, s, heard, 0, adapts,
                               (const double[]){-consensus_rate(s, self->iteration)},
                               (const tacit_public *const[]){way}, &next);
    tacit_drop(env, way);
    if (status == TACIT_OK)
        consensus_put(env, self, THETA, next);
    return status;
}

static const consensus_way way = {.parts = 1,
                                  .remembers = 1U << GRADIENT,
                                  .before = before,
                                  .tell = consensus_tell_theta,
                                  .step = step};

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    return consensus_setup(&way, shared, options, setup, err);
}

static const char *const orders[] = {"combine-first", "adapt-first", NULL};
static const tacit_option rows[] = {
    CONSENSUS_OPTIONS,
    {.key = "order",
     .type = TACIT_OPT_CHOICE,
     .fallback = "combine-first",
     .choices = orders,
     .offset = CONSENSUS_FIELD(order),
     .help = "combine-first, as in the paper: average with neighbours, then step down the gradient "
             "at the own model; adapt-first: step, then average"},
    CONSENSUS_OPTION_MOMENTUM,
};

const tacit_protocol tacit_protocol_dsgd = {
    .name = "dsgd",
    .summary = "one model for all, neural nets too: average with neighbours and step (paper 004)",
    .wire_id = 12,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(consensus_options)},
    .setup = setup,
    CONSENSUS_TABLE,
};
