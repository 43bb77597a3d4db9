/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys: one's own, those of neighbours, and directories of those two hops apart.
 *
 * A KEY is signed by the agent whose it is; a receiver hands the KEYs of its neighbours on, all
 * in one PAGE, in the order of its slots. Who reads a PAGE believes nothing of it but signatures:
 * the first list of neighbours that a receiver told stays, and so does the first key of an agent
 * for an epoch, whoever handed it on. An agent that told others another key than us cannot share
 * a mask with us, and is counted (`refused`).
 *
 * A directory's entry holds the open half until its secret is needed; then one X25519 for every
 * receiver that has this partner. Later epochs overwrite earlier ones.
 */
#include <string.h>

#include "protocol/sums_inside.h"

enum { HEAD_AGENT, HEAD_EPOCH, HEAD_DEGREE, HEAD_FLAGS, HEAD_PASSED }; /* of a KEY */
enum { ENTRY_AGENT, ENTRY_KNOWN, ENTRY_DEGREE, ENTRY_OPEN, ENTRY_SIGNATURE = 7, ENTRY = 15 };

typedef struct told {
    uint64_t agent, epoch, degree;
    uint8_t open[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
} told;

/* ---- signatures ---- */

static const char domain[] = "tacit sums key 1";
enum { TEXT = sizeof domain + 3 * 8 + TACIT_MASK_KEY };

static void write_u64(uint8_t *out, uint64_t value)
{
    for (int k = 0; k < 8; k++)
        out[k] = (uint8_t)(value >> 8 * k);
}

static void text_of(uint8_t text[TEXT], const told *key)
{
    memcpy(text, domain, sizeof domain);
    write_u64(text + sizeof domain, key->agent);
    write_u64(text + sizeof domain + 8, key->epoch);
    write_u64(text + sizeof domain + 16, key->degree);
    memcpy(text + sizeof domain + 24, key->open, TACIT_MASK_KEY);
}

static tacit_status verify(sums_at *a, const told *key)
{
    uint8_t text[TEXT];
    text_of(text, key);
    return tacit_verify(&a->env, key->agent, text, sizeof text, key->signature);
}

static uint64_t tag_of(const uint8_t open[TACIT_MASK_KEY])
{
    uint64_t tag;
    memcpy(&tag, open, sizeof tag);
    return tag;
}

/* ---- own keys ---- */

/* What of an earlier epoch is still in directories is of no use any more. */
void sums_forget_keys(const tacit_sums_plan *plan, tacit_sums *s)
{
    tacit_mask_wipe(&s->keys, sizeof s->keys);
    tacit_mask_wipe(s->secret, sizeof s->secret);
    for (uint32_t k = 0; k < s->neighbours; k++) {
        sums_partner *partner = sums_directory(plan, s, k);
        tacit_mask_wipe(sums_masks(plan, s, k), plan->neighbours * sizeof(tacit_mask));
        tacit_mask_wipe(s->slot[k].own, sizeof s->slot[k].own);
        s->slot[k].cached = false;
        for (uint32_t j = 0; j < s->slot[k].partners; j++)
            if (partner[j].knows == SUMS_AGREED) {
                tacit_mask_wipe(partner[j].key, sizeof partner[j].key);
                partner[j].knows = SUMS_BAD; /* of an epoch that is over for us */
            }
    }
}

tacit_status sums_keys_renew(sums_at *a, uint64_t epoch)
{
    tacit_sums *s = a->s;
    const tacit_facts *facts = tacit_facts_of(&a->env);
    uint8_t seed[2 * TACIT_MASK_KEY], text[TEXT];
    sums_forget_keys(a->plan, s);
    tacit_draw(&a->env, SUMS_DRAW_KEYS(epoch), seed, sizeof seed);
    tacit_mask_keys_make(&s->keys, seed);
    memcpy(s->secret, seed + TACIT_MASK_KEY, sizeof s->secret);
    tacit_mask_wipe(seed, sizeof seed);
    s->epoch = epoch;
    s->keyed = true;
    told own = {.agent = facts->self, .epoch = epoch, .degree = facts->neighbours};
    memcpy(own.open, s->keys.open, sizeof own.open);
    text_of(text, &own);
    tacit_status status = tacit_sign(&a->env, text, sizeof text, s->signature);
    for (uint32_t k = 0; k < s->neighbours; k++) {
        s->slot[k].paged = false;
        s->slot[k].bad = 0;
    }
    return status == TACIT_OK ? sums_tell_key(a, TACIT_NO_SLOT, 0) : status;
}

/* One vector to many. */
static tacit_status send_to(sums_at *a, uint32_t slot, uint32_t kind, const tacit_public *v)
{
    return tacit_send(&a->env, tacit_facts_of(&a->env)->neighbour[slot], kind, v);
}

tacit_status sums_tell_key(sums_at *a, uint32_t slot, int64_t flags)
{
    tacit_status status;
    const tacit_facts *facts = tacit_facts_of(&a->env);
    tacit_public *v = sums_new(a, &a->plan->key, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, HEAD_AGENT, (int64_t)facts->self);
    tacit_public_set_int(v, 0, HEAD_EPOCH, (int64_t)a->s->epoch);
    tacit_public_set_int(v, 0, HEAD_DEGREE, facts->neighbours);
    tacit_public_set_int(v, 0, HEAD_FLAGS, flags);
    tacit_public_set_int(v, 0, HEAD_PASSED, (int64_t)sums_over(a->s));
    sums_put(v, 1, 0, a->s->keys.open, TACIT_MASK_KEY);
    sums_put(v, 2, 0, a->s->signature, TACIT_SIGNATURE);
    for (uint32_t k = 0; k < a->s->neighbours && status == TACIT_OK; k++)
        if (slot == k || slot == TACIT_NO_SLOT)
            status = send_to(a, k, TACIT_SUMS_KEY, v);
    tacit_drop(&a->env, v);
    return status;
}

/* ---- a neighbour's key ---- */

static told key_of(const tacit_public *v)
{
    told key = {.agent = (uint64_t)tacit_public_get_int(v, 0, HEAD_AGENT),
                .epoch = (uint64_t)tacit_public_get_int(v, 0, HEAD_EPOCH),
                .degree = (uint64_t)tacit_public_get_int(v, 0, HEAD_DEGREE)};
    sums_get(v, 1, 0, key.open, sizeof key.open);
    sums_get(v, 2, 0, key.signature, sizeof key.signature);
    return key;
}

/* TACIT_NO: it is not to be believed. */
static tacit_status accept_key(sums_at *a, uint32_t slot, tacit_agent from, const tacit_public *v)
{
    sums_slot *neighbour = &a->s->slot[slot];
    const told key = key_of(v);
    if (key.agent != from || key.epoch >= SUMS_ROUNDS || key.degree == 0 ||
        key.degree > TACIT_SUMS_MOST)
        return TACIT_NO;
    if (neighbour->key && key.epoch < neighbour->key_epoch)
        return TACIT_OK; /* overtaken by a later one */
    if (neighbour->key && key.epoch == neighbour->key_epoch) {
        const told known = key_of(neighbour->key);
        return memcmp(known.open, key.open, sizeof key.open) == 0 ? TACIT_OK : TACIT_NO;
    }
    tacit_status status = verify(a, &key);
    if (status != TACIT_OK)
        return status;
    tacit_drop(&a->env, neighbour->key);
    neighbour->key = tacit_keep(v);
    neighbour->key_epoch = key.epoch;
    neighbour->ready = true; /* a call of it may have waited for its degree */
    for (uint32_t k = 0; k < a->s->neighbours; k++)
        a->s->slot[k].paged = false;
    return TACIT_OK;
}

tacit_status sums_on_key(sums_at *a, uint32_t slot, tacit_agent from, const tacit_public *v)
{
    const tacit_status status = accept_key(a, slot, from, v);
    if (status == TACIT_NO) {
        a->s->refused++;
        return TACIT_OK;
    }
    if (status != TACIT_OK)
        return status;
    const int64_t flags = tacit_public_get_int(v, 0, HEAD_FLAGS);
    if (flags & SUMS_AWAY) {
        sums_lose(a, slot);
        a->s->slot[slot].up = true;
        a->s->slot[slot].paged = false;
    }
    sums_pass(a->s, slot, (uint64_t)tacit_public_get_int(v, 0, HEAD_PASSED));
    return flags & SUMS_ANSWER && a->s->keyed ? sums_tell_key(a, slot, 0) : TACIT_OK;
}

/* ---- pages ---- */

/* Keys of this epoch; of the others only whose they would be. */
static void write_page(sums_at *a, tacit_public *v)
{
    const tacit_facts *facts = tacit_facts_of(&a->env);
    tacit_public_set_int(v, 0, 0, (int64_t)a->s->epoch);
    tacit_public_set_int(v, 0, 1, a->s->neighbours);
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        const sums_slot *neighbour = &a->s->slot[k];
        const size_t at = (size_t)k * ENTRY;
        tacit_public_set_int(v, 1, at + ENTRY_AGENT, facts->neighbour[k]);
        if (!neighbour->key || neighbour->key_epoch != a->s->epoch)
            continue;
        const told key = key_of(neighbour->key);
        tacit_public_set_int(v, 1, at + ENTRY_KNOWN, 1);
        tacit_public_set_int(v, 1, at + ENTRY_DEGREE, (int64_t)key.degree);
        sums_put(v, 1, at + ENTRY_OPEN, key.open, sizeof key.open);
        sums_put(v, 1, at + ENTRY_SIGNATURE, key.signature, sizeof key.signature);
    }
}

