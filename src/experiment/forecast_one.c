/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pilot: the experiment with other numbers of owners and records and another epsilon, run to
 * its end in this process. And what an epsilon is worth in it: the noise that its accountant asks
 * for, T_i answers long, told as the budget of pure differential privacy with as much noise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "experiment/fitness.h"
#include "experiment/forecast_pilots.h"
#include "protocol/learner.h"

#define MOST_OWNERS 50      /* of a pilot: the simulator could do more, people wait */
#define EXCHANGE_LEAST 1e-3 /* epsilons whose noise is asked for */
#define EXCHANGE_MOST 1e3
#define EXCHANGE_POINTS 13 /* two a decade */

/* Linear regression with ten features. Clip and step were chosen on seeds 1 to 3 of it: what is
 * clipped away and left to go is small beside what an owner has alone. */
const char tacit_forecast_stand_in[] =
    "run: {name: stand-in}\n"
    "data: {source: regression, agents: 4, without: 1, dimension: 10, min-records: 2000, "
    "max-records: 2000, variance: 0.1, bound: l2}\n"
    "graph: {kind: star}\n"
    "model: {loss: squared, lambda: 0.01}\n"
    "protocol: {name: learner, iterations: 500, inertia: none, step: 0.005, range: 3}\n"
    "privacy: {mechanism: laplace, clip: 4, epsilon: 1}\n";

/* ---- configurations ---- */

