/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of dsgd, dsgt and dinno, and what a gradient costs.
 *
 * Lots are Poisson: a record takes part with probability q, drawn for itself. Where the number m of
 * an agent's records is public (adjacency replace) q = lot / m, each agent's own; under add-remove
 * m is a secret, so q must be said for all (privacy.sampling), and so must what sums are divided by
 * (lot). Noise is found for each agent's own q and budget, for as many gradients as it will
 * compute. For unit user m is a secret, too; what is released then is one vector within the clip,
 * the mean of clipped gradients, and that of an agent without records is zero.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "protocol/consensus.h"

const char *const consensus_schedules[] = {"constant", "linear", "cosine", "exponential", NULL};

static bool noisy(const consensus_shared *s)
{
    return s->privacy.mechanism != TACIT_MECHANISM_NONE;
}

static bool counts_are_secret(const consensus_shared *s)
{
    return noisy(s) &&
           (s->privacy.adjacency == TACIT_ADD_REMOVE || s->privacy.unit == TACIT_UNIT_USER);
}

bool consensus_has_none(const consensus_shared *s, const tacit_facts *facts)
{
    return facts->records == 0 && !counts_are_secret(s);
}

static uint64_t releases(const consensus_shared *s)
{
    return (uint64_t)s->options.iterations *
           (uint64_t)(s->options.primal > 0 ? s->options.primal : 1);
}

/* ---- what a gradient costs ---- */

static bool sampling_is_said(const consensus_shared *s)
{
    return s->privacy.sampling > 0 && s->privacy.sampling < 1;
}

/* Each record's chance to take part; 1: all do. */
static double sampling(const consensus_shared *s, const tacit_facts *facts)
{
    if (sampling_is_said(s))
        return s->privacy.sampling;
    if (noisy(s) && s->privacy.adjacency == TACIT_ADD_REMOVE)
        return 1; /* nobody may know how many there are */
    const double lot = (double)s->options.lot;
    return lot > 0 && lot < (double)facts->records ? lot / (double)facts->records : 1;
}

tacit_status consensus_cost(const consensus_shared *s, const tacit_facts *facts, double sigma,
                            tacit_cost *cost, tacit_error *err)
{
    tacit_privacy_options o = s->privacy;
    const double q = sampling(s, facts);
    o.epsilon = facts->epsilon;
    o.releases = (int64_t)releases(s);
    if (sigma > 0)
        o.noise = sigma;
    o.sampling = q < 1 && noisy(s) ? q : 0;
    tacit_status status = tacit_cost_plan(cost, &o, s->shape->segment[0].count, "gradient", err);
    if (status == TACIT_OK && q < 1 && !noisy(s)) /* lots all the same */
        cost->sampling = ceil(q * 0x1p32) * 0x1p-32;
    return status;
}

tacit_clip consensus_clip(const consensus_shared *s, const tacit_cost *cost)
{
    const double radius = s->privacy.clip > 0 ? s->privacy.clip : INFINITY;
    return noisy(s) ? tacit_cost_clip(cost) : (tacit_clip){TACIT_L2, radius};
}

double consensus_scale(const consensus_shared *s, const tacit_facts *facts)
{
    const double lot = (double)s->options.lot;
    if (noisy(s) && s->privacy.unit == TACIT_UNIT_USER)
        return 1; /* one vector, whatever lies behind it */
    if (noisy(s) && s->privacy.adjacency == TACIT_ADD_REMOVE)
        return 1 / lot; /* a sum was released */
    /* A mean over the expected lot was. */
    return lot > 0 && sampling_is_said(s) ? s->privacy.sampling * (double)facts->records / lot : 1;
}

/* ---- checks ---- */

/* Nothing that all agents hear may depend on a number of records that is a secret. */
static tacit_status check_counts(const consensus_shared *s, tacit_error *err)
{
    const bool user = s->privacy.unit == TACIT_UNIT_USER;
    if (!counts_are_secret(s))
        return TACIT_OK;
    if (!user && s->options.lot == 0)
        return tacit_fail(
            err, TACIT_EINPUT,
            "under \"privacy.adjacency: add-remove\" the number of an agent's records "
            "is a secret: set \"privacy.sampling\" (the chance of each record) and "
            "\"protocol.lot\" (what sums are divided by)");
    if (tacit_model_lambda(s->model, 1) != tacit_model_lambda(s->model, 2))
        return tacit_fail(err, TACIT_EINPUT,
                          "under \"%s\" a regulariser must not tell the number of records: set "
                          "\"model.lambda\"",
                          user ? "privacy.unit: user" : "privacy.adjacency: add-remove");
    return TACIT_OK;
}

