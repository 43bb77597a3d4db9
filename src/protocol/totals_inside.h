/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TOTALS_INSIDE_H
#define TACIT_TOTALS_INSIDE_H
/*
 * Sums over all agents, inside.
 *
 *   totals_plan.c     what is agreed on: checks, shapes, terms
 *   totals.c          the doors; when a try begins, when a round is over
 *   totals_edges.c    partners: who chose whom, keys
 *   totals_roles.c    who adds up in which try: a public permutation
 *   totals_member.c   the agent as one of those who are summed
 *   totals_adder.c    as the one to whom `span` members tell their words
 *   totals_deputy.c   as the one who stands by for the speaker
 *   totals_pads.c     seeds of members who went missing, from shares
 *   totals_speaker.c  as the one to whom adders tell, and who says which set it is
 *   totals_board.c    what was published, for everybody
 *   totals_search.c   who is left out after a spoiled sum
 *   totals_save.c     to and from a checkpoint
 */
#include <string.h>

#include "tacit/shares.h"
#include "tacit/totals.h"

enum {
    TOTALS_HELLO = 1, /* flag, from which try on | open half | signature */
    TOTALS_HERE,      /* try, leaving */
    TOTALS_WORD, /* try, partners, chosen, threshold | numbers | beside | commit, pads | who | sign
                  */
    TOTALS_PAID, /* try, step, count | (agent, key, signature) ... */
    TOTALS_SEED, /* try | seed */
    TOTALS_LIST, /* try, step, block, edges | bits by place in the block */
    TOTALS_SET,  /* try, step, last, what | bits by position */
    TOTALS_CONFIRM, /* try | hash */
    TOTALS_ASK,     /* try, whose pad */
    TOTALS_PAD,     /* try, whose | pad */
    TOTALS_PART,    /* try, block, good, blamed | numbers | beside */
    TOTALS_RESULT,  /* try, what, members, judged before, blamed, blamed | numbers | beside | search
                     */
    TOTALS_BOARD,
    TOTALS_PADS, /* not sent: room for the pads an adder collects */
    TOTALS_KINDS
};

/* A try is named by one number. */
#define TOTALS_TRY(round, attempt) ((round) << 8 | (attempt))
/* Counters of what an agent draws. Each kind has its own highest bits, so that no two draws are of
 * one stream: what everybody sees of one (a delay) must not say anything about another (a partner).
 */
#define TOTALS_DRAW_KEYS UINT64_C(0)
#define TOTALS_DRAW_PARTNER(number) (UINT64_C(1) + (number))
#define TOTALS_DRAW_JITTER(trial) (UINT64_C(1) << 62 | (trial))
#define TOTALS_DRAW_SECRET(trial) (UINT64_C(2) << 62 | (trial))
#define TOTALS_ROUNDS (UINT64_C(1) << 32)
#define TOTALS_STEPS 12 /* sets of a try, at most */
#define TOTALS_EXPELLED 8

/* What a SET or RESULT says. */
typedef enum totals_what {
    TOTALS_GOES_ON, /* SET only */
    TOTALS_DONE,    /* RESULT: here is the sum */
    TOTALS_TOO_FEW, /* refused before anything was computed */
    TOTALS_FAILED   /* it cannot be put together */
} totals_what;

/* What a member does now. */
typedef enum totals_phase {
    TOTALS_IDLE,      /* between rounds */
    TOTALS_EDGES,     /* waits for those it chose to answer */
    TOTALS_ROLL,      /* said HERE (or is not to take part): waits for a set */
    TOTALS_JITTER,    /* is in the set, and waits a little before it speaks */
    TOTALS_WORDED,    /* said its word */
    TOTALS_CONFIRMED, /* the last set is known; waits for those it chose */
    TOTALS_OPENED,    /* told its seed */
    TOTALS_ASIDE      /* takes no part in this try: waits for its result */
} totals_phase;

typedef struct totals_partner {
    uint32_t agent;
    uint8_t chosen;               /* this agent chose it */
    uint8_t chose;                /* it chose this agent */
    uint8_t agreed;               /* `shared` is known */
    uint8_t in;                   /* of the try's current set */
    uint8_t masked;               /* there is a mask with it in the word */
    uint32_t position;            /* in the try, once the first set was heard */
    uint64_t told;                /* chosen: the edge is used from this try on; 0: not yet */
    uint64_t settled;             /* the same, as it said who chose this agent */
    uint64_t about;               /* the try it has confirmed */
    uint8_t hash[TACIT_MASK_KEY]; /* and the set */
    uint8_t shared[TACIT_MASK_KEY];
} totals_partner;

