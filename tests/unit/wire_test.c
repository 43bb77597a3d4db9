/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes between peers: what comes back is what went in, bit by bit, and nothing else gets in. */
#include "testing.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "net/wire.h"

#define ROOM 400000
static uint8_t bytes[ROOM];

/* In memory of just that size, so that a sanitizer sees any step beyond it. */
static tacit_public *fresh(const tacit_shape *shape)
{
    tacit_vector *v = malloc(sizeof *v + shape->bytes);
    assert_non_null(v);
    tacit_vector_init(v, shape, 0);
    memset(v->data, 0xA5, shape->bytes); /* a decoder must write every byte */
    return tacit_vector_public(v);
}

static void drop(tacit_public *v)
{
    free(v);
}

static tacit_shape shape_of(size_t n, const tacit_segment *segments)
{
    tacit_shape shape;
    check_ok(tacit_shape_init(&shape, segments, n, NULL), NULL);
    return shape;
}

static tacit_shape shape_one(tacit_scalar scalar, size_t count)
{
    return shape_of(1, &(tacit_segment){"x", scalar, count});
}

static void *numbers(const tacit_public *v, uint32_t segment)
{
    return tacit_vector_segment(tacit_vector_of_public(v), segment);
}

/* All segments have the same bits. */
static bool same(const tacit_public *a, const tacit_public *b)
{
    const tacit_shape *s = tacit_public_shape(a);
    for (uint32_t k = 0; k < s->segments; k++) {
        size_t len = s->segment[k].count * tacit_scalar_size(s->segment[k].scalar);
        if (memcmp(numbers(a, k), numbers(b, k), len) != 0)
            return false;
    }
    return true;
}

static size_t encode(const tacit_public *v)
{
    tacit_error err = {0};
    size_t len = 0, bound = 0;
    check_ok(tacit_wire_bound(&bound, tacit_public_shape(v), &err), &err);
    assert_true(bound <= ROOM);
    check_ok(tacit_wire_encode(bytes, bound, &len, v, &err), &err);
    assert_true(len <= bound);
    return len;
}

