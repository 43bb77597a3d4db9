/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lifetime ledger decides: whose records they are, whether a plan fits, what a run that
 * has ended really cost. Each call is one transaction; a refusal writes nothing.
 *
 * Why what is on the disk is never less than what was told: a run releases only after reserve has
 * returned, and then its whole plan is charged, on the disk. Settle replaces it by less only when
 * the caller says that nothing more will be released. A crash in between leaves the plan.
 */
#include "tacit/lifetime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/lifetime_inside.h"

_Static_assert(TACIT_LIFETIME_NONCE == TACIT_LEDGER_NONCE, "the nonce of a run's ledger");

/* ---- words ---- */

static tacit_status copy_name(lifetime_name to, const char *from, const char *what,
                              tacit_error *err)
{
    const size_t len = from ? strlen(from) : 0;
    if (len > TACIT_LIFETIME_NAME)
        return tacit_fail(err, TACIT_EINPUT, "the %s \"%.60s...\" has %zu bytes; at most %d", what,
                          from, len, TACIT_LIFETIME_NAME);
    memcpy(to, from ? from : "", len + 1);
    return TACIT_OK;
}

static tacit_status check_time(double now, tacit_error *err)
{
    return isfinite(now)
               ? TACIT_OK
               : tacit_fail(err, TACIT_EUSAGE, "a lifetime ledger needs to know the time");
}

/* ---- the budget ---- */

static tacit_status not_known(const lifetime_set *set, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "the budget of data set \"%.150s\" is counted by filter \"%s\", which has "
                      "nothing to say about such releases; \"any\" or \"rdp\" has",
                      set->name, tacit_filter_names[set->terms.filter]);
}

static tacit_status refuse(const lifetime_set *set, double before, double after, tacit_error *err)
{
    const tacit_lifetime_terms *t = &set->terms;
    char spent[60] = "more than it can prove";
    if (isfinite(before))
        snprintf(spent, sizeof spent, "%.6g", before);
    const char *who = set->by_owner ? "" : " (set by its first run; its owner may set it once)";
    if (!isfinite(after) && isfinite(before))
        return tacit_fail(err, TACIT_EBUDGET,
                          "data set \"%.100s\" may spend epsilon = %g at delta = %g in its life%s; "
                          "%s is spent, and of this run nothing finite can be proven (a release "
                          "without noise, or deltas and risks above the %g put aside for them)",
                          set->name, t->epsilon, t->delta, who, spent,
                          t->filter == TACIT_FILTER_SUM ? t->delta : t->delta * t->aside);
    return tacit_fail(err, TACIT_EBUDGET,
                      "data set \"%.100s\" may spend epsilon = %g at delta = %g in its life%s; %s "
                      "is spent, and this run's plan would make it %g",
                      set->name, t->epsilon, t->delta, who, spent, after);
}

/* Does `plan` fit beside all entries but number `but`? */
static tacit_status check_fits(const lifetime_book *book, size_t at, size_t but,
                               const tacit_lifetime_plan *plan, tacit_error *err)
{
    const lifetime_set *set = &book->sets[at];
    lifetime_losses all = {0};
    double before = 0, after = NAN;
    tacit_status status = lifetime_losses_of(&all, book, at, but, &set->terms, err);
    const size_t others = all.count;
    if (!status)
        status = lifetime_losses_add(&all, &set->terms, plan, err);
    if (!status)
        status = tacit_filter_epsilon(&set->terms, all.loss, all.count, &after, err);
    if (!status && isnan(after) && set->by_owner)
        status = not_known(set, err);
    else if (!status && !(after <= set->terms.epsilon)) {
        status = tacit_filter_epsilon(&set->terms, all.loss, others, &before, err);
        if (!status)
            status = refuse(set, before, after, err);
    }
    free(all.loss);
    return status;
}

/* ---- setting budgets ---- */

static tacit_status make_set(tacit_lifetime *l, const char *name, double now, size_t *set,
                             tacit_error *err)
{
    lifetime_event event = {.kind = LIFETIME_MAKE, .at = now, .dataset = l->book.set_count + 1};
    tacit_status status = copy_name(event.name, name, "name of a data set", err);
    if (!status)
        status = lifetime_append(l, &event, err);
    *set = l->book.set_count - 1;
    return status;
}

