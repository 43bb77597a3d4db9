/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of node.db: the head, a state for each agent, peers.
 *
 * Disks turn bits, and SQLite does not look for that: head and states have digests. They are no
 * seals, since whoever may write the file may also read the keys beside it. Peers' descriptors
 * are signed.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "net/bits.h"
#include "runtime/node/store_inside.h"

enum { PEERS_MOST = 65536, PEER_BYTES = 65536, DIGEST = 32 };

/* ---- the head ---- */

static void head_digest(uint8_t digest[DIGEST], const uint8_t run[16], const uint8_t identity[32],
                        const store_head *h)
{
    const double reals[] = {h->elapsed, h->at.wall, h->at.boot};
    uint8_t word[8];
    crypto_generichash_state s;
    crypto_generichash_init(&s, NULL, 0, DIGEST);
    crypto_generichash_update(&s, run, 16);
    crypto_generichash_update(&s, identity, 32);
    tacit_put_u64(word, h->incarnation);
    crypto_generichash_update(&s, word, sizeof word);
    for (int i = 0; i < 3; i++) {
        const double x = reals[i] == 0 ? 0 : reals[i]; /* the database knows no -0 */
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        tacit_put_u64(word, bits);
        crypto_generichash_update(&s, word, sizeof word);
    }
    crypto_generichash_update(&s, (const uint8_t *)h->at.boot_id, strlen(h->at.boot_id));
    crypto_generichash_final(&s, digest, DIGEST);
}

tacit_status store_db_write_head(node_store *store, tacit_error *err)
{
    const store_head *h = &store->head;
    sqlite3_stmt *s = store->statement[STORE_SET_HEAD];
    uint8_t digest[DIGEST];
    head_digest(digest, store->run, store->identity, h);
    sqlite3_bind_blob(s, 1, store->run, sizeof store->run, SQLITE_STATIC);
    sqlite3_bind_blob(s, 2, store->identity, sizeof store->identity, SQLITE_STATIC);
    sqlite3_bind_int64(s, 3, (sqlite3_int64)h->incarnation);
    sqlite3_bind_double(s, 4, h->elapsed);
    sqlite3_bind_double(s, 5, h->at.wall);
    sqlite3_bind_double(s, 6, h->at.boot);
    sqlite3_bind_text(s, 7, h->at.boot_id, -1, SQLITE_STATIC);
    sqlite3_bind_blob(s, 8, digest, sizeof digest, SQLITE_STATIC);
    return store_db_run(store, STORE_SET_HEAD, err);
}

static bool column_bytes(sqlite3_stmt *s, int column, void *out, int len)
{
    if (sqlite3_column_type(s, column) != SQLITE_BLOB || sqlite3_column_bytes(s, column) != len)
        return false;
    memcpy(out, sqlite3_column_blob(s, column), (size_t)len);
    return true;
}

/* The row as it stands; false if it is not what we write. */
static bool take_head(sqlite3_stmt *s, uint8_t run[16], uint8_t identity[32], store_head *h)
{
    uint8_t digest[DIGEST], want[DIGEST];
    const char *id = (const char *)sqlite3_column_text(s, 6);
    *h = (store_head){
        .incarnation = (uint64_t)sqlite3_column_int64(s, 2),
        .elapsed = sqlite3_column_double(s, 3),
        .at = {.wall = sqlite3_column_double(s, 4), .boot = sqlite3_column_double(s, 5)}};
    if (!column_bytes(s, 0, run, 16) || !column_bytes(s, 1, identity, 32) ||
        !column_bytes(s, 7, digest, DIGEST) || !id || strlen(id) >= sizeof h->at.boot_id)
        return false;
    memcpy(h->at.boot_id, id, strlen(id) + 1);
    head_digest(want, run, identity, h);
    return sodium_memcmp(digest, want, DIGEST) == 0 && h->incarnation <= INT64_MAX &&
           isfinite(h->elapsed) && isfinite(h->at.wall) && isfinite(h->at.boot);
}

tacit_status store_db_read_head(node_store *store, tacit_error *err)
{
    uint8_t run_id[16], identity[32];
    sqlite3_stmt *s = store->statement[STORE_GET_HEAD];
    int code = sqlite3_step(s);
    const bool good = code == SQLITE_ROW && take_head(s, run_id, identity, &store->head);
    if (code == SQLITE_ROW)
        code = sqlite3_step(s) == SQLITE_DONE ? SQLITE_DONE : SQLITE_CORRUPT;
    sqlite3_reset(s);
    if (code != SQLITE_DONE)
        return store_db_fail(store, code, "read", err);
    if (!good)
        return store_db_not_ours(store, "has a head that was lost, damaged or edited", err);
    if (memcmp(identity, store->identity, sizeof identity) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" belongs to a node with another key; give each its own folder",
                          store->path);
    if (memcmp(run_id, store->run, sizeof run_id) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is of another run (other members, options or data were "
                          "agreed on); give each run its own folder",
                          store->path);
    return TACIT_OK;
}

/* ---- states ---- */

static void state_digest(uint8_t digest[DIGEST], tacit_agent agent, uint64_t after,
                         const void *bytes, size_t len)
{
    uint8_t words[16];
    crypto_generichash_state s;
    crypto_generichash_init(&s, NULL, 0, DIGEST);
    tacit_put_u64(words, agent);
    tacit_put_u64(words + 8, after);
    crypto_generichash_update(&s, words, sizeof words);
    if (len > 0)
        crypto_generichash_update(&s, bytes, len);
    crypto_generichash_final(&s, digest, DIGEST);
}

tacit_status store_db_write_state(node_store *store, store_statement which, uint32_t index,
                                  const void *bytes, size_t len, tacit_error *err)
{
    const store_ledger *a = &store->agents[index];
    sqlite3_stmt *s = store->statement[which];
    uint8_t digest[DIGEST];
    if (len > TACIT_RELEASE_MAX)
        return tacit_fail(err, TACIT_EINPUT, "a state of %zu bytes is too large: at most %d", len,
                          TACIT_RELEASE_MAX);
    state_digest(digest, a->holder.agent, a->told, bytes, len);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)a->holder.agent);
    sqlite3_bind_int64(s, 2, (sqlite3_int64)a->told);
    if (bytes && len > 0)
        sqlite3_bind_blob64(s, 3, bytes, len, SQLITE_STATIC);
    else if (bytes)
        sqlite3_bind_zeroblob(s, 3, 0);
    sqlite3_bind_blob(s, 4, digest, sizeof digest, SQLITE_STATIC);
    return store_db_run(store, which, err);
}

