/* SPDX-License-Identifier: Apache-2.0 */
/*
 * N processes of this program, one a node. Each has a process group of its own, so that Ctrl-C at
 * the terminal reaches tacit up alone, which then asks them to end one by one; and each is killed
 * when tacit up is gone, however it went, so that none is left behind. That is safe: a node may be
 * killed at any moment.
 *
 * Starting a node takes a core some hundredths of a second. Two hundred at once would all wait for
 * each other, so the next one starts when few are still on their way: a node has arrived when its
 * status.port is there, or after a while, in case it shows no status.
 */
#include "terminal.h"
#include "up.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ON_THEIR_WAY 12 /* at most, of those just started */
#define ARRIVED 3.0     /* seconds after which a node counts as there */
#define GRACE 20.0      /* seconds to end in, after SIGTERM */
#define YOUNG 5.0       /* who dies before did not get far */
#define HASTY 5         /* deaths in a row of somebody that young: it will not work */

double up_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

tacit_status up_fleet_create(up_fleet *fleet, const char *folder, uint32_t count, bool restart,
                             tacit_error *err)
{
    *fleet = (up_fleet){.folder = folder, .restart = restart};
    fleet->nodes = calloc(count, sizeof *fleet->nodes);
    if (!fleet->nodes)
        return tacit_out_of_memory(err);
    fleet->count = count;
    for (uint32_t k = 0; k < count; k++) {
        up_node *node = &fleet->nodes[k];
        snprintf(node->name, sizeof node->name, "node-%03u", k);
        node->ask.path = "/status";
        node->words.epsilon = NAN;
    }
    return TACIT_OK;
}

uint32_t up_fleet_in(const up_fleet *fleet, up_phase phase)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < fleet->count; k++)
        count += fleet->nodes[k].phase == phase;
    return count;
}

/* ---- birth ---- */

/* FOLDER/NAME/FILE */
static bool path_in(const up_fleet *fleet, const up_node *node, const char *file, char *out)
{
    const int n = snprintf(out, CLI_PATH_MAX, "%s/%s/%s", fleet->folder, node->name, file);
    return n > 0 && n < CLI_PATH_MAX;
}

/* In the child, where only what is safe after fork may be called. */
static void become(const char *const *words, int out, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it went before we asked to be told */
        _exit(TACIT_EINTERRUPTED);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, 0);
    dup2(out, 1);
    dup2(out, 2);
    if (nothing > 2)
        close(nothing);
    execv("/proc/self/exe", (char *const *)(uintptr_t)words); /* which it does not change */
    static const char sorry[] = "tacit: cannot start this program again: is /proc there?\n";
    ssize_t ignored = write(2, sorry, sizeof sorry - 1);
    (void)ignored;
    _exit(TACIT_EINTERNAL);
}

static tacit_status start(up_fleet *fleet, up_node *node, tacit_error *err)
{
    char config[CLI_PATH_MAX], log[CLI_PATH_MAX], said[CLI_PATH_MAX], port[CLI_PATH_MAX];
    if (!path_in(fleet, node, "node.yaml", config) || !path_in(fleet, node, "log.jsonl", log) ||
        !path_in(fleet, node, "stderr.txt", said) ||
        !path_in(fleet, node, "state/" CLI_STATUS_FILE, port))
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.200s...\" is too long", fleet->folder);
    unlink(port); /* of a life that ended in a hurry */
    const int out = open(said, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (out < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", said, strerror(errno));
    const char *const words[] = {"tacit", "node", "--config", config, "--json-log", log, NULL};
    const pid_t self = getpid();
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become(words, out, self);
    const int reason = errno;
    close(out);
    if (pid < 0)
        return tacit_fail(err, TACIT_EINTERNAL,
                          "cannot start \"%s\": %s; fewer nodes, or a larger limit of processes",
                          node->name, strerror(reason));
    node->pid = pid;
    node->phase = UP_ALIVE;
    node->begun = up_seconds();
    node->asked = false;
    node->lives++;
    return TACIT_OK;
}

static bool has_arrived(const up_fleet *fleet, up_node *node, double now)
{
    char port[CLI_PATH_MAX];
    return now - node->begun > ARRIVED ||
           (path_in(fleet, node, "state/" CLI_STATUS_FILE, port) && access(port, F_OK) == 0);
}

/* ---- death ---- */

/* The last line that the node wrote to its standard error, without our own name in front. */
static void last_line(const up_fleet *fleet, const up_node *node, char *out, size_t size)
{
    char path[CLI_PATH_MAX], text[1024];
    out[0] = '\0';
    FILE *file = path_in(fleet, node, "stderr.txt", path) ? fopen(path, "re") : NULL;
    if (!file)
        return;
    if (fseek(file, -(long)(sizeof text - 1), SEEK_END) != 0)
        rewind(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' '))
        len--;
    text[len] = '\0';
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    if (strncmp(line, "tacit: ", 7) == 0)
        line += 7;
    snprintf(out, size, "%.*s", (int)size - 1, line);
    for (char *c = out; *c; c++) {
        if ((unsigned char)*c < 32 || *c == 127)
            *c = '?';
    }
}

