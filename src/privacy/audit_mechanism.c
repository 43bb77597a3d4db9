/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The canary-gradient audit (Nasr et al. 2023) of a mechanism as it is: every trial reserves a
 * permit, clips a vector that is far too long, and releases it, by the road that training takes.
 * The adversary knows all but whether the canary was there, so the score is the likelihood ratio
 * of what came out, and what the audit finds should come near the claim.
 *
 * The broken twins leave that road at one place each, by hand; what is claimed stays the same.
 */
#include <math.h>
#include <stdlib.h>

#include "base/scratch.h"
#include "privacy/audit.h"
#include "privacy/release.h"

#define RADIUS 1.0
#define TOO_LONG 10.0

const char *const tacit_audit_breaks[] = {"none",       "half-noise",  "no-clipping",
                                          "wrong-norm", "reused-seed", NULL};

double tacit_audit_likelihood(tacit_mechanism mechanism, double noise, size_t count,
                              const double *seen, const double *with, const double *without)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        const double near = seen[k] - with[k], far = seen[k] - without[k];
        if (mechanism == TACIT_MECHANISM_LAPLACE)
            sum += (fabs(far) - fabs(near)) / noise;
        else /* (far^2 - near^2) / 2 without cancellation */
            sum += (with[k] - without[k]) * (far + near) / 2;
    }
    return mechanism == TACIT_MECHANISM_GAUSSIAN ? sum / (noise * noise) : sum;
}

/* ---- what all trials share ---- */

typedef struct bench {
    const tacit_audited *what;
    tacit_cost cost; /* as claimed */
    tacit_cost used; /* as released: the same, unless broken */
    tacit_costs *costs;
    tacit_budget budget;
    tacit_random random;
    tacit_shape shape;
    tacit_vector *canary, *absent; /* before clipping */
    double *with, *without;        /* what the adversary expects to come out */
    tacit_scratch **scratch;       /* one a worker */
    uint32_t workers;
} bench;

static tacit_status plan_cost(bench *b, tacit_error *err)
{
    const tacit_audited *w = b->what;
    const bool laplace = w->mechanism == TACIT_MECHANISM_LAPLACE;
    const tacit_privacy_options options = {.mechanism = (int)w->mechanism,
                                           .epsilon = w->epsilon,
                                           .delta = w->delta,
                                           .unit = TACIT_UNIT_USER,
                                           .adjacency = (int)w->adjacency,
                                           .clip = RADIUS,
                                           .releases = 1,
                                           .accountant = laplace ? TACIT_BY_SUM : TACIT_BY_GDP};
    b->budget = (tacit_budget){.epsilon = INFINITY,
                               .delta = w->delta,
                               .trust = TACIT_TRUST_LOCAL,
                               .accountant = (tacit_accountant)options.accountant};
    tacit_status status = tacit_cost_plan(&b->cost, &options, w->coordinates, "canary", err);
    b->used = b->cost;
    if (!status && w->broken == TACIT_HALF_NOISE)
        status = tacit_cost_on_grid(&b->used, RADIUS, b->cost.noise / 2, err);
    return status;
}

static tacit_vector *new_vector(const tacit_shape *shape)
{
    tacit_vector *v = calloc(1, sizeof *v + shape->bytes);
    if (v)
        tacit_vector_init(v, shape, TACIT_VECTOR_SECRET);
    return v;
}

/* All of a Laplace canary is in one coordinate, where l1 noise hides least. */
static void place_canary(bench *b)
{
    const tacit_audited *w = b->what;
    const bool one = w->mechanism == TACIT_MECHANISM_LAPLACE && w->broken != TACIT_WRONG_NORM;
    const double n = (double)w->coordinates, size = RADIUS * (one ? 1 : 1 / sqrt(n));
    const double kept = w->broken == TACIT_NO_CLIPPING ? TOO_LONG : 1;
    for (size_t k = 0; k < w->coordinates; k++) {
        const double x = one && k > 0 ? 0 : size;
        const double other = w->adjacency == TACIT_REPLACE ? -x : 0;
        tacit_vector_set(b->canary, 0, k, TOO_LONG * x);
        tacit_vector_set(b->absent, 0, k, TOO_LONG * other);
        b->with[k] = kept * x;
        b->without[k] = kept * other;
    }
}

static tacit_status make_room(bench *b, tacit_error *err)
{
    const size_t n = b->what->coordinates;
    const tacit_segment segment = {"canary", TACIT_F64, n};
    tacit_status status = tacit_shape_init(&b->shape, &segment, 1, err);
    if (status)
        return status;
    b->canary = new_vector(&b->shape);
    b->absent = new_vector(&b->shape);
    b->with = calloc(n, sizeof *b->with);
    b->without = calloc(n, sizeof *b->without);
    b->costs = tacit_costs_create();
    b->scratch = calloc(b->workers, sizeof *b->scratch);
    if (!b->canary || !b->absent || !b->with || !b->without || !b->costs || !b->scratch)
        return tacit_out_of_memory(err);
    for (uint32_t w = 0; w < b->workers; w++)
        if (!(b->scratch[w] = tacit_scratch_create()))
            return tacit_out_of_memory(err);
    return TACIT_OK;
}

static void clear(bench *b)
{
    for (uint32_t w = 0; b->scratch && w < b->workers; w++)
        tacit_scratch_free(b->scratch[w]);
    free(b->scratch);
    tacit_costs_free(b->costs);
    free(b->canary);
    free(b->absent);
    free(b->with);
    free(b->without);
    tacit_random_clear(&b->random);
}

/* ---- one trial ---- */

