/* SPDX-License-Identifier: Apache-2.0 */
/* What came out of an average, for people and for programs. */
#include "average.h"
#include "terminal.h"

#include "base/writer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define BAR 30 /* cells */
#define REHEARSAL "rehearsal: this epsilon does not hold for this number"

void average_remark_clipped(const tacit_held *values, const tacit_question *question)
{
    char text[200];
    if (values->clipped == 0)
        return;
    snprintf(text, sizeof text,
             "%zu number%s outside of %g to %g, and %s brought to the nearer end", values->clipped,
             values->clipped == 1 ? " is" : "s are", question->least, question->most,
             values->clipped == 1 ? "was" : "were");
    cli_remark(text);
}

static const char *plus_minus(void)
{
    return cli_has_unicode() ? "±" : "+-";
}

/* As many digits as the error leaves. */
static int digits_of(double error)
{
    if (!(error > 0))
        return 6;
    const double digits = 1 - floor(log10(error));
    return digits < 0 ? 0 : digits > 12 ? 12 : (int)digits;
}

static void say_numbers(const average_result *r)
{
    const tacit_question *q = r->question;
    const int digits = digits_of(r->error);
    for (uint32_t k = 0; k < q->numbers; k++) {
        char label[40];
        if (q->numbers == 1)
            snprintf(label, sizeof label, "%s", q->sum ? "sum" : "mean");
        else
            snprintf(label, sizeof label, "%s %" PRIu32, q->sum ? "sum" : "mean", k + 1);
        printf("  %-22s%s%.*f%s %s %.*f\n", label, k == 0 ? cli_bold() : "", digits, r->value[k],
               k == 0 ? cli_plain() : "", plus_minus(), digits, r->error);
    }
}

/* Shares, or counts of peers. Noise takes some of them below zero: they are shown as they are. */
static void say_histogram(const average_result *r)
{
    const tacit_question *q = r->question;
    const int digits = digits_of(r->error);
    double most = 0;
    for (uint32_t k = 0; k < q->numbers; k++)
        most = fmax(most, r->value[k]);
    for (uint32_t k = 0; k < q->numbers; k++) {
        char label[60];
        snprintf(label, sizeof label, "%g to %g", q->edge[k], q->edge[k + 1]);
        printf("  %-22s%*.*f ", label, 7 + digits, digits, r->value[k]);
        cli_bar(most > 0 ? fmax(r->value[k], 0) / most : 0, BAR, true);
        putchar('\n');
    }
    printf("  %-22s%s %.*f each, by the noise\n", "", plus_minus(), digits, r->error);
}

void average_say(const average_result *r)
{
    char text[700], epsilon[40];
    printf("%s%s%s of what %" PRIu64 " of %" PRIu64 " peers hold\n", cli_bold(),
           r->question->edge  ? "Histogram"
           : r->question->sum ? "Sum"
                              : "Mean",
           cli_plain(), r->members, r->peers);
    if (r->question->edge)
        say_histogram(r);
    else
        say_numbers(r);
    if (r->records > 0)
        printf("  %-22s%" PRIu64 ", openly\n", "rows", r->records);
    cli_epsilon(r->epsilon, epsilon, sizeof epsilon);
    snprintf(text, sizeof text,
             "epsilon %s at delta %g for one %s (adjacency %s), against an adversary \"%s\" that "
             "sees %s",
             epsilon, tacit_rounded_up(r->delta), r->unit, r->adjacency, r->adversary, r->sees);
    printf("  %-22s", "privacy");
    cli_wrap(text, 24, 24);
    if (r->rehearsal) {
        printf("  %-22s", "");
        cli_wrap(REHEARSAL ": its noise follows from --seed, and who knows or guesses the seed "
                           "can subtract it; without --seed the noise is the system's",
                 24, 24);
    }
    if (r->board)
        printf("  %-22s%s\n", "board", r->board);
}

char *average_json(const average_result *r)
{
    const tacit_question *q = r->question;
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.average/1");
    tacit_json_text(&json, "what", q->edge ? "histogram" : q->sum ? "sum" : "mean");
    tacit_json_begin(&json, "value", '[');
    for (uint32_t k = 0; k < q->numbers; k++)
        tacit_json_real(&json, NULL, r->value[k]);
    tacit_json_end(&json, ']');
    tacit_json_real(&json, "standard_error", r->error);
    if (q->edge) {
        tacit_json_begin(&json, "edges", '[');
        for (uint32_t k = 0; k <= q->numbers; k++)
            tacit_json_real(&json, NULL, q->edge[k]);
        tacit_json_end(&json, ']');
    }
    tacit_json_count(&json, "peers", r->peers);
    tacit_json_count(&json, "members", r->members);
    if (r->records > 0)
        tacit_json_count(&json, "records", r->records);
    tacit_json_real(&json, "epsilon", r->epsilon);
    tacit_json_real(&json, "delta", r->delta);
    tacit_json_text(&json, "unit", r->unit);
    tacit_json_text(&json, "adjacency", r->adjacency);
    tacit_json_text(&json, "adversary", r->adversary);
    tacit_json_text(&json, "sees", r->sees);
    tacit_json_bool(&json, "rehearsal", r->rehearsal);
    if (r->rehearsal)
        tacit_json_text(&json, "warning", REHEARSAL);
    if (r->board)
        tacit_json_text(&json, "board", r->board);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}
