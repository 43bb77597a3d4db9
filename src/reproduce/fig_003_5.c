/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 5 of paper 003 (section IV-B): test error of ATC on clicks (Avazu) without noise and with
 * the three noises: 50 agents, logistic loss, step 0.5, rho 0.001, sigma_g^2 = 0.8.
 *
 * The paper says neither which records it takes nor which features. Here it is a public sample of
 * one hour, its columns of words hashed into buckets (which looks at no record), rows scaled to
 * norm 1 at most. The paper makes agents unlike by adding noise to their records; here shares of
 * clicks differ (partition "dirichlet"). Rows of norm 1 bound the gradient of the logistic loss by
 * 1, so that the ledger's epsilon is of the algorithm as it is.
 */
#include <math.h>
#include <stdlib.h>

#include "reproduce/fig_003.h"

#define MOST_LOOKS 60

typedef struct plan {
    const char *task;
    int64_t iterations;
} plan;

#define TASK(agents)                                                                            \
    "data:\n  source: csv\n  path: avazu/avazu_sample_train.csv\n  label-column: click\n"       \
    "  positive: \"1\"\n  ignore: id,hour,device_id,device_ip\n"                                \
    "  hashed: C1,banner_pos,site_id,site_domain,site_category,app_id,app_domain,app_category," \
    "device_model,device_type,device_conn_type,C14,C15,C16,C17,C18,C19,C20,C21\n"               \
    "  buckets: 16\n  partition: dirichlet\n  alpha: 5\n  agents: " #agents "\n"                \
    "  test-fraction: 0.2\n  bias: true\n  bound: l2\n"                                         \
    "graph: {kind: k-out, k: 3}\nmodel: {loss: logistic, lambda: 0.001, scalar: f64}\n"
static const plan whole = {TASK(50), 500};
static const plan quick = {TASK(10), 40};

typedef struct figure {
    const plan *plan;
    size_t seeds;
    double at[MOST_LOOKS];
    size_t looks;
    spread_run *runs;
    double never; /* test error of who never expects a click */
} figure;

static void choose_looks(figure *f)
{
    const double half = (double)f->plan->iterations / 2;
    for (double x = 1; x < half && f->looks < MOST_LOOKS / 2; x = fmax(x + 1, round(x * 1.25)))
        f->at[f->looks++] = x;
    for (int k = 0; k <= 20; k++)
        f->at[f->looks++] = round(half + half * k / 20);
}

static void choose_runs(figure *f, int64_t seed)
{
    for (int noise = 0; noise < SPREAD_NOISES; noise++)
        for (size_t s = 0; s < f->seeds; s++)
            f->runs[(size_t)noise * f->seeds + s] = (spread_run){.task = f->plan->task,
                                                                 .strategy = SPREAD_ATC,
                                                                 .noise = noise,
                                                                 .step = 0.5,
                                                                 .sigma = sqrt(0.8),
                                                                 .epsilon = INFINITY,
                                                                 .clip = 1,
                                                                 .radius = 1,
                                                                 .reach = 100,
                                                                 .batch = 1,
                                                                 .iterations = f->plan->iterations,
                                                                 .seed = seed + (int64_t)s,
                                                                 .at = f->at,
                                                                 .looks = f->looks};
}

static const spread_run *of_noise(const figure *f, int noise)
{
    return &f->runs[(size_t)noise * f->seeds];
}

/* Of the agent and the run that spent most. */
static double most_spent(const figure *f, int noise)
{
    double most = 0;
    for (size_t s = 0; s < f->seeds; s++)
        most = fmax(most, of_noise(f, noise)[s].spent);
    return most;
}

static tacit_interval late(const figure *f, int noise, int what)
{
    double *value = calloc(f->seeds, sizeof *value);
    if (!value)
        return (tacit_interval){0, NAN, NAN, NAN};
    for (size_t s = 0; s < f->seeds; s++) {
        const spread_run *r = &of_noise(f, noise)[s];
        value[s] = spread_late(r, r->seen[what], (double)f->plan->iterations / 2);
    }
    tacit_interval i = spread_interval(value, f->seeds);
    free(value);
    return i;
}

