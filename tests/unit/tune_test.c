/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches: by which records they choose, that threads and interruptions choose the same, who is
 * dropped, and what a search on private records costs, against a closed form.
 */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "experiment/tune.h"

static const char small[] = "run: {name: small, time: 4, every: 0, seed: 5}\n"
                            "data: {agents: 12, dimension: 4, test-records: 20, "
                            "validation-records: 10, min-records: 4, max-records: 8}\n"
                            "graph: {kind: k-out, k: 2}\n";
static const char noisy[] = "run: {name: noisy, time: 4, every: 0, seed: 5}\n"
                            "data: {agents: 12, dimension: 4, test-records: 20, "
                            "validation-records: 10, min-records: 4, max-records: 8}\n"
                            "graph: {kind: k-out, k: 2}\n"
                            "privacy: {mechanism: gaussian, clip: 1, epsilon: 3, releases: 2, "
                            "accountant: gdp}\n";

/* ---- helpers ---- */

static tacit_status plan_of(tacit_sweep **out, const char *yaml, const char *const *vary,
                            const char *seeds, const tacit_tune_options *tune, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_sweep_grid grid = {.vary = vary, .seeds = seeds, .tune = tune};
    while (vary[grid.vary_count])
        grid.vary_count++;
    *out = NULL;
    tacit_status status = tacit_config_parse(&config, "small.yaml", yaml, strlen(yaml), err);
    if (!status)
        status = tacit_sweep_plan(out, &config, &grid, err);
    tacit_config_clear(&config);
    return status;
}

#define VARY(...) ((const char *const[]){__VA_ARGS__, NULL})

static tacit_sweep *must_plan(const char *yaml, const char *const *vary, const char *seeds,
                              tacit_tune_options tune)
{
    tacit_sweep *sweep;
    tacit_error err = {0};
    check_ok(plan_of(&sweep, yaml, vary, seeds, &tune, &err), &err);
    return sweep;
}

static tacit_tuned found_by(const tacit_sweep *sweep)
{
    tacit_tuned found;
    tacit_sweep_tuned(sweep, &found);
    return found;
}

/* A score that depends on the point as it likes and scatters a little with the seed. */
typedef double score_law(size_t point, size_t seed);

/* Do what a search wants, without running anything. Test scores are the worst where validation
 * scores are best: who looks at them chooses wrongly. */
static void pretend(tacit_sweep *sweep, score_law *law, bool up)
{
    tacit_error err = {0};
    bool more = true;
    for (size_t turn = 0; turn < 1000; turn++) {
        check_ok(tacit_tune_next(sweep, &more, &err), &err);
        if (!more)
            return;
        for (size_t r = 0; r < tacit_sweep_runs(sweep); r++) {
            if (!sweep->tuner->wanted[r])
                continue;
            tacit_sweep_result *result = &sweep->results[r];
            const double score = law(r / sweep->seed_count, r % sweep->seed_count);
            assert_true(result->state == TACIT_SWEEP_WAITING || sweep->tuner->testing);
            *result = (tacit_sweep_result){.state = TACIT_SWEEP_DONE,
                                           .score_up = up,
                                           .released = NAN,
                                           .opened = sweep->tuner->testing};
            if (sweep->tuner->options.on == TACIT_TUNED_PRIVATE)
                result->released = 1 - score; /* and says the opposite */
            snprintf(result->score, sizeof result->score, up ? "accuracy" : "rmse");
            result->value[TACIT_SWEEP_VALIDATION] = score;
            result->value[TACIT_SWEEP_TEST] = 1 - score;
        }
    }
    fail_msg("the search does not end");
}

/* ---- how it chooses ---- */

static double hill(size_t point, size_t seed)
{
    const double away = (double)point - 61;
    return 0.9 - 1e-4 * away * away + 1e-3 * (double)(seed % 2);
}

static double valley(size_t point, size_t seed)
{
    return 2 - hill(point, seed);
}

