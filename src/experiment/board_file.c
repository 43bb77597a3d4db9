/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A board's text read back (board_file.h). Three steps, each of which may refuse:
 *
 *   the hash in the last line, so that what was edited or cut is told from what is no board;
 *   the lines, whose sizes are checked against the length of the text before memory is claimed;
 *   the text again, written from what was read: any other way to say the same is refused.
 *
 * The hash has no key: it finds accidents. What finds forgers are signatures, and for those the
 * keys must come from somewhere else than the file (tacit_board_file_check).
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "experiment/board_lines.h"
#include "net/keys.h"

typedef struct reader {
    const char *shown;
    const char *at, *end; /* lines that are still to be read */
    uint64_t line;
    tacit_json_tree tree;
    const tacit_json_value *top; /* of the line */
    uint32_t members;
    tacit_error *err;
} reader;

static tacit_status refuse(const reader *r, const char *what)
{
    return tacit_fail(r->err, TACIT_EVERIFY,
                      "%.300s:%" PRIu64 ": %s; the board was edited, cut or forged", r->shown,
                      r->line, what);
}

/* ---- values ---- */

static const tacit_json_value *member(const reader *r, const char *key, tacit_json_kind kind)
{
    const tacit_json_value *v = tacit_json_member(&r->tree, r->top, key);
    return v && v->kind == kind ? v : NULL;
}

static bool get_hex(const reader *r, const char *key, uint8_t *out, size_t len)
{
    const tacit_json_value *v = member(r, key, TACIT_JSON_TEXT);
    size_t got = 0;
    return v && strlen(v->text) == 2 * len &&
           sodium_hex2bin(out, len, v->text, 2 * len, NULL, &got, NULL) == 0 && got == len;
}

/* No count is as large as the fallback; 2^64 - 1 is nobody's number. */
static bool get_count(const reader *r, const char *key, uint64_t most, uint64_t *out)
{
    const tacit_json_value *v = member(r, key, TACIT_JSON_NUMBER);
    *out = tacit_json_to_count(v, UINT64_MAX);
    return v && *out <= most && *out < UINT64_MAX;
}

static bool get_number(const tacit_json_value *v, int64_t *out)
{
    uint64_t value = 0;
    const bool minus = v->kind == TACIT_JSON_NUMBER && v->text[0] == '-';
    if (v->kind != TACIT_JSON_NUMBER)
        return false;
    for (const char *c = v->text + minus; *c; c++)
        if (*c < '0' || *c > '9' || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*c - '0'), &value))
            return false;
    *out = (int64_t)(minus ? -value : value);
    return value <= (uint64_t)INT64_MAX + minus;
}

static bool get_numbers(const reader *r, const char *key, int64_t *out, size_t count)
{
    const tacit_json_value *v = member(r, key, TACIT_JSON_ARRAY);
    if (!v)
        return false;
    size_t k = 0;
    for (v = tacit_json_first(&r->tree, v); v; v = tacit_json_next(&r->tree, v), k++)
        if (k == count || !get_number(v, &out[k]))
            return false;
    return k == count;
}

/* ---- lines ---- */

static tacit_status next_line(reader *r)
{
    tacit_error why = {0};
    const char *stop = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    tacit_json_clear(&r->tree);
    r->top = NULL;
    r->line++;
    if (!stop || stop - r->at > BOARD_LINE)
        return refuse(r, stop ? "this line is too long" : "a line is missing");
    const char *line = r->at;
    r->at = stop + 1;
    if (tacit_json_read(&r->tree, r->shown, line, (size_t)(stop - line), &why) != TACIT_OK)
        return why.code == TACIT_EINTERNAL ? tacit_out_of_memory(r->err)
                                           : refuse(r, "this line is no JSON");
    r->top = r->tree.values;
    return TACIT_OK;
}

static size_t count_lines(const char *from, const char *end)
{
    size_t lines = 0;
    for (; from < end && (from = memchr(from, '\n', (size_t)(end - from))); from++)
        lines++;
    return lines;
}

/* What the head says there is must be there, before any memory is claimed for it: every line has a
 * line break and every number two characters. A key is short and stands for many numbers: so that
 * no file takes for ever, their number is bounded, too. */
