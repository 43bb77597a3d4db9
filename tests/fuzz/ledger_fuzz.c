/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a ledger of JSON lines: an error with words and nothing left behind, or accounts
 * whose losses an accountant accepts. The first byte decides whether the bytes are sealed first,
 * so that what stands behind a good seal is met too, and whether a key is given.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/ledger_read.h"
#include "privacy/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

/* Every line that ends in a brace gets its mac; a first and a last line are added. */
static char *sealed(const char *text, size_t len, const tacit_key *key, size_t *size)
{
    size_t lines = 3;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    char *out = malloc(len + lines * (TACIT_LINE_END + 100));
    demand(out);
    size_t n = 0, entries = 0;
    char end[TACIT_LINE_END + 1];
    tacit_chain chain;
    tacit_chain_begin(&chain, key, TACIT_SEAL_LINES);
    static const char first[] = "{\"schema\":\"tacit.ledger/1\",\"agents\":3,\"seal\":\"key\"";
    tacit_chain_close_line(&chain, first, sizeof first - 1, end);
    n += (size_t)snprintf(out + n, 300, "%s%s\n", first, end);
    for (size_t at = 0; at < len; entries++) {
        const char *stop = memchr(text + at, '\n', len - at);
        size_t part = stop ? (size_t)(stop - text) - at : len - at;
        const size_t next = at + part + 1;
        part -= part > 0 && text[at + part - 1] == '}';
        tacit_chain_close_line(&chain, text + at, part, end);
        memcpy(out + n, text + at, part);
        n += part;
        n += (size_t)snprintf(out + n, 300, "%s\n", end);
        at = next;
    }
    char last[80];
    snprintf(last, sizeof last, "{\"seal\":\"end\",\"entries\":%zu", entries);
    tacit_chain_close_line(&chain, last, strlen(last), end);
    n += (size_t)snprintf(out + n, 300, "%s%s\n", last, end);
    *size = n;
    return out;
}

static void check(const tacit_ledger_lines *lines)
{
    tacit_error err = {0};
    uint64_t parts = 0;
    for (size_t k = 0; k < lines->accounts; k++) {
        const tacit_ledger_account *a = &lines->account[k];
        demand(a->agents > 0 && a->count > 0 && a->first + a->count <= lines->parts);
        demand(k == 0 || a->agent > a[-1].agent);
        tacit_loss *loss = calloc(a->count, sizeof *loss);
        demand(loss);
        tacit_ledger_account_losses(lines, a, loss);
        for (size_t p = 0; p < a->count; p++) {
            demand(loss[p].count > 0);
            demand(loss[p].count > (UINT64_C(1) << 53) || isnan(loss[p].noise) ||
                   loss[p].noise == 0 || tacit_loss_check(&loss[p], &err) == TACIT_OK);
        }
        free(loss);
        parts += a->count;
    }
    demand(parts <= lines->parts && lines->parts <= lines->count);
    for (size_t k = 0; k < lines->count; k++)
        demand(lines->line[k].releases > 0 && lines->line[k].cost->what[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 1)
        return 0;
    const tacit_key key = {{bytes[0]}};
    const bool seal = bytes[0] & 1, give = bytes[0] & 3;
    const char *text = (const char *)bytes + 1;
    size_t size = len - 1;
    char *made = seal ? sealed(text, size, &key, &size) : NULL;
    tacit_ledger_lines lines;
    tacit_error err = {0};
    tacit_status status = tacit_ledger_read_text(&lines, "fuzz.jsonl", made ? made : text, size,
                                                 give ? &key : NULL, &err);
    if (status) {
        demand(err.text[0] && !lines.line && !lines.account && !lines.part && !lines.costs);
        demand(status == TACIT_EINPUT || status == TACIT_EVERIFY);
    } else {
        demand(!seal || lines.seal == TACIT_SEAL_KEY);
        check(&lines);
    }
    tacit_ledger_lines_clear(&lines);
    free(made);
    return 0;
}
