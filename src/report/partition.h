/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_PARTITION_H
#define TACIT_REPORT_PARTITION_H
/*
 * Who has how many records of which class, as a picture from plain arrays. Few classes are
 * stacked bars, many a heat map with the sizes beside it. Above TACIT_PARTITION_AGENTS agents
 * there is a histogram of sizes, and some agents taken evenly stand for the others.
 */
#include "report/writer.h"

#define TACIT_PARTITION_AGENTS 100
#define TACIT_PARTITION_SAMPLE 40
#define TACIT_PARTITION_CLASSES_DRAWN 20 /* the caller puts further ones together */

typedef struct tacit_partition_picture {
    const char *title; /* told to screen readers and above the picture */
    const char *note;  /* a line under it, or NULL */
    uint32_t agents, classes;
    const uint32_t *counts;        /* agents x classes; without classes: agents x 1 */
    const char *const *class_name; /* NULL: there are no classes, and `classes` is 1 */
    const char *const *label;      /* of each agent, or NULL: its number */
} tacit_partition_picture;

/* `standalone`: a file of its own, with its styles; otherwise a piece of a page. */
void tacit_draw_partition(tacit_writer *out, const tacit_partition_picture *picture,
                          bool standalone);

#endif
