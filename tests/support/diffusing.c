/* SPDX-License-Identifier: Apache-2.0 */
#include "diffusing.h"

#include <math.h>
#include <string.h>

void diffusing_task(diffusing *d, uint32_t agents, uint32_t records, double variance, uint64_t seed)
{
    *d = (diffusing){.agents = agents, .records = records, .features = 2, .dice = {seed}};
    double target[2] = {dice_normal(&d->dice), dice_normal(&d->dice)};
    for (uint32_t p = 0; p < agents; p++) {
        double deviation = sqrt(dice_between(&d->dice, 0.01, 0.1));
        for (uint32_t r = 0; r < records; r++) {
            d->y[p][r] = deviation * dice_normal(&d->dice);
            for (size_t k = 0; k < 2; k++) {
                d->x[p][r][k] = sqrt(variance) * dice_normal(&d->dice);
                d->y[p][r] += d->x[p][r][k] * target[k];
            }
        }
    }
}

void diffusing_metropolis(const tacit_graph *g, diffusing_matrix a)
{
    memset(a, 0, sizeof(diffusing_matrix));
    for (uint32_t p = 0; p < g->agents; p++) {
        uint64_t own = g->row[p + 1] - g->row[p];
        a[p][p] = 1;
        for (uint64_t e = g->row[p]; e < g->row[p + 1]; e++) {
            uint32_t m = g->neighbour[e];
            uint64_t other = g->row[m + 1] - g->row[m];
            a[m][p] = 1 / (1 + (double)(own > other ? own : other));
            a[p][p] -= a[m][p];
        }
    }
}

/* out_p = sum_m a_mp (in_m + noise of what m told p). */
static void combine(diffusing *d, const diffusing_matrix *a, diffusing_models in,
                    diffusing_models out)
{
    if (!a) {
        memcpy(out, in, sizeof(diffusing_models));
        return;
    }
    diffusing_models one = {{0}}; /* homomorphic: what each adds for all */
    for (uint32_t m = 0; m < d->agents && d->noise == DIFFUSING_HOMOMORPHIC; m++) {
        for (size_t k = 0; k < d->features; k++)
            one[m][k] = d->sigma * dice_normal(&d->dice);
    }
    for (uint32_t p = 0; p < d->agents; p++) {
        for (size_t k = 0; k < d->features; k++) {
            double own = (*a)[p][p], sum = own * in[p][k] - (1 - own) * one[p][k];
            for (uint32_t m = 0; m < d->agents; m++) {
                if (m == p || (*a)[m][p] == 0)
                    continue;
                double g = one[m][k];
                if (d->noise == DIFFUSING_INDEPENDENT)
                    g = d->sigma * dice_normal(&d->dice);
                sum += (*a)[m][p] * (in[m][k] + g);
            }
            out[p][k] = sum;
        }
    }
}

/* Of (y - x w)^2 averaged over records [from, to), plus lambda |w|^2. */
static void gradient(const diffusing *d, uint32_t p, const double *w, uint32_t from, uint32_t to,
                     double *out)
{
    for (size_t k = 0; k < d->features; k++)
        out[k] = 2 * d->lambda * w[k];
    for (uint32_t r = from; r < to; r++) {
        double miss = -d->y[p][r];
        for (size_t k = 0; k < d->features; k++)
            miss += d->x[p][r][k] * w[k];
        for (size_t k = 0; k < d->features; k++)
            out[k] += 2 * miss * d->x[p][r][k] / (to - from);
    }
}

void diffusing_step(diffusing *d, const uint32_t *pick)
{
    diffusing_models phi, psi;
    combine(d, d->mix[1], d->w, phi);
    combine(d, d->mix[0], phi, psi);
    for (uint32_t p = 0; p < d->agents; p++) {
        double g[DIFFUSING_FEATURES];
        gradient(d, p, phi[p], pick ? pick[p] : 0, pick ? pick[p] + 1 : d->records, g);
        for (size_t k = 0; k < d->features; k++)
            psi[p][k] -= d->step * g[k];
    }
    combine(d, d->mix[2], psi, d->w);
}

void diffusing_optimum(const diffusing *d, const double *q, double *w)
{
    size_t f = d->features;
    double a[DIFFUSING_FEATURES * DIFFUSING_FEATURES] = {0};
    memset(w, 0, f * sizeof *w);
    for (uint32_t p = 0; p < d->agents; p++) {
        double share = (q ? q[p] : 1.0 / d->agents) / d->records;
        for (uint32_t r = 0; r < d->records; r++) {
            for (size_t k = 0; k < f * f; k++)
                a[k] += share * d->x[p][r][k / f] * d->x[p][r][k % f];
            for (size_t k = 0; k < f; k++)
                w[k] += share * d->y[p][r] * d->x[p][r][k];
        }
    }
    for (size_t k = 0; k < f; k++)
        a[k * f + k] += d->lambda;
    eliminate(f, a, w);
}

void diffusing_distance(const diffusing *d, const double *q, const double *optimum,
                        double *centroid, double *mean)
{
    *centroid = *mean = 0;
    for (size_t k = 0; k < d->features; k++) {
        double middle = 0;
        for (uint32_t p = 0; p < d->agents; p++) {
            middle += (q ? q[p] : 1.0 / d->agents) * d->w[p][k];
            *mean += pow(d->w[p][k] - optimum[k], 2) / d->agents;
        }
        *centroid += pow(middle - optimum[k], 2);
    }
}
