/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training as a trial. The session is made once; every trial is a runtime of its own on one
 * thread, on the data with the canary or on those without, with the clocks of the experiment's
 * seed and noise of the trial's own. A rehearsal before the first trial shows what the agent
 * releases and what its ledger claims for that, and whether there is anything to audit.
 */
#include "tacit/canary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/audit.h"

const char *const tacit_canary_kinds[] = {"worst", "flipped", NULL};

/* What the score of a training is made of. */
typedef enum scoring {
    BY_GHOSTS,  /* everything the agent released: audit_ghosts.c */
    BY_KERNELS, /* with lots, and of sums: audit_score.c, audit_sums.c */
    BY_LEAN     /* a model: how far it leans towards the canary */
} scoring;

typedef struct trainings {
    scoring by;
    tacit_session *session;
    tacit_canary_data data;
    tacit_costs *costs; /* of all trainings: what is worked out once serves all */
    double noise;       /* over the clip, once it is known: then nobody has to find it again */
    uint32_t agent, workers;
    tacit_canary_score *score; /* one a worker */
    const tacit_stop *stop;
} trainings;

/* ---- whom to audit ---- */

static bool can_be_audited(const tacit_session *s, uint32_t i)
{
    const bool alone = s->graph.row[i + 1] == s->graph.row[i];
    const bool speaks = s->experiment->protocol->payload != NULL;
    return tacit_dataset_rows(s->source.data, i, TACIT_TRAIN) > 0 && !(speaks && alone);
}

static tacit_status choose_agent(const tacit_session *s, tacit_agent wanted, uint32_t *out,
                                 tacit_error *err)
{
    char number[TACIT_NUMBER_MAX];
    const uint32_t agents = s->graph.agents;
    if (wanted != TACIT_NOBODY && wanted >= agents)
        return tacit_fail(err, TACIT_EINPUT,
                          "there is no agent \"%" PRIu64 "\"; agents are 0 to %" PRIu32, wanted,
                          agents - 1);
    if (wanted != TACIT_NOBODY && !can_be_audited(s, (uint32_t)wanted))
        return tacit_fail(
            err, TACIT_EINPUT, "agent \"%s\" has no %s, so nothing of it can leak; choose another",
            tacit_dataset_name(s->source.data, (uint32_t)wanted, number),
            tacit_dataset_rows(s->source.data, (uint32_t)wanted, TACIT_TRAIN) ? "neighbours"
                                                                              : "records");
    for (*out = wanted == TACIT_NOBODY ? 0 : (uint32_t)wanted; *out < agents; (*out)++)
        if (can_be_audited(s, *out))
            return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "no agent has both records and neighbours; there is nothing to audit");
}

/* ---- one training ---- */

/* Leaves the runtime, for the caller to destroy, when all went well. */
static tacit_status train(trainings *t, tacit_canary_score *score, bool with, uint64_t noise_seed,
                          tacit_ghosts **ghosts, tacit_runtime **out, tacit_error *err)
{
    tacit_world world = t->session->world;
    tacit_runtime *rt = NULL;
    tacit_trace *trace = NULL;
    if (t->by == BY_GHOSTS) {
        const tacit_status begun = tacit_ghosts_begin(ghosts, &world, &t->data, t->agent, err);
        if (begun)
            return begun;
    }
    world.data = with ? t->data.with : t->data.without;
    world.noise_seed = noise_seed;
    world.threads = 1;
    world.costs = t->costs;
    if (t->noise > 0)
        world.privacy.noise = t->noise;
    trace = tacit_trace_create();
    tacit_status status =
        trace ? tacit_simulator.create(&rt, &world, err) : tacit_out_of_memory(err);
    if (status)
        goto out;
    score->runtime = rt;
    score->sum = score->lean = 0;
    score->releases = score->scored = score->leaned = 0;
    score->only_counts = t->by == BY_GHOSTS;
    score->status = TACIT_OK;
    score->error = err;
    tacit_trace_watch(trace, tacit_canary_watch, score);
    rt->trace = trace;
    status = rt->ops->run(rt, t->session->experiment->run.time, t->stop, err);
    if (!status)
        status = score->status;
    if (!status)
        status = rt->ops->finish(rt, err);
    rt->trace = NULL;
out:
    if (status && rt)
        rt->ops->destroy(rt);
    else
        *out = rt;
    tacit_trace_free(trace);
    return status;
}

