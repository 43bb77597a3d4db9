/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweeps: what a grid expands to, what is refused before anything runs, that neither threads nor
 * interruptions change a byte, and intervals against numbers computed elsewhere.
 */
#include "testing.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/session.h"
#include "experiment/sweep.h"
#include "math/student.h"
#include "tacit/sweep.h"

static const char small[] = "run: {name: small, time: 4, every: 1, seed: 5}\n"
                            "data: {agents: 12, dimension: 4, test-records: 20, "
                            "validation-records: 10, min-records: 4, max-records: 8}\n"
                            "graph: {kind: k-out, k: 2}\n";

/* ---- helpers ---- */

/* Ends in NULL. */
#define VARY(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NOTHING ((const char *const[]){NULL})

static tacit_status plan_of(tacit_sweep **out, const char *yaml, const char *const *vary,
                            const char *seeds, bool keep, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_sweep_grid grid = {.vary = vary, .seeds = seeds, .keep_runs = keep};
    while (vary[grid.vary_count])
        grid.vary_count++;
    *out = NULL;
    tacit_status status = tacit_config_parse(&config, "small.yaml", yaml, strlen(yaml), err);
    if (!status)
        status = tacit_sweep_plan(out, &config, &grid, err);
    tacit_config_clear(&config);
    assert_true(status ? *out == NULL : *out != NULL);
    return status;
}

static tacit_sweep *must_plan(const char *yaml, const char *const *vary, const char *seeds)
{
    tacit_sweep *sweep;
    tacit_error err = {0};
    check_ok(plan_of(&sweep, yaml, vary, seeds, false, &err), &err);
    return sweep;
}

static tacit_status run_it(tacit_sweep *sweep, const char *folder, bool resume, uint32_t threads,
                           tacit_error *err)
{
    return tacit_sweep_run(
        sweep, &(tacit_sweep_request){.folder = folder, .resume = resume, .threads = threads}, err);
}

static char *slurp(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void spill(const char *folder, const char *name, const char *text, size_t len)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    fclose(file);
}

static void same_files(const char *a, const char *b)
{
    const char *const names[] = {"sweep.yaml", "runs.csv", "means.csv", "report.html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *one = slurp(a, names[i]), *other = slurp(b, names[i]);
        assert_non_null(one);
        assert_non_null(other);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
}

/* The values of one key over all points, "a b c"; "-" where a point does not have it. */
static void column(const tacit_sweep *sweep, size_t key, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t p = 0; p < tacit_sweep_points(sweep) && used < size; p++) {
        const char *value = tacit_sweep_value(sweep, p, key);
        used +=
            (size_t)snprintf(out + used, size - used, "%s%s", p ? " " : "", value ? value : "-");
    }
}

static void check_column(const tacit_sweep *sweep, size_t key, const char *expected)
{
    char got[1000];
    column(sweep, key, got, sizeof got);
    assert_string_equal(got, expected);
}

static void check_expansion(const char *vary, const char *expected)
{
    tacit_sweep *sweep = must_plan(small, VARY(vary), "1");
    check_column(sweep, 0, expected);
    tacit_sweep_free(sweep);
}

/* ---- numbers ---- */

/* Computed with 40 digits from the regularised incomplete beta function. */
static void quantiles(void **state)
{
    (void)state;
    static const struct {
        double coverage;
        uint64_t freedom;
        double reach;
    } known[] = {
        {.95, 1, 12.7062047361747046},
        {.95, 2, 4.30265272974946385},
        {.95, 3, 3.18244630528370959},
        {.95, 4, 2.77644510519779436},
        {.95, 5, 2.57058183563631551},
        {.95, 9, 2.26215716279820554},
        {.95, 10, 2.22813885198627475},
        {.95, 29, 2.0452296421327043},
        {.95, 30, 2.04227245630123831},
        {.95, 100, 1.98397151852355229},
        {.95, 1000, 1.96233908082640848},
        {.95, 99999, 1.95998770777184478},
        {.5, 1, 1.0},
        {.9, 3, 2.35336343480182388},
        {.99, 2, 9.92484320091829311},
        {.999, 7, 5.40788252086172524},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        double reach = tacit_student_reach(known[i].coverage, known[i].freedom);
        assert_true(fabs(reach - known[i].reach) < 1e-10 * known[i].reach);
        assert_true(fabs(tacit_student_inside(reach, known[i].freedom) - known[i].coverage) <
                    1e-12);
    }
    assert_true(isnan(tacit_student_reach(.95, 0)));
    assert_true(isnan(tacit_student_reach(0, 5)));
    assert_true(isnan(tacit_student_reach(1, 5)));
}

