/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 4 of paper 003 (section IV-A): mean-square deviation (MSD) from the best common model of
 * consensus, CTA and ATC, each without noise, with independent, homomorphic and local-homomorphic
 * noise. Beside it what the figure does not show: the MSD over the step size, which is the paper's
 * claim (Theorems 1 and 2), what agents get alone, and both noises at equal epsilon.
 *
 * MSD at steady state is the mean over the second half of a run. The best common model is the exact
 * minimiser of the mean loss (eq. 57), the centroid is weighted by the Perron vector.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reproduce/fig_003.h"

#define MOST_LOOKS 120
#define SIGMA 0.1 /* sigma_g^2 = 0.01 */
#define STEP 0.4
#define SMALL_STEP 0.02 /* at which a first study was made */
#define FRACTION 32     /* of masked numbers: the protocol's default */

static const double steps[] = {0.4, 0.2, 0.1, 0.05, SMALL_STEP, 0.01};
#define STEPS (sizeof steps / sizeof *steps)
static const double budgets[] = {1, 3, 10, 30, 100, 300};
#define BUDGETS (sizeof budgets / sizeof *budgets)
static const int noisy[] = {SPREAD_INDEPENDENT, SPREAD_HOMOMORPHIC};

typedef struct plan {
    const char *task;
    int64_t iterations; /* of a run that is streaming */
    int64_t rounds;     /* of one with a budget, on all records */
    size_t steps, budgets;
} plan;

#define TASK(agents, records)                                                               \
    "data: {source: regression, agents: " #agents ", dimension: 2, min-records: " #records  \
    ", max-records: " #records ", test-records: 0, validation-records: 0, variance: 0.5}\n" \
    "graph: {kind: k-out, k: 3}\nmodel: {loss: squared, lambda: 0.01, scalar: f64}\n"
static const plan whole = {TASK(30, 100), 1000, 100, STEPS, BUDGETS};
static const plan quick = {TASK(8, 30), 60, 10, 2, 2};

typedef struct figure {
    const plan *plan;
    size_t seeds;
    double at[MOST_LOOKS], last;
    size_t looks;
    spread_run *runs;
    size_t count, by_step, by_budget; /* where these runs begin */
} figure;

/* ---- which runs ---- */

/* A few an octave up to half of the run, then every fiftieth part of the second half. */
static void choose_looks(figure *f)
{
    const double half = (double)f->plan->iterations / 2;
    for (double x = 1; x < half && f->looks < MOST_LOOKS / 2; x = fmax(x + 1, round(x * 1.2)))
        f->at[f->looks++] = x;
    for (int k = 0; k <= 50; k++)
        f->at[f->looks++] = round(half + half * k / 50);
    f->last = (double)f->plan->rounds;
}

static const spread_run *by_strategy(const figure *f, int strategy, int noise)
{
    return &f->runs[(size_t)(strategy * SPREAD_NOISES + noise) * f->seeds];
}

static const spread_run *by_step(const figure *f, size_t step, int noise)
{
    return &f->runs[f->by_step + (step * SPREAD_NOISES + (size_t)noise) * f->seeds];
}

static const spread_run *by_budget(const figure *f, size_t budget, size_t which)
{
    return &f->runs[f->by_budget + (budget * 2 + which) * f->seeds];
}

static void add_runs(figure *f, spread_run like, int64_t seed)
{
    for (size_t s = 0; s < f->seeds; s++) {
        like.seed = seed + (int64_t)s;
        f->runs[f->count++] = like;
    }
}

/* Streaming: one record a step, and bounds that nothing ever touches (the ledger needs some).
 * With a budget: all records, and bounds that make it last. */
