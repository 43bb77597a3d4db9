/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H
/* What the screen can do, and the little that is drawn on it. */
#include "tacit/base.h"

#include <stdio.h>

/* May escape codes go to this stream? Only to a terminal that is not "dumb", and bold or
 * colour only if NO_COLOR is not set. */
bool cli_is_screen(FILE *stream);
bool cli_has_style(FILE *stream);
/* Does the locale say UTF-8? Then bars are smooth and deviations have a real sign. */
bool cli_has_unicode(void);

/* Escape codes, or "" where there is no style: printf("%s...%s", cli_bold(), cli_plain()). */
const char *cli_bold(void);
const char *cli_faint(void);
const char *cli_plain(void);

/* A bar of `width` cells on stdout, `share` of them full; no blanks behind the `last` thing
 * on a line. */
void cli_bar(double share, int width, bool last);
/* Words on stdout in lines of at most 80 columns; `column` says where the cursor is, later
 * lines start at `indent`. Ends the line. */
void cli_wrap(const char *text, int column, int indent);

/* "tacit: message" on stderr. */
void cli_complain(const char *text);
/* "note: message" on stderr: worth knowing, and nothing is wrong. */
void cli_remark(const char *text);

/* ---- progress.c: on stderr, a line that stays one line; without a terminal, one a minute ---- */
typedef struct cli_progress {
    bool on, bar, begun;
    char label[64];
    double first; /* simulated time of the first call: a resumed run does not start at 0 */
    double start, shown;
} cli_progress;
void cli_progress_begin(cli_progress *progress, const char *label, bool quiet);
/* A tacit_progress. */
void cli_progress_step(void *progress, double time, double total);
void cli_progress_end(cli_progress *progress);

#endif
