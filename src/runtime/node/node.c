/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A node's core: made, started, ended. See node.h for which file does what.
 */
#include "runtime/node/node.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tacit/board.h"

#define STATE_MAX (256 << 10) /* bytes: larger states are not written with every release, */
#define CHATTY_MAX                                                                \
    (256 << 20) /* unless agents take turns, and a step back would confuse others \
                 */

void node_note(const tacit_node *n, tacit_log_level level, const char *event, log_fields *fields)
{
    if (n->plan.log && (int)level >= n->plan.options->log)
        n->plan.log(n->plan.log_ctx, level, event, log_end(fields));
}

void node_fail(tacit_node *n, tacit_status status, const char *why)
{
    if (n->status != TACIT_OK)
        return;
    n->status = status;
    if (why)
        tacit_fail(&n->failure, status, "%s", why);
    else
        n->failure = n->error;
    log_fields f;
    log_begin(&f);
    log_text(&f, "why", n->failure.text);
    node_note(n, TACIT_LOG_ERROR, "failed", &f);
}

void node_rise(tacit_node *n, uint64_t above)
{
    /* Whether it works or not: a peer's word must not end the node. */
    if (node_store_rise(n->store, above, NULL) != TACIT_OK)
        return;
    n->incarnation = node_store_incarnation(n->store);
    for (uint32_t k = 0; k < n->plan.hosted_count; k++)
        n->agents[k].sequence = 0;
}

/* ---- creating ---- */

static tacit_status check_plan(const tacit_node_plan *plan, tacit_error *err)
{
    const tacit_protocol *p = plan->protocol;
    const uint32_t flags = tacit_protocol_flags(p, plan->protocol_options);
    if (flags & TACIT_ORACLE)
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"%s\" pools the records of all: only a simulation can",
                          p->name);
    if (flags & TACIT_GROUPS)
        return tacit_fail(
            err, TACIT_EINPUT,
            "protocol \"%s\" takes a party that adds up over all agents, which only a simulation "
            "has; set \"protocol.sum: masks\"",
            p->name);
    if (flags & TACIT_WHOLE && (!plan->graph || plan->graph->agents != plan->agents))
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"%s\" must know the edges of all %" PRIu32 " agents", p->name,
                          plan->agents);
    if (plan->hosted_count == 0)
        return tacit_fail(err, TACIT_EINPUT, "this node hosts no agent");
    if (plan->self >= plan->member_count)
        return tacit_fail(err, TACIT_EINPUT, "this node is no member of the consortium");
    const tacit_node_member *self = &plan->members[plan->self];
    if (memcmp(self->key, plan->identity->public_key, TACIT_NODE_KEY) != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "the key of \"%s\" in the list of members is not that of \"node.key\"",
                          self->name);
    bool same = self->count == plan->hosted_count;
    for (uint32_t k = 0; same && k < plan->hosted_count; k++)
        same = self->agents[k] == plan->hosted[k].agent && self->agents[k] < plan->agents;
    if (!same)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%s\" does not host the agents that the list of members gives it",
                          self->name);
    if (!(plan->consortium->unit > 0) || !(plan->options->heartbeat > 0))
        return tacit_fail(err, TACIT_EINPUT, "a unit of time and a heartbeat must last");
    return TACIT_OK;
}

/* The budgets of all agents, as far as a node knows them: its own may differ from what was agreed
 * on for everybody. NULL without an error: they do not. */
static tacit_status list_budgets(const tacit_node_plan *plan, double **out, tacit_error *err)
{
    bool differ = false;
    *out = NULL;
    for (uint32_t k = 0; k < plan->hosted_count; k++)
        differ |= plan->hosted[k].epsilon != plan->privacy.epsilon;
    if (!differ)
        return TACIT_OK;
    double *epsilon = malloc(plan->agents * sizeof *epsilon);
    if (!epsilon)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < plan->agents; k++)
        epsilon[k] = plan->privacy.epsilon;
    for (uint32_t k = 0; k < plan->hosted_count; k++)
        epsilon[plan->hosted[k].agent] = plan->hosted[k].epsilon;
    *out = epsilon;
    return TACIT_OK;
}

