/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board of a sum (board.h): all words with signatures, their seeds, the keys that were told of
 * those who went missing, and the total. The speaker, who is the only adder then, sends it to
 * everybody before the result; whoever has it can add up for itself.
 */
#include <stdlib.h>

#include "protocol/totals_inside.h"

enum { WORD_AGENT, WORD_KNOWN, WORD_COMMIT, WORD_SEED = 6, WORD_SIGN = 10, WORD_NUMBERS = 18 };
enum { KEY_FROM, KEY_GONE, KEY_KEY, KEY_SIGN = 6, KEY = 14 };

static size_t width(const tacit_totals_plan *plan)
{
    return WORD_NUMBERS + plan->numbers + plan->beside;
}

/* ---- what is signed ---- */

static tacit_board frame(const tacit_totals_plan *plan, const uint8_t run[TACIT_RUN_ID],
                         uint64_t trial)
{
    const totals_roles roles = totals_roles_of(plan, run, trial);
    tacit_board b = {.round = trial >> 8,
                     .attempt = (uint32_t)(trial & 255),
                     .speaker = totals_agent_at(&roles, 0),
                     .numbers = plan->numbers,
                     .beside = plan->beside,
                     .step = plan->step,
                     .pair = plan->pair};
    memcpy(b.run, run, sizeof b.run);
    memcpy(b.terms, plan->terms, sizeof b.terms);
    return b;
}

void totals_word_sign_text(const totals_at *a, tacit_agent agent, const tacit_public *word,
                           uint8_t text[TACIT_MASK_KEY])
{
    const tacit_totals_plan *plan = a->plan;
    const tacit_board b = frame(plan, tacit_facts_of(&a->env)->run, totals_head(word, 0));
    tacit_board_word w = {.agent = agent};
    tacit_env env = a->env;
    int64_t *number = tacit_temporary(&env, (plan->numbers + plan->beside) * sizeof *number);
    memset(text, 0, TACIT_MASK_KEY);
    if (!number)
        return; /* then nobody believes it */
    for (size_t k = 0; k < plan->numbers; k++)
        number[k] = tacit_public_get_int(word, 1, k);
    for (size_t k = 0; k < plan->beside; k++)
        number[plan->numbers + k] = tacit_public_get_int(word, 2, k);
    totals_get(word, 3, 0, w.commit, sizeof w.commit);
    w.number = number;
    w.beside = number + plan->numbers;
    tacit_board_word_text(text, &b, &w);
}

void totals_key_sign_text(const totals_at *a, uint64_t trial, tacit_agent from, tacit_agent gone,
                          const uint8_t key[TACIT_MASK_KEY], uint8_t text[TACIT_MASK_KEY])
{
    const tacit_board b = frame(a->plan, tacit_facts_of(&a->env)->run, trial);
    tacit_board_key k = {.from = from, .gone = gone};
    memcpy(k.key, key, sizeof k.key);
    tacit_board_key_text(text, &b, &k);
}

/* ---- putting it together ---- */

tacit_status totals_board_begin(totals_at *a)
{
    tacit_status status;
    tacit_drop(&a->env, a->s->adder.draft);
    a->s->adder.draft = totals_new(a, TOTALS_BOARD, &status);
    return status;
}

void totals_board_seed(totals_at *a, uint32_t place, const uint8_t seed[TACIT_MASK_KEY])
{
    tacit_public *v = a->s->adder.draft;
    if (!v)
        return;
    tacit_public_set_int(v, 1, place * width(a->plan) + WORD_KNOWN, 1);
    totals_put(v, 1, place * width(a->plan) + WORD_SEED, seed, TACIT_MASK_KEY);
}

static void copy(tacit_public *to, uint32_t segment, size_t at, const tacit_public *from,
                 uint32_t from_segment, size_t from_at, size_t count)
{
    for (size_t k = 0; k < count; k++)
        tacit_public_set_int(to, segment, at + k,
                             tacit_public_get_int(from, from_segment, from_at + k));
}

static void put_word(const totals_at *a, tacit_public *v, uint32_t place, tacit_agent agent)
{
    const tacit_totals_plan *plan = a->plan;
    const tacit_public *word = totals_rows(plan, a->s)[place].word;
    const size_t at = place * width(plan);
    tacit_public_set_int(v, 1, at + WORD_AGENT, (int64_t)agent);
    copy(v, 1, at + WORD_COMMIT, word, 3, 0, 4);
    copy(v, 1, at + WORD_SIGN, word, 5, 0, 8);
    copy(v, 1, at + WORD_NUMBERS, word, 1, 0, plan->numbers);
    copy(v, 1, at + WORD_NUMBERS + plan->numbers, word, 2, 0, plan->beside);
}

static size_t put_keys(const totals_at *a, tacit_public *v, uint32_t place, tacit_agent agent,
                       size_t keys)
{
    const tacit_public *paid = totals_rows(a->plan, a->s)[place].paid;
    const uint64_t count = paid ? totals_head(paid, 2) : 0;
    for (size_t k = 0; k < count; k++, keys++) {
        tacit_public_set_int(v, 2, keys * KEY + KEY_FROM, (int64_t)agent);
        copy(v, 2, keys * KEY + KEY_GONE, paid, 1, 13 * k, 13);
    }
    return keys;
}

