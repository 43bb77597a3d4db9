/* SPDX-License-Identifier: Apache-2.0 */
/* What a list of events comes to. Events were verified before; one that makes no sense is an edit
 * by somebody with the key, or a fault of ours: refused all the same. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/lifetime_inside.h"

tacit_status lifetime_book_begin(lifetime_book *book, tacit_error *err)
{
    *book = (lifetime_book){.costs = tacit_costs_create()};
    return book->costs ? TACIT_OK : tacit_out_of_memory(err);
}

void lifetime_book_clear(lifetime_book *book)
{
    for (size_t k = 0; k < book->entry_count; k++) {
        free(book->entries[k].plan.items);
        free(book->entries[k].actual.items);
    }
    free(book->entries);
    free(book->sets);
    tacit_costs_free(book->costs);
    *book = (lifetime_book){0};
}

/* ---- questions ---- */

size_t lifetime_resolve(const lifetime_book *book, size_t set)
{
    while (book->sets[set].is_joined)
        set = book->sets[set].into;
    return set;
}

size_t lifetime_by_name(const lifetime_book *book, const char *name)
{
    for (size_t k = 0; k < book->set_count; k++)
        if (strcmp(book->sets[k].name, name) == 0)
            return lifetime_resolve(book, k);
    return SIZE_MAX;
}

tacit_lifetime_plan lifetime_plan_of(const lifetime_charge *charge)
{
    return (tacit_lifetime_plan){.items = charge->items,
                                 .count = charge->count,
                                 .block = charge->block,
                                 .risk = charge->risk,
                                 .epsilon = charge->epsilon,
                                 .delta = charge->delta,
                                 .unit = charge->unit,
                                 .adjacency = charge->adjacency};
}

size_t lifetime_counted(const lifetime_entry *entry, tacit_lifetime_plan plan[2])
{
    size_t count = 0;
    if (entry->state != TACIT_LIFETIME_SETTLED)
        plan[count++] = lifetime_plan_of(&entry->plan);
    if (entry->state != TACIT_LIFETIME_RESERVED)
        plan[count++] = lifetime_plan_of(&entry->actual);
    return count;
}

/* ---- playing events ---- */

static tacit_status senseless(const lifetime_event *event, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY,
                      "event %llu of the lifetime ledger makes no sense after those before",
                      (unsigned long long)event->id);
}

static tacit_status copy_charge(lifetime_book *book, lifetime_charge *to,
                                const lifetime_event *event, tacit_error *err)
{
    const lifetime_charge made = {.items = calloc(event->count + 1, sizeof *made.items),
                                  .count = event->count,
                                  .block = event->block,
                                  .risk = event->risk,
                                  .epsilon = event->terms.epsilon,
                                  .delta = event->terms.delta,
                                  .unit = event->terms.unit,
                                  .adjacency = event->terms.adjacency};
    if (!made.items)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < event->count; k++) {
        made.items[k] = event->items[k];
        made.items[k].cost = tacit_costs_keep(book->costs, event->items[k].cost);
        if (!made.items[k].cost) {
            free(made.items);
            return tacit_out_of_memory(err);
        }
    }
    free(to->items);
    *to = made;
    return TACIT_OK;
}

static tacit_status make_set(lifetime_book *book, const lifetime_event *event, tacit_error *err)
{
    if (event->dataset != book->set_count + 1)
        return senseless(event, err);
    lifetime_set *sets =
        tacit_array_grow(book->sets, &book->set_room, book->set_count + 1, sizeof *sets);
    if (!sets)
        return tacit_out_of_memory(err);
    book->sets = sets;
    sets[book->set_count] = (lifetime_set){.created = event->at};
    memcpy(sets[book->set_count++].name, event->name, sizeof event->name);
    return TACIT_OK;
}

static tacit_status reserve(lifetime_book *book, const lifetime_event *event, tacit_error *err)
{
    lifetime_entry *entries =
        tacit_array_grow(book->entries, &book->entry_room, book->entry_count + 1, sizeof *entries);
    if (!entries)
        return tacit_out_of_memory(err);
    book->entries = entries;
    lifetime_entry *entry = &entries[book->entry_count];
    *entry = (lifetime_entry){.id = event->id,
                              .set = (size_t)event->dataset - 1,
                              .agent = event->agent,
                              .trust = event->trust,
                              .reserved = event->at,
                              .settled = NAN};
    memcpy(entry->run, event->run, sizeof entry->run);
    memcpy(entry->agent_name, event->agent_name, sizeof entry->agent_name);
    memcpy(entry->protocol, event->protocol, sizeof entry->protocol);
    memcpy(entry->nonce, event->nonce, sizeof entry->nonce);
    tacit_status status = copy_charge(book, &entry->plan, event, err);
    if (!status)
        book->entry_count++;
    return status;
}

static tacit_status change(lifetime_book *book, const lifetime_event *event, tacit_error *err)
{
    for (size_t k = 0; k < book->entry_count; k++) {
        lifetime_entry *entry = &book->entries[k];
        if (entry->id != event->reservation)
            continue;
        if (event->kind == LIFETIME_AGAIN) {
            entry->state = TACIT_LIFETIME_RESERVED;
            entry->settled = NAN;
            return TACIT_OK;
        }
        entry->state =
            event->kind == LIFETIME_SETTLE ? TACIT_LIFETIME_SETTLED : TACIT_LIFETIME_OVERRUN;
        entry->settled = event->at;
        return copy_charge(book, &entry->actual, event, err);
    }
    return senseless(event, err);
}

static tacit_status join(lifetime_book *book, const lifetime_event *event, tacit_error *err)
{
    if (event->other == 0 || event->other > book->set_count || event->other == event->dataset)
        return senseless(event, err);
    lifetime_set *into = &book->sets[event->dataset - 1], *from = &book->sets[event->other - 1];
    if (into->is_joined || from->is_joined)
        return senseless(event, err);
    from->is_joined = true;
    from->into = (size_t)event->dataset - 1;
    into->by_owner = into->by_owner || from->by_owner;
    into->has_terms = into->has_terms || from->has_terms;
    into->terms = event->terms;
    return TACIT_OK;
}

tacit_status lifetime_book_play(lifetime_book *book, const lifetime_event *event, tacit_error *err)
{
    if (event->kind == LIFETIME_MAKE)
        return make_set(book, event, err);
    if (event->dataset == 0 || event->dataset > book->set_count)
        return senseless(event, err);
    lifetime_set *set = &book->sets[event->dataset - 1];
    switch (event->kind) {
    case LIFETIME_BUDGET:
    case LIFETIME_FIRST:
        set->terms = event->terms;
        set->has_terms = true;
        set->by_owner = event->kind == LIFETIME_BUDGET;
        return TACIT_OK;
    case LIFETIME_RESERVE:
        return reserve(book, event, err);
    case LIFETIME_JOIN:
        return join(book, event, err);
    default:
        return change(book, event, err);
    }
}
