/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment a node gives its agents.
 *
 * Nothing leaves while a handler runs: what it says is kept, and goes out when it has returned and
 * what it released is charged and on the disk (handle.c).
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"
#include "net/keys.h"
#include "privacy/release.h"
#include "runtime/node/node.h"

static const tacit_facts *env_facts(void *ctx)
{
    tacit_node *n = ctx;
    const tacit_node_agent *plan = n->at->plan;
    n->facts = (tacit_facts){
        .self = plan->agent,
        .now = n->time,
        .records = n->plan.data ? tacit_dataset_rows(n->plan.data, plan->shard, TACIT_TRAIN) : 0,
        .neighbours = plan->neighbours,
        .neighbour = plan->neighbour,
        .weight = plan->weight,
        .degree = n->at->degree,
        .epsilon = plan->epsilon,
    };
    memcpy(n->facts.run, n->plan.run, sizeof n->facts.run);
    return &n->facts;
}

/* ---- sending ---- */

static tacit_status may_send(tacit_node *n)
{
    const tacit_protocol *p = n->plan.protocol;
    if (n->phase == NODE_ENDED)
        return tacit_fail(&n->error, TACIT_EUSAGE, "nothing can be sent after the run has ended");
    if (n->handling == TACIT_MESSAGE && !(n->flags & TACIT_CHATTY))
        return tacit_fail(&n->error, TACIT_EUSAGE,
                          "protocol \"%s\" sends while it handles a message; it must declare "
                          "TACIT_CHATTY",
                          p->name);
    return TACIT_OK;
}

static tacit_status check_payload(tacit_node *n, tacit_address at, const tacit_public *payload)
{
    const tacit_protocol *p = n->plan.protocol;
    const tacit_shape *declared = p->payload ? p->payload(n->shared, at) : NULL;
    if (declared && declared == tacit_public_shape(payload))
        return TACIT_OK;
    return tacit_fail(&n->error, TACIT_EUSAGE,
                      "protocol \"%s\" sends kind %u on channel %u with a shape it did not declare",
                      p->name, at.kind, at.channel);
}

/* A vector that stays as it is: scratch memory is copied, all others are frozen. */
static tacit_vector *frozen(tacit_node *n, const tacit_public *payload)
{
    tacit_vector *v = tacit_vector_of_public(payload);
    if (v->flags & TACIT_VECTOR_SCRATCH) {
        tacit_vector *copy = tacit_pool_vector_raw(n->pool, v->shape, TACIT_VECTOR_FROZEN);
        if (copy)
            memcpy(copy->data, v->data, v->shape->bytes);
        return copy;
    }
    v->flags |= TACIT_VECTOR_FROZEN;
    tacit_vector_keep(v);
    return v;
}

