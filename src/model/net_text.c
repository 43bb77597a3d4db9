/* SPDX-License-Identifier: Apache-2.0 */
/* Layers from words, and back: "conv 3 5x5, mish, pool 2, dense 64, mish, dense 10". */
#include <ctype.h>
#include <string.h>

#include "base/writer.h"
#include "tacit/net.h"

/* What follows a layer's name. */
typedef enum tail { NOTHING, NUMBER, WINDOW } tail;

static const struct word {
    const char *name;
    tacit_layer_kind kind;
    tail after;
} words[] = {{"dense", TACIT_LAYER_DENSE, NUMBER}, {"conv", TACIT_LAYER_CONV, WINDOW},
             {"pool", TACIT_LAYER_POOL, NUMBER},   {"norm", TACIT_LAYER_NORM, NUMBER},
             {"relu", TACIT_LAYER_RELU, NOTHING},  {"tanh", TACIT_LAYER_TANH, NOTHING},
             {"mish", TACIT_LAYER_MISH, NOTHING},  {"split", TACIT_LAYER_SPLIT, NOTHING},
             {"join", TACIT_LAYER_JOIN, NOTHING}};
#define WORDS (sizeof words / sizeof *words)

static void skip_spaces(const char **at)
{
    while (isspace((unsigned char)**at))
        ++*at;
}

/* A number of at most six digits: more is no size of a layer. */
static bool number(const char **at, size_t *out)
{
    size_t digits = 0;
    *out = 0;
    skip_spaces(at);
    for (; isdigit((unsigned char)**at) && digits < 7; ++*at, digits++)
        *out = *out * 10 + (size_t)(**at - '0');
    return digits > 0 && digits < 7;
}

/* The word `name`, and nothing longer that begins with it. */
static bool word(const char **at, const char *name)
{
    const size_t length = strlen(name);
    skip_spaces(at);
    if (strncmp(*at, name, length) != 0 || isalnum((unsigned char)(*at)[length]))
        return false;
    *at += length;
    return true;
}

static bool window(const char **at, tacit_layer *layer)
{
    if (!number(at, &layer->high) || **at != 'x')
        return false;
    ++*at;
    if (!number(at, &layer->wide))
        return false;
    for (;;)
        if (word(at, "pad")) {
            if (!number(at, &layer->pad))
                return false;
        } else if (word(at, "step")) {
            if (!number(at, &layer->step) || layer->step == 0)
                return false;
        } else {
            return true;
        }
}

static bool one_layer(const char **at, tacit_layer *layer)
{
    for (size_t k = 0; k < WORDS; k++)
        if (word(at, words[k].name)) {
            *layer = (tacit_layer){.kind = words[k].kind};
            if (words[k].after == NOTHING)
                return true;
            return number(at, &layer->width) && (words[k].after == NUMBER || window(at, layer));
        }
    return false;
}

static tacit_status no_layer(tacit_error *err, size_t at, const char *text)
{
    const size_t length = strcspn(text, ",");
    return tacit_fail(
        err, TACIT_EINPUT,
        "layer %zu, \"%.*s\", is none: use dense N, conv N HxW [pad P] [step S], pool "
        "N, norm G, relu, tanh, mish, split or join, with commas between",
        at, (int)(length < 80 ? length : 80), text);
}

tacit_status tacit_layers_parse(const char *text, tacit_layer *layers, size_t *count,
                                tacit_error *err)
{
    const char *at = text;
    *count = 0;
    for (;;) {
        skip_spaces(&at);
        const char *begin = at;
        if (*count == TACIT_LAYERS_MOST)
            return tacit_fail(err, TACIT_EINPUT, "more than %d layers", TACIT_LAYERS_MOST);
        const bool read = one_layer(&at, &layers[*count]);
        skip_spaces(&at);
        if (!read || (*at != ',' && *at != '\0'))
            return no_layer(err, *count + 1, begin);
        ++*count;
        if (*at == '\0')
            return TACIT_OK;
        at++;
    }
}

static void write_layer(tacit_writer *out, const tacit_layer *layer)
{
    size_t k = 0;
    while (words[k].kind != layer->kind)
        k++;
    tacit_write_text(out, words[k].name);
    if (words[k].after != NOTHING)
        tacit_write_format(out, " %zu", layer->width);
    if (words[k].after != WINDOW)
        return;
    tacit_write_format(out, " %zux%zu", layer->high, layer->wide);
    if (layer->pad > 0)
        tacit_write_format(out, " pad %zu", layer->pad);
    if (layer->step > 1)
        tacit_write_format(out, " step %zu", layer->step);
}

char *tacit_layers_text(const tacit_layer *layers, size_t count)
{
    tacit_writer out = {0};
    for (size_t k = 0; k < count; k++) {
        tacit_write_text(&out, k > 0 ? ", " : "");
        write_layer(&out, &layers[k]);
    }
    return tacit_writer_take(&out);
}
