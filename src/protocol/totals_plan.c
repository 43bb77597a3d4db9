/* SPDX-License-Identifier: Apache-2.0 */
/* What all agree on before a sum: how many partners, who counts as enough, shapes, a hash of it. */
#include <math.h>
#include <stdio.h>

#include "protocol/totals_inside.h"
#include "tacit/gopa.h"

#define RISK_BITS 40       /* default k: the honest fall apart with a chance below 2^-40 */
#define LEAST_BITS 20      /* and any k with one of 2^-20 at most, */
#define BESIDE_DELTA 200.0 /* nor more than this part of delta */
#define USUAL 20           /* default k, at least */
#define USUAL_LYING 32     /* the same if who adds up may lie: more are sure to be in a sum */
#define ALL_PAIRS 40       /* so many others, and everybody shares masks with all */
#define BOARD_MOST 4194304 /* numbers of a board */

static tacit_status check(const tacit_totals_plan *p, tacit_error *err)
{
    if (p->agents < 3 || (p->least > 0 && p->least < 3) || p->least > p->agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "a sum that hides its members needs at least 3 of them and there are "
                          "%llu agents; \"least\" is %u",
                          (unsigned long long)p->agents, p->least);
    if (p->colluders + 2 > p->agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "%u of %llu agents may collude: a sum hides its members only if two at "
                          "least are honest; state fewer colluders",
                          p->colluders, (unsigned long long)p->agents);
    if (!(p->quorum > 0.5 && p->quorum <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "the quorum is %g of an agent's partners; it must be above 0.5, or two "
                          "halves of the agents could be told different sums, and 1 at most",
                          p->quorum);
    if (p->pair > 0 && !p->curious)
        return tacit_fail(err, TACIT_EINPUT,
                          "Gaussian pairs hide words from those who keep to the rules only; say "
                          "\"protocol.adders: curious\"");
    if (!(p->absent >= 0 && p->absent < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "the planned part of absent members is %g, not in "
                          "[0, 1)",
                          p->absent);
    if (p->partners > TACIT_TOTALS_PARTNERS)
        return tacit_fail(err, TACIT_EINPUT, "an agent chooses at most %d partners, not %u",
                          TACIT_TOTALS_PARTNERS, p->partners);
    if (!(p->patience > 0) || !isfinite(p->patience) || !(p->jitter >= 0) || !isfinite(p->jitter))
        return tacit_fail(err, TACIT_EINPUT, "patience must be above 0 and finite, not %g",
                          p->patience);
    if (p->tries < 1 || p->tries > 200 || p->child == 0 || p->child > TACIT_CHILDREN)
        return tacit_fail(err, TACIT_EINPUT, "a round has 1 to 200 tries, not %u", p->tries);
    if (p->agents >= UINT32_MAX || p->span < 2)
        return tacit_fail(err, TACIT_EINPUT, "an adder must hear at least two members, not %u",
                          p->span);
    if (!tacit_mask_fits(p->most, (size_t)p->agents, 0) ||
        !tacit_mask_fits(p->beside_most, (size_t)p->agents, 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "%llu numbers of size %g (steps) could add up to more than 2^63: the sum "
                          "would come out wrong; use a coarser grid",
                          (unsigned long long)p->agents, p->most);
    return TACIT_OK;
}

uint32_t totals_needed(const tacit_totals_plan *plan, uint32_t present)
{
    return (uint32_t)ceil((1 - plan->absent) * present - 1e-9);
}

static bool all_pairs(const tacit_totals_plan *p)
{
    return p->partners + 1 == p->agents;
}

/* Who lies counts as a colluder, and without one there is nobody to guard against. */
static uint32_t liars(const tacit_totals_plan *p)
{
    return p->curious || p->colluders > 0 ? p->colluders : 1;
}

/* Honest members of any sum. All pairs: somebody in it told its seed, so that `threshold` others
 * are in it or collude. */
static uint32_t sure_of(const tacit_totals_plan *p, uint32_t threshold)
{
    const uint32_t c = liars(p);
    if (p->curious || !all_pairs(p))
        return p->sure;
    return threshold + 1 > c ? threshold + 1 - c : 0;
}

uint32_t totals_surely(const tacit_totals_plan *plan, uint32_t present, uint32_t threshold)
{
    const uint32_t stay = totals_needed(plan, present), sure = sure_of(plan, threshold);
    const uint32_t c = liars(plan), honest = stay > c ? stay - c : 0;
    const uint32_t least = honest < sure ? honest : sure;
    /* Whoever hears a sum knows the share it brought itself (thesis, remark 4.1). */
    const uint32_t own = c == 0;
    return least > own ? least - own : 0;
}

/* A further try with the same number has one less, who was lost with the first. */
uint32_t totals_parts(const tacit_totals_plan *plan, uint32_t present, uint32_t threshold)
{
    return totals_surely(plan, plan->again && present > 3 ? present - 1 : present, threshold);
}

uint32_t tacit_totals_parts(const tacit_totals_plan *plan, uint32_t present)
{
    return totals_parts(plan, present, plan->threshold);
}

static uint32_t least_honest(const tacit_totals_plan *p)
{
    uint32_t least = 3;
    while (least < p->agents && tacit_totals_parts(p, least) < 1)
        least++;
    return least;
}

/* So many that hardly anybody misses its quorum when others are away as planned: 2.5 standard
 * deviations, about one in a hundred. */
static uint32_t usual_partners(const tacit_totals_plan *p)
{
    const double margin = 1 - p->absent - p->quorum;
    const double wanted =
        margin > 0 ? 6.25 * p->absent * (1 - p->absent) / (margin * margin) : TACIT_TOTALS_PARTNERS;
    const double usual = p->curious ? USUAL : USUAL_LYING;
    return (uint32_t)fmin(fmax(ceil(wanted), usual), TACIT_TOTALS_PARTNERS);
}

/* With k partners: how many of them must take part, how many may be taken for gone, and what a
 * lie could come to. */
static void look_at(tacit_totals_plan *p, uint32_t k)
{
    const double absent = p->absent * k, spread = sqrt(p->absent * (1 - p->absent) * k);
    p->partners = k;
    p->threshold = (uint32_t)fmax(ceil(p->quorum * k - 1e-9), 1);
    p->losses = k - p->threshold;
    if (!p->curious && !all_pairs(p)) /* else they are the same for all: totals_needed */
        p->losses = (uint32_t)fmin(p->losses, ceil(absent + 2.5 * spread));
    p->split_risk = p->curious
                        ? tacit_gopa_split_risk(p->agents, k, p->threshold, p->colluders)
                        : tacit_gopa_lying_risk(p->agents, k, p->threshold, p->losses, liars(p));
}

/* All pairs: two sums need two disjoint quorums; and who was opened by others was so by some who
 * opened themselves. */
bool totals_fits_together(const tacit_totals_plan *p, uint64_t agents, uint32_t threshold)
{
    const double lost = floor(p->absent * (double)agents + 1e-9);
    return 2 * (uint64_t)threshold + 2 > agents + liars(p) &&
           (p->curious || threshold > lost + liars(p));
}

/* The chance of a split, or of a sum with fewer members than shares were made for, is no more than
 * 2 to minus this: a plan's delta is that of the noise and this chance. */
static double bits_asked_for(const tacit_totals_plan *p)
{
    return p->delta > 0 ? fmax(LEAST_BITS, log2(BESIDE_DELTA / p->delta)) : LEAST_BITS;
}

static double bits_aimed_at(const tacit_totals_plan *p)
{
    return fmax(RISK_BITS, bits_asked_for(p));
}

static void choose_usual(tacit_totals_plan *p, uint32_t most)
{
    const uint32_t usual = usual_partners(p);
    for (uint32_t k = usual < most ? usual : most; k <= most; k++) {
        look_at(p, k);
        if (p->split_risk < -bits_aimed_at(p))
            return;
    }
}

/* How many honest members any sum has, and the chance that this is wrong. All pairs leave nothing
 * to chance; of sums that follow the rules all who are there are members; otherwise the bound on
 * the number covers that on a split. */
static void choose_sure(tacit_totals_plan *p, bool all)
{
    const double aim = bits_aimed_at(p), bits = p->split_risk < -aim ? aim : bits_asked_for(p);
    p->sure = UINT32_MAX;
    p->bits = bits;
    if (all)
        p->split_risk = -INFINITY;
    p->more_delta = exp2(p->split_risk);
    if (p->curious || all_pairs(p))
        return;
    p->sure =
        (uint32_t)tacit_gopa_sure(p->agents, p->partners, p->threshold, p->losses, liars(p), bits);
    p->more_delta = exp2(-bits);
}

static tacit_status choose_partners(tacit_totals_plan *p, tacit_error *err)
{
    const uint32_t most =
        p->agents - 1 < TACIT_TOTALS_PARTNERS ? (uint32_t)p->agents - 1 : TACIT_TOTALS_PARTNERS;
    if (p->partners > 0 || most <= ALL_PAIRS)
        look_at(p, p->partners > 0 && p->partners < most ? p->partners : most);
    else
        choose_usual(p, most);
    const bool all = all_pairs(p) && totals_fits_together(p, p->agents, p->threshold);
    if (!all && !(p->split_risk <= -bits_asked_for(p)))
        return tacit_fail(
            err, TACIT_EINPUT,
            "with %u partners an agent, a quorum of %u of them, %u that may get lost and %u "
            "colluders among %llu agents, some honest ones could be cut off and their sum told by "
            "itself (the bound on that chance is 2^%.1f, and 2^-%.1f is asked for%s); raise "
            "\"protocol.partners\" or \"protocol.quorum\", plan for less \"protocol.absent\", or "
            "state fewer colluders%s",
            p->partners, p->threshold, p->losses, p->colluders, (unsigned long long)p->agents,
            p->split_risk, bits_asked_for(p),
            bits_asked_for(p) > LEAST_BITS ? ", a two-hundredth of \"privacy.delta\", which it is "
                                             "added to"
                                           : "",
            p->curious ? "" : ", or trust those who add up: \"protocol.adders: curious\"");
    choose_sure(p, all);
    /* As many choose an agent on average as it chooses: Poisson, with room for the unlikely. */
    const double room = 2.0 * p->partners + 8 * sqrt(p->partners) + 8;
    p->room = room < (double)(p->agents - 1) ? (uint32_t)room : (uint32_t)(p->agents - 1);
    if (p->room < p->partners)
        p->room = p->partners;
    return TACIT_OK;
}

static void hash_terms(tacit_totals_plan *p)
{
    char text[512];
    const int len =
        snprintf(text, sizeof text,
                 "%llu agents, %zu numbers, %zu beside, step %a, most %a %a, %u "
                 "partners, %u confirm, %u lost, %u colluders, absent %a, least %u, "
                 "span %u, pair %a, board %d, curious %d, quorum %a, again %d",
                 (unsigned long long)p->agents, p->numbers, p->beside, p->step, p->most,
                 p->beside_most, p->partners, p->threshold, p->losses, p->colluders, p->absent,
                 p->least, p->span, p->pair, p->board, p->curious, p->quorum, p->again);
    tacit_mask_hash(p->terms, "tacit total terms 1", text, (size_t)len);
}

static size_t board_entry(const tacit_totals_plan *p)
{
    return 2 + 16 + p->numbers + p->beside; /* agent, known; commit, seed, signature; numbers */
}

static tacit_status make_shapes(tacit_totals_plan *p, tacit_error *err)
{
    const size_t open = p->beside ? p->beside : 1, room = p->room;
    const size_t signed_too = p->board ? 13 : 5;
    size_t board = 1, keys = 1;
    if (p->board) {
        board = p->span * board_entry(p);
        keys = (size_t)p->span * room * 14;
        if (p->blocks != 1 || board + keys > BOARD_MOST)
            return tacit_fail(err, TACIT_EINPUT,
                              "a board of %llu agents with %zu numbers each is too large; set "
                              "\"protocol.board: false\"",
                              (unsigned long long)p->agents, p->numbers);
    }
    const struct {
        uint32_t kind;
        tacit_segment segment[6];
    } all[] = {
        {TOTALS_HELLO, {{"head", TACIT_I64, 2}, {"open", TACIT_I64, 4}, {"sign", TACIT_I64, 8}}},
        {TOTALS_HERE, {{"head", TACIT_I64, 2}}},
        {TOTALS_WORD,
         {{"head", TACIT_I64, 4},
          {"numbers", TACIT_I64, p->numbers},
          {"beside", TACIT_I64, open},
          {"keys", TACIT_I64, 4 + 4 * (size_t)p->partners},
          {"who", TACIT_I64, room},
          {"sign", TACIT_I64, 8}}},
        {TOTALS_PAID, {{"head", TACIT_I64, 3}, {"keys", TACIT_I64, room * signed_too}}},
        {TOTALS_SEED, {{"head", TACIT_I64, 1}, {"seed", TACIT_I64, 4}}},
        {TOTALS_LIST, {{"head", TACIT_I64, 4}, {"bits", TACIT_I64, (p->span + 63) / 64}}},
        {TOTALS_SET, {{"head", TACIT_I64, 4}, {"bits", TACIT_I64, (p->agents + 63) / 64}}},
        {TOTALS_CONFIRM, {{"head", TACIT_I64, 1}, {"hash", TACIT_I64, 4}}},
        {TOTALS_ASK, {{"head", TACIT_I64, 2}}},
        {TOTALS_PAD, {{"head", TACIT_I64, 2}, {"pad", TACIT_I64, 4}}},
        {TOTALS_PART,
         {{"head", TACIT_I64, 4}, {"numbers", TACIT_I64, p->numbers}, {"beside", TACIT_I64, open}}},
        {TOTALS_RESULT,
         {{"head", TACIT_I64, 6},
          {"numbers", TACIT_I64, p->numbers},
          {"beside", TACIT_I64, open},
          {"search", TACIT_I64, TOTALS_SEARCH_WORDS}}},
        {TOTALS_BOARD,
         {{"head", TACIT_I64, 4},
          {"words", TACIT_I64, board},
          {"keys", TACIT_I64, keys},
          {"total", TACIT_I64, p->numbers},
          {"beside", TACIT_I64, open}}},
        {TOTALS_PADS, {{"pads", TACIT_I64, (size_t)p->span * p->partners * 5}}},
    };
    const tacit_segment number = {"numbers", TACIT_I64, p->numbers};
    tacit_status status = tacit_shape_init(&p->number, &number, 1, err);
    p->number.any = UINT32_MAX;
    const tacit_segment beside = {"beside", TACIT_I64, open};
    if (status == TACIT_OK)
        status = tacit_shape_init(&p->open, &beside, 1, err);
    p->open.any = UINT32_MAX;
    for (size_t k = 0; k < sizeof all / sizeof *all && status == TACIT_OK; k++) {
        size_t count = 0;
        while (count < 6 && all[k].segment[count].name)
            count++;
        status = tacit_shape_init(&p->kind[all[k].kind], all[k].segment, count, err);
        p->kind[all[k].kind].any = UINT32_MAX; /* what matters is checked where it is read */
    }
    return status;
}

tacit_status tacit_totals_prepare(tacit_totals_plan *plan, tacit_error *err)
{
    if (plan->span == 0)
        plan->span = plan->agents <= 256     ? (uint32_t)plan->agents
                     : plan->agents <= 16384 ? 64
                                             : 128;
    if (plan->span > plan->agents)
        plan->span = (uint32_t)plan->agents;
    tacit_status status = check(plan, err);
    if (status == TACIT_OK)
        status = choose_partners(plan, err);
    if (status != TACIT_OK)
        return status;
    plan->blocks = (uint32_t)((plan->agents + plan->span - 1) / plan->span);
    /* Of several tries with one number at most one is told because any two quorums share an honest
     * agent, which confirms once: all pairs. Noise between pairs would be averaged away. */
    plan->again = plan->again && plan->blocks == 1 && plan->pair == 0 && all_pairs(plan) &&
                  totals_fits_together(plan, plan->agents, plan->threshold);
    if (plan->least == 0)
        plan->least = least_honest(plan);
    if (tacit_totals_parts(plan, plan->least) < 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "of %u members %g may get lost and %u collude: nobody honest is left; "
                          "raise \"protocol.least\", or state fewer",
                          plan->least, plan->absent * plan->least, plan->colluders);
    hash_terms(plan);
    status = make_shapes(plan, err);
    if (status == TACIT_OK && plan->pair > 0)
        status =
            tacit_noise_gaussian(&plan->noise, tacit_ratio_below(plan->pair * plan->pair), err);
    return status;
}

void tacit_totals_clear(tacit_totals_plan *plan)
{
    tacit_noise_free(plan->noise);
    plan->noise = NULL;
}

const tacit_shape *tacit_totals_payload(const tacit_totals_plan *plan, tacit_address at)
{
    return at.channel == 0 && at.kind >= 1 && at.kind < TOTALS_PADS ? &plan->kind[at.kind] : NULL;
}
