/* SPDX-License-Identifier: Apache-2.0 */
/* tacit data for people: lines of facts, and the partition in characters. */
#include "data.h"
#include "terminal.h"
#include "verbs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define INDENT 20
#define ROWS_SHOWN 20
#define NAME_COLUMNS 16

static void say(const char *label, const char *text)
{
    printf("  %-*s", INDENT - 2, label);
    cli_wrap(text, INDENT, INDENT);
}

/* ---- facts ---- */

static void say_files(const cli_data_facts *facts)
{
    for (size_t k = 0; k < facts->file_count; k++) {
        const cli_data_file *file = &facts->files[k];
        const tacit_known_file *known = file->facts.known;
        char text[2 * TACIT_TEXT_MAX], bytes[40];
        cli_bytes(file->facts.bytes, bytes, sizeof bytes);
        if (known)
            snprintf(text, sizeof text, "%s (%s), of %s: %s; terms: %s", file->path, bytes,
                     known->set->name, known->set->what, known->set->terms);
        else if (file->facts.sha256[0])
            snprintf(text, sizeof text, "%s (%s)", file->path, bytes);
        else
            snprintf(text, sizeof text, "%s", file->path);
        say(file->key, text);
    }
}

static void say_sizes(const char *name, const tacit_sizes *sizes)
{
    char rows[40], least[40], most[40];
    cli_count(sizes->rows, rows, sizeof rows);
    cli_count(sizes->least, least, sizeof least);
    cli_count(sizes->most, most, sizeof most);
    printf("  %-*s%12s%10s%10.6g%10.6g%10s\n", INDENT - 2, name, rows, least, sizes->median,
           sizes->mean, most);
}

static void say_splits(const tacit_description *about)
{
    static const char *const names[] = {"  to train", "  to validate", "  to test"};
    printf("%s  %-*s%12s%10s%10s%10s%10s%s\n", cli_faint(), INDENT - 2, "", "records", "least",
           "median", "mean", "most", cli_plain());
    say_sizes("an agent's records", &about->all);
    for (int split = 0; split < TACIT_SPLITS; split++) {
        if (about->split[split].rows > 0)
            say_sizes(names[split], &about->split[split]);
    }
}

#define MOST_LABELS 20 /* more are told as a range */

static void say_labels(const tacit_description *about)
{
    const double rows = (double)(about->all.rows + about->common);
    char text[2000];
    int used = 0;
    if (about->classes == 0 || about->classes > MOST_LABELS) {
        char many[40] = "";
        if (about->classes > 0)
            snprintf(many, sizeof many, "; %" PRIu32 " different ones", about->classes);
        snprintf(text, sizeof text, "%.6g to %.6g, mean %.6g%s", about->label_least,
                 about->label_most, about->label_mean, many);
        say("labels", text);
        return;
    }
    for (uint32_t c = 0; c < about->classes && used >= 0 && used < (int)sizeof text - 80; c++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%.6g (%.3g%%)", c > 0 ? ", " : "",
                     about->class[c], 100 * (double)about -> class_rows[c] / rows);
    char label[40];
    snprintf(label, sizeof label, "%" PRIu32 " label%s", about->classes,
             about->classes == 1 ? "" : "s");
    say(label, text);
}

/* Whose records an agent's scores are taken on, if not on its own. */
static void say_scored(const cli_data_facts *facts)
{
    const tacit_dataset *data = facts->source.data;
    char text[200], tests[40], checks[40];
    if (!tacit_dataset_scores_on_all(data))
        return;
    cli_count(tacit_shard_rows(tacit_dataset_pooled(data, TACIT_TEST)), tests, sizeof tests);
    cli_count(tacit_shard_rows(tacit_dataset_pooled(data, TACIT_VALIDATION)), checks,
              sizeof checks);
    snprintf(text, sizeof text, "everybody on all of %s test records%s and %s validation records",
             tests, facts->about.common > 0 ? ", which are nobody's," : "", checks);
    say("scored", text);
}

static void say_leaks(const cli_data_facts *facts)
{
    const char *leak[TACIT_LEAKS];
    size_t leaks = cli_data_leaks(facts, leak);
    char text[500];
    int used = 0;
    for (size_t k = 0; k < leaks && used >= 0 && used < (int)sizeof text; k++)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%s", k > 0 ? ", " : "", leak[k]);
    if (leaks == 0)
        return;
    snprintf(text + used, sizeof text - (size_t)used,
             ": made from training records and charged to nobody, so an epsilon does not cover it");
    say("leaks", text);
}

/* ---- the partition ---- */

/* A name in at most `columns` letters, and the blanks that fill them. */
static void say_name(const char *name, int columns)
{
    int letters = 0;
    for (; *name && letters < columns - 1; letters++) {
        putchar(*name++);
        while (((unsigned char)*name & 0xc0) == 0x80)
            putchar(*name++);
    }
    if (*name) {
        fputs(cli_has_unicode() ? "…" : "~", stdout);
        letters++;
    }
    printf("%*s", columns - letters, "");
}

/* Darker for more; never blank where there is a record. */
static const char *shade(uint32_t count, uint32_t most)
{
    static const char *const smooth[] = {"·", "░", "▒", "▓", "█"};
    static const char *const plain[] = {".", ":", "+", "%", "#"};
    int level = count == 0 ? 0 : 1 + (int)fmin(3, 4 * sqrt((double)count / most));
    return cli_has_unicode() ? smooth[level] : plain[level];
}

