/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was typed after "tacit account", checked: the form exists, its flags belong to it, and
 * its numbers are numbers. Everything wrong here is wrong on the command line (exit 2).
 */
#include "account.h"
#include "verbs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const adjacencies[] = {"replace", "add-remove", NULL};

#define ABSENT " " /* "" would be a forgotten value, which is an error */
#define AT(member) .offset = offsetof(cli_account_flags, member)
#define AS_TEXT(id, flag, kind, field, least, most, value, says) \
    {.key = flag,                                                \
     .type = TACIT_OPT_TEXT,                                     \
     .fallback = ABSENT,                                         \
     .value_name = value,                                        \
     .help = says,                                               \
     AT(text[CLI_ACCOUNT_##id])},
static const tacit_option options[] = {
    CLI_ACCOUNT_NUMBERS(AS_TEXT) /* and what is no number */
    {.key = "adjacency",
     .type = TACIT_OPT_TEXT,
     .fallback = ABSENT,
     .value_name = "replace|add-remove",
     .help = "neighbouring data differ in one record: replaced by another (default), or there and "
             "not there",
     AT(text[CLI_ACCOUNT_ADJACENCY])},
    {.key = "by",
     .type = TACIT_OPT_TEXT,
     .fallback = ABSENT,
     .value_name = "sum|kov|zcdp|gdp|rdp|pld",
     .help = "the accountant --target-epsilon goes by (default pld; zcdp for zcdp)",
     AT(text[CLI_ACCOUNT_BY])},
    {.key = "agent",
     .type = TACIT_OPT_TEXT,
     .fallback = ABSENT,
     .value_name = "N",
     .help = "compose: only what this agent spent",
     AT(text[CLI_ACCOUNT_AGENT])},
    {.key = "key",
     .type = TACIT_OPT_TEXT,
     .fallback = ABSENT,
     .value_name = "FILE",
     .help = "compose: the key the ledger was sealed with",
     AT(text[CLI_ACCOUNT_KEY])},
    {.key = "plot",
     .type = TACIT_OPT_TEXT,
     .fallback = "",
     .value_name = "FILE",
     .help = "draw epsilon for every delta, a line an accountant, as SVG",
     AT(plot)},
    CLI_FLAG_SWITCH("force", 'f', "replace the file of --plot", AT(force)),
    CLI_FLAG_SWITCH("json", 'j', "print JSON (schema tacit.account/1) instead of words", AT(json)),
};
const tacit_section cli_account_section = {.options = options,
                                           .count = sizeof options / sizeof *options,
                                           .size = sizeof(cli_account_flags)};

/* How the text of a flag is read; the same order as cli_account_flag. */
#define AS_NUMBER(id, flag, kind, field, least, most, value, says) \
    {.key = "--" flag,                                             \
     .type = TACIT_OPT_##kind,                                     \
     .min = least,                                                 \
     .max = most,                                                  \
     .offset = offsetof(cli_account_request, field)},
static const tacit_option readings[] = {
    CLI_ACCOUNT_NUMBERS(AS_NUMBER) /* and what is no number */
    {.key = "--adjacency",
     .type = TACIT_OPT_CHOICE,
     .choices = adjacencies,
     .offset = offsetof(cli_account_request, adjacency)},
    {.key = "--by",
     .type = TACIT_OPT_CHOICE,
     .choices = tacit_accountant_names,
     .offset = offsetof(cli_account_request, by)},
};
enum { READINGS = sizeof readings / sizeof *readings };

/* Squares of ratios of what is between LEAST and its inverse are numbers still. */
#define LEAST 1e-30
#define MOST_STEPS 1e12 /* of discrete noise */
/* Zero noise is no mechanism, and a share of zero no sample. Zero is fine for what is left out. */
#define BIT(NAME) (1u << CLI_ACCOUNT_##NAME)
static const unsigned above_zero = BIT(MULTIPLIER) | BIT(SIGMA) | BIT(SCALE) | BIT(SENSITIVITY) |
                                   BIT(TRUTH) | BIT(SAMPLING) | BIT(TARGET);

static tacit_status find_form(cli_account_request *request, const char *word, tacit_error *err)
{
    const char *names[16] = {0};
    for (size_t k = 0; k < cli_account_form_count; k++) {
        names[k] = cli_account_forms[k].name;
        if (strcmp(word, names[k]) == 0) {
            request->form = &cli_account_forms[k];
            return TACIT_OK;
        }
    }
    const char *near = tacit_nearest(word, names, cli_account_form_count);
    if (near)
        return tacit_fail(err, TACIT_EUSAGE, "unknown mechanism \"%.60s\"; did you mean \"%s\"?",
                          word, near);
    char list[200];
    size_t used = 0;
    for (size_t k = 0; k < cli_account_form_count && used < sizeof list; k++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", k ? ", " : "", names[k]);
    return tacit_fail(err, TACIT_EUSAGE, "unknown mechanism \"%.60s\"; expected one of %s", word,
                      list);
}

static tacit_status read_words(cli_account_request *request, const char *const *words,
                               size_t word_count, tacit_error *err)
{
    if (word_count == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "which mechanism? as in \"tacit account gaussian --noise-multiplier 1\"; "
                          "see \"tacit help account\"");
    tacit_status status = find_form(request, words[0], err);
    if (status)
        return status;
    size_t wanted = request->form->ledger ? 2 : 1;
    if (word_count > wanted)
        return tacit_fail(err, TACIT_EUSAGE, "unexpected word \"%.100s\"; one %s at a time",
                          words[wanted], wanted == 2 ? "ledger" : "mechanism");
    if (word_count < wanted)
        return tacit_fail(err, TACIT_EUSAGE,
                          "which ledger? as in \"tacit account compose runs/demo-1/ledger.jsonl\"");
    request->path = wanted == 2 ? words[1] : NULL;
    return TACIT_OK;
}

/* "--a, --b or --c" */
static void list_flags(unsigned flags, char *out, size_t size)
{
    size_t used = 0, left = 0;
    for (unsigned k = 0; k < CLI_ACCOUNT_FLAGS; k++)
        left += flags >> k & 1;
    out[0] = '\0';
    for (unsigned k = 0; k < CLI_ACCOUNT_FLAGS && used < size; k++) {
        if (!(flags >> k & 1))
            continue;
        used += (size_t)snprintf(out + used, size - used, "--%s%s", options[k].key,
                                 left > 2    ? ", "
                                 : left == 2 ? " or "
                                             : "");
        left--;
    }
}

static tacit_status check_belongs(const cli_account_request *request, tacit_error *err)
{
    const cli_account_form *form = request->form;
    for (unsigned k = 0; k < CLI_ACCOUNT_FLAGS; k++) {
        if (!(request->given >> k & 1) || form->takes >> k & 1)
            continue;
        char takes[300];
        list_flags(form->takes, takes, sizeof takes);
        return tacit_fail(err, TACIT_EUSAGE, "\"--%s\" does not go with %s, which takes %s",
                          options[k].key, form->name, takes);
    }
    return TACIT_OK;
}

static tacit_status read_numbers(cli_account_request *request, const cli_account_flags *flags,
                                 tacit_error *err)
{
    for (unsigned k = 0; k < READINGS; k++) {
        if (!(request->given >> k & 1))
            continue;
        if (tacit_option_set(&readings[k], request, flags->text[k], err))
            return TACIT_EUSAGE;
        double value = 1;
        if (above_zero >> k & 1) /* all of them real */
            memcpy(&value, (const char *)request + readings[k].offset, sizeof value);
        if (!(value >= LEAST))
            return tacit_fail(err, TACIT_EUSAGE, "\"%s\" is \"%.60s\"; expected a number above 0%s",
                              readings[k].key, flags->text[k], value > 0 ? ", at least 1e-30" : "");
    }
    if (request->delta == 1)
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--delta\" is \"1\"; expected a number below 1, for at delta 1 nothing "
                          "is promised");
    return TACIT_OK;
}

/* One way to say the noise: both would be a contradiction, none leaves nothing to account. */
static tacit_status check_noise(const cli_account_request *request, tacit_error *err)
{
    const cli_account_form *form = request->form;
    const unsigned said = request->given & form->noise;
    char names[300];
    list_flags(said ? said : form->noise, names, sizeof names);
    if (CLI_GIVEN(request, TARGET)) {
        if (said)
            return tacit_fail(err, TACIT_EUSAGE,
                              "\"%s\" does not go with --target-epsilon, which finds it", names);
        return TACIT_OK;
    }
    if (CLI_GIVEN(request, BY))
        return tacit_fail(err, TACIT_EUSAGE,
                          "\"--by\" goes with --target-epsilon; without it all accountants are "
                          "asked");
    if (form->noise && !said)
        return tacit_fail(err, TACIT_EUSAGE, "how much noise? %s needs %s, or --target-epsilon E",
                          form->name, names);
    if (said & (said - 1))
        return tacit_fail(err, TACIT_EUSAGE, "%s, not all of them: they say the same thing twice",
                          names);
    return TACIT_OK;
}

/* What the noise needs beside it. */
static tacit_status check_rest(const cli_account_request *request, tacit_error *err)
{
    const cli_account_form *form = request->form;
    const bool relative = CLI_GIVEN(request, MULTIPLIER) ||
                          (CLI_GIVEN(request, TARGET) && form->takes & BIT(MULTIPLIER));
    if (relative && CLI_GIVEN(request, MULTIPLIER) && CLI_GIVEN(request, SENSITIVITY))
        return tacit_fail(
            err, TACIT_EUSAGE,
            "\"--sensitivity\" does not go with --noise-multiplier, which is relative "
            "to it; use --sigma");
    if (form->takes & BIT(SENSITIVITY) && !relative && !CLI_GIVEN(request, SENSITIVITY))
        return tacit_fail(err, TACIT_EUSAGE, "%s needs --sensitivity X beside its noise",
                          form->name);
    const bool whole =
        form->kind == TACIT_LOSS_DISCRETE_GAUSSIAN || form->kind == TACIT_LOSS_DISCRETE_LAPLACE;
    if (whole && request->sensitivity != floor(request->sensitivity))
        return tacit_fail(
            err, TACIT_EUSAGE,
            "\"--sensitivity\" is %g; expected a whole number, for the noise is on the "
            "integers",
            request->sensitivity);
    if (whole && fmax(request->sigma, request->scale) > MOST_STEPS)
        return tacit_fail(
            err, TACIT_EUSAGE,
            "noise of %g reaches beyond the integers that can be told apart; expected "
            "at most %g",
            fmax(request->sigma, request->scale), MOST_STEPS);
    static const struct {
        cli_account_flag flag;
        const char *what;
    } needed[] = {{CLI_ACCOUNT_CATEGORIES, "--categories K"},
                  {CLI_ACCOUNT_RELEASE_DELTA, "--release-delta D"},
                  {CLI_ACCOUNT_AGENTS, "--agents N"}};
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++) {
        if (form->takes >> needed[k].flag & 1 && !(request->given >> needed[k].flag & 1))
            return tacit_fail(err, TACIT_EUSAGE, "%s needs %s", form->name, needed[k].what);
    }
    return TACIT_OK;
}

tacit_status cli_account_read(cli_account_request *request, const cli_account_flags *flags,
                              const char *const *words, size_t word_count, tacit_error *err)
{
    *request = (cli_account_request){
        .sampling = 1, .delta = 1e-5, .steps = 1, .group = 1, .by = TACIT_BY_PLD};
    for (unsigned k = 0; k < CLI_ACCOUNT_FLAGS; k++)
        request->given |= (unsigned)(strcmp(flags->text[k], ABSENT) != 0) << k;
    request->agent = flags->text[CLI_ACCOUNT_AGENT];
    request->key = flags->text[CLI_ACCOUNT_KEY];
    tacit_status status = read_words(request, words, word_count, err);
    if (!status)
        status = check_belongs(request, err);
    if (!status)
        status = read_numbers(request, flags, err);
    if (!status)
        status = check_noise(request, err);
    return status ? status : check_rest(request, err);
}
