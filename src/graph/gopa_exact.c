/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an adversary learns from a private sum, exactly. Having taken away all it knows, it sees
 *
 *     x + N(0, A),    A = own^2 I + pair^2 L,
 *
 * L the Laplacian of the honest users' graph: edges between them, each one pair noise that it does
 * not know. Moving x_v by 1 moves a Gaussian by e_v: mu-GDP with mu^2 = e_v^T A^-1 e_v, and nothing
 * is lost in saying so (Dong, Roth, Su 2019). The worst user counts.
 *
 * In a component of s users the constant vector is an eigenvector of value own^2. Its part of mu^2
 * is 1 / (s own^2): what the sum over the component tells, whatever the pair noise. The rest is
 * b^T A^-1 b, b = e_v - 1/s, which gopa_solve.c finds between two bounds.
 *
 * Not all users need that. With the spectral measure of L in b, the rest is the integral of
 * 1 / (own^2 + pair^2 lambda). Its mass is 1 - 1/s; b^T L b = d and b^T L^2 b = d^2 + d for a user
 * with d partners, so mean and variance are known. The Gauss-Radau rule with one node at a lower
 * bound of the spectrum (`gap`) and the other where mean and variance put it is never below the
 * integral, as 1 / lambda has derivatives of alternating signs (Golub, Meurant 1994). On random
 * graphs it is off by a part in a thousand, a missing partner is worth several, so that a handful
 * of users with the fewest partners are left. They are solved for in order of their bounds until no
 * bound is above the best value found.
 *
 * The gap is nine tenths of the Fiedler value, which a Lanczos iteration finds from above: a proof
 * up to its being right within a tenth. Where it finds none the gap is 0 and everyone is solved
 * for.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/gopa.h"
#include "graph/laplacian.h"

#define SAFE 0.9   /* of the Fiedler value */
#define ROUGH 1e-3 /* residual of a rough look, relative to at most 2 */
#define ROUGH_BASIS 16
#define ROUGH_RESTARTS 20
#define DENSE 256     /* users of a component up to which LAPACK finds it */
#define NEAR 2e-7     /* relative precision of a solve; */
#define SETTLED 1e-6  /* of mu^2, all told */
#define MASKS 1e-30   /* own^2 / pair^2 below which pair noise is as good as infinite, */
#define NO_PAIRS 1e15 /* and above which it might as well not be there */
#define MOST_WORK UINT64_C(20000000000)

/* ---- the honest users' graph ---- */

#define NOWHERE UINT32_MAX

typedef struct opening {
    const tacit_graph *graph;
    const bool *honest;
    uint32_t *place; /* new numbers by old ones */
    uint32_t *order; /* and the other way round */
} opening;

static bool is_honest(const opening *o, uint32_t user)
{
    return !o->honest || o->honest[user];
}

/* Numbers everyone whom `from` reaches; returns the next free number. */
static uint32_t number_component(opening *o, uint32_t from, uint32_t next)
{
    const tacit_graph *g = o->graph;
    uint32_t at = next;
    o->place[from] = next;
    o->order[next++] = from;
    for (; at < next; at++) {
        const uint32_t user = o->order[at];
        for (uint64_t e = g->row[user]; e < g->row[user + 1]; e++) {
            const uint32_t other = g->neighbour[e];
            if (o->place[other] != NOWHERE || !is_honest(o, other))
                continue;
            o->place[other] = next;
            o->order[next++] = other;
        }
    }
    return next;
}

static void number_users(gopa_view *view, opening *o)
{
    memset(o->place, 0xff, o->graph->agents * sizeof *o->place);
    view->least = UINT32_MAX;
    for (uint32_t u = 0; u < o->graph->agents; u++) {
        if (!is_honest(o, u) || o->place[u] != NOWHERE)
            continue;
        const uint32_t first = view->users;
        view->users = number_component(o, u, first);
        const uint32_t size = view->users - first;
        view->part[view->parts++] = (gopa_part){.first = first, .size = size};
        view->least = size < view->least ? size : view->least;
    }
}

static void fill_rows(gopa_view *view, const opening *o)
{
    const tacit_graph *g = o->graph;
    uint64_t entries = 0;
    view->fewest = UINT32_MAX;
    for (uint32_t k = 0; k < view->parts; k++) {
        const gopa_part *part = &view->part[k];
        for (uint32_t i = part->first; i < part->first + part->size; i++) {
            const uint32_t user = o->order[i];
            view->row[i] = entries;
            for (uint64_t e = g->row[user]; e < g->row[user + 1]; e++)
                if (is_honest(o, g->neighbour[e]))
                    view->neighbour[entries++] = o->place[g->neighbour[e]] - part->first;
            if (entries - view->row[i] < view->fewest)
                view->fewest = (uint32_t)(entries - view->row[i]);
        }
    }
    view->row[view->users] = entries;
}

