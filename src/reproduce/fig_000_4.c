/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 4 of paper 000 (appendix D): noise on the records themselves. Each agent releases its
 * records with noise and learns from those, alone (as in the figure) and together with its
 * neighbours, which the paper tried in vain. A record then hides behind nothing but its own noise,
 * so that more records of an agent do not make it smaller.
 *
 * The paper's is (epsilon, 0): Laplace noise. What counts as sound needs a bound on records: here
 * rows within 1 in l2 and their labels, released as y x. As printed there is none: noise for rows
 * within 1 on rows as they are drawn.
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/separators.h"

enum { MOST_DIMENSIONS = 5 };
static const double whole[MOST_DIMENSIONS] = {20, 40, 60, 80, 100};
static const double quick[] = {4, 8};

#define RECORDS "protocol.name=perturbed;privacy.mechanism=laplace;privacy.delta=0;privacy.clip=1;"
#define LAMBDA "model.lambda-records=0.1|1|10|100"
static const case_method methods[] = {
    {.name = "perturbed",
     .label = "records with noise, alone",
     .settings = RECORDS "protocol.collaborate=false",
     .choices = LAMBDA,
     .colour = 0},
    {.name = "perturbed-gaussian",
     .label = "Gaussian noise, delta e^-5, alone",
     .settings =
         "protocol.name=perturbed;privacy.mechanism=gaussian;privacy.delta=" SEPARATORS_DELTA
         ";privacy.clip=1;protocol.collaborate=false",
     .choices = LAMBDA,
     .colour = 5},
    {.name = "perturbed-together",
     .label = "records with noise, together",
     .settings = RECORDS "protocol.collaborate=true",
     .choices = "protocol.mu=0.2|1|5|20",
     .colour = 2},
    {.name = "perturbed-literal",
     .label = "rows as drawn, alone (unsound: nothing clips)",
     .settings = RECORDS "protocol.collaborate=false;data.bound=none;privacy.claimed=true",
     .choices = LAMBDA,
     .colour = 3,
     .unsound = true},
};
#define METHODS (sizeof methods / sizeof *methods)

typedef struct figure {
    case_book book;
    const double *dimension;
    size_t dimensions;
    size_t alone[MOST_DIMENSIONS];
    size_t cell[METHODS][SEPARATORS_BUDGETS][MOST_DIMENSIONS];
} figure;

static void plan(figure *f)
{
    for (size_t d = 0; d < f->dimensions; d++) {
        f->alone[d] = case_add(&f->book, &separators_alone, "data.dimension=%g", f->dimension[d]);
        for (size_t m = 0; m < METHODS; m++)
            for (size_t b = 0; b < SEPARATORS_BUDGETS; b++)
                f->cell[m][b][d] =
                    case_add(&f->book, &methods[m], "data.dimension=%g;privacy.epsilon=%g",
                             f->dimension[d], separators_budgets[b]);
    }
}

#define X_LABEL "dimension p"
#define NOTE "mean over agents; bands: 95 % intervals; dashed: unsound"
static const figure_panel panels[SEPARATORS_BUDGETS] = {
    {"accuracy-1.05", "Records with noise, epsilon 1.05", X_LABEL, "test accuracy", NOTE, false,
     false},
    {"accuracy-0.55", "Records with noise, epsilon 0.55", X_LABEL, "test accuracy", NOTE, false,
     false},
    {"accuracy-0.15", "Records with noise, epsilon 0.15", X_LABEL, "test accuracy", NOTE, false,
     false},
};

static void add_panels(tacit_reproduced *out, const figure *f)
{
    for (size_t b = 0; b < SEPARATORS_BUDGETS; b++) {
        const size_t panel = figure_add_panel(out, &panels[b]);
        case_line(out, &f->book, panel, separators_alone.label, f->dimensions, f->dimension,
                  f->alone);
        for (size_t m = 0; m < METHODS; m++)
            case_line(out, &f->book, panel, methods[m].label, f->dimensions, f->dimension,
                      f->cell[m][b]);
    }
}

static void add_rows(tacit_reproduced *out, const figure *f)
{
    for (size_t d = 0; d < f->dimensions; d++) {
        tacit_interval i = case_score(&f->book, f->alone[d]);
        figure_add_row(out, i.mean, i.low, i.high, NAN, "p = %g: alone", f->dimension[d]);
        for (size_t b = 0; b < SEPARATORS_BUDGETS; b++)
            for (size_t m = 0; m < METHODS; m++) {
                i = case_score(&f->book, f->cell[m][b][d]);
                figure_add_row(out, i.mean, i.low, i.high, NAN, "p = %g, epsilon %g: %s%s",
                               f->dimension[d], separators_budgets[b], methods[m].name,
                               methods[m].unsound ? " (unsound)" : "");
            }
    }
}

static void add_findings(tacit_reproduced *out, const figure *f)
{
    for (size_t m = 0; m < METHODS; m++) {
        double best = -INFINITY, worst_loss = -INFINITY;
        size_t chance = 0;
        for (size_t b = 0; b < SEPARATORS_BUDGETS; b++)
            for (size_t d = 0; d < f->dimensions; d++) {
                const tacit_interval i = case_score(&f->book, f->cell[m][b][d]);
                best = fmax(best, i.mean);
                chance += i.low <= 0.5 && i.high >= 0.5;
                worst_loss =
                    fmax(worst_loss, case_gain(&f->book, f->cell[m][b][d], f->alone[d]).mean);
            }
        figure_find(
            out,
            "%s: at most %.3f over all dimensions and budgets, at best %+.3f against alone; "
            "at %zu of %zu points a coin is within the 95 %% interval.",
            methods[m].label, best, worst_loss, chance, SEPARATORS_BUDGETS * f->dimensions);
    }
    figure_find(out, "The paper finds the loss against local models huge, and no significant help "
                     "from collaborating on such records.");
}

static void add_settings(tacit_reproduced *out, const figure *f)
{
    separators_settings(out, &f->book);
    figure_set(out, "noise",
               "Laplace noise on y x of every record, epsilon as stated with delta 0; the line "
               "\"Gaussian\" has delta e^-5 (the paper's figure has delta 0)");
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.dimension = request->quick ? quick : whole,
                .dimensions =
                    request->quick ? sizeof quick / sizeof *quick : sizeof whole / sizeof *whole};
    separators_open(&f.book, request);
    plan(&f);
    tacit_status status = separators_run(out, &f.book, err);
    if (!status) {
        add_findings(out, &f);
        add_panels(out, &f);
        add_rows(out, &f);
        add_settings(out, &f);
    }
    case_close(&f.book);
    return status;
}

const tacit_reproduction tacit_reproduction_000_fig4 = {
    .name = "000-fig4",
    .paper = "paper 000: Bellet, Guerraoui, Taziki, Tommasi (AISTATS 2018), appendix D, figure 4",
    .title = "Learning from records with noise",
    .seeds = 5,
    .run = reproduce,
};
