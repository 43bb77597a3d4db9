/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accountant that composes the privacy loss itself, and its optimistic twin. For each
 * direction (record removed, record added; one suffices where nothing is sampled under
 * add-remove): pairs, a plan, laws on a grid, their convolution, and epsilon or delta read off.
 * The answer is the worse direction's.
 *
 * The direction that looks better is only looked at coarsely, unless that does not settle it: a
 * coarse bound is still a bound.
 *
 * A list of Gaussians without sampling has an exact answer, which is given instead.
 */
#include "privacy/pld.h"
#include "privacy/account.h"
#include "privacy/loss.h"

#include <math.h>
#include <stdlib.h>

#define FINE 1e-5           /* wanted relative error of epsilon from the grid */
#define COARSE 1e-3         /* for the direction that hardly matters */
#define LOG_NEGLIGIBLE 12.0 /* what is cut off is e^-12 of delta */
#define LOG_LEAST_DELTA -690.0
#define MOST_ROUNDS 4

/* A question: one of epsilon and delta, given the other. */
typedef struct question {
    const tacit_loss *loss;
    size_t count;
    bool by_delta; /* delta is given */
    double given;
    bool optimistic;
    double infinite; /* mass at infinity that the losses bring along */
    double log_kept; /* log of the mass that is finite, as far as it is known */
} question;

/* One direction, ready to be computed. */
typedef struct side {
    size_t count;
    bool complete;
    pld_pair *pair;
    pld_shape *shape;
    pld_sketch *sketch;
    pld_tilt tilt;
    double releases;
} side;

static void side_clear(side *s)
{
    for (size_t k = 0; s->sketch && k < s->count; k++)
        pld_sketch_clear(&s->sketch[k]);
    free(s->pair);
    free(s->shape);
    free(s->sketch);
    *s = (side){0};
}

static tacit_status sketch_all(side *s, const question *q, double cut, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < s->count && !status; k++) {
        pld_sketch_clear(&s->sketch[k]);
        pld_shape_of(&s->shape[k], &s->pair[k], cut);
        status = pld_sketch_build(&s->sketch[k], &s->pair[k], &s->shape[k], q->optimistic, err);
    }
    return status;
}

/* The tilt, and tails cut where they do not matter. */
static tacit_status prepare(side *s, const question *q, tacit_error *err)
{
    const double many = log(s->releases + 1) + LOG_NEGLIGIBLE;
    double log_delta = q->by_delta ? fmax(log(q->given - q->infinite), LOG_LEAST_DELTA) : -40;
    tacit_status status = sketch_all(s, q, many - log_delta, err);
    if (status)
        return status;
    if (q->by_delta) {
        s->tilt = pld_tilt_for_delta(s->sketch, s->count, log_delta);
        return TACIT_OK;
    }
    for (int round = 0; round < 2 && !status; round++) {
        s->tilt = pld_tilt_for_epsilon(s->sketch, s->count, q->given);
        log_delta = fmax(pld_tilt_log_delta(&s->tilt), LOG_LEAST_DELTA);
        status = sketch_all(s, q, many - fmin(log_delta, 0), err);
    }
    return status;
}

static tacit_status side_open(side *s, const question *q, bool add, tacit_error *err)
{
    size_t bytes;
    *s = (side){0};
    if (!tacit_mul_size(q->count + 1, sizeof *s->pair, &bytes))
        return tacit_out_of_memory(err);
    s->pair = malloc(bytes);
    s->shape = calloc(q->count + 1, sizeof *s->shape);
    s->sketch = calloc(q->count + 1, sizeof *s->sketch);
    if (!s->pair || !s->shape || !s->sketch)
        return tacit_out_of_memory(err);
    s->count = pld_pairs(s->pair, q->loss, q->count, add, q->optimistic, &s->complete);
    for (size_t k = 0; k < s->count; k++)
        s->releases += s->pair[k].times;
    return s->count > 0 ? prepare(s, q, err) : TACIT_OK;
}

/* The worst answer there is for this kind of bound. */
static double worthless(const question *q)
{
    if (q->optimistic)
        return 0;
    return q->by_delta ? INFINITY : 1;
}

/* What one computation finds: besides the answer, the slope of -log delta there and the error
 * that the grid has probably made. */
typedef struct finding {
    double answer, slope, error;
} finding;

static tacit_status compute(finding *f, const side *s, const question *q, const pld_plan *plan,
                            tacit_error *err)
{
    pld_curve curve;
    tacit_status status =
        pld_curve_build(&curve, s->pair, s->shape, s->sketch, s->count, plan, q->optimistic, err);
    if (!status) {
        const pld_grid *grid = &plan->grid;
        curve.infinite += q->infinite;
        curve.log_mgf += q->log_kept;
        f->answer = q->by_delta ? pld_curve_epsilon(&curve, q->given, q->optimistic, &f->slope)
                                : pld_curve_delta(&curve, q->given, q->optimistic, &f->slope);
        f->error = grid->exact
                       ? 0
                       : pld_predicted_error(s->sketch, s->count, grid->tilt, f->slope, grid->step);
    }
    pld_curve_clear(&curve);
    return status;
}

