/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BENCH_PEERS_PAIR_H
#define TACIT_BENCH_PEERS_PAIR_H
/*
 * A pair of real nodes for bench/peers.c: agent 0 lives here, all others in a child. They run a
 * protocol of this file, which says as much as it
 * heard at its next tick, or releases without a pause.
 */
#include <ftw.h>
#include <math.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "runtime/node/node.h"
#include "tacit/tacit.h"

enum { PAIR_MOST = 10, PAIR_TIMES = 10000 }; /* agents at the other node; times kept */

/* Lives in memory that both processes see. */
typedef struct pair_job {
    size_t numbers; /* p */
    int window;     /* messages under way; 0: one every five milliseconds, and how long it takes */
    int agents;     /* at the other node */
    uint64_t count; /* messages or releases that are timed, after a tenth as many that are not */
    bool broadcast, releases;
    double rate;        /* out: of them, a second */
    double quantile[2]; /* out: p50 and p99 of how long they took */
    double written;     /* out: bytes of a release */
    /* while it runs */
    uint64_t seen;
    double begun;
    double took[PAIR_TIMES];
    tacit_shape shape;
    tacit_stop stop;
} pair_job;

static struct {
    char folder[64];
    tacit_identity identity[2];
} pair;

static const char *pair_folder(void)
{
    return pair.folder;
}

static void pair_init(tacit_error *err)
{
    snprintf(pair.folder, sizeof pair.folder, "/tmp/tacit-bench-XXXXXX");
    if (!mkdtemp(pair.folder))
        exit(TACIT_EINPUT);
    for (int k = 0; k < 2; k++)
        bench_must(tacit_identity_fresh(&pair.identity[k], err), err);
}

static int pair_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void pair_clear(void)
{
    nftw(pair.folder, pair_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* One that is free now. */
static unsigned pair_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &len) != 0)
        exit(TACIT_EPEER);
    close(fd);
    return ntohs(at.sin_port);
}

/* Bytes of a frame with so many numbers that lie on no grid. */
static size_t pair_frame(size_t numbers)
{
    return TACIT_WIRE_HEADER + 1 + 8 * numbers;
}

/* ---- counting ---- */

static pair_job *pair_job_new(void)
{
    void *memory =
        mmap(NULL, sizeof(pair_job), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exit(TACIT_EINTERNAL);
    return memory;
}

/* One more, which took so long; true when all were seen. */
static bool pair_count(pair_job *job, double took)
{
    const uint64_t warm = job->count / 10 + 1;
    if (++job->seen == warm)
        job->begun = bench_seconds();
    else if (job->seen > warm && job->seen - warm <= PAIR_TIMES)
        job->took[job->seen - warm - 1] = took;
    if (job->seen < warm + job->count)
        return false;
    const uint64_t times = job->count < PAIR_TIMES ? job->count : PAIR_TIMES;
    job->rate = (double)job->count / (bench_seconds() - job->begun);
    qsort(job->took, times, sizeof *job->took, bench_compare);
    job->quantile[0] = job->took[times / 2];
    job->quantile[1] = job->took[times * 99 / 100];
    return true;
}

/* ---- the protocol ---- */

typedef struct pair_agent {
    tacit_public *word;
    tacit_secret *secret;
    uint64_t owed; /* messages to be said at the next tick */
} pair_agent;

static pair_job *pair_job_of(const void *shared)
{
    return *(pair_job *const *)shared;
}

static tacit_status pair_setup(void *shared, const void *options, const tacit_setup *setup,
                               tacit_error *err)
{
    (void)setup, (void)err;
    *(const void **)shared = options;
    return TACIT_OK;
}

static const tacit_shape *pair_payload(const void *shared, tacit_address at)
{
    return at.kind == 1 && at.channel == 0 ? &pair_job_of(shared)->shape : NULL;
}

static size_t pair_agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared, (void)neighbours;
    return sizeof(pair_agent);
}

static tacit_status pair_start(tacit_env *env, const pair_job *job, pair_agent *a)
{
    a->word = tacit_new_public(env, &job->shape);
    a->secret = tacit_new_secret(env, &job->shape);
    if (!a->word || !a->secret)
        return TACIT_EINTERNAL;
    for (size_t k = 0; k < job->numbers; k++) {
        tacit_public_set(a->word, 0, k, sin((double)k + 1));
        tacit_vector_set(tacit_vector_of_secret(a->secret), 0, k, sin((double)k) / 1000);
    }
    a->owed = tacit_facts_of(env)->self == 0 ? (uint64_t)job->window : 0;
    return TACIT_OK;
}

