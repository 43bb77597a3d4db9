/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runs.csv: one row a run that is over.
 *
 *     run,<keys>,seed,status,score,better,<metrics>,guarantee,error
 *
 * and for a search `released` and `spent` before `guarantee`; `opened` is then the status of a run
 * whose test records were looked at.
 *
 * Numbers have as many digits as they need to be read back as the same double, so a sweep that
 * goes on with these rows ends with the same means. A value that cannot be is an empty field.
 * Reading trusts nothing: the plan says what a row's keys and seed must be.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "config/text.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"

static const char *const states[] = {"waiting", "ok", "failed"};
static const char opened[] = "opened"; /* done, and more */
static const char *const directions[] = {"lower", "higher"};

void tacit_sweep_field(tacit_writer *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        tacit_write_text(out, text);
        return;
    }
    tacit_write_text(out, "\"");
    for (; *text; text++)
        tacit_write_bytes(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    tacit_write_text(out, "\"");
}

void tacit_sweep_number(tacit_writer *out, double value)
{
    if (!isnan(value))
        tacit_write_real(out, value);
}

void tacit_sweep_header(const tacit_sweep *sweep, tacit_writer *out)
{
    tacit_write_text(out, "run,");
    for (size_t k = 0; k < sweep->axis_count; k++)
        tacit_write_format(out, "%s,", sweep->axes[k].key);
    tacit_write_text(out, "seed,status,score,better,");
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++)
        tacit_write_format(out, "%s,", tacit_sweep_metric_name((tacit_sweep_metric)m));
    tacit_write_text(out, sweep->tuner ? "released,spent,guarantee,error\n" : "guarantee,error\n");
}

/* The part of a row that the plan determines. */
static void write_start(const tacit_sweep *sweep, size_t run, tacit_writer *out)
{
    tacit_write_format(out, "%zu,", run + 1);
    for (size_t k = 0; k < sweep->axis_count; k++) {
        const char *value = tacit_sweep_value(sweep, run / sweep->seed_count, k);
        tacit_sweep_field(out, value ? value : "");
        tacit_write_text(out, ",");
    }
    tacit_write_format(out, "%lld,", (long long)sweep->seeds[run % sweep->seed_count]);
}

void tacit_sweep_row(const tacit_sweep *sweep, size_t run, tacit_writer *out)
{
    const tacit_sweep_result *result = &sweep->results[run];
    const bool done = result->state == TACIT_SWEEP_DONE;
    char message[sizeof((tacit_error *)0)->text];
    write_start(sweep, run, out);
    tacit_write_format(out, "%s,%s,%s,", done && result->opened ? opened : states[result->state],
                       done ? result->score : "", done ? directions[result->score_up] : "");
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++) {
        tacit_sweep_number(out, done ? result->value[m] : NAN);
        tacit_write_text(out, ",");
    }
    if (sweep->tuner) {
        tacit_sweep_number(out, done ? result->released : NAN);
        tacit_write_format(out, ",%s,", done && result->spent ? result->spent : "");
    }
    tacit_sweep_field(out, done && result->guarantee ? result->guarantee : "");
    tacit_write_text(out, ",");
    /* A row is a line: a message must not break it. */
    tacit_show(result->message ? result->message : "",
               result->message ? strlen(result->message) : 0, message, sizeof message);
    tacit_sweep_field(out, done ? "" : message);
    tacit_write_text(out, "\n");
}

void tacit_sweep_forget(tacit_sweep_result *result)
{
    free(result->guarantee);
    free(result->message);
    free(result->spent);
    *result = (tacit_sweep_result){.state = TACIT_SWEEP_WAITING, .released = NAN};
}

/* ---- reading ---- */

/* The next field of a line, unquoted in place; NULL when there is none. `*rest` is NULL after
 * the last one. */
static char *next_field(char **rest)
{
    char *field = *rest, *from = field, *to = field;
    if (!field)
        return NULL;
    const bool quoted = *from == '"';
    from += quoted;
    for (;; from++) {
        if (*from == '\0' || (!quoted && *from == ','))
            break;
        if (quoted && *from == '"' && *++from != '"')
            break;
        *to++ = *from;
    }
    const bool more = *from == ',';
    if (!more && *from != '\0')
        return NULL; /* words behind a closing quote */
    *rest = more ? from + 1 : NULL;
    *to = '\0';
    return field;
}

static bool read_value(const char *field, double *out)
{
    if (!*field) {
        *out = NAN;
        return true;
    }
    char *end;
    *out = strtod(field, &end);
    return *end == '\0' && !isnan(*out);
}

