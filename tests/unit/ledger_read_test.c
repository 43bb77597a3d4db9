/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ledgers of JSON lines read back. Those that a run wrote: whole, or refused with 6 whatever was
 * cut, changed, moved or taken away. Those by hand: called unsealed, and refused with 3 and the
 * number of the line if they make no sense.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/ledger_groups.h"
#include "experiment/ledger_read.h"
#include "experiment/ledger_write.h"
#include "ledger_tools.h"
#include "privacy/seal.h"
#include "testing.h"

static tacit_status read_words(tacit_ledger_lines *lines, const char *text, tacit_error *err)
{
    *err = (tacit_error){0};
    return tacit_ledger_read_text(lines, "words.jsonl", text, strlen(text), NULL, err);
}

/* ---- by hand ---- */

static void test_lines_by_hand(void **state)
{
    (void)state;
    tacit_error err;
    tacit_ledger_lines lines;
    check_ok(
        read_words(&lines,
                   "{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"releases\":100,"
                   "\"sampling\":0.01,\"adjacency\":\"add-remove\"}\n"
                   "\n"
                   " {\"mechanism\": \"laplace\", \"sensitivity\": 0.3, \"noise\": 2.5, "
                   "\"adjacency\": \"add-remove\", \"grid\": null}\r\n"
                   "{\"mechanism\":\"response\",\"noise\":0.7,\"categories\":4,\"adjacency\":"
                   "\"add-remove\"}\n"
                   "{\"mechanism\":\"laplace\",\"sensitivity\":3,\"noise\":8,\"grid\":-1,"
                   "\"releases\":18446744073709551614,\"adjacency\":\"add-remove\"}",
                   &err),
        &err);
    assert_int_equal(lines.seal, TACIT_SEAL_NONE);
    assert_int_equal(lines.count, 4);
    assert_int_equal(lines.accounts, 1);
    assert_int_equal(lines.agents, 1);
    assert_string_equal(lines.adjacency, "add-remove");
    assert_string_equal(lines.adversary, "");
    assert_true(isnan(lines.epsilon) && isnan(lines.delta));
    tacit_loss loss[4];
    assert_int_equal(lines.account[0].count, 4);
    tacit_ledger_account_losses(&lines, &lines.account[0], loss);
    assert_int_equal(loss[0].kind, TACIT_LOSS_GAUSSIAN);
    assert_true(loss[0].noise == 2 && loss[0].shift == 1 && loss[0].sampling == 0.01);
    assert_true(loss[0].delta == 0 && loss[0].adjacency == TACIT_ADD_REMOVE);
    assert_int_equal(loss[0].count, 100);
    assert_int_equal(loss[1].kind, TACIT_LOSS_LAPLACE);
    assert_true(loss[1].noise == 2.5 && loss[1].shift == 0.3 && loss[1].count == 1);
    assert_int_equal(loss[2].kind, TACIT_LOSS_RESPONSE);
    assert_true(loss[2].epsilon == 0.7 && loss[2].categories == 4);
    assert_int_equal(loss[3].kind, TACIT_LOSS_DISCRETE_LAPLACE); /* it names a grid */
    assert_true(loss[3].noise == 16 && loss[3].shift == 6);
    assert_int_equal(loss[3].count, UINT64_MAX - 1);
    for (int k = 0; k < 3; k++)
        check_ok(tacit_loss_check(&loss[k], &err), &err);
    tacit_ledger_lines_clear(&lines);
}

