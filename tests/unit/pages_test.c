/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From run folders to pages: the tables a run leaves, what a page says of one run and of
 * several, and that folders which are broken, hostile, old or no runs at all are answered with
 * words.
 */
#include "testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/report_quantiles.h"
#include "report/writer.h"

/* ---- places and files ---- */

static int in_fresh_place(void **state)
{
    (void)state;
    char place[] = "pages_test.XXXXXX";
    return mkdtemp(place) && chdir(place) == 0 ? 0 : -1;
}

static void purge(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        unlinkat(dirfd(dir), e->d_name, 0);
    closedir(dir);
    rmdir(folder);
}

static int leave_place(void **state)
{
    (void)state;
    char here[4096];
    if (!getcwd(here, sizeof here))
        return -1;
    DIR *dir = opendir(".");
    for (struct dirent *e = readdir(dir); e; e = readdir(dir))
        if (e->d_name[0] != '.')
            purge(e->d_name);
    closedir(dir);
    return chdir("..") == 0 ? rmdir(here) : -1;
}

static char *slurp(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = malloc(size + 1);
    text[fread(text, 1, size, file)] = '\0';
    fclose(file);
    return text;
}

static void spit(const char *folder, const char *name, const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void forget(const char *folder, const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(unlink(path), 0);
}

/* ---- runs ---- */

static void run_into(const char *folder, const char *const *sets)
{
    static const char small[] = "run: {name: small, time: 12, every: 2, sample: 3, seed: 5}\n"
                                "data: {agents: 24, dimension: 5, test-records: 20, "
                                "validation-records: 7, min-records: 4, max-records: 60}\n"
                                "graph: {kind: k-out, k: 3}\n"
                                "protocol: {name: cd}\n";
    tacit_config config;
    tacit_experiment x;
    tacit_session *s = NULL;
    tacit_error err = {0};
    tacit_config_init(&config);
    check_ok(tacit_config_parse(&config, "small", small, strlen(small), &err), &err);
    for (; sets && *sets; sets++)
        check_ok(tacit_config_set(&config, *sets, &err), &err);
    check_ok(tacit_experiment_init(&x, &config, &err), &err);
    check_ok(tacit_session_create(&s, &x, 1, &err), &err);
    check_ok(tacit_session_run(s, &(tacit_run_request){.folder = folder}, &err), &err);
    tacit_session_free(s);
    tacit_experiment_clear(&x);
    tacit_config_clear(&config);
}

static char *page(const char *const *folders, size_t count)
{
    struct {
        char *html;
    } made = {NULL};
    tacit_error err = {0};
    check_ok(tacit_report_page(&made.html, folders, count, NULL, &err), &err);
    assert_non_null(made.html);
    return made.html;
}
#define PAGE(...)                            \
    page((const char *const[]){__VA_ARGS__}, \
         sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void refuse(const char *folder, const char *says)
{
    char *html = (char *)1;
    tacit_error err = {0};
    tacit_status status = tacit_report_page(&html, &folder, 1, NULL, &err);
    check_fails(status, TACIT_EINPUT, &err, says);
    assert_null(html);
}

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        n++;
    return n;
}

static void says(const char *html, const char *words)
{
    if (!strstr(html, words))
        fail_msg("the page does not say: %s", words);
}

/* A folder written by hand: two agents, two times. */
static void fake(const char *folder, const char *config, const char *more_summary,
                 const double objective[2])
{
    char text[2000];
    assert_int_equal(mkdir(folder, 0777), 0);
    spit(folder, "config.yaml", config);
    snprintf(
        text, sizeof text,
        "{\"schema\": \"tacit.run/1\", \"name\": \"fake\", \"protocol\": \"cd\", \"seed\": 1, "
        "\"complete\": true, \"time\": 1, \"agents\": 2, \"metrics\": {\"test_accuracy\": 0.5, "
        "\"test_accuracy_deviation\": 0.1, \"objective\": %.17g%s",
        objective[1], more_summary);
    spit(folder, "summary.json", text);
    snprintf(text, sizeof text,
             "time,agent,name,value\n0,all,test_accuracy,0.25\n0,all,objective,%.17g\n"
             "1,all,test_accuracy,0.5\n1,all,objective,%.17g\n",
             objective[0], objective[1]);
    spit(folder, "metrics.csv", text);
}
#define REST ", \"x\": 0}, \"messages\": 5, \"bytes\": 50}"

/* ---- quantiles ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void test_quantiles_are_those_of_the_sorted(void **state)
{
    (void)state;
    dice d = {17};
    const size_t sizes[] = {1, 2, 3, 4, 5, 20, 21, 100, 1001, 50000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 5; kind++) {
            size_t n = sizes[i];
            double *x = malloc(n * sizeof *x), *sorted = malloc(n * sizeof *sorted);
            for (size_t k = 0; k < n; k++) /* any, ties, all equal, up, down */
                x[k] = kind == 0   ? dice_normal(&d)
                       : kind == 1 ? (double)dice_below(&d, 5)
                       : kind == 2 ? 3
                       : kind == 3 ? (double)k
                                   : -(double)k;
            memcpy(sorted, x, n * sizeof *x);
            qsort(sorted, n, sizeof *sorted, ascending);
            double q[TACIT_QUANTILES];
            tacit_quantiles(x, n, q);
            for (size_t k = 0; k < TACIT_QUANTILES; k++) {
                double rank = tacit_quantile_share[k] * (double)(n - 1);
                size_t below = (size_t)rank, above = below + 1 < n ? below + 1 : below;
                double want =
                    sorted[below] + (rank - (double)below) * (sorted[above] - sorted[below]);
                if (q[k] != want)
                    fail_msg("n %zu kind %d quantile %zu: %g, not %g", n, kind, k, q[k], want);
            }
            free(x);
            free(sorted);
        }
    double q[TACIT_QUANTILES], none = 0;
    tacit_quantiles(&none, 0, q);
    assert_true(isnan(q[0]) && isnan(q[4]));
}

