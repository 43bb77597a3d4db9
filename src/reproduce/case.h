/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_CASE_H
#define TACIT_REPRODUCE_CASE_H
/*
 * Experiments as cases: a task (YAML), a method (settings over it, and choices it leaves open) and
 * a place in the figure (more settings: a dimension, a budget) make a cell. The choices of a cell
 * are made by the mean validation score on problems that are not among those shown; then the cell
 * is run on those that are; test records are for showing only.
 *
 * Settings are "key=value;key=value", choices "key=value|value;key=value|value": every combination
 * is tried.
 */
#include "reproduce/figure.h"
#include "tacit/sweep.h"

typedef struct case_method {
    const char *name;     /* "cd-finish": in the CSV and to find it */
    const char *label;    /* in legends */
    const char *settings; /* over those of the task */
    const char *choices;  /* NULL: nothing is chosen */
    uint32_t colour;      /* of its line: 0 to 6 */
    bool unsound;         /* drawn dashed, and labelled so by its label */
    bool sparse;          /* knows that models may be sparse: compared with its like */
} case_method;

typedef struct case_task {
    const char *yaml;
    const char *tuning; /* settings while choosing: there must be validation records */
    const char *shown;  /* settings of the runs that are shown */
    bool less;          /* a smaller score is better */
    bool own; /* every seed chooses by its own validation records: splits of one data set */
} case_task;

/* What one run came to. */
typedef struct case_result {
    double score;   /* mean over agents, on test records */
    double epsilon; /* largest of an agent; infinite when something came out bare */
    uint32_t agents;
    double *by_agent;                     /* score of each, NaN without test records */
    uint32_t *records;                    /* training records of each */
    double *ticks, *objective, *accuracy; /* one a time of the book; NULL without */
} case_result;

typedef struct case_cell {
    const case_method *method;
    char settings[300];
    size_t choices;
    double *tried;      /* validation scores, choice by choice, one a tuning seed */
    size_t *chosen;     /* one a shown seed */
    case_result *shown; /* one a seed */
} case_cell;

typedef struct case_book {
    const tacit_reproduce_request *request;
    const case_task *task;
    char everywhere[300];  /* settings of all runs, over all others */
    bool untuned;          /* the first of all choices is taken: a quick look */
    uint32_t tuning_seeds; /* the first follows the last that is shown */
    const double *times;   /* simulated, at which runs that are shown are looked at */
    size_t time_count;
    case_cell *cells;
    size_t count, capacity;
    figure_work work;
    bool failed; /* memory ran out */
} case_book;

void case_open(case_book *book, const tacit_reproduce_request *request, const case_task *task,
               uint32_t tuning_seeds);
/* A cell; SIZE_MAX when there is no such place or memory (told by case_run). */
size_t case_add(case_book *book, const case_method *method, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
tacit_status case_run(case_book *book, tacit_error *err);
void case_close(case_book *book);

size_t case_choice_count(const char *choices);
/* "mu 5, clip 0.1": what choice `k` says, without the sections' names. */
void case_choice_words(const char *choices, size_t k, char *out, size_t size);
/* What the cell chose, for all seeds alike or "differs". */
void case_chosen_words(const case_book *book, size_t cell, char *out, size_t size);
/* Test score over the seeds; of agents with records in [from, to] only. */
tacit_interval case_score(const case_book *book, size_t cell);
tacit_interval case_group(const case_book *book, size_t cell, uint32_t from, uint32_t to);
/* `cell` less `base`, seed by seed, so that a hard problem is hard for both. */
tacit_interval case_gain(const case_book *book, size_t cell, size_t base);
tacit_interval case_group_gain(const case_book *book, size_t cell, size_t base, uint32_t from,
                               uint32_t to);
/* The largest epsilon over the seeds. */
double case_epsilon(const case_book *book, size_t cell);
/* A line of the figure over cells: their scores at x[0..count), and 95 % intervals. */
void case_line(tacit_reproduced *f, const case_book *book, size_t panel, const char *name,
               size_t count, const double *x, const size_t *cells);

#endif
