/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol that docs/adding-a-protocol.md shows, compiled as it stands: one file, and the
 * struct at its end is all a runtime wants.
 */
#include "../../examples/protocol/hello.c"

#include <math.h>
#include <string.h>

#include "problem.h"
#include "testing.h"

typedef struct metrics {
    int count;
    double least, most;
} metrics;

static void take(void *ctx, double time, tacit_agent agent, const char *name, double value,
                 bool is_private)
{
    metrics *m = ctx;
    (void)time;
    (void)agent;
    assert_string_equal(name, "average");
    assert_false(is_private);
    m->count++;
    m->least = fmin(m->least, value);
    m->most = fmax(m->most, value);
}

static void check_average(const problem *q, int latency, uint32_t threads, double cut)
{
    tacit_error err = {0};
    average_options chosen;
    double records = 0;
    for (uint32_t i = 0; i < q->n; i++)
        records += q->m[i] / (double)q->n;
    check_ok(tacit_options_defaults(&tacit_protocol_average.options, &chosen, &err), &err);
    tacit_world world = world_defaults(&q->graph, &tacit_protocol_average);
    world.data = q->data;
    world.model = q->model;
    world.protocol_options = &chosen;
    world.network.latency = latency;
    world.threads = threads;
    tacit_runtime *rt = world_create(&tacit_simulator, &world);
    if (cut > 0) { /* through a checkpoint */
        tacit_saver *saver;
        size_t len;
        world_run(rt, cut);
        const uint8_t *bytes = save_bytes(rt, &saver, &len);
        rt->ops->destroy(rt);
        rt = world_create(&tacit_simulator, &world);
        check_ok(load_bytes(rt, bytes, len, &err), &err);
        tacit_saver_free(saver);
    }
    metrics m = {.least = INFINITY, .most = -INFINITY};
    rt->metric = take;
    rt->metric_ctx = &m;
    world_run(rt, 400);
    check_ok(rt->ops->finish(rt, &err), &err);
    assert_int_equal(m.count, q->n);
    assert_true(fabs(m.least - records) < 1e-9);
    assert_true(fabs(m.most - records) < 1e-9);
    for (uint32_t i = 0; i < q->n; i++) /* and nobody released anything */
        assert_int_equal(tacit_ledger_releases(rt->ops->agent_ledger(rt, i)), 0);
    rt->ops->destroy(rt);
}

static void test_everybody_knows_the_average(void **state)
{
    (void)state;
    problem q;
    problem_init(&q, 1, 0, TACIT_F64);
    for (int latency = 0; latency < 3; latency++)
        for (uint32_t threads = 1; threads <= 2; threads++)
            check_average(&q, latency, threads, threads == 1 ? 0 : 3.3);
    problem_clear(&q);
}

/* The name is what --set and the YAML say; nothing else in the library knows it. */
static void test_it_is_a_stranger(void **state)
{
    (void)state;
    assert_null(tacit_protocol_find("average"));
    for (size_t k = 0; tacit_protocols[k]; k++)
        assert_int_not_equal(tacit_protocols[k]->wire_id, tacit_protocol_average.wire_id);
    tacit_error err = {0};
    average_options chosen = {0.5};
    const tacit_option *keep = tacit_section_find(&tacit_protocol_average.options, "keep", 4);
    check_ok(tacit_option_set(keep, &chosen, "0.25", &err), &err);
    assert_true(chosen.keep == 0.25);
    check_fails(tacit_option_set(keep, &chosen, "1", &err), TACIT_EINPUT, &err, "keep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everybody_knows_the_average),
        cmocka_unit_test(test_it_is_a_stranger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
