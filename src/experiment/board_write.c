/* SPDX-License-Identifier: Apache-2.0 */
/* A board's text (board_file.h): of a board there is only one. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/writer.h"
#include "experiment/board_lines.h"

static void put_hex(tacit_json *json, const char *key, const uint8_t *bytes, size_t len)
{
    char text[2 * TACIT_SIGNATURE + 1];
    sodium_bin2hex(text, sizeof text, bytes, len);
    tacit_json_text(json, key, text);
}

static void put_numbers(tacit_json *json, const char *key, const int64_t *number, size_t count)
{
    tacit_json_begin(json, key, '[');
    for (size_t k = 0; k < count; k++) {
        char text[24];
        const int len = snprintf(text, sizeof text, "%" PRId64, number[k]);
        tacit_json_raw(json, NULL, text, (size_t)len);
    }
    tacit_json_end(json, ']');
}

static tacit_json begin_line(tacit_writer *out)
{
    tacit_json json = {.out = out, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    return json;
}

static void write_head(tacit_writer *out, const tacit_board *b, uint32_t members)
{
    tacit_json json = begin_line(out);
    tacit_json_text(&json, "schema", BOARD_SCHEMA);
    put_hex(&json, "run", b->run, sizeof b->run);
    tacit_json_count(&json, "round", b->round);
    tacit_json_count(&json, "attempt", b->attempt);
    tacit_json_count(&json, "speaker", b->speaker);
    tacit_json_count(&json, "numbers", b->numbers);
    tacit_json_count(&json, "beside", b->beside);
    tacit_json_real(&json, "step", b->step);
    tacit_json_real(&json, "pair", b->pair);
    put_hex(&json, "terms", b->terms, sizeof b->terms);
    tacit_json_count(&json, "members", members);
    tacit_json_count(&json, "words", b->words);
    tacit_json_count(&json, "keys", b->keys);
    put_numbers(&json, "total", b->total, b->numbers);
    put_numbers(&json, "beside_total", b->beside_total, b->beside);
    tacit_json_end(&json, '}'); /* and the line */
}

static void write_word(tacit_writer *out, const tacit_board *b, const tacit_board_word *w)
{
    tacit_json json = begin_line(out);
    tacit_json_count(&json, "agent", w->agent);
    put_hex(&json, "commit", w->commit, sizeof w->commit);
    put_hex(&json, "seed", w->seed, sizeof w->seed);
    put_hex(&json, "signature", w->signature, sizeof w->signature);
    put_numbers(&json, "number", w->number, b->numbers);
    put_numbers(&json, "beside", w->beside, b->beside);
    tacit_json_end(&json, '}');
}

static void write_key(tacit_writer *out, const tacit_board_key *k)
{
    tacit_json json = begin_line(out);
    tacit_json_count(&json, "from", k->from);
    tacit_json_count(&json, "gone", k->gone);
    put_hex(&json, "key", k->key, sizeof k->key);
    put_hex(&json, "signature", k->signature, sizeof k->signature);
    tacit_json_end(&json, '}');
}

/* ---- members ---- */

static bool has_word(const tacit_board *b, const tacit_node_member *m)
{
    size_t at = 0; /* both rise */
    for (uint32_t k = 0; k < m->count; k++) {
        while (at < b->words && b->word[at].agent < m->agents[k])
            at++;
        if (at < b->words && b->word[at].agent == m->agents[k])
            return true;
    }
    return false;
}

/* "name,key,endpoint,agents" */
static void write_member(tacit_writer *out, char *line)
{
    char *field[4] = {line};
    for (int k = 1; k < 4; k++) {
        if (!(field[k] = strchr(field[k - 1], ',')))
            return;
        *field[k]++ = '\0';
    }
    tacit_json json = begin_line(out);
    tacit_json_text(&json, "member", field[0]);
    tacit_json_text(&json, "key", field[1]);
    tacit_json_text(&json, "agents", field[3]);
    tacit_json_end(&json, '}');
}

