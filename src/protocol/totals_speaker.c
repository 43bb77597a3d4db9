/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An agent as the speaker of a try: adders list who is there, the speaker says which set that
 * makes, and in the end adds up their parts. It is believed in nothing that matters: members count
 * the sets themselves, compare the last one with each other, and look whether the result can be
 * one.
 */
#include <math.h>

#include "protocol/totals_inside.h"

static totals_roles roles_of(const totals_at *a, uint64_t trial)
{
    return totals_roles_of(a->plan, tacit_facts_of(&a->env)->run, trial);
}

void totals_speaker_clear(totals_at *a)
{
    totals_speaker *p = &a->s->speaker;
    tacit_drop(&a->env, p->set);
    tacit_drop(&a->env, p->last);
    tacit_drop(&a->env, p->result);
    *p = (totals_speaker){0};
    memset(totals_heard(a->plan, a->s), 0, a->plan->blocks);
}

static tacit_status serve(totals_at *a, uint64_t trial)
{
    totals_speaker *p = &a->s->speaker;
    if (trial <= p->trial || trial >> 8 == 0 || trial >> 8 >= TOTALS_ROUNDS)
        return trial == p->trial ? TACIT_OK : TACIT_NO;
    const totals_roles roles = roles_of(a, trial);
    if (totals_agent_at(&roles, 0) != tacit_facts_of(&a->env)->self)
        return TACIT_NO;
    tacit_status status;
    totals_speaker_clear(a);
    tacit_public *set = totals_new(a, TOTALS_SET, &status);
    if (status != TACIT_OK)
        return status;
    p->trial = trial;
    p->set = set;
    return totals_timer(a, TOTALS_CLOCK_SPEAKER, trial, 0, 1.5 * a->plan->patience);
}

/* ---- telling everybody ---- */

