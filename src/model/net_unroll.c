/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of a convolution as the columns of a matrix, and back. */
#include <string.h>

#include "model/net_layer.h"

/* Output columns at which a tap `column` of the window lies inside the input: from .. to - 1. */
typedef struct reach {
    size_t from, to;
} reach;

static reach within(size_t tap, size_t pad, size_t step, size_t in, size_t out)
{
    /* at * step + tap - pad in 0 .. in - 1 */
    const size_t from = tap >= pad ? 0 : (pad - tap + step - 1) / step;
    const size_t last = in + pad > tap ? (in + pad - tap - 1) / step + 1 : 0;
    const size_t to = last < out ? last : out;
    return (reach){from < to ? from : to, to};
}

/* One tap of one plane: a row of the matrix. */
static void see(const tacit_net_layer *conv, size_t high, size_t wide, const float *plane,
                float *column)
{
    const size_t pad = conv->is.pad, step = conv->is.step;
    const reach down = within(high, pad, step, conv->in.height, conv->out.height);
    const reach along = within(wide, pad, step, conv->in.width, conv->out.width);
    memset(column, 0, conv->out.height * conv->out.width * sizeof *column);
    for (size_t y = down.from; y < down.to; y++) {
        const float *from = plane + (y * step + high - pad) * conv->in.width;
        float *to = column + y * conv->out.width;
        for (size_t x = along.from; x < along.to; x++)
            to[x] = from[x * step + wide - pad];
    }
}

static void give_back(const tacit_net_layer *conv, size_t high, size_t wide, const float *column,
                      float *plane)
{
    const size_t pad = conv->is.pad, step = conv->is.step;
    const reach down = within(high, pad, step, conv->in.height, conv->out.height);
    const reach along = within(wide, pad, step, conv->in.width, conv->out.width);
    for (size_t y = down.from; y < down.to; y++) {
        float *to = plane + (y * step + high - pad) * conv->in.width;
        const float *from = column + y * conv->out.width;
        for (size_t x = along.from; x < along.to; x++)
            to[x * step + wide - pad] += from[x];
    }
}

void tacit_net_unroll(const tacit_net_layer *conv, const float *x, size_t row, float *columns)
{
    for (size_t i = 0; i < conv->in.planes; i++, x += conv->in.height * conv->in.width)
        for (size_t high = 0; high < conv->is.high; high++)
            for (size_t wide = 0; wide < conv->is.wide; wide++, columns += row)
                see(conv, high, wide, x, columns);
}

void tacit_net_roll(const tacit_net_layer *conv, size_t row, const float *columns, float *x)
{
    for (size_t i = 0; i < conv->in.planes; i++, x += conv->in.height * conv->in.width)
        for (size_t high = 0; high < conv->is.high; high++)
            for (size_t wide = 0; wide < conv->is.wide; wide++, columns += row)
                give_back(conv, high, wide, columns, x);
}
