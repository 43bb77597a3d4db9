/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SAVER_H
#define TACIT_SAVER_H
#include "base/pool.h"
#include "tacit/checkpoint.h"

/* Where loaded vectors are allocated; must be set before the first vector is loaded. */
void tacit_loader_use(tacit_loader *loader, tacit_pool *pool);

/* Bytes not read yet: no count in a checkpoint can be larger. */
size_t tacit_loader_left(const tacit_loader *loader);

/* Vectors by internal handle, for runtimes. */
void tacit_save_vector(tacit_saver *saver, const tacit_vector *v);
tacit_vector *tacit_load_vector(tacit_loader *loader, const tacit_shape *shape);

#endif
