/* SPDX-License-Identifier: Apache-2.0 */
/* tacit model make: a file of layers and parameters. */
#include "model.h"

#include "data/bytes.h"
#include "data/grid.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- words ---- */

/* "784", "28x28" or "3x32x32". */
static tacit_status read_volume(tacit_volume *v, const char *text, tacit_error *err)
{
    size_t side[3], count = 0;
    const char *at = text;
    for (; count < 3; at++) {
        size_t digits = 0;
        side[count] = 0;
        for (; isdigit((unsigned char)*at) && digits < 9; at++, digits++)
            side[count] = side[count] * 10 + (size_t)(*at - '0');
        count++;
        if (digits == 0 || *at != 'x')
            break;
    }
    if (*at != '\0' || at == text || !isdigit((unsigned char)at[-1]))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--input is \"%.60s\"; expected a shape such as 784, 28x28 or 3x32x32",
                          text);
    *v = count == 1   ? (tacit_volume){side[0], 1, 1}
         : count == 2 ? (tacit_volume){1, side[0], side[1]}
                      : (tacit_volume){side[0], side[1], side[2]};
    return TACIT_OK;
}

static tacit_status make_net(tacit_net **net, const model_flags *f, tacit_error *err)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    tacit_volume in;
    size_t count;
    if (!*f->layers || !*f->input)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--%s is missing, as in \"tacit model make FILE --input 1x28x28 --layers "
                          "'dense 64, relu, dense 10'\"",
                          *f->layers ? "input" : "layers");
    tacit_status status = read_volume(&in, f->input, err);
    if (!status)
        status = tacit_layers_parse(f->layers, layers, &count, err);
    return status ? status : tacit_net_create(net, in, layers, count, err);
}

/* ---- names ---- */

/* Cuts `text` at commas. */
static tacit_status split_names(const char **names, size_t classes, char *text, tacit_error *err)
{
    size_t count = 0;
    for (char *at = text; at; count++) {
        char *comma = strchr(at, ',');
        if (comma)
            *comma = '\0';
        at += strspn(at, " ");
        for (size_t len = strlen(at); len > 0 && at[len - 1] == ' ';)
            at[--len] = '\0';
        if (count < classes)
            names[count] = at;
        at = comma ? comma + 1 : NULL;
    }
    return count == classes
               ? TACIT_OK
               : tacit_fail(err, TACIT_EINPUT,
                            "--classes has %zu names, but the net has %zu classes", count, classes);
}

/* ---- parameters ---- */

static tacit_status take(float *theta, size_t count, const tacit_grid *grid, size_t row,
                         const char *path, tacit_error *err)
{
    const bool one = grid->rank == 1; /* a vector is one model */
    const size_t rows = one ? 1 : grid->rows, width = one ? grid->rows : grid->width;
    if (width != count)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: models of %zu parameters, but the net has %zu", path, width,
                          count);
    if (row >= rows)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: no row %zu; it has %zu, from 0", path, row,
                          rows);
    for (size_t k = 0; k < count; k++)
        theta[k] = (float)(one ? tacit_grid_at(grid, k, 0) : tacit_grid_at(grid, row, k));
    return TACIT_OK;
}

static tacit_status read_parameters(float *theta, size_t count, const model_flags *f,
                                    tacit_error *err)
{
    tacit_bytes bytes;
    tacit_grid grid;
    tacit_status status = tacit_bytes_load(&bytes, f->parameters, "", NULL, err);
    if (!status)
        status = tacit_npy_open(&grid, f->parameters, tacit_bytes_at(&bytes), bytes.len, err);
    if (!status)
        status = take(theta, count, &grid, (size_t)f->row, f->parameters, err);
    tacit_bytes_clear(&bytes);
    return status;
}

static void draw(const tacit_net *net, uint64_t seed, float *theta)
{
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_PROTOCOL, 0);
    tacit_net_start(net, &stream, theta);
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
}

/* ---- all of it ---- */

tacit_status model_make(const char *path, const model_flags *f, tacit_error *err)
{
    tacit_net *net = NULL;
    float *theta = NULL;
    const char **names = NULL;
    char text[TACIT_TEXT_MAX];
    const float scale = (float)f->scale, shift = (float)f->shift;
    if (!f->force && access(path, F_OK) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "cannot make \"%.300s\": %s; use --force to replace it", path,
                          strerror(EEXIST));
    tacit_status status = make_net(&net, f, err);
    if (status)
        return status;
    theta = calloc(tacit_net_parameters(net), sizeof *theta);
    names = calloc(tacit_net_classes(net), sizeof *names);
    snprintf(text, sizeof text, "%s", f->classes);
    if (!theta || !names)
        status = tacit_out_of_memory(err);
    if (!status && *text)
        status = split_names(names, tacit_net_classes(net), text, err);
    if (!status && *f->parameters)
        status = read_parameters(theta, tacit_net_parameters(net), f, err);
    else if (!status)
        draw(net, (uint64_t)f->seed, theta);
    const tacit_net_model model = {.net = net,
                                   .theta = theta,
                                   .names = *text ? names : NULL,
                                   .pairs = f->scale != 1 || f->shift != 0,
                                   .scale = &scale,
                                   .shift = &shift};
    if (!status)
        status = tacit_net_file_write(path, &model, err);
    free(names);
    free(theta);
    tacit_net_free(net);
    return status;
}
