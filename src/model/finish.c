/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private finish: what an agent makes of a prior and of its raw records when nothing will be
 * sent any more (docs/protocols/finish.md).
 *
 *     theta = argmin (1/m) sum_r loss(theta; x_r, y_r) + (v/m) ||theta - a prior||^2
 *
 * Candidates are all (scale a, strength v) of a grid, and learning alone: a = 0, v = m lambda(m).
 * Each is judged by cross-validation on the agent's own records. Then either the best is fitted to
 * all of them, or all are, and averaged with weights exp(-sharpness * (sum of held-out losses)):
 * few records judge badly, and a mean of good models errs less than the one that was lucky. v
 * weighs the prior against a sum over records, so it means the same in a fold, which has fewer of
 * them. An agent with fewer than two records takes the first candidate.
 *
 * Invariants:
 *  1. Whatever is computed here stays here: it is written to a tacit_secret, and the choice to a
 *     struct whose numbers are secrets. Memory is wiped.
 *  2. The result depends on records, prior, options and seed, on nothing else.
 *  3. A prior with a number that is not finite is no prior; one so large that its fit fails is
 *     never chosen by cross-validation. If nothing else is left, the agent learns alone.
 *  4. Records that no doubles can fit are no error, which everybody would see: the agent keeps its
 *     prior.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "model/near.h"
#include "tacit/random.h"

#define TOLERANCE_CHOOSE 1e-8
#define TOLERANCE_FINAL 1e-13
#define NEGLIGIBLE 1e-4 /* weight of a model beside that of the best */

/* Sums over held-out records: of losses, and of what they differ by from the first candidate's. */
typedef struct tally {
    double loss, difference, square;
} tally;

typedef struct choice {
    const tacit_model *model;
    const tacit_finish *how;
    near_fit fit;
    uint32_t *fold;
    size_t candidates;
    tally *tally;           /* of each candidate */
    double *first;          /* m: losses of the first candidate */
    double *theta, *fitted; /* parameters: the weighted sum so far, one fit */
    double *spare;          /* classes */
} choice;

static bool is_alone(const choice *w, size_t k)
{
    return k == w->how->scales * w->how->strengths;
}

static double scale_of(const choice *w, size_t k)
{
    return is_alone(w, k) ? 0 : w->how->scale[k / w->how->strengths];
}

/* The weight of the prior beside the sum over `records` records. */
static double weight_of(const choice *w, size_t k, size_t records)
{
    if (is_alone(w, k))
        return tacit_model_lambda(w->model, records) * (double)records;
    return w->how->strength[k % w->how->strengths];
}

/* ---- cross-validation ---- */

/* Records are dealt to folds in turn, in an order that the seed says. */
static uint32_t deal_folds(choice *w)
{
    const size_t m = w->fit.m;
    const uint32_t folds = m < w->how->folds ? (uint32_t)m : w->how->folds;
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, w->how->seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_SPLIT, 0);
    for (size_t r = 0; r < m; r++)
        w->fold[r] = (uint32_t)(r % folds);
    for (size_t r = m; r-- > 1;) {
        const size_t other = tacit_stream_below(&stream, r + 1);
        const uint32_t fold = w->fold[r];
        w->fold[r] = w->fold[other];
        w->fold[other] = fold;
    }
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
    return folds;
}

/* Add the losses of candidate k on the records of fold `out`. */
static void judge(choice *w, size_t k, uint32_t out, bool fitted)
{
    tally *sums = &w->tally[k];
    for (size_t r = 0; r < w->fit.m; r++) {
        if (w->fold[r] != out)
            continue;
        double loss = near_loss(&w->fit, r, w->spare);
        if (!fitted || !isfinite(loss))
            loss = INFINITY;
        if (k == 0)
            w->first[r] = loss;
        const double difference = loss - w->first[r];
        sums->loss += loss;
        sums->difference += difference;
        sums->square += difference * difference;
    }
}

/* Strengths of one scale follow each other, each starting where the one before ended. */
static void try_fold(choice *w, uint32_t out)
{
    size_t records = 0;
    for (size_t r = 0; r < w->fit.m; r++)
        records += w->fold[r] != out;
    bool fitted = false;
    for (size_t k = 0; k < w->candidates; k++) {
        if (!fitted || k % w->how->strengths == 0)
            memset(w->fit.c, 0, w->fit.unknowns * sizeof(double));
        fitted = near_solve(&w->fit, &(near_aim){.scale = scale_of(w, k),
                                                 .weight = weight_of(w, k, records),
                                                 .fold = w->fold,
                                                 .out = out,
                                                 .tolerance = TOLERANCE_CHOOSE});
        judge(w, k, out, fitted);
    }
}

/* Is `k` better than the first candidate by the margin asked for? */
static bool is_clear(const choice *w, size_t k)
{
    const tally *sums = &w->tally[k];
    const double m = (double)w->fit.m, mean = sums->difference / m;
    const double variance = fmax(0, sums->square / m - mean * mean) / (m - 1);
    return !(w->how->margin > 0) || !isfinite(variance) || -mean > w->how->margin * sqrt(variance);
}

/* The best candidate; the first if nothing is to be judged. */
static size_t choose(choice *w)
{
    if (w->fit.m < 2 || w->how->choice == TACIT_FINISH_FIRST)
        return 0;
    const uint32_t folds = deal_folds(w);
    for (uint32_t out = 0; out < folds; out++)
        try_fold(w, out);
    size_t best = 0;
    for (size_t k = 1; k < w->candidates; k++)
        if (w->tally[k].loss < w->tally[best].loss)
            best = k;
    return best == 0 || is_clear(w, best) ? best : 0;
}

/* ---- the whole ---- */

