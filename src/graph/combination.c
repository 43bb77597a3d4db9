/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combination matrices of paper 003, and the weights q with which a network that mixes by them
 * counts its members (eq. 7: A q = q, positive, sum 1).
 *
 * The network of eq. 21-23 moves by A2' A0' A1' (transposed), so that q'w stands still under
 * mixing if A1 A0 A2 q = q: A2 is applied to q first. (The paper calls q an eigenvector of
 * A2' A0' A1' itself; that one's is the vector of ones. Eq. 45 needs the one meant here.)
 *
 * One matrix has its q in closed form on an undirected graph, with n_p = d_p + 1:
 *   doubly stochastic:  1 / agents;
 *   averaging:          n_p: sum over p near m of n_p / n_p is n_m;
 *   relative degree:    n_p S_p, S_p the sum of n_k over p and its neighbours:
 *                       sum over p near m of (n_m / S_p) n_p S_p is n_m S_m.
 * Powers of one matrix share it. From there, or for products of different ones from the mean of
 * theirs, powers of A1 A0 A2 lead to q, and the residual is what decides: a closed form is
 * checked like anything else. With a connected graph and a_pp > 0 the product is primitive, so
 * there is one q and the powers approach it.
 */
#include <math.h>
#include <stdlib.h>

#include "tacit/graph.h"

#define RESIDUAL 1e-13 /* of |A1 A0 A2 q - q|, where |q| = 1 in the sum norm */
#define MOST_ROUNDS 1000000
#define MOST_WORK 2e10 /* multiplications */

const char *const tacit_combination_kinds[] = {
    [TACIT_COMBINE_METROPOLIS] = "metropolis",
    [TACIT_COMBINE_AVERAGING] = "averaging",
    [TACIT_COMBINE_RELATIVE_DEGREE] = "relative-degree",
    [TACIT_COMBINE_UNIFORM] = "uniform",
    [TACIT_COMBINE_NONE] = "none",
    [TACIT_COMBINE_NONE + 1] = NULL,
};

/* ---- weights ---- */

double tacit_combination_weight(tacit_combination kind, const tacit_combination_sight *sight,
                                uint64_t degree)
{
    switch (kind) {
    case TACIT_COMBINE_METROPOLIS:
        return 1 / (1 + (double)(degree > sight->degree ? degree : sight->degree));
    case TACIT_COMBINE_AVERAGING:
        return 1 / (1 + (double)sight->degree);
    case TACIT_COMBINE_RELATIVE_DEGREE:
        return (1 + (double)degree) / (double)sight->closed;
    case TACIT_COMBINE_UNIFORM:
        return 1 / (1 + (double)sight->largest);
    case TACIT_COMBINE_NONE:
        break;
    }
    return 0;
}

static uint64_t neighbours(const tacit_graph *g, uint32_t i)
{
    return g->row[i + 1] - g->row[i];
}

static tacit_combination_sight sight_of(const tacit_graph *g, uint32_t p, uint64_t largest)
{
    tacit_combination_sight sight = {
        .degree = neighbours(g, p), .closed = neighbours(g, p) + 1, .largest = largest};
    for (uint64_t e = g->row[p]; e < g->row[p + 1]; e++)
        sight.closed += neighbours(g, g->neighbour[e]) + 1;
    return sight;
}

static uint64_t largest_degree(const tacit_graph *g)
{
    uint64_t largest = 0;
    for (uint32_t p = 0; p < g->agents; p++)
        largest = neighbours(g, p) > largest ? neighbours(g, p) : largest;
    return largest;
}

tacit_status tacit_graph_combination(const tacit_graph *g, tacit_combination kind, double *weight,
                                     double *self, tacit_error *err)
{
    if ((int)kind < 0 || kind > TACIT_COMBINE_NONE)
        return tacit_fail(err, TACIT_EINPUT, "combination \"%d\" is unknown", (int)kind);
    uint64_t largest = largest_degree(g);
    for (uint32_t p = 0; p < g->agents; p++) {
        tacit_combination_sight sight = sight_of(g, p, largest);
        double rest = 1;
        for (uint64_t e = g->row[p]; e < g->row[p + 1]; e++) {
            weight[e] = tacit_combination_weight(kind, &sight, neighbours(g, g->neighbour[e]));
            rest -= weight[e];
        }
        self[p] = rest;
    }
    return TACIT_OK;
}

/* ---- the Perron vector ---- */

typedef struct perron {
    const tacit_graph *graph;
    const tacit_combination *kinds;
    double *weight[3], *self[3]; /* NULL: the identity */
    double *here, *next;
} perron;

/* How many different matrices there are, the identity not counted. */
static int distinct(const tacit_combination kinds[3])
{
    int count = 0;
    for (int j = 0; j < 3; j++) {
        bool met = kinds[j] == TACIT_COMBINE_NONE;
        for (int k = 0; k < j; k++)
            met = met || kinds[k] == kinds[j];
        count += !met;
    }
    return count;
}

static tacit_status check_connected(const tacit_graph *g, const tacit_combination kinds[3],
                                    tacit_error *err)
{
    if (g->agents > 1 && distinct(kinds) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "no combination weights: all three policies are \"none\", so agents "
                          "never mix; choose a policy for one of them");
    uint32_t *part = calloc((size_t)g->agents + 1, sizeof *part);
    if (!part)
        return tacit_fail(err, TACIT_EINTERNAL, "no memory for %u agents", g->agents);
    uint32_t parts = tacit_graph_components(g, part);
    tacit_status status = TACIT_OK;
    for (uint32_t p = 0; p < g->agents && parts > 1; p++) {
        if (part[p] == part[0])
            continue;
        status = tacit_fail(err, TACIT_EINPUT,
                            "the graph is not strongly connected: it is in %u parts, and nothing "
                            "leads from agent 0 to agent %u; join them, or run the parts apart",
                            parts, p);
        break;
    }
    free(part);
    return status;
}

