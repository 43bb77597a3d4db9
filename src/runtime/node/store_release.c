/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases, and what comes back of them after a crash.
 *
 * Frames and state of a release are one blob in the ledger's outbox:
 *
 *     4 "TCTR", 4 flags (1: with a state), 16 run, 8 bytes of frames, 8 bytes of state,
 *     frames, state (encrypted: store_seal.c)
 *
 * Invariants:
 *  1. Once anything was told, exactly one blob is pending in the ledger: that of the last release.
 *     The one before is marked as sent just before the commit, which writes both in one
 *     transaction. Charges without frames (all permits of a release but the last, debts, handlers
 *     that failed) have no bytes, and leave it where it is.
 *  2. So `told`, the id of that release, is known from the ledger alone. A state in node.db says
 *     what `told` was when it was kept: if less, it is older than the blob.
 *  3. A state comes from the blob, or from a checkpoint after it: never one that is older than the
 *     frames beside it, unless it was too large for the blob, and then `current` says so.
 *
 * A ledger may outlive a run: who removes node.db and agrees on another run goes on with the same
 * budget. Words of the run before are then charged for and nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "net/bits.h"
#include "runtime/node/store_inside.h"

enum { AT_RUN = 8, AT_FRAMES = 24, AT_STATE = 32, HEAD = 40, WITH_STATE = 1 };
static const uint8_t blob_magic[4] = {'T', 'C', 'T', 'R'};

/* ---- releases ---- */

tacit_ledger_file *node_store_ledger(node_store *store, uint32_t index)
{
    return store->agents[index].file;
}

/* Frames and state, if it is given and small, in one piece of the store's memory. */
static tacit_status pack(node_store *store, const void *frames, size_t frames_len,
                         const void *state, size_t state_len, size_t *len, tacit_error *err)
{
    const bool with = state && state_len <= store->state_max;
    const tacit_status sealed = with ? store_seal(store, &state, &state_len, err) : TACIT_OK;
    if (sealed)
        return sealed;
    if (!with)
        state_len = 0;
    if (frames_len > TACIT_RELEASE_MAX || state_len > TACIT_RELEASE_MAX ||
        HEAD + frames_len + state_len > TACIT_RELEASE_MAX)
        return tacit_fail(err, TACIT_EINPUT, "a release of %zu bytes is too large: at most %d",
                          frames_len, TACIT_RELEASE_MAX);
    *len = HEAD + frames_len + state_len;
    uint8_t *at = tacit_array_grow(store->blob, &store->blob_capacity, *len, 1);
    if (!at)
        return tacit_out_of_memory(err);
    store->blob = at;
    memcpy(at, blob_magic, sizeof blob_magic);
    tacit_put_u32(at + 4, with ? WITH_STATE : 0);
    memcpy(at + AT_RUN, store->run, sizeof store->run);
    tacit_put_u64(at + AT_FRAMES, frames_len);
    tacit_put_u64(at + AT_STATE, state_len);
    if (frames_len > 0)
        memcpy(at + HEAD, frames, frames_len);
    if (state_len > 0)
        memcpy(at + HEAD + frames_len, state, state_len);
    return TACIT_OK;
}

/* A charge with nothing to send. */
static tacit_status commit_bare(store_ledger *a, tacit_permit *permit, double now, size_t *done,
                                tacit_error *err)
{
    uint64_t id;
    tacit_status status = tacit_ledger_file_commit(a->file, permit, NULL, 0, now, &id, err);
    if (status)
        return status;
    ++*done;
    return tacit_ledger_file_mark_sent(a->file, id, err);
}

/* A charge with a blob, which takes the place of the one before. */
static tacit_status commit_blob(store_ledger *a, tacit_permit *permit, const void *blob, size_t len,
                                double now, size_t *done, tacit_error *err)
{
    uint64_t id;
    tacit_status status = TACIT_OK;
    while (!status && tacit_ledger_file_pending(a->file, &id, 1) > 0)
        status = tacit_ledger_file_mark_sent(a->file, id, err);
    if (!status)
        status = tacit_ledger_file_commit(a->file, permit, blob, len, now, &id, err);
    if (status)
        return status;
    ++*done;
    a->told = id;
    return TACIT_OK;
}

/* Permits up to `done` are gone, whatever is returned. */
static tacit_status commit_all(store_ledger *a, tacit_permit *const *permits, size_t count,
                               const void *blob, size_t len, double now, size_t *done,
                               tacit_error *err)
{
    tacit_status status = TACIT_OK;
    const size_t bare = len > 0 ? count - 1 : count;
    while (!status && *done < bare)
        status = commit_bare(a, permits[*done], now, done, err);
    if (!status && len > 0)
        status = commit_blob(a, permits[count - 1], blob, len, now, done, err);
    return status;
}

/* Who owes more than he has pays what he can, and says nothing. */
static tacit_status keep_silent(store_ledger *a, tacit_permit *const *permits, size_t count,
                                double now, size_t *done, tacit_error *err)
{
    tacit_status status = commit_all(a, permits, count, NULL, 0, now, done, err);
    return status ? status
                  : tacit_fail(err, TACIT_EBUDGET,
                               "agent %llu \"%.100s\" has computed more than its budget allows, "
                               "and must stay silent",
                               (unsigned long long)a->holder.agent, a->holder.name);
}

