/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_SIM_CLOCK_H
#define TACIT_SIM_CLOCK_H
/*
 * A million Poisson clocks. Each agent's next tick waits in a calendar, a ring of buckets, so
 * that a clock costs 32 bytes and no comparisons.
 * The k-th gap of an agent is the first word of stream (agent, clock, k): it depends on
 * nothing else in the run.
 */
#include "tacit/random.h"

typedef struct sim_tick {
    double time;
    uint32_t agent;
} sim_tick;

typedef struct sim_clock sim_clock;

sim_clock *sim_clock_create(uint32_t agents, const tacit_random *random);
void sim_clock_free(sim_clock *clock);
/* Time of the earliest tick still to come. */
double sim_clock_next(const sim_clock *clock);
/* Take all ticks before `end`, at most some thousands: `*end` is lowered when that needs a
 * shorter window. Sorted by (time, agent). NULL when memory is out. */
const sim_tick *sim_clock_take(sim_clock *clock, double *end, size_t *count);

/* For checkpoints: an agent's next tick and how many gaps it has drawn. */
void sim_clock_get(const sim_clock *clock, uint32_t agent, double *next, uint64_t *drawn);
void sim_clock_put(sim_clock *clock, uint32_t agent, double next, uint64_t drawn);
/* After all agents were put: time from which on to go. False when memory is out. */
bool sim_clock_seek(sim_clock *clock, double now);

#endif
