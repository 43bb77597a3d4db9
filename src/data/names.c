/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing over one pool of text: a million names cost little more than their letters. */
#include "data/names.h"

#include "tacit/data.h"
#include <stdlib.h>
#include <string.h>

void tacit_names_clear(tacit_names *names)
{
    free(names->text);
    free(names->start);
    free(names->slots);
    *names = (tacit_names){0};
}

const char *tacit_names_get(const tacit_names *names, uint32_t number)
{
    return names->text + names->start[number];
}

static uint64_t hash(const char *text, size_t len)
{
    uint64_t h = UINT64_C(0x9e3779b97f4a7c15) ^ len;
    while (len > 0) {
        uint64_t word = 0;
        size_t take = len < 8 ? len : 8;
        memcpy(&word, text, take);
        h = (h ^ word) * UINT64_C(0xd6e8feb86659fd93);
        h ^= h >> 32;
        text += take;
        len -= take;
    }
    return h;
}

static size_t length_of(const tacit_names *names, uint32_t number)
{
    uint64_t end = number + 1 < names->count ? names->start[number + 1] : names->text_used;
    return (size_t)(end - names->start[number]) - 1;
}

/* The slot of `text`, or the free one where it belongs. */
static size_t find_slot(const tacit_names *names, const char *text, size_t len)
{
    size_t mask = names->slot_count - 1, at = (size_t)hash(text, len) & mask;
    while (names->slots[at]) {
        uint32_t number = names->slots[at] - 1;
        if (length_of(names, number) == len &&
            memcmp(tacit_names_get(names, number), text, len) == 0)
            break;
        at = (at + 1) & mask;
    }
    return at;
}

uint32_t tacit_names_find(const tacit_names *names, const char *text, size_t len)
{
    if (names->slot_count == 0)
        return UINT32_MAX;
    uint32_t number = names->slots[find_slot(names, text, len)];
    return number ? number - 1 : UINT32_MAX;
}

/* Grow `*array` to hold at least `need` items; false if there is no memory. */
static bool reserve(void **array, size_t *capacity, size_t need, size_t item)
{
    size_t bytes, wanted = *capacity ? *capacity : 64;
    if (need <= *capacity)
        return true;
    while (wanted < need) {
        if (!tacit_mul_size(wanted, 2, &wanted))
            return false;
    }
    if (!tacit_mul_size(wanted, item, &bytes))
        return false;
    void *grown = realloc(*array, bytes);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Keep the table at most half full. */
static bool grow_slots(tacit_names *names)
{
    if (names->slot_count / 2 > names->count)
        return true;
    tacit_names grown = *names;
    grown.slot_count = names->slot_count ? 2 * names->slot_count : 64;
    if (!(grown.slots = calloc(grown.slot_count, sizeof *grown.slots)))
        return false;
    for (uint32_t k = 0; k < names->count; k++) {
        const char *text = tacit_names_get(names, k);
        grown.slots[find_slot(&grown, text, strlen(text))] = k + 1;
    }
    free(names->slots);
    *names = grown;
    return true;
}

tacit_status tacit_names_intern(tacit_names *names, const char *text, size_t len, uint32_t *number,
                                bool *added, tacit_error *err)
{
    if (names->count >= UINT32_MAX - 1)
        return tacit_fail(err, TACIT_EINPUT, "more than %u different names", UINT32_MAX - 1);
    if (!grow_slots(names))
        return tacit_out_of_memory(err);
    size_t slot = find_slot(names, text, len);
    *added = names->slots[slot] == 0;
    if (*added) {
        size_t need;
        void *pool = names->text, *start = names->start;
        bool enough = tacit_add_size(names->text_used, len, &need) &&
                      tacit_add_size(need, 1, &need) &&
                      reserve(&pool, &names->text_capacity, need, 1);
        names->text = pool;
        enough = enough && reserve(&start, &names->start_capacity, (size_t)names->count + 1,
                                   sizeof *names->start);
        names->start = start;
        if (!enough)
            return tacit_out_of_memory(err);
        memcpy(names->text + names->text_used, text, len);
        names->text[names->text_used + len] = '\0';
        names->start[names->count] = names->text_used;
        names->text_used = need;
        names->slots[slot] = ++names->count;
    }
    *number = names->slots[slot] - 1;
    return TACIT_OK;
}

/* ---- names of agents ---- */

/* Bytes of the UTF-8 character at `s`, 0 if it is malformed or a control character. */
static size_t character_bytes(const unsigned char *s)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (s[0] < 0x80)
        return s[0] >= 0x20 && s[0] != 0x7f;
    size_t n = s[0] >= 0xf0 && s[0] < 0xf8 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc0 || s[0] >= 0xf8)
        return 0;
    uint32_t code = s[0] & (0x7fU >> n);
    for (size_t k = 1; k < n; k++) {
        if ((s[k] & 0xc0) != 0x80) /* also catches the final NUL */
            return 0;
        code = code << 6 | (s[k] & 0x3f);
    }
    bool bad = code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
               (code >= 0x80 && code < 0xa0);
    return bad ? 0 : n;
}

bool tacit_name_is_good(const char *name)
{
    size_t len = strlen(name);
    if (len == 0 || len >= TACIT_NAME_MAX)
        return false;
    for (const unsigned char *s = (const unsigned char *)name; *s;) {
        size_t n = character_bytes(s);
        if (n == 0)
            return false;
        s += n;
    }
    return true;
}
