/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epsilon for every delta, a line an accountant: the guarantee is the whole curve, and one delta
 * a point on it.
 */
#include "account.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>

enum { DECADES = 11, PER_DECADE = 3, POINTS = DECADES * PER_DECADE + 1, LINES = TACIT_ACCOUNTANTS };

typedef struct curves {
    double delta[POINTS];
    double epsilon[LINES + 1][POINTS]; /* the last is the optimistic one */
    char note[200];
} curves;

static tacit_status find_curves(curves *c, const cli_account_facts *facts, tacit_error *err)
{
    for (int k = 0; k < POINTS; k++) {
        cli_account_answer answer;
        c->delta[k] = pow(10, -12 + (double)k / PER_DECADE);
        tacit_status status = cli_account_answer_at(&answer, facts, c->delta[k], err);
        if (status)
            return status;
        for (int a = 0; a < LINES; a++)
            c->epsilon[a][k] = answer.epsilon[a];
        c->epsilon[LINES][k] = answer.optimistic;
    }
    return TACIT_OK;
}

static bool says_anything(const double *epsilon)
{
    for (int k = 0; k < POINTS; k++) {
        if (isfinite(epsilon[k]))
            return true;
    }
    return false;
}

/* The best first, so that it has the first colour whatever else is drawn. */
static void add_line(tacit_chart *chart, const curves *c, int accountant, const char *name)
{
    if (!says_anything(c->epsilon[accountant]))
        return;
    chart->of[chart->series++] = (tacit_series){.name = name,
                                                .mark = TACIT_MARK_LINE,
                                                .count = POINTS,
                                                .x = c->delta,
                                                .y = c->epsilon[accountant]};
}

tacit_status cli_account_svg(char **text, const cli_account_facts *facts, tacit_error *err)
{
    curves c;
    tacit_status status = find_curves(&c, facts, err);
    if (status)
        return status;
    snprintf(c.note, sizeof c.note, "%s, adjacency %s, one %s%s", facts->request->form->words,
             tacit_adjacency_name(facts->adjacency), tacit_unit_name(facts->unit),
             facts->ledger ? "; the agent who spent most" : "");
    tacit_chart chart = {.title = "Epsilon at every delta",
                         .note = c.note,
                         .x_label = "delta",
                         .y_label = "epsilon",
                         .log_x = true};
    for (int a = LINES - 1; a >= 0; a--)
        add_line(&chart, &c, a, tacit_accountant_names[a]);
    add_line(&chart, &c, LINES, "pld, rounded down");
    tacit_writer out = {0};
    tacit_chart_svg(&out, &chart);
    *text = tacit_writer_take(&out);
    return *text ? TACIT_OK : tacit_out_of_memory(err);
}
