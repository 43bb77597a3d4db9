/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_KEYS_H
#define TACIT_NET_KEYS_H
/*
 * Who a peer is: one Ed25519 key pair, made once and kept. The key of its links (X25519, for
 * CURVE) is a function of it, so that one public key names a peer, signs its descriptors and
 * authenticates its links, and a list of members has one key a line.
 */
#include "net/members.h"
#include "tacit/base.h"
#include "tacit/env.h"

#define TACIT_IDENTITY_TEXT (2 * TACIT_IDENTITY_BYTES + 1)

typedef struct tacit_identity {
    uint8_t public_key[TACIT_IDENTITY_BYTES];
    uint8_t secret[TACIT_IDENTITY_SECRET];
    uint8_t curve_public[TACIT_CURVE_BYTES];
    uint8_t curve_secret[TACIT_CURVE_BYTES];
} tacit_identity;

/* A fresh identity in a new file that only its owner can read (0600), on the disk before this
 * returns, and PATH.pub with the public key as text, for others. Refuses paths that exist. */
tacit_status tacit_identity_create(tacit_identity *out, const char *path, tacit_error *err);
/* Refuses a file that group or others can read, and what is not one of ours. */
tacit_status tacit_identity_read(tacit_identity *out, const char *path, tacit_error *err);
/* In memory only: tests, simulations. */
tacit_status tacit_identity_fresh(tacit_identity *out, tacit_error *err);
void tacit_identity_wipe(tacit_identity *identity);

/* The link key that belongs to a public key. Refuses what is no point of the curve. */
tacit_status tacit_identity_curve(uint8_t curve[TACIT_CURVE_BYTES],
                                  const uint8_t public_key[TACIT_IDENTITY_BYTES], tacit_error *err);
/* 64 lower-case hexadecimal digits, and back. */
void tacit_identity_format(char text[TACIT_IDENTITY_TEXT],
                           const uint8_t public_key[TACIT_IDENTITY_BYTES]);
tacit_status tacit_identity_parse(uint8_t public_key[TACIT_IDENTITY_BYTES], const char *text,
                                  tacit_error *err);
/* What a peer signs for an agent it hosts (tacit_sign): a text of one agent of one run, and the
 * name under which the peer says it. */
typedef struct tacit_signed_by {
    const uint8_t *run; /* TACIT_RUN_ID */
    tacit_agent agent;
    const char *name; /* of the member */
} tacit_signed_by;
void tacit_identity_sign(uint8_t signature[TACIT_SIGNATURE], const tacit_identity *identity,
                         tacit_signed_by by, const void *text, size_t len);
bool tacit_identity_signed(const uint8_t signature[TACIT_SIGNATURE],
                           const uint8_t public_key[TACIT_IDENTITY_BYTES], tacit_signed_by by,
                           const void *text, size_t len);
/* For two people on the telephone: eight groups of four digits of a hash of the key. */
#define TACIT_FINGERPRINT_TEXT 40
void tacit_identity_fingerprint(char text[TACIT_FINGERPRINT_TEXT],
                                const uint8_t public_key[TACIT_IDENTITY_BYTES]);

#endif
