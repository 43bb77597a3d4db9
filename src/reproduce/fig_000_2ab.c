/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures 2(a) and 2(b) of paper 000 (section 5.1): private cd by iterations, for several numbers
 * of ticks T_i that share one budget, from zero (a) and from the private warm start (b). More ticks
 * mean less budget for each and more noise: the trade-off of Theorem 2. Once with sensitivity that
 * is enforced, once as printed.
 *
 * mu is what is best for cd without noise, as in the paper (5 for rows within norm 1, 1 for rows
 * as drawn; docs/protocols/cd.md and separators.c).
 */
#include <math.h>
#include <stdio.h>

#include "reproduce/separators.h"

enum { SOUND, LITERAL, WAYS };
#define POINTS 19
#define END 60.0
#define DELTA "privacy.delta=" SEPARATORS_DELTA ";"

static const int ticks[] = {1, 3, 10, 30};
#define TICKS (sizeof ticks / sizeof *ticks)

static const case_method bare[WAYS] = {
    {.name = "cd", .settings = "protocol.name=cd;protocol.mu=5", .colour = 6},
    {.name = "cd-as-drawn",
     .settings = "protocol.name=cd;protocol.mu=1;data.bound=none",
     .colour = 6},
};
static const case_method noisy[WAYS] = {
    {.name = "sound",
     .settings = DELTA "protocol.name=cd;protocol.mu=5;privacy.mechanism=gaussian;"
                       "privacy.clip=0.5;protocol.after=rest"},
    {.name = "literal",
     .settings = DELTA "protocol.name=cd;protocol.mu=1;data.bound=none;privacy.mechanism=laplace;"
                       "privacy.claimed=true;privacy.accountant=kov;privacy.clip=1;"
                       "protocol.after=rest",
     .unsound = true},
};

typedef struct figure {
    case_book book;
    bool warm;
    double epsilon;
    double times[POINTS];
    size_t alone[WAYS], bare[WAYS], noisy[WAYS][TICKS];
    size_t from_zero[WAYS][TICKS]; /* (b) only: the same without the warm start */
} figure;

/* ---- curves ---- */

static const uint32_t colours[TICKS] = {0, 1, 2, 3};

static tacit_interval point(const figure *f, size_t cell, size_t k, bool objective)
{
    double value[1000];
    const size_t seeds = f->book.request->seeds;
    size_t n = 0;
    for (; n < seeds && n < sizeof value / sizeof *value; n++) {
        const case_result *r = &f->book.cells[cell].shown[n];
        value[n] = objective ? r->objective[k] : r->accuracy[k];
    }
    return tacit_interval_of(value, n);
}

static void curve(tacit_reproduced *out, const figure *f, size_t panel, size_t cell, bool objective,
                  const char *name, uint32_t colour)
{
    double x[POINTS], y[POINTS], low[POINTS], high[POINTS];
    const case_cell *c = &f->book.cells[cell];
    for (size_t k = 0; k < f->book.time_count; k++) {
        const tacit_interval i = point(f, cell, k, objective);
        x[k] = 0;
        for (size_t s = 0; s < f->book.request->seeds; s++)
            x[k] += c->shown[s].ticks[k] / c->shown[s].agents / f->book.request->seeds;
        y[k] = i.mean;
        low[k] = isnan(i.low) ? i.mean : objective ? fmax(i.low, i.mean / 100) : i.low;
        high[k] = isnan(i.high) ? i.mean : i.high;
    }
    figure_add_series(out, panel, name, f->book.time_count, x, y, low, high);
    figure_draw(out, colour, c->method->unsound);
}

