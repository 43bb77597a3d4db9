/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_POOL_H
#define TACIT_POOL_H
/*
 * Vectors by the million. Each thread has a pool with one free list a size; a vector may
 * be freed into another pool than it came from. All pools of a runtime are freed together.
 */
#include "base/vector_internal.h"

typedef struct tacit_pool tacit_pool;

/* `solo`: only one thread will ever touch the vectors. */
tacit_pool *tacit_pool_create(bool solo);
void tacit_pool_free(tacit_pool *pool);
/* Zeroed, one reference; NULL when memory is out. */
tacit_vector *tacit_pool_vector(tacit_pool *pool, const tacit_shape *shape, uint32_t flags);
/* As above with numbers left as they were: the caller writes them all. */
tacit_vector *tacit_pool_vector_raw(tacit_pool *pool, const tacit_shape *shape, uint32_t flags);
void tacit_vector_keep(tacit_vector *v);
/* Drop one reference; the last one frees into `pool`. */
void tacit_vector_drop(tacit_pool *pool, tacit_vector *v);

#endif
