/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and the head as rows, and their seals.
 *
 *   events  mac_k = MAC(mac_{k-1} || event k || its costs, one by one); mac_0 is zero, and the key
 *           is this ledger's own
 *   head    MAC(number of events, of costs and of records, last mac, sum over records)
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/lifetime_inside.h"
#include "privacy/rows.h"

static const char *const kinds[] = {"make",  "budget", "first",  "reserve",
                                    "again", "settle", "exceed", "join"};

static const char *name_of_kind(int i)
{
    return kinds[i];
}
static const char *name_of_filter(int i)
{
    return tacit_filter_names[i];
}

/* ---- seals ---- */

static void seal_item(tacit_chain *chain, const tacit_ledger_entry *item)
{
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, item->releases);
    tacit_canon_cost(&c, item->cost);
    tacit_canon_amount(&c, item->cost);
    tacit_chain_add(chain, c.bytes, c.len);
}

void lifetime_seal_event(tacit_chain *chain, const lifetime_event *event)
{
    const tacit_lifetime_terms *t = &event->terms;
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, LIFETIME_VERSION);
    tacit_canon_count(&c, event->id);
    tacit_canon_real(&c, event->at);
    tacit_canon_text(&c, kinds[event->kind]);
    tacit_canon_count(&c, event->dataset);
    tacit_canon_count(&c, event->other);
    tacit_canon_count(&c, event->reservation);
    tacit_canon_text(&c, event->name);
    tacit_canon_text(&c, event->run);
    tacit_canon_count(&c, event->agent);
    tacit_canon_text(&c, event->agent_name);
    tacit_canon_text(&c, event->protocol);
    tacit_canon_text(&c, tacit_name_of_trust((int)event->trust));
    tacit_canon_bytes(&c, event->nonce, sizeof event->nonce);
    tacit_canon_real(&c, t->epsilon);
    tacit_canon_real(&c, t->delta);
    tacit_canon_real(&c, t->aside);
    tacit_canon_text(&c, tacit_name_of_unit((int)t->unit));
    tacit_canon_text(&c, tacit_name_of_adjacency((int)t->adjacency));
    tacit_canon_text(&c, tacit_filter_names[t->filter]);
    tacit_canon_count(&c, event->block);
    tacit_canon_real(&c, event->risk);
    tacit_canon_count(&c, event->count);
    tacit_chain_add(chain, c.bytes, c.len);
    for (size_t k = 0; k < event->count; k++)
        seal_item(chain, &event->items[k]);
}

static void seal_head(const tacit_lifetime *l, const uint8_t last[TACIT_MAC_BYTES],
                      uint8_t seal[TACIT_MAC_BYTES])
{
    tacit_chain one = l->head;
    tacit_canon c = {.len = 0};
    tacit_canon_count(&c, LIFETIME_VERSION);
    tacit_canon_count(&c, l->events);
    tacit_canon_count(&c, l->costs);
    tacit_canon_count(&c, l->records);
    tacit_canon_bytes(&c, last, TACIT_MAC_BYTES);
    tacit_canon_bytes(&c, l->records_sum, TACIT_MAC_BYTES);
    tacit_chain_add(&one, c.bytes, c.len);
    memcpy(seal, one.mac, TACIT_MAC_BYTES);
    tacit_chain_wipe(&one);
}

static void seal_check(const tacit_lifetime *l, uint8_t check[TACIT_MAC_BYTES])
{
    tacit_chain one = l->check;
    tacit_chain_add(&one, "key", 3);
    memcpy(check, one.mac, TACIT_MAC_BYTES);
    tacit_chain_wipe(&one);
}

/* ---- to the database ---- */

