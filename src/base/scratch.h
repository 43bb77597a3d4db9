/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SCRATCH_H
#define TACIT_SCRATCH_H
/*
 * A thread's memory for one event: a bump allocator that is rewound when the handler
 * returns. Permits, bounded values and gradients live here, so that a tick allocates
 * nothing. Wiped when freed, since gradients are secrets.
 */
#include "base/vector_internal.h"

typedef struct tacit_scratch tacit_scratch;

tacit_scratch *tacit_scratch_create(void);
void tacit_scratch_free(tacit_scratch *scratch);
/* 64-byte aligned, not zeroed; NULL when memory is out. */
void *tacit_scratch_alloc(tacit_scratch *scratch, size_t bytes);
tacit_vector *tacit_scratch_vector(tacit_scratch *scratch, const tacit_shape *shape,
                                   uint32_t flags);
/* A hint from the runtime: records that will be read after those of this event. */
void tacit_scratch_set_next_rows(tacit_scratch *scratch, const void *rows);
const void *tacit_scratch_next_rows(const tacit_scratch *scratch);

/* Something that a kernel keeps between events, such as work space that takes long to make: what
 * `make` makes the first time for this `key`, freed with the scratch memory or when another key is
 * asked for. NULL when memory is out. */
typedef struct tacit_guest {
    void *(*make)(const void *key);
    void (*free)(void *guest);
} tacit_guest;
void *tacit_scratch_guest(tacit_scratch *scratch, const tacit_guest *kind, const void *key);

/* Handlers nest (a delivery inside a tick), so memory is rewound to a mark. */
typedef struct tacit_scratch_mark {
    void *chunk;
    size_t used;
} tacit_scratch_mark;
tacit_scratch_mark tacit_scratch_now(const tacit_scratch *scratch);
void tacit_scratch_rewind(tacit_scratch *scratch, tacit_scratch_mark mark);

#endif
