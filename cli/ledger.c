/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit ledger: look at a ledger, of a run (ledger.jsonl) or of a peer (its SQLite file), after
 * checking its seal. Nothing is added to it.
 */
#include "ledger.h"
#include "base/file.h"
#include "experiment/ledger_read.h"
#include "experiment/ledger_write.h"
#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const mechanisms[] = {"none", "laplace", "gaussian", NULL};
static const char *const units[] = {"known", "record", "user", NULL};
static const char *const adjacencies[] = {"known", "replace", "add-remove", NULL};

#define AT(member) .offset = offsetof(ledger_flags, member)
static const tacit_option options[] = {
    {.key = "key",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'k',
     .value_name = "FILE",
     .help = "the key it was sealed with; otherwise FILE.key, if that is there",
     AT(key)},
    {.key = "last",
     .type = TACIT_OPT_INT,
     .fallback = "20",
     .min = 0,
     .max = 1e15,
     .letter = 'n',
     .help = "show: so many entries of a peer or runs of a data set, the latest, or accounts of a "
             "run, the first",
     AT(last)},
    CLI_FLAG_SWITCH("json", 'j',
                    "show: all entries as JSON lines, sealed like the ledger; of a lifetime "
                    "ledger, and plan: as JSON",
                    AT(json)),
    {.key = "svg",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "show: draw what was spent on each data set, run by run, along its budget",
     AT(svg)},
    CLI_FLAG_SWITCH("force", 'f', "show: write over the file of --svg", AT(force)),
    {.key = "lifetime",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'l',
     .value_name = "FILE",
     .help = "plan, budget, join: the lifetime ledger; otherwise your own, "
             "~/.local/state/tacit/lifetime.ledger",
     AT(lifetime)},
    {.key = "data-set",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'd',
     .value_name = "NAME",
     .help = "show: only this one; plan: which one; otherwise the only one there is",
     AT(data_set)},
    {.key = "epsilon",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e30,
     .letter = 'e',
     .value_name = "E",
     .help = "budget: of all runs together; plan: the budget of the run",
     AT(epsilon)},
    {.key = "delta",
     .type = TACIT_OPT_REAL,
     .fallback = "1e-5",
     .min = 0,
     .max = 0.5,
     .value_name = "D",
     .help = "and its delta; for a lifetime several times that of its runs",
     AT(delta)},
    {.key = "unit",
     .type = TACIT_OPT_CHOICE,
     .fallback = "known",
     .choices = units,
     .help = "budget, plan: what the epsilon is for; known: as of the data set, else a record",
     AT(unit)},
    {.key = "adjacency",
     .type = TACIT_OPT_CHOICE,
     .fallback = "known",
     .choices = adjacencies,
     .help = "budget, plan: and between which data; known: as of the data set, else replace",
     AT(adjacency)},
    {.key = "filter",
     .type = TACIT_OPT_CHOICE,
     .fallback = "any",
     .choices = tacit_filter_names,
     .help = "budget: by which theorem it is kept (see docs/lifetime.md)",
     AT(filter)},
    {.key = "aside",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1,
     .value_name = "PART",
     .help = "budget: of delta, for what runs reserve as a whole; 0: half of it",
     AT(aside)},
    {.key = "mechanism",
     .type = TACIT_OPT_CHOICE,
     .fallback = "none",
     .choices = mechanisms,
     .letter = 'm',
     .help = "plan: the noise of the run, with --noise and --releases",
     AT(mechanism)},
    {.key = "noise",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = 0,
     .max = 1e30,
     .help = "plan: scale or sigma over the norm that records are clipped to, like privacy.noise",
     AT(noise)},
    {.key = "releases",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 1,
     .max = 1e15,
     .letter = 'r',
     .help = "plan: how many of them",
     AT(releases)},
    {.key = "sampling",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = 0,
     .max = 1,
     .help = "plan: each record takes part in a release with this probability",
     AT(sampling)},
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(ledger_flags)};