/* Agents that spent the same share an account, whatever the order and division of their lines. */
static void test_agents_become_accounts(void **state)
{
    (void)state;
    tacit_error err;
    tacit_ledger_lines lines;
#define A "\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2"
#define B "\"mechanism\":\"laplace\",\"sensitivity\":1,\"noise\":2"
    check_ok(read_words(&lines,
                        "{\"agent\":5," A ",\"releases\":3}\n"
                        "{\"agent\":2," B ",\"releases\":1}\n"
                        "{\"agent\":5," B ",\"releases\":1}\n"
                        "{\"agent\":2," A ",\"releases\":1}\n"
                        "{\"agent\":2," A ",\"releases\":2}\n"
                        "{\"agent\":9,\"agents\":10," A ",\"releases\":3}\n"
                        "{\"agent\":3," A ",\"releases\":3}\n",
                        &err),
             &err);
    assert_int_equal(lines.agents, 13);
    assert_int_equal(lines.accounts, 2);
    assert_int_equal(lines.account[0].agent, 2);
    assert_int_equal(lines.account[0].agents, 2);
    assert_int_equal(lines.account[0].count, 2);
    assert_int_equal(lines.account[1].agent, 3);
    assert_int_equal(lines.account[1].agents, 11);
    assert_int_equal(lines.account[1].count, 1);
    const tacit_ledger_part *part = &lines.part[lines.account[0].first];
    assert_int_equal(part[0].cost->mechanism, TACIT_MECHANISM_GAUSSIAN);
    assert_int_equal(part[0].releases, 3);
    assert_int_equal(part[1].releases, 1);
    tacit_ledger_lines_clear(&lines);
    check_fails(read_words(&lines, "{\"agents\":2," A "}\n{\"agents\":3," A "}\n", &err),
                TACIT_EINPUT, &err, "stands for");
    check_fails(read_words(&lines,
                           "{" A ",\"releases\":18446744073709551614}\n"
                           "{" A ",\"releases\":2}\n",
                           &err),
                TACIT_EINPUT, &err, "more releases");
    check_fails(read_words(&lines,
                           "{\"agent\":1,\"agents\":18446744073709551614," A "}\n"
                           "{\"agent\":2,\"agents\":2," A "}\n",
                           &err),
                TACIT_EINPUT, &err, "more agents");
}

static const struct {
    const char *line, *says;
} nonsense[] = {
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":-2}", "\"noise\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":0}", "\"noise\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":NaN}", "column"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":1e999}", "range"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":\"2\"}", "\"noise\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":null}", "\"noise\" is missing"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":-1,\"noise\":2}", "\"sensitivity\""},
    {"{\"mechanism\":\"gaussian\",\"noise\":2}", "\"sensitivity\" is missing"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"sampling\":1.5}", "\"sampling\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"sampling\":0}", "\"sampling\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"samplng\":0.1}", "\"samplng\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"releases\":0}", "\"releases\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"releases\":-3}", "\"releases\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"releases\":1.5}", "\"releases\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"releases\":1e3}", "\"releases\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"norm\":\"l1\"}", "\"norm\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":0.3,\"noise\":2,\"grid\":0}", "whole number of"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"grid\":0.5}", "\"grid\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"grid\":-1e9}", "\"grid\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"agent\":-1}", "\"agent\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"unit\":\"row\"}", "\"unit\""},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"unit\":\"user\"}",
     "another than"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"adjacency\":\"add-remove\"}",
     "another than"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"adversary\":\"central\"}",
     "another than"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"adversary\":\"me\"}", "one of"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noise\":2,\"what\":\"\"}", "\"what\""},
    {"{\"mechanism\":\"magic\"}", "one of"},
    {"{\"sensitivity\":1}", "\"mechanism\" is missing"},
    {"{\"mechanism\":\"response\",\"noise\":1}", "\"categories\" is missing"},
    {"{\"mechanism\":\"response\",\"noise\":1,\"categories\":1}", "\"categories\""},
    {"{\"mechanism\":\"response\",\"noise\":-1,\"categories\":2}", "\"noise\""},
    {"[1]", "expected an object"},
    {"{\"mechanism\":\"gaussian\",\"sensitivity\":1,\"noi", "column"},
    {"{\"mechanism\":\"none\",\"mechanism\":\"none\"}", "column"},
};

static void test_nonsense_names_its_line(void **state)
{
    (void)state;
    static const char good[] =
        "{\"mechanism\":\"none\",\"adversary\":\"local\",\"unit\":\"record\"}\n";
    for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; k++) {
        char text[400];
        tacit_error err;
        tacit_ledger_lines lines;
        snprintf(text, sizeof text, "%s\n%s\n", good, nonsense[k].line);
        tacit_status status = read_words(&lines, text, &err);
        if (status != TACIT_EINPUT || !strstr(err.text, nonsense[k].says) ||
            !strstr(err.text, "line 3"))
            fail_msg("%s: status %d, \"%s\"", nonsense[k].line, (int)status, err.text);
        assert_null(lines.line);
    }
    tacit_error err;
    tacit_ledger_lines lines;
    check_fails(read_words(&lines, "", &err), TACIT_EINPUT, &err, "no releases");
    check_fails(read_words(&lines, "\n \n", &err), TACIT_EINPUT, &err, "no releases");
    check_fails(tacit_ledger_read(&lines, "absent.jsonl", NULL, &err), TACIT_EINPUT, &err,
                "absent");
    check_fails(tacit_ledger_read(&lines, ".", NULL, &err), TACIT_EINPUT, &err, "regular");
}

