/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nets on one core: a private step as users make it (permit, clipped sum of 256 records on the
 * grid, exact noise on every parameter, update) against the same without clip and noise plus the
 * sampler's time measured alone; and against PyTorch, if it is there (torch_nets.py), in the same
 * run. Then the arithmetic bound: how many multiplications and additions a record costs, and how
 * many a second our products make at their best, beside OpenBLAS on the same shapes where it is
 * there. Last, whole rounds of ten agents in the simulator (nets_round.h).
 *
 * Times are those of the one thread on its core, and the best of many turns counts: what else the
 * machine does is not ours. Medians stand beside them.
 */
#include <math.h>
#ifdef WITH_OPENBLAS
#include <cblas.h>
#endif

#include "base/pool.h"
#include "base/scratch.h"
#include "bench.h"
#include "math/net_kernels.h"
#include "nets_round.h"
#include "privacy/release.h"
#include "tacit/tacit.h"

/* Seconds that this thread has worked. */
static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { LOT = 256, SHARDS = 16, TURNS = 60, MOST = 120000 };

typedef struct contest {
    const char *name, *layers, *input;
    uint32_t features;
    double flops; /* of a record: products forward, of weights and of inputs */
} contest;

/* Two for each weight and position, forward and for its gradient; and for the slopes of what lies
 * between layers with weights. */
static const contest contests[] = {
    {"cnn", "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10", "1x32x32", 1024,
     2.0 * (2 * 75 * 784 + 3 * 588 * 64 + 3 * 64 * 10)},
    {"mlp", "dense 128, relu, dense 10", "", 784, 2.0 * (2 * 784 * 128 + 3 * 128 * 10)},
    {"softmax", "dense 10", "", 784, 2.0 * (2 * 784 * 10)},
};

static int64_t draws[MOST];
static tacit_random keys;
static tacit_error err;
static tacit_costs *kept;
static tacit_ledger ledger;
static const tacit_budget no_limit = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_PLD};

/* A net and its records: some shards of a lot each, so that rows come from memory. */
typedef struct bench_net {
    tacit_model *model;
    tacit_dataset *data;
    tacit_pool *pool;
    tacit_scratch *scratch;
    tacit_public *theta;
    tacit_cost bare, private;
    uint32_t shard;
} bench_net;

static tacit_dataset *pictures(uint32_t features)
{
    uint32_t count[SHARDS];
    double x[1024];
    tacit_stream stream;
    tacit_dataset *data;
    for (uint32_t k = 0; k < SHARDS; k++)
        count[k] = LOT;
    const uint32_t *const counts[TACIT_SPLITS] = {count, NULL, NULL};
    bench_must(tacit_dataset_create(&data, SHARDS, features, TACIT_F32, counts, &err), &err);
    tacit_stream_open(&stream, &keys, 2, TACIT_FOR_TEST, 0);
    for (uint32_t k = 0; k < SHARDS * LOT; k++) {
        for (uint32_t c = 0; c < features; c++)
            x[c] = tacit_stream_unit(&stream);
        const double label = (double)tacit_stream_below(&stream, 10);
        bench_must(tacit_dataset_put(data, k / LOT, TACIT_TRAIN, k % LOT, x, label, &err), &err);
    }
    return data;
}

static bench_net make(const contest *c)
{
    bench_net b = {.pool = tacit_pool_create(false), .scratch = tacit_scratch_create()};
    tacit_model_options options = {.loss = 2, .classes = 10, .scalar = TACIT_F32};
    snprintf(options.layers, sizeof options.layers, "%s", c->layers);
    snprintf(options.input, sizeof options.input, "%s", c->input);
    b.data = pictures(c->features);
    bench_must(tacit_model_create(&b.model, &options, c->features, &err), &err);
    const tacit_shape *shape = tacit_model_shape(b.model);
    b.theta = tacit_vector_public(tacit_pool_vector(b.pool, shape, 0));
    tacit_model_start(b.model, (const uint8_t[TACIT_START_NAME]){1}, b.theta);
    b.bare = (tacit_cost){.coordinates = shape->segment[0].count, .what = "bench"};
    b.private = b.bare;
    b.private.mechanism = TACIT_MECHANISM_GAUSSIAN;
    bench_must(tacit_cost_on_grid(&b.private, 1, 1, &err), &err);
    return b;
}

