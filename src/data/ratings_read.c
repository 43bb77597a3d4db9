/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From bytes to ratings. One pass over the lines, then a sort that brings equal pairs together.
 *
 * What tells a cut or garbled file from a good one: every line has as many fields as the first
 * (so a file with times that ends inside a line is noticed), a rating is a finite number, and a
 * header is taken for one only if it holds no number at all.
 */
#include "data/ratings.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/bytes.h"
#include "data/csv_scan.h"
#include "data/dataset.h"

#define FIELDS_MIN 3
#define FIELDS_MAX 4

typedef struct word {
    const char *text;
    size_t len;
} word;

typedef struct lines {
    const char *name, *at, *end;
    uint64_t number; /* of the line handed out last */
    const char *separator;
    size_t fields; /* of the first line; 0: not met yet */
} lines;

typedef char shown[TACIT_CSV_SHOWN_MAX + 4];
#define SHOWN(w, room) tacit_csv_shown((w).text, (w).len, room)

/* ---- lines and words ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static word trimmed(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    return (word){begin, (size_t)(end - begin)};
}

static lines lines_of(const char *name, const char *bytes, size_t len)
{
    static const char mark[] = "\xef\xbb\xbf"; /* UTF-8 byte order mark */
    size_t skip = len >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
    return (lines){.name = name, .at = bytes + skip, .end = bytes + len};
}

/* The next line that is not empty, without blanks around it. */
static bool next_line(lines *l, word *line)
{
    while (l->at < l->end) {
        const char *stop = memchr(l->at, '\n', (size_t)(l->end - l->at));
        const char *begin = l->at, *end = stop ? stop : l->end;
        l->at = stop ? stop + 1 : l->end;
        l->number++;
        *line = trimmed(begin, end);
        if (line->len > 0)
            return true;
    }
    return false;
}

static const char *find(const char *at, const char *end, const char *what)
{
    size_t n = strlen(what);
    for (; (size_t)(end - at) >= n; at++)
        if (memcmp(at, what, n) == 0)
            return at;
    return NULL;
}

/* "" stands for blanks. */
static const char *guess_separator(word line)
{
    static const char *const choices[] = {"\t", "::", ","};
    for (size_t k = 0; k < sizeof choices / sizeof *choices; k++)
        if (find(line.text, line.text + line.len, choices[k]))
            return choices[k];
    return "";
}

static const char *find_blank(const char *at, const char *end)
{
    while (at < end && !is_blank(*at))
        at++;
    return at < end ? at : NULL;
}

/* Cut a line into fields; returns how many, FIELDS_MAX + 1 for any number above the most. */
static size_t cut(word line, const char *separator, word field[FIELDS_MAX + 1])
{
    const char *at = line.text, *end = line.text + line.len;
    bool blanks = separator[0] == '\0';
    size_t n = 0;
    while (n <= FIELDS_MAX) {
        const char *stop = blanks ? find_blank(at, end) : find(at, end, separator);
        field[n++] = trimmed(at, stop ? stop : end);
        if (!stop)
            break;
        at = stop + (blanks ? 1 : strlen(separator));
        while (blanks && at < end && is_blank(*at))
            at++;
    }
    return n;
}

static tacit_status wrong_count(const lines *l, size_t n, tacit_error *err)
{
    if (l->fields)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64 ": %zu field%s, but %zu in the lines before; is the "
                          "file cut?",
                          l->name, l->number, n > FIELDS_MAX ? (size_t)FIELDS_MAX : n,
                          n == 1           ? ""
                          : n > FIELDS_MAX ? "s or more"
                                           : "s",
                          l->fields);
    return tacit_fail(err, TACIT_EINPUT,
                      "%.200s:%" PRIu64 ": expected \"user item rating\" or \"user item rating "
                      "time\", with tabs, \"::\", commas or blanks between",
                      l->name, l->number);
}

