/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of diffusion, and what each release will cost.
 *
 * Costs are fixed before anything is told (ledger.h says why), from public numbers: the agent's
 * own weight, its number of records, step, clip, radius, reach. With independent noise an agent's
 * bound settles (its memory is diluted by its own weight in every exchange) and its limit is paid
 * for from the start. With homomorphic noise memory is not diluted, the bound grows from round to
 * round, and each round is paid for by what it is then.
 */
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "protocol/diffusion.h"

#define FAR_WORDS 0x1p14 /* times the reach: no honest word is as long */
#define SETTLED 100000   /* iterations after which a bound is taken to have settled */
#define PLAN_STEPS 16    /* costs a doubling */

double diffusion_coarse(double moved)
{
    return exp2(ceil(log2(moved) * PLAN_STEPS + 1e-6) / PLAN_STEPS);
}

/* ---- checks ---- */

static tacit_status check_noise(const diffusion_options *o, const tacit_privacy_options *privacy,
                                tacit_error *err)
{
    const bool noisy = privacy->mechanism != TACIT_MECHANISM_NONE;
    const bool told = o->noise == DIFFUSION_INDEPENDENT || o->noise == DIFFUSION_HOMOMORPHIC;
    if (told && !noisy)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.noise\" needs a law to draw from: set \"privacy.mechanism\" "
                          "to gaussian or laplace, and \"privacy.clip\"");
    if (o->noise == DIFFUSION_NONE && noisy)
        return tacit_fail(
            err, TACIT_EINPUT,
            "\"protocol.noise: none\" tells models as they are; set \"protocol.noise\" "
            "to independent or homomorphic, or \"privacy.mechanism: none\"");
    if (privacy->mechanism == TACIT_MECHANISM_RESPONSE)
        return tacit_fail(err, TACIT_EINPUT,
                          "models are no choices: \"privacy.mechanism\" must be "
                          "gaussian, laplace or none");
    if (noisy && privacy->adjacency != TACIT_REPLACE)
        return tacit_fail(err, TACIT_EINPUT,
                          "under \"privacy.adjacency: add-remove\" the number of an agent's "
                          "records is a secret, but what diffusion tells is a function of all "
                          "records and of their number; use \"replace\"");
    if (noisy && privacy->claimed)
        return tacit_fail(
            err, TACIT_EINPUT,
            "diffusion with noise clips gradients; \"privacy.claimed\" is not for it");
    if (noisy && !(privacy->clip > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "noise covers gradients that are clipped: set \"privacy.clip\"");
    if (noisy && o->sigma == 0 &&
        (o->noise == DIFFUSION_LOCAL_HOMOMORPHIC || !isfinite(privacy->epsilon)))
        return tacit_fail(err, TACIT_EINPUT,
                          o->noise == DIFFUSION_LOCAL_HOMOMORPHIC
                              ? "noise on masked sums is the same for all members: set "
                                "\"protocol.sigma\""
                              : "how much noise? Set \"privacy.epsilon\" or \"protocol.sigma\"");
    return TACIT_OK;
}

/* For unit user the number of records is a part of what is protected: costs must not depend on it
 * (tacit_tracked_moved), nor how an agent regularises. */
static tacit_status check_user(const diffusion_shared *s, tacit_error *err)
{
    if (s->privacy.mechanism == TACIT_MECHANISM_NONE || s->privacy.unit != TACIT_UNIT_USER ||
        tacit_model_lambda(s->model, 1) == tacit_model_lambda(s->model, 2))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "for \"privacy.unit: user\" a regulariser must not tell the number of "
                      "records: set \"model.lambda\"");
}

static tacit_status check_graph(diffusion_shared *s, const tacit_graph *g, tacit_error *err)
{
    for (uint32_t i = 0; i < g->agents; i++) {
        const uint64_t degree = g->row[i + 1] - g->row[i];
        if (degree > s->largest)
            s->largest = degree;
        if (diffusion_masks(s) && degree < (uint64_t)s->options.least)
            return tacit_fail(err, TACIT_EINPUT,
                              "agent %" PRIu32 " has %" PRIu64 " neighbour%s: a sum of fewer than "
                              "\"protocol.least: %" PRId64 "\" hides nobody; give it more, or use "
                              "another \"protocol.noise\"",
                              i, degree, degree == 1 ? "" : "s", s->options.least);
    }
    uint32_t *part = malloc(g->agents * sizeof *part);
    if (!part)
        return tacit_out_of_memory(err);
    const uint32_t parts = tacit_graph_components(g, part);
    free(part);
    if (parts == 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "the graph is in %" PRIu32
                      " parts, which would learn a model each: diffusion "
                      "needs one that is connected",
                      parts);
}

