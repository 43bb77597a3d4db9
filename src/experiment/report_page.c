/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page: what the runs leaked and where they ended early before everything else, then the
 * figures, what is different between them, the pictures, and the configuration. Nothing of it
 * depends on the machine or the clock, so equal runs have equal pages.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/writer.h"
#include "experiment/report.h"

enum { CELL = 600 };

/* ---- numbers in words ---- */

static void count_words(uint64_t count, char *out, size_t size)
{
    char plain[24];
    int n = snprintf(plain, sizeof plain, "%llu", (unsigned long long)count);
    size_t len = 0;
    for (int i = 0; i < n && len + 2 < size; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[len++] = ',';
        out[len++] = plain[i];
    }
    out[len] = '\0';
}

static void bytes_words(uint64_t bytes, char *out, size_t size)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t k = 0;
    while (value >= 999.5 && k < 6) {
        value /= 1000;
        k++;
    }
    snprintf(out, size, "%.3g %s", value, unit[k]);
}

static void score_words(const tacit_report_run *run, char *out, size_t size)
{
    if (isnan(run->test))
        snprintf(out, size, "—");
    else
        snprintf(out, size, "%.4f ± %.4f", run->test, run->deviation);
}

static void real_words(double value, char *out, size_t size)
{
    if (isnan(value))
        snprintf(out, size, "—");
    else
        snprintf(out, size, "%.8g", value);
}

static void epsilon_words(const tacit_report_run *run, char *out, size_t size)
{
    if (run->unbounded)
        snprintf(out, size, "unbounded");
    else if (isnan(run->epsilon))
        snprintf(out, size, "not said");
    else
        snprintf(out, size, "%.6g", run->epsilon);
}

/* An epsilon is never said without its delta, unit, adjacency and adversary. */
static void guarantee_words(const tacit_report_run *run, char *out, size_t size)
{
    snprintf(out, size,
             "at delta %g, for one %s (adjacency %s), mechanism %s, against an adversary \"%s\" "
             "that sees %s%s",
             tacit_rounded_up(run->delta), run->unit, run->adjacency, run->mechanism,
             run->adversary, run->sees,
             tacit_json_first(&run->summary, run->leaks) ? "; beside what leaks" : "");
}

/* ---- warnings ---- */

static void say_leaks(tacit_writer *out, const tacit_report *report, const tacit_report_run *run)
{
    const tacit_json_tree *t = &run->summary;
    const tacit_json_value *leak = tacit_json_first(t, run->leaks);
    if (!leak)
        return;
    tacit_writer words = {0};
    tacit_write_format(&words, "%s leaks: ", report->runs == 1 ? "This run" : run->label);
    for (const tacit_json_value *v = leak; v; v = tacit_json_next(t, v))
        tacit_write_format(&words, "%s%s", v == leak ? "" : "; ",
                           tacit_json_to_text(v, "something it does not name"));
    tacit_write_text(&words, ". Its epsilon says nothing about that.");
    if (words.failed)
        out->failed = true;
    else
        tacit_page_words(out, words.text, true);
    tacit_writer_clear(&words);
}

static void say_interrupted(tacit_writer *out, const tacit_report *report,
                            const tacit_report_run *run)
{
    char words[400];
    if (run->complete)
        return;
    snprintf(words, sizeof words, "%.200s was interrupted at time %g of %.40s.",
             report->runs == 1 ? "This run" : run->label, run->time,
             tacit_report_value(run, "run.time", "?"));
    tacit_page_words(out, words, true);
}

static void say_missing(tacit_writer *out, const tacit_report *report, const tacit_report_run *run)
{
    char words[500];
    if (strcmp(run->score, report->score) != 0) {
        snprintf(words, sizeof words,
                 "%.200s measures \"%s\" and not \"%s\", so it is not in the pictures of scores.",
                 run->label, run->score, report->score);
        tacit_page_words(out, words, false);
    }
    if (run->rows_of_agents.found && run->sizes.found && run->degrees.found)
        return;
    snprintf(words, sizeof words,
             "%.200s lacks%s%s%s, which newer runs write; pictures made of them are left out.",
             report->runs == 1 ? "The folder" : run->label,
             run->rows_of_agents.found ? "" : " agents.csv", run->sizes.found ? "" : " sizes.csv",
             run->degrees.found ? "" : " degrees.csv");
    tacit_page_words(out, words, false);
}

/* ---- one run ---- */

