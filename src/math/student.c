/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Student's t for whole degrees of freedom. With theta = atan(t / sqrt(v)) the probability
 * inside is a finite sum (Abramowitz and Stegun 26.7.3 and 26.7.4):
 *
 *     v odd    2/pi (theta + sin (cos + 2/3 cos^3 + 2*4/(3*5) cos^5 + ... up to cos^(v-2)))
 *     v even   sin (1 + 1/2 cos^2 + 1*3/(2*4) cos^4 + ... up to cos^(v-2))
 *
 * All terms are positive, so nothing cancels. The quantile is Newton's from 0: the probability
 * is concave in t, a tangent is never below it, so every step stays left of the root and none
 * needs a bracket. The cost grows with v, which is a number of seeds. Against 40 digits the
 * relative error is below 1e-11 (tests/unit/sweep_test.c).
 */
#include "math/student.h"

#include <math.h>

#define PI 3.14159265358979323846
#define MOST_STEPS 200

double tacit_student_inside(double t, uint64_t freedom)
{
    const double v = (double)freedom;
    const double theta = atan(t / sqrt(v));
    const double sine = sin(theta), cosine = cos(theta), square = cosine * cosine;
    const bool odd = freedom % 2 == 1;
    double term = odd ? cosine : 1, sum = freedom > 1 ? term : 0;
    for (uint64_t k = odd ? 3 : 2; k + 2 <= freedom; k += 2) {
        term *= square * (double)(k - 1) / (double)k;
        sum += term;
        if (term < 1e-20 * sum)
            break;
    }
    return odd ? 2 / PI * (theta + sine * sum) : sine * sum;
}

static double density(double t, uint64_t freedom)
{
    const double v = (double)freedom;
    int sign; /* lgamma writes to a global */
    double scale = lgamma_r((v + 1) / 2, &sign) - lgamma_r(v / 2, &sign);
    return exp(scale - (v + 1) / 2 * log1p(t * t / v)) / sqrt(v * PI);
}

double tacit_student_reach(double coverage, uint64_t freedom)
{
    if (!(coverage > 0 && coverage < 1) || freedom == 0)
        return NAN;
    double t = 0;
    for (int k = 0; k < MOST_STEPS; k++) {
        double step = (coverage - tacit_student_inside(t, freedom)) / (2 * density(t, freedom));
        t += step;
        if (!(fabs(step) > 1e-14 * t))
            break;
    }
    return t;
}