/* 101 values, 20 tries: the neighbours of the best find the top, or almost. */
static void finds_the_top(void **state)
{
    (void)state;
    for (int up = 0; up < 2; up++) {
        tacit_sweep *sweep =
            must_plan(small, VARY("protocol.mu=1..101"), "6", (tacit_tune_options){.tries = 20});
        assert_int_equal(sweep->tuner->spread_count, 14);
        pretend(sweep, up ? hill : valley, up);
        const tacit_tuned found = found_by(sweep);
        assert_true(found.winner >= 60 && found.winner <= 62);
        assert_true(found.tried <= 20 && found.tried > 14);
        assert_int_equal(tacit_sweep_best(sweep, TACIT_SWEEP_TEST), found.winner);
        assert_int_equal(found.validation.n, 6);
        assert_true(isnan(found.search_epsilon) && isnan(found.released));
        tacit_sweep_free(sweep);
    }
}

/* A small grid is tried as a whole. Far worse settings keep the few seeds they had, near ones get
 * all of them, and the winner has all. */
static double steps_of(size_t point, size_t seed)
{
    static const double scatter[] = {.01, -.01, .005, 0, .002, -.004};
    return (point == 3 ? .8 : point == 2 ? .799 : .5) + scatter[(seed + 2 * point) % 6];
}

static void drops_the_worse(void **state)
{
    (void)state;
    tacit_sweep *sweep =
        must_plan(small, VARY("graph.k=1..5"), "6", (tacit_tune_options){.tries = 40});
    pretend(sweep, steps_of, true);
    static const size_t level[] = {3, 3, 6, 6, 3};
    for (size_t p = 0; p < 5; p++)
        assert_int_equal(sweep->tuner->level[p], level[p]);
    assert_int_equal(found_by(sweep).winner, 3);
    const tacit_tune_step *steps;
    assert_int_equal(tacit_tune_steps(sweep, &steps), 3);
    assert_int_equal(steps[0].runs, 15);
    assert_int_equal(steps[1].alive, 2);
    assert_int_equal(steps[2].kind, TACIT_TUNE_TEST);
    assert_int_equal(steps[2].runs, 21);
    tacit_sweep_free(sweep);
}

/* Two keys: hardly a value of either is left out, and no setting comes twice. */
static void spreads_over_the_grid(void **state)
{
    (void)state;
    tacit_sweep *sweep = must_plan(small, VARY("graph.k=1..10", "protocol.mu=1..10"), "3",
                                   (tacit_tune_options){.tries = 30});
    bool seen[2][10] = {{false}};
    assert_int_equal(sweep->tuner->spread_count, 20);
    for (size_t i = 0; i < 20; i++) {
        const size_t point = sweep->tuner->spread[i];
        seen[0][point / 10] = seen[1][point % 10] = true;
        for (size_t j = 0; j < i; j++)
            assert_true(sweep->tuner->spread[j] != point);
    }
    size_t values = 0;
    for (size_t k = 0; k < 10; k++)
        values += (size_t)seen[0][k] + seen[1][k];
    assert_true(values >= 18);
    tacit_sweep_free(sweep);
    /* Protocols beside each other, one without the key. */
    sweep = must_plan(small, VARY("protocol.name=cd,alone", "protocol.mu=1..50"), "3",
                      (tacit_tune_options){.tries = 9});
    pretend(sweep, hill, true);
    assert_true(found_by(sweep).tried <= 9);
    tacit_sweep_free(sweep);
}

/* ---- real runs ---- */

static char *slurp(const char *folder, const char *name)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) < (1 << 20) - 1);
    fclose(file);
    return text;
}

static void same_files(const char *a, const char *b)
{
    static const char *const names[] = {"sweep.yaml", "runs.csv", "means.csv", "search.csv",
                                        "report.html"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *one = slurp(a, names[i]), *other = slurp(b, names[i]);
        assert_string_equal(one, other);
        free(one);
        free(other);
    }
}

typedef struct stopping {
    tacit_stop stop;
    size_t after;
} stopping;

