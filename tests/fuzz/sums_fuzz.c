/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One agent's masked sums under whatever its neighbours, its timers and the network do. The input
 * is a row of steps, eight bytes each:
 *
 *     1 byte   what: low 4 bits the step, high 4 bits which neighbour
 *     7 bytes  fields of a message, or which of the others' messages is delivered
 *
 * Neighbours are honest machines whose messages come out of order, twice or never, and at the same
 * time liars who hold their own right keys: they sign what they like, and forge calls, openings,
 * words, seeds and pages. The bench demands that no member says a second word for one (receiver,
 * round, attempt), nor seeds of two attempts of one round, nor a word after a seed; that ids of
 * rounds rise, and that no sum is over fewer than `least`.
 */
#include "../support/sums_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { SIZE = 4, VICTIM = 0, STEP = 8 };

static const tacit_sums_plan plan = {.numbers = BENCH_NUMBERS,
                                     .fraction = 32,
                                     .neighbours = 5,
                                     .least = 2,
                                     .patience = 8,
                                     .epoch_rounds = 2,
                                     .child = 1};

/* Small numbers mostly, and some that are not. */
static int64_t number(uint8_t byte)
{
    static const int64_t odd[] = {
        -1, INT64_MAX, INT64_MIN, 1 << 20, INT64_C(1) << 32, INT64_C(1) << 31, 257, 4096};
    return byte < 240 ? byte & 7 : odd[byte & 7];
}

static tacit_public *blank(bench *b, uint32_t from, uint32_t kind)
{
    return bench_public(&b->agent[from],
                        tacit_sums_payload(&b->agent[from].plan, (tacit_address){0, kind}));
}

/* KEY: of its own agent, well signed unless told otherwise. */
static void fill_key(bench *b, uint32_t from, tacit_public *v, const uint8_t *field)
{
    const tacit_sums *s = b->agent[from].sums;
    tacit_public_set_int(v, 0, 0, field[0] & 1 ? number(field[0]) : from);
    tacit_public_set_int(v, 0, 1, field[1] & 1 ? number(field[1]) : (int64_t)s->epoch);
    tacit_public_set_int(v, 0, 2, field[2] & 1 ? number(field[2]) : SIZE - 1);
    tacit_public_set_int(v, 0, 3, field[3] & 3);
    tacit_public_set_int(v, 0, 4, number(field[4]));
    sums_put(v, 1, 0, s->keys.open, TACIT_MASK_KEY);
    sums_put(v, 2, 0, s->signature, TACIT_SIGNATURE);
    if (field[5] & 1)
        tacit_public_set_int(v, 1, field[5] >> 6, number(field[6]));
}

/* PAGE: keys of all, one entry of it changed. */
static void fill_page(bench *b, uint32_t from, tacit_public *v, const uint8_t *field)
{
    uint32_t k = 0;
    for (uint32_t agent = 0; agent < SIZE; agent++) {
        const tacit_sums *s = b->agent[agent].sums;
        const size_t at = (size_t)k * 15;
        if (agent == from)
            continue;
        tacit_public_set_int(v, 1, at, agent);
        tacit_public_set_int(v, 1, at + 1, 1);
        tacit_public_set_int(v, 1, at + 2, SIZE - 1);
        sums_put(v, 1, at + 3, s->keys.open, TACIT_MASK_KEY);
        sums_put(v, 1, at + 7, s->signature, TACIT_SIGNATURE);
        k++;
    }
    tacit_public_set_int(v, 0, 0, (int64_t)b->agent[from].sums->epoch);
    tacit_public_set_int(v, 0, 1, field[0] & 1 ? number(field[0]) : k);
    if (field[1] & 1)
        tacit_public_set_int(v, 1, field[2] % 75, number(field[3]));
}

static void fill_call(tacit_public *v, const uint8_t *field)
{
    const int64_t round = number(field[0]);
    tacit_public_set_int(v, 0, 0, round);
    tacit_public_set_int(v, 0, 1, number(field[1]));
    tacit_public_set_int(v, 0, 2,
                         field[2] & 1 ? number(field[2])
                         : round > 0  ? (round - 1) / 2
                                      : 0);
    tacit_public_set_int(v, 0, 3, field[3] & 1 ? number(field[3]) : 32);
    tacit_public_set_int(v, 0, 4, field[3] >> 7);
    tacit_public_set_int(v, 1, 0, field[4] & 128 ? number(field[4]) : field[4]);
}

static void fill_rest(tacit_public *v, uint32_t kind, const uint8_t *field)
{
    tacit_public_set_int(v, 0, 0, number(field[0]));
    tacit_public_set_int(v, 0, 1, number(field[1]));
    if (kind == TACIT_SUMS_OPEN || kind == TACIT_SUMS_CANNOT) {
        tacit_public_set_int(v, 0, 2, field[2] & 15);
        tacit_public_set_int(v, 0, 3, number(field[3]));
    }
    tacit_public_set_int(v, 1, 0, number(field[4]));
}

static tacit_status forge(bench *b, uint32_t from, uint32_t to, uint32_t kind, const uint8_t *field)
{
    tacit_public *v = blank(b, from, kind);
    if (kind == TACIT_SUMS_KEY)
        fill_key(b, from, v, field);
    else if (kind == TACIT_SUMS_PAGE)
        fill_page(b, from, v, field);
    else if (kind == TACIT_SUMS_CALL)
        fill_call(v, field);
    else
        fill_rest(v, kind, field);
    const bench_message m = {from, to, kind, v};
    const tacit_status status = bench_deliver(b, &m);
    bench_lose(b, &m);
    return status;
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
    const uint32_t from = 1 + (in[0] >> 4) % (SIZE - 1);
    tacit_status status = TACIT_OK;
    switch (in[0] & 15) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        return forge(b, from, in[7] & 1 ? 1 + from % (SIZE - 1) : VICTIM, in[0] & 15, in + 1);
    case 8:
        bench_ring(b, &status);
        return status;
    case 9:
        return bench_peer(b, VICTIM, from, TACIT_PEER_DOWN);
    case 10:
        return bench_peer(b, VICTIM, from, TACIT_PEER_UP);
    case 11:
        bench_reload(b, VICTIM);
        return TACIT_OK;
    case 12:
        return bench_settle(b, in[1] & 1 ? from : UINT32_MAX);
    case 13:
        return pass_on(b, in + 1, true);
    default:
        return pass_on(b, in + 1, false);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static bench b;
    bench_init(&b, SIZE, &plan);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < SIZE; k++) {
        b.agent[k].rounds = 6;
        BENCH_DEMAND(bench_start(&b, k) == TACIT_OK);
    }
    if (len > 800)
        len = 800;
    for (; len >= STEP && status == TACIT_OK; bytes += STEP, len -= STEP)
        status = step(&b, bytes);
    BENCH_DEMAND(status == TACIT_OK || status == TACIT_EPEER); /* EPEER: it said so in words */
    bench_clear(&b);
    return 0;
}