/* ---- acts ---- */

static tacit_status list_acts(diffusion_shared *s, tacit_error *err)
{
    const diffusion_options *o = &s->options;
    int kind[3] = {TACIT_COMBINE_NONE, TACIT_COMBINE_NONE, TACIT_COMBINE_NONE}; /* A0, A1, A2 */
    static const int matrix[] = {
        [DIFFUSION_CONSENSUS] = 0, [DIFFUSION_CTA] = 1, [DIFFUSION_ATC] = 2};
    for (int j = 0; j < 3; j++)
        if (o->strategy == DIFFUSION_GENERAL)
            kind[j] = o->combine[j];
        else if (matrix[o->strategy] == j)
            kind[j] = o->policy;
    if (kind[1] != TACIT_COMBINE_NONE)
        s->act[s->acts++] = (diffusion_act){kind[1], false};
    s->act[s->acts++] = (diffusion_act){kind[0], true};
    if (kind[2] != TACIT_COMBINE_NONE)
        s->act[s->acts++] = (diffusion_act){kind[2], false};
    for (uint32_t k = 0; k < s->acts; k++) {
        s->exchanges += s->act[k].combination != TACIT_COMBINE_NONE;
        if (s->act[k].combination == TACIT_COMBINE_UNIFORM && s->largest == 0)
            return tacit_fail(err, TACIT_EINPUT,
                              "weights \"uniform\" need the largest degree of the whole graph, "
                              "which no peer knows; use metropolis");
    }
    if (s->exchanges == 0)
        return tacit_fail(
            err, TACIT_EINPUT,
            "nothing is ever exchanged: \"policy\", or with \"strategy: general\" one "
            "of \"a0\", \"a1\", \"a2\", must combine");
    return TACIT_OK;
}

/* ---- set-up ---- */

static void choose_tracking(diffusion_shared *s)
{
    const diffusion_options *o = &s->options;
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    const bool within = noisy || diffusion_masks(s);
    s->tracking = (tacit_tracking){.unit = (tacit_unit)s->privacy.unit,
                                   .norm = TACIT_L2,
                                   .clip = s->privacy.clip > 0 ? s->privacy.clip : INFINITY,
                                   .radius = noisy ? o->radius : INFINITY,
                                   .reach = within ? o->reach : INFINITY,
                                   .longest = within ? o->reach * FAR_WORDS : INFINITY};
}

static tacit_status plan_sums(diffusion_shared *s, tacit_error *err)
{
    const diffusion_options *o = &s->options;
    const uint32_t most = s->largest ? (uint32_t)s->largest : TACIT_SUMS_MOST;
    const size_t breaks = tacit_mask_breaks_at((size_t)o->least, o->pairs == 1);
    if ((uint64_t)o->colluders >= breaks)
        return tacit_fail(err, TACIT_EINPUT,
                          "%zu of %" PRId64 " members who collude with the receiver expose one "
                          "honest member, and \"protocol.colluders\" is %" PRId64
                          "; raise \"protocol.least\"",
                          breaks, o->least, o->colluders);
    for (uint32_t k = 0; k < s->acts; k++)
        if (s->act[k].combination == TACIT_COMBINE_RELATIVE_DEGREE)
            return tacit_fail(err, TACIT_EINPUT,
                              "members of a masked sum know their own degree and the receiver's: "
                              "weights \"relative-degree\" need those of all; use metropolis or "
                              "averaging");
    if (!tacit_mask_fits(o->reach + 64 * o->sigma, most, (int32_t)o->fraction))
        return tacit_fail(err, TACIT_EINPUT,
                          "a sum of %" PRIu32
                          " models within \"protocol.reach: %g\" leaves the ring "
                          "at steps of 2^-%" PRId64 "; lower \"protocol.fraction\"",
                          most, o->reach, o->fraction);
    s->sums = (tacit_sums_plan){.numbers = s->word.segment[WORD_MODEL].count,
                                .fraction = (int32_t)o->fraction,
                                .neighbours = most,
                                .least = (uint32_t)o->least,
                                .split = o->pairs == 1,
                                .patience = o->patience > 0 ? o->patience : INFINITY,
                                .epoch_rounds = (uint64_t)o->epoch,
                                .rounds = (uint64_t)o->iterations * s->exchanges,
                                .child = DIFFUSION_SUMS};
    return tacit_sums_prepare(&s->sums, err);
}

