/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cd against memory: 10,000 agents, p = 100, 10 to 100 records each, about 10 neighbours,
 * float32, through the simulator that users run, its environment and its messages. The bound
 * is a read-only stream over the same records in the same run: a tick cannot be faster than
 * reading its agent's rows and its neighbours' models once.
 *
 * A second row says what memory gives a program that only sums the rows of random agents: no
 * simulation of Poisson clocks can be faster than that.
 *
 * All are measured in turns, several times, and medians are compared, because a
 * virtual machine's memory bandwidth wanders by 20 % within a minute.
 */
#include <pthread.h>
#include <string.h>

#include "bench.h"
#include "data/shard.h"
#include "math/kernels.h"
#include "tacit/tacit.h"

enum { AGENTS = 10000, FEATURES = 100, HALF_DEGREE = 5, TURNS = 9 };
#define TURN_TIME 10.0 /* simulated: 100,000 ticks a turn */

typedef struct stage {
    tacit_source source;
    tacit_graph graph;
    tacit_model *model;
    unsigned char options[4096]; /* cd's option struct */
    double mean_bytes;           /* a tick must read */
} stage;

static void build(stage *st)
{
    tacit_error err = {0};
    tacit_data_options data;
    bench_must(tacit_options_defaults(&tacit_data_section, &data, &err), &err);
    data.agents = AGENTS;
    data.dimension = FEATURES;
    data.validation_records = data.test_records = 0;
    data.bound = TACIT_BOUND_L2;
    bench_must(tacit_data_load(&st->source, &data, TACIT_F32, 1, &err), &err);
    bench_must(tacit_graph_k_out(&st->graph, AGENTS, HALF_DEGREE, 1, &err), &err);
    tacit_model_options model = {.loss = 0, .lambda = 0, .scalar = TACIT_F32};
    bench_must(tacit_model_create(&st->model, &model, FEATURES, &err), &err);
    bench_must(tacit_options_defaults(&tacit_protocol_find("cd")->options, st->options, &err),
               &err);
    double rows = 0;
    for (uint32_t k = 0; k < AGENTS; k++)
        rows += tacit_dataset_rows(st->source.data, k, TACIT_TRAIN);
    double degree = (double)st->graph.row[AGENTS] / AGENTS;
    st->mean_bytes = 4.0 * (rows / AGENTS * (FEATURES + 1) + (degree + 1) * FEATURES);
}

static tacit_runtime *simulator(const stage *st, uint32_t threads)
{
    tacit_error err = {0};
    tacit_world world = {.graph = &st->graph,
                         .data = st->source.data,
                         .model = st->model,
                         .protocol = tacit_protocol_find("cd"),
                         .protocol_options = st->options,
                         .seed = 1,
                         .threads = threads};
    bench_must(tacit_options_defaults(&tacit_network_section, &world.network, &err), &err);
    bench_must(tacit_options_defaults(&tacit_privacy_section, &world.privacy, &err), &err);
    tacit_runtime *rt = NULL;
    bench_must(tacit_simulator.create(&rt, &world, &err), &err);
    bench_must(rt->ops->run(rt, 2, NULL, &err), &err); /* start and warm up */
    return rt;
}

/* Bytes a second the ticks of one turn read. */
static double tick_bandwidth(tacit_runtime *rt, const stage *st, double *ticks_a_second)
{
    tacit_error err = {0};
    uint64_t before = rt->ops->traffic(rt).ticks;
    double start = bench_seconds();
    bench_must(rt->ops->run(rt, rt->ops->now(rt) + TURN_TIME, NULL, &err), &err);
    double seconds = bench_seconds() - start;
    *ticks_a_second = (double)(rt->ops->traffic(rt).ticks - before) / seconds;
    return *ticks_a_second * st->mean_bytes;
}

/* ---- the baseline ---- */

typedef struct stream {
    const stage *stage;
    const char *from;
    size_t bytes;
    double sum;
} stream;

typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

typedef struct total {
    lanes a, b, c, d;
} total;

/* Sum a piece, asking meanwhile for what lies AHEAD bytes further on: `next` past the end. */
static void read_piece(const char *from, size_t bytes, const char *next, total *t)
{
    enum { AHEAD = 6400 };
    for (size_t k = 0; k + 128 <= bytes; k += 128) {
        const char *p = from + k;
        const char *soon = k + AHEAD < bytes ? p + AHEAD : next + (k + AHEAD - bytes);
        if (next) {
            __builtin_prefetch(soon, 0, 2);
            __builtin_prefetch(soon + 64, 0, 2);
        }
        t->a += *(const lanes *)(const void *)p;
        t->b += *(const lanes *)(const void *)(p + 32);
        t->c += *(const lanes *)(const void *)(p + 64);
        t->d += *(const lanes *)(const void *)(p + 96);
    }
}

