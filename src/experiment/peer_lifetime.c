/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer's run in the lifetime ledger of its records.
 *
 * A node is one reservation, however many agents it hosts. Each record is one agent's, and what
 * other agents say depends on it only through what that agent has released; so what a record
 * loses is what its own agent spends, and the worst of the agents covers all of them. Reserved is
 * the run's budget as a block, since nothing but that is fixed for every protocol before it starts;
 * its own ledgers enforce it. Settled is what the ledgers hold: of each cost as many releases as
 * the agent has that has most of them, a list that covers each agent's; if that list is more than
 * was reserved, the block stays charged.
 */
#include "experiment/consortium.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "data/prints.h"
#include "privacy/costs.h"
#include "tacit/ledger.h"
#include "tacit/lifetime.h"

#define DELTA_OF_LIFE 10 /* times the run's, where only an epsilon was set for a lifetime */

/* ---- what it is called ---- */

static void name_records(char out[TACIT_NAME_MAX], const tacit_peer *peer)
{
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    const tacit_data_options *data = tacit_peer_data(peer);
    if (plan->options->data_set[0]) {
        snprintf(out, TACIT_NAME_MAX, "%.*s", TACIT_LIFETIME_NAME, plan->options->data_set);
    } else if (data->source == TACIT_SOURCE_SHARDS) { /* "data": they all are called so */
        snprintf(out, TACIT_NAME_MAX, "%.100s/%s", tacit_peer_agreement(peer)->experiment.run.name,
                 plan->members[plan->self].name);
    } else {
        const char *slash = strrchr(data->path, '/');
        /* A file that was made for the run is called alike everywhere. */
        snprintf(out, TACIT_NAME_MAX, "%s%s%.100s",
                 plan->options->records[0] ? plan->members[plan->self].name : "",
                 plan->options->records[0] ? "/" : "", slash ? slash + 1 : data->path);
    }
}

static tacit_status check_name(const tacit_node_options *o, tacit_error *err)
{
    if (strlen(o->data_set) > TACIT_LIFETIME_NAME)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"node.data-set\" has %zu bytes; a name has at most %d",
                          strlen(o->data_set), TACIT_LIFETIME_NAME);
    if (o->lifetime_epsilon > 0 && !o->data_set[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "\"node.lifetime-epsilon\" is the budget of a data set; say in "
                          "\"node.data-set\" how you call it");
    if (o->lifetime_delta > 0 && !(o->lifetime_epsilon > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"node.lifetime-delta\" goes with \"node.lifetime-epsilon\"");
    return TACIT_OK;
}

/* ---- reserving ---- */

/* The agent that may spend most. */
static tacit_lifetime_plan plan_of(const tacit_node_plan *plan, const tacit_node *node)
{
    tacit_lifetime_plan out = {.block = true,
                               .risk = tacit_node_more_delta(node),
                               .delta = plan->privacy.delta,
                               .unit = (tacit_unit)plan->privacy.unit,
                               .adjacency = (tacit_adjacency)plan->privacy.adjacency};
    for (uint32_t k = 0; k < plan->hosted_count; k++)
        out.epsilon = fmax(out.epsilon, plan->hosted[k].epsilon);
    return out;
}

/* One for all ledgers of the node. */
static void nonce_of(uint8_t nonce[TACIT_LIFETIME_NONCE], const tacit_node *node, uint32_t count)
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, NULL, 0, TACIT_LIFETIME_NONCE);
    for (uint32_t k = 0; k < count; k++) {
        uint8_t one[TACIT_LEDGER_NONCE];
        tacit_ledger_file_nonce(tacit_node_ledger(node, k), one);
        crypto_generichash_update(&h, one, sizeof one);
    }
    crypto_generichash_final(&h, nonce, TACIT_LIFETIME_NONCE);
}

