/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A forecast as a page: where joining pays (over owners and over records of each), what everyone
 * would get over epsilon, the pilots around the laws they made, and a table of owners.
 */
#include "experiment/forecast_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CURVE = 60, OWNERS_SHOWN = 50 };

typedef struct curve {
    double x[CURVE], y[CURVE], low[CURVE], high[CURVE];
} curve;

typedef struct cloud {
    size_t count;
    double *x, *y;
} cloud;

/* Points of the map that rest on what no pilot had. */
typedef struct beyond {
    size_t count;
    double x[TACIT_MAP_COLUMNS], y[TACIT_MAP_COLUMNS];
} beyond;

/* ---- where joining pays ---- */

static double mean_epsilon(const tacit_forecast_view *view)
{
    double sum = 0;
    for (size_t i = 0; i < view->count; i++)
        sum += tacit_epsilon_rate_noise(&view->together->exchange, view->owners[i].epsilon);
    return tacit_epsilon_rate_epsilon(&view->together->exchange, sum / (double)view->count);
}

static void draw_beyond(tacit_chart *chart, beyond *b, const double *x, const double *border,
                        const bool *outside)
{
    b->count = 0;
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        if (!outside[k] || !isfinite(border[k]))
            continue;
        b->x[b->count] = x[k];
        b->y[b->count++] = border[k];
    }
    if (b->count > 0)
        chart->of[chart->series++] = (tacit_series){.name = "beyond the pilots",
                                                    .mark = TACIT_MARK_DOTS,
                                                    .count = b->count,
                                                    .x = b->x,
                                                    .y = b->y};
}

static void draw_map(tacit_chart *chart, const tacit_forecast_map *map, const double *here,
                     const double *epsilon, beyond *b)
{
    *chart = (tacit_chart){.title = "Where joining pays: owners",
                           .x_label = "number of owners",
                           .y_label = "epsilon of everyone",
                           .note = "above the line a typical run together beats a model of one's "
                                   "own; the band is a chance from 5 % to 95 %",
                           .log_x = true,
                           .log_y = true,
                           .series = 2};
    chart->of[0] = (tacit_series){.name = "border",
                                  .count = TACIT_MAP_COLUMNS,
                                  .x = map->owners,
                                  .y = map->border,
                                  .low = map->hopeless,
                                  .high = map->sure};
    chart->of[1] = (tacit_series){
        .name = "these owners", .mark = TACIT_MARK_DOTS, .count = 1, .x = here, .y = epsilon};
    draw_beyond(chart, b, map->owners, map->border, map->outside);
}

static void draw_records(tacit_chart *chart, const tacit_forecast_map *map, const double *epsilon,
                         beyond *b)
{
    *chart = (tacit_chart){.title = "Where joining pays: records",
                           .x_label = "records of each owner",
                           .y_label = "epsilon of everyone",
                           .note = "for as many owners as there are",
                           .log_x = true,
                           .log_y = true,
                           .series = 2};
    chart->of[0] = (tacit_series){.name = "border",
                                  .count = TACIT_MAP_COLUMNS,
                                  .x = map->records,
                                  .y = map->by_records,
                                  .low = map->records_hopeless,
                                  .high = map->records_sure};
    chart->of[1] = (tacit_series){
        .name = "these owners", .mark = TACIT_MARK_DOTS, .count = 1, .x = &map->own, .y = epsilon};
    draw_beyond(chart, b, map->records, map->by_records, map->records_outside);
}

/* ---- relative fitness over epsilon ---- */

static void put(curve *c, size_t k, double x, const tacit_outlook *out)
{
    c->x[k] = x;
    c->y[k] = out->psi;
    c->low[k] = out->low;
    c->high[k] = out->high;
}

static tacit_series line_of(const char *name, const curve *c, bool band)
{
    return (tacit_series){.name = name,
                          .count = CURVE,
                          .x = c->x,
                          .y = c->y,
                          .low = band ? c->low : NULL,
                          .high = band ? c->high : NULL};
}

static void draw_epsilon(tacit_chart *chart, const tacit_forecast_view *view, curve c[2])
{
    const double middle = mean_epsilon(view), count = (double)view->count;
    double pooled = 0;
    for (size_t i = 0; i < view->count; i++)
        pooled += view->owners[i].records;
    for (size_t k = 0; k < CURVE; k++) {
        const double epsilon = middle * pow(10, 4.0 * (double)k / (CURVE - 1) - 2);
        const tacit_pilot place = {
            .owners = count,
            .records = pooled,
            .noise = count * tacit_epsilon_rate_noise(&view->together->exchange, epsilon)};
        const tacit_outlook out = tacit_fitness_law_at(view->together, &place, view->coverage);
        const tacit_outlook home =
            tacit_fitness_law_alone_at(view->alone, pooled / count, pooled, view->coverage);
        put(&c[0], k, epsilon, &out);
        put(&c[1], k, epsilon, &home);
    }
    *chart = (tacit_chart){.title = "What everyone would get",
                           .x_label = "epsilon of everyone",
                           .y_label = "relative fitness (less is better)",
                           .note = "a single run, and its prediction interval",
                           .log_x = true,
                           .log_y = true,
                           .series = 2};
    chart->of[0] = line_of("together, with noise", &c[0], true);
    chart->of[1] = line_of("alone, without", &c[1], true);
}

