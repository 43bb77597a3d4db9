/* SPDX-License-Identifier: Apache-2.0 */
/* What was saved comes back, shared where it was shared; anything else is refused. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/saver.h"
#include "testing.h"

enum { HEADER = 8, CHECKSUM = 32, CROWD = 1500 };

typedef struct fixture {
    tacit_pool *pool, *fresh; /* of the saved and of the loaded vectors */
    tacit_shape shape, other;
    tacit_public *open;
    tacit_secret *hidden;
    tacit_vector *crowd[CROWD];
    tacit_saver *saver;
    const uint8_t *bytes;
    size_t len;
} fixture;

static const tacit_segment segments[] = {{"a", TACIT_F64, 3}, {"b", TACIT_I64, 1}};
static const tacit_segment longer[] = {{"a", TACIT_F64, 5}};

static void save_all(fixture *f, int crowd)
{
    tacit_save_u64(f->saver, 0x0123456789abcdefu);
    tacit_save_f64(f->saver, -0.0);
    tacit_save_f64(f->saver, -INFINITY);
    tacit_save_bytes(f->saver, "salt", 5);
    tacit_save_bytes(f->saver, "", 0);
    tacit_save_public(f->saver, f->open);
    tacit_save_public(f->saver, NULL);
    tacit_save_secret(f->saver, f->hidden);
    tacit_save_public(f->saver, f->open);
    tacit_save_secret(f->saver, f->hidden);
    for (int k = 0; k < crowd; k++) {
        f->crowd[k] = tacit_pool_vector(f->pool, &f->shape, 0);
        tacit_vector_set(f->crowd[k], 0, 1, k);
        tacit_save_vector(f->saver, f->crowd[k]);
    }
    for (int k = crowd; k-- > 0;)
        tacit_save_vector(f->saver, f->crowd[k]);
    tacit_save_u64(f->saver, 7);
}

static fixture fixture_make(int crowd)
{
    fixture f = {.pool = tacit_pool_create(false),
                 .fresh = tacit_pool_create(false),
                 .saver = tacit_saver_create()};
    tacit_error err = {0};
    check_ok(tacit_shape_init(&f.shape, segments, 2, &err), &err);
    check_ok(tacit_shape_init(&f.other, longer, 1, &err), &err);
    tacit_vector *v = tacit_pool_vector(f.pool, &f.shape, 0);
    tacit_vector *w = tacit_pool_vector(f.pool, &f.shape, TACIT_VECTOR_SECRET);
    f.open = tacit_vector_public(v);
    f.hidden = tacit_vector_secret(w);
    tacit_public_set(f.open, 0, 2, 2.5);
    tacit_public_set_int(f.open, 1, 0, INT64_MAX);
    tacit_vector_set(w, 0, 0, -1.25);
    save_all(&f, crowd);
    check_ok(tacit_saver_finish(f.saver, &f.bytes, &f.len, &err), &err);
    return f;
}

static void fixture_free(fixture *f)
{
    tacit_saver_free(f->saver);
    tacit_pool_free(f->pool);
    tacit_pool_free(f->fresh);
}

static tacit_loader *open_bytes(fixture *f, const uint8_t *bytes, size_t len)
{
    tacit_error err = {0};
    tacit_loader *l = NULL;
    check_ok(tacit_loader_create(&l, bytes, len, &err), &err);
    tacit_loader_use(l, f->fresh);
    return l;
}

/* Past the numbers, so that vectors come next. */
static void skip_numbers(tacit_loader *l)
{
    char salt[5];
    assert_true(tacit_load_u64(l) == 0x0123456789abcdefu);
    assert_true(signbit(tacit_load_f64(l)));
    assert_true(isinf(tacit_load_f64(l)));
    tacit_load_bytes(l, salt, 5);
    assert_string_equal(salt, "salt");
    tacit_load_bytes(l, salt, 0);
}