/* What node.yaml says of the budget; a node says it again with every start. */
static tacit_status set_budget(tacit_lifetime *ledger, const tacit_node_plan *plan, double now,
                               tacit_error *err)
{
    const tacit_node_options *o = plan->options;
    tacit_lifetime_view *view = NULL;
    if (!(o->lifetime_epsilon > 0))
        return TACIT_OK;
    const tacit_lifetime_terms terms = {
        .epsilon = o->lifetime_epsilon,
        .delta = o->lifetime_delta > 0 ? o->lifetime_delta
                                       : fmin(DELTA_OF_LIFE * plan->privacy.delta, 0.5),
        .unit = (tacit_unit)plan->privacy.unit,
        .adjacency = (tacit_adjacency)plan->privacy.adjacency};
    tacit_status status = tacit_lifetime_read(ledger, &view, err);
    if (status)
        return status;
    const tacit_lifetime_dataset *set = tacit_lifetime_find(view, o->data_set);
    const bool said = set && set->by_owner && set->terms.epsilon == terms.epsilon &&
                      (o->lifetime_delta == 0 || set->terms.delta == terms.delta);
    tacit_lifetime_view_free(view);
    return said ? TACIT_OK : tacit_lifetime_set(ledger, o->data_set, &terms, now, err);
}

static tacit_status add_record(void *records, const void *bytes, size_t len, tacit_error *err)
{
    return tacit_lifetime_records_add(records, bytes, len, err);
}

static tacit_status make_records(tacit_lifetime_records **out, const tacit_lifetime *ledger,
                                 const tacit_peer *peer, tacit_error *err)
{
    const char *given = tacit_peer_plan(peer)->options->records;
    *out = NULL;
    if (!given[0] && !tacit_peer_plan(peer)->options->data_set[0] &&
        !tacit_data_can_read_again(tacit_peer_data(peer)))
        return tacit_fail(err, TACIT_EINPUT,
                          "the records of \"data.path\" came through a pipe and cannot be known "
                          "again by other runs; give a file, or name them by \"node.data-set\"");
    tacit_status status = tacit_lifetime_records_new(out, ledger, err);
    if (!status && given[0])
        return tacit_file_each_print(given, add_record, *out, err);
    return status ? status
                  : tacit_data_each_print(tacit_peer_data(peer), tacit_peer_plan(peer)->data,
                                          add_record, *out, err);
}

static tacit_status reserve(tacit_peer_lifetime *l, tacit_lifetime *ledger, const tacit_peer *peer,
                            const tacit_node *node, double now, tacit_error *err)
{
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    char name[TACIT_NAME_MAX], run[2 * TACIT_NODE_RUN + 1];
    tacit_lifetime_records *records = NULL;
    tacit_status status = make_records(&records, ledger, peer, err);
    name_records(name, peer);
    sodium_bin2hex(run, sizeof run, plan->run, sizeof plan->run);
    tacit_lifetime_request request = {
        .name = name,
        .given = plan->options->data_set[0] != '\0',
        .records = records,
        .run = run,
        .protocol = plan->protocol->name,
        .agent_name = plan->members[plan->self].name,
        .agent = plan->hosted[0].agent,
        .trust = tacit_protocol_trust(plan->protocol, plan->protocol_options),
        .plan = plan_of(plan, node)};
    nonce_of(request.nonce, node, plan->hosted_count);
    if (!status)
        status = tacit_lifetime_reserve(ledger, &request, now, &l->reservation, err);
    tacit_lifetime_records_free(records);
    return status;
}

/* ---- what is shown ---- */

static const tacit_lifetime_dataset *set_with(const tacit_lifetime_view *view, uint64_t reservation,
                                              size_t *entry)
{
    for (size_t s = 0; s < view->count; s++)
        for (size_t k = 0; k < view->sets[s].count; k++)
            if (view->sets[s].entries[k].reservation == reservation) {
                *entry = k;
                return &view->sets[s];
            }
    return NULL;
}

