/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pool.h"

#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"

#define SIZES 16 /* distinct vector sizes in one run */
#define FIRST_SLAB ((size_t)32 * 1024)
#define LARGEST_SLAB ((size_t)4 << 20)

typedef struct free_vector {
    struct free_vector *next;
} free_vector;

typedef struct size_class {
    size_t stride;
    free_vector *free;
    unsigned char *fresh, *fresh_end; /* never used yet, in the newest slab */
    size_t slab_bytes;
} size_class;

typedef struct slab {
    void *memory;
    size_t bytes;
} slab;

struct tacit_pool {
    size_class size[SIZES];
    size_t sizes;
    slab *slabs;
    size_t slab_count, slab_capacity;
    uint32_t flags; /* of every vector */
};

tacit_pool *tacit_pool_create(bool solo)
{
    tacit_pool *pool = calloc(1, sizeof *pool);
    if (pool)
        pool->flags = solo ? TACIT_VECTOR_SOLO : 0;
    return pool;
}

void tacit_pool_free(tacit_pool *pool)
{
    if (!pool)
        return;
    for (size_t k = 0; k < pool->slab_count; k++)
        tacit_pages_free(pool->slabs[k].memory, pool->slabs[k].bytes, 1);
    free(pool->slabs);
    free(pool);
}

/* Small vectors are packed, since there may be millions; large ones keep to cache lines. */
static size_t stride_of(const tacit_shape *shape)
{
    size_t bytes = sizeof(tacit_vector) + shape->bytes;
    size_t unit = bytes < 256 ? 32 : TACIT_VECTOR_ALIGN;
    return (bytes + unit - 1) & ~(unit - 1);
}

static size_class *class_of(tacit_pool *pool, size_t stride)
{
    for (size_t k = 0; k < pool->sizes; k++)
        if (pool->size[k].stride == stride)
            return &pool->size[k];
    if (pool->sizes == SIZES)
        return NULL;
    size_class *c = &pool->size[pool->sizes++];
    *c = (size_class){.stride = stride, .slab_bytes = FIRST_SLAB};
    return c;
}

/* Slabs double up to a limit, so that small runs stay small and large ones stay few. */
static bool grow(tacit_pool *pool, size_class *c)
{
    slab *slabs =
        tacit_array_grow(pool->slabs, &pool->slab_capacity, pool->slab_count + 1, sizeof *slabs);
    if (!slabs)
        return false;
    pool->slabs = slabs;
    size_t bytes = c->slab_bytes;
    if (bytes < LARGEST_SLAB)
        c->slab_bytes *= 2;
    if (bytes < c->stride)
        bytes = c->stride;
    size_t usable = bytes / c->stride * c->stride;
    slab added = {NULL, usable + 2 * TACIT_VECTOR_ALIGN};
    if (!(added.memory = tacit_pages_alloc(added.bytes, 1)))
        return false;
    pool->slabs[pool->slab_count++] = added;
    uintptr_t line =
        ((uintptr_t)added.memory + TACIT_VECTOR_ALIGN - 1) & ~(uintptr_t)(TACIT_VECTOR_ALIGN - 1);
    c->fresh = (unsigned char *)(line + TACIT_VECTOR_ALIGN - sizeof(tacit_vector));
    c->fresh_end = c->fresh + usable;
    return true;
}

tacit_vector *tacit_pool_vector_raw(tacit_pool *pool, const tacit_shape *shape, uint32_t flags)
{
    size_class *c = class_of(pool, stride_of(shape));
    if (!c)
        return NULL;
    tacit_vector *v;
    if (c->free) {
        v = (tacit_vector *)(void *)c->free;
        c->free = c->free->next;
    } else {
        if (c->fresh == c->fresh_end && !grow(pool, c))
            return NULL;
        v = (tacit_vector *)(void *)c->fresh;
        c->fresh += c->stride;
    }
    tacit_vector_init(v, shape, flags | pool->flags);
    return v;
}

tacit_vector *tacit_pool_vector(tacit_pool *pool, const tacit_shape *shape, uint32_t flags)
{
    tacit_vector *v = tacit_pool_vector_raw(pool, shape, flags);
    if (v)
        memset(v->data, 0, shape->bytes);
    return v;
}

void tacit_vector_keep(tacit_vector *v)
{
    assert(!(v->flags & TACIT_VECTOR_SCRATCH));
    if (v->flags & TACIT_VECTOR_SOLO) {
        uint32_t refs = atomic_load_explicit(&v->refs, memory_order_relaxed);
        atomic_store_explicit(&v->refs, refs + 1, memory_order_relaxed);
    } else {
        atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
    }
}

/* True if that was the last reference. A sole owner needs no locked instruction: nobody
 * else can be counting. */
static bool forget(tacit_vector *v)
{
    uint32_t refs = atomic_load_explicit(&v->refs, memory_order_acquire);
    if (refs == 1)
        return true;
    if (!(v->flags & TACIT_VECTOR_SOLO))
        return atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) == 1;
    atomic_store_explicit(&v->refs, refs - 1, memory_order_relaxed);
    return false;
}

void tacit_vector_drop(tacit_pool *pool, tacit_vector *v)
{
    if (v->flags & TACIT_VECTOR_SCRATCH || !forget(v))
        return;
    if (v->flags & TACIT_VECTOR_SECRET)
        sodium_memzero(v->data, v->shape->bytes);
    size_class *c = class_of(pool, stride_of(v->shape));
    if (!c)
        return; /* the slab still owns the memory */
    free_vector *f = (free_vector *)(void *)v;
    f->next = c->free;
    c->free = f;
}

const tacit_public *tacit_keep(const tacit_public *vector)
{
    tacit_vector_keep(tacit_vector_of_public(vector));
    return vector;
}