/* Whom sums with suspects leave out: totals_search.c. */
typedef struct totals_search {
    uint64_t path, included;
    uint32_t depth;
    uint32_t turn, salt; /* sparse graphs: which eighth sits out, of which hash */
    bool active;
    bool hearsay; /* from a speaker: nobody is expelled for it */
    uint32_t expelled;
    uint64_t prefix[TOTALS_EXPELLED];
    uint32_t length[TOTALS_EXPELLED], salted[TOTALS_EXPELLED];
    uint64_t blamed[2]; /* agent + 1: sit out until the round is over */
} totals_search;

/* The agent as a member of the try that is under way. */
typedef struct totals_member {
    uint64_t trial; /* TOTALS_TRY; 0: none */
    uint32_t step;  /* of the last set it heard */
    uint32_t mark;  /* its timers say how often something had happened when they were set */
    uint32_t present, count;
    uint32_t threshold;           /* of those it chose must take part */
    uint8_t hash[TACIT_MASK_KEY]; /* of the last set */
    const tacit_public *set;      /* the last it answered to: a later one is part of it */
    tacit_mask_turn turn;
} totals_member;

enum { ROW_HERE = 1, ROW_LEFT = 2, ROW_SEEDED = 4, ROW_ASKED = 8 };

/* The agent as an adder. */
typedef struct totals_adder {
    uint64_t trial; /* 0: it is none */
    uint32_t block, members;
    bool deputy;   /* it only listens, and adds up if the speaker falls silent after the last set */
    uint32_t step; /* answers to this one are collected; TOTALS_STEPS: seeds */
    uint32_t waits;   /* patience was lost so often in this step */
    uint32_t pending; /* members that may still answer */
    bool listed, parted;
    const tacit_public *set[2]; /* the one before the last, the last */
    tacit_public *sum, *pads;
    tacit_public *draft; /* of the board, if there is one */
    uint64_t later;      /* a later try that members have come for; totals_later says who */
} totals_adder;

/* The agent as a speaker. */
typedef struct totals_speaker {
    uint64_t trial;
    uint32_t step, heard; /* blocks that answered */
    bool ended;
    uint64_t edges;    /* zero if every edge has two ends */
    tacit_public *set; /* being put together */
    const tacit_public *last;
    tacit_public *result;
} totals_speaker;

typedef struct totals_row {
    const tacit_public *word, *paid;
    uint8_t flags;
} totals_row;

struct tacit_totals {
    tacit_mask_keys keys;
    uint8_t secret[TACIT_MASK_KEY];
    uint8_t signature[TACIT_SIGNATURE];
    uint8_t history[TACIT_MASK_KEY]; /* hash of the last result */
    uint64_t round, next;
    uint64_t hello; /* how many partners were asked so far */
    uint32_t attempt;
    uint32_t partners;
    uint8_t phase; /* totals_phase */
    bool busy, keyed;
    bool over;       /* all tries of the round are */
    bool ready;      /* its result is there */
    bool spent;      /* a number was asked for in this round */
    bool missed;     /* a try ended without a result since the last that was judged */
    uint64_t rumour; /* a round far ahead that somebody has told a result of, */
    uint64_t source; /* who, plus 1 */
    uint8_t outcome; /* what the last try came to: totals_what */
    uint64_t judged; /* the last try whose result was looked at */
    uint32_t members;
    uint64_t tries, opened;
    tacit_secret *number;      /* what it said in a try that was not confirmed; in no checkpoint */
    tacit_public *number_open; /* and openly beside */
    uint32_t number_parts;     /* its noise was shared among so many */
    totals_search search;
    totals_member member;
    totals_adder adder;
    totals_speaker speaker;
    const tacit_public *result; /* the last one heard */
    const tacit_public *early;  /* one of a try that this agent has not begun, */
    uint64_t early_from;        /* from whom */
    const tacit_public *board;
    /* plan->room totals_partner, plan->span totals_row, as many bits for `later`, plan->blocks
     * bytes of the speaker's */
    totals_partner partner[];
};

/* One call into totals: who, with what. */
typedef struct totals_at {
    tacit_env *outer;
    tacit_env env; /* the nested one */
    const tacit_totals_plan *plan;
    tacit_totals *s;
    const tacit_totals_user *user;
    const void *shared;
    void *self;
} totals_at;

