/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.csv: who takes part, under which key, where, and for which agents. A slip in this file
 * lets a stranger in or lets two machines speak for one agent, so nothing is guessed: four fields
 * without quotes, every name, key, endpoint and agent once, and an error names the line.
 *
 * A range like 0-4000000000 is cheap to write: numbers are checked before memory is claimed, and
 * all sizes follow from what is already known to be valid.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/writer.h"
#include "config/text.h"
#include "data/names.h"
#include "net/keys.h"
#include "tacit/consortium.h"

#define MOST_BYTES ((size_t)64 << 20)
#define SHOWN 80
#define FIELDS 4
#define NOBODY TACIT_ROSTER_MEMBERS

enum { NAME, KEY, ENDPOINT, AGENTS };
static const char *const field_names[FIELDS] = {"name", "key", "endpoint", "agents"};

typedef struct piece {
    const char *text;
    size_t len;
} piece;

typedef struct reader {
    tacit_roster *roster;
    const char *path;
    uint64_t line;
    tacit_names seen[AGENTS]; /* names, keys, endpoints; numbers of the first follow members */
    uint32_t capacity;        /* of roster->members */
    size_t used, room;        /* of roster->numbers */
    uint32_t host_room;       /* of roster->host */
    uint64_t *met;            /* line of each member, for messages */
    tacit_error *err;
} reader;

