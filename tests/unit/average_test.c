/* SPDX-License-Identifier: Apache-2.0 */
/* Private averages: what may be asked, what a peer may hold, and how both become records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/gopa_inside.h"
#include "tacit/average.h"
#include "testing.h"

static tacit_average_options asked(const char *range, const char *bins, int64_t columns)
{
    tacit_average_options o = {.columns = columns};
    snprintf(o.range, sizeof o.range, "%s", range);
    snprintf(o.bins, sizeof o.bins, "%s", bins);
    return o;
}

static void test_questions(void **state)
{
    (void)state;
    tacit_question q;
    tacit_error err = {0};
    tacit_average_options o = asked("-1.5:1e3", "", 3);
    check_ok(tacit_question_make(&q, &o, &err), &err);
    assert_true(q.least == -1.5 && q.most == 1000 && q.numbers == 3 && q.columns == 3 && !q.edge);
    tacit_question_clear(&q);
    o = asked("", "0,18,30.5,120", 1);
    check_ok(tacit_question_make(&q, &o, &err), &err);
    assert_true(q.least == 0 && q.most == 120 && q.numbers == 3 && q.columns == 1);
    assert_true(q.edge[1] == 18 && q.edge[2] == 30.5);
    tacit_question_clear(&q);
}

static void test_questions_refused(void **state)
{
    (void)state;
    static const struct {
        const char *range, *bins, *word;
        int64_t columns;
    } bad[] = {
        {"", "", "missing", 1},
        {"0", "", "LEAST:MOST", 1},
        {"1:1", "", "LEAST:MOST", 1},
        {"2:1", "", "LEAST:MOST", 1},
        {"0:nan", "", "LEAST:MOST", 1},
        {"0:inf", "", "LEAST:MOST", 1},
        {"0:1e999", "", "LEAST:MOST", 1},
        {"0:1x", "", "LEAST:MOST", 1},
        {" 0:1", "", "LEAST:MOST", 1},
        {"0:0x10", "", "LEAST:MOST", 1},
        {"-1e308:1e308", "", "LEAST:MOST", 1},
        {"", "0,1", "rising edges", 1},
        {"", "0,2,1", "rising edges", 1},
        {"", "0,1,1", "rising edges", 1},
        {"", "0,1,2,", "rising edges", 1},
        {"", "0,,2,3", "rising edges", 1},
        {"", "0,1,nan", "rising edges", 1},
        {"0:1", "0,1,2", "leave it out", 1},
        {"", "0,1,2", "one number a row", 2},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_question q;
        tacit_error err = {0};
        const tacit_average_options o = asked(bad[k].range, bad[k].bins, bad[k].columns);
        check_fails(tacit_question_make(&q, &o, &err), TACIT_EINPUT, &err, bad[k].word);
        assert_null(q.edge);
    }
}

static tacit_status parse(tacit_held *v, const tacit_average_options *o, const char *text,
                          tacit_error *err)
{
    tacit_question q;
    check_ok(tacit_question_make(&q, o, err), err);
    tacit_status status = tacit_held_parse(v, &q, "values", text, strlen(text), err);
    tacit_question_clear(&q);
    return status;
}

static void test_values(void **state)
{
    (void)state;
    static const char *const same[] = {"1,2\n3,250\n", "a,b\n1 2\n\n# remark\n3; -0\n7 7\n",
                                       "1\t2\r\n3\t1e3\r\n", "1,2\n3,101"};
    static const size_t rows[] = {2, 3, 2, 2}, clipped[] = {1, 0, 1, 1};
    const tacit_average_options o = asked("0:100", "", 2);
    for (size_t k = 0; k < 4; k++) {
        tacit_held v;
        tacit_error err = {0};
        check_ok(parse(&v, &o, same[k], &err), &err);
        assert_int_equal(v.rows, rows[k]);
        assert_int_equal(v.clipped, clipped[k]);
        assert_true(v.number[0] == 1 && v.number[1] == 2 && v.number[2] == 3);
        assert_true(v.number[3] == (k == 1 ? 0 : 100));
        tacit_held_clear(&v);
    }
}

static void test_values_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"", "has no number"},
        {"\n\n# 1\n", "has no number"},
        {"a,b\n", "has no number"},
        {"1,nan\n", ":1: \"nan\" is no finite number"},
        {"1,2\ninf,2\n", ":2: \"inf\""},
        {"1,2\n1e999,2\n", "\"1e999\""},
        {"1,2\na,b\n", ":2: \"a\""},
        {"1,2,3\n", ":1: more than 2 numbers"},
        {"1,2\n3\n", ":2: 1 numbers"},
        {"1,2x\n", "\"2x\""},
        {"v1,v2\n1,2\n", "\"v1\""},
        {"0x1,2\n", "\"0x1\""},
        {"nan,inf\n1,2\n", ":1: \"nan\""},
        {"a,-nan\n1,2\n", ":1: \"a\""},
    };
    const tacit_average_options o = asked("0:100", "", 2);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        tacit_held v;
        tacit_error err = {0};
        check_fails(parse(&v, &o, bad[k].text, &err), TACIT_EINPUT, &err, bad[k].word);
        assert_null(v.number);
    }
}

static void check_records(const tacit_average_options *o, const char *text, bool apart,
                          const char *want)
{
    tacit_question q;
    tacit_held v;
    tacit_error err = {0};
    check_ok(tacit_question_make(&q, o, &err), &err);
    check_ok(tacit_held_parse(&v, &q, "values", text, strlen(text), &err), &err);
    char *records = tacit_held_records(&v, &q, apart);
    assert_string_equal(records, want);
    free(records);
    tacit_held_clear(&v);
    tacit_question_clear(&q);
}

static void test_records(void **state)
{
    (void)state;
    const tacit_average_options mean = asked("0:100", "", 2), bins = asked("", "0,10,20,50", 1);
    check_records(&mean, "1,2.5\n3,0.1\n", true, "agent,label,v0,v1\n0,0,1,2.5\n1,0,3,0.1\n");
    check_records(&mean, "1,2.5\n3,0.1\n", false, "label,v0,v1\n0,1,2.5\n0,3,0.1\n");
    /* below, an edge, inside, the last edge, above */
    check_records(&bins, "-5\n10\n19.9\n50\n51\n0\n20\n", false,
                  "label,v0,v1,v2\n0,1,0,0\n0,0,1,0\n0,0,1,0\n0,0,0,1\n0,0,0,1\n0,1,0,0\n"
                  "0,0,0,1\n");
}

