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

/* Rows by owner, those of one in their order: `first` (agents + 1, zeroed) says where an agent's
 * begin in `order`. */
tacit_status tacit_partition_sort(uint32_t *order, uint64_t *first, const uint32_t *owner,
                                  size_t rows, uint32_t agents, tacit_error *err);

/* Names of agents under TACIT_PARTITION_OWN; one that says no more than the agent's number is not
 * kept. Who has no records is in no table: its name must not be one of those. */
tacit_status tacit_partition_name(tacit_dataset *data, const tacit_table *table,
                                  const tacit_data_options *options, tacit_error *err);

/* Keep the different labels seen so far in ascending order in `class` (room for
 * TACIT_CLASSES_MAX); false if `y` would be one too many. */
bool tacit_class_add(double *class, uint32_t *classes, double y);
/* Which of them `y` is; it must be one. */
uint32_t tacit_class_of(const double *class, uint32_t classes, double y);

#endif
