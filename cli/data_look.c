/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit data FILE: what a file of records is, and a section "data" to start from. The first bytes
 * say which format; of a text table the first two lines say the rest. Guesses are marked as such:
 * a person will read and change them.
 */
#include "data.h"
#include "data/bytes.h"
#include "data/csv_scan.h"
#include "terminal.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COLUMNS_SHOWN 60
#define NAME_SHOWN 64

typedef struct table_look {
    char separator;
    bool header;
    size_t columns;
    char name[COLUMNS_SHOWN][NAME_SHOWN]; /* "1", "2", ... without a header */
    bool word[COLUMNS_SHOWN];             /* the first record has no number there */
} table_look;

/* A text in quotes, as YAML reads it. */
static void yaml_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar((unsigned char)*text < 0x20 ? ' ' : *text);
    }
    putchar('"');
}

/* ---- a text table ---- */

static char guess_separator(const char *text, size_t len)
{
    const char *end = memchr(text, '\n', len);
    size_t line = end ? (size_t)(end - text) : len;
    const char candidates[] = {'\t', ',', ';'};
    for (size_t k = 0; k < sizeof candidates; k++) {
        if (memchr(text, candidates[k], line))
            return candidates[k];
    }
    return ' ';
}

/* A line's fields; counts how many are numbers. */
static tacit_status read_line(tacit_csv_scan *scan, table_look *look, bool names, size_t *columns,
                              size_t *numbers, tacit_error *err)
{
    tacit_csv_field field = {0};
    tacit_status status = TACIT_OK;
    *columns = *numbers = 0;
    for (; !field.last && !status; ++*columns) {
        double value;
        if ((status = tacit_csv_next(scan, &field, err)))
            return status;
        bool number = tacit_csv_number(field.text, field.len, &value);
        *numbers += number;
        if (*columns >= COLUMNS_SHOWN)
            continue;
        if (names)
            snprintf(look->name[*columns], NAME_SHOWN, "%.*s",
                     (int)(field.len < NAME_SHOWN ? field.len : NAME_SHOWN - 1), field.text);
        else
            look->word[*columns] = !number && field.len > 0 && field.text[0] != '?';
    }
    return status;
}

static tacit_status look_at_table(table_look *look, const char *name, const char *text, size_t len,
                                  tacit_error *err)
{
    tacit_csv_scan scan;
    size_t numbers = 0, columns = 0;
    *look = (table_look){.separator = guess_separator(text, len)};
    tacit_status status = tacit_csv_open(&scan, name, text, len, err);
    if (status)
        return status;
    scan.separator = look->separator;
    if (tacit_csv_more(&scan))
        status = read_line(&scan, look, true, &look->columns, &numbers, err);
    look->header = !status && numbers == 0;
    if (!status && !look->header) {
        tacit_csv_rewind(&scan, text, len);
        for (size_t k = 0; k < COLUMNS_SHOWN; k++)
            snprintf(look->name[k], NAME_SHOWN, "%zu", k + 1);
    }
    if (!status && tacit_csv_more(&scan))
        status = read_line(&scan, look, false, &columns, &numbers, err);
    tacit_csv_close(&scan);
    return status;
}

/* The column called like one of these, or `fallback`. */
static size_t guess_column(const table_look *look, const char *const *names, size_t fallback)
{
    for (; *names && look->header; names++) {
        for (size_t k = 0; k < look->columns && k < COLUMNS_SHOWN; k++) {
            if (strcasecmp(look->name[k], *names) == 0)
                return k;
        }
    }
    return fallback;
}

