/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors and exchanges as bytes. Numbers are little-endian.
 *
 *     exchange    1 version, 1 (0 request, 1 reply), 2 count, descriptors
 *     descriptor  32 identity, 32 CURVE key, 8 stamp, 2 age, 1 length, text, 64 signature
 *     signed      "tacit descriptor 1" NUL, identity, CURVE key, stamp, length, text
 *
 * What is signed begins with words of its own, so that no signature made for something else can
 * pass for one of a descriptor. Each exchange has exactly one encoding.
 */
#include <assert.h>
#include <sodium.h>
#include <string.h>

#include "net/members.h"

enum { WIRE_VERSION = 1 };

/* ---- descriptors ---- */

static const char signed_for[] = "tacit descriptor 1"; /* its NUL is signed too: it ends there */
enum { SIGNED_MAX = sizeof signed_for + 32 + 32 + 8 + 1 + TACIT_ENDPOINT_MAX };

static void put_number(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get_number(const uint8_t *from, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

static bool same_key(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, TACIT_IDENTITY_BYTES) == 0;
}

/* Letters, digits and signs without blanks; nothing a terminal or a log could stumble over. */
static bool printable(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] < 0x21 || text[i] > 0x7e)
            return false;
    }
    return len > 0 && len <= TACIT_ENDPOINT_MAX;
}

static size_t signed_bytes(uint8_t out[SIGNED_MAX], const tacit_descriptor *d)
{
    size_t text = strnlen(d->endpoint, TACIT_ENDPOINT_MAX), at = 0;
    memcpy(out, signed_for, sizeof signed_for), at += sizeof signed_for;
    memcpy(out + at, d->identity, sizeof d->identity), at += sizeof d->identity;
    memcpy(out + at, d->curve, sizeof d->curve), at += sizeof d->curve;
    put_number(out + at, d->stamp, 8), at += 8;
    out[at++] = (uint8_t)text;
    memcpy(out + at, d->endpoint, text);
    return at + text;
}

tacit_status tacit_descriptor_make(tacit_descriptor *out,
                                   const uint8_t secret[TACIT_IDENTITY_SECRET],
                                   const uint8_t curve[TACIT_CURVE_BYTES], const char *endpoint,
                                   uint64_t stamp, tacit_error *err)
{
    size_t len = strlen(endpoint);
    if (!printable(endpoint, len))
        return tacit_fail(err, TACIT_EINPUT,
                          "endpoint \"%.80s\" must be 1 to %d printable characters without "
                          "blanks, such as tcp://host:7000",
                          endpoint, (int)TACIT_ENDPOINT_MAX);
    *out = (tacit_descriptor){.stamp = stamp};
    memcpy(out->identity, secret + crypto_sign_SEEDBYTES, sizeof out->identity);
    memcpy(out->curve, curve, sizeof out->curve);
    memcpy(out->endpoint, endpoint, len);
    uint8_t bytes[SIGNED_MAX];
    crypto_sign_detached(out->signature, NULL, bytes, signed_bytes(bytes, out), secret);
    return TACIT_OK;
}

bool tacit_descriptor_verify(const tacit_descriptor *d)
{
    uint8_t bytes[SIGNED_MAX];
    return printable(d->endpoint, strnlen(d->endpoint, sizeof d->endpoint)) &&
           d->age <= TACIT_AGE_MAX &&
           crypto_sign_verify_detached(d->signature, bytes, signed_bytes(bytes, d), d->identity) ==
               0;
}

/* ---- bytes ---- */

size_t tacit_exchange_encode(uint8_t bytes[TACIT_EXCHANGE_BYTES], const tacit_exchange *x)
{
    assert(x->count <= TACIT_EXCHANGE_MAX);
    uint8_t *to = bytes;
    *to++ = WIRE_VERSION;
    *to++ = x->reply;
    put_number(to, x->count, 2), to += 2;
    for (uint32_t i = 0; i < x->count; i++) {
        const tacit_descriptor *d = &x->item[i];
        size_t text = strnlen(d->endpoint, TACIT_ENDPOINT_MAX);
        memcpy(to, d->identity, sizeof d->identity), to += sizeof d->identity;
        memcpy(to, d->curve, sizeof d->curve), to += sizeof d->curve;
        put_number(to, d->stamp, 8), to += 8;
        put_number(to, d->age, 2), to += 2;
        *to++ = (uint8_t)text;
        memcpy(to, d->endpoint, text), to += text;
        memcpy(to, d->signature, sizeof d->signature), to += sizeof d->signature;
    }
    return (size_t)(to - bytes);
}

/* One descriptor; its length in bytes, or 0 if it is none. */
static size_t read_descriptor(tacit_descriptor *d, const uint8_t *bytes, size_t len)
{
    const size_t before = sizeof d->identity + sizeof d->curve + 8 + 2 + 1;
    if (len < before + sizeof d->signature)
        return 0;
    size_t text = bytes[before - 1];
    if (text > TACIT_ENDPOINT_MAX || len < before + text + sizeof d->signature)
        return 0;
    *d = (tacit_descriptor){0};
    memcpy(d->identity, bytes, sizeof d->identity), bytes += sizeof d->identity;
    memcpy(d->curve, bytes, sizeof d->curve), bytes += sizeof d->curve;
    d->stamp = get_number(bytes, 8), bytes += 8;
    d->age = (uint32_t)get_number(bytes, 2), bytes += 2 + 1;
    memcpy(d->endpoint, bytes, text), bytes += text;
    memcpy(d->signature, bytes, sizeof d->signature);
    if (!printable(d->endpoint, text) || d->age > TACIT_AGE_MAX)
        return 0;
    return before + text + sizeof d->signature;
}

static bool holds(const tacit_exchange *x, uint32_t count, const uint8_t *identity)
{
    for (uint32_t i = 0; i < count; i++) {
        if (same_key(x->item[i].identity, identity))
            return true;
    }
    return false;
}

tacit_status tacit_exchange_decode(tacit_exchange *x, const uint8_t *bytes, size_t len,
                                   tacit_error *err)
{
    x->count = 0;
    if (len < 4)
        return tacit_fail(err, TACIT_EVERIFY, "an exchange of %zu bytes is too short", len);
    if (bytes[0] != WIRE_VERSION)
        return tacit_fail(err, TACIT_EPEER,
                          "exchange of version %d; this program speaks version %d: update one of "
                          "the two",
                          bytes[0], WIRE_VERSION);
    uint32_t count = (uint32_t)get_number(bytes + 2, 2);
    if (bytes[1] > 1 || count == 0 || count > TACIT_EXCHANGE_MAX)
        return tacit_fail(err, TACIT_EVERIFY, "an exchange of %u descriptors is malformed", count);
    x->reply = bytes[1];
    size_t at = 4;
    for (uint32_t i = 0; i < count; i++) {
        size_t used = read_descriptor(&x->item[i], bytes + at, len - at);
        if (used == 0 || holds(x, i, x->item[i].identity))
            return tacit_fail(err, TACIT_EVERIFY, "descriptor %u of an exchange is malformed", i);
        at += used;
    }
    if (at != len || x->item[0].age != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          at != len ? "an exchange has bytes too many"
                                    : "an exchange begins with an old descriptor");
    x->count = count;
    return TACIT_OK;
}
