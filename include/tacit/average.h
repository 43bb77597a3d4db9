/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_AVERAGE_H
#define TACIT_AVERAGE_H
/*
 * A private mean, sum or histogram of what N peers hold, for people who want nothing else
 * (docs/average.md): what is asked, what a peer holds, and a folder in which peers meet. What they
 * do then is protocol "gopa".
 */
#include "tacit/board.h"
#include "tacit/consortium.h"

/* ---- what is asked: YAML section "average", in question.yaml ---- */

typedef struct tacit_average_options {
    char range[TACIT_TEXT_MAX]; /* "0:100": what a number may be */
    char bins[TACIT_TEXT_MAX];  /* "0,10,20,50": a histogram; "": none */
    int64_t columns;            /* numbers in a row */
    int what;                   /* tacit_average_what */
    int64_t peers;              /* who are asked: agents 0 to peers - 1 */
} tacit_average_options;
extern const tacit_section tacit_average_section;

typedef enum tacit_average_what { TACIT_AVERAGE_MEAN, TACIT_AVERAGE_SUM } tacit_average_what;

#define TACIT_AVERAGE_COLUMNS 1000
#define TACIT_AVERAGE_ROWS 1000000
#define TACIT_AVERAGE_PEERS 256 /* of a folder; all of them see one board */

typedef struct tacit_question {
    double least, most; /* of a number that is asked for; of a histogram, all of its bins */
    uint32_t columns;   /* numbers in a row that a peer gives */
    uint32_t numbers;   /* that come out: columns, or bins */
    double *edge;       /* numbers + 1, rising: a histogram; else NULL */
    bool sum;
} tacit_question;
/* Checks what was asked; clear when done. */
tacit_status tacit_question_make(tacit_question *question, const tacit_average_options *options,
                                 tacit_error *err);
void tacit_question_clear(tacit_question *question);
/* FOLDER/question.yaml. */
tacit_status tacit_question_read(tacit_question *question, const char *folder, tacit_error *err);
/* The same as it stands there, unchecked. */
tacit_status tacit_question_options(tacit_average_options *options, const char *folder,
                                    tacit_error *err);

/* ---- what a peer holds ---- */

typedef struct tacit_held {
    double *number; /* rows x columns, all finite */
    double *given;  /* the same before it was brought into the range: what it is known by */
    size_t rows;
    uint32_t columns;
    size_t clipped; /* numbers that were brought into the range */
} tacit_held;
/* One row a line, numbers separated by commas, semicolons or blanks; a first line of words, empty
 * lines and those that start with # are skipped. What is no number is refused with its line, and
 * what is out of range clipped and counted. */
tacit_status tacit_held_parse(tacit_held *values, const tacit_question *question, const char *shown,
                              const char *text, size_t len, tacit_error *err);
tacit_status tacit_held_read(tacit_held *values, const tacit_question *question, const char *path,
                             tacit_error *err);
void tacit_held_clear(tacit_held *values);
/* As records for data.source csv, the columns named label, v0, v1, ...: the bin of each row as
 * numbers 0 and 1 for a histogram. With `apart`, each row belongs to an agent of its own, and
 * column agent says so. Caller frees; NULL without memory. */
char *tacit_held_records(const tacit_held *values, const tacit_question *question, bool apart);

/* ---- a folder for peers ---- */

typedef struct tacit_average_plan {
    tacit_average_options question;
    uint32_t peers;
    const char *members; /* file: peers who have keys of their own; NULL: keys are made here */
    double epsilon, delta;
    int unit; /* tacit_unit */
    bool gaussian_masks;
    bool curious; /* who adds up keeps to the rules */
    int64_t colluders;
    double absent;
    double patience; /* seconds with anybody who is silent */
    double wait;     /* seconds for the others to come */
    uint16_t port;   /* of the first; 0: free ones are found */
} tacit_average_plan;
/* The configuration of an experiment "gopa" that answers it, without data. */
tacit_status tacit_average_config(tacit_config *config, const tacit_average_plan *plan,
                                  tacit_error *err);
/* question.yaml, consortium.yaml, members.csv, graph.edges, and, unless they have keys of their
 * own, node-000/, ... with node.yaml and identity.key: all but what the peers hold. `folder` must
 * not exist or be empty; after a failure nothing is left. */
tacit_status tacit_average_prepare(const char *folder, const tacit_average_plan *plan,
                                   tacit_error *err);
/* What came out: value[k] = centre + total / count, or that times count, in the unit of what is
 * asked. */
typedef struct tacit_answer {
    double *value;             /* question->numbers */
    uint64_t members, records; /* records: the same, unless a record is the unit */
    double noise;              /* at most: standard deviation of each value, by noise alone */
    double more_delta;         /* beside that of the budget: tacit_protocol.more_delta */
} tacit_answer;
/* From a board that was checked. */
tacit_status tacit_answer_of_board(tacit_answer *answer, const tacit_question *question,
                                   const tacit_experiment *experiment, uint32_t peers,
                                   const tacit_board *board, tacit_error *err);
/* The same of agents who said what they heard: a simulation. TACIT_NO: nobody heard anything. */
tacit_status tacit_answer_of_session(tacit_answer *answer, const tacit_question *question,
                                     tacit_session *session, tacit_error *err);
void tacit_answer_clear(tacit_answer *answer);
/* What the adversary sees, with the number of colluders that was stated. */
#define TACIT_AVERAGE_SEES 200
void tacit_average_sees(char *out, size_t size, const tacit_experiment *experiment);

/* A folder for the member whose identity is in file `key`, named like it and beside
 * consortium.yaml, with node.yaml in it; the one that is there already if it joins again. The
 * caller frees *node. */
tacit_status tacit_average_enter(char **node, const char *folder, const char *key, double wait,
                                 tacit_error *err);
/* Whether what a peer reads in FOLDER is what the others agreed on: question.yaml is the one the
 * run is named by, and the list of members has each of the peers who are asked. */
tacit_status tacit_average_agrees(const char *folder, const tacit_agreement *agreement,
                                  tacit_error *err);
/* TACIT_EVERIFY: a word of agent `self` is on a board that was checked, and its ledger, with so
 * many releases, does not know of it: it is an old copy. */
tacit_status tacit_average_paid(const tacit_board *board, tacit_agent self, uint64_t releases,
                                tacit_error *err);
/* The folder of the consortium that FOLDER/node.yaml belongs to (caller frees). */
tacit_status tacit_average_place(char **folder, const char *node_folder, tacit_error *err);

#endif
