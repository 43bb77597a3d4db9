/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First 32 bytes: somebody's open key. It is refused, and leaves no secret behind, or both ends of
 * it would agree. The rest are questions to four members of a party, two bytes each: calls of any
 * try, words, seeds, drop-outs. A member must never tell two words with the same masks, nor two
 * seeds in a round, nor a word after a seed; and whenever the receiver has got words and seeds of
 * all of a set, for one try, their sum is the plain one.
 */
#include <sodium.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "tacit/masks.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { MEMBERS = 4, ROUNDS = 4, ATTEMPTS = 4, NUMBERS = 3, SETS = 1 << MEMBERS };

#define MUST(what)   \
    do {             \
        if (!(what)) \
            abort(); \
    } while (0)

typedef struct vector3 {
    alignas(16) unsigned char memory[sizeof(tacit_vector) + 8 * NUMBERS];
} vector3;

static tacit_shape shape;

static tacit_vector *vector_at(vector3 *v)
{
    tacit_vector *vector = (tacit_vector *)(void *)v->memory;
    tacit_vector_init(vector, &shape, 0);
    return vector;
}

static void try_key(const uint8_t open[TACIT_MASK_KEY])
{
    static const uint8_t seed[TACIT_MASK_KEY] = {1}, nothing[TACIT_MASK_KEY];
    tacit_mask_keys mine;
    tacit_error err;
    uint8_t shared[TACIT_MASK_KEY], point[32];
    tacit_mask_keys_make(&mine, seed);
    const tacit_status status = tacit_mask_agree(shared, &mine, open, &err);
    MUST(status == TACIT_OK || status == TACIT_EINPUT);
    MUST((status == TACIT_OK) != (memcmp(shared, nothing, sizeof shared) == 0));
    if (status == TACIT_OK)
        MUST(crypto_scalarmult(point, mine.secret, open) == 0 && open[31] < 0x80 &&
             memcmp(open, mine.open, sizeof mine.open) != 0);
    else
        MUST(err.text[0] != '\0');
}

/* What the world has seen of one member. */
typedef struct seen {
    tacit_mask_turn turn;
    uint8_t set_of[ROUNDS][ATTEMPTS]; /* of the word it told; 0: none */
    int opened[ROUNDS];               /* 1 + attempt */
    uint8_t called;                   /* set of the last call granted */
    int64_t word[ROUNDS][ATTEMPTS][NUMBERS];
} seen;

static int64_t held(size_t member, uint64_t round, size_t k)
{
    static const int64_t some[] = {INT64_MAX, INT64_MIN, -1, 12345};
    return some[(member + round + k) % 4] ^ (int64_t)(member << 8 | round << 4 | k);
}

static size_t party_of(uint8_t set, tacit_agent member[MEMBERS], tacit_mask_party *party)
{
    size_t count = 0;
    for (size_t k = 0; k < MEMBERS; k++)
        if (set >> k & 1)
            member[count++] = k;
    *party = (tacit_mask_party){
        .member = member, .count = count, .numbers = NUMBERS, .split = set % 2 == 0};
    return count;
}

static bool place_of(tacit_mask_place *place, const tacit_mask_party *party)
{
    *place = (tacit_mask_place){.epoch = 1, .receiver = 99};
    return tacit_mask_set(place->set, party, NULL) == TACIT_OK;
}

static void own_of(uint8_t own[TACIT_MASK_KEY], size_t member, const tacit_mask_place *place,
                   uint64_t round, uint32_t attempt)
{
    const uint8_t secret[TACIT_MASK_KEY] = {(uint8_t)(member + 1)};
    tacit_mask_own(own, secret, place, round, attempt);
}

static size_t masks_of(tacit_mask masks[MEMBERS], size_t member, const tacit_mask_party *party,
                       const tacit_mask_place *place)
{
    size_t count = 0, at = 0;
    while (party->member[at] != member)
        at++;
    for (size_t k = 0; k < party->count; k++) {
        const tacit_agent other = party->member[k];
        const uint8_t shared[TACIT_MASK_KEY] = {(uint8_t)(1 << member | 1 << other)};
        bool adds;
        if (!tacit_mask_pair(party, at, k, &adds))
            continue;
        tacit_mask_derive(masks[count].key, shared, place, member, other);
        masks[count++].minus = !adds;
    }
    return count;
}

