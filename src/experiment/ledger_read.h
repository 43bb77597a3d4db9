/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_LEDGER_READ_H
#define TACIT_EXPERIMENT_LEDGER_READ_H
/*
 * A ledger of JSON lines read back: one that a run or a peer wrote, whose seal is checked, or
 * one that somebody wrote by hand, which has none.
 *
 * Three outcomes: sealed and good (`seal` says how); unsealed (`seal` is TACIT_SEAL_NONE: say so
 * beside every figure made from it); or an error. TACIT_EVERIFY: the file carries marks of a seal
 * and was cut, edited, reordered, or sealed with another key. TACIT_EINPUT: an unsealed line makes
 * no sense; the message has its number.
 *
 * By hand, a line needs no more than
 *     {"mechanism":"gaussian","sensitivity":1,"noise":2,"releases":100}
 * and may have sampling, adjacency ("replace" unless it says otherwise), unit, norm, grid,
 * coordinates, categories (of "response", whose noise is epsilon), agent, what, first, last.
 */
#include "tacit/account.h"
#include "tacit/ledger.h"

/* One line. Of a run above 10,000 agents it stands for `agents` of them, `agent` the first. */
typedef struct tacit_ledger_line {
    tacit_agent agent; /* 0 where the line names none */
    uint64_t agents;
    const tacit_cost *cost; /* lives as long as the lines */
    uint64_t releases;
    double first, last; /* when; NAN: the line does not say */
    bool continuous;    /* no grid is named: real-valued noise is meant */
} tacit_ledger_line;

/* Agents that released the same: what one of them spent is the composition of its lines. */
typedef struct tacit_ledger_account {
    tacit_agent agent; /* the first of them */
    uint64_t agents;
    size_t first, count; /* of `part` */
} tacit_ledger_account;

/* Lines of one account that cost the same, together. */
typedef struct tacit_ledger_part {
    const tacit_cost *cost;
    uint64_t releases;
    bool continuous;
} tacit_ledger_part;

typedef struct tacit_ledger_lines {
    tacit_seal seal;
    bool has_header;
    bool claimed;                 /* a line's sensitivity was claimed, not enforced */
    uint64_t agents;              /* the header's word; without one, how many are named */
    char adversary[16];           /* "local", ...; "" if nothing is said */
    char unit[16], adjacency[16]; /* of the header; a line's cost knows better */
    double epsilon, delta;        /* the budget; NAN where nothing is said, INFINITY: no limit */
    tacit_ledger_line *line;      /* as in the file */
    size_t count, capacity;
    tacit_ledger_account *account; /* by first agent */
    size_t accounts;
    tacit_ledger_part *part;
    size_t parts;
    tacit_costs *costs;
} tacit_ledger_lines;

/* `key` is for files sealed with one, otherwise NULL; a file of a run knows its own. On failure
 * *out is empty. */
tacit_status tacit_ledger_read(tacit_ledger_lines *out, const char *path, const tacit_key *key,
                               tacit_error *err);
/* The same from memory; `shown` is the name for messages. */
tacit_status tacit_ledger_read_text(tacit_ledger_lines *out, const char *shown, const char *text,
                                    size_t len, const tacit_key *key, tacit_error *err);
void tacit_ledger_lines_clear(tacit_ledger_lines *lines);

/* What an accountant needs of one account: account->count losses. */
void tacit_ledger_account_losses(const tacit_ledger_lines *lines,
                                 const tacit_ledger_account *account, tacit_loss *loss);

#endif
