/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chorus-agents: what company is worth. Test accuracy of chorus by the number of agents, for
 * budgets down to 0.01. Noise does not grow with agents and statistics do, so budgets matter less
 * and less.
 *
 * The number of neighbours does not grow with that of agents: where there are more than 101
 * agents, everybody is compared with 100 others that were drawn (and meets 100 more who drew it),
 * of whom about a third are alike enough to be neighbours. Problems of many agents take long, so
 * there are fewer of them; means over more agents scatter less, too.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/study_chorus.h"

/* How many problems at most, how many test records an agent. */
typedef struct company {
    uint32_t agents, seeds, test;
    bool alone; /* learning alone does not depend on company: not where it takes long */
} company;
static const company whole[] = {
    {100, 20, 100, true}, {1000, 10, 100, true}, {10000, 3, 20, true}, {100000, 1, 10, false}};
static const company quick[] = {{12, 2, 100, true}, {24, 1, 50, true}};
enum { MOST_COMPANIES = 4 };
static const double epsilons[] = {1.05, 0.15, 0.01};
#define EPSILONS (sizeof epsilons / sizeof *epsilons)
static const case_method methods[EPSILONS] = {
    {.name = "chorus 1.05", .label = "chorus, epsilon 1.05", .settings = STUDY_CHORUS, .colour = 2},
    {.name = "chorus 0.15", .label = "chorus, epsilon 0.15", .settings = STUDY_CHORUS, .colour = 1},
    {.name = "chorus 0.01", .label = "chorus, epsilon 0.01", .settings = STUDY_CHORUS, .colour = 0},
};

typedef struct study study;
/* One number of agents: a book of its own, since the number of problems differs. */
typedef struct part {
    const study *of;
    const company *who;
    tacit_reproduce_request request;
    case_book book;
    size_t alone, cell[EPSILONS];
    double before; /* work of the parts before this one */
} part;
struct study {
    const tacit_reproduce_request *request;
    const company *companies;
    size_t count;
    part part[MOST_COMPANIES];
    double total;
};

/* ---- work ---- */

static double work_of(const part *p)
{
    const size_t methods_run = EPSILONS + p->who->alone;
    return (double)p->who->agents * p->request.seeds * (double)methods_run;
}

/* A run is worth its agents. */
static void progress(void *ctx, double done, double total)
{
    const part *p = ctx;
    const tacit_reproduce_request *r = p->of->request;
    r->progress(r->progress_ctx, p->before + work_of(p) * done / total, p->of->total);
}

static void plan(study *s)
{
    for (size_t k = 0; k < s->count; k++) {
        part *p = &s->part[k];
        p->of = s;
        p->who = &s->companies[k];
        p->request = *s->request;
        p->request.progress = s->request->progress ? progress : NULL;
        p->request.progress_ctx = p;
        if (p->request.seeds > p->who->seeds)
            p->request.seeds = p->who->seeds;
        p->before = s->total;
        s->total += work_of(p);
    }
}

static tacit_status run_part(part *p, tacit_error *err)
{
    char task[200];
    snprintf(task, sizeof task,
             "data.dimension=%d;data.max-records=%d;data.agents=%u;data.test-records=%u;"
             "graph.draws=100",
             p->request.quick ? 8 : 100, p->request.quick ? 40 : 100, p->who->agents, p->who->test);
    case_open(&p->book, &p->request, &separators_task, 1);
    for (size_t e = 0; e < EPSILONS; e++)
        p->cell[e] = case_add(&p->book, &methods[e], "%s;privacy.epsilon=%g", task, epsilons[e]);
    p->alone = p->who->alone ? case_add(&p->book, &study_alone, "%s", task) : SIZE_MAX;
    return case_run(&p->book, err);
}

/* ---- what is shown ---- */

/* `method` of EPSILONS: alone. */
static size_t cell_of(const part *p, size_t method)
{
    return method == EPSILONS ? p->alone : p->cell[method];
}

static void add_line(tacit_reproduced *out, const study *s, size_t panel, size_t method)
{
    const case_method *is = method == EPSILONS ? &study_alone : &methods[method];
    double x[MOST_COMPANIES], y[MOST_COMPANIES], low[MOST_COMPANIES], high[MOST_COMPANIES];
    size_t n = 0;
    for (size_t k = 0; k < s->count; k++) {
        const part *p = &s->part[k];
        if (cell_of(p, method) == SIZE_MAX)
            continue;
        const tacit_interval i = case_score(&p->book, cell_of(p, method));
        x[n] = p->who->agents;
        y[n] = i.mean;
        low[n] = isnan(i.low) ? i.mean : i.low;
        high[n++] = isnan(i.high) ? i.mean : i.high;
        figure_add_row(out, i.mean, i.low, i.high, NAN, "%u agents: %s", p->who->agents, is->name);
    }
    figure_add_series(out, panel, is->label, n, x, y, low, high);
    figure_draw(out, is->colour, false);
}

static void add_findings(tacit_reproduced *out, const study *s)
{
    for (size_t k = 0; k < s->count; k++) {
        const part *p = &s->part[k];
        char text[300];
        size_t used = 0;
        for (size_t e = 0; e < EPSILONS && used < sizeof text; e++) {
            char one[80];
            study_words(case_score(&p->book, p->cell[e]), one, sizeof one);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s at epsilon %g",
                                     e ? ", " : "", one, epsilons[e]);
        }
        figure_find(out, "%u agents (%u problem%s): chorus %s.", p->who->agents, p->request.seeds,
                    p->request.seeds > 1 ? "s" : "", text);
    }
}

static void show(tacit_reproduced *out, const study *s)
{
    static const figure_panel panel = {"accuracy-by-agents",
                                       "Accuracy by the number of agents",
                                       "agents",
                                       "test accuracy",
                                       "mean over agents; bands: 95 % intervals where there is "
                                       "more than one problem",
                                       true,
                                       false};
    const size_t at = figure_add_panel(out, &panel);
    add_findings(out, s);
    for (size_t m = 0; m <= EPSILONS; m++)
        add_line(out, s, at, m);
    study_settings(out, s->request, s->request->quick ? "p = 8" : "p = 100");
    figure_set(
        out, "graph",
        "up to 101 agents all pairs are compared, beyond everybody with 100 others, drawn at "
        "random (graph.draws): about 65 neighbours for any number of agents");
    for (size_t k = 0; k < s->count; k++)
        figure_set(out, "problems", "%u agents: %u, with %u test records an agent",
                   s->part[k].who->agents, s->part[k].request.seeds, s->part[k].who->test);
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    study s = {.request = request,
               .companies = request->quick ? quick : whole,
               .count =
                   request->quick ? sizeof quick / sizeof *quick : sizeof whole / sizeof *whole};
    tacit_status status = TACIT_OK;
    plan(&s);
    for (size_t k = 0; k < s.count && !status; k++)
        status = run_part(&s.part[k], err);
    if (!status)
        show(out, &s);
    for (size_t k = 0; k < s.count; k++)
        case_close(&s.part[k].book);
    return status;
}

const tacit_reproduction tacit_reproduction_chorus_agents = {
    .name = "chorus-agents",
    .paper = STUDY_PAPER,
    .title = "Accuracy by the number of agents, to 100,000",
    .seeds = 20,
    .run = run,
};
