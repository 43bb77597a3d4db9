/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edge lists as text. Lines are read into edges that remember their line; sorting brings the
 * two directions of an edge together, so that repetitions are merged or refused with both
 * lines named.
 */
#include "tacit/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN_MAX 64
#define LARGEST_GUESS 1000000

/* Bytes a token of `text` shows in a message. */
typedef struct token {
    const char *text;
    size_t len;
} token;

typedef struct line_edge {
    uint32_t low, high;
    bool turned; /* given as "high low" */
    double weight;
    uint64_t line;
} line_edge;

typedef struct reader {
    const char *name;
    uint32_t agents;  /* indices are below */
    uint32_t largest; /* index met so far */
    uint64_t line;
    line_edge *edges;
    size_t count, capacity;
} reader;

static bool is_gap(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == '\r';
}

/* Up to `max` tokens of a line; returns how many there are, max + 1 if more. */
static size_t split(const char *at, const char *end, token *tokens, size_t max)
{
    size_t count = 0;
    for (;;) {
        while (at < end && is_gap(*at))
            at++;
        if (at == end || *at == '#')
            return count;
        const char *from = at;
        while (at < end && !is_gap(*at) && *at != '#')
            at++;
        if (count == max)
            return max + 1;
        tokens[count++] = (token){from, (size_t)(at - from)};
    }
}

/* The token for a message: cut, without control characters. */
static const char *shown(token t, char out[TOKEN_MAX])
{
    size_t len = t.len < TOKEN_MAX - 1 ? t.len : TOKEN_MAX - 1;
    for (size_t k = 0; k < len; k++) {
        unsigned char c = (unsigned char)t.text[k];
        out[k] = c >= 0x20 && c < 0x7f ? t.text[k] : '?';
    }
    out[len] = '\0';
    return out;
}

static tacit_status read_agent(const reader *r, token t, uint32_t *out, tacit_error *err)
{
    char word[TOKEN_MAX];
    uint64_t value = 0;
    bool good = t.len > 0 && t.len <= 10;
    for (size_t k = 0; k < t.len && good; k++) {
        good = t.text[k] >= '0' && t.text[k] <= '9';
        value = 10 * value + (uint64_t)(t.text[k] - '0');
    }
    if (!good || value >= r->agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": agent \"%s\"; expected a number from 0 to %" PRIu32,
                          r->name, r->line, shown(t, word), r->agents - 1);
    *out = (uint32_t)value;
    return TACIT_OK;
}

static tacit_status read_weight(const reader *r, token t, double *out, tacit_error *err)
{
    char word[TOKEN_MAX], *stop = word;
    shown(t, word);
    /* strtod alone would also take blanks, hexadecimal, "inf" and "nan". */
    bool plain = t.len < sizeof word && strspn(word, "+-.0123456789eE") == t.len;
    *out = plain ? strtod(word, &stop) : 0;
    if (stop == word || *stop != '\0' || !(*out > 0) || !isfinite(*out))
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": weight \"%s\"; expected a finite number above 0",
                          r->name, r->line, word);
    return TACIT_OK;
}

static tacit_status add_edge(reader *r, line_edge edge, tacit_error *err)
{
    if (r->count == r->capacity) {
        size_t capacity = r->capacity ? r->capacity : 128, bytes;
        if (!tacit_mul_size(capacity, 2, &capacity) ||
            !tacit_mul_size(capacity, sizeof edge, &bytes))
            return tacit_out_of_memory(err);
        line_edge *grown = realloc(r->edges, bytes);
        if (!grown)
            return tacit_out_of_memory(err);
        r->edges = grown;
        r->capacity = capacity;
    }
    r->edges[r->count++] = edge;
    return TACIT_OK;
}

