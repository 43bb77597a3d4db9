/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronous averaging by tacit_rounds: in each round
 *
 *     x_i <- 1/2 x_i + 1/2 sum_j W_ij/D_i x_j,
 *
 * a missing x_j counting as x_i. With nothing missing, R rounds are the R-th power of a
 * matrix, whatever the network does to the order of words.
 */
#include "protocols.h"

enum { KIND_WORD = 1 };

typedef struct rounds_shared {
    rounds_options options;
    tacit_shape shape;
} rounds_shared;

double rounds_start(tacit_agent agent)
{
    return (double)(agent * agent % 17) - 3;
}

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    static const tacit_segment word[] = {{"x", TACIT_F64, 1}, {"round", TACIT_I64, 1}};
    rounds_shared *s = shared;
    (void)setup;
    s->options = *(const rounds_options *)options;
    return tacit_shape_init(&s->shape, word, 2, err);
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    const rounds_shared *s = shared;
    return at.channel == 0 && at.kind == KIND_WORD ? &s->shape : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    return sizeof(rounds_agent) + 2 * neighbours * sizeof(const tacit_public *);
}

static tacit_status say(tacit_env *env, const rounds_shared *s, rounds_agent *self)
{
    tacit_public *word = tacit_new_public(env, &s->shape);
    if (!word)
        return tacit_out_of_memory(tacit_own_error(env));
    tacit_public_set(word, 0, 0, self->x);
    tacit_status status = tacit_rounds_say(env, &self->rounds, KIND_WORD, word);
    tacit_drop(env, word);
    return status;
}

static tacit_status average(tacit_env *env, const rounds_shared *s, rounds_agent *self)
{
    const tacit_facts *facts = tacit_facts_of(env);
    double sum = 0;
    for (uint32_t k = 0; k < facts->neighbours; k++) {
        const tacit_public *word = tacit_rounds_word(&self->rounds, k);
        sum += facts->weight[k] / facts->degree * (word ? tacit_public_get(word, 0, 0) : self->x);
        self->missing += word == NULL;
    }
    if (facts->neighbours > 0)
        self->x = 0.5 * self->x + 0.5 * sum;
    if (self->rounds.round + 1 == s->options.rounds) {
        self->done = 1;
        return TACIT_OK;
    }
    tacit_rounds_next(env, &self->rounds);
    return say(env, s, self);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const rounds_shared *s = shared;
    rounds_agent *self = state;
    tacit_status status = TACIT_OK;
    switch (event->type) {
    case TACIT_START:
        self->x = rounds_start(tacit_facts_of(env)->self);
        tacit_rounds_init(&self->rounds, self->word, tacit_facts_of(env)->neighbours,
                          s->options.patience);
        status = say(env, s, self);
        break;
    case TACIT_ROUND:
        return average(env, s, self);
    case TACIT_MESSAGE:
    case TACIT_TIMER:
        break;
    default:
        return TACIT_OK;
    }
    /* After START, too: an agent without neighbours has nothing to wait for. */
    if (status == TACIT_OK && !self->done)
        status = tacit_rounds_feed(env, &self->rounds, event, on, shared, self);
    return status;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const rounds_agent *self = state;
    (void)shared;
    (void)neighbours;
    tacit_save_f64(saver, self->x);
    tacit_save_u64(saver, self->missing);
    tacit_save_u64(saver, self->done);
    tacit_rounds_save(&self->rounds, saver);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const rounds_shared *s = shared;
    rounds_agent *self = state;
    self->x = tacit_load_f64(loader);
    self->missing = tacit_load_u64(loader);
    self->done = tacit_load_u64(loader);
    tacit_rounds_load(&self->rounds, self->word, neighbours, loader, &s->shape);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    tacit_rounds_end(env, &((rounds_agent *)state)->rounds);
}

const tacit_protocol rounds_protocol = {
    .name = "rounds-test",
    .summary = "averages in synchronous rounds",
    .wire_id = 1001,
    .trust = TACIT_TRUST_LOCAL,
    .flags = TACIT_CHATTY,
    .options = {.name = "protocol"},
    .shared_size = sizeof(rounds_shared),
    .setup = setup,
    .payload = payload,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
};
