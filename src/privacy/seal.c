/* SPDX-License-Identifier: Apache-2.0 */
#include "privacy/seal.h"

#include <sodium.h>
#include <string.h>

void tacit_chain_begin(tacit_chain *chain, const tacit_key *key, const char *purpose)
{
    *chain = (tacit_chain){0};
    crypto_generichash(chain->key, sizeof chain->key, (const unsigned char *)purpose,
                       strlen(purpose), key->bytes, sizeof key->bytes);
}

void tacit_chain_add(tacit_chain *chain, const void *bytes, size_t len)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, chain->key, sizeof chain->key, sizeof chain->mac);
    crypto_generichash_update(&state, chain->mac, sizeof chain->mac);
    crypto_generichash_update(&state, bytes, len);
    crypto_generichash_final(&state, chain->mac, sizeof chain->mac);
    sodium_memzero(&state, sizeof state);
    chain->links++;
}

void tacit_chain_wipe(tacit_chain *chain)
{
    sodium_memzero(chain, sizeof *chain);
}

bool tacit_mac_equal(const uint8_t *a, const uint8_t *b)
{
    return sodium_memcmp(a, b, TACIT_MAC_BYTES) == 0;
}

/* ---- lines ---- */

void tacit_chain_close_line(tacit_chain *chain, const char *line, size_t len,
                            char end[TACIT_LINE_END + 1])
{
    static const char before[] = ",\"mac\":\"", after[] = "\"}";
    tacit_chain_add(chain, line, len);
    memcpy(end, before, sizeof before - 1);
    sodium_bin2hex(end + sizeof before - 1, TACIT_MAC_HEX + 1, chain->mac, sizeof chain->mac);
    memcpy(end + sizeof before - 1 + TACIT_MAC_HEX, after, sizeof after);
}

bool tacit_chain_check_line(tacit_chain *chain, const char *line, size_t len)
{
    char end[TACIT_LINE_END + 1];
    if (len < TACIT_LINE_END)
        return false;
    len -= TACIT_LINE_END;
    tacit_chain_close_line(chain, line, len, end);
    return sodium_memcmp(end, line + len, TACIT_LINE_END) == 0;
}

void tacit_run_key(tacit_key *key, uint64_t seed, const char *name)
{
    static const char purpose[] = "tacit.run.seal/1"; /* NUL included: it ends there */
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(seed >> 8 * i);
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof key->bytes);
    crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
    crypto_generichash_update(&state, bytes, sizeof bytes);
    crypto_generichash_update(&state, (const unsigned char *)name, strlen(name));
    crypto_generichash_final(&state, key->bytes, sizeof key->bytes);
}
