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

#include "experiment/ledger_groups.h"
#include "experiment/ledger_write.h"
#include "experiment/run.h"

#define MOST_AGENTS 10000

/* The file while it is written. */
typedef struct book {
    const tacit_session *session;
    tacit_outfile file;
    tacit_lines_writer lines;
    tacit_kinds kinds; /* of entries written one by one */
    tacit_budget budget;
} book;

static tacit_status end_line(book *b, tacit_json *json, tacit_error *err)
{
    tacit_status status = tacit_lines_close(&b->lines, json, err);
    return status ? status : tacit_outfile_flush(&b->file, err);
}

static const tacit_ledger *ledger_of(const book *b, uint32_t agent)
{
    const tacit_runtime *rt = b->session->runtime;
    return rt->ops->agent_ledger(rt, agent);
}

/* Does any entry have a sensitivity that nothing enforced? */
static bool any_claimed(const book *b)
{
    for (uint32_t i = 0; i < b->session->graph.agents; i++) {
        const tacit_ledger *ledger = ledger_of(b, i);
        for (uint32_t k = 0; ledger && k < ledger->count; k++)
            if (ledger->entries[k].cost->claimed && ledger->entries[k].releases > 0)
                return true;
    }
    return false;
}

static tacit_status write_header(book *b, tacit_error *err)
{
    const tacit_experiment *x = b->session->experiment;
    const char *name = tacit_lines_is_text(x->run.name) ? x->run.name : "";
    tacit_key key;
    tacit_run_key(&key, (uint64_t)x->run.seed, name);
    tacit_lines_begin(&b->lines, &b->file.text, &key);
    tacit_json json = tacit_lines_open(&b->lines);
    tacit_json_text(&json, "schema", "tacit.ledger/1");
    tacit_json_text(&json, "run", name);
    tacit_json_count(&json, "seed", (uint64_t)x->run.seed);
    tacit_json_count(&json, "agents", b->session->graph.agents);
    tacit_json_text(&json, "adversary", tacit_trust_name(b->budget.trust));
    tacit_json_text(&json, "unit", tacit_unit_name((tacit_unit)x->privacy.unit));
    tacit_json_text(&json, "adjacency",
                    tacit_adjacency_name((tacit_adjacency)x->privacy.adjacency));
    double least, most;
    tacit_json_real(&json, "epsilon_budget", b->budget.epsilon);
    if (tacit_session_budgets(b->session, &least, &most)) /* then each line says its agent's */
        tacit_json_real(&json, "epsilon_budget_least", least);
    tacit_json_real(&json, "delta", b->budget.delta);
    tacit_json_text(&json, "accountant", tacit_accountant_names[b->budget.accountant]);
    if (any_claimed(b))
        tacit_json_bool(&json, "claimed", true);
    tacit_json_text(&json, "seal", "run");
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
    tacit_json json = tacit_lines_open(&b->lines);
    tacit_json_count(&json, "agent", agent);
    tacit_json_text(&json, "name", tacit_dataset_name(b->session->source.data, agent, number));
    tacit_lines_cost(&json, kind->cost, b->budget.trust);
    if (b->session->epsilon)
        tacit_json_real(&json, "epsilon_budget", b->session->epsilon[agent]);
    write_times(b, &json, kind, e->releases, e->first, e->last);
    return end_line(b, &json, err);
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
    tacit_json json = tacit_lines_open(&b->lines);
    tacit_json_count(&json, "agent", group->agent);
    tacit_json_count(&json, "agents", group->agents);
    tacit_lines_cost(&json, kind->cost, b->budget.trust);
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
        status = tacit_lines_seal(&b.lines, err);
    tacit_kinds_clear(&b.kinds);
    tacit_lines_end(&b.lines);
    if (!status)
        return tacit_outfile_stage(&b.file, err);
    tacit_outfile_drop(&b.file);
    return status;
}
