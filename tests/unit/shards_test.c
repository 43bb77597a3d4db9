/* SPDX-License-Identifier: Apache-2.0 */
/* Source "shards": records that go to files and come back bit for bit, and files that are refused.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/shard.h"
#include "experiment/consortium.h"
#include "report/writer.h"
#include "testing.h"

static char place[] = "/tmp/tacit-shards-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", place);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

enum { AGENTS = 6, FEATURES = 5 };

/* Uneven shards; agent 3 has nothing at all, agent 4 nothing to train on. */
static tacit_dataset *some_records(tacit_scalar scalar)
{
    static const uint32_t train[AGENTS] = {3, 1, 4100, 0, 0, 2}, test[AGENTS] = {0, 2, 1, 0, 1, 0};
    const uint32_t *const counts[TACIT_SPLITS] = {train, NULL, test};
    tacit_dataset *data = NULL;
    tacit_error err = {0};
    dice d = {scalar + 7};
    check_ok(tacit_dataset_create(&data, AGENTS, FEATURES, scalar, counts, &err), &err);
    for (uint32_t i = 0; i < AGENTS; i++)
        for (int split = 0; split < TACIT_SPLITS; split++)
            for (uint32_t row = 0; row < tacit_dataset_rows(data, i, (tacit_split)split); row++) {
                double x[FEATURES];
                for (int k = 0; k < FEATURES; k++)
                    x[k] = dice_normal(&d) * pow(10, dice_between(&d, -30, 30));
                x[0] = row == 0 ? -0.0 : x[0];
                x[1] = row == 1 ? 1e-42 : x[1]; /* no normal float */
                check_ok(tacit_dataset_put(data, i, (tacit_split)split, row, x,
                                           dice_between(&d, -1, 1), &err),
                         &err);
            }
    return data;
}

static void same_rows(const tacit_dataset *a, uint32_t i, const tacit_dataset *b, uint32_t j)
{
    const size_t each = tacit_scalar_size(tacit_dataset_scalar(a));
    for (int split = 0; split < TACIT_SPLITS; split++) {
        const tacit_shard *x = tacit_dataset_shard(a, i, (tacit_split)split);
        const tacit_shard *y = tacit_dataset_shard(b, j, (tacit_split)split);
        assert_int_equal(tacit_shard_rows(x), tacit_shard_rows(y));
        tacit_batch p, q;
        size_t at = 0, to = 0;
        while (tacit_shard_next(x, &at, &p)) {
            assert_true(tacit_shard_next(y, &to, &q));
            assert_memory_equal(p.x, q.x, p.rows * FEATURES * each);
            assert_memory_equal(p.y, q.y, p.rows * each);
        }
    }
}

static void defaults(tacit_data_options *o, const char *path)
{
    tacit_error err = {0};
    check_ok(tacit_options_defaults(&tacit_data_section, o, &err), &err);
    o->source = TACIT_SOURCE_SHARDS;
    snprintf(o->path, sizeof o->path, "%s", path);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const uint32_t some[] = {1, 2, 3, 4};
    static const tacit_scalar scalars[] = {TACIT_F32, TACIT_F64};
    for (size_t k = 0; k < 2; k++) {
        tacit_dataset *data = some_records(scalars[k]);
        tacit_source back;
        tacit_data_options o;
        tacit_error err = {0};
        const char *folder = k ? "wide" : "narrow";
        check_ok(tacit_shards_write(folder, data, some, 4, &err), &err);
        defaults(&o, folder);
        check_ok(tacit_data_load(&back, &o, scalars[k], 99, &err), &err);
        assert_int_equal(tacit_dataset_agents(back.data), 4);
        assert_int_equal(tacit_dataset_features(back.data), FEATURES);
        assert_int_equal(back.leaks, 0);
        for (uint32_t i = 0; i < 4; i++) {
            char number[TACIT_NUMBER_MAX], want[TACIT_NUMBER_MAX];
            snprintf(want, sizeof want, "%u", some[i]);
            assert_string_equal(tacit_dataset_name(back.data, i, number), want);
            same_rows(data, some[i], back.data, i);
        }
        tacit_source_clear(&back);
        /* They are raw records. */
        struct stat about;
        char path[40];
        snprintf(path, sizeof path, "%s/train.npy", folder);
        assert_int_equal(stat(path, &about), 0);
        assert_int_equal(about.st_mode & 0777, 0600);
        /* A folder is never overwritten. */
        assert_int_equal(tacit_shards_write(folder, data, some, 4, &err), TACIT_EINPUT);
        tacit_dataset_free(data);
    }
}

/* rows x columns of f64, row-major */
static void write_npy(const char *path, const double *numbers, size_t rows, size_t columns)
{
    tacit_writer out = {0};
    tacit_npy_header(&out, TACIT_F64, rows, columns);
    tacit_write_bytes(&out, numbers, rows * columns * sizeof *numbers);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out.text, 1, out.len, file), out.len);
    fclose(file);
    tacit_writer_clear(&out);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* By hand: rows in any order, agents by number, no list, one file only. */
