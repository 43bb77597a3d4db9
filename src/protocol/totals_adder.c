/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent as an adder: up to `span` members tell it that they are there, their words, keys of
 * those who went missing, and seeds. It adds up and tells the speaker. What it keeps are references
 * to words that masks cover; it can leave members out and spoil its part, and learn nothing.
 *
 * Steps: it collects answers to the set of step - 1 (step 0: who is there) until all members that
 * are asked have answered or patience is over, then lists to the speaker who did. After the last
 * set it collects seeds.
 *
 * Edges must be used by both ends or by none. Every word says with whom it shares masks; the sum
 * over words of +/- h(pair), h a public hash, is zero if and only if all edges within the set have
 * two ends (but for a chance of 2^-64). Adders list their part of it, and the speaker lets nothing
 * be opened unless it is zero.
 */
#include "protocol/totals_inside.h"

/* Times patience; members wait 3.5 times theirs. With several adders the speaker waits as well. */
#define ROLL_CALL(plan) ((plan)->again ? 2 : 1)

tacit_agent totals_word_partner(const tacit_public *word, uint32_t k, bool *chosen)
{
    const uint64_t entry = (uint64_t)tacit_public_get_int(word, 4, k);
    *chosen = entry & 1;
    return (tacit_agent)(entry >> 1);
}

static totals_roles roles_of(const totals_at *a, uint64_t trial)
{
    return totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, trial);
}

void totals_adder_clear(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    totals_row *row = totals_rows(a->plan, a->s);
    for (uint32_t k = 0; k < a->plan->span; k++) {
        tacit_drop(&a->env, row[k].word);
        tacit_drop(&a->env, row[k].paid);
        row[k] = (totals_row){0};
    }
    tacit_drop(&a->env, d->set[0]);
    tacit_drop(&a->env, d->set[1]);
    tacit_drop(&a->env, d->sum);
    tacit_drop(&a->env, d->pads);
    tacit_drop(&a->env, d->draft);
    *d = (totals_adder){.later = d->later};
}

void totals_adder_rest(totals_at *a)
{
    const uint64_t trial = a->s->adder.trial;
    totals_adder_clear(a);
    a->s->adder.trial = trial;
    a->s->adder.listed = a->s->adder.parted = true;
}

static void count_pending(totals_at *a);

/* Whether `from` is of the block that this agent adds up in a try. */
static bool is_mine(const totals_at *a, tacit_agent from, uint64_t trial)
{
    const totals_roles roles = roles_of(a, trial);
    return totals_position(&roles, from) % roles.blocks ==
           totals_position(&roles, tacit_facts_of(&a->env)->self);
}

/* Takes up the duty for a try, if it is this agent's and a later one than the last. */
tacit_status totals_adder_serve(totals_at *a, uint64_t trial)
{
    totals_adder *d = &a->s->adder;
    if (trial <= d->trial || trial >> 8 == 0 || trial >> 8 >= TOTALS_ROUNDS)
        return trial == d->trial ? TACIT_OK : TACIT_NO;
    const totals_roles roles = roles_of(a, trial);
    const uint64_t position = totals_position(&roles, tacit_facts_of(&a->env)->self);
    const bool deputy = a->plan->again && position == 1;
    if (position >= roles.blocks && !deputy)
        return TACIT_NO;
    totals_adder_clear(a);
    d->trial = trial;
    d->block = deputy ? 0 : (uint32_t)position;
    d->members = totals_block_size(&roles, d->block);
    d->deputy = d->listed = deputy;
    if (deputy)
        return TACIT_OK; /* it waits for nobody */
    count_pending(a);
    /* Who begins later shall find the roll call open; nothing was charged yet. */
    return totals_timer(a, TOTALS_CLOCK_ADDER, trial, 0, ROLL_CALL(a->plan) * a->plan->patience);
}

/* In the middle of a try that this agent has not left behind itself. Whoever comes for a later one
 * waits: else one member could call an adder away from all others, or, with messages that overtake
 * each other, from those who have not heard its result. */
static bool is_busy(const totals_at *a, uint64_t trial)
{
    const totals_adder *d = &a->s->adder;
    return d->members > 0 && trial > d->trial && a->s->member.trial <= d->trial &&
           a->s->phase != TOTALS_IDLE;
}