static bool apply_turned(void *ctx, const double *x, double *y)
{
    const tacit_laplacian *l = ctx;
    tacit_laplacian_apply(l, x, y);
    for (uint32_t i = 0; i < l->graph->agents; i++)
        y[i] = 2 * x[i] - y[i];
    return true;
}

/* A rough look is enough where the Fiedler value is no small part of the degrees. */
static tacit_status look_roughly(tacit_laplacian *l, double *value, tacit_error *err)
{
    const uint32_t n = l->graph->agents;
    const tacit_lanczos rough = {.n = n,
                                 .apply = apply_turned,
                                 .ctx = l,
                                 .basis = ROUGH_BASIS,
                                 .restarts = ROUGH_RESTARTS,
                                 .tolerance = ROUGH};
    double *vector = calloc(n, sizeof *vector), ritz;
    if (!vector)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_lanczos_largest(&rough, &ritz, vector, err);
    free(vector);
    if (status)
        return status;
    *value = (2 - ritz) * l->scale;
    if (2 * ROUGH > (2 - ritz) / 50)
        return tacit_fail(err, TACIT_NO, "the Fiedler value is too small to be found roughly");
    return TACIT_OK;
}

static tacit_status find_fiedler(tacit_laplacian *l, double *value, tacit_error *err)
{
    double largest;
    if (l->graph->agents <= DENSE)
        return tacit_laplacian_dense(l, value, &largest, err);
    tacit_status status = look_roughly(l, value, err);
    return status == TACIT_NO ? tacit_laplacian_smallest(l, value, err) : status;
}

static tacit_status find_gap(gopa_view *view, gopa_part *part, tacit_error *err)
{
    if (part->size < 2)
        return TACIT_OK;
    const tacit_graph graph = {
        .agents = part->size,
        .entries = (size_t)(view->row[part->first + part->size] - view->row[part->first]),
        .row = view->row + part->first,
        .neighbour = view->neighbour};
    tacit_laplacian l;
    double value = 0;
    tacit_laplacian_init(&l, &graph, NULL);
    tacit_status status = find_fiedler(&l, &value, err);
    part->gap = status ? 0 : SAFE * fmax(value, 0);
    return status == TACIT_NO ? TACIT_OK : status;
}

tacit_status gopa_view_open(gopa_view *view, const tacit_graph *graph, const bool *honest,
                            tacit_error *err)
{
    const size_t users = graph->agents;
    *view = (gopa_view){0};
    opening o = {.graph = graph, .honest = honest};
    o.place = calloc(users + 1, sizeof *o.place);
    o.order = calloc(users + 1, sizeof *o.order);
    view->part = calloc(users + 1, sizeof *view->part);
    view->row = calloc(users + 1, sizeof *view->row);
    view->neighbour = calloc(graph->entries + 1, sizeof *view->neighbour);
    tacit_status status = TACIT_OK;
    if (!o.place || !o.order || !view->part || !view->row || !view->neighbour)
        status = tacit_out_of_memory(err);
    if (!status) {
        number_users(view, &o);
        if (view->users == 0)
            status = tacit_fail(err, TACIT_EINPUT,
                                "no user is honest; expected at least one whom to protect");
    }
    if (!status)
        fill_rows(view, &o);
    for (uint32_t k = 0; k < view->parts && !status; k++)
        status = find_gap(view, &view->part[k], err);
    free(o.place);
    free(o.order);
    if (status)
        gopa_view_close(view);
    return status;
}

void gopa_view_close(gopa_view *view)
{
    free(view->part);
    free(view->row);
    free(view->neighbour);
    *view = (gopa_view){0};
}

/* ---- the worst of them ---- */

/* All in units of 1 / pair^2 and with shift = own^2 / pair^2. */
typedef struct candidate {
    uint32_t vertex;
    double bound;
} candidate;

double gopa_bound_user(const gopa_part *part, double d, double shift, double *least)
{
    const double s = part->size, mass = 1 - 1 / s;
    const double mean = d / mass, variance = fmax((d * d + d) / mass - mean * mean, 0);
    const double away = fmax(mean - part->gap, 0);
    *least = 1 / (s * shift) + mass / (shift + mean);
    if (away == 0) /* gap = mean: all of the measure sits there */
        return *least;
    const double weight = variance / (variance + away * away);
    return 1 / (s * shift) +
           mass * (weight / (shift + part->gap) + (1 - weight) / (shift + mean + variance / away));
}

