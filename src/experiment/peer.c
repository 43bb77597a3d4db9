/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.yaml and all it leads to, as a plan for a node: the agreement, the list of members, who of
 * them this is (its key says), its records, its model, its agents and their neighbours.
 *
 * Of the graph and the budgets only what concerns hosted agents is kept, unless the protocol must
 * know the whole graph (TACIT_WHOLE).
 */
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "experiment/consortium.h"
#include "experiment/session.h"
#include "net/bits.h"
#include "net/keys.h"

struct tacit_peer {
    tacit_node_options options;
    tacit_agreement agreement;
    tacit_roster roster;
    tacit_identity identity;
    tacit_data_options data;
    tacit_source source;
    tacit_model *model;
    tacit_node_agent *hosted;
    char (*names)[TACIT_NAME_MAX]; /* of hosted agents */
    tacit_graph graph;             /* TACIT_WHOLE: of all agents */
    uint32_t *neighbour;           /* of all hosted agents */
    double *weight;
    tacit_node_plan plan;
};

/* ---- node.yaml ---- */

/* What all agree on cannot be one peer's own setting. */
static tacit_status check_keys(const tacit_config *config, tacit_error *err)
{
    static const char *const shared[] = {"run.",     "model.",      "protocol.", "privacy.",
                                         "network.", "consortium.", "graph."};
    for (size_t i = 0; i < config->count; i++)
        for (size_t k = 0; k < sizeof shared / sizeof *shared; k++) {
            const tacit_setting *s = &config->settings[i];
            if (strncmp(s->key, shared[k], strlen(shared[k])) != 0)
                continue;
            char place[260];
            tacit_place(config->source, s->key_line, s->key_column, place, sizeof place);
            return tacit_fail(err, TACIT_EINPUT,
                              "%s: \"%.100s\" is no setting of one peer; what all agree on stands "
                              "in the file that \"node.consortium\" names",
                              place, s->key);
        }
    return TACIT_OK;
}

static tacit_status place_own(tacit_peer *p, const tacit_config *config, const char *path,
                              tacit_error *err)
{
    tacit_node_options *o = &p->options;
    const struct {
        const char *key;
        char *path;
    } own[] = {
        {"node.consortium", o->consortium}, {"node.key", o->key}, {"node.folder", o->folder}};
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < sizeof own / sizeof *own && !status; k++) {
        if (!own[k].path[0])
            status =
                tacit_fail(err, TACIT_EINPUT, "%.300s: \"%s\" is empty; name it", path, own[k].key);
        else if (!tacit_config_was_set(config, own[k].key))
            status = tacit_path_beside(own[k].path, path, own[k].key, err);
    }
    if (!status && o->lifetime[0] && strcmp(o->lifetime, "off") != 0 &&
        !tacit_config_was_set(config, "node.lifetime"))
        status = tacit_path_beside(o->lifetime, path, "node.lifetime", err);
    if (!status && o->records[0] && !tacit_config_was_set(config, "node.records"))
        status = tacit_path_beside(o->records, path, "node.records", err);
    return status ? status : tacit_data_paths_beside(&p->data, config, path, err);
}

static tacit_status read_settings(tacit_peer *p, tacit_config *config, const char *path,
                                  const char *const *sets, size_t set_count, tacit_error *err)
{
    static const tacit_section *const known[] = {&tacit_node_section, &tacit_data_section};
    tacit_status status = tacit_config_read(config, path, err);
    for (size_t k = 0; k < set_count && !status; k++)
        status = tacit_config_set(config, sets[k], err);
    if (!status)
        status = check_keys(config, err);
    if (!status)
        status = tacit_config_apply(config, &tacit_node_section, &p->options, err);
    if (!status)
        status = tacit_config_apply(config, &tacit_data_section, &p->data, err);
    if (!status)
        status = tacit_config_unused(config, known, 2, err);
    if (!status && !tacit_config_get(config, "data.source"))
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: \"data.source\" is missing; say where this peer's records "
                            "come from, as in \"data: {source: csv, path: records.csv}\"",
                            path);
    return status ? status : place_own(p, config, path, err);
}

/* ---- who it is ---- */

