/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empirical Bayes on a sum with known noise.
 *
 * If the mean statistic of a record of agent j is g_j = H^T c_j, column k of the sum that was heard
 * is
 *
 *     y_k = Q h_k + e_k,    e_k ~ N(0, S),    S = v Q + sigma^2 I,    Q = sum_j m_j c_j c_j^T,
 *
 * v Q from the records being a sample (v a coordinate's variance), sigma the noise of the release.
 * With h_k ~ N(0, tau R), R = diag(rho), the marginal law of y_k is N(0, tau Q R Q + S). The pencil
 * (Q R Q, S) has eigenvalues e and vectors U, U^T S U = I; in z = U^T y coordinates are independent
 * with variances 1 + tau e, so the likelihood of tau costs nothing. The posterior is
 *
 *     E h_k = tau R Q U diag(1 / (1 + tau e)) z_k
 *     cov   = tau R - tau^2 R Q U diag(1 / (1 + tau e)) U^T Q R.
 *
 * tau is taken from a grid by likelihood; rho (largest 1), one a mode, by EM steps in between:
 * rho_l <- mean over k of E h_lk^2 / tau. With `sparse` every coordinate has its own tau from an
 * unknown mixture on the grid (its weights by EM: Kiefer and Wolfowitz 1956), and rho stays 1.
 *
 * All of it is a function of public numbers.
 */
#include "protocol/chorus_smooth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"

#define GRID 26 /* spreads that are tried: 0, and 25 from GRID_LEAST to 1 of the largest */
#define GRID_LEAST 1e-6
#define OUTER 4
#define STEPS 15
#define MIXTURE_STEPS 300
#define RHO_LEAST 1e-8

typedef struct work {
    const chorus_heard *heard;
    double *rho, *e; /* rank each */
    double *u, *a;   /* rank x rank, columns: U; Q R Q and, before, room */
    double *b;       /* rank x rank: S */
    double *qu;      /* rank x rank, columns: R Q U */
    double *z;       /* rank rows of `features` */
    double *chance;  /* GRID x features: log-likelihoods, then weights of the mixture's parts */
    double tau[GRID], weight[GRID];
} work;

tacit_status chorus_smoothed_init(chorus_smoothed *s, size_t rank, size_t features,
                                  tacit_error *err)
{
    *s = (chorus_smoothed){.h = calloc(rank * features, sizeof *s->h),
                           .cov = calloc(rank * rank, sizeof *s->cov)};
    return s->h && s->cov ? TACIT_OK : tacit_out_of_memory(err);
}

void chorus_smoothed_end(chorus_smoothed *s)
{
    free(s->h);
    free(s->cov);
    *s = (chorus_smoothed){0};
}

double chorus_doubt(const chorus_smoothed *s, size_t rank, const double *c)
{
    double sum = 0;
    for (size_t k = 0; k < rank; k++)
        for (size_t l = 0; l < rank; l++)
            sum += c[k] * s->cov[k * rank + l] * c[l];
    return sum > 0 ? sum : 0;
}

/* ---- the pencil ---- */

/* e, U, R Q U and z for the rho at hand. */
static bool decompose(work *w)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    const double *q = w->heard->q;
    double trace = 0;
    for (size_t k = 0; k < r; k++)
        trace += q[k * r + k];
    for (size_t k = 0; k < r; k++)
        for (size_t l = 0; l < r; l++) {
            double sum = 0;
            for (size_t j = 0; j < r; j++)
                sum += q[k * r + j] * w->rho[j] * q[j * r + l];
            w->u[k * r + l] = sum;
            w->b[k * r + l] = w->heard->variance * q[k * r + l];
        }
    /* Without noise S may be singular: a little of it, for numbers' sake. */
    const double noise = w->heard->noise * w->heard->noise + 1e-9 * w->heard->variance * trace;
    for (size_t k = 0; k < r; k++)
        w->b[k * r + k] += noise > 0 ? noise : 1;
    if (!tacit_eigen_pencil(r, w->u, w->b, w->e))
        return false;
    memset(w->z, 0, r * p * sizeof *w->z);
    for (size_t l = 0; l < r; l++) {
        const double *u = w->u + l * r;
        w->e[l] = fmax(w->e[l], 0);
        for (size_t k = 0; k < r; k++) {
            double sum = 0;
            for (size_t j = 0; j < r; j++)
                sum += q[k * r + j] * u[j];
            w->qu[l * r + k] = w->rho[k] * sum;
            for (size_t i = 0; i < p; i++)
                w->z[l * p + i] += u[k] * w->heard->y[k * p + i];
        }
    }
    return true;
}

