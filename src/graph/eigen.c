/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small matrices: LAPACK. Large ones: subspace iteration with Chebyshev filters (Zhou, Saad,
 * Tiago, Chelikowsky 2006). A block of vectors, a few more than are wanted, is multiplied by a
 * polynomial of the matrix that is at most 1 where unwanted eigenvalues lie and grows fast above;
 * then the block is made orthonormal and rotated to the eigenvectors of the matrix within its span.
 * Unlike Lanczos iteration from one vector it finds eigenvalues that occur several times, which
 * is the rule where a graph has several components.
 */
#include "graph/eigen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"
#include "tacit/random.h"

#define MORE 6 /* vectors beyond those that are wanted */
#define ROUNDS 60
#define DEGREE 32
#define WORK 1e10 /* products of numbers after which it stops, converged or not */
#define RESIDUAL 1e-6

static void apply(const tacit_sparse *m, const double *x, double *y)
{
    const tacit_graph *g = m->graph;
    for (uint32_t i = 0; i < g->agents; i++) {
        double sum = m->diagonal[i] * x[i];
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            sum += m->weight[e] * x[g->neighbour[e]];
        y[i] = sum;
    }
}

/* Gershgorin's bounds on all eigenvalues. */
static void bounds(const tacit_sparse *m, double *low, double *high)
{
    const tacit_graph *g = m->graph;
    *low = INFINITY;
    *high = -INFINITY;
    for (uint32_t i = 0; i < g->agents; i++) {
        double radius = 0;
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            radius += fabs(m->weight[e]);
        *low = fmin(*low, m->diagonal[i] - radius);
        *high = fmax(*high, m->diagonal[i] + radius);
    }
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k] * y[k];
    return sum;
}

static void turn(size_t n, double *x)
{
    size_t at = 0;
    for (size_t k = 1; k < n; k++)
        if (fabs(x[k]) > fabs(x[at]) * (1 + 1e-9))
            at = k;
    const bool wrong = x[at] < 0;
    for (size_t k = 0; wrong && k < n; k++)
        x[k] = -x[k];
}

/* ---- dense ---- */

static tacit_status dense(const tacit_sparse *m, size_t count, double *value, double *vector,
                          tacit_error *err)
{
    const tacit_graph *g = m->graph;
    const size_t n = g->agents;
    double *a = calloc(n * n, sizeof *a), *all = calloc(n, sizeof *all);
    tacit_status status = a && all ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t i = 0; status == TACIT_OK && i < n; i++) {
        a[i * n + i] = m->diagonal[i];
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            a[i * n + g->neighbour[e]] = m->weight[e];
    }
    if (status == TACIT_OK && !tacit_eigen_largest(n, count, a, all, vector))
        status = tacit_fail(err, TACIT_EINTERNAL, "LAPACK did not find the graph's eigenvectors");
    for (size_t k = 0; status == TACIT_OK && k < count; k++)
        value[k] = all[count - 1 - k];
    for (size_t k = 0; status == TACIT_OK && k < count / 2; k++) /* ascending, so far */
        for (size_t i = 0; i < n; i++) {
            double swap = vector[k * n + i];
            vector[k * n + i] = vector[(count - 1 - k) * n + i];
            vector[(count - 1 - k) * n + i] = swap;
        }
    free(a);
    free(all);
    return status;
}

/* ---- subspace iteration ---- */

typedef struct subspace {
    const tacit_sparse *m;
    size_t n, block;
    double *x, *y;       /* block vectors each */
    double *small, *top; /* block x block; block values, largest first */
    double low, high;
} subspace;

static void orthonormalise(const subspace *s)
{
    for (size_t k = 0; k < s->block; k++) {
        double *x = s->x + k * s->n;
        for (int twice = 0; twice < 2; twice++)
            for (size_t j = 0; j < k; j++) {
                const double *b = s->x + j * s->n, a = dot(s->n, b, x);
                for (size_t i = 0; i < s->n; i++)
                    x[i] -= a * b[i];
            }
        const double length = sqrt(dot(s->n, x, x));
        for (size_t i = 0; i < s->n; i++)
            x[i] = length > 1e-200 ? x[i] / length : 0;
    }
}

/* x <- x rotated by the columns of `small`, last column first; y is room. */
static void rotate(subspace *s)
{
    const size_t b = s->block, n = s->n;
    for (size_t k = 0; k < b; k++) {
        const double *u = s->small + (b - 1 - k) * b;
        double *y = s->y + k * n;
        memset(y, 0, n * sizeof *y);
        for (size_t j = 0; j < b; j++)
            for (size_t i = 0; i < n; i++)
                y[i] += u[j] * s->x[j * n + i];
    }
    double *swap = s->x;
    s->x = s->y;
    s->y = swap;
}

