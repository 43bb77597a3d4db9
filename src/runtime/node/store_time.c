/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a node was away. Nobody promises that a wall clock is right: it is set, by hand or by
 * a server, by hours or years. The clock since boot is not, so it is used as long as the machine
 * has not been started anew in between, which the boot's id tells.
 */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runtime/node/store_inside.h"

static double seconds(clockid_t which)
{
    struct timespec t;
    return clock_gettime(which, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0;
}

void store_clock(void *ctx, node_moment *now)
{
    (void)ctx;
    *now = (node_moment){.wall = seconds(CLOCK_REALTIME), .boot = seconds(CLOCK_BOOTTIME)};
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    const ssize_t n = read(fd, now->boot_id, sizeof now->boot_id - 1);
    close(fd);
    now->boot_id[n > 0 ? n : 0] = '\0';
    now->boot_id[strcspn(now->boot_id, "\n")] = '\0';
}

double store_between(const node_moment *from, const node_moment *to)
{
    const bool same = from->boot_id[0] && strcmp(from->boot_id, to->boot_id) == 0;
    const double by_boot = to->boot - from->boot, by_wall = to->wall - from->wall;
    const double gone = same && by_boot >= 0 ? by_boot : by_wall;
    return gone > 0 && isfinite(gone) ? gone : 0;
}

uint64_t store_wall_incarnation(const node_moment *now)
{
    const double ms = floor(now->wall * 1e3);
    return ms >= 1 && ms < 0x1p53 ? (uint64_t)ms : 1;
}

double node_store_elapsed(node_store *store, double most)
{
    return store->before + (most > 0 && store->away > most ? most : store->away);
}