/* From a copy of just that size, for the same reason. */
static tacit_status decode(tacit_public *out, size_t len, double limit, tacit_error *err)
{
    uint8_t *copy = malloc(len + !len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    tacit_status status = tacit_wire_decode(out, copy, len, limit, err);
    free(copy);
    return status;
}

/* Through the wire and back: the same bits; returns how many bytes it took. */
static size_t round_trip(const tacit_public *v)
{
    tacit_error err = {0};
    tacit_public *back = fresh(tacit_public_shape(v));
    size_t len = encode(v);
    check_ok(decode(back, len, INFINITY, &err), &err);
    assert_true(same(v, back));
    drop(back);
    return len;
}

static size_t trip_f64(size_t n, const double *x)
{
    tacit_shape shape = shape_one(TACIT_F64, n);
    tacit_public *v = fresh(&shape);
    if (n > 0)
        memcpy(numbers(v, 0), x, n * sizeof *x);
    size_t len = round_trip(v);
    drop(v);
    return len;
}

static size_t trip_f32(size_t n, const float *x)
{
    tacit_shape shape = shape_one(TACIT_F32, n);
    tacit_public *v = fresh(&shape);
    if (n > 0)
        memcpy(numbers(v, 0), x, n * sizeof *x);
    size_t len = round_trip(v);
    drop(v);
    return len;
}

static size_t trip_i64(size_t n, const int64_t *x)
{
    tacit_shape shape = shape_one(TACIT_I64, n);
    tacit_public *v = fresh(&shape);
    if (n > 0)
        memcpy(numbers(v, 0), x, n * sizeof *x);
    size_t len = round_trip(v);
    drop(v);
    return len;
}

/* ---- payloads ---- */

static void test_special_numbers_come_back(void **state)
{
    (void)state;
    const double d[] = {0,       -0.0,     1,     -1,        0x1p-1074, -0x1p-1074, DBL_MIN,
                        DBL_MAX, -DBL_MAX, 0.1,   0x1p1023,  0x1p53,    0x1p53 + 2, -0x1p53,
                        0x1p52,  1e-300,   3e200, 0x3p-1074, 0x1p-1022, DBL_EPSILON};
    const float f[] = {0,       -0.0F,    1,    -1,       0x1p-149F, -0x1p-149F, FLT_MIN,
                       FLT_MAX, -FLT_MAX, 0.1F, 0x1p127F, 0x1p24F,   0x3p-149F,  0x1p-126F};
    const int64_t i[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT64_MIN + 1, 1 << 20, -(1 << 20)};
    const size_t nd = sizeof d / sizeof *d, nf = sizeof f / sizeof *f, ni = sizeof i / sizeof *i;
    /* every stretch of each: alone, in pairs, all */
    for (size_t a = 0; a < nd; a++) {
        for (size_t b = a; b <= nd; b++)
            trip_f64(b - a, d + a);
    }
    for (size_t a = 0; a < nf; a++) {
        for (size_t b = a; b <= nf; b++)
            trip_f32(b - a, f + a);
    }
    for (size_t a = 0; a < ni; a++) {
        for (size_t b = a; b <= ni; b++)
            trip_i64(b - a, i + a);
    }
}

/* A special number many times over, then one zero among them: `bits` each, or raw with -0.0. */
static void test_special_numbers_are_packed(void **state)
{
    (void)state;
    enum { N = 300 };
    const struct {
        double x;
        size_t bits;
    } special[] = {{0, 0},        {0x1p-1074, 1}, {-0x3p-1074, 2}, {DBL_MIN, 1},
                   {0x1p1023, 1}, {-0x1p1023, 1}, {0x1p53, 1},     {0x1fffffffffffffp0, 53}};
    double x[N];
    float f[N];
    for (size_t k = 0; k < sizeof special / sizeof *special; k++) {
        for (size_t n = 0; n < N; n++)
            x[n] = special[k].x;
        assert_int_equal(trip_f64(N, x), 12);
        x[77] = 0;
        assert_int_equal(trip_f64(N, x), 12 + (N * special[k].bits + 7) / 8);
        x[77] = -0.0;
        assert_int_equal(trip_f64(N, x), 1 + sizeof x);
    }
    for (size_t n = 0; n < N; n++)
        f[n] = n % 2 ? 0x1p-149F : -0x1p-149F;
    assert_int_equal(trip_f32(N, f), 12 + (2 * N + 7) / 8);
    for (size_t n = 0; n < N; n++)
        f[n] = n % 2 ? FLT_MAX : 0;
    assert_int_equal(trip_f32(N, f), 12 + (24 * N + 7) / 8);
}

/* Integers of every width, every count around a block and a byte, each scalar, many grids. */
static void test_every_width_and_count(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 2, 7, 8, 9, 63, 255, 256, 257, 600};
    dice d = {5};
    int64_t i[600];
    double x[600];
    float f[600];
    for (unsigned width = 0; width <= 64; width++) {
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            size_t n = counts[c];
            int64_t base = (int64_t)dice_below(&d, 1U << 20) - (1 << 19);
            for (size_t k = 0; k < n; k++) {
                uint64_t word =
                    dice_below(&d, UINT64_C(1) << 32) << 32 | dice_below(&d, UINT64_C(1) << 32);
                word = width == 0 ? 0 : word >> (64 - width);
                if (k == 0)
                    word = 0;
                if (k == 1 && width > 0)
                    word = UINT64_MAX >> (64 - width);
                i[k] = (int64_t)((width < 62 ? (uint64_t)base : (uint64_t)INT64_MIN) + word);
                x[k] = ldexp((double)i[k], (int)width * 30 - 1000);
                f[k] = (float)ldexp((double)(i[k] % (1 << 24)), (int)width * 3 - 140);
            }
            size_t raw = 1 + 8 * n, packed = 12 + (n * width + 7) / 8, len = trip_i64(n, i);
            if (n >= 2)
                assert_int_equal(len, width < 64 && packed < raw ? packed : raw);
            trip_f64(n, x);
            trip_f32(n, f);
        }
    }
}

