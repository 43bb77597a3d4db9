/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kriging: Gaussian prediction from correlated neighbours.
 *
 * Correlations come from the public graph. The weights of paper 000 are W = exp((cos phi - 1) /
 * gamma), phi the angle between what two agents look for: so an edge is the angle
 * acos(1 + gamma log W). Agents without an edge are as far apart as the shortest path of such
 * angles says, and correlated by the cosine of that, no further than pi. That matrix need not be
 * positive semidefinite: its negative eigenvalues are set to zero, its diagonal back to one.
 *
 * Source j published s_j = m_j g_j + noise of variance D_j = sigma_j^2 + m_j v a number (v for
 * chance in its records). With q_j = m_j / sqrt(D_j) and diag(q) K diag(q) = U diag(root) U^T, the
 * coordinates t_l = U_l . (s / sqrt(D)) are independent, with variance 1 + a root_l if a is that of
 * g; and pull_l = U_l . (q o K_i). The agent's own sum is no source: its records are fitted
 * afterwards.
 */
#include "protocol/kriging.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"

#define PI 3.14159265358979323846
#define APART 1e-9 /* radians between any two agents: no two are known to be the same */

/* ---- correlations ---- */

static double edge_cosine(const kriging_rules *r, double weight)
{
    const double cosine =
        r->kernel == KRIGING_POWER ? pow(weight, r->kappa) : 1 + r->gamma * log(weight);
    return fmax(-1, fmin(1, r->likeness * cosine));
}

static double edge_angle(const kriging_rules *r, double weight)
{
    return acos(edge_cosine(r, weight)) + APART;
}

static double cosine_of(double distance)
{
    return distance < INFINITY ? cos(fmin(distance, PI)) : 0;
}

static double edge_between(const tacit_graph *g, tacit_agent a, tacit_agent b)
{
    uint64_t low = g->row[a], high = g->row[a + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (g->neighbour[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->row[a + 1] && g->neighbour[low] == b ? g->weight[low] : 0;
}

/* Dijkstra without a heap: these graphs are small, and many of them dense. */
static void distances_from(const tacit_graph *g, const kriging_rules *rules, uint32_t from,
                           bool *done, double *distance)
{
    for (uint32_t i = 0; i < g->agents; i++) {
        distance[i] = i == from ? 0 : INFINITY;
        done[i] = false;
    }
    for (;;) {
        uint32_t at = g->agents;
        for (uint32_t i = 0; i < g->agents; i++)
            if (!done[i] && distance[i] < (at < g->agents ? distance[at] : INFINITY))
                at = i;
        if (at == g->agents)
            return;
        done[at] = true;
        for (uint64_t e = g->row[at]; e < g->row[at + 1]; e++) {
            double *to = &distance[g->neighbour[e]];
            *to = fmin(*to, distance[at] + edge_angle(rules, g->weight[e]));
        }
    }
}

tacit_status kriging_distances(const tacit_graph *graph, const kriging_rules *rules,
                               double *distance, tacit_error *err)
{
    bool *done = malloc((size_t)graph->agents + 1);
    if (!done)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < graph->agents; i++)
        distances_from(graph, rules, i, done, distance + (size_t)i * graph->agents);
    free(done);
    return TACIT_OK;
}

/* Edges among oneself and the sources: 0 on the diagonal and where there is none. */
static void read_edges(const kriging_target *t, const kriging_source *source, size_t n, double *w)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            const tacit_agent x = a ? source[a - 1].agent : t->self,
                              y = b ? source[b - 1].agent : 0;
            double weight = 0;
            if (a != b)
                weight = a == 0 ? source[b - 1].weight : edge_between(t->graph, x, y);
            w[a * n + b] = w[b * n + a] = weight;
        }
}

/* Shortest paths within a few, from edges in place. */
static void close_paths(const kriging_rules *rules, size_t n, double *w)
{
    for (size_t e = 0; e < n * n; e++)
        w[e] = e % (n + 1) == 0 ? 0 : w[e] > 0 ? edge_angle(rules, w[e]) : INFINITY;
    for (size_t via = 0; via < n; via++)
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; w[a * n + via] < INFINITY && b < n; b++)
                w[a * n + b] = fmin(w[a * n + b], w[a * n + via] + w[via * n + b]);
}

