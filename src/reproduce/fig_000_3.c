/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 3 of paper 000 (appendix D): who gains? Test accuracy at p = 100 by the number of records
 * an agent has, for every method and budget of figure 2(c), and what it gains over learning alone
 * with a tuned regulariser, agent by agent and seed by seed.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/separators.h"

enum { MOST_GROUPS = 5 };
typedef struct group {
    uint32_t from, to;
} group;
static const group whole[MOST_GROUPS] = {{10, 28}, {29, 46}, {47, 64}, {65, 82}, {83, 100}};
static const group quick[] = {{10, 24}, {25, 40}};
#define LOSS 0.005 /* a group that loses more is worth a word */

typedef struct figure {
    case_book book;
    int dimension;
    const group *groups;
    size_t group_count;
    size_t alone, alone_sparse, cd;
    size_t cell[SEPARATORS_METHODS][SEPARATORS_BUDGETS];
} figure;

static void plan(figure *f)
{
    const int p = f->dimension;
    f->alone = case_add(&f->book, &separators_alone, "data.dimension=%d", p);
    f->alone_sparse = case_add(&f->book, &separators_alone_sparse, "data.dimension=%d", p);
    f->cd = case_add(&f->book, &separators_cd, "data.dimension=%d", p);
    for (size_t m = 0; separators_private[m]; m++)
        for (size_t b = 0; b < SEPARATORS_BUDGETS; b++)
            f->cell[m][b] =
                case_add(&f->book, separators_private[m], "data.dimension=%d;privacy.epsilon=%g", p,
                         separators_budgets[b]);
}

static size_t base_of(const figure *f, size_t m)
{
    return separators_private[m]->sparse ? f->alone_sparse : f->alone;
}

/* ---- panels ---- */

#define X_LABEL "training records of an agent (middle of its group)"
#define NOTE "mean over a group's agents; bands: 95 % intervals; dashed: unsound"
#define GAIN "gain over alone"
static const figure_panel panels[3][SEPARATORS_BUDGETS] = {
    {{"accuracy-1.05", "Accuracy by records, epsilon 1.05", X_LABEL, "test accuracy", NOTE, false,
      false},
     {"accuracy-0.55", "Accuracy by records, epsilon 0.55", X_LABEL, "test accuracy", NOTE, false,
      false},
     {"accuracy-0.15", "Accuracy by records, epsilon 0.15", X_LABEL, "test accuracy", NOTE, false,
      false}},
    {{"gain-1.05", "Gain over tuned alone, epsilon 1.05", X_LABEL, GAIN, NOTE, false, false},
     {"gain-0.55", "Gain over tuned alone, epsilon 0.55", X_LABEL, GAIN, NOTE, false, false},
     {"gain-0.15", "Gain over tuned alone, epsilon 0.15", X_LABEL, GAIN, NOTE, false, false}},
    {{"sparse-gain-1.05", "Gain over alone, all with a sparse prior, epsilon 1.05", X_LABEL, GAIN,
      NOTE, false, false},
     {"sparse-gain-0.55", "Gain over alone, all with a sparse prior, epsilon 0.55", X_LABEL, GAIN,
      NOTE, false, false},
     {"sparse-gain-0.15", "Gain over alone, all with a sparse prior, epsilon 0.15", X_LABEL, GAIN,
      NOTE, false, false}},
};

/* `base` of SIZE_MAX: the accuracy itself. */
static void line(tacit_reproduced *out, const figure *f, size_t panel, size_t cell, size_t base)
{
    double x[MOST_GROUPS], y[MOST_GROUPS], low[MOST_GROUPS], high[MOST_GROUPS];
    for (size_t g = 0; g < f->group_count; g++) {
        const group *at = &f->groups[g];
        const tacit_interval i = base == SIZE_MAX
                                     ? case_group(&f->book, cell, at->from, at->to)
                                     : case_group_gain(&f->book, cell, base, at->from, at->to);
        x[g] = 0.5 * (at->from + at->to);
        y[g] = i.mean;
        low[g] = isnan(i.low) ? i.mean : i.low;
        high[g] = isnan(i.high) ? i.mean : i.high;
    }
    const case_method *method = f->book.cells[cell].method;
    figure_add_series(out, panel, method->label, f->group_count, x, y, low, high);
    figure_draw(out, method->colour, method->unsound);
}

static void add_panels(tacit_reproduced *out, const figure *f)
{
    for (int kind = 0; kind < 3; kind++)
        for (size_t b = 0; b < SEPARATORS_BUDGETS; b++) {
            const size_t panel = figure_add_panel(out, &panels[kind][b]);
            if (kind == 0)
                line(out, f, panel, f->alone, SIZE_MAX);
            if (kind < 2)
                line(out, f, panel, f->cd, kind ? f->alone : SIZE_MAX);
            for (size_t m = 0; separators_private[m]; m++)
                if (separators_private[m]->sparse == (kind == 2))
                    line(out, f, panel, f->cell[m][b], kind ? base_of(f, m) : SIZE_MAX);
        }
}