static void drop(bench_net *b)
{
    tacit_vector_drop(b->pool, tacit_vector_of_public(b->theta));
    tacit_dataset_free(b->data);
    tacit_model_free(b->model);
    tacit_scratch_free(b->scratch);
    tacit_pool_free(b->pool);
}

static void reserve(const tacit_cost *cost, tacit_permit *permit)
{
    bench_must(tacit_ledger_reserve(&ledger, kept, &no_limit, cost, 0, permit, &err), &err);
}

/* theta -= rate G: what a protocol does in an iteration. Seconds. */
static double step(bench_net *b, const tacit_cost *cost)
{
    const bool noisy = cost->mechanism != TACIT_MECHANISM_NONE;
    const tacit_scratch_mark mark = tacit_scratch_now(b->scratch);
    tacit_permit permit;
    tacit_bounded *bounded;
    tacit_public *gradient;
    const tacit_clip clip = noisy ? tacit_cost_clip(cost) : (tacit_clip){TACIT_L2, INFINITY};
    const tacit_shard *shard = tacit_dataset_shard(b->data, b->shard, TACIT_TRAIN);
    const double start = worked();
    reserve(cost, &permit);
    bench_must(
        tacit_model_gradient(b->model, &permit, shard, b->theta, clip, b->scratch, &bounded, &err),
        &err);
    bench_must(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&keys, 0, NULL},
                                     &gradient, &err),
               &err);
    tacit_public_axpy(b->theta, -1e-3, gradient);
    tacit_scratch_rewind(b->scratch, mark);
    return worked() - start;
}

static double sample(bench_net *b, uint64_t turn)
{
    tacit_permit permit;
    tacit_stream stream;
    reserve(&b->private, &permit);
    tacit_stream_open(&stream, &keys, 1, TACIT_FOR_NOISE, turn);
    const double start = worked();
    tacit_noise_draw(permit.noise, &stream, b->private.coordinates, draws);
    return worked() - start;
}

static double least(double *turns)
{
    bench_median(turns, TURNS); /* sorts */
    return turns[0];
}

static void name_of(char name[64], const contest *c, const char *what)
{
    snprintf(name, 64, "%s_%s", c->name, what);
}

/* Records a second of a private step: the best of all turns. */
static double race(FILE *file, const contest *c, double peak)
{
    double bare[TURNS], private[TURNS], sampler[TURNS];
    char name[64], note[160];
    bench_net b = make(c);
    for (int turn = -2; turn < TURNS; turn++) { /* the first two warm up */
        const int at = turn < 0 ? 0 : turn;
        b.shard = (b.shard + 1) % SHARDS;
        bare[at] = step(&b, &b.bare);
        b.shard = (b.shard + 1) % SHARDS;
        private[at] = step(&b, &b.private);
        sampler[at] = sample(&b, (uint64_t)at);
    }
    const double took = least(private), free_of = least(bare), draw = least(sampler);
    name_of(name, c, "records");
    snprintf(note, sizeof note, "private step of %d; baseline: without clip and noise", LOT);
    bench_row(file, name, LOT / took, LOT / free_of, "records/s", note);
    name_of(name, c, "records_median");
    bench_row(file, name, LOT / private[TURNS / 2], LOT / bare[TURNS / 2], "records/s",
              "the same; medians instead of the best");
    name_of(name, c, "step");
    snprintf(note, sizeof note, "private step; baseline: step without + sampler alone (%.3f ms)",
             draw * 1e3);
    bench_row(file, name, took * 1e3, (free_of + draw) * 1e3, "ms", note);
    name_of(name, c, "bound");
    snprintf(note, sizeof note,
             "step less the sampler; baseline: %.0f flops a record at our best product", c->flops);
    bench_row(file, name, LOT / (took - draw), peak / c->flops, "records/s", note);
    drop(&b);
    return LOT / took;
}

/* ---- PyTorch ---- */

enum { NETS = sizeof contests / sizeof *contests };

/* Debian's python3, whose module python3-torch is. Its own words if it has none go nowhere. */
#define TORCH "/usr/bin/python3 bench/torch_nets.py 2>/dev/null"

static void torch_row(FILE *file, const contest *c, const char *line, double ours)
{
    char way[32], name[64], note[160];
    int threads;
    double cpu, cpu_median, wall, wall_median;
    if (sscanf(line, "%*s %31s %d %lf %lf %lf %lf", way, &threads, &cpu, &cpu_median, &wall,
               &wall_median) != 6)
        return;
    snprintf(name, sizeof name, "%s_torch_%s_%d", c->name, way, threads);
    snprintf(note, sizeof note,
             "private step on one thread; baseline: PyTorch on %d (%s; median of its turns %.4g)",
             threads, threads > 1 ? "wall" : "processor time",
             LOT / (threads > 1 ? wall_median : cpu_median));
    bench_row(file, name, ours, LOT / (threads > 1 ? wall : cpu), "records/s", note);
}

