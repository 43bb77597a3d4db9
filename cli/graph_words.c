/* SPDX-License-Identifier: Apache-2.0 */
/* What tacit graph says: words with a histogram, JSON, a picture, an edge list. */
#include "graph.h"
#include "report/network.h"
#include "terminal.h"
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BAR 40
#define BINS 16

/* ---- words ---- */

static void say_figure(const char *label, const cli_figure *figure, double factor)
{
    printf("  %-22s", label);
    if (isnan(figure->value))
        cli_wrap(figure->why, 24, 24);
    else
        printf("%.10g\n", figure->value * factor);
}

static void say_components(const cli_graph_facts *f)
{
    char text[400], count[40];
    size_t used = 0;
    printf("  %-22s", "components");
    if (f->components == 1) {
        printf("1\n");
        return;
    }
    cli_count(f->components, count, sizeof count);
    used += (size_t)snprintf(text, sizeof text, "%s; largest:", count);
    for (uint32_t k = 0; k < f->named && used < sizeof text; k++) {
        cli_count(f->largest[k].agents, count, sizeof count);
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s agent%s from %" PRIu32,
                                 k ? "," : "", count, f->largest[k].agents == 1 ? "" : "s",
                                 f->largest[k].first);
    }
    cli_wrap(text, 24, 24);
}

static void say_histogram(const cli_graph_facts *f)
{
    const tacit_graph *g = f->graph;
    uint64_t count[BINS] = {0}, tallest = 0;
    uint64_t step = (f->most - f->least) / BINS + 1, bins = (f->most - f->least) / step + 1;
    for (uint32_t i = 0; i < g->agents; i++)
        count[(g->row[i + 1] - g->row[i] - f->least) / step]++;
    for (uint64_t k = 0; k < bins; k++)
        tallest = count[k] > tallest ? count[k] : tallest;
    printf("\n  neighbours  agents\n");
    for (uint64_t k = 0; k < bins; k++) {
        char range[50], agents[40];
        uint64_t low = f->least + k * step;
        uint64_t high = low + step - 1 < f->most ? low + step - 1 : f->most;
        if (low == high)
            snprintf(range, sizeof range, "%" PRIu64, low);
        else
            snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, low, high);
        cli_count(count[k], agents, sizeof agents);
        printf("  %10s  %6s%s", range, agents, count[k] ? " " : "");
        cli_bar((double)count[k] / (double)tallest, BAR, true);
        putchar('\n');
    }
}

void cli_graph_words(const cli_graph_facts *f)
{
    char agents[40], edges[40];
    cli_count(f->graph->agents, agents, sizeof agents);
    cli_count(f->graph->entries / 2, edges, sizeof edges);
    printf("%s%s%s: %s agent%s, %s edge%s, seed %" PRId64 "\n", cli_bold(), f->kind, cli_plain(),
           agents, f->graph->agents == 1 ? "" : "s", edges, f->graph->entries == 2 ? "" : "s",
           f->seed);
    printf("  %-22s%" PRIu64 " to %" PRIu64 ", mean %.4g\n", "neighbours", f->least, f->most,
           f->mean);
    say_components(f);
    if (f->isolated > 0) {
        cli_count(f->isolated, agents, sizeof agents);
        printf("  %-22s%s\n", "without neighbours", agents);
    }
    say_figure(f->weighted ? "Fiedler, weighted" : "Fiedler value", &f->fiedler, 1);
    if (f->weighted)
        say_figure("Fiedler, unweighted", &f->unweighted, 1);
    if (!isnan(f->unweighted.value))
        say_figure("  divided by n", &f->unweighted, 1.0 / f->graph->agents);
    say_figure("spectral gap", &f->gap, 1);
    printf("  %-22s%s\n", "  of mixing", f->mixing);
    say_histogram(f);
}

/* ---- JSON ---- */

static void put_figure(tacit_json *json, const char *key, double value)
{
    if (isnan(value))
        tacit_json_null(json, key);
    else
        tacit_json_real(json, key, value);
}

