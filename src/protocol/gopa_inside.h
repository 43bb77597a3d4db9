/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_GOPA_H
#define TACIT_PROTOCOL_GOPA_H
/* Inside of protocol "gopa": gopa_setup.c (options, costs, noise), gopa.c (what agents do). */
#include <string.h>

#include "protocol/totals_options.h"

enum { GOPA_MEAN, GOPA_SUM };
enum { GOPA_UNIFORM, GOPA_GAUSSIAN };

typedef struct gopa_options {
    int what, masks;
    double low, high; /* of a value */
    int64_t rounds, spares, most_records;
    double slack;
    bool board;
    totals_options totals;
} gopa_options;

typedef struct gopa_shared {
    gopa_options options;
    tacit_totals_plan plan;
    tacit_cost cost;
    tacit_clip clip;
    double slack;      /* own noise is larger by this part than masks would need */
    double pair_delta; /* the part of graphs that pair noise is not proved for; uniform: 0 */
    bool by_record;    /* the unit */
    size_t features;
    double *centre; /* a feature */
    const tacit_shape *model;
} gopa_shared;

typedef struct gopa_agent {
    uint8_t run[TACIT_RUN_ID];
    uint64_t heard, rounds; /* the last that gave a sum, the last that is over */
    uint64_t members, records;
    uint64_t given; /* numbers that were computed and charged */
    bool poor;      /* the budget refused */
    uint8_t outcome;
    tacit_public *mean;
    /* behind it: tacit_totals */
} gopa_agent;

/* gopa.c: for the fields of tacit_protocol of these names. */
const tacit_shape *gopa_payload(const void *shared, tacit_address at);
size_t gopa_agent_size(const void *shared, uint32_t neighbours);
tacit_status gopa_on(tacit_env *env, const void *shared, void *state, const tacit_event *event);
void gopa_save(const void *shared, const void *state, uint32_t neighbours, tacit_saver *saver);
void gopa_load(const void *shared, void *state, uint32_t neighbours, tacit_loader *loader);
void gopa_end(tacit_env *env, const void *shared, void *state);
const tacit_secret *gopa_model(const void *shared, const void *state);
bool gopa_done(const void *shared, const void *state);
tacit_status gopa_board(const void *shared, const void *state, tacit_board *out);

#endif
