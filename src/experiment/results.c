/* SPDX-License-Identifier: Apache-2.0 */
/* What a run leaves in its folder, apart from metrics.csv. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/run.h"

tacit_status tacit_run_stage_text(tacit_run *r, const char *name, char *text, tacit_error *err)
{
    if (!text)
        return tacit_out_of_memory(err);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, name, err);
    if (!status) {
        tacit_write_text(&file.text, text);
        status = tacit_outfile_stage(&file, err);
    }
    free(text);
    return status;
}

tacit_status tacit_run_stage_models(tacit_run *r, tacit_error *err)
{
    const tacit_session *s = r->session;
    const tacit_shape *shape = tacit_model_shape(s->model);
    const tacit_scalar scalar = shape->segment[0].scalar;
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, "models.npy", err);
    if (status)
        return status;
    uint64_t columns = 0;
    for (uint32_t k = 0; k < shape->segments; k++)
        columns += shape->segment[k].count;
    tacit_npy_header(&file.text, scalar, s->graph.agents, columns);
    for (uint32_t i = 0; i < s->graph.agents && !status; i++) {
        const tacit_secret *model = s->runtime->ops->agent_model(s->runtime, i);
        tacit_vector *v = model ? tacit_vector_of_secret(model) : s->zero;
        for (uint32_t k = 0; k < shape->segments; k++)
            tacit_write_bytes(&file.text, tacit_vector_segment(v, k),
                              shape->segment[k].count * tacit_scalar_size(scalar));
        status = tacit_outfile_flush(&file, err);
    }
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}

static void ledger_line(tacit_writer *out, uint32_t agent, const char *name,
                        tacit_ledger_entry *entry, const tacit_budget *budget)
{
    const tacit_ledger alone = {.entries = entry, .count = 1, .capacity = 1};
    const double epsilon = tacit_ledger_epsilon(&alone, budget);
    const bool noisy = entry->cost.mechanism != TACIT_MECHANISM_NONE;
    tacit_json json = {.out = out, .compact = true};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_count(&json, "agent", agent);
    tacit_json_text(&json, "name", name);
    tacit_json_text(&json, "what", entry->cost.what);
    tacit_json_text(&json, "mechanism", tacit_mechanism_name(entry->cost.mechanism));
    tacit_json_text(&json, "adversary", tacit_trust_name(budget->trust));
    tacit_json_text(&json, "unit", tacit_unit_name(entry->cost.unit));
    tacit_json_text(&json, "adjacency", tacit_adjacency_name(entry->cost.adjacency));
    tacit_json_real(&json, "sensitivity", noisy ? entry->cost.sensitivity : NAN);
    tacit_json_real(&json, "noise", noisy ? entry->cost.noise : NAN);
    tacit_json_count(&json, "releases", entry->releases);
    tacit_json_real(&json, "first", entry->first);
    tacit_json_real(&json, "last", entry->last);
    tacit_json_real(&json, "epsilon", epsilon);
    tacit_json_bool(&json, "unbounded", isinf(epsilon));
    tacit_json_end(&json, '}');
}

tacit_status tacit_run_stage_ledgers(tacit_run *r, tacit_error *err)
{
    const tacit_session *s = r->session;
    const tacit_budget budget = tacit_session_budget(s);
    tacit_outfile file;
    tacit_status status = tacit_outfile_open(&file, &r->folder, "ledger.jsonl", err);
    if (status)
        return status;
    for (uint32_t i = 0; i < s->graph.agents && !status; i++) {
        const tacit_ledger *ledger = s->runtime->ops->agent_ledger(s->runtime, i);
        char number[TACIT_NUMBER_MAX];
        for (uint32_t k = 0; ledger && k < ledger->count; k++)
            ledger_line(&file.text, i, tacit_dataset_name(s->source.data, i, number),
                        &ledger->entries[k], &budget);
        status = tacit_outfile_flush(&file, err);
    }
    if (!status)
        return tacit_outfile_stage(&file, err);
    tacit_outfile_drop(&file);
    return status;
}

tacit_status tacit_run_publish(tacit_run *r, const char *const *names, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (; *names && !status; names++) {
        status = tacit_outfile_publish(&r->folder, *names, err);
        if (!status && !strcmp(*names, TACIT_CHECKPOINT))
            r->folder.has_checkpoint = true;
    }
    return status ? status : tacit_folder_sync(&r->folder, err);
}
