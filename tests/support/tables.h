/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TABLES_H
#define TACIT_TABLES_H
/* What the tests of readers share. Include after cmocka. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/table.h"

static inline tacit_data_options table_options(int source)
{
    tacit_data_options o;
    assert_int_equal(tacit_options_defaults(&tacit_data_section, &o, NULL), TACIT_OK);
    o.source = source;
    o.test_fraction = 0;
    return o;
}

/* The bytes go to memory of exactly their size, so that a sanitizer sees any read past them. */
static inline tacit_status table_read(tacit_reader *read, tacit_table *t,
                                      const tacit_data_options *o, const void *bytes, size_t len,
                                      tacit_scalar scalar, tacit_error *err)
{
    char *copy = malloc(len ? len : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    *err = (tacit_error){0};
    tacit_status status = read(t, o, "file", copy, len, scalar, err);
    free(copy);
    if (status) { /* words, and nothing left behind */
        assert_true(err->text[0] != '\0');
        assert_null(t->x.bytes);
        assert_null(t->y);
        assert_null(t->owner);
    }
    return status;
}

static inline tacit_table table_good(tacit_reader *read, const tacit_data_options *o,
                                     const void *bytes, size_t len)
{
    tacit_table t;
    tacit_error err;
    if (table_read(read, &t, o, bytes, len, TACIT_F64, &err))
        fail_msg("%s", err.text);
    return t;
}

static inline void table_refused(tacit_reader *read, const tacit_data_options *o, const void *bytes,
                                 size_t len, const char *words)
{
    tacit_table t;
    tacit_error err;
    assert_int_equal(table_read(read, &t, o, bytes, len, TACIT_F64, &err), TACIT_EINPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
}

static inline double table_at(const tacit_table *t, size_t row, size_t column)
{
    assert_true(row < t->rows && column < t->features);
    size_t at = row * t->features + column;
    if (t->narrow)
        return ((const unsigned char *)t->x.bytes)[at];
    return t->scalar == TACIT_F32 ? (double)((const float *)t->x.bytes)[at]
                                  : ((const double *)t->x.bytes)[at];
}

static inline const char *table_owner(const tacit_table *t, size_t row)
{
    assert_non_null(t->owner);
    assert_true(t->owner[row] < t->owners.count);
    return tacit_names_get(&t->owners, t->owner[row]);
}

/* However a file is cut, the answer is an error: for formats that say how long they are. */
static inline void table_cut_everywhere(tacit_reader *read, const tacit_data_options *o,
                                        const void *bytes, size_t len)
{
    for (size_t cut = 0; cut < len; cut++) {
        tacit_table t;
        tacit_error err;
        assert_int_equal(table_read(read, &t, o, bytes, cut, TACIT_F64, &err), TACIT_EINPUT);
    }
}

/* Any byte changed to anything: an error, or a table; never a crash. */
static inline void table_flip_everywhere(tacit_reader *read, const tacit_data_options *o,
                                         const void *bytes, size_t len)
{
    static const unsigned char flips[] = {0x01, 0x02, 0x40, 0x80, 0xff};
    unsigned char *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, bytes, len);
    for (size_t at = 0; at < len; at++) {
        for (size_t k = 0; k < sizeof flips; k++) {
            tacit_table t;
            tacit_error err;
            copy[at] ^= flips[k];
            tacit_status status = table_read(read, &t, o, copy, len, TACIT_F64, &err);
            assert_true(status == TACIT_OK || status == TACIT_EINPUT);
            tacit_table_clear(&t);
            copy[at] ^= flips[k];
        }
    }
    free(copy);
}

/* A file in the folder that a test made for itself. */
typedef struct folder {
    char path[64];
} folder;

static inline folder folder_make(void)
{
    folder f = {"/tmp/tacit-test-XXXXXX"};
    assert_non_null(mkdtemp(f.path));
    return f;
}

static inline void folder_write(const folder *f, const char *name, const void *bytes, size_t len)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static inline void folder_text(const folder *f, const char *name, const char *text)
{
    folder_write(f, name, text, strlen(text));
}

/* Removes the named files (NULL ends them) and the folder, which must be empty then. */
static inline void folder_remove(const folder *f, const char *const *names)
{
    for (; *names; names++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", f->path, *names);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(f->path), 0);
}

#endif
