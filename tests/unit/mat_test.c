/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MAT files. Most are written here, byte by byte, in both byte orders; where libmatio is
 * installed it writes some too, for it shares no code with the reader.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <zlib.h>

#include "tables.h"

#ifdef WITH_MATIO
#include <matio.h>
#endif

/* ---- a writer ---- */

typedef struct file {
    unsigned char bytes[16384];
    size_t len;
    bool big;
} file;

static void word(file *f, uint32_t value)
{
    assert_true(f->len + 4 <= sizeof f->bytes);
    for (int k = 0; k < 4; k++)
        f->bytes[f->len++] = (unsigned char)(value >> 8 * (f->big ? 3 - k : k));
}

static void patch(file *f, size_t at, uint32_t value)
{
    size_t len = f->len;
    f->len = at;
    word(f, value);
    f->len = len;
}

static void element(file *f, uint32_t type, const void *bytes, size_t len)
{
    word(f, type);
    word(f, (uint32_t)len);
    assert_true(f->len + len + 8 <= sizeof f->bytes);
    memcpy(f->bytes + f->len, bytes, len);
    memset(f->bytes + f->len + len, 0, 8);
    f->len += (len + 7) / 8 * 8;
}

static file header(bool big)
{
    file f = {.len = 128, .big = big};
    memset(f.bytes, ' ', 124);
    memcpy(f.bytes, "MATLAB 5.0 MAT-file, by a test", 30);
    memcpy(f.bytes + 124, big ? "\x01\x00MI" : "\x00\x01IM", 4);
    return f;
}

/* The beginning of a matrix; returns where its length has to be written. */
static size_t begin(file *f, uint32_t flags, int32_t rows, int32_t columns, const char *name)
{
    word(f, 14);
    word(f, 0);
    size_t at = f->len;
    word(f, 6);
    word(f, 8);
    word(f, flags);
    word(f, 0);
    word(f, 5);
    word(f, 8);
    word(f, (uint32_t)rows);
    word(f, (uint32_t)columns);
    size_t len = strlen(name);
    if (len > 0 && len <= 4) { /* short enough to sit in the tag */
        word(f, (uint32_t)len << 16 | 1);
        memcpy(f->bytes + f->len, "\0\0\0\0", 4);
        memcpy(f->bytes + f->len, name, len);
        f->len += 4;
    } else {
        element(f, 1, name, len);
    }
    return at;
}

static void end(file *f, size_t at)
{
    patch(f, at - 4, (uint32_t)(f->len - at));
}

static void put_double(file *f, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    word(f, (uint32_t)(f->big ? bits >> 32 : bits));
    word(f, (uint32_t)(f->big ? bits : bits >> 32));
}

/* A matrix of doubles: element (i, j) is start + 10 i + j. */
static void matrix(file *f, const char *name, int32_t rows, int32_t columns, double start)
{
    size_t at = begin(f, 6, rows, columns, name);
    word(f, 9);
    word(f, (uint32_t)(8 * rows * columns));
    for (int32_t j = 0; j < columns; j++)
        for (int32_t i = 0; i < rows; i++)
            put_double(f, start + 10 * i + j);
    end(f, at);
}

/* Put everything behind the header into compressed elements, one a variable. */
static file compressed(const file *f)
{
    file out = header(f->big);
    for (size_t at = 128; at < f->len;) {
        const unsigned char *b = f->bytes + at + 4;
        uint32_t inside =
            f->big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
                   : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
        uLongf len = (uLongf)(sizeof out.bytes - out.len - 8);
        assert_int_equal(compress(out.bytes + out.len + 8, &len, f->bytes + at, inside + 8), Z_OK);
        word(&out, 15);
        word(&out, (uint32_t)len);
        out.len += len;
        at += 8 + inside;
    }
    return out;
}

