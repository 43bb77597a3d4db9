/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_LEDGER_LINES_H
#define TACIT_EXPERIMENT_LEDGER_LINES_H
/* Inside of the reader: what a line says (ledger_lines.c), who spent it (ledger_accounts.c). */
#include "experiment/ledger_read.h"
#include "report/json_read.h"

/* Where in the file a complaint belongs. */
typedef struct tacit_line_place {
    const char *shown;
    size_t line;
    tacit_error *err;
} tacit_line_place;

/* The first line of a sealed ledger, whose seal is good. */
tacit_status tacit_line_header(tacit_ledger_lines *out, const tacit_line_place *place,
                               const tacit_json_tree *tree);
/* Any other line but the last of a sealed ledger. */
tacit_status tacit_line_entry(tacit_ledger_lines *out, const tacit_line_place *place,
                              const tacit_json_tree *tree);
/* Lines to accounts. */
tacit_status tacit_ledger_accounts(tacit_ledger_lines *lines, const char *shown, tacit_error *err);

#endif
