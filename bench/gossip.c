/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gossip round of 4,141 agents with one record of 57 features each and a linear model: the
 * size of a well-known example (a node for every training record of Spambase) on which a
 * popular simulator in Python was measured on this kind of machine: 0.56 ms a node and round,
 * 170 kB a node. A round here is one tick of every agent on average: a gradient on its own
 * record, a step, a broadcast to ten neighbours, everything written down in ledgers.
 *
 * Memory is the peak of the whole process, libraries included, divided by the agents.
 */
#include <string.h>

#include "bench.h"
#include "tacit/tacit.h"

#define PYTHON_SECONDS 0.56e-3 /* a node and round */
#define PYTHON_BYTES 170e3     /* a node */
enum { AGENTS = 4141, ROUNDS = 200, TURNS = 5 };

static const char experiment_text[] =
    "data: {agents: 4141, dimension: 57, min-records: 1, max-records: 1,\n"
    "       test-records: 0, validation-records: 0}\n"
    "graph: {kind: k-out, k: 5}\n"
    "protocol: {name: cd, mu: 1}\n";

/* Seconds a node and round: the median of a few turns. */
static double rounds(tacit_experiment *x, uint32_t threads)
{
    tacit_error err = {0};
    tacit_session *session = NULL;
    bench_must(tacit_session_create(&session, x, threads, &err), &err);
    tacit_runtime *rt = tacit_session_runtime(session);
    bench_must(rt->ops->run(rt, 10, NULL, &err), &err); /* start and warm up */
    double seconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t before = rt->ops->traffic(rt).ticks;
        double start = bench_seconds();
        bench_must(rt->ops->run(rt, rt->ops->now(rt) + ROUNDS, NULL, &err), &err);
        seconds[turn] = (bench_seconds() - start) / (double)(rt->ops->traffic(rt).ticks - before);
    }
    tacit_session_free(session);
    return bench_median(seconds, TURNS);
}

int main(void)
{
    tacit_error err = {0};
    tacit_experiment x;
    tacit_config config;
    tacit_config_init(&config);
    bench_must(
        tacit_config_parse(&config, "bench", experiment_text, sizeof experiment_text - 1, &err),
        &err);
    bench_must(tacit_experiment_init(&x, &config, &err), &err);
    FILE *out = bench_open("gossip");
    for (uint32_t threads = 1; threads <= 2; threads++) {
        char name[60], note[120];
        double ours = rounds(&x, threads);
        snprintf(name, sizeof name, "gossip round %d agents %u thread%s", AGENTS, threads,
                 threads > 1 ? "s" : "");
        snprintf(note, sizeof note, "%.0f times faster than the Python simulator a node and round",
                 PYTHON_SECONDS / ours);
        bench_row(out, name, ours * 1e6, PYTHON_SECONDS * 1e6, "us", note);
    }
    bench_row(out, "gossip memory a node", bench_peak() / AGENTS / 1e3, PYTHON_BYTES / 1e3, "kB",
              "peak of the whole process over the agents");
    fclose(out);
    tacit_config_clear(&config);
    tacit_experiment_clear(&x);
    return 0;
}
