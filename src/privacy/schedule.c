/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A budget over time: how much noise each of an agent's T releases gets.
 *
 * Let r be what is left of an error after one of the agent's own ticks (in squared norm). The
 * noise of release k is there at the end r^(T-k)-fold, so with parts x_k of the budget
 *
 *     minimise  sum_k r^(T-k) / x_k^2
 *     laplace:  x_k = epsilon_k, sum x_k   fixed  =>  x_k ~ r^((T-k)/3)
 *     gaussian: x_k = mu_k (GDP), sum x_k^2 fixed =>  x_k ~ r^((T-k)/4)
 *
 * by Lagrange: more budget late. Paper 000 unrolls P_{t+1} <= C P_t + b_t to sum C^t b_t, where
 * sum C^(T-1-t) b_t is right (slip S1); its proposition 2 hence spends more early. It is offered as
 * printed, k-1 in the place of T-k, with the expected time n k of an agent's k-th tick in the place
 * of the global clock that nobody has. docs/budgets.md derives both.
 *
 * The plan has one unknown, the noise of the largest part. For any value of it costs are made as
 * they will be charged, on the grid, and an accountant is asked about all of them after what was
 * spent before; the root is bracketed and closed in. What is returned is what was last found to be
 * within the budget, so rounding is paid for and never the budget's loss.
 *
 * Deviations: a part too small for the grid gets the most noise the grid holds, which is a whisper
 * charged as such; from 33 releases on, parts are rounded to eight levels an octave, so that
 * ledgers stay short and accountants quick (the noise that is left grows by about 1e-3).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/schedule.h"
#include "tacit/account.h"

#define MOST_NOISE 0x1p21 /* over the clip: what the grid holds, plan.c */
#define LEVELS 8.0        /* an octave */
#define FINE_UP_TO 32     /* releases whose parts are not rounded */
#define PRECISION 1e-6
#define FARTHEST 100.0 /* from the first guess, in log(noise) */
#define MOST_STEPS 60

const char *const tacit_policy_names[] = {"uniform", "paper", "optimal", NULL};

void tacit_policy_parts(tacit_policy policy, tacit_mechanism mechanism, double ratio,
                        uint64_t releases, double *part)
{
    const double root = mechanism == TACIT_MECHANISM_LAPLACE ? 3 : 4;
    for (uint64_t k = 1; k <= releases; k++) {
        const double away = policy == TACIT_POLICY_PAPER ? (double)(k - 1) : (double)(releases - k);
        part[k - 1] = policy == TACIT_POLICY_UNIFORM ? 1 : exp(away / root * log(ratio));
    }
}

/* ---- runs of equal parts ---- */

typedef struct run {
    double part;
    uint64_t count;
} run;

typedef struct plan {
    tacit_cost base; /* all but noise and grid */
    const tacit_privacy_options *options;
    double epsilon;
    run *run;
    tacit_cost *cost; /* one a run, at the noise asked about last */
    tacit_loss *loss; /* spent, then one a run */
    size_t spent, runs;
} plan;

/* Where the most noise there is would be too little, a part is as good as none. */
static double level_of(double part)
{
    return part < 1e-12 ? 1e-12 : exp2(round(LEVELS * log2(part)) / LEVELS);
}

static void find_runs(plan *p, const double *part, uint64_t releases)
{
    for (uint64_t k = 0; k < releases; k++) {
        const double level = releases > FINE_UP_TO ? level_of(part[k]) : fmax(part[k], 1e-12);
        if (p->runs > 0 && p->run[p->runs - 1].part == level)
            p->run[p->runs - 1].count++;
        else
            p->run[p->runs++] = (run){level, 1};
    }
}

static tacit_status plan_open(plan *p, uint64_t releases, const tacit_cost *spent, tacit_error *err)
{
    const tacit_privacy_options *o = p->options;
    const uint64_t distinct = o->policy == TACIT_POLICY_UNIFORM ? 1 : releases;
    double *part = malloc(distinct * sizeof *part);
    size_t losses, bytes;
    tacit_status status = TACIT_OK;
    if (!tacit_add_size(p->spent, distinct, &losses) ||
        !tacit_mul_size(losses, sizeof *p->loss, &bytes) || !part || !(p->loss = malloc(bytes)) ||
        !(p->run = malloc(distinct * sizeof *p->run)) ||
        !(p->cost = malloc(distinct * sizeof *p->cost)))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK && distinct == 1) {
        p->run[p->runs++] = (run){1, releases};
    } else if (status == TACIT_OK) {
        tacit_policy_parts((tacit_policy)o->policy, (tacit_mechanism)o->mechanism,
                           tacit_policy_ratio(o), releases, part);
        find_runs(p, part, releases);
    }
    for (size_t k = 0; status == TACIT_OK && k < p->spent; k++)
        tacit_cost_loss(&spent[k], 1, &p->loss[k]);
    free(part);
    return status;
}