/* A curator's model is all there is to see: how far it leans towards the canary. */
static double lean(const trainings *t, const tacit_runtime *rt)
{
    const tacit_secret *model = rt->ops->agent_model(rt, t->agent);
    double sum = 0;
    for (size_t k = 0; model && k < tacit_dataset_features(t->data.with); k++)
        sum += t->data.x[k] * tacit_vector_get(tacit_vector_of_secret(model), 0, k);
    return sum;
}

static bool is_oracle(const trainings *t)
{
    return tacit_experiment_flags(t->session->experiment) & TACIT_ORACLE;
}

static tacit_status one_trial(void *ctx, const tacit_audit_trial *trial, double *out,
                              tacit_error *err)
{
    trainings *t = ctx;
    tacit_canary_score *score = &t->score[trial->worker];
    tacit_runtime *rt = NULL;
    tacit_ghosts *ghosts = NULL;
    uint64_t scored;
    const uint64_t noise_seed = tacit_stream_u64(trial->stream) | 1;
    tacit_status status = train(t, score, trial->with, noise_seed, &ghosts, &rt, err);
    if (!status && t->by == BY_GHOSTS)
        status = tacit_ghosts_score(ghosts, out, &scored);
    else if (!status && t->by == BY_LEAN)
        *out = is_oracle(t) ? lean(t, rt) : score->lean;
    else if (!status)
        *out = score->sum;
    if (rt)
        rt->ops->destroy(rt);
    tacit_ghosts_end(ghosts);
    return status;
}

/* ---- the rehearsal ---- */

/* Gaussians without sampling are one Gaussian; one Laplace release is itself. */
static tacit_audit_curve curve_of(const tacit_ledger *ledger)
{
    bool gaussian = ledger->count > 0;
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_cost *cost = ledger->entries[k].cost;
        gaussian &= cost->mechanism == TACIT_MECHANISM_GAUSSIAN &&
                    !(cost->sampling > 0 && cost->sampling < 1);
    }
    if (gaussian)
        return TACIT_CURVE_GAUSSIAN;
    const bool laplace =
        ledger->count == 1 && ledger->entries[0].releases == 1 &&
        ledger->entries[0].cost->mechanism == TACIT_MECHANISM_LAPLACE &&
        !(ledger->entries[0].cost->sampling > 0 && ledger->entries[0].cost->sampling < 1);
    return laplace ? TACIT_CURVE_LAPLACE : TACIT_CURVE_NONE;
}

/* The noise as an option that gives the same steps again: they are rounded up. Only gradients have
 * the radius of the options; what else is released first is planned anew each time. */
static double noise_option(const tacit_ledger *ledger, const tacit_privacy_options *privacy)
{
    if (ledger->count == 0 || ledger->entries[0].cost->mechanism == TACIT_MECHANISM_NONE ||
        strcmp(ledger->entries[0].cost->what, "gradient") != 0)
        return 0;
    return ledger->entries[0].cost->noise / privacy->clip * (1 - 0x1p-32);
}