static void one_run(tacit_writer *out, const tacit_report_run *run)
{
    char cell[CELL], more[CELL], label[80];
    tacit_page_table(out);
    snprintf(label, sizeof label, "test %s", run->score);
    score_words(run, cell, sizeof cell);
    count_words(run->tested, more, sizeof more);
    if (!isnan(run->test) && run->tested > 0)
        tacit_page_figure(out, label, "%s over agents, each on all of %s test records", cell, more);
    else if (!isnan(run->test))
        tacit_page_figure(out, label, "%s over agents", cell);
    if (!isnan(run->objective)) {
        real_words(run->objective, cell, sizeof cell);
        tacit_page_figure(out, "objective", "%s", cell);
    }
    count_words(run->agents, cell, sizeof cell);
    count_words(run->records, more, sizeof more);
    tacit_page_figure(out, "agents", "%s with %s training records of %llu features", cell, more,
                      (unsigned long long)run->features);
    count_words(run->edges, cell, sizeof cell);
    tacit_page_figure(out, "graph", "%s edges, %s", cell,
                      run->components == 1 ? "connected" : "not connected");
    count_words(run->messages, cell, sizeof cell);
    bytes_words(run->bytes, more, sizeof more);
    tacit_page_figure(out, "messages", "%s (%s)%s", cell, more,
                      run->refused ? "; releases beyond the budget were refused" : "");
    epsilon_words(run, cell, sizeof cell);
    guarantee_words(run, more, sizeof more);
    tacit_page_figure(out, "epsilon", "%s %s", cell, more);
    if (run->keep)
        tacit_page_figure(out, "keep secret", "%s", run->keep);
    if (!isnan(run->least_budget)) {
        real_words(run->least_budget, cell, sizeof cell);
        if (isnan(run->most_budget))
            tacit_page_figure(out, "budgets", "from epsilon %s, some without limit", cell);
        else
            tacit_page_figure(out, "budgets",
                              "epsilon from %s to %.8g, by agent; the epsilon above "
                              "is of the agent that spent most",
                              cell, run->most_budget);
    }
    tacit_page_table_end(out);
}

/* ---- several runs ---- */

static void cell(tacit_writer *out, const char *text, bool number)
{
    tacit_write_text(out, number ? "<td class=\"r\">" : "<td>");
    tacit_page_escape(out, text);
    tacit_write_text(out, "</td>");
}

/* Guarantees in words, each once: most runs of a comparison have the same. */
typedef struct footnotes {
    size_t count;
    char text[TACIT_REPORT_RUNS][CELL];
} footnotes;

static size_t footnote(footnotes *notes, const char *text)
{
    for (size_t k = 0; k < notes->count; k++)
        if (strcmp(notes->text[k], text) == 0)
            return k;
    snprintf(notes->text[notes->count], CELL, "%s", text);
    return notes->count++;
}

static void run_row(tacit_writer *out, const tacit_report_run *run, footnotes *notes)
{
    char text[CELL];
    tacit_write_text(out, "<tr>");
    cell(out, run->label, false);
    cell(out, run->protocol, false);
    cell(out, tacit_report_value(run, "run.seed", "?"), true);
    count_words(run->agents, text, sizeof text);
    cell(out, text, true);
    score_words(run, text, sizeof text);
    cell(out, text, true);
    real_words(run->objective, text, sizeof text);
    cell(out, text, true);
    count_words(run->messages, text, sizeof text);
    cell(out, text, true);
    bytes_words(run->bytes, text, sizeof text);
    cell(out, text, true);
    epsilon_words(run, text, sizeof text);
    tacit_write_text(out, "<td class=\"r\">");
    tacit_page_escape(out, text);
    guarantee_words(run, text, sizeof text);
    tacit_write_format(out, " <sup>%c</sup></td></tr>\n", (char)('a' + footnote(notes, text)));
}

static void head(tacit_writer *out, const char *text, bool number)
{
    tacit_write_text(out, number ? "<th class=\"r\">" : "<th>");
    tacit_page_escape(out, text);
    tacit_write_text(out, "</th>");
}

static void run_table(tacit_writer *out, const tacit_report *report)
{
    char score[80];
    footnotes *notes = calloc(1, sizeof *notes);
    if (!notes) {
        out->failed = true;
        return;
    }
    snprintf(score, sizeof score, "test %s", report->score);
    tacit_page_heading(out, "Runs");
    tacit_page_table(out);
    tacit_write_text(out, "<tr>");
    head(out, "run", false);
    head(out, "protocol", false);
    head(out, "seed", true);
    head(out, "agents", true);
    head(out, score, true);
    head(out, "objective", true);
    head(out, "messages", true);
    head(out, "bytes", true);
    head(out, "epsilon", true);
    tacit_write_text(out, "</tr>\n");
    for (size_t r = 0; r < report->runs; r++)
        run_row(out, &report->run[r], notes);
    tacit_page_table_end(out);
    for (size_t k = 0; k < notes->count; k++) {
        tacit_write_format(out, "<p class=\"note\"><sup>%c</sup> epsilon ", (char)('a' + k));
        tacit_page_escape(out, notes->text[k]);
        tacit_write_text(out, "</p>\n");
    }
    free(notes);
    for (size_t r = 0; r < report->runs; r++)
        if (report->run[r].keep) { /* once for all */
            tacit_page_words(
                out,
                "An epsilon is for what its adversary would see of real peers. The run "
                "folders, and this page, hold models, scores or the seed of the noise: "
                "keep them to yourself.",
                false);
            break;
        }
}