static void add_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "iterations an agent (ticks of all agents over n)";
    static const char sound[] = "sound: every record's gradient is clipped; bands: 95 % intervals";
    static const char literal[] = "as printed, unsound: nothing clips; bands: 95 % intervals";
    static const figure_panel panels[WAYS][2] = {
        {{"objective-sound", "Objective, sound", x, "objective Q", sound, true, true},
         {"accuracy-sound", "Test accuracy, sound", x, "test accuracy", sound, true, false}},
        {{"objective-literal", "Objective, as printed (unsound)", x, "objective Q", literal, true,
          true},
         {"accuracy-literal", "Test accuracy, as printed (unsound)", x, "test accuracy", literal,
          true, false}},
    };
    for (int w = 0; w < WAYS; w++)
        for (int p = 0; p < 2; p++) {
            size_t panel = figure_add_panel(out, &panels[w][p]);
            if (p == 1)
                curve(out, f, panel, f->alone[w], false, "alone, tuned (no message)", 6);
            curve(out, f, panel, f->bare[w], p == 0, "cd without privacy", 4);
            for (size_t k = 0; k < TICKS; k++) {
                char name[80];
                snprintf(name, sizeof name, "T_i = %d, epsilon %g%s", ticks[k], f->epsilon,
                         w == LITERAL ? " claimed (unsound)" : "");
                curve(out, f, panel, f->noisy[w][k], p == 0, name, colours[k]);
            }
        }
}

/* ---- words ---- */

static const char *const w_words[WAYS] = {"Sound", "As printed (unsound)"};

static void add_rows(tacit_reproduced *out, const figure *f)
{
    const size_t last = f->book.time_count - 1;
    for (int w = 0; w < WAYS; w++)
        for (int p = 1; p >= 0; p--) {
            const char *what = p ? "test accuracy" : "objective";
            tacit_interval i = point(f, f->alone[w], last, !p);
            if (p)
                figure_add_row(out, i.mean, i.low, i.high, NAN, "%s, %s: alone, tuned", what,
                               w ? "rows as drawn" : "rows within 1");
            i = point(f, f->bare[w], last, !p);
            figure_add_row(out, i.mean, i.low, i.high, NAN, "%s at the end, %s: no noise", what,
                           w ? "rows as drawn" : "rows within 1");
            for (size_t k = 0; k < TICKS; k++) {
                i = point(f, f->noisy[w][k], last, !p);
                figure_add_row(out, i.mean, i.low, i.high, NAN, "%s at the end, %s: T_i = %d", what,
                               w ? "as printed" : "sound", ticks[k]);
            }
        }
}

/* "rises with every step" only if it does. */
static const char *trend(const figure *f, int way, bool objective)
{
    const size_t last = f->book.time_count - 1;
    size_t up = 0, down = 0;
    for (size_t k = 1; k < TICKS; k++) {
        double before = point(f, f->noisy[way][k - 1], last, objective).mean;
        double after = point(f, f->noisy[way][k], last, objective).mean;
        up += after > before;
        down += after < before;
    }
    return up == TICKS - 1     ? "rises with the number of ticks"
           : down == TICKS - 1 ? "falls with the number of ticks"
                               : "does not go one way with the number of ticks";
}

/* The number of ticks that ends best. */
static size_t best_of(const figure *f, const size_t *cells)
{
    size_t best = 0;
    for (size_t k = 1; k < TICKS; k++)
        if (case_score(&f->book, cells[k]).mean > case_score(&f->book, cells[best]).mean)
            best = k;
    return best;
}

/* Whichever way it comes out. */
static void find_start(tacit_reproduced *out, const figure *f, int way)
{
    const size_t warm = best_of(f, f->noisy[way]), zero = best_of(f, f->from_zero[way]);
    const size_t a = f->noisy[way][warm], b = f->from_zero[way][zero];
    const tacit_interval gain = case_gain(&f->book, a, b);
    const char *verdict = gain.low > 0    ? "The warm start helps"
                          : gain.high < 0 ? "The warm start does harm"
                                          : "These runs cannot tell whether the warm start helps";
    figure_find(out,
                "%s: with the warm start the best number of ticks is %d and accuracy ends at %.3f; "
                "from zero, with all of epsilon %g for cd, it is %d and %.3f. %s (%+.3f, 95 %% "
                "interval %+.3f to %+.3f). The paper finds its gain significant.",
                w_words[way], ticks[warm], case_score(&f->book, a).mean, f->epsilon, ticks[zero],
                case_score(&f->book, b).mean, verdict, gain.mean, gain.low, gain.high);
}

