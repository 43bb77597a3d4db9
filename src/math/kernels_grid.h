/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included by kernels_impl.h: rows on their way to the grid (model/gradient_grid.c). No include
 * guard on purpose.
 *
 * margins        z[r] = x[r] . theta and the sizes of rows, in one pass over memory
 * clip           by what each row is to be multiplied, and whether its bound is proved
 * add_to_grid    sum of trunc(a[r] x[r]), as integers, for rows whose bound is proved
 * to_grid        one row, any row: brought to the border if need be, and measured as integers
 * from_grid      back to numbers, after the noise
 *
 * Roofline: at p = 100, m = 55 in f32 a tick's rows are 385 vectors of 16, each loaded twice (once
 * for margins, once for the sum, then from the first-level cache). Rows of 400 bytes start
 * anywhere, so nearly every load touches two lines and takes two cycles: 1540 cycles, 0.5 us at 3
 * GHz, as for the gradient without noise; the 3 multiplications, 2 additions and the conversion of
 * a vector fit beside them. Step by step it takes 1.0 us, of which margins 0.5, add_to_grid 0.2,
 * clip and slopes 0.25 (a root, a division and an exponential a record, which nothing else
 * overlaps); kernels_pass.h does the steps group by group.
 *
 * Why a row needs no measuring after rounding. Let u be half an ulp of 1 in REAL and S the size
 * that margins() gives: a sum of p non-negative numbers in REAL, of which each goes through at most
 * k = p / LANES + 16 roundings. Products may also lose what lies below the smallest normal number,
 * 2^-126 at worst (were subnormal numbers flushed to zero). So the true size is at most
 * S / (1 - u)^k + p 2^-126, and for S >= 2^-90, p <= 2^15 the last term is below S 2^-21: the
 * length (S itself in l1, its root in l2) is at most sqrt(S) (1 + 1.01 k u) (1 + 2^-21).
 *
 * clip() chooses a with |a| sqrt(S) <= radius, up to 4 roundings in double; a becomes a REAL
 * (1 + u), a x_k is rounded (1 + u; where it is subnormal it is less than 1 and ends as 0), and
 * truncation makes nothing larger. So the integers have a norm of at most
 *
 *     radius (1 + 2^-50) (1 + u)^2 (1 + 1.01 k u) (1 + 2^-21)
 *         <= radius (1 + 1.02 (k + 2) u + 2^-20.9),
 *
 * and with radius = (1 - 2^-16) limit this is below the limit if (k + 2) u <= 2^-17, which is so
 * for u = 2^-24 and k <= 126, and for doubles always. No coordinate exceeds the norm, so nothing
 * has to be brought to the border and conversions are defined. What is asked of a row (proved()
 * below) is false for NaN, and infinities have no finite S: such rows, tiny or huge ones, and too
 * many features (PROVABLE) take the way of to_grid, which gives the same integers where
 * both may.
 */
/* What the sizes of rows need: all bits but the sign, and those of lanes a tail may count. */
typedef struct NAME(masks) {
    BITS sign, tail;
} NAME(masks);

INLINE NAME(masks) NAME(masks_for)(size_t p)
{
    const REAL zero = (REAL)-0.0;
    INDEX sign;
    memcpy(&sign, &zero, sizeof sign);
    return (NAME(masks)){.sign = ~((BITS){0} + sign), .tail = NAME(tail_lanes)(p)};
}

INLINE VEC NAME(grown)(VEC sum, VEC v, bool l1, BITS sign)
{
    return l1 ? sum + (VEC)((BITS)v & sign) : sum + v * v;
}

/* Four parts of a row's size, still to be added. As in dot(): two sums, the tail masked. */
INLINE VEC4 NAME(size)(size_t p, bool l1, const REAL *x, const NAME(masks) * m)
{
    VEC a = {0}, b = {0};
    size_t k = 0;
    for (; k + 2 * LANES <= p; k += 2 * LANES) {
        a = NAME(grown)(a, LOAD(x + k), l1, m->sign);
        b = NAME(grown)(b, LOAD(x + k + LANES), l1, m->sign);
    }
    if (k + LANES <= p) {
        a = NAME(grown)(a, LOAD(x + k), l1, m->sign);
        k += LANES;
    }
    if (k < p)
        b = NAME(grown)(b, (VEC)((BITS)LOAD(x + p - LANES) & m->tail), l1, m->sign);
    return NAME(sum_to_4)(a + b);
}

static REAL NAME(size_short)(size_t p, bool l1, const REAL *x)
{
    REAL sum = 0;
    for (size_t k = 0; k < p; k++)
        sum += l1 ? (x[k] < 0 ? -x[k] : x[k]) : x[k] * x[k];
    return sum;
}