static tacit_status find_self(const tacit_peer *p, uint32_t *self, tacit_error *err)
{
    const tacit_roster *roster = &p->roster;
    const char *name = p->options.name, *list = p->agreement.consortium.members;
    char key[TACIT_IDENTITY_TEXT];
    for (uint32_t k = 0; k < roster->count; k++) {
        const bool has_key = memcmp(roster->members[k].key, p->identity.public_key,
                                    sizeof p->identity.public_key) == 0;
        if (has_key && (!name[0] || strcmp(roster->members[k].name, name) == 0)) {
            *self = k;
            return TACIT_OK;
        }
        if (has_key)
            return tacit_fail(err, TACIT_EINPUT,
                              "\"%.200s\" is the key of \"%s\" in %.200s, but \"node.name\" is "
                              "\"%.63s\"; correct one of them",
                              p->options.key, roster->members[k].name, list, name);
    }
    tacit_identity_format(key, p->identity.public_key);
    return tacit_fail(err, TACIT_EINPUT,
                      "the key %s of \"%.150s\" is not in %.150s; add the line "
                      "\"%.63s,KEY,tcp://HOST:PORT,AGENTS\" with it, for all members",
                      key, p->options.key, list, name[0] ? name : "NAME");
}

static tacit_status read_consortium(tacit_peer *p, tacit_error *err)
{
    tacit_node_options *o = &p->options;
    tacit_status status = tacit_agreement_read(&p->agreement, o->consortium, err);
    if (!status)
        status = tacit_roster_read(&p->roster, p->agreement.consortium.members, err);
    if (!status)
        status = tacit_identity_read(&p->identity, o->key, err);
    if (!status)
        status = find_self(p, &p->plan.self, err);
    if (status)
        return status;
    const tacit_node_member *self = &p->roster.members[p->plan.self];
    if (!o->listen[0] && !self->endpoint[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" has no endpoint in %.300s; say in \"node.listen\" where it "
                          "listens, as in \"tcp://0.0.0.0:7400\"",
                          self->name, p->agreement.consortium.members);
    snprintf(o->name, sizeof o->name, "%s", self->name);
    return TACIT_OK;
}

/* ---- records ---- */

static tacit_status load_records(tacit_peer *p, const tacit_config *config, tacit_error *err)
{
    const tacit_experiment *x = &p->agreement.experiment;
    const tacit_node_member *self = &p->roster.members[p->plan.self];
    if (!tacit_config_get(config, "data.agents"))
        p->data.agents = self->count;
    tacit_status status = tacit_data_load(
        &p->source, &p->data, tacit_model_options_scalar(&x->model), (uint64_t)x->run.seed, err);
    if (status)
        return status;
    if (tacit_dataset_agents(p->source.data) != self->count)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" hosts %" PRIu32 " agent%s by %.200s, but its records are of "
                          "%" PRIu32 "; change one of them (\"data.partition: iid\" deals all "
                          "records to those it hosts)",
                          self->name, self->count, self->count == 1 ? "" : "s",
                          p->agreement.consortium.members, tacit_dataset_agents(p->source.data));
    status = tacit_model_create(&p->model, &x->model, tacit_dataset_features(p->source.data), err);
    return status ? status : tacit_model_check(p->model, p->source.data, err);
}

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* The agent of this node that records call `name`, if that is a number in the consortium. */
static bool hosted_as(const tacit_node_member *self, const char *name, uint32_t *index)
{
    if (strlen(name) > 9 || (name[0] == '0' && name[1]))
        return false;
    const uint32_t number = (uint32_t)strtoul(name, NULL, 10);
    const uint32_t *at = bsearch(&number, self->agents, self->count, sizeof number, by_number);
    if (at)
        *index = (uint32_t)(at - self->agents);
    return at != NULL;
}

