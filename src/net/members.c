/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gossip-based peer sampling (Jelasity, Voulgaris, Guerraoui, Kermarrec, van Steen 2007, the
 * generic protocol of their figure 1 with push and pull).
 *
 * Once a cycle a peer sends half of its view (itself, new, and c/2 - 1 others, the H oldest last)
 * to one peer of the view and gets half of that one's. What is received is added; of two
 * descriptors of one peer the newer stays; then the view shrinks back to c: first up to H of the
 * oldest go (they are the likeliest to be dead), then up to S of those just sent (the other has
 * them now, so that no link is lost or doubled), then any.
 *
 * Where we differ from the paper:
 *  - A descriptor has an owner's stamp under a signature; ages, which anybody can write, decide
 *    only between equal stamps and who is old.
 *  - Ages grow once a cycle of our own and not with each request, or a flood of requests would
 *    make a whole view old.
 *  - A peer that left a request unanswered counts as older than all until something newer of it
 *    arrives, and is not asked again while there are others: the paper's `tail` would ask a dead
 *    peer for ever.
 *  - Those just sent are marked, not found by their place: a request may come in while we wait
 *    for a reply, and shuffles the view.
 *  - Requests answered in a cycle are limited, and the first bad signature ends an exchange: an
 *    honest peer has verified all it passes on.
 *
 * The samplers are those of Brahms (Bortnikov, Gurevich, Keidar, Kliot, Shraer 2009): each has a
 * secret hash and keeps the identity with the smallest value it ever saw.
 *
 * Invariants: the view holds at most c descriptors, of different identities, all verified, none
 * our own, none off the list; an exchange that fails changes nothing in it.
 */
#include "net/members.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { GRAVES = 64, GRAVE_CYCLES = 60 };
enum { IN_REQUEST = 1, IN_REPLY = 2, UNANSWERED = 4 }; /* marks of an entry */

typedef struct entry {
    tacit_descriptor d;
    uint32_t marks;
} entry;

/* What a forgotten peer signed up to `stamp` stays away until `until`. */
typedef struct grave {
    uint8_t identity[TACIT_IDENTITY_BYTES];
    uint64_t stamp, until;
} grave;

typedef struct sampler {
    uint8_t key[crypto_shorthash_KEYBYTES];
    bool full;
    uint64_t value;
    tacit_descriptor d;
} sampler;

struct tacit_members {
    tacit_members_options o;
    tacit_descriptor self;
    entry *view; /* room for c and half as many */
    uint32_t count, graves;
    bool closed, waiting, given;
    uint32_t answered; /* in this cycle */
    uint8_t asked[TACIT_IDENTITY_BYTES], last[TACIT_IDENTITY_BYTES];
    uint8_t (*list)[TACIT_IDENTITY_BYTES]; /* sorted */
    size_t listed;
    grave *grave; /* a ring, made with the first one */
    sampler *sampler;
    tacit_members_stats stats;
};

static bool same_key(const uint8_t *a, const uint8_t *b)
{
    return memcmp(a, b, TACIT_IDENTITY_BYTES) == 0;
}

/* ---- the view ---- */

void tacit_members_defaults(tacit_members_options *o)
{
    *o = (tacit_members_options){
        .view = 20, .healer = 1, .swapper = 9, .pick = TACIT_PICK_ANY, .answers = 10};
}

static tacit_status check_options(const tacit_members_options *o, tacit_error *err)
{
    if (o->view < 4 || o->view > TACIT_VIEW_MAX || o->view % 2)
        return tacit_fail(err, TACIT_EINPUT, "a view of \"%u\" must be even, from 4 to %d", o->view,
                          (int)TACIT_VIEW_MAX);
    if (o->healer > o->view / 2 || o->swapper > o->view / 2 - o->healer)
        return tacit_fail(err, TACIT_EINPUT,
                          "healer \"%u\" and swapper \"%u\" must together be at most half the "
                          "view of %u",
                          o->healer, o->swapper, o->view);
    if (o->samplers > 256)
        return tacit_fail(err, TACIT_EINPUT, "\"%u\" samplers are too many; at most 256",
                          o->samplers);
    return TACIT_OK;
}

static bool verified(tacit_members *m, const tacit_descriptor *d)
{
    m->stats.verified++;
    return m->o.verify ? m->o.verify(d, m->o.context) : tacit_descriptor_verify(d);
}