/* About ||x[r]||. */
static void NAME(lengths)(size_t rows, size_t p, bool l1, const void *xv, double *length)
{
    const REAL *x = xv;
    const NAME(masks) m = NAME(masks_for)(p);
    for (size_t r = 0; r < rows; r++, x += p) {
        REAL all;
        if (p < LANES) {
            all = NAME(size_short)(p, l1, x);
        } else {
            VEC4 part = NAME(size)(p, l1, x, &m);
            all = (part[0] + part[2]) + (part[1] + part[3]);
        }
        length[r] = l1 ? (double)all : sqrt((double)all);
    }
}

/* Where theta is: the first vectors of it in registers where `held` says so (a constant), the
 * last, masked one always. */
typedef struct NAME(weights) {
    VEC held[HELD], tail;
    const REAL *at;
} NAME(weights);

/* dot() and size() of one row, which is loaded once. */
INLINE void NAME(both)(bool held, size_t full, bool l1, size_t p, const REAL *x,
                       const NAME(weights) * w, const NAME(masks) * m, const char *ahead, VEC4 *dot,
                       VEC4 *size)
{
    VEC a = {0}, b = {0}, c = {0}, d = {0};
    size_t k = 0;
    for (size_t line = 0; line < (full + 1) * sizeof(VEC); line += 64)
        __builtin_prefetch(ahead + line, 0, 2);
    for (; k + 2 <= full; k += 2) {
        const VEC v = LOAD(x + k * LANES), u = LOAD(x + (k + 1) * LANES);
        a += v * (held ? w->held[k] : LOAD(w->at + k * LANES));
        c = NAME(grown)(c, v, l1, m->sign);
        b += u * (held ? w->held[k + 1] : LOAD(w->at + (k + 1) * LANES));
        d = NAME(grown)(d, u, l1, m->sign);
    }
    if (full % 2) {
        const VEC v = LOAD(x + k * LANES);
        a += v * (held ? w->held[k] : LOAD(w->at + k * LANES));
        c = NAME(grown)(c, v, l1, m->sign);
    }
    if (p % LANES) {
        const VEC v = LOAD(x + p - LANES);
        b += v * w->tail;
        d = NAME(grown)(d, (VEC)((BITS)v & m->tail), l1, m->sign);
    }
    *dot = NAME(sum_to_4)(a + b);
    *size = NAME(sum_to_4)(c + d);
}

/* What to ask for while a row is read: what lies further on, and past `end` what comes `next`. */
INLINE const char *NAME(ahead_of)(const REAL *x, const char *end, const char *next)
{
    const char *at = (const char *)x;
    const size_t left = (size_t)(end - at);
    return left > TACIT_ROWS_AHEAD ? at + TACIT_ROWS_AHEAD : next + (TACIT_ROWS_AHEAD - left);
}

/* Each row as if it were alone. */
INLINE void NAME(measure)(bool held, size_t full, bool l1, size_t rows, size_t p, const REAL *x,
                          const REAL *theta, const char *end, const char *next, REAL *z,
                          double *size)
{
    const NAME(masks) m = NAME(masks_for)(p);
    NAME(weights) w;
    w.tail = NAME(masked_tail)(p, theta);
    w.at = theta;
    for (size_t k = 0; held && k < full; k++)
        w.held[k] = LOAD(theta + k * LANES);
    const size_t row = p * sizeof(REAL);
    size_t r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * p) {
        const char *ahead = NAME(ahead_of)(x, end, next);
        VEC4 dot0, dot1, dot2, dot3, part0, part1, part2, part3;
        NAME(both)(held, full, l1, p, x, &w, &m, ahead, &dot0, &part0);
        NAME(both)(held, full, l1, p, x + p, &w, &m, ahead + row, &dot1, &part1);
        NAME(both)(held, full, l1, p, x + 2 * p, &w, &m, ahead + 2 * row, &dot2, &part2);
        NAME(both)(held, full, l1, p, x + 3 * p, &w, &m, ahead + 3 * row, &dot3, &part3);
        const VEC4 all = NAME(totals)(part0, part1, part2, part3);
        const VEC4 z4 = NAME(totals)(dot0, dot1, dot2, dot3);
        memcpy(z + r, &z4, sizeof z4);
        for (size_t q = 0; q < 4; q++)
            size[r + q] = (double)all[q];
    }
    for (; r < rows; r++, x += p) {
        VEC4 dot, part;
        NAME(both)(held, full, l1, p, x, &w, &m, NAME(ahead_of)(x, end, next), &dot, &part);
        z[r] = (dot[0] + dot[2]) + (dot[1] + dot[3]);
        size[r] = (double)((part[0] + part[2]) + (part[1] + part[3]));
    }
}

