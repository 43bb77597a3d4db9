/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_PROTOCOL_FINISH_H
#define TACIT_PROTOCOL_FINISH_H
/*
 * The private finish, for every protocol whose agents end with a prior they were told
 * (docs/protocols/finish.md). A protocol
 *   - has a finish_options in its options struct and FINISH_OPTIONS (or _WIDE) among its rows,
 *   - makes a finish_plan of it in `setup`,
 *   - calls finish_privately on TACIT_FINISH and shows the result as its model.
 *
 * Invariant: a finished model never leaves. It is a tacit_secret, and there is no time after
 * TACIT_FINISH at which anything could be sent. So it costs no privacy, and neither the choice of
 * its strength by looking at records does.
 */
#include <stddef.h>

#include "tacit/protocol.h"

#define FINISH_MOST 16 /* values in a list */

enum { FINISH_NONE, FINISH_PRIVATE };

typedef struct finish_options {
    int finish;
    char strengths[TACIT_TEXT_MAX];
    char scales[TACIT_TEXT_MAX];
    int choice;
    int64_t folds;
    double sharpness;
    double margin;
    double bias;
} finish_options;

extern const char *const finish_choices[], *const finish_ways[];

/* Rows of an option table: `owner` is the protocol's options struct, `member` its finish_options.
 * Defaults are the protocol's own, as text: `by_default` "none" or "private", then of the lists,
 * the sharpness and the margin. */
#define FINISH_OPTIONS(owner, member, by_default, strength_list, scale_list, sharp, beats)       \
    {.key = "finish",                                                                            \
     .type = TACIT_OPT_CHOICE,                                                                   \
     .fallback = by_default,                                                                     \
     .choices = finish_choices,                                                                  \
     .offset = offsetof(owner, member.finish),                                                   \
     .help = "private: at the end each agent fits its raw records near what others said; the "   \
             "result is never sent"},                                                            \
        {.key = "finish-strengths",                                                              \
         .type = TACIT_OPT_TEXT,                                                                 \
         .fallback = strength_list,                                                              \
         .offset = offsetof(owner, member.strengths),                                            \
         .help = "how many records the prior counts for (chorus: over what its uncertainty "     \
                 "asks for): a list to choose from by cross-validation"},                        \
        {.key = "finish-scales",                                                                 \
         .type = TACIT_OPT_TEXT,                                                                 \
         .fallback = scale_list,                                                                 \
         .offset = offsetof(owner, member.scales),                                               \
         .help = "what the prior is multiplied by: a list to choose from, too"},                 \
        {.key = "finish-choice",                                                                 \
         .type = TACIT_OPT_CHOICE,                                                               \
         .fallback = "mean", /* with learning alone: where others are no help, it wins softly */ \
         .choices = finish_ways,                                                                 \
         .offset = offsetof(owner, member.choice),                                               \
         .help = "mean of all candidates, weighted by held-out loss; the best; or the first, "   \
                 "unjudged"},                                                                    \
        {.key = "finish-sharpness",                                                              \
         .type = TACIT_OPT_REAL,                                                                 \
         .fallback = sharp,                                                                      \
         .min = 0,                                                                               \
         .max = 1000,                                                                            \
         .offset = offsetof(owner, member.sharpness),                                            \
         .help = "of the mean: weights are exp(-sharpness * sum of held-out losses)"},           \
        {.key = "finish-margin",                                                                 \
         .type = TACIT_OPT_REAL,                                                                 \
         .fallback = beats,                                                                      \
         .min = 0,                                                                               \
         .max = 100,                                                                             \
         .offset = offsetof(owner, member.margin),                                               \
         .help = "of the best: standard errors by which a choice, learning alone for one, must " \
                 "beat the first strength and scale listed"},                                    \
        {.key = "finish-bias",                                                                   \
         .type = TACIT_OPT_REAL,                                                                 \
         .fallback = "1",                                                                        \
         .min = 1e-6,                                                                            \
         .max = 1e6,                                                                             \
         .offset = offsetof(owner, member.bias),                                                 \
         .help = "the last weight (of data.bias) is held so many times as strongly as others"},  \
    {                                                                                            \
        .key = "finish-folds", .type = TACIT_OPT_INT, .fallback = "5", .min = 2, .max = 1000,    \
        .offset = offsetof(owner, member.folds),                                                 \
        .help = "of the cross-validation; agents with fewer records leave one out"               \
    }

/* Where nothing public tells how large a prior should be and what it is worth: wide lists. */
#define FINISH_OPTIONS_WIDE(owner, member)                                                   \
    FINISH_OPTIONS(owner, member, "none", "0.01,0.03,0.1,0.3,1,3,10", "1,3,10,30,100,300,0", \
                   "0.3", "0")

typedef struct finish_plan {
    bool wanted;
    tacit_finish how; /* seed and arrays apart */
    double scale[FINISH_MOST], strength[FINISH_MOST];
} finish_plan;

/* Refuses lists that are none. */
tacit_status finish_prepare(finish_plan *plan, const finish_options *options, tacit_error *err);
/* *out becomes the finished model (to be dropped by the caller, on failure too). `prior` NULL:
 * nothing was heard. Logs what was chosen as private metrics. */
tacit_status finish_privately(tacit_env *env, const finish_plan *plan, const tacit_public *prior,
                              const tacit_secret **out);

#endif
