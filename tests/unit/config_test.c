/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables and the YAML front: every refusal, word for word. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tacit/config.h"

/* ---- made-up sections ---- */

typedef struct thing {
    bool on;
    int64_t count, any;
    double mu, share, finite, below;
    char name[TACIT_TEXT_MAX];
    int colour;
} thing;

static const char *const colours[] = {"red", "green", "dark-blue", NULL};

#define AT(member) .offset = offsetof(thing, member)
static const tacit_option thing_options[] = {
    {.key = "on", .type = TACIT_OPT_BOOL, .fallback = "true", AT(on)},
    {.key = "count", .type = TACIT_OPT_INT, .fallback = "10", .min = 1, .max = 1000, AT(count)},
    {.key = "any",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = -INFINITY,
     .max = INFINITY,
     AT(any)},
    {.key = "mu", .type = TACIT_OPT_REAL, .fallback = "0.5", .min = 0, .max = DBL_MAX, AT(mu)},
    {.key = "share", .type = TACIT_OPT_REAL, .fallback = "0.25", .min = 0, .max = 1, AT(share)},
    {.key = "finite",
     .type = TACIT_OPT_REAL,
     .fallback = "inf",
     .min = 0,
     .max = INFINITY,
     AT(finite)},
    {.key = "below",
     .type = TACIT_OPT_REAL,
     .fallback = "-1",
     .min = -DBL_MAX,
     .max = 0,
     AT(below)},
    {.key = "name", .type = TACIT_OPT_TEXT, .fallback = "x", AT(name)},
    {.key = "colour",
     .type = TACIT_OPT_CHOICE,
     .fallback = "green",
     .choices = colours,
     AT(colour)},
};
#define COUNT(a) (sizeof(a) / sizeof *(a))
static const tacit_section protocol_section = {"protocol", thing_options, COUNT(thing_options),
                                               sizeof(thing)};

typedef struct run_thing {
    int64_t seed;
} run_thing;
static const tacit_option run_options[] = {{.key = "seed",
                                            .type = TACIT_OPT_INT,
                                            .fallback = "1",
                                            .min = 0,
                                            .max = INFINITY,
                                            .offset = offsetof(run_thing, seed)}};
static const tacit_section run_section = {"run", run_options, COUNT(run_options),
                                          sizeof(run_thing)};
static const tacit_section *const sections[] = {&run_section, &protocol_section};

static const tacit_option *option(const char *key)
{
    const tacit_option *found = tacit_section_find(&protocol_section, key, strlen(key));
    assert_non_null(found);
    return found;
}

/* ---- options ---- */

static void test_defaults(void **state)
{
    (void)state;
    thing t;
    tacit_error err = {0};
    memset(&t, 0xAA, sizeof t);
    assert_int_equal(tacit_options_defaults(&protocol_section, &t, &err), TACIT_OK);
    assert_true(t.on);
    assert_int_equal(t.count, 10);
    assert_true(t.mu == 0.5 && t.share == 0.25 && isinf(t.finite) && t.below == -1);
    assert_string_equal(t.name, "x");
    assert_int_equal(t.colour, 1);

    tacit_option bad = *option("count");
    bad.fallback = "0";
    tacit_section wrong = {"s", &bad, 1, sizeof(thing)};
    assert_int_equal(tacit_options_defaults(&wrong, &t, &err), TACIT_EINTERNAL);
    assert_string_equal(err.text, "the default of \"s.count\" is wrong: \"count\" is \"0\"; "
                                  "expected an integer from 1 to 1000");
}

typedef struct good_int {
    const char *text;
    int64_t value;
} good_int;

