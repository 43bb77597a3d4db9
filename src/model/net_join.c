/* SPDX-License-Identifier: Apache-2.0 */
/* A residual block: y of the join = its x + what the split was given. Going back, the slope at the
 * join's output flows both ways, and the split adds what comes back on both. */
#include <string.h>

#include "model/net_layer.h"

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    (void)err;
    layer->out = layer->in;
    return TACIT_OK;
}

static void copy(const tacit_net_layer *layer, const tacit_pass *pass, size_t to, size_t from)
{
    memcpy(pass->room + to, pass->room + from, pass->records * layer->x_row * sizeof(float));
}

static void plus(const tacit_net_layer *layer, const tacit_pass *pass, size_t to, size_t from)
{
    pass->kernels->axpy(pass->records * layer->x_row, 1, pass->room + from, pass->room + to);
}

static void split(const tacit_net_layer *layer, const tacit_pass *pass)
{
    copy(layer, pass, layer->y, layer->x);
}

static void split_back(const tacit_net_layer *layer, const tacit_pass *pass)
{
    copy(layer, pass, layer->dx, layer->dy);
    plus(layer, pass, layer->dx, pass->net->layer[layer->partner].dy);
}

static void join(const tacit_net_layer *layer, const tacit_pass *pass)
{
    copy(layer, pass, layer->y, layer->x);
    plus(layer, pass, layer->y, pass->net->layer[layer->partner].x);
}

static void join_back(const tacit_net_layer *layer, const tacit_pass *pass)
{
    copy(layer, pass, layer->dx, layer->dy);
}

const tacit_layer_ops tacit_layer_split = {
    .name = "split", .plan = plan, .forward = split, .backward = split_back};
const tacit_layer_ops tacit_layer_join = {
    .name = "join", .plan = plan, .forward = join, .backward = join_back};
