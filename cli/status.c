/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit status: how running nodes are. A word is a folder (of one node, or made by "tacit up"), a
 * node.yaml, or HOST:PORT; all are asked at once. Where a node shows its status is in a file of
 * its folder while it runs.
 */
#include "status.h"
#include "ask.h"
#include "experiment/consortium.h"
#include "report/json_read.h"
#include "terminal.h"
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST = 2 * TACIT_UP_NODES };
#define PATIENCE 3.0 /* seconds for all answers */

typedef struct status_flags {
    bool json, watch;
} status_flags;

#define AT(member) .offset = offsetof(status_flags, member)
static const tacit_option options[] = {
    CLI_FLAG_SWITCH("json", 'j', "print what nodes say as JSON", AT(json)),
    CLI_FLAG_SWITCH("watch", 'w', "again every second, until Ctrl-C or nobody answers", AT(watch)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(status_flags)};

static const cli_example examples[] = {
    {"tacit status ward-a/node.yaml", "one node of this machine"},
    {"tacit status peers --watch", "all nodes of \"tacit up\", every second"},
    {"tacit status 127.0.0.1:7401 [::1]:7402", "by address"},
    {"tacit status peers --json | python3 -m json.tool", "for programs"},
};

/* ---- whom to ask ---- */

typedef struct asked {
    cli_ask *asks;
    cli_node_row *rows;
    char (*names)[TACIT_TEXT_MAX]; /* as they are called until they say it themselves */
    bool *silent;                  /* there is nobody to ask */
    size_t count, capacity;
} asked;

static void clear_asked(asked *a)
{
    for (size_t i = 0; i < a->count; i++)
        cli_ask_clear(&a->asks[i]);
    free(a->asks);
    free(a->rows);
    free(a->names);
    free(a->silent);
}

static bool grow(void **array, size_t capacity, size_t size)
{
    void *more = realloc(*array, capacity * size);
    if (more)
        *array = more;
    return more != NULL;
}

/* One more, without address. */
static tacit_status add(asked *a, const char *name, tacit_error *err)
{
    if (a->count == MOST)
        return tacit_fail(err, TACIT_EUSAGE, "more than %d nodes; ask for fewer at a time", MOST);
    if (a->count == a->capacity) {
        const size_t capacity = 2 * a->capacity + 16;
        if (!grow((void **)&a->asks, capacity, sizeof *a->asks) ||
            !grow((void **)&a->rows, capacity, sizeof *a->rows) ||
            !grow((void **)&a->names, capacity, sizeof *a->names) ||
            !grow((void **)&a->silent, capacity, sizeof *a->silent))
            return tacit_out_of_memory(err);
        a->capacity = capacity;
    }
    a->asks[a->count] = (cli_ask){.path = "/status"};
    a->rows[a->count] = (cli_node_row){0};
    a->silent[a->count] = false;
    snprintf(a->names[a->count], sizeof a->names[a->count], "%s", name);
    a->count++;
    return TACIT_OK;
}

/* The port that a node wrote into its folder, or that node.yaml fixes. */
static tacit_status ask_yaml(cli_ask *ask, const char *path, tacit_error *err)
{
    tacit_config config;
    tacit_node_options node;
    tacit_error none = {0};
    tacit_config_init(&config);
    tacit_status status = tacit_config_read(&config, path, err);
    if (status == TACIT_OK)
        status = tacit_config_apply(&config, &tacit_node_section, &node, err);
    if (status == TACIT_OK)
        status = tacit_path_beside(node.folder, path, "node.folder", err);
    tacit_config_clear(&config);
    if (status != TACIT_OK)
        return status;
    status = cli_ask_folder(ask, node.folder, err);
    if (status == TACIT_NO && cli_ask_where(ask, node.status, &none) == TACIT_OK)
        status = TACIT_OK;
    return status;
}

/* A node whose place is not known is a row like any other: nobody runs there. */
static tacit_status settle(asked *a, tacit_status status, tacit_error *err)
{
    const size_t last = a->count - 1;
    if (status == TACIT_NO) {
        a->silent[last] = true;
        snprintf(a->rows[last].problem, sizeof a->rows[last].problem, "it does not run");
        if (err)
            *err = (tacit_error){0};
        return TACIT_OK;
    }
    return status;
}

static bool is_there(const char *folder, const char *name)
{
    char path[CLI_PATH_MAX];
    struct stat s;
    const int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    return n > 0 && (size_t)n < sizeof path && stat(path, &s) == 0;
}

/* A folder with node.yaml in it, or with what a node wrote. */
static bool is_node(const char *folder)
{
    return is_there(folder, "node.yaml") || is_there(folder, CLI_STATUS_FILE);
}

static tacit_status add_node(asked *a, const char *folder, const char *name, tacit_error *err)
{
    char path[CLI_PATH_MAX];
    tacit_status status = add(a, name, err);
    if (status != TACIT_OK)
        return status;
    cli_ask *ask = &a->asks[a->count - 1];
    status = cli_ask_folder(ask, folder, err);
    if (status == TACIT_NO && is_there(folder, "node.yaml")) {
        const int n = snprintf(path, sizeof path, "%s/node.yaml", folder);
        if (n < 0 || (size_t)n >= sizeof path)
            return tacit_fail(err, TACIT_EINPUT, "the path \"%.100s...\" is too long", folder);
        status = ask_yaml(ask, path, err);
    }
    return settle(a, status, err);
}

static int is_numbered(const struct dirent *entry)
{
    return strncmp(entry->d_name, "node-", 5) == 0;
}

static tacit_status add_folder(asked *a, const char *folder, tacit_error *err)
{
    if (is_node(folder))
        return add_node(a, folder, folder, err);
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_numbered, versionsort);
    if (count < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot read the folder \"%.300s\": %s", folder,
                          strerror(errno));
    tacit_status status = TACIT_OK;
    size_t found = 0;
    for (int i = 0; i < count; i++) {
        char path[CLI_PATH_MAX];
        const int n = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (status == TACIT_OK && n > 0 && (size_t)n < sizeof path && is_node(path)) {
            status = add_node(a, path, entries[i]->d_name, err);
            found++;
        }
        free(entries[i]);
    }
    free(entries);
    if (status == TACIT_OK && found == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "no node in \"%.300s\"; expected a folder with node.yaml, or one made by "
                          "\"tacit up\"",
                          folder);
    return status;
}

