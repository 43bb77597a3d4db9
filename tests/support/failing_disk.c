/* SPDX-License-Identifier: Apache-2.0 */
#include "failing_disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a write replaced, so that it can be undone. */
typedef struct undo {
    struct undo *next; /* the one before */
    char path[200];
    sqlite3_int64 size, offset; /* of the file before; of the bytes */
    int len;
    char bytes[];
} undo;

failing_disk disk = {.fail_at = -1};
static undo *undone; /* latest first */

typedef struct disk_file {
    sqlite3_file base;
    char path[200];
    sqlite3_file *real;
} disk_file;

static sqlite3_vfs *below;

/* Whoever loses power loses what was not synchronised: all, or a random part. */
static void lose(void)
{
    for (undo *u = undone; u; u = u->next) {
        if (disk.how == POWER_LOST_IN_PART && dice_below(&disk.d, 2))
            continue;
        const int fd = open(u->path, O_WRONLY);
        if (fd < 0)
            continue;
        if (u->len > 0 && pwrite(fd, u->bytes, (size_t)u->len, u->offset) < 0)
            fail_msg("cannot undo");
        if (disk.how == POWER_LOST && ftruncate(fd, u->size) != 0)
            fail_msg("cannot cut");
        close(fd);
    }
}

void disk_forget(const char *path)
{
    for (undo **at = &undone; *at;) {
        undo *u = *at;
        if (path && strcmp(u->path, path) != 0) {
            at = &u->next;
            continue;
        }
        *at = u->next;
        free(u);
    }
}

/* False: this call fails. */
static bool step(void)
{
    if (!disk.dead && disk.fail_at >= 0 && disk.steps == disk.fail_at) {
        disk.dead = true;
        if (disk.how == KILLED)
            _exit(0);
        if (disk.how != DISK_GONE)
            lose();
    }
    disk.steps++;
    return !disk.dead;
}

static void remember(disk_file *f, sqlite3_int64 offset, int len)
{
    undo *u = calloc(1, sizeof *u + (size_t)len);
    assert_non_null(u);
    snprintf(u->path, sizeof u->path, "%s", f->path);
    f->real->pMethods->xFileSize(f->real, &u->size);
    u->offset = offset;
    u->len = 0;
    if (offset < u->size) {
        u->len = u->size - offset < len ? (int)(u->size - offset) : len;
        f->real->pMethods->xRead(f->real, u->bytes, u->len, offset);
    }
    u->next = undone;
    undone = u;
}

static int disk_close(sqlite3_file *file)
{
    disk_file *f = (disk_file *)file;
    const int code = f->real->pMethods->xClose(f->real);
    free(f->real);
    return code;
}
static int disk_read(sqlite3_file *file, void *to, int len, sqlite3_int64 at)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return disk.dead ? SQLITE_IOERR_READ : real->pMethods->xRead(real, to, len, at);
}
static int disk_write(sqlite3_file *file, const void *from, int len, sqlite3_int64 at)
{
    disk_file *f = (disk_file *)file;
    if (!step())
        return SQLITE_IOERR_WRITE;
    remember(f, at, len);
    return f->real->pMethods->xWrite(f->real, from, len, at);
}
static int disk_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    disk_file *f = (disk_file *)file;
    sqlite3_int64 before;
    if (!step())
        return SQLITE_IOERR_TRUNCATE;
    f->real->pMethods->xFileSize(f->real, &before);
    if (before > size)
        remember(f, size, (int)(before - size)); /* the end of a journal must be waited for, too */
    return f->real->pMethods->xTruncate(f->real, size);
}
static int disk_sync(sqlite3_file *file, int flags)
{
    disk_file *f = (disk_file *)file;
    (void)flags;
    if (!step())
        return SQLITE_IOERR_FSYNC;
    disk_forget(f->path); /* nothing written before can be lost; no need to wait for a real disk */
    return SQLITE_OK;
}
static int disk_size(sqlite3_file *file, sqlite3_int64 *size)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return real->pMethods->xFileSize(real, size);
}
static int disk_lock(sqlite3_file *file, int level)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return real->pMethods->xLock(real, level);
}
static int disk_unlock(sqlite3_file *file, int level)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return real->pMethods->xUnlock(real, level);
}
static int disk_reserved(sqlite3_file *file, int *is)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return real->pMethods->xCheckReservedLock(real, is);
}
static int disk_control(sqlite3_file *file, int which, void *argument)
{
    sqlite3_file *real = ((disk_file *)file)->real;
    return real->pMethods->xFileControl(real, which, argument);
}
static int disk_sector(sqlite3_file *file)
{
    (void)file;
    return 512;
}
static int disk_traits(sqlite3_file *file)
{
    (void)file;
    return 0; /* no promises about order or atomicity */
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_unlock,
    .xCheckReservedLock = disk_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector,
    .xDeviceCharacteristics = disk_traits,
};

static int disk_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out)
{
    (void)vfs;
    disk_file *f = (disk_file *)file;
    *f = (disk_file){.real = calloc(1, (size_t)below->szOsFile)};
    if (!f->real)
        return SQLITE_NOMEM;
    snprintf(f->path, sizeof f->path, "%s", path ? path : "");
    const int code = below->xOpen(below, path, f->real, flags, out);
    if (code)
        free(f->real);
    else
        f->base.pMethods = &methods;
    return code;
}

static int disk_delete(sqlite3_vfs *vfs, const char *path, int sync)
{
    (void)vfs;
    if (!step())
        return SQLITE_IOERR_DELETE;
    disk_forget(path); /* taken as durable: only journals that were emptied before are removed */
    return below->xDelete(below, path, sync);
}

void disk_use(void)
{
    static sqlite3_vfs vfs;
    below = sqlite3_vfs_find(NULL);
    vfs = *below;
    vfs.zName = "failing";
    vfs.szOsFile = sizeof(disk_file);
    vfs.xOpen = disk_open;
    vfs.xDelete = disk_delete;
    assert_int_equal(sqlite3_vfs_register(&vfs, 1), SQLITE_OK);
}

long disk_fail_everywhere(failure how, void (*prepare)(void), void (*live)(bool *failed),
                          void (*check)(void))
{
    for (long at = 0;; at++) {
        bool failed = false;
        prepare();
        disk_forget(NULL);
        disk.dead = false;
        disk.steps = 0;
        disk.fail_at = at;
        disk.how = how;
        live(&failed);
        const bool reached = disk.dead;
        const long steps = disk.steps;
        disk.fail_at = -1;
        disk.dead = false;
        disk_forget(NULL);
        assert_true(reached || !failed);
        check();
        if (!reached)
            return steps;
    }
}