/* ---- sealed ---- */

static char *run_ledger(const char *folder, const char *mechanism, uint32_t agents, size_t *len,
                        uint64_t *releases)
{
    char yaml[500], path[100];
    tacit_error err = {0};
    tacit_config config;
    tacit_experiment x;
    tacit_session *session;
    snprintf(yaml, sizeof yaml,
             "run: {name: \"a \\\"b\\\" c\", time: 3, every: 0, seed: 5}\n"
             "data: {agents: %u, dimension: 2, min-records: 1, max-records: 1, test-records: 0, "
             "validation-records: 0}\n"
             "graph: {kind: ring}\n"
             "privacy: {mechanism: %s}\n",
             agents, mechanism);
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "test", yaml, strlen(yaml), &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    check_ok(tacit_session_create(&session, &x, 1, &err), &err);
    check_ok(tacit_session_run(session, &(tacit_run_request){.folder = folder}, &err), &err);
    tacit_runtime *rt = tacit_session_runtime(session);
    *releases = rt->ops->traffic(rt).releases;
    tacit_session_free(session);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
    snprintf(path, sizeof path, "%s/ledger.jsonl", folder);
    return read_all(path, len);
}

static uint64_t all_releases(const tacit_ledger_lines *lines)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < lines->accounts; k++)
        for (size_t p = 0; p < lines->account[k].count; p++)
            sum += lines->account[k].agents * lines->part[lines->account[k].first + p].releases;
    return sum;
}

static void test_runs_are_sealed(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *mechanism;
        uint32_t agents;
    } runs[] = {
        {"each", "none", 40},
        {"noisy", "gaussian, clip: 1, noise: 3", 40},
        {"many", "laplace, clip: 1, noise: 3", 10001},
    };
    for (size_t k = 0; k < 3; k++) {
        tacit_error err = {0};
        tacit_ledger_lines lines;
        size_t len;
        uint64_t releases;
        char *text = run_ledger(runs[k].folder, runs[k].mechanism, runs[k].agents, &len, &releases);
        check_ok(tacit_ledger_read_text(&lines, "run", text, len, NULL, &err), &err);
        assert_int_equal(lines.seal, TACIT_SEAL_RUN);
        assert_int_equal(lines.agents, runs[k].agents);
        assert_string_equal(lines.adversary, "local");
        assert_string_equal(lines.unit, "record");
        assert_string_equal(lines.adjacency, "replace");
        assert_true(isinf(lines.epsilon) && lines.delta == 1e-5);
        assert_true(releases > 0);
        assert_int_equal(all_releases(&lines), releases);
        assert_true(lines.accounts < 40);
        for (size_t p = 0; p < lines.parts; p++)
            assert_false(lines.part[p].continuous && k > 0);
        tacit_ledger_lines_clear(&lines);
        free(text);
    }
}

/* A thousand ledgers thrice, with their entries in three orders and divisions: a thousand
 * groups of three. */
static void test_groups_are_of_equals(void **state)
{
    (void)state;
    const tacit_cost a = {.what = "a"}, b = {.what = "b"};
    tacit_groups g = {0};
    for (uint32_t agent = 0; agent < 3000; agent++) {
        const uint64_t n = agent / 3 + 1, one = agent % 3;
        tacit_ledger_entry entries[] = {{one ? &b : &a, agent, agent, one ? 7 : n},
                                        {one ? &a : &b, agent, agent, one ? n : 7},
                                        {&a, agent, agent, 0},
                                        {&b, agent, agent + 0.5, one}};
        entries[one ? 0 : 1].releases -= one; /* one of b comes later */
        const tacit_ledger ledger = {.entries = entries, .count = 4, .capacity = 4};
        assert_true(tacit_groups_add(&g, agent, &ledger));
        const tacit_ledger silent = {.count = 0};
        assert_true(tacit_groups_add(&g, agent, &silent));
    }
    assert_int_equal(g.count, 1000);
    assert_int_equal(g.kinds.count, 2);
    for (size_t k = 0; k < g.count; k++) {
        const tacit_group_part *part = &g.part[g.all[k].at];
        assert_int_equal(g.all[k].agent, 3 * k);
        assert_int_equal(g.all[k].agents, 3);
        assert_int_equal(g.all[k].count, 2);
        assert_ptr_equal(g.kinds.all[part[0].kind].cost, &a);
        assert_int_equal(part[0].releases, k + 1);
        assert_int_equal(part[1].releases, 7);
        assert_true(part[0].first == 3 * (double)k && part[1].last == 3 * (double)k + 2.5);
    }
    tacit_groups_clear(&g);
}

