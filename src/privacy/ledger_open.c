/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger file made, opened and let go of. */
#include "tacit/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "privacy/costs.h"
#include "privacy/ledger_store.h"

void tacit_ledger_file_let_go(tacit_ledger_file *file, bool tidy)
{
    if (!file)
        return;
    for (tacit_permit_node *n = file->permits, *next; n; n = next) {
        next = n->next;
        free(n);
    }
    tacit_store_close(file, tidy);
    tacit_ledger_unlock(file->lock);
    tacit_seals_wipe(file);
    tacit_ledger_clear(&file->ledger);
    tacit_costs_free(file->costs);
    free(file->pending);
    free(file->sent);
    free(file->path);
    free(file);
}

static tacit_ledger_file *start(const char *path, const tacit_key *key)
{
    tacit_ledger_file *file = calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->lock = -1;
    file->owner = tacit_random_process();
    file->path = strdup(path);
    file->costs = tacit_costs_create();
    if (!file->path || !file->costs) {
        tacit_ledger_file_let_go(file, false);
        return NULL;
    }
    tacit_seals_begin(file, key);
    return file;
}

static tacit_status check_holder(const tacit_ledger_holder *h, tacit_error *err)
{
    const tacit_budget *b = &h->budget;
    if (!memchr(h->name, '\0', sizeof h->name))
        return tacit_fail(err, TACIT_EUSAGE, "the name of a ledger's agent has no end");
    if (!(b->epsilon >= 0) || !(b->delta >= 0 && b->delta <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "a budget of epsilon = %g, delta = %g makes no sense; epsilon is at "
                          "least 0, delta from 0 to 1",
                          b->epsilon, b->delta);
    if ((unsigned)b->trust > TACIT_TRUST_SILENT || (unsigned)b->accountant >= TACIT_ACCOUNTANTS)
        return tacit_fail(err, TACIT_EUSAGE, "a budget needs an adversary and an accountant");
    return TACIT_OK;
}

static tacit_status fill(tacit_ledger_file *file, const tacit_ledger_holder *holder,
                         tacit_error *err)
{
    file->holder = *holder;
    file->ledger.next = file->bound = 1;
    tacit_seal_start(file);
    tacit_status status = tacit_store_open(file, true, err);
    return status ? status : tacit_store_end(file, tacit_head_write(file, err), err);
}

/* The file must exist, and be empty. */
static tacit_status create_in(tacit_ledger_file **out, const char *path, const tacit_key *key,
                              const tacit_ledger_holder *holder, tacit_error *err)
{
    tacit_ledger_file *file = start(path, key);
    if (!file)
        return tacit_out_of_memory(err);
    tacit_status status = fill(file, holder, err);
    if (!status && !tacit_sync_folder_of(path))
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\" durable: %s", path,
                            strerror(errno));
    if (status) {
        tacit_ledger_file_let_go(file, false);
        return status;
    }
    *out = file;
    return TACIT_OK;
}

tacit_status tacit_ledger_make_empty(const char *path, struct stat *made, tacit_error *err)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || fstat(fd, made) != 0) {
        const int number = errno;
        if (fd >= 0)
            close(fd);
        return tacit_fail(err, TACIT_EINPUT, "cannot make the ledger \"%.300s\": %s", path,
                          strerror(number));
    }
    close(fd);
    return TACIT_OK;
}

void tacit_ledger_file_remove(const char *path)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char *name = tacit_path_with(path, ends[i]);
        if (name)
            unlink(name);
        free(name);
    }
}

bool tacit_ledger_file_is_unborn(const char *path)
{
    const tacit_key none = {{0}};
    tacit_ledger_file *file = access(path, F_OK) == 0 ? start(path, &none) : NULL;
    if (!file)
        return false;
    const bool unborn = tacit_store_connect(file, NULL) == TACIT_OK && tacit_store_is_empty(file);
    tacit_ledger_file_let_go(file, false);
    return unborn;
}

tacit_status tacit_ledger_create_under(tacit_ledger_file **out, const char *path,
                                       const tacit_key *key, const tacit_ledger_holder *holder,
                                       int lock, tacit_error *err)
{
    struct stat made, there;
    tacit_status status = check_holder(holder, err);
    if (!status)
        status = tacit_ledger_make_empty(path, &made, err);
    if (status)
        return status;
    status = create_in(out, path, key, holder, err);
    if (!status)
        (*out)->lock = lock;
    else if (stat(path, &there) == 0 && there.st_ino == made.st_ino && there.st_dev == made.st_dev)
        tacit_ledger_file_remove(path); /* it was made a moment ago, and nothing is in it */
    return status;
}

