/* SPDX-License-Identifier: Apache-2.0 */
/*
 * privacy.budgets: what each agent may spend, as text: lines "agent,epsilon", with or without the
 * header of that name. An agent is called by its name or its number; names go first, where an
 * agent is named like another one's number. Who is not listed has privacy.epsilon.
 *
 * A slip in such a file is somebody's privacy, so nothing is guessed: whatever is not a listed
 * agent with one positive number is refused, with its line.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/text.h"
#include "data/names.h"
#include "experiment/session.h"

#define MOST_BYTES (64 << 20)
#define MOST_DIFFERENT 4096
#define SHOWN 80

typedef struct reader {
    const char *path;
    uint64_t line;
    const tacit_dataset *data; /* NULL: agents have numbers only */
    uint32_t agents;
    tacit_names names; /* numbered like agents */
    double *epsilon;   /* NAN: not met yet */
    uint64_t *met;     /* the line, for messages */
    tacit_error *err;
} reader;

typedef struct piece {
    const char *text;
    size_t len;
} piece;

static piece trimmed(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    return (piece){from, (size_t)(end - from)};
}

static piece unquoted(piece p)
{
    if (p.len >= 2 && p.text[0] == '"' && p.text[p.len - 1] == '"')
        return (piece){p.text + 1, p.len - 2};
    return p;
}

static tacit_status refuse(const reader *r, const char *what, piece p, const char *expected)
{
    char shown[SHOWN];
    tacit_show(p.text, p.len, shown, sizeof shown);
    return tacit_fail(r->err, TACIT_EINPUT, "%.300s:%" PRIu64 ": %s \"%s\"; %s", r->path, r->line,
                      what, shown, expected);
}

/* ---- one line ---- */

static tacit_status read_agent(const reader *r, piece p, uint32_t *agent)
{
    const uint32_t named = tacit_names_find(&r->names, p.text, p.len);
    uint64_t number = 0;
    *agent = named;
    if (named != UINT32_MAX)
        return TACIT_OK;
    bool digits = p.len > 0 && p.len <= 10;
    for (size_t k = 0; k < p.len && digits; k++) {
        digits = p.text[k] >= '0' && p.text[k] <= '9';
        number = number * 10 + (uint64_t)(p.text[k] - '0');
    }
    if (!digits || number >= r->agents)
        return refuse(r, "unknown agent", p, "expected the name or the number of one, from 0");
    *agent = (uint32_t)number;
    return TACIT_OK;
}

static tacit_status read_epsilon(const reader *r, piece p, double *epsilon)
{
    char word[40] = {0}, *stop = word;
    /* strtod alone would also take blanks, hexadecimal, "inf" and "nan". */
    bool plain = p.len > 0 && p.len < sizeof word;
    for (size_t k = 0; k < p.len && plain; k++)
        plain = p.text[k] != '\0' && strchr("+-.0123456789eE", p.text[k]);
    if (plain) {
        memcpy(word, p.text, p.len);
        *epsilon = strtod(word, &stop);
    }
    if (!plain || stop == word || *stop != '\0' || !(*epsilon > 0) || !isfinite(*epsilon))
        return refuse(r, "epsilon", p,
                      "expected a finite number above 0; agents without a line have "
                      "\"privacy.epsilon\"");
    return TACIT_OK;
}

static bool is_word(piece p, const char *word)
{
    return p.len == strlen(word) && memcmp(p.text, word, p.len) == 0;
}

static tacit_status read_line(reader *r, const char *from, const char *end, bool *first)
{
    const piece all = trimmed(from, end);
    if (all.len == 0)
        return TACIT_OK;
    const char *comma = NULL;
    for (const char *c = all.text; c < all.text + all.len; c++)
        comma = *c == ',' ? c : comma; /* the last one: names may have some */
    if (!comma)
        return refuse(r, "line", all, "expected \"agent,epsilon\"");
    const piece agent = unquoted(trimmed(all.text, comma));
    const piece value = trimmed(comma + 1, all.text + all.len);
    const bool header = *first && is_word(agent, "agent") && is_word(value, "epsilon");
    *first = false;
    if (header)
        return TACIT_OK;
    uint32_t who;
    double epsilon = 0;
    tacit_status status = read_agent(r, agent, &who);
    if (status == TACIT_OK)
        status = read_epsilon(r, value, &epsilon);
    if (status != TACIT_OK)
        return status;
    if (!isnan(r->epsilon[who])) {
        char shown[SHOWN];
        tacit_show(agent.text, agent.len, shown, sizeof shown);
        return tacit_fail(r->err, TACIT_EINPUT,
                          "%.300s:%" PRIu64 ": agent \"%s\" has a budget on line %" PRIu64
                          " already; keep one",
                          r->path, r->line, shown, r->met[who]);
    }
    r->epsilon[who] = epsilon;
    r->met[who] = r->line;
    return TACIT_OK;
}

