/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a board: an error with words and nothing left behind, or a board whose text they
 * are. The first byte decides whether a hash that fits is put behind them, so that what comes
 * after it is met, too.
 */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/board_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static char *sealed(const char *text, size_t *len)
{
    uint8_t hash[TACIT_MASK_KEY];
    char digits[2 * TACIT_MASK_KEY + 1];
    char *out = malloc(*len + 200);
    demand(out);
    memcpy(out, text, *len);
    tacit_mask_hash(hash, "tacit.board/2", out, *len);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    *len +=
        (size_t)snprintf(out + *len, 200, "{\"end\":\"tacit.board/2\",\"hash\":\"%s\"}\n", digits);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len < 1)
        return 0;
    const char *text = (const char *)bytes + 1;
    size_t size = len - 1;
    char *made = bytes[0] & 1 ? sealed(text, &size) : NULL;
    tacit_board_file f;
    tacit_error err = {0};
    tacit_status status = tacit_board_file_parse(&f, "fuzz", made ? made : text, size, &err);
    if (status) {
        demand(err.text[0] && !f.board.memory && !f.roster.members);
        demand(status == TACIT_EINPUT || status == TACIT_EVERIFY);
    } else {
        char *again;
        size_t again_len;
        demand(f.board.words > 0 && f.board.numbers <= len && f.board.words <= len);
        status = tacit_board_file_check(&f, NULL, &err);
        demand(status == TACIT_OK || status == TACIT_EVERIFY);
        demand(status == TACIT_OK || err.text[0]);
        demand(tacit_board_file_text(&again, &again_len, &f.board, f.roster.members, f.roster.count,
                                     &err) == TACIT_OK);
        demand(status != TACIT_OK || (again_len <= size));
        free(again);
    }
    tacit_board_file_clear(&f);
    free(made);
    return 0;
}