/* ---- words ---- */

static void rows_of(tacit_reproduced *out, const figure *f, size_t cell, size_t base,
                    const char *words)
{
    for (size_t g = 0; g < f->group_count; g++) {
        const group *at = &f->groups[g];
        const tacit_interval i = base == SIZE_MAX
                                     ? case_group(&f->book, cell, at->from, at->to)
                                     : case_group_gain(&f->book, cell, base, at->from, at->to);
        figure_add_row(out, i.mean, i.low, i.high, NAN, "%s, %u to %u records", words, at->from,
                       at->to);
    }
}

static void add_rows(tacit_reproduced *out, const figure *f)
{
    rows_of(out, f, f->alone, SIZE_MAX, "accuracy: alone");
    rows_of(out, f, f->cd, f->alone, "gain: cd");
    for (size_t m = 0; separators_private[m]; m++)
        for (size_t b = 0; b < SEPARATORS_BUDGETS; b++) {
            char words[120];
            snprintf(words, sizeof words, "gain: %s%s, %g", separators_private[m]->name,
                     separators_private[m]->unsound ? " (unsound)" : "", separators_budgets[b]);
            rows_of(out, f, f->cell[m][b], base_of(f, m), words);
        }
}

/* The least mean gain of a group. */
static double worst(const figure *f, size_t m, size_t b)
{
    double least = INFINITY;
    for (size_t g = 0; g < f->group_count; g++)
        least = fmin(least, case_group_gain(&f->book, f->cell[m][b], base_of(f, m),
                                            f->groups[g].from, f->groups[g].to)
                                .mean);
    return least;
}

/* "small" / "large" / "worst" by budget, separated by slashes. */
static void find_method(tacit_reproduced *out, const figure *f, size_t m)
{
    enum { SMALLEST, LARGEST, WORST, KINDS };
    const group *ends[] = {&f->groups[0], &f->groups[f->group_count - 1]};
    char text[KINDS][80];
    size_t used[KINDS] = {0}, losing = 0;
    for (size_t b = 0; b < SEPARATORS_BUDGETS; b++) {
        const double least = worst(f, m, b);
        losing += least < -LOSS;
        for (int k = 0; k < KINDS; k++) {
            const double gain = k == WORST ? least
                                           : case_group_gain(&f->book, f->cell[m][b], base_of(f, m),
                                                             ends[k]->from, ends[k]->to)
                                                 .mean;
            used[k] += (size_t)snprintf(text[k] + used[k], sizeof text[k] - used[k], "%s%+.3f",
                                        b ? " / " : "", gain);
        }
    }
    char verdict[120];
    if (losing == 0)
        snprintf(verdict, sizeof verdict, "No group loses more than %g.", LOSS);
    else
        snprintf(verdict, sizeof verdict, "At %zu of %d budgets a group loses more than %g.",
                 losing, SEPARATORS_BUDGETS, LOSS);
    figure_find(out, "%s: agents with fewest records %s, with most %s, the worst group %s. %s",
                separators_private[m]->label, text[SMALLEST], text[LARGEST], text[WORST], verdict);
}

static void add_findings(tacit_reproduced *out, const figure *f)
{
    figure_find(out, "The paper finds that all agents gain from private collaboration, those with "
                     "few records most. Gains over tuned alone at epsilon 1.05 / 0.55 / 0.15:");
    for (size_t m = 0; separators_private[m]; m++)
        find_method(out, f, m);
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.dimension = request->quick ? 8 : 100,
                .groups = request->quick ? quick : whole,
                .group_count =
                    request->quick ? sizeof quick / sizeof *quick : sizeof whole / sizeof *whole};
    separators_open(&f.book, request);
    plan(&f);
    tacit_status status = separators_run(out, &f.book, err);
    if (!status) {
        add_findings(out, &f);
        add_panels(out, &f);
        add_rows(out, &f);
        separators_settings(out, &f.book);
        figure_set(out, "p", "%d", f.dimension);
    }
    case_close(&f.book);
    return status;
}

const tacit_reproduction tacit_reproduction_000_fig3 = {
    .name = "000-fig3",
    .paper = "paper 000: Bellet, Guerraoui, Taziki, Tommasi (AISTATS 2018), appendix D, figure 3",
    .title = "Accuracy by an agent's number of records",
    .seeds = 5,
    .run = reproduce,
};
