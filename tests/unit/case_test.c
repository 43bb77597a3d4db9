/* SPDX-License-Identifier: Apache-2.0 */
/* Cases: choices are counted, named and made on other problems than those shown; numbers over seeds
 * are means and paired differences; groups are by records. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/case.h"
#include "testing.h"

static void test_choices(void **state)
{
    (void)state;
    static const char three[] = "protocol.mu=1|5;privacy.clip=0.1;run.time=2|3|4";
    char words[100];
    assert_int_equal(case_choice_count(NULL), 1);
    assert_int_equal(case_choice_count(""), 1);
    assert_int_equal(case_choice_count("a.b=1"), 1);
    assert_int_equal(case_choice_count("a.b=1|2"), 2);
    assert_int_equal(case_choice_count(three), 6);
    case_choice_words(three, 0, words, sizeof words);
    assert_string_equal(words, "mu 1, clip 0.1, time 2");
    case_choice_words(three, 5, words, sizeof words);
    assert_string_equal(words, "mu 5, clip 0.1, time 4");
    case_choice_words(three, 3, words, 12); /* cut, not past the end */
    assert_int_equal(strlen(words), 11);
    case_choice_words(NULL, 0, words, sizeof words);
    assert_string_equal(words, "");
}

static const case_task task = {
    .yaml = "run: {every: 0}\n"
            "data: {source: linear-separators, agents: 10, dimension: 5, min-records: 10, "
            "max-records: 40}\n"
            "graph: {kind: similarity, gamma: 1}\n",
    .tuning = "data.validation-records=50",
    .shown = "data.validation-records=0",
};
static const tacit_reproduce_request request = {.seed = 7, .seeds = 3, .threads = 2};

/* Of a run that never starts and one that does, validation knows which is better, wherever it
 * stands in the list. */
static void test_chooses_the_better(void **state)
{
    (void)state;
    static const case_method first = {.settings = "protocol.name=cd", .choices = "run.time=30|0"};
    static const case_method second = {.settings = "protocol.name=cd", .choices = "run.time=0|30"};
    static const case_method two = {.settings = "protocol.name=cd",
                                    .choices = "protocol.mu=5|5;run.time=0|30"};
    static const case_method none = {.settings = "protocol.name=cd;run.time=30"};
    tacit_error err = {0};
    case_book book;
    char words[100];
    case_open(&book, &request, &task, 2);
    case_add(&book, &first, "data.dimension=%d", 4);
    case_add(&book, &second, "data.dimension=%d", 4);
    case_add(&book, &none, "data.dimension=%d", 4);
    case_add(&book, &two, "data.dimension=%d", 4);
    check_ok(case_run(&book, &err), &err);
    for (size_t cell = 0; cell < 2; cell++) {
        case_chosen_words(&book, cell, words, sizeof words);
        assert_string_equal(words, "time 30");
        assert_true(case_score(&book, cell).mean == case_score(&book, 2).mean);
    }
    case_chosen_words(&book, 2, words, sizeof words);
    assert_string_equal(words, "");
    case_chosen_words(&book, 3, words, sizeof words); /* the second key is the one that matters */
    assert_string_equal(words, "mu 5, time 30");
    assert_true(isinf(case_epsilon(&book, 2))); /* gradients came out bare */
    case_close(&book);
}

/* A task where less is better chooses the other one; by seed, from its own validation records. */
static void test_less_and_own(void **state)
{
    (void)state;
    static const case_method method = {.settings = "protocol.name=cd", .choices = "run.time=30|0"};
    case_task other = task;
    tacit_error err = {0};
    case_book book;
    char words[100];
    other.less = other.own = true;
    case_open(&book, &request, &other, 1);
    case_add(&book, &method, "%s", "");
    check_ok(case_run(&book, &err), &err);
    case_chosen_words(&book, 0, words, sizeof words);
    assert_string_equal(words, "time 0");
    case_close(&book);
}