static void test_integers(void **state)
{
    (void)state;
    static const good_int good[] = {
        {"0", 0},
        {"-0", 0},
        {"+7", 7},
        {"007", 7},
        {"1e3", 1000},
        {"1.5e1", 15},
        {"1.50e1", 15},
        {"100e-2", 1},
        {"0e-9", 0},
        {"0e99999999999999999999", 0},
        {"2.000", 2},
        {".5e1", 5},
        {"5.", 5},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"9007199254740993", 9007199254740993},
        {"9223372036854775807000e-3", INT64_MAX},
    };
    thing t;
    assert_int_equal(tacit_options_defaults(&protocol_section, &t, NULL), TACIT_OK);
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(tacit_option_set(option("any"), &t, good[i].text, NULL), TACIT_OK);
        assert_int_equal(t.any, good[i].value);
    }
    static const char *const bad[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "1e19",
        "1e99999999999999999999",
        "1.5",
        "1e-1",
        "12.0001",
        "10000000000000000000000.5e-22", /* rounds to 1 as a double, is none */
        "0x10",
        "1_000",
        " 1",
        "1 ",
        "1e",
        "e1",
        ".",
        "+",
        "--1",
        "inf",
        "nan",
        "true",
        "1,5",
        ""};
    t.any = 42;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tacit_option_set(option("any"), &t, bad[i], NULL), TACIT_EINPUT);
        assert_int_equal(t.any, 42); /* unchanged on failure */
    }
    tacit_error err;
    tacit_option_set(option("any"), &t, "1.5", &err);
    assert_string_equal(err.text, "\"any\" is \"1.5\"; expected an integer");
    tacit_option_set(option("count"), &t, "1001", &err);
    assert_string_equal(err.text, "\"count\" is \"1001\"; expected an integer from 1 to 1000");
    tacit_option_set(option("count"), &t, "", &err);
    assert_string_equal(err.text, "\"count\" is empty; expected an integer from 1 to 1000");
    assert_int_equal(tacit_option_set(option("count"), &t, "1", NULL), TACIT_OK);
    assert_int_equal(tacit_option_set(option("count"), &t, "1000", NULL), TACIT_OK);
    assert_int_equal(tacit_option_set(option("count"), &t, "0", NULL), TACIT_EINPUT);
}

static void test_reals(void **state)
{
    (void)state;
    thing t;
    tacit_error err;
    assert_int_equal(tacit_options_defaults(&protocol_section, &t, NULL), TACIT_OK);
    assert_int_equal(tacit_option_set(option("mu"), &t, "2.5e-3", NULL), TACIT_OK);
    assert_true(t.mu == 2.5e-3);
    static const char *const bad[] = {"nan",  ".nan",  "NaN",   "-nan", "inf", ".inf", "1e999",
                                      "-0.1", "0x1p3", "1.2.3", "1e+",  " 1",  "1f",   "abc"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_int_equal(tacit_option_set(option("mu"), &t, bad[i], NULL), TACIT_EINPUT);
        assert_true(t.mu == 2.5e-3);
    }
    tacit_option_set(option("mu"), &t, "nan", &err);
    assert_string_equal(err.text, "\"mu\" is \"nan\"; expected a number at least 0");
    tacit_option_set(option("share"), &t, "1.5", &err);
    assert_string_equal(err.text, "\"share\" is \"1.5\"; expected a number from 0 to 1");
    tacit_option_set(option("below"), &t, "1", &err);
    assert_string_equal(err.text, "\"below\" is \"1\"; expected a number at most 0");
    tacit_option_set(option("finite"), &t, "-1", &err);
    assert_string_equal(err.text, "\"finite\" is \"-1\"; expected a number at least 0, or inf");

    static const char *const infinite[] = {"inf", ".inf", "+.Inf", "INFINITY"};
    for (size_t i = 0; i < COUNT(infinite); i++) {
        t.finite = 0;
        assert_int_equal(tacit_option_set(option("finite"), &t, infinite[i], NULL), TACIT_OK);
        assert_true(t.finite > 0 && isinf(t.finite));
    }
    t.finite = 3;
    static const char *const not_even_here[] = {"nan", ".nan", "-inf", "-.inf", "1e999", "infi"};
    for (size_t i = 0; i < COUNT(not_even_here); i++)
        assert_int_equal(tacit_option_set(option("finite"), &t, not_even_here[i], NULL),
                         TACIT_EINPUT);
    assert_true(t.finite == 3);
}

