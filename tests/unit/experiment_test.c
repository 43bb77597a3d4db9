/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run into a folder: what it writes, that interruption and resumption leave no trace in it,
 * and that nothing is half-written when the disk is full or the folder is not ours.
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/shard.h"
#include "tacit/tacit.h"
#include "testing.h"

static const char small[] = "run: {name: small, time: 20, every: 3, sample: 4, seed: 5}\n"
                            "data: {agents: 30, dimension: 6, test-records: 20, "
                            "validation-records: 7, min-records: 4, max-records: 12}\n"
                            "graph: {kind: k-out, k: 3}\n"
                            "protocol: {name: cd, mu: 2}\n";

static const char *const files[] = {"config.yaml", "metrics.csv", "summary.json", "ledger.jsonl",
                                    "models.npy",  "report.html", "agents.csv",   "sizes.csv",
                                    "degrees.csv", "edges.csv"};
#define FILES (sizeof files / sizeof *files)

/* ---- helpers ---- */

/* cd, but every tick says a metric: rows that wait for the runtime to pass them. */
static tacit_protocol talkative;

static tacit_status talk(tacit_env *env, const void *shared, void *self, const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (event->type == TACIT_WAKE) {
        tacit_metric(env, "tick", facts->now);
        tacit_metric(env, "secret_tick", (tacit_private_metric){facts->degree});
    }
    return tacit_protocol_find("cd")->on(env, shared, self, event);
}

static tacit_status prepare(tacit_experiment *x, const char *const *sets, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = tacit_config_parse(&config, "small.yaml", small, strlen(small), err);
    for (; sets && *sets && !status; sets++)
        status = tacit_config_set(&config, *sets, err);
    if (!status)
        status = tacit_experiment_init(x, &config, err);
    tacit_config_clear(&config);
    if (!status && x->protocol == tacit_protocol_find("cd")) {
        talkative = *x->protocol;
        talkative.on = talk;
        x->protocol = &talkative;
    }
    return status;
}

/* Stop when the progress passes `at`; _exit there if `crash`. */
typedef struct watcher {
    double at;
    bool crash;
    tacit_stop stop;
    int calls;
} watcher;

static void watch(void *ctx, double time, double total)
{
    watcher *w = ctx;
    assert_true(time <= total);
    w->calls++;
    if (time >= w->at && w->crash)
        _exit(99);
    if (time >= w->at)
        w->stop = 1;
}

static tacit_status go(const char *folder, const char *const *sets, bool resume, uint32_t threads,
                       watcher *w, tacit_error *err)
{
    tacit_experiment x;
    tacit_session *session = NULL;
    tacit_status status = prepare(&x, sets, err);
    if (status)
        return status;
    status = tacit_session_create(&session, &x, threads, err);
    if (!status)
        status = tacit_session_run(session,
                                   &(tacit_run_request){.folder = folder,
                                                        .resume = resume,
                                                        .stop = w ? &w->stop : NULL,
                                                        .progress = w ? watch : NULL,
                                                        .progress_ctx = w},
                                   err);
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    return status;
}

static void must_go(const char *folder, const char *const *sets, uint32_t threads)
{
    tacit_error err = {0};
    if (go(folder, sets, false, threads, NULL, &err))
        fail_msg("%s", err.text);
}

static char *slurp(const char *folder, const char *name, size_t *len)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    *len = fread(text, 1, (size_t)size, file);
    text[*len] = '\0';
    fclose(file);
    return text;
}

static void spit(const char *folder, const char *name, const char *text, size_t len)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, len, file);
    fclose(file);
}

static size_t entries(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return 0;
    size_t count = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return count;
}

