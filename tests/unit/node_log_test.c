/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a log: whatever is put in, the inside of one JSON object on one line comes out. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../cli/log_lines.c" /* what the program does with them */
#include "report/json_read.h"
#include "testing.h"

/* The fields as an object, read by the project's strict reader. */
static void read_back(tacit_json_tree *tree, const char *fields)
{
    char text[LOG_BYTES + 3];
    tacit_error err = {0};
    assert_null(strchr(fields, '\n'));
    assert_true(strlen(fields) < LOG_BYTES);
    int len = snprintf(text, sizeof text, "{%s}", fields);
    check_ok(tacit_json_read(tree, "fields", text, (size_t)len, &err), &err);
}

static const tacit_json_value *member(const tacit_json_tree *tree, const char *key)
{
    return tacit_json_member(tree, tree->values, key);
}

static void test_each_kind(void **state)
{
    (void)state;
    log_fields f;
    log_begin(&f);
    assert_string_equal(log_end(&f), "");
    log_begin(&f);
    log_text(&f, "peer", "ward-b");
    log_number(&f, "silence_seconds", 4.25);
    log_u64(&f, "sequence", UINT64_MAX);
    log_bool(&f, "again", true);
    log_text(&f, "none", NULL);
    log_number(&f, "far", INFINITY);
    log_number(&f, "odd", NAN);
    assert_string_equal(log_end(&f),
                        "\"peer\":\"ward-b\",\"silence_seconds\":4.25,"
                        "\"sequence\":18446744073709551615,\"again\":true,\"none\":null,"
                        "\"far\":null,\"odd\":null");
}