/* Two agents with 3 and 2 records of 2 features; labels lie across or along. */
static file cells(bool big, bool in_columns, bool lying)
{
    file f = header(big);
    size_t at = begin(&f, 1, 1, 2, "X");
    matrix(&f, "", in_columns ? 2 : 3, in_columns ? 3 : 2, 100);
    matrix(&f, "", 2, 2, 200);
    end(&f, at);
    at = begin(&f, 1, 1, 2, "Y");
    matrix(&f, "", lying ? 1 : 3, lying ? 3 : 1, 7);
    matrix(&f, "", lying ? 1 : 2, lying ? 2 : 1, 8);
    end(&f, at);
    return f;
}

static tacit_data_options plain(void)
{
    return table_options(TACIT_SOURCE_MAT);
}

static tacit_table good(const file *f)
{
    tacit_data_options o = plain();
    return table_good(tacit_read_mat, &o, f->bytes, f->len);
}

static void refused(const file *f, const char *words)
{
    tacit_data_options o = plain();
    table_refused(tacit_read_mat, &o, f->bytes, f->len, words);
}

/* ---- tests ---- */

static void check_cells(const file *f, bool in_columns, bool lying)
{
    tacit_table t = good(f);
    assert_int_equal(t.rows, 5);
    assert_int_equal(t.features, 2);
    assert_int_equal(t.owners.count, 2);
    for (size_t row = 0; row < 5; row++) {
        size_t inner = row < 3 ? row : row - 3;
        assert_string_equal(table_owner(&t, row), row < 3 ? "1" : "2");
        for (size_t c = 0; c < 2; c++) {
            double i = (double)(in_columns ? c : inner), j = (double)(in_columns ? inner : c);
            assert_true(table_at(&t, row, c) == (row < 3 ? 100 : 200) + 10 * i + j);
        }
        double step = lying ? 1 : 10;
        assert_true(t.y[row] == (row < 3 ? 7 : 8) + step * (double)inner);
    }
    tacit_table_clear(&t);
}

static void test_cells(void **state)
{
    (void)state;
    for (int k = 0; k < 8; k++) {
        file f = cells(k & 1, k & 2, k & 4), z = compressed(&f);
        check_cells(&f, k & 2, k & 4);
        check_cells(&z, k & 2, k & 4);
    }
}

static void test_matrices(void **state)
{
    (void)state;
    file f = header(false);
    matrix(&f, "unrelated variable", 4, 4, 0);
    matrix(&f, "Y", 3, 1, 1);
    matrix(&f, "X", 3, 4, 50);
    tacit_table t = good(&f);
    assert_int_equal(t.rows, 3);
    assert_int_equal(t.features, 4);
    assert_null(t.owner);
    assert_true(table_at(&t, 2, 3) == 73);
    assert_true(t.y[2] == 21);
    tacit_table_clear(&t);

    /* A square cannot say which way it lies: records are rows. */
    f = header(false);
    matrix(&f, "X", 3, 3, 50);
    matrix(&f, "Y", 1, 3, 1);
    t = good(&f);
    assert_true(table_at(&t, 0, 2) == 52);
    tacit_table_clear(&t);

    /* Labels from elsewhere: then Y is not needed, and records are rows. */
    tacit_data_options o = plain();
    snprintf(o.labels_path, sizeof o.labels_path, "y.txt");
    snprintf(o.y_name, sizeof o.y_name, "no");
    t = table_good(tacit_read_mat, &o, f.bytes, f.len);
    assert_int_equal(t.rows, 3);
    tacit_table_clear(&t);
}

/* Everybody is asked about the same records. */
static void test_shared_records(void **state)
{
    (void)state;
    for (int in_rows = 0; in_rows <= 1; in_rows++) {
        file f = header(false);
        matrix(&f, "X", 3, 2, 50);
        matrix(&f, "Y", in_rows ? 4 : 3, in_rows ? 3 : 4, 0);
        tacit_table t = good(&f);
        assert_int_equal(t.rows, 12);
        assert_int_equal(t.owners.count, 4);
        for (size_t k = 0; k < 12; k++) {
            double person = (double)(k / 3), record = (double)(k % 3);
            char name[8];
            snprintf(name, sizeof name, "%zu", k / 3 + 1);
            assert_string_equal(table_owner(&t, k), name);
            assert_true(table_at(&t, k, 1) == 51 + 10 * record);
            assert_true(t.y[k] == (in_rows ? 10 * person + record : 10 * record + person));
        }
        tacit_table_clear(&t);
    }
    file f = header(false);
    matrix(&f, "X", 5, 2, 50);
    matrix(&f, "Y", 3, 4, 0);
    refused(&f, "one side of the labels must be as long as there are records");
}

