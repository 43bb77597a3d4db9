/* SPDX-License-Identifier: Apache-2.0 */
/* The lifetime ledger: what can be asked of it. So far only its shape. */
#include "tacit/lifetime.h"

static tacit_status later(tacit_error *err)
{
    return tacit_fail(err, TACIT_EINTERNAL, "the lifetime ledger is not built yet");
}

tacit_status tacit_lifetime_losses(const tacit_lifetime_terms *terms,
                                   const tacit_lifetime_plan *plan, tacit_loss *loss, size_t *count,
                                   tacit_error *err)
{
    (void)terms, (void)plan, (void)loss, (void)count;
    return later(err);
}

tacit_status tacit_lifetime_open(tacit_lifetime **out, const char *path, tacit_error *err)
{
    (void)out, (void)path;
    return later(err);
}

tacit_status tacit_lifetime_look(tacit_lifetime **out, const char *path, tacit_error *err)
{
    (void)out, (void)path;
    return later(err);
}

void tacit_lifetime_close(tacit_lifetime *ledger)
{
    (void)ledger;
}

tacit_status tacit_lifetime_records_new(tacit_lifetime_records **out, const tacit_lifetime *ledger,
                                        tacit_error *err)
{
    (void)out, (void)ledger;
    return later(err);
}

tacit_status tacit_lifetime_records_add(tacit_lifetime_records *records, const void *bytes,
                                        size_t len, tacit_error *err)
{
    (void)records, (void)bytes, (void)len;
    return later(err);
}

void tacit_lifetime_records_free(tacit_lifetime_records *records)
{
    (void)records;
}

tacit_status tacit_lifetime_set(tacit_lifetime *ledger, const char *name,
                                const tacit_lifetime_terms *terms, double now, tacit_error *err)
{
    (void)ledger, (void)name, (void)terms, (void)now;
    return later(err);
}

tacit_status tacit_lifetime_join(tacit_lifetime *ledger, const char *into, const char *from,
                                 double now, tacit_error *err)
{
    (void)ledger, (void)into, (void)from, (void)now;
    return later(err);
}

tacit_status tacit_lifetime_reserve(tacit_lifetime *ledger, const tacit_lifetime_request *request,
                                    double now, uint64_t *reservation, tacit_error *err)
{
    (void)ledger, (void)request, (void)now, (void)reservation;
    return later(err);
}

tacit_status tacit_lifetime_settle(tacit_lifetime *ledger, uint64_t reservation,
                                   const tacit_ledger_entry *actual, size_t count, double risk,
                                   double now, tacit_error *err)
{
    (void)ledger, (void)reservation, (void)actual, (void)count, (void)risk, (void)now;
    return later(err);
}

tacit_status tacit_lifetime_read(tacit_lifetime *ledger, tacit_lifetime_view **out,
                                 tacit_error *err)
{
    (void)ledger, (void)out;
    return later(err);
}

void tacit_lifetime_view_free(tacit_lifetime_view *view)
{
    (void)view;
}

const tacit_lifetime_dataset *tacit_lifetime_find(const tacit_lifetime_view *view, const char *name)
{
    (void)view, (void)name;
    return NULL;
}

tacit_status tacit_lifetime_spent(const tacit_lifetime_dataset *set,
                                  const tacit_lifetime_plan *more, double *epsilon,
                                  tacit_error *err)
{
    (void)set, (void)more, (void)epsilon;
    return later(err);
}

tacit_status tacit_lifetime_epsilon(const tacit_lifetime_dataset *set,
                                    const tacit_lifetime_plan *more, tacit_accountant by,
                                    double delta, double *epsilon, tacit_error *err)
{
    (void)set, (void)more, (void)by, (void)delta, (void)epsilon;
    return later(err);
}

tacit_status tacit_lifetime_alone(const tacit_lifetime_terms *terms,
                                  const tacit_lifetime_plan *plan, tacit_accountant by,
                                  double delta, double *epsilon, tacit_error *err)
{
    (void)terms, (void)plan, (void)by, (void)delta, (void)epsilon;
    return later(err);
}

tacit_status tacit_lifetime_first_terms(const tacit_lifetime_plan *plan,
                                        tacit_lifetime_terms *terms, tacit_error *err)
{
    (void)plan, (void)terms;
    return later(err);
}