/* Quotes, line breaks, broken UTF-8: a peer cannot write a field, or a line, of its own. */
static void test_hostile_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *back;
    } rows[] = {
        {"\",\"level\":\"none", "\",\"level\":\"none"},
        {"a\nb\r\tc", "a\nb\r\tc"},
        {"back\\slash", "back\\slash"},
        {"\x01\x1f\x7f", "\x01\x1f\x7f"},
        {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
        {"\xff\xc3(\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"ends in \xf0\x9f", "ends in \xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        log_fields f;
        tacit_json_tree tree;
        log_begin(&f);
        log_text(&f, "text", rows[i].text);
        log_u64(&f, "after", 1);
        read_back(&tree, log_end(&f));
        assert_string_equal(tacit_json_to_text(member(&tree, "text"), ""), rows[i].back);
        assert_int_equal(tacit_json_to_count(member(&tree, "after"), 0), 1);
        tacit_json_clear(&tree);
    }
}

/* A long text ends in dots, at a whole character, wherever the limit falls. */
static void test_long_texts(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x90\x8b"};
    for (size_t k = 0; k < 4; k++) {
        for (size_t shift = 0; shift < 4; shift++) {
            char text[2 * LOG_TEXT] = "xxxx";
            size_t len = shift, size = strlen(letters[k]);
            for (; len + size < sizeof text; len += size)
                memcpy(text + len, letters[k], size);
            text[len] = '\0';
            log_fields f;
            tacit_json_tree tree;
            log_begin(&f);
            log_text(&f, "text", text);
            read_back(&tree, log_end(&f));
            const char *back = tacit_json_to_text(member(&tree, "text"), "");
            const size_t kept = strlen(back) - 3;
            assert_string_equal(back + kept, "...");
            assert_true(kept >= LOG_TEXT && kept < LOG_TEXT + size);
            assert_memory_equal(back, text, kept);
            assert_int_equal((kept - shift) % size, 0);
            tacit_json_clear(&tree);
        }
    }
    /* One that is just as long as it may be is left alone. */
    char text[LOG_TEXT + 2];
    log_fields f;
    memset(text, 'a', sizeof text);
    text[LOG_TEXT] = '\0';
    log_begin(&f);
    log_text(&f, "t", text);
    assert_null(strstr(log_end(&f), "..."));
    text[LOG_TEXT] = 'a';
    text[LOG_TEXT + 1] = '\0';
    log_begin(&f);
    log_text(&f, "t", text);
    assert_non_null(strstr(log_end(&f), "a...\""));
}

/* Fields of any kinds and lengths until nothing fits: always well-formed, and said so. */
static void test_full(void **state)
{
    (void)state;
    dice d = {.state = 7};
    int cuts = 0;
    for (int trial = 0; trial < 2000; trial++) {
        log_fields f;
        tacit_json_tree tree;
        log_begin(&f);
        const int fields = (int)dice_below(&d, 30);
        for (int i = 0; i < fields; i++) {
            char key[20], text[300];
            snprintf(key, sizeof key, "k%d", i);
            const size_t len = (size_t)dice_below(&d, sizeof text);
            for (size_t j = 0; j < len; j++)
                text[j] = (char)(1 + dice_below(&d, 255));
            text[len] = '\0';
            switch (dice_below(&d, 4)) {
            case 0:
                log_text(&f, key, text);
                break;
            case 1:
                log_number(&f, key, dice_normal(&d));
                break;
            case 2:
                log_u64(&f, key, (uint64_t)len);
                break;
            default:
                log_bool(&f, key, true);
                break;
            }
        }
        read_back(&tree, log_end(&f));
        int there = 0;
        for (const tacit_json_value *v = tacit_json_first(&tree, tree.values); v;
             v = tacit_json_next(&tree, v))
            there++;
        const bool cut = member(&tree, "cut") != NULL;
        assert_int_equal(there < fields + cut, cut);
        cuts += cut;
        tacit_json_clear(&tree);
    }
    assert_true(cuts > 100);
}

/* The mark fits however full it is. */
static void test_every_length(void **state)
{
    (void)state;
    for (size_t a = 0; a <= LOG_TEXT; a++) {
        char text[LOG_TEXT + 1];
        memset(text, 'a', a);
        text[a] = '\0';
        log_fields f;
        tacit_json_tree tree;
        log_begin(&f);
        log_text(&f, "first", text);
        for (int i = 0; i < 300; i++) {
            char key[16];
            snprintf(key, sizeof key, "%03d", i);
            log_bool(&f, key, false);
        }
        assert_true(f.cut);
        read_back(&tree, log_end(&f));
        assert_true(tacit_json_to_bool(member(&tree, "cut"), false));
        tacit_json_clear(&tree);
    }
}

/* ---- lines ---- */

/* What is in the file so far, which is read from its beginning. */
static void read_lines(FILE *file, char *text, size_t room)
{
    rewind(file);
    const size_t len = fread(text, 1, room - 1, file);
    text[len] = '\0';
}

static void check_line(const char *line, size_t len, const char *level, const char *event)
{
    tacit_json_tree tree;
    tacit_error err = {0};
    check_ok(tacit_json_read(&tree, "line", line, len, &err), &err);
    const char *when = tacit_json_to_text(member(&tree, "time"), "");
    assert_int_equal(strlen(when), strlen("2026-11-16T12:00:00.123Z"));
    assert_true(when[10] == 'T' && when[19] == '.' && when[23] == 'Z');
    assert_string_equal(tacit_json_to_text(member(&tree, "level"), ""), level);
    assert_string_equal(tacit_json_to_text(member(&tree, "event"), ""), event);
    assert_string_equal(tacit_json_to_text(member(&tree, "node"), ""), "ward \"a\"\n");
    tacit_json_clear(&tree);
}

static void test_lines(void **state)
{
    (void)state;
    static char text[20000], longer[5000];
    FILE *file = tmpfile();
    assert_non_null(file);
    cli_log_lines lines = {.file = file, .node = "ward \"a\"\n", .least = TACIT_LOG_INFO};
    memset(longer, 'a', sizeof longer - 1);
    cli_log_line(&lines, TACIT_LOG_DEBUG, "never", "\"a\":1");
    cli_log_line(&lines, TACIT_LOG_INFO, "started", "");
    cli_log_line(&lines, TACIT_LOG_WARN, "peer_down", "\"peer\":\"b\"");
    cli_log_line(&lines, TACIT_LOG_ERROR, "ended", NULL);
    cli_log_line(&lines, TACIT_LOG_ERROR, "long", longer);
    read_lines(file, text, sizeof text);
    static const char *const levels[] = {"info", "warn", "error", "error"};
    static const char *const events[] = {"started", "peer_down", "ended", "long"};
    const char *line = text;
    for (int i = 0; i < 4; i++) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        check_line(line, (size_t)(end - line), levels[i], events[i]);
        line = end + 1;
    }
    assert_string_equal(line, "");
    assert_non_null(strstr(text, ",\"peer\":\"b\"}\n"));
    fclose(file);
}

/* A full disk: nothing breaks, and later it is told. */
static void test_lost_lines(void **state)
{
    (void)state;
    char text[2000];
    FILE *full = fopen("/dev/full", "a"), *file = tmpfile();
    if (!full)
        skip();
    assert_non_null(file);
    cli_log_lines lines = {.file = full, .node = "a"};
    cli_log_line(&lines, TACIT_LOG_INFO, "first", "");
    cli_log_line(&lines, TACIT_LOG_INFO, "second", "");
    assert_int_equal(lines.lost, 2);
    lines.file = file;
    cli_log_line(&lines, TACIT_LOG_INFO, "third", "");
    cli_log_line(&lines, TACIT_LOG_INFO, "fourth", "");
    assert_int_equal(lines.lost, 0);
    read_lines(file, text, sizeof text);
    assert_int_equal(text[0], '\n');
    assert_non_null(strstr(text, "\"third\",\"node\":\"a\",\"lost_lines\":2}\n{"));
    assert_non_null(strstr(text, "\"fourth\",\"node\":\"a\"}\n"));
    assert_null(strstr(text, "first"));
    fclose(full);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind),    cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_long_texts),   cmocka_unit_test(test_full),
        cmocka_unit_test(test_every_length), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_lost_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
