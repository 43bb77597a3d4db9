/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger that one peer keeps in a file of its own (include/tacit/ledger.h), looked at as if
 * it were lines: one agent, one account. Nothing is written to it.
 */
#include "account_ledger.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cli_account_is_store(const char *path)
{
    static const char magic[16] = "SQLite format 3";
    char start[sizeof magic];
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const bool same = fread(start, 1, sizeof start, file) == sizeof start &&
                      memcmp(start, magic, sizeof magic) == 0;
    fclose(file);
    return same;
}

static tacit_status copy_entries(tacit_ledger_lines *lines, const tacit_ledger *from,
                                 tacit_agent agent, tacit_error *err)
{
    lines->line = calloc((size_t)from->count + 1, sizeof *lines->line);
    lines->part = calloc((size_t)from->count + 1, sizeof *lines->part);
    lines->account = calloc(1, sizeof *lines->account);
    if (!lines->line || !lines->part || !lines->account)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < from->count; k++) {
        const tacit_ledger_entry *entry = &from->entries[k];
        lines->line[k] = (tacit_ledger_line){.agent = agent,
                                             .agents = 1,
                                             .cost = entry->cost,
                                             .releases = entry->releases,
                                             .first = entry->first,
                                             .last = entry->last};
        lines->part[k] = (tacit_ledger_part){.cost = entry->cost, .releases = entry->releases};
    }
    lines->account[0] =
        (tacit_ledger_account){.agent = agent, .agents = 1, .first = 0, .count = from->count};
    lines->accounts = 1;
    lines->count = lines->parts = lines->capacity = from->count;
    return TACIT_OK;
}

tacit_status cli_account_store_read(cli_account_ledger *ledger, const cli_account_request *request,
                                    tacit_error *err)
{
    tacit_key key;
    char beside[TACIT_TEXT_MAX + 8];
    snprintf(beside, sizeof beside, "%.*s.key", TACIT_TEXT_MAX, request->path);
    tacit_status status =
        tacit_key_read(&key, CLI_GIVEN(request, KEY) ? request->key : beside, err);
    if (status)
        return status;
    status = tacit_ledger_file_look(&ledger->store, request->path, &key, err);
    tacit_key_wipe(&key);
    if (status)
        return status;
    const tacit_ledger_holder *holder = tacit_ledger_file_holder(ledger->store);
    tacit_ledger_lines *lines = &ledger->lines;
    *lines = (tacit_ledger_lines){.seal = TACIT_SEAL_KEY,
                                  .agents = 1,
                                  .epsilon = holder->budget.epsilon,
                                  .delta = holder->budget.delta};
    snprintf(lines->adversary, sizeof lines->adversary, "%s",
             tacit_trust_name(holder->budget.trust));
    return copy_entries(lines, tacit_ledger_file_ledger(ledger->store), holder->agent, err);
}
