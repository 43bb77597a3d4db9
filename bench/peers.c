/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two real nodes on this machine, each a process with the loop that `tacit node` runs: links, wire,
 * checks, environment, store.
 *
 * Messages: agent 0 says something, an agent of the other node says as much at its next tick, and
 * so on, a number of them under way at a time. Nothing of it is a release, so nothing touches the
 * disk. (Protocols that answer while they handle a message, TACIT_CHATTY, are not measured: what
 * they remember is written first, so that they go as fast as the disk does.) The baseline does the
 * same with ZeroMQ alone: PUSH and PULL with CURVE and as many bytes, two processes that block
 * until something comes. Both have a thread for input and output beside the one that computes, so
 * that two cores hold four threads. One way: from the tick that says something to the handler that
 * hears it.
 *
 * Releases: an agent releases p numbers at every tick and tells its neighbours; ticks follow
 * without a pause. The baseline is SQLite alone with a ledger's settings: a transaction with one
 * small row, and one that replaces as many bytes as a release writes.
 *
 * Ours and baseline take turns, and medians of the turns are shown.
 */
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "bench.h"
#include "peers_pair.h"

enum { TURNS = 7, SMALL = 100, LARGE = 40000 };

static tacit_error err;
static pair_job *job;

/* ---- ZeroMQ alone ---- */

typedef struct bare_end {
    void *context, *push, *pull;
} bare_end;

typedef struct bare_keys {
    char public_key[2][41], secret[2][41];
    char endpoint[2][64];
} bare_keys;

static void must(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench: cannot %s: %s\n", what, zmq_strerror(zmq_errno()));
    exit(TACIT_EPEER);
}

static void *bare_socket(void *context, int type, int queue)
{
    const int zero = 0;
    void *s = zmq_socket(context, type);
    must(s && zmq_setsockopt(s, ZMQ_SNDHWM, &queue, sizeof queue) == 0 &&
             zmq_setsockopt(s, ZMQ_RCVHWM, &queue, sizeof queue) == 0 &&
             zmq_setsockopt(s, ZMQ_LINGER, &zero, sizeof zero) == 0,
         "make a socket");
    return s;
}

static bare_end bare_open(const bare_keys *k, int self)
{
    const int server = 1, queue = 1000;
    bare_end e = {.context = zmq_ctx_new()};
    e.pull = bare_socket(e.context, ZMQ_PULL, queue);
    e.push = bare_socket(e.context, ZMQ_PUSH, queue);
    must(zmq_setsockopt(e.pull, ZMQ_CURVE_SERVER, &server, sizeof server) == 0 &&
             zmq_setsockopt(e.pull, ZMQ_CURVE_SECRETKEY, k->secret[self], 41) == 0 &&
             zmq_setsockopt(e.push, ZMQ_CURVE_PUBLICKEY, k->public_key[self], 41) == 0 &&
             zmq_setsockopt(e.push, ZMQ_CURVE_SECRETKEY, k->secret[self], 41) == 0 &&
             zmq_setsockopt(e.push, ZMQ_CURVE_SERVERKEY, k->public_key[!self], 41) == 0,
         "set keys");
    must(zmq_bind(e.pull, k->endpoint[self]) == 0, "bind");
    must(zmq_connect(e.push, k->endpoint[!self]) == 0, "connect");
    return e;
}

static void bare_close(bare_end *e)
{
    zmq_close(e->push);
    zmq_close(e->pull);
    zmq_ctx_term(e->context);
}

/* The other process: says the same back, or writes down how long it took. */
static void bare_other(const bare_keys *k)
{
    bare_end e = bare_open(k, 1);
    while (!job->stop) {
        zmq_msg_t msg;
        double said;
        zmq_msg_init(&msg);
        must(zmq_msg_recv(&msg, e.pull, 0) >= 0, "receive");
        memcpy(&said, zmq_msg_data(&msg), sizeof said);
        if (job->window > 0)
            must(zmq_msg_send(&msg, e.push, 0) >= 0, "send");
        else if (pair_count(job, bench_seconds() - said))
            job->stop = 1;
        zmq_msg_close(&msg);
    }
    pause();
}

