/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, tables and pages that a flag names. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tacit_status cli_write_file(const char *path, char *text, bool force, tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL), 0666);
    if (fd < 0) {
        int problem = errno;
        free(text);
        return tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s%s", path,
                          strerror(problem),
                          problem == EEXIST ? "; use --force to replace it" : "");
    }
    size_t len = strlen(text), done = 0;
    ssize_t n = 0;
    while (done < len && ((n = write(fd, text + done, len - done)) > 0 || errno == EINTR))
        done += n > 0 ? (size_t)n : 0;
    int problem = done < len ? errno : 0;
    if (close(fd) != 0 && !problem)
        problem = errno;
    free(text);
    if (!problem)
        return TACIT_OK;
    unlink(path);
    return tacit_fail(err, TACIT_EINPUT, "cannot write \"%.300s\": %s", path, strerror(problem));
}

tacit_status cli_print_text(char *text, tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    const size_t len = strlen(text);
    fputs(text, stdout);
    if (len == 0 || text[len - 1] != '\n')
        putchar('\n');
    free(text);
    return TACIT_OK;
}
