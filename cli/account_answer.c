/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers of all accountants to one question, and the noise that keeps within a budget.
 *
 * Shuffled reports: one round gives (e(d), d) for any d (Feldman, McMillan, Talwar 2021), and
 * never worse than what one report gives alone. Several rounds are added up with half of delta
 * for what each round may fail, half for adding up; every accountant takes the better of both
 * views. That bound is not tight, so there is no optimistic twin.
 *
 * What is found for a budget is rounded to nine digits towards more noise, so that the number a
 * person copies is one that was checked.
 */
#include "account.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void choose_best(cli_account_answer *answer)
{
    answer->best = -1;
    for (int k = 0; k < TACIT_ACCOUNTANTS; k++) {
        const double epsilon = answer->epsilon[k];
        if (isfinite(epsilon) && (answer->best < 0 || epsilon < answer->epsilon[answer->best]))
            answer->best = k;
    }
}

tacit_status cli_account_answer_losses(cli_account_answer *answer, const tacit_loss *loss,
                                       size_t count, double delta, tacit_error *err)
{
    *answer = (cli_account_answer){.delta = delta, .optimistic = NAN, .best = -1};
    tacit_status status = TACIT_OK;
    for (int k = 0; k < TACIT_ACCOUNTANTS && !status; k++)
        status = tacit_account_epsilon((tacit_accountant)k, loss, count, delta, &answer->epsilon[k],
                                       err);
    choose_best(answer);
    return status;
}

tacit_status cli_account_answer_below(cli_account_answer *answer, const tacit_loss *loss,
                                      size_t count, tacit_error *err)
{
    tacit_status status =
        tacit_account_optimistic(loss, count, answer->delta, &answer->optimistic, err);
    for (int k = 0; k < TACIT_ACCOUNTANTS && !status; k++) {
        if (answer->epsilon[k] < answer->optimistic * (1 - 1e-6) - 1e-9)
            return tacit_fail(
                err, TACIT_EINTERNAL,
                "accountants contradict each other: %s proves epsilon %.9g, and none "
                "can prove less than %.9g; that is an error of ours, please report it",
                tacit_accountant_names[k], answer->epsilon[k], answer->optimistic);
    }
    return status;
}

/* ---- shuffling ---- */

static double smaller(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : fmin(a, b);
}

static tacit_status answer_shuffled(cli_account_answer *answer, const cli_account_facts *facts,
                                    double delta, tacit_error *err)
{
    const tacit_loss *report = facts->loss;
    const double rounds = (double)report->count;
    tacit_loss round = *report;
    cli_account_answer amplified;
    tacit_status status = cli_account_answer_losses(answer, report, 1, delta, err);
    if (status || delta == 0)
        return status;
    round.kind = TACIT_LOSS_APPROXIMATE;
    round.delta = report->count == 1 ? delta : delta / 2 / rounds;
    status = tacit_account_shuffled((uint64_t)facts->request->agents, report->epsilon, round.delta,
                                    &round.epsilon, err);
    if (!status)
        status = cli_account_answer_losses(&amplified, &round, 1, delta, err);
    for (int k = 0; k < TACIT_ACCOUNTANTS && !status; k++)
        answer->epsilon[k] = smaller(answer->epsilon[k], amplified.epsilon[k]);
    choose_best(answer);
    return status;
}

tacit_status cli_account_answer_at(cli_account_answer *answer, const cli_account_facts *facts,
                                   double delta, tacit_error *err)
{
    if (facts->request->form->shuffle)
        return answer_shuffled(answer, facts, delta, err);
    return cli_account_answer_losses(answer, facts->loss, facts->count, delta, err);
}

/* ---- noise from a budget ---- */