static void bare_call(const bare_end *e, void *bytes, size_t len)
{
    const double now = bench_seconds();
    memcpy(bytes, &now, sizeof now);
    must(zmq_send(e->push, bytes, len, 0) >= 0, "send");
}

static void bare_calls(const bare_end *e, void *bytes, size_t len)
{
    for (int i = 0; i < job->window; i++)
        bare_call(e, bytes, len);
    while (!job->stop) {
        if (job->window > 0) {
            zmq_msg_t msg;
            zmq_msg_init(&msg);
            must(zmq_msg_recv(&msg, e->pull, 0) >= 0, "receive");
            zmq_msg_close(&msg);
            if (pair_count(job, 0))
                job->stop = 1;
        } else {
            usleep(5000);
        }
        bare_call(e, bytes, len);
    }
}

static void bare_pair(size_t len)
{
    bare_keys k;
    for (int i = 0; i < 2; i++) {
        must(zmq_curve_keypair(k.public_key[i], k.secret[i]) == 0, "make keys");
        snprintf(k.endpoint[i], sizeof k.endpoint[i], "tcp://127.0.0.1:%u", pair_port());
    }
    job->seen = 0;
    job->stop = 0;
    const pid_t child = fork();
    if (child == 0)
        bare_other(&k);
    bare_end e = bare_open(&k, 0);
    uint8_t *bytes = malloc(len);
    memset(bytes, 7, len);
    bare_calls(&e, bytes, len);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    bare_close(&e);
    free(bytes);
}

/* ---- messages ---- */

typedef struct row {
    const char *name, *note;
    size_t numbers;
    int window, agents; /* under way; agents at the other node */
    uint64_t count;
} row;

static const row rows[] = {
    {"messages p=100", "512 under way", SMALL, 512, 1, 60000},
    {"messages p=40000", "16 under way", LARGE, 16, 1, 1500},
    {"broadcast p=100", "to ten agents of a peer; 500 under way", SMALL, 500, 10, 60000},
    {"one way p=100", "one every five milliseconds", SMALL, 0, 1, 300},
    {"one way p=40000", "one every five milliseconds", LARGE, 0, 1, 300},
};

static void tell_latency(FILE *out, const row *r, double (*ours)[2], double (*bare)[2])
{
    static const char *const names[] = {"p50", "p99"};
    for (int q = 0; q < 2; q++) {
        double a[TURNS], b[TURNS];
        char name[80];
        for (int t = 0; t < TURNS; t++) {
            a[t] = ours[t][q] * 1e6;
            b[t] = bare[t][q] * 1e6;
        }
        snprintf(name, sizeof name, "%s %s", r->name, names[q]);
        bench_row(out, name, bench_median(a, TURNS), bench_median(b, TURNS), "us", r->note);
    }
}

static void messages(FILE *out, const row *r)
{
    double ours[TURNS], bare[TURNS], ours_quantile[TURNS][2], bare_quantile[TURNS][2];
    for (int t = 0; t < TURNS; t++) {
        *job = (pair_job){.numbers = r->numbers,
                          .window = r->window,
                          .agents = r->agents,
                          .count = r->count,
                          .broadcast = r->agents > 1};
        pair_run(job, &err);
        ours[t] = job->rate;
        memcpy(ours_quantile[t], job->quantile, sizeof job->quantile);
        bare_pair(pair_frame(r->numbers));
        bare[t] = job->rate;
        memcpy(bare_quantile[t], job->quantile, sizeof job->quantile);
        fprintf(stderr, "%s turn %d: %.4g against %.4g a second\n", r->name, t, ours[t], bare[t]);
    }
    if (r->window == 0)
        tell_latency(out, r, ours_quantile, bare_quantile);
    else
        bench_row(out, r->name, bench_median(ours, TURNS), bench_median(bare, TURNS),
                  "a second there and back", r->note);
}

/* ---- releases ---- */

static void sql(sqlite3 *db, const char *text)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK)
        return;
    fprintf(stderr, "bench: SQLite: %s\n", sqlite3_errmsg(db));
    exit(TACIT_EINPUT);
}

