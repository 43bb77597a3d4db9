/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models in files: the bytes, every cut and every changed byte, edits with a checksum that fits,
 * files on a disk. Then predictions against the net itself, and the outline of an ONNX file.
 * tests/oracle/onnx_oracle.py reads both formats with other people's code.
 */
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/files.h"
#include "model/net.h"
#include "testing.h"

enum { SEAL = 32, HEADER = 48 };

typedef struct scene {
    tacit_net *net;
    float *theta;
    float scale[64], shift[64];
    tacit_net_model model;
} scene;

static tacit_net *make_net(tacit_volume in, const char *text)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    size_t count;
    tacit_net *net;
    tacit_error err = {0};
    check_ok(tacit_layers_parse(text, layers, &count, &err), &err);
    check_ok(tacit_net_create(&net, in, layers, count, &err), &err);
    return net;
}

static void make(scene *s, tacit_volume in, const char *text, size_t pairs)
{
    dice d = {5};
    s->net = make_net(in, text);
    s->theta = calloc(tacit_net_parameters(s->net), sizeof *s->theta);
    for (size_t k = 0; k < tacit_net_parameters(s->net); k++)
        s->theta[k] = (float)(0.5 * dice_normal(&d));
    for (size_t k = 0; k < 64; k++) {
        s->scale[k] = (float)dice_between(&d, 0.5, 2);
        s->shift[k] = (float)dice_normal(&d);
    }
    s->model = (tacit_net_model){
        .net = s->net, .theta = s->theta, .pairs = pairs, .scale = s->scale, .shift = s->shift};
}

static void clear(scene *s)
{
    tacit_net_free(s->net);
    free(s->theta);
}

static const char *const two[] = {"left", "r\xc3\xa9gion"};

/* A small one with everything in it. */
static uint8_t *small(size_t *len)
{
    scene s;
    uint8_t *bytes;
    tacit_error err = {0};
    make(&s, (tacit_volume){2, 1, 2}, "norm 1, dense 2", 4);
    s.model.names = two;
    check_ok(tacit_net_file_bytes(&bytes, len, &s.model, &err), &err);
    clear(&s);
    return bytes;
}

static void reseal(uint8_t *bytes, size_t len)
{
    crypto_generichash(bytes + len - SEAL, SEAL, bytes, len - SEAL, NULL, 0);
}

/* ---- words ---- */