static tacit_status set_up_protocol(tacit_node *n, tacit_error *err)
{
    const tacit_protocol *p = n->plan.protocol;
    double *epsilon;
    n->shared = calloc(1, p->shared_size ? p->shared_size : 1);
    if (!n->shared)
        return tacit_out_of_memory(err);
    tacit_status status = list_budgets(&n->plan, &epsilon, err);
    const tacit_setup setup = {.agents = n->plan.agents,
                               .model = n->plan.model,
                               .privacy = &n->plan.privacy,
                               .epsilon = epsilon,
                               .graph = n->flags & TACIT_WHOLE ? n->plan.graph : NULL,
                               .until = n->plan.until};
    if (status == TACIT_OK)
        status = tacit_protocol_set_up(p, n->shared, n->plan.protocol_options, &setup, err);
    free(epsilon);
    return status;
}

static tacit_status make_agents(tacit_node *n, tacit_error *err)
{
    n->agents = calloc(n->plan.hosted_count, sizeof *n->agents);
    if (!n->agents)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < n->plan.hosted_count; k++) {
        node_agent *a = &n->agents[k];
        a->plan = &n->plan.hosted[k];
        a->index = k;
        a->change = INFINITY;
        for (uint32_t j = 0; j < a->plan->neighbours; j++)
            a->degree += a->plan->weight[j];
        const size_t size = n->plan.protocol->agent_size(n->shared, a->plan->neighbours);
        if (!(a->state = calloc(1, size ? size : 1)))
            return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

/* Seconds that an agent may be late: see begin.c. */
static double time_left(const tacit_node *n)
{
    const double time = n->plan.until * n->plan.consortium->unit;
    if (n->flags & TACIT_EVERYBODY)
        return 0;
    return time > 0 ? fmax(time - node_store_elapsed(n->store, 0), 0) : INFINITY;
}

static tacit_status open_store(tacit_node *n, tacit_error *err)
{
    const tacit_node_plan *plan = &n->plan;
    node_store_agent *agents = calloc(plan->hosted_count, sizeof *agents);
    if (!agents)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < plan->hosted_count; k++)
        agents[k] = (node_store_agent){
            .agent = plan->hosted[k].agent,
            .name = plan->hosted[k].name,
            .budget = {plan->hosted[k].epsilon, plan->privacy.delta,
                       tacit_protocol_trust(plan->protocol, plan->protocol_options),
                       (tacit_accountant)plan->privacy.accountant}};
    node_store_plan store = {.folder = plan->options->folder,
                             .agents = agents,
                             .count = plan->hosted_count,
                             .state_max = n->flags & TACIT_CHATTY ? CHATTY_MAX : STATE_MAX};
    memcpy(store.run, plan->run, sizeof store.run);
    memcpy(store.identity, plan->identity->public_key, sizeof store.identity);
    tacit_status status = node_store_open(&n->store, &store, err);
    free(agents);
    if (status == TACIT_OK) {
        n->incarnation = node_store_incarnation(n->store);
        n->stamps = n->born_stamp = n->incarnation << 16;
        n->forgot = node_store_is_new(n->store);
        n->give_up = n->meet_by + time_left(n);
    }
    return status;
}

static tacit_status restore_agent(tacit_node *n, node_agent *a, tacit_error *err)
{
    void *state = NULL, *frames = NULL;
    size_t state_len = 0, frames_len = 0;
    bool current = true;
    /* Numbers of requests and timers are never those of an earlier life. */
    a->counter = n->incarnation << 16;
    tacit_status status = node_store_restore(n->store, a->index, &state, &state_len, &frames,
                                             &frames_len, &current, err);
    const bool kept = state && state_len > 0;
    n->resumed_end |= state && !kept; /* of an agent that was silent at the end nothing is kept */
    if (status == TACIT_OK && kept)
        status = node_load_agent(n, a, state, state_len, err);
    if (status == TACIT_OK && frames)
        status = node_load_frames(n, a, frames, frames_len, err);
    uint8_t head[NODE_STORE_HEAD];
    n->unsure |= (state || frames) && node_store_entries(n->store, a->index, head) > 0;
    if (status == TACIT_OK && kept) {
        log_fields f;
        log_begin(&f);
        log_u64(&f, "agent", a->plan->agent);
        log_u64(&f, "ticks", a->wakes);
        log_bool(&f, "as_told", current);
        node_note(n, TACIT_LOG_INFO, "agent_resumed", &f);
    }
    free(state);
    free(frames);
    return status;
}

