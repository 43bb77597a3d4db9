/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a request: a verdict that does not change when more bytes come, never "more" at the
 * limit, and a path without anything a log or a page would have to fear.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/node/http.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_path(const http_request *r)
{
    if (!memchr(r->path, '\0', sizeof r->path) || (r->path[0] && r->path[0] != '/'))
        abort();
    for (const char *c = r->path; *c; c++)
        if (*c < 0x21 || *c > 0x7e || *c == '?' || *c == '#')
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    http_request r, whole;
    /* A copy of its own, so that reading one byte too many is noticed. */
    char *copy = malloc(len > 0 ? len : 1);
    if (!copy)
        abort();
    if (len > 0)
        memcpy(copy, bytes, len);
    const http_verdict last = http_parse(&whole, copy, len);
    if (len >= HTTP_REQUEST && last == HTTP_MORE)
        abort();
    if (last == HTTP_GET)
        check_path(&whole);
    /* All beginnings of a short text, some of a long one. */
    const size_t step = 1 + len / 512;
    bool decided = false;
    for (size_t n = 0; n < len; n += step) {
        const http_verdict v = http_parse(&r, copy, n);
        if (decided ? v != last : v != HTTP_MORE && v != last)
            abort();
        decided = decided || v != HTTP_MORE;
        if (v == HTTP_GET && (r.head != whole.head || strcmp(r.path, whole.path) != 0))
            abort();
    }
    free(copy);
    return 0;
}