/* ---- pilots ---- */

static bool make_cloud(cloud *out, size_t count)
{
    *out = (cloud){.count = count, .x = calloc(2 * count + 1, sizeof *out->x)};
    out->y = out->x ? out->x + count : NULL;
    return out->x != NULL;
}

/* The law over the s of its pilots and as far as is predicted. */
static void follow_law(curve *c, const tacit_fitness_law *law, double least, double most,
                       double coverage)
{
    for (size_t k = 0; k < CURVE; k++) {
        const double s = least * pow(most / least, (double)k / (CURVE - 1));
        /* One owner: N^crowd is in s already. */
        const tacit_pilot place = {.owners = 1, .records = 1, .noise = s * s};
        const tacit_outlook out = tacit_fitness_law_at(law, &place, coverage);
        put(c, k, s, &out);
    }
}

static void draw_pilots(tacit_chart *chart, const tacit_forecast_view *view, cloud *dots, curve *c)
{
    const tacit_fitness_law *law = view->together;
    for (size_t k = 0; k < dots->count; k++) {
        const tacit_pilot *p = &view->pilots->run[k];
        dots->x[k] = pow(p->owners, law->crowd) * sqrt(p->noise) / p->records;
        dots->y[k] = p->psi;
    }
    follow_law(c, law, law->least, law->most, view->coverage);
    *chart = (tacit_chart){.title = "Pilots together",
                           .x_label = "strength of the noise, s",
                           .y_label = "relative fitness",
                           .note = "one dot a run; the fitted law and its prediction interval",
                           .log_x = true,
                           .log_y = true,
                           .series = 2};
    chart->of[0] = line_of("the law", c, true);
    chart->of[1] = (tacit_series){.name = "pilots",
                                  .mark = TACIT_MARK_DOTS,
                                  .count = dots->count,
                                  .x = dots->x,
                                  .y = dots->y};
}

static void draw_lone(tacit_chart *chart, const tacit_forecast_view *view, cloud *dots, curve *c)
{
    const tacit_fitness_law *law = view->alone;
    for (size_t k = 0; k < dots->count; k++) {
        const tacit_lone_pilot *p = &view->pilots->lone[k];
        dots->x[k] = 1 / (1 / p->own - 1 / p->pooled);
        dots->y[k] = p->psi;
    }
    for (size_t k = 0; k < CURVE; k++) {
        const double s = law->least * pow(law->most / law->least, (double)k / (CURVE - 1));
        const tacit_outlook out = tacit_fitness_law_alone_at(law, 1 / s, INFINITY, view->coverage);
        put(c, k, 1 / s, &out);
    }
    *chart = (tacit_chart){.title = "Pilots alone",
                           .x_label = "1 / (1/own - 1/all records)",
                           .y_label = "relative fitness",
                           .note = "an owner's model of its own records, without noise",
                           .log_x = true,
                           .log_y = true,
                           .series = 2};
    chart->of[0] = line_of("the law", c, true);
    chart->of[1] = (tacit_series){.name = "owners of pilots",
                                  .mark = TACIT_MARK_DOTS,
                                  .count = dots->count,
                                  .x = dots->x,
                                  .y = dots->y};
}

static void page_pilots(tacit_writer *out, const tacit_forecast_view *view)
{
    tacit_chart chart;
    cloud runs, lone;
    curve c;
    const bool room = make_cloud(&runs, view->pilots->count);
    const bool more = make_cloud(&lone, view->pilots->lone_count);
    if (room && more) {
        tacit_page_heading(out, "Pilots");
        tacit_page_grid(out);
        draw_pilots(&chart, view, &runs, &c);
        tacit_page_chart(out, &chart);
        draw_lone(&chart, view, &lone, &c);
        tacit_page_chart(out, &chart);
        tacit_page_grid_end(out);
    }
    out->failed = out->failed || !room || !more;
    free(runs.x);
    free(lone.x);
}

/* ---- tables ---- */

