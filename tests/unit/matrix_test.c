/* SPDX-License-Identifier: Apache-2.0 */
/* Plain matrices from text and from NPY, and what is no matrix. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tacit/data.h"

static tacit_status parse(tacit_matrix *m, const char *header, const char *text, tacit_error *err)
{
    return tacit_matrix_parse(m, "it.csv", header, text, strlen(text), err);
}

static void test_text(void **state)
{
    (void)state;
    static const char *const same[] = {
        "1,2.5,-3\n4,5,6e-1\n",
        "# a comment\n\n 1 2.5\t-3 # more\r\n4 , 5 ,6e-1",
        "\xEF\xBB\xBF# after a mark\n1,2.5,-3\n\n4,5,0.6\n#",
    };
    static const double want[] = {1, 2.5, -3, 4, 5, 0.6};
    for (size_t k = 0; k < sizeof same / sizeof *same; k++) {
        tacit_matrix m;
        tacit_error err = {0};
        check_ok(parse(&m, NULL, same[k], &err), &err);
        assert_int_equal(m.rows, 2);
        assert_int_equal(m.columns, 3);
        assert_memory_equal(m.value, want, sizeof want);
        tacit_matrix_clear(&m);
        assert_null(m.value);
    }
}

static void test_header(void **state)
{
    (void)state;
    tacit_matrix m;
    tacit_error err = {0};
    check_ok(parse(&m, "agent,round", "agent,round\r\n3,2\n", &err), &err);
    assert_int_equal(m.rows, 1);
    assert_true(m.value[0] == 3 && m.value[1] == 2);
    tacit_matrix_clear(&m);
    check_fails(parse(&m, "agent,round", "3,2\nagent,round\n", &err), TACIT_EINPUT, &err,
                "it.csv:2");
    check_fails(parse(&m, NULL, "agent,round\n3,2\n", &err), TACIT_EINPUT, &err, "\"agent\"");
}

static void test_text_that_is_none(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"", "no numbers"},
        {"# nothing\n\n", "no numbers"},
        {"1,2\n3\n", "it.csv:2: 1 numbers in this row, 2"},
        {"1,2\n3,4,5\n", "it.csv:2: 3 numbers"},
        {"1,,2\n", "comma without"},
        {"1,2,\n", "comma without"},
        {"1,2, # end\n", "comma without"},
        {",1\n", "\"\" is not"},
        {"1,nan\n", "\"nan\" is not a finite number"},
        {"1,inf\n", "\"inf\""},
        {"1,1e999\n", "\"1e999\""},
        {"1;2\n", "\"1;2\""},
        {"1,0x10\n", "\"0x10\""},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_matrix m;
        tacit_error err = {0};
        check_fails(parse(&m, NULL, bad[k].text, &err), TACIT_EINPUT, &err, bad[k].word);
        assert_null(m.value);
    }
}

/* A header as numpy writes it, and so many bytes behind it. */
static size_t npy(unsigned char out[512], const char *what, const void *numbers, size_t bytes)
{
    const size_t header = 118;
    memset(out, ' ', 128);
    memcpy(out, "\x93NUMPY\x01\x00", 8);
    out[8] = (unsigned char)header;
    out[9] = 0;
    memcpy(out + 10, what, strlen(what));
    out[127] = '\n';
    memcpy(out + 128, numbers, bytes);
    return 128 + bytes;
}

static void test_npy(void **state)
{
    (void)state;
    static const double by_rows[] = {1, 2, 3, 4, 5, 6}, by_columns[] = {1, 4, 2, 5, 3, 6};
    static const double bad[] = {1, 2, 1.0 / 0.0, 4, 5, 6};
    unsigned char bytes[512];
    tacit_matrix m;
    tacit_error err = {0};
    for (int fortran = 0; fortran < 2; fortran++) {
        char what[100];
        snprintf(what, sizeof what, "{'descr': '<f8', 'fortran_order': %s, 'shape': (2, 3), }",
                 fortran ? "True" : "False");
        size_t len = npy(bytes, what, fortran ? by_columns : by_rows, sizeof by_rows);
        check_ok(tacit_matrix_parse(&m, "it.npy", NULL, (const char *)bytes, len, &err), &err);
        assert_int_equal(m.rows, 2);
        assert_int_equal(m.columns, 3);
        assert_memory_equal(m.value, by_rows, sizeof by_rows);
        tacit_matrix_clear(&m);
        check_fails(tacit_matrix_parse(&m, "it.npy", NULL, (const char *)bytes, len - 1, &err),
                    TACIT_EINPUT, &err, "cut or damaged");
    }
    size_t len =
        npy(bytes, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", bad, sizeof bad);
    check_fails(tacit_matrix_parse(&m, "it.npy", NULL, (const char *)bytes, len, &err),
                TACIT_EINPUT, &err, "row 0, column 2");
    len = npy(bytes, "{'descr': '<f8', 'fortran_order': False, 'shape': (6,), }", by_rows,
              sizeof by_rows);
    check_fails(tacit_matrix_parse(&m, "it.npy", NULL, (const char *)bytes, len, &err),
                TACIT_EINPUT, &err, "1 dimensions; expected two");
    len = npy(bytes, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", by_rows, 0);
    check_fails(tacit_matrix_parse(&m, "it.npy", NULL, (const char *)bytes, len, &err),
                TACIT_EINPUT, &err, "no numbers");
}

static void test_files(void **state)
{
    (void)state;
    char path[] = "/tmp/tacit_matrix_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "1 2\n2 1\n", 8), 8);
    close(fd);
    tacit_matrix m;
    tacit_error err = {0};
    check_ok(tacit_matrix_read(&m, path, NULL, &err), &err);
    assert_true(m.rows == 2 && m.value[1] == 2);
    tacit_matrix_clear(&m);
    unlink(path);
    tacit_status status = tacit_matrix_read(&m, path, NULL, &err);
    assert_int_not_equal(status, TACIT_OK);
    assert_non_null(strstr(err.text, "tacit_matrix_"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),  cmocka_unit_test(test_header),
        cmocka_unit_test(test_npy),   cmocka_unit_test(test_text_that_is_none),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
