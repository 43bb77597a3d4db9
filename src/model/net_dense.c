/* SPDX-License-Identifier: Apache-2.0 */
/* y = W x + b. A record's gradient is dy (x, 1)^T: its squared norm is |dy|^2 (|x|^2 + 1). */
#include "model/net_layer.h"

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    if (layer->is.width == 0)
        return tacit_fail(err, TACIT_EINPUT, "\"dense\" needs at least one output");
    layer->out = (tacit_volume){layer->is.width, 1, 1};
    layer->parameters = layer->is.width * (layer->inputs + 1);
    layer->own_size = (tacit_net_rounded(layer->is.width) * layer->inputs +
                       tacit_net_rounded(layer->inputs) * layer->is.width);
    return TACIT_OK;
}

static void start(const tacit_net_layer *layer, tacit_stream *stream, float *theta)
{
    tacit_net_uniform(stream, layer->inputs, layer->parameters, theta);
}

/* Panels of W^T, for x W^T, and then of W, for dy W. */
static void prepare(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const float *w = pass->theta + layer->theta;
    float *up = pass->room + layer->own;
    float *down = up + tacit_net_rounded(layer->outputs) * layer->inputs;
    pass->kernels->pack(layer->inputs, layer->outputs, w, 1, layer->inputs, up);
    if (layer->wants_dx)
        pass->kernels->pack(layer->outputs, layer->inputs, w, layer->inputs, 1, down);
}

/* Whole panels are written: what lies between the last output and the next row is zero. */
static void forward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const float *bias = pass->theta + layer->theta + layer->inputs * layer->outputs;
    float *y = pass->room + layer->y;
    for (size_t r = 0; r < pass->records; r++)
        for (size_t k = 0; k < layer->y_row; k++)
            y[r * layer->y_row + k] = k < layer->outputs ? bias[k] : 0;
    pass->kernels->product(&(tacit_product){.m = pass->records,
                                            .n = tacit_net_rounded(layer->outputs),
                                            .k = layer->inputs,
                                            .a = pass->room + layer->x,
                                            .a_step = layer->x_row,
                                            .b = pass->room + layer->own,
                                            .b_row = TACIT_NET_PANEL,
                                            .b_panel = TACIT_NET_PANEL * layer->inputs,
                                            .c = y,
                                            .c_row = layer->y_row,
                                            .add = true});
}

static void norms(const tacit_net_layer *layer, const tacit_pass *pass, double *square)
{
    const float *x = pass->room + layer->x, *dy = pass->room + layer->dy;
    for (size_t r = 0; square && r < pass->records; r++) {
        const double in = pass->kernels->square(layer->inputs, x + r * layer->x_row);
        const double out = pass->kernels->square(layer->outputs, dy + r * layer->y_row);
        square[r] += out * (in + 1);
    }
}

static void backward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const float *own = pass->room + layer->own;
    pass->kernels->product(
        &(tacit_product){.m = pass->records,
                         .n = tacit_net_rounded(layer->inputs),
                         .k = layer->outputs,
                         .a = pass->room + layer->dy,
                         .a_step = layer->y_row,
                         .b = own + tacit_net_rounded(layer->outputs) * layer->inputs,
                         .b_row = TACIT_NET_PANEL,
                         .b_panel = TACIT_NET_PANEL * layer->outputs,
                         .c = pass->room + layer->dx,
                         .c_row = layer->x_row});
}

static void add(const tacit_net_layer *layer, const tacit_pass *pass, const float *factor, float *g)
{
    float *dy = pass->room + layer->dy;
    float *bias = g + layer->inputs * layer->outputs;
    for (size_t r = 0; r < pass->records; r++)
        for (size_t k = 0; k < layer->outputs; k++)
            bias[k] += dy[r * layer->y_row + k] *= factor[r];
    pass->kernels->product(&(tacit_product){.m = layer->outputs,
                                            .n = layer->inputs,
                                            .k = pass->records,
                                            .a = dy,
                                            .a_step = layer->y_row,
                                            .a_by_columns = true,
                                            .b = pass->room + layer->x,
                                            .b_row = layer->x_row,
                                            .b_panel = TACIT_NET_PANEL,
                                            .c = g,
                                            .c_row = layer->inputs,
                                            .add = true});
}

const tacit_layer_ops tacit_layer_dense = {.name = "dense",
                                           .keeps_input = true,
                                           .plan = plan,
                                           .start = start,
                                           .prepare = prepare,
                                           .forward = forward,
                                           .norms = norms,
                                           .backward = backward,
                                           .add = add};
