/* SPDX-License-Identifier: Apache-2.0 */
/* The world an experiment describes: data, graph, model, runtime, in that order. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/files.h"
#include "experiment/session.h"
#include "model/linear.h"

unsigned tacit_source_leaks(const tacit_source *source, tacit_adjacency adjacency)
{
    return adjacency == TACIT_REPLACE
               ? source->leaks
               : (source->leaks & ~(unsigned)TACIT_LEAK_COUNT) | source->leaks_number;
}

/* Of records that were drawn the labels are those of the task. */
static unsigned leaks_of(const tacit_experiment *x, const tacit_source *source)
{
    unsigned leaks = tacit_source_leaks(source, (tacit_adjacency)x->privacy.adjacency);
    if (x->model.loss == TACIT_SOFTMAX && x->model.classes == 0 &&
        !tacit_source_is_drawn(x->data.source))
        leaks |= TACIT_LEAK_CLASSES;
    if (x->privacy.claimed && x->privacy.mechanism != TACIT_MECHANISM_NONE)
        leaks |= TACIT_LEAK_CLAIM;
    return leaks;
}

static tacit_status make_graph(tacit_session *s, tacit_error *err)
{
    const tacit_graph_options *options = &s->experiment->graph;
    const bool compares =
        options->kind == TACIT_GRAPH_SIMILARITY || options->kind == TACIT_GRAPH_NEAREST;
    tacit_targets made = {0}, *targets = &s->source.targets;
    tacit_status status = TACIT_OK;
    s->leaks = leaks_of(s->experiment, &s->source);
    if (compares && options->compare != TACIT_COMPARE_TARGETS) {
        status = tacit_compare_agents(&made, s, (tacit_compare)options->compare, err);
        targets = &made;
    }
    if (compares && (targets == &made || s->source.targets_leak))
        s->leaks |= TACIT_LEAK_GRAPH;
    if (!status)
        status = tacit_graph_make(&s->graph, options, tacit_dataset_agents(s->source.data), targets,
                                  (uint64_t)s->experiment->run.seed, err);
    tacit_targets_clear(&made);
    /* A million agents' targets are not needed once the graph stands. */
    tacit_targets_clear(&s->source.targets);
    return status;
}

static tacit_status make_zero(tacit_session *s, tacit_error *err)
{
    const tacit_shape *shape = tacit_model_shape(s->model);
    size_t size;
    if (!tacit_add_size(sizeof(tacit_vector), shape->bytes, &size))
        return tacit_out_of_memory(err);
    s->zero = calloc(1, size);
    if (!s->zero)
        return tacit_out_of_memory(err);
    tacit_vector_init(s->zero, shape, TACIT_VECTOR_SECRET | TACIT_VECTOR_FROZEN);
    return TACIT_OK;
}

tacit_status tacit_session_create(tacit_session **out, const tacit_experiment *experiment,
                                  uint32_t threads, tacit_error *err)
{
    tacit_status status;
    *out = NULL;
    tacit_session *s = calloc(1, sizeof *s);
    if (!s)
        return tacit_out_of_memory(err);
    s->experiment = experiment;
    const uint64_t seed = (uint64_t)experiment->run.seed;
    const tacit_scalar scalar = tacit_model_options_scalar(&experiment->model);

    if (threads > 1 && !(s->threads = tacit_threads_create(threads))) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if ((status = tacit_data_load(&s->source, &experiment->data, scalar, seed, err)) ||
        (status = tacit_model_create_for(&s->model, &experiment->model, s->source.data, err)) ||
        (status = tacit_model_check(s->model, s->source.data, err)) ||
        (status = make_graph(s, err)) || (status = make_zero(s, err)))
        goto out;
    if (experiment->privacy.budgets[0] &&
        (status = tacit_budgets_load(&s->epsilon, experiment->privacy.budgets, s->source.data,
                                     experiment->privacy.epsilon, err)))
        goto out;
    s->world = (tacit_world){.graph = &s->graph,
                             .data = s->source.data,
                             .model = s->model,
                             .protocol = experiment->protocol,
                             .protocol_options = experiment->protocol_options,
                             .network = experiment->network,
                             .privacy = experiment->privacy,
                             .seed = seed,
                             .threads = threads ? threads : 1,
                             .epsilon = s->epsilon,
                             .until = experiment->run.time};
    status = tacit_simulator.create(&s->runtime, &s->world, err);
out:
    if (status)
        tacit_session_free(s);
    else
        *out = s;
    return status;
}