static void say_cells(const cli_data_facts *facts, uint32_t agent, uint32_t fullest)
{
    const uint32_t *row = facts->counts + (size_t)agent * facts->columns;
    for (uint32_t c = 0; c < facts->columns; c++)
        printf("%s%s", shade(row[c], fullest), shade(row[c], fullest));
    printf("  ");
}

static uint32_t rows_of(const cli_data_facts *facts, uint32_t agent)
{
    uint32_t rows = 0;
    for (uint32_t c = 0; c < facts->columns; c++)
        rows += facts->counts[(size_t)agent * facts->columns + c];
    return rows;
}

static void say_partition(const cli_data_facts *facts)
{
    const tacit_description *about = &facts->about;
    uint32_t shown = about->agents < ROWS_SHOWN ? about->agents : ROWS_SHOWN, fullest = 0;
    for (size_t k = 0; k < (size_t)about->agents * facts->columns; k++)
        fullest = facts->counts[k] > fullest ? facts->counts[k] : fullest;
    bool cells = about->classes > 1;
    char count[40];
    cli_count(about->agents, count, sizeof count);
    printf("\n  %s%-*s%s", cli_faint(), NAME_COLUMNS + 2, "agent", "");
    if (cells)
        printf("%-*s  ", 2 * (int)facts->columns < 6 ? 6 : 2 * (int)facts->columns, "labels");
    printf("%9s%s", "records", cli_plain());
    if (shown < about->agents)
        printf("%s  (%" PRIu32 " of %s agents)%s", cli_faint(), shown, count, cli_plain());
    putchar('\n');
    for (uint32_t k = 0; k < shown; k++) {
        uint32_t agent = (uint32_t)((uint64_t)k * about->agents / shown);
        char number[TACIT_NUMBER_MAX];
        printf("  ");
        say_name(tacit_dataset_name(facts->source.data, agent, number), NAME_COLUMNS);
        printf("  ");
        if (cells) {
            say_cells(facts, agent, fullest);
            printf("%*s", facts->columns < 3 ? 6 - 2 * (int)facts->columns : 0, "");
        }
        uint32_t rows = rows_of(facts, agent);
        cli_count(rows, count, sizeof count);
        printf("%9s ", count);
        cli_bar(about->all.most > 0 ? (double)rows / about->all.most : 0, 12, true);
        putchar('\n');
    }
}

void cli_data_words(const cli_data_facts *facts)
{
    const tacit_description *about = &facts->about;
    const tacit_data_options *o = &facts->experiment->data;
    char text[200], count[40], choice[100];
    printf("%s%s%s\n", cli_bold(), facts->experiment->run.name, cli_plain());
    cli_data_choice(facts, "source", choice, sizeof choice);
    say("source", choice);
    say_files(facts);
    cli_count(about->agents, count, sizeof count);
    cli_data_partition(facts, choice, sizeof choice);
    snprintf(text, sizeof text, "%s; %s", count, choice);
    say("agents", text);
    if (about->empty > 0) {
        cli_count(about->empty, count, sizeof count);
        say("without records", count);
    }
    snprintf(text, sizeof text, "%zu", about->features);
    say("features", text);
    cli_bytes(tacit_dataset_bytes(facts->source.data), count, sizeof count);
    snprintf(text, sizeof text, "%s in %s", count, o->storage ? "a nameless file" : "memory");
    say("stored", text);
    if (facts->source.dropped > 0) {
        cli_count(facts->source.dropped, count, sizeof count);
        snprintf(text, sizeof text, "%s records with a missing value", count);
        say("left out", text);
    }
    if (facts->source.blank > 0) {
        cli_count(facts->source.blank, count, sizeof count);
        snprintf(text, sizeof text, "%s records with a missing value, which count", count);
        say("blank", text);
    }
    if (facts->source.public_records > 0) {
        cli_count(facts->source.public_records, count, sizeof count);
        snprintf(text, sizeof text, "%s records that nobody owns", count);
        say("public", text);
    }
    say_labels(about);
    snprintf(text, sizeof text, "of a record: at most %.6g, mean %.6g", about->norm_most,
             about->norm_mean);
    say("norm", text);
    say_leaks(facts);
    say_scored(facts);
    say_splits(about);
    say_partition(facts);
}

/* ---- known sets ---- */

void cli_data_known(void)
{
    for (size_t k = 0; k < tacit_known_set_count; k++) {
        const tacit_known_set *set = &tacit_known_sets[k];
        printf("%s%s%s\n", cli_bold(), set->name, cli_plain());
        say("what", set->what);
        say("terms", set->terms);
        say("where", set->source);
        char files[1000];
        int used = 0;
        const char *last = "";
        for (size_t f = 0; f < tacit_known_file_count && used >= 0; f++) {
            const tacit_known_file *file = &tacit_known_files[f];
            if (file->set != set || strcmp(file->name, last) == 0 || used > 800)
                continue;
            used += snprintf(files + used, sizeof files - (size_t)used, "%s%s",
                             used > 0 ? ", " : "", file->name);
            last = file->name;
        }
        say("files", used > 0 ? files : "");
    }
}
