/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_BASIS_H
#define TACIT_GRAPH_BASIS_H
/* What coordinates of agents have in common, wherever their eigenvectors come from. */
#include "tacit/graph.h"

/* Refuses a rank that is not between 1 and the number of agents. */
tacit_status tacit_basis_rank(const tacit_graph *graph, size_t rank, tacit_error *err);
/* c_i proportional to (scale_1 V_i1, ...), of norm 1 or, if `raw`, all divided by the longest;
 * zeros for agents without neighbours and for those whom the vectors (rank times agents) do not
 * reach. */
void tacit_basis_rows(const tacit_graph *graph, size_t rank, bool raw, const double *scale,
                      const double *vector, double *basis);

#endif
