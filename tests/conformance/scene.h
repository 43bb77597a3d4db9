/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFORMANCE_SCENE_H
#define TACIT_CONFORMANCE_SCENE_H
/* A ring of agents on the runtime under test, that run the probe or another protocol. */
#include "probe.h"
#include "problem.h"
#include "suite.h"
#include "testing.h"

extern const conformance *runtime; /* under test */

typedef struct scene {
    tacit_graph graph;
    probe probe;
    tacit_protocol protocol;
    tacit_world world;
    tacit_runtime *rt;
} scene;

void scene_init(scene *s, uint32_t agents, uint32_t flags);
void scene_run(scene *s, double time);
/* Run until `cut`, save, and go on in a fresh runtime that loads it. */
void scene_reload(scene *s, double cut);
void scene_clear(scene *s);
/* NULL for an agent that lives elsewhere. */
const probe_agent *probe_at(const scene *s, tacit_agent agent);
/* Equal times, as far as this runtime can tell. */
bool near(double a, double b);

/* suite_protocols.c: its tests, into `tests`. */
void conformance_protocol_tests(struct CMUnitTest *tests, size_t room);
/* suite_groups.c: the same. */
void conformance_group_tests(struct CMUnitTest *tests, size_t room);

#endif