static void keep_for_later(totals_at *a, tacit_agent from, uint64_t trial)
{
    totals_adder *d = &a->s->adder;
    uint64_t *later = totals_later(a->plan, a->s);
    const totals_roles roles = roles_of(a, trial);
    const uint64_t place = totals_position(&roles, from) / roles.blocks;
    if (totals_position(&roles, tacit_facts_of(&a->env)->self) >= roles.blocks)
        return;
    if (d->later <= d->trial || trial < d->later) {
        memset(later, 0, 8 * totals_later_words(a->plan));
        d->later = trial;
    }
    if (trial == d->later && place < a->plan->span)
        later[place / 64] |= UINT64_C(1) << place % 64;
}

tacit_status totals_adder_next(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    const uint64_t trial = d->later;
    if (trial == 0 || is_busy(a, trial))
        return TACIT_OK;
    d->later = 0;
    tacit_status status = totals_adder_serve(a, trial);
    if (status != TACIT_OK)
        return status == TACIT_NO ? TACIT_OK : status;
    for (uint32_t k = 0; k < d->members; k++)
        if (totals_later(a->plan, a->s)[k / 64] >> k % 64 & 1)
            totals_rows(a->plan, a->s)[k].flags |= ROW_HERE;
    count_pending(a);
    return totals_adder_look(a);
}

/* The member's place in this adder's block; UINT32_MAX: it is not of it. */
static uint32_t place_of(const totals_at *a, tacit_agent agent)
{
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    if (agent >= a->plan->agents)
        return UINT32_MAX;
    const uint64_t position = totals_position(&roles, agent);
    return position % roles.blocks == d->block ? (uint32_t)(position / roles.blocks) : UINT32_MAX;
}

static uint64_t position_of(const totals_at *a, uint32_t place)
{
    return a->s->adder.block + (uint64_t)place * a->plan->blocks;
}

/* ---- what is collected ---- */

static bool in_set(const totals_at *a, const tacit_public *set, uint32_t place)
{
    return set && totals_bit(set, position_of(a, place));
}

/* Whether partners of its word have gone from one set to the next. */
static bool owes(const totals_at *a, const totals_row *row)
{
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    const uint64_t count = totals_head(row->word, 1);
    if (row->paid && totals_head(row->paid, 1) + 1 >= d->step)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        bool chosen;
        const tacit_agent p = totals_word_partner(row->word, k, &chosen);
        const uint64_t position = totals_position(&roles, p);
        if (totals_bit(d->set[0], position) && !totals_bit(d->set[1], position))
            return true;
    }
    return false;
}

/* What is known of a member in this step: 1 it answered, -1 it will not, 0 nothing yet. */
static int answer(const totals_at *a, uint32_t place)
{
    const totals_adder *d = &a->s->adder;
    const totals_row *row = &totals_rows(a->plan, a->s)[place];
    const totals_roles roles = roles_of(a, d->trial);
    if (d->step == 0) {
        if (row->flags & ROW_LEFT ||
            !totals_allowed(a->plan, &a->s->search, totals_agent_at(&roles, position_of(a, place))))
            return -1;
        return row->flags & ROW_HERE ? 1 : 0;
    }
    if (!in_set(a, d->set[1], place))
        return -1;
    if (d->step > TOTALS_STEPS)
        return row->flags & ROW_SEEDED ? 1 : 0;
    if (d->step == 1)
        return row->word ? 1 : row->flags & ROW_LEFT ? -1 : 0;
    if (!row->word)
        return -1; /* the speaker says it has spoken: it has not */
    return !owes(a, row) ? 1 : row->flags & ROW_LEFT ? -1 : 0;
}

static void count_pending(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    d->pending = 0;
    for (uint32_t k = 0; k < d->members; k++)
        d->pending += answer(a, k) == 0;
}

tacit_status totals_adder_recount(totals_at *a)
{
    if (a->s->adder.trial == 0 || a->s->adder.step > 0 || a->s->adder.listed || a->s->adder.deputy)
        return TACIT_OK;
    count_pending(a);
    return totals_adder_look(a);
}

