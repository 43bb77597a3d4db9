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
 *     KEEP    each record's dW stays until the factors are known       P T N, T N of memory
 *     GRAM    |D U^T|^2 = sum of (U^T U) * (D^T D), number by number   P^2 (T + N)
 *     TWICE   dW is made, measured and thrown away                     P T N
 *
 * Products over many records round what they add up over pixels, and where a record's pixels cancel
 * that may be more than its gradient. `strict` passes make dW once more instead and add just what
 * was measured.
 *
 * Records are taken a few at a time, their U and D side by side, so that there are pixels enough to
 * make fetching W worth while: with 512 planes in and out it is 9 MB, and a record may have 16
 * pixels.
 *
 * Few planes out of wide rows have kernels of their own (net_planes.h): no U.
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
    DIRECT_WIDTH = 16, /* the longest vector of any CPU */
    GROUP_PIXELS = 256 /* side by side, or one record's if it has more */
};

static size_t taps(const tacit_net_layer *layer)
{
    return layer->in.planes * layer->is.high * layer->is.wide;
}

static size_t pixels(const tacit_net_layer *layer)
{
    return layer->out.height * layer->out.width;
}

/* Of U and D with a group's records side by side. */
static size_t row(const tacit_net_layer *layer)
{
    return tacit_net_row(layer->group * pixels(layer));
}

/* In the shared room: U, D, and then panels of U turned, or two matrices of pixels by pixels; at
 * the very end, a gradient. */
static size_t flat_at(const tacit_net_layer *layer)
{
    return taps(layer) * row(layer);
}

static size_t turned_at(const tacit_net_layer *layer)
{
    return flat_at(layer) + layer->out.planes * row(layer);
}

static int choose_way(const tacit_net_layer *layer)
{
    const size_t t = taps(layer), n = layer->out.planes, p = pixels(layer);
    const bool direct =
        layer->is.step == 1 && n <= DIRECT_PLANES && layer->out.width >= DIRECT_WIDTH;
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
    layer->group = pixels(layer) < GROUP_PIXELS ? GROUP_PIXELS / pixels(layer) : 1;
    layer->shared_size = turned_at(layer) + tacit_net_rounded(taps(layer)) * row(layer) +
                         (layer->way & GRAM ? 2 * pixels(layer) * pixels(layer) : 0) +
                         (layer->way & KEEP ? 0 : layer->parameters);
    return TACIT_OK;
}

static void start(const tacit_net_layer *layer, tacit_stream *stream, float *theta)
{
    tacit_net_uniform(stream, taps(layer), layer->parameters, theta);
}

static tacit_planes planes(const tacit_net_layer *layer)
{
    return (tacit_planes){.in = layer->in.planes,
                          .in_height = layer->in.height + 2 * layer->is.pad,
                          .in_width = layer->in.width + 2 * layer->is.pad,
                          .out = layer->out.planes,
                          .height = layer->out.height,
                          .width = layer->out.width,
                          .high = layer->is.high,
                          .wide = layer->is.wide};
}

static const float *x_of(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    return pass->room + layer->x + record * layer->x_row;
}

/* The record with zeros around it, in the shared room where U would be: U is no smaller. */
static const float *padded(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    const size_t pad = layer->is.pad, height = layer->in.height, width = layer->in.width;
    const size_t wide = width + 2 * pad, high = height + 2 * pad;
    const float *x = x_of(layer, pass, record);
    if (pad == 0)
        return x;
    float *out = pass->room + layer->shared;
    memset(out, 0, layer->in.planes * high * wide * sizeof *out);
    for (size_t plane = 0; plane < layer->in.planes; plane++)
        for (size_t k = 0; k < height; k++)
            memcpy(out + (plane * high + k + pad) * wide + pad, x + (plane * height + k) * width,
                   width * sizeof *x);
    return out;
}

static const float *dy_of(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    return pass->room + layer->dy + record * layer->y_row;
}

/* ---- a group of records, side by side in the shared room ---- */

typedef struct group {
    size_t from, count;
} group;