tacit_status totals_board_tell(totals_at *a)
{
    const totals_adder *d = &a->s->adder;
    const totals_speaker *p = &a->s->speaker;
    const totals_roles roles = totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, p->trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    tacit_public *v = d->draft;
    size_t keys = 0;
    if (!v || d->trial != p->trial)
        return TACIT_OK;
    for (uint32_t k = 0; k < d->members; k++)
        if (totals_bit(p->last, (uint64_t)k * roles.blocks)) {
            const tacit_agent agent = totals_agent_at(&roles, (uint64_t)k * roles.blocks);
            put_word(a, v, k, agent);
            keys = put_keys(a, v, k, agent, keys);
        }
    tacit_public_set_int(v, 0, 0, (int64_t)p->trial);
    tacit_public_set_int(v, 0, 1, (int64_t)self);
    tacit_public_set_int(v, 0, 2, d->members);
    tacit_public_set_int(v, 0, 3, (int64_t)keys);
    copy(v, 3, 0, p->result, 1, 0, a->plan->numbers);
    copy(v, 4, 0, p->result, 2, 0, a->plan->beside);
    tacit_status status = TACIT_OK;
    for (uint64_t u = 0; u < a->plan->agents && status == TACIT_OK; u++)
        status = totals_tell(a, (tacit_agent)u, TOTALS_BOARD, v);
    return status;
}

tacit_status totals_board_tell_one(totals_at *a, tacit_agent to, uint64_t trial)
{
    const tacit_public *board = a->s->board;
    return a->plan->board && board && totals_head(board, 0) == trial
               ? totals_tell(a, to, TOTALS_BOARD, board)
               : TACIT_OK;
}

bool totals_board_fits(const tacit_totals_plan *plan, const tacit_public *v)
{
    return plan->board && totals_head(v, 2) <= plan->span &&
           totals_head(v, 3) <= (uint64_t)plan->span * plan->room;
}

tacit_status totals_on_board(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const uint64_t trial = totals_head(v, 0);
    if (!totals_board_fits(a->plan, v) || trial >> 8 < a->s->round || trial >> 8 >= TOTALS_ROUNDS)
        return TACIT_OK;
    const totals_roles roles = totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, trial);
    /* From the speaker or who stands by; from others who have heard it, if there is none: whoever
     * takes it adds up. */
    const bool duty =
        from == totals_agent_at(&roles, 0) || from == totals_deputy_of(a->plan, &roles);
    if (!duty && (trial >> 8 != a->s->round ||
                  (a->s->board && totals_head(a->s->board, 0) >> 8 == trial >> 8)))
        return TACIT_OK;
    tacit_drop(&a->env, a->s->board);
    a->s->board = tacit_keep(v);
    return TACIT_OK;
}

/* ---- reading it ---- */

static int by_agent(const void *x, const void *y)
{
    const tacit_board_word *a = x, *b = y;
    return a->agent < b->agent ? -1 : a->agent > b->agent;
}

static int by_pair(const void *x, const void *y)
{
    const tacit_board_key *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return a->gone < b->gone ? -1 : a->gone > b->gone;
}

static void read_words(const tacit_totals_plan *plan, const tacit_public *v, tacit_board_word *word,
                       int64_t *number, tacit_board *out)
{
    const size_t each = plan->numbers + plan->beside;
    for (size_t k = 0; k < totals_head(v, 2); k++) {
        const size_t at = k * width(plan);
        if (tacit_public_get_int(v, 1, at + WORD_KNOWN) != 1)
            continue;
        tacit_board_word *w = &word[out->words++];
        w->agent = (tacit_agent)tacit_public_get_int(v, 1, at + WORD_AGENT);
        totals_get(v, 1, at + WORD_COMMIT, w->commit, sizeof w->commit);
        totals_get(v, 1, at + WORD_SEED, w->seed, sizeof w->seed);
        totals_get(v, 1, at + WORD_SIGN, w->signature, sizeof w->signature);
        for (size_t j = 0; j < each; j++)
            number[j] = tacit_public_get_int(v, 1, at + WORD_NUMBERS + j);
        w->number = number;
        w->beside = number + plan->numbers;
        number += each;
    }
    qsort(word, out->words, sizeof *word, by_agent);
}

static void read_keys(const tacit_public *v, tacit_board_key *key, tacit_board *out)
{
    for (size_t k = 0; k < totals_head(v, 3); k++) {
        tacit_board_key *to = &key[out->keys++];
        to->from = (tacit_agent)tacit_public_get_int(v, 2, k * KEY + KEY_FROM);
        to->gone = (tacit_agent)tacit_public_get_int(v, 2, k * KEY + KEY_GONE);
        totals_get(v, 2, k * KEY + KEY_KEY, to->key, sizeof to->key);
        totals_get(v, 2, k * KEY + KEY_SIGN, to->signature, sizeof to->signature);
    }
    qsort(key, out->keys, sizeof *key, by_pair);
}

tacit_status tacit_totals_board(const tacit_totals_plan *plan, const tacit_totals *totals,
                                const uint8_t run[TACIT_RUN_ID], tacit_board *out)
{
    const tacit_public *v = totals->board;
    *out = (tacit_board){0};
    if (!v)
        return TACIT_NO;
    const size_t words = totals_head(v, 2), keys = totals_head(v, 3);
    const size_t each = plan->numbers + plan->beside;
    tacit_board_word *word = calloc(1, words * sizeof *word + keys * sizeof(tacit_board_key) +
                                           (words + 1) * each * sizeof(int64_t) + 1);
    if (!word)
        return TACIT_EINTERNAL;
    tacit_board_key *key = (tacit_board_key *)(word + words);
    int64_t *total = (int64_t *)(key + keys);
    *out = frame(plan, run, totals_head(v, 0));
    out->memory = word;
    read_words(plan, v, word, total + each, out);
    read_keys(v, key, out);
    for (size_t k = 0; k < plan->numbers; k++)
        total[k] = tacit_public_get_int(v, 3, k);
    for (size_t k = 0; k < plan->beside; k++)
        total[plan->numbers + k] = tacit_public_get_int(v, 4, k);
    out->word = word;
    out->key = key;
    out->total = total;
    out->beside_total = total + plan->numbers;
    return TACIT_OK;
}
