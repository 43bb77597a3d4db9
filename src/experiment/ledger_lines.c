/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one line of a ledger says. A member that nobody knows is refused: a mistyped "sampling"
 * that is read over would change an epsilon in silence. So are lines that cannot be added up:
 * those of other units, adjacencies or adversaries than the lines before.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "experiment/ledger_lines.h"
#include "privacy/costs.h"

static tacit_status wrong(const tacit_line_place *place, const char *key, const char *expected)
{
    return tacit_fail(place->err, TACIT_EINPUT, "\"%.200s\", line %zu: \"%.60s\" %s", place->shown,
                      place->line, key, expected);
}

/* ---- members ---- */

typedef struct members {
    const tacit_line_place *place;
    const tacit_json_tree *tree;
    tacit_status status; /* of the first that was wrong */
} members;

static const tacit_json_value *member(const members *m, const char *key)
{
    const tacit_json_value *v = tacit_json_member(m->tree, &m->tree->values[0], key);
    return v && v->kind == TACIT_JSON_NULL ? NULL : v; /* null says nothing */
}

static void refuse(members *m, const char *key, const char *expected)
{
    if (!m->status)
        m->status = wrong(m->place, key, expected);
}

static uint64_t count_of(members *m, const char *key, uint64_t least, uint64_t most,
                         uint64_t fallback)
{
    const tacit_json_value *v = member(m, key);
    if (!v)
        return fallback;
    const uint64_t never = least > 0 ? 0 : UINT64_MAX; /* out of range whatever was written */
    const uint64_t n = tacit_json_to_count(v, never);
    if (n < least || n > most) {
        char words[100];
        snprintf(words, sizeof words, "is not a whole number from %llu to %llu",
                 (unsigned long long)least, (unsigned long long)most);
        refuse(m, key, words);
        return fallback;
    }
    return n;
}

/* A number above zero, or not below it. */
static double real_of(members *m, const char *key, bool zero_too, double fallback)
{
    const tacit_json_value *v = member(m, key);
    if (!v)
        return fallback;
    const double x = tacit_json_to_real(v, NAN);
    if (!(zero_too ? x >= 0 : x > 0)) {
        refuse(m, key, zero_too ? "is not a number from zero up" : "is not a number above zero");
        return fallback;
    }
    return x;
}

static double time_of(members *m, const char *key)
{
    const tacit_json_value *v = member(m, key);
    if (v && v->kind != TACIT_JSON_NUMBER)
        refuse(m, key, "is not a number");
    return tacit_json_to_real(v, NAN);
}

/* The index of a word among names (`count` of them); `fallback` if there is no such member. */
static int word_of(members *m, const char *key, const char *const *names, int count, int fallback)
{
    const tacit_json_value *v = member(m, key);
    if (!v)
        return fallback;
    const char *word = tacit_json_to_text(v, "");
    for (int i = 0; i < count; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    char words[200] = "is not one of";
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(words);
        snprintf(words + used, sizeof words - used, "%s \"%s\"", i ? "," : "", names[i]);
    }
    refuse(m, key, words);
    return fallback;
}

static const char *text_of(members *m, const char *key, size_t most, const char *fallback)
{
    const tacit_json_value *v = member(m, key);
    const char *text = tacit_json_to_text(v, v ? "" : fallback);
    if (v && (!*text || strlen(text) > most)) {
        refuse(m, key, "is not a text, is empty or is too long");
        return fallback;
    }
    return text;
}

/* ---- what all lines share ---- */

static const char *trust_name(int i)
{
    return tacit_trust_name((tacit_trust)i);
}

static void take_adversary(members *m, tacit_ledger_lines *out)
{
    const char *names[TACIT_TRUST_SILENT + 1];
    for (int i = 0; i <= TACIT_TRUST_SILENT; i++)
        names[i] = trust_name(i);
    const int which = word_of(m, "adversary", names, TACIT_TRUST_SILENT + 1, -1);
    if (which < 0)
        return;
    if (*out->adversary && strcmp(out->adversary, names[which]) != 0)
        refuse(m, "adversary", "is another than before; a ledger is counted against one adversary");
    snprintf(out->adversary, sizeof out->adversary, "%s", names[which]);
}

static void take_same(members *m, const char *key, char *known, size_t size, const char *name)
{
    if (*known && strcmp(known, name) != 0)
        refuse(m, key,
               "is another than before; such releases do not add up, so keep a ledger each");
    snprintf(known, size, "%s", name);
}

static void take_kind(members *m, tacit_ledger_lines *out, tacit_cost *cost)
{
    const char *const units[] = {tacit_unit_name(TACIT_UNIT_RECORD),
                                 tacit_unit_name(TACIT_UNIT_USER)};
    const char *const adjacencies[] = {tacit_adjacency_name(TACIT_REPLACE),
                                       tacit_adjacency_name(TACIT_ADD_REMOVE)};
    cost->unit = (tacit_unit)word_of(m, "unit", units, 2, TACIT_UNIT_RECORD);
    cost->adjacency = (tacit_adjacency)word_of(m, "adjacency", adjacencies, 2, TACIT_REPLACE);
    take_same(m, "unit", out->unit, sizeof out->unit, units[cost->unit]);
    take_same(m, "adjacency", out->adjacency, sizeof out->adjacency, adjacencies[cost->adjacency]);
}

/* ---- a cost ---- */

static void need(members *m, const char *key)
{
    if (!member(m, key))
        refuse(m, key, "is missing");
}