static void test_mixed_shapes(void **state)
{
    (void)state;
    const tacit_segment mixed[] = {
        {"a", TACIT_F32, 3},   {"none", TACIT_F64, 0}, {"b", TACIT_I64, 5}, {"c", TACIT_F64, 300},
        {"nil", TACIT_F32, 0}, {"d", TACIT_F32, 301},  {"e", TACIT_I64, 1}, {"f", TACIT_F32, 1}};
    tacit_shape shape = shape_of(8, mixed);
    tacit_public *v = fresh(&shape), *back = fresh(&shape);
    dice d = {9};
    for (int round = 0; round < 50; round++) {
        for (uint32_t s = 0; s < 8; s++) {
            for (size_t k = 0; k < mixed[s].count; k++) {
                double x = round % 2 ? dice_normal(&d) : floor(100 * dice_normal(&d)) / 64;
                if (mixed[s].scalar == TACIT_I64)
                    tacit_public_set_int(v, s, k, (int64_t)(x * 1000));
                else
                    tacit_public_set(v, s, k, x);
            }
        }
        round_trip(v);
    }
    /* the bytes between segments become zero, since checkpoints keep them */
    check_ok(decode(back, encode(v), INFINITY, NULL), NULL);
    assert_int_equal(tacit_vector_of_public(back)->data[12], 0);
    assert_int_equal(tacit_vector_of_public(back)->data[shape.bytes - 1], 0);
    drop(back);
    drop(v);
}

static void test_no_payload(void **state)
{
    (void)state;
    tacit_error err = {0};
    size_t len = 9, bound = 9;
    check_ok(tacit_wire_bound(&bound, NULL, &err), &err);
    assert_int_equal(bound, 0);
    check_ok(tacit_wire_encode(bytes, 0, &len, NULL, &err), &err);
    assert_int_equal(len, 0);
    check_ok(tacit_wire_decode(NULL, NULL, 0, INFINITY, &err), &err);
    check_fails(tacit_wire_decode(NULL, bytes, 1, INFINITY, &err), TACIT_EINPUT, &err, "too many");
}

/* A release of steps with a spread of 2^9 takes 12 bits or so a number; reals take their own. */
static void test_sizes(void **state)
{
    (void)state;
    enum { N = 40000 };
    dice d = {11};
    static double x[N];
    static float f[N];
    static int64_t i[N];
    for (size_t k = 0; k < N; k++) {
        i[k] = (int64_t)floor(500 * dice_normal(&d));
        x[k] = ldexp((double)i[k], -17);
        f[k] = (float)x[k];
    }
    size_t len = trip_f32(N, f);
    assert_in_range(len, N * 12 / 8,
                    N * 13 / 8 + 12); /* 4.2 spreads either way in 13 bits at most */
    assert_int_equal(trip_f64(N, x), len);
    assert_int_equal(trip_i64(N, i), len);
    for (size_t k = 0; k < N; k++) {
        x[k] = dice_normal(&d);
        f[k] = (float)x[k];
    }
    assert_int_equal(trip_f64(N, x), 1 + sizeof x);
    assert_int_equal(trip_f32(N, f), 1 + sizeof f);
    assert_int_equal(trip_f64(1, x), 9);
    assert_int_equal(trip_f32(0, f), 1);
}

/* Bytes computed by hand from docs/wire.md. */
static void test_known_bytes(void **state)
{
    (void)state;
    const double x[] = {-0.75, 0.5, 1.25, -0.25}; /* quarters: -3, 2, 5, -1 */
    const uint8_t want[] = {1,    0xFE, 0xFF, 0xFD, 0xFF, 0xFF, 0xFF,
                            0xFF, 0xFF, 0xFF, 0xFF, 4,    0x50, 0x28}; /* 0, 5, 8, 2 */
    assert_int_equal(trip_f64(4, x), sizeof want);
    assert_memory_equal(bytes, want, sizeof want);
    const float f[] = {1.5F, -0.0F};
    const uint8_t raw[] = {0, 0, 0, 0xC0, 0x3F, 0, 0, 0, 0x80};
    assert_int_equal(trip_f32(2, f), sizeof raw);
    assert_memory_equal(bytes, raw, sizeof raw);
}

