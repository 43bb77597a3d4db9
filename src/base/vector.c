/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vector_internal.h"

#include <assert.h>
#include <sodium.h>

/* No vector is larger than this; a bigger one is a mistake, not a wish. */
#define MAX_VECTOR_BYTES ((size_t)1 << 34)

/* A vector's own length is in memory that has not arrived yet: ask for a usual one. */
#define TACIT_EXPECT_BYTES 448

tacit_status tacit_shape_init(tacit_shape *shape, const tacit_segment *segments, size_t count,
                              tacit_error *err)
{
    if (count == 0 || count > TACIT_MAX_SEGMENTS)
        return tacit_fail(err, TACIT_EINPUT, "a vector has 1 to %d segments, not %zu",
                          TACIT_MAX_SEGMENTS, count);
    tacit_shape out = {.segments = (uint32_t)count};
    for (size_t k = 0; k < count; k++) {
        size_t bytes = 0;
        if (!tacit_mul_size(segments[k].count, tacit_scalar_size(segments[k].scalar), &bytes) ||
            bytes > MAX_VECTOR_BYTES - out.bytes)
            return tacit_fail(err, TACIT_EINPUT, "segment \"%s\" of %zu numbers is too large",
                              segments[k].name, segments[k].count);
        out.segment[k] = segments[k];
        out.offset[k] = out.bytes;
        out.bytes += (bytes + 7) & ~(size_t)7; /* every segment starts aligned */
    }
    *shape = out;
    return TACIT_OK;
}

double tacit_vector_get(const tacit_vector *v, uint32_t segment, size_t index)
{
    const unsigned char *at = v->data + v->shape->offset[segment];
    switch (v->shape->segment[segment].scalar) {
    case TACIT_F32:
        return ((const float *)(const void *)at)[index];
    case TACIT_F64:
        return ((const double *)(const void *)at)[index];
    default:
        return (double)((const int64_t *)(const void *)at)[index];
    }
}

void tacit_vector_set(tacit_vector *v, uint32_t segment, size_t index, double value)
{
    assert(!(v->flags & TACIT_VECTOR_FROZEN));
    void *at = tacit_vector_segment(v, segment);
    switch (v->shape->segment[segment].scalar) {
    case TACIT_F32:
        ((float *)at)[index] = (float)value;
        break;
    case TACIT_F64:
        ((double *)at)[index] = value;
        break;
    default:
        ((int64_t *)at)[index] = (int64_t)value;
    }
}

const tacit_shape *tacit_public_shape(const tacit_public *v)
{
    return tacit_vector_of_public(v)->shape;
}

size_t tacit_public_count(const tacit_public *v, uint32_t segment)
{
    return tacit_vector_of_public(v)->shape->segment[segment].count;
}

double tacit_public_get(const tacit_public *v, uint32_t segment, size_t index)
{
    return tacit_vector_get(tacit_vector_of_public(v), segment, index);
}

void tacit_public_set(tacit_public *v, uint32_t segment, size_t index, double value)
{
    tacit_vector_set(tacit_vector_of_public(v), segment, index, value);
}

int64_t tacit_public_get_int(const tacit_public *v, uint32_t segment, size_t index)
{
    const tacit_vector *vector = tacit_vector_of_public(v);
    assert(vector->shape->segment[segment].scalar == TACIT_I64);
    return ((const int64_t *)(const void *)(vector->data + vector->shape->offset[segment]))[index];
}

const int64_t *tacit_public_ints(const tacit_public *v, uint32_t segment)
{
    const tacit_vector *vector = tacit_vector_of_public(v);
    assert(vector->shape->segment[segment].scalar == TACIT_I64);
    return (const int64_t *)(const void *)(vector->data + vector->shape->offset[segment]);
}

void tacit_public_gist(tacit_gist *out, const tacit_public *v, uint32_t segment)
{
    const int64_t *number = tacit_public_ints(v, segment);
    const size_t count = tacit_public_count(v, segment);
    out->ones = 0;
    for (size_t k = 0; k < count; k++)
        out->ones += (uint64_t)__builtin_popcountll((uint64_t)number[k]);
    crypto_generichash(out->hash, sizeof out->hash, (const unsigned char *)number,
                       count * sizeof *number, NULL, 0);
}

void tacit_public_set_int(tacit_public *v, uint32_t segment, size_t index, int64_t value)
{
    tacit_vector *vector = tacit_vector_of_public(v);
    assert(vector->shape->segment[segment].scalar == TACIT_I64);
    assert(!(vector->flags & TACIT_VECTOR_FROZEN));
    ((int64_t *)tacit_vector_segment(vector, segment))[index] = value;
}

const tacit_secret *tacit_public_as_secret(const tacit_public *v)
{
    return v ? tacit_vector_secret(tacit_vector_of_public(v)) : NULL;
}

void tacit_public_expect(const tacit_public *v)
{
    const char *line = (const char *)v;
    const char *end = v ? line + sizeof(tacit_vector) + TACIT_EXPECT_BYTES : line;
    for (; line < end; line += 64)
        __builtin_prefetch(line, 0, 2);
}
