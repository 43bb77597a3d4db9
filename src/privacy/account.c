/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The door to all accountants: checks every loss, answers what no accountant needs to think
 * about (nothing released, something released bare), and hands on the rest sorted, with equal
 * losses merged. Sorting makes the answer independent of the order of the list to the last bit;
 * merging makes a ledger of a million equal entries as cheap as one.
 */
#include "privacy/account.h"

#include "privacy/loss.h"

#include <math.h>
#include <stdlib.h>

#define MOST_RELEASES (UINT64_C(1) << 53)

static const tacit_account_ops *const accountants[TACIT_ACCOUNTANTS] = {
    [TACIT_BY_SUM] = &tacit_account_sum,   [TACIT_BY_KOV] = &tacit_account_kov,
    [TACIT_BY_ZCDP] = &tacit_account_zcdp, [TACIT_BY_GDP] = &tacit_account_gdp,
    [TACIT_BY_RDP] = &tacit_account_rdp,   [TACIT_BY_PLD] = &tacit_account_pld,
};

static int by_number(double a, double b)
{
    return (a > b) - (a < b);
}

/* Everything but the count. */
static int by_content(const void *left, const void *right)
{
    const tacit_loss *a = left, *b = right;
    const int order[] = {
        by_number(a->kind, b->kind),         by_number(a->adjacency, b->adjacency),
        by_number(a->noise, b->noise),       by_number(a->shift, b->shift),
        by_number(a->sampling, b->sampling), by_number(a->epsilon, b->epsilon),
        by_number(a->delta, b->delta),       by_number(a->categories, b->categories)};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        if (order[k])
            return order[k];
    return 0;
}

/* Fields that say nothing about a kind must not keep equal losses apart, nor be NaN. */
static tacit_loss cleaned(const tacit_loss *loss)
{
    tacit_loss clean = {.kind = loss->kind,
                        .adjacency = loss->adjacency,
                        .sampling = loss->sampling,
                        .delta = loss->delta,
                        .count = loss->count};
    switch (loss->kind) {
    case TACIT_LOSS_RESPONSE:
        clean.categories = loss->categories;
        clean.epsilon = loss->epsilon;
        break;
    case TACIT_LOSS_PURE:
    case TACIT_LOSS_APPROXIMATE:
    case TACIT_LOSS_ZCDP:
        clean.epsilon = loss->epsilon;
        break;
    case TACIT_LOSS_BARE:
        break;
    default:
        clean.noise = loss->noise;
        clean.shift = loss->shift;
    }
    return clean;
}

tacit_status tacit_losses_gather(tacit_loss **list, size_t *kept, bool *bare,
                                 const tacit_loss *loss, size_t count, tacit_error *err)
{
    size_t bytes;
    *list = NULL, *kept = 0, *bare = false;
    if (count == 0)
        return TACIT_OK;
    if (!tacit_mul_size(count, sizeof **list, &bytes) || !(*list = malloc(bytes)))
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < count; k++) {
        tacit_status status = tacit_loss_check(&loss[k], err);
        if (status)
            return status;
        if (loss[k].count > 0)
            (*list)[(*kept)++] = cleaned(&loss[k]);
        *bare |= loss[k].kind == TACIT_LOSS_BARE && loss[k].count > 0;
    }
    qsort(*list, *kept, sizeof **list, by_content);
    size_t last = 0;
    for (size_t k = 1; k < *kept; k++) {
        if (by_content(&(*list)[last], &(*list)[k]) != 0) {
            (*list)[++last] = (*list)[k];
            continue;
        }
        (*list)[last].count += (*list)[k].count; /* both at most 2^53 */
        if ((*list)[last].count > MOST_RELEASES)
            return tacit_fail(err, TACIT_EINPUT,
                              "\"count\" of equal losses is %llu in all; at most 2^53 releases are "
                              "accounted for",
                              (unsigned long long)(*list)[last].count);
    }
    *kept = *kept ? last + 1 : 0;
    return TACIT_OK;
}

/* `hopeless` is what a bare release answers. */
static tacit_status ask(tacit_account_function *function, const tacit_loss *loss, size_t count,
                        double given, double hopeless, double *found, tacit_error *err)
{
    tacit_loss *list;
    size_t kept;
    bool bare;
    tacit_status status = tacit_losses_gather(&list, &kept, &bare, loss, count, err);
    if (status)
        goto out;
    if (bare)
        *found = hopeless;
    else if (kept == 0)
        *found = 0;
    else
        status = function(list, kept, given, found, err);
out:
    free(list);
    return status;
}

static tacit_status check_delta(double delta, tacit_error *err)
{
    if (delta >= 0 && delta < 1)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT, "\"delta\" is %g; it must be at least 0 and below 1",
                      delta);
}

static tacit_status check_accountant(tacit_accountant by, tacit_error *err)
{
    if ((unsigned)by < TACIT_ACCOUNTANTS)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "unknown accountant \"%d\"; take sum, kov, zcdp, gdp, rdp or pld", (int)by);
}

tacit_status tacit_account_epsilon(tacit_accountant by, const tacit_loss *loss, size_t count,
                                   double delta, double *epsilon, tacit_error *err)
{
    tacit_status status = check_accountant(by, err);
    if (!status)
        status = check_delta(delta, err);
    if (status)
        return status;
    return ask(accountants[by]->epsilon, loss, count, delta, INFINITY, epsilon, err);
}

tacit_status tacit_account_delta(tacit_accountant by, const tacit_loss *loss, size_t count,
                                 double epsilon, double *delta, tacit_error *err)
{
    tacit_status status = check_accountant(by, err);
    if (status)
        return status;
    if (!(epsilon >= 0 && isfinite(epsilon)))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"epsilon\" is %g; it must be a finite number, 0 or more", epsilon);
    return ask(accountants[by]->delta, loss, count, epsilon, 1, delta, err);
}

tacit_status tacit_account_optimistic(const tacit_loss *loss, size_t count, double delta,
                                      double *epsilon, tacit_error *err)
{
    tacit_status status = check_delta(delta, err);
    if (status)
        return status;
    return ask(tacit_account_pld_optimistic.epsilon, loss, count, delta, INFINITY, epsilon, err);
}