/* Rayleigh and Ritz; false if LAPACK fails. */
static bool settle(subspace *s)
{
    const size_t b = s->block;
    orthonormalise(s);
    for (size_t k = 0; k < b; k++)
        apply(s->m, s->x + k * s->n, s->y + k * s->n);
    for (size_t k = 0; k < b; k++)
        for (size_t j = 0; j < b; j++)
            s->small[k * b + j] = dot(s->n, s->x + j * s->n, s->y + k * s->n);
    if (!tacit_eigen_all(b, s->small, s->top))
        return false;
    for (size_t k = 0; k < b / 2; k++) {
        double swap = s->top[k];
        s->top[k] = s->top[b - 1 - k];
        s->top[b - 1 - k] = swap;
    }
    rotate(s);
    return true;
}

static double residual(const subspace *s, size_t count)
{
    double worst = 0;
    for (size_t k = 0; k < count; k++) {
        const double *x = s->x + k * s->n;
        apply(s->m, x, s->y);
        for (size_t i = 0; i < s->n; i++)
            s->y[i] -= s->top[k] * x[i];
        worst = fmax(worst, sqrt(dot(s->n, s->y, s->y)));
    }
    return worst;
}

/* One vector times the Chebyshev polynomial of [low, cut]: at most 1 there, growing above. */
static void filter(const subspace *s, double cut, double *x, double *before, double *next)
{
    const double centre = (s->low + cut) / 2, half = (cut - s->low) / 2;
    memcpy(before, x, s->n * sizeof *x);
    apply(s->m, before, x);
    for (size_t i = 0; i < s->n; i++)
        x[i] = (x[i] - centre * before[i]) / half;
    for (int d = 2; d <= DEGREE; d++) {
        apply(s->m, x, next);
        double size = 0;
        for (size_t i = 0; i < s->n; i++) {
            const double new = 2 * (next[i] - centre * x[i]) / half - before[i];
            before[i] = x[i];
            x[i] = new;
            size = fmax(size, fabs(new));
        }
        for (size_t i = 0; size > 1e100 && i < s->n; i++) {
            x[i] /= size;
            before[i] /= size;
        }
    }
}

static void draw(const subspace *s)
{
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, 1);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_GRAPH, 1);
    for (size_t k = 0; k < s->n * s->block; k++)
        s->x[k] = tacit_stream_unit(&stream) - 0.5;
}

static tacit_status iterate(subspace *s, size_t count, double *room, tacit_error *err)
{
    const double width = s->high - s->low;
    const double work = (double)s->m->graph->entries * (double)s->block * DEGREE;
    const int rounds = (int)fmin(ROUNDS, 3 + WORK / (work + 1));
    draw(s);
    for (int round = 0; round < rounds; round++) {
        if (!settle(s))
            return tacit_fail(err, TACIT_EINTERNAL, "LAPACK did not find small eigenvectors");
        const double cut = s->top[s->block - 1];
        if (!(width > 0) || residual(s, count) <= RESIDUAL * width || !(cut > s->low))
            break;
        for (size_t k = 0; round + 1 < rounds && k < s->block; k++)
            filter(s, cut, s->x + k * s->n, room, room + s->n);
    }
    return TACIT_OK;
}

static tacit_status sparse(const tacit_sparse *m, size_t count, double *value, double *vector,
                           tacit_error *err)
{
    const size_t n = m->graph->agents, block = count + MORE < n ? count + MORE : n;
    size_t numbers;
    if (!tacit_mul_size(n, block, &numbers) || numbers > SIZE_MAX / 64)
        return tacit_out_of_memory(err);
    subspace s = {.m = m,
                  .n = n,
                  .block = block,
                  .x = calloc(numbers, sizeof(double)),
                  .y = calloc(numbers, sizeof(double)),
                  .small = calloc(block * block, sizeof(double)),
                  .top = calloc(block, sizeof(double))};
    double *room = calloc(2 * n, sizeof *room);
    bounds(m, &s.low, &s.high);
    tacit_status status =
        s.x && s.y && s.small && s.top && room ? TACIT_OK : tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = iterate(&s, count, room, err);
    if (status == TACIT_OK) {
        memcpy(vector, s.x, count * n * sizeof *vector);
        memcpy(value, s.top, count * sizeof *value);
    }
    free(s.x);
    free(s.y);
    free(s.small);
    free(s.top);
    free(room);
    return status;
}

tacit_status tacit_sparse_largest(const tacit_sparse *m, size_t count, double *value,
                                  double *vector, tacit_error *err)
{
    const size_t n = m->graph->agents;
    if (count < 1 || count > n)
        return tacit_fail(err, TACIT_EINPUT, "%zu eigenvectors of %zu agents do not exist", count,
                          n);
    tacit_status status = n <= TACIT_EIGEN_DENSE || count + MORE > n / 4
                              ? dense(m, count, value, vector, err)
                              : sparse(m, count, value, vector, err);
    for (size_t k = 0; status == TACIT_OK && k < count; k++)
        turn(n, vector + k * n);
    return status;
}