static void say_why(const up_fleet *fleet, up_node *node, int how)
{
    char line[UP_REASON - 40];
    if (WIFSIGNALED(how)) {
        node->code = -1;
        snprintf(node->reason, sizeof node->reason, "killed by signal %d (%s)", WTERMSIG(how),
                 strsignal(WTERMSIG(how)));
        return;
    }
    node->code = WEXITSTATUS(how);
    last_line(fleet, node, line, sizeof line);
    snprintf(node->reason, sizeof node->reason, "exit %d%s%s", node->code, *line ? ": " : "", line);
}

static void bury(up_fleet *fleet, up_node *node, int how)
{
    const double now = up_seconds();
    node->pid = 0;
    node->words.phase[0] = '\0';
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
        node->code = 0;
        node->phase = UP_ENDED;
        return;
    }
    say_why(fleet, node, how);
    if (node->asked && node->code == TACIT_EINTERRUPTED) {
        node->phase = UP_ENDED;
        return;
    }
    fleet->deaths++;
    node->hasty = now - node->begun < YOUNG ? node->hasty + 1 : 0;
    node->phase = UP_DEAD;
    if (fleet->restart && !node->asked && node->hasty < HASTY) {
        node->phase = UP_WAITING;
        node->next = now + (node->hasty > 1 ? node->hasty : 0.5);
        fleet->restarts++;
    }
}

static up_node *find(up_fleet *fleet, pid_t pid)
{
    for (uint32_t k = 0; k < fleet->count; k++) {
        if (fleet->nodes[k].pid == pid)
            return &fleet->nodes[k];
    }
    return NULL;
}

/* ---- the shepherd ---- */

static void make_end(up_fleet *fleet)
{
    const bool late = up_seconds() - fleet->ending > GRACE;
    for (uint32_t k = 0; k < fleet->count; k++) {
        up_node *node = &fleet->nodes[k];
        if (node->phase == UP_WAITING)
            node->phase = node->lives > 0 ? UP_DEAD : UP_ENDED;
        if (node->phase != UP_ALIVE || (node->asked && !late))
            continue;
        kill(node->pid, late ? SIGKILL : SIGTERM);
        node->asked = true;
    }
}

void up_fleet_end(up_fleet *fleet)
{
    if (fleet->ending == 0)
        fleet->ending = up_seconds();
    make_end(fleet);
}

tacit_status up_fleet_tend(up_fleet *fleet, tacit_error *err)
{
    int how;
    pid_t pid;
    while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
        up_node *node = find(fleet, pid);
        if (node)
            bury(fleet, node, how);
    }
    if (fleet->ending > 0) {
        make_end(fleet);
        return TACIT_OK;
    }
    const double now = up_seconds();
    uint32_t coming = 0;
    for (uint32_t k = 0; k < fleet->count; k++)
        coming += fleet->nodes[k].phase == UP_ALIVE && !has_arrived(fleet, &fleet->nodes[k], now);
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < fleet->count && coming < ON_THEIR_WAY && !status; k++) {
        if (fleet->nodes[k].phase == UP_WAITING && fleet->nodes[k].next <= now) {
            status = start(fleet, &fleet->nodes[k], err);
            coming++;
        }
    }
    return status;
}

void up_fleet_free(up_fleet *fleet)
{
    for (uint32_t k = 0; k < fleet->count; k++) {
        up_node *node = &fleet->nodes[k];
        if (node->pid > 0) {
            kill(node->pid, SIGKILL);
            waitpid(node->pid, NULL, 0);
        }
    }
    free(fleet->nodes);
    *fleet = (up_fleet){0};
}
