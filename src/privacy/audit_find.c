/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From scores to bounds. The threshold, and whether the canary makes scores larger or smaller,
 * come from the pilot scores; errors are counted on the other trials alone, so that the search
 * costs no confidence.
 *
 * Two ways to a threshold. The fit takes both kinds of pilot scores for normal with a common
 * deviation, as sums of many small things are, and finds where such scores would give the
 * highest bound at the size of the trials. The search tries thresholds from the pilot itself and
 * asks what bound they promise when the pilot's error rates are CAUTION standard deviations worse
 * than they look: the best of many noisy promises is otherwise mostly luck. The search wins only
 * if even its cautious promise is above what the pilot shows at the fitted threshold.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/special.h"
#include "privacy/audit.h"

#define CAUTION 3.0
#define FAR_APART 32 /* deviations: any threshold between will do */
#define SPACING 0.2  /* of the ranks of pilot scores that are tried, from both ends */

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

const char *const tacit_audit_methods[] = {"separate", "ratio", "mirrored-ratio", "pooled", NULL};

static double measure(const tacit_guesses *g, const search *s, tacit_audit_method method)
{
    switch (method) {
    case TACIT_SEPARATE:
        return s->curve == TACIT_CURVE_NONE
                   ? tacit_audit_clopper_pearson(g, s->delta, s->confidence)
                   : tacit_audit_trade_off(g, s->curve, s->delta, s->confidence);
    case TACIT_POOLED:
        return tacit_audit_trade_off_pooled(g, s->curve, s->delta, s->confidence);
    default:
        return tacit_audit_ratio(g, method == TACIT_MIRRORED, s->delta, s->confidence);
    }
}

/* The bound, or what grows with it, if the trials go like these rates. */
static double promise(const search *s, double fp, double fn, tacit_audit_method method)
{
    const double n = (double)s->trials, miss = 1 - s->confidence;
    if (method == TACIT_POOLED)
        return tacit_pooled_shift(s->curve, tacit_rate_above((fp + fn) * n, 2 * n, miss));
    if (method != TACIT_SEPARATE)
        return tacit_rates_ratio((tacit_rates){fp, fn}, n, method == TACIT_MIRRORED, s->delta,
                                 s->confidence);
    const tacit_rates rates = {tacit_rate_above(fp * n, n, miss / 2),
                               tacit_rate_above(fn * n, n, miss / 2)};
    return s->curve == TACIT_CURVE_NONE ? tacit_rates_epsilon(rates, s->delta)
                                        : tacit_rates_shift(s->curve, rates);
}

/* A rate seen on the pilot, worse by `caution` standard deviations. */
static double cautious(double count, double trials, double caution)
{
    const double rate = (count + 1) / (trials + 2);
    return fmin(1, rate + caution * sqrt(rate * (1 - rate) / trials));
}

static double pilot_promise(const search *s, double x, bool above, tacit_audit_method method,
                            double caution)
{
    const double n = (double)s->pilot;
    const double fp = (double)beyond(s->without, s->pilot, x, above);
    const double fn = n - (double)beyond(s->with, s->pilot, x, above);
    if (method != TACIT_POOLED)
        return promise(s, cautious(fp, n, caution), cautious(fn, n, caution), method);
    const double rate = cautious(fp + fn, 2 * n, caution);
    return promise(s, rate, rate, method);
}

/* ---- the fit ---- */

static void moments(const double *x, uint64_t n, double *mean, double *squares)
{
    double sum = 0;
    for (uint64_t k = 0; k < n; k++)
        sum += x[k];
    *mean = sum / (double)n;
    *squares = 0;
    for (uint64_t k = 0; k < n; k++)
        *squares += (x[k] - *mean) * (x[k] - *mean);
}

