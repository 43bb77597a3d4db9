/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who spoils sums? Masks hide what each member gave, from judges as well; but whether a sum was
 * nonsense everybody sees. Every agent has a public hash, and a path of bits from the root of the
 * tree of hashes says among whom a liar is.
 *
 * Where everybody shares masks with everybody and those who add up keep to the rules, any set of
 * agents is as good as all of them, and suspects are halved:
 *
 *     known to be clean   I: included in every try
 *     suspects            C: hashes that begin with the path; of these the half with a 0 next is
 *                         in the try, that with a 1 is not
 *     undecided           siblings of the path that were not cleared: they wait outside, unless
 *                         hardly anybody else is left
 *
 * A try that is fine clears the half that was in: the liar is in the other. One that is spoiled
 * says that it is in this half. When C is one agent it is expelled for the run. Then all others are
 * in again; a second liar is found in the same way. Every try costs its members a release, about
 * log2(n) of them for a liar, most of which give good sums.
 *
 * On a sparse graph half of the agents would not be in one piece; and if a quorum was one of those
 * who do not sit out, who lies about them could lower it. There an eighth of the suspects sits out,
 * one after the other, and everybody else is in; the eighth without which a sum is fine has the
 * liar in it. If none is, there are several in different eighths: another hash may put them into
 * one.
 *
 * Who makes a try fail in a way that points to it (a word whose seed cannot be had, an edge that
 * only one of two uses) need not be searched for: it sits out for the rest of the round, both ends
 * of the edge do. That may hit somebody honest, as may any adder that does not list it.
 *
 * All of it follows from public outcomes, so everybody who hears them has the same state.
 */
#include "protocol/totals_inside.h"

/* A fraction of 2^64, no two agents the same, evenly spread: every eighth has an eighth of them. */
static uint64_t hash_of(const tacit_totals_plan *plan, uint32_t salt, tacit_agent agent)
{
    const totals_roles order = totals_roles_of(plan, plan->terms, UINT64_MAX - salt);
    return (totals_position(&order, agent) << 32) / plan->agents << 32;
}

static bool bit(uint64_t x, uint32_t depth)
{
    return x >> (63 - depth) & 1;
}

/* How many leading bits of `h` are those of the path. */
static uint32_t along(const totals_search *s, uint64_t h)
{
    uint32_t depth = 0;
    while (depth < s->depth && bit(h, depth) == bit(s->path, depth))
        depth++;
    return depth;
}

static bool is_expelled(const tacit_totals_plan *plan, const totals_search *s, tacit_agent agent)
{
    for (uint32_t k = 0; k < s->expelled; k++)
        if (hash_of(plan, s->salted[k], agent) >> (64 - s->length[k]) == s->prefix[k])
            return true;
    return false;
}

bool totals_by_eighths(const tacit_totals_plan *plan)
{
    return !plan->curious || plan->partners + 1 < plan->agents;
}

static uint32_t eighth(const totals_search *s, uint64_t h)
{
    return (uint32_t)(h >> (61 - s->depth)) & 7;
}

bool totals_allowed(const tacit_totals_plan *plan, const totals_search *s, tacit_agent agent)
{
    if (agent + UINT64_C(1) == s->blamed[0] || agent + UINT64_C(1) == s->blamed[1])
        return false;
    if (!s->active && s->expelled == 0)
        return true;
    if (is_expelled(plan, s, agent))
        return false;
    if (!s->active)
        return true;
    const uint64_t h = hash_of(plan, s->salt, agent);
    const uint32_t depth = along(s, h);
    if (totals_by_eighths(plan))
        return depth < s->depth || eighth(s, h) != s->turn;
    return depth < s->depth ? bit(s->included, depth) : !bit(h, depth);
}

static void go(totals_search *s, bool which, bool sibling_is_clean)
{
    s->path |= (uint64_t)which << (63 - s->depth);
    s->included |= (uint64_t)sibling_is_clean << (63 - s->depth);
    s->depth++;
}

/* How many suspects have a 0 next, and how many a 1. */
static void count(const tacit_totals_plan *plan, const totals_search *s, uint64_t half[2])
{
    half[0] = half[1] = 0;
    for (uint64_t u = 0; u < plan->agents; u++) {
        const uint64_t h = hash_of(plan, s->salt, (tacit_agent)u);
        if (along(s, h) == s->depth && !is_expelled(plan, s, (tacit_agent)u))
            half[bit(h, s->depth)]++;
    }
}

static void expel(totals_search *s)
{
    if (s->expelled < TOTALS_EXPELLED && !s->hearsay) {
        s->prefix[s->expelled] = s->path >> (64 - s->depth);
        s->salted[s->expelled] = s->salt;
        s->length[s->expelled++] = s->depth;
    }
    s->active = s->hearsay = false;
    s->path = s->included = 0;
    s->depth = s->turn = 0;
}

