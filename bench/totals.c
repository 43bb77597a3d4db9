/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums over all agents under masks, as users run them: whole rounds of protocols in the simulator,
 * from the roll call to the result, on two threads; partners and keys are agreed on before and
 * timed apart. Baselines of the same run: the keystream that masks are made of, by the same kernels
 * on the same number of threads, and one pass that adds the words.
 */
#include <pthread.h>
#include <string.h>

#include "bench.h"
#include "crypto/streams.h"
#include "tacit/tacit.h"

enum { THREADS = 2 };

typedef struct shape {
    int agents, features, rank, partners; /* rank 0: gopa */
} shape;

typedef struct timed {
    double keys, round, peak;
} timed;

/* Messages take 1, patience is 100: masks are agreed on at 2, the round begins at 52 and takes 13
 * messages one after the other. */
static void describe(const shape *s, char *text, size_t len)
{
    char protocol[200];
    if (s->rank)
        snprintf(protocol, sizeof protocol,
                 "{name: chorus, sum: masks, rank: %d, absent: 0.05, patience: 100, partners: %d, "
                 "finish: none}",
                 s->rank, s->partners);
    else
        snprintf(protocol, sizeof protocol,
                 "{name: gopa, low: -1, high: 1, absent: 0.05, patience: 100, partners: %d}",
                 s->partners);
    snprintf(text, len,
             "run: {time: 100}\n"
             "data: {agents: %d, dimension: %d, min-records: 2, max-records: 2, bound: l2,\n"
             "       test-records: 0, validation-records: 0}\n"
             "graph: {kind: k-regular, k: 4}\n"
             "network: {latency: constant, latency-floor: 1}\n"
             "privacy: {mechanism: gaussian, clip: 0.5, epsilon: 1, delta: 1e-6}\n"
             "protocol: %s\n",
             s->agents, s->features, protocol);
}

static timed rounds(const shape *s)
{
    char text[900];
    tacit_error err = {0};
    tacit_experiment x;
    tacit_config config;
    tacit_session *session = NULL;
    timed t;
    describe(s, text, sizeof text);
    tacit_config_init(&config);
    bench_must(tacit_config_parse(&config, "bench", text, strlen(text), &err), &err);
    bench_must(tacit_experiment_init(&x, &config, &err), &err);
    bench_must(tacit_session_create(&session, &x, THREADS, &err), &err);
    tacit_runtime *rt = tacit_session_runtime(session);
    double start = bench_seconds();
    bench_must(rt->ops->run(rt, 51, NULL, &err), &err);
    t.keys = bench_seconds() - start;
    start = bench_seconds();
    bench_must(rt->ops->run(rt, 90, NULL, &err), &err);
    t.round = bench_seconds() - start;
    t.peak = bench_peak();
    const tacit_traffic traffic = rt->ops->traffic(rt);
    if (traffic.releases != (uint64_t)s->agents) {
        fprintf(stderr, "bench: %llu releases of %d agents: the round was not heard at once\n",
                (unsigned long long)traffic.releases, s->agents);
        exit(1);
    }
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
    return t;
}

/* ---- baselines ---- */

typedef struct stream_job {
    const shape *shape;
    const tacit_noise *noise;
    size_t numbers;
    int first, count;
} stream_job;

/* What the words of some agents are made of: a stream for each partner. */
static void *expand(void *ctx)
{
    const stream_job *job = ctx;
    const size_t partners = 2 * (size_t)job->shape->partners;
    tacit_mask *mask = calloc(partners, sizeof *mask);
    uint64_t *word = calloc(job->numbers, sizeof *word);
    for (int k = 0; mask && word && k < job->count; k++) {
        for (size_t j = 0; j < partners; j++)
            memcpy(mask[j].key, &(uint64_t[2]){(uint64_t)(job->first + k), j}, 16);
        tacit_streams_add(word, job->numbers, mask, partners, 1, 0);
    }
    free(mask);
    free(word);
    return NULL;
}

/* The noise of some agents' numbers: no part of the baseline, but of every round. */
static void *draw(void *ctx)
{
    const stream_job *job = ctx;
    tacit_random random;
    tacit_random_init(&random, 1);
    int64_t *z = calloc(job->numbers, sizeof *z);
    for (int k = 0; z && k < job->count; k++) {
        tacit_stream stream;
        tacit_stream_open(&stream, &random, (tacit_agent)(job->first + k), TACIT_FOR_NOISE, 0);
        tacit_noise_draw(job->noise, &stream, job->numbers, z);
    }
    free(z);
    return NULL;
}

static double on_threads(void *(*work)(void *), const shape *s, size_t numbers,
                         const tacit_noise *noise)
{
    pthread_t thread[THREADS];
    stream_job job[THREADS];
    const double start = bench_seconds();
    for (int t = 0; t < THREADS; t++) {
        const int each = s->agents / THREADS;
        job[t] = (stream_job){
            .shape = s, .noise = noise, .numbers = numbers, .first = t * each, .count = each};
        pthread_create(&thread[t], NULL, work, &job[t]);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return bench_seconds() - start;
}

/* One pass that adds up all words. */
static double adding(const shape *s, size_t numbers)
{
    uint64_t *words = malloc((size_t)s->agents * numbers * sizeof *words);
    uint64_t *sum = calloc(numbers, sizeof *sum);
    if (!words || !sum)
        exit(1);
    memset(words, 1, (size_t)s->agents * numbers * sizeof *words);
    const double start = bench_seconds();
    for (int k = 0; k < s->agents; k++)
        for (size_t j = 0; j < numbers; j++)
            sum[j] += words[(size_t)k * numbers + j];
    const double seconds = bench_seconds() - start;
    volatile uint64_t keep = sum[0];
    (void)keep;
    free(words);
    free(sum);
    return seconds;
}

static double noise_alone(const shape *s, size_t numbers)
{
    tacit_error err = {0};
    tacit_noise *noise = NULL;
    bench_must(tacit_noise_gaussian(&noise, (tacit_ratio){10000, 1}, &err), &err);
    const double seconds = on_threads(draw, s, numbers, noise);
    tacit_noise_free(noise);
    return seconds;
}

static void row(FILE *out, const shape *s)
{
    char name[80], note[200];
    const size_t numbers = (size_t)s->features * (s->rank ? (size_t)s->rank : 1);
    const double base = on_threads(expand, s, numbers, NULL) + adding(s, numbers);
    const double noise = noise_alone(s, numbers);
    const timed t = rounds(s);
    snprintf(name, sizeof name, "%s %d agents %zu numbers k %d", s->rank ? "chorus" : "gopa",
             s->agents, numbers, s->partners);
    snprintf(note, sizeof note,
             "a round on two threads; noise alone: %.3f s; keys before: %.1f s; peak %.2f GB; "
             "baseline: keystream and one addition",
             noise, t.keys, t.peak / 1e9);
    bench_row(out, name, t.round, base, "s", note);
}

int main(int argc, char **argv)
{
    static const shape shapes[] = {
        {10000, 100, 0, 20}, {10000, 100, 10, 20}, {100000, 100, 10, 10}};
    const size_t count = argc > 1 ? (size_t)strtol(argv[1], NULL, 10) : 3;
    FILE *out = bench_open("totals");
    for (size_t k = 0; k < count && k < sizeof shapes / sizeof *shapes; k++)
        row(out, &shapes[k]);
    fclose(out);
    return 0;
}
