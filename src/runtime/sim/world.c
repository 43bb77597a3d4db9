/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment the simulator gives an agent, and the network between agents.
 *
 * Every random draw here is named by (sender, purpose, sender's counter): what happens to a
 * message does not depend on what other agents do.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/release.h"
#include "runtime/sim/sim.h"

static const tacit_facts *env_facts(void *ctx)
{
    sim_worker *w = ctx;
    const sim *s = w->sim;
    const tacit_graph *g = s->world.graph;
    if (w->facts.self != w->agent) {
        uint64_t from = g->row[w->agent];
        w->facts = (tacit_facts){
            .self = w->agent,
            .records = s->world.data ? tacit_dataset_rows(s->world.data, w->agent, TACIT_TRAIN) : 0,
            .neighbours = (uint32_t)(g->row[w->agent + 1] - from),
            .neighbour = g->neighbour + from,
            .weight = g->weight + from,
            .degree = g->degree[w->agent],
            .epsilon = sim_budget(s, w->agent).epsilon,
        };
        memcpy(w->facts.run, s->run, sizeof w->facts.run);
    }
    w->facts.now = w->now;
    return &w->facts;
}

/* ---- sending ---- */

static tacit_status may_send(sim_worker *w)
{
    if (w->sim->phase == SIM_FINISHED)
        return tacit_fail(&w->error, TACIT_EUSAGE, "nothing can be sent after the run has ended");
    if (w->handling == TACIT_MESSAGE && w->sim->direct)
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "protocol \"%s\" sends while it handles a message; it must declare "
                          "TACIT_CHATTY",
                          w->sim->world.protocol->name);
    return TACIT_OK;
}

/* What is sent must be what the protocol says it sends: a node could not decode it else. */
static tacit_status check_payload(sim_worker *w, tacit_address at, const tacit_public *payload)
{
    const tacit_protocol *p = w->sim->world.protocol;
    const tacit_shape *declared = p->payload ? p->payload(w->sim->shared, at) : NULL;
    if (declared == tacit_public_shape(payload))
        return TACIT_OK;
    return tacit_fail(&w->error, TACIT_EUSAGE,
                      "protocol \"%s\" sends kind %u on channel %u with a shape it did not "
                      "declare",
                      p->name, at.kind, at.channel);
}

/* A vector that can travel: scratch memory is copied, all others are frozen as they are. */
static tacit_vector *frozen(sim_worker *w, const tacit_public *payload)
{
    tacit_vector *v = tacit_vector_of_public(payload);
    if (v->flags & TACIT_VECTOR_SCRATCH) {
        tacit_vector *copy = tacit_pool_vector_raw(w->pool, v->shape, TACIT_VECTOR_FROZEN);
        if (copy)
            memcpy(copy->data, v->data, v->shape->bytes);
        return copy;
    }
    if (!(v->flags & TACIT_VECTOR_FROZEN))
        v->flags |= TACIT_VECTOR_FROZEN;
    tacit_vector_keep(v);
    return v;
}

static bool lost(sim_worker *w, tacit_stream *chance)
{
    return w->sim->world.network.loss > 0 && tacit_stream_unit(chance) < w->sim->world.network.loss;
}

static double travel_time(const tacit_network_options *network, tacit_stream *chance)
{
    switch (network->latency) {
    case TACIT_LATENCY_ZERO:
        return 0;
    case TACIT_LATENCY_CONSTANT:
        return network->latency_floor;
    default:
        return network->latency_floor + network->latency_mean * tacit_stream_exponential(chance);
    }
}

tacit_status sim_post(sim_worker *w, const runtime_event *event)
{
    bool own = event->to == w->agent && event->time < w->window_end;
    if (own) {
        if (runtime_queue_push(&w->soon, event))
            return TACIT_OK;
    } else {
        runtime_event *out =
            tacit_array_grow(w->out, &w->out_capacity, w->out_count + 1, sizeof *out);
        if (!out)
            return tacit_out_of_memory(&w->error);
        w->out = out;
        w->out[w->out_count++] = *event;
        return TACIT_OK;
    }
    return tacit_out_of_memory(&w->error);
}

typedef struct parcel {
    tacit_event_type type;
    tacit_address at;
    uint64_t id;
    tacit_vector *payload; /* may be NULL */
    uint64_t counter;
    tacit_stream loss, latency;
} parcel;

