/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layout: "TACITCK3", payload, BLAKE2b-256 of all before it.
 * Every item starts with a tag byte, so that a loader that drifts from its saver fails at
 * the next item instead of reading nonsense. All numbers little-endian.
 *
 * A vector is written once: later mentions are its number in order of appearance.
 */
#include "base/saver.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define HEADER 8
#define CHECKSUM 32
#define FLUSH_AT ((size_t)1 << 18) /* bytes that gather before a sink gets them */
static const char magic[HEADER] = {'T', 'A', 'C', 'I', 'T', 'C', 'K', '3'};

/* What a vector is; how its references are counted is the loading pool's business. */
#define KEPT_FLAGS ((uint32_t)(TACIT_VECTOR_SECRET | TACIT_VECTOR_FROZEN))

enum tag { TAG_U64 = 1, TAG_F64, TAG_BYTES, TAG_NULL, TAG_VECTOR, TAG_AGAIN };

struct tacit_saver {
    uint8_t *bytes; /* all of them; with a sink, those it has not got yet */
    size_t len, capacity;
    tacit_save_sink *sink;
    void *sink_ctx;
    crypto_generichash_state *hash;
    bool failed;
    /* vectors that were written, and open addressing to find them: 0 is free */
    const tacit_vector **seen;
    size_t count, seen_capacity;
    uint32_t *slot; /* place in `seen` + 1 */
    size_t slots;   /* a power of two */
};

static void put(tacit_saver *s, const void *from, size_t n);

tacit_saver *tacit_saver_create_to(tacit_save_sink *sink, void *ctx)
{
    tacit_saver *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->sink = sink;
    s->sink_ctx = ctx;
    s->slots = 1024;
    s->slot = calloc(s->slots, sizeof *s->slot);
    s->hash = malloc(sizeof *s->hash);
    if (!s->slot || !s->hash) {
        tacit_saver_free(s);
        return NULL;
    }
    crypto_generichash_init(s->hash, NULL, 0, CHECKSUM);
    put(s, magic, sizeof magic);
    return s;
}

tacit_saver *tacit_saver_create(void)
{
    return tacit_saver_create_to(NULL, NULL);
}

void tacit_saver_free(tacit_saver *s)
{
    if (!s)
        return;
    if (s->bytes)
        sodium_memzero(s->bytes, s->len);
    free(s->bytes);
    free(s->hash);
    free(s->seen);
    free(s->slot);
    free(s);
}

static void append(tacit_saver *s, const void *from, size_t n)
{
    size_t len;
    if (s->failed || n == 0)
        return;
    uint8_t *bytes =
        tacit_add_size(s->len, n, &len) ? tacit_array_grow(s->bytes, &s->capacity, len, 1) : NULL;
    if (!bytes) {
        s->failed = true;
        return;
    }
    s->bytes = bytes;
    memcpy(s->bytes + s->len, from, n);
    s->len = len;
}

/* Hand what has gathered to the sink. */
static void hand_on(tacit_saver *s)
{
    if (s->failed || !s->sink || s->len == 0)
        return;
    if (!s->sink(s->sink_ctx, s->bytes, s->len))
        s->failed = true;
    sodium_memzero(s->bytes, s->len);
    s->len = 0;
}

/* The hash takes large pieces: a call for every number would cost more than the rest. */
static void put(tacit_saver *s, const void *from, size_t n)
{
    append(s, from, n);
    if (s->sink && s->len >= FLUSH_AT) {
        crypto_generichash_update(s->hash, s->bytes, s->len);
        hand_on(s);
    }
}

static void put_word(tacit_saver *s, enum tag tag, uint64_t v)
{
    uint8_t item[9] = {(uint8_t)tag};
    for (int k = 0; k < 8; k++)
        item[1 + k] = (uint8_t)(v >> (8 * k));
    put(s, item, sizeof item);
}

void tacit_save_u64(tacit_saver *s, uint64_t value)
{
    put_word(s, TAG_U64, value);
}

void tacit_save_f64(tacit_saver *s, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_word(s, TAG_F64, bits);
}

void tacit_save_bytes(tacit_saver *s, const void *bytes, size_t len)
{
    put_word(s, TAG_BYTES, len);
    put(s, bytes, len);
}