INLINE void NAME(measure_any)(bool l1, size_t rows, size_t p, const REAL *x, const REAL *theta,
                              const char *end, const char *next, REAL *z, double *size)
{
#define FULL(n)                                                            \
    case n:                                                                \
        NAME(measure)(true, n, l1, rows, p, x, theta, end, next, z, size); \
        return;
    switch (p / LANES) {
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
        NAME(measure)(false, p / LANES, l1, rows, p, x, theta, end, next, z, size);
    }
#undef FULL
}

static void NAME(margins)(size_t rows, size_t p, bool l1, const void *xv, const void *theta,
                          const void *end, const void *next, void *zv, double *size)
{
    const REAL *x = xv;
    REAL *z = zv;
    if (p >= LANES && l1)
        NAME(measure_any)(true, rows, p, x, theta, end, next, z, size);
    else if (p >= LANES)
        NAME(measure_any)(false, rows, p, x, theta, end, next, z, size);
    else
        for (size_t r = 0; r < rows; r++, x += p) {
            z[r] = NAME(dot_short)(p, x, theta);
            size[r] = (double)NAME(size_short)(p, l1, x);
        }
}

#define PROVABLE (sizeof(REAL) == 4 ? 110 * (size_t)LANES : (size_t)1 << 15) /* features */

typedef double NAME(doubles) __attribute__((vector_size(32)));
typedef int64_t NAME(truths) __attribute__((vector_size(32)));
#define DOUBLES NAME(doubles)
#define TRUTHS NAME(truths)

/* By what four rows of these sizes are to be multiplied: by b, or by what makes them as long as the
 * radius. `*good`: what is asked of a row above; false for NaN. */
INLINE DOUBLES NAME(clip4)(bool l1, double radius, DOUBLES size, DOUBLES b, TRUTHS *good)
{
    const DOUBLES root = {sqrt(size[0]), sqrt(size[1]), sqrt(size[2]), sqrt(size[3])};
    const DOUBLES most = radius / (l1 ? size : root);
    const TRUTHS sign = (TRUTHS)b & INT64_MIN;
    const DOUBLES length = (DOUBLES)((TRUTHS)b ^ sign);
    const TRUTHS fits = length <= most;
    DOUBLES a = (DOUBLES)(((TRUTHS)length & fits) | ((TRUTHS)most & ~fits));
    a += 0 * length; /* nothing, or NaN for a slope that is none or has no end */
    *good = (size >= 0x1p-90) & (size <= 0x1p90) & (a >= 0x1p-90) & (a <= 0x1p90);
    return (DOUBLES)((TRUTHS)a | sign);
}

INLINE bool NAME(all4)(TRUTHS good)
{
    return (good[0] & good[1] & good[2] & good[3]) != 0;
}

INLINE bool NAME(clip_rows)(bool l1, size_t rows, double radius, double per_step, const REAL *coef,
                            const double *size, double *a)
{
    TRUTHS all = {-1, -1, -1, -1}, good;
    for (size_t r = 0; r < rows; r += 4) {
        const size_t n = rows - r < 4 ? rows - r : 4;
        DOUBLES s = {1, 1, 1, 1}, b = {1, 1, 1, 1};
        memcpy(&s, size + r, n * sizeof *size);
        for (size_t q = 0; q < n; q++)
            b[q] = (double)coef[r + q] * per_step;
        b = NAME(clip4)(l1, radius, s, b, &good);
        memcpy(a + r, &b, n * sizeof *a);
        for (size_t q = n; q < 4; q++)
            good[q] = -1;
        all &= good;
    }
    return NAME(all4)(all);
}

static bool NAME(clip)(size_t rows, size_t p, bool l1, double radius, double per_step,
                       const void *coef, const double *size, double *a)
{
    const bool good = l1 ? NAME(clip_rows)(true, rows, radius, per_step, coef, size, a)
                         : NAME(clip_rows)(false, rows, radius, per_step, coef, size, a);
    return good && p <= PROVABLE;
}

typedef int32_t NAME(ints) __attribute__((vector_size(4 * LANES)));
typedef int32_t NAME(ints_load)
    __attribute__((vector_size(4 * LANES), aligned(sizeof(int32_t)), may_alias));
