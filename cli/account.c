/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit account: epsilon from noise, noise from epsilon, all accountants side by side; of one
 * mechanism or of a ledger. Nothing is written before everything was found.
 */
#include "account.h"
#include "account_ledger.h"
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char seen[] = "every release, with all other records known to the adversary";
static const char sampled[] =
    "every release, with all other records known to the adversary, but not who took part in which";
static const char shuffled[] =
    "the reports of all agents without their names, in an order that a trusted shuffler has mixed";

/* ---- finding ---- */

static tacit_status find_one(cli_account_facts *facts, cli_account_request *request,
                             tacit_loss *loss, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (CLI_GIVEN(request, TARGET))
        status = cli_account_solve(request, &facts->by, err);
    if (!status)
        status = cli_account_loss(loss, request, err);
    if (!status)
        status = tacit_loss_check(loss, err);
    if (status)
        return status;
    facts->loss = loss;
    facts->count = 1;
    facts->releases = (uint64_t)request->steps;
    facts->adjacency = (tacit_adjacency)request->adjacency;
    facts->unit = request->group > 1 ? TACIT_UNIT_USER : TACIT_UNIT_RECORD;
    facts->adversary = request->form->shuffle ? shuffled : request->sampling < 1 ? sampled : seen;
    status = cli_account_answer_at(&facts->answer, facts, request->delta, err);
    if (!status && !request->form->shuffle)
        status = cli_account_answer_below(&facts->answer, loss, 1, err);
    return status;
}

static tacit_status find_ledger(cli_account_facts *facts, const cli_account_request *request,
                                cli_account_ledger *ledger, tacit_error *err)
{
    double delta;
    tacit_status status = cli_account_ledger_read(ledger, request, &delta, err);
    if (status)
        return status;
    const cli_account_spender *worst = &ledger->spender[0];
    facts->ledger = ledger;
    facts->loss = worst->loss;
    facts->count = worst->count;
    facts->releases = worst->releases;
    facts->adjacency = ledger->adjacency;
    facts->unit = request->group > 1 ? TACIT_UNIT_USER : ledger->unit;
    facts->adversary = cli_account_ledger_adversary(ledger);
    facts->answer = worst->answer;
    return TACIT_OK;
}

/* ---- showing ---- */

static tacit_status show(const cli_account_facts *facts, const cli_account_flags *flags,
                         tacit_error *err)
{
    tacit_status status = TACIT_OK;
    char *text = NULL;
    if (*flags->plot)
        status = cli_account_svg(&text, facts, err);
    if (!status && *flags->plot)
        status = cli_write_file(flags->plot, text, flags->force, err);
    if (status)
        return status;
    if (!flags->json) {
        cli_account_words(facts);
        return TACIT_OK;
    }
    return cli_print_text(cli_account_json(facts), err);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const cli_account_flags *flags = args->flags;
    static cli_account_ledger ledger;
    cli_account_request request;
    cli_account_facts facts = {.request = &request};
    tacit_loss loss;
    tacit_status status = cli_account_read(&request, flags, args->words, args->word_count, err);
    if (!status && flags->force && !*flags->plot)
        status = tacit_fail(err, TACIT_EUSAGE, "--force needs --plot FILE");
    if (!status && request.form->ledger)
        status = find_ledger(&facts, &request, &ledger, err);
    else if (!status)
        status = find_one(&facts, &request, &loss, err);
    if (!status)
        status = show(&facts, flags, err);
    cli_account_ledger_clear(&ledger);
    return status;
}

/* ---- the verb ---- */

static const cli_example examples[] = {
    {"tacit account gaussian --noise-multiplier 1 --sampling 0.01 --steps 10000",
     "what DP-SGD spends; --json for programs"},
    {"tacit account gaussian --sigma 4 --sensitivity 2 --steps 20 --delta 1e-6",
     "noise in the units of the data"},
    {"tacit account laplace --scale 2 --sensitivity 1 --steps 10", "Laplace noise"},
    {"tacit account discrete-gaussian --sigma 3 --sensitivity 1", "noise on the integers"},
    {"tacit account discrete-laplace --scale 3 --sensitivity 1 --steps 5", "likewise"},
    {"tacit account randomized-response --categories 4 --truth 0.7", "one answer of four"},
    {"tacit account pure --epsilon 0.1 --steps 100", "any mechanism that is epsilon-DP"},
    {"tacit account approximate --epsilon 0.1 --release-delta 1e-8 --steps 100",
     "or (epsilon, delta)-DP"},
    {"tacit account zcdp --rho 0.01 --steps 10", "or rho-zCDP"},
    {"tacit account shuffle --agents 10000 --epsilon 1", "reports that lose their names"},
    {"tacit account compose runs/demo-1/ledger.jsonl", "what the agents of a run spent"},
    {"tacit account gaussian --target-epsilon 1 --sampling 0.01 --steps 1000",
     "how much noise keeps within epsilon 1"},
    {"tacit account laplace --scale 20 --sensitivity 1 --group 5", "users with up to five records"},
    {"tacit account gaussian --sigma 2 --sensitivity 1 --plot curve.svg", "draw epsilon(delta)"},
};

static const char *const words[] = {"gaussian",
                                    "laplace",
                                    "discrete-gaussian",
                                    "discrete-laplace",
                                    "randomized-response",
                                    "pure",
                                    "approximate",
                                    "zcdp",
                                    "shuffle",
                                    "compose",
                                    NULL};

const cli_verb cli_account = {
    .name = "account",
    .argument = "MECHANISM | compose LEDGER.jsonl",
    .summary = "epsilon from noise, noise from epsilon, by all accountants",
    .prose = "Says what an adversary can learn from releases with noise. MECHANISM is gaussian, "
             "laplace, discrete-gaussian, discrete-laplace, randomized-response, pure, "
             "approximate, zcdp or shuffle; each takes the flags that name it and no others. "
             "compose reads a ledger, checks its seal and tells what its agents spent. Six "
             "accountants are asked; each gives an upper bound or says nothing, and the smallest "
             "holds. --target-epsilon goes the other way.",
    .flags = &cli_account_section,
    .words = words,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
