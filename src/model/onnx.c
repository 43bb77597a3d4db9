/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model as ONNX, for programs that are not ours. Records of pictures are [N, planes, height,
 * width], others [N, numbers]; the scores are [N, classes], before any softmax.
 *
 *     dense   Flatten if need be, Gemm (transB, as our weights are [output][input])
 *     conv    Conv: windows are not turned, neither there nor here
 *     pool    MaxPool; what fills no square is left out by both
 *     norm    Reshape to [N, groups, rest], InstanceNormalization, Reshape back, Mul, Add: version
 * 13 has no group norm, and an instance norm of groups instead of planes is one relu    Relu tanh
 * Tanh mish    Softplus, Tanh, Mul (version 18 would have Mish) join    Add; a split is no node,
 * its value is used twice
 *
 * A value is flat ([N, n]) after a dense layer and turned to [N, n, 1, 1] where a layer wants
 * planes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/net_layer.h"
#include "model/onnx_wire.h"
#include "tacit/net_file.h"

enum { OPERATORS = 13, NAME = 48 };
#define NORM_EPSILON 1e-5F             /* of net_norm.c */
#define BYTES_MOST ((size_t)INT32_MAX) /* what programs that read protobuf accept */

typedef struct value {
    char name[NAME];
    bool flat; /* [N, n], not [N, planes, height, width] */
} value;

typedef struct graph {
    tacit_writer out;
    const tacit_net_model *model;
    size_t layer;                  /* from 1, 0 for what comes before; part of names */
    unsigned steps;                /* of this layer */
    value now;                     /* what has come out so far */
    value open[TACIT_LAYERS_MOST]; /* at splits */
    size_t depth;
} graph;

/* ---- nodes ---- */

/* A name for what belongs to this layer: "layer2.weight". */
static const char *own(const graph *g, const char *what, char name[NAME])
{
    if (g->layer == 0)
        snprintf(name, NAME, "input.%s", what);
    else
        snprintf(name, NAME, "layer%zu.%s", g->layer, what);
    return name;
}

/* The node's output becomes what flows on. */
static void finish(graph *g, tacit_writer *node, const char *op)
{
    char step[16];
    snprintf(step, sizeof step, "out%u", ++g->steps);
    own(g, step, g->now.name);
    tacit_onnx_node(&g->out, node, op, g->now.name);
}

/* op(now), or op(now, other). */
static void apply(graph *g, const char *op, const char *other)
{
    tacit_writer node = {0};
    tacit_onnx_input(&node, g->now.name);
    if (other)
        tacit_onnx_input(&node, other);
    finish(g, &node, op);
}

static void reshape(graph *g, const char *name, const int64_t *dims, size_t rank)
{
    char shape[NAME];
    tacit_onnx_shape(&g->out, own(g, name, shape), dims, rank);
    apply(g, "Reshape", shape);
}

static void flatten(graph *g)
{
    if (g->now.flat)
        return;
    tacit_writer node = {0};
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_int(&node, "axis", 1);
    finish(g, &node, "Flatten");
    g->now.flat = true;
}

/* 0 keeps the number of records. */
static void to_planes(graph *g, tacit_volume v)
{
    const int64_t dims[] = {0, (int64_t)v.planes, (int64_t)v.height, (int64_t)v.width};
    reshape(g, "planes", dims, 4);
    g->now.flat = false;
}

static void want_planes(graph *g, tacit_volume v)
{
    if (g->now.flat)
        to_planes(g, v);
}

static const char *constant(graph *g, const char *what, char name[NAME], const size_t *dims,
                            size_t rank, const float *x)
{
    tacit_onnx_floats(&g->out, own(g, what, name), dims, rank, x);
    return name;
}

/* ---- layers ---- */

static void dense(graph *g, const tacit_net_layer *l, const float *theta)
{
    char name[NAME];
    tacit_writer node = {0};
    flatten(g);
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_input(&node,
                     constant(g, "weight", name, (size_t[]){l->outputs, l->inputs}, 2, theta));
    tacit_onnx_input(&node,
                     constant(g, "bias", name, &l->outputs, 1, theta + l->outputs * l->inputs));
    tacit_onnx_int(&node, "transB", 1);
    finish(g, &node, "Gemm");
}

static void conv(graph *g, const tacit_net_layer *l, const float *theta)
{
    const tacit_layer *is = &l->is;
    const size_t dims[] = {is->width, l->in.planes, is->high, is->wide};
    char name[NAME];
    tacit_writer node = {0};
    want_planes(g, l->in);
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_input(&node, constant(g, "weight", name, dims, 4, theta));
    tacit_onnx_input(&node, constant(g, "bias", name, dims, 1, theta + l->parameters - is->width));
    tacit_onnx_ints(&node, "kernel_shape", dims + 2, 2);
    tacit_onnx_ints(&node, "pads", (size_t[]){is->pad, is->pad, is->pad, is->pad}, 4);
    tacit_onnx_ints(&node, "strides", (size_t[]){is->step, is->step}, 2);
    finish(g, &node, "Conv");
}

static void pool(graph *g, const tacit_net_layer *l)
{
    const size_t side[] = {l->is.width, l->is.width};
    tacit_writer node = {0};
    want_planes(g, l->in);
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_ints(&node, "kernel_shape", side, 2);
    tacit_onnx_ints(&node, "strides", side, 2);
    finish(g, &node, "MaxPool");
}

