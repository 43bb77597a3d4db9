/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFORMANCE_SUITE_H
#define TACIT_CONFORMANCE_SUITE_H
/*
 * What every runtime must do. The suite knows only the operations of tacit/runtime.h and is
 * linked into every test. A new runtime adds one file, conformance/conformance_NAME_test.c,
 * that describes itself as conformance_sim_test.c does and calls conformance_run.
 */
#include "tacit/runtime.h"

typedef struct conformance {
    const tacit_runtime_ops *ops;
    double slack;           /* how far from its time a timer may ring; 0 in simulated time */
    bool simulates_network; /* honours tacit_world.network: latency, loss, absences */
    bool shares_memory;     /* all agents live in this process: receivers share one buffer */
    bool repeats;           /* same seed, same bytes, also through a checkpoint */
    bool groups;            /* has sums over all agents */
    uint32_t threads;
} conformance;

/* Run all tests; returns how many failed. */
int conformance_run(const conformance *runtime);

#endif