tacit_status sums_tell_page(sums_at *a)
{
    tacit_public *v = NULL;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < a->s->neighbours && status == TACIT_OK; k++) {
        sums_slot *neighbour = &a->s->slot[k];
        if (neighbour->paged || !neighbour->up)
            continue;
        if (!v && (v = sums_new(a, &a->plan->page, &status)))
            write_page(a, v);
        if (v)
            status = send_to(a, k, TACIT_SUMS_PAGE, v);
        neighbour->paged = true;
    }
    tacit_drop(&a->env, v);
    return status;
}

static told entry_of(const tacit_public *page, uint32_t k)
{
    const size_t at = (size_t)k * ENTRY;
    told key = {.agent = (uint64_t)tacit_public_get_int(page, 1, at + ENTRY_AGENT),
                .epoch = (uint64_t)tacit_public_get_int(page, 0, 0),
                .degree = (uint64_t)tacit_public_get_int(page, 1, at + ENTRY_DEGREE)};
    sums_get(page, 1, at + ENTRY_OPEN, key.open, sizeof key.open);
    sums_get(page, 1, at + ENTRY_SIGNATURE, key.signature, sizeof key.signature);
    return key;
}

/* A list of neighbours in rising order, with this agent among them and the receiver not: its own
 * masks would hide nothing from it. The same as ever. */
