/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One round of "gopa", as it is, in the simulator; only that some agents fall silent. Each draws
 * beforehand whether it drops out and which word it will never say. An environment around the
 * simulator's own waits for that word: it does not cross, nor does anything later, and no event
 * reaches the agent any more. Who adds up drops out like everybody else: then the try is over.
 *
 * What is planned for the noise of a sum is worked out here from the options and from who said
 * HERE, not asked of the protocol.
 */
#include <math.h>
#include <stdlib.h>

#include "protocol/totals_inside.h"
#include "reproduce/dropouts.h"

#define UNTIL 1000       /* long after all tries are over */
#define HIDDEN 4096      /* a share that is left out: so much less of variance is as good as none */
#define TRIES 3          /* of a round */
#define FATES 0x66617465 /* seeds of who drops out: apart from the run's own */

const char *const dropouts_moments[] = {"before HERE", "between HERE and WORD",
                                        "between WORD and the last set",
                                        "after CONFIRM, before SEED"};
const char *const dropouts_breaks[] = {"as built", "two of three add no own noise",
                                       "nobody adds own noise"};

/* ---- agents that fall silent ---- */

typedef struct stage {
    const dropouts_task *task;
    dropouts_break broken;
    uint8_t *fate; /* dropouts_moment of each agent */
    bool *gone;
    tacit_trace *trace;
} stage;

typedef struct staged_options {
    gopa_options gopa;
    stage *stage;
} staged_options;

typedef struct staged_shared {
    gopa_shared gopa;
    stage *stage;
} staged_shared;

/* Around the environment of one handler's call; a tacit_traced to all operations but ours. */
typedef struct wrapper {
    tacit_traced traced;
    const tacit_env_ops *inner;
    tacit_env_ops ops;
    stage *stage;
} wrapper;

/* The moment that is over once this was said. Who adds up says other words than members do. */
static dropouts_moment moment_of(uint32_t kind, const tacit_public *payload)
{
    switch (kind) {
    case TOTALS_HERE:
        return DROPOUTS_HERE;
    case TOTALS_WORD:
        return DROPOUTS_WORD;
    case TOTALS_SET:
        return totals_head(payload, 1) == 0 ? DROPOUTS_WORD : DROPOUTS_ANSWER;
    case TOTALS_PAID:
    case TOTALS_CONFIRM:
        return DROPOUTS_ANSWER;
    default:
        return DROPOUTS_SEED;
    }
}

static tacit_status wrapped_send(void *ctx, tacit_agent to, tacit_address at,
                                 const tacit_public *payload)
{
    wrapper *w = ctx;
    stage *s = w->stage;
    const tacit_agent self = tacit_facts_of(&w->traced.inner)->self;
    if (at.kind != TOTALS_HELLO && moment_of(at.kind, payload) >= s->fate[self])
        s->gone[self] = true;
    return s->gone[self] ? TACIT_OK : w->inner->send(ctx, to, at, payload);
}

/* An agent that falls silent in the middle of a call computes nothing more, either. */
static tacit_status wrapped_reserve(void *ctx, const tacit_cost *cost, tacit_permit **permit)
{
    const wrapper *w = ctx;
    return w->stage->gone[tacit_facts_of(&w->traced.inner)->self]
               ? TACIT_EBUDGET
               : w->inner->reserve(ctx, cost, permit);
}

uint32_t dropouts_parts(dropouts_break broken, tacit_agent agent, uint32_t parts)
{
    const bool none = broken == DROPOUTS_NO_OWN || (broken == DROPOUTS_THIRD_OWN && agent % 3 != 0);
    return none ? HIDDEN * parts : parts;
}

static tacit_status wrapped_conceal(void *ctx, tacit_permit *permit, tacit_bounded *bounded,
                                    uint32_t parts, tacit_secret **out)
{
    const wrapper *w = ctx;
    const tacit_agent self = tacit_facts_of(&w->traced.inner)->self;
    return w->inner->conceal(ctx, permit, bounded, dropouts_parts(w->stage->broken, self, parts),
                             out);
}

