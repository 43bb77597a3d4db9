/* SPDX-License-Identifier: Apache-2.0 */
#include "sums_toy.h"

#include <string.h>

#include "base/vector_internal.h"

typedef struct toy_shared {
    sums_toy_options options;
} toy_shared;

/* Any 62 bits that depend on everything, and on the weight in a way that shows. */
int64_t sums_toy_number(uint64_t agent, uint64_t round, uint64_t receiver, double weight, size_t k)
{
    uint64_t x = agent * UINT64_C(0x9e3779b97f4a7c15) ^ round * UINT64_C(0xbf58476d1ce4e5b9) ^
                 receiver * UINT64_C(0x94d049bb133111eb) ^ (k + 1) * UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 31;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 29;
    return (int64_t)(x >> 2) + (int64_t)(weight * 0x1p40);
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *world,
                          tacit_error *err)
{
    toy_shared *s = shared;
    (void)world;
    s->options = *(const sums_toy_options *)options;
    return tacit_sums_prepare(&s->options.plan, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const toy_shared *s = shared;
    tacit_address inner;
    return tacit_address_child(at, &inner) == s->options.plan.child
               ? tacit_sums_payload(&s->options.plan, inner)
               : NULL;
}

static tacit_sums *sums_of(const sums_toy_agent *self)
{
    return (tacit_sums *)(uintptr_t)(self + 1);
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    const toy_shared *s = shared;
    return sizeof(sums_toy_agent) + tacit_sums_size(&s->options.plan, neighbours);
}

static double weight(const void *shared, uint64_t round, uint32_t receiver, uint32_t member)
{
    (void)shared, (void)round;
    return 1.0 / (receiver + member);
}

static tacit_status hold(tacit_env *env, const void *shared, void *state, uint32_t slot,
                         double given, tacit_secret **out)
{
    const toy_shared *s = shared;
    sums_toy_agent *self = state;
    const tacit_facts *facts = tacit_facts_of(env);
    const uint64_t round = tacit_sums_round(sums_of(self));
    self->holds++;
    self->twice += self->asked[slot] == round;
    self->asked[slot] = round;
    if (facts->self == s->options.refuses && round % 2)
        return TACIT_NO;
    tacit_secret *number = tacit_new_secret(env, &s->options.plan.number);
    if (!number)
        return tacit_out_of_memory(tacit_own_error(env));
    int64_t *x = tacit_vector_segment(tacit_vector_of_secret(number), 0);
    for (size_t k = 0; k < s->options.plan.numbers; k++)
        x[k] = sums_toy_number(facts->self, round, facts->neighbour[slot], given, k);
    *out = number;
    return TACIT_OK;
}

/* Not the plain sum over those whom tacit_sums_has names? */
static bool is_wrong(tacit_env *env, const toy_shared *s, sums_toy_agent *self,
                     const tacit_event *event)
{
    const tacit_facts *facts = tacit_facts_of(env);
    uint32_t members = 0;
    bool wrong = false;
    for (uint32_t n = 0; n < facts->neighbours; n++)
        members += tacit_sums_has(sums_of(self), n, NULL);
    for (size_t k = 0; k < s->options.plan.numbers; k++) {
        uint64_t plain = 0;
        for (uint32_t n = 0; n < facts->neighbours; n++) {
            double w;
            if (tacit_sums_has(sums_of(self), n, &w))
                plain +=
                    (uint64_t)sums_toy_number(facts->neighbour[n], event->id, facts->self, w, k);
        }
        wrong |= plain != (uint64_t)tacit_public_get_int(event->payload, 0, k);
    }
    self->members += members;
    self->full += members == facts->neighbours;
    return wrong || members < s->options.plan.least;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event);
static const tacit_sums_user user = {.weight = weight, .hold = hold, .on = on};

static tacit_status on_round(tacit_env *env, const toy_shared *s, sums_toy_agent *self,
                             const tacit_event *event)
{
    self->wrong += event->id <= self->last;
    self->events++;
    self->last = event->id;
    if (event->payload) {
        self->sums++;
        self->wrong += is_wrong(env, s, self, event);
    }
    if (event->id >= s->options.rounds)
        return TACIT_OK;
    return tacit_sums_next(env, &s->options.plan, sums_of(self), event->id + 1, &user, s, self);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const toy_shared *s = shared;
    sums_toy_agent *self = state;
    self->sums_at = sums_of(self);
    if (event->type == TACIT_ROUND)
        return on_round(env, s, self, event);
    if (event->type != TACIT_START)
        return tacit_sums_feed(env, &s->options.plan, sums_of(self), event, &user, s, self);
    tacit_status status = tacit_sums_start(env, &s->options.plan, sums_of(self));
    return status == TACIT_OK
               ? tacit_sums_next(env, &s->options.plan, sums_of(self), 1, &user, s, self)
               : status;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const toy_shared *s = shared;
    const sums_toy_agent *self = state;
    tacit_save_bytes(saver, self, offsetof(sums_toy_agent, sums_at));
    tacit_sums_save(&s->options.plan, sums_of(self), neighbours, saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const toy_shared *s = shared;
    sums_toy_agent *self = state;
    tacit_load_bytes(loader, self, offsetof(sums_toy_agent, sums_at));
    tacit_sums_load(&s->options.plan, sums_of(self), neighbours, loader);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    const toy_shared *s = shared;
    tacit_sums_end(env, &s->options.plan, sums_of(state));
}

const tacit_protocol sums_toy = {
    .name = "sums-toy",
    .summary = "masked sums of known numbers",
    .wire_id = 1002,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_CHATTY,
    .options = {.name = "protocol"},
    .shared_size = sizeof(toy_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
};