static void correlate(const kriging_target *t, const kriging_source *source, size_t n, double *k)
{
    const kriging_rules *rules = t->rules;
    if (!t->graph) { /* whoever are alike only through oneself */
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                k[a * n + b] = (a ? edge_cosine(rules, source[a - 1].weight) : 1) *
                               (b ? edge_cosine(rules, source[b - 1].weight) : 1);
    } else if (t->distance) {
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < n; b++)
                k[a * n + b] =
                    cosine_of(t->distance[(a ? source[a - 1].agent : t->self) * t->graph->agents +
                                          (b ? source[b - 1].agent : t->self)]);
    } else {
        read_edges(t, source, n, k);
        if (rules->kernel == KRIGING_GEODESIC)
            close_paths(rules, n, k);
        for (size_t e = 0; e < n * n; e++)
            k[e] = rules->kernel == KRIGING_GEODESIC ? cosine_of(k[e])
                   : k[e] > 0                        ? edge_cosine(rules, k[e])
                                                     : 0;
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            k[a * n + b] = a == b ? 1 : rules->common + (1 - rules->common) * k[a * n + b];
}

/* The nearest that is positive semidefinite, then ones on the diagonal again. */
static void repair(size_t n, const double *vector, const double *value, double *k)
{
    memset(k, 0, n * n * sizeof *k);
    for (size_t l = 0; l < n; l++)
        for (size_t a = 0; value[l] > 0 && a < n; a++)
            for (size_t b = 0; b < n; b++)
                k[a * n + b] += value[l] * vector[l * n + a] * vector[l * n + b];
    for (size_t a = 0; a < n; a++) {
        const double size = k[a * n + a] > 0 ? 1 / sqrt(k[a * n + a]) : 0;
        for (size_t b = 0; b < n; b++) {
            k[a * n + b] *= size;
            k[b * n + a] *= size;
        }
    }
}

tacit_status kriging_kernel(tacit_env *env, const kriging_target *target,
                            const kriging_source *source, size_t count, double *k)
{
    const size_t n = count + 1;
    double *vector = tacit_temporary(env, n * n * sizeof *vector);
    double *value = tacit_temporary(env, n * sizeof *value);
    if (!vector || !value)
        return tacit_out_of_memory(tacit_own_error(env));
    correlate(target, source, n, k);
    memcpy(vector, k, n * n * sizeof *k);
    if (!tacit_eigen_all(n, vector, value))
        return tacit_fail(tacit_own_error(env), TACIT_EINTERNAL, "no eigenvalues were found");
    if (value[0] < 0)
        repair(n, vector, value, k);
    return TACIT_OK;
}

/* ---- evidence ---- */

/* t = U^T (s / sqrt(D)) */
static void rotate(size_t n, size_t p, const kriging_source *source, const double *vector,
                   const double *deviation, double *seen)
{
    memset(seen, 0, n * p * sizeof *seen);
    for (size_t j = 0; j < n; j++)
        for (size_t c = 0; c < p; c++) {
            const double part = tacit_public_get(source[j].sums, 0, c) / deviation[j];
            for (size_t l = 0; l < n; l++)
                seen[l * p + c] += vector[l * n + j] * part;
        }
}

tacit_status kriging_evidence(tacit_env *env, const kriging_target *target,
                              const kriging_source *source, size_t count, const double *k,
                              tacit_evidence *out)
{
    const size_t n = count, p = target->features;
    double *matrix = tacit_temporary(env, (n * n + 1) * sizeof *matrix);
    double *seen = tacit_temporary(env, (n * p + 1) * sizeof *seen);
    double *each = tacit_temporary(env, (4 * n + 1) * sizeof *each);
    if (!matrix || !seen || !each)
        return tacit_out_of_memory(tacit_own_error(env));
    double *deviation = each, *q = each + n, *root = q + n, *pull = root + n;
    for (size_t j = 0; j < n; j++) {
        deviation[j] =
            sqrt(source[j].noise * source[j].noise + source[j].records * target->variance);
        q[j] = source[j].records / deviation[j];
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            matrix[a * n + b] = q[a] * k[(a + 1) * (n + 1) + b + 1] * q[b];
    if (!tacit_eigen_all(n, matrix, root))
        return tacit_fail(tacit_own_error(env), TACIT_EINTERNAL, "no eigenvalues were found");
    for (size_t l = 0; l < n; l++) {
        root[l] = fmax(root[l], 0);
        pull[l] = 0;
        for (size_t j = 0; j < n; j++)
            pull[l] += matrix[l * n + j] * q[j] * k[j + 1];
    }
    rotate(n, p, source, matrix, deviation, seen);
    out->count = n;
    out->root = root;
    out->pull = pull;
    out->seen = seen;
    return TACIT_OK;
}
