/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit report: run folders in, one page out. The page appears complete or not at all. A file
 * that is there already is replaced only if it is such a page itself, and not the one a run
 * keeps in its folder, or if --force says so.
 */
#include "report/writer.h"
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct report_flags {
    bool json, force, quiet;
    char out[TACIT_TEXT_MAX];
    char title[TACIT_TEXT_MAX];
} report_flags;

#define AT(member) .offset = offsetof(report_flags, member)
static const tacit_option options[] = {
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "report.html",
     .letter = 'o',
     .value_name = "FILE",
     .help = "the page; - for standard output",
     AT(out)},
    {.key = "title",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "TEXT",
     .help = "what stands above the page; otherwise the name of the run, or how many they are",
     AT(title)},
    CLI_FLAG_SWITCH("force", 'f', "replace the file of --out, whatever it is", AT(force)),
    CLI_FLAG_SWITCH("json", 'j', "say what was written as JSON", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "say nothing", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(report_flags)};

static const cli_example examples[] = {
    {"tacit report runs/separators-1", "the page of one run"},
    {"tacit report runs/separators-* --title \"cd and alone\"", "runs side by side"},
    {"tacit report sweep/runs/00000[1-5] --out seeds.html", "five seeds as one mean"},
    {"tacit report runs/separators-1 --out - | wc -c", "to standard output"},
};

/* ---- the file ---- */

static bool is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

/* Does the file begin like our pages do? */
static bool is_page(const char *path)
{
    char start[600] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, start, sizeof start - 1);
    close(fd);
    start[n > 0 ? n : 0] = '\0';
    return strncmp(start, "<!doctype html>", 15) == 0 &&
           strstr(start, "<meta name=\"generator\" content=\"tacit\">") != NULL;
}

static bool is_in_run(const char *path)
{
    char beside[CLI_PATH_MAX];
    const char *slash = strrchr(path, '/');
    int len = slash ? (int)(slash - path + 1) : 0;
    snprintf(beside, sizeof beside, "%.*ssummary.json", len, path);
    return is_there(beside);
}

static tacit_status check_out(const char *path, bool force, tacit_error *err)
{
    struct stat info;
    if (!*path)
        return tacit_fail(err, TACIT_EUSAGE, "--out needs a name");
    if (lstat(path, &info) != 0)
        return TACIT_OK;
    if (S_ISDIR(info.st_mode))
        return tacit_fail(err, TACIT_EINPUT, "\"%.300s\" is a folder; name a file in it", path);
    if (force)
        return TACIT_OK;
    if (is_page(path) && is_in_run(path))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" belongs to the run in its folder; use another --out or "
                          "--force",
                          path);
    if (!is_page(path))
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.300s\" exists and is not a report; use another --out or --force",
                          path);
    return TACIT_OK;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

static tacit_status write_page(const char *path, const char *html, tacit_error *err)
{
    char temporary[CLI_PATH_MAX];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0)
        return tacit_fail(err, TACIT_EINPUT, "cannot write \"%.300s\": %s", path, strerror(errno));
    /* mkstemp made it for its owner alone (0600), which scores stay */
    bool good = write_all(fd, html, strlen(html)) && fsync(fd) == 0;
    int reason = errno;
    if (close(fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        reason = errno;
    }
    if (good)
        return TACIT_OK;
    unlink(temporary);
    return tacit_fail(err, TACIT_EINPUT, "cannot write \"%.300s\": %s", path, strerror(reason));
}

/* ---- the verb ---- */

static tacit_status say(const report_flags *flags, size_t runs, size_t bytes, tacit_error *err)
{
    char size[40];
    if (flags->json) {
        tacit_writer out = {0};
        tacit_json json = {.out = &out};
        tacit_json_begin(&json, NULL, '{');
        tacit_json_text(&json, "schema", "tacit.report/1");
        tacit_json_text(&json, "page", flags->out);
        tacit_json_count(&json, "runs", runs);
        tacit_json_count(&json, "bytes", bytes);
        tacit_json_end(&json, '}');
        return cli_print_text(tacit_writer_take(&out), err);
    }
    if (!flags->quiet) {
        cli_bytes(bytes, size, sizeof size);
        printf("%s  %zu run%s, %s; open it in a browser\n", flags->out, runs, runs == 1 ? "" : "s",
               size);
    }
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const report_flags *flags = args->flags;
    const bool piped = strcmp(flags->out, "-") == 0;
    if (args->word_count == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "no run; expected folders, as in \"tacit report runs/separators-1\"");
    if (piped && flags->json)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--json does not go with --out -: the page is the output");
    tacit_status status = piped ? TACIT_OK : check_out(flags->out, flags->force, err);
    if (status)
        return status;
    char *html;
    status = tacit_report_page(&html, args->words, args->word_count,
                               *flags->title ? flags->title : NULL, err);
    if (status)
        return status;
    if (piped)
        fputs(html, stdout);
    else if (!(status = write_page(flags->out, html, err)))
        status = say(flags, args->word_count, strlen(html), err);
    free(html);
    return status;
}

const cli_verb cli_report = {
    .name = "report",
    .argument = "RUN...",
    .summary = "make one HTML page about one run or several",
    .prose = "Reads the folders of up to 12 runs and writes one page that needs no network: their "
             "figures, the keys they differ in, the objective gap, scores against time and "
             "messages, who gained, what it cost and the graph. Runs that differ in run.seed only "
             "are drawn as one mean with its 95 % interval. Interrupted runs are welcome and "
             "marked. A page that is there already is replaced; anything else is left alone.",
    .flags = &section,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