static tacit_status set_terms(tacit_lifetime *l, size_t set, const tacit_lifetime_terms *terms,
                              lifetime_kind kind, double now, tacit_error *err)
{
    lifetime_event event = {.kind = kind, .at = now, .dataset = set + 1, .terms = *terms};
    return lifetime_append(l, &event, err);
}

/* What was charged before must mean something under new terms. */
static tacit_status check_readable(const lifetime_book *book, size_t set,
                                   const tacit_lifetime_terms *terms, tacit_error *err)
{
    lifetime_losses all = {0};
    lifetime_set as = book->sets[set];
    double epsilon = 0;
    as.terms = *terms;
    tacit_status status = lifetime_losses_of(&all, book, set, SIZE_MAX, terms, err);
    if (!status)
        status = tacit_filter_epsilon(terms, all.loss, all.count, &epsilon, err);
    if (!status && isnan(epsilon))
        status = not_known(&as, err);
    free(all.loss);
    return status;
}

static tacit_status set_budget(tacit_lifetime *l, const char *name,
                               const tacit_lifetime_terms *terms, double now, bool *changed,
                               tacit_error *err)
{
    size_t at = lifetime_by_name(&l->book, name);
    tacit_status status = TACIT_OK;
    if (at == SIZE_MAX)
        status = make_set(l, name, now, &at, err);
    if (status)
        return status;
    const lifetime_set *set = &l->book.sets[at];
    if (set->by_owner) {
        if (lifetime_same_terms(&set->terms, terms))
            return TACIT_OK;
        return tacit_fail(
            err, TACIT_EINPUT,
            "the lifetime budget of data set \"%.150s\" was set to epsilon = %g, "
            "delta = %g for one %s (%s), by filter \"%s\", and does not change",
            set->name, set->terms.epsilon, set->terms.delta, tacit_unit_name(set->terms.unit),
            tacit_adjacency_name(set->terms.adjacency), tacit_filter_names[set->terms.filter]);
    }
    *changed = true;
    status = check_readable(&l->book, at, terms, err);
    return status ? status : set_terms(l, at, terms, LIFETIME_BUDGET, now, err);
}

tacit_status tacit_lifetime_set(tacit_lifetime *l, const char *name,
                                const tacit_lifetime_terms *terms, double now, tacit_error *err)
{
    bool changed = false;
    tacit_status status = check_time(now, err);
    if (!status)
        status = lifetime_check_terms(terms, err);
    if (!status && (!name || !name[0]))
        status = tacit_fail(err, TACIT_EUSAGE, "a data set needs a name");
    if (!status)
        status = lifetime_begin(l, err);
    if (status)
        return status;
    const tacit_lifetime_terms settled = lifetime_settled_terms(terms);
    status = set_budget(l, name, &settled, now, &changed, err);
    return lifetime_end(l, status, changed, err);
}

/* ---- joining ---- */

static tacit_status find_set(const lifetime_book *book, const char *name, size_t *set,
                             tacit_error *err)
{
    *set = lifetime_by_name(book, name);
    return *set == SIZE_MAX ? tacit_fail(err, TACIT_EINPUT, "there is no data set \"%.200s\"", name)
                            : TACIT_OK;
}

/* The smaller budget; where the ways to count differ, the one that can read everything. */
static tacit_status joined_terms(const lifetime_set *a, const lifetime_set *b,
                                 tacit_lifetime_terms *terms, tacit_error *err)
{
    *terms = a->has_terms ? a->terms : b->terms;
    if (!a->has_terms || !b->has_terms)
        return TACIT_OK;
    if (a->terms.unit != b->terms.unit || a->terms.adjacency != b->terms.adjacency)
        return tacit_fail(err, TACIT_EINPUT,
                          "data sets \"%.100s\" (%s, %s) and \"%.100s\" (%s, %s) count for "
                          "different neighbours and cannot be joined",
                          a->name, tacit_unit_name(a->terms.unit),
                          tacit_adjacency_name(a->terms.adjacency), b->name,
                          tacit_unit_name(b->terms.unit), tacit_adjacency_name(b->terms.adjacency));
    terms->epsilon = fmin(a->terms.epsilon, b->terms.epsilon);
    terms->delta = fmin(a->terms.delta, b->terms.delta);
    if (a->terms.filter != b->terms.filter) {
        terms->filter = TACIT_FILTER_ANY;
        terms->aside = fmax(a->terms.aside, b->terms.aside);
    }
    *terms = lifetime_settled_terms(terms);
    return TACIT_OK;
}