static bool is_there(const reader *r, const tacit_board *b)
{
    const size_t len = (size_t)(r->end - r->at), lines = count_lines(r->at, r->end);
    size_t each, all, work;
    return b->words > 0 && b->words <= lines && b->keys <= lines && r->members <= lines &&
           b->words + b->keys + r->members == lines &&
           tacit_add_size(b->numbers, b->beside, &each) && tacit_mul_size(each, b->words, &all) &&
           all <= len / 2 && tacit_mul_size(b->numbers, b->keys, &work) && work <= BOARD_WORK;
}

/* All of a board in one block: words, keys, numbers. */
static tacit_status claim(const reader *r, tacit_board *b, int64_t **numbers)
{
    const size_t each = b->numbers + b->beside; /* small enough: is_there */
    b->memory = calloc(1, b->words * sizeof *b->word + b->keys * sizeof *b->key +
                              (b->words + 1) * each * sizeof **numbers);
    if (!b->memory)
        return tacit_out_of_memory(r->err);
    b->word = b->memory;
    b->key = (void *)((char *)b->memory + b->words * sizeof *b->word);
    *numbers = (void *)((char *)b->memory + b->words * sizeof *b->word + b->keys * sizeof *b->key);
    b->total = *numbers;
    b->beside_total = *numbers + b->numbers;
    return TACIT_OK;
}

static tacit_status read_head(reader *r, tacit_board *b, int64_t **numbers)
{
    uint64_t attempt, wide, beside, words, keys, members;
    tacit_status status = next_line(r);
    if (status)
        return status;
    const tacit_json_value *step = member(r, "step", TACIT_JSON_NUMBER),
                           *pair = member(r, "pair", TACIT_JSON_NUMBER);
    if (!get_hex(r, "run", b->run, sizeof b->run) ||
        !get_hex(r, "terms", b->terms, sizeof b->terms) ||
        !get_count(r, "round", UINT64_MAX, &b->round) ||
        !get_count(r, "attempt", UINT32_MAX, &attempt) ||
        !get_count(r, "speaker", UINT64_MAX, &b->speaker) ||
        !get_count(r, "numbers", BOARD_BYTES, &wide) ||
        !get_count(r, "beside", BOARD_BYTES, &beside) ||
        !get_count(r, "members", BOARD_BYTES, &members) ||
        !get_count(r, "words", BOARD_BYTES, &words) || !get_count(r, "keys", BOARD_BYTES, &keys) ||
        !step || !pair)
        return refuse(r, "this line is no head of a board");
    b->attempt = (uint32_t)attempt;
    b->numbers = wide;
    b->beside = beside;
    b->words = words;
    b->keys = keys;
    b->step = step->number;
    b->pair = pair->number;
    r->members = (uint32_t)members;
    if (!is_there(r, b))
        return refuse(r, "there are not as many lines or numbers as this one says");
    status = claim(r, b, numbers);
    if (status)
        return status;
    if (!get_numbers(r, "total", *numbers, b->numbers) ||
        !get_numbers(r, "beside_total", *numbers + b->numbers, b->beside))
        return refuse(r, "its totals are not as many whole numbers as it says");
    return TACIT_OK;
}

/* Text that may stand in a field of members.csv; what it means is checked there. */
static const char *get_field(const reader *r, const char *key)
{
    const tacit_json_value *v = member(r, key, TACIT_JSON_TEXT);
    return v && !strpbrk(v->text, ",\r\n#") ? v->text : NULL;
}

