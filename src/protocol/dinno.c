/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dinno: consensus by the alternating direction method, with private gradients (paper 004,
 * algorithm 3; docs/protocols/consensus.md). An iteration of agent i, N_i its neighbours:
 *
 *     y_i <- y_i + rho sum_{j in N_i} (theta_i - theta_j),                                 (6)
 *
 * then T steps from theta_i on, by Adam, down the gradient of
 *
 *     loss(psi) + psi^T y_i + rho sum_{j in N_i} |psi - (theta_i + theta_j) / 2|^2,        (7)
 *
 * where the loss's gradient is released with noise: G_i(psi) + y_i + 2 rho |N_i| psi
 * - rho sum_j (theta_i + theta_j). So K T releases. The printed line 15 climbs (slip S15); the
 * paper counts i among its own neighbours, which adds a term that only slows steps down.
 *
 * Adam has no momentum unless `momentum` says so. Let it divide by a constant s, and T = 1. Models
 * that differ by x along an eigenvector of the graph's Laplacian, of eigenvalue l, move by
 *
 *     y <- y + rho l x,    m <- b m + (1 - b) (y + rho l x),    x <- x - eta m / s,
 *
 * which is stable for b < 1/2 only (and, if b = 0, eta rho l / s < 4/3). So the usual b = 0.9
 * drives agents apart whatever eta and rho are (docs/protocols/consensus.md). With
 * b = 0 and where noise makes up s, x has the variance 2 eta^2 / (a (4 - 3 a)), a = eta rho l / s:
 * least at a = 2/3. So rho should grow as eta falls (`rho-last`), and l not depend on how many
 * edges a graph has (`coupling: weighted` puts rho w_ij for rho, w the symmetric weights of
 * `policy`: then l < 2, and 1 on a complete graph).
 */
#include <math.h>
#include <stddef.h>

#include "protocol/consensus.h"

/* rho of an iteration, from 1 on: from rho to rho-last, by the same factor every time. */
static double hold(const consensus_shared *s, uint64_t iteration)
{
    const consensus_options *o = &s->options;
    if (o->rho_last == 0 || o->iterations == 1)
        return o->rho;
    const double way = (double)(iteration - 1) / (double)(o->iterations - 1);
    return o->rho * pow(o->rho_last / o->rho, way);
}

/* (6); *pull becomes -sum_j rho_ij (theta_i + theta_j), *own sum_j rho_ij: of those that were
 * heard. */
static tacit_status meet(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         const consensus_heard *heard, double rho, tacit_public **pull, double *own)
{
    consensus_heard sum = *heard;
    sum.weight = tacit_temporary(env, heard->count * sizeof *sum.weight);
    if (!sum.weight)
        return tacit_out_of_memory(tacit_own_error(env));
    const bool weighted = s->options.coupling == COUPLING_WEIGHTED;
    *own = 0;
    for (uint32_t k = 1; k < heard->count; k++) {
        const double edge = weighted ? rho * heard->weight[k] : rho;
        sum.weight[k] = heard->word[k] ? -edge : 0;
        *own -= sum.weight[k];
    }
    sum.weight[0] = 0;
    tacit_status status = consensus_mix(env, s, &sum, 0, 0, NULL, NULL, pull);
    if (status != TACIT_OK)
        return status;
    tacit_public_axpy(self->vector[DUAL], 1, *pull);
    tacit_public_axpy(self->vector[DUAL], *own, self->vector[THETA]);
    tacit_public_axpy(*pull, -*own, self->vector[THETA]);
    return TACIT_OK;
}

static void descend(const consensus_shared *s, consensus_agent *self, const tacit_public *gradient)
{
    const double rate = consensus_rate(s, self->iteration);
    if (s->options.steps == STEPS_PLAIN) {
        tacit_public_axpy(self->vector[THETA], -rate, gradient);
        return;
    }
    tacit_public_adam(self->vector[THETA], self->vector[FIRST], self->vector[SECOND], gradient,
                      &(tacit_adam){.rate = rate,
                                    .beta1 = s->options.momentum,
                                    .beta2 = 0.999,
                                    .epsilon = 1e-8,
                                    .step = ++self->steps});
}

