/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MODEL_H
#define TACIT_MODEL_H
/*
 * Models and losses. L_i(theta) = (1/m_i) sum_r loss(theta; x_r, y_r) + lambda_i ||theta||^2.
 *
 * Two kinds of kernels touch data:
 *   - those that take a permit yield a tacit_bounded, which may be released;
 *   - those that do not yield a tacit_secret or a private metric, which stay at home.
 */
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/data.h"
#include "tacit/privacy.h"
#include "tacit/vector.h"

typedef struct tacit_model tacit_model;

/* Options of the YAML section "model". */
typedef struct tacit_model_options {
    int loss;              /* 0 logistic, 1 squared, 2 softmax */
    int64_t classes;       /* of the softmax loss; 0: tacit_model_create_for looks at the labels */
    double lambda;         /* 0: lambda_records / m_i */
    double lambda_records; /* 0: 1 */
    int scalar;            /* tacit_scalar */
    /* A net instead of a linear model (net.h), in single precision, with the softmax loss: */
    char layers[TACIT_TEXT_MAX]; /* "conv 3 5x5, mish, pool 2, dense 10"; "": a linear model */
    char input[TACIT_TEXT_MAX];  /* "1x28x28": what a record's features are; "": no picture */
} tacit_model_options;
extern const tacit_section tacit_model_section;
/* How records and models are stored: as the options say, nets in single precision. */
tacit_scalar tacit_model_options_scalar(const tacit_model_options *options);

tacit_status tacit_model_create(tacit_model **out, const tacit_model_options *options,
                                size_t features, tacit_error *err);
/* The same for these data. Without "classes" the softmax loss has as many as the largest label
 * says, which is public then. */
tacit_status tacit_model_create_for(tacit_model **out, const tacit_model_options *options,
                                    const tacit_dataset *data, tacit_error *err);
void tacit_model_free(tacit_model *model);
/* K of the softmax loss, whose model has a row of weights for each of labels 0 .. K-1, one after
 * the other in one segment. 0 for other losses. */
size_t tacit_model_classes(const tacit_model *model);
/* The net behind the model; NULL: it is linear, or there is no model at all. */
const struct tacit_net *tacit_model_net(const tacit_model *model);
/* A model to begin with, the same for all who give the same `name`: zero, or for nets what
 * tacit_net_start draws from that name. */
#define TACIT_START_NAME 16
void tacit_model_start(const tacit_model *model, const uint8_t name[TACIT_START_NAME],
                       tacit_public *out);
/* How many numbers a model has. */
size_t tacit_model_parameters(const tacit_model *model);
const tacit_shape *tacit_model_shape(const tacit_model *model);
const tacit_shape *tacit_model_scalar_shape(const tacit_model *model); /* one f64: "value" */
const char *tacit_model_score_name(const tacit_model *model);          /* "accuracy" or "rmse" */
bool tacit_model_score_up(const tacit_model *model);                   /* larger is better */
/* Refuses data the loss cannot use: labels other than -1 and +1 for logistic, other than 0 .. K-1
 * for softmax. */
tacit_status tacit_model_check(const tacit_model *model, const tacit_dataset *data,
                               tacit_error *err);
double tacit_model_lambda(const tacit_model *model, size_t records);

/* ---- under a permit: may be released ---- */
/* Mean over records of the clipped gradient of the loss at `at`, without regulariser. If the cost
 * says "sampling", over a lot: each record takes part with that probability, and the sum is divided
 * by the expected number. Under a cost
 * with noise `clip` is that of the cost (tacit_cost_clip), the result is on its grid, and under
 * add-remove it is the sum: how many records there are is a secret then. */