static void test_words(void **state)
{
    (void)state;
    static const struct {
        const char *given, *written;
    } cases[] = {
        {"conv 3 5x5, mish, pool 2, dense 64, mish, dense 10", NULL},
        {"conv 3 5x4 pad 2 step 3, relu, tanh", NULL},
        {"  dense 007 ,split,norm   2,join", "dense 7, split, norm 2, join"},
        {"conv 1 2x3 step 1 pad 0", "conv 1 2x3"},
        {"conv 1 2x3 step 2 pad 1", "conv 1 2x3 pad 1 step 2"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        tacit_layer layers[TACIT_LAYERS_MOST];
        size_t count;
        tacit_error err = {0};
        check_ok(tacit_layers_parse(cases[k].given, layers, &count, &err), &err);
        char *text = tacit_layers_text(layers, count);
        assert_string_equal(text, cases[k].written ? cases[k].written : cases[k].given);
        free(text);
    }
}

/* ---- bytes ---- */

/* By hand, but for the checksum, which is Python's hashlib.blake2b(digest_size=32). */
static void test_golden(void **state)
{
    (void)state;
    static const uint8_t golden[] = {
        'T',  'A',  'C',  'I',  'T',  'N',  'E',  'T',                       /* magic */
        1,    0,    0,    0,                                                 /* version */
        1,    0,    0,    0,    1,    0,    0,    0,    2,    0,    0,    0, /* 1 x 1 x 2 */
        1,    0,    0,    0,                                                 /* classes */
        7,    0,    0,    0,    2,    0,    0,    0,    1,    0,    0,    0, /* words, names, pairs
                                                                              */
        3,    0,    0,    0,    0,    0,    0,    0,                         /* parameters */
        'd',  'e',  'n',  's',  'e',  ' ',  '1',  'x',  '\n',                /* layers, a name */
        0,    0,    0,    0x40, 0,    0,    0,    0xbf,                      /* 2, -0.5 */
        0,    0,    0x80, 0x3f, 0,    0,    0,    0x80, 0,    0,    0x40, 0x40, /* 1, -0, 3 */
        0xa2, 0x46, 0xe8, 0xed, 0xb7, 0x3c, 0x62, 0x81, 0xa6, 0x8d, 0x2c, 0x1c, 0xb3,
        0x02, 0x53, 0x76, 0xf2, 0x4a, 0x71, 0xba, 0x6b, 0x1c, 0x9b, 0xee, 0xba, 0xe0,
        0x72, 0x38, 0xa6, 0xc1, 0x4a, 0xb7};
    const float theta[] = {1, -0.0F, 3}, scale = 2, shift = -0.5F;
    const char *const names[] = {"x"};
    tacit_net *net = make_net((tacit_volume){1, 1, 2}, "dense 1");
    const tacit_net_model m = {
        .net = net, .theta = theta, .names = names, .pairs = 1, .scale = &scale, .shift = &shift};
    uint8_t *bytes;
    size_t len;
    tacit_error err = {0};
    check_ok(tacit_net_file_bytes(&bytes, &len, &m, &err), &err);
    assert_int_equal(len, sizeof golden);
    assert_memory_equal(bytes, golden, len);
    free(bytes);
    tacit_net_free(net);
}

static void test_round_trip(void **state)
{
    (void)state;
    static const struct {
        tacit_volume in;
        const char *layers;
        size_t pairs;
    } cases[] = {
        {{7, 1, 1}, "dense 2", 0},
        {{7, 1, 1}, "dense 5, tanh, dense 2", 1},
        {{1, 8, 8}, "conv 2 3x3 pad 1 step 2, mish, split, norm 2, join, pool 2, dense 2", 64}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int named = 0; named < 2; named++) {
            scene s;
            uint8_t *bytes, *again;
            size_t len, again_len;
            tacit_net_file f;
            tacit_error err = {0};
            make(&s, cases[k].in, cases[k].layers, cases[k].pairs);
            s.model.names = named ? two : NULL;
            check_ok(tacit_net_file_bytes(&bytes, &len, &s.model, &err), &err);
            check_ok(tacit_net_file_parse(&f, "m", bytes, len, &err), &err);
            check_ok(tacit_net_file_bytes(&again, &again_len, &f.model, &err), &err);
            assert_int_equal(len, again_len);
            assert_memory_equal(bytes, again, len);
            assert_memory_equal(f.model.theta, s.theta,
                                tacit_net_parameters(s.net) * sizeof(float));
            assert_memory_equal(f.model.scale, s.scale, cases[k].pairs * sizeof(float));
            assert_memory_equal(f.model.shift, s.shift, cases[k].pairs * sizeof(float));
            assert_int_equal(f.model.pairs, cases[k].pairs);
            assert_true(named ? strcmp(f.model.names[1], two[1]) == 0 : f.model.names == NULL);
            tacit_net_file_clear(&f);
            free(bytes);
            free(again);
            clear(&s);
        }
}

/* ---- what is refused ---- */

static tacit_status parse(const uint8_t *bytes, size_t len, tacit_error *err)
{
    tacit_net_file f;
    uint8_t *copy = malloc(len + 1); /* so that a sanitizer sees a byte too far */
    *err = (tacit_error){0};
    memcpy(copy, bytes, len);
    uint8_t *exact = realloc(copy, len ? len : 1);
    const tacit_status status = tacit_net_file_parse(&f, "m.tacit", exact, len, err);
    if (status)
        assert_true(err->text[0] && !f.net && !f.numbers && !f.text && !f.names);
    tacit_net_file_clear(&f);
    free(exact);
    return status;
}

static void test_every_cut(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = small(&len);
    tacit_error err;
    for (size_t cut = 0; cut < len; cut++)
        assert_int_equal(parse(bytes, cut, &err), cut < 8 ? TACIT_EINPUT : TACIT_EVERIFY);
    uint8_t *longer = calloc(1, len + 1);
    memcpy(longer, bytes, len);
    check_fails(parse(longer, len + 1, &err), TACIT_EVERIFY, &err, "cut or edited");
    free(longer);
    free(bytes);
}

/* Magic and version say what a file is; all else is covered by the checksum. */
static void test_every_byte(void **state)
{
    (void)state;
    size_t len;
    uint8_t *bytes = small(&len);
    tacit_error err;
    for (size_t k = 0; k < len; k++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[k] ^= (uint8_t)(1 << bit);
            assert_int_equal(parse(bytes, len, &err), k < 12 ? TACIT_EINPUT : TACIT_EVERIFY);
            bytes[k] ^= (uint8_t)(1 << bit);
        }
    assert_int_equal(parse(bytes, len, &err), TACIT_OK);
    free(bytes);
}

/* Somebody who can compute a checksum: an error, or another model whose only file this is. */
static void test_every_byte_sealed(void **state)
{
    (void)state;
    size_t len, fine = 0;
    uint8_t *bytes = small(&len);
    tacit_error err;
    for (size_t k = 0; k < len - SEAL; k++)
        for (int bit = 0; bit < 8; bit++) {
            tacit_net_file f;
            bytes[k] ^= (uint8_t)(1 << bit);
            reseal(bytes, len);
            if (tacit_net_file_parse(&f, "m", bytes, len, &err) == TACIT_OK) {
                uint8_t *again;
                size_t again_len;
                check_ok(tacit_net_file_bytes(&again, &again_len, &f.model, &err), &err);
                assert_int_equal(again_len, len);
                assert_memory_equal(again, bytes, len);
                free(again);
                tacit_net_file_clear(&f);
                fine++;
            }
            bytes[k] ^= (uint8_t)(1 << bit);
        }
    assert_true(fine > 300); /* of the parameters, at least */
    free(bytes);
}

static void put32(uint8_t *at, uint32_t value)
{
    for (int k = 0; k < 4; k++)
        at[k] = (uint8_t)(value >> (8 * k));
}

/* The small file with a number of its header, or of its body, changed; sealed again. */
static void refused(size_t at, uint32_t value, tacit_status want, const char *word)
{
    size_t len;
    uint8_t *bytes = small(&len);
    tacit_error err;
    put32(bytes + at, value);
    reseal(bytes, len);
    check_fails(parse(bytes, len, &err), want, &err, word);
    free(bytes);
}

static void test_edits(void **state)
{
    (void)state;
    const size_t words = HEADER, names = words + strlen("norm 1, dense 2");
    const size_t numbers = names + strlen("left\nr\xc3\xa9gion\n");
    refused(8, 2, TACIT_EINPUT, "version 2; this program reads 1");
    refused(12, 0, TACIT_EINPUT, "too many or none");
    refused(12, UINT32_MAX, TACIT_EINPUT, "too many or none");
    refused(24, 3, TACIT_EINPUT, "header and its layers differ");
    refused(28, UINT32_MAX, TACIT_EVERIFY, "cut or edited");
    refused(32, 3, TACIT_EVERIFY, "cut or edited");
    refused(36, UINT32_MAX, TACIT_EVERIFY, "cut or edited");
    refused(40, UINT32_MAX, TACIT_EVERIFY, "cut or edited");
    refused(44, UINT32_MAX, TACIT_EVERIFY, "cut or edited");      /* 2^64 parameters, nearly */
    refused(words, 0x20736579, TACIT_EINPUT, "layer 1");          /* "yes " */
    refused(words + 5, 0x642c2031, TACIT_EINPUT, "do not write"); /* "1 ,d" */
    refused(names, 0x0a0a0a0a, TACIT_EINPUT, "more names than classes");
    refused(names, 0x07666566, TACIT_EINPUT, "the name of class 0"); /* a bell */
    refused(names, 0x00666566, TACIT_EINPUT, "zero byte");
    refused(numbers, 0x7fc00000, TACIT_EINPUT, "scale 1 is not finite");
    refused(numbers + 28, 0x7f800000, TACIT_EINPUT, "shift 4 is not finite");
    refused(numbers + 32, 0xff800000, TACIT_EINPUT, "parameter 1 is not finite");
}

static void test_not_written(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    const char *const bad[] = {"fine", "two\nlines"};
    make(&s, (tacit_volume){3, 1, 1}, "dense 2", 0);
    s.theta[4] = NAN;
    check_fails(tacit_net_file_write("m.tacit", &s.model, &err), TACIT_EINPUT, &err,
                "parameter 5 is not finite");
    s.theta[4] = 0;
    s.model.names = bad;
    check_fails(tacit_net_file_write("m.tacit", &s.model, &err), TACIT_EINPUT, &err, "class 1");
    s.model.names = NULL;
    s.model.pairs = 2;
    check_fails(tacit_net_file_write("m.tacit", &s.model, &err), TACIT_EINPUT, &err, "2 pairs");
    s.model.pairs = 0;
    check_fails(tacit_net_file_write("no/such/m.tacit", &s.model, &err), TACIT_EINPUT, &err,
                "no/such/m.tacit");
    assert_int_equal(access("m.tacit", F_OK), -1);
    assert_int_equal(access("m.tacit.tmp", F_OK), -1);
    clear(&s);
}

static void test_disk(void **state)
{
    (void)state;
    scene s;
    tacit_net_file f;
    struct stat info;
    tacit_error err = {0};
    make(&s, (tacit_volume){3, 1, 1}, "dense 2", 0);
    check_ok(tacit_net_file_write("m.tacit", &s.model, &err), &err);
    s.theta[0] = 42;
    check_ok(tacit_net_file_write("m.tacit", &s.model, &err), &err); /* in its place */
    assert_int_equal(stat("m.tacit", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(access("m.tacit.tmp", F_OK), -1);
    check_ok(tacit_net_file_read(&f, "m.tacit", &err), &err);
    assert_true(f.model.theta[0] == 42);
    tacit_net_file_clear(&f);
    check_fails(tacit_net_file_read(&f, "none.tacit", &err), TACIT_EINPUT, &err, "none.tacit");
    check_fails(tacit_net_file_read(&f, "/dev/null", &err), TACIT_EINPUT, &err, "regular");
    /* A folder in its place stays, and nothing beside it. */
    assert_int_equal(mkdir("folder", 0777), 0);
    check_fails(tacit_net_file_write("folder", &s.model, &err), TACIT_EINPUT, &err, "folder");
    assert_int_equal(access("folder.tmp", F_OK), -1);
    clear(&s);
}

/* In a run folder: nothing until it is published, then what a file of its own would be; a run that
 * fails takes it away again. */
static void test_folder(void **state)
{
    (void)state;
    scene s;
    tacit_folder folder;
    tacit_net_file f;
    struct stat info;
    tacit_error err = {0};
    make(&s, (tacit_volume){3, 1, 1}, "dense 2", 1);
    check_ok(tacit_folder_create(&folder, "run", &err), &err);
    check_ok(tacit_folder_stage_model(&folder, &s.model, &err), &err);
    assert_int_equal(access("run/model.tacit", F_OK), -1);
    check_ok(tacit_outfile_publish(&folder, TACIT_MODEL_FILE, &err), &err);
    assert_int_equal(stat("run/model.tacit", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    check_ok(tacit_net_file_read(&f, "run/model.tacit", &err), &err);
    assert_memory_equal(f.model.theta, s.theta, tacit_net_parameters(s.net) * sizeof(float));
    tacit_net_file_clear(&f);
    tacit_folder_abandon(&folder);
    tacit_folder_close(&folder);
    assert_int_equal(access("run", F_OK), -1);
    clear(&s);
}

/* ---- predictions ---- */

/* Against the net, a record at a time, with constants applied by the test. */
static void predictions(size_t pairs, size_t records)
{
    scene s;
    dice d = {77};
    tacit_net_room *room;
    tacit_error err = {0};
    make(&s, (tacit_volume){1, 8, 8}, "conv 3 3x3 pad 1, mish, pool 2, norm 3, dense 5", pairs);
    check_ok(tacit_net_room_create(&room, s.net, &err), &err);
    float *x = calloc(records * 64, sizeof *x), *scores = calloc(records * 5, sizeof *scores);
    uint32_t *best = calloc(records, sizeof *best), *alone = calloc(records, sizeof *alone);
    for (size_t k = 0; k < records * 64; k++)
        x[k] = (float)dice_normal(&d);
    check_ok(tacit_net_predict(&s.model, records, x, scores, best, &err), &err);
    check_ok(tacit_net_predict(&s.model, records, x, NULL, alone, &err), &err);
    assert_memory_equal(best, alone, records * sizeof *best);
    for (size_t r = 0; r < records; r++) {
        float z[64], want[5];
        const float *row = z;
        for (size_t k = 0; k < 64; k++) {
            const size_t c = pairs == 1 ? 0 : k;
            z[k] = pairs ? s.scale[c] * x[r * 64 + k] + s.shift[c] : x[r * 64 + k];
        }
        tacit_net_scores(s.net, room, s.theta, 1, &row, want);
        assert_memory_equal(want, scores + r * 5, sizeof want);
        for (size_t k = 0; k < 5; k++)
            assert_true(want[k] <= want[best[r]]);
    }
    tacit_net_room_free(room);
    free(x);
    free(scores);
    free(best);
    free(alone);
    clear(&s);
}

static void test_predict(void **state)
{
    (void)state;
    predictions(0, 1);
    predictions(1, 70);
    predictions(64, SLOW ? 200 : 2100); /* more than a piece */
}

static void test_predict_edges(void **state)
{
    (void)state;
    scene s;
    tacit_error err = {0};
    float x[4] = {1, 2, 3, 4}, scores[4] = {0};
    uint32_t best[2] = {9, 9};
    make(&s, (tacit_volume){2, 1, 1}, "dense 2", 0);
    memset(s.theta, 0, tacit_net_parameters(s.net) * sizeof *s.theta);
    check_ok(tacit_net_predict(&s.model, 0, x, scores, best, &err), &err);
    assert_int_equal(best[0], 9);
    check_ok(tacit_net_predict(&s.model, 2, x, scores, best, &err), &err);
    assert_int_equal(best[1], 0); /* the first of equals */
    s.theta[2] = 3e38F;
    check_fails(tacit_net_predict(&s.model, 2, x, scores, best, &err), TACIT_EINPUT, &err,
                "record 2");
    x[0] = NAN;
    check_fails(tacit_net_predict(&s.model, 2, x, NULL, best, &err), TACIT_EINPUT, &err,
                "record 1");
    clear(&s);
    /* A file of a few bytes may ask for any amount of memory. */
    make(&s, (tacit_volume){1, 4096, 4096},
         "tanh, tanh, tanh, tanh, tanh, tanh, tanh, tanh, tanh, tanh, pool 8, pool 8, pool 8, "
         "dense 2",
         0);
    check_fails(tacit_net_predict(&s.model, 0, x, NULL, best, &err), TACIT_EINPUT, &err, "memory");
    clear(&s);
}

/* ---- ONNX: fields of protobuf messages ---- */

typedef struct field {
    unsigned number;
    const uint8_t *bytes; /* of a field with a length; else NULL */
    size_t value;         /* a varint, or the length */
} field;

static size_t varint(const uint8_t **at)
{
    size_t value = 0;
    for (int shift = 0;; shift += 7) {
        value |= (size_t)(**at & 0x7f) << shift;
        if (!(*(*at)++ & 0x80))
            return value;
    }
}

static bool next(const uint8_t **at, const uint8_t *end, field *f)
{
    if (*at == end)
        return false;
    const size_t tag = varint(at);
    *f = (field){.number = (unsigned)(tag >> 3)};
    if ((tag & 7) == 5) {
        *at += 4;
    } else {
        f->value = varint(at);
        if ((tag & 7) == 2) {
            f->bytes = *at;
            *at += f->value;
        }
    }
    assert_true(*at <= end);
    return true;
}

/* The last of the fields of this number. */
static field find(const uint8_t *bytes, size_t len, unsigned number)
{
    field f, found = {0};
    for (const uint8_t *at = bytes; next(&at, bytes + len, &f);)
        if (f.number == number)
            found = f;
    assert_int_equal(found.number, number);
    return found;
}

/* Weights are there as they are, in the order of the layers; what reads them is the oracle's. */
static void test_onnx(void **state)
{
    (void)state;
    scene s;
    uint8_t *bytes;
    size_t len, floats = 0, nodes = 0;
    field f;
    tacit_error err = {0};
    make(&s, (tacit_volume){1, 6, 6}, "conv 2 3x3, relu, dense 3, tanh, dense 2", 0);
    check_ok(tacit_net_onnx(&bytes, &len, &s.model, &err), &err);
    assert_int_equal(find(bytes, len, 1).value, 7);
    const field graph = find(bytes, len, 7);
    for (const uint8_t *at = graph.bytes; next(&at, graph.bytes + graph.value, &f);) {
        nodes += f.number == 1;
        if (f.number != 5)
            continue;
        const field raw = find(f.bytes, f.value, 9);
        assert_memory_equal(raw.bytes, s.theta + floats, raw.value);
        floats += raw.value / sizeof(float);
    }
    assert_int_equal(floats, tacit_net_parameters(s.net));
    assert_int_equal(nodes, 7); /* Flatten before the first dense layer, and for the name */
    free(bytes);
    clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),         cmocka_unit_test(test_golden),
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_every_byte),    cmocka_unit_test(test_every_byte_sealed),
        cmocka_unit_test(test_edits),         cmocka_unit_test(test_not_written),
        cmocka_unit_test(test_disk),          cmocka_unit_test(test_predict),
        cmocka_unit_test(test_predict_edges), cmocka_unit_test(test_onnx),
        cmocka_unit_test(test_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
