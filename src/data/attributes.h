/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_ATTRIBUTES_H
#define TACIT_DATA_ATTRIBUTES_H
/*
 * What is publicly known of things with names (items, users), as numbers: a text table whose
 * first column names the thing. '|', tabs, semicolons or commas between, whichever the first line
 * has first in this order; quotes as in CSV with the latter two; with or without a header.
 *
 * What a column becomes is decided by the whole column:
 *
 *     0 and 1 only            one feature, as it is
 *     numbers                 z = (v - mean) / deviation, cut at +-3, and max(0, -z),
 *                             max(0, -1 - z), max(0, z - 1), but for those that are always 0
 *     dates ("01-Jan-1995")   likewise, of the year
 *     at most 64 words        a feature each word, 1 or 0
 *     other words             nothing: titles, addresses, post codes ("06437" is no number)
 *
 * A column that says the same of all things becomes nothing; where a value is missing its
 * features are 0. Means and deviations are taken over the things in the file, rated or not, so
 * the numbers depend on the file and nothing else.
 */
#include "data/names.h"
#include "tacit/base.h"

#define TACIT_ATTRIBUTE_COLUMNS_MAX 1000 /* of the file, and features */
#define TACIT_ATTRIBUTE_WORDS_MAX 64     /* of one column */
#define TACIT_ATTRIBUTE_CUT 3.0

typedef struct tacit_attributes {
    tacit_names names; /* row k is of names k */
    size_t features;   /* at least 1 */
    double *value;     /* rows x features */
} tacit_attributes;

/* `known` are the names that matter: the first line is a header if its first word is none of
 * them and no word of it is a number. `what` ("item") and `name` (the file) are for messages. */
tacit_status tacit_attributes_read(tacit_attributes *out, const tacit_names *known,
                                   const char *what, const char *name, const char *bytes,
                                   size_t len, tacit_error *err);
void tacit_attributes_clear(tacit_attributes *attributes); /* {0} is fine */

/* The row of a name, NULL if the file does not have it. */
const double *tacit_attributes_find(const tacit_attributes *attributes, const char *name);

#endif
