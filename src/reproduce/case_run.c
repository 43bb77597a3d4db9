/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of a book: first those that choose, then those that are shown. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/case.h"

/* One run, wherever its figures go. */
typedef struct one_run {
    const case_book *book;
    const case_cell *cell;
    size_t choice;
    int64_t seed;
    bool tuning;
    double validation;   /* while tuning */
    case_result *result; /* else */
} one_run;

/* ---- configuration ---- */

/* Apply "key=value;key=value"; with `choice` the k-th combination of "key=a|b;key=c|d". */
static tacit_status apply(tacit_config *config, const char *settings, size_t choice,
                          tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (const char *at = settings; at && *at && !status;) {
        size_t len = strcspn(at, ";"), key = strcspn(at, "=");
        char text[TACIT_TEXT_MAX];
        if (key >= len || len >= sizeof text)
            return tacit_fail(err, TACIT_EINTERNAL, "a setting of a figure reads \"%.80s\"", at);
        size_t values = 1;
        for (size_t k = key; k < len; k++)
            values += at[k] == '|';
        const char *value = at + key + 1;
        for (size_t k = choice % values; k > 0; k--)
            value += strcspn(value, "|") + 1;
        choice /= values;
        snprintf(text, sizeof text, "%.*s=%.*s", (int)key, at, (int)strcspn(value, "|;"), value);
        status = tacit_config_set(config, text, err);
        at += len + (at[len] == ';');
    }
    return status;
}

static tacit_status configure(tacit_config *config, const one_run *r, tacit_error *err)
{
    const case_book *book = r->book;
    char seed[60], folder[TACIT_TEXT_MAX + 20];
    snprintf(seed, sizeof seed, "run.seed=%lld", (long long)r->seed);
    tacit_status status =
        tacit_config_parse(config, "a figure", book->task->yaml, strlen(book->task->yaml), err);
    if (!status)
        status = apply(config, r->tuning ? book->task->tuning : book->task->shown, 0, err);
    if (!status)
        status = apply(config, r->cell->method->settings, 0, err);
    if (!status)
        status = apply(config, r->cell->settings, 0, err);
    if (!status)
        status = apply(config, r->cell->method->choices, r->choice, err);
    if (!status)
        status = apply(config, book->everywhere, 0, err);
    if (!status)
        status = tacit_config_set(config, seed, err);
    if (!status && book->request->data && *book->request->data) {
        snprintf(folder, sizeof folder, "data.folder=%s", book->request->data);
        status = tacit_config_set(config, folder, err);
    }
    return status;
}

/* ---- one run ---- */

static bool make_room(case_result *result, uint32_t agents, size_t times)
{
    result->agents = agents;
    result->by_agent = calloc((size_t)agents + 1, sizeof *result->by_agent);
    result->records = calloc((size_t)agents + 1, sizeof *result->records);
    if (times > 0)
        result->ticks = calloc(3 * times, sizeof *result->ticks);
    if (!result->by_agent || !result->records || (times > 0 && !result->ticks))
        return false;
    if (times > 0) {
        result->objective = result->ticks + times;
        result->accuracy = result->objective + times;
    }
    return true;
}

static double mean_score(const double *score, uint32_t agents)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < agents; k++)
        if (!isnan(score[k])) {
            sum += score[k];
            count++;
        }
    return sum / count;
}

/* Run to the end; what is shown is looked at on the way. */
static tacit_status follow(one_run *r, tacit_session *session, double end, tacit_error *err)
{
    const tacit_stop *stop = r->book->request->stop;
    tacit_runtime *rt = tacit_session_runtime(session);
    for (size_t k = 0; !r->tuning && k < r->book->time_count; k++) {
        tacit_snapshot now;
        tacit_status status = rt->ops->run(rt, fmin(r->book->times[k], end), stop, err);
        if (!status)
            status = tacit_session_measure(session, &now, err);
        if (status)
            return status;
        r->result->ticks[k] = (double)rt->ops->traffic(rt).ticks;
        r->result->objective[k] = now.objective;
        r->result->accuracy[k] = now.test;
    }
    tacit_status status = rt->ops->run(rt, end, stop, err);
    return status ? status : rt->ops->finish(rt, err);
}

