/* SPDX-License-Identifier: Apache-2.0 */
/* From settings to options, and back to YAML. */
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "experiment/consortium.h"
#include "report/writer.h"

#define MAX_SECTIONS 16
#define MAX_PROTOCOLS 100
#define MAX_ROWS 1e6 /* of one metric in metrics.csv */

/* The values of the k-th section of tacit_experiment_sections; NULL for the protocol's. */
static void *values_of(const tacit_experiment *x, const tacit_section *section)
{
    const struct {
        const tacit_section *section;
        const void *values;
    } all[] = {
        {&tacit_run_section, &x->run},         {&tacit_data_section, &x->data},
        {&tacit_graph_section, &x->graph},     {&tacit_model_section, &x->model},
        {&tacit_network_section, &x->network}, {&tacit_privacy_section, &x->privacy},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].section == section)
            return (void *)(uintptr_t)all[i].values;
    return NULL;
}

/* Read "protocol.name" as a choice among the registry, so that a wrong name is answered with
 * its place in the file and what was probably meant. */
static tacit_status choose_protocol(const tacit_protocol **out, tacit_config *config,
                                    tacit_error *err)
{
    const char *names[MAX_PROTOCOLS + 1] = {NULL};
    for (size_t i = 0; i < MAX_PROTOCOLS && tacit_protocols[i]; i++)
        names[i] = tacit_protocols[i]->name;
    tacit_option option = tacit_protocol_section.options[0];
    option.type = TACIT_OPT_CHOICE;
    option.choices = names;
    option.offset = 0;
    const tacit_section section = {
        .name = tacit_protocol_section.name, .options = &option, .count = 1, .size = sizeof(int)};
    int choice = 0;
    tacit_status status = tacit_config_apply(config, &section, &choice, err);
    if (!status)
        *out = tacit_protocols[choice];
    return status;
}

/* "a", "a and b", "a, b and c": the protocols that have this option. */
static size_t owners_of(const char *key, tacit_writer *out)
{
    const char *owner[MAX_PROTOCOLS];
    size_t count = 0;
    for (size_t i = 0; tacit_protocols[i] && count < MAX_PROTOCOLS; i++)
        if (tacit_section_find(&tacit_protocols[i]->options, key, strlen(key)))
            owner[count++] = tacit_protocols[i]->name;
    for (size_t i = 0; i < count; i++)
        tacit_write_format(out, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " and ", owner[i]);
    return count;
}

/* A key left over from another protocol is no slip of the pen: say whose it is. */
static tacit_status check_foreign_keys(const tacit_config *config, const tacit_protocol *protocol,
                                       tacit_error *err)
{
    static const char prefix[] = "protocol.";
    tacit_status status = TACIT_OK;
    for (size_t i = 0; i < config->count && !status; i++) {
        const tacit_setting *setting = &config->settings[i];
        if (setting->used || strncmp(setting->key, prefix, sizeof prefix - 1) != 0)
            continue;
        tacit_writer owners = {0};
        if (owners_of(setting->key + sizeof prefix - 1, &owners) > 0) {
            char place[260];
            tacit_place(config->source, setting->key_line, setting->key_column, place,
                        sizeof place);
            status = tacit_fail(err, TACIT_EINPUT, "%s: \"%s\" belongs to %s, not to %s; remove it",
                                place, setting->key, owners.text ? owners.text : "another protocol",
                                protocol->name);
        }
        tacit_writer_clear(&owners);
    }
    return status;
}

static tacit_status check_run(const tacit_run_options *run, tacit_error *err)
{
    if (!run->name[0] || !strcmp(run->name, ".") || !strcmp(run->name, "..") ||
        strchr(run->name, '/'))
        return tacit_fail(err, TACIT_EINPUT,
                          "run.name \"%.100s\" cannot name a folder; use letters and digits",
                          run->name);
    if (run->every > 0 && run->time / run->every > MAX_ROWS)
        return tacit_fail(err, TACIT_EINPUT,
                          "run.every \"%g\" asks for more than a million rows in a time of %g; "
                          "make it larger",
                          run->every, run->time);
    return TACIT_OK;
}

