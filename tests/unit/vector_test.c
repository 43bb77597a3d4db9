/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes, public arithmetic, and the memory vectors live in: pools and scratch. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "testing.h"

/* One vector of each kind of number, in pool memory. */
typedef struct room {
    tacit_pool *pool;
    tacit_shape mixed;  /* 3 f32, 5 f64, 2 i64 */
    tacit_shape reals;  /* 37 f32, 21 f64 */
    tacit_shape lonely; /* 9 f32 */
} room;

static const tacit_segment mixed_segments[] = {
    {"singles", TACIT_F32, 3}, {"doubles", TACIT_F64, 5}, {"whole", TACIT_I64, 2}};
static const tacit_segment real_segments[] = {{"singles", TACIT_F32, 37},
                                              {"doubles", TACIT_F64, 21}};
static const tacit_segment lonely_segment = {"few", TACIT_F32, 9};

static room room_make(void)
{
    room r = {.pool = tacit_pool_create(false)};
    tacit_error err = {0};
    assert_non_null(r.pool);
    check_ok(tacit_shape_init(&r.mixed, mixed_segments, 3, &err), &err);
    check_ok(tacit_shape_init(&r.reals, real_segments, 2, &err), &err);
    check_ok(tacit_shape_init(&r.lonely, &lonely_segment, 1, &err), &err);
    return r;
}

static tacit_public *make(room *r, const tacit_shape *shape)
{
    tacit_vector *v = tacit_pool_vector(r->pool, shape, 0);
    assert_non_null(v);
    return tacit_vector_public(v);
}

static tacit_public *make_random(room *r, dice *d)
{
    tacit_public *v = make(r, &r->reals);
    for (uint32_t s = 0; s < 2; s++)
        for (size_t k = 0; k < real_segments[s].count; k++)
            tacit_public_set(v, s, k, dice_between(d, -1, 1));
    return v;
}

/* ---- shapes ---- */

static void test_shape(void **state)
{
    (void)state;
    room r = room_make();
    assert_int_equal(r.mixed.segments, 3);
    assert_int_equal(r.mixed.offset[0], 0);
    assert_int_equal(r.mixed.offset[1], 16); /* 12 bytes, up to the next eight */
    assert_int_equal(r.mixed.offset[2], 56);
    assert_int_equal(r.mixed.bytes, 72);
    tacit_public *v = make(&r, &r.mixed);
    assert_ptr_equal(tacit_public_shape(v), &r.mixed);
    assert_int_equal(tacit_public_count(v, 0), 3);
    assert_int_equal(tacit_public_count(v, 2), 2);
    tacit_pool_free(r.pool);
}

static void test_absurd_shapes_are_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_shape shape = {.segments = 77};
    const size_t absurd[] = {SIZE_MAX, SIZE_MAX / 8 + 1, SIZE_MAX / 8, (size_t)1 << 40,
                             ((size_t)1 << 31) + 1};
    for (size_t k = 0; k < sizeof absurd / sizeof *absurd; k++) {
        tacit_segment s = {"endless", TACIT_F64, absurd[k]};
        check_fails(tacit_shape_init(&shape, &s, 1, &err), TACIT_EINPUT, &err, "\"endless\"");
    }
    tacit_segment halves[2] = {{"one", TACIT_F64, (size_t)1 << 30},
                               {"other", TACIT_F64, ((size_t)1 << 30) + 1}};
    check_fails(tacit_shape_init(&shape, halves, 2, &err), TACIT_EINPUT, &err, "\"other\"");
    tacit_segment many[TACIT_MAX_SEGMENTS + 1];
    for (int k = 0; k <= TACIT_MAX_SEGMENTS; k++)
        many[k] = lonely_segment;
    check_fails(tacit_shape_init(&shape, many, 0, &err), TACIT_EINPUT, &err, "segments");
    check_fails(tacit_shape_init(&shape, many, TACIT_MAX_SEGMENTS + 1, &err), TACIT_EINPUT, &err,
                "segments");
    assert_int_equal(shape.segments, 77); /* untouched on failure */
    check_ok(tacit_shape_init(&shape, many, TACIT_MAX_SEGMENTS, &err), &err);
}