/* The mean validation score of one run, by hand: the task's settings, then `more`. */
static double score_by_hand(const case_task *t, const char *const *more, tacit_split split)
{
    tacit_error err = {0};
    tacit_config config;
    tacit_experiment x;
    tacit_session *session;
    double score[10], sum = 0;
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", t->yaml, strlen(t->yaml), &err), &err);
    for (; *more; more++)
        check_ok(tacit_config_set(&config, *more, &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    check_ok(tacit_session_create(&session, &x, 1, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){.folder = NULL}, &err), &err);
    tacit_session_scores(session, split, score);
    for (int k = 0; k < 10; k++)
        sum += score[k] / 10;
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
    return sum;
}

/* What choices are made by: validation records of problems that are not shown, and for a task of
 * splits of its own, of those that are. What is shown: test records, and no validation records. */
static void test_choices_are_made_by_other_records(void **state)
{
    (void)state;
    static const case_method method = {.settings = "protocol.name=cd", .choices = "run.time=3|9"};
    for (int own = 0; own < 2; own++) {
        case_task t = task;
        tacit_error err = {0};
        case_book book;
        t.own = own;
        t.shown = "data.validation-records=0;data.min-records=20";
        case_open(&book, &request, &t, 2);
        case_add(&book, &method, "%s", "");
        check_ok(case_run(&book, &err), &err);
        const case_cell *cell = &book.cells[0];
        const uint32_t seeds = own ? 3 : 2;
        for (uint32_t k = 0; k < 2 * seeds; k++) {
            char seed[40];
            snprintf(seed, sizeof seed, "run.seed=%u", 7 + k % seeds + (own ? 0 : 3));
            const char *const more[] = {"data.validation-records=50", "protocol.name=cd",
                                        k < seeds ? "run.time=3" : "run.time=9", seed, NULL};
            assert_true(fabs(cell->tried[k] - score_by_hand(&t, more, TACIT_VALIDATION)) < 1e-12);
            assert_true(fabs(cell->tried[k] - score_by_hand(&t, more, TACIT_TEST)) > 1e-6);
        }
        for (uint32_t k = 0; k < 3; k++) {
            char seed[40];
            snprintf(seed, sizeof seed, "run.seed=%u", 7 + k);
            const char *const more[] = {"data.validation-records=0",
                                        "data.min-records=20",
                                        "protocol.name=cd",
                                        cell->chosen[k] ? "run.time=9" : "run.time=3",
                                        seed,
                                        NULL};
            assert_true(fabs(cell->shown[k].score - score_by_hand(&t, more, TACIT_TEST)) < 1e-12);
        }
        case_close(&book);
    }
}

static void test_numbers(void **state)
{
    (void)state;
    static const case_method alone = {.settings = "protocol.name=alone"};
    static const case_method cd = {.settings = "protocol.name=cd;run.time=30"};
    const double times[] = {1, 5, 1000}; /* the last is after the end */
    tacit_error err = {0};
    case_book book;
    case_open(&book, &request, &task, 1);
    book.times = times;
    book.time_count = 3;
    case_add(&book, &alone, "%s", "");
    case_add(&book, &cd, "%s", "");
    check_ok(case_run(&book, &err), &err);
    /* Paired: the mean of differences is the difference of means, its interval is not. */
    const tacit_interval a = case_score(&book, 0), b = case_score(&book, 1);
    const tacit_interval gain = case_gain(&book, 1, 0);
    assert_true(fabs(gain.mean - (b.mean - a.mean)) < 1e-12 && gain.low < gain.mean);
    assert_true(case_gain(&book, 0, 0).mean == 0 && case_gain(&book, 0, 0).high == 0);
    /* Agents of both groups make up all of them. */
    for (size_t s = 0; s < 3; s++) {
        const case_result *r = &book.cells[1].shown[s];
        double sum = 0;
        assert_int_equal(r->agents, 10);
        for (uint32_t k = 0; k < r->agents; k++) {
            assert_true(r->records[k] >= 10 && r->records[k] <= 40);
            sum += r->by_agent[k] / r->agents;
        }
        assert_true(fabs(sum - r->score) < 1e-12);
        assert_true(r->ticks[0] < r->ticks[1] && r->ticks[1] < r->ticks[2]);
        assert_true(r->objective[2] < r->objective[0] && r->accuracy[2] == r->score);
    }
    assert_true(case_group(&book, 1, 0, UINT32_MAX).mean == b.mean);
    assert_true(isnan(case_group(&book, 1, 41, 100).mean));
    assert_true(case_epsilon(&book, 0) == 0);
    case_close(&book);
}

static void test_errors(void **state)
{
    (void)state;
    static const case_method wrong = {.settings = "protocol.name=cd;protocol.potato=1"};
    static const case_method broken = {.settings = "nonsense"};
    const case_method *const all[] = {&wrong, &broken};
    for (int k = 0; k < 2; k++) {
        tacit_error err = {0};
        case_book book;
        case_open(&book, &request, &task, 1);
        case_add(&book, all[k], "%s", "");
        assert_int_not_equal(case_run(&book, &err), TACIT_OK);
        assert_non_null(strstr(err.text, k ? "nonsense" : "potato"));
        case_close(&book);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices),
                                       cmocka_unit_test(test_chooses_the_better),
                                       cmocka_unit_test(test_less_and_own),
                                       cmocka_unit_test(test_numbers),
                                       cmocka_unit_test(test_choices_are_made_by_other_records),
                                       cmocka_unit_test(test_errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