tacit_status tacit_model_gradient(const tacit_model *model, tacit_permit *permit,
                                  const tacit_shard *shard, const tacit_public *at, tacit_clip clip,
                                  tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
/* Smoothness constant of the unregularised mean loss, exact: data-dependent. */
tacit_status tacit_model_smoothness(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, tacit_scratch *scratch,
                                    tacit_bounded **out, tacit_error *err);
/* The minimiser of L_i, to be published (`none` only: its sensitivity is not bounded). */
tacit_status tacit_model_local(const tacit_model *model, tacit_permit *permit,
                               const tacit_shard *shard, tacit_scratch *scratch,
                               tacit_bounded **out, tacit_error *err);

/* The same with noise, for the logistic loss: rows are cut to |x|_2 <= radius, the regulariser is
 * lambda (0: lambda_records over the number of records), and one record can move the result by a
 * proven amount. Noise goes on the minimiser, or into what it minimises. One cost, planned by
 * tacit_model_local_cost, is for agents of any size: it counts in units of each agent's own
 * sensitivity. */
typedef enum tacit_perturbation {
    TACIT_PERTURB_OUTPUT,
    TACIT_PERTURB_OBJECTIVE /* gaussian, unit record */
} tacit_perturbation;
typedef struct tacit_local {
    int perturbation; /* tacit_perturbation */
    double lambda, lambda_records;
    double radius;
} tacit_local;
tacit_status tacit_model_local_cost(const tacit_model *model, tacit_cost *cost,
                                    const tacit_privacy_options *options, double epsilon,
                                    const tacit_local *how, tacit_error *err);
tacit_status tacit_model_local_noisy(const tacit_model *model, tacit_permit *permit,
                                     const tacit_shard *shard, const tacit_local *how,
                                     tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);

/* The records themselves, for the logistic loss: -y x of each, cut to |x|_2 <= radius, one after
 * the other in a vector of `shape`: one segment with room for as many as the cost was planned for
 * (`most`); what is left over is noise. */
tacit_status tacit_model_records_cost(const tacit_model *model, tacit_cost *cost,
                                      const tacit_privacy_options *options, double epsilon,
                                      double radius, size_t most, tacit_error *err);
tacit_status tacit_model_records(const tacit_model *model, tacit_permit *permit,
                                 const tacit_shard *shard, double radius, const tacit_shape *shape,
                                 tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
/* From the first `count` of such records, once released: the minimiser of L_i; the gradient of its
 * loss part at `at` (NULL: zero) and that part's smoothness. */
tacit_status tacit_model_of_records(const tacit_model *model, const tacit_public *records,
                                    size_t count, tacit_public *out, tacit_error *err);
tacit_status tacit_model_gradient_of_records(const tacit_model *model, const tacit_public *records,
                                             size_t count, const tacit_public *at,
                                             tacit_public *out, tacit_error *err);
tacit_status tacit_model_smoothness_of_records(const tacit_model *model,
                                               const tacit_public *records, size_t count,
                                               double *out, tacit_error *err);

/* One vector that says much about all records, published once: for the logistic loss the sum of
 * y x (p numbers); for the squared loss the sum of y x and then, in units of
 * tacit_model_statistics_unit, that of x x^T (upper triangle, row by row: p (p+1)/2 numbers).
 * Records are cut to |x|_2 <= radius and, for the squared loss, |y| <= most; labels of the logistic
 * loss are signs. The cost is planned by tacit_model_statistics_cost. */
const tacit_shape *tacit_model_statistics_shape(const tacit_model *model); /* NULL: too large */
tacit_status tacit_model_statistics_cost(const tacit_model *model, tacit_cost *cost,
                                         const tacit_privacy_options *options, double epsilon,
                                         double radius, double most, tacit_error *err);
tacit_status tacit_model_statistics(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, double radius, double most,
                                    tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);
double tacit_model_statistics_unit(double radius, double most);
/* The standard deviation of the noise on each number that such a cost pays for. */
double tacit_model_statistics_noise(const tacit_model *model, const tacit_cost *cost, double radius,
                                    double most);

/* The records themselves, for an average of what many hold: the sum of (row - centre), each clipped
 * (unit record), or the mean of the agent's rows less the centre, clipped once (unit user). `shape`
 * is one TACIT_I64 segment of as many numbers as there are features, in steps of 2^cost.grid: fit
 * for tacit_conceal. With noise what counts is the cost's clip (tacit_cost_clip) and its limit on
 * integers; without, `clip`, and a sum beyond 2^53 steps is refused. */
typedef struct tacit_rows_way {
    const double *centre; /* a number for each feature, public; NULL: zero */
    tacit_clip clip;
    const tacit_shape *shape; /* outlives the bounded value */
} tacit_rows_way;
tacit_status tacit_model_rows(const tacit_model *model, tacit_permit *permit,
                              const tacit_shard *shard, const tacit_rows_way *how,
                              tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);

/* ---- without: stays at home ---- */
/* The private finish: the model an agent makes of its raw records and a prior it was told,
 *
 *     argmin (1/m) sum_r loss(theta; x_r, y_r) + strength ||theta - scale * prior||^2,
 *
 * with (scale, strength) from a grid, judged by cross-validation on the agent's own records. Scale
 * 0 with the model's own regulariser, learning alone, is always in the grid. Nothing of it may be
 * sent. */
typedef enum tacit_finish_choice {
    TACIT_FINISH_BEST, /* the one with the least held-out loss */
    TACIT_FINISH_MEAN, /* all, each with weight exp(-sharpness * sum of held-out losses) */
    TACIT_FINISH_FIRST /* the first scale and strength; nothing is judged */
} tacit_finish_choice;
typedef struct tacit_finish {
    uint32_t folds; /* of the cross-validation; agents with fewer records leave one out */
    size_t scales, strengths;
    const double *scale;    /* of the prior */
    const double *strength; /* positive; multiplied by 1/m, m the number of records fitted */
    tacit_finish_choice choice;
    double sharpness; /* of the mean */
    double margin;    /* another best than the first must be better by so many standard errors */
    double last;      /* the last weight is held so many times as strongly; 0: as the others */
    uint64_t seed;    /* shuffles records into folds */
} tacit_finish;
typedef struct tacit_finished {
    tacit_private_metric scale,
        strength;              /* of the best; the strength as listed, m times the above */
    tacit_private_metric loss; /* its mean held-out loss; NaN if nothing was judged */
} tacit_finished;
/* `prior` NULL, or with a number that is not finite: zero. An agent with fewer than two records
 * cannot compare: it takes the first scale and strength. */
tacit_status tacit_model_finish(const tacit_model *model, const tacit_shard *shard,
                                const tacit_public *prior, const tacit_finish *how,
                                tacit_secret *out, tacit_finished *chosen, tacit_error *err);

/* The model of a Gaussian prior with its own precision for each weight:
 *
 *     argmin sum_r loss(theta; x_r, y_r) + 1/2 sum_c precision_c (theta_c - mean_c)^2.
 *
 * Without records it is the mean. Precisions are positive and finite, means finite. */
tacit_status tacit_model_map(const tacit_model *model, const tacit_shard *shard,
                             const tacit_secret *mean, const tacit_secret *precision,
                             tacit_secret *out, tacit_error *err);

/* What an agent concludes of others' sums of y x before it looks at its own records: a prior for
 * tacit_model_map, for the logistic loss (docs/protocols/one-shot.md). The evidence is public: for
 * each of `count` directions over the others an eigenvalue, what the agent has to do with it, and
 * what was seen in it of each feature. Features' scales and, if `dense` < 1, whether many or few of
 * them matter, are found from own records: the prior is a secret. */
typedef struct tacit_evidence {
    size_t count;
    const double *root; /* eigenvalues, none negative */
    const double *pull;
    const double *seen; /* count x p */
    double radius;      /* of a record */
    double share;       /* of |x|^2: how large E[y x] is beforehand, squared and times p */
    double dense;       /* probability beforehand that all features matter; 1: no other thought */
    /* squared loss only: */
    const double *products; /* E[x x^T] as others say, p x p, positive semidefinite; or NULL */
    double variance;        /* of a weight, beforehand */
} tacit_evidence;
tacit_status tacit_model_krige(const tacit_model *model, const tacit_shard *shard,
                               const tacit_evidence *evidence, tacit_secret *mean,
                               tacit_secret *precision, tacit_error *err);
/* The same for the squared loss, fitted to own records at once. */
tacit_status tacit_model_krige_squared(const tacit_model *model, const tacit_shard *shard,
                                       const tacit_evidence *evidence, tacit_secret *out,
                                       tacit_error *err);

/* The exact minimiser of L_i. */
tacit_status tacit_model_solve(const tacit_model *model, const tacit_shard *shard,
                               tacit_secret *out, tacit_error *err);
tacit_private_metric tacit_model_loss(const tacit_model *model, const tacit_shard *shard,
                                      const tacit_secret *at); /* L_i, regularised */
tacit_private_metric tacit_model_score(const tacit_model *model, const tacit_shard *shard,
                                       const tacit_secret *at);

/* ---- public knowledge ---- */
/* The same constant for any data with rows of norm at most `radius`. */
double tacit_model_smoothness_bound(const tacit_model *model, double radius);

#endif