static void test_checked_sizes(void **state)
{
    (void)state;
    size_t out = 5;
    assert_true(tacit_mul_size(3, 4, &out) && out == 12);
    assert_false(tacit_mul_size(SIZE_MAX / 2 + 1, 2, &out));
    assert_true(tacit_add_size(SIZE_MAX - 1, 1, &out) && out == SIZE_MAX);
    assert_false(tacit_add_size(SIZE_MAX, 1, &out));
}

/* ---- numbers ---- */

static void test_get_and_set(void **state)
{
    (void)state;
    room r = room_make();
    tacit_public *v = make(&r, &r.mixed);
    for (uint32_t s = 0; s < 3; s++)
        for (size_t k = 0; k < mixed_segments[s].count; k++)
            assert_true(tacit_public_get(v, s, k) == 0); /* new vectors are zero */
    tacit_public_set(v, 0, 2, 0.1);
    tacit_public_set(v, 1, 4, 0.1);
    tacit_public_set_int(v, 2, 1, INT64_MIN);
    tacit_public_set(v, 2, 0, -7);
    assert_true(tacit_public_get(v, 0, 2) == (double)0.1f);
    assert_true(tacit_public_get(v, 1, 4) == 0.1);
    assert_true(tacit_public_get_int(v, 2, 1) == INT64_MIN);
    assert_true(tacit_public_get_int(v, 2, 0) == -7);
    assert_true(tacit_public_get(v, 2, 0) == -7);
    assert_true(tacit_public_get(v, 0, 1) == 0);
    tacit_public *w = make(&r, &r.mixed);
    tacit_public_copy(w, v);
    assert_true(tacit_public_get_int(w, 2, 1) == INT64_MIN);
    tacit_public_zero(w);
    assert_true(tacit_public_get_int(w, 2, 1) == 0);
    assert_ptr_equal(tacit_public_as_secret(v), v);
    assert_null(tacit_public_as_secret(NULL));
    tacit_pool_free(r.pool);
}

static double tolerance(uint32_t segment)
{
    return segment == 0 ? 1e-5 : 1e-13;
}

static void test_arithmetic(void **state)
{
    (void)state;
    room r = room_make();
    dice d = {1};
    tacit_public *x = make_random(&r, &d), *y = make_random(&r, &d), *sum = make(&r, &r.reals);
    tacit_public_copy(sum, y);
    tacit_public_axpy(sum, -1.5, x);
    tacit_public_scale(sum, 0.3);
    double distance = 0;
    for (uint32_t s = 0; s < 2; s++)
        for (size_t k = 0; k < real_segments[s].count; k++) {
            double a = tacit_public_get(x, s, k), b = tacit_public_get(y, s, k);
            assert_true(fabs(tacit_public_get(sum, s, k) - 0.3 * (b - 1.5 * a)) < tolerance(s));
            distance += (a - b) * (a - b);
        }
    assert_true(fabs(tacit_public_distance2(x, y) - distance) < 1e-12);
    assert_true(tacit_public_distance2(x, x) == 0);
    tacit_pool_free(r.pool);
}

/* Any number of terms, NULL for zero among them, also in the places where passes end. */
static void test_combine(void **state)
{
    (void)state;
    enum { MOST = 200 };
    room r = room_make();
    dice d = {2};
    const tacit_public *x[MOST];
    double coef[MOST];
    tacit_public *out = make_random(&r, &d); /* what was there must not matter */
    for (size_t n = 0; n <= MOST; n += n < 3 || (n >= 60 && n < 70) || (n > 120 && n < 135) ? 1 : 7)
        for (int holes = 0; holes < 4; holes++) {
            for (size_t k = 0; k < n; k++) {
                bool hole = holes == 1 ? k % 3 == 0 : holes == 2 ? k % 64 == 63 : holes == 3;
                x[k] = hole ? NULL : make_random(&r, &d);
                coef[k] = dice_between(&d, -1, 1);
            }
            tacit_public_combine(out, n, coef, x);
            for (uint32_t s = 0; s < 2; s++)
                for (size_t j = 0; j < real_segments[s].count; j++) {
                    double want = 0;
                    for (size_t k = 0; k < n; k++)
                        want += x[k] ? coef[k] * tacit_public_get(x[k], s, j) : 0;
                    assert_true(fabs(tacit_public_get(out, s, j) - want) <
                                tolerance(s) * (1 + (double)n));
                }
            for (size_t k = 0; k < n; k++)
                if (x[k])
                    tacit_vector_drop(r.pool, tacit_vector_of_public(x[k]));
        }
    tacit_pool_free(r.pool);
}