static void parcel_open(sim_worker *w, parcel *p)
{
    const tacit_network_options *network = &w->sim->world.network;
    p->counter = w->sim->agent[w->agent].counter++;
    if (network->loss > 0)
        tacit_stream_open(&p->loss, &w->sim->random, w->agent, TACIT_FOR_LOSS, p->counter);
    if (network->latency == TACIT_LATENCY_EXPONENTIAL)
        tacit_stream_open(&p->latency, &w->sim->random, w->agent, TACIT_FOR_LATENCY, p->counter);
}

/* One copy of the parcel, to one receiver. `slot` is the sender's place in its row. */
static tacit_status dispatch(sim_worker *w, parcel *p, uint32_t to, uint32_t slot)
{
    sim *s = w->sim;
    w->traffic.messages++;
    w->traffic.bytes += p->payload ? p->payload->shape->bytes : 0;
    bool gone = lost(w, &p->loss); /* drawn in any case, so that draws stay aligned */
    double delay = travel_time(&s->world.network, &p->latency);
    if (gone || (s->direct && s->churn && !s->together && !sim_online(s, to))) {
        w->traffic.lost++;
        return TACIT_OK;
    }
    if (s->direct && !s->together) {
        w->traffic.delivered++;
        tacit_event event = {.type = p->type,
                             .at = p->at,
                             .from = w->agent,
                             .slot = slot,
                             .id = p->id,
                             .payload = p->payload ? tacit_vector_public(p->payload) : NULL};
        sim_handle(w, to, w->now, &event);
        return TACIT_OK;
    }
    if (p->payload)
        tacit_vector_keep(p->payload);
    runtime_event event = {.time = w->now + delay,
                           .to = to,
                           .from = w->agent,
                           .counter = p->counter,
                           .type = p->type,
                           .at = p->at,
                           .id = p->id,
                           .payload = p->payload};
    return sim_post(w, &event);
}

static tacit_status send_one(sim_worker *w, tacit_agent to, parcel *p)
{
    if (to >= w->sim->agents || to == w->agent)
        return tacit_fail(&w->error, TACIT_EUSAGE, "agent %u cannot send to \"%llu\"", w->agent,
                          (unsigned long long)to);
    uint32_t slot = sim_slot(w->sim, (uint32_t)to, w->agent);
    if (slot == TACIT_NO_SLOT && w->sim->direct) /* lanes know of neighbours only */
        return tacit_fail(&w->error, TACIT_EUSAGE,
                          "protocol \"%s\" sends to an agent that is no neighbour; it must declare "
                          "TACIT_CHATTY",
                          w->sim->world.protocol->name);
    parcel_open(w, p);
    return dispatch(w, p, (uint32_t)to, slot);
}

static tacit_status send_all(sim_worker *w, parcel *p)
{
    const tacit_graph *g = w->sim->world.graph;
    parcel_open(w, p);
    w->traffic.broadcasts++;
    tacit_status status = TACIT_OK;
    for (uint64_t e = g->row[w->agent]; e < g->row[w->agent + 1] && status == TACIT_OK; e++)
        status = dispatch(w, p, g->neighbour[e], g->mirror[e]);
    return status;
}

static tacit_status send_parcel(sim_worker *w, tacit_agent to, parcel *p,
                                const tacit_public *payload)
{
    tacit_status status = may_send(w);
    if (status == TACIT_OK)
        status = check_payload(w, p->at, payload);
    if (status != TACIT_OK)
        return status;
    p->payload = frozen(w, payload);
    if (!p->payload)
        return tacit_out_of_memory(&w->error);
    status = to == TACIT_NOBODY ? send_all(w, p) : send_one(w, to, p);
    tacit_vector_drop(w->pool, p->payload);
    return status;
}

static tacit_status env_send(void *ctx, tacit_agent to, tacit_address at,
                             const tacit_public *payload)
{
    parcel p;
    p.type = TACIT_MESSAGE;
    p.at = at;
    p.id = 0;
    return send_parcel(ctx, to, &p, payload);
}

static tacit_status env_request(void *ctx, tacit_agent to, tacit_address at,
                                const tacit_public *payload, double deadline, uint64_t *id)
{
    sim_worker *w = ctx;
    sim *s = w->sim;
    if (!s->request)
        return tacit_fail(&w->error, TACIT_EUSAGE, "a protocol that asks must be TACIT_CHATTY");
    if (!(deadline > 0) || to == TACIT_NOBODY)
        return tacit_fail(&w->error, TACIT_EUSAGE, "a request needs a receiver and a deadline");
    sim_request *pending = malloc(sizeof *pending);
    if (!pending)
        return tacit_out_of_memory(&w->error);
    parcel p;
    p.type = TACIT_REQUEST;
    p.at = at;
    p.id = s->agent[w->agent].counter;
    *pending = (sim_request){p.id, s->request[w->agent]};
    s->request[w->agent] = pending;
    tacit_status status = send_parcel(w, to, &p, payload);
    if (status == TACIT_OK) {
        runtime_event late = {.time = w->now + deadline,
                              .to = w->agent,
                              .from = w->agent,
                              .counter = s->agent[w->agent].counter++,
                              .type = TACIT_NO_REPLY,
                              .at = at,
                              .id = p.id};
        status = sim_post(w, &late);
    }
    *id = p.id;
    return status;
}

