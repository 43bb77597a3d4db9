/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol "chorus": options, scales. */
#include "protocol/chorus.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kernels[] = {"spectral", "power", "heat", "given", "learned", NULL};
static const char *const factors[] = {"svd", "optimal", NULL};
static const char *const sums[] = {"ideal", "masks", NULL};
static const char *const spreads[] = {"common", "modes", "coordinates", NULL};

#define FIELD(name) offsetof(chorus_options, name)

static const tacit_option rows[] = {
    {.key = "kernel",
     .type = TACIT_OPT_CHOICE,
     .fallback = "spectral",
     .choices = kernels,
     .offset = FIELD(kernel.kind),
     .help = "what makes agents alike: normalised Laplacian of W^kappa, W^kappa + I entry by "
             "entry, (I + alpha L)^-1, a matrix in a file, or what agents say of themselves for "
             "a part of the budget"},
    {.key = "kernel-file",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(kernel_file),
     .help = "\"kernel: given\": NPY or text, a row and a column an agent, public; symmetric, "
             "nothing below 0"},
    {.key = "kernel-share",
     .type = TACIT_OPT_REAL,
     .fallback = "0.8",
     .min = 0,
     .max = 1,
     .offset = FIELD(kernel_share),
     .help = "\"kernel: learned\": the part of the budget (as 1 / noise^2 adds up) that goes "
             "into each agent's one release, which everybody sees; sums get what is left"},
    {.key = "kernel-neighbours",
     .type = TACIT_OPT_INT,
     .fallback = "10",
     .min = 1,
     .max = 1e6,
     .offset = FIELD(kernel_neighbours),
     .help = "\"kernel: learned\": so many others, nearest by cosine of what was released, each "
             "agent is alike"},
    {.key = "factor",
     .type = TACIT_OPT_CHOICE,
     .fallback = "svd",
     .choices = factors,
     .offset = FIELD(factor),
     .help = "how the kernel becomes voices: its leading vectors, or these mixed for the least "
             "error of all priors"},
    {.key = "kappa",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 0,
     .max = 100,
     .offset = FIELD(kernel.kappa),
     .help = "power of the weights, for \"kernel: spectral\" and \"power\""},
    {.key = "alpha",
     .type = TACIT_OPT_REAL,
     .fallback = "10",
     .min = 0,
     .max = 1e9,
     .offset = FIELD(kernel.alpha),
     .help = "how smooth, for \"kernel: spectral\" and \"heat\""},
    {.key = "decay",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 0,
     .max = 10,
     .offset = FIELD(kernel.decay),
     .help = "\"kernel: spectral\": an eigenvector's weight is (1 + alpha lambda)^-decay"},
    {.key = "constant-mode",
     .type = TACIT_OPT_REAL,
     .fallback = "0.25",
     .min = 0,
     .max = 1000,
     .offset = FIELD(kernel.constant),
     .help = "\"kernel: spectral\": factor for modes that are constant on a component; less than "
             "1 where models differ more than they agree"},
    {.key = "rank",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 500,
     .offset = FIELD(rank),
     .help = "how many voices are sung in; 0: 3, and two more than the graph has components"},
    {.key = "rounds",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = 1000,
     .offset = FIELD(rounds),
     .help = "sums; the budget is spread over them by \"privacy.policy\""},
    {.key = "opt-out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .offset = FIELD(opt_out),
     .help = "file of lines \"agent,round\": from that round on the agent gives nothing and is "
             "charged nothing"},
    {.key = "sum",
     .type = TACIT_OPT_CHOICE,
     .fallback = "ideal",
     .choices = sums,
     .offset = FIELD(sum),
     .help = "who adds up: an ideal party (simulations only), or the agents among themselves under "
             "masks, which the options below are for"},
    {.key = "spares",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .offset = FIELD(spares),
     .help = "\"sum: masks\": the budget is planned for so many tries more than rounds"},
    {.key = "most-records",
     .type = TACIT_OPT_INT,
     .fallback = "10000",
     .min = 1,
     .max = 1e9,
     .offset = FIELD(most_records),
     .help = "\"sum: masks\": no agent has more (a sum beyond that is nonsense)"},
    TOTALS_OPTIONS(chorus_options, totals),
    {.key = "period",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-6,
     .max = 1e9,
     .offset = FIELD(period),
     .help = "time from one sum to the next; gifts must have arrived by then"},
    {.key = "radius",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 1e-9,
     .max = 1e9,
     .offset = FIELD(radius),
     .help = "public: how long a record's row usually is"},
    {.key = "variance",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e18,
     .offset = FIELD(variance),
     .help = "public guess: variance of one number of a record's gradient; 0: as if gradients "
             "were as long as the clip"},
    {.key = "step",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .offset = FIELD(step),
     .help = "length of the first step, over Newton's; 0: 1 for the squared loss, else 1.5"},
    {.key = "misfit",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 0,
     .max = 1000,
     .offset = FIELD(misfit),
     .help = "how far models lie from what the voices can say, of their own variance"},
    {.key = "spreads",
     .type = TACIT_OPT_CHOICE,
     .fallback = "modes",
     .choices = spreads,
     .offset = FIELD(spreads),
     .help = "what is estimated from the sums: one spread for all, one for each voice, or one for "
             "each coordinate (for sparse models)"},
    /* Sums say how sure they are, so there is little to choose. */
    FINISH_OPTIONS(chorus_options, finish, "private", "1", "1", "0.6", "2"),
};

