/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of agents that are alike, by the angle between what is known of them.
 *
 * Similarity (paper 000, section 5.1): W_ij = exp((cos(phi_ij) - 1) / gamma); "negligible
 * weights are ignored": those below the cutoff. exp is taken only for the pairs that stay.
 *
 * With `draws` only pairs of a random graph are looked at. A pair is kept with the same chance
 * whatever its weight, so the thinned matrix is the whole one times a constant, plus noise whose
 * norm is that of a random graph: what is smooth over the one is smooth over the other, with
 * neighbours whose number does not grow with that of agents. The k nearest would not do: among
 * many agents they are so near that it takes thousands of steps to the other side.
 *
 * Nearest neighbours (paper 000, section 5.2): W_ij = 1 if i is among the k nearest of j or the
 * other way round. Every agent with a direction chooses exactly min(k, others with a direction);
 * when fewer than k others have a positive cosine, cosines of 0 count like any other, smaller
 * indices first.
 */
#include "graph/build.h"
#include "graph/cosine.h"
#include "graph/edge_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static tacit_status no_targets(tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "a graph by angles needs targets, which these data do not have; choose "
                      "another kind");
}

static double *make_rows(uint32_t agents)
{
    size_t values;
    if (!tacit_mul_size(agents, TACIT_COSINE_ROWS, &values))
        return NULL;
    return calloc(values, sizeof(double));
}

static uint32_t rows_from(uint32_t first, uint32_t agents)
{
    return agents - first < TACIT_COSINE_ROWS ? agents - first : TACIT_COSINE_ROWS;
}

/* ---- similarity ---- */

/* Edges from `i` to later agents. */
static tacit_status similar_to(tacit_edge_list *list, uint32_t i, uint32_t agents,
                               const double *cosine, double gamma, double cutoff, tacit_error *err)
{
    /* Cosines below this are surely too small, whatever exp rounds to. */
    double floor_cos = cutoff > 0 ? 1 + gamma * log(cutoff) - 1e-9 : -2;
    for (uint32_t j = i + 1; j < agents; j++) {
        if (cosine[j] < floor_cos)
            continue;
        double weight = exp((fmin(cosine[j], 1) - 1) / gamma);
        if (weight < cutoff || !(weight > 0))
            continue;
        tacit_status status = tacit_graph_check_size(agents, (double)list->count, err);
        if (!status)
            status = tacit_edge_list_add(list, (tacit_edge){i, j, weight}, err);
        if (status)
            return status;
    }
    return TACIT_OK;
}

static tacit_status refuse_zeros(const tacit_cosines *cosines, tacit_error *err)
{
    for (uint32_t i = 0; i < cosines->agents; i++) {
        if (cosines->is_zero[i])
            return tacit_fail(
                err, TACIT_EINPUT,
                "the target of agent \"%" PRIu32 "\" is zero; its angle to others is undefined", i);
    }
    return TACIT_OK;
}

static tacit_status check_similarity(uint32_t agents, const tacit_targets *targets, double gamma,
                                     double cutoff, tacit_error *err)
{
    if (targets->dimension == 0)
        return no_targets(err);
    if (!(gamma > 0) || !isfinite(gamma) || !(cutoff >= 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "gamma \"%g\" must be above 0 and cutoff \"%g\" at least 0", gamma,
                          cutoff);
    return tacit_graph_check_size(agents, 0, err);
}

static tacit_status similar_pairs(tacit_edge_list *list, const tacit_cosines *cosines,
                                  double *cosine, double gamma, double cutoff, tacit_error *err)
{
    uint32_t agents = cosines->agents;
    for (uint32_t first = 0; first < agents; first += TACIT_COSINE_ROWS) {
        uint32_t count = rows_from(first, agents);
        tacit_cosines_rows(cosines, first, count, first, cosine);
        for (uint32_t r = 0; r < count; r++) {
            tacit_status status = similar_to(list, first + r, agents, cosine + (size_t)r * agents,
                                             gamma, cutoff, err);
            if (status)
                return status;
        }
        if (count < TACIT_COSINE_ROWS)
            break;
    }
    return TACIT_OK;
}

tacit_status tacit_graph_similarity(tacit_graph *graph, uint32_t agents,
                                    const tacit_targets *targets, double gamma, double cutoff,
                                    tacit_error *err)
{
    tacit_edge_list list = {0};
    tacit_cosines cosines;

    *graph = (tacit_graph){0};
    tacit_status status = check_similarity(agents, targets, gamma, cutoff, err);
    if (status)
        return status;
    if ((status = tacit_cosines_init(&cosines, agents, targets, err)))
        return status;
    double *cosine = make_rows(agents);
    status = cosine ? refuse_zeros(&cosines, err) : tacit_out_of_memory(err);
    if (!status)
        status = similar_pairs(&list, &cosines, cosine, gamma, cutoff, err);
    free(cosine);
    tacit_cosines_clear(&cosines);
    if (!status)
        status = tacit_graph_from_edges(graph, agents, list.edges, list.count, err);
    tacit_edge_list_clear(&list);
    return status;
}

/* ---- similarity, of pairs that were drawn ---- */

/* Edges of `met`, each once, with the weight of their angle. */
static tacit_status weigh(tacit_edge_list *list, const tacit_cosines *cosines,
                          const tacit_graph *met, double gamma, double cutoff, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < met->agents && !status; i++)
        for (uint64_t e = met->row[i]; e < met->row[i + 1] && !status; e++) {
            const uint32_t j = met->neighbour[e];
            if (j < i)
                continue;
            const double weight = exp((fmin(tacit_cosines_pair(cosines, i, j), 1) - 1) / gamma);
            if (weight >= cutoff && weight > 0)
                status = tacit_edge_list_add(list, (tacit_edge){i, j, weight}, err);
        }
    return status;
}

