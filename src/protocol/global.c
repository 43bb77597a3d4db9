/* SPDX-License-Identifier: Apache-2.0 */
/*
 * global: one model from everybody's records, found exactly by a curator who sees them all.
 * An oracle to compare with: it runs in the simulator only, and its trust is `central`.
 */
#include "tacit/protocol.h"

typedef struct global_shared {
    const tacit_secret *theta;
} global_shared;

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    (void)options;
    if (!setup->pooled || !setup->oracle)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"global\" pools all data and runs in the simulator only");
    ((global_shared *)shared)->theta = setup->oracle;
    return tacit_model_solve(setup->model, setup->pooled, setup->oracle, err);
}

/* Agents have nothing of their own. */
static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return 0;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    (void)env;
    (void)shared;
    (void)state;
    (void)event;
    return TACIT_OK;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    (void)state;
    (void)neighbours;
    (void)saver;
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)shared;
    (void)state;
    (void)neighbours;
    (void)loader;
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)env;
    (void)shared;
    (void)state;
}

static const tacit_secret *model(const void *shared, const void *state)
{
    (void)state;
    return ((const global_shared *)shared)->theta;
}

const tacit_protocol tacit_protocol_global = {
    .name = "global",
    .summary = "one model from all records pooled: an oracle, simulator only",
    .wire_id = 2,
    .trust = TACIT_TRUST_CENTRAL,
    .flags = TACIT_ORACLE,
    .options = {.name = "protocol"},
    .shared_size = sizeof(global_shared),
    .setup = setup,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
