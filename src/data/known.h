/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_KNOWN_H
#define TACIT_DATA_KNOWN_H
/* Data sets of the papers: where a file that is missing can be had. */
#include <stddef.h>

/* Words such as "; get it from ..." for the file that `path` names, "" if it is not known. */
void tacit_known_hint(const char *path, char *out, size_t size);

#endif
