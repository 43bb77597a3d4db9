/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices, for net_kernels_all.h.
 *
 * A block of ROWS x 16 numbers of c stays in registers while l runs over all of k; a step takes 16
 * numbers of b and one of each row of a. b comes in panels so that a step's loads are next to each
 * other; a is read as it lies: packing it would cost a quarter of the time where c has 64 columns.
 * DEPTH steps of a panel are taken through all rows of a before the next: 32 kB, which stay in the
 * nearest caches. If they lie apart, in a matrix by rows, and many rows of a want them, they are
 * fetched together first: each might lie on a page of its own.
 */
#define DEPTH 512
#define VECTORS (TACIT_NET_PANEL / LANES)

/* rows x 16 numbers at c += those of a b. `rows` and `by_columns` are constants where this is
 * inlined. */
INLINE void block(size_t rows, bool by_columns, size_t k, const float *a, size_t a_step,
                  const float *b, size_t b_row, float *c, size_t c_row, bool add)
{
    vec part[ROWS][VECTORS];
    UNROLL
    for (size_t r = 0; r < rows; r++)
        UNROLL
    for (size_t v = 0; v < VECTORS; v++)
        part[r][v] = add ? LOAD(c + r * c_row + v * LANES) : (vec){0};
    for (size_t l = 0; l < k; l++, b += b_row) {
        vec right[VECTORS];
        UNROLL
        for (size_t v = 0; v < VECTORS; v++)
            right[v] = LOAD(b + v * LANES);
        UNROLL
        for (size_t r = 0; r < rows; r++) {
            const float left = by_columns ? a[l * a_step + r] : a[r * a_step + l];
            UNROLL
            for (size_t v = 0; v < VECTORS; v++)
                part[r][v] += left * right[v];
        }
    }
    UNROLL
    for (size_t r = 0; r < rows; r++)
        UNROLL
    for (size_t v = 0; v < VECTORS; v++)
        STORE(c + r * c_row + v * LANES, part[r][v]);
}

static void block_of(size_t rows, const tacit_product *p, const float *a, const float *b, float *c,
                     size_t c_row)
{
#define SIZE(n)                                                                 \
    case n:                                                                     \
        if (p->a_by_columns)                                                    \
            block(n, true, p->k, a, p->a_step, b, p->b_row, c, c_row, p->add);  \
        else                                                                    \
            block(n, false, p->k, a, p->a_step, b, p->b_row, c, c_row, p->add); \
        break;
    switch (rows) {
        SIZE(1)
        SIZE(2)
        SIZE(3)
#if ROWS >= 6
        SIZE(4)
        SIZE(5)
        SIZE(6)
#endif
#if ROWS >= 14
        SIZE(7)
        SIZE(8)
        SIZE(9)
        SIZE(10)
        SIZE(11)
        SIZE(12)
        SIZE(13)
        SIZE(14)
#endif
    default:
        break;
    }
#undef SIZE
}

/* Where fewer than 16 columns are left, the block is made aside: no store goes past a row. */
static void block_aside(size_t rows, size_t columns, const tacit_product *p, const float *a,
                        const float *b, float *c)
{
    float aside[ROWS * TACIT_NET_PANEL] = {0};
    for (size_t r = 0; r < rows && p->add; r++)
        memcpy(aside + r * TACIT_NET_PANEL, c + r * p->c_row, columns * sizeof *c);
    block_of(rows, p, a, b, aside, TACIT_NET_PANEL);
    for (size_t r = 0; r < rows; r++)
        memcpy(c + r * p->c_row, aside + r * TACIT_NET_PANEL, columns * sizeof *c);
}

/* What one panel adds to all rows, for k steps of it. */
static void panel_rows(const tacit_product *p, const float *b, size_t columns, float *c)
{
    for (size_t i = 0; i < p->m; i += ROWS) {
        const size_t rows = p->m - i < ROWS ? p->m - i : ROWS;
        const float *a = p->a + i * (p->a_by_columns ? 1 : p->a_step);
        if (columns < TACIT_NET_PANEL)
            block_aside(rows, columns, p, a, b, c + i * p->c_row);
        else
            block_of(rows, p, a, b, c + i * p->c_row, p->c_row);
    }
}

/* Numbers of c wait in memory between two pieces of k: that rounds nothing, they are floats in
 * registers, too. */
static void product(const tacit_product *p)
{
    float near[DEPTH * TACIT_NET_PANEL] __attribute__((aligned(64)));
    const bool fetch = p->b_row != TACIT_NET_PANEL && p->m > 4 * ROWS;
    for (size_t j = 0; j < p->n; j += TACIT_NET_PANEL)
        for (size_t l = 0; l < p->k || l == 0; l += DEPTH) {
            const float *b = p->b + j / TACIT_NET_PANEL * p->b_panel + l * p->b_row;
            tacit_product piece = *p;
            piece.k = p->k - l < DEPTH ? p->k - l : DEPTH;
            piece.a += l * (p->a_by_columns ? p->a_step : 1);
            piece.add = p->add || l > 0;
            for (size_t q = 0; q < piece.k && fetch; q++)
                memcpy(near + q * TACIT_NET_PANEL, b + q * p->b_row, TACIT_NET_PANEL * sizeof *b);
            piece.b_row = fetch ? TACIT_NET_PANEL : p->b_row;
            panel_rows(&piece, fetch ? near : b,
                       p->n - j < TACIT_NET_PANEL ? p->n - j : TACIT_NET_PANEL, p->c + j);
        }
}

static void pack(size_t k, size_t n, const float *b, size_t row, size_t column, float *panels)
{
    for (size_t j = 0; j < n; j += TACIT_NET_PANEL, panels += k * TACIT_NET_PANEL) {
        const size_t columns = n - j < TACIT_NET_PANEL ? n - j : TACIT_NET_PANEL;
        if (columns < TACIT_NET_PANEL)
            memset(panels, 0, k * TACIT_NET_PANEL * sizeof *panels);
        for (size_t l = 0; l < k; l++)
            for (size_t q = 0; q < columns; q++)
                panels[l * TACIT_NET_PANEL + q] = b[l * row + (j + q) * column];
    }
}

static float sum(size_t n, const float *x)
{
    vec part[4] = {{0}};
    size_t k = 0;
    for (; k + 4 * LANES <= n; k += 4 * LANES)
        UNROLL
    for (size_t v = 0; v < 4; v++)
        part[v] += LOAD(x + k + v * LANES);
    float rest = 0;
    for (; k < n; k++)
        rest += x[k];
    return total((part[0] + part[1]) + (part[2] + part[3])) + rest;
}

/* In double precision: no square overflows or vanishes, and norms that decide how much of a record
 * counts are exact for all purposes. */
static double square(size_t n, const float *x)
{
    doubles part[4] = {{0}};
    size_t k = 0;
    for (; k + 4 * HALF <= n; k += 4 * HALF)
        UNROLL
    for (size_t v = 0; v < 4; v++) {
        few narrow;
        memcpy(&narrow, x + k + v * HALF, sizeof narrow);
        const doubles wide = __builtin_convertvector(narrow, doubles);
        part[v] += wide * wide;
    }
    double all = 0;
    for (; k < n; k++)
        all += (double)x[k] * (double)x[k];
    const doubles rest = (part[0] + part[1]) + (part[2] + part[3]);
    for (size_t v = 0; v < HALF; v++)
        all += rest[v];
    return all;
}

static void axpy(size_t n, float a, const float *x, float *y)
{
    for (size_t k = 0; k < n; k++)
        y[k] += a * x[k];
}
#undef VECTORS
#undef DEPTH
