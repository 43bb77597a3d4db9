/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SLICE_H
#define TACIT_DATA_SLICE_H
/* Public records of a table (data.public): nobody owns them, and what is made of them (means,
 * scales, components) depends on no agent's record. */
#include "data/standardise.h"
#include "data/table.h"
#include "tacit/random.h"

#define TACIT_COMPONENTS_MOST 2048 /* features that components can be made of */

typedef struct tacit_slice {
    uint32_t *row; /* of the table, in the order in which sums are taken */
    uint32_t rows;
    double *stand_in; /* of each feature: the mean of the values that are there, 0 without */
    double label_mean, label_deviation;
    size_t features, components; /* components 0: features stay as they are */
    double *centre;              /* of the scaled features */
    double *basis;               /* components x features, and what a component is divided by */
    double *room;                /* a row of scaled features */
} tacit_slice;

/* What the options ask for and cannot have, told before records are touched. */
tacit_status tacit_slice_check(const tacit_data_options *options, size_t features,
                               tacit_error *err);
/* Takes the last data.public of the rows that are still to be dealt (owner[] is not
 * TACIT_NOT_DEALT), and leaves out what is beyond the first data.records of the others: both
 * become TACIT_NOT_DEALT. Under data.shuffle "first" and "last" are of a shuffled order. */
tacit_status tacit_slice_take(tacit_slice *slice, uint32_t *owner, size_t rows,
                              const tacit_data_options *options, const tacit_random *random,
                              tacit_error *err);
/* Means of features and labels, from the rows taken. */
tacit_status tacit_slice_measure(tacit_slice *slice, const tacit_table *table,
                                 const tacit_data_options *options, tacit_error *err);
/* Adds the rows to a scale that was begun. */
void tacit_slice_scale(tacit_slice *slice, const tacit_table *table,
                       const tacit_data_options *options, tacit_scale *scale);
/* The leading principal components of the rows, scaled first (scale NULL: as they are). */
tacit_status tacit_slice_decompose(tacit_slice *slice, const tacit_table *table,
                                   const tacit_data_options *options, const tacit_scale *scale,
                                   tacit_error *err);
/* From scaled features to components, in place; does nothing without components. */
void tacit_slice_project(tacit_slice *slice, double *x);
void tacit_slice_clear(tacit_slice *slice); /* {0} is empty */

#endif
