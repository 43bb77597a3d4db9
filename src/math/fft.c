/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real sequence of length n is read as n/2 complex numbers x[2j] + i x[2j+1], transformed by
 * a self-sorting (Stockham) radix-4 FFT, decimation in frequency, with one radix-2 step at the
 * end where log2(n/2) is odd, and then split into the spectra of the even and the odd part.
 * Real and imaginary parts live in arrays of their own, so that the inner loops are plain
 * vector code. Stockham's order needs a second buffer and no bit reversal.
 *
 * Roots of unity come from sine and cosine of the first octant and symmetry: each is right to
 * the last bit or so, and n/8 calls suffice.
 *
 * The inverse complex transform is the forward one with real and imaginary parts exchanged.
 */
#include "math/fft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925286766559

struct tacit_fft {
    size_t n;          /* of the real sequence */
    double *cos, *sin; /* of 2 pi k / n, k < n */
    double *room[4];   /* two complex buffers of n / 2 */
};

/* cos and sin of 2 pi k / n for all k from those of the first octant. */
static void fill_roots(tacit_fft *f)
{
    const size_t n = f->n, eighth = n / 8, quarter = n / 4;
    if (eighth == 0) { /* n = 4 */
        static const double c[4] = {1, 0, -1, 0}, s[4] = {0, 1, 0, -1};
        memcpy(f->cos, c, sizeof c);
        memcpy(f->sin, s, sizeof s);
        return;
    }
    for (size_t k = 0; k <= eighth; k++) {
        const double angle = TWO_PI * (double)k / (double)n;
        f->cos[k] = f->sin[quarter - k] = cos(angle);
        f->sin[k] = f->cos[quarter - k] = sin(angle);
    }
    for (size_t k = quarter; k < n; k++) {
        f->cos[k] = -f->sin[k - quarter];
        f->sin[k] = f->cos[k - quarter];
    }
}

tacit_status tacit_fft_create(tacit_fft **plan, size_t n, tacit_error *err)
{
    *plan = NULL;
    if (n < TACIT_FFT_LEAST || n > TACIT_FFT_MOST || (n & (n - 1)))
        return tacit_fail(err, TACIT_EINTERNAL, "fft of length \"%zu\", which is no power of two",
                          n);
    tacit_fft *f = calloc(1, sizeof *f);
    if (!f)
        return tacit_out_of_memory(err);
    f->n = n;
    f->cos = malloc(n * sizeof *f->cos);
    f->sin = malloc(n * sizeof *f->sin);
    bool whole = f->cos && f->sin;
    for (int k = 0; k < 4; k++)
        whole = (f->room[k] = malloc(n / 2 * sizeof(double))) && whole;
    if (!whole) {
        tacit_fft_free(f);
        return tacit_out_of_memory(err);
    }
    fill_roots(f);
    *plan = f;
    return TACIT_OK;
}

void tacit_fft_free(tacit_fft *plan)
{
    if (!plan)
        return;
    for (int k = 0; k < 4; k++)
        free(plan->room[k]);
    free(plan->cos);
    free(plan->sin);
    free(plan);
}

size_t tacit_fft_length(const tacit_fft *plan)
{
    return plan->n;
}

typedef struct complexes {
    double *restrict re, *restrict im;
} complexes;

/* Four rows of `stride` numbers each, `gap` apart, become four consecutive rows. */
static inline void butterfly4(const double *restrict xr, const double *restrict xi, size_t gap,
                              double *restrict yr, double *restrict yi, size_t stride,
                              const double w[6])
{
    for (size_t q = 0; q < stride; q++) {
        const double ar = xr[q], ai = xi[q], br = xr[q + gap], bi = xi[q + gap];
        const double cr = xr[q + 2 * gap], ci = xi[q + 2 * gap];
        const double dr = xr[q + 3 * gap], di = xi[q + 3 * gap];
        const double sr = ar + cr, si = ai + ci, tr = ar - cr, ti = ai - ci;
        const double ur = br + dr, ui = bi + di, vr = br - dr, vi = bi - di;
        yr[q] = sr + ur;
        yi[q] = si + ui;
        const double er = tr + vi, ei = ti - vr; /* t - i v */
        const double fr = sr - ur, fi = si - ui;
        const double gr = tr - vi, gi = ti + vr; /* t + i v */
        yr[q + stride] = er * w[0] + ei * w[1];
        yi[q + stride] = ei * w[0] - er * w[1];
        yr[q + 2 * stride] = fr * w[2] + fi * w[3];
        yi[q + 2 * stride] = fi * w[2] - fr * w[3];
        yr[q + 3 * stride] = gr * w[4] + gi * w[5];
        yi[q + 3 * stride] = gi * w[4] - gr * w[5];
    }
}

