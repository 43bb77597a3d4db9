/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_STAGE_H
#define TACIT_TEST_STAGE_H
/* A run of a protocol on a small problem (problem.h), as far as tests want to change it. */
#include "problem.h"

typedef struct stage {
    problem q;
    unsigned char options[8192];
    tacit_world world;
    tacit_runtime *rt; /* NULL: not created yet */
} stage;

void stage_init(stage *s, const char *protocol, uint64_t seed, int loss);
/* After s->q was changed. */
void stage_rebuild(stage *s);
void stage_set(stage *s, const char *key, const char *value);
/* Gaussian noise for records clipped to 0.5, delta 1e-3. */
void stage_noise(stage *s, double epsilon);
/* Creates the runtime if there is none. */
void stage_run(stage *s, double time);
void stage_finish(stage *s);
/* Destroys the runtime alone. */
void stage_again(stage *s);
void stage_clear(stage *s);

#endif
