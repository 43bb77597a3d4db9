/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as a file. All numbers little-endian:
 *
 *      0   8  "TACITNET"
 *      8   4  version, 1
 *     12   4  planes, 16 height, 20 width of a record
 *     24   4  classes
 *     28   4  bytes of the layers' words, L
 *     32   4  bytes of the classes' names, N: 0 if they have none
 *     36   4  pairs of constants, C: 0, 1 or one a number of a record
 *     40   8  parameters, P
 *     48   L  the layers, as tacit_layers_text writes them
 *          N  the names, each ended by a line break
 *         4C  scales
 *         4C  shifts
 *         4P  parameters
 *         32  BLAKE2b-256 of all before
 *
 * What can be said in two ways is read in one: so a model has one file, and tests compare bytes.
 * The checksum finds accidents. Whoever edits a file can make it fit, so nothing behind it is
 * believed either.
 */
#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "data/dataset.h"
#include "data/names.h"
#include "model/net_layer.h"
#include "tacit/net_file.h"

enum { MAGIC = 8, VERSION = 1, HEADER = 48, SEAL = 32 };
#define FILE_MOST ((size_t)1 << 31) /* more than the largest net with names and constants */
static const char magic[MAGIC + 1] = "TACITNET";

/* What the header says. */
typedef struct header {
    tacit_volume in;
    size_t classes, layers, names, pairs, parameters;
} header;

/* ---- numbers ---- */

static uint8_t *put(uint8_t *at, uint64_t value, int bytes)
{
    for (int k = 0; k < bytes; k++)
        *at++ = (uint8_t)(value >> (8 * k));
    return at;
}

static uint64_t get(const uint8_t *at, int bytes)
{
    uint64_t value = 0;
    for (int k = bytes; k-- > 0;)
        value = value << 8 | at[k];
    return value;
}

static uint8_t *put_floats(uint8_t *at, const float *x, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        uint32_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        at = put(at, bits, 4);
    }
    return at;
}

static void get_floats(float *x, const uint8_t *at, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const uint32_t bits = (uint32_t)get(at + 4 * k, 4);
        memcpy(&x[k], &bits, sizeof bits);
    }
}

/* How long the file is; false if no file is so long. */
static bool measure(const header *h, size_t *len)
{
    size_t numbers;
    return tacit_mul_size(h->pairs, 2, &numbers) &&
           tacit_add_size(numbers, h->parameters, &numbers) &&
           tacit_mul_size(numbers, 4, &numbers) && tacit_add_size(numbers, h->layers, len) &&
           tacit_add_size(*len, h->names, len) && tacit_add_size(*len, HEADER + SEAL, len) &&
           *len <= FILE_MOST;
}

static void seal(uint8_t hash[SEAL], const uint8_t *bytes, size_t len)
{
    crypto_generichash(hash, SEAL, bytes, len, NULL, 0);
}

/* ---- what a model may be ---- */

static tacit_status check_finite(const char *shown, const char *what, const float *x, size_t count,
                                 tacit_error *err)
{
    for (size_t k = 0; k < count; k++)
        if (!isfinite(x[k]))
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: %s %zu is not finite: the model has run away while it "
                              "learned; use smaller steps",
                              shown, what, k + 1);
    return TACIT_OK;
}

static tacit_status check(const tacit_net_model *m, const char *shown, tacit_error *err)
{
    const size_t inputs = tacit_net_inputs(m->net), classes = tacit_net_classes(m->net);
    if (m->pairs > 1 && m->pairs != inputs)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: %zu pairs of scale and shift for records of %zu numbers; "
                          "expected one for all, or one each",
                          shown, m->pairs, inputs);
    for (size_t k = 0; m->names && k < classes; k++)
        if (!tacit_name_is_good(m->names[k]))
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: the name of class %zu must be 1 to %d bytes of UTF-8 "
                              "without control characters",
                              shown, k, TACIT_NAME_MAX - 1);
    tacit_status status = check_finite(shown, "scale", m->scale, m->pairs, err);
    if (!status)
        status = check_finite(shown, "shift", m->shift, m->pairs, err);
    return status ? status
                  : check_finite(shown, "parameter", m->theta, tacit_net_parameters(m->net), err);
}

/* ---- out ---- */

static char *words_of(const tacit_net *net)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    for (size_t k = 0; k < net->count; k++)
        layers[k] = net->layer[k].is;
    return tacit_layers_text(layers, net->count);
}

static size_t names_length(const tacit_net_model *m)
{
    size_t sum = 0;
    for (size_t k = 0; m->names && k < tacit_net_classes(m->net); k++)
        sum += strlen(m->names[k]) + 1;
    return sum;
}

