/* SPDX-License-Identifier: Apache-2.0 */
/* Protocol "gopa": options, the cost of an average, and how much noise pairs share. */
#include <math.h>
#include <stdlib.h>

#include "protocol/gopa_inside.h"
#include "tacit/gopa.h"

#define BARE_GRID (-24)
#define FAR 16 /* standard deviations: a draw beyond has a chance below 1e-55 */

static const char *const whats[] = {"mean", "sum", NULL};
static const char *const masks[] = {"uniform", "gaussian", NULL};

#define FIELD(name) offsetof(gopa_options, name)

static const tacit_option rows[] = {
    {.key = "what",
     .type = TACIT_OPT_CHOICE,
     .fallback = "mean",
     .choices = whats,
     .offset = FIELD(what),
     .help = "what everybody learns of the records' features"},
    {.key = "low",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = -1e15,
     .max = 1e15,
     .offset = FIELD(low),
     .help = "no value is below this (public); what is, is moved here"},
    {.key = "high",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = -1e15,
     .max = 1e15,
     .offset = FIELD(high),
     .help = "no value is above this (public); what is, is moved here"},
    {.key = "masks",
     .type = TACIT_OPT_CHOICE,
     .fallback = "uniform",
     .choices = masks,
     .offset = FIELD(masks),
     .help = "what pairs add and subtract: uniform modulo 2^64, which hides all but the sum; or "
             "gaussian, as in the thesis, just as much as the budget needs"},
    {.key = "slack",
     .type = TACIT_OPT_REAL,
     .fallback = "0.1",
     .min = 1e-6,
     .max = 100,
     .offset = FIELD(slack),
     .help = "\"masks: gaussian\": own noise has this part more of variance, so that pairs need "
             "only finite noise"},
    {.key = "rounds",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = 100000,
     .offset = FIELD(rounds),
     .help = "averages, one after the other; the budget is for all of them"},
    {.key = "spares",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1000,
     .offset = FIELD(spares),
     .help = "the budget is planned for so many tries more than rounds"},
    {.key = "most-records",
     .type = TACIT_OPT_INT,
     .fallback = "10000",
     .min = 1,
     .max = 1e9,
     .offset = FIELD(most_records),
     .help = "\"privacy.unit: record\": no agent has more (a sum beyond that is nonsense)"},
    {.key = "board",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .offset = FIELD(board),
     .help = "everybody gets what was published, signed, to add it up again (up to 256 agents)"},
    TOTALS_OPTIONS(gopa_options, totals),
};

static tacit_status check(const gopa_options *o, const tacit_setup *setup, tacit_error *err)
{
    const tacit_privacy_options *privacy = setup->privacy;
    const bool noisy = privacy->mechanism != TACIT_MECHANISM_NONE;
    if (!(o->low < o->high))
        return tacit_fail(err, TACIT_EINPUT,
                          "values between \"protocol.low\" %g and \"protocol.high\" %g: there are "
                          "none",
                          o->low, o->high);
    if (noisy && privacy->mechanism != TACIT_MECHANISM_GAUSSIAN)
        return tacit_fail(err, TACIT_EINPUT,
                          "shares of noise add up to Gaussian noise; use \"privacy.mechanism: "
                          "gaussian\"");
    if (noisy && (privacy->adjacency != TACIT_REPLACE || privacy->claimed ||
                  (privacy->sampling > 0 && privacy->sampling < 1)))
        return tacit_fail(
            err, TACIT_EINPUT,
            "protocol \"gopa\" tells how many records there are and uses all of them, "
            "each within its bound: use \"privacy.adjacency: replace\" without "
            "\"sampling\" and \"claimed\"");
    if (o->masks == GOPA_GAUSSIAN && o->totals.adders != TOTALS_CURIOUS)
        return tacit_fail(err, TACIT_EINPUT,
                          "Gaussian pairs hide words from those who keep to the rules only; say "
                          "\"protocol.adders: curious\", or use \"masks: uniform\"");
    if (!noisy && o->masks == GOPA_GAUSSIAN)
        return tacit_fail(err, TACIT_EINPUT,
                          "how much noise pairs need follows from the budget: \"masks: gaussian\" "
                          "needs \"privacy.mechanism: gaussian\"");
    return TACIT_OK;
}

/* Values lie in a box; the ball around it is what noise is for, unless a smaller one is asked for.
 */
static tacit_status plan_cost(gopa_shared *s, const tacit_setup *setup, tacit_error *err)
{
    tacit_privacy_options privacy = *setup->privacy;
    const gopa_options *o = &s->options;
    const double radius = (o->high - o->low) / 2 * sqrt((double)s->features);
    const bool noisy = privacy.mechanism != TACIT_MECHANISM_NONE;
    privacy.clip = privacy.clip > 0 && privacy.clip < radius ? privacy.clip : radius;
    privacy.releases = o->rounds + o->spares;
    s->by_record = privacy.unit == TACIT_UNIT_RECORD;
    tacit_status status = tacit_cost_plan(&s->cost, &privacy, s->features, "average", err);
    if (status != TACIT_OK)
        return status;
    if (!noisy)
        s->cost.grid = BARE_GRID;
    s->clip = noisy ? tacit_cost_clip(&s->cost) : (tacit_clip){TACIT_L2, privacy.clip};
    s->plan.step = ldexp(1, s->cost.grid);
    const double records = s->by_record ? (double)o->most_records : 1;
    const double noise = noisy ? FAR * s->cost.noise * sqrt(1 + s->slack) : 0;
    s->plan.most = ceil((privacy.clip * records + noise) / s->plan.step) + 1;
    s->plan.beside_most = records;
    return TACIT_OK;
}