static tacit_status write_items(tacit_lifetime *l, const lifetime_event *event, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < event->count && !status; k++) {
        tacit_binder b = {.s = l->statement[LIFETIME_SQL_ADD_COST]};
        tacit_bind_count(&b, ++l->costs);
        tacit_bind_count(&b, event->id);
        tacit_bind_count(&b, event->items[k].releases);
        tacit_bind_cost(&b, event->items[k].cost);
        tacit_bind_amount(&b, event->items[k].cost);
        status = b.code ? tacit_db_fail(&l->d, b.code, "write to", err)
                        : lifetime_run(l, LIFETIME_SQL_ADD_COST, err);
    }
    return status;
}

tacit_status lifetime_write_event(tacit_lifetime *l, const lifetime_event *event,
                                  const uint8_t mac[TACIT_MAC_BYTES], tacit_error *err)
{
    const tacit_lifetime_terms *t = &event->terms;
    tacit_binder b = {.s = l->statement[LIFETIME_SQL_ADD_EVENT]};
    tacit_bind_count(&b, event->id);
    tacit_bind_real(&b, event->at);
    tacit_bind_text(&b, kinds[event->kind]);
    tacit_bind_count(&b, event->dataset);
    tacit_bind_count(&b, event->other);
    tacit_bind_count(&b, event->reservation);
    tacit_bind_text(&b, event->name);
    tacit_bind_text(&b, event->run);
    tacit_bind_count(&b, event->agent);
    tacit_bind_text(&b, event->agent_name);
    tacit_bind_text(&b, event->protocol);
    tacit_bind_text(&b, tacit_name_of_trust((int)event->trust));
    tacit_bind_bytes(&b, event->nonce, sizeof event->nonce);
    tacit_bind_real(&b, t->epsilon);
    tacit_bind_real(&b, t->delta);
    tacit_bind_real(&b, t->aside);
    tacit_bind_text(&b, tacit_name_of_unit((int)t->unit));
    tacit_bind_text(&b, tacit_name_of_adjacency((int)t->adjacency));
    tacit_bind_text(&b, tacit_filter_names[t->filter]);
    tacit_bind_count(&b, event->block);
    tacit_bind_real(&b, event->risk);
    tacit_bind_count(&b, event->count);
    tacit_bind_bytes(&b, mac, TACIT_MAC_BYTES);
    if (b.code)
        return tacit_db_fail(&l->d, b.code, "write to", err);
    tacit_status status = lifetime_run(l, LIFETIME_SQL_ADD_EVENT, err);
    return status ? status : write_items(l, event, err);
}

tacit_status lifetime_write_head(tacit_lifetime *l, tacit_error *err)
{
    uint8_t seal[TACIT_MAC_BYTES], check[TACIT_MAC_BYTES];
    seal_head(l, l->chain.mac, seal);
    seal_check(l, check);
    tacit_binder b = {.s = l->statement[LIFETIME_SQL_SET_HEAD]};
    tacit_bind_count(&b, l->events);
    tacit_bind_count(&b, l->costs);
    tacit_bind_count(&b, l->records);
    tacit_bind_bytes(&b, l->chain.mac, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, l->records_sum, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, check, TACIT_MAC_BYTES);
    tacit_bind_bytes(&b, seal, TACIT_MAC_BYTES);
    return b.code ? tacit_db_fail(&l->d, b.code, "write to", err)
                  : lifetime_run(l, LIFETIME_SQL_SET_HEAD, err);
}

/* ---- from the database ---- */

static tacit_status wrong(const tacit_lifetime *l, const char *what, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "the lifetime ledger \"%.300s\": %s", l->path, what);
}

static tacit_status wrong_event(const tacit_lifetime *l, uint64_t id, const char *what,
                                tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY, "event %llu of the lifetime ledger \"%.300s\" %s",
                      (unsigned long long)id, l->path, what);
}

