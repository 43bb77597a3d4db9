/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What collaborating is worth, from public numbers (docs/advise.md has the derivation).
 *
 * Units: records of length 1 in p features, models as unit vectors u_i. The statistic sum y x of
 * m records is m a u + sampling noise of variance m / p a coordinate, a^2 = S / p. So m records of
 * one's own are worth J = S m / p: they leave 1 / (1 + J) of the model unknown. Released with noise
 * sigma they are worth, to somebody whose model is the same,
 *
 *     J / (1 + p sigma^2 / m).
 *
 * What agent i knows in the end is then a matter of Gaussians: a prior of covariance K over i and
 * its neighbours, and an observation of each with that precision (i's own without noise),
 *
 *     V_i = K_ii - k^T (K + diag(1/w))^-1 k,   known: cos^2 = 1 - V_i,
 *     accuracy = 1 - arccos(cos) / pi.
 *
 * Chorus sums over r directions: with Q = C diag(m) C^T, direction l of eigenvalue q is known to
 * S/p q / (1 + p sigma^2 / q).
 *
 * Ticks of cd. One tick keeps r of the old model and takes 1 - r of a noisy gradient. After T of
 * them (noise T sigma^2 each) r^T of the start is left and noise has grown by
 * T (1-r)/(1+r) (1 - r^2T): theorem 2 of paper 000 with slip S1 corrected. The best T minimises
 * r^2T + N T (1-r)/(1+r) (1-r^2T), N the noise over the signal of one release. For the direction
 * alone, T ticks are worth one release with sigma^2 / f, f = (1-r^T)(1+r) / ((1+r^T) T (1-r)) <= 1.
 */
#include "experiment/advise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "model/dense.h"
#include "report/writer.h"
#include "tacit/account.h"

#define MOST_LOOKED_AT 300
#define MOST_WORK 200000000.0 /* edges times agents looked at */
#define MOST_NEIGHBOURS 120   /* the strongest */
#define MOST_TICKS 1000
#define RATIO 0.8 /* measured between 0.75 and 0.88: docs/budgets.md */
#define RANK 3    /* of chorus, as long as the graph has so many agents */

const tacit_assumed tacit_assumed_usually = {.signal = 0.5, .alike = 0.5, .gain = 0.005};

const char *tacit_strategy_name(tacit_strategy strategy)
{
    static const char *const names[] = {"alone", "cd", "one-shot", "chorus", "no privacy"};
    return names[strategy];
}

tacit_trust tacit_strategy_trust(tacit_strategy strategy)
{
    return strategy == TACIT_STRATEGY_ALONE    ? TACIT_TRUST_SILENT
           : strategy == TACIT_STRATEGY_CHORUS ? TACIT_TRUST_SECURE
                                               : TACIT_TRUST_LOCAL;
}

typedef struct asking {
    const tacit_session *session;
    const tacit_graph *graph;
    const tacit_assumed *guess;
    double p, signal;
    double strongest; /* edge */
    double gamma;     /* of a similarity graph; 0: weights have no angles */
    uint32_t looked_at, rank;
    double *basis;    /* chorus: looked at x rank directions */
    double *captured; /* chorus: share of an agent's model that so few directions can tell */
    double *mode;     /* eigenvalues of Q */
    double *room;     /* of an ego network */
    uint32_t *who;    /* the strongest neighbours of an agent */
    double *tie;      /* how alike they are */
    double ratio;
} asking;

static double records_of(const asking *a, uint32_t agent)
{
    return tacit_dataset_rows(a->session->source.data, agent, TACIT_TRAIN);
}

/* ---- who is how alike ---- */

/* Correlation of two models across an edge: the cosine that made a similarity graph, otherwise a
 * guess for the strongest edge and less for weaker ones. */
static double alike(const asking *a, double weight)
{
    if (a->gamma > 0)
        return fmin(1, fmax(-1, 1 + a->gamma * log(weight)));
    return a->guess->alike * sqrt(weight / a->strongest);
}

/* Two agents that both know a third, and each other perhaps. */
static double alike_over(const asking *a, double one, double two)
{
    return a->gamma > 0 ? cos(fmin(M_PI, acos(one) + acos(two))) : one * two;
}

static double weight_between(const tacit_graph *g, uint32_t i, uint32_t j)
{
    uint64_t low = g->row[i], high = g->row[i + 1];
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (g->neighbour[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->row[i + 1] && g->neighbour[low] == j ? g->weight[low] : 0;
}

typedef struct edge {
    double weight;
    uint32_t to;
} edge;

static int stronger(const void *one, const void *two)
{
    const edge *a = one, *b = two;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->to < b->to ? -1 : a->to > b->to;
}

/* Neighbours of `i`, the strongest first, at most MOST_NEIGHBOURS; NULL memory: none. */
static uint32_t strongest_of(const asking *a, uint32_t i)
{
    const tacit_graph *g = a->graph;
    const size_t count = (size_t)(g->row[i + 1] - g->row[i]);
    edge *all = malloc((count ? count : 1) * sizeof *all);
    if (!all)
        return 0;
    for (size_t k = 0; k < count; k++)
        all[k] = (edge){g->weight[g->row[i] + k], g->neighbour[g->row[i] + k]};
    qsort(all, count, sizeof *all, stronger);
    const uint32_t kept = count < MOST_NEIGHBOURS ? (uint32_t)count : MOST_NEIGHBOURS;
    for (uint32_t k = 0; k < kept; k++) {
        a->who[k] = all[k].to;
        a->tie[k] = alike(a, all[k].weight);
    }
    free(all);
    return kept;
}

/* ---- what is known in the end ---- */

/* What `records` are worth to others, released with noise of variance `noise`. */
static double worth(const asking *a, double records, double noise)
{
    if (!(records > 0))
        return 0;
    return a->signal * records / a->p / (1 + a->p * noise / records);
}

/* K over i's neighbours into `k`, row by row; `shrink` makes it positive definite. */
static void fill_kernel(const asking *a, uint32_t count, double shrink, double *k)
{
    for (uint32_t x = 0; x < count; x++)
        for (uint32_t y = 0; y <= x; y++) {
            const double weight = x == y ? 0 : weight_between(a->graph, a->who[x], a->who[y]);
            const double value = x == y       ? 1
                                 : weight > 0 ? alike(a, weight)
                                              : alike_over(a, a->tie[x], a->tie[y]);
            k[(size_t)x * count + y] = k[(size_t)y * count + x] = x == y ? 1 : value * shrink;
        }
}

/* Precision about agent i's model that its neighbours' releases bring, beside the prior's 1. */
static double from_neighbours(const asking *a, uint32_t i, double noise)
{
    const uint32_t count = strongest_of(a, i);
    double *k = a->room, *b = k + (size_t)count * count;
    for (double shrink = 1; shrink > 0.01; shrink *= 0.9) {
        fill_kernel(a, count, shrink, k);
        double explained = 0;
        bool silent = true;
        for (uint32_t x = 0; x < count; x++) {
            const double w = worth(a, records_of(a, a->who[x]), noise);
            silent = silent && !(w > 0);
            k[(size_t)x * count + x] += 1 / fmax(w, 1e-12);
            b[x] = a->tie[x] * shrink;
        }
        if (silent)
            return 0;
        if (!tacit_dense_solve(count, k, b))
            continue;
        for (uint32_t x = 0; x < count; x++)
            explained += b[x] * a->tie[x] * shrink;
        if (explained >= 0 && explained < 1)
            return explained / (1 - explained);
    }
    return 0;
}

static double from_chorus(const asking *a, uint32_t at, double noise)
{
    double unknown = 0, length = 0;
    for (uint32_t l = 0; l < a->rank; l++) {
        const double c = a->basis[(size_t)at * a->rank + l], q = a->mode[l];
        const double known = q > 0 ? a->signal / a->p * q / (1 + a->p * noise / q) : 0;
        unknown += c * c / (1 + known);
        length += c * c;
    }
    if (!(length > 0))
        return 0;
    const double known = a->captured[at] * (1 - unknown / length);
    return known / fmax(1 - known, 1e-9);
}

/* ---- ticks ---- */

/* One release with this much of the noise is worth as much as `ticks` that share the budget. */
static double direction_factor(double r, uint64_t ticks)
{
    const double t = (double)ticks, left = pow(r, t);
    return (1 - left) * (1 + r) / ((1 + left) * t * (1 - r));
}

/* Noise over signal of one release, neighbourhoods averaged. */
static double noise_to_signal(const asking *a, double noise)
{
    double sum = 0, count = 0;
    for (uint32_t k = 0; k < a->looked_at; k++) {
        const uint32_t i = tacit_sampled(a->graph->agents, a->looked_at, k);
        const double m = records_of(a, i);
        double squares = 0;
        for (uint64_t e = a->graph->row[i]; e < a->graph->row[i + 1]; e++)
            squares += a->graph->weight[e] * a->graph->weight[e];
        if (!(m > 0) || !(squares > 0))
            continue;
        const double together = a->graph->degree[i] * a->graph->degree[i] / squares;
        sum += a->p * a->p * noise / (a->signal * m * m) / together;
        count++;
    }
    return count > 0 ? sum / count : INFINITY;
}

static uint64_t best_ticks(const asking *a, double noise)
{
    const double r = a->ratio, n = noise_to_signal(a, noise);
    uint64_t best = 1;
    double least = INFINITY;
    for (uint64_t t = 1; t <= MOST_TICKS; t++) {
        const double left = pow(r, 2.0 * (double)t);
        const double error = left + n * (double)t * (1 - r) / (1 + r) * (1 - left);
        if (error < least) {
            least = error;
            best = t;
        }
    }
    return best;
}

/* ---- prospects ---- */

static double accuracy(double informed)
{
    return 1 - acos(sqrt(fmin(1, fmax(0, informed)))) / M_PI;
}

static double precision_of(const asking *a, tacit_strategy strategy, uint32_t at, double noise)
{
    const uint32_t i = tacit_sampled(a->graph->agents, a->looked_at, at);
    switch (strategy) {
    case TACIT_STRATEGY_CHORUS:
        return from_chorus(a, at, noise);
    case TACIT_STRATEGY_BARE:
        return from_neighbours(a, i, 0);
    case TACIT_STRATEGY_CD:
    case TACIT_STRATEGY_ONE_SHOT:
        return from_neighbours(a, i, noise);
    default:
        return 0;
    }
}

static tacit_prospect prospect_at(const asking *a, tacit_strategy strategy, double sigma)
{
    tacit_prospect out = {.ticks = strategy != TACIT_STRATEGY_ALONE, .needed = NAN};
    double noise = sigma * sigma;
    if (strategy == TACIT_STRATEGY_CD) {
        out.ticks = best_ticks(a, noise);
        noise /= direction_factor(a->ratio, out.ticks);
    }
    for (uint32_t k = 0; k < a->looked_at; k++) {
        const uint32_t i = tacit_sampled(a->graph->agents, a->looked_at, k);
        const double own = worth(a, records_of(a, i), 0);
        const double known = own + precision_of(a, strategy, k, noise);
        out.informed += known / (1 + known) / a->looked_at;
        out.score += accuracy(known / (1 + known)) / a->looked_at;
    }
    return out;
}

static double gain_of(const tacit_advice *advice, const tacit_prospect *prospect)
{
    const tacit_prospect *alone = &advice->prospect[TACIT_STRATEGY_ALONE];
    return advice->score ? prospect->score - alone->score : prospect->informed - alone->informed;
}

/* Sigma, over the clip radius, of one release that spends (epsilon, delta) in all. */
static tacit_status sigma_of(double epsilon, double delta, double *sigma, tacit_error *err)
{
    const tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                             .adjacency = TACIT_REPLACE,
                             .shift = 2,
                             .sampling = 1,
                             .count = 1};
    return tacit_account_calibrate(TACIT_BY_GDP, &loss, NULL, 0, epsilon, delta, sigma, err);
}

/* The least epsilon with the gain that is asked for, to a hundredth of it. */
static tacit_status find_needed(const asking *a, tacit_advice *advice, tacit_strategy strategy,
                                tacit_error *err)
{
    double low = TACIT_ADVISE_LEAST, high = 1e2, sigma;
    tacit_prospect *out = &advice->prospect[strategy];
    tacit_status status = sigma_of(high, advice->delta, &sigma, err);
    if (status)
        return status;
    tacit_prospect most = prospect_at(a, strategy, sigma);
    out->needed = INFINITY;
    if (gain_of(advice, &most) < a->guess->gain)
        return TACIT_OK;
    if ((status = sigma_of(low, advice->delta, &sigma, err)))
        return status;
    const tacit_prospect least = prospect_at(a, strategy, sigma);
    if (gain_of(advice, &least) >= a->guess->gain)
        high = low;
    while (high > 1.01 * low) {
        const double middle = sqrt(low * high);
        if ((status = sigma_of(middle, advice->delta, &sigma, err)))
            return status;
        const tacit_prospect there = prospect_at(a, strategy, sigma);
        *(gain_of(advice, &there) < a->guess->gain ? &low : &high) = middle;
    }
    out->needed = high;
    return TACIT_OK;
}

static tacit_status look_ahead(const asking *a, tacit_advice *out, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (int s = 0; s < TACIT_STRATEGIES && !status; s++) {
        out->prospect[s] = prospect_at(a, (tacit_strategy)s, out->sigma);
        out->prospect[s].gain = gain_of(out, &out->prospect[s]);
        if (!out->score)
            out->prospect[s].score = NAN;
        if (s != TACIT_STRATEGY_ALONE && s != TACIT_STRATEGY_BARE)
            status = find_needed(a, out, (tacit_strategy)s, err);
    }
    for (int secure = 0; secure < 2; secure++) {
        tacit_strategy best = TACIT_STRATEGY_ALONE;
        double least = a->guess->gain;
        for (int s = TACIT_STRATEGY_CD; s <= TACIT_STRATEGY_ONE_SHOT + secure; s++)
            if (out->prospect[s].gain >= least) {
                least = out->prospect[s].gain;
                best = (tacit_strategy)s;
            }
        out->best[secure] = best;
    }
    return status;
}

/* ---- what is public ---- */

/* Eigenvalues of Q = C diag(m) C^T, by the rotation that makes it diagonal. */
static void diagonalise(asking *a, double *q, double *turn)
{
    const uint32_t r = a->rank;
    for (uint32_t x = 0; x < r; x++)
        for (uint32_t y = 0; y < r; y++)
            turn[x * r + y] = x == y;
    for (int sweep = 0; sweep < 50; sweep++)
        for (uint32_t x = 0; x < r; x++)
            for (uint32_t y = x + 1; y < r; y++) {
                const double off = q[x * r + y];
                if (fabs(off) < 1e-300)
                    continue;
                const double angle = 0.5 * atan2(2 * off, q[x * r + x] - q[y * r + y]);
                const double c = cos(angle), s = sin(angle);
                for (uint32_t k = 0; k < r; k++) { /* columns, then rows */
                    const double u = q[k * r + x], v = q[k * r + y];
                    q[k * r + x] = c * u + s * v;
                    q[k * r + y] = c * v - s * u;
                    const double tu = turn[k * r + x], tv = turn[k * r + y];
                    turn[k * r + x] = c * tu + s * tv;
                    turn[k * r + y] = c * tv - s * tu;
                }
                for (uint32_t k = 0; k < r; k++) {
                    const double u = q[x * r + k], v = q[y * r + k];
                    q[x * r + k] = c * u + s * v;
                    q[y * r + k] = c * v - s * u;
                }
            }
    for (uint32_t l = 0; l < r; l++)
        a->mode[l] = fmax(0, q[l * r + l]);
}

/* However many records there are, a sum over few directions yields agent i a weighted mean of all
 * models, with weights w_j = m_j c_i^T Q^-1 c_j: this is its squared correlation with the agent's
 * own, models without an edge between them counting as unrelated. (Not so where weights are angles:
 * there, agents without an edge are far apart at known angles, which the directions tell.) */
static double captured_by(const asking *a, const double *all, uint32_t i, double *w)
{
    const tacit_graph *g = a->graph;
    double with, square = 0;
    for (uint32_t j = 0; j < g->agents; j++) {
        w[j] = 0;
        for (uint32_t l = 0; l < a->rank; l++)
            if (a->mode[l] > 1e-9)
                w[j] += records_of(a, j) * all[(size_t)i * a->rank + l] *
                        all[(size_t)j * a->rank + l] / a->mode[l];
    }
    for (uint32_t j = 0; j < g->agents; j++) {
        square += w[j] * w[j];
        for (uint64_t e = g->row[j]; e < g->row[j + 1]; e++)
            square += w[j] * w[g->neighbour[e]] * alike(a, g->weight[e]);
    }
    with = w[i];
    for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
        with += w[g->neighbour[e]] * alike(a, g->weight[e]);
    return square > 0 ? fmin(1, with * with / square) : 0;
}

static void turn_all(const asking *a, const double *turn, double *all)
{
    const uint32_t r = a->rank;
    for (uint32_t i = 0; i < a->graph->agents; i++) {
        double c[RANK] = {0};
        for (uint32_t l = 0; l < r; l++)
            for (uint32_t x = 0; x < r; x++)
                c[l] += all[(size_t)i * r + x] * turn[x * r + l];
        memcpy(all + (size_t)i * r, c, r * sizeof *c);
    }
}

/* Directions of the sum, and how many records stand behind each. */
static tacit_status choose_directions(asking *a, tacit_error *err)
{
    const uint32_t n = a->graph->agents, r = a->rank;
    const tacit_kernel kernel = {TACIT_KERNEL_SPECTRAL, 1, 10, 1, 0.25, false};
    double *all = calloc((size_t)n * (r + 1), sizeof *all), *w = all ? all + (size_t)n * r : NULL;
    double q[RANK * RANK] = {0}, turn[RANK * RANK];
    if (!all)
        return tacit_out_of_memory(err);
    tacit_status status = tacit_graph_basis(a->graph, &kernel, r, all, err);
    for (uint32_t i = 0; i < n && !status; i++)
        for (uint32_t x = 0; x < r; x++)
            for (uint32_t y = 0; y < r; y++)
                q[x * r + y] += records_of(a, i) * all[(size_t)i * r + x] * all[(size_t)i * r + y];
    if (!status) {
        diagonalise(a, q, turn);
        turn_all(a, turn, all);
    }
    for (uint32_t k = 0; k < a->looked_at && !status; k++) {
        const uint32_t i = tacit_sampled(n, a->looked_at, k);
        memcpy(a->basis + (size_t)k * r, all + (size_t)i * r, r * sizeof *all);
        a->captured[k] = a->gamma > 0 ? 1 : captured_by(a, all, i, w);
    }
    free(all);
    return status;
}

static void describe(const asking *a, tacit_advice *out)
{
    const uint32_t n = a->graph->agents;
    out->least_records = INFINITY;
    for (uint32_t i = 0; i < n; i++) {
        const double m = records_of(a, i);
        out->least_records = fmin(out->least_records, m);
        out->most_records = fmax(out->most_records, m);
        out->mean_records += m / n;
    }
    out->mean_neighbours = (double)a->graph->entries / n;
    if (out->mean_records > 0)
        out->through = 1 / (1 + a->p * out->sigma * out->sigma / out->mean_records);
}

static tacit_status check_budget(double epsilon, double delta, tacit_error *err)
{
    if (epsilon > 0 && isfinite(epsilon) && delta > 0 && delta < 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "advice needs a budget: set \"privacy.epsilon\" to a number above zero and "
                      "\"privacy.delta\" between 0 and 1 (they are %g and %g)",
                      epsilon, delta);
}

static int by_size(const void *one, const void *two)
{
    const double x = *(const double *)one, y = *(const double *)two;
    return (x > y) - (x < y);
}

/* Where budgets differ all is predicted for the median of those who have something to say. */
static tacit_status choose_budget(tacit_advice *out, const tacit_session *s, tacit_error *err)
{
    size_t count = 0;
    if (!s->epsilon)
        return TACIT_OK;
    double *sorted = malloc((size_t)(s->graph.agents + 1) * sizeof *sorted);
    if (!sorted)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < s->graph.agents; i++)
        if (tacit_dataset_rows(s->source.data, i, TACIT_TRAIN) > 0)
            sorted[count++] = s->epsilon[i];
    if (count > 0) {
        qsort(sorted, count, sizeof *sorted, by_size);
        out->budgets = true;
        out->epsilon = sorted[(count - 1) / 2];
        out->least_budget = sorted[0];
        out->most_budget = sorted[count - 1];
    }
    free(sorted);
    return check_budget(out->epsilon, out->delta, err);
}

static tacit_status check(const tacit_privacy_options *privacy, const tacit_assumed *guess,
                          tacit_error *err)
{
    if (!*privacy->budgets) {
        tacit_status status = check_budget(privacy->epsilon, privacy->delta, err);
        if (status)
            return status;
    }
    if (privacy->unit != TACIT_UNIT_RECORD || privacy->adjacency != TACIT_REPLACE)
        return tacit_fail(err, TACIT_EINPUT,
                          "advice is for \"privacy.unit: record\" and \"privacy.adjacency: "
                          "replace\", where numbers of records are public");
    if (!(guess->signal > 0 && guess->signal <= 1) || !(guess->alike > 0 && guess->alike < 1) ||
        !(guess->gain > 0 && guess->gain < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "guesses lie between 0 and 1: signal %g, alike %g, gain %g",
                          guess->signal, guess->alike, guess->gain);
    return TACIT_OK;
}

static tacit_status ask(asking *a, tacit_advice *out, tacit_error *err)
{
    const size_t d = MOST_NEIGHBOURS;
    a->basis = calloc((size_t)a->looked_at * a->rank + 1, sizeof *a->basis);
    a->captured = calloc(a->looked_at, sizeof *a->captured);
    a->mode = calloc(a->rank, sizeof *a->mode);
    a->room = calloc(d * d + d, sizeof *a->room);
    a->who = calloc(d, sizeof *a->who);
    a->tie = calloc(d, sizeof *a->tie);
    tacit_status status = TACIT_OK;
    if (!a->basis || !a->captured || !a->mode || !a->room || !a->who || !a->tie)
        status = tacit_out_of_memory(err);
    if (!status)
        status = sigma_of(out->epsilon, out->delta, &out->sigma, err);
    if (!status && a->graph->entries > 0)
        status = choose_directions(a, err);
    if (!status) {
        describe(a, out);
        status = tacit_advise_voices(&out->voices, a->graph, out->mean_records * out->agents, a->p,
                                     a->signal, out->sigma, err);
    }
    if (!status)
        status = look_ahead(a, out, err);
    free(a->basis);
    free(a->captured);
    free(a->mode);
    free(a->room);
    free(a->who);
    free(a->tie);
    return status;
}

static uint32_t looked_at(const tacit_graph *g)
{
    const double affordable = fmax(10, MOST_WORK / (double)(g->entries + g->agents));
    return (uint32_t)fmin(g->agents, fmin(MOST_LOOKED_AT, affordable));
}

static tacit_status advise(tacit_advice *out, const tacit_session *session,
                           const tacit_assumed *guess, tacit_error *err)
{
    const tacit_experiment *e = session->experiment;
    const tacit_graph *g = &session->graph;
    if (tacit_model_classes(session->model) > 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "what to expect is worked out for \"model.loss: logistic\" and "
                          "\"squared\", not for \"softmax\"");
    asking a = {.session = session,
                .graph = g,
                .guess = guess,
                .p = (double)tacit_dataset_features(session->source.data),
                .signal = guess->signal,
                .gamma = e->graph.kind == TACIT_GRAPH_SIMILARITY ? e->graph.gamma : 0,
                .looked_at = looked_at(g),
                .rank = g->agents < RANK ? g->agents : RANK,
                .ratio = e->privacy.ratio > 0 && e->privacy.ratio < 1 ? e->privacy.ratio : RATIO};
    for (size_t k = 0; k < g->entries; k++)
        a.strongest = fmax(a.strongest, g->weight[k]);
    *out = (tacit_advice){.agents = g->agents,
                          .looked_at = a.looked_at,
                          .features = tacit_dataset_features(session->source.data),
                          .epsilon = e->privacy.epsilon,
                          .delta = e->privacy.delta,
                          .ratio = a.ratio,
                          .claimed = e->privacy.claimed,
                          .score = tacit_model_score_up(session->model)};
    tacit_status status = choose_budget(out, session, err);
    return status ? status : ask(&a, out, err);
}

tacit_status tacit_advise(tacit_advice *out, const tacit_experiment *experiment,
                          const tacit_assumed *guess, tacit_error *err)
{
    tacit_experiment silent = *experiment; /* nobody speaks, so nothing has to be planned */
    tacit_session *session = NULL;
    tacit_status status = check(&experiment->privacy, guess, err);
    if (status)
        return status;
    silent.protocol = tacit_protocol_find("alone");
    silent.protocol_options = NULL;
    status = tacit_session_create(&session, &silent, 1, err);
    if (!status)
        status = advise(out, session, guess, err);
    tacit_session_free(session);
    return status;
}

static void write_prospect(tacit_json *json, tacit_strategy strategy, const tacit_prospect *p)
{
    tacit_json_begin(json, NULL, '{');
    tacit_json_text(json, "strategy", tacit_strategy_name(strategy));
    tacit_json_text(json, "trust", tacit_trust_name(tacit_strategy_trust(strategy)));
    tacit_json_count(json, "ticks", p->ticks);
    tacit_json_real(json, "informed", p->informed);
    tacit_json_real(json, "score", p->score);
    tacit_json_real(json, "gain", p->gain);
    tacit_json_real(json, "epsilon_needed", p->needed);
    tacit_json_end(json, '}');
}

char *tacit_advice_json(const tacit_advice *advice, const tacit_assumed *guess)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.advice/1");
    tacit_json_count(&json, "agents", advice->agents);
    tacit_json_count(&json, "looked_at", advice->looked_at);
    tacit_json_count(&json, "features", advice->features);
    tacit_json_real(&json, "mean_records", advice->mean_records);
    tacit_json_real(&json, "mean_neighbours", advice->mean_neighbours);
    tacit_json_real(&json, "epsilon", advice->epsilon);
    tacit_json_real(&json, "delta", advice->delta);
    if (advice->budgets) {
        tacit_json_text(&json, "epsilon_is", "the median of privacy.budgets");
        tacit_json_real(&json, "epsilon_budget_least", advice->least_budget);
        tacit_json_real(&json, "epsilon_budget_most", advice->most_budget);
    }
    tacit_json_bool(&json, "unsound", advice->claimed);
    tacit_json_text(&json, "unit", tacit_unit_name(TACIT_UNIT_RECORD));
    tacit_json_text(&json, "adjacency", tacit_adjacency_name(TACIT_REPLACE));
    tacit_json_real(&json, "sigma", advice->sigma);
    tacit_json_real(&json, "through", advice->through);
    tacit_json_real(&json, "ratio", advice->ratio);
    tacit_json_real(&json, "guess_signal", guess->signal);
    tacit_json_real(&json, "guess_alike", guess->alike);
    tacit_json_real(&json, "gain_wanted", guess->gain);
    tacit_json_begin(&json, "strategies", '[');
    for (int s = 0; s < TACIT_STRATEGIES; s++)
        write_prospect(&json, (tacit_strategy)s, &advice->prospect[s]);
    tacit_json_end(&json, ']');
    tacit_json_begin(&json, "chorus", '{');
    tacit_json_count(&json, "rank", advice->voices.rank);
    tacit_json_real(&json, "alpha", advice->voices.alpha);
    tacit_json_real(&json, "kappa", advice->voices.kappa);
    tacit_json_count(&json, "rounds", advice->voices.rounds);
    tacit_json_real(&json, "clarity", advice->voices.clarity);
    tacit_json_end(&json, '}');
    tacit_json_text(&json, "best_local", tacit_strategy_name(advice->best[0]));
    tacit_json_text(&json, "best_secure", tacit_strategy_name(advice->best[1]));
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}