static void add_findings(tacit_reproduced *out, const figure *f)
{
    const size_t last = f->book.time_count - 1;
    for (int w = 0; w < WAYS; w++) {
        const size_t *c = f->noisy[w];
        figure_find(
            out,
            "%s, epsilon %g%s: the objective at the end %s (%.3g at T_i = %d, %.3g at T_i "
            "= %d; %.3g without noise), and test accuracy %s (%.3f and %.3f; %.3f without "
            "noise, %.3f alone).",
            w_words[w], f->epsilon, w ? " claimed" : "", trend(f, w, true),
            point(f, c[0], last, true).mean, ticks[0], point(f, c[TICKS - 1], last, true).mean,
            ticks[TICKS - 1], point(f, f->bare[w], last, true).mean, trend(f, w, false),
            point(f, c[0], last, false).mean, point(f, c[TICKS - 1], last, false).mean,
            point(f, f->bare[w], last, false).mean, point(f, f->alone[w], last, false).mean);
    }
    for (int w = 0; w < WAYS && f->warm; w++)
        find_start(out, f, w);
}

static void add_settings(tacit_reproduced *out, const figure *f)
{
    separators_settings(out, &f->book);
    if (f->warm)
        figure_set(out, "start",
                   "local models released once with noise (output perturbation, epsilon 0.05 of "
                   "the %g, lambda 500/m, as printed 5000/m: more of it is better there), ten "
                   "ticks of propagation (appendix C), then cd",
                   f->epsilon);
    else
        figure_set(out, "start", "zero");
    figure_set(out, "mu",
               "best without noise, as in the paper: 5 for rows within norm 1, 1 for "
               "rows as drawn");
    figure_set(out, "ticks", "an agent speaks T_i times and rests; the budget is split evenly");
}

/* ---- the figure ---- */

static void plan(figure *f)
{
    static const char *const warm[WAYS] = {"protocol.start=propagated;",
                                           "protocol.start=propagated;protocol.warm-records=5000;"};
    for (size_t k = 0; k < POINTS; k++)
        f->times[k] = fmin(END, 0.12 * exp2((double)k / 2));
    f->book.times = f->times;
    f->book.time_count = POINTS;
    for (int w = 0; w < WAYS; w++) {
        f->alone[w] = case_add(&f->book, &separators_alone, "run.time=%g%s", END,
                               w == LITERAL ? ";data.bound=none" : "");
        f->bare[w] = case_add(&f->book, &bare[w], "run.time=%g", END);
        for (size_t k = 0; k < TICKS; k++)
            f->noisy[w][k] = case_add(&f->book, &noisy[w],
                                      "%srun.time=%g;privacy.epsilon=%g;privacy.releases=%d",
                                      f->warm ? warm[w] : "", END, f->epsilon, ticks[k]);
        for (size_t k = 0; k < TICKS && f->warm; k++)
            f->from_zero[w][k] =
                case_add(&f->book, &noisy[w], "run.time=%g;privacy.epsilon=%g;privacy.releases=%d",
                         END, f->epsilon, ticks[k]);
    }
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              bool warm, tacit_error *err)
{
    figure f = {.warm = warm, .epsilon = warm ? 1.05 : 1};
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

static tacit_status from_zero(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    return reproduce(out, request, false, err);
}

static tacit_status from_warm(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    return reproduce(out, request, true, err);
}

const tacit_reproduction tacit_reproduction_000_fig2a = {
    .name = "000-fig2a",
    .paper = "paper 000: Bellet, Guerraoui, Taziki, Tommasi (AISTATS 2018), section 5.1, figure 2a",
    .title = "Private coordinate descent from zero",
    .seeds = 5,
    .run = from_zero,
};
const tacit_reproduction tacit_reproduction_000_fig2b = {
    .name = "000-fig2b",
    .paper = "paper 000: Bellet, Guerraoui, Taziki, Tommasi (AISTATS 2018), section 5.1, figure 2b",
    .title = "Private coordinate descent from a private warm start",
    .seeds = 5,
    .run = from_warm,
};