tacit_status tacit_members_create(tacit_members **out, const tacit_members_options *o,
                                  const tacit_descriptor *self, tacit_stream *stream,
                                  tacit_error *err)
{
    *out = NULL;
    tacit_status status = check_options(o, err);
    if (status)
        return status;
    tacit_members *m = calloc(1, sizeof *m);
    if (!m)
        return tacit_out_of_memory(err);
    m->o = *o;
    m->view = calloc(o->view + o->view / 2, sizeof *m->view);
    m->sampler = o->samplers ? calloc(o->samplers, sizeof *m->sampler) : NULL;
    if (!m->view || (o->samplers && !m->sampler)) {
        tacit_members_free(m);
        return tacit_out_of_memory(err);
    }
    for (uint32_t k = 0; k < o->samplers; k++)
        tacit_stream_bytes(stream, m->sampler[k].key, sizeof m->sampler[k].key);
    m->self = *self;
    m->self.age = 0;
    if (!verified(m, &m->self)) {
        tacit_members_free(m);
        return tacit_fail(err, TACIT_EVERIFY, "our own descriptor \"%.63s\" has a bad signature",
                          self->endpoint);
    }
    *out = m;
    return TACIT_OK;
}

void tacit_members_free(tacit_members *m)
{
    if (!m)
        return;
    if (m->sampler)
        sodium_memzero(m->sampler, m->o.samplers * sizeof *m->sampler);
    free(m->sampler);
    free(m->view);
    free(m->list);
    free(m->grave);
    free(m);
}

static entry *find(const tacit_members *m, const uint8_t *identity)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (same_key(m->view[i].d.identity, identity))
            return &m->view[i];
    }
    return NULL;
}

/* Order is kept: it is random, and what is cut from the front relies on that. */
static void drop(tacit_members *m, uint32_t index)
{
    m->count--;
    memmove(m->view + index, m->view + index + 1, (m->count - index) * sizeof *m->view);
}

static uint32_t age_of(const entry *e)
{
    return e->marks & UNANSWERED ? TACIT_AGE_MAX + 1 : e->d.age;
}

static uint32_t oldest(const tacit_members *m, uint32_t from, uint32_t to)
{
    uint32_t best = from;
    for (uint32_t i = from + 1; i < to; i++) {
        if (age_of(&m->view[i]) > age_of(&m->view[best]))
            best = i;
    }
    return best;
}

static void swap(tacit_members *m, uint32_t i, uint32_t j)
{
    entry e = m->view[i];
    m->view[i] = m->view[j];
    m->view[j] = e;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(a, b, TACIT_IDENTITY_BYTES);
}

static bool allowed(const tacit_members *m, const uint8_t *identity)
{
    return !m->closed ||
           (m->listed && bsearch(identity, m->list, m->listed, TACIT_IDENTITY_BYTES, by_key));
}

static bool buried(const tacit_members *m, const tacit_descriptor *d)
{
    for (uint32_t i = 0; i < GRAVES && m->grave; i++) {
        const grave *g = &m->grave[i];
        if (g->until > m->stats.cycles && d->stamp <= g->stamp &&
            same_key(g->identity, d->identity))
            return true;
    }
    return false;
}

/* ---- samplers ---- */

static void show_samplers(tacit_members *m, const tacit_descriptor *d)
{
    for (uint32_t k = 0; k < m->o.samplers; k++) {
        sampler *s = &m->sampler[k];
        uint8_t hash[crypto_shorthash_BYTES];
        crypto_shorthash(hash, d->identity, sizeof d->identity, s->key);
        uint64_t value = 0;
        for (size_t i = 0; i < sizeof value; i++) /* the same on every machine */
            value |= (uint64_t)hash[i] << 8 * i;
        bool same = s->full && same_key(s->d.identity, d->identity);
        if (s->full && !same && value >= s->value)
            continue;
        if (same && d->stamp <= s->d.stamp)
            continue;
        s->d = *d, s->value = value, s->full = true;
    }
}

static void empty_samplers(tacit_members *m, const uint8_t *identity)
{
    for (uint32_t k = 0; k < m->o.samplers; k++) {
        if (m->sampler[k].full && same_key(m->sampler[k].d.identity, identity))
            m->sampler[k].full = false;
    }
}

