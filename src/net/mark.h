/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_NET_MARK_H
#define TACIT_NET_MARK_H
/*
 * A high-water mark: how many releases an agent's ledger held when its node last spoke, and what
 * the ledger was then, signed by that node. Peers keep the highest they were given and hand it
 * back. Who meets his own signature under more releases than his ledger holds, or under another
 * past than his ledger has, knows that the ledger is an old copy, whoever shows it to him; what
 * lacks his signature proves nothing.
 */
#include "net/keys.h"

#define TACIT_MARK_HEAD 16  /* bytes of the seal of the ledger's last entry */
#define TACIT_MARK_BYTES 88 /* 8 releases, 16 head, 64 signature */

typedef struct tacit_mark {
    uint64_t releases; /* 0: there is no mark, and all other bytes are zero */
    uint8_t head[TACIT_MARK_HEAD];
    uint8_t signature[TACIT_SIGNATURE];
} tacit_mark;

/* Signs releases and head for one agent of one run. */
void tacit_mark_sign(tacit_mark *mark, const tacit_identity *identity,
                     const uint8_t run[TACIT_RUN_ID], tacit_agent agent);
bool tacit_mark_signed(const tacit_mark *mark, const uint8_t public_key[TACIT_IDENTITY_BYTES],
                       const uint8_t run[TACIT_RUN_ID], tacit_agent agent);

void tacit_mark_write(uint8_t out[TACIT_MARK_BYTES], const tacit_mark *mark);
/* False: no releases, and yet bytes that are not zero. */
bool tacit_mark_read(tacit_mark *mark, const uint8_t bytes[TACIT_MARK_BYTES]);

#endif