static tacit_status copy_config(tacit_config *out, const tacit_config *from, tacit_error *err)
{
    for (size_t k = 0; k < from->count; k++) {
        const tacit_setting *s = &from->settings[k];
        if (!tacit_settings_add(out, s->key, s->value, strlen(s->value)))
            return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

static tacit_status set(tacit_config *config, tacit_error *err, const char *fmt, ...)
    TACIT_PRINTF(3, 4);
static tacit_status set(tacit_config *config, tacit_error *err, const char *fmt, ...)
{
    char text[200];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return tacit_config_set(config, text, err);
}

/* Who has what, and nothing kept for tests: relative fitness is about training records. */
static tacit_status set_sizes(tacit_config *config, bool drawn, uint32_t owners, uint64_t records,
                              tacit_error *err)
{
    const uint64_t each = records / owners;
    tacit_status status = set(config, err, "data.agents=%u", owners + 1);
    if (!status)
        status = set(config, err, "data.without=1");
    if (!status && drawn) {
        status = set(config, err, "data.min-records=%llu", (unsigned long long)each);
        if (!status)
            status = set(config, err, "data.max-records=%llu", (unsigned long long)each);
        if (!status)
            status = set(config, err, "data.test-records=0");
        return status ? status : set(config, err, "data.validation-records=0");
    }
    if (!status)
        status = set(config, err, "data.partition=iid");
    if (!status && records > 0)
        status = set(config, err, "data.records=%llu", (unsigned long long)each * owners);
    if (!status)
        status = set(config, err, "data.shuffle=true");
    if (!status)
        status = set(config, err, "data.test-fraction=0");
    return status ? status : set(config, err, "data.validation-fraction=0");
}

/* Owners tick once a unit of time and T of their ticks are wanted; the rest is for bad luck. */
static tacit_status configure(tacit_config *config, const tacit_one_pilot *one,
                              const tacit_pilot_base *base, tacit_error *err)
{
    const double time = 2 * (double)base->iterations / one->owners + 100;
    tacit_status status = copy_config(config, base->config, err);
    if (!status)
        status = set_sizes(config, base->drawn, one->owners, one->records, err);
    if (!status)
        status = set(config, err, "protocol.learner=0");
    if (!status)
        status = set(config, err, "graph.kind=star");
    if (!status)
        status = set(config, err, "privacy.epsilon=%.17g", one->epsilon);
    if (!status)
        status = set(config, err, "run.time=%.17g", time);
    return status ? status : set(config, err, "run.seed=%lld", (long long)one->seed);
}

/* How often an owner speaks when so many take part: what its budget is split over. */
static int64_t answers_of(const tacit_experiment *e, double owners)
{
    const learner_options *o = e->protocol_options;
    if (o->split == LEARNER_SPLIT_HORIZON)
        return o->iterations;
    if (o->answers > 0)
        return o->answers;
    return (int64_t)learner_cap((uint64_t)o->iterations, (uint64_t)owners, o->beta);
}

/* Say the noise in place of epsilon, where it is the same for all answers: a ledger that must not
 * be exceeded would be asked at every answer, and pilots with large epsilons took seconds each. */
static tacit_status say_noise(tacit_experiment *e, uint32_t owners, tacit_error *err)
{
    tacit_cost cost;
    tacit_privacy_options *privacy = &e->privacy;
    if (privacy->policy != TACIT_POLICY_UNIFORM)
        return TACIT_OK;
    privacy->releases = answers_of(e, owners);
    tacit_status status = tacit_cost_plan(&cost, privacy, 2, "gradient", err);
    if (!status) {
        privacy->noise = cost.noise / privacy->clip;
        privacy->epsilon = INFINITY;
    }
    return status;
}

/* ---- one run ---- */

static tacit_status look_alone(tacit_one_pilot *one, const tacit_fitness *fitness,
                               const tacit_dataset *data, tacit_error *err)
{
    for (uint32_t i = 1; i <= one->owners && one->lone_count < TACIT_LONE_OWNERS; i++) {
        double psi = 0;
        tacit_status status = tacit_fitness_alone(fitness, i, &psi, err);
        if (status)
            return status;
        if (psi > 0)
            one->alone[one->lone_count++] =
                (tacit_lone_pilot){.own = (double)tacit_dataset_rows(data, i, TACIT_TRAIN),
                                   .pooled = (double)one->pooled,
                                   .psi = psi};
    }
    return TACIT_OK;
}

static tacit_status perform(tacit_one_pilot *one, tacit_session *session, double end,
                            const tacit_stop *stop, tacit_error *err)
{
    const tacit_dataset *data = tacit_session_data(session);
    tacit_runtime *rt = tacit_session_runtime(session);
    tacit_fitness fitness;
    tacit_status status = tacit_fitness_open(&fitness, session, err);
    if (status)
        return status;
    one->pooled = tacit_shard_rows(tacit_dataset_pooled(data, TACIT_TRAIN));
    one->zero = tacit_fitness_now(&fitness, 0);
    if (one->lone)
        status = look_alone(one, &fitness, data, err);
    if (!status)
        status = rt->ops->run(rt, end, stop, err);
    if (!status)
        status = rt->ops->finish(rt, err);
    if (!status)
        one->psi = tacit_fitness_now(&fitness, 0);
    if (!status && !isfinite(one->psi))
        status = tacit_fail(err, TACIT_EINPUT,
                            "a pilot of %u owners and epsilon %g diverged; try a smaller "
                            "\"protocol.step\" or \"protocol.range\"",
                            one->owners, one->epsilon);
    tacit_fitness_close(&fitness);
    return status;
}

tacit_status tacit_pilot_do(tacit_one_pilot *one, const tacit_pilot_base *base,
                            const tacit_stop *stop, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_session *session = NULL;
    tacit_config_init(&config);
    tacit_status status = configure(&config, one, base, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = say_noise(&experiment, one->owners, err);
    if (status)
        goto out;
    if (!(status = tacit_session_create(&session, &experiment, 1, err)))
        status = perform(one, session, experiment.run.time, stop, err);
out:
    tacit_session_free(session);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

/* ---- what the experiment says ---- */

static tacit_status check(const tacit_experiment *e, tacit_error *err)
{
    const tacit_privacy_options *p = &e->privacy;
    if (strcmp(e->protocol->name, "learner") != 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "a forecast is about protocol \"learner\", and this experiment has "
                          "\"%s\"; for others ask \"tacit advise\"",
                          e->protocol->name);
    if (p->mechanism == TACIT_MECHANISM_NONE || p->noise > 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "pilots find noise from epsilon: set \"privacy.mechanism\" to laplace or "
                          "gaussian and leave \"privacy.noise\" at 0");
    if (*p->budgets)
        return tacit_fail(err, TACIT_EINPUT,
                          "pilots have one epsilon for all: leave out \"privacy.budgets\" and "
                          "list owners with --join");
    if (e->data.source == TACIT_SOURCE_RATINGS || e->data.source == TACIT_SOURCE_SHARDS)
        return tacit_fail(err, TACIT_EINPUT,
                          "pilots deal records anew to other numbers of owners, which "
                          "\"data.source\" of ratings or shards does not allow");
    /* Pilots shuffle, each by its own seed, so that together they read all rows of a file: also
     * those which this experiment leaves alone or keeps for the public. */
    const bool file = !tacit_source_is_drawn(e->data.source);
    if (file && !e->data.shuffle && (e->data.records > 0 || e->data.public_records > 0))
        return tacit_fail(err, TACIT_EINPUT,
                          "pilots shuffle all rows of a file, also those that \"data.records\" or "
                          "\"data.public\" leave out; if all of them are public or made "
                          "up, say so by \"data.shuffle\": true");
    return TACIT_OK;
}

/* For as many answers as an owner gives when `owners` take part. */
static tacit_status find_exchange(tacit_epsilon_rate *out, const tacit_experiment *e, double owners,
                                  const tacit_stop *stop, tacit_error *err)
{
    tacit_privacy_options privacy = e->privacy;
    tacit_status status = TACIT_OK;
    privacy.releases = answers_of(e, owners);
    *out = (tacit_epsilon_rate){0};
    for (int k = 0; k < EXCHANGE_POINTS; k++) {
        tacit_cost cost;
        const double epsilon =
            EXCHANGE_LEAST * pow(EXCHANGE_MOST / EXCHANGE_LEAST, k / (EXCHANGE_POINTS - 1.0));
        if (stop && *stop)
            return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted");
        privacy.epsilon = epsilon;
        tacit_status found = tacit_cost_plan(&cost, &privacy, 2, "gradient", err);
        if (found) { /* too little or too much to be noise: others will do */
            status = found;
            continue;
        }
        const double worth = log((double)privacy.releases * cost.sensitivity / cost.noise);
        if (out->count > 0 && !(worth > out->worth[out->count - 1]))
            continue;
        out->epsilon[out->count] = log(epsilon);
        out->worth[out->count++] = worth;
    }
    return out->count >= 2 ? TACIT_OK : status ? status : TACIT_EINTERNAL;
}

static tacit_status count_records(tacit_pilot_base *base, tacit_error *err)
{
    tacit_config config;
    tacit_experiment experiment = {0};
    tacit_source source = {0};
    tacit_config_init(&config);
    tacit_status status = copy_config(&config, base->config, err);
    if (!status)
        status = set_sizes(&config, false, base->owners, 0, err);
    if (!status)
        status = tacit_experiment_init(&experiment, &config, err);
    if (!status)
        status = tacit_data_load(&source, &experiment.data,
                                 tacit_model_options_scalar(&experiment.model),
                                 (uint64_t)experiment.run.seed, err);
    if (!status) {
        base->records = tacit_shard_rows(tacit_dataset_pooled(source.data, TACIT_TRAIN));
        base->features = tacit_dataset_features(source.data);
    }
    tacit_source_clear(&source);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

bool tacit_pilot_has_room(const tacit_pilot_base *base, uint32_t owners, uint64_t records)
{
    return records / owners >= 3 * base->features && records / owners >= 10;
}

/* As many owners as are asked about, as long as there are records and patience for them. */
static void choose_owners(tacit_pilot_base *base, double wanted)
{
    base->owners = (uint32_t)fmin(fmax(wanted, 2), MOST_OWNERS);
    while (!base->drawn && base->owners > 2 &&
           !tacit_pilot_has_room(base, base->owners, base->records / 2))
        base->owners--;
}

tacit_status tacit_pilot_look(tacit_pilot_base *base, tacit_epsilon_rate *exchange,
                              const tacit_pilots_request *request, tacit_error *err)
{
    tacit_config config;
    tacit_experiment e = {0};
    tacit_config_init(&config);
    tacit_status status = copy_config(&config, request->experiment, err);
    if (!status)
        status = tacit_experiment_init(&e, &config, err);
    if (!status)
        status = check(&e, err);
    if (!status)
        status = find_exchange(exchange, &e, request->owners, request->stop, err);
    if (!status) {
        *base = (tacit_pilot_base){
            .config = request->experiment,
            .owners = 2,
            .features = (size_t)e.data.dimension,
            .iterations = (uint64_t)((const learner_options *)e.protocol_options)->iterations,
            .drawn = tacit_source_is_drawn(e.data.source),
            .seed = e.run.seed,
            .privacy = e.privacy};
    }
    if (!status && !base->drawn)
        status = count_records(base, err);
    if (!status)
        choose_owners(base, request->owners);
    if (!status && base->drawn)
        base->records = (uint64_t)e.data.max_records * base->owners;
    tacit_experiment_clear(&e);
    tacit_config_clear(&config);
    return status;
}
