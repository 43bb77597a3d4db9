/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger.jsonl: a first line for all, one line an entry, agent by agent, and a seal at the end.
 * Beyond MOST_AGENTS that file would outgrow everything else, so agents that released the same
 * share their lines, which say how many they are, who is the first, and the earliest and latest
 * times among them. What each agent spent can still be read off exactly; when, only for all.
 *
 * Every line continues a chain of MACs (privacy/seal.h). The key is made of the run's seed and
 * name, which the first line says: equal runs have equal bytes, and accidents and careless edits
 * show, but whoever wants to can seal another text. A simulated run has no secret to do better.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/ledger_groups.h"
#include "experiment/run.h"
#include "privacy/seal.h"

#define MOST_AGENTS 10000

/* The file while it is written. */
typedef struct book {
    const tacit_session *session;
    tacit_outfile file;
    tacit_chain chain;
    tacit_writer line; /* one, before it is sealed */
    tacit_kinds kinds; /* of entries written one by one */
    tacit_budget budget;
} book;

/* ---- lines ---- */

static tacit_json begin_line(book *b)
{
    b->line.len = 0;
    tacit_json json = {.out = &b->line, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    return json;
}

static tacit_status end_line(book *b, tacit_json *json, tacit_error *err)
{
    static const char open_end[] = "}\n"; /* the mac comes before it */
    char end[TACIT_LINE_END + 1];
    tacit_json_end(json, '}');
    if (b->line.failed)
        return tacit_out_of_memory(err);
    const size_t len = b->line.len - (sizeof open_end - 1);
    tacit_chain_close_line(&b->chain, b->line.text, len, end);
    tacit_write_bytes(&b->file.text, b->line.text, len);
    tacit_write_text(&b->file.text, end);
    tacit_write_text(&b->file.text, "\n");
    return tacit_outfile_flush(&b->file, err);
}

/* JSON cannot hold broken UTF-8, and the reader must be able to make the same key. */
static bool is_text(const char *text)
{
    size_t left = strlen(text), n;
    for (; left > 0; text += n, left -= n)
        if ((n = tacit_character_length(text, left)) == 0)
            return false;
    return true;
}

static tacit_status write_header(book *b, tacit_error *err)
{
    const tacit_experiment *x = b->session->experiment;
    const char *name = is_text(x->run.name) ? x->run.name : "";
    tacit_key key;
    tacit_run_key(&key, (uint64_t)x->run.seed, name);
    tacit_chain_begin(&b->chain, &key, TACIT_SEAL_LINES);
    tacit_json json = begin_line(b);
    tacit_json_text(&json, "schema", "tacit.ledger/1");
    tacit_json_text(&json, "run", name);
    tacit_json_count(&json, "seed", (uint64_t)x->run.seed);
    tacit_json_count(&json, "agents", b->session->graph.agents);
    tacit_json_text(&json, "adversary", tacit_trust_name(b->budget.trust));
    tacit_json_text(&json, "unit", tacit_unit_name((tacit_unit)x->privacy.unit));
    tacit_json_text(&json, "adjacency",
                    tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency));
    tacit_json_real(&json, "epsilon_budget", b->budget.epsilon);
    tacit_json_real(&json, "delta", b->budget.delta);
    tacit_json_text(&json, "accountant", tacit_accountant_names[b->budget.accountant]);
    tacit_json_text(&json, "seal", "run");
    return end_line(b, &json, err);
}

static tacit_status write_end(book *b, tacit_error *err)
{
    const uint64_t entries = b->chain.links - 1;
    tacit_json json = begin_line(b);
    tacit_json_text(&json, "seal", "end");
    tacit_json_count(&json, "entries", entries);
    return end_line(b, &json, err);
}

/* ---- entries ---- */

/* Epsilon of one release by itself, asked once a kind: an accountant takes its time. */
static double epsilon_each(const book *b, tacit_kind *kind)
{
    if (isnan(kind->each)) {
        tacit_ledger_entry entry = {.cost = kind->cost, .releases = 1};
        const tacit_ledger one = {.entries = &entry, .count = 1, .capacity = 1};
        kind->each = tacit_ledger_epsilon(&one, &b->budget);
    }
    return kind->each;
}

static void write_noise(tacit_json *json, const tacit_cost *cost)
{
    const bool response = cost->mechanism == TACIT_MECHANISM_RESPONSE;
    if (!response) {
        tacit_json_text(json, "norm", cost->norm == TACIT_L1 ? "l1" : "l2");
        tacit_json_real(json, "sensitivity", cost->sensitivity);
    }
    tacit_json_real(json, "noise", cost->noise);
    if (response) {
        tacit_json_count(json, "categories", cost->categories);
        return;
    }
    tacit_json_real(json, "grid", cost->grid);
    tacit_json_count(json, "coordinates", cost->coordinates ? cost->coordinates : 1);
    if (cost->sampling > 0 && cost->sampling < 1)
        tacit_json_real(json, "sampling", cost->sampling);
}

