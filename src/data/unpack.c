/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gzip (several members behind each other too), xz and zlib, from memory to memory.
 *
 * Sizes in headers are not looked at: room doubles as bytes come out. Two bounds keep a small
 * hostile file from filling the machine: TACIT_DATASET_MAX_BYTES, and past 256 MiB no more than a
 * thousand times the size of the file.
 */
#include "data/bytes.h"

#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>

#define LARGE ((size_t)256 << 20)
#define MOST_TIMES 1000
#define XZ_MEMORY (UINT64_C(256) << 20) /* of the decoder; "xz -9" needs 65 MiB */
#define PIECE ((size_t)1 << 20)         /* room to ask for at least */
#define STEP ((size_t)16 << 20)         /* bytes that come out between two looks at the bounds */

typedef struct unpacking {
    tacit_bytes *out;
    const char *name;
    const unsigned char *in;
    size_t len;
    const tacit_data_options *options;
} unpacking;

tacit_pack tacit_pack_of(const char *bytes, size_t len)
{
    if (len >= 3 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0)
        return TACIT_PACK_GZIP;
    if (len >= 6 && memcmp(bytes, "\xfd\x37zXZ\0", 6) == 0)
        return TACIT_PACK_XZ;
    return TACIT_PACK_NONE;
}

static tacit_status damaged(const unpacking *u, const char *kind, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is a damaged %s file: %s; get it again",
                      u->name, kind, why);
}

static tacit_status cut(const unpacking *u, const char *kind, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.300s\" is cut: its %s data ends too early; get it again", u->name, kind);
}

/* Look at the bounds, and make room behind what came out so far. */
static tacit_status make_room(unpacking *u, tacit_error *err)
{
    tacit_bytes *out = u->out;
    if (out->len >= LARGE && out->len / MOST_TIMES >= u->len)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" unpacks to more than %d times its size; if that is right, "
                          "unpack it by hand",
                          u->name, MOST_TIMES);
    if (out->len < out->block.len)
        return TACIT_OK;
    size_t first = u->len < PIECE ? 4 * u->len + 64 : 4 * PIECE;
    return tacit_bytes_reserve(out, out->len ? 1 : first, u->name, u->options, err);
}

/* Room for one step. */
static size_t room_of(const unpacking *u)
{
    size_t room = u->out->block.len - u->out->len;
    return room < STEP ? room : STEP;
}

/* ---- gzip and zlib ---- */

static uInt piece_of(size_t bytes)
{
    return bytes < UINT_MAX / 2 ? (uInt)bytes : UINT_MAX / 2;
}

/* One step: from `*at` of the input to the end of the output. */
static int inflate_step(z_stream *z, unpacking *u, size_t *at)
{
    tacit_bytes *out = u->out;
    uInt in = piece_of(u->len - *at), room = (uInt)room_of(u);
    z->next_in = (Bytef *)(uintptr_t)(u->in + *at); /* zlib only reads it */
    z->avail_in = in;
    z->next_out = (Bytef *)out->block.bytes + out->len;
    z->avail_out = room;
    int code = inflate(z, Z_NO_FLUSH);
    *at += in - z->avail_in;
    out->len += room - z->avail_out;
    return code;
}

/* What follows a member: another one, nothing, or zeros (tapes pad with them). */
static tacit_status after_member(const unpacking *u, size_t at, bool *more, tacit_error *err)
{
    *more = tacit_pack_of((const char *)u->in + at, u->len - at) == TACIT_PACK_GZIP;
    for (; !*more && at < u->len; at++) {
        if (u->in[at])
            return damaged(u, "gzip", "something else follows the packed data", err);
    }
    return TACIT_OK;
}

static tacit_status inflate_all(z_stream *z, unpacking *u, const char *kind, tacit_error *err)
{
    size_t at = 0;
    for (;;) {
        tacit_status status = make_room(u, err);
        if (status)
            return status;
        int code = inflate_step(z, u, &at);
        if (code == Z_STREAM_END) {
            bool more = false;
            if (kind[0] != 'g' || (status = after_member(u, at, &more, err)) || !more)
                return status;
            code = inflateReset(z);
        }
        if (code == Z_MEM_ERROR)
            return tacit_out_of_memory(err);
        if (code != Z_OK && code != Z_BUF_ERROR)
            return damaged(u, kind, z->msg ? z->msg : "it makes no sense", err);
        if (at == u->len && z->avail_out > 0)
            return cut(u, kind, err);
    }
}

static tacit_status unpack_zlib(unpacking *u, bool gzip, tacit_error *err)
{
    z_stream z = {0};
    if (inflateInit2(&z, gzip ? 15 + 16 : 15) != Z_OK)
        return tacit_out_of_memory(err);
    tacit_status status = inflate_all(&z, u, gzip ? "gzip" : "zlib", err);
    inflateEnd(&z);
    return status;
}

size_t tacit_unpack_start(void *out, size_t most, const char *bytes, size_t len)
{
    z_stream z = {0};
    if (inflateInit2(&z, 15) != Z_OK)
        return 0;
    z.next_in = (Bytef *)(uintptr_t)bytes;
    z.avail_in = piece_of(len);
    z.next_out = out;
    z.avail_out = piece_of(most);
    int code = inflate(&z, Z_SYNC_FLUSH);
    size_t got = most - z.avail_out;
    inflateEnd(&z);
    return code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR ? got : 0;
}

/* ---- xz ---- */

static tacit_status xz_problem(const unpacking *u, lzma_ret code, tacit_error *err)
{
    switch (code) {
    case LZMA_MEM_ERROR:
        return tacit_out_of_memory(err);
    case LZMA_MEMLIMIT_ERROR:
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" needs more than %llu MiB to unpack; unpack it by hand",
                          u->name, (unsigned long long)XZ_MEMORY >> 20);
    case LZMA_BUF_ERROR:
        return cut(u, "xz", err);
    case LZMA_OPTIONS_ERROR:
        return damaged(u, "xz", "it uses what this program does not know", err);
    default:
        return damaged(u, "xz", "it makes no sense", err);
    }
}

static tacit_status unpack_xz(unpacking *u, tacit_error *err)
{
    lzma_stream x = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&x, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        return tacit_out_of_memory(err);
    x.next_in = u->in;
    x.avail_in = u->len;
    tacit_status status;
    lzma_ret code = LZMA_OK;
    do {
        if ((status = make_room(u, err)))
            break;
        tacit_bytes *out = u->out;
        size_t room = room_of(u);
        x.next_out = (uint8_t *)out->block.bytes + out->len;
        x.avail_out = room;
        code = lzma_code(&x, LZMA_FINISH);
        out->len += room - x.avail_out;
    } while (code == LZMA_OK);
    lzma_end(&x);
    return status || code == LZMA_STREAM_END ? status : xz_problem(u, code, err);
}

tacit_status tacit_unpack(tacit_bytes *out, tacit_pack pack, const char *name, const char *bytes,
                          size_t len, const tacit_data_options *options, tacit_error *err)
{
    unpacking u = {.out = out,
                   .name = name,
                   .in = (const unsigned char *)bytes,
                   .len = len,
                   .options = options};
    *out = (tacit_bytes){0};
    tacit_status status =
        pack == TACIT_PACK_XZ ? unpack_xz(&u, err) : unpack_zlib(&u, pack == TACIT_PACK_GZIP, err);
    if (status)
        tacit_bytes_clear(out);
    return status;
}