tacit_status diffusion_setup(void *shared, const void *options, const tacit_setup *setup,
                             tacit_error *err)
{
    diffusion_shared *s = shared;
    s->options = *(const diffusion_options *)options;
    s->privacy = *setup->privacy;
    s->model = setup->model;
    if (s->options.fraction == 0)
        s->options.fraction = s->privacy.mechanism == TACIT_MECHANISM_NONE ? 32 : 24;
    const tacit_shape *shape = tacit_model_shape(setup->model);
    const tacit_segment word[] = {{"model", shape->segment[0].scalar, shape->segment[0].count},
                                  {"degree", TACIT_I64, 1},
                                  {"round", TACIT_I64, 1}};
    tacit_status status = tacit_shape_init(&s->word, word, 3, err);
    if (status == TACIT_OK && tacit_model_classes(setup->model) > 0)
        status =
            tacit_fail(err, TACIT_EINPUT,
                       "nothing bounds how far records move a model of \"model.loss: softmax\" "
                       "that protocol \"diffusion\" keeps; use \"chorus\" or \"cd\"");
    if (status == TACIT_OK)
        status = check_noise(&s->options, &s->privacy, err);
    if (status == TACIT_OK)
        status = check_user(s, err);
    if (status == TACIT_OK && setup->graph)
        status = check_graph(s, setup->graph, err);
    if (status == TACIT_OK)
        status = list_acts(s, err);
    choose_tracking(s);
    if (status == TACIT_OK && isfinite(s->tracking.radius) && shape->segment[0].scalar != TACIT_F64)
        status = tacit_fail(err, TACIT_EINPUT,
                            "how far records move a model is bounded in double precision only: set "
                            "\"model.scalar: f64\"");
    if (status == TACIT_OK && diffusion_masks(s))
        status = plan_sums(s, err);
    return status;
}

tacit_trust diffusion_trust(const void *options)
{
    const diffusion_options *o = options;
    return o->noise == DIFFUSION_LOCAL_HOMOMORPHIC ? TACIT_TRUST_SECURE : TACIT_TRUST_LOCAL;
}

/* The most members that may collude with the receiver: with noise so many as it was made for
 * (diffusion_hold), which is less than what the masks alone bear. */
static uint64_t bears(const diffusion_options *o)
{
    const size_t breaks = tacit_mask_breaks_at((size_t)o->least, o->pairs == 1);
    return o->sigma > 0 ? (uint64_t)o->colluders : breaks > 0 ? breaks - 1 : 0;
}

/* What masks hide, and from whom; noise on the sum is the ledger's business. */
void diffusion_sees(char *out, size_t size, const void *options)
{
    const diffusion_options *o = options;
    if (!o || o->noise != DIFFUSION_LOCAL_HOMOMORPHIC) {
        snprintf(out, size, "%s", tacit_trust_words(TACIT_TRUST_LOCAL));
        return;
    }
    char most[40] = "none of them colludes";
    if (bears(o) > 0)
        snprintf(most, sizeof most, "at most %" PRIu64 " of them collude%s", bears(o),
                 bears(o) == 1 ? "s" : "");
    snprintf(out, size,
             "the sum of each receiver's neighbours in every round, and no single one of them, as "
             "long as %s with the receiver (%s) and receivers do not pool their sums; masks hide "
             "nothing that sums tell",
             most,
             o->sigma > 0 ? "\"protocol.colluders\", which the noise is made for"
                          : "by \"protocol.least\" and \"protocol.pairs\"");
}

/* ---- what data can move ---- */

size_t diffusion_batch(const diffusion_shared *s, size_t records)
{
    const uint64_t wish = (uint64_t)s->options.batch;
    return wish == 0 || wish > records ? records : (size_t)wish;
}