static tacit_status join_them(tacit_lifetime *l, const char *into, const char *from, double now,
                              bool *changed, tacit_error *err)
{
    size_t a = SIZE_MAX, b = SIZE_MAX;
    lifetime_event event = {.kind = LIFETIME_JOIN, .at = now};
    tacit_status status = find_set(&l->book, into, &a, err);
    if (!status)
        status = find_set(&l->book, from, &b, err);
    if (status || a == b)
        return status;
    status = joined_terms(&l->book.sets[a], &l->book.sets[b], &event.terms, err);
    event.dataset = a + 1;
    event.other = b + 1;
    *changed = true;
    return status ? status : lifetime_append(l, &event, err);
}

tacit_status tacit_lifetime_join(tacit_lifetime *l, const char *into, const char *from, double now,
                                 tacit_error *err)
{
    bool changed = false;
    tacit_status status = check_time(now, err);
    if (!status)
        status = lifetime_begin(l, err);
    if (status)
        return status;
    status = join_them(l, into, from, now, &changed, err);
    return lifetime_end(l, status, changed, err);
}

/* ---- which data set ---- */

/* "records.csv", "records.csv 2", ... */
static tacit_status unused_name(const lifetime_book *book, const char *wish, lifetime_name name,
                                tacit_error *err)
{
    tacit_status status = copy_name(name, wish, "name of a data set", err);
    for (int k = 2; !status && lifetime_by_name(book, name) != SIZE_MAX; k++)
        if (snprintf(name, sizeof(lifetime_name), "%.*s %d", TACIT_LIFETIME_NAME - 12, wish, k) < 0)
            status = tacit_fail(err, TACIT_EINTERNAL, "no name for a data set");
    return status;
}

static tacit_status of_two(const lifetime_book *book, size_t a, size_t b, tacit_error *err)
{
    return tacit_fail(err, TACIT_EINPUT,
                      "these records are partly of data set \"%.150s\" and partly of \"%.150s\"; "
                      "shared records make them one: join the two first (their entries then count "
                      "together)",
                      book->sets[a].name, book->sets[b].name);
}

/* Which data set the request is about, made if need be. */
static tacit_status choose_set(tacit_lifetime *l, const tacit_lifetime_request *r, size_t first,
                               size_t second, double now, size_t *set, bool *changed,
                               tacit_error *err)
{
    lifetime_name name;
    *set = lifetime_by_name(&l->book, r->name);
    if (second != SIZE_MAX)
        return of_two(&l->book, first, second, err);
    if (!r->given && first != SIZE_MAX) {
        *set = first;
        return TACIT_OK;
    }
    if (r->given && first != SIZE_MAX && *set == SIZE_MAX)
        return tacit_fail(err, TACIT_EINPUT,
                          "these records are of data set \"%.150s\" already; call it by that name "
                          "instead of \"%.150s\"",
                          l->book.sets[first].name, r->name);
    if (r->given && first != SIZE_MAX && *set != first)
        return of_two(&l->book, first, *set, err);
    if (r->given && *set != SIZE_MAX)
        return TACIT_OK;
    *changed = true;
    tacit_status status = unused_name(&l->book, r->name, name, err);
    return status ? status : make_set(l, name, now, set, err);
}

/* ---- reserving ---- */

