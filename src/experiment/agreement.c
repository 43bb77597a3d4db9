/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consortium.yaml: what all peers of a run agree on, and the name that follows from it.
 *
 * The name (run id) is BLAKE2b-128 of a text that lists every agreed setting, defaults included,
 * in the order of the tables. So two peers whose files say the same in other words, or one of whom
 * leaves out what is the default, have one name; and any difference that would make them compute
 * something else, or think something else about privacy, keeps them apart. Out of it are names of
 * files (everybody keeps theirs where they like; of a kernel over agents its contents count),
 * members and edges (they may change while a run goes on, and a peer checks each message's sender
 * anyway), and those keys of section run that say only what a simulation writes down.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "config/settings.h"
#include "experiment/consortium.h"
#include "net/wire.h"

static const tacit_section *const agreed[] = {&tacit_run_section, &tacit_model_section,
                                              &tacit_privacy_section, &tacit_protocol_section,
                                              &tacit_consortium_section};
#define AGREED (sizeof agreed / sizeof *agreed)
#define WRITTEN (AGREED - 1) /* of these, what an experiment has */

/* ---- what may stand in it ---- */

/* Sections of an experiment that are each peer's own, or a simulation's. */
static tacit_status check_keys(const tacit_config *config, tacit_error *err)
{
    static const struct {
        const char *section, *words;
    } wrong[] = {
        {"data.", "records are each peer's own: put it into node.yaml"},
        {"node.", "it is each peer's own: put it into node.yaml"},
        {"graph.", "the neighbours of real peers come from the file \"consortium.edges\""},
        {"network.", "only a simulated network has such settings; remove it"},
    };
    for (size_t i = 0; i < config->count; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            const tacit_setting *s = &config->settings[i];
            if (strncmp(s->key, wrong[k].section, strlen(wrong[k].section)) != 0)
                continue;
            char place[260];
            tacit_place(config->source, s->key_line, s->key_column, place, sizeof place);
            return tacit_fail(err, TACIT_EINPUT,
                              "%s: \"%.100s\" is nothing that a consortium agrees on; %s", place,
                              s->key, wrong[k].words);
        }
    return TACIT_OK;
}

tacit_status tacit_agreement_check(const tacit_experiment *experiment, tacit_error *err)
{
    const tacit_protocol *protocol = experiment->protocol;
    const uint32_t flags = tacit_experiment_flags(experiment);
    if (flags & TACIT_ORACLE)
        return tacit_fail(err, TACIT_EINPUT,
                          "protocol \"%s\" needs everybody's records in one place, which only a "
                          "simulation has; real peers take another protocol",
                          protocol->name);
    if (flags & TACIT_GROUPS)
        return tacit_fail(
            err, TACIT_EINPUT,
            "protocol \"%s\" takes a party that adds up over all agents, which only a "
            "simulation has; set \"protocol.sum: masks\", or take another protocol",
            protocol->name);
    if (experiment->privacy.claimed && experiment->privacy.mechanism != TACIT_MECHANISM_NONE)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"privacy.claimed\" clips nothing, so that epsilon is a mere claim: it "
                          "is for simulations; set a \"privacy.clip\" instead");
    return TACIT_OK;
}

/* ---- its name ---- */

static bool listed(const char *key, const char *const *keys)
{
    for (; *keys; keys++)
        if (strcmp(key, *keys) == 0)
            return true;
    return false;
}

/* Options of a section: those in `keys`, or all others. */
static void list_options(tacit_writer *out, const tacit_section *section, const void *values,
                         bool those, const char *const *keys)
{
    for (size_t k = 0; k < section->count; k++) {
        const tacit_option *option = &section->options[k];
        char text[TACIT_TEXT_MAX + 1];
        if (listed(option->key, keys) != those)
            continue;
        tacit_option_format(option, values, text, sizeof text);
        tacit_write_format(out, "%s.%s: %s\n", section->name, option->key, text);
    }
}

/* Options of protocols that name files, by key. Of those that are agreed on, what is in the file
 * counts, wherever it lies; the others are each peer's own, like budgets. */
static const char *const agreed_files[] = {"kernel-file", NULL};
const char *const tacit_protocol_files[] = {"kernel-file", "opt-out", NULL};

char *tacit_protocol_file(const tacit_experiment *x, const char *key)
{
    const tacit_option *option = tacit_section_find(&x->protocol->options, key, strlen(key));
    return option && option->type == TACIT_OPT_TEXT ? (char *)x->protocol_options + option->offset
                                                    : NULL;
}

