/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent believes of its own weights after hearing others, before its own records: the part
 * of kriging that looks at records (docs/protocols/one-shot.md).
 *
 * Agent j's sum of y x, s_j = m_j g_j + noise, tells about g_j = E[y x] of its records. Beforehand
 * g_jc is normal with variance a_c, and correlated K_ij between agents. Whoever made the evidence
 * rotated s into directions l over agents in which everything is independent, so that for agent i
 *
 *     b_c = a_c sum_l h_l t_lc / (1 + a_c lambda_l),
 *     V_c = a_c - a_c^2 sum_l h_l^2 / (1 + a_c lambda_l)
 *
 * are mean and variance of g_ic. They become a prior of weights: theta_c is about
 * beta g_c / r_c, where r_c = p E[x_c^2] / R^2 is found from own records (shrunk towards its mean
 * over features), a_c = a r_c^2 and a = share R^2 / p^2. beta is such that without evidence the
 * precision is that of the model's own regulariser: then the agent learns alone.
 *
 * dense < 1: perhaps only a part rho of the features matters, each with the variance a_c / rho. For
 * each rho of a list, every feature is weighed by how much likelier it made what was seen (others'
 * sums and the own one) than nothing; then over all rho. The mean and variance of that mixture are
 * the prior.
 *
 * Invariants: V_c > 0; if evidence overflows, it is none; memory is wiped.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "model/linear.h"

#define PSEUDO 10.0      /* records that a feature's mean square is shrunk by */
#define LEAST_LEFT 1e-3  /* of the variance, however much was heard */
#define LEAST_MIXED 1e-4 /* the same, of a mixture */
#define FAR 50.0         /* log odds beyond which there is no doubt */

static const double rhos[] = {1, .5, .25, .1, .05, .02};
enum { RHOS = sizeof rhos / sizeof *rhos };

/* Of one feature: what is believed if a part rho of all matters, for each rho. */
typedef struct belief {
    double mean, left; /* b and V, if this feature matters */
    double odds;       /* log, of its mattering against not, from what was seen */
} belief;

typedef struct krige {
    size_t m, p;
    const tacit_evidence *evidence;
    double *square; /* p: mean of x_c^2, shrunk */
    double *own;    /* p: mean of y x_c */
    belief *belief; /* p x RHOS, feature after feature */
    double *row;    /* p */
    void *memory;
    size_t bytes;
} krige;

static tacit_status get_memory(krige *k, tacit_error *err)
{
    const size_t each = 3 * sizeof(double) + RHOS * sizeof(belief);
    if (!tacit_mul_size(k->p, each, &k->bytes) || !(k->memory = calloc(1, k->bytes)))
        return tacit_out_of_memory(err);
    k->belief = k->memory;
    k->square = (double *)(k->belief + k->p * RHOS);
    k->own = k->square + k->p;
    k->row = k->own + k->p;
    return TACIT_OK;
}

static void read_records(krige *k, const tacit_shard *shard)
{
    const double m = (double)k->m, p = (double)k->p;
    double mean = 0;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), k->p, r, k->row, &y);
            for (size_t c = 0; c < k->p; c++) {
                k->square[c] += k->row[c] * k->row[c];
                k->own[c] += y * k->row[c] / m;
                mean += k->row[c] * k->row[c] / m / p;
            }
        }
    const double radius = k->evidence->radius;
    if (!(mean > 1e-100 * radius * radius) || !isfinite(mean)) { /* no record says anything */
        mean = radius * radius / p;
        memset(k->square, 0, k->p * sizeof(double));
        memset(k->own, 0, k->p * sizeof(double));
    }
    for (size_t c = 0; c < k->p; c++)
        k->square[c] = (k->square[c] + PSEUDO * mean) / (m + PSEUDO);
}

/* Kriging of feature c, whose variance beforehand is a. */
static belief weigh(const krige *k, size_t c, double a)
{
    const tacit_evidence *e = k->evidence;
    belief out = {0};
    double heard = 0;
    for (size_t l = 0; l < e->count; l++) {
        const double grown = 1 + a * e->root[l], seen = e->seen[l * k->p + c];
        out.mean += e->pull[l] * seen / grown;
        heard += e->pull[l] * e->pull[l] / grown;
        if (e->dense < 1)
            out.odds -= 0.5 * (log(grown) + (1 / grown - 1) * seen * seen);
    }
    out.mean *= a;
    out.left = fmax(a - a * a * heard, LEAST_LEFT * a);
    if (!isfinite(out.mean) || !isfinite(out.left) || !isfinite(out.odds))
        return (belief){.left = a};
    return out;
}

