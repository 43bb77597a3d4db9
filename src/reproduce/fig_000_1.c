/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 1 of paper 000 (section 5.1): cd against gossip ADMM on the linear-separator task, by
 * iterations and by vectors of p numbers that cross edges. Both start at the local models.
 *
 * An iteration is one tick of one agent. A run is looked at at fixed simulated times; what is
 * drawn against iterations or vectors is their mean over the runs at that time. The gap is
 * (Q - Q*) / Q*, with Q* from an exact solver.
 *
 * rho is not in the paper. It is chosen from a grid by the least gap that ADMM reaches on one
 * instance that is not among those shown.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/figure.h"

enum { CD, ADMM, CONTESTANTS };
static const char *const names[CONTESTANTS] = {"cd", "admm"};

#define MOST_POINTS 80
#define FIRST_TIME 0.1  /* ten ticks of 100 agents */
#define PER_OCTAVE 4    /* times at which a run is looked at */
#define FLOOR 1e-12     /* below, a gap is rounding */
#define STEPS 10        /* gradient steps of an end of an exchange, as in the paper */
#define MU 5.0          /* by validation: docs/protocols/cd.md */
#define NEAR_ENOUGH .01 /* of the optimum's test accuracy */

static const double levels[] = {1e-3, 1e-6};
#define LEVELS (sizeof levels / sizeof *levels)
static const double rhos[] = {0.01, 0.03, 0.1, 0.3, 1};
#define RHOS (sizeof rhos / sizeof *rhos)

typedef struct plan {
    int agents, dimension;
    double time[CONTESTANTS];
    double tune_time;
} plan;
static const plan whole = {100, 100, {192, 2048}, 512};
static const plan quick = {20, 8, {40, 160}, 40};

/* One run, and what was seen of it. */
typedef struct run {
    int contestant;
    double rho, time;
    int64_t seed;
    double alone; /* test accuracy at the start */
    double optimum;
    size_t count;
    double iterations[MOST_POINTS], vectors[MOST_POINTS], gap[MOST_POINTS], accuracy[MOST_POINTS];
} run;

typedef struct figure {
    const plan *plan;
    const tacit_reproduce_request *request;
    figure_work work;
    double rho;
    run *tuning; /* one a rho */
    run *runs;   /* contestant after contestant, one a seed */
} figure;

/* ---- one run ---- */

/* Ticks of admm take twenty gradients: about so many times as long as one of cd. */
static double effort(const run *r)
{
    return r->time * (r->contestant == ADMM ? 20 : 1);
}

static tacit_status configure(tacit_config *config, const plan *p, const run *r, tacit_error *err)
{
    char yaml[600];
    int len = snprintf(yaml, sizeof yaml,
                       "run: {seed: %lld, time: %g, every: 0}\n"
                       "data: {source: linear-separators, agents: %d, dimension: %d, "
                       "min-records: 10, max-records: 100, test-records: 100, "
                       "validation-records: 0, label-noise: 0.05, bound: l2}\n"
                       "graph: {kind: similarity, gamma: 0.1}\n"
                       "model: {loss: logistic}\n",
                       (long long)r->seed, r->time, p->agents, p->dimension);
    if (r->contestant == CD)
        snprintf(yaml + len, sizeof yaml - (size_t)len,
                 "protocol: {name: cd, mu: %g, start: local}\n", MU);
    else
        snprintf(yaml + len, sizeof yaml - (size_t)len,
                 "protocol: {name: admm, mu: %g, rho: %g, steps: %d}\n", MU, r->rho, STEPS);
    return tacit_config_parse(config, "000-fig1", yaml, strlen(yaml), err);
}

/* Vectors sent so far. At the start each agent tells each neighbour its local model, one vector a
 * message; later a message of admm holds two. */
static double vectors_of(const run *r, const tacit_traffic *now, const tacit_traffic *first)
{
    double later = (double)(now->messages - first->messages);
    return (double)first->messages + (r->contestant == ADMM ? 2 : 1) * later;
}

