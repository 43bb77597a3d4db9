/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Greetings as bytes. Numbers are little-endian.
 *
 *     greeting  8 stamp, 8 quiet, 4 flags, 4 agents, 4 heard, 4 marks, agents, heard, marks
 *     agent     4 number
 *     heard     4 from, 4 to, 8 incarnation, 8 sequence
 *     mark      4 agent, 8 releases, 16 head, 64 signature
 *
 * The envelope around it (docs/wire.md) has the version. The counts must fit the length to the
 * byte before anything is allocated, so nobody gets more memory out of us than he sent bytes.
 * Each greeting has exactly one encoding.
 */
#include "net/greeting.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "net/bits.h"

enum {
    AT_QUIET = 8,
    AT_FLAGS = 16,
    AT_AGENTS = 20,
    AT_HEARD = 24,
    AT_MARKS = 28,
    HEAD = 32,
    AGENT = 4,
    HEARD = 24,
    MARK = 4 + TACIT_MARK_BYTES,
    KNOWN = TACIT_GREETING_ENDED | TACIT_GREETING_MUTE
};

size_t tacit_greeting_bytes(const tacit_greeting *g)
{
    return HEAD + (size_t)g->agents * AGENT + (size_t)g->heard_count * HEARD +
           (size_t)g->mark_count * MARK;
}

void tacit_greeting_encode(uint8_t *out, const tacit_greeting *g)
{
    assert(g->agents <= TACIT_GREETING_AGENTS && g->heard_count <= TACIT_GREETING_AGENTS &&
           g->mark_count <= TACIT_GREETING_AGENTS);
    assert(!(g->flags & ~(uint32_t)KNOWN));
    tacit_put_u64(out, g->stamp);
    tacit_put_u64(out + AT_QUIET, g->quiet);
    tacit_put_u32(out + AT_FLAGS, g->flags);
    tacit_put_u32(out + AT_AGENTS, g->agents);
    tacit_put_u32(out + AT_HEARD, g->heard_count);
    tacit_put_u32(out + AT_MARKS, g->mark_count);
    out += HEAD;
    for (uint32_t i = 0; i < g->agents; i++, out += AGENT)
        tacit_put_u32(out, g->agent[i]);
    for (uint32_t i = 0; i < g->heard_count; i++, out += HEARD) {
        const tacit_heard *h = &g->heard[i];
        tacit_put_u32(out, h->from);
        tacit_put_u32(out + 4, h->to);
        tacit_put_u64(out + 8, h->incarnation);
        tacit_put_u64(out + 16, h->sequence);
    }
    for (uint32_t i = 0; i < g->mark_count; i++, out += MARK) {
        tacit_put_u32(out, g->mark[i].agent);
        tacit_mark_write(out + 4, &g->mark[i].mark);
    }
}

static tacit_status read_agents(tacit_greeting *g, const uint8_t *bytes, tacit_error *err)
{
    if (g->agents == 0)
        return TACIT_OK;
    uint32_t *agent = calloc(g->agents, sizeof *agent);
    if (!agent)
        return tacit_out_of_memory(err);
    g->agent = agent;
    for (uint32_t i = 0; i < g->agents; i++) {
        agent[i] = tacit_get_u32(bytes + (size_t)i * AGENT);
        if (i > 0 && agent[i] <= agent[i - 1])
            return tacit_fail(err, TACIT_EINPUT, "agent %u of a greeting is not in order", i);
    }
    return TACIT_OK;
}

static bool is_after(const tacit_heard *b, const tacit_heard *a)
{
    return b->from > a->from || (b->from == a->from && b->to > a->to);
}

static tacit_status read_heard(tacit_greeting *g, const uint8_t *bytes, tacit_error *err)
{
    if (g->heard_count == 0)
        return TACIT_OK;
    tacit_heard *heard = calloc(g->heard_count, sizeof *heard);
    if (!heard)
        return tacit_out_of_memory(err);
    g->heard = heard;
    for (uint32_t i = 0; i < g->heard_count; i++, bytes += HEARD) {
        heard[i] = (tacit_heard){.from = tacit_get_u32(bytes),
                                 .to = tacit_get_u32(bytes + 4),
                                 .incarnation = tacit_get_u64(bytes + 8),
                                 .sequence = tacit_get_u64(bytes + 16)};
        if (i > 0 && !is_after(&heard[i], &heard[i - 1]))
            return tacit_fail(err, TACIT_EINPUT,
                              "what was heard, number %u of a greeting, is not in order", i);
    }
    return TACIT_OK;
}

