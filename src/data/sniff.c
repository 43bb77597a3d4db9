/* SPDX-License-Identifier: Apache-2.0 */
/* What a file looks like, for messages about files of the wrong format. */
#include "data/bytes.h"

#include <string.h>

typedef struct kind {
    const char *what;
    const char *advice;
    size_t at, len; /* of the magic bytes */
    const char *magic;
} kind;

static const kind kinds[] = {
    {"a gzip file inside another", "unpack it by hand", 0, 3, "\x1f\x8b\x08"},
    {"an xz file inside another", "unpack it by hand", 0, 6, "\xfd\x37zXZ\0"},
    {"an NPY file", "set data.source to \"npy\"", 0, 6, "\x93NUMPY"},
    {"a zip archive", "unpack it and name the file inside", 0, 4, "PK\x03\x04"},
    {"an HDF5 file", "MAT files must be saved as version 7 or older", 0, 8, "\x89HDF\r\n\x1a\n"},
    {"a MAT 7.3 file", "save it again as version 7 (save -v7)", 512, 8, "\x89HDF\r\n\x1a\n"},
    {"a MAT file", "set data.source to \"mat\"", 124, 4, "\x00\x01IM"},
    {"a MAT file", "set data.source to \"mat\"", 124, 4, "\x01\x00MI"},
};

static const kind idx = {"an IDX file", "set data.source to \"idx\"", 0, 0, ""};
static const kind text_kind = {"text", "set data.source to \"csv\" or \"libsvm\"", 0, 0, ""};

static bool is_idx(const char *bytes, size_t len)
{
    return len >= 4 && bytes[0] == 0 && bytes[1] == 0 &&
           memchr("\x08\x09\x0b\x0c\x0d\x0e", bytes[2], 6) && bytes[3] > 0;
}

static bool is_text(const char *bytes, size_t len)
{
    size_t look = len < 512 ? len : 512;
    for (size_t k = 0; k < look; k++) {
        unsigned char c = (unsigned char)bytes[k];
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return look > 0;
}

static const kind *binary_kind(const char *bytes, size_t len)
{
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        const kind *one = &kinds[k];
        if (len >= one->at + one->len && memcmp(bytes + one->at, one->magic, one->len) == 0)
            return one;
    }
    return is_idx(bytes, len) ? &idx : NULL;
}

tacit_status tacit_refuse_binary(const char *name, const char *wanted, const char *bytes,
                                 size_t len, tacit_error *err)
{
    const kind *seen = binary_kind(bytes, len);
    if (!seen)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT, "%.300s: looks like %s, not %s; %s", name, seen->what,
                      wanted, seen->advice);
}

tacit_status tacit_not_a(const char *name, const char *wanted, const char *bytes, size_t len,
                         tacit_error *err)
{
    const kind *seen = binary_kind(bytes, len);
    if (!seen && is_text(bytes, len))
        seen = &text_kind;
    if (len == 0)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: empty; expected %s", name, wanted);
    if (!seen)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: not %s; check data.source", name, wanted);
    return tacit_fail(err, TACIT_EINPUT, "%.300s: looks like %s, not %s; %s", name, seen->what,
                      wanted, seen->advice);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

bool tacit_looks_like_libsvm(const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    while (at < end && (strchr("+-.eE", *at) ? *at != '\0' : *at >= '0' && *at <= '9'))
        at++;
    const char *blank = at;
    while (at < end && *at == ' ')
        at++;
    const char *index = at;
    at = skip_digits(at, end);
    return blank > text && index > blank && at > index && at < end && *at == ':';
}