/* The value of a key in a group; of run.seed all of them. */
static void group_value(const tacit_report *report, size_t g, const char *key, char *out,
                        size_t size)
{
    const tacit_report_group *group = &report->group[g];
    const bool seeds = !strcmp(key, "run.seed");
    size_t len = 0;
    for (size_t k = 0; k < (seeds ? group->count : 1) && len < size; k++) {
        int n = snprintf(out + len, size - len, "%s%s", k ? ", " : "",
                         tacit_report_value(&report->run[group->run[k]], key, "—"));
        len += n > 0 ? (size_t)n : 0;
    }
}

static void difference_table(tacit_writer *out, const tacit_report *report)
{
    const char *key = tacit_report_difference(report, 0);
    tacit_page_heading(out, "What is different");
    if (!key) {
        tacit_page_words(out, "Nothing: the runs have the same configuration.", false);
        return;
    }
    tacit_page_table(out);
    tacit_write_text(out, "<tr>");
    head(out, "key", false);
    for (size_t g = 0; g < report->groups; g++)
        head(out, report->group[g].label, false);
    tacit_write_text(out, "</tr>\n");
    for (size_t k = 0; key; key = tacit_report_difference(report, ++k)) {
        tacit_write_text(out, "<tr>");
        head(out, key, false);
        for (size_t g = 0; g < report->groups; g++) {
            char value[CELL];
            group_value(report, g, key, value, sizeof value);
            cell(out, value, false);
        }
        tacit_write_text(out, "</tr>\n");
    }
    tacit_page_table_end(out);
}

/* ---- the page ---- */

static void subtitle_of(const tacit_report *report, char *out, size_t size)
{
    const tacit_report_run *first = &report->run[0];
    if (report->runs == 1)
        snprintf(out, size, "protocol %.60s, seed %.30s, time %g of %.30s%s", first->protocol,
                 tacit_report_value(first, "run.seed", "?"), first->time,
                 tacit_report_value(first, "run.time", "?"),
                 first->complete ? "" : " (interrupted)");
    else if (report->groups < report->runs)
        snprintf(out, size, "%zu runs of %zu configuration%s", report->runs, report->groups,
                 report->groups == 1 ? "" : "s");
    else
        snprintf(out, size, "%zu runs compared", report->runs);
}

/* "cd, alone and admm", or "12 runs" where that would be long. */
static void title_of(const tacit_report *report, char *out, size_t size)
{
    size_t len = 0;
    for (size_t g = 0; g < report->groups && len < size; g++) {
        const char *between = g == 0 ? "" : g + 1 < report->groups ? ", " : " and ";
        int n = snprintf(out + len, size - len, "%s%s", between, report->group[g].label);
        len += n > 0 ? (size_t)n : 0;
    }
    if (len > 70)
        snprintf(out, size, "%zu runs", report->runs);
}

static void configuration(tacit_writer *out, const tacit_report_run *run)
{
    tacit_write_text(out, "<details><summary>Configuration</summary><pre>");
    const char *line = run->yaml;
    while (*line) { /* the escape turns line ends into blanks */
        size_t len = strcspn(line, "\n");
        char *copy = strndup(line, len);
        if (!copy) {
            out->failed = true;
            return;
        }
        tacit_page_escape(out, copy);
        free(copy);
        tacit_write_text(out, "\n");
        line += len + (line[len] == '\n');
    }
    tacit_write_text(out, "</pre></details>\n");
}

char *tacit_report_render(const tacit_report *report)
{
    tacit_writer out = {0};
    char subtitle[200], title[100];
    subtitle_of(report, subtitle, sizeof subtitle);
    title_of(report, title, sizeof title);
    tacit_page_open(&out,
                    report->title       ? report->title
                    : report->runs == 1 ? report->run[0].name
                                        : title,
                    subtitle);
    for (size_t r = 0; r < report->runs; r++) {
        say_leaks(&out, report, &report->run[r]);
        say_interrupted(&out, report, &report->run[r]);
        say_missing(&out, report, &report->run[r]);
    }
    if (report->runs == 1)
        one_run(&out, &report->run[0]);
    else {
        run_table(&out, report);
        difference_table(&out, report);
    }
    tacit_report_charts(&out, report);
    if (report->runs == 1)
        configuration(&out, &report->run[0]);
    tacit_page_close(&out);
    return tacit_writer_take(&out);
}