static void stop_after(void *ctx, size_t finished, size_t total, double share)
{
    stopping *s = ctx;
    (void)total;
    (void)share;
    if (finished >= s->after)
        s->stop = 1;
}

static void run_whole(const char *yaml, const char *folder, uint32_t threads,
                      tacit_tune_options tune)
{
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(yaml, VARY("protocol.mu=1..9"), "5", tune);
    check_ok(
        tacit_sweep_run(sweep, &(tacit_sweep_request){.folder = folder, .threads = threads}, &err),
        &err);
    tacit_sweep_free(sweep);
}

/* Cut again and again, each time with another number of threads. */
static void run_in_pieces(const char *yaml, const char *folder, tacit_tune_options tune)
{
    tacit_error err = {0};
    tacit_status status = TACIT_EINTERRUPTED;
    for (size_t turn = 0; status == TACIT_EINTERRUPTED && turn < 50; turn++) {
        stopping s = {.after = 7 * (turn + 1)};
        tacit_sweep *sweep = NULL;
        if (turn == 0)
            sweep = must_plan(yaml, VARY("protocol.mu=1..9"), "5", tune);
        else
            check_ok(tacit_sweep_read(&sweep, folder, &err), &err);
        status = tacit_sweep_run(sweep,
                                 &(tacit_sweep_request){.folder = folder,
                                                        .resume = turn > 0,
                                                        .threads = 1 + turn % 3,
                                                        .stop = &s.stop,
                                                        .progress = stop_after,
                                                        .progress_ctx = &s},
                                 &err);
        assert_true(turn > 0 || status == TACIT_EINTERRUPTED);
        tacit_sweep_free(sweep);
    }
    check_ok(status, &err);
}

static void threads_and_pieces(void **state)
{
    (void)state;
    const tacit_tune_options tune = {.tries = 6};
    run_whole(small, "one", 1, tune);
    run_whole(small, "four", 4, tune);
    run_in_pieces(small, "pieces", tune);
    same_files("one", "four");
    same_files("one", "pieces");
    const tacit_tune_options charged = {.on = TACIT_TUNED_PRIVATE, .tries = 4};
    run_whole(noisy, "charged-one", 1, charged);
    run_whole(noisy, "charged-four", 4, charged);
    run_in_pieces(noisy, "charged-pieces", charged);
    same_files("charged-one", "charged-four");
    same_files("charged-one", "charged-pieces");
}

/* Test scores: of the winner alone, and those of the same experiment run by itself. */
static void test_is_opened_once(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sweep *sweep =
        must_plan(small, VARY("protocol.mu=1,100,10000"), "3", (tacit_tune_options){.tries = 3});
    check_ok(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 2}, &err), &err);
    const tacit_tuned found = found_by(sweep);
    double best = -1;
    for (size_t p = 0; p < 3; p++) {
        const tacit_interval mean = tacit_sweep_interval(sweep, p, TACIT_SWEEP_VALIDATION);
        assert_true(mean.mean <= best || p <= found.winner);
        best = fmax(best, mean.mean);
        for (size_t k = 0; k < 3; k++) {
            const tacit_sweep_result *r = tacit_sweep_result_of(sweep, 3 * p + k);
            assert_int_equal(isnan(r->value[TACIT_SWEEP_TEST]), p != found.winner);
            assert_int_equal(isnan(r->value[TACIT_SWEEP_TEST_DEVIATION]), p != found.winner);
            assert_int_equal(r->opened, p == found.winner);
        }
    }
    assert_true(found.validation.mean == best);
    tacit_config config;
    tacit_experiment x;
    tacit_session *session;
    tacit_snapshot end;
    tacit_config_init(&config);
    check_ok(tacit_sweep_config(sweep, 3 * found.winner, &config, &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    check_ok(tacit_session_create(&session, &x, 1, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){0}, &err), &err);
    check_ok(tacit_session_measure(session, &end, &err), &err);
    assert_true(tacit_sweep_result_of(sweep, 3 * found.winner)->value[TACIT_SWEEP_TEST] ==
                end.test);
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
    tacit_sweep_free(sweep);
}