static tacit_status look(run *r, tacit_session *session, const tacit_traffic *first,
                         tacit_error *err)
{
    tacit_runtime *rt = tacit_session_runtime(session);
    tacit_snapshot now;
    tacit_status status = tacit_session_measure(session, &now, err);
    if (status)
        return status;
    const tacit_traffic traffic = rt->ops->traffic(rt);
    r->iterations[r->count] = (double)traffic.ticks;
    r->vectors[r->count] = vectors_of(r, &traffic, first);
    r->gap[r->count] = (now.objective - r->optimum) / r->optimum;
    r->accuracy[r->count++] = now.test;
    return TACIT_OK;
}

static tacit_status follow(run *r, tacit_session *session, const figure_worker *worker,
                           tacit_error *err)
{
    tacit_runtime *rt = tacit_session_runtime(session);
    const tacit_stop *stop = worker->work->request->stop;
    tacit_snapshot start;
    double time = 0;
    tacit_status status;
    if ((status = tacit_session_optimum(session, &r->optimum, err)) ||
        (status = rt->ops->run(rt, 0, stop, err)) ||
        (status = tacit_session_measure(session, &start, err)))
        return status;
    r->alone = start.test;
    const tacit_traffic first = rt->ops->traffic(rt);
    for (int k = 0; time < r->time && r->count < MOST_POINTS; k++) {
        double next = fmin(r->time, FIRST_TIME * exp2((double)k / PER_OCTAVE));
        for (double step = (next - time) / 8; time < next && !status;) { /* for the progress bar */
            double until = time + step < next - step / 2 ? time + step : next;
            status = rt->ops->run(rt, until, stop, err);
            if (!status)
                status = figure_done(worker, effort(r) * (until - time) / r->time);
            time = until;
        }
        if (!status)
            status = look(r, session, &first, err);
        if (status)
            return status;
    }
    return TACIT_OK;
}

static tacit_status perform(run *r, const plan *p, const figure_worker *worker, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_config_init(&config);
    tacit_status status = configure(&config, p, r, err);
    if (status)
        goto out;
    if ((status = tacit_experiment_init(&experiment, &config, err)))
        goto out;
    if ((status = tacit_session_create(&session, &experiment, 1, err)))
        goto out;
    status = follow(r, session, worker, err);
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

static tacit_status tune_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    figure *f = ctx;
    return perform(&f->tuning[k], f->plan, worker, err);
}

/* The long runs first, so that threads end together. */
static tacit_status run_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    figure *f = ctx;
    size_t all = CONTESTANTS * (size_t)f->request->seeds;
    return perform(&f->runs[all - 1 - k], f->plan, worker, err);
}

/* ---- numbers over runs ---- */

typedef struct spread {
    double mean, low, high;
} spread;

/* Of values[0..n); NaN if any is. */
static spread spread_of(size_t n, const double *value)
{
    spread s = {0, INFINITY, -INFINITY};
    for (size_t k = 0; k < n; k++) {
        s.mean += value[k] / (double)n;
        s.low = fmin(s.low, value[k]);
        s.high = fmax(s.high, value[k]);
    }
    return s;
}

static const run *run_of(const figure *f, int contestant, size_t k)
{
    return &f->runs[(size_t)contestant * f->request->seeds + k];
}

/* Where the gap first falls to `level`, between the two times looked at; NaN: nowhere. */
static double reached(const run *r, const double *x, double level)
{
    for (size_t k = 0; k < r->count; k++) {
        if (!(r->gap[k] <= level))
            continue;
        if (k == 0)
            return x[0];
        double from = log(r->gap[k - 1]), to = log(fmax(r->gap[k], FLOOR));
        double share = from > to ? (from - log(level)) / (from - to) : 1;
        return x[k - 1] + share * (x[k] - x[k - 1]);
    }
    return NAN;
}

/* Iterations (or vectors) from which on accuracy stays near that of the end. */
static double accurate(const run *r, const double *x)
{
    size_t k = r->count - 1;
    while (k > 0 && r->accuracy[k - 1] >= r->accuracy[r->count - 1] - NEAR_ENOUGH)
        k--;
    return x[k];
}

enum { GAP_ITERATIONS, GAP_VECTORS, NEAR_ITERATIONS, NEAR_VECTORS, LAST_GAP, LAST_ACCURACY, ALONE };

static double one_figure(const run *r, int what, double level)
{
    switch (what) {
    case GAP_ITERATIONS:
        return reached(r, r->iterations, level);
    case GAP_VECTORS:
        return reached(r, r->vectors, level);
    case NEAR_ITERATIONS:
        return accurate(r, r->iterations);
    case NEAR_VECTORS:
        return accurate(r, r->vectors);
    case LAST_GAP:
        return fmax(0, r->gap[r->count - 1]);
    case LAST_ACCURACY:
        return r->accuracy[r->count - 1];
    default:
        return r->alone;
    }
}

