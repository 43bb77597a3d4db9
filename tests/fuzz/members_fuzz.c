/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an exchange: an error with words, or an exchange whose encoding is those bytes
 * again. What decodes is then given to a view, whose signatures are taken for good when their
 * first byte is even so that views change, and which must keep its promises: no more than c, all
 * different, none our own, none off the list, nothing changed by what is refused.
 */
#include <sodium.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "net/members.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static bool even(const tacit_descriptor *d, void *context)
{
    (void)context;
    return d->signature[0] % 2 == 0;
}

static void check_view(const tacit_members *m, bool closed)
{
    if (tacit_members_count(m) > 8)
        abort();
    for (size_t i = 0; i < tacit_members_count(m); i++) {
        const tacit_descriptor *d = tacit_members_at(m, i);
        size_t text = strnlen(d->endpoint, sizeof d->endpoint);
        if (text == 0 || text > TACIT_ENDPOINT_MAX || d->age > TACIT_AGE_MAX ||
            d->signature[0] % 2 || (closed && d->identity[0] > 1) ||
            !memcmp(d->identity, tacit_members_self(m)->identity, sizeof d->identity))
            abort();
        for (size_t j = 0; j < i; j++) {
            if (!memcmp(d->identity, tacit_members_at(m, j)->identity, sizeof d->identity))
                abort();
        }
    }
}

static void feed(const tacit_exchange *x, bool closed)
{
    static tacit_exchange request, reply;
    tacit_error err;
    tacit_random random;
    tacit_stream stream;
    tacit_members *m;
    tacit_descriptor self = {.identity = {7}, .endpoint = "a"}, peer;
    tacit_members_options o = {
        .view = 8, .healer = 1, .swapper = 3, .samplers = 2, .answers = 3, .verify = even};
    tacit_random_init(&random, 1);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_TEST, x->count);
    if (tacit_members_create(&m, &o, &self, &stream, &err))
        abort();
    uint8_t list[2][TACIT_IDENTITY_BYTES] = {{0}, {1}};
    if (closed && tacit_members_allow(m, list[0], 2, &err))
        abort();
    if (tacit_members_introduce(m, &stream, x->item, x->count, &err) && tacit_members_count(m))
        abort();
    check_view(m, closed);
    for (int turn = 0; turn < 5; turn++) {
        size_t before = tacit_members_count(m);
        tacit_status status =
            x->reply ? tacit_members_finish(m, &stream, NULL, x, &err)
                     : tacit_members_answer(m, &stream, x->item[0].curve, x, &reply, &err);
        if (status && (tacit_members_count(m) != before || !err.text[0]))
            abort();
        check_view(m, closed);
        if (turn % 2)
            tacit_members_forget(m, x->item[x->count / 2].identity);
        tacit_members_begin(m, &stream, &peer, &request);
        check_view(m, closed);
    }
    tacit_members_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static tacit_exchange x;
    static uint8_t again[TACIT_EXCHANGE_BYTES];
    tacit_error err = {0};
    if (tacit_exchange_decode(&x, bytes, len, &err)) {
        if (!err.text[0] || x.count)
            abort();
        return 0;
    }
    if (tacit_exchange_encode(again, &x) != len || memcmp(again, bytes, len) != 0)
        abort();
    (void)tacit_descriptor_verify(&x.item[0]);
    feed(&x, false);
    feed(&x, true);
    return 0;
}
