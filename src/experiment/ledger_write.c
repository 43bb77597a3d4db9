/* SPDX-License-Identifier: Apache-2.0 */
#include "experiment/ledger_write.h"

#include <string.h>

void tacit_lines_begin(tacit_lines_writer *w, tacit_writer *out, const tacit_key *key)
{
    *w = (tacit_lines_writer){.out = out};
    tacit_chain_begin(&w->chain, key, TACIT_SEAL_LINES);
}

void tacit_lines_end(tacit_lines_writer *w)
{
    tacit_writer_clear(&w->line);
    tacit_chain_wipe(&w->chain);
}

tacit_json tacit_lines_open(tacit_lines_writer *w)
{
    w->line.len = 0;
    tacit_json json = {.out = &w->line, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    return json;
}

tacit_status tacit_lines_close(tacit_lines_writer *w, tacit_json *json, tacit_error *err)
{
    static const char open_end[] = "}\n"; /* the mac comes before it */
    char end[TACIT_LINE_END + 1];
    tacit_json_end(json, '}');
    if (w->line.failed)
        return tacit_out_of_memory(err);
    const size_t len = w->line.len - (sizeof open_end - 1);
    tacit_chain_close_line(&w->chain, w->line.text, len, end);
    tacit_write_bytes(w->out, w->line.text, len);
    tacit_write_text(w->out, end);
    tacit_write_text(w->out, "\n");
    return w->out->failed ? tacit_out_of_memory(err) : TACIT_OK;
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
    if (cost->claimed)
        tacit_json_bool(json, "claimed", true);
}

void tacit_lines_cost(tacit_json *json, const tacit_cost *cost, tacit_trust trust)
{
    tacit_json_text(json, "what", cost->what);
    tacit_json_text(json, "mechanism", tacit_mechanism_name(cost->mechanism));
    tacit_json_text(json, "adversary", tacit_trust_name(trust));
    tacit_json_text(json, "unit", tacit_unit_name(cost->unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name(cost->adjacency));
    if (cost->mechanism != TACIT_MECHANISM_NONE)
        write_noise(json, cost);
}

tacit_status tacit_lines_seal(tacit_lines_writer *w, tacit_error *err)
{
    const uint64_t entries = w->chain.links - 1; /* but for the first line */
    tacit_json json = tacit_lines_open(w);
    tacit_json_text(&json, "seal", "end");
    tacit_json_count(&json, "entries", entries);
    return tacit_lines_close(w, &json, err);
}

bool tacit_lines_is_text(const char *text)
{
    size_t left = strlen(text), n;
    for (; left > 0; text += n, left -= n)
        if ((n = tacit_character_length(text, left)) == 0)
            return false;
    return true;
}

/* ---- a peer's ledger ---- */

typedef struct export
{
    tacit_lines_writer lines;
    const tacit_ledger_holder *holder;
}
export;

static tacit_status export_entry(void *context, const tacit_ledger_record *r, tacit_error *err)
{
    export *e = context;
    tacit_json json = tacit_lines_open(&e->lines);
    tacit_json_count(&json, "agent", e->holder->agent);
    tacit_json_text(&json, "name", e->holder->name);
    tacit_json_count(&json, "entry", r->entry);
    tacit_json_count(&json, "release", r->release);
    tacit_lines_cost(&json, r->cost, e->holder->budget.trust);
    tacit_json_count(&json, "releases", 1);
    tacit_json_real(&json, "first", r->reserved);
    tacit_json_real(&json, "last", r->committed);
    tacit_json_count(&json, "bytes", r->bytes);
    if (r->forfeited)
        tacit_json_bool(&json, "forfeited", true);
    return tacit_lines_close(&e->lines, &json, err);
}

static tacit_status export_header(export *e, tacit_error *err)
{
    const tacit_budget *b = &e->holder->budget;
    tacit_json json = tacit_lines_open(&e->lines);
    tacit_json_text(&json, "schema", "tacit.ledger/1");
    tacit_json_count(&json, "agents", 1);
    tacit_json_text(&json, "adversary", tacit_trust_name(b->trust));
    tacit_json_real(&json, "epsilon_budget", b->epsilon);
    tacit_json_real(&json, "delta", b->delta);
    tacit_json_text(&json, "accountant", tacit_accountant_names[b->accountant]);
    tacit_json_text(&json, "seal", "key");
    return tacit_lines_close(&e->lines, &json, err);
}

tacit_status tacit_ledger_export(tacit_ledger_file *file, const tacit_key *key, tacit_writer *out,
                                 tacit_error *err)
{
    export e = {.holder = tacit_ledger_file_holder(file)};
    tacit_lines_begin(&e.lines, out, key);
    tacit_status status = export_header(&e, err);
    if (!status)
        status = tacit_ledger_file_each(file, export_entry, &e, err);
    if (!status)
        status = tacit_lines_seal(&e.lines, err);
    tacit_lines_end(&e.lines);
    return status;
}
