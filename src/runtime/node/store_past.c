/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the ledgers of a node were when they were shorter: an old copy that was spoken from has
 * another past than the one that was told, also once it is as long.
 */
#include <string.h>

#include "runtime/node/store_inside.h"

static const char accepted_as[] = "accepted as spent";

uint64_t node_store_entries(const node_store *store, uint32_t index, uint8_t head[NODE_STORE_HEAD])
{
    const tacit_ledger_file *file = store->agents[index].file;
    memset(head, 0, NODE_STORE_HEAD);
    if (node_store_mute(store) || file->entries.links < 2) /* whose ledger it is is the first */
        return 0;
    memcpy(head, file->entries.mac, NODE_STORE_HEAD);
    return file->entries.links - 1;
}

tacit_status node_store_past(node_store *store, uint32_t index, uint64_t entries,
                             uint8_t head[NODE_STORE_HEAD], bool *accepted, tacit_error *err)
{
    const tacit_ledger_file *file = store->agents[index].file;
    sqlite3_stmt *s = NULL;
    tacit_status status = store_may_write(store, err); /* mute: files may be closed */
    if (status)
        return status;
    if (entries > INT64_MAX)
        return TACIT_NO;
    int code = sqlite3_prepare_v2(file->db, "SELECT mac,what FROM entry WHERE id=?", -1, &s, NULL);
    if (!code)
        code = sqlite3_bind_int64(s, 1, (sqlite3_int64)entries);
    if (!code)
        code = sqlite3_step(s);
    const bool found = code == SQLITE_ROW && sqlite3_column_bytes(s, 0) == TACIT_MAC_BYTES;
    if (found) {
        const char *what = (const char *)sqlite3_column_text(s, 1);
        memcpy(head, sqlite3_column_blob(s, 0), NODE_STORE_HEAD);
        *accepted = what && strcmp(what, accepted_as) == 0;
    }
    sqlite3_finalize(s);
    if (found || code == SQLITE_DONE)
        return found ? TACIT_OK : TACIT_NO;
    return tacit_store_fail(file, code, "read", err);
}
