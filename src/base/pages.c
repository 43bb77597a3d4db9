/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)

/* Small tables are not worth a page of their own. */
static bool is_large(size_t bytes)
{
    return bytes >= HUGE / 32;
}

void *tacit_pages_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (!tacit_mul_size(count, size, &bytes) || bytes > SIZE_MAX - 2 * HUGE)
        return NULL;
    if (!is_large(bytes))
        return calloc(bytes ? bytes : 1, 1);
    /* Map more than needed and give back what is not aligned: else no page is huge. */
    size_t length = (bytes + HUGE - 1) & ~(HUGE - 1);
    char *room =
        mmap(NULL, length + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    char *start = (char *)(((uintptr_t)room + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    if (start > room)
        munmap(room, (size_t)(start - room));
    if (start < room + HUGE)
        munmap(start + length, (size_t)(room + HUGE - start));
#ifdef MADV_HUGEPAGE
    /* A hint: refusal costs only speed. What fills little of a huge page would take all of it. */
    if (bytes >= HUGE / 4)
        (void)madvise(start, length, MADV_HUGEPAGE);
#endif
    return start;
}

void tacit_pages_free(void *memory, size_t count, size_t size)
{
    size_t bytes = count * size; /* it did not overflow when it was allocated */
    if (!memory)
        return;
    if (is_large(bytes))
        munmap(memory, (bytes + HUGE - 1) & ~(HUGE - 1));
    else
        free(memory);
}
