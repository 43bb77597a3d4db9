/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TEST_OBSERVER_H
#define TACIT_TEST_OBSERVER_H
/*
 * What an observer sees of a run: who sends when, to whom and how much, what is not covered by
 * noise in it, releases, ledgers and public metrics. Of two worlds whose records are neighbours all
 * of that must be the same; only numbers that carry noise or masks may differ.
 */
#include "testing.h"

enum { OBSERVED_AGENTS = 6, OBSERVED_FEATURES = 3, OBSERVED_RECORDS = 6, OBSERVED_METRICS = 64 };

typedef enum observed_model {
    OBSERVED_LOGISTIC,
    OBSERVED_SQUARED,
    OBSERVED_SOFTMAX,
    OBSERVED_NET
} observed_model;

/* Everybody's records. */
typedef struct observed_records {
    uint32_t count[OBSERVED_AGENTS];
    double x[OBSERVED_AGENTS][OBSERVED_RECORDS][OBSERVED_FEATURES];
    double y[OBSERVED_AGENTS][OBSERVED_RECORDS]; /* 1 or -1 */
} observed_records;

typedef struct observed_setting {
    const char *protocol;
    const char *options, *privacy; /* "key=value key=value" */
    tacit_adjacency adjacency;
    tacit_unit unit;
    observed_model model;
    double lambda; /* 0: by the number of records */
    bool star;     /* around agent 0 */
    double time;   /* 0: 4 */
} observed_setting;

typedef struct observed_metric {
    double time, value;
    tacit_agent agent;
    const char *name;
} observed_metric;

typedef struct observed {
    tacit_graph graph;
    tacit_dataset *data;
    tacit_model *model;
    unsigned char options[8192];
    tacit_world world;
    tacit_runtime *rt; /* NULL: refused */
    size_t metrics;
    observed_metric metric[OBSERVED_METRICS];
} observed;

/* The first release of an agent. */
typedef struct observed_release {
    tacit_agent agent;
    bool there;
    tacit_cost cost;
    size_t count;
    double value[64];
} observed_release;

/* Run a world to its end. `first` NULL: with a trace; else the release is watched. A refusal is
 * returned, at set-up or later. */
tacit_status observed_run(observed *o, const observed_setting *s, const observed_records *records,
                          uint64_t noise_seed, observed_release *first, tacit_error *err);
void observed_clear(observed *o);

/* NULL: an observer sees the same, but for segments of messages called as in `noisy` ("model
 * direction"). Else what it sees, in `room`. */
const char *observed_difference(const observed *a, const observed *b, const char *noisy, char *room,
                                size_t size);

#endif