static spread over_runs(const figure *f, int contestant, int what, double level)
{
    double *value = malloc(f->request->seeds * sizeof *value);
    if (!value)
        return (spread){NAN, NAN, NAN};
    for (size_t k = 0; k < f->request->seeds; k++)
        value[k] = one_figure(run_of(f, contestant, k), what, level);
    spread s = spread_of(f->request->seeds, value);
    free(value);
    return s;
}

/* ---- what is shown ---- */

typedef struct points {
    double x[MOST_POINTS], y[MOST_POINTS], low[MOST_POINTS], high[MOST_POINTS];
} points;

static void add_curve(tacit_reproduced *out, const figure *f, size_t panel, int contestant,
                      bool by_vectors, bool is_gap)
{
    points p;
    size_t seeds = f->request->seeds, count = run_of(f, contestant, 0)->count;
    for (size_t k = 0; k < count; k++) {
        p.x[k] = p.y[k] = 0;
        p.low[k] = INFINITY;
        p.high[k] = -INFINITY;
        for (size_t s = 0; s < seeds; s++) {
            const run *r = run_of(f, contestant, s);
            double y = is_gap ? r->gap[k] : r->accuracy[k];
            p.x[k] += (by_vectors ? r->vectors[k] : r->iterations[k]) / (double)seeds;
            p.y[k] += y / (double)seeds;
            p.low[k] = fmin(p.low[k], is_gap ? fmax(y, FLOOR) : y);
            p.high[k] = fmax(p.high[k], is_gap ? fmax(y, FLOOR) : y);
        }
        if (is_gap && p.y[k] < FLOOR)
            p.y[k] = p.low[k] = p.high[k] = NAN;
    }
    figure_add_series(out, panel, names[contestant], count, p.x, p.y, p.low, p.high);
}

static void add_panels(tacit_reproduced *out, const figure *f)
{
    static const char iterations[] = "iterations (ticks of all agents)";
    static const char vectors[] = "vectors of p numbers sent along edges";
    static const char gap[] = "gap (Q - Q*) / Q*", accuracy[] = "test accuracy";
    static const figure_panel panels[] = {
        {"gap-by-iterations", "Objective by iterations", iterations, gap,
         "how far above the optimum; bands: least and largest run", true, true},
        {"gap-by-vectors", "Objective by vectors sent", vectors, gap,
         "both first tell all neighbours their local model", true, true},
        {"accuracy-by-iterations", "Test accuracy by iterations", iterations, accuracy,
         "from learning alone to the optimum", true, false},
        {"accuracy-by-vectors", "Test accuracy by vectors sent", vectors, accuracy,
         "cd tells all neighbours, admm one", true, false},
    };
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        size_t panel = figure_add_panel(out, &panels[k]);
        for (int c = 0; c < CONTESTANTS; c++)
            add_curve(out, f, panel, c, k & 1, k < 2);
    }
}

static void row(tacit_reproduced *out, spread s, const char *who, const char *what)
{
    figure_add_row(out, s.mean, s.low, s.high, NAN, "%s: %s", who, what);
}

static void add_rows(tacit_reproduced *out, const figure *f)
{
    char what[80];
    row(out, over_runs(f, CD, ALONE, 0), "alone", "test accuracy at the start");
    for (int c = 0; c < CONTESTANTS; c++)
        row(out, over_runs(f, c, LAST_ACCURACY, 0), names[c], "test accuracy at the end");
    for (int c = 0; c < CONTESTANTS; c++)
        row(out, over_runs(f, c, LAST_GAP, 0), names[c], "gap at the end");
    for (size_t k = 0; k < LEVELS; k++)
        for (int c = 0; c < CONTESTANTS; c++) {
            snprintf(what, sizeof what, "iterations to gap %g", levels[k]);
            row(out, over_runs(f, c, GAP_ITERATIONS, levels[k]), names[c], what);
            snprintf(what, sizeof what, "vectors to gap %g", levels[k]);
            row(out, over_runs(f, c, GAP_VECTORS, levels[k]), names[c], what);
        }
    for (int c = 0; c < CONTESTANTS; c++) {
        snprintf(what, sizeof what, "iterations to within %g of the last accuracy", NEAR_ENOUGH);
        row(out, over_runs(f, c, NEAR_ITERATIONS, 0), names[c], what);
        snprintf(what, sizeof what, "vectors to within %g of the last accuracy", NEAR_ENOUGH);
        row(out, over_runs(f, c, NEAR_VECTORS, 0), names[c], what);
    }
    for (size_t k = 0; k < RHOS; k++) {
        const run *r = &f->tuning[k];
        double last = r->gap[r->count - 1];
        figure_add_row(out, last, last, last, NAN, "tuning: gap of admm with rho %g", r->rho);
    }
}