static void plan_close(plan *p)
{
    free(p->run);
    free(p->cost);
    free(p->loss);
}

/* ---- how much is spent at a given noise ---- */

/* log(epsilon / budget) with noise e^x, over the clip, for the largest part; above 0: over. */
static tacit_status excess(plan *p, tacit_accountant by, double x, double *found, tacit_error *err)
{
    const double radius = p->options->clip;
    for (size_t k = 0; k < p->runs; k++) {
        const double noise = fmin(exp(x) / p->run[k].part, MOST_NOISE);
        p->cost[k] = p->base;
        tacit_status status = tacit_cost_on_grid(&p->cost[k], radius, noise * radius, err);
        if (status != TACIT_OK)
            return status;
        tacit_cost_loss(&p->cost[k], p->run[k].count, &p->loss[p->spent + k]);
    }
    double epsilon = NAN;
    tacit_status status =
        tacit_account_epsilon(by, p->loss, p->spent + p->runs, p->options->delta, &epsilon, err);
    if (status == TACIT_OK && isnan(epsilon))
        return tacit_fail(err, TACIT_EINPUT,
                          "accountant \"%s\" has nothing to say about mechanism \"%s\"; "
                          "\"privacy.accountant: pld\" has",
                          tacit_accountant_names[by], tacit_mechanism_name(p->base.mechanism));
    const double log_ratio = log(epsilon / p->epsilon);
    *found = epsilon <= p->epsilon ? fmin(0, log_ratio) : fmax(1e-300, log_ratio);
    return status;
}

static tacit_status too_small(const plan *p, tacit_error *err)
{
    uint64_t releases = 0;
    for (size_t k = 0; k < p->runs; k++)
        releases += p->run[k].count;
    return tacit_fail(err, p->spent ? TACIT_EBUDGET : TACIT_EINPUT,
                      "a budget of epsilon %g at delta %g%s is too small for %llu releases of "
                      "\"%s\": not even the most noise the grid holds keeps within it; raise "
                      "epsilon (\"privacy.epsilon\"), or release less often (\"privacy.releases\")",
                      p->epsilon, p->options->delta,
                      p->spent ? ", after what was spent before," : "",
                      (unsigned long long)releases, p->base.what);
}

typedef struct bracket {
    double over, within; /* x: too little noise, enough of it */
    double at_over, at_within;
} bracket;

static tacit_status find_bracket(plan *p, tacit_accountant by, double x, double step, bracket *b,
                                 tacit_error *err)
{
    double at = NAN;
    tacit_status status = excess(p, by, x, &at, err);
    const bool grow = at > 0;
    const double end = grow ? log(MOST_NOISE) : x - FARTHEST;
    while (status == TACIT_OK && (grow ? x < end : x > end)) {
        const double next = grow ? fmin(x + step, end) : x - step, before = at;
        status = excess(p, by, next, &at, err);
        if (status == TACIT_OK && grow != (at > 0)) {
            *b = grow ? (bracket){x, next, before, at} : (bracket){next, x, at, before};
            return TACIT_OK;
        }
        x = next;
        step *= 2;
    }
    return status == TACIT_OK ? too_small(p, err) : status;
}

/* Secants on an almost straight line, aimed at either side of the root in turn; every third step
 * halves, so that a rough accountant cannot stall it. */
static tacit_status close_in(plan *p, tacit_accountant by, double precision, bracket *b,
                             tacit_error *err)
{
    for (int k = 0; k < MOST_STEPS && b->within - b->over > precision; k++) {
        const double width = b->within - b->over;
        const double root = b->over + width * b->at_over / (b->at_over - b->at_within);
        const double nudge = fmin(precision / 3, width / 4);
        double x = k % 2 ? root - nudge : root + nudge, at;
        if (k % 3 == 2 || !(x > b->over + nudge / 2 && x < b->within - nudge / 2))
            x = b->over + width / 2;
        tacit_status status = excess(p, by, x, &at, err);
        if (status != TACIT_OK)
            return status;
        if (at <= 0)
            b->within = x, b->at_within = at;
        else
            b->over = x, b->at_over = at;
    }
    return TACIT_OK;
}

