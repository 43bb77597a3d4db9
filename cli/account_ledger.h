/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ACCOUNT_LEDGER_H
#define CLI_ACCOUNT_LEDGER_H
/* Inside of tacit account compose: what the agents of a ledger spent. */
#include "account.h"
#include "experiment/ledger_read.h"

enum { CLI_ACCOUNT_SHOWN = 16 };

/* Agents that spent the same. */
typedef struct cli_account_spender {
    tacit_agent agent; /* the first of them */
    uint64_t agents, releases;
    tacit_loss *loss;
    size_t count;
    cli_account_answer answer;
} cli_account_spender;

typedef struct cli_account_ledger {
    tacit_ledger_lines lines;
    tacit_ledger_file *store; /* of a peer: what the costs of the lines belong to; or NULL */
    tacit_adjacency adjacency;
    tacit_unit unit;
    uint64_t least, most; /* releases of an agent */
    bool envelope;        /* the first spender is no agent: none spent more than it */
    cli_account_spender spender[CLI_ACCOUNT_SHOWN]; /* the worst first; not all of them */
    size_t shown;
} cli_account_ledger;

tacit_status cli_account_ledger_read(cli_account_ledger *ledger, const cli_account_request *request,
                                     double *delta, tacit_error *err);
void cli_account_ledger_clear(cli_account_ledger *ledger);
/* ---- account_store.c: the file a peer keeps, with its key at PATH.key or --key ---- */
bool cli_account_is_store(const char *path);
tacit_status cli_account_store_read(cli_account_ledger *ledger, const cli_account_request *request,
                                    tacit_error *err);
/* How many agents have lines. */
uint64_t cli_account_ledger_spoke(const cli_account_ledger *ledger);
/* What its adversary sees, in words. */
const char *cli_account_ledger_adversary(const cli_account_ledger *ledger);

#endif
