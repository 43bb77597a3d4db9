/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group norm: planes in groups; within a record and a group u = (x - mean) / sqrt(variance + 1e-5),
 * y = scale[plane] u + shift[plane]. u is left in x. With s = scale dy and means over the group,
 *
 *     dx = (s - mean(s) - u mean(s u)) / sqrt(variance + 1e-5)
 *
 * Its own gradient is small (two numbers a plane), so each record's is kept.
 */
#include <math.h>

#include "model/net_layer.h"

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    const size_t groups = layer->is.width, planes = layer->in.planes;
    if (groups == 0 || planes % groups)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"norm %zu\" cannot share %zu planes: use a number that divides them",
                          groups, planes);
    layer->out = layer->in;
    layer->parameters = 2 * planes;
    layer->kept_row = 2 * planes + groups; /* gradient, and 1 / sqrt(variance) of each group */
    return TACIT_OK;
}

static void start(const tacit_net_layer *layer, tacit_stream *stream, float *theta)
{
    (void)stream;
    for (size_t k = 0; k < layer->parameters; k++)
        theta[k] = k < layer->in.planes ? 1 : 0;
}

static float *kept(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    return pass->room + layer->kept + record * layer->kept_row;
}

/* x becomes u; returns 1 / sqrt(variance + 1e-5). */
static float normalise(size_t n, float *x)
{
    double sum = 0, square = 0;
    for (size_t k = 0; k < n; k++)
        sum += (double)x[k];
    const double mean = sum / (double)n;
    for (size_t k = 0; k < n; k++)
        square += ((double)x[k] - mean) * ((double)x[k] - mean);
    const double inverse = 1 / sqrt(square / (double)n + 1e-5);
    for (size_t k = 0; k < n; k++)
        x[k] = (float)(((double)x[k] - mean) * inverse);
    return (float)inverse;
}

static void forward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const size_t planes = layer->in.planes, pixels = layer->in.height * layer->in.width;
    const size_t groups = layer->is.width, size = planes / groups * pixels;
    const float *scale = pass->theta + layer->theta, *shift = scale + planes;
    for (size_t r = 0; r < pass->records; r++) {
        float *x = pass->room + layer->x + r * layer->x_row;
        float *y = pass->room + layer->y + r * layer->y_row;
        for (size_t j = 0; j < groups; j++)
            kept(layer, pass, r)[2 * planes + j] = normalise(size, x + j * size);
        for (size_t c = 0; c < planes; c++)
            for (size_t k = c * pixels; k < (c + 1) * pixels; k++)
                y[k] = scale[c] * x[k] + shift[c];
    }
}

static void norms(const tacit_net_layer *layer, const tacit_pass *pass, double *square)
{
    const size_t planes = layer->in.planes, pixels = layer->in.height * layer->in.width;
    for (size_t r = 0; r < pass->records; r++) {
        const float *u = pass->room + layer->x + r * layer->x_row;
        const float *dy = pass->room + layer->dy + r * layer->y_row;
        float *own = kept(layer, pass, r);
        for (size_t c = 0; c < planes; c++) {
            double scale = 0, shift = 0;
            for (size_t k = c * pixels; k < (c + 1) * pixels; k++) {
                scale += (double)dy[k] * (double)u[k];
                shift += (double)dy[k];
            }
            own[c] = (float)scale;
            own[planes + c] = (float)shift;
        }
        if (square)
            square[r] += pass->kernels->square(2 * planes, own);
    }
}

/* One group: dx in place of u. */
static void group_back(size_t planes, size_t pixels, const float *scale, float inverse,
                       const float *dy, float *u)
{
    double mean = 0, along = 0;
    for (size_t k = 0; k < planes * pixels; k++) {
        const double s = (double)scale[k / pixels] * (double)dy[k];
        mean += s;
        along += s * (double)u[k];
    }
    mean /= (double)(planes * pixels);
    along /= (double)(planes * pixels);
    for (size_t k = 0; k < planes * pixels; k++) {
        const double s = (double)scale[k / pixels] * (double)dy[k];
        u[k] = (float)((s - mean - (double)u[k] * along) * (double)inverse);
    }
}

static void backward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const size_t groups = layer->is.width, each = layer->in.planes / groups;
    const size_t pixels = layer->in.height * layer->in.width;
    for (size_t r = 0; r < pass->records; r++)
        for (size_t j = 0; j < groups; j++)
            group_back(each, pixels, pass->theta + layer->theta + j * each,
                       kept(layer, pass, r)[2 * layer->in.planes + j],
                       pass->room + layer->dy + r * layer->y_row + j * each * pixels,
                       pass->room + layer->dx + r * layer->x_row + j * each * pixels);
}

static void add(const tacit_net_layer *layer, const tacit_pass *pass, const float *factor, float *g)
{
    for (size_t r = 0; r < pass->records; r++)
        pass->kernels->axpy(layer->parameters, factor[r], kept(layer, pass, r), g);
}

const tacit_layer_ops tacit_layer_norm = {.name = "norm",
                                          .plan = plan,
                                          .start = start,
                                          .forward = forward,
                                          .norms = norms,
                                          .backward = backward,
                                          .add = add};
