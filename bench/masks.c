/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks: 10,000 agents tell 100 numbers each, hidden by the masks of 20 partners, both ends of
 * every pair expanding, against ChaCha20 itself: the same 160 MB out of the fastest library there
 * is, as one stream written to a buffer that stays in the cache. One core, its time and not the
 * clock's, in turns; the best turn counts, since others on the machine only make it longer.
 *
 * The words also hold their own seed's stream (a twenty-first mask) and the secret; that is part of
 * our time and not of the baseline's. What is done once in an epoch or for a set is apart.
 */
#include <sodium.h>
#ifdef WITH_OPENSSL
#include <openssl/evp.h>
#endif

#include "base/vector_internal.h"
#include "bench.h"
#include "crypto/streams_kernels.h"
#include "tacit/masks.h"

enum { AGENTS = 10000, NUMBERS = 100, PARTNERS = 20, TURNS = 15, BUFFER = 1 << 14 };
enum { PIECE = 8 * NUMBERS, STREAMS = AGENTS * PARTNERS };
static const size_t all_bytes = (size_t)STREAMS * PIECE;

static tacit_mask masks[AGENTS][PARTNERS];
static uint8_t own[AGENTS][TACIT_MASK_KEY];
static uint8_t buffer[BUFFER];
static tacit_shape shape;
static tacit_vector *word, *secret, *sum;
static uint64_t check, now; /* `now`: the round, new for every turn */

static double best(double *took)
{
    bench_median(took, TURNS); /* sorts */
    return took[0];
}

static const uint8_t key[32] = {1}, nonce[16] = {2};

static void sodium(size_t piece)
{
    for (size_t at = 0; at < all_bytes; at += piece)
        crypto_stream_chacha20_ietf(buffer, piece, nonce, key);
    check += buffer[0];
}

static void sodium_stream(void)
{
    sodium(BUFFER);
}

static void sodium_pieces(void)
{
    sodium(PIECE);
}

#ifdef WITH_OPENSSL
static EVP_CIPHER_CTX *context;

static void openssl(size_t piece, bool again)
{
    int len;
    for (size_t at = 0; at < all_bytes; at += piece) {
        if (again)
            EVP_EncryptInit_ex(context, NULL, NULL, key, nonce);
        EVP_EncryptUpdate(context, buffer, &len, buffer, (int)piece);
    }
    check += buffer[0];
}

static void openssl_stream(void)
{
    if (!context) {
        context = EVP_CIPHER_CTX_new();
        EVP_EncryptInit_ex(context, EVP_chacha20(), NULL, key, nonce);
    }
    openssl(BUFFER, false);
}

static void openssl_pieces(void)
{
    openssl(PIECE, true);
}
#endif

static void masking(void)
{
    tacit_error err;
    for (size_t a = 0; a < AGENTS; a++) {
        tacit_mask_turn turn = {.round = now, .state = TACIT_MASK_CALLED};
        bench_must(tacit_mask_word(&turn, tacit_vector_public(word), 0, tacit_vector_secret(secret),
                                   masks[a], PARTNERS, own[a], &err),
                   &err);
        check += word->data[0];
    }
}

static void masking_with(tacit_streams_kernel *kernel)
{
    for (size_t a = 0; kernel && a < AGENTS; a++)
        kernel((uint64_t *)(void *)word->data, NUMBERS, masks[a], PARTNERS,
               (uint32_t[]){(uint32_t)now, 0, 0});
    check += word->data[0];
}

static void masking_avx512(void)
{
    masking_with(tacit_streams_named("avx512"));
}

static void masking_avx2(void)
{
    masking_with(tacit_streams_named("avx2"));
}

static void masking_base(void)
{
    masking_with(tacit_streams_base);
}

/* A receiver takes the own seeds of its 20 members away again. */
static void uncovering(void)
{
    for (size_t a = 0; a < STREAMS; a++)
        tacit_mask_uncover(tacit_vector_public(sum), own[a % AGENTS], now, 0);
    check += sum->data[0];
}

typedef struct contest {
    const char *name, *note;
    void (*job)(void);
    double took[TURNS];
} contest;

static contest contests[] = {
    {"raw_sodium", "one stream of the same bytes by libsodium", sodium_stream, {0}},
    {"raw_sodium_800", "streams of 800 bytes by libsodium", sodium_pieces, {0}},
#ifdef WITH_OPENSSL
    {"raw_openssl", "one stream of the same bytes by OpenSSL", openssl_stream, {0}},
    {"raw_openssl_800", "streams of 800 bytes by OpenSSL", openssl_pieces, {0}},
#endif
    {"masking", "10000 words of 100 numbers: 20 partners' masks and the own one", masking, {0}},
    {"streams_avx512", "the partners' masks alone in 16 lanes", masking_avx512, {0}},
    {"streams_avx2", "the partners' masks alone in 8 lanes", masking_avx2, {0}},
    {"streams_base", "the partners' masks alone in 4 lanes", masking_base, {0}},
    {"uncovering", "receivers take 20 own seeds' streams away", uncovering, {0}},
};
enum { CONTESTS = sizeof contests / sizeof *contests };

