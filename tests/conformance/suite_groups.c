/* SPDX-License-Identifier: Apache-2.0 */
/* Sums over all agents: tacit_give and TACIT_GROUP_RESULT, in any runtime. */
#include <math.h>
#include <string.h>

#include "privacy/release.h"
#include "scene.h"
#include "testing.h"

enum { AGENTS = 12, ROUNDS = 5, NUMBERS = 3 };

/* What the callbacks below do, and a view from above of what they heard. */
typedef struct choir {
    tacit_cost cost;
    double period;
    uint64_t rounds;
    double sum[ROUNDS + 1][NUMBERS]; /* as heard by agent 0 */
    int64_t beside[ROUNDS + 1][2];
} choir;

static bool sings(tacit_agent agent, uint64_t round)
{
    return (agent + round) % 3 != 0;
}

/* Multiples of 2^-6, so that sums are exact; within radius 1. */
static double voice(tacit_agent agent, uint64_t round, size_t k)
{
    return ((double)((agent * 7 + round * 5 + k * 3) % 32) - 16) / 64;
}

/* Without noise, and so without a bound. */
static tacit_status bare(tacit_permit *permit, const tacit_public *value, tacit_scratch *scratch,
                         tacit_bounded **out, tacit_error *err)
{
    const tacit_shape *shape = tacit_public_shape(value);
    tacit_status status =
        tacit_bounded_create(out, permit, TACIT_L2, INFINITY, shape, scratch, err);
    if (status == TACIT_OK)
        memcpy((*out)->value->data, tacit_vector_of_public(value)->data, shape->bytes);
    return status;
}

static tacit_status give(tacit_env *env, const probe *p, const tacit_cost *cost, uint64_t round,
                         double closes)
{
    const tacit_agent me = tacit_facts_of(env)->self;
    tacit_public *value = tacit_new_public(env, &p->sum);
    tacit_public *beside = tacit_new_public(env, &p->beside);
    tacit_permit *permit;
    tacit_bounded *bounded;
    assert_non_null(value);
    assert_non_null(beside);
    for (size_t k = 0; k < NUMBERS; k++)
        tacit_public_set(value, 0, k, voice(me, round, k));
    tacit_public_set_int(beside, 0, 0, 1);
    tacit_public_set_int(beside, 0, 1, (int64_t)me - 4);
    tacit_status status = tacit_reserve(env, cost, &permit);
    if (status == TACIT_OK && cost->mechanism == TACIT_MECHANISM_NONE)
        status = bare(permit, value, tacit_own_scratch(env), &bounded, tacit_own_error(env));
    else if (status == TACIT_OK)
        status = tacit_bound_vector(permit, tacit_public_as_secret(value), tacit_own_scratch(env),
                                    &bounded, tacit_own_error(env));
    if (status == TACIT_OK)
        status = tacit_give(env, PROBE_SUM, round, closes, permit, bounded, beside);
    tacit_drop(env, value);
    tacit_drop(env, beside);
    return status;
}

static tacit_status sing(tacit_env *env, const probe *p, probe_agent *self,
                         const tacit_event *event)
{
    choir *c = p->ctx;
    const tacit_agent me = tacit_facts_of(env)->self;
    if (event->type == TACIT_GROUP_RESULT) {
        self->status = self->status * 31 + (uint64_t)tacit_public_get_int(event->beside, 0, 1);
        for (size_t k = 0; me == 0 && k < NUMBERS; k++)
            c->sum[event->id][k] = tacit_public_get(event->payload, 0, k);
        for (size_t k = 0; me == 0 && k < 2; k++)
            c->beside[event->id][k] = tacit_public_get_int(event->beside, 0, k);
    }
    if (event->type != TACIT_START && event->type != TACIT_GROUP_RESULT)
        return TACIT_OK;
    const uint64_t round = event->type == TACIT_START ? 1 : event->id + 1;
    if (round > c->rounds || !sings(me, round))
        return TACIT_OK;
    self->number++;
    tacit_status status = give(env, p, &c->cost, round, c->period * (double)round);
    return status == TACIT_NO ? TACIT_OK : status;
}