/* "4.2 times as many" or "0.8 times as many": whichever way it comes out. */
static void find_speed(tacit_reproduced *out, const figure *f, double level)
{
    spread ci = over_runs(f, CD, GAP_ITERATIONS, level);
    spread cv = over_runs(f, CD, GAP_VECTORS, level);
    spread ai = over_runs(f, ADMM, GAP_ITERATIONS, level);
    spread av = over_runs(f, ADMM, GAP_VECTORS, level);
    if (isnan(ci.mean) || isnan(ai.mean)) {
        figure_find(out, "Not all runs got down to a gap of %g.", level);
        return;
    }
    char cd[2][40], admm[2][40];
    tacit_reproduced_number(round(ci.mean), cd[0], sizeof cd[0]);
    tacit_reproduced_number(round(cv.mean), cd[1], sizeof cd[1]);
    tacit_reproduced_number(round(ai.mean), admm[0], sizeof admm[0]);
    tacit_reproduced_number(round(av.mean), admm[1], sizeof admm[1]);
    figure_find(out,
                "To a gap of %g cd takes %s iterations and %s vectors, admm %s iterations and %s "
                "vectors: %.1f times the iterations and %.1f times the vectors.",
                level, cd[0], cd[1], admm[0], admm[1], ai.mean / ci.mean, av.mean / cv.mean);
}

/* What the numbers say of the paper's claim: by how much cd is ahead at the least. */
static const char *verdict(const figure *f)
{
    double by[2] = {INFINITY, INFINITY};
    for (size_t k = 0; k < LEVELS; k++)
        for (int count = 0; count < 2; count++) {
            int what = count ? GAP_VECTORS : GAP_ITERATIONS;
            double ratio =
                over_runs(f, ADMM, what, levels[k]).mean / over_runs(f, CD, what, levels[k]).mean;
            by[count] = isnan(ratio) ? NAN : fmin(by[count], ratio);
        }
    if (!(by[0] > 1) || !(by[1] > 1))
        return "Here it is not ahead by both.";
    if (by[0] > 2 && by[1] > 2)
        return "So do we.";
    return by[0] > 2 ? "Here it is far ahead by iterations and ahead by vectors too, though not "
                       "always by a factor of two (rho was tuned for ADMM)."
                     : "Here it is ahead by both, though not always by a factor of two.";
}

static void add_findings(tacit_reproduced *out, const figure *f)
{
    spread cd = over_runs(f, CD, LAST_GAP, 0), admm = over_runs(f, ADMM, LAST_GAP, 0);
    bool both = cd.high < 1e-6 && admm.high < 1e-6;
    figure_find(out,
                "%s: the largest relative gap to the exact minimum of Q at the end is %.1e for cd "
                "and %.1e for admm.",
                both ? "Both converge to the same optimum" : "They did not both converge", cd.high,
                admm.high);
    for (size_t k = 0; k < LEVELS; k++)
        find_speed(out, f, levels[k]);
    char near_cd[40], near_admm[40];
    tacit_reproduced_number(round(over_runs(f, CD, NEAR_ITERATIONS, 0).mean), near_cd,
                            sizeof near_cd);
    tacit_reproduced_number(round(over_runs(f, ADMM, NEAR_ITERATIONS, 0).mean), near_admm,
                            sizeof near_admm);
    figure_find(out,
                "Test accuracy rises from %.3f (learning alone) to %.3f; it stays within %g of "
                "that after %s iterations of cd and %s of admm. An iteration of admm takes %d "
                "gradients, one of cd a single one.",
                over_runs(f, CD, ALONE, 0).mean, over_runs(f, CD, LAST_ACCURACY, 0).mean,
                NEAR_ENOUGH, near_cd, near_admm, 2 * STEPS);
    figure_find(out, "The paper finds that cd significantly outperforms ADMM by both counts. %s",
                verdict(f));
}

