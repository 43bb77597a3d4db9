/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent as one of those who are summed. In one try it answers at most once to each step, always
 * about a smaller set than before, and stops answering when
 *  - fewer members are left than its noise was made for (tacit_totals_parts), or
 *  - fewer than the quorum of those it chose itself: then it might be in a piece that was cut off,
 *  - or more of those it chose have gone than planned: keys of so many are not told.
 *
 * What it tells, and when:
 *   WORD     when it is in the set of those who are there; its number is spent from here on
 *   PAID     pair keys with members that were in that set and are not in the present one
 *   CONFIRM  a hash of the last set, to those who chose it; never of two sets of one try
 *   SEED     when the quorum of those it chose confirmed the same set
 *   PAD      to whoever asks, after its own seed: of a member of the set it confirmed, that chose
 * it So with a pair key gone, that member's pad stays untold, and the other way round.
 */
#include <math.h>

#include "protocol/totals_inside.h"

/* Times patience: how long a member waits for the next sign of life. */
#define ROLL 3.5
#define STEP 3.5
#define OPEN 7.0
#define ASIDE 14.0

bool totals_bit(const tacit_public *set, uint64_t position)
{
    return (uint64_t)tacit_public_ints(set, 1)[position / 64] >> position % 64 & 1;
}

static totals_roles roles_of(const totals_at *a, uint64_t trial)
{
    return totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, trial);
}

static tacit_agent adder_of(const totals_at *a, uint64_t trial, tacit_agent agent)
{
    const totals_roles roles = roles_of(a, trial);
    return totals_agent_at(&roles, totals_position(&roles, agent) % roles.blocks);
}

static tacit_agent own_adder(const totals_at *a)
{
    return adder_of(a, a->s->member.trial, tacit_facts_of(&a->env)->self);
}

/* ---- step 0 ---- */

static tacit_status say_here(totals_at *a, bool leaving)
{
    tacit_status status;
    tacit_public *v = totals_new(a, TOTALS_HERE, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, (int64_t)a->s->member.trial);
    tacit_public_set_int(v, 0, 1, leaving);
    return totals_send(a, own_adder(a), TOTALS_HERE, v);
}

/* The result of this try has overtaken that of the one before. */
static tacit_status take_early(totals_at *a)
{
    tacit_totals *s = a->s;
    const tacit_public *v = s->early;
    if (!v || totals_head(v, 0) > s->member.trial)
        return TACIT_OK;
    s->early = NULL;
    const tacit_status status = totals_head(v, 0) == s->member.trial
                                    ? totals_on_result(a, (tacit_agent)s->early_from, v)
                                    : TACIT_OK;
    tacit_drop(&a->env, v);
    return status;
}

tacit_status totals_begin_try(totals_at *a)
{
    tacit_totals *s = a->s;
    const uint64_t trial = TOTALS_TRY(s->round, s->attempt);
    tacit_drop(&a->env, s->member.set);
    s->member = (totals_member){.trial = trial, .turn = s->member.turn, .mark = s->member.mark};
    s->phase = TOTALS_ROLL;
    s->tries++;
    for (uint32_t k = 0; k < s->partners; k++)
        s->partner[k].in = s->partner[k].masked = false;
    if (!totals_allowed(a->plan, &s->search, tacit_facts_of(&a->env)->self))
        s->phase = TOTALS_ASIDE;
    /* long enough for adders and the speaker to lose their patience first */
    tacit_status status =
        totals_watch(a, (s->phase == TOTALS_ASIDE ? ASIDE : ROLL) * a->plan->patience +
                            (s->phase == TOTALS_ASIDE ? a->plan->jitter : 0));
    if (status != TACIT_OK)
        return status;
    status = totals_adder_next(a);
    if (status == TACIT_OK)
        status = totals_deputy_begin(a, trial);
    if (status == TACIT_OK)
        status = totals_adder_recount(a);
    if (status == TACIT_OK)
        status = take_early(a);
    /* either can have ended the try at once */
    return status == TACIT_OK && s->member.trial == trial && !s->ready &&
                   (s->phase == TOTALS_ROLL || s->phase == TOTALS_ASIDE)
               ? say_here(a, s->phase == TOTALS_ASIDE)
               : status;
}

/* ---- a set ---- */