/* Numbers are often stored in the smallest type that holds them. */
static void test_stored_types(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        unsigned char bytes[16];
        uint32_t len;
        double first, second;
    } cases[] = {
        {1, {0xff, 5}, 2, -1, 5},
        {2, {0xff, 5}, 2, 255, 5},
        {3, {0xfe, 0xff, 1, 1}, 4, -2, 257},
        {4, {0xfe, 0xff, 1, 1}, 4, 65534, 257},
        {5, {0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0}, 8, -3, 1},
        {6, {0xfd, 0xff, 0xff, 0xff, 1, 0, 0, 0}, 8, 4294967293.0, 1},
        {7, {0, 0, 0x80, 0xbf, 0, 0, 0, 0x40}, 8, -1, 2},
        {12, {0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 9}, 16, -4, 9},
        {13, {4, 0, 0, 0, 0, 0, 0, 0, 9}, 16, 4, 9},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        file f = header(false);
        matrix(&f, "Y", 1, 1, 1);
        size_t at = begin(&f, 6, 1, 2, "X");
        if (cases[k].len <= 4) {
            word(&f, cases[k].len << 16 | cases[k].type);
            memcpy(f.bytes + f.len, cases[k].bytes, 4);
            f.len += 4;
        } else {
            element(&f, cases[k].type, cases[k].bytes, cases[k].len);
        }
        end(&f, at);
        tacit_table t = good(&f);
        assert_true(table_at(&t, 0, 0) == cases[k].first);
        assert_true(table_at(&t, 0, 1) == cases[k].second);
        tacit_table_clear(&t);
    }
}

static void test_empty_cells(void **state)
{
    (void)state;
    file f = header(false);
    size_t at = begin(&f, 1, 3, 1, "X");
    matrix(&f, "", 0, 0, 0);
    matrix(&f, "", 2, 3, 50);
    word(&f, 14); /* nothing at all */
    word(&f, 0);
    end(&f, at);
    at = begin(&f, 1, 3, 1, "Y");
    matrix(&f, "", 0, 0, 0);
    matrix(&f, "", 2, 1, 1);
    matrix(&f, "", 0, 1, 0);
    end(&f, at);
    tacit_table t = good(&f);
    assert_int_equal(t.rows, 2);
    assert_int_equal(t.owners.count, 1);
    assert_string_equal(table_owner(&t, 0), "2"); /* the number of the cell stays */
    tacit_table_clear(&t);
}