static uint8_t *put_header(uint8_t *at, const header *h)
{
    memcpy(at, magic, MAGIC);
    at = put(at + MAGIC, VERSION, 4);
    at = put(at, h->in.planes, 4);
    at = put(at, h->in.height, 4);
    at = put(at, h->in.width, 4);
    at = put(at, h->classes, 4);
    at = put(at, h->layers, 4);
    at = put(at, h->names, 4);
    at = put(at, h->pairs, 4);
    return put(at, h->parameters, 8);
}

static uint8_t *put_names(uint8_t *at, const tacit_net_model *m)
{
    for (size_t k = 0; m->names && k < tacit_net_classes(m->net); k++) {
        const size_t len = strlen(m->names[k]);
        memcpy(at, m->names[k], len);
        at[len] = '\n';
        at += len + 1;
    }
    return at;
}

static tacit_status assemble(uint8_t **bytes, size_t *len, const tacit_net_model *m,
                             const char *words, tacit_error *err)
{
    const header h = {.in = tacit_net_input(m->net),
                      .classes = tacit_net_classes(m->net),
                      .layers = strlen(words),
                      .names = names_length(m),
                      .pairs = m->pairs,
                      .parameters = tacit_net_parameters(m->net)};
    if (!measure(&h, len))
        return tacit_fail(err, TACIT_EINPUT, "a model of %zu parameters is too large for a file",
                          h.parameters);
    uint8_t *all = malloc(*len);
    if (!all)
        return tacit_out_of_memory(err);
    uint8_t *at = put_header(all, &h);
    memcpy(at, words, h.layers);
    at = put_names(at + h.layers, m);
    at = put_floats(at, m->scale, m->pairs);
    at = put_floats(at, m->shift, m->pairs);
    at = put_floats(at, m->theta, h.parameters);
    seal(at, all, *len - SEAL);
    *bytes = all;
    return TACIT_OK;
}

tacit_status tacit_net_file_bytes(uint8_t **bytes, size_t *len, const tacit_net_model *model,
                                  tacit_error *err)
{
    *bytes = NULL;
    *len = 0;
    tacit_status status = check(model, "the model", err);
    if (status)
        return status;
    char *words = words_of(model->net);
    status = words ? assemble(bytes, len, model, words, err) : tacit_out_of_memory(err);
    free(words);
    return status;
}

tacit_status tacit_net_file_write(const char *path, const tacit_net_model *model, tacit_error *err)
{
    uint8_t *bytes;
    size_t len;
    tacit_status status = tacit_net_file_bytes(&bytes, &len, model, err);
    if (status)
        return status;
    status = tacit_file_replace(path, 0600, bytes, len, "model file", err);
    sodium_memzero(bytes, len);
    free(bytes);
    return status;
}

/* ---- in ---- */

static void get_header(header *h, const uint8_t *bytes)
{
    h->in = (tacit_volume){get(bytes + 12, 4), get(bytes + 16, 4), get(bytes + 20, 4)};
    h->classes = get(bytes + 24, 4);
    h->layers = get(bytes + 28, 4);
    h->names = get(bytes + 32, 4);
    h->pairs = get(bytes + 36, 4);
    h->parameters = get(bytes + 40, 8);
}

/* Ours, of a version we know, as long as it says, and with the checksum that belongs to it. */
static tacit_status open_file(header *h, const char *shown, const uint8_t *bytes, size_t len,
                              tacit_error *err)
{
    uint8_t hash[SEAL];
    size_t expected = 0;
    if (len < MAGIC || memcmp(bytes, magic, MAGIC) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: not a model file of ours, which begins with \"%s\"", shown,
                          magic);
    if (len >= MAGIC + 4 && get(bytes + MAGIC, 4) != VERSION)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: a model file of version %" PRIu64 "; this program reads %d",
                          shown, get(bytes + MAGIC, 4), VERSION);
    if (len < HEADER + SEAL)
        return tacit_fail(err, TACIT_EVERIFY, "%.300s: cut after %zu bytes; get it again", shown,
                          len);
    get_header(h, bytes);
    if (!measure(h, &expected) || expected != len)
        return tacit_fail(err, TACIT_EVERIFY,
                          "%.300s: has %zu bytes where its header speaks of %zu: it was cut or "
                          "edited; get it again",
                          shown, len, expected);
    seal(hash, bytes, len - SEAL);
    if (memcmp(hash, bytes + len - SEAL, SEAL) != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "%.300s: its checksum does not fit: it was damaged or edited; get it "
                          "again",
                          shown);
    return TACIT_OK;
}

