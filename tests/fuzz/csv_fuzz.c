/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a text table: an error with words, or a data set that holds only finite numbers.
 * The first two bytes choose among the options, so that labels by text, bias, bound and splits,
 * separators, missing values and columns of words are all met.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(const tacit_dataset *data, bool may_be_empty)
{
    char number[TACIT_NUMBER_MAX];
    size_t features = tacit_dataset_features(data);
    for (uint32_t i = 0; i < tacit_dataset_agents(data); i++) {
        /* Only an agent whose records were all dropped has nothing to train on. */
        if ((tacit_dataset_rows(data, i, TACIT_TRAIN) == 0 && !may_be_empty) ||
            !tacit_dataset_name(data, i, number)[0])
            abort();
        for (int split = 0; split < TACIT_SPLITS; split++) {
            tacit_batch b;
            size_t cursor = 0;
            while (
                tacit_shard_next(tacit_dataset_shard(data, i, (tacit_split)split), &cursor, &b)) {
                for (size_t k = 0; k < b.rows * features; k++) {
                    if (!isfinite(((const float *)b.x)[k]))
                        abort();
                }
                for (size_t k = 0; k < b.rows; k++) {
                    if (!isfinite(((const float *)b.y)[k]))
                        abort();
                }
            }
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 2)
        return 0;
    tacit_data_options o = {.agent_column = "a", .label_column = "y", .missing = "?"};
    uint8_t how = bytes[0], more = bytes[1];
    o.separator = more & 3;
    o.header = !(more & 4);
    o.missing_rule = more >> 3 & 3;
    if (!o.header) {
        snprintf(o.agent_column, sizeof o.agent_column, "1");
        snprintf(o.label_column, sizeof o.label_column, "2");
    }
    if (more & 32)
        snprintf(o.categories, sizeof o.categories, "%s=r|g|b", o.header ? "c" : "3");
    if (more & 64)
        snprintf(o.ignore, sizeof o.ignore, "%s", o.header ? "z" : "4");
    if (more & 128)
        o.partition = TACIT_PARTITION_IID, o.agents = 1;
    if (how & 64) {
        snprintf(o.hashed, sizeof o.hashed, "%s", o.header ? "w" : "5");
        o.buckets = 4;
    }
    if (how & 128)
        snprintf(o.ordinal, sizeof o.ordinal, "%s=s|m|l", o.header ? "s" : "6");
    o.bias = how & 1;
    o.bound = (how >> 1) % 3;
    if (how & 8)
        snprintf(o.positive, sizeof o.positive, "1");
    o.test_fraction = how & 16 ? 0.4 : 0;
    o.validation_fraction = how & 32 ? 0.3 : 0;

    tacit_source s;
    tacit_error err = {0};
    tacit_status status = tacit_data_csv_text(&s, &o, "fuzz.csv", (const char *)bytes + 2, len - 2,
                                              TACIT_F32, 1, &err);
    if (status ? s.data != NULL || err.text[0] == '\0' : s.data == NULL)
        abort();
    if (!status)
        check(s.data, o.missing_rule == TACIT_MISSING_DROP);
    tacit_source_clear(&s);
    return 0;
}
