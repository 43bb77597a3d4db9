/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_CHORUS_SMOOTH_H
#define TACIT_PROTOCOL_CHORUS_SMOOTH_H
/* What everybody makes of a sum that everybody heard: public in, public out. */
#include "tacit/base.h"

/* Y = Q H + noise, column by column: docs/protocols/chorus.md. */
typedef struct chorus_heard {
    size_t rank, features;
    const double *y;    /* rank rows of `features` numbers: sum_j c_j s_j^T + noise */
    const double *q;    /* rank x rank: sum_j m_j c_j c_j^T over those who gave */
    double variance;    /* of one record's statistic, a coordinate */
    double noise;       /* sigma */
    bool modes, sparse; /* estimate a spread for each mode; for each coordinate */
} chorus_heard;

/* The mean of a record's statistic is c_i^T H for agent i, give or take. */
typedef struct chorus_smoothed {
    double *h;     /* rank rows of `features` numbers */
    double *cov;   /* rank x rank: uncertainty of h, the mean over coordinates */
    double spread; /* how large h was taken to be, a coordinate and mode: variance; 0: only noise */
} chorus_smoothed;

tacit_status chorus_smooth(const chorus_heard *heard, chorus_smoothed *out, tacit_error *err);
tacit_status chorus_smoothed_init(chorus_smoothed *s, size_t rank, size_t features,
                                  tacit_error *err);
void chorus_smoothed_end(chorus_smoothed *s);
/* c^T cov c */
double chorus_doubt(const chorus_smoothed *s, size_t rank, const double *c);

#endif
