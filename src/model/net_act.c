/* SPDX-License-Identifier: Apache-2.0 */
/* Curves number by number: y = f(x), and f'(x) is left in x; dx = f'(x) dy. */
#include "model/net_layer.h"

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    (void)err;
    layer->out = layer->in;
    return TACIT_OK;
}

static void forward(const tacit_net_layer *layer, const tacit_pass *pass,
                    void (*curve)(size_t n, float *x, float *y))
{
    for (size_t r = 0; r < pass->records; r++)
        curve(layer->inputs, pass->room + layer->x + r * layer->x_row,
              pass->room + layer->y + r * layer->y_row);
}

static void forward_relu(const tacit_net_layer *layer, const tacit_pass *pass)
{
    forward(layer, pass, pass->kernels->relu);
}

static void forward_tanh(const tacit_net_layer *layer, const tacit_pass *pass)
{
    forward(layer, pass, pass->kernels->tanh);
}

static void forward_mish(const tacit_net_layer *layer, const tacit_pass *pass)
{
    forward(layer, pass, pass->kernels->mish);
}

static void backward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    for (size_t r = 0; r < pass->records; r++)
        pass->kernels->times(layer->inputs, pass->room + layer->dx + r * layer->x_row,
                             pass->room + layer->dy + r * layer->y_row);
}

const tacit_layer_ops tacit_layer_relu = {
    .name = "relu", .plan = plan, .forward = forward_relu, .backward = backward};
const tacit_layer_ops tacit_layer_tanh = {
    .name = "tanh", .plan = plan, .forward = forward_tanh, .backward = backward};
const tacit_layer_ops tacit_layer_mish = {
    .name = "mish", .plan = plan, .forward = forward_mish, .backward = backward};
