/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States at rest. While a run goes on, states hold what must not outlive it: secret halves of mask
 * keys, secrets of pairs, seeds. They are written many times, into node.db and into ledgers, where
 * what was replaced or deleted lingers in free pages, in journals and in blocks of the disk, and
 * where the last state cannot be taken out again without touching a sealed ledger. So they are
 * written encrypted, under a key in a file of its own (state.key, 0600), and when the run has ended
 * that one file is overwritten and removed: all of them are gone at once.
 *
 *     4 "TCTX", 24 nonce, XChaCha20-Poly1305 of the state (16 more), with the run's id
 *
 * The state after the end is written as it is: protocols have forgotten their secrets by then
 * (TACIT_FINISH). This is no protection from whoever can read the folder while the run goes on.
 *
 * Invariants:
 *  1. A key is on the disk, name and all, before anything is encrypted under it.
 *  2. It is forgotten only after a state that needs no key was committed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "runtime/node/store_inside.h"

enum {
    AT_NONCE = 4,
    AT_TEXT = AT_NONCE + crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    MORE = AT_TEXT + crypto_aead_xchacha20poly1305_ietf_ABYTES
};
_Static_assert(TACIT_KEY_BYTES == crypto_aead_xchacha20poly1305_ietf_KEYBYTES,
               "keys of this cipher");
static const uint8_t magic[AT_NONCE] = {'T', 'C', 'T', 'X'};

static char *key_path(const node_store *store)
{
    const char *slash = strrchr(store->path, '/');
    char *folder = slash ? strndup(store->path, (size_t)(slash - store->path) + 1) : strdup("");
    char *path = folder ? tacit_path_with(folder, "state.key") : NULL;
    free(folder);
    return path;
}

/* ---- the key ---- */

tacit_status store_key_find(node_store *store, tacit_error *err)
{
    char *path = key_path(store);
    if (!path)
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    if (access(path, F_OK) == 0)
        status = tacit_key_read(&store->state_key, path, err);
    store->state_keyed = status == TACIT_OK && access(path, F_OK) == 0;
    /* Zeros are what a crash left of a key that was being forgotten. */
    if (store->state_keyed && sodium_is_zero(store->state_key.bytes, TACIT_KEY_BYTES)) {
        store->state_keyed = false;
        if (unlink(path) != 0 || !tacit_sync_folder_of(path))
            status = tacit_fail(err, TACIT_EINPUT, "cannot remove \"%.300s\": %s", path,
                                strerror(errno));
    }
    free(path);
    return status;
}

static tacit_status make_key(node_store *store, tacit_error *err)
{
    char *path = key_path(store);
    if (!path)
        return tacit_out_of_memory(err);
    tacit_key *key = &store->state_key;
    randombytes_buf(key->bytes, sizeof key->bytes);
    /* Under another name first: half a key would lock everything in for good. */
    const tacit_status status =
        tacit_file_replace(path, 0600, key->bytes, sizeof key->bytes, "key file", err);
    store->state_keyed = status == TACIT_OK;
    free(path);
    return status;
}

static bool overwrite(const char *path)
{
    static const uint8_t zeros[TACIT_KEY_BYTES];
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT;
    bool good = write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros && fsync(fd) == 0;
    good = close(fd) == 0 && good;
    return unlink(path) == 0 && good;
}

tacit_status node_store_forget(node_store *store, tacit_error *err)
{
    char *path = key_path(store);
    if (!path)
        return tacit_out_of_memory(err);
    tacit_status status = TACIT_OK;
    if (!overwrite(path) || !tacit_sync_folder_of(path))
        status = tacit_fail(err, TACIT_EINPUT, "cannot overwrite and remove \"%.300s\": %s", path,
                            strerror(errno));
    store_key_wipe(store);
    free(path);
    return status;
}

void store_key_wipe(node_store *store)
{
    tacit_key_wipe(&store->state_key);
    store->state_keyed = false;
}

/* ---- states ---- */

void node_store_last(node_store *store)
{
    store->last = true;
}

tacit_status store_seal(node_store *store, const void **state, size_t *len, tacit_error *err)
{
    if (store->last || !*state)
        return TACIT_OK;
    if (*len > SIZE_MAX - MORE)
        return tacit_fail(err, TACIT_EINPUT, "a state of %zu bytes is too large", *len);
    uint8_t *at = tacit_array_grow(store->sealed, &store->sealed_capacity, *len + MORE, 1);
    if (!at)
        return tacit_out_of_memory(err);
    store->sealed = at;
    const tacit_status status = store->state_keyed ? TACIT_OK : make_key(store, err);
    if (status != TACIT_OK)
        return status;
    memcpy(at, magic, sizeof magic);
    randombytes_buf(at + AT_NONCE, AT_TEXT - AT_NONCE);
    crypto_aead_xchacha20poly1305_ietf_encrypt(at + AT_TEXT, NULL, *state, *len, store->run,
                                               sizeof store->run, NULL, at + AT_NONCE,
                                               store->state_key.bytes);
    *state = at;
    *len += MORE;
    return TACIT_OK;
}

tacit_status store_unseal(const node_store *store, void **state, size_t *len, tacit_error *err)
{
    if (!*state || *len < MORE || memcmp(*state, magic, sizeof magic) != 0)
        return TACIT_OK; /* of a run that has ended */
    const uint8_t *from = *state;
    uint8_t *out = malloc(*len - MORE + 1);
    if (!out)
        return tacit_out_of_memory(err);
    if (!store->state_keyed ||
        crypto_aead_xchacha20poly1305_ietf_decrypt(out, NULL, NULL, from + AT_TEXT, *len - AT_TEXT,
                                                   store->run, sizeof store->run, from + AT_NONCE,
                                                   store->state_key.bytes) != 0) {
        free(out);
        return TACIT_NO;
    }
    free(*state);
    *state = out;
    *len -= MORE;
    return TACIT_OK;
}
