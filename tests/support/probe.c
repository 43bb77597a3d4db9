/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <string.h>

void probe_init(probe *p)
{
    static const tacit_segment word[] = {{"value", TACIT_F64, 1}, {"counter", TACIT_I64, 1}};
    static const tacit_segment other = {"value", TACIT_F64, 1};
    static const tacit_segment sum = {"sum", TACIT_F64, 3}, beside = {"count", TACIT_I64, 2};
    tacit_error err = {0};
    memset(p, 0, sizeof *p);
    check_ok(tacit_shape_init(&p->word, word, 2, &err), &err);
    check_ok(tacit_shape_init(&p->other, &other, 1, &err), &err);
    check_ok(tacit_shape_init(&p->sum, &sum, 1, &err), &err);
    check_ok(tacit_shape_init(&p->beside, &beside, 1, &err), &err);
}

/* `shared` only points at the test's probe. */
static tacit_status setup(void *shared, const void *options, const tacit_setup *setup,
                          tacit_error *err)
{
    (void)setup;
    (void)err;
    *(const probe **)shared = options;
    return TACIT_OK;
}

static const probe *probe_of(const void *shared)
{
    return *(const probe *const *)shared;
}

static const tacit_shape *payload(const void *shared, tacit_address at)
{
    if (at.kind == PROBE_SUM)
        return &probe_of(shared)->sum;
    if (at.kind == (PROBE_SUM | TACIT_BESIDE))
        return &probe_of(shared)->beside;
    return at.kind == PROBE_WORD || at.kind == PROBE_ANSWER ? &probe_of(shared)->word : NULL;
}

static size_t agent_size(const void *shared, uint32_t neighbours)
{
    (void)shared;
    (void)neighbours;
    return sizeof(probe_agent);
}

static tacit_status on(tacit_env *env, const void *shared, void *state, const tacit_event *event)
{
    probe_agent *self = state;
    const probe *p = probe_of(shared);
    if (self->count < PROBE_LOG)
        self->log[self->count] =
            (probe_entry){.time = tacit_facts_of(env)->now,
                          .type = (uint32_t)event->type,
                          .slot = event->slot,
                          .channel = event->at.channel,
                          .kind = event->at.kind,
                          .from = event->from,
                          .id = event->id,
                          .value = event->payload ? tacit_public_get(event->payload, 0, 0) : 0,
                          .payload = event->payload};
    self->count++;
    self->of_type[event->type]++;
    if (event->type == TACIT_MESSAGE && event->from < PROBE_PEERS) {
        const double value = tacit_public_get(event->payload, 0, 0);
        self->twice += value <= self->heard[event->from];
        self->heard[event->from] = value;
    }
    return p->on ? p->on(env, p, self, event) : TACIT_OK;
}

static void save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver)
{
    (void)shared;
    (void)neighbours;
    probe_agent copy = *(const probe_agent *)state;
    for (size_t k = 0; k < PROBE_LOG; k++)
        copy.log[k].payload = NULL; /* an address means nothing elsewhere */
    tacit_save_bytes(saver, &copy, sizeof copy);
}

static void load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader)
{
    (void)shared;
    (void)neighbours;
    tacit_load_bytes(loader, state, sizeof(probe_agent));
}

static void end(tacit_env *env, const void *shared, void *state)
{
    (void)env;
    (void)shared;
    (void)state;
}

tacit_protocol probe_protocol(uint32_t flags)
{
    return (tacit_protocol){
        .name = "probe",
        .summary = "writes down what happens",
        .wire_id = 1000,
        .trust = TACIT_TRUST_LOCAL,
        .flags = flags,
        .options = {.name = "protocol"},
        .shared_size = sizeof(const probe *),
        .setup = setup,
        .payload = payload,
        .agent_size = agent_size,
        .on = on,
        .save = save,
        .load = load,
        .end = end,
    };
}

tacit_public *probe_word(tacit_env *env, const probe *p, double value)
{
    tacit_public *word = tacit_new_public(env, &p->word);
    assert_non_null(word);
    tacit_public_set(word, 0, 0, value);
    return word;
}

tacit_status probe_say(tacit_env *env, const probe *p, tacit_agent to, double value)
{
    tacit_public *word = probe_word(env, p, value);
    tacit_status status = tacit_send(env, to, PROBE_WORD, word);
    tacit_drop(env, word);
    return status;
}

uint64_t probe_seen(const probe_agent *agent, tacit_event_type type)
{
    uint64_t seen = 0;
    for (uint64_t k = 0; k < agent->count && k < PROBE_LOG; k++)
        seen += agent->log[k].type == (uint32_t)type;
    return seen;
}
