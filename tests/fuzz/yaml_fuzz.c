/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The YAML front and the option tables. The first line of an input may be "=key=value":
 * then it goes through --set. What is accepted must round-trip; what is refused must
 * have a message.
 */
#include "tacit/config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct thing {
    bool on;
    int64_t count;
    double mu, time;
    char name[TACIT_TEXT_MAX];
    int colour;
} thing;

static const char *const colours[] = {"red", "green", "dark-blue", NULL};

#define AT(member) .offset = offsetof(thing, member)
static const tacit_option options[] = {
    {.key = "on", .type = TACIT_OPT_BOOL, .fallback = "true", AT(on)},
    {.key = "count", .type = TACIT_OPT_INT, .fallback = "1", .min = -1e3, .max = 1e18, AT(count)},
    {.key = "mu", .type = TACIT_OPT_REAL, .fallback = "0.5", .min = 0, .max = 1e300, AT(mu)},
    {.key = "time", .type = TACIT_OPT_REAL, .fallback = "1", .min = 0, .max = INFINITY, AT(time)},
    {.key = "name", .type = TACIT_OPT_TEXT, .fallback = "", AT(name)},
    {.key = "colour", .type = TACIT_OPT_CHOICE, .fallback = "red", .choices = colours, AT(colour)},
};
#define COUNT (sizeof options / sizeof *options)
static const tacit_section protocol = {"protocol", options, COUNT, sizeof(thing)};
static const tacit_section top = {"", options, COUNT, sizeof(thing)};

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_round_trip(const thing *from)
{
    thing back;
    demand(tacit_options_defaults(&protocol, &back, NULL) == TACIT_OK);
    for (size_t i = 0; i < COUNT; i++) {
        char once[TACIT_TEXT_MAX], twice[TACIT_TEXT_MAX];
        tacit_option_format(&options[i], from, once, sizeof once);
        demand(tacit_option_set(&options[i], &back, once, NULL) == TACIT_OK);
        tacit_option_format(&options[i], &back, twice, sizeof twice);
        demand(strcmp(once, twice) == 0);
    }
    demand(!isnan(back.mu) && !isnan(back.time) && back.time == from->time && isfinite(back.mu));
}

static void check_tables(tacit_config *config)
{
    const tacit_section *const sections[] = {&protocol, &top};
    for (size_t s = 0; s < 2; s++) {
        thing values;
        tacit_error err = {0};
        tacit_status status = tacit_config_apply(config, sections[s], &values, &err);
        demand(status == TACIT_OK || (status == TACIT_EINPUT && err.text[0] != '\0'));
        if (status == TACIT_OK)
            check_round_trip(&values);
    }
    tacit_error err = {0};
    tacit_status status = tacit_config_unused(config, sections, 2, &err);
    demand(status == TACIT_OK || (status == TACIT_EINPUT && err.text[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tacit_config config;
    tacit_error err = {0};
    tacit_config_init(&config);
    if (size > 0 && data[0] == '=') {
        const uint8_t *end = memchr(data, '\n', size);
        size_t len = end ? (size_t)(end - data) : size;
        char *assignment = malloc(len + 1);
        demand(assignment != NULL);
        memcpy(assignment, data + 1, len - 1);
        assignment[len - 1] = '\0';
        tacit_status status = tacit_config_set(&config, assignment, &err);
        demand(status == TACIT_OK || err.text[0] != '\0');
        free(assignment);
        if (status == TACIT_OK)
            check_tables(&config);
        data += len;
        size -= len;
    }
    tacit_status status = tacit_config_parse(&config, "fuzz.yaml", (const char *)data, size, &err);
    if (status == TACIT_OK)
        check_tables(&config);
    else
        demand(status == TACIT_EINPUT && strncmp(err.text, "fuzz.yaml:", 10) == 0);
    tacit_config_clear(&config);
    return 0;
}
