/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_H
#define CLI_ASK_H
/*
 * Asking running nodes how they are: GET over plain HTTP, many at once, with patience that ends.
 * What comes back is taken as hostile: bounded, and never trusted to end.
 */
#include "tacit/base.h"

#define CLI_ASK_HOST 64
#define CLI_STATUS_FILE "status.port" /* in a node's folder while it runs */

typedef struct cli_ask {
    char host[CLI_ASK_HOST]; /* "127.0.0.1", "::1", a name */
    uint16_t port;
    const char *path; /* "/status" */
    /* What came of it: */
    int code;          /* of HTTP; 0: no answer */
    char *body;        /* ends in NUL; NULL: no answer */
    size_t len;        /* of body */
    char problem[120]; /* why there is no answer */
} cli_ask;

/* Ask all and wait until each has answered or failed, at most `patience` seconds, or until
 * *cli_stop(). Earlier answers are forgotten first. */
void cli_ask_all(cli_ask *asks, size_t count, double patience);
void cli_ask_clear(cli_ask *ask);

/* "HOST:PORT", "[::1]:7401", or "7401" for one of this machine. */
tacit_status cli_ask_where(cli_ask *ask, const char *text, tacit_error *err);
/* The same from FOLDER/status.port. TACIT_NO: there is no such file, so nobody runs there. */
tacit_status cli_ask_folder(cli_ask *ask, const char *folder, tacit_error *err);

#endif