tacit_status lifetime_read_head(tacit_lifetime *l, uint8_t last[TACIT_MAC_BYTES], tacit_error *err)
{
    uint8_t check[TACIT_MAC_BYTES], seal[TACIT_MAC_BYTES], want[TACIT_MAC_BYTES];
    sqlite3_stmt *s = l->statement[LIFETIME_SQL_GET_HEAD];
    int code = sqlite3_step(s);
    tacit_columns c = {.s = s, .at = 1, .good = code == SQLITE_ROW};
    if (c.good) {
        l->events = tacit_take_count(&c);
        l->costs = tacit_take_count(&c);
        l->records = tacit_take_count(&c);
        tacit_take_bytes(&c, last, TACIT_MAC_BYTES);
        tacit_take_bytes(&c, l->records_sum, TACIT_MAC_BYTES);
        tacit_take_bytes(&c, check, TACIT_MAC_BYTES);
        tacit_take_bytes(&c, seal, TACIT_MAC_BYTES);
        code = sqlite3_step(s);
    }
    sqlite3_reset(s);
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        return tacit_db_fail(&l->d, code, "read", err);
    if (!c.good || code == SQLITE_ROW)
        return wrong(l, "its head is missing or was edited", err);
    seal_check(l, want);
    if (!tacit_mac_equal(check, want))
        return wrong(l, "its head was sealed with another key, or edited", err);
    seal_head(l, last, want);
    return tacit_mac_equal(seal, want) ? TACIT_OK : wrong(l, "its head was edited", err);
}

/* The text columns of costs stay in memory until the event was played. */
typedef struct items {
    tacit_ledger_entry *entry;
    struct held {
        tacit_cost cost;
        char text[TACIT_WHAT_MAX + 1];
    } * held;
    size_t entry_room, held_room;
    uint64_t seen; /* costs so far, of all events */
} items;

static bool take_event(lifetime_event *event, uint8_t mac[TACIT_MAC_BYTES], sqlite3_stmt *s)
{
    tacit_columns c = {.s = s, .good = true};
    tacit_lifetime_terms *t = &event->terms;
    *event = (lifetime_event){0};
    event->id = tacit_take_count(&c);
    event->at = tacit_take_real(&c);
    event->kind = (lifetime_kind)tacit_take_name(&c, name_of_kind, LIFETIME_KINDS);
    event->dataset = tacit_take_count(&c);
    event->other = tacit_take_count(&c);
    event->reservation = tacit_take_count(&c);
    tacit_take_text(&c, event->name, sizeof event->name);
    tacit_take_text(&c, event->run, sizeof event->run);
    event->agent = tacit_take_count(&c);
    tacit_take_text(&c, event->agent_name, sizeof event->agent_name);
    tacit_take_text(&c, event->protocol, sizeof event->protocol);
    event->trust = (tacit_trust)tacit_take_name(&c, tacit_name_of_trust, TACIT_TRUST_SILENT + 1);
    tacit_take_bytes(&c, event->nonce, sizeof event->nonce);
    t->epsilon = tacit_take_real(&c);
    t->delta = tacit_take_real(&c);
    t->aside = tacit_take_real(&c);
    t->unit = (tacit_unit)tacit_take_name(&c, tacit_name_of_unit, TACIT_UNIT_USER + 1);
    t->adjacency =
        (tacit_adjacency)tacit_take_name(&c, tacit_name_of_adjacency, TACIT_ADD_REMOVE + 1);
    t->filter = (tacit_filter)tacit_take_name(&c, name_of_filter, TACIT_FILTERS);
    const uint64_t block = tacit_take_count(&c);
    event->block = block != 0;
    event->risk = tacit_take_real(&c);
    event->count = (size_t)tacit_take_count(&c);
    tacit_take_bytes(&c, mac, TACIT_MAC_BYTES);
    return c.good && block <= 1;
}

