/* SPDX-License-Identifier: Apache-2.0 */
#include "lifetime.h"

#include "runtime/node/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FILE_NAME "tacit/lifetime.ledger"

/* ---- where it is ---- */

static tacit_status make_folders(const char *path, tacit_error *err)
{
    char folder[CLI_PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return tacit_fail(err, TACIT_EINPUT,
                              "cannot make \"%.300s\" for the lifetime ledger: %s; say in "
                              "\"node.lifetime\" where else it shall be",
                              folder, strerror(errno));
        *slash = '/';
    }
    return TACIT_OK;
}

tacit_status cli_lifetime_path(char out[CLI_PATH_MAX], const char *named, bool make,
                               tacit_error *err)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int len;
    if (named[0])
        len = snprintf(out, CLI_PATH_MAX, "%s", named);
    else if (state && state[0] == '/') /* a relative one is to be ignored */
        len = snprintf(out, CLI_PATH_MAX, "%s/" FILE_NAME, state);
    else if (home && home[0] == '/')
        len = snprintf(out, CLI_PATH_MAX, "%s/.local/state/" FILE_NAME, home);
    else
        return tacit_fail(err, TACIT_EINPUT,
                          "where is the lifetime ledger? Neither XDG_STATE_HOME nor HOME is set; "
                          "say it in \"node.lifetime\", as in \"node: {lifetime: "
                          "/var/lib/tacit/lifetime.ledger}\"");
    if (len < 0 || len >= CLI_PATH_MAX)
        return tacit_fail(err, TACIT_EINPUT, "the path of the lifetime ledger is too long");
    return make && !named[0] ? make_folders(out, err) : TACIT_OK;
}

/* ---- a node's run ---- */

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void note(const tacit_node_plan *plan, tacit_log_level level, const char *event,
                 log_fields *fields)
{
    if (plan->log && (int)level >= plan->options->log)
        plan->log(plan->log_ctx, level, event, log_end(fields));
}

static void note_counted(const tacit_node_plan *plan, const char *event,
                         const tacit_node_lifetime *l)
{
    log_fields f;
    log_begin(&f);
    log_text(&f, "data_set", l->data_set);
    log_number(&f, "epsilon_of_other_runs", l->before);
    log_number(&f, "epsilon_with_this_run", l->spent);
    log_number(&f, "epsilon_budget", l->epsilon);
    log_number(&f, "delta", l->delta);
    note(plan, TACIT_LOG_INFO, event, &f);
}

/* A refusal with the command that shows why. */
static tacit_status say_where(const char *path, const char *named, tacit_error *err)
{
    const tacit_error why = err ? *err : (tacit_error){0};
    return tacit_fail(err, TACIT_EBUDGET, "%.500s; see \"tacit ledger show%s%.200s\"", why.text,
                      named[0] ? " " : "", named[0] ? path : "");
}

tacit_status cli_lifetime_begin(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                                const tacit_node *node, const tacit_node_plan *plan,
                                tacit_error *err)
{
    char path[CLI_PATH_MAX];
    if (!tacit_peer_counts(lifetime, peer)) {
        log_fields f;
        const bool off = strcmp(plan->options->lifetime, "off") == 0;
        log_begin(&f);
        log_text(&f, "why", lifetime->shown.why_not);
        note(plan, off ? TACIT_LOG_WARN : TACIT_LOG_INFO, "lifetime_not_counted", &f);
        return TACIT_OK;
    }
    tacit_status status = cli_lifetime_path(path, plan->options->lifetime, true, err);
    if (!status)
        status = tacit_peer_reserve(lifetime, peer, node, path, wall_clock(), err);
    if (!status)
        note_counted(plan, "lifetime_reserved", &lifetime->shown);
    return status == TACIT_EBUDGET ? say_where(path, plan->options->lifetime, err) : status;
}

tacit_status cli_lifetime_end(tacit_peer_lifetime *lifetime, const tacit_peer *peer,
                              const tacit_node *node, const tacit_node_plan *plan, tacit_error *err)
{
    if (!lifetime->shown.counted)
        return TACIT_OK;
    tacit_status status = tacit_peer_settle(lifetime, peer, node, wall_clock(), err);
    if (!status)
        note_counted(plan, "lifetime_settled", &lifetime->shown);
    return status;
}

void cli_lifetime_words(const tacit_node_lifetime *l, char *out, size_t size)
{
    char spent[40], budget[40];
    if (!l->counted) {
        snprintf(out, size, "not counted: %s", l->why_not);
        return;
    }
    cli_epsilon(l->spent, spent, sizeof spent);
    cli_epsilon(l->epsilon, budget, sizeof budget);
    snprintf(out, size,
             "over the data set \"%s\" spent epsilon %s of %s at delta %g, this one included; see "
             "\"tacit ledger show\"",
             l->data_set, spent, budget, l->delta);
}
