/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boards in files: what is written is read back, and whatever single bit of a file is turned, the
 * answer is TACIT_EVERIFY. With a hash that was made to fit, signatures and form object.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards.h"
#include "tacit/board_file.h"

typedef struct written {
    boards b;
    tacit_node_member member[BOARD_AGENTS];
    uint32_t agents[BOARD_AGENTS + 1];
    char *text;
    size_t len;
} written;

/* Agent k of the boards is circle_name(k); the first member also hosts one who never speaks. */
static void write_board(written *w, uint64_t gone, double pair)
{
    tacit_error err;
    boards_make(&w->b, gone, pair);
    memset(w->member, 0, sizeof w->member);
    for (uint32_t k = 0; k < BOARD_AGENTS; k++) {
        w->agents[k + 1] = (uint32_t)circle_name(k);
        boards_name(w->member[k].name, circle_name(k));
        snprintf(w->member[k].endpoint, sizeof w->member[k].endpoint, "tcp://10.0.0.1:%u", 99 + k);
        memcpy(w->member[k].key, w->b.identity[k].public_key, TACIT_NODE_KEY);
        w->member[k].agents = &w->agents[k + 1];
        w->member[k].count = 1;
    }
    w->agents[0] = 2;
    w->member[0].agents = w->agents;
    w->member[0].count = 2;
    check_ok(tacit_board_file_text(&w->text, &w->len, &w->b.board, w->member, BOARD_AGENTS, &err),
             &err);
}

static void test_there_and_back(void **state)
{
    (void)state;
    static const uint64_t gone[] = {0, 1, 2 | 8, 16 | 1};
    for (size_t g = 0; g < 4; g++)
        for (int noisy = 0; noisy < 2; noisy++) {
            written w;
            tacit_error err;
            tacit_board_file f;
            write_board(&w, gone[g], noisy ? 1234.5 : 0);
            check_ok(tacit_board_file_parse(&f, "board", w.text, w.len, &err), &err);
            check_ok(tacit_board_file_check(&f, NULL, &err), &err);
            assert_int_equal(f.board.words, w.b.board.words);
            assert_int_equal(f.board.keys, w.b.board.keys);
            assert_int_equal(f.roster.count, w.b.board.words);
            assert_memory_equal(f.board.total, w.b.total, sizeof w.b.total);
            assert_null(strstr(w.text, "tcp:"));
            tacit_board_file_clear(&f);
            tacit_board_file_clear(&f); /* twice is once */
            free(w.text);
        }
}

static tacit_status look(const char *text, size_t len, tacit_error *err)
{
    tacit_board_file f;
    tacit_status status = tacit_board_file_parse(&f, "board", text, len, err);
    if (!status)
        status = tacit_board_file_check(&f, NULL, err);
    tacit_board_file_clear(&f);
    return status;
}

static void test_every_bit(void **state)
{
    (void)state;
    written w;
    write_board(&w, 4, 0);
    for (size_t bit = 0; bit < 8 * w.len; bit++) {
        tacit_error err = {0};
        w.text[bit / 8] = (char)(w.text[bit / 8] ^ 1 << bit % 8);
        if (look(w.text, w.len, &err) != TACIT_EVERIFY)
            fail_msg("bit %zu of byte %zu: \"%s\"", bit % 8, bit / 8, err.text);
        w.text[bit / 8] = (char)(w.text[bit / 8] ^ 1 << bit % 8);
    }
    for (size_t len = 25; len < w.len; len++) {
        tacit_error err = {0};
        if (look(w.text, len, &err) != TACIT_EVERIFY)
            fail_msg("cut to %zu bytes: \"%s\"", len, err.text);
    }
    tacit_error err;
    check_ok(look(w.text, w.len, &err), &err);
    free(w.text);
}

/* The text with another last line, whose hash fits. */
static char *sealed(const char *text, size_t *len)
{
    uint8_t hash[TACIT_MASK_KEY];
    char digits[2 * TACIT_MASK_KEY + 1];
    size_t last = *len - 1;
    while (last > 0 && text[last - 1] != '\n')
        last--;
    char *out = malloc(last + 200);
    assert_non_null(out);
    memcpy(out, text, last);
    tacit_mask_hash(hash, "tacit.board/2", out, last);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    *len = last + (size_t)snprintf(out + last, 200, "{\"end\":\"tacit.board/2\",\"hash\":\"%s\"}\n",
                                   digits);
    return out;
}

/* One text in place of another, and a fitting hash. */
static void check_forged(const written *w, const char *from, const char *to, const char *word)
{
    char *found = strstr(w->text, from);
    assert_non_null(found);
    const size_t at = (size_t)(found - w->text), tail = w->len - at - strlen(from);
    char *text = malloc(w->len + strlen(to) + 1);
    assert_non_null(text);
    memcpy(text, w->text, at);
    memcpy(text + at, to, strlen(to));
    memcpy(text + at + strlen(to), found + strlen(from), tail);
    size_t len = at + strlen(to) + tail;
    char *made = sealed(text, &len);
    tacit_error err = {0};
    check_fails(look(made, len, &err), TACIT_EVERIFY, &err, word);
    free(text);
    free(made);
}