/* Spreads that matter: between nothing and what all of |y| would be. */
static void set_grid(work *w)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    double largest = 0, top = 0;
    for (size_t l = 0; l < r; l++)
        top = fmax(top, w->e[l]);
    for (size_t l = 0; l < r; l++)
        for (size_t i = 0; i < p; i++)
            if (w->e[l] > 1e-6 * top)
                largest = fmax(largest, w->z[l * p + i] * w->z[l * p + i] / w->e[l]);
    w->tau[0] = 0;
    for (int t = 1; t < GRID; t++)
        w->tau[t] = largest * pow(GRID_LEAST, 1 - (t - 1.0) / (GRID - 2.0));
}

static double log_likelihood(const work *w, double tau, size_t i)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    double sum = 0;
    for (size_t l = 0; l < r; l++) {
        const double d = 1 + tau * w->e[l], z = w->z[l * p + i];
        sum -= log(d) + z * z / d;
    }
    return sum / 2;
}

/* The one spread under which all columns together are likeliest. */
static int likeliest(const work *w)
{
    int best = 0;
    double most = -INFINITY;
    for (int t = 0; t < GRID; t++) {
        double sum = 0;
        for (size_t i = 0; i < w->heard->features; i++)
            sum += log_likelihood(w, w->tau[t], i);
        if (sum > most) {
            most = sum;
            best = t;
        }
    }
    return best;
}

/* ---- posteriors ---- */

/* h_li for one spread. */
static double mean_of(const work *w, double tau, size_t l, size_t i)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    double sum = 0;
    for (size_t j = 0; j < r; j++)
        sum += w->qu[j * r + l] * w->z[j * p + i] / (1 + tau * w->e[j]);
    return tau * sum;
}

static double cov_of(const work *w, double tau, size_t k, size_t l)
{
    const size_t r = w->heard->rank;
    double sum = 0;
    for (size_t j = 0; j < r; j++)
        sum += w->qu[j * r + k] * w->qu[j * r + l] / (1 + tau * w->e[j]);
    return (k == l ? tau * w->rho[k] : 0) - tau * tau * sum;
}

/* One EM step for rho and tau, which is returned: the largest of the modes' variances. With tau
 * held still every step would shrink all modes by tau over it. */
static double step_modes(work *w, double tau)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    double largest = 0;
    for (size_t l = 0; l < r; l++) {
        double squares = 0;
        for (size_t i = 0; i < p; i++) {
            const double mean = mean_of(w, tau, l, i);
            squares += mean * mean;
        }
        w->a[l] = squares / (double)p + fmax(cov_of(w, tau, l, l), 0);
        largest = fmax(largest, w->a[l]);
    }
    for (size_t l = 0; l < r && largest > 0; l++)
        w->rho[l] = fmax(w->a[l] / largest, RHO_LEAST);
    return largest > 0 ? largest : tau;
}

static bool fit_common(work *w)
{
    int t = likeliest(w);
    for (int outer = 0; w->heard->modes && w->heard->rank > 1 && outer < OUTER && t > 0; outer++) {
        double tau = w->tau[t];
        for (int step = 0; step < STEPS; step++) {
            tau = step_modes(w, tau);
            if (!decompose(w))
                return false;
        }
        t = likeliest(w);
    }
    memset(w->weight, 0, sizeof w->weight);
    w->weight[t] = 1;
    for (int s = 0; s < GRID; s++)
        for (size_t i = 0; i < w->heard->features; i++)
            w->chance[(size_t)s * w->heard->features + i] = s == t;
    return true;
}

