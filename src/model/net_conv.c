/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolutions. With P output pixels, T taps of a window over all planes in and N planes out, U the
 * T x P matrix of what taps see (net_unroll.c) and D = dy as N x P, per record:
 *
 *     y = W U + b 1^T,   dU = W^T D,   dW = D U^T,   db = D 1
 *
 * |dW|^2 by three ways, whichever is cheapest (the clipped sum costs P T N once more, but for the
 * first):
 *
 *     KEEP    each record's dW stays until the factors are known             P T N, and T N of
 * memory GRAM    |D U^T|^2 = sum of (U^T U) * (D^T D), number by number         P^2 (T + N) TWICE
 * dW is made, measured and thrown away                           P T N
 *
 * Few planes out of wide rows, without padding, have kernels of their own (net_planes.h): no U.
 */
#include <string.h>

#include "model/net_layer.h"

enum {
    DIRECT = 1, /* bit: by kernels without U */
    KEEP = 2,
    GRAM = 4,
    TWICE = 8,
    KEEP_MOST = 4096,  /* parameters: a tile of such gradients still fits the caches */
    DIRECT_PLANES = 8, /* beyond, a product is better */
    DIRECT_WIDTH = 16  /* the longest vector of any CPU */
};

static size_t taps(const tacit_net_layer *layer)
{
    return layer->in.planes * layer->is.high * layer->is.wide;
}

static size_t pixels(const tacit_net_layer *layer)
{
    return layer->out.height * layer->out.width;
}

static int choose_way(const tacit_net_layer *layer)
{
    const size_t t = taps(layer), n = layer->out.planes, p = pixels(layer);
    const bool direct = layer->is.pad == 0 && layer->is.step == 1 && n <= DIRECT_PLANES &&
                        layer->out.width >= DIRECT_WIDTH;
    const int norm = layer->parameters <= KEEP_MOST ? KEEP : p * (t + n) < t * n ? GRAM : TWICE;
    return norm | (direct && norm == KEEP ? DIRECT : 0);
}

static tacit_status plan(tacit_net_layer *layer, tacit_error *err)
{
    tacit_layer *is = &layer->is;
    const tacit_volume in = layer->in;
    if (is->width == 0 || is->high == 0 || is->wide == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"conv\" needs planes and a window, say \"conv 3 5x5\"");
    is->step = is->step ? is->step : 1;
    if (is->high > in.height + 2 * is->pad || is->wide > in.width + 2 * is->pad)
        return tacit_fail(err, TACIT_EINPUT,
                          "a window of %zux%zu does not fit planes of %zu x %zu with padding %zu: "
                          "use a smaller window",
                          is->high, is->wide, in.height, in.width, is->pad);
    layer->out = (tacit_volume){is->width, (in.height + 2 * is->pad - is->high) / is->step + 1,
                                (in.width + 2 * is->pad - is->wide) / is->step + 1};
    layer->parameters = is->width * (taps(layer) + 1);
    layer->way = choose_way(layer);
    layer->kept_row = layer->way & KEEP ? layer->parameters : 0;
    /* U; its panels turned, or two matrices of pixels by pixels; at the end a gradient */
    const size_t row = tacit_net_rounded(pixels(layer));
    const size_t turned = tacit_net_rounded(taps(layer)) * pixels(layer);
    const size_t grams = layer->way & GRAM ? 2 * row * pixels(layer) : 0;
    layer->shared_size =
        taps(layer) * row + turned + grams + (layer->way & TWICE ? layer->parameters : 0);
    return TACIT_OK;
}

static void start(const tacit_net_layer *layer, tacit_stream *stream, float *theta)
{
    tacit_net_uniform(stream, taps(layer), layer->parameters, theta);
}

static tacit_planes planes(const tacit_net_layer *layer)
{
    return (tacit_planes){.in = layer->in.planes,
                          .in_height = layer->in.height,
                          .in_width = layer->in.width,
                          .out = layer->out.planes,
                          .height = layer->out.height,
                          .width = layer->out.width,
                          .high = layer->is.high,
                          .wide = layer->is.wide};
}

/* ---- one record ---- */

/* U, in the shared room. */
static float *unrolled(const tacit_net_layer *layer, const tacit_pass *pass, const float *x)
{
    float *u = pass->room + layer->shared;
    tacit_net_unroll(layer, x, u);
    return u;
}

/* y = W U + b */
static void forward_one(const tacit_net_layer *layer, const tacit_pass *pass, const float *x,
                        float *y)
{
    const float *w = pass->theta + layer->theta, *bias = w + taps(layer) * layer->out.planes;
    const size_t p = pixels(layer);
    for (size_t k = 0; k < layer->outputs; k++)
        y[k] = bias[k / p];
    pass->kernels->product(&(tacit_product){.m = layer->out.planes,
                                            .n = p,
                                            .k = taps(layer),
                                            .a = w,
                                            .a_step = taps(layer),
                                            .b = unrolled(layer, pass, x),
                                            .b_row = tacit_net_rounded(p),
                                            .b_panel = TACIT_NET_PANEL,
                                            .c = y,
                                            .c_row = p,
                                            .add = true});
}

/* dx from dU = W^T D */
static void backward_one(const tacit_net_layer *layer, const tacit_pass *pass, const float *d,
                         float *dx)
{
    float *u = pass->room + layer->shared;
    pass->kernels->product(&(tacit_product){.m = taps(layer),
                                            .n = pixels(layer),
                                            .k = layer->out.planes,
                                            .a = pass->theta + layer->theta,
                                            .a_step = taps(layer),
                                            .a_by_columns = true,
                                            .b = d,
                                            .b_row = pixels(layer),
                                            .b_panel = TACIT_NET_PANEL,
                                            .c = u,
                                            .c_row = tacit_net_rounded(pixels(layer))});
    memset(dx, 0, layer->inputs * sizeof *dx);
    tacit_net_roll(layer, u, dx);
}

