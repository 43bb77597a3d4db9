/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ctrl-C. The first one asks the run to stop at the next clean point, where it can write a
 * checkpoint; the second one is for a user who does not want to wait.
 */
#include "verbs.h"

#include <signal.h>
#include <string.h>

static tacit_stop stop;

static void forget(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void on_signal(int number)
{
    (void)number;
    stop = 1;
    forget(); /* the next one kills */
}

void cli_ignore_signals(void)
{
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f */
}

void cli_catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART; /* a write in progress is not an error */
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

const tacit_stop *cli_stop(void)
{
    return &stop;
}