static void test_refused(void **state)
{
    (void)state;
    file f = header(false);
    refused(&f, "no variable \"X\"; it has none that can be read");
    matrix(&f, "A", 2, 2, 0);
    matrix(&f, "B", 2, 2, 0);
    refused(&f, "file: no variable \"X\"; it has A, B");
    matrix(&f, "X", 4, 2, 0);
    refused(&f, "no variable \"Y\"; it has A, B, X");
    matrix(&f, "Y", 1, 3, 0);
    refused(&f, "cell 1 of \"X\" is 4 x 2 and \"Y\" has 3 labels for it; neither rows nor columns");

    static const struct {
        uint32_t flags;
        const char *words;
    } kinds[] = {
        {6 | 0x800, "complex numbers"},
        {4, "is or contains text"},
        {5, "a sparse matrix"},
        {2, "neither a matrix nor a cell"},
        {99, "neither a matrix nor a cell"},
    };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        f = header(false);
        size_t at = begin(&f, kinds[k].flags, 1, 1, "X");
        element(&f, 9, "12345678", 8);
        end(&f, at);
        refused(&f, kinds[k].words);
        refused(&f, "expected real matrices");
    }

    f = header(false);
    size_t at = begin(&f, 1, 1, 1, "X");
    matrix(&f, "", 2, 2, 0);
    end(&f, at);
    matrix(&f, "Y", 2, 1, 0);
    refused(&f, "one of \"X\" and \"Y\" is a cell array and the other a matrix");
    f = header(false);
    at = begin(&f, 1, 1, 1, "X");
    matrix(&f, "", 2, 2, 0);
    end(&f, at);
    at = begin(&f, 1, 0, 0, "Y");
    end(&f, at);
    refused(&f, "\"X\" has 1 cells and \"Y\" 0; there must be as many");

    tacit_data_options o = plain();
    table_refused(tacit_read_mat, &o, "a,b\n", 4, "looks like text, not a MAT file of version 5");
    table_refused(tacit_read_mat, &o, "", 0, "empty; expected a MAT file");
    table_refused(tacit_read_mat, &o, "\x89HDF\r\n\x1a\n", 8, "looks like an HDF5 file");
    unsigned char hdf[520] = {0};
    memcpy(hdf + 512, "\x89HDF\r\n\x1a\n", 8);
    table_refused(tacit_read_mat, &o, hdf, sizeof hdf, "MAT 7.3");
}

/* Headers that promise more than there is. */
static void test_hostile(void **state)
{
    (void)state;
    static const int32_t sizes[][2] = {{INT32_MAX, INT32_MAX}, {-1, 5},   {1 << 30, 1 << 30},
                                       {65536, 65536},         {1000, 1}, {0x20000000, 8}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (uint32_t class = 1; class <= 6; class += 5) { /* cells and numbers */
            file f = header(false);
            size_t at = begin(&f, class, sizes[k][0], sizes[k][1], "X");
            element(&f, 9, "12345678", 8);
            end(&f, at);
            matrix(&f, "Y", 1, 1, 0);
            if (sizes[k][0] >= 0)
                refused(&f, "variable \"X\" is cut or damaged");
            else
                refused(&f, "no variable \"X\"");
        }
    }
    file f = header(false);
    matrix(&f, "X", 2, 2, 0);
    f.bytes[128 + 4] = 0xff; /* longer than the file */
    f.bytes[128 + 7] = 0xff;
    refused(&f, "cut or damaged before variable \"X\"");
}

/* A variable of n x n zeros, packed, behind what is in `to`. */
static void pack_zeros(unsigned char *to, size_t *len, size_t room, int32_t n, const char *name)
{
    file head = {.big = false};
    size_t at = begin(&head, 6, n, n, name), numbers = 8 * (size_t)n * (size_t)n;
    word(&head, 9);
    word(&head, (uint32_t)numbers);
    patch(&head, at - 4, (uint32_t)(head.len - at + numbers));
    unsigned char *raw = calloc(1, head.len + numbers);
    assert_non_null(raw);
    memcpy(raw, head.bytes, head.len);
    uLongf packed = (uLongf)(room - *len - 8);
    assert_int_equal(compress(to + *len + 8, &packed, raw, head.len + numbers), Z_OK);
    file tag = {.big = false};
    word(&tag, 15);
    word(&tag, (uint32_t)packed);
    memcpy(to + *len, tag.bytes, 8);
    *len += 8 + packed;
    free(raw);
}

/* A thousand agents who share a thousand records of a thousand features: 8 GB from 16 kB. */
static void test_many_copies(void **state)
{
    (void)state;
    file f = header(false);
    size_t room = 1 << 16, len = f.len;
    unsigned char *bytes = malloc(room);
    assert_non_null(bytes);
    memcpy(bytes, f.bytes, f.len);
    pack_zeros(bytes, &len, room, 1000, "X");
    pack_zeros(bytes, &len, room, 1000, "Y");
    tacit_data_options o = plain();
    table_refused(tacit_read_mat, &o, bytes, len,
                  "1000 agents with the same 1000 records of 1000 features are too many");
    free(bytes);
}

