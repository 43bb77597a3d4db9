/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A million agents: 20 features, 8 records, 10 neighbours each, through the session that
 * `tacit run` uses: build, one tick each, a checkpoint on the way, models, ledger, report.
 *
 *   memory   the peak of the whole process (VmHWM) against what must be there in any case:
 *            the bytes of records, models and graph
 *   tick     what a tick costs from a thousand to a million agents, against the cost at
 *            100,000, which is out of every cache: flat from there on is what we want
 *   seconds  of building and running, against summing the same number of bytes once
 *
 * Each size runs in a process of its own: a peak is never taken back.
 */
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "tacit/tacit.h"

enum { FEATURES = 20, RECORDS = 8, NEIGHBOURS = 10 };

/* What a child tells its parent. */
typedef struct findings {
    double peak, needed; /* bytes */
    double build, run;   /* seconds */
    double report;       /* bytes of report.html */
    double tick;         /* seconds */
    double ticks;
} findings;

static tacit_session *build(tacit_experiment *x, uint32_t agents, const char *scalar,
                            uint32_t threads, double time, double checkpoint)
{
    char text[600];
    int len = snprintf(text, sizeof text,
                       "run: {name: million, time: %g, every: 0, checkpoint: %g}\n"
                       "data: {agents: %u, dimension: %d, min-records: %d, max-records: %d,\n"
                       "       test-records: 0, validation-records: 0}\n"
                       "graph: {kind: k-regular, k: %d}\n"
                       "model: {scalar: %s}\n",
                       time, checkpoint, agents, FEATURES, RECORDS, RECORDS, NEIGHBOURS, scalar);
    tacit_error err = {0};
    tacit_config config;
    tacit_config_init(&config);
    bench_must(tacit_config_parse(&config, "bench", text, (size_t)len, &err), &err);
    bench_must(tacit_experiment_init(x, &config, &err), &err);
    tacit_config_clear(&config);
    tacit_session *session = NULL;
    bench_must(tacit_session_create(&session, x, threads, &err), &err);
    return session;
}

static double needed_bytes(const tacit_session *session, const char *scalar)
{
    const tacit_graph *g = tacit_session_graph(session);
    const double number = strcmp(scalar, "f32") == 0 ? 4 : 8;
    const double models = (double)g->agents * FEATURES * number;
    const double graph =
        (double)(g->agents + 1) * sizeof *g->row + (double)g->agents * sizeof *g->degree +
        (double)g->entries * (sizeof *g->neighbour + sizeof *g->weight + sizeof *g->mirror);
    const double records = (double)g->agents * RECORDS * (FEATURES + 1) * number;
    return records + models + graph;
}

static double file_bytes(const char *folder, const char *name)
{
    char path[300];
    struct stat about = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &about) == 0 ? (double)about.st_size : -1;
}