static tacit_status check_delta(const tacit_privacy_options *p, tacit_error *err)
{
    if (p->mechanism == TACIT_MECHANISM_NONE || p->delta < 0.5 || p->allow_large_delta)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT,
                      "\"privacy.delta\" is %g: who tells every record with that probability keeps "
                      "to it; set it below 1/records, to 1e-5 or less (or, if it is meant, "
                      "\"privacy.allow-large-delta: true\")",
                      p->delta);
}

tacit_status tacit_experiment_read(tacit_experiment *experiment, tacit_config *config,
                                   const tacit_section *const *sections, size_t section_count,
                                   tacit_error *err)
{
    *experiment = (tacit_experiment){0};
    tacit_status status = TACIT_OK;
    const tacit_section *known[MAX_SECTIONS];
    size_t count = 0;
    for (size_t i = 0; i < section_count && !status; i++) {
        known[count++] = sections[i];
        void *values = values_of(experiment, sections[i]);
        if (values)
            status = tacit_config_apply(config, sections[i], values, err);
    }
    if (status)
        goto out;
    if ((status = choose_protocol(&experiment->protocol, config, err)))
        goto out;
    const tacit_section *own = &experiment->protocol->options;
    experiment->protocol_options = calloc(1, own->size ? own->size : 1);
    if (!experiment->protocol_options) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if ((status = tacit_config_apply(config, own, experiment->protocol_options, err)))
        goto out;
    known[count++] = own;
    if ((status = check_foreign_keys(config, experiment->protocol, err)))
        goto out;
    if ((status = tacit_config_unused(config, known, count, err)))
        goto out;
    if ((status = check_run(&experiment->run, err)))
        goto out;
    status = check_delta(&experiment->privacy, err);
out:
    if (status)
        tacit_experiment_clear(experiment);
    return status;
}

tacit_status tacit_experiment_init(tacit_experiment *experiment, tacit_config *config,
                                   tacit_error *err)
{
    return tacit_experiment_read(experiment, config, tacit_experiment_sections,
                                 tacit_experiment_section_count, err);
}

void tacit_experiment_clear(tacit_experiment *experiment)
{
    free(experiment->protocol_options);
    *experiment = (tacit_experiment){0};
}

static void write_option(tacit_writer *out, const tacit_option *option, const void *values)
{
    char text[TACIT_TEXT_MAX + 1];
    tacit_option_format(option, values, text, sizeof text);
    tacit_write_format(out, "  %s: ", option->key);
    if (option->type == TACIT_OPT_TEXT) {
        /* A JSON string is a double-quoted YAML scalar. */
        tacit_json json = {.out = out};
        tacit_json_text(&json, NULL, text);
    } else
        tacit_write_text(out, text);
    tacit_write_text(out, "\n");
}

void tacit_section_write(tacit_writer *out, const tacit_section *section, const void *values)
{
    for (size_t k = 0; k < section->count; k++)
        write_option(out, &section->options[k], values);
}

void tacit_experiment_write(tacit_writer *out, const tacit_experiment *experiment,
                            const tacit_section *const *sections, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const tacit_section *section = sections[i];
        const void *values = values_of(experiment, section);
        tacit_write_format(out, "%s:\n", section->name);
        if (!values) {
            tacit_write_format(out, "  name: %s\n", experiment->protocol->name);
            section = &experiment->protocol->options;
            values = experiment->protocol_options;
        }
        tacit_section_write(out, section, values);
    }
}

char *tacit_experiment_yaml(const tacit_experiment *experiment)
{
    tacit_writer out = {0};
    tacit_experiment_write(&out, experiment, tacit_experiment_sections,
                           tacit_experiment_section_count);
    return tacit_writer_take(&out);
}