double diffusion_plan_act(const diffusion_shared *s, const diffusion_act *act, double planned,
                          double own, size_t records, uint32_t neighbours)
{
    const bool exchange = act->combination != TACIT_COMBINE_NONE;
    const double keep = !exchange || s->options.noise == DIFFUSION_HOMOMORPHIC ? 1 : own;
    if (act->descends)
        planned = tacit_tracked_moved(&s->tracking, s->model, planned, keep, s->options.step,
                                      diffusion_batch(s, records), records);
    if (exchange)
        planned = tacit_tracked_mixed(&s->tracking, planned, act->descends ? 1 : keep,
                                      (size_t)neighbours + 1);
    return planned;
}

/* The largest bound at any exchange of the run; *total gathers what all of them cost: squares for
 * the Gaussian, which composes so, else the plain sum. */
static double walk_plan(const diffusion_shared *s, const double own[3], size_t records,
                        uint32_t neighbours, double least, double *total)
{
    double planned = 0, most = 0;
    const bool squares = s->privacy.mechanism == TACIT_MECHANISM_GAUSSIAN;
    const int64_t end = s->options.iterations;
    *total = 0;
    for (int64_t i = 0; i < end; i++) {
        const double before = most, was = planned;
        double once = 0;
        for (uint32_t k = 0; k < s->acts; k++) {
            if (s->act[k].combination != TACIT_COMBINE_NONE) {
                const double told = diffusion_coarse(fmax(planned, least));
                most = fmax(most, planned);
                once += squares ? told * told : told;
            }
            planned = diffusion_plan_act(s, &s->act[k], planned, own[k], records, neighbours);
        }
        *total += once;
        const bool settled = most == before && planned == was;
        if (settled || i > SETTLED) {
            *total += once * (double)(end - 1 - i);
            break;
        }
    }
    return most;
}

static tacit_status find_sigma(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                               double sensitivity, uint64_t releases)
{
    const size_t p = s->word.segment[WORD_MODEL].count;
    tacit_privacy_options o = s->privacy;
    tacit_cost cost;
    const double norm = o.mechanism == TACIT_MECHANISM_LAPLACE ? sqrt((double)p) : 1;
    o.clip = sensitivity * norm / 2 * (1 + 1e-3);
    o.unit = TACIT_UNIT_USER; /* one vector, of sensitivity twice the clip */
    o.noise = 0;
    o.epsilon = tacit_facts_of(env)->epsilon;
    o.releases = (int64_t)releases;
    tacit_status status = tacit_cost_plan(&cost, &o, p, "model", tacit_own_error(env));
    self->sigma = cost.noise * (1 + 1e-3);
    return status;
}

tacit_status diffusion_plan(tacit_env *env, const diffusion_shared *s, diffusion_agent *self,
                            const double own[3])
{
    const tacit_facts *facts = tacit_facts_of(env);
    const bool grows = s->options.noise == DIFFUSION_HOMOMORPHIC;
    self->sigma = s->options.sigma;
    if (s->privacy.mechanism == TACIT_MECHANISM_NONE || facts->neighbours == 0)
        return TACIT_OK;
    double total;
    const double most = walk_plan(s, own, facts->records, facts->neighbours, 0x1p-60, &total);
    self->planned = grows ? 0 : most * (1 + 0x1p-20); /* a last bit more is paid for, too */
    if (s->options.sigma > 0 || most == 0)
        return TACIT_OK;
    const uint64_t rounds = (uint64_t)s->options.iterations * s->exchanges;
    if (!grows)
        return find_sigma(env, s, self, diffusion_coarse(most), rounds * facts->neighbours);
    const bool squares = s->privacy.mechanism == TACIT_MECHANISM_GAUSSIAN;
    return find_sigma(env, s, self, squares ? sqrt(total) : total, 1);
}

/* ---- options ---- */

static const char *const strategies[] = {"consensus", "cta", "atc", "general", NULL};
static const char *const noises[] = {"none", "independent", "homomorphic", "local-homomorphic",
                                     NULL};
