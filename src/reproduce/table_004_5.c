/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 5 of paper 004: a lower bound on epsilon by membership inference. Three agents hold the
 * digits 0, 1 and 2 (300 records of MNIST in all); agent 0 has a blank picture with the label 0
 * besides, or has not. Many models are trained either way, (1, 1e-2)-DP by one record more or less,
 * from the same start, so that noise alone differs. The attacker looks at the loss of agent 0's
 * model on the blank picture: a threshold from a fifth of the models, Clopper-Pearson bounds on the
 * others (tacit/audit.h).
 *
 * Broken builds claim the same and add a fraction of the noise. They must be caught.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/session.h"
#include "reproduce/deep.h"
#include "tacit/audit.h"

#define CLAIMED 1.0
#define DELTA 1e-2
#define CONFIDENCE 0.95

/* ---- what is audited ---- */

typedef struct build {
    deep_method method;
    double clip;
    double share;   /* of the noise that is claimed */
    double printed; /* the paper's bound; NaN: none */
} build;
/* Gradients of a blank picture are far shorter than the paper's clip of 10: a tenth of the noise
 * still hides it, and no audit by this canary could tell. Under a clip of 1 it does not. */
static const build builds[] = {
    {DEEP_CENTRAL, 10, 1, 0.230}, {DEEP_DSGD, 10, 1, 0.173}, {DEEP_DSGT, 10, 1, 0.129},
    {DEEP_DINNO, 10, 1, 0.165},   {DEEP_DSGD, 1, 1, NAN},    {DEEP_DSGD, 1, 0.1, NAN},
    {DEEP_DSGD, 10, 0.01, NAN},
};
#define BUILDS (sizeof builds / sizeof *builds)

/* Steps as in a first try: nothing was tuned, for nothing is to be learned well. */
static const char *const steps[DEEP_METHODS] = {
    [DEEP_CENTRAL] = "lot: 300, step: 0.03",
    [DEEP_DSGD] = "lot: 100, step: 0.03",
    [DEEP_DSGT] = "lot: 100, step: 0.03",
    [DEEP_DINNO] = "lot: 100, step: 0.01, rho: 0.01",
};

static const char mnist[] = "data: {source: idx, path: mnist/train-images-idx3-ubyte.xz, "
                            "labels-path: mnist/train-labels-idx1-ubyte.xz, records: 952, divide: "
                            "255, partition: classes, t: 1, agents: 3, test-fraction: 0}\n"
                            "model: {layers: \"conv 3 5x5 step 2, mish, pool 2, dense 10\", "
                            "input: 1x28x28}\n";
static const char drawn[] = "data: {source: digits, agents: 3, min-records: 90, max-records: 90, "
                            "test-records: 0, t: 1}\n"
                            "model: {layers: \"conv 3 5x5, mish, pool 2, dense 10\", "
                            "input: 1x12x12}\n";

typedef struct shown {
    double apart;   /* mean losses with and without, in their deviations */
    double bound;   /* on epsilon, with CONFIDENCE */
    double claimed; /* by the ledger of a sound run */
    double noise;   /* over the clip, of the build */
} shown;

/* The few models of a quick look show nothing less. */
static double share_of(const build *b, const tacit_reproduce_request *request)
{
    return b->share < 1 && request->quick ? b->share / 4 : b->share;
}

typedef struct table {
    const tacit_reproduce_request *request;
    uint64_t models; /* trained on either data */
    uint64_t pilot;  /* of them, to choose a threshold: by fewer than ten nobody can choose */
    int iterations;
    shown *of; /* a build each, seed by seed */
    size_t done, total;
} table;

/* What trainings of one build have in common. */
typedef struct attack {
    tacit_session *session;
    tacit_dataset *with, *without, *canary;
    tacit_costs *costs;
    tacit_world world;
    const table *table;
} attack;

