/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dp-sgd: what a curator who holds all records would learn by noisy gradients (Abadi et al. 2016;
 * the central baseline of paper 004):
 *
 *     theta <- theta - eta G(theta),   G = (sum over a lot of clipped gradients + sigma C xi) / L,
 *
 * lots drawn from everybody's records. An oracle: it runs in the simulator only. Agent 0 plays the
 * curator, and its ledger is charged for all; the others hold its model. Trust is `central`, and
 * epsilon holds for any record of any agent.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "protocol/consensus.h"

typedef struct curator {
    const tacit_public *theta; /* of agent 0, for all to see */
} curator;

typedef struct central_shared {
    consensus_shared common;
    const tacit_shard *pooled;
    curator *curator; /* the one thing that changes after set-up: only agent 0 writes */
} central_shared;

typedef struct central_agent {
    tacit_public *theta, *momentum, *mean;
    double noise;
    uint64_t iteration;
    bool spent;
} central_agent;

/* The curator's view of itself: all records are its own. */
static tacit_facts facts_of(tacit_env *env, const central_shared *s)
{
    tacit_facts facts = *tacit_facts_of(env);
    facts.records = tacit_shard_rows(s->pooled);
    return facts;
}

static tacit_status gradient(tacit_env *env, const central_shared *s, central_agent *self,
                             tacit_public **out)
{
    const tacit_facts facts = facts_of(env, s);
    const consensus_shared *c = &s->common;
    tacit_cost cost;
    tacit_permit *permit;
    tacit_bounded *bounded;
    tacit_error *err = tacit_own_error(env);
    tacit_status status = consensus_cost(c, &facts, self->noise, &cost, err);
    if (status == TACIT_OK)
        status = tacit_reserve(env, &cost, &permit);
    if (status != TACIT_OK)
        return status;
    status = tacit_model_gradient(c->model, permit, s->pooled, self->theta,
                                  consensus_clip(c, &cost), tacit_own_scratch(env), &bounded, err);
    return status == TACIT_OK ? tacit_release(env, permit, bounded, out) : status;
}

static tacit_status step(tacit_env *env, const central_shared *s, central_agent *self)
{
    const tacit_facts facts = facts_of(env, s);
    const consensus_options *o = &s->common.options;
    tacit_public *found;
    tacit_status status = gradient(env, s, self, &found);
    if (status == TACIT_EBUDGET) {
        self->spent = true;
        return TACIT_OK;
    }
    if (status != TACIT_OK)
        return status;
    tacit_public_scale(self->momentum, o->momentum);
    tacit_public_axpy(self->momentum, consensus_scale(&s->common, &facts), found);
    tacit_public_axpy(self->momentum, 2 * tacit_model_lambda(s->common.model, facts.records),
                      self->theta);
    tacit_public_axpy(self->theta, -consensus_rate(&s->common, self->iteration), self->momentum);
    consensus_average(&s->common, self->iteration, self->theta, self->mean);
    return TACIT_OK;
}

/* ---- events ---- */

static void show(const central_shared *s, const central_agent *self)
{
    const bool mean = s->common.options.average > 0 && self->iteration > 0;
    s->curator->theta = mean ? self->mean : self->theta;
}

static tacit_status set_clock(tacit_env *env, const central_shared *s, const central_agent *self)
{
    const consensus_options *o = &s->common.options;
    const double next = o->period * (double)(self->iteration + 1) - tacit_facts_of(env)->now;
    if (self->iteration == (uint64_t)o->iterations || self->spent)
        return TACIT_OK;
    return tacit_timer(env, next > 0 ? next : 0, self->iteration + 1);
}

