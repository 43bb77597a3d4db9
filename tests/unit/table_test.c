/* SPDX-License-Identifier: Apache-2.0 */
/* Tables: putting, joining several files, labels and owners from files of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "data/side.h"
#include "tables.h"

static void test_put(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    snprintf(o.scratch, sizeof o.scratch, "%s", f.path);
    for (int k = 0; k < 4; k++) {
        tacit_scalar scalar = k & 1 ? TACIT_F32 : TACIT_F64;
        o.storage = k >> 1;
        tacit_table t;
        tacit_error err = {0};
        assert_int_equal(tacit_table_create(&t, 3, 2, scalar, &o, &err), TACIT_OK);
        assert_int_equal(t.x.in_file, o.storage);
        const double x[] = {1.5, -2}, hole[] = {NAN, 1}, far[] = {1, INFINITY}, large[] = {1e39, 0};
        assert_int_equal(tacit_table_put(&t, 2, x, 7, &err), TACIT_OK);
        assert_true(table_at(&t, 2, 1) == -2 && t.y[2] == 7 && table_at(&t, 0, 0) == 0);
        assert_false(t.missing);
        assert_int_equal(tacit_table_put(&t, 1, hole, 7, &err), TACIT_OK);
        assert_true(t.missing);
        assert_int_equal(tacit_table_put(&t, 1, far, 7, &err), TACIT_EINPUT);
        assert_string_equal(err.text, "record 2, feature 2 is \"inf\"; expected a finite number");
        assert_int_equal(tacit_table_put(&t, 0, large, 7, &err),
                         scalar == TACIT_F32 ? TACIT_EINPUT : TACIT_OK);
        assert_int_equal(tacit_table_put(&t, 0, x, NAN, &err), TACIT_EINPUT);
        assert_int_equal(tacit_table_put(&t, 0, x, 1e39, &err),
                         scalar == TACIT_F32 ? TACIT_EINPUT : TACIT_OK);
        assert_int_equal(tacit_table_put(&t, 3, x, 7, &err), TACIT_EINPUT);
        tacit_table_clear(&t);
    }
    const char *const none[] = {NULL};
    folder_remove(&f, none);
}

static void test_absurd_sizes(void **state)
{
    (void)state;
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table t;
    tacit_error err = {0};
    assert_int_equal(tacit_table_create(&t, SIZE_MAX, 2, TACIT_F64, &o, &err), TACIT_EINPUT);
    assert_int_equal(tacit_table_create(&t, 2, SIZE_MAX, TACIT_F32, &o, &err), TACIT_EINPUT);
    assert_int_equal(tacit_table_create(&t, (size_t)1 << 32, (size_t)1 << 32, TACIT_F32, &o, &err),
                     TACIT_EINPUT);
    assert_int_equal(tacit_table_create(&t, 5, 0, TACIT_F32, &o, &err), TACIT_OK);
    assert_int_equal(tacit_table_put(&t, 4, NULL, 1, &err), TACIT_OK); /* a bias may come later */
    tacit_table_clear(&t);
}

/* ---- several files ---- */

static tacit_status load(const folder *f, tacit_data_options *o, tacit_table *t, tacit_error *err)
{
    *err = (tacit_error){0};
    snprintf(o->folder, sizeof o->folder, "%s", f->path);
    return tacit_data_table(t, o, TACIT_F64, err);
}

static void expect(const folder *f, tacit_data_options *o, const char *words)
{
    tacit_table t;
    tacit_error err;
    assert_int_equal(load(f, o, &t, &err), TACIT_EINPUT);
    if (!strstr(err.text, words))
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    assert_null(t.x.bytes);
}

#define SET(field, text) snprintf(o.field, sizeof o.field, "%s", text)

static void test_files_behind_each_other(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "a.csv", "agent,label,x,y\nann,1,2,3\nbob,-1,4,5\n");
    folder_text(&f, "b.csv", "label,x,agent,y\n1,6,cat,7\n1,8,ann,9\n");
    folder_text(&f, "c.csv", "agent,label,x,z\nann,1,2,3\n");
    folder_text(&f, "d.csv", "agent,label,x\nann,1,2\n");
    folder_text(&f, "a.svm", "1 1:5\n-1 2:6\n");
    folder_text(&f, "b.svm", "1 4:7\n");
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table t;
    tacit_error err;
    SET(path, "a.csv, b.csv");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    const double x[] = {2, 3, 4, 5, 6, 7, 8, 9}, y[] = {1, -1, 1, 1};
    assert_int_equal(t.rows, 4);
    assert_memory_equal(t.x.bytes, x, sizeof x);
    assert_memory_equal(t.y, y, sizeof y);
    assert_int_equal(t.owners.count, 3);
    assert_string_equal(table_owner(&t, 3), "ann");
    assert_string_equal(table_owner(&t, 2), "cat");
    assert_string_equal(tacit_names_get(&t.columns, 1), "y");
    tacit_table_clear(&t);

    SET(path, "a.csv,c.csv");
    expect(&f, &o, "feature 2 is \"y\" in \"a.csv\" and \"z\" in \"c.csv\"");
    SET(path, "a.csv,d.csv");
    expect(&f, &o, "\"a.csv\" has 2 features and \"d.csv\" 1; files that are read together");

    o.source = TACIT_SOURCE_LIBSVM; /* a file may lack the last features */
    SET(path, "a.svm,b.svm");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    assert_int_equal(t.features, 4);
    assert_true(table_at(&t, 0, 0) == 5 && table_at(&t, 1, 1) == 6 && table_at(&t, 2, 3) == 7);
    assert_true(table_at(&t, 1, 3) == 0);
    tacit_table_clear(&t);
    const char *const names[] = {"a.csv", "b.csv", "c.csv", "d.csv", "a.svm", "b.svm", NULL};
    folder_remove(&f, names);
}