/* The twins that do not clip, or not in the norm of the noise. */
static tacit_status bound_badly(const bench *b, tacit_permit *permit, const double *value,
                                tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    tacit_status status = tacit_bounded_on_grid(out, permit, &b->shape, scratch, err);
    for (size_t k = 0; !status && k < b->what->coordinates; k++)
        (*out)->steps[k] = (int64_t)rint(value[k] / tacit_cost_step(&b->used));
    return status;
}

static tacit_status release(const bench *b, tacit_ledger *ledger, const tacit_noise_source *source,
                            const tacit_vector *value, const double *bare, tacit_scratch *scratch,
                            tacit_public **out, tacit_error *err)
{
    const bool bad = b->what->broken == TACIT_NO_CLIPPING || b->what->broken == TACIT_WRONG_NORM;
    tacit_bounded *bounded = NULL;
    tacit_permit *permit = tacit_scratch_alloc(scratch, tacit_permit_size());
    if (!permit)
        return tacit_out_of_memory(err);
    tacit_status status =
        tacit_ledger_reserve(ledger, b->costs, &b->budget, &b->used, 0, permit, err);
    if (!status && b->what->broken == TACIT_REUSED_SEED)
        permit->id = 0;
    if (!status)
        status = bad ? bound_badly(b, permit, bare, scratch, &bounded, err)
                     : tacit_bound_vector(permit, tacit_vector_secret((tacit_vector *)value),
                                          scratch, &bounded, err);
    return status ? status : tacit_mechanism_apply(permit, bounded, source, out, err);
}

static tacit_status score_release(const bench *b, const tacit_audit_trial *trial,
                                  tacit_scratch *scratch, double *score, tacit_error *err)
{
    const size_t n = b->what->coordinates;
    const tacit_noise_source source = {.random = &b->random,
                                       .agent = 2 * trial->number + trial->with};
    tacit_ledger_entry room[1];
    tacit_ledger ledger = {0};
    tacit_public *out = NULL, *known = NULL;
    tacit_ledger_lend(&ledger, room, 1);
    double *seen = tacit_scratch_alloc(scratch, n * sizeof *seen);
    if (!seen)
        return tacit_out_of_memory(err);
    tacit_status status = release(b, &ledger, &source, trial->with ? b->canary : b->absent,
                                  trial->with ? b->with : b->without, scratch, &out, err);
    if (!status && b->what->broken == TACIT_REUSED_SEED)
        status = release(b, &ledger, &source, b->absent, b->without, scratch, &known, err);
    for (size_t k = 0; !status && k < n; k++) {
        seen[k] = tacit_public_get(out, 0, k);
        if (known) /* the noise is gone */
            seen[k] += b->without[k] - tacit_public_get(known, 0, k);
    }
    if (!status)
        *score =
            tacit_audit_likelihood(b->what->mechanism, b->cost.noise, n, seen, b->with, b->without);
    tacit_ledger_clear(&ledger);
    return status;
}

static tacit_status one_trial(void *ctx, const tacit_audit_trial *trial, double *score,
                              tacit_error *err)
{
    const bench *b = ctx;
    tacit_scratch *scratch = b->scratch[trial->worker];
    const tacit_scratch_mark mark = tacit_scratch_now(scratch);
    tacit_status status = score_release(b, trial, scratch, score, err);
    tacit_scratch_rewind(scratch, mark);
    return status;
}

/* ---- all of them ---- */

static tacit_status check(const tacit_audited *w, tacit_error *err)
{
    if (w->mechanism != TACIT_MECHANISM_GAUSSIAN && w->mechanism != TACIT_MECHANISM_LAPLACE)
        return tacit_fail(err, TACIT_EINPUT, "an audit of mechanism \"%s\" alone is not known",
                          tacit_mechanism_name(w->mechanism));
    if (!(w->epsilon > 0) || isinf(w->epsilon))
        return tacit_fail(err, TACIT_EINPUT, "epsilon must be a positive number, not %g",
                          w->epsilon);
    if (w->mechanism == TACIT_MECHANISM_GAUSSIAN && !(w->delta > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "Gaussian noise has no epsilon at delta 0; give a delta above 0");
    if (w->coordinates == 0 || w->coordinates > 1u << 24)
        return tacit_fail(err, TACIT_EINPUT, "a canary has 1 to 2^24 coordinates");
    if (w->broken == TACIT_WRONG_NORM && w->mechanism != TACIT_MECHANISM_LAPLACE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"wrong-norm\" is about Laplace noise; l2 is right for Gaussian noise");
    return TACIT_OK;
}

tacit_status tacit_audit_mechanism(tacit_audit *out, const tacit_audited *what,
                                   const tacit_audit_plan *plan, tacit_cost *cost, double *claimed,
                                   tacit_error *err)
{
    *out = (tacit_audit){0};
    tacit_audit_plan run = *plan;
    run.delta = what->delta;
    run.curve =
        what->mechanism == TACIT_MECHANISM_LAPLACE ? TACIT_CURVE_LAPLACE : TACIT_CURVE_GAUSSIAN;
    bench b = {.what = what, .workers = plan->threads ? plan->threads : 1};
    tacit_random_init(&b.random, plan->seed);
    tacit_status status = check(what, err);
    if (!status)
        status = plan_cost(&b, err);
    if (!status)
        status = make_room(&b, err);
    if (!status) {
        tacit_ledger_entry entry = {.cost = &b.cost, .releases = 1};
        const tacit_ledger one = {.entries = &entry, .count = 1, .capacity = 1};
        *cost = b.cost;
        *claimed = tacit_ledger_epsilon(&one, &b.budget);
        place_canary(&b);
        status = tacit_audit_run(out, &run, one_trial, &b, err);
    }
    clear(&b);
    return status;
}
