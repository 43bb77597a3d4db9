/* SPDX-License-Identifier: Apache-2.0 */
/*
 * "protocol.mu=0.1,1,10" and "graph.k=5..50:5": from a list as people write it to values as
 * the option table formats them, so that 1 and 1.0 are found to be the same.
 *
 * A range is written out in decimals of 14 digits: the third of 0.1..0.5:0.1 is 0.3 and not
 * 0.30000000000000004. Only numbers have ranges: "../data" is a path.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "config/settings.h"
#include "config/text.h"
#include "experiment/sweep.h"

void tacit_values_clear(tacit_values *values)
{
    for (size_t i = 0; i < values->count; i++)
        free(values->text[i]);
    free(values->text);
    free(values->number);
    *values = (tacit_values){0};
}

/* ---- one value ---- */

/* Any option's field. */
typedef union field {
    bool truth;
    int64_t whole;
    double real;
    int choice;
    char text[TACIT_TEXT_MAX];
} field;

static double number_of(const tacit_option *option, const field *value)
{
    return option->type == TACIT_OPT_INT    ? (double)value->whole
           : option->type == TACIT_OPT_REAL ? value->real
                                            : NAN;
}

static tacit_status add_value(tacit_values *out, const tacit_option *option, const char *label,
                              const char *text, tacit_error *err)
{
    field value;
    char shown[TACIT_TEXT_MAX + 1];
    tacit_error why = {0};
    memset(&value, 0, sizeof value);
    if (tacit_option_set(option, &value, text, &why))
        return tacit_fail(err, TACIT_EUSAGE, "%s: %s", label, why.text);
    tacit_option_format(option, &value, shown, sizeof shown);
    if (out->count >= TACIT_SWEEP_MOST)
        return tacit_fail(err, TACIT_EUSAGE, "%s: \"%s\" has more than %d values; try fewer", label,
                          option->key, TACIT_SWEEP_MOST);
    char **texts =
        tacit_array_grow(out->text, &out->text_capacity, out->count + 1, sizeof *out->text);
    if (!texts)
        return tacit_out_of_memory(err);
    out->text = texts;
    double *numbers =
        tacit_array_grow(out->number, &out->number_capacity, out->count + 1, sizeof *out->number);
    if (!numbers)
        return tacit_out_of_memory(err);
    out->number = numbers;
    if (!(out->text[out->count] = tacit_text_copy(shown, strlen(shown))))
        return tacit_out_of_memory(err);
    out->number[out->count++] = number_of(option, &value);
    return TACIT_OK;
}

/* ---- ranges ---- */

typedef struct range {
    double from, to, step;
    bool times;
} range;

static bool read_number(const char *text, size_t len, double *out)
{
    static const tacit_option option = {
        .key = "", .type = TACIT_OPT_REAL, .min = -DBL_MAX, .max = DBL_MAX};
    char word[64];
    if (len >= sizeof word)
        return false;
    memcpy(word, text, len);
    word[len] = '\0';
    return tacit_option_set(&option, out, word, NULL) == TACIT_OK;
}

/* FROM..TO, FROM..TO:STEP, FROM..TO:xFACTOR */
static bool scan_range(const char *text, const char *dots, range *out)
{
    const char *to = dots + 2, *colon = strchr(to, ':');
    *out = (range){.step = 1};
    size_t to_len = colon ? (size_t)(colon - to) : strlen(to);
    if (!read_number(text, (size_t)(dots - text), &out->from) || !read_number(to, to_len, &out->to))
        return false;
    if (!colon)
        return true;
    const char *step = colon + 1;
    out->times = *step == 'x';
    step += out->times;
    return read_number(step, strlen(step), &out->step);
}

/* How many values, as a real number; 0 for a range that makes no sense. */
static double range_length(const range *r)
{
    if (r->from > r->to)
        return 0;
    if (r->times)
        return r->from > 0 && r->step > 1
                   ? floor((log(r->to) - log(r->from)) / log(r->step) + 1e-9) + 1
                   : 0;
    return r->step > 0 ? floor(r->to / r->step - r->from / r->step + 1e-9) + 1 : 0;
}

static void range_value(const range *r, size_t k, bool whole, char *out, size_t size)
{
    double value = r->times ? r->from * pow(r->step, (double)k) : r->from + (double)k * r->step;
    if (whole && value == rint(value) && fabs(value) < 9.1e15)
        snprintf(out, size, "%.0f", value);
    else
        snprintf(out, size, "%.14g", value);
}

static tacit_status add_range(tacit_values *out, const tacit_option *option, const char *label,
                              const char *text, const char *dots, tacit_error *err)
{
    range r;
    char shown[80], value[40];
    tacit_show(text, strlen(text), shown, sizeof shown);
    if (!scan_range(text, dots, &r))
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s: \"%s\" is \"%s\", which is no range; expected FROM..TO, "
                          "FROM..TO:STEP or FROM..TO:xFACTOR",
                          label, option->key, shown);
    double length = range_length(&r);
    if (!(length >= 1))
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s: \"%s\" is \"%s\", an empty range; expected a smaller number before "
                          "\"..\", a step above 0, or a factor above 1 of numbers above 0",
                          label, option->key, shown);
    if (length > TACIT_SWEEP_MOST)
        return tacit_fail(err, TACIT_EUSAGE,
                          "%s: \"%s\" is \"%s\", more than %d values; take larger steps", label,
                          option->key, shown, TACIT_SWEEP_MOST);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < (size_t)length && !status; k++) {
        range_value(&r, k, option->type == TACIT_OPT_INT, value, sizeof value);
        status = add_value(out, option, label, value, err);
    }
    return status;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static tacit_status check_twins(const tacit_values *values, const tacit_option *option,
                                const char *label, tacit_error *err)
{
    char **sorted = malloc(values->count * sizeof *sorted);
    if (!sorted)
        return tacit_out_of_memory(err);
    memcpy(sorted, values->text, values->count * sizeof *sorted);
    qsort(sorted, values->count, sizeof *sorted, compare_texts);
    tacit_status status = TACIT_OK;
    for (size_t i = 1; i < values->count && !status; i++)
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            status = tacit_fail(err, TACIT_EUSAGE,
                                "%s: \"%s\" has the value \"%.100s\" twice; name each once", label,
                                option->key, sorted[i]);
    free(sorted);
    return status;
}