/* The costs that follow, as many as the event says; false if one is not as it must be. */
static tacit_status take_items(tacit_lifetime *l, items *all, lifetime_event *event,
                               tacit_error *err)
{
    sqlite3_stmt *s = l->statement[LIFETIME_SQL_COSTS];
    if (event->count > l->costs - all->seen)
        return wrong_event(l, event->id, "was edited, or its costs are missing", err);
    void *entry =
        tacit_array_grow(all->entry, &all->entry_room, event->count + 1, sizeof *all->entry);
    all->entry = entry ? entry : all->entry;
    void *held = tacit_array_grow(all->held, &all->held_room, event->count + 1, sizeof *all->held);
    all->held = held ? held : all->held;
    if (!entry || !held)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < event->count; k++) {
        const int code = sqlite3_step(s);
        if (code != SQLITE_ROW)
            return code == SQLITE_DONE ? wrong_event(l, event->id, "lacks costs", err)
                                       : tacit_db_fail(&l->d, code, "read", err);
        tacit_columns c = {.s = s, .good = true};
        const uint64_t id = tacit_take_count(&c), of = tacit_take_count(&c);
        all->held[k].cost = (tacit_cost){0};
        all->entry[k] =
            (tacit_ledger_entry){.cost = &all->held[k].cost, .releases = tacit_take_count(&c)};
        tacit_take_cost(&c, &all->held[k].cost, all->held[k].text);
        tacit_take_amount(&c, &all->held[k].cost);
        if (!c.good || id != ++all->seen || of != event->id)
            return wrong_event(l, event->id, "has costs that were edited", err);
    }
    event->items = all->entry;
    return TACIT_OK;
}

static tacit_status take_one(tacit_lifetime *l, items *all, uint64_t expected, tacit_error *err)
{
    lifetime_event event;
    uint8_t mac[TACIT_MAC_BYTES] = {0};
    const bool good = take_event(&event, mac, l->statement[LIFETIME_SQL_EVENTS]);
    if (event.id != expected)
        return wrong_event(l, expected, "is missing", err);
    if (!good)
        return wrong_event(l, expected, "was edited", err);
    tacit_status status = take_items(l, all, &event, err);
    if (status)
        return status;
    lifetime_seal_event(&l->chain, &event);
    if (!tacit_mac_equal(mac, l->chain.mac))
        return wrong_event(l, expected, "was edited or moved", err);
    return lifetime_book_play(&l->book, &event, err);
}

static tacit_status check_ends(tacit_lifetime *l, uint64_t found, const uint8_t *last,
                               tacit_error *err)
{
    if (found != l->events)
        return wrong_event(l, (found < l->events ? found : l->events) + 1,
                           found < l->events ? "is missing: the ledger was cut"
                                             : "is not counted in the head",
                           err);
    if (!tacit_mac_equal(last, l->chain.mac))
        return wrong(l, "its last event is not the one its head was sealed with", err);
    const int code = sqlite3_step(l->statement[LIFETIME_SQL_COSTS]);
    if (code == SQLITE_ROW)
        return wrong(l, "it has costs that belong to no event", err);
    return code == SQLITE_DONE ? TACIT_OK : tacit_db_fail(&l->d, code, "read", err);
}

tacit_status lifetime_read_events(tacit_lifetime *l, const uint8_t last[TACIT_MAC_BYTES],
                                  tacit_error *err)
{
    sqlite3_stmt *s = l->statement[LIFETIME_SQL_EVENTS];
    items all = {0};
    uint64_t found = 0;
    int code = SQLITE_DONE;
    tacit_status status = lifetime_book_begin(&l->book, err);
    l->chain = l->start;
    while (!status && (code = sqlite3_step(s)) == SQLITE_ROW)
        status = take_one(l, &all, ++found, err);
    if (!status && code != SQLITE_DONE)
        status = tacit_db_fail(&l->d, code, "read", err);
    if (!status)
        status = check_ends(l, found, last, err);
    sqlite3_reset(s);
    sqlite3_reset(l->statement[LIFETIME_SQL_COSTS]);
    free(all.entry);
    free(all.held);
    return status;
}