static const cli_example examples[] = {
    {"tacit ledger verify runs/demo-1/ledger.jsonl", "was it cut or edited? exit code 6 if so"},
    {"tacit ledger show runs/demo-1/ledger.jsonl", "who released what, and how often"},
    {"tacit ledger show alice.ledger --last 5", "the last entries of a peer, and what is spent"},
    {"tacit ledger show alice.ledger --json > alice.jsonl", "to hand on, sealed with the same key"},
    {"tacit ledger show", "what all your runs have spent on each data set, and what is left"},
    {"tacit ledger show --svg spent.svg", "and as a picture"},
    {"tacit ledger plan consortium.yaml --data-set patients",
     "what one more run would cost; exit code 5 if it would be refused"},
    {"tacit ledger plan --mechanism gaussian --noise 4 --releases 100", "or any run, by its noise"},
    {"tacit ledger budget patients --epsilon 3 --delta 1e-5",
     "what all runs over a data set may spend, set once"},
    {"tacit ledger join patients patients-2026", "two names for the same records"},
};

/* A ledger of either kind, verified. */
typedef struct opened {
    const char *path;
    tacit_key key;
    bool has_key;
    tacit_ledger_file *file;  /* of a peer, or */
    tacit_ledger_lines lines; /* lines, and */
    char *text;               /* what they were read from */
    size_t len;
} opened;

static bool is_there(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file)
        fclose(file);
    return file != NULL;
}

/* A peer's file: SQLite by its first bytes; or no lines at all, with a key beside it, so that one
 * whose beginning was destroyed is not taken for bad JSON. */
static bool is_store(const char *path, const char *beside)
{
    static const char magic[16] = "SQLite format 3";
    char start[sizeof magic] = "";
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    const bool read = fread(start, 1, sizeof start, file) == sizeof start;
    fclose(file);
    return (read && memcmp(start, magic, sizeof magic) == 0) ||
           (is_there(beside) && start[0] != '{');
}

static tacit_status open_ledger(opened *o, const ledger_flags *flags, tacit_error *err)
{
    char beside[CLI_PATH_MAX];
    snprintf(beside, sizeof beside, "%.*s.key", (int)sizeof beside - 5, o->path);
    const bool store = is_store(o->path, beside);
    const char *key = *flags->key ? flags->key : beside;
    tacit_status status = TACIT_OK;
    if (*flags->key || store || is_there(beside)) {
        status = tacit_key_read(&o->key, key, err);
        o->has_key = status == TACIT_OK;
    }
    if (status)
        return status;
    if (store)
        return tacit_ledger_file_look(&o->file, o->path, &o->key, err);
    status = tacit_file_read(&o->text, &o->len, o->path, (size_t)1 << 30, err);
    if (status)
        return status;
    return tacit_ledger_read_text(&o->lines, o->path, o->text, o->len, o->has_key ? &o->key : NULL,
                                  err);
}

static void close_ledger(opened *o)
{
    tacit_key_wipe(&o->key);
    tacit_ledger_file_close(o->file, 0, NULL);
    tacit_ledger_lines_clear(&o->lines);
    free(o->text);
}

/* ---- verify ---- */

static tacit_status verify(const opened *o, tacit_error *err)
{
    if (o->file) {
        printf("%s: whole, sealed with its key; agent %" PRIu64 " \"%s\", %" PRIu64
               " releases, %zu of them not yet sent\n",
               o->path, tacit_ledger_file_holder(o->file)->agent,
               tacit_ledger_file_holder(o->file)->name,
               tacit_ledger_releases(tacit_ledger_file_ledger(o->file)),
               tacit_ledger_file_pending(o->file, NULL, 0));
        return TACIT_OK;
    }
    if (o->lines.seal == TACIT_SEAL_NONE)
        return tacit_fail(err, TACIT_NO,
                          "\"%.300s\" has no seal: %zu lines that make sense, written by anyone",
                          o->path, o->lines.count);
    printf("%s: whole, %s; %zu lines, %" PRIu64 " agents\n", o->path,
           o->lines.seal == TACIT_SEAL_KEY
               ? "sealed with its key"
               : "not cut or edited by accident (the seal of a run, which anyone could make)",
           o->lines.count, o->lines.agents);
    return TACIT_OK;
}

