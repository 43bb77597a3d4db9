/* SPDX-License-Identifier: Apache-2.0 */
/* summary.json, schema tacit.run/1: the result of a run without a word about how long the
 * machine took, so that equal runs have equal bytes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "experiment/session.h"
#include "report/writer.h"

static void metrics(tacit_json *json, const tacit_session *s, const tacit_snapshot *now)
{
    const char *score = tacit_model_score_name(s->model);
    char name[80];
    tacit_json_begin(json, "metrics", '{');
    snprintf(name, sizeof name, "test_%s", score);
    tacit_json_real(json, name, now->test);
    snprintf(name, sizeof name, "test_%s_deviation", score);
    tacit_json_real(json, name, now->test_deviation);
    snprintf(name, sizeof name, "validation_%s", score);
    tacit_json_real(json, name, now->validation);
    tacit_json_real(json, "train_loss", now->train_loss);
    tacit_json_real(json, "objective", now->objective);
    tacit_json_end(json, '}');
}

/* Every agent on the same records: how many these are. */
static void scored(tacit_json *json, const tacit_dataset *data)
{
    if (!tacit_dataset_scores_on_all(data))
        return;
    tacit_json_text(json, "scored_on", "all");
    tacit_json_count(json, "test_records",
                     tacit_shard_rows(tacit_dataset_pooled(data, TACIT_TEST)));
    tacit_json_count(json, "validation_records",
                     tacit_shard_rows(tacit_dataset_pooled(data, TACIT_VALIDATION)));
}

/* The epsilon of the agent that spent most; against whom, for what unit. */
static void privacy(tacit_json *json, const tacit_session *s, const tacit_traffic *traffic)
{
    const tacit_privacy_options *options = &s->experiment->privacy;
    const tacit_budget budget = tacit_session_budget(s);
    const double epsilon = tacit_session_epsilon(s);
    char sees[TACIT_SEES];
    tacit_json_begin(json, "privacy", '{');
    tacit_json_text(json, "adversary", tacit_trust_name(budget.trust));
    tacit_json_text(
        json, "adversary_sees",
        tacit_protocol_sees(s->experiment->protocol, s->experiment->protocol_options, sees));
    tacit_json_text(json, "unit", tacit_unit_name((tacit_unit)options->unit));
    tacit_json_text(json, "adjacency", tacit_adjacency_name((tacit_adjacency)options->adjacency));
    tacit_json_text(json, "mechanism", tacit_mechanism_name((tacit_mechanism)options->mechanism));
    tacit_json_real(json, "epsilon", epsilon);
    tacit_json_bool(json, "unbounded", isinf(epsilon));
    tacit_json_real(json, "delta", tacit_session_delta(s));
    if (tacit_session_delta(s) > options->delta)
        tacit_json_real(json, "delta_of_noise", options->delta);
    uint64_t units;
    if (tacit_session_delta_is_large(s, &units))
        tacit_json_text(json, "warning", "delta is not below 1/records");
    double least, most;
    if (tacit_session_budgets(s, &least, &most)) {
        tacit_json_real(json, "epsilon_budget_least", least);
        tacit_json_real(json, "epsilon_budget_most", most);
    }
    if (s->epsilon)
        tacit_json_count(json, "listeners", tacit_session_listeners(s));
    tacit_json_count(json, "releases", tacit_session_releases(s));
    tacit_json_count(json, "refused", traffic->refused);
    const char *leak[TACIT_LEAKS];
    const size_t leaks = tacit_session_leaks(s, leak);
    tacit_json_begin(json, "leaks", '[');
    for (size_t i = 0; i < leaks; i++)
        tacit_json_text(json, NULL, leak[i]);
    tacit_json_end(json, ']');
    const char *keep = tacit_session_keep(s);
    if (keep)
        tacit_json_text(json, "keep", keep);
    tacit_json_end(json, '}');
}

static bool graph(tacit_json *json, const tacit_graph *g)
{
    uint32_t *component = malloc((size_t)g->agents * sizeof *component + 1);
    if (!component)
        return false;
    const uint64_t ends = g->row[g->agents];
    tacit_json_begin(json, "graph", '{');
    tacit_json_count(json, "edges", ends / 2);
    tacit_json_count(json, "components", tacit_graph_components(g, component));
    tacit_json_real(json, "mean_degree", g->agents ? (double)ends / g->agents : NAN);
    tacit_json_end(json, '}');
    free(component);
    return true;
}

char *tacit_summary_text(tacit_session *s, const tacit_snapshot *now, bool complete)
{
    const tacit_traffic traffic = s->runtime->ops->traffic(s->runtime);
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    uint64_t records = 0;
    for (uint32_t i = 0; i < s->graph.agents; i++)
        records += tacit_dataset_rows(s->source.data, i, TACIT_TRAIN);

    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.run/1");
    tacit_json_text(&json, "name", s->experiment->run.name);
    tacit_json_text(&json, "protocol", s->experiment->protocol->name);
    tacit_json_count(&json, "seed", (uint64_t)s->experiment->run.seed);
    tacit_json_bool(&json, "complete", complete);
    tacit_json_real(&json, "time", now->time);
    tacit_json_count(&json, "agents", s->graph.agents);
    tacit_json_count(&json, "features", tacit_dataset_features(s->source.data));
    tacit_json_count(&json, "records", records);
    scored(&json, s->source.data);
    metrics(&json, s, now);
    privacy(&json, s, &traffic);
    tacit_json_count(&json, "messages", traffic.messages);
    tacit_json_count(&json, "bytes", traffic.bytes);
    tacit_json_count(&json, "ticks", traffic.ticks);
    tacit_json_count(&json, "lost", traffic.lost);
    if (!graph(&json, &s->graph))
        out.failed = true;
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

char *tacit_session_summary(tacit_session *session, bool complete)
{
    tacit_snapshot now;
    if (tacit_session_measure(session, &now, NULL))
        return NULL;
    return tacit_summary_text(session, &now, complete);
}