static bool is_number(const char *text)
{
    return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* Which records are whose. Where a table says by numbers, order must not matter: its agents come
 * in the order of its lines. */
static tacit_status match_records(tacit_peer *p, tacit_error *err)
{
    const tacit_node_member *self = &p->roster.members[p->plan.self];
    const bool own =
        !tacit_source_is_drawn(p->data.source) && p->data.partition == TACIT_PARTITION_OWN;
    uint32_t numbered = 0;
    for (uint32_t k = 0; k < self->count; k++) {
        char number[TACIT_NUMBER_MAX];
        const char *name = tacit_dataset_name(p->source.data, k, number);
        uint32_t at = k;
        if (own && is_number(name) && !hosted_as(self, name, &at))
            return tacit_fail(err, TACIT_EINPUT,
                              "there are records of agent \"%.100s\", whom \"%s\" does not host; "
                              "call agents by the numbers they have in %.200s, or by words",
                              name, self->name, p->agreement.consortium.members);
        numbered += own && is_number(name);
        p->hosted[at].shard = k;
        if (own && !is_number(name))
            snprintf(p->names[at], sizeof p->names[at], "%s", name);
        else
            snprintf(p->names[at], sizeof p->names[at], "%" PRIu32, self->agents[at]);
    }
    if (numbered > 0 && numbered < self->count)
        return tacit_fail(err, TACIT_EINPUT,
                          "some agents of the records are called by numbers and some by words; "
                          "use the numbers they have in %.300s for all, or words for all",
                          p->agreement.consortium.members);
    return TACIT_OK;
}

/* ---- agents ---- */

static tacit_status check_edges(const tacit_peer *p, const tacit_graph *graph, tacit_error *err)
{
    for (uint32_t i = 0; i < graph->agents; i++)
        if (p->roster.host[i] == TACIT_ROSTER_MEMBERS && graph->row[i + 1] > graph->row[i])
            return tacit_fail(err, TACIT_EINPUT,
                              "%.200s has edges of agent %" PRIu32 ", whom nobody hosts by %.200s",
                              p->agreement.consortium.edges, i, p->agreement.consortium.members);
    return TACIT_OK;
}

/* The rows of hosted agents, copied. */
static tacit_status keep_neighbours(tacit_peer *p, const tacit_graph *graph, tacit_error *err)
{
    const tacit_node_member *self = &p->roster.members[p->plan.self];
    size_t count = 0;
    for (uint32_t k = 0; k < self->count; k++)
        count += (size_t)(graph->row[self->agents[k] + 1] - graph->row[self->agents[k]]);
    p->neighbour = calloc(count + 1, sizeof *p->neighbour);
    p->weight = calloc(count + 1, sizeof *p->weight);
    if (!p->neighbour || !p->weight)
        return tacit_out_of_memory(err);
    count = 0;
    for (uint32_t k = 0; k < self->count; k++) {
        tacit_node_agent *agent = &p->hosted[k];
        const uint64_t first = graph->row[self->agents[k]];
        agent->neighbours = (uint32_t)(graph->row[self->agents[k] + 1] - first);
        agent->neighbour = p->neighbour + count;
        agent->weight = p->weight + count;
        for (uint32_t j = 0; j < agent->neighbours; j++, count++) {
            p->neighbour[count] = graph->neighbour[first + j];
            p->weight[count] = graph->weight[first + j];
        }
    }
    return TACIT_OK;
}

static tacit_status read_edges(tacit_peer *p, tacit_error *err)
{
    tacit_graph_options options = {.kind = TACIT_GRAPH_EDGES};
    tacit_graph graph = {0};
    snprintf(options.path, sizeof options.path, "%s", p->agreement.consortium.edges);
    tacit_status status = tacit_graph_make(&graph, &options, p->roster.agents, NULL, 0, err);
    if (!status)
        status = check_edges(p, &graph, err);
    if (!status)
        status = keep_neighbours(p, &graph, err);
    if (!status && tacit_experiment_flags(&p->agreement.experiment) & TACIT_WHOLE) {
        p->graph = graph;
        return TACIT_OK;
    }
    tacit_graph_clear(&graph);
    return status;
}

static tacit_status read_budgets(tacit_peer *p, tacit_error *err)
{
    const tacit_privacy_options *privacy = &p->agreement.experiment.privacy;
    double *epsilon = NULL;
    tacit_status status = TACIT_OK;
    if (privacy->budgets[0])
        status = tacit_budgets_by_number(&epsilon, privacy->budgets, p->roster.agents,
                                         privacy->epsilon, err);
    for (uint32_t k = 0; k < p->plan.hosted_count && !status; k++)
        p->hosted[k].epsilon = epsilon ? epsilon[p->hosted[k].agent] : privacy->epsilon;
    free(epsilon);
    return status;
}

static tacit_status make_agents(tacit_peer *p, tacit_error *err)
{
    const tacit_node_member *self = &p->roster.members[p->plan.self];
    p->plan.hosted_count = self->count;
    p->hosted = calloc(self->count, sizeof *p->hosted);
    p->names = calloc(self->count, sizeof *p->names);
    if (!p->hosted || !p->names)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < self->count; k++) {
        p->hosted[k].agent = self->agents[k];
        p->hosted[k].name = p->names[k];
    }
    tacit_status status = match_records(p, err);
    if (!status)
        status = read_edges(p, err);
    return status ? status : read_budgets(p, err);
}

