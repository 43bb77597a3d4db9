/* SPDX-License-Identifier: Apache-2.0 */
/* diffusion: what its noises cost (the ledger against closed forms), budgets that end, networks
 * that lose messages, checkpoints in the middle, and options that make no sense. Trajectories are
 * compared with the paper's recursions in diffusion_reference_test.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiment/session.h"
#include "protocol/diffusion.h"
#include "tacit/account.h"
#include "testing.h"

typedef struct bench {
    tacit_experiment x;
    tacit_session *session;
} bench;

static tacit_status open_bench(bench *b, const char *yaml, tacit_error *err)
{
    tacit_config config;
    *b = (bench){0};
    tacit_config_init(&config);
    tacit_status status = tacit_config_parse(&config, "test", yaml, strlen(yaml), err);
    if (status == TACIT_OK)
        status = tacit_experiment_init(&b->x, &config, err);
    tacit_config_clear(&config);
    if (status != TACIT_OK)
        return status;
    status = tacit_session_create(&b->session, &b->x, 1, err);
    if (status != TACIT_OK)
        tacit_experiment_clear(&b->x);
    return status;
}

static void close_bench(bench *b)
{
    tacit_session_free(b->session);
    tacit_experiment_clear(&b->x);
}

/* `extra` goes into the section of the protocol, `privacy` into its own. */
static void run(bench *b, const char *extra, const char *privacy, const char *network)
{
    char yaml[1500];
    tacit_error err = {0};
    snprintf(yaml, sizeof yaml,
             "run: {time: 60, every: 0}\n"
             "data: {agents: 12, dimension: 4, min-records: 20, max-records: 20, test-records: 4}\n"
             "graph: {kind: k-regular, k: 4}\n"
             "model: {lambda: 1e-9}\n"
             "network: {%s}\n"
             "privacy: {%s}\n"
             "protocol: {name: diffusion, step: 0.1, %s}\n",
             network, privacy, extra);
    check_ok(open_bench(b, yaml, &err), &err);
    check_ok(tacit_session_run(b->session, &(tacit_run_request){0}, &err), &err);
}

/* epsilon of Gaussians that together are mu-GDP. */
static double gdp_epsilon(double mu, double delta)
{
    const tacit_loss loss = {.kind = TACIT_LOSS_GAUSSIAN,
                             .adjacency = TACIT_REPLACE,
                             .noise = 1,
                             .shift = mu,
                             .sampling = 1,
                             .count = 1};
    double epsilon = NAN;
    tacit_error err = {0};
    check_ok(tacit_account_epsilon(TACIT_BY_GDP, &loss, 1, delta, &epsilon, &err), &err);
    return epsilon;
}

/* Four neighbours: a = 1/5, and the bound of ATC settles at 2 eta C / (N (1 - a)). */
static void test_independent_costs(void **state)
{
    (void)state;
    bench b;
    run(&b, "noise: independent, sigma: 0.05, iterations: 30",
        "mechanism: gaussian, clip: 0.5, accountant: gdp, delta: 1e-5", "");
    const double settled = 2 * 0.1 * 0.5 / (20 * (1 - 0.2));
    const double mu = sqrt(30 * 4) * settled / 0.05;
    const double want = gdp_epsilon(mu, 1e-5), got = tacit_session_epsilon(b.session);
    assert_true(got >= want); /* costs are rounded up, by 4.4 % of a sensitivity at most */
    assert_true(got <= gdp_epsilon(mu * 1.045, 1e-5));
    assert_int_equal(tacit_session_releases(b.session), 12 * 30 * 4);
    close_bench(&b);
}

/* Memory is not diluted: 2 eta C / N more a round. */
static void test_homomorphic_costs(void **state)
{
    (void)state;
    bench b;
    run(&b, "noise: homomorphic, sigma: 0.2, iterations: 30",
        "mechanism: gaussian, clip: 0.5, accountant: gdp, delta: 1e-5", "");
    double squares = 0;
    for (int i = 1; i <= 30; i++)
        squares += pow(i * 2 * 0.1 * 0.5 / 20, 2);
    const double mu = sqrt(squares) / 0.2;
    const double got = tacit_session_epsilon(b.session);
    assert_true(got >= gdp_epsilon(mu, 1e-5) && got <= gdp_epsilon(mu * 1.045, 1e-5));
    assert_int_equal(tacit_session_releases(b.session), 12 * 30);
    close_bench(&b);
}

/* For a user, all of a gradient may differ: N times as much. */
static void test_user_costs(void **state)
{
    (void)state;
    bench b;
    run(&b, "noise: homomorphic, sigma: 2, iterations: 10",
        "mechanism: gaussian, clip: 0.5, accountant: gdp, unit: user", "");
    double squares = 0;
    for (int i = 1; i <= 10; i++)
        squares += pow(i * 2 * 0.1 * 0.5, 2);
    const double mu = sqrt(squares) / 2, got = tacit_session_epsilon(b.session);
    assert_true(got >= gdp_epsilon(mu, 1e-5) && got <= gdp_epsilon(mu * 1.045, 1e-5));
    close_bench(&b);
}

