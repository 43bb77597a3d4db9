/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan means to a data set: losses of the set's unit and adjacency.
 *
 * To replace a record is to remove one and to add one. A sum of clipped records with noise moves by
 * C when one is added or removed, so by 2C when one is replaced: the loss with the doubled
 * sensitivity, under sampling too, since the replaced record takes part when the old one would
 * have (account.h has that pair). For what is only known as epsilon-DP it is group privacy of two:
 * 2 epsilon, and (1 + e^epsilon) delta. A change of one record of a user is a replacement of what
 * the user has.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "privacy/lifetime_inside.h"
#include "privacy/rows.h"

/* ---- terms ---- */

tacit_lifetime_terms lifetime_settled_terms(const tacit_lifetime_terms *terms)
{
    tacit_lifetime_terms out = *terms;
    if (out.filter == TACIT_FILTER_SUM)
        out.aside = 0;
    else if (out.aside == 0)
        out.aside = TACIT_LIFETIME_ASIDE;
    return out;
}

bool lifetime_same_terms(const tacit_lifetime_terms *a, const tacit_lifetime_terms *b)
{
    return a->epsilon == b->epsilon && a->delta == b->delta && a->aside == b->aside &&
           a->unit == b->unit && a->adjacency == b->adjacency && a->filter == b->filter;
}

/* ---- plans ---- */

static tacit_status check_item(const tacit_ledger_entry *item, tacit_error *err)
{
    const tacit_cost *cost = item->cost;
    const char *what = cost->what;
    if (!what || !what[0] || strlen(what) > TACIT_WHAT_MAX)
        return tacit_fail(err, TACIT_EUSAGE, "a release needs to say what it is, in %d bytes",
                          TACIT_WHAT_MAX);
    if (cost->claimed)
        return tacit_fail(err, TACIT_EINPUT,
                          "nothing enforces the sensitivity of \"%s\" (\"privacy.claimed\"): the "
                          "lifetime ledger takes no claims, only simulations do",
                          what);
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (!isfinite(cost->sensitivity) || !isfinite(cost->noise) || !isfinite(cost->sampling))
        return tacit_fail(err, TACIT_EINPUT,
                          "sensitivity, noise and sampling of \"%s\" must be finite numbers", what);
    tacit_loss loss;
    tacit_cost_loss(cost, item->releases, &loss);
    return tacit_loss_check(&loss, err);
}

tacit_status lifetime_check_plan(const tacit_lifetime_plan *plan, tacit_error *err)
{
    if (!(plan->epsilon >= 0) || !(plan->delta >= 0 && plan->delta < 1) ||
        !(plan->risk >= 0 && plan->risk < 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "a plan for epsilon = %g, delta = %g and a risk of %g makes no sense; "
                          "epsilon is at least 0, delta and risk at least 0 and below 1",
                          plan->epsilon, plan->delta, plan->risk);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < plan->count && !status; k++)
        status = check_item(&plan->items[k], err);
    return status;
}

static bool same_items(const tacit_lifetime_plan *a, const tacit_lifetime_plan *b)
{
    for (size_t k = 0; k < a->count; k++)
        if (a->items[k].releases != b->items[k].releases ||
            !tacit_cost_same(a->items[k].cost, b->items[k].cost))
            return false;
    return true;
}

bool lifetime_same_plan(const tacit_lifetime_plan *a, const tacit_lifetime_plan *b)
{
    return a->count == b->count && a->block == b->block && a->risk == b->risk &&
           a->epsilon == b->epsilon && a->delta == b->delta && a->unit == b->unit &&
           a->adjacency == b->adjacency && same_items(a, b);
}

/* ---- conversion ---- */

/* 1: as it is, 2: doubled, 0: there is no sound way. */
static int times(const tacit_lifetime_terms *terms, tacit_unit unit, tacit_adjacency adjacency)
{
    const bool same = unit == terms->unit;
    if (!same && unit == TACIT_UNIT_RECORD)
        return 0;
    if (adjacency == TACIT_REPLACE)
        return terms->adjacency == TACIT_REPLACE ? 1 : 0;
    return same && terms->adjacency == TACIT_ADD_REMOVE ? 1 : 2;
}

static tacit_status no_way(const tacit_lifetime_terms *terms, const char *what, tacit_unit unit,
                           tacit_adjacency adjacency, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "the data set's budget is for unit \"%s\" and adjacency \"%s\"; \"%.200s\" "
                      "counts for \"%s\" and \"%s\", and nothing follows from that",
                      tacit_unit_name(terms->unit), tacit_adjacency_name(terms->adjacency), what,
                      tacit_unit_name(unit), tacit_adjacency_name(adjacency));
}