tacit_status node_store_release(node_store *store, uint32_t index, tacit_permit *const *permits,
                                size_t count, const void *frames, size_t frames_len,
                                const void *state, size_t state_len, double now, tacit_error *err)
{
    store_ledger *a = &store->agents[index];
    tacit_error why = {0};
    size_t len = 0, done = 0;
    if (count == 0)
        return tacit_fail(err, TACIT_EUSAGE, "a release needs a permit");
    tacit_status status = store_may_write(store, &why);
    if (!status && !a->barred && (frames_len > 0 || state))
        status = pack(store, frames, frames_len, state, state_len, &len, &why);
    if (!status && a->barred)
        status = keep_silent(a, permits, count, now, &done, &why);
    else if (!status)
        status = commit_all(a, permits, count, store->blob, len, now, &done, &why);
    if (!status)
        return TACIT_OK;
    if (status == TACIT_EBUDGET && done == count) {
        if (err)
            *err = why;
        return status;
    }
    store_owe(a, permits + done, count - done);
    return store_fall_mute(store, status, &why, err);
}

/* ---- back again ---- */

/* The newest pending bytes that are a blob; *bytes is NULL if there are none. */
static tacit_status last_blob(store_ledger *a, uint64_t *id, void **bytes, size_t *len,
                              tacit_error *err)
{
    const size_t count = tacit_ledger_file_pending(a->file, NULL, 0);
    uint64_t *ids = calloc(count + 1, sizeof *ids);
    tacit_status status = ids ? TACIT_OK : tacit_out_of_memory(err);
    *id = 0;
    *bytes = NULL;
    *len = 0;
    if (ids)
        tacit_ledger_file_pending(a->file, ids, count);
    for (size_t k = count; k-- > 0 && !status && !*bytes;) {
        status = tacit_ledger_file_fetch(a->file, ids[k], bytes, len, err);
        if (!status && *len > 0) {
            *id = ids[k];
        } else {
            free(*bytes);
            *bytes = NULL;
        }
    }
    free(ids);
    return status;
}

tacit_status store_find_told(store_ledger *a, tacit_error *err)
{
    void *bytes;
    size_t len;
    tacit_status status = last_blob(a, &a->told, &bytes, &len, err);
    free(bytes);
    return status;
}

static tacit_status copy(void **out, size_t *out_len, const uint8_t *from, size_t len,
                         tacit_error *err)
{
    if (!(*out = malloc(len + 1)))
        return tacit_out_of_memory(err);
    if (len > 0)
        memcpy(*out, from, len);
    *out_len = len;
    return TACIT_OK;
}

/* Bytes under the ledger's seal; but another program may have written them. */
static tacit_status unpack(const node_store *store, const store_ledger *a, const uint8_t *blob,
                           size_t len, void **frames, size_t *frames_len, void **state,
                           size_t *state_len, tacit_error *err)
{
    const bool headed = len >= HEAD && memcmp(blob, blob_magic, sizeof blob_magic) == 0;
    const uint32_t flags = headed ? tacit_get_u32(blob + 4) : 0;
    const uint64_t first = headed ? tacit_get_u64(blob + AT_FRAMES) : 0;
    const uint64_t second = headed ? tacit_get_u64(blob + AT_STATE) : 0;
    if (!headed || flags > WITH_STATE || first > len - HEAD || second != len - HEAD - first ||
        (second > 0 && !flags))
        return tacit_fail(err, TACIT_EVERIFY,
                          "what the ledger \"%.300s\" released last was not written by a node",
                          a->path);
    if (memcmp(blob + AT_RUN, store->run, sizeof store->run) != 0)
        return TACIT_OK;
    tacit_status status = copy(frames, frames_len, blob + HEAD, (size_t)first, err);
    if (!status && flags)
        status = copy(state, state_len, blob + HEAD + first, (size_t)second, err);
    if (!status && *state && (status = store_unseal(store, state, state_len, err)) == TACIT_NO) {
        free(*state); /* the run has ended since: a later state is in node.db */
        *state = NULL;
        *state_len = 0;
        status = TACIT_OK;
    }
    return status;
}

/* The state in node.db instead, if it is not older than the blob's. */
static tacit_status newer_state(node_store *store, uint32_t index, void **state, size_t *state_len,
                                bool *current, tacit_error *err)
{
    void *kept = NULL;
    size_t kept_len = 0;
    uint64_t after = 0;
    tacit_status status = store_db_get_state(store, index, &after, &kept, &kept_len, err);
    if (!status && (status = store_unseal(store, &kept, &kept_len, err)) == TACIT_NO)
        status = tacit_fail(err, TACIT_EVERIFY,
                            "what \"%.300s\" keeps cannot be read without the \"state.key\" that "
                            "was beside it; bring that back",
                            store->path);
    const bool newer = kept && after >= store->agents[index].told;
    if (status || !kept || (*state && !newer)) {
        free(kept);
        *current = *state != NULL;
        return status;
    }
    free(*state);
    *state = kept;
    *state_len = kept_len;
    *current = newer;
    return TACIT_OK;
}

tacit_status node_store_restore(node_store *store, uint32_t index, void **state, size_t *state_len,
                                void **frames, size_t *frames_len, bool *current, tacit_error *err)
{
    store_ledger *a = &store->agents[index];
    void *blob = NULL;
    size_t len = 0;
    uint64_t id;
    *state = *frames = NULL;
    *state_len = *frames_len = 0;
    *current = false;
    tacit_status status = store_may_write(store, err); /* mute: files may be closed */
    if (!status)
        status = last_blob(a, &id, &blob, &len, err);
    if (!status && blob)
        status = unpack(store, a, blob, len, frames, frames_len, state, state_len, err);
    if (!status)
        status = newer_state(store, index, state, state_len, current, err);
    free(blob);
    if (status) {
        free(*state);
        free(*frames);
        *state = *frames = NULL;
        *state_len = *frames_len = 0;
    }
    return status;
}
