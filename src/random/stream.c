/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "math/kernels.h"
#include "tacit/random.h"

#define BLOCKS_A_STREAM_LOG2 24
#define COUNTERS_LOG2 (64 - BLOCKS_A_STREAM_LOG2)
#define BLOCK_BYTES 64

static void put_le64(uint8_t out[8], uint64_t v)
{
    for (int k = 0; k < 8; k++)
        out[k] = (uint8_t)(v >> (8 * k));
}

static uint64_t get_le64(const uint8_t in[8])
{
    uint64_t v = 0;
    for (int k = 0; k < 8; k++)
        v |= (uint64_t)in[k] << (8 * k);
    return v;
}

void tacit_random_init(tacit_random *random, uint64_t seed)
{
    static const char label[] = "tacit stream 1";
    int ready = sodium_init(); /* picks the fastest ChaCha20; may be called again and again */
    (void)ready;               /* streams need no system entropy, so a failure does not matter */
    random->process = 0;
    for (int purpose = 0; purpose < TACIT_PURPOSES; purpose++) {
        uint8_t input[sizeof label - 1 + 16];
        memcpy(input, label, sizeof label - 1);
        put_le64(input + sizeof label - 1, seed);
        put_le64(input + sizeof label - 1 + 8, (uint64_t)purpose);
        crypto_generichash(random->key[purpose], 32, input, sizeof input, NULL, 0);
    }
}

void tacit_random_clear(tacit_random *random)
{
    sodium_memzero(random, sizeof *random);
}

void tacit_stream_open_key(tacit_stream *s, const uint8_t key[32], tacit_agent agent,
                           uint64_t counter)
{
    const uint64_t beyond = counter >> COUNTERS_LOG2;
    if (beyond) { /* its first block would be another counter's */
        uint8_t bytes[8];
        put_le64(bytes, beyond);
        crypto_generichash(s->key, sizeof s->key, bytes, sizeof bytes, key, 32);
    } else {
        memcpy(s->key, key, sizeof s->key);
    }
    s->agent = agent;
    s->block = counter << BLOCKS_A_STREAM_LOG2;
    s->used = sizeof s->buffer;
}

void tacit_stream_open(tacit_stream *s, const tacit_random *random, tacit_agent agent,
                       tacit_purpose purpose, uint64_t counter)
{
    tacit_stream_open_key(s, random->key[purpose], agent, counter);
}

void tacit_stream_clear(tacit_stream *s)
{
    sodium_memzero(s, sizeof *s);
}

static void key_words(uint32_t word[8], const uint8_t key[32])
{
    for (int w = 0; w < 8; w++) {
        const uint8_t *b = key + 4 * w;
        word[w] =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    }
}

/* Many blocks side by side; few by libsodium, which is as quick with them. */
static void keystream(tacit_stream *s, uint8_t *out, size_t blocks)
{
    enum { FEW = 8 };
    if (blocks <= FEW || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
        uint8_t nonce[8];
        put_le64(nonce, s->agent);
        memset(out, 0, blocks * BLOCK_BYTES);
        crypto_stream_chacha20_xor_ic(out, out, blocks * BLOCK_BYTES, nonce, s->block, s->key);
    } else {
        uint32_t key[8];
        key_words(key, s->key);
        tacit_kernels_get()->chacha_blocks(key, s->agent, s->block, blocks, out);
        sodium_memzero(key, sizeof key);
    }
    s->block += blocks;
}

void tacit_stream_bytes(tacit_stream *s, void *out, size_t len)
{
    uint8_t *to = out;
    while (len > 0) {
        if (s->used == sizeof s->buffer) {
            size_t whole = len / sizeof s->buffer * sizeof s->buffer;
            if (whole > 0) { /* bulk: straight into the caller's memory */
                keystream(s, to, whole / BLOCK_BYTES);
                to += whole;
                len -= whole;
                continue;
            }
            keystream(s, s->buffer, sizeof s->buffer / BLOCK_BYTES);
            s->used = 0;
        }
        size_t n = sizeof s->buffer - s->used;
        if (n > len)
            n = len;
        memcpy(to, s->buffer + s->used, n);
        s->used += (uint32_t)n;
        to += n;
        len -= n;
    }
}

uint64_t tacit_stream_u64(tacit_stream *s)
{
    uint8_t bytes[8];
    tacit_stream_bytes(s, bytes, sizeof bytes);
    return get_le64(bytes);
}

uint64_t tacit_stream_below(tacit_stream *s, uint64_t n)
{
    /* Refuse the first 2^64 mod n words, so that the rest is a multiple of n. */
    uint64_t refuse = (0 - n) % n, word;
    do {
        word = tacit_stream_u64(s);
    } while (word < refuse);
    return word % n;
}

double tacit_stream_unit(tacit_stream *s)
{
    return (double)(tacit_stream_u64(s) >> 11) * 0x1p-53;
}

double tacit_stream_exponential(tacit_stream *s)
{
    return -log1p(-tacit_stream_unit(s));
}

double tacit_stream_normal(tacit_stream *s)
{
    double radius = sqrt(2 * tacit_stream_exponential(s));
    return radius * cos(6.283185307179586 * tacit_stream_unit(s));
}

void tacit_random_first_words(const tacit_random *random, tacit_purpose purpose, size_t n,
                              const tacit_agent *agent, const uint64_t *counter, uint64_t *word)
{
    uint32_t key[8];
    key_words(key, random->key[purpose]);
    enum { PIECE = 64 };
    uint64_t block[PIECE];
    for (size_t at = 0; at < n; at += PIECE) {
        size_t count = n - at < PIECE ? n - at : PIECE;
        for (size_t k = 0; k < count; k++)
            block[k] = counter[at + k] << BLOCKS_A_STREAM_LOG2;
        tacit_kernels_get()->chacha_words(key, count, agent + at, block, word + at);
        for (size_t k = 0; k < count; k++)
            if (counter[at + k] >> COUNTERS_LOG2) { /* under a key of its own */
                tacit_stream stream;
                tacit_stream_open(&stream, random, agent[at + k], purpose, counter[at + k]);
                word[at + k] = tacit_stream_u64(&stream);
                tacit_stream_clear(&stream);
            }
    }
    sodium_memzero(key, sizeof key);
}