static tacit_status damaged(const char *shown, const char *why, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "%.300s: makes no sense: %.200s", shown, why);
}

/* The net, from words as we write them and no others. */
static tacit_status get_net(tacit_net_file *f, const header *h, const char *shown, tacit_error *err)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    tacit_error why = {0};
    size_t count;
    if (strlen(f->text) != h->layers)
        return damaged(shown, "a zero byte among the layers", err);
    tacit_status status = tacit_layers_parse(f->text, layers, &count, &why);
    if (!status)
        status = tacit_net_create(&f->net, h->in, layers, count, &why);
    if (status)
        return tacit_fail(err, status, "%.200s: %.350s", shown, why.text);
    if (h->classes != tacit_net_classes(f->net) || h->parameters != tacit_net_parameters(f->net))
        return damaged(shown, "its header and its layers differ", err);
    char *again = words_of(f->net);
    if (!again)
        return tacit_out_of_memory(err);
    const bool same = strcmp(again, f->text) == 0;
    free(again);
    return same ? TACIT_OK : damaged(shown, "layers in words that we do not write", err);
}

/* `text` is N bytes: a name a line. */
static tacit_status get_names(tacit_net_file *f, const header *h, const char *shown, char *text,
                              tacit_error *err)
{
    if (h->names == 0)
        return TACIT_OK;
    if (h->names / 2 < h->classes) /* so nothing large is claimed for a small file */
        return damaged(shown, "fewer names than classes", err);
    f->names = calloc(h->classes, sizeof *f->names);
    if (!f->names)
        return tacit_out_of_memory(err);
    char *end = text + h->names;
    for (size_t k = 0; k < h->classes; k++) {
        char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            return damaged(shown, "fewer names than classes", err);
        *stop = '\0';
        if (strlen(text) != (size_t)(stop - text))
            return damaged(shown, "a zero byte in a name", err);
        f->names[k] = text;
        text = stop + 1;
    }
    return text == end ? TACIT_OK : damaged(shown, "more names than classes", err);
}

static tacit_status get_numbers(tacit_net_file *f, const header *h, const uint8_t *at,
                                tacit_error *err)
{
    const size_t count = 2 * h->pairs + h->parameters; /* measured already */
    f->numbers = malloc(count * sizeof *f->numbers);
    if (!f->numbers)
        return tacit_out_of_memory(err);
    get_floats(f->numbers, at, count);
    return TACIT_OK;
}

static tacit_status get_all(tacit_net_file *f, const header *h, const char *shown,
                            const uint8_t *bytes, tacit_error *err)
{
    f->text = calloc(h->layers + h->names + 2, 1);
    if (!f->text)
        return tacit_out_of_memory(err);
    char *names = f->text + h->layers + 1;
    memcpy(f->text, bytes + HEADER, h->layers);
    memcpy(names, bytes + HEADER + h->layers, h->names);
    tacit_status status = get_net(f, h, shown, err);
    if (!status)
        status = get_names(f, h, shown, names, err);
    if (!status)
        status = get_numbers(f, h, bytes + HEADER + h->layers + h->names, err);
    if (status)
        return status;
    f->model = (tacit_net_model){.net = f->net,
                                 .theta = f->numbers + 2 * h->pairs,
                                 .names = f->names,
                                 .pairs = h->pairs,
                                 .scale = f->numbers,
                                 .shift = f->numbers + h->pairs};
    return check(&f->model, shown, err);
}

tacit_status tacit_net_file_parse(tacit_net_file *file, const char *shown, const void *bytes,
                                  size_t len, tacit_error *err)
{
    header h;
    *file = (tacit_net_file){0};
    tacit_status status = open_file(&h, shown, bytes, len, err);
    if (!status)
        status = get_all(file, &h, shown, bytes, err);
    if (status)
        tacit_net_file_clear(file);
    return status;
}

tacit_status tacit_net_file_read(tacit_net_file *file, const char *path, tacit_error *err)
{
    char *bytes = NULL;
    size_t len = 0;
    *file = (tacit_net_file){0};
    tacit_status status = tacit_file_read(&bytes, &len, path, FILE_MOST, err);
    if (!status)
        status = tacit_net_file_parse(file, path, bytes, len, err);
    if (bytes)
        sodium_memzero(bytes, len);
    free(bytes);
    return status;
}

void tacit_net_file_clear(tacit_net_file *file)
{
    if (file->numbers && file->net)
        sodium_memzero(file->numbers,
                       (2 * file->model.pairs + tacit_net_parameters(file->net)) * sizeof(float));
    tacit_net_free(file->net);
    free(file->numbers);
    free(file->text);
    free(file->names);
    *file = (tacit_net_file){0};
}