static void add_settings(tacit_reproduced *out, const figure *f)
{
    const plan *p = f->plan;
    long long first = f->request->seed, seeds = f->request->seeds;
    figure_set(out, "task",
               "linear separators (section 5.1): %d agents, p = %d, 10 to 100 records each, 5 %% "
               "of labels flipped, rows scaled to norm 1 at most; similarity graph, gamma 0.1; "
               "logistic loss, lambda 1/m",
               p->agents, p->dimension);
    figure_set(out, "runs", "%lld: seeds %lld to %lld", seeds, first, first + seeds - 1);
    figure_set(out, "mu", "%g for both, by validation; the paper does not print its value", MU);
    const run *tuned = &f->tuning[0];
    figure_set(
        out, "rho",
        "%g: of a grid, the one with the least gap after %.0f iterations on seed %lld, which "
        "is not among the runs",
        f->rho, tuned->iterations[tuned->count - 1], first + seeds);
    figure_set(out, "start", "the local models, told to all neighbours");
    figure_set(out, "gradient steps", "cd 1 an iteration; admm %d at each end of an exchange",
               STEPS);
    figure_set(out, "vectors",
               "cd sends one to each neighbour of the agent that ticks, admm four an iteration");
    figure_set(out, "iterations", "ticks of all agents: about %.0f for cd, %.0f for admm",
               p->time[CD] * p->agents, p->time[ADMM] * p->agents);
    figure_set(out, "optimum", "Q* by Newton and conjugate gradients on all models at once");
    figure_set(out, "privacy",
               "none: gradients and models are released bare, epsilon is unbounded for one record "
               "(adjacency replace) against an adversary \"local\", who sees every message");
}

static tacit_status tune(figure *f, tacit_error *err)
{
    tacit_status status = figure_run(&f->work, RHOS, tune_piece, f, err);
    double least = INFINITY;
    for (size_t k = 0; k < RHOS && !status; k++) {
        double gap = f->tuning[k].gap[f->tuning[k].count - 1];
        if (gap < least) {
            least = gap;
            f->rho = rhos[k];
        }
    }
    return status;
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.plan = request->quick ? &quick : &whole,
                .request = request,
                .work = {.request = request},
                .tuning = calloc(RHOS, sizeof *f.tuning),
                .runs = calloc(CONTESTANTS * (size_t)request->seeds, sizeof *f.runs)};
    tacit_status status = TACIT_OK;
    if (!f.tuning || !f.runs) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    for (size_t k = 0; k < RHOS; k++) {
        f.tuning[k] = (run){.contestant = ADMM,
                            .rho = rhos[k],
                            .time = f.plan->tune_time,
                            .seed = request->seed + request->seeds};
        f.work.total += effort(&f.tuning[k]);
    }
    for (int c = 0; c < CONTESTANTS; c++)
        for (size_t k = 0; k < request->seeds; k++) {
            run *r = &f.runs[(size_t)c * request->seeds + k];
            *r =
                (run){.contestant = c, .time = f.plan->time[c], .seed = request->seed + (int64_t)k};
            f.work.total += effort(r);
        }
    if ((status = tune(&f, err)))
        goto out;
    for (size_t k = 0; k < CONTESTANTS * (size_t)request->seeds; k++)
        f.runs[k].rho = f.rho;
    if ((status = figure_run(&f.work, CONTESTANTS * (size_t)request->seeds, run_piece, &f, err)))
        goto out;
    out->paper_numbers = "The paper shows curves and prints no numbers for this figure.";
    add_findings(out, &f);
    add_panels(out, &f);
    add_rows(out, &f);
    add_settings(out, &f);
out:
    free(f.tuning);
    free(f.runs);
    return status;
}

const tacit_reproduction tacit_reproduction_000_fig1 = {
    .name = "000-fig1",
    .paper = "paper 000: Bellet, Guerraoui, Taziki, Tommasi (AISTATS 2018), section 5.1, figure 1",
    .title = "Coordinate descent against ADMM",
    .seeds = 5,
    .run = reproduce,
};
