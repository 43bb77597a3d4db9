/* SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx_wire.h"

#include <string.h>

/* ---- protobuf ---- */

enum { VARINT = 0, BYTES = 2, FOUR = 5 };

static void varint(tacit_writer *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (uint8_t)(value | 0x80);
    bytes[n++] = (uint8_t)value;
    tacit_write_bytes(out, bytes, n);
}

static void little(tacit_writer *out, uint64_t bits, unsigned count)
{
    uint8_t bytes[8];
    for (unsigned k = 0; k < count; k++)
        bytes[k] = (uint8_t)(bits >> (8 * k));
    tacit_write_bytes(out, bytes, count);
}

static void little_float(tacit_writer *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    little(out, bits, 4);
}

void tacit_wire_varint(tacit_writer *out, unsigned field, uint64_t value)
{
    varint(out, field << 3 | VARINT);
    varint(out, value);
}

void tacit_wire_float(tacit_writer *out, unsigned field, float value)
{
    varint(out, field << 3 | FOUR);
    little_float(out, value);
}

static void head(tacit_writer *out, unsigned field, size_t len)
{
    varint(out, field << 3 | BYTES);
    varint(out, len);
}

void tacit_wire_bytes(tacit_writer *out, unsigned field, const void *bytes, size_t len)
{
    head(out, field, len);
    tacit_write_bytes(out, bytes, len);
}

void tacit_wire_text(tacit_writer *out, unsigned field, const char *text)
{
    tacit_wire_bytes(out, field, text, strlen(text));
}

void tacit_wire_message(tacit_writer *out, unsigned field, tacit_writer *inner)
{
    out->failed |= inner->failed;
    tacit_wire_bytes(out, field, inner->text, inner->len);
    tacit_writer_clear(inner);
}

/* ---- nodes ---- */

enum {
    NODE_INPUT = 1,
    NODE_OUTPUT = 2,
    NODE_NAME = 3,
    NODE_OPERATOR = 4,
    NODE_ATTRIBUTE = 5,
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_FLOAT = 2,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_TYPE = 20,
    IS_FLOAT = 1, /* values of ATTRIBUTE_TYPE */
    IS_INT = 2,
    IS_INTS = 7
};

void tacit_onnx_input(tacit_writer *node, const char *name)
{
    tacit_wire_text(node, NODE_INPUT, name);
}

void tacit_onnx_int(tacit_writer *node, const char *name, int64_t value)
{
    tacit_writer inner = {0};
    tacit_wire_text(&inner, ATTRIBUTE_NAME, name);
    tacit_wire_varint(&inner, ATTRIBUTE_INT, (uint64_t)value);
    tacit_wire_varint(&inner, ATTRIBUTE_TYPE, IS_INT);
    tacit_wire_message(node, NODE_ATTRIBUTE, &inner);
}

void tacit_onnx_ints(tacit_writer *node, const char *name, const size_t *value, size_t count)
{
    tacit_writer inner = {0};
    tacit_wire_text(&inner, ATTRIBUTE_NAME, name);
    for (size_t k = 0; k < count; k++)
        tacit_wire_varint(&inner, ATTRIBUTE_INTS, value[k]);
    tacit_wire_varint(&inner, ATTRIBUTE_TYPE, IS_INTS);
    tacit_wire_message(node, NODE_ATTRIBUTE, &inner);
}

void tacit_onnx_float(tacit_writer *node, const char *name, float value)
{
    tacit_writer inner = {0};
    tacit_wire_text(&inner, ATTRIBUTE_NAME, name);
    tacit_wire_float(&inner, ATTRIBUTE_FLOAT, value);
    tacit_wire_varint(&inner, ATTRIBUTE_TYPE, IS_FLOAT);
    tacit_wire_message(node, NODE_ATTRIBUTE, &inner);
}

/* ---- graphs ---- */

enum {
    GRAPH_NODE = 1,
    GRAPH_NAME = 2,
    GRAPH_CONSTANT = 5,
    GRAPH_INPUT = 11,
    GRAPH_OUTPUT = 12,
    TENSOR_DIM = 1,
    TENSOR_TYPE = 2,
    TENSOR_NAME = 8,
    TENSOR_RAW = 9,
    OF_FLOAT = 1, /* values of TENSOR_TYPE */
    OF_INT64 = 7
};