static void say_table(const table_look *look)
{
    static const char *const labels[] = {"label", "class", "target", "y", "click", NULL};
    static const char *const agents[] = {"agent", "user",   "user_id",  "subject", "client",
                                         "site",  "school", "hospital", NULL};
    size_t shown = look->columns < COLUMNS_SHOWN ? look->columns : COLUMNS_SHOWN, words = 0;
    size_t label = guess_column(look, labels, shown > 0 ? shown - 1 : 0);
    size_t agent = guess_column(look, agents, SIZE_MAX);
    printf("  header: %s\n  separator: %s\n", look->header ? "true" : "false",
           look->separator == ','    ? "comma"
           : look->separator == '\t' ? "tab"
           : look->separator == ';'  ? "semicolon"
                                     : "blanks");
    if (look->columns > COLUMNS_SHOWN && label + 1 == shown) {
        printf("  label-column: \"\"  # name the column to predict, or labels-path\n");
    } else {
        printf("  label-column: ");
        yaml_text(look->name[label]);
        printf("  # a guess; what is to be predicted\n");
    }
    if (look->word[label])
        printf("  positive: \"\"  # words: name those that count as +1\n");
    printf("  agent-column: ");
    yaml_text(agent == SIZE_MAX ? "" : look->name[agent]);
    printf("  # %s\n", agent == SIZE_MAX ? "none seen; records are dealt" : "a guess");
    if (agent == SIZE_MAX)
        printf("  partition: iid\n  agents: 10\n");
    if (!look->header && (look->columns == 3 || look->columns == 4))
        printf("  # users, items, ratings? then \"source: ratings\" and \"path\" are enough\n");
    for (size_t k = 0; k < shown; k++) {
        if (!look->word[k] || k == label || k == agent)
            continue;
        printf(words++ == 0 ? "  ignore: \"" : ", ");
        printf("%s", look->name[k]);
    }
    if (words > 0)
        printf("\"  # words; \"categories\" makes features of them\n");
}

/* ---- formats ---- */

static bool is_text(const char *bytes, size_t len)
{
    for (size_t k = 0; k < len && k < 512; k++) {
        if ((unsigned char)bytes[k] < 0x20 && (bytes[k] == 0 || !strchr("\t\n\r", bytes[k])))
            return false;
    }
    return true;
}

static const char *guess_format(const char *bytes, size_t len)
{
    if (len >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return "npy";
    if (len >= 128 && memcmp(bytes, "MATLAB 5.0", 10) == 0)
        return "mat";
    if (len >= 4 && bytes[0] == 0 && bytes[1] == 0)
        return "idx";
    return tacit_looks_like_libsvm(bytes, len) ? "libsvm" : "csv";
}

static void say_file(const char *path, const tacit_file_facts *facts)
{
    char bytes[40];
    const tacit_known_file *known = facts->known;
    cli_bytes(facts->bytes, bytes, sizeof bytes);
    printf("# %s, %s, sha256 %s\n", path, bytes, facts->sha256);
    if (known)
        printf("# %s: %s\n# terms: %s\n", known->set->name, known->set->what, known->set->terms);
    else if (facts->named)
        printf("# called like a file of %s, but differs from it\n", facts->named->set->name);
}

static tacit_status say_section(const char *path, const tacit_file_facts *facts,
                                const tacit_bytes *bytes, tacit_error *err)
{
    const char *text = tacit_bytes_at(bytes), *format = guess_format(text, bytes->len);
    table_look look = {0};
    tacit_status status = TACIT_OK;
    if (strcmp(format, "csv") == 0) {
        status = tacit_refuse_binary(path, "records", text, bytes->len, err);
        if (!status && !is_text(text, bytes->len))
            status = tacit_fail(err, TACIT_EINPUT,
                                "\"%.300s\" is neither text nor a format of records we know", path);
        if (!status)
            status = look_at_table(&look, path, text, bytes->len, err);
    }
    if (status)
        return status;
    if (facts->sha256[0])
        say_file(path, facts);
    printf("data:\n  source: %s\n  path: ", format);
    yaml_text(path);
    putchar('\n');
    if (look.columns > 0)
        say_table(&look);
    else if (strcmp(format, "idx") == 0 || strcmp(format, "npy") == 0)
        printf("  labels-path: \"\"  # name the file with the labels\n");
    if (strcmp(format, "libsvm") == 0)
        printf("  width: 0  # how many features there are; 0: the largest index, which leaks\n");
    if (strcmp(format, "mat") == 0)
        printf("  x-name: X  # variables\n  y-name: Y\n"
               "  partition: own  # a cell of matrices, one an agent; iid for a single matrix\n");
    else if (look.columns == 0)
        printf("  partition: iid\n  agents: 10\n");
    return TACIT_OK;
}

tacit_status cli_data_look(const char *path, const char *folder, tacit_error *err)
{
    tacit_file_facts facts;
    tacit_bytes bytes = {0};
    tacit_status status = tacit_known_inspect(&facts, path, folder, err);
    if (!status)
        status = tacit_bytes_load(&bytes, path, folder, NULL, err);
    if (!status && bytes.len == 0)
        status = tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is empty", path);
    if (!status)
        status = say_section(path, &facts, &bytes, err);
    tacit_bytes_clear(&bytes);
    return status;
}