/* Noise of the largest part, over the clip, if all the budget were spent by plain composition. */
static double first_guess(const plan *p)
{
    double sum = 0, squares = 0;
    for (size_t k = 0; k < p->runs; k++) {
        sum += (double)p->run[k].count * p->run[k].part;
        squares += (double)p->run[k].count * p->run[k].part * p->run[k].part;
    }
    const double shift = p->base.adjacency == TACIT_REPLACE ? 2 : 1;
    const double noise = p->base.mechanism == TACIT_MECHANISM_LAPLACE
                             ? shift * sum / p->epsilon
                             : shift * sqrt(squares) * (1 / p->epsilon + 1);
    return log(fmin(fmax(noise, 1e-3), MOST_NOISE));
}

static tacit_status solve(plan *p, tacit_error *err)
{
    const tacit_accountant by = (tacit_accountant)p->options->accountant;
    double x = first_guess(p), step = 0.7, at;
    bracket b;
    /* pld is slow and never far below rdp, which is quick. */
    if (by == TACIT_BY_PLD && find_bracket(p, TACIT_BY_RDP, x, step, &b, NULL) == TACIT_OK &&
        close_in(p, TACIT_BY_RDP, 1e-3, &b, NULL) == TACIT_OK)
        x = b.within, step = 0.03;
    tacit_status status = find_bracket(p, by, x, step, &b, err);
    if (status == TACIT_OK)
        status = close_in(p, by, PRECISION, &b, err);
    /* Costs are those asked about last: once more, for the end that is within. */
    if (status == TACIT_OK)
        status = excess(p, by, b.within, &at, err);
    if (status == TACIT_OK && at > 0)
        return tacit_fail(err, TACIT_EINTERNAL, "found no noise for \"%s\" within epsilon = %g",
                          p->base.what, p->epsilon);
    return status;
}

/* ---- the door ---- */

double tacit_policy_ratio(const tacit_privacy_options *options)
{
    return options->ratio > 0 ? options->ratio : TACIT_RATIO_USUAL;
}

static tacit_status check(const tacit_privacy_options *o, uint64_t releases, double epsilon,
                          tacit_error *err)
{
    if (o->mechanism != TACIT_MECHANISM_LAPLACE && o->mechanism != TACIT_MECHANISM_GAUSSIAN)
        return tacit_fail(err, TACIT_EINPUT,
                          "mechanism \"%s\" has no noise to spread over releases",
                          tacit_mechanism_name((tacit_mechanism)o->mechanism));
    if (!(epsilon > 0 && isfinite(epsilon)))
        return tacit_fail(err, TACIT_EINPUT,
                          "a budget of epsilon %g cannot be spread over releases; it must be a "
                          "finite number above 0 (\"privacy.epsilon\", or a line of "
                          "\"privacy.budgets\")",
                          epsilon);
    if (o->noise > 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"privacy.noise\" is the same for all releases, \"privacy.policy: %s\" "
                          "finds it for each; drop one of them",
                          tacit_policy_names[o->policy]);
    const bool uniform = o->policy == TACIT_POLICY_UNIFORM;
    if (releases < 1 || (!uniform && releases > TACIT_SCHEDULE_MOST))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"privacy.releases\" is %llu; to spread a budget by \"privacy.policy: "
                          "%s\" it must be between 1 and %d",
                          (unsigned long long)releases, tacit_policy_names[o->policy],
                          TACIT_SCHEDULE_MOST);
    if (!(o->ratio >= 0 && o->ratio <= 1))
        return tacit_fail(err, TACIT_EINPUT, "\"privacy.ratio\" is %g; it must be between 0 and 1",
                          o->ratio);
    return TACIT_OK;
}

tacit_status tacit_schedule_plan(tacit_cost *cost, uint64_t releases,
                                 const tacit_privacy_options *options, double epsilon,
                                 const tacit_cost *spent, size_t spent_count, uint64_t coordinates,
                                 const char *what, tacit_error *err)
{
    tacit_status status = check(options, releases, epsilon, err);
    if (status != TACIT_OK)
        return status;
    tacit_privacy_options o = *options;
    o.epsilon = epsilon;
    o.releases = (int64_t)releases;
    if (o.policy == TACIT_POLICY_UNIFORM && spent_count == 0)
        return tacit_cost_plan(cost, &o, coordinates, what, err);
    plan p = {.options = options, .epsilon = epsilon, .spent = spent_count};
    o.noise = 1; /* any: this makes the rest of the cost and checks it */
    status = tacit_cost_plan(&p.base, &o, coordinates, what, err);
    if (status == TACIT_OK)
        status = plan_open(&p, releases, spent, err);
    if (status == TACIT_OK)
        status = solve(&p, err);
    uint64_t next = 0;
    for (size_t k = 0; status == TACIT_OK && k < p.runs; k++)
        for (uint64_t i = 0; i < (p.options->policy == TACIT_POLICY_UNIFORM ? 1 : p.run[k].count);
             i++)
            cost[next++] = p.cost[k];
    plan_close(&p);
    return status;
}
