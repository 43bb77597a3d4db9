/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can the honest be told apart into two sums? Every honest agent draws k partners and takes part in
 * a sum only if `quorum` of them do. A set of a honest agents can then be given a sum of its own
 * only if each of its members drew at least `quorum` partners among the other a - 1 and the c
 * colluders, who go along with anything. Draws of different agents are independent, each without
 * repetition, so for one set the chance is exactly H_a^a with
 *
 *     H_a = P(hypergeometric(k of n - 1, of which a - 1 + c) >= quorum),
 *
 * and for some set of at most half of the n_H honest at most sum_a C(n_H, a) H_a^a. Of two sums
 * over disjoint sets one is over at most half.
 *
 * Most of a million terms are too small to matter. H_a grows with a, so that a block of terms is at
 * most the sum of C(n_H, a) H^a with the H of its end, whose logarithm is concave in a: its largest
 * term is known. Blocks negligible beside the largest single terms are added as that bound, others
 * are halved: the result is never too small.
 *
 * If who adds up may lie, an agent's word can also be opened by `quorum` of those it chose giving
 * back its seed, up to `lost` of whom it had been told were gone (docs/totals.md). A set of a then
 * has two kinds of members: s that opened themselves, and each of the others was opened by at least
 * quorum - lost that are of those s or collude. With X = H_a as above and
 *
 *     Y_s = P(hypergeometric(k of n - 1, of which s + c) >= quorum - lost)
 *
 * the chance for one set is at most sum_s C(a, s) X^s Y_s^(a-s). Y_s grows with s, so that for
 * s / a within a slice of [0, 1] one Y is enough, and C(a, s) <= exp(a entropy(s / a)).
 */
#include <math.h>

#include "math/special.h"
#include "tacit/gopa.h"

#define NEGLIGIBLE 45.0 /* e^-45 */
#define MOST_LOOKS 4000000
#define LARGEST 9007199254740992.0 /* 2^53 */
#define ROUNDING 1e-9              /* of logarithms, relative to 1 + |value| */
#define ONE_BY_ONE 4096
#define SLICES 32.0

typedef struct split {
    double others; /* n - 1 */
    double honest, colluders;
    double partners, quorum;
    bool lying;
    double lost; /* if lying */
} split;

/* log P(at least `wanted` of the k that an agent drew are among `good` of the others), from above.
 * What is at least 1/2 is called 1: then a term of the union bound is above 1 anyway. */
static double log_tail(const split *s, double good, double wanted)
{
    const double bad = s->others - good, k = s->partners, most = fmin(k, good);
    if (wanted > most)
        return -INFINITY;
    if (wanted * s->others <= k * good || wanted <= k - bad)
        return 0;
    const double first = tacit_log_choose(good, wanted) + tacit_log_choose(bad, k - wanted) -
                         tacit_log_choose(s->others, k);
    double term = 1, sum = 1;
    for (double j = wanted; j < most; j++) {
        const double ratio = (good - j) * (k - j) / ((j + 1) * (bad - k + j + 1));
        term *= ratio; /* ratios fall */
        sum += term;
        if (ratio < 1 && term < 1e-17 * sum * (1 - ratio)) {
            sum += term * ratio / (1 - ratio);
            break;
        }
    }
    return fmin(first + log(sum), 0);
}

static double times(double part, double log_value)
{
    return part > 0 ? part * log_value : 0;
}

/* The largest f log X + (1 - f) log Y + entropy(f) for f in [low, high]: concave, with its peak at
 * X / (X + Y). */
static double slice(double low, double high, double log_x, double log_y)
{
    if ((isinf(log_x) && low > 0) || (isinf(log_y) && high < 1))
        return -INFINITY;
    const double peak = isinf(log_x) ? 0 : isinf(log_y) ? 1 : 1 / (1 + exp(log_y - log_x));
    const double f = fmin(fmax(peak, low), high);
    return times(f, log_x - log(f)) + times(1 - f, log_y - log1p(-f));
}

/* log H_a with H_a^a the chance for one set of a, but for `slack`, a factor of its own. */
static double log_accepts(const split *s, double a, double *slack)
{
    const double own = log_tail(s, a - 1 + s->colluders, s->quorum);
    *slack = 0;
    if (!s->lying)
        return own;
    double most = -INFINITY;
    for (double j = 0; j < SLICES; j++) {
        const double low = j / SLICES, high = (j + 1) / SLICES;
        const double by_others =
            log_tail(s, fmin(ceil(high * a), a - 1) + s->colluders, s->quorum - s->lost);
        most = fmax(most, slice(low, high, own, by_others));
    }
    *slack = log(SLICES * (a + 1));
    return fmin(most, 0);
}

/* log of C(n_H, a) H^a */
static double log_term(const split *s, double a, double log_h)
{
    return a == 0 ? 0 : tacit_log_choose(s->honest, a) + a * log_h;
}

