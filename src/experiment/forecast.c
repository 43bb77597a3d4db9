/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions of relative fitness, and the border of where joining pays (tacit/forecast.h).
 *
 * Together (paper 002, eq. 6) only one number of owners, sizes and budgets counts,
 * s = N^crowd sqrt(sum 1/epsilon_i^2)/n, and the law grows with it. So the border is solved for s
 * first and for budgets then, in closed form: the largest s at which the law is no more than what
 * the owner has alone.
 *
 * Alone: models of n_i records scatter around the best model like 1/n_i, that of the pooled records
 * like 1/n, and n_i of the n are the same. So what the pooled records see of the difference is in
 * proportion to 1/n_i - 1/n. There is no floor: where owners' records are alike nothing but their
 * number counts, and a floor fitted to small pilots would be all that is left of a forecast for
 * large owners.
 */
#include "experiment/forecast_fit.h"

#include "math/student.h"

#include <math.h>

/* ---- what an epsilon is worth ---- */

/* The line through the two nearest of `count` points, at x. */
static double on_lines(size_t count, const double *from, const double *to, double x)
{
    size_t k = 1;
    while (k + 1 < count && x > from[k])
        k++;
    return to[k - 1] + (x - from[k - 1]) * (to[k] - to[k - 1]) / (from[k] - from[k - 1]);
}

double tacit_epsilon_rate_noise(const tacit_epsilon_rate *exchange, double epsilon)
{
    if (exchange->count < 2)
        return 1 / (epsilon * epsilon);
    return exp(-2 * on_lines(exchange->count, exchange->epsilon, exchange->worth, log(epsilon)));
}

double tacit_epsilon_rate_epsilon(const tacit_epsilon_rate *exchange, double noise)
{
    if (exchange->count < 2)
        return 1 / sqrt(noise);
    return exp(on_lines(exchange->count, exchange->worth, exchange->epsilon, -0.5 * log(noise)));
}

/* ---- laws ---- */

static double strength(const tacit_fitness_law *law, const tacit_pilot *place)
{
    return pow(place->owners, law->crowd) * sqrt(place->noise) / place->records;
}

static tacit_status check_pilot(const tacit_pilot *pilot, size_t k, tacit_error *err)
{
    if (!(pilot->owners >= 1) || !(pilot->records > 0) || !(pilot->noise >= 0) ||
        isinf(pilot->owners) || isinf(pilot->records) || isinf(pilot->noise))
        return tacit_fail(err, TACIT_EINPUT,
                          "pilot %zu: \"%g\" owners, \"%g\" records and \"%g\" for the sum of "
                          "1/epsilon^2 make no run",
                          k + 1, pilot->owners, pilot->records, pilot->noise);
    if (!(pilot->psi > 0) || isinf(pilot->psi))
        return tacit_fail(err, TACIT_EINPUT,
                          "pilot %zu: a relative fitness of \"%g\" cannot be fitted; it must be "
                          "above 0",
                          k + 1, pilot->psi);
    return TACIT_OK;
}

static bool one_crowd(const tacit_pilot *pilots, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (pilots[k].owners != pilots[0].owners)
            return false;
    return true;
}

tacit_status tacit_fitness_law_fit(tacit_fitness_law *law, const tacit_pilot *pilots, size_t count,
                                   const tacit_fitness_law_options *options, tacit_error *err)
{
    tacit_fit_points points;
    tacit_status status = tacit_fit_points_create(&points, count, err);
    for (size_t k = 0; !status && k < count; k++) {
        status = check_pilot(&pilots[k], k, err);
        points.plain[k] = sqrt(pilots[k].noise) / pilots[k].records;
        points.log_owners[k] = log(pilots[k].owners);
        points.log_psi[k] = log(pilots[k].psi);
        points.order[k].setting[0] = pilots[k].owners;
        points.order[k].setting[1] = pilots[k].records;
        points.order[k].setting[2] = pilots[k].noise;
    }
    if (!status && options->crowd && one_crowd(pilots, count))
        status = tacit_fail(err, TACIT_EINPUT,
                            "all pilots have \"%g\" owners: nothing shows what more of them do",
                            pilots[0].owners);
    if (!status)
        status = tacit_fit(law, &points, options->floor ? 7u : 6u, options->crowd, err);
    for (size_t k = 0; k < count && !status; k++) {
        law->fewest = k ? fmin(law->fewest, pilots[k].owners) : pilots[k].owners;
        law->largest = fmax(law->largest, pilots[k].owners);
    }
    tacit_fit_points_clear(&points);
    return status;
}