static void intervals(void **state)
{
    (void)state;
    /* Variance 2.5 of five: the half width is t_4 sqrt(2.5 / 5). */
    tacit_interval i = tacit_interval_of((const double[]){1, 2, 3, 4, 5}, 5);
    assert_int_equal(i.n, 5);
    assert_true(fabs(i.mean - 3) < 1e-15);
    assert_true(fabs(i.high - 4.96324316147756) < 1e-12);
    assert_true(fabs(i.low - 1.03675683852244) < 1e-12);
    /* Two values: t_1 times half their distance. */
    i = tacit_interval_of((const double[]){0, 2}, 2);
    assert_true(fabs(i.high - 1 - 12.7062047361747046) < 1e-11);
    /* Far from zero nothing is lost. */
    i = tacit_interval_of((const double[]){1e9 + 1, 1e9 + 2, 1e9 + 3}, 3);
    assert_true(fabs(i.high - i.mean - 4.30265272974946385 / sqrt(3)) < 1e-6);
    /* One value has no interval, equal ones have an exact one. */
    i = tacit_interval_of((const double[]){7}, 1);
    assert_true(i.mean == 7 && isnan(i.low) && isnan(i.high));
    i = tacit_interval_of((const double[]){.1, .1, .1}, 3);
    assert_true(i.mean == .1 && i.low == .1 && i.high == .1);
    i = tacit_interval_of((const double[]){INFINITY, INFINITY}, 2);
    assert_true(isinf(i.mean) && isnan(i.low) && isnan(i.high));
    i = tacit_interval_of((const double[]){1, NAN}, 2);
    assert_true(isnan(i.mean) && isnan(i.low));
    i = tacit_interval_of(NULL, 0);
    assert_true(i.n == 0 && isnan(i.mean));
}

/* ---- plans ---- */

static void ranges(void **state)
{
    (void)state;
    check_expansion("graph.k=5..9", "5 6 7 8 9");
    check_expansion("graph.k=5..50:5", "5 10 15 20 25 30 35 40 45 50");
    check_expansion("graph.k=5..9:3", "5 8");
    check_expansion("graph.k=4..4", "4");
    check_expansion("protocol.mu=0.1..0.5:0.1", "0.1 0.2 0.3 0.4 0.5");
    check_expansion("protocol.mu=0.01..100:x10", "0.01 0.1 1 10 100");
    check_expansion("protocol.mu=1..20:x2", "1 2 4 8 16");
    check_expansion("protocol.mu=1e-3..1e3:x1e3", "0.001 1 1000");
    check_expansion("protocol.mu=7,1..3,0.5", "7 1 2 3 0.5");
    check_expansion("protocol.mu=1e2,5", "100 5");
    check_expansion("graph.kind=k-out,similarity", "k-out similarity");
    check_expansion("data.bias=no,yes", "false true");
    /* Two dots of a path are no range. */
    check_expansion("data.path=../a.csv,../b.csv", "../a.csv ../b.csv");
}

static void grids(void **state)
{
    (void)state;
    tacit_sweep *sweep = must_plan(small, VARY("graph.k=2,3", "protocol.mu=1,10,100"), "3");
    assert_int_equal(tacit_sweep_points(sweep), 6);
    assert_int_equal(tacit_sweep_runs(sweep), 18);
    check_column(sweep, 0, "2 2 2 3 3 3");
    check_column(sweep, 1, "1 10 100 1 10 100");
    assert_string_equal(tacit_sweep_key(sweep, 1), "protocol.mu");
    assert_string_equal(tacit_sweep_name(sweep), "small");
    /* The configuration of a run: point 4, seed 2. */
    tacit_config config;
    tacit_config_init(&config);
    tacit_error err = {0};
    check_ok(tacit_sweep_config(sweep, 4 * 3 + 2, &config, &err), &err);
    assert_string_equal(tacit_config_get(&config, "graph.k")->value, "3");
    assert_string_equal(tacit_config_get(&config, "protocol.mu")->value, "10");
    assert_string_equal(tacit_config_get(&config, "run.seed")->value, "7");
    assert_string_equal(tacit_config_get(&config, "run.time")->value, "4");
    tacit_config_clear(&config);
    tacit_sweep_free(sweep);
    /* No key at all: repetitions of the experiment. */
    sweep = must_plan(small, NOTHING, "2");
    assert_int_equal(tacit_sweep_points(sweep), 1);
    assert_int_equal(tacit_sweep_runs(sweep), 2);
    tacit_sweep_free(sweep);
}