static void page_laws(tacit_writer *out, const tacit_forecast_view *view)
{
    const tacit_fitness_law *t = view->together, *a = view->alone;
    tacit_page_heading(out, "The laws");
    tacit_page_table(out);
    tacit_page_figure(out, "together", "%.3g + %.3g s + %.3g s^2, s = N^%.3g sqrt(sum 1/eps^2)/n",
                      t->c[0], t->c[1], t->c[2], t->crowd);
    tacit_page_figure(out, "alone", "%.3g (1/own - 1/all)", a->c[1]);
    if (t->freedom > 0) {
        tacit_page_figure(out, "runs", "%zu of %zu settings; %zu more were hopeless", t->points,
                          t->settings, view->pilots ? view->pilots->hopeless : 0);
        tacit_page_figure(out, "means of equal runs miss the law",
                          "by a factor of %.3g typically, %.3g at worst", exp(t->between),
                          t->worst);
        tacit_page_figure(out, "and the law of alone", "by %.3g typically, %.3g at worst",
                          exp(a->between), a->worst);
    }
    tacit_page_table_end(out);
}

static void page_owners(tacit_writer *out, const tacit_forecast_view *view)
{
    tacit_page_heading(out, "Owners");
    tacit_page_table(out);
    for (size_t i = 0; i < view->count && i < OWNERS_SHOWN; i++) {
        const tacit_stake *s = &view->stakes[i];
        char least[100] = "no epsilon of its own is enough";
        if (isfinite(s->own))
            snprintf(least, sizeof least, "pays from an epsilon of %.3g of its own", s->own);
        tacit_page_figure(out, view->owners[i].name,
                          "%.6g records, epsilon %.3g: alone %.3g, together %.3g (%.3g to %.3g), "
                          "better with a chance of %.0f %%; %s%s",
                          view->owners[i].records, view->owners[i].epsilon, s->alone.psi,
                          s->together.psi, s->together.low, s->together.high, 100 * s->chance,
                          least, s->own_outside ? " (beyond the pilots)" : "");
    }
    tacit_page_table_end(out);
    if (view->count > OWNERS_SHOWN)
        tacit_page_words(out, "Further owners are in forecast.csv.", false);
}

static void page_warnings(tacit_writer *out, const tacit_forecast_view *view)
{
    bool outside = false, lone_outside = false;
    size_t below = 0;
    for (size_t i = 0; i < view->count; i++) {
        outside = outside || view->stakes[i].together.outside;
        lone_outside = lone_outside || view->stakes[i].alone.outside;
        below += view->stakes[i].alone.psi <= view->together->c[0];
    }
    if (tacit_fitness_law_is_bad(view->together) || tacit_fitness_law_is_bad(view->alone))
        tacit_page_words(out,
                         "The pilots do not follow the law: what is predicted here is worth "
                         "little. See how far they are from it below.",
                         true);
    if (outside && view->pilots)
        tacit_page_words(out,
                         "What is predicted lies outside of what the pilots showed: it holds if "
                         "the law goes on, which nobody has seen.",
                         true);
    if (lone_outside && view->pilots)
        tacit_page_words(out,
                         "No owner of a pilot had so many or so few records as these: what they "
                         "have alone holds if its law goes on.",
                         true);
    if (below > 0 && !tacit_fitness_law_floor_seen(view->together))
        tacit_page_words(out,
                         "The pilots cannot tell whether some owners are better alone at any "
                         "epsilon: all pilots had noise, and what is left without it is a guess.",
                         true);
    if (view->pilots)
        tacit_page_words(out,
                         "Pilots are charged to nobody: they belong on public or simulated "
                         "records. Run on private ones, this page would be a leak.",
                         false);
}

char *tacit_forecast_page(const tacit_forecast_view *view)
{
    tacit_writer out = {0};
    const tacit_forecast_map map = tacit_forecast_draw(view);
    const double here = (double)view->count, epsilon = mean_epsilon(view);
    tacit_chart chart;
    beyond b;
    curve c[2];
    tacit_page_open(&out, "Is it worth joining?",
                    "relative fitness of a model learned together under privacy, and alone");
    page_warnings(&out, view);
    tacit_page_grid(&out);
    draw_map(&chart, &map, &here, &epsilon, &b);
    tacit_page_chart(&out, &chart);
    draw_records(&chart, &map, &epsilon, &b);
    tacit_page_chart(&out, &chart);
    draw_epsilon(&chart, view, c);
    tacit_page_chart(&out, &chart);
    tacit_page_grid_end(&out);
    page_owners(&out, view);
    page_laws(&out, view);
    if (view->pilots)
        page_pilots(&out, view);
    tacit_page_close(&out);
    return tacit_writer_take(&out);
}

char *tacit_forecast_svg(const tacit_forecast_view *view)
{
    tacit_writer out = {0};
    const tacit_forecast_map map = tacit_forecast_draw(view);
    const double here = (double)view->count, epsilon = mean_epsilon(view);
    tacit_chart chart;
    beyond b;
    draw_map(&chart, &map, &here, &epsilon, &b);
    tacit_chart_svg(&out, &chart);
    return tacit_writer_take(&out);
}