static void choir_init(scene *s, choir *c, uint32_t flags, double sigma)
{
    tacit_error err = {0};
    scene_init(s, AGENTS, flags);
    *c = (choir){.cost = {.what = "voice"}, .period = 0.7, .rounds = ROUNDS};
    if (sigma > 0) {
        c->cost.mechanism = TACIT_MECHANISM_GAUSSIAN;
        c->cost.coordinates = NUMBERS;
        check_ok(tacit_cost_on_grid(&c->cost, 1, sigma, &err), &err);
    }
    s->probe.on = sing;
    s->probe.ctx = c;
}

static double true_sum(uint64_t round, size_t k)
{
    double sum = 0;
    for (tacit_agent a = 0; a < AGENTS; a++)
        sum += sings(a, round) ? voice(a, round, k) : 0;
    return sum;
}

static void check_beside(const choir *c, uint64_t round)
{
    int64_t givers = 0, others = 0;
    for (tacit_agent a = 0; a < AGENTS; a++)
        if (sings(a, round)) {
            givers++;
            others += (int64_t)a - 4;
        }
    assert_int_equal(c->beside[round][0], givers);
    assert_int_equal(c->beside[round][1], others);
}

static void test_everyone_hears_the_sum(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    for (uint32_t flags = TACIT_GROUPS; flags <= (TACIT_GROUPS | TACIT_WAKES); flags++) {
        for (int latency = 0; latency < 3; latency++) {
            scene s;
            choir c;
            choir_init(&s, &c, flags, 0);
            s.world.network.latency = latency;
            s.world.network.latency_floor = 0.3;
            scene_run(&s, ROUNDS + 0.5);
            const void *shared[ROUNDS + 1] = {NULL};
            for (uint32_t a = 0; a < AGENTS; a++) {
                const probe_agent *p = probe_at(&s, a);
                if (!p)
                    continue;
                assert_int_equal(p->of_type[TACIT_GROUP_RESULT], ROUNDS);
                uint64_t next = 1;
                for (uint64_t k = 0; k < p->count && k < PROBE_LOG; k++) {
                    const probe_entry *e = &p->log[k];
                    assert_true(k == 0 || e->time >= p->log[k - 1].time);
                    if (e->type != TACIT_GROUP_RESULT)
                        continue;
                    assert_int_equal(e->id, next);
                    assert_true(near(e->time, c.period * (double)next));
                    assert_true(e->from == TACIT_NOBODY && e->slot == TACIT_NO_SLOT);
                    assert_int_equal(e->kind, PROBE_SUM);
                    assert_true(e->value == true_sum(next, 0));
                    if (runtime->shares_memory && shared[next])
                        assert_ptr_equal(shared[next], e->payload);
                    shared[next++] = e->payload;
                }
                assert_int_equal(tacit_ledger_releases(runtime->ops->agent_ledger(s.rt, a)),
                                 p->number);
            }
            for (uint64_t r = 1; r <= ROUNDS && probe_at(&s, 0); r++) {
                for (size_t k = 0; k < NUMBERS; k++)
                    assert_true(c.sum[r][k] == true_sum(r, k));
                check_beside(&c, r);
            }
            scene_clear(&s);
        }
    }
}

/* One noise a round, whoever gave: 600 draws of it over 40 seeds. The mean of squares is within
 * 0.3 of 1, five of its deviations (false alarm 6e-7, and the seeds are fixed); the noise of every
 * giver would make it 8. No two rounds have the same. */
static void test_one_noise_a_round(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    const double sigma = 3;
    double squares = 0, last[NUMBERS] = {0};
    int draws = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        scene s;
        choir c;
        choir_init(&s, &c, TACIT_GROUPS, sigma);
        s.world.seed = seed;
        scene_run(&s, ROUNDS);
        if (!probe_at(&s, 0)) {
            scene_clear(&s);
            skip();
        }
        for (uint64_t r = 1; r <= ROUNDS; r++)
            for (size_t k = 0; k < NUMBERS; k++, draws++) {
                const double noise = c.sum[r][k] - true_sum(r, k);
                squares += noise * noise / (sigma * sigma);
                assert_true(c.sum[r][k] ==
                            ldexp(nearbyint(ldexp(c.sum[r][k], -c.cost.grid)), c.cost.grid));
                assert_true(noise != last[k]);
                last[k] = noise;
            }
        scene_clear(&s);
    }
    assert_int_equal(draws, 600);
    assert_true(fabs(squares / draws - 1) < 0.3);
}