/* Classes are numbered as they are listed, whatever a file holds of them; others are refused. */
static void test_classes(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "a", "label,x\nsit,1\nwalk,2\n");
    folder_text(&f, "b", "label,x\nrun,3\nsit,4\n");
    folder_text(&f, "n", "label,x\n5,3\n2.0,4\n");
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table t;
    tacit_error err;
    o.partition = TACIT_PARTITION_IID;
    SET(path, "a,b");
    SET(classes, "run, jump,sit , walk");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    const double y[] = {2, 3, 0, 2};
    assert_memory_equal(t.y, y, sizeof y);
    tacit_table_clear(&t);
    SET(classes, "run,walk");
    expect(&f, &o, "\"sit\"; expected a label that data.classes lists");
    SET(positive, "walk");
    expect(&f, &o, "data.classes numbers all labels");
    SET(positive, "");
    SET(path, "n");
    SET(classes, "2.0,5");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    assert_true(t.y[0] == 1 && t.y[1] == 0);
    tacit_table_clear(&t);
    o.source = TACIT_SOURCE_LIBSVM; /* by value */
    folder_text(&f, "s", "+5 1:3\n2 1:4\n");
    SET(path, "s");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    assert_true(t.y[0] == 1 && t.y[1] == 0);
    tacit_table_clear(&t);
    SET(classes, "2");
    expect(&f, &o, "s: label 5 is not one of those in data.classes");
    const char *const names[] = {"a", "b", "n", "s", NULL};
    folder_remove(&f, names);
}

/* A word of `positive` may be in any of the files, but must be in one. */
static void test_positive_over_files(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "a", "label,x\nsit,1\nwalk,2\n");
    folder_text(&f, "b", "label,x\nrun,3\nsit,4\n");
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table t;
    tacit_error err;
    o.partition = TACIT_PARTITION_IID;
    SET(path, "a,b");
    SET(positive, "walk , run");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    const double y[] = {-1, 1, 1, -1};
    assert_memory_equal(t.y, y, sizeof y);
    assert_null(t.owner);
    tacit_table_clear(&t);
    SET(positive, "walk,jump");
    expect(&f, &o, "a,b: no label is \"jump\"; data.positive must be a value of column \"label\"");
    const char *const names[] = {"a", "b", NULL};
    folder_remove(&f, names);
}

/* ---- labels and owners of their own ---- */

/* Bytes stay bytes among bytes, and become what the others are among others. */
static void test_files_of_bytes(void **state)
{
    (void)state;
    static const unsigned char bytes[] = {0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 255};
    static const unsigned char reals[] = {0, 0, 0x0d, 2,    0, 0, 0,    1,    0, 0,
                                          0, 2, 0xbf, 0x80, 0, 0, 0x40, 0x20, 0, 0}; /* -1, 2.5 */
    static const char *const paths[] = {"b, b", "b, r, b", "r, b"};
    static const size_t rows[] = {4, 5, 3};
    folder f = folder_make();
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    folder_write(&f, "b", bytes, sizeof bytes);
    folder_write(&f, "r", reals, sizeof reals);
    folder_text(&f, "y4", "1\n2\n3\n4\n");
    folder_text(&f, "y5", "1\n2\n3\n4\n5\n");
    folder_text(&f, "y3", "1\n2\n3\n");
    for (size_t k = 0; k < 3; k++) {
        tacit_table t;
        tacit_error err;
        double x[2];
        SET(path, paths[k]);
        snprintf(o.labels_path, sizeof o.labels_path, "y%zu", rows[k]);
        if (load(&f, &o, &t, &err))
            fail_msg("%s", err.text);
        assert_int_equal(t.rows, rows[k]);
        assert_true(t.narrow == (k == 0));
        tacit_table_get(&t, rows[k] - 1, x);
        assert_true(x[0] == 3 && x[1] == 255);
        tacit_table_get(&t, k == 1 ? 2 : 0, x);
        assert_true(k == 0 ? x[0] == 1 && x[1] == 2 : x[0] == -1 && x[1] == 2.5);
        tacit_table_clear(&t);
    }
    folder_remove(&f, (const char *const[]){"b", "r", "y3", "y4", "y5", NULL});
}