static tacit_status staged_on(tacit_env *env, const void *shared, void *state,
                              const tacit_event *event)
{
    stage *s = ((const staged_shared *)shared)->stage;
    if (s->gone[tacit_facts_of(env)->self])
        return TACIT_OK;
    wrapper w = {.stage = s};
    tacit_env wrapped = tacit_trace_wrap(&w.traced, s->trace, *env);
    w.inner = wrapped.ops;
    w.ops = *wrapped.ops;
    w.ops.send = wrapped_send;
    w.ops.reserve = wrapped_reserve;
    w.ops.conceal = wrapped_conceal;
    wrapped = (tacit_env){&w.ops, &w, env->channel};
    return gopa_on(&wrapped, shared, state, event);
}

static tacit_status staged_setup(void *shared, const void *options, const tacit_setup *setup,
                                 tacit_error *err)
{
    ((staged_shared *)shared)->stage = ((const staged_options *)options)->stage;
    return tacit_protocol_find("gopa")->setup(shared, options, setup, err);
}

static void draw_fates(stage *s, uint64_t seed)
{
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_CHURN, FATES);
    for (uint32_t u = 0; u < s->task->agents; u++)
        s->fate[u] = tacit_stream_unit(&stream) < s->task->chance
                         ? (uint8_t)tacit_stream_below(&stream, DROPOUTS_MOMENTS)
                         : DROPOUTS_MOMENTS;
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
}

/* ---- what all rounds have in common ---- */

double dropouts_value(uint32_t agent, uint32_t k)
{
    return (agent * 29 + k % 8) % 64 / 64.0;
}

static tacit_status make_data(dropouts_task *t, tacit_error *err)
{
    uint32_t *ones = malloc(t->agents * sizeof *ones);
    double *x = malloc(t->numbers * sizeof *x);
    tacit_status status = ones && x ? TACIT_OK : tacit_out_of_memory(err);
    for (uint32_t u = 0; u < t->agents && !status; u++)
        ones[u] = 1;
    const uint32_t *counts[TACIT_SPLITS] = {ones, NULL, NULL};
    if (!status)
        status = tacit_dataset_create(&t->data, t->agents, t->numbers, TACIT_F64, counts, err);
    for (uint32_t u = 0; u < t->agents && !status; u++) {
        for (uint32_t k = 0; k < t->numbers; k++)
            x[k] = dropouts_value(u, k);
        status = tacit_dataset_put(t->data, u, TACIT_TRAIN, 0, x, 0, err);
    }
    free(ones);
    free(x);
    return status;
}

static tacit_status set_options(dropouts_task *t, tacit_error *err)
{
    const tacit_section *section = &tacit_protocol_find("gopa")->options;
    tacit_status status = tacit_options_defaults(section, &t->options, err);
    totals_options *o = &t->options.totals;
    t->options.masks = t->gaussian ? GOPA_GAUSSIAN : GOPA_UNIFORM;
    o->adders = TOTALS_CURIOUS; /* what the coalition of dropouts_view.c is */
    o->partners = t->partners;
    o->colluders = t->colluders;
    o->least = t->least;
    o->absent = t->absent;
    o->quorum = t->quorum;
    o->tries = TRIES;
    return status;
}

tacit_status dropouts_open(dropouts_task *t, tacit_error *err)
{
    const tacit_model_options model = {.loss = 1, .scalar = TACIT_F64};
    tacit_status status = set_options(t, err);
    if (!status)
        status = make_data(t, err);
    if (!status)
        status = tacit_model_create(&t->model, &model, t->numbers, err);
    return status ? status : tacit_graph_ring(&t->graph, t->agents, err);
}

void dropouts_close(dropouts_task *t)
{
    if (t->data)
        tacit_dataset_free(t->data);
    if (t->model)
        tacit_model_free(t->model);
    tacit_graph_clear(&t->graph);
}

