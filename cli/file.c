/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, tables and pages that a flag names: of what was made from records, models or scores,
 * for their owner alone; of the rest, by the umask. */
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECRET 0600

/* -1: errno. An old file may be open to others, which is mended before anything is in it. */
static int open_file(const char *path, bool force, bool secret)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (force ? O_TRUNC : O_EXCL),
                        secret ? SECRET : 0666);
    struct stat info;
    if (fd < 0 || !secret)
        return fd;
    if (fstat(fd, &info) == 0 && (!S_ISREG(info.st_mode) || fchmod(fd, SECRET) == 0))
        return fd;
    const int problem = errno;
    close(fd);
    errno = problem;
    return -1;
}

static tacit_status write_file(const char *path, char *text, bool force, bool secret,
                               tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    int fd = open_file(path, force, secret);
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

tacit_status cli_write_file(const char *path, char *text, bool force, tacit_error *err)
{
    return write_file(path, text, force, false, err);
}

tacit_status cli_write_secret(const char *path, char *text, bool force, tacit_error *err)
{
    return write_file(path, text, force, true, err);
}

FILE *cli_append_secret(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, SECRET);
    FILE *file = fd >= 0 ? fdopen(fd, "a") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
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