static void test_round_trip(void **state)
{
    (void)state;
    fixture f = fixture_make(CROWD);
    tacit_loader *l = open_bytes(&f, f.bytes, f.len);
    static tacit_vector *crowd[CROWD];
    skip_numbers(l);
    tacit_public *open = tacit_load_public(l, &f.shape);
    assert_true(tacit_public_get(open, 0, 2) == 2.5);
    assert_true(tacit_public_get_int(open, 1, 0) == INT64_MAX);
    assert_null(tacit_load_public(l, &f.shape));
    tacit_secret *hidden = tacit_load_secret(l, &f.shape);
    tacit_vector *w = tacit_vector_of_secret(hidden);
    assert_true(tacit_vector_get(w, 0, 0) == -1.25);
    assert_true(w->flags & TACIT_VECTOR_SECRET); /* still wiped when dropped */
    assert_ptr_equal(tacit_load_public(l, &f.shape), open);
    assert_ptr_equal(tacit_load_secret(l, &f.shape), hidden);
    assert_int_equal(w->refs, 2);
    for (int k = 0; k < CROWD; k++) {
        crowd[k] = tacit_load_vector(l, &f.shape);
        assert_true(tacit_vector_get(crowd[k], 0, 1) == k);
    }
    for (int k = CROWD; k-- > 0;)
        assert_ptr_equal(tacit_load_vector(l, &f.shape), crowd[k]);
    assert_int_equal(tacit_load_u64(l), 7);
    check_ok(tacit_loader_status(l, NULL), NULL);
    assert_int_equal(tacit_load_u64(l), 0); /* there is no more */
    tacit_error err = {0};
    check_fails(tacit_loader_status(l, &err), TACIT_EVERIFY, &err, "too early");
    tacit_loader_free(l);
    fixture_free(&f);
}

static void test_equal_contents_give_equal_bytes(void **state)
{
    (void)state;
    fixture f = fixture_make(20), g = fixture_make(20);
    assert_int_equal(f.len, g.len);
    assert_memory_equal(f.bytes, g.bytes, f.len);
    fixture_free(&f);
    fixture_free(&g);
}

/* How references are counted, and in which memory, belongs to the pool that loads. */
static void test_flags_of_memory_stay_behind(void **state)
{
    (void)state;
    fixture f = fixture_make(0);
    tacit_pool *solo = tacit_pool_create(true);
    tacit_saver *saver = tacit_saver_create(), *plain = tacit_saver_create();
    const uint8_t *bytes, *others;
    size_t len, length;
    tacit_error err = {0};
    tacit_save_vector(saver, tacit_pool_vector(solo, &f.shape, TACIT_VECTOR_FROZEN));
    tacit_save_vector(plain, tacit_pool_vector(f.pool, &f.shape, TACIT_VECTOR_FROZEN));
    check_ok(tacit_saver_finish(saver, &bytes, &len, &err), &err);
    check_ok(tacit_saver_finish(plain, &others, &length, &err), &err);
    assert_int_equal(len, length);
    assert_memory_equal(bytes, others, len);
    tacit_loader *l = open_bytes(&f, bytes, len);
    assert_int_equal(tacit_load_vector(l, &f.shape)->flags, TACIT_VECTOR_FROZEN);
    tacit_loader_free(l);
    tacit_saver_free(saver);
    tacit_saver_free(plain);
    tacit_pool_free(solo);
    fixture_free(&f);
}

static void test_cut_bytes_are_refused(void **state)
{
    (void)state;
    fixture f = fixture_make(2);
    tacit_error err = {0};
    tacit_loader *l = NULL;
    for (size_t len = 0; len < f.len; len++) {
        uint8_t *cut = malloc(len + 1); /* a sanitizer sees reads past the end */
        memcpy(cut, f.bytes, len);
        check_fails(tacit_loader_create(&l, cut, len, &err), TACIT_EVERIFY, &err, "cut short");
        assert_null(l);
        free(cut);
    }
    uint8_t *longer_by_one = calloc(1, f.len + 1);
    memcpy(longer_by_one, f.bytes, f.len);
    assert_int_equal(tacit_loader_create(&l, longer_by_one, f.len + 1, &err), TACIT_EVERIFY);
    free(longer_by_one);
    fixture_free(&f);
}