static void test_forged_with_a_hash(void **state)
{
    (void)state;
    written w;
    write_board(&w, 4, 0);
    size_t len = w.len;
    char *same = sealed(w.text, &len); /* the hash of this test is that of the file */
    assert_int_equal(len, w.len);
    assert_memory_equal(same, w.text, len);
    free(same);
    check_forged(&w, "\"round\":4", "\"round\":5", "signature");
    check_forged(&w, "\"round\":4", "\"round\": 4", "another way");
    check_forged(&w, "\"round\":4", "\"round\":4.0", "no head");
    check_forged(&w, "\"round\":4", "\"round\":-4", "no head");
    check_forged(&w, "\"round\":4", "\"round\":4,\"round\":4", "no JSON");
    check_forged(&w, "\"round\":4", "\"round\":18446744073709551615", "no head");
    check_forged(&w, "\"round\":4", "\"more\":1,\"round\":4", "another way");
    check_forged(&w, "\"step\":0.0009765625", "\"step\":NaN", "no JSON");
    check_forged(&w, "\"step\":0.0009765625", "\"step\":null", "no head");
    check_forged(&w, "\"step\":0.0009765625", "\"step\":1e999", "no JSON");
    check_forged(&w, "\"step\":0.0009765625", "\"step\":0", "step");
    check_forged(&w, "\"numbers\":3", "\"numbers\":1000000000", "not as many");
    check_forged(&w, "\"numbers\":3", "\"numbers\":4", "totals");
    check_forged(&w, "\"words\":4", "\"words\":1000000000", "not as many");
    check_forged(&w, "\"keys\":4", "\"keys\":0", "not as many");
    check_forged(&w, "\"members\":4", "\"members\":3", "not as many");
    check_forged(&w, "\"member\":\"ward-0\"", "\"member\":\"ward,0\"", "no member");
    check_forged(&w, "\"member\":\"ward-0\"", "\"member\":\"ward-1\"", "list of members");
    check_forged(&w, "\"agents\":\"13\"", "\"agents\":\"0-9999999\"", "list of members");
    check_forged(&w, "\"agents\":\"13\"", "\"agents\":\"14\"", "signature");
    check_forged(&w, "\"total\":[", "\"total\":[9223372036854775808,", "totals");
    check_forged(&w, "\"total\":[", "\"total\":[1e3,", "totals");
    check_forged(&w, "\"total\":[", "\"total\":[-0,", "totals");
    check_forged(&w, "\"tacit.board/2\"", "\"tacit.board/9\"", "another version");
    /* A name is what a member signed as, so that nobody can put another's there. */
    check_forged(&w, "\"member\":\"ward-0\"", "\"member\":\"ward-9\"", "signature");
    free(w.text);
}

/* A board whose members signed all of it, but who are not those of the list. */
static void test_known_members(void **state)
{
    (void)state;
    written w;
    tacit_error err = {0};
    tacit_board_file f;
    tacit_roster known;
    write_board(&w, 4, 0);
    check_ok(tacit_board_file_parse(&f, "board", w.text, w.len, &err), &err);
    char *list = tacit_roster_text(w.member, BOARD_AGENTS);
    check_ok(tacit_roster_parse(&known, "list", list, strlen(list), &err), &err);
    free(list);
    check_ok(tacit_board_file_check(&f, &known, &err), &err);
    memcpy(known.members[1].key, w.b.identity[2].public_key, TACIT_NODE_KEY);
    check_fails(tacit_board_file_check(&f, &known, &err), TACIT_EVERIFY, &err, "\"ward-1\"");
    memcpy(known.members[1].key, w.b.identity[1].public_key, TACIT_NODE_KEY);
    snprintf(known.members[1].name, sizeof known.members[1].name, "bob");
    check_fails(tacit_board_file_check(&f, &known, &err), TACIT_EVERIFY, &err,
                "the key of \"bob\"");
    tacit_roster_clear(&known);
    list = tacit_roster_text(w.member + 1, BOARD_AGENTS - 1); /* the first is a stranger */
    check_ok(tacit_roster_parse(&known, "list", list, strlen(list), &err), &err);
    free(list);
    check_fails(tacit_board_file_check(&f, &known, &err), TACIT_EVERIFY, &err, "\"ward-0\"");
    tacit_roster_clear(&known);
    tacit_board_file_clear(&f);
    free(w.text);
}

/* Of another version of this program: said as that, in the first or the last line. */
static void test_other_versions(void **state)
{
    (void)state;
    written w;
    tacit_error err = {0};
    write_board(&w, 0, 0);
    for (char *at = w.text; (at = strstr(at, "tacit.board/2")); at++)
        at[strlen("tacit.board/")] = '1';
    check_fails(look(w.text, w.len, &err), TACIT_EVERIFY, &err, "another version");
    free(w.text);
}

static void test_no_board(void **state)
{
    (void)state;
    static const char *const text[] = {"", "\n", "hello", "{}\n",
                                       "{\"schema\":\"tacit.ledger/1\"}\n"};
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        tacit_error err = {0};
        check_fails(look(text[k], strlen(text[k]), &err), TACIT_EINPUT, &err, "is no board");
    }
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/tacit-test-XXXXXX", path[64];
    written w;
    tacit_error err = {0};
    tacit_board_file f;
    write_board(&w, 0, 0);
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/board.jsonl", folder);
    for (int again = 0; again < 2; again++)
        check_ok(tacit_board_file_write(path, &w.b.board, w.member, BOARD_AGENTS, &err), &err);
    check_ok(tacit_board_file_read(&f, path, &err), &err);
    check_ok(tacit_board_file_check(&f, NULL, &err), &err);
    tacit_board_file_clear(&f);
    unlink(path);
    check_fails(tacit_board_file_read(&f, path, &err), TACIT_EINPUT, &err, "board.jsonl");
    assert_int_equal(rmdir(folder), 0); /* nothing else is there */
    check_fails(tacit_board_file_write(path, &w.b.board, w.member, BOARD_AGENTS, &err),
                TACIT_EINPUT, &err, "board.jsonl");
    free(w.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_forged_with_a_hash),
        cmocka_unit_test(test_known_members),
        cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_no_board),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
