/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_BASE_FILE_H
#define TACIT_BASE_FILE_H
#include "tacit/base.h"

/* The whole file, with a NUL behind it (caller frees). Refuses more than `most` bytes and
 * what is no regular file. */
tacit_status tacit_file_read(char **text, size_t *len, const char *path, size_t most,
                             tacit_error *err);
/* The same for an open one; `shown` is its name for messages. */
tacit_status tacit_file_read_fd(int fd, const char *shown, size_t most, char **text, size_t *len,
                                tacit_error *err);
/* A new file that is on the disk, name and all, when this returns. Refuses a path that exists;
 * leaves nothing behind on failure. `what` it is, for messages: "key file". */
tacit_status tacit_file_create(const char *path, unsigned mode, const void *bytes, size_t len,
                               const char *what, tacit_error *err);
/* The same in place of whatever file `path` may be: first under another name beside it, so that
 * whoever looks sees the old one or all of the new one. */
tacit_status tacit_file_replace(const char *path, unsigned mode, const void *bytes, size_t len,
                                const char *what, tacit_error *err);

/* Make the names in the folder of `path` durable; errno on failure. */
bool tacit_sync_folder_of(const char *path);
/* `path` with something behind it, for the caller to free; NULL without memory. */
char *tacit_path_with(const char *path, const char *end);

#endif
