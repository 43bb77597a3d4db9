/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any table under any options: an error with words, or agents whose records are finite and of
 * which none was lost. The first bytes choose the options, then comes a text of public constants
 * up to a NUL, then numbers: the label and two features of each record, two bytes each, so that
 * ties, holes, zeros and the largest doubles are all met.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/describe.h"
#include "data/standardise.h"
#include "data/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { HEAD = 8, FEATURES = 2, ROW = 2 * (FEATURES + 1) };

static double number(const uint8_t *at)
{
    static const double special[] = {NAN, 0, -0.0, 1e308, -1e308, 1e-308, 5e-324, 1};
    uint16_t word = (uint16_t)(at[0] | at[1] << 8);
    return word % 5 == 0 ? special[word / 5 % 8] : (double)(word % 100) - 50;
}

static tacit_data_options choose(const uint8_t *b)
{
    static const double alpha[] = {0, 1e-300, 1e-6, 0.1, 1, 1e6, NAN, -1};
    tacit_data_options o = {.partition = b[0] % 7, .agents = b[1] % 40, .shards = b[2] % 9};
    o.alpha = alpha[b[2] % 8];
    o.t = (double)b[3] / 200;
    o.missing_rule = 1 + b[4] % 4;
    o.standardise = b[4] / 4 % 4; /* public: by public records, there is no file */
    o.bias = b[5] & 1;
    o.bound = (b[5] >> 1) % 3;
    o.test_fraction = b[5] & 16 ? 0.4 : 0;
    o.validation_fraction = b[5] & 32 ? 0.3 : 0;
    o.public_records = b[6] % 8;
    o.records = b[6] / 8 % 8;
    o.shuffle = b[6] & 64;
    o.standardise_labels = b[6] & 128;
    o.components = b[7] % 4;
    o.whiten = b[7] & 4;
    o.divide = b[7] & 16 ? 255 : 1;
    return o;
}

static void parse_constants(const char *text, size_t len)
{
    tacit_scale scale;
    tacit_error err = {0};
    if (tacit_scale_create(&scale, FEATURES, &err))
        return;
    tacit_status status = tacit_scale_parse(&scale, "constants.csv", text, len, &err);
    for (size_t k = 0; !status && k < FEATURES; k++) {
        if (!isfinite(scale.mean[k]) || !(scale.deviation[k] > 0))
            abort();
    }
    if (status && err.text[0] == '\0')
        abort();
    tacit_scale_clear(&scale);
}

/* With `tested` the same records are a common test set as well. */
static void try_deal(tacit_table *t, const tacit_data_options *o, bool tested, uint64_t seed)
{
    tacit_source s;
    tacit_error err = {0};
    tacit_description d;
    tacit_status status = tacit_table_deal_tested(&s, t, tested ? t : NULL, o, seed, &err);
    if (status ? s.data != NULL || err.text[0] == '\0' : s.data == NULL)
        abort();
    if (!status) {
        uint64_t dropped = tested ? s.dropped / 2 : s.dropped;
        uint64_t left = t->rows - dropped - s.public_records;
        uint64_t want = o->records > 0 ? (uint64_t)o->records : left;
        if (tacit_describe(&d, s.data, &err) || d.all.rows != want || want > left ||
            !isfinite(d.label_least) || !isfinite(d.label_most))
            abort();
        if (d.common != (tested ? t->rows - dropped : 0))
            abort();
        if (o->bound == TACIT_BOUND_L2 && d.norm_most > 1)
            abort();
    }
    tacit_source_clear(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < HEAD)
        return 0;
    tacit_data_options o = choose(bytes);
    const uint8_t *text = bytes + HEAD, *end = memchr(text, '\0', len - HEAD);
    size_t text_len = end ? (size_t)(end - text) : len - HEAD;
    parse_constants((const char *)text, text_len);
    if (!end)
        return 0;
    size_t rows = (len - HEAD - text_len - 1) / ROW;
    tacit_table t = {0};
    tacit_scalar scalar = bytes[5] & 64 ? TACIT_F32 : TACIT_F64;
    if (tacit_table_create(&t, rows, FEATURES, scalar, &o, NULL))
        return 0;
    uint8_t names = bytes[5] & 128 ? 3 : 0;
    t.owner = names ? calloc(rows + 1, sizeof *t.owner) : NULL;
    for (uint8_t k = 0; k < names; k++) {
        uint32_t agent;
        bool added;
        (void)tacit_names_intern(&t.owners, &"abc"[k], 1, &agent, &added, NULL);
    }
    for (size_t k = 0; k < rows; k++) {
        const uint8_t *row = end + 1 + k * ROW;
        const double x[FEATURES] = {number(row + 2), number(row + 4)};
        double y = number(row);
        (void)tacit_table_put(&t, k, x, isnan(y) ? 0 : y, NULL); /* refused: zeros stay */
        for (size_t f = 0; f < FEATURES && scalar == TACIT_F32; f++) {
            float *stored = (float *)t.x.bytes + k * FEATURES + f;
            if (isinf(*stored))
                *stored = 0; /* what a reader would have refused */
        }
        if (t.owner)
            t.owner[k] = row[0] % 3;
    }
    try_deal(&t, &o, bytes[7] & 8, bytes[3]);
    tacit_table_clear(&t);
    return 0;
}
