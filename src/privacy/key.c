/* SPDX-License-Identifier: Apache-2.0 */
/* Key files: 32 bytes as they are, readable by their owner alone. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privacy/key.h"
#include "tacit/ledger.h"

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

static bool write_key(int fd, const tacit_key *key)
{
    for (size_t done = 0; done < sizeof key->bytes;) {
        ssize_t n = write(fd, key->bytes + done, sizeof key->bytes - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return fsync(fd) == 0;
}

tacit_status tacit_key_create(tacit_key *key, const char *path, tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "no source of randomness for a key");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make the key file \"%.300s\": %s", path,
                          strerror(errno));
    randombytes_buf(key->bytes, sizeof key->bytes);
    bool good = write_key(fd, key);
    good = close(fd) == 0 && good;
    good = good && tacit_sync_folder_of(path);
    if (good)
        return TACIT_OK;
    int number = errno;
    unlink(path);
    tacit_key_wipe(key);
    return tacit_fail(err, TACIT_EINPUT, "cannot write the key file \"%.300s\": %s", path,
                      strerror(number));
}

static tacit_status check_file(const struct stat *info, const char *path, tacit_error *err)
{
    if (!S_ISREG(info->st_mode))
        return tacit_fail(err, TACIT_EINPUT, "the key file \"%.300s\" is not a regular file", path);
    if (info->st_mode & (S_IRWXG | S_IRWXO))
        return tacit_fail(err, TACIT_EINPUT,
                          "the key file \"%.300s\" is open to others (mode %03o), so it proves "
                          "nothing; make a new ledger and key, or, if you are sure that nobody "
                          "looked, \"chmod 600\" it",
                          path, (unsigned)(info->st_mode & 0777));
    if (info->st_size != TACIT_KEY_BYTES)
        return tacit_fail(err, TACIT_EINPUT, "the key file \"%.300s\" has %lld bytes; a key has %d",
                          path, (long long)info->st_size, TACIT_KEY_BYTES);
    return TACIT_OK;
}

tacit_status tacit_key_read(tacit_key *key, const char *path, tacit_error *err)
{
    *key = (tacit_key){{0}};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the key file \"%.300s\": %s", path,
                          strerror(errno));
    struct stat info;
    tacit_status status = fstat(fd, &info) == 0
                              ? check_file(&info, path, err)
                              : tacit_fail(err, TACIT_EINPUT, "cannot read \"%.300s\"", path);
    if (!status && read(fd, key->bytes, sizeof key->bytes) != (ssize_t)sizeof key->bytes) {
        tacit_key_wipe(key);
        status = tacit_fail(err, TACIT_EINPUT, "cannot read the key file \"%.300s\"", path);
    }
    close(fd);
    return status;
}

void tacit_key_wipe(tacit_key *key)
{
    sodium_memzero(key, sizeof *key);
}