static tacit_status check_request(const tacit_lifetime_request *r, double now, tacit_error *err)
{
    tacit_status status = check_time(now, err);
    if (!status)
        status = lifetime_check_plan(&r->plan, err);
    if (!status && (!r->name || !r->name[0] || !r->run || !r->run[0]))
        status = tacit_fail(err, TACIT_EUSAGE, "a reservation needs a data set's name and a run");
    if (!status && !r->given && !r->records)
        status = tacit_fail(err, TACIT_EUSAGE,
                            "without records or a name by its owner nobody knows which data set "
                            "is meant");
    if (!status && !r->given && lifetime_records_count(r->records) == 0)
        status = tacit_fail(err, TACIT_EINPUT,
                            "\"%.150s\" has no records that could be known again in another run; "
                            "say in \"node.data-set\" how you call the data set",
                            r->name);
    if (!status && r->plan.count == 0 && !r->plan.block)
        status = tacit_fail(err, TACIT_EUSAGE, "a plan that spends nothing needs no reservation");
    if (!status && r->plan.count > 0 && r->plan.block)
        status = tacit_fail(err, TACIT_EUSAGE, "a plan is a list of costs or a block, not both");
    if (!status &&
        ((unsigned)r->trust > TACIT_TRUST_SILENT || (unsigned)r->plan.unit > TACIT_UNIT_USER ||
         (unsigned)r->plan.adjacency > TACIT_ADD_REMOVE))
        status = tacit_fail(err, TACIT_EUSAGE, "a reservation needs an adversary, unit, adjacency");
    return status;
}

/* What does not matter of a bare cost is zero, and nothing is infinite. */
static tacit_status clean_items(const tacit_ledger_entry *items, size_t count,
                                tacit_ledger_entry **out, tacit_cost **costs, tacit_error *err)
{
    *out = calloc(count + 1, sizeof **out);
    *costs = calloc(count + 1, sizeof **costs);
    if (!*out || !*costs)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < count; k++) {
        const tacit_cost *cost = items[k].cost;
        (*costs)[k] = *cost;
        if (cost->mechanism == TACIT_MECHANISM_NONE)
            (*costs)[k] = (tacit_cost){.mechanism = cost->mechanism,
                                       .norm = cost->norm,
                                       .unit = cost->unit,
                                       .adjacency = cost->adjacency,
                                       .what = cost->what};
        (*out)[k] = (tacit_ledger_entry){.cost = &(*costs)[k], .releases = items[k].releases};
    }
    return TACIT_OK;
}

static void put_plan(lifetime_event *event, const tacit_lifetime_plan *plan)
{
    event->items = plan->items;
    event->count = plan->count;
    event->block = plan->block;
    event->risk = plan->risk;
    event->terms.epsilon = plan->epsilon;
    event->terms.delta = plan->delta;
    event->terms.unit = plan->unit;
    event->terms.adjacency = plan->adjacency;
}

static size_t find_entry(const lifetime_book *book, const tacit_lifetime_request *r)
{
    for (size_t k = 0; k < book->entry_count; k++) {
        const lifetime_entry *e = &book->entries[k];
        if (e->agent == r->agent && strcmp(e->run, r->run) == 0 &&
            memcmp(e->nonce, r->nonce, sizeof r->nonce) == 0)
            return k;
    }
    return SIZE_MAX;
}

/* The same run once more: nothing to do, or a settled plan counts again. */
static tacit_status reserve_again(tacit_lifetime *l, size_t k, size_t set,
                                  const tacit_lifetime_plan *plan, double now, bool *changed,
                                  tacit_error *err)
{
    const lifetime_entry *e = &l->book.entries[k];
    const tacit_lifetime_plan before = lifetime_plan_of(&e->plan);
    if (lifetime_resolve(&l->book, e->set) != set)
        return tacit_fail(err, TACIT_EINPUT,
                          "run \"%.150s\" of this agent was reserved on data set \"%.150s\"",
                          e->run, l->book.sets[lifetime_resolve(&l->book, e->set)].name);
    if (!lifetime_same_plan(&before, plan))
        return tacit_fail(err, TACIT_EINPUT,
                          "run \"%.150s\" of this agent was reserved with another plan, and a plan "
                          "does not change; start another run",
                          e->run);
    if (e->state == TACIT_LIFETIME_OVERRUN)
        return tacit_fail(
            err, TACIT_EBUDGET,
            "run \"%.150s\" of this agent has released more than it reserved, or from "
            "two copies of its folder; it may not go on",
            e->run);
    if (e->state == TACIT_LIFETIME_RESERVED)
        return TACIT_OK;
    tacit_status status = check_fits(&l->book, set, k, plan, err);
    lifetime_event event = {
        .kind = LIFETIME_AGAIN, .at = now, .dataset = set + 1, .reservation = e->id};
    *changed = true;
    return status ? status : lifetime_append(l, &event, err);
}

