/* SPDX-License-Identifier: Apache-2.0 */
#include "base/array.h"

#include <stdlib.h>

#define FIRST_CAPACITY 64

void *tacit_array_grow(void *array, size_t *capacity, size_t needed, size_t item)
{
    if (needed <= *capacity && array)
        return array;
    size_t larger = *capacity ? *capacity : FIRST_CAPACITY, bytes;
    while (larger < needed)
        if (!tacit_mul_size(larger, 2, &larger))
            return NULL;
    if (!tacit_mul_size(larger, item, &bytes))
        return NULL;
    void *grown = realloc(array, bytes);
    if (grown)
        *capacity = larger;
    return grown;
}