static void test_words(void **state)
{
    (void)state;
    thing t;
    tacit_error err;
    assert_int_equal(tacit_options_defaults(&protocol_section, &t, NULL), TACIT_OK);
    assert_int_equal(tacit_option_set(option("on"), &t, "False", NULL), TACIT_OK);
    assert_false(t.on);
    assert_int_equal(tacit_option_set(option("on"), &t, "yes", NULL), TACIT_OK);
    assert_true(t.on);
    tacit_option_set(option("on"), &t, "maybe", &err);
    assert_string_equal(err.text, "\"on\" is \"maybe\"; expected true or false");
    assert_true(t.on);

    assert_int_equal(tacit_option_set(option("colour"), &t, "dark-blue", NULL), TACIT_OK);
    assert_int_equal(t.colour, 2);
    tacit_option_set(option("colour"), &t, "drak-blue", &err);
    assert_string_equal(err.text, "\"colour\" is \"drak-blue\"; expected one of red, green, "
                                  "dark-blue; did you mean \"dark-blue\"?");
    tacit_option_set(option("colour"), &t, "", &err);
    assert_string_equal(err.text, "\"colour\" is empty; expected one of red, green, dark-blue");
    assert_int_equal(t.colour, 2);

    char text[TACIT_TEXT_MAX + 1];
    memset(text, 'a', sizeof text);
    text[TACIT_TEXT_MAX] = '\0';
    assert_int_equal(tacit_option_set(option("name"), &t, text, &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "aaa...\"; expected text of at most 1023 bytes without"));
    assert_string_equal(t.name, "x");
    text[TACIT_TEXT_MAX - 1] = '\0';
    assert_int_equal(tacit_option_set(option("name"), &t, text, &err), TACIT_OK);
    assert_int_equal(tacit_option_set(option("name"), &t, "a\x1b[31mb", &err), TACIT_EINPUT);
    assert_non_null(strstr(err.text, "is \"a?[31mb\"; expected text"));
    assert_int_equal(tacit_option_set(option("name"), &t, "\xff", NULL), TACIT_EINPUT);
    assert_int_equal(tacit_option_set(option("name"), &t, "Z\xc3\xbcrich", NULL), TACIT_OK);
    assert_int_equal(tacit_option_set(option("name"), &t, "", NULL), TACIT_OK);
}

/* What is written reads back as the same value. */
static void test_round_trip(void **state)
{
    (void)state;
    thing t, back;
    assert_int_equal(tacit_options_defaults(&protocol_section, &t, NULL), TACIT_OK);
    static const double reals[] = {0,   0.1, 1.0 / 3, 1e-300, 5e-324,  DBL_MAX,
                                   1e6, 1e7, 0.3,     100,    INFINITY};
    for (size_t r = 0; r < COUNT(reals); r++) {
        t.finite = reals[r];
        t.any = INT64_MIN + (int64_t)r;
        memset(&back, 0, sizeof back);
        for (size_t i = 0; i < COUNT(thing_options); i++) {
            char text[TACIT_TEXT_MAX];
            tacit_option_format(&thing_options[i], &t, text, sizeof text);
            assert_int_equal(tacit_option_set(&thing_options[i], &back, text, NULL), TACIT_OK);
        }
        assert_true(back.finite == t.finite && back.any == t.any && back.colour == t.colour);
        assert_true(back.on == t.on && strcmp(back.name, t.name) == 0);
    }
    char text[40];
    t.finite = 0.1;
    tacit_option_format(option("finite"), &t, text, sizeof text);
    assert_string_equal(text, "0.1");
    static const struct {
        double value;
        const char *text;
    } plain[] = {
        {1e9, "1e9"}, {1e-6, "1e-6"}, {1e100, "1e100"}, {2.5e-10, "2.5e-10"}, {1000, "1000"}};
    for (size_t i = 0; i < COUNT(plain); i++) {
        t.finite = plain[i].value;
        tacit_option_format(option("finite"), &t, text, sizeof text);
        assert_string_equal(text, plain[i].text);
    }
    t.colour = 99;
    tacit_option_format(option("colour"), &t, text, sizeof text);
    assert_string_equal(text, "");
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"mu", "lambda", "threads", "resume", "seed"};
    assert_string_equal(tacit_nearest("nu", names, COUNT(names)), "mu");
    assert_string_equal(tacit_nearest("um", names, COUNT(names)), "mu"); /* one swap */
    assert_string_equal(tacit_nearest("thread", names, COUNT(names)), "threads");
    assert_string_equal(tacit_nearest("htreads", names, COUNT(names)), "threads");
    assert_string_equal(tacit_nearest("LAMBDA", names, COUNT(names)), "lambda");
    assert_string_equal(tacit_nearest("lam", names, COUNT(names)), "lambda");
    assert_null(tacit_nearest("x", names, COUNT(names)));
    assert_null(tacit_nearest("xy", names, COUNT(names)));
    assert_null(tacit_nearest("", names, COUNT(names)));
    assert_null(tacit_nearest("potato", names, COUNT(names)));
    assert_null(tacit_nearest("mu", names, 0));
    char text[200];
    memset(text, 'm', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_null(tacit_nearest(text, names, COUNT(names)));
}