/* So long that no two agents share it. */
static uint32_t long_enough(const tacit_totals_plan *plan)
{
    uint32_t bits = 1;
    while (plan->agents > UINT64_C(1) << bits)
        bits++;
    return bits;
}

/* ---- eighths ---- */

#define ENUMERATED 4096 /* agents; more than that are not looked at one by one */

static void descend(totals_search *s)
{
    s->path |= (uint64_t)s->turn << (61 - s->depth);
    s->depth += 3;
    s->turn = 0;
}

/* Suspects in each eighth; how many eighths have any. */
static uint32_t suspects(const tacit_totals_plan *plan, const totals_search *s, uint32_t in[8])
{
    uint32_t some = 0;
    memset(in, 0, 8 * sizeof *in);
    for (uint64_t u = 0; u < plan->agents; u++) {
        const uint64_t h = hash_of(plan, s->salt, (tacit_agent)u);
        if (along(s, h) == s->depth && !is_expelled(plan, s, (tacit_agent)u))
            in[eighth(s, h)]++;
    }
    for (uint32_t k = 0; k < 8; k++)
        some += in[k] > 0;
    return some;
}

/* To an eighth with somebody in it. */
static void skip_empty(const tacit_totals_plan *plan, totals_search *s)
{
    uint32_t in[8];
    if (plan->agents > ENUMERATED)
        return;
    while (s->depth < long_enough(plan) && suspects(plan, s, in) == 1) {
        s->turn = 0;
        while (in[s->turn] == 0)
            s->turn++;
        if (in[s->turn] == 1 && s->depth > 0) { /* one is left */
            expel(s);
            return;
        }
        descend(s);
    }
    while (s->turn < 8 && in[s->turn] == 0)
        s->turn++;
}

static void note_eighth(const tacit_totals_plan *plan, totals_search *s, bool spoiled)
{
    if (s->active && spoiled)
        s->turn++;
    else if (s->active)
        descend(s);
    s->active = true;
    if (s->depth < long_enough(plan))
        skip_empty(plan, s);
    if (s->active && s->depth >= long_enough(plan))
        expel(s);
    if (s->turn >= 8) {
        s->path = 0;
        s->depth = s->turn = 0;
        s->salt++;
    }
}

/* ---- halves ---- */

static bool few_are_allowed(const tacit_totals_plan *plan, const totals_search *s)
{
    uint64_t in = 0;
    for (uint64_t u = 0; u < plan->agents; u++)
        in += totals_allowed(plan, s, (tacit_agent)u);
    return in < plan->least + 2 || 3 * in < plan->agents;
}

/* Go on to where there is something to decide. */
static void narrow(const tacit_totals_plan *plan, totals_search *s)
{
    uint64_t half[2] = {0, 0};
    while (s->depth < 60) {
        count(plan, s, half);
        if (half[0] + half[1] <= 1 && s->depth > 0)
            break;
        if (half[0] && half[1])
            break;
        go(s, half[1] > 0, true);
    }
    if (!half[0] || !half[1])
        expel(s);
    else if (few_are_allowed(plan, s))
        s->included = UINT64_MAX; /* undecided ones must help out */
}

void totals_search_note(const tacit_totals_plan *plan, totals_search *s, bool spoiled)
{
    if (!s->active && !spoiled)
        return;
    if (totals_by_eighths(plan)) {
        note_eighth(plan, s, spoiled);
        return;
    }
    if (s->active)
        go(s, !spoiled, !spoiled);
    s->active = true;
    narrow(plan, s);
}

uint64_t tacit_totals_expelled(const tacit_totals_plan *plan, const tacit_totals *totals)
{
    uint64_t out = 0;
    for (uint64_t u = 0; totals->search.expelled && u < plan->agents; u++)
        out += is_expelled(plan, &totals->search, (tacit_agent)u);
    return out;
}

/* ---- for those who missed results ---- */

/* Where the search is. Not who is expelled: one speaker that lies would expel for the run. */
void totals_search_tell(tacit_public *result, const totals_search *s)
{
    const uint64_t all[TOTALS_SEARCH_WORDS] = {s->path, s->included, s->depth,
                                               s->turn, s->salt,     s->active};
    for (size_t k = 0; k < TOTALS_SEARCH_WORDS; k++)
        tacit_public_set_int(result, 3, k, (int64_t)all[k]);
}

void totals_search_hear(const tacit_totals_plan *plan, totals_search *s, const tacit_public *v)
{
    uint64_t all[TOTALS_SEARCH_WORDS];
    for (size_t k = 0; k < TOTALS_SEARCH_WORDS; k++)
        all[k] = (uint64_t)tacit_public_get_int(v, 3, k);
    if (all[2] >= long_enough(plan) || all[3] > 7 || all[4] > UINT32_MAX)
        return;
    s->path = all[0];
    s->included = all[1];
    s->depth = (uint32_t)all[2];
    s->turn = (uint32_t)all[3];
    s->salt = (uint32_t)all[4];
    s->active = s->hearsay = all[5] == 1;
}
