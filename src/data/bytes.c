/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files into memory. They are read, not mapped: a file that shrinks while mapped would end the
 * process. What is read can still be larger than memory, when it goes to a nameless file.
 */
#include "data/bytes.h"

#include "data/known.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_ROOM 65536 /* first guess when a size is not known */

void tacit_bytes_clear(tacit_bytes *bytes)
{
    tacit_block_release(&bytes->block);
    *bytes = (tacit_bytes){0};
}

static const char *scratch_of(const tacit_data_options *options)
{
    return options && options->storage == 1 ? options->scratch : NULL;
}

tacit_status tacit_bytes_reserve(tacit_bytes *bytes, size_t more, const char *name,
                                 const tacit_data_options *options, tacit_error *err)
{
    size_t need, wanted;
    if (!tacit_add_size(bytes->len, more, &need) || need > TACIT_DATASET_MAX_BYTES)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is too large: more than %llu GiB", name,
                          (unsigned long long)TACIT_DATASET_MAX_BYTES >> 30);
    if (need <= bytes->block.len)
        return TACIT_OK;
    if (!tacit_mul_size(bytes->block.len, 2, &wanted) || wanted < need)
        wanted = need;
    tacit_block grown;
    tacit_status status = tacit_block_claim(&grown, wanted, scratch_of(options), err);
    if (status)
        return status;
    if (bytes->len > 0)
        memcpy(grown.bytes, bytes->block.bytes, bytes->len);
    tacit_block_release(&bytes->block);
    bytes->block = grown;
    return TACIT_OK;
}

/* ---- finding and opening ---- */

/* folder/path, if that can be meant; false otherwise. */
static bool in_folder(char *out, size_t size, const char *path, const char *folder)
{
    if (!folder || !folder[0] || path[0] == '/')
        return false;
    int len = snprintf(out, size, "%s/%s", folder, path);
    return len > 0 && (size_t)len < size;
}

bool tacit_bytes_exist(const char *path, const char *folder)
{
    char other[2 * TACIT_TEXT_MAX];
    return access(path, F_OK) == 0 ||
           (in_folder(other, sizeof other, path, folder) && access(other, F_OK) == 0);
}

static tacit_status cannot(const char *verb, const char *path, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT, "cannot %s \"%.300s\": %s", verb, path, strerror(errno));
}

static tacit_status open_file(int *fd, const char *path, const char *folder, tacit_error *err)
{
    char other[2 * TACIT_TEXT_MAX], hint[240] = "";
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0)
        return TACIT_OK;
    if (errno != ENOENT && errno != ENOTDIR)
        return cannot("open", path, err);
    bool both = in_folder(other, sizeof other, path, folder);
    if (both && ((*fd = open(other, O_RDONLY | O_CLOEXEC)) >= 0 || errno != ENOENT))
        return *fd >= 0 ? TACIT_OK : cannot("open", other, err);
    tacit_known_hint(path, hint, sizeof hint);
    if (both)
        return tacit_fail(err, TACIT_EINPUT,
                          "cannot open \"%.200s\": not here and not in data.folder \"%.200s\"%s",
                          path, folder, hint);
    return tacit_fail(err, TACIT_EINPUT, "cannot open \"%.300s\": %s%s", path, strerror(ENOENT),
                      hint);
}

/* ---- reading ---- */

static tacit_status read_all(tacit_bytes *out, int fd, const char *path, size_t expected,
                             const tacit_data_options *options, tacit_error *err)
{
    tacit_status status = tacit_bytes_reserve(out, expected, path, options, err);
    while (!status) {
        if (out->len == out->block.len &&
            (status = tacit_bytes_reserve(out, PIPE_ROOM, path, options, err)))
            break;
        size_t room = out->block.len - out->len;
        ssize_t n = read(fd, (char *)out->block.bytes + out->len, room);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            status = cannot("read", path, err);
        out->len += n > 0 ? (size_t)n : 0;
    }
    return status;
}

static tacit_status read_file(tacit_bytes *out, int fd, const char *path,
                              const tacit_data_options *options, tacit_error *err)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return cannot("read", path, err);
    if (S_ISDIR(about.st_mode))
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is a folder; expected a file", path);
    if (!S_ISREG(about.st_mode) && !S_ISFIFO(about.st_mode))
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is neither a file nor a pipe", path);
    if (about.st_size < 0 || (uint64_t)about.st_size > TACIT_DATASET_MAX_BYTES)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is too large", path);
    /* One byte more: so that the end is met without growing. */
    size_t expected = about.st_size > 0 ? (size_t)about.st_size + 1 : PIPE_ROOM;
    return read_all(out, fd, path, expected, options, err);
}

tacit_status tacit_bytes_load(tacit_bytes *out, const char *path, const char *folder,
                              const tacit_data_options *options, tacit_error *err)
{
    tacit_bytes raw = {0};
    int fd;
    *out = (tacit_bytes){0};
    tacit_status status = open_file(&fd, path, folder, err);
    if (status)
        return status;
    status = read_file(&raw, fd, path, options, err);
    close(fd);
    tacit_pack pack = status ? TACIT_PACK_NONE : tacit_pack_of(tacit_bytes_at(&raw), raw.len);
    if (status || pack == TACIT_PACK_NONE) {
        *out = raw;
    } else {
        status = tacit_unpack(out, pack, path, tacit_bytes_at(&raw), raw.len, options, err);
        tacit_bytes_clear(&raw);
    }
    if (status)
        tacit_bytes_clear(out);
    return status;
}
