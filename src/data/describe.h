/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_DESCRIBE_H
#define TACIT_DATA_DESCRIBE_H
/* What each agent got, in numbers: for whoever sets up an experiment, never for a protocol. */
#include "tacit/data.h"

#define TACIT_DESCRIBED_CLASSES 100 /* more different labels are described as numbers */

/* Over agents. */
typedef struct tacit_sizes {
    uint64_t rows;
    uint32_t least, most;
    double median, mean;
} tacit_sizes;

typedef struct tacit_description {
    uint32_t agents;
    size_t features;
    tacit_sizes split[TACIT_SPLITS], all;
    uint64_t common;  /* test records that are nobody's, in none of the above */
    uint32_t empty;   /* agents without training records */
    uint32_t classes; /* 0: labels are numbers */
    double class[TACIT_DESCRIBED_CLASSES];
    uint64_t class_rows[TACIT_DESCRIBED_CLASSES]; /* common ones, too; likewise below */
    double label_least, label_most, label_mean;   /* NaN without records */
    double norm_most, norm_mean;                  /* ||x||_2 */
} tacit_description;

tacit_status tacit_describe(tacit_description *out, const tacit_dataset *data, tacit_error *err);
/* An agent's records of each class, all splits together; without classes counts[0] is all. */
void tacit_describe_agent(const tacit_description *of, const tacit_dataset *data, uint32_t agent,
                          uint32_t *counts);

#endif