/* What a search has besides: both where it is charged and the run is done, otherwise neither. */
static bool read_tuned(const tacit_sweep *sweep, char **rest, bool done, tacit_sweep_result *out,
                       const char **spent)
{
    const bool charged = done && tacit_tuner_charges(sweep->tuner);
    out->released = NAN;
    *spent = NULL;
    if (!sweep->tuner)
        return true;
    const char *released = next_field(rest);
    *spent = next_field(rest);
    tacit_losses losses = {0};
    const bool good = released && *spent && read_value(released, &out->released) &&
                      tacit_losses_read(&losses, *spent) &&
                      (isnan(out->released) ? !charged : charged);
    free(losses.all);
    return good;
}

static bool keep_texts(const tacit_sweep *sweep, tacit_sweep_result *out, const char *guarantee,
                       const char *spent)
{
    out->guarantee = tacit_text_copy(guarantee, strlen(guarantee));
    if (tacit_tuner_charges(sweep->tuner))
        out->spent = tacit_text_copy(spent, strlen(spent));
    if (out->guarantee && (out->spent || !tacit_tuner_charges(sweep->tuner)))
        return true;
    tacit_sweep_forget(out);
    return false;
}

static bool read_result(const tacit_sweep *sweep, char *rest, tacit_sweep_result *out)
{
    char *status = next_field(&rest), *score = next_field(&rest), *better = next_field(&rest);
    *out = (tacit_sweep_result){.state = TACIT_SWEEP_WAITING, .released = NAN};
    if (!status || !score || !better || strlen(score) >= sizeof out->score)
        return false;
    out->opened = sweep->tuner && strcmp(status, opened) == 0;
    const bool done = out->opened || strcmp(status, states[TACIT_SWEEP_DONE]) == 0;
    if (!done && strcmp(status, states[TACIT_SWEEP_FAILED]) != 0)
        return false;
    for (int m = 0; m < TACIT_SWEEP_METRICS; m++) {
        const char *field = next_field(&rest);
        if (!field || !read_value(field, &out->value[m]))
            return false;
    }
    const char *spent = "";
    if (!read_tuned(sweep, &rest, done, out, &spent))
        return false;
    const char *guarantee = next_field(&rest);
    if (!guarantee || !next_field(&rest) || rest)
        return false;
    if (!done)
        return true; /* it gets another chance */
    out->score_up = strcmp(better, directions[true]) == 0;
    if (!out->score_up && strcmp(better, directions[false]) != 0)
        return false;
    out->state = TACIT_SWEEP_DONE;
    snprintf(out->score, sizeof out->score, "%s", score);
    return keep_texts(sweep, out, guarantee, spent);
}

/* Whose row it is by its first field; it must then start as the plan says. */
static bool read_row(tacit_sweep *sweep, char *line, tacit_writer *start)
{
    char *end;
    const unsigned long long run = strtoull(line, &end, 10);
    if (end == line || *end != ',' || run == 0 || run > tacit_sweep_runs(sweep))
        return false;
    start->len = 0;
    write_start(sweep, (size_t)run - 1, start);
    if (start->failed || strncmp(line, start->text, start->len) != 0)
        return false;
    tacit_sweep_result result;
    if (!read_result(sweep, line + start->len, &result))
        return false;
    tacit_sweep_forget(&sweep->results[run - 1]);
    sweep->results[run - 1] = result;
    return true;
}

tacit_status tacit_sweep_read_rows(tacit_sweep *sweep, const char *shown, char *text,
                                   tacit_error *err)
{
    tacit_writer start = {0}, header = {0};
    tacit_status status = TACIT_OK;
    tacit_sweep_header(sweep, &header);
    size_t number = 1;
    for (char *line = text, *end; !status && (end = strchr(line, '\n')); line = end + 1, number++) {
        *end = '\0';
        bool good = number == 1 ? header.text && strlen(line) + 1 == header.len &&
                                      strncmp(line, header.text, header.len - 1) == 0
                                : read_row(sweep, line, &start);
        if (!good)
            status = tacit_fail(err, TACIT_EVERIFY,
                                "\"%.300s\" line %zu is not a row of this sweep; remove the line "
                                "or start a new sweep",
                                shown, number);
    }
    if (start.failed || header.failed)
        status = tacit_out_of_memory(err);
    tacit_writer_clear(&start);
    tacit_writer_clear(&header);
    return status;
}