static tacit_status try_bytes(const char *text, size_t len, tacit_error *err)
{
    tacit_ledger_lines lines;
    *err = (tacit_error){0};
    tacit_status status = tacit_ledger_read_text(&lines, "run", text, len, NULL, err);
    tacit_ledger_lines_clear(&lines);
    return status;
}

/* Cut after any byte, any byte changed, any line gone, doubled or moved: refused with 6. Only
 * where nothing is left, there is nothing to verify. */
static void test_every_cut_and_edit_is_noticed(void **state)
{
    (void)state;
    tacit_error err;
    size_t len;
    uint64_t releases;
    char *text = run_ledger("cut", "none", 3, &len, &releases);
    char *copy = malloc(2 * len);
    assert_int_equal(try_bytes(text, len, &err), TACIT_OK);
    for (size_t cut = 2; cut < len; cut++)
        if (try_bytes(text, cut, &err) != TACIT_EVERIFY)
            fail_msg("cut after byte %zu: %d, \"%s\"", cut, (int)err.code, err.text);
    dice d = {5};
    for (size_t at = 0; at < len; at++) {
        memcpy(copy, text, len);
        copy[at] = (char)(copy[at] ^ (1 + (char)dice_below(&d, 127)));
        if (try_bytes(copy, len, &err) != TACIT_EVERIFY)
            fail_msg("byte %zu changed: %d, \"%s\"", at, (int)err.code, err.text);
    }
    size_t start[64], lines = 0;
    for (size_t at = 0; at < len; at = (size_t)(strchr(text + at, '\n') - text) + 1)
        start[lines++] = at;
    start[lines] = len;
    assert_in_range(lines, 6, 60);
    for (size_t k = 0; k < lines; k++) {
        const size_t size = start[k + 1] - start[k];
        memcpy(copy, text, start[k]);
        memcpy(copy + start[k], text + start[k + 1], len - start[k + 1]);
        assert_int_equal(try_bytes(copy, len - size, &err), TACIT_EVERIFY); /* gone */
        memcpy(copy, text, start[k + 1]);
        memcpy(copy + start[k + 1], text + start[k], len - start[k]);
        assert_int_equal(try_bytes(copy, len + size, &err), TACIT_EVERIFY); /* twice */
        if (k + 1 == lines)
            continue;
        const size_t next = start[k + 2] - start[k + 1];
        memcpy(copy, text, len);
        memcpy(copy + start[k], text + start[k + 1], next);
        memcpy(copy + start[k] + next, text + start[k], size);
        assert_int_equal(try_bytes(copy, len, &err), TACIT_EVERIFY); /* moved */
    }
    free(copy);
    free(text);
}

/* Macs struck out, the first line left: it still says that there was a seal. */
static void test_half_a_seal_is_none(void **state)
{
    (void)state;
    tacit_error err;
    size_t len;
    uint64_t releases;
    char *text = run_ledger("half", "none", 3, &len, &releases), *out = malloc(len + 1);
    size_t n = 0;
    for (char *at = text; *at;) {
        if (strncmp(at, ",\"mac\":\"", 8) == 0)
            at += TACIT_LINE_END - 1;
        else
            out[n++] = *at++;
    }
    out[n] = '\0';
    check_fails(try_bytes(out, n, &err), TACIT_EVERIFY, &err, "line 1");
    static const char spaced[] = "{ \"schema\": \"tacit.ledger/1\" }\n{\"mechanism\":\"none\"}\n";
    check_fails(try_bytes(spaced, sizeof spaced - 1, &err), TACIT_EVERIFY, &err, "line 1");
    /* All marks struck out: a list by hand. */
    char *first = strchr(out, '\n') + 1, *last = strstr(first, "{\"seal\"");
    tacit_ledger_lines lines;
    check_ok(tacit_ledger_read_text(&lines, "x", first, (size_t)(last - first), NULL, &err), &err);
    assert_int_equal(lines.seal, TACIT_SEAL_NONE);
    assert_int_equal(all_releases(&lines), releases);
    tacit_ledger_lines_clear(&lines);
    free(out);
    free(text);
}

