/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOG_LINES_H
#define CLI_LOG_LINES_H
/*
 * A node's log as JSON lines: {"time": UTC, "level", "event", "node", then the fields of the
 * event}. A line is written at once and whole. A log that cannot be written never stops a node:
 * the next line that can says how many are missing.
 */
#include "tacit/node.h"

#include <stdio.h>

typedef struct cli_log_lines {
    FILE *file;
    const char *node;      /* its name */
    tacit_log_level least; /* what is below is not written */
    uint64_t lost;         /* lines since the last that was written */
} cli_log_lines;

extern const char *const cli_log_level_names[]; /* "debug", "info", "warn", "error" */

/* A tacit_node_log; `ctx` is a cli_log_lines. */
void cli_log_line(void *ctx, tacit_log_level level, const char *event, const char *fields);

#endif
