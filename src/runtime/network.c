/* SPDX-License-Identifier: Apache-2.0 */
/* Options of section "network". */
#include <math.h>
#include <stddef.h>

#include "tacit/runtime.h"

static const char *const latencies[] = {"zero", "constant", "exponential", NULL};
#define FIELD(name) offsetof(tacit_network_options, name)

static const tacit_option options[] = {
    {.key = "latency",
     .type = TACIT_OPT_CHOICE,
     .fallback = "zero",
     .choices = latencies,
     .offset = FIELD(latency),
     .help = "how long messages travel; exponential adds a random part to the floor"},
    {.key = "latency-floor",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-6,
     .max = 1e6,
     .offset = FIELD(latency_floor),
     .help = "least travel time, in mean times between two ticks of an agent"},
    {.key = "latency-mean",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1e6,
     .offset = FIELD(latency_mean),
     .help = "mean of the random part"},
    {.key = "loss",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .offset = FIELD(loss),
     .help = "probability that a message never arrives"},
    {.key = "mean-up",
     .type = TACIT_OPT_REAL,
     .fallback = "inf",
     .min = 1e-6,
     .max = INFINITY,
     .offset = FIELD(mean_up),
     .help = "mean time an agent stays online; inf: always"},
    {.key = "mean-down",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-6,
     .max = 1e6,
     .offset = FIELD(mean_down),
     .help = "mean time an agent stays away"},
};

const tacit_section tacit_network_section = {.name = "network",
                                             .options = options,
                                             .count = sizeof options / sizeof *options,
                                             .size = sizeof(tacit_network_options)};
