/* SPDX-License-Identifier: Apache-2.0 */
/* Trainings of deep.h. Each is an experiment as a user would write it, looked at when it ends. */
#include "reproduce/deep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/account.h"

const char *const deep_names[DEEP_METHODS] = {"central", "dsgd", "dsgt", "dinno"};
const char *const deep_protocols[DEEP_METHODS] = {"dp-sgd", "dsgd", "dsgt", "dinno"};
const char *const deep_countings[DEEP_COUNTINGS] = {"add-remove", "replace", "add-remove by RDP"};

/* ---- what is run ---- */

/* The paper's net has 38,424 parameters on 32 x 32; with a border of 2 it has as many on 28 x 28.
 * Pixels are taken less 33.3 and divided by 78.6, MNIST's published mean and deviation. */
static const char mnist[] =
    "data: {source: idx, path: mnist/train-images-idx3-ubyte.xz, "
    "labels-path: mnist/train-labels-idx1-ubyte.xz, test-path: mnist/t10k-images-idx3-ubyte.xz, "
    "test-labels-path: mnist/t10k-labels-idx1-ubyte.xz, subtract: 33.3, "
    "divide: 78.6, partition: classes, agents: 10}\n"
    "model: {layers: \"conv 3 5x5 pad 2, mish, pool 2, dense 64, mish, dense 10\", "
    "input: 1x28x28}\n";
static const char drawn[] =
    "data: {source: digits, agents: 10, min-records: 600, max-records: 600, test-records: 60, "
    "score-on: all}\n"
    "model: {layers: \"conv 3 5x5, mish, pool 2, dense 32, mish, dense 10\", input: 1x12x12}\n";

/* How large. A record's chance to take part is the same for all, for under add-remove nobody may
 * know how many an agent has: 0.0427 of 6,000 is the lot of 256. */
typedef struct scale {
    int iterations, lot;
    double sampling, central; /* of agents, and of the curator */
    const char *settings;     /* over those of the task */
} scale;
static const scale whole = {2000, 256, 0.0427, 0.00427, ""};
static const scale small = {40, 32, 0.16, 0.016, "data.records=2000"};
static const scale small_drawn = {30, 16, 0.16, 0.016,
                                  "data.max-records=100;data.min-records=100;"
                                  "data.test-records=20"};

bool deep_has_data(const tacit_reproduce_request *request)
{
    return request->data && *request->data;
}

static const scale *scale_of(const tacit_reproduce_request *request)
{
    if (!request->quick)
        return &whole;
    return deep_has_data(request) ? &small : &small_drawn;
}

tacit_status deep_apply(tacit_config *config, const char *settings, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (const char *at = settings; *at && !status;) {
        const size_t len = strcspn(at, ";");
        char text[TACIT_TEXT_MAX];
        snprintf(text, sizeof text, "%.*s", (int)len, at);
        status = tacit_config_set(config, text, err);
        at += len + (at[len] == ';');
    }
    return status;
}

static int write_privacy(char *out, size_t size, const deep_run *r, const scale *s)
{
    if (!isfinite(r->epsilon))
        return snprintf(out, size, "privacy: {mechanism: none}\n");
    const bool replace = r->counting == DEEP_REPLACE;
    int len = snprintf(out, size,
                       "privacy: {mechanism: gaussian, epsilon: %g, delta: %g, adjacency: %s, "
                       "accountant: %s",
                       r->epsilon, DEEP_DELTA, replace ? "replace" : "add-remove",
                       r->counting == DEEP_RDP ? "rdp" : "pld");
    if (!replace)
        len += snprintf(out + len, size - (size_t)len, ", sampling: %g",
                        r->method == DEEP_CENTRAL ? s->central : s->sampling);
    return len + snprintf(out + len, size - (size_t)len, "}\n");
}

static int write_graph(char *out, size_t size, const deep_run *r)
{
    if (r->method == DEEP_CENTRAL || r->fiedler >= 1)
        return snprintf(out, size, "graph: {kind: complete}\n");
    return snprintf(out, size, "graph: {kind: erdos-renyi, fiedler: %g}\n", r->fiedler);
}