/* Who adds up may be lost: words are said again, unless noise between pairs hides them. */
static void test_words_said_again(void **state)
{
    (void)state;
    static const uint32_t peers[] = {3, 5, 10, 41};
    for (size_t k = 0; k < 8; k++) {
        const bool gaussian = k >= 4;
        tacit_error err = {0};
        tacit_config config;
        tacit_experiment x;
        tacit_model *model;
        tacit_average_plan plan = {.question = asked("0:100", "", 1),
                                   .peers = peers[k % 4],
                                   .epsilon = 1,
                                   .delta = 1e-6,
                                   .unit = TACIT_UNIT_USER,
                                   .gaussian_masks = gaussian,
                                   .curious = gaussian,
                                   .absent = 0.2,
                                   .patience = 5};
        tacit_config_init(&config);
        check_ok(tacit_average_config(&config, &plan, &err), &err);
        check_ok(tacit_experiment_init(&x, &config, &err), &err);
        check_ok(tacit_model_create(&model, &x.model, 1, &err), &err);
        const tacit_setup setup = {
            .agents = plan.peers, .model = model, .privacy = &x.privacy, .until = 1};
        gopa_shared *shared = calloc(1, sizeof *shared);
        assert_non_null(shared);
        check_ok(x.protocol->setup(shared, x.protocol_options, &setup, &err), &err);
        assert_int_equal(shared->plan.again, !gaussian);
        x.protocol->teardown(shared);
        free(shared);
        tacit_model_free(model);
        tacit_experiment_clear(&x);
        tacit_config_clear(&config);
    }
}

/* A peer whose state was put back from a copy: its signed word is on the board, and nothing is in
 * its ledger. */
static void test_own_word_unpaid(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_board_word word[] = {{.agent = 1}, {.agent = 4}};
    const tacit_board board = {.word = word, .words = 2};
    check_fails(tacit_average_paid(&board, 4, 0, &err), TACIT_EVERIFY, &err,
                "its ledger knows of no release");
    check_ok(tacit_average_paid(&board, 4, 1, &err), &err);
    check_ok(tacit_average_paid(&board, 2, 0, &err), &err); /* it was not in the sum */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_questions),        cmocka_unit_test(test_questions_refused),
        cmocka_unit_test(test_values),           cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_records),          cmocka_unit_test(test_own_word_unpaid),
        cmocka_unit_test(test_words_said_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
