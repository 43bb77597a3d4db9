/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_PARTITION_H
#define TACIT_DATA_PARTITION_H
/* Who gets which record of a table. */
#include "data/table.h"
#include "tacit/random.h"

#define TACIT_NOT_DEALT UINT32_MAX /* in owner[]: a record that nobody gets */
#define TACIT_CLASSES_MAX 1000     /* more different labels are no classes */

/* Says for every row whose it becomes. On entry owner[row] is TACIT_NOT_DEALT for rows to
 * leave out, which stay so, and anything else for the others. `*agents` is how many there are;
 * some may get nothing (docs/data.md says when). */
tacit_status tacit_partition_deal(uint32_t *owner, uint32_t *agents, const tacit_table *table,
                                  const tacit_data_options *options, const tacit_random *random,
                                  tacit_error *err);

/* ---- pieces, for tests ---- */
/* n shares that sum to 1: a draw of Dirichlet(alpha, ..., alpha). `number` names the draw. */
void tacit_draw_dirichlet(double *share, uint32_t n, double alpha, const tacit_random *random,
                          uint32_t number);
/* counts[k] = total * share[k] rounded down or up so that they sum to `total`: what is left
 * after rounding down goes to the largest remainders, the first among equals. */
tacit_status tacit_round_shares(uint32_t *counts, const double *share, uint32_t n, uint32_t total,
                                tacit_error *err);
/* a_ij of paper 004, equation 8, for any number of agents and classes. */
double tacit_class_share(uint32_t agent, uint32_t agents, uint32_t class, uint32_t classes,
                         double t);

#endif
