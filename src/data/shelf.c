/* SPDX-License-Identifier: Apache-2.0 */
#include "data/shelf.h"

#include <stdlib.h>
#include <string.h>

#define LEAST ((size_t)1 << 20)
#define SHARE 16 /* or this part of the table: at most about so many readings */

tacit_status tacit_shelf_claim(tacit_shelf *s, const tacit_table *table, const uint32_t *owner,
                               const uint64_t *first, uint32_t agents, tacit_error *err)
{
    size_t bytes = table->x.len / SHARE, row = tacit_table_row_bytes(table);
    *s = (tacit_shelf){.table = table, .owner = owner, .first = first, .agents = agents};
    if (!table->x.in_file || row == 0)
        return TACIT_OK;
    bytes = bytes > LEAST ? bytes : LEAST;
    s->room = bytes / row;
    s->bytes = malloc(bytes);
    s->next = calloc(agents, sizeof *s->next);
    return s->bytes && s->next ? TACIT_OK : tacit_out_of_memory(err);
}

void tacit_shelf_clear(tacit_shelf *s)
{
    free(s->bytes);
    free(s->next);
    *s = (tacit_shelf){0};
}

/* An agent that does not fit at all is read from the table. */
void tacit_shelf_fetch(tacit_shelf *s, uint32_t agent)
{
    if (!s->bytes || (agent >= s->begin && agent < s->end))
        return;
    const unsigned char *from = s->table->x.bytes;
    const size_t row = tacit_table_row_bytes(s->table);
    s->begin = s->end = agent;
    while (s->end < s->agents && s->first[s->end + 1] - s->first[agent] <= s->room)
        s->end++;
    for (uint32_t i = s->begin; i < s->end; i++)
        s->next[i] = s->first[i] - s->first[agent];
    for (size_t k = 0; s->end > s->begin && k < s->table->rows; k++) {
        if (s->owner[k] >= s->begin && s->owner[k] < s->end)
            memcpy(s->bytes + s->next[s->owner[k]]++ * row, from + k * row, row);
    }
}

const void *tacit_shelf_row(const tacit_shelf *s, uint32_t agent, uint64_t at)
{
    if (!s->bytes || agent < s->begin || agent >= s->end)
        return NULL;
    return s->bytes + (at - s->first[s->begin]) * tacit_table_row_bytes(s->table);
}