static tacit_status configure(tacit_config *config, const deep_run *r,
                              const tacit_reproduce_request *request, tacit_error *err)
{
    const scale *s = scale_of(request);
    char yaml[4000], text[TACIT_TEXT_MAX + 20];
    int len = snprintf(yaml, sizeof yaml,
                       "run: {seed: %lld, time: %d, every: 0}\nnetwork: {latency: constant}\n"
                       "protocol: {name: %s, iterations: %d, lot: %d}\n%s",
                       (long long)r->seed, s->iterations + 1, deep_protocols[r->method],
                       s->iterations, s->lot, deep_has_data(request) ? mnist : drawn);
    len += write_graph(yaml + len, sizeof yaml - (size_t)len, r);
    len += write_privacy(yaml + len, sizeof yaml - (size_t)len, r, s);
    tacit_status status = tacit_config_parse(config, "a table", yaml, (size_t)len, err);
    snprintf(text, sizeof text, "data.t=%g", r->t);
    if (!status)
        status = tacit_config_set(config, text, err);
    if (!status)
        status = deep_apply(config, s->settings, err);
    if (!status)
        status = deep_apply(config, deep_settings(r), err);
    if (status || !deep_has_data(request))
        return status;
    snprintf(text, sizeof text, "data.folder=%s", request->data);
    return tacit_config_set(config, text, err);
}

/* ---- what came of it ---- */

/* What an accountant says of a ledger. */
static tacit_status account(double *epsilon, const tacit_ledger *ledger, tacit_accountant by,
                            tacit_error *err)
{
    tacit_loss *loss = calloc((size_t)ledger->count + 1, sizeof *loss);
    if (!loss)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < ledger->count; k++)
        tacit_cost_loss(ledger->entries[k].cost, ledger->entries[k].releases, &loss[k]);
    tacit_status status = tacit_account_epsilon(by, loss, ledger->count, DEEP_DELTA, epsilon, err);
    free(loss);
    return status;
}

/* Most is spent, by any accountant, where records take part most often; under add-remove all
 * ledgers are alike. */
static tacit_status look_at_ledgers(deep_run *r, const tacit_session *session, double clip,
                                    tacit_runtime *rt, tacit_error *err)
{
    const uint32_t agents = tacit_dataset_agents(tacit_session_data(session));
    const tacit_ledger *most = NULL;
    for (uint32_t i = 0; i < agents; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        if (!ledger || ledger->count == 0)
            continue;
        r->noise = fmax(r->noise, ledger->entries[0].cost->noise / clip);
        if (!most || ledger->entries[0].cost->sampling > most->entries[0].cost->sampling)
            most = ledger;
    }
    r->pld = r->rdp = INFINITY;
    if (!most || !isfinite(r->epsilon))
        return TACIT_OK;
    tacit_status status = account(&r->pld, most, TACIT_BY_PLD, err);
    return status ? status : account(&r->rdp, most, TACIT_BY_RDP, err);
}

static tacit_status score(deep_run *r, tacit_session *session, tacit_error *err)
{
    const uint32_t agents = tacit_dataset_agents(tacit_session_data(session));
    double *value = calloc((size_t)agents + 1, sizeof *value), square = 0;
    if (!value)
        return tacit_out_of_memory(err);
    tacit_session_scores(session, TACIT_TEST, value);
    for (uint32_t i = 0; i < agents; i++)
        r->accuracy += value[i] / agents;
    for (uint32_t i = 0; i < agents; i++)
        square += (value[i] - r->accuracy) * (value[i] - r->accuracy) / agents;
    r->spread = sqrt(square);
    free(value);
    return TACIT_OK;
}

static tacit_status train(deep_run *r, const tacit_experiment *experiment,
                          const tacit_reproduce_request *request, tacit_error *err)
{
    tacit_session *session = NULL;
    tacit_status status = tacit_session_create(&session, experiment, 1, err);
    if (status)
        return status;
    tacit_runtime *rt = tacit_session_runtime(session);
    status = rt->ops->run(rt, experiment->run.time, request->stop, err);
    if (!status)
        status = rt->ops->finish(rt, err);
    if (!status)
        status = score(r, session, err);
    if (!status)
        status = look_at_ledgers(r, session, experiment->privacy.clip, rt, err);
    tacit_session_free(session);
    return status;
}

static tacit_status perform(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    deep_run *r = (deep_run *)ctx + k;
    const tacit_reproduce_request *request = worker->work->request;
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_config_init(&config);
    tacit_status status = configure(&config, r, request, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = train(r, &experiment, request, err);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status ? status : figure_done(worker, 1);
}

tacit_status deep_perform(deep_run *runs, size_t count, const tacit_reproduce_request *request,
                          tacit_error *err)
{
    figure_work work = {.request = request, .total = (double)count};
    return figure_run(&work, count, perform, runs, err);
}