bool tacit_members_steady(const tacit_members *m, tacit_stream *stream, tacit_descriptor *out)
{
    uint32_t full = 0;
    for (uint32_t k = 0; k < m->o.samplers; k++)
        full += m->sampler[k].full;
    if (full == 0)
        return false;
    uint64_t pick = tacit_stream_below(stream, full);
    for (uint32_t k = 0; k < m->o.samplers; k++) {
        if (m->sampler[k].full && pick-- == 0) {
            *out = m->sampler[k].d;
            break;
        }
    }
    return true;
}

/* ---- taking descriptors in ---- */

typedef enum news { NOTHING, YOUNGER, NEWER } news;

/* What a received descriptor would change. The cheap questions, before any signature. */
static news worth(const tacit_members *m, const tacit_descriptor *d)
{
    if (same_key(d->identity, m->self.identity) || !allowed(m, d->identity) || buried(m, d))
        return NOTHING;
    const entry *e = find(m, d->identity);
    if (!e || d->stamp > e->d.stamp)
        return NEWER;
    /* The same descriptor by a shorter way: verified already, if it is the same in every byte. */
    if (d->stamp == e->d.stamp && d->age < e->d.age &&
        memcmp(d->signature, e->d.signature, sizeof d->signature) == 0 &&
        memcmp(d->curve, e->d.curve, sizeof d->curve) == 0 &&
        memcmp(d->endpoint, e->d.endpoint, sizeof d->endpoint) == 0)
        return YOUNGER;
    return NOTHING;
}

static void take(tacit_members *m, const tacit_descriptor *d, news what)
{
    entry *e = find(m, d->identity);
    if (what == YOUNGER) {
        e->d.age = d->age;
        return;
    }
    if (!e)
        e = &m->view[m->count++];
    *e = (entry){.d = *d};
    show_samplers(m, d);
}

static bool drop_marked(tacit_members *m, uint32_t mark)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->view[i].marks & mark) {
            drop(m, i);
            return true;
        }
    }
    return false;
}

/* Back to c: the paper's view.select. `mark` says which ones the other has just got from us. */
static void shrink(tacit_members *m, tacit_stream *stream, uint32_t mark)
{
    for (uint32_t k = 0; k < m->o.healer && m->count > m->o.view; k++)
        drop(m, oldest(m, 0, m->count));
    for (uint32_t k = 0; k < m->o.swapper && m->count > m->o.view; k++) {
        if (!drop_marked(m, mark))
            break;
    }
    while (m->count > m->o.view)
        drop(m, (uint32_t)tacit_stream_below(stream, m->count));
    for (uint32_t i = 0; i < m->count; i++)
        m->view[i].marks &= ~mark;
}

/* At most c/2 are looked at, so that no exchange costs more signatures than that. */
static tacit_status absorb(tacit_members *m, tacit_stream *stream, const tacit_descriptor *d,
                           uint32_t count, uint32_t mark, tacit_error *err)
{
    news what[TACIT_EXCHANGE_MAX];
    if (count > m->o.view / 2)
        count = m->o.view / 2;
    for (uint32_t i = 0; i < count; i++) {
        what[i] = worth(m, &d[i]);
        if (what[i] == NEWER && !verified(m, &d[i]))
            return tacit_fail(err, TACIT_EVERIFY, "descriptor \"%.63s\" has a bad signature",
                              d[i].endpoint);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (what[i] != NOTHING)
            take(m, &d[i], what[i]);
    }
    shrink(m, stream, mark);
    return TACIT_OK;
}

tacit_status tacit_members_introduce(tacit_members *m, tacit_stream *stream,
                                     const tacit_descriptor *d, size_t count, tacit_error *err)
{
    for (size_t i = 0; i < count; i++) {
        if (!verified(m, &d[i]))
            return tacit_fail(err, TACIT_EVERIFY, "descriptor \"%.63s\" has a bad signature",
                              d[i].endpoint);
    }
    for (size_t i = 0; i < count; i++) {
        news what = worth(m, &d[i]);
        if (what == NOTHING)
            continue;
        take(m, &d[i], what);
        /* Any one makes room, or the last c of a long list would be the view. */
        if (m->count > m->o.view)
            drop(m, (uint32_t)tacit_stream_below(stream, m->count));
    }
    return TACIT_OK;
}