static tacit_status add_word(asked *a, const char *word, tacit_error *err)
{
    struct stat s;
    if (stat(word, &s) == 0 && S_ISDIR(s.st_mode))
        return add_folder(a, word, err);
    tacit_status status = add(a, word, err);
    if (status != TACIT_OK)
        return status;
    cli_ask *ask = &a->asks[a->count - 1];
    if (stat(word, &s) == 0)
        return settle(a, ask_yaml(ask, word, err), err);
    status = cli_ask_where(ask, word, err);
    if (status != TACIT_OK)
        return tacit_fail(err, status,
                          "\"%.200s\" is no folder, no node.yaml and no HOST:PORT of a node", word);
    return TACIT_OK;
}

/* ---- asking ---- */

/* Those with an address, in one go: they come first. */
static tacit_status ask_all(asked *a, tacit_error *err)
{
    size_t n = 0;
    cli_ask *together = calloc(a->count ? a->count : 1, sizeof *together);
    if (!together)
        return tacit_out_of_memory(err);
    for (size_t i = 0; i < a->count; i++)
        if (!a->silent[i])
            together[n++] = a->asks[i];
    cli_ask_all(together, n, PATIENCE);
    n = 0;
    for (size_t i = 0; i < a->count; i++)
        if (!a->silent[i])
            a->asks[i] = together[n++];
    free(together);
    return TACIT_OK;
}

