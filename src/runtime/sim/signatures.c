/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of simulated agents: real ones (Ed25519), by keys that follow from the run's seed.
 * Each is a member of its own, and signs as "agent-NUMBER".
 *
 * All agents are checked by one process, and a key that is handed on arrives at hundreds of them:
 * what was found good once is remembered (a hash for each agent), so a simulation checks a
 * signature once, where real peers would each do so.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/keys.h"
#include "runtime/sim/sim.h"

#define HASH 32

struct sim_signatures {
    pthread_mutex_t lock;
    uint32_t agents;
    uint8_t (*good)[HASH]; /* of the last good text and signature of each agent; made when needed */
};

sim_signatures *sim_signatures_create(uint32_t agents)
{
    sim_signatures *s = calloc(1, sizeof *s);
    if (s && pthread_mutex_init(&s->lock, NULL)) {
        free(s);
        return NULL;
    }
    if (s)
        s->agents = agents;
    return s;
}

void sim_signatures_free(sim_signatures *s)
{
    if (!s)
        return;
    pthread_mutex_destroy(&s->lock);
    free(s->good);
    free(s);
}

static void keys_of(const sim *s, uint32_t agent, uint8_t open[crypto_sign_PUBLICKEYBYTES],
                    uint8_t secret[crypto_sign_SECRETKEYBYTES])
{
    uint8_t seed[crypto_sign_SEEDBYTES];
    tacit_stream stream;
    tacit_stream_open(&stream, &s->random, agent, TACIT_FOR_KEYS, 0);
    tacit_stream_bytes(&stream, seed, sizeof seed);
    crypto_sign_seed_keypair(open, secret, seed);
    tacit_stream_clear(&stream);
    sodium_memzero(seed, sizeof seed);
}

void tacit_simulated_name(char name[TACIT_SIMULATED_NAME], uint32_t agent)
{
    snprintf(name, TACIT_SIMULATED_NAME, "agent-%" PRIu32, agent);
}

void sim_agent_key(const tacit_runtime *rt, tacit_agent agent, uint8_t key[TACIT_AGENT_KEY])
{
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
    keys_of((const sim *)rt, (uint32_t)agent, key, secret);
    sodium_memzero(secret, sizeof secret);
}

tacit_status sim_sign(void *ctx, const void *text, size_t len, uint8_t signature[TACIT_SIGNATURE])
{
    const sim_worker *w = ctx;
    tacit_identity own = {0};
    keys_of(w->sim, w->agent, own.public_key, own.secret);
    char name[TACIT_SIMULATED_NAME];
    tacit_simulated_name(name, w->agent);
    const tacit_signed_by by = {.run = w->sim->run, .agent = w->agent, .name = name};
    tacit_identity_sign(signature, &own, by, text, len);
    tacit_identity_wipe(&own);
    return TACIT_OK;
}

static void hash_of(const void *text, size_t len, const uint8_t signature[TACIT_SIGNATURE],
                    uint8_t hash[HASH])
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, NULL, 0, HASH);
    crypto_generichash_update(&h, signature, TACIT_SIGNATURE);
    crypto_generichash_update(&h, text, len);
    crypto_generichash_final(&h, hash, HASH);
}

/* True if this very hash was found good before; a failing allocation only forgets. */
static bool recall(sim_signatures *s, uint32_t agent, const uint8_t hash[HASH])
{
    pthread_mutex_lock(&s->lock);
    const bool known = s->good && memcmp(s->good[agent], hash, HASH) == 0;
    pthread_mutex_unlock(&s->lock);
    return known;
}

static void remember(sim_signatures *s, uint32_t agent, const uint8_t hash[HASH])
{
    pthread_mutex_lock(&s->lock);
    if (!s->good)
        s->good = calloc(s->agents, HASH);
    if (s->good)
        memcpy(s->good[agent], hash, HASH);
    pthread_mutex_unlock(&s->lock);
}

tacit_status sim_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                        const uint8_t signature[TACIT_SIGNATURE])
{
    const sim_worker *w = ctx;
    uint8_t key[TACIT_AGENT_KEY], hash[HASH];
    if (agent >= w->sim->agents)
        return TACIT_NO;
    hash_of(text, len, signature, hash);
    if (recall(w->sim->signatures, (uint32_t)agent, hash))
        return TACIT_OK;
    sim_agent_key(&w->sim->runtime, agent, key);
    char name[TACIT_SIMULATED_NAME];
    tacit_simulated_name(name, (uint32_t)agent);
    const tacit_signed_by by = {.run = w->sim->run, .agent = agent, .name = name};
    if (!tacit_identity_signed(signature, key, by, text, len))
        return TACIT_NO;
    remember(w->sim->signatures, (uint32_t)agent, hash);
    return TACIT_OK;
}
