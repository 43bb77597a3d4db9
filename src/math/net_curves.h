/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exponentials and the curves between layers, for net_kernels_all.h. What a curve does to the last
 * numbers of an array, fewer than a vector, is done in a vector aside: the same operations, so that
 * a number's value does not depend on where it stands.
 */

/*
 * exp(t) = 2^n exp(r), r = t - n ln 2 in [-ln2/2, ln2/2], degree-6 polynomial: relative error below
 * 3e-7 for t in [-87, 87] (tests/unit/net_kernels_test.c); beyond, t is taken for the end of that
 * range.
 */
INLINE vec exponential(vec t)
{
    const vec top = (vec){0} + 87.0f;
    t = choose(t > top, top, t);
    t = choose(t < -top, -top, t);
    vec shifted = t * 1.44269504f + 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
    vec n = shifted - 12582912.0f;
    vec r = t - n * 0.693359375f;
    r = r - n * -2.12194440e-4f;
    vec q = r * 1.3888889e-3f + 8.3333333e-3f;
    q = q * r + 4.1666667e-2f;
    q = q * r + 1.6666667e-1f;
    q = q * r + 0.5f;
    q = q * r + 1.0f;
    q = q * r + 1.0f;
    ivec power = (__builtin_convertvector(n, ivec) + 127) << 23;
    return q * (vec)power;
}

static float exponentials(size_t n, float most, float *x)
{
    float all = 0;
    for (size_t k = 0; k < n; k += LANES) {
        const size_t count = n - k < LANES ? n - k : LANES;
        float part[LANES] = {0};
        memcpy(part, x + k, count * sizeof *x);
        vec e = exponential(LOAD(part) - most);
        memcpy(x + k, &e, count * sizeof *x);
        for (size_t l = 0; l < count; l++)
            all += x[k + l];
    }
    return all;
}

/* Value and slope of a curve at a vector of points. */
typedef struct point {
    vec value, slope;
} point;

INLINE point relu_at(vec x)
{
    const ivec up = x > (vec){0};
    /* "0 unless positive" would make 0 of NaN, and hide it */
    return (point){choose(x <= (vec){0}, (vec){0}, x), choose(up, (vec){0} + 1.0f, (vec){0})};
}

/* tanh x = 1 - 2 / (exp(2x) + 1): absolute error below 3e-7. */
INLINE point tanh_at(vec x)
{
    const vec y = 1.0f - 2.0f / (exponential(x + x) + 1.0f);
    return (point){y, 1.0f - y * y};
}

/*
 * mish x = x tanh(log(1 + e)), e = exp(x). tanh(log u) = (u^2 - 1) / (u^2 + 1), so with
 * w = e (e + 2) = (1 + e)^2 - 1 it is t = w / (w + 2), and its slope 1 - t^2 times that of
 * log(1 + e) is 4 e (1 + e) / (w + 2)^2: one exponential and one division. From x = 20 on t is 1
 * in single precision, and e^2 would overflow later on.
 */
INLINE point mish_at(vec x)
{
    const vec far = (vec){0} + 20.0f;
    const vec e = exponential(choose(x < far, x, far)), w = e * (e + 2.0f);
    const vec inverse = 1.0f / (w + 2.0f), t = w * inverse;
    return (point){x * t, t + x * (4.0f * e * (1.0f + e)) * (inverse * inverse)};
}

#define CURVE(name, at)                                   \
    static void name(size_t n, float *x, float *y)        \
    {                                                     \
        size_t k = 0;                                     \
        for (; k + LANES <= n; k += LANES) {              \
            const point p = at(LOAD(x + k));              \
            STORE(y + k, p.value);                        \
            STORE(x + k, p.slope);                        \
        }                                                 \
        if (k < n) {                                      \
            float part[LANES] = {0};                      \
            memcpy(part, x + k, (n - k) * sizeof *x);     \
            const point p = at(LOAD(part));               \
            memcpy(y + k, &p.value, (n - k) * sizeof *y); \
            memcpy(x + k, &p.slope, (n - k) * sizeof *x); \
        }                                                 \
    }
CURVE(relu, relu_at)
CURVE(hyperbolic, tanh_at)
CURVE(mish, mish_at)
#undef CURVE

static void times(size_t n, float *x, const float *y)
{
    for (size_t k = 0; k < n; k++)
        x[k] *= y[k];
}
