/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pilots to run, and the laws they make.
 *
 * A shape is a number of owners and of records; a level is s = sqrt(sum 1/epsilon^2)/n, what the
 * law depends on, so that every shape is run at the same levels and epsilons differ. Levels are a
 * geometric row: from where the learner's model just begins to be better than a model of zeros,
 * which scouts find, down to the s of what shall be predicted and to a third of the s at which it
 * would be as good as a model of one's own, but 1/1000 of the first at most. Above them noise has
 * won, models lie at the border of their range, and no law of noise holds. Below them nothing shows
 * what is left without noise: the floor would be fitted by chance, and all borders with it.
 *
 * Settings whose runs end worse than a model of zeros (geometric mean) are left out for the same
 * reason, all runs of them, lest the lucky ones stay.
 */
#include "experiment/forecast_pilots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"

enum { LEVELS = 6, SHAPES = 5, SCOUTS = 16 };
#define STEP 4.0    /* between levels that scouts look at */
#define SPAN 1000.0 /* first level over last, at most */
#define BELOW 3.0   /* border over last level */
#define MOST_PILOTS 10000
#define MOST_EPSILON 1e5 /* beyond, noise is nothing beside what is clipped */
#define MOST_CHECKED 1e7 /* records */
#define MOST_CHECKED_OWNERS 1000.0
#define CHECK_SEEDS 1000000 /* far from those of pilots */
#define MANY_FEATURES 100   /* with more, models of one's own are looked at in fewer runs */
#define LEAST_PSI 1e-15     /* what is below is rounding */

/* Times the base's owners and records: three sizes of the crowd that is asked about, which show how
 * the law goes with n, and others of half and twice as many, which show how it goes with N. */
static const struct shape {
    double owners, records;
} shapes[SHAPES] = {{1, 1}, {1, 0.5}, {1, 0.25}, {2, 1}, {0.5, 0.5}};

typedef struct plan {
    const tacit_pilots_request *request;
    tacit_pilot_base base;
    tacit_epsilon_rate exchange;
    double level[LEVELS];
    tacit_one_pilot *one;
    size_t count;
    tacit_status *status;
    tacit_error *error;
    _Atomic size_t done;
    _Atomic bool failed;
    double scouted; /* runs before these, for the progress */
} plan;

/* ---- one after the other: scouts ---- */

static double epsilon_at(const plan *p, double level, uint32_t owners, uint64_t records)
{
    const double root = level * (double)records;
    return tacit_epsilon_rate_epsilon(&p->exchange, root * root / owners);
}

static void say_progress(const plan *p, double done)
{
    if (p->request->progress)
        p->request->progress(p->request->progress_ctx, done,
                             p->scouted + (double)(SHAPES * LEVELS * p->request->repeats));
}

static double wanted_level(const tacit_pilots_request *r, const tacit_epsilon_rate *exchange)
{
    return sqrt(r->owners * tacit_epsilon_rate_noise(exchange, r->epsilon)) / r->records;
}

/* What scouts saw: psi at a useful level, and a of the law of alone. */
typedef struct scouted {
    double level, psi, alone;
} scouted;

static tacit_status scout(const plan *p, double level, bool *useful, scouted *seen,
                          tacit_error *err)
{
    tacit_one_pilot one = {.lone = !(seen->alone > 0),
                           .owners = p->base.owners,
                           .records = p->base.records,
                           .epsilon = epsilon_at(p, level, p->base.owners, p->base.records),
                           .seed = p->base.seed};
    tacit_status status = tacit_pilot_do(&one, &p->base, p->request->stop, err);
    *useful = one.psi < one.zero / 2;
    if (*useful && !(seen->level > level)) {
        seen->level = level;
        seen->psi = fmax(one.psi, LEAST_PSI);
    }
    for (size_t k = 0; k < one.lone_count; k++) {
        const double s = 1 / one.alone[k].own - 1 / one.alone[k].pooled;
        seen->alone += one.alone[k].psi / s / (double)one.lone_count;
    }
    return status;
}

