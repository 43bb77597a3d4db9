/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an agent's key pair to the key of one stream (docs/masks.md has the bytes):
 *
 *   secret half   BLAKE2b-256, key the seed, of "tacit mask keys 1"
 *   open half     X25519(secret half, 9)
 *   shared        BLAKE2b-256, key X25519(mine, other's), of "tacit mask pair 1" and both open
 *                 halves, the smaller first
 *   stream key    BLAKE2b-256, key shared, of "tacit mask stream 1", place, both agents, the
 *                 smaller first
 *   own seed      BLAKE2b-256, key the epoch's secret, of "tacit mask own 1", place, round, attempt
 *   set           BLAKE2b-256 of "tacit mask set 1" and the party
 *
 * Numbers are 8 bytes, the lowest first. No label begins another one and what follows a label is of
 * one length, or says how long it is: different inputs are different texts.
 *
 * A stream's key knows the agents' names, not only their keys: somebody who passes off another's
 * open half as its own gets a secret it cannot compute, and streams nobody else has.
 */
#include <sodium.h>
#include <string.h>

#include "tacit/masks.h"

enum { PLACE = TACIT_MASK_RUN + 8 + 8 + TACIT_MASK_KEY, LABEL = 24, TEXT = LABEL + PLACE + 24 };

/* A text to be hashed; every one of fixed length fits. */
typedef struct text {
    uint8_t bytes[TEXT];
    size_t len;
} text;

static void put(text *t, const void *bytes, size_t len)
{
    memcpy(t->bytes + t->len, bytes, len);
    t->len += len;
}

static void put_le64(uint8_t out[8], uint64_t v)
{
    for (int k = 0; k < 8; k++)
        out[k] = (uint8_t)(v >> (8 * k));
}

static void put_u64(text *t, uint64_t v)
{
    uint8_t le[8];
    put_le64(le, v);
    put(t, le, sizeof le);
}

static text labelled(const char *label)
{
    text t = {.len = 0};
    put(&t, label, strlen(label));
    return t;
}

static void put_place(text *t, const tacit_mask_place *place)
{
    put(t, place->run, sizeof place->run);
    put_u64(t, place->epoch);
    put_u64(t, place->receiver);
    put(t, place->set, sizeof place->set);
}

static void hash(uint8_t out[TACIT_MASK_KEY], const text *t, const uint8_t key[TACIT_MASK_KEY])
{
    crypto_generichash(out, TACIT_MASK_KEY, t->bytes, t->len, key, TACIT_MASK_KEY);
}

void tacit_mask_wipe(void *secret, size_t len)
{
    sodium_memzero(secret, len);
}

void tacit_mask_keys_make(tacit_mask_keys *keys, const uint8_t seed[TACIT_MASK_KEY])
{
    int ready = sodium_init(); /* picks the fastest X25519; may be called again and again */
    (void)ready;               /* nothing here needs the system's entropy */
    const text t = labelled("tacit mask keys 1");
    hash(keys->secret, &t, seed);
    crypto_scalarmult_base(keys->open, keys->secret);
}

/* A number below 2^255 - 19: of the encodings that X25519 takes for the same point, only one. */
static bool is_canonical(const uint8_t open[TACIT_MASK_KEY])
{
    bool high = open[31] == 0x7f;
    for (int k = 1; k < 31; k++)
        high = high && open[k] == 0xff;
    return open[31] < 0x80 && !(high && open[0] >= 0xed);
}

tacit_status tacit_mask_agree(uint8_t shared[TACIT_MASK_KEY], const tacit_mask_keys *mine,
                              const uint8_t other[TACIT_MASK_KEY], tacit_error *err)
{
    uint8_t point[crypto_scalarmult_BYTES];
    memset(shared, 0, TACIT_MASK_KEY);
    const int order = memcmp(mine->open, other, TACIT_MASK_KEY);
    if (order == 0)
        return tacit_fail(err, TACIT_EINPUT, "an agent's own open key cannot be another's");
    if (!is_canonical(other) || crypto_scalarmult(point, mine->secret, other) != 0)
        return tacit_fail(
            err, TACIT_EINPUT,
            "an open key is not a point that can keep a secret; its owner has to make "
            "a new one");
    text t = labelled("tacit mask pair 1");
    put(&t, order < 0 ? mine->open : other, TACIT_MASK_KEY);
    put(&t, order < 0 ? other : mine->open, TACIT_MASK_KEY);
    hash(shared, &t, point);
    sodium_memzero(point, sizeof point);
    return TACIT_OK;
}

void tacit_mask_derive(uint8_t key[TACIT_MASK_KEY], const uint8_t shared[TACIT_MASK_KEY],
                       const tacit_mask_place *place, tacit_agent one, tacit_agent other)
{
    text t = labelled("tacit mask stream 1");
    put_place(&t, place);
    put_u64(&t, one < other ? one : other);
    put_u64(&t, one < other ? other : one);
    hash(key, &t, shared);
}

void tacit_mask_own(uint8_t seed[TACIT_MASK_KEY], const uint8_t secret[TACIT_MASK_KEY],
                    const tacit_mask_place *place, uint64_t round, uint32_t attempt)
{
    text t = labelled("tacit mask own 1");
    put_place(&t, place);
    put_u64(&t, round);
    put_u64(&t, attempt);
    hash(seed, &t, secret);
}

tacit_status tacit_mask_set(uint8_t set[TACIT_MASK_KEY], const tacit_mask_party *party,
                            tacit_error *err)
{
    if (party->count < 2)
        return tacit_fail(err, TACIT_EINPUT,
                          "a sum over %zu members would show what each holds; it takes two or more",
                          party->count);
    for (size_t k = 1; k < party->count; k++)
        if (party->member[k - 1] >= party->member[k])
            return tacit_fail(
                err, TACIT_EINPUT, "members of a masked sum must rise: %llu does not follow %llu",
                (unsigned long long)party->member[k], (unsigned long long)party->member[k - 1]);
    text t = labelled("tacit mask set 1");
    put_u64(&t, party->count);
    put_u64(&t, party->numbers);
    put_u64(&t, (uint64_t)(int64_t)party->fraction);
    put_u64(&t, party->split);
    crypto_generichash_state hashing;
    crypto_generichash_init(&hashing, NULL, 0, TACIT_MASK_KEY);
    crypto_generichash_update(&hashing, t.bytes, t.len);
    for (size_t k = 0; k < party->count; k++) {
        uint8_t le[8];
        put_le64(le, party->member[k]);
        crypto_generichash_update(&hashing, le, sizeof le);
    }
    if (party->terms)
        crypto_generichash_update(&hashing, party->terms, party->terms_len);
    crypto_generichash_final(&hashing, set, TACIT_MASK_KEY);
    return TACIT_OK;
}

void tacit_mask_hash(uint8_t out[TACIT_MASK_KEY], const char *label, const void *bytes, size_t len)
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, NULL, 0, TACIT_MASK_KEY);
    crypto_generichash_update(&h, (const uint8_t *)label, strlen(label) + 1);
    crypto_generichash_update(&h, bytes, len);
    crypto_generichash_final(&h, out, TACIT_MASK_KEY);
}
