/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PRIVACY_KEY_H
#define TACIT_PRIVACY_KEY_H
#include "tacit/base.h"

/* Make the names in the folder of `path` durable; errno on failure. */
bool tacit_sync_folder_of(const char *path);
/* `path` with something behind it, for the caller to free; NULL without memory. */
char *tacit_path_with(const char *path, const char *end);

#endif