/* ---- what a run leaves ---- */

static void test_tables_of_a_run(void **state)
{
    (void)state;
    run_into("a", NULL);
    char *agents = slurp("a", "agents.csv"), *sizes = slurp("a", "sizes.csv");
    char *degrees = slurp("a", "degrees.csv"), *edges = slurp("a", "edges.csv");
    assert_int_equal(count_of(agents, "\n"), 25);
    says(agents, "agent,name,records,neighbours,degree,score,validation,loss\n0,0,");

    /* sizes and degrees against what agents.csv says of every agent */
    double score_sum = 0, ends = 0;
    for (char *line = strchr(agents, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        double records, neighbours, degree, score;
        assert_int_equal(
            sscanf(line, "%*u,%*u,%lf,%lf,%lf,%lf", &records, &neighbours, &degree, &score), 4);
        assert_true(records >= 4 && records <= 60 && degree == neighbours);
        score_sum += score;
        ends += neighbours;
    }
    double low, high, count, mean, q05, q95, last = -1, all = 0, sum = 0;
    for (char *line = strchr(sizes, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%*f,%*f,%*f,%lf", &low, &high, &count,
                                &mean, &q05, &q95),
                         6);
        assert_true(low > last && high >= low && q05 <= q95);
        last = high;
        all += count;
        sum += count * mean;
    }
    assert_true(all == 24 && fabs(sum - score_sum) < 1e-9);
    assert_true(count_of(sizes, "\n") <= 21);
    double agents_counted = 0, ends_counted = 0;
    for (char *line = strchr(degrees, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        assert_int_equal(sscanf(line, "%lf,%lf,%lf", &low, &high, &count), 3);
        assert_true(low == high);
        agents_counted += count;
        ends_counted += low * count;
    }
    assert_true(agents_counted == 24 && ends_counted == ends);
    assert_true(count_of(edges, "\n") == 1 + ends / 2);

    char *csv = slurp("a", "metrics.csv");
    says(csv, "\n12,all,test_accuracy_q05,");
    says(csv, "\n12,all,test_accuracy_q95,");
    char *own = slurp("a", "report.html"), *again = PAGE("a");
    assert_string_equal(own, again);
    free(agents);
    free(sizes);
    free(degrees);
    free(edges);
    free(csv);
    free(own);
    free(again);
    purge("a");
}

static void test_large_graphs_leave_no_edges(void **state)
{
    (void)state;
    const char *const sets[] = {"data.agents=401", "run.time=0.1", "run.every=0", NULL};
    run_into("a", sets);
    assert_null(slurp("a", "edges.csv"));
    char *html = PAGE("a");
    says(html, "Agents by number of neighbours");
    assert_null(strstr(html, "The graph<"));
    free(html);
    purge("a");
}

/* ---- one run ---- */

static void test_page_of_one_run(void **state)
{
    (void)state;
    run_into("a", NULL);
    char *html = PAGE("a");
    const char *const words[] = {"<h1>small</h1>",
                                 "protocol cd, seed 5, time 12 of 12",
                                 "Objective gap",
                                 "Test accuracy against time",
                                 "Test accuracy against messages sent",
                                 "Spread over agents",
                                 "Test accuracy by local data",
                                 "Agents by their final test",
                                 "<h3>Messages</h3>",
                                 "<h3>Bytes</h3>",
                                 "The graph",
                                 "Agents by number of neighbours",
                                 "unbounded at delta 1e-05",
                                 "&quot;local&quot; that sees"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        says(html, words[i]);
    assert_null(strstr(html, "interrupted"));
    assert_null(strstr(html, "leaks"));
    assert_null(strstr(html, "lacks"));
    free(html);
    purge("a");
}

static void test_leaks_and_interruptions_stand_out(void **state)
{
    (void)state;
    const double objective[2] = {9, 5};
    fake("a", "run: {seed: 1, time: 8}\n",
         "}, \"privacy\": {\"epsilon\": 2, \"delta\": 1e-6, \"leaks\": [\"the <b>graph</b>\", "
         "\"scales\"]}}",
         objective);
    char *summary = slurp("a", "summary.json");
    char *html = PAGE("a");
    says(html, "<p class=\"warn\">This run leaks: the &lt;b&gt;graph&lt;/b&gt;; scales.");
    free(html);
    memcpy(strstr(summary, "true"), "null", 4); /* complete: not said */
    spit("a", "summary.json", summary);
    html = PAGE("a");
    says(html, "<p class=\"warn\">This run was interrupted at time 1 of 8.");
    free(html);
    free(summary);
    purge("a");
}

static void test_old_runs_get_a_page_with_a_remark(void **state)
{
    (void)state;
    run_into("a", NULL);
    forget("a", "agents.csv");
    forget("a", "sizes.csv");
    forget("a", "degrees.csv");
    forget("a", "edges.csv");
    char *html = PAGE("a");
    says(html, "The folder lacks agents.csv sizes.csv degrees.csv");
    says(html, "Objective gap");
    assert_null(strstr(html, "by local data"));
    assert_null(strstr(html, "Who talks to whom"));
    free(html);
    purge("a");
}

/* ---- several runs ---- */

static void test_runs_are_compared(void **state)
{
    (void)state;
    const char *const alone[] = {"protocol.name=alone", NULL};
    const char *const firm[] = {"protocol.mu=20", NULL};
    run_into("a", NULL);
    run_into("b", alone);
    run_into("c", firm);
    char *html = PAGE("a", "b", "c");
    says(html, "<p class=\"sub\">3 runs compared</p>");
    says(html, "<th>protocol.mu</th>");
    says(html, "<th>protocol.name</th>");
    assert_null(strstr(html, "<th>graph.k</th>")); /* the same everywhere */
    assert_null(strstr(html, "<th>run.name</th>"));
    says(html, "<span>cd, mu=5</span>");
    says(html, "<span>cd, mu=20</span>");
    says(html, "<span>alone</span>");
    free(html);
    html = PAGE("a", "b"); /* one key tells these apart */
    says(html, "<span>cd</span>");
    says(html, "<h1>cd and alone</h1>");
    free(html);
    purge("a");
    purge("b");
    purge("c");
}

/* Two seeds: mean and Student's interval, against numbers worked out by hand. */
static void test_seeds_become_one_mean(void **state)
{
    (void)state;
    const double objective[2] = {9, 5};
    fake("a", "run: {seed: 1}\n", REST, objective);
    fake("b", "run: {seed: 2, name: other}\n", REST, objective);
    fake("c", "run: {seed: 3}\n", REST, objective);
    char *csv = slurp("b", "metrics.csv"), *old = slurp("a", "metrics.csv");
    memcpy(strstr(csv, "1,all,test_accuracy,0.5\n"), "1,all,test_accuracy,0.9\n", 24);
    spit("b", "metrics.csv", csv);
    memcpy(strstr(csv, "1,all,test_accuracy,0.9\n"), "1,all,test_accuracy,0.7\n", 24);
    spit("c", "metrics.csv", csv);
    char *html = PAGE("a", "b", "c");
    says(html, "3 runs of 1 configuration");
    says(html, "(3 seeds)</span>");
    says(html, "<td>1, 2, 3</td>");
    assert_null(strstr(html, "<th>run.name</th>"));
    /* mean 0.7; t = 4.3027 with 2 degrees of freedom, s = 0.2: half width 0.4968. The axis runs
     * from 0.2 to 1.2, 284 to 12: the end of the band stands at 12.9 and 283.1. */
    const char *band = strstr(html, "<polygon");
    assert_non_null(band);
    char want[200];
    snprintf(want, sizeof want, "points=\"70,270.4 622,%.1f 622,%.1f 70,270.4 \"",
             284 - 272 * (0.7 + 0.49683 - 0.2), 284 - 272 * (0.7 - 0.49683 - 0.2));
    says(band, want);
    free(html);
    /* Other configurations, and interrupted runs, are no seeds of each other. */
    spit("c", "config.yaml", "run: {seed: 3, time: 7}\n");
    html = PAGE("a", "b", "c");
    says(html, "(2 seeds)</span>");
    free(html);
    spit("c", "config.yaml", "run: {seed: 3}\n"); /* now the others have a key that it lacks */
    spit("a", "config.yaml", "run: {seed: 1, time: 7}\n");
    spit("b", "config.yaml", "run: {seed: 2, time: 7}\n");
    html = PAGE("a", "b", "c");
    says(html, "(2 seeds)</span>");
    free(html);
    free(csv);
    free(old);
    purge("a");
    purge("b");
    purge("c");
}

/* The gap is to the lowest of the same problem, or to the optimum where it is known. */
static void test_gap_is_to_the_lowest_of_the_problem(void **state)
{
    (void)state;
    const double first[2] = {9, 5}, second[2] = {9, 4};
    const char *const same = "run: {seed: 1}\nprotocol: {name: cd, mu: 1}\n";
    fake("a", same, REST, first);
    fake("b", "run: {seed: 1}\nprotocol: {name: cd2, mu: 1}\n", REST, second);
    char *html = PAGE("a", "b");
    /* 9 - 4 = 5 and 5 - 4 = 1 on an axis from 1 to 5; b itself ends where it is lowest */
    says(html, "points=\"70,12 622,284 \"");
    says(html, "same data, graph, model, seed and mu");
    free(html);
    purge("b");
    fake("b", "run: {seed: 1}\nprotocol: {name: cd2, mu: 2}\n", REST, second);
    html = PAGE("a", "b"); /* another mu, another problem: 9 - 5 = 4 and 9 - 4 = 5 */
    assert_null(strstr(html, "points=\"70,12 622,284 \""));
    free(html);
    purge("a");
    purge("b");
    fake("a", same, ", \"optimum\": 4}}", first);
    html = PAGE("a");
    says(html, "points=\"70,12 622,284 \"");
    says(html, "above its optimum");
    free(html);
    purge("a");
}

/* ---- what is refused ---- */

static void test_wrong_folders_are_refused(void **state)
{
    (void)state;
    char *html;
    tacit_error err = {0};
    const double objective[2] = {9, 5};
    refuse("nowhere", "cannot open the run folder \"nowhere\"");
    assert_int_equal(mkdir("a", 0777), 0);
    refuse("a", "not the folder of a run that ended: it has no summary.json");
    purge("a");
    fake("a", "run: {seed: 1}\n", REST, objective);
    const char *const twice[] = {"a", "./a/"};
    check_fails(tacit_report_page(&html, twice, 2, NULL, &err), TACIT_EINPUT, &err, "given twice");
    const char *many[13];
    for (size_t i = 0; i < 13; i++)
        many[i] = "a";
    check_fails(tacit_report_page(&html, many, 13, NULL, &err), TACIT_EUSAGE, &err, "1 to 12");
    check_fails(tacit_report_page(&html, many, 0, NULL, &err), TACIT_EUSAGE, &err, "1 to 12");
    forget("a", "config.yaml");
    refuse("a", "it has no config.yaml");
    spit("a", "config.yaml", "run: {seed: 1}\n");
    forget("a", "metrics.csv");
    refuse("a", "metrics.csv\" is missing");
    purge("a");
}

static void test_broken_files_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *name, *text, *says;
    } wrong[] = {
        {"summary.json", "{\"schema\": \"tacit.run/1\", \"na", "summary.json\", line 1"},
        {"summary.json", "{\"schema\": \"tacit.run/2\"}", "schema \"tacit.run/2\""},
        {"summary.json", "[]", "schema \"\""},
        {"summary.json", "", "expected a value"},
        {"config.yaml", "run: [", "config.yaml"},
        {"metrics.csv", "time,agent,name,value\n0,all,obj", "was cut"},
        {"metrics.csv", "<html>", "was cut"},
        {"metrics.csv", "<html>\n", "another version"},
        {"metrics.csv", "time,agent,name,value\n1,all,x,2\n0,all,x,2\n", "goes back"},
        {"agents.csv", "agent\n", "another version"},
        {"sizes.csv", "low,high,agents,mean,q05,q25,q50,q75,q95\n1,2\n", "wrong number"},
        {"sizes.csv", "low,high,agents,mean,q05,q25,q50,q75,q95\nx,2,1,1,1,1,1,1,1\n",
         "expected a number"},
        {"degrees.csv", "low,high,agents\n1,1,1", "was cut"},
        {"edges.csv", "a,b,weight\n0,99,1\n", "leads to no agent"},
        {"edges.csv", "a,b,weight\n0,0.5,1\n", "leads to no agent"},
        {"edges.csv", "a,b,weight\n0,,1\n", "leads to no agent"},
    };
    const double objective[2] = {9, 5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        fake("a", "run: {seed: 1}\n", REST, objective);
        spit("a", wrong[i].name, wrong[i].text);
        refuse("a", wrong[i].says);
        purge("a");
    }
    /* a pipe must not hang */
    fake("a", "run: {seed: 1}\n", REST, objective);
    forget("a", "metrics.csv");
    assert_int_equal(mkfifo("a/metrics.csv", 0666), 0);
    refuse("a", "not a regular file");
    purge("a");
}

