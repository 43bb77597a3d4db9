/* SPDX-License-Identifier: Apache-2.0 */
#include "lifetime_tools.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "testing.h"

tacit_cost gaussian_cost(const char *what, double noise)
{
    return (tacit_cost){.mechanism = TACIT_MECHANISM_GAUSSIAN,
                        .norm = TACIT_L2,
                        .grid = -20,
                        .coordinates = 10,
                        .sensitivity = 1,
                        .noise = noise,
                        .sampling = 1,
                        .what = what};
}

void remove_lifetime(const char *path)
{
    static const char *const ends[] = {"", "-journal", ".key", ".key.new", ".lock"};
    char name[300];
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        snprintf(name, sizeof name, "%s%s", path, ends[k]);
        unlink(name);
    }
}

tacit_lifetime *opened_lifetime(const char *path)
{
    tacit_error err = {0};
    tacit_lifetime *l;
    check_ok(tacit_lifetime_open(&l, path, &err), &err);
    return l;
}

tacit_lifetime_terms life_terms(double epsilon)
{
    return (tacit_lifetime_terms){.epsilon = epsilon, .delta = 1e-5};
}

tacit_lifetime_records *some_records(const tacit_lifetime *l, uint64_t first, uint64_t count)
{
    tacit_error err = {0};
    tacit_lifetime_records *records;
    check_ok(tacit_lifetime_records_new(&records, l, &err), &err);
    for (uint64_t k = first; k < first + count; k++)
        check_ok(tacit_lifetime_records_add(records, &k, sizeof k, &err), &err);
    return records;
}

tacit_lifetime_request life_request(const char *name, const char *run,
                                    const tacit_ledger_entry *item)
{
    return (tacit_lifetime_request){
        .name = name,
        .given = true,
        .run = run,
        .protocol = "cd",
        .agent_name = "alice",
        .agent = 7,
        .nonce = {1},
        .plan = {.items = item, .count = item ? 1 : 0, .epsilon = 1, .delta = 1e-5}};
}

double life_spent(tacit_lifetime *l, const char *name)
{
    tacit_error err = {0};
    tacit_lifetime_view *view;
    double epsilon;
    check_ok(tacit_lifetime_read(l, &view, &err), &err);
    const tacit_lifetime_dataset *set = tacit_lifetime_find(view, name);
    assert_non_null(set);
    check_ok(tacit_lifetime_spent(set, NULL, &epsilon, &err), &err);
    tacit_lifetime_view_free(view);
    return epsilon;
}

uint64_t life_reserve(tacit_lifetime *l, const tacit_lifetime_request *request)
{
    tacit_error err = {0};
    uint64_t id;
    check_ok(tacit_lifetime_reserve(l, request, 1, &id, &err), &err);
    return id;
}
