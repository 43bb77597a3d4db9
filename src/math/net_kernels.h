/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MATH_NET_KERNELS_H
#define TACIT_MATH_NET_KERNELS_H
/*
 * The hot loops of neural networks, in single precision, compiled for each kind of CPU like those
 * of math/kernels.h.
 *
 * Why not BLAS? The one that Debian's LAPACK runs on shares work space between its callers without
 * a lock (tacit/eigen.h), so that agents on several cores would have to take turns for most of
 * their time. And what a product gives for one record would depend on which others are in the lot.
 * Here
 *   - nothing is shared and nothing allocated: any thread, any time;
 *   - every number of a product is one chain of multiply-adds over k from 0 on, whatever block
 *     it falls into: a record's numbers do not depend on its neighbours, not in a single bit.
 *
 * Kernels load whole vectors: where a comment says "padded", TACIT_NET_PAD numbers past the end may
 * be read (their values do not matter, NaN included).
 */
#include "tacit/base.h"

enum {
    TACIT_NET_PANEL = 16, /* columns that a product makes at a time, on every CPU */
    TACIT_NET_PAD = 16
};

/* c (m x n) = a (m x k) b (k x n), or with `add` c += a b.
 *
 * a by rows: a(i, l) = a[i * a_step + l]; by columns: a(i, l) = a[l * a_step + i].
 * b in panels of 16 columns: b(l, 16 q + j) = b[q * b_panel + l * b_row + j]. That is what pack()
 * makes (b_panel = 16 k, b_row = 16), or a matrix by rows as it is (b_panel = 16, b_row its row),
 * padded. */
typedef struct tacit_product {
    size_t m, n, k;
    const float *a;
    size_t a_step;
    bool a_by_columns;
    const float *b;
    size_t b_row, b_panel;
    float *c;
    size_t c_row;
    bool add;
} tacit_product;

/* A convolution without padding and with step one: planes one after the other, by rows. */
typedef struct tacit_planes {
    size_t in, in_height, in_width; /* in: how many planes */
    size_t out, height, width;      /* in_height - high + 1, in_width - wide + 1 */
    size_t high, wide;              /* of the window */
} tacit_planes;

typedef struct tacit_net_kernels {
    const char *name;
    size_t lanes; /* numbers that a vector holds */
    void (*product)(const tacit_product *product);
    /* Panels of b(l, j) = b[l * row + j * column], l < k, j < n; the last is filled up with zeros.
     */
    void (*pack)(size_t k, size_t n, const float *b, size_t row, size_t column, float *panels);
    /* sum of x, and of x^2 in double precision */
    float (*sum)(size_t n, const float *x);
    double (*square)(size_t n, const float *x);
    /* y += a x */
    void (*axpy)(size_t n, float a, const float *x, float *y);
    /* x = exp(x - most); returns their sum */
    float (*exponentials)(size_t n, float most, float *x);
    /* y = f(x), and x = f'(x) */
    void (*relu)(size_t n, float *x, float *y);
    void (*tanh)(size_t n, float *x, float *y);
    void (*mish)(size_t n, float *x, float *y);
    /* x *= y */
    void (*times)(size_t n, float *x, const float *y);
    /* y(o) = bias[o] + sum_i w(o, i) * x(i), for width >= lanes. w[o][i][row][column]; x padded. */
    void (*convolve)(const tacit_planes *p, const float *w, const float *bias, const float *x,
                     float *y);
    /* dw[o][i][row][column] = sum over pixels of d(o) and the shifted x(i), for width >= lanes. */
    void (*correlate)(const tacit_planes *p, const float *x, const float *d, float *dw);
    /* Largest of each 2 x 2 square of a plane of height x width; an odd last row or column is left
     * out. which: 0 to 3 by rows; of equals the first. */
    void (*pool2)(size_t height, size_t width, const float *x, float *y, int32_t *which);
    /* And back: dx (all of the plane) = dy where `which` says so, 0 elsewhere. */
    void (*unpool2)(size_t height, size_t width, const float *dy, const int32_t *which, float *dx);
} tacit_net_kernels;

const tacit_net_kernels *tacit_net_kernels_get(void);
/* NULL if this CPU or build has none: "base", "avx2", "avx512". For tests. */
const tacit_net_kernels *tacit_net_kernels_named(const char *name);

extern const tacit_net_kernels tacit_net_kernels_base;
#ifdef TACIT_HAVE_X86_KERNELS
extern const tacit_net_kernels tacit_net_kernels_avx2, tacit_net_kernels_avx512;
#endif

#endif
