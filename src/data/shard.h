/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SHARD_H
#define TACIT_SHARD_H
/*
 * Walking an agent's records. Not in include/tacit/: whoever can read a record can write it
 * into a public vector, so this is for kernels and runtimes only. tools/check_arrows.sh refuses
 * it in src/protocol, and tests/compile_fail/walk_records.c shows that public headers do not
 * suffice.
 */
#include "tacit/data.h"

/* Consecutive rows: x is rows x features (row-major, no padding), y one value a row. */
typedef struct tacit_batch {
    size_t rows;
    const void *x;
    const void *y;
} tacit_batch;

/* Batches in order: start with *cursor = 0; false at the end. */
bool tacit_shard_next(const tacit_shard *shard, size_t *cursor, tacit_batch *batch);

#endif