static tacit_status read_members(reader *r, tacit_roster *roster)
{
    tacit_writer rows = {0};
    tacit_error why = {0};
    tacit_status status = TACIT_OK;
    tacit_write_text(&rows, "name,key,endpoint,agents\n");
    for (uint32_t k = 0; k < r->members && !status; k++) {
        if ((status = next_line(r)))
            break;
        const char *name = get_field(r, "member"), *key = get_field(r, "key"),
                   *agents = get_field(r, "agents");
        if (!name || !key || !agents)
            status = refuse(r, "this line is no member");
        else
            tacit_write_format(&rows, "%s,%s,,%s\n", name, key, agents);
    }
    if (!status && rows.failed)
        status = tacit_out_of_memory(r->err);
    if (!status)
        status = tacit_roster_parse(roster, "members", rows.text, rows.len, &why);
    if (status && why.text[0])
        status = tacit_fail(r->err, why.code == TACIT_EINTERNAL ? why.code : TACIT_EVERIFY,
                            "%.200s: its list of members is wrong: %.200s", r->shown, why.text);
    tacit_writer_clear(&rows);
    return status;
}

static tacit_status read_word(reader *r, const tacit_board *b, tacit_board_word *w,
                              int64_t *numbers)
{
    tacit_status status = next_line(r);
    if (status)
        return status;
    w->number = numbers;
    w->beside = numbers + b->numbers;
    return get_count(r, "agent", UINT64_MAX, &w->agent) &&
                   get_hex(r, "commit", w->commit, sizeof w->commit) &&
                   get_hex(r, "seed", w->seed, sizeof w->seed) &&
                   get_hex(r, "signature", w->signature, sizeof w->signature) &&
                   get_numbers(r, "number", numbers, b->numbers) &&
                   get_numbers(r, "beside", numbers + b->numbers, b->beside)
               ? TACIT_OK
               : refuse(r, "this line is no word of this board");
}

static tacit_status read_key(reader *r, tacit_board_key *k)
{
    tacit_status status = next_line(r);
    if (status)
        return status;
    return get_count(r, "from", UINT64_MAX, &k->from) &&
                   get_count(r, "gone", UINT64_MAX, &k->gone) &&
                   get_hex(r, "key", k->key, sizeof k->key) &&
                   get_hex(r, "signature", k->signature, sizeof k->signature)
               ? TACIT_OK
               : refuse(r, "this line is no key of this board");
}

static tacit_status read_lines(reader *r, tacit_board_file *f)
{
    tacit_board *b = &f->board;
    int64_t *numbers = NULL;
    tacit_status status = read_head(r, b, &numbers);
    if (!status)
        status = read_members(r, &f->roster);
    tacit_board_word *word = (tacit_board_word *)(uintptr_t)b->word;
    tacit_board_key *key = (tacit_board_key *)(uintptr_t)b->key;
    for (size_t k = 0; k < b->words && !status; k++)
        status = read_word(r, b, &word[k], numbers + (k + 1) * (b->numbers + b->beside));
    for (size_t k = 0; k < b->keys && !status; k++)
        status = read_key(r, &key[k]);
    return status;
}

/* ---- the whole text ---- */

static bool begins(const char *text, size_t len, const char *with)
{
    const size_t n = strlen(with);
    return len >= n && memcmp(text, with, n) == 0;
}

