/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys for real secrets. They exist in one process only, so that noise is never repeated: not
 * after a restart (new keys), not after a restored backup (nothing is stored), and not after a
 * fork, which a release notices by the process id. Within the process every release takes a
 * number of its own: ids of ledgers would not do, since two ledgers may give the same ones.
 */
#include <sodium.h>
#include <stdatomic.h>
#include <unistd.h>

#include "tacit/random.h"

tacit_status tacit_random_system(tacit_random *random, tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "the system gives no random numbers");
    randombytes_buf(random->key, sizeof random->key);
    random->process = (int64_t)getpid();
    return TACIT_OK;
}

uint64_t tacit_random_unique(void)
{
    static _Atomic uint64_t next;
    return atomic_fetch_add(&next, 1);
}

bool tacit_random_is_own(const tacit_random *random)
{
    return random->process == 0 || random->process == (int64_t)getpid();
}