static void test_side_files(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "x", "  1 2\n 3   4 \n\t5\t6\n");
    folder_text(&f, "y", "walk\r\n  sit \nwalk\n\n");
    folder_text(&f, "n", "1\n2.5\n-1");
    folder_text(&f, "who", "ann\nbob smith\nann\n");
    folder_text(&f, "short", "1\n2\n");
    folder_text(&f, "hole", "ann\n\nbob\n");
    folder_text(&f, "tail", "3\n");
    folder_write(&f, "nul", "ann\nann\0\nbob\n", 13);
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table t;
    tacit_error err;
    o.header = false;
    o.separator = 3;
    SET(path, "x");
    SET(labels_path, "y");
    SET(agents_path, "who");
    SET(positive, "walk");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, -1, 1};
    assert_int_equal(t.rows, 3);
    assert_memory_equal(t.x.bytes, x, sizeof x);
    assert_memory_equal(t.y, y, sizeof y);
    assert_int_equal(t.owners.count, 2);
    assert_string_equal(table_owner(&t, 1), "bob smith");
    assert_string_equal(tacit_names_get(&t.columns, 1), "2");
    tacit_table_clear(&t);

    SET(positive, "");
    expect(&f, &o, "y: line 1 is \"walk\"; expected a finite number, or set data.positive");
    SET(labels_path, "n");
    SET(threshold, "1");
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    assert_true(t.y[0] == -1 && t.y[1] == 1 && t.y[2] == -1); /* above, not at */
    tacit_table_clear(&t);
    SET(threshold, "");
    SET(labels_path, "short, tail"); /* two files, three lines */
    if (load(&f, &o, &t, &err))
        fail_msg("%s", err.text);
    assert_true(t.y[2] == 3);
    tacit_table_clear(&t);

    SET(labels_path, "short");
    expect(&f, &o, "\"short\" has 2 labels and \"x\" 3 records; there must be as many");
    SET(labels_path, "n,n");
    expect(&f, &o, "\"n,n\" has 6 labels and \"x\" 3 records");
    SET(labels_path, "n");
    SET(agents_path, "hole");
    expect(&f, &o, "hole: line 2 is \"\"; expected an agent's name");
    SET(agents_path, "nul");
    expect(&f, &o, "nul: line 2 is \"ann?\"; expected an agent's name");
    SET(agents_path, "short");
    expect(&f, &o, "\"short\" has 2 agents' names and \"x\" 3 records");
    SET(agents_path, "who#1");
    expect(&f, &o, "who: is text; a column can be chosen of IDX and NPY files only");
    const char *const names[] = {"x", "y", "n", "who", "short", "hole", "tail", "nul", NULL};
    folder_remove(&f, names);
}

static void test_label_rules(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "x", "label,x\n1,1\n2,2\n3,3\n");
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    o.partition = TACIT_PARTITION_IID;
    SET(path, "x");
    SET(positive, "1");
    SET(threshold, "2");
    expect(&f, &o, "data.positive and data.threshold are both given");
    SET(positive, "");
    SET(threshold, "two");
    expect(&f, &o, "data.threshold is \"two\"; expected a finite number");
    const char *const names[] = {"x", NULL};
    folder_remove(&f, names);
}

static void test_load_says_what_is_missing(void **state)
{
    (void)state;
    folder f = folder_make();
    tacit_data_options o = table_options(TACIT_SOURCE_IDX);
    SET(path, "");
    expect(&f, &o, "data.path is empty; name the file to read");
    SET(path, "x");
    expect(&f, &o,
           "data.labels-path is empty; source \"idx\" has its labels in a file of their "
           "own");
    o.source = TACIT_SOURCE_NPY;
    expect(&f, &o, "source \"npy\"");
    const char *const none[] = {NULL};
    folder_remove(&f, none);
}

/* The same file in memory and in nameless files gives the same table. */
static void test_storage(void **state)
{
    (void)state;
    folder f = folder_make();
    folder_text(&f, "x", "agent,label,x\na,1,2\nb,2,3\n");
    tacit_data_options o = table_options(TACIT_SOURCE_CSV);
    tacit_table one, two;
    tacit_error err;
    SET(path, "x,x");
    SET(scratch, f.path);
    assert_int_equal(load(&f, &o, &one, &err), TACIT_OK);
    o.storage = 1;
    assert_int_equal(load(&f, &o, &two, &err), TACIT_OK);
    assert_true(two.x.in_file && !one.x.in_file);
    assert_int_equal(one.rows, 4);
    assert_memory_equal(one.x.bytes, two.x.bytes, 4 * sizeof(double));
    tacit_table_clear(&one);
    tacit_table_clear(&two);
    SET(scratch, "/no/such/folder");
    expect(&f, &o, "cannot make a file in data.scratch");
    const char *const names[] = {"x", NULL};
    folder_remove(&f, names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put),
        cmocka_unit_test(test_absurd_sizes),
        cmocka_unit_test(test_files_behind_each_other),
        cmocka_unit_test(test_positive_over_files),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_files_of_bytes),
        cmocka_unit_test(test_side_files),
        cmocka_unit_test(test_label_rules),
        cmocka_unit_test(test_load_says_what_is_missing),
        cmocka_unit_test(test_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
