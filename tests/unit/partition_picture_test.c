/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a partition: one mark a fact, nothing that is no number, names made harmless. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/partition.h"

static char *draw(const tacit_partition_picture *picture, bool standalone)
{
    tacit_writer out = {0};
    tacit_draw_partition(&out, picture, standalone);
    char *text = tacit_writer_take(&out);
    assert_non_null(text);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    return text;
}

static size_t times(const char *text, const char *word)
{
    size_t n = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static void test_few_classes_are_stacked(void **state)
{
    (void)state;
    const uint32_t counts[] = {3, 0, 1, 2, 0, 0}; /* agents: 3+0, 1+2, none */
    const char *const names[] = {"-1", "1"};
    const tacit_partition_picture picture = {
        .title = "t", .agents = 3, .classes = 2, .counts = counts, .class_name = names};
    char *text = draw(&picture, true);
    assert_int_equal(times(text, "<title>"), 3);
    assert_non_null(strstr(text, "<title>1: 3 records</title>"));
    assert_non_null(strstr(text, "<title>2: 0 records</title>"));
    assert_int_equal(times(text, "class=\"r\""), 3 + 2); /* three pieces, two in the legend */
    free(text);
}

static void test_many_classes_are_a_heat_map(void **state)
{
    (void)state;
    uint32_t counts[4 * 10] = {0};
    const char *names[10];
    for (int c = 0; c < 10; c++)
        names[c] = "class";
    counts[0] = 5;
    counts[17] = 7;
    const tacit_partition_picture picture = {
        .title = "t", .agents = 4, .classes = 10, .counts = counts, .class_name = names};
    char *text = draw(&picture, true);
    assert_int_equal(times(text, "fill-opacity=\""), 2 + 5);    /* two cells, five in the legend */
    assert_int_equal(times(text, "fill-opacity=\"1.000\""), 2); /* the fullest, and its legend */
    free(text);
}

static void test_many_agents_are_sampled(void **state)
{
    (void)state;
    static uint32_t counts[5000];
    for (uint32_t i = 0; i < 5000; i++)
        counts[i] = i % 50;
    const tacit_partition_picture picture = {
        .title = "t", .note = "n", .agents = 5000, .classes = 1, .counts = counts};
    char *text = draw(&picture, false);
    assert_int_equal(times(text, "<title>"), TACIT_PARTITION_SAMPLE);
    assert_non_null(strstr(text, "40 of the 5000 agents"));
    assert_true(strlen(text) < 30000);
    free(text);
}

static void test_names_are_made_harmless_and_short(void **state)
{
    (void)state;
    const uint32_t counts[] = {1, 2};
    const char *const labels[] = {"<script>&\"", "a rather long name of an agent \xff"};
    const tacit_partition_picture picture = {
        .title = "<t>", .agents = 2, .classes = 1, .counts = counts, .label = labels};
    char *text = draw(&picture, true);
    assert_null(strstr(text, "<script>"));
    assert_null(strstr(text, "<t>"));
    assert_non_null(strstr(text, "&lt;script&gt;"));
    assert_non_null(strstr(text, ">a rather l…</text>"));
    assert_null(strchr(text, '\xff'));
    free(text);
}

static void test_extremes(void **state)
{
    (void)state;
    const uint32_t nothing[] = {0, 0}, much[] = {UINT32_MAX, UINT32_MAX};
    const char *const names[] = {"a", "b"};
    tacit_partition_picture picture = {
        .title = "t", .agents = 1, .classes = 2, .counts = nothing, .class_name = names};
    free(draw(&picture, true));
    picture.counts = much;
    free(draw(&picture, true));
    uint32_t *many = calloc(200, sizeof *many);
    assert_non_null(many);
    picture = (tacit_partition_picture){.title = "t", .agents = 200, .classes = 1, .counts = many};
    free(draw(&picture, true));
    many[7] = UINT32_MAX;
    free(draw(&picture, true));
    free(many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_classes_are_stacked),
        cmocka_unit_test(test_many_classes_are_a_heat_map),
        cmocka_unit_test(test_many_agents_are_sampled),
        cmocka_unit_test(test_names_are_made_harmless_and_short),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