tacit_status tacit_fitness_law_fit_alone(tacit_fitness_law *law, const tacit_lone_pilot *pilots,
                                         size_t count, tacit_error *err)
{
    tacit_fit_points points;
    tacit_status status = tacit_fit_points_create(&points, count, err);
    for (size_t k = 0; !status && k < count; k++) {
        const tacit_lone_pilot *p = &pilots[k];
        if (!(p->own > 0) || !(p->pooled > p->own) || isinf(p->pooled) || !(p->psi > 0) ||
            isinf(p->psi))
            status = tacit_fail(err, TACIT_EINPUT,
                                "lone pilot %zu: \"%g\" of \"%g\" records with a relative fitness "
                                "of \"%g\" cannot be fitted",
                                k + 1, p->own, p->pooled, p->psi);
        points.plain[k] = 1 / p->own - 1 / p->pooled;
        points.log_owners[k] = 0;
        points.log_psi[k] = log(p->psi);
        points.order[k].setting[0] = p->own;
        points.order[k].setting[1] = p->pooled;
    }
    if (!status)
        status = tacit_fit(law, &points, 2u, false, err);
    tacit_fit_points_clear(&points);
    return status;
}

tacit_fitness_law tacit_fitness_law_given(double floor, double linear, double square)
{
    return (tacit_fitness_law){.c = {floor, linear, square}, .worst = 1, .most = INFINITY};
}

#define BAD_TYPICAL 1.5
#define BAD_WORST 3.0

bool tacit_fitness_law_is_bad(const tacit_fitness_law *law)
{
    if (law->freedom == 0)
        return false;
    const double chance = law->within * law->within / law->repeats;
    const double misfit = sqrt(fmax(law->between * law->between - chance, 0));
    return misfit > log(BAD_TYPICAL) ||
           (law->worst > BAD_WORST && log(law->worst) > 4 * sqrt(chance));
}

/* ---- predictions ---- */

static double law_at(const tacit_fitness_law *law, double s)
{
    return law->c[0] + s * (law->c[1] + s * law->c[2]);
}

/* What an owner's own records leave, as the law of alone takes it. */
static double distance(double own, double pooled)
{
    return fmax(1 / own - 1 / pooled, 0);
}

static bool beyond_noise(const tacit_fitness_law *law, double s)
{
    return s < law->least * (1 - 1e-9) || s > law->most * (1 + 1e-9);
}

static bool beyond_owners(const tacit_fitness_law *law, double owners)
{
    return law->largest > 0 && (owners < law->fewest || owners > law->largest);
}

static tacit_outlook look(const tacit_fitness_law *law, double s, double log_owners,
                          double coverage)
{
    tacit_outlook out = {
        .psi = law_at(law, s), .freedom = law->freedom, .outside = beyond_noise(law, s)};
    out.low = out.high = out.psi;
    if (law->freedom == 0 || !(out.psi > 0))
        return out;
    const double runs = law->within * law->within * (1 - 1 / law->repeats);
    const double means = law->between * law->between;
    out.deviation = sqrt(runs + means * (1 + tacit_fit_leverage(law, s, log_owners)));
    const double reach = tacit_student_reach(coverage, law->freedom) * out.deviation;
    out.low = out.psi * exp(-reach);
    out.high = out.psi * exp(reach);
    return out;
}

tacit_outlook tacit_fitness_law_at(const tacit_fitness_law *law, const tacit_pilot *place,
                                   double coverage)
{
    tacit_outlook out = look(law, strength(law, place), log(place->owners), coverage);
    out.outside = out.outside || beyond_owners(law, place->owners);
    return out;
}

tacit_outlook tacit_fitness_law_alone_at(const tacit_fitness_law *law, double own, double pooled,
                                         double coverage)
{
    return look(law, distance(own, pooled), 0, coverage);
}

double tacit_outlook_below(const tacit_outlook *a, const tacit_outlook *b)
{
    const double deviation = hypot(a->deviation, b->deviation);
    if (!(deviation > 0))
        return a->psi < b->psi ? 1 : a->psi > b->psi ? 0 : 0.5;
    uint64_t freedom = a->freedom; /* the smaller of those that say something: the safer one */
    if (freedom == 0 || (b->freedom > 0 && b->freedom < freedom))
        freedom = b->freedom;
    const double t = (log(b->psi) - log(a->psi)) / deviation;
    return isnan(t) ? 0.5 : 0.5 + copysign(0.5, t) * tacit_student_inside(fabs(t), freedom);
}