static tacit_status make_world(tacit_world *w, const dropouts_task *t, uint64_t seed,
                               tacit_error *err)
{
    *w = (tacit_world){
        .graph = &t->graph, .data = t->data, .model = t->model, .seed = seed, .threads = 1};
    tacit_status status = tacit_options_defaults(&tacit_network_section, &w->network, err);
    if (!status)
        status = tacit_options_defaults(&tacit_privacy_section, &w->privacy, err);
    w->network.latency = TACIT_LATENCY_EXPONENTIAL;
    w->network.latency_floor = 0.01;
    w->network.latency_mean = 0.1;
    w->privacy.mechanism = TACIT_MECHANISM_GAUSSIAN;
    w->privacy.unit = TACIT_UNIT_USER;
    w->privacy.adjacency = TACIT_REPLACE;
    w->privacy.epsilon = t->epsilon;
    w->privacy.delta = t->delta;
    return status;
}

/* ---- what came of it ---- */

static const gopa_agent *agent_of(const tacit_runtime *rt, uint32_t agent)
{
    return rt->ops->agent_state(rt, agent);
}

tacit_totals *dropouts_totals(const tacit_runtime *rt, uint32_t agent)
{
    return (tacit_totals *)(uintptr_t)(agent_of(rt, agent) + 1);
}

static uint64_t charges(const tacit_runtime *rt, uint32_t agents)
{
    uint64_t sum = 0;
    for (uint32_t u = 0; u < agents; u++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, u);
        for (uint32_t k = 0; k < ledger->count; k++)
            sum += ledger->entries[k].releases;
    }
    return sum;
}

static bool any_word(const tacit_trace *trace)
{
    const tacit_trace_row *rows;
    const size_t count = tacit_trace_rows(trace, &rows);
    for (size_t k = 0; k < count; k++)
        if (rows[k].kind == TACIT_TRACE_SEND && rows[k].at.kind == TOTALS_WORD)
            return true;
    return false;
}

/* Somebody who is in the sum and heard it; TACIT_NOBODY: there is none. */
static tacit_agent find_teller(const tacit_runtime *rt, const stage *s)
{
    for (uint32_t u = 0; u < s->task->agents; u++) {
        const tacit_totals *t = dropouts_totals(rt, u);
        if (!s->gone[u] && agent_of(rt, u)->heard == 1 && t->member.trial == t->judged &&
            t->member.present > 0 && t->member.set)
            return u;
    }
    return TACIT_NOBODY;
}

static tacit_totals_outcome outcome_of(const tacit_runtime *rt, const stage *s)
{
    for (uint32_t u = 0; u < s->task->agents; u++)
        if (!s->gone[u] && agent_of(rt, u)->rounds == 1)
            return agent_of(rt, u)->outcome;
    return TACIT_TOTAL_LOST;
}

/* Who is in the last set, as a member knows it. */
static uint32_t find_members(bool *in, dropouts_past *past, uint32_t teller)
{
    const tacit_totals *t = dropouts_totals(past->rt, teller);
    const totals_roles roles = totals_roles_of(&past->shared->plan, past->run, past->trial);
    uint32_t count = 0;
    for (uint32_t u = 0; u < past->task->agents; u++) {
        in[u] = totals_bit(t->member.set, totals_position(&roles, u));
        count += in[u];
    }
    past->in = in;
    return count;
}

/* The honest that are sure to be in the sum make up the noise. Where a number can be said again in
 * a further try (docs/totals.md, "Who stands by") one less of those present is counted on. */
static double planned_parts(const dropouts_task *t, bool again, uint32_t present)
{
    const double stay = ceil((1 - t->absent) * (again ? present - 1 : present) - 1e-9);
    return floor((stay - t->colluders) / (t->gaussian ? 1 + t->options.slack : 1));
}

static void measure(dropouts_round *out, const dropouts_past *past, uint32_t teller)
{
    const dropouts_task *t = past->task;
    const gopa_agent *a = agent_of(past->rt, teller);
    out->drift = 0;
    for (uint32_t k = 0; k < t->numbers; k++) {
        double members = 0, all = 0;
        for (uint32_t u = 0; u < t->agents; u++) {
            all += dropouts_value(u, k);
            members += past->in[u] ? dropouts_value(u, k) : 0;
        }
        const double mean = tacit_public_get(a->mean, 0, k);
        out->error[k] = mean * out->members - members;
        out->drift += (mean - all / t->agents) / t->numbers;
    }
}

