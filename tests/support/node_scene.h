/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_NODE_SCENE_H
#define TACIT_TEST_NODE_SCENE_H
/* Six agents in a ring with chords on three nodes, frames through the test's hands: agents 0 and 3
 * live on node 0, 1 and 4 on node 1, 2 and 5 on node 2. They run the probe. */
#include "nodes.h"
#include "probe.h"
#include "problem.h"

enum { SCENE_AGENTS = 6, SCENE_NODES = 3 };

typedef struct node_scene {
    tacit_graph graph;
    probe probe;
    tacit_protocol protocol;
    tacit_world world;
    nodes all;
} node_scene;

/* Everything but the nodes: change options, then nodes_open_all. */
void node_scene_init(node_scene *s, uint32_t flags);
/* The same on another number of nodes. */
void node_scene_init_on(node_scene *s, uint32_t flags, uint32_t count);
void node_scene_open(node_scene *s);
void node_scene_run(node_scene *s, double clock);
void node_scene_clear(node_scene *s);
const probe_agent *node_scene_agent(const node_scene *s, tacit_agent agent);
uint64_t node_scene_releases(const node_scene *s, tacit_agent agent);

/* A callback: at every tick release a number, charged to nobody's limit, and tell it to all. */
tacit_status node_scene_speak(tacit_env *env, const probe *p, probe_agent *self,
                              const tacit_event *event);

/* A frame as agent `from` would send it to `to`, `len` bytes at `out` (room for 256), from the
 * word {value, counter}. */
size_t node_scene_frame(const node_scene *s, uint8_t *out, tacit_wire_header header, double value);
/* A header that would be accepted next. */
tacit_wire_header node_scene_header(const node_scene *s, tacit_agent from, tacit_agent to);

#endif