tacit_status tacit_values_parse(tacit_values *out, const tacit_option *option, const char *label,
                                const char *list, tacit_error *err)
{
    *out = (tacit_values){0};
    tacit_option here = *option;
    here.offset = 0;
    const bool numeric = here.type == TACIT_OPT_INT || here.type == TACIT_OPT_REAL;
    tacit_status status = TACIT_OK;
    for (const char *item = list; !status;) {
        size_t len = strcspn(item, ",");
        char *text = tacit_text_copy(item, len);
        if (!text) {
            status = tacit_out_of_memory(err);
            break;
        }
        const char *dots = numeric ? strstr(text, "..") : NULL;
        if (len == 0)
            status = tacit_fail(err, TACIT_EUSAGE,
                                "%s: \"%s\" has an empty value; expected a list such as "
                                "\"1,2,3\"",
                                label, here.key);
        else if (dots)
            status = add_range(out, &here, label, text, dots, err);
        else
            status = add_value(out, &here, label, text, err);
        free(text);
        if (item[len] == '\0')
            break;
        item += len + 1;
    }
    if (!status)
        status = check_twins(out, &here, label, err);
    if (status)
        tacit_values_clear(out);
    return status;
}

/* ---- keys ---- */

static const char prefix[] = "protocol.";
#define PREFIX (sizeof prefix - 1)

bool tacit_protocol_knows(const char *protocol, const char *key)
{
    const tacit_protocol *p = tacit_protocol_find(protocol);
    return p && strncmp(key, prefix, PREFIX) == 0 &&
           tacit_section_find(&p->options, key + PREFIX, strlen(key + PREFIX));
}

/* protocol.name is text to its table, and one of the registry to us. */
static void name_protocols(tacit_swept *out)
{
    size_t n = 0;
    for (; tacit_protocols[n] && n + 1 < sizeof out->names / sizeof *out->names; n++)
        out->names[n] = tacit_protocols[n]->name;
    out->names[n] = NULL;
    out->option.type = TACIT_OPT_CHOICE;
    out->option.choices = out->names;
}

/* Nobody knows it: let the configuration find the words, for all protocols at once. */
static tacit_status unknown_key(const char *key, tacit_error *err)
{
    const tacit_section *known[128];
    size_t n = 0;
    for (size_t i = 0; i < tacit_experiment_section_count; i++)
        known[n++] = tacit_experiment_sections[i];
    for (size_t i = 0; tacit_protocols[i] && n < sizeof known / sizeof *known; i++)
        known[n++] = &tacit_protocols[i]->options;
    tacit_config config;
    tacit_config_init(&config);
    tacit_error why = {0};
    tacit_status status = TACIT_EUSAGE;
    if (!tacit_settings_add(&config, key, "?", 1))
        status = tacit_out_of_memory(err);
    else {
        tacit_config_unused(&config, known, n, &why);
        const char *words = strncmp(why.text, "--set: ", 7) == 0 ? why.text + 7 : why.text;
        tacit_fail(err, status, "--vary: %s", words);
    }
    tacit_config_clear(&config);
    return status;
}

tacit_status tacit_key_find(tacit_swept *out, const char *key, const char *const *protocols,
                            tacit_error *err)
{
    const char *dot = strchr(key, '.');
    const tacit_option *found = NULL;
    for (size_t i = 0; dot && i < tacit_experiment_section_count && !found; i++) {
        const tacit_section *section = tacit_experiment_sections[i];
        if (strlen(section->name) == (size_t)(dot - key) &&
            memcmp(section->name, key, (size_t)(dot - key)) == 0)
            found = tacit_section_find(section, dot + 1, strlen(dot + 1));
    }
    const bool is_name = found && strcmp(key, "protocol.name") == 0;
    for (size_t i = 0; protocols[i] && !found; i++)
        if (tacit_protocol_knows(protocols[i], key))
            found = tacit_section_find(&tacit_protocol_find(protocols[i])->options, dot + 1,
                                       strlen(dot + 1));
    bool elsewhere = false;
    for (size_t i = 0; tacit_protocols[i] && !found && !elsewhere; i++)
        elsewhere = tacit_protocol_knows(tacit_protocols[i]->name, key);
    if (elsewhere)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--vary: \"%.100s\" does not belong to protocol \"%s\"%s; see \"tacit "
                          "help protocols\"",
                          key, protocols[0], protocols[1] ? " or the others that are varied" : "");
    if (!found)
        return unknown_key(key, err);
    *out = (tacit_swept){.option = *found};
    out->option.key = key;
    if (is_name)
        name_protocols(out);
    return TACIT_OK;
}