/* totals.c */
totals_row *totals_rows(const tacit_totals_plan *plan, const tacit_totals *s);
uint64_t *totals_later(const tacit_totals_plan *plan, const tacit_totals *s);
uint8_t *totals_heard(const tacit_totals_plan *plan, const tacit_totals *s);
static inline size_t totals_later_words(const tacit_totals_plan *plan)
{
    return (plan->span + 63) / 64;
}
tacit_public *totals_new(totals_at *a, uint32_t kind, tacit_status *status);
/* Sends and drops; to oneself: is handled at once. */
tacit_status totals_send(totals_at *a, tacit_agent to, uint32_t kind, tacit_public *payload);
tacit_status totals_tell(totals_at *a, tacit_agent to, uint32_t kind, const tacit_public *payload);
void totals_put(tacit_public *v, uint32_t segment, size_t at, const uint8_t *bytes, size_t len);
void totals_get(const tacit_public *v, uint32_t segment, size_t at, uint8_t *bytes, size_t len);
static inline uint64_t totals_head(const tacit_public *v, size_t at)
{
    return (uint64_t)tacit_public_get_int(v, 0, at);
}
typedef enum totals_clock {
    TOTALS_CLOCK_MEMBER,
    TOTALS_CLOCK_JITTER,
    TOTALS_CLOCK_ADDER,
    TOTALS_CLOCK_SPEAKER,
    TOTALS_CLOCK_AGAIN,
    TOTALS_CLOCK_HELLO
} totals_clock;
/* Within `delay` something must happen, or the try has failed for this member. */
tacit_status totals_watch(totals_at *a, double delay);
tacit_status totals_timer(totals_at *a, totals_clock clock, uint64_t trial, uint32_t step,
                          double delay);
/* A try that can be under way now: nobody is taken far ahead by a word. */
static inline bool totals_is_near(const tacit_totals_plan *plan, const tacit_totals *s,
                                  uint64_t trial)
{
    const uint64_t round = trial >> 8;
    return round >= 1 && round <= s->round + 1 && (trial & 255) < plan->tries &&
           (plan->rounds == 0 || round <= plan->rounds);
}
/* The try is over for this agent without a sum. */
tacit_status totals_fail_try(totals_at *a, totals_what what);
tacit_status totals_settle(totals_at *a);