/* ---- YAML ---- */

static tacit_status parse(tacit_config *config, const char *text, tacit_error *err)
{
    return tacit_config_parse(config, "x.yaml", text, strlen(text), err);
}

static void test_parse(void **state)
{
    (void)state;
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    assert_int_equal(parse(&config,
                           "# a comment\n"
                           "run:\n"
                           "  seed: 7   # another\n"
                           "protocol:\n"
                           "  mu: 0.25\n"
                           "  name: 'a: b'\n"
                           "  colour: \"red\"\n"
                           "top: 1\n",
                           &err),
                     TACIT_OK);
    assert_int_equal(config.count, 5);
    const tacit_setting *mu = tacit_config_get(&config, "protocol.mu");
    assert_non_null(mu);
    assert_string_equal(mu->value, "0.25");
    assert_int_equal(mu->line, 5);
    assert_int_equal(mu->column, 7);
    assert_int_equal(mu->key_line, 5);
    assert_int_equal(mu->key_column, 3);
    assert_false(mu->used);
    assert_null(tacit_config_get(&config, "protocol.nu"));
    assert_string_equal(tacit_config_get(&config, "top")->value, "1");
    assert_string_equal(config.source, "x.yaml");

    thing t;
    run_thing r;
    assert_int_equal(tacit_config_apply(&config, &protocol_section, &t, &err), TACIT_OK);
    assert_int_equal(tacit_config_apply(&config, &run_section, &r, &err), TACIT_OK);
    assert_true(t.mu == 0.25 && t.count == 10 && t.colour == 0 && r.seed == 7);
    assert_string_equal(t.name, "a: b");
    assert_int_equal(tacit_config_unused(&config, sections, 2, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "x.yaml:8:1: unknown key \"top\"; the sections are run, "
                                  "protocol");
    tacit_config_clear(&config);
}

/* A failed parse leaves the configuration alone; a good one replaces it. */
static void test_parse_replaces(void **state)
{
    (void)state;
    tacit_config config;
    tacit_config_init(&config);
    assert_int_equal(parse(&config, "a: 1", NULL), TACIT_OK);
    assert_int_equal(parse(&config, "b: 1\nb: 2", NULL), TACIT_EINPUT);
    assert_int_equal(config.count, 1);
    assert_non_null(tacit_config_get(&config, "a"));
    assert_int_equal(parse(&config, "b: 1", NULL), TACIT_OK);
    assert_null(tacit_config_get(&config, "a"));
    assert_non_null(tacit_config_get(&config, "b"));
    tacit_config_clear(&config);
}

static void test_empty(void **state)
{
    (void)state;
    static const char *const empty[] = {"",
                                        "\n\n",
                                        "# nothing\n",
                                        "---\n",
                                        "---\n...\n",
                                        "{}",
                                        "\xEF\xBB\xBF",
                                        "protocol:\n",
                                        "protocol: {}\nrun:\n"};
    for (size_t i = 0; i < COUNT(empty); i++) {
        tacit_config config;
        tacit_error err = {0};
        thing t;
        tacit_config_init(&config);
        assert_int_equal(parse(&config, empty[i], &err), TACIT_OK);
        assert_int_equal(tacit_config_apply(&config, &protocol_section, &t, &err), TACIT_OK);
        assert_true(t.mu == 0.5);
        assert_int_equal(tacit_config_unused(&config, sections, 2, &err), TACIT_OK);
        tacit_config_clear(&config);
    }
}

typedef struct refusal {
    const char *text, *message;
} refusal;

static void test_refused_yaml(void **state)
{
    (void)state;
    static const refusal cases[] = {
        {"a: 1\na: 2\n", "x.yaml:2:1: duplicate key \"a\"; it is already at line 1"},
        {"s:\n  k: 1\n  j: 2\n  k: 3\n",
         "x.yaml:4:3: duplicate key \"s.k\"; it is already at line 2"},
        {"s:\n  k: 1\nt:\n  k: 1\ns:\n  j: 3\n",
         "x.yaml:5:1: duplicate key \"s\"; it is already at line 2"},
        {"s: {}\ns: {}\n", "x.yaml:2:1: duplicate key \"s\"; it is already at line 1"},
        {"s:\n  k: &a 1\n",
         "x.yaml:2:6: an anchor (\"&name\"); write the value out where it is used"},
        {"s: &a\n  k: 1\n",
         "x.yaml:1:4: an anchor (\"&name\"); write the value out where it is used"},
        {"s:\n  k: *a\n", "x.yaml:2:6: an alias (\"*name\"); write the value itself"},
        {"*a : 1\n", "x.yaml:1:1: an alias (\"*name\"); write the value itself"},
        {"s:\n  k: !!int 3\n", "x.yaml:2:6: a tag (\"!name\"); write the plain value"},
        {"s:\n  k: [1, 2]\n", "x.yaml:2:6: \"s.k\" is a list; expected a single value"},
        {"s:\n  - 1\n", "x.yaml:2:3: \"s\" is a list; expected a single value"},
        {"s:\n  k:\n    j: 1\n", "x.yaml:3:5: \"s.k\" has keys of its own; expected a single "
                                 "value, two levels are all"},
        {"? [a]\n: 1\n", "x.yaml:1:3: a key is a list or a mapping; expected a name"},
        {"{a: 1}: 2\n", "x.yaml:1:1: a key is a list or a mapping; expected a name"},
        {"\"\": 2\n", "x.yaml:1:1: a key is empty; expected a name before \":\""},
        {"s.k: 2\n", "x.yaml:1:1: key \"s.k\" has a dot; write the section, \":\", and the key "
                     "indented on the next line"},
        {"\"a\\tb\": 2\n", "x.yaml:1:1: key \"a?b\" is too long or has control characters; "
                           "expected a name"},
        {"a: 1\n---\nb: 2\n", "x.yaml:2:1: a second document (\"---\"); expected one a file"},
        {"a: 1\n---\n", "x.yaml:2:1: a second document (\"---\"); expected one a file"},
        {"just words\n", "x.yaml:1:1: expected sections with keys, such as \"protocol:\" and "
                         "below it \"  mu: 0.5\""},
        {"- 1\n", "x.yaml:1:1: expected sections with keys, such as \"protocol:\" and below it "
                  "\"  mu: 0.5\""},
        {"a: \"\\0\"\n", "x.yaml:1:4: \"a\" has a NUL character; leave it out"},
        {"a: 1\nb: \xff\n", "x.yaml:2:4: byte 0xFF is not UTF-8; save the file as UTF-8"},
        {"a: \xc3\xa9\xc0\x80\n", "x.yaml:1:5: byte 0xC0 is not UTF-8; save the file as UTF-8"},
        {"a: \xed\xa0\x80\n", "x.yaml:1:4: byte 0xED is not UTF-8; save the file as UTF-8"},
        {"a: \xe2\x82", "x.yaml:1:4: byte 0xE2 is not UTF-8; save the file as UTF-8"},
        {"a: 1\r\nb: \x01\n", "x.yaml:2:4: control character 0x01; expected plain text without it"},
        {"a: \x1b[31m\n", "x.yaml:1:4: control character 0x1B; expected plain text without it"},
        {"a: [1\n", "x.yaml:1:4: \"a\" is a list; expected a single value"},
        {"a: \"open\n", "x.yaml:2:1: not YAML: found unexpected end of stream (while scanning a "
                        "quoted scalar, line 1)"},
        {"a:\n\tb: 1\n", "x.yaml:2:1: not YAML: found character that cannot start any token "
                         "(while scanning for the next token, line 2)"},
        {"a: b: c\n", "x.yaml:1:5: not YAML: mapping values are not allowed in this context"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        tacit_config config;
        tacit_error err = {0};
        tacit_config_init(&config);
        assert_int_equal(parse(&config, cases[i].text, &err), TACIT_EINPUT);
        assert_string_equal(err.text, cases[i].message);
        assert_int_equal(err.code, TACIT_EINPUT);
        assert_int_equal(config.count, 0);
        assert_int_equal(parse(&config, cases[i].text, NULL), TACIT_EINPUT);
        tacit_config_clear(&config);
    }
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", "a: 1\0b", 6, &err), TACIT_EINPUT);
    assert_string_equal(err.text,
                        "x.yaml:1:5: control character 0x00; expected plain text without it");
    assert_int_equal(tacit_config_parse(&config, "bad\nname", "a", 1, &err), TACIT_EINPUT);
    assert_memory_equal(err.text, "bad?name:1:1: ", 14);
    tacit_config_clear(&config);
}

static void test_limits(void **state)
{
    (void)state;
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    size_t len = (1u << 20) + 1;
    char *text = malloc(len);
    assert_non_null(text);
    memset(text, '\n', len);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, len, &err), TACIT_EINPUT);
    assert_string_equal(err.text, "x.yaml:1:1: the file is larger than 1 MiB (1048576 bytes); "
                                  "expected a short one");
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, len - 1, &err), TACIT_OK);

    size_t used = 0;
    for (int i = 0; i < 1001; i++) {
        used += (size_t)snprintf(text + used, len - used, "k%d: 1\n", i);
        if (i == 999)
            assert_int_equal(tacit_config_parse(&config, "x.yaml", text, used, &err), TACIT_OK);
    }
    assert_int_equal(config.count, 1000);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, used, &err), TACIT_EINPUT);
    assert_string_equal(err.text,
                        "x.yaml:1001:1: key \"k1000\" is one too many; at most 1000 keys are read");
    assert_int_equal(tacit_config_set(&config, "new=1", &err), TACIT_EINPUT);
    assert_string_equal(err.text, "--set: \"new=1\" is one key too many; at most 1000 fit");
    assert_int_equal(tacit_config_set(&config, "k1=2", &err), TACIT_OK);

    memset(text, 'k', 65);
    memcpy(text + 65, ": 1", 4);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, 68, &err), TACIT_EINPUT);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text + 1, 67, &err), TACIT_OK);

    /* As deep as the size allows: refused at the third level, without a deep stack. */
    memset(text, '{', 1u << 20);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, 1u << 20, &err), TACIT_EINPUT);
    memset(text, '[', 1u << 20);
    assert_int_equal(tacit_config_parse(&config, "x.yaml", text, 1u << 20, &err), TACIT_EINPUT);
    free(text);
    tacit_config_clear(&config);
}

