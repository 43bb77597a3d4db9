/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a gzip, xz or zlib file: an error with words, or bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const char *text = (const char *)bytes;
    const tacit_pack packs[] = {TACIT_PACK_GZIP, TACIT_PACK_XZ, TACIT_PACK_ZLIB};
    tacit_pack found = tacit_pack_of(text, len);
    for (size_t k = 0; k < sizeof packs / sizeof *packs; k++) {
        tacit_bytes out;
        tacit_error err = {0};
        if (found != TACIT_PACK_NONE && found != packs[k])
            continue;
        if (tacit_unpack(&out, packs[k], "fuzz", text, len, NULL, &err)) {
            if (err.text[0] == '\0' || out.block.bytes)
                abort();
        } else if (out.len > out.block.len) {
            abort();
        }
        tacit_bytes_clear(&out);
    }
    char start[64];
    if (tacit_unpack_start(start, sizeof start, text, len) > sizeof start)
        abort();
    return 0;
}
