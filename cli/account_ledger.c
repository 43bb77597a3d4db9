/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit account compose: what the agents of a ledger spent.
 *
 * Accountants take milliseconds, and a ledger may have thousands of agents that all differ in how
 * often they spoke. Who released nothing that somebody else did not release at least as often
 * spent no more than that somebody, by any accountant. So only those whom nobody outdoes are
 * asked about, and among them is the worst. If there are many of those too, one stands for them
 * who released everything as often as any of them did: no agent spent more.
 */
#include "account_ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ASKED = CLI_ACCOUNT_SHOWN - 2 };

const char *cli_account_ledger_adversary(const cli_account_ledger *ledger)
{
    if (ledger->lines.claimed)
        return "nobody: lines of this ledger have a claimed sensitivity that nothing enforced, so "
               "this epsilon is no guarantee (UNSOUND)";
    for (tacit_trust t = TACIT_TRUST_LOCAL; t <= TACIT_TRUST_SILENT; t++) {
        if (strcmp(ledger->lines.adversary, tacit_trust_name(t)) == 0)
            return tacit_trust_words(t);
    }
    return "every release of the ledger, whatever else the adversary knows";
}

uint64_t cli_account_ledger_spoke(const cli_account_ledger *ledger)
{
    uint64_t agents = 0; /* the reader has seen to it that they can be counted */
    for (size_t k = 0; k < ledger->lines.accounts; k++)
        agents += ledger->lines.account[k].agents;
    return agents;
}

/* ---- who spent no more than whom ---- */

static uint64_t releases_of(const cli_account_ledger *ledger, const tacit_ledger_account *account)
{
    uint64_t all = 0;
    for (size_t k = 0; k < account->count; k++) {
        uint64_t some = ledger->lines.part[account->first + k].releases;
        all = some > UINT64_MAX - all ? UINT64_MAX : all + some;
    }
    return all;
}

static bool outdoes(const cli_account_ledger *ledger, const tacit_ledger_account *a,
                    const tacit_ledger_account *b)
{
    for (size_t i = 0; i < b->count; i++) {
        const tacit_ledger_part *part = &ledger->lines.part[b->first + i];
        bool found = false;
        for (size_t k = 0; k < a->count && !found; k++) {
            const tacit_ledger_part *other = &ledger->lines.part[a->first + k];
            found = other->cost == part->cost && other->continuous == part->continuous &&
                    other->releases >= part->releases;
        }
        if (!found)
            return false;
    }
    return true;
}

typedef struct ranked {
    const tacit_ledger_account *account;
    uint64_t releases;
} ranked;

static int by_releases(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->releases != b->releases)
        return a->releases < b->releases ? 1 : -1;
    return a->account < b->account ? -1 : a->account > b->account;
}

/* ---- asking ---- */

static tacit_status ask(cli_account_ledger *ledger, const tacit_ledger_account *account,
                        const cli_account_request *request, double delta, tacit_error *err)
{
    cli_account_spender *s = &ledger->spender[ledger->shown];
    *s = (cli_account_spender){.agent = account->agent,
                               .agents = account->agents,
                               .releases = releases_of(ledger, account),
                               .count = account->count};
    s->loss = calloc(account->count + 1, sizeof *s->loss);
    if (!s->loss)
        return tacit_out_of_memory(err);
    ledger->shown++;
    tacit_ledger_account_losses(&ledger->lines, account, s->loss);
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < s->count && !status; k++)
        status = cli_account_group(&s->loss[k], (uint64_t)request->group, err);
    if (!status)
        status = cli_account_answer_losses(&s->answer, s->loss, s->count, delta, err);
    if (!status)
        status = cli_account_answer_below(&s->answer, s->loss, s->count, err);
    return status;
}

