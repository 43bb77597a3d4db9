/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a sweep, from its place in the plan to its figures. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/writer.h"
#include "config/settings.h"
#include "experiment/session.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"

/* ---- figures ---- */

static bool is_finite(tacit_vector *v)
{
    for (uint32_t k = 0; k < v->shape->segments; k++) {
        const tacit_segment *segment = &v->shape->segment[k];
        const void *x = tacit_vector_segment(v, k);
        for (size_t i = 0; i < segment->count; i++) {
            if (segment->scalar == TACIT_F64 && !isfinite(((const double *)x)[i]))
                return false;
            if (segment->scalar == TACIT_F32 && !isfinite(((const float *)x)[i]))
                return false;
        }
    }
    return true;
}

/* A run that diverged has no result: its numbers would poison a mean without a word. */
static tacit_status check_models(const tacit_session *s, tacit_error *err)
{
    for (uint32_t i = 0; i < s->graph.agents; i++) {
        const tacit_secret *model = s->runtime->ops->agent_model(s->runtime, i);
        if (model && !is_finite(tacit_vector_of_secret(model)))
            return tacit_fail(err, TACIT_NO,
                              "the models diverged: that of agent %u is not finite; try a smaller "
                              "step or a smoother loss",
                              i);
    }
    return TACIT_OK;
}

/* NaN is "nothing to measure"; what is infinite was measured and is no figure. */
static tacit_status check_figures(const tacit_snapshot *end, tacit_error *err)
{
    if (isinf(end->train_loss) || isinf(end->objective) || isinf(end->test) ||
        isinf(end->validation))
        return tacit_fail(err, TACIT_NO,
                          "a loss or a score is not finite; scale the records or choose another "
                          "loss");
    return TACIT_OK;
}

static char *guarantee(const tacit_sweep *sweep, const tacit_session *s)
{
    const tacit_privacy_options *privacy = &s->experiment->privacy;
    const char *leak[TACIT_LEAKS];
    const size_t leaks = tacit_session_leaks(s, leak);
    tacit_writer out = {0};
    tacit_write_format(&out, "delta %g for one %s (%s) against an adversary %s",
                       tacit_rounded_up(tacit_session_delta(s)),
                       tacit_unit_name((tacit_unit)privacy->unit),
                       tacit_adjacency_name((tacit_adjacency)privacy->adjacency),
                       tacit_trust_name(tacit_protocol_trust(s->experiment->protocol,
                                                             s->experiment->protocol_options)));
    uint64_t units;
    if (tacit_session_delta_is_large(s, &units))
        tacit_write_format(&out, "; delta is not below 1/%llu", (unsigned long long)units);
    for (size_t i = 0; i < leaks; i++)
        tacit_write_format(&out, "%s%s", i ? ", " : "; " TACIT_NOT_COUNTED, leak[i]);
    tacit_tune_words(&out, sweep);
    return tacit_writer_take(&out);
}

static tacit_status components(const tacit_graph *graph, double *out, tacit_error *err)
{
    size_t bytes;
    uint32_t *component = NULL;
    if (tacit_mul_size((size_t)graph->agents + 1, sizeof *component, &bytes))
        component = malloc(bytes);
    if (!component)
        return tacit_out_of_memory(err);
    *out = tacit_graph_components(graph, component);
    free(component);
    return TACIT_OK;
}

/* What a search on private records needs to know of a try. */
static tacit_status collect_charges(const tacit_sweep *sweep, const tacit_sweep_one *one,
                                    tacit_session *s, tacit_sweep_result *out, tacit_error *err)
{
    if (!tacit_tuner_charges(sweep->tuner))
        return TACIT_OK;
    if (!(out->spent = tacit_tune_spent(s)))
        return tacit_out_of_memory(err);
    return tacit_tune_release(sweep, s, one->run, &out->released, err);
}

/* Test records are for the winner of a search, and for nobody else. */
static void close_test(const tacit_sweep *sweep, const tacit_sweep_one *one,
                       tacit_sweep_result *out)
{
    out->opened = sweep->tuner && one->open;
    if (!sweep->tuner || one->open)
        return;
    out->value[TACIT_SWEEP_TEST] = NAN;
    out->value[TACIT_SWEEP_TEST_DEVIATION] = NAN;
}

