/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Fiedler value of a graph, and the spectral gap of its mixing matrix M.
 *
 * I - M is itself a Laplacian, whose weights are the mixing weights: with eigenvalues
 * 0 = mu_1 <= mu_2 <= ... <= mu_n, those of M are 1 - mu. So the gap is
 *
 *     1 - max(|1 - mu_2|, |1 - mu_n|) = min(mu_2, 2 - mu_n)      (mu_2 <= 1)
 *
 * and since mu_n is at most twice the largest 1 - M_ii (Gershgorin), it often need not be known.
 * If mu_2 > 1 (then M is close to averaging everybody), |1 - mu_2| = mu_2 - 1 <= mu_n - 1, and
 * the formula holds with 2 - mu_n alone, which is the smaller one anyway.
 *
 * Disconnected graphs are told by counting components: their values are 0, not 1e-17.
 */
#include "graph/laplacian.h"

#include <math.h>
#include <stdlib.h>

static tacit_status is_connected(const tacit_graph *graph, bool *connected, tacit_error *err)
{
    uint32_t *component = calloc(graph->agents ? graph->agents : 1, sizeof *component);
    if (!component)
        return tacit_out_of_memory(err);
    *connected = tacit_graph_components(graph, component) <= 1;
    free(component);
    return TACIT_OK;
}

tacit_status tacit_graph_fiedler(const tacit_graph *graph, bool weighted, double *value,
                                 tacit_error *err)
{
    bool connected = false;
    tacit_laplacian l;
    tacit_status status = is_connected(graph, &connected, err);
    if (status)
        return status;
    *value = 0;
    if (!connected || graph->agents < 2)
        return TACIT_OK;
    tacit_laplacian_init(&l, graph, weighted ? graph->weight : NULL);
    if (graph->agents > TACIT_DENSE_AGENTS)
        return tacit_laplacian_smallest(&l, value, err);
    double largest;
    return tacit_laplacian_dense(&l, value, &largest, err);
}

/* mu_2, and mu_n or a bound for it that does not change min(mu_2, 2 - mu_n). */
static tacit_status find_ends(const tacit_laplacian *l, const double *self, double *mu_2,
                              double *mu_n, tacit_error *err)
{
    if (l->graph->agents <= TACIT_DENSE_AGENTS)
        return tacit_laplacian_dense(l, mu_2, mu_n, err);
    tacit_status status = tacit_laplacian_smallest(l, mu_2, err);
    if (status)
        return status;
    double largest = 0;
    for (uint32_t i = 0; i < l->graph->agents; i++)
        largest = fmax(largest, 1 - self[i]);
    *mu_n = 2 * largest;
    return 2 - *mu_n >= *mu_2 ? TACIT_OK : tacit_laplacian_largest(l, mu_n, err);
}

static tacit_status find_gap(const tacit_graph *graph, tacit_mixing_kind kind, double *weight,
                             double *self, double *gap, tacit_error *err)
{
    tacit_laplacian l;
    double mu_2, mu_n;
    tacit_status status = tacit_graph_mixing(graph, kind, weight, self, err);
    if (status)
        return status;
    tacit_laplacian_init(&l, graph, weight);
    if (!(status = find_ends(&l, self, &mu_2, &mu_n, err)))
        *gap = fmin(mu_2, 2 - mu_n);
    return status;
}

tacit_status tacit_graph_spectral_gap(const tacit_graph *graph, tacit_mixing_kind kind, double *gap,
                                      tacit_error *err)
{
    bool connected = false;
    tacit_status status = is_connected(graph, &connected, err);
    if (status)
        return status;
    *gap = graph->agents == 1;
    if (!connected || graph->agents < 2)
        return TACIT_OK;
    double *weight = calloc(graph->entries, sizeof *weight);
    double *self = calloc(graph->agents, sizeof *self);
    status =
        weight && self ? find_gap(graph, kind, weight, self, gap, err) : tacit_out_of_memory(err);
    free(weight);
    free(self);
    return status;
}