/* Weights of the mixture; `chance` becomes each coordinate's share in its parts. */
static void fit_mixture(work *w)
{
    const size_t p = w->heard->features;
    for (size_t i = 0; i < p; i++) {
        double most = -INFINITY;
        for (int t = 0; t < GRID; t++)
            most = fmax(most, w->chance[(size_t)t * p + i] = log_likelihood(w, w->tau[t], i));
        for (int t = 0; t < GRID; t++)
            w->chance[(size_t)t * p + i] = exp(w->chance[(size_t)t * p + i] - most);
    }
    for (int t = 0; t < GRID; t++)
        w->weight[t] = 1.0 / GRID;
    for (int step = 0; step <= MIXTURE_STEPS; step++) {
        double next[GRID] = {0};
        for (size_t i = 0; i < p; i++) {
            double sum = 0;
            for (int t = 0; t < GRID; t++)
                sum += w->weight[t] * w->chance[(size_t)t * p + i];
            for (int t = 0; t < GRID; t++) {
                const double share = w->weight[t] * w->chance[(size_t)t * p + i] / sum;
                next[t] += share / (double)p;
                if (step == MIXTURE_STEPS)
                    w->chance[(size_t)t * p + i] = share;
            }
        }
        memcpy(w->weight, next, sizeof next);
    }
}

static void posterior(const work *w, chorus_smoothed *out)
{
    const size_t r = w->heard->rank, p = w->heard->features;
    memset(out->h, 0, r * p * sizeof *out->h);
    memset(out->cov, 0, r * r * sizeof *out->cov);
    out->spread = 0;
    for (int t = 1; t < GRID; t++) {
        if (!(w->weight[t] > 1e-12))
            continue;
        out->spread += w->weight[t] * w->tau[t];
        for (size_t l = 0; l < r; l++)
            for (size_t i = 0; i < p; i++)
                out->h[l * p + i] += w->chance[(size_t)t * p + i] * mean_of(w, w->tau[t], l, i);
        for (size_t k = 0; k < r; k++)
            for (size_t l = 0; l < r; l++)
                out->cov[k * r + l] += w->weight[t] * cov_of(w, w->tau[t], k, l);
    }
}

/* ---- all of it ---- */

static bool usable(const chorus_heard *heard)
{
    bool good = true;
    for (size_t k = 0; k < heard->rank * heard->features; k++)
        good = good && isfinite(heard->y[k]);
    for (size_t k = 0; k < heard->rank * heard->rank; k++)
        good = good && isfinite(heard->q[k]);
    return good && heard->variance > 0 && heard->noise >= 0;
}

tacit_status chorus_smooth(const chorus_heard *heard, chorus_smoothed *out, tacit_error *err)
{
    const size_t r = heard->rank, p = heard->features;
    if (!usable(heard))
        return tacit_fail(err, TACIT_EINPUT, "a sum holds numbers that are not finite");
    double *room = calloc(2 * r + 4 * r * r + r * p + GRID * p, sizeof *room);
    if (!room)
        return tacit_out_of_memory(err);
    work w = {.heard = heard, .rho = room, .e = room + r};
    w.u = w.e + r;
    w.a = w.u + r * r;
    w.b = w.a + r * r;
    w.qu = w.b + r * r;
    w.z = w.qu + r * r;
    w.chance = w.z + r * p;
    for (size_t k = 0; k < r; k++)
        w.rho[k] = 1;
    bool good = decompose(&w);
    if (good) {
        set_grid(&w);
        if (heard->sparse)
            fit_mixture(&w);
        else
            good = fit_common(&w);
    }
    if (good)
        posterior(&w, out);
    free(room);
    return good ? TACIT_OK
                : tacit_fail(err, TACIT_EINTERNAL, "LAPACK could not decompose what was heard");
}
