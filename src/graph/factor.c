/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best factorisation A = (C^T G^-1)(G C) of a kernel of low rank, G being r x r.
 *
 * With b_i = c_i / (A m)_i, the error is the sum of |G^-T b_i|^2 and the constraint |G c_j| <= 1.
 * Both depend on M = G^T G only, and in M the problem is convex:
 *
 *     minimise tr(K M^-1),  K = sum b_i b_i^T,   subject to  c_j^T M c_j <= 1 for all j.
 *
 * With multipliers w_j >= 0, sum 1, and S = sum w_j c_j c_j^T, the Lagrangian is least where
 * M S M is proportional to K: at M = S^-1/2 (S^1/2 K S^1/2)^1/2 S^-1/2. Let T = tr(M S), which is
 * the trace of that inner root, and u = max_j c_j^T M c_j. Then M / u is feasible with error u T,
 * and T^2 is a bound from below, so u / T - 1 says how far from the optimum one is. Since
 * sum_j w_j c_j^T M c_j = T, weights are improved by w_j <- w_j (c_j^T M c_j) / T: the
 * multiplicative algorithm of optimal experimental design, whose problem this is. It starts from
 * w_j = 1 / (A m)_j^2, for which S is K up to a factor, and M the identity: if all columns have
 * length 1, that is the solution, whatever m is. There is something to gain only where columns have
 * the lengths that the kernel gives them.
 *
 * G = M^1/2, the symmetric root: it has no free signs or rotations, so that all machines find the
 * same one, and where there is nothing to gain it is the identity.
 *
 * Invariants: the best M so far is kept, the start M = I / max |c_j|^2 counts among them, and
 * columns are no longer than 1. Where (A m)_i is small or negative, which the estimator above has
 * no use for, a tenth of the largest stands for it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"
#include "tacit/graph.h"

#define STEPS 400
#define WORK 2e9 /* products of numbers after which it stops */
#define CLOSE 1e-4
#define NOTHING 1e-10 /* directions with less of the columns are left out */

typedef struct design {
    size_t n, r, d;   /* d <= r directions that columns have */
    double *axis;     /* d x r: those directions, one a row */
    double *x;        /* n x d: columns along them */
    double *w;        /* n */
    double *k, *best; /* d x d: K, and the best M / u */
    double *s, *root, *inverse, *inner, *m, *room, *value;
} design;

/* out = V diag(max(value, 0)^power) V^T, of eigenvectors in columns. */
static void compose(size_t d, const double *vector, const double *value, double power, double *out)
{
    memset(out, 0, d * d * sizeof *out);
    for (size_t l = 0; l < d; l++) {
        const double f = value[l] > 0 ? pow(value[l], power) : 0;
        const double *v = vector + l * d;
        for (size_t i = 0; i < d; i++)
            for (size_t j = 0; j < d; j++)
                out[i * d + j] += f * v[i] * v[j];
    }
}

static void multiply(size_t d, const double *a, const double *b, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t l = 0; l < d; l++)
                sum += a[i * d + l] * b[l * d + j];
            out[i * d + j] = sum;
        }
}

static void add_square(size_t d, double weight, const double *x, double *out)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            out[i * d + j] += weight * x[i] * x[j];
}

static double form(size_t d, const double *m, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < d; i++) {
        double row = 0;
        for (size_t j = 0; j < d; j++)
            row += m[i * d + j] * x[j];
        sum += row * x[i];
    }
    return sum;
}

static double dot(size_t r, const double *a, const double *b)
{
    double sum = 0;
    for (size_t l = 0; l < r; l++)
        sum += a[l] * b[l];
    return sum;
}

/* ---- what there is ---- */

/* The directions that columns have, and the columns along them. */
static bool find_axes(design *p, const double *basis)
{
    const size_t n = p->n, r = p->r;
    memset(p->s, 0, r * r * sizeof *p->s);
    for (size_t i = 0; i < n; i++)
        add_square(r, 1, basis + i * r, p->s);
    if (!tacit_eigen_all(r, p->s, p->value))
        return false;
    const double least = NOTHING * p->value[r - 1];
    p->d = 0;
    for (size_t l = 0; l < r; l++)
        if (p->value[l] > least && p->value[l] > 0)
            memcpy(p->axis + p->d++ * r, p->s + l * r, r * sizeof *p->axis);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < p->d; l++)
            p->x[i * p->d + l] = dot(r, p->axis + l * r, basis + i * r);
    return true;
}

/* K, and weights to start from. */
static void weigh(design *p, const double *weight)
{
    const size_t n = p->n, d = p->d;
    double *total = p->room, most = 0, sum = 0;
    memset(total, 0, d * sizeof *total);
    memset(p->k, 0, d * d * sizeof *p->k);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < d; l++)
            total[l] += (weight ? weight[i] : 1) * p->x[i * d + l];
    for (size_t i = 0; i < n; i++)
        most = fmax(most, dot(d, total, p->x + i * d));
    for (size_t i = 0; i < n; i++) {
        const double *x = p->x + i * d;
        const double mass = most > 0 ? fmax(dot(d, total, x) / most, 0.1) : 1;
        p->w[i] = dot(d, x, x) > 0 ? 1 / (mass * mass) : 0;
        sum += p->w[i];
        add_square(d, p->w[i] / (most > 0 ? most * most : 1), x, p->k);
    }
    for (size_t i = 0; i < n; i++)
        p->w[i] /= sum;
}

