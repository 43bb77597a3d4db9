/* SPDX-License-Identifier: Apache-2.0 */
/* What a run found, in words and numbers for people. */
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

/* A session keeps its model to itself, but a model's words depend on its options only. */
static tacit_status read_score_name(cli_outcome *out, const tacit_experiment *experiment,
                                    tacit_error *err)
{
    tacit_model *model = NULL;
    tacit_status status = tacit_model_create(&model, &experiment->model, 1, err);
    if (status == TACIT_OK)
        snprintf(out->score, sizeof out->score, "%s", tacit_model_score_name(model));
    tacit_model_free(model);
    return status;
}

tacit_status cli_outcome_read(cli_outcome *out, tacit_session *session,
                              const tacit_experiment *experiment, tacit_error *err)
{
    *out = (cli_outcome){0};
    tacit_status status = read_score_name(out, experiment, err);
    if (status == TACIT_OK)
        status = tacit_session_measure(session, &out->end, err);
    if (status != TACIT_OK)
        return status;
    const tacit_runtime *runtime = tacit_session_runtime(session);
    const tacit_budget budget = {.epsilon = experiment->privacy.epsilon,
                                 .delta = experiment->privacy.delta,
                                 .trust = experiment->protocol->trust};
    out->traffic = runtime->ops->traffic(runtime);
    uint32_t agents = tacit_dataset_agents(tacit_session_data(session));
    for (uint32_t i = 0; i < agents; i++) {
        const tacit_ledger *ledger = runtime->ops->agent_ledger(runtime, i);
        if (ledger)
            out->epsilon = fmax(out->epsilon, tacit_ledger_epsilon(ledger, &budget));
    }
    /* A curator's model comes out without noise, though no agent ever released anything. */
    if (experiment->protocol->flags & TACIT_ORACLE)
        out->epsilon = INFINITY;
    return TACIT_OK;
}

void cli_epsilon(double epsilon, char *out, size_t size)
{
    if (isinf(epsilon))
        snprintf(out, size, "unbounded");
    else
        snprintf(out, size, "%.4g", epsilon);
}

void cli_bytes(uint64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t u = 0;
    while (value >= 999.5 && u + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        u++;
    }
    snprintf(out, size, u == 0 || value >= 99.95 ? "%.0f %s" : "%.1f %s", value, units[u]);
}

void cli_count(uint64_t count, char *out, size_t size)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < len && used + 2 < size; i++) {
        if (i > 0 && (len - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

uint32_t cli_threads(int64_t wanted)
{
    if (wanted > 0)
        return (uint32_t)wanted;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (uint32_t)cores;
}