static void write_cost(book *b, tacit_json *json, tacit_kind *kind)
{
    const tacit_cost *cost = kind->cost;
    tacit_json_text(json, "what", cost->what);
    tacit_json_text(json, "mechanism", tacit_mechanism_name(cost->mechanism));
    tacit_json_text(json, "adversary", tacit_trust_name(b->budget.trust));
    tacit_json_text(json, "unit", tacit_unit_name(cost->unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name(cost->adjacency));
    if (cost->mechanism != TACIT_MECHANISM_NONE)
        write_noise(json, cost);
}

static void write_times(book *b, tacit_json *json, tacit_kind *kind, uint64_t releases,
                        double first, double last)
{
    const double each = epsilon_each(b, kind);
    tacit_json_count(json, "releases", releases);
    tacit_json_real(json, "first", first);
    tacit_json_real(json, "last", last);
    tacit_json_real(json, "epsilon_each", each);
    tacit_json_bool(json, "unbounded", isinf(each));
}

static tacit_status write_entry(book *b, uint32_t agent, const tacit_ledger_entry *e,
                                tacit_error *err)
{
    char number[TACIT_NUMBER_MAX];
    const uint32_t which = tacit_kinds_find(&b->kinds, e->cost);
    if (which == UINT32_MAX)
        return tacit_out_of_memory(err);
    tacit_kind *kind = &b->kinds.all[which];
    tacit_json json = begin_line(b);
    tacit_json_count(&json, "agent", agent);
    tacit_json_text(&json, "name", tacit_dataset_name(b->session->source.data, agent, number));
    write_cost(b, &json, kind);
    write_times(b, &json, kind, e->releases, e->first, e->last);
    return end_line(b, &json, err);
}

static const tacit_ledger *ledger_of(const book *b, uint32_t agent)
{
    const tacit_runtime *rt = b->session->runtime;
    return rt->ops->agent_ledger(rt, agent);
}

static tacit_status write_each(book *b, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < b->session->graph.agents && !status; i++) {
        const tacit_ledger *ledger = ledger_of(b, i);
        for (uint32_t k = 0; ledger && k < ledger->count && !status; k++)
            if (ledger->entries[k].releases > 0) /* not all handed back */
                status = write_entry(b, i, &ledger->entries[k], err);
    }
    return status;
}

static tacit_status write_part(book *b, tacit_groups *g, const tacit_group *group,
                               const tacit_group_part *part, tacit_error *err)
{
    tacit_kind *kind = &g->kinds.all[part->kind];
    tacit_json json = begin_line(b);
    tacit_json_count(&json, "agent", group->agent);
    tacit_json_count(&json, "agents", group->agents);
    write_cost(b, &json, kind);
    write_times(b, &json, kind, part->releases, part->first, part->last);
    return end_line(b, &json, err);
}

static tacit_status write_groups(book *b, tacit_error *err)
{
    tacit_groups g = {0};
    tacit_status status = TACIT_OK;
    for (uint32_t i = 0; i < b->session->graph.agents && !status; i++) {
        const tacit_ledger *ledger = ledger_of(b, i);
        if (ledger && !tacit_groups_add(&g, i, ledger))
            status = tacit_out_of_memory(err);
    }
    for (size_t k = 0; k < g.count && !status; k++)
        for (size_t p = 0; p < g.all[k].count && !status; p++)
            status = write_part(b, &g, &g.all[k], &g.part[g.all[k].at + p], err);
    tacit_groups_clear(&g);
    return status;
}

tacit_status tacit_run_stage_ledgers(tacit_run *r, tacit_error *err)
{
    book b = {.session = r->session, .budget = tacit_session_budget(r->session)};
    tacit_status status = tacit_outfile_open(&b.file, &r->folder, "ledger.jsonl", err);
    if (status)
        return status;
    status = write_header(&b, err);
    if (!status)
        status =
            b.session->graph.agents > MOST_AGENTS ? write_groups(&b, err) : write_each(&b, err);
    if (!status)
        status = write_end(&b, err);
    tacit_writer_clear(&b.line);
    tacit_kinds_clear(&b.kinds);
    tacit_chain_wipe(&b.chain);
    if (!status)
        return tacit_outfile_stage(&b.file, err);
    tacit_outfile_drop(&b.file);
    return status;
}
