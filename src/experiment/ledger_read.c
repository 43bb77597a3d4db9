/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.jsonl read back: first the seal, over the bytes as they are, then what the lines say.
 *
 * A file is sealed if anything in it says so: a first line with a schema, a "mac" or a "seal"
 * anywhere. Then all of the seal must be there and right; taking half of it away is noticed. What
 * has no mark of a seal at all is somebody's own list, and is called unsealed.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "experiment/ledger_lines.h"
#include "privacy/seal.h"

enum { LARGEST = 1 << 30 };
#define SCHEMA "tacit.ledger/1"
static const char header_start[] = "{\"schema\":\"tacit.ledger/";

/* ---- lines ---- */

/* The line that begins at *at: its length without the break, and whether there is one. */
static bool next_line(const char *text, size_t len, size_t *at, const char **line, size_t *size,
                      bool *whole)
{
    if (*at >= len)
        return false;
    const char *end = memchr(text + *at, '\n', len - *at);
    *line = text + *at;
    *size = end ? (size_t)(end - *line) : len - *at;
    *whole = end != NULL;
    *at += *size + 1;
    return true;
}

static bool is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

/* Is `name` (with its quotes) the key of a member anywhere in the text? */
static bool has_member(const char *text, size_t len, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = text, *end = text + len; (size_t)(end - at) > n; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at || (size_t)(end - at) <= n)
            return false;
        if (memcmp(at, name, n) != 0)
            continue;
        const char *behind = at + n;
        while (behind < end && (*behind == ' ' || *behind == '\t'))
            behind++;
        if (behind < end && *behind == ':')
            return true;
    }
    return false;
}

static bool is_sealed(const char *text, size_t len)
{
    const size_t n = sizeof header_start - 1;
    return (len > 1 && memcmp(text, header_start, len < n ? len : n) == 0) ||
           has_member(text, len, "\"schema\"") || has_member(text, len, "\"mac\"") ||
           has_member(text, len, "\"seal\"");
}

/* One line as JSON; messages say which line of the file it is. */
static tacit_status parse(tacit_json_tree *tree, const tacit_line_place *place, const char *line,
                          size_t len)
{
    static const char inner[] = "\"\", line 1, ";
    tacit_error found = {0};
    tacit_status status = tacit_json_read(tree, "", line, len, &found);
    if (status == TACIT_OK && tree->values[0].kind == TACIT_JSON_OBJECT)
        return TACIT_OK;
    const char *words = found.text, *between = ": ";
    if (status == TACIT_OK)
        words = "expected an object, as in {\"mechanism\":\"gaussian\",\"sensitivity\":1,"
                "\"noise\":2,\"releases\":100}";
    else if (strncmp(words, inner, sizeof inner - 1) == 0) { /* it says the column */
        words += sizeof inner - 1;
        between = ", ";
    }
    status = tacit_fail(place->err, status ? status : TACIT_EINPUT, "\"%.200s\", line %zu%s%s",
                        place->shown, place->line, between, words);
    tacit_json_clear(tree);
    return status;
}

/* ---- the seal ---- */

static tacit_status broken(const tacit_line_place *place, const char *what)
{
    return tacit_fail(place->err, TACIT_EVERIFY,
                      "\"%.200s\", line %zu: %s; take the ledger from where it was written, or "
                      "strike \"mac\" and \"seal\" to use it as an unsealed list",
                      place->shown, place->line, what);
}

static tacit_status header_key(tacit_ledger_lines *out, const tacit_line_place *place,
                               const tacit_json_tree *tree, const tacit_key *given, tacit_key *key)
{
    const tacit_json_value *top = &tree->values[0];
    const char *schema = tacit_json_to_text(tacit_json_member(tree, top, "schema"), "");
    const char *seal = tacit_json_to_text(tacit_json_member(tree, top, "seal"), "");
    if (strcmp(schema, SCHEMA) != 0)
        return broken(place, "expected a first line with the schema \"" SCHEMA "\"");
    if (strcmp(seal, "run") == 0) {
        const char *name = tacit_json_to_text(tacit_json_member(tree, top, "run"), "");
        uint64_t seed = tacit_json_to_count(tacit_json_member(tree, top, "seed"), 0);
        tacit_run_key(key, seed, name);
        out->seal = TACIT_SEAL_RUN;
        return TACIT_OK;
    }
    if (strcmp(seal, "key") != 0)
        return broken(place, "the first line does not say how the ledger is sealed");
    if (!given)
        return tacit_fail(place->err, TACIT_EVERIFY,
                          "\"%.200s\" is sealed with a key, and cannot be verified without it; "
                          "name the key file",
                          place->shown);
    *key = *given;
    out->seal = TACIT_SEAL_KEY;
    return TACIT_OK;
}