static void test_edited_bytes_are_refused(void **state)
{
    (void)state;
    fixture f = fixture_make(2);
    uint8_t *copy = malloc(f.len);
    for (size_t at = 0; at < f.len; at++)
        for (int bit = 0; bit < 8; bit++) {
            tacit_error err = {0};
            tacit_loader *l = NULL;
            memcpy(copy, f.bytes, f.len);
            copy[at] ^= (uint8_t)(1 << bit);
            check_fails(tacit_loader_create(&l, copy, f.len, &err), TACIT_EVERIFY, &err, "edited");
            assert_null(l);
        }
    free(copy);
    fixture_free(&f);
}

/* Once failed, a loader hands out zeros and NULL, and keeps its first complaint. */
static void check_dead(fixture *f, tacit_loader *l, const char *why)
{
    tacit_error err = {0};
    char block[5] = "dirt";
    check_fails(tacit_loader_status(l, &err), TACIT_EVERIFY, &err, why);
    assert_int_equal(tacit_load_u64(l), 0);
    assert_true(tacit_load_f64(l) == 0);
    tacit_load_bytes(l, block, 5);
    assert_true(sodium_is_zero((const uint8_t *)block, 5));
    assert_null(tacit_load_public(l, &f->shape));
    assert_null(tacit_load_secret(l, &f->shape));
    tacit_loader_refuse(l, "something else");
    check_fails(tacit_loader_status(l, &err), TACIT_EVERIFY, &err, why);
    tacit_loader_free(l);
}

static void test_wrong_order_is_refused(void **state)
{
    (void)state;
    fixture f = fixture_make(2);
    char block[16];
    tacit_loader *l = open_bytes(&f, f.bytes, f.len);
    tacit_load_f64(l); /* a whole number is there */
    check_dead(&f, l, "something else");
    l = open_bytes(&f, f.bytes, f.len);
    tacit_load_bytes(l, block, 5);
    check_dead(&f, l, "something else");
    l = open_bytes(&f, f.bytes, f.len);
    assert_null(tacit_load_public(l, &f.shape));
    check_dead(&f, l, "shape");
    l = open_bytes(&f, f.bytes, f.len);
    tacit_load_u64(l);
    tacit_load_f64(l);
    tacit_load_f64(l);
    tacit_load_bytes(l, block, 6); /* five are there */
    check_dead(&f, l, "length");
    l = open_bytes(&f, f.bytes, f.len);
    skip_numbers(l);
    tacit_load_u64(l); /* a vector is there */
    check_dead(&f, l, "something else");
    l = open_bytes(&f, f.bytes, f.len);
    tacit_loader_refuse(l, "no sense");
    check_dead(&f, l, "no sense");
    fixture_free(&f);
}

static void test_wrong_shape_is_refused(void **state)
{
    (void)state;
    fixture f = fixture_make(2);
    tacit_loader *l = open_bytes(&f, f.bytes, f.len);
    skip_numbers(l);
    assert_null(tacit_load_public(l, &f.other));
    check_dead(&f, l, "shape");
    l = open_bytes(&f, f.bytes, f.len);
    skip_numbers(l);
    tacit_load_public(l, &f.shape);
    tacit_load_public(l, &f.shape);
    tacit_load_secret(l, &f.shape);
    assert_null(tacit_load_public(l, &f.other)); /* a mention of the first one */
    check_dead(&f, l, "not there");
    fixture_free(&f);
}

/* A protocol writes its own save and load: they must not be a way around a release. */
static void test_secret_does_not_come_back_as_public(void **state)
{
    (void)state;
    fixture f = fixture_make(0);
    tacit_loader *l = open_bytes(&f, f.bytes, f.len);
    skip_numbers(l);
    assert_non_null(tacit_load_public(l, &f.shape));
    assert_null(tacit_load_public(l, &f.shape));
    assert_null(tacit_load_public(l, &f.shape)); /* here the secret was saved */
    check_dead(&f, l, "secret");
    fixture_free(&f);
}

/* Anybody can compute the checksum, so that the loader must not trust what is under it. */
static void forge(uint8_t *bytes, size_t len)
{
    crypto_generichash(bytes + len - CHECKSUM, CHECKSUM, bytes, len - CHECKSUM, NULL, 0);
}