static tacit_status env_reply(void *ctx, const tacit_event *request, uint32_t kind,
                              const tacit_public *payload)
{
    sim_worker *w = ctx;
    if (request->type != TACIT_REQUEST)
        return tacit_fail(&w->error, TACIT_EUSAGE, "only a request can be replied to");
    parcel p;
    p.type = TACIT_REPLY;
    p.at = (tacit_address){request->at.channel, kind};
    p.id = request->id;
    return send_parcel(w, request->from, &p, payload);
}

static tacit_status env_timer(void *ctx, uint32_t channel, double delay, uint64_t id)
{
    sim_worker *w = ctx;
    if (!(w->sim->flags & TACIT_CHATTY))
        return tacit_fail(&w->error, TACIT_EUSAGE, "a protocol with timers must be TACIT_CHATTY");
    if (!(delay >= 0) || !isfinite(delay))
        return tacit_fail(&w->error, TACIT_EUSAGE, "a timer cannot ring after %g", delay);
    runtime_event event = {.time = w->now + delay,
                           .to = w->agent,
                           .from = w->agent,
                           .counter = w->sim->agent[w->agent].counter++,
                           .type = TACIT_TIMER,
                           .at = {channel, 0},
                           .id = id};
    return sim_post(w, &event);
}

/* ---- chance ---- */

static tacit_agent env_sample_peer(void *ctx)
{
    sim_worker *w = ctx;
    if (w->sim->agents < 2)
        return TACIT_NOBODY;
    tacit_stream stream;
    tacit_stream_open(&stream, &w->sim->random, w->agent, TACIT_FOR_PEERS,
                      w->sim->agent[w->agent].peers++);
    uint64_t peer = tacit_stream_below(&stream, w->sim->agents - 1);
    return peer < w->agent ? peer : peer + 1;
}

static void env_random(void *ctx, uint32_t channel, uint64_t counter, void *out, size_t len)
{
    sim_worker *w = ctx;
    const uint8_t *key = w->sim->random.key[TACIT_FOR_PROTOCOL];
    uint8_t nested[32];
    if (channel != 0) { /* a nested protocol draws under a key of its own */
        uint8_t path[4] = {(uint8_t)channel, (uint8_t)(channel >> 8), (uint8_t)(channel >> 16),
                           (uint8_t)(channel >> 24)};
        crypto_generichash(nested, sizeof nested, path, sizeof path, key, 32);
        key = nested;
    }
    tacit_stream stream;
    tacit_stream_open_key(&stream, key, w->agent, counter);
    tacit_stream_bytes(&stream, out, len);
    tacit_stream_clear(&stream);
}

double sim_next_toggle(const sim *s, uint32_t agent)
{
    const sim_agent *a = &s->agent[agent];
    tacit_stream stream;
    tacit_stream_open(&stream, &s->random, agent, TACIT_FOR_CHURN, a->toggles);
    double mean = a->toggles & 1 ? s->world.network.mean_down : s->world.network.mean_up;
    return mean * tacit_stream_exponential(&stream);
}

/* ---- vectors, privacy, data ---- */

static tacit_public *env_new_public(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_public(tacit_pool_vector(((sim_worker *)ctx)->pool, shape, 0));
}

static tacit_secret *env_new_secret(void *ctx, const tacit_shape *shape)
{
    return tacit_vector_secret(
        tacit_pool_vector(((sim_worker *)ctx)->pool, shape, TACIT_VECTOR_SECRET));
}

static void env_drop(void *ctx, const void *vector)
{
    tacit_vector_drop(((sim_worker *)ctx)->pool, (tacit_vector *)(uintptr_t)vector);
}

/* Only what was sent is remembered: nobody writes to it any more, and as long as it is kept no
 * other vector has its place. */
