/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_SPLIT_H
#define TACIT_DATA_SPLIT_H
/* Train, validation and test: an agent's records dealt among the three. */
#include "tacit/data.h"
#include "tacit/random.h"

/* Do the fractions leave anything to train on? */
tacit_status tacit_split_check(const tacit_data_options *options, tacit_error *err);
/* Say for each of the agent's records where it goes (`split` is zeroed on entry), and how many
 * go where. Depends on the seed, the agent and the number of its records, on nothing else. */
void tacit_split_deal(uint8_t *split, uint32_t counts[TACIT_SPLITS], uint32_t agent,
                      uint32_t records, const tacit_data_options *options,
                      const tacit_random *random);

#endif