static tacit_status reserve_new(tacit_lifetime *l, size_t set, const tacit_lifetime_request *r,
                                const tacit_lifetime_plan *plan, double now, uint64_t *id,
                                tacit_error *err)
{
    lifetime_event event = {.kind = LIFETIME_RESERVE,
                            .at = now,
                            .dataset = set + 1,
                            .agent = r->agent,
                            .trust = r->trust};
    tacit_lifetime_terms first;
    tacit_status status = copy_name(event.run, r->run, "run", err);
    if (!status)
        status = copy_name(event.agent_name, r->agent_name, "agent", err);
    if (!status)
        status = copy_name(event.protocol, r->protocol, "protocol", err);
    if (!status && !l->book.sets[set].has_terms &&
        !(status = tacit_lifetime_first_terms(plan, &first, err)))
        status = set_terms(l, set, &first, LIFETIME_FIRST, now, err);
    if (!status)
        status = check_fits(&l->book, set, SIZE_MAX, plan, err);
    if (status)
        return status;
    memcpy(event.nonce, r->nonce, sizeof event.nonce);
    put_plan(&event, plan);
    status = lifetime_append(l, &event, err);
    *id = event.id;
    return status;
}

static tacit_status reserve_in(tacit_lifetime *l, const tacit_lifetime_request *r,
                               const tacit_lifetime_plan *plan, double now, uint64_t *id,
                               bool *changed, tacit_error *err)
{
    size_t first, second, set;
    uint64_t fresh;
    const size_t before = find_entry(&l->book, r);
    tacit_status status = lifetime_find_records(l, r->records, &first, &second, &fresh, err);
    if (before != SIZE_MAX && !r->given && first == SIZE_MAX) /* its records are others now */
        first = lifetime_resolve(&l->book, l->book.entries[before].set);
    if (!status)
        status = choose_set(l, r, first, second, now, &set, changed, err);
    if (status)
        return status;
    if (before != SIZE_MAX) {
        *id = l->book.entries[before].id;
        status = reserve_again(l, before, set, plan, now, changed, err);
    } else {
        *changed = true;
        status = reserve_new(l, set, r, plan, now, id, err);
    }
    if (!status && fresh > 0) {
        *changed = true;
        status = lifetime_add_records(l, r->records, set, err);
    }
    return status;
}

tacit_status tacit_lifetime_reserve(tacit_lifetime *l, const tacit_lifetime_request *request,
                                    double now, uint64_t *reservation, tacit_error *err)
{
    tacit_ledger_entry *items = NULL;
    tacit_cost *costs = NULL;
    tacit_lifetime_plan plan = request->plan;
    uint64_t id = 0;
    bool changed = false;
    *reservation = 0;
    tacit_status status = check_request(request, now, err);
    if (!status)
        status = clean_items(plan.items, plan.count, &items, &costs, err);
    plan.items = items;
    if (!status && !(status = lifetime_begin(l, err))) {
        status = reserve_in(l, request, &plan, now, &id, &changed, err);
        status = lifetime_end(l, status, changed, err);
    }
    if (!status)
        *reservation = id;
    free(items);
    free(costs);
    return status;
}

/* ---- settling ---- */

/* The entries in place of the block, if that leaves the data set within its budget. */
static tacit_status settle_block(const lifetime_book *book, size_t set, size_t k,
                                 tacit_lifetime_plan *actual, tacit_error *err)
{
    tacit_error why;
    const tacit_status status = check_fits(book, set, k, actual, &why);
    if (status == TACIT_EBUDGET || status == TACIT_EINPUT) {
        *actual = lifetime_plan_of(&book->entries[k].plan);
        return TACIT_OK;
    }
    if (status && err)
        *err = why;
    return status;
}

static uint64_t releases_at(const tacit_lifetime_plan *plan, const tacit_cost *cost)
{
    uint64_t releases = 0;
    for (size_t k = 0; k < plan->count; k++)
        if (tacit_cost_same(plan->items[k].cost, cost))
            releases += plan->items[k].releases;
    return releases;
}

/* A run's own ledger only grows: what was settled before is in it, or it is another copy. */
static bool contains(const tacit_lifetime_plan *actual, const tacit_lifetime_plan *before)
{
    for (size_t k = 0; k < before->count; k++)
        if (releases_at(actual, before->items[k].cost) < releases_at(before, before->items[k].cost))
            return false;
    return true;
}

