/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mark.h"

#include <sodium.h>
#include <string.h>

#include "net/bits.h"

enum { AT_HEAD = 8, AT_SIGNATURE = AT_HEAD + TACIT_MARK_HEAD };

/* Nothing else that a node's key signs begins with these words. */
static void mark_hash(uint8_t hash[crypto_generichash_BYTES], const tacit_mark *mark,
                      const uint8_t run[TACIT_RUN_ID], tacit_agent agent)
{
    static const char domain[] = "tacit high-water mark 1";
    uint8_t words[16];
    crypto_generichash_state h;
    tacit_put_u64(words, agent);
    tacit_put_u64(words + 8, mark->releases);
    crypto_generichash_init(&h, NULL, 0, crypto_generichash_BYTES);
    crypto_generichash_update(&h, (const uint8_t *)domain, sizeof domain);
    crypto_generichash_update(&h, run, TACIT_RUN_ID);
    crypto_generichash_update(&h, words, sizeof words);
    crypto_generichash_update(&h, mark->head, sizeof mark->head);
    crypto_generichash_final(&h, hash, crypto_generichash_BYTES);
}

void tacit_mark_sign(tacit_mark *mark, const tacit_identity *identity,
                     const uint8_t run[TACIT_RUN_ID], tacit_agent agent)
{
    uint8_t hash[crypto_generichash_BYTES];
    mark_hash(hash, mark, run, agent);
    crypto_sign_detached(mark->signature, NULL, hash, sizeof hash, identity->secret);
}

bool tacit_mark_signed(const tacit_mark *mark, const uint8_t public_key[TACIT_IDENTITY_BYTES],
                       const uint8_t run[TACIT_RUN_ID], tacit_agent agent)
{
    uint8_t hash[crypto_generichash_BYTES];
    mark_hash(hash, mark, run, agent);
    return crypto_sign_verify_detached(mark->signature, hash, sizeof hash, public_key) == 0;
}

void tacit_mark_write(uint8_t out[TACIT_MARK_BYTES], const tacit_mark *mark)
{
    tacit_put_u64(out, mark->releases);
    memcpy(out + AT_HEAD, mark->head, sizeof mark->head);
    memcpy(out + AT_SIGNATURE, mark->signature, sizeof mark->signature);
}

bool tacit_mark_read(tacit_mark *mark, const uint8_t bytes[TACIT_MARK_BYTES])
{
    mark->releases = tacit_get_u64(bytes);
    memcpy(mark->head, bytes + AT_HEAD, sizeof mark->head);
    memcpy(mark->signature, bytes + AT_SIGNATURE, sizeof mark->signature);
    return mark->releases > 0 || sodium_is_zero(bytes, TACIT_MARK_BYTES);
}