static tacit_status list_contents(tacit_writer *out, const tacit_experiment *x, tacit_error *err)
{
    for (const char *const *key = agreed_files; *key; key++) {
        const char *path = tacit_protocol_file(x, *key);
        uint8_t hash[16];
        char hex[2 * sizeof hash + 1], *bytes;
        size_t len;
        if (!path || !path[0])
            continue;
        tacit_status status = tacit_file_read(&bytes, &len, path, TACIT_PROTOCOL_FILE_MOST, err);
        if (status)
            return status;
        crypto_generichash(hash, sizeof hash, (const uint8_t *)bytes, len, NULL, 0);
        free(bytes);
        tacit_write_format(out, "protocol.%s: %s\n", *key,
                           sodium_bin2hex(hex, sizeof hex, hash, sizeof hash));
    }
    return TACIT_OK;
}

tacit_status tacit_agreement_name(tacit_agreement *a, tacit_error *err)
{
    static const char *const run_keys[] = {"name", "seed", "time", NULL};
    static const char *const none[] = {NULL};
    static const char *const budgets[] = {"budgets", NULL};
    static const char *const files[] = {"members", "edges", NULL};
    const tacit_experiment *x = &a->experiment;
    tacit_writer out = {0};
    if (sodium_init() < 0)
        return tacit_fail(err, TACIT_EINTERNAL, "cannot start the cryptographic library");
    tacit_write_format(&out, "tacit run\nwire: %d\nprotocol: %s %u\n", TACIT_WIRE_VERSION,
                       x->protocol->name, x->protocol->wire_id);
    list_options(&out, &tacit_run_section, &x->run, true, run_keys);
    list_options(&out, &tacit_model_section, &x->model, false, none);
    list_options(&out, &tacit_privacy_section, &x->privacy, false, budgets);
    list_options(&out, &x->protocol->options, x->protocol_options, false, tacit_protocol_files);
    list_options(&out, &tacit_consortium_section, &a->consortium, false, files);
    tacit_status status = list_contents(&out, x, err);
    if (!status && out.failed)
        status = tacit_out_of_memory(err);
    if (!status &&
        crypto_generichash(a->run, sizeof a->run, (const uint8_t *)out.text, out.len, NULL, 0) != 0)
        status = tacit_fail(err, TACIT_EINTERNAL, "the run could not be named");
    tacit_writer_clear(&out);
    return status;
}

/* ---- the file ---- */

static tacit_status place_files(tacit_agreement *a, const char *path, tacit_error *err)
{
    tacit_consortium_options *c = &a->consortium;
    if (!c->members[0] || !c->edges[0])
        return tacit_fail(err, TACIT_EINPUT, "%.300s: \"consortium.%s\" is empty; name the file",
                          path, c->members[0] ? "edges" : "members");
    tacit_status status = tacit_path_beside(c->members, path, "consortium.members", err);
    if (!status)
        status = tacit_path_beside(c->edges, path, "consortium.edges", err);
    if (!status)
        status = tacit_path_beside(a->experiment.privacy.budgets, path, "privacy.budgets", err);
    for (const char *const *key = tacit_protocol_files; *key && !status; key++) {
        char *file = tacit_protocol_file(&a->experiment, *key);
        if (file)
            status = tacit_path_beside(file, path, *key, err);
    }
    return status;
}

tacit_status tacit_agreement_read(tacit_agreement *a, const char *path, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    *a = (tacit_agreement){0};
    tacit_status status = tacit_config_read(&config, path, err);
    if (!status)
        status = check_keys(&config, err);
    if (!status)
        status = tacit_config_apply(&config, &tacit_consortium_section, &a->consortium, err);
    if (!status)
        status = tacit_experiment_read(&a->experiment, &config, agreed, AGREED, err);
    if (!status)
        status = tacit_agreement_check(&a->experiment, err);
    if (!status)
        status = place_files(a, path, err);
    if (!status)
        status = tacit_agreement_name(a, err);
    tacit_config_clear(&config);
    if (status)
        tacit_agreement_clear(a);
    return status;
}

void tacit_agreement_clear(tacit_agreement *a)
{
    tacit_experiment_clear(&a->experiment);
    *a = (tacit_agreement){0};
}

char *tacit_agreement_yaml(const tacit_agreement *a)
{
    tacit_writer out = {0};
    tacit_experiment_write(&out, &a->experiment, agreed, WRITTEN);
    tacit_write_format(&out, "%s:\n", tacit_consortium_section.name);
    tacit_section_write(&out, &tacit_consortium_section, &a->consortium);
    return tacit_writer_take(&out);
}
