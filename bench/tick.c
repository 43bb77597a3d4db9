/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What privacy adds to a tick of cd: the separators of paper 000 (p = 100, 10 to 100 records, 55
 * on average), about 10 neighbours, zero latency, through the simulator that users run. Three
 * numbers for each mechanism, all of the same run and in turns:
 *
 *     private    a tick with clipping on the grid, noise and a finite budget
 *     bare       the same tick with mechanism none
 *     sampler    a stream opened and 100 draws of that noise, and nothing else
 *
 * The ratio printed is private / (bare + sampler); the target is at most 1.3. With 100 agents, as
 * in the paper, records stay in the caches; with 10,000 they come from memory.
 */
#include <math.h>
#include <string.h>

#include "bench.h"
#include "math/kernels.h"
#include "privacy/release.h"
#include "tacit/tacit.h"

enum { FEATURES = 100, HALF_DEGREE = 5, TURNS = 15, DRAWS = 20000 };
#define TURN_TICKS 60000.0

typedef struct stage {
    uint32_t agents;
    tacit_scalar scalar;
    tacit_source source;
    tacit_graph graph;
    tacit_model *model;
    void *options;  /* cd's */
    double records; /* of an agent, on average */
} stage;

static tacit_error err;

/* Processor time: other programs that want the core are not what is measured. */
static double seconds_used(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void build(stage *st)
{
    tacit_data_options data;
    bench_must(tacit_options_defaults(&tacit_data_section, &data, &err), &err);
    data.agents = st->agents;
    data.dimension = FEATURES;
    data.validation_records = data.test_records = 0;
    data.bound = TACIT_BOUND_L2;
    bench_must(tacit_data_load(&st->source, &data, st->scalar, 1, &err), &err);
    bench_must(tacit_graph_k_out(&st->graph, st->agents, HALF_DEGREE, 1, &err), &err);
    tacit_model_options model = {.scalar = st->scalar};
    bench_must(tacit_model_create(&st->model, &model, FEATURES, &err), &err);
    const tacit_section *options = &tacit_protocol_find("cd")->options;
    st->options = calloc(1, options->size);
    bench_must(tacit_options_defaults(options, st->options, &err), &err);
    for (uint32_t k = 0; k < st->agents; k++)
        st->records += tacit_dataset_rows(st->source.data, k, TACIT_TRAIN) / (double)st->agents;
}

static void stage_clear(stage *st)
{
    free(st->options);
    tacit_model_free(st->model);
    tacit_graph_clear(&st->graph);
    tacit_source_clear(&st->source);
}

/* A clip that shortens about half of the records' gradients; a budget that is asked every time
 * and lasts. */
static tacit_privacy_options privacy_of(tacit_mechanism mechanism)
{
    tacit_privacy_options o;
    bench_must(tacit_options_defaults(&tacit_privacy_section, &o, &err), &err);
    o.mechanism = mechanism;
    if (mechanism == TACIT_MECHANISM_NONE)
        return o;
    o.clip = mechanism == TACIT_MECHANISM_LAPLACE ? 4 : 0.5;
    o.noise = 10;
    o.epsilon = 1e9;
    o.accountant = TACIT_BY_ZCDP;
    return o;
}

static tacit_runtime *simulator(const stage *st, tacit_mechanism mechanism)
{
    tacit_world world = {.graph = &st->graph,
                         .data = st->source.data,
                         .model = st->model,
                         .protocol = tacit_protocol_find("cd"),
                         .protocol_options = st->options,
                         .privacy = privacy_of(mechanism),
                         .seed = 1,
                         .threads = 1};
    bench_must(tacit_options_defaults(&tacit_network_section, &world.network, &err), &err);
    tacit_runtime *rt = NULL;
    bench_must(tacit_simulator.create(&rt, &world, &err), &err);
    bench_must(rt->ops->run(rt, 2, NULL, &err), &err); /* start and warm up */
    return rt;
}

/* Microseconds a tick in one turn. */
static double ticks(tacit_runtime *rt, const stage *st)
{
    uint64_t before = rt->ops->traffic(rt).ticks;
    double start = seconds_used();
    bench_must(rt->ops->run(rt, rt->ops->now(rt) + TURN_TICKS / st->agents, NULL, &err), &err);
    double seconds = seconds_used() - start;
    tacit_traffic traffic = rt->ops->traffic(rt);
    if (traffic.refused > 0)
        bench_must(tacit_fail(&err, TACIT_EBUDGET, "the budget did not last"), &err);
    return seconds / (double)(traffic.ticks - before) * 1e6;
}

/* Microseconds for the noise of one release. */
static double draws(const tacit_random *keys, const tacit_noise *noise, uint64_t first)
{
    static volatile int64_t sink;
    double start = seconds_used();
    for (uint64_t k = 0; k < DRAWS; k++) {
        int64_t z[FEATURES];
        tacit_stream stream;
        tacit_stream_open(&stream, keys, (tacit_agent)(k % 100), TACIT_FOR_NOISE, first + k);
        tacit_noise_draw(noise, &stream, FEATURES, z);
        tacit_stream_clear(&stream);
        sink = z[k % FEATURES];
    }
    (void)sink;
    return (seconds_used() - start) / DRAWS * 1e6;
}

static void report(FILE *out, const stage *st, tacit_mechanism m, double tick, double bare,
                   double sampler)
{
    char name[96], note[160];
    snprintf(name, sizeof name, "tick %s %s %u agents", tacit_mechanism_name(m),
             st->scalar == TACIT_F64 ? "f64" : "f32", st->agents);
    snprintf(note, sizeof note, "bare %.2f us + sampler %.2f us; p %d; %.1f records; kernels %s",
             bare, sampler, FEATURES, st->records, tacit_kernels_get()->name);
    bench_row(out, name, tick, bare + sampler, "us", note);
}

static void compare(FILE *out, uint32_t agents, tacit_scalar scalar)
{
    enum { KINDS = TACIT_MECHANISM_GAUSSIAN + 1 };
    stage st = {.agents = agents, .scalar = scalar};
    build(&st);
    tacit_costs *costs = tacit_costs_create();
    tacit_ledger ledger = {0};
    tacit_runtime *rt[KINDS];
    tacit_permit permit[KINDS];
    tacit_random keys;
    double tick[KINDS][TURNS], sampler[KINDS][TURNS];
    tacit_random_init(&keys, 1);
    for (int m = 0; m < KINDS; m++) {
        const tacit_privacy_options o = privacy_of((tacit_mechanism)m);
        const tacit_budget budget = {o.epsilon, o.delta, TACIT_TRUST_LOCAL,
                                     (tacit_accountant)o.accountant};
        tacit_cost cost;
        rt[m] = simulator(&st, (tacit_mechanism)m);
        bench_must(tacit_cost_plan(&cost, &o, FEATURES, "gradient", &err), &err);
        if (m != TACIT_MECHANISM_NONE)
            bench_must(tacit_ledger_reserve(&ledger, costs, &budget, &cost, 0, &permit[m], &err),
                       &err);
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int m = 0; m < KINDS; m++) {
            tick[m][turn] = ticks(rt[m], &st);
            if (m != TACIT_MECHANISM_NONE)
                sampler[m][turn] = draws(&keys, permit[m].noise, (uint64_t)turn * DRAWS);
        }
    const double bare = bench_median(tick[TACIT_MECHANISM_NONE], TURNS);
    for (int m = TACIT_MECHANISM_LAPLACE; m < KINDS; m++)
        report(out, &st, (tacit_mechanism)m, bench_median(tick[m], TURNS), bare,
               bench_median(sampler[m], TURNS));
    for (int m = 0; m < KINDS; m++)
        rt[m]->ops->destroy(rt[m]);
    tacit_ledger_clear(&ledger);
    tacit_costs_free(costs);
    stage_clear(&st);
}

int main(void)
{
    FILE *out = bench_open("tick");
    for (uint32_t agents = 100; agents <= 10000; agents *= 100) {
        compare(out, agents, TACIT_F64);
        compare(out, agents, TACIT_F32);
    }
    fclose(out);
    return 0;
}