/* The agent's own records have a say in whether the feature matters; not in how, as they are
 * fitted afterwards. */
static void look_at_own(const krige *k, size_t c, belief *b)
{
    if (k->m == 0)
        return;
    const double noise = k->square[c] / (double)k->m, z = k->own[c], miss = z - b->mean;
    b->odds -= 0.5 * (log1p(b->left / noise) + miss * miss / (b->left + noise) - z * z / noise);
}

/* Probability of mattering, given the part rho. */
static double matters(double rho, double odds)
{
    if (rho == 1)
        return 1;
    return 1 / (1 + exp(-fmax(-FAR, fmin(FAR, log(rho / (1 - rho)) + odds))));
}

static double log_add(double x, double y)
{
    return fmax(x, y) + log1p(exp(-fabs(x - y)));
}

/* The probability of each rho, given all features. */
static void judge_parts(const krige *k, size_t parts, double *chance)
{
    double best = -INFINITY, sum = 0;
    for (size_t q = 0; q < parts; q++) {
        chance[q] = q == 0 ? log(k->evidence->dense) : log((1 - k->evidence->dense) / (RHOS - 1));
        for (size_t c = 0; c < k->p; c++) {
            const double odds = k->belief[c * RHOS + q].odds;
            chance[q] += rhos[q] == 1 ? odds : log_add(log(rhos[q]) + odds, log(1 - rhos[q]));
        }
        best = fmax(best, chance[q]);
    }
    for (size_t q = 0; q < parts; q++)
        sum += chance[q] = exp(chance[q] - best);
    for (size_t q = 0; q < parts; q++)
        chance[q] /= sum;
}

/* Mean and variance of feature c over all thoughts. */
static void mix(const krige *k, size_t c, size_t parts, const double *chance, double least,
                double *mean, double *left)
{
    double second = 0;
    *mean = 0;
    for (size_t q = 0; q < parts; q++) {
        const belief *b = &k->belief[c * RHOS + q];
        const double w = matters(rhos[q], b->odds);
        *mean += chance[q] * w * b->mean;
        second += chance[q] * w * (b->left + b->mean * b->mean);
    }
    *left = fmax(second - *mean * *mean, least);
}

static tacit_status check(const tacit_model *model, const tacit_evidence *e, tacit_error *err)
{
    tacit_status status = tacit_refuse_softmax(model, "kriging", err);
    if (status != TACIT_OK)
        return status;
    if (model->loss == TACIT_LOGISTIC && e->radius > 0 && e->share > 0 && e->dense > 0 &&
        e->dense <= 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EUSAGE,
                      "kriging is for the logistic loss, with a positive radius, share and "
                      "probability of dense weights");
}

tacit_status tacit_model_krige(const tacit_model *model, const tacit_shard *shard,
                               const tacit_evidence *evidence, tacit_secret *mean,
                               tacit_secret *precision, tacit_error *err)
{
    const size_t m = tacit_shard_rows(shard), p = model->features;
    krige k = {.m = m, .p = p, .evidence = evidence};
    tacit_status status = check(model, evidence, err);
    if (status == TACIT_OK)
        status = get_memory(&k, err);
    if (status != TACIT_OK)
        return status;
    read_records(&k, shard);
    const double radius2 = evidence->radius * evidence->radius;
    const double a = evidence->share * radius2 / ((double)p * (double)p);
    const size_t some = m > 0 ? m : 1, parts = evidence->dense < 1 ? RHOS : 1;
    const double ridge = 2 * (double)some * tacit_model_lambda(model, some);
    const double beta = 1 / sqrt(ridge * a);
    double chance[RHOS] = {1};
    for (size_t c = 0; c < p; c++) {
        const double r = k.square[c] * (double)p / radius2;
        for (size_t q = 0; q < parts; q++) {
            k.belief[c * RHOS + q] = weigh(&k, c, a / rhos[q] * r * r);
            if (parts > 1)
                look_at_own(&k, c, &k.belief[c * RHOS + q]);
        }
    }
    if (parts > 1)
        judge_parts(&k, parts, chance);
    for (size_t c = 0; c < p; c++) {
        const double r = k.square[c] * (double)p / radius2;
        double b, left;
        mix(&k, c, parts, chance, LEAST_MIXED * a * r * r, &b, &left);
        tacit_vector_set(tacit_vector_of_secret(mean), 0, c, beta * b / r);
        tacit_vector_set(tacit_vector_of_secret(precision), 0, c, r * r / (beta * beta * left));
    }
    sodium_memzero(k.memory, k.bytes);
    sodium_memzero(chance, sizeof chance);
    free(k.memory);
    return TACIT_OK;
}