static tacit_status check_grid(const tacit_finish *how, tacit_error *err)
{
    bool good = how->folds >= 2 && how->scales > 0 && how->strengths > 0 && how->scales <= 1000 &&
                how->strengths <= 1000 && how->sharpness >= 0 && how->margin >= 0 &&
                how->last >= 0 && isfinite(how->last);
    for (size_t k = 0; good && k < how->scales; k++)
        good = isfinite(how->scale[k]);
    for (size_t k = 0; good && k < how->strengths; k++)
        good = how->strength[k] > 0 && isfinite(how->strength[k]);
    return good ? TACIT_OK
                : tacit_fail(err, TACIT_EINPUT,
                             "a private finish needs two folds or more, finite scales, positive "
                             "strengths, and neither a negative sharpness nor margin");
}

/* Without records there is nothing to weigh: the prior as it is. */
static void adopt(const tacit_model *model, const tacit_public *prior, double scale,
                  tacit_secret *out)
{
    const tacit_vector *v = prior ? tacit_vector_of_public(prior) : NULL;
    bool finite = v != NULL;
    for (size_t k = 0; finite && k < model->parameters; k++)
        finite = isfinite(scale * tacit_vector_get(v, 0, k));
    for (size_t k = 0; k < model->parameters; k++)
        tacit_vector_set(tacit_vector_of_secret(out), 0, k,
                         finite ? scale * tacit_vector_get(v, 0, k) : 0);
}

/* theta += weight * (candidate k fitted to all records); false if that cannot be found. */
static bool add_fit(choice *w, size_t k, double weight)
{
    near_fit *fit = &w->fit;
    memset(fit->c, 0, fit->unknowns * sizeof(double));
    if (!near_solve(fit, &(near_aim){.scale = scale_of(w, k),
                                     .weight = weight_of(w, k, fit->m),
                                     .tolerance = TOLERANCE_FINAL}))
        return false;
    near_theta(fit, scale_of(w, k), w->fitted);
    for (size_t j = 0; j < w->model->parameters; j++)
        w->theta[j] += weight * w->fitted[j];
    return true;
}

/* theta becomes the model that was chosen, or the mean of all; false if there is none. */
static bool fit_all(choice *w, size_t best)
{
    const bool judged = w->fit.m > 1 && w->how->choice == TACIT_FINISH_MEAN;
    double sum = 0;
    for (size_t k = 0; k < w->candidates; k++) {
        double weight = k == best;
        if (judged)
            weight = exp(-w->how->sharpness * (w->tally[k].loss - w->tally[best].loss));
        if (weight > NEGLIGIBLE && add_fit(w, k, weight))
            sum += weight;
    }
    for (size_t j = 0; j < w->model->parameters && sum > 0; j++)
        w->theta[j] /= sum;
    return sum > 0;
}

static tacit_status start(choice *w, const tacit_shard *shard, const tacit_public *prior,
                          tacit_error *err)
{
    const double last = w->how->last > 0 ? 1 / sqrt(w->how->last) : 1;
    tacit_status status = near_init(&w->fit, w->model, shard, prior, last, err);
    if (status != TACIT_OK)
        return status;
    w->fold = calloc(w->fit.m, sizeof *w->fold);
    w->tally = calloc(w->candidates, sizeof *w->tally);
    w->first = calloc(w->fit.m, sizeof *w->first);
    w->theta = calloc(w->model->parameters, sizeof *w->theta);
    w->fitted = calloc(w->model->parameters, sizeof *w->fitted);
    w->spare = calloc(w->model->classes, sizeof *w->spare);
    return w->fold && w->tally && w->first && w->theta && w->fitted && w->spare
               ? TACIT_OK
               : tacit_out_of_memory(err);
}

static void wipe(void *memory, size_t bytes)
{
    if (memory)
        sodium_memzero(memory, bytes);
    free(memory);
}

static void clear(choice *w)
{
    wipe(w->tally, w->candidates * sizeof *w->tally);
    wipe(w->first, w->fit.m * sizeof *w->first);
    wipe(w->theta, w->model->parameters * sizeof *w->theta);
    wipe(w->fitted, w->model->parameters * sizeof *w->fitted);
    wipe(w->spare, w->model->classes * sizeof *w->spare);
    free(w->fold);
    near_clear(&w->fit);
}

tacit_status tacit_model_finish(const tacit_model *model, const tacit_shard *shard,
                                const tacit_public *prior, const tacit_finish *how,
                                tacit_secret *out, tacit_finished *chosen, tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "the private finish", err);
    tacit_status status = check_grid(how, err);
    if (status != TACIT_OK)
        return status;
    const size_t m = tacit_shard_rows(shard);
    *chosen = (tacit_finished){{how->scale[0]}, {how->strength[0]}, {NAN}};
    if (m == 0) {
        adopt(model, prior, how->scale[0], out);
        return TACIT_OK;
    }
    choice w = {.model = model, .how = how, .candidates = how->scales * how->strengths + 1};
    status = start(&w, shard, prior, err);
    if (status != TACIT_OK)
        goto out;
    const size_t best = choose(&w);
    *chosen = (tacit_finished){
        {scale_of(&w, best)},
        {weight_of(&w, best, m)},
        {m > 1 && how->choice != TACIT_FINISH_FIRST ? w.tally[best].loss / (double)m : NAN}};
    if (!fit_all(&w, best)) {
        status = tacit_model_solve(model, shard, out, err);
        goto out;
    }
    for (size_t k = 0; k < model->parameters; k++)
        tacit_vector_set(tacit_vector_of_secret(out), 0, k, w.theta[k]);
out:
    clear(&w);
    if (status == TACIT_EINPUT) { /* whether records can be fitted is their owner's secret */
        adopt(model, prior, how->scale[0], out);
        status = TACIT_OK;
    }
    return status;
}
