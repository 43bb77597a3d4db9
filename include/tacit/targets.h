/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TARGETS_H
#define TACIT_TARGETS_H
/*
 * What is known of each agent beside its records: one row of numbers each, which a graph
 * compares by angle. A source of data makes them, a graph reads them.
 */
#include "tacit/base.h"

typedef struct tacit_targets {
    size_t dimension; /* 0: there are none */
    double *dense;    /* agents x dimension, row-major; or NULL: then compressed rows */
    uint64_t *row;    /* agents + 1 offsets into the arrays below */
    uint32_t *column; /* below dimension, ascending within a row */
    double *value;
} tacit_targets;

void tacit_targets_clear(tacit_targets *targets);

#endif
