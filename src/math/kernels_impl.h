/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Included twice by each kernels_*.c, with REAL, LANES (numbers a vector register holds)
 * and NAME(x) defined. No include guard on purpose.
 *
 * Rows are not padded (padding 100 floats to 112 would cost 12 % of the memory stream), so
 * the last, partial vector of a row is loaded overlapping the one before it; lanes counted
 * twice are masked out by zeros in theta (dots) or never stored (accumulate).
 *
 * Roofline: a tick at p = 100, m = 55 in f32 reads 22 kB of rows once from memory; at
 * 25 GB/s that is 0.9 us, while the arithmetic is 0.3 us on one AVX-512 core. So the work is
 * to keep memory busy: see gradient() below and bench/cd.c.
 */
typedef REAL NAME(vec) __attribute__((vector_size(sizeof(REAL) * LANES)));
typedef REAL NAME(load)
    __attribute__((vector_size(sizeof(REAL) * LANES), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(vec8) __attribute__((vector_size(sizeof(REAL) * 8)));
typedef REAL NAME(vec4) __attribute__((vector_size(sizeof(REAL) * 4)));
typedef INDEX NAME(index) __attribute__((vector_size(sizeof(REAL) * 4)));
typedef NAME(vec4) NAME(slope)(NAME(vec4) z, NAME(vec4) y); /* d loss / d z of four records */
typedef INDEX NAME(bits) __attribute__((vector_size(sizeof(REAL) * LANES)));
#define VEC NAME(vec)
#define BITS NAME(bits)
#define VEC4 NAME(vec4)
#define INDEX4 NAME(index)
#define SLOPE NAME(slope)
#define GROUP NAME(group)
#define INLINE static inline __attribute__((always_inline))
#define LOAD(p) ((VEC)(*(const NAME(load) *)(const void *)(p)))
#define STORE(p, v) (*(NAME(load) *)(void *)(p) = (v))

#define HALVE(type, from, to)       \
    type to;                        \
    do {                            \
        union {                     \
            __typeof__(from) all;   \
            type half[2];           \
        } u = {from};               \
        to = u.half[0] + u.half[1]; \
    } while (0)

/* Add halves until four numbers are left: one extract and one add a step. */
static inline VEC4 NAME(sum_to_4)(VEC v)
{
#if LANES == 2
    return (VEC4){v[0], v[1], 0, 0};
#elif LANES == 4
    return v;
#else
#if LANES == 16
    HALVE(NAME(vec8), v, by8);
#else
    NAME(vec8) by8 = v;
#endif
    HALVE(VEC4, by8, by4);
    return by4;
#endif
}
#undef HALVE

/* The four totals of four vectors, without leaving the registers. */
static inline VEC4 NAME(totals)(VEC4 a, VEC4 b, VEC4 c, VEC4 d)
{
    VEC4 ab = __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
    VEC4 cd = __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) +
           __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

static void NAME(axpy)(size_t n, double a, const void *xv, void *yv)
{
    const REAL *x = xv;
    REAL *y = yv, s = (REAL)a;
    for (size_t k = 0; k < n; k++)
        y[k] += s * x[k];
}

static void NAME(scale)(size_t n, double a, void *xv)
{
    REAL *x = xv, s = (REAL)a;
    for (size_t k = 0; k < n; k++)
        x[k] *= s;
}

/* Column blocks outside, vectors inside: every x[k] is read once, out is written once. */
static void NAME(combine)(size_t n, size_t k, const double *coef, const void *const *x, void *outv)
{
    REAL *out = outv;
    size_t at = 0;
    for (; at + LANES * 4 <= n; at += LANES * 4) {
        VEC a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
        for (size_t j = 0; j < k; j++) {
            const REAL *row = (const REAL *)x[j] + at;
            REAL c = (REAL)coef[j];
            a0 += c * LOAD(row);
            a1 += c * LOAD(row + LANES);
            a2 += c * LOAD(row + 2 * LANES);
            a3 += c * LOAD(row + 3 * LANES);
        }
        STORE(out + at, a0);
        STORE(out + at + LANES, a1);
        STORE(out + at + 2 * LANES, a2);
        STORE(out + at + 3 * LANES, a3);
    }
    for (; at + LANES <= n; at += LANES) {
        VEC acc = {0};
        for (size_t j = 0; j < k; j++)
            acc += (REAL)coef[j] * LOAD((const REAL *)x[j] + at);
        STORE(out + at, acc);
    }
    for (; at < n; at++) {
        REAL acc = 0;
        for (size_t j = 0; j < k; j++)
            acc += (REAL)coef[j] * ((const REAL *)x[j])[at];
        out[at] = acc;
    }
}

static double NAME(distance2)(size_t n, const void *xv, const void *yv)
{
    const REAL *x = xv, *y = yv;
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        double d = (double)x[k] - (double)y[k];
        sum += d * d;
    }
    return sum;
}

static REAL NAME(dot_short)(size_t p, const REAL *x, const REAL *theta)
{
    REAL sum = 0;
    for (size_t k = 0; k < p; k++)
        sum += x[k] * theta[k];
    return sum;
}

/* One row after the other, though four at a time would save loads of theta: rows come from
 * memory, and the caches follow one forward stream better than four (measured: 2.7 against
 * 1.2 us a gradient). As many bytes from `ahead` on are asked for. */
static inline VEC4 NAME(dot)(size_t p, const REAL *x, const REAL *theta, VEC tail,
                             const char *ahead)
{
    VEC a = {0}, b = {0};
    size_t k = 0;
    for (; k + 2 * LANES <= p; k += 2 * LANES) {
        for (size_t line = 0; line < 2 * sizeof(VEC); line += 64)
            __builtin_prefetch(ahead + k * sizeof(REAL) + line, 0, 2);
        a += LOAD(x + k) * LOAD(theta + k);
        b += LOAD(x + k + LANES) * LOAD(theta + k + LANES);
    }
    if (k + LANES <= p) {
        a += LOAD(x + k) * LOAD(theta + k);
        k += LANES;
    }
    if (k < p) {
        __builtin_prefetch(ahead + k * sizeof(REAL), 0, 2);
        b += LOAD(x + p - LANES) * tail;
    }
    return NAME(sum_to_4)(a + b); /* its four numbers still have to be added */
}

/* All bits set in the lanes of a row's last LANES numbers that full vectors do not cover. */
INLINE BITS NAME(tail_lanes)(size_t p)
{
    static const INDEX order[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    BITS lane;
    memcpy(&lane, order, sizeof lane);
    return lane >= (INDEX)(LANES - p % LANES);
}

/* The last LANES numbers of theta, those already covered by full vectors set to zero. */
INLINE VEC NAME(masked_tail)(size_t p, const REAL *theta)
{
    return (VEC)((BITS)LOAD(theta + p - LANES) & NAME(tail_lanes)(p));
}

static void NAME(dots)(size_t rows, size_t p, const void *xv, const void *thetav, void *zv)
{
    const REAL *x = xv, *theta = thetav;
    REAL *z = zv;
    size_t r = 0;
    if (p < LANES) {
        for (; r < rows; r++)
            z[r] = NAME(dot_short)(p, x + r * p, theta);
        return;
    }
    VEC tail = NAME(masked_tail)(p, theta);
    for (; r < rows; r++) {
        VEC4 part = NAME(dot)(p, x + r * p, theta, tail, (const char *)(x + r * p));
        z[r] = (part[0] + part[2]) + (part[1] + part[3]);
    }
}

/* g += sum of coef[r] x[r] over four rows, but for the last, partial vector of a row: what
 * belongs there is returned, overlapping the one before it, so that no store is read back
 * half. fold() puts it in its place once, at the end. */
static inline VEC NAME(accumulate4)(size_t p, const REAL *x, VEC4 coef, REAL *g)
{
    const REAL *x1 = x + p, *x2 = x1 + p, *x3 = x2 + p;
    REAL c0 = coef[0], c1 = coef[1], c2 = coef[2], c3 = coef[3];
    for (size_t k = 0; k + LANES <= p; k += LANES)
        STORE(g + k, LOAD(g + k) + c0 * LOAD(x + k) + c1 * LOAD(x1 + k) + c2 * LOAD(x2 + k) +
                         c3 * LOAD(x3 + k));
    size_t k = p - LANES;
    return c0 * LOAD(x + k) + c1 * LOAD(x1 + k) + c2 * LOAD(x2 + k) + c3 * LOAD(x3 + k);
}

static inline void NAME(fold)(size_t p, VEC last, REAL *g)
{
    REAL part[LANES];
    STORE(part, last);
    for (size_t k = p - p % LANES; k < p; k++)
        g[k] += part[k + LANES - p];
}

static void NAME(accumulate)(size_t rows, size_t p, const void *xv, const void *coefv, void *gv)
{
    const REAL *x = xv, *coef = coefv;
    size_t r = 0;
    if (p >= LANES) {
        VEC last = {0};
        for (; r + 4 <= rows; r += 4)
            last += NAME(accumulate4)(p, x + r * p,
                                      (VEC4){coef[r], coef[r + 1], coef[r + 2], coef[r + 3]}, gv);
        NAME(fold)(p, last, gv);
    }
    for (; r < rows; r++)
        NAME(axpy)(p, (double)coef[r], x + r * p, gv);
}

#include "math/kernels_grid.h"

static inline VEC4 NAME(squared4)(VEC4 z, VEC4 y)
{
    return 2 * (z - y);
}

/* Slopes of any number of records. */
static inline void NAME(slopes)(SLOPE *slope, size_t rows, const REAL *z, const REAL *y, REAL *coef)
{
    size_t r = 0;
    for (; r + 4 <= rows; r += 4) {
        VEC4 z4, y4;
        memcpy(&z4, z + r, sizeof z4);
        memcpy(&y4, y + r, sizeof y4);
        z4 = slope(z4, y4);
        memcpy(coef + r, &z4, sizeof z4);
    }
    if (r < rows) {
        VEC4 z4 = {0}, y4 = {0};
        memcpy(&z4, z + r, (rows - r) * sizeof *z);
        memcpy(&y4, y + r, (rows - r) * sizeof *y);
        z4 = slope(z4, y4);
        memcpy(coef + r, &z4, (rows - r) * sizeof *coef);
    }
}

/* Fewer than four rows, or rows shorter than a register. */
static void NAME(gradient_short)(SLOPE *slope, size_t rows, size_t p, const REAL *x, const REAL *y,
                                 const REAL *theta, REAL *g)
{
    for (size_t r = 0; r < rows; r++) {
        REAL z = NAME(dot_short)(p, x + r * p, theta), c;
        NAME(slopes)(slope, 1, &z, y + r, &c);
        NAME(axpy)(p, (double)c, x + r * p, g);
    }
}

/* Where the four rows of a group start, what to ask for meanwhile, and which rows an earlier
 * group has counted already: the last group steps back to be full. */
typedef struct GROUP {
    const REAL *x, *y;
    const char *ahead;
    size_t again;
} GROUP;

static inline GROUP NAME(group_at)(size_t r, size_t rows, size_t p, const REAL *x, const REAL *y,
                                   const char *next)
{
    size_t again = rows - r < 4 ? 4 - (rows - r) : 0;
    size_t soon = r * p * sizeof(REAL) + TACIT_ROWS_AHEAD, bytes = rows * p * sizeof(REAL);
    const char *ahead = soon < bytes ? (const char *)x + soon : next + (soon - bytes);
    return (GROUP){x + (r - again) * p, y + r - again, ahead, again};
}

static inline VEC4 NAME(group_slopes)(SLOPE *slope, const GROUP *at, VEC4 z)
{
    VEC4 y;
    memcpy(&y, at->y, sizeof y);
    VEC4 coef = slope(z, y);
    INDEX4 fresh = (INDEX4){0, 1, 2, 3} >= (INDEX)at->again; /* all bits set, or none */
    return (VEC4)((INDEX4)coef & fresh);
}

/*
 * All of it in one pass over memory: margins of four rows, their slopes, their share of g.
 * Slopes take long (an exponential, a division) but few instructions, so the margins of the
 * next group stand between a group's slopes and their use. Meanwhile the second-level cache is
 * asked for what lies AHEAD bytes further on; past the end that is `next`.
 */
static inline VEC4 NAME(margins_wide)(size_t p, const GROUP *at, const REAL *theta, VEC tail)
{
    size_t row = p * sizeof(REAL);
    return NAME(totals)(NAME(dot)(p, at->x, theta, tail, at->ahead),
                        NAME(dot)(p, at->x + p, theta, tail, at->ahead + row),
                        NAME(dot)(p, at->x + 2 * p, theta, tail, at->ahead + 2 * row),
                        NAME(dot)(p, at->x + 3 * p, theta, tail, at->ahead + 3 * row));
}

static inline void NAME(gradient_wide)(SLOPE *slope, size_t rows, size_t p, const REAL *x,
                                       const REAL *y, const REAL *theta, const char *next, REAL *g)
{
    VEC tail = NAME(masked_tail)(p, theta), last = {0};
    GROUP at = NAME(group_at)(0, rows, p, x, y, next);
    VEC4 c = NAME(group_slopes)(slope, &at, NAME(margins_wide)(p, &at, theta, tail));
    for (size_t r = 4; r < rows; r += 4) {
        GROUP then = NAME(group_at)(r, rows, p, x, y, next);
        VEC4 z = NAME(margins_wide)(p, &then, theta, tail);
        last += NAME(accumulate4)(p, at.x, c, g);
        c = NAME(group_slopes)(slope, &then, z);
        at = then;
    }
    last += NAME(accumulate4)(p, at.x, c, g);
    NAME(fold)(p, last, g);
}

/* One row's margin with theta in registers: `full` vectors and a masked tail. */
INLINE VEC4 NAME(dot_narrow)(size_t full, size_t p, const REAL *x, const VEC *theta,
                             const char *ahead)
{
    for (size_t line = 0; line < (full + 1) * sizeof(VEC); line += 64)
        __builtin_prefetch(ahead + line, 0, 2);
    VEC a = LOAD(x + p - LANES) * theta[full], b = {0};
    for (size_t k = 0; k + 2 <= full; k += 2) {
        a += LOAD(x + k * LANES) * theta[k];
        b += LOAD(x + (k + 1) * LANES) * theta[k + 1];
    }
    if (full % 2)
        b += LOAD(x + (full - 1) * LANES) * theta[full - 1];
    return NAME(sum_to_4)(a + b);
}

INLINE VEC4 NAME(margins_narrow)(size_t full, size_t p, const GROUP *at, const VEC *theta)
{
    size_t row = p * sizeof(REAL);
    return NAME(totals)(NAME(dot_narrow)(full, p, at->x, theta, at->ahead),
                        NAME(dot_narrow)(full, p, at->x + p, theta, at->ahead + row),
                        NAME(dot_narrow)(full, p, at->x + 2 * p, theta, at->ahead + 2 * row),
                        NAME(dot_narrow)(full, p, at->x + 3 * p, theta, at->ahead + 3 * row));
}

INLINE void NAME(accumulate_narrow)(size_t full, size_t p, const REAL *x, VEC4 c, VEC *acc)
{
    for (int q = 0; q < 4; q++, x += p) {
        for (size_t k = 0; k < full; k++)
            acc[k] += c[q] * LOAD(x + k * LANES);
        acc[full] += c[q] * LOAD(x + p - LANES);
    }
}

/* The same for short rows: theta and g stay in registers from the first row to the last.
 * `full` is a constant where this is inlined. */
INLINE void NAME(gradient_narrow)(size_t full, SLOPE *slope, size_t rows, size_t p, const REAL *x,
                                  const REAL *y, const REAL *theta, const char *next, REAL *g)
{
    VEC t[NARROW + 1], acc[NARROW + 1];
    for (size_t k = 0; k < full; k++) {
        t[k] = LOAD(theta + k * LANES);
        acc[k] = LOAD(g + k * LANES);
    }
    t[full] = NAME(masked_tail)(p, theta);
    acc[full] = (VEC){0};
    GROUP at = NAME(group_at)(0, rows, p, x, y, next);
    VEC4 c = NAME(group_slopes)(slope, &at, NAME(margins_narrow)(full, p, &at, t));
    for (size_t r = 4; r < rows; r += 4) {
        GROUP then = NAME(group_at)(r, rows, p, x, y, next);
        VEC4 z = NAME(margins_narrow)(full, p, &then, t);
        NAME(accumulate_narrow)(full, p, at.x, c, acc);
        c = NAME(group_slopes)(slope, &then, z);
        at = then;
    }
    NAME(accumulate_narrow)(full, p, at.x, c, acc);
    for (size_t k = 0; k < full; k++)
        STORE(g + k * LANES, acc[k]);
    NAME(fold)(p, acc[full], g);
}

INLINE void NAME(gradient)(SLOPE *slope, size_t rows, size_t p, const REAL *x, const REAL *y,
                           const REAL *theta, const char *next, REAL *g)
{
    if (p < LANES || rows < 4) {
        NAME(gradient_short)(slope, rows, p, x, y, theta, g);
        return;
    }
#define FULL(n)                                                         \
    case n:                                                             \
        NAME(gradient_narrow)(n, slope, rows, p, x, y, theta, next, g); \
        return;
    switch (p / LANES) {
        FULL(1)
        SOME(FULL(2))
        FULL(3)
#if NARROW >= 7
        SOME(FULL(4))
        SOME(FULL(5))
        SOME(FULL(6))
        FULL(7)
#endif
    default:
        NAME(gradient_wide)(slope, rows, p, x, y, theta, next, g);
    }
#undef FULL
}

#include "math/kernels_pass.h"

#undef PROVABLE
#undef INTS
#undef LOAD_INTS
#undef STORE_INTS
#undef DOUBLES
#undef TRUTHS
#undef VEC
#undef BITS
#undef VEC4
#undef INDEX4
#undef SLOPE
#undef GROUP
#undef INLINE
#undef LOAD
#undef STORE