/* ---- what it costs ---- */

/* delta of a Gaussian mechanism with shift / noise = mu (Balle, Wang 2018), and its inverse. */
static double delta_of(double mu, double epsilon)
{
    const double a = epsilon / mu - mu / 2, b = epsilon / mu + mu / 2;
    return 0.5 * erfc(a / sqrt(2)) - exp(epsilon) * 0.5 * erfc(b / sqrt(2));
}

static double epsilon_of(double mu, double delta)
{
    double low = 0, high = 200;
    for (int i = 0; i < 200; i++) {
        const double middle = (low + high) / 2;
        *(delta_of(mu, middle) > delta ? &low : &high) = middle;
    }
    return high;
}

static void check_near(double got, double want)
{
    if (!(fabs(got - want) <= 3e-5 * want)) /* noise is rounded up by 1e-5 */
        fail_msg("%.12g, not %.12g", got, want);
}

/* Gaussians compose to one: mu^2 adds up over releases, tries, seeds and scores. */
static void tries_are_charged(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_tune_options tune = {.on = TACIT_TUNED_PRIVATE, .tries = 3, .choice_epsilon = 0.5};
    tacit_sweep *sweep = must_plan(noisy, VARY("protocol.mu=1,10,100"), "2", tune);
    check_ok(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 2}, &err), &err);
    const tacit_tuned found = found_by(sweep);
    /* A run's releases: from its epsilon, which is that of the agent that spent most. */
    double mu = 0, step = 1;
    const double each = tacit_sweep_result_of(sweep, 0)->value[TACIT_SWEEP_EPSILON];
    for (; step > 1e-12; step /= 2)
        if (epsilon_of(mu + step, 1e-5) <= each)
            mu += step;
    double choice = 0;
    for (step = 1; step > 1e-12; step /= 2)
        if (epsilon_of(choice + step, 1e-5) <= 0.5)
            choice += step;
    assert_int_equal(found.runs, 6);
    check_near(found.run_epsilon, each);
    check_near(found.choice_epsilon, 0.5);
    assert_true(found.choice_epsilon <= 0.5);
    check_near(found.tries_epsilon, epsilon_of(sqrt(6) * mu, 1e-5));
    check_near(found.search_epsilon, epsilon_of(sqrt(6 * mu * mu + choice * choice), 1e-5));
    check_near(found.after_epsilon, epsilon_of(sqrt(7 * mu * mu + choice * choice), 1e-5));
    tacit_sweep_free(sweep);
}

/* What is charged is fixed before anything is heard: all settings and all seeds at once. And it is
 * chosen by what was told, not by the scores. */
static void charged_tries_are_fixed(void **state)
{
    (void)state;
    tacit_sweep *sweep = must_plan(noisy, VARY("protocol.mu=1..50"), "6",
                                   (tacit_tune_options){.on = TACIT_TUNED_PRIVATE, .tries = 4});
    bool more;
    tacit_error err = {0};
    check_ok(tacit_tune_next(sweep, &more, &err), &err);
    assert_int_equal(sweep->tuner->wanted_count, 24);
    pretend(sweep, hill, true);
    const tacit_tune_step *steps;
    assert_int_equal(tacit_tune_steps(sweep, &steps), 2);
    assert_int_equal(steps[1].kind, TACIT_TUNE_TEST);
    size_t worst = sweep->tuner->order[0];
    for (size_t i = 0; i < 4; i++)
        if (hill(sweep->tuner->order[i], 0) < hill(worst, 0))
            worst = sweep->tuner->order[i];
    assert_int_equal(sweep->tuner->winner, worst);
    tacit_sweep_free(sweep);
}

/* Settings that do the same: in a charged search their noise must differ, as it does between
 * real runs, and otherwise it must not. */
