/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a run is, and how long it will still take: on a terminal a bar, at most ten times a
 * second; elsewhere a line a minute, so that logs of long runs say something and those of short
 * ones stay empty.
 */
#include "terminal.h"

#include <time.h>

#define CELLS 30

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_progress_begin(cli_progress *progress, const char *label, bool quiet)
{
    *progress = (cli_progress){.on = !quiet, .bar = cli_is_screen(stderr)};
    snprintf(progress->label, sizeof progress->label, "%s", label);
}

static void show_bar(double share)
{
    const int full = (int)(share * CELLS);
    fputc('[', stderr);
    for (int i = 0; i < CELLS; i++)
        fputc(i < full ? '#' : '.', stderr);
    fputs("] ", stderr);
}

static void show_left(double left)
{
    if (left < 90)
        fprintf(stderr, "%.0f s left", left);
    else if (left < 5400)
        fprintf(stderr, "%.0f min left", left / 60);
    else
        fprintf(stderr, "%.1f h left", left / 3600);
}

void cli_progress_step(void *ctx, double time, double total)
{
    cli_progress *p = ctx;
    if (!p->on)
        return;
    double now = seconds();
    if (!p->begun) {
        p->begun = true;
        p->first = time;
        p->start = now;
        p->shown = now; /* a run that takes no time shows nothing */
        return;
    }
    if (now - p->shown < (p->bar ? 0.1 : 60) || !(total > 0))
        return;
    p->shown = now;
    double share = time / total < 0 ? 0 : time / total > 1 ? 1 : time / total;
    fprintf(stderr, "%s%s ", p->bar ? "\r" : "", p->label);
    if (p->bar)
        show_bar(share);
    fprintf(stderr, "%3.0f %%  ", 100 * share);
    if (time > p->first)
        show_left((now - p->start) * (total - time) / (time - p->first));
    fputs(p->bar ? "\033[K" : "\n", stderr);
    fflush(stderr);
}

void cli_progress_end(cli_progress *progress)
{
    if (progress->on && progress->bar && progress->begun)
        fputs("\r\033[K", stderr);
    progress->on = false;
}
