/* SPDX-License-Identifier: Apache-2.0 */
/* Ports for peers on this machine. */
#include <inttypes.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "experiment/consortium.h"

#define FIRST_PORT 10000 /* free ones are looked for from here ... */
#define LAST_PORT 32767  /* ... to below those that outgoing connections get */

static bool is_free(uint16_t port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken = fd < 0 || bind(fd, (const struct sockaddr *)(const void *)&at, sizeof at) != 0;
    if (fd >= 0)
        close(fd);
    return !taken;
}

tacit_status tacit_ports_choose(tacit_node_member *members, uint32_t count, uint16_t first,
                                tacit_error *err)
{
    const uint32_t span = LAST_PORT - FIRST_PORT + 1;
    uint32_t port = first, tried = 0;
    if (port && port + count - 1 > UINT16_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%" PRIu32 " ports from %" PRIu32 " on are too many",
                          count, port);
    if (!port) /* anywhere, so that two at a time seldom meet */
        port = FIRST_PORT + randombytes_uniform(span);
    for (uint32_t k = 0; k < count; port++) {
        if (!first) {
            if (tried++ == span)
                return tacit_fail(err, TACIT_EINPUT, "fewer than %" PRIu32 " ports are free here",
                                  count);
            port = port > LAST_PORT ? FIRST_PORT : port;
            if (!is_free((uint16_t)port))
                continue;
        }
        snprintf(members[k].endpoint, sizeof members[k].endpoint, "tcp://127.0.0.1:%u",
                 (unsigned)port);
        k++;
    }
    return TACIT_OK;
}
