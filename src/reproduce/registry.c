/* SPDX-License-Identifier: Apache-2.0 */
/* Every figure, one line each. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "reproduce/figure.h"

#define EVERY_FIGURE(X) \
    X(000_fig1)         \
    X(000_fig2a)        \
    X(000_fig2b)        \
    X(000_fig2c)        \
    X(000_fig3)         \
    X(000_fig4)         \
    X(000_table1)       \
    X(001_table4_1)     \
    X(002_fig3)         \
    X(002_fig6)         \
    X(002_fig7)         \
    X(003_fig4)         \
    X(003_fig5)         \
    X(004_table1)       \
    X(004_table2)       \
    X(004_table5)       \
    X(chorus_agents) X(chorus_audit) X(chorus_budgets) X(chorus_colluders) X(gopa_dropouts)

#define DECLARE(name) extern const tacit_reproduction tacit_reproduction_##name;
EVERY_FIGURE(DECLARE)

#define LIST(name) &tacit_reproduction_##name,
const tacit_reproduction *const tacit_reproductions[] = {EVERY_FIGURE(LIST) NULL};

const tacit_reproduction *tacit_reproduction_find(const char *name)
{
    for (size_t k = 0; tacit_reproductions[k]; k++)
        if (strcmp(tacit_reproductions[k]->name, name) == 0)
            return tacit_reproductions[k];
    return NULL;
}

static uint32_t default_seeds(const tacit_reproduce_request *request, const tacit_reproduction *of)
{
    if (request->quick)
        return of->seeds < 2 ? of->seeds : 2;
    return request->full ? of->full_seeds : of->seeds;
}

tacit_status tacit_reproduce(tacit_reproduced **out, const tacit_reproduction *reproduction,
                             const tacit_reproduce_request *request, tacit_error *err)
{
    *out = NULL;
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "libsodium could not be started");
    tacit_reproduced *result = calloc(1, sizeof *result);
    if (!result)
        return tacit_out_of_memory(err);
    result->of = reproduction;
    result->quick = request->quick;
    tacit_reproduce_request complete = *request;
    complete.full = request->full && !request->quick && reproduction->full_seeds > 0;
    if (complete.seeds == 0)
        complete.seeds = default_seeds(&complete, reproduction);
    if (complete.threads == 0)
        complete.threads = 1;
    tacit_status status = reproduction->run(result, &complete, err);
    if (status == TACIT_OK && result->failed)
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK)
        *out = result;
    else
        tacit_reproduced_free(result);
    return status;
}
