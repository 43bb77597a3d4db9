/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_NAMES_H
#define TACIT_DATA_NAMES_H
/* Distinct strings, numbered 0, 1, 2, ... in order of first appearance. */
#include "tacit/base.h"

typedef struct tacit_names {
    char *text; /* all strings, each ended by NUL */
    size_t text_used, text_capacity;
    uint64_t *start; /* of string k in `text` */
    uint32_t count;
    size_t start_capacity;
    uint32_t *slots;   /* hash table of numbers + 1; 0 is free */
    size_t slot_count; /* a power of two */
} tacit_names;

void tacit_names_clear(tacit_names *names); /* {0} is an empty set */
/* The number of `text` (without NUL bytes), which is added if it is new (*added). */
tacit_status tacit_names_intern(tacit_names *names, const char *text, size_t len, uint32_t *number,
                                bool *added, tacit_error *err);
/* UINT32_MAX if it is not there. */
uint32_t tacit_names_find(const tacit_names *names, const char *text, size_t len);
/* Good until the next intern. */
const char *tacit_names_get(const tacit_names *names, uint32_t number);

/* May an agent be called so? */
bool tacit_name_is_good(const char *name);

#endif