static void choose_runs(figure *f, int64_t seed)
{
    spread_run like = {.task = f->plan->task,
                       .step = STEP,
                       .sigma = SIGMA,
                       .epsilon = INFINITY,
                       .clip = 200,
                       .radius = 6,
                       .reach = 100,
                       .batch = 1,
                       .iterations = f->plan->iterations,
                       .at = f->at,
                       .looks = f->looks,
                       .distances = true};
    for (like.strategy = 0; like.strategy < SPREAD_STRATEGIES; like.strategy++)
        for (like.noise = 0; like.noise < SPREAD_NOISES; like.noise++)
            add_runs(f, like, seed);
    f->by_step = f->count;
    like.strategy = SPREAD_ATC;
    for (size_t e = 0; e < f->plan->steps; e++)
        for (like.noise = 0; like.noise < SPREAD_NOISES; like.noise++) {
            like.step = steps[e];
            add_runs(f, like, seed);
        }
    f->by_budget = f->count;
    like = (spread_run){.task = f->plan->task,
                        .strategy = SPREAD_ATC,
                        .step = 0.1,
                        .clip = 1,
                        .radius = 3,
                        .reach = 5,
                        .iterations = f->plan->rounds,
                        .at = &f->last,
                        .looks = 1,
                        .distances = true};
    for (size_t b = 0; b < f->plan->budgets; b++)
        for (size_t w = 0; w < 2; w++) {
            like.noise = noisy[w];
            like.epsilon = budgets[b];
            add_runs(f, like, seed);
        }
}

/* ---- numbers ---- */

static tacit_interval steady(const figure *f, const spread_run *runs, bool single)
{
    double *value = calloc(f->seeds, sizeof *value);
    if (!value)
        return (tacit_interval){0, NAN, NAN, NAN};
    const double from = runs[0].looks > 1 ? (double)f->plan->iterations / 2 : 0;
    for (size_t s = 0; s < f->seeds; s++)
        value[s] =
            spread_late(&runs[s], runs[s].seen[single ? SPREAD_SINGLE : SPREAD_CENTROID], from);
    tacit_interval i = spread_interval(value, f->seeds);
    free(value);
    return i;
}

static tacit_interval alone(const figure *f)
{
    double *value = calloc(f->seeds, sizeof *value);
    if (!value)
        return (tacit_interval){0, NAN, NAN, NAN};
    for (size_t s = 0; s < f->seeds; s++)
        value[s] = f->runs[s].alone;
    tacit_interval i = spread_interval(value, f->seeds);
    free(value);
    return i;
}

static double most_spent(const figure *f, const spread_run *runs)
{
    double most = 0;
    for (size_t s = 0; s < f->seeds; s++)
        most = fmax(most, runs[s].spent);
    return most;
}

/* The largest difference of any coordinate of any model at any look: masked less noiseless. */
static double masked_difference(const figure *f)
{
    double most = 0;
    for (int strategy = 0; strategy < SPREAD_STRATEGIES; strategy++)
        for (size_t s = 0; s < f->seeds; s++) {
            const spread_run *a = &by_strategy(f, strategy, SPREAD_NONE)[s];
            const spread_run *b = &by_strategy(f, strategy, SPREAD_MASKED)[s];
            for (size_t k = 0; k < a->looks * a->numbers; k++)
                most = fmax(most, fabs(a->models[k] - b->models[k]));
        }
    for (size_t e = 0; e < f->plan->steps; e++)
        for (size_t s = 0; s < f->seeds; s++) {
            const spread_run *a = &by_step(f, e, SPREAD_NONE)[s];
            const spread_run *b = &by_step(f, e, SPREAD_MASKED)[s];
            for (size_t k = 0; k < a->looks * a->numbers; k++)
                most = fmax(most, fabs(a->models[k] - b->models[k]));
        }
    return most;
}

/* d log MSD / d log step of the centroid over the three smallest steps, by least squares; of noise:
 * of what it adds to the run without. */