static void check_seeds(const char *seeds, const char *expected)
{
    tacit_sweep *sweep = must_plan(small, NOTHING, seeds);
    char got[200] = "";
    size_t used = 0;
    for (size_t i = 0; i < tacit_sweep_seeds(sweep); i++)
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%lld", i ? " " : "",
                                 (long long)tacit_sweep_seed(sweep, i));
    assert_string_equal(got, expected);
    tacit_sweep_free(sweep);
}

static void seeds(void **state)
{
    (void)state;
    check_seeds("3", "5 6 7"); /* from run.seed on */
    check_seeds("1", "5");
    check_seeds("3..7", "3 4 5 6 7");
    check_seeds("9..9", "9");
    check_seeds("1,5,100", "1 5 100");
    check_seeds("0..4:2,9007199254740992", "0 2 4 9007199254740992");
}

/* A key that a point's protocol does not have is left out, once. */
static void foreign_keys(void **state)
{
    (void)state;
    tacit_sweep *sweep =
        must_plan(small, VARY("protocol.name=cd,alone,model-propagation", "protocol.mu=1,10"), "1");
    check_column(sweep, 0, "cd cd alone model-propagation model-propagation");
    check_column(sweep, 1, "1 10 - 1 10");
    tacit_sweep_free(sweep);
    /* The order of the flags does not matter, only that of the points. */
    sweep = must_plan(
        small, VARY("protocol.mu=1,10", "protocol.start=zero,local", "protocol.name=alone,cd"),
        "1");
    check_column(sweep, 0, "- 1 1 10 10");
    check_column(sweep, 1, "- zero local zero local");
    check_column(sweep, 2, "alone cd cd cd cd");
    tacit_sweep_free(sweep);
    /* What the file says of one of the protocols is not held against the others... */
    char yaml[1000];
    snprintf(yaml, sizeof yaml, "%sprotocol: {name: cd, mu: 3}\n", small);
    sweep = must_plan(yaml, VARY("protocol.name=cd,alone"), "1");
    tacit_config config;
    tacit_config_init(&config);
    tacit_error err = {0};
    check_ok(tacit_sweep_config(sweep, 0, &config, &err), &err);
    assert_string_equal(tacit_config_get(&config, "protocol.mu")->value, "3");
    check_ok(tacit_sweep_config(sweep, 1, &config, &err), &err);
    assert_null(tacit_config_get(&config, "protocol.mu"));
    tacit_config_clear(&config);
    tacit_sweep_free(sweep);
    /* ... but what belongs to none of them is a mistake. */
    check_fails(plan_of(&sweep, yaml, VARY("protocol.name=global,alone"), "1", false, &err),
                TACIT_EINPUT, &err, "\"protocol.mu\" belongs to");
}

