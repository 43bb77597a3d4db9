/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a greeting: an error with words, or sorted lists that encode to those bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/greeting.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

static void check(const tacit_greeting *g, const uint8_t *bytes, size_t len)
{
    for (uint32_t i = 1; i < g->agents; i++)
        demand(g->agent[i - 1] < g->agent[i]);
    for (uint32_t i = 1; i < g->heard_count; i++) {
        const tacit_heard *a = &g->heard[i - 1], *b = &g->heard[i];
        demand(((uint64_t)a->from << 32 | a->to) < ((uint64_t)b->from << 32 | b->to));
    }
    for (uint32_t i = 0; i < g->mark_count; i++)
        demand(g->mark[i].mark.releases > 0 &&
               (i == 0 || tacit_marked_order(&g->mark[i - 1], &g->mark[i]) < 0) &&
               (i < 2 || g->mark[i - 2].agent < g->mark[i].agent));
    demand(tacit_greeting_bytes(g) == len && g->flags <= 3);
    uint32_t agents, heard, marks;
    demand(tacit_greeting_peek(bytes, len, &agents, &heard, &marks));
    demand(agents == g->agents && heard == g->heard_count && marks == g->mark_count);
    uint8_t *again = malloc(len);
    demand(again != NULL);
    tacit_greeting_encode(again, g);
    demand(memcmp(again, bytes, len) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_error err = {0};
    tacit_greeting g;
    tacit_status status = tacit_greeting_decode(&g, bytes, len, &err);
    if (status)
        demand(err.text[0] && status == TACIT_EINPUT && !g.agent && !g.heard && !g.mark);
    else
        check(&g, bytes, len);
    tacit_greeting_clear(&g);
    return 0;
}
