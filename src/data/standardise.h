/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_STANDARDISE_H
#define TACIT_DATA_STANDARDISE_H
/* Features to mean 0 and deviation 1. */
#include "tacit/base.h"

/* While rows are added, `deviation` holds sums of squares; tacit_scale_settle ends that. */
typedef struct tacit_scale {
    size_t features;
    double *mean, *deviation;
    uint64_t rows;
} tacit_scale;

tacit_status tacit_scale_create(tacit_scale *scale, size_t features, tacit_error *err);
void tacit_scale_clear(tacit_scale *scale); /* {0} is fine */
/* Measuring: begin, add rows of finite numbers, settle. */
void tacit_scale_begin(tacit_scale *scale);
void tacit_scale_add(tacit_scale *scale, const double *x);
tacit_status tacit_scale_settle(tacit_scale *scale, tacit_error *err);
/* x = (x - mean) / deviation, cut to [-cut, cut] unless `cut` is 0. */
void tacit_scale_apply(const tacit_scale *scale, double cut, double *x);

/* Public constants: a line "mean,deviation" a feature; `name` is the file for messages. */
tacit_status tacit_scale_parse(tacit_scale *scale, const char *name, const char *text, size_t len,
                               tacit_error *err);
tacit_status tacit_scale_read(tacit_scale *scale, const char *path, const char *folder,
                              tacit_error *err);

#endif