/* What all but one have spent. */
static tacit_status spent_without(const tacit_lifetime_dataset *set, size_t entry, double *epsilon,
                                  tacit_error *err)
{
    tacit_lifetime_dataset others = *set;
    tacit_lifetime_entry *entries = calloc(set->count, sizeof *entries);
    if (!entries)
        return tacit_out_of_memory(err);
    others.count = 0;
    others.entries = entries;
    for (size_t k = 0; k < set->count; k++)
        if (k != entry)
            entries[others.count++] = set->entries[k];
    tacit_status status = tacit_lifetime_spent(&others, NULL, epsilon, err);
    free(entries);
    return status;
}

static tacit_status look(tacit_peer_lifetime *l, tacit_lifetime *ledger, tacit_error *err)
{
    tacit_lifetime_view *view = NULL;
    size_t entry = 0;
    tacit_status status = tacit_lifetime_read(ledger, &view, err);
    if (status)
        return status;
    const tacit_lifetime_dataset *set = set_with(view, l->reservation, &entry);
    if (!set)
        status = tacit_fail(err, TACIT_EVERIFY, "\"%.300s\" has lost this run", l->path);
    if (!status)
        status = spent_without(set, entry, &l->shown.before, err);
    if (!status)
        status = tacit_lifetime_spent(set, NULL, &l->shown.spent, err);
    if (!status) {
        l->shown.counted = true;
        l->shown.epsilon = set->terms.epsilon;
        l->shown.delta = set->terms.delta;
        snprintf(l->shown.data_set, sizeof l->shown.data_set, "%s", set->name);
    }
    tacit_lifetime_view_free(view);
    return status;
}

/* ---- the door ---- */

/* A learner that only asks others, say. */
static bool has_no_records(const tacit_dataset *data)
{
    uint64_t rows = 0;
    for (int split = 0; data && split < TACIT_SPLITS; split++)
        for (uint32_t a = 0; a < tacit_dataset_agents(data); a++)
            rows += tacit_shard_rows(tacit_dataset_shard(data, a, (tacit_split)split));
    return rows == 0;
}

bool tacit_peer_counts(tacit_peer_lifetime *l, const tacit_peer *peer)
{
    const char *why = NULL;
    if (strcmp(tacit_peer_plan(peer)->options->lifetime, "off") == 0)
        why = "\"node.lifetime\" is off: budgets of other runs over these records are not counted";
    else if (tacit_source_is_drawn(tacit_peer_data(peer)->source))
        why = "the records are made up (\"data.source\"): they belong to nobody";
    else if (has_no_records(tacit_peer_plan(peer)->data))
        why = "its agents hold no records";
    *l = (tacit_peer_lifetime){.shown.counted = why == NULL};
    if (why)
        snprintf(l->shown.why_not, sizeof l->shown.why_not, "%s", why);
    return why == NULL;
}

tacit_status tacit_peer_reserve(tacit_peer_lifetime *l, const tacit_peer *peer,
                                const tacit_node *node, const char *path, double now,
                                tacit_error *err)
{
    tacit_lifetime *ledger = NULL;
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    snprintf(l->path, sizeof l->path, "%s", path);
    tacit_status status = check_name(plan->options, err);
    if (!status)
        status = tacit_lifetime_open(&ledger, path, err);
    if (!status)
        status = set_budget(ledger, plan, now, err);
    if (!status)
        status = reserve(l, ledger, peer, node, now, err);
    if (!status)
        status = look(l, ledger, err);
    tacit_lifetime_close(ledger);
    return status;
}

/* ---- settling ---- */

typedef struct covering {
    tacit_ledger_entry *list;
    uint64_t *own; /* releases of each by the agent at hand */
    size_t count, room, own_room;
} covering;