static void test_every_cut_of_a_real_run_is_answered(void **state)
{
    (void)state;
    run_into("a", NULL);
    const char *const names[] = {"summary.json", "metrics.csv", "agents.csv", "edges.csv"};
    for (size_t k = 0; k < 4; k++) {
        char *whole = slurp("a", names[k]), *cut = strdup(whole), *html;
        for (size_t len = strlen(whole) - 1; len > 0; len -= 1 + len / 7) {
            cut[len] = '\0';
            spit("a", names[k], cut);
            tacit_error err = {0};
            const char *folder = "a";
            tacit_status status = tacit_report_page(&html, &folder, 1, NULL, &err);
            /* cut after a whole line, a table is only shorter */
            if (status ? !strstr(err.text, names[k]) : whole[len - 1] != '\n' && k > 0)
                fail_msg("%s cut to %zu bytes: status %d, %s", names[k], len, status, err.text);
            free(html);
        }
        spit("a", names[k], whole);
        free(whole);
        free(cut);
    }
    purge("a");
}

static void test_names_cannot_break_the_page(void **state)
{
    (void)state;
    const char *const sets[] = {"run.name=<script>alert(1)<\\script>", NULL};
    run_into("a", sets);
    char *html = PAGE("a");
    assert_int_equal(count_of(html, "<script"), 1); /* ours */
    free(html);
    const char *folder = "a";
    tacit_error err = {0};
    check_ok(tacit_report_page(&html, &folder, 1, "</title><script>", &err), &err);
    assert_int_equal(count_of(html, "<script"), 1);
    says(html, "<h1>&lt;/title&gt;&lt;script&gt;</h1>");
    free(html);
    purge("a");
}