/* One radix-4 pass over sub-transforms of length `length`, `stride` of them side by side. */
static void pass4(const tacit_fft *f, complexes x, complexes y, size_t length, size_t stride)
{
    const size_t quarter = length / 4, gap = stride * quarter, step = f->n / length;
    for (size_t p = 0; p < quarter; p++) {
        const size_t k = p * step;
        const double w[6] = {f->cos[k],     f->sin[k],     f->cos[2 * k],
                             f->sin[2 * k], f->cos[3 * k], f->sin[3 * k]};
        const size_t from = stride * p, to = 4 * from;
        if (stride == 1)
            butterfly4(x.re + from, x.im + from, gap, y.re + to, y.im + to, 1, w);
        else if (stride == 4)
            butterfly4(x.re + from, x.im + from, gap, y.re + to, y.im + to, 4, w);
        else
            butterfly4(x.re + from, x.im + from, gap, y.re + to, y.im + to, stride, w);
    }
}

static void pass2(complexes x, complexes y, size_t stride)
{
    for (size_t q = 0; q < stride; q++) {
        const double ar = x.re[q], ai = x.im[q], br = x.re[q + stride], bi = x.im[q + stride];
        y.re[q] = ar + br;
        y.im[q] = ai + bi;
        y.re[q + stride] = ar - br;
        y.im[q + stride] = ai - bi;
    }
}

/* The transform of the n/2 numbers in `x`; the answer is in one of the two. */
static complexes transform(const tacit_fft *f, complexes x, complexes y)
{
    size_t length = f->n / 2, stride = 1;
    for (; length >= 4; length /= 4, stride *= 4) {
        pass4(f, x, y, length, stride);
        complexes swap = x;
        x = y;
        y = swap;
    }
    if (length == 1)
        return x;
    pass2(x, y, stride);
    return y;
}

void tacit_fft_forward(tacit_fft *plan, const double *x, double *re, double *im)
{
    const size_t half = plan->n / 2;
    complexes a = {plan->room[0], plan->room[1]}, b = {plan->room[2], plan->room[3]};
    for (size_t j = 0; j < half; j++) {
        a.re[j] = x[2 * j];
        a.im[j] = x[2 * j + 1];
    }
    complexes z = transform(plan, a, b);
    re[0] = z.re[0] + z.im[0];
    re[half] = z.re[0] - z.im[0];
    im[0] = im[half] = 0;
    for (size_t k = 1; k < half; k++) {
        const double pr = z.re[k], pi = z.im[k], mr = z.re[half - k], mi = z.im[half - k];
        const double even_re = (pr + mr) / 2, even_im = (pi - mi) / 2;
        const double odd_re = (pi + mi) / 2, odd_im = (mr - pr) / 2;
        const double c = plan->cos[k], s = plan->sin[k];
        re[k] = even_re + (odd_re * c + odd_im * s);
        im[k] = even_im + (odd_im * c - odd_re * s);
    }
}

void tacit_fft_inverse(tacit_fft *plan, double *re, double *im, double *x)
{
    const size_t half = plan->n / 2;
    const double scale = 0.5 / (double)half;
    complexes a = {plan->room[0], plan->room[1]}, b = {plan->room[2], plan->room[3]};
    im[0] = im[half] = 0;
    for (size_t k = 0; k < half; k++) {
        const double pr = re[k], pi = im[k], mr = re[half - k], mi = im[half - k];
        const double even_re = pr + mr, even_im = pi - mi;
        const double gap_re = pr - mr, gap_im = pi + mi;
        const double c = plan->cos[k], s = plan->sin[k];
        const double odd_re = gap_re * c - gap_im * s, odd_im = gap_im * c + gap_re * s;
        a.im[k] = even_re - odd_im; /* exchanged: the inverse by the forward transform */
        a.re[k] = even_im + odd_re;
    }
    complexes z = transform(plan, a, b);
    for (size_t j = 0; j < half; j++) {
        x[2 * j] = z.im[j] * scale;
        x[2 * j + 1] = z.re[j] * scale;
    }
}