/* The place of a cost; agents have released much the same, so it is tried where it was last. */
static tacit_status place_of(covering *c, const tacit_cost *cost, size_t likely, size_t *at,
                             tacit_error *err)
{
    if (likely < c->count && tacit_cost_same(c->list[likely].cost, cost)) {
        *at = likely;
        return TACIT_OK;
    }
    for (*at = 0; *at < c->count; (*at)++)
        if (tacit_cost_same(c->list[*at].cost, cost))
            return TACIT_OK;
    void *list = tacit_array_grow(c->list, &c->room, c->count + 1, sizeof *c->list);
    c->list = list ? list : c->list;
    void *own = list ? tacit_array_grow(c->own, &c->own_room, c->count + 1, sizeof *c->own) : NULL;
    c->own = own ? own : c->own;
    if (!own)
        return tacit_out_of_memory(err);
    c->list[c->count] = (tacit_ledger_entry){.cost = cost};
    c->own[c->count++] = 0;
    return TACIT_OK;
}

static tacit_status cover(covering *c, const tacit_ledger *ledger, tacit_error *err)
{
    for (size_t k = 0; k < c->count; k++)
        c->own[k] = 0;
    for (uint32_t k = 0; k < ledger->count; k++) {
        size_t at;
        const tacit_ledger_entry *e = &ledger->entries[k];
        tacit_status status = e->releases ? place_of(c, e->cost, k, &at, err) : TACIT_NO;
        if (status == TACIT_NO)
            continue;
        if (status)
            return status;
        c->own[at] += e->releases;
        if (c->own[at] > c->list[at].releases)
            c->list[at].releases = c->own[at];
    }
    return TACIT_OK;
}

/* Whether the list is within what was reserved. Each agent's ledger is, but where agents have
 * released at different costs the list that covers all of them may be more than any one of them
 * spent. */
static tacit_status fits_block(const covering *c, const tacit_node_plan *plan,
                               const tacit_node *node, bool *fits, tacit_error *err)
{
    double epsilon = 0;
    const tacit_lifetime_plan block = plan_of(plan, node);
    const tacit_lifetime_plan list = {.items = c->list,
                                      .count = c->count,
                                      .epsilon = block.epsilon,
                                      .delta = block.delta,
                                      .unit = block.unit,
                                      .adjacency = block.adjacency};
    const tacit_lifetime_terms terms = {.epsilon = block.epsilon,
                                        .delta = block.delta,
                                        .unit = block.unit,
                                        .adjacency = block.adjacency};
    *fits = true;
    if (plan->hosted_count == 1 || c->count == 0)
        return TACIT_OK;
    const tacit_status status = tacit_lifetime_alone(
        &terms, &list, (tacit_accountant)plan->privacy.accountant, block.delta, &epsilon, err);
    *fits = epsilon <= block.epsilon;
    return status;
}

tacit_status tacit_peer_settle(tacit_peer_lifetime *l, const tacit_peer *peer,
                               const tacit_node *node, double now, tacit_error *err)
{
    covering c = {.count = 0};
    tacit_lifetime *ledger = NULL;
    const tacit_node_plan *plan = tacit_peer_plan(peer);
    tacit_status status = TACIT_OK;
    bool fits = false;
    if (!l->shown.counted)
        return TACIT_OK;
    for (uint32_t k = 0; k < plan->hosted_count && !status; k++)
        status = cover(&c, tacit_ledger_file_ledger(tacit_node_ledger(node, k)), err);
    if (!status)
        status = fits_block(&c, plan, node, &fits, err);
    if (!status)
        status = tacit_lifetime_open(&ledger, l->path, err);
    if (!status && fits) /* else what was reserved stays charged: it covers each agent */
        status = tacit_lifetime_settle(ledger, l->reservation, c.list, c.count,
                                       c.count > 0 ? tacit_node_more_delta(node) : 0, now, err);
    if (!status)
        status = look(l, ledger, err);
    tacit_lifetime_close(ledger);
    free(c.list);
    free(c.own);
    return status;
}
