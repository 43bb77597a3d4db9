/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local model that may be published: the minimiser over theta of
 *
 *     (1/m) sum_r log(1 + exp(-y_r x_r . theta)) + lambda |theta|^2      (+ b . theta / m)
 *
 * with noise on it (output perturbation) or with noise b in it (objective perturbation: Chaudhuri,
 * Monteleoni, Sarwate 2011; approximate minima: Iyengar et al. 2019). Rows are cut to |x| <= R, a
 * public radius, and lambda is of this model's own. docs/release.md ("A local model") has the
 * proofs; here is what they need:
 *
 *  1. With Lambda = 2 m lambda and u_r = -y_r x_r the problem is that of logit.h; its solver is
 * within a public gap d of the minimiser, always.
 *  2. Output: one record replaced moves the minimiser by at most S = 2 R s / Lambda, s the largest
 *     slope a minimiser can meet. What is released is theta over q = S + 2d (l1: times sqrt(p)), so
 *     the sensitivity is 1 + rounding for every agent, one cost serves all, and q is a public
 * factor.
 *  3. Objective: the cost says mu. A thousandth of mu^2 is for what is added to the output, which
 *     covers the solver's gap and b's rounding; the rest, by the theorem in release.md, for b.
 *  4. No error depends on records: NaN becomes a row of zeros, labels are signs.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "math/special.h"
#include "model/linear.h"
#include "model/logit.h"
#include "privacy/release.h"

#define MAX_FEATURES 5000
#define MOST_WORK 1e14    /* multiplications of the slow way, in the worst case */
#define MOST_STEPS 0x1p50 /* a coordinate, so that doubles hold its steps to a quarter */
#define ROUNDED 2.0       /* steps that rounding moves a coordinate's difference by, at most */
/* Objective perturbation. */
#define W_STEPS 29.0  /* a coordinate of b from the continuous one: exp(-28^2/8), and rounding */
#define B_SIGMAS 15.0 /* a coordinate of b, beyond which it is cut: 2 exp(-112) */
#define OUT_PART 33.0 /* mu of the output's noise is below 1/32 of the cost's */
#define BUDGET_LEFT (1 - 1. / 1024)
#define OBJECTIVE_MOST 100.0 /* told: beyond, what misses from 1 underflows */

/* ---- records as vectors ---- */

static tacit_status take_records(const tacit_model *model, const tacit_shard *shard, double radius,
                                 double **out, size_t *bytes, tacit_error *err)
{
    size_t p = model->features, doubles;
    double *row = NULL;
    if (tacit_mul_size(tacit_shard_rows(shard), p, &doubles) &&
        tacit_mul_size(doubles, sizeof *row, bytes))
        row = malloc(*bytes);
    if (!(*out = row))
        return tacit_out_of_memory(err);
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++, row += p) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, row, &y);
            tacit_logit_take(p, radius, y, row);
        }
    return TACIT_OK;
}

/* ---- what may be asked for ---- */

static tacit_status check_local(const tacit_model *model, const tacit_local *how, tacit_error *err)
{
    tacit_status status = tacit_refuse_softmax(model, "a local model with noise", err);
    if (status != TACIT_OK)
        return status;
    if (model->loss != TACIT_LOGISTIC)
        return tacit_fail(err, TACIT_EINPUT,
                          "one record can move the minimiser of the squared loss by any amount: no "
                          "noise covers it; publish statistics of the records instead");
    if (model->features > MAX_FEATURES)
        return tacit_fail(err, TACIT_EINPUT,
                          "a local model with noise takes at most %d features, the data has %zu",
                          MAX_FEATURES, model->features);
    const double lambda = how->lambda > 0 ? how->lambda : how->lambda_records;
    if (!(how->radius >= 1e-9 && how->radius <= 1e9) || !(lambda >= 1e-12 && lambda <= 1e12))
        return tacit_fail(err, TACIT_EINPUT,
                          "a local model with noise needs a radius between 1e-9 and 1e9 and a "
                          "regulariser between 1e-12 and 1e12, not %g and %g",
                          how->radius, lambda);
    return TACIT_OK;
}

static tacit_status check_cost(const tacit_cost *cost, const tacit_local *how, tacit_error *err)
{
    if (cost->adjacency != TACIT_REPLACE || (cost->sampling > 0 && cost->sampling < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" is a function of all records and of their number: it needs "
                          "\"privacy.adjacency: replace\" and no sampling",
                          cost->what);
    if (how->perturbation == TACIT_PERTURB_OBJECTIVE &&
        (cost->mechanism != TACIT_MECHANISM_GAUSSIAN || cost->unit != TACIT_UNIT_RECORD))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"perturbation: objective\" is proven for \"privacy.mechanism: "
                          "gaussian\" and \"privacy.unit: record\" only");
    return TACIT_OK;
}

/* Steps that rounding adds to the norm of a difference. */
static double rounding_steps(tacit_norm norm, size_t p)
{
    return ROUNDED * (norm == TACIT_L1 ? (double)p : sqrt((double)p)) + 1;
}