static tacit_status step(tacit_env *env, const consensus_shared *s, consensus_agent *self,
                         const consensus_heard *heard)
{
    tacit_public *pull = NULL, *gradient;
    const double rho = hold(s, self->iteration);
    double own = 0;
    tacit_status status = meet(env, s, self, heard, rho, &pull, &own);
    for (int64_t t = 0; t < s->options.primal && status == TACIT_OK; t++) {
        status = consensus_gradient(env, s, self, self->vector[THETA], &gradient);
        if (status != TACIT_OK)
            break;
        tacit_public_axpy(gradient, 1, self->vector[DUAL]);
        tacit_public_axpy(gradient, 2 * own, self->vector[THETA]);
        tacit_public_axpy(gradient, 1, pull);
        descend(s, self, gradient);
        tacit_drop(env, gradient);
    }
    tacit_drop(env, pull);
    return status;
}

static const consensus_way way = {.parts = 1,
                                  .remembers = 1U << DUAL | 1U << FIRST | 1U << SECOND,
                                  .tell = consensus_tell_theta,
                                  .step = step};

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    const consensus_options *o = options;
    const bool symmetric =
        o->policy == TACIT_COMBINE_METROPOLIS || o->policy == TACIT_COMBINE_UNIFORM;
    if (o->coupling == COUPLING_WEIGHTED && !symmetric)
        return tacit_fail(err, TACIT_EINPUT,
                          "with \"protocol.coupling: weighted\" both ends of an edge must pull "
                          "alike, or duals do not cancel: \"protocol.policy\" must be metropolis "
                          "or uniform");
    return consensus_setup(&way, shared, options, setup, err);
}

static const char *const couplings[] = {"equal", "weighted", NULL};
static const char *const steps[] = {"adam", "plain", NULL};
static const tacit_option rows[] = {
    CONSENSUS_OPTIONS,
    {.key = "rho",
     .type = TACIT_OPT_REAL,
     .fallback = "0.01",
     .min = 1e-12,
     .max = 1e9,
     .offset = CONSENSUS_FIELD(rho),
     .help = "how strongly neighbours are held together; too much of it makes Adam overshoot"},
    {.key = "rho-last",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = CONSENSUS_FIELD(rho_last),
     .help = "rho of the last iteration; 0: rho all the time. Should grow as the rate falls, or "
             "agents are held together less and less"},
    {.key = "coupling",
     .type = TACIT_OPT_CHOICE,
     .fallback = "equal",
     .choices = couplings,
     .offset = CONSENSUS_FIELD(coupling),
     .help = "equal: rho for every neighbour, as in the paper; weighted: rho times the weight of "
             "policy, so that one rho suits graphs of many and of few edges"},
    {.key = "primal",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = 1000,
     .offset = CONSENSUS_FIELD(primal),
     .help = "gradients, and so releases, of an iteration: T"},
    {.key = "steps",
     .type = TACIT_OPT_CHOICE,
     .fallback = "adam",
     .choices = steps,
     .offset = CONSENSUS_FIELD(steps),
     .help = "adam, or plain gradient steps"},
    {.key = "momentum",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 0.9999,
     .offset = CONSENSUS_FIELD(momentum),
     .help = "of Adam (its beta 1; nothing to plain steps); with primal: 1, agents drift apart "
             "from 0.5 on"},
};

const tacit_protocol tacit_protocol_dinno = {
    .name = "dinno",
    .summary = "one model for all by a dual variable an agent, and steps of Adam (paper 004)",
    .wire_id = 14,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(consensus_options)},
    .setup = setup,
    CONSENSUS_TABLE,
};