/* Everything as often as anybody did it, kept behind the parts of the ledger. */
static tacit_status ask_envelope(cli_account_ledger *ledger, const cli_account_request *request,
                                 double delta, tacit_error *err)
{
    tacit_ledger_lines *lines = &ledger->lines;
    tacit_ledger_part *most = calloc(lines->parts + 1, sizeof *most), *parts = lines->part;
    size_t count = 0;
    if (!most)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < lines->parts; k++) {
        size_t at = 0;
        while (at < count &&
               (most[at].cost != parts[k].cost || most[at].continuous != parts[k].continuous))
            at++;
        if (at == count)
            most[count++] = parts[k];
        else if (parts[k].releases > most[at].releases)
            most[at].releases = parts[k].releases;
    }
    const tacit_ledger_account all = {
        .agents = cli_account_ledger_spoke(ledger), .first = 0, .count = count};
    lines->part = most;
    tacit_status status = ask(ledger, &all, request, delta, err);
    lines->part = parts;
    free(most);
    ledger->envelope = true;
    return status;
}

/* The worst first; of equal ones who released more. */
static int by_epsilon(const void *left, const void *right)
{
    const cli_account_spender *a = left, *b = right;
    const double x = a->answer.best < 0 ? INFINITY : a->answer.epsilon[a->answer.best];
    const double y = b->answer.best < 0 ? INFINITY : b->answer.epsilon[b->answer.best];
    if (x != y)
        return x < y ? 1 : -1;
    if (a->releases != b->releases)
        return a->releases < b->releases ? 1 : -1;
    return a->agent > b->agent ? 1 : -1;
}

/* The ones nobody outdoes come first in `order`, of which they are `count`. */
static size_t find_maximal(const cli_account_ledger *ledger, ranked *order, size_t all)
{
    size_t count = 0;
    for (size_t k = 0; k < all && count <= MOST_ASKED; k++) {
        bool outdone = false;
        for (size_t i = 0; i < count && !outdone; i++)
            outdone = outdoes(ledger, order[i].account, order[k].account);
        if (outdone)
            continue;
        const ranked found = order[k];
        memmove(&order[count + 1], &order[count], (k - count) * sizeof *order);
        order[count++] = found;
    }
    return count;
}

static tacit_status ask_all(cli_account_ledger *ledger, const cli_account_request *request,
                            double delta, tacit_error *err)
{
    const size_t all = ledger->lines.accounts;
    const tacit_ledger_account nothing = {.agents = ledger->lines.agents};
    if (all == 0)
        return ask(ledger, &nothing, request, delta, err);
    ranked *order = calloc(all + 1, sizeof *order);
    if (!order)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < all; k++) {
        const tacit_ledger_account *account = &ledger->lines.account[k];
        order[k] = (ranked){account, releases_of(ledger, account)};
    }
    qsort(order, all, sizeof *order, by_releases);
    ledger->most = order[0].releases;
    ledger->least = order[all - 1].releases;
    size_t asked = all <= CLI_ACCOUNT_SHOWN ? all : find_maximal(ledger, order, all);
    tacit_status status = TACIT_OK;
    if (asked > MOST_ASKED && all > CLI_ACCOUNT_SHOWN)
        status = ask_envelope(ledger, request, delta, err);
    else
        for (size_t k = 0; k < asked && !status; k++)
            status = ask(ledger, order[k].account, request, delta, err);
    if (!status && all > CLI_ACCOUNT_SHOWN) { /* and two for comparison */
        status = ask(ledger, order[all / 2].account, request, delta, err);
        if (!status)
            status = ask(ledger, order[all - 1].account, request, delta, err);
    }
    const size_t fixed = ledger->envelope ? 1 : 0;
    qsort(ledger->spender + fixed, ledger->shown - fixed, sizeof *ledger->spender, by_epsilon);
    free(order);
    return status;
}