static void one_transaction(sqlite3 *db, sqlite3_stmt *insert, sqlite3_stmt *drop, int64_t id,
                            const void *bytes, size_t len)
{
    sql(db, "BEGIN IMMEDIATE");
    sqlite3_bind_int64(insert, 1, id);
    sqlite3_bind_blob64(insert, 2, bytes, len, SQLITE_STATIC);
    sqlite3_step(insert);
    sqlite3_reset(insert);
    if (drop) {
        sqlite3_bind_int64(drop, 1, id - 1);
        sqlite3_step(drop);
        sqlite3_reset(drop);
    }
    sql(db, "COMMIT");
}

/* Transactions a second, each a row of `len` bytes; `replace`: which takes the place of the last.
 */
static double bare_commits(const char *folder, size_t len, bool replace, uint64_t count)
{
    char path[128];
    sqlite3 *db;
    sqlite3_stmt *insert, *drop = NULL;
    uint8_t *bytes = malloc(len);
    memset(bytes, 7, len);
    snprintf(path, sizeof path, "%s/bare.db", folder);
    unlink(path);
    sqlite3_open(path, &db);
    sql(db, "PRAGMA locking_mode=EXCLUSIVE;PRAGMA mmap_size=0;PRAGMA journal_mode=TRUNCATE;"
            "PRAGMA synchronous=EXTRA;CREATE TABLE t(id INTEGER PRIMARY KEY,bytes BLOB NOT NULL)");
    sqlite3_prepare_v2(db, "INSERT INTO t VALUES(?,?)", -1, &insert, NULL);
    if (replace)
        sqlite3_prepare_v2(db, "DELETE FROM t WHERE id=?", -1, &drop, NULL);
    int64_t id = 0;
    while (id < (int64_t)count / 10)
        one_transaction(db, insert, drop, ++id, bytes, len);
    const double start = bench_seconds();
    for (uint64_t k = 0; k < count; k++)
        one_transaction(db, insert, drop, ++id, bytes, len);
    const double rate = (double)count / (bench_seconds() - start);
    sqlite3_finalize(insert);
    sqlite3_finalize(drop);
    sqlite3_close(db);
    free(bytes);
    return rate;
}

static void releases(FILE *out, size_t numbers, uint64_t count)
{
    double ours[TURNS], small[TURNS], same[TURNS], bytes = 0;
    char name[80], note[120];
    for (int t = 0; t < TURNS; t++) {
        *job = (pair_job){.numbers = numbers, .agents = 10, .count = count, .releases = true};
        pair_run(job, &err);
        ours[t] = job->rate;
        bytes = job->written;
        small[t] = bare_commits(pair_folder(), 100, false, count);
        same[t] = bare_commits(pair_folder(), (size_t)bytes, true, count);
        fprintf(stderr, "releases p=%zu turn %d: %.4g against %.4g and %.4g a second\n", numbers, t,
                ours[t], small[t], same[t]);
    }
    const double median = bench_median(ours, TURNS);
    snprintf(name, sizeof name, "releases p=%zu", numbers);
    bench_row(out, name, median, bench_median(small, TURNS), "a second",
              "told ten agents; baseline: transactions of a row of 100 bytes");
    snprintf(note, sizeof note, "baseline: transactions that replace %.0f bytes", bytes);
    bench_row(out, name, median, bench_median(same, TURNS), "a second", note);
}

static bool wanted(int count, char **words, const char *name)
{
    return count < 2 || strstr(name, words[1]);
}

/* With a word only the rows that have it in their names, and the file stays as it is. */
int main(int count, char **words)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20); /* as tacit node does; so has the baseline */
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
    FILE *out = count < 2 ? bench_open("peers") : fopen("/dev/null", "w");
    pair_init(&err);
    job = pair_job_new();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (wanted(count, words, rows[k].name))
            messages(out, &rows[k]);
    if (wanted(count, words, "releases p=100"))
        releases(out, SMALL, 1000);
    if (wanted(count, words, "releases p=40000"))
        releases(out, LARGE, 100);
    pair_clear();
    fclose(out);
    return 0;
}
