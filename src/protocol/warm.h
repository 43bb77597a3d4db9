/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_WARM_H
#define TACIT_PROTOCOL_WARM_H
/*
 * A local model published once, with noise: what model-propagation spends all of its budget on, and
 * cd a part of it for a start (paper 000, appendix C). How the noise gets there is model.h's.
 *
 * One cost serves agents of all sizes, because it counts in units of each one's sensitivity; where
 * budgets differ there is one for each epsilon.
 */
#include <stddef.h>

#include "protocol/personal.h"
#include "protocol/spending.h"

typedef struct warm_options {
    int perturbation;
    double lambda, records;
} warm_options;

extern const char *const warm_perturbations[];

/* Rows of an option table: `owner` is the protocol's options struct, `member` its warm_options. */
#define WARM_OPTIONS(owner, member)                                                                \
    {.key = "perturbation",                                                                        \
     .type = TACIT_OPT_CHOICE,                                                                     \
     .fallback = "output",                                                                         \
     .choices = warm_perturbations,                                                                \
     .offset = offsetof(owner, member.perturbation),                                               \
     .help = "where the noise of a published local model goes: on it, or into what it minimises"}, \
        {.key = "warm-lambda",                                                                     \
         .type = TACIT_OPT_REAL,                                                                   \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = 1e9,                                                                               \
         .offset = offsetof(owner, member.lambda),                                                 \
         .help = "with noise, the regulariser of a published local model; 0: warm-records over "   \
                 "the agent's number of records"},                                                 \
    {                                                                                              \
        .key = "warm-records", .type = TACIT_OPT_REAL, .fallback = "500", .min = 1e-9, .max = 1e9, \
        .offset = offsetof(owner, member.records),                                                 \
        .help = "with warm-lambda 0: the regulariser is this over the agent's number of records"   \
    }

typedef struct warm_plan {
    tacit_local how;
    bool noisy;
    spending costs;
} warm_plan;

/* `epsilon` of each agent for its local model; 0: all it has. Rows are cut to `radius`. */
tacit_status warm_prepare(warm_plan *plan, const warm_options *options, double radius,
                          double epsilon, const tacit_setup *setup, tacit_error *err);
void warm_end(warm_plan *plan);
/* The agent's local model, released and copied into a vector that lasts. */
tacit_status warm_publish(tacit_env *env, const personal_shared *shared, const warm_plan *plan,
                          tacit_public **out);

#endif