/* ---- what is refused ---- */

enum { LATE = 1, TWICE, OTHER_TIME, AGAIN, AT_THE_END, OTHER_COST, ALONE_LATE };

static tacit_status misbehave(tacit_env *env, const probe *p, probe_agent *self,
                              const tacit_event *event)
{
    const choir *c = p->ctx;
    const tacit_agent me = tacit_facts_of(env)->self;
    tacit_cost other = c->cost;
    other.what = "other voice";
    self->status = TACIT_OK;
    if (event->type == TACIT_FINISH && c->rounds == AT_THE_END)
        return give(env, p, &c->cost, 9, 99);
    if (event->type == TACIT_GROUP_RESULT && c->rounds == AGAIN)
        self->number = 10 + give(env, p, &c->cost, 1, 2);
    if (event->type != TACIT_START)
        return TACIT_OK;
    if (me == 3 && c->rounds == OTHER_TIME)
        return give(env, p, &c->cost, 1, 1.5);
    if (me == 3 && c->rounds == OTHER_COST)
        return give(env, p, &other, 1, 1);
    tacit_status status = give(env, p, &c->cost, 1, 1);
    if (status != TACIT_OK || me != 3)
        return status;
    switch (c->rounds) {
    case LATE:
        self->number = 10 + give(env, p, &c->cost, 2, 0);
        return TACIT_OK;
    case TWICE:
        return give(env, p, &c->cost, 1, 1);
    case ALONE_LATE: /* in time by the clock, but on its way for longer */
        self->number = 10 + give(env, p, &c->cost, 2, 0.2);
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

static tacit_status run_badly(scene *s, choir *c, uint64_t how, uint32_t flags, tacit_error *err)
{
    choir_init(s, c, flags, 2);
    s->probe.on = misbehave;
    c->rounds = how;
    if (how == ALONE_LATE)
        s->world.network.latency = TACIT_LATENCY_CONSTANT;
    s->world.network.latency_floor = 0.3;
    s->rt = world_create(runtime->ops, &s->world);
    tacit_status status = runtime->ops->run(s->rt, 3, NULL, err);
    return status == TACIT_OK ? runtime->ops->finish(s->rt, err) : status;
}

static void test_bad_gifts(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    static const uint64_t refused[] = {TWICE, OTHER_TIME, OTHER_COST, AT_THE_END};
    scene s;
    choir c;
    tacit_error err = {0};
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        assert_int_equal(run_badly(&s, &c, refused[k], TACIT_GROUPS, &err), TACIT_EUSAGE);
        scene_clear(&s);
    }
    assert_int_equal(run_badly(&s, &c, 0, 0, &err), TACIT_EUSAGE);
    check_fails(TACIT_EUSAGE, TACIT_EUSAGE, &err, "TACIT_GROUPS");
    scene_clear(&s);
    static const uint64_t late[] = {LATE, AGAIN, ALONE_LATE};
    for (size_t k = 0; k < sizeof late / sizeof *late; k++) {
        if (late[k] == ALONE_LATE && !runtime->simulates_network)
            continue;
        check_ok(run_badly(&s, &c, late[k], TACIT_GROUPS, &err), &err);
        if (probe_at(&s, 3)) {
            assert_int_equal(probe_at(&s, 3)->number, 10 + TACIT_NO);
            assert_int_equal(probe_at(&s, 3)->of_type[TACIT_GROUP_RESULT], 1);
        }
        scene_clear(&s);
    }
}

/* Everybody gives at the start; whoever wakes after the run was cut gives to the same round again.
 */
static tacit_status give_again(tacit_env *env, const probe *p, probe_agent *self,
                               const tacit_event *event)
{
    const choir *c = p->ctx;
    const bool again = event->type == TACIT_WAKE && tacit_facts_of(env)->now > 0.5;
    self->status = TACIT_OK;
    if (again && self->number++ > 0) /* once is enough to be found out */
        return TACIT_OK;
    return event->type == TACIT_START || again ? give(env, p, &c->cost, 1, 1) : TACIT_OK;
}

static void test_who_gave_is_remembered(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    if (!runtime->repeats)
        skip();
    scene s;
    choir c;
    tacit_error err = {0};
    choir_init(&s, &c, TACIT_GROUPS | TACIT_WAKES, 2);
    s.probe.on = give_again;
    scene_reload(&s, 0.5);
    check_fails(runtime->ops->run(s.rt, 1, NULL, &err), TACIT_EUSAGE, &err, "twice");
    scene_clear(&s);
}

/* ---- absences, checkpoints, threads ---- */

static void run_absent(int latency, uint32_t threads, double cut, probe_agent out[AGENTS],
                       choir *heard)
{
    scene s;
    choir_init(&s, heard, TACIT_GROUPS | TACIT_WAKES, 2);
    s.world.threads = threads;
    s.world.network = (tacit_network_options){.latency = latency,
                                              .latency_floor = 0.2,
                                              .latency_mean = 0.3,
                                              .mean_up = 2,
                                              .mean_down = 1.5};
    if (cut > 0)
        scene_reload(&s, cut);
    scene_run(&s, 40); /* long enough for everybody to come back */
    for (uint32_t a = 0; a < AGENTS; a++) {
        memset(&out[a], 0, sizeof out[a]);
        if (probe_at(&s, a))
            out[a] = *probe_at(&s, a);
        for (int k = 0; k < PROBE_LOG; k++)
            out[a].log[k].payload = NULL;
    }
    scene_clear(&s);
}

static void test_absent_agents_hear_it_later(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    if (!runtime->simulates_network)
        skip();
    static probe_agent got[AGENTS];
    choir heard;
    for (int latency = 0; latency < 2; latency++) {
        uint64_t late = 0;
        run_absent(latency, runtime->threads, 0, got, &heard);
        for (uint32_t a = 0; a < AGENTS; a++) {
            uint64_t next = 1;
            assert_int_equal(got[a].of_type[TACIT_GROUP_RESULT], ROUNDS);
            for (uint64_t k = 0; k < got[a].count && k < PROBE_LOG; k++) {
                const probe_entry *e = &got[a].log[k];
                if (e->type != TACIT_GROUP_RESULT)
                    continue;
                assert_int_equal(e->id, next);
                const double closes = heard.period * (double)next++;
                assert_true(e->time >= closes);
                assert_true(e->from == TACIT_NOBODY && e->slot == TACIT_NO_SLOT);
                late += e->time > closes;
            }
        }
        assert_true(late > 3);
    }
}

static void test_rounds_survive_checkpoints(void **state)
{
    (void)state;
    if (!runtime->groups)
        skip();
    if (!runtime->repeats)
        skip();
    static probe_agent one[AGENTS], two[AGENTS];
    static const double cuts[] = {0, 0.5, 1, 1.7, 2.999, 4.2};
    choir first, second;
    for (int latency = 0; latency < 3; latency++) {
        run_absent(latency, runtime->threads, 0, one, &first);
        for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
            run_absent(latency, runtime->threads, cuts[k], two, &second);
            assert_memory_equal(one, two, sizeof one);
            for (uint64_t r = 3; r <= ROUNDS && cuts[k] < 1.4; r++) /* heard after the cut */
                assert_memory_equal(first.sum[r], second.sum[r], sizeof first.sum[r]);
        }
        run_absent(latency, 3, 0, two, &second);
        assert_memory_equal(one, two, sizeof one);
        assert_memory_equal(first.sum, second.sum, sizeof first.sum);
    }
}

void conformance_group_tests(struct CMUnitTest *tests, size_t room)
{
    const struct CMUnitTest all[] = {
        cmocka_unit_test(test_everyone_hears_the_sum),
        cmocka_unit_test(test_one_noise_a_round),
        cmocka_unit_test(test_bad_gifts),
        cmocka_unit_test(test_who_gave_is_remembered),
        cmocka_unit_test(test_absent_agents_hear_it_later),
        cmocka_unit_test(test_rounds_survive_checkpoints),
    };
    assert_true(sizeof all <= room * sizeof *all);
    memcpy(tests, all, sizeof all);
}