static void refusals(void **state)
{
    (void)state;
    static const struct {
        const char *vary, *seeds;
        tacit_status status;
        const char *words;
    } wrong[] = {
        {"protocol.nu=1", "1", TACIT_EUSAGE, "did you mean \"protocol.mu\"?"},
        {"protocl.mu=1", "1", TACIT_EUSAGE, "did you mean \"protocol.mu\"?"},
        {"mu=1", "1", TACIT_EUSAGE, "--vary: unknown key \"mu\"; did you mean \"protocol.mu\"?"},
        {"protocol.mu", "1", TACIT_EUSAGE, "is not key=values"},
        {"=1", "1", TACIT_EUSAGE, "is not key=values"},
        {"protocol.mu=", "1", TACIT_EUSAGE, "has an empty value"},
        {"protocol.mu=1,,2", "1", TACIT_EUSAGE, "has an empty value"},
        {"protocol.mu=1,2,", "1", TACIT_EUSAGE, "has an empty value"},
        {"protocol.mu=1,two", "1", TACIT_EUSAGE, "\"protocol.mu\" is \"two\"; expected a number"},
        {"protocol.mu=-1", "1", TACIT_EUSAGE, "\"protocol.mu\" is \"-1\"; expected a number"},
        {"protocol.mu=1,1.0", "1", TACIT_EUSAGE, "has the value \"1\" twice"},
        {"graph.k=1..5,3", "1", TACIT_EUSAGE, "has the value \"3\" twice"},
        {"graph.k=1..2:0.5", "1", TACIT_EUSAGE, "\"graph.k\" is \"1.5\"; expected an integer"},
        {"graph.kind=ringg", "1", TACIT_EUSAGE, "\"graph.kind\" is \"ringg\""},
        {"protocol.name=cdd,alone", "1", TACIT_EUSAGE, "did you mean \"cd\"?"},
        {"protocol.mu=1..", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=..5", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=1..2..3", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=1..5:", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=1..5:x", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=1..inf", "1", TACIT_EUSAGE, "no range"},
        {"protocol.mu=5..1", "1", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=1..5:0", "1", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=1..5:-1", "1", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=0..5:x10", "1", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=1..5:x1", "1", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=0..1e300:1e-300", "1", TACIT_EUSAGE, "more than 100000 values"},
        {"protocol.mu=1..100001", "1", TACIT_EUSAGE, "more than 100000 values"},
        {"protocol.mu=1..60000,100000..160000", "1", TACIT_EUSAGE, "more than 100000 values"},
        {"protocol.mu=1..50001", "2", TACIT_EUSAGE, "100002 runs"},
        {"run.seed=1,2", "1", TACIT_EUSAGE, "use --seeds"},
        {"run.name=a,b", "1", TACIT_EUSAGE, "changes no result"},
        {"protocol.mu=1", "0", TACIT_EUSAGE, "\"--seeds\" is \"0\""},
        {"protocol.mu=1", "-3", TACIT_EUSAGE, "\"--seeds\" is \"-3\""},
        {"protocol.mu=1", "many", TACIT_EUSAGE, "\"--seeds\" is \"many\""},
        {"protocol.mu=1", "1.5", TACIT_EUSAGE, "\"run.seed\" is \"1.5\"; expected an integer"},
        {"protocol.mu=1", "1,1", TACIT_EUSAGE, "twice"},
        {"protocol.mu=1", "7..3", TACIT_EUSAGE, "an empty range"},
        {"protocol.mu=1", "200000", TACIT_EUSAGE, "\"--seeds\" is \"200000\""},
        /* Only the whole configuration is wrong: half a million rows become ten million. */
        {"run.time=1e3,1e9", "1", TACIT_EINPUT, "at run.time=1e9: run.every"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_sweep *sweep;
        tacit_error err = {0};
        check_fails(plan_of(&sweep, small, VARY(wrong[i].vary), wrong[i].seeds, false, &err),
                    wrong[i].status, &err, wrong[i].words);
    }
    tacit_sweep *sweep;
    tacit_error err = {0};
    check_fails(plan_of(&sweep, small, VARY("graph.k=1", "graph.k=2"), "1", false, &err),
                TACIT_EUSAGE, &err, "\"graph.k\" comes twice");
    check_fails(plan_of(&sweep, small, VARY("protocol.name=alone,global", "protocol.mu=1"), "1",
                        false, &err),
                TACIT_EUSAGE, &err, "does not belong to protocol \"alone\" or the others");
    /* Sizes that overflow when multiplied. */
    check_fails(plan_of(&sweep, small,
                        VARY("graph.k=1..100000", "protocol.mu=1..100000", "run.time=1..100000",
                             "data.agents=2..100001"),
                        "100000", false, &err),
                TACIT_EUSAGE, &err, "runs");
    /* A file that is wrong by itself: the place is that in the file. */
    check_fails(plan_of(&sweep, "graph:\n  k: two\n", VARY("protocol.mu=1"), "1", false, &err),
                TACIT_EINPUT, &err, "small.yaml:2:6: \"graph.k\" is \"two\"");
}

/* ---- runs ---- */

/* The figures of a run are those of the same experiment run by itself. */
static void same_as_alone(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(small, VARY("protocol.mu=1,100"), "2");
    check_ok(run_it(sweep, NULL, false, 2, &err), &err);
    for (size_t r = 0; r < 4; r++) {
        tacit_config config;
        tacit_experiment x;
        tacit_session *session;
        tacit_snapshot end;
        tacit_config_init(&config);
        check_ok(tacit_sweep_config(sweep, r, &config, &err), &err);
        check_ok(tacit_experiment_init(&x, &config, &err), &err);
        check_ok(tacit_session_create(&session, &x, 1, &err), &err);
        check_ok(tacit_session_run(session, &(tacit_run_request){0}, &err), &err);
        check_ok(tacit_session_measure(session, &end, &err), &err);
        const tacit_sweep_result *result = tacit_sweep_result_of(sweep, r);
        assert_int_equal(result->state, TACIT_SWEEP_DONE);
        assert_string_equal(result->score, "accuracy");
        assert_true(result->value[TACIT_SWEEP_TEST] == end.test);
        assert_true(result->value[TACIT_SWEEP_VALIDATION] == end.validation);
        assert_true(result->value[TACIT_SWEEP_OBJECTIVE] == end.objective);
        assert_true(isinf(result->value[TACIT_SWEEP_EPSILON]));
        tacit_runtime *rt = tacit_session_runtime(session);
        assert_true(result->value[TACIT_SWEEP_MESSAGES] == (double)rt->ops->traffic(rt).messages);
        tacit_session_free(session);
        tacit_experiment_clear(&x);
        tacit_config_clear(&config);
    }
    tacit_interval mean = tacit_sweep_interval(sweep, 1, TACIT_SWEEP_TEST);
    const double both[] = {tacit_sweep_result_of(sweep, 2)->value[TACIT_SWEEP_TEST],
                           tacit_sweep_result_of(sweep, 3)->value[TACIT_SWEEP_TEST]};
    assert_true(mean.mean == tacit_interval_of(both, 2).mean);
    tacit_sweep_free(sweep);
}

static const char *const grid[] = {"protocol.name=cd,alone", "protocol.mu=1,100", NULL};

static void write_whole(const char *folder, uint32_t threads)
{
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(small, grid, "3");
    check_ok(run_it(sweep, folder, false, threads, &err), &err);
    tacit_sweep_free(sweep);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    write_whole("one", 1);
    write_whole("two", 2);
    write_whole("nine", 9);
    same_files("one", "two");
    same_files("one", "nine");
    char *rows = slurp("one", "runs.csv");
    size_t lines = 0;
    for (const char *c = rows; *c; c++)
        lines += *c == '\n';
    assert_int_equal(lines, 1 + 9);
    assert_non_null(strstr(rows, "\n7,alone,,5,ok,accuracy,higher,"));
    free(rows);
}

/* Stop, or leave without a word, when so many runs are done. */
typedef struct watcher {
    size_t at;
    bool crash;
    tacit_stop stop;
} watcher;

static void watch(void *ctx, size_t finished, size_t total, double share)
{
    watcher *w = ctx;
    assert_true(finished <= total && share >= 0 && share <= 1 + 1e-12);
    if (finished >= w->at && w->crash)
        _exit(99);
    if (finished >= w->at)
        w->stop = 1;
}

static void interrupted_and_resumed(void **state)
{
    (void)state;
    write_whole("whole", 2);
    /* Of nine runs on two threads one may end while the other stops: leave more than that. */
    for (size_t at = 0; at < 8; at += 2) {
        char folder[20];
        snprintf(folder, sizeof folder, "cut%zu", at);
        tacit_error err = {0};
        tacit_sweep *sweep = must_plan(small, grid, "3");
        watcher w = {.at = at};
        const tacit_sweep_request request = {
            .folder = folder, .threads = 2, .stop = &w.stop, .progress = watch, .progress_ctx = &w};
        check_fails(tacit_sweep_run(sweep, &request, &err), TACIT_EINTERRUPTED, &err,
                    "interrupted with");
        tacit_sweep_free(sweep);
        char *means = slurp(folder, "means.csv");
        assert_null(means);
        check_ok(tacit_sweep_read(&sweep, folder, &err), &err);
        check_ok(run_it(sweep, folder, true, 1, &err), &err);
        same_files("whole", folder);
        tacit_sweep_free(sweep);
    }
}

/* A process that dies without a word when `at` runs are done. */
static void die(const char *folder, bool resume, size_t at)
{
    pid_t child = fork();
    if (child == 0) {
        tacit_sweep *sweep = must_plan(small, grid, "3");
        watcher w = {.at = at, .crash = true};
        const tacit_sweep_request request = {.folder = folder,
                                             .resume = resume,
                                             .threads = 1,
                                             .progress = watch,
                                             .progress_ctx = &w};
        tacit_sweep_run(sweep, &request, NULL);
        _exit(1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 99);
}

/* It leaves rows, of which the last may be cut anywhere; and the next one may die too. */
static void killed_and_resumed(void **state)
{
    (void)state;
    write_whole("sound", 2);
    die("dead", false, 5);
    char *rows = slurp("dead", "runs.csv");
    size_t full = strlen(rows), cuts = 0;
    for (size_t len = full;; len = len > 61 ? len - 61 : 0, cuts++) {
        spill("dead", "runs.csv", rows, len);
        if (cuts % 4 == 1)
            die("dead", true, 7);
        tacit_error err = {0};
        tacit_sweep *sweep;
        check_ok(tacit_sweep_read(&sweep, "dead", &err), &err);
        check_ok(run_it(sweep, "dead", true, 2, &err), &err);
        same_files("sound", "dead");
        tacit_sweep_free(sweep);
        if (len == 0)
            break;
    }
    free(rows);
}

static void edits_are_noticed(void **state)
{
    (void)state;
    write_whole("mine", 2);
    tacit_error err = {0};
    tacit_sweep *sweep, *other = must_plan(small, VARY("protocol.mu=1,100"), "3");
    check_ok(tacit_sweep_read(&sweep, "mine", &err), &err);
    assert_true(tacit_sweep_same(sweep, sweep));
    assert_false(tacit_sweep_same(sweep, other));
    check_fails(run_it(other, "mine", true, 1, &err), TACIT_EVERIFY, &err, "is another plan");
    check_fails(run_it(other, "mine", false, 1, &err), TACIT_EINPUT, &err, "already exists");
    tacit_sweep_free(other);
    /* One character of the plan. */
    char *plan = slurp("mine", "sweep.yaml");
    const char *const spots[] = {"time: \"4", "protocol.mu=1,1", "\"5..7", "vary-2"};
    for (size_t i = 0; i < sizeof spots / sizeof *spots; i++) {
        char *at = strstr(plan, spots[i]);
        assert_non_null(at);
        at += strlen(spots[i]) - 1;
        char was = *at;
        *at = was == '9' ? '8' : '9';
        spill("mine", "sweep.yaml", plan, strlen(plan));
        check_fails(tacit_sweep_read(&other, "mine", &err), TACIT_EVERIFY, &err, "was edited");
        *at = was;
    }
    spill("mine", "sweep.yaml", plan, strlen(plan));
    free(plan);
    /* Rows that are not of this plan. */
    char *rows = slurp("mine", "runs.csv");
    const char *const marks[] = {"run,protocol",
                                 "\n2,cd,",
                                 "\n3,cd,1,",
                                 "\n4,cd,100,5,o",
                                 "\n5,cd,100,6,ok,accuracy,h",
                                 "\n7,alone,,5,ok,accuracy,higher,0"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *at = strstr(rows, marks[i]);
        assert_non_null(at);
        at += strlen(marks[i]) - 1;
        char was = *at;
        *at = 'q';
        spill("mine", "runs.csv", rows, strlen(rows));
        check_fails(run_it(sweep, "mine", true, 1, &err), TACIT_EVERIFY, &err,
                    "is not a row of this sweep");
        *at = was;
    }
    free(rows);
    tacit_sweep_free(sweep);
}

/* One point's budget refuses, one point's data is not there: the others go on. */
static void failures(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(small, VARY("privacy.epsilon=1,inf"), "2");
    check_fails(run_it(sweep, "poor", false, 2, &err), TACIT_NO, &err, "2 of 4 runs failed");
    assert_int_equal(tacit_sweep_count(sweep, TACIT_SWEEP_FAILED), 2);
    assert_int_equal(tacit_sweep_count(sweep, TACIT_SWEEP_DONE), 2);
    assert_non_null(strstr(tacit_sweep_result_of(sweep, 0)->message, "budget"));
    assert_int_equal(tacit_sweep_interval(sweep, 0, TACIT_SWEEP_TEST).n, 0);
    assert_int_equal(tacit_sweep_interval(sweep, 1, TACIT_SWEEP_TEST).n, 2);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 1);
    char *json = tacit_sweep_json(sweep, TACIT_SWEEP_VALIDATION);
    assert_non_null(strstr(json, "\"failed\": 2"));
    free(json);
    tacit_sweep_free(sweep);
    /* Resumed, they are tried again, and the files are the same. */
    char *rows = slurp("poor", "runs.csv"), *means = slurp("poor", "means.csv");
    check_ok(tacit_sweep_read(&sweep, "poor", &err), &err);
    check_fails(run_it(sweep, "poor", true, 1, &err), TACIT_NO, &err, "2 of 4 runs failed");
    char *again = slurp("poor", "runs.csv"), *means_again = slurp("poor", "means.csv");
    assert_string_equal(rows, again);
    assert_string_equal(means, means_again);
    free(rows);
    free(again);
    free(means);
    free(means_again);
    tacit_sweep_free(sweep);
    /* A file that comes to be. */
    const char yaml[] = "run: {time: 1}\ndata: {source: csv, path: late.csv, agent-column: a, "
                        "label-column: y}\ngraph: {kind: complete}\n";
    const char csv[] = "a,x,y\n1,0.5,1\n1,-0.5,-1\n2,0.4,1\n2,-0.3,-1\n";
    sweep = must_plan(yaml, VARY("protocol.mu=1,2"), "1");
    check_fails(run_it(sweep, "late", false, 2, &err), TACIT_NO, &err, "2 of 2 runs failed");
    assert_non_null(strstr(tacit_sweep_result_of(sweep, 1)->message, "late.csv"));
    spill(".", "late.csv", csv, strlen(csv));
    check_ok(run_it(sweep, "late", true, 2, &err), &err);
    tacit_sweep_free(sweep);
}

/* Squared loss: a smaller error is better, and seeds without validation records have no best. */
static void best_points(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(small, VARY("model.loss=squared", "run.time=0,20"), "2");
    check_ok(run_it(sweep, NULL, false, 2, &err), &err);
    assert_string_equal(tacit_sweep_score(sweep), "rmse");
    assert_false(tacit_sweep_up(sweep, TACIT_SWEEP_VALIDATION));
    double start = tacit_sweep_interval(sweep, 0, TACIT_SWEEP_VALIDATION).mean;
    double end = tacit_sweep_interval(sweep, 1, TACIT_SWEEP_VALIDATION).mean;
    assert_true(end != start);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), end < start);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_MESSAGES), 0);
    tacit_sweep_free(sweep);

    sweep = must_plan(small, VARY("run.time=0,20"), "2");
    check_ok(run_it(sweep, NULL, false, 2, &err), &err);
    assert_true(tacit_sweep_up(sweep, TACIT_SWEEP_VALIDATION));
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 1);
    tacit_sweep_free(sweep);

    sweep = must_plan(small, VARY("data.validation-records=0,10"), "2");
    check_ok(run_it(sweep, NULL, false, 2, &err), &err);
    assert_true(isnan(tacit_sweep_interval(sweep, 0, TACIT_SWEEP_VALIDATION).mean));
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 1);
    tacit_sweep_free(sweep);

    /* An accuracy and an error do not compare. */
    sweep = must_plan(small, VARY("model.loss=squared,logistic"), "1");
    check_ok(run_it(sweep, NULL, false, 2, &err), &err);
    assert_null(tacit_sweep_score(sweep));
    assert_true(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION) == SIZE_MAX);
    assert_true(tacit_sweep_best(sweep, TACIT_SWEEP_TRAIN_LOSS) != SIZE_MAX);
    tacit_sweep_free(sweep);

    tacit_sweep_metric metric;
    check_ok(tacit_sweep_metric_find(&metric, "validation_accuracy", &err), &err);
    assert_int_equal(metric, TACIT_SWEEP_VALIDATION);
    check_fails(tacit_sweep_metric_find(&metric, "tset", &err), TACIT_EUSAGE, &err,
                "did you mean \"test\"?");
    check_fails(tacit_sweep_metric_find(&metric, "elephants", &err), TACIT_EUSAGE, &err,
                "expected one of test, test_deviation");
}

