/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epsilon of the agent that spent most. An accountant may take milliseconds, and there may be
 * a million agents, but whoever released the same things no more often than another has not spent
 * more: only ledgers that no other covers are added up.
 */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "experiment/session.h"

/* Every release of `a` is one of `b` too; `b` may have gone further. */
static bool covered(const tacit_ledger *a, const tacit_ledger *b)
{
    if (a->count > b->count)
        return false;
    for (uint32_t k = 0; k < a->count; k++)
        if (a->entries[k].cost != b->entries[k].cost ||
            a->entries[k].releases > b->entries[k].releases)
            return false;
    return true;
}

typedef struct front {
    const tacit_ledger **ledger;
    size_t count, capacity;
} front;

static bool consider(front *f, const tacit_ledger *ledger)
{
    for (size_t k = f->count; k-- > 0;) {
        if (covered(ledger, f->ledger[k]))
            return true;
        if (covered(f->ledger[k], ledger)) {
            f->ledger[k] = ledger;
            return true;
        }
    }
    const tacit_ledger **grown =
        tacit_array_grow(f->ledger, &f->capacity, f->count + 1, sizeof *f->ledger);
    if (!grown)
        return false;
    f->ledger = grown;
    f->ledger[f->count++] = ledger;
    return true;
}

double tacit_session_epsilon(const tacit_session *session)
{
    const tacit_runtime *rt = session->runtime;
    const tacit_budget budget = tacit_session_budget(session);
    /* A curator's model comes out without noise where no agent ever released anything. */
    if (tacit_experiment_flags(session->experiment) & TACIT_ORACLE &&
        tacit_session_releases(session) == 0)
        return INFINITY;
    front f = {0};
    double epsilon = 0;
    for (uint32_t i = 0; i < session->graph.agents && isfinite(epsilon); i++) {
        const tacit_ledger *ledger = rt->ops->agent_ledger(rt, i);
        if (ledger && !consider(&f, ledger))
            epsilon = INFINITY; /* no memory to know better */
    }
    for (size_t k = 0; k < f.count && isfinite(epsilon); k++)
        epsilon = fmax(epsilon, tacit_ledger_epsilon(f.ledger[k], &budget));
    free(f.ledger);
    return epsilon;
}
