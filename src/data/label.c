/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels. Text is compared with the words of `positive` as it is read, letter by letter; formats
 * that hold numbers are compared afterwards, by value, so that "1" also stands for +1 and 1.0.
 */
#include "data/label.h"

#include "data/csv_scan.h"
#include <math.h>
#include <string.h>

static void set_word(tacit_label_word *word, const char *text, size_t len)
{
    *word = (tacit_label_word){.text = text, .len = len};
    word->is_number = tacit_csv_number(text, len, &word->number);
}

/* The pieces between commas, without blanks around them. */
static tacit_status split(tacit_label_rule *rule, const char *text, tacit_error *err)
{
    for (const char *at = text;; at++) {
        const char *from = at + strspn(at, " ");
        at = from + strcspn(from, ",");
        size_t len = (size_t)(at - from);
        while (len > 0 && from[len - 1] == ' ')
            len--;
        if (rule->words > TACIT_POSITIVE_MAX)
            return tacit_fail(err, TACIT_EINPUT, "data.%s lists more than %d labels",
                              rule->classes ? "classes" : "positive", TACIT_POSITIVE_MAX);
        if (len > 0)
            set_word(&rule->word[rule->words++], from, len);
        if (!*at)
            return TACIT_OK;
    }
}

tacit_status tacit_label_rule_read(tacit_label_rule *rule, const tacit_data_options *options,
                                   tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    const char *positive = options->positive, *threshold = options->threshold;
    const char *classes = options->classes;
    *rule = (tacit_label_rule){.options = options, .has_threshold = threshold[0] != '\0'};
    if (positive[0] && threshold[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "data.positive and data.threshold are both given; they say the same "
                          "thing in two ways: leave one out");
    if (threshold[0] && !tacit_csv_number(threshold, strlen(threshold), &rule->threshold))
        return tacit_fail(err, TACIT_EINPUT, "data.threshold is \"%s\"; expected a finite number",
                          tacit_csv_shown(threshold, strlen(threshold), shown));
    if (classes[0] && (positive[0] || threshold[0]))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.classes numbers all labels, data.positive and data.threshold make "
                          "two of them: leave one out");
    rule->classes = classes[0] != '\0';
    if (rule->classes)
        return split(rule, classes, err);
    if (!positive[0])
        return TACIT_OK;
    set_word(&rule->word[rule->words++], positive, strlen(positive));
    return strchr(positive, ',') ? split(rule, positive, err) : TACIT_OK;
}

uint64_t tacit_label_match(const tacit_label_rule *rule, const char *text, size_t len)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < rule->words; k++) {
        const tacit_label_word *word = &rule->word[k];
        if (word->len == len && memcmp(word->text, text, len) == 0)
            bits |= UINT64_C(1) << k;
    }
    return bits;
}

uint64_t tacit_label_match_number(const tacit_label_rule *rule, double value)
{
    uint64_t bits = 0;
    for (size_t k = 0; k < rule->words; k++) {
        if (rule->word[k].is_number && rule->word[k].number == value)
            bits |= UINT64_C(1) << k;
    }
    return bits;
}

double tacit_label_of(const tacit_label_rule *rule, uint64_t bits)
{
    if (!rule->classes)
        return bits ? 1 : -1;
    for (size_t k = 0; k < rule->words; k++)
        if (bits >> k & 1)
            return (double)k;
    return NAN;
}

/* A word that no label has is a typing error more often than not; test files may lack some. */
static tacit_status check_seen(const tacit_label_rule *rule, uint64_t seen, const char *name,
                               const char *column, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    if (rule->words == 0 || rule->classes || seen & 1 || rule->options->nobodys)
        return TACIT_OK;
    for (size_t k = rule->words > 1; k < rule->words; k++) {
        if (seen >> k & 1)
            continue;
        const char *word = tacit_csv_shown(rule->word[k].text, rule->word[k].len, shown);
        if (!column)
            return tacit_fail(err, TACIT_EINPUT,
                              "%.300s: no label is \"%s\"; data.positive must be a label", name,
                              word);
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: no label is \"%s\"; data.positive must be a value of column "
                          "\"%.100s\"",
                          name, word, column);
    }
    return TACIT_OK;
}

tacit_status tacit_table_label(tacit_table *table, const tacit_data_options *options,
                               const char *name, const char *column, tacit_error *err)
{
    tacit_label_rule rule;
    tacit_status status = tacit_label_rule_read(&rule, options, err);
    if (status)
        return status;
    if (rule.words > 0 && !table->by_words) {
        for (size_t row = 0; row < table->rows; row++) {
            uint64_t bits = tacit_label_match_number(&rule, table->y[row]);
            if (rule.classes && !bits)
                return tacit_fail(err, TACIT_EINPUT,
                                  "%.300s: label %g is not one of those in data.classes", name,
                                  table->y[row]);
            table->positives |= bits;
            table->y[row] = tacit_label_of(&rule, bits);
        }
        table->by_words = true;
    }
    for (size_t row = 0; rule.has_threshold && row < table->rows; row++)
        table->y[row] = table->y[row] > rule.threshold ? 1 : -1;
    return check_seen(&rule, table->positives, name, column, err);
}