static size_t slot_of(const tacit_saver *s, const tacit_vector *v)
{
    uint64_t hash = (uint64_t)(uintptr_t)v * 0x9E3779B97F4A7C15u;
    size_t at = (size_t)(hash >> 20) & (s->slots - 1);
    while (s->slot[at] && s->seen[s->slot[at] - 1] != v)
        at = (at + 1) & (s->slots - 1);
    return at;
}

static bool widen(tacit_saver *s)
{
    uint32_t *slot = s->count < UINT32_MAX / 2 ? calloc(s->slots * 2, sizeof *slot) : NULL;
    if (!slot)
        return false;
    free(s->slot);
    s->slot = slot;
    s->slots *= 2;
    for (size_t k = 0; k < s->count; k++)
        s->slot[slot_of(s, s->seen[k])] = (uint32_t)k + 1;
    return true;
}

/* Room to remember one more vector. */
static bool make_room(tacit_saver *s)
{
    const tacit_vector **seen =
        tacit_array_grow(s->seen, &s->seen_capacity, s->count + 1, sizeof(tacit_vector *));
    if (!seen)
        return false;
    s->seen = seen;
    return s->count * 4 < s->slots * 3 || widen(s);
}

void tacit_save_vector(tacit_saver *s, const tacit_vector *v)
{
    if (!v) {
        put_word(s, TAG_NULL, 0);
        return;
    }
    if (!make_room(s)) {
        s->failed = true;
        return;
    }
    uint32_t *slot = &s->slot[slot_of(s, v)];
    if (*slot) {
        put_word(s, TAG_AGAIN, *slot - 1);
        return;
    }
    s->seen[s->count++] = v;
    *slot = (uint32_t)s->count;
    put_word(s, TAG_VECTOR, v->shape->bytes);
    put_word(s, TAG_U64, v->flags & KEPT_FLAGS);
    put(s, v->data, v->shape->bytes);
}

void tacit_save_public(tacit_saver *s, const tacit_public *v)
{
    tacit_save_vector(s, v ? tacit_vector_of_public(v) : NULL);
}

void tacit_save_secret(tacit_saver *s, const tacit_secret *v)
{
    tacit_save_vector(s, v ? tacit_vector_of_secret(v) : NULL);
}

tacit_status tacit_saver_finish(tacit_saver *s, const uint8_t **bytes, size_t *len,
                                tacit_error *err)
{
    uint8_t checksum[CHECKSUM];
    if (s->len > 0)
        crypto_generichash_update(s->hash, s->bytes, s->len);
    crypto_generichash_final(s->hash, checksum, sizeof checksum);
    append(s, checksum, sizeof checksum);
    hand_on(s);
    if (s->failed)
        return tacit_out_of_memory(err);
    if (bytes)
        *bytes = s->bytes;
    if (len)
        *len = s->len;
    return TACIT_OK;
}

/* ---- loading ---- */

struct tacit_loader {
    const uint8_t *at, *end;
    const char *why; /* not NULL: failed */
    tacit_pool *pool;
    tacit_vector **vectors;
    size_t count, capacity;
};

tacit_status tacit_loader_create(tacit_loader **out, const uint8_t *bytes, size_t len,
                                 tacit_error *err)
{
    uint8_t checksum[CHECKSUM];
    bool good = len >= HEADER + CHECKSUM && memcmp(bytes, magic, sizeof magic) == 0;
    if (good) {
        crypto_generichash(checksum, sizeof checksum, bytes, len - CHECKSUM, NULL, 0);
        good = memcmp(checksum, bytes + len - CHECKSUM, CHECKSUM) == 0;
    }
    if (!good)
        return tacit_fail(err, TACIT_EVERIFY, "the checkpoint was cut short or edited");
    tacit_loader *l = calloc(1, sizeof *l);
    if (!l)
        return tacit_out_of_memory(err);
    l->at = bytes + HEADER;
    l->end = bytes + len - CHECKSUM;
    *out = l;
    return TACIT_OK;
}

void tacit_loader_free(tacit_loader *l)
{
    if (!l)
        return;
    free(l->vectors);
    free(l);
}

void tacit_loader_use(tacit_loader *l, tacit_pool *pool)
{
    l->pool = pool;
}

