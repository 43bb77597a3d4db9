/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BOARD_LINES_H
#define TACIT_BOARD_LINES_H
/* What writing (board_write.c) and reading boards (board_file.c) have in common. */
#include "base/writer.h"
#include "report/json_read.h"
#include "tacit/board_file.h"

#define BOARD_SCHEMA "tacit.board/2"
enum { BOARD_LINE = TACIT_JSON_BYTES, BOARD_BYTES = 1 << 30 };
#define BOARD_WORK ((size_t)1 << 31) /* numbers that keys of a board stand for */

/* All lines; out->failed without memory. */
void board_lines_write(tacit_writer *out, const tacit_board *board,
                       const tacit_node_member *members, uint32_t count, tacit_error *err);

#endif