/* Survivors of a point that lost a seed are not compared with whole points. */
static void best_of_survivors(void **state)
{
    (void)state;
    tacit_sweep *sweep = must_plan(small, VARY("protocol.mu=1,10,100"), "2");
    const double validation[] = {0.99, 0, 0.5, 0.6, 0.6, 0.7};
    for (size_t r = 0; r < 6; r++) {
        tacit_sweep_result *result = &sweep->results[r];
        result->state = r == 1 ? TACIT_SWEEP_FAILED : TACIT_SWEEP_DONE;
        result->score_up = true;
        snprintf(result->score, sizeof result->score, "accuracy");
        result->value[TACIT_SWEEP_VALIDATION] = validation[r];
        result->value[TACIT_SWEEP_TEST] = 0.5; /* equal: the first counts */
    }
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 2);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_TEST), 1);
    tacit_interval i = tacit_sweep_interval(sweep, 0, TACIT_SWEEP_VALIDATION);
    assert_true(i.n == 1 && i.mean == 0.99 && isnan(i.low));
    tacit_sweep_free(sweep);
}

/* A claim is no guarantee: it beats nothing but other claims. */
static void best_is_sound(void **state)
{
    (void)state;
    static const char *const guarantee[] = {
        "delta 1e-05; not counted: nothing clips " TACIT_UNSOUND, "delta 1e-05", "delta 1e-05",
        "delta 1e-06; not counted: nothing clips " TACIT_UNSOUND};
    const double validation[] = {0.8, 0.5, 0.6, 0.9};
    const bool unsound[] = {true, false, false, true};
    const size_t number[] = {1, 2, 2, 3};
    const char *notes[4];
    size_t count = 0;
    tacit_sweep *sweep = must_plan(small, VARY("protocol.mu=1,10,100,1000"), "1");
    for (size_t r = 0; r < 4; r++) {
        tacit_sweep_result *result = &sweep->results[r];
        result->state = TACIT_SWEEP_DONE;
        result->score_up = true;
        snprintf(result->score, sizeof result->score, "accuracy");
        result->value[TACIT_SWEEP_VALIDATION] = validation[r];
        result->value[TACIT_SWEEP_EPSILON] = 1;
        result->guarantee = strdup(guarantee[r]);
        assert_true(tacit_sweep_unsound(sweep, r) == unsound[r]);
        assert_int_equal(tacit_sweep_note(notes, &count, tacit_sweep_guarantee(sweep, r)),
                         number[r]);
    }
    assert_int_equal(count, 3);
    assert_int_equal(tacit_sweep_note(notes, &count, ""), 0);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 2);
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_EPSILON), 1);
    char *page = tacit_sweep_page(sweep);
    assert_non_null(page);
    assert_non_null(strstr(page, "2 of 4 points are UNSOUND"));
    assert_non_null(strstr(page, "epsilon 1 [3] UNSOUND"));
    assert_non_null(strstr(page, "epsilon 1 [2], "));
    assert_non_null(strstr(page, "[3] epsilon at delta 1e-06"));
    free(page);
    for (size_t r = 1; r < 3; r++)
        sweep->results[r].state = TACIT_SWEEP_WAITING;
    assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_VALIDATION), 3); /* among its like */
    tacit_sweep_free(sweep);
}

