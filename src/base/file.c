/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

tacit_status tacit_file_read_fd(int fd, const char *shown, size_t most, char **text, size_t *len,
                                tacit_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is not a regular file; name another",
                          shown);
    if (info.st_size < 0 || (uint64_t)info.st_size > most)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is too large: at most %zu bytes", shown,
                          most);
    size_t size = (size_t)info.st_size, got = 0;
    char *bytes = malloc(size + 1);
    if (!bytes)
        return tacit_out_of_memory(err);
    while (got < size) {
        ssize_t n = read(fd, bytes + got, size - got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(bytes);
            return tacit_fail(err, TACIT_EINPUT, "cannot read \"%.300s\": %s", shown,
                              strerror(errno));
        }
        if (n == 0)
            break;
        got += (size_t)n;
    }
    bytes[got] = '\0';
    *text = bytes;
    *len = got;
    return TACIT_OK;
}

tacit_status tacit_file_read(char **text, size_t *len, const char *path, size_t most,
                             tacit_error *err)
{
    /* O_NONBLOCK: opening a pipe must not hang before it is refused. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.300s\": %s", path, strerror(errno));
    tacit_status status = tacit_file_read_fd(fd, path, most, text, len, err);
    close(fd);
    return status;
}