static double slope(const figure *f, int noise)
{
    const size_t from = f->plan->steps > 3 ? f->plan->steps - 3 : 0;
    double sx = 0, sy = 0, sxx = 0, sxy = 0, n = (double)(f->plan->steps - from);
    for (size_t e = from; e < f->plan->steps; e++) {
        const double none = steady(f, by_step(f, e, SPREAD_NONE), false).mean;
        const double here = steady(f, by_step(f, e, noise), false).mean;
        const double x = log(steps[e]), y = log(noise == SPREAD_NONE ? none : here - none);
        sx += x;
        sy += y;
        sxx += x * x;
        sxy += x * y;
    }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

/* ---- what is shown ---- */

static void add_time_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "iterations", c[] = "centroid MSD, dB", i[] = "mean MSD of models, dB";
    static const figure_panel panels[SPREAD_STRATEGIES][2] = {
        {{"consensus-centroid", "Consensus: the centroid", x, c,
          "mean over runs and its 95 % interval", true, false},
         {"consensus-single", "Consensus: single models", x, i, "what an agent really holds", true,
          false}},
        {{"cta-centroid", "CTA diffusion: the centroid", x, c, "combine, then adapt", true, false},
         {"cta-single", "CTA diffusion: single models", x, i, "what an agent really holds", true,
          false}},
        {{"atc-centroid", "ATC diffusion: the centroid", x, c, "adapt, then combine", true, false},
         {"atc-single", "ATC diffusion: single models", x, i, "what an agent really holds", true,
          false}},
    };
    for (int s = 0; s < SPREAD_STRATEGIES; s++)
        for (int single = 0; single < 2; single++) {
            size_t panel = figure_add_panel(out, &panels[s][single]);
            for (int n = 0; n < SPREAD_NOISES; n++)
                spread_curve(out, panel, spread_noises[n], (uint32_t)n, by_strategy(f, s, n),
                             f->seeds, single, true);
        }
}

/* ATC over time where noise shows. */
static void add_small_step_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "iterations", note[] = "where gradient noise is small";
    static const figure_panel panels[2] = {
        {"small-centroid", "ATC at step 0.02: the centroid", x, "centroid MSD, dB", note, true,
         false},
        {"small-single", "ATC at step 0.02: single models", x, "mean MSD of models, dB", note, true,
         false},
    };
    for (size_t e = 0; e < f->plan->steps; e++)
        for (int single = 0; single < 2 && steps[e] == SMALL_STEP; single++) {
            size_t panel = figure_add_panel(out, &panels[single]);
            for (int n = 0; n < SPREAD_NOISES; n++)
                spread_curve(out, panel, spread_noises[n], (uint32_t)n, by_step(f, e, n), f->seeds,
                             single, true);
        }
}

static void add_line(tacit_reproduced *out, size_t panel, const char *name, uint32_t colour,
                     size_t count, const double *x, const tacit_interval *of)
{
    double y[STEPS + BUDGETS], low[STEPS + BUDGETS], high[STEPS + BUDGETS];
    for (size_t k = 0; k < count; k++) {
        y[k] = of[k].mean;
        low[k] = fmax(of[k].low, of[k].mean / 10);
        high[k] = of[k].high;
    }
    figure_add_series(out, panel, name, count, x, y, low, high);
    figure_draw(out, colour, false);
}

static void add_step_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "step size", y[] = "steady-state MSD";
    static const figure_panel panels[2] = {
        {"step-centroid", "ATC by step size: the centroid", x, y,
         "independent noise grows like 1/step as the step shrinks", true, true},
        {"step-single", "ATC by step size: single models", x, y,
         "homomorphic noise stays in single models", true, true},
    };
    tacit_interval line[STEPS];
    for (int single = 0; single < 2; single++) {
        size_t panel = figure_add_panel(out, &panels[single]);
        for (int n = 0; n < SPREAD_NOISES; n++) {
            for (size_t e = 0; e < f->plan->steps; e++)
                line[e] = steady(f, by_step(f, e, n), single);
            add_line(out, panel, spread_noises[n], (uint32_t)n, f->plan->steps, steps, line);
        }
    }
}

