/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of words, declared as in "colour=red|green|blue; front,back=flat|round": one feature a
 * word, which is 1 where the column has it (data.categories), or one feature, the place of its word
 * in the list (data.ordinal). Words must be declared: what a column may hold is then public, and
 * not learned from records. So is the number of features. Where there are too many words to declare
 * (data.hashed) they fall into buckets by a fixed function of column and word, which is as public.
 */
#include "data/csv_plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct piece {
    const char *text;
    size_t len;
} piece;

/* The text up to one of `stops` (or the end), without blanks around it; *at moves past. */
static piece next_piece(const char **at, const char *end, char stop)
{
    const char *from = *at, *to = memchr(from, stop, (size_t)(end - from));
    to = to ? to : end;
    *at = to < end ? to + 1 : end;
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return (piece){from, (size_t)(to - from)};
}

static tacit_status bad_declaration(const char *key, piece part, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    return tacit_fail(err, TACIT_EINPUT,
                      "data.%s has \"%s\"; expected columns and their words, as in "
                      "\"colour=red|green; size=s|m|l\"",
                      key, tacit_csv_shown(part.text, part.len, shown));
}

static tacit_status declare_words(tacit_names *words, const char *key, piece list, tacit_error *err)
{
    char shown[TACIT_CSV_SHOWN_MAX + 4];
    const char *at = list.text, *end = list.text + list.len;
    bool more = true;
    while (more) {
        more = memchr(at, '|', (size_t)(end - at)) != NULL;
        piece word = next_piece(&at, end, '|');
        uint32_t number;
        bool added;
        if (word.len == 0)
            return bad_declaration(key, list, err);
        tacit_status status = tacit_names_intern(words, word.text, word.len, &number, &added, err);
        if (status)
            return status;
        if (!added)
            return tacit_fail(err, TACIT_EINPUT, "data.%s has \"%s\" twice in one list", key,
                              tacit_csv_shown(word.text, word.len, shown));
    }
    return TACIT_OK;
}

static tacit_status declare_column(tacit_csv_plan *plan, const char *name, const char *key,
                                   tacit_csv_role role, piece column, piece words, tacit_error *err)
{
    uint32_t at;
    tacit_status status = tacit_csv_find(plan, name, key, column.text, column.len, &at, err);
    if (status)
        return status;
    tacit_csv_role now = plan->column[at].role;
    if (now != TACIT_CSV_NUMBER)
        return tacit_fail(err, TACIT_EINPUT, "data.%s has column \"%.200s\", which is %s", key,
                          tacit_names_get(&plan->names, at),
                          now == role                                       ? "there twice"
                          : now == TACIT_CSV_WORD || now == TACIT_CSV_PLACE ? "in data.categories"
                          : now == TACIT_CSV_IGNORED                        ? "left out"
                                                     : "the label or the agent");
    plan->column[at].role = role;
    return declare_words(&plan->column[at].words, key, words, err);
}

tacit_status tacit_csv_declare(tacit_csv_plan *plan, const char *name, const char *key,
                               const char *list, tacit_csv_role role, tacit_error *err)
{
    const char *at = list, *end = list + strlen(list);
    while (at < end) {
        piece part = next_piece(&at, end, ';');
        if (part.len == 0)
            continue; /* a final semicolon */
        const char *inside = part.text, *stop = part.text + part.len;
        if (!memchr(inside, '=', part.len))
            return bad_declaration(key, part, err);
        piece columns = next_piece(&inside, stop, '=');
        piece words = {inside, (size_t)(stop - inside)};
        inside = columns.text;
        stop = columns.text + columns.len;
        bool more;
        do {
            more = memchr(inside, ',', (size_t)(stop - inside)) != NULL;
            piece column = next_piece(&inside, stop, ',');
            if (column.len == 0)
                return bad_declaration(key, part, err);
            tacit_status status = declare_column(plan, name, key, role, column, words, err);
            if (status)
                return status;
        } while (more);
    }
    return TACIT_OK;
}

/* FNV-1a over "column", 0, "word", its bits mixed once more so that any number of buckets will do.
 */
uint32_t tacit_csv_bucket(const char *column, const char *word, size_t len, uint32_t buckets)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const char *at = column; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
    hash *= UINT64_C(1099511628211);
    for (size_t k = 0; k < len; k++)
        hash = (hash ^ (unsigned char)word[k]) * UINT64_C(1099511628211);
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)((hash >> 32) % buckets);
}

tacit_status tacit_csv_declare_hashed(tacit_csv_plan *plan, const char *name, const char *list,
                                      uint32_t buckets, tacit_error *err)
{
    const char *at = list, *end = list + strlen(list);
    tacit_status status = TACIT_OK;
    if (at < end && (buckets < 2 || buckets > TACIT_BUCKETS_MOST))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.buckets is \"%" PRIu32 "\"; expected 2 to %d for data.hashed",
                          buckets, TACIT_BUCKETS_MOST);
    while (at < end && !status) {
        piece column = next_piece(&at, end, ',');
        char words[20] = "#0";
        if (column.len == 0)
            continue;
        status = declare_column(plan, name, "hashed", TACIT_CSV_HASHED, column,
                                (piece){words, strlen(words)}, err);
        uint32_t found = tacit_names_find(&plan->names, column.text, column.len), number;
        for (uint32_t k = 1; k < buckets && !status; k++) {
            bool added;
            int n = snprintf(words, sizeof words, "#%" PRIu32, k);
            status = tacit_names_intern(&plan->column[found].words, words, (size_t)n, &number,
                                        &added, err);
        }
    }
    return status;
}

void tacit_csv_words(const tacit_names *words, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t k = 0; k < words->count; k++) {
        char shown[TACIT_CSV_SHOWN_MAX + 4];
        const char *word = tacit_names_get(words, k);
        tacit_csv_shown(word, strlen(word), shown);
        bool fits = used + strlen(shown) + 8 < size;
        int n = snprintf(out + used, size - used, "%s%s", k ? ", " : "", fits ? shown : "...");
        used += n > 0 ? (size_t)n : 0;
        if (!fits)
            return;
    }
}