/* ---- show: a peer's ---- */

static void say_noise(const tacit_cost *cost, char *out, size_t size)
{
    if (cost->mechanism == TACIT_MECHANISM_NONE)
        snprintf(out, size, "bare");
    else if (cost->mechanism == TACIT_MECHANISM_RESPONSE)
        snprintf(out, size, "epsilon %.4g, %u ways", cost->noise, (unsigned)cost->categories);
    else
        snprintf(out, size, "%.4g for %.4g", cost->noise, cost->sensitivity);
}

typedef struct table {
    uint64_t skip; /* entries before the first that is shown */
    const tacit_ledger_file *file;
    uint64_t *pending;
    size_t waiting;
} table;

static tacit_status show_entry(void *context, const tacit_ledger_record *r, tacit_error *err)
{
    (void)err;
    const table *t = context;
    char noise[60];
    bool waits = false;
    if (r->entry <= t->skip)
        return TACIT_OK;
    for (size_t k = 0; k < t->waiting && !waits; k++)
        waits = t->pending[k] == r->release;
    say_noise(r->cost, noise, sizeof noise);
    printf("  %8" PRIu64 " %8" PRIu64 "  %-14.14s %-9s %-20.20s %s\n", r->entry, r->release,
           r->cost->what, tacit_mechanism_name(r->cost->mechanism), noise,
           r->forfeited ? "forfeited"
           : waits      ? "waits"
                        : "sent");
    return TACIT_OK;
}

/* A peer's ledger counts for one unit and one adjacency: those of its first entry. */
static void say_unit(const tacit_ledger *ledger, char *out, size_t size)
{
    for (uint32_t k = 0; k < ledger->count; k++) {
        const tacit_cost *cost = ledger->entries[k].cost;
        if (ledger->entries[k].releases == 0)
            continue;
        snprintf(out, size, "for one %s (adjacency %s)", tacit_unit_name(cost->unit),
                 tacit_adjacency_name(cost->adjacency));
        return;
    }
    snprintf(out, size, "(of what unit and adjacency, the first release will say)");
}

static tacit_status say_spent(const opened *o, tacit_error *err)
{
    const tacit_budget *b = &tacit_ledger_file_holder(o->file)->budget;
    char spent[40], budget[40], unit[100], text[400];
    double epsilon;
    tacit_status status =
        tacit_ledger_file_epsilon(o->file, b->accountant, b->delta, &epsilon, err);
    if (status)
        return status;
    if (isnan(epsilon))
        snprintf(spent, sizeof spent, "unknown to this accountant");
    else
        cli_epsilon(epsilon, spent, sizeof spent);
    cli_epsilon(b->epsilon, budget, sizeof budget);
    say_unit(tacit_ledger_file_ledger(o->file), unit, sizeof unit);
    snprintf(text, sizeof text, "epsilon %s of %s at delta %g %s, by %s", spent, budget, b->delta,
             unit, tacit_accountant_names[b->accountant]);
    printf("  %-22s", "spent");
    cli_wrap(text, 24, 24);
    snprintf(text, sizeof text, "adversary \"%s\", that sees %s", tacit_trust_name(b->trust),
             tacit_trust_words(b->trust));
    printf("  %-22s", "against whom");
    cli_wrap(text, 24, 24);
    return TACIT_OK;
}

