/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_KNOWN_H
#define TACIT_DATA_KNOWN_H
/*
 * Public data sets that papers of this field use: how to recognise their files, and where a user
 * gets them. We ship none of them; several may not be passed on.
 */
#include "tacit/base.h"

typedef struct tacit_known_set {
    const char *name;
    const char *what;
    const char *terms;  /* licence, in a few words */
    const char *source; /* where a user gets it */
} tacit_known_set;

typedef struct tacit_known_file {
    const char *sha256; /* of the file as stored: packed, if it is packed */
    const char *name;   /* without .gz or .xz */
    const tacit_known_set *set;
} tacit_known_file;

extern const tacit_known_set tacit_known_sets[];
extern const size_t tacit_known_set_count;
extern const tacit_known_file tacit_known_files[];
extern const size_t tacit_known_file_count;

#define TACIT_SHA256_HEX 65 /* with the final NUL */
void tacit_sha256_hex(const void *bytes, size_t len, char hex[TACIT_SHA256_HEX]);

/* NULL if nobody knows it. */
const tacit_known_file *tacit_known_find_sha256(const char *hex);
const tacit_known_file *tacit_known_recognise(const void *bytes, size_t len);
/* By the last part of its path alone, with or without .gz or .xz. A file so called need not be
 * the one we know. */
const tacit_known_file *tacit_known_named(const char *path);
/* For the message about a missing file: "; u.data is of MovieLens 100K: get ..." or "". */
void tacit_known_hint(const char *path, char *out, size_t size);

/* What a file is. Only regular files are looked at: reading a pipe would empty it. */
typedef struct tacit_file_facts {
    uint64_t bytes; /* as stored */
    char sha256[TACIT_SHA256_HEX];
    const tacit_known_file *known; /* recognised, if need be after unpacking */
    const tacit_known_file *named; /* known by its name, but it is not that file */
} tacit_file_facts;
/* `path` as named, else folder/path. A file that is not there is an error, a pipe gives
 * nothing. */
tacit_status tacit_known_inspect(tacit_file_facts *out, const char *path, const char *folder,
                                 tacit_error *err);

#endif
