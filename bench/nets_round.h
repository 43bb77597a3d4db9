/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BENCH_NETS_ROUND_H
#define TACIT_BENCH_NETS_ROUND_H
/*
 * Rounds of ten agents in the simulator: dsgd on a complete graph, the net of paper 004, 6,000
 * pictures of 32 x 32 each, Poisson lots of 256, noise, ledgers and all. Each number of threads has
 * a process of its own: a peak of memory is never taken back. The baseline is 0.87 s, what the
 * paper's own code took for a round on another machine of this kind with its data in memory.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "protocol/consensus.h"
#include "tacit/tacit.h"

enum { ROUND_AGENTS = 10, ROUND_RECORDS = 6000, ROUND_PIXELS = 1024, ROUND_TURNS = 10 };
#define ROUND_PAPER 0.87
#define ROUND_MEMORY 150.0 /* MiB: the target */

typedef struct round_findings {
    double best, median; /* seconds a round */
    double cpu;          /* of all threads, the least */
    double beside;       /* bytes beside the data */
} round_findings;

static double round_cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static tacit_dataset *round_data(void)
{
    static double x[ROUND_PIXELS];
    tacit_error err = {0};
    tacit_random keys;
    tacit_stream stream;
    tacit_dataset *data;
    uint32_t count[ROUND_AGENTS];
    for (uint32_t i = 0; i < ROUND_AGENTS; i++)
        count[i] = ROUND_RECORDS;
    const uint32_t *const counts[TACIT_SPLITS] = {count, NULL, NULL};
    bench_must(tacit_dataset_create(&data, ROUND_AGENTS, ROUND_PIXELS, TACIT_F32, counts, &err),
               &err);
    tacit_random_init(&keys, 1);
    tacit_stream_open(&stream, &keys, 3, TACIT_FOR_TEST, 0);
    for (uint32_t i = 0; i < ROUND_AGENTS; i++)
        for (uint32_t r = 0; r < ROUND_RECORDS; r++) {
            for (int k = 0; k < ROUND_PIXELS; k++)
                x[k] = tacit_stream_unit(&stream);
            bench_must(tacit_dataset_put(data, i, TACIT_TRAIN, r, x, r % 10, &err), &err);
        }
    return data;
}

static round_findings round_measure(uint32_t threads)
{
    tacit_error err = {0};
    const tacit_protocol *dsgd = tacit_protocol_find("dsgd");
    tacit_model_options options = {.loss = 2, .classes = 10, .scalar = TACIT_F32};
    consensus_options protocol;
    tacit_graph graph = {0};
    tacit_model *model;
    tacit_runtime *rt;
    round_findings f;
    double seconds[ROUND_TURNS], cpu[ROUND_TURNS];
    snprintf(options.layers, sizeof options.layers, "%s",
             "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10");
    snprintf(options.input, sizeof options.input, "1x32x32");
    tacit_dataset *data = round_data();
    bench_must(tacit_model_create(&model, &options, ROUND_PIXELS, &err), &err);
    bench_must(tacit_graph_complete(&graph, ROUND_AGENTS, &err), &err);
    bench_must(tacit_options_defaults(&dsgd->options, &protocol, &err), &err);
    protocol.iterations = 2000;
    protocol.lot = 256;
    tacit_world world = {.graph = &graph,
                         .data = data,
                         .model = model,
                         .protocol = dsgd,
                         .protocol_options = &protocol,
                         .seed = 1,
                         .threads = threads};
    bench_must(tacit_options_defaults(&tacit_network_section, &world.network, &err), &err);
    bench_must(tacit_options_defaults(&tacit_privacy_section, &world.privacy, &err), &err);
    world.network.latency = TACIT_LATENCY_CONSTANT; /* agents compute side by side */
    world.privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    world.privacy.epsilon = 1;
    world.privacy.clip = 1;
    bench_must(tacit_simulator.create(&rt, &world, &err), &err);
    bench_must(rt->ops->run(rt, 5.5, NULL, &err), &err); /* warm */
    for (int turn = 0; turn < ROUND_TURNS; turn++) {
        const double start = bench_seconds(), worked_before = round_cpu();
        bench_must(rt->ops->run(rt, rt->ops->now(rt) + 4, NULL, &err), &err);
        seconds[turn] = (bench_seconds() - start) / 4;
        cpu[turn] = (round_cpu() - worked_before) / 4;
    }
    f.median = bench_median(seconds, ROUND_TURNS);
    f.best = seconds[0];
    bench_median(cpu, ROUND_TURNS); /* sorts */
    f.cpu = cpu[0];
    f.beside = bench_peak() - 4.0 * ROUND_AGENTS * ROUND_RECORDS * (ROUND_PIXELS + 1);
    rt->ops->destroy(rt);
    tacit_graph_clear(&graph);
    tacit_model_free(model);
    tacit_dataset_free(data);
    return f;
}

/* In a process of its own. */
static round_findings round_child(uint32_t threads)
{
    round_findings f = {0};
    int ends[2];
    if (pipe(ends) != 0)
        exit(3);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        f = round_measure(threads);
        _exit(write(ends[1], &f, sizeof f) == (ssize_t)sizeof f ? 0 : 1);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], &f, sizeof f) != (ssize_t)sizeof f) {
        fprintf(stderr, "bench: a round on %u threads failed\n", threads);
        exit(1);
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    return f;
}

static void nets_rounds(FILE *file)
{
    for (uint32_t threads = 1; threads <= 2; threads++) {
        char name[64], note[160];
        const round_findings f = round_child(threads);
        snprintf(name, sizeof name, "round_of_10_agents_%u", threads);
        snprintf(note, sizeof note,
                 "wall seconds on %u threads (median %.4g; processor %.4g); baseline: the paper's "
                 "code; target: ratio 0.083",
                 threads, f.median, f.cpu);
        bench_row(file, name, f.best, ROUND_PAPER, "s", note);
        snprintf(name, sizeof name, "memory_of_10_agents_%u", threads);
        bench_row(file, name, f.beside / 0x1p20, ROUND_MEMORY, "MiB",
                  "peak less records and labels; baseline: the target");
    }
}

#endif