static const char *const what_names[SPREAD_SEEN] = {
    [SPREAD_CENTROID] = "test error of the centroid",
    [SPREAD_SINGLE] = "test error of single models",
    [SPREAD_LOSS] = "test loss of the centroid",
    [SPREAD_SINGLE_LOSS] = "test loss of single models",
};

static void add_panels(tacit_reproduced *out, const figure *f)
{
    static const char x[] = "iterations", note[] = "mean over splits and its 95 % interval";
    static const figure_panel panels[SPREAD_SEEN] = {
        [SPREAD_CENTROID] = {"centroid", "Test error of the centroid", x, "test error", note, true,
                             false},
        [SPREAD_SINGLE] = {"single", "Average test error of single models", x, "test error",
                           "what an agent really holds", true, false},
        [SPREAD_LOSS] = {"centroid-loss", "Test loss of the centroid", x, "logistic loss",
                         "errors hardly tell: clicks are rare", true, false},
        [SPREAD_SINGLE_LOSS] = {"single-loss", "Average test loss of single models", x,
                                "logistic loss", "what an agent really holds", true, false},
    };
    for (int what = 0; what < SPREAD_SEEN; what++) {
        size_t panel = figure_add_panel(out, &panels[what]);
        for (int n = 0; n < SPREAD_NOISES; n++)
            spread_curve(out, panel, spread_noises[n], (uint32_t)n, of_noise(f, n), f->seeds, what,
                         false);
    }
}

static void add_rows(tacit_reproduced *out, const figure *f)
{
    for (int what = 0; what < SPREAD_SEEN; what++)
        for (int n = 0; n < SPREAD_NOISES; n++) {
            tacit_interval i = late(f, n, what);
            figure_add_row(out, i.mean, i.low, i.high, NAN, "%s: %s, second half", spread_noises[n],
                           what_names[what]);
        }
    figure_add_row(out, most_spent(f, SPREAD_INDEPENDENT), NAN, NAN, NAN,
                   "independent: epsilon for one record");
    figure_add_row(out, most_spent(f, SPREAD_HOMOMORPHIC), NAN, NAN, NAN,
                   "homomorphic: epsilon for one record");
    figure_add_row(out, f->never, NAN, NAN, NAN, "never expecting a click: test error");
}

/* Of the two noises, by a measure: which hinders less, if either does. */
static const char *order(const figure *f, int what)
{
    const double none = late(f, SPREAD_NONE, what).mean;
    const double independent = late(f, SPREAD_INDEPENDENT, what).mean - none;
    const double homomorphic = late(f, SPREAD_HOMOMORPHIC, what).mean - none;
    if (fabs(independent - homomorphic) < 0.002)
        return "cannot be told apart";
    return homomorphic < independent ? "homomorphic noise hinders less"
                                     : "homomorphic noise hinders more";
}