/* As many rows as a run may have, and more: the page stays small. */
static void test_pages_are_bounded(void **state)
{
    (void)state;
    const double objective[2] = {9, 5};
    fake("a", "run: {seed: 1}\n", REST, objective);
    tacit_writer text = {0};
    tacit_write_text(&text, TACIT_CSV_HEADER);
    for (int i = 0; i < 30000; i++) {
        tacit_csv_row(&text, i, TACIT_NOBODY, "test_accuracy", i % 3);
        tacit_csv_row(&text, i, TACIT_NOBODY, "objective", i == 29999 ? 1 : 2 + i % 5);
        tacit_csv_row(&text, i, 3, "noise", i);
    }
    spit("a", "metrics.csv", text.text);
    tacit_writer_clear(&text);
    tacit_write_text(&text, "agent,name,records,neighbours,degree,score,validation,loss\n");
    for (int i = 0; i < 2000; i++)
        tacit_write_format(&text, "%d,%d,%d,3,3,%g,,\n", i * 500, i, i % 90, 0.5 + i % 50 * 0.01);
    spit("a", "agents.csv", text.text);
    tacit_write_text(&text, "1,1,1,1,1,1,,\n");
    char *html = PAGE("a");
    assert_true(strlen(html) < 500000);
    says(html, " 621.98,"); /* the last time, 29999 of 30000, is there */
    free(html);
    spit("a", "agents.csv", text.text);
    refuse("a", "more than 2000 rows");
    tacit_writer_clear(&text);
    purge("a");
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, in_fresh_place, leave_place)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_are_those_of_the_sorted),
        IN_PLACE(test_tables_of_a_run),
        IN_PLACE(test_large_graphs_leave_no_edges),
        IN_PLACE(test_page_of_one_run),
        IN_PLACE(test_leaks_and_interruptions_stand_out),
        IN_PLACE(test_old_runs_get_a_page_with_a_remark),
        IN_PLACE(test_runs_are_compared),
        IN_PLACE(test_seeds_become_one_mean),
        IN_PLACE(test_gap_is_to_the_lowest_of_the_problem),
        IN_PLACE(test_wrong_folders_are_refused),
        IN_PLACE(test_broken_files_are_refused),
        IN_PLACE(test_every_cut_of_a_real_run_is_answered),
        IN_PLACE(test_names_cannot_break_the_page),
        IN_PLACE(test_pages_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