static void add_budget_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "epsilon of every agent (delta 1e-5)", y[] = "MSD at the end";
    static const figure_panel panels[2] = {
        {"epsilon-centroid", "ATC at equal epsilon: the centroid", x, y,
         "clipped, all records in each step; noise as large as the budget asks", true, true},
        {"epsilon-single", "ATC at equal epsilon: single models", x, y,
         "alone: models learned without any message", true, true},
    };
    tacit_interval line[BUDGETS];
    for (int single = 0; single < 2; single++) {
        size_t panel = figure_add_panel(out, &panels[single]);
        for (size_t w = 0; w < 2; w++) {
            for (size_t b = 0; b < f->plan->budgets; b++)
                line[b] = steady(f, by_budget(f, b, w), single);
            add_line(out, panel, spread_noises[noisy[w]], (uint32_t)noisy[w], f->plan->budgets,
                     budgets, line);
        }
        for (size_t b = 0; single && b < f->plan->budgets; b++)
            line[b] = alone(f);
        if (single)
            add_line(out, panel, "alone", 4, f->plan->budgets, budgets, line);
    }
}

static void row(tacit_reproduced *out, tacit_interval i, const char *what)
{
    figure_add_row(out, i.mean, i.low, i.high, NAN, "%s", what);
}

/* What a first study with records drawn at random, and another graph, found at step 0.02. */
static const double first_study[SPREAD_NOISES][2] = {
    {7e-5, 1e-4}, {2.2e-3, 4.6e-3}, {8e-5, 1.4e-2}, {7e-5, 1e-4}};

static void add_rows(tacit_reproduced *out, const figure *f)
{
    char what[160];
    for (int s = 0; s < SPREAD_STRATEGIES; s++)
        for (int n = 0; n < SPREAD_NOISES; n++)
            for (int single = 0; single < 2; single++) {
                snprintf(what, sizeof what, "%s, step %g, %s: steady MSD of %s",
                         spread_strategies[s], STEP, spread_noises[n],
                         single ? "single models" : "the centroid");
                row(out, steady(f, by_strategy(f, s, n), single), what);
            }
    for (size_t e = 0; e < f->plan->steps; e++)
        for (int n = 0; n < SPREAD_NOISES && steps[e] == SMALL_STEP; n++)
            for (int single = 0; single < 2; single++) {
                snprintf(what, sizeof what, "atc, step %g, %s: steady MSD of %s (first study: %g)",
                         steps[e], spread_noises[n], single ? "single models" : "the centroid",
                         first_study[n][single]);
                row(out, steady(f, by_step(f, e, n), single), what);
            }
    for (int n = 0; n < SPREAD_MASKED; n++)
        figure_add_row(out, slope(f, n), NAN, NAN, NAN,
                       "%s: slope of log %s over log step, the smallest steps", spread_noises[n],
                       n == SPREAD_NONE ? "centroid MSD" : "(centroid MSD less that of none)");
    figure_add_row(out, masked_difference(f), NAN, NAN, NAN,
                   "largest difference of any model, local-homomorphic less none");
    row(out, alone(f), "alone: MSD of models learned without any message");
    for (size_t w = 0; w < 2; w++)
        figure_add_row(out, most_spent(f, by_strategy(f, SPREAD_ATC, noisy[w])), NAN, NAN, NAN,
                       "epsilon of the atc run above, %s", spread_noises[noisy[w]]);
}

/* ---- sentences ---- */