static bool exists(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

static void assert_same_results(const char *a, const char *b)
{
    for (size_t i = 0; i < FILES; i++) {
        size_t na = 0, nb = 0;
        char *x = slurp(a, files[i], &na), *y = slurp(b, files[i], &nb);
        if (!x || !y || na != nb || memcmp(x, y, na) != 0)
            fail_msg("\"%s\" differs between \"%s\" and \"%s\"", files[i], a, b);
        free(x);
        free(y);
    }
    assert_int_equal(entries(a), FILES);
    assert_int_equal(entries(b), FILES);
}

static void purge(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static int in_fresh_place(void **state)
{
    (void)state;
    char place[] = "experiment_test.XXXXXX";
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave_place(void **state)
{
    (void)state;
    char here[4096];
    const char *const made[] = {"a", "b", "c", "d", "deep/er"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        purge(made[i]);
    rmdir("deep");
    if (!getcwd(here, sizeof here) || chdir("..") != 0)
        return -1;
    return rmdir(here);
}

/* ---- configuration ---- */

static void test_yaml_says_all_and_reads_back(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_experiment x, y;
    const char *const sets[] = {"run.name=od\"d\\ name", "protocol.mu=0.1", "run.time=33.3", NULL};
    assert_int_equal(prepare(&x, sets, &err), TACIT_OK);
    char *first = tacit_experiment_yaml(&x);
    tacit_config config;
    tacit_config_init(&config);
    assert_int_equal(tacit_config_parse(&config, "again", first, strlen(first), &err), TACIT_OK);
    assert_int_equal(tacit_experiment_init(&y, &config, &err), TACIT_OK);
    char *second = tacit_experiment_yaml(&y);
    assert_string_equal(first, second);
    assert_string_equal(y.run.name, "od\"d\\ name");
    assert_non_null(strstr(first, "  mu: 0.1\n"));
    assert_non_null(strstr(first, "protocol:\n  name: cd\n"));
    for (size_t i = 0; i < tacit_experiment_section_count; i++)
        for (size_t k = 0; k < tacit_experiment_sections[i]->count; k++)
            assert_non_null(strstr(first, tacit_experiment_sections[i]->options[k].key));
    free(first);
    free(second);
    tacit_config_clear(&config);
    tacit_experiment_clear(&x);
    tacit_experiment_clear(&y);
}

static void test_wrong_words_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *set, *says;
    } wrong[] = {
        {"protocol.name=cdd", "\"cd"},
        {"protocol.muu=1", "mu"},
        {"run.name=a/b", "a/b"},
        {"run.name=..", ".."},
        {"run.every=1e-9", "run.every"},
        {"graph.kind=circle", "similarity"},
        {"nonsense.key=1", "nonsense"},
        {"run.time=-1", "run.time"},
        {"graph.kind=edges", "graph.path"},
        {"graph.path=/dev/null", NULL},
        {"run.sample=1000000", "run.sample"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_error err = {0};
        const char *sets[] = {wrong[i].set, NULL};
        tacit_status status = go("a", sets, false, 1, NULL, &err);
        assert_false(wrong[i].says && exists("a"));
        purge("a");
        if (!wrong[i].says)
            continue;
        assert_int_equal(status, TACIT_EINPUT);
        if (!strstr(err.text, wrong[i].says))
            fail_msg("\"%s\" was answered with: %s", wrong[i].set, err.text);
    }
}

/* ---- a run ---- */

static void test_folder_holds_the_run(void **state)
{
    (void)state;
    watcher w = {.at = INFINITY};
    tacit_error err = {0};
    assert_int_equal(go("deep/er/", NULL, false, 1, &w, &err), TACIT_OK);
    assert_true(w.calls >= 50);
    assert_int_equal(entries("deep/er"), FILES);

    size_t len;
    char *csv = slurp("deep/er", "metrics.csv", &len);
    assert_memory_equal(csv, "time,agent,name,value\n0,all,test_accuracy,", 42);
    const char *const rows[] = {"\n3,all,objective,",       "\n18,all,train_loss,",
                                "\n20,all,objective,",      "\n20,0,test_accuracy,",
                                "\n20,22,train_loss,",      ",22,tick,1",
                                ",7,secret_tick (private),"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strstr(csv, rows[i]))
            fail_msg("no row %s", rows[i] + 1);
    assert_null(strstr(csv, "nan"));
    assert_null(strstr(csv, "\n20,1,"));
    assert_null(strstr(csv, ",1,tick,"));
    double last = 0;
    for (char *line = strchr(csv, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_true(strtod(line, NULL) >= last);
        last = strtod(line, NULL);
    }
    free(csv);

    char *json = slurp("deep/er", "summary.json", &len);
    const char *const words[] = {
        "\"schema\": \"tacit.run/1\"", "\"complete\": true",  "\"agents\": 30",
        "\"epsilon\": null",           "\"unbounded\": true", "\"time\": 20",
        "\"adversary\": \"local\""};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(json, words[i]))
            fail_msg("summary.json does not say %s", words[i]);
    free(json);

    char *ledger = slurp("deep/er", "ledger.jsonl", &len);
    assert_memory_equal(ledger, "{\"schema\":\"tacit.ledger/1\",\"run\":", 33);
    assert_non_null(strstr(ledger, "\n{\"agent\":0,\"name\":\"0\",\"what\":"));
    assert_non_null(strstr(ledger, "\"epsilon_each\":null,\"unbounded\":true,\"mac\":\""));
    assert_non_null(strstr(ledger, "\n{\"seal\":\"end\",\"entries\":"));
    free(ledger);

    char *npy = slurp("deep/er", "models.npy", &len);
    size_t header = 10 + (unsigned char)npy[8] + 256u * (unsigned char)npy[9];
    assert_int_equal(len, header + (size_t)30 * 6 * 8);
    free(npy);
    purge("deep/er");
    rmdir("deep");
}

/* Q from models.npy, the data set's batches and the graph, term by term. */
static void test_objective_is_the_papers(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_experiment x;
    tacit_session *s;
    tacit_snapshot now;
    const char *const sets[] = {"protocol.mu=0.7", NULL};
    assert_int_equal(prepare(&x, sets, &err), TACIT_OK);
    assert_int_equal(tacit_session_create(&s, &x, 1, &err), TACIT_OK);
    assert_int_equal(tacit_session_run(s, &(tacit_run_request){.folder = "a"}, &err), TACIT_OK);
    assert_int_equal(tacit_session_measure(s, &now, &err), TACIT_OK);
    size_t len;
    char *npy = slurp("a", "models.npy", &len);
    const double *theta = (const double *)(void *)(npy + len - sizeof(double) * 30 * 6);
    const tacit_graph *g = tacit_session_graph(s);
    const tacit_dataset *data = tacit_session_data(s);
    size_t most = 0;
    for (uint32_t i = 0; i < 30; i++)
        if (tacit_dataset_rows(data, i, TACIT_TRAIN) > most)
            most = tacit_dataset_rows(data, i, TACIT_TRAIN);
    double q = 0, mean_loss = 0;
    for (uint32_t i = 0; i < 30; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++)
            for (size_t k = 0; k < 6; k++)
                q +=
                    0.25 * g->weight[e] * pow(theta[6 * i + k] - theta[6 * g->neighbour[e] + k], 2);
        const double m = tacit_dataset_rows(data, i, TACIT_TRAIN);
        double loss = 0, norm = 0;
        size_t cursor = 0;
        tacit_batch batch;
        while (tacit_shard_next(tacit_dataset_shard(data, i, TACIT_TRAIN), &cursor, &batch))
            for (size_t r = 0; r < batch.rows; r++) {
                double dot = 0;
                for (size_t k = 0; k < 6; k++)
                    dot += theta[6 * i + k] * ((const double *)batch.x)[6 * r + k];
                loss += log1p(exp(-dot * ((const double *)batch.y)[r])) / m;
            }
        for (size_t k = 0; k < 6; k++)
            norm += theta[6 * i + k] * theta[6 * i + k];
        loss += norm / m;
        mean_loss += loss / 30;
        q += 0.7 * g->degree[i] * m / (double)most * loss;
    }
    assert_true(q > 0 && fabs(now.objective - q) <= 1e-12 * q);
    assert_true(fabs(now.train_loss - mean_loss) <= 1e-12 * mean_loss);
    free(npy);
    tacit_session_free(s);
    tacit_experiment_clear(&x);
    purge("a");
}

static void test_threads_do_not_show(void **state)
{
    (void)state;
    must_go("a", NULL, 1);
    must_go("b", NULL, 2);
    must_go("c", NULL, 8);
    assert_same_results("a", "b");
    assert_same_results("a", "c");
    purge("a");
    purge("b");
    purge("c");
    const char *const other[] = {"run.seed=6", NULL};
    must_go("a", NULL, 1);
    must_go("b", other, 1);
    size_t na, nb;
    char *x = slurp("a", "models.npy", &na), *y = slurp("b", "models.npy", &nb);
    assert_true(na != nb || memcmp(x, y, na) != 0);
    free(x);
    free(y);
    purge("a");
    purge("b");
}

/* ---- interruption ---- */

static const char *const networks[][6] = {
    {"network.latency=zero", NULL},
    {"network.latency=constant", "network.latency-floor=0.3", NULL},
    {"network.latency=exponential", "network.latency-floor=0.05", "network.latency-mean=0.4",
     "network.loss=0.2", "network.mean-up=5", NULL},
};

static void test_resumed_equals_uninterrupted(void **state)
{
    (void)state;
    for (size_t n = 0; n < 3; n++) {
        must_go("a", networks[n], 1);
        tacit_error err = {0};
        watcher w = {.at = 4.4};
        assert_int_equal(go("b", networks[n], false, 2, &w, &err), TACIT_EINTERRUPTED);
        assert_int_equal(entries("b"), FILES + 1);
        struct stat info; /* a checkpoint holds everything: it is its owner's */
        assert_int_equal(stat("b/checkpoint.bin", &info), 0);
        assert_int_equal(info.st_mode & 077, 0);
        size_t len;
        char *json = slurp("b", "summary.json", &len);
        assert_non_null(strstr(json, "\"complete\": false"));
        free(json);
        w = (watcher){.at = 12};
        assert_int_equal(go("b", networks[n], true, 1, &w, &err), TACIT_EINTERRUPTED);
        if (go("b", networks[n], true, 2, NULL, &err))
            fail_msg("%s", err.text);
        assert_same_results("a", "b");
        assert_int_equal(go("b", networks[n], true, 1, NULL, &err), TACIT_EINPUT);
        purge("a");
        purge("b");
    }
}

static tacit_stop *alarm_stop;

static void on_alarm(int number)
{
    (void)number;
    *alarm_stop = 1;
}

/* Stopped at moments nobody chose, inside a slice too. */
static void test_resumed_from_anywhere(void **state)
{
    (void)state;
    const char *const sets[] = {"data.agents=300", "run.time=60", "network.latency=constant",
                                "network.latency-floor=0.1", NULL};
    must_go("a", sets, 2);
    tacit_status status = TACIT_EINTERRUPTED;
    tacit_error err = {0};
    signal(SIGALRM, on_alarm);
    int cut = 0;
    for (; cut < 200 && status == TACIT_EINTERRUPTED; cut++) {
        watcher w = {.at = INFINITY};
        alarm_stop = &w.stop;
        const int micros = (SLOW ? 10 : 1) * (3000 + 977 * cut);
        const struct itimerval after = {.it_value = {micros / 1000000, micros % 1000000}},
                               never = {0};
        setitimer(ITIMER_REAL, &after, NULL);
        status = go("b", sets, exists("b"), 2, &w, &err);
        setitimer(ITIMER_REAL, &never, NULL);
    }
    signal(SIGALRM, SIG_DFL);
    print_message("interrupted %d times\n", cut - 1);
    if (status)
        fail_msg("%s", err.text);
    assert_same_results("a", "b");
    purge("a");
    purge("b");
}

static void test_resumed_after_a_crash(void **state)
{
    (void)state;
    const char *const sets[] = {"run.checkpoint=4", NULL};
    must_go("a", sets, 1);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        watcher w = {.at = 14.5, .crash = true};
        go("b", sets, false, 1, &w, NULL);
        _exit(0);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 99);
    assert_true(exists("b/metrics.csv.partial") && exists("b/checkpoint.bin"));
    assert_false(exists("b/metrics.csv") || exists("b/summary.json"));
    /* rows behind the checkpoint's are forgotten, however many there are */
    size_t len, extra = 100000;
    char *rows = slurp("b", "metrics.csv.partial", &len);
    rows = realloc(rows, len + extra);
    memset(rows + len, 'x', extra);
    spit("b", "metrics.csv.partial", rows, len + extra);
    free(rows);
    tacit_error err = {0};
    if (go("b", sets, true, 1, NULL, &err))
        fail_msg("%s", err.text);
    assert_same_results("a", "b");
    purge("a");
    purge("b");
}

static void expect_refusal(const char *const *sets, const char *what)
{
    tacit_error err = {0};
    tacit_status status = go("b", sets, true, 1, NULL, &err);
    if (status != TACIT_EVERIFY)
        fail_msg("%s: status %d, %s", what, (int)status, err.text);
    assert_true(exists("b/metrics.csv") && exists("b/checkpoint.bin"));
    assert_int_equal(entries("b"), FILES + 1);
}

static void test_forged_checkpoints_are_refused(void **state)
{
    (void)state;
    tacit_error err = {0};
    watcher w = {.at = 7};
    must_go("a", NULL, 1);
    assert_int_equal(go("b", NULL, false, 1, &w, &err), TACIT_EINTERRUPTED);
    const char *const other[] = {"protocol.mu=3", NULL};
    expect_refusal(other, "another configuration");

    size_t len;
    char *good = slurp("b", "checkpoint.bin", &len), *bad = malloc(len + 1);
    for (size_t cut = 0; cut < len; cut += len / 7) {
        spit("b", "checkpoint.bin", good, cut);
        expect_refusal(NULL, "a cut checkpoint");
    }
    for (size_t at = 0; at < len; at += len / 23) {
        memcpy(bad, good, len);
        bad[at] ^= 4;
        spit("b", "checkpoint.bin", bad, len);
        expect_refusal(NULL, "an edited checkpoint");
    }
    spit("b", "checkpoint.bin", good, len);

    size_t rows;
    char *csv = slurp("b", "metrics.csv", &rows);
    csv[rows / 2] ^= 1;
    spit("b", "metrics.csv", csv, rows);
    expect_refusal(NULL, "edited metrics");
    csv[rows / 2] ^= 1;
    spit("b", "metrics.csv", csv, rows - 5);
    expect_refusal(NULL, "cut metrics");
    spit("b", "metrics.csv", csv, rows);
    assert_int_equal(go("b", NULL, true, 1, NULL, &err), TACIT_OK);
    assert_same_results("a", "b");
    free(csv);
    free(good);
    free(bad);
    purge("a");
    purge("b");
}

/* ---- trouble with the disk ---- */

static void test_existing_folder_is_left_alone(void **state)
{
    (void)state;
    tacit_error err = {0};
    must_go("a", NULL, 1);
    must_go("b", NULL, 1);
    assert_int_equal(go("a", NULL, false, 1, NULL, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "\"a\""));
    assert_same_results("a", "b");
    assert_int_equal(go("a/summary.json/x", NULL, false, 1, NULL, &err), TACIT_EINPUT);
    assert_int_equal(go("", NULL, false, 1, NULL, &err), TACIT_EINPUT);
    assert_int_equal(go("c", NULL, true, 1, NULL, &err), TACIT_EINPUT);
    assert_false(exists("c"));
    assert_same_results("a", "b");
    purge("a");
    purge("b");
    assert_int_equal(mkdir("c", 0777), 0); /* an empty one will do */
    must_go("c", NULL, 1);
    purge("c");
}

static tacit_status limited(const char *const *sets, rlim_t most)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){most, most});
        tacit_error err = {0};
        tacit_status status = go("deep/er", sets, false, 1, NULL, &err);
        bool said = strstr(err.text, "deep/er") && strstr(err.text, "room");
        if (status && !said)
            fprintf(stderr, "%s\n", err.text);
        _exit(status == TACIT_EINPUT && !said ? 1 : (int)status);
    }
    int how;
    waitpid(child, &how, 0);
    return WIFEXITED(how) ? (tacit_status)WEXITSTATUS(how) : TACIT_EINTERNAL;
}