/* ---- what it refuses ---- */

static tacit_status check(const chorus_options *o, const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *privacy = setup->privacy;
    const bool noisy = privacy->mechanism != TACIT_MECHANISM_NONE;
    const bool known = setup->graph || o->kernel.kind == CHORUS_KERNEL_LEARNED;
    if (!known || (o->sum == CHORUS_IDEAL && !setup->records) ||
        (noisy && privacy->adjacency != TACIT_REPLACE))
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"chorus\" needs to know the whole graph and how many records "
                          "each agent has; under \"privacy.adjacency: add-remove\" the latter is a "
                          "secret: use \"replace\"");
    if (o->sum == CHORUS_IDEAL && o->totals.colluders > 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "with \"protocol.sum: ideal\" nobody colludes; \"protocol.colluders\" is "
                          "for \"protocol.sum: masks\"");
    if (!noisy)
        return TACIT_OK;
    if (privacy->mechanism != TACIT_MECHANISM_GAUSSIAN)
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"chorus\" mixes coordinates, which l2 bounds survive and l1 "
                          "bounds do not; use \"privacy.mechanism: gaussian\"");
    const bool lots = privacy->sampling > 0 && privacy->sampling < 1;
    if (privacy->unit != TACIT_UNIT_RECORD || lots)
        return tacit_fail(
            err, TACIT_EINPUT,
            "protocol \"chorus\" adds up all records of an agent; use \"privacy.unit: "
            "record\" without \"privacy.sampling\"");
    if (privacy->claimed)
        return tacit_fail(err, TACIT_EINPUT,
                          "what is given to a sum must be bounded; \"privacy.claimed\" is not for "
                          "protocol \"chorus\"");
    return TACIT_OK;
}

/* Rounds that cannot close would be planned for, and the first of them charged, for nothing. */
static tacit_status check_time(const chorus_options *o, double until, tacit_error *err)
{
    const bool learned = o->kernel.kind == CHORUS_KERNEL_LEARNED; /* in a period of its own */
    const double closes = o->period * (double)(o->rounds + learned);
    if (!(until > 0) || closes <= until)
        return TACIT_OK;
    char enough[40]; /* 3 periods of 0.1 end a little after 0.3 */
    snprintf(enough, sizeof enough, "%g", closes);
    if (strtod(enough, NULL) < closes)
        snprintf(enough, sizeof enough, "%.17g", closes);
    return tacit_fail(err, TACIT_EINPUT,
                      "the last of %lld rounds closes at time %s, but the run ends at %g: budget "
                      "would be spent on sums that nobody hears; raise \"run.time\" to %s, or "
                      "lower \"protocol.rounds\" or \"protocol.period\"",
                      (long long)o->rounds, enough, until, enough);
}

/* ---- shapes, scales ---- */

static tacit_status make_shapes(chorus_shared *s, tacit_error *err)
{
    size_t count;
    if (!tacit_mul_size(s->rank, s->features, &count))
        return tacit_out_of_memory(err);
    const tacit_segment sum = {"sum", TACIT_F64, count};
    const tacit_segment beside = {"weights", TACIT_I64, s->rank * (s->rank + 1) / 2};
    tacit_status status = tacit_shape_init(&s->sum, &sum, 1, err);
    return status == TACIT_OK ? tacit_shape_init(&s->beside, &beside, 1, err) : status;
}

/* How long the gradient of a record of length 1 is at zero: |1/K - e_y| for K classes. */
static double slope_at_zero(const chorus_shared *s)
{
    return s->squared ? 2 : s->classes ? sqrt(1 - 1 / (double)s->classes) : 0.5;
}

/* Public guesses that turn means of gradients into models. Of K classes, at zero: the Hessian is
 * (I - 1 1^T / K) / K (x) E[x x^T], each class's own part (1/K) (1 - 1/K). But gradients add up to
 * zero over classes, and on such vectors it is 1/K times E[x x^T]; that is about R^2 K / p, since p
 * counts the weights of all K classes: R^2 / p. (Of two classes theta_1 - theta_0 then moves as the
 * model of the logistic loss does.) */
static void choose_scales(chorus_shared *s)
{
    const double p = (double)s->features, radius = s->options.radius;
    const bool noisy = s->privacy.mechanism != TACIT_MECHANISM_NONE;
    const double clip = s->privacy.clip > 0 ? s->privacy.clip : INFINITY;
    const double longest = isfinite(clip) ? clip : radius * slope_at_zero(s);
    s->clip = noisy ? tacit_cost_clip(&s->costs[0]) : (tacit_clip){TACIT_L2, clip};
    s->variance = s->options.variance > 0 ? s->options.variance : longest * longest / p;
    s->curvature = radius * radius / p * (s->squared ? 2 : s->classes ? 1 : 0.25);
    if (s->options.step == 0)
        s->options.step = s->squared ? 1 : 1.5;
}