/* log of the sum over a from `first` to `last`, from above. */
static double log_block(const split *s, double first, double last)
{
    double slack;
    const double h = log_accepts(s, last, &slack);
    if (isinf(h))
        return -INFINITY;
    if (first == last)
        return log_term(s, first, h) + slack;
    const double peak = floor(s->honest / (1 + exp(-h)));
    const double low = fmin(fmax(peak, first), last), high = fmin(fmax(peak + 1, first), last);
    const double below = fmin(fmax(peak - 1, first), last);
    const double largest =
        fmax(log_term(s, low, h), fmax(log_term(s, high, h), log_term(s, below, h)));
    return largest + log(last - first + 1) + slack;
}

/* log of the sum over sets of up to `size`; any value above `enough` once it is above that. */
static double log_risk(const split *s, double size, double enough)
{
    const double ends = fmax(log_block(s, 1, 1), log_block(s, size, size));
    double total = -INFINITY, width = 1;
    uint32_t looks = 0;
    if (ends > enough)
        return ends;
    for (double first = 1; first <= size && total <= enough; looks++) {
        const double last = fmin(first + width - 1, size);
        const double block = log_block(s, first, last);
        if (last > first && block > ends - NEGLIGIBLE && block > -1e4 && looks < MOST_LOOKS) {
            width = floor(width / 2);
            continue;
        }
        total = tacit_log_add(total, block);
        first = last + 1;
        width *= 2;
    }
    return total;
}

static double rounded_up(double log_value)
{
    return fmin(log_value + ROUNDING * (1 + fabs(log_value)), 0) / log(2);
}

static double half_of(const split *s)
{
    return floor(s->honest / 2);
}

static double risk_of(const split *s)
{
    if (s->others >= LARGEST || s->honest < 2 || s->partners > s->others)
        return 0; /* nothing can be said */
    const double risk = log_risk(s, half_of(s), 0);
    return isinf(risk) && risk < 0 ? -INFINITY : rounded_up(risk);
}

double tacit_gopa_split_risk(uint64_t agents, uint64_t partners, uint64_t quorum,
                             uint64_t colluders)
{
    const split s = {.others = (double)agents - 1,
                     .honest = (double)agents - (double)colluders,
                     .colluders = (double)colluders,
                     .partners = (double)partners,
                     .quorum = (double)quorum};
    return risk_of(&s);
}

static split lying(uint64_t agents, uint64_t partners, uint64_t quorum, uint64_t lost,
                   uint64_t colluders)
{
    return (split){.others = (double)agents - 1,
                   .honest = (double)agents - (double)colluders,
                   .colluders = (double)colluders,
                   .partners = (double)partners,
                   .quorum = (double)quorum,
                   .lying = true,
                   .lost = (double)lost};
}

double tacit_gopa_lying_risk(uint64_t agents, uint64_t partners, uint64_t quorum, uint64_t lost,
                             uint64_t colluders)
{
    const split s = lying(agents, partners, quorum, lost, colluders);
    return s.quorum - s.lost < 1 ? 0 : risk_of(&s);
}

uint64_t tacit_gopa_sure(uint64_t agents, uint64_t partners, uint64_t quorum, uint64_t lost,
                         uint64_t colluders, double bits)
{
    const split s = lying(agents, partners, quorum, lost, colluders);
    if (tacit_gopa_lying_risk(agents, partners, quorum, lost, colluders) > -bits)
        return 0;
    double low = half_of(&s), high = s.honest;
    while (high - low > 1) { /* sets of up to `low` are improbable enough, up to `high` not */
        const double middle = floor((low + high) / 2);
        const double risk = log_risk(&s, middle, -bits * log(2));
        if (isinf(risk) ? risk < 0 : rounded_up(risk) <= -bits)
            low = middle;
        else
            high = middle;
    }
    return (uint64_t)low + 1;
}

static bool is_enough(uint64_t agents, double share, uint64_t colluders, double bits, double k)
{
    const split s = {.others = (double)agents - 1,
                     .honest = (double)agents - (double)colluders,
                     .colluders = (double)colluders,
                     .partners = k,
                     .quorum = ceil(share * k - 1e-9)};
    const double risk = log_risk(&s, half_of(&s), -bits * log(2));
    return isinf(risk) ? risk < 0 : rounded_up(risk) < -bits;
}

uint64_t tacit_gopa_partners(uint64_t agents, double share, uint64_t colluders, double bits)
{
    const double most = (double)agents - 1;
    if (!(share > 0 && share <= 1 && bits >= 0) || most >= LARGEST || colluders >= agents ||
        agents - colluders < 2)
        return 0;
    double k = 1;
    for (; k <= fmin(most, ONE_BY_ONE); k++)
        if (is_enough(agents, share, colluders, bits, k))
            return (uint64_t)k;
    /* Far out the rounding of the quorum no longer matters and the risk falls with k. */
    double low = k - 1;
    while (k < most && !is_enough(agents, share, colluders, bits, k)) {
        low = k;
        k = fmin(2 * k, most);
    }
    if (k > most || !is_enough(agents, share, colluders, bits, k))
        return 0;
    while (k - low > 1) {
        const double middle = floor((low + k) / 2);
        if (is_enough(agents, share, colluders, bits, middle))
            k = middle;
        else
            low = middle;
    }
    return (uint64_t)k;
}