static void test_encoder_refuses(void **state)
{
    (void)state;
    const double bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    tacit_error err = {0};
    size_t len;
    for (int scalar = TACIT_F32; scalar <= TACIT_F64; scalar++) {
        tacit_shape shape = shape_one((tacit_scalar)scalar, 700);
        tacit_public *v = fresh(&shape);
        for (size_t k = 0; k < 4; k++) {
            for (size_t at = 0; at < 700; at += 233) {
                tacit_public_zero(v);
                tacit_public_set(v, 0, at, bad[k]);
                check_fails(tacit_wire_encode(bytes, ROOM, &len, v, &err), TACIT_EINPUT, &err,
                            "\"x\" of a message has a number that is not finite");
            }
        }
        tacit_public_zero(v);
        check_fails(tacit_wire_encode(bytes, 700, &len, v, &err), TACIT_EINTERNAL, &err, "room");
        drop(v);
    }
    tacit_shape large = shape_one(TACIT_F64, (size_t)1 << 29);
    check_fails(tacit_wire_bound(&len, &large, &err), TACIT_EINPUT, &err, "too long");
}

/* ---- what others send ---- */

static void refused(const tacit_shape *shape, size_t len, double limit, const char *word)
{
    tacit_error err = {0};
    tacit_public *out = fresh(shape);
    check_fails(decode(out, len, limit, &err), TACIT_EINPUT, &err, word);
    drop(out);
}

static void accepted(const tacit_shape *shape, size_t len, double limit)
{
    tacit_error err = {0};
    tacit_public *out = fresh(shape);
    check_ok(decode(out, len, limit, &err), &err);
    drop(out);
}

/* A packed segment as anybody could write it; the row is zero. */
static size_t forge(int exponent, int64_t minimum, unsigned width, size_t row)
{
    memset(bytes, 0, 12 + row);
    bytes[0] = 1;
    bytes[1] = (uint8_t)exponent;
    bytes[2] = (uint8_t)((unsigned)exponent >> 8);
    memcpy(bytes + 3, &minimum, 8);
    bytes[11] = (uint8_t)width;
    return 12 + row;
}

static void test_forged_packings(void **state)
{
    (void)state;
    tacit_shape f64 = shape_one(TACIT_F64, 100), f32 = shape_one(TACIT_F32, 100);
    tacit_shape i64 = shape_one(TACIT_I64, 100), few = shape_one(TACIT_F64, 1);
    const int64_t top = INT64_C(1) << 53;
    accepted(&f64, forge(-1074, top, 0, 0), INFINITY);
    refused(&f64, forge(-1075, 1, 0, 0), INFINITY, "exponent");
    accepted(&f64, forge(1023, 1, 0, 0), INFINITY);
    refused(&f64, forge(1024, 1, 0, 0), INFINITY, "exponent");
    refused(&f64, forge(1023, 2, 0, 0), INFINITY, "not finite");
    refused(&f64, forge(0, top + 1, 0, 0), INFINITY, "minimum");
    refused(&f64, forge(0, -top - 1, 0, 0), INFINITY, "minimum");
    refused(&f64, forge(0, INT64_MIN, 0, 0), INFINITY, "minimum");
    accepted(&f32, forge(-149, 1 << 24, 0, 0), INFINITY);
    refused(&f32, forge(-150, 2, 0, 0), INFINITY, "exponent");
    accepted(&f32, forge(127, -1, 0, 0), INFINITY);
    refused(&f32, forge(127, 2, 0, 0), INFINITY, "not finite");
    refused(&f32, forge(128, 1, 0, 0), INFINITY, "exponent");
    refused(&f32, forge(0, (1 << 24) + 1, 0, 0), INFINITY, "digits");
    accepted(&f32, forge(0, (1 << 24) + 2, 0, 0), INFINITY);
    accepted(&i64, forge(0, INT64_MIN, 63, 788), INFINITY);
    accepted(&i64, forge(0, INT64_MAX, 7, 88), INFINITY);
    refused(&i64, forge(1, 0, 7, 88), INFINITY, "exponent");
    refused(&i64, forge(-1, 0, 7, 88), INFINITY, "exponent");
    /* sizes: to be packed is to be shorter, whatever the width says */
    refused(&few, forge(0, 1, 0, 0), INFINITY, "shorter");
    refused(&i64, forge(0, 0, 64, 800), INFINITY, "shorter");
    refused(&f64, forge(0, 0, 255, 3188), INFINITY, "shorter");
    refused(&f32, forge(0, 0, 32, 400), INFINITY, "shorter");
    refused(&f64, forge(0, 0, 12, 149), INFINITY, "too early");
    refused(&f64, forge(0, 0, 12, 151), INFINITY, "too many");
    bytes[0] = 2;
    refused(&f64, 13, INFINITY, "coding");
    /* steps */
    size_t len = forge(0, INT64_MAX, 7, 88);
    bytes[12] = 1;
    refused(&i64, len, INFINITY, "overflow");
    len = forge(0, top - 3, 7, 88);
    bytes[12] = 3;
    accepted(&f64, len, INFINITY);
    bytes[12] = 4;
    refused(&f64, len, INFINITY, "overflow");
    len = forge(-1074, 0, 63, 788);
    bytes[12 + 787] = 0x0F; /* the last number is huge; 6300 bits end in the middle of a byte */
    refused(&f64, len, INFINITY, "overflow");
    bytes[12 + 787] = 0x10;
    refused(&f64, len, INFINITY, "unused");
}