void tacit_loader_refuse(tacit_loader *l, const char *why)
{
    if (!l->why)
        l->why = why;
}

tacit_status tacit_loader_status(const tacit_loader *l, tacit_error *err)
{
    if (l->why)
        return tacit_fail(err, TACIT_EVERIFY, "the checkpoint does not fit this run: %s", l->why);
    return TACIT_OK;
}

size_t tacit_loader_left(const tacit_loader *l)
{
    return (size_t)(l->end - l->at);
}

static const uint8_t *take(tacit_loader *l, size_t n)
{
    if (l->why)
        return NULL;
    if ((size_t)(l->end - l->at) < n) {
        tacit_loader_refuse(l, "it ends too early");
        return NULL;
    }
    const uint8_t *from = l->at;
    l->at += n;
    return from;
}

static enum tag take_word(tacit_loader *l, uint64_t *value)
{
    const uint8_t *item = take(l, 9);
    *value = 0;
    if (!item)
        return 0;
    for (int k = 0; k < 8; k++)
        *value |= (uint64_t)item[1 + k] << (8 * k);
    return item[0];
}

static uint64_t take_tagged(tacit_loader *l, enum tag tag)
{
    uint64_t value;
    if (take_word(l, &value) != tag) {
        tacit_loader_refuse(l, "it holds something else where a number was expected");
        return 0;
    }
    return value;
}

uint64_t tacit_load_u64(tacit_loader *l)
{
    return take_tagged(l, TAG_U64);
}

double tacit_load_f64(tacit_loader *l)
{
    uint64_t bits = take_tagged(l, TAG_F64);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tacit_load_bytes(tacit_loader *l, void *out, size_t len)
{
    memset(out, 0, len);
    if (take_tagged(l, TAG_BYTES) != len)
        tacit_loader_refuse(l, "a block has another length");
    const uint8_t *from = take(l, len);
    if (from)
        memcpy(out, from, len);
}

static tacit_vector *remember(tacit_loader *l, tacit_vector *v)
{
    tacit_vector **vectors =
        tacit_array_grow(l->vectors, &l->capacity, l->count + 1, sizeof(tacit_vector *));
    if (!vectors) {
        tacit_loader_refuse(l, "out of memory");
        return NULL;
    }
    l->vectors = vectors;
    l->vectors[l->count++] = v;
    return v;
}

static tacit_vector *again(tacit_loader *l, const tacit_shape *shape, uint64_t number)
{
    if (number >= l->count || l->vectors[number]->shape->bytes != shape->bytes) {
        tacit_loader_refuse(l, "a vector refers to another that is not there");
        return NULL;
    }
    tacit_vector_keep(l->vectors[number]);
    return l->vectors[number];
}

tacit_vector *tacit_load_vector(tacit_loader *l, const tacit_shape *shape)
{
    uint64_t value;
    enum tag tag = take_word(l, &value);
    if (l->why || tag == TAG_NULL)
        return NULL;
    if (tag == TAG_AGAIN)
        return again(l, shape, value);
    uint64_t flags = tag == TAG_VECTOR && value == shape->bytes ? take_tagged(l, TAG_U64) : 0;
    const uint8_t *data = tag == TAG_VECTOR && value == shape->bytes ? take(l, shape->bytes) : NULL;
    if (!data) {
        tacit_loader_refuse(l, "a vector has another shape");
        return NULL;
    }
    tacit_vector *v = tacit_pool_vector_raw(l->pool, shape, (uint32_t)flags & KEPT_FLAGS);
    if (!v) {
        tacit_loader_refuse(l, "out of memory");
        return NULL;
    }
    memcpy(v->data, data, shape->bytes);
    return remember(l, v);
}

/* Saving and loading is no way around a release. */
tacit_public *tacit_load_public(tacit_loader *l, const tacit_shape *shape)
{
    tacit_vector *v = tacit_load_vector(l, shape);
    if (v && v->flags & TACIT_VECTOR_SECRET) {
        tacit_vector_drop(l->pool, v);
        tacit_loader_refuse(l, "a secret vector stands where a public one was expected");
        return NULL;
    }
    return tacit_vector_public(v);
}

tacit_secret *tacit_load_secret(tacit_loader *l, const tacit_shape *shape)
{
    return tacit_vector_secret(tacit_load_vector(l, shape));
}
