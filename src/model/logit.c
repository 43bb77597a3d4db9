/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Newton, which is fast and checks itself; and if the check fails, gradient descent, which is
 * slow and needs no check.
 *
 * Floating point. Let |theta| <= T. Dot products, slopes and sums of the computed gradient are off
 * by at most
 *
 *     E = (rows + p + 16) 2^-52 (rows R (1 + R T) + |b| + ridge T)
 *
 * in norm: gamma_p R T / 4 for a slope's argument (a slope changes by at most a quarter of it), a
 * few units in the last place for exp, gamma_rows for adding up; twice what the usual bounds ask.
 *
 * Newton. F is ridge-strongly convex, so |theta - theta*| <= |grad F(theta)| / ridge, and the true
 * gradient is no longer than the computed one plus E. If that is at most ridge * gap we are done.
 *
 * Descent. With step h <= 1/L, L = rows R^2 / 4 + ridge, |theta - theta*| shrinks by 1 - h ridge a
 * step and gains h (E + rounding of the update) <= 2 h E. Starting from zero, |theta*| <= T/2:
 * after log(T / gap) / (h ridge) steps the first part is below gap/2, and the second stays below 2
 * E / ridge <= gap/2, which is what tacit_logit_gap sees to. No record can make this fail.
 */
#include "model/logit.h"

#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "math/kernels.h"
#include "model/dense.h"

#define NEWTON_STEPS 60
#define SAFE (1 + 0x1p-20) /* norms of up to 2^30 numbers are this precise */

void tacit_logit_take(size_t p, double radius, double y, double *row)
{
    double sum = 0, most = 0;
    for (size_t k = 0; k < p; k++)
        most = fmax(most, fabs(row[k]));
    const double unit = most > 0 ? most : 1; /* squares neither overflow nor vanish */
    for (size_t k = 0; k < p; k++)
        sum += row[k] / unit * (row[k] / unit);
    const double size = sqrt(sum);
    const double a = (y > 0 ? -1 : 1) * fmin(unit, radius / size);
    for (size_t k = 0; k < p; k++)
        row[k] = isfinite(sum) && sum > 0 ? a * (row[k] / unit) : 0;
}

double tacit_logit_longest(const tacit_logit *f)
{
    double most = 1e-9;
    for (size_t r = 0; r < f->rows; r++) {
        double sum = 0;
        for (size_t k = 0; k < f->p; k++)
            sum += f->u[r * f->p + k] * f->u[r * f->p + k];
        most = fmax(most, sqrt(sum) * TACIT_LOGIT_CUT);
    }
    return most;
}

double tacit_logit_span(const tacit_logit *f)
{
    return 2 * ((double)f->rows * f->radius + f->tilt_most) / f->ridge;
}

/* E above. */
static double rounding(const tacit_logit *f)
{
    const double span = tacit_logit_span(f), rows = (double)f->rows;
    return (rows + (double)f->p + 16) * 0x1p-52 *
           (rows * f->radius * (1 + f->radius * span) + f->tilt_most + f->ridge * span);
}

double tacit_logit_gap(const tacit_logit *f, double want)
{
    return fmax(want, 4 * rounding(f) / f->ridge);
}

static double step_of(const tacit_logit *f)
{
    return (1 - 0x1p-20) / ((double)f->rows * f->radius * f->radius / 4 + f->ridge);
}

static double descent_steps(const tacit_logit *f, double gap)
{
    return ceil(log(fmax(2, tacit_logit_span(f) / gap)) / (step_of(f) * f->ridge)) + 1;
}

double tacit_logit_work(const tacit_logit *f, double gap)
{
    return descent_steps(f, gap) * 2 * ((double)f->rows + 1) * (double)f->p;
}

bool tacit_logit_room(const tacit_logit *f, size_t *doubles)
{
    size_t square, rows;
    return tacit_mul_size(f->p, f->p + 3, &square) && tacit_mul_size(f->rows, 2, &rows) &&
           tacit_add_size(square, rows, doubles);
}

/* ---- derivatives ---- */

static double length(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k] * x[k];
    return sqrt(sum);
}

static double slope(double z)
{
    return z >= 0 ? 1 / (1 + exp(-z)) : exp(z) / (1 + exp(z));
}

