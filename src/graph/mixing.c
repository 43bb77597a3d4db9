/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mixing matrices: what each agent makes of its neighbours' values when they average.
 *
 * Paper 004 wants W symmetric, nonnegative and doubly stochastic, and trains with a "uniform"
 * one without saying more; MATH section 7 likewise. Equal shares of one's own neighbourhood,
 * 1/(1 + d_i), are doubly stochastic on regular graphs only. So uniform means here the one
 * weight 1/(1 + largest degree) on every edge, and the rest of the unit on the diagonal: on a
 * regular graph those are the equal shares, on a complete one 1/n.
 *
 * Metropolis: 1/(1 + max(d_i, d_j)). The diagonal is at least 1/(1 + d_i) with either, so no
 * eigenvalue is -1.
 */
#include "tacit/graph.h"

tacit_status tacit_graph_mixing(const tacit_graph *g, tacit_mixing_kind kind, double *weight,
                                double *self, tacit_error *err)
{
    if (kind != TACIT_MIXING_METROPOLIS && kind != TACIT_MIXING_UNIFORM)
        return tacit_fail(err, TACIT_EINPUT, "mixing \"%d\" is unknown", (int)kind);
    tacit_combination same =
        kind == TACIT_MIXING_UNIFORM ? TACIT_COMBINE_UNIFORM : TACIT_COMBINE_METROPOLIS;
    return tacit_graph_combination(g, same, weight, self, err);
}
