/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

static bool write_all(int fd, const char *bytes, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = write(fd, bytes + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return fsync(fd) == 0;
}

tacit_status tacit_file_create(const char *path, unsigned mode, const void *bytes, size_t len,
                               const char *what, tacit_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (mode_t)mode);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make the %s \"%.300s\": %s", what, path,
                          strerror(errno));
    bool good = write_all(fd, bytes, len);
    good = close(fd) == 0 && good;
    good = good && tacit_sync_folder_of(path);
    if (good)
        return TACIT_OK;
    int number = errno;
    unlink(path);
    return tacit_fail(err, TACIT_EINPUT, "cannot write the %s \"%.300s\": %s", what, path,
                      strerror(number));
}

tacit_status tacit_file_replace(const char *path, unsigned mode, const void *bytes, size_t len,
                                const char *what, tacit_error *err)
{
    char *fresh = tacit_path_with(path, ".tmp");
    if (!fresh)
        return tacit_out_of_memory(err);
    unlink(fresh); /* a crash may have left one */
    tacit_status status = tacit_file_create(fresh, mode, bytes, len, what, err);
    if (!status && (rename(fresh, path) != 0 || !tacit_sync_folder_of(path))) {
        status = tacit_fail(err, TACIT_EINPUT, "cannot make the %s \"%.300s\": %s", what, path,
                            strerror(errno));
        unlink(fresh);
    }
    free(fresh);
    return status;
}

/* What is in a folder, and not only in its files, must be on the disk too. */
bool tacit_sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = !slash ? strdup(".") : slash == path ? strdup("/") : strndup(path, slash - path);
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    free(folder);
    bool done = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return done;
}

char *tacit_path_with(const char *path, const char *end)
{
    const size_t a = strlen(path), b = strlen(end);
    char *out = malloc(a + b + 1);
    if (!out)
        return NULL;
    memcpy(out, path, a);
    memcpy(out + a, end, b + 1);
    return out;
}