/* Where the last line begins. */
static size_t last_line(const char *text, size_t len)
{
    size_t at = len > 0 ? len - 1 : 0;
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

static tacit_status check_hash(const reader *r, const char *text, size_t len, size_t last)
{
    uint8_t hash[TACIT_MASK_KEY];
    char digits[2 * TACIT_MASK_KEY + 1], line[200];
    tacit_mask_hash(hash, BOARD_SCHEMA, text, last);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    const int n =
        snprintf(line, sizeof line, "{\"end\":\"%s\",\"hash\":\"%s\"}\n", BOARD_SCHEMA, digits);
    if ((size_t)n == len - last && memcmp(line, text + last, (size_t)n) == 0)
        return TACIT_OK;
    return tacit_fail(r->err, TACIT_EVERIFY,
                      "\"%.300s\" is not the board that was written: its hash does not fit, so it "
                      "was edited or cut",
                      r->shown);
}

static tacit_status check_text(const reader *r, const tacit_board_file *f, const char *text,
                               size_t len)
{
    tacit_writer again = {0};
    board_lines_write(&again, &f->board, f->roster.members, f->roster.count, r->err);
    const bool failed = again.failed;
    const bool same = !failed && again.len == len && memcmp(again.text, text, len) == 0;
    tacit_writer_clear(&again);
    if (failed)
        return tacit_out_of_memory(r->err);
    return same ? TACIT_OK
                : tacit_fail(r->err, TACIT_EVERIFY,
                             "\"%.300s\" says what it says in another way than boards do: it was "
                             "edited",
                             r->shown);
}

tacit_status tacit_board_file_parse(tacit_board_file *file, const char *shown, const char *text,
                                    size_t len, tacit_error *err)
{
    const size_t last = last_line(text, len);
    reader r = {.shown = shown, .at = text, .end = text + last, .err = err};
    *file = (tacit_board_file){.board = {.memory = NULL}};
    if (!begins(text, len, "{\"schema\":\"tacit.board/") &&
        !begins(text + last, len - last, "{\"end\":\"tacit.board/"))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" is no board; expected a file like state/board.jsonl of a "
                          "node that took part in \"tacit average\"",
                          shown);
    if (!begins(text, len, "{\"schema\":\"" BOARD_SCHEMA "\""))
        return tacit_fail(
            err, TACIT_EVERIFY,
            "\"%.300s\" is a board of another version of this program, or was edited; "
            "this one reads " BOARD_SCHEMA,
            shown);
    tacit_status status = check_hash(&r, text, len, last);
    if (!status)
        status = read_lines(&r, file);
    if (!status)
        status = check_text(&r, file, text, len);
    tacit_json_clear(&r.tree);
    if (status)
        tacit_board_file_clear(file);
    return status;
}

tacit_status tacit_board_file_read(tacit_board_file *file, const char *path, tacit_error *err)
{
    char *text;
    size_t len;
    *file = (tacit_board_file){.board = {.memory = NULL}};
    tacit_status status = tacit_file_read(&text, &len, path, BOARD_BYTES, err);
    if (status)
        return status;
    status = tacit_board_file_parse(file, path, text, len, err);
    free(text);
    return status;
}

void tacit_board_file_clear(tacit_board_file *file)
{
    tacit_board_clear(&file->board);
    tacit_roster_clear(&file->roster);
    *file = (tacit_board_file){.board = {.memory = NULL}};
}

/* ---- signatures ---- */

/* The member that hosts an agent; NULL: nobody does. */
static const tacit_node_member *host_of(const tacit_roster *roster, tacit_agent agent)
{
    const uint32_t host = agent < roster->agents ? roster->host[agent] : TACIT_ROSTER_MEMBERS;
    return host < roster->count ? &roster->members[host] : NULL;
}

static tacit_status verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                           const uint8_t signature[TACIT_SIGNATURE])
{
    const tacit_board_file *f = ctx;
    const tacit_node_member *host = host_of(&f->roster, agent);
    if (!host)
        return TACIT_NO;
    const tacit_signed_by by = {.run = f->board.run, .agent = agent, .name = host->name};
    return tacit_identity_signed(signature, host->key, by, text, len) ? TACIT_OK : TACIT_NO;
}

/* Whoever signs for an agent is who the list says. */
static tacit_status check_known(const tacit_board_file *f, const tacit_roster *known,
                                tacit_error *err)
{
    for (uint32_t a = 0; a < f->roster.agents; a++) {
        const tacit_node_member *host = host_of(&f->roster, a), *right = host_of(known, a);
        if (host && (!right || memcmp(host->key, right->key, TACIT_NODE_KEY) != 0))
            return tacit_fail(err, TACIT_EVERIFY,
                              "for agent %" PRIu32 " member \"%s\" signs on the board, with a key "
                              "that the list of members does not have for it",
                              a, host->name);
        if (host && strcmp(host->name, right->name) != 0)
            return tacit_fail(err, TACIT_EVERIFY,
                              "for agent %" PRIu32 " \"%s\" signs on the board, with the key of "
                              "\"%s\" by the list of members",
                              a, host->name, right->name);
    }
    return TACIT_OK;
}

tacit_status tacit_board_file_check(const tacit_board_file *file, const tacit_roster *known,
                                    tacit_error *err)
{
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    tacit_status status = known ? check_known(file, known, err) : TACIT_OK;
    return status ? status : tacit_board_check(&file->board, verify, (void *)(uintptr_t)file, err);
}