/* ---- values and keys against tables ---- */

static void expect_apply(const char *text, const char *set, const char *message)
{
    tacit_config config;
    tacit_error err = {0};
    thing t;
    run_thing r;
    tacit_config_init(&config);
    assert_int_equal(parse(&config, text, &err), TACIT_OK);
    if (set)
        assert_int_equal(tacit_config_set(&config, set, &err), TACIT_OK);
    tacit_status status = tacit_config_apply(&config, &protocol_section, &t, &err);
    if (status == TACIT_OK)
        status = tacit_config_apply(&config, &run_section, &r, &err);
    if (status == TACIT_OK)
        status = tacit_config_unused(&config, sections, 2, &err);
    assert_int_equal(status, message ? TACIT_EINPUT : TACIT_OK);
    if (message)
        assert_string_equal(err.text, message);
    tacit_config_clear(&config);
}

static void test_values(void **state)
{
    (void)state;
    expect_apply("run:\n  seed: 1\nprotocol:\n  mu: abc\n", NULL,
                 "x.yaml:4:7: \"protocol.mu\" is \"abc\"; expected a number at least 0");
    expect_apply("protocol: {mu: .nan}", NULL,
                 "x.yaml:1:16: \"protocol.mu\" is \".nan\"; expected a number at least 0");
    expect_apply("protocol:\n  mu:\n", NULL,
                 "x.yaml:2:6: \"protocol.mu\" is empty; expected a number at least 0");
    expect_apply("protocol:\n  colour: grene\n", NULL,
                 "x.yaml:2:11: \"protocol.colour\" is \"grene\"; expected one of red, green, "
                 "dark-blue; did you mean \"green\"?");
    expect_apply("protocol:\n  name: |\n    two\n    lines\n", NULL,
                 "x.yaml:2:9: \"protocol.name\" is \"two?lines?\"; expected text of at most 1023 "
                 "bytes without control characters");
    expect_apply("protocol:\n  mu: 1\n", "protocol.mu=-2",
                 "--set: \"protocol.mu\" is \"-2\"; expected a number at least 0");
    expect_apply("protocol:\n  mu: abc\n", "protocol.mu=2", NULL);
    expect_apply("", "protocol.name=", NULL);
    expect_apply("", "protocol.name=a=b", NULL);
}

