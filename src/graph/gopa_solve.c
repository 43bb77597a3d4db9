/* SPDX-License-Identifier: Apache-2.0 */
/*
 * b^T A^-1 b for A = shift + L, L a Laplacian and b of mean zero, for several b at once, by
 * conjugate gradients: eight right-hand sides share every pass over the edges, and their numbers
 * stand side by side.
 *
 * For any x and r = b - A x,
 *
 *     b^T A^-1 b = b^T x + x^T r + r^T A^-1 r,       0 <= r^T A^-1 r <= |r|^2 / shift,
 *
 * since no eigenvalue of A is below `shift`. So a residual, taken anew at the end, gives bounds on
 * both sides that owe nothing to how x was found. A keeps vectors of mean zero so; rounding does
 * not, and residuals are centred in every step.
 *
 * There is no preconditioner: on random graphs the eigenvalues of L other than 0 lie within a
 * factor of two or three, and a dozen steps are enough.
 */
#include <math.h>
#include <string.h>

#include "graph/gopa.h"

#define C GOPA_COLUMNS

/* out = A in */
static void apply(const gopa_solver *s, const double *restrict in, double *restrict out)
{
    const uint64_t *row = s->view->row + s->part->first;
    const uint32_t *neighbour = s->view->neighbour;
    for (size_t i = 0; i < s->part->size; i++) {
        double sum[C] = {0};
        for (uint64_t e = row[i]; e < row[i + 1]; e++) {
            const double *other = in + (size_t)neighbour[e] * C;
            for (size_t c = 0; c < C; c++)
                sum[c] += other[c];
        }
        const double diagonal = s->shift + (double)(row[i + 1] - row[i]);
        for (size_t c = 0; c < C; c++)
            out[i * C + c] = diagonal * in[i * C + c] - sum[c];
    }
}

static void dots(const gopa_solver *s, const double *a, const double *b, double out[C])
{
    double sum[C] = {0};
    for (size_t i = 0; i < s->part->size; i++)
        for (size_t c = 0; c < C; c++)
            sum[c] += a[i * C + c] * b[i * C + c];
    memcpy(out, sum, sizeof sum);
}

static void centre(const gopa_solver *s, double *a)
{
    double mean[C] = {0};
    for (size_t i = 0; i < s->part->size; i++)
        for (size_t c = 0; c < C; c++)
            mean[c] += a[i * C + c];
    for (size_t c = 0; c < C; c++)
        mean[c] /= s->part->size;
    for (size_t i = 0; i < s->part->size; i++)
        for (size_t c = 0; c < C; c++)
            a[i * C + c] -= mean[c];
}

/* Columns that are not asked for stay 0. */
static void fill_right_side(const gopa_solver *s, const uint32_t *vertex, size_t count, double *b)
{
    const size_t size = s->part->size;
    memset(b, 0, size * C * sizeof *b);
    for (size_t c = 0; c < count; c++) {
        for (size_t i = 0; i < size; i++)
            b[i * C + c] = -1 / (double)size;
        b[vertex[c] * (size_t)C + c] += 1;
    }
}

/* One step; `rr` is |r|^2 of every column, before and after. */
static void step(gopa_solver *s, double rr[C])
{
    double pq[C], after[C], a[C], b[C];
    const size_t size = s->part->size;
    apply(s, s->p, s->q);
    dots(s, s->p, s->q, pq);
    for (size_t c = 0; c < C; c++)
        a[c] = pq[c] > 0 ? rr[c] / pq[c] : 0;
    for (size_t i = 0; i < size; i++)
        for (size_t c = 0; c < C; c++) {
            s->x[i * C + c] += a[c] * s->p[i * C + c];
            s->r[i * C + c] -= a[c] * s->q[i * C + c];
        }
    centre(s, s->r);
    dots(s, s->r, s->r, after);
    for (size_t c = 0; c < C; c++) {
        b[c] = rr[c] > 0 ? after[c] / rr[c] : 0;
        rr[c] = after[c];
    }
    for (size_t i = 0; i < size; i++)
        for (size_t c = 0; c < C; c++)
            s->p[i * C + c] = s->r[i * C + c] + b[c] * s->p[i * C + c];
}

/* The bounds from x alone: q becomes b - A x. True if all are as near as asked. */
static bool look(gopa_solver *s, const uint32_t *vertex, size_t count, double precision,
                 double *low, double *high)
{
    double bx[C], xr[C], rr[C];
    bool near = true;
    apply(s, s->x, s->q);
    /* b has few numbers that matter: b^T x = x_v - mean of x, and x has mean 0 but for rounding. */
    double mean[C] = {0};
    for (size_t i = 0; i < s->part->size; i++)
        for (size_t c = 0; c < C; c++) {
            const double b = c < count ? (i == vertex[c]) - 1 / (double)s->part->size : 0;
            mean[c] += s->x[i * C + c] / s->part->size;
            s->q[i * C + c] = b - s->q[i * C + c];
        }
    for (size_t c = 0; c < count; c++)
        bx[c] = s->x[vertex[c] * (size_t)C + c] - mean[c];
    dots(s, s->x, s->q, xr);
    dots(s, s->q, s->q, rr);
    for (size_t c = 0; c < count; c++) {
        low[c] = bx[c] + xr[c];
        high[c] = low[c] + rr[c] / s->shift;
        near = near && high[c] - low[c] <= precision;
    }
    return near;
}

/* From x on with its true residual, which `look` left in q. */
static void restart(gopa_solver *s, double rr[C])
{
    centre(s, s->q);
    memcpy(s->r, s->q, (size_t)s->part->size * C * sizeof *s->r);
    memcpy(s->p, s->q, (size_t)s->part->size * C * sizeof *s->p);
    dots(s, s->r, s->r, rr);
}

tacit_status gopa_solver_run(gopa_solver *s, const uint32_t *vertex, size_t count, double precision,
                             double *low, double *high, tacit_error *err)
{
    const size_t size = s->part->size;
    const uint64_t *row = s->view->row + s->part->first;
    const uint64_t pass = row[size] - row[0] + 8 * size;
    double rr[C];
    fill_right_side(s, vertex, count, s->r);
    memset(s->x, 0, size * C * sizeof *s->x);
    memcpy(s->p, s->r, size * C * sizeof *s->p);
    dots(s, s->r, s->r, rr);
    for (;;) {
        double worst = 0;
        step(s, rr);
        for (size_t c = 0; c < C; c++)
            worst = fmax(worst, rr[c]);
        if (worst <= precision * s->shift) {
            if (look(s, vertex, count, precision, low, high))
                return TACIT_OK;
            restart(s, rr);
        }
        s->work += pass;
        if (s->work > s->most_work)
            return tacit_fail(err, TACIT_NO,
                              "the worst user of this graph was not found in time: too many users "
                              "have too few partners; choose more partners");
    }
}
