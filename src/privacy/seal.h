/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_SEAL_H
#define TACIT_PRIVACY_SEAL_H
/*
 * A chain of MACs: mac_k = BLAKE2b(key, mac_{k-1} || bytes of link k), keyed, 256 bits. Whoever
 * changes, leaves out, adds or moves a link changes every mac from there on; only a link at the
 * end can be cut off unseen, so a chain ends with a link that says how many there are.
 */
#include "tacit/ledger.h"

#define TACIT_MAC_BYTES 32
#define TACIT_MAC_HEX (2 * TACIT_MAC_BYTES) /* without the NUL */

typedef struct tacit_chain {
    uint8_t key[TACIT_KEY_BYTES];
    uint8_t mac[TACIT_MAC_BYTES];
    uint64_t links;
} tacit_chain;

/* Keys for different purposes are different keys, so that no seal fits elsewhere. */
void tacit_chain_begin(tacit_chain *chain, const tacit_key *key, const char *purpose);
void tacit_chain_add(tacit_chain *chain, const void *bytes, size_t len);
void tacit_chain_wipe(tacit_chain *chain);
bool tacit_mac_equal(const uint8_t *a, const uint8_t *b);

/* ---- lines of text ---- */
#define TACIT_SEAL_LINES "tacit.ledger.lines/1"
/* A sealed line is an object whose last member is "mac": the bytes before it are the link.
 * Writes `,"mac":"...64 digits..."}` to `end`. */
#define TACIT_LINE_END (sizeof ",\"mac\":\"\"}" - 1 + TACIT_MAC_HEX)
void tacit_chain_close_line(tacit_chain *chain, const char *line, size_t len,
                            char end[TACIT_LINE_END + 1]);
/* Does `line` (with its end, without a line break) continue the chain? */
bool tacit_chain_check_line(tacit_chain *chain, const char *line, size_t len);

/* The key of a simulated run, from what its ledger's first line says. No secret. */
void tacit_run_key(tacit_key *key, uint64_t seed, const char *name);

#endif
