/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Payloads: docs/wire.md, "The payload". Each segment is one of
 *
 *   raw      the numbers' own bits
 *   packed   whole steps of 2^exponent, counted from `minimum`, each in the `width` bits that the
 *            largest needs
 *
 * whichever is shorter. Released values lie on a grid whose step is a power of two; unless a factor
 * that is none was put on them, they travel in the bits that signal and noise have. The grid is
 * found by looking at the numbers, not told. Packing loses nothing, signs of zeros included (a
 * segment with -0.0 goes raw).
 *
 * Invariants. A packed segment is shorter than the raw one, or refused, so that a shape bounds the
 * bytes of a payload. Steps are at most 2^53 from zero, so that they, their products with a power
 * of two and both directions of conversion are exact; what a decoder cannot represent exactly it
 * refuses. Numbers are taken in blocks that stay in the first cache, floats as doubles.
 */
#include <assert.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/vector_internal.h"
#include "net/bits.h"
#include "net/wire.h"

enum { RAW = 0, PACKED = 1 };
#define PACKED_HEADER 12 /* coding, exponent (2), minimum (8), width */
#define MAX_WIDTH 63
#define MAX_STEPS (INT64_C(1) << 53) /* all whole numbers up to here are doubles */
#define BLOCK 256

/* One segment, wherever its numbers are. */
typedef struct piece {
    const char *name;
    tacit_scalar scalar;
    size_t count, raw; /* numbers, and the bytes they take raw */
    void *numbers;
} piece;

typedef struct packing {
    int exponent;
    int64_t minimum;
    unsigned width;
} packing;

static piece piece_of(tacit_vector *v, uint32_t k)
{
    const tacit_segment *s = &v->shape->segment[k];
    return (piece){s->name, s->scalar, s->count, s->count * tacit_scalar_size(s->scalar),
                   tacit_vector_segment(v, k)};
}

/* Bytes of a row of `count` numbers; a shape's counts and 63 bits are far from overflow. */
static size_t row_bytes(size_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

static bool is_shorter(const piece *p, unsigned width)
{
    return width <= MAX_WIDTH && PACKED_HEADER + row_bytes(p->count, width) < 1 + p->raw;
}

/* The other byte order's machines turn the numbers over. */
static void swap_if_big(uint8_t *bytes, size_t len, size_t size)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t at = 0; at < len; at += size) {
        for (size_t k = 0; k < size / 2; k++) {
            uint8_t byte = bytes[at + k];
            bytes[at + k] = bytes[at + size - 1 - k];
            bytes[at + size - 1 - k] = byte;
        }
    }
#else
    (void)bytes, (void)len, (void)size;
#endif
}

/* ---- is every number within +-bound? NaN is not. Loops without branches: they vectorise. ---- */

static bool within_f32(const float *x, size_t n, double limit)
{
    float bound = limit < (double)FLT_MAX ? (float)limit : FLT_MAX;
    if ((double)bound > limit)
        bound = nextafterf(bound, 0);
    int beyond = 0;
    for (size_t i = 0; i < n; i++)
        beyond |= !(fabsf(x[i]) <= bound);
    return !beyond;
}

static bool within_f64(const double *x, size_t n, double limit)
{
    const double bound = limit < DBL_MAX ? limit : DBL_MAX;
    int beyond = 0;
    for (size_t i = 0; i < n; i++)
        beyond |= !(fabs(x[i]) <= bound);
    return !beyond;
}

static bool within_i64(const int64_t *x, size_t n, double limit)
{
    if (limit >= 0x1p63)
        return true;
    const int64_t bound = (int64_t)limit;
    int beyond = 0;
    for (size_t i = 0; i < n; i++)
        beyond |= (x[i] > bound) | (x[i] < -bound);
    return !beyond;
}

/* Of numbers from..from+n-1. */
static bool within(const piece *p, size_t from, size_t n, double limit)
{
    switch (p->scalar) {
    case TACIT_F32:
        return within_f32((const float *)p->numbers + from, n, limit);
    case TACIT_F64:
        return within_f64((const double *)p->numbers + from, n, limit);
    default:
        return within_i64((const int64_t *)p->numbers + from, n, limit);
    }
}

/* ---- looking for a packing ---- */

/* Real numbers from..from+n-1 as doubles: in place, or in `room`. */
static const double *reals(const piece *p, size_t from, size_t n, double room[BLOCK])
{
    if (p->scalar == TACIT_F64)
        return (const double *)p->numbers + from;
    const float *x = (const float *)p->numbers + from;
    for (size_t i = 0; i < n; i++)
        room[i] = (double)x[i];
    return room;
}

