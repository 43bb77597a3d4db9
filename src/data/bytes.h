/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_BYTES_H
#define TACIT_DATA_BYTES_H
/*
 * The content of files as one piece of memory, unpacked if it is gzip or xz. What a file is, its
 * first bytes say, never its name.
 */
#include "data/block.h"
#include "tacit/data.h"

typedef struct tacit_bytes {
    tacit_block block; /* may be larger than what was read */
    size_t len;
} tacit_bytes;

/* {0} is empty. */
void tacit_bytes_clear(tacit_bytes *bytes);
static inline const char *tacit_bytes_at(const tacit_bytes *bytes)
{
    return bytes->block.bytes ? (const char *)bytes->block.bytes : "";
}

/* Room for `more` bytes behind `len`: at least doubles; `name` is the file for messages. */
tacit_status tacit_bytes_reserve(tacit_bytes *bytes, size_t more, const char *name,
                                 const tacit_data_options *options, tacit_error *err);

/* One file: `path` as named, else folder/path; memory, or the nameless file that `options` ask
 * for (NULL: memory). Regular files and pipes. */
tacit_status tacit_bytes_load(tacit_bytes *out, const char *path, const char *folder,
                              const tacit_data_options *options, tacit_error *err);
/* Is there such a file? */
bool tacit_bytes_exist(const char *path, const char *folder);

/* ---- unpack.c ---- */
typedef enum tacit_pack {
    TACIT_PACK_NONE,
    TACIT_PACK_GZIP,
    TACIT_PACK_XZ,
    TACIT_PACK_ZLIB
} tacit_pack;
/* By the first bytes: gzip, xz or none. */
tacit_pack tacit_pack_of(const char *bytes, size_t len);
/* Grows with what comes out: what a header claims is not believed. A packed file that grows
 * past TACIT_DATASET_MAX_BYTES, or to more than 256 MiB and a thousand times its size, is refused.
 */
tacit_status tacit_unpack(tacit_bytes *out, tacit_pack pack, const char *name, const char *bytes,
                          size_t len, const tacit_data_options *options, tacit_error *err);
/* The first bytes of a zlib stream: how many came out, at most `most`; 0 if it is damaged. */
size_t tacit_unpack_start(void *out, size_t most, const char *bytes, size_t len);

/* ---- paths.c: several files in one option ---- */
#define TACIT_PATHS_MAX 64
typedef struct tacit_paths {
    char text[TACIT_TEXT_MAX];
    const char *item[TACIT_PATHS_MAX]; /* point into `text`: do not copy this struct */
    size_t count;
} tacit_paths;
/* Split at commas, unless a file has all of `text` for its name. `key` is the option. */
tacit_status tacit_paths_split(tacit_paths *out, const char *text, const char *folder,
                               const char *key, tacit_error *err);
/* Cut a final "#2" off `path` (unless a file is called so): *column = 2, otherwise -1. */
tacit_status tacit_paths_column(char path[TACIT_TEXT_MAX], const char *folder, long *column,
                                tacit_error *err);

/* ---- sniff.c: what a file looks like ---- */
/* Refuse what is surely another format, in words that name it. `wanted` as in "CSV". */
tacit_status tacit_refuse_binary(const char *name, const char *wanted, const char *bytes,
                                 size_t len, tacit_error *err);
/* The error for a file that is not `wanted`: names what it looks like, if that is known. */
tacit_status tacit_not_a(const char *name, const char *wanted, const char *bytes, size_t len,
                         tacit_error *err);
/* Does text start like "1 3:0.5 7:1"? */
bool tacit_looks_like_libsvm(const char *text, size_t len);

#endif