static void remove_folder(const char *folder)
{
    static const char *const names[] = {
        "config.yaml", "metrics.csv", "summary.json", "ledger.jsonl", "models.npy",
        "report.html", "agents.csv",  "sizes.csv",    "degrees.csv",  "edges.csv"};
    char path[300];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* The whole way of a run, one tick each. */
static findings whole_run(uint32_t agents, const char *scalar)
{
    tacit_error err = {0};
    tacit_experiment x;
    findings f = {0};
    char folder[] = "/tmp/tacit-million-XXXXXX";
    if (!mkdtemp(folder)) {
        perror("bench: mkdtemp");
        exit(3);
    }
    double start = bench_seconds();
    tacit_session *session = build(&x, agents, scalar, 2, 1, 0.5);
    f.build = bench_seconds() - start;
    f.needed = needed_bytes(session, scalar);
    start = bench_seconds();
    bench_must(tacit_session_run(session, &(tacit_run_request){.folder = folder}, &err), &err);
    f.run = bench_seconds() - start;
    f.report = file_bytes(folder, "report.html");
    f.peak = bench_peak();
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    remove_folder(folder);
    return f;
}

/* Seconds a tick, once everybody has started and ticked. */
static findings ticking(uint32_t agents, uint32_t threads)
{
    enum { LEAST_TICKS = 1000000 };
    tacit_error err = {0};
    tacit_experiment x;
    findings f = {0};
    tacit_session *session = build(&x, agents, "f64", threads, 1, 0);
    tacit_runtime *rt = tacit_session_runtime(session);
    bench_must(rt->ops->run(rt, 1, NULL, &err), &err);
    double until = 1 + (agents < LEAST_TICKS ? (double)LEAST_TICKS / agents : 1);
    uint64_t before = rt->ops->traffic(rt).ticks;
    double start = bench_seconds();
    bench_must(rt->ops->run(rt, until, NULL, &err), &err);
    f.ticks = (double)(rt->ops->traffic(rt).ticks - before);
    f.tick = (bench_seconds() - start) / f.ticks;
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    return f;
}

static double sum_once(double bytes)
{
    size_t count = (size_t)(bytes / sizeof(double));
    double *x = malloc(count * sizeof *x), sum = 0;
    if (!x)
        return 1;
    for (size_t i = 0; i < count; i++)
        x[i] = (double)i;
    double start = bench_seconds();
    for (size_t i = 0; i < count; i++)
        sum += x[i];
    double seconds = bench_seconds() - start;
    free(x);
    return sum > 0 ? seconds : 1;
}

/* Run `job` in a process of its own. */
static findings apart(findings (*job)(uint32_t, uint32_t), uint32_t agents, uint32_t how)
{
    int ends[2];
    findings f = {0};
    if (pipe(ends) != 0)
        exit(70);
    pid_t child = fork();
    if (child == 0) {
        f = job(agents, how);
        _exit(write(ends[1], &f, sizeof f) == sizeof f ? 0 : 70);
    }
    close(ends[1]);
    bool told = read(ends[0], &f, sizeof f) == sizeof f;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!told || status != 0) {
        fprintf(stderr, "bench: %u agents failed\n", agents);
        exit(70);
    }
    return f;
}

static findings whole_f32(uint32_t agents, uint32_t how)
{
    return whole_run(agents, how ? "f32" : "f64");
}

static void memory(FILE *out, uint32_t agents, uint32_t single)
{
    char name[80], note[120];
    findings f = apart(whole_f32, agents, single);
    snprintf(name, sizeof name, "memory %u agents %s", agents, single ? "f32" : "f64");
    snprintf(note, sizeof note, "VmHWM against records + models + graph; %.0f bytes an agent",
             f.peak / agents);
    bench_row(out, name, f.peak / 1e6, f.needed / 1e6, "MB", note);
    snprintf(name, sizeof name, "seconds %u agents %s", agents, single ? "f32" : "f64");
    snprintf(note, sizeof note,
             "built in %.1f s; then start + 1 tick each + checkpoint + files in %.1f s", f.build,
             f.run);
    bench_row(out, name, f.build + f.run, sum_once(f.needed), "s", note);
    snprintf(name, sizeof name, "report %u agents %s", agents, single ? "f32" : "f64");
    bench_row(out, name, f.report / 1e6, 5, "MB", "report.html against the limit of 5 MB");
}

static void curve(FILE *out, uint32_t threads)
{
    static const uint32_t sizes[] = {100000, 1000, 3000, 10000, 30000, 300000, 1000000};
    double baseline = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[80], note[80];
        findings f = apart(ticking, sizes[i], threads);
        baseline = i == 0 ? f.tick : baseline;
        snprintf(name, sizeof name, "tick %u agents %u thread%s", sizes[i], threads,
                 threads > 1 ? "s" : "");
        snprintf(note, sizeof note, "%.0f ticks; against 100000 agents", f.ticks);
        bench_row(out, name, f.tick * 1e6, baseline * 1e6, "us", note);
    }
}

int main(void)
{
    FILE *out = bench_open("million");
    memory(out, 1000000, 0);
    memory(out, 1000000, 1);
    curve(out, 1);
    curve(out, 2);
    fclose(out);
    return 0;
}