static tacit_status ask_one(cli_account_ledger *ledger, const cli_account_request *request,
                            double delta, tacit_error *err)
{
    static const tacit_option reading = {
        .key = "--agent", .type = TACIT_OPT_INT, .min = 0, .max = (double)INT64_MAX};
    int64_t agent;
    if (tacit_option_set(&reading, &agent, request->agent, err))
        return TACIT_EUSAGE;
    tacit_ledger_lines *lines = &ledger->lines;
    tacit_ledger_part *own = calloc(lines->count + 1, sizeof *own), *parts = lines->part;
    size_t count = 0;
    bool shared = false;
    if (!own)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < lines->count; k++) {
        const tacit_ledger_line *line = &lines->line[k];
        shared = shared || line->agents > 1;
        if (line->agent == (tacit_agent)agent)
            own[count++] = (tacit_ledger_part){line->cost, line->releases, line->continuous};
    }
    const tacit_ledger_account account = {
        .agent = (tacit_agent)agent, .agents = 1, .first = 0, .count = count};
    lines->part = own;
    ledger->least = ledger->most = releases_of(ledger, &account);
    tacit_status status =
        count > 0 ? ask(ledger, &account, request, delta, err)
                  : tacit_fail(err, TACIT_EINPUT, "no line of \"%.300s\" is of agent %" PRId64 "%s",
                               request->path, agent,
                               shared ? "; its lines name the first of many agents" : "");
    lines->part = parts;
    free(own);
    return status;
}

/* ---- reading ---- */

/* Of units the smaller one holds for all. */
static void find_promise(cli_account_ledger *ledger)
{
    const tacit_ledger_lines *lines = &ledger->lines;
    ledger->adjacency = strcmp(lines->adjacency, tacit_adjacency_name(TACIT_ADD_REMOVE)) == 0
                            ? TACIT_ADD_REMOVE
                            : TACIT_REPLACE;
    ledger->unit = strcmp(lines->unit, tacit_unit_name(TACIT_UNIT_USER)) == 0 ? TACIT_UNIT_USER
                                                                              : TACIT_UNIT_RECORD;
    if (lines->count == 0) /* nobody ever spoke */
        return;
    ledger->adjacency = lines->line[0].cost->adjacency; /* the reader lets no others in */
    ledger->unit = TACIT_UNIT_USER;
    for (size_t k = 0; k < lines->count; k++) {
        if (lines->line[k].cost->unit == TACIT_UNIT_RECORD)
            ledger->unit = TACIT_UNIT_RECORD;
    }
}

static tacit_status read_lines(cli_account_ledger *ledger, const cli_account_request *request,
                               tacit_error *err)
{
    tacit_key key;
    const bool keyed = CLI_GIVEN(request, KEY);
    tacit_status status = keyed ? tacit_key_read(&key, request->key, err) : TACIT_OK;
    if (status)
        return status;
    status = tacit_ledger_read(&ledger->lines, request->path, keyed ? &key : NULL, err);
    if (keyed)
        tacit_key_wipe(&key);
    return status;
}

tacit_status cli_account_ledger_read(cli_account_ledger *ledger, const cli_account_request *request,
                                     double *delta, tacit_error *err)
{
    tacit_status status = cli_account_is_store(request->path)
                              ? cli_account_store_read(ledger, request, err)
                              : read_lines(ledger, request, err);
    if (status)
        return status;
    find_promise(ledger);
    *delta = CLI_GIVEN(request, DELTA) || isnan(ledger->lines.delta) ? request->delta
                                                                     : ledger->lines.delta;
    return CLI_GIVEN(request, AGENT) ? ask_one(ledger, request, *delta, err)
                                     : ask_all(ledger, request, *delta, err);
}

void cli_account_ledger_clear(cli_account_ledger *ledger)
{
    for (size_t k = 0; k < ledger->shown; k++)
        free(ledger->spender[k].loss);
    tacit_ledger_lines_clear(&ledger->lines);
    (void)tacit_ledger_file_close(ledger->store, 0, NULL); /* it was only looked at */
    *ledger = (cli_account_ledger){0};
}