static tacit_status pair_heard(tacit_env *env, pair_job *job, pair_agent *a, const tacit_event *e)
{
    const bool caller = tacit_facts_of(env)->self == 0;
    if (job->releases || job->stop)
        return TACIT_OK;
    a->owed++;
    if (job->window > 0 ? caller && pair_count(job, 0)
                        : pair_count(job, bench_seconds() - tacit_public_get(e->payload, 0, 0)))
        job->stop = 1;
    return TACIT_OK;
}

/* A message that says when it was said. */
static tacit_status pair_tell_time(tacit_env *env, const pair_job *job, const pair_agent *a)
{
    tacit_public *word = tacit_new_public(env, &job->shape);
    if (!word)
        return TACIT_EINTERNAL;
    memcpy(tacit_vector_segment(tacit_vector_of_public(word), 0),
           tacit_vector_segment(tacit_vector_of_public(a->word), 0), 8 * job->numbers);
    tacit_public_set(word, 0, 0, bench_seconds());
    const tacit_status status = tacit_send(env, 1, 1, word);
    tacit_drop(env, word);
    return status;
}

static tacit_status pair_say(tacit_env *env, const pair_job *job, pair_agent *a)
{
    const bool caller = tacit_facts_of(env)->self == 0;
    tacit_status status = TACIT_OK;
    if (job->window == 0)
        return caller ? pair_tell_time(env, job, a) : TACIT_OK;
    const uint64_t step = caller && job->broadcast ? (uint64_t)job->agents : 1;
    for (; a->owed >= step && status == TACIT_OK; a->owed -= step)
        status = step > 1 ? tacit_broadcast(env, 1, a->word)
                          : tacit_send(env, caller ? 1 : 0, 1, a->word);
    return status;
}