static tacit_status start(tacit_env *env, const central_shared *s, central_agent *self)
{
    const consensus_shared *c = &s->common;
    tacit_public **vector[] = {&self->theta, &self->momentum, &self->mean};
    for (size_t k = 0; k < sizeof vector / sizeof *vector; k++)
        if (!(*vector[k] = tacit_new_public(env, c->shape)))
            return tacit_out_of_memory(tacit_own_error(env));
    tacit_model_start(c->model, tacit_facts_of(env)->run, self->theta);
    show(s, self);
    const tacit_facts facts = facts_of(env, s);
    tacit_cost cost;
    tacit_status status = consensus_cost(c, &facts, 0, &cost, tacit_own_error(env));
    if (status == TACIT_OK && c->privacy.mechanism != TACIT_MECHANISM_NONE)
        self->noise = cost.noise / c->privacy.clip;
    return status == TACIT_OK ? set_clock(env, s, self) : status;
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    const central_shared *s = shared;
    central_agent *self = state;
    if (tacit_facts_of(env)->self != 0)
        return TACIT_OK;
    if (event->type == TACIT_START)
        return start(env, s, self);
    if (event->type != TACIT_TIMER || event->id != self->iteration + 1)
        return TACIT_OK;
    self->iteration++;
    tacit_status status = step(env, s, self);
    show(s, self);
    return status == TACIT_OK ? set_clock(env, s, self) : status;
}

/* ---- set-up and state ---- */

static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    static const consensus_way way = {.parts = 1};
    central_shared *s = shared;
    if (!setup->pooled)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"dp-sgd\" pools all data and runs in the simulator only");
    const bool none = setup->privacy->mechanism == TACIT_MECHANISM_NONE;
    /* Under add-remove an error would tell that there are none. */
    if (tacit_shard_rows(setup->pooled) == 0 &&
        (none || setup->privacy->adjacency == TACIT_REPLACE))
        return tacit_fail(err, TACIT_EINPUT, "there are no training records");
    tacit_setup alone = *setup;
    alone.graph = NULL; /* a curator needs nobody to talk to */
    s->pooled = setup->pooled;
    if (!(s->curator = calloc(1, sizeof *s->curator)))
        return tacit_out_of_memory(err);
    return consensus_setup(&way, &s->common, options, &alone, err);
}

static void teardown(void *shared)
{
    free(((central_shared *)shared)->curator);
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(central_agent);
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    const central_agent *self = state;
    (void)shared;
    (void)neighbours;
    tacit_save_public(saver, self->theta);
    tacit_save_public(saver, self->momentum);
    tacit_save_public(saver, self->mean);
    tacit_save_f64(saver, self->noise);
    tacit_save_u64(saver, self->iteration);
    tacit_save_u64(saver, self->spent);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    const central_shared *s = shared;
    central_agent *self = state;
    (void)neighbours;
    self->theta = tacit_load_public(loader, s->common.shape);
    self->momentum = tacit_load_public(loader, s->common.shape);
    self->mean = tacit_load_public(loader, s->common.shape);
    self->noise = tacit_load_f64(loader);
    self->iteration = tacit_load_u64(loader);
    self->spent = tacit_load_u64(loader) != 0;
    if (self->theta)
        show(s, self);
}

static void end(tacit_env *env, const void *shared, void *state)
{
    const central_shared *s = shared;
    central_agent *self = state;
    if (self->theta)
        s->curator->theta = NULL;
    tacit_drop(env, self->theta);
    tacit_drop(env, self->momentum);
    tacit_drop(env, self->mean);
}

static const tacit_secret *model(const void *shared, const void *state)
{
    const central_shared *s = shared;
    (void)state;
    return s->curator->theta ? tacit_public_as_secret(s->curator->theta) : NULL;
}

static const tacit_option rows[] = {
    CONSENSUS_OPTIONS_OF_STEPS,
    CONSENSUS_OPTION_MOMENTUM,
};

const tacit_protocol tacit_protocol_dp_sgd = {
    .name = "dp-sgd",
    .summary = "one model from noisy gradients of pooled records: an oracle, simulator only",
    .wire_id = 15,
    .trust = TACIT_TRUST_CENTRAL,
    .flags = TACIT_ORACLE | TACIT_CHATTY | TACIT_NETS,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(consensus_options)},
    .shared_size = sizeof(central_shared),
    .setup = setup,
    .teardown = teardown,
    .agent_size = agent_size,
    .on = on,
    .save = save,
    .load = load,
    .end = end,
    .model = model,
};
