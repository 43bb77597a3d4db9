/* SPDX-License-Identifier: Apache-2.0 */
/* A vector for sums where there is no environment to make one: one block, the shape at its end. */
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "tacit/masks.h"

tacit_public *tacit_mask_sum_create(size_t numbers)
{
    tacit_shape shape;
    size_t at, bytes;
    const tacit_segment segment = {"sum", TACIT_I64, numbers};
    tacit_error quiet = {0};
    if (tacit_shape_init(&shape, &segment, 1, &quiet) != TACIT_OK ||
        !tacit_add_size(offsetof(tacit_vector, data), shape.bytes, &at) ||
        !tacit_add_size(at, sizeof shape, &bytes))
        return NULL;
    tacit_vector *v = calloc(1, bytes); /* every part of it is a multiple of eight bytes long */
    if (!v)
        return NULL;
    tacit_shape *kept = (tacit_shape *)(void *)(v->data + shape.bytes);
    *kept = shape;
    tacit_vector_init(v, kept, 0);
    return tacit_vector_public(v);
}

void tacit_mask_sum_free(tacit_public *sum)
{
    free(sum);
}