/* sigma 0: as much noise as the budget asks for, and hardly more. */
static void test_noise_from_a_budget(void **state)
{
    (void)state;
    static const char *const noises[] = {"independent", "homomorphic"};
    static const char *const laws[] = {"gaussian, accountant: pld", "laplace, delta: 0"};
    static const char *const ways[] = {"consensus", "cta", "atc",
                                       "general, a0: metropolis, "
                                       "a2: averaging"};
    for (int noise = 0; noise < 2; noise++)
        for (int law = 0; law < 2; law++)
            for (int way = 0; way < 4; way++) {
                bench b;
                char extra[200], privacy[200];
                snprintf(extra, sizeof extra, "noise: %s, iterations: 25, strategy: %s",
                         noises[noise], ways[way]);
                snprintf(privacy, sizeof privacy, "mechanism: %s, clip: 0.5, epsilon: 3",
                         laws[law]);
                run(&b, extra, privacy, "");
                const double got = tacit_session_epsilon(b.session);
                const uint64_t all = 12 * 25 * (noise ? 1 : 4) * (way == 3 ? 2 : 1);
                assert_true(got <= 3 && got > 2.85);
                assert_int_equal(tacit_session_releases(b.session), all); /* nobody fell silent */
                close_bench(&b);
            }
}

static bool finite_models(const bench *b)
{
    const tacit_runtime *rt = tacit_session_runtime(b->session);
    for (uint32_t i = 0; i < 12; i++) {
        const tacit_secret *w = rt->ops->agent_model(rt, i);
        for (size_t k = 0; k < 4; k++)
            if (!isfinite(tacit_vector_get(tacit_vector_of_secret(w), 0, k)))
                return false;
    }
    return true;
}

/* Batches one after the other are others than those drawn; of all records there is one order. */
static void test_order_of_batches(void **state)
{
    (void)state;
    static const char *const ways[] = {"batch: 1", "batch: 1, order: random", "batch: 0",
                                       "batch: 0, order: random"};
    double first[4];
    for (int k = 0; k < 4; k++) {
        bench b;
        char extra[100];
        snprintf(extra, sizeof extra, "iterations: 30, %s", ways[k]);
        run(&b, extra, "mechanism: none", "");
        const tacit_runtime *rt = tacit_session_runtime(b.session);
        first[k] = tacit_vector_get(tacit_vector_of_secret(rt->ops->agent_model(rt, 0)), 0, 0);
        close_bench(&b);
    }
    assert_true(first[0] != first[1]);
    assert_true(fabs(first[2] - first[3]) < 1e-12);
}

/* A budget for a third of the way: agents fall silent, and all go on to the end. */
static void test_budget_ends(void **state)
{
    (void)state;
    bench b;
    run(&b, "noise: independent, sigma: 0.05, iterations: 30",
        "mechanism: gaussian, clip: 0.5, accountant: gdp, epsilon: 3", "");
    const uint64_t told = tacit_session_releases(b.session);
    if (!(told > 12 * 4 && told < 12 * 4 * 30 / 2))
        fail_msg("%llu releases", (unsigned long long)told);
    assert_true(tacit_session_epsilon(b.session) <= 3);
    assert_true(finite_models(&b));
    close_bench(&b);
}

/* Words get lost, agents go and come: rounds end by patience, and nothing is overspent. */
static void test_lossy_networks(void **state)
{
    (void)state;
    static const char *const noises[] = {
        "noise: none, patience: 0.2, iterations: 20",
        "noise: independent, patience: 0.2, iterations: 20",
        "noise: homomorphic, patience: 0.2, iterations: 20",
        "noise: local-homomorphic, patience: 0.4, iterations: 20, epoch: 7",
        "noise: local-homomorphic, patience: 0.4, iterations: 20, sigma: 0.1, least: 3"};
    static const char *const privacies[] = {
        "mechanism: none", "mechanism: gaussian, clip: 0.5, epsilon: 5, accountant: gdp",
        "mechanism: gaussian, clip: 0.5, epsilon: 5, accountant: gdp", "mechanism: none",
        "mechanism: gaussian, clip: 0.5, epsilon: 50, accountant: gdp"};
    for (int k = 0; k < 5; k++) {
        bench b;
        run(&b, noises[k], privacies[k],
            "latency: exponential, latency-floor: 0.01, latency-mean: 0.02, loss: 0.1");
        assert_true(finite_models(&b));
        if (k == 1 || k == 2 || k == 4)
            assert_true(tacit_session_epsilon(b.session) <= (k == 4 ? 50 : 5));
        const uint64_t told = tacit_session_releases(b.session);
        if (!(told > 12 * 10))
            fail_msg("\"%s\": %llu releases only", noises[k], (unsigned long long)told);
        close_bench(&b);
    }
}