static void add_findings(tacit_reproduced *out, const figure *f)
{
    figure_find(out,
                "Without noise the centroid errs on %.1f %% of test records and single models on "
                "%.1f %%. Clicks are rare: who never expects one errs on %.1f %%, so that errors "
                "tell little, and losses stand beside them.",
                100 * late(f, SPREAD_NONE, SPREAD_CENTROID).mean,
                100 * late(f, SPREAD_NONE, SPREAD_SINGLE).mean, 100 * f->never);
    for (int n = 0; n < SPREAD_NOISES; n++)
        figure_find(out,
                    "%s: errors of centroid and single models %.1f %% and %.1f %%, losses %.3f and "
                    "%.3f.",
                    spread_noises[n], 100 * late(f, n, SPREAD_CENTROID).mean,
                    100 * late(f, n, SPREAD_SINGLE).mean, late(f, n, SPREAD_LOSS).mean,
                    late(f, n, SPREAD_SINGLE_LOSS).mean);
    figure_find(out,
                "The paper finds that homomorphic noise hinders less than independent noise and "
                "local-homomorphic not at all. Here, by the error of the centroid: %s; of single "
                "models: %s; by the loss of the centroid: %s; of single models: %s. Masks cancel "
                "to rounding by construction.",
                order(f, SPREAD_CENTROID), order(f, SPREAD_SINGLE), order(f, SPREAD_LOSS),
                order(f, SPREAD_SINGLE_LOSS));
    figure_find(out,
                "By our ledger the noise buys epsilon %.0f (independent) and %.0f (homomorphic) "
                "for one record at delta 1e-5: no privacy to speak of. Masks alone have no "
                "epsilon: the receiver learns the sum.",
                most_spent(f, SPREAD_INDEPENDENT), most_spent(f, SPREAD_HOMOMORPHIC));
}

static void add_settings(tacit_reproduced *out, const figure *f, int64_t seed)
{
    figure_set(out, "task",
               "Avazu, a public sample of one hour (8,087 records of 40 million): %s agents, "
               "shares of clicks by Dirichlet(5), a fifth of each agent's records for test; 19 "
               "columns of words hashed into 16 buckets each, a constant, rows of norm 1 at most",
               f->plan == &whole ? "50" : "10");
    figure_set(out, "model", "logistic, rho 0.001; ATC, step 0.5, one record a step");
    figure_set(out, "noise", "variance 0.8, Gaussian instead of Laplace");
    figure_set(out, "graph", "each agent draws 3 others; Metropolis weights");
    figure_set(out, "runs", "%zu splits: seeds %lld to %lld", f->seeds, (long long)seed,
               (long long)seed + (long long)f->seeds - 1);
    figure_set(out, "iterations", "%lld", (long long)f->plan->iterations);
    figure_set(out, "privacy",
               "epsilon at delta 1e-5 for one record (adjacency replace), against an adversary "
               "\"local\" who sees every message on every link; gradients are within 1 by "
               "themselves");
}

static const char tiny[] =
    "Only a tiny sample of Avazu can be had freely, and the paper tells neither its features nor "
    "how many records it used: read the order of the curves, not their height. Its claims of "
    "privacy rest on a sensitivity that holds with high probability only.";

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    figure f = {.plan = request->quick ? &quick : &whole, .seeds = request->seeds};
    const size_t count = SPREAD_NOISES * f.seeds;
    if (!request->data || !*request->data)
        return tacit_fail(err, TACIT_EINPUT,
                          "003-fig5 needs \"avazu/avazu_sample_train.csv\": set TACIT_DATA to the "
                          "folder with \"avazu\" in it (see \"tacit data --known\")");
    f.runs = calloc(count, sizeof *f.runs);
    if (!f.runs)
        return tacit_out_of_memory(err);
    choose_looks(&f);
    choose_runs(&f, request->seed);
    tacit_status status = spread_perform(f.runs, count, request, err);
    if (!status) {
        for (size_t s = 0; s < f.seeds; s++)
            f.never += f.runs[s].never / (double)f.seeds;
        out->paper_numbers = "The paper shows curves and prints no numbers for this figure.";
        out->spread = "its 95 % interval over splits";
        out->warning = tiny;
        add_findings(out, &f);
        add_panels(out, &f);
        add_rows(out, &f);
        add_settings(out, &f, request->seed);
    }
    spread_free(f.runs, count);
    return status;
}

const tacit_reproduction tacit_reproduction_003_fig5 = {
    .name = "003-fig5",
    .paper = "paper 003: Rizk, Vlaski, Sayed (2022), section IV-B, figure 5",
    .title = "Noise that knows the graph: clicks",
    .seeds = 5,
    .needs_data = true,
    .run = reproduce,
};
