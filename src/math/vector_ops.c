/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic on public vectors: segment by segment through the kernels of its scalar.
 * Integer segments are copied, zeroed and compared; scaling and adding are for reals.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/vector_internal.h"
#include "math/kernels.h"

static void check_writable(const tacit_vector *v)
{
    assert(!(v->flags & TACIT_VECTOR_FROZEN));
    (void)v;
}

void tacit_public_zero(tacit_public *out)
{
    tacit_vector *v = tacit_vector_of_public(out);
    check_writable(v);
    memset(v->data, 0, v->shape->bytes);
}

void tacit_public_copy(tacit_public *out, const tacit_public *x)
{
    tacit_vector *v = tacit_vector_of_public(out), *from = tacit_vector_of_public(x);
    check_writable(v);
    assert(v->shape->bytes == from->shape->bytes);
    memcpy(v->data, from->data, v->shape->bytes);
}

void tacit_public_copy_segment(tacit_public *out, uint32_t segment, const tacit_public *x,
                               uint32_t from)
{
    tacit_vector *v = tacit_vector_of_public(out), *source = tacit_vector_of_public(x);
    const tacit_segment *there = &source->shape->segment[from];
    check_writable(v);
    assert(v->shape->segment[segment].count == there->count &&
           v->shape->segment[segment].scalar == there->scalar);
    memcpy(tacit_vector_segment(v, segment), tacit_vector_segment(source, from),
           there->count * tacit_scalar_size(there->scalar));
}

void tacit_public_scale(tacit_public *x, double a)
{
    tacit_vector *v = tacit_vector_of_public(x);
    check_writable(v);
    for (uint32_t s = 0; s < v->shape->segments; s++) {
        const tacit_segment *segment = &v->shape->segment[s];
        assert(segment->scalar != TACIT_I64);
        tacit_kernels_for(segment->scalar)->scale(segment->count, a, tacit_vector_segment(v, s));
    }
}

void tacit_public_axpy(tacit_public *y, double a, const tacit_public *x)
{
    tacit_vector *v = tacit_vector_of_public(y), *from = tacit_vector_of_public(x);
    check_writable(v);
    assert(v->shape->bytes == from->shape->bytes);
    for (uint32_t s = 0; s < v->shape->segments; s++) {
        const tacit_segment *segment = &v->shape->segment[s];
        assert(segment->scalar != TACIT_I64);
        tacit_kernels_for(segment->scalar)
            ->axpy(segment->count, a, tacit_vector_segment(from, s), tacit_vector_segment(v, s));
    }
}

/* Vectors a call combines at once; more are added in further passes. */
#define AT_ONCE 64

/* Segment s of v = sum of segments from[k] of x[k]; `from` NULL: s of all. */
static void combine(tacit_vector *v, uint32_t s, size_t n, const double *coef,
                    const tacit_public *const *x, const uint32_t *from)
{
    const tacit_segment *segment = &v->shape->segment[s];
    assert(segment->scalar != TACIT_I64);
    const void *rows[AT_ONCE + 1];
    double scale[AT_ONCE + 1];
    size_t count = 0;
    for (size_t k = 0; k < n; k++) {
        if (x[k]) {
            scale[count] = coef[k];
            rows[count++] = tacit_vector_segment(tacit_vector_of_public(x[k]), from ? from[k] : s);
        }
        if (count == AT_ONCE && k + 1 < n) { /* go on from the partial sum */
            tacit_kernels_for(segment->scalar)
                ->combine(segment->count, count, scale, rows, tacit_vector_segment(v, s));
            rows[0] = tacit_vector_segment(v, s);
            scale[0] = 1;
            count = 1;
        }
    }
    tacit_kernels_for(segment->scalar)
        ->combine(segment->count, count, scale, rows, tacit_vector_segment(v, s));
}

void tacit_public_combine(tacit_public *out, size_t n, const double *coef,
                          const tacit_public *const *x)
{
    tacit_vector *v = tacit_vector_of_public(out);
    check_writable(v);
    for (uint32_t s = 0; s < v->shape->segments; s++)
        combine(v, s, n, coef, x, NULL);
}

void tacit_public_combine_segments(tacit_public *out, uint32_t segment, size_t n,
                                   const double *coef, const tacit_public *const *x,
                                   const uint32_t *from)
{
    tacit_vector *v = tacit_vector_of_public(out);
    check_writable(v);
    combine(v, segment, n, coef, x, from);
}

#define ADAM(name, real, root)                                                               \
    static void name(size_t n, real *x, real *first, real *second, const real *g,            \
                     const tacit_adam *how)                                                  \
    {                                                                                        \
        const double t = (double)how->step;                                                  \
        const real b1 = (real)how->beta1, b2 = (real)how->beta2, small = (real)how->epsilon; \
        const real rate = (real)(how->rate / (1 - pow(how->beta1, t)));                      \
        const real scale = (real)(1 / (1 - pow(how->beta2, t)));                             \
        for (size_t k = 0; k < n; k++) {                                                     \
            first[k] = b1 * first[k] + (1 - b1) * g[k];                                      \
            second[k] = b2 * second[k] + (1 - b2) * g[k] * g[k];                             \
            x[k] -= rate * first[k] / (root(scale * second[k]) + small);                     \
        }                                                                                    \
    }
ADAM(adam_floats, float, sqrtf)
ADAM(adam_doubles, double, sqrt)

void tacit_public_adam(tacit_public *x, tacit_public *first, tacit_public *second,
                       const tacit_public *gradient, const tacit_adam *how)
{
    tacit_vector *v = tacit_vector_of_public(x), *m = tacit_vector_of_public(first);
    tacit_vector *w = tacit_vector_of_public(second), *g = tacit_vector_of_public(gradient);
    check_writable(v);
    check_writable(m);
    check_writable(w);
    for (uint32_t s = 0; s < v->shape->segments; s++) {
        const tacit_segment *segment = &v->shape->segment[s];
        assert(segment->scalar != TACIT_I64);
        if (segment->scalar == TACIT_F32)
            adam_floats(segment->count, tacit_vector_segment(v, s), tacit_vector_segment(m, s),
                        tacit_vector_segment(w, s), tacit_vector_segment(g, s), how);
        else
            adam_doubles(segment->count, tacit_vector_segment(v, s), tacit_vector_segment(m, s),
                         tacit_vector_segment(w, s), tacit_vector_segment(g, s), how);
    }
}

double tacit_public_distance2(const tacit_public *x, const tacit_public *y)
{
    const tacit_shape *shape = tacit_public_shape(x);
    double sum = 0;
    for (uint32_t s = 0; s < shape->segments; s++) {
        const tacit_segment *segment = &shape->segment[s];
        assert(segment->scalar != TACIT_I64);
        sum += tacit_kernels_for(segment->scalar)
                   ->distance2(segment->count, tacit_vector_segment(tacit_vector_of_public(x), s),
                               tacit_vector_segment(tacit_vector_of_public(y), s));
    }
    return sum;
}