static void find_order(tacit_reproduced *out, const figure *f)
{
    for (int s = 0; s < SPREAD_STRATEGIES; s++) {
        double c[SPREAD_NOISES], i[SPREAD_NOISES];
        for (int n = 0; n < SPREAD_NOISES; n++) {
            c[n] = 10 * log10(steady(f, by_strategy(f, s, n), false).mean);
            i[n] = 10 * log10(steady(f, by_strategy(f, s, n), true).mean);
        }
        figure_find(out,
                    "%s at step %g settles at %.1f dB (centroid) and %.1f dB (single models) "
                    "without noise; independent noise adds %.1f and %.1f dB, homomorphic %.1f and "
                    "%.1f dB; local-homomorphic differs by %.1f and %.1f dB.",
                    s == SPREAD_CONSENSUS ? "Consensus"
                    : s == SPREAD_CTA     ? "CTA"
                                          : "ATC",
                    STEP, c[0], i[0], c[1] - c[0], i[1] - i[0], c[2] - c[0], i[2] - i[0],
                    fabs(c[3] - c[0]), fabs(i[3] - i[0]));
    }
}

static const char *verdict(const figure *f)
{
    if (f->plan->steps < 3)
        return "too few and too large steps to tell";
    return slope(f, SPREAD_INDEPENDENT) < -0.7 && slope(f, SPREAD_HOMOMORPHIC) > 0
               ? "the paper's claim. It hardly shows at the step 0.4 of its figure, where gradient "
                 "noise is larger than either"
               : "not what the theorem says";
}

static void find_steps(tacit_reproduced *out, const figure *f)
{
    const size_t e = f->plan->steps - 1;
    const double none = steady(f, by_step(f, e, SPREAD_NONE), true).mean;
    figure_find(out,
                "As the step shrinks, what independent noise adds to the centroid's MSD goes like "
                "step^%.2f (Theorem 1: -1), what homomorphic noise adds like step^%.2f: %s.",
                slope(f, SPREAD_INDEPENDENT), slope(f, SPREAD_HOMOMORPHIC), verdict(f));
    figure_find(out,
                "The centroid is nobody's model. Single models under homomorphic noise are at "
                "%.1e at step %g, %.1f times those under independent noise and %.0f times those "
                "without noise: noise that cancels in the mean stays in each of them.",
                steady(f, by_step(f, e, SPREAD_HOMOMORPHIC), true).mean, steps[e],
                steady(f, by_step(f, e, SPREAD_HOMOMORPHIC), true).mean /
                    steady(f, by_step(f, e, SPREAD_INDEPENDENT), true).mean,
                steady(f, by_step(f, e, SPREAD_HOMOMORPHIC), true).mean / none);
}

static void find_masks(tacit_reproduced *out, const figure *f)
{
    const double most = masked_difference(f);
    figure_find(out,
                "Local-homomorphic noise is real masks here (docs/masks.md). Over all runs, "
                "strategies and looks no coordinate differs from the noiseless run by more than "
                "%.1e, %.0f times the half step 2^-%d of fixed point: rounding. It hides single "
                "models from the receiver and everything from outsiders, and is no differential "
                "privacy against the receiver, who learns the sum (epsilon is unbounded).",
                most, most / ldexp(1, -FRACTION - 1), FRACTION + 1);
}

static void find_cost(tacit_reproduced *out, const figure *f)
{
    figure_find(out,
                "What noise of sigma %g buys in these runs: epsilon %.1e (independent) and %.1e "
                "(homomorphic) by our ledger for one record at delta 1e-5. Nothing bounds "
                "gradients here, so one record may move what is told as far as the models' reach. "
                "Neither is a guarantee worth the name.",
                SIGMA, most_spent(f, by_strategy(f, SPREAD_ATC, SPREAD_INDEPENDENT)),
                most_spent(f, by_strategy(f, SPREAD_ATC, SPREAD_HOMOMORPHIC)));
    for (size_t b = 0; b < f->plan->budgets; b++) {
        const double own[2] = {steady(f, by_budget(f, b, 0), true).mean,
                               steady(f, by_budget(f, b, 1), true).mean};
        if (budgets[b] != 10 && !(b + 1 == f->plan->budgets && budgets[b] < 10))
            continue;
        figure_find(out,
                    "At equal epsilon = %g (clipped, %lld steps on all records) the centroid is "
                    "at %.1e with independent and %.1e with homomorphic noise, single models at "
                    "%.1e and %.1e; an agent that talks to nobody is at %.1e. An agent's memory "
                    "of its records is diluted by neighbours under independent noise and never "
                    "under homomorphic noise, so that the latter must be larger in every round "
                    "for the same epsilon: %s.",
                    budgets[b], (long long)f->plan->rounds,
                    steady(f, by_budget(f, b, 0), false).mean,
                    steady(f, by_budget(f, b, 1), false).mean, own[0], own[1], alone(f).mean,
                    own[1] > own[0] ? "what it gains in the centroid it pays for in epsilon"
                                    : "here it is worth it");
    }
}

