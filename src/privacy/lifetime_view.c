/* SPDX-License-Identifier: Apache-2.0 */
/* What a lifetime ledger says, as a copy to look at, and sums over it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/lifetime_inside.h"

typedef struct whole {
    tacit_lifetime_view view; /* first: what the caller holds */
    lifetime_book book;
    tacit_lifetime_dataset *sets;
    tacit_lifetime_entry *entries; /* those of a data set side by side */
    tacit_ledger_entry **both;     /* plan and releases of those that exceeded theirs */
    size_t both_count;
    size_t *shown; /* by the number of a set in the book: where it is listed */
} whole;

void tacit_lifetime_view_free(tacit_lifetime_view *view)
{
    whole *w = (whole *)view;
    if (!w)
        return;
    for (size_t k = 0; k < w->both_count; k++)
        free(w->both[k]);
    free(w->both);
    free(w->entries);
    free(w->sets);
    free(w->shown);
    lifetime_book_clear(&w->book);
    free(w);
}

/* Plan and releases in one; a block of the plan stays one. */
static bool add_up(whole *w, tacit_lifetime_plan plan[2])
{
    const size_t count = plan[0].count + plan[1].count;
    tacit_ledger_entry *items = calloc(count + 1, sizeof *items);
    if (!items)
        return false;
    for (size_t k = 0; k < count; k++)
        items[k] = k < plan[0].count ? plan[0].items[k] : plan[1].items[k - plan[0].count];
    w->both[w->both_count++] = items;
    plan[0].items = items;
    plan[0].count = count;
    plan[0].risk += plan[1].risk;
    return true;
}

static bool show_entry(whole *w, const lifetime_entry *from, tacit_lifetime_entry *to)
{
    tacit_lifetime_plan plan[2];
    if (lifetime_counted(from, plan) == 2 && !add_up(w, plan))
        return false;
    *to = (tacit_lifetime_entry){.reservation = from->id,
                                 .state = from->state,
                                 .run = from->run,
                                 .protocol = from->protocol,
                                 .agent_name = from->agent_name,
                                 .agent = from->agent,
                                 .trust = from->trust,
                                 .reserved = from->reserved,
                                 .settled = from->settled,
                                 .plan = plan[0]};
    return true;
}

static bool show_set(whole *w, size_t set, size_t *used)
{
    const lifetime_set *from = &w->book.sets[set];
    tacit_lifetime_dataset *to = &w->sets[w->view.count];
    *to = (tacit_lifetime_dataset){.name = from->name,
                                   .terms = from->terms,
                                   .has_terms = from->has_terms,
                                   .by_owner = from->by_owner,
                                   .created = from->created,
                                   .records = from->records,
                                   .entries = &w->entries[*used]};
    for (size_t k = 0; k < w->book.entry_count; k++)
        if (lifetime_resolve(&w->book, w->book.entries[k].set) == set) {
            if (!show_entry(w, &w->book.entries[k], &w->entries[(*used)++]))
                return false;
            to->count++;
        }
    w->shown[set] = w->view.count++;
    return true;
}

static bool show_all(whole *w)
{
    const size_t sets = w->book.set_count, entries = w->book.entry_count;
    size_t used = 0;
    w->sets = calloc(sets + 1, sizeof *w->sets);
    w->entries = calloc(entries + 1, sizeof *w->entries);
    w->both = calloc(entries + 1, sizeof *w->both);
    w->shown = calloc(sets + 1, sizeof *w->shown);
    if (!w->sets || !w->entries || !w->both || !w->shown)
        return false;
    w->view.sets = w->sets;
    for (size_t k = 0; k < sets; k++)
        if (!w->book.sets[k].is_joined && !show_set(w, k, &used))
            return false;
    return true;
}

tacit_status tacit_lifetime_read(tacit_lifetime *l, tacit_lifetime_view **out, tacit_error *err)
{
    *out = NULL;
    tacit_status status = lifetime_begin(l, err);
    if (status)
        return status;
    whole *w = calloc(1, sizeof *w);
    status = w ? lifetime_verify_records(l, err) : tacit_out_of_memory(err);
    if (!status) {
        w->book = l->book;
        l->book = (lifetime_book){0};
        if (!show_all(w))
            status = tacit_out_of_memory(err);
    }
    status = lifetime_end(l, status, false, err);
    if (status)
        tacit_lifetime_view_free((tacit_lifetime_view *)w);
    else
        *out = &w->view;
    return status;
}

const tacit_lifetime_dataset *tacit_lifetime_find(const tacit_lifetime_view *view, const char *name)
{
    const whole *w = (const whole *)view;
    const size_t set = lifetime_by_name(&w->book, name);
    return set == SIZE_MAX ? NULL : &w->sets[w->shown[set]];
}

/* ---- sums ---- */

static tacit_status gather(lifetime_losses *all, const tacit_lifetime_dataset *set,
                           const tacit_lifetime_terms *terms, const tacit_lifetime_plan *more,
                           tacit_error *err)
{
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < set->count && !status; k++)
        status = lifetime_losses_add(all, terms, &set->entries[k].plan, err);
    if (!status && more)
        status = lifetime_losses_add(all, terms, more, err);
    return status;
}

/* Of a data set without a budget, those that `more` would set. */
static tacit_status terms_of(const tacit_lifetime_dataset *set, const tacit_lifetime_plan *more,
                             tacit_lifetime_terms *terms, tacit_error *err)
{
    *terms = set->terms;
    if (set->has_terms || !more)
        return TACIT_OK;
    return tacit_lifetime_first_terms(more, terms, err);
}

tacit_status tacit_lifetime_spent(const tacit_lifetime_dataset *set,
                                  const tacit_lifetime_plan *more, double *epsilon,
                                  tacit_error *err)
{
    lifetime_losses all = {0};
    tacit_lifetime_terms terms;
    *epsilon = NAN;
    tacit_status status = terms_of(set, more, &terms, err);
    if (!status)
        status = gather(&all, set, &terms, more, err);
    if (!status)
        status = tacit_filter_epsilon(&terms, all.loss, all.count, epsilon, err);
    free(all.loss);
    return status;
}

tacit_status tacit_lifetime_epsilon(const tacit_lifetime_dataset *set,
                                    const tacit_lifetime_plan *more, tacit_accountant by,
                                    double delta, double *epsilon, tacit_error *err)
{
    lifetime_losses all = {0};
    tacit_lifetime_terms terms;
    *epsilon = NAN;
    tacit_status status = terms_of(set, more, &terms, err);
    if (!status)
        status = gather(&all, set, &terms, more, err);
    if (!status)
        status = tacit_account_epsilon(by, all.loss, all.count, delta, epsilon, err);
    free(all.loss);
    return status;
}

tacit_status tacit_lifetime_alone(const tacit_lifetime_terms *terms,
                                  const tacit_lifetime_plan *plan, tacit_accountant by,
                                  double delta, double *epsilon, tacit_error *err)
{
    lifetime_losses all = {0};
    *epsilon = NAN;
    tacit_status status = lifetime_losses_add(&all, terms, plan, err);
    if (!status)
        status = tacit_account_epsilon(by, all.loss, all.count, delta, epsilon, err);
    free(all.loss);
    return status;
}
