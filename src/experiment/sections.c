/* SPDX-License-Identifier: Apache-2.0 */
/* The option tables an experiment adds to those of the modules. */
#include <math.h>

#include "tacit/experiment.h"

#define RUN(field) offsetof(tacit_run_options, field)

static const tacit_option run_options[] = {
    {.key = "name",
     .type = TACIT_OPT_TEXT,
     .fallback = "run",
     .offset = RUN(name),
     .help = "name of the run, and of its folder unless another is given"},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 9007199254740992.0,
     .offset = RUN(seed),
     .help = "all randomness of the run comes from this number"},
    {.key = "time",
     .type = TACIT_OPT_REAL,
     .fallback = "100",
     .min = 0,
     .max = 1e9,
     .offset = RUN(time),
     .help = "simulated time; an agent ticks once a unit on average"},
    {.key = "every",
     .type = TACIT_OPT_REAL,
     .fallback = "10",
     .min = 0,
     .max = 1e9,
     .offset = RUN(every),
     .help = "time between rows of metrics.csv; 0 for start and end only"},
    {.key = "checkpoint",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = RUN(checkpoint),
     .help = "time between checkpoints; 0 for one when interrupted"},
    {.key = "sample",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 0,
     .max = 10000,
     .offset = RUN(sample),
     .help = "how many agents have rows of their own in metrics.csv"},
};

const tacit_section tacit_run_section = {.name = "run",
                                         .options = run_options,
                                         .count = sizeof run_options / sizeof *run_options,
                                         .size = sizeof(tacit_run_options)};

static const tacit_option protocol_options[] = {
    {.key = "name",
     .type = TACIT_OPT_TEXT,
     .fallback = "cd",
     .offset = offsetof(tacit_protocol_choice, name),
     .help = "which protocol the agents follow; its own options stand beside this one"},
};

const tacit_section tacit_protocol_section = {.name = "protocol",
                                              .options = protocol_options,
                                              .count = 1,
                                              .size = sizeof(tacit_protocol_choice)};

const tacit_section *const tacit_experiment_sections[] = {
    &tacit_run_section,     &tacit_data_section,    &tacit_graph_section,    &tacit_model_section,
    &tacit_network_section, &tacit_privacy_section, &tacit_protocol_section,
};
const size_t tacit_experiment_section_count =
    sizeof tacit_experiment_sections / sizeof *tacit_experiment_sections;