static uint64_t pair_hash(tacit_agent one, tacit_agent other)
{
    uint64_t x = ((uint64_t)(one < other ? one : other) << 32) + (one < other ? other : one);
    x = (x + UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 29) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 32;
}

/* +/- h over the edges of one word that lie within the last set. */
static uint64_t edges_of(const totals_at *a, uint32_t place)
{
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    const tacit_public *word = totals_rows(a->plan, a->s)[place].word;
    const tacit_agent self = totals_agent_at(&roles, position_of(a, place));
    uint64_t sum = 0;
    for (uint32_t k = 0; k < totals_head(word, 1); k++) {
        bool chosen;
        const tacit_agent p = totals_word_partner(word, k, &chosen);
        if (totals_bit(d->set[1], totals_position(&roles, p)))
            sum += self < p ? pair_hash(self, p) : 0 - pair_hash(self, p);
    }
    return sum;
}

static tacit_status list(totals_at *a)
{
    tacit_status status;
    totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    tacit_public *v = totals_new(a, TOTALS_LIST, &status);
    if (status != TACIT_OK)
        return status;
    uint64_t edges = 0, bits = 0;
    for (uint32_t k = 0; k < d->members; k++) {
        if (answer(a, k) > 0) {
            bits |= UINT64_C(1) << k % 64;
            edges += d->step >= 1 ? edges_of(a, k) : 0;
        }
        if (k % 64 == 63 || k + 1 == d->members) {
            tacit_public_set_int(v, 1, k / 64, (int64_t)bits);
            bits = 0;
        }
    }
    tacit_public_set_int(v, 0, 0, (int64_t)d->trial);
    tacit_public_set_int(v, 0, 1, d->step);
    tacit_public_set_int(v, 0, 2, d->block);
    tacit_public_set_int(v, 0, 3, (int64_t)edges);
    d->listed = true;
    return totals_send(a, totals_agent_at(&roles, 0), TOTALS_LIST, v);
}

/* A member whose word is here and whose seed is not, plus 1. */
static uint64_t first_closed(const totals_at *a)
{
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    for (uint32_t k = 0; k < d->members; k++)
        if (in_set(a, d->set[1], k) && !(totals_rows(a->plan, a->s)[k].flags & ROW_SEEDED))
            return totals_agent_at(&roles, position_of(a, k)) + UINT64_C(1);
    return 0;
}

static bool lists(const tacit_public *word, tacit_agent agent)
{
    for (uint32_t k = 0; k < totals_head(word, 1); k++) {
        bool chosen;
        if (totals_word_partner(word, k, &chosen) == agent)
            return true;
    }
    return false;
}

void totals_one_ended(const totals_at *a, uint64_t ends[2])
{
    const totals_adder *d = &a->s->adder;
    const totals_row *row = totals_rows(a->plan, a->s);
    const totals_roles roles = roles_of(a, d->trial);
    ends[0] = ends[1] = 0;
    if (roles.blocks > 1 || d->trial != a->s->speaker.trial || !d->set[1])
        return; /* who adds up has not all words */
    for (uint32_t k = 0; k < d->members; k++)
        for (uint32_t j = 0;
             in_set(a, d->set[1], k) && row[k].word && j < totals_head(row[k].word, 1); j++) {
            bool chosen;
            const tacit_agent self = totals_agent_at(&roles, k);
            const tacit_agent p = totals_word_partner(row[k].word, j, &chosen);
            const uint32_t at = (uint32_t)totals_position(&roles, p);
            if (in_set(a, d->set[1], at) && row[at].word && !lists(row[at].word, self)) {
                ends[0] = self + UINT64_C(1);
                ends[1] = p + UINT64_C(1);
                return;
            }
        }
}

int64_t totals_add_beside(const totals_at *a, size_t k)
{
    const totals_adder *d = &a->s->adder;
    uint64_t sum = 0;
    for (uint32_t place = 0; place < d->members; place++)
        if (in_set(a, d->set[1], place))
            sum += (uint64_t)tacit_public_get_int(totals_rows(a->plan, a->s)[place].word, 2, k);
    return (int64_t)sum;
}