tacit_status tacit_model_local_cost(const tacit_model *model, tacit_cost *cost,
                                    const tacit_privacy_options *options, double epsilon,
                                    const tacit_local *how, tacit_error *err)
{
    const tacit_norm norm = options->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_L1 : TACIT_L2;
    tacit_privacy_options o = *options;
    o.epsilon = epsilon;
    o.releases = 1;
    const tacit_cost wish = {.mechanism = (tacit_mechanism)o.mechanism,
                             .unit = (tacit_unit)o.unit,
                             .adjacency = (tacit_adjacency)o.adjacency,
                             .sampling = o.sampling,
                             .what = "local model"};
    tacit_status status = check_local(model, how, err);
    if (status == TACIT_OK)
        status = check_cost(&wish, how, err);
    double step = options->claimed ? 0x1p-15 : 0x1p-24;
    for (int tries = 0; status == TACIT_OK && tries < 20; tries++, step *= 2) {
        const double need = 1 + rounding_steps(norm, model->features) * step;
        o.clip = need / 2 + step;
        status = tacit_cost_plan(cost, &o, model->features, wish.what, err);
        /* Much noise has a coarser grid, whose rounding the radius did not count on. */
        if (status == TACIT_OK && tacit_cost_step(cost) <= step)
            return TACIT_OK;
    }
    if (status != TACIT_OK)
        return status;
    return tacit_fail(err, TACIT_EINPUT,
                      "the noise of \"local model\" is more than its grid can hold; raise epsilon");
}

/* ---- output ---- */

/* The largest slope at a minimiser: |theta*| <= R s / (2 lambda), where slopes are at most
 * sigma(R |theta*|); 1 is true, and each round makes something true smaller. */
static double slope_most(double radius, double lambda)
{
    double s = 1;
    for (int k = 0; k < 40; k++)
        s = fmin(1, (1 + 0x1p-40) / (1 + exp(-radius * radius * s / (2 * lambda))));
    return s;
}

static void to_steps(const double *theta, double q, tacit_bounded *b)
{
    for (size_t k = 0; k < b->coordinates; k++)
        b->steps[k] = (int64_t)fmax(-2 * MOST_STEPS, fmin(2 * MOST_STEPS, rint(theta[k] / q)));
}

static tacit_status release_output(const tacit_logit *f, const tacit_cost *cost, double radius,
                                   double *theta, tacit_bounded *b, tacit_error *err)
{
    const double lambda = f->ridge / (2 * (double)f->rows);
    const double step = tacit_cost_step(cost), p = (double)f->p;
    const double units = cost->unit == TACIT_UNIT_USER ? (double)f->rows : 1;
    const double moved = units * 2 * radius * slope_most(radius, lambda) / f->ridge;
    const double gap = tacit_logit_gap(f, moved * 0x1p-24);
    double q = (moved + 2 * gap) * (cost->norm == TACIT_L1 ? sqrt(p) : 1) * (1 + 0x1p-40);
    q = fmax(q * step, tacit_logit_span(f) / MOST_STEPS);
    if (1 + rounding_steps(cost->norm, f->p) * step > cost->sensitivity)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the cost of \"%s\" was not planned for it: tacit_model_local_cost does",
                          cost->what);
    tacit_status status = tacit_logit_solve(f, gap, theta, err);
    if (status == TACIT_OK)
        to_steps(theta, q, b);
    b->factor = q / step;
    return status;
}

/* ---- objective ---- */

/* The largest mu with 2 Phi(mu/2) - 1 <= delta, the hockey stick at c = log(1 + curve) of two
 * Gaussians `told`/2 apart: release.md. Near 1 by what is missing from 1, so that nothing cancels.
 */
double tacit_objective_mu(double told, double curve)
{
    const double c = log1p(curve), h = told / 4, t = 2 * c / told;
    const double over = tacit_normal_cdf(h - t), under = exp(c) * tacit_normal_cdf(-h - t);
    const double delta = (over - under) * (1 - 1e-9) - 1e-13;
    const double missing = (tacit_normal_cdf(t - h) + under) * (1 + 1e-9);
    const bool high_end = over - under > 0.5;
    double low = 0, high = told / 2;
    for (int k = 0; k < 200 && delta > 1e-6; k++) {
        const double middle = (low + high) / 2, z = middle / (2 * sqrt(2));
        *((high_end ? erfc(z) >= missing : erf(z) <= delta) ? &low : &high) = middle;
    }
    return low;
}

