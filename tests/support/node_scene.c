/* SPDX-License-Identifier: Apache-2.0 */
#include "node_scene.h"

#include <string.h>

#include "base/pool.h"

void node_scene_init(node_scene *s, uint32_t flags)
{
    node_scene_init_on(s, flags, SCENE_NODES);
}

void node_scene_init_on(node_scene *s, uint32_t flags, uint32_t count)
{
    tacit_error err = {0};
    memset(s, 0, sizeof *s);
    probe_init(&s->probe);
    s->protocol = probe_protocol(flags);
    graph_ring(&s->graph, SCENE_AGENTS, 0, 7);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
    s->probe.on = node_scene_speak;
    check_ok(nodes_init(&s->all, &s->world, count, false, &err), &err);
}

void node_scene_open(node_scene *s)
{
    tacit_error err = {0};
    check_ok(nodes_open_all(&s->all, &err), &err);
}

void node_scene_run(node_scene *s, double clock)
{
    tacit_error err = {0};
    check_ok(nodes_run(&s->all, clock, &err), &err);
}

void node_scene_clear(node_scene *s)
{
    nodes_clear(&s->all);
    tacit_graph_clear(&s->graph);
}

const probe_agent *node_scene_agent(const node_scene *s, tacit_agent agent)
{
    return nodes_agent(&s->all, agent)->state;
}

uint64_t node_scene_releases(const node_scene *s, tacit_agent agent)
{
    const node_agent *a = nodes_agent(&s->all, agent);
    return tacit_ledger_releases(
        tacit_ledger_file_ledger(node_store_ledger(nodes_host(&s->all, agent)->store, a->index)));
}

tacit_status node_scene_speak(tacit_env *env, const probe *p, probe_agent *self,
                              const tacit_event *event)
{
    tacit_permit *permit;
    const tacit_cost cost = {.what = "word"};
    if (event->type != TACIT_WAKE)
        return TACIT_OK;
    tacit_status status = tacit_reserve(env, &cost, &permit);
    return status == TACIT_OK ? probe_say(env, p, TACIT_NOBODY, (double)++self->number) : status;
}

size_t node_scene_frame(const node_scene *s, uint8_t *out, tacit_wire_header header, double value)
{
    tacit_error err = {0};
    tacit_pool *pool = tacit_pool_create(true);
    tacit_vector *v = tacit_pool_vector(pool, &s->probe.word, 0);
    size_t len;
    tacit_public_set(tacit_vector_public(v), 0, 0, value);
    check_ok(tacit_wire_encode(out + TACIT_WIRE_HEADER, 256 - TACIT_WIRE_HEADER, &len,
                               tacit_vector_public(v), &err),
             &err);
    tacit_vector_drop(pool, v);
    tacit_pool_free(pool);
    header.payload = (uint32_t)len;
    header.mark.releases = header.releases;
    if (header.releases > 0)
        tacit_mark_sign(&header.mark, &s->all.place[header.from % s->all.count].identity,
                        s->all.run, header.from);
    tacit_wire_write(out, &header);
    return TACIT_WIRE_HEADER + len;
}

tacit_wire_header node_scene_header(const node_scene *s, tacit_agent from, tacit_agent to)
{
    const node_agent *a = nodes_agent(&s->all, to);
    tacit_wire_header h = {.kind = TACIT_WIRE_MESSAGE,
                           .protocol = s->protocol.wire_id,
                           .from = from,
                           .to = to,
                           .incarnation = 1,
                           .sequence = 1,
                           .at = {0, PROBE_WORD}};
    memcpy(h.run, s->all.run, sizeof h.run);
    for (size_t k = 0; k < a->heard_count; k++)
        if (a->heard[k].from == from) {
            h.incarnation = a->heard[k].incarnation;
            h.sequence = a->heard[k].sequence + 1;
            h.releases = a->heard[k].releases;
        }
    return h;
}