static tacit_status configure(tacit_config *config, const table *t, const build *b, int64_t seed,
                              tacit_error *err)
{
    const tacit_reproduce_request *request = t->request;
    char yaml[3000], folder[TACIT_TEXT_MAX + 20];
    const int len = snprintf(
        yaml, sizeof yaml,
        "run: {seed: %lld, time: %d, every: 0}\ngraph: {kind: complete}\n"
        "network: {latency: constant}\nprotocol: {name: %s, iterations: %d, %s}\n"
        "privacy: {mechanism: gaussian, epsilon: %g, delta: %g, clip: %g, adjacency: add-remove}\n"
        "%s",
        (long long)seed, t->iterations + 1, deep_protocols[b->method], t->iterations,
        steps[b->method], CLAIMED, DELTA, b->clip, deep_has_data(request) ? mnist : drawn);
    tacit_status status = tacit_config_parse(config, "a table", yaml, (size_t)len, err);
    if (status || !deep_has_data(request))
        return status;
    snprintf(folder, sizeof folder, "data.folder=%s", request->data);
    return tacit_config_set(config, folder, err);
}

/* ---- one training ---- */

static tacit_status train(const attack *a, bool with, uint64_t noise_seed, tacit_runtime **out,
                          tacit_error *err)
{
    tacit_world world = a->world;
    world.data = with ? a->with : a->without;
    world.noise_seed = noise_seed;
    tacit_status status = tacit_simulator.create(out, &world, err);
    if (status)
        return status;
    status = (*out)->ops->run(*out, a->table->iterations + 1, a->table->request->stop, err);
    if (!status)
        status = (*out)->ops->finish(*out, err);
    if (status)
        (*out)->ops->destroy(*out);
    return status;
}

/* A model that has seen the blank picture has less loss on it. */
static tacit_status score(void *ctx, const tacit_audit_trial *trial, double *out, tacit_error *err)
{
    const attack *a = ctx;
    tacit_runtime *rt;
    tacit_status status = train(a, trial->with, tacit_stream_u64(trial->stream) | 1, &rt, err);
    if (status)
        return status;
    *out = -tacit_model_loss(a->world.model, tacit_dataset_shard(a->canary, 0, TACIT_TRAIN),
                             rt->ops->agent_model(rt, 0))
                .owner_only;
    rt->ops->destroy(rt);
    return TACIT_OK;
}

/* ---- one audit ---- */

/* A sound run says what its noise is and what its ledger claims. Then nobody has to find the noise
 * again, and a broken build has its share of it, with nobody who minds. */
static tacit_status rehearse(attack *a, const build *b, shown *out, tacit_error *err)
{
    const tacit_budget budget = tacit_session_budget(a->session);
    tacit_runtime *rt;
    tacit_status status = train(a, true, 1, &rt, err);
    if (status)
        return status;
    const tacit_ledger *ledger = rt->ops->agent_ledger(rt, 0);
    out->claimed = tacit_ledger_epsilon(ledger, &budget);
    out->noise = share_of(b, a->table->request) * ledger->entries[0].cost->noise / b->clip;
    rt->ops->destroy(rt);
    a->world.privacy.noise = out->noise * (1 - 0x1p-32);
    if (b->share < 1)
        a->world.privacy.epsilon = INFINITY;
    return TACIT_OK;
}

static tacit_status prepare(attack *a, const tacit_experiment *experiment, tacit_error *err)
{
    static const uint32_t one[] = {1};
    tacit_status status = tacit_session_create(&a->session, experiment, 1, err);
    if (status)
        return status;
    const tacit_dataset *data = a->session->source.data;
    if (!(a->costs = tacit_costs_create()))
        return tacit_out_of_memory(err);
    a->world = a->session->world;
    a->world.threads = 1;
    a->world.costs = a->costs;
    status = deep_canary(&a->with, data, true, err);
    if (!status)
        status = deep_canary(&a->without, data, false, err);
    if (!status)
        status = tacit_dataset_create(&a->canary, 1, tacit_dataset_features(data),
                                      tacit_dataset_scalar(data),
                                      (const uint32_t *const[TACIT_SPLITS]){one}, err);
    return status;
}