static void test_limit(void **state)
{
    (void)state;
    for (int scalar = TACIT_F32; scalar <= TACIT_I64; scalar++) {
        tacit_shape shape = shape_one((tacit_scalar)scalar, 400);
        tacit_public *v = fresh(&shape);
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int is_raw = 0; is_raw < 2; is_raw++) {
                for (size_t at = 0; at < 400; at += 133) {
                    for (size_t k = 0; k < 400; k++)
                        tacit_public_set(v, 0, k, k % 2);
                    if (is_raw && scalar != TACIT_I64)
                        tacit_public_set(v, 0, at == 7 ? 8 : 7, -0.0);
                    tacit_public_set(v, 0, at, 5 * sign);
                    size_t len = encode(v);
                    assert_int_equal(bytes[0], !is_raw || scalar == TACIT_I64);
                    accepted(&shape, len, INFINITY);
                    accepted(&shape, len, 1e300);
                    accepted(&shape, len, 5.5);
                    accepted(&shape, len, 5);
                    refused(&shape, len, nextafter(5, 0), "limit");
                    refused(&shape, len, 4, "limit");
                    refused(&shape, len, 0, "limit");
                }
            }
        }
        drop(v);
    }
    tacit_shape shape = shape_one(TACIT_I64, 2);
    tacit_public *v = fresh(&shape);
    tacit_public_set_int(v, 0, 0, INT64_MIN);
    tacit_public_set_int(v, 0, 1, INT64_MAX);
    size_t len = encode(v);
    assert_int_equal(bytes[0], 0);
    accepted(&shape, len, 0x1p63);
    refused(&shape, len, nextafter(0x1p63, 0), "limit");
    drop(v);
}

static void test_raw_numbers_must_be_finite(void **state)
{
    (void)state;
    const double bad[] = {NAN, INFINITY, -INFINITY};
    tacit_shape f64 = shape_one(TACIT_F64, 100), f32 = shape_one(TACIT_F32, 100);
    for (size_t k = 0; k < 3; k++) {
        for (size_t at = 0; at < 100; at += 33) {
            float f = (float)bad[k];
            memset(bytes, 0, 801);
            memcpy(bytes + 1 + 8 * at, &bad[k], 8);
            refused(&f64, 801, INFINITY, "finite");
            memset(bytes, 0, 401);
            memcpy(bytes + 1 + 4 * at, &f, 4);
            refused(&f32, 401, INFINITY, "finite");
        }
    }
}

/* Any cut is refused. Any flipped bit is refused, or is another value in full standing, which goes
 * through the wire unchanged. */
static void bend(const tacit_public *v)
{
    const tacit_shape *shape = tacit_public_shape(v);
    size_t len = encode(v);
    uint8_t *good = malloc(len);
    assert_non_null(good);
    memcpy(good, bytes, len);
    tacit_public *out = fresh(shape);
    tacit_error err = {0};
    for (size_t cut = 0; cut < len; cut++) {
        memcpy(bytes, good, len);
        check_fails(decode(out, cut, INFINITY, &err), TACIT_EINPUT, &err, "");
    }
    for (size_t bit = 0; bit < 8 * len; bit++) {
        memcpy(bytes, good, len);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (decode(out, len, INFINITY, &err) == TACIT_OK) {
            assert_false(same(out, v));
            round_trip(out);
        } else {
            assert_int_equal(err.code, TACIT_EINPUT);
        }
    }
    drop(out);
    free(good);
}