/* ---- towards the best ---- */

/* M for the weights as they are; T, or NAN if LAPACK fails. */
static double mix(design *p)
{
    const size_t d = p->d;
    memset(p->s, 0, d * d * sizeof *p->s);
    for (size_t i = 0; i < p->n; i++)
        if (p->w[i] > 0)
            add_square(d, p->w[i], p->x + i * d, p->s);
    if (!tacit_eigen_all(d, p->s, p->value) || !(p->value[0] > 0))
        return NAN;
    compose(d, p->s, p->value, 0.5, p->root);
    compose(d, p->s, p->value, -0.5, p->inverse);
    multiply(d, p->root, p->k, p->room);
    multiply(d, p->room, p->root, p->inner);
    if (!tacit_eigen_all(d, p->inner, p->value))
        return NAN;
    double trace = 0;
    for (size_t l = 0; l < d; l++)
        trace += sqrt(fmax(p->value[l], 0));
    compose(d, p->inner, p->value, 0.5, p->root);
    multiply(d, p->inverse, p->root, p->room);
    multiply(d, p->room, p->inverse, p->m);
    return trace;
}

/* One step of the weights; max_j c_j^T M c_j. */
static double step(design *p, double trace)
{
    const size_t d = p->d;
    double most = 0;
    for (size_t i = 0; i < p->n; i++) {
        const double length = form(d, p->m, p->x + i * d);
        most = fmax(most, length);
        p->w[i] *= length / trace;
    }
    return most;
}

/* Squares of the error: what M = I has, and what the best M found has. */
static void improve(design *p, double *before, double *after, double *bound)
{
    const size_t n = p->n, d = p->d;
    const double work = ((double)n + 40 * (double)d) * (double)(d * d);
    const int steps = (int)fmin(STEPS, 3 + WORK / (work + 1));
    double longest = 0;
    for (size_t i = 0; i < n; i++)
        longest = fmax(longest, dot(d, p->x + i * d, p->x + i * d));
    *before = *bound = 0;
    for (size_t l = 0; l < d; l++)
        *before += longest * p->k[l * d + l];
    *after = *before;
    for (int k = 0; k < steps; k++) {
        const double trace = mix(p);
        if (!(trace > 0) || !isfinite(trace))
            return;
        const double most = step(p, trace);
        *bound = fmax(*bound, trace * trace);
        if (most * trace < *after) {
            *after = most * trace;
            for (size_t l = 0; l < d * d; l++)
                p->best[l] = p->m[l] / most;
        }
        if (most < trace * (1 + CLOSE))
            return;
    }
}

/* Columns <- G C with G the root of the best M, within the directions that columns have. */
static bool put(design *p, double *basis)
{
    const size_t d = p->d, r = p->r;
    if (!tacit_eigen_all(d, p->best, p->value))
        return false;
    compose(d, p->best, p->value, 0.5, p->root);
    for (size_t i = 0; i < p->n; i++) {
        const double *x = p->x + i * d;
        double *c = basis + i * r;
        memset(c, 0, r * sizeof *c);
        for (size_t l = 0; l < d; l++) {
            const double y = dot(d, p->root + l * d, x);
            for (size_t k = 0; k < r; k++)
                c[k] += y * p->axis[l * r + k];
        }
        const double length = sqrt(dot(r, c, c));
        for (size_t k = 0; k < r && length > 1; k++) /* by rounding */
            c[k] /= length;
    }
    return true;
}

/* ---- all of it ---- */

static tacit_status make(design *p, double **all, tacit_error *err)
{
    const size_t squares = 8; /* of r x r numbers */
    size_t tall, wide, room;
    if (!tacit_mul_size(p->n, p->r + 1, &tall) ||
        !tacit_mul_size(p->r, (squares + 1) * p->r + 1, &wide) ||
        !tacit_add_size(tall, wide, &room) || room > SIZE_MAX / 16)
        return tacit_out_of_memory(err);
    double *at = *all = calloc(room, sizeof *at);
    if (!at)
        return tacit_out_of_memory(err);
    double **const parts[] = {&p->axis,    &p->k,     &p->best, &p->s,   &p->root,
                              &p->inverse, &p->inner, &p->m,    &p->room};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, at += p->r * p->r)
        *parts[k] = at;
    p->value = at;
    p->w = at + p->r;
    p->x = p->w + p->n;
    return TACIT_OK;
}

tacit_status tacit_basis_optimise(size_t agents, size_t rank, const double *weight, double *basis,
                                  tacit_factored *error, tacit_error *err)
{
    design p = {.n = agents, .r = rank};
    double *all = NULL, before = 0, after = 0, bound = 0;
    if (error)
        *error = (tacit_factored){0};
    if (agents == 0 || rank == 0)
        return TACIT_OK;
    tacit_status status = make(&p, &all, err);
    if (status == TACIT_OK && !find_axes(&p, basis))
        status = tacit_fail(err, TACIT_EINTERNAL, "LAPACK did not find the columns' directions");
    if (status == TACIT_OK && p.d > 0) {
        weigh(&p, weight);
        improve(&p, &before, &after, &bound);
        if (after < before && !put(&p, basis))
            status = tacit_fail(err, TACIT_EINTERNAL, "LAPACK did not find the mixing's root");
    }
    if (error)
        *error = (tacit_factored){sqrt(before), sqrt(after), sqrt(bound)};
    free(all);
    return status;
}
