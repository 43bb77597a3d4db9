/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tacit model: nets in files. Show what is in one, let it predict, hand it to other programs as
 * ONNX, make one of numbers.
 */
#include "model.h"

#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(member) .offset = offsetof(model_flags, member)
static const char *const formats[] = {"onnx", NULL};

static const tacit_option options[] = {
    CLI_FLAG_SWITCH("scores", 0, "predict: the scores of all classes, too", AT(scores)),
    {.key = "out",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'o',
     .value_name = "FILE",
     .help = "predict, export: where to write it; predict without it prints",
     AT(out)},
    {.key = "to",
     .type = TACIT_OPT_CHOICE,
     .fallback = "onnx",
     .choices = formats,
     .help = "export: the format",
     AT(to)},
    {.key = "layers",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'l',
     .value_name = "WORDS",
     .help = "make: the net, as in \"conv 3 5x5, mish, pool 2, dense 10\"",
     AT(layers)},
    {.key = "input",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'i',
     .value_name = "SHAPE",
     .help = "make: of a record, planes x height x width as in 1x32x32, or how many numbers",
     AT(input)},
    {.key = "parameters",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'p',
     .value_name = "FILE",
     .help = "make: an NPY file with the parameters, a row a model; otherwise they are drawn",
     AT(parameters)},
    {.key = "row",
     .type = TACIT_OPT_INT,
     .fallback = "0",
     .min = 0,
     .max = 1e15,
     .help = "make: which row of --parameters, from 0",
     AT(row)},
    {.key = "seed",
     .type = TACIT_OPT_INT,
     .fallback = "1",
     .min = 0,
     .max = 1e15,
     .help = "make: another seed draws other parameters",
     AT(seed)},
    {.key = "classes",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .letter = 'c',
     .value_name = "NAMES",
     .help = "make: what the classes are called, separated by commas",
     AT(classes)},
    {.key = "scale",
     .type = TACIT_OPT_REAL,
     .fallback = "1",
     .min = -1e30,
     .max = 1e30,
     .help = "make: every number of a record is multiplied by this first",
     AT(scale)},
    {.key = "shift",
     .type = TACIT_OPT_REAL,
     .fallback = "0",
     .min = -1e30,
     .max = 1e30,
     .help = "make: and this is added then",
     AT(shift)},
    CLI_FLAG_SWITCH("force", 'f', "predict, export, make: replace a file that is there", AT(force)),
    CLI_FLAG_SWITCH("json", 'j', "show, predict: as JSON", AT(json)),
    CLI_FLAG_SWITCH("quiet", 'q', "no remarks", AT(quiet)),
};

static const tacit_section section = {
    .options = options, .count = sizeof options / sizeof *options, .size = sizeof(model_flags)};

static const tacit_option set_option = {
    .key = "set",
    .type = TACIT_OPT_TEXT,
    .letter = 's',
    .value_name = "KEY=VALUE",
    .help = "predict: how records are read, as in data.header=false or data.labels-path=y.npy; "
            "may come again",
};

static const cli_example examples[] = {
    {"tacit model show model.tacit", "its layers, and how many parameters each has"},
    {"tacit model predict model.tacit test.csv", "the class of each record, as CSV"},
    {"tacit model predict model.tacit x.npy --scores --set data.labels-path=y.npy",
     "all scores; and how many were right"},
    {"tacit model export model.tacit --out model.onnx", "for other programs"},
    {"tacit model make new.tacit --input 1x28x28 --layers \"dense 64, relu, dense 10\"",
     "a net that has learned nothing"},
    {"tacit model make m.tacit -i 784 -l \"dense 10\" -p run/models.npy --row 3",
     "the model of agent 3, as a file of its own"},
};

void model_volume(tacit_volume v, char *out, size_t size)
{
    if (v.height == 1 && v.width == 1)
        snprintf(out, size, "%zu", v.planes);
    else
        snprintf(out, size, "%zu x %zu x %zu", v.planes, v.height, v.width);
}

/* ---- export ---- */

static tacit_status export(const tacit_net_model *model, const model_flags *flags, tacit_error *err)
{
    uint8_t *bytes;
    size_t len;
    if (!*flags->out)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--out is missing, as in \"tacit model export FILE --out model.onnx\"");
    if (!flags->force && access(flags->out, F_OK) == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "cannot make \"%.300s\": %s; use --force to replace it", flags->out,
                          strerror(EEXIST));
    tacit_status status = tacit_net_onnx(&bytes, &len, model, err);
    if (!status)
        status = tacit_file_replace(flags->out, 0600, bytes, len, "ONNX file", err);
    free(bytes);
    return status;
}

