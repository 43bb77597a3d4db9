/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes from a peer: an error with words, or a header and numbers within bounds that go
 * through the wire again unchanged. The first byte chooses the shape (low 3 bits), the limit (the
 * next 2), and whether a whole frame comes (highest bit) or a payload alone, which finds deep
 * places sooner.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "net/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool holds)
{
    if (!holds)
        abort();
}

#define SHAPES 8
static const tacit_segment segments[SHAPES][3] = {
    {{"x", TACIT_F32, 7}},
    {{"x", TACIT_F64, 5}},
    {{"x", TACIT_I64, 6}},
    {{"x", TACIT_F32, 3}, {"none", TACIT_F64, 0}, {"version", TACIT_I64, 1}},
    {{"x", TACIT_F64, 40}, {"y", TACIT_I64, 40}, {"z", TACIT_F32, 41}},
    {{"x", TACIT_F32, 300}},
    {{"x", TACIT_F64, 257}},
    {{"x", TACIT_I64, 258}},
};
static const double limits[4] = {INFINITY, 1000, 1e-3, 0x1p62};

/* Memory of just that size: the sanitizer sees any step beyond it. */
static tacit_public *fresh(const tacit_shape *shape)
{
    tacit_vector *v = malloc(sizeof *v + shape->bytes);
    demand(v != NULL);
    tacit_vector_init(v, shape, 0);
    memset(v->data, 0xA5, shape->bytes);
    return tacit_vector_public(v);
}

static void check_numbers(const tacit_public *v, double limit)
{
    for (uint32_t k = 0; k < tacit_public_shape(v)->segments; k++) {
        for (size_t i = 0; i < tacit_public_count(v, k); i++) {
            double x = tacit_public_get(v, k, i);
            demand(isfinite(x) && fabs(x) <= limit);
        }
    }
}

/* Encoded by us it must be decodable to the same bits, in no more bytes than it came in. */
static void check_again(const tacit_public *v, size_t came)
{
    const tacit_shape *shape = tacit_public_shape(v);
    size_t bound = 0, len = 0;
    demand(tacit_wire_bound(&bound, shape, NULL) == TACIT_OK && came <= bound);
    uint8_t *bytes = malloc(bound);
    tacit_public *back = fresh(shape);
    demand(bytes && tacit_wire_encode(bytes, bound, &len, v, NULL) == TACIT_OK && len <= came);
    demand(tacit_wire_decode(back, bytes, len, INFINITY, NULL) == TACIT_OK);
    demand(memcmp(tacit_vector_of_public(v)->data, tacit_vector_of_public(back)->data,
                  shape->bytes) == 0);
    free(bytes);
    free(back);
}

static void try_payload(uint8_t how, const uint8_t *bytes, size_t len)
{
    tacit_shape shape;
    size_t count = 1;
    const tacit_segment *s = segments[how % SHAPES];
    while (count < 3 && s[count].name)
        count++;
    demand(tacit_shape_init(&shape, s, count, NULL) == TACIT_OK);
    tacit_public *v = fresh(&shape);
    tacit_error err = {0};
    double limit = limits[how >> 3 & 3];
    tacit_status status = tacit_wire_decode(v, bytes, len, limit, &err);
    demand(status == TACIT_OK || (status == TACIT_EINPUT && err.text[0] != '\0'));
    if (status == TACIT_OK) {
        check_numbers(v, limit);
        check_again(v, len);
    }
    free(v);
}

/* A batch is refused in words, or holds frames between agents from its first byte to its last. */
static void try_batch(const tacit_wire_header *batch, const uint8_t *bytes)
{
    tacit_error err = {0};
    uint32_t count = 0, walked = 0;
    size_t at = 0, len = 0;
    const uint8_t *frame, *payload;
    const tacit_status status = tacit_wire_check_batch(batch, bytes, &count, &err);
    if (status) {
        demand(status == TACIT_EINPUT && err.text[0] != '\0');
        return;
    }
    while (tacit_wire_next(batch, bytes, &at, &frame, &len)) {
        tacit_wire_header h;
        demand(tacit_wire_open(&h, &payload, frame, len, &err) == TACIT_OK);
        demand(h.kind <= TACIT_WIRE_REPLY && memcmp(h.run, batch->run, sizeof h.run) == 0);
        walked++;
    }
    demand(walked == count && at == batch->payload && count >= 2 && count <= TACIT_WIRE_TOGETHER);
}

static void try_frame(uint8_t how, const uint8_t *bytes, size_t len)
{
    tacit_error err = {0};
    tacit_wire_header h;
    const uint8_t *payload = NULL;
    uint8_t version = 0, kind = 0, again[TACIT_WIRE_HEADER];
    bool ours = tacit_wire_peek(bytes, len, &version, &kind);
    tacit_status status = tacit_wire_open(&h, &payload, bytes, len, &err);
    demand((status == TACIT_EPEER) == (ours && version != TACIT_WIRE_VERSION));
    if (status) {
        demand(err.text[0] != '\0' && (status == TACIT_EPEER || status == TACIT_EINPUT));
        return;
    }
    demand(ours && h.kind == kind && payload + h.payload == bytes + len);
    tacit_wire_write(again, &h);
    demand(memcmp(again, bytes, sizeof again) == 0);
    if (h.kind == TACIT_WIRE_BATCH)
        try_batch(&h, payload);
    try_payload(how, payload, h.payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 1)
        return 0;
    if (bytes[0] & 0x80)
        try_frame(bytes[0], bytes + 1, len - 1);
    else
        try_payload(bytes[0], bytes + 1, len - 1);
    return 0;
}
