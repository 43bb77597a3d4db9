/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_FILE_H
#define TACIT_NET_FILE_H
/*
 * A net with its parameters: to a file and back, and what it says of new records.
 * docs/model-files.md has the format byte by byte. To save what was learned:
 *
 *     tacit_net_file_write("model.tacit", &(tacit_net_model){.net = net, .theta = theta}, &err);
 *
 * A file holds no records, but what was learned from them: unless it was released with noise, it
 * is its owner's. So files are made readable for nobody else.
 */
#include "tacit/net.h"

/* Nothing in it is owned. */
typedef struct tacit_net_model {
    const tacit_net *net;
    const float *theta;       /* tacit_net_parameters(net) */
    const char *const *names; /* of the classes, or NULL: UTF-8, no control characters */
    /* Public constants: the net is given scale x + shift for a record's number x. One pair for all
     * of them (pairs = 1), one for each input, or none. */
    size_t pairs;
    const float *scale, *shift;
} tacit_net_model;

/* A model that was read, with its memory. */
typedef struct tacit_net_file {
    tacit_net_model model;
    tacit_net *net; /* the rest is what `model` points into */
    float *numbers;
    char *text;
    const char **names;
} tacit_net_file;

/* The bytes of its file (caller frees): of a model there is only one file. Refuses parameters that
 * are not finite. */
tacit_status tacit_net_file_bytes(uint8_t **bytes, size_t *len, const tacit_net_model *model,
                                  tacit_error *err);
/* Complete or not at all; replaces an older one. Mode 0600. */
tacit_status tacit_net_file_write(const char *path, const tacit_net_model *model, tacit_error *err);
/* `shown` is the file's name, for messages. TACIT_EINPUT: there is no model there that makes sense.
 * TACIT_EVERIFY: it was cut or edited. On failure there is nothing to clear. */
tacit_status tacit_net_file_parse(tacit_net_file *file, const char *shown, const void *bytes,
                                  size_t len, tacit_error *err);
tacit_status tacit_net_file_read(tacit_net_file *file, const char *path, tacit_error *err);
void tacit_net_file_clear(tacit_net_file *file);

/* Scores of each class for `count` records, a row each, and the class with the largest, the first
 * of equals; either may be NULL. `x` is count x inputs, as they come: constants are applied here.
 * A record's scores do not depend on the others. Refuses scores that are not finite. */
tacit_status tacit_net_predict(const tacit_net_model *model, size_t count, const float *x,
                               float *scores, uint32_t *best, tacit_error *err);

/* The same model as ONNX (caller frees): float32, operators of version 13, the number of records
 * left open. Constants are part of it. */
tacit_status tacit_net_onnx(uint8_t **bytes, size_t *len, const tacit_net_model *model,
                            tacit_error *err);

#endif