static void test_cuts_and_flips_of_payloads(void **state)
{
    (void)state;
    const tacit_segment mixed[] = {
        {"a", TACIT_F32, 13}, {"b", TACIT_I64, 5}, {"none", TACIT_I64, 0}, {"c", TACIT_F64, 31}};
    tacit_shape shape = shape_of(4, mixed);
    tacit_public *v = fresh(&shape);
    dice d = {3};
    for (int round = 0; round < 3; round++) { /* all packed, all raw, constant */
        for (uint32_t s = 0; s < 4; s++) {
            for (size_t k = 0; k < mixed[s].count; k++) {
                double x = round == 2 ? 3 : 40 * dice_normal(&d);
                x = round == 0 ? floor(x) : x;
                if (mixed[s].scalar == TACIT_I64)
                    tacit_public_set_int(v, s, k, (int64_t)(round == 1 ? x * 1e17 : x));
                else
                    tacit_public_set(v, s, k, x);
            }
        }
        bend(v);
    }
    drop(v);
}

/* ---- envelopes ---- */

static tacit_wire_header some_header(void)
{
    tacit_wire_header h = {.kind = TACIT_WIRE_REQUEST,
                           .protocol = 0x01020304,
                           .from = UINT64_C(0x1112131415161718),
                           .to = UINT64_C(0x2122232425262728),
                           .incarnation = UINT64_C(0x3132333435363738),
                           .sequence = UINT64_C(0x4142434445464748),
                           .releases = UINT64_C(0x5152535455565758),
                           .request = UINT64_C(0x6162636465666768),
                           .at = {0x71727374, 0x81828384},
                           .payload = 5};
    for (uint8_t k = 0; k < TACIT_WIRE_RUN; k++)
        h.run[k] = (uint8_t)(0xA0 + k);
    h.mark.releases = 0x9192939495969798;
    for (uint8_t k = 0; k < TACIT_MARK_HEAD; k++)
        h.mark.head[k] = (uint8_t)(0xB0 + k);
    for (uint8_t k = 0; k < TACIT_SIGNATURE; k++)
        h.mark.signature[k] = (uint8_t)(0xC0 + k);
    return h;
}

static void check_same_header(const tacit_wire_header *a, const tacit_wire_header *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_memory_equal(a->run, b->run, TACIT_WIRE_RUN);
    assert_int_equal(a->protocol, b->protocol);
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_int_equal(a->incarnation, b->incarnation);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->releases, b->releases);
    assert_int_equal(a->request, b->request);
    assert_int_equal(a->at.channel, b->at.channel);
    assert_int_equal(a->at.kind, b->at.kind);
    assert_int_equal(a->payload, b->payload);
    assert_int_equal(a->mark.releases, b->mark.releases);
    assert_memory_equal(a->mark.head, b->mark.head, TACIT_MARK_HEAD);
    assert_memory_equal(a->mark.signature, b->mark.signature, TACIT_SIGNATURE);
}

static void test_header_bytes(void **state)
{
    (void)state;
    static const uint8_t want[TACIT_WIRE_HEADER] = {
        'T',  'A',  'C',  'W',  2,    2,    0,    0,    0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0xA6,
        0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE, 0xAF, 4,    3,    2,    1,    5,    0,
        0,    0,    0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0x28, 0x27, 0x26, 0x25, 0x24,
        0x23, 0x22, 0x21, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32, 0x31, 0x48, 0x47, 0x46, 0x45,
        0x44, 0x43, 0x42, 0x41, 0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51, 0x68, 0x67, 0x66,
        0x65, 0x64, 0x63, 0x62, 0x61, 0x74, 0x73, 0x72, 0x71, 0x84, 0x83, 0x82, 0x81, 0x98, 0x97,
        0x96, 0x95, 0x94, 0x93, 0x92, 0x91, 0xB0, 0xB1, 0xB2, 0xB3, 0xB4, 0xB5, 0xB6, 0xB7, 0xB8,
        0xB9, 0xBA, 0xBB, 0xBC, 0xBD, 0xBE, 0xBF, 0xC0, 0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xC7,
        0xC8, 0xC9, 0xCA, 0xCB, 0xCC, 0xCD, 0xCE, 0xCF, 0xD0, 0xD1, 0xD2, 0xD3, 0xD4, 0xD5, 0xD6,
        0xD7, 0xD8, 0xD9, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xE5,
        0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xEB, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4,
        0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF};
    tacit_wire_header h = some_header(), back;
    uint8_t frame[TACIT_WIRE_HEADER + 5] = {0};
    const uint8_t *payload = NULL;
    tacit_wire_write(frame, &h);
    assert_memory_equal(frame, want, sizeof want);
    check_ok(tacit_wire_open(&back, &payload, frame, sizeof frame, NULL), NULL);
    assert_ptr_equal(payload, frame + TACIT_WIRE_HEADER);
    check_same_header(&back, &h);
    /* in two parts */
    memset(&back, 0, sizeof back);
    check_ok(tacit_wire_read(&back, frame, TACIT_WIRE_HEADER, 5, NULL), NULL);
    check_same_header(&back, &h);
}