static void put_components(tacit_json *json, const cli_graph_facts *f)
{
    tacit_json_count(json, "components", f->components);
    tacit_json_begin(json, "largest_components", '[');
    for (uint32_t k = 0; k < f->named; k++) {
        tacit_json_begin(json, NULL, '{');
        tacit_json_count(json, "first", f->largest[k].first);
        tacit_json_count(json, "agents", f->largest[k].agents);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
}

/* How many agents have how many neighbours. */
static void put_degrees(tacit_json *json, const cli_graph_facts *f)
{
    const tacit_graph *g = f->graph;
    uint64_t *count = calloc(f->most + 1, sizeof *count); /* most is below the agents */
    if (!count) {
        json->out->failed = true;
        return;
    }
    for (uint32_t i = 0; i < g->agents; i++)
        count[g->row[i + 1] - g->row[i]]++;
    tacit_json_begin(json, "degrees", '[');
    for (uint64_t k = 0; k <= f->most; k++) {
        if (count[k] == 0)
            continue;
        tacit_json_begin(json, NULL, '{');
        tacit_json_count(json, "degree", k);
        tacit_json_count(json, "agents", count[k]);
        tacit_json_end(json, '}');
    }
    tacit_json_end(json, ']');
    free(count);
}

char *cli_graph_json(const cli_graph_facts *f)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.graph/1");
    tacit_json_text(&json, "kind", f->kind);
    tacit_json_count(&json, "seed", (uint64_t)f->seed);
    tacit_json_count(&json, "agents", f->graph->agents);
    tacit_json_count(&json, "edges", f->graph->entries / 2);
    tacit_json_bool(&json, "weighted", f->weighted);
    tacit_json_count(&json, "degree_min", f->least);
    tacit_json_real(&json, "degree_mean", f->mean);
    tacit_json_count(&json, "degree_max", f->most);
    put_degrees(&json, f);
    put_components(&json, f);
    tacit_json_count(&json, "isolated", f->isolated);
    put_figure(&json, "fiedler", f->fiedler.value);
    put_figure(&json, "fiedler_unweighted", f->unweighted.value);
    put_figure(&json, "fiedler_unweighted_over_n", f->unweighted.value / f->graph->agents);
    tacit_json_text(&json, "mixing", f->mixing);
    put_figure(&json, "spectral_gap", f->gap.value);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

/* ---- files ---- */

static bool list_edges(const tacit_graph *g, uint32_t **a, uint32_t **b, double **weight)
{
    size_t edges = g->entries / 2, count = 0;
    *a = calloc(edges + 1, sizeof **a);
    *b = calloc(edges + 1, sizeof **b);
    *weight = calloc(edges + 1, sizeof **weight);
    if (!*a || !*b || !*weight)
        return false;
    for (uint32_t i = 0; i < g->agents; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            if (g->neighbour[e] < i)
                continue;
            (*a)[count] = i;
            (*b)[count] = g->neighbour[e];
            (*weight)[count++] = g->weight[e];
        }
    }
    return true;
}

char *cli_graph_svg(const cli_graph_facts *f)
{
    const tacit_graph *g = f->graph;
    uint32_t *a = NULL, *b = NULL;
    double *weight = NULL;
    char title[120], agents[40], edges[40], *text = NULL;
    cli_count(g->agents, agents, sizeof agents);
    cli_count(g->entries / 2, edges, sizeof edges);
    snprintf(title, sizeof title, "%s, %s agents, %s edges", f->kind, agents, edges);
    if (list_edges(g, &a, &b, &weight)) {
        const tacit_network network = {.title = title,
                                       .agents = g->agents,
                                       .edges = g->entries / 2,
                                       .a = a,
                                       .b = b,
                                       .weight = f->weighted ? weight : NULL};
        tacit_writer out = {0};
        tacit_draw_network(&out, &network, true);
        text = tacit_writer_take(&out);
    }
    free(a);
    free(b);
    free(weight);
    return text;
}

char *cli_graph_edges(const cli_graph_facts *f)
{
    const tacit_graph *g = f->graph;
    tacit_writer out = {0};
    tacit_write_format(
        &out, "# %s graph of %" PRIu32 " agents, %zu edges, seed %" PRId64 "; a b weight\n",
        f->kind, g->agents, g->entries / 2, f->seed);
    for (uint32_t i = 0; i < g->agents; i++) {
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            if (g->neighbour[e] < i)
                continue;
            tacit_write_format(&out, "%" PRIu32 " %" PRIu32 " ", i, g->neighbour[e]);
            tacit_write_real(&out, g->weight[e]);
            tacit_write_text(&out, "\n");
        }
    }
    return tacit_writer_take(&out);
}
