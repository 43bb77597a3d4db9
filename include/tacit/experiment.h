/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_H
#define TACIT_EXPERIMENT_H
/*
 * An experiment: a configuration, the world it describes, one run of it and what the run
 * found. The command line and embedding programs use the same few calls.
 */
#include "tacit/config.h"
#include "tacit/data.h"
#include "tacit/graph.h"
#include "tacit/model.h"
#include "tacit/privacy.h"
#include "tacit/runtime.h"

/* Options of the YAML section "run". */
typedef struct tacit_run_options {
    char name[TACIT_TEXT_MAX]; /* of the run folder */
    int64_t seed;
    double time;       /* simulated; an agent ticks once a unit on average */
    double every;      /* between rows of metrics.csv; 0: start and end only */
    double checkpoint; /* between checkpoints; 0: only when interrupted */
    int64_t sample;    /* agents with rows of their own in metrics.csv */
} tacit_run_options;
extern const tacit_section tacit_run_section;

/* The YAML key "protocol.name"; the protocol's own options share the section. */
typedef struct tacit_protocol_choice {
    char name[TACIT_TEXT_MAX];
} tacit_protocol_choice;
extern const tacit_section tacit_protocol_section;

typedef struct tacit_experiment {
    tacit_run_options run;
    tacit_data_options data;
    tacit_graph_options graph;
    tacit_model_options model;
    tacit_privacy_options privacy;
    tacit_network_options network;
    const tacit_protocol *protocol;
    void *protocol_options; /* protocol->options.size bytes */
} tacit_experiment;

/* The protocol's flags with the options it is run with. */
static inline uint32_t tacit_experiment_flags(const tacit_experiment *experiment)
{
    return tacit_protocol_flags(experiment->protocol, experiment->protocol_options);
}

/* The sections of a configuration in the order help shows them, without the options of the
 * protocols (tacit_protocols[]->options). */
extern const tacit_section *const tacit_experiment_sections[];
extern const size_t tacit_experiment_section_count;

/* Read every section from `config`; unknown keys are errors. On failure there is nothing to
 * clear. */
tacit_status tacit_experiment_init(tacit_experiment *experiment, tacit_config *config,
                                   tacit_error *err);
void tacit_experiment_clear(tacit_experiment *experiment);
/* The configuration as run, complete with defaults, as YAML text (caller frees). */
char *tacit_experiment_yaml(const tacit_experiment *experiment);

/* The experiment's data, graph, model and runtime. `experiment` is borrowed and must outlive
 * the session; the result does not depend on `threads`. */
typedef struct tacit_session tacit_session;
tacit_status tacit_session_create(tacit_session **out, const tacit_experiment *experiment,
                                  uint32_t threads, tacit_error *err);
/* Before the run: noise, masks and keys come from the system's randomness and not from run.seed,
 * which anybody can guess. It cannot be repeated, nor go on from a checkpoint. */
tacit_status tacit_session_hide(tacit_session *session, tacit_error *err);
void tacit_session_free(tacit_session *session);
const tacit_graph *tacit_session_graph(const tacit_session *session);
const tacit_dataset *tacit_session_data(const tacit_session *session);
const tacit_model *tacit_session_model(const tacit_session *session);
tacit_runtime *tacit_session_runtime(tacit_session *session);
/* The epsilon of the agent that spent most so far. Infinity when anything came out bare, which
 * the model of an oracle does although no agent released it. */
double tacit_session_epsilon(const tacit_session *session);
/* The delta that goes with it: privacy.delta, for the noise, and the chance that something beside
 * the noise fails (tacit_protocol.more_delta). */
double tacit_session_delta(const tacit_session *session);
/* Is that not below one over the number of what is protected (training records, or agents)? Then
 * even telling somebody's record bare would keep to it now and then. Says how many there are. */
bool tacit_session_delta_is_large(const tacit_session *session, uint64_t *units);
/* The least and the largest budget of an agent; whether they differ. */
bool tacit_session_budgets(const tacit_session *session, double *least, double *most);

/* How many agents have records and neighbours but, by budgets of their own (privacy.budgets), too
 * little to spend for one release: they only listen. Known once the agents have started. */
uint32_t tacit_session_listeners(const tacit_session *session);

/* What of the session's world was made from training records and charged to nobody, in words;
 * returns how many. An epsilon says nothing about those. */