#define INTS NAME(ints)
#define LOAD_INTS(p) ((INTS)(*(const NAME(ints_load) *)(const void *)(p)))
#define STORE_INTS(p, v) (*(NAME(ints_load) *)(void *)(p) = (v))

/* `width` vectors of columns and, if asked, what is left of the rows after them, overlapping the
 * one before as ever. Both are constants where this is inlined: sums stay in registers. */
INLINE void NAME(add_columns)(size_t width, bool tail, size_t rows, size_t p, size_t at,
                              const double *a, const REAL *x, int32_t *sum)
{
    INTS acc[8], last = {0};
    for (size_t k = 0; k < width; k++)
        acc[k] = LOAD_INTS(sum + at + k * LANES);
    for (size_t r = 0; r < rows; r++, x += p) {
        const VEC by = (VEC){0} + (REAL)a[r];
        for (size_t k = 0; k < width; k++)
            acc[k] += __builtin_convertvector(LOAD(x + at + k * LANES) * by, INTS);
        if (tail)
            last += __builtin_convertvector(LOAD(x + p - LANES) * by, INTS);
    }
    for (size_t k = 0; k < width; k++)
        STORE_INTS(sum + at + k * LANES, acc[k]);
    int32_t part[LANES];
    STORE_INTS(part, last);
    for (size_t k = p - p % LANES; tail && k < p; k++)
        sum[k] += part[k + LANES - p];
}

static void NAME(add_to_grid)(size_t rows, size_t p, const double *a, const void *xv, int32_t *sum)
{
    const REAL *x = xv;
    size_t at = 0;
    for (; at + 9 * LANES <= p; at += 8 * LANES)
        NAME(add_columns)(8, false, rows, p, at, a, x, sum);
#define WIDTH(n)                                            \
    case n:                                                 \
        NAME(add_columns)(n, true, rows, p, at, a, x, sum); \
        return;
    switch ((p - at) / LANES) {
        WIDTH(1)
        WIDTH(2)
        WIDTH(3)
        WIDTH(4)
        WIDTH(5)
        WIDTH(6)
        WIDTH(7)
        WIDTH(8)
    default: /* shorter than a register */
        for (size_t r = 0; r < rows; r++)
            for (size_t k = 0; k < p; k++)
                sum[k] += (int32_t)((REAL)a[r] * x[r * p + k]);
    }
#undef WIDTH
}

/* What lies beyond +-top, NaN included, is brought to the border. */
INLINE VEC NAME(within)(VEC v, VEC top)
{
    BITS below = v < top;
    v = (VEC)(((BITS)v & below) | ((BITS)top & ~below));
    BITS above = v > -top;
    return (VEC)(((BITS)v & above) | ((BITS)(-top) & ~above));
}

/* row = a x in whole steps, rounded towards zero and no larger than `limit` (below 2^24) each;
 * returns no less than the sum of sizes (l1) or squares. Sums of whole numbers in REAL are off by
 * half an ulp an addition, which the factor at the end more than covers. */
static double NAME(to_grid)(size_t p, double a, int32_t limit, bool l1, const void *xv,
                            int32_t *row)
{
    const REAL *x = xv;
    const VEC zero = {0}, top = zero + (REAL)limit, by = zero + (REAL)a;
    VEC sum = {0};
    double all = 0;
    size_t k = 0;
    for (; k + LANES <= p; k += LANES) {
        const INTS whole = __builtin_convertvector(NAME(within)(LOAD(x + k) * by, top), INTS);
        const VEC size = __builtin_convertvector(whole, VEC);
        STORE_INTS(row + k, whole);
        BITS negative = size < zero;
        const VEC sign = (VEC)(((BITS)(zero - 1) & negative) | ((BITS)(zero + 1) & ~negative));
        sum += size * (l1 ? sign : size);
    }
    for (; k < p; k++) {
        double t = (double)((REAL)a * x[k]);
        t = t < (double)limit ? t : (double)limit;
        t = t > -(double)limit ? t : -(double)limit;
        row[k] = (int32_t)t;
        all += l1 ? fabs((double)row[k]) : (double)row[k] * (double)row[k];
    }
    const VEC4 four = NAME(sum_to_4)(sum);
    all += (double)(four[0] + four[1] + four[2] + four[3]);
    const size_t additions = p / LANES + 16;
    return all * (1 + (double)additions * (sizeof(REAL) == 4 ? 0x1p-23 : 0x1p-52));
}

static void NAME(from_grid)(size_t n, double scale, const int64_t *steps, void *outv)
{
    REAL *out = outv;
    for (size_t k = 0; k < n; k++)
        out[k] = (REAL)((double)steps[k] * scale);
}