/* totals_edges.c */
tacit_status totals_choose(totals_at *a);
bool totals_edges_ready(const totals_at *a); /* all it chose have answered */
tacit_status totals_on_hello(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_hello_late(totals_at *a);
tacit_status totals_greet_again(totals_at *a);
totals_partner *totals_find(const tacit_totals *s, tacit_agent agent);
/* The key of the pair for one try; and the pad under which this agent keeps a share with the other
 * (`own`), or the other with this one. */
tacit_mask_source totals_key_source(const totals_partner *p);
tacit_mask_source totals_pad_source(const totals_at *a, const totals_partner *p, bool own);
void totals_pair_key(const totals_partner *p, uint64_t trial, uint8_t key[TACIT_MASK_KEY]);
/* The other's pad. */
void totals_pad_key(const totals_at *a, const totals_partner *p, uint64_t trial,
                    uint8_t key[TACIT_MASK_KEY]);

/* totals_roles.c: positions are 0 .. agents - 1; position q is place q / blocks of block q %
 * blocks; the first of a block is its adder, and position 0 the speaker. */
typedef struct totals_roles {
    uint64_t key, agents;
    uint32_t half; /* bits of a half */
    uint32_t blocks;
} totals_roles;
totals_roles totals_roles_of(const tacit_totals_plan *plan, const uint8_t run[TACIT_RUN_ID],
                             uint64_t trial);
uint64_t totals_position(const totals_roles *roles, tacit_agent agent);
tacit_agent totals_agent_at(const totals_roles *roles, uint64_t position);
uint32_t totals_block_size(const totals_roles *roles, uint32_t block);

/* totals_deputy.c: position 1 stands by in tries of a plan with `again`. TACIT_NOBODY: nobody. */
tacit_agent totals_deputy_of(const tacit_totals_plan *plan, const totals_roles *roles);
bool totals_is_deputy(const totals_at *a, uint64_t trial);
/* What members tell the adder it hears as well: words, keys, seeds. */
tacit_status totals_tell_both(totals_at *a, uint32_t kind, tacit_public *payload);
tacit_status totals_deputy_begin(totals_at *a, uint64_t trial);
tacit_status totals_deputy_word(totals_at *a, uint32_t place, const tacit_public *word);
tacit_status totals_deputy_paid(totals_at *a, uint32_t place, const tacit_public *paid);
/* A set of the speaker's: the last one is told on to everybody. */
tacit_status totals_deputy_set(totals_at *a, const tacit_public *v);
tacit_status totals_deputy_late(totals_at *a);
/* Everybody hears a result, and the board, also from it. */
tacit_status totals_deputy_tell(totals_at *a, const tacit_public *result);

/* totals_member.c */
tacit_status totals_begin_try(totals_at *a);
tacit_status totals_on_set(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_confirm(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_ask(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_speak(totals_at *a);
/* Before the word of a try: its seed and coins are of bytes drawn now, so that two continuations of
 * one memory image have different ones. */
void totals_renew_secret(totals_at *a, uint64_t trial);
void totals_drop_number(totals_at *a);
void totals_seed(const totals_at *a, uint64_t trial, uint8_t seed[TACIT_MASK_KEY]);
void totals_coins(const totals_at *a, uint64_t trial, uint8_t (*coins)[TACIT_MASK_KEY],
                  size_t count);
bool totals_bit(const tacit_public *set, uint64_t position);

/* totals_adder.c, totals_pads.c */
tacit_status totals_on_here(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_word(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_paid(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_seed(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_adder_set(totals_at *a, const tacit_public *v);
tacit_status totals_adder_late(totals_at *a);
tacit_status totals_adder_seed(totals_at *a, uint32_t place, const uint8_t seed[TACIT_MASK_KEY]);
tacit_status totals_adder_look(totals_at *a);
tacit_status totals_adder_serve(totals_at *a, uint64_t trial); /* TACIT_NO: it is not its duty */
tacit_status totals_add_up(totals_at *a); /* the last set's words, before seeds */
/* Openly, over the last set. */
int64_t totals_add_beside(const totals_at *a, size_t k);
void totals_adder_clear(totals_at *a);
tacit_status totals_adder_recount(totals_at *a); /* other agents are suspects than before */
void totals_adder_rest(totals_at *a); /* the same, but it serves no try up to this one again */
tacit_status totals_adder_next(totals_at *a); /* takes up the later try, if it is free for it */
tacit_status totals_ask_pads(totals_at *a);
tacit_status totals_on_pad(totals_at *a, tacit_agent from, const tacit_public *v);
/* Of a word: who is its k-th partner, and whether that one was chosen (its number among those). */
tacit_agent totals_word_partner(const tacit_public *word, uint32_t k, bool *chosen);
/* Of one that has just come, or was in a checkpoint: partners within range, shares for those. */
bool totals_word_is_sound(const tacit_totals_plan *plan, const tacit_public *word);
/* Two agents, plus 1, of which one uses an edge and the other does not; zeros: none was found. */
void totals_one_ended(const totals_at *a, uint64_t ends[2]);

/* totals_speaker.c */
tacit_status totals_on_list(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_on_part(totals_at *a, tacit_agent from, const tacit_public *v);
tacit_status totals_speaker_late(totals_at *a);
void totals_speaker_clear(totals_at *a);
tacit_status totals_speaker_echo(totals_at *a, const tacit_public *v); /* the deputy has the set */
/* The deputy, as the speaker from now on: all seeds are there. */
tacit_status totals_speaker_stand_in(totals_at *a);
tacit_status totals_on_result(totals_at *a, tacit_agent from, const tacit_public *v);

/* totals_board.c */
tacit_status totals_board_tell(totals_at *a);
tacit_status totals_board_tell_one(totals_at *a, tacit_agent to,
                                   uint64_t trial); /* if it is here */
tacit_status totals_board_begin(totals_at *a);
void totals_board_seed(totals_at *a, uint32_t place, const uint8_t seed[TACIT_MASK_KEY]);
tacit_status totals_on_board(totals_at *a, tacit_agent from, const tacit_public *v);
bool totals_board_fits(const tacit_totals_plan *plan, const tacit_public *board);
/* What a word's signature is of. */
void totals_word_sign_text(const totals_at *a, tacit_agent agent, const tacit_public *word,
                           uint8_t text[TACIT_MASK_KEY]);
void totals_key_sign_text(const totals_at *a, uint64_t trial, tacit_agent from, tacit_agent gone,
                          const uint8_t key[TACIT_MASK_KEY], uint8_t text[TACIT_MASK_KEY]);

/* totals_plan.c */
/* So many of those who said HERE must stay. */
uint32_t totals_needed(const tacit_totals_plan *plan, uint32_t present);
/* Honest members that surely are in a sum, less one's own share where nobody colludes. */
uint32_t totals_surely(const tacit_totals_plan *plan, uint32_t present, uint32_t threshold);
/* tacit_totals_parts with another threshold than the plan's. */
uint32_t totals_parts(const tacit_totals_plan *plan, uint32_t present, uint32_t threshold);
/* All of `agents` share masks: is there at most one sum with that threshold? */
bool totals_fits_together(const tacit_totals_plan *plan, uint64_t agents, uint32_t threshold);

/* totals_search.c */
/* Suspects sit out an eighth at a time, not half of them, and quorums stay what they are. */
bool totals_by_eighths(const tacit_totals_plan *plan);
bool totals_allowed(const tacit_totals_plan *plan, const totals_search *search, tacit_agent agent);
void totals_search_note(const tacit_totals_plan *plan, totals_search *search, bool spoiled);
/* For those who missed results: to and from segment 3 of one. */
enum { TOTALS_SEARCH_WORDS = 6 };
void totals_search_tell(tacit_public *result, const totals_search *search);
void totals_search_hear(const tacit_totals_plan *plan, totals_search *search,
                        const tacit_public *result);

#endif
