/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rounds of diffusion: 20,000 agents of 100 records each, 100 features, ten neighbours, ATC. An
 * agent's iteration reads its records once (80 kB) and a word of each neighbour (0.8 kB each); the
 * baseline of each row is a mere sum over the same bytes, agent after agent, in the same run: the
 * roofline of a loop that is bound by memory. With one record an agent, what is left is what the
 * events cost. The masked row has fewer agents: each word of it is expanded for every pair of a
 * receiver's neighbours; its baseline is the same run without masks.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "tacit/tacit.h"

enum { TURNS = 5, FEATURES = 100 };

typedef struct shape {
    int agents, records, neighbours;
    const char *noise;
} shape;

/* Seconds an agent and iteration. */
static double rounds(const shape *s)
{
    char text[600];
    tacit_error err = {0};
    tacit_experiment x;
    tacit_config config;
    tacit_session *session = NULL;
    snprintf(text, sizeof text,
             "run: {time: 1000}\n"
             "data: {agents: %d, dimension: %d, min-records: %d, max-records: %d,\n"
             "       test-records: 0, validation-records: 0}\n"
             "graph: {kind: k-regular, k: %d}\n"
             "protocol: {name: diffusion, iterations: 1000, step: 0.1, noise: %s}\n",
             s->agents, FEATURES, s->records, s->records, s->neighbours, s->noise);
    tacit_config_init(&config);
    bench_must(tacit_config_parse(&config, "bench", text, strlen(text), &err), &err);
    bench_must(tacit_experiment_init(&x, &config, &err), &err);
    bench_must(tacit_session_create(&session, &x, 1, &err), &err);
    tacit_runtime *rt = tacit_session_runtime(session);
    bench_must(rt->ops->run(rt, 2, NULL, &err), &err); /* greetings, keys, and warm */
    double seconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = bench_seconds();
        bench_must(rt->ops->run(rt, rt->ops->now(rt) + 2, NULL, &err), &err);
        seconds[turn] = (bench_seconds() - start) / (2. * s->agents);
    }
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
    return bench_median(seconds, TURNS);
}

/* The same bytes, added up. */
static double roofline(const shape *s)
{
    const size_t own = (size_t)s->records * FEATURES, words = (size_t)s->neighbours * FEATURES;
    const size_t count = (size_t)s->agents * (own + words);
    double *x = malloc(count * sizeof *x), seconds[TURNS];
    if (!x)
        exit(1);
    for (size_t k = 0; k < count; k++)
        x[k] = (double)(k % 7);
    volatile double keep = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        const double start = bench_seconds();
        double sum[8] = {0};
        for (size_t k = 0; k + 8 <= count; k += 8)
            for (size_t j = 0; j < 8; j++)
                sum[j] += x[k + j];
        for (size_t j = 0; j < 8; j++)
            keep = keep + sum[j];
        seconds[turn] = (bench_seconds() - start) / s->agents;
    }
    free(x);
    return bench_median(seconds, TURNS);
}

int main(void)
{
    static const shape shapes[] = {
        {20000, 100, 10, "none"}, {20000, 100, 4, "none"}, {20000, 1, 10, "none"}};
    FILE *out = bench_open("diffusion");
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        char name[80];
        snprintf(name, sizeof name, "iteration %d records %d neighbours", shapes[k].records,
                 shapes[k].neighbours);
        bench_row(out, name, rounds(&shapes[k]) * 1e6, roofline(&shapes[k]) * 1e6, "us",
                  "an agent; baseline: a sum over the same bytes");
    }
    shape masked = {1000, 100, 10, "local-homomorphic"}, plain = masked;
    plain.noise = "none";
    bench_row(out, "iteration masked 10 neighbours", rounds(&masked) * 1e6, rounds(&plain) * 1e6,
              "us", "an agent, 1000 of them; baseline: without masks");
    fclose(out);
    return 0;
}
