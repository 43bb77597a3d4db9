/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_FORECAST_FIT_H
#define TACIT_EXPERIMENT_FORECAST_FIT_H
/* The fit behind tacit/forecast.h, for both laws: psi = c0 + c1 s + c2 s^2. */
#include "tacit/forecast.h"

typedef struct tacit_fit_order {
    double setting[3]; /* what makes two runs equal */
    size_t index;
} tacit_fit_order;

typedef struct tacit_fit_points {
    size_t count;
    double *plain;          /* s of each pilot without N^crowd: given */
    double *log_owners;     /* given */
    double *log_psi;        /* given */
    tacit_fit_order *order; /* settings given; sorted by the fit */
    double *s;
} tacit_fit_points;

tacit_status tacit_fit_points_create(tacit_fit_points *points, size_t count, tacit_error *err);
void tacit_fit_points_clear(tacit_fit_points *points);
/* `terms`: bit k for the constant of s^k. */
tacit_status tacit_fit(tacit_fitness_law *law, tacit_fit_points *points, unsigned terms, bool crowd,
                       tacit_error *err);
/* Variance of the logarithm of the fitted law at s, over between^2. */
double tacit_fit_leverage(const tacit_fitness_law *law, double s, double log_owners);

#endif
