/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole release: permit, bound, noise, out. A million coordinates on one core and on all,
 * against drawing as much noise and doing nothing else; and the gradient of an agent's records
 * on the grid against the same clipped in floating point, and against no clipping.
 */
#include <math.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/scratch.h"
#include "base/threads.h"
#include "bench.h"
#include "privacy/release.h"
#include "tacit/tacit.h"

enum { MILLION = 1000000, TURNS = 9, RECORDS = 55, FEATURES = 100, TICKS = 2000 };

static tacit_error err;
static tacit_random keys;
static const tacit_budget no_limit = {INFINITY, 1e-5, TACIT_TRUST_LOCAL, TACIT_BY_PLD};
static tacit_costs *kept;
static tacit_ledger ledger;

static tacit_cost planned(tacit_mechanism mechanism, uint64_t coordinates)
{
    tacit_cost cost = {.mechanism = mechanism, .coordinates = coordinates, .what = "bench"};
    if (mechanism != TACIT_MECHANISM_NONE)
        bench_must(tacit_cost_on_grid(&cost, 1, 1, &err), &err);
    return cost;
}

/* ---- a million coordinates ---- */

static double release_million(tacit_mechanism mechanism, const tacit_secret *secret,
                              tacit_scratch *scratch, tacit_threads *threads)
{
    const tacit_cost cost = planned(mechanism, MILLION);
    double seconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        tacit_permit permit;
        tacit_bounded *bounded;
        tacit_public *out;
        tacit_scratch_mark mark = tacit_scratch_now(scratch);
        double start = bench_seconds();
        bench_must(tacit_ledger_reserve(&ledger, kept, &no_limit, &cost, 0, &permit, &err), &err);
        bench_must(tacit_bound_vector(&permit, secret, scratch, &bounded, &err), &err);
        bench_must(tacit_mechanism_apply(&permit, bounded, &(tacit_noise_source){&keys, 0, threads},
                                         &out, &err),
                   &err);
        seconds[turn] = bench_seconds() - start;
        tacit_scratch_rewind(scratch, mark);
    }
    return bench_median(seconds, TURNS) / MILLION * 1e9;
}

static double draw_million(tacit_mechanism mechanism, int64_t *room)
{
    const tacit_cost cost = planned(mechanism, MILLION);
    tacit_permit permit;
    bench_must(tacit_ledger_reserve(&ledger, kept, &no_limit, &cost, 0, &permit, &err), &err);
    double seconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        tacit_stream stream;
        tacit_stream_open(&stream, &keys, 1, TACIT_FOR_NOISE, (uint64_t)turn);
        double start = bench_seconds();
        tacit_noise_draw(permit.noise, &stream, MILLION, room);
        seconds[turn] = bench_seconds() - start;
    }
    return bench_median(seconds, TURNS) / MILLION * 1e9;
}

static void million(FILE *out)
{
    tacit_pool *pool = tacit_pool_create(false);
    tacit_scratch *scratch = tacit_scratch_create();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    tacit_threads *threads = tacit_threads_create(cores > 1 ? (uint32_t)cores : 2);
    int64_t *room = malloc(MILLION * sizeof *room);
    tacit_shape shape;
    bench_must(tacit_shape_init(&shape, &(tacit_segment){"value", TACIT_F64, MILLION}, 1, &err),
               &err);
    tacit_vector *v = tacit_pool_vector(pool, &shape, TACIT_VECTOR_SECRET);
    for (size_t k = 0; k < MILLION; k++)
        tacit_vector_set(v, 0, k, sin((double)k) / 1000);
    for (int m = TACIT_MECHANISM_LAPLACE; m <= TACIT_MECHANISM_GAUSSIAN; m++) {
        char name[80], note[80];
        double noise = draw_million((tacit_mechanism)m, room);
        double one = release_million((tacit_mechanism)m, tacit_vector_secret(v), scratch, NULL);
        double all = release_million((tacit_mechanism)m, tacit_vector_secret(v), scratch, threads);
        snprintf(name, sizeof name, "release of a million %s", tacit_mechanism_name(m));
        bench_row(out, name, one, noise, "ns a coordinate", "baseline: the noise alone");
        snprintf(name, sizeof name, "the same on %u threads", tacit_threads_count(threads));
        snprintf(note, sizeof note, "baseline: one thread");
        bench_row(out, name, all, one, "ns a coordinate", note);
    }
    free(room);
    tacit_vector_drop(pool, v);
    tacit_threads_free(threads);
    tacit_scratch_free(scratch);
    tacit_pool_free(pool);
}