/* Run folders for each, interrupted with checkpoints in them. */
static void kept_runs(void **state)
{
    (void)state;
    tacit_error err = {0};
    const char *const folders[] = {"kept", "kept-cut"};
    for (size_t k = 0; k < 2; k++) {
        tacit_sweep *sweep;
        watcher w = {.at = k ? 2 : 100};
        const tacit_sweep_request request = {.folder = folders[k],
                                             .threads = 2,
                                             .stop = &w.stop,
                                             .progress = watch,
                                             .progress_ctx = &w};
        check_ok(plan_of(&sweep, small, VARY("protocol.mu=1,100"), "2", true, &err), &err);
        tacit_status status = tacit_sweep_run(sweep, &request, &err);
        assert_int_equal(status, k ? TACIT_EINTERRUPTED : TACIT_OK);
        tacit_sweep_free(sweep);
    }
    tacit_sweep *sweep;
    check_ok(tacit_sweep_read(&sweep, "kept-cut", &err), &err);
    /* Left behind by a process that was killed. */
    mkdir("kept-cut/runs/000004", 0777);
    spill("kept-cut/runs/000004", "metrics.csv.partial", "time", 4);
    check_ok(run_it(sweep, "kept-cut", true, 2, &err), &err);
    tacit_sweep_free(sweep);
    same_files("kept", "kept-cut");
    for (int r = 1; r <= 4; r++) {
        const char *const names[] = {"config.yaml", "summary.json", "metrics.csv"};
        for (size_t i = 0; i < 3; i++) {
            char a[60], b[60];
            snprintf(a, sizeof a, "kept/runs/%06d", r);
            snprintf(b, sizeof b, "kept-cut/runs/%06d", r);
            char *one = slurp(a, names[i]), *other = slurp(b, names[i]);
            assert_non_null(one);
            assert_non_null(other);
            assert_string_equal(one, other);
            free(one);
            free(other);
        }
        assert_int_not_equal(access("kept-cut/runs/000001/checkpoint.bin", F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(intervals),
        cmocka_unit_test(ranges),
        cmocka_unit_test(grids),
        cmocka_unit_test(seeds),
        cmocka_unit_test(foreign_keys),
        cmocka_unit_test(refusals),
        cmocka_unit_test(same_as_alone),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(interrupted_and_resumed),
        cmocka_unit_test(killed_and_resumed),
        cmocka_unit_test(edits_are_noticed),
        cmocka_unit_test(failures),
        cmocka_unit_test(best_points),
        cmocka_unit_test(best_of_survivors),
        cmocka_unit_test(best_is_sound),
        cmocka_unit_test(kept_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