static tacit_status copy_state(node_store *store, sqlite3_stmt *s, tacit_agent agent,
                               uint64_t *after, void **bytes, size_t *len, tacit_error *err)
{
    uint8_t digest[DIGEST], want[DIGEST];
    const bool any = sqlite3_column_type(s, 1) != SQLITE_NULL;
    const void *blob = sqlite3_column_blob(s, 1);
    const size_t size = (size_t)sqlite3_column_bytes(s, 1);
    *after = (uint64_t)sqlite3_column_int64(s, 0);
    state_digest(want, agent, *after, blob, size);
    if (!column_bytes(s, 2, digest, DIGEST) || sodium_memcmp(digest, want, DIGEST) != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "what \"%.300s\" keeps of agent %llu was damaged or edited; without "
                          "that file a node goes on from its last releases",
                          store->path, (unsigned long long)agent);
    if (!any || !bytes)
        return TACIT_OK;
    if (!(*bytes = malloc(size + 1)))
        return tacit_out_of_memory(err);
    if (size > 0)
        memcpy(*bytes, blob, size);
    *len = size;
    return TACIT_OK;
}

tacit_status store_db_get_state(node_store *store, uint32_t index, uint64_t *release, void **bytes,
                                size_t *len, tacit_error *err)
{
    const tacit_agent agent = store->agents[index].holder.agent;
    sqlite3_stmt *s = store->statement[STORE_GET_STATE];
    sqlite3_bind_int64(s, 1, (sqlite3_int64)agent);
    const int code = sqlite3_step(s);
    tacit_status status;
    if (code == SQLITE_ROW)
        status = copy_state(store, s, agent, release, bytes, len, err);
    else if (code == SQLITE_DONE)
        status =
            tacit_fail(err, TACIT_EINPUT,
                       "\"%.300s\" was made for other agents: %llu \"%.100s\" is not among "
                       "them; give each set of agents its own folder",
                       store->path, (unsigned long long)agent, store->agents[index].holder.name);
    else
        status = store_db_fail(store, code, "read", err);
    sqlite3_reset(s);
    return status;
}

/* ---- peers ---- */

static tacit_status write_peer(node_store *store, store_statement which, const uint8_t *identity,
                               const void *bytes, size_t len, tacit_error *err)
{
    sqlite3_stmt *s = store->statement[which];
    sqlite3_bind_blob(s, 1, identity, 32, SQLITE_STATIC);
    if (len > 0)
        sqlite3_bind_blob64(s, 2, bytes, len, SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(s, 2, 0);
    return store_db_run(store, which, err);
}

static tacit_status put_peer(node_store *store, const uint8_t *identity, const void *bytes,
                             size_t len, tacit_error *err)
{
    tacit_status status = write_peer(store, STORE_SET_PEER, identity, bytes, len, err);
    if (status || sqlite3_changes(store->db) > 0)
        return status;
    if (store->peers >= PEERS_MOST)
        return TACIT_NO;
    store->peers++;
    return write_peer(store, STORE_ADD_PEER, identity, bytes, len, err);
}

tacit_status node_store_put_peer(node_store *store, const uint8_t identity[32], const void *bytes,
                                 size_t len, tacit_error *err)
{
    tacit_error why = {0};
    tacit_status status = store_may_write(store, err);
    if (!status && len > PEER_BYTES)
        status = tacit_fail(err, TACIT_EINPUT, "%zu bytes about one peer are too many: at most %d",
                            len, PEER_BYTES);
    if (status)
        return status;
    status = put_peer(store, identity, bytes, len, &why);
    if (status == TACIT_NO)
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" has %d peers, and takes no more",
                          store->path, PEERS_MOST);
    store->db_broken = status != TACIT_OK;
    return status ? store_fall_mute(store, status, &why, err) : TACIT_OK;
}

tacit_status node_store_each_peer(node_store *store, node_store_peer_visit *visit, void *ctx,
                                  tacit_error *err)
{
    if (!store->db)
        return store_may_write(store, err);
    sqlite3_stmt *s = store->statement[STORE_PEERS];
    tacit_status status = TACIT_OK;
    int code = SQLITE_DONE;
    while (!status && (code = sqlite3_step(s)) == SQLITE_ROW) {
        uint8_t identity[32];
        const size_t len = (size_t)sqlite3_column_bytes(s, 1);
        const void *bytes = sqlite3_column_blob(s, 1);
        if (column_bytes(s, 0, identity, sizeof identity))
            status = visit(ctx, identity, bytes ? bytes : "", len, err);
        else
            status = store_db_not_ours(store, "has peers that were damaged or edited", err);
    }
    sqlite3_reset(s);
    return status || code == SQLITE_DONE ? status : store_db_fail(store, code, "read", err);
}