static tacit_status make_memo(chorus_shared *s, tacit_error *err)
{
    chorus_memo *memo = calloc(1, sizeof *memo);
    if (!memo)
        return tacit_out_of_memory(err);
    if (pthread_mutex_init(&memo->lock, NULL)) {
        free(memo);
        return tacit_out_of_memory(err);
    }
    s->memo = memo;
    memo->q = calloc(s->rank * s->rank, sizeof *memo->q);
    return memo->q ? chorus_smoothed_init(&memo->smoothed, s->rank, s->features, err)
                   : tacit_out_of_memory(err);
}

static tacit_status set_up(void *shared, const void *options, const tacit_setup *setup,
                           tacit_error *err)
{
    chorus_shared *s = shared;
    s->options = *(const chorus_options *)options;
    tacit_status status = check(&s->options, setup, err);
    if (status == TACIT_OK && chorus_learned(s))
        status = chorus_kernel_check(&s->options, setup, err);
    if (status == TACIT_OK && !chorus_masked(s))
        status = check_time(&s->options, setup->until, err);
    if (status != TACIT_OK)
        return status;
    s->agents = setup->agents;
    s->rounds = (uint64_t)s->options.rounds;
    s->privacy = *setup->privacy;
    s->privacy.releases = s->options.rounds + (chorus_masked(s) ? s->options.spares : 0);
    s->budgets = setup->epsilon != NULL;
    s->model = tacit_model_shape(setup->model);
    s->features = s->model->segment[0].count;
    s->squared = !tacit_model_score_up(setup->model);
    s->classes = tacit_model_classes(setup->model);
    status = chorus_columns(s, setup, err);
    if (status == TACIT_OK)
        status = chorus_leavers(s, setup->agents, err);
    if (status == TACIT_OK)
        status = make_shapes(s, err);
    if (status == TACIT_OK)
        status = chorus_plan_costs(s, err);
    if (status == TACIT_OK)
        status = finish_prepare(&s->finish, &s->options.finish, err);
    if (status == TACIT_OK)
        status = make_memo(s, err);
    if (status == TACIT_OK && chorus_learned(s))
        status = chorus_kernel_prepare(s, err);
    if (status != TACIT_OK)
        return status;
    choose_scales(s);
    return chorus_masked(s) ? chorus_masks_plan(s, err) : TACIT_OK;
}

static void tear_down(void *shared)
{
    chorus_shared *s = shared;
    tacit_totals_clear(&s->totals);
    free(s->column);
    free(s->leaves);
    free(s->costs);
    chorus_book_close(s);
    if (!s->memo)
        return;
    chorus_smoothed_end(&s->memo->smoothed);
    free(s->memo->q);
    pthread_mutex_destroy(&s->memo->lock);
    free(s->memo);
}

#define SEES_IDEAL                                                                            \
    "only sums over all who took part; an ideal party adds up here and draws the noise, and " \
    "nobody colludes or drops out (\"protocol.sum: masks\" does without it)"
#define SEES_WORDS                                                                             \
    "one vector of every agent, on every link and whoever colludes, with all of its noise in " \
    "it (\"protocol.kernel: learned\"), and then "

static double more_delta(const void *shared)
{
    const chorus_shared *s = shared;
    return s->options.sum == CHORUS_MASKS && s->totals.delta > 0 ? s->totals.more_delta : 0;
}

static void sees(char *out, size_t size, const void *options)
{
    const chorus_options *o = options;
    const char *words = o && o->kernel.kind == CHORUS_KERNEL_LEARNED ? SEES_WORDS : "";
    if (!o || o->sum == CHORUS_IDEAL)
        snprintf(out, size, "%s" SEES_IDEAL, words);
    else
        totals_sees(out, size, words, &o->totals);
}

static uint32_t flags_for(const void *options)
{
    const chorus_options *o = options;
    const bool masked = o->sum == CHORUS_MASKS;
    if (o->kernel.kind == CHORUS_KERNEL_LEARNED) /* everybody must hear everybody; no graph is */
        return TACIT_CHATTY | TACIT_EVERYBODY | (masked ? 0 : TACIT_GROUPS); /* needed for that */
    return masked ? TACIT_CHATTY | TACIT_EVERYBODY | TACIT_WHOLE : TACIT_GROUPS;
}

const tacit_protocol tacit_protocol_chorus = {
    .name = "chorus",
    .summary = "personalized models from sums over all agents, with one noise for all",
    .wire_id = 8,
    .trust = TACIT_TRUST_SECURE,
    .sees = sees,
    .more_delta = more_delta,
    .flags = TACIT_GROUPS,
    .flags_for = flags_for,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(chorus_options)},
    .shared_size = sizeof(chorus_shared),
    .setup = set_up,
    .teardown = tear_down,
    .payload = chorus_payload,
    .agent_size = chorus_agent_size,
    .on = chorus_on,
    .save = chorus_save,
    .load = chorus_load,
    .end = chorus_end,
    .model = chorus_model,
    .done = chorus_done,
};
