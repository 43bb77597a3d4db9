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
 * 25 GB/s that is 0.9 us, while the arithmetic here is about 0.4 us on one AVX-512 core.
 * So rows are taken in tiles that stay in the first-level cache between dots and
 * accumulate: the second reading costs no memory traffic.
 */
typedef REAL NAME(vec) __attribute__((vector_size(sizeof(REAL) * LANES)));
typedef REAL NAME(load)
    __attribute__((vector_size(sizeof(REAL) * LANES), aligned(sizeof(REAL)), may_alias));
typedef REAL NAME(vec8) __attribute__((vector_size(sizeof(REAL) * 8)));
typedef REAL NAME(vec4) __attribute__((vector_size(sizeof(REAL) * 4)));
typedef REAL NAME(vec2) __attribute__((vector_size(sizeof(REAL) * 2)));
#define VEC NAME(vec)
#define LOAD(p) ((VEC)(*(const NAME(load) *)(const void *)(p)))
#define STORE(p, v) (*(NAME(load) *)(void *)(p) = (v))
#define BLOCK 8 /* vectors of a column block held in registers */

#define HALVE(type, from, to)       \
    type to;                        \
    do {                            \
        union {                     \
            __typeof__(from) all;   \
            type half[2];           \
        } u = {from};               \
        to = u.half[0] + u.half[1]; \
    } while (0)

/* Halve until two numbers are left: compilers turn each step into one extract and one add. */
static inline REAL NAME(sum)(VEC v)
{
#if LANES >= 16
    HALVE(NAME(vec8), v, by8);
#elif LANES >= 8
    NAME(vec8) by8 = v;
#endif
#if LANES >= 8
    HALVE(NAME(vec4), by8, by4);
#elif LANES >= 4
    NAME(vec4) by4 = v;
#endif
#if LANES >= 4
    HALVE(NAME(vec2), by4, by2);
#else
    NAME(vec2) by2 = v;
#endif
    return by2[0] + by2[1];
}
#undef HALVE

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

/* Four rows share each load of theta; as many bytes of what comes next are asked for. */
static void NAME(dots4)(size_t p, const REAL *x, const REAL *theta, VEC tail, const char *ahead,
                        REAL *z)
{
    VEC a = {0}, b = {0}, c = {0}, d = {0};
    const REAL *x1 = x + p, *x2 = x1 + p, *x3 = x2 + p;
    size_t k = 0;
    for (; k + LANES <= p; k += LANES) {
        VEC t = LOAD(theta + k);
        for (size_t line = 0; line < 4 * sizeof(VEC); line += 64)
            __builtin_prefetch(ahead + 4 * k * sizeof(REAL) + line);
        a += LOAD(x + k) * t;
        b += LOAD(x1 + k) * t;
        c += LOAD(x2 + k) * t;
        d += LOAD(x3 + k) * t;
    }
    if (k < p) {
        k = p - LANES;
        a += LOAD(x + k) * tail;
        b += LOAD(x1 + k) * tail;
        c += LOAD(x2 + k) * tail;
        d += LOAD(x3 + k) * tail;
    }
    z[0] = NAME(sum)(a);
    z[1] = NAME(sum)(b);
    z[2] = NAME(sum)(c);
    z[3] = NAME(sum)(d);
}

static REAL NAME(dots1)(size_t p, const REAL *x, const REAL *theta, VEC tail)
{
    VEC a = {0};
    size_t k = 0;
    for (; k + LANES <= p; k += LANES)
        a += LOAD(x + k) * LOAD(theta + k);
    if (k < p)
        a += LOAD(x + p - LANES) * tail;
    return NAME(sum)(a);
}

/* The last LANES numbers of theta, those already covered by full vectors set to zero. */
static VEC NAME(masked_tail)(size_t p, const REAL *theta)
{
    REAL part[LANES];
    size_t covered = LANES - p % LANES;
    for (size_t k = 0; k < LANES; k++)
        part[k] = k < covered ? 0 : theta[p - LANES + k];
    return LOAD(part);
}

static void NAME(dots)(size_t rows, size_t p, const void *xv, const void *thetav, const void *ahead,
                       void *zv)
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
    for (; r + 4 <= rows; r += 4)
        NAME(dots4)(p, x + r * p, theta, tail, (const char *)ahead + r * p * sizeof(REAL), z + r);
    for (; r < rows; r++)
        z[r] = NAME(dots1)(p, x + r * p, theta, tail);
}

/* BLOCK vectors of g stay in registers while all rows pass by. */
static void NAME(accumulate_block)(size_t rows, size_t p, const REAL *x, const REAL *coef, REAL *g)
{
    VEC acc[BLOCK];
    for (int k = 0; k < BLOCK; k++)
        acc[k] = LOAD(g + k * LANES);
    for (size_t r = 0; r < rows; r++, x += p)
        for (int k = 0; k < BLOCK; k++)
            acc[k] += coef[r] * LOAD(x + k * LANES);
    for (int k = 0; k < BLOCK; k++)
        STORE(g + k * LANES, acc[k]);
}

#define NARROW(count)                                                                            \
    static void NAME(accumulate_##count)(size_t rows, size_t p, const REAL *x, const REAL *coef, \
                                         REAL *g)                                                \
    {                                                                                            \
        VEC acc[count];                                                                          \
        for (int k = 0; k < count; k++)                                                          \
            acc[k] = LOAD(g + k * LANES);                                                        \
        for (size_t r = 0; r < rows; r++, x += p)                                                \
            for (int k = 0; k < count; k++)                                                      \
                acc[k] += coef[r] * LOAD(x + k * LANES);                                         \
        for (int k = 0; k < count; k++)                                                          \
            STORE(g + k * LANES, acc[k]);                                                        \
    }
NARROW(1)
NARROW(2)
NARROW(4)
#undef NARROW

static void NAME(accumulate)(size_t rows, size_t p, const void *xv, const void *coefv, void *gv)
{
    const REAL *x = xv, *coef = coefv;
    REAL *g = gv;
    size_t k = 0;
    for (; k + BLOCK * LANES <= p; k += BLOCK * LANES)
        NAME(accumulate_block)(rows, p, x + k, coef, g + k);
    if (k + 4 * LANES <= p) {
        NAME(accumulate_4)(rows, p, x + k, coef, g + k);
        k += 4 * LANES;
    }
    if (k + 2 * LANES <= p) {
        NAME(accumulate_2)(rows, p, x + k, coef, g + k);
        k += 2 * LANES;
    }
    if (k + LANES <= p) {
        NAME(accumulate_1)(rows, p, x + k, coef, g + k);
        k += LANES;
    }
    if (k == p)
        return;
    if (p >= LANES) { /* overlap: work on a copy, keep only the lanes not done yet */
        REAL last[LANES];
        NAME(accumulate_1)(rows, p, x + p - LANES, coef, (memset(last, 0, sizeof last), last));
        for (; k < p; k++)
            g[k] += last[LANES - (p - k)];
        return;
    }
    for (size_t r = 0; r < rows; r++)
        for (k = 0; k < p; k++)
            g[k] += coef[r] * x[r * p + k];
}

static void NAME(squared)(size_t rows, const void *zv, const void *yv, void *coefv)
{
    const REAL *z = zv, *y = yv;
    REAL *coef = coefv;
    for (size_t r = 0; r < rows; r++)
        coef[r] = 2 * (z[r] - y[r]);
}

#undef VEC
#undef LOAD
#undef STORE
#undef BLOCK