tacit_status tacit_members_allow(tacit_members *m, const uint8_t *identities, size_t count,
                                 tacit_error *err)
{
    uint8_t(*list)[TACIT_IDENTITY_BYTES] = calloc(count ? count : 1, sizeof *list);
    if (!list)
        return tacit_out_of_memory(err);
    if (count)
        memcpy(list, identities, count * sizeof *list);
    qsort(list, count, sizeof *list, by_key);
    free(m->list);
    m->list = list, m->listed = count, m->closed = true;
    for (uint32_t i = m->count; i-- > 0;) {
        if (!allowed(m, m->view[i].d.identity))
            drop(m, i);
    }
    for (uint32_t k = 0; k < m->o.samplers; k++) {
        if (m->sampler[k].full && !allowed(m, m->sampler[k].d.identity))
            m->sampler[k].full = false;
    }
    return TACIT_OK;
}

tacit_status tacit_members_renew(tacit_members *m, const tacit_descriptor *self, tacit_error *err)
{
    if (!same_key(self->identity, m->self.identity))
        return tacit_fail(err, TACIT_EINPUT, "descriptor \"%.63s\" is of another identity",
                          self->endpoint);
    if (self->stamp <= m->self.stamp)
        return tacit_fail(err, TACIT_EINPUT, "descriptor \"%.63s\" is not newer than the last one",
                          self->endpoint);
    if (!verified(m, self))
        return tacit_fail(err, TACIT_EVERIFY, "our own descriptor \"%.63s\" has a bad signature",
                          self->endpoint);
    m->self = *self;
    m->self.age = 0;
    return TACIT_OK;
}

/* ---- exchanges ---- */

/* Ourselves, and c/2 - 1 of the view in random order, the H oldest only if there is room. */
static void fill(tacit_members *m, tacit_stream *stream, tacit_exchange *x, uint32_t mark)
{
    for (uint32_t i = m->count; i > 1; i--)
        swap(m, i - 1, (uint32_t)tacit_stream_below(stream, i));
    for (uint32_t k = 0; k < m->o.healer && k < m->count; k++)
        swap(m, oldest(m, 0, m->count - k), m->count - k - 1);
    x->item[0] = m->self;
    x->count = 1;
    for (uint32_t i = 0; i < m->count; i++) {
        m->view[i].marks &= ~mark;
        if (x->count == m->o.view / 2)
            continue;
        m->view[i].marks |= mark;
        x->item[x->count++] = m->view[i].d;
    }
}

/* The peer to ask, passing over those that did not answer while there are others. */
static uint32_t choose(const tacit_members *m, tacit_stream *stream)
{
    uint32_t able[TACIT_VIEW_MAX], count = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (!(m->view[i].marks & UNANSWERED))
            able[count++] = i;
    }
    if (count == 0)
        return (uint32_t)tacit_stream_below(stream, m->count);
    uint32_t best = able[tacit_stream_below(stream, count)];
    for (uint32_t k = 0; m->o.pick == TACIT_PICK_OLDEST && k < count; k++) {
        if (m->view[able[k]].d.age > m->view[best].d.age)
            best = able[k];
    }
    return best;
}

bool tacit_members_begin(tacit_members *m, tacit_stream *stream, tacit_descriptor *peer,
                         tacit_exchange *request)
{
    m->stats.cycles++;
    m->answered = 0;
    entry *silent = m->waiting ? find(m, m->asked) : NULL;
    if (silent)
        silent->marks |= UNANSWERED;
    m->stats.unanswered += m->waiting;
    m->waiting = false;
    for (uint32_t i = 0; i < m->count; i++)
        m->view[i].d.age += m->view[i].d.age < TACIT_AGE_MAX;
    if (m->count == 0)
        return false;
    *peer = m->view[choose(m, stream)].d;
    memcpy(m->asked, peer->identity, sizeof m->asked);
    m->waiting = true;
    request->reply = false;
    fill(m, stream, request, IN_REQUEST);
    return true;
}

/* Whether `x` may be looked at: it comes from whom the link says it does. */
static tacit_status check_sender(const tacit_members *m, const tacit_exchange *x, bool reply,
                                 const uint8_t *curve, tacit_error *err)
{
    if (x->count == 0 || x->count > TACIT_EXCHANGE_MAX || x->reply != reply || x->item[0].age)
        return tacit_fail(err, TACIT_EVERIFY, "an exchange is malformed");
    const tacit_descriptor *from = &x->item[0];
    if (curve && memcmp(from->curve, curve, TACIT_CURVE_BYTES) != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "descriptor \"%.63s\" came over the link of another peer: stolen",
                          from->endpoint);
    if (same_key(from->identity, m->self.identity))
        return tacit_fail(err, TACIT_EVERIFY, "an exchange comes from our own identity");
    if (!allowed(m, from->identity))
        return tacit_fail(err, TACIT_EPEER, "peer \"%.63s\" is not on the list", from->endpoint);
    return TACIT_OK;
}

