/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parent that mounts three askers: on channel 1, on channel 2, and, inside a relay on
 * channel 3, on the relay's own channel 1. An asker does not know where it is mounted: on a
 * wake it asks a random neighbour by a request, answers those of others, and reports what it
 * heard to whoever mounted it.
 */
#include "protocols.h"

enum { KIND_ASK = 1, KIND_ANSWER = 2, RELAY = 3, INSIDE_RELAY = 1 };

typedef struct ask_shared {
    ask_options options;
    tacit_shape shape;
} ask_shared;

double ask_answer(int which, tacit_agent agent)
{
    static const double family[ASKERS] = {1, -1, 1000};
    return family[which] * (double)(agent + 1);
}

/* ---- the child ---- */

static const tacit_shape *asker_payload(const ask_shared *s, tacit_address at)
{
    bool known = at.channel == 0 && (at.kind == KIND_ASK || at.kind == KIND_ANSWER);
    return known ? &s->shape : NULL;
}

static tacit_status asker_ask(tacit_env *env, const ask_shared *s, asker *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint64_t draw;
    if (self->pending || facts->neighbours == 0)
        return TACIT_OK;
    tacit_draw(env, self->asked, &draw, sizeof draw);
    if (self->asked == 0)
        self->first_draw = draw;
    self->whom = facts->neighbour[draw % facts->neighbours];
    tacit_public *question = tacit_new_public(env, &s->shape);
    if (!question)
        return tacit_out_of_memory(tacit_own_error(env));
    uint64_t id = 0;
    tacit_status status =
        tacit_request(env, self->whom, KIND_ASK, question, s->options.deadline, &id);
    tacit_drop(env, question);
    self->pending = id + 1;
    self->asked++;
    return status;
}

static tacit_status asker_serve(tacit_env *env, const ask_shared *s, int which, asker *self,
                                const tacit_event *request)
{
    tacit_public *answer = tacit_new_public(env, &s->shape);
    if (!answer)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_set(answer, 0, 0, ask_answer(which, tacit_facts_of(env)->self));
    tacit_status status = tacit_reply(env, request, KIND_ANSWER, answer);
    tacit_drop(env, answer);
    self->served++;
    return status;
}

static void asker_hear(asker *self, int which, const tacit_event *reply)
{
    double value = tacit_public_get(reply->payload, 0, 0);
    if (reply->id + 1 != self->pending || reply->from != self->whom ||
        value != ask_answer(which, self->whom))
        self->wrong++;
    self->answered++;
    self->pending = 0;
    self->report = value;
    self->ready = 1;
}

static tacit_status asker_on(tacit_env *env, const ask_shared *s, int which, asker *self,
                             const tacit_event *event)
{
    switch (event->type) {
    case TACIT_WAKE:
        return asker_ask(env, s, self);
    case TACIT_REQUEST:
        return asker_serve(env, s, which, self, event);
    case TACIT_REPLY:
        asker_hear(self, which, event);
        return TACIT_OK;
    case TACIT_NO_REPLY:
        self->wrong += event->id + 1 != self->pending;
        self->silent++;
        self->pending = 0;
        return TACIT_OK;
    default:
        return TACIT_OK;
    }
}

/* ---- the relay: only there to be one more level ---- */

static tacit_status relay_on(tacit_env *env, const ask_shared *s, asker *inside,
                             const tacit_event *event)
{
    tacit_env nested = tacit_nest(env, INSIDE_RELAY);
    bool its_own = event->type == TACIT_WAKE || tacit_event_child(env, event) == INSIDE_RELAY;
    return its_own ? asker_on(&nested, s, 2, inside, event) : TACIT_EINTERNAL;
}

static const tacit_shape *relay_payload(const ask_shared *s, tacit_address at)
{
    tacit_address inner;
    return tacit_address_child(at, &inner) == INSIDE_RELAY ? asker_payload(s, inner) : NULL;
}

/* ---- the parent ---- */

static tacit_status child_on(tacit_env *env, const ask_shared *s, ask_agent *self, uint32_t child,
                             const tacit_event *event)
{
    tacit_env nested = tacit_nest(env, child);
    int which = (int)child - 1;
    asker *a = &self->asker[which];
    tacit_status status =
        child == RELAY ? relay_on(&nested, s, a, event) : asker_on(&nested, s, which, a, event);
    if (a->ready) {
        self->total[which] += a->report;
        self->reports[which]++;
        a->ready = 0;
    }
    return status;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    ask_agent *self = state;
    tacit_status status = TACIT_OK;
    uint32_t child = tacit_event_child(env, event);
    if (event->type == TACIT_WAKE) /* the parent's own clock: it wakes its children */
        for (uint32_t k = 1; k <= ASKERS && status == TACIT_OK; k++)
            status = child_on(env, shared, self, k, event);
    else if (child >= 1 && child <= ASKERS)
        status = child_on(env, shared, self, child, event);
    return status;
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    static const tacit_segment value = {"value", TACIT_F64, 1};
    ask_shared *s = shared;
    (void)setup;
    s->options = *(const ask_options *)options;
    return tacit_shape_init(&s->shape, &value, 1, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    tacit_address inner;
    uint32_t child = tacit_address_child(at, &inner);
    if (child == RELAY)
        return relay_payload(shared, inner);
    return child == 1 || child == 2 ? asker_payload(shared, inner) : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(ask_agent);
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    (void)neighbours;
    tacit_save_bytes(saver, state, sizeof(ask_agent));
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)shared;
    (void)neighbours;
    tacit_load_bytes(loader, state, sizeof(ask_agent));
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)env;
    (void)shared;
    (void)state;
}

const tacit_protocol ask_protocol = {
    .name = "ask-test",
    .summary = "children that ask and wait",
    .wire_id = 1002,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_WAKES | TACIT_CHATTY,
    .options = {.name = "protocol"},
    .shared_size = sizeof(ask_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
};
