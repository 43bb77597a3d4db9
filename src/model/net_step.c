/* SPDX-License-Identifier: Apache-2.0 */
/* A lot through the net, tile by tile: forward, loss, back with norms on the way, factors, sums. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "model/net_layer.h"

/* Factors, and slopes times factors, are rounded to floats: by no more than this together, so that
 * what counts of a record is never longer than the clip. */
#define SHY (1 - 0x1p-22)

struct tacit_net_room {
    size_t bytes;
    float *floats; /* of the plan: tacit_net.room */
    double *loss;  /* of each record of a tile */
    bool *right;
};

size_t tacit_net_room_bytes(const tacit_net *net)
{
    return net->room * sizeof(float);
}

tacit_status tacit_net_room_create(tacit_net_room **out, const tacit_net *net, tacit_error *err)
{
    tacit_net_room *room = calloc(1, sizeof *room);
    const size_t bytes = (tacit_net_room_bytes(net) + 63) / 64 * 64; /* as aligned_alloc wants */
    *out = NULL;
    if (!room)
        return tacit_out_of_memory(err);
    room->bytes = bytes;
    room->floats = aligned_alloc(64, bytes);
    room->loss = calloc(net->tile, sizeof *room->loss);
    room->right = calloc(net->tile, sizeof *room->right);
    if (!room->floats || !room->loss || !room->right) {
        room->bytes = 0;
        tacit_net_room_free(room);
        return tacit_out_of_memory(err);
    }
    memset(room->floats, 0, bytes);
    *out = room;
    return TACIT_OK;
}

void tacit_net_room_free(tacit_net_room *room)
{
    if (!room)
        return;
    if (room->bytes)
        sodium_memzero(room->floats, room->bytes);
    free(room->floats);
    free(room->loss);
    free(room->right);
    free(room);
}

/* ---- one tile ---- */

static tacit_pass begin(const tacit_net *net, const tacit_net_room *room, const float *theta)
{
    const tacit_pass pass = {
        .net = net, .kernels = tacit_net_kernels_get(), .theta = theta, .room = room->floats};
    for (size_t k = 0; k < net->count; k++)
        if (net->layer[k].ops->prepare)
            net->layer[k].ops->prepare(&net->layer[k], &pass);
    return pass;
}

static void forward(const tacit_pass *pass, const float *const *row)
{
    const tacit_net_layer *layer = pass->net->layer;
    for (size_t r = 0; r < pass->records; r++)
        memcpy(pass->room + layer->x + r * layer->x_row, row[r], layer->inputs * sizeof **row);
    for (size_t k = 0; k < pass->net->count; k++)
        layer[k].ops->forward(&layer[k], pass);
}

static void backward(const tacit_pass *pass, double *square)
{
    for (size_t k = pass->net->count; k-- > 0;) {
        const tacit_net_layer *layer = &pass->net->layer[k];
        if (layer->ops->norms)
            layer->ops->norms(layer, pass, square);
        if (layer->wants_dx)
            layer->ops->backward(layer, pass);
    }
}

static void add(const tacit_pass *pass, const float *factor, float *sum)
{
    for (size_t k = 0; k < pass->net->count; k++) {
        const tacit_net_layer *layer = &pass->net->layer[k];
        if (layer->ops->add)
            layer->ops->add(layer, pass, factor, sum + layer->theta);
    }
}

/* A record with a number that is not finite: 0 times it would not be 0, so all of it goes. */
static void erase(const tacit_pass *pass, size_t record)
{
    for (size_t k = 0; k < pass->net->count; k++) {
        const tacit_net_layer *layer = &pass->net->layer[k];
        memset(pass->room + layer->x + record * layer->x_row, 0, layer->x_row * sizeof(float));
        memset(pass->room + layer->dy + record * layer->y_row, 0, layer->y_row * sizeof(float));
        memset(pass->room + layer->kept + record * layer->kept_row, 0,
               layer->kept_row * sizeof(float));
    }
}

/* How much of each record's gradient counts. */
static void weigh(const tacit_pass *pass, const tacit_net_room *room, const double *square,
                  float clip, float *factor, tacit_net_report *report)
{
    for (size_t r = 0; r < pass->records; r++) {
        const bool fine = isfinite(room->loss[r]) && (!square || isfinite(square[r]));
        const double norm = square && fine ? sqrt(square[r]) : 0;
        factor[r] = fine ? 1 : 0;
        if (!fine) {
            report->broken++;
            erase(pass, r);
            continue;
        }
        report->loss += room->loss[r];
        report->right += room->right[r];
        if (norm > (double)clip) {
            report->clipped++;
            factor[r] = (float)((double)clip * SHY / norm);
        }
    }
}

/* Up and down again, with `most` records at most; squared norms if asked for. */
static void through(tacit_pass *pass, const tacit_net_room *room, const tacit_net_lot *lot,
                    size_t from, size_t most, double *square)
{
    const tacit_net *net = pass->net;
    const tacit_net_layer *last = &net->layer[net->count - 1];
    pass->records = lot->count - from < most ? lot->count - from : most;
    forward(pass, lot->row + from);
    tacit_net_loss(pass, last->outputs, last->y_row, pass->room + last->y, lot->label + from,
                   room->loss, room->right);
    if (square)
        memset(square, 0, pass->records * sizeof *square);
    backward(pass, square);
}