static tacit_status begin_anew(tacit_session *s, tacit_error *err)
{
    s->runtime->ops->destroy(s->runtime);
    s->runtime = NULL;
    return tacit_simulator.create(&s->runtime, &s->world, err);
}

tacit_status tacit_session_renoise(tacit_session *s, uint64_t noise_seed, tacit_error *err)
{
    s->world.noise_seed = noise_seed;
    return begin_anew(s, err);
}

tacit_status tacit_session_hide(tacit_session *s, tacit_error *err)
{
    s->world.secret = true;
    return begin_anew(s, err);
}

void tacit_session_free(tacit_session *s)
{
    if (!s)
        return;
    if (s->runtime)
        s->runtime->ops->destroy(s->runtime);
    if (s->threads)
        tacit_threads_free(s->threads);
    free(s->zero);
    free(s->given);
    free(s->epsilon);
    if (s->model)
        tacit_model_free(s->model);
    tacit_graph_clear(&s->graph);
    tacit_source_clear(&s->source);
    free(s);
}

const tacit_graph *tacit_session_graph(const tacit_session *session)
{
    return &session->graph;
}

const tacit_dataset *tacit_session_data(const tacit_session *session)
{
    return session->source.data;
}

const tacit_model *tacit_session_model(const tacit_session *session)
{
    return session->model;
}

tacit_runtime *tacit_session_runtime(tacit_session *session)
{
    return session->runtime;
}

size_t tacit_leak_words(unsigned leaks, const char *words[TACIT_LEAKS])
{
    static const struct {
        unsigned bit;
        const char *words;
    } all[TACIT_LEAKS] = {
        {TACIT_LEAK_FEATURES, "features computed from training records"},
        {TACIT_LEAK_OFFSET, "offsets of labels computed from training records"},
        {TACIT_LEAK_SCALE, "scales of features computed from training records"},
        {TACIT_LEAK_GRAPH, "the graph computed from training records"},
        {TACIT_LEAK_CLAIM, "records that nothing clips, so that epsilon is a claim " TACIT_UNSOUND},
        {TACIT_LEAK_WIDTH, "the number of features, the largest index of any record (declare it by "
                           "\"data.width\")"},
        {TACIT_LEAK_CLASSES, "the number of classes, by the largest label of any record (declare "
                             "it by \"model.classes\")"},
        {TACIT_LEAK_COUNT, "numbers of records, as those with missing values are left out (keep "
                           "them by \"data.keep-count\")"},
        {TACIT_LEAK_AGENTS, "which agents there are, as those who have records"},
        {TACIT_LEAK_SPLIT, "which records are for training, drawn by how many there are (not so "
                           "without \"data.test-fraction\" and \"data.validation-fraction\")"},
    };
    size_t count = 0;
    for (size_t i = 0; i < TACIT_LEAKS; i++)
        if (leaks & all[i].bit)
            words[count++] = all[i].words;
    return count;
}

size_t tacit_session_leaks(const tacit_session *session, const char *words[TACIT_LEAKS])
{
    return tacit_leak_words(session->leaks, words);
}

