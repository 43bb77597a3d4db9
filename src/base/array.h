/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_ARRAY_H
#define TACIT_ARRAY_H
#include "tacit/base.h"

/* Room for `needed` items: `array` itself if *capacity suffices, otherwise a larger copy (at
 * least doubled) and a new *capacity. NULL when memory is out: then nothing has changed. */
void *tacit_array_grow(void *array, size_t *capacity, size_t needed, size_t item);

#endif
