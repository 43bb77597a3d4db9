/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_MEMBERS_H
#define TACIT_NET_MEMBERS_H
/*
 * Who is there: a partial view of a network that nobody knows as a whole.
 *
 * A pure state machine: no sockets, no clock, no randomness of its own. A node moves the bytes
 * between two of them; a simulation calls one after the other. Once a cycle a node asks
 * tacit_members_begin for a peer and a request, sends it, and gives the reply to
 * tacit_members_finish; requests of others go through tacit_members_answer.
 *
 * What a peer says about itself is signed by its identity key, so that others can pass it on and
 * nobody can change it. docs/membership.md says what that promises and what it does not.
 */
#include "tacit/base.h"
#include "tacit/random.h"

enum {
    TACIT_IDENTITY_BYTES = 32, /* Ed25519 public key */
    TACIT_IDENTITY_SECRET = 64,
    TACIT_CURVE_BYTES = 32, /* ZeroMQ CURVE public key */
    TACIT_SIGNATURE_BYTES = 64,
    TACIT_ENDPOINT_MAX = 63, /* bytes of printable text, without the NUL */
    TACIT_AGE_MAX = 1000,    /* cycles; older than that is not older */
    TACIT_VIEW_MAX = 64,
    TACIT_EXCHANGE_MAX = TACIT_VIEW_MAX / 2,
    /* 4 bytes, then for each descriptor its keys, stamp, age, length, text and signature. */
    TACIT_EXCHANGE_BYTES = 4 + TACIT_EXCHANGE_MAX * (32 + 32 + 8 + 2 + 1 + 63 + 64),
};

typedef struct tacit_descriptor {
    uint8_t identity[TACIT_IDENTITY_BYTES];
    uint8_t curve[TACIT_CURVE_BYTES];
    uint8_t signature[TACIT_SIGNATURE_BYTES]; /* over all but the age */
    uint64_t stamp; /* the owner's own time or counter: newer replaces older */
    uint32_t age;   /* cycles since it left its owner; a hint of those it passed through */
    char endpoint[TACIT_ENDPOINT_MAX + 1]; /* zeros after the text */
} tacit_descriptor;

/* A signed descriptor of age 0. `secret` is libsodium's secret key: seed and public key. */
tacit_status tacit_descriptor_make(tacit_descriptor *out,
                                   const uint8_t secret[TACIT_IDENTITY_SECRET],
                                   const uint8_t curve[TACIT_CURVE_BYTES], const char *endpoint,
                                   uint64_t stamp, tacit_error *err);
bool tacit_descriptor_verify(const tacit_descriptor *d);

/* Half a view on its way: the first descriptor is the sender's own, of age 0. */
typedef struct tacit_exchange {
    bool reply;
    uint32_t count;
    tacit_descriptor item[TACIT_EXCHANGE_MAX];
} tacit_exchange;

/* The bytes of an exchange made by this library; their number. */
size_t tacit_exchange_encode(uint8_t bytes[TACIT_EXCHANGE_BYTES], const tacit_exchange *x);
/* Strict: each exchange has one encoding and nothing else is accepted. Looks at no signature. */
tacit_status tacit_exchange_decode(tacit_exchange *x, const uint8_t *bytes, size_t len,
                                   tacit_error *err);

typedef enum tacit_members_pick { TACIT_PICK_ANY, TACIT_PICK_OLDEST } tacit_members_pick;

typedef struct tacit_members_options {
    uint32_t view;    /* c, descriptors kept */
    uint32_t healer;  /* H, oldest that make room first */
    uint32_t swapper; /* S, just sent that make room then; H + S <= c / 2 */
    tacit_members_pick pick;
    uint32_t answers;  /* requests answered in one cycle of our own; 0: all */
    uint32_t samplers; /* min-wise samplers behind tacit_members_steady */
    /* NULL: Ed25519. Another one is for simulations, where ten thousand peers live in one process
     * and a signature would cost more than all the rest. */
    bool (*verify)(const tacit_descriptor *d, void *context);
    void *context;
} tacit_members_options;

void tacit_members_defaults(tacit_members_options *o);

typedef struct tacit_members tacit_members;

/* `stream` gives the samplers their keys: in a node it must not be guessable. */
tacit_status tacit_members_create(tacit_members **out, const tacit_members_options *o,
                                  const tacit_descriptor *self, tacit_stream *stream,
                                  tacit_error *err);
void tacit_members_free(tacit_members *m);

/* A closed consortium: only these identities (`count` keys, one after the other) are ever in the
 * view. Others leave at once. */
tacit_status tacit_members_allow(tacit_members *m, const uint8_t *identities, size_t count,
                                 tacit_error *err);
/* Descriptors from a file or a bootstrap peer; all or none. */
tacit_status tacit_members_introduce(tacit_members *m, tacit_stream *stream,
                                     const tacit_descriptor *d, size_t count, tacit_error *err);
/* Our own descriptor anew (a later stamp, perhaps another endpoint): best once a cycle. */
tacit_status tacit_members_renew(tacit_members *m, const tacit_descriptor *self, tacit_error *err);

/* One more cycle: all grow older, and a request for *peer. False while nobody is known. */
bool tacit_members_begin(tacit_members *m, tacit_stream *stream, tacit_descriptor *peer,
                         tacit_exchange *request);
/*
 * A request came in; the reply goes back on the same link. `curve` is the key by which the link
 * is authenticated (NULL in simulations): the first descriptor must be of its owner. An error
 * leaves the view as it was: TACIT_EVERIFY for what no honest peer sends, TACIT_EPEER for a
 * request too many or one from somebody who is not on the list.
 */
tacit_status tacit_members_answer(tacit_members *m, tacit_stream *stream,
                                  const uint8_t curve[TACIT_CURVE_BYTES],
                                  const tacit_exchange *request, tacit_exchange *reply,
                                  tacit_error *err);
/* The reply to the last request. Late replies, and those nobody asked for, are TACIT_EPEER. */
tacit_status tacit_members_finish(tacit_members *m, tacit_stream *stream,
                                  const uint8_t curve[TACIT_CURVE_BYTES],
                                  const tacit_exchange *reply, tacit_error *err);

/* It left, or is dead: out of the view, and what it signed up to now does not come back for
 * some cycles. Something it signs later does. */
void tacit_members_forget(tacit_members *m, const uint8_t identity[TACIT_IDENTITY_BYTES]);

/* A peer of the view, each as likely, but not the one given last if there are others. */
bool tacit_members_sample(tacit_members *m, tacit_stream *stream, tacit_descriptor *out);
/* A peer out of all that were ever seen, however often they were: it changes seldom, and a flood
 * of descriptors of few peers does not move it. False without samplers. */
bool tacit_members_steady(const tacit_members *m, tacit_stream *stream, tacit_descriptor *out);

size_t tacit_members_count(const tacit_members *m);
const tacit_descriptor *tacit_members_at(const tacit_members *m, size_t index);
const tacit_descriptor *tacit_members_self(const tacit_members *m);

/* For logs and /metrics. */
typedef struct tacit_members_stats {
    uint64_t cycles, finished, answered;
    uint64_t verified;   /* signatures looked at */
    uint64_t refused;    /* exchanges that were an error */
    uint64_t unanswered; /* requests without a reply before the next one */
} tacit_members_stats;
tacit_members_stats tacit_members_counts(const tacit_members *m);

#endif