/* ---- the plan ---- */

static void hash_u64(crypto_generichash_state *h, uint64_t value)
{
    uint8_t bytes[8];
    tacit_put_u64(bytes, value);
    crypto_generichash_update(h, bytes, sizeof bytes);
}

/* Who computes with the whole graph must have the same as all others. Files may differ in order and
 * comments; what was read of them may not. */
static void hash_graph(crypto_generichash_state *h, const tacit_graph *g)
{
    hash_u64(h, g->agents);
    for (uint32_t i = 0; i < g->agents; i++) {
        hash_u64(h, g->row[i + 1] - g->row[i]);
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            uint64_t weight;
            memcpy(&weight, &g->weight[e], sizeof weight);
            hash_u64(h, g->neighbour[e]);
            hash_u64(h, weight);
        }
    }
}

/* Records of another width would be another model: members who have such are in another run, and
 * are told so at the first frame. */
static void name_run(uint8_t run[TACIT_NODE_RUN], const tacit_peer *p)
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, p->agreement.run, sizeof p->agreement.run, TACIT_NODE_RUN);
    hash_u64(&h, tacit_dataset_features(p->source.data));
    if (p->plan.graph)
        hash_graph(&h, p->plan.graph);
    crypto_generichash_final(&h, run, TACIT_NODE_RUN);
}

static void fill_plan(tacit_peer *p)
{
    const tacit_experiment *x = &p->agreement.experiment;
    tacit_node_plan *plan = &p->plan;
    plan->options = &p->options;
    plan->consortium = &p->agreement.consortium;
    plan->identity = &p->identity;
    plan->members = p->roster.members;
    plan->member_count = p->roster.count;
    plan->agents = p->roster.agents;
    plan->graph = p->graph.agents > 0 ? &p->graph : NULL;
    plan->hosted = p->hosted;
    plan->data = p->source.data;
    plan->model = p->model;
    plan->protocol = x->protocol;
    plan->protocol_options = x->protocol_options;
    plan->privacy = x->privacy;
    plan->until = x->run.time;
    name_run(plan->run, p);
}

tacit_status tacit_peer_open(tacit_peer **out, const char *path, const char *const *sets,
                             size_t set_count, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    *out = NULL;
    tacit_peer *p = calloc(1, sizeof *p);
    tacit_status status = p ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = read_settings(p, &config, path, sets, set_count, err);
    if (!status)
        status = read_consortium(p, err);
    if (!status)
        status = load_records(p, &config, err);
    if (!status)
        status = make_agents(p, err);
    tacit_config_clear(&config);
    if (status) {
        tacit_peer_close(p);
        return status;
    }
    fill_plan(p);
    *out = p;
    return TACIT_OK;
}

void tacit_peer_close(tacit_peer *p)
{
    if (!p)
        return;
    tacit_agreement_clear(&p->agreement);
    tacit_roster_clear(&p->roster);
    tacit_identity_wipe(&p->identity);
    if (p->model)
        tacit_model_free(p->model);
    tacit_source_clear(&p->source);
    tacit_graph_clear(&p->graph);
    free(p->hosted);
    free(p->names);
    free(p->neighbour);
    free(p->weight);
    free(p);
}

const tacit_node_plan *tacit_peer_plan(const tacit_peer *peer)
{
    return &peer->plan;
}

const tacit_agreement *tacit_peer_agreement(const tacit_peer *peer)
{
    return &peer->agreement;
}

uint64_t tacit_peer_records(const tacit_peer *peer)
{
    return tacit_shard_rows(tacit_dataset_pooled(peer->source.data, TACIT_TRAIN));
}

const tacit_data_options *tacit_peer_data(const tacit_peer *peer)
{
    return &peer->data;
}

size_t tacit_peer_leaks(const tacit_peer *peer, const char *words[TACIT_LEAKS])
{
    const tacit_privacy_options *privacy = &peer->agreement.experiment.privacy;
    const unsigned leaks = tacit_source_leaks(&peer->source, (tacit_adjacency)privacy->adjacency);
    return tacit_leak_words(leaks & ~(unsigned)TACIT_LEAK_AGENTS,
                            words); /* the members' list says who */
}