static void against_torch(FILE *file, const double *ours)
{
    char line[256], name[64];
    bool there = false;
    FILE *torch = popen(TORCH, "r"); /* NOLINT(cert-env33-c): a fixed command */
    while (torch && fgets(line, sizeof line, torch))
        for (size_t q = 0; q < NETS; q++)
            if (strncmp(line, contests[q].name, strlen(contests[q].name)) == 0) {
                torch_row(file, &contests[q], line, ours[q]);
                there = true;
            }
    if (torch)
        pclose(torch);
    for (size_t q = 0; q < NETS && !there; q++) {
        name_of(name, &contests[q], "torch");
        bench_row(file, name, ours[q], NAN, "records/s", "PyTorch is not there: python3-torch");
    }
}

/* ---- products ---- */

typedef struct shape {
    const char *name;
    size_t m, n, k;
} shape;
static const shape shapes[] = {{"product_dense_588_64", LOT, 64, 588},
                               {"product_dense_784_128", LOT, 128, 784},
                               {"product_dense_784_10", LOT, 10, 784},
                               {"product_back_64_588", LOT, 588, 64},
                               {"product_conv_512_4608", 512, 16, 4608}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static double ours(const shape *s, const float *a, const float *b, float *panels, float *c)
{
    const tacit_net_kernels *kernels = tacit_net_kernels_get();
    const double start = worked();
    kernels->pack(s->k, s->n, b, s->n, 1, panels);
    kernels->product(&(tacit_product){.m = s->m,
                                      .n = s->n,
                                      .k = s->k,
                                      .a = a,
                                      .a_step = s->k,
                                      .b = panels,
                                      .b_row = TACIT_NET_PANEL,
                                      .b_panel = TACIT_NET_PANEL * s->k,
                                      .c = c,
                                      .c_row = s->n});
    return worked() - start;
}

static double theirs(const shape *s, const float *a, const float *b, float *c)
{
#ifdef WITH_OPENBLAS
    const double start = worked();
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)s->m, (int)s->n, (int)s->k, 1, a,
                (int)s->k, b, (int)s->n, 0, c, (int)s->n);
    return worked() - start;
#else
    (void)s, (void)a, (void)b, (void)c;
    return NAN;
#endif
}

static float rows[512 * 4608]; /* the largest left side */

/* The best product's flops a second. */
static double products(FILE *file)
{
    double peak = 0;
    for (size_t q = 0; q < SHAPES; q++) {
        const shape *s = &shapes[q];
        double own[TURNS], other[TURNS];
        float *panels = calloc(s->k * (s->n + TACIT_NET_PANEL), sizeof *panels);
        float *c = calloc(s->m * s->n, sizeof *c), *b = calloc(s->k * s->n, sizeof *b);
        if (!panels || !c || !b)
            exit(1);
        memcpy(b, rows, s->k * s->n * sizeof *b);
        for (int turn = 0; turn < TURNS; turn++) {
            own[turn] = ours(s, rows, b, panels, c);
            other[turn] = theirs(s, rows, b, c);
        }
        const double flops = 2.0 * (double)s->m * (double)s->n * (double)s->k;
        const double rate = flops / least(own);
        peak = rate > peak ? rate : peak;
        bench_row(file, s->name, rate * 1e-9, flops / least(other) * 1e-9, "Gflop/s",
                  "ours with packing; baseline: OpenBLAS (NaN: not there)");
        free(panels);
        free(b);
        free(c);
    }
    return peak;
}

int main(void)
{
    FILE *file = bench_open("nets");
    double ours[NETS];
    tacit_stream stream;
    tacit_random_init(&keys, 1);
    kept = tacit_costs_create();
    tacit_stream_open(&stream, &keys, 2, TACIT_FOR_TEST, 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        rows[k] = (float)tacit_stream_unit(&stream);
    const double peak = products(file);
    for (size_t q = 0; q < NETS; q++)
        ours[q] = race(file, &contests[q], peak);
    against_torch(file, ours);
    nets_rounds(file);
    fclose(file);
    tacit_ledger_clear(&ledger);
    tacit_costs_free(kept);
    return 0;
}