static group group_at(const tacit_net_layer *layer, const tacit_pass *pass, size_t from)
{
    const size_t left = pass->records - from;
    return (group){from, left < layer->group ? left : layer->group};
}

static float *unrolled(const tacit_net_layer *layer, const tacit_pass *pass, group some)
{
    float *u = pass->room + layer->shared;
    for (size_t k = 0; k < some.count; k++)
        tacit_net_unroll(layer, x_of(layer, pass, some.from + k), row(layer),
                         u + k * pixels(layer));
    return u;
}

/* D, each record's times its factor (NULL: 1). */
static float *gathered(const tacit_net_layer *layer, const tacit_pass *pass, group some,
                       const float *factor)
{
    float *flat = pass->room + layer->shared + flat_at(layer);
    const size_t p = pixels(layer);
    for (size_t k = 0; k < some.count; k++) {
        const float *d = dy_of(layer, pass, some.from + k);
        const float weight = factor ? factor[some.from + k] : 1;
        for (size_t o = 0; o < layer->out.planes; o++)
            for (size_t at = 0; at < p; at++)
                flat[o * row(layer) + k * p + at] = weight * d[o * p + at];
    }
    return flat;
}

/* y = W U + b */
static void forward_group(const tacit_net_layer *layer, const tacit_pass *pass, group some)
{
    const float *w = pass->theta + layer->theta, *bias = w + taps(layer) * layer->out.planes;
    const size_t p = pixels(layer);
    float *flat = pass->room + layer->shared + flat_at(layer);
    pass->kernels->product(&(tacit_product){.m = layer->out.planes,
                                            .n = some.count * p,
                                            .k = taps(layer),
                                            .a = w,
                                            .a_step = taps(layer),
                                            .b = unrolled(layer, pass, some),
                                            .b_row = row(layer),
                                            .b_panel = TACIT_NET_PANEL,
                                            .c = flat,
                                            .c_row = row(layer)});
    for (size_t k = 0; k < some.count; k++) {
        float *y = pass->room + layer->y + (some.from + k) * layer->y_row;
        for (size_t o = 0; o < layer->out.planes; o++)
            for (size_t at = 0; at < p; at++)
                y[o * p + at] = flat[o * row(layer) + k * p + at] + bias[o];
    }
}

/* dx from dU = W^T D */
static void backward_group(const tacit_net_layer *layer, const tacit_pass *pass, group some)
{
    float *u = pass->room + layer->shared;
    pass->kernels->product(&(tacit_product){.m = taps(layer),
                                            .n = some.count * pixels(layer),
                                            .k = layer->out.planes,
                                            .a = pass->theta + layer->theta,
                                            .a_step = taps(layer),
                                            .a_by_columns = true,
                                            .b = gathered(layer, pass, some, NULL),
                                            .b_row = row(layer),
                                            .b_panel = TACIT_NET_PANEL,
                                            .c = u,
                                            .c_row = row(layer)});
    for (size_t k = 0; k < some.count; k++) {
        float *dx = pass->room + layer->dx + (some.from + k) * layer->x_row;
        memset(dx, 0, layer->inputs * sizeof *dx);
        tacit_net_roll(layer, row(layer), u + k * pixels(layer), dx);
    }
}

/* g += D U^T and D 1, records weighted by their factors */
static void add_group(const tacit_net_layer *layer, const tacit_pass *pass, group some,
                      const float *factor, float *g)
{
    const size_t t = taps(layer), p = some.count * pixels(layer);
    const float *flat = gathered(layer, pass, some, factor);
    float *turned = pass->room + layer->shared + turned_at(layer);
    pass->kernels->pack(p, t, unrolled(layer, pass, some), 1, row(layer), turned);
    pass->kernels->product(&(tacit_product){.m = layer->out.planes,
                                            .n = t,
                                            .k = p,
                                            .a = flat,
                                            .a_step = row(layer),
                                            .b = turned,
                                            .b_row = TACIT_NET_PANEL,
                                            .b_panel = TACIT_NET_PANEL * p,
                                            .c = g,
                                            .c_row = t,
                                            .add = true});
    for (size_t o = 0; o < layer->out.planes; o++)
        g[t * layer->out.planes + o] += pass->kernels->sum(p, flat + o * row(layer));
}

