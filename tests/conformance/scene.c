/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <math.h>
#include <string.h>

const conformance *runtime;

void scene_init(scene *s, uint32_t agents, uint32_t flags)
{
    memset(s, 0, sizeof *s);
    probe_init(&s->probe);
    s->protocol = probe_protocol(flags);
    graph_ring(&s->graph, agents, agents / 2, 7);
    s->world = world_defaults(&s->graph, &s->protocol);
    s->world.protocol_options = &s->probe;
    s->world.threads = runtime->threads;
}

void scene_run(scene *s, double time)
{
    if (!s->rt)
        s->rt = world_create(runtime->ops, &s->world);
    world_run(s->rt, time);
}

void scene_reload(scene *s, double cut)
{
    tacit_error err = {0};
    tacit_saver *saver;
    size_t len;
    scene_run(s, cut);
    const uint8_t *bytes = save_bytes(s->rt, &saver, &len);
    runtime->ops->destroy(s->rt);
    s->rt = world_create(runtime->ops, &s->world);
    check_ok(load_bytes(s->rt, bytes, len, &err), &err);
    tacit_saver_free(saver);
    assert_true(runtime->ops->now(s->rt) == cut);
}

void scene_clear(scene *s)
{
    if (s->rt)
        runtime->ops->destroy(s->rt);
    tacit_graph_clear(&s->graph);
}

const probe_agent *probe_at(const scene *s, tacit_agent agent)
{
    return runtime->ops->agent_state(s->rt, agent);
}

bool near(double a, double b)
{
    return fabs(a - b) <= runtime->slack + 1e-9;
}
