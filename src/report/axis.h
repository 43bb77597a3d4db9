/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_AXIS_H
#define TACIT_REPORT_AXIS_H
/* An axis of a chart: which values fit on it, where they stand, which ticks it has. */
#include "tacit/base.h"

enum { TACIT_AXIS_TICKS = 128, TACIT_LABEL_MAX = 64 };

typedef struct tacit_tick {
    double value;
    bool minor; /* a fainter line, no label */
} tacit_tick;

typedef struct tacit_axis {
    bool log;
    double low, high; /* borders, in values */
    double from, to;  /* where the borders stand in the drawing */
    double step;      /* linear: between ticks */
    uint32_t ticks;
    tacit_tick tick[TACIT_AXIS_TICKS];
} tacit_axis;

/* Nothing fits yet; then widen for every value, then round. */
void tacit_axis_init(tacit_axis *axis, bool log, double from, double to);
/* Can this value stand on the axis? Not finite and absurd ones cannot, nor <= 0 on a log axis. */
bool tacit_axis_takes(const tacit_axis *axis, double value);
void tacit_axis_widen(tacit_axis *axis, double value);
/* Round borders and ticks: about `wanted` steps of 1, 2 or 5 times a power of ten; on a log axis
 * decades, or 1-2-5 where there are fewer than three of them. False if no value came. */
bool tacit_axis_round(tacit_axis *axis, int wanted);
double tacit_axis_place(const tacit_axis *axis, double value);
/* A tick as people write it: 0.25, 1.5M, 10⁻⁶ (UTF-8). */
void tacit_axis_label(const tacit_axis *axis, double value, char out[TACIT_LABEL_MAX]);
/* Any number in about `digits` significant digits, with 10ⁿ where it is far from 1. */
void tacit_number_words(double value, int digits, char out[TACIT_LABEL_MAX]);

#endif
