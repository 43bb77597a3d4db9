/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kriging for the squared loss (docs/protocols/one-shot.md): others' sums of y x, the agent's own
 * records, and a prior of weights in between.
 *
 * E[y x] = C theta with C = E[x x^T]. C is found from own records and, as if it were PSEUDO records
 * more, from what others said. In its eigenvectors, with eigenvalues mu_l, each weight has the same
 * variance tau^2 beforehand, so that E[y x]_l has a_l = tau^2 mu_l^2, and kriging (krige.c) gives
 * its mean b_l and variance V_l: the weight is b_l / mu_l, give or take V_l / mu_l^2. Where records
 * do not vary, little was heard, and the prior stays what it was.
 *
 * The model's own regulariser, weight v = m lambda on |theta|^2, says how much tau^2 is worth
 * beside a sum over records. So the most probable model is
 *
 *     argmin sum_r (theta . x_r - y_r)^2 + v tau^2 sum_l (mu_l^2 / V_l) (theta_l - b_l / mu_l)^2,
 *
 * which is learning alone if nothing was heard. All of it is secret, and wiped.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "model/dense.h"
#include "model/linear.h"
#include "tacit/eigen.h"

#define MAX_FEATURES 5000
#define PSEUDO 20.0
#define LEAST_LEFT 1e-3 /* of the variance, however much was heard */

typedef struct fit {
    size_t m, p;
    const tacit_evidence *evidence;
    double *gram;          /* p x p: sum x x^T */
    double *moment;        /* p: sum y x */
    double *basis;         /* p x p: eigenvectors of C, one after the other */
    double *root;          /* p: its eigenvalues */
    double *mean, *weight; /* p: of the prior, along the basis */
    double *row;
    double *normal; /* p x p */
    void *memory;
    size_t bytes;
} fit;

static tacit_status get_memory(fit *f, tacit_error *err)
{
    const size_t p = f->p;
    size_t doubles;
    if (p > MAX_FEATURES)
        return tacit_fail(err, TACIT_EINPUT, "kriging takes at most %d features, the data has %zu",
                          MAX_FEATURES, p);
    if (!tacit_mul_size(p, 3 * p + 5, &doubles) ||
        !tacit_mul_size(doubles, sizeof(double), &f->bytes) ||
        !(f->memory = calloc(doubles, sizeof(double))))
        return tacit_out_of_memory(err);
    f->gram = f->memory;
    f->basis = f->gram + p * p;
    f->normal = f->basis + p * p;
    f->moment = f->normal + p * p;
    f->root = f->moment + p;
    f->mean = f->root + p;
    f->weight = f->mean + p;
    f->row = f->weight + p;
    return TACIT_OK;
}

static void read_records(fit *f, const tacit_shard *shard)
{
    const size_t p = f->p;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, f->row, &y);
            for (size_t a = 0; a < p; a++) {
                f->moment[a] += y * f->row[a];
                for (size_t b = 0; b < p; b++)
                    f->gram[a * p + b] += f->row[a] * f->row[b];
            }
        }
}

/* Eigenvectors of C; false if there are none that doubles could find. */
static bool find_basis(fit *f)
{
    const size_t p = f->p;
    const double *heard = f->evidence->products, m = (double)f->m;
    const double usual = f->evidence->radius * f->evidence->radius / (double)p;
    for (size_t e = 0; e < p * p; e++) {
        const double other = heard ? heard[e] : e % (p + 1) == 0 ? usual : 0;
        f->basis[e] = (f->gram[e] + PSEUDO * other) / (m + PSEUDO);
        if (!isfinite(f->basis[e]))
            return false;
    }
    return tacit_eigen_all(p, f->basis, f->root);
}

/* The prior along eigenvector `at`. */
static void weigh(fit *f, size_t at, double worth)
{
    const tacit_evidence *e = f->evidence;
    const double mu = f->root[at], tau2 = e->variance, a = tau2 * mu * mu;
    double mean = 0, heard = 0;
    for (size_t l = 0; l < e->count; l++) {
        double seen = 0;
        for (size_t c = 0; c < f->p; c++)
            seen += e->seen[l * f->p + c] * f->basis[at * f->p + c];
        mean += e->pull[l] * seen / (1 + a * e->root[l]);
        heard += e->pull[l] * e->pull[l] / (1 + a * e->root[l]);
    }
    const double left = fmax(1 - a * heard, LEAST_LEFT), center = tau2 * mu * mean;
    const bool usable = mu > 0 && isfinite(center) && isfinite(left);
    f->mean[at] = usable ? center : 0;
    f->weight[at] = worth / (usable ? left : 1);
}

/* (X^T X + U W U^T) theta = X^T y + U W mean */
static bool solve(fit *f)
{
    const size_t p = f->p;
    memcpy(f->normal, f->gram, p * p * sizeof(double));
    for (size_t l = 0; l < p; l++) {
        const double *u = f->basis + l * p;
        for (size_t a = 0; a < p; a++) {
            f->moment[a] += f->weight[l] * f->mean[l] * u[a];
            for (size_t b = 0; b < p; b++)
                f->normal[a * p + b] += f->weight[l] * u[a] * u[b];
        }
    }
    return tacit_dense_solve(p, f->normal, f->moment);
}

tacit_status tacit_model_krige_squared(const tacit_model *model, const tacit_shard *shard,
                                       const tacit_evidence *evidence, tacit_secret *out,
                                       tacit_error *err)
{
    if (model->net)
        return tacit_refuse_net(model, "kriging", err);
    const size_t m = tacit_shard_rows(shard), some = m > 0 ? m : 1;
    fit f = {.m = m, .p = model->features, .evidence = evidence};
    if (model->loss != TACIT_SQUARED || !(evidence->radius > 0) || !(evidence->variance > 0))
        return tacit_fail(err, TACIT_EUSAGE,
                          "this kriging is for the squared loss, with a positive radius and "
                          "variance of weights");
    tacit_status status = get_memory(&f, err);
    if (status != TACIT_OK)
        return status;
    read_records(&f, shard);
    bool good = find_basis(&f);
    for (size_t l = 0; good && l < f.p; l++)
        weigh(&f, l, (double)some * tacit_model_lambda(model, some));
    if (!good || !solve(&f))
        status = tacit_fail(err, TACIT_EINPUT,
                            "no model could be found in doubles; bound the records, or set "
                            "\"model.lambda\"");
    for (size_t c = 0; status == TACIT_OK && c < f.p; c++)
        tacit_vector_set(tacit_vector_of_secret(out), 0, c, f.moment[c]);
    sodium_memzero(f.memory, f.bytes);
    free(f.memory);
    return status;
}
