/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise from a budget. Epsilon falls as the noise grows, so with x = log(noise) (or -log(epsilon)
 * for randomized response and pure losses, where less epsilon is more noise) there is one crossing
 * of log(epsilon(x) / budget). It is bracketed by doubling from where noise and shift are equal,
 * then closed in by secants on that almost straight line, which halving keeps from stalling.
 *
 * What is returned was asked of the accountant exactly as returned, and found to be within the
 * budget; the point next to it, at most 1e-6 below, was found to be over. So an accountant that is
 * slightly rough (pld on a grid) costs some tightness and never the budget.
 */
#include "privacy/account.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRECISION 4e-7
#define GROW 170.0  /* as far up from the first guess as x is followed: a factor of 1e73 */
#define SHRINK 20.0 /* and down, 2e-9: below that sampling alone keeps the budget */
#define STRIDE 2.8  /* the longest step there */
#define MOST_STEPS 100

typedef struct task {
    tacit_accountant by;
    tacit_loss *list; /* what was spent, then the loss in question */
    size_t count;
    double epsilon, delta;
    bool inverse; /* epsilon is sought, not noise */
} task;

static double value_at(const task *t, double x)
{
    return exp(t->inverse ? -x : x);
}

/* log(epsilon / budget) at x; above 0: over budget. */
static tacit_status excess(task *t, double x, double *found, tacit_error *err)
{
    tacit_loss *loss = &t->list[t->count - 1];
    *(t->inverse ? &loss->epsilon : &loss->noise) = value_at(t, x);
    double epsilon;
    tacit_status status = tacit_account_epsilon(t->by, t->list, t->count, t->delta, &epsilon, err);
    *found = epsilon <= t->epsilon ? fmin(0, log(epsilon / t->epsilon))
                                   : fmax(DBL_MIN, log(epsilon / t->epsilon));
    if (isnan(epsilon))
        *found = NAN;
    return status;
}

/* The accountants that have something to say about such a loss, for a message. */
static void who_knows(const tacit_loss *loss, size_t room, char *names)
{
    tacit_loss one = *loss;
    one.count = 1, one.delta = 0;
    size_t used = 0;
    names[0] = 0;
    for (int by = 0; by < TACIT_ACCOUNTANTS; by++) {
        double epsilon = INFINITY;
        if (by != TACIT_BY_PLD && /* knows everything, and takes its time */
            tacit_account_epsilon((tacit_accountant)by, &one, 1, 0.01, &epsilon, NULL))
            continue;
        if (isnan(epsilon))
            continue;
        int wrote = snprintf(names + used, room - used, "%s%s", used ? ", " : "",
                             tacit_accountant_names[by]);
        if (wrote < 0 || (size_t)wrote >= room - used)
            break;
        used += (size_t)wrote;
    }
}

static tacit_status check_kind(const tacit_loss *loss, tacit_error *err)
{
    switch (loss->kind) {
    case TACIT_LOSS_PURE:
    case TACIT_LOSS_RESPONSE:
        return TACIT_OK;
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_LAPLACE:
    case TACIT_LOSS_DISCRETE_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_LAPLACE:
        if (loss->shift > 0)
            return TACIT_OK;
        return tacit_fail(err, TACIT_EINPUT,
                          "\"shift\" is 0; nothing is told apart, so no noise is needed");
    default:
        return tacit_fail(err, TACIT_EINPUT,
                          "this kind of loss has no noise to calibrate; take gaussian, laplace, a "
                          "discrete one, response or pure");
    }
}

static tacit_status no_need(double delta, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "\"delta\" %g is no less than the chance that a record is ever sampled: it "
                      "holds without any noise, which is no protection; lower it",
                      delta);
}

