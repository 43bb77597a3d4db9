/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of matrices, for net_kernels_all.h.
 *
 * A block of ROWS x 16 numbers of c stays in registers while l runs over all of k; a step takes 16
 * numbers of b and one of each row of a. b comes in panels so that a step's loads are next to each
 * other; a is read as it lies: packing it would cost a quarter of the time where c has 64 columns.
 * A panel is taken through all rows of a before the next: it stays in the nearest cache.
 */
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

static void product(const tacit_product *p)
{
    const float *b = p->b;
    for (size_t j = 0; j < p->n; j += TACIT_NET_PANEL, b += p->b_panel)
        for (size_t i = 0; i < p->m; i += ROWS) {
            const size_t rows = p->m - i < ROWS ? p->m - i : ROWS;
            const float *a = p->a + i * (p->a_by_columns ? 1 : p->a_step);
            float *c = p->c + i * p->c_row + j;
            if (p->n - j < TACIT_NET_PANEL)
                block_aside(rows, p->n - j, p, a, b, c);
            else
                block_of(rows, p, a, b, c, p->c_row);
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