/* About where together equals alone for what is asked about, as if there were no floor and psi grew
 * like s^2 from the highest useful level down. */
static double border_level(const tacit_pilots_request *r, const scouted *seen)
{
    const double alone = seen->alone * (r->owners - 1) / r->records;
    return seen->level * sqrt(alone / seen->psi);
}

/* The highest level at which a model is worth something, to a factor of 4. */
static tacit_status find_levels(plan *p, tacit_error *err)
{
    const double wanted = wanted_level(p->request, &p->exchange);
    const double least =
        sqrt(p->base.owners * tacit_epsilon_rate_noise(&p->exchange, MOST_EPSILON)) /
        (double)p->base.records;
    scouted seen = {0};
    double top = fmax(wanted, 1.01 * least);
    bool useful = false, was = false;
    for (int k = 0; k < SCOUTS; k++) {
        if (epsilon_at(p, top, p->base.owners, p->base.records) > MOST_EPSILON)
            break;
        tacit_status status = scout(p, top, &useful, &seen, err);
        if (status)
            return status;
        say_progress(p, ++p->scouted);
        if (k > 0 && useful != was)
            break;
        was = useful;
        top *= useful ? STEP : 1 / STEP;
    }
    if (useful == was && !useful)
        return tacit_fail(err, TACIT_EINPUT,
                          "pilots end worse than a model of zeros however little noise there is; "
                          "tune \"protocol.step\", \"protocol.range\" and \"privacy.clip\" first");
    if (!useful)
        top /= STEP;
    const double lowest = fmin(wanted, border_level(p->request, &seen) / BELOW);
    const double span = fmin(fmax(top / lowest, 30), SPAN);
    for (int k = 0; k < LEVELS; k++)
        p->level[k] = top * pow(span, -k / (LEVELS - 1.0));
    return TACIT_OK;
}

/* ---- all at once: pilots ---- */

/* The runs of one shape at one level. Seeds are all different: runs are news to each other. */
static void add_setting(plan *p, size_t shape, size_t level, uint32_t owners, uint64_t records)
{
    const uint32_t repeats = p->request->repeats;
    const double epsilon = epsilon_at(p, p->level[level], owners, records);
    if (!(epsilon <= MOST_EPSILON))
        return;
    for (uint32_t k = 0; k < repeats; k++)
        p->one[p->count++] = (tacit_one_pilot){
            .owners = owners,
            .records = records,
            .epsilon = epsilon,
            .seed = p->base.seed + 1 + (int64_t)((shape * LEVELS + level) * repeats + k),
            .lone = level == 0 || p->base.features <= MANY_FEATURES};
}

static tacit_status check_room(const plan *p, tacit_error *err)
{
    if (tacit_pilot_has_room(&p->base, p->base.owners, p->base.records / 2))
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "%llu records of %zu features for %u owners are too few for pilots; each "
                      "owner needs six times as many records as features, and 20 at least",
                      (unsigned long long)p->base.records, p->base.features, p->base.owners);
}

static tacit_status lay_out(plan *p, tacit_error *err)
{
    const uint32_t repeats = p->request->repeats;
    if (repeats == 0 || repeats > MOST_PILOTS / (SHAPES * LEVELS))
        return tacit_fail(err, TACIT_EINPUT, "\"%u\" runs of each pilot; give from 1 to %d",
                          repeats, MOST_PILOTS / (SHAPES * LEVELS));
    const size_t most = (size_t)SHAPES * LEVELS * repeats;
    p->one = calloc(most, sizeof *p->one);
    p->status = calloc(most, sizeof *p->status);
    p->error = calloc(most, sizeof *p->error);
    if (!p->one || !p->status || !p->error)
        return tacit_out_of_memory(err);
    for (size_t s = 0; s < SHAPES; s++) {
        const uint32_t owners = (uint32_t)ceil(p->base.owners * shapes[s].owners);
        const uint64_t records =
            (uint64_t)((double)p->base.records * shapes[s].records) / owners * owners;
        if (owners < 2 || !tacit_pilot_has_room(&p->base, owners, records))
            continue;
        for (size_t level = 0; level < LEVELS; level++)
            add_setting(p, s, level, owners, records);
    }
    return TACIT_OK;
}

