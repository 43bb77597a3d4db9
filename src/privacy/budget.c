/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does one more release fit? An accountant may take milliseconds for an answer and a simulated
 * agent asks for one a microsecond. But ledgers of a run look alike: some entries, then more and
 * more releases of one cost. So the question answered, once, is how many releases of that cost
 * fit after those entries; everyone who stands there takes the answer from a table.
 *
 * Found by doubling and halving. Epsilon can only grow with the number of releases, and an
 * accountant's answer is an upper bound: if it says that `most` fit, any fewer do.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/costs.h"
#include "tacit/account.h"

#define BUCKETS 4096
#define MOST_RELEASES (UINT64_C(1) << 40)

typedef struct answer {
    struct answer *next;
    tacit_budget budget;
    const tacit_cost *cost;
    uint64_t most;
    uint32_t count; /* entries before */
    struct {
        const tacit_cost *cost;
        uint64_t releases;
    } before[];
} answer;

struct tacit_answers {
    pthread_mutex_t lock;
    answer *bucket[BUCKETS];
};

tacit_answers *tacit_answers_create(void)
{
    tacit_answers *answers = calloc(1, sizeof *answers);
    if (answers && pthread_mutex_init(&answers->lock, NULL) != 0) {
        free(answers);
        return NULL;
    }
    return answers;
}

void tacit_answers_free(tacit_answers *answers)
{
    if (!answers)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        for (answer *a = answers->bucket[i], *next; a; a = next) {
            next = a->next;
            free(a);
        }
    pthread_mutex_destroy(&answers->lock);
    free(answers);
}

/* ---- epsilon of entries ---- */

tacit_status tacit_entries_epsilon(const tacit_ledger_entry *entries, uint32_t count,
                                   const tacit_cost *cost, uint64_t more,
                                   const tacit_budget *budget, double *epsilon, tacit_error *err)
{
    tacit_loss few[8], *loss = few;
    if (count + 1 > sizeof few / sizeof *few && !(loss = calloc(count + 1, sizeof *loss)))
        return tacit_out_of_memory(err);
    size_t n = 0;
    for (uint32_t k = 0; k < count; k++)
        if (entries[k].releases > 0)
            tacit_cost_loss(entries[k].cost, entries[k].releases, &loss[n++]);
    if (cost && more > 0)
        tacit_cost_loss(cost, more, &loss[n++]);
    tacit_status status = TACIT_OK;
    *epsilon = 0;
    if (n > 0)
        status = tacit_account_epsilon(budget->accountant, loss, n, budget->delta, epsilon, err);
    if (loss != few)
        free(loss);
    if (status == TACIT_OK && isnan(*epsilon))
        return tacit_fail(err, TACIT_EINPUT,
                          "accountant \"%s\" has nothing to say about mechanism \"%s\"; "
                          "\"privacy.accountant: pld\" has",
                          tacit_accountant_names[budget->accountant],
                          tacit_mechanism_name((cost ? cost : entries[0].cost)->mechanism));
    return status;
}

/* ---- how many fit ---- */

static tacit_status search(const tacit_ledger_entry *before, uint32_t count, const tacit_cost *cost,
                           const tacit_budget *budget, uint64_t *most, tacit_error *err)
{
    uint64_t fit = 0, over = 1;
    double epsilon;
    for (;;) {
        tacit_status status =
            tacit_entries_epsilon(before, count, cost, over, budget, &epsilon, err);
        if (status != TACIT_OK)
            return status;
        if (!(epsilon <= budget->epsilon) || over >= MOST_RELEASES)
            break;
        fit = over;
        over *= 2;
    }
    while (over - fit > 1) {
        uint64_t middle = fit + (over - fit) / 2;
        tacit_status status =
            tacit_entries_epsilon(before, count, cost, middle, budget, &epsilon, err);
        if (status != TACIT_OK)
            return status;
        *(epsilon <= budget->epsilon ? &fit : &over) = middle;
    }
    *most = fit;
    return TACIT_OK;
}

static size_t bucket_of(const tacit_ledger_entry *before, uint32_t count, const tacit_cost *cost)
{
    uint64_t hash = (uintptr_t)cost;
    for (uint32_t k = 0; k < count; k++)
        hash = (hash ^ (uintptr_t)before[k].cost ^ before[k].releases << 20) *
               UINT64_C(0x9e3779b97f4a7c15);
    hash *= UINT64_C(0xd6e8feb86659fd93);
    return (hash ^ hash >> 32) & (BUCKETS - 1);
}

static bool same(const answer *a, const tacit_ledger_entry *before, uint32_t count,
                 const tacit_cost *cost, const tacit_budget *budget)
{
    if (a->cost != cost || a->count != count || a->budget.epsilon != budget->epsilon ||
        a->budget.delta != budget->delta || a->budget.accountant != budget->accountant)
        return false;
    for (uint32_t k = 0; k < count; k++)
        if (a->before[k].cost != before[k].cost || a->before[k].releases != before[k].releases)
            return false;
    return true;
}

static void remember(tacit_answers *answers, size_t bucket, const tacit_ledger_entry *before,
                     uint32_t count, const tacit_cost *cost, const tacit_budget *budget,
                     uint64_t most)
{
    answer *a = malloc(sizeof *a + count * sizeof a->before[0]);
    if (!a)
        return; /* it will be worked out again */
    *a = (answer){.next = answers->bucket[bucket],
                  .budget = *budget,
                  .cost = cost,
                  .most = most,
                  .count = count};
    for (uint32_t k = 0; k < count; k++) {
        a->before[k].cost = before[k].cost;
        a->before[k].releases = before[k].releases;
    }
    answers->bucket[bucket] = a;
}

tacit_status tacit_costs_most(tacit_costs *costs, const tacit_ledger_entry *before, uint32_t count,
                              const tacit_cost *cost, const tacit_budget *budget, uint64_t *most,
                              tacit_error *err)
{
    tacit_answers *answers = tacit_costs_answers(costs);
    const size_t bucket = bucket_of(before, count, cost);
    tacit_status status = TACIT_OK;
    /* Who asks while the answer is worked out waits for it instead of working too. */
    pthread_mutex_lock(&answers->lock);
    const answer *found = answers->bucket[bucket];
    while (found && !same(found, before, count, cost, budget))
        found = found->next;
    if (found) {
        *most = found->most;
    } else {
        status = search(before, count, cost, budget, most, err);
        if (status == TACIT_OK)
            remember(answers, bucket, before, count, cost, budget, *most);
    }
    pthread_mutex_unlock(&answers->lock);
    return status;
}