static tacit_status refuse(const reader *r, const char *what, piece p, const char *expected)
{
    char shown[SHOWN];
    tacit_show(p.text, p.len, shown, sizeof shown);
    return tacit_fail(r->err, TACIT_EINPUT, "%.300s:%" PRIu64 ": %s \"%s\"; %s", r->path, r->line,
                      what, shown, expected);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static piece trimmed(const char *from, const char *end)
{
    while (from < end && is_blank(*from))
        from++;
    while (end > from && is_blank(end[-1]))
        end--;
    return (piece){from, (size_t)(end - from)};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A whole number of at most seven digits from `*at`; false if there is none, or a leading zero. */
static bool number(const char **at, const char *end, uint32_t *out)
{
    const char *from = *at;
    *out = 0;
    for (; *at < end && is_digit(**at) && *at - from < 8; ++*at)
        *out = *out * 10 + (uint32_t)(**at - '0');
    return *at > from && *at - from < 8 && (*at - from == 1 || *from != '0');
}

/* ---- name, key, endpoint ---- */

/* A member's name also names folders, log lines and series of metrics. */
static tacit_status check_name(const reader *r, piece p)
{
    bool good = p.len > 0 && p.len < sizeof((tacit_node_member *)NULL)->name;
    for (size_t k = 0; k < p.len && good; k++)
        good = is_letter(p.text[k]) || is_digit(p.text[k]) || p.text[k] == '_' ||
               (k > 0 && (p.text[k] == '-' || p.text[k] == '.'));
    return good ? TACIT_OK
                : refuse(r, "name", p,
                         "expected 1 to 63 letters, digits, \".\", \"_\" or \"-\", the first "
                         "no dot and no dash");
}

static bool good_host(piece p)
{
    const bool six = p.len > 2 && p.text[0] == '[' && p.text[p.len - 1] == ']';
    bool good = p.len > 0;
    for (size_t k = six ? 1 : 0; k < p.len - (six ? 1 : 0) && good; k++) {
        const char c = p.text[k];
        const bool hex = is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        good = six ? hex || c == ':' || c == '.'
                   : is_letter(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
    }
    return good;
}

static tacit_status check_endpoint(const reader *r, piece p)
{
    static const char scheme[] = "tcp://";
    const size_t head = sizeof scheme - 1;
    uint32_t port = 0;
    bool good = p.len > head && p.len < sizeof((tacit_node_member *)NULL)->endpoint &&
                memcmp(p.text, scheme, head) == 0;
    const char *end = p.text + p.len, *colon = NULL;
    for (const char *c = p.text + head; good && c < end; c++)
        colon = *c == ':' ? c : colon;
    good = good && colon && good_host((piece){p.text + head, (size_t)(colon - p.text) - head});
    if (good) {
        const char *at = colon + 1;
        good = number(&at, end, &port) && at == end && port > 0 && port < 65536;
    }
    return good || p.len == 0
               ? TACIT_OK
               : refuse(r, "endpoint", p,
                        "expected something like \"tcp://ward-b.example:7400\" of at most 63 "
                        "bytes, or nothing if it has no fixed address");
}

/* `link` is the key of its links, by which peers know each other on the wire. */
static tacit_status read_key(const reader *r, piece p, uint8_t key[TACIT_NODE_KEY],
                             uint8_t link[TACIT_CURVE_BYTES])
{
    char text[TACIT_IDENTITY_TEXT];
    tacit_error why = {0};
    tacit_status status = TACIT_EINPUT;
    if (p.len == sizeof text - 1 && !memchr(p.text, '\0', p.len)) {
        memcpy(text, p.text, p.len);
        text[p.len] = '\0';
        status = tacit_identity_parse(key, text, &why);
    }
    if (!status)
        status = tacit_identity_curve(link, key, &why);
    /* Not shown whole: people paste the wrong file, and that one is secret. */
    return status ? refuse(r, "key", (piece){p.text, p.len < 8 ? p.len : 8},
                           "expected the 64 hexadecimal digits that \"tacit keygen\" shows")
                  : TACIT_OK;
}

/* Everything but agents stands there once. */
static tacit_status remember(reader *r, int field, piece p, uint32_t *at)
{
    bool added = false;
    tacit_status status = tacit_names_intern(&r->seen[field], p.text, p.len, at, &added, r->err);
    if (status || added)
        return status;
    char words[80];
    snprintf(words, sizeof words, "another member has this %s already; remove one",
             field_names[field]);
    return refuse(r, field_names[field], p, words);
}

/* By the key of its links: digits may be written in two ways, and two keys may have one. */
static tacit_status remember_key(reader *r, const uint8_t link[TACIT_CURVE_BYTES])
{
    char text[TACIT_IDENTITY_TEXT];
    uint32_t at;
    tacit_identity_format(text, link);
    return remember(r, KEY, (piece){text, sizeof text - 1}, &at);
}

/* ---- agents ---- */

/* `array` with room for at least `wanted`; NULL when memory is out, and then it is as it was. */
static void *grown(void *array, size_t *room, size_t wanted, size_t each)
{
    size_t more = *room ? *room : 16, bytes;
    while (more < wanted)
        more *= 2; /* `wanted` is far below half of what a size holds */
    if (more == *room)
        return array;
    void *to = tacit_mul_size(more, each, &bytes) ? realloc(array, bytes) : NULL;
    if (to)
        *room = more;
    return to;
}

/* Agents first..last belong to member `who`. */
static tacit_status take_range(reader *r, uint32_t first, uint32_t last, uint32_t who, piece p)
{
    tacit_roster *roster = r->roster;
    const size_t count = (size_t)(last - first) + 1;
    size_t room = r->host_room;
    uint32_t *host = grown(roster->host, &room, (size_t)last + 1, sizeof *host);
    if (!host)
        return tacit_out_of_memory(r->err);
    roster->host = host;
    for (; r->host_room < room; r->host_room++)
        host[r->host_room] = NOBODY;
    uint32_t *numbers = grown(roster->numbers, &r->room, r->used + count, sizeof *numbers);
    if (!numbers)
        return tacit_out_of_memory(r->err);
    roster->numbers = numbers;
    for (uint32_t agent = first; agent <= last; agent++) {
        if (roster->host[agent] != NOBODY) {
            char words[160];
            snprintf(words, sizeof words,
                     "agent %" PRIu32 " is hosted on line %" PRIu64 " already; an agent has one "
                     "host",
                     agent, r->met[roster->host[agent]]);
            return refuse(r, "agents", p, words);
        }
        roster->host[agent] = who;
        roster->numbers[r->used++] = agent;
    }
    roster->agents = last + 1 > roster->agents ? last + 1 : roster->agents;
    return TACIT_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static tacit_status read_agents(reader *r, piece p, uint32_t who)
{
    const char *at = p.text, *end = p.text + p.len;
    const size_t before = r->used;
    tacit_status status = TACIT_OK;
    while (at < end && !status) {
        uint32_t first, last;
        bool good = number(&at, end, &first);
        last = first;
        if (good && at < end && *at == '-') {
            at++;
            good = number(&at, end, &last) && first <= last;
        }
        if (!good || (at < end && !is_blank(*at)) || last >= TACIT_ROSTER_AGENTS)
            return refuse(r, "agents", p,
                          "expected numbers and ranges below 1048576 with blanks between, as in "
                          "\"0-4 7\"");
        status = take_range(r, first, last, who, p);
        while (at < end && is_blank(*at))
            at++;
    }
    if (!status && r->used == before)
        status = refuse(r, "agents", p, "a member hosts at least one agent, as in \"0\"");
    if (!status)
        qsort(r->roster->numbers + before, r->used - before, sizeof *r->roster->numbers, by_number);
    return status;
}

/* ---- lines ---- */

/* Four pieces between commas; false if there are fewer or more. */
static bool split(const char *from, const char *end, piece field[FIELDS])
{
    for (int k = 0; k < FIELDS; k++) {
        const char *comma = memchr(from, ',', (size_t)(end - from));
        if ((comma == NULL) != (k == FIELDS - 1))
            return false;
        field[k] = trimmed(from, comma ? comma : end);
        from = comma ? comma + 1 : end;
    }
    return true;
}

static tacit_status room_for_member(reader *r)
{
    tacit_roster *roster = r->roster;
    size_t room = r->capacity, lines = room;
    if (roster->count == TACIT_ROSTER_MEMBERS)
        return tacit_fail(r->err, TACIT_EINPUT, "%.300s:%" PRIu64 ": more than %u members", r->path,
                          r->line, TACIT_ROSTER_MEMBERS);
    tacit_node_member *members =
        grown(roster->members, &room, (size_t)roster->count + 1, sizeof *members);
    if (members)
        roster->members = members;
    uint64_t *met = grown(r->met, &lines, (size_t)roster->count + 1, sizeof *met);
    if (met)
        r->met = met;
    if (!members || !met)
        return tacit_out_of_memory(r->err);
    r->capacity = (uint32_t)room;
    return TACIT_OK;
}

static tacit_status read_member(reader *r, const piece field[FIELDS])
{
    tacit_roster *roster = r->roster;
    uint32_t who = roster->count, at;
    uint8_t link[TACIT_CURVE_BYTES];
    tacit_status status = room_for_member(r);
    if (status)
        return status;
    tacit_node_member *m = &roster->members[who];
    *m = (tacit_node_member){0};
    r->met[who] = r->line;
    if ((status = check_name(r, field[NAME])) || (status = remember(r, NAME, field[NAME], &at)) ||
        (status = read_key(r, field[KEY], m->key, link)) || (status = remember_key(r, link)) ||
        (status = check_endpoint(r, field[ENDPOINT])))
        return status;
    if (field[ENDPOINT].len > 0 && (status = remember(r, ENDPOINT, field[ENDPOINT], &at)))
        return status;
    memcpy(m->name, field[NAME].text, field[NAME].len);
    memcpy(m->endpoint, field[ENDPOINT].text, field[ENDPOINT].len);
    const size_t before = r->used;
    status = read_agents(r, field[AGENTS], who);
    m->count = (uint32_t)(r->used - before);
    roster->count += status == TACIT_OK;
    return status;
}

static tacit_status read_line(reader *r, const char *from, const char *end, bool *header)
{
    if (end > from && end[-1] == '\r')
        end--;
    const piece all = trimmed(from, end);
    piece field[FIELDS];
    if (all.len == 0 || all.text[0] == '#')
        return TACIT_OK;
    if (!split(from, end, field))
        return refuse(r, "line", all, "expected \"name,key,endpoint,agents\"");
    if (*header)
        return read_member(r, field);
    for (int k = 0; k < FIELDS; k++)
        if (field[k].len != strlen(field_names[k]) ||
            memcmp(field[k].text, field_names[k], field[k].len) != 0)
            return refuse(r, "the first line is", all,
                          "expected the header \"name,key,endpoint,agents\"");
    *header = true;
    return TACIT_OK;
}

/* ---- the file ---- */

static tacit_status read_text(reader *r, const char *text, size_t len)
{
    const char *end = text + len;
    bool header = false;
    tacit_status status = TACIT_OK;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        text += 3;
    for (const char *at = text; at < end && !status;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        r->line++;
        status = read_line(r, at, stop ? stop : end, &header);
        at = stop ? stop + 1 : end;
    }
    if (!status && r->roster->count == 0)
        status = tacit_fail(r->err, TACIT_EINPUT,
                            "%.300s: no member in it; expected the header "
                            "\"name,key,endpoint,agents\" and a line a member",
                            r->path);
    return status;
}

tacit_status tacit_roster_parse(tacit_roster *roster, const char *name, const char *text,
                                size_t len, tacit_error *err)
{
    *roster = (tacit_roster){0};
    reader r = {.roster = roster, .path = name, .err = err};
    tacit_status status = read_text(&r, text, len);
    size_t first = 0;
    for (uint32_t k = 0; k < roster->count; k++) { /* the numbers have stopped moving */
        roster->members[k].agents = roster->numbers + first;
        first += roster->members[k].count;
    }
    for (int k = 0; k < AGENTS; k++)
        tacit_names_clear(&r.seen[k]);
    free(r.met);
    if (status)
        tacit_roster_clear(roster);
    return status;
}

tacit_status tacit_roster_read(tacit_roster *roster, const char *path, tacit_error *err)
{
    char *text = NULL;
    size_t len = 0;
    *roster = (tacit_roster){0};
    tacit_status status = tacit_file_read(&text, &len, path, MOST_BYTES, err);
    if (!status)
        status = tacit_roster_parse(roster, path, text, len, err);
    free(text);
    return status;
}

void tacit_roster_clear(tacit_roster *roster)
{
    free(roster->members);
    free(roster->host);
    free(roster->numbers);
    *roster = (tacit_roster){0};
}

char *tacit_roster_text(const tacit_node_member *members, uint32_t count)
{
    tacit_writer out = {0};
    tacit_write_text(&out, "name,key,endpoint,agents\n");
    for (uint32_t i = 0; i < count; i++) {
        const tacit_node_member *m = &members[i];
        char key[TACIT_IDENTITY_TEXT];
        tacit_identity_format(key, m->key);
        tacit_write_format(&out, "%s,%s,%s,", m->name, key, m->endpoint);
        for (uint32_t k = 0, next; k < m->count; k = next) {
            for (next = k + 1; next < m->count && m->agents[next] == m->agents[next - 1] + 1;)
                next++;
            tacit_write_format(&out, "%s%" PRIu32, k ? " " : "", m->agents[k]);
            if (next > k + 1)
                tacit_write_format(&out, "-%" PRIu32, m->agents[next - 1]);
        }
        tacit_write_text(&out, "\n");
    }
    return tacit_writer_take(&out);
}