static tacit_status convert_item(const tacit_lifetime_terms *terms, const tacit_ledger_entry *item,
                                 tacit_loss *loss, tacit_error *err)
{
    tacit_cost cost = *item->cost;
    const int factor = times(terms, cost.unit, cost.adjacency);
    tacit_cost_loss(&cost, item->releases, loss);
    if (factor == 1 || cost.mechanism == TACIT_MECHANISM_NONE)
        return TACIT_OK;
    if (factor == 0)
        return no_way(terms, cost.what, cost.unit, cost.adjacency, err);
    cost.adjacency = TACIT_REPLACE;
    cost.sensitivity *= 2;
    tacit_cost_loss(&cost, item->releases, loss);
    if (cost.mechanism == TACIT_MECHANISM_RESPONSE)
        *loss = (tacit_loss){.kind = TACIT_LOSS_PURE,
                             .adjacency = TACIT_REPLACE,
                             .epsilon = 2 * cost.noise,
                             .sampling = 1,
                             .count = item->releases};
    return TACIT_OK;
}

static tacit_status convert_block(const tacit_lifetime_terms *terms,
                                  const tacit_lifetime_plan *plan, tacit_loss *loss,
                                  tacit_error *err)
{
    const int factor = times(terms, plan->unit, plan->adjacency);
    if (isinf(plan->epsilon)) {
        *loss = (tacit_loss){.kind = TACIT_LOSS_BARE, .sampling = 1, .count = 1};
        return TACIT_OK;
    }
    if (factor == 0)
        return no_way(terms, "the run", plan->unit, plan->adjacency, err);
    *loss = (tacit_loss){.kind = TACIT_LOSS_APPROXIMATE,
                         .adjacency = terms->adjacency,
                         .epsilon = factor * plan->epsilon,
                         .delta = plan->delta,
                         .sampling = 1,
                         .count = 1};
    if (factor == 2)
        loss->delta = fmin(1, plan->delta * (1 + exp(plan->epsilon)) * (1 + 1e-15));
    return TACIT_OK;
}

tacit_status tacit_lifetime_losses(const tacit_lifetime_terms *terms,
                                   const tacit_lifetime_plan *plan, tacit_loss *loss, size_t *count,
                                   tacit_error *err)
{
    *count = 0;
    tacit_status status = lifetime_check_plan(plan, err);
    for (size_t k = 0; k < plan->count && !status; k++)
        status = convert_item(terms, &plan->items[k], &loss[(*count)++], err);
    if (!status && plan->block)
        status = convert_block(terms, plan, &loss[(*count)++], err);
    if (!status && plan->risk > 0)
        loss[(*count)++] = (tacit_loss){.kind = TACIT_LOSS_PURE,
                                        .adjacency = terms->adjacency,
                                        .delta = plan->risk,
                                        .sampling = 1,
                                        .count = 1};
    return status;
}

/* ---- many of them ---- */

tacit_status lifetime_losses_add(lifetime_losses *all, const tacit_lifetime_terms *terms,
                                 const tacit_lifetime_plan *plan, tacit_error *err)
{
    size_t added;
    tacit_loss *loss =
        tacit_array_grow(all->loss, &all->room, all->count + plan->count + 2, sizeof *loss);
    if (!loss)
        return tacit_out_of_memory(err);
    all->loss = loss;
    tacit_status status = tacit_lifetime_losses(terms, plan, loss + all->count, &added, err);
    if (!status)
        all->count += added;
    return status;
}

tacit_status lifetime_losses_of(lifetime_losses *all, const lifetime_book *book, size_t set,
                                size_t but, const tacit_lifetime_terms *terms, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < book->entry_count && !status; k++) {
        const lifetime_entry *entry = &book->entries[k];
        if (k == but || lifetime_resolve(book, entry->set) != set)
            continue;
        tacit_lifetime_plan plan[2];
        const size_t plans = lifetime_counted(entry, plan);
        for (size_t i = 0; i < plans && !status; i++)
            status = lifetime_losses_add(all, terms, &plan[i], err);
    }
    return status;
}

/* ---- what a plan covers ---- */

/* Every cost of `actual` is one of the plan's, and no more often. */
static bool is_part_of(const tacit_lifetime_plan *plan, const tacit_lifetime_plan *actual)
{
    for (size_t k = 0; k < actual->count; k++) {
        const tacit_cost *cost = actual->items[k].cost;
        uint64_t have = 0, want = 0;
        for (size_t i = 0; i < plan->count; i++)
            have += tacit_cost_same(plan->items[i].cost, cost) ? plan->items[i].releases : 0;
        for (size_t i = 0; i < actual->count; i++)
            want += tacit_cost_same(actual->items[i].cost, cost) ? actual->items[i].releases : 0;
        if (want > have)
            return false;
    }
    return true;
}

