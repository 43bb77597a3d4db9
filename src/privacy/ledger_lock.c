/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One user at a time, from before the first look at a ledger until it is closed.
 *
 * SQLite locks a database that is there. That is too late for two peers that start at once: one
 * finds the file the other has just made, takes it for the rest of a crash and removes it. So
 * whoever makes, opens or removes a ledger holds PATH.lock first, an empty file that stays: were
 * it removed, two processes could hold a lock each, on files of the same name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/ledger_store.h"

enum { ATTEMPTS = 10 };

/* Somebody may have removed it, and made another, between opening and locking. */
static bool is_named(int fd, const char *name)
{
    struct stat mine, there;
    return fstat(fd, &mine) == 0 && stat(name, &there) == 0 && mine.st_ino == there.st_ino &&
           mine.st_dev == there.st_dev;
}

int tacit_lock_take(const char *name, bool make)
{
    for (int k = 0; k < ATTEMPTS; k++) {
        const int fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (make ? O_CREAT : 0), 0600);
        if (fd < 0)
            return -1;
        const int number = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
        if (!number && is_named(fd, name))
            return fd;
        close(fd);
        errno = number ? number : ESTALE;
        if (number)
            break;
    }
    return -1;
}

tacit_status tacit_ledger_lock(const char *path, bool looking, int *lock, tacit_error *err)
{
    char *name = tacit_path_with(path, ".lock");
    *lock = -1;
    if (!name)
        return tacit_out_of_memory(err);
    *lock = tacit_lock_take(name, !looking);
    const int number = errno;
    free(name);
    if (*lock >= 0)
        return TACIT_OK;
    if (number == EWOULDBLOCK)
        return tacit_fail(err, TACIT_EINPUT,
                          "the ledger \"%.300s\" is in use by another process; a ledger has one "
                          "user at a time",
                          path);
    if (looking) /* nothing is made or removed, and SQLite has locks of its own */
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT, "cannot lock the ledger \"%.300s\" by \"%.300s.lock\": %s",
                      path, path, strerror(number));
}

void tacit_ledger_unlock(int lock)
{
    if (lock >= 0)
        close(lock); /* not LOCK_UN: a forked child would open its parent's lock */
}