static void note_facts(const trainings *t, const tacit_runtime *rt, tacit_audit_facts *facts)
{
    const tacit_session *s = t->session;
    const tacit_experiment *e = s->experiment;
    const tacit_budget budget = tacit_session_budget(s);
    const tacit_ledger *ledger = rt->ops->agent_ledger(rt, t->agent);
    const bool oracle = tacit_experiment_flags(e) & TACIT_ORACLE;
    char number[TACIT_NUMBER_MAX];
    facts->protocol = e->protocol->name;
    facts->mechanism = (tacit_mechanism)e->privacy.mechanism;
    facts->trust = budget.trust;
    facts->unit = (tacit_unit)e->privacy.unit;
    facts->adjacency = (tacit_adjacency)e->privacy.adjacency;
    facts->delta = tacit_session_delta(s);
    facts->claimed = oracle ? INFINITY : tacit_ledger_epsilon(ledger, &budget);
    facts->releases = tacit_ledger_releases(ledger);
    facts->curve = t->by == BY_LEAN ? TACIT_CURVE_NONE : curve_of(ledger);
    facts->noise = ledger->count ? ledger->entries[0].cost->noise : NAN;
    facts->sensitivity = ledger->count ? ledger->entries[0].cost->sensitivity : NAN;
    facts->seed = (uint64_t)e->run.seed;
    facts->agent = t->agent;
    facts->records = tacit_dataset_rows(s->source.data, t->agent, TACIT_TRAIN);
    facts->leaks = tacit_session_leaks(s, facts->leak);
    if (tacit_experiment_secrecy(e) == TACIT_KEEP_NOISE)
        facts->keep = TACIT_PEERS_SEE "these scores are made from records, with noise of a known "
                                      "seed: keep them to yourself";
    snprintf(facts->title, sizeof facts->title, "%.180s", e->run.name);
    snprintf(facts->agent_name, sizeof facts->agent_name, "%s",
             tacit_dataset_name(s->source.data, t->agent, number));
}

/* One training as `by` says. TACIT_NO: it does not know all that is released, and *why says so. */
static tacit_status rehearse_by(trainings *t, scoring by, tacit_audit_facts *facts,
                                tacit_error *why, tacit_error *err)
{
    tacit_runtime *rt = NULL;
    tacit_ghosts *ghosts = NULL;
    tacit_canary_score *score = &t->score[0];
    double sum;
    uint64_t scored = 0;
    t->by = by;
    tacit_error told = {0};
    tacit_status status = train(t, score, true, 0, &ghosts, &rt, &told);
    if (!status) {
        note_facts(t, rt, facts);
        t->noise =
            noise_option(rt->ops->agent_ledger(rt, t->agent), &t->session->experiment->privacy);
        bool all = true;
        if (by == BY_GHOSTS)
            all =
                tacit_ghosts_score(ghosts, &sum, &scored) == TACIT_OK && scored == score->releases;
        else if (!is_oracle(t))
            all = by == BY_LEAN ? score->leaned == score->releases : score->scored > 0;
        if (!all)
            status = TACIT_NO;
    }
    if (rt)
        rt->ops->destroy(rt);
    tacit_ghosts_end(ghosts);
    if (status == TACIT_NO)
        *why = told;
    else if (status && err)
        *err = told;
    return status;
}

static tacit_status check_releases(const trainings *t, const tacit_audit_facts *facts,
                                   tacit_error *err)
{
    if (is_oracle(t))
        return TACIT_OK;
    if (t->score[0].releases == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "agent \"%s\" releases nothing by time %g, so there is nothing to audit; "
                          "raise \"run.time\", or choose another agent",
                          facts->agent_name, t->session->experiment->run.time);
    if (isinf(facts->claimed))
        return tacit_fail(err, TACIT_EINPUT,
                          "agent \"%s\" releases something without noise: epsilon is unbounded, "
                          "and there is no claim to audit",
                          facts->agent_name);
    return TACIT_OK;
}

