/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_LEDGER_WRITE_H
#define TACIT_EXPERIMENT_LEDGER_WRITE_H
/* Sealed lines of a ledger, for who writes one: a first line, entries, a last line. */
#include "privacy/seal.h"
#include "report/writer.h"

typedef struct tacit_lines_writer {
    tacit_writer *out;
    tacit_chain chain;
    tacit_writer line; /* one, before it is sealed */
} tacit_lines_writer;

void tacit_lines_begin(tacit_lines_writer *w, tacit_writer *out, const tacit_key *key);
/* An object is open: add members, then end it. */
tacit_json tacit_lines_open(tacit_lines_writer *w);
tacit_status tacit_lines_close(tacit_lines_writer *w, tacit_json *json, tacit_error *err);
/* What was released and how it was protected. */
void tacit_lines_cost(tacit_json *json, const tacit_cost *cost, tacit_trust trust);
/* The last line. */
tacit_status tacit_lines_seal(tacit_lines_writer *w, tacit_error *err);
void tacit_lines_end(tacit_lines_writer *w);

/* JSON cannot hold broken UTF-8: is this text none? */
bool tacit_lines_is_text(const char *text);

/* All of a peer's ledger as lines, sealed with `key`. */
tacit_status tacit_ledger_export(tacit_ledger_file *file, const tacit_key *key, tacit_writer *out,
                                 tacit_error *err);

#endif
