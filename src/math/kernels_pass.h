/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by kernels_impl.h: the gradient on the grid, in one pass over memory. No include guard
 * on purpose.
 *
 * What kernels_grid.h does step by step, tile by tile, is done here for four rows at a time, and
 * gives the same integers: margins and sizes, slopes, factors, sums. A group's exponential, root
 * and divisions take long but few instructions, so the margins of the next group stand between
 * them and their use, as in gradient(). Sums stay in registers (f32, AVX-512) or near them.
 *
 * No row is converted to integers whose bound is not proved: at the first such group the loop gives
 * up, and nothing was added to `sum`.
 */
/* What a group will be multiplied by, and whether it may be. */
typedef struct NAME(factors) {
    DOUBLES a;
    bool good;
} NAME(factors);

INLINE NAME(factors) NAME(group_factors)(SLOPE *slope, const tacit_grid_rows *in, bool l1,
                                         const GROUP *at, VEC4 z, VEC4 size)
{
    VEC4 y;
    memcpy(&y, at->y, sizeof y);
    const VEC4 coef = in->squared ? NAME(squared4)(z, y) : slope(z, y);
    const DOUBLES b = __builtin_convertvector(coef, DOUBLES) * in->per_step;
    TRUTHS good, fresh = (TRUTHS){0, 1, 2, 3} >= (int64_t)at->again;
    const DOUBLES a = NAME(clip4)(l1, in->radius, __builtin_convertvector(size, DOUBLES), b, &good);
    /* Rows that were counted before are good, and add zeros. */
    return (NAME(factors)){(DOUBLES)((TRUTHS)a & fresh), NAME(all4)(good)};
}

INLINE void NAME(group_margins)(bool held, size_t full, bool l1, size_t p, const GROUP *at,
                                const NAME(weights) * w, const NAME(masks) * m, VEC4 *z, VEC4 *size)
{
    const size_t row = p * sizeof(REAL);
    VEC4 dot[4], part[4];
    NAME(both)(held, full, l1, p, at->x, w, m, at->ahead, &dot[0], &part[0]);
    NAME(both)(held, full, l1, p, at->x + p, w, m, at->ahead + row, &dot[1], &part[1]);
    NAME(both)(held, full, l1, p, at->x + 2 * p, w, m, at->ahead + 2 * row, &dot[2], &part[2]);
    NAME(both)(held, full, l1, p, at->x + 3 * p, w, m, at->ahead + 3 * row, &dot[3], &part[3]);
    *z = NAME(totals)(dot[0], dot[1], dot[2], dot[3]);
    *size = NAME(totals)(part[0], part[1], part[2], part[3]);
}

INLINE void NAME(group_add)(size_t full, size_t p, const REAL *x, DOUBLES a, INTS *acc)
{
    const VEC zero = {0},
              by[4] = {zero + (REAL)a[0], zero + (REAL)a[1], zero + (REAL)a[2], zero + (REAL)a[3]};
    for (size_t k = 0; k <= full; k++) {
        const REAL *from = k < full ? x + k * LANES : x + p - LANES;
        for (size_t q = 0; q < 4; q++)
            acc[k] += __builtin_convertvector(LOAD(from + q * p) * by[q], INTS);
    }
}

/* `full` and `held` (is theta?) are constants where this is inlined. */
INLINE bool NAME(pass_rows)(bool held, size_t full, bool l1, SLOPE *slope,
                            const tacit_grid_rows *in, const REAL *theta, int64_t *sum)
{
    const size_t p = in->p, rows = in->rows;
    const REAL *x = in->x, *y = in->y;
    const NAME(masks) m = NAME(masks_for)(p);
    NAME(weights) w;
    w.tail = NAME(masked_tail)(p, theta);
    w.at = theta;
    for (size_t k = 0; held && k < full; k++)
        w.held[k] = LOAD(theta + k * LANES);
    INTS acc[HELD + 1];
    for (size_t k = 0; k <= full; k++)
        acc[k] = (INTS){0};
    VEC4 z, size;
    GROUP at = NAME(group_at)(0, rows, p, x, y, in->next);
    NAME(group_margins)(held, full, l1, p, &at, &w, &m, &z, &size);
    NAME(factors) f = NAME(group_factors)(slope, in, l1, &at, z, size);
    for (size_t r = 4; r < rows; r += 4) {
        const GROUP then = NAME(group_at)(r, rows, p, x, y, in->next);
        NAME(group_margins)(held, full, l1, p, &then, &w, &m, &z, &size);
        if (!f.good)
            return false;
        NAME(group_add)(full, p, at.x, f.a, acc);
        f = NAME(group_factors)(slope, in, l1, &then, z, size);
        at = then;
    }
    if (!f.good)
        return false;
    NAME(group_add)(full, p, at.x, f.a, acc);
    int32_t part[(HELD + 1) * LANES];
    for (size_t k = 0; k <= full; k++)
        STORE_INTS(part + k * LANES, acc[k]);
    for (size_t k = 0; k < full * LANES; k++)
        sum[k] += part[k];
    const size_t left = p % LANES;
    for (size_t k = 0; k < left; k++)
        sum[full * LANES + k] += part[(full + 1) * LANES - left + k];
    return true;
}

INLINE bool NAME(pass_norm)(bool l1, SLOPE *slope, const tacit_grid_rows *in, const REAL *theta,
                            int64_t *sum)
{
#define FULL(n) \
    case n:     \
        return NAME(pass_rows)(n <= PASS_HELD, n, l1, slope, in, theta, sum);
    switch (in->p / LANES) {
        FULL(1)
        FULL(2)
        SOME(FULL(3))
        SOME(FULL(4))
        SOME(FULL(5))
        SOME(FULL(6))
        FULL(7)
#if HELD >= 12
        SOME(FULL(8))
        SOME(FULL(9))
        SOME(FULL(10))
        SOME(FULL(11))
        FULL(12)
#endif
    default:
        return false;
    }
#undef FULL
}

INLINE bool NAME(pass)(SLOPE *slope, const tacit_grid_rows *in, const void *theta, int64_t *sum)
{
    if (in->rows < 4 || in->p < LANES || in->p > PROVABLE)
        return false;
    return in->l1 ? NAME(pass_norm)(true, slope, in, theta, sum)
                  : NAME(pass_norm)(false, slope, in, theta, sum);
}
