/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_DATASET_H
#define TACIT_DATA_DATASET_H
/* What the sources need of the storage beyond the public contract. */
#include "tacit/data.h"

/* Would tacit_dataset_create take it? For sources that must refuse before they count. */
tacit_status tacit_dataset_check_size(uint64_t agents, uint64_t rows, size_t features,
                                      tacit_scalar scalar, tacit_error *err);

/* tacit_dataset_create with a folder for a nameless file that holds the records; NULL: memory.
 * Sources pass tacit_data_scratch(options). */
tacit_status tacit_dataset_create_in(tacit_dataset **out, const char *scratch, uint32_t agents,
                                     size_t features, tacit_scalar scalar,
                                     const uint32_t *const counts[TACIT_SPLITS], tacit_error *err);
/* And with `common` test rows behind the others that are nobody's. */
tacit_status tacit_dataset_create_common(tacit_dataset **out, const char *scratch, uint32_t agents,
                                         size_t features, tacit_scalar scalar,
                                         const uint32_t *const counts[TACIT_SPLITS],
                                         uint32_t common, tacit_error *err);
static inline const char *tacit_data_scratch(const tacit_data_options *options)
{
    return options->storage ? options->scratch : NULL;
}

/* Scale `x` so that its norm is at most 1 once it is stored as `scalar`: rounding included,
 * for a bound that privacy leans on must hold for the numbers kept, not only for those drawn. */
void tacit_bound_row(double *x, size_t features, tacit_bound bound, tacit_scalar scalar);

/* synthetic.c: refuses numbers of agents and records that no drawn source can have. */
tacit_status tacit_drawn_check(const tacit_data_options *options, tacit_error *err);

#endif
