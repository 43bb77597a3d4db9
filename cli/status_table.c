/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of "tacit status": from JSON, and as a table. */
#include "status.h"
#include "terminal.h"
#include "verbs.h"

#include "base/writer.h"
#include "report/json_read.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 9, CELL = 72, NOTES = 8 };

/* ---- from JSON ---- */

void cli_safe_text(char *out, size_t size, const char *text)
{
    size_t used = 0, left = strlen(text);
    while (left > 0) {
        size_t n = tacit_character_length(text, left);
        const unsigned char c = (unsigned char)text[0];
        const bool c1 = n == 2 && c == 0xc2 && (unsigned char)text[1] < 0xa0;
        const bool shows = n > 0 && c >= 0x20 && c != 0x7f && !c1;
        if (used + (shows ? n : 1) + 1 > size)
            break;
        if (shows)
            memcpy(out + used, text, n);
        else
            out[used] = '?';
        used += shows ? n : 1;
        n = n > 0 ? n : 1;
        text += n;
        left -= n;
    }
    out[used] = '\0';
}

/* A member at one or two levels. */
static const tacit_json_value *get(const tacit_json_tree *t, const char *group, const char *key)
{
    const tacit_json_value *top = t->values;
    return tacit_json_member(t, group ? tacit_json_member(t, top, group) : top, key);
}

static void get_text(const tacit_json_tree *t, const char *key, char *out, size_t size)
{
    cli_safe_text(out, size, tacit_json_to_text(get(t, NULL, key), ""));
}

static uint64_t get_count(const tacit_json_tree *t, const char *group, const char *key)
{
    return tacit_json_to_count(get(t, group, key), 0);
}

static void read_privacy(cli_node_row *row, const tacit_json_tree *t)
{
    static const char *const keys[] = {"unit", "adjacency", "adversary"};
    char words[3][40];
    for (int i = 0; i < 3; i++)
        cli_safe_text(words[i], sizeof words[i],
                      tacit_json_to_text(get(t, "privacy", keys[i]), "unknown"));
    row->epsilon = tacit_json_to_real(get(t, "privacy", "epsilon_spent"), INFINITY);
    row->budget = tacit_json_to_real(get(t, "privacy", "epsilon_budget"), INFINITY);
    const double delta = tacit_json_to_real(get(t, "privacy", "delta"), NAN);
    row->about[0] = '\0';
    if (!isnan(delta)) /* else it has no agents */
        snprintf(row->about, sizeof row->about,
                 "at delta %g for one %s (adjacency %s), against an adversary \"%s\"",
                 tacit_rounded_up(delta), words[0], words[1], words[2]);
}

bool cli_node_row_read(cli_node_row *row, const char *body, size_t len)
{
    tacit_json_tree tree;
    tacit_error err = {0};
    row->reached = false;
    snprintf(row->problem, sizeof row->problem, "its answer is not the status of a node");
    if (tacit_json_read(&tree, "status", body, len, &err) != TACIT_OK)
        return false;
    const tacit_json_tree *t = &tree;
    if (strcmp(tacit_json_to_text(get(t, NULL, "schema"), ""), "tacit.node/1") == 0) {
        row->reached = true;
        row->problem[0] = '\0';
        get_text(t, "node", row->name, sizeof row->name);
        get_text(t, "phase", row->phase, sizeof row->phase);
        get_text(t, "mute", row->mute, sizeof row->mute);
        row->time = tacit_json_to_real(get(t, NULL, "time_units"), 0);
        row->until = tacit_json_to_real(get(t, NULL, "until_units"), 0);
        row->agents = get_count(t, NULL, "agent_count");
        row->up = get_count(t, "peer_counts", "up");
        row->slow = get_count(t, "peer_counts", "slow");
        row->down = get_count(t, "peer_counts", "down");
        row->messages_in = get_count(t, "traffic", "messages_in");
        row->messages_out = get_count(t, "traffic", "messages_out");
        row->refused = get_count(t, "frames_refused", "all");
        row->shed = get_count(t, "traffic", "ticks_shed");
        read_privacy(row, t);
        row->alone[0] = '\0';
        if (!tacit_json_to_bool(get(t, "lifetime", "counted"), true))
            cli_safe_text(row->alone, sizeof row->alone,
                          tacit_json_to_text(get(t, "lifetime", "why"), ""));
    }
    tacit_json_clear(&tree);
    return row->reached;
}

/* ---- the table ---- */

typedef struct table {
    const cli_node_row *rows;
    size_t count;
    const char *notes[NOTES]; /* what epsilons are about, each once */
    size_t note_count;
    int width[COLUMNS];
} table;

static const char *const titles[COLUMNS] = {"node", "phase", "time",    "agents", "up/slow/down",
                                            "in",   "out",   "epsilon", "refused"};

/* Characters as they show: bytes that continue one are not counted. */
static int shown_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static size_t note_of(const table *t, const cli_node_row *row)
{
    size_t i = 0;
    while (i < t->note_count && strcmp(t->notes[i], row->about) != 0)
        i++;
    return i;
}

