/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_TOTALS_OPTIONS_H
#define TACIT_TOTALS_OPTIONS_H
/* Options of protocols that add up over all agents (totals.h): a totals_options in the options
 * struct, TOTALS_OPTIONS among the rows, totals_plan_of in `setup`. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "tacit/totals.h"

typedef struct totals_options {
    int adders; /* TOTALS_LYING, TOTALS_CURIOUS */
    int64_t partners, colluders, least, span, tries;
    double quorum, absent, patience, jitter;
} totals_options;

enum { TOTALS_LYING, TOTALS_CURIOUS };
static const char *const totals_adders[] = {"lying", "curious", NULL};

/* Against whom: for tacit_protocol.sees. `before` comes first; `o` NULL: by the names of options.
 */
static inline void totals_sees(char *out, size_t size, const char *before, const totals_options *o)
{
    char stated[120] = "up to \"protocol.colluders\" collude, and the part \"protocol.absent\"";
    if (o && o->colluders == 0)
        snprintf(stated, sizeof stated,
                 "no two of them collude (\"protocol.colluders: 0\"), and the part %g", o->absent);
    else if (o)
        snprintf(stated, sizeof stated,
                 "up to %" PRId64 " collude (\"protocol.colluders\"), and the part %g",
                 o->colluders, o->absent);
    snprintf(out, size, "%sonly sums over all who took part; %s may get lost; who adds up %s",
             before, stated,
             o && o->adders == TOTALS_CURIOUS
                 ? "is curious but keeps to the rules"
                 : "may lie (and counts as a colluder, or is the only one)");
}

/* Everything that is an option; the caller fills in the rest. */
static inline void totals_plan_of(tacit_totals_plan *plan, const totals_options *o)
{
    plan->curious = o->adders == TOTALS_CURIOUS;
    plan->partners = (uint32_t)o->partners;
    plan->colluders = (uint32_t)o->colluders;
    plan->least = (uint32_t)o->least;
    plan->span = (uint32_t)o->span;
    plan->tries = (uint32_t)o->tries;
    plan->quorum = o->quorum;
    plan->absent = o->absent;
    plan->patience = o->patience;
    plan->jitter = o->jitter;
}

/* Who has more records than all agreed on would spoil the sum, and pay for it. */
static inline tacit_status totals_check_records(tacit_env *env, int64_t most)
{
    const tacit_facts *facts = tacit_facts_of(env);
    if (facts->records <= (uint64_t)most)
        return TACIT_OK;
    return tacit_fail(tacit_own_error(env), TACIT_EINPUT,
                      "agent %llu has %llu records, and \"protocol.most-records: %lld\" says that "
                      "nobody has more than that: raise it for all",
                      (unsigned long long)facts->self, (unsigned long long)facts->records,
                      (long long)most);
}

#define TOTALS_OPTIONS(owner, member)                                                              \
    {.key = "adders",                                                                              \
     .type = TACIT_OPT_CHOICE,                                                                     \
     .fallback = "lying",                                                                          \
     .choices = totals_adders,                                                                     \
     .offset = offsetof(owner, member.adders),                                                     \
     .help = "what those who add up are taken for: lying, whatever they say to whom; or curious, " \
             "but keeping to the rules, which needs a little less noise and bears more "           \
             "drop-outs"},                                                                         \
        {.key = "partners",                                                                        \
         .type = TACIT_OPT_INT,                                                                    \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = TACIT_TOTALS_PARTNERS,                                                             \
         .offset = offsetof(owner, member.partners),                                               \
         .help =                                                                                   \
             "k: so many others each agent chooses to share masks with; 0: as many as keep the "   \
             "honest in one piece but for a chance of 2^-40"},                                     \
        {.key = "quorum",                                                                          \
         .type = TACIT_OPT_REAL,                                                                   \
         .fallback = "0.75",                                                                       \
         .min = 0,                                                                                 \
         .max = 1,                                                                                 \
         .offset = offsetof(owner, member.quorum),                                                 \
         .help = "an agent takes part only with this part of those it chose"},                     \
        {.key = "colluders",                                                                       \
         .type = TACIT_OPT_INT,                                                                    \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = 1e9,                                                                               \
         .offset = offsetof(owner, member.colluders),                                              \
         .help = "so many agents may tell each other all they know, and bring no noise"},          \
        {.key = "absent",                                                                          \
         .type = TACIT_OPT_REAL,                                                                   \
         .fallback = "0.1",                                                                        \
         .min = 0,                                                                                 \
         .max = 0.99,                                                                              \
         .offset = offsetof(owner, member.absent),                                                 \
         .help = "planned: this part of those who were there at first may get lost on the way"},   \
        {.key = "least",                                                                           \
         .type = TACIT_OPT_INT,                                                                    \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = 1e9,                                                                               \
         .offset = offsetof(owner, member.least),                                                  \
         .help = "with fewer there a round is refused, and nothing charged; 0: 3, or as few as "   \
                 "leave somebody honest"},                                                         \
        {.key = "span",                                                                            \
         .type = TACIT_OPT_INT,                                                                    \
         .fallback = "0",                                                                          \
         .min = 0,                                                                                 \
         .max = 65536,                                                                             \
         .offset = offsetof(owner, member.span),                                                   \
         .help = "words that meet at one agent; 0: all of up to 256 agents, else 64 or 128"},      \
        {.key = "tries",                                                                           \
         .type = TACIT_OPT_INT,                                                                    \
         .fallback = "6",                                                                          \
         .min = 1,                                                                                 \
         .max = 200,                                                                               \
         .offset = offsetof(owner, member.tries),                                                  \
         .help = "of a round; each that comes as far as words is charged"},                        \
        {.key = "patience",                                                                        \
         .type = TACIT_OPT_REAL,                                                                   \
         .fallback = "5",                                                                          \
         .min = 1e-6,                                                                              \
         .max = 1e9,                                                                               \
         .offset = offsetof(owner, member.patience),                                               \
         .help = "how long anybody who is silent is waited for"},                                  \
    {                                                                                              \
        .key = "jitter", .type = TACIT_OPT_REAL, .fallback = "0", .min = 0, .max = 1e9,            \
        .offset = offsetof(owner, member.jitter),                                                  \
        .help = "words wait for a random part of this, so that they do not all come at once"       \
    }

#endif
