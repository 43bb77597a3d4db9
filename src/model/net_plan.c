/* SPDX-License-Identifier: Apache-2.0 */
/* From a list of layers to a net: which fit together, what each needs, and where it lies in the
 * room. */
#include <math.h>
#include <stdlib.h>

#include "model/net_layer.h"

static const tacit_layer_ops *const kinds[] = {
    [TACIT_LAYER_DENSE] = &tacit_layer_dense, [TACIT_LAYER_CONV] = &tacit_layer_conv,
    [TACIT_LAYER_POOL] = &tacit_layer_pool,   [TACIT_LAYER_NORM] = &tacit_layer_norm,
    [TACIT_LAYER_RELU] = &tacit_layer_relu,   [TACIT_LAYER_TANH] = &tacit_layer_tanh,
    [TACIT_LAYER_MISH] = &tacit_layer_mish,   [TACIT_LAYER_SPLIT] = &tacit_layer_split,
    [TACIT_LAYER_JOIN] = &tacit_layer_join};
#define KINDS (sizeof kinds / sizeof *kinds)

enum {
    SIDE_MOST = 1 << 16,   /* of anything a person says: then products of four fit a size_t */
    VOLUME_MOST = 1 << 24, /* numbers of a record between two layers */
    MODEL_MOST = 1 << 28,  /* parameters */
    ROOM_MOST = 1 << 29,   /* floats of a layer's own and shared room */
    TILE_LEAST = 16,       /* records, so that fetching large weights is worth while */
    TILE_MOST = 48,
    TILE_FLOATS = 256 * 1024 /* of the room, for a tile: what the second-level cache holds */
};

static size_t volume(tacit_volume v)
{
    return v.planes * v.height * v.width;
}

static bool moderate(tacit_volume v)
{
    return v.planes && v.height && v.width && v.planes <= SIDE_MOST && v.height <= SIDE_MOST &&
           v.width <= SIDE_MOST && volume(v) <= VOLUME_MOST;
}

static bool sensible(const tacit_layer *is)
{
    return (size_t)is->kind < KINDS && is->width <= SIDE_MOST && is->high <= SIDE_MOST &&
           is->wide <= SIDE_MOST && is->pad <= SIDE_MOST && is->step <= SIDE_MOST;
}

/* Layer `at` by its number and name, before what is wrong with it. */
static tacit_status located(tacit_error *err, tacit_status status, size_t at)
{
    if (!status || !err)
        return status;
    const tacit_error inner = *err;
    return tacit_fail(err, status, "layer %zu: %.500s", at + 1, inner.text);
}

static tacit_status plan_layer(tacit_net_layer *layer, tacit_error *err)
{
    layer->inputs = volume(layer->in);
    tacit_status status = layer->ops->plan(layer, err);
    if (status)
        return status;
    layer->outputs = volume(layer->out);
    if (!moderate(layer->out) || layer->parameters > MODEL_MOST || layer->own_size > ROOM_MOST ||
        layer->shared_size > ROOM_MOST)
        return tacit_fail(err, TACIT_EINPUT, "\"%s\" is too large: use fewer outputs or planes",
                          layer->ops->name);
    return TACIT_OK;
}

/* Every join finds its split, which is still open, and adds alike to alike. */
static tacit_status pair(tacit_net *net, tacit_error *err)
{
    size_t open[TACIT_LAYERS_MOST], depth = 0;
    for (size_t k = 0; k < net->count; k++) {
        tacit_net_layer *layer = &net->layer[k];
        if (layer->is.kind == TACIT_LAYER_SPLIT)
            open[depth++] = k;
        if (layer->is.kind != TACIT_LAYER_JOIN)
            continue;
        if (depth == 0)
            return tacit_fail(err, TACIT_EINPUT, "layer %zu: \"join\" without a \"split\"", k + 1);
        tacit_net_layer *split = &net->layer[open[--depth]];
        if (split->in.planes != layer->in.planes || split->in.height != layer->in.height ||
            split->in.width != layer->in.width)
            return tacit_fail(err, TACIT_EINPUT,
                              "layer %zu: \"join\" cannot add %zu x %zu x %zu to the %zu x %zu x "
                              "%zu of its \"split\": between them nothing may change the shape",
                              k + 1, layer->in.planes, layer->in.height, layer->in.width,
                              split->in.planes, split->in.height, split->in.width);
        layer->partner = open[depth];
        split->partner = k;
    }
    return depth ? tacit_fail(err, TACIT_EINPUT, "layer %zu: \"split\" without a \"join\"",
                              open[depth - 1] + 1)
                 : TACIT_OK;
}

static tacit_status plan_layers(tacit_net *net, tacit_volume in, const tacit_layer *layers,
                                tacit_error *err)
{
    if (!moderate(in))
        return tacit_fail(err, TACIT_EINPUT, "records of %zu x %zu x %zu numbers: too many or none",
                          in.planes, in.height, in.width);
    for (size_t k = 0; k < net->count; k++) {
        tacit_net_layer *layer = &net->layer[k];
        if (!sensible(&layers[k]))
            return tacit_fail(err, TACIT_EINPUT, "layer %zu: unknown, or with a size above %d",
                              k + 1, SIDE_MOST);
        *layer = (tacit_net_layer){.ops = kinds[layers[k].kind], .is = layers[k], .in = in};
        tacit_status status = located(err, plan_layer(layer, err), k);
        if (status)
            return status;
        layer->theta = net->parameters;
        layer->wants_dx = net->parameters > 0;
        net->parameters += layer->parameters;
        in = layer->out;
    }
    if (net->parameters == 0 || net->parameters > MODEL_MOST)
        return tacit_fail(err, TACIT_EINPUT, "a net of %zu parameters: it needs 1 to %d",
                          net->parameters, MODEL_MOST);
    return pair(net, err);
}

