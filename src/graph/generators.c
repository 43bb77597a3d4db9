/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that are computed or drawn.
 *
 * Similarity (paper 000, section 5.1): W_ij = exp((cos(phi_ij) - 1) / gamma), phi_ij the angle
 * between the targets of i and j; "negligible weights are ignored": those below the cutoff.
 * Every pair is looked at once, but exp is taken only for the pairs that stay.
 *
 * k-out: every agent draws k distinct others, by stream (seed, agent, TACIT_FOR_GRAPH, 0); an
 * edge is there if either end drew the other.
 */
#include "graph/edge_list.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- similarity ---- */

static tacit_status normalise(double *unit, const double *target, size_t dimension, uint32_t agent,
                              tacit_error *err)
{
    double largest = 0, sum = 0;
    bool finite = true;
    for (size_t k = 0; k < dimension; k++) {
        finite &= isfinite(target[k]) != 0;
        largest = fmax(largest, fabs(target[k]));
    }
    if (!finite || largest == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "the target of agent \"%" PRIu32 "\" is %s; its angle to others is "
                          "undefined",
                          agent, finite ? "zero" : "not finite");
    for (size_t k = 0; k < dimension; k++) { /* scaled first: squares must not overflow */
        unit[k] = target[k] / largest;
        sum += unit[k] * unit[k];
    }
    for (size_t k = 0; k < dimension; k++)
        unit[k] /= sqrt(sum);
    return TACIT_OK;
}

static double dot(const double *x, const double *y, size_t dimension)
{
    double sum = 0;
    for (size_t k = 0; k < dimension; k++)
        sum += x[k] * y[k];
    return sum;
}

/* Edges from `i` to later agents. */
static tacit_status similar_to(tacit_edge_list *list, uint32_t i, uint32_t agents, size_t dimension,
                               const double *unit, double gamma, double cutoff, tacit_error *err)
{
    /* Cosines below this are surely too small, whatever exp rounds to. */
    double floor_cos = cutoff > 0 ? 1 + gamma * log(cutoff) - 1e-9 : -2;
    for (uint32_t j = i + 1; j < agents; j++) {
        double cosine = dot(unit + i * dimension, unit + j * dimension, dimension);
        if (cosine < floor_cos)
            continue;
        double weight = exp((fmin(cosine, 1) - 1) / gamma);
        if (weight < cutoff || !(weight > 0))
            continue;
        tacit_status status = tacit_edge_list_add(list, (tacit_edge){i, j, weight}, err);
        if (status)
            return status;
    }
    return TACIT_OK;
}

tacit_status tacit_graph_similarity(tacit_graph *graph, uint32_t agents, size_t dimension,
                                    const double *targets, double gamma, double cutoff,
                                    tacit_error *err)
{
    tacit_edge_list list = {0};
    size_t values;
    tacit_status status = TACIT_OK;

    *graph = (tacit_graph){0};
    if (dimension == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "a similarity graph needs targets, which this data does not have; "
                          "choose another graph");
    if (!(gamma > 0) || !isfinite(gamma) || !(cutoff >= 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "gamma \"%g\" must be above 0 and cutoff \"%g\" at least 0", gamma,
                          cutoff);
    if (!tacit_mul_size(agents, dimension, &values))
        return tacit_out_of_memory(err);
    double *unit = calloc(values ? values : 1, sizeof *unit);
    if (!unit)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < agents && !status; i++)
        status = normalise(unit + i * dimension, targets + i * dimension, dimension, i, err);
    for (uint32_t i = 0; i < agents && !status; i++)
        status = similar_to(&list, i, agents, dimension, unit, gamma, cutoff, err);
    if (!status)
        status = tacit_graph_from_edges(graph, agents, list.edges, list.count, err);
    tacit_edge_list_clear(&list);
    free(unit);
    return status;
}

/* ---- k-out ---- */

static int by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* k distinct agents other than `self`, sorted (Floyd's sampling: k draws, no retries).
 * stamp[j] == self + 1 says that j is taken; others shift up by one to leave `self` out. */
static void draw_others(uint32_t *drawn, uint32_t k, uint32_t self, uint32_t agents,
                        uint32_t *stamp, const tacit_random *random)
{
    tacit_stream s;
    tacit_stream_open(&s, random, self, TACIT_FOR_GRAPH, 0);
    uint32_t others = agents - 1;
    for (uint32_t n = 0; n < k; n++) {
        uint32_t last = others - k + n;
        uint32_t pick = (uint32_t)tacit_stream_below(&s, (uint64_t)last + 1);
        if (stamp[pick] == self + 1)
            pick = last;
        stamp[pick] = self + 1;
        drawn[n] = pick + (pick >= self);
    }
    tacit_stream_clear(&s);
    qsort(drawn, k, sizeof *drawn, by_index);
}

/* An edge that both ends drew is entered by the smaller one only. */
static tacit_status join(tacit_edge_list *list, const uint32_t *drawn, uint32_t agents, uint32_t k,
                         tacit_error *err)
{
    for (uint32_t i = 0; i < agents; i++) {
        for (uint32_t n = 0; n < k; n++) {
            uint32_t j = drawn[(size_t)i * k + n];
            if (j < i && bsearch(&i, drawn + (size_t)j * k, k, sizeof *drawn, by_index))
                continue;
            tacit_status status = tacit_edge_list_add(list, (tacit_edge){i, j, 1}, err);
            if (status)
                return status;
        }
    }
    return TACIT_OK;
}

tacit_status tacit_graph_k_out(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                               tacit_error *err)
{
    tacit_edge_list list = {0};
    tacit_random random;
    size_t draws;
    tacit_status status;

    *graph = (tacit_graph){0};
    if (k == 0 || k >= agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "k is \"%" PRIu32 "\"; expected at least 1 and less than the %" PRIu32
                          " agents",
                          k, agents);
    if (!tacit_mul_size(agents, k, &draws))
        return tacit_out_of_memory(err);
    uint32_t *drawn = calloc(draws, sizeof *drawn);
    uint32_t *stamp = calloc(agents, sizeof *stamp);
    tacit_random_init(&random, seed);
    if (!drawn || !stamp) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    for (uint32_t i = 0; i < agents; i++)
        draw_others(drawn + (size_t)i * k, k, i, agents, stamp, &random);
    if ((status = join(&list, drawn, agents, k, err)))
        goto out;
    status = tacit_graph_from_edges(graph, agents, list.edges, list.count, err);
out:
    tacit_random_clear(&random);
    tacit_edge_list_clear(&list);
    free(stamp);
    free(drawn);
    return status;
}