static tacit_status say(tacit_node *n, node_saying *s, const tacit_public *payload)
{
    tacit_status status = may_send(n);
    if (status == TACIT_OK)
        status = check_payload(n, s->at, payload);
    if (status != TACIT_OK)
        return status;
    node_saying *all = tacit_array_grow(n->said, &n->said_capacity, n->said_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(&n->error);
    n->said = all;
    if (!(s->payload = frozen(n, payload)))
        return tacit_out_of_memory(&n->error);
    n->said[n->said_count++] = *s;
    return TACIT_OK;
}

/* Strangers are for protocols that say so: in a simulation it matters for the order of things. */
static tacit_status check_receiver(tacit_node *n, tacit_agent to)
{
    if (to == n->at->plan->agent || !node_peer_of(n, to))
        return tacit_fail(&n->error, TACIT_EUSAGE, "agent %u cannot send to \"%llu\"",
                          n->at->plan->agent, (unsigned long long)to);
    if (n->flags & TACIT_CHATTY)
        return TACIT_OK;
    for (uint32_t k = 0; k < n->at->plan->neighbours; k++)
        if (n->at->plan->neighbour[k] == to)
            return TACIT_OK;
    return tacit_fail(&n->error, TACIT_EUSAGE,
                      "protocol \"%s\" sends to an agent that is no neighbour; it must declare "
                      "TACIT_CHATTY",
                      n->plan.protocol->name);
}

static tacit_status env_send(void *ctx, tacit_agent to, tacit_address at,
                             const tacit_public *payload)
{
    tacit_node *n = ctx;
    tacit_status status = to == TACIT_NOBODY ? TACIT_OK : check_receiver(n, to);
    if (status != TACIT_OK)
        return status;
    return say(n, &(node_saying){.type = TACIT_MESSAGE, .to = to, .at = at}, payload);
}

static tacit_status env_timer_of(tacit_node *n, uint32_t type, tacit_address at, double delay,
                                 uint64_t id)
{
    const uint32_t self = n->at->plan->agent;
    return node_post(n, &(runtime_event){.time = n->time + delay,
                                         .to = self,
                                         .from = self,
                                         .counter = n->at->counter++,
                                         .type = type,
                                         .at = at,
                                         .id = id});
}

static tacit_status env_request(void *ctx, tacit_agent to, tacit_address at,
                                const tacit_public *payload, double deadline, uint64_t *id)
{
    tacit_node *n = ctx;
    node_agent *a = n->at;
    if (!(n->flags & TACIT_CHATTY))
        return tacit_fail(&n->error, TACIT_EUSAGE, "a protocol that asks must be TACIT_CHATTY");
    if (!(deadline > 0) || to == TACIT_NOBODY)
        return tacit_fail(&n->error, TACIT_EUSAGE, "a request needs a receiver and a deadline");
    tacit_status status = check_receiver(n, to);
    if (status != TACIT_OK)
        return status;
    node_request *all =
        tacit_array_grow(a->requests, &a->request_capacity, a->request_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(&n->error);
    a->requests = all;
    *id = ++a->counter; /* never zero: a message has none */
    status = say(n, &(node_saying){.type = TACIT_REQUEST, .to = to, .at = at, .id = *id}, payload);
    if (status != TACIT_OK)
        return status;
    a->requests[a->request_count++] = (node_request){.id = *id, .to = (uint32_t)to};
    return env_timer_of(n, TACIT_NO_REPLY, at, deadline, *id);
}

static tacit_status env_reply(void *ctx, const tacit_event *request, uint32_t kind,
                              const tacit_public *payload)
{
    tacit_node *n = ctx;
    if (request->type != TACIT_REQUEST)
        return tacit_fail(&n->error, TACIT_EUSAGE, "only a request can be replied to");
    return say(n,
               &(node_saying){.type = TACIT_REPLY,
                              .to = request->from,
                              .at = {request->at.channel, kind},
                              .id = request->id},
               payload);
}

static tacit_status env_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    tacit_node *n = ctx;
    if (!(n->flags & TACIT_CHATTY))
        return tacit_fail(&n->error, TACIT_EUSAGE, "a protocol with timers must be TACIT_CHATTY");
    if (!(delay >= 0) || !isfinite(delay))
        return tacit_fail(&n->error, TACIT_EUSAGE, "a timer cannot ring after %g", delay);
    return env_timer_of(n, TACIT_TIMER, (tacit_address){channel, 0}, delay, id);
}

/* ---- chance ---- */

/* Everybody the node knows of is as likely: its list of members is the whole consortium, and in
 * an open one it grows by whom it meets. */
static tacit_agent env_sample_peer(void *ctx)
{
    tacit_node *n = ctx;
    const tacit_agent self = n->at->plan->agent;
    if (n->place_count < 2)
        return TACIT_NOBODY;
    for (;;) {
        const tacit_agent peer = n->places[tacit_stream_below(&n->chance, n->place_count)].agent;
        if (peer != self)
            return peer;
    }
}

/* Seeds of mask keys come from here: new bytes of the system for every draw, so that neither
 * channel nor counter has to keep draws apart. A node without any stops before it sends. */
static void env_random(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len)
{
    tacit_node *n = ctx;
    tacit_draws draws;
    tacit_stream stream;
    (void)channel;
    memset(out, 0, len);
    if (tacit_draws_open(&draws, &n->random, n->at->plan->agent, TACIT_FOR_PROTOCOL, counter,
                         &n->error) != TACIT_OK) {
        node_fail(n, TACIT_EINTERNAL, NULL);
        return;
    }
    tacit_draws_stream(&stream, &draws, 0);
    tacit_stream_bytes(&stream, out, len);
    tacit_stream_clear(&stream);
    tacit_draws_clear(&draws);
}

/* ---- vectors ---- */

static tacit_public *env_new_public(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_public(tacit_pool_vector(((tacit_node *)ctx)->pool, shape, 0));
}

static tacit_secret *env_new_secret(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_secret(
        tacit_pool_vector(((tacit_node *)ctx)->pool, shape, TACIT_VECTOR_SECRET));
}

static void env_drop(void *ctx, const void *vector)
{
    tacit_vector_drop(((tacit_node *)ctx)->pool, (tacit_vector *)(uintptr_t)vector);
}

/* ---- privacy ---- */

static tacit_status env_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    tacit_node *n = ctx;
    *permit = NULL;
    if (node_is_silent(n, n->at) || node_store_mute(n->store))
        return tacit_fail(&n->error, TACIT_EINPUT, "nothing can be released: %s",
                          node_is_silent(n, n->at) ? "what was computed exceeds the budget"
                                                   : node_store_mute(n->store));
    tacit_permit **all =
        tacit_array_grow(n->permits, &n->permit_capacity, n->permit_count + 1, sizeof *all);
    if (!all)
        return tacit_out_of_memory(&n->error);
    n->permits = all;
    tacit_status status = tacit_ledger_file_reserve(node_store_ledger(n->store, n->at->index), cost,
                                                    n->time, permit, &n->error);
    if (status == TACIT_EBUDGET) {
        n->traffic.refused++;
        n->at->spent = true;
    }
    if (status != TACIT_OK)
        return status;
    tacit_permit_draw_from(*permit, &n->random, n->at->plan->agent);
    n->permits[n->permit_count++] = *permit;
    return TACIT_OK;
}

