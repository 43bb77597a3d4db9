/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_AT ((size_t)1 << 18)
#define MAX_READ ((size_t)1 << 40)

/* Every name this module ever writes: what abandoning a run may remove. */
static const char *const own_names[] = {
    "config.yaml", "metrics.csv",    "metrics.csv.partial", "summary.json",   "ledger.jsonl",
    "models.npy",  "agents.csv",     "sizes.csv",           "degrees.csv",    "edges.csv",
    "report.html", "checkpoint.bin", "train.npy",           "validation.npy", "test.npy",
    "agents.txt",  "board.jsonl",    TACIT_MODEL_FILE};
#define OWN_NAMES (sizeof own_names / sizeof *own_names)

/* ---- folders ---- */

tacit_status tacit_folder_fail(const tacit_folder *folder, const char *name, int number,
                               tacit_error *err)
{
    const char *advice = number == ENOSPC || number == EDQUOT || number == EFBIG
                             ? "; make room or choose another folder"
                             : "";
    return tacit_fail(err, TACIT_EINPUT, "cannot write \"%.300s/%s\": %s%s", folder->path, name,
                      strerror(number), advice);
}

static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    if (!dir)
        return false;
    bool empty = true;
    for (struct dirent *entry = readdir(dir); entry && empty; entry = readdir(dir))
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(dir);
    return empty;
}

/* mkdir -p, counting what was new; the last level is its owner's. `path` is changed for a moment
 * and restored. */
static bool make_path(char *path, size_t *made)
{
    for (char *end = path + 1;; end++) {
        if (*end != '/' && *end != '\0')
            continue;
        char was = *end;
        *end = '\0';
        int result = mkdir(path, was == '\0' ? TACIT_FOLDER_MODE : 0777);
        int number = errno;
        *end = was;
        if (result == 0)
            ++*made;
        else if (number != EEXIST) {
            errno = number;
            return false;
        }
        if (was == '\0')
            return true;
    }
}

/* Undo make_path: the deepest level that exists is the last that was made. */
static void remove_path(char *path, size_t made)
{
    bool removed = false;
    while (made > 0) {
        if (rmdir(path) == 0) {
            removed = true;
            made--;
        } else if (removed)
            break;
        char *slash = strrchr(path, '/');
        if (!slash)
            break;
        *slash = '\0';
    }
}

