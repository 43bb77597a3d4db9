/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_H
#define TACIT_NET_H
/*
 * Neural networks, as a list of layers that ends with a score for each class; the loss is softmax
 * cross-entropy. All parameters are one vector of floats, layer after layer. This header says what
 * a net is; what touches records is in src/model/net.h, out of a protocol's sight.
 *
 *     conv 3 5x5, mish, pool 2, dense 64, mish, dense 10
 *
 * on 1 x 32 x 32 is the net of paper 004: 38,424 parameters.
 */
#include "tacit/base.h"
#include "tacit/random.h"

typedef enum tacit_layer_kind {
    TACIT_LAYER_DENSE, /* "dense N": N outputs; weights [output][input], biases */
    TACIT_LAYER_CONV,  /* "conv N HxW [pad P] [step S]": weights [plane out][plane in][row][column],
                          a bias a plane */
    TACIT_LAYER_POOL,  /* "pool N": the largest of each N x N square, squares side by side */
    TACIT_LAYER_NORM,  /* "norm G": group norm of G groups of planes; a scale, then a shift a plane
                        */
    TACIT_LAYER_RELU,
    TACIT_LAYER_TANH,
    TACIT_LAYER_MISH,
    TACIT_LAYER_SPLIT, /* "split, ..., join": what comes out of the layers between is added to */
    TACIT_LAYER_JOIN   /* what went in: a residual block */
} tacit_layer_kind;

typedef struct tacit_layer {
    tacit_layer_kind kind;
    size_t width;      /* outputs, planes out, side of a square, groups: see above */
    size_t high, wide; /* of a convolution's window */
    size_t pad, step;  /* of a convolution: zeros around, pixels from window to window (0: 1) */
} tacit_layer;

/* What flows between layers: planes one after the other, each by rows. */
typedef struct tacit_volume {
    size_t planes, height, width;
} tacit_volume;

#define TACIT_LAYERS_MOST 200

/* Layers from words, as above; `layers` has room for TACIT_LAYERS_MOST. */
tacit_status tacit_layers_parse(const char *text, tacit_layer *layers, size_t *count,
                                tacit_error *err);
/* And back, in the one way we write them (caller frees); NULL without memory. */
char *tacit_layers_text(const tacit_layer *layers, size_t count);

typedef struct tacit_net tacit_net;
/* Refuses layers that do not fit each other. `in` for records that are no pictures: {n, 1, 1}. */
tacit_status tacit_net_create(tacit_net **out, tacit_volume in, const tacit_layer *layers,
                              size_t count, tacit_error *err);
void tacit_net_free(tacit_net *net);
size_t tacit_net_inputs(const tacit_net *net);      /* numbers of a record */
tacit_volume tacit_net_input(const tacit_net *net); /* and their shape */
size_t tacit_net_classes(const tacit_net *net);     /* the last layer's outputs */
size_t tacit_net_parameters(const tacit_net *net);  /* numbers of a model */
/* Layer `at`, below tacit_net_layers: what it is, what comes out of it, how many parameters. */
size_t tacit_net_layers(const tacit_net *net);
tacit_layer tacit_net_layer_at(const tacit_net *net, size_t at, tacit_volume *out,
                               size_t *parameters);
/* A model to begin with: weights and biases uniform within 1 / sqrt(inputs of one output), scales
 * of norms 1 and shifts 0. */
void tacit_net_start(const tacit_net *net, tacit_stream *stream, float *theta);

#endif
