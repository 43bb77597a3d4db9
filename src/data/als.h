/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_ALS_H
#define TACIT_DATA_ALS_H
/*
 * Vectors for users and items whose products come close to the ratings: alternating least
 * squares. Knows nothing of files, agents or splits.
 */
#include "tacit/base.h"
#include "tacit/random.h"

/* One side's view of the ratings: of k those at first[k] .. first[k + 1] - 1. */
typedef struct tacit_als_side {
    uint32_t count;  /* users, or items */
    size_t *first;   /* count + 1 */
    uint32_t *other; /* the item, or the user */
    double *value;
    double *vector; /* count x factors, row-major; zero for who has no ratings */
} tacit_als_side;

typedef struct tacit_als {
    size_t factors, ratings;
    double lambda;
    tacit_als_side user, item;
    double *matrix, *right; /* of the system at hand: factors x factors, and factors */
} tacit_als;

/* Claims all memory. `user[r]` < users and `item[r]` < items give `value[r]`; a pair may stand
 * there more than once. Vectors are zero until tacit_als_start. */
tacit_status tacit_als_create(tacit_als *als, uint32_t users, uint32_t items, size_t factors,
                              double lambda, size_t ratings, const uint32_t *user,
                              const uint32_t *item, const double *value, tacit_error *err);
void tacit_als_clear(tacit_als *als); /* {0} is fine */

/* Items with ratings draw their first vectors: stream (seed, item, TACIT_FOR_DATA, 0). */
void tacit_als_start(tacit_als *als, const tacit_random *random);
/* Users from items, then items from users: neither can raise the objective. */
tacit_status tacit_als_sweep(tacit_als *als, tacit_error *err);
double tacit_als_objective(const tacit_als *als);

#endif