/* ---- a lot ---- */

static tacit_status check_labels(const tacit_net *net, const tacit_net_lot *lot, tacit_error *err)
{
    for (size_t r = 0; r < lot->count; r++)
        if (lot->label[r] >= tacit_net_classes(net))
            return tacit_fail(err, TACIT_EINPUT,
                              "record %zu of the lot has label %u, but the net has classes 0 to "
                              "%zu: give its last layer more outputs",
                              r, lot->label[r], tacit_net_classes(net) - 1);
    return TACIT_OK;
}

tacit_status tacit_net_gradient(const tacit_net *net, tacit_net_room *room, const float *theta,
                                const tacit_net_lot *lot, float clip, float *sum,
                                tacit_net_report *report, tacit_error *err)
{
    tacit_status status = check_labels(net, lot, err);
    if (status)
        return status;
    *report = (tacit_net_report){0};
    memset(sum, 0, net->parameters * sizeof *sum);
    if (lot->count == 0)
        return TACIT_OK;
    tacit_pass pass = begin(net, room, theta);
    float *factor = room->floats + net->factors;
    double *square = isinf(clip) ? NULL : (double *)(void *)(room->floats + net->squares);
    for (size_t from = 0; from < lot->count; from += net->tile) {
        through(&pass, room, lot, from, net->tile, square);
        weigh(&pass, room, square, clip, factor, report);
        add(&pass, factor, sum);
    }
    if (!square && !isfinite(pass.kernels->square(net->parameters, sum)))
        return tacit_fail(err, TACIT_EINPUT,
                          "the gradient is not finite: the model has run "
                          "away, or a record has a "
                          "number that is not finite; use smaller steps or a clip");
    return TACIT_OK;
}

/* total += part, part = 0: a few thousand at a time, so that zeros are written where the cache has
 * just been. */
static void carry(size_t count, float *restrict part, double *restrict total)
{
    enum { AT_ONCE = 2048 };
    for (size_t at = 0; at < count; at += AT_ONCE) {
        const size_t end = count - at < AT_ONCE ? count : at + AT_ONCE;
        for (size_t k = at; k < end; k++)
            total[k] += (double)part[k];
        memset(part + at, 0, (end - at) * sizeof *part);
    }
}

tacit_status tacit_net_total(const tacit_net *net, tacit_net_room *room, const float *theta,
                             const tacit_net_lot *lot, float clip, float *part, double *total,
                             tacit_net_report *report, tacit_error *err)
{
    tacit_status status = check_labels(net, lot, err);
    *report = (tacit_net_report){0};
    if (status || lot->count == 0)
        return status;
    tacit_pass pass = begin(net, room, theta);
    float *factor = room->floats + net->factors;
    double *square = (double *)(void *)(room->floats + net->squares);
    const size_t tile = net->tile < TACIT_NET_CHAIN ? net->tile : TACIT_NET_CHAIN;
    size_t chain = 0;
    pass.strict = true;
    memset(part, 0, net->parameters * sizeof *part);
    for (size_t from = 0; from < lot->count; from += tile) {
        if (chain + tile > TACIT_NET_CHAIN) {
            carry(net->parameters, part, total);
            chain = 0;
        }
        through(&pass, room, lot, from, tile, square);
        weigh(&pass, room, square, clip, factor, report);
        add(&pass, factor, part);
        chain += pass.records;
    }
    carry(net->parameters, part, total);
    return TACIT_OK;
}

/* A number of `part` is a chain of so many multiply-adds at most, each rounded once, and a product
 * may begin from zero and be added at the end: (chain + 2) u times the sum of what is added, in
 * size; the sum of sizes over records is at most `most` clips, in any norm. What doubles lose is
 * less than the last term. */
double tacit_net_total_error(size_t most)
{
    return (double)most * (TACIT_NET_CHAIN + 2) * 0x1p-24 * (1 + 0x1p-16);
}

tacit_status tacit_net_norms(const tacit_net *net, tacit_net_room *room, const float *theta,
                             const tacit_net_lot *lot, double *norm, tacit_error *err)
{
    tacit_status status = check_labels(net, lot, err);
    if (status || lot->count == 0)
        return status;
    tacit_pass pass = begin(net, room, theta);
    for (size_t from = 0; from < lot->count; from += net->tile)
        through(&pass, room, lot, from, net->tile, norm + from);
    for (size_t r = 0; r < lot->count; r++)
        norm[r] = sqrt(norm[r]);
    return TACIT_OK;
}

void tacit_net_scores(const tacit_net *net, tacit_net_room *room, const float *theta, size_t count,
                      const float *const *row, float *scores)
{
    const tacit_net_layer *last = &net->layer[net->count - 1];
    tacit_pass pass = begin(net, room, theta);
    for (size_t from = 0; from < count; from += net->tile) {
        pass.records = count - from < net->tile ? count - from : net->tile;
        forward(&pass, row + from);
        for (size_t r = 0; r < pass.records; r++)
            memcpy(scores + (from + r) * last->outputs, pass.room + last->y + r * last->y_row,
                   last->outputs * sizeof *scores);
    }
}