static tacit_status show_file(const opened *o, const ledger_flags *flags, tacit_error *err)
{
    const uint64_t all = tacit_ledger_releases(tacit_ledger_file_ledger(o->file));
    const uint64_t shown = all < (uint64_t)flags->last ? all : (uint64_t)flags->last;
    table t = {.skip = all - shown,
               .file = o->file,
               .waiting = tacit_ledger_file_pending(o->file, NULL, 0)};
    printf("%s%s%s: agent %" PRIu64 " \"%s\", %" PRIu64 " release%s\n", cli_bold(), o->path,
           cli_plain(), tacit_ledger_file_holder(o->file)->agent,
           tacit_ledger_file_holder(o->file)->name, all, all == 1 ? "" : "s");
    tacit_status status = say_spent(o, err);
    if (status || shown == 0)
        return status;
    t.pending = calloc(t.waiting + 1, sizeof *t.pending);
    if (!t.pending)
        return tacit_out_of_memory(err);
    tacit_ledger_file_pending(o->file, t.pending, t.waiting);
    printf("\n  %8s %8s  %-14s %-9s %-20s\n", "entry", "release", "what", "mechanism",
           "noise, sensitivity");
    status = tacit_ledger_file_each(o->file, show_entry, &t, err);
    free(t.pending);
    return status;
}

/* ---- show: lines ---- */

static void show_account(const tacit_ledger_lines *lines, const tacit_ledger_account *a)
{
    for (size_t k = 0; k < a->count; k++) {
        const tacit_ledger_part *part = &lines->part[a->first + k];
        char noise[60], who[40] = "", agents[24] = "";
        say_noise(part->cost, noise, sizeof noise);
        if (k == 0) {
            snprintf(who, sizeof who, "%" PRIu64, a->agent);
            snprintf(agents, sizeof agents, "%" PRIu64, a->agents);
        }
        printf("  %8s %8s  %-14.14s %-9s %-20.20s %10" PRIu64 "%s\n", who, agents, part->cost->what,
               tacit_mechanism_name(part->cost->mechanism), noise, part->releases,
               part->cost->claimed ? "  UNSOUND" : "");
    }
}

static void show_lines(const opened *o, const ledger_flags *flags)
{
    static const char *const seals[] = {
        [TACIT_SEAL_NONE] = "none: written by anyone",
        [TACIT_SEAL_RUN] = "whole: not cut or edited by accident",
        [TACIT_SEAL_KEY] = "whole, sealed with its key",
    };
    const tacit_ledger_lines *l = &o->lines;
    char text[200];
    printf("%s%s%s: %" PRIu64 " agents, %zu lines\n", cli_bold(), o->path, cli_plain(), l->agents,
           l->count);
    printf("  %-22s%s\n", "seal", seals[l->seal]);
    if (*l->unit) {
        snprintf(text, sizeof text, "one %s, adjacency %s%s%s", l->unit, l->adjacency,
                 *l->adversary ? ", adversary " : "", l->adversary);
        printf("  %-22s%s\n", "an epsilon is for", text);
    } else
        printf("  %-22s%s\n", "an epsilon is for", "the lines do not say");
    if (l->claimed) {
        printf("  %-22s", "UNSOUND");
        cli_wrap("sensitivities were claimed and nothing enforced them: an epsilon made of these "
                 "lines is no guarantee",
                 24, 24);
    }
    printf("  %-22stacit account compose FILE\n", "how much was spent");
    const size_t shown = l->accounts < (uint64_t)flags->last ? l->accounts : (size_t)flags->last;
    if (shown > 0)
        printf("\n  %8s %8s  %-14s %-9s %-20s %10s\n", "from", "agents", "what", "mechanism",
               "noise, sensitivity", "releases");
    for (size_t k = 0; k < shown; k++)
        show_account(l, &l->account[k]);
    if (shown < l->accounts)
        printf("  and %zu more groups of agents; see --last\n", l->accounts - shown);
}