void tacit_onnx_node(tacit_writer *graph, tacit_writer *node, const char *op, const char *output)
{
    tacit_wire_text(node, NODE_OUTPUT, output);
    tacit_wire_text(node, NODE_NAME, output);
    tacit_wire_text(node, NODE_OPERATOR, op);
    tacit_wire_message(graph, GRAPH_NODE, node);
}

void tacit_onnx_floats(tacit_writer *graph, const char *name, const size_t *dims, size_t rank,
                       const float *x)
{
    tacit_writer inner = {0};
    size_t count = 1;
    for (size_t k = 0; k < rank; k++) {
        tacit_wire_varint(&inner, TENSOR_DIM, dims[k]);
        count *= dims[k];
    }
    tacit_wire_varint(&inner, TENSOR_TYPE, OF_FLOAT);
    tacit_wire_text(&inner, TENSOR_NAME, name);
    head(&inner, TENSOR_RAW, count * sizeof *x);
    for (size_t k = 0; k < count; k++)
        little_float(&inner, x[k]);
    tacit_wire_message(graph, GRAPH_CONSTANT, &inner);
}

void tacit_onnx_shape(tacit_writer *graph, const char *name, const int64_t *value, size_t count)
{
    tacit_writer inner = {0};
    tacit_wire_varint(&inner, TENSOR_DIM, count);
    tacit_wire_varint(&inner, TENSOR_TYPE, OF_INT64);
    tacit_wire_text(&inner, TENSOR_NAME, name);
    head(&inner, TENSOR_RAW, count * sizeof *value);
    for (size_t k = 0; k < count; k++)
        little(&inner, (uint64_t)value[k], 8);
    tacit_wire_message(graph, GRAPH_CONSTANT, &inner);
}

/* A value: name, type { tensor { element, shape { dim { value or word } ... } } }. */
void tacit_onnx_value(tacit_writer *graph, bool output, const char *name, const size_t *dims,
                      size_t rank)
{
    tacit_writer shape = {0}, tensor = {0}, type = {0}, value = {0};
    for (size_t k = 0; k <= rank; k++) {
        tacit_writer dim = {0};
        if (k == 0)
            tacit_wire_text(&dim, 2, "N");
        else
            tacit_wire_varint(&dim, 1, dims[k - 1]);
        tacit_wire_message(&shape, 1, &dim);
    }
    tacit_wire_varint(&tensor, 1, OF_FLOAT);
    tacit_wire_message(&tensor, 2, &shape);
    tacit_wire_message(&type, 1, &tensor);
    tacit_wire_text(&value, 1, name);
    tacit_wire_message(&value, 2, &type);
    tacit_wire_message(graph, output ? GRAPH_OUTPUT : GRAPH_INPUT, &value);
}

/* ---- the model ---- */

enum {
    MODEL_FORMAT = 1,
    MODEL_PRODUCER = 2,
    MODEL_PRODUCER_VERSION = 3,
    MODEL_GRAPH = 7,
    MODEL_OPERATORS = 8,
    MODEL_METADATA = 14,
    FORMAT = 7 /* of ONNX 1.8: the first with operators of version 13 */
};

void tacit_onnx_metadata(tacit_writer *model, const char *key, const char *value)
{
    tacit_writer inner = {0};
    tacit_wire_text(&inner, 1, key);
    tacit_wire_text(&inner, 2, value);
    tacit_wire_message(model, MODEL_METADATA, &inner);
}

void tacit_onnx_model(tacit_writer *out, tacit_writer *graph, const char *name, int operators)
{
    tacit_writer set = {0};
    tacit_wire_text(&set, 1, ""); /* ONNX's own operators */
    tacit_wire_varint(&set, 2, (uint64_t)operators);
    tacit_wire_varint(out, MODEL_FORMAT, FORMAT);
    tacit_wire_text(out, MODEL_PRODUCER, "tacit");
    tacit_wire_text(out, MODEL_PRODUCER_VERSION, TACIT_VERSION);
    tacit_wire_message(out, MODEL_OPERATORS, &set);
    tacit_wire_text(graph, GRAPH_NAME, name);
    tacit_wire_message(out, MODEL_GRAPH, graph);
}