/* ---- one record ---- */

/* sum of (U^T U) * (D^T D), and |D 1|^2 */
static double gram_square(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    const size_t p = pixels(layer);
    const float *u = unrolled(layer, pass, (group){record, 1}), *d = dy_of(layer, pass, record);
    float *seen = pass->room + layer->shared + turned_at(layer), *slopes = seen + p * p;
    tacit_product gram = {.m = p,
                          .n = p,
                          .k = taps(layer),
                          .a = u,
                          .a_step = row(layer),
                          .a_by_columns = true,
                          .b = u,
                          .b_row = row(layer),
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

/* Room for a gradient that is not kept. */
static float *passing(const tacit_net_layer *layer, const tacit_pass *pass)
{
    return pass->room + layer->shared + layer->shared_size - layer->parameters;
}

/* Its gradient, at `own`, and the squared norm. */
static double measure(const tacit_net_layer *layer, const tacit_pass *pass, size_t record,
                      float *own)
{
    memset(own, 0, layer->parameters * sizeof *own);
    if (layer->way & DIRECT) {
        const tacit_planes p = planes(layer);
        const float *d = dy_of(layer, pass, record);
        float *bias = own + taps(layer) * layer->out.planes;
        pass->kernels->correlate(&p, padded(layer, pass, record), d, own);
        for (size_t o = 0; o < layer->out.planes; o++)
            bias[o] = pass->kernels->sum(pixels(layer), d + o * pixels(layer));
    } else {
        add_group(layer, pass, (group){record, 1}, NULL, own);
    }
    return pass->kernels->square(layer->parameters, own);
}

/* The squared norm of a record's gradient, which is kept if that is the way. */
static double norm_one(const tacit_net_layer *layer, const tacit_pass *pass, size_t record)
{
    if (layer->way & KEEP)
        return measure(layer, pass, record, pass->room + layer->kept + record * layer->kept_row);
    if (layer->way & GRAM && !pass->strict)
        return gram_square(layer, pass, record);
    return measure(layer, pass, record, passing(layer, pass));
}

/* ---- a tile ---- */

static void forward(const tacit_net_layer *layer, const tacit_pass *pass)
{
    const float *w = pass->theta + layer->theta;
    const tacit_planes p = planes(layer);
    if (layer->way & DIRECT)
        for (size_t r = 0; r < pass->records; r++)
            pass->kernels->convolve(&p, w, w + taps(layer) * layer->out.planes,
                                    padded(layer, pass, r),
                                    pass->room + layer->y + r * layer->y_row);
    else
        for (size_t r = 0; r < pass->records; r += layer->group)
            forward_group(layer, pass, group_at(layer, pass, r));
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
    for (size_t r = 0; r < pass->records; r += layer->group)
        backward_group(layer, pass, group_at(layer, pass, r));
}

static void add(const tacit_net_layer *layer, const tacit_pass *pass, const float *factor, float *g)
{
    if (layer->way & KEEP)
        for (size_t r = 0; r < pass->records; r++)
            pass->kernels->axpy(layer->parameters, factor[r],
                                pass->room + layer->kept + r * layer->kept_row, g);
    else if (pass->strict)
        for (size_t r = 0; r < pass->records; r++) {
            measure(layer, pass, r, passing(layer, pass));
            pass->kernels->axpy(layer->parameters, factor[r], passing(layer, pass), g);
        }
    else
        for (size_t r = 0; r < pass->records; r += layer->group)
            add_group(layer, pass, group_at(layer, pass, r), factor, g);
}

const tacit_layer_ops tacit_layer_conv = {.name = "conv",
                                          .keeps_input = true,
                                          .plan = plan,
                                          .start = start,
                                          .forward = forward,
                                          .norms = norms,
                                          .backward = backward,
                                          .add = add};