double tacit_fitness_law_reach(const tacit_fitness_law *law, double psi)
{
    const double rest = psi - law->c[0], linear = law->c[1], square = law->c[2];
    if (!(rest >= 0))
        return NAN;
    if (!(square > 0))
        return linear > 0 ? rest / linear : INFINITY;
    /* The root of square s^2 + linear s = rest, without cancellation. */
    return 2 * rest / (linear + sqrt(linear * linear + 4 * square * rest));
}

bool tacit_fitness_law_floor_seen(const tacit_fitness_law *law)
{
    return law->freedom == 0 || law->c[0] >= law_at(law, law->least) / 2;
}

/* ---- owners ---- */

/* Is it beyond the pilots that the law is `psi` at `reach`? NAN: that it is above everywhere. */
static bool beyond_border(const tacit_fitness_law *law, double owners, double reach)
{
    if (beyond_owners(law, owners))
        return true;
    return isnan(reach) ? !tacit_fitness_law_floor_seen(law) : beyond_noise(law, reach);
}

static tacit_status check_owner(const tacit_joiner *owner, tacit_error *err)
{
    if (!(owner->records >= 1) || owner->records > TACIT_JOIN_RECORDS)
        return tacit_fail(err, TACIT_EINPUT, "owner \"%s\" has \"%g\" records; give from 1 to %g",
                          owner->name, owner->records, TACIT_JOIN_RECORDS);
    if (!(owner->epsilon >= TACIT_JOIN_EPSILON_LEAST) || owner->epsilon > TACIT_JOIN_EPSILON_MOST)
        return tacit_fail(err, TACIT_EINPUT,
                          "owner \"%s\" has an epsilon of \"%g\"; give from %g to %g", owner->name,
                          owner->epsilon, TACIT_JOIN_EPSILON_LEAST, TACIT_JOIN_EPSILON_MOST);
    return TACIT_OK;
}

typedef struct totals {
    double owners, records, noise;
} totals;

/* 1/epsilon^2 of the owner is what the others leave of the largest sum that still pays. */
static double own_border(const tacit_fitness_law *law, double alone, const totals *all,
                         double own_noise)
{
    const double reach = tacit_fitness_law_reach(law, alone);
    if (isnan(reach))
        return INFINITY;
    const double root = reach * all->records / pow(all->owners, law->crowd);
    const double left = root * root - fmax(all->noise - own_noise, 0);
    return left > 0 ? tacit_epsilon_rate_epsilon(&law->exchange, left) : INFINITY;
}

double tacit_forecast_border(const tacit_fitness_law *together, const tacit_fitness_law *alone,
                             double owners, double own, double pooled)
{
    const double psi = tacit_fitness_law_alone_at(alone, own, pooled, 0.5).psi;
    const double reach = tacit_fitness_law_reach(together, psi);
    if (isnan(reach) || reach == 0)
        return INFINITY;
    const double root = reach * pooled / pow(owners, together->crowd);
    return tacit_epsilon_rate_epsilon(&together->exchange, root * root / owners);
}

bool tacit_forecast_border_outside(const tacit_fitness_law *together,
                                   const tacit_fitness_law *alone, double owners, double own,
                                   double pooled)
{
    const double psi = law_at(alone, distance(own, pooled));
    return beyond_border(together, owners, tacit_fitness_law_reach(together, psi));
}

/* Where no epsilon of one's own is enough, that is said of the noise of the others alone. */
static bool own_outside(const tacit_fitness_law *law, const tacit_stake *stake, const totals *all,
                        double own_noise)
{
    const double reach = tacit_fitness_law_reach(law, stake->alone.psi);
    const tacit_pilot others = {
        .owners = all->owners, .records = all->records, .noise = fmax(all->noise - own_noise, 0)};
    const bool too_much = isinf(stake->own) && !isnan(reach);
    return beyond_border(law, all->owners, too_much ? strength(law, &others) : reach);
}

typedef struct company {
    const tacit_fitness_law *together, *alone;
    double own, noise;           /* of the owner who asks */
    double records, other_noise; /* of each partner */
} company;