/* It is there after all. An old descriptor was not verified again: the link vouches for its key. */
static void speaks(tacit_members *m, const tacit_descriptor *from)
{
    entry *e = find(m, from->identity);
    if (e && memcmp(e->d.curve, from->curve, sizeof from->curve) == 0)
        e->marks &= ~(uint32_t)UNANSWERED;
}

tacit_status tacit_members_answer(tacit_members *m, tacit_stream *stream,
                                  const uint8_t curve[TACIT_CURVE_BYTES],
                                  const tacit_exchange *request, tacit_exchange *reply,
                                  tacit_error *err)
{
    reply->count = 0;
    tacit_status status = check_sender(m, request, false, curve, err);
    if (!status && m->o.answers && m->answered >= m->o.answers)
        status = tacit_fail(err, TACIT_EPEER, "more than %u requests in one cycle", m->o.answers);
    if (!status) {
        m->answered++; /* bad ones too: they cost a signature each */
        /* Chosen before and handed out after: an error must not tell what the view holds. */
        reply->reply = true;
        fill(m, stream, reply, IN_REPLY);
        status = absorb(m, stream, request->item, request->count, IN_REPLY, err);
    }
    if (status) {
        reply->count = 0;
        m->stats.refused++;
        return status;
    }
    speaks(m, &request->item[0]);
    m->stats.answered++;
    return TACIT_OK;
}

tacit_status tacit_members_finish(tacit_members *m, tacit_stream *stream,
                                  const uint8_t curve[TACIT_CURVE_BYTES],
                                  const tacit_exchange *reply, tacit_error *err)
{
    tacit_status status = check_sender(m, reply, true, curve, err);
    if (!status && (!m->waiting || !same_key(m->asked, reply->item[0].identity)))
        status = tacit_fail(err, TACIT_EPEER, "a reply of \"%.63s\" that nobody waits for",
                            reply->item[0].endpoint);
    if (!status)
        status = absorb(m, stream, reply->item, reply->count, IN_REQUEST, err);
    if (status) {
        m->stats.refused++;
        return status;
    }
    m->waiting = false;
    speaks(m, &reply->item[0]);
    m->stats.finished++;
    return TACIT_OK;
}

void tacit_members_forget(tacit_members *m, const uint8_t identity[TACIT_IDENTITY_BYTES])
{
    entry *e = find(m, identity);
    empty_samplers(m, identity);
    if (!e)
        return;
    if (!m->grave)
        m->grave = calloc(GRAVES, sizeof *m->grave);
    if (m->grave) { /* without memory for it the peer is forgotten and may be heard of again */
        grave *g = &m->grave[m->graves++ % GRAVES];
        memcpy(g->identity, identity, sizeof g->identity);
        g->stamp = e->d.stamp;
        g->until = m->stats.cycles + GRAVE_CYCLES;
    }
    drop(m, (uint32_t)(e - m->view));
}

bool tacit_members_sample(tacit_members *m, tacit_stream *stream, tacit_descriptor *out)
{
    if (m->count == 0)
        return false;
    const entry *last = m->given ? find(m, m->last) : NULL;
    bool skip = last && m->count > 1;
    uint32_t pick = (uint32_t)tacit_stream_below(stream, m->count - skip);
    if (skip && pick >= (uint32_t)(last - m->view))
        pick++;
    *out = m->view[pick].d;
    memcpy(m->last, out->identity, sizeof m->last);
    m->given = true;
    return true;
}

size_t tacit_members_count(const tacit_members *m)
{
    return m->count;
}

const tacit_descriptor *tacit_members_at(const tacit_members *m, size_t index)
{
    return index < m->count ? &m->view[index].d : NULL;
}

const tacit_descriptor *tacit_members_self(const tacit_members *m)
{
    return &m->self;
}

tacit_members_stats tacit_members_counts(const tacit_members *m)
{
    return m->stats;
}
