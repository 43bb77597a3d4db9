/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_BLOCK_H
#define TACIT_DATA_BLOCK_H
/*
 * A large piece of zeroed memory: anonymous pages, or pages of a file that has no name, which
 * the kernel can write out when memory is short. Nobody else can shrink a file without a name,
 * and its room on the disk is claimed when it is made, so that touching it cannot fail later.
 */
#include "tacit/base.h"

typedef struct tacit_block {
    void *bytes; /* NULL: nothing */
    size_t len;
    bool in_file;
} tacit_block;

/* `scratch` is the folder of the file, "" for the current one; NULL: memory. */
tacit_status tacit_block_claim(tacit_block *block, size_t len, const char *scratch,
                               tacit_error *err);
void tacit_block_release(tacit_block *block);

#endif