/* Floats of the room, dealt out from the beginning; each piece on a cache line of its own. */
static size_t deal(size_t *used, size_t floats)
{
    const size_t at = *used;
    *used += tacit_net_rounded(floats);
    return at;
}

/* What a record takes of the room. */
static size_t record_floats(const tacit_net *net)
{
    size_t sum = 0;
    for (size_t k = 0; k < net->count; k++) {
        const tacit_net_layer *layer = &net->layer[k];
        sum += tacit_net_row(layer->inputs) * (layer->ops->keeps_input ? 2 : 1) + layer->kept_row;
    }
    return sum + tacit_net_row(net->layer[net->count - 1].outputs);
}

static size_t tile_of(const tacit_net *net)
{
    const size_t fit = TILE_FLOATS / record_floats(net);
    return fit < TILE_LEAST ? TILE_LEAST : fit > TILE_MOST ? TILE_MOST : fit;
}

/* What flows into a layer, and back out of it; its own; returns floats used. */
static size_t lay_out_layer(tacit_net_layer *layer, size_t tile, size_t used)
{
    layer->x_row = tacit_net_row(layer->inputs);
    layer->x = deal(&used, tile * layer->x_row);
    const bool apart = layer->wants_dx && layer->ops->keeps_input;
    layer->dx = apart ? deal(&used, tile * layer->x_row) : layer->x;
    layer->kept = deal(&used, tile * layer->kept_row);
    layer->own = deal(&used, layer->own_size);
    return used;
}

static void lay_out(tacit_net *net)
{
    tacit_net_layer *last = &net->layer[net->count - 1];
    size_t used = 0, shared = 0;
    net->tile = tile_of(net);
    for (size_t k = 0; k < net->count; k++) {
        used = lay_out_layer(&net->layer[k], net->tile, used);
        shared = shared > net->layer[k].shared_size ? shared : net->layer[k].shared_size;
    }
    for (size_t k = 0; k + 1 < net->count; k++) {
        net->layer[k].y = net->layer[k + 1].x;
        net->layer[k].dy = net->layer[k + 1].dx;
        net->layer[k].y_row = net->layer[k + 1].x_row;
    }
    last->y_row = tacit_net_row(last->outputs);
    last->y = last->dy = deal(&used, net->tile * last->y_row);
    net->factors = deal(&used, net->tile);
    net->squares = deal(&used, net->tile * (sizeof(double) / sizeof(float)));
    for (size_t k = 0; k < net->count; k++)
        net->layer[k].shared = used;
    net->room = used + tacit_net_rounded(shared) + TACIT_NET_PAD;
}

tacit_status tacit_net_create(tacit_net **out, tacit_volume in, const tacit_layer *layers,
                              size_t count, tacit_error *err)
{
    *out = NULL;
    if (count == 0 || count > TACIT_LAYERS_MOST)
        return tacit_fail(err, TACIT_EINPUT, "a net of %zu layers: it needs 1 to %d", count,
                          TACIT_LAYERS_MOST);
    tacit_net *net = calloc(1, sizeof *net + count * sizeof *net->layer);
    if (!net)
        return tacit_out_of_memory(err);
    net->count = count;
    tacit_status status = plan_layers(net, in, layers, err);
    if (status) {
        free(net);
        return status;
    }
    lay_out(net);
    *out = net;
    return TACIT_OK;
}

void tacit_net_free(tacit_net *net)
{
    free(net);
}

size_t tacit_net_inputs(const tacit_net *net)
{
    return net->layer[0].inputs;
}

tacit_volume tacit_net_input(const tacit_net *net)
{
    return net->layer[0].in;
}

size_t tacit_net_layers(const tacit_net *net)
{
    return net->count;
}

tacit_layer tacit_net_layer_at(const tacit_net *net, size_t at, tacit_volume *out,
                               size_t *parameters)
{
    *out = net->layer[at].out;
    *parameters = net->layer[at].parameters;
    return net->layer[at].is;
}

size_t tacit_net_classes(const tacit_net *net)
{
    return net->layer[net->count - 1].outputs;
}

size_t tacit_net_parameters(const tacit_net *net)
{
    return net->parameters;
}

void tacit_net_uniform(tacit_stream *stream, size_t inputs, size_t count, float *theta)
{
    const double bound = 1 / sqrt((double)inputs);
    for (size_t k = 0; k < count; k++)
        theta[k] = (float)(bound * (2 * tacit_stream_unit(stream) - 1));
}

void tacit_net_start(const tacit_net *net, tacit_stream *stream, float *theta)
{
    for (size_t k = 0; k < net->count; k++)
        if (net->layer[k].ops->start)
            net->layer[k].ops->start(&net->layer[k], stream, theta + net->layer[k].theta);
}