/* The next line in fields; *more is false at the end. */
static tacit_status next_fields(lines *l, word field[FIELDS_MAX + 1], bool *more, tacit_error *err)
{
    word line;
    if (!(*more = next_line(l, &line)))
        return TACIT_OK;
    if (!l->separator)
        l->separator = guess_separator(line);
    size_t n = cut(line, l->separator, field);
    if (l->fields ? n != l->fields : n < FIELDS_MIN || n > FIELDS_MAX)
        return wrong_count(l, n, err);
    l->fields = n;
    return TACIT_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_header(const word *field, size_t n)
{
    double number;
    for (size_t k = 0; k < n; k++)
        if (tacit_csv_number(field[k].text, field[k].len, &number))
            return false;
    return field[2].len > 3 && is_letter(field[2].text[0]); /* "nan" and "inf" are too short */
}

/* ---- names ---- */

static tacit_status intern(tacit_names *names, const lines *l, const char *what, word w,
                           uint32_t *number, tacit_error *err)
{
    shown room;
    bool added = false;
    if (w.len == 0 || w.len >= TACIT_NAME_MAX || memchr(w.text, '\0', w.len))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64 ": %s \"%s\" is no name: 1 to %d bytes of UTF-8 "
                          "without control characters",
                          l->name, l->number, what, SHOWN(w, room), TACIT_NAME_MAX - 1);
    tacit_status status = tacit_names_intern(names, w.text, w.len, number, &added, err);
    if (status == TACIT_OK && added && !tacit_name_is_good(tacit_names_get(names, *number)))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64 ": %s \"%s\" is no name: it has control characters or "
                          "is not UTF-8",
                          l->name, l->number, what, SHOWN(w, room));
    return status;
}

tacit_status tacit_ratings_known(tacit_names *out, const char *name, const char *bytes, size_t len,
                                 tacit_error *err)
{
    lines l = lines_of(name, bytes, len);
    word line;
    tacit_status status = TACIT_OK;
    *out = (tacit_names){0};
    while (!status && next_line(&l, &line)) {
        const char *end = line.text, *stop = line.text + line.len;
        while (end < stop && !is_blank(*end) && *end != '|' && *end != ',' &&
               !(*end == ':' && end + 1 < stop && end[1] == ':'))
            end++;
        uint32_t number, before = out->count;
        word user = {line.text, (size_t)(end - line.text)};
        shown room;
        status = intern(out, &l, "user", user, &number, err);
        if (!status && out->count == before)
            status =
                tacit_fail(err, TACIT_EINPUT, "%.200s:%" PRIu64 ": user \"%s\" stands there twice",
                           name, l.number, SHOWN(user, room));
    }
    if (!status && out->count == 0)
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" names no user", name);
    if (status)
        tacit_names_clear(out);
    return status;
}

/* ---- ratings ---- */

static tacit_status find_user(tacit_ratings *r, bool closed, const lines *l, word w,
                              uint32_t *number, tacit_error *err)
{
    if (!closed)
        return intern(&r->users, l, "user", w, number, err);
    shown room;
    *number = tacit_names_find(&r->users, w.text, w.len);
    if (*number != UINT32_MAX && !memchr(w.text, '\0', w.len))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "%.200s:%" PRIu64 ": user \"%s\" is not in data.agents-path; add it there or "
                      "remove the rating",
                      l->name, l->number, SHOWN(w, room));
}

static tacit_status read_rating(tacit_ratings *r, bool closed, const lines *l, const word *field,
                                tacit_error *err)
{
    shown room;
    tacit_rating *rating = &r->rating[r->count];
    *rating = (tacit_rating){.line = l->number};
    tacit_status status = find_user(r, closed, l, field[0], &rating->user, err);
    if (!status)
        status = intern(&r->items, l, "item", field[1], &rating->item, err);
    if (status)
        return status;
    if (!tacit_csv_number(field[2].text, field[2].len, &rating->value) ||
        !(fabs(rating->value) <= TACIT_RATING_MAX))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.200s:%" PRIu64 ": rating \"%s\"; expected a number of at most %g",
                          l->name, l->number, SHOWN(field[2], room), TACIT_RATING_MAX);
    r->count++;
    return TACIT_OK;
}

/* No more ratings than lines. */
static tacit_status claim(tacit_ratings *r, const char *bytes, size_t len, tacit_error *err)
{
    size_t count = 1;
    for (const char *at = bytes, *end = bytes + len; at < end; count++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        at = stop ? stop + 1 : end;
    }
    r->rating = calloc(count, sizeof *r->rating);
    return r->rating ? TACIT_OK : tacit_out_of_memory(err);
}

static tacit_status read_all(tacit_ratings *r, bool closed, lines *l, tacit_error *err)
{
    word field[FIELDS_MAX + 1];
    bool more = true, first = true;
    tacit_status status = TACIT_OK;
    while (!status) {
        if ((status = next_fields(l, field, &more, err)) || !more)
            break;
        if (!first || !is_header(field, l->fields))
            status = read_rating(r, closed, l, field, err);
        first = false;
    }
    if (!status && r->count == 0)
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" holds no rating", l->name);
    return status;
}

