/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a run is written. mkdir claims a name before anything is written, so that two runs
 * started at once never share a folder. --force only ever removes files that runs write,
 * and only from a folder that looks like one: a slip of the finger must not cost a user
 * more than an old run.
 */
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_folder_has(const char *folder, const char *name)
{
    char path[CLI_PATH_MAX];
    struct stat info;
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    return len > 0 && (size_t)len < sizeof path && lstat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool looks_like_run(const char *folder)
{
    return cli_folder_has(folder, "config.yaml") &&
           (cli_folder_has(folder, "metrics.csv") || cli_folder_has(folder, "summary.json") ||
            cli_folder_has(folder, "checkpoint.bin")); /* interrupted */
}

/* Every file a run writes. */
static const char *const run_files[] = {
    "summary.json",        "metrics.csv", "ledger.jsonl", "models.npy",  "report.html",
    "agents.csv",          "sizes.csv",   "degrees.csv",  "edges.csv",   "checkpoint.bin",
    "metrics.csv.partial", "board.jsonl", "model.tacit",  "config.yaml", /* last: while it is there,
                                             the rest can be emptied again */
};
#define RUN_FILES (sizeof run_files / sizeof *run_files)

static bool is_run_file(const char *name)
{
    for (size_t i = 0; i < RUN_FILES; i++) {
        size_t len = strlen(run_files[i]);
        if (strncmp(name, run_files[i], len) == 0 &&
            (name[len] == '\0' || strcmp(name + len, ".tmp") == 0))
            return true;
    }
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Anything in the folder that no run wrote is the user's, and stays. */
static tacit_status check_only_run_files(const char *folder, tacit_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.300s\": %s", folder, strerror(errno));
    tacit_status status = TACIT_OK;
    for (struct dirent *entry = readdir(dir); entry && !status; entry = readdir(dir)) {
        if (!is_run_file(entry->d_name))
            status = tacit_fail(err, TACIT_EINPUT,
                                "\"%.200s/%.100s\" was not written by a run, so --force leaves "
                                "the folder alone; move it or use another --out",
                                folder, entry->d_name);
    }
    closedir(dir);
    return status;
}

static tacit_status empty_folder(const char *folder, tacit_error *err)
{
    for (size_t i = 0; i < RUN_FILES; i++) {
        char path[CLI_PATH_MAX];
        for (int temporary = 1; temporary >= 0; temporary--) {
            snprintf(path, sizeof path, "%s/%s%s", folder, run_files[i], temporary ? ".tmp" : "");
            if (unlink(path) != 0 && errno != ENOENT)
                return tacit_fail(err, TACIT_EINPUT, "cannot remove \"%.300s\": %s", path,
                                  strerror(errno));
        }
    }
    return TACIT_OK;
}

static tacit_status claim_given(const char *out, bool force, tacit_error *err)
{
    struct stat info;
    if (lstat(out, &info) != 0)
        return TACIT_OK; /* the run makes it, parents and all */
    if (!force)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" exists; use --force to replace it, --resume to go on with "
                          "it, or another --out",
                          out);
    if (!S_ISDIR(info.st_mode) || !looks_like_run(out))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is not the folder of a run, so --force leaves it alone; use "
                          "another --out",
                          out);
    tacit_status status = check_only_run_files(out, err);
    return status ? status : empty_folder(out, err);
}

static tacit_status claim_free(const char *name, char *path, size_t size, tacit_error *err)
{
    if (mkdir("runs", 0777) != 0 && errno != EEXIST)
        return tacit_fail(err, TACIT_EINPUT, "cannot make the folder \"runs\": %s; use --out",
                          strerror(errno));
    for (int k = 1; k < 1000000; k++) {
        snprintf(path, size, "runs/%s-%d", name, k);
        if (mkdir(path, 0700) == 0)
            return TACIT_OK;
        if (errno != EEXIST)
            break;
    }
    int reason = errno;
    rmdir("runs"); /* if it is empty it was ours */
    return tacit_fail(err, TACIT_EINPUT, "cannot make the folder \"%.300s\": %s; use --out", path,
                      strerror(reason));
}

tacit_status cli_folder_claim(const char *name, const char *out, bool force, char *path,
                              size_t size, tacit_error *err)
{
    if (!*out)
        return claim_free(name, path, size, err);
    snprintf(path, size, "%s", out);
    return claim_given(out, force, err);
}