static void test_forged_bytes_do_no_harm(void **state)
{
    (void)state;
    fixture f = fixture_make(3);
    uint8_t *copy = malloc(f.len);
    dice d = {11};
    int refused = 0;
    for (int round = 0; round < 5000; round++) {
        memcpy(copy, f.bytes, f.len);
        for (uint64_t edits = 1 + dice_below(&d, 4); edits-- > 0;)
            copy[HEADER + dice_below(&d, f.len - HEADER - CHECKSUM)] =
                (uint8_t)(dice_unit(&d) < 0.5 ? dice_below(&d, 8) : dice_below(&d, 256));
        forge(copy, f.len);
        tacit_loader *l = open_bytes(&f, copy, f.len);
        char salt[5];
        tacit_load_u64(l);
        tacit_load_f64(l);
        tacit_load_f64(l);
        tacit_load_bytes(l, salt, 5);
        tacit_load_bytes(l, salt, 0);
        for (int k = 0; k < 11; k++) {
            const tacit_vector *v = tacit_load_vector(l, &f.shape);
            if (v)
                assert_int_equal(v->shape->bytes, f.shape.bytes);
        }
        tacit_load_u64(l);
        refused += tacit_loader_status(l, NULL) != TACIT_OK;
        tacit_loader_free(l);
    }
    assert_in_range(refused, 500, 4999);
    free(copy);
    fixture_free(&f);
}

typedef struct gathered {
    uint8_t *bytes;
    size_t len, pieces, refuse_at;
} gathered;

static bool gather(void *ctx, const void *bytes, size_t len)
{
    gathered *g = ctx;
    if (++g->pieces == g->refuse_at)
        return false;
    g->bytes = realloc(g->bytes, g->len + len);
    memcpy(g->bytes + g->len, bytes, len);
    g->len += len;
    return true;
}

/* A saver with a sink says the same, in pieces; a sink that is full ends it. */
static void test_pieces_add_up_to_the_whole(void **state)
{
    (void)state;
    gathered g = {0}, full = {.refuse_at = 2};
    tacit_saver *whole = tacit_saver_create(), *pieces = tacit_saver_create_to(gather, &g);
    tacit_saver *refused = tacit_saver_create_to(gather, &full);
    for (uint64_t k = 0; k < 200000; k++) {
        tacit_save_u64(whole, k);
        tacit_save_u64(pieces, k);
        tacit_save_u64(refused, k);
    }
    const uint8_t *bytes;
    size_t len;
    tacit_error err = {0};
    check_ok(tacit_saver_finish(whole, &bytes, &len, &err), &err);
    check_ok(tacit_saver_finish(pieces, NULL, NULL, &err), &err);
    assert_true(g.pieces > 3);
    assert_int_equal(g.len, len);
    assert_memory_equal(g.bytes, bytes, len);
    assert_int_not_equal(tacit_saver_finish(refused, NULL, NULL, &err), TACIT_OK);
    assert_int_equal(full.pieces, 2); /* nothing after the refusal */
    tacit_saver_free(whole);
    tacit_saver_free(pieces);
    tacit_saver_free(refused);
    free(g.bytes);
    free(full.bytes);
}

static void test_empty_checkpoint(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_saver *saver = tacit_saver_create();
    const uint8_t *bytes;
    size_t len;
    tacit_loader *l = NULL;
    check_ok(tacit_saver_finish(saver, &bytes, &len, &err), &err);
    assert_int_equal(len, HEADER + CHECKSUM);
    check_ok(tacit_loader_create(&l, bytes, len, &err), &err);
    check_ok(tacit_loader_status(l, &err), &err);
    tacit_loader_free(l);
    tacit_loader_free(NULL);
    tacit_saver_free(saver);
    tacit_saver_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_equal_contents_give_equal_bytes),
        cmocka_unit_test(test_flags_of_memory_stay_behind),
        cmocka_unit_test(test_cut_bytes_are_refused),
        cmocka_unit_test(test_edited_bytes_are_refused),
        cmocka_unit_test(test_wrong_order_is_refused),
        cmocka_unit_test(test_wrong_shape_is_refused),
        cmocka_unit_test(test_secret_does_not_come_back_as_public),
        cmocka_unit_test(test_forged_bytes_do_no_harm),
        cmocka_unit_test(test_pieces_add_up_to_the_whole),
        cmocka_unit_test(test_empty_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
