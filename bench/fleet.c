/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many real peers on this machine, by `tacit up` as users call it: what memory a node takes, and
 * how long 200 of them take to be there.
 *
 * Memory is RssAnon, what a process has for itself alone: heap, stacks, data of libraries that it
 * changed. Eleven nodes are neighbours of each other, p = 100. The baseline is a process that only
 * starts the same libraries: ZeroMQ with a socket, SQLite with a file, libsodium, OpenBLAS by a
 * product of two vectors.
 *
 * A fleet is there when every node has met its neighbours, or was too impatient to, and its agents
 * have started: its log says so.
 */
#include <dirent.h>
#include <ftw.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "bench.h"

enum { NODES = 11, MANY = 200, SETTLE = 8, PATH = 512, LIMIT = 300 };

/* ---- memory of a process ---- */

typedef enum kind { HEAP, STACKS, LIBRARIES, MAPPED, KINDS } kind;
static const char *const kind_names[KINDS] = {"heap", "stack", "data of libraries",
                                              "mapped (arenas and stacks of threads)"};

typedef struct memory {
    double anonymous; /* RssAnon, bytes */
    double of[KINDS];
} memory;

static kind kind_of(const char *line)
{
    if (strstr(line, "[heap]"))
        return HEAP;
    if (strstr(line, "[stack]"))
        return STACKS;
    return strchr(line, '/') ? LIBRARIES : MAPPED;
}

static memory memory_of(long pid)
{
    char path[64], line[512];
    memory m = {0};
    kind now = MAPPED;
    snprintf(path, sizeof path, "/proc/%ld/smaps", pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            now = kind_of(line);
        else if (strncmp(line, "Anonymous:", 10) == 0)
            m.of[now] += strtod(line + 10, NULL) * 1024;
    }
    if (file)
        fclose(file);
    for (int k = 0; k < KINDS; k++)
        m.anonymous += m.of[k];
    return m;
}

static memory bare(void)
{
    const pid_t child = fork();
    if (child != 0) {
        usleep(500000);
        const memory m = memory_of(child);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        return m;
    }
    execl("/proc/self/exe", "fleet", "--bare", (char *)NULL);
    _exit(TACIT_EINTERNAL);
}

static int be_bare(void)
{
    sqlite3 *db;
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_PULL);
    const double x[2] = {1, 2};
    double product = 0;
    zmq_bind(socket, "tcp://127.0.0.1:*");
    sqlite3_open("", &db);
    sqlite3_exec(db, "CREATE TABLE t(x);INSERT INTO t VALUES(1)", NULL, NULL, NULL);
    for (int k = 0; k < 2; k++)
        product += x[k] * x[k];
    if (sodium_init() < 0 || product != 5)
        return 1;
    pause();
    return 0;
}

/* ---- a fleet ---- */

typedef struct fleet {
    char folder[PATH];
    pid_t pid;
    double begun;
    uint32_t count;
} fleet;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void program(char path[PATH])
{
    const ssize_t n = readlink("/proc/self/exe", path, PATH - 16);
    path[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 2; up++)
        *strrchr(path, '/') = '\0';
    strncat(path, "/tacit", 16);
}

