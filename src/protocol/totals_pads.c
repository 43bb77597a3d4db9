/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds of members who said their word and went silent. A word brings shares of its seed, each
 * under a pad of one partner that its member chose; partners tell their pads of members of the set
 * they confirmed. With `threshold` pads the seed is there. A pad that is a lie gives a seed that
 * does not fit its commitment; then other pads are tried, leaving out one at a time.
 */
#include "protocol/totals_inside.h"

enum { PAD = 5 }; /* numbers: there, and the pad */

static tacit_status ask(totals_at *a, tacit_agent partner, tacit_agent whose)
{
    tacit_status status;
    tacit_public *v = totals_new(a, TOTALS_ASK, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, (int64_t)a->s->adder.trial);
    tacit_public_set_int(v, 0, 1, (int64_t)whose);
    return totals_send(a, partner, TOTALS_ASK, v);
}

static totals_roles roles_of(const totals_at *a)
{
    return totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, a->s->adder.trial);
}

static tacit_status ask_for(totals_at *a, const totals_roles *roles, uint32_t place)
{
    const totals_adder *d = &a->s->adder;
    const tacit_public *word = totals_rows(a->plan, a->s)[place].word;
    const tacit_agent whose = totals_agent_at(roles, d->block + (uint64_t)place * roles->blocks);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < totals_head(word, 1) && status == TACIT_OK; k++) {
        bool chosen;
        const tacit_agent partner = totals_word_partner(word, k, &chosen);
        if (chosen && totals_bit(d->set[1], totals_position(roles, partner)))
            status = ask(a, partner, whose);
    }
    return status;
}

tacit_status totals_ask_pads(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a);
    totals_row *row = totals_rows(a->plan, a->s);
    tacit_status status = TACIT_OK;
    if (!d->pads)
        d->pads = totals_new(a, TOTALS_PADS, &status);
    for (uint32_t k = 0; k < d->members && status == TACIT_OK; k++) {
        if (!row[k].word || row[k].flags & (ROW_SEEDED | ROW_ASKED) ||
            !totals_bit(d->set[1], d->block + (uint64_t)k * roles.blocks))
            continue;
        row[k].flags |= ROW_ASKED;
        status = ask_for(a, &roles, k);
    }
    return status;
}

/* From the pads that are there but the `without`-th of them; false: not enough of them. */
static bool join(const totals_at *a, uint32_t place, size_t without, uint8_t seed[TACIT_MASK_KEY])
{
    const totals_adder *d = &a->s->adder;
    const tacit_public *word = totals_rows(a->plan, a->s)[place].word;
    const size_t k = a->plan->partners, threshold = totals_head(word, 3);
    uint8_t share[TACIT_TOTALS_PARTNERS][TACIT_MASK_KEY], point[TACIT_TOTALS_PARTNERS];
    size_t found = 0, seen = 0;
    for (size_t j = 0; j < totals_head(word, 2) && found < threshold; j++) {
        uint8_t pad[TACIT_MASK_KEY];
        const size_t at = (place * k + j) * PAD;
        if (tacit_public_get_int(d->pads, 0, at) == 0 || seen++ == without)
            continue;
        totals_get(d->pads, 0, at + 1, pad, sizeof pad);
        totals_get(word, 3, 4 + 4 * j, share[found], TACIT_MASK_KEY);
        for (size_t b = 0; b < TACIT_MASK_KEY; b++)
            share[found][b] ^= pad[b];
        point[found++] = (uint8_t)(j + 1);
    }
    return found == threshold && tacit_shares_join(seed, (const uint8_t(*)[TACIT_MASK_KEY])share,
                                                   point, threshold, NULL) == TACIT_OK;
}

static void try_to_join(totals_at *a, uint32_t place)
{
    uint8_t seed[TACIT_MASK_KEY];
    for (size_t without = 0; without <= a->plan->partners; without++) {
        const size_t skip = without == 0 ? SIZE_MAX : without - 1;
        if (join(a, place, skip, seed) && totals_adder_seed(a, place, seed) == TACIT_OK)
            return;
    }
}

/* Which of a word's shares is this partner's; SIZE_MAX: none. */
static size_t share_of(const tacit_public *word, tacit_agent partner)
{
    size_t number = 0;
    for (uint32_t k = 0; k < totals_head(word, 1); k++) {
        bool chosen;
        const bool is = totals_word_partner(word, k, &chosen) == partner;
        if (is)
            return chosen ? number : SIZE_MAX;
        number += chosen;
    }
    return SIZE_MAX;
}

tacit_status totals_on_pad(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const totals_adder *d = &a->s->adder;
    const uint64_t whose = totals_head(v, 1);
    if (totals_head(v, 0) != d->trial || d->trial == 0 || !d->pads || whose >= a->plan->agents)
        return TACIT_OK;
    const totals_roles roles = roles_of(a);
    const uint64_t position = totals_position(&roles, (tacit_agent)whose);
    const uint32_t place = (uint32_t)(position / roles.blocks);
    const totals_row *row = &totals_rows(a->plan, a->s)[place];
    if (position % roles.blocks != d->block || !(row->flags & ROW_ASKED) || row->flags & ROW_SEEDED)
        return TACIT_OK;
    const size_t number = share_of(row->word, from);
    if (number >= a->plan->partners)
        return TACIT_OK;
    const size_t at = (place * (size_t)a->plan->partners + number) * PAD;
    uint8_t pad[TACIT_MASK_KEY];
    totals_get(v, 1, 0, pad, sizeof pad);
    tacit_public_set_int(d->pads, 0, at, 1);
    totals_put(d->pads, 0, at + 1, pad, sizeof pad);
    try_to_join(a, place);
    return totals_adder_look(a);
}
