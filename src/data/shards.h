/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SHARDS_H
#define TACIT_DATA_SHARDS_H
/* Source "shards": a folder with records as they were dealt. */
#include "tacit/data.h"

extern const char *const tacit_shards_files[TACIT_SPLITS];
#define TACIT_SHARDS_LIST "agents.txt"

tacit_status tacit_data_shards(tacit_source *out, const tacit_data_options *options,
                               tacit_scalar scalar, tacit_error *err);

#endif