static bool is_list(const sums_at *a, uint32_t slot, const tacit_public *page)
{
    const uint64_t self = tacit_facts_of(&a->env)->self;
    const uint64_t count = (uint64_t)tacit_public_get_int(page, 0, 1);
    const uint32_t known = a->s->slot[slot].partners;
    const sums_partner *partner = sums_directory(a->plan, a->s, slot);
    bool found = false;
    if (count > a->plan->neighbours || (known && count != known) ||
        (uint64_t)tacit_public_get_int(page, 0, 0) >= SUMS_ROUNDS)
        return false;
    uint64_t last = 0;
    for (uint32_t k = 0; k < count; k++) {
        const uint64_t agent = (uint64_t)tacit_public_get_int(page, 1, (size_t)k * ENTRY);
        if (agent > UINT32_MAX || (k && agent <= last) || (known && agent != partner[k].agent) ||
            agent == tacit_facts_of(&a->env)->neighbour[slot])
            return false;
        found = found || agent == self;
        last = agent;
    }
    return found;
}

static sums_partner *partner_of(const sums_at *a, uint32_t slot, uint32_t agent)
{
    sums_partner *partner = sums_directory(a->plan, a->s, slot);
    uint32_t low = 0, high = a->s->slot[slot].partners;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (partner[middle].agent < agent)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->s->slot[slot].partners && partner[low].agent == agent ? &partner[low] : NULL;
}

/* What other receivers have told of this key: the partner there, of the same agent and epoch. */
static const sums_partner *elsewhere(const sums_at *a, const sums_partner *of, uint64_t epoch)
{
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        const sums_partner *partner = partner_of(a, k, of->agent);
        if (partner && partner != of && partner->epoch == epoch && partner->knows != SUMS_UNKNOWN)
            return partner;
    }
    return NULL;
}

