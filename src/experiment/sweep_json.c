/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep for programs: schema tacit.sweep/1. */
#include <math.h>

#include "experiment/sweep.h"
#include "experiment/tune.h"

static void json_values(tacit_json *json, const tacit_sweep *sweep, size_t point)
{
    tacit_json_begin(json, "values", '{');
    for (size_t k = 0; k < sweep->axis_count; k++) {
        const char *value = tacit_sweep_value(sweep, point, k);
        const uint32_t at = sweep->at[point * sweep->axis_count + k];
        if (!value)
            tacit_json_null(json, sweep->axes[k].key);
        else if (sweep->axes[k].numeric && isfinite(sweep->axes[k].values.number[at]))
            tacit_json_real(json, sweep->axes[k].key, sweep->axes[k].values.number[at]);
        else
            tacit_json_text(json, sweep->axes[k].key, value);
    }
    tacit_json_end(json, '}');
}

static void json_point(tacit_json *json, const tacit_sweep *sweep, size_t point)
{
    tacit_json_begin(json, NULL, '{');
    json_values(json, sweep, point);
    tacit_json_count(json, "n", tacit_sweep_interval(sweep, point, TACIT_SWEEP_TEST).n);
    tacit_json_text(json, "score", tacit_sweep_sample(sweep, point)->score);
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++) {
        const tacit_interval i = tacit_sweep_interval(sweep, point, (tacit_sweep_metric)m);
        tacit_json_begin(json, tacit_sweep_metric_name((tacit_sweep_metric)m), '{');
        tacit_json_real(json, "mean", i.mean);
        tacit_json_real(json, "low", i.low);
        tacit_json_real(json, "high", i.high);
        if (m == TACIT_SWEEP_EPSILON) {
            tacit_json_bool(json, "unbounded", isinf(i.mean));
            tacit_json_text(json, "guarantee", tacit_sweep_guarantee(sweep, point));
            tacit_json_bool(json, "unsound", tacit_sweep_unsound(sweep, point));
        }
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, '}');
}

static void json_failures(tacit_json *json, const tacit_sweep *sweep)
{
    tacit_json_begin(json, "failures", '[');
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++) {
        if (sweep->results[r].state != TACIT_SWEEP_FAILED)
            continue;
        tacit_json_begin(json, NULL, '{');
        tacit_json_count(json, "run", r + 1);
        json_values(json, sweep, r / sweep->seed_count);
        tacit_json_count(json, "seed", (uint64_t)sweep->seeds[r % sweep->seed_count]);
        tacit_json_text(json, "error", sweep->results[r].message ? sweep->results[r].message : "");
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

static void json_best(tacit_json *json, const tacit_sweep *sweep, tacit_sweep_metric metric)
{
    const size_t best = metric < TACIT_SWEEP_METRICS ? tacit_sweep_best(sweep, metric) : SIZE_MAX;
    if (best == SIZE_MAX) {
        tacit_json_null(json, "best");
        return;
    }
    tacit_json_begin(json, "best", '{');
    tacit_json_text(json, "metric", tacit_sweep_metric_name(metric));
    tacit_json_bool(json, "larger_is_better", tacit_sweep_up(sweep, metric));
    size_t place = 0; /* among the points that follow */
    for (size_t p = 0; p < best; p++)
        place += tacit_sweep_tried(sweep, p);
    tacit_json_count(json, "point", place);
    tacit_json_bool(json, "unsound", tacit_sweep_unsound(sweep, best));
    json_values(json, sweep, best);
    tacit_json_end(json, '}');
}

char *tacit_sweep_json(const tacit_sweep *sweep, tacit_sweep_metric metric)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.sweep/1");
    tacit_json_text(&json, "name", sweep->name);
    const size_t waiting = tacit_sweep_count(sweep, TACIT_SWEEP_WAITING);
    tacit_json_bool(&json, "complete", sweep->tuner ? sweep->tuner->over : waiting == 0);
    tacit_json_count(&json, "runs", tacit_sweep_runs(sweep) - (sweep->tuner ? waiting : 0));
    tacit_json_count(&json, "failed", tacit_sweep_count(sweep, TACIT_SWEEP_FAILED));
    tacit_json_real(&json, "coverage", TACIT_SWEEP_COVERAGE);
    tacit_json_begin(&json, "keys", '[');
    for (size_t k = 0; k < sweep->axis_count; k++)
        tacit_json_text(&json, NULL, sweep->axes[k].key);
    tacit_json_end(&json, ']');
    tacit_json_begin(&json, "seeds", '[');
    for (size_t s = 0; s < sweep->seed_count; s++)
        tacit_json_count(&json, NULL, (uint64_t)sweep->seeds[s]);
    tacit_json_end(&json, ']');
    json_best(&json, sweep, metric);
    if (sweep->tuner)
        tacit_tune_json(&json, sweep);
    tacit_json_begin(&json, "points", '[');
    for (size_t p = 0; p < sweep->point_count; p++)
        if (tacit_sweep_tried(sweep, p))
            json_point(&json, sweep, p);
    tacit_json_end(&json, ']');
    json_failures(&json, sweep);
    if (tacit_sweep_keep(sweep))
        tacit_json_text(&json, "keep", tacit_sweep_keep(sweep));
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}
