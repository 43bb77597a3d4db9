/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CURVATURE_H
#define TACIT_CURVATURE_H
/*
 * First and second derivatives of L_i in doubles, whatever the run's scalar: for oracles that
 * solve a whole run's problem. Like all kernels without a permit, what they yield stays at home.
 */
#include "tacit/model.h"

/* Numbers a record that say how L_i curves: 1; for the softmax loss, its probabilities. */
size_t tacit_linear_curves(const tacit_model *model);
/* The gradient of L_i at theta, all parameters of it, regulariser included. `curve` gets
 * tacit_linear_curves a record: second derivatives of the mean loss by the records' margins;
 * tacit_linear_bend wants them. */
double tacit_linear_derive(const tacit_model *model, const tacit_shard *shard, const double *theta,
                           double *gradient, double *curve); /* returns L_i(theta) */
/* out += scale * Hessian of L_i * v, at the theta that `curve` was made at. */
void tacit_linear_bend(const tacit_model *model, const tacit_shard *shard, const double *curve,
                       double scale, const double *v, double *out);
/* The diagonal of that Hessian. */
void tacit_linear_diagonal(const tacit_model *model, const tacit_shard *shard, const double *curve,
                           double scale, double *out);

#endif