static tacit_status tell_adders(totals_at *a, uint32_t kind, const tacit_public *v)
{
    const totals_roles roles = roles_of(a, a->s->speaker.trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    tacit_status status = TACIT_OK;
    for (uint32_t b = 0; b < roles.blocks && status == TACIT_OK; b++) {
        const tacit_agent to = totals_agent_at(&roles, b);
        if (to != self)
            status = totals_tell(a, to, kind, v);
    }
    return status == TACIT_OK ? totals_tell(a, self, kind, v) : status;
}

/* With whom it cannot be put together, if that is known. */
static tacit_status blame(totals_at *a, uint64_t one, uint64_t other)
{
    totals_speaker *p = &a->s->speaker;
    tacit_status status = TACIT_OK;
    if (!p->result)
        p->result = totals_new(a, TOTALS_RESULT, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(p->result, 0, 4, (int64_t)one);
    tacit_public_set_int(p->result, 0, 5, (int64_t)other);
    return TACIT_OK;
}

static tacit_status end(totals_at *a, totals_what what)
{
    totals_speaker *p = &a->s->speaker;
    tacit_status status = TACIT_OK;
    if (!p->result)
        p->result = totals_new(a, TOTALS_RESULT, &status);
    if (status != TACIT_OK)
        return status;
    p->ended = true;
    tacit_public *result = p->result;
    uint64_t members = 0;
    for (size_t k = 0; p->last && k < tacit_public_count(p->last, 1); k++)
        members += (uint64_t)__builtin_popcountll((uint64_t)tacit_public_get_int(p->last, 1, k));
    tacit_public_set_int(result, 0, 0, (int64_t)p->trial);
    tacit_public_set_int(result, 0, 1, (int64_t)what);
    tacit_public_set_int(result, 0, 2, (int64_t)members);
    tacit_public_set_int(result, 0, 3, (int64_t)a->s->judged);
    totals_search_tell(result, &a->s->search);
    if (what == TOTALS_DONE && a->plan->board)
        status = totals_board_tell(a);
    p->result = NULL;
    if (status == TACIT_OK)
        status = tell_adders(a, TOTALS_RESULT, result);
    tacit_drop(&a->env, result);
    return status;
}

/* ---- sets ---- */

static bool same_set(const tacit_public *x, const tacit_public *y)
{
    return !memcmp(tacit_public_ints(x, 1), tacit_public_ints(y, 1),
                   tacit_public_count(x, 1) * sizeof(int64_t));
}

static uint32_t size_of(const tacit_public *set)
{
    uint32_t count = 0;
    for (size_t k = 0; k < tacit_public_count(set, 1); k++)
        count += (uint32_t)__builtin_popcountll((uint64_t)tacit_public_get_int(set, 1, k));
    return count;
}

/* The last set, to everybody. */
static tacit_status tell_last(totals_at *a)
{
    totals_speaker *p = &a->s->speaker;
    p->step = TOTALS_STEPS + 1;
    tacit_status status =
        totals_timer(a, TOTALS_CLOCK_SPEAKER, p->trial, p->step, 3.5 * a->plan->patience);
    const tacit_public *told = tacit_keep(p->last);
    if (status == TACIT_OK)
        status = tell_adders(a, TOTALS_SET, told);
    tacit_drop(&a->env, told);
    return status;
}

/* To the deputy alone, if it is there: with it nobody confirms what not all will hear. */
static tacit_status tell_deputy(totals_at *a)
{
    totals_speaker *p = &a->s->speaker;
    const totals_roles roles = roles_of(a, p->trial);
    const tacit_agent deputy = totals_deputy_of(a->plan, &roles);
    if (deputy == TACIT_NOBODY || !totals_bit(p->last, 1))
        return tell_last(a);
    p->step = TOTALS_STEPS;
    const tacit_status status =
        totals_timer(a, TOTALS_CLOCK_SPEAKER, p->trial, p->step, a->plan->patience);
    return status == TACIT_OK ? totals_tell(a, deputy, TOTALS_SET, p->last) : status;
}

tacit_status totals_speaker_echo(totals_at *a, const tacit_public *v)
{
    const totals_speaker *p = &a->s->speaker;
    return p->trial == totals_head(v, 0) && p->step == TOTALS_STEPS && !p->ended &&
                   same_set(v, p->last)
               ? tell_last(a)
               : TACIT_OK;
}

/* All lists of a step are here, or patience is over. */
static tacit_status say_set(totals_at *a)
{
    totals_speaker *p = &a->s->speaker;
    tacit_status status;
    const uint32_t count = size_of(p->set);
    const bool few = p->step == 0 && count < a->plan->least;
    const bool last = p->step >= 1 && same_set(p->set, p->last);
    if (last && p->edges != 0) { /* an edge with one end */
        uint64_t ends[2];
        totals_one_ended(a, ends);
        status = blame(a, ends[0], ends[1]);
        return status == TACIT_OK ? end(a, TOTALS_FAILED) : status;
    }
    if ((p->step >= 1 && count == 0) || p->step + 1 >= TOTALS_STEPS)
        return end(a, TOTALS_FAILED);
    tacit_public *set = p->set, *next = totals_new(a, TOTALS_SET, &status);
    if (status != TACIT_OK)
        return status;
    tacit_public_set_int(set, 0, 0, (int64_t)p->trial);
    tacit_public_set_int(set, 0, 1, p->step);
    tacit_public_set_int(set, 0, 2, last);
    tacit_public_set_int(set, 0, 3, few ? TOTALS_TOO_FEW : TOTALS_GOES_ON);
    tacit_drop(&a->env, p->last);
    p->last = set;
    p->set = next;
    p->edges = 0;
    p->heard = 0;
    memset(totals_heard(a->plan, a->s), 0, a->plan->blocks);
    p->ended = few;
    if (last)
        return tell_deputy(a);
    p->step++;
    const uint64_t trial = p->trial;
    const double wait = 1.5 * a->plan->patience + (p->step == 1 ? a->plan->jitter : 0);
    status = totals_timer(a, TOTALS_CLOCK_SPEAKER, trial, p->step, wait);
    const tacit_public *told = tacit_keep(set);
    if (status == TACIT_OK)
        status = tell_adders(a, TOTALS_SET, told);
    tacit_drop(&a->env, told);
    return status;
}

tacit_status totals_on_list(totals_at *a, tacit_agent from, const tacit_public *v)
{
    totals_speaker *p = &a->s->speaker;
    const uint64_t trial = totals_head(v, 0), block = totals_head(v, 2);
    const totals_roles roles = roles_of(a, trial);
    if (!totals_is_near(a->plan, a->s, trial) || block >= roles.blocks ||
        totals_agent_at(&roles, block) != from)
        return TACIT_OK;
    tacit_status status = serve(a, trial);
    if (status != TACIT_OK)
        return status == TACIT_NO ? TACIT_OK : status;
    if (p->ended || totals_head(v, 1) != p->step || totals_heard(a->plan, a->s)[block])
        return TACIT_OK;
    totals_heard(a->plan, a->s)[block] = 1;
    p->edges += totals_head(v, 3);
    for (uint32_t k = 0; k < totals_block_size(&roles, (uint32_t)block); k++) {
        const uint64_t at = block + (uint64_t)k * roles.blocks;
        const bool in = (uint64_t)tacit_public_get_int(v, 1, k / 64) >> k % 64 & 1;
        if (in && (p->step == 0 || totals_bit(p->last, at)))
            tacit_public_set_int(p->set, 1, at / 64,
                                 (int64_t)((uint64_t)tacit_public_get_int(p->set, 1, at / 64) |
                                           UINT64_C(1) << at % 64));
    }
    return ++p->heard == roles.blocks ? say_set(a) : TACIT_OK;
}

tacit_status totals_speaker_late(totals_at *a)
{
    const totals_speaker *p = &a->s->speaker;
    if (p->ended)
        return TACIT_OK;
    if (p->step == TOTALS_STEPS)
        return tell_last(a);
    return p->step < TOTALS_STEPS ? say_set(a) : end(a, TOTALS_FAILED);
}

/* ---- parts ---- */

static bool is_needed(const totals_at *a, const totals_roles *roles, uint32_t block)
{
    for (uint32_t k = 0; k < totals_block_size(roles, block); k++)
        if (totals_bit(a->s->speaker.last, block + (uint64_t)k * roles->blocks))
            return true;
    return false;
}

static void add(tacit_public *to, uint32_t segment, const tacit_public *v)
{
    for (size_t k = 0; k < tacit_public_count(v, segment); k++)
        tacit_public_set_int(to, segment, k,
                             (int64_t)((uint64_t)tacit_public_get_int(to, segment, k) +
                                       (uint64_t)tacit_public_get_int(v, segment, k)));
}

tacit_status totals_on_part(totals_at *a, tacit_agent from, const tacit_public *v)
{
    totals_speaker *p = &a->s->speaker;
    if (totals_head(v, 0) != p->trial || p->trial == 0 || p->ended || p->step <= TOTALS_STEPS)
        return TACIT_OK;
    const totals_roles roles = roles_of(a, p->trial);
    const uint64_t block = totals_head(v, 1);
    if (block >= roles.blocks || totals_agent_at(&roles, block) != from ||
        totals_heard(a->plan, a->s)[block] || !is_needed(a, &roles, (uint32_t)block))
        return TACIT_OK;
    tacit_status status = TACIT_OK;
    if (totals_head(v, 2) != 1) {
        status = blame(a, totals_head(v, 3), 0);
        return status == TACIT_OK ? end(a, TOTALS_FAILED) : status;
    }
    if (!p->result)
        p->result = totals_new(a, TOTALS_RESULT, &status);
    if (status != TACIT_OK)
        return status;
    totals_heard(a->plan, a->s)[block] = 1;
    add(p->result, 1, v);
    add(p->result, 2, v);
    for (uint32_t b = 0; b < roles.blocks; b++)
        if (!totals_heard(a->plan, a->s)[b] && is_needed(a, &roles, b))
            return TACIT_OK;
    return end(a, TOTALS_DONE);
}

tacit_status totals_speaker_stand_in(totals_at *a)
{
    tacit_status status;
    const totals_adder *d = &a->s->adder;
    totals_speaker *p = &a->s->speaker;
    totals_speaker_clear(a);
    tacit_public *result = totals_new(a, TOTALS_RESULT, &status);
    if (status != TACIT_OK)
        return status;
    p->trial = d->trial;
    p->step = TOTALS_STEPS + 1;
    p->last = tacit_keep(d->set[1]);
    p->result = result;
    tacit_public_copy_segment(result, 1, d->sum, 0);
    for (size_t k = 0; k < a->plan->beside; k++)
        tacit_public_set_int(result, 2, k, totals_add_beside(a, k));
    return end(a, TOTALS_DONE);
}

/* ---- results ---- */

static tacit_status tell_on(totals_at *a, uint64_t trial, const tacit_public *v)
{
    const totals_roles roles = roles_of(a, trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    const uint64_t block = totals_position(&roles, self);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 1; block < roles.blocks && k < totals_block_size(&roles, (uint32_t)block) &&
                         status == TACIT_OK;
         k++)
        status = totals_tell(a, totals_agent_at(&roles, block + (uint64_t)k * roles.blocks),
                             TOTALS_RESULT, v);
    return status;
}

static bool is_within(const tacit_public *v, uint32_t segment, size_t count, double most)
{
    const int64_t *number = tacit_public_ints(v, segment);
    bool within = true;
    for (size_t k = 0; k < count; k++)
        within &= fabs((double)number[k]) <= most;
    return within;
}

/* What no honest members can have given. */
static bool is_nonsense(const tacit_totals_plan *plan, const tacit_public *v)
{
    const double members = (double)totals_head(v, 2);
    return !is_within(v, 1, plan->numbers, members * plan->most) ||
           !is_within(v, 2, plan->beside, members * plan->beside_most);
}

/* No chain: who missed one result is back after the next. */
static void remember(totals_at *a, const tacit_public *v)
{
    tacit_totals *s = a->s;
    tacit_gist gist;
    uint8_t text[16 + 2 * TACIT_MASK_KEY];
    const uint64_t head[2] = {totals_head(v, 0), totals_head(v, 2)};
    memcpy(text, head, sizeof head);
    for (uint32_t k = 0; k < 2; k++) { /* what is beside, too */
        tacit_gist_of(&a->env, &gist, v, 1 + k);
        memcpy(text + sizeof head + k * TACIT_MASK_KEY, gist.hash, TACIT_MASK_KEY);
    }
    tacit_mask_hash(s->history, "tacit total history 3", text, sizeof text);
    tacit_drop(&a->env, s->result);
    s->result = tacit_keep(v);
    s->members = (uint32_t)totals_head(v, 2);
}

/* A try a little ahead of this agent's has failed: it may skip what is between. Not far: whoever is
 * the speaker of some try could end the round with it. */
#define AHEAD 2
static bool is_ahead(const totals_at *a, tacit_agent from, uint64_t trial, uint64_t what)
{
    const totals_roles roles = roles_of(a, trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    const uint64_t now = a->s->member.trial;
    const bool next = trial == TOTALS_TRY((now >> 8) + 1, UINT64_C(0));
    return trial > now && (trial <= now + AHEAD || (next && what == TOTALS_DONE)) &&
           (from == totals_agent_at(&roles, 0) ||
            from == totals_agent_at(&roles, totals_position(&roles, self) % roles.blocks));
}

/* Only from whom it may come: adder or speaker of the try this agent is in; or, as news of another
 * one, the adder it turned to. Else anybody could name a try in which it is the speaker. */
static bool is_expected(const totals_at *a, tacit_agent from, uint64_t trial)
{
    const totals_roles now = roles_of(a, a->s->member.trial);
    const tacit_agent self = tacit_facts_of(&a->env)->self;
    return from == totals_agent_at(&now, totals_position(&now, self) % now.blocks) ||
           (trial == a->s->member.trial &&
            (from == totals_agent_at(&now, 0) || from == totals_deputy_of(a->plan, &now)));
}

/* A round far ahead: somebody else must say so too, or one adder could end the run. */
static bool is_believed(tacit_totals *s, tacit_agent from, uint64_t round)
{
    if (round <= s->round + 1)
        return true;
    s->missed = true;
    if (s->source && s->source != from + UINT64_C(1) && round <= s->rumour + 2)
        return true;
    if (!s->source || round < s->rumour) {
        s->rumour = round;
        s->source = from + UINT64_C(1);
    }
    return false;
}

tacit_status totals_on_result(totals_at *a, tacit_agent from, const tacit_public *v)
{
    tacit_totals *s = a->s;
    const uint64_t trial = totals_head(v, 0), what = totals_head(v, 1);
    if (trial >> 8 == 0 || trial >> 8 >= TOTALS_ROUNDS || (trial & 255) >= a->plan->tries ||
        (a->plan->rounds > 0 && trial >> 8 > a->plan->rounds) ||
        totals_head(v, 2) > a->plan->agents || what > TOTALS_FAILED || what == TOTALS_GOES_ON)
        return TACIT_OK;
    const totals_roles roles = roles_of(a, trial);
    tacit_status status = TACIT_OK;
    const bool stands_by = s->adder.deputy && from == tacit_facts_of(&a->env)->self;
    if (what != TOTALS_DONE && from == totals_deputy_of(a->plan, &roles) && !stands_by)
        return TACIT_OK; /* only the speaker says that it cannot be done */
    if (s->adder.trial == trial && (from == totals_agent_at(&roles, 0) || stands_by)) {
        /* its duty, whatever it thinks of it itself */
        status = !s->adder.deputy      ? tell_on(a, trial, v)
                 : what == TOTALS_DONE ? totals_deputy_tell(a, v)
                                       : TACIT_OK;
        totals_adder_rest(a);
        if (status == TACIT_OK)
            status = totals_adder_next(a);
    }
    if (status == TACIT_OK && what == TOTALS_DONE && is_ahead(a, from, trial, what) &&
        !is_expected(a, from, trial)) {
        tacit_drop(&a->env, s->early); /* it has overtaken others: looked at when its try begins */
        s->early = tacit_keep(v);
        s->early_from = from;
        return TACIT_OK;
    }
    const bool old = s->phase == TOTALS_IDLE || s->ready || trial >> 8 < s->round ||
                     trial <= s->judged ||
                     (!is_expected(a, from, trial) && !is_ahead(a, from, trial, what));
    if (status != TACIT_OK || old)
        return status;
    if (what != TOTALS_DONE) {
        if (trial >> 8 != s->round || trial < s->member.trial)
            return TACIT_OK;
        s->attempt = (uint32_t)(trial & 255); /* the others may be ahead */
        for (size_t k = 0; k < 2 && totals_head(v, 4); k++)
            s->search.blamed[k] = totals_head(v, 4 + k);
        status = totals_adder_recount(a);
        return status == TACIT_OK ? totals_fail_try(a, (totals_what)what) : status;
    }
    if (!is_believed(s, from, trial >> 8))
        return totals_fail_try(a, TOTALS_FAILED); /* and turn to another adder */
    const bool nonsense = is_nonsense(a->plan, v);
    if (s->missed && totals_head(v, 3) > s->judged && totals_head(v, 3) < trial)
        totals_search_hear(a->plan, &s->search, v);
    s->judged = trial;
    s->missed = false;
    totals_search_note(a->plan, &s->search, nonsense);
    status = totals_adder_recount(a);
    if (status != TACIT_OK)
        return status;
    if (nonsense) {
        s->attempt = (uint32_t)(trial & 255);
        return totals_fail_try(a, TOTALS_DONE);
    }
    remember(a, v);
    s->round = trial >> 8;
    s->ready = true;
    return TACIT_OK;
}