/* ---- order ---- */

typedef struct ranked {
    uint64_t value;
    uint32_t number;
} ranked;

static int by_value(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A whole number that fits; "01" and "1" are equal, and ordered by first appearance. */
static bool whole_number(const char *text, uint64_t *out)
{
    size_t len = strlen(text);
    *out = 0;
    for (size_t k = 0; k < len; k++) {
        if (text[k] < '0' || text[k] > '9')
            return false;
        *out = 10 * *out + (uint64_t)(text[k] - '0');
    }
    return len >= 1 && len <= 18;
}

/* place[number] and its inverse: by value if all names are whole numbers and `sort`. */
static tacit_status order(const tacit_names *names, bool sort, uint32_t **name, uint32_t **place,
                          tacit_error *err)
{
    ranked *list = calloc((size_t)names->count + 1, sizeof *list);
    *name = calloc((size_t)names->count + 1, sizeof **name);
    *place = calloc((size_t)names->count + 1, sizeof **place);
    if (!list || !*name || !*place) {
        free(list);
        return tacit_out_of_memory(err);
    }
    for (uint32_t k = 0; k < names->count; k++) {
        list[k].number = k;
        sort = sort && whole_number(tacit_names_get(names, k), &list[k].value);
    }
    if (sort)
        qsort(list, names->count, sizeof *list, by_value);
    for (uint32_t k = 0; k < names->count; k++) {
        (*name)[k] = list[k].number;
        (*place)[list[k].number] = k;
    }
    free(list);
    return TACIT_OK;
}

static int by_pair(const void *a, const void *b)
{
    const tacit_rating *x = a, *y = b;
    if (x->user != y->user)
        return x->user < y->user ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static tacit_status sort_ratings(tacit_ratings *r, bool closed, const char *name, tacit_error *err)
{
    uint32_t *user = NULL, *item = NULL;
    tacit_status status = order(&r->users, !closed, &r->user_name, &user, err);
    if (!status)
        status = order(&r->items, true, &r->item_name, &item, err);
    for (size_t k = 0; k < r->count && !status; k++) {
        r->rating[k].user = user[r->rating[k].user];
        r->rating[k].item = item[r->rating[k].item];
    }
    free(user);
    free(item);
    if (status)
        return status;
    qsort(r->rating, r->count, sizeof *r->rating, by_pair);
    for (size_t k = 1; k < r->count; k++) {
        const tacit_rating *a = &r->rating[k - 1], *b = a + 1;
        if (a->user == b->user && a->item == b->item)
            return tacit_fail(err, TACIT_EINPUT,
                              "%.200s:%" PRIu64 ": user \"%.100s\" rated item \"%.100s\" already "
                              "in line %" PRIu64 "; keep one of the two",
                              name, b->line, tacit_names_get(&r->users, r->user_name[a->user]),
                              tacit_names_get(&r->items, r->item_name[a->item]), a->line);
    }
    return TACIT_OK;
}

static tacit_status copy_names(tacit_names *out, const tacit_names *from, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < from->count && !status; k++) {
        const char *text = tacit_names_get(from, k);
        uint32_t number;
        bool added;
        status = tacit_names_intern(out, text, strlen(text), &number, &added, err);
    }
    return status;
}

tacit_status tacit_ratings_read(tacit_ratings *out, const tacit_names *known, const char *name,
                                const char *bytes, size_t len, tacit_error *err)
{
    bool closed = known && known->count > 0;
    lines l = lines_of(name, bytes, len);
    tacit_status status;
    *out = (tacit_ratings){0};
    if ((status = tacit_refuse_binary(name, "a file of ratings", bytes, len, err)) ||
        (status = closed ? copy_names(&out->users, known, err) : TACIT_OK) ||
        (status = claim(out, bytes, len, err)) || (status = read_all(out, closed, &l, err)) ||
        (status = sort_ratings(out, closed, name, err)))
        tacit_ratings_clear(out);
    return status;
}

void tacit_ratings_clear(tacit_ratings *ratings)
{
    free(ratings->rating);
    tacit_names_clear(&ratings->users);
    tacit_names_clear(&ratings->items);
    free(ratings->user_name);
    free(ratings->item_name);
    *ratings = (tacit_ratings){0};
}
