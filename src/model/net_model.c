/* SPDX-License-Identifier: Apache-2.0 */
/* A net as the model of an experiment: from options, where it begins, what it scores. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector_internal.h"
#include "model/linear.h"
#include "model/net.h"

#define ROWS 256 /* scored at a time */

/* ---- from options ---- */

static bool number(const char **at, size_t *out)
{
    size_t digits = 0;
    *out = 0;
    for (; isdigit((unsigned char)**at) && digits < 7; ++*at, digits++)
        *out = *out * 10 + (size_t)(**at - '0');
    return digits > 0 && digits < 7 && *out > 0;
}

static bool times(const char **at)
{
    return **at == 'x' && ++*at;
}

static tacit_status read_input(tacit_volume *in, const char *text, size_t features,
                               tacit_error *err)
{
    const char *at = text;
    *in = (tacit_volume){features, 1, 1};
    if (!text[0])
        return TACIT_OK;
    if (!number(&at, &in->planes) || !times(&at) || !number(&at, &in->height) || !times(&at) ||
        !number(&at, &in->width) || *at)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"model.input\" is \"%s\"; say planes x height x width, such as 1x28x28",
                          text);
    if (in->planes * in->height * in->width == features) /* below 10^18 */
        return TACIT_OK;
    return tacit_fail(
        err, TACIT_EINPUT,
        "\"model.input: %s\" is a record of %zu numbers, but the data has %zu features", text,
        in->planes * in->height * in->width, features);
}

tacit_status tacit_net_of_options(tacit_net **out, const tacit_model_options *o, size_t features,
                                  tacit_error *err)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    size_t count;
    tacit_volume in;
    tacit_status status = tacit_layers_parse(o->layers, layers, &count, err);
    if (status == TACIT_OK)
        status = read_input(&in, o->input, features, err);
    if (status == TACIT_OK)
        status = tacit_net_create(out, in, layers, count, err);
    if (status != TACIT_OK)
        return status;
    const size_t classes = tacit_net_classes(*out);
    if (classes >= 2 && (o->classes == 0 || (size_t)o->classes == classes))
        return TACIT_OK;
    tacit_net_free(*out);
    *out = NULL;
    return tacit_fail(err, TACIT_EINPUT,
                      "the last of \"model.layers\" has %zu outputs, one for each class; it must "
                      "have two or more, and as many as \"model.classes\" if that is set",
                      classes);
}

void tacit_model_start(const tacit_model *model, const uint8_t name[TACIT_START_NAME],
                       tacit_public *out)
{
    tacit_public_zero(out);
    if (!model->net)
        return;
    tacit_random random;
    tacit_stream stream;
    uint64_t half[2];
    memcpy(half, name, sizeof half);
    tacit_random_init(&random, half[0]);
    tacit_stream_open(&stream, &random, half[1], TACIT_FOR_START, 0);
    tacit_net_start(model->net, &stream, tacit_vector_segment(tacit_vector_of_public(out), 0));
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
}

/* ---- scores ---- */

typedef struct judge {
    const tacit_model *model;
    tacit_net_room *room;
    const float *theta;
    const float *row[ROWS];
    float *scores; /* ROWS x classes */
} judge;

/* log sum exp of the scores less the own one; INFINITY if they are not finite. */
static double lost(size_t classes, const float *score, size_t own)
{
    double most = (double)score[0];
    for (size_t k = 1; k < classes; k++)
        most = fmax(most, (double)score[k]);
    double sum = exp((double)score[0] - most);
    for (size_t k = 1; k < classes; k++)
        sum += exp((double)score[k] - most);
    const double loss = log(sum) + most - (double)score[own];
    return isfinite(loss) ? loss : INFINITY;
}

/* The own class alone has the largest score: a model that has run away tells nobody right. */
static bool right(size_t classes, const float *score, size_t own)
{
    for (size_t k = 0; k < classes; k++)
        if (!(score[own] > score[k]) && k != own)
            return false;
    return isfinite(score[own]);
}

static double judge_some(judge *j, const tacit_batch *batch, size_t from, size_t count, bool score)
{
    const size_t p = j->model->features, classes = j->model->classes;
    const float *x = batch->x, *y = batch->y;
    double sum = 0;
    for (size_t r = 0; r < count; r++)
        j->row[r] = x + (from + r) * p;
    tacit_net_scores(j->model->net, j->room, j->theta, count, j->row, j->scores);
    for (size_t r = 0; r < count; r++) {
        const float *own = j->scores + r * classes;
        const size_t label = (size_t)y[from + r];
        sum += score ? right(classes, own, label) : lost(classes, own, label);
    }
    return sum;
}

double tacit_net_sum(const tacit_model *model, const tacit_shard *shard, const tacit_secret *at,
                     bool score)
{
    judge j = {.model = model};
    float *zero = at ? NULL : calloc(model->parameters, sizeof *zero);
    double sum = NAN;
    j.scores = malloc(ROWS * model->classes * sizeof *j.scores);
    j.theta = at ? tacit_vector_segment(tacit_vector_of_secret(at), 0) : zero;
    if (!j.scores || !j.theta || tacit_net_room_create(&j.room, model->net, NULL) != TACIT_OK)
        goto out;
    tacit_batch batch;
    sum = 0;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t from = 0; from < batch.rows; from += ROWS)
            sum += judge_some(&j, &batch, from, batch.rows - from < ROWS ? batch.rows - from : ROWS,
                              score);
out:
    tacit_net_room_free(j.room);
    free(j.scores);
    free(zero);
    return sum;
}
