/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.html of one run: what summary.json says in words, the curves of metrics.csv, and
 * how well each agent does for the records it has. Nothing of it depends on the machine, so
 * equal runs have equal pages.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/run.h"
#include "report/page.h"

#define MOST_DOTS 2000 /* agents in the picture: more would only be slower to look at */

/* One curve: the rows "time,all,name,value" of metrics.csv. */
typedef struct curve {
    double *time, *value;
    size_t count, time_capacity, value_capacity;
} curve;

static bool add_point(curve *c, double time, double value)
{
    double *times = tacit_array_grow(c->time, &c->time_capacity, c->count + 1, sizeof *times);
    if (!times)
        return false;
    c->time = times;
    double *values = tacit_array_grow(c->value, &c->value_capacity, c->count + 1, sizeof *values);
    if (!values)
        return false;
    c->value = values;
    c->time[c->count] = time;
    c->value[c->count++] = value;
    return true;
}

static bool read_curve(curve *c, const char *csv, const char *name)
{
    char wanted[TACIT_METRIC_NAME + 8];
    int len = snprintf(wanted, sizeof wanted, ",all,%s,", name);
    for (const char *line = csv; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        char *rest;
        double time = strtod(line, &rest);
        if (rest != line && strncmp(rest, wanted, (size_t)len) == 0 &&
            !add_point(c, time, strtod(rest + len, NULL)))
            return false;
    }
    return true;
}

static void clear_curve(curve *c)
{
    free(c->time);
    free(c->value);
}

static void chart(tacit_writer *out, const char *csv, const char *title, const char *y_label,
                  const char *const names[2])
{
    curve curves[2] = {{0}};
    tacit_chart picture = {
        .title = title, .x_label = "time (mean ticks of an agent)", .y_label = y_label};
    for (uint32_t k = 0; k < 2 && names[k]; k++) {
        if (!read_curve(&curves[k], csv, names[k]))
            out->failed = true;
        picture.of[k].name = names[k];
        picture.of[k].count = curves[k].count;
        picture.of[k].x = curves[k].time;
        picture.of[k].y = curves[k].value;
        picture.series++;
    }
    tacit_page_chart(out, &picture);
    clear_curve(&curves[0]);
    clear_curve(&curves[1]);
}

static void dots(tacit_writer *out, const tacit_session *s, const tacit_measure *measure,
                 const char *score)
{
    uint32_t agents = s->graph.agents, count = agents < MOST_DOTS ? agents : MOST_DOTS;
    double *x = malloc(2 * (size_t)count * sizeof *x);
    if (!x) {
        out->failed = true;
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t agent = tacit_sampled(agents, count, k);
        x[k] = tacit_dataset_rows(s->source.data, agent, TACIT_TRAIN);
        x[count + k] = measure->test[agent];
    }
    char title[80];
    snprintf(title, sizeof title, "%s by local data", score);
    tacit_chart picture = {.title = title,
                           .x_label = "training records an agent has",
                           .y_label = score,
                           .series = 1,
                           .of = {{.name = "one dot an agent",
                                   .mark = TACIT_MARK_DOTS,
                                   .count = count,
                                   .x = x,
                                   .y = x + count}}};
    tacit_page_chart(out, &picture);
    free(x);
}

static void figures(tacit_writer *out, tacit_session *s, const tacit_snapshot *now,
                    const char *score)
{
    const tacit_traffic traffic = s->runtime->ops->traffic(s->runtime);
    const tacit_privacy_options *privacy = &s->experiment->privacy;
    const double epsilon = tacit_session_epsilon(s);
    tacit_page_table(out);
    if (!isnan(now->test))
        tacit_page_figure(out, score, "%.4f ± %.4f over agents", now->test, now->test_deviation);
    if (!isnan(now->objective))
        tacit_page_figure(out, "objective", "%.8g", now->objective);
    tacit_page_figure(out, "agents", "%u, %llu edges", s->graph.agents,
                      (unsigned long long)(s->graph.row[s->graph.agents] / 2));
    tacit_page_figure(out, "messages", "%llu (%.3g MB)", (unsigned long long)traffic.messages,
                      (double)traffic.bytes / 1e6);
    char spent[40] = "unbounded";
    if (isfinite(epsilon))
        snprintf(spent, sizeof spent, "%g", epsilon);
    tacit_page_figure(out, "epsilon",
                      "%s at delta %g, for one %s (adjacency %s), mechanism %s, against an "
                      "adversary \"%s\" that sees %s",
                      spent, privacy->delta, tacit_unit_name((tacit_unit)privacy->unit),
                      tacit_adjacency_name((tacit_adjacency)privacy->adjacency),
                      tacit_mechanism_name((tacit_mechanism)privacy->mechanism),
                      tacit_trust_name(tacit_session_budget(s).trust),
                      tacit_trust_words(tacit_session_budget(s).trust));
    tacit_page_table_end(out);
}

char *tacit_page_text(tacit_run *r, const tacit_measure *measure, const char *csv, bool complete)
{
    tacit_session *s = r->session;
    tacit_writer out = {0};
    char score[40], validation[40], subtitle[200];
    snprintf(score, sizeof score, "test_%s", tacit_model_score_name(s->model));
    snprintf(validation, sizeof validation, "validation_%s", tacit_model_score_name(s->model));
    snprintf(subtitle, sizeof subtitle, "protocol %s, seed %lld, time %g of %g%s",
             s->experiment->protocol->name, (long long)s->experiment->run.seed, measure->now.time,
             s->experiment->run.time, complete ? "" : " (interrupted)");
    tacit_page_open(&out, s->experiment->run.name, subtitle);
    figures(&out, s, &measure->now, score);
    chart(&out, csv, "How well agents do", tacit_model_score_name(s->model),
          (const char *const[]){score, validation});
    chart(&out, csv, "What they minimise together", "objective",
          (const char *const[]){"objective", NULL});
    dots(&out, s, measure, score);
    tacit_page_close(&out);
    return tacit_writer_take(&out);
}
