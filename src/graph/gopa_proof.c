/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pair noise that is enough for all but a part 2^-bits of graphs, without drawing any: so small a
 * part that it can stand beside delta, as it does in theorem 4.1. Graphs drawn at random say that
 * of one part in hundreds at best.
 *
 * gopa_exact.c bounds mu^2 of a user by its number of honest partners and a lower bound on the
 * Fiedler value. Both have tails that can be bounded. n users of whom h are honest, each honest one
 * drawing k of the n - 1 others without repetition; four events, a quarter of the risk each:
 *
 *   fewest   nobody has fewer honest partners than that. A user draws X honest ones itself
 *            (hypergeometric) and is drawn by each of the h - 1 - X others with probability
 *            k / (n - 1), independently: one exact tail, times h;
 *   most     nobody has more;
 *   mutual   no two-way choices of one user are more than that: binomial (k, k / (n - 1)), times h;
 *   leaving  every set of a <= h/2 honest users has `leaving` a edges to other honest ones at
 * least. The draws that cross its border are T in number, made of h independent hypergeometrics;
 * for their lower tail Chernoff's bound holds as if they were one binomial law of h k trials with
 * the same mean (Hoeffding 1956, 1963). Edges are at least T / 2, and T - a mutual, and the draws
 * out of the set alone; times C(h, a), summed.
 *
 * Mohar (1989): with every set having i a edges leaving it and degrees of `most` at most, the
 * Fiedler value is at least most - sqrt(most^2 - i^2). That is a tenth of the truth, and enough:
 * the bound on mu^2 hardly depends on it.
 */
#include <math.h>

#include "graph/gopa.h"
#include "math/special.h"

typedef struct draw {
    double users, honest, partners;
    double risk; /* log of what each event may fail with */
} draw;

/* ---- partners ---- */

/* log P(a user draws x honest partners itself) */
static double log_drawn(const draw *w, double x)
{
    const double good = w->honest - 1, bad = w->users - w->honest, k = w->partners;
    if (x > good || k - x > bad || x > k)
        return -INFINITY;
    return tacit_log_choose(good, x) + tacit_log_choose(bad, k - x) -
           tacit_log_choose(w->users - 1, k);
}

/* log P(a given user has at most d partners; at least d) */
static double log_partners(const draw *w, double d, bool at_least)
{
    const double chance = w->partners / (w->users - 1);
    double total = -INFINITY;
    for (double x = 0; x <= w->partners; x++) {
        const double one = log_drawn(w, x), others = w->honest - 1 - x;
        if (isinf(one))
            continue;
        double rest;
        if (at_least)
            rest = d <= x           ? 0
                   : d - x > others ? -INFINITY
                                    : tacit_log_binomial_tail(d - x, others, chance);
        else
            rest = d < x ? -INFINITY
                   : d - x >= others
                       ? 0
                       : tacit_log_binomial_tail(others - (d - x), others, 1 - chance);
        total = tacit_log_add(total, one + rest);
    }
    return total;
}

static double find_fewest(const draw *w)
{
    double low = 0, high = w->honest; /* low: fewer than that is rare; high: it is not */
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (log(w->honest) + log_partners(w, middle - 1, false) <= w->risk)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double find_most(const draw *w)
{
    double low = 0, high = w->honest - 1;
    while (high - low > 1) {
        const double middle = floor((low + high) / 2);
        if (log(w->honest) + log_partners(w, middle + 1, true) <= w->risk)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static double find_mutual(const draw *w)
{
    double m = 0;
    while (m < w->partners &&
           log(w->honest) +
                   tacit_log_binomial_tail(m + 1, w->partners, w->partners / (w->users - 1)) >
               w->risk)
        m++;
    return m;
}

/* ---- edges that leave a set ---- */

/* -trials KL(x || p), at most 0: log of Chernoff's bound on a share of x or less. */
static double chernoff(double trials, double x, double p)
{
    if (x >= p)
        return 0;
    const double hit = x > 0 ? x * log(x / p) : 0;
    const double miss = x < 1 ? (p < 1 ? (1 - x) * (log1p(-x) - log1p(-p)) : INFINITY) : 0;
    return -trials * (hit + miss);
}

/* log P(some set has less than `rate` edges a member leaving it), with rate = draws across less
 * `lost` of them a member, or half of them. */
static double log_leaving(const draw *w, double rate, double mutual)
{
    const double all = w->users - 1, k = w->partners, h = w->honest;
    const double across = fmin(2 * rate, rate + mutual); /* draws a member that are enough */
    double total = -INFINITY;
    for (double a = 1; a <= floor(h / 2); a++) {
        const double out = (h - a) / all; /* chance that a draw of a member leads out */
        const double both = chernoff(h * k, across * a / (h * k), 2 * a * out / h);
        const double own = chernoff(a * k, rate / k, out);
        total = tacit_log_add(total, tacit_log_choose(h, a) + fmin(both, own));
        if (total > w->risk)
            break;
    }
    return total;
}

static double find_leaving(const draw *w, double mutual)
{
    double low = 0, high = 2 * w->partners;
    for (int n = 0; n < 30; n++) {
        const double middle = (low + high) / 2;
        if (log_leaving(w, middle, mutual) <= w->risk)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- together ---- */

void gopa_prove(gopa_proof *proof, const tacit_gopa_question *q, double bits)
{
    const double honest = ceil(q->rho * q->users - 1e-9);
    *proof = (gopa_proof){.part = {.size = (uint32_t)honest}};
    if (honest < 2)
        return;
    const draw w = {.users = q->users,
                    .honest = honest,
                    .partners = q->partners,
                    .risk = -bits * log(2) - log(4)};
    proof->fewest = find_fewest(&w);
    proof->most = find_most(&w);
    proof->mutual = find_mutual(&w);
    proof->leaving = fmin(find_leaving(&w, proof->mutual), proof->most);
    proof->part.gap =
        proof->most - sqrt((proof->most - proof->leaving) * (proof->most + proof->leaving));
}

/* mu^2 of the worst user that the proof allows. */
double gopa_proof_square(const gopa_proof *proof, double own, double pair)
{
    const double shift = own * own / (pair * pair);
    double worst = 0, least;
    for (double d = proof->fewest; d <= proof->most; d++)
        worst = fmax(worst, gopa_bound_user(&proof->part, d, shift, &least));
    return worst / (pair * pair);
}

double tacit_gopa_pair_proved(const tacit_gopa_question *q, double bits)
{
    gopa_proof proof;
    if (!(q->rho > 0 && q->rho <= 1 && q->own > 0 && q->wanted > 0 && bits >= 1) ||
        q->partners == 0 || q->partners >= q->users)
        return INFINITY;
    if (q->own * q->wanted >= 1)
        return 0;
    const double wanted = q->wanted * q->wanted;
    gopa_prove(&proof, q, bits);
    if (!(proof.part.gap > 0) || !(1 / (proof.part.size * q->own * q->own) < wanted))
        return INFINITY;
    double low = 0, high = q->own;
    while (gopa_proof_square(&proof, q->own, high) > wanted)
        high *= 2;
    while (high > low * (1 + 1e-6)) {
        const double middle = low > 0 ? sqrt(low * high) : high / 2;
        if (gopa_proof_square(&proof, q->own, middle) <= wanted)
            high = middle;
        else
            low = middle;
    }
    return high;
}