static void do_some(void *ctx, uint32_t worker, size_t begin, size_t end)
{
    plan *p = ctx;
    const tacit_stop *stop = p->request->stop;
    for (size_t k = begin; k < end; k++) {
        p->status[k] = TACIT_EINTERRUPTED;
        if (p->failed || (stop && *stop))
            continue;
        p->status[k] = tacit_pilot_do(&p->one[k], &p->base, stop, &p->error[k]);
        if (p->status[k])
            p->failed = true;
        const size_t done = ++p->done;
        if (worker == 0)
            say_progress(p, p->scouted + (double)done);
    }
}

static tacit_status do_all(plan *p, tacit_error *err)
{
    uint32_t count = p->request->threads ? p->request->threads : 1;
    tacit_threads *threads = tacit_threads_create(count < p->count ? count : (uint32_t)p->count);
    if (!threads)
        return tacit_out_of_memory(err);
    tacit_threads_run(threads, p->count, 1, do_some, p);
    tacit_threads_free(threads);
    bool interrupted = false;
    for (size_t k = 0; k < p->count; k++) {
        if (p->status[k] == TACIT_EINTERRUPTED)
            interrupted = true;
        else if (p->status[k])
            return tacit_fail(err, p->status[k], "%s", p->error[k].text);
    }
    return interrupted ? tacit_fail(err, TACIT_EINTERRUPTED, "interrupted") : TACIT_OK;
}

/* ---- what they tell ---- */

static bool is_hopeless(const tacit_one_pilot *runs, size_t repeats)
{
    double sum = 0;
    for (size_t k = 0; k < repeats; k++)
        sum += log(fmax(runs[k].psi, LEAST_PSI)) - log(fmax(runs[k].zero, LEAST_PSI));
    return sum >= 0;
}

static tacit_status gather(tacit_pilots *out, const plan *p, tacit_error *err)
{
    const size_t repeats = p->request->repeats;
    out->run = calloc(p->count, sizeof *out->run);
    out->lone = calloc(p->count * TACIT_LONE_OWNERS, sizeof *out->lone);
    if (!out->run || !out->lone)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < p->count; k++) {
        const tacit_one_pilot *one = &p->one[k];
        memcpy(out->lone + out->lone_count, one->alone, one->lone_count * sizeof *one->alone);
        out->lone_count += one->lone_count;
        if (is_hopeless(&p->one[k / repeats * repeats], repeats)) {
            out->hopeless++;
            continue;
        }
        out->run[out->count++] = (tacit_pilot){
            .owners = one->owners,
            .records = (double)one->pooled,
            .noise = one->owners * tacit_epsilon_rate_noise(&p->exchange, one->epsilon),
            .psi = fmax(one->psi, LEAST_PSI)};
    }
    out->exchange = p->exchange;
    out->from_file = !p->base.drawn;
    out->owners = p->base.owners;
    out->records = (double)p->base.records;
    return TACIT_OK;
}

tacit_status tacit_pilots_run(tacit_pilots *out, const tacit_pilots_request *request,
                              tacit_error *err)
{
    plan p = {.request = request};
    *out = (tacit_pilots){0};
    tacit_status status = tacit_pilot_look(&p.base, &p.exchange, request, err);
    if (!status)
        status = check_room(&p, err);
    if (!status)
        status = find_levels(&p, err);
    if (!status)
        status = lay_out(&p, err);
    if (!status)
        status = do_all(&p, err);
    if (!status)
        status = gather(out, &p, err);
    const tacit_setting *name = tacit_config_get(request->experiment, "run.name");
    if (!status && name)
        snprintf(out->name, sizeof out->name, "%s", name->value);
    if (status)
        tacit_pilots_clear(out);
    free(p.one);
    free(p.status);
    free(p.error);
    return status;
}

