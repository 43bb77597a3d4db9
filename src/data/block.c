/* SPDX-License-Identifier: Apache-2.0 */
#include "data/block.h"

#include "base/pages.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A file in `folder` that nobody can find. */
static int open_nameless(const char *folder)
{
#ifdef O_TMPFILE
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
#endif
    char path[4096];
    int len = snprintf(path, sizeof path, "%s/tacit-XXXXXX", folder);
    if (len < 0 || (size_t)len >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int named = mkostemp(path, O_CLOEXEC);
    if (named >= 0)
        (void)unlink(path);
    return named;
}

/* Claim all room now: a page that finds the disk full when it is touched ends the process. */
static int claim_room(int fd, size_t len)
{
    int problem;
    if (len > INT64_MAX)
        return EFBIG;
    do
        problem = posix_fallocate(fd, 0, (off_t)len);
    while (problem == EINTR);
    return problem;
}

static tacit_status claim_file(tacit_block *block, size_t len, const char *folder, tacit_error *err)
{
    folder = folder[0] ? folder : ".";
    int fd = open_nameless(folder);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot make a file in data.scratch \"%.300s\": %s",
                          folder, strerror(errno));
    int problem = claim_room(fd, len);
    void *bytes = MAP_FAILED;
    if (!problem) {
        bytes = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        problem = bytes == MAP_FAILED ? errno : 0;
    }
    close(fd); /* the mapping keeps the file */
    if (problem)
        return tacit_fail(err, TACIT_EINPUT,
                          "cannot claim %zu MiB in data.scratch \"%.300s\": %s; name a folder with "
                          "more room",
                          (len >> 20) + 1, folder, strerror(problem));
    *block = (tacit_block){.bytes = bytes, .len = len, .in_file = true};
    return TACIT_OK;
}

tacit_status tacit_block_claim(tacit_block *block, size_t len, const char *scratch,
                               tacit_error *err)
{
    *block = (tacit_block){0};
    if (len == 0)
        return TACIT_OK;
    if (scratch)
        return claim_file(block, len, scratch, err);
    void *bytes = tacit_pages_alloc(len, 1);
    if (!bytes)
        return tacit_fail(err, TACIT_EINTERNAL,
                          "no memory for %zu MiB of records; set data.storage to \"file\"",
                          (len >> 20) + 1);
    *block = (tacit_block){.bytes = bytes, .len = len};
    return TACIT_OK;
}

void tacit_block_release(tacit_block *block)
{
    if (block->bytes && block->in_file)
        munmap(block->bytes, block->len);
    else if (block->bytes)
        tacit_pages_free(block->bytes, block->len, 1);
    *block = (tacit_block){0};
}