static void collect_notes(table *t)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->rows[i].reached && *t->rows[i].about && t->note_count < NOTES &&
            note_of(t, &t->rows[i]) == t->note_count)
            t->notes[t->note_count++] = t->rows[i].about;
}

static void epsilon_cell(const table *t, const cli_node_row *row, char *out, size_t size)
{
    char spent[20], budget[20], note[24] = "";
    if (!*row->about) {
        snprintf(out, size, "-");
        return;
    }
    cli_epsilon(row->epsilon, spent, sizeof spent);
    cli_epsilon(row->budget, budget, sizeof budget);
    if (t->note_count > 1)
        snprintf(note, sizeof note, " [%zu]", note_of(t, row) + 1);
    if (isinf(row->epsilon))
        snprintf(out, size, "%s%s", spent, note);
    else if (isinf(row->budget))
        snprintf(out, size, "%s, no limit%s", spent, note);
    else
        snprintf(out, size, "%s of %s%s", spent, budget, note);
}

static void cell(const table *t, const cli_node_row *row, int column, char *out, size_t size)
{
    if (!row->reached && column > 1) {
        snprintf(out, size, "-");
        return;
    }
    switch (column) {
    case 0:
        snprintf(out, size, "%s", row->name);
        break;
    case 1:
        snprintf(out, size, "%s", row->reached ? row->phase : "no answer");
        break;
    case 2:
        snprintf(out, size, "%.1f of %.6g", row->time, row->until);
        break;
    case 3:
        cli_count(row->agents, out, size);
        break;
    case 4:
        snprintf(out, size, "%llu/%llu/%llu", (unsigned long long)row->up,
                 (unsigned long long)row->slow, (unsigned long long)row->down);
        break;
    case 5:
        cli_count(row->messages_in, out, size);
        break;
    case 6:
        cli_count(row->messages_out, out, size);
        break;
    case 7:
        epsilon_cell(t, row, out, size);
        break;
    default:
        cli_count(row->refused, out, size);
        break;
    }
}

/* Words to the left, numbers to the right. */
static void put_cell(const table *t, int column, const char *text)
{
    const int gap = t->width[column] - shown_width(text);
    const bool words = column < 2;
    printf("%s%*s%s%*s", column > 0 ? "  " : "", words ? 0 : gap, "", text, words ? gap : 0, "");
}

static void put_lines(const table *t)
{
    char text[CELL];
    printf("%s", cli_bold());
    for (int c = 0; c < COLUMNS; c++)
        put_cell(t, c, titles[c]);
    printf("%s\n", cli_plain());
    for (size_t i = 0; i < t->count; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            cell(t, &t->rows[i], c, text, sizeof text);
            put_cell(t, c, text);
        }
        putchar('\n');
    }
}

static void put_notes(const table *t)
{
    char text[400];
    for (size_t i = 0; i < t->note_count; i++) {
        char number[24] = "";
        if (t->note_count > 1)
            snprintf(number, sizeof number, "[%zu] ", i + 1);
        snprintf(text, sizeof text,
                 "%sepsilon: the most that an agent of the node has spent, of its budget, %s",
                 number, t->notes[i]);
        cli_wrap(text, 0, 2);
    }
    for (size_t i = 0; i < t->count; i++) {
        const cli_node_row *row = &t->rows[i];
        if (row->reached && row->shed > 0) {
            char shed[24];
            cli_count(row->shed, shed, sizeof shed);
            snprintf(text, sizeof text,
                     "%s cannot keep up: it skipped %s ticks that were late, at no cost", row->name,
                     shed);
            cli_wrap(text, 0, 2);
        }
        if (row->reached && !*row->mute)
            continue;
        snprintf(text, sizeof text, "%s %s: %s", row->name,
                 row->reached ? "only listens" : "does not answer",
                 row->reached ? row->mute : row->problem);
        cli_wrap(text, 0, 2);
    }
}

/* Each reason once, with the first node that has it. */
static void put_not_counted(const table *t)
{
    char text[400];
    for (size_t i = 0; i < t->count; i++) {
        const char *why = t->rows[i].reached ? t->rows[i].alone : "";
        size_t first = 0, others = 0;
        while (first < i && !(t->rows[first].reached && strcmp(t->rows[first].alone, why) == 0))
            first++;
        if (!*why || first < i)
            continue;
        for (size_t k = i + 1; k < t->count; k++)
            others += t->rows[k].reached && strcmp(t->rows[k].alone, why) == 0;
        snprintf(text, sizeof text, "lifetime ledger (%s%s): %s", t->rows[i].name,
                 others ? " and others" : "", why);
        cli_wrap(text, 0, 2);
    }
}

void cli_node_table(const cli_node_row *rows, size_t count)
{
    table t = {.rows = rows, .count = count};
    char text[CELL];
    collect_notes(&t);
    for (int c = 0; c < COLUMNS; c++) {
        t.width[c] = shown_width(titles[c]);
        for (size_t i = 0; i < count; i++) {
            cell(&t, &rows[i], c, text, sizeof text);
            const int width = shown_width(text);
            t.width[c] = width > t.width[c] ? width : t.width[c];
        }
    }
    put_lines(&t);
    put_notes(&t);
    put_not_counted(&t);
}
