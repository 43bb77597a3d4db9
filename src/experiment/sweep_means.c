/* SPDX-License-Identifier: Apache-2.0 */
/* What a sweep found: means over seeds, their intervals, and the best point. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"
#include "math/student.h"

static const char *const metric_names[TACIT_SWEEP_METRICS] = {
    [TACIT_SWEEP_TEST] = "test",
    [TACIT_SWEEP_TEST_DEVIATION] = "test_deviation",
    [TACIT_SWEEP_VALIDATION] = "validation",
    [TACIT_SWEEP_TRAIN_LOSS] = "train_loss",
    [TACIT_SWEEP_OBJECTIVE] = "objective",
    [TACIT_SWEEP_EPSILON] = "epsilon",
    [TACIT_SWEEP_RELEASES] = "releases",
    [TACIT_SWEEP_REFUSED] = "refused",
    [TACIT_SWEEP_MESSAGES] = "messages",
    [TACIT_SWEEP_BYTES] = "bytes",
    [TACIT_SWEEP_TICKS] = "ticks",
    [TACIT_SWEEP_LOST] = "lost",
    [TACIT_SWEEP_EDGES] = "edges",
    [TACIT_SWEEP_COMPONENTS] = "components",
};

/* ---- plain questions ---- */

const char *tacit_sweep_name(const tacit_sweep *sweep)
{
    return sweep->name;
}

size_t tacit_sweep_keys(const tacit_sweep *sweep)
{
    return sweep->axis_count;
}

const char *tacit_sweep_key(const tacit_sweep *sweep, size_t key)
{
    return sweep->axes[key].key;
}

size_t tacit_sweep_points(const tacit_sweep *sweep)
{
    return sweep->point_count;
}

const char *tacit_sweep_value(const tacit_sweep *sweep, size_t point, size_t key)
{
    const uint32_t at = sweep->at[point * sweep->axis_count + key];
    return at == TACIT_SWEEP_FOREIGN ? NULL : sweep->axes[key].values.text[at];
}

size_t tacit_sweep_seeds(const tacit_sweep *sweep)
{
    return sweep->seed_count;
}

int64_t tacit_sweep_seed(const tacit_sweep *sweep, size_t seed)
{
    return sweep->seeds[seed];
}

size_t tacit_sweep_runs(const tacit_sweep *sweep)
{
    return sweep->point_count * sweep->seed_count;
}

const tacit_sweep_result *tacit_sweep_result_of(const tacit_sweep *sweep, size_t run)
{
    return &sweep->results[run];
}

size_t tacit_sweep_count(const tacit_sweep *sweep, tacit_sweep_state state)
{
    size_t count = 0;
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++)
        count += sweep->results[r].state == state;
    return count;
}

const char *tacit_sweep_score(const tacit_sweep *sweep)
{
    const char *score = NULL;
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++) {
        const tacit_sweep_result *result = &sweep->results[r];
        if (result->state != TACIT_SWEEP_DONE)
            continue;
        if (score && strcmp(score, result->score) != 0)
            return NULL;
        score = result->score;
    }
    return score;
}

const char *tacit_sweep_metric_name(tacit_sweep_metric metric)
{
    return metric_names[metric];
}

tacit_status tacit_sweep_metric_find(tacit_sweep_metric *out, const char *name, tacit_error *err)
{
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++) {
        const size_t len = strlen(metric_names[m]);
        const bool score = m == TACIT_SWEEP_TEST || m == TACIT_SWEEP_VALIDATION;
        if (strcmp(name, metric_names[m]) == 0 ||
            (score && strncmp(name, metric_names[m], len) == 0 &&
             (strcmp(name + len, "_accuracy") == 0 || strcmp(name + len, "_rmse") == 0))) {
            *out = (tacit_sweep_metric)m;
            return TACIT_OK;
        }
    }
    const char *near = tacit_nearest(name, metric_names, TACIT_SWEEP_METRICS);
    tacit_writer known = {0};
    for (int m = 0; m < TACIT_SWEEP_METRICS && !near; m++)
        tacit_write_format(&known, "%s%s", m ? ", " : "; expected one of ", metric_names[m]);
    tacit_fail(err, TACIT_EUSAGE, "unknown metric \"%.100s\"%s%s%s", name,
               near ? "; did you mean \"" : (known.text ? known.text : ""), near ? near : "",
               near ? "\"?" : "");
    tacit_writer_clear(&known);
    return TACIT_EUSAGE;
}

