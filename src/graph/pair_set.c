/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; a removal closes its gap, so nothing is marked dead. */
#include "graph/pair_set.h"

#include "base/pages.h"

static uint64_t key_of(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

/* The slot a key would like to have: its mixed bits, scaled down to the number of slots. */
static size_t home_of(const tacit_pair_set *set, uint64_t key)
{
    key ^= key >> 31;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    key ^= key >> 29;
    key *= UINT64_C(0xbf58476d1ce4e5b9);
    return (size_t)((key >> 32) * (uint64_t)set->slots >> 32);
}

static size_t next(const tacit_pair_set *set, size_t at)
{
    return at + 1 < set->slots ? at + 1 : 0;
}

/* Where the key is, or the free slot where it belongs. */
static size_t find(const tacit_pair_set *set, uint64_t key)
{
    size_t at = home_of(set, key);
    while (set->slot[at] != 0 && set->slot[at] != key)
        at = next(set, at);
    return at;
}

tacit_status tacit_pair_set_init(tacit_pair_set *set, size_t room, tacit_error *err)
{
    size_t slots;
    *set = (tacit_pair_set){0};
    if (!tacit_add_size(room, room / 2 + 8, &slots) || slots > UINT32_MAX)
        return tacit_out_of_memory(err);
    set->slot = tacit_pages_alloc(slots, sizeof *set->slot);
    if (!set->slot)
        return tacit_out_of_memory(err);
    set->slots = slots;
    return TACIT_OK;
}

void tacit_pair_set_clear(tacit_pair_set *set)
{
    tacit_pages_free(set->slot, set->slots, sizeof *set->slot);
    *set = (tacit_pair_set){0};
}

bool tacit_pair_set_has(const tacit_pair_set *set, uint32_t a, uint32_t b)
{
    return a != b && set->slot[find(set, key_of(a, b))] != 0;
}

bool tacit_pair_set_add(tacit_pair_set *set, uint32_t a, uint32_t b)
{
    if (a == b)
        return false;
    uint64_t key = key_of(a, b);
    size_t at = find(set, key);
    bool is_new = set->slot[at] == 0;
    set->slot[at] = key;
    return is_new;
}

void tacit_pair_set_remove(tacit_pair_set *set, uint32_t a, uint32_t b)
{
    size_t gap = find(set, key_of(a, b));
    for (size_t at = next(set, gap); set->slot[at] != 0; at = next(set, at)) {
        /* May the key at `at` move back to the gap? Only if its home is not behind the gap. */
        size_t home = home_of(set, set->slot[at]);
        size_t from_home = at >= home ? at - home : at + set->slots - home;
        size_t from_gap = at >= gap ? at - gap : at + set->slots - gap;
        if (from_home >= from_gap) {
            set->slot[gap] = set->slot[at];
            gap = at;
        }
    }
    set->slot[gap] = 0;
}