/* One run at a time writes a folder. A file system without locks has to do without. */
static tacit_status lock(const tacit_folder *folder, tacit_error *err)
{
    if (flock(folder->dir, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return tacit_fail(err, TACIT_EINPUT,
                          "another run is writing to \"%.300s\"; wait for it or choose another "
                          "folder",
                          folder->path);
    return TACIT_OK;
}

static char *clean_path(const char *path)
{
    size_t len = strlen(path);
    while (len > 1 && path[len - 1] == '/')
        len--;
    return len ? strndup(path, len) : NULL;
}

tacit_status tacit_folder_create(tacit_folder *folder, const char *path, tacit_error *err)
{
    *folder = (tacit_folder){.dir = -1};
    if (!path[0])
        return tacit_fail(err, TACIT_EINPUT, "the run folder has no name; give it one");
    folder->path = clean_path(path);
    if (!folder->path)
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    if (!make_path(folder->path, &folder->made))
        status = tacit_fail(err, TACIT_EINPUT,
                            "cannot make the run folder \"%.300s\": %s; choose another",
                            folder->path, strerror(errno));
    else if ((folder->dir = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        status = tacit_fail(err, TACIT_EINPUT, "cannot open the run folder \"%.300s\": %s",
                            folder->path, strerror(errno));
    else if (!(status = lock(folder, err)) && !is_empty(folder->path))
        status =
            tacit_fail(err, TACIT_EINPUT,
                       "the folder \"%.300s\" already exists and is not empty; choose another, "
                       "or remove it (a run goes on with what it holds by --resume)",
                       folder->path);
    if (status) {
        remove_path(folder->path, folder->made);
        tacit_folder_close(folder);
    }
    return status;
}

tacit_status tacit_folder_open(tacit_folder *folder, const char *path, tacit_error *err)
{
    *folder = (tacit_folder){.dir = -1, .resumed = true, .has_checkpoint = true};
    folder->path = clean_path(path[0] ? path : ".");
    if (!folder->path)
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    if ((folder->dir = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        status = tacit_fail(err, TACIT_EINPUT, "cannot open the run folder \"%.300s\": %s",
                            folder->path, strerror(errno));
    else if (faccessat(folder->dir, "checkpoint.bin", F_OK, 0) != 0)
        status = tacit_fail(err, TACIT_EINPUT,
                            "the run folder \"%.300s\" holds no checkpoint.bin, so there is "
                            "nothing to resume: either the run is complete or it stopped too "
                            "early; start a new one",
                            folder->path);
    else
        status = lock(folder, err);
    if (status)
        tacit_folder_close(folder);
    return status;
}

tacit_status tacit_folder_look(tacit_folder *folder, const char *path, tacit_error *err)
{
    *folder = (tacit_folder){.dir = -1};
    folder->path = clean_path(path[0] ? path : ".");
    if (!folder->path)
        return tacit_out_of_memory(err);
    folder->dir = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->dir >= 0)
        return TACIT_OK;
    tacit_status status = tacit_fail(err, TACIT_EINPUT, "cannot open the run folder \"%.300s\": %s",
                                     folder->path, strerror(errno));
    tacit_folder_close(folder);
    return status;
}

void tacit_folder_close(tacit_folder *folder)
{
    if (folder->path && folder->dir >= 0)
        close(folder->dir);
    free(folder->path);
    *folder = (tacit_folder){.dir = -1};
}

static void temporary_name(const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s.tmp", name);
}

void tacit_folder_abandon(tacit_folder *folder)
{
    if (!folder->path || folder->dir < 0)
        return;
    for (size_t i = 0; i < OWN_NAMES; i++) {
        char temporary[64];
        temporary_name(own_names[i], temporary, sizeof temporary);
        unlinkat(folder->dir, temporary, 0);
        if (!folder->has_checkpoint)
            unlinkat(folder->dir, own_names[i], 0);
    }
    if (folder->has_checkpoint)
        renameat(folder->dir, "metrics.csv.partial", folder->dir, "metrics.csv");
    else
        remove_path(folder->path, folder->made);
}

tacit_status tacit_folder_read(const tacit_folder *folder, const char *name, char **text,
                               size_t *len, tacit_error *err)
{
    char shown[400];
    snprintf(shown, sizeof shown, "%.300s/%s", folder->path, name);
    int fd = openat(folder->dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open \"%s\": %s", shown, strerror(errno));
    tacit_status status = tacit_file_read_fd(fd, shown, MAX_READ, text, len, err);
    close(fd);
    return status;
}

tacit_status tacit_folder_sync(const tacit_folder *folder, tacit_error *err)
{
    /* Some file systems cannot sync a folder; that is not the run's fault. */
    if (fsync(folder->dir) != 0 && errno != EINVAL && errno != ENOSYS)
        return tacit_folder_fail(folder, ".", errno, err);
    return TACIT_OK;
}

/* ---- files on their way ---- */

bool tacit_write_all(int fd, const void *bytes, size_t len)
{
    const char *p = bytes;
    while (len > 0) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (n == 0)
                errno = ENOSPC;
            return false;
        }
        p += n;
        len -= (size_t)n;
    }
    return true;
}

/* Records, models, scores, seeds and all of a run's state are their owner's. The others are what a
 * consortium hands to its members. */
static mode_t mode_of(const char *name)
{
    static const char *const handed_out[] = {"consortium.yaml", "members.csv", "question.yaml"};
    for (size_t i = 0; i < sizeof handed_out / sizeof *handed_out; i++)
        if (strcmp(name, handed_out[i]) == 0)
            return 0666;
    return TACIT_SECRET_MODE;
}

tacit_status tacit_outfile_open(tacit_outfile *file, const tacit_folder *folder, const char *name,
                                tacit_error *err)
{
    *file = (tacit_outfile){.folder = folder, .name = name, .fd = -1};
    char temporary[64];
    temporary_name(name, temporary, sizeof temporary);
    unlinkat(folder->dir, temporary, 0); /* a crash may have left one, open to others */
    file->fd = openat(folder->dir, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                      mode_of(name));
    return file->fd >= 0 ? TACIT_OK : tacit_folder_fail(folder, name, errno, err);
}

static tacit_status pour(tacit_outfile *file, tacit_error *err)
{
    if (file->text.failed)
        return tacit_out_of_memory(err);
    if (!tacit_write_all(file->fd, file->text.text, file->text.len))
        return tacit_folder_fail(file->folder, file->name, errno, err);
    file->text.len = 0;
    return TACIT_OK;
}

tacit_status tacit_outfile_flush(tacit_outfile *file, tacit_error *err)
{
    return file->text.len < FLUSH_AT && !file->text.failed ? TACIT_OK : pour(file, err);
}

tacit_status tacit_outfile_stage(tacit_outfile *file, tacit_error *err)
{
    tacit_status status = pour(file, err);
    if (!status && !file->hasty && fsync(file->fd) != 0)
        status = tacit_folder_fail(file->folder, file->name, errno, err);
    int result = close(file->fd);
    file->fd = -1;
    if (!status && result != 0)
        status = tacit_folder_fail(file->folder, file->name, errno, err);
    tacit_outfile_drop(file);
    return status;
}

void tacit_outfile_drop(tacit_outfile *file)
{
    if (file->folder && file->fd >= 0)
        close(file->fd);
    file->fd = -1;
    tacit_writer_clear(&file->text);
}

tacit_status tacit_outfile_publish(const tacit_folder *folder, const char *name, tacit_error *err)
{
    char temporary[64];
    temporary_name(name, temporary, sizeof temporary);
    if (renameat(folder->dir, temporary, folder->dir, name) != 0)
        return tacit_folder_fail(folder, name, errno, err);
    return TACIT_OK;
}