/* One that this agent chose, and whose edge is used in this try. */
static bool is_chosen(const tacit_totals *s, const totals_partner *p)
{
    return p->chosen && p->told > 0 && p->told <= s->member.trial;
}

static bool has_chosen_me(const tacit_totals *s, const totals_partner *p)
{
    return p->chose && p->settled > 0 && p->settled <= s->member.trial;
}

static uint32_t present_of_chosen(const tacit_totals *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->partners; k++)
        count += is_chosen(s, &s->partner[k]) && s->partner[k].in;
    return count;
}

/* Who of its partners is in; nobody comes back. */
static void look_up_partners(totals_at *a, const tacit_public *set, bool first)
{
    const totals_roles roles = roles_of(a, a->s->member.trial);
    for (uint32_t k = 0; k < a->s->partners; k++) {
        totals_partner *p = &a->s->partner[k];
        if (first)
            p->position = (uint32_t)totals_position(&roles, p->agent);
        if (first || p->in)
            p->in = totals_bit(set, p->position);
    }
}

static void hash_set(totals_at *a, const tacit_public *set)
{
    tacit_gist gist;
    uint8_t text[2 * TACIT_MASK_KEY + 16];
    const uint64_t head[2] = {a->s->member.trial, a->s->member.count};
    tacit_gist_of(&a->env, &gist, set, 1);
    memcpy(text, a->s->history, TACIT_MASK_KEY);
    memcpy(text + TACIT_MASK_KEY, head, sizeof head);
    memcpy(text + TACIT_MASK_KEY + sizeof head, gist.hash, sizeof gist.hash);
    tacit_mask_hash(a->s->member.hash, "tacit total set 2", text, sizeof text);
}

static tacit_status step_aside(totals_at *a)
{
    a->s->phase = TOTALS_ASIDE;
    tacit_status status = totals_watch(a, ASIDE * a->plan->patience + a->plan->jitter);
    return status == TACIT_OK ? say_here(a, true) : status;
}

static uint32_t lost_of_chosen(const tacit_totals *s)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < s->partners; k++)
        count += is_chosen(s, &s->partner[k]) && s->partner[k].masked && !s->partner[k].in;
    return count;
}

static uint32_t parts_of(const totals_at *a)
{
    return totals_parts(a->plan, a->s->member.present, a->s->member.threshold);
}

static bool is_enough(const totals_at *a, uint32_t count)
{
    const tacit_totals *s = a->s;
    /* Gaussian pairs are planned for a number of members, not for a part of those who came. */
    const uint32_t needed = a->plan->noise ? totals_needed(a->plan, (uint32_t)a->plan->agents)
                                           : totals_needed(a->plan, s->member.present);
    return count >= needed && parts_of(a) >= 1 && present_of_chosen(s) >= s->member.threshold &&
           lost_of_chosen(s) <= a->plan->losses;
}

/* ---- the word ---- */

static size_t masks_of(totals_at *a, tacit_mask *mask, tacit_mask_source *from, tacit_public *v,
                       uint32_t *chosen)
{
    tacit_totals *s = a->s;
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    size_t count = 0;
    *chosen = 0;
    for (uint32_t k = 0; k < s->partners; k++) {
        totals_partner *p = &s->partner[k];
        const bool shares = is_chosen(s, p);
        p->masked = p->in && p->agreed && (shares || has_chosen_me(s, p));
        if (!p->masked)
            continue;
        from[count] = totals_key_source(p);
        mask[count].minus = p->agent < self;
        tacit_public_set_int(v, 4, count++, (int64_t)((uint64_t)p->agent << 1 | shares));
        *chosen += shares;
    }
    tacit_mask_expand(mask->key, sizeof *mask, from, count, s->member.trial);
    return count;
}

