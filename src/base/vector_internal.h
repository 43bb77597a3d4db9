/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_VECTOR_INTERNAL_H
#define TACIT_VECTOR_INTERNAL_H
/*
 * What tacit_secret and tacit_public really are. For the trusted modules only: math,
 * privacy, model, runtime. tools/check_arrows refuses this header in src/protocol.
 */
#include <stdalign.h>
#include <stdatomic.h>

#include "tacit/vector.h"

enum {
    TACIT_VECTOR_SECRET = 1,  /* wiped when the last reference goes */
    TACIT_VECTOR_SCRATCH = 2, /* lives in scratch memory until the event ends */
    TACIT_VECTOR_FROZEN = 4,  /* sent: nobody may write any more */
    TACIT_VECTOR_SOLO = 8     /* one thread only: references are counted without locks */
};

#define TACIT_VECTOR_ALIGN 64 /* the numbers of all but the smallest vectors start on a line */

typedef struct tacit_vector {
    const tacit_shape *shape;
    _Atomic uint32_t refs;
    uint32_t flags;
    alignas(16) unsigned char data[];
} tacit_vector;

static inline tacit_vector *tacit_vector_of_public(const tacit_public *v)
{
    return (tacit_vector *)(uintptr_t)v;
}
static inline tacit_vector *tacit_vector_of_secret(const tacit_secret *v)
{
    return (tacit_vector *)(uintptr_t)v;
}
static inline tacit_public *tacit_vector_public(tacit_vector *v)
{
    return (tacit_public *)(void *)v;
}
static inline tacit_secret *tacit_vector_secret(tacit_vector *v)
{
    return (tacit_secret *)(void *)v;
}
static inline void *tacit_vector_segment(tacit_vector *v, uint32_t segment)
{
    return v->data + v->shape->offset[segment];
}
static inline void tacit_vector_init(tacit_vector *v, const tacit_shape *shape, uint32_t flags)
{
    v->shape = shape;
    atomic_init(&v->refs, 1);
    v->flags = flags;
}

/* Read or write one number whatever its scalar. */
double tacit_vector_get(const tacit_vector *v, uint32_t segment, size_t index);
void tacit_vector_set(tacit_vector *v, uint32_t segment, size_t index, double value);

#endif