/* ---- intervals ---- */

tacit_interval tacit_interval_of(const double *values, size_t n)
{
    tacit_interval out = {n, NAN, NAN, NAN};
    if (n == 0)
        return out;
    bool finite = true, equal = true;
    for (size_t i = 0; i < n; i++) {
        finite = finite && isfinite(values[i]);
        equal = equal && values[i] == values[0];
    }
    /* What is the same each time has no rounding error either. */
    out.mean = equal ? values[0] : tacit_pairwise_sum(values, n) / (double)n;
    if (n < 2 || !finite)
        return out;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        square += (values[i] - out.mean) * (values[i] - out.mean);
    const double error = sqrt(square / (double)(n - 1) / (double)n);
    const double reach = equal ? 0 : tacit_student_reach(TACIT_SWEEP_COVERAGE, n - 1) * error;
    out.low = out.mean - reach;
    out.high = out.mean + reach;
    return out;
}

/* A seed without the metric leaves the point without: a mean over the others would be one of
 * something else. */
tacit_interval tacit_sweep_interval(const tacit_sweep *sweep, size_t point,
                                    tacit_sweep_metric metric)
{
    const tacit_sweep_result *results = &sweep->results[point * sweep->seed_count];
    double few[64], *values = few;
    tacit_interval out = {0, NAN, NAN, NAN};
    if (sweep->seed_count > sizeof few / sizeof *few &&
        !(values = malloc(sweep->seed_count * sizeof *values)))
        return out;
    for (size_t s = 0; s < sweep->seed_count; s++)
        if (results[s].state == TACIT_SWEEP_DONE)
            values[out.n++] = results[s].value[metric];
    out = tacit_interval_of(values, out.n);
    if (values != few)
        free(values);
    return out;
}

bool tacit_sweep_up(const tacit_sweep *sweep, tacit_sweep_metric metric)
{
    if (metric != TACIT_SWEEP_TEST && metric != TACIT_SWEEP_VALIDATION)
        return false;
    for (size_t r = 0; r < tacit_sweep_runs(sweep); r++)
        if (sweep->results[r].state == TACIT_SWEEP_DONE)
            return sweep->results[r].score_up;
    return true;
}

const tacit_sweep_result *tacit_sweep_sample(const tacit_sweep *sweep, size_t point)
{
    static const tacit_sweep_result nobody = {.score = ""};
    const tacit_sweep_result *results = &sweep->results[point * sweep->seed_count];
    for (size_t s = 0; s < sweep->seed_count; s++)
        if (results[s].state == TACIT_SWEEP_DONE)
            return &results[s];
    return &nobody;
}

const char *tacit_sweep_guarantee(const tacit_sweep *sweep, size_t point)
{
    const char *guarantee = tacit_sweep_sample(sweep, point)->guarantee;
    return guarantee ? guarantee : "";
}

bool tacit_sweep_unsound(const tacit_sweep *sweep, size_t point)
{
    return strstr(tacit_sweep_guarantee(sweep, point), TACIT_UNSOUND) != NULL;
}

size_t tacit_sweep_note(const char **notes, size_t *count, const char *guarantee)
{
    size_t k = 0;
    if (!*guarantee)
        return 0;
    while (k < *count && strcmp(notes[k], guarantee) != 0)
        k++;
    if (k == *count)
        notes[(*count)++] = guarantee;
    return k + 1;
}

