/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_RATE_H
#define TACIT_NET_RATE_H
/*
 * How much a peer may send: a bucket that fills by `rate` a second up to `burst`, and from which
 * what arrives is taken. Time is given; when it goes back nothing is filled and nothing lost.
 */
#include <math.h>

#include "tacit/base.h"

typedef struct tacit_rate {
    double left;
    double last; /* when it was filled last */
} tacit_rate;

/* Full, whatever time it is. */
static inline void tacit_rate_start(tacit_rate *r)
{
    r->left = 0;
    r->last = -INFINITY;
}

/* How much is in it at `now`. */
static inline double tacit_rate_fill(tacit_rate *r, double rate, double burst, double now)
{
    if (isnan(now))
        return r->left;
    if (now > r->last)
        r->left = fmin(burst, r->left + rate * (now - r->last));
    r->last = now;
    return r->left;
}

static inline void tacit_rate_take(tacit_rate *r, double amount)
{
    r->left -= amount;
}

#endif
