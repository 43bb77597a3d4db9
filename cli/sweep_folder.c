/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --force: an old sweep makes room for a new one. Only files that sweeps and runs write are
 * removed, and only after a look at all of them: a slip of the finger must not cost a user more
 * than an old sweep.
 */
#include "sweep.h"
#include "verbs.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* sweep.yaml last: while it is there, the rest can be removed again. */
static const char *const files[] = {
    "means.csv",      "means.csv.tmp", "report.html",  "report.html.tmp", "search.csv",
    "search.csv.tmp", "runs.csv",      "runs.csv.tmp", "sweep.yaml.tmp",  "sweep.yaml"};
#define FILES (sizeof files / sizeof *files)

static bool is_known(const char *name)
{
    for (size_t i = 0; i < FILES; i++)
        if (strcmp(name, files[i]) == 0)
            return true;
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "runs") == 0;
}

static bool is_run(const char *name)
{
    return strspn(name, "0123456789") == strlen(name);
}

static tacit_status cannot(const char *what, const char *path, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "cannot %s \"%.300s\": %s", what, path, strerror(errno));
}

static tacit_status not_ours(const char *folder, const char *name, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%.200s/%.100s\" was not written by a sweep, so --force leaves the folder "
                      "alone; move it or use another --out",
                      folder, name);
}

/* Every name in the folder is ours; with `remove`, run folders are emptied and removed. */
static tacit_status each_run(const char *runs, bool remove, tacit_error *err)
{
    DIR *dir = opendir(runs);
    if (!dir)
        return errno == ENOENT ? TACIT_OK : cannot("open", runs, err);
    tacit_status status = TACIT_OK;
    for (struct dirent *entry = readdir(dir); entry && !status; entry = readdir(dir)) {
        char path[CLI_PATH_MAX], same[CLI_PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        int len = snprintf(path, sizeof path, "%s/%s", runs, entry->d_name);
        if (!is_run(entry->d_name) || len < 0 || (size_t)len >= sizeof path)
            status = not_ours(runs, entry->d_name, err);
        else if (remove && rmdir(path) != 0) {
            status = cli_folder_claim("", path, true, same, sizeof same, err);
            if (!status && rmdir(path) != 0)
                status = cannot("remove", path, err);
        }
    }
    closedir(dir);
    if (!status && remove && rmdir(runs) != 0)
        status = cannot("remove", runs, err);
    return status;
}

static tacit_status check(const char *folder, const char *runs, tacit_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return cannot("open", folder, err);
    tacit_status status = TACIT_OK;
    for (struct dirent *entry = readdir(dir); entry && !status; entry = readdir(dir))
        if (!is_known(entry->d_name))
            status = not_ours(folder, entry->d_name, err);
    closedir(dir);
    return status ? status : each_run(runs, false, err);
}

tacit_status sweep_remove(const char *folder, tacit_error *err)
{
    struct stat info;
    char path[CLI_PATH_MAX], runs[CLI_PATH_MAX];
    if (lstat(folder, &info) != 0)
        return TACIT_OK;
    snprintf(runs, sizeof runs, "%s/runs", folder);
    snprintf(path, sizeof path, "%s/sweep.yaml", folder);
    if (!S_ISDIR(info.st_mode) || access(path, F_OK) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is not the folder of a sweep, so --force leaves it alone; "
                          "use another --out",
                          folder);
    tacit_status status = check(folder, runs, err);
    if (!status)
        status = each_run(runs, true, err);
    for (size_t i = 0; i < FILES && !status; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (unlink(path) != 0 && errno != ENOENT)
            status = cannot("remove", path, err);
    }
    if (!status && rmdir(folder) != 0)
        status = cannot("remove", folder, err);
    return status;
}