static void test_unknown(void **state)
{
    (void)state;
    expect_apply("run:\n  seed: 1\n\nprotocol:\n  on: no\n\n  nu: 1\n", NULL,
                 "x.yaml:7:3: unknown key \"protocol.nu\"; did you mean \"protocol.mu\"?");
    expect_apply("run:\n  mu: 1\n", NULL,
                 "x.yaml:2:3: unknown key \"run.mu\"; did you mean \"protocol.mu\"?");
    expect_apply("run:\n  potato: 1\n", NULL,
                 "x.yaml:2:3: unknown key \"run.potato\"; \"run\" knows seed");
    expect_apply("protocl:\n  mu: 1\n", NULL,
                 "x.yaml:2:3: unknown key \"protocl.mu\"; did you mean \"protocol.mu\"?");
    expect_apply("protocl:\n  shar: 1\n", NULL,
                 "x.yaml:2:3: unknown key \"protocl.shar\"; did you mean \"protocol.share\"?");
    expect_apply("mu: 1\n", NULL, "x.yaml:1:1: unknown key \"mu\"; did you mean \"protocol.mu\"?");
    expect_apply("protocl:\n", NULL,
                 "x.yaml:1:1: unknown key \"protocl\"; did you mean the section \"protocol\"?");
    expect_apply("potato:\n  masher: 1\n", NULL,
                 "x.yaml:2:3: unknown key \"potato.masher\"; the sections are run, protocol");
    expect_apply("protocol: cd\n", NULL,
                 "x.yaml:1:1: \"protocol\" is a section; write its keys on the lines below it, "
                 "indented");
    expect_apply("", "protocol=cd",
                 "--set: \"protocol\" is a section; expected a key of it, such as "
                 "\"protocol.KEY\"");
    expect_apply("", "protocol.nu=1",
                 "--set: unknown key \"protocol.nu\"; did you mean \"protocol.mu\"?");
    expect_apply("", "protocol.=1",
                 "--set: unknown key \"protocol.\"; \"protocol\" knows on, "
                 "count, any, mu, share, finite, below, name, colour");
    expect_apply("", ".=1", "--set: unknown key \".\"; the sections are run, protocol");
    expect_apply("", "a.b.c=1", "--set: unknown key \"a.b.c\"; the sections are run, protocol");
}