static tacit_pilot place_with(const company *c, double partners)
{
    return (tacit_pilot){.owners = partners + 1,
                         .records = c->own + partners * c->records,
                         .noise = c->noise + partners * c->other_noise};
}

/* No intervals: they cost more than all the rest, and thousands of numbers are tried an owner. */
static bool pays(const company *c, double partners)
{
    const tacit_pilot place = place_with(c, partners);
    return law_at(c->together, strength(c->together, &place)) <
           law_at(c->alone, distance(c->own, place.records));
}

/* Counted up to a thousand, doubled and halved from there on. */
static double least_partners(const company *c)
{
    double most = 1;
    for (; most <= 1000; most++)
        if (pays(c, most))
            return most;
    double least = most - 1;
    for (; !pays(c, most); most *= 2) {
        if (most > TACIT_JOIN_PARTNERS)
            return INFINITY;
        least = most;
    }
    while (most - least > 1) {
        const double middle = floor((least + most) / 2);
        if (pays(c, middle))
            most = middle;
        else
            least = middle;
    }
    return most;
}

/* That none are enough is said of more than anybody ran. */
static bool partners_outside(const company *c, double partners)
{
    if (isinf(partners))
        return c->together->freedom > 0;
    const tacit_pilot place = place_with(c, partners);
    return beyond_border(c->together, place.owners, strength(c->together, &place));
}

static tacit_stake stake_of(const tacit_joiner *owner, const totals *all,
                            const tacit_fitness_law *together, const tacit_fitness_law *alone,
                            double coverage)
{
    const double noise = tacit_epsilon_rate_noise(&together->exchange, owner->epsilon);
    const double others = all->owners - 1;
    const tacit_pilot place = {.owners = all->owners, .records = all->records, .noise = all->noise};
    tacit_stake stake = {
        .alone = tacit_fitness_law_alone_at(alone, owner->records, all->records, coverage),
        .together = tacit_fitness_law_at(together, &place, coverage),
        .everyone =
            tacit_forecast_border(together, alone, all->owners, owner->records, all->records)};
    stake.chance = tacit_outlook_below(&stake.together, &stake.alone);
    stake.own = own_border(together, stake.alone.psi, all, noise);
    const company with = {.together = together,
                          .alone = alone,
                          .own = owner->records,
                          .noise = noise,
                          .records = (all->records - owner->records) / others,
                          .other_noise = fmax(all->noise - noise, 0) / others};
    stake.own_outside = own_outside(together, &stake, all, noise);
    stake.everyone_outside =
        tacit_forecast_border_outside(together, alone, all->owners, owner->records, all->records);
    stake.partners = least_partners(&with);
    stake.partners_outside = partners_outside(&with, stake.partners);
    return stake;
}

tacit_status tacit_forecast(tacit_stake *stakes, const tacit_joiner *owners, size_t count,
                            const tacit_fitness_law *together, const tacit_fitness_law *alone,
                            double coverage, tacit_error *err)
{
    return tacit_forecast_until(stakes, owners, count, together, alone, coverage, NULL, err);
}

tacit_status tacit_forecast_until(tacit_stake *stakes, const tacit_joiner *owners, size_t count,
                                  const tacit_fitness_law *together, const tacit_fitness_law *alone,
                                  double coverage, const tacit_stop *stop, tacit_error *err)
{
    if (count < 2 || count > TACIT_JOINERS)
        return tacit_fail(err, TACIT_EINPUT, "\"%zu\" owners cannot join; it takes from 2 to %d",
                          count, TACIT_JOINERS);
    if (!(coverage > 0 && coverage < 1))
        return tacit_fail(err, TACIT_EINPUT, "a coverage of \"%g\" is not between 0 and 1",
                          coverage);
    totals all = {.owners = (double)count};
    for (size_t i = 0; i < count; i++) {
        tacit_status status = check_owner(&owners[i], err);
        if (status)
            return status;
        all.records += owners[i].records;
        all.noise += tacit_epsilon_rate_noise(&together->exchange, owners[i].epsilon);
    }
    for (size_t i = 0; i < count; i++) {
        if (stop && *stop)
            return tacit_fail(err, TACIT_EINTERRUPTED, "interrupted; nothing was written");
        stakes[i] = stake_of(&owners[i], &all, together, alone, coverage);
    }
    return TACIT_OK;
}