/* What was released is (epsilon, delta)-DP like the block, by any accountant: the run's own ledger
 * has asked one of them, and it may have been used up to the last digit. The dear ones come last.
 */
static tacit_status is_within(const tacit_lifetime_plan *block, const lifetime_losses *actual,
                              bool *within, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    *within = isinf(block->epsilon) || actual->count == 0;
    for (int by = TACIT_BY_SUM; by < TACIT_ACCOUNTANTS && !status && !*within; by++) {
        double epsilon;
        status = tacit_account_epsilon((tacit_accountant)by, actual->loss, actual->count,
                                       block->delta, &epsilon, err);
        *within = !status && epsilon <= block->epsilon;
    }
    return status;
}

tacit_status lifetime_covers(const tacit_lifetime_terms *terms, const tacit_lifetime_plan *plan,
                             const tacit_lifetime_plan *actual, bool *covers, tacit_error *err)
{
    lifetime_losses planned = {0}, happened = {0};
    *covers = actual->risk <= plan->risk;
    if (!*covers || (!plan->block && is_part_of(plan, actual)))
        return TACIT_OK;
    tacit_lifetime_terms own = *terms;
    if (plan->block) { /* the block is of its own unit and adjacency, not of the set's */
        own.unit = plan->unit;
        own.adjacency = plan->adjacency;
    }
    tacit_lifetime_plan costs = *actual; /* its risk is covered by the plan's */
    costs.risk = 0;
    tacit_status status = lifetime_losses_add(&happened, &own, &costs, err);
    if (!status && plan->block)
        status = is_within(plan, &happened, covers, err);
    else if (!status && !(status = lifetime_losses_add(&planned, &own, plan, err)))
        status = lifetime_filter_covers(terms, &planned, &happened, covers, err);
    free(planned.loss);
    free(happened.loss);
    return status;
}

/* ---- the first run on a data set ---- */

/* Little more than it needs: nothing else will fit into what its first run sets. */
static double wanted_aside(const tacit_lifetime_plan *plan)
{
    return plan->delta > 0 ? 1.001 * plan->risk / plan->delta + 0.01 : TACIT_LIFETIME_ASIDE;
}

/* The orders of the filter follow the budget, so that it is asked again when that has grown. */
static tacit_status raise(tacit_lifetime_terms *terms, const lifetime_losses *all, tacit_error *err)
{
    double epsilon = 0;
    for (int k = 0; k < 20; k++) {
        tacit_status status = tacit_filter_epsilon(terms, all->loss, all->count, &epsilon, err);
        if (status || epsilon <= terms->epsilon)
            return status;
        terms->epsilon = epsilon;
    }
    return TACIT_OK; /* infinite, or it fits but for rounding: reserve checks */
}

static bool has_bare(const lifetime_losses *all)
{
    for (size_t k = 0; k < all->count; k++)
        if (all->loss[k].kind == TACIT_LOSS_BARE && all->loss[k].count > 0)
            return true;
    return false;
}

tacit_status tacit_lifetime_first_terms(const tacit_lifetime_plan *plan,
                                        tacit_lifetime_terms *terms, tacit_error *err)
{
    lifetime_losses all = {0};
    const bool sum = plan->block && plan->count == 0;
    *terms = (tacit_lifetime_terms){
        .epsilon = isfinite(plan->epsilon) ? plan->epsilon : 0,
        .delta = sum && plan->risk > 0 ? (plan->delta + plan->risk) * (1 + 1e-12) : plan->delta,
        .unit = plan->unit,
        .adjacency = plan->adjacency,
        .filter = sum ? TACIT_FILTER_SUM : TACIT_FILTER_ANY};
    const double aside = wanted_aside(plan);
    if (!sum && aside >= 1)
        return tacit_fail(err, TACIT_EINPUT,
                          "a risk of %g leaves nothing of delta = %g; take a larger delta",
                          plan->risk, plan->delta);
    terms->aside = sum ? 0 : aside;
    tacit_status status = lifetime_losses_add(&all, terms, plan, err);
    if (!status && has_bare(&all))
        terms->epsilon = INFINITY;
    else if (!status)
        status = raise(terms, &all, err);
    if (!status && isinf(terms->epsilon) && !has_bare(&all))
        status = tacit_fail(err, TACIT_EINPUT,
                            "the run's delta of %g is too small for a budget over its plan; take "
                            "a larger \"privacy.delta\"",
                            plan->delta);
    free(all.loss);
    return status;
}
