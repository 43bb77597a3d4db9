/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scratch.h"

#include <sodium.h>
#include <stdlib.h>

#define FIRST_CHUNK ((size_t)64 * 1024)

typedef struct chunk {
    struct chunk *next; /* older chunks come first */
    size_t size;
    unsigned char *bytes;
} chunk;

struct tacit_scratch {
    chunk *first, *current;
    size_t used; /* of current */
    const void *next_rows;
    const tacit_guest *guest_kind;
    const void *guest_key;
    void *guest;
};

static chunk *chunk_create(size_t size)
{
    chunk *c = malloc(sizeof *c);
    if (!c)
        return NULL;
    *c = (chunk){.size = size, .bytes = aligned_alloc(64, size)};
    if (!c->bytes) {
        free(c);
        return NULL;
    }
    return c;
}

tacit_scratch *tacit_scratch_create(void)
{
    tacit_scratch *s = calloc(1, sizeof *s);
    if (s && !(s->first = s->current = chunk_create(FIRST_CHUNK))) {
        free(s);
        return NULL;
    }
    return s;
}

static void see_off(tacit_scratch *s)
{
    if (s->guest)
        s->guest_kind->free(s->guest);
    s->guest = NULL;
}

void tacit_scratch_free(tacit_scratch *s)
{
    if (!s)
        return;
    see_off(s);
    for (chunk *c = s->first; c;) {
        chunk *next = c->next;
        sodium_memzero(c->bytes, c->size);
        free(c->bytes);
        free(c);
        c = next;
    }
    free(s);
}

/* Move on to a chunk that can hold `bytes`, keeping those before it in the list. */
static bool advance(tacit_scratch *s, size_t bytes)
{
    if (s->current->next && s->current->next->size >= bytes) {
        s->current = s->current->next;
    } else {
        size_t size = s->current->size * 2;
        while (size < bytes)
            size *= 2;
        chunk *c = chunk_create(size);
        if (!c)
            return false;
        c->next = s->current->next;
        s->current->next = c;
        s->current = c;
    }
    s->used = 0;
    return true;
}

void *tacit_scratch_alloc(tacit_scratch *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = (bytes + 63) & ~(size_t)63;
    if (bytes > s->current->size - s->used && !advance(s, bytes))
        return NULL;
    void *out = s->current->bytes + s->used;
    s->used += bytes;
    return out;
}

tacit_vector *tacit_scratch_vector(tacit_scratch *s, const tacit_shape *shape, uint32_t flags)
{
    /* Numbers, not the header, start on a cache line: kernels store to them all the time. */
    char *room = tacit_scratch_alloc(s, TACIT_VECTOR_ALIGN + shape->bytes);
    if (!room)
        return NULL;
    tacit_vector *v = (tacit_vector *)(void *)(room + TACIT_VECTOR_ALIGN - sizeof *v);
    tacit_vector_init(v, shape, flags | TACIT_VECTOR_SCRATCH);
    return v;
}

tacit_scratch_mark tacit_scratch_now(const tacit_scratch *s)
{
    return (tacit_scratch_mark){s->current, s->used};
}

void tacit_scratch_rewind(tacit_scratch *s, tacit_scratch_mark mark)
{
    s->current = mark.chunk;
    s->used = mark.used;
}

void tacit_scratch_set_next_rows(tacit_scratch *s, const void *rows)
{
    s->next_rows = rows;
}

const void *tacit_scratch_next_rows(const tacit_scratch *s)
{
    return s->next_rows;
}

void *tacit_scratch_guest(tacit_scratch *s, const tacit_guest *kind, const void *key)
{
    if (s->guest && s->guest_kind == kind && s->guest_key == key)
        return s->guest;
    see_off(s);
    s->guest_kind = kind;
    s->guest_key = key;
    s->guest = kind->make(key);
    return s->guest;
}