/* ---- a gradient ---- */

typedef struct agent {
    tacit_dataset *data;
    tacit_model *model;
    tacit_public *at;
    tacit_scratch *scratch;
} agent;

static double gradients(const agent *a, tacit_mechanism mechanism, double radius)
{
    const tacit_cost cost = planned(mechanism, FEATURES);
    const tacit_clip clip = {TACIT_L2, radius};
    double seconds[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        double start = bench_seconds();
        for (int tick = 0; tick < TICKS; tick++) {
            tacit_permit permit;
            tacit_bounded *bounded;
            tacit_public *out;
            tacit_scratch_mark mark = tacit_scratch_now(a->scratch);
            bench_must(tacit_ledger_reserve(&ledger, kept, &no_limit, &cost, 0, &permit, &err),
                       &err);
            bench_must(tacit_model_gradient(a->model, &permit,
                                            tacit_dataset_shard(a->data, 0, TACIT_TRAIN), a->at,
                                            clip, a->scratch, &bounded, &err),
                       &err);
            bench_must(tacit_mechanism_apply(&permit, bounded,
                                             &(tacit_noise_source){&keys, 0, NULL}, &out, &err),
                       &err);
            tacit_scratch_rewind(a->scratch, mark);
        }
        seconds[turn] = (bench_seconds() - start) / TICKS;
    }
    return bench_median(seconds, TURNS) * 1e6;
}

static void gradient(FILE *out)
{
    const uint32_t rows = RECORDS, *counts[TACIT_SPLITS] = {&rows, NULL, NULL};
    const tacit_model_options options = {.scalar = TACIT_F32};
    tacit_pool *pool = tacit_pool_create(false);
    agent a = {.scratch = tacit_scratch_create()};
    bench_must(tacit_dataset_create(&a.data, 1, FEATURES, TACIT_F32, counts, &err), &err);
    bench_must(tacit_model_create(&a.model, &options, FEATURES, &err), &err);
    a.at = tacit_vector_public(tacit_pool_vector(pool, tacit_model_shape(a.model), 0));
    tacit_public_zero(a.at);
    for (uint32_t r = 0; r < rows; r++) {
        double x[FEATURES];
        for (int k = 0; k < FEATURES; k++)
            x[k] = sin(r * 7.0 + k) / 7;
        bench_must(tacit_dataset_put(a.data, 0, TACIT_TRAIN, r, x, r % 2 ? 1 : -1, &err), &err);
    }
    double bare = gradients(&a, TACIT_MECHANISM_NONE, INFINITY);
    double clipped = gradients(&a, TACIT_MECHANISM_NONE, 0.1);
    double laplace = gradients(&a, TACIT_MECHANISM_LAPLACE, 1);
    double gaussian = gradients(&a, TACIT_MECHANISM_GAUSSIAN, 1);
    bench_row(out, "gradient clipped in floats", clipped, bare, "us",
              "55 records of 100 features f32; baseline: not clipped");
    bench_row(out, "gradient on the grid laplace", laplace, bare, "us", "the same baseline");
    bench_row(out, "gradient on the grid gaussian", gaussian, bare, "us", "the same baseline");
    tacit_dataset_free(a.data);
    tacit_model_free(a.model);
    tacit_scratch_free(a.scratch);
    tacit_pool_free(pool);
}

int main(void)
{
    tacit_random_init(&keys, 1);
    kept = tacit_costs_create();
    FILE *out = bench_open("release");
    million(out);
    gradient(out);
    fclose(out);
    tacit_ledger_clear(&ledger);
    tacit_costs_free(kept);
    return 0;
}
