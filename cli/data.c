/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit data: what each agent of an experiment got, before anything is learned. Loads the records
 * as a run would, and looks at the files they came from.
 */
#include "data.h"

#include "data/bytes.h"
#include "terminal.h"
#include "verbs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct data_flags {
    bool json, known, force, quiet;
    char svg[TACIT_TEXT_MAX];
    char csv[TACIT_TEXT_MAX];
} data_flags;

#define AT(member) .offset = offsetof(data_flags, member)
static const tacit_option options[] = {
    CLI_FLAG_SWITCH("json", 'j', "print JSON (schema tacit.data/1) instead of words", AT(json)),
    {.key = "svg",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "write the partition as a picture",
     AT(svg)},
    {.key = "agents-csv",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "write a line an agent: records of each split and class",
     AT(csv)},
    CLI_FLAG_SWITCH("force", 'f', "replace the files of --svg and --agents-csv", AT(force)),
    {.key = "known",
     .type = TACIT_OPT_BOOL,
     .fallback = "false",
     .help = "list public data sets the program recognises, and where to get them",
     AT(known)},
    CLI_FLAG_SWITCH("quiet", 'q', "no remarks", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(data_flags)};

static const cli_example examples[] = {
    {"tacit data examples/csv.yaml", "agents, records, classes, and a picture in the terminal"},
    {"tacit data examples/csv.yaml --set data.partition=dirichlet --set data.agents=5 --svg p.svg",
     "the same records dealt by Dirichlet(alpha), as a picture"},
    {"tacit data examples/csv.yaml --json | python3 -m json.tool", "for programs"},
    {"tacit data patients.csv", "what a file is, and a section \"data\" to start from"},
    {"tacit data --known", "public data sets, and where to get them"},
};

/* ---- finding out ---- */

void cli_data_choice(const cli_data_facts *facts, const char *key, char *out, size_t size)
{
    const tacit_option *option = tacit_section_find(&tacit_data_section, key, strlen(key));
    snprintf(out, size, "?");
    if (option)
        tacit_option_format(option, &facts->experiment->data, out, size);
}

void cli_data_partition(const cli_data_facts *facts, char *out, size_t size)
{
    const tacit_data_options *o = &facts->experiment->data;
    char name[40];
    cli_data_choice(facts, "partition", name, sizeof name);
    if (tacit_source_is_drawn(o->source))
        snprintf(out, size, "each draws its own");
    else if (o->source == TACIT_SOURCE_SHARDS)
        snprintf(out, size, "dealt before");
    else if (o->partition == TACIT_PARTITION_DIRICHLET || o->partition == TACIT_PARTITION_QUANTITY)
        snprintf(out, size, "partition %s, alpha %g", name, o->alpha);
    else if (o->partition == TACIT_PARTITION_CLASSES)
        snprintf(out, size, "partition %s, t %g", name, o->t);
    else if (o->partition == TACIT_PARTITION_SHARDS)
        snprintf(out, size, "partition %s, %lld each", name, (long long)o->shards);
    else
        snprintf(out, size, "partition %s", name);
}

size_t cli_data_leaks(const cli_data_facts *facts, const char *words[TACIT_LEAKS])
{
    static const struct {
        unsigned bit;
        const char *words;
    } all[] = {
        {TACIT_LEAK_FEATURES, "features"},
        {TACIT_LEAK_OFFSET, "offsets of labels"},
        {TACIT_LEAK_SCALE, "scales of features"},
        {TACIT_LEAK_WIDTH, "the number of features (data.width)"},
        {TACIT_LEAK_COUNT, "numbers of records (data.keep-count)"},
        {TACIT_LEAK_AGENTS, "which agents there are"},
        {TACIT_LEAK_SPLIT, "which records are for training"},
    };
    const tacit_adjacency adjacency = (tacit_adjacency)facts->experiment->privacy.adjacency;
    const unsigned leaks = tacit_source_leaks(&facts->source, adjacency);
    size_t count = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (leaks & all[k].bit)
            words[count++] = all[k].words;
    }
    return count;
}