/* Shares of the own seed for those it chose, each under a pad that only the two of them know. */
static tacit_status put_shares(totals_at *a, tacit_public *v, tacit_mask_source *from,
                               const uint8_t seed[TACIT_MASK_KEY], uint32_t chosen)
{
    tacit_totals *s = a->s;
    const uint32_t threshold = s->member.threshold;
    uint8_t(*share)[TACIT_MASK_KEY] =
        tacit_temporary(&a->env, (2 * (size_t)chosen + threshold) * sizeof *share);
    if (!share)
        return tacit_out_of_memory(tacit_own_error(&a->env));
    uint8_t(*pad)[TACIT_MASK_KEY] = share + chosen, (*coins)[TACIT_MASK_KEY] = pad + chosen;
    totals_coins(a, s->member.trial, coins, threshold - 1);
    tacit_status status =
        tacit_shares_split(share, chosen, threshold, seed, (const uint8_t(*)[TACIT_MASK_KEY])coins,
                           tacit_own_error(&a->env));
    size_t count = 0;
    for (uint32_t k = 0; k < s->partners; k++)
        if (s->partner[k].masked && is_chosen(s, &s->partner[k]))
            from[count++] = totals_pad_source(a, &s->partner[k], true);
    tacit_mask_expand(*pad, sizeof *pad, from, count, s->member.trial);
    for (size_t k = 0; k < count && status == TACIT_OK; k++) {
        for (size_t b = 0; b < TACIT_MASK_KEY; b++)
            pad[k][b] ^= share[k][b];
        totals_put(v, 3, 4 + 4 * k, pad[k], sizeof *pad);
    }
    tacit_mask_wipe(share, (2 * (size_t)chosen + threshold) * sizeof *share);
    return status;
}

