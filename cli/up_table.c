/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the nodes are, on standard error while they run: a line a node, drawn over and over in
 * place, if the screen has room for that; two lines about all otherwise; and without a screen a
 * line every few seconds.
 */
#include "terminal.h"
#include "up.h"
#include "verbs.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MOST_ROWS 30
#define REDRAW 0.25 /* seconds */
#define REPEAT 5.0  /* without a screen */

/* Of all nodes that were heard. */
typedef struct total {
    uint32_t phases[UP_DEAD + 1];
    bool heard;
    double least, most, until; /* times */
    uint64_t messages, down, slow, refused, mute;
    double epsilon;
} total;

static total add_up(const up_fleet *fleet)
{
    total t = {.epsilon = NAN};
    for (uint32_t k = 0; k < fleet->count; k++) {
        const up_node *node = &fleet->nodes[k];
        const up_words *w = &node->words;
        t.phases[node->phase]++;
        if (!w->heard)
            continue;
        t.least = !t.heard || w->time < t.least ? w->time : t.least;
        t.most = !t.heard || w->time > t.most ? w->time : t.most;
        t.until = w->until;
        t.messages += w->messages_out;
        t.refused += w->refused;
        t.heard = true;
        if (!isnan(w->epsilon) && !(w->epsilon <= t.epsilon))
            t.epsilon = w->epsilon;
        if (node->phase == UP_ALIVE) {
            t.down += w->down;
            t.slow += w->slow;
            t.mute += *w->mute != '\0';
        }
    }
    return t;
}

static void say_phases(const up_fleet *fleet, const total *t)
{
    static const char *const names[] = {
        [UP_WAITING] = "to start", [UP_ALIVE] = "running", [UP_ENDED] = "done", [UP_DEAD] = "dead"};
    fprintf(stderr, "%u node%s:", fleet->count, fleet->count == 1 ? "" : "s");
    const char *gap = " ";
    for (int phase = UP_WAITING; phase <= UP_DEAD; phase++) {
        if (t->phases[phase] == 0)
            continue;
        fprintf(stderr, "%s%u %s", gap, t->phases[phase], names[phase]);
        gap = ", ";
    }
    if (fleet->ending > 0)
        fprintf(stderr, "%sending", gap);
}

static void say_times(const total *t)
{
    if (!t->heard)
        return;
    char messages[40];
    cli_count(t->messages, messages, sizeof messages);
    if (t->most - t->least < 0.1)
        fprintf(stderr, "; time %.1f of %g", t->most, t->until);
    else
        fprintf(stderr, "; time %.1f to %.1f of %g", t->least, t->most, t->until);
    fprintf(stderr, "; %s sent", messages);
}

static void say_troubles(const total *t)
{
    if (t->down)
        fprintf(stderr, "; %llu links down", (unsigned long long)t->down);
    if (t->slow)
        fprintf(stderr, "; %llu slow", (unsigned long long)t->slow);
    if (t->mute)
        fprintf(stderr, "; %llu mute", (unsigned long long)t->mute);
    if (t->refused)
        fprintf(stderr, "; %llu refused", (unsigned long long)t->refused);
}

/* ---- a line a node ---- */

static const char *phase_of(const up_node *node)
{
    switch (node->phase) {
    case UP_WAITING:
        return node->lives > 0 ? "restarts" : "to start";
    case UP_ENDED:
        return "done";
    case UP_DEAD:
        return "dead";
    default:
        return *node->words.mute ? "mute" : *node->words.phase ? node->words.phase : "starts";
    }
}

static void draw_row(const up_node *node)
{
    const up_words *w = &node->words;
    char sent[40] = "", heard[40] = "", epsilon[40] = "", peers[60] = "", time[40] = "";
    if (w->heard) {
        cli_count(w->messages_out, sent, sizeof sent);
        cli_count(w->messages_in, heard, sizeof heard);
        snprintf(time, sizeof time, "%.1f", w->time);
        snprintf(peers, sizeof peers, "%llu/%llu", (unsigned long long)w->up,
                 (unsigned long long)w->peers);
        if (!isnan(w->epsilon))
            cli_epsilon(w->epsilon, epsilon, sizeof epsilon);
    }
    fprintf(stderr, "%-10s%-10s%8s%9s%12s%12s%11s%8llu\033[K\n", node->name, phase_of(node), time,
            peers, sent, heard, epsilon, (unsigned long long)w->refused);
}

static void draw_rows(up_table *table, const up_fleet *fleet)
{
    const char *faint = cli_has_style(stderr) ? "\033[2m" : "";
    const char *plain = *faint ? "\033[0m" : "";
    fprintf(stderr, "%s%-10s%-10s%8s%9s%12s%12s%11s%8s%s\033[K\n", faint, "node", "phase", "time",
            "peers up", "sent", "received", "epsilon", "refused", plain);
    for (uint32_t k = 0; k < fleet->count; k++)
        draw_row(&fleet->nodes[k]);
    table->lines += fleet->count + 1;
}

static bool fits(const up_fleet *fleet)
{
    struct winsize size = {0};
    if (fleet->count > MOST_ROWS || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0)
        return false;
    return size.ws_row > fleet->count + 3 && size.ws_col > 80;
}

/* ---- all of it ---- */

void up_table_begin(up_table *table, bool quiet)
{
    *table = (up_table){.screen = cli_is_screen(stderr), .quiet = quiet, .begun = up_seconds()};
    table->drawn = table->begun;
}

static void erase(up_table *table)
{
    if (table->lines > 0)
        fprintf(stderr, "\033[%uA\r\033[J", table->lines);
    table->lines = 0;
}

void up_table_draw(up_table *table, const up_fleet *fleet)
{
    const double now = up_seconds();
    if (table->quiet || now - table->drawn < (table->screen ? REDRAW : REPEAT))
        return;
    table->drawn = now;
    const total t = add_up(fleet);
    if (!table->screen) {
        say_phases(fleet, &t);
        say_times(&t);
        say_troubles(&t);
        fputc('\n', stderr);
        return;
    }
    if (table->lines > 0)
        fprintf(stderr, "\033[%uA\r", table->lines);
    table->lines = 0;
    if (fits(fleet))
        draw_rows(table, fleet);
    say_phases(fleet, &t);
    say_times(&t);
    fputs("\033[K\n", stderr);
    fprintf(stderr, "%.0f s", now - table->begun);
    say_troubles(&t);
    fprintf(stderr, "%s\033[K\n\033[J",
            fleet->ending > 0 ? "; Ctrl-C once more ends them at once" : "; Ctrl-C ends all");
    table->lines += 2;
    fflush(stderr);
}

void up_table_end(up_table *table)
{
    erase(table);
    fflush(stderr);
}

void up_table_mourn(up_table *table, const up_node *node)
{
    char text[UP_REASON + 80];
    erase(table);
    snprintf(text, sizeof text, "%s died: %s%s", node->name, node->reason,
             node->phase == UP_WAITING ? "; it is started again" : "");
    cli_remark(text);
}