/* ---- words ---- */

enum { SHOW, PREDICT, EXPORT, MAKE, WORDS };
static const char *const words[] = {"show", "predict", "export", "make", NULL};

static tacit_status check_flags(unsigned word, const cli_args *args, tacit_error *err)
{
    const model_flags *f = args->flags;
    const struct {
        const char *flag;
        bool given;
        unsigned fit; /* bits of words */
    } all[] = {
        {"scores", f->scores, 1 << PREDICT},
        {"json", f->json, 1 << PREDICT | 1 << SHOW},
        {"out", *f->out, 1 << PREDICT | 1 << EXPORT},
        {"layers", *f->layers, 1 << MAKE},
        {"input", *f->input, 1 << MAKE},
        {"parameters", *f->parameters, 1 << MAKE},
        {"row", f->row != 0, 1 << MAKE},
        {"classes", *f->classes, 1 << MAKE},
        {"scale", f->scale != 1, 1 << MAKE},
        {"shift", f->shift != 0, 1 << MAKE},
        {"force", f->force, ~(1U << SHOW)},
        {"set", args->repeated_count > 0, 1 << PREDICT},
    };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k].given && !(all[k].fit >> word & 1))
            return tacit_fail(err, TACIT_EUSAGE, "--%s does not go with \"tacit model %s\"",
                              all[k].flag, words[word]);
    return TACIT_OK;
}

static tacit_status check_words(unsigned word, const cli_args *args, tacit_error *err)
{
    static const char *const expected[] = {"show FILE", "predict FILE RECORDS",
                                           "export FILE --out model.onnx",
                                           "make FILE --input 784 --layers \"dense 10\""};
    if (word == WORDS)
        return tacit_fail(
            err, TACIT_EUSAGE,
            "expected show, predict, export or make%s%.60s%s, as in \"tacit model %s\"",
            args->word_count ? ", not \"" : "", args->word_count ? args->words[0] : "",
            args->word_count ? "\"" : "", expected[SHOW]);
    if (args->word_count < (word == PREDICT ? 3 : 2) || (word != PREDICT && args->word_count > 2))
        return tacit_fail(err, TACIT_EUSAGE, "expected %s, as in \"tacit model %s\"",
                          word == PREDICT ? "a model and files of records" : "one model",
                          expected[word]);
    return check_flags(word, args, err);
}

static tacit_status run(const cli_args *args, tacit_error *err)
{
    const model_flags *flags = args->flags;
    unsigned word = 0;
    while (word < WORDS && (args->word_count == 0 || strcmp(args->words[0], words[word]) != 0))
        word++;
    tacit_status status = check_words(word, args, err);
    if (status)
        return status;
    const char *path = args->words[1];
    if (word == MAKE)
        return model_make(path, flags, err);
    tacit_net_file file;
    status = tacit_net_file_read(&file, path, err);
    if (status)
        return status;
    if (word == SHOW)
        status = model_show(path, &file.model, flags->json, err);
    else if (word == PREDICT)
        status = model_predict(path, &file.model, args, err);
    else
        status = export(&file.model, flags, err);
    tacit_net_file_clear(&file);
    return status;
}

const cli_verb cli_model = {
    .name = "model",
    .argument = "show|predict|export|make FILE",
    .summary = "look at a net in a file, predict with it, export it",
    .prose =
        "FILE is a model.tacit: layers, parameters and what has to be done to a record's numbers "
        "first (docs/model-files.md). show says what is in it. predict reads records from NPY, IDX "
        "and text files, which are known by their first bytes and may be packed by gzip or xz, "
        "and prints the class of each; text tables may have columns called label and agent, which "
        "are left out. Where the labels are, say by --set data.labels-path=FILE, or, of a text "
        "table, --set data.label-column=NAME; then it says how many were right. export writes "
        "ONNX. make writes a file of parameters from elsewhere, or of parameters that have "
        "learned nothing. A file that was cut or edited is refused with exit code 6.",
    .flags = &section,
    .repeated = &set_option,
    .words = words,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .run = run,
};