/* next = A here. */
static void apply(const perron *w, int j, const double *here, double *next)
{
    const tacit_graph *g = w->graph;
    for (uint32_t p = 0; p < g->agents; p++)
        next[p] = w->self[j][p] * here[p];
    for (uint32_t p = 0; p < g->agents; p++) {
        for (uint64_t e = g->row[p]; e < g->row[p + 1]; e++)
            next[g->neighbour[e]] += w->weight[j][e] * here[p];
    }
}

/* q = A1 A0 A2 q, made to sum to one; returns by how much it moved. */
static double step(perron *w, double *q)
{
    static const int order[3] = {2, 0, 1};
    uint32_t n = w->graph->agents;
    for (uint32_t p = 0; p < n; p++)
        w->here[p] = q[p];
    for (int k = 0; k < 3; k++) {
        if (!w->self[order[k]])
            continue;
        apply(w, order[k], w->here, w->next);
        double *swap = w->here;
        w->here = w->next;
        w->next = swap;
    }
    double sum = 0, moved = 0;
    for (uint32_t p = 0; p < n; p++)
        sum += w->here[p];
    for (uint32_t p = 0; p < n; p++) {
        double value = w->here[p] / sum;
        moved += fabs(value - q[p]);
        q[p] = value;
    }
    return moved;
}

/* The closed form of one matrix, added to q with sum 1. */
static void add_form(const tacit_graph *g, tacit_combination kind, double *form, double *q)
{
    double sum = 0;
    for (uint32_t p = 0; p < g->agents; p++) {
        tacit_combination_sight sight = sight_of(g, p, 0);
        double own = 1 + (double)sight.degree;
        form[p] = kind == TACIT_COMBINE_AVERAGING         ? own
                  : kind == TACIT_COMBINE_RELATIVE_DEGREE ? own * (double)sight.closed
                                                          : 1;
        sum += form[p];
    }
    for (uint32_t p = 0; p < g->agents; p++)
        q[p] += form[p] / sum;
}

/* The mean of the closed forms. */
static void start(perron *w, double *q)
{
    const tacit_graph *g = w->graph;
    int forms = 0;
    for (uint32_t p = 0; p < g->agents; p++)
        q[p] = 0;
    for (int j = 0; j < 3; j++) {
        bool all_none = j == 2 && forms == 0; /* a single agent, then */
        if (w->kinds[j] == TACIT_COMBINE_NONE && !all_none)
            continue;
        add_form(g, w->kinds[j], w->here, q);
        forms++;
    }
    for (uint32_t p = 0; p < g->agents; p++)
        q[p] /= forms;
}

static tacit_status allocate(perron *w, tacit_error *err)
{
    const tacit_graph *g = w->graph;
    bool fine = true;
    for (int j = 0; j < 3; j++) {
        if (w->kinds[j] == TACIT_COMBINE_NONE)
            continue;
        w->weight[j] = calloc(g->entries + 1, sizeof *w->weight[j]);
        w->self[j] = calloc((size_t)g->agents + 1, sizeof *w->self[j]);
        fine = fine && w->weight[j] && w->self[j];
    }
    w->here = calloc((size_t)g->agents + 1, sizeof *w->here);
    w->next = calloc((size_t)g->agents + 1, sizeof *w->next);
    if (!fine || !w->here || !w->next)
        return tacit_fail(err, TACIT_EINTERNAL, "no memory for the weights of %u agents",
                          g->agents);
    return TACIT_OK;
}

static tacit_status fill(perron *w, tacit_error *err)
{
    const tacit_graph *g = w->graph;
    for (int j = 0; j < 3; j++) {
        if (w->kinds[j] == TACIT_COMBINE_NONE)
            continue;
        tacit_status status =
            tacit_graph_combination(g, w->kinds[j], w->weight[j], w->self[j], err);
        if (status != TACIT_OK)
            return status;
        for (uint32_t p = 0; p < g->agents; p++) {
            if (!(w->self[j][p] > 0))
                return tacit_fail(err, TACIT_EINPUT, "agent %u gives itself no weight", p);
        }
    }
    return TACIT_OK;
}

tacit_status tacit_graph_perron(const tacit_graph *g, const tacit_combination kinds[3], double *q,
                                tacit_error *err)
{
    perron w = {.graph = g, .kinds = kinds};
    tacit_status status = check_connected(g, kinds, err);
    if (status == TACIT_OK)
        status = allocate(&w, err);
    if (status == TACIT_OK)
        status = fill(&w, err);
    if (status != TACIT_OK)
        goto out;
    start(&w, q);
    double moved = INFINITY, work = 0;
    for (int k = 0; k < MOST_ROUNDS && moved > RESIDUAL && work < MOST_WORK; k++) {
        moved = step(&w, q);
        work += 3 * ((double)g->entries + g->agents);
    }
    if (!(moved <= RESIDUAL))
        status = tacit_fail(err, TACIT_NO,
                            "the Perron vector was not found: the graph mixes too slowly (a round "
                            "still moves it by %.1e)",
                            moved);
out:
    for (int j = 0; j < 3; j++) {
        free(w.weight[j]);
        free(w.self[j]);
    }
    free(w.here);
    free(w.next);
    return status;
}