static tacit_status restore(tacit_node *n, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (uint32_t k = 0; k < n->plan.hosted_count && status == TACIT_OK; k++)
        status = restore_agent(n, &n->agents[k], err);
    return status;
}

static tacit_status begin(tacit_node *n, tacit_error *err)
{
    tacit_status status = tacit_random_system(&n->random, err);
    if (status == TACIT_OK) {
        tacit_stream_open(&n->chance, &n->random, 0, TACIT_FOR_PEERS, 0);
        n->pool = tacit_pool_create(true);
        n->scratch = tacit_scratch_create();
        if (!n->pool || !n->scratch)
            status = tacit_out_of_memory(err);
    }
    if (status == TACIT_OK)
        status = set_up_protocol(n, err);
    if (status == TACIT_OK)
        status = make_agents(n, err);
    if (status == TACIT_OK)
        status = open_store(n, err);
    if (status == TACIT_OK)
        status = node_peers_init(n, err);
    if (status == TACIT_OK)
        status = node_recall_peers(n, err);
    if (status == TACIT_OK)
        status = restore(n, err);
    return status == TACIT_OK ? node_accept_spent(n, err) : status;
}

tacit_status node_create(tacit_node **out, const tacit_node_plan *plan, const node_io *io,
                         double now, tacit_error *err)
{
    *out = NULL;
    tacit_status status = check_plan(plan, err);
    if (status != TACIT_OK)
        return status;
    tacit_node *n = calloc(1, sizeof *n);
    if (!n)
        return tacit_out_of_memory(err);
    n->plan = *plan;
    n->flags = tacit_protocol_flags(plan->protocol, plan->protocol_options);
    n->io = *io;
    n->born = n->now = n->origin = n->next_beat = now;
    n->env = (tacit_env){&node_env_ops, n, 0};
    n->meet_by = now + plan->options->patience;
    n->next_save = now + plan->options->checkpoint;
    status = begin(n, err);
    if (status != TACIT_OK) {
        node_destroy(n);
        return status;
    }
    *out = n;
    return TACIT_OK;
}

static void free_agent(tacit_node *n, node_agent *a)
{
    n->at = a;
    if (a->state)
        n->plan.protocol->end(&n->env, n->shared, a->state);
    if (a->said)
        tacit_vector_drop(n->pool, a->said);
    for (size_t k = 0; k < a->word_count; k++)
        node_bytes_drop(a->words[k].payload);
    free(a->words);
    free(a->heard);
    free(a->requests);
    free(a->state);
}

void node_destroy(tacit_node *n)
{
    if (!n)
        return;
    for (uint32_t k = 0; n->agents && k < n->plan.hosted_count; k++)
        free_agent(n, &n->agents[k]);
    while (n->queue.count > 0) {
        const runtime_event event = runtime_queue_pop(&n->queue);
        if (event.payload)
            tacit_vector_drop(n->pool, event.payload);
    }
    free(n->queue.heap);
    free(n->agents);
    if (n->shared && n->plan.protocol->teardown)
        n->plan.protocol->teardown(n->shared);
    free(n->shared);
    node_store_close(n->store, n->time, NULL);
    node_peers_clear(n);
    tacit_members_free(n->members);
    tacit_pool_free(n->pool);
    tacit_scratch_free(n->scratch);
    free(n->said);
    free(n->permits);
    tacit_stream_clear(&n->chance);
    tacit_random_clear(&n->random);
    free(n);
}

/* ---- start and end ---- */

/* Of a start that failed nothing stays: the next one finds the state it expects. */
static void start_agent(tacit_node *n, node_agent *a)
{
    static const tacit_event start = {
        .type = TACIT_START, .from = TACIT_NOBODY, .slot = TACIT_NO_SLOT};
    if (!a->started && !(a->started = node_handle(n, a, n->time, &start))) {
        const size_t size = n->plan.protocol->agent_size(n->shared, a->plan->neighbours);
        n->at = a;
        n->plan.protocol->end(&n->env, n->shared, a->state);
        n->at = NULL;
        memset(a->state, 0, size);
    }
}

static bool may_start(const tacit_node *n, const node_agent *a)
{
    return node_is_heard(n, a) && !node_is_silent(n, a) && !node_store_mute(n->store);
}

void node_start_late(tacit_node *n)
{
    for (uint32_t k = 0; k < n->plan.hosted_count && n->status == TACIT_OK; k++)
        if (n->phase == NODE_RUNNING && !n->agents[k].started && may_start(n, &n->agents[k]))
            start_agent(n, &n->agents[k]);
}