static tacit_status collect(one_run *r, tacit_session *session, tacit_error *err)
{
    const tacit_dataset *data = tacit_session_data(session);
    const uint32_t agents = tacit_dataset_agents(data);
    if (r->tuning) {
        double *score = calloc((size_t)agents + 1, sizeof *score);
        if (!score)
            return tacit_out_of_memory(err);
        tacit_session_scores(session, TACIT_VALIDATION, score);
        r->validation = mean_score(score, agents);
        free(score);
        return TACIT_OK;
    }
    tacit_session_scores(session, TACIT_TEST, r->result->by_agent);
    for (uint32_t k = 0; k < agents; k++)
        r->result->records[k] = (uint32_t)tacit_dataset_rows(data, k, TACIT_TRAIN);
    r->result->score = mean_score(r->result->by_agent, agents);
    r->result->epsilon = tacit_session_epsilon(session);
    return TACIT_OK;
}

static tacit_status perform(one_run *r, const figure_worker *worker, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_config_init(&config);
    tacit_status status = configure(&config, r, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (status)
        goto out;
    if ((status = tacit_session_create(&session, &experiment, 1, err)))
        goto out;
    if (!r->tuning && !make_room(r->result, tacit_dataset_agents(tacit_session_data(session)),
                                 r->book->time_count)) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if ((status = follow(r, session, experiment.run.time, err)))
        goto out;
    status = collect(r, session, err);
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status ? status : figure_done(worker, 1);
}

/* ---- all of them ---- */

static uint32_t tuning_seeds(const case_book *book)
{
    return book->task->own ? book->request->seeds : book->tuning_seeds;
}

static size_t tuning_runs(const case_book *book, const case_cell *cell)
{
    return cell->choices > 1 && !book->untuned ? cell->choices * tuning_seeds(book) : 0;
}

/* Runs that choose, of cells that have a choice: cell by cell, choice by choice, seed by seed. */
static tacit_status tuning_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    case_book *book = ctx;
    const size_t seeds = tuning_seeds(book);
    size_t cell = 0;
    for (;; cell++) {
        size_t here = tuning_runs(book, &book->cells[cell]);
        if (k < here)
            break;
        k -= here;
    }
    const int64_t first = book->request->seed + (book->task->own ? 0 : book->request->seeds);
    one_run r = {.book = book,
                 .cell = &book->cells[cell],
                 .choice = k / seeds,
                 .seed = first + (int64_t)(k % seeds),
                 .tuning = true};
    tacit_status status = perform(&r, worker, err);
    book->cells[cell].tried[k] = r.validation;
    return status;
}

static tacit_status shown_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    case_book *book = ctx;
    const size_t seeds = book->request->seeds, s = k % seeds;
    case_cell *cell = &book->cells[k / seeds];
    one_run r = {.book = book,
                 .cell = cell,
                 .choice = cell->chosen[s],
                 .seed = book->request->seed + (int64_t)s,
                 .result = &cell->shown[s]};
    return perform(&r, worker, err);
}

/* The best mean over the tuning seeds [from, from + count), the first of equals. */
static size_t best_choice(const case_book *book, const case_cell *cell, size_t from, size_t count)
{
    const size_t seeds = tuning_seeds(book);
    size_t best = 0;
    double top = -INFINITY;
    for (size_t c = 0; c < cell->choices; c++) {
        double sum = 0;
        for (size_t s = from; s < from + count; s++)
            sum += (book->task->less ? -1 : 1) * cell->tried[c * seeds + s];
        if (sum > top) {
            top = sum;
            best = c;
        }
    }
    return best;
}

static void choose(case_book *book)
{
    for (size_t k = 0; k < book->count; k++) {
        case_cell *cell = &book->cells[k];
        for (size_t s = 0; s < book->request->seeds && tuning_runs(book, cell) > 0; s++)
            cell->chosen[s] = book->task->own ? best_choice(book, cell, s, 1)
                                              : best_choice(book, cell, 0, book->tuning_seeds);
    }
}

tacit_status case_run(case_book *book, tacit_error *err)
{
    const size_t seeds = book->request->seeds;
    size_t tuning = 0;
    if (book->failed)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < book->count; k++) {
        case_cell *cell = &book->cells[k];
        cell->tried = calloc(cell->choices * tuning_seeds(book), sizeof *cell->tried);
        cell->chosen = calloc(seeds, sizeof *cell->chosen);
        cell->shown = calloc(seeds, sizeof *cell->shown);
        if (!cell->tried || !cell->chosen || !cell->shown)
            return tacit_out_of_memory(err);
        tuning += tuning_runs(book, cell);
    }
    book->work.total = (double)(tuning + book->count * seeds);
    tacit_status status = figure_run(&book->work, tuning, tuning_piece, book, err);
    if (status)
        return status;
    choose(book);
    return figure_run(&book->work, book->count * seeds, shown_piece, book, err);
}