/* The gradient at theta; `a` (rows numbers) are the slopes. */
static void gradient(const tacit_logit *f, const double *theta, double *a, double *g)
{
    const tacit_real_kernels *f64 = tacit_kernels_for(TACIT_F64);
    f64->dots(f->rows, f->p, f->u, theta, a);
    for (size_t r = 0; r < f->rows; r++)
        a[r] = slope(a[r]);
    for (size_t k = 0; k < f->p; k++)
        g[k] = f->ridge * theta[k] + (f->tilt ? f->tilt[k] : 0);
    f64->accumulate(f->rows, f->p, f->u, a, g);
}

static void hessian(const tacit_logit *f, const double *a, double *coef, double *h)
{
    const tacit_real_kernels *f64 = tacit_kernels_for(TACIT_F64);
    const size_t p = f->p;
    memset(h, 0, p * p * sizeof *h);
    for (size_t k = 0; k < p; k++) {
        h[k * p + k] = f->ridge;
        for (size_t r = 0; r < f->rows; r++)
            coef[r] = a[r] * (1 - a[r]) * f->u[r * p + k];
        f64->accumulate(f->rows, p, f->u, coef, h + k * p);
    }
}

static double value(const tacit_logit *f, const double *theta, double *z)
{
    double sum = 0;
    tacit_kernels_for(TACIT_F64)->dots(f->rows, f->p, f->u, theta, z);
    for (size_t r = 0; r < f->rows; r++)
        sum += z[r] > 0 ? z[r] + log1p(exp(-z[r])) : log1p(exp(z[r]));
    for (size_t k = 0; k < f->p; k++)
        sum += theta[k] * (f->ridge / 2 * theta[k] + (f->tilt ? f->tilt[k] : 0));
    return sum;
}

/* ---- the two ways ---- */

static bool near_enough(const tacit_logit *f, double gap, const double *theta, const double *g)
{
    return length(f->p, theta) * SAFE <= tacit_logit_span(f) &&
           length(f->p, g) * SAFE + rounding(f) <= f->ridge * gap;
}

/* Half the step until F falls; near the minimum rounding hides it, and a full step is right. */
static bool take_step(const tacit_logit *f, const double *g, const double *step, double *trial,
                      double *theta, double *z, double *now)
{
    double decrement = 0;
    for (size_t k = 0; k < f->p; k++)
        decrement += step[k] * g[k];
    for (double t = 1; t > 1e-12; t /= 2) {
        for (size_t k = 0; k < f->p; k++)
            trial[k] = theta[k] - t * step[k];
        const double after = value(f, trial, z);
        if (after <= *now - 1e-4 * t * decrement || decrement < 1e-12 * (1 + fabs(*now))) {
            memcpy(theta, trial, f->p * sizeof *theta);
            *now = after;
            return true;
        }
    }
    return false;
}

bool tacit_logit_newton(const tacit_logit *f, double gap, double *theta, double *work)
{
    const size_t p = f->p;
    double *g = work, *step = g + p, *trial = step + p, *h = trial + p, *a = h + p * p;
    double *coef = a + f->rows;
    memset(theta, 0, p * sizeof *theta);
    double now = value(f, theta, coef);
    for (int k = 0; k < NEWTON_STEPS; k++) {
        gradient(f, theta, a, g);
        if (near_enough(f, gap, theta, g))
            return true;
        hessian(f, a, coef, h);
        memcpy(step, g, p * sizeof *step);
        if (!tacit_dense_solve(p, h, step) || !take_step(f, g, step, trial, theta, coef, &now))
            return false;
    }
    return false;
}

void tacit_logit_descend(const tacit_logit *f, double gap, double *theta, double *work)
{
    double *g = work, *a = g + f->p;
    const double h = step_of(f), steps = descent_steps(f, gap);
    memset(theta, 0, f->p * sizeof *theta);
    for (double k = 0; k < steps; k++) {
        gradient(f, theta, a, g);
        for (size_t i = 0; i < f->p; i++)
            theta[i] -= h * g[i];
    }
}

tacit_status tacit_logit_solve(const tacit_logit *f, double gap, double *theta, tacit_error *err)
{
    size_t doubles, bytes;
    double *work = NULL;
    if (tacit_logit_room(f, &doubles) && tacit_mul_size(doubles, sizeof *work, &bytes))
        work = malloc(bytes);
    if (!work)
        return tacit_out_of_memory(err);
    if (!tacit_logit_newton(f, gap, theta, work))
        tacit_logit_descend(f, gap, theta, work);
    sodium_memzero(work, bytes);
    free(work);
    return TACIT_OK;
}
