/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MASKS_H
#define TACIT_MASKS_H
/*
 * Masks that cancel in a sum: how several agents tell one receiver the sum of what they hold,
 * and nothing else (docs/masks.md). Pure functions and one small state machine: bytes in, bytes
 * out, nothing is sent or drawn here.
 *
 * Members k of a set S hold whole numbers v_k. Every pair of them shares a secret; k tells
 *
 *     word_k = v_k + sum over partners l of (+/-) stream(pair key of k, l) + stream(own seed of k)
 *
 * modulo 2^64, with opposite signs at the two ends of a pair: in the sum over S what pairs added
 * is gone, exactly. What is left besides are the own seeds, 32 bytes that each member tells when,
 * and only when, the receiver has said that the words of all of S are there. A member tells the
 * seed of one try at a round only, and makes no further word for the round once it did. So if
 * somebody is missing, the words of that try are useless for ever, and the others may try again
 * in a smaller set with fresh masks: whatever a receiver says to whom, a member's number of a round
 * enters one sum at most, and never are there two sums that differ by one member.
 *
 * Keys: each agent has an X25519 key pair for an epoch, whose open half others know to be its own
 * (signatures are the caller's business). pair secret = BLAKE2b(X25519, both open halves). The
 * key of a stream is derived from it, and from run, epoch, receiver, set and pair; round and try
 * are ChaCha20's nonce.
 *
 * Nothing here branches on secrets or uses them as an index.
 */
#include "tacit/base.h"
#include "tacit/noise.h"
#include "tacit/vector.h"

#define TACIT_MASK_KEY 32
#define TACIT_MASK_RUN 16

/* ---- keys ---- */
typedef struct tacit_mask_keys {
    uint8_t secret[TACIT_MASK_KEY], open[TACIT_MASK_KEY];
} tacit_mask_keys;
/* From 32 random bytes; the same seed gives the same keys. */
void tacit_mask_keys_make(tacit_mask_keys *keys, const uint8_t seed[TACIT_MASK_KEY]);
/* What two agents share for an epoch. Refuses an open half of small order, one's own, and encodings
 * that X25519 would take but nobody makes. `shared` is zero then. */
tacit_status tacit_mask_agree(uint8_t shared[TACIT_MASK_KEY], const tacit_mask_keys *mine,
                              const uint8_t other[TACIT_MASK_KEY], tacit_error *err);
void tacit_mask_wipe(void *secret, size_t len);
/* BLAKE2b-256 of a label, its end mark, and bytes: for what agents must see alike. */
void tacit_mask_hash(uint8_t out[TACIT_MASK_KEY], const char *label, const void *bytes, size_t len);

/* ---- places: what a mask is for ---- */
typedef struct tacit_mask_place {
    uint8_t run[TACIT_MASK_RUN];
    uint64_t epoch;
    tacit_agent receiver;
    uint8_t set[TACIT_MASK_KEY]; /* by tacit_mask_set */
} tacit_mask_place;
/* Who takes part, in rising order, and on what they must agree: how many numbers of which scale
 * (value = number * 2^-fraction), and whether pairs are all or only those across two halves. */
typedef struct tacit_mask_party {
    const tacit_agent *member;
    size_t count;
    uint64_t numbers;
    int32_t fraction;
    bool split;
    const uint8_t *terms; /* what else they must see alike, to the last byte; NULL: nothing */
    size_t terms_len;
} tacit_mask_party;
/* Refuses a party of fewer than two, and members that do not rise. */
tacit_status tacit_mask_set(uint8_t set[TACIT_MASK_KEY], const tacit_mask_party *party,
                            tacit_error *err);
/* Whether members at these positions of a party share a mask, and whether the first one adds it
 * (the other subtracts). All pairs: the lower adds. Split: the lower half of the party adds, the
 * upper subtracts, none within a half (003, section III-D). */
bool tacit_mask_pair(const tacit_mask_party *party, size_t one, size_t other, bool *adds);
/* How many members must tell a receiver all they know, for it to learn the word of another. */
size_t tacit_mask_breaks_at(size_t members, bool split);

/* One stream to add to a word, or to take away. */
typedef struct tacit_mask {
    uint8_t key[TACIT_MASK_KEY];
    bool minus;
} tacit_mask;
/* The key of a pair at a place; the same at both ends. */
void tacit_mask_derive(uint8_t key[TACIT_MASK_KEY], const uint8_t shared[TACIT_MASK_KEY],
                       const tacit_mask_place *place, tacit_agent one, tacit_agent other);
