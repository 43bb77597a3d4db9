/* SPDX-License-Identifier: Apache-2.0 */
/* Words for trust models, units and adjacencies, and the options of section "privacy". */
#include <math.h>
#include <stddef.h>

#include "tacit/privacy.h"

static const struct {
    const char *name, *words;
} trust[] = {
    [TACIT_TRUST_LOCAL] = {"local", "every message on every link (all other agents may collude)"},
    [TACIT_TRUST_SECURE] =
        {"secure", "only sums over those who took part, and what has all of its noise by itself"},
    [TACIT_TRUST_NETWORK] = {"network", "one agent's own view of the messages"},
    [TACIT_TRUST_LEARNER] = {"learner", "the learner and all other owners"},
    [TACIT_TRUST_CENTRAL] = {"central", "the final output only; a trusted curator holds all data"},
    [TACIT_TRUST_SILENT] = {"silent", "nothing: no agent ever speaks"},
};

const char *tacit_trust_name(tacit_trust t)
{
    return trust[t].name;
}

const char *tacit_trust_words(tacit_trust t)
{
    return trust[t].words;
}

static const char *const mechanisms[] = {"none", "laplace", "gaussian", "response", NULL};
const char *const tacit_accountant_names[] = {"sum", "kov", "zcdp", "gdp", "rdp", "pld", NULL};
/* What the options offer: those with a working road from a gradient. */
static const char *const vector_mechanisms[] = {"none", "laplace", "gaussian", NULL};
static const char *const units[] = {"record", "user", NULL};
static const char *const adjacencies[] = {"replace", "add-remove", NULL};

const char *tacit_mechanism_name(tacit_mechanism mechanism)
{
    return mechanisms[mechanism];
}

const char *tacit_unit_name(tacit_unit unit)
{
    return units[unit];
}

const char *tacit_adjacency_name(tacit_adjacency adjacency)
{
    return adjacencies[adjacency];
}

#define FIELD(name) offsetof(tacit_privacy_options, name)

static const tacit_option options[] = {
    {.key = "mechanism",
     .type = TACIT_OPT_CHOICE,
     .fallback = "none",
     .choices = vector_mechanisms,
     .offset = FIELD(mechanism),
     .help = "how a value is protected before it leaves an agent; none releases it bare"},
    {.key = "epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "inf",
     .min = 0,
     .max = INFINITY,
     .offset = FIELD(epsilon),
     .help = "budget of each agent; what would exceed it is refused"},
    {.key = "delta",
     .type = TACIT_OPT_REAL,
     .fallback = "1e-5",
     .min = 0,
     .max = 1,
     .offset = FIELD(delta),
     .help = "probability with which the guarantee may fail: below 1/records, 1e-5 or less"},
    {.key = "allow-large-delta",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = FIELD(allow_large_delta),
     .help = "take a delta of 0.5 and more, which hides next to nothing, without an error"},
    {.key = "unit",
     .type = TACIT_OPT_CHOICE,
     .fallback = "record",
     .choices = units,
     .offset = FIELD(unit),
     .help = "what is protected: one record, or all records of an agent and their number"},
    {.key = "adjacency",
     .type = TACIT_OPT_CHOICE,
     .fallback = "replace",
     .choices = adjacencies,
     .offset = FIELD(adjacency),
     .help = "neighbouring data sets: one record replaced, or one more or less"},
    {.key = "clip",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e100,
     .offset = FIELD(clip),
     .help = "norm to which each record's gradient is clipped, l1 for laplace, else l2; 0: not"},
    {.key = "noise",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(noise),
     .help = "scale or standard deviation over clip; 0: as much as epsilon, delta and releases ask "
             "for"},
    {.key = "releases",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e12,
     .offset = FIELD(releases),
     .help = "how often each agent may speak of its records, to find the noise"},
    {.key = "policy",
     .type = TACIT_OPT_CHOICE,
     .fallback = "uniform",
     .choices = tacit_policy_names,
     .offset = FIELD(policy),
     .help = "how the budget is spread over the releases: all alike, more early as paper 000 "
             "prints it, or more late, which leaves the least noise"},
    {.key = "ratio",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .offset = FIELD(ratio),
     .help = "what is left of an error after one of an agent's own ticks, for the policy; 0: a "
             "public estimate"},
    {.key = "budgets",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(budgets),
     .help = "file of lines \"agent,epsilon\", for budgets that differ; who is not listed has "
             "epsilon"},
    {.key = "sampling",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1,
     .offset = FIELD(sampling),
     .help = "each record takes part in a release with this probability, drawn anew"},
    {.key = "claimed",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = FIELD(claimed),
     .help = "noise as if records were clipped to clip, but nothing is clipped: what papers do; "
             "then epsilon is a claim and no guarantee"},
    {.key = "accountant",
     .type = TACIT_OPT_CHOICE,
     .fallback = "pld",
     .choices = tacit_accountant_names,
     .offset = FIELD(accountant),
     .help = "who adds up what was spent; see \"tacit account\""},
};

const tacit_section tacit_privacy_section = {.name = "privacy",
                                             .options = options,
                                             .count = sizeof options / sizeof *options,
                                             .size = sizeof(tacit_privacy_options)};
