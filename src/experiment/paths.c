/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths in configuration files of peers. A node is started from anywhere (by hand, by a service
 * manager whose current folder is /), so a relative path means the folder of the file it stands
 * in. What is given by --set is typed in a shell and stays as it is.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "experiment/consortium.h"

bool tacit_config_was_set(const tacit_config *config, const char *key)
{
    const tacit_setting *setting = tacit_config_get(config, key);
    return setting && setting->line == 0;
}

/* Bytes of the folder's name in `file`, the last slash included; 0: the current one. */
static size_t folder_len(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? (size_t)(slash - file) + 1 : 0;
}

static tacit_status too_long(const char *key, const char *path, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "\"%s\": the path \"%.200s\" has more than %d bytes with the folder it is "
                      "in; move it up",
                      key, path, TACIT_TEXT_MAX - 1);
}

tacit_status tacit_path_beside(char path[TACIT_TEXT_MAX], const char *file, const char *key,
                               tacit_error *err)
{
    const size_t head = folder_len(file), len = strlen(path);
    if (len == 0 || path[0] == '/' || head == 0)
        return TACIT_OK;
    if (head + len >= TACIT_TEXT_MAX)
        return too_long(key, path, err);
    memmove(path + head, path, len + 1);
    memcpy(path, file, head);
    return TACIT_OK;
}

/* ---- lists of files ---- */

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

/* Is there such a file, without the column that "#2" at its end may name? */
static bool exists_but_column(const char *path)
{
    char copy[TACIT_TEXT_MAX];
    if (exists(path))
        return true;
    snprintf(copy, sizeof copy, "%s", path);
    char *mark = strrchr(copy, '#');
    if (!mark)
        return false;
    *mark = '\0';
    return exists(copy);
}

/* One item of a list: beside the file, else in data.folder (which is a path from here by now). */
static tacit_status place(char item[TACIT_TEXT_MAX], const char *folder, const char *file,
                          const char *key, tacit_error *err)
{
    char within[2 * TACIT_TEXT_MAX + 2], beside[TACIT_TEXT_MAX];
    snprintf(beside, sizeof beside, "%s", item);
    tacit_status status = tacit_path_beside(beside, file, key, err);
    if (status)
        return status;
    if (folder[0] && item[0] != '/' && !exists_but_column(beside)) {
        int len = snprintf(within, sizeof within, "%s/%s", folder, item);
        if (len < 0 || len >= TACIT_TEXT_MAX)
            return too_long(key, item, err);
        memcpy(item, within, (size_t)len + 1);
    } else
        memcpy(item, beside, sizeof beside);
    return TACIT_OK;
}

/* Files between commas, unless a file has all of it for its name. */
static tacit_status place_list(char list[TACIT_TEXT_MAX], const char *folder, const char *file,
                               const char *key, tacit_error *err)
{
    char whole[TACIT_TEXT_MAX], out[TACIT_TEXT_MAX] = "";
    memcpy(whole, list, sizeof whole);
    tacit_status status = list[0] ? place(whole, folder, file, key, err) : TACIT_OK;
    if (status || !list[0])
        return status;
    if (!strchr(list, ',') || exists_but_column(whole)) {
        memcpy(list, whole, sizeof whole);
        return TACIT_OK;
    }
    size_t used = 0;
    for (const char *from = list; from && !status;) {
        const char *comma = strchr(from, ',');
        char item[TACIT_TEXT_MAX];
        from += strspn(from, " ");
        size_t len = comma && comma > from ? (size_t)(comma - from) : comma ? 0 : strlen(from);
        memcpy(item, from, len);
        item[len] = '\0';
        status = place(item, folder, file, key, err);
        len = strlen(item);
        if (!status && used + len + 2 > sizeof out)
            status = too_long(key, list, err);
        if (!status)
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", used ? "," : "", item);
        from = comma ? comma + 1 : NULL;
    }
    if (!status)
        memcpy(list, out, sizeof out);
    return status;
}

tacit_status tacit_data_paths_beside(tacit_data_options *data, const tacit_config *config,
                                     const char *file, tacit_error *err)
{
    const struct {
        const char *key;
        char *path;
    } lists[] = {
        {"data.path", data->path},
        {"data.labels-path", data->labels_path},
        {"data.agents-path", data->agents_path},
        {"data.test-path", data->test_path},
        {"data.test-labels-path", data->test_labels_path},
        {"data.constants", data->constants},
        {"data.items", data->items},
        {"data.users", data->users},
    };
    tacit_status status = TACIT_OK;
    if (!tacit_config_was_set(config, "data.folder"))
        status = tacit_path_beside(data->folder, file, "data.folder", err);
    if (!status && !tacit_config_was_set(config, "data.scratch"))
        status = tacit_path_beside(data->scratch, file, "data.scratch", err);
    for (size_t k = 0; k < sizeof lists / sizeof *lists && !status; k++)
        if (!tacit_config_was_set(config, lists[k].key))
            status = place_list(lists[k].path, data->folder, file, lists[k].key, err);
    return status;
}