static void against_raw(FILE *file)
{
    for (int turn = -1; turn < TURNS; turn++) /* turn -1 warms up */
        for (int k = 0; k < CONTESTS; k++) {
            double start = bench_worked();
            contests[k].job();
            contests[k].took[turn < 0 ? 0 : turn] = (bench_worked() - start) * 1e3;
            now++;
        }
    double raw = 1e300;
    for (int k = 0; k < CONTESTS; k++) {
        const double took = best(contests[k].took);
        raw = strncmp(contests[k].name, "raw", 3) == 0 && took < raw ? took : raw;
    }
    for (int k = 0; k < CONTESTS; k++) {
        char note[160];
        const double took = contests[k].took[0];
        if (strcmp(contests[k].name, "streams_avx512") == 0 && !tacit_streams_named("avx512"))
            continue;
        if (strcmp(contests[k].name, "streams_avx2") == 0 && !tacit_streams_named("avx2"))
            continue;
        snprintf(note, sizeof note, "%s: %.2f GB/s; against the fastest library's one stream",
                 contests[k].note, (double)all_bytes / took * 1e-6);
        bench_row(file, contests[k].name, took, raw, "ms", note);
    }
}

/* Once for a pair and an epoch. */
static void agreeing(FILE *file)
{
    enum { PAIRS = 2000 };
    double ours[TURNS], alone[TURNS];
    tacit_error err;
    tacit_mask_keys mine, other;
    tacit_mask_keys_make(&mine, own[0]);
    tacit_mask_keys_make(&other, own[1]);
    for (int turn = 0; turn < TURNS; turn++) {
        uint8_t shared[TACIT_MASK_KEY];
        double start = bench_worked();
        for (int k = 0; k < PAIRS; k++)
            bench_must(tacit_mask_agree(shared, &mine, other.open, &err), &err);
        ours[turn] = (bench_worked() - start) * 1e6 / PAIRS;
        start = bench_worked();
        for (int k = 0; k < PAIRS; k++)
            check += (uint64_t)crypto_scalarmult(shared, mine.secret, other.open);
        alone[turn] = (bench_worked() - start) * 1e6 / PAIRS;
        check += shared[0];
    }
    char note[128];
    const double took = best(ours);
    snprintf(note, sizeof note, "once a pair and epoch: %.0f a second; against X25519 alone",
             1e6 / took);
    bench_row(file, "agree", took, best(alone), "us", note);
}

/* Once for a pair and a set; kept as long as the set stays. */
static void deriving(FILE *file, double mask_ns)
{
    double took[TURNS];
    tacit_mask_place place = {.epoch = 1};
    for (int turn = 0; turn < TURNS; turn++) {
        uint8_t out[TACIT_MASK_KEY];
        double start = bench_worked();
        for (size_t a = 0; a < AGENTS; a++)
            for (size_t k = 0; k < PARTNERS; k++) {
                tacit_mask_derive(out, own[k], &place, a, k);
                check += out[0];
            }
        took[turn] = (bench_worked() - start) * 1e9 / STREAMS;
    }
    bench_row(file, "derive", best(took), mask_ns, "ns",
              "once a pair and set; against one mask of 800 bytes in a word");
}

int main(void)
{
    if (sodium_init() < 0)
        return 3;
    tacit_error err;
    FILE *file = bench_open("masks");
    bench_must(tacit_shape_init(&shape, &(tacit_segment){"numbers", TACIT_I64, NUMBERS}, 1, &err),
               &err);
    tacit_vector **each[] = {&word, &secret, &sum};
    for (int k = 0; k < 3; k++) {
        *each[k] = aligned_alloc(64, 1024);
        if (!*each[k])
            return 70;
        tacit_vector_init(*each[k], &shape, 0);
        memset((*each[k])->data, 0, PIECE);
    }
    randombytes_buf_deterministic(masks, sizeof masks, key);
    randombytes_buf_deterministic(own, sizeof own, key);
    for (size_t a = 0; a < AGENTS; a++)
        for (size_t k = 0; k < PARTNERS; k++)
            masks[a][k].minus = k % 2;
    against_raw(file);
    double mask_ns = 0;
    for (int k = 0; k < CONTESTS; k++)
        if (strcmp(contests[k].name, "masking") == 0)
            mask_ns = contests[k].took[0] * 1e6 / STREAMS;
    agreeing(file);
    deriving(file, mask_ns);
    fclose(file);
    return check == 42; /* it never is */
}