/* g += D 1: sums over pixels */
static void add_bias(const tacit_net_layer *layer, const tacit_pass *pass, const float *d, float *g)
{
    for (size_t o = 0; o < layer->out.planes; o++, d += pixels(layer))
        g[o] += pass->kernels->sum(pixels(layer), d);
}

/* g += D U^T and D 1 */
static void add_one(const tacit_net_layer *layer, const tacit_pass *pass, const float *x,
                    const float *d, float *g)
{
    const size_t t = taps(layer), p = pixels(layer), row = tacit_net_rounded(p);
    const float *u = unrolled(layer, pass, x);
    float *turned = pass->room + layer->shared + t * row;
    pass->kernels->pack(p, t, u, 1, row, turned);
    pass->kernels->product(&(tacit_product){.m = layer->out.planes,
                                            .n = t,
                                            .k = p,
                                            .a = d,
                                            .a_step = p,
                                            .b = turned,
                                            .b_row = TACIT_NET_PANEL,
                                            .b_panel = TACIT_NET_PANEL * p,
                                            .c = g,
                                            .c_row = t,
                                            .add = true});
    add_bias(layer, pass, d, g + t * layer->out.planes);
}

/* sum of (U^T U) * (D^T D), and |D 1|^2 */
static double gram_square(const tacit_net_layer *layer, const tacit_pass *pass, const float *x,
                          const float *d)
{
    const size_t t = taps(layer), p = pixels(layer), row = tacit_net_rounded(p);
    const float *u = unrolled(layer, pass, x);
    float *seen = pass->room + layer->shared + t * row, *slopes = seen + p * row;
    tacit_product gram = {.m = p,
                          .n = p,
                          .k = t,
                          .a = u,
                          .a_step = row,
                          .a_by_columns = true,
                          .b = u,
                          .b_row = row,
                          .b_panel = TACIT_NET_PANEL,
                          .c = seen,
                          .c_row = p};
    pass->kernels->product(&gram);
    gram.k = layer->out.planes;
    gram.a = gram.b = d;
    gram.a_step = gram.b_row = p;
    gram.c = slopes;
    pass->kernels->product(&gram);
    double sum = 0;
    for (size_t k = 0; k < p * p; k++)
        sum += (double)seen[k] * (double)slopes[k];
    for (size_t o = 0; o < layer->out.planes; o++) {
        const double bias = (double)pass->kernels->sum(p, d + o * p);
        sum += bias * bias;
    }
    return sum;
}

/* Its gradient, at `own`, and the squared norm. */
static double measure(const tacit_net_layer *layer, const tacit_pass *pass, const float *x,
                      const float *d, float *own)
{
    memset(own, 0, layer->parameters * sizeof *own);
    if (layer->way & DIRECT) {
        const tacit_planes p = planes(layer);
        pass->kernels->correlate(&p, x, d, own);
        add_bias(layer, pass, d, own + taps(layer) * layer->out.planes);
    } else {
        add_one(layer, pass, x, d, own);
    }
    return pass->kernels->square(layer->parameters, own);
}

/* ---- a tile ---- */

static void forward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const float *w = pass->theta + layer->theta;
    const tacit_planes p = planes(layer);
    for (size_t r = 0; r < pass->records; r++) {
        const float *x = pass->room + layer->x + r * layer->x_row;
        float *y = pass->room + layer->y + r * layer->y_row;
        if (layer->way & DIRECT)
            pass->kernels->convolve(&p, w, w + taps(layer) * layer->out.planes, x, y);
        else
            forward_one(layer, pass, x, y);
    }
}

/* The squared norm of a record's gradient, which is kept if that is the way. */
static double norm_one(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    const float *x = pass->room + layer->x + record * layer->x_row;
    const float *d = pass->room + layer->dy + record * layer->y_row;
    if (layer->way & KEEP)
        return measure(layer, pass, x, d, pass->room + layer->kept + record * layer->kept_row);
    if (layer->way & GRAM)
        return gram_square(layer, pass, x, d);
    return measure(layer, pass, x, d,
                   pass->room + layer->shared + layer->shared_size - layer->parameters);
}

static void norms(const tacit_net_layer *layer, const tacit_pass *pass, double *square)
{
    if (!square && !(layer->way & KEEP))
        return;
    for (size_t r = 0; r < pass->records; r++) {
        const double found = norm_one(layer, pass, r);
        if (square)
            square[r] += found;
    }
}

static void backward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    for (size_t r = 0; r < pass->records; r++)
        backward_one(layer, pass, pass->room + layer->dy + r * layer->y_row,
                     pass->room + layer->dx + r * layer->x_row);
}

static void add(const tacit_net_layer *layer, const tacit_pass *pass, const float *factor, float *g)
{
    for (size_t r = 0; r < pass->records; r++) {
        if (layer->way & KEEP) {
            pass->kernels->axpy(layer->parameters, factor[r],
                                pass->room + layer->kept + r * layer->kept_row, g);
            continue;
        }
        float *d = pass->room + layer->dy + r * layer->y_row;
        for (size_t k = 0; k < layer->outputs; k++)
            d[k] *= factor[r];
        add_one(layer, pass, pass->room + layer->x + r * layer->x_row, d, g);
    }
}

const tacit_layer_ops tacit_layer_conv = {.name = "conv",
                                          .keeps_input = true,
                                          .plan = plan,
                                          .start = start,
                                          .forward = forward,
                                          .norms = norms,
                                          .backward = backward,
                                          .add = add};