/* Degrees that differ and are heard late, words that never come: who keeps more of its own than it
 * planned stands still, but nobody falls silent. */
static void test_nobody_falls_silent(void **state)
{
    (void)state;
    static const char *const noises[] = {"independent", "local-homomorphic"};
    for (int k = 0; k < 2; k++)
        for (int lost = 0; lost <= 2; lost++) {
            char yaml[900];
            tacit_error err = {0};
            bench b;
            snprintf(yaml, sizeof yaml,
                     "run: {time: 60, every: 0}\n"
                     "data: {agents: 12, dimension: 4, min-records: 20, max-records: 20}\n"
                     "graph: {kind: watts-strogatz, k: 4, probability: 0.5}\n"
                     "network: {latency: constant, latency-floor: 0.01, loss: %g}\n"
                     "privacy: {mechanism: gaussian, clip: 0.5, accountant: gdp}\n"
                     "protocol: {name: diffusion, iterations: 40, patience: 0.3, sigma: 0.1, "
                     "noise: %s}\n",
                     0.1 * lost, noises[k]);
            check_ok(open_bench(&b, yaml, &err), &err);
            check_ok(tacit_session_run(b.session, &(tacit_run_request){0}, &err), &err);
            const uint64_t all = tacit_session_graph(b.session)->entries * 40;
            const uint64_t told = tacit_session_releases(b.session);
            if (k == 0 || lost == 0)
                assert_int_equal(told, all);
            else if (told < all / 2) /* masked sums are lost with their words */
                fail_msg("%llu of %llu", (unsigned long long)told, (unsigned long long)all);
            for (uint32_t i = 0; i < 12; i++) {
                const tacit_runtime *rt = tacit_session_runtime(b.session);
                const diffusion_agent *a = rt->ops->agent_state(rt, i);
                assert_int_equal(a->silent, 0);
                assert_true(a->w.moved <= a->planned);
            }
            close_bench(&b);
        }
}

/* The same models, whether a run is interrupted and resumed or not. */
static void test_checkpoints(void **state)
{
    (void)state;
    static const char *const ways[] = {
        "noise: independent, iterations: 12, strategy: consensus",
        "noise: homomorphic, iterations: 12, strategy: general, a1: metropolis, a2: uniform",
        "noise: local-homomorphic, iterations: 12, sigma: 0.1, epoch: 5"};
    for (int k = 0; k < 3; k++) {
        char yaml[900];
        tacit_error err = {0};
        bench whole, first, second;
        snprintf(yaml, sizeof yaml,
                 "run: {time: 14, every: 0}\n"
                 "data: {agents: 12, dimension: 4, min-records: 5, max-records: 20}\n"
                 "graph: {kind: k-regular, k: 4}\n"
                 "network: {latency: constant, latency-floor: 0.13}\n"
                 "privacy: {mechanism: gaussian, clip: 0.5, epsilon: 40, accountant: gdp}\n"
                 "protocol: {name: diffusion, %s}\n",
                 ways[k]);
        check_ok(open_bench(&whole, yaml, &err), &err);
        check_ok(open_bench(&first, yaml, &err), &err);
        check_ok(open_bench(&second, yaml, &err), &err);
        tacit_runtime *a = tacit_session_runtime(whole.session);
        tacit_runtime *b = tacit_session_runtime(first.session);
        tacit_runtime *c = tacit_session_runtime(second.session);
        check_ok(a->ops->run(a, 14, NULL, &err), &err);
        check_ok(b->ops->run(b, 6.05, NULL, &err), &err); /* words are under way */
        tacit_saver *saver = tacit_saver_create();
        const uint8_t *bytes;
        size_t len;
        check_ok(b->ops->save(b, saver), &err);
        check_ok(tacit_saver_finish(saver, &bytes, &len, &err), &err);
        tacit_loader *loader = NULL;
        check_ok(tacit_loader_create(&loader, bytes, len, &err), &err);
        check_ok(c->ops->load(c, loader), &err);
        check_ok(c->ops->run(c, 14, NULL, &err), &err);
        for (uint32_t i = 0; i < 12; i++)
            assert_memory_equal(tacit_vector_of_secret(a->ops->agent_model(a, i))->data,
                                tacit_vector_of_secret(c->ops->agent_model(c, i))->data,
                                4 * sizeof(double));
        tacit_loader_free(loader);
        tacit_saver_free(saver);
        close_bench(&whole);
        close_bench(&first);
        close_bench(&second);
    }
}

