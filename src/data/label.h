/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_LABEL_H
#define TACIT_DATA_LABEL_H
/* From what a file says to the label that is learned: `positive`, `threshold`, `classes`. */
#include "data/table.h"

#define TACIT_POSITIVE_MAX 63

/* A word of `positive`, whose first is all of it, for labels that have a comma; or of `classes`. */
typedef struct tacit_label_word {
    const char *text;
    size_t len;
    bool is_number;
    double number;
} tacit_label_word;

typedef struct tacit_label_rule {
    const tacit_data_options *options;
    tacit_label_word word[TACIT_POSITIVE_MAX + 1];
    size_t words; /* 0: there is neither `positive` nor `classes` */
    bool classes; /* words are those of `classes` */
    bool has_threshold;
    double threshold;
} tacit_label_rule;

/* The options must outlive the rule. */
tacit_status tacit_label_rule_read(tacit_label_rule *rule, const tacit_data_options *options,
                                   tacit_error *err);
/* Bits of the words that a label equals, 0 if it is none of them. */
uint64_t tacit_label_match(const tacit_label_rule *rule, const char *text, size_t len);
uint64_t tacit_label_match_number(const tacit_label_rule *rule, double value);
/* What such bits mean: +1 or -1, or the number of a class. One that is none has none: NaN. */
double tacit_label_of(const tacit_label_rule *rule, uint64_t bits);

/* Apply `positive` or `classes` to labels that are numbers, and `threshold`; complain about a word
 * of `positive` that no label has (an agent's own file may well lack a class). `column` is the
 * label's column, NULL if it has none. */
tacit_status tacit_table_label(tacit_table *table, const tacit_data_options *options,
                               const char *name, const char *column, tacit_error *err);

#endif
