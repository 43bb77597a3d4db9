/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From scores to bounds. On the pilot scores every threshold and both directions are tried, and
 * the one that promises the highest bound on the trials to come is kept; its errors are counted
 * on those trials alone, so that the search costs no confidence. Two bounds (Clopper-Pearson and,
 * where the mechanism's curve is known, the trade-off) share the confidence asked for: each holds
 * with 1 - (1 - confidence) / 2, both together with `confidence` (Bonferroni).
 *
 * What a threshold promises is the bound for the pilot's error rates at the size of the trials,
 * with BLUR errors added to each: rates in the far tail are known badly, and a threshold beyond
 * all scores of one kind is more often luck than gold.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/audit.h"

#define BLUR 2.0
#define SPACING 0.02 /* thresholds tried: ranks this much apart, from both ends */

typedef struct search {
    const double *with, *without; /* the pilot, sorted */
    uint64_t pilot, trials;
    double delta, confidence;
    tacit_audit_curve curve; /* NONE: Clopper-Pearson */
} search;

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted values are above x, or below it. */
static uint64_t beyond(const double *sorted, uint64_t count, double x, bool above)
{
    uint64_t low = 0, high = count; /* the first value > x (or >= x) */
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (above ? sorted[middle] <= x : sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return above ? count - low : low;
}

static double measure(const tacit_guesses *g, const search *s, bool pooled)
{
    if (s->curve == TACIT_CURVE_NONE)
        return tacit_audit_clopper_pearson(g, s->delta, s->confidence);
    return pooled ? tacit_audit_trade_off_pooled(g, s->curve, s->delta, s->confidence)
                  : tacit_audit_trade_off(g, s->curve, s->delta, s->confidence);
}

/* The bound, or what grows with it, if the trials go as the pilot went. */
static double promise(const search *s, double fp, double fn, bool pooled)
{
    const double n = (double)s->trials, scale = n / ((double)s->pilot + 2 * BLUR);
    const double miss = 1 - s->confidence;
    fp = (fp + BLUR) * scale;
    fn = (fn + BLUR) * scale;
    if (pooled)
        return tacit_pooled_shift(s->curve, tacit_rate_above(fp + fn, 2 * n, miss));
    const tacit_rates rates = {tacit_rate_above(fp, n, miss / 2),
                               tacit_rate_above(fn, n, miss / 2)};
    return s->curve == TACIT_CURVE_NONE ? tacit_rates_epsilon(rates, s->delta)
                                        : tacit_rates_shift(s->curve, rates);
}

static void try_threshold(const search *s, double x, tacit_audit_bound *best, double *most)
{
    for (int above = 0; above < 2; above++) {
        const double fp = (double)beyond(s->without, s->pilot, x, above);
        const double fn = (double)(s->pilot - beyond(s->with, s->pilot, x, above));
        for (int pooled = 0; pooled < (s->curve == TACIT_CURVE_NONE ? 1 : 2); pooled++) {
            const double p = promise(s, fp, fn, pooled);
            if (!(p > *most))
                continue;
            *most = p;
            best->threshold = x;
            best->above = above;
            best->pooled = pooled;
        }
    }
}

static void choose(const search *s, tacit_audit_bound *best)
{
    double most = -INFINITY;
    const uint64_t n = s->pilot;
    best->threshold = s->without[n / 2];
    best->above = true;
    for (uint64_t rank = 0; rank <= n / 2; rank += 1 + (uint64_t)(SPACING * (double)rank)) {
        const double tried[] = {s->with[rank], s->with[n - 1 - rank], s->without[rank],
                                s->without[n - 1 - rank]};
        for (size_t k = 0; k < sizeof tried / sizeof *tried; k++)
            try_threshold(s, tried[k], best, &most);
    }
}

static void count(const tacit_audit *a, tacit_audit_bound *bound)
{
    tacit_guesses g = {.n0 = a->trials, .n1 = a->trials};
    for (uint64_t k = a->pilot; k < a->pilot + a->trials; k++) {
        g.fp += bound->above ? a->without[k] > bound->threshold : a->without[k] < bound->threshold;
        g.fn += !(bound->above ? a->with[k] > bound->threshold : a->with[k] < bound->threshold);
    }
    bound->guesses = g;
}

static void find_one(const tacit_audit *a, search *s, tacit_audit_curve curve,
                     tacit_audit_bound *bound)
{
    s->curve = curve;
    choose(s, bound);
    count(a, bound);
    bound->confidence = s->confidence;
    bound->epsilon = measure(&bound->guesses, s, bound->pooled);
}

tacit_status tacit_audit_find(tacit_audit *a, tacit_audit_curve curve, tacit_error *err)
{
    if (a->pilot == 0 || a->trials == 0)
        return tacit_fail(err, TACIT_EINPUT, "an audit needs trials, and pilot trials before them");
    double *sorted = malloc(2 * a->pilot * sizeof *sorted);
    if (!sorted)
        return tacit_out_of_memory(err);
    memcpy(sorted, a->with, a->pilot * sizeof *sorted);
    memcpy(sorted + a->pilot, a->without, a->pilot * sizeof *sorted);
    qsort(sorted, a->pilot, sizeof *sorted, compare);
    qsort(sorted + a->pilot, a->pilot, sizeof *sorted, compare);
    const bool both = curve != TACIT_CURVE_NONE;
    search s = {.with = sorted,
                .without = sorted + a->pilot,
                .pilot = a->pilot,
                .trials = a->trials,
                .delta = a->delta,
                .confidence = both ? 1 - (1 - a->confidence) / 2 : a->confidence};
    a->trade_off = (tacit_audit_bound){.epsilon = NAN};
    find_one(a, &s, TACIT_CURVE_NONE, &a->clopper_pearson);
    if (both)
        find_one(a, &s, curve, &a->trade_off);
    free(sorted);
    return TACIT_OK;
}