/* The error that is wished for, given where the answer seems to be. */
static double wished_error(const question *q, double epsilon, double slope, double precision)
{
    return q->by_delta ? precision * epsilon : fmin(precision * epsilon, 10 * precision / slope);
}

/* Plans rest on estimates, which are poor for a few releases of a law that is far from normal:
 * with the answer at hand they are made again, if they were far off. */
static tacit_status side_answer(double *answer, const side *s, const question *q, double precision,
                                tacit_error *err)
{
    *answer = worthless(q);
    if (!s->complete && !q->optimistic)
        return TACIT_OK;
    if (s->count == 0) { /* nothing can be told apart */
        *answer = q->by_delta ? 0 : q->infinite;
        return TACIT_OK;
    }
    const double least = s->tilt.deviation / 1000;
    double epsilon = fmax(s->tilt.mean, s->tilt.deviation / 50), step = INFINITY;
    finding f = {.slope = s->tilt.tilt, .error = INFINITY};
    for (int round = 0; round < MOST_ROUNDS && isfinite(epsilon); round++) {
        pld_plan plan;
        const pld_wish wish = {wished_error(q, epsilon, f.slope, precision), f.slope};
        if (!pld_plan_make(&plan, &s->tilt, &wish, s->pair, s->sketch, s->count) ||
            !(plan.grid.step < step) ||
            f.error <= fmax(2, 1.2 * pld_lenience((double)plan.length)) * wish.error)
            break;
        tacit_status status = compute(&f, s, q, &plan, err);
        if (status)
            return status;
        *answer = q->optimistic ? fmax(*answer, f.answer) : fmin(*answer, f.answer);
        epsilon = fmax(q->by_delta ? *answer : q->given, least);
        step = plan.grid.step;
    }
    return TACIT_OK;
}

static bool two_sided(const tacit_loss *loss, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (loss[k].adjacency == TACIT_ADD_REMOVE && loss[k].sampling < 1)
            return true;
    return false;
}

/* Mass at infinity: all failures from above; from below only what is attained. */
static void count_failures(question *q)
{
    if (!q->optimistic) {
        q->infinite = tacit_losses_failure(q->loss, q->count);
        return;
    }
    double log_none = 0;
    for (size_t k = 0; k < q->count; k++)
        if (q->loss[k].kind == TACIT_LOSS_APPROXIMATE) {
            const double times = (double)q->loss[k].count, delta = q->loss[k].delta;
            q->log_kept += times * log1p(-delta);
            log_none += times * log1p(-delta * q->loss[k].sampling);
        }
    q->infinite = -expm1(log_none);
}

/* Which of the two directions looks worse. */
static int worse_side(const side s[2], const question *q)
{
    if (q->by_delta)
        return s[1].tilt.mean > s[0].tilt.mean;
    return pld_tilt_log_delta(&s[1].tilt) > pld_tilt_log_delta(&s[0].tilt);
}

static tacit_status both_sides(double *answer, const question *q, tacit_error *err)
{
    side s[2] = {{0}, {0}};
    const bool two = two_sided(q->loss, q->count);
    double other = 0;
    tacit_status status = side_open(&s[0], q, false, err);
    if (!status && two)
        status = side_open(&s[1], q, true, err);
    const int worse = !status && two ? worse_side(s, q) : 0;
    if (!status)
        status = side_answer(answer, &s[worse], q, FINE, err);
    if (!status && two)
        status = side_answer(&other, &s[!worse], q, COARSE, err);
    if (!status && two && other > (q->optimistic ? 0.995 : 1) * *answer)
        status = side_answer(&other, &s[!worse], q, FINE, err);
    *answer = fmax(*answer, other);
    side_clear(&s[0]);
    side_clear(&s[1]);
    return status;
}

/* What the sum of pure epsilons says: exact at delta = 0, and never beaten from above. */
static double pure_sum(const question *q)
{
    double sum = 0;
    for (size_t k = 0; k < q->count; k++)
        sum += (double)q->loss[k].count * tacit_loss_pure(&q->loss[k]);
    return sum * (1 + 1e-15);
}

/* Whether the total variation of all releases is within delta: then epsilon is 0. One release
 * changes by the sampling rate at most, and by shift over noise or epsilon if that is less. */