static void test_by_hand(void **state)
{
    (void)state;
    static const double rows[] = {9, 1, 0.5, 2, -1, 0.25, 9, -1, 0.125};
    tacit_source s;
    tacit_data_options o;
    tacit_error err = {0};
    mkdir("hand", 0700);
    write_npy("hand/train.npy", rows, 3, 3);
    defaults(&o, "hand");
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    char number[TACIT_NUMBER_MAX];
    assert_int_equal(tacit_dataset_agents(s.data), 2);
    assert_string_equal(tacit_dataset_name(s.data, 0, number), "2");
    assert_string_equal(tacit_dataset_name(s.data, 1, number), "9");
    tacit_batch b;
    size_t cursor = 0;
    assert_true(tacit_shard_next(tacit_dataset_shard(s.data, 1, TACIT_TRAIN), &cursor, &b));
    assert_int_equal(b.rows, 2);
    assert_true(((const double *)b.x)[0] == 0.5 && ((const double *)b.x)[1] == 0.125);
    assert_true(((const double *)b.y)[0] == 1 && ((const double *)b.y)[1] == -1);
    tacit_source_clear(&s);
    /* In data.folder, like other files. */
    defaults(&o, "hand");
    snprintf(o.folder, sizeof o.folder, "%s", place);
    assert_int_equal(chdir("/"), 0);
    check_ok(tacit_data_load(&s, &o, TACIT_F64, 1, &err), &err);
    tacit_source_clear(&s);
    assert_int_equal(chdir(place), 0);
}

static void refused(const char *words)
{
    tacit_source s;
    tacit_data_options o;
    tacit_error err = {0};
    defaults(&o, "bad");
    check_fails(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT, &err, words);
    assert_null(s.data);
}

static void test_bad_files(void **state)
{
    (void)state;
    static const double good[] = {0, 1, 0.5, 1, -1, 0.25}, wide[] = {0, 1, 2, 3};
    static const struct {
        double number;
        size_t at;
        const char *words;
    } numbers[] = {
        {-1, 0, "row 0: agent \"-1\""}, {0.5, 3, "row 1: agent \"0.5\""},
        {NAN, 0, "agent \"nan\""},      {1e20, 0, "agent \"1e+20\""},
        {NAN, 2, "feature 0"},          {INFINITY, 1, "label"},
        {1e300, 5, "fits in f32"},
    };
    mkdir("bad", 0700);
    refused("bad/train.npy");
    write_text("bad/train.npy", "0,1,2\n");
    refused("bad/train.npy");
    write_npy("bad/train.npy", good, 3, 2);
    refused("at least one feature");
    write_npy("bad/train.npy", good, 0, 3);
    refused("no agent");
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        double rows[6];
        memcpy(rows, good, sizeof rows);
        rows[numbers[k].at] = numbers[k].number;
        write_npy("bad/train.npy", rows, 2, 3);
        refused(numbers[k].words);
    }
    write_npy("bad/train.npy", good, 2, 3);
    write_npy("bad/test.npy", wide, 1, 4);
    refused("test.npy has 2 features, but train.npy has 1");
    unlink("bad/test.npy");
    static const struct {
        const char *list, *words;
    } lists[] = {
        {"0\n", "row 1 is of agent \"1\", who is not in agents.txt"},
        {"0\n1\n0\n", "agent \"0\" is there twice"},
        {"0\nx\n", "agents.txt:2"},
        {"0\n\n1\n", "agents.txt:2"},
        {"0 1\n", "agents.txt:1"},
        {"99999999999999999999\n", "agents.txt:1"},
        {"", "no agent"},
    };
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        write_text("bad/agents.txt", lists[k].list);
        refused(lists[k].words);
    }
    write_text("bad/agents.txt", "1\n7\n0"); /* and good ones, at last */
    tacit_source s;
    tacit_data_options o;
    tacit_error err = {0};
    defaults(&o, "bad");
    check_ok(tacit_data_load(&s, &o, TACIT_F32, 1, &err), &err);
    assert_int_equal(tacit_dataset_agents(s.data), 3);
    assert_int_equal(tacit_dataset_rows(s.data, 2, TACIT_TRAIN), 0);
    tacit_source_clear(&s);
}

static void test_bad_options(void **state)
{
    (void)state;
    static const double good[] = {0, 1, 0.5};
    static const struct {
        const char *key, *value;
    } cases[] = {
        {"bound", "l2"},      {"bias", "true"},     {"standardise", "agent"},
        {"partition", "iid"}, {"positive", "yes"},  {"threshold", "0"},
        {"labels-path", "x"}, {"agents-path", "x"}, {"path", ""},
    };
    mkdir("fine", 0700);
    write_npy("fine/train.npy", good, 1, 3);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_source s;
        tacit_data_options o;
        tacit_error err = {0};
        defaults(&o, "fine");
        const tacit_option *option =
            tacit_section_find(&tacit_data_section, cases[k].key, strlen(cases[k].key));
        assert_non_null(option);
        check_ok(tacit_option_set(option, &o, cases[k].value, &err), &err);
        char words[40];
        snprintf(words, sizeof words, "data.%s", cases[k].key);
        check_fails(tacit_data_load(&s, &o, TACIT_F32, 1, &err), TACIT_EINPUT, &err, words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_bad_options),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
