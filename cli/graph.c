/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit graph: make a graph, or take that of an experiment; measure it, draw it, write it down.
 * Nothing is written before everything was made and measured.
 */
#include "graph.h"
#include "base/file.h"
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPECTRUM_AGENTS 200000
#define MOST_AGENTS 100000000.0

typedef struct graph_flags {
    tacit_graph_options graph;
    int64_t agents, seed;
    int mixing;
    bool json, force;
    char svg[TACIT_TEXT_MAX];
    char edges[TACIT_TEXT_MAX];
} graph_flags;

#define AT(member) .offset = offsetof(graph_flags, member)
static const char *const mixings[] = {"metropolis", "uniform", NULL};
/* Those before GRAPH_OPTIONS make a graph, and do not go with an experiment. */
enum { GRAPH_OPTIONS = 7 };
static const tacit_option options[] = {
    {.key = "kind",
     .type = TACIT_OPT_CHOICE,
     .fallback = "k-regular",
     .choices = tacit_graph_kinds,
     .value_name = "KIND",
     .help = "one of k-regular, k-out, ring, grid, complete, star, erdos-renyi, watts-strogatz, "
             "edges; similarity and nearest compare data, so they need an experiment",
     AT(graph.kind)},
    {.key = "agents",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = MOST_AGENTS,
     .letter = 'n',
     .help = "how many; 0 with --kind edges: the largest in the file and one",
     AT(agents)},
    {.key = "k",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 1,
     .max = 1e6,
     .letter = 'k',
     .help = "k-regular, watts-strogatz: degree; k-out: neighbours each agent draws",
     AT(graph.k)},
    {.key = "probability",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1,
     .letter = 'p',
     .help = "erdos-renyi: of an edge; watts-strogatz: that an edge is rewired",
     AT(graph.probability)},
    {.key = "fiedler",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .help = "erdos-renyi: as many edges as give this Fiedler value divided by n; 0: see "
             "--probability",
     AT(graph.fiedler)},
    {.key = "path",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "edges: a text file with \"a b\" or \"a b weight\" a line",
     AT(graph.path)},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 9e15,
     .help = "of what is drawn; the same seed gives the same graph",
     AT(seed)},
    {.key = "mixing",
     .type = TACIT_OPT_CHOICE,
     .fallback = "metropolis",
     .choices = mixings,
     .help = "the mixing matrix whose spectral gap is told",
     AT(mixing)},
    {.key = "svg",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "draw it; above 400 agents a histogram of how many neighbours they have",
     AT(svg)},
    {.key = "edges",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "write the edges, \"a b weight\" a line",
     AT(edges)},
    CLI_FLAG_SWITCH("force", 'f', "replace the files of --svg and --edges", AT(force)),
    CLI_FLAG_SWITCH("json", 'j', "print the figures as JSON (schema tacit.graph/1)", AT(json)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(graph_flags)};

static const cli_example examples[] = {
    {"tacit graph --agents 100 --k 4", "a random graph in which everybody has 4 neighbours"},
    {"tacit graph --kind ring --agents 100 --svg ring.svg", "draw it"},
    {"tacit graph --kind erdos-renyi --agents 10 --fiedler 0.39", "as connected as wanted"},
    {"tacit graph --kind edges --path examples/clinics.edges", "from a file"},
    {"tacit graph examples/separators.yaml --json", "the graph of an experiment, for programs"},
};

/* ---- measuring ---- */

static int by_size(const void *left, const void *right)
{
    const cli_component *x = left, *y = right;
    if (x->agents != y->agents)
        return x->agents > y->agents ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static tacit_status name_components(cli_graph_facts *facts, tacit_error *err)
{
    uint32_t n = facts->graph->agents;
    uint32_t *component = calloc(n, sizeof *component);
    cli_component *all = calloc(n, sizeof *all);
    tacit_status status = component && all ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        facts->components = tacit_graph_components(facts->graph, component);
        for (uint32_t i = 0; i < n; i++) {
            all[component[i]].first = component[i];
            all[component[i]].agents++;
        }
        qsort(all, n, sizeof *all, by_size);
        facts->named =
            facts->components < CLI_GRAPH_NAMED ? facts->components : (uint32_t)CLI_GRAPH_NAMED;
        memcpy(facts->largest, all, facts->named * sizeof *all);
    }
    free(component);
    free(all);
    return status;
}

static void count_neighbours(cli_graph_facts *facts)
{
    const tacit_graph *g = facts->graph;
    facts->least = UINT64_MAX;
    for (uint32_t i = 0; i < g->agents; i++) {
        uint64_t count = g->row[i + 1] - g->row[i];
        facts->least = count < facts->least ? count : facts->least;
        facts->most = count > facts->most ? count : facts->most;
        facts->isolated += count == 0;
    }
    facts->mean = (double)g->entries / g->agents;
    for (size_t e = 0; e < g->entries && !facts->weighted; e++)
        facts->weighted = g->weight[e] != 1;
}

/* Not converged is no error: the figure is told to be missing. */
static tacit_status keep_figure(cli_figure *figure, tacit_status status, const tacit_error *said,
                                tacit_error *err)
{
    if (status == TACIT_OK)
        return TACIT_OK;
    figure->value = NAN;
    snprintf(figure->why, sizeof figure->why, "%.190s", said->text);
    return status == TACIT_NO ? TACIT_OK : tacit_fail(err, status, "%s", said->text);
}