/* ---- the file ---- */

static tacit_status list_names(reader *r)
{
    char number[TACIT_NUMBER_MAX];
    const uint32_t agents = r->data ? r->agents : 0;
    bool any = false;
    for (uint32_t k = 0; k < agents && !any; k++)
        any = tacit_dataset_name(r->data, k, number) != number;
    for (uint32_t k = 0; k < agents && any; k++) {
        const char *name = tacit_dataset_name(r->data, k, number);
        uint32_t at;
        bool added;
        tacit_status status =
            tacit_names_intern(&r->names, name, strlen(name), &at, &added, r->err);
        if (status != TACIT_OK)
            return status;
        if (at != k)
            return tacit_fail(r->err, TACIT_EINPUT,
                              "agents %" PRIu32 " and %" PRIu32
                              " are both named \"%.80s\"; \"privacy.budgets\" cannot tell them "
                              "apart",
                              at, k, name);
    }
    return TACIT_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static tacit_status count_different(const reader *r, const double *epsilon, uint32_t agents)
{
    double *sorted = malloc(agents * sizeof *sorted);
    if (!sorted)
        return tacit_out_of_memory(r->err);
    memcpy(sorted, epsilon, agents * sizeof *sorted);
    qsort(sorted, agents, sizeof *sorted, by_size);
    uint32_t different = 1;
    for (uint32_t k = 1; k < agents; k++)
        different += sorted[k] > sorted[k - 1];
    free(sorted);
    if (different <= MOST_DIFFERENT)
        return TACIT_OK;
    return tacit_fail(r->err, TACIT_EINPUT,
                      "%.300s: %" PRIu32 " different budgets; at most %d are planned for, so round "
                      "them",
                      r->path, different, MOST_DIFFERENT);
}

static tacit_status read_text(reader *r, const char *text, size_t len)
{
    const char *end = text + len;
    bool first = true;
    if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        text += 3;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        r->line++;
        tacit_status status = read_line(r, at, stop ? stop : end, &first);
        if (status != TACIT_OK)
            return status;
        at = stop ? stop + 1 : end;
    }
    return TACIT_OK;
}

static tacit_status parse(double *epsilon, const tacit_dataset *data, uint32_t agents,
                          double others, const char *path, const char *text, size_t len,
                          tacit_error *err)
{
    reader r = {.path = path, .data = data, .agents = agents, .epsilon = epsilon, .err = err};
    r.met = calloc(agents ? agents : 1, sizeof *r.met);
    for (uint32_t k = 0; k < agents; k++)
        epsilon[k] = NAN;
    tacit_status status = r.met ? list_names(&r) : tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = read_text(&r, text, len);
    bool any = false;
    for (uint32_t k = 0; k < agents; k++) {
        any = any || !isnan(epsilon[k]);
        if (isnan(epsilon[k]))
            epsilon[k] = others;
    }
    if (status == TACIT_OK && !any) /* cut off, or another file */
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: no budget in it; expected lines \"agent,epsilon\"", path);
    if (status == TACIT_OK && agents > 0)
        status = count_different(&r, epsilon, agents);
    tacit_names_clear(&r.names);
    free(r.met);
    return status;
}

tacit_status tacit_budgets_parse(double *epsilon, const tacit_dataset *data, double others,
                                 const char *path, const char *text, size_t len, tacit_error *err)
{
    return parse(epsilon, data, tacit_dataset_agents(data), others, path, text, len, err);
}

static tacit_status load(double **out, const char *path, const tacit_dataset *data, uint32_t agents,
                         double others, tacit_error *err)
{
    char *text = NULL;
    size_t len = 0, bytes;
    *out = NULL;
    tacit_status status = tacit_file_read(&text, &len, path, MOST_BYTES, err);
    if (status != TACIT_OK)
        return status;
    if (!tacit_mul_size(agents, sizeof **out, &bytes) || !(*out = malloc(bytes ? bytes : 1)))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK)
        status = parse(*out, data, agents, others, path, text, len, err);
    if (status != TACIT_OK) {
        free(*out);
        *out = NULL;
    }
    free(text);
    return status;
}

tacit_status tacit_budgets_load(double **out, const char *path, const tacit_dataset *data,
                                double others, tacit_error *err)
{
    return load(out, path, data, tacit_dataset_agents(data), others, err);
}

tacit_status tacit_budgets_by_number(double **out, const char *path, uint32_t agents, double others,
                                     tacit_error *err)
{
    return load(out, path, NULL, agents, others, err);
}