/* A member's own seed for one try, from 32 secret bytes. */
void tacit_mask_own(uint8_t seed[TACIT_MASK_KEY], const uint8_t secret[TACIT_MASK_KEY],
                    const tacit_mask_place *place, uint64_t round, uint32_t attempt);

/* Keys for one use each from secrets that serve for many: key k, at `key` + k `stride`, is the
 * first half of block 0 of ChaCha20 (RFC 8439) under from[k].secret, nonce `number` (8 bytes,
 * lowest first) and from[k].label (4 bytes). A secret that is used so must not be the key of a
 * stream. */
typedef struct tacit_mask_source {
    const uint8_t *secret; /* TACIT_MASK_KEY bytes */
    uint32_t label;
} tacit_mask_source;
void tacit_mask_expand(uint8_t *key, size_t stride, const tacit_mask_source *from, size_t count,
                       uint64_t number);

/* ---- turns: what a member has told one receiver. No mask is used twice. ---- */
typedef struct tacit_mask_turn {
    uint64_t round;
    uint32_t attempt;
    uint8_t state; /* tacit_mask_turn_state */
} tacit_mask_turn;
typedef enum tacit_mask_turn_state {
    TACIT_MASK_IDLE,   /* nothing was told yet */
    TACIT_MASK_CALLED, /* a word may be made for (round, attempt): once */
    TACIT_MASK_WORDED, /* it was made; its seed may be told */
    TACIT_MASK_OPENED  /* its seed was told: nothing more for this round */
} tacit_mask_turn_state;
/* A word is asked for: TACIT_NO unless the round is a later one, or the same, not opened, and the
 * attempt a later one. */
tacit_status tacit_mask_turn_call(tacit_mask_turn *turn, uint64_t round, uint32_t attempt);
/* The seed is asked for: TACIT_NO unless just this word was made. May be asked again. */
tacit_status tacit_mask_turn_open(tacit_mask_turn *turn, uint64_t round, uint32_t attempt);

/* ---- words ---- */
/* Segment `out_segment` of `out` = segment 0 of `number` + masks + own seed's stream, for the
 * turn's round and attempt; both are TACIT_I64 and of one length. The one way from a secret to
 * words for others. TACIT_EUSAGE unless the turn was called and no word was made since (a mask
 * would be used twice), or without a mask of a pair. */
tacit_status tacit_mask_word(tacit_mask_turn *turn, tacit_public *out, uint32_t out_segment,
                             const tacit_secret *number, const tacit_mask *masks, size_t count,
                             const uint8_t own[TACIT_MASK_KEY], tacit_error *err);
/* The same with Gaussian noise between pairs (thesis 001, section 4.1) in place of masks: each
 * pair's stream is not added, but read by the sampler of `noise`, and what it draws is added.
 * `noise` NULL: masks. */
tacit_status tacit_mask_word_noisy(tacit_mask_turn *turn, tacit_public *out, uint32_t out_segment,
                                   const tacit_secret *number, const tacit_noise *noise,
                                   const tacit_mask *masks, size_t count,
                                   const uint8_t own[TACIT_MASK_KEY], tacit_error *err);
/* What one pair added for (round, attempt) is taken out of a sum again: minus what `mask` says.
 * `noise` NULL: a mask. */
void tacit_mask_undo(tacit_public *sum, const tacit_mask *mask, const tacit_noise *noise,
                     uint64_t round, uint32_t attempt);
/* The receiver's side: sum (segment 0) += word's numbers; sum -= the stream of an own seed. */
void tacit_mask_gather(tacit_public *sum, const tacit_public *word, uint32_t word_segment);
void tacit_mask_uncover(tacit_public *sum, const uint8_t own[TACIT_MASK_KEY], uint64_t round,
                        uint32_t attempt);

/* A sum outside of any environment, for who adds up again: one segment of `numbers` whole numbers,
 * zero. NULL: no memory. */
tacit_public *tacit_mask_sum_create(size_t numbers);
void tacit_mask_sum_free(tacit_public *sum);

/* ---- fixed point ---- */
/* Values of size at most `most`, brought to whole steps of 2^-fraction (whichever way they are
 * rounded) and added up over `members`, fit the ring: the sum is right, not only modulo 2^64. */
bool tacit_mask_fits(double most, size_t members, int32_t fraction);

#endif
