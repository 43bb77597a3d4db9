/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_RECORDS_H
#define TACIT_DATA_RECORDS_H
/* Records that nobody deals to agents: to be predicted. */
#include "data/table.h"

/* The records of `count` files behind each other, in f32. The format is that of the first bytes of
 * each (NPY, IDX, else text) unless `any` is false: then it is options->source. Labels are read
 * only if `labels`: from options->labels_path, else from options->label_column of a text table.
 * Otherwise columns called like the label or the agent are left out, if they are there. */
tacit_status tacit_records_read(tacit_table *out, const tacit_data_options *options, bool any,
                                bool labels, const char *const *paths, size_t count,
                                tacit_error *err);

#endif
