/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_FORECAST_PILOTS_H
#define TACIT_EXPERIMENT_FORECAST_PILOTS_H
/* One pilot run, for the plan in forecast_pilots.c. */
#include "tacit/forecast.h"

enum { TACIT_LONE_OWNERS = 4 }; /* of a run, whose own models are looked at */

typedef struct tacit_one_pilot {
    uint32_t owners;
    uint64_t records; /* of all owners */
    double epsilon;   /* of each */
    int64_t seed;
    bool lone; /* look at what owners have alone, too */
    /* what came of it */
    double psi, zero; /* of the learner's model, and of a model of zeros */
    uint64_t pooled;  /* records there were */
    size_t lone_count;
    tacit_lone_pilot alone[TACIT_LONE_OWNERS];
} tacit_one_pilot;

/* What an experiment says, where pilots are concerned. */
typedef struct tacit_pilot_base {
    const tacit_config *config;
    uint32_t owners;  /* as many as are asked about, if there are records for so many */
    uint64_t records; /* of all owners together: what the data have, or what is drawn */
    size_t features;
    uint64_t iterations;
    bool drawn; /* from the seed, not read from a file */
    int64_t seed;
    tacit_privacy_options privacy;
} tacit_pilot_base;

/* Have this many owners records enough? With hardly more than features no law of large numbers
 * holds. */
bool tacit_pilot_has_room(const tacit_pilot_base *base, uint32_t owners, uint64_t records);
/* Reads the experiment, loads its data once and says what is wrong with them. */
tacit_status tacit_pilot_look(tacit_pilot_base *base, tacit_epsilon_rate *exchange,
                              const tacit_pilots_request *request, tacit_error *err);
tacit_status tacit_pilot_do(tacit_one_pilot *one, const tacit_pilot_base *base,
                            const tacit_stop *stop, tacit_error *err);

#endif