static fleet launch(uint32_t count, const char *graph, const char *neighbours)
{
    char tacit[PATH], number[16], agents[40];
    fleet f = {.count = count};
    program(tacit);
    snprintf(f.folder, sizeof f.folder, "/tmp/tacit-fleet-%d", (int)getpid());
    nftw(f.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    snprintf(number, sizeof number, "%u", count);
    snprintf(agents, sizeof agents, "data.agents=%u", count);
    f.begun = bench_seconds();
    f.pid = fork();
    if (f.pid == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(TACIT_EINTERNAL);
        execl(tacit, "tacit", "up", number, "examples/separators.yaml", "--quiet", "--out",
              f.folder, "--set", agents, "--set", graph, "--set", neighbours, "--set",
              "run.time=100000", (char *)NULL);
        _exit(TACIT_EINTERNAL);
    }
    return f;
}

static bool has_started(const fleet *f, uint32_t k)
{
    char path[PATH + 64], line[1024];
    bool started = false;
    snprintf(path, sizeof path, "%s/node-%03u/log.jsonl", f->folder, k);
    FILE *file = fopen(path, "r");
    while (file && !started && fgets(line, sizeof line, file))
        started = strstr(line, "\"started\"") != NULL;
    if (file)
        fclose(file);
    return started;
}

/* Seconds until all are there. */
static double gather(const fleet *f)
{
    for (uint32_t k = 0; k < f->count; usleep(20000)) {
        while (k < f->count && has_started(f, k))
            k++;
        if (waitpid(f->pid, NULL, WNOHANG) != 0 || bench_seconds() - f->begun > LIMIT) {
            fprintf(stderr, "bench: node %u of %u did not start\n", k, f->count);
            exit(TACIT_EPEER);
        }
    }
    return bench_seconds() - f->begun;
}

static double dismiss(fleet *f)
{
    const double start = bench_seconds();
    kill(f->pid, SIGINT);
    waitpid(f->pid, NULL, 0);
    nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    return bench_seconds() - start;
}

static bool is_child(const char *name, pid_t parent)
{
    char path[300], line[256];
    long found = 0;
    snprintf(path, sizeof path, "/proc/%s/status", name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "PPid:", 5) == 0)
            found = strtol(line + 5, NULL, 10);
    if (file)
        fclose(file);
    return found == parent;
}

/* Of all nodes; how many there are. */
static uint32_t look(const fleet *f, memory *all)
{
    uint32_t count = 0;
    DIR *proc = opendir("/proc");
    for (const struct dirent *e; proc && count < f->count && (e = readdir(proc));)
        if (e->d_name[0] >= '1' && e->d_name[0] <= '9' && is_child(e->d_name, f->pid))
            all[count++] = memory_of(strtol(e->d_name, NULL, 10));
    if (proc)
        closedir(proc);
    return count;
}

/* Seconds to start the program so often, one after the other, only to say its version. */
static double starts(uint32_t count)
{
    char tacit[PATH];
    program(tacit);
    const double begun = bench_seconds();
    for (uint32_t k = 0; k < count; k++) {
        const pid_t child = fork();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stdout))
                _exit(TACIT_EINTERNAL);
            execl(tacit, "tacit", "--version", (char *)NULL);
            _exit(TACIT_EINTERNAL);
        }
        waitpid(child, NULL, 0);
    }
    return bench_seconds() - begun;
}

/* ---- what is told ---- */

static double median_of(const memory *all, uint32_t count, int which)
{
    double values[MANY];
    for (uint32_t k = 0; k < count; k++)
        values[k] = which < 0 ? all[k].anonymous : all[k].of[which];
    return bench_median(values, count) / 1048576;
}

static void tell(FILE *out, const char *name, const fleet *f, const memory *base)
{
    memory all[MANY];
    char text[120];
    const uint32_t count = look(f, all);
    if (count == 0)
        exit(TACIT_EPEER);
    bench_row(out, name, median_of(all, count, -1), base->anonymous / 1048576, "MiB",
              "RssAnon of a node; baseline: a process with the same libraries");
    for (int k = 0; k < KINDS; k++) {
        snprintf(text, sizeof text, "%s: %s", name, kind_names[k]);
        bench_row(out, text, median_of(all, count, k), base->of[k] / 1048576, "MiB", "of that");
    }
}

int main(int count, char **words)
{
    if (count > 1 && strcmp(words[1], "--bare") == 0)
        return be_bare();
    FILE *out = bench_open("fleet");
    const memory base = bare();
    fleet few = launch(NODES, "graph.kind=complete", "graph.k=10");
    gather(&few);
    sleep(SETTLE);
    tell(out, "a node with 10 neighbours", &few, &base);
    dismiss(&few);
    fleet many = launch(MANY, "graph.kind=k-regular", "graph.k=10");
    const double there = gather(&many);
    sleep(SETTLE);
    tell(out, "a node of 200", &many, &base);
    const double gone = dismiss(&many);
    const double start = starts(MANY);
    bench_row(out, "200 nodes: until all have started", there, start, "s",
              "tacit up 200; baseline: 200 times the start of the program");
    bench_row(out, "200 nodes: until all have ended", gone, start, "s", "after SIGINT");
    fclose(out);
    return 0;
}