/* The runs of as many owners as the base has. */
static tacit_status fit_one_crowd(const tacit_pilots *pilots, tacit_fitness_law *law,
                                  tacit_error *err)
{
    const tacit_fitness_law_options options = {.floor = true};
    tacit_pilot *some = calloc(pilots->count + 1, sizeof *some);
    size_t count = 0;
    if (!some)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < pilots->count; k++)
        if (pilots->run[k].owners == pilots->owners)
            some[count++] = pilots->run[k];
    tacit_status status = tacit_fitness_law_fit(law, some, count, &options, err);
    size_t seen = 0; /* the worst of those is which of all? */
    for (size_t k = 0; k < pilots->count && !status; k++)
        if (pilots->run[k].owners == pilots->owners && seen++ == law->worst_at) {
            law->worst_at = k;
            break;
        }
    free(some);
    return status;
}

/* All runs, if one law holds for all numbers of owners. The paper promises it for one number only:
 * a learner that keeps a copy an owner is slower with more of them, say. Then that law. */
static tacit_status fit_together(const tacit_pilots *pilots, tacit_fitness_law *law,
                                 tacit_error *err)
{
    tacit_fitness_law_options options = {.floor = true};
    for (size_t k = 1; k < pilots->count; k++)
        options.crowd = options.crowd || pilots->run[k].owners != pilots->run[0].owners;
    tacit_status status = tacit_fitness_law_fit(law, pilots->run, pilots->count, &options, err);
    if (!options.crowd || (!status && !tacit_fitness_law_is_bad(law)))
        return status;
    tacit_fitness_law one;
    if (fit_one_crowd(pilots, &one, status ? err : NULL))
        return status;
    if (status || one.between < law->between)
        *law = one;
    return TACIT_OK;
}

tacit_status tacit_pilots_fit(const tacit_pilots *pilots, tacit_fitness_law *together,
                              tacit_fitness_law *alone, tacit_error *err)
{
    tacit_status status = fit_together(pilots, together, err);
    if (!status)
        together->exchange = pilots->exchange;
    if (!status)
        status = tacit_fitness_law_fit_alone(alone, pilots->lone, pilots->lone_count, err);
    return status;
}

static tacit_status check_one(tacit_checked *out, const tacit_pilot_base *base, int64_t seed,
                              const tacit_pilots_request *request, tacit_error *err)
{
    tacit_one_pilot one = {.owners = (uint32_t)request->owners,
                           .records = (uint64_t)request->records,
                           .epsilon = request->epsilon,
                           .seed = seed,
                           .lone = true};
    tacit_status status = tacit_pilot_do(&one, base, request->stop, err);
    if (!status && (double)one.pooled < 0.99 * request->records)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"data\" have %llu records, too few to check a forecast for %.0f; ask "
                            "about fewer",
                            (unsigned long long)one.pooled, request->records);
    *out = (tacit_checked){one.psi, one.lone_count ? one.alone[0].psi : 0};
    return status;
}

tacit_status tacit_pilots_check(tacit_checked *out, uint32_t runs,
                                const tacit_pilots_request *request, tacit_error *err)
{
    tacit_pilot_base base;
    tacit_epsilon_rate exchange;
    if (!(request->records <= MOST_CHECKED) || !(request->owners <= MOST_CHECKED_OWNERS))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.3g owners with %.3g records are too many to check; ask about %.0f and "
                          "%.0e at most",
                          request->owners, request->records, MOST_CHECKED_OWNERS, MOST_CHECKED);
    tacit_status status = tacit_pilot_look(&base, &exchange, request, err);
    for (uint32_t k = 0; k < runs && !status; k++) {
        status = check_one(&out[k], &base, base.seed + CHECK_SEEDS + k, request, err);
        if (!status && request->progress)
            request->progress(request->progress_ctx, k + 1, runs);
    }
    return status;
}

void tacit_pilots_clear(tacit_pilots *pilots)
{
    free(pilots->run);
    free(pilots->lone);
    *pilots = (tacit_pilots){0};
}
