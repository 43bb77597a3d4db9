/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit account for programs, schema tacit.account/1. An accountant that says nothing has null;
 * one for which no epsilon is large enough has null as well, and its name stands in "unbounded".
 */
#include "account.h"
#include "account_ledger.h"
#include "report/writer.h"

#include <math.h>

static void put_epsilons(tacit_json *json, const cli_account_answer *a)
{
    tacit_json_begin(json, "epsilon", '{');
    tacit_json_real(json, "pld", a->epsilon[TACIT_BY_PLD]);
    tacit_json_real(json, "pld_optimistic", a->optimistic);
    tacit_json_real(json, "rdp", a->epsilon[TACIT_BY_RDP]);
    tacit_json_real(json, "zcdp", a->epsilon[TACIT_BY_ZCDP]);
    tacit_json_real(json, "gdp", a->epsilon[TACIT_BY_GDP]);
    tacit_json_real(json, "kov", a->epsilon[TACIT_BY_KOV]);
    tacit_json_real(json, "sum", a->epsilon[TACIT_BY_SUM]);
    tacit_json_end(json, '}');
    tacit_json_begin(json, "unbounded", '[');
    for (int k = TACIT_ACCOUNTANTS - 1; k >= 0; k--) {
        if (isinf(a->epsilon[k]))
            tacit_json_text(json, NULL, tacit_accountant_names[k]);
    }
    tacit_json_end(json, ']');
    if (a->best < 0) {
        tacit_json_null(json, "best");
        return;
    }
    tacit_json_begin(json, "best", '{');
    tacit_json_text(json, "accountant", tacit_accountant_names[a->best]);
    tacit_json_real(json, "epsilon", a->epsilon[a->best]);
    tacit_json_end(json, '}');
}

static void put_parameters(tacit_json *json, const cli_account_request *q)
{
    tacit_json_begin(json, "parameters", '{');
#define PUT(NAME, key, field) \
    if (CLI_GIVEN(q, NAME))   \
    tacit_json_real(json, key, q->field)
    PUT(MULTIPLIER, "noise_multiplier", multiplier);
    PUT(SIGMA, "sigma", sigma);
    PUT(SCALE, "scale", scale);
    PUT(SENSITIVITY, "sensitivity", sensitivity);
    PUT(TRUTH, "truth", truth);
    PUT(EPSILON, "epsilon", epsilon);
    PUT(RELEASE_DELTA, "release_delta", release_delta);
    PUT(RHO, "rho", rho);
#undef PUT
    if (CLI_GIVEN(q, CATEGORIES))
        tacit_json_count(json, "categories", (uint64_t)q->categories);
    if (CLI_GIVEN(q, AGENTS))
        tacit_json_count(json, "agents", (uint64_t)q->agents);
    if (!q->form->ledger) {
        tacit_json_real(json, "sampling", q->sampling);
        tacit_json_count(json, "steps", (uint64_t)q->steps);
    }
    tacit_json_count(json, "group", (uint64_t)q->group);
    tacit_json_end(json, '}');
}

static void put_target(tacit_json *json, const cli_account_facts *f)
{
    tacit_json_begin(json, "target", '{');
    tacit_json_real(json, "epsilon", f->request->target);
    tacit_json_text(json, "by", tacit_accountant_names[f->by]);
    tacit_json_real(json, "spent", f->answer.epsilon[f->by]);
    tacit_json_end(json, '}');
}

static void put_spender(tacit_json *json, const cli_account_spender *s, bool named)
{
    tacit_json_begin(json, NULL, '{');
    if (named)
        tacit_json_count(json, "agent", s->agent);
    else
        tacit_json_null(json, "agent");
    tacit_json_count(json, "agents", s->agents);
    tacit_json_count(json, "releases", s->releases);
    put_epsilons(json, &s->answer);
    tacit_json_end(json, '}');
}

static void put_ledger(tacit_json *json, const cli_account_facts *f)
{
    static const char *const seals[] = {"none", "run", "key"};
    const cli_account_ledger *ledger = f->ledger;
    tacit_json_begin(json, "ledger", '{');
    tacit_json_text(json, "file", f->request->path);
    tacit_json_text(json, "seal", seals[ledger->lines.seal]);
    tacit_json_count(json, "agents", ledger->lines.agents);
    tacit_json_count(json, "agents_with_releases", cli_account_ledger_spoke(ledger));
    tacit_json_count(json, "accounts", ledger->lines.accounts);
    tacit_json_count(json, "releases_least", ledger->least);
    tacit_json_count(json, "releases_most", ledger->most);
    tacit_json_bool(json, "exact", !ledger->envelope);
    tacit_json_end(json, '}');
    tacit_json_begin(json, "accounts", '[');
    for (size_t k = 0; k < ledger->shown; k++)
        put_spender(json, &ledger->spender[k], !(ledger->envelope && k == 0));
    tacit_json_end(json, ']');
}

char *cli_account_json(const cli_account_facts *f)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.account/1");
    put_epsilons(&json, &f->answer);
    tacit_json_real(&json, "delta", f->answer.delta);
    tacit_json_text(&json, "mechanism", f->request->form->name);
    put_parameters(&json, f->request);
    tacit_json_text(&json, "adjacency", tacit_adjacency_name(f->adjacency));
    tacit_json_text(&json, "unit", tacit_unit_name(f->unit));
    tacit_json_text(&json, "adversary", f->adversary);
    if (f->ledger)
        tacit_json_bool(&json, "unsound", f->ledger->lines.claimed);
    if (CLI_GIVEN(f->request, TARGET))
        put_target(&json, f);
    if (f->ledger)
        put_ledger(&json, f);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}
