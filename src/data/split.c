/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Of m records, round(test_fraction m) go to test and round(validation_fraction m) to
 * validation, but one always stays in train. Which ones: a Fisher-Yates shuffle of the labels
 * by stream (seed, agent, TACIT_FOR_SPLIT, 0), so an agent's split does not depend on the
 * others. Within a split the order of the file is kept.
 */
#include "data/split.h"

#include <math.h>
#include <string.h>

tacit_status tacit_split_check(const tacit_data_options *o, tacit_error *err)
{
    double rest = 1 - o->test_fraction - o->validation_fraction;
    if (!(o->test_fraction >= 0 && o->validation_fraction >= 0 && rest > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.test-fraction \"%g\" and data.validation-fraction \"%g\" leave "
                          "nothing to train on; their sum must be below 1",
                          o->test_fraction, o->validation_fraction);
    return TACIT_OK;
}

void tacit_split_deal(uint8_t *split, uint32_t counts[TACIT_SPLITS], uint32_t agent,
                      uint32_t records, const tacit_data_options *options,
                      const tacit_random *random)
{
    uint32_t test = (uint32_t)floor(options->test_fraction * records + 0.5);
    uint32_t validation = (uint32_t)floor(options->validation_fraction * records + 0.5);
    uint32_t most = records > 0 ? records - 1 : 0; /* one stays to train on */
    if (test > most)
        test = most;
    if (validation > most - test)
        validation = most - test;
    counts[TACIT_TRAIN] = records - test - validation;
    counts[TACIT_VALIDATION] = validation;
    counts[TACIT_TEST] = test;
    if (test + validation == 0)
        return; /* all are TACIT_TRAIN: 0 */

    memset(split, TACIT_TEST, test);
    memset(split + test, TACIT_VALIDATION, validation);
    tacit_stream s;
    tacit_stream_open(&s, random, agent, TACIT_FOR_SPLIT, 0);
    for (uint32_t k = records - 1; k > 0; k--) {
        uint32_t j = (uint32_t)tacit_stream_below(&s, (uint64_t)k + 1);
        uint8_t swap = split[k];
        split[k] = split[j];
        split[j] = swap;
    }
    tacit_stream_clear(&s);
}