/* Says how strong the attack is where a bound is 0. */
static double how_far_apart(const tacit_audit *a)
{
    const size_t n = (size_t)(a->pilot + a->trials);
    double with = 0, without = 0, squares = 0;
    for (size_t k = 0; k < n; k++) {
        with += a->with[k] / (double)n;
        without += a->without[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++)
        squares += (a->with[k] - with) * (a->with[k] - with) +
                   (a->without[k] - without) * (a->without[k] - without);
    return (with - without) / sqrt(squares / (2 * (double)n));
}

static void tell_progress(void *ctx, double done, double total)
{
    const table *t = ctx;
    const tacit_reproduce_request *request = t->request;
    if (request->progress)
        request->progress(request->progress_ctx, (double)t->done + done / total, (double)t->total);
}

static tacit_status audit(table *t, const build *b, const tacit_experiment *experiment, shown *out,
                          tacit_error *err)
{
    attack a = {.table = t};
    tacit_audit result = {0};
    const tacit_audit_plan plan = {.trials = t->models - t->pilot,
                                   .pilot = t->pilot,
                                   .delta = DELTA,
                                   .confidence = CONFIDENCE,
                                   .seed = (uint64_t)experiment->run.seed,
                                   .threads = t->request->threads,
                                   .stop = t->request->stop,
                                   .progress = tell_progress,
                                   .progress_ctx = t};
    tacit_status status = prepare(&a, experiment, err);
    if (!status)
        status = rehearse(&a, b, out, err);
    if (!status)
        status = tacit_audit_run(&result, &plan, score, &a, err);
    if (!status) {
        out->bound = result.clopper_pearson.epsilon;
        out->apart = how_far_apart(&result);
    }
    tacit_audit_clear(&result);
    tacit_dataset_free(a.with);
    tacit_dataset_free(a.without);
    tacit_dataset_free(a.canary);
    tacit_session_free(a.session);
    tacit_costs_free(a.costs);
    return status;
}

static tacit_status one_build(table *t, const build *b, int64_t seed, shown *out, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_config_init(&config);
    tacit_status status = configure(&config, t, b, seed, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = audit(t, b, &experiment, out, err);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    t->done++;
    return status;
}

/* ---- what is shown ---- */

static void name_build(const build *b, double share, char *out, size_t size)
{
    char broken[40] = "";
    if (share < 1)
        snprintf(broken, sizeof broken, ", BROKEN (%g of the noise)", share);
    snprintf(out, size, "%s, clip %g%s", deep_names[b->method], b->clip, broken);
}

static void add_results(tacit_reproduced *out, const table *t)
{
    static const figure_panel panel = {"bounds",
                                       "Lower bounds on epsilon",
                                       "build (in the order of the rows below)",
                                       "epsilon",
                                       "above the claim a build is refuted",
                                       false,
                                       false};
    const size_t seeds = t->request->seeds, at = figure_add_panel(out, &panel);
    double x[BUILDS], bound[BUILDS], claim[BUILDS], low[BUILDS], high[BUILDS];
    for (size_t k = 0; k < BUILDS; k++) {
        char name[80];
        double apart = 0;
        const shown *of = &t->of[k * seeds];
        name_build(&builds[k], share_of(&builds[k], t->request), name, sizeof name);
        x[k] = (double)k + 1;
        claim[k] = bound[k] = 0;
        low[k] = INFINITY;
        high[k] = -INFINITY;
        for (size_t s = 0; s < seeds; s++) {
            bound[k] += of[s].bound / (double)seeds;
            apart += of[s].apart / (double)seeds;
            claim[k] = fmax(claim[k], of[s].claimed);
            low[k] = fmin(low[k], of[s].bound);
            high[k] = fmax(high[k], of[s].bound);
        }
        figure_add_row(out, bound[k], low[k], high[k], builds[k].printed, "%s", name);
        figure_add_row(out, apart, NAN, NAN, NAN, "losses apart, deviations: %s", name);
    }
    figure_add_series(out, at, "lower bound", BUILDS, x, bound, low, high);
    figure_add_series(out, at, "claimed", BUILDS, x, claim, NULL, NULL);
}

static void find(tacit_reproduced *out, const table *t)
{
    const size_t seeds = t->request->seeds;
    size_t sound = 0, accused = 0, broken = 0, caught = 0;
    for (size_t k = 0; k < BUILDS * seeds; k++) {
        const bool above = t->of[k].bound > t->of[k].claimed;
        const bool is_sound = builds[k / seeds].share >= 1;
        sound += is_sound;
        accused += is_sound && above;
        broken += !is_sound;
        caught += !is_sound && above;
    }
    figure_find(out,
                "Epsilon 1 is claimed throughout. %zu of %zu audits of sound builds are above the "
                "claim; each would be with "
                "probability 0.05 at most. %zu of %zu audits of broken builds are above it%s",
                accused, sound, caught, broken,
                caught == broken ? ", as they must." : ": too few models were trained to see it.");
}

static void state(tacit_reproduced *out, const table *t)
{
    const bool data = deep_has_data(t->request);
    out->paper_numbers = "The paper's bounds, of 5,000 models either way, stand beside ours.";
    if (!data)
        out->warning = "These are drawn digits of 12 x 12 pixels, not MNIST, since TACIT_DATA is "
                       "not set.";
    figure_set(out, "task",
               "%s; three agents, complete graph, one digit each (0, 1, 2); canary: a blank "
               "picture, label 0, one record more for agent 0",
               data ? "the first 300 records of MNIST with these digits" : "drawn digits");
    figure_set(out, "net", "conv 3 5x5%s, mish, pool 2, dense 10: the paper's is not stated",
               data ? " step 2" : "");
    figure_set(
        out, "models",
        "%llu with the canary and as many without; %llu of either choose threshold and bound",
        (unsigned long long)t->models, (unsigned long long)t->pilot);
    figure_set(out, "privacy",
               "epsilon 1 claimed, delta 0.01, one record added or removed; %d iterations, all "
               "records in each (the paper does not state its lots); noise by pld",
               t->iterations);
    figure_set(out, "audits", "%u of each build, from seed %lld on", t->request->seeds,
               (long long)t->request->seed);
    figure_set(out, "attack",
               "loss of agent 0's last model on the canary, which is less than the claim allows "
               "for: everything that was sent; confidence 0.95");
}

static tacit_status run(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err)
{
    const size_t seeds = request->seeds;
    table t = {.request = request,
               .models = request->quick  ? 28
                         : request->full ? 5000
                                         : 500,
               .pilot = request->quick  ? 10
                        : request->full ? 1000
                                        : 100,
               .iterations = request->quick ? 12 : 100,
               .of = calloc(BUILDS * seeds, sizeof *t.of),
               .total = BUILDS * seeds};
    tacit_status status = t.of ? TACIT_OK : tacit_out_of_memory(err);
    for (size_t k = 0; k < BUILDS * seeds && !status; k++)
        status =
            one_build(&t, &builds[k / seeds], request->seed + (int64_t)(k % seeds), &t.of[k], err);
    if (!status) {
        find(out, &t);
        add_results(out, &t);
        state(out, &t);
    }
    free(t.of);
    return status;
}

const tacit_reproduction tacit_reproduction_004_table5 = {
    .name = "004-table5",
    .paper = "paper 004: Bayrooti, Gao, Prorok (2023), appendix D, table 5",
    .title = "What membership inference shows of epsilon, and of broken builds",
    .seeds = 1,
    .full_seeds = 1,
    .run = run,
};