/* Two tables may share a name: what one does not know, the other takes. */
static void test_shared_section(void **state)
{
    (void)state;
    static const tacit_option more[] = {{.key = "extra",
                                         .type = TACIT_OPT_INT,
                                         .fallback = "1",
                                         .min = 0,
                                         .max = 9,
                                         .offset = offsetof(run_thing, seed)}};
    static const tacit_section second = {"protocol", more, 1, sizeof(run_thing)};
    const tacit_section *const both[] = {&protocol_section, &second};
    tacit_config config;
    tacit_error err = {0};
    thing t;
    run_thing r;
    tacit_config_init(&config);
    assert_int_equal(parse(&config, "protocol: {mu: 1, extra: 5}", &err), TACIT_OK);
    assert_int_equal(tacit_config_apply(&config, &protocol_section, &t, &err), TACIT_OK);
    assert_int_equal(tacit_config_unused(&config, both, 2, &err), TACIT_EINPUT);
    assert_int_equal(tacit_config_apply(&config, &second, &r, &err), TACIT_OK);
    assert_int_equal(tacit_config_unused(&config, both, 2, &err), TACIT_OK);
    assert_int_equal(r.seed, 5);
    tacit_config_clear(&config);
}

static void test_set(void **state)
{
    (void)state;
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    static const char *const bad[] = {"", "abc", "=1", "="};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(tacit_config_set(&config, bad[i], &err), TACIT_EUSAGE);
    assert_int_equal(tacit_config_set(&config, "abc", &err), TACIT_EUSAGE);
    assert_string_equal(err.text, "--set: \"abc\" is not key=value; expected something like "
                                  "\"protocol.mu=0.5\"");
    assert_int_equal(tacit_config_set(&config, "a=\x1b", &err), TACIT_EUSAGE);
    assert_string_equal(err.text, "--set: \"a=?\" has control characters or broken UTF-8; leave "
                                  "them out");
    assert_int_equal(config.count, 0);
    assert_int_equal(tacit_config_set(&config, "a.b=1", &err), TACIT_OK);
    assert_int_equal(tacit_config_set(&config, "a.b=2=3", &err), TACIT_OK);
    assert_int_equal(config.count, 1);
    assert_string_equal(tacit_config_get(&config, "a.b")->value, "2=3");
    assert_int_equal(tacit_config_get(&config, "a.b")->line, 0);
    tacit_config_clear(&config);
}

