/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_JSON_READ_H
#define TACIT_REPORT_JSON_READ_H
/*
 * Strict JSON (RFC 8259) as a tree: no comments, no trailing commas, no duplicate keys, valid
 * UTF-8 without U+0000, numbers that a double can hold. Depth, members and bytes are bounded,
 * so that no file takes long or much.
 */
#include "tacit/base.h"

enum { TACIT_JSON_DEPTH = 16, TACIT_JSON_MEMBERS = 256, TACIT_JSON_BYTES = 1 << 20 };

typedef enum tacit_json_kind {
    TACIT_JSON_NULL,
    TACIT_JSON_BOOL,
    TACIT_JSON_NUMBER,
    TACIT_JSON_TEXT,
    TACIT_JSON_ARRAY,
    TACIT_JSON_OBJECT
} tacit_json_kind;

typedef struct tacit_json_value {
    tacit_json_kind kind;
    const char *key;  /* inside an object */
    const char *text; /* TEXT: the characters; NUMBER: as written */
    double number;    /* NUMBER, and BOOL as 0 or 1 */
    uint32_t first;   /* ARRAY, OBJECT: index of its first value; 0: none */
    uint32_t next;    /* index of the next value in the same array or object; 0: none */
} tacit_json_value;

typedef struct tacit_json_tree {
    tacit_json_value *values; /* the first is the top */
    size_t count, capacity;
    char *text; /* what keys and texts point into */
} tacit_json_tree;

/* `shown` is the file's name for messages, which say line and column. On failure the tree is
 * empty. */
tacit_status tacit_json_read(tacit_json_tree *tree, const char *shown, const char *text, size_t len,
                             tacit_error *err);
void tacit_json_clear(tacit_json_tree *tree);

/* A member of an object, or NULL: also if `of` is NULL or no object, so that calls nest. */
const tacit_json_value *tacit_json_member(const tacit_json_tree *tree, const tacit_json_value *of,
                                          const char *key);
/* The first value of an array or object, the one after `value`; NULL at the end. */
const tacit_json_value *tacit_json_first(const tacit_json_tree *tree, const tacit_json_value *of);
const tacit_json_value *tacit_json_next(const tacit_json_tree *tree, const tacit_json_value *value);
/* What the value says, or the fallback if it says something else. */
double tacit_json_to_real(const tacit_json_value *value, double fallback);
const char *tacit_json_to_text(const tacit_json_value *value, const char *fallback);
bool tacit_json_to_bool(const tacit_json_value *value, bool fallback);
/* Whole numbers, exact up to UINT64_MAX. */
uint64_t tacit_json_to_count(const tacit_json_value *value, uint64_t fallback);

#endif