static tacit_status env_give_back(void *ctx, tacit_permit *permit)
{
    tacit_node *n = ctx;
    tacit_status status =
        tacit_ledger_file_give_back(node_store_ledger(n->store, n->at->index), permit, &n->error);
    for (size_t k = 0; status == TACIT_OK && k < n->permit_count; k++)
        if (n->permits[k] == permit) {
            n->permits[k] = n->permits[--n->permit_count];
            break;
        }
    return status;
}

static tacit_status env_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                tacit_public **out)
{
    tacit_node *n = ctx;
    const tacit_noise_source source = {.random = &n->random, .agent = n->at->plan->agent};
    tacit_status status = tacit_mechanism_apply(permit, bounded, &source, out, &n->error);
    if (status == TACIT_OK)
        n->traffic.releases++;
    return status;
}

static tacit_status env_give(void *ctx, tacit_address at, uint64_t round, double closes,
                             tacit_permit *permit, tacit_bounded *bounded,
                             const tacit_public *beside)
{
    (void)at, (void)round, (void)closes, (void)permit, (void)bounded, (void)beside;
    return tacit_fail(&((tacit_node *)ctx)->error, TACIT_EUSAGE,
                      "real peers have no sums over all agents yet");
}

static tacit_status env_conceal(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                uint32_t parts, tacit_secret **out)
{
    tacit_node *n = ctx;
    const tacit_shape *shape = bounded->value ? bounded->value->shape : NULL;
    tacit_vector *v = shape ? tacit_pool_vector(n->pool, shape, TACIT_VECTOR_SECRET) : NULL;
    if (!v)
        return shape ? tacit_out_of_memory(&n->error)
                     : tacit_fail(&n->error, TACIT_EUSAGE, "there is nothing left to conceal");
    const tacit_noise_source source = {.random = &n->random, .agent = n->at->plan->agent};
    tacit_status status =
        tacit_mechanism_conceal(permit, bounded, parts, &source, tacit_vector_segment(v, 0),
                                shape->segment[0].count, &n->error);
    if (status == TACIT_OK) {
        n->traffic.releases++;
        *out = tacit_vector_secret(v);
    } else {
        tacit_vector_drop(n->pool, v);
    }
    return status;
}

/* ---- who said what ---- */

/* A peer signs for all agents it hosts. */
static tacit_status env_sign(void *ctx, const void *text, size_t len,
                             uint8_t signature[TACIT_SIGNATURE])
{
    tacit_node *n = ctx;
    const tacit_signed_by by = {.run = n->plan.run,
                                .agent = n->at->plan->agent,
                                .name = n->plan.members[n->plan.self].name};
    tacit_identity_sign(signature, n->plan.identity, by, text, len);
    return TACIT_OK;
}

/* Members of the list only: what a stranger's key says of its agents nobody vouches for. */
static tacit_status env_verify(void *ctx, tacit_agent agent, const void *text, size_t len,
                               const uint8_t signature[TACIT_SIGNATURE])
{
    tacit_node *n = ctx;
    const node_peer *peer = node_peer_of(n, agent);
    if (!peer || !peer->listed)
        return TACIT_NO;
    const tacit_signed_by by = {.run = n->plan.run, .agent = agent, .name = peer->name};
    return tacit_identity_signed(signature, peer->key, by, text, len) ? TACIT_OK : TACIT_NO;
}

/* ---- own data and metrics ---- */

static const tacit_shard *env_shard(void *ctx, tacit_split split)
{
    tacit_node *n = ctx;
    return n->plan.data ? tacit_dataset_shard(n->plan.data, n->at->plan->shard, split) : NULL;
}

static const tacit_model *env_model(void *ctx)
{
    return ((tacit_node *)ctx)->plan.model;
}

static const tacit_privacy_options *env_privacy(void *ctx)
{
    return &((tacit_node *)ctx)->plan.privacy;
}

static tacit_scratch *env_scratch(void *ctx)
{
    return ((tacit_node *)ctx)->scratch;
}

static void *env_temporary(void *ctx, size_t bytes)
{
    return tacit_scratch_alloc(((tacit_node *)ctx)->scratch, bytes);
}

static void env_metric(void *ctx, const char *name, double value, bool is_private)
{
    tacit_node *n = ctx;
    if (n->plan.metric)
        n->plan.metric(n->plan.metric_ctx, n->time, n->at->plan->agent, name, value, is_private);
}

static tacit_error *env_error(void *ctx)
{
    return &((tacit_node *)ctx)->error;
}

const tacit_env_ops node_env_ops = {
    .facts = env_facts,
    .send = env_send,
    .request = env_request,
    .reply = env_reply,
    .timer = env_timer,
    .sample_peer = env_sample_peer,
    .random = env_random,
    .new_public = env_new_public,
    .new_secret = env_new_secret,
    .drop = env_drop,
    .reserve = env_reserve,
    .give_back = env_give_back,
    .release = env_release,
    .give = env_give,
    .conceal = env_conceal,
    .sign = env_sign,
    .verify = env_verify,
    .shard = env_shard,
    .model = env_model,
    .privacy = env_privacy,
    .scratch = env_scratch,
    .temporary = env_temporary,
    .metric = env_metric,
    .error = env_error,
};
