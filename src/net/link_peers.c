/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of peers of a link: an array of peers and two hash tables with linear probing, by
 * identity and by link key (as the text that frames carry). Tables are at most half full. Nothing
 * is deleted but strangers that make room for others, and then the tables are filled anew.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "net/link_internal.h"

tacit_status link_table_init(link_table *t, tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    *t = (link_table){.slots = 0};
    _Static_assert(sizeof t->hash_key == crypto_shorthash_KEYBYTES, "the key of the hash");
    crypto_shorthash_keygen(t->hash_key);
    return TACIT_OK;
}

void link_table_clear(link_table *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->peer[i]);
    free(t->peer);
    free(t->by_identity);
    free(t->by_user);
    *t = (link_table){.slots = 0};
}

static size_t slot_of(const link_table *t, const void *key, size_t len)
{
    uint64_t hash;
    crypto_shorthash((uint8_t *)&hash, key, len, t->hash_key);
    return (size_t)hash & (t->slots - 1);
}

link_peer *link_find(const link_table *t, const uint8_t identity[TACIT_IDENTITY_BYTES])
{
    if (t->slots == 0)
        return NULL;
    size_t i = slot_of(t, identity, TACIT_IDENTITY_BYTES);
    for (; t->by_identity[i]; i = (i + 1) & (t->slots - 1)) {
        link_peer *p = t->peer[t->by_identity[i] - 1];
        if (memcmp(p->counts.key, identity, TACIT_IDENTITY_BYTES) == 0)
            return p;
    }
    return NULL;
}

link_peer *link_find_user(const link_table *t, const char user[LINK_TEXT])
{
    if (t->slots == 0)
        return NULL;
    size_t i = slot_of(t, user, LINK_TEXT);
    for (; t->by_user[i]; i = (i + 1) & (t->slots - 1)) {
        link_peer *p = t->peer[t->by_user[i] - 1];
        if (memcmp(p->user, user, LINK_TEXT) == 0)
            return p;
    }
    return NULL;
}

static void put(link_table *t, uint32_t *slots, const void *key, size_t len, size_t index)
{
    size_t i = slot_of(t, key, len);
    while (slots[i])
        i = (i + 1) & (t->slots - 1);
    slots[i] = (uint32_t)index + 1;
}

static void index_peer(link_table *t, size_t index)
{
    const link_peer *p = t->peer[index];
    put(t, t->by_user, p->user, LINK_TEXT, index);
    if (p->counts.known)
        put(t, t->by_identity, p->counts.key, TACIT_IDENTITY_BYTES, index);
}

static void fill_anew(link_table *t)
{
    memset(t->by_identity, 0, t->slots * sizeof *t->by_identity);
    memset(t->by_user, 0, t->slots * sizeof *t->by_user);
    for (size_t i = 0; i < t->count; i++)
        index_peer(t, i);
}

/* Room for one more. */
static bool make_room(link_table *t)
{
    if (t->count >= UINT32_MAX / 4)
        return false;
    void *bigger = tacit_array_grow(t->peer, &t->capacity, t->count + 1, sizeof *t->peer);
    if (!bigger)
        return false;
    t->peer = bigger;
    if (2 * (t->count + 1) <= t->slots)
        return true;
    size_t slots = t->slots ? 2 * t->slots : 16;
    uint32_t *by_identity = calloc(slots, sizeof *by_identity);
    uint32_t *by_user = calloc(slots, sizeof *by_user);
    if (!by_identity || !by_user) {
        free(by_identity);
        free(by_user);
        return false;
    }
    free(t->by_identity);
    free(t->by_user);
    t->by_identity = by_identity;
    t->by_user = by_user;
    t->slots = slots;
    fill_anew(t);
    return true;
}

static void set_user(link_peer *p, const char user[LINK_TEXT], size_t index)
{
    *p = (link_peer){.index = index, .standing = LINK_STRANGER};
    memcpy(p->user, user, LINK_TEXT);
    sodium_hex2bin(p->curve, sizeof p->curve, user, LINK_TEXT, NULL, NULL, NULL);
    memcpy(p->counts.key, p->curve, sizeof p->curve);
    tacit_rate_start(&p->frames);
    tacit_rate_start(&p->bytes);
}

static link_peer *append(link_table *t, const char user[LINK_TEXT])
{
    link_peer *p = make_room(t) ? malloc(sizeof *p) : NULL;
    if (!p)
        return NULL;
    set_user(p, user, t->count);
    t->peer[t->count] = p;
    index_peer(t, t->count++);
    t->strangers++; /* until it has a name */
    return p;
}

static void name_peer(link_table *t, link_peer *p, const uint8_t identity[TACIT_IDENTITY_BYTES])
{
    memcpy(p->counts.key, identity, TACIT_IDENTITY_BYTES);
    p->counts.known = true;
    t->strangers--;
    put(t, t->by_identity, identity, TACIT_IDENTITY_BYTES, p->index);
}

tacit_status link_add(link_table *t, const uint8_t identity[TACIT_IDENTITY_BYTES], link_peer **out,
                      tacit_error *err)
{
    *out = link_find(t, identity);
    if (*out)
        return TACIT_OK;
    uint8_t curve[TACIT_CURVE_BYTES];
    tacit_status status = tacit_identity_curve(curve, identity, err);
    if (status)
        return status;
    char user[LINK_TEXT + 1];
    sodium_bin2hex(user, sizeof user, curve, sizeof curve);
    link_peer *p = link_find_user(t, user);
    if (p && p->counts.known) {
        char text[TACIT_IDENTITY_TEXT];
        tacit_identity_format(text, identity);
        return tacit_fail(err, TACIT_EINPUT,
                          "the key \"%s\" is the negative of another peer's: both have the same "
                          "link key; take one of them off the list",
                          text);
    }
    if (!p)
        p = append(t, user);
    if (!p)
        return tacit_out_of_memory(err);
    name_peer(t, p, identity);
    *out = p;
    return TACIT_OK;
}

static link_peer *quietest_stranger(const link_table *t)
{
    link_peer *best = NULL;
    for (size_t i = 0; i < t->count; i++) {
        link_peer *p = t->peer[i];
        if (!p->counts.known && (!best || p->heard < best->heard))
            best = p;
    }
    return best;
}

link_peer *link_add_stranger(link_table *t, const char user[LINK_TEXT])
{
    link_peer *p = t->strangers < LINK_STRANGERS ? NULL : quietest_stranger(t);
    if (p) {
        set_user(p, user, p->index);
        fill_anew(t);
        return p;
    }
    return append(t, user);
}