static void noise_is_drawn_anew(void **state)
{
    (void)state;
    tacit_error err = {0};
    for (int charged = 0; charged < 2; charged++) {
        const tacit_tune_options tune = {.on =
                                             charged ? TACIT_TUNED_PRIVATE : TACIT_TUNED_SIMULATED};
        tacit_sweep *sweep = must_plan(noisy, VARY("run.sample=1,2"), "1", tune);
        check_ok(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 1}, &err), &err);
        const tacit_sweep_result *a = tacit_sweep_result_of(sweep, 0);
        const tacit_sweep_result *b = tacit_sweep_result_of(sweep, 1);
        const bool same = a->value[TACIT_SWEEP_TRAIN_LOSS] == b->value[TACIT_SWEEP_TRAIN_LOSS];
        assert_int_equal(same, !charged);
        assert_true(!charged || a->released != b->released);
        tacit_sweep_free(sweep);
    }
}

/* With hardly any noise the choice is that of the scores; with much it is not made of them. */
static void told_scores_follow_scores(void **state)
{
    (void)state;
    tacit_error err = {0};
    double far = 0;
    for (int loud = 0; loud < 2; loud++) {
        const tacit_tune_options tune = {.on = TACIT_TUNED_PRIVATE,
                                         .choice_epsilon = loud ? 0.01 : 1e6};
        tacit_sweep *sweep = must_plan(noisy, VARY("protocol.mu=1,10,100"), "1", tune);
        check_ok(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 1}, &err), &err);
        for (size_t r = 0; r < 3; r++) {
            const tacit_sweep_result *result = tacit_sweep_result_of(sweep, r);
            const double gap = fabs(result->released - result->value[TACIT_SWEEP_VALIDATION]);
            /* Every agent here has validation records. */
            assert_true(loud || gap < 0.02);
            far = fmax(far, gap);
        }
        assert_true(found_by(sweep).noise > (loud ? 100 : 0));
        tacit_sweep_free(sweep);
    }
    /* The noise of a mean has a deviation above 30: three gaps below 1 have a chance of 2e-5. */
    assert_true(far > 1);
}

/* ---- what is refused ---- */

