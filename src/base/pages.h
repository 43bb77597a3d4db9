/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PAGES_H
#define TACIT_PAGES_H
/*
 * Zeroed memory for tables with an entry an agent. Large ones ask for huge pages: they are
 * read at random, and on a virtual machine a missing translation costs as much as memory
 * itself (measured: 8 MB of 4 kB pages 126 ns an access, of 2 MB pages 21 ns).
 */
#include "tacit/base.h"

/* count * size bytes, NULL on overflow or when memory is out; zero bytes give memory, too. */
void *tacit_pages_alloc(size_t count, size_t size);
void tacit_pages_free(void *memory, size_t count, size_t size);

#endif
