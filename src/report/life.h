/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_LIFE_H
#define TACIT_REPORT_LIFE_H
/*
 * What runs have spent of a budget, as a picture from plain arrays: a bar per run, in the order of
 * time, that begins where the one before ends, and the border they may not cross.
 */
#include "report/writer.h"

typedef struct tacit_life_run {
    const char *when, *name; /* "2026-11-18 16:20", "average, alice" */
    const char *kind;        /* runs of one kind have one colour: the protocol */
    double until;            /* epsilon of this run and all before it; infinity: unbounded */
    bool open;               /* its plan counts, not what it released: drawn hollow */
} tacit_life_run;

typedef struct tacit_life {
    const char *name; /* of the data set */
    const char *note; /* what the epsilons are about, in a line */
    double budget;    /* infinity: no limit */
    const tacit_life_run *runs;
    size_t count;
} tacit_life;

/* An SVG file of its own, one data set below the other. */
void tacit_draw_lives(tacit_writer *out, const char *title, const tacit_life *lives, size_t count);

#endif
