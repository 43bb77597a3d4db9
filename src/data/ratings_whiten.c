/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items' features in coordinates in which they are alike in every direction (data.whiten).
 *
 * Whoever learns from noisy sums of gradients steps equally far in all directions, so a feature
 * with tens of times the second moment of others (a constant, beside a genre) is overshot, or all
 * others crawl. Where features are public, so are their moments, and changing coordinates is free:
 *
 *     mu = sum_i w_i z_i / sum_i w_i,    C = sum_i w_i (z_i - mu)(z_i - mu)^T / sum_i w_i,
 *     z'_i = (C + ridge tr(C)/f I)^(-1/2) (z_i - mu) / sqrt(p),
 *
 * f features of an item, p = f and one if there is a bias; without a bias mu is 0. A bias becomes
 * bias-scale / sqrt(p). With ridge 0, bias-scale 1 and C of full rank the second moments of rows
 * are then I/p, and a row's mean squared length is 1. The ridge keeps directions that few items
 * have from being blown up: an eigenvalue e of C becomes e / (e + ridge tr(C)/f), over p.
 *
 * What is summed over must be public, and so must its order be, for sums are rounded: the items
 * of the file of facts, rated or not, in its order; without such a file those that public
 * users rated, by name. w_i is 1 more than the number of public users that rated the item. Which
 * items agents rated has no part in it.
 */
#include "data/ratings_make.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/eigen.h"

#define RIDGE_LEAST 1e-9 /* features may depend on each other */
#define TRACE_LEAST 1e-200
#define NOBODY UINT32_MAX /* rated the item */

typedef struct census {
    size_t rows, features;
    uint32_t *item; /* of each row, or NOBODY */
    double *weight; /* rows */
    double *z;      /* features: a row */
    double *mean;   /* features */
    double *matrix; /* features x features: C, then its vectors */
    double *value;  /* features */
    double *turned; /* features x features: the inverse root */
} census;

static void census_clear(census *c)
{
    free(c->item);
    free(c->weight);
    free(c->z);
    free(c->mean);
    free(c->matrix);
    free(c->value);
    free(c->turned);
}

static tacit_status claim(census *c, const tacit_making *m, tacit_error *err)
{
    const size_t f = m->features;
    size_t numbers;
    c->features = f;
    c->rows = m->item_facts.features > 0 ? m->item_facts.names.count : m->public_items;
    if (!tacit_mul_size(f, f, &numbers))
        return tacit_out_of_memory(err);
    c->item = calloc(c->rows + 1, sizeof *c->item);
    c->weight = calloc(c->rows + 1, sizeof *c->weight);
    c->z = calloc(f, sizeof *c->z);
    c->mean = calloc(f, sizeof *c->mean);
    c->matrix = calloc(numbers, sizeof *c->matrix);
    c->value = calloc(f, sizeof *c->value);
    c->turned = calloc(numbers, sizeof *c->turned);
    return c->item && c->weight && c->z && c->mean && c->matrix && c->value && c->turned
               ? TACIT_OK
               : tacit_out_of_memory(err);
}

/* The place of an item in the census. */
static uint32_t row_of(const tacit_making *m, uint32_t item)
{
    if (m->item_facts.features == 0)
        return m->public_item[item];
    const char *name = tacit_making_item(m, item);
    return tacit_names_find(&m->item_facts.names, name, strlen(name));
}

static void count(census *c, const tacit_making *m)
{
    for (size_t row = 0; row < c->rows; row++) {
        c->item[row] = NOBODY;
        c->weight[row] = 1;
    }
    for (uint32_t item = 0; item < m->items; item++) {
        const uint32_t row = row_of(m, item);
        if (row < c->rows)
            c->item[row] = item;
    }
    for (size_t k = 0; k < m->ratings.count; k++) {
        const tacit_rating *rating = &m->ratings.rating[k];
        if (m->agent[rating->user] != TACIT_PUBLIC_USER)
            continue;
        const uint32_t row = row_of(m, rating->item);
        if (row < c->rows)
            c->weight[row]++;
    }
}

