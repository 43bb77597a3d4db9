/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BOARD_FILE_H
#define TACIT_BOARD_FILE_H
/*
 * A board (board.h) as a file of JSON lines, for anybody to add up again:
 *
 *     {"schema":"tacit.board/2","run":...,"round":...,...,"total":[...],"beside_total":[...]}
 *     {"member":"ward-a","key":"<64 digits>","agents":"0-4 7"}          a line a member
 *     {"agent":0,"commit":...,"seed":...,"signature":...,"number":[...],"beside":[...]}
 *     {"from":0,"gone":3,"key":...,"signature":...}                     a line a key
 *     {"end":"tacit.board/2","hash":...}                                of all bytes before
 *
 * Bytes are hexadecimal, numbers decimal. A board has one text and no other is read: whatever byte
 * of a file is another one, it is refused.
 */
#include "tacit/board.h"
#include "tacit/consortium.h"

typedef struct tacit_board_file {
    tacit_board board;   /* with its memory */
    tacit_roster roster; /* who signs for whom, as the file says; endpoints are empty */
} tacit_board_file;

/* The text (caller frees). Members who host nobody with a word are left out. */
tacit_status tacit_board_file_text(char **text, size_t *len, const tacit_board *board,
                                   const tacit_node_member *members, uint32_t count,
                                   tacit_error *err);
/* Complete or not at all; replaces an older one. */
tacit_status tacit_board_file_write(const char *path, const tacit_board *board,
                                    const tacit_node_member *members, uint32_t count,
                                    tacit_error *err);
/* TACIT_EINPUT: there is no board there. TACIT_EVERIFY: there was one. On failure there is nothing
 * to clear. */
tacit_status tacit_board_file_parse(tacit_board_file *file, const char *shown, const char *text,
                                    size_t len, tacit_error *err);
tacit_status tacit_board_file_read(tacit_board_file *file, const char *path, tacit_error *err);
void tacit_board_file_clear(tacit_board_file *file);

/* tacit_board_check with signatures by the keys of the file. With `known`, the members that
 * somebody trusts, who signs for whom must be as it says. */
tacit_status tacit_board_file_check(const tacit_board_file *file, const tacit_roster *known,
                                    tacit_error *err);

#endif