static tacit_status sign_word(totals_at *a, tacit_public *v)
{
    uint8_t text[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
    if (!a->plan->board)
        return TACIT_OK;
    totals_word_sign_text(a, tacit_facts_of(&a->env)->self, v, text);
    tacit_status status = tacit_sign(&a->env, text, sizeof text, signature);
    totals_put(v, 5, 0, signature, sizeof signature);
    return status;
}

static tacit_status make_word(totals_at *a, const tacit_secret *number, const int64_t *beside,
                              tacit_public *v)
{
    tacit_totals *s = a->s;
    const uint64_t trial = s->member.trial;
    uint8_t seed[TACIT_MASK_KEY], commit[TACIT_MASK_KEY];
    uint32_t chosen;
    tacit_mask *mask = tacit_temporary(&a->env, (s->partners + 1) * sizeof *mask);
    tacit_mask_source *from = tacit_temporary(&a->env, (s->partners + 1) * sizeof *from);
    if (!mask || !from)
        return tacit_out_of_memory(tacit_own_error(&a->env));
    const size_t count = masks_of(a, mask, from, v, &chosen);
    if (tacit_mask_turn_call(&s->member.turn, trial, 0) != TACIT_OK)
        return TACIT_NO; /* a word was made for it already: before a crash, say */
    totals_renew_secret(a, trial);
    totals_seed(a, trial, seed);
    tacit_board_commit(commit, seed);
    tacit_public_set_int(v, 0, 0, (int64_t)trial);
    tacit_public_set_int(v, 0, 1, (int64_t)count);
    tacit_public_set_int(v, 0, 2, chosen);
    tacit_public_set_int(v, 0, 3, s->member.threshold);
    for (size_t k = 0; k < a->plan->beside; k++)
        tacit_public_set_int(v, 2, k, beside[k]);
    totals_put(v, 3, 0, commit, sizeof commit);
    tacit_status status = put_shares(a, v, from, seed, chosen);
    if (status == TACIT_OK)
        status = a->plan->noise
                     ? tacit_mask_word_noisy(&s->member.turn, v, 1, number, a->plan->noise, mask,
                                             count, seed, tacit_own_error(&a->env))
                     : tacit_mask_word(&s->member.turn, v, 1, number, mask, count, seed,
                                       tacit_own_error(&a->env));
    tacit_mask_wipe(seed, sizeof seed);
    tacit_mask_wipe(mask, count * sizeof *mask);
    return status == TACIT_OK ? sign_word(a, v) : status;
}

void totals_drop_number(totals_at *a)
{
    tacit_drop(&a->env, a->s->number);
    tacit_drop(&a->env, a->s->number_open);
    a->s->number = NULL;
    a->s->number_open = NULL;
}

/* For a try after this one, should it fail before anybody can have confirmed it here. */
static tacit_status keep_number(totals_at *a, tacit_secret *number, const int64_t *beside)
{
    tacit_totals *s = a->s;
    s->number_open = tacit_new_public(&a->env, &a->plan->open);
    if (!s->number_open)
        return tacit_out_of_memory(tacit_own_error(&a->env));
    for (size_t k = 0; k < a->plan->beside; k++)
        tacit_public_set_int(s->number_open, 0, k, beside[k]);
    s->number = number;
    s->number_parts = parts_of(a);
    return TACIT_OK;
}

/* The number is asked for now, not before: nothing is charged for a round that is refused. In a
 * plan with `again` it is asked for once a round: the same one is said in the next try, under other
 * masks, unless its set was confirmed here; and where fewer would be in a sum than its noise was
 * shared among, it is not. TACIT_NO: there is nothing to say. */
static tacit_status find_number(totals_at *a, tacit_secret **number, int64_t *beside)
{
    tacit_totals *s = a->s;
    if (s->number) {
        *number = s->number;
        for (size_t k = 0; k < a->plan->beside; k++)
            beside[k] = tacit_public_get_int(s->number_open, 0, k);
        return totals_surely(a->plan, s->member.present, s->member.threshold) >= s->number_parts
                   ? TACIT_OK
                   : TACIT_NO;
    }
    if (a->plan->again && s->spent)
        return TACIT_NO;
    tacit_status status = a->user->hold(a->outer, a->shared, a->self, parts_of(a), number, beside);
    s->spent |= status == TACIT_OK;
    return status == TACIT_OK && a->plan->again ? keep_number(a, *number, beside) : status;
}

tacit_status totals_speak(totals_at *a)
{
    tacit_totals *s = a->s;
    if (s->phase != TOTALS_JITTER)
        return TACIT_OK;
    tacit_secret *number = NULL;
    int64_t *beside = tacit_temporary(&a->env, (a->plan->beside + 1) * sizeof *beside);
    if (!beside)
        return tacit_out_of_memory(tacit_own_error(&a->env));
    memset(beside, 0, (a->plan->beside + 1) * sizeof *beside);
    tacit_status status = find_number(a, &number, beside);
    if (status == TACIT_NO)
        return step_aside(a);
    tacit_public *v = status == TACIT_OK ? totals_new(a, TOTALS_WORD, &status) : NULL;
    if (status == TACIT_OK)
        status = make_word(a, number, beside, v);
    if (number != s->number)
        tacit_drop(&a->env, number);
    if (status != TACIT_OK) {
        tacit_drop(&a->env, v);
        return status == TACIT_NO ? step_aside(a) : status;
    }
    s->phase = TOTALS_WORDED;
    return totals_tell_both(a, TOTALS_WORD, v);
}

/* ---- paying for those who went missing ---- */

static tacit_status pay(totals_at *a)
{
    tacit_status status;
    tacit_totals *s = a->s;
    const uint64_t trial = s->member.trial;
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    tacit_public *v = totals_new(a, TOTALS_PAID, &status);
    size_t count = 0, width = a->plan->board ? 13 : 5;
    for (uint32_t k = 0; k < s->partners && status == TACIT_OK; k++) {
        const totals_partner *p = &s->partner[k];
        uint8_t key[TACIT_MASK_KEY], text[TACIT_MASK_KEY], signature[TACIT_SIGNATURE];
        if (!p->masked || p->in)
            continue;
        totals_pair_key(p, trial, key);
        tacit_public_set_int(v, 1, count * width, p->agent);
        totals_put(v, 1, count * width + 1, key, sizeof key);
        if (a->plan->board) {
            totals_key_sign_text(a, trial, self, p->agent, key, text);
            status = tacit_sign(&a->env, text, sizeof text, signature);
            totals_put(v, 1, count * width + 5, signature, sizeof signature);
        }
        count++;
    }
    if (status != TACIT_OK) {
        tacit_drop(&a->env, v);
        return status;
    }
    tacit_public_set_int(v, 0, 0, (int64_t)trial);
    tacit_public_set_int(v, 0, 1, s->member.step);
    tacit_public_set_int(v, 0, 2, (int64_t)count);
    return totals_tell_both(a, TOTALS_PAID, v);
}

/* ---- the last set ---- */

static tacit_status tell_seed(totals_at *a)
{
    tacit_totals *s = a->s;
    uint32_t agree = 0;
    for (uint32_t k = 0; s->phase == TOTALS_CONFIRMED && k < s->partners; k++) {
        const totals_partner *p = &s->partner[k];
        agree += is_chosen(s, p) && p->in && p->about == s->member.trial &&
                 !memcmp(p->hash, s->member.hash, sizeof p->hash);
    }
    if (s->phase != TOTALS_CONFIRMED || agree < s->member.threshold ||
        tacit_mask_turn_open(&s->member.turn, s->member.trial, 0) != TACIT_OK)
        return TACIT_OK;
    tacit_status status;
    uint8_t seed[TACIT_MASK_KEY];
    tacit_public *v = totals_new(a, TOTALS_SEED, &status);
    if (status != TACIT_OK)
        return status;
    s->phase = TOTALS_OPENED;
    s->opened++;
    totals_seed(a, s->member.trial, seed);
    tacit_public_set_int(v, 0, 0, (int64_t)s->member.trial);
    totals_put(v, 1, 0, seed, sizeof seed);
    tacit_mask_wipe(seed, sizeof seed);
    return totals_tell_both(a, TOTALS_SEED, v);
}

static tacit_status confirm(totals_at *a)
{
    tacit_totals *s = a->s;
    tacit_status status;
    tacit_public *v = totals_new(a, TOTALS_CONFIRM, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(v, 0, 0, (int64_t)s->member.trial);
    totals_put(v, 1, 0, s->member.hash, TACIT_MASK_KEY);
    for (uint32_t k = 0; k < s->partners && status == TACIT_OK; k++) {
        const totals_partner *p = &s->partner[k];
        if (has_chosen_me(s, p) && p->in)
            status = totals_tell(a, p->agent, TOTALS_CONFIRM, v);
    }
    tacit_drop(&a->env, v);
    totals_drop_number(a); /* it may be opened now, and is said nowhere else */
    s->phase = TOTALS_CONFIRMED;
    return status == TACIT_OK ? tell_seed(a) : status;
}

tacit_status totals_on_confirm(totals_at *a, tacit_agent from, const tacit_public *v)
{
    totals_partner *p = totals_find(a->s, from);
    const uint64_t trial = totals_head(v, 0);
    uint8_t hash[TACIT_MASK_KEY];
    if (!p || trial <= p->about) /* the first word about a try is the one that counts */
        return TACIT_OK;
    totals_get(v, 1, 0, hash, sizeof hash);
    p->about = trial;
    memcpy(p->hash, hash, sizeof p->hash);
    return tell_seed(a);
}

tacit_status totals_on_ask(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const tacit_totals *s = a->s;
    const uint64_t trial = totals_head(v, 0), whose = totals_head(v, 1);
    const totals_partner *p = whose < a->plan->agents ? totals_find(s, whose) : NULL;
    if (!p || !has_chosen_me(s, p) || !p->in || s->phase != TOTALS_OPENED ||
        trial != s->member.trial)
        return TACIT_OK;
    tacit_status status;
    uint8_t pad[TACIT_MASK_KEY];
    tacit_public *out = totals_new(a, TOTALS_PAD, &status);
    if (status != TACIT_OK)
        return status;
    totals_pad_key(a, p, trial, pad);
    tacit_public_set_int(out, 0, 0, (int64_t)trial);
    tacit_public_set_int(out, 0, 1, (int64_t)whose);
    totals_put(out, 1, 0, pad, sizeof pad);
    return totals_send(a, from, TOTALS_PAD, out);
}

/* ---- what a set asks of a member ---- */

/* The plan has seen to it that the honest are in one piece. Where all share masks with all and
 * nobody lies about who sits out as a suspect, those are no part of it, and the quorum is one of
 * the others.
 */
static bool set_threshold(totals_at *a)
{
    tacit_totals *s = a->s;
    const tacit_totals_plan *plan = a->plan;
    uint32_t allowed = 0;
    s->member.threshold = plan->threshold;
    if (plan->again || totals_by_eighths(plan) || (!s->search.active && s->search.expelled == 0))
        return true;
    for (uint64_t u = 0; u < plan->agents; u++)
        allowed += totals_allowed(plan, &s->search, (tacit_agent)u);
    const double wanted = ceil(plan->quorum * (allowed - 1.0) - 1e-9);
    s->member.threshold = wanted >= 1 ? (uint32_t)wanted : 1;
    return totals_fits_together(plan, allowed, s->member.threshold);
}

static tacit_status on_first_set(totals_at *a, const tacit_public *v)
{
    tacit_totals *s = a->s;
    s->member.present = s->member.count;
    look_up_partners(a, v, true);
    if (!set_threshold(a) || s->member.count < a->plan->least || !is_enough(a, s->member.count))
        return step_aside(a);
    s->phase = TOTALS_JITTER;
    const tacit_status status = totals_watch(a, STEP * a->plan->patience + a->plan->jitter);
    if (status != TACIT_OK)
        return status;
    if (!(a->plan->jitter > 0))
        return totals_speak(a);
    uint64_t word;
    tacit_draw(&a->env, TOTALS_DRAW_JITTER(s->member.trial), &word, sizeof word);
    return totals_timer(a, TOTALS_CLOCK_JITTER, s->member.trial, 0,
                        a->plan->jitter * ((double)(word >> 11) * 0x1p-53));
}

static tacit_status on_later_set(totals_at *a, const tacit_public *v, bool last)
{
    look_up_partners(a, v, false);
    if (!is_enough(a, a->s->member.count))
        return step_aside(a);
    tacit_status status = totals_watch(a, (last ? OPEN : STEP) * a->plan->patience);
    if (status != TACIT_OK || !last)
        return status == TACIT_OK ? pay(a) : status;
    hash_set(a, v);
    return confirm(a);
}

/* Counted, not believed. */
static uint32_t members_of(totals_at *a, const tacit_public *set)
{
    tacit_gist gist;
    tacit_gist_of(&a->env, &gist, set, 1);
    return (uint32_t)gist.ones;
}

/* Nobody comes back: a speaker that let members take turns in being out would have the keys of all
 * of them, and every set would look large enough. Nor are there agents beyond the last: noise would
 * be shared with them too. */
static bool is_part_of(const tacit_public *set, const tacit_public *before, uint64_t agents)
{
    const int64_t *now = tacit_public_ints(set, 1);
    const size_t words = tacit_public_count(set, 1);
    const uint64_t left = agents - 64 * (uint64_t)(words - 1); /* in the last word: 1 to 64 */
    uint64_t more = (uint64_t)now[words - 1] & ~(UINT64_MAX >> (64 - left));
    for (size_t k = 0; before && k < words; k++)
        more |= (uint64_t)(now[k] & ~tacit_public_ints(before, 1)[k]);
    return more == 0;
}

static tacit_status take_in(totals_at *a, const tacit_public *v)
{
    tacit_totals *s = a->s;
    const uint64_t step = totals_head(v, 1), what = totals_head(v, 3);
    const bool last = totals_head(v, 2) == 1;
    const totals_roles roles = roles_of(a, s->member.trial);
    const uint64_t position = totals_position(&roles, tacit_facts_of(&a->env)->self);
    if (what == TOTALS_TOO_FEW) /* before words, or it is a lie */
        return s->phase == TOTALS_ROLL && step == 0 ? totals_fail_try(a, TOTALS_TOO_FEW) : TACIT_OK;
    const bool fresh = step > s->member.step || (step == 0 && s->phase == TOTALS_ROLL);
    const bool waits = s->phase == TOTALS_ROLL || s->phase == TOTALS_WORDED;
    /* A set that was the last is answered once, and no later one is. */
    if (!fresh || !waits || what != TOTALS_GOES_ON || step > TOTALS_STEPS ||
        (step == 0) != (s->phase == TOTALS_ROLL))
        return TACIT_OK;
    if (!is_part_of(v, s->member.set, a->plan->agents))
        return step_aside(a);
    tacit_drop(&a->env, s->member.set);
    s->member.set = tacit_keep(v);
    s->member.step = (uint32_t)step;
    s->member.count = members_of(a, v);
    if (!totals_bit(v, position)) {
        s->phase = TOTALS_ASIDE; /* others went on without it */
        return totals_watch(a, ASIDE * a->plan->patience + a->plan->jitter);
    }
    return step == 0 ? on_first_set(a, v) : on_later_set(a, v, last);
}

tacit_status totals_on_set(totals_at *a, tacit_agent from, const tacit_public *v)
{
    const uint64_t trial = totals_head(v, 0);
    if (trial != a->s->member.trial || trial == 0)
        return TACIT_OK;
    const totals_roles roles = roles_of(a, trial);
    const bool deputy = from == totals_deputy_of(a->plan, &roles) && totals_head(v, 2) == 1;
    if (from != own_adder(a) && from != totals_agent_at(&roles, 0) && !deputy)
        return TACIT_OK;
    return take_in(a, v);
}