/* The features of a row less `mean`. An item that nobody rated has facts, but no factors. */
static void look_up(census *c, const tacit_making *m, size_t row)
{
    const size_t f = c->features, facts = m->item_facts.features;
    memset(c->z, 0, f * sizeof *c->z);
    if (c->item[row] != NOBODY)
        memcpy(c->z, m->feature + c->item[row] * f, f * sizeof *c->z);
    else
        for (size_t k = 0; k < facts; k++)
            c->z[f - facts + k] = m->options->facts_scale * m->item_facts.value[row * facts + k];
    for (size_t k = 0; k < f; k++)
        c->z[k] -= c->mean[k];
}

static void find_moments(census *c, const tacit_making *m)
{
    const size_t f = c->features;
    double total = 0;
    for (size_t row = 0; row < c->rows; row++)
        total += c->weight[row];
    for (size_t row = 0; row < c->rows && m->options->bias; row++) {
        look_up(c, m, row); /* the mean is still 0; its sum is built up in `value` */
        for (size_t k = 0; k < f; k++)
            c->value[k] += c->weight[row] / total * c->z[k];
    }
    memcpy(c->mean, c->value, f * sizeof *c->mean);
    for (size_t row = 0; row < c->rows; row++) {
        look_up(c, m, row);
        for (size_t k = 0; k < f; k++)
            for (size_t l = k; l < f; l++) /* the lower half, by columns */
                c->matrix[k * f + l] += c->weight[row] / total * c->z[k] * c->z[l];
    }
}

/* turned = V (E + ridge tr/f)^(-1/2) V^T / sqrt(p). */
static tacit_status find_root(census *c, const tacit_making *m, tacit_error *err)
{
    const size_t f = c->features, p = f + m->options->bias;
    double trace = 0;
    for (size_t k = 0; k < f; k++)
        trace += c->matrix[k * f + k];
    if (!(trace > TRACE_LEAST) || !isfinite(trace))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.whiten: the features of all items are the same, or too large to be "
                          "squared; leave it out");
    if (!tacit_eigen_all(f, c->matrix, c->value))
        return tacit_fail(err, TACIT_EINTERNAL, "LAPACK could not decompose features' moments");
    const double more = fmax(m->options->whiten_ridge, RIDGE_LEAST) * trace / (double)f;
    for (size_t e = 0; e < f; e++) {
        const double *v = c->matrix + e * f;
        const double root = 1 / sqrt((fmax(c->value[e], 0) + more) * (double)p);
        for (size_t k = 0; k < f; k++)
            for (size_t l = 0; l < f; l++)
                c->turned[k * f + l] += root * v[k] * v[l];
    }
    return TACIT_OK;
}

static void apply(census *c, tacit_making *m)
{
    const size_t f = c->features;
    for (uint32_t item = 0; item < m->items; item++) {
        double *x = m->feature + item * f;
        for (size_t k = 0; k < f; k++)
            c->z[k] = x[k] - c->mean[k];
        for (size_t k = 0; k < f; k++) {
            x[k] = 0;
            for (size_t l = 0; l < f; l++)
                x[k] += c->turned[k * f + l] * c->z[l];
        }
    }
    m->constant_feature /= sqrt((double)(f + m->options->bias));
}

tacit_status tacit_making_whiten(tacit_making *m, tacit_error *err)
{
    census c = {0};
    m->constant_feature = m->options->bias_scale;
    if (!m->options->whiten)
        return TACIT_OK;
    tacit_status status = claim(&c, m, err);
    if (!status) {
        count(&c, m);
        find_moments(&c, m);
        status = find_root(&c, m, err);
    }
    if (!status)
        apply(&c, m);
    census_clear(&c);
    return status;
}