static void test_lengths_must_agree(void **state)
{
    (void)state;
    tacit_wire_header h = some_header(), back;
    const uint8_t *payload;
    tacit_error err = {0};
    uint8_t frame[TACIT_WIRE_HEADER + 6] = {0};
    tacit_wire_write(frame, &h);
    for (size_t len = 0; len <= sizeof frame; len++) {
        uint8_t *copy = malloc(len + !len);
        assert_non_null(copy);
        memcpy(copy, frame, len);
        tacit_status status = tacit_wire_open(&back, &payload, copy, len, &err);
        assert_int_equal(status, len == TACIT_WIRE_HEADER + 5 ? TACIT_OK : TACIT_EINPUT);
        free(copy);
    }
    check_fails(tacit_wire_read(&back, frame, TACIT_WIRE_HEADER, 4, &err), TACIT_EINPUT, &err,
                "announces 5 bytes of payload, and 4 came");
    check_fails(tacit_wire_read(&back, frame, TACIT_WIRE_HEADER + 1, 5, &err), TACIT_EINPUT, &err,
                "177 bytes instead of 176");
    check_fails(tacit_wire_read(&back, frame, TACIT_WIRE_HEADER, (size_t)UINT32_MAX + 6, &err),
                TACIT_EINPUT, &err, "announces");
}

static void test_flips_of_headers(void **state)
{
    (void)state;
    tacit_wire_header h = some_header(), back;
    tacit_error err = {0};
    uint8_t good[TACIT_WIRE_HEADER], bad[TACIT_WIRE_HEADER], again[TACIT_WIRE_HEADER];
    tacit_wire_write(good, &h);
    int ok = 0, other = 0;
    for (size_t bit = 0; bit < 8 * sizeof good; bit++) {
        memcpy(bad, good, sizeof good);
        bad[bit / 8] ^= (uint8_t)(1 << bit % 8);
        tacit_status status = tacit_wire_read(&back, bad, sizeof bad, 5, &err);
        if (status == TACIT_OK) {
            tacit_wire_write(again, &back);
            assert_memory_equal(again, bad, sizeof bad);
            ok++;
        } else if (status == TACIT_EPEER) {
            assert_int_equal(bit / 8, 4);
            other++;
        } else {
            assert_int_equal(status, TACIT_EINPUT);
            assert_true(bit / 8 < 8 || (bit / 8 >= 28 && bit / 8 < 32));
        }
    }
    /* version 2 with bit 1 flipped is 0, which is garbage; of kind 2, one flip gives
     * another kind that may have a mark */
    assert_int_equal(other, 7);
    assert_int_equal(ok, 8 * (TACIT_WIRE_HEADER - 12) + 1);
}

