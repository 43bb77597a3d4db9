/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SUMS_INSIDE_H
#define TACIT_SUMS_INSIDE_H
/*
 * Masked sums, inside.
 *
 *   sums.c            plan, start, feed, and when a round begins and is over
 *   sums_keys.c       own keys of an epoch, KEYs of neighbours, PAGEs of receivers
 *   sums_receiver.c   calls, words, seeds: the agent as the one who hears a sum
 *   sums_member.c     calls answered: the agent as one of those who are summed
 *   sums_save.c       to and from a checkpoint
 */
#include "tacit/sums.h"

#define SUMS_BITS (TACIT_SUMS_MOST / 64)
#define SUMS_ROUNDS (UINT64_C(1) << 32) /* rounds are below */
#define SUMS_ATTEMPTS (TACIT_SUMS_MOST + 1)
#define SUMS_AHEAD (UINT64_C(1) << 20) /* nobody is believed to be more rounds ahead than this */
#define SUMS_AGE 3                     /* so many times `patience` may begin without a word */
#define SUMS_RESETS 8                  /* new attempts of a round that are waited for */
#define SUMS_SHUNNED 16                /* rounds that who withheld a seed is left out for */
#define SUMS_BAD_PAGES 8               /* of a receiver and epoch that are read */

/* What an agent draws, numbered apart: seeds of its keys by epoch (below SUMS_ROUNDS), and what is
 * mixed into the own seed of a word, by receiver, attempt and round. */
#define SUMS_DRAW_KEYS(epoch) (epoch)
#define SUMS_DRAW_OWN(slot, round, attempt) \
    (UINT64_C(1) << 63 | (uint64_t)(slot) << 48 | (uint64_t)(attempt) << 32 | (round))

typedef enum sums_phase {
    SUMS_IDLE,  /* between rounds */
    SUMS_KEYS,  /* waits for keys of this epoch */
    SUMS_WORDS, /* has called, waits for words */
    SUMS_SEEDS, /* has opened, waits for seeds */
    SUMS_HAVE,  /* has its sum */
    SUMS_NONE,  /* goes without */
    SUMS_MEMBER /* names the timer for what other receivers do */
} sums_phase;

/* Why a member makes no word; SUMS_WITHOUT is a receiver's: do not wait for me in this round. */
typedef enum sums_reason {
    SUMS_LACKS = 1, /* keys, whose bits are told: it waits for them */
    SUMS_OVER,      /* that round is over here; detail: the last one that is */
    SUMS_SCALE,     /* another fraction; detail: its own */
    SUMS_SPLIT,     /* masks between other pairs */
    SUMS_EPOCH,     /* keys last for other rounds; detail: its own epoch_rounds */
    SUMS_SMALL,     /* fewer members than it wants; detail: how many */
    SUMS_NOTHING,   /* the protocol holds nothing for this receiver */
    SUMS_WITHOUT
} sums_reason;

/* flags of a KEY */
enum {
    SUMS_ANSWER = 1, /* tell me yours */
    SUMS_AWAY = 2    /* you were away: forget what was under way between us */
};

typedef enum sums_knows { SUMS_UNKNOWN, SUMS_OPEN_HALF, SUMS_AGREED, SUMS_BAD } sums_knows;

/* Of one receiver's directory: a neighbour of it, at its slot there. */
typedef struct sums_partner {
    uint64_t tag; /* first bytes of the open half: the same key as before? */
    uint32_t agent;
    uint32_t epoch;
    uint8_t key[TACIT_MASK_KEY]; /* the open half, then what was agreed on */
    uint8_t knows;               /* sums_knows */
} sums_partner;

typedef struct sums_call {
    uint64_t round;
    uint32_t attempt;
    uint64_t bits[SUMS_BITS];
} sums_call;

typedef struct sums_slot {
    /* a neighbour as a member of this agent's sums */
    const tacit_public *key; /* its latest KEY */
    uint64_t key_epoch;
    double weight;
    bool up;
    bool in;          /* the set of this attempt */
    bool out;         /* of this round */
    bool worded;      /* its word of this attempt is in the sum */
    bool seeded;      /* its seed is out of it */
    bool helped;      /* was sent the PAGE again in this attempt */
    bool met;         /* made a word once: it counts as we do */
    bool paged;       /* has the PAGE as it is now */
    bool differs;     /* says that it was set up otherwise */
    uint64_t shunned; /* it withheld a seed: left out up to this round, if others suffice */
    /* a neighbour as a receiver */
    bool gone;       /* nothing is expected of it in this round */
    uint8_t age;     /* how often patience began since it was heard */
    uint8_t resets;  /* how often that was set to zero in this round */
    uint8_t bad;     /* pages of this epoch with entries that are not true */
    uint64_t passed; /* its last round that no word is needed for any more */
    sums_call call;  /* the latest; round 0: none */
    bool ready;      /* to be looked at */
    tacit_mask_turn turn;
    tacit_secret *held;
    uint64_t held_round;         /* for which the protocol was asked, whatever it said */
    uint8_t own[TACIT_MASK_KEY]; /* the own seed of the latest word */
    uint64_t worded_epoch;
    uint8_t set[TACIT_MASK_KEY]; /* whose masks are kept */
    uint64_t set_epoch;
    uint64_t set_bits[SUMS_BITS];
    bool cached; /* masks are those of set, set_bits and set_epoch */
    uint32_t masks;
    uint32_t partners; /* in the directory; 0: no PAGE yet */
} sums_slot;

