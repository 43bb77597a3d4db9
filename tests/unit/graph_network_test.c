/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a network, and the picture made of it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/layout.h"
#include "testing.h"

static const tacit_box box = {10, 20, 400, 300};

typedef struct drawn {
    tacit_network net;
    uint32_t *a, *b;
    tacit_point *at;
} drawn;

static void draw_graph(drawn *d, tacit_graph *g)
{
    *d = (drawn){0};
    d->a = calloc(g->entries + 1, sizeof *d->a);
    d->b = calloc(g->entries + 1, sizeof *d->b);
    d->at = calloc(g->agents, sizeof *d->at);
    assert_true(d->a && d->b && d->at);
    for (uint32_t i = 0; i < g->agents; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            if (g->neighbour[e] > i) {
                d->a[d->net.edges] = i;
                d->b[d->net.edges++] = g->neighbour[e];
            }
        }
    }
    d->net.agents = g->agents;
    d->net.a = d->a;
    d->net.b = d->b;
    tacit_graph_clear(g);
    assert_true(tacit_network_layout(&d->net, box, d->at));
    for (uint32_t i = 0; i < d->net.agents; i++) {
        assert_true(d->at[i].x >= box.x - 1e-6 && d->at[i].x <= box.x + box.width + 1e-6);
        assert_true(d->at[i].y >= box.y - 1e-6 && d->at[i].y <= box.y + box.height + 1e-6);
    }
}

static void clear_drawn(drawn *d)
{
    free(d->a);
    free(d->b);
    free(d->at);
}

static double apart(const drawn *d, uint32_t i, uint32_t j)
{
    return hypot(d->at[i].x - d->at[j].x, d->at[i].y - d->at[j].y);
}

/* The shortest and longest line. */
static void line_lengths(const drawn *d, double *shortest, double *longest)
{
    *shortest = INFINITY;
    *longest = 0;
    for (size_t e = 0; e < d->net.edges; e++) {
        *shortest = fmin(*shortest, apart(d, d->a[e], d->b[e]));
        *longest = fmax(*longest, apart(d, d->a[e], d->b[e]));
    }
}

static void test_a_ring_is_round(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    drawn d;
    double least = INFINITY, most = 0;
    check_ok(tacit_graph_ring(&g, 60, &err), &err);
    draw_graph(&d, &g);
    double x = 0, y = 0;
    for (uint32_t i = 0; i < 60; i++) {
        x += d.at[i].x / 60;
        y += d.at[i].y / 60;
    }
    for (uint32_t i = 0; i < 60; i++) {
        double radius = hypot(d.at[i].x - x, d.at[i].y - y);
        least = fmin(least, radius);
        most = fmax(most, radius);
    }
    assert_true(most < 1.05 * least && least > 0.45 * box.height);
    clear_drawn(&d);
}

static void test_a_grid_is_upright(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_graph g;
    drawn d;
    double shortest, longest;
    check_ok(tacit_graph_grid(&g, 100, &err), &err);
    draw_graph(&d, &g);
    line_lengths(&d, &shortest, &longest);
    assert_true(longest < 1.2 * shortest);
    for (size_t e = 0; e < d.net.edges; e++) {
        double dx = fabs(d.at[d.a[e]].x - d.at[d.b[e]].x);
        double dy = fabs(d.at[d.a[e]].y - d.at[d.b[e]].y);
        assert_true(fmin(dx, dy) < 0.15 * fmax(dx, dy));
    }
    clear_drawn(&d);
}

/* No two agents on one place, whatever the graph; components do not overlap. */
static void test_agents_stay_apart(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int c = 0; c < 6; c++) {
        tacit_graph g;
        drawn d;
        if (c == 0)
            check_ok(tacit_graph_complete(&g, 40, &err), &err);
        else if (c == 1)
            check_ok(tacit_graph_star(&g, 60, &err), &err);
        else if (c == 2)
            check_ok(tacit_graph_erdos_renyi(&g, 80, 0.01, 2, &err), &err);
        else if (c == 3)
            check_ok(tacit_graph_erdos_renyi(&g, 30, 0, 2, &err), &err);
        else
            check_ok(tacit_graph_k_regular(&g, c == 4 ? 100 : 2, c == 4 ? 4 : 1, 2, &err), &err);
        draw_graph(&d, &g);
        for (uint32_t i = 0; i < d.net.agents; i++) {
            for (uint32_t j = i + 1; j < d.net.agents; j++)
                assert_true(apart(&d, i, j) > 0.5);
        }
        clear_drawn(&d);
    }
}

static size_t count_words(const char *text, const char *word)
{
    size_t count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void test_picture(void **state)
{
    (void)state;
    const uint32_t a[] = {0, 1, 2, 3, 9, 3}, b[] = {1, 2, 0, 2, 1, 3};
    const double weight[] = {1, 0.5, 0.1, NAN, 1, 1};
    const uint32_t group[] = {0, 1, 8, 1};
    const char *const label[] = {"<one>", "two & a half", "three", "four"};
    const tacit_network net = {.title = "a \"title\" <b>",
                               .agents = 4,
                               .edges = 6, /* the last two lead out, and to itself */
                               .a = a,
                               .b = b,
                               .weight = weight,
                               .group = group,
                               .label = label};
    tacit_writer one = {0}, two = {0}, piece = {0};
    tacit_draw_network(&one, &net, true);
    tacit_draw_network(&two, &net, true);
    tacit_draw_network(&piece, &net, false);
    assert_true(!one.failed && !piece.failed);
    assert_string_equal(one.text, two.text);
    assert_int_equal(count_words(one.text, "<circle"), 4);
    assert_int_equal(count_words(one.text, "L"), 4); /* lines */
    assert_non_null(strstr(one.text, "&lt;one&gt;: 2 neighbours, group 0"));
    assert_non_null(strstr(one.text, "two &amp; a half"));
    assert_non_null(strstr(one.text, "xmlns="));
    assert_non_null(strstr(one.text, "prefers-color-scheme:dark"));
    assert_null(strstr(one.text, "nan"));
    assert_null(strstr(piece.text, "xmlns="));
    assert_null(strstr(one.text, "<b>"));
    tacit_writer_clear(&one);
    tacit_writer_clear(&two);
    tacit_writer_clear(&piece);
}

static void test_many_agents_are_counted(void **state)
{
    (void)state;
    enum { MANY = TACIT_NETWORK_AGENTS + 1 };
    uint32_t a[MANY], b[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        a[i] = i;
        b[i] = (i + 1) % MANY;
    }
    tacit_network net = {.agents = MANY, .edges = MANY, .a = a, .b = b};
    tacit_writer out = {0}, piece = {0};
    tacit_draw_network(&out, &net, true);
    tacit_draw_network(&piece, &net, false);
    assert_true(!out.failed && !piece.failed);
    assert_int_equal(count_words(out.text, "<circle"), 0);
    assert_non_null(strstr(out.text, "neighbours"));
    assert_non_null(strstr(out.text, "xmlns="));
    assert_non_null(strstr(piece.text, "too many to draw"));
    tacit_writer_clear(&out);
    tacit_writer_clear(&piece);
    net = (tacit_network){0};
    tacit_draw_network(&out, &net, true); /* nobody: nothing to see, nothing to crash on */
    tacit_writer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_ring_is_round),         cmocka_unit_test(test_a_grid_is_upright),
        cmocka_unit_test(test_agents_stay_apart),       cmocka_unit_test(test_picture),
        cmocka_unit_test(test_many_agents_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