/* Which way to score follows all that is released; the strongest comes first. */
static tacit_status rehearse(trainings *t, tacit_audit_facts *facts, tacit_error *err)
{
    const tacit_experiment *e = t->session->experiment;
    const double q = e->privacy.sampling;
    const bool sums = tacit_experiment_flags(e) & TACIT_GROUPS, lots = q > 0 && q < 1;
    tacit_error why = {0}, other = {0};
    if (is_oracle(t))
        return rehearse_by(t, BY_LEAN, facts, &why, err);
    tacit_status status = TACIT_NO;
    if (!sums && !lots) {
        status = rehearse_by(t, BY_GHOSTS, facts, &why, err);
        if (status == TACIT_NO && t->score[0].releases > 0)
            status = rehearse_by(t, BY_LEAN, facts, &other, err);
    }
    if (status == TACIT_NO && (sums || lots || t->score[0].releases > 0))
        status = rehearse_by(t, BY_KERNELS, facts, &other, err);
    if (status && status != TACIT_NO)
        return status;
    const tacit_status none = status && why.text[0] ? TACIT_OK : check_releases(t, facts, err);
    if (none || !status)
        return none;
    return tacit_fail(err, TACIT_EINPUT, "protocol \"%s\" cannot be audited: %s", facts->protocol,
                      why.text[0] ? why.text : "nothing that it releases is known to the audit");
}

/* ---- all of it ---- */

static tacit_status check(const tacit_experiment *e, const tacit_audit_plan *plan, tacit_error *err)
{
    if (plan->trials == 0)
        return tacit_fail(err, TACIT_EINPUT, "an audit needs at least one trial");
    if (tacit_protocol_trust(e->protocol, e->protocol_options) == TACIT_TRUST_SILENT)
        return tacit_fail(
            err, TACIT_EINPUT,
            "protocol \"%s\" never speaks: nobody sees anything, and there is nothing "
            "to audit",
            e->protocol->name);
    if (e->privacy.mechanism == TACIT_MECHANISM_NONE)
        return tacit_fail(
            err, TACIT_EINPUT,
            "\"privacy.mechanism: none\" adds no noise: epsilon is unbounded, and "
            "there is no claim to audit; choose a mechanism, as in \"--set "
            "privacy.mechanism=gaussian --set privacy.clip=1 --set privacy.noise=4\"");
    return tacit_canary_sums_check(e, err);
}

static tacit_status prepare(trainings *t, const tacit_experiment *experiment,
                            const tacit_canary *canary, tacit_error *err)
{
    tacit_status status = tacit_session_create(&t->session, experiment, 1, err);
    if (!status)
        status = choose_agent(t->session, canary->agent, &t->agent, err);
    if (!status)
        status = tacit_canary_data_make(&t->data, t->session, t->agent, canary->kind, err);
    t->score = calloc(t->workers, sizeof *t->score);
    t->costs = tacit_costs_create();
    if (!status && (!t->score || !t->costs))
        status = tacit_out_of_memory(err);
    for (uint32_t w = 0; w < t->workers && !status; w++)
        status = tacit_canary_score_init(&t->score[w], t->session, &t->data, t->agent, err);
    return status;
}

tacit_status tacit_audit_experiment(tacit_audit *out, tacit_audit_facts *facts,
                                    const tacit_experiment *experiment, const tacit_canary *canary,
                                    const tacit_audit_plan *plan, tacit_error *err)
{
    trainings t = {.workers = plan->threads ? plan->threads : 1, .stop = plan->stop};
    *out = (tacit_audit){0};
    *facts = (tacit_audit_facts){.canary = canary->kind};
    tacit_status status = check(experiment, plan, err);
    const uint64_t half = ((uint64_t)plan->trials + 1) / 2; /* the rehearsal's */
    const double total = 2 * ((double)plan->trials + (double)half);
    if (!status && plan->progress) /* from here on it takes time */
        plan->progress(plan->progress_ctx, 0, total);
    if (!status)
        status = prepare(&t, experiment, canary, err);
    if (!status)
        status = rehearse(&t, facts, err);
    if (!status && plan->progress)
        plan->progress(plan->progress_ctx, 0, total);
    if (!status) {
        tacit_audit_plan run = *plan;
        run.curve = facts->curve;
        run.delta = facts->delta;
        run.seed = facts->seed;
        status = tacit_audit_run(out, &run, one_trial, &t, err);
    }
    for (uint32_t w = 0; t.score && w < t.workers; w++)
        tacit_canary_score_clear(&t.score[w]);
    free(t.score);
    tacit_costs_free(t.costs);
    tacit_canary_data_clear(&t.data);
    tacit_session_free(t.session);
    return status;
}