size_t tacit_sweep_best(const tacit_sweep *sweep, tacit_sweep_metric metric)
{
    const double sign = tacit_sweep_up(sweep, metric) ? 1 : -1;
    size_t best = SIZE_MAX;
    double record = 0;
    bool claim = false; /* the best so far is unsound */
    const bool score = metric <= TACIT_SWEEP_VALIDATION;
    if (sweep->tuner)
        return sweep->tuner->winner;
    if (score && !tacit_sweep_score(sweep))
        return SIZE_MAX; /* an accuracy is neither above nor below an error */
    for (size_t p = 0; p < sweep->point_count; p++) {
        const tacit_interval here = tacit_sweep_interval(sweep, p, metric);
        if (here.n < sweep->seed_count || isnan(here.mean))
            continue;
        const bool unsound = tacit_sweep_unsound(sweep, p);
        if (best == SIZE_MAX || (unsound == claim ? sign * here.mean > record : claim)) {
            best = p;
            claim = unsound;
            record = sign * here.mean;
        }
    }
    return best;
}

/* ---- means.csv ---- */

static size_t failures(const tacit_sweep *sweep, size_t point)
{
    size_t count = 0;
    for (size_t s = 0; s < sweep->seed_count; s++)
        count += sweep->results[point * sweep->seed_count + s].state == TACIT_SWEEP_FAILED;
    return count;
}

char *tacit_sweep_means(const tacit_sweep *sweep)
{
    tacit_writer out = {0};
    for (size_t k = 0; k < sweep->axis_count; k++)
        tacit_write_format(&out, "%s,", sweep->axes[k].key);
    tacit_write_text(&out, "n,failed,score");
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++)
        tacit_write_format(&out, ",%s_mean,%s_low,%s_high", metric_names[m], metric_names[m],
                           metric_names[m]);
    tacit_write_text(&out, ",guarantee");
    for (size_t p = 0; p < sweep->point_count; p++) {
        if (!tacit_sweep_tried(sweep, p))
            continue;
        tacit_write_text(&out, "\n");
        for (size_t k = 0; k < sweep->axis_count; k++) {
            const char *value = tacit_sweep_value(sweep, p, k);
            tacit_sweep_field(&out, value ? value : "");
            tacit_write_text(&out, ",");
        }
        const size_t n = tacit_sweep_interval(sweep, p, TACIT_SWEEP_TEST).n;
        tacit_write_format(&out, "%zu,%zu,%s", n, failures(sweep, p),
                           tacit_sweep_sample(sweep, p)->score);
        for (int m = 0; m < TACIT_SWEEP_METRICS; m++) {
            const tacit_interval i = tacit_sweep_interval(sweep, p, (tacit_sweep_metric)m);
            const double numbers[] = {i.mean, i.low, i.high};
            for (size_t k = 0; k < 3; k++) {
                tacit_write_text(&out, ",");
                tacit_sweep_number(&out, numbers[k]);
            }
        }
        tacit_write_text(&out, ",");
        tacit_sweep_field(&out, tacit_sweep_guarantee(sweep, p));
    }
    tacit_write_text(&out, "\n");
    return tacit_writer_take(&out);
}

/* ---- words ---- */

const char *tacit_sweep_keep(const tacit_sweep *sweep)
{
    static const char *const words[][2] = {
        [TACIT_KEEP_NOTHING] = {NULL, NULL},
        [TACIT_KEEP_FINISH] = {TACIT_PEERS_SEE "this folder holds scores of models made of raw "
                                               "records: keep it to yourself",
                               TACIT_PEERS_SEE "this folder holds models made of raw records, and "
                                               "their scores: keep it to yourself"},
        [TACIT_KEEP_NOISE] = {TACIT_PEERS_SEE "this folder holds scores and the seeds of the "
                                              "noise: keep it to yourself",
                              TACIT_PEERS_SEE "this folder holds models, scores and the seeds of "
                                              "the noise: keep it to yourself"},
    };
    if (sweep->tuner && sweep->tuner->options.on >= TACIT_TUNED_PRIVATE &&
        sweep->secrecy == TACIT_KEEP_NOTHING)
        return "this folder holds scores made of private records, which no epsilon covers: keep it "
               "to yourself";
    return words[sweep->secrecy][sweep->keep_runs];
}