struct tacit_sums {
    uint64_t round;
    uint64_t next; /* begin this one; 0: none */
    uint64_t epoch;
    tacit_mask_keys keys;
    uint8_t secret[TACIT_MASK_KEY]; /* of own seeds, together with a fresh draw for each word */
    uint8_t signature[TACIT_SIGNATURE];
    uint32_t neighbours;
    uint32_t attempt;
    uint8_t phase;
    bool keyed;
    bool busy; /* within feed or next: never between events */
    uint64_t again, without, refused;
    tacit_public *sum;
    sums_slot slot[]; /* then sums_partner and tacit_mask: neighbours x plan->neighbours each */
};

/* Who calls whom with what, for one event. */
typedef struct sums_at {
    tacit_env *outer;
    tacit_env env;
    const tacit_sums_plan *plan;
    tacit_sums *s;
    const tacit_sums_user *user;
    const void *shared;
    void *self;
} sums_at;

static inline uint32_t sums_words(const tacit_sums_plan *plan)
{
    return (plan->neighbours + 63) / 64;
}
static inline uint64_t sums_epoch(const tacit_sums_plan *plan, uint64_t round)
{
    return plan->epoch_rounds && round ? (round - 1) / plan->epoch_rounds : 0;
}
static inline bool sums_bit(const uint64_t *bits, uint32_t slot)
{
    return bits[slot / 64] >> slot % 64 & 1;
}
static inline void sums_bit_set(uint64_t *bits, uint32_t slot)
{
    bits[slot / 64] |= UINT64_C(1) << slot % 64;
}
/* The last round that is over here. */
static inline uint64_t sums_over(const tacit_sums *s)
{
    return s->phase == SUMS_IDLE ? s->round : s->round - 1;
}
sums_partner *sums_directory(const tacit_sums_plan *plan, const tacit_sums *s, uint32_t slot);
tacit_mask *sums_masks(const tacit_sums_plan *plan, const tacit_sums *s, uint32_t slot);

/* Bytes as whole numbers of a segment, eight each. */
void sums_put(tacit_public *v, uint32_t segment, size_t at, const uint8_t *bytes, size_t len);
void sums_get(const tacit_public *v, uint32_t segment, size_t at, uint8_t *bytes, size_t len);

tacit_public *sums_new(sums_at *a, const tacit_shape *shape, tacit_status *status);
/* Send and drop; nothing is sent if `status` is not TACIT_OK. */
tacit_status sums_send(sums_at *a, uint32_t slot, uint32_t kind, tacit_public *payload,
                       tacit_status status);
/* OPEN or CANNOT; `bits` may be NULL. */
tacit_status sums_say(sums_at *a, uint32_t slot, uint32_t kind, uint64_t round, uint32_t attempt,
                      sums_reason reason, int64_t detail, const uint64_t *bits);
tacit_status sums_timer(sums_at *a, sums_phase phase, bool half);

/* sums_keys.c */
tacit_status sums_keys_renew(sums_at *a, uint64_t epoch);
/* To all neighbours if `slot` is TACIT_NO_SLOT. */
tacit_status sums_tell_key(sums_at *a, uint32_t slot, int64_t flags);
/* To all who are there and do not have it as it is now. */
tacit_status sums_tell_page(sums_at *a);
tacit_status sums_on_key(sums_at *a, uint32_t slot, tacit_agent from, const tacit_public *key);
tacit_status sums_on_page(sums_at *a, uint32_t slot, const tacit_public *page);
/* What is agreed on with a partner, TACIT_NO if it cannot be. */
tacit_status sums_agree(sums_at *a, sums_partner *partner);
void sums_forget_keys(const tacit_sums_plan *plan, tacit_sums *s);

/* sums_receiver.c */
/* It is clear who can be called, and worth while not to wait for more. */
bool sums_can_call(const tacit_sums *s, const tacit_sums_plan *plan);
/* Keys are complete, words or seeds are: go on. */
tacit_status sums_receive(sums_at *a);
tacit_status sums_on_word(sums_at *a, uint32_t slot, const tacit_public *word);
tacit_status sums_on_seed(sums_at *a, uint32_t slot, const tacit_public *seed);
tacit_status sums_on_cannot(sums_at *a, uint32_t slot, const tacit_public *cannot);
tacit_status sums_on_late(sums_at *a, bool half);
/* Whatever was asked of this neighbour will not come. */
void sums_lose(sums_at *a, uint32_t slot);

/* sums_member.c */
tacit_status sums_on_call(sums_at *a, uint32_t slot, const tacit_public *call);
tacit_status sums_on_open(sums_at *a, uint32_t slot, const tacit_public *open);
/* Words for calls of this round that can be answered. */
tacit_status sums_answer(sums_at *a);
void sums_drop_held(tacit_env *env, sums_slot *slot);
void sums_pass(tacit_sums *s, uint32_t slot, uint64_t round);

#endif