/* Mean 0 and deviation 1 within each group. */
static void normalise(graph *g, size_t groups)
{
    char name[NAME];
    tacit_writer node = {0};
    float *ones = calloc(2 * groups, sizeof *ones);
    if (!ones) {
        g->out.failed = true;
        return;
    }
    for (size_t k = 0; k < groups; k++)
        ones[k] = 1;
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_input(&node, constant(g, "ones", name, &groups, 1, ones));
    tacit_onnx_input(&node, constant(g, "zeros", name, &groups, 1, ones + groups));
    tacit_onnx_float(&node, "epsilon", NORM_EPSILON);
    finish(g, &node, "InstanceNormalization");
    free(ones);
}

static void norm(graph *g, const tacit_net_layer *l, const float *theta)
{
    const size_t groups = l->is.width, dims[] = {l->in.planes, 1, 1};
    char name[NAME];
    reshape(g, "groups", (int64_t[]){0, (int64_t)groups, (int64_t)(l->inputs / groups)}, 3);
    normalise(g, groups);
    to_planes(g, l->in);
    apply(g, "Mul", constant(g, "scale", name, dims, 3, theta));
    apply(g, "Add", constant(g, "shift", name, dims, 3, theta + l->in.planes));
}

static void mish(graph *g)
{
    const value x = g->now;
    apply(g, "Softplus", NULL);
    apply(g, "Tanh", NULL);
    apply(g, "Mul", x.name);
}

/* Both in the same shape, or [N, n] + [N, n, 1, 1] would be a square. */
static void join(graph *g, const tacit_net_layer *l)
{
    const value *before = &g->open[--g->depth];
    if (before->flat)
        flatten(g);
    else
        want_planes(g, l->in);
    apply(g, "Add", before->name);
}

static void add_layer(graph *g, const tacit_net_layer *l)
{
    const float *theta = g->model->theta + l->theta;
    switch (l->is.kind) {
    case TACIT_LAYER_DENSE:
        dense(g, l, theta);
        break;
    case TACIT_LAYER_CONV:
        conv(g, l, theta);
        break;
    case TACIT_LAYER_POOL:
        pool(g, l);
        break;
    case TACIT_LAYER_NORM:
        norm(g, l, theta);
        break;
    case TACIT_LAYER_RELU:
        apply(g, "Relu", NULL);
        break;
    case TACIT_LAYER_TANH:
        apply(g, "Tanh", NULL);
        break;
    case TACIT_LAYER_MISH:
        mish(g);
        break;
    case TACIT_LAYER_SPLIT:
        g->open[g->depth++] = g->now;
        break;
    case TACIT_LAYER_JOIN:
        join(g, l);
        break;
    }
}

/* ---- the whole ---- */

static void add_constants(graph *g, const size_t *dims, size_t rank)
{
    const tacit_net_model *m = g->model;
    const size_t one = 1;
    char name[NAME];
    if (m->pairs == 0)
        return;
    const bool all = m->pairs == 1;
    apply(g, "Mul", constant(g, "scale", name, all ? &one : dims, all ? 1 : rank, m->scale));
    apply(g, "Add", constant(g, "shift", name, all ? &one : dims, all ? 1 : rank, m->shift));
}

static void build(graph *g)
{
    const tacit_net *net = g->model->net;
    const tacit_volume in = tacit_net_input(net);
    const size_t dims[] = {in.planes, in.height, in.width}, classes = tacit_net_classes(net);
    g->now = (value){"input", in.height == 1 && in.width == 1};
    const size_t rank = g->now.flat ? 1 : 3;
    tacit_onnx_value(&g->out, false, "input", dims, rank);
    add_constants(g, dims, rank);
    for (size_t k = 0; k < net->count; k++) {
        g->layer = k + 1;
        g->steps = 0;
        add_layer(g, &net->layer[k]);
    }
    /* Whatever came out last is called "scores"; of what is flat already, Flatten is a copy. */
    tacit_writer node = {0};
    tacit_onnx_input(&node, g->now.name);
    tacit_onnx_int(&node, "axis", 1);
    tacit_onnx_node(&g->out, &node, "Flatten", "scores");
    tacit_onnx_value(&g->out, true, "scores", &classes, 1);
}

static void add_metadata(tacit_writer *out, const tacit_net_model *m)
{
    tacit_layer layers[TACIT_LAYERS_MOST];
    tacit_writer names = {0};
    for (size_t k = 0; k < m->net->count; k++)
        layers[k] = m->net->layer[k].is;
    char *words = tacit_layers_text(layers, m->net->count);
    out->failed |= !words;
    if (words)
        tacit_onnx_metadata(out, "layers", words);
    free(words);
    for (size_t k = 0; m->names && k < tacit_net_classes(m->net); k++)
        tacit_write_format(&names, "%s%s", k ? "\n" : "", m->names[k]);
    out->failed |= names.failed;
    if (names.text && !names.failed)
        tacit_onnx_metadata(out, "classes", names.text);
    tacit_writer_clear(&names);
}

tacit_status tacit_net_onnx(uint8_t **bytes, size_t *len, const tacit_net_model *model,
                            tacit_error *err)
{
    graph *g = calloc(1, sizeof *g);
    tacit_writer out = {0};
    *bytes = NULL;
    *len = 0;
    if (!g)
        return tacit_out_of_memory(err);
    g->model = model;
    build(g);
    tacit_onnx_model(&out, &g->out, "net", OPERATORS);
    add_metadata(&out, model);
    free(g);
    if (!out.failed && out.len > BYTES_MOST) {
        tacit_writer_clear(&out);
        return tacit_fail(
            err, TACIT_EINPUT,
            "a model of %zu parameters is too large for ONNX, whose files end at 2 GB",
            tacit_net_parameters(model->net));
    }
    *len = out.len;
    *bytes = (uint8_t *)tacit_writer_take(&out);
    return *bytes ? TACIT_OK : tacit_out_of_memory(err);
}