/* A neighbour of ours told us another one itself? */
static bool contradicts(const sums_at *a, const told *key)
{
    const tacit_facts *facts = tacit_facts_of(&a->env);
    uint32_t low = 0, high = facts->neighbours;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (facts->neighbour[middle] < key->agent)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == facts->neighbours || facts->neighbour[low] != key->agent)
        return false;
    const sums_slot *slot = &a->s->slot[low];
    return slot->key && slot->key_epoch == key->epoch &&
           memcmp(key_of(slot->key).open, key->open, sizeof key->open) != 0;
}

/* TACIT_NO: the signature is not its owner's. A second key, which its owner signed, is only not
 * believed: that is no fault of who hands it on. */
static tacit_status take_entry(sums_at *a, sums_partner *partner, const told *key)
{
    if (partner->knows != SUMS_UNKNOWN && key->epoch < partner->epoch)
        return TACIT_OK;
    const bool again = partner->knows != SUMS_UNKNOWN && key->epoch == partner->epoch;
    const sums_partner *other = again ? partner : elsewhere(a, partner, key->epoch);
    const bool second =
        (other && other->tag != tag_of(key->open)) || (!again && contradicts(a, key));
    a->s->refused += second;
    if (again || second)
        return TACIT_OK;
    if (other) { /* it was checked there, and perhaps agreed on */
        const uint32_t agent = partner->agent;
        *partner = *other;
        partner->agent = agent;
        return TACIT_OK;
    }
    tacit_status status = verify(a, key);
    if (status != TACIT_OK)
        return status;
    partner->epoch = (uint32_t)key->epoch;
    partner->tag = tag_of(key->open);
    partner->knows = SUMS_OPEN_HALF;
    memcpy(partner->key, key->open, sizeof partner->key);
    return TACIT_OK;
}

tacit_status sums_on_page(sums_at *a, uint32_t slot, const tacit_public *page)
{
    sums_slot *receiver = &a->s->slot[slot];
    sums_partner *partner = sums_directory(a->plan, a->s, slot);
    if (receiver->bad >= SUMS_BAD_PAGES || !is_list(a, slot, page)) {
        a->s->refused++;
        return TACIT_OK;
    }
    const uint64_t self = tacit_facts_of(&a->env)->self;
    const uint32_t count = (uint32_t)tacit_public_get_int(page, 0, 1);
    for (uint32_t k = 0; k < count && !receiver->partners; k++)
        partner[k].agent = (uint32_t)tacit_public_get_int(page, 1, (size_t)k * ENTRY);
    receiver->partners = count;
    for (uint32_t k = 0; k < count; k++) {
        const bool known = tacit_public_get_int(page, 1, (size_t)k * ENTRY + ENTRY_KNOWN) == 1;
        if (!known || partner[k].agent == self)
            continue;
        const told key = entry_of(page, k);
        const tacit_status status = take_entry(a, &partner[k], &key);
        if (status == TACIT_NO) { /* checking signatures is work: not for who tells stories */
            a->s->refused++;
            receiver->bad++;
            break;
        }
        if (status != TACIT_OK)
            return status;
    }
    receiver->ready = true; /* a call may have waited for it */
    return TACIT_OK;
}

/* ---- agreement ---- */

tacit_status sums_agree(sums_at *a, sums_partner *partner)
{
    if (partner->knows == SUMS_AGREED)
        return TACIT_OK;
    if (partner->knows != SUMS_OPEN_HALF)
        return TACIT_NO;
    for (uint32_t k = 0; k < a->s->neighbours; k++) {
        const sums_partner *other = partner_of(a, k, partner->agent);
        if (other && other->knows == SUMS_AGREED && other->epoch == partner->epoch &&
            other->tag == partner->tag) {
            *partner = *other;
            return TACIT_OK;
        }
    }
    uint8_t shared[TACIT_MASK_KEY] = {0};
    tacit_error quiet = {0};
    const tacit_status status = tacit_mask_agree(shared, &a->s->keys, partner->key, &quiet);
    partner->knows = status == TACIT_OK ? SUMS_AGREED : SUMS_BAD;
    memcpy(partner->key, shared, sizeof partner->key);
    tacit_mask_wipe(shared, sizeof shared);
    return status == TACIT_OK ? TACIT_OK : TACIT_NO;
}