static tacit_status check_privacy(const consensus_shared *s, tacit_error *err)
{
    const tacit_privacy_options *p = &s->privacy;
    if (!noisy(s))
        return TACIT_OK;
    if (p->mechanism == TACIT_MECHANISM_RESPONSE)
        return tacit_fail(err, TACIT_EINPUT,
                          "gradients are no choices: \"privacy.mechanism\" must be gaussian, "
                          "laplace or none");
    if (p->policy != TACIT_POLICY_UNIFORM)
        return tacit_fail(err, TACIT_EINPUT,
                          "this protocol spends the same on every gradient: it takes "
                          "\"privacy.policy: uniform\"");
    if (p->unit == TACIT_UNIT_USER && (s->options.lot > 0 || sampling_is_said(s)))
        return tacit_fail(err, TACIT_EINPUT,
                          "lots hide who of the records took part, which says nothing about all of "
                          "an agent's: for \"privacy.unit: user\" leave out \"protocol.lot\"");
    return check_counts(s, err);
}

static tacit_status check_graph(consensus_shared *s, const tacit_graph *g, tacit_error *err)
{
    for (uint32_t i = 0; i < g->agents; i++)
        if (g->row[i + 1] - g->row[i] > s->largest)
            s->largest = g->row[i + 1] - g->row[i];
    uint32_t *part = malloc(g->agents * sizeof *part);
    if (!part)
        return tacit_out_of_memory(err);
    const uint32_t parts = tacit_graph_components(g, part);
    free(part);
    if (parts <= 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "the graph is in %" PRIu32
                      " parts, which would learn a model each: one model "
                      "for all needs one that is connected",
                      parts);
}

static tacit_status check_policy(const consensus_shared *s, tacit_error *err)
{
    if (s->options.policy == TACIT_COMBINE_UNIFORM && s->largest == 0)
        return tacit_fail(
            err, TACIT_EINPUT,
            "weights \"uniform\" need the largest degree of the whole graph, which no "
            "peer knows; use metropolis");
    if (s->options.policy == TACIT_COMBINE_NONE)
        return tacit_fail(err, TACIT_EINPUT,
                          "with \"protocol.policy: none\" nobody would listen; use metropolis");
    return TACIT_OK;
}

/* A run that ends in the middle has spent budgets on half a training. */
static tacit_status check_time(const consensus_shared *s, double until, tacit_error *err)
{
    const double needs = s->options.period * (double)s->options.iterations;
    if (until <= 0 || s->options.period == 0 || until > needs)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "%" PRId64 " iterations begin every %g: the last begins at %g, but the run "
                      "ends at %g; raise \"run.time\", or lower \"protocol.iterations\"",
                      s->options.iterations, s->options.period, needs, until);
}

static tacit_status make_word_shape(consensus_shared *s, tacit_error *err)
{
    static const char *const names[] = {"model", "direction"};
    tacit_segment word[4];
    const uint32_t parts = s->way->parts;
    for (uint32_t k = 0; k < parts; k++)
        word[k] =
            (tacit_segment){names[k], s->shape->segment[0].scalar, s->shape->segment[0].count};
    word[parts] = (tacit_segment){"degree", TACIT_I64, 1};
    word[parts + 1] = (tacit_segment){"round", TACIT_I64, 1};
    return tacit_shape_init(&s->word, word, parts + 2, err);
}

tacit_status consensus_setup(const consensus_way *way, consensus_shared *s,
                             const consensus_options *options, const tacit_setup *setup,
                             tacit_error *err)
{
    s->way = way;
    s->options = *options;
    s->privacy = *setup->privacy;
    s->model = setup->model;
    s->shape = tacit_model_shape(setup->model);
    tacit_status status = make_word_shape(s, err);
    if (status == TACIT_OK)
        status = check_privacy(s, err);
    if (status == TACIT_OK && setup->graph)
        status = check_graph(s, setup->graph, err);
    if (status == TACIT_OK)
        status = check_policy(s, err);
    return status == TACIT_OK ? check_time(s, setup->until, err) : status;
}