/* b on its grid, from a stream that no other release has. */
static tacit_status draw_tilt(const tacit_permit *permit, size_t p, double unit, double *tilt,
                              tacit_error *err)
{
    const double most = B_SIGMAS * permit->cost.noise / tacit_cost_step(&permit->cost);
    if (!permit->random || !permit->noise || !tacit_random_is_own(permit->random))
        return tacit_fail(err, TACIT_EINTERNAL, "there is nothing to draw the noise of \"%s\" from",
                          permit->cost.what);
    tacit_stream stream; /* lots are for sampling, which this release has none of */
    const tacit_status status = tacit_permit_stream(&stream, permit, err);
    if (status != TACIT_OK)
        return status;
    for (size_t k = 0; k < p; k++) {
        int64_t z;
        tacit_noise_draw(permit->noise, &stream, 1, &z);
        tilt[k] = unit * fmax(-most, fmin(most, (double)z));
        sodium_memzero(&z, sizeof z);
    }
    tacit_stream_clear(&stream);
    return TACIT_OK;
}

static tacit_status release_objective(tacit_logit *f, const tacit_permit *permit, double radius,
                                      double *theta, tacit_bounded *b, tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    const double step = tacit_cost_step(cost), root = sqrt((double)f->p);
    const double shift = cost->sensitivity / step, noise = cost->noise / step;
    const double curve = radius * radius / (4 * f->ridge);
    const double mu = tacit_objective_mu(shift / noise * sqrt(BUDGET_LEFT) * (1 - 0x1p-40), curve);
    if ((f->p == 1 && noise < 4096) || !(shift / OUT_PART > 2 * ROUNDED * root) ||
        !(shift / noise < OBJECTIVE_MOST))
        return tacit_fail(err, TACIT_EINPUT,
                          "objective perturbation is not proven for as little noise as this; use "
                          "\"perturbation: output\"");
    if (!(mu > 0))
        return tacit_fail(
            err, TACIT_EINPUT,
            "objective perturbation with the regulariser %g of %zu records costs %.3g "
            "for its curvature alone, and this budget is less; raise "
            "\"warm-lambda\", or use \"perturbation: output\"",
            f->ridge / (2 * (double)f->rows), f->rows, log1p(curve));
    const double unit = radius / mu / sqrt(noise * noise - 4) * (1 + 0x1p-40);
    double *tilt = theta + f->p;
    f->tilt = tilt;
    f->tilt_most = B_SIGMAS * noise * unit * root * (1 + 0x1p-40);
    const double moved = W_STEPS * root * unit / f->ridge;
    const double gap = tacit_logit_gap(f, moved / 4);
    double q = 2 * (moved + gap) / (shift / OUT_PART - ROUNDED * root - 1) * (1 + 0x1p-20);
    q = fmax(q, tacit_logit_span(f) / MOST_STEPS);
    tacit_status status = draw_tilt(permit, f->p, unit, tilt, err);
    if (status == TACIT_OK)
        status = tacit_logit_solve(f, gap, theta, err);
    if (status == TACIT_OK)
        to_steps(theta, q, b);
    b->factor = q / step;
    return status;
}

/* ---- the kernel ---- */

static tacit_status check_work(const tacit_logit *f, tacit_error *err)
{
    const double gap = tacit_logit_gap(f, f->radius / f->ridge * 0x1p-30);
    if (tacit_logit_work(f, gap) <= MOST_WORK)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "a local model of %zu records with the regulariser %g may take days to solve "
                      "as precisely as its noise needs; raise \"warm-lambda\"",
                      f->rows, f->ridge / (2 * (double)f->rows));
}

tacit_status tacit_model_local_noisy(const tacit_model *model, tacit_permit *permit,
                                     const tacit_shard *shard, const tacit_local *how,
                                     tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const size_t records = tacit_shard_rows(shard), p = model->features;
    const double own = records ? how->lambda_records / (double)records : 0;
    const double lambda = how->lambda > 0 ? how->lambda : own;
    const double safe = how->radius * TACIT_LOGIT_CUT;
    tacit_status status = check_local(model, how, err);
    if (status == TACIT_OK)
        status = check_cost(&permit->cost, how, err);
    if (status == TACIT_OK && records == 0)
        status = tacit_fail(err, TACIT_EUSAGE, "an agent without records has no local model");
    tacit_logit f = {
        .rows = records, .p = p, .ridge = 2 * (double)records * lambda, .radius = safe};
    if (status == TACIT_OK)
        status = check_work(&f, err);
    if (status == TACIT_OK)
        status = tacit_bounded_on_grid(out, permit, &model->shape, scratch, err);
    double *u = NULL, *theta = calloc(2 * p, sizeof *theta);
    size_t bytes = 0;
    if (status == TACIT_OK && !theta)
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = take_records(model, shard, permit->cost.claimed ? INFINITY : how->radius, &u,
                              &bytes, err);
    f.u = u;
    if (status == TACIT_OK && permit->cost.claimed) /* as printed: nothing is cut */
        f.radius = tacit_logit_longest(&f);
    if (status == TACIT_OK)
        status = how->perturbation == TACIT_PERTURB_OUTPUT
                     ? release_output(&f, &permit->cost, safe, theta, *out, err)
                     : release_objective(&f, permit, safe, theta, *out, err);
    if (u)
        sodium_memzero(u, bytes);
    if (theta)
        sodium_memzero(theta, 2 * p * sizeof *theta);
    free(u);
    free(theta);
    return status;
}
