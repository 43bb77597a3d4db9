/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One agent of a try stands by for the speaker, which is the only adder then (plans with `again`).
 * Members tell it their words, keys and seeds as well. It hears no more than the speaker does, and
 * is believed as little.
 *
 *   - The last set goes to it first, and it tells everybody; the speaker does so too when it hears
 *     that, or when its patience with the deputy is over. So whichever of the two dies, either all
 *     members hear the last set, or none has confirmed anything: then the next try takes the same
 *     numbers (totals_member.c).
 *   - If no result has come some time after the last set, it asks for the seeds that are missing,
 *     the speaker's own among them, adds up and tells everybody.
 *   - A result it tells on, with the board: the speaker may have died in the middle of telling.
 */
#include "protocol/totals_inside.h"

#define SPEAKER_TIME 2.5 /* times patience, from the last set: seeds, then pads, and a little */

tacit_agent totals_deputy_of(const tacit_totals_plan *plan, const totals_roles *roles)
{
    return plan->again ? totals_agent_at(roles, 1) : TACIT_NOBODY;
}

static totals_roles roles_of(const totals_at *a, uint64_t trial)
{
    return totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, trial);
}

bool totals_is_deputy(const totals_at *a, uint64_t trial)
{
    const totals_roles roles = roles_of(a, trial);
    return totals_deputy_of(a->plan, &roles) == tacit_facts_of(&a->env)->self;
}

tacit_status totals_tell_both(totals_at *a, uint32_t kind, tacit_public *payload)
{
    const totals_roles roles = roles_of(a, a->s->member.trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    const tacit_agent deputy = totals_deputy_of(a->plan, &roles);
    tacit_status status = TACIT_OK;
    if (deputy != TACIT_NOBODY && totals_bit(a->s->member.set, 1))
        status = totals_tell(a, deputy, kind, payload);
    if (status == TACIT_OK) /* the speaker last: what it has, the deputy has too */
        status =
            totals_tell(a, totals_agent_at(&roles, totals_position(&roles, self) % roles.blocks),
                        kind, payload);
    tacit_drop(&a->env, payload);
    return status;
}

tacit_status totals_deputy_begin(totals_at *a, uint64_t trial)
{
    if (!totals_is_deputy(a, trial))
        return TACIT_OK;
    const tacit_status status = totals_adder_serve(a, trial);
    return status == TACIT_NO ? TACIT_OK : status;
}

/* ---- what it hears ---- */

/* Every partner of its word is in the set, or its key is here. */
static bool is_covered(const totals_at *a, const totals_row *row, const tacit_public *set)
{
    const totals_roles roles = roles_of(a, a->s->adder.trial);
    const size_t width = a->plan->board ? 13 : 5;
    for (uint32_t k = 0; k < totals_head(row->word, 1); k++) {
        bool chosen, found = false;
        const tacit_agent p = totals_word_partner(row->word, k, &chosen);
        if (totals_bit(set, totals_position(&roles, p)))
            continue;
        for (size_t j = 0; row->paid && j < totals_head(row->paid, 2) && !found; j++)
            found = (uint64_t)tacit_public_get_int(row->paid, 1, j * width) == p;
        if (!found)
            return false;
    }
    return true;
}

static bool has_all(const totals_at *a, const tacit_public *set)
{
    for (uint32_t k = 0; k < a->s->adder.members; k++) {
        const totals_row *row = &totals_rows(a->plan, a->s)[k];
        if (totals_bit(set, k) && (!row->word || !is_covered(a, row, set)))
            return false;
    }
    return true;
}

/* Words may come after the set they are in. */
static tacit_status add_up(totals_at *a)
{
    const totals_adder *d = &a->s->adder;
    return d->set[1] && !d->sum && has_all(a, d->set[1]) ? totals_add_up(a) : TACIT_OK;
}

tacit_status totals_deputy_word(totals_at *a, uint32_t place, const tacit_public *word)
{
    totals_row *row = &totals_rows(a->plan, a->s)[place];
    if (row->word) /* the first one counts */
        return TACIT_OK;
    row->word = tacit_keep(word);
    return add_up(a);
}

tacit_status totals_deputy_paid(totals_at *a, uint32_t place, const tacit_public *paid)
{
    totals_row *row = &totals_rows(a->plan, a->s)[place];
    if (!row->word || a->s->adder.sum ||
        (row->paid && totals_head(row->paid, 1) >= totals_head(paid, 1)))
        return TACIT_OK;
    tacit_drop(&a->env, row->paid);
    row->paid = tacit_keep(paid);
    return add_up(a);
}

static tacit_status tell_all(totals_at *a, uint32_t kind, const tacit_public *v)
{
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    tacit_status status = TACIT_OK;
    for (uint64_t u = 0; u < a->plan->agents && status == TACIT_OK; u++)
        if (u != self)
            status = totals_tell(a, (tacit_agent)u, kind, v);
    return status;
}

tacit_status totals_deputy_set(totals_at *a, const tacit_public *v)
{
    totals_adder *d = &a->s->adder;
    const uint64_t trial = totals_head(v, 0);
    if (totals_head(v, 2) != 1 || totals_head(v, 3) != TOTALS_GOES_ON ||
        trial != a->s->member.trial)
        return TACIT_OK;
    const bool serves = trial == d->trial && d->deputy;
    if (serves && d->set[1])
        return TACIT_OK;
    tacit_status status = tell_all(a, TOTALS_SET, v);
    if (status != TACIT_OK || !serves)
        return status;
    d->set[0] = tacit_keep(v);
    d->set[1] = tacit_keep(v);
    d->step = TOTALS_STEPS + 1;
    status = add_up(a);
    return status == TACIT_OK ? totals_timer(a, TOTALS_CLOCK_ADDER, trial, d->step,
                                             SPEAKER_TIME * a->plan->patience)
                              : status;
}

/* ---- when the speaker is silent ---- */

tacit_status totals_deputy_late(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    if (d->parted || !d->sum) /* what it has not heard it cannot add up */
        return TACIT_OK;
    if (d->pending == 0) {
        d->parted = true;
        return totals_speaker_stand_in(a);
    }
    if (d->waits++ > 0)
        return TACIT_OK; /* the try fails, as if nobody had stood by */
    const tacit_status status = totals_ask_pads(a);
    return status == TACIT_OK
               ? totals_timer(a, TOTALS_CLOCK_ADDER, d->trial, d->step + 1, a->plan->patience)
               : status;
}

tacit_status totals_deputy_tell(totals_at *a, const tacit_public *result)
{
    tacit_status status = TACIT_OK;
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    for (uint64_t u = 0; u < a->plan->agents && status == TACIT_OK; u++)
        if (u != self)
            status = totals_board_tell_one(a, (tacit_agent)u, totals_head(result, 0));
    return status == TACIT_OK ? tell_all(a, TOTALS_RESULT, result) : status;
}
