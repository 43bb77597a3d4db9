/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nets on one core: a private step (clipped sum of a lot of 256 records, noise on every parameter)
 * against the same without clip and noise, plus the sampler's time measured alone. Then the
 * arithmetic bound: how many multiplications and additions a record costs, and how many a second
 * our products make at their best, beside OpenBLAS on the same shapes where it is there.
 *
 * Times are those of the one thread on its core, and the best of many turns counts: what else the
 * machine does is not ours.
 */
#include <math.h>
#ifdef WITH_OPENBLAS
#include <cblas.h>
#endif

#include "bench.h"
#include "math/net_kernels.h"
#include "model/net.h"
#include "tacit/noise.h"

/* Seconds that this thread has worked. */
static double worked(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { LOT = 256, RECORDS = 4096, TURNS = 60, MOST = 120000 };

typedef struct contest {
    const char *name, *layers;
    tacit_volume in;
    double flops; /* of a record: products forward, of weights and of inputs */
} contest;

/* Two for each weight and position, forward and for its gradient; and for the slopes of what lies
 * between layers with weights. */
static const contest contests[] = {
    {"cnn",
     "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10",
     {1, 32, 32},
     2.0 * (2 * 75 * 784 + 3 * 588 * 64 + 3 * 64 * 10)},
    {"mlp", "dense 128, relu, dense 10", {784, 1, 1}, 2.0 * (2 * 784 * 128 + 3 * 128 * 10)},
    {"softmax", "dense 10", {784, 1, 1}, 2.0 * (2 * 784 * 10)},
};

static float rows[RECORDS * 1024], theta[MOST], sum[MOST];
static int64_t noise[MOST];
static const float *row[LOT];
static uint32_t label[LOT];
static tacit_random keys;

static void draw_lot(tacit_stream *stream, const tacit_net *net)
{
    for (size_t r = 0; r < LOT; r++) {
        row[r] = rows + tacit_stream_below(stream, RECORDS) * tacit_net_inputs(net);
        label[r] = (uint32_t)tacit_stream_below(stream, tacit_net_classes(net));
    }
}

typedef struct bench_net {
    tacit_net *net;
    tacit_net_room *room;
    tacit_noise *noise;
    tacit_stream stream;
    float clip;
} bench_net;

static bench_net make(const contest *c)
{
    bench_net b = {.clip = 1};
    tacit_layer layers[TACIT_LAYERS_MOST];
    size_t count;
    tacit_error err = {0};
    bench_must(tacit_layers_parse(c->layers, layers, &count, &err), &err);
    bench_must(tacit_net_create(&b.net, c->in, layers, count, &err), &err);
    bench_must(tacit_net_room_create(&b.room, b.net, &err), &err);
    bench_must(tacit_noise_gaussian(&b.noise, tacit_ratio_below(0x1p50), &err), &err);
    tacit_stream_open(&b.stream, &keys, 1, TACIT_FOR_TEST, 0);
    tacit_net_start(b.net, &b.stream, theta);
    return b;
}

static void drop(bench_net *b)
{
    tacit_net_free(b->net);
    tacit_net_room_free(b->room);
    tacit_noise_free(b->noise);
}

static void sample(bench_net *b)
{
    tacit_noise_draw(b->noise, &b->stream, tacit_net_parameters(b->net), noise);
}

/* theta -= (sum + noise) * rate, or without noise. */
static void step(bench_net *b, bool private)
{
    const tacit_net_lot lot = {LOT, row, label};
    const size_t n = tacit_net_parameters(b->net);
    tacit_net_report report;
    tacit_error err = {0};
    bench_must(tacit_net_gradient(b->net, b->room, theta, &lot, private ? b->clip : INFINITY, sum,
                                  &report, &err),
               &err);
    if (private)
        sample(b);
    for (size_t k = 0; k < n; k++)
        theta[k] -= 1e-4f * (private ? sum[k] + (float)noise[k] * 0x1p-25f : sum[k]);
}

static double least(double *turns)
{
    bench_median(turns, TURNS); /* sorts */
    return turns[0];
}

static void race(FILE *file, const contest *c, double peak)
{
    double bare[TURNS], private[TURNS], sampler[TURNS];
    char name[64], note[160];
    bench_net b = make(c);
    for (int turn = -2; turn < TURNS; turn++) { /* the first two warm up */
        const int at = turn < 0 ? 0 : turn;
        draw_lot(&b.stream, b.net);
        double start = worked();
        step(&b, false);
        bare[at] = worked() - start;
        start = worked();
        step(&b, true);
        private[at] = worked() - start;
        start = worked();
        sample(&b);
        sampler[at] = worked() - start;
    }
    const double took = least(private), free_of = least(bare), draws = least(sampler);
    snprintf(name, sizeof name, "%s_records", c->name);
    snprintf(note, sizeof note, "private step of %d; baseline: without clip and noise", LOT);
    bench_row(file, name, LOT / took, LOT / free_of, "records/s", note);
    snprintf(name, sizeof name, "%s_step", c->name);
    snprintf(note, sizeof note, "private step; baseline: step without + sampler alone (%.3f ms)",
             draws * 1e3);
    bench_row(file, name, took * 1e3, (free_of + draws) * 1e3, "ms", note);
    snprintf(name, sizeof name, "%s_bound", c->name);
    snprintf(note, sizeof note,
             "step less the sampler; baseline: %.0f flops a record at our best product", c->flops);
    bench_row(file, name, LOT / (took - draws), peak / c->flops, "records/s", note);
    drop(&b);
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
    tacit_stream stream;
    tacit_random_init(&keys, 1);
    tacit_stream_open(&stream, &keys, 2, TACIT_FOR_TEST, 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        rows[k] = (float)tacit_stream_unit(&stream);
    const double peak = products(file);
    for (size_t q = 0; q < sizeof contests / sizeof *contests; q++)
        race(file, &contests[q], peak);
    fclose(file);
    return 0;
}