/* Where normal scores would promise most; false if the pilot's are not like that at all. */
static bool fit(const search *s, tacit_audit_bound *best)
{
    double m0, m1, s0, s1, most = -INFINITY;
    moments(s->without, s->pilot, &m0, &s0);
    moments(s->with, s->pilot, &m1, &s1);
    const double deviation = sqrt((s0 + s1) / (2 * (double)s->pilot));
    if (!(deviation > 0) || !isfinite(deviation) || !isfinite(m0) || !isfinite(m1))
        return false;
    const double gap = fabs(m1 - m0) / deviation;
    if (gap > FAR_APART)
        return false;
    best->above = m1 >= m0;
    for (double t = -6; t <= gap + 6; t += 1.0 / 16) {
        const double fp = tacit_normal_cdf(-t), fn = tacit_normal_cdf(t - gap);
        const double p = promise(s, fp, fn, best->method);
        if (!(p > most))
            continue;
        most = p;
        best->threshold = m0 + (best->above ? t : -t) * deviation;
    }
    return isfinite(most);
}

/* ---- the search ---- */

static void try_threshold(const search *s, double x, tacit_audit_bound *best, double *most)
{
    for (int above = 0; above < 2; above++) {
        const double p = pilot_promise(s, x, above, best->method, CAUTION);
        if (!(p > *most))
            continue;
        *most = p;
        best->threshold = x;
        best->above = above;
    }
}

static double look_through(const search *s, tacit_audit_bound *best)
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
    return most;
}

/* Returns what the pilot promises. */
static double choose(const search *s, tacit_audit_method method, tacit_audit_bound *best)
{
    tacit_audit_bound found = {.method = method}, fitted = {.method = method};
    const double most = look_through(s, &found);
    *best = found;
    if (!fit(s, &fitted))
        return most;
    const double shown = pilot_promise(s, fitted.threshold, fitted.above, method, 0);
    if (shown >= most)
        *best = fitted;
    return fmax(shown, most);
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

/* Any mechanism: separate or a ratio. Gaussian noise: pooled errors are always better. Laplace:
 * it depends on where the best threshold lies. What the pilot promises most with is taken. */
static void find_one(const tacit_audit *a, search *s, tacit_audit_curve curve, double together,
                     tacit_audit_bound *bound)
{
    static const bool fits[][4] = {
        [TACIT_CURVE_NONE] =
            {[TACIT_SEPARATE] = true, [TACIT_RATIO] = true, [TACIT_MIRRORED] = true},
        [TACIT_CURVE_GAUSSIAN] = {[TACIT_POOLED] = true},
        [TACIT_CURVE_LAPLACE] = {[TACIT_SEPARATE] = true, [TACIT_POOLED] = true},
    };
    double most = -INFINITY;
    s->curve = curve;
    for (int method = TACIT_SEPARATE; method <= TACIT_POOLED; method++) {
        tacit_audit_bound tried;
        if (!fits[curve][method])
            continue;
        const double promised = choose(s, (tacit_audit_method)method, &tried);
        if (!(promised > most) && most > -INFINITY)
            continue;
        most = promised;
        *bound = tried;
    }
    count(a, bound);
    bound->epsilon = measure(&bound->guesses, s, bound->method);
    s->confidence = together;
    bound->together = measure(&bound->guesses, s, bound->method);
    s->confidence = a->confidence;
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
    search s = {.with = sorted,
                .without = sorted + a->pilot,
                .pilot = a->pilot,
                .trials = a->trials,
                .delta = a->delta,
                .confidence = a->confidence};
    const bool both = curve != TACIT_CURVE_NONE;
    const double together = both ? 1 - (1 - a->confidence) / 2 : a->confidence;
    a->trade_off = (tacit_audit_bound){.epsilon = NAN, .together = NAN};
    find_one(a, &s, TACIT_CURVE_NONE, together, &a->clopper_pearson);
    if (both)
        find_one(a, &s, curve, together, &a->trade_off);
    free(sorted);
    return TACIT_OK;
}

double tacit_audit_shown(const tacit_audit *a)
{
    return fmax(a->clopper_pearson.together, a->trade_off.together); /* fmax ignores NAN */
}