/* Nine digits, and not on the side of less noise. */
static double round_digits(double value, bool up)
{
    char text[40];
    if (!(value > 0) || !isfinite(value))
        return value;
    snprintf(text, sizeof text, "%.8e", value);
    double rounded = strtod(text, NULL);
    if (up ? rounded >= value : rounded <= value)
        return rounded;
    double step = pow(10, floor(log10(value)) - 8);
    snprintf(text, sizeof text, "%.8e", value + (up ? step : -step));
    return strtod(text, NULL);
}

/* What the accountant says when `field` of the request is `value`. */
static tacit_status try_value(cli_account_request *request, double *field, double value,
                              tacit_accountant by, double *epsilon, tacit_error *err)
{
    tacit_loss loss;
    cli_account_answer answer;
    const cli_account_facts facts = {.request = request, .loss = &loss, .count = 1};
    *field = value;
    tacit_status status = cli_account_loss(&loss, request, err);
    if (status || !request->form->shuffle)
        return status ? status : tacit_account_epsilon(by, &loss, 1, request->delta, epsilon, err);
    status = answer_shuffled(&answer, &facts, request->delta, err);
    *epsilon = answer.epsilon[by];
    return status;
}

/* The largest `field` within the budget, for what tacit_account_calibrate does not know: the
 * answer only grows with it. 0 if nothing fits. */
static tacit_status find_largest(cli_account_request *request, double *field, tacit_accountant by,
                                 tacit_error *err)
{
    double low = 0, high = 1e-6, epsilon = 0;
    tacit_status status;
    while (!(status = try_value(request, field, high, by, &epsilon, err)) &&
           epsilon <= request->target && high < 1e6) {
        low = high;
        high *= 4;
    }
    while (!status && low > 0 && high - low > 1e-9 * low) {
        const double middle = sqrt(low) * sqrt(high);
        status = try_value(request, field, middle, by, &epsilon, err);
        if (epsilon <= request->target)
            low = middle;
        else
            high = middle;
    }
    *field = low;
    if (!status && isnan(epsilon))
        return tacit_fail(err, TACIT_EINPUT,
                          "accountant \"%s\" has nothing to say about %s; try another --by",
                          tacit_accountant_names[by], request->form->name);
    return status;
}

static tacit_status unreachable(const cli_account_request *request, tacit_accountant by,
                                tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "no %s keeps within epsilon %g at delta %g by %s; allow a larger epsilon or "
                      "delta, or fewer steps",
                      request->form->shuffle ? "report" : "noise", request->target, request->delta,
                      tacit_accountant_names[by]);
}

/* Write what was found where the flag would have written it. */
static void keep_noise(cli_account_request *request, double found)
{
    switch (request->form->kind) {
    case TACIT_LOSS_GAUSSIAN:
    case TACIT_LOSS_DISCRETE_GAUSSIAN:
        if (CLI_GIVEN(request, SENSITIVITY)) {
            request->sigma = found;
            request->given |= 1u << CLI_ACCOUNT_SIGMA;
        } else {
            request->multiplier = found;
            request->given |= 1u << CLI_ACCOUNT_MULTIPLIER;
        }
        return;
    case TACIT_LOSS_LAPLACE:
    case TACIT_LOSS_DISCRETE_LAPLACE:
        request->scale = found;
        request->given |= 1u << CLI_ACCOUNT_SCALE;
        return;
    case TACIT_LOSS_ZCDP:
        request->rho = found;
        request->given |= 1u << CLI_ACCOUNT_RHO;
        return;
    default:
        request->epsilon = found;
        request->given |= 1u << CLI_ACCOUNT_EPSILON;
    }
}

static bool has_noise(tacit_loss_kind kind)
{
    return kind == TACIT_LOSS_GAUSSIAN || kind == TACIT_LOSS_DISCRETE_GAUSSIAN ||
           kind == TACIT_LOSS_LAPLACE || kind == TACIT_LOSS_DISCRETE_LAPLACE;
}

