/* SPDX-License-Identifier: Apache-2.0 */
/* The largest of each square of side x side pixels, of equals the first; rows and columns that fill
 * no square are left out. Which one it was is kept. */
#include <string.h>

#include "model/net_layer.h"

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    const size_t side = layer->is.width;
    if (side == 0 || side > 15)
        return tacit_fail(err, TACIT_EINPUT, "\"pool\" takes squares of 1 to 15 pixels, not %zu",
                          side);
    if (side > layer->in.height || side > layer->in.width)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"pool %zu\" does not fit planes of %zu x %zu: use a smaller square",
                          side, layer->in.height, layer->in.width);
    layer->out = (tacit_volume){layer->in.planes, layer->in.height / side, layer->in.width / side};
    layer->kept_row = layer->out.planes * layer->out.height * layer->out.width;
    return TACIT_OK;
}

static int32_t *kept(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    return (int32_t *)(void *)(pass->room + layer->kept + record * layer->kept_row);
}

/* One plane, squares of any size. */
static void pool(const tacit_net_layer *layer, const float *x, float *y, int32_t *which)
{
    const size_t side = layer->is.width, width = layer->in.width;
    for (size_t row = 0; row < layer->out.height; row++)
        for (size_t column = 0; column < layer->out.width; column++) {
            const float *corner = x + row * side * width + column * side;
            size_t best = 0;
            for (size_t k = 1; k < side * side; k++)
                if (corner[k / side * width + k % side] > corner[best / side * width + best % side])
                    best = k;
            *y++ = corner[best / side * width + best % side];
            *which++ = (int32_t)best;
        }
}

static void unpool(const tacit_net_layer *layer, const float *dy, const int32_t *which, float *dx)
{
    const size_t side = layer->is.width, width = layer->in.width;
    memset(dx, 0, layer->in.height * width * sizeof *dx);
    for (size_t row = 0; row < layer->out.height; row++)
        for (size_t column = 0; column < layer->out.width; column++) {
            const size_t best = (size_t)*which++;
            dx[(row * side + best / side) * width + column * side + best % side] = *dy++;
        }
}

static void forward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const size_t in = layer->in.height * layer->in.width;
    const size_t out = layer->out.height * layer->out.width;
    for (size_t r = 0; r < pass->records; r++) {
        const float *x = pass->room + layer->x + r * layer->x_row;
        float *y = pass->room + layer->y + r * layer->y_row;
        int32_t *which = kept(layer, pass, r);
        for (size_t c = 0; c < layer->in.planes; c++)
            if (layer->is.width == 2)
                pass->kernels->pool2(layer->in.height, layer->in.width, x + c * in, y + c * out,
                                     which + c * out);
            else
                pool(layer, x + c * in, y + c * out, which + c * out);
    }
}

static void backward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const size_t in = layer->in.height * layer->in.width;
    const size_t out = layer->out.height * layer->out.width;
    for (size_t r = 0; r < pass->records; r++) {
        float *dx = pass->room + layer->dx + r * layer->x_row;
        const float *dy = pass->room + layer->dy + r * layer->y_row;
        const int32_t *which = kept(layer, pass, r);
        for (size_t c = 0; c < layer->in.planes; c++)
            if (layer->is.width == 2)
                pass->kernels->unpool2(layer->in.height, layer->in.width, dy + c * out,
                                       which + c * out, dx + c * in);
            else
                unpool(layer, dy + c * out, which + c * out, dx + c * in);
    }
}

const tacit_layer_ops tacit_layer_pool = {
    .name = "pool", .plan = plan, .forward = forward, .backward = backward};
