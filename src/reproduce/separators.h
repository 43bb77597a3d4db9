/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_SEPARATORS_H
#define TACIT_REPRODUCE_SEPARATORS_H
/* The linear-separator task of paper 000, section 5.1, and the methods its figures compare. A
 * method is a row of a table: one that is new appears in every figure. */
#include "reproduce/case.h"

extern const case_task separators_task;
/* e^-5, as in paper 000: for comparison with it, too large for real use. */
#define SEPARATORS_DELTA "0.006737946999085467"

/* Methods that spend nothing, and methods that run once a budget. NULL-terminated. */
extern const case_method separators_alone, separators_alone_sparse, separators_cd;
extern const case_method *const separators_private[];
#define SEPARATORS_METHODS 8

/* Budgets of the paper: 0.05 of each is for the warm start. */
#define SEPARATORS_BUDGETS 3
extern const double separators_budgets[SEPARATORS_BUDGETS];

/* case_open and case_run; smaller with --quick, and with the words all these figures share. */
void separators_open(case_book *book, const tacit_reproduce_request *request);
tacit_status separators_run(tacit_reproduced *out, case_book *book, tacit_error *err);
/* Settings that all these figures state: task, runs, adversary, what is unsound. */
void separators_settings(tacit_reproduced *f, const case_book *book);

#endif