/* With a secret key: only that key will do, and without one nothing is said. */
static void test_a_key_seals_for_real(void **state)
{
    (void)state;
    static const char *const body[] = {
        "{\"schema\":\"tacit.ledger/1\",\"agents\":1,\"adversary\":\"network\",\"seal\":\"key\"",
        "{\"agent\":0,\"mechanism\":\"laplace\",\"sensitivity\":1,\"noise\":2,\"grid\":0",
        "{\"seal\":\"end\",\"entries\":1"};
    tacit_error err = {0};
    tacit_key key = test_key(3);
    tacit_ledger_lines lines;
    tacit_chain chain;
    char text[2000];
    size_t n = 0;
    tacit_chain_begin(&chain, &key, TACIT_SEAL_LINES);
    for (int k = 0; k < 3; k++) {
        char end[TACIT_LINE_END + 1];
        tacit_chain_close_line(&chain, body[k], strlen(body[k]), end);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s\n", body[k], end);
    }
    check_ok(tacit_ledger_read_text(&lines, "x", text, n, &key, &err), &err);
    assert_int_equal(lines.seal, TACIT_SEAL_KEY);
    assert_string_equal(lines.adversary, "network");
    tacit_ledger_lines_clear(&lines);
    check_fails(tacit_ledger_read_text(&lines, "x", text, n, NULL, &err), TACIT_EVERIFY, &err,
                "key");
    key = test_key(4);
    check_fails(tacit_ledger_read_text(&lines, "x", text, n, &key, &err), TACIT_EVERIFY, &err,
                "another key");
    /* The mac of a known text is what BLAKE2b says it is, computed elsewhere (Python's hashlib):
     * h(k, p) = blake2b(p, key=k, digest_size=32); h(h(key, purpose), 32 zero bytes + body). */
    assert_non_null(
        strstr(text, "\"seal\":\"key\",\"mac\":"
                     "\"91b354919edf8526e8399912049c0ed24b9723638050540b499e3918d669666e\"}"));
}

/* A peer's ledger as lines: the same releases, sealed with the same key. */
static void test_a_peers_ledger_as_lines(void **state)
{
    (void)state;
    tacit_error err = {0};
    const tacit_key key = test_key(1);
    const tacit_cost a = ledger_cost("gradient", 0.25), b = {.mechanism = TACIT_MECHANISM_RESPONSE,
                                                             .adjacency = TACIT_REPLACE,
                                                             .categories = 4,
                                                             .noise = 0.5,
                                                             .what = "answer"};
    tacit_ledger_file *file = fresh_ledger("peer", 3.0);
    uint64_t id;
    for (int k = 0; k < 4; k++)
        check_ok(commit_text(file, k == 2 ? &b : &a, k, "x", &id, &err), &err);
    tacit_writer out = {0};
    check_ok(tacit_ledger_export(file, &key, &out, &err), &err);
    check_ok(tacit_ledger_file_close(file, 5, &err), &err);
    tacit_ledger_lines lines;
    check_ok(tacit_ledger_read_text(&lines, "x", out.text, out.len, &key, &err), &err);
    assert_int_equal(lines.seal, TACIT_SEAL_KEY);
    assert_true(lines.epsilon == 3.0 && lines.delta == 0);
    assert_int_equal(lines.count, 4);
    assert_int_equal(lines.accounts, 1);
    assert_int_equal(lines.account[0].agent, 7);
    assert_int_equal(lines.account[0].count, 2);
    tacit_loss loss[2];
    double epsilon;
    tacit_ledger_account_losses(&lines, &lines.account[0], loss);
    check_ok(tacit_account_epsilon(TACIT_BY_SUM, loss, 2, 0, &epsilon, &err), &err);
    assert_float_equal(epsilon, 3 * 0.25 + 0.5, 1e-12);
    tacit_ledger_lines_clear(&lines);
    out.text[out.len / 2] ^= 1;
    check_fails(tacit_ledger_read_text(&lines, "x", out.text, out.len, &key, &err), TACIT_EVERIFY,
                &err, "edited");
    tacit_writer_clear(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_by_hand),
        cmocka_unit_test(test_agents_become_accounts),
        cmocka_unit_test(test_nonsense_names_its_line),
        cmocka_unit_test(test_runs_are_sealed),
        cmocka_unit_test(test_groups_are_of_equals),
        cmocka_unit_test(test_every_cut_and_edit_is_noticed),
        cmocka_unit_test(test_half_a_seal_is_none),
        cmocka_unit_test(test_a_key_seals_for_real),
        cmocka_unit_test(test_a_peers_ledger_as_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
