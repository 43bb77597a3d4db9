/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H
/* What the files of "tacit model" share. */
#include "verbs.h"

#include "tacit/net_file.h"

typedef struct model_flags {
    bool json, scores, force, quiet;
    int to;
    int64_t row, seed;
    double scale, shift;
    char out[TACIT_TEXT_MAX], layers[TACIT_TEXT_MAX], input[TACIT_TEXT_MAX],
        parameters[TACIT_TEXT_MAX], classes[TACIT_TEXT_MAX];
} model_flags;

/* "1 x 32 x 32", or "784" for what is no picture. */
void model_volume(tacit_volume v, char *out, size_t size);

/* ---- model_words.c ---- */
tacit_status model_show(const char *path, const tacit_net_model *model, bool json,
                        tacit_error *err);

/* ---- model_predict.c ---- */
tacit_status model_predict(const char *path, const tacit_net_model *model, const cli_args *args,
                           tacit_error *err);

/* ---- model_make.c ---- */
tacit_status model_make(const char *path, const model_flags *flags, tacit_error *err);

#endif
