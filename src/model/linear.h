/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LINEAR_H
#define TACIT_LINEAR_H
#include "data/shard.h"
#include "tacit/model.h"
#include "tacit/net.h"

typedef enum tacit_row_loss { TACIT_LOGISTIC, TACIT_SQUARED, TACIT_SOFTMAX } tacit_row_loss;

struct tacit_model {
    tacit_row_loss loss;
    double lambda; /* 0: lambda_records / m */
    double lambda_records;
    size_t features;          /* of a record: p */
    size_t classes;           /* K of the softmax loss; others have one vector of weights: 1 */
    size_t parameters;        /* K p */
    tacit_shape shape;        /* "weights" */
    tacit_shape scalar_shape; /* "value": one f64 */
    tacit_shape statistics;   /* no segments: there would be too many numbers */
    tacit_net *net;           /* NULL: linear */
};

/* Loss of one record at margin z = theta . x, its first and second derivative by z: not for the
 * softmax loss, which has K margins (softmax.h). */
double tacit_loss_value(tacit_row_loss loss, double z, double y);
double tacit_loss_slope(tacit_row_loss loss, double z, double y);
/* The largest second derivative there is (for softmax: eigenvalue of the Hessian by margins). */
double tacit_loss_steepest(tacit_row_loss loss);
double tacit_loss_curve(tacit_row_loss loss, double z, double y);

/* Row `row` of a batch and of a vector as doubles. */
void tacit_row_doubles(const tacit_batch *batch, tacit_scalar scalar, size_t features, size_t row,
                       double *out, double *y);

/* gradient_grid.c: tacit_model_gradient for a cost with noise. */
tacit_status tacit_gradient_on_grid(const tacit_model *model, tacit_permit *permit,
                                    const tacit_shard *shard, const tacit_public *at,
                                    tacit_scratch *scratch, tacit_bounded **out, tacit_error *err);

/* statistics.c: the shape of an agent's one vector. */
void tacit_statistics_shape_init(tacit_model *model);

/* local_noisy.c: with R/mu as sigma of b, objective perturbation tells no more than two Gaussians
 * `told` apart; `curve` is R^2 / (4 Lambda). 0: no sigma does. */
double tacit_objective_mu(double told, double curve);

/* Refuses the softmax loss for what is not worked out for it, or only nets. `what` begins the
 * sentence. */
tacit_status tacit_refuse_softmax(const tacit_model *model, const char *what, tacit_error *err);
tacit_status tacit_refuse_net(const tacit_model *model, const char *what, tacit_error *err);

/* net_model.c: the net of the options, for records of so many features. */
tacit_status tacit_net_of_options(tacit_net **out, const tacit_model_options *o, size_t features,
                                  tacit_error *err);
/* Sum over records of the loss, or of who is told right. NaN: memory ran out. */
double tacit_net_sum(const tacit_model *model, const tacit_shard *shard, const tacit_secret *at,
                     bool score);
/* net_gradient.c: tacit_model_gradient of a net. */
tacit_status tacit_net_model_gradient(const tacit_model *model, tacit_permit *permit,
                                      const tacit_shard *shard, const tacit_public *at,
                                      tacit_clip clip, tacit_scratch *scratch, tacit_bounded **out,
                                      tacit_error *err);

/* L_i(theta) for a theta of doubles (NULL: zero). */
double tacit_linear_loss(const tacit_model *model, const tacit_shard *shard, const double *theta);

#endif
