/* SPDX-License-Identifier: Apache-2.0 */
/*
 * L x = b on the vectors with mean zero, by preconditioned conjugate gradients.
 *
 * Usually the preconditioner is the diagonal. On long thin graphs (rings, paths, ring lattices,
 * trees) that needs as many steps as the graph is long; there a spanning tree is better, whose
 * own system is solved exactly in one pass up and one down. The tree is depth-first: then every
 * other edge leads from an agent to an ancestor, and its stretch, the resistance of the tree
 * between its ends times its weight, is a difference of depths. Edges of moderate stretch bound
 * the condition number, each of the few others costs a step or two; when they are not few, the
 * diagonal it is.
 */
#include "graph/laplacian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODERATE_STRETCH 30
#define FEW 60
#define PRECISION 1e-10
#define MOST_WORK UINT64_C(60000000000)

/* ---- the tree ---- */

/* Depth-first from agent 0, smallest neighbours first; `at` is the next entry of each agent. */
static void grow_tree(tacit_solver *s, uint64_t *at)
{
    const tacit_graph *g = s->l->graph;
    uint32_t met = 0, here = 0;
    memcpy(at, g->row, g->agents * sizeof *at);
    memset(s->parent, 0xff, g->agents * sizeof *s->parent);
    s->parent[0] = 0;
    s->order[met++] = 0;
    for (;;) {
        while (at[here] < g->row[here + 1] && s->parent[g->neighbour[at[here]]] != UINT32_MAX)
            at[here]++;
        if (at[here] == g->row[here + 1]) {
            if (here == 0)
                return;
            here = s->parent[here];
            continue;
        }
        uint32_t next = g->neighbour[at[here]];
        s->parent[next] = here;
        s->link[next] = tacit_laplacian_weight(s->l, at[here]);
        s->order[met++] = next;
        here = next;
    }
}

/* Are there only few edges of large stretch? `depth` is scratch. */
static bool serves(const tacit_solver *s, double *depth)
{
    const tacit_graph *g = s->l->graph;
    uint64_t long_ones = 0;
    depth[0] = 0;
    for (uint32_t k = 1; k < g->agents; k++) {
        uint32_t i = s->order[k];
        depth[i] = depth[s->parent[i]] + 1 / s->link[i];
    }
    for (uint32_t i = 0; i < g->agents; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            double stretch =
                tacit_laplacian_weight(s->l, e) * fabs(depth[i] - depth[g->neighbour[e]]);
            long_ones += i < g->neighbour[e] && !(stretch <= MODERATE_STRETCH);
        }
    }
    return long_ones <= FEW;
}

/* z = T^+ r: flows from the leaves to the root, potentials back. */
static void solve_tree(const tacit_solver *s, const double *r, double *z)
{
    uint32_t n = s->l->graph->agents;
    memcpy(z, r, n * sizeof *z);
    for (uint32_t k = n - 1; k > 0; k--)
        z[s->parent[s->order[k]]] += z[s->order[k]];
    z[0] = 0;
    for (uint32_t k = 1; k < n; k++) {
        uint32_t i = s->order[k];
        z[i] = z[s->parent[i]] + z[i] / s->link[i];
    }
    tacit_centre(z, n);
}

/* ---- conjugate gradients ---- */

static double dot(const double *x, const double *y, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void precondition(const tacit_solver *s, const double *r, double *z)
{
    uint32_t n = s->l->graph->agents;
    if (s->parent) {
        solve_tree(s, r, z);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        z[i] = r[i] / s->diagonal[i];
    tacit_centre(z, n);
}

bool tacit_solver_run(tacit_solver *s, const double *b, double *x)
{
    const tacit_graph *g = s->l->graph;
    uint32_t n = g->agents;
    memcpy(s->r, b, n * sizeof *s->r);
    memset(x, 0, n * sizeof *x);
    precondition(s, s->r, s->z);
    memcpy(s->p, s->z, n * sizeof *s->p);
    double energy = dot(s->r, s->z, n), goal = energy * PRECISION * PRECISION;
    /* r.z is the squared error in the norm of L, up to the condition of the preconditioner. */
    while (energy > goal) {
        s->work += g->entries + 8 * (uint64_t)n;
        if (s->work > s->most_work)
            return false;
        tacit_laplacian_apply(s->l, s->p, s->q);
        double curve = dot(s->p, s->q, n);
        if (!(curve > 0))
            return false;
        double step = energy / curve;
        for (uint32_t i = 0; i < n; i++) {
            x[i] += step * s->p[i];
            s->r[i] -= step * s->q[i];
        }
        precondition(s, s->r, s->z);
        double next = dot(s->r, s->z, n), turn = next / energy;
        for (uint32_t i = 0; i < n; i++)
            s->p[i] = s->z[i] + turn * s->p[i];
        energy = next;
    }
    return isfinite(energy);
}

/* ---- setting up ---- */

static void drop_tree(tacit_solver *s)
{
    free(s->order);
    free(s->parent);
    free(s->link);
    s->order = s->parent = NULL;
    s->link = NULL;
}

static tacit_status claim(tacit_solver *s, uint32_t n, tacit_error *err)
{
    s->order = calloc(n, sizeof *s->order);
    s->parent = calloc(n, sizeof *s->parent);
    s->link = calloc(n, sizeof *s->link);
    s->diagonal = calloc(n, sizeof *s->diagonal);
    s->r = calloc(n, sizeof *s->r);
    s->z = calloc(n, sizeof *s->z);
    s->p = calloc(n, sizeof *s->p);
    s->q = calloc(n, sizeof *s->q);
    bool enough = s->order && s->parent && s->link && s->diagonal && s->r && s->z && s->p && s->q;
    return enough ? TACIT_OK : tacit_out_of_memory(err);
}

tacit_status tacit_solver_init(tacit_solver *s, const tacit_laplacian *l, tacit_error *err)
{
    const tacit_graph *g = l->graph;
    *s = (tacit_solver){.l = l, .most_work = MOST_WORK};
    uint64_t *at = calloc(g->agents, sizeof *at);
    tacit_status status = claim(s, g->agents, err);
    if (!status && !at)
        status = tacit_out_of_memory(err);
    if (!status) {
        for (uint32_t i = 0; i < g->agents; i++) {
            for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
                s->diagonal[i] += tacit_laplacian_weight(l, e);
        }
        grow_tree(s, at);
        if (!serves(s, s->z))
            drop_tree(s);
    }
    free(at);
    if (status)
        tacit_solver_clear(s);
    return status;
}

void tacit_solver_clear(tacit_solver *s)
{
    drop_tree(s);
    free(s->diagonal);
    free(s->r);
    free(s->z);
    free(s->p);
    free(s->q);
    *s = (tacit_solver){0};
}