static tacit_status exceeded(const lifetime_entry *e, const lifetime_set *set, bool copied,
                             tacit_error *err)
{
    if (copied)
        return tacit_fail(
            err, TACIT_EBUDGET,
            "run \"%.150s\" on data set \"%.150s\" was settled before with other "
            "releases: an older copy of the run's folder seems to be in use; its plan "
            "and what it released now are both charged",
            e->run, set->name);
    return tacit_fail(err, TACIT_EBUDGET,
                      "run \"%.150s\" has released more than it had reserved on data set "
                      "\"%.150s\"; its plan and what it released are both charged",
                      e->run, set->name);
}

/* What takes the place of a plan that covers it, and what was settled before. */
static tacit_status settle_covered(const lifetime_book *book, size_t set, size_t k,
                                   tacit_lifetime_plan *actual, tacit_error *err)
{
    const lifetime_entry *e = &book->entries[k];
    if (e->actual.block) /* nobody has written down which releases it stands for */
        *actual = lifetime_plan_of(&e->actual);
    return e->plan.block && actual->count > 0 ? settle_block(book, set, k, actual, err) : TACIT_OK;
}

static tacit_status settle_in(tacit_lifetime *l, uint64_t id, tacit_lifetime_plan *actual,
                              double now, bool *changed, bool *over, tacit_error *err)
{
    size_t k = 0;
    while (k < l->book.entry_count && l->book.entries[k].id != id)
        k++;
    if (k == l->book.entry_count)
        return tacit_fail(err, TACIT_EUSAGE, "there is no reservation %llu",
                          (unsigned long long)id);
    const lifetime_entry *e = &l->book.entries[k];
    const size_t at = lifetime_resolve(&l->book, e->set);
    const lifetime_set *set = &l->book.sets[at];
    /* `before` is empty if it was never settled. */
    tacit_lifetime_plan plan = lifetime_plan_of(&e->plan), before = lifetime_plan_of(&e->actual);
    const bool settled = e->state == TACIT_LIFETIME_SETTLED;
    actual->unit = plan.unit;
    actual->adjacency = plan.adjacency;
    actual->risk = fmax(actual->risk, before.risk);
    bool covers;
    tacit_status status = lifetime_covers(&set->terms, &plan, actual, &covers, err);
    if (status)
        return status;
    if (e->state == TACIT_LIFETIME_OVERRUN)
        return exceeded(e, set, covers, err);
    if (settled && covers && (before.block || lifetime_same_plan(&before, actual)))
        return TACIT_OK;
    /* The plan covers what was settled before, so that with it both are charged. */
    const bool copied = covers && (settled || !contains(actual, &before));
    covers = covers && !copied;
    if (covers)
        status = settle_covered(&l->book, at, k, actual, err);
    if (status)
        return status;
    lifetime_event event = {.kind = covers ? LIFETIME_SETTLE : LIFETIME_EXCEED,
                            .at = now,
                            .dataset = at + 1,
                            .reservation = id};
    put_plan(&event, actual);
    *changed = true;
    *over = !covers;
    status = lifetime_append(l, &event, err);
    if (!status && *over) /* told once it is written */
        exceeded(&l->book.entries[k], &l->book.sets[at], copied, err);
    return status;
}

tacit_status tacit_lifetime_settle(tacit_lifetime *l, uint64_t reservation,
                                   const tacit_ledger_entry *actual, size_t count, double risk,
                                   double now, tacit_error *err)
{
    tacit_ledger_entry *items = NULL;
    tacit_cost *costs = NULL;
    tacit_lifetime_plan plan = {.items = actual, .count = count, .risk = risk};
    bool changed = false, over = false;
    tacit_status status = check_time(now, err);
    if (!status)
        status = lifetime_check_plan(&plan, err);
    if (!status)
        status = clean_items(actual, count, &items, &costs, err);
    plan.items = items;
    if (!status && !(status = lifetime_begin(l, err))) {
        status = settle_in(l, reservation, &plan, now, &changed, &over, err);
        status = lifetime_end(l, status, changed, err);
    }
    free(items);
    free(costs);
    return !status && over ? TACIT_EBUDGET : status;
}
