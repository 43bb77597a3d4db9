/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an observer sees, for every protocol, adjacency and unit: two worlds whose records are
 * neighbours differ in nothing but numbers that carry noise or masks. Counts, sizes and times of
 * messages, all other numbers in them, releases, ledgers and public metrics are the same, whether
 * noise is drawn from the same keys or not. Where a combination is refused, it is refused in the
 * same words whatever the records are. A protocol that is registered and not in the table fails.
 *
 * Neighbours: replace, one record (the agent's only one, or one of several) is another; replace and
 * unit user, all of an agent's records are others, in another number; add-remove, a record (an
 * agent's only one, one of several, or the last one in the world) or a user is not there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/scratch.h"
#include "base/vector_internal.h"
#include "charged.h"
#include "observer.h"

/* What the first release of an agent is multiplied by: then it may differ by sensitivity times
 * that. ANY: by a number that this test does not know, or there is none to see. */
typedef enum row_factor { ANY, ONE, MEAN } row_factor;

typedef struct row {
    observed_setting setting;
    const char *refused; /* words; NULL: it runs */
    const char *noisy;   /* segments of messages that noise or masks cover */
    row_factor factor;
} row;

#define R TACIT_REPLACE
#define AR TACIT_ADD_REMOVE
#define REC .unit = TACIT_UNIT_RECORD
#define USER .unit = TACIT_UNIT_USER
#define SETTING(name, set, privately, how, ...)                                               \
    {                                                                                         \
        .protocol = name, .options = set, .privacy = privately, .adjacency = how, __VA_ARGS__ \
    }
#define RUNS(name, set, privately, how, covered, by, ...)                                          \
    {                                                                                              \
        .setting = SETTING(name, set, privately, how, __VA_ARGS__), .noisy = covered, .factor = by \
    }
#define REFUSES(name, set, privately, how, words, ...)                               \
    {                                                                                \
        .setting = SETTING(name, set, privately, how, __VA_ARGS__), .refused = words \
    }
#define NOISE "mechanism=gaussian clip=0.5 noise=4 delta=1e-5"
#define LAPLACE "mechanism=laplace clip=0.5 noise=4 delta=0"
#define FOUND "mechanism=gaussian clip=0.5 epsilon=2 delta=1e-5 accountant=gdp"
#define FOUND_LOTS "mechanism=gaussian clip=0.5 epsilon=2 delta=1e-5 accountant=rdp"
#define LOTS NOISE " sampling=0.5"
#define SPENT NOISE " epsilon=2 accountant=gdp" /* before the run has ended */
#define WEIGHS "weighs agents by it"
#define SUMS "numbers signature entries"
#define TOTALS "numbers sign"

static const row table[] = {
    /* Nobody speaks; what agents learn at home is theirs. */
    RUNS("alone", "", "", R, "", ANY, REC),
    RUNS("alone", "", "", R, "", ANY, USER),
    RUNS("alone", "", "", AR, "", ANY, REC),
    RUNS("alone", "", "", AR, "", ANY, USER),
    /* A curator without noise: it claims nothing, and nothing is sent. */
    RUNS("global", "", "", R, "", ANY, REC),
    RUNS("global", "", "", R, "", ANY, USER),
    RUNS("global", "", "", AR, "", ANY, REC),
    RUNS("global", "", "", AR, "", ANY, USER),

    RUNS("cd", "", NOISE, R, "weights", MEAN, REC),
    RUNS("cd", "", NOISE, R, "weights", MEAN, REC, .model = OBSERVED_SOFTMAX),
    RUNS("cd", "", LOTS, R, "weights", MEAN, REC, .lambda = 0.1),
    RUNS("cd", "start=propagated warm-epsilon=1", FOUND " releases=3", R, "weights", ANY, REC),
    RUNS("cd", "full-confidence=1", NOISE, R, "weights", ONE, USER, .lambda = 0.1),
    REFUSES("cd", "", NOISE, R, "protocol.full-confidence: 1", USER, .lambda = 0.1),
    REFUSES("cd", "full-confidence=2", NOISE, R, "protocol.full-confidence: 1", USER,
            .lambda = 0.1),
    REFUSES("cd", "full-confidence=1", NOISE, R, "model.lambda", USER),
    REFUSES("cd", "start=propagated full-confidence=1", NOISE, R, "local model", USER,
            .lambda = 0.1),
    REFUSES("cd", "", NOISE, AR, WEIGHS, REC),
    REFUSES("cd", "full-confidence=1", NOISE, AR, WEIGHS, USER, .lambda = 0.1),

    RUNS("model-propagation", "", NOISE, R, "weights", ANY, REC),
    RUNS("model-propagation", "perturbation=objective", NOISE, R, "weights", ANY, REC),
    REFUSES("model-propagation", "", NOISE, R, "a local model tells how many records", USER),
    REFUSES("model-propagation", "", NOISE, AR, WEIGHS, REC),
    REFUSES("model-propagation", "", NOISE, AR, WEIGHS, USER),

    REFUSES("admm", "", NOISE, R, "nothing bounds how far one record moves", REC),
    REFUSES("admm", "", NOISE, R, "nothing bounds how far one record moves", USER),
    REFUSES("admm", "", NOISE, AR, WEIGHS, REC),
    REFUSES("admm", "", NOISE, AR, WEIGHS, USER),

    RUNS("perturbed", "", NOISE, R, "weights", ONE, REC),
    RUNS("perturbed", "collaborate=true", NOISE, R, "weights", ONE, REC),
    REFUSES("perturbed", "", NOISE, R, "privacy.unit: record", USER),
    REFUSES("perturbed", "", NOISE, AR, WEIGHS, REC),
    REFUSES("perturbed", "", NOISE, AR, WEIGHS, USER),

    RUNS("chorus", "rounds=2", FOUND, R, "sum", ANY, REC),
    RUNS("chorus", "rounds=2 sum=masks patience=0.5", FOUND, R, TOTALS, ANY, REC, .time = 20),
    RUNS("chorus", "rounds=2 kernel=learned kernel-neighbours=2", FOUND, R,
         "sum steps print weights", MEAN, REC),
    REFUSES("chorus", "", FOUND, R, "privacy.unit: record", USER),
    REFUSES("chorus", "", FOUND, AR, "how many records", REC),
    REFUSES("chorus", "sum=masks", FOUND, AR, "how many records", REC),
    REFUSES("chorus", "", FOUND, AR, "how many records", USER),

    RUNS("one-shot", "", NOISE, R, "statistics", ONE, REC),
    RUNS("one-shot", "reach=all", LAPLACE, R, "statistics", ONE, REC),
    RUNS("one-shot", "", NOISE, R, "statistics", ANY, REC, .model = OBSERVED_SQUARED),
    REFUSES("one-shot", "", NOISE, R, "privacy.unit: record", USER),
    REFUSES("one-shot", "", NOISE, AR, "one-shot says it", REC),
    REFUSES("one-shot", "", NOISE, AR, "one-shot says it", USER),

    RUNS("learner", "iterations=20", NOISE, R, "point model gradient", MEAN, REC, .lambda = 0.1,
         .star = true),
    RUNS("learner", "iterations=20 mode=broadcast", NOISE, R, "point model gradient", MEAN, REC,
         .lambda = 0.1, .star = true),
    RUNS("learner", "iterations=20", NOISE, R, "point model gradient", ONE, USER, .lambda = 0.1,
         .star = true),
    RUNS("learner", "iterations=20 mode=broadcast", NOISE, R, "point model gradient", ONE, USER,
         .lambda = 0.1, .star = true),
    REFUSES("learner", "iterations=20", NOISE, AR, "weighs owners", REC, .lambda = 0.1,
            .star = true),
    REFUSES("learner", "iterations=20", NOISE, AR, "weighs owners", USER, .lambda = 0.1,
            .star = true),

    RUNS("diffusion", "noise=independent sigma=1 iterations=3", NOISE, R, "model", ONE, REC),
    RUNS("diffusion", "noise=homomorphic sigma=1 iterations=3 batch=1", NOISE, R, "model", ONE,
         REC),
    RUNS("diffusion", "noise=homomorphic sigma=1 iterations=3 batch=1 order=random", NOISE, R,
         "model", ONE, REC),
    RUNS("diffusion", "noise=local-homomorphic sigma=1 iterations=3", NOISE, R, SUMS, ANY, REC,
         .time = 8),
    RUNS("diffusion", "noise=independent iterations=3", FOUND, R, "model", ONE, USER,
         .lambda = 0.1),
    RUNS("diffusion", "noise=homomorphic sigma=1 iterations=3 batch=2", NOISE, R, "model", ONE,
         USER, .lambda = 0.1),
    RUNS("diffusion", "noise=local-homomorphic sigma=1 iterations=3", NOISE, R, SUMS, ANY, USER,
         .lambda = 0.1, .time = 8),
    REFUSES("diffusion", "noise=independent sigma=1", NOISE, R, "model.lambda", USER),
    REFUSES("diffusion", "noise=independent sigma=1", NOISE, AR, "what diffusion tells", REC),
    REFUSES("diffusion", "noise=local-homomorphic sigma=1", NOISE, AR, "what diffusion tells",
            USER),

    RUNS("gopa", "low=-1 patience=0.5", FOUND, R, TOTALS, ANY, REC, .time = 20),
    RUNS("gopa", "low=-1 patience=0.5 rounds=2", FOUND, R, TOTALS, ANY, USER, .time = 20),
    REFUSES("gopa", "", FOUND, AR, "privacy.adjacency: replace", REC),
    REFUSES("gopa", "", FOUND, AR, "privacy.adjacency: replace", USER),

    RUNS("dsgd", "iterations=3 lot=2", FOUND_LOTS, R, "model direction", MEAN, REC),
    RUNS("dsgd", "iterations=3 lot=2", FOUND_LOTS " sampling=0.5", AR, "model direction", ONE, REC,
         .lambda = 0.1),
#define CONSENSUS(name)                                                                          \
    RUNS(name, "iterations=3 lot=2", NOISE, R, "model direction", MEAN, REC),                    \
        RUNS(name, "iterations=3", NOISE, R, "model direction", ONE, USER, .lambda = 0.1),       \
        RUNS(name, "iterations=3", FOUND, R, "model direction", ONE, USER, .lambda = 0.1),       \
        RUNS(name, "iterations=9 period=0.3 lot=2", SPENT, AR, "model direction", ONE, REC,      \
             .lambda = 0.1),                                                                     \
        REFUSES(name, "iterations=3", NOISE, R, "model.lambda", USER),                           \
        RUNS(name, "iterations=3 lot=2", NOISE, AR, "model direction", ONE, REC, .lambda = 0.1), \
        RUNS(name, "iterations=3 lot=2", LAPLACE, AR, "model direction", ONE, REC,               \
             .model = OBSERVED_SQUARED, .lambda = 0.1),                                          \
        RUNS(name, "iterations=3 lot=2", LOTS, AR, "model direction", ANY, REC,                  \
             .model = OBSERVED_NET),                                                             \
        RUNS(name, "iterations=3 lot=2", NOISE, AR, "model direction", ONE, REC,                 \
             .model = OBSERVED_NET),                                                             \
        REFUSES(name, "iterations=3 lot=2", NOISE, AR, "model.lambda", REC),                     \
        REFUSES(name, "iterations=3", NOISE, AR, "protocol.lot", REC, .lambda = 0.1),            \
        RUNS(name, "iterations=3", NOISE, AR, "model direction", ONE, USER, .lambda = 0.1),      \
        REFUSES(name, "iterations=3 lot=2", NOISE, AR, "protocol.lot", USER, .lambda = 0.1),     \
        REFUSES(name, "iterations=3", NOISE, AR, "model.lambda", USER)
    CONSENSUS("dsgd"),
    CONSENSUS("dsgt"),
    CONSENSUS("dinno"),
    CONSENSUS("dp-sgd"),
};

#define ROWS (sizeof table / sizeof *table)

/* ---- neighbours ---- */

enum { SMALL = 1, LARGE = 2 }; /* agents whose records change: of one record, of four */
enum { PAIRS = 3 };

static void roll(dice *d, observed_records *all, uint32_t agent, uint32_t record)
{
    double square = 0;
    for (int k = 0; k < OBSERVED_FEATURES; k++) {
        all->x[agent][record][k] = dice_between(d, -1, 1);
        square += all->x[agent][record][k] * all->x[agent][record][k];
    }
    for (int k = 0; k < OBSERVED_FEATURES; k++)
        all->x[agent][record][k] /= sqrt(square) * 1.1;
    all->y[agent][record] = dice_unit(d) < 0.5 ? -1 : 1;
}

static void everybody(observed_records *all)
{
    static const uint32_t counts[OBSERVED_AGENTS] = {0, 1, 4, 2, 1, 3};
    dice d = {7};
    *all = (observed_records){{0}, {{{0}}}, {{0}}};
    memcpy(all->count, counts, sizeof counts);
    for (uint32_t i = 0; i < OBSERVED_AGENTS; i++)
        for (uint32_t r = 0; r < OBSERVED_RECORDS; r++)
            roll(&d, all, i, r);
}

/* Another record: opposite, and too long for any bound. */
static void replace(observed_records *all, uint32_t agent, uint32_t record)
{
    for (int k = 0; k < OBSERVED_FEATURES; k++)
        all->x[agent][record][k] *= -1000;
}

static void remove_first(observed_records *all, uint32_t agent)
{
    all->count[agent]--;
    memmove(all->x[agent][0], all->x[agent][1], all->count[agent] * sizeof all->x[agent][0]);
    memmove(&all->y[agent][0], &all->y[agent][1], all->count[agent] * sizeof all->y[agent][0]);
}

/* Pair 0: the agent with one record; 1: the one with four; 2: the only record of all, under
 * add-remove and with noise. False: there is no such pair. */
static bool neighbours(const observed_setting *s, int pair, observed_records *a,
                       observed_records *b, uint32_t *agent)
{
    everybody(a);
    *agent = pair == 1 ? LARGE : SMALL;
    if (pair == 2) {
        if (s->adjacency == R || s->privacy[0] == '\0')
            return false;
        for (uint32_t i = 0; i < OBSERVED_AGENTS; i++)
            a->count[i] = i == SMALL;
    }
    *b = *a;
    if (s->adjacency == R && s->unit == TACIT_UNIT_USER)
        b->count[*agent] = pair == 0 ? 5 : 1;
    if (s->adjacency == R)
        for (uint32_t r = 0; r < (s->unit == TACIT_UNIT_USER ? b->count[*agent] : 1); r++)
            replace(b, *agent, r);
    else if (s->unit == TACIT_UNIT_USER)
        b->count[*agent] = 0;
    else
        remove_first(b, *agent);
    return true;
}

/* ---- the property ---- */

static const char *title(const row *r, int pair)
{
    static char words[400];
    const observed_setting *s = &r->setting;
    snprintf(words, sizeof words, "%s (%s) with %s, %s, unit %s, model %d, pair %d", s->protocol,
             s->options, s->privacy, tacit_adjacency_name(s->adjacency), tacit_unit_name(s->unit),
             (int)s->model, pair);
    return words;
}

/* In dp-sgd a curator speaks for all. */
static uint32_t speaker(const row *r, uint32_t agent)
{
    return strcmp(r->setting.protocol, "dp-sgd") == 0 ? 0 : agent;
}

static void check_same_shape(const row *r, int pair, const observed_records *a,
                             const observed_records *b, uint32_t agent)
{
    observed one, other;
    tacit_error err = {0};
    char room[400];
    if (observed_run(&one, &r->setting, a, 5, NULL, &err) != TACIT_OK)
        fail_msg("%s: %s", title(r, pair), err.text);
    if (r->setting.privacy[0] && one.rt->ops->agent_ledger(one.rt, speaker(r, agent))->count == 0)
        fail_msg("%s: agent %u released nothing, so nothing is seen", title(r, pair), agent);
    for (uint64_t noise = 5; noise < 7; noise++) { /* the same noise, then other noise */
        if (observed_run(&other, &r->setting, b, noise, NULL, &err) != TACIT_OK)
            fail_msg("%s, in the neighbouring world: %s", title(r, pair), err.text);
        const char *seen = observed_difference(&one, &other, r->noisy, room, sizeof room);
        if (seen)
            fail_msg("%s: an observer sees %s", title(r, pair), seen);
        observed_clear(&other);
    }
    observed_clear(&one);
}

static double distance(const observed_release *a, const observed_release *b)
{
    double sum = 0;
    for (size_t k = 0; k < a->count; k++) {
        const double d = a->value[k] - b->value[k];
        sum += a->cost.norm == TACIT_L1 ? fabs(d) : d * d;
    }
    return a->cost.norm == TACIT_L1 ? sum : sqrt(sum);
}

static void watch(const row *r, const observed_records *records, uint64_t noise,
                  observed_release *out)
{
    observed o;
    tacit_error err = {0};
    check_ok(observed_run(&o, &r->setting, records, noise, out, &err), &err);
    observed_clear(&o);
}

/* The first release of the agent: on the grid, no further from its neighbour than was paid for,
 * and with other noise another one, also of an agent without records. */
static void check_first_release(const row *r, int pair, const observed_records *a,
                                const observed_records *b, uint32_t agent)
{
    const bool central = speaker(r, agent) != agent;
    uint32_t records = 0;
    for (uint32_t i = 0; i < OBSERVED_AGENTS; i++)
        records += i == agent || central ? a->count[i] : 0;
    observed_release x = {.agent = speaker(r, agent)}, y = x, z = x;
    watch(r, a, 5, &x);
    watch(r, b, 5, &y);
    watch(r, b, 6, &z);
    if (!x.there || !y.there || !z.there || x.count != y.count)
        fail_msg("%s: no first release of agent %u", title(r, pair), agent);
    const double q = x.cost.sampling > 0 ? x.cost.sampling : 1;
    const double factor = r->factor == MEAN ? 1 / (q * records) : 1;
    const double most = x.cost.sensitivity * factor * (1 + 1e-6);
    if (!(distance(&x, &y) <= most))
        fail_msg("%s: first releases are %g apart, paid was for %g", title(r, pair),
                 distance(&x, &y), most);
    const double step = ldexp(1, x.cost.grid);
    for (size_t k = 0; k < x.count; k++) {
        if (r->factor == ONE && r->setting.model != OBSERVED_NET &&
            (fmod(x.value[k], step) != 0 || fmod(y.value[k], step) != 0))
            fail_msg("%s: released %.17g and %.17g, not whole steps of %g", title(r, pair),
                     x.value[k], y.value[k], step);
        if (y.value[k] == z.value[k])
            fail_msg("%s: no noise on number %zu of a release", title(r, pair), k);
    }
}

static void check_refusal(const row *r, const observed_records *a, const observed_records *b,
                          int pair)
{
    tacit_error err[2];
    memset(err, 0, sizeof err);
    for (int k = 0; k < 2; k++) {
        observed o;
        if (observed_run(&o, &r->setting, k ? b : a, 5, NULL, &err[k]) == TACIT_OK)
            fail_msg("%s: is not refused", title(r, pair));
        observed_clear(&o);
        if (!strstr(err[k].text, r->refused))
            fail_msg("%s: \"%s\" lacks \"%s\"", title(r, pair), err[k].text, r->refused);
    }
    assert_string_equal(err[0].text, err[1].text);
}

/* A test for each row of the table. */
static void neighbours_look_the_same(void **state)
{
    const row *r = *state;
    for (int pair = 0; pair < PAIRS; pair++) {
        observed_records a, b;
        uint32_t agent;
        if (!neighbours(&r->setting, pair, &a, &b, &agent))
            continue;
        if (r->refused) {
            check_refusal(r, &a, &b, pair);
            continue;
        }
        check_same_shape(r, pair, &a, &b, agent);
        if (r->factor != ANY)
            check_first_release(r, pair, &a, &b, agent);
    }
}

/* Every protocol with each adjacency and unit. */
static void nobody_is_missing(void **state)
{
    (void)state;
    for (size_t k = 0; tacit_protocols[k]; k++)
        for (int kind = 0; kind < 4; kind++) {
            size_t rows = 0;
            for (size_t j = 0; j < ROWS; j++)
                rows += strcmp(table[j].setting.protocol, tacit_protocols[k]->name) == 0 &&
                        (int)table[j].setting.adjacency == kind / 2 &&
                        (int)table[j].setting.unit == kind % 2;
            if (rows == 0)
                fail_msg("protocol \"%s\" with %s and unit %s is not in the table of this test",
                         tacit_protocols[k]->name,
                         tacit_adjacency_name((tacit_adjacency)(kind / 2)),
                         tacit_unit_name((tacit_unit)(kind % 2)));
        }
}

/* ---- kernels ---- */

typedef struct computed {
    tacit_bounded *bounded;
    size_t used; /* numbers other than zero */
} computed;

static computed compute(const observed *o, const tacit_cost *cost, bool statistics, uint32_t agent,
                        tacit_permit *permit, tacit_scratch *scratch)
{
    tacit_error err = {0};
    tacit_ledger ledger = {0};
    computed c = {0};
    const tacit_shard *shard = tacit_dataset_shard(o->data, agent, TACIT_TRAIN);
    charged_reserve(&ledger, cost, permit);
    tacit_permit_draw_from(permit, &charged_random, agent);
    const tacit_public *start = tacit_vector_public(
        tacit_scratch_vector(scratch, tacit_model_shape(o->model), TACIT_VECTOR_SCRATCH));
    memset(tacit_vector_of_public(start)->data, 0, tacit_model_shape(o->model)->bytes);
    check_ok(statistics
                 ? tacit_model_statistics(o->model, permit, shard, 1, 1, scratch, &c.bounded, &err)
                 : tacit_model_gradient(o->model, permit, shard, start, tacit_cost_clip(cost),
                                        scratch, &c.bounded, &err),
             &err);
    for (size_t k = 0; k < c.bounded->coordinates; k++)
        c.used += c.bounded->steps[k] != 0;
    tacit_ledger_clear(&ledger);
    return c;
}

/* Of no records: zero, with the same grid, shape, sensitivity and factor as of one or of four. */
static void kernels_without_records(void **state)
{
    (void)state;
    static const observed_setting all[] = {
        SETTING("dsgd", "lot=2", NOISE, AR, REC, .lambda = 0.1),
        SETTING("dsgd", "lot=2", LAPLACE, AR, REC, .model = OBSERVED_SQUARED, .lambda = 0.1),
        SETTING("dsgd", "lot=2", NOISE, AR, REC, .model = OBSERVED_SOFTMAX, .lambda = 0.1),
        SETTING("dsgd", "lot=2", NOISE, AR, REC, .model = OBSERVED_NET),
        SETTING("dsgd", "lot=2", LOTS, AR, REC, .model = OBSERVED_NET),
        SETTING("dsgd", "lot=2", LOTS, AR, REC, .lambda = 0.1),
        SETTING("dsgd", "", NOISE, AR, USER, .lambda = 0.1),
        SETTING("dsgd", "", NOISE, R, USER, .lambda = 0.1),
        SETTING("dsgd", "", NOISE, R, USER, .model = OBSERVED_SOFTMAX, .lambda = 0.1),
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (int statistics = 0; statistics < 2; statistics++) {
            observed o;
            observed_records records;
            observed_release none = {.agent = OBSERVED_AGENTS};
            tacit_error err = {0};
            tacit_cost cost;
            if (statistics && (k != 0 || all[k].model != OBSERVED_LOGISTIC))
                continue; /* of others they are refused under add-remove, or for lots and users */
            everybody(&records);
            check_ok(observed_run(&o, &all[k], &records, 5, &none, &err), &err);
            const size_t count = tacit_model_shape(o.model)->segment[0].count;
            check_ok(statistics ? tacit_model_statistics_cost(o.model, &cost, &o.world.privacy, 1,
                                                              1, 1, &err)
                                : tacit_cost_plan(&cost, &o.world.privacy, count, "test", &err),
                     &err);
            tacit_scratch *scratch = tacit_scratch_create();
            assert_non_null(scratch);
            tacit_permit permit[3];
            const computed empty = compute(&o, &cost, statistics, 0, &permit[0], scratch);
            assert_int_equal(empty.used, 0);
            for (uint32_t agent = SMALL; agent <= LARGE; agent++) {
                const computed c = compute(&o, &cost, statistics, agent, &permit[agent], scratch);
                assert_true(c.used > 0 || o.world.privacy.sampling > 0);
                assert_true(c.bounded->norm == empty.bounded->norm);
                assert_true(c.bounded->sensitivity == empty.bounded->sensitivity);
                assert_true(c.bounded->factor == empty.bounded->factor);
                assert_true(c.bounded->offset == empty.bounded->offset);
                assert_int_equal(c.bounded->coordinates, empty.bounded->coordinates);
                assert_ptr_equal(c.bounded->value->shape, empty.bounded->value->shape);
            }
            tacit_scratch_free(scratch);
            observed_clear(&o);
        }
}

int main(void)
{
    static struct CMUnitTest tests[ROWS + 2] = {cmocka_unit_test(nobody_is_missing),
                                                cmocka_unit_test(kernels_without_records)};
    static row rows[ROWS];
    memcpy(rows, table, sizeof rows);
    for (size_t k = 0; k < ROWS; k++)
        tests[k + 2] = (struct CMUnitTest){.name = rows[k].setting.protocol,
                                           .test_func = neighbours_look_the_same,
                                           .initial_state = &rows[k]};
    return cmocka_run_group_tests(tests, charged_setup, charged_teardown);
}