static tacit_status pair_woken(tacit_env *env, pair_job *job, pair_agent *a)
{
    tacit_cost cost = {
        .mechanism = TACIT_MECHANISM_LAPLACE, .coordinates = job->numbers, .what = "bench"};
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_public *word = NULL;
    if (job->stop || !job->releases)
        return job->stop ? TACIT_OK : pair_say(env, job, a);
    if (tacit_facts_of(env)->self != 0)
        return TACIT_OK;
    if (pair_count(job, 0)) {
        job->stop = 1;
        return TACIT_OK;
    }
    tacit_status status = tacit_cost_on_grid(&cost, 1, 1, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_reserve(env, &cost, &permit);
    if (status == TACIT_OK)
        status = tacit_bound_vector(permit, a->secret, tacit_own_scratch(env), &bounded,
                                    tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_release(env, permit, bounded, &word);
    return status == TACIT_OK ? tacit_broadcast(env, 1, word) : status;
}

static tacit_status pair_on(tacit_env *env, const void *shared, void *self, const tacit_event *e)
{
    pair_job *job = pair_job_of(shared);
    switch (e->type) {
    case TACIT_START:
        return pair_start(env, job, self);
    case TACIT_MESSAGE:
        return pair_heard(env, job, self, e);
    case TACIT_WAKE:
        return pair_woken(env, job, self);
    default:
        return TACIT_OK;
    }
}

static void pair_save(const void *shared, const void *self, uint32_t neighbours, tacit_saver *saver)
{
    const pair_agent *a = self;
    (void)shared, (void)neighbours;
    tacit_save_secret(saver, a->secret);
}

static void pair_load(const void *shared, void *self, uint32_t neighbours, tacit_loader *loader)
{
    (void)shared, (void)self, (void)neighbours;
    tacit_loader_refuse(loader, "a benchmark is not resumed");
}

static void pair_end(tacit_env *env, const void *shared, void *self)
{
    const pair_agent *a = self;
    (void)shared;
    if (a->word)
        tacit_drop(env, a->word);
    if (a->secret)
        tacit_drop(env, a->secret);
}

static const tacit_protocol pair_protocol = {
    .name = "pair",
    .summary = "says as much as it heard",
    .wire_id = 1001,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES,
    .options = {.name = "protocol"},
    .shared_size = sizeof(const void *),
    .setup = pair_setup,
    .payload = pair_payload,
    .agent_size = pair_agent_size,
    .on = pair_on,
    .save = pair_save,
    .load = pair_load,
    .end = pair_end,
};

/* ---- two nodes ---- */

static const uint32_t pair_far[PAIR_MOST] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const uint32_t pair_near[1] = {0};
static const double pair_weight[PAIR_MOST] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

static uint32_t pair_host(tacit_node_agent *hosted, const pair_job *job, int self)
{
    const uint32_t count = self == 0 ? 1 : (uint32_t)job->agents;
    for (uint32_t k = 0; k < count; k++)
        hosted[k] = (tacit_node_agent){.agent = self == 0 ? 0 : pair_far[k],
                                       .name = "agent",
                                       .epsilon = INFINITY,
                                       .neighbours = self == 0 ? (uint32_t)job->agents : 1,
                                       .neighbour = self == 0 ? pair_far : pair_near,
                                       .weight = pair_weight};
    return count;
}

/* Bytes of the last release: frames and state. */
static double pair_written(tacit_node *node, tacit_error *err)
{
    tacit_ledger_file *ledger = node_store_ledger(node->store, 0);
    uint64_t id;
    void *bytes;
    size_t len = 0;
    if (tacit_ledger_file_pending(ledger, &id, 1) > 0) {
        bench_must(tacit_ledger_file_fetch(ledger, id, &bytes, &len, err), err);
        free(bytes);
    }
    return (double)len;
}

static void pair_node(pair_job *job, const tacit_node_member members[2], int self, tacit_error *err)
{
    tacit_node_agent hosted[PAIR_MOST];
    tacit_consortium_options consortium;
    tacit_node_options options;
    bench_must(tacit_options_defaults(&tacit_consortium_section, &consortium, err), err);
    bench_must(tacit_options_defaults(&tacit_node_section, &options, err), err);
    /* The shortest unit there is; releases wait for the disk alone, and nobody answers them. */
    consortium.largest = 1e9;
    consortium.unit = !job->releases ? (job->window > 0 ? 1e-4 : 5e-3) : self == 0 ? 1e-6 : 1e6;
    options.queue = 10000;
    options.rate = options.burst = 1e9;
    options.log = TACIT_LOG_ERROR;
    options.checkpoint = 1000;
    options.status[0] = '\0';
    snprintf(options.folder, sizeof options.folder, "%s/%d", pair.folder, self);
    nftw(options.folder, pair_remove, 16, FTW_DEPTH | FTW_PHYS);
    tacit_node_plan plan = {.options = &options,
                            .consortium = &consortium,
                            .run = "a benchmark",
                            .identity = &pair.identity[self],
                            .members = members,
                            .member_count = 2,
                            .self = (uint32_t)self,
                            .agents = 1 + PAIR_MOST,
                            .hosted = hosted,
                            .hosted_count = pair_host(hosted, job, self),
                            .protocol = &pair_protocol,
                            .protocol_options = job,
                            .privacy = {.epsilon = INFINITY, .delta = 1e-5}};
    tacit_node *node;
    bench_must(tacit_node_create(&node, &plan, err), err);
    const tacit_status status = tacit_node_run(node, &job->stop, err);
    if (status != TACIT_EINTERRUPTED)
        bench_must(status, err);
    job->written = pair_written(node, err);
    tacit_node_destroy(node);
}

static void pair_run(pair_job *job, tacit_error *err)
{
    const tacit_segment numbers = {"numbers", TACIT_F64, job->numbers};
    tacit_node_member members[2] = {{.name = "near", .agents = pair_near, .count = 1},
                                    {.name = "far", .agents = pair_far}};
    members[1].count = (uint32_t)job->agents;
    for (int k = 0; k < 2; k++) {
        snprintf(members[k].endpoint, sizeof members[k].endpoint, "tcp://127.0.0.1:%u",
                 pair_port());
        memcpy(members[k].key, pair.identity[k].public_key, sizeof members[k].key);
    }
    bench_must(tacit_shape_init(&job->shape, &numbers, 1, err), err);
    job->stop = 0;
    job->seen = 0;
    const pid_t child = fork();
    pair_node(job, members, child == 0, err);
    if (child == 0)
        _exit(0);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

#endif