bool tacit_session_budgets(const tacit_session *session, double *least, double *most)
{
    const uint32_t agents = session->epsilon ? session->graph.agents : 0;
    *least = *most = agents ? session->epsilon[0] : session->experiment->privacy.epsilon;
    for (uint32_t k = 1; k < agents; k++) {
        *least = fmin(*least, session->epsilon[k]);
        *most = fmax(*most, session->epsilon[k]);
    }
    return *least < *most;
}

double tacit_session_delta(const tacit_session *session)
{
    const tacit_runtime *rt = session->runtime;
    return session->experiment->privacy.delta +
           tacit_protocol_more_delta(session->experiment->protocol, rt->ops->shared(rt));
}

bool tacit_session_delta_is_large(const tacit_session *session, uint64_t *units)
{
    const tacit_privacy_options *p = &session->experiment->privacy;
    *units = p->unit == TACIT_UNIT_USER
                 ? session->graph.agents
                 : tacit_shard_rows(tacit_dataset_pooled(session->source.data, TACIT_TRAIN));
    return p->mechanism != TACIT_MECHANISM_NONE && p->delta * (double)*units >= 1;
}

tacit_budget tacit_session_budget(const tacit_session *session)
{
    double least, most;
    tacit_session_budgets(session, &least, &most);
    return (tacit_budget){.epsilon = most,
                          .delta = session->experiment->privacy.delta,
                          .trust = tacit_protocol_trust(session->experiment->protocol,
                                                        session->experiment->protocol_options),
                          .accountant = (tacit_accountant)session->experiment->privacy.accountant};
}

uint64_t tacit_session_releases(const tacit_session *session)
{
    const tacit_runtime *rt = session->runtime;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < session->graph.agents; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        sum += ledger ? tacit_ledger_releases(ledger) : 0;
    }
    return sum;
}

/* Who released nothing and has less to spend than everybody who did: costs are the same for all who
 * are refused, so somebody with more was silent for another reason. */
uint32_t tacit_session_listeners(const tacit_session *session)
{
    const tacit_runtime *rt = session->runtime;
    if (!session->epsilon || rt->ops->traffic(rt).refused == 0)
        return 0;
    double enough = INFINITY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < session->graph.agents; i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        if (ledger && tacit_ledger_releases(ledger) > 0)
            enough = fmin(enough, session->epsilon[i]);
    }
    for (uint32_t i = 0; i < session->graph.agents; i++)
        count += session->epsilon[i] < enough &&
                 session->graph.row[i + 1] > session->graph.row[i] &&
                 tacit_dataset_rows(session->source.data, i, TACIT_TRAIN) > 0;
    return count;
}

/* Do agents end with a model that is made of raw records and never sent (protocol.finish)? */
static bool finishes_privately(const tacit_experiment *x)
{
    for (size_t k = 0; k < x->protocol->options.count; k++) {
        const tacit_option *option = &x->protocol->options.options[k];
        if (option->type != TACIT_OPT_CHOICE || strcmp(option->key, "finish") != 0)
            continue;
        int choice;
        memcpy(&choice, (const char *)x->protocol_options + option->offset, sizeof choice);
        return strcmp(option->choices[choice], "private") == 0;
    }
    return false;
}

tacit_secrecy tacit_experiment_secrecy(const tacit_experiment *x)
{
    return x->privacy.mechanism != TACIT_MECHANISM_NONE ? TACIT_KEEP_NOISE
           : finishes_privately(x)                      ? TACIT_KEEP_FINISH
                                                        : TACIT_KEEP_NOTHING;
}

const char *tacit_session_keep(const tacit_session *session)
{
    static const char *const words[] = {
        [TACIT_KEEP_FINISH] = TACIT_PEERS_SEE "this folder holds models made of raw records, and "
                                              "their scores: keep it to yourself",
        [TACIT_KEEP_NOISE] = TACIT_PEERS_SEE "this folder holds models, scores and the seed of the "
                                             "noise: keep it to yourself",
    };
    return words[tacit_experiment_secrecy(session->experiment)];
}