static double grand_total(total t)
{
    lanes sum = t.a + t.b + t.c + t.d;
    return (double)(sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7]);
}

/* From first to last byte: what memory can do. */
static void *read_in_order(void *arg)
{
    stream *s = arg;
    total t = {0};
    read_piece(s->from, s->bytes, NULL, &t);
    s->sum = grand_total(t);
    return NULL;
}

static const char *rows_of(const stage *st, uint64_t *state, size_t *bytes)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const tacit_shard *shard =
        tacit_dataset_shard(st->source.data, (uint32_t)(*state >> 33) % AGENTS, TACIT_TRAIN);
    tacit_batch batch;
    size_t cursor = 0;
    tacit_shard_next(shard, &cursor, &batch);
    *bytes = batch.rows * FEATURES * 4;
    return batch.x;
}

/* Agent by agent in random order, each agent's rows from first to last: what memory can do
 * for anything that lets agents tick at random, if it did nothing but add. */
static void *read_at_random(void *arg)
{
    stream *s = arg;
    total t = {0};
    uint64_t state = (uint64_t)(uintptr_t)s->from;
    size_t read = 0, bytes, next_bytes;
    const char *from = rows_of(s->stage, &state, &bytes);
    while (read < s->bytes) {
        const char *next = rows_of(s->stage, &state, &next_bytes);
        read_piece(from, bytes, next, &t);
        read += bytes;
        from = next;
        bytes = next_bytes;
    }
    s->bytes = read;
    s->sum = grand_total(t);
    return NULL;
}

static double sink;

static double stream_bandwidth(const stage *st, uint32_t threads, void *(*read)(void *))
{
    const tacit_shard *all = tacit_dataset_pooled(st->source.data, TACIT_TRAIN);
    tacit_batch first;
    size_t cursor = 0, sum_bytes = 0;
    tacit_shard_next(all, &cursor, &first);
    size_t part = tacit_shard_rows(all) * FEATURES * 4 / threads;
    stream s[16];
    pthread_t thread[16];
    enum { PASSES = 4 };
    double start = bench_seconds();
    for (int pass = 0; pass < PASSES; pass++) {
        for (uint32_t k = 0; k < threads; k++) {
            s[k] = (stream){st, (const char *)first.x + k * part, part, 0};
            if (k > 0)
                pthread_create(&thread[k], NULL, read, &s[k]);
        }
        read(&s[0]);
        for (uint32_t k = 1; k < threads; k++)
            pthread_join(thread[k], NULL);
        for (uint32_t k = 0; k < threads; k++) {
            sink += s[k].sum;
            sum_bytes += s[k].bytes;
        }
    }
    return (double)sum_bytes / (bench_seconds() - start);
}

static void compare_threads(FILE *out, const stage *st, uint32_t threads)
{
    double ours[TURNS], bound[TURNS], random[TURNS], rate[TURNS];
    tacit_runtime *rt = simulator(st, threads);
    for (int turn = 0; turn < TURNS; turn++) {
        bound[turn] = stream_bandwidth(st, threads, read_in_order);
        random[turn] = stream_bandwidth(st, threads, read_at_random);
        ours[turn] = tick_bandwidth(rt, st, &rate[turn]);
    }
    rt->ops->destroy(rt);
    char name[64], note[128];
    snprintf(name, sizeof name, "cd bandwidth %u thread%s", threads, threads > 1 ? "s" : "");
    snprintf(note, sizeof note, "%.0f updates a second; kernels %s; medians of %d turns",
             bench_median(rate, TURNS), tacit_kernels_get()->name, TURNS);
    bench_row(out, name, bench_median(ours, TURNS) / 1e9, bench_median(bound, TURNS) / 1e9, "GB/s",
              note);
    snprintf(name, sizeof name, "random order %u thread%s", threads, threads > 1 ? "s" : "");
    bench_row(out, name, bench_median(random, TURNS) / 1e9, bench_median(bound, TURNS) / 1e9,
              "GB/s",
              "rows of random agents summed and nothing else: the bound of any random order");
}

/* `cd 1` or `cd 2` measures only that number of threads, for profiling. */
int main(int argc, char **argv)
{
    uint32_t only = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    stage st = {0};
    build(&st);
    FILE *out = bench_open("cd");
    printf("a tick reads %.0f bytes on average\n", st.mean_bytes);
    for (uint32_t threads = 1; threads <= 2; threads++)
        if (only == 0 || only == threads)
            compare_threads(out, &st, threads);
    fclose(out);
    tacit_model_free(st.model);
    tacit_graph_clear(&st.graph);
    tacit_source_clear(&st.source);
    return sink == 42;
}
