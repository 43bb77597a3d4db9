/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a file and --set to a configuration: the same way for every verb. The one variable of
 * the environment that matters to records is read here and nowhere else: TACIT_DATA is the
 * default of data.folder. It is set only for a source that reads files, so that a run on
 * synthetic records does not depend on whose machine it is.
 */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>

static tacit_status default_folder(tacit_config *config, tacit_error *err)
{
    const char *folder = getenv("TACIT_DATA");
    const tacit_setting *source = tacit_config_get(config, "data.source");
    if (!folder || !*folder || !source || strcmp(source->value, "linear-separators") == 0 ||
        strcmp(source->value, "regression") == 0 || strcmp(source->value, "digits") == 0 ||
        tacit_config_get(config, "data.folder"))
        return TACIT_OK;
    char text[TACIT_TEXT_MAX + 20];
    int len = snprintf(text, sizeof text, "data.folder=%s", folder);
    if (len < 0 || strlen(folder) >= TACIT_TEXT_MAX)
        return tacit_fail(err, TACIT_EINPUT, "TACIT_DATA has more than %d bytes",
                          TACIT_TEXT_MAX - 1);
    return tacit_config_set(config, text, err);
}

tacit_status cli_load_config(tacit_config *config, const char *path, const char *const *sets,
                             size_t count, tacit_error *err)
{
    tacit_status status = tacit_config_read(config, path, err);
    for (size_t k = 0; k < count && !status; k++)
        status = tacit_config_set(config, sets[k], err);
    return status ? status : default_folder(config, err);
}
