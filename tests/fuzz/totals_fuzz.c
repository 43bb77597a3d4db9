/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents under whatever two of them, timers and the network do. The input is a first
 * byte (which plan) and a row of steps, eight bytes each:
 *
 *     1 byte   what: low 5 bits the step, high 3 bits who
 *     7 bytes  fields of a message, or which of those on their way is delivered
 *
 * Agents 0 to 3 are honest; the last one runs the same machine and is a liar besides, who says
 * whatever the bytes say, or what others said with changes. What the bench demands of the honest is
 * in totals_bench.h.
 */
#include "../support/totals_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { SIZE = 5, LIAR = 4, STEP = 8 };

/* Small numbers mostly, the try that is under way, and some absurd ones. */
static int64_t number(const bench *b, uint8_t byte)
{
    static const int64_t odd[] = {
        -1, INT64_MAX, INT64_MIN, 1 << 20, INT64_C(1) << 32, INT64_C(1) << 40, 255, 257};
    if (byte >= 248)
        return odd[byte & 7];
    return byte < 128 ? byte & 31
                      : (int64_t)b->agent[byte % SIZE].totals->member.trial + byte / 224;
}

/* Start from what somebody is about to say, if there is such a message. */
static const tacit_public *pattern(const bench *b, uint32_t kind, uint8_t which)
{
    for (size_t k = 0; k < b->messages; k++) {
        const bench_message *m = &b->message[(k + which) % b->messages];
        if (m->kind == kind)
            return m->payload;
    }
    return NULL;
}

static tacit_status forge(bench *b, uint32_t to, uint32_t kind, const uint8_t *field)
{
    const tacit_shape *shape = &b->plan.kind[kind];
    const tacit_public *like = field[0] & 1 ? pattern(b, kind, field[0] >> 1) : NULL;
    tacit_public *v = bench_blank(b, kind);
    for (uint32_t k = 0; like && k < shape->segments; k++)
        tacit_public_copy_segment(v, k, like, k);
    if (!like)
        for (uint32_t k = 0; k < shape->segment[0].count && k < 4; k++)
            tacit_public_set_int(v, 0, k, number(b, field[1 + k]));
    const uint32_t segment = field[5] % shape->segments;
    if (field[5] & 128)
        tacit_public_set_int(v, segment, (field[5] >> 3 & 15) % shape->segment[segment].count,
                             number(b, field[6]));
    return bench_forge(b, LIAR, to, kind, v);
}

/* Of the messages on their way: deliver one, perhaps not for the last time. */
static tacit_status pass_on(bench *b, const uint8_t *field, bool again)
{
    if (b->messages == 0)
        return TACIT_OK;
    const size_t k = (field[0] | (size_t)field[1] << 8) % b->messages;
    const bench_message m = again ? b->message[k] : bench_take(b, k);
    if (again)
        tacit_keep(m.payload);
    const tacit_status status = bench_deliver(b, &m);
    bench_lose(b, &m);
    return status;
}

static tacit_status step(bench *b, const uint8_t *in)
{
    const uint32_t who = (in[0] >> 5) % LIAR, what = in[0] & 31;
    tacit_status status = TACIT_OK;
    if (what >= TOTALS_HELLO && what <= TOTALS_BOARD)
        return forge(b, who, what, in + 1);
    switch (what) {
    case 16:
        bench_reload(b, who);
        return TACIT_OK;
    case 17:
        b->agent[who].refuses = in[1] & 1;
        return TACIT_OK;
    case 18:
    case 19:
        return bench_settle(b, in[1] & 1 ? (uint32_t)LIAR : UINT32_MAX);
    case 20:
    case 21:
        return pass_on(b, in + 1, true);
    case 22: /* lost */
        if (b->messages) {
            const bench_message m = bench_take(b, in[1] % b->messages);
            bench_lose(b, &m);
        }
        return TACIT_OK;
    case 23:
    case 24:
    case 25:
        return pass_on(b, in + 1, false);
    default:
        for (uint32_t k = 0; k <= in[1] % 8u && status == TACIT_OK; k++)
            bench_ring(b, &status);
        return status;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static bench b;
    const uint8_t which = len ? bytes[0] : 0;
    const tacit_totals_plan plan = {.quorum = 0.75,
                                    .colluders = 1,
                                    .absent = 0.25,
                                    .least = 4,
                                    .patience = 8,
                                    .jitter = which & 1,
                                    .tries = 3,
                                    .rounds = 1000,
                                    .span = which & 2 ? 3 : 0,
                                    .board = (which & 6) == 4,
                                    .again = which & 16,
                                    .child = 1};
    bench_init(&b, SIZE, &plan);
    b.agent[LIAR].liar = true;
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b.agent[k].rounds = 5;
        BENCH_DEMAND(bench_start(&b, k) == TACIT_OK);
    }
    len = len > 1601 ? 1601 : len;
    for (size_t at = 1; at + STEP <= len && status == TACIT_OK; at += STEP)
        status = step(&b, bytes + at);
    BENCH_DEMAND(status == TACIT_OK);
    bench_clear(&b);
    return 0;
}
