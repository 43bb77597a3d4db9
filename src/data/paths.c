/* SPDX-License-Identifier: Apache-2.0 */
#include "data/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *trim(char *text)
{
    while (*text == ' ')
        text++;
    for (size_t len = strlen(text); len > 0 && text[len - 1] == ' '; len--)
        text[len - 1] = '\0';
    return text;
}

tacit_status tacit_paths_split(tacit_paths *out, const char *text, const char *folder,
                               const char *key, tacit_error *err)
{
    *out = (tacit_paths){0};
    if (!text[0])
        return tacit_fail(err, TACIT_EINPUT, "data.%s is empty; name the file to read", key);
    snprintf(out->text, sizeof out->text, "%s", text);
    bool whole = tacit_bytes_exist(text, folder);
    for (char *rest = out->text; rest;) {
        char *comma = whole ? NULL : strchr(rest, ',');
        if (comma)
            *comma = '\0';
        if (out->count == TACIT_PATHS_MAX)
            return tacit_fail(err, TACIT_EINPUT, "data.%s names more than %d files", key,
                              TACIT_PATHS_MAX);
        char *item = whole ? rest : trim(rest);
        if (!item[0])
            return tacit_fail(err, TACIT_EINPUT,
                              "data.%s \"%.300s\" has an empty name between commas", key, text);
        out->item[out->count++] = item;
        rest = comma ? comma + 1 : NULL;
    }
    return TACIT_OK;
}

tacit_status tacit_paths_column(char path[TACIT_TEXT_MAX], const char *folder, long *column,
                                tacit_error *err)
{
    *column = -1;
    char *mark = strrchr(path, '#');
    if (!mark || tacit_bytes_exist(path, folder))
        return TACIT_OK;
    size_t digits = strspn(mark + 1, "0123456789");
    if (digits == 0 || digits > 6 || mark[1 + digits])
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\": expected the number of a column after #, from 0", path);
    *column = strtol(mark + 1, NULL, 10);
    *mark = '\0';
    return TACIT_OK;
}