static tacit_status part(totals_at *a, bool good)
{
    tacit_status status;
    totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    tacit_public *v = totals_new(a, TOTALS_PART, &status);
    if (status != TACIT_OK)
        return status;
    d->parted = true;
    tacit_public_set_int(v, 0, 0, (int64_t)d->trial);
    tacit_public_set_int(v, 0, 1, d->block);
    tacit_public_set_int(v, 0, 2, good);
    tacit_public_set_int(v, 0, 3, good ? 0 : (int64_t)first_closed(a));
    if (good)
        tacit_public_copy_segment(v, 1, d->sum, 0);
    for (size_t k = 0; k < a->plan->beside && good; k++)
        tacit_public_set_int(v, 2, k, totals_add_beside(a, k));
    return totals_send(a, totals_agent_at(&roles, 0), TOTALS_PART, v);
}

/* Goes on as soon as everybody has answered who will. */
tacit_status totals_adder_look(totals_at *a)
{
    const totals_adder *d = &a->s->adder;
    /* Who may take part follows from the try before: wait until this agent has heard of it. */
    const bool ahead = d->step == 0 && d->trial > a->s->member.trial && a->s->phase != TOTALS_IDLE;
    if (d->trial == 0 || d->listed || d->parted || d->pending > 0 || ahead)
        return TACIT_OK;
    if (d->deputy) /* the speaker has time until the deputy asked for pads itself */
        return d->waits > 0 ? totals_deputy_late(a) : TACIT_OK;
    return d->step > TOTALS_STEPS ? part(a, true) : list(a);
}

tacit_status totals_adder_late(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    if (d->deputy)
        return totals_deputy_late(a);
    if (d->listed || d->parted)
        return TACIT_OK;
    if (d->step <= TOTALS_STEPS)
        return list(a);
    if (d->waits++ > 0)
        return part(a, false);
    tacit_status status = totals_ask_pads(a);
    return status == TACIT_OK
               ? totals_timer(a, TOTALS_CLOCK_ADDER, d->trial, d->step + 1, a->plan->patience)
               : status;
}

/* ---- what members say ---- */

/* An old round: whoever asks has missed what came of it. */
static tacit_status tell_news(totals_at *a, tacit_agent from, uint64_t trial)
{
    const tacit_public *result = a->s->result;
    if (!result || totals_head(result, 0) >> 8 < trial >> 8 ||
        from == tacit_facts_of(&a->env)->self)
        return TACIT_OK;
    const tacit_status status = totals_board_tell_one(a, from, totals_head(result, 0));
    return status == TACIT_OK ? totals_tell(a, from, TOTALS_RESULT, result) : status;
}

/* A try that this agent has left behind, and that nobody will put together any more: whoever is
 * late need not lose patience to go on. */
static tacit_status tell_over(totals_at *a, tacit_agent from, uint64_t trial)
{
    tacit_status status;
    tacit_public *v = totals_new(a, TOTALS_RESULT, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, (int64_t)trial);
    tacit_public_set_int(v, 0, 1, TOTALS_FAILED);
    return totals_send(a, from, TOTALS_RESULT, v);
}

tacit_status totals_on_here(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const uint64_t trial = totals_head(v, 0);
    const bool leaving = totals_head(v, 1) != 0;
    if (a->s->result && totals_head(a->s->result, 0) >> 8 >= trial >> 8)
        return tell_news(a, from, trial);
    const bool serving = trial == a->s->adder.trial && a->s->adder.members > 0;
    if (trial < a->s->member.trial && !serving && from != tacit_facts_of(&a->env)->self)
        return tell_over(a, from, trial);
    if (!totals_is_near(a->plan, a->s, trial) || !is_mine(a, from, trial))
        return TACIT_OK;
    if (is_busy(a, trial)) {
        if (!leaving)
            keep_for_later(a, from, trial);
        return TACIT_OK;
    }
    tacit_status status = totals_adder_serve(a, trial);
    if (status != TACIT_OK)
        return status == TACIT_NO ? TACIT_OK : status;
    const uint32_t place = place_of(a, from);
    if (place == UINT32_MAX || place >= a->s->adder.members || a->s->adder.deputy)
        return TACIT_OK;
    const bool waited = answer(a, place) == 0;
    totals_rows(a->plan, a->s)[place].flags |= leaving ? ROW_LEFT : ROW_HERE;
    a->s->adder.pending -= !a->s->adder.listed && waited && answer(a, place) != 0;
    return totals_adder_look(a);
}