static void test_other_versions_are_told_from_garbage(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_wire_header back = {.kind = TACIT_WIRE_PING};
    uint8_t version = 0, kind = 0, frame[200] = {'T', 'A', 'C', 'W', 7, TACIT_WIRE_BYE, 0, 0, 1};
    /* whatever comes after the prefix, and however long it is */
    for (size_t len = TACIT_WIRE_PREFIX; len <= sizeof frame; len++) {
        const uint8_t *payload;
        check_fails(tacit_wire_open(&back, &payload, frame, len, &err), TACIT_EPEER, &err,
                    "version 7 of the wire format and this node version 2");
    }
    assert_int_equal(back.kind, TACIT_WIRE_PING);
    assert_true(tacit_wire_peek(frame, 8, &version, &kind));
    assert_int_equal(version, 7);
    assert_int_equal(kind, TACIT_WIRE_BYE);
    assert_false(tacit_wire_peek(frame, 7, &version, &kind));
    for (size_t at = 0; at < 8; at++) {
        if (at == 4 || at == 5)
            continue;
        frame[at] ^= 0x10;
        assert_false(tacit_wire_peek(frame, 200, &version, &kind));
        check_fails(tacit_wire_read(&back, frame, 200, 0, &err), TACIT_EINPUT, &err, "no frame");
        frame[at] ^= 0x10;
    }
}

static void read_fails(const tacit_wire_header *h, const uint8_t frame[TACIT_WIRE_HEADER],
                       const char *word)
{
    tacit_error err = {0};
    tacit_wire_header back;
    check_fails(tacit_wire_read(&back, frame, TACIT_WIRE_HEADER, h->payload, &err), TACIT_EINPUT,
                &err, word);
}

static void test_headers_that_make_no_sense(void **state)
{
    (void)state;
    uint8_t frame[TACIT_WIRE_HEADER];
    tacit_wire_header h = some_header(), back;
    for (int k = TACIT_WIRE_MESSAGE; k <= TACIT_WIRE_REPLY; k++) {
        h.kind = (tacit_wire_kind)k;
        h.request = k == TACIT_WIRE_MESSAGE ? 0 : 8;
        tacit_wire_write(frame, &h);
        memset(frame + 32, 0xFF, 8);
        read_fails(&h, frame, "no agent");
        tacit_wire_write(frame, &h);
        memset(frame + 40, 0xFF, 8);
        read_fails(&h, frame, "no agent");
        tacit_wire_write(frame, &h);
        memset(frame + 56, 0, 8);
        read_fails(&h, frame, "sequence");
    }
    h.kind = TACIT_WIRE_MESSAGE, h.request = 0;
    tacit_wire_write(frame, &h);
    frame[79] = 1;
    read_fails(&h, frame, "request");
    frame[79] = 0, frame[5] = 0;
    read_fails(&h, frame, "kind");
    frame[5] = TACIT_WIRE_BATCH + 1;
    read_fails(&h, frame, "kind");
    /* between nodes there need not be agents */
    h = (tacit_wire_header){.from = TACIT_NOBODY, .to = TACIT_NOBODY, .request = 3};
    for (int k = TACIT_WIRE_HELLO; k <= TACIT_WIRE_BATCH; k++) {
        h.kind = (tacit_wire_kind)k;
        tacit_wire_write(frame, &h);
        check_ok(tacit_wire_read(&back, frame, sizeof frame, 0, NULL), NULL);
        check_same_header(&back, &h);
        frame[88] = 1; /* marks are of agents */
        read_fails(&h, frame, "mark");
    }
    h = some_header(); /* no releases, and yet a signature */
    h.mark.releases = 0;
    tacit_wire_write(frame, &h);
    read_fails(&h, frame, "mark");
    memset(&h.mark, 0, sizeof h.mark);
    tacit_wire_write(frame, &h);
    check_ok(tacit_wire_read(&back, frame, sizeof frame, h.payload, NULL), NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_special_numbers_come_back),
        cmocka_unit_test(test_special_numbers_are_packed),
        cmocka_unit_test(test_every_width_and_count),
        cmocka_unit_test(test_mixed_shapes),
        cmocka_unit_test(test_no_payload),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_known_bytes),
        cmocka_unit_test(test_encoder_refuses),
        cmocka_unit_test(test_forged_packings),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_raw_numbers_must_be_finite),
        cmocka_unit_test(test_cuts_and_flips_of_payloads),
        cmocka_unit_test(test_header_bytes),
        cmocka_unit_test(test_lengths_must_agree),
        cmocka_unit_test(test_flips_of_headers),
        cmocka_unit_test(test_other_versions_are_told_from_garbage),
        cmocka_unit_test(test_headers_that_make_no_sense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