static void test_full_disk_leaves_nothing(void **state)
{
    (void)state;
    size_t failures = 0;
    for (rlim_t most = 0; most < 30000; most = most * 3 / 2 + 100) {
        tacit_status status = limited(NULL, most);
        failures += status == TACIT_EINPUT;
        if (status == TACIT_OK)
            assert_int_equal(entries("deep/er"), FILES);
        else {
            assert_int_equal(status, TACIT_EINPUT);
            assert_false(exists("deep"));
        }
        purge("deep/er");
        rmdir("deep");
    }
    assert_true(failures > 5);
}

/* The rows outgrow the disk after a checkpoint: the run can go on when there is room. */
static void test_full_disk_after_a_checkpoint(void **state)
{
    (void)state;
    const char *const sets[] = {"run.checkpoint=2", "run.sample=30", "run.every=0.05",
                                "data.dimension=2", NULL};
    assert_int_equal(limited(sets, 200000), TACIT_EINPUT);
    assert_int_equal(entries("deep/er"), 3);
    assert_true(exists("deep/er/checkpoint.bin") && exists("deep/er/metrics.csv"));
    tacit_error err = {0};
    if (go("deep/er", sets, true, 1, NULL, &err))
        fail_msg("%s", err.text);
    must_go("a", sets, 1);
    assert_same_results("a", "deep/er");
    purge("a");
    purge("deep/er");
    rmdir("deep");
}

#define IN_FRESH_PLACE(test) cmocka_unit_test_setup_teardown(test, in_fresh_place, leave_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FRESH_PLACE(test_yaml_says_all_and_reads_back),
        IN_FRESH_PLACE(test_wrong_words_are_refused),
        IN_FRESH_PLACE(test_folder_holds_the_run),
        IN_FRESH_PLACE(test_objective_is_the_papers),
        IN_FRESH_PLACE(test_threads_do_not_show),
        IN_FRESH_PLACE(test_resumed_equals_uninterrupted),
        IN_FRESH_PLACE(test_resumed_from_anywhere),
        IN_FRESH_PLACE(test_resumed_after_a_crash),
        IN_FRESH_PLACE(test_forged_checkpoints_are_refused),
        IN_FRESH_PLACE(test_existing_folder_is_left_alone),
        IN_FRESH_PLACE(test_full_disk_leaves_nothing),
        IN_FRESH_PLACE(test_full_disk_after_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