static int by_bound(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound > y->bound ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Users of a component whose bound is above all lower bounds. */
static size_t list_candidates(candidate *list, const gopa_view *view, const gopa_part *part,
                              double shift, double *best)
{
    const uint64_t *row = view->row + part->first;
    size_t count = 0;
    double least;
    for (uint32_t i = 0; i < part->size; i++) {
        (void)gopa_bound_user(part, (double)(row[i + 1] - row[i]), shift, &least);
        *best = fmax(*best, least);
    }
    for (uint32_t i = 0; i < part->size; i++) {
        const double bound = gopa_bound_user(part, (double)(row[i + 1] - row[i]), shift, &least);
        if (bound > *best)
            list[count++] = (candidate){i, bound};
    }
    qsort(list, count, sizeof *list, by_bound);
    return count;
}

/* *best is the largest value known to occur, *above never less than any. */
static tacit_status solve_candidates(gopa_solver *s, const candidate *list, size_t count,
                                     double *best, double *above, tacit_error *err)
{
    const double constant = 1 / (s->part->size * s->shift);
    for (size_t k = 0; k < count; k += GOPA_COLUMNS) {
        uint32_t vertex[GOPA_COLUMNS];
        double low[GOPA_COLUMNS], high[GOPA_COLUMNS];
        size_t columns = 0;
        if (list[k].bound <= *best * (1 + SETTLED / 2)) {
            *above = fmax(*above, list[k].bound);
            return TACIT_OK;
        }
        for (; columns < GOPA_COLUMNS && k + columns < count; columns++)
            vertex[columns] = list[k + columns].vertex;
        tacit_status status = gopa_solver_run(s, vertex, columns, NEAR * *best, low, high, err);
        if (status)
            return status;
        for (size_t c = 0; c < columns; c++) {
            *best = fmax(*best, constant + low[c]);
            *above = fmax(*above, constant + high[c]);
        }
    }
    return TACIT_OK;
}

static tacit_status worst_of_part(const gopa_view *view, const gopa_part *part, gopa_solver *solver,
                                  double *best, double *above, tacit_error *err)
{
    const size_t size = part->size, block = size * GOPA_COLUMNS;
    if (size == 1) {
        *best = fmax(*best, 1 / solver->shift);
        *above = fmax(*above, 1 / solver->shift);
        return TACIT_OK;
    }
    size_t numbers;
    if (!tacit_mul_size(size, (size_t)GOPA_COLUMNS * 4, &numbers))
        return tacit_out_of_memory(err);
    candidate *list = calloc(size, sizeof *list);
    double *memory = calloc(numbers, sizeof *memory);
    tacit_status status = list && memory ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        solver->part = part;
        solver->x = memory;
        solver->r = memory + block;
        solver->p = memory + 2 * block;
        solver->q = memory + 3 * block;
        size_t count = list_candidates(list, view, part, solver->shift, best);
        *above = fmax(*above, *best);
        status = solve_candidates(solver, list, count, best, above, err);
    }
    free(list);
    free(memory);
    return status;
}

tacit_status gopa_view_worst(double *square, const gopa_view *view, double own, double pair,
                             tacit_error *err)
{
    const double ratio = own / pair;
    gopa_solver solver = {.view = view, .shift = ratio * ratio, .most_work = MOST_WORK};
    double best = 0, above = 0;
    if (solver.shift < MASKS || view->least == 1) { /* sums over components are all there is */
        *square = 1 / ((double)view->least * own * own);
        return TACIT_OK;
    }
    if (solver.shift > NO_PAIRS) {
        *square = 1 / (own * own);
        return TACIT_OK;
    }
    for (uint32_t k = 0; k < view->parts; k++) {
        tacit_status status = worst_of_part(view, &view->part[k], &solver, &best, &above, err);
        if (status)
            return status;
    }
    *square = above / (pair * pair);
    return TACIT_OK;
}

tacit_status tacit_gopa_mu(double *mu, const tacit_graph *graph, const bool *honest, double own,
                           double pair, tacit_error *err)
{
    gopa_view view;
    double square;
    *mu = INFINITY;
    if (!(own > 0 && own < INFINITY))
        return tacit_fail(err, TACIT_EINPUT,
                          "own noise is \"%g\"; expected more than 0: without it the sum is bare",
                          own);
    if (!(pair >= 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "pair noise is \"%g\"; expected 0 or more, or infinity for masks", pair);
    tacit_status status = gopa_view_open(&view, graph, honest, err);
    if (status)
        return status;
    status = gopa_view_worst(&square, &view, own, pair, err);
    gopa_view_close(&view);
    if (!status)
        *mu = sqrt(square);
    return status;
}