/* What is known of the real numbers seen so far. */
typedef struct sight {
    int exponent; /* the largest such that all are whole steps of 2^exponent */
    double least, most;
    bool minus_zero;
} sight;

static void look(sight *s, const double *x, size_t n)
{
    sight now = *s;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        uint64_t part = bits & ((UINT64_C(1) << 52) - 1);
        int power = (int)(bits >> 52 & 2047);
        now.minus_zero |= bits == UINT64_C(1) << 63;
        now.least = x[i] < now.least ? x[i] : now.least;
        now.most = x[i] > now.most ? x[i] : now.most;
        if (power > 0)
            part |= UINT64_C(1) << 52;
        else
            power = 1; /* subnormal: the same step as the smallest normal numbers */
        int exponent = part ? power - 1075 + __builtin_ctzll(part) : INT_MAX;
        now.exponent = exponent < now.exponent ? exponent : now.exponent;
    }
    *s = now;
}

/* x / 2^exponent in two halves, for 2^-exponent may not be a number. Exact for whole steps. */
typedef struct divisor {
    double first, second;
} divisor;

static divisor divide_by(int exponent)
{
    int half = exponent / 2;
    return (divisor){ldexp(1, -half), ldexp(1, half - exponent)};
}

static unsigned bits_of(uint64_t range)
{
    return range ? 64 - (unsigned)__builtin_clzll(range) : 0;
}

/* The packing of what was seen; false: there is none that is shorter than raw. */
static bool plan_sight(packing *out, const sight *s, const piece *p)
{
    int exponent = s->exponent == INT_MAX ? 0 : s->exponent; /* nothing but zeros */
    divisor d = divide_by(exponent);
    double least = s->least * d.first * d.second, most = s->most * d.first * d.second;
    if (s->minus_zero || !(least >= (double)-MAX_STEPS && most <= (double)MAX_STEPS))
        return false;
    *out = (packing){exponent, (int64_t)least, bits_of((uint64_t)((int64_t)most - (int64_t)least))};
    return is_shorter(p, out->width);
}

/* More numbers never need fewer bits: the first blocks of most unpackable segments tell. False,
 * too, if it meets a number that is not finite: raw, it will be found. */
static bool plan_reals(packing *out, const piece *p)
{
    double room[BLOCK];
    sight s = {.exponent = INT_MAX, .least = INFINITY, .most = -INFINITY};
    for (size_t from = 0; from < p->count; from += BLOCK) {
        size_t n = p->count - from < BLOCK ? p->count - from : BLOCK;
        const double *x = reals(p, from, n, room);
        if (!within_f64(x, n, INFINITY))
            return false;
        look(&s, x, n);
        if (!plan_sight(out, &s, p))
            return false;
    }
    return true;
}