tacit_status tacit_graph_similarity_drawn(tacit_graph *graph, uint32_t agents,
                                          const tacit_targets *targets, double gamma, double cutoff,
                                          uint32_t draws, uint64_t seed, tacit_error *err)
{
    if (agents < 2 || draws >= agents - 1)
        return tacit_graph_similarity(graph, agents, targets, gamma, cutoff, err);
    tacit_edge_list list = {0};
    tacit_graph met = {0};
    tacit_cosines cosines = {0};
    *graph = (tacit_graph){0};
    tacit_status status = check_similarity(agents, targets, gamma, cutoff, err);
    if (!status)
        status = tacit_graph_k_out(&met, agents, draws, seed, err);
    if (!status)
        status = tacit_cosines_init(&cosines, agents, targets, err);
    if (!status)
        status = refuse_zeros(&cosines, err);
    if (!status)
        status = weigh(&list, &cosines, &met, gamma, cutoff, err);
    tacit_graph_clear(&met);
    tacit_cosines_clear(&cosines);
    if (!status)
        status = tacit_graph_from_edges(graph, agents, list.edges, list.count, err);
    tacit_edge_list_clear(&list);
    return status;
}

/* ---- nearest ---- */

/* Is (cosine, index) a worse choice? */
static bool is_worse(const double *cosine, uint32_t a, uint32_t b)
{
    return cosine[a] != cosine[b] ? cosine[a] < cosine[b] : a > b;
}

/* `heap` holds the best so far, the worst of them on top. */
static void sift(uint32_t *heap, uint32_t count, uint32_t at, const double *cosine)
{
    for (;;) {
        uint32_t worst = at, left = 2 * at + 1, right = left + 1;
        if (left < count && is_worse(cosine, heap[left], heap[worst]))
            worst = left;
        if (right < count && is_worse(cosine, heap[right], heap[worst]))
            worst = right;
        if (worst == at)
            return;
        uint32_t other = heap[at];
        heap[at] = heap[worst];
        heap[worst] = other;
        at = worst;
    }
}

static int by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The nearest of agent i, ascending; returns how many. */
static uint32_t choose(const tacit_cosines *c, uint32_t i, uint32_t k, const double *cosine,
                       uint32_t *chosen)
{
    uint32_t count = 0;
    if (c->is_zero[i])
        return 0;
    for (uint32_t j = 0; j < c->agents; j++) {
        if (j == i || c->is_zero[j])
            continue;
        if (count < k) {
            chosen[count++] = j;
            for (uint32_t at = count / 2; count == k && at-- > 0;)
                sift(chosen, k, at, cosine);
        } else if (is_worse(cosine, chosen[0], j)) {
            chosen[0] = j;
            sift(chosen, k, 0, cosine);
        }
    }
    qsort(chosen, count, sizeof *chosen, by_index);
    return count;
}

static void choose_all(const tacit_cosines *c, uint32_t k, double *cosine, uint32_t *count,
                       uint32_t *chosen)
{
    for (uint32_t first = 0; first < c->agents; first += TACIT_COSINE_ROWS) {
        uint32_t rows = rows_from(first, c->agents);
        tacit_cosines_rows(c, first, rows, 0, cosine);
        for (uint32_t r = 0; r < rows; r++)
            count[first + r] = choose(c, first + r, k, cosine + (size_t)r * c->agents,
                                      chosen + (size_t)(first + r) * k);
        if (rows < TACIT_COSINE_ROWS)
            break;
    }
}

tacit_status tacit_graph_nearest(tacit_graph *graph, uint32_t agents, const tacit_targets *targets,
                                 uint32_t k, tacit_error *err)
{
    tacit_cosines cosines;
    size_t places;

    *graph = (tacit_graph){0};
    if (targets->dimension == 0)
        return no_targets(err);
    if (k == 0 || k >= agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "k is \"%" PRIu32 "\"; expected at least 1 and less than the %" PRIu32
                          " agents",
                          k, agents);
    tacit_status status = tacit_graph_check_size(agents, (double)agents * k, err);
    if (status)
        return status;
    if (!tacit_mul_size(agents, k, &places))
        return tacit_out_of_memory(err);
    if ((status = tacit_cosines_init(&cosines, agents, targets, err)))
        return status;
    double *cosine = make_rows(agents);
    uint32_t *count = calloc(agents, sizeof *count), *chosen = calloc(places, sizeof *chosen);
    if (cosine && count && chosen)
        choose_all(&cosines, k, cosine, count, chosen);
    else
        status = tacit_out_of_memory(err);
    free(cosine);
    tacit_cosines_clear(&cosines);
    const tacit_choices choices = {agents, k, count, chosen};
    if (!status)
        status = tacit_graph_from_choices(graph, &choices, err);
    free(count);
    free(chosen);
    return status;
}
