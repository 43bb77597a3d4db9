/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs of a fixed shape, and the two that are drawn without looking back.
 *
 * k-out: every agent draws k distinct others, by stream (seed, agent, TACIT_FOR_GRAPH, 0); an
 * edge is there if either end drew the other.
 *
 * Erdos-Renyi: agent i goes through the pairs (i, j), j > i, and draws how many it passes over
 * before the next edge: a geometric number, floor(log(1 - u) / log(1 - p)) for u uniform. So the
 * work follows the edges there are, not the pairs. The stream is again that of (seed, agent), so
 * the edges can be heard twice without storing them.
 */
#include "graph/build.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- fixed shapes ---- */

static void each_ring(const void *ctx, tacit_emit *emit, void *to)
{
    uint32_t n = *(const uint32_t *)ctx;
    for (uint32_t i = 0; i + 1 < n; i++)
        emit(to, i, i + 1, 1);
    if (n > 2)
        emit(to, n - 1, 0, 1);
}

tacit_status tacit_graph_ring(tacit_graph *graph, uint32_t agents, tacit_error *err)
{
    const tacit_edge_source source = {each_ring, &agents};
    return tacit_graph_build(graph, agents, &source, err);
}

static void each_grid(const void *ctx, tacit_emit *emit, void *to)
{
    uint32_t n = *(const uint32_t *)ctx, width = (uint32_t)ceil(sqrt(n));
    for (uint32_t i = 0; i < n; i++) {
        if ((i + 1) % width && i + 1 < n)
            emit(to, i, i + 1, 1);
        if (i < n - (width < n ? width : n))
            emit(to, i, i + width, 1);
    }
}

tacit_status tacit_graph_grid(tacit_graph *graph, uint32_t agents, tacit_error *err)
{
    const tacit_edge_source source = {each_grid, &agents};
    return tacit_graph_build(graph, agents, &source, err);
}

static double pairs(uint32_t agents)
{
    return 0.5 * agents * ((double)agents - 1);
}

static void each_pair(const void *ctx, tacit_emit *emit, void *to)
{
    uint32_t n = *(const uint32_t *)ctx;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t j = i + 1; j < n; j++)
            emit(to, i, j, 1);
    }
}

tacit_status tacit_graph_complete(tacit_graph *graph, uint32_t agents, tacit_error *err)
{
    const tacit_edge_source source = {each_pair, &agents};
    *graph = (tacit_graph){0};
    tacit_status status = tacit_graph_check_size(agents, pairs(agents), err);
    return status ? status : tacit_graph_build(graph, agents, &source, err);
}

static void each_ray(const void *ctx, tacit_emit *emit, void *to)
{
    uint32_t n = *(const uint32_t *)ctx;
    for (uint32_t i = 1; i < n; i++)
        emit(to, 0, i, 1);
}

tacit_status tacit_graph_star(tacit_graph *graph, uint32_t agents, tacit_error *err)
{
    const tacit_edge_source source = {each_ray, &agents};
    return tacit_graph_build(graph, agents, &source, err);
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

tacit_status tacit_graph_k_out(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                               tacit_error *err)
{
    tacit_random random;
    size_t draws;

    *graph = (tacit_graph){0};
    if (k == 0 || k >= agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "k is \"%" PRIu32 "\"; expected at least 1 and less than the %" PRIu32
                          " agents",
                          k, agents);
    tacit_status status = tacit_graph_check_size(agents, (double)agents * k, err);
    if (status)
        return status;
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
    free(stamp);
    stamp = NULL;
    status = tacit_graph_from_choices(
        graph, &(tacit_choices){.agents = agents, .k = k, .chosen = drawn}, err);
out:
    tacit_random_clear(&random);
    free(stamp);
    free(drawn);
    return status;
}

/* ---- Erdos-Renyi ---- */

typedef struct erdos {
    uint32_t agents;
    double log_miss; /* log(1 - p) < 0 */
    tacit_random random;
} erdos;

static void each_erdos(const void *ctx, tacit_emit *emit, void *to)
{
    const erdos *g = ctx;
    tacit_stream s;
    for (uint32_t i = 0; i + 1 < g->agents; i++) {
        tacit_stream_open(&s, &g->random, i, TACIT_FOR_GRAPH, 0);
        for (double j = i;;) {
            j += 1 + floor(-tacit_stream_exponential(&s) / g->log_miss);
            if (!(j < g->agents))
                break;
            emit(to, i, (uint32_t)j, 1);
        }
    }
    tacit_stream_clear(&s);
}

tacit_status tacit_graph_erdos_renyi(tacit_graph *graph, uint32_t agents, double probability,
                                     uint64_t seed, tacit_error *err)
{
    *graph = (tacit_graph){0};
    if (!(probability >= 0 && probability <= 1))
        return tacit_fail(err, TACIT_EINPUT, "probability is \"%g\"; expected 0 to 1", probability);
    tacit_status status = tacit_graph_check_size(agents, probability * pairs(agents), err);
    if (status)
        return status;
    if (probability == 1)
        return tacit_graph_complete(graph, agents, err);
    erdos g = {.agents = agents, .log_miss = log1p(-probability)};
    const tacit_edge_source source = {each_erdos, &g};
    tacit_random_init(&g.random, seed);
    status = tacit_graph_build(graph, agents, &source, err);
    tacit_random_clear(&g.random);
    return status;
}
