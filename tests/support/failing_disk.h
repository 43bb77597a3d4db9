/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_FAILING_DISK_H
#define TACIT_FAILING_DISK_H
/*
 * A layer below SQLite that counts what is written and synchronised. At a chosen step either every
 * call fails from then on (the disk is gone), or all that was not synchronised is lost (the power
 * is), or the process ends.
 */
#include "testing.h"

typedef enum failure { DISK_GONE, POWER_LOST, POWER_LOST_IN_PART, KILLED } failure;

typedef struct failing_disk {
    long steps, fail_at; /* fail_at < 0: never */
    failure how;
    bool dead;
    dice d;
} failing_disk;
extern failing_disk disk;

/* From here on SQLite uses it. */
void disk_use(void);
/* What was written is safe (of one file; NULL: of all). */
void disk_forget(const char *path);
/* prepare, live, check, with a failure at each step of `live` in turn until one life has none;
 * returns how many steps that one had. */
long disk_fail_everywhere(failure how, void (*prepare)(void), void (*live)(bool *failed),
                          void (*check)(void));

#endif