static tacit_status write_members(tacit_writer *out, const tacit_node_member *members,
                                  uint32_t count, tacit_error *err)
{
    char *rows = tacit_roster_text(members, count);
    if (!rows)
        return tacit_out_of_memory(err);
    char *line = strchr(rows, '\n'), *next; /* after the header */
    for (line = line ? line + 1 : rows; (next = strchr(line, '\n')); line = next + 1) {
        *next = '\0';
        write_member(out, line);
    }
    free(rows);
    return TACIT_OK;
}

/* ---- all of it ---- */

/* A reader takes lines up to a size: nothing is written that could not be read. */
static bool is_readable(const tacit_writer *out, const tacit_board *board)
{
    size_t line = 0, work;
    if (!tacit_mul_size(board->numbers, board->keys, &work) || work > BOARD_WORK)
        return false;
    for (size_t k = 0; k < out->len; k++) {
        line = out->text[k] == '\n' ? 0 : line + 1;
        if (line > BOARD_LINE)
            return false;
    }
    return out->len <= BOARD_BYTES;
}

void board_lines_write(tacit_writer *out, const tacit_board *b, const tacit_node_member *members,
                       uint32_t count, tacit_error *err)
{
    write_head(out, b, count);
    if (write_members(out, members, count, err) != TACIT_OK)
        out->failed = true;
    for (size_t k = 0; k < b->words; k++)
        write_word(out, b, &b->word[k]);
    for (size_t k = 0; k < b->keys; k++)
        write_key(out, &b->key[k]);
    if (out->failed)
        return;
    uint8_t hash[TACIT_MASK_KEY];
    tacit_mask_hash(hash, BOARD_SCHEMA, out->text, out->len);
    tacit_json json = begin_line(out);
    tacit_json_text(&json, "end", BOARD_SCHEMA);
    put_hex(&json, "hash", hash, sizeof hash);
    tacit_json_end(&json, '}');
}

tacit_status tacit_board_file_text(char **text, size_t *len, const tacit_board *board,
                                   const tacit_node_member *members, uint32_t count,
                                   tacit_error *err)
{
    tacit_writer out = {0};
    *text = NULL;
    *len = 0;
    tacit_node_member *told = calloc((size_t)count + 1, sizeof *told);
    if (!told)
        return tacit_out_of_memory(err);
    uint32_t tell = 0;
    for (uint32_t k = 0; k < count; k++)
        if (has_word(board, &members[k])) {
            told[tell] = members[k];
            told[tell++].endpoint[0] = '\0';
        }
    board_lines_write(&out, board, told, tell, err);
    free(told);
    if (out.failed) {
        tacit_writer_clear(&out);
        return tacit_out_of_memory(err);
    }
    if (!is_readable(&out, board)) {
        tacit_writer_clear(&out);
        return tacit_fail(err, TACIT_EINPUT,
                          "a board of %zu words of %zu numbers is too large for a file",
                          board->words, board->numbers);
    }
    *len = out.len;
    *text = tacit_writer_take(&out);
    return TACIT_OK;
}

tacit_status tacit_board_file_write(const char *path, const tacit_board *board,
                                    const tacit_node_member *members, uint32_t count,
                                    tacit_error *err)
{
    char *text = NULL, *fresh = tacit_path_with(path, ".tmp");
    size_t len;
    tacit_status status = fresh ? tacit_board_file_text(&text, &len, board, members, count, err)
                                : tacit_out_of_memory(err);
    if (status)
        goto out;
    unlink(fresh);
    status = tacit_file_create(fresh, 0644, text, len, "board", err);
    if (!status && rename(fresh, path) != 0) {
        status = tacit_fail(err, TACIT_EINPUT, "cannot make \"%.300s\": %s", path, strerror(errno));
        unlink(fresh);
    }
out:
    free(text);
    free(fresh);
    return status;
}