static const char *const pairs[] = {"all", "split", NULL};
static const char *const orders[] = {"cyclic", "random", NULL};
#define FIELD(name) offsetof(diffusion_options, name)
#define POLICY(option, by_default, where, words)                           \
    {                                                                      \
        .key = option, .type = TACIT_OPT_CHOICE, .fallback = by_default,   \
        .choices = tacit_combination_kinds, .offset = where, .help = words \
    }

const tacit_option diffusion_rows[] = {
    {.key = "strategy",
     .type = TACIT_OPT_CHOICE,
     .fallback = "atc",
     .choices = strategies,
     .offset = FIELD(strategy),
     .help = "consensus; cta or atc: combine, then adapt, or adapt, then combine; general: A1, "
             "then A0 with the gradient, then A2"},
    POLICY("policy", "metropolis", FIELD(policy),
           "weights of neighbours: metropolis leads to the "
           "mean of all losses, averaging and relative-degree to one that favours who knows many"),
    POLICY("a0", "none", FIELD(combine[0]), "general: weights of A0"),
    POLICY("a1", "none", FIELD(combine[1]), "general: weights of A1"),
    POLICY("a2", "none", FIELD(combine[2]), "general: weights of A2"),
    {.key = "noise",
     .type = TACIT_OPT_CHOICE,
     .fallback = "none",
     .choices = noises,
     .offset = FIELD(noise),
     .help = "on what crosses an edge: none; independent: fresh for each neighbour; homomorphic: "
             "one for all, cancels in the centroid; local-homomorphic: masks that cancel at the "
             "receiver, who learns the sum alone"},
    {.key = "sigma",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(sigma),
     .help = "standard deviation (laplace: scale) of the noise on a model; local-homomorphic: on a "
             "sum of neighbours; 0: as privacy.epsilon allows for all iterations"},
    {.key = "step",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-12,
     .max = 1e9,
     .offset = FIELD(step),
     .help = "of the gradient: eta"},
    {.key = "iterations",
     .type = TACIT_OPT_INT,
     .fallback = "100",
     .min = 1,
     .max = 1e9,
     .offset = FIELD(iterations),
     .help = "of every agent"},
    {.key = "period",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(period),
     .help = "time between the beginnings of two iterations; 0: as fast as neighbours are"},
    {.key = "patience",
     .type = TACIT_OPT_REAL,
     .fallback = "30",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(patience),
     .help = "how long a neighbour's word is waited for, then its last one counts again; 0: for "
             "ever"},
    {.key = "batch",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(batch),
     .help = "records of a step, one batch after the other (1: streaming); 0: all of them"},
    {.key = "order",
     .type = TACIT_OPT_CHOICE,
     .fallback = "cyclic",
     .choices = orders,
     .offset = FIELD(order),
     .help = "of batches: one after the other, or each drawn at random, as the paper does (which "
             "leaves more gradient noise)"},
    {.key = "reach",
     .type = TACIT_OPT_REAL,
     .fallback = "10",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(reach),
     .help = "with noise or masks, models are kept within this distance of zero"},
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "with noise, rows longer than this are cut to it"},
    {.key = "fraction",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 52,
     .offset = FIELD(fraction),
     .help = "local-homomorphic: models are told in steps of 2^-fraction; 0: 32, with noise 24"},
    {.key = "pairs",
     .type = TACIT_OPT_CHOICE,
     .fallback = "all",
     .choices = pairs,
     .offset = FIELD(pairs),
     .help =
         "local-homomorphic: which of a receiver's neighbours share masks: all pairs (all the "
         "others must collude to expose one), or those across two halves (the smaller half must)"},
    {.key = "least",
     .type = TACIT_OPT_INT,
     .fallback = "2",
     .min = 2,
     .max = TACIT_SUMS_MOST,
     .offset = FIELD(least),
     .help = "local-homomorphic: a sum has so many members at least"},
    {.key = "colluders",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = TACIT_SUMS_MOST,
     .offset = FIELD(colluders),
     .help = "local-homomorphic with noise: so many of them may tell the receiver their shares"},
    {.key = "epoch",
     .type = TACIT_OPT_INT,
     .fallback = "1000",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(epoch),
     .help = "local-homomorphic: keys are new after so many exchanges; 0: never in a run"},
};

_Static_assert(sizeof diffusion_rows / sizeof *diffusion_rows == DIFFUSION_ROWS, "count them");