static tacit_status add_files(cli_data_facts *facts, const char *key, const char *text,
                              tacit_error *err)
{
    const char *folder = facts->experiment->data.folder;
    tacit_paths paths;
    if (!text[0])
        return TACIT_OK;
    tacit_status status = tacit_paths_split(&paths, text, folder, key, err);
    for (size_t k = 0; k < paths.count && !status; k++) {
        cli_data_file *file = &facts->files[facts->file_count];
        long column;
        if (facts->file_count == CLI_DATA_FILES)
            break;
        snprintf(file->path, sizeof file->path, "%s", paths.item[k]);
        file->key = key;
        status = tacit_paths_column(file->path, folder, &column, err);
        if (!status)
            status = tacit_known_inspect(&file->facts, file->path, folder, err);
        facts->file_count += !status;
    }
    return status;
}

static tacit_status look_at_files(cli_data_facts *facts, tacit_error *err)
{
    const tacit_data_options *o = &facts->experiment->data;
    if (tacit_source_is_drawn(o->source) || o->source == TACIT_SOURCE_SHARDS)
        return TACIT_OK;
    if (!(facts->files = calloc(CLI_DATA_FILES, sizeof *facts->files)))
        return tacit_out_of_memory(err);
    tacit_status status = add_files(facts, "path", o->path, err);
    if (!status)
        status = add_files(facts, "labels-path", o->labels_path, err);
    if (!status)
        status = add_files(facts, "agents-path", o->agents_path, err);
    if (!status)
        status = add_files(facts, "test-path", o->test_path, err);
    if (!status)
        status = add_files(facts, "test-labels-path", o->test_labels_path, err);
    if (!status)
        status = add_files(facts, "items", o->items, err);
    if (!status)
        status = add_files(facts, "users", o->users, err);
    bool public = o->standardise == TACIT_STANDARDISE_PUBLIC;
    return status || !public ? status : add_files(facts, "constants", o->constants, err);
}

/* Columns of the picture: the classes, the rare ones together if there are many. */
static tacit_status count_columns(cli_data_facts *facts, tacit_error *err)
{
    const tacit_description *about = &facts->about;
    uint32_t classes = about->classes > 0 ? about->classes : 1, row[TACIT_DESCRIBED_CLASSES];
    bool others = classes > TACIT_PARTITION_CLASSES_DRAWN;
    size_t cells;
    facts->columns = others ? TACIT_PARTITION_CLASSES_DRAWN : classes;
    if (!tacit_mul_size(about->agents, facts->columns, &cells) ||
        !(facts->counts = calloc(cells, sizeof *facts->counts)) ||
        !(facts->column_names = calloc(facts->columns, sizeof *facts->column_names)))
        return tacit_out_of_memory(err);
    for (uint32_t c = 0; c < facts->columns; c++)
        snprintf(facts->column_names[c], sizeof facts->column_names[c], "%.6g", about->class[c]);
    if (others)
        snprintf(facts->column_names[facts->columns - 1], sizeof *facts->column_names, "other");
    for (uint32_t i = 0; i < about->agents; i++) {
        tacit_describe_agent(about, facts->source.data, i, row);
        uint32_t *to = facts->counts + (size_t)i * facts->columns;
        for (uint32_t c = 0; c < classes; c++)
            to[c < facts->columns ? c : facts->columns - 1] += row[c];
    }
    return TACIT_OK;
}

static void remark(const cli_data_facts *facts)
{
    char text[700], count[40];
    for (size_t k = 0; k < facts->file_count; k++) {
        const cli_data_file *file = &facts->files[k];
        if (!file->facts.named)
            continue;
        snprintf(text, sizeof text, "\"%.200s\" is called like a file of %s but differs from it",
                 file->path, file->facts.named->set->name);
        cli_remark(text);
    }
    if (facts->about.empty > 0) {
        cli_count(facts->about.empty, count, sizeof count);
        snprintf(text, sizeof text, "%s agent%s no records to learn from", count,
                 facts->about.empty == 1 ? " has" : "s have");
        cli_remark(text);
    }
}

