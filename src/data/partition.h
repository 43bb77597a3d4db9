/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_PARTITION_H
#define TACIT_DATA_PARTITION_H
/* Who gets which record of a table. */
#include "data/table.h"
#include "tacit/random.h"

#define TACIT_NOT_DEALT UINT32_MAX /* in owner[]: a record that nobody gets */
#define TACIT_CLASSES_MAX 1000     /* more different labels are no classes */

/* Says for every row whose it becomes; fewer than 2^32 - 1 rows. On entry owner[row] is
 * TACIT_NOT_DEALT for rows to leave out, which stay so, and anything else for the others.
 * `*agents` is how many there are; some may get nothing (docs/data.md says when). */
tacit_status tacit_partition_deal(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                  const tacit_data_options *options, const tacit_random *random,
                                  tacit_error *err);

/* Keep the different labels seen so far in ascending order in `class` (room for
 * TACIT_CLASSES_MAX); false if `y` would be one too many. */
bool tacit_class_add(double *class, uint32_t *classes, double y);
/* Which of them `y` is; it must be one. */
uint32_t tacit_class_of(const double *class, uint32_t classes, double y);

#endif