/* The least pair noise that keeps mu of the worst honest member where masks would have it: on all
 * graphs but a part that is small beside delta, and added to it. */
static tacit_status plan_pairs(gopa_shared *s, tacit_error *err)
{
    const uint32_t agents = (uint32_t)s->plan.agents;
    const double sigma = s->cost.noise / s->cost.sensitivity;
    tacit_totals_plan partners = s->plan; /* how many there will be */
    tacit_status status = tacit_totals_prepare(&partners, err);
    if (status != TACIT_OK)
        return status;
    tacit_totals_clear(&partners);
    const uint32_t honest = tacit_totals_parts(&partners, agents);
    const double shares = floor((double)honest / (1 + s->slack));
    const tacit_gopa_question question = {.users = agents,
                                          .partners = partners.partners,
                                          .rho = (double)honest / agents,
                                          .own = sigma / sqrt(fmax(shares, 1)),
                                          .wanted = 1 / sigma,
                                          .graphs = 1,
                                          .seed = 1};
    double pair;
    if (partners.partners + 1 == agents) { /* one graph, and one sort of honest sets */
        status = tacit_gopa_pair(&pair, &question, err);
    } else {
        pair = tacit_gopa_pair_proved(&question, partners.bits);
        s->pair_delta = exp2(-partners.bits);
    }
    if (status != TACIT_OK)
        return status;
    if (!isfinite(pair))
        return tacit_fail(err, TACIT_EINPUT,
                          "nothing proves that pair noise hides members with %u partners and %u "
                          "honest members, but for a chance of 2^-%.1f: raise "
                          "\"protocol.partners\" or \"protocol.slack\", or use \"masks: uniform\"",
                          partners.partners, honest, partners.bits);
    s->plan.pair = ceil(pair * s->cost.sensitivity / s->plan.step);
    return TACIT_OK;
}

static tacit_status set_up(void *shared, const void *options, const tacit_setup *setup,
                           tacit_error *err)
{
    gopa_shared *s = shared;
    s->options = *(const gopa_options *)options;
    tacit_status status = check(&s->options, setup, err);
    if (status != TACIT_OK)
        return status;
    s->model = tacit_model_shape(setup->model);
    s->features = s->model->segment[0].count;
    s->slack = s->options.masks == GOPA_GAUSSIAN ? s->options.slack : 0;
    s->centre = malloc(s->features * sizeof *s->centre);
    if (!s->centre)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < s->features; k++)
        s->centre[k] = (s->options.low + s->options.high) / 2;
    totals_plan_of(&s->plan, &s->options.totals);
    s->plan.agents = setup->agents;
    s->plan.numbers = s->features;
    s->plan.beside = 2;
    s->plan.rounds = (uint64_t)s->options.rounds;
    s->plan.board = s->options.board;
    /* Where the budget is for one word, that word is said again rather than lost. */
    s->plan.again =
        s->options.rounds == 1 && s->options.spares == 0 && s->options.masks == GOPA_UNIFORM;
    s->plan.child = 1;
    s->plan.delta = setup->privacy->mechanism != TACIT_MECHANISM_NONE ? setup->privacy->delta : 0;
    status = plan_cost(s, setup, err);
    if (status == TACIT_OK && s->options.masks == GOPA_GAUSSIAN)
        status = plan_pairs(s, err);
    return status == TACIT_OK ? tacit_totals_prepare(&s->plan, err) : status;
}

static void tear_down(void *shared)
{
    gopa_shared *s = shared;
    tacit_totals_clear(&s->plan);
    free(s->centre);
}

static double more_delta(const void *shared)
{
    const gopa_shared *s = shared;
    return s->plan.delta > 0 ? s->plan.more_delta + s->pair_delta : 0;
}

static void sees(char *out, size_t size, const void *options)
{
    const gopa_options *o = options;
    if (o && o->masks == GOPA_GAUSSIAN)
        snprintf(out, size,
                 "all published words, whose pair noise covers them just as much as the budget "
                 "needs, as long as at most %" PRId64 " collude (\"protocol.colluders\")",
                 o->totals.colluders);
    else
        totals_sees(out, size, "", o ? &o->totals : NULL);
}

const tacit_protocol tacit_protocol_gopa = {
    .name = "gopa",
    .summary = "a private mean or sum of what agents hold, added up by nobody in particular",
    .wire_id = 11,
    .trust = TACIT_TRUST_SECURE,
    .sees = sees,
    .more_delta = more_delta,
    .flags = TACIT_CHATTY | TACIT_EVERYBODY,
    .options = {"protocol", rows, sizeof rows / sizeof *rows, sizeof(gopa_options)},
    .shared_size = sizeof(gopa_shared),
    .setup = set_up,
    .teardown = tear_down,
    .payload = gopa_payload,
    .agent_size = gopa_agent_size,
    .on = gopa_on,
    .save = gopa_save,
    .load = gopa_load,
    .end = gopa_end,
    .model = gopa_model,
    .done = gopa_done,
    .board = gopa_board,
};
