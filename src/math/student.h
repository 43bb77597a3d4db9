/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MATH_STUDENT_H
#define TACIT_MATH_STUDENT_H
#include "tacit/base.h"

/* P(|T| <= t) for Student's t with `freedom` >= 1 degrees of freedom, t >= 0. */
double tacit_student_inside(double t, uint64_t freedom);
/* The t with P(|T| <= t) = `coverage`, which is between 0 and 1: what a two-sided interval
 * multiplies the standard error with. */
double tacit_student_reach(double coverage, uint64_t freedom);

#endif