/* ---- pool ---- */

static void test_pool_reuses(void **state)
{
    (void)state;
    for (int solo = 0; solo < 2; solo++) {
        room r = room_make();
        tacit_pool *pool = tacit_pool_create(solo);
        tacit_vector *first = tacit_pool_vector(pool, &r.mixed, 0);
        memset(first->data, 0xff, r.mixed.bytes);
        tacit_vector_keep(first);
        tacit_vector_keep(first);
        tacit_vector_drop(pool, first);
        tacit_vector_drop(pool, first);
        assert_ptr_not_equal(tacit_pool_vector(pool, &r.mixed, 0), first); /* one holder left */
        assert_int_equal(first->data[0], 0xff);
        tacit_vector_drop(pool, first);
        tacit_vector *again = tacit_pool_vector(pool, &r.mixed, 0);
        assert_ptr_equal(again, first);
        assert_true(sodium_is_zero(again->data, r.mixed.bytes)); /* and zeroed */
        tacit_pool_free(pool);
        tacit_pool_free(r.pool);
    }
}

static void test_pool_keeps_vectors_apart(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    static tacit_vector *v[MANY];
    room r = room_make();
    const tacit_shape *shapes[3] = {&r.mixed, &r.reals, &r.lonely};
    dice d = {5};
    for (int k = 0; k < MANY; k++) {
        v[k] = tacit_pool_vector(r.pool, shapes[k % 3], 0);
        assert_int_equal((uintptr_t)v[k]->data % 16, 0);
        memset(v[k]->data, k % 251, shapes[k % 3]->bytes);
        if (k > 10 && dice_unit(&d) < 0.3) { /* some come back and are handed out again */
            int old = (int)dice_below(&d, (uint64_t)k);
            const tacit_shape *shape = shapes[old % 3];
            tacit_vector_drop(r.pool, v[old]);
            v[old] = tacit_pool_vector(r.pool, shape, 0);
            memset(v[old]->data, old % 251, shape->bytes);
        }
    }
    for (int k = 0; k < MANY; k++)
        for (size_t b = 0; b < shapes[k % 3]->bytes; b++)
            assert_int_equal(v[k]->data[b], k % 251);
    tacit_pool_free(r.pool);
}

static void test_secrets_are_wiped_when_dropped(void **state)
{
    (void)state;
    room r = room_make();
    tacit_vector *v = tacit_pool_vector(r.pool, &r.reals, TACIT_VECTOR_SECRET);
    const unsigned char *memory = v->data; /* the pool keeps it, so that we may look */
    memset(v->data, 0x77, r.reals.bytes);
    tacit_vector_keep(v);
    tacit_vector_drop(r.pool, v);
    assert_int_equal(memory[0], 0x77); /* somebody still holds it */
    tacit_vector_drop(r.pool, v);
    assert_true(sodium_is_zero(memory, r.reals.bytes));
    tacit_pool_free(r.pool);
}

static void test_drop_into_another_pool(void **state)
{
    (void)state;
    room r = room_make();
    tacit_pool *other = tacit_pool_create(false);
    tacit_vector *v = tacit_pool_vector(r.pool, &r.reals, 0);
    tacit_vector_drop(other, v);
    assert_ptr_equal(tacit_pool_vector(other, &r.reals, 0), v);
    tacit_pool_free(other);
    tacit_pool_free(r.pool);
}

static void test_keep_and_drop_are_counted(void **state)
{
    (void)state;
    room r = room_make();
    tacit_public *v = make(&r, &r.lonely);
    assert_ptr_equal(tacit_keep(v), v);
    assert_int_equal(tacit_vector_of_public(v)->refs, 2);
    tacit_vector_drop(r.pool, tacit_vector_of_public(v));
    assert_int_equal(tacit_vector_of_public(v)->refs, 1);
    tacit_pool_free(r.pool);
    tacit_pool_free(NULL);
}