static void test_bad_options(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *says;
    } bad[] = {
        {"protocol: {name: diffusion, noise: independent}", "privacy.mechanism"},
        {"protocol: {name: diffusion}\nprivacy: {mechanism: gaussian, clip: 1, epsilon: 1}",
         "tells models as they are"},
        {"protocol: {name: diffusion, noise: homomorphic}\nprivacy: {mechanism: gaussian, "
         "epsilon: 1}",
         "privacy.clip"},
        {"protocol: {name: diffusion, noise: homomorphic}\nprivacy: {mechanism: gaussian, clip: 1}",
         "protocol.sigma"},
        {"protocol: {name: diffusion, strategy: general}", "nothing is ever exchanged"},
        {"protocol: {name: diffusion, noise: local-homomorphic}\ngraph: {kind: star}",
         "agent 1 has 1 neighbour"},
        {"protocol: {name: diffusion}\ngraph: {kind: erdos-renyi, probability: 0.001}", "parts"},
        {"protocol: {name: diffusion, noise: local-homomorphic, fraction: 50, reach: 1e8}",
         "protocol.fraction"},
        {"protocol: {name: diffusion, noise: local-homomorphic, least: 4, colluders: 3}",
         "3 of 4 members who collude"},
        {"protocol: {name: diffusion, noise: local-homomorphic}\nprivacy: {mechanism: gaussian, "
         "clip: 1}",
         "protocol.sigma"},
        {"protocol: {name: diffusion, noise: independent}\nmodel: {scalar: f32}\nprivacy: "
         "{mechanism: gaussian, clip: 1, epsilon: 1}",
         "f64"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char yaml[700];
        tacit_error err = {0};
        bench b;
        snprintf(yaml, sizeof yaml, "data: {agents: 12, dimension: 4}\n%s%s\n",
                 strstr(bad[k].yaml, "graph:") ? "" : "graph: {kind: k-regular, k: 4}\n",
                 bad[k].yaml);
        check_fails(open_bench(&b, yaml, &err), TACIT_EINPUT, &err, bad[k].says);
    }
}

/* The report names the adversary that the options choose. */
static void test_adversaries(void **state)
{
    (void)state;
    const diffusion_options plain = {.noise = DIFFUSION_HOMOMORPHIC};
    const diffusion_options masked = {.noise = DIFFUSION_LOCAL_HOMOMORPHIC};
    const tacit_protocol *p = tacit_protocol_find("diffusion");
    assert_int_equal(tacit_protocol_trust(p, &plain), TACIT_TRUST_LOCAL);
    assert_int_equal(tacit_protocol_trust(p, &masked), TACIT_TRUST_SECURE);
    char sees[TACIT_SEES];
    assert_non_null(
        strstr(tacit_protocol_sees(p, &masked, sees), "sum of each receiver's neighbours"));
    assert_null(strstr(tacit_protocol_sees(p, &plain, sees), "sum"));
}

/* The sentence beside an epsilon names the number of colluders that the epsilon holds for: with
 * noise the one it was made for, without what the masks bear; of a split the smaller half breaks
 * it, so that of five members one may collude. */
static void test_colluders_in_words(void **state)
{
    (void)state;
    static const struct {
        int64_t least, colluders;
        int pairs;
        double sigma;
        const char *words;
    } cases[] = {
        {6, 0, 0, 0.015, "as long as none of them colludes with"},
        {6, 4, 0, 0.03, "as long as at most 4 of them collude with"},
        {6, 1, 1, 0.03, "as long as at most 1 of them colludes with"},
        {6, 0, 0, 0, "as long as at most 4 of them collude with"},
        {6, 0, 1, 0, "as long as at most 2 of them collude with"},
        {5, 0, 1, 0, "as long as at most 1 of them colludes with"},
        {2, 0, 1, 0, "as long as none of them colludes with"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const diffusion_options o = {.noise = DIFFUSION_LOCAL_HOMOMORPHIC,
                                     .least = cases[k].least,
                                     .colluders = cases[k].colluders,
                                     .pairs = cases[k].pairs,
                                     .sigma = cases[k].sigma};
        char sees[TACIT_SEES];
        tacit_protocol_sees(tacit_protocol_find("diffusion"), &o, sees);
        if (!strstr(sees, cases[k].words))
            fail_msg("case %zu: \"%s\", not \"%s\"", k, sees, cases[k].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_independent_costs), cmocka_unit_test(test_homomorphic_costs),
        cmocka_unit_test(test_user_costs),        cmocka_unit_test(test_noise_from_a_budget),
        cmocka_unit_test(test_order_of_batches),  cmocka_unit_test(test_budget_ends),
        cmocka_unit_test(test_lossy_networks),    cmocka_unit_test(test_nobody_falls_silent),
        cmocka_unit_test(test_checkpoints),       cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_adversaries),       cmocka_unit_test(test_colluders_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