tacit_status tacit_ledger_file_create(tacit_ledger_file **out, const char *path,
                                      const tacit_key *key, const tacit_ledger_holder *holder,
                                      tacit_error *err)
{
    int lock;
    *out = NULL;
    tacit_status status = check_holder(holder, err);
    if (!status)
        status = tacit_ledger_lock(path, false, &lock, err);
    if (status)
        return status;
    status = tacit_ledger_create_under(out, path, key, holder, lock, err);
    if (status)
        tacit_ledger_unlock(lock);
    return status;
}

static tacit_status compare_holder(const tacit_ledger_file *file, const tacit_ledger_holder *want,
                                   tacit_error *err)
{
    const tacit_ledger_holder *have = &file->holder;
    const tacit_budget *a = &have->budget, *b = &want->budget;
    if (have->agent != want->agent || strcmp(have->name, want->name) != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "the ledger \"%.150s\" is that of agent %llu \"%.100s\", not of %llu "
                          "\"%.100s\"",
                          file->path, (unsigned long long)have->agent, have->name,
                          (unsigned long long)want->agent, want->name);
    if (a->epsilon != b->epsilon || a->delta != b->delta || a->trust != b->trust ||
        a->accountant != b->accountant)
        return tacit_fail(err, TACIT_EINPUT,
                          "the ledger \"%.150s\" was made for epsilon = %g, delta = %g, adversary "
                          "\"%s\", accountant \"%s\", and a budget does not change: ask for that, "
                          "not for %g, %g, \"%s\", \"%s\"",
                          file->path, a->epsilon, a->delta, tacit_trust_name(a->trust),
                          tacit_accountant_names[a->accountant], b->epsilon, b->delta,
                          tacit_trust_name(b->trust), tacit_accountant_names[b->accountant]);
    return TACIT_OK;
}

static tacit_status open_as(tacit_ledger_file **out, const char *path, const tacit_key *key,
                            const tacit_ledger_holder *holder, bool looking, int lock,
                            tacit_error *err)
{
    tacit_status status = holder ? check_holder(holder, err) : TACIT_OK;
    if (status)
        return status;
    tacit_ledger_file *file = start(path, key);
    if (!file)
        return tacit_out_of_memory(err);
    file->looking = looking;
    status = tacit_store_open(file, false, err);
    if (!status)
        status = tacit_ledger_verify(file, err);
    if (!status && holder)
        status = compare_holder(file, holder, err);
    if (!status && !looking)
        status = tacit_store_make_durable(file, err);
    if (status) {
        tacit_ledger_file_let_go(file, false);
        return status;
    }
    file->lock = lock;
    *out = file;
    return TACIT_OK;
}

tacit_status tacit_ledger_open_under(tacit_ledger_file **out, const char *path,
                                     const tacit_key *key, const tacit_ledger_holder *holder,
                                     int lock, tacit_error *err)
{
    return open_as(out, path, key, holder, false, lock, err);
}

static tacit_status lock_and_open(tacit_ledger_file **out, const char *path, const tacit_key *key,
                                  const tacit_ledger_holder *holder, bool looking, tacit_error *err)
{
    int lock;
    *out = NULL;
    if (access(path, F_OK) != 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot open the ledger \"%.300s\": %s", path,
                          strerror(errno));
    tacit_status status = tacit_ledger_lock(path, looking, &lock, err);
    if (status)
        return status;
    status = open_as(out, path, key, holder, looking, lock, err);
    if (status)
        tacit_ledger_unlock(lock);
    return status;
}

tacit_status tacit_ledger_file_open(tacit_ledger_file **out, const char *path, const tacit_key *key,
                                    const tacit_ledger_holder *holder, tacit_error *err)
{
    return lock_and_open(out, path, key, holder, false, err);
}

tacit_status tacit_ledger_file_look(tacit_ledger_file **out, const char *path, const tacit_key *key,
                                    tacit_error *err)
{
    return lock_and_open(out, path, key, NULL, true, err);
}
