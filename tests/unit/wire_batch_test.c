/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: several frames between agents in one. All of them are right, or nothing is read. */
#include <stdlib.h>
#include <string.h>

#include "net/bits.h"
#include "net/wire.h"
#include "testing.h"

enum { PAYLOAD = 12, FRAME = TACIT_WIRE_HEADER + PAYLOAD, ROOM = 70 * FRAME, AT_PAYLOAD = 28 };

typedef struct batch {
    tacit_wire_header header;
    uint8_t bytes[ROOM];
} batch;

static tacit_wire_header inner(uint64_t sequence)
{
    return (tacit_wire_header){.kind = sequence % 2 ? TACIT_WIRE_MESSAGE : TACIT_WIRE_REQUEST,
                               .run = "sixteen bytes...",
                               .protocol = 5,
                               .from = 1,
                               .to = 2,
                               .incarnation = 3,
                               .sequence = sequence,
                               .request = sequence % 2 ? 0 : 9,
                               .payload = PAYLOAD};
}

/* `count` right frames. */
static void make(batch *b, uint32_t count)
{
    b->header = (tacit_wire_header){.kind = TACIT_WIRE_BATCH,
                                    .run = "sixteen bytes...",
                                    .protocol = 5,
                                    .from = TACIT_NOBODY,
                                    .to = TACIT_NOBODY,
                                    .payload = count * FRAME};
    for (uint32_t k = 0; k < count; k++) {
        const tacit_wire_header h = inner(k + 1);
        tacit_wire_write(b->bytes + (size_t)k * FRAME, &h);
        memset(b->bytes + (size_t)k * FRAME + TACIT_WIRE_HEADER, (int)k, PAYLOAD);
    }
}

static tacit_status check(const batch *b, uint32_t *count, tacit_error *err)
{
    /* Memory of just that size: the sanitizer sees any step beyond it. */
    uint8_t *exact = malloc(b->header.payload ? b->header.payload : 1);
    assert_non_null(exact);
    memcpy(exact, b->bytes, b->header.payload);
    tacit_status status = tacit_wire_check_batch(&b->header, exact, count, err);
    free(exact);
    return status;
}

static void fails(const batch *b, const char *words)
{
    tacit_error err = {0};
    check_fails(check(b, NULL, &err), TACIT_EINPUT, &err, words);
}

static void test_there_and_back(void **state)
{
    (void)state;
    static batch b;
    static const uint32_t counts[] = {2, 3, TACIT_WIRE_TOGETHER};
    for (size_t c = 0; c < 3; c++) {
        tacit_error err = {0};
        uint32_t count = 0, walked = 0;
        size_t at = 0, len;
        const uint8_t *frame, *payload;
        make(&b, counts[c]);
        check_ok(check(&b, &count, &err), &err);
        assert_int_equal(count, counts[c]);
        while (tacit_wire_next(&b.header, b.bytes, &at, &frame, &len)) {
            tacit_wire_header h;
            check_ok(tacit_wire_open(&h, &payload, frame, len, &err), &err);
            assert_true(h.sequence == ++walked && h.payload == PAYLOAD);
            assert_int_equal(payload[0], walked - 1);
        }
        assert_int_equal(walked, count);
    }
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static batch b;
    make(&b, 0);
    fails(&b, "0 frames");
    make(&b, 1);
    fails(&b, "1 frames");
    make(&b, TACIT_WIRE_TOGETHER + 1);
    fails(&b, "more than 64");
    for (uint32_t cut = 1; cut < FRAME; cut++) { /* the last one is cut */
        make(&b, 3);
        b.header.payload -= cut;
        fails(&b, "behind its last frame");
    }
    make(&b, 3);
    b.header.payload++; /* a byte too many */
    fails(&b, "behind its last frame");
    make(&b, 3);
    tacit_put_u32(b.bytes + FRAME + AT_PAYLOAD, UINT32_MAX); /* longer than all there is */
    fails(&b, "behind its last frame");
    make(&b, 3);
    tacit_put_u32(b.bytes + FRAME + AT_PAYLOAD, PAYLOAD + FRAME); /* swallows the next */
    tacit_error err = {0};
    check_ok(check(&b, NULL, &err), &err); /* ... which its own payload then has to say */
    for (int kind = TACIT_WIRE_HELLO; kind <= TACIT_WIRE_BATCH; kind++) {
        make(&b, 3);
        b.bytes[FRAME + 5] = (uint8_t)kind; /* no batches in batches either */
        fails(&b, "not between agents");
    }
    make(&b, 3);
    b.bytes[2 * FRAME + 4]++; /* of another version */
    fails(&b, "frame 3");
    make(&b, 3);
    b.bytes[2 * FRAME + 8] ^= 1; /* of another run */
    fails(&b, "another run");
    make(&b, 3);
    b.bytes[24] ^= 1; /* of another protocol */
    fails(&b, "another run");
    make(&b, 3);
    memset(b.bytes + FRAME + 56, 0, 8); /* sequence 0 */
    fails(&b, "frame 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
