/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RANDOM_H
#define TACIT_RANDOM_H
/*
 * Random streams by name, not by state.
 *
 * The bytes of stream (seed, agent, purpose, counter) are the ChaCha20 keystream
 * (Bernstein's variant: 64-bit nonce, 64-bit block number) with
 *
 *     key   = BLAKE2b-256("tacit stream 1" || seed || purpose)
 *     nonce = agent,  first block = counter * 2^24.
 *
 * So a draw depends only on who draws, what for, and how often before: never on the
 * order in which agents were simulated. One stream holds 2^24 blocks (1 GiB). A counter of
 * 2^40 or more has no first block of its own: such a stream has the key
 * BLAKE2b-256(counter >> 40) keyed by the key above, and the counter modulo 2^40. So any two
 * counters name streams without a common block. tests/unit/random_test.c pins the bytes.
 */
#include "tacit/base.h"

typedef enum tacit_purpose {
    TACIT_FOR_CLOCK = 1,
    TACIT_FOR_LATENCY,
    TACIT_FOR_LOSS,
    TACIT_FOR_CHURN,
    TACIT_FOR_PEERS,
    TACIT_FOR_DATA,
    TACIT_FOR_SPLIT,
    TACIT_FOR_GRAPH,
    TACIT_FOR_NOISE,
    TACIT_FOR_PROTOCOL,
    TACIT_FOR_TEST,
    TACIT_FOR_LOTS,  /* which records take part in a release */
    TACIT_FOR_KEYS,  /* what simulated agents sign with */
    TACIT_FOR_START, /* models to begin with: public */
    TACIT_PURPOSES
} tacit_purpose;

/* The keys of one run: 32 bytes a purpose. Wipe with tacit_random_clear. */
typedef struct tacit_random {
    uint8_t key[TACIT_PURPOSES][32];
    int64_t process; /* 0: of a seed; else tacit_random_process() of whoever drew it */
} tacit_random;

void tacit_random_init(tacit_random *random, uint64_t seed);
/* Keys from the system, for real secrets: new in every process, kept nowhere. */
tacit_status tacit_random_system(tacit_random *random, tacit_error *err);
/* A mark of this process, never 0. A forked child has another one, even if it has the same process
 * id in a namespace of its own. */
int64_t tacit_random_process(void);
/* False in a child that inherited keys of the system: its noise would repeat the parent's. */
bool tacit_random_is_own(const tacit_random *random);
void tacit_random_clear(tacit_random *random);

typedef struct tacit_stream {
    uint8_t key[32];
    uint64_t agent;
    uint64_t block; /* next keystream block */
    uint32_t used;  /* bytes of `buffer` already handed out */
    uint8_t buffer[256];
} tacit_stream;

void tacit_stream_open(tacit_stream *s, const tacit_random *random, tacit_agent agent,
                       tacit_purpose purpose, uint64_t counter);
/* The same under a key that the caller derived. */
void tacit_stream_open_key(tacit_stream *s, const uint8_t key[32], tacit_agent agent,
                           uint64_t counter);
void tacit_stream_bytes(tacit_stream *s, void *out, size_t len);
uint64_t tacit_stream_u64(tacit_stream *s);
/* Uniform in 0..n-1 without modulo bias; n > 0. */
uint64_t tacit_stream_below(tacit_stream *s, uint64_t n);
/* For simulation only (data, clocks, latencies), never for a release. */
double tacit_stream_unit(tacit_stream *s);        /* uniform in [0,1), 53 bits */
double tacit_stream_exponential(tacit_stream *s); /* mean 1 */
double tacit_stream_normal(tacit_stream *s);
void tacit_stream_clear(tacit_stream *s);

/*
 * What one release, or one secret of a protocol, draws from: streams for its parts 0, 1, ...
 * With keys of a seed, part k is stream (agent, purpose, first + k). With keys of the system, the
 * key is made anew each time from bytes that the system gives at this moment, so that two
 * continuations of one memory image (a snapshot restored twice, a fork) have no draw in common,
 * and `first` makes no difference. Wipe with tacit_draws_clear.
 */
typedef struct tacit_draws {
    uint8_t key[32];
    tacit_agent agent;
    uint64_t first;
} tacit_draws;
tacit_status tacit_draws_open(tacit_draws *d, const tacit_random *random, tacit_agent agent,
                              tacit_purpose purpose, uint64_t first, tacit_error *err);
void tacit_draws_stream(tacit_stream *s, const tacit_draws *d, uint64_t part);
void tacit_draws_clear(tacit_draws *d);

/* The first word of each of the streams (agent[k], purpose, counter[k]), k < n: what
 * a simulator needs a million times a second. Same words as tacit_stream_u64. */
void tacit_random_first_words(const tacit_random *random, tacit_purpose purpose, size_t n,
                              const tacit_agent *agent, const uint64_t *counter, uint64_t *word);

#endif