static size_t read_rows(asked *a)
{
    size_t reached = 0;
    for (size_t i = 0; i < a->count; i++) {
        cli_node_row *row = &a->rows[i];
        const cli_ask *ask = &a->asks[i];
        cli_safe_text(row->name, sizeof row->name, a->names[i]);
        if (ask->body && ask->code == 200)
            reached += cli_node_row_read(row, ask->body, ask->len);
        else if (!a->silent[i]) {
            row->reached = false;
            if (ask->body)
                snprintf(row->problem, sizeof row->problem, "it answers with code %d", ask->code);
            else
                snprintf(row->problem, sizeof row->problem, "%s", ask->problem);
        }
    }
    return reached;
}

static tacit_status say_json(const asked *a, tacit_error *err)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.nodes/1");
    tacit_json_begin(&json, "nodes", '[');
    for (size_t i = 0; i < a->count; i++) {
        const cli_node_row *row = &a->rows[i];
        tacit_json_begin(&json, NULL, '{');
        tacit_json_text(&json, "asked", a->names[i]);
        tacit_json_bool(&json, "reached", row->reached);
        if (row->reached) /* it was read, so it is JSON */
            tacit_json_raw(&json, "status", a->asks[i].body, a->asks[i].len);
        else
            tacit_json_text(&json, "problem", row->problem);
        tacit_json_end(&json, '}');
    }
    tacit_json_end(&json, ']');
    tacit_json_end(&json, '}');
    return cli_print_text(tacit_writer_take(&out), err);
}

/* Once: how many answered. */
static tacit_status show(asked *a, const status_flags *flags, size_t *reached, tacit_error *err)
{
    tacit_status status = ask_all(a, err);
    if (status != TACIT_OK)
        return status;
    *reached = read_rows(a);
    if (flags->json)
        return say_json(a, err);
    if (flags->watch && cli_is_screen(stdout))
        fputs("\033[H\033[J", stdout);
    cli_node_table(a->rows, a->count);
    return TACIT_OK;
}

/* Folders are looked into again, because nodes come and go. */
static tacit_status round_trip(const cli_args *args, size_t *reached, size_t *count,
                               tacit_error *err)
{
    asked a = {0};
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < args->word_count && status == TACIT_OK; i++)
        status = add_word(&a, args->words[i], err);
    if (args->word_count == 0)
        status = add_folder(&a, ".", err);
    if (status == TACIT_OK)
        status = show(&a, args->flags, reached, err);
    *count = a.count;
    clear_asked(&a);
    return status;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const status_flags *flags = args->flags;
    const struct timespec second = {.tv_sec = 1};
    size_t reached = 0, count = 0;
    cli_catch_signals();
    for (;;) {
        tacit_status status = round_trip(args, &reached, &count, err);
        if (status != TACIT_OK)
            return status;
        if (!flags->watch || reached == 0)
            break;
        fflush(stdout);
        if (*cli_stop() || ferror(stdout))
            return TACIT_OK;
        nanosleep(&second, NULL); /* a signal ends it early */
        if (*cli_stop())
            return TACIT_OK;
    }
    if (reached < count)
        return tacit_fail(err, TACIT_EPEER, "%zu of %zu node%s cannot be reached", count - reached,
                          count, count == 1 ? "" : "s");
    return TACIT_OK;
}

const cli_verb cli_status = {
    .name = "status",
    .argument = "[FOLDER|node.yaml|HOST:PORT]...",
    .summary = "ask running nodes how they are",
    .prose = "Asks each node at its status port (node.status) and shows a line for each: its "
             "phase, the protocol's time and when the run ends at the latest, how many agents it "
             "hosts, how many of its peers are up, slow and down, messages in and out, the epsilon "
             "that the agent which spent most has spent of its budget, and how many frames of "
             "others it refused. A folder is that of one node, or one made by \"tacit up\"; "
             "without a word, the folder you are in. The exit code is 4 if a node cannot be "
             "reached.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