static void add_settings(tacit_reproduced *out, const figure *f, int64_t seed)
{
    figure_set(out, "task",
               "regression (eq. 56): %s; features N(0, 0.5 I), one target for all, label noise of "
               "a variance between 0.011 and 0.099 that differs by agent; rho 0.01",
               f->plan == &whole ? "30 agents, p = 2, 100 records each"
                                 : "8 agents, p = 2, 30 records each");
    figure_set(out, "graph", "each agent draws 3 others; Metropolis weights (the paper draws one)");
    figure_set(out, "step, noise",
               "step %g, sigma_g %g (variance 0.01), Gaussian instead of Laplace", STEP, SIGMA);
    figure_set(out, "iterations",
               "%lld; steady state: mean over the second half. Records are taken one after the "
               "other, not drawn: at small steps a pass evens out, so that MSD without noise is "
               "lower than with draws",
               (long long)f->plan->iterations);
    figure_set(out, "runs", "%zu: seeds %lld to %lld", f->seeds, (long long)seed,
               (long long)seed + (long long)f->seeds - 1);
    figure_set(
        out, "bounds",
        "gradients are clipped at 200 and rows cut at 6, which happens to none: the ledger "
        "needs some bound to count with; at equal epsilon clip 1, rows 3, step 0.1, chosen on "
        "other seeds for independent noise at epsilon 10");
    figure_set(out, "privacy",
               "epsilon at delta 1e-5 for one record (adjacency replace), against an adversary "
               "\"local\" who sees every message on every link");
}

static const char unsound_claim[] =
    "The paper calls its algorithms differentially private with models that nothing bounds: its "
    "sensitivity (eq. 28 to 31) holds with high probability only, which is no guarantee. Noise of "
    "its size, charged for what one record can do, gives the epsilons in the rows: none to rely "
    "on.";

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.plan = request->quick ? &quick : &whole, .seeds = request->seeds};
    const size_t groups = SPREAD_NOISES * (SPREAD_STRATEGIES + f.plan->steps) + 2 * f.plan->budgets;
    f.runs = calloc(groups * f.seeds, sizeof *f.runs);
    if (!f.runs)
        return tacit_out_of_memory(err);
    choose_looks(&f);
    choose_runs(&f, request->seed);
    tacit_status status = spread_perform(f.runs, f.count, request, err);
    if (!status) {
        out->paper_numbers = "The paper shows curves and prints no numbers for this figure.";
        out->spread = "its 95 % interval over runs";
        out->warning = unsound_claim;
        find_order(out, &f);
        find_steps(out, &f);
        find_masks(out, &f);
        find_cost(out, &f);
        add_time_panels(out, &f);
        add_small_step_panels(out, &f);
        add_step_panels(out, &f);
        add_budget_panels(out, &f);
        add_rows(out, &f);
        add_settings(out, &f, request->seed);
    }
    spread_free(f.runs, f.count);
    return status;
}

const tacit_reproduction tacit_reproduction_003_fig4 = {
    .name = "003-fig4",
    .paper = "paper 003: Rizk, Vlaski, Sayed (2022), section IV-A, figure 4",
    .title = "Noise that knows the graph: consensus and diffusion",
    .seeds = 20,
    .run = reproduce,
};