/* Grid integers: the sensitivity must be a whole number of steps. */
static void take_grid(members *m, tacit_ledger_line *line, tacit_cost *cost)
{
    const tacit_json_value *v = member(m, "grid");
    line->continuous = !v;
    if (!v)
        return;
    const double grid = tacit_json_to_real(v, NAN);
    if (!(grid >= -1074 && grid <= 1023 && grid == floor(grid))) {
        refuse(m, "grid", "is not a whole number from -1074 to 1023, the power of two of the step");
        return;
    }
    cost->grid = (int)grid;
    const double steps = ldexp(cost->sensitivity, -cost->grid);
    if (!(steps <= 0x1p53 && steps == floor(steps)))
        refuse(m, "sensitivity", "is not a whole number of steps of the grid");
}

static void take_noise(members *m, tacit_ledger_line *line, tacit_cost *cost)
{
    static const char *const norms[] = {"l1", "l2"};
    const int natural = cost->mechanism == TACIT_MECHANISM_GAUSSIAN ? TACIT_L2 : TACIT_L1;
    cost->norm = (tacit_norm)word_of(m, "norm", norms, 2, natural);
    if ((int)cost->norm != natural)
        refuse(m, "norm",
               natural == TACIT_L2 ? "is not the \"l2\" of this mechanism"
                                   : "is not the \"l1\" of this mechanism");
    cost->sensitivity = real_of(m, "sensitivity", true, 0);
    cost->noise = real_of(m, "noise", false, 1);
    cost->coordinates = count_of(m, "coordinates", 1, UINT64_MAX - 1, 1);
    cost->sampling = real_of(m, "sampling", false, 1);
    if (cost->sampling > 1)
        refuse(m, "sampling", "is a probability, and above 1");
    need(m, "noise");
    if (cost->mechanism == TACIT_MECHANISM_RESPONSE) {
        need(m, "categories");
        cost->categories = (uint32_t)count_of(m, "categories", 2, UINT32_MAX, 2);
        return;
    }
    need(m, "sensitivity");
    take_grid(m, line, cost);
}

static void take_cost(members *m, tacit_ledger_lines *out, tacit_ledger_line *line,
                      tacit_cost *cost)
{
    const char *names[TACIT_MECHANISMS];
    for (int i = 0; i < TACIT_MECHANISMS; i++)
        names[i] = tacit_mechanism_name((tacit_mechanism)i);
    need(m, "mechanism");
    cost->mechanism = (tacit_mechanism)word_of(m, "mechanism", names, TACIT_MECHANISMS, 0);
    cost->what = text_of(m, "what", 200, "release");
    take_kind(m, out, cost);
    cost->claimed = member(m, "claimed") != NULL;
    out->claimed = out->claimed || cost->claimed;
    if (cost->mechanism != TACIT_MECHANISM_NONE)
        take_noise(m, line, cost);
}

/* ---- lines ---- */

static void check_known(members *m, bool sealed)
{
    static const char *const known[] = {
        "agent",      "agents",      "name",          "what",  "mechanism",    "adversary",
        "unit",       "adjacency",   "norm",          "grid",  "sensitivity",  "noise",
        "sampling",   "coordinates", "releases",      "first", "last",         "epsilon",
        "categories", "unbounded",   "release",       "entry", "epsilon_each", "bytes",
        "forfeited",  "claimed",     "epsilon_budget"};
    const tacit_json_value *v = tacit_json_first(m->tree, &m->tree->values[0]);
    for (; v; v = tacit_json_next(m->tree, v)) {
        bool found = sealed && strcmp(v->key, "mac") == 0;
        for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
            found = strcmp(v->key, known[i]) == 0;
        if (!found)
            refuse(m, v->key, "is no member of a ledger's line; strike or correct it");
    }
}

tacit_status tacit_line_entry(tacit_ledger_lines *out, const tacit_line_place *place,
                              const tacit_json_tree *tree)
{
    members m = {.place = place, .tree = tree};
    tacit_cost cost = {.coordinates = 1, .sampling = 1};
    tacit_ledger_line line = {0};
    check_known(&m, out->seal != TACIT_SEAL_NONE);
    take_cost(&m, out, &line, &cost);
    take_adversary(&m, out);
    line.agent = count_of(&m, "agent", 0, UINT64_MAX - 1, 0);
    line.agents = count_of(&m, "agents", 1, UINT64_MAX - 1, 1);
    line.releases = count_of(&m, "releases", 1, UINT64_MAX - 1, 1);
    line.first = time_of(&m, "first");
    line.last = time_of(&m, "last");
    if (m.status)
        return m.status;
    line.cost = tacit_costs_keep(out->costs, &cost);
    tacit_ledger_line *all =
        tacit_array_grow(out->line, &out->capacity, out->count + 1, sizeof *all);
    if (all)
        out->line = all;
    if (!line.cost || !all)
        return tacit_out_of_memory(place->err);
    all[out->count++] = line;
    return TACIT_OK;
}

tacit_status tacit_line_header(tacit_ledger_lines *out, const tacit_line_place *place,
                               const tacit_json_tree *tree)
{
    members m = {.place = place, .tree = tree};
    tacit_cost any;
    out->has_header = true;
    out->agents = count_of(&m, "agents", 0, UINT64_MAX - 1, 1);
    out->claimed = member(&m, "claimed") != NULL;
    take_adversary(&m, out);
    if (member(&m, "unit") && member(&m, "adjacency")) /* a peer's entries may say it alone */
        take_kind(&m, out, &any);
    out->epsilon = real_of(&m, "epsilon_budget", true, INFINITY);
    out->delta = real_of(&m, "delta", true, NAN);
    return m.status;
}