static tacit_status find_out(cli_data_facts *facts, const tacit_experiment *experiment,
                             tacit_error *err)
{
    facts->experiment = experiment;
    tacit_status status = look_at_files(facts, err);
    if (!status)
        status = tacit_data_load(&facts->source, &experiment->data,
                                 tacit_model_options_scalar(&experiment->model),
                                 (uint64_t)experiment->run.seed, err);
    if (!status)
        status = tacit_describe(&facts->about, facts->source.data, err);
    return status ? status : count_columns(facts, err);
}

/* ---- showing ---- */

static tacit_status show(const cli_data_facts *facts, const data_flags *flags, tacit_error *err)
{
    tacit_status status = TACIT_OK;
    if (*flags->svg)
        status = cli_write_secret(flags->svg, cli_data_svg(facts), flags->force, err);
    if (!status && *flags->csv)
        status = cli_write_secret(flags->csv, cli_data_csv(facts), flags->force, err);
    if (status)
        return status;
    if (!flags->quiet)
        remark(facts);
    if (!flags->json) {
        cli_data_words(facts);
        return TACIT_OK;
    }
    char *json = cli_data_json(facts);
    if (!json)
        return tacit_out_of_memory(err);
    fputs(json, stdout);
    free(json);
    return TACIT_OK;
}

/* Is it a configuration, or a file of records? */
static bool is_config(const char *path)
{
    size_t len = strlen(path);
    return (len >= 5 && strcmp(path + len - 5, ".yaml") == 0) ||
           (len >= 4 && strcmp(path + len - 4, ".yml") == 0);
}

static tacit_status look(const cli_args *args, const data_flags *flags, tacit_error *err)
{
    const char *folder = getenv("TACIT_DATA");
    if (args->repeated_count > 0 || *flags->svg || *flags->csv || flags->json)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"%.200s\" is not called .yaml, so it is taken for a file of records, "
                          "which needs no flags",
                          args->words[0]);
    return cli_data_look(args->words[0], folder ? folder : "", err);
}

static tacit_status check_words(const cli_args *args, const data_flags *flags, tacit_error *err)
{
    size_t wanted = flags->known ? 0 : 1;
    if (args->word_count < wanted)
        return tacit_fail(err, TACIT_EUSAGE,
                          "no experiment; expected a file, as in \"tacit data "
                          "examples/csv.yaml\", or --known");
    if (args->word_count > wanted)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; %s", args->words[wanted],
                          flags->known ? "--known needs no file" : "one experiment at a time");
    if (flags->known && (args->repeated_count > 0 || *flags->svg || *flags->csv || flags->json))
        return tacit_fail(err, TACIT_EUSAGE, "--known is a list in words; it takes no other flags");
    return TACIT_OK;
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const data_flags *flags = args->flags;
    tacit_config config;
    tacit_experiment experiment = {0};
    cli_data_facts facts = {0};
    tacit_config_init(&config);
    tacit_status status = check_words(args, flags, err);
    if (status != TACIT_OK || flags->known)
        goto out;
    if (!is_config(args->words[0])) {
        status = look(args, flags, err);
        goto out;
    }
    status = cli_load_config(&config, args->words[0], args->repeated, args->repeated_count, err);
    if (status == TACIT_OK)
        status = tacit_experiment_init(&experiment, &config, err);
    if (status == TACIT_OK)
        status = find_out(&facts, &experiment, err);
    if (status == TACIT_OK)
        status = show(&facts, flags, err);
out:
    if (status == TACIT_OK && flags->known)
        cli_data_known();
    tacit_source_clear(&facts.source);
    free(facts.files);
    free(facts.counts);
    free(facts.column_names);
    tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

const cli_verb cli_data = {
    .name = "data",
    .argument = "EXPERIMENT.yaml|FILE",
    .summary = "describe what each agent of an experiment gets",
    .prose = "Loads the records as \"tacit run\" would and says what came of them: files and the "
             "public sets they are known from, agents, features, records of each split, classes, "
             "norms, what was made from training records without being charged to anybody, and "
             "who has how many records of which class. Nothing is learned and nothing is written "
             "unless asked for. Given a file of records instead of an experiment, says what it is "
             "and prints a section \"data\" to start from. TACIT_DATA is the default of "
             "data.folder.",
    .flags = &section,
    .repeated = &cli_set_option,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .takes_keys = true,
    .run = run,
};