/* ---- files ---- */

static void test_files(void **state)
{
    (void)state;
    char folder[] = "tacit_config_XXXXXX";
    assert_non_null(mkdtemp(folder));
    char path[64], expected[200];
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);

    snprintf(path, sizeof path, "%s/e.yaml", folder);
    assert_int_equal(tacit_config_read(&config, path, &err), TACIT_EINPUT);
    snprintf(expected, sizeof expected, "cannot open \"%s\": No such file or directory", path);
    assert_string_equal(err.text, expected);

    assert_int_equal(tacit_config_read(&config, folder, &err), TACIT_EINPUT);
    snprintf(expected, sizeof expected, "\"%s\" is a folder; expected a YAML file", folder);
    assert_string_equal(err.text, expected);

    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs("a:\n  b: 3\n", file) >= 0);
    fclose(file);
    assert_int_equal(tacit_config_read(&config, path, &err), TACIT_OK);
    assert_string_equal(tacit_config_get(&config, "a.b")->value, "3");
    assert_string_equal(config.source, path);
    if (geteuid() != 0) { /* root reads everything */
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(tacit_config_read(&config, path, &err), TACIT_EINPUT);
        snprintf(expected, sizeof expected, "cannot open \"%s\": Permission denied", path);
        assert_string_equal(err.text, expected);
    }
    assert_int_equal(tacit_config_read(&config, "/dev/zero", &err), TACIT_EINPUT);
    assert_string_equal(err.text, "/dev/zero:1:1: the file is larger than 1 MiB (1048576 bytes); "
                                  "expected a short one");
    tacit_config_clear(&config);
    tacit_config_clear(&config); /* twice does no harm */
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),      cmocka_unit_test(test_words),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_parse),      cmocka_unit_test(test_parse_replaces),
        cmocka_unit_test(test_empty),      cmocka_unit_test(test_refused_yaml),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_values),
        cmocka_unit_test(test_unknown),    cmocka_unit_test(test_shared_section),
        cmocka_unit_test(test_set),        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
