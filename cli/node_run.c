/* SPDX-License-Identifier: Apache-2.0 */
/* A process that is a node: what it does to itself, the node's life, and what is left in its
 * folder. */
#include "ask.h"
#include "lifetime.h"
#include "node.h"
#include "verbs.h"

#include "base/file.h"
#include "base/writer.h"
#include "runtime/node/words.h"

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- files of its folder ---- */

static tacit_status path_in(char *out, const char *folder, const char *name, tacit_error *err)
{
    const int n = snprintf(out, CLI_PATH_MAX, "%s/%s", folder, name);
    if (n < 0 || n >= CLI_PATH_MAX)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.200s...\" is too long", folder);
    return TACIT_OK;
}

/* Under another name first. For its owner alone: scores and results may be in it. */
tacit_status cli_node_put(const char *folder, const char *name, char *text, tacit_error *err)
{
    char path[CLI_PATH_MAX], fresh[CLI_PATH_MAX + 8];
    tacit_status status = path_in(path, folder, name, err);
    if (status) {
        free(text);
        return status;
    }
    snprintf(fresh, sizeof fresh, "%s.tmp", path);
    unlink(fresh);
    status = text ? tacit_file_create(fresh, 0600, text, strlen(text), "file", err)
                  : tacit_out_of_memory(err);
    free(text);
    if (!status && rename(fresh, path) != 0) {
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", path, strerror(errno));
        unlink(fresh);
    }
    return status;
}

/* Where its status is shown, for tacit status: a port of this machine, or an address with it. */
static tacit_status put_port(const tacit_node_plan *plan, uint16_t port, tacit_error *err)
{
    const char *where = plan->options->status, *colon = strrchr(where, ':');
    const size_t len = colon ? (size_t)(colon - where) : 0;
    char text[TACIT_TEXT_MAX + 16];
    if (len == 0 || strncmp(where, "127.", 4) == 0 || strncmp(where, "0.0.0.0:", 8) == 0 ||
        strncmp(where, "[::]:", 5) == 0 || strncmp(where, "localhost:", 10) == 0)
        snprintf(text, sizeof text, "%u\n", port);
    else
        snprintf(text, sizeof text, "%.*s:%u\n", (int)len, where, port);
    return cli_node_put(plan->options->folder, CLI_STATUS_FILE, strdup(text), err);
}

static void take_port(const tacit_node_plan *plan)
{
    char path[CLI_PATH_MAX];
    if (path_in(path, plan->options->folder, CLI_STATUS_FILE, NULL) == TACIT_OK)
        unlink(path);
}

static tacit_status put_models(const tacit_node *node, const tacit_node_plan *plan,
                               tacit_error *err)
{
    if (!plan->model)
        return TACIT_OK;
    const tacit_secret **models = calloc((size_t)plan->hosted_count + 1, sizeof(void *));
    if (!models)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < plan->hosted_count; k++)
        models[k] = tacit_node_model(node, k);
    tacit_status status =
        tacit_models_save(plan->options->folder, plan->model, models, plan->hosted_count, err);
    free(models);
    return status;
}

/* ---- the process ---- */

/* A link takes descriptors, and consortia can be large. Keys and records do not go into a core
 * dump. */
static void set_limits(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = 0;
        setrlimit(RLIMIT_CORE, &limit);
    }
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max < 65536 ? limit.rlim_max : 65536;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* A large message is a block of its own for malloc, which hands such blocks back to the system at
 * once: then every message is paid for in fresh pages. Keep a few megabytes instead. Only nodes of
 * large models ever have as much. */
static void keep_blocks(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
    mallopt(M_TRIM_THRESHOLD, 8 << 20);
#endif
}

void cli_node_process(void)
{
    set_limits();
    keep_blocks();
    cli_catch_signals();
}

/* ---- the node ---- */

/* models.npy, board.jsonl if there is one, and summary.json. */
static tacit_status leave_results(const tacit_node *node, const tacit_node_plan *plan,
                                  char **summary, tacit_error *err)
{
    tacit_node_status look;
    tacit_status status = put_models(node, plan, err);
    if (!status && (status = tacit_node_board_save(node, plan, err)) == TACIT_NO)
        status = TACIT_OK;
    if (!status)
        status = tacit_node_look(node, &look, err);
    if (status)
        return status;
    tacit_writer text = {0};
    node_words_json(&text, &look);
    tacit_node_status_clear(&look);
    *summary = tacit_writer_take(&text);
    char *copy = *summary ? strdup(*summary) : NULL;
    return copy ? cli_node_put(plan->options->folder, "summary.json", copy, err)
                : tacit_out_of_memory(err);
}

/* In order, if not with what was hoped for: nothing more will be released. */
static bool has_ended(const tacit_node *node, tacit_status status)
{
    tacit_node_status look;
    if (status != TACIT_EPEER || tacit_node_look(node, &look, NULL) != TACIT_OK)
        return status == TACIT_OK;
    const bool ended = strcmp(look.phase, "ended") == 0;
    tacit_node_status_clear(&look);
    return ended;
}

tacit_status cli_node_run(const tacit_peer *peer, const tacit_node_plan *given, cli_node_tell *tell,
                          void *ctx, tacit_error *err)
{
    tacit_node *node = NULL;
    tacit_peer_lifetime lifetime = {.reservation = 0};
    tacit_node_plan with = *given, *const plan = &with;
    plan->lifetime = &lifetime.shown;
    tacit_status status = tacit_node_create(&node, plan, err);
    if (status)
        return status;
    /* Its ledgers are there, and nothing was released yet. */
    status = cli_lifetime_begin(&lifetime, peer, node, plan, err);
    if (status) {
        tacit_node_destroy(node);
        return status;
    }
    const uint16_t port = tacit_node_status_port(node);
    if (port)
        status = put_port(plan, port, err);
    if (!status)
        status = tacit_node_run(node, cli_stop(), err);
    take_port(plan);
    if (has_ended(node, status)) {
        tacit_error late = {0};
        const tacit_status settled = cli_lifetime_end(&lifetime, peer, node, plan, &late);
        if (settled && !status)
            status = tacit_fail(err, settled, "%s", late.text);
    }
    if (status == TACIT_OK || status == TACIT_EINTERRUPTED) {
        tacit_error late = {0};
        char *summary = NULL;
        tacit_status left = leave_results(node, plan, &summary, &late);
        if (!left)
            left = tell(ctx, node, summary, &late);
        free(summary);
        if (left)
            status = tacit_fail(err, left, "%s", late.text);
        else if (status == TACIT_EINTERRUPTED)
            tacit_fail(err, status, "interrupted; the same command goes on");
    }
    tacit_node_destroy(node);
    return status;
}
