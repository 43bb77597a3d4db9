/* SPDX-License-Identifier: Apache-2.0 */
#include "boards.h"

#include <stdio.h>
#include <string.h>

static circle all;

static void make_word(const masked_sum *s, size_t member, const tacit_noise *noise,
                      const numbers *held, numbers *word)
{
    tacit_error err;
    tacit_mask masks[MASKERS];
    tacit_mask_turn turn = {0};
    uint8_t seed[TACIT_MASK_KEY];
    const size_t count = masked_sum_masks(s, member, masks);
    if (!noise) {
        masked_sum_word(s, member, &turn, held, word);
        return;
    }
    masked_sum_seed(s, member, seed);
    assert_int_equal(tacit_mask_turn_call(&turn, s->round, s->attempt), TACIT_OK);
    check_ok(tacit_mask_word_noisy(&turn, word->vector, 0, numbers_secret(held), noise, masks,
                                   count, seed, &err),
             &err);
}

static void put_word(boards *b, const masked_sum *s, size_t member, const tacit_noise *noise,
                     dice *d, bool stays)
{
    numbers held, word;
    numbers_make(&held, BOARD_NUMBERS);
    numbers_make(&word, BOARD_NUMBERS);
    for (size_t i = 0; i < BOARD_NUMBERS; i++)
        numbers_at(&held)[i] = (int64_t)dice_below(d, 1000) - 500;
    make_word(s, member, noise, &held, &word);
    if (stays) {
        tacit_board_word *w = &b->word[b->board.words++];
        *w = (tacit_board_word){
            .agent = s->name[member], .number = b->number[member], .beside = b->beside[member]};
        masked_sum_seed(s, member, w->seed);
        tacit_board_commit(w->commit, w->seed);
        memcpy(b->number[member], numbers_at(&word), sizeof b->number[member]);
        for (size_t i = 0; i < BOARD_NUMBERS; i++)
            b->total[i] += numbers_at(&held)[i];
        for (size_t i = 0; i < BOARD_BESIDE; i++)
            b->beside_total[i] += b->beside[member][i] = (int64_t)dice_below(d, 9) - 4;
    }
    numbers_free(&held);
    numbers_free(&word);
}

static void put_keys(boards *b, const masked_sum *s, uint64_t gone)
{
    for (size_t one = 0; one < s->count; one++)
        for (size_t other = 0; other < s->count; other++) {
            if (one == other || gone >> one & 1 || !(gone >> other & 1))
                continue;
            tacit_board_key *key = &b->key[b->board.keys++];
            *key = (tacit_board_key){.from = s->name[one], .gone = s->name[other]};
            tacit_mask_derive(key->key, s->all->shared[one][other], &s->place, key->from,
                              key->gone);
        }
}

static size_t agent_of(tacit_agent name)
{
    for (size_t k = 0; k < BOARD_AGENTS; k++)
        if (circle_name(k) == name)
            return k;
    return BOARD_AGENTS;
}

void boards_make(boards *b, uint64_t gone, double pair)
{
    tacit_error err;
    tacit_noise *noise;
    dice d = {7};
    masked_sum s;
    *b = (boards){.board = {.run = {1, 2, 3},
                            .round = 4,
                            .attempt = 2,
                            .speaker = circle_name(1),
                            .numbers = BOARD_NUMBERS,
                            .beside = BOARD_BESIDE,
                            .step = 0x1p-10,
                            .pair = pair,
                            .terms = {9, 8, 7}}};
    b->board.word = b->word;
    b->board.key = b->key;
    b->board.total = b->total;
    b->board.beside_total = b->beside_total;
    circle_make(&all, BOARD_AGENTS);
    masked_sum_make(&s, &all, (1 << BOARD_AGENTS) - 1, BOARD_NUMBERS, false);
    s.round = b->board.round << 8 | b->board.attempt;
    check_ok(tacit_board_noise(&noise, pair, &err), &err);
    for (size_t k = 0; k < BOARD_AGENTS; k++) {
        check_ok(tacit_identity_fresh(&b->identity[k], &err), &err);
        put_word(b, &s, k, noise, &d, !(gone >> k & 1));
    }
    tacit_noise_free(noise);
    put_keys(b, &s, gone);
    boards_sign(b);
}

void boards_name(char name[64], tacit_agent agent)
{
    snprintf(name, 64, "ward-%zu", agent_of(agent));
}

static void sign(boards *b, tacit_agent agent, const uint8_t text[TACIT_MASK_KEY],
                 uint8_t signature[TACIT_SIGNATURE])
{
    char name[64];
    boards_name(name, agent);
    const tacit_signed_by by = {.run = b->board.run, .agent = agent, .name = name};
    const tacit_identity *identity = &b->identity[agent_of(agent)];
    tacit_identity_sign(signature, identity, by, text, TACIT_MASK_KEY);
    if (!tacit_identity_signed(signature, identity->public_key, by, text, TACIT_MASK_KEY))
        fail_msg("a signature is not good when it was made");
    b->known[b->known_count].agent = agent;
    memcpy(b->known[b->known_count].text, text, TACIT_MASK_KEY);
    memcpy(b->known[b->known_count++].signature, signature, TACIT_SIGNATURE);
}

void boards_sign(boards *b)
{
    uint8_t text[TACIT_MASK_KEY];
    b->known_count = 0;
    for (size_t k = 0; k < b->board.words; k++) {
        tacit_board_word_text(text, &b->board, &b->word[k]);
        sign(b, b->word[k].agent, text, b->word[k].signature);
    }
    for (size_t k = 0; k < b->board.keys; k++) {
        tacit_board_key_text(text, &b->board, &b->key[k]);
        sign(b, b->key[k].from, text, b->key[k].signature);
    }
}

tacit_status boards_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                           const uint8_t signature[TACIT_SIGNATURE])
{
    const boards *b = ctx;
    const size_t who = agent_of(agent);
    assert_int_equal(len, TACIT_MASK_KEY);
    for (size_t k = 0; k < b->known_count; k++)
        if (b->known[k].agent == agent && memcmp(b->known[k].text, text, len) == 0 &&
            memcmp(b->known[k].signature, signature, TACIT_SIGNATURE) == 0)
            return TACIT_OK;
    char name[64];
    boards_name(name, agent);
    const tacit_signed_by by = {.run = b->board.run, .agent = agent, .name = name};
    return who < BOARD_AGENTS &&
                   tacit_identity_signed(signature, b->identity[who].public_key, by, text, len)
               ? TACIT_OK
               : TACIT_NO;
}