int tacit_marked_order(const tacit_marked *a, const tacit_marked *b)
{
    if (a->agent != b->agent)
        return a->agent < b->agent ? -1 : 1;
    if (a->mark.releases != b->mark.releases)
        return a->mark.releases < b->mark.releases ? -1 : 1;
    return memcmp(a->mark.head, b->mark.head, sizeof a->mark.head);
}

static tacit_status read_marks(tacit_greeting *g, const uint8_t *bytes, tacit_error *err)
{
    if (g->mark_count == 0)
        return TACIT_OK;
    tacit_marked *mark = calloc(g->mark_count, sizeof *mark);
    if (!mark)
        return tacit_out_of_memory(err);
    g->mark = mark;
    for (uint32_t i = 0; i < g->mark_count; i++, bytes += MARK) {
        mark[i].agent = tacit_get_u32(bytes);
        if (!tacit_mark_read(&mark[i].mark, bytes + 4) || mark[i].mark.releases == 0)
            return tacit_fail(err, TACIT_EINPUT, "mark %u of a greeting tells of no release", i);
        if (i > 0 && tacit_marked_order(&mark[i - 1], &mark[i]) >= 0)
            return tacit_fail(err, TACIT_EINPUT, "mark %u of a greeting is not in order", i);
        if (i > 1 && mark[i].agent == mark[i - 2].agent)
            return tacit_fail(err, TACIT_EINPUT, "mark %u of a greeting is the third of its agent",
                              i);
    }
    return TACIT_OK;
}

static tacit_status check_head(const tacit_greeting *g, size_t len, tacit_error *err)
{
    if (g->flags & ~(uint32_t)KNOWN)
        return tacit_fail(err, TACIT_EINPUT, "a greeting has flags 0x%x that nobody knows",
                          (unsigned)(g->flags & ~(uint32_t)KNOWN));
    if (g->agents > TACIT_GREETING_AGENTS || g->heard_count > TACIT_GREETING_AGENTS ||
        g->mark_count > TACIT_GREETING_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "a greeting tells of %u agents, %u heard and %u marks, above %d",
                          g->agents, g->heard_count, g->mark_count, TACIT_GREETING_AGENTS);
    if (len != tacit_greeting_bytes(g))
        return tacit_fail(err, TACIT_EINPUT, "a greeting has %zu bytes instead of %zu", len,
                          tacit_greeting_bytes(g));
    return TACIT_OK;
}

bool tacit_greeting_peek(const uint8_t *bytes, size_t len, uint32_t *agents, uint32_t *heard,
                         uint32_t *marks)
{
    if (len < HEAD)
        return false;
    *agents = tacit_get_u32(bytes + AT_AGENTS);
    *heard = tacit_get_u32(bytes + AT_HEARD);
    *marks = tacit_get_u32(bytes + AT_MARKS);
    return true;
}

tacit_status tacit_greeting_decode(tacit_greeting *g, const uint8_t *bytes, size_t len,
                                   tacit_error *err)
{
    *g = (tacit_greeting){0};
    if (len < HEAD)
        return tacit_fail(err, TACIT_EINPUT, "a greeting of %zu bytes is cut", len);
    tacit_greeting got = {.stamp = tacit_get_u64(bytes),
                          .quiet = tacit_get_u64(bytes + AT_QUIET),
                          .flags = tacit_get_u32(bytes + AT_FLAGS),
                          .agents = tacit_get_u32(bytes + AT_AGENTS),
                          .heard_count = tacit_get_u32(bytes + AT_HEARD),
                          .mark_count = tacit_get_u32(bytes + AT_MARKS)};
    tacit_status status = check_head(&got, len, err);
    if (!status)
        status = read_agents(&got, bytes + HEAD, err);
    if (!status)
        status = read_heard(&got, bytes + HEAD + (size_t)got.agents * AGENT, err);
    if (!status)
        status = read_marks(&got, bytes + len - (size_t)got.mark_count * MARK, err);
    if (status)
        tacit_greeting_clear(&got);
    else
        *g = got;
    return status;
}

void tacit_greeting_clear(tacit_greeting *g)
{
    /* const is for readers; decode allocated them */
    free((void *)(uintptr_t)g->agent);
    free((void *)(uintptr_t)g->heard);
    free((void *)(uintptr_t)g->mark);
    *g = (tacit_greeting){0};
}