static tacit_status check(const tacit_loss *loss, double epsilon, double delta, tacit_error *err)
{
    if (!(epsilon > 0 && isfinite(epsilon)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"epsilon\" is %g; noise is found for a finite number above 0", epsilon);
    if (!(delta >= 0 && delta < 1))
        return tacit_fail(err, TACIT_EINPUT, "\"delta\" is %g; it must be at least 0 and below 1",
                          delta);
    tacit_status status = check_kind(loss, err);
    if (status)
        return status;
    tacit_loss probe = *loss; /* its own noise is ignored */
    probe.noise = 1, probe.epsilon = 1;
    status = tacit_loss_check(&probe, err);
    if (status)
        return status;
    if (loss->count == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"count\" is 0; no noise is needed for no release");
    const bool bell =
        loss->kind == TACIT_LOSS_GAUSSIAN || loss->kind == TACIT_LOSS_DISCRETE_GAUSSIAN;
    if (bell && delta == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"delta\" is 0; no amount of Gaussian noise suffices, so take a delta "
                          "above 0 or Laplace noise");
    if (loss->delta * (double)loss->count > delta)
        return tacit_fail(err, TACIT_EINPUT,
                          "the releases themselves may fail with probability %g, more than "
                          "\"delta\" %g; raise it",
                          loss->delta * (double)loss->count, delta);
    const double ever = -expm1((double)loss->count * log1p(-loss->sampling));
    return ever <= delta ? no_need(delta, err) : TACIT_OK;
}

/* What was spent before must leave something. */
static tacit_status check_spent(const task *t, tacit_error *err)
{
    double spent;
    tacit_status status =
        tacit_account_epsilon(t->by, t->list, t->count - 1, t->delta, &spent, err);
    if (status)
        return status;
    const char *name = tacit_accountant_names[t->by];
    if (isnan(spent))
        return tacit_fail(err, TACIT_EINPUT,
                          "accountant \"%s\" has nothing to say about what was spent before; take "
                          "rdp or pld",
                          name);
    if (spent > t->epsilon)
        return tacit_fail(err, TACIT_EBUDGET,
                          "epsilon %g was spent before at delta %g (by %s); a budget of %g leaves "
                          "nothing",
                          spent, t->delta, name, t->epsilon);
    return TACIT_OK;
}

static tacit_status hopeless(const task *t, bool grow, tacit_error *err)
{
    const char *name = tacit_accountant_names[t->by];
    if (!grow)
        return no_need(t->delta, err);
    if (t->count > 1)
        return tacit_fail(err, TACIT_EBUDGET,
                          "after what was spent before no noise keeps within epsilon %g at delta "
                          "%g (by %s)",
                          t->epsilon, t->delta, name);
    return tacit_fail(err, TACIT_EINPUT,
                      "no noise keeps within epsilon %g at delta %g by accountant \"%s\"; raise "
                      "delta or take another",
                      t->epsilon, t->delta, name);
}

static tacit_status silent(const task *t, tacit_error *err)
{
    char names[64];
    who_knows(&t->list[t->count - 1], sizeof names, names);
    return tacit_fail(err, TACIT_EINPUT,
                      "accountant \"%s\" has nothing to say about such a loss; take one of %s",
                      tacit_accountant_names[t->by], names);
}

typedef struct bracket {
    double over, within; /* x: too little noise, enough of it */
    double at_over, at_within;
} bracket;

/* From x on, in steps that double, to the other side of the budget. */
static tacit_status find_bracket(task *t, double x, double step, bracket *b, tacit_error *err)
{
    double at, end;
    tacit_status status = excess(t, x, &at, err);
    if (status)
        return status;
    if (isnan(at))
        return silent(t, err);
    const bool grow = at > 0;
    for (end = grow ? x + GROW : x - SHRINK; grow ? x < end : x > end;) {
        const double next = grow ? x + step : x - step, before = at;
        status = excess(t, next, &at, err);
        if (status)
            return status;
        if (grow != (at > 0)) {
            *b = grow ? (bracket){x, next, before, at} : (bracket){next, x, at, before};
            return TACIT_OK;
        }
        x = next;
        step = fmin(2 * step, STRIDE);
    }
    return hopeless(t, grow, err);
}

/* Where to look first: pld is slow and never far below rdp, which is quick. */
static void first_guess(task *t, const tacit_loss *loss, double *x, double *step)
{
    double noise;
    *x = t->inverse ? -log(t->epsilon) : log(loss->shift / t->epsilon);
    *step = log(2);
    if (t->by != TACIT_BY_PLD || tacit_account_calibrate(TACIT_BY_RDP, loss, t->list, t->count - 1,
                                                         t->epsilon, t->delta, &noise, NULL))
        return;
    *x = t->inverse ? -log(noise) : log(noise);
    *step = 0.05;
}

/* Where the line through both ends crosses 0, aimed a little past it so as to close in from both
 * sides; the middle when that is of no use. */
static double aim(const bracket *b, int step)
{
    const double width = b->within - b->over, middle = b->over + width / 2;
    if (step % 4 == 3 || !isfinite(b->at_over) || !isfinite(b->at_within))
        return middle;
    const double root = b->over + width * b->at_over / (b->at_over - b->at_within);
    const double nudge = fmin(PRECISION / 2, width / 4);
    /* alternate sides: once the line is good, two steps end it */
    const double x = step % 2 ? root - nudge : root + nudge;
    return x > b->over + nudge / 2 && x < b->within - nudge / 2 ? x : middle;
}

static tacit_status close_in(task *t, bracket *b, tacit_error *err)
{
    for (int k = 0; k < MOST_STEPS && b->within - b->over > PRECISION * 1.5; k++) {
        double x = aim(b, k), at;
        tacit_status status = excess(t, x, &at, err);
        if (status)
            return status;
        if (at <= 0)
            b->within = x, b->at_within = at;
        else
            b->over = x, b->at_over = at;
    }
    return TACIT_OK;
}

tacit_status tacit_account_calibrate(tacit_accountant by, const tacit_loss *loss,
                                     const tacit_loss *spent, size_t spent_count, double epsilon,
                                     double delta, double *noise, tacit_error *err)
{
    if ((unsigned)by >= TACIT_ACCOUNTANTS)
        return tacit_fail(err, TACIT_EINPUT, "unknown accountant \"%d\"", (int)by);
    tacit_status status = check(loss, epsilon, delta, err);
    if (status)
        return status;
    size_t count, bytes;
    task t = {.by = by,
              .epsilon = epsilon,
              .delta = delta,
              .inverse = loss->kind == TACIT_LOSS_PURE || loss->kind == TACIT_LOSS_RESPONSE};
    if (!tacit_add_size(spent_count, 1, &count) || !tacit_mul_size(count, sizeof *t.list, &bytes) ||
        !(t.list = malloc(bytes)))
        return tacit_out_of_memory(err);
    t.count = count;
    if (spent_count > 0)
        memcpy(t.list, spent, spent_count * sizeof *t.list);
    t.list[spent_count] = *loss;
    t.list[spent_count].noise = t.list[spent_count].epsilon = 1;
    bracket b = {0};
    status = check_spent(&t, err);
    if (!status) {
        double x, step;
        first_guess(&t, loss, &x, &step);
        status = find_bracket(&t, x, step, &b, err);
    }
    if (!status)
        status = close_in(&t, &b, err);
    if (!status)
        *noise = value_at(&t, b.within);
    free(t.list);
    return status;
}