size_t tacit_session_leaks(const tacit_session *session, const char *words[TACIT_LEAKS]);
/* TACIT_LEAK_ bits of a source; under add-remove numbers of records are to be hidden, too. */
unsigned tacit_source_leaks(const tacit_source *source, tacit_adjacency adjacency);

/* Releases charged so far, of all agents' ledgers; gifts to sums are counted with them. */
uint64_t tacit_session_releases(const tacit_session *session);
/* What must be said of a run folder whose epsilon is for what peers would see: it holds models,
 * scores and the seed of the noise. NULL where there was no noise and nothing private. */
const char *tacit_session_keep(const tacit_session *session);

/* What a run looks like at one time. Scores and losses are private metrics that only the
 * simulator may add up; NaN where there is nothing to measure. */
typedef struct tacit_snapshot {
    double time;
    double objective;        /* Q(Theta) with the protocol's mu; NaN for protocols without */
    double train_loss;       /* mean of L_i */
    double validation, test; /* mean score over agents with such records */
    double test_deviation;   /* standard deviation over agents */
} tacit_snapshot;
tacit_status tacit_session_measure(tacit_session *session, tacit_snapshot *out, tacit_error *err);
/* Score of each agent on a split (NaN without records); `scores` holds one an agent. */
void tacit_session_scores(tacit_session *session, tacit_split split, double *scores);

/* The least value of Q over all models, with the protocol's mu and confidence, to 1e-10 of it: what
 * a gap is measured from. Fails for protocols that minimise no Q, and for more than a few million
 * unknowns. */
tacit_status tacit_session_optimum(tacit_session *session, double *objective, tacit_error *err);
/* And the models there: agents x features numbers (NULL: not wanted). */
tacit_status tacit_session_optimum_models(tacit_session *session, double *objective, double *models,
                                          tacit_error *err);
/* Measure and score these models (agents x parameters, copied) from now on instead of those of the
 * run: what real peers learned from the same records. NULL: those of the run again. */
tacit_status tacit_session_adopt(tacit_session *session, const double *models, tacit_error *err);

/* Progress: called often, from the thread that runs; `time` of `total`. */
typedef void tacit_progress(void *ctx, double time, double total);

/* Run to the end, writing `folder` (NULL: write nothing), which must not exist or be empty:
 *
 *     config.yaml   the configuration as run      metrics.csv    time, agent, name, value
 *     summary.json  schema tacit.run/1            ledger.jsonl   one line a ledger entry
 *     models.npy    agents x parameters           checkpoint.bin only while there is more to do
 *     agents.csv    at most 2000, evenly spaced   sizes.csv      scores by number of records
 *     degrees.csv   agents by neighbours          edges.csv      up to 400 agents, 20,000 edges
 *     report.html   a page made of the others
 *
 * What no epsilon covers is for the owner alone (0600): models.npy, metrics.csv, agents.csv and
 * checkpoint.bin.
 * With more than 10,000 agents equal ledger entries share a line ("agents" says how many).
 * A file appears complete or not at all (metrics.csv grows as metrics.csv.partial). When the
 * run fails, so full disk included, what it wrote goes away again, up to its last checkpoint.
 * When *stop becomes non-zero the folder says what was reached, `"complete": false`, and the
 * result is TACIT_EINTERRUPTED. Going on from a checkpoint gives the same bytes as a run that
 * was never interrupted; a checkpoint of another configuration, a cut or an edited one is
 * refused with TACIT_EVERIFY. One run a session. */
typedef struct tacit_run_request {
    const char *folder;
    bool resume; /* go on from folder/checkpoint.bin */
    const tacit_stop *stop;
    tacit_progress *progress;
    void *progress_ctx;
} tacit_run_request;
tacit_status tacit_session_run(tacit_session *session, const tacit_run_request *request,
                               tacit_error *err);
/* summary.json of the run so far, schema tacit.run/1 (caller frees). */
char *tacit_session_summary(tacit_session *session, bool complete);
/* One HTML page about one run or several (at most 12), from their folders (caller frees): the
 * figures, the keys they differ in, and charts; runs that differ in run.seed only are drawn as
 * one mean with its 95 % interval. `title` may be NULL. Equal folders give equal pages. */
tacit_status tacit_report_page(char **html, const char *const *folders, size_t count,
                               const char *title, tacit_error *err);
/* Peeks at folder/config.yaml for --resume. */
tacit_status tacit_folder_config(tacit_config *config, const char *folder, tacit_error *err);

#endif