static tacit_status find_spectrum(cli_graph_facts *facts, tacit_mixing_kind mixing,
                                  tacit_error *err)
{
    const tacit_graph *g = facts->graph;
    tacit_error said = {0};
    tacit_status status = tacit_graph_fiedler(g, true, &facts->fiedler.value, &said);
    if ((status = keep_figure(&facts->fiedler, status, &said, err)))
        return status;
    facts->unweighted = facts->fiedler;
    if (facts->weighted) {
        status = tacit_graph_fiedler(g, false, &facts->unweighted.value, &said);
        if ((status = keep_figure(&facts->unweighted, status, &said, err)))
            return status;
    }
    status = tacit_graph_spectral_gap(g, mixing, &facts->gap.value, &said);
    return keep_figure(&facts->gap, status, &said, err);
}

tacit_status cli_graph_measure(cli_graph_facts *facts, const tacit_graph *graph,
                               tacit_mixing_kind mixing, tacit_error *err)
{
    facts->graph = graph;
    facts->mixing = mixings[mixing];
    count_neighbours(facts);
    tacit_status status = name_components(facts, err);
    if (status)
        return status;
    if (graph->agents <= SPECTRUM_AGENTS)
        return find_spectrum(facts, mixing, err);
    facts->fiedler.value = NAN;
    snprintf(facts->fiedler.why, sizeof facts->fiedler.why, "not computed above %d agents",
             SPECTRUM_AGENTS);
    facts->unweighted = facts->gap = facts->fiedler;
    return TACIT_OK;
}

/* ---- making ---- */

/* Flags that make a graph have no business beside an experiment, which says them itself. */
static tacit_status check_flags(const graph_flags *flags, tacit_error *err)
{
    static graph_flags fresh;
    char given[TACIT_TEXT_MAX + 20], usual[TACIT_TEXT_MAX + 20];
    tacit_status status = tacit_options_defaults(&section, &fresh, err);
    for (size_t k = 0; k < GRAPH_OPTIONS && !status; k++) {
        tacit_option_format(&options[k], flags, given, sizeof given);
        tacit_option_format(&options[k], &fresh, usual, sizeof usual);
        const char *where = strcmp(options[k].key, "agents") == 0 ? "data"
                            : strcmp(options[k].key, "seed") == 0 ? "run"
                                                                  : "graph";
        if (strcmp(given, usual) != 0)
            return tacit_fail(err, TACIT_EUSAGE,
                              "\"--%s\" does not go with an experiment; use --set %s.%s=%.60s",
                              options[k].key, where, options[k].key, given);
    }
    return status;
}

static tacit_status check_words(const cli_args *args, const graph_flags *flags, tacit_error *err)
{
    if (args->word_count > 1)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one experiment at a time",
                          args->words[1]);
    if (args->word_count == 1)
        return check_flags(flags, err);
    if (args->repeated_count > 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--set goes with an experiment; without one, use the flags of this verb");
    int kind = flags->graph.kind;
    if (kind == TACIT_GRAPH_SIMILARITY || kind == TACIT_GRAPH_NEAREST)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--kind %s compares the data of agents; give an experiment, as in "
                          "\"tacit graph examples/separators.yaml\"",
                          tacit_graph_kinds[kind]);
    if (flags->agents == 0 && kind != TACIT_GRAPH_EDGES)
        return tacit_fail(err, TACIT_EUSAGE, "how many agents? say so with --agents N");
    return TACIT_OK;
}

static tacit_status graph_of_experiment(tacit_graph *graph, cli_graph_facts *facts,
                                        tacit_experiment *experiment, tacit_session **session,
                                        const cli_args *args, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status =
        cli_load_config(&config, args->words[0], args->repeated, args->repeated_count, err);
    if (!status)
        status = tacit_experiment_init(experiment, &config, err);
    if (!status)
        status = tacit_session_create(session, experiment, 1, err);
    if (!status) {
        *graph = *tacit_session_graph(*session);
        facts->kind = tacit_graph_kinds[experiment->graph.kind];
        facts->seed = experiment->run.seed;
    }
    tacit_config_clear(&config);
    return status;
}

/* ---- files ---- */

static tacit_status show(const cli_graph_facts *facts, const graph_flags *flags, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (*flags->svg)
        status = cli_write_file(flags->svg, cli_graph_svg(facts), flags->force, err);
    if (!status && *flags->edges)
        status = cli_write_file(flags->edges, cli_graph_edges(facts), flags->force, err);
    if (status)
        return status;
    if (!flags->json) {
        cli_graph_words(facts);
        return TACIT_OK;
    }
    return cli_print_text(cli_graph_json(facts), err);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const graph_flags *flags = args->flags;
    cli_graph_facts facts = {.kind = tacit_graph_kinds[flags->graph.kind], .seed = flags->seed};
    tacit_graph graph = {0};
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_status status = check_words(args, flags, err);
    if (status)
        return status;
    if (args->word_count == 1)
        status = graph_of_experiment(&graph, &facts, &experiment, &session, args, err);
    else
        status = tacit_graph_make(&graph, &flags->graph, (uint32_t)flags->agents, NULL,
                                  (uint64_t)flags->seed, err);
    if (!status)
        status = cli_graph_measure(&facts, &graph, (tacit_mixing_kind)flags->mixing, err);
    if (!status)
        status = show(&facts, flags, err);
    if (args->word_count == 1) {
        tacit_session_free(session); /* the graph was its own */
        tacit_experiment_clear(&experiment);
    } else {
        tacit_graph_clear(&graph);
    }
    return status;
}

const cli_verb cli_graph = {
    .name = "graph",
    .argument = "[EXPERIMENT.yaml]",
    .summary = "make, measure and draw who talks to whom",
    .prose = "Makes a graph from its flags, or takes that of an experiment, and tells its figures: "
             "neighbours, components, the Fiedler value (second eigenvalue of the Laplacian; "
             "divided by n, so that a complete graph has 1) and the spectral gap of its mixing "
             "matrix. --svg draws it, --edges writes it down. Graphs in several pieces are "
             "allowed: the pieces are named, and their Fiedler value and gap are 0.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