static tacit_status look_back(dropouts_round *out, const tacit_runtime *rt, const stage *s,
                              uint64_t seed, tacit_error *err)
{
    const dropouts_task *t = s->task;
    const tacit_agent teller = find_teller(rt, s);
    out->worded = any_word(s->trace);
    out->charged = charges(rt, t->agents);
    out->outcome = teller == TACIT_NOBODY ? outcome_of(rt, s) : TACIT_TOTAL_HEARD;
    if (teller == TACIT_NOBODY)
        return TACIT_OK;
    const uint32_t who = (uint32_t)teller;
    dropouts_past past = {.task = t,
                          .rt = rt,
                          .trace = s->trace,
                          .shared = rt->ops->shared(rt),
                          .trial = dropouts_totals(rt, who)->judged,
                          .broken = s->broken,
                          .seed = seed};
    memcpy(past.run, agent_of(rt, who)->run, sizeof past.run);
    out->present = dropouts_totals(rt, who)->member.present;
    past.parts = out->parts = planned_parts(t, past.shared->plan.again, out->present);
    out->error = calloc(t->numbers, sizeof *out->error);
    out->score = calloc(t->numbers, sizeof *out->score);
    bool *in = calloc(t->agents, sizeof *in);
    if (!out->error || !out->score || !in) {
        free(in);
        return tacit_out_of_memory(err);
    }
    out->members = find_members(in, &past, who);
    out->planned = past.shared->cost.noise * sqrt(out->members / out->parts);
    tacit_status status =
        out->members == agent_of(rt, who)->members
            ? TACIT_OK
            : tacit_fail(err, TACIT_EINTERNAL, "members of the last set and of the sum differ");
    if (!status)
        measure(out, &past, who);
    if (!status)
        status = dropouts_view(out->score, &out->lift, &past, err);
    free(in);
    return status;
}

static tacit_status play(dropouts_round *out, stage *s, uint64_t seed, tacit_error *err)
{
    tacit_world world;
    tacit_runtime *rt = NULL;
    tacit_protocol protocol = *tacit_protocol_find("gopa");
    const staged_options options = {s->task->options, s};
    tacit_status status = make_world(&world, s->task, seed, err);
    protocol.shared_size = sizeof(staged_shared);
    protocol.setup = staged_setup;
    protocol.on = staged_on;
    world.protocol = &protocol;
    world.protocol_options = &options;
    if (!status)
        status = tacit_simulator.create(&rt, &world, err);
    if (!status)
        status = rt->ops->run(rt, UNTIL, NULL, err);
    if (!status)
        status = look_back(out, rt, s, seed, err);
    tacit_trace_free(s->trace); /* what it keeps is the runtime's memory */
    s->trace = NULL;
    if (rt)
        rt->ops->destroy(rt);
    return status;
}

tacit_status dropouts_run(dropouts_round *out, const dropouts_task *task, uint64_t seed,
                          dropouts_break broken, tacit_error *err)
{
    stage s = {.task = task,
               .broken = broken,
               .fate = calloc(task->agents, sizeof *s.fate),
               .gone = calloc(task->agents, sizeof *s.gone),
               .trace = tacit_trace_create()};
    *out = (dropouts_round){.outcome = TACIT_TOTAL_LOST};
    tacit_status status = s.fate && s.gone && s.trace ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        draw_fates(&s, seed);
        status = play(out, &s, seed, err);
    }
    for (uint32_t u = 0; u < task->agents && !status; u++)
        if (s.gone[u])
            out->gone[s.fate[u]]++;
    tacit_trace_free(s.trace);
    free(s.fate);
    free(s.gone);
    return status;
}

void dropouts_round_clear(dropouts_round *round)
{
    free(round->error);
    free(round->score);
    round->error = round->score = NULL;
}