static void ask_word(seen *s, size_t member)
{
    tacit_agent name[MEMBERS];
    tacit_mask_party party;
    tacit_mask_place place;
    tacit_mask masks[MEMBERS];
    uint8_t own[TACIT_MASK_KEY] = {0};
    vector3 in, out;
    const uint64_t round = s->turn.round;
    const uint32_t attempt = s->turn.attempt;
    size_t count = 0;
    party_of(s->called, name, &party);
    if (s->called && place_of(&place, &party)) {
        count = masks_of(masks, member, &party, &place);
        own_of(own, member, &place, round, attempt);
    }
    tacit_vector *number = vector_at(&in), *word = vector_at(&out);
    for (size_t k = 0; k < NUMBERS; k++)
        ((int64_t *)(void *)number->data)[k] = held(member, round, k);
    if (tacit_mask_word(&s->turn, tacit_vector_public(word), 0, tacit_vector_secret(number), masks,
                        count, own, NULL) != TACIT_OK)
        return;
    MUST(s->set_of[round][attempt] == 0 && s->opened[round] == 0 && count > 0);
    s->set_of[round][attempt] = s->called;
    memcpy(s->word[round][attempt], word->data, sizeof s->word[round][attempt]);
}

/* Words and seeds of all of a set: the sum must be right. */
static void look(seen all[MEMBERS], size_t member, uint64_t round, uint32_t attempt)
{
    const uint8_t set = all[member].set_of[round][attempt];
    tacit_agent name[MEMBERS];
    tacit_mask_party party;
    tacit_mask_place place;
    vector3 memory[2];
    tacit_vector *sum = vector_at(&memory[0]), *word = vector_at(&memory[1]);
    uint64_t plain[NUMBERS] = {0};
    memset(sum->data, 0, 8 * NUMBERS);
    party_of(set, name, &party);
    MUST(place_of(&place, &party));
    for (size_t k = 0; k < party.count; k++) {
        seen *s = &all[name[k]];
        uint8_t own[TACIT_MASK_KEY];
        if (s->set_of[round][attempt] != set || s->opened[round] != (int)attempt + 1)
            return;
        memcpy(word->data, s->word[round][attempt], 8 * NUMBERS);
        tacit_mask_gather(tacit_vector_public(sum), tacit_vector_public(word), 0);
        own_of(own, name[k], &place, round, attempt);
        tacit_mask_uncover(tacit_vector_public(sum), own, round, attempt);
        for (size_t i = 0; i < NUMBERS; i++)
            plain[i] += (uint64_t)held(name[k], round, i);
    }
    MUST(memcmp(sum->data, plain, sizeof plain) == 0);
}

static void ask(seen all[MEMBERS], uint8_t what, uint8_t set)
{
    const size_t member = what % MEMBERS;
    const uint64_t round = what / MEMBERS % ROUNDS;
    const uint32_t attempt = what / (MEMBERS * ROUNDS) % ATTEMPTS;
    seen *s = &all[member];
    if (set >= 128) {
        ask_word(s, member);
    } else if (set >= 64) {
        if (tacit_mask_turn_open(&s->turn, round, attempt) != TACIT_OK)
            return;
        MUST(s->set_of[round][attempt] != 0);
        MUST(s->opened[round] == 0 || s->opened[round] == (int)attempt + 1);
        s->opened[round] = (int)attempt + 1;
        look(all, member, round, attempt);
    } else if (tacit_mask_turn_call(&s->turn, round, attempt) == TACIT_OK) {
        MUST(s->opened[round] == 0 && s->set_of[round][attempt] == 0);
        s->called = (uint8_t)(set % SETS | 1 << member);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static seen all[MEMBERS];
    if (len < TACIT_MASK_KEY || len > 4096)
        return 0;
    MUST(sodium_init() >= 0);
    MUST(tacit_shape_init(&shape, &(tacit_segment){"numbers", TACIT_I64, NUMBERS}, 1, NULL) ==
         TACIT_OK);
    try_key(bytes);
    memset(all, 0, sizeof all);
    for (size_t k = TACIT_MASK_KEY; k + 1 < len; k += 2)
        ask(all, bytes[k], bytes[k + 1]);
    return 0;
}
