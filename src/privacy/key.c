/* SPDX-License-Identifier: Apache-2.0 */
/* Key files: 32 bytes as they are, readable by their owner alone. */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "tacit/ledger.h"

tacit_status tacit_key_create(tacit_key *key, const char *path, tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "no source of randomness for a key");
    randombytes_buf(key->bytes, sizeof key->bytes);
    tacit_status status =
        tacit_file_create(path, 0600, key->bytes, sizeof key->bytes, "key file", err);
    if (status)
        tacit_key_wipe(key);
    return status;
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
