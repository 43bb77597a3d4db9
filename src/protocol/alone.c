/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alone: each agent minimises its own L_i exactly (paper 000 eq. 1) and never speaks. The
 * baseline that is perfectly private and that collaboration has to beat.
 */
#include "protocol/personal.h"

typedef struct alone_shared {
    const tacit_shape *shape;
} alone_shared;

typedef struct alone_agent {
    const tacit_secret *theta;
} alone_agent;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    (void)options;
    (void)err;
    ((alone_shared *)shared)->shape = tacit_model_shape(setup->model);
    return TACIT_OK;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(alone_agent);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    (void)shared;
    alone_agent *self = state;
    return event->type == TACIT_START ? personal_learn_alone(env, &self->theta) : TACIT_OK;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    (void)neighbours;
    tacit_save_secret(saver, ((const alone_agent *)state)->theta);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)neighbours;
    ((alone_agent *)state)->theta =
        tacit_load_secret(loader, ((const alone_shared *)shared)->shape);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)shared;
    tacit_drop(env, ((alone_agent *)state)->theta);
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)shared;
    return ((const alone_agent *)state)->theta;
}

const tacit_protocol tacit_protocol_alone = {
    .name = "alone",
    .summary = "every agent learns from its own records only and never speaks",
    .wire_id = 1,
    .trust = TACIT_TRUST_SILENT,
    .options = {.name = "protocol"},
    .shared_size = sizeof(alone_shared),
    .setup = setup,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
