/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_RATINGS_H
#define TACIT_DATA_RATINGS_H
/*
 * Who rated what, as a file says it: "user item rating", with or without a time, which is not
 * used. Tabs, "::", commas or blanks between, whichever the first line has; a header or none.
 *
 * Invariants of what tacit_ratings_read hands out
 *  1. Sorted by user, then item; no pair stands there twice.
 *  2. Users and items are numbered by their value if all of them are whole numbers, otherwise
 *     by first appearance. With numbers for names the order of the lines does not matter.
 *  3. Every value is finite and at most TACIT_RATING_MAX in size.
 */
#include "data/names.h"
#include "tacit/base.h"

#define TACIT_RATING_MAX 1e9

typedef struct tacit_rating {
    uint32_t user, item;
    double value;
    uint64_t line; /* where it stands in the file, from 1 */
} tacit_rating;

typedef struct tacit_ratings {
    size_t count;
    tacit_rating *rating;
    tacit_names users, items; /* by first appearance: rating[].user is a place in `user_name` */
    uint32_t *user_name;      /* user -> number in `users` */
    uint32_t *item_name;
} tacit_ratings;

/* `known` is empty, or the users there are: then they all are users, in that order, and a
 * rating by anybody else is an error. `name` is the file for messages. */
tacit_status tacit_ratings_read(tacit_ratings *out, const tacit_names *known, const char *name,
                                const char *bytes, size_t len, tacit_error *err);
void tacit_ratings_clear(tacit_ratings *ratings); /* {0} is fine */

/* A list of users: the first word of each line, up to a blank, tab, comma, '|' or "::". */
tacit_status tacit_ratings_known(tacit_names *out, const char *name, const char *bytes, size_t len,
                                 tacit_error *err);

#endif