bool totals_word_is_sound(const tacit_totals_plan *plan, const tacit_public *word)
{
    const uint64_t count = totals_head(word, 1), chosen = totals_head(word, 2);
    const uint64_t threshold = totals_head(word, 3);
    uint64_t found = 0;
    if (count == 0 || count > plan->room || chosen > plan->partners || threshold == 0 ||
        threshold > chosen)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        bool is_chosen;
        if (totals_word_partner(word, k, &is_chosen) >= plan->agents)
            return false;
        found += is_chosen;
    }
    return found == chosen;
}

static bool is_signed(totals_at *a, tacit_agent from, const tacit_public *word)
{
    uint8_t text[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
    if (!a->plan->board)
        return true;
    totals_word_sign_text(a, from, word, text);
    totals_get(word, 5, 0, signature, sizeof signature);
    return tacit_verify(&a->env, from, text, sizeof text, signature) == TACIT_OK;
}

tacit_status totals_on_word(totals_at *a, tacit_agent from, const tacit_public *v)
{
    totals_adder *d = &a->s->adder;
    if (totals_head(v, 0) != d->trial || d->members == 0 ||
        (!d->deputy && (d->step != 1 || d->listed)))
        return TACIT_OK;
    const uint32_t place = place_of(a, from);
    if (place == UINT32_MAX || !totals_word_is_sound(a->plan, v) || !is_signed(a, from, v))
        return TACIT_OK;
    if (d->deputy)
        return totals_deputy_word(a, place, v);
    totals_row *row = &totals_rows(a->plan, a->s)[place];
    if (answer(a, place) == 0) { /* the first one counts */
        row->word = tacit_keep(v);
        d->pending--;
    }
    return totals_adder_look(a);
}

static bool keys_signed(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const uint64_t count = totals_head(v, 2);
    for (size_t k = 0; a->plan->board && k < count; k++) {
        uint8_t key[TACIT_MASK_KEY], text[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
        totals_get(v, 1, 13 * k + 1, key, sizeof key);
        totals_get(v, 1, 13 * k + 5, signature, sizeof signature);
        totals_key_sign_text(a, totals_head(v, 0), from,
                             (tacit_agent)tacit_public_get_int(v, 1, 13 * k), key, text);
        if (tacit_verify(&a->env, from, text, sizeof text, signature) != TACIT_OK)
            return false;
    }
    return true;
}

tacit_status totals_on_paid(totals_at *a, tacit_agent from, const tacit_public *v)
{
    totals_adder *d = &a->s->adder;
    if (totals_head(v, 0) != d->trial || d->members == 0 || totals_head(v, 2) > a->plan->room ||
        (!d->deputy && (d->step < 2 || d->listed || totals_head(v, 1) + 1 != d->step)))
        return TACIT_OK;
    const uint32_t place = place_of(a, from);
    if (place == UINT32_MAX || !keys_signed(a, from, v))
        return TACIT_OK;
    if (d->deputy)
        return totals_deputy_paid(a, place, v);
    totals_row *row = &totals_rows(a->plan, a->s)[place];
    if (!row->word || (row->paid && totals_head(row->paid, 1) + 1 >= d->step))
        return TACIT_OK;
    const bool waited = answer(a, place) == 0;
    tacit_drop(&a->env, row->paid);
    row->paid = tacit_keep(v);
    d->pending -= waited;
    return totals_adder_look(a);
}

/* ---- what the speaker says ---- */

/* What pairs with those who are gone have added is taken out. */
static void undo_gone(totals_at *a, uint32_t place)
{
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    const totals_row *row = &totals_rows(a->plan, a->s)[place];
    const tacit_agent self = totals_agent_at(&roles, position_of(a, place));
    const size_t width = a->plan->board ? 13 : 5;
    const uint64_t count = row->paid ? totals_head(row->paid, 2) : 0;
    for (size_t k = 0; k < count; k++) {
        const uint64_t gone = (uint64_t)tacit_public_get_int(row->paid, 1, k * width);
        tacit_mask mask = {.minus = gone < self};
        totals_get(row->paid, 1, k * width + 1, mask.key, sizeof mask.key);
        tacit_mask_undo(d->sum, &mask, a->plan->noise, d->trial, 0);
    }
}

tacit_status totals_add_up(totals_at *a)
{
    totals_adder *d = &a->s->adder;
    d->sum = tacit_new_public(&a->env, &a->plan->number);
    if (!d->sum)
        return tacit_out_of_memory(tacit_own_error(&a->env));
    bool anybody = false;
    for (uint32_t k = 0; k < d->members; k++) {
        if (!in_set(a, d->set[1], k))
            continue;
        if (!totals_rows(a->plan, a->s)[k].word)
            return part(a, false); /* somebody in it never spoke; a deputy has looked */
        anybody = true;
        tacit_mask_gather(d->sum, totals_rows(a->plan, a->s)[k].word, 1);
        undo_gone(a, k);
    }
    d->parted = !anybody; /* then nothing is asked of it */
    d->listed = false;
    count_pending(a);
    return a->plan->board ? totals_board_begin(a) : TACIT_OK;
}

/* A set for this block: told on, and taken in. */
static tacit_status tell_on(totals_at *a, const tacit_public *v)
{
    tacit_status status = TACIT_OK;
    const totals_adder *d = &a->s->adder;
    const totals_roles roles = roles_of(a, d->trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    for (uint32_t k = 0; k < d->members && status == TACIT_OK; k++) {
        const tacit_agent to = totals_agent_at(&roles, position_of(a, k));
        if (to != self && totals_rows(a->plan, a->s)[k].flags & ROW_HERE)
            status = totals_tell(a, to, TOTALS_SET, v);
    }
    return status;
}

tacit_status totals_adder_set(totals_at *a, const tacit_public *v)
{
    totals_adder *d = &a->s->adder;
    const uint64_t step = totals_head(v, 1);
    if (totals_head(v, 0) != d->trial || d->members == 0 || step != d->step || !d->listed ||
        d->deputy)
        return TACIT_OK;
    const bool last = totals_head(v, 2) == 1, goes_on = totals_head(v, 3) == TOTALS_GOES_ON;
    tacit_drop(&a->env, d->set[0]);
    d->set[0] = d->set[1];
    d->set[1] = tacit_keep(v);
    tacit_status status = tell_on(a, v);
    if (status != TACIT_OK || !goes_on)
        return status;
    d->step = last ? TOTALS_STEPS + 1 : (uint32_t)step + 1;
    d->listed = false;
    d->waits = 0;
    if (last)
        status = totals_add_up(a);
    else
        count_pending(a);
    const double wait = a->plan->patience + (step == 0 ? a->plan->jitter : 0);
    if (status == TACIT_OK)
        status = totals_timer(a, TOTALS_CLOCK_ADDER, d->trial, d->step, wait);
    return status == TACIT_OK ? totals_adder_look(a) : status;
}

/* ---- seeds ---- */

tacit_status totals_adder_seed(totals_at *a, uint32_t place, const uint8_t seed[TACIT_MASK_KEY])
{
    totals_adder *d = &a->s->adder;
    totals_row *row = &totals_rows(a->plan, a->s)[place];
    uint8_t want[TACIT_MASK_KEY], have[TACIT_MASK_KEY];
    if (d->parted || !d->sum || !row->word || row->flags & ROW_SEEDED ||
        !in_set(a, d->set[1], place))
        return TACIT_NO;
    totals_get(row->word, 3, 0, want, sizeof want);
    tacit_board_commit(have, seed);
    if (memcmp(want, have, sizeof want) != 0)
        return TACIT_NO;
    row->flags |= ROW_SEEDED;
    d->pending--;
    tacit_mask_uncover(d->sum, seed, d->trial, 0);
    totals_board_seed(a, place, seed);
    return TACIT_OK;
}

tacit_status totals_on_seed(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const totals_adder *d = &a->s->adder;
    uint8_t seed[TACIT_MASK_KEY];
    if (totals_head(v, 0) != d->trial || d->trial == 0 || d->step <= TOTALS_STEPS)
        return TACIT_OK;
    const uint32_t place = place_of(a, from);
    totals_get(v, 1, 0, seed, sizeof seed);
    if (place != UINT32_MAX)
        totals_adder_seed(a, place, seed);
    return totals_adder_look(a);
}