static void refusals(void **state)
{
    (void)state;
    static const char file[] = "data: {source: csv, path: x.csv, agent-column: a, label-column: y, "
                               "validation-fraction: 0.2}\n";
    static const struct {
        const char *yaml, *vary;
        tacit_tune_options tune;
        tacit_status status;
        const char *words;
    } wrong[] = {
        {small, "protocol.mu=1", {0}, TACIT_EUSAGE, "nothing to choose from"},
        {file, "protocol.mu=1,2", {0}, TACIT_EUSAGE, "say whose they are"},
        {file,
         "protocol.mu=1,2",
         {.on = TACIT_TUNED_SIMULATED},
         TACIT_EUSAGE,
         "not drawn from a seed"},
        {small, "protocol.mu=1,2", {.on = TACIT_TUNED_PUBLIC}, TACIT_EUSAGE, "nobody's"},
        {small, "protocol.mu=1,2", {.on = TACIT_TUNED_UNCHARGED}, TACIT_EUSAGE, "nobody's"},
        {small, "protocol.mu=1,2", {.choice_epsilon = 1}, TACIT_EUSAGE, "--tuned-on private"},
        {small, "data.validation-records=0,5", {0}, TACIT_EINPUT, "no validation records"},
        {"data: {source: csv, path: x.csv, agent-column: a, label-column: y}\n",
         "protocol.mu=1,2",
         {.on = TACIT_TUNED_PUBLIC},
         TACIT_EINPUT,
         "data.validation-fraction"},
        {noisy,
         "privacy.delta=1e-5,1e-6",
         {.on = TACIT_TUNED_PRIVATE},
         TACIT_EUSAGE,
         "differ in privacy.delta"},
        {noisy,
         "privacy.accountant=gdp,pld",
         {.on = TACIT_TUNED_PRIVATE},
         TACIT_EUSAGE,
         "differ in privacy.accountant"},
        {small,
         "protocol.name=cd,chorus",
         {.on = TACIT_TUNED_PRIVATE},
         TACIT_EUSAGE,
         "what their adversaries see"},
        {small, "model.loss=logistic,squared", {.on = TACIT_TUNED_PRIVATE}, TACIT_EUSAGE, "rmse"},
        /* One validation record would be in the score of every agent: by setting, by default with
         * a test file, and in one of the settings only. */
        {"data: {score-on: all}\n",
         "protocol.mu=1,2",
         {.on = TACIT_TUNED_PRIVATE},
         TACIT_EUSAGE,
         "set \"data.score-on\" to \"own\""},
        {small, "data.score-on=own,all", {.on = TACIT_TUNED_PRIVATE}, TACIT_EUSAGE, "every agent"},
        {"data: {source: csv, path: x.csv, test-path: t.csv, agent-column: a, label-column: y, "
         "validation-fraction: 0.2}\n",
         "protocol.mu=1,2",
         {.on = TACIT_TUNED_PRIVATE},
         TACIT_EUSAGE,
         "leave \"data.test-path\" out"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_sweep *sweep;
        tacit_error err = {0};
        check_fails(plan_of(&sweep, wrong[i].yaml, VARY(wrong[i].vary), "2", &wrong[i].tune, &err),
                    wrong[i].status, &err, wrong[i].words);
        assert_null(sweep);
    }
    /* Who is silent adds nothing to what an adversary sees. */
    tacit_sweep_free(must_plan(noisy, VARY("protocol.name=cd,alone"), "1",
                               (tacit_tune_options){.on = TACIT_TUNED_PRIVATE}));
}

/* A try that fails ends a charged search, before any epsilon is told. */
static void failures(void **state)
{
    (void)state;
    tacit_error err = {0};
    tacit_sweep *sweep = must_plan(small, VARY("privacy.epsilon=1,inf"), "1",
                                   (tacit_tune_options){.on = TACIT_TUNED_PRIVATE});
    check_fails(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 1}, &err), TACIT_EINPUT,
                &err, "no epsilon here covers");
    tacit_sweep_free(sweep);
    sweep = must_plan(small, VARY("privacy.epsilon=1,inf"), "1", (tacit_tune_options){0});
    err = (tacit_error){0};
    check_fails(tacit_sweep_run(sweep, &(tacit_sweep_request){.threads = 1}, &err), TACIT_NO, &err,
                "1 of 2 runs failed");
    assert_int_equal(found_by(sweep).winner, 1);
    tacit_sweep_free(sweep);
}

static void loss_texts(void **state)
{
    (void)state;
    static const char *const wrong[] = {"4",
                                        "4 0 1 1 1 0 0 0",
                                        "99 0 1 1 1 0 0 0 1",
                                        "4 0 nan 1 1 0 0 0 1",
                                        "4 0 -1 1 1 0 0 0 1",
                                        "4 0 1 1 2 0 0 0 1",
                                        "4 0 1 1 1 0 0 0 1 x",
                                        "4 0 1 1 1 0 0 0 1;;"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tacit_losses list = {0};
        assert_false(tacit_losses_read(&list, wrong[i]));
        free(list.all);
    }
    tacit_losses list = {0};
    assert_true(tacit_losses_read(&list, "4 0 2.5 1 1 0 1e-32 0 3;0 0 0 0 1 0 0 0 1"));
    assert_int_equal(list.count, 2);
    assert_true(list.all[0].noise == 2.5 && list.all[0].count == 3);
    assert_int_equal(list.all[1].kind, TACIT_LOSS_BARE);
    free(list.all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_top),
        cmocka_unit_test(drops_the_worse),
        cmocka_unit_test(spreads_over_the_grid),
        cmocka_unit_test(threads_and_pieces),
        cmocka_unit_test(test_is_opened_once),
        cmocka_unit_test(tries_are_charged),
        cmocka_unit_test(charged_tries_are_fixed),
        cmocka_unit_test(noise_is_drawn_anew),
        cmocka_unit_test(told_scores_follow_scores),
        cmocka_unit_test(refusals),
        cmocka_unit_test(failures),
        cmocka_unit_test(loss_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
