/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_STATUS_H
#define CLI_STATUS_H
/*
 * What nodes say of themselves (schema tacit.node/1), as rows of a table. It came over a network:
 * texts are cut, and nothing in them can move the cursor.
 */
#include "base/writer.h"

typedef struct cli_node_row {
    bool reached;
    char name[64], phase[16];
    char mute[160];    /* why it only listens; "" */
    char problem[160]; /* why it was not reached */
    char alone[160];   /* why no lifetime ledger counts its run; "": one does, or nobody knows */
    double time, until;
    uint64_t agents, up, slow, down, messages_in, messages_out, refused, shed;
    double epsilon, budget; /* of the agent that spent most; infinity: unbounded, no limit */
    char about[240];        /* what that epsilon is about: never shown without */
} cli_node_row;

/* From the body of /status. False: it is none, and row->problem says so; the name stays. */
bool cli_node_row_read(cli_node_row *row, const char *body, size_t len);
/* On stdout: a line each, then what needs more words. */
void cli_node_table(const cli_node_row *rows, size_t count);
/* Text of somebody else for a terminal: no control characters, at most size - 1 bytes. */
void cli_safe_text(char *out, size_t size, const char *text);

#endif
