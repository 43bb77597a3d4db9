/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Epsilon for every delta, a line an accountant: the guarantee is the whole curve, and one delta
 * a point on it.
 */
#include "account.h"
#include "account_ledger.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DECADES = 11, PER_DECADE = 3, POINTS = DECADES * PER_DECADE + 1 };
#define ALIKE 2e-3 /* lines no eye can tell apart are drawn once, with both names */

typedef struct curves {
    double delta[POINTS];
    double epsilon[TACIT_ACCOUNTANTS][POINTS];
    char name[TACIT_ACCOUNTANTS][60]; /* of the series in the chart */
} curves;

static tacit_status find_curves(curves *c, const cli_account_facts *facts, tacit_error *err)
{
    for (int k = 0; k < POINTS; k++) {
        cli_account_answer answer;
        c->delta[k] = pow(10, -12 + (double)k / PER_DECADE);
        tacit_status status = cli_account_answer_at(&answer, facts, c->delta[k], err);
        if (status)
            return status;
        for (int a = 0; a < TACIT_ACCOUNTANTS; a++)
            c->epsilon[a][k] = answer.epsilon[a];
    }
    return TACIT_OK;
}

static bool are_alike(const double *a, const double *b)
{
    for (int k = 0; k < POINTS; k++) {
        if (isfinite(a[k]) != isfinite(b[k]) ||
            (isfinite(a[k]) && fabs(a[k] - b[k]) > ALIKE * fabs(a[k])))
            return false;
    }
    return true;
}

/* One that says nothing has no points, and the chart leaves it out. */
static void add_line(tacit_chart *chart, curves *c, int accountant)
{
    const double *epsilon = c->epsilon[accountant];
    const char *name = tacit_accountant_names[accountant];
    for (uint32_t k = 0; k < chart->series; k++) {
        if (are_alike(chart->of[k].y, epsilon)) {
            size_t used = strlen(c->name[k]);
            snprintf(c->name[k] + used, sizeof c->name[k] - used, ", %s", name);
            return;
        }
    }
    snprintf(c->name[chart->series], sizeof *c->name, "%s", name);
    chart->of[chart->series] = (tacit_series){.name = c->name[chart->series],
                                              .mark = TACIT_MARK_LINE,
                                              .count = POINTS,
                                              .x = c->delta,
                                              .y = epsilon};
    chart->series++;
}

static char *write_note(const cli_account_facts *facts)
{
    tacit_writer out = {0};
    tacit_write_text(&out, facts->request->form->words);
    if (facts->ledger)
        tacit_write_text(&out, ", the agent who spent most");
    else
        cli_account_question(&out, facts->request);
    tacit_write_format(&out, "; %s, one %s", tacit_adjacency_name(facts->adjacency),
                       tacit_unit_name(facts->unit));
    if (facts->ledger && facts->ledger->lines.claimed)
        tacit_write_text(&out, "; a claim, UNSOUND");
    return tacit_writer_take(&out);
}

tacit_status cli_account_svg(char **text, const cli_account_facts *facts, tacit_error *err)
{
    curves c;
    tacit_status status = find_curves(&c, facts, err);
    if (status)
        return status;
    char *note = write_note(facts);
    tacit_chart chart = {.title = "Epsilon at every delta",
                         .note = note,
                         .x_label = "delta",
                         .y_label = "epsilon",
                         .log_x = true};
    for (int a = TACIT_ACCOUNTANTS - 1; a >= 0; a--) /* pld has the first colour */
        add_line(&chart, &c, a);
    tacit_writer out = {0};
    tacit_chart_svg(&out, &chart);
    *text = tacit_writer_take(&out);
    free(note);
    return *text ? TACIT_OK : tacit_out_of_memory(err);
}