static tacit_status show_json(const opened *o, tacit_error *err)
{
    if (!o->file) {
        fwrite(o->text, 1, o->len, stdout);
        return TACIT_OK;
    }
    tacit_writer out = {0};
    tacit_status status = tacit_ledger_export(o->file, &o->key, &out, err);
    if (!status)
        fwrite(out.text, 1, out.len, stdout);
    tacit_writer_clear(&out);
    return status;
}

/* ---- the verb ---- */

static tacit_status look(const char *path, bool shows, const ledger_flags *flags, tacit_error *err)
{
    opened o = {.path = path};
    tacit_status status = open_ledger(&o, flags, err);
    if (!status && !shows)
        status = verify(&o, err);
    else if (!status && flags->json)
        status = show_json(&o, err);
    else if (!status && o.file)
        status = show_file(&o, flags, err);
    else if (!status)
        show_lines(&o, flags);
    close_ledger(&o);
    return status;
}

static tacit_status look_at_life(const char *path, bool shows, const ledger_flags *flags,
                                 tacit_error *err)
{
    life l;
    if (shows)
        return ledger_life_show(path, flags, err);
    tacit_status status = ledger_life_open(&l, path, false, err);
    if (status)
        return status;
    printf("%s: whole, sealed with its key; %zu data set%s\n", l.path, l.view->count,
           l.view->count == 1 ? "" : "s");
    ledger_life_close(&l);
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const ledger_flags *flags = args->flags;
    const char *what = args->word_count > 0 ? args->words[0] : "";
    const char *path = args->word_count > 1 ? args->words[1] : "";
    const bool shows = strcmp(what, "show") == 0;
    if (strcmp(what, "plan") == 0)
        return ledger_life_plan(args, err);
    if (strcmp(what, "budget") == 0)
        return ledger_life_budget(args, err);
    if (strcmp(what, "join") == 0)
        return ledger_life_join(args, err);
    if (!shows && strcmp(what, "verify") != 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "expected \"tacit ledger verify FILE\", \"tacit ledger show FILE\" or "
                          "one of plan, budget, join%s%.100s%s",
                          *what ? ", not \"" : "", what, *what ? "\"" : "");
    if (args->word_count > 2 || (args->word_count < 2 && !shows))
        return tacit_fail(err, TACIT_EUSAGE, "expected one ledger, as in \"tacit ledger %s FILE\"",
                          what);
    if (!shows && (flags->json || *flags->svg))
        return tacit_fail(err, TACIT_EUSAGE, "--%s goes with \"tacit ledger show\"",
                          flags->json ? "json" : "svg");
    path = *path ? path : flags->lifetime;
    if (!*path || ledger_is_life(path))
        return look_at_life(path, shows, flags, err);
    if (*flags->svg)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--svg is for a lifetime ledger, and \"%.300s\" is none", path);
    return look(path, shows, flags, err);
}

static const char *const words[] = {"verify", "show", "plan", "budget", "join", NULL};

const cli_verb cli_ledger = {
    .name = "ledger",
    .argument = "verify|show|plan|budget|join [FILE]",
    .summary = "look at ledgers, check their seals, and budget all runs over a data set",
    .prose = "FILE is the ledger.jsonl of a run, such lines written by hand, the file a peer "
             "keeps (SQLite, with its key beside it), or a lifetime ledger; without FILE, show "
             "takes your own lifetime ledger, $XDG_STATE_HOME/tacit/lifetime.ledger or "
             "~/.local/state/tacit/lifetime.ledger. verify checks that nothing was cut, edited "
             "or moved: exit code 6 if something was, 1 if there is no seal to check. show "
             "checks too, then tells what is in it. How much was spent, by every accountant: "
             "\"tacit account compose FILE\". A lifetime ledger counts what all runs of nodes "
             "have spent on a data set, whose budget is set once (budget NAME --epsilon E --delta "
             "D); plan tells what one more run would cost, of a consortium.yaml, a node.yaml, an "
             "experiment or flags, with exit code 5 if it would be refused; join INTO FROM makes "
             "one data set of two.",
    .flags = &section,
    .words = words,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