static void test_damage(void **state)
{
    (void)state;
    tacit_data_options o = plain();
    file f = cells(false, false, false), z = compressed(&f);
    table_cut_everywhere(tacit_read_mat, &o, f.bytes, f.len);
    table_cut_everywhere(tacit_read_mat, &o, z.bytes, z.len);
    table_flip_everywhere(tacit_read_mat, &o, f.bytes, f.len);
    table_flip_everywhere(tacit_read_mat, &o, z.bytes, z.len);
}

#ifdef WITH_MATIO
enum { AGENTS = 5, FEATURES = 4 };

/* Agent k has k + 2 records; number j of its matrix, column by column, is k * 1000 + j / 8. */
static void write_by_matio(const char *path, enum matio_compression how)
{
    mat_t *mat = Mat_CreateVer(path, NULL, MAT_FT_MAT5);
    matvar_t *x[AGENTS + 1] = {0}, *y[AGENTS + 1] = {0};
    assert_non_null(mat);
    for (size_t k = 0; k < AGENTS; k++) {
        double values[100], labels[10];
        size_t n = 2 + k, dims[2] = {n, FEATURES}, label_dims[2] = {n, 1};
        for (size_t j = 0; j < n * FEATURES; j++)
            values[j] = (double)(k * 1000) + (double)j / 8;
        for (size_t j = 0; j < n; j++)
            labels[j] = (double)(k + j);
        x[k] = Mat_VarCreate(NULL, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, values, 0);
        y[k] = Mat_VarCreate(NULL, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, label_dims, labels, 0);
    }
    size_t dims[2] = {AGENTS, 1};
    matvar_t *xs = Mat_VarCreate("X", MAT_C_CELL, MAT_T_CELL, 2, dims, x, 0);
    matvar_t *ys = Mat_VarCreate("Y", MAT_C_CELL, MAT_T_CELL, 2, dims, y, 0);
    assert_int_equal(Mat_VarWrite(mat, ys, how), 0);
    assert_int_equal(Mat_VarWrite(mat, xs, how), 0);
    Mat_VarFree(xs);
    Mat_VarFree(ys);
    Mat_Close(mat);
}

static void check_matio_table(const tacit_table *t)
{
    size_t row = 0;
    assert_int_equal(t->features, FEATURES);
    assert_int_equal(t->owners.count, AGENTS);
    for (size_t k = 0; k < AGENTS; k++) {
        for (size_t j = 0; j < 2 + k; j++, row++) {
            assert_true(t->y[row] == (double)(k + j));
            assert_int_equal(t->owner[row], k);
            for (size_t c = 0; c < FEATURES; c++)
                assert_true(table_at(t, row, c) ==
                            (double)(k * 1000) + (double)(c * (2 + k) + j) / 8);
        }
    }
    assert_int_equal(t->rows, row);
}

static void test_against_matio(void **state)
{
    (void)state;
    for (int pack = 0; pack <= 1; pack++) {
        folder f = folder_make();
        char path[200];
        snprintf(path, sizeof path, "%s/m.mat", f.path);
        write_by_matio(path, pack ? MAT_COMPRESSION_ZLIB : MAT_COMPRESSION_NONE);
        tacit_data_options o = plain();
        tacit_table t;
        tacit_error err = {0};
        snprintf(o.folder, sizeof o.folder, "%s", f.path);
        snprintf(o.path, sizeof o.path, "m.mat");
        if (tacit_data_table(&t, &o, TACIT_F64, &err))
            fail_msg("%s", err.text);
        check_matio_table(&t);
        tacit_table_clear(&t);
        const char *const names[] = {"m.mat", NULL};
        folder_remove(&f, names);
    }
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),          cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_shared_records), cmocka_unit_test(test_stored_types),
        cmocka_unit_test(test_empty_cells),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hostile),        cmocka_unit_test(test_many_copies),
        cmocka_unit_test(test_damage),
#ifdef WITH_MATIO
        cmocka_unit_test(test_against_matio),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