static bool plan_ints(packing *out, const piece *p)
{
    const int64_t *x = p->numbers;
    int64_t least = x[0], most = x[0];
    for (size_t i = 1; i < p->count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    *out = (packing){0, least, bits_of((uint64_t)most - (uint64_t)least)};
    return is_shorter(p, out->width);
}

static bool plan(packing *out, const piece *p)
{
    if (p->count == 0)
        return false;
    return p->scalar == TACIT_I64 ? plan_ints(out, p) : plan_reals(out, p);
}

/* ---- writing ---- */

/* Steps above the minimum of numbers from..from+n-1. */
static void steps_of(uint64_t steps[BLOCK], const piece *p, const packing *q, size_t from, size_t n)
{
    double room[BLOCK];
    if (p->scalar == TACIT_I64) {
        const int64_t *x = (const int64_t *)p->numbers + from;
        for (size_t i = 0; i < n; i++)
            steps[i] = (uint64_t)x[i] - (uint64_t)q->minimum;
        return;
    }
    const double *x = reals(p, from, n, room);
    const divisor d = divide_by(q->exponent);
    for (size_t i = 0; i < n; i++)
        steps[i] = (uint64_t)((int64_t)(x[i] * d.first * d.second) - q->minimum);
}

static uint8_t *write_packed(uint8_t *at, const piece *p, const packing *q)
{
    uint64_t steps[BLOCK];
    at[0] = PACKED;
    at[1] = (uint8_t)q->exponent;
    at[2] = (uint8_t)(q->exponent >> 8);
    tacit_put_u64(at + 3, (uint64_t)q->minimum);
    at[11] = (uint8_t)q->width;
    tacit_bit_writer row = {.at = at + PACKED_HEADER};
    if (q->width == 0)
        return row.at;
    for (size_t from = 0; from < p->count; from += BLOCK) {
        size_t n = p->count - from < BLOCK ? p->count - from : BLOCK;
        steps_of(steps, p, q, from, n);
        tacit_bits_write(&row, steps, n, q->width);
    }
    return tacit_bits_finish(&row);
}

/* Checked and copied block by block, so that large models come from memory once. NULL: a number
 * is not finite. */
static uint8_t *write_raw(uint8_t *at, const piece *p)
{
    const size_t size = tacit_scalar_size(p->scalar);
    *at++ = RAW;
    for (size_t from = 0; from < p->count; from += BLOCK) {
        size_t n = p->count - from < BLOCK ? p->count - from : BLOCK;
        if (!within(p, from, n, INFINITY))
            return NULL;
        memcpy(at, (const uint8_t *)p->numbers + from * size, n * size);
        swap_if_big(at, n * size, size);
        at += n * size;
    }
    return at;
}

tacit_status tacit_wire_bound(size_t *bytes, const tacit_shape *shape, tacit_error *err)
{
    size_t sum = 0;
    bool fits = true;
    for (uint32_t k = 0; shape && k < shape->segments; k++) {
        size_t raw = 0;
        fits = fits &&
               tacit_mul_size(shape->segment[k].count, tacit_scalar_size(shape->segment[k].scalar),
                              &raw) &&
               tacit_add_size(sum, raw, &sum) && tacit_add_size(sum, 1, &sum);
    }
    if (!fits || sum > UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT,
                          "a message with segment \"%s\" can be too long for the wire, whose "
                          "payloads have at most %" PRIu32 " bytes; use a smaller model",
                          shape->segment[0].name, UINT32_MAX);
    *bytes = sum;
    return TACIT_OK;
}

tacit_status tacit_wire_encode(uint8_t *out, size_t room, size_t *len, const tacit_public *v,
                               tacit_error *err)
{
    tacit_vector *vector = v ? tacit_vector_of_public(v) : NULL;
    size_t bound;
    tacit_status status = tacit_wire_bound(&bound, vector ? vector->shape : NULL, err);
    if (status)
        return status;
    if (room < bound)
        return tacit_fail(err, TACIT_EINTERNAL, "a payload of %zu bytes was given room for %zu",
                          bound, room);
    assert(!vector || !(vector->flags & TACIT_VECTOR_SECRET));
    uint8_t *at = out;
    for (uint32_t k = 0; vector && k < vector->shape->segments; k++) {
        packing q;
        piece p = piece_of(vector, k);
        at = plan(&q, &p) ? write_packed(at, &p, &q) : write_raw(at, &p);
        if (!at)
            return tacit_fail(err, TACIT_EINPUT,
                              "segment \"%s\" of a message has a number that is not finite; try a "
                              "smaller step size or stronger regularisation",
                              p.name);
    }
    *len = (size_t)(at - out);
    return TACIT_OK;
}

/* ---- reading ---- */

/* Bytes that have not been read. */
typedef struct source {
    const uint8_t *at;
    size_t left;
} source;

static tacit_status refuse(const piece *p, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "segment \"%s\" of a payload is refused: %s", p->name,
                      why);
}
static const char too_short[] = "it ends too early";
static const char too_large[] = "a number is not finite or above the limit";

static tacit_status read_raw(const piece *p, source *from, double limit, tacit_error *err)
{
    if (from->left - 1 < p->raw)
        return refuse(p, too_short, err);
    const size_t size = tacit_scalar_size(p->scalar);
    const uint8_t *at = from->at + 1;
    for (size_t k = 0; k < p->count; k += BLOCK) {
        size_t n = p->count - k < BLOCK ? p->count - k : BLOCK;
        uint8_t *to = (uint8_t *)p->numbers + k * size;
        memcpy(to, at + k * size, n * size);
        swap_if_big(to, n * size, size);
        if (!within(p, k, n, limit))
            return refuse(p, too_large, err);
    }
    from->at = at + p->raw;
    from->left -= 1 + p->raw;
    return TACIT_OK;
}

/* Numbers from..from+n-1 out of their steps; NULL, or what is wrong with them. */
static const char *put_ints(const piece *p, const packing *q, const uint64_t *steps, size_t from,
                            size_t n, double limit)
{
    int64_t *x = (int64_t *)p->numbers + from;
    for (size_t i = 0; i < n; i++)
        x[i] = q->minimum + (int64_t)steps[i];
    return within_i64(x, n, limit) ? NULL : too_large;
}

