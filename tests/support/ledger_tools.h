/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_LEDGER_TOOLS_H
#define TACIT_LEDGER_TOOLS_H
/* What the tests of ledger files share. */
#include "tacit/ledger.h"

tacit_key test_key(uint8_t which);
/* Agent 7, "alice", adversary local, accountant sum, delta 0. */
tacit_ledger_holder test_holder(double epsilon);
/* Laplace noise on whole numbers: `epsilon` a release, exactly. */
tacit_cost ledger_cost(const char *what, double epsilon);
tacit_ledger_file *fresh_ledger(const char *name, double epsilon);
tacit_ledger_file *reopen_ledger(const char *name);
/* Reserve at `now`, commit half a unit later. */
tacit_status commit_text(tacit_ledger_file *file, const tacit_cost *cost, double now,
                         const char *text, uint64_t *id, tacit_error *err);
/* The pending bytes of a release are this text. */
void check_bytes(tacit_ledger_file *file, uint64_t release, const char *text);

/* Past all seals, by SQL. */
void edit_ledger(const char *name, const char *sql);
/* Rows of a table; -1 if the database cannot be read. */
int ledger_rows(const char *name, const char *table);

char *read_all(const char *name, size_t *len);
void write_all(const char *name, const void *bytes, size_t len);
void check_same_bytes(const char *name, const void *bytes, size_t len);

#endif
