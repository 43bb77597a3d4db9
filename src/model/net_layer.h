/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MODEL_NET_LAYER_H
#define TACIT_MODEL_NET_LAYER_H
/*
 * What a layer is made of: seven functions, together in the file of its kind. A new kind is a new
 * file, a line in net_plan.c's table and a word in net_text.c.
 *
 * Memory. What flows from one layer to the next has a place in the room: a row for each record of
 * the tile, rows an odd multiple of 16 numbers apart. Going back, slopes flow the other way: dx, of
 * the loss with respect to x, takes the place of x itself, unless the layer needs x afterwards
 * (`keeps_input`). So an activation leaves its own slope in x on the way up, and multiplies it by
 * dy on the way down.
 */
#include "math/net_kernels.h"
#include "model/net.h"

typedef struct tacit_net_layer tacit_net_layer;

/* One tile on its way through the net. */
typedef struct tacit_pass {
    const tacit_net *net;
    const tacit_net_kernels *kernels;
    const float *theta;
    float *room;
    size_t records;
    bool strict; /* what is added of a record is what was measured, bit by bit but for its factor */
} tacit_pass;

typedef struct tacit_layer_ops {
    const char *name;
    bool keeps_input;
    /* From layer->is and layer->in: out, parameters, and how much of the room it wants. */
    tacit_status (*plan)(tacit_net_layer *layer, tacit_error *err);
    /* The rest may be NULL where there is nothing to do. */
    void (*start)(const tacit_net_layer *layer, tacit_stream *stream, float *theta);
    /* Once a lot: weights as products want them. */
    void (*prepare)(const tacit_net_layer *layer, const tacit_pass *pass);
    void (*forward)(const tacit_net_layer *layer, const tacit_pass *pass);
    /* Before backward: square[r] += squared norm of record r's gradient. What add() will need and
     * backward() would destroy is kept. `square` NULL: nobody asks for norms. */
    void (*norms)(const tacit_net_layer *layer, const tacit_pass *pass, double *square);
    void (*backward)(const tacit_net_layer *layer, const tacit_pass *pass); /* dx from dy */
    /* g += sum of factor[r] times record r's gradient; dy may be used up. */
    void (*add)(const tacit_net_layer *layer, const tacit_pass *pass, const float *factor,
                float *g);
} tacit_layer_ops;

extern const tacit_layer_ops tacit_layer_dense, tacit_layer_conv, tacit_layer_pool,
    tacit_layer_norm, tacit_layer_relu, tacit_layer_tanh, tacit_layer_mish, tacit_layer_split,
    tacit_layer_join;

struct tacit_net_layer {
    const tacit_layer_ops *ops;
    tacit_layer is;
    tacit_volume in, out;
    size_t inputs, outputs; /* numbers of a record */
    size_t theta, parameters;
    bool wants_dx; /* something below it learns */
    int way;       /* of a convolution: net_conv.c */
    size_t group;  /* ... and how many records it takes side by side */
    /* Wanted of the room, in floats: for each record, once for the layer, and shared by all layers
     * (nothing in it lasts from one function to the next). */
    size_t kept_row, own_size, shared_size;
    /* Where in the room. Rows of x and dx, and of y and dy, are equally far apart. */
    size_t x, dx, x_row, y, dy, y_row, kept, own, shared;
    size_t partner; /* of a join: its split, and the other way round */
};

struct tacit_net {
    size_t count, parameters, tile, room; /* room: floats for one thread */
    size_t factors;                       /* in the room: a float for each record of a tile */
    size_t squares;                       /* ... and a double */
    tacit_net_layer layer[];
};

/* Whole panels, which products write. */
static inline size_t tacit_net_rounded(size_t n)
{
    return (n + TACIT_NET_PANEL - 1) / TACIT_NET_PANEL * TACIT_NET_PANEL;
}

/* How far rows of n numbers are apart: an odd number of cache lines. Were it a power of two, a
 * column of panels would want one and the same set of the nearest cache. */
static inline size_t tacit_net_row(size_t n)
{
    return tacit_net_rounded(n) | TACIT_NET_PANEL;
}

/* Uniform in +-1 / sqrt(inputs). */
void tacit_net_uniform(tacit_stream *stream, size_t inputs, size_t count, float *theta);

/* The last layer's scores become slopes; loss[r], and whether its own class is the largest. */
void tacit_net_loss(const tacit_pass *pass, size_t classes, size_t row, float *scores,
                    const uint32_t *label, double *loss, bool *right);

/* net_unroll.c: columns[tap][pixel] = what the window's tap sees at an output pixel; rows of
 * `columns` are `row` apart. And back: x += what each tap saw. */
void tacit_net_unroll(const tacit_net_layer *conv, const float *x, size_t row, float *columns);
void tacit_net_roll(const tacit_net_layer *conv, size_t row, const float *columns, float *x);

#endif