static const char *put_reals(const piece *p, const packing *q, const uint64_t *steps, size_t from,
                             size_t n, double limit)
{
    double room[BLOCK];
    double *x = p->scalar == TACIT_F64 ? (double *)p->numbers + from : room;
    const double scale = ldexp(1, q->exponent);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)(q->minimum + (int64_t)steps[i]) * scale;
    if (p->scalar == TACIT_F64)
        return within_f64(x, n, limit) ? NULL : too_large;
    if (!within_f64(x, n, limit < (double)FLT_MAX ? limit : (double)FLT_MAX))
        return too_large;
    float *out = (float *)p->numbers + from;
    int changed = 0;
    for (size_t i = 0; i < n; i++) {
        out[i] = (float)x[i];
        changed |= (double)out[i] != x[i];
    }
    return changed ? "a number has more digits than its type" : NULL;
}

static const char *read_row(const piece *p, const packing *q, const uint8_t *row, double limit)
{
    uint64_t steps[BLOCK] = {0};
    const int64_t top = p->scalar == TACIT_I64 ? INT64_MAX : MAX_STEPS;
    const uint64_t most = (uint64_t)top - (uint64_t)q->minimum;
    const size_t len = row_bytes(p->count, q->width);
    const char *why = NULL;
    for (size_t from = 0; from < p->count && !why; from += BLOCK) {
        size_t n = p->count - from < BLOCK ? p->count - from : BLOCK;
        int beyond = 0;
        if (q->width > 0)
            tacit_bits_read(steps, row, len, from, n, q->width);
        for (size_t i = 0; i < n; i++)
            beyond |= steps[i] > most;
        if (beyond)
            return "minimum and steps overflow";
        why = p->scalar == TACIT_I64 ? put_ints(p, q, steps, from, n, limit)
                                     : put_reals(p, q, steps, from, n, limit);
    }
    return why;
}

/* What is wrong with how a segment is packed, or NULL. */
static const char *wrong_packing(const piece *p, const packing *q)
{
    const bool is_float = p->scalar == TACIT_F32;
    const int lowest = p->scalar == TACIT_I64 ? 0 : is_float ? -149 : -1074;
    const int highest = p->scalar == TACIT_I64 ? 0 : is_float ? 127 : 1023;
    if (!is_shorter(p, q->width))
        return "it is packed and not shorter for it";
    if (q->exponent < lowest || q->exponent > highest)
        return "its exponent is not one of its type";
    if (p->scalar != TACIT_I64 && (q->minimum < -MAX_STEPS || q->minimum > MAX_STEPS))
        return "its minimum is too large";
    return NULL;
}

static tacit_status read_packed(const piece *p, source *from, double limit, tacit_error *err)
{
    if (from->left < PACKED_HEADER)
        return refuse(p, too_short, err);
    const uint8_t *at = from->at;
    const packing q = {.exponent = (int16_t)(uint16_t)(at[1] | at[2] << 8),
                       .minimum = (int64_t)tacit_get_u64(at + 3),
                       .width = at[11]};
    const char *why = wrong_packing(p, &q);
    if (why)
        return refuse(p, why, err);
    const size_t row = row_bytes(p->count, q.width);
    if (from->left - PACKED_HEADER < row)
        return refuse(p, too_short, err);
    at += PACKED_HEADER;
    const unsigned used = (unsigned)(p->count * q.width % 8);
    if (used > 0 && at[row - 1] >> used != 0)
        return refuse(p, "unused bits are not zero", err);
    why = read_row(p, &q, at, limit);
    if (why)
        return refuse(p, why, err);
    from->at = at + row;
    from->left -= PACKED_HEADER + row;
    return TACIT_OK;
}

static tacit_status read_piece(const piece *p, source *from, double limit, tacit_error *err)
{
    if (from->left == 0)
        return refuse(p, too_short, err);
    if (*from->at == RAW)
        return read_raw(p, from, limit, err);
    if (*from->at == PACKED)
        return read_packed(p, from, limit, err);
    return refuse(p, "its coding is unknown", err);
}

tacit_status tacit_wire_decode(tacit_public *out, const uint8_t *bytes, size_t len, double limit,
                               tacit_error *err)
{
    tacit_vector *vector = out ? tacit_vector_of_public(out) : NULL;
    assert(limit >= 0);
    assert(!vector || !(vector->flags & (TACIT_VECTOR_FROZEN | TACIT_VECTOR_SECRET)));
    source from = {bytes, len};
    for (uint32_t k = 0; vector && k < vector->shape->segments; k++) {
        piece p = piece_of(vector, k);
        const bool any = vector->shape->any >> k & 1;
        tacit_status status = read_piece(&p, &from, any ? INFINITY : limit, err);
        if (status)
            return status;
        /* Segments start at multiples of 8: what is between them is part of checkpoints. */
        memset((uint8_t *)p.numbers + p.raw, 0, (8 - p.raw % 8) % 8);
    }
    if (from.left > 0)
        return tacit_fail(err, TACIT_EINPUT, "a payload has %zu bytes too many", from.left);
    return TACIT_OK;
}