/* The protocol's time goes on where an earlier life left it, or begins. */
static void set_clock(tacit_node *n)
{
    const double elapsed = node_store_elapsed(n->store, 0);
    n->origin = elapsed > 0 ? n->born - elapsed : n->now;
    n->time = fmax(n->time, node_time_at(n, n->now));
}

void node_start(tacit_node *n)
{
    log_fields f;
    n->phase = NODE_RUNNING;
    set_clock(n);
    log_begin(&f);
    log_number(&f, "time_units", n->time);
    log_bool(&f, "all_met", node_all_met(n));
    node_note(n, TACIT_LOG_INFO, "started", &f);
    for (uint32_t k = 0; k < n->plan.hosted_count && n->status == TACIT_OK; k++) {
        if (n->resumed_end)
            continue;
        if (node_is_heard(n, &n->agents[k]))
            start_agent(n, &n->agents[k]);
        if (n->flags & TACIT_WAKES && n->status == TACIT_OK)
            node_plan_wake(n, &n->agents[k], n->time);
    }
    if (n->status == TACIT_OK && !n->resumed_end)
        node_say_at_home(n, n->incarnation);
    node_hear_early(n);
    if (n->resumed_end)
        n->phase = NODE_WAITING;
}

/* Protocols have forgotten theirs by now, and that is on the disk: what was kept before becomes
 * unreadable. If not, the next start tries again. */
static void forget_secrets(tacit_node *n)
{
    tacit_error why = {0};
    if (node_store_mute(n->store) || n->status != TACIT_OK ||
        node_store_forget(n->store, &why) == TACIT_OK)
        return;
    log_fields f;
    log_begin(&f);
    log_text(&f, "why", why.text);
    node_note(n, TACIT_LOG_ERROR, "secrets_kept", &f);
}

static void say_goodbye(tacit_node *n)
{
    node_send_all_packed(n);
    for (size_t k = 0; k < n->peer_count; k++)
        if (n->peers[k].watched && n->peers[k].met)
            node_bye(n, &n->peers[k]);
}

/* What agents do at the end, at home and under no budget, takes as long as their records make it
 * take: nobody else may see when it is done. */
void node_finish(tacit_node *n)
{
    static const tacit_event finish = {
        .type = TACIT_FINISH, .from = TACIT_NOBODY, .slot = TACIT_NO_SLOT};
    log_fields f;
    n->phase = NODE_ENDED;
    say_goodbye(n);
    if (n->io.close)
        n->io.close(n->io.ctx);
    for (uint32_t k = 0; k < n->plan.hosted_count && !n->resumed_end; k++)
        if (n->agents[k].started)
            node_handle(n, &n->agents[k], n->time, &finish);
    node_store_last(n->store);
    if (node_checkpoint(n) == TACIT_OK) /* else what is on the disk needs the key */
        forget_secrets(n);
    if (node_store_mute(n->store))
        node_fail(n, TACIT_EINPUT,
                  "the run has ended, but the disk took no more: what was computed last is neither "
                  "paid for nor kept; make room and start the node again");
    log_begin(&f);
    log_number(&f, "time_units", n->time);
    node_note(n, TACIT_LOG_INFO, "ended", &f);
}

void node_end_unheard(tacit_node *n)
{
    set_clock(n);
    node_finish(n);
}

void node_leave(tacit_node *n)
{
    if (n->phase != NODE_MEETING)
        node_checkpoint(n);
    say_goodbye(n);
}

const tacit_secret *tacit_node_model(const tacit_node *n, uint32_t index)
{
    const tacit_protocol *p = n->plan.protocol;
    return p->model ? p->model(n->shared, n->agents[index].state) : NULL;
}

const tacit_ledger_file *tacit_node_ledger(const tacit_node *n, uint32_t index)
{
    return node_store_ledger(n->store, index);
}

double tacit_node_more_delta(const tacit_node *n)
{
    return tacit_protocol_more_delta(n->plan.protocol, n->shared);
}

tacit_status tacit_node_board(const tacit_node *n, uint32_t index, tacit_board *out)
{
    const tacit_protocol *p = n->plan.protocol;
    return p->board ? p->board(n->shared, n->agents[index].state, out) : TACIT_NO;
}
