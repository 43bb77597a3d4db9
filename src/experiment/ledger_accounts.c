/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From lines to accounts. The order of releases does not matter to an accountant, so what an
 * agent spent is, for every cost, how often. Agents that agree in that share an account; a run
 * with ten thousand agents has a few dozen.
 *
 * Everything is sorted, never searched, so that no file takes long: first by cost, to number the
 * costs in the order of the file, then by agent and cost, then by a digest of what was spent.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/ledger_lines.h"

/* A line, with its cost as a number: that of the first line that costs the same. */
typedef struct item {
    tacit_agent agent;
    uint64_t agents, releases;
    const tacit_cost *cost;
    size_t line, kind;
    bool continuous;
} item;

typedef struct account {
    tacit_ledger_account is;
    uint8_t digest[32]; /* of all its parts */
} account;

#define COMPARE(a, b) ((a) > (b)) - ((a) < (b))

static int by_cost(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int order = COMPARE((uintptr_t)a->cost, (uintptr_t)b->cost);
    order = order ? order : COMPARE(a->continuous, b->continuous);
    return order ? order : COMPARE(a->line, b->line);
}

static int by_agent(const void *left, const void *right)
{
    const item *a = left, *b = right;
    int order = COMPARE(a->agent, b->agent);
    order = order ? order : COMPARE(a->kind, b->kind);
    return order ? order : COMPARE(a->line, b->line);
}

static int by_digest(const void *left, const void *right)
{
    const account *a = left, *b = right;
    int order = memcmp(a->digest, b->digest, sizeof a->digest);
    return order ? order : COMPARE(a->is.agent, b->is.agent);
}

static int by_first(const void *left, const void *right)
{
    const tacit_ledger_account *a = left, *b = right;
    return COMPARE(a->agent, b->agent);
}

static item *sorted_items(const tacit_ledger_lines *lines)
{
    item *all = calloc(lines->count + 1, sizeof *all);
    for (size_t k = 0; all && k < lines->count; k++) {
        const tacit_ledger_line *l = &lines->line[k];
        all[k] = (item){.agent = l->agent,
                        .agents = l->agents,
                        .releases = l->releases,
                        .cost = l->cost,
                        .line = k,
                        .continuous = l->continuous};
    }
    if (!all)
        return NULL;
    qsort(all, lines->count, sizeof *all, by_cost);
    for (size_t k = 0; k < lines->count; k++)
        all[k].kind =
            k > 0 && all[k].cost == all[k - 1].cost && all[k].continuous == all[k - 1].continuous
                ? all[k - 1].kind
                : all[k].line;
    qsort(all, lines->count, sizeof *all, by_agent);
    return all;
}

/* One agent's items become parts; `digest` says what they are. */
static bool add_parts(tacit_ledger_lines *lines, const item *items, size_t count, account *a)
{
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, sizeof a->digest);
    a->is = (tacit_ledger_account){items[0].agent, items[0].agents, lines->parts, 0};
    for (size_t k = 0; k < count;) {
        uint64_t releases = 0;
        const size_t kind = items[k].kind, first = k;
        for (; k < count && items[k].kind == kind; k++)
            if (__builtin_add_overflow(releases, items[k].releases, &releases))
                return false;
        lines->part[lines->parts++] =
            (tacit_ledger_part){items[first].cost, releases, items[first].continuous};
        a->is.count++;
        crypto_generichash_update(&state, (const unsigned char *)&kind, sizeof kind);
        crypto_generichash_update(&state, (const unsigned char *)&releases, sizeof releases);
    }
    crypto_generichash_final(&state, a->digest, sizeof a->digest);
    return true;
}

static tacit_status each_agent(tacit_ledger_lines *lines, const item *items, account *accounts,
                               const char *shown, tacit_error *err)
{
    for (size_t k = 0, end; k < lines->count; k = end) {
        for (end = k; end < lines->count && items[end].agent == items[k].agent; end++)
            if (items[end].agents != items[k].agents)
                return tacit_fail(err, TACIT_EINPUT,
                                  "\"%.300s\": agent %llu stands for %llu agents in one line and "
                                  "for %llu in another",
                                  shown, (unsigned long long)items[k].agent,
                                  (unsigned long long)items[k].agents,
                                  (unsigned long long)items[end].agents);
        if (!add_parts(lines, items + k, end - k, &accounts[lines->accounts]))
            return tacit_fail(err, TACIT_EINPUT,
                              "\"%.300s\": agent %llu has more releases than can be counted", shown,
                              (unsigned long long)items[k].agent);
        lines->accounts++;
    }
    return TACIT_OK;
}

/* Accounts of equal content become one, in order of their first agents. */
static bool merge(tacit_ledger_lines *lines, account *accounts)
{
    size_t kept = 0;
    uint64_t agents = 0;
    qsort(accounts, lines->accounts, sizeof *accounts, by_digest);
    for (size_t k = 0; k < lines->accounts; k++) {
        const account *a = &accounts[k];
        if (__builtin_add_overflow(agents, a->is.agents, &agents))
            return false;
        if (k > 0 && memcmp(a->digest, a[-1].digest, sizeof a->digest) == 0)
            lines->account[kept - 1].agents += a->is.agents;
        else
            lines->account[kept++] = a->is;
    }
    lines->accounts = kept;
    qsort(lines->account, kept, sizeof *lines->account, by_first);
    if (lines->seal == TACIT_SEAL_NONE)
        lines->agents = agents;
    return true;
}

tacit_status tacit_ledger_accounts(tacit_ledger_lines *lines, const char *shown, tacit_error *err)
{
    tacit_status status;
    item *items = sorted_items(lines);
    account *accounts = calloc(lines->count + 1, sizeof *accounts);
    lines->part = calloc(lines->count + 1, sizeof *lines->part);
    lines->account = calloc(lines->count + 1, sizeof *lines->account);
    if (!items || !accounts || !lines->part || !lines->account)
        status = tacit_out_of_memory(err);
    else
        status = each_agent(lines, items, accounts, shown, err);
    if (!status && !merge(lines, accounts))
        status =
            tacit_fail(err, TACIT_EINPUT, "\"%.300s\": more agents than can be counted", shown);
    free(items);
    free(accounts);
    return status;
}

/* By hand and without a grid: real-valued noise, as the textbooks have it. */
static void continuous_loss(const tacit_ledger_part *part, tacit_loss *loss)
{
    const bool gaussian = part->cost->mechanism == TACIT_MECHANISM_GAUSSIAN;
    *loss = (tacit_loss){.kind = gaussian ? TACIT_LOSS_GAUSSIAN : TACIT_LOSS_LAPLACE,
                         .adjacency = part->cost->adjacency,
                         .noise = part->cost->noise,
                         .shift = part->cost->sensitivity,
                         .sampling = part->cost->sampling,
                         .count = part->releases};
}

void tacit_ledger_account_losses(const tacit_ledger_lines *lines, const tacit_ledger_account *of,
                                 tacit_loss *loss)
{
    for (size_t k = 0; k < of->count; k++) {
        const tacit_ledger_part *part = &lines->part[of->first + k];
        if (part->continuous)
            continuous_loss(part, &loss[k]);
        else
            tacit_cost_loss(part->cost, part->releases, &loss[k]);
    }
}
