/* SPDX-License-Identifier: Apache-2.0 */
/*
 * average: what is the mean number of records an agent has? Nobody knows all numbers, so they
 * gossip. Each agent holds a sum and a weight, at first its own number and 1. When its clock
 * ticks it keeps one part of both and sends the rest to a random neighbour, who adds them to
 * its own. Nothing is made or lost on the way, hence sum / weight tends to
 *
 *     (all numbers) / (all agents)
 *
 * at every agent of a connected graph. (A network that loses messages loses what is in them:
 * then the answer is off. A real protocol would have to care.)
 *
 * The number of records is public under the adjacency "replace", so no permit is needed: the
 * protocol never touches a record, and could not send anything computed from one.
 */
#include <stddef.h>

#include "tacit/protocol.h"

enum { KIND_SHARE = 1 }; /* the only kind of message there is */

/* ---- options: one struct, and one table that checks, documents and completes them ---- */

typedef struct average_options {
    double keep;
} average_options;

static const tacit_option options[] = {
    {.key = "keep",
     .type = TACIT_OPT_REAL,
     .fallback = "0.5",
     .min = 0.01,
     .max = 0.99,
     .offset = offsetof(average_options, keep),
     .help = "the part an agent keeps when it shares what it has"},
};

/* ---- once a run: what all agents share, read-only afterwards ---- */

typedef struct average_shared {
    average_options options;
    tacit_shape share; /* what a message holds */
} average_shared;

static tacit_status setup(void *shared, const void *chosen, const tacit_setup *world,
                          tacit_error *err)
{
    static const tacit_segment segments[] = {{"sum", TACIT_F64, 1}, {"weight", TACIT_F64, 1}};
    average_shared *s = shared;
    (void)world;
    s->options = *(const average_options *)chosen;
    return tacit_shape_init(&s->share, segments, 2, err);
}

/* A runtime asks what a message of this address looks like: to check it, to decode it. */
static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const average_shared *s = shared;
    return at.channel == 0 && at.kind == KIND_SHARE ? &s->share : NULL;
}

/* ---- one agent; the runtime allocates it, zeroed ---- */

typedef struct average_agent {
    double sum, weight;
    uint64_t draws; /* names the next random draw: streams have no state of their own */
} average_agent;

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(average_agent);
}

static tacit_status give(tacit_env *env, const average_shared *s, average_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (facts->neighbours == 0)
        return TACIT_OK;
    uint64_t draw;
    tacit_draw(env, self->draws++, &draw, sizeof draw);
    tacit_agent to = facts->neighbour[draw % facts->neighbours];

    tacit_public *share = tacit_new_public(env, &s->share);
    if (!share)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_set(share, 0, 0, (1 - s->options.keep) * self->sum);
    tacit_public_set(share, 1, 0, (1 - s->options.keep) * self->weight);
    self->sum *= s->options.keep;
    self->weight *= s->options.keep;
    tacit_status status = tacit_send(env, to, KIND_SHARE, share);
    tacit_drop(env, share); /* the receiver has its own reference */
    return status;
}

/* Everything that happens to an agent comes through here. */
static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    average_agent *self = state;
    switch (event->type) {
    case TACIT_START:
        self->sum = (double)tacit_facts_of(env)->records;
        self->weight = 1;
        return TACIT_OK;
    case TACIT_WAKE:
        return give(env, shared, self);
    case TACIT_MESSAGE:
        self->sum += tacit_public_get(event->payload, 0, 0);
        self->weight += tacit_public_get(event->payload, 1, 0);
        return TACIT_OK;
    case TACIT_FINISH:
        tacit_metric(env, "average", self->sum / self->weight);
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

/* ---- checkpoints are not optional: any run may be stopped and resumed ---- */

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const average_agent *self = state;
    (void)shared;
    (void)neighbours;
    tacit_save_f64(saver, self->sum);
    tacit_save_f64(saver, self->weight);
    tacit_save_u64(saver, self->draws);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    average_agent *self = state;
    (void)shared;
    (void)neighbours;
    self->sum = tacit_load_f64(loader);
    self->weight = tacit_load_f64(loader);
    self->draws = tacit_load_u64(loader);
}

/* Drop every vector the agent holds: this one holds none between events. */
static void end(tacit_env *env, const void *shared, void *state)
{
    (void)env;
    (void)shared;
    (void)state;
}

/* ---- and the table that is the protocol; src/protocol/registry.c lists it: X(average) ---- */

extern const tacit_protocol tacit_protocol_average;
const tacit_protocol tacit_protocol_average = {
    .name = "average",
    .summary = "the mean number of records an agent has, by gossip",
    .wire_id = 900, /* never reused by another protocol */
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES,
    .options = {"protocol", options, sizeof options / sizeof *options, sizeof(average_options)},
    .shared_size = sizeof(average_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
};
