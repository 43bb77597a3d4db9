/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_FFT_H
#define TACIT_FFT_H
/*
 * The discrete Fourier transform of real sequences whose length is a power of two, in double
 * precision. Every bin is computed with an error of at most a small multiple of
 * log2(n) 2^-53 sum |x|.
 */
#include "tacit/base.h"

typedef struct tacit_fft tacit_fft;

#define TACIT_FFT_LEAST 4
#define TACIT_FFT_MOST ((size_t)1 << 26)

/* `n` is a power of two between the two limits above. */
tacit_status tacit_fft_create(tacit_fft **plan, size_t n, tacit_error *err);
void tacit_fft_free(tacit_fft *plan);
size_t tacit_fft_length(const tacit_fft *plan);

/* re[k] + i im[k] = sum_j x[j] exp(-2 pi i j k / n) for k = 0 .. n/2. A plan has room of its
 * own to work in: one thread at a time. */
void tacit_fft_forward(tacit_fft *plan, const double *x, double *re, double *im);
/* The inverse, 1/n included; im[0] and im[n/2] do not count. `re` and `im` are destroyed. */
void tacit_fft_inverse(tacit_fft *plan, double *re, double *im, double *x);

#endif