static tacit_status calibrate(const cli_account_request *request, tacit_accountant by,
                              double *found, tacit_error *err)
{
    tacit_loss loss;
    tacit_status status = cli_account_loss(&loss, request, err);
    if (!status)
        status = tacit_account_calibrate(by, &loss, NULL, 0, request->target, request->delta, found,
                                         err);
    if (!status && loss.kind == TACIT_LOSS_PURE)
        *found /= (double)request->group; /* what was found is that of the group */
    return status;
}

static double *noise_field(cli_account_request *request)
{
    return CLI_GIVEN(request, MULTIPLIER) ? &request->multiplier
           : CLI_GIVEN(request, SIGMA)    ? &request->sigma
           : CLI_GIVEN(request, SCALE)    ? &request->scale
           : CLI_GIVEN(request, RHO)      ? &request->rho
                                          : &request->epsilon;
}

/* Accountants that integrate are monotone only up to their rounding: ask once more about the very
 * number that will be printed, and step back until it keeps the budget. */
static tacit_status settle(cli_account_request *request, tacit_accountant by, tacit_error *err)
{
    double *field = noise_field(request), epsilon;
    const bool more = has_noise(request->form->kind);
    for (double back = 1e-8; back < 1e-3; back *= 2) {
        const double value = *field;
        tacit_status status = try_value(request, field, value, by, &epsilon, err);
        if (status || epsilon <= request->target)
            return status;
        *field = round_digits(more ? value * (1 + back) : value * (1 - back), more);
    }
    return unreachable(request, by, err);
}

tacit_status cli_account_solve(cli_account_request *request, tacit_accountant *by, tacit_error *err)
{
    const cli_account_form *form = request->form;
    double found = 0;
    tacit_status status;
    *by = (tacit_accountant)request->by;
    if (!CLI_GIVEN(request, BY) && form->kind == TACIT_LOSS_ZCDP)
        *by = TACIT_BY_ZCDP;
    if (!CLI_GIVEN(request, BY) && form->shuffle && request->steps == 1)
        *by = TACIT_BY_SUM;
    if (form->kind == TACIT_LOSS_ZCDP) {
        status = find_largest(request, &request->rho, *by, err);
        found = request->rho;
    } else if (form->shuffle) {
        status = find_largest(request, &request->epsilon, *by, err);
        found = request->epsilon;
    } else {
        status = calibrate(request, *by, &found, err);
    }
    if (status)
        return status;
    if (!(found > 0) || !isfinite(found))
        return unreachable(request, *by, err);
    keep_noise(request, round_digits(found, has_noise(form->kind)));
    return settle(request, *by, err);
}

/* ---- what accountants are ---- */

const char *cli_account_method(tacit_accountant by)
{
    static const char *const methods[TACIT_ACCOUNTANTS] = {
        [TACIT_BY_SUM] = "epsilons added up",
        [TACIT_BY_KOV] = "the best for pure epsilons",
        [TACIT_BY_ZCDP] = "concentrated DP: rhos added up",
        [TACIT_BY_GDP] = "Gaussian DP, exact",
        [TACIT_BY_RDP] = "Renyi divergences, the best order",
        [TACIT_BY_PLD] = "privacy loss distribution by FFT",
    };
    return methods[by];
}

const char *cli_account_silence(tacit_accountant by, const tacit_loss *loss, size_t count)
{
    bool sampled = false, gaussian = true;
    for (size_t k = 0; k < count; k++) {
        sampled = sampled || loss[k].sampling < 1;
        gaussian = gaussian && loss[k].kind == TACIT_LOSS_GAUSSIAN;
    }
    switch (by) {
    case TACIT_BY_SUM:
    case TACIT_BY_KOV:
        return "nothing: one release has no epsilon without delta";
    case TACIT_BY_ZCDP:
        return sampled ? "nothing: knows no sampling" : "nothing: one release has no rho";
    case TACIT_BY_GDP:
        return sampled && gaussian ? "nothing: not exact with sampling"
                                   : "nothing: knows Gaussians only";
    default:
        return "nothing: too little is known of one release";
    }
}
