/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for real secrets, and what a process does so that nothing drawn from them is drawn twice:
 *
 *  1. after a restart or a restored backup: keys are new in every process and stored nowhere;
 *  2. after a fork: keys carry the mark of the process that drew them, on a page that the kernel
 *     wipes in every child. A process id would not do: two children may have the same one in
 *     namespaces of their own;
 *  3. after a restored memory image (of a virtual machine, a container, a process), where keys,
 *     marks and counters are all those of the image: each release has a key of its own, made of the
 *     process's key and of bytes that the system gives at that moment;
 *  4. within the process, should the system repeat itself (a machine that was restored without its
 *     kernel being told): a counter and the time of day go into that key as well.
 */
#include <errno.h>
#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "tacit/random.h"

/* ---- fresh bytes ---- */

/* libsodium ends the program where the system has no bytes; an error is for the caller here. */
static bool system_bytes(void *out, size_t len)
{
    uint8_t *to = out;
    while (len > 0) {
        const ssize_t got = getrandom(to, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        len -= (size_t)got;
    }
    return true;
}

/* ---- the mark of a process ---- */

typedef _Atomic int64_t mark;

static mark in_memory;
static mark *marked = &in_memory;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void forget(void)
{
    atomic_store(marked, 0);
}

/* A page of its own that is zero again in a child, however it was made; where the system cannot do
 * that, fork() at least resets it. */
static void find_place(void)
{
    void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED && madvise(page, sizeof(mark), MADV_WIPEONFORK) == 0)
        marked = page;
    else
        pthread_atfork(NULL, NULL, forget);
}

int64_t tacit_random_process(void)
{
    pthread_once(&once, find_place);
    int64_t known = atomic_load(marked);
    if (known == 0) {
        int64_t drawn;
        do {
            if (!system_bytes(&drawn, sizeof drawn))
                drawn = (int64_t)getpid();
        } while (drawn == 0);
        if (atomic_compare_exchange_strong(marked, &known, drawn))
            known = drawn;
    }
    const int64_t both = (int64_t)((uint64_t)known ^ (uint64_t)getpid() << 32);
    return both ? both : 1;
}

/* ---- keys ---- */

tacit_status tacit_random_system(tacit_random *random, tacit_error *err)
{
    if (sodium_init() < 0 || !system_bytes(random->key, sizeof random->key))
        return tacit_fail(err, TACIT_EINTERNAL, "the system gives no random numbers");
    random->process = tacit_random_process();
    return TACIT_OK;
}

bool tacit_random_is_own(const tacit_random *random)
{
    return random->process == 0 || random->process == tacit_random_process();
}

/* ---- draws ---- */

typedef struct moment {
    uint8_t fresh[32];
    uint64_t number, agent, first;
    struct timespec day, running;
} moment;

static tacit_status renew(uint8_t key[32], const uint8_t old[32], tacit_agent agent, uint64_t first,
                          tacit_error *err)
{
    static _Atomic uint64_t next;
    moment now;
    memset(&now, 0, sizeof now);
    if (!system_bytes(now.fresh, sizeof now.fresh))
        return tacit_fail(err, TACIT_EINTERNAL,
                          "the system gives no random numbers; nothing was drawn");
    now.number = atomic_fetch_add(&next, 1);
    now.agent = agent;
    now.first = first;
    clock_gettime(CLOCK_REALTIME, &now.day);
    clock_gettime(CLOCK_MONOTONIC, &now.running);
    crypto_generichash(key, 32, (const uint8_t *)&now, sizeof now, old, 32);
    sodium_memzero(&now, sizeof now);
    return TACIT_OK;
}

tacit_status tacit_draws_open(tacit_draws *d, const tacit_random *random, tacit_agent agent,
                              tacit_purpose purpose, uint64_t first, tacit_error *err)
{
    d->agent = agent;
    d->first = first;
    if (random->process)
        return renew(d->key, random->key[purpose], agent, first, err);
    memcpy(d->key, random->key[purpose], sizeof d->key);
    return TACIT_OK;
}

void tacit_draws_stream(tacit_stream *s, const tacit_draws *d, uint64_t part)
{
    tacit_stream_open_key(s, d->key, d->agent, d->first + part);
}

void tacit_draws_clear(tacit_draws *d)
{
    sodium_memzero(d, sizeof *d);
}
