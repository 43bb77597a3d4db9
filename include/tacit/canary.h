/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CANARY_H
#define TACIT_CANARY_H
/*
 * Audit of a whole experiment: the same training, many times, with a canary among one agent's
 * records and without it; data, graph and clocks stay as they are, only noise is drawn anew. The
 * score is made of everything the agent released, by an adversary who knows all other records.
 * docs/audit.md.
 */
#include "tacit/audit.h"
#include "tacit/experiment.h"

/* What is planted. Adjacency replace: one record becomes the canary in half of the trainings and
 * its opposite in the others; add-remove: one record more. Unit user: all of the agent's records.
 */
typedef enum tacit_canary_kind {
    TACIT_CANARY_WORST,  /* as long as clipping (or data.bound) allows, along the feature that the
                            agent's records use least, and the same with the opposite label */
    TACIT_CANARY_FLIPPED /* a record of the agent with its label turned round, or as it is */
} tacit_canary_kind;
extern const char *const tacit_canary_kinds[]; /* "worst", "flipped" and NULL */

typedef struct tacit_canary {
    tacit_agent agent; /* TACIT_NOBODY: the first with records and neighbours */
    tacit_canary_kind kind;
} tacit_canary;

/* What was audited, for words beside the bounds. */
typedef struct tacit_audit_facts {
    char title[200];
    const char *protocol; /* NULL: a mechanism alone */
    tacit_audit_break broken;
    tacit_mechanism mechanism;
    tacit_trust trust;
    tacit_unit unit;
    tacit_adjacency adjacency;
    double claimed, delta; /* of the agent; infinity: no bound is claimed */
    double noise, sensitivity;
    uint64_t releases; /* of the agent in one training */
    tacit_audit_curve curve;
    uint64_t seed;
    /* of experiments */
    uint32_t agent;
    char agent_name[TACIT_NAME_MAX];
    uint32_t records;
    tacit_canary_kind canary;
    size_t leaks;
    const char *leak[TACIT_LEAKS];
    const char *keep; /* what to keep secret of the result; NULL: nothing */
} tacit_audit_facts;

/* The curve, delta and seed of `plan` are taken from the experiment. */
tacit_status tacit_audit_experiment(tacit_audit *out, tacit_audit_facts *facts,
                                    const tacit_experiment *experiment, const tacit_canary *canary,
                                    const tacit_audit_plan *plan, tacit_error *err);

/* Does the audit contradict the claim? */
bool tacit_audit_refutes(const tacit_audit *audit, const tacit_audit_facts *facts);
/* Schema tacit.audit/1, and a page with the histogram of scores (caller frees). */
char *tacit_audit_json(const tacit_audit *audit, const tacit_audit_facts *facts);
char *tacit_audit_page(const tacit_audit *audit, const tacit_audit_facts *facts);

#endif