static tacit_status collect(const tacit_sweep *sweep, const tacit_sweep_one *one, tacit_session *s,
                            tacit_sweep_result *out, tacit_error *err)
{
    tacit_snapshot end;
    tacit_status status = check_models(s, err);
    if (!status)
        status = tacit_session_measure(s, &end, err);
    if (!status)
        status = check_figures(&end, err);
    if (!status)
        status = components(&s->graph, &out->value[TACIT_SWEEP_COMPONENTS], err);
    if (!status && !(out->guarantee = guarantee(sweep, s)))
        status = tacit_out_of_memory(err);
    if (!status)
        status = collect_charges(sweep, one, s, out, err);
    if (status)
        return status;
    const tacit_traffic traffic = s->runtime->ops->traffic(s->runtime);
    const uint64_t edges = s->graph.row[s->graph.agents] / 2; /* each stands in two rows */
    out->state = TACIT_SWEEP_DONE;
    out->score_up = tacit_model_score_up(s->model);
    snprintf(out->score, sizeof out->score, "%s", tacit_model_score_name(s->model));
    out->value[TACIT_SWEEP_TEST] = end.test;
    out->value[TACIT_SWEEP_TEST_DEVIATION] = end.test_deviation;
    out->value[TACIT_SWEEP_VALIDATION] = end.validation;
    out->value[TACIT_SWEEP_TRAIN_LOSS] = end.train_loss;
    out->value[TACIT_SWEEP_OBJECTIVE] = end.objective;
    out->value[TACIT_SWEEP_EPSILON] = tacit_session_epsilon(s);
    out->value[TACIT_SWEEP_RELEASES] = (double)tacit_session_releases(s);
    out->value[TACIT_SWEEP_REFUSED] = (double)traffic.refused;
    out->value[TACIT_SWEEP_MESSAGES] = (double)traffic.messages;
    out->value[TACIT_SWEEP_BYTES] = (double)traffic.bytes;
    out->value[TACIT_SWEEP_TICKS] = (double)traffic.ticks;
    out->value[TACIT_SWEEP_LOST] = (double)traffic.lost;
    out->value[TACIT_SWEEP_EDGES] = (double)edges;
    close_test(sweep, one, out);
    return TACIT_OK;
}

/* ---- the run ---- */

static tacit_status attempt(const tacit_sweep *sweep, const tacit_experiment *experiment,
                            const tacit_sweep_one *one, bool resume, tacit_sweep_result *out,
                            tacit_error *err)
{
    tacit_session *session = NULL;
    const tacit_run_request request = {.folder = one->folder,
                                       .resume = resume,
                                       .stop = one->stop,
                                       .progress = one->progress,
                                       .progress_ctx = one->progress_ctx};
    tacit_status status = tacit_session_create(&session, experiment, 1, err);
    if (!status && tacit_tuner_charges(sweep->tuner))
        status =
            tacit_session_renoise(session, tacit_tune_seed(sweep, one->run, TACIT_TUNE_NOISE), err);
    if (!status)
        status = tacit_session_run(session, &request, err);
    if (!status)
        status = collect(sweep, one, session, out, err);
    tacit_session_free(session);
    return status;
}

/* Take away what a run that was killed left in its folder. */
static void sweep_out(const char *path)
{
    tacit_folder folder = {.path = tacit_text_copy(path, strlen(path))};
    folder.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    tacit_folder_abandon(&folder);
    tacit_folder_close(&folder);
}

static tacit_status run_in_folder(const tacit_sweep *sweep, const tacit_experiment *experiment,
                                  const tacit_sweep_one *one, tacit_sweep_result *out,
                                  tacit_error *err)
{
    if (!one->folder)
        return attempt(sweep, experiment, one, false, out, err);
    tacit_writer path = {0};
    tacit_write_format(&path, "%s/checkpoint.bin", one->folder);
    if (path.failed) {
        tacit_writer_clear(&path);
        return tacit_out_of_memory(err);
    }
    const bool begun = access(path.text, F_OK) == 0;
    tacit_writer_clear(&path);
    if (begun) {
        tacit_status status = attempt(sweep, experiment, one, true, out, err);
        if (!status || status == TACIT_EINTERRUPTED)
            return status;
    }
    sweep_out(one->folder);
    return attempt(sweep, experiment, one, false, out, err);
}

tacit_status tacit_sweep_do(const tacit_sweep *sweep, const tacit_sweep_one *one,
                            tacit_sweep_result *out)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_error why = {0};
    tacit_config_init(&config);
    *out = (tacit_sweep_result){.state = TACIT_SWEEP_WAITING, .released = NAN};
    tacit_status status = tacit_sweep_config(sweep, one->run, &config, &why);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, &why);
    if (!status)
        status = run_in_folder(sweep, &experiment, one, out, &why);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    if (!status || status == TACIT_EINTERRUPTED)
        return status;
    tacit_sweep_forget(out);
    out->state = TACIT_SWEEP_FAILED;
    out->message = tacit_text_copy(why.text, strlen(why.text)); /* NULL: failed without words */
    return TACIT_OK;
}