static tacit_status read_line(reader *r, const char *at, const char *end, tacit_error *err)
{
    token tokens[3];
    tacit_status status;
    uint32_t a, b;
    double weight = 1;
    size_t count = split(at, end, tokens, 3);
    if (count == 0)
        return TACIT_OK;
    if (count == 1 || count > 3)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": %s; expected two agents and perhaps a weight", r->name,
                          r->line, count == 1 ? "only one value" : "more than three values");
    if ((status = read_agent(r, tokens[0], &a, err)) ||
        (status = read_agent(r, tokens[1], &b, err)) ||
        (count == 3 && (status = read_weight(r, tokens[2], &weight, err))))
        return status;
    if (a == b)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": edge \"%" PRIu32 " %" PRIu32
                          "\" is a self-loop; leave it out",
                          r->name, r->line, a, b);
    uint32_t high = a < b ? b : a;
    r->largest = high > r->largest ? high : r->largest;
    return add_edge(
        r,
        (line_edge){
            .low = a < b ? a : b, .high = high, .turned = a > b, .weight = weight, .line = r->line},
        err);
}

static tacit_status read_lines(reader *r, const char *text, size_t len, tacit_error *err)
{
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *line_end = stop ? stop : end;
        r->line++;
        tacit_status status = read_line(r, at, line_end, err);
        if (status)
            return status;
        at = stop ? stop + 1 : end;
    }
    return TACIT_OK;
}

static int by_ends(const void *left, const void *right)
{
    const line_edge *x = left, *y = right;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* May `again` repeat `first`? Once, in the other direction, with the same weight. */
static tacit_status check_repeat(const reader *r, const line_edge *first, const line_edge *again,
                                 tacit_error *err)
{
    uint32_t a = again->turned ? again->high : again->low;
    uint32_t b = again->turned ? again->low : again->high;
    if (first->weight != again->weight)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": asymmetric: edge \"%" PRIu32 " %" PRIu32
                          "\" has weight %.17g but %.17g on line %" PRIu64
                          "; both directions need the same",
                          r->name, again->line, a, b, again->weight, first->weight, first->line);
    if (first->turned == again->turned)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s:%" PRIu64 ": edge \"%" PRIu32 " %" PRIu32
                          "\" was already given on line %" PRIu64,
                          r->name, again->line, a, b, first->line);
    return TACIT_OK;
}

/* Sort and merge; the survivors go to `out`. */
static tacit_status merge(const reader *r, tacit_edge *out, size_t *count, tacit_error *err)
{
    *count = 0;
    if (r->count > 0)
        qsort(r->edges, r->count, sizeof *r->edges, by_ends);
    for (size_t k = 0, first = 0; k < r->count; k++) {
        const line_edge *e = &r->edges[k];
        bool repeats =
            k > first && e->low == r->edges[first].low && e->high == r->edges[first].high;
        if (!repeats) {
            first = k;
            out[(*count)++] = (tacit_edge){e->low, e->high, e->weight};
            continue;
        }
        /* A third mention has the direction of one of the two before it. */
        for (size_t before = first; before < k; before++) {
            tacit_status status = check_repeat(r, &r->edges[before], e, err);
            if (status)
                return status;
        }
    }
    return TACIT_OK;
}

/* How many agents there are if nobody said: a typing error in a small file must not become a
 * graph of billions. */
static tacit_status count_agents(const reader *r, uint32_t *agents, tacit_error *err)
{
    uint64_t most = LARGEST_GUESS + 16 * (uint64_t)r->count;
    if (r->count == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s: no edges; say how many agents there are, or add some", r->name);
    if (r->largest >= most)
        return tacit_fail(err, TACIT_EINPUT,
                          "%s: agent \"%" PRIu32 "\" in a list of %zu edges; say how many agents "
                          "there are if this is no slip",
                          r->name, r->largest, r->count);
    *agents = r->largest + 1;
    return TACIT_OK;
}

tacit_status tacit_graph_read_edges(tacit_graph *graph, uint32_t agents, const char *name,
                                    const char *text, size_t len, tacit_error *err)
{
    reader r = {.name = name, .agents = agents ? agents : UINT32_MAX - 1};
    tacit_edge *edges = NULL;
    size_t count = 0;
    tacit_status status;

    *graph = (tacit_graph){0};
    if ((status = read_lines(&r, text, len, err)))
        goto out;
    if (agents == 0 && (status = count_agents(&r, &agents, err)))
        goto out;
    edges = calloc(r.count ? r.count : 1, sizeof *edges);
    if (!edges) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if ((status = merge(&r, edges, &count, err)))
        goto out;
    status = tacit_graph_from_edges(graph, agents, edges, count, err);
out:
    free(edges);
    free(r.edges);
    return status;
}