static bool hardly_anything(const question *q)
{
    double total = 0;
    for (size_t k = 0; k < q->count; k++) {
        const tacit_loss *l = &q->loss[k];
        const bool pure = l->kind == TACIT_LOSS_PURE || l->kind == TACIT_LOSS_APPROXIMATE ||
                          l->kind == TACIT_LOSS_RESPONSE;
        const double change = pure ? l->epsilon : l->shift / l->noise;
        total += (double)l->count * l->sampling * fmin(1, change);
    }
    return q->by_delta && !q->optimistic && total * (1 + 1e-12) <= q->given - q->infinite;
}

static bool only_plain_gaussians(const question *q)
{
    for (size_t k = 0; k < q->count; k++)
        if (q->loss[k].kind != TACIT_LOSS_GAUSSIAN || q->loss[k].sampling < 1)
            return false;
    return true;
}

/* The exact answer; its last digits are rounded up, so a lower bound takes some off. */
static tacit_status plain_gaussians(double *answer, const question *q, tacit_error *err)
{
    tacit_account_function *exact =
        q->by_delta ? tacit_account_gdp.epsilon : tacit_account_gdp.delta;
    if (!q->optimistic)
        return exact(q->loss, q->count, q->given, answer, err);
    double squares = 0;
    for (size_t k = 0; k < q->count; k++) {
        const double ratio = q->loss[k].shift / q->loss[k].noise;
        squares += (double)q->loss[k].count * ratio * ratio;
    }
    const tacit_loss all = {.kind = TACIT_LOSS_GAUSSIAN,
                            .adjacency = TACIT_REPLACE,
                            .noise = 1,
                            .shift = sqrt(squares),
                            .sampling = 1,
                            .count = 1};
    tacit_status status = exact(&all, 1, q->given, answer, err);
    *answer *= 1 - 1e-10;
    return status;
}

static tacit_status ask(double *answer, question q, tacit_error *err)
{
    *answer = NAN;
    for (size_t k = 0; k < q.count; k++)
        if (q.loss[k].kind == TACIT_LOSS_ZCDP || q.loss[k].kind == TACIT_LOSS_BARE)
            return TACIT_OK;
    count_failures(&q);
    if (only_plain_gaussians(&q))
        return plain_gaussians(answer, &q, err);
    const double pure = pure_sum(&q);
    *answer = q.by_delta ? pure : fmin(1, q.infinite);
    if (q.by_delta && q.given < q.infinite)
        *answer = INFINITY;
    if (q.by_delta ? q.given <= q.infinite : q.given >= pure)
        return TACIT_OK;
    if (hardly_anything(&q)) {
        *answer = 0;
        return TACIT_OK;
    }
    tacit_status status = both_sides(answer, &q, err);
    if (q.by_delta)
        *answer = fmin(*answer, pure);
    return status;
}

/* Two upper bounds are one, the smaller: what Renyi's divergences prove is never given away where
 * the grid meets its limits. */
static tacit_status no_worse_than_rdp(double *answer, tacit_account_function *rdp,
                                      const tacit_loss *loss, size_t count, double given,
                                      tacit_error *err)
{
    double other = NAN;
    if (isnan(*answer) || *answer == 0)
        return TACIT_OK;
    tacit_status status = rdp(loss, count, given, &other, err);
    *answer = fmin(*answer, other * (1 + 1e-12)); /* its last digits; NAN: nothing to say */
    return status;
}

static tacit_status pld_epsilon(const tacit_loss *loss, size_t count, double delta, double *epsilon,
                                tacit_error *err)
{
    tacit_status status =
        ask(epsilon, (question){loss, count, .by_delta = true, .given = delta}, err);
    return status ? status
                  : no_worse_than_rdp(epsilon, tacit_account_rdp.epsilon, loss, count, delta, err);
}

static tacit_status pld_delta(const tacit_loss *loss, size_t count, double epsilon, double *delta,
                              tacit_error *err)
{
    tacit_status status =
        ask(delta, (question){loss, count, .by_delta = false, .given = epsilon}, err);
    return status ? status
                  : no_worse_than_rdp(delta, tacit_account_rdp.delta, loss, count, epsilon, err);
}

static tacit_status optimistic_epsilon(const tacit_loss *loss, size_t count, double delta,
                                       double *epsilon, tacit_error *err)
{
    return ask(epsilon,
               (question){loss, count, .by_delta = true, .given = delta, .optimistic = true}, err);
}

static tacit_status optimistic_delta(const tacit_loss *loss, size_t count, double epsilon,
                                     double *delta, tacit_error *err)
{
    return ask(delta,
               (question){loss, count, .by_delta = false, .given = epsilon, .optimistic = true},
               err);
}

const tacit_account_ops tacit_account_pld = {.epsilon = pld_epsilon, .delta = pld_delta};
const tacit_account_ops tacit_account_pld_optimistic = {.epsilon = optimistic_epsilon,
                                                        .delta = optimistic_delta};