/* ---- scratch ---- */

static void test_scratch_marks_nest(void **state)
{
    (void)state;
    tacit_scratch *s = tacit_scratch_create();
    assert_non_null(s);
    unsigned char *outer = tacit_scratch_alloc(s, 1000);
    memset(outer, 1, 1000);
    tacit_scratch_mark one = tacit_scratch_now(s);
    unsigned char *inner = tacit_scratch_alloc(s, 10);
    memset(inner, 2, 10);
    tacit_scratch_mark two = tacit_scratch_now(s);
    /* far more than the first chunk holds, so that rewinding crosses chunks */
    for (int k = 0; k < 100; k++) {
        unsigned char *big = tacit_scratch_alloc(s, 50000);
        assert_int_equal((uintptr_t)big % 64, 0);
        memset(big, 3, 50000);
    }
    unsigned char *huge = tacit_scratch_alloc(s, 10 << 20);
    memset(huge, 4, 10 << 20);
    tacit_scratch_rewind(s, two);
    for (int k = 0; k < 10; k++)
        assert_int_equal(inner[k], 2);
    tacit_scratch_rewind(s, one);
    assert_ptr_equal(tacit_scratch_alloc(s, 10), inner); /* the same memory again */
    for (int k = 0; k < 1000; k++)
        assert_int_equal(outer[k], 1);
    tacit_scratch_free(s);
    tacit_scratch_free(NULL);
}

static void test_scratch_does_not_grow_when_rewound(void **state)
{
    (void)state;
    tacit_scratch *s = tacit_scratch_create();
    tacit_scratch_mark mark = tacit_scratch_now(s);
    void *first[40];
    for (int round = 0; round < 100; round++) {
        for (int k = 0; k < 40; k++) {
            void *at = tacit_scratch_alloc(s, 30000);
            if (round == 0)
                first[k] = at;
            assert_ptr_equal(at, first[k]);
        }
        tacit_scratch_rewind(s, mark);
    }
    tacit_scratch_free(s);
}

static void test_scratch_refuses_the_absurd(void **state)
{
    (void)state;
    tacit_scratch *s = tacit_scratch_create();
    assert_null(tacit_scratch_alloc(s, SIZE_MAX));
    assert_null(tacit_scratch_alloc(s, SIZE_MAX - 63));
    assert_null(tacit_scratch_alloc(s, SIZE_MAX / 2));
    assert_non_null(tacit_scratch_alloc(s, 0));
    tacit_scratch_free(s);
}

static void test_scratch_vectors(void **state)
{
    (void)state;
    room r = room_make();
    tacit_scratch *s = tacit_scratch_create();
    tacit_vector *a = tacit_scratch_vector(s, &r.reals, TACIT_VECTOR_SECRET);
    tacit_vector *b = tacit_scratch_vector(s, &r.reals, 0);
    memset(a->data, 1, r.reals.bytes);
    memset(b->data, 2, r.reals.bytes);
    assert_int_equal(a->data[r.reals.bytes - 1], 1);
    assert_true(a->flags & TACIT_VECTOR_SCRATCH);
    assert_true(a->flags & TACIT_VECTOR_SECRET);
    assert_int_equal((uintptr_t)a->data % 16, 0);
    tacit_vector_drop(r.pool, b); /* means nothing: it goes when the event ends */
    assert_int_equal(b->data[0], 2);
    tacit_scratch_free(s);
    tacit_pool_free(r.pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shape),
        cmocka_unit_test(test_absurd_shapes_are_refused),
        cmocka_unit_test(test_checked_sizes),
        cmocka_unit_test(test_get_and_set),
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_combine),
        cmocka_unit_test(test_pool_reuses),
        cmocka_unit_test(test_pool_keeps_vectors_apart),
        cmocka_unit_test(test_secrets_are_wiped_when_dropped),
        cmocka_unit_test(test_drop_into_another_pool),
        cmocka_unit_test(test_keep_and_drop_are_counted),
        cmocka_unit_test(test_scratch_marks_nest),
        cmocka_unit_test(test_scratch_does_not_grow_when_rewound),
        cmocka_unit_test(test_scratch_refuses_the_absurd),
        cmocka_unit_test(test_scratch_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
