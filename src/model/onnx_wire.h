/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MODEL_ONNX_WIRE_H
#define TACIT_MODEL_ONNX_WIRE_H
/*
 * As much of protobuf's wire format as ONNX needs. A message is a row of fields: the field's number
 * and kind as a varint, then a varint, four bytes, or a length and so many bytes. A message inside
 * another one is bytes; so it is written for itself first, and then put in.
 */
#include "base/writer.h"

/* ---- protobuf ---- */
void tacit_wire_varint(tacit_writer *out, unsigned field, uint64_t value);
void tacit_wire_float(tacit_writer *out, unsigned field, float value);
void tacit_wire_bytes(tacit_writer *out, unsigned field, const void *bytes, size_t len);
void tacit_wire_text(tacit_writer *out, unsigned field, const char *text);
/* Puts `inner` in, and clears it. */
void tacit_wire_message(tacit_writer *out, unsigned field, tacit_writer *inner);

/* ---- ONNX, by the numbers of onnx.proto ---- */
/* Of a node: begin with its operator, add inputs, then attributes, end with the one output. */
void tacit_onnx_input(tacit_writer *node, const char *name);
void tacit_onnx_int(tacit_writer *node, const char *name, int64_t value);
void tacit_onnx_ints(tacit_writer *node, const char *name, const size_t *value, size_t count);
void tacit_onnx_float(tacit_writer *node, const char *name, float value);
void tacit_onnx_node(tacit_writer *graph, tacit_writer *node, const char *op, const char *output);

/* Constants of the graph: `dims` numbers of `x`, row by row. */
void tacit_onnx_floats(tacit_writer *graph, const char *name, const size_t *dims, size_t rank,
                       const float *x);
void tacit_onnx_shape(tacit_writer *graph, const char *name, const int64_t *value, size_t count);

/* What goes into a graph or comes out: records, each of `dims`. */
void tacit_onnx_value(tacit_writer *graph, bool output, const char *name, const size_t *dims,
                      size_t rank);
void tacit_onnx_metadata(tacit_writer *model, const char *key, const char *value);
/* The whole file: puts `graph` in, and clears it. */
void tacit_onnx_model(tacit_writer *out, tacit_writer *graph, const char *name, int operators);

#endif