/* Only the words of the last line: it is in the chain, so it is as good as its mac. */
static tacit_status check_end(const tacit_line_place *place, const tacit_chain *chain,
                              const char *line, size_t size)
{
    tacit_json_tree tree;
    if (tacit_json_read(&tree, "", line, size, NULL) != TACIT_OK)
        return broken(place, "the seal at the end was edited");
    const tacit_json_value *top = &tree.values[0];
    const char *seal = tacit_json_to_text(tacit_json_member(&tree, top, "seal"), "");
    const bool ends = strcmp(seal, "end") == 0;
    const uint64_t entries = tacit_json_to_count(tacit_json_member(&tree, top, "entries"), 0);
    tacit_json_clear(&tree);
    if (!ends)
        return broken(place, "the ledger was cut here: the seal of the last line is missing");
    if (entries + 2 != chain->links) /* the first line and this one are no entries */
        return broken(place, "the seal counts other lines than there are");
    return TACIT_OK;
}

static tacit_status check_chain(tacit_line_place *place, const tacit_key *key, const char *text,
                                size_t len)
{
    tacit_chain chain;
    const char *line = text;
    size_t size = 0;
    bool whole;
    tacit_status status = TACIT_OK;
    tacit_chain_begin(&chain, key, TACIT_SEAL_LINES);
    place->line = 0;
    for (size_t at = 0; !status && next_line(text, len, &at, &line, &size, &whole);) {
        place->line++;
        if (!whole)
            status = broken(place, "the ledger was cut in the middle of this line");
        else if (!tacit_chain_check_line(&chain, line, size))
            status = broken(place, place->line == 1
                                       ? "it was edited, or another key was used"
                                       : "it was edited, or lines before it are missing or moved");
    }
    if (!status)
        status = check_end(place, &chain, line, size);
    tacit_chain_wipe(&chain);
    return status;
}

static tacit_status check_seal(tacit_ledger_lines *out, tacit_line_place *place, const char *text,
                               size_t len, const tacit_key *given)
{
    const char *line = text;
    size_t at = 0, size = 0;
    bool whole = false;
    tacit_json_tree tree;
    tacit_key key;
    next_line(text, len, &at, &line, &size, &whole);
    if (!whole || tacit_json_read(&tree, "", line, size, NULL) != TACIT_OK)
        return broken(place, "the ledger was cut or edited here");
    tacit_status status = header_key(out, place, &tree, given, &key);
    if (!status) {
        status = check_chain(place, &key, text, len);
        tacit_key_wipe(&key);
    }
    place->line = 1;
    if (!status)
        status = tacit_line_header(out, place, &tree);
    tacit_json_clear(&tree);
    return status;
}

/* ---- all of it ---- */

static tacit_status read_line(tacit_ledger_lines *out, const tacit_line_place *place,
                              const char *line, size_t size)
{
    tacit_json_tree tree;
    tacit_status status = parse(&tree, place, line, size);
    if (status)
        return status;
    status = tacit_line_entry(out, place, &tree);
    tacit_json_clear(&tree);
    return status;
}

static tacit_status read_entries(tacit_ledger_lines *out, tacit_line_place *place, const char *text,
                                 size_t len)
{
    const char *line;
    size_t size, at = 0;
    bool whole;
    tacit_status status = TACIT_OK;
    for (place->line = 1; !status && next_line(text, len, &at, &line, &size, &whole);
         place->line++) {
        const bool frame = out->seal != TACIT_SEAL_NONE && (place->line == 1 || at >= len);
        if (!frame && !is_blank(line, size))
            status = read_line(out, place, line, size);
    }
    if (!status && out->count == 0 && out->seal == TACIT_SEAL_NONE)
        status =
            tacit_fail(place->err, TACIT_EINPUT,
                       "\"%.200s\" holds no releases; expected a JSON object a line", place->shown);
    return status;
}

tacit_status tacit_ledger_read_text(tacit_ledger_lines *out, const char *shown, const char *text,
                                    size_t len, const tacit_key *key, tacit_error *err)
{
    tacit_line_place place = {.shown = shown, .line = 1, .err = err};
    *out = (tacit_ledger_lines){.epsilon = NAN, .delta = NAN, .costs = tacit_costs_create()};
    tacit_status status = out->costs ? TACIT_OK : tacit_out_of_memory(err);
    if (!status && is_sealed(text, len))
        status = check_seal(out, &place, text, len, key);
    if (!status)
        status = read_entries(out, &place, text, len);
    if (!status)
        status = tacit_ledger_accounts(out, shown, err);
    if (status)
        tacit_ledger_lines_clear(out);
    return status;
}

tacit_status tacit_ledger_read(tacit_ledger_lines *out, const char *path, const tacit_key *key,
                               tacit_error *err)
{
    char *text;
    size_t len;
    *out = (tacit_ledger_lines){0};
    tacit_status status = tacit_file_read(&text, &len, path, LARGEST, err);
    if (status)
        return status;
    status = tacit_ledger_read_text(out, path, text, len, key, err);
    free(text);
    return status;
}

void tacit_ledger_lines_clear(tacit_ledger_lines *lines)
{
    free(lines->line);
    free(lines->account);
    free(lines->part);
    tacit_costs_free(lines->costs);
    *lines = (tacit_ledger_lines){0};
}