static void env_gist(void *ctx, tacit_gist *out, const tacit_public *v, uint32_t segment)
{
    sim_worker *w = ctx;
    sim_known *known = &w->known;
    tacit_vector *vector = tacit_vector_of_public(v);
    if (known->of == vector && known->segment == segment) {
        *out = known->gist;
        return;
    }
    tacit_public_gist(out, v, segment);
    if (!(vector->flags & TACIT_VECTOR_FROZEN) || vector->flags & TACIT_VECTOR_SCRATCH)
        return;
    tacit_vector_keep(vector);
    if (known->of)
        tacit_vector_drop(w->pool, known->of);
    *known = (sim_known){vector, segment, *out};
}

static tacit_status env_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    sim_worker *w = ctx;
    *permit = tacit_scratch_alloc(w->scratch, tacit_permit_size());
    if (!*permit)
        return tacit_out_of_memory(&w->error);
    const tacit_budget budget = sim_budget(w->sim, w->agent);
    tacit_status status = tacit_ledger_reserve(&w->sim->ledger[w->agent], w->sim->costs, &budget,
                                               cost, w->now, *permit, &w->error);
    if (status == TACIT_EBUDGET)
        w->traffic.refused++;
    if (status == TACIT_OK)
        tacit_permit_draw_from(*permit, &w->sim->random, w->agent);
    return status;
}

static tacit_status env_give_back(void *ctx, tacit_permit *permit)
{
    sim_worker *w = ctx;
    return tacit_ledger_give_back(&w->sim->ledger[w->agent], permit, &w->error);
}

static tacit_status env_release(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                tacit_public **out)
{
    sim_worker *w = ctx;
    tacit_status status = tacit_mechanism_apply(
        permit, bounded, &(tacit_noise_source){.random = &w->sim->random, .agent = w->agent}, out,
        &w->error);
    if (status == TACIT_OK)
        w->traffic.releases++;
    return status;
}

static tacit_status env_conceal(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                uint32_t parts, tacit_secret **out)
{
    sim_worker *w = ctx;
    const tacit_shape *shape = bounded->value ? bounded->value->shape : NULL;
    tacit_vector *v = shape ? tacit_pool_vector(w->pool, shape, TACIT_VECTOR_SECRET) : NULL;
    if (!v)
        return shape ? tacit_out_of_memory(&w->error)
                     : tacit_fail(&w->error, TACIT_EUSAGE, "there is nothing left to conceal");
    const tacit_noise_source source = {.random = &w->sim->random, .agent = w->agent};
    permit->share = &w->share;
    tacit_status status =
        tacit_mechanism_conceal(permit, bounded, parts, &source, tacit_vector_segment(v, 0),
                                shape->segment[0].count, &w->error);
    if (status == TACIT_OK) {
        w->traffic.releases++;
        *out = tacit_vector_secret(v);
    } else {
        tacit_vector_drop(w->pool, v);
    }
    return status;
}

static const tacit_shard *env_shard(void *ctx, tacit_split split)
{
    sim_worker *w = ctx;
    return w->sim->world.data ? tacit_dataset_shard(w->sim->world.data, w->agent, split) : NULL;
}

static const tacit_model *env_model(void *ctx)
{
    return ((sim_worker *)ctx)->sim->world.model;
}

static const tacit_privacy_options *env_privacy(void *ctx)
{
    return &((sim_worker *)ctx)->sim->world.privacy;
}

static tacit_scratch *env_scratch(void *ctx)
{
    return ((sim_worker *)ctx)->scratch;
}

static void *env_temporary(void *ctx, size_t bytes)
{
    return tacit_scratch_alloc(((sim_worker *)ctx)->scratch, bytes);
}

static void env_metric(void *ctx, const char *name, double value, bool is_private)
{
    sim_worker *w = ctx;
    if (!w->sim->runtime.metric)
        return;
    sim_metric *metric =
        tacit_array_grow(w->metric, &w->metric_capacity, w->metric_count + 1, sizeof *metric);
    if (!metric)
        return; /* a lost metric is better than a lost run */
    w->metric = metric;
    w->metric[w->metric_count++] = (sim_metric){w->now, w->agent, is_private, name, value, 0};
}

static tacit_error *env_error(void *ctx)
{
    return &((sim_worker *)ctx)->error;
}

const tacit_env_ops sim_env_ops = {
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
    .gist = env_gist,
    .reserve = env_reserve,
    .give_back = env_give_back,
    .release = env_release,
    .give = sim_give,
    .conceal = env_conceal,
    .sign = sim_sign,
    .verify = sim_verify,
    .shard = env_shard,
    .model = env_model,
    .privacy = env_privacy,
    .scratch = env_scratch,
    .temporary = env_temporary,
    .metric = env_metric,
    .error = env_error,
};
