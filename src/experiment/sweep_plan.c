/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a sweep: a grid of points, the last key moving fastest, times seeds.
 *
 * Invariants:
 *  1. Every configuration of the plan was read by tacit_experiment_init before a run starts.
 *  2. No two points are equal. Values of a key differ, so twins come only from keys that the
 *     point's protocol does not have: of those the point with their first values is kept.
 *  3. The plan follows from sweep.yaml alone, and writing it again gives the same bytes.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "config/text.h"
#include "experiment/session.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"

/* ---- pieces ---- */

static tacit_status copy_config(tacit_config *to, const tacit_config *from, tacit_error *err)
{
    tacit_config_init(to);
    if (from->source && !(to->source = tacit_text_copy(from->source, strlen(from->source))))
        return tacit_out_of_memory(err);
    for (size_t i = 0; i < from->count; i++) {
        const tacit_setting *s = &from->settings[i];
        tacit_setting *copy = tacit_settings_add(to, s->key, s->value, strlen(s->value));
        if (!copy)
            return tacit_out_of_memory(err);
        copy->line = s->line;
        copy->column = s->column;
        copy->key_line = s->key_line;
        copy->key_column = s->key_column;
    }
    return TACIT_OK;
}

static void drop_setting(tacit_config *config, const char *key)
{
    for (size_t i = 0; i < config->count; i++) {
        if (strcmp(config->settings[i].key, key) != 0)
            continue;
        free(config->settings[i].key);
        free(config->settings[i].value);
        config->count--;
        memmove(&config->settings[i], &config->settings[i + 1],
                (config->count - i) * sizeof *config->settings);
        return;
    }
}

static tacit_status set(tacit_config *config, const char *key, const char *value, tacit_error *err)
{
    drop_setting(config, key);
    if (!tacit_settings_add(config, key, value, strlen(value)))
        return tacit_out_of_memory(err);
    return TACIT_OK;
}

static const char *base_protocol(const tacit_sweep *sweep)
{
    const tacit_setting *setting = tacit_config_get(&sweep->base, "protocol.name");
    return setting ? setting->value : tacit_protocol_section.options[0].fallback;
}

static const tacit_sweep_axis *name_axis(const tacit_sweep *sweep)
{
    for (size_t k = 0; k < sweep->axis_count; k++)
        if (strcmp(sweep->axes[k].key, "protocol.name") == 0)
            return &sweep->axes[k];
    return NULL;
}

/* An option that protocols have of their own? */
static bool is_own_key(const char *key)
{
    return strncmp(key, "protocol.", 9) == 0 && strcmp(key, "protocol.name") != 0;
}

static const char *point_protocol(const tacit_sweep *sweep, const uint32_t *at)
{
    const tacit_sweep_axis *names = name_axis(sweep);
    return names ? names->values.text[at[names - sweep->axes]] : base_protocol(sweep);
}

/* ---- what is varied ---- */

static tacit_status check_key(const tacit_sweep *sweep, const char *key, tacit_error *err)
{
    if (strcmp(key, "run.seed") == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--vary: seeds are repetitions, not values; use --seeds, as in "
                          "\"--seeds 5\" or \"--seeds 3..7\"");
    if (strcmp(key, "run.name") == 0)
        return tacit_fail(err, TACIT_EUSAGE,
                          "--vary: \"run.name\" changes no result; vary another key");
    for (size_t k = 0; k < sweep->axis_count; k++)
        if (strcmp(sweep->axes[k].key, key) == 0)
            return tacit_fail(err, TACIT_EUSAGE,
                              "--vary: \"%.100s\" comes twice; write all its values in one list",
                              key);
    return TACIT_OK;
}

static tacit_status add_axis(tacit_sweep *sweep, const char *vary, const char *const *protocols,
                             tacit_error *err)
{
    char shown[120];
    tacit_show(vary, strlen(vary), shown, sizeof shown);
    const char *equals = strchr(vary, '=');
    if (!equals || equals == vary || !tacit_text_is_clean(vary, strlen(vary)))
        return tacit_fail(err, TACIT_EUSAGE,
                          "--vary: \"%s\" is not key=values; expected something like "
                          "\"protocol.mu=0.1,1,10\"",
                          shown);
    char *key = tacit_text_copy(vary, (size_t)(equals - vary));
    if (!key)
        return tacit_out_of_memory(err);
    tacit_swept found;
    tacit_values values = {0};
    tacit_status status = check_key(sweep, key, err);
    if (!status)
        status = tacit_key_find(&found, key, protocols, err);
    if (!status)
        status = tacit_values_parse(&values, &found.option, "--vary", equals + 1, err);
    if (status) {
        free(key);
        return status;
    }
    sweep->axes[sweep->axis_count++] = (tacit_sweep_axis){
        .key = key,
        .values = values,
        .numeric = found.option.type == TACIT_OPT_INT || found.option.type == TACIT_OPT_REAL};
    return TACIT_OK;
}

static bool names_protocol(const char *vary)
{
    return strncmp(vary, "protocol.name=", 14) == 0;
}

/* Which keys make sense depends on the protocols in play, so those are read first; the order
 * of the axes is that of the command line all the same. */
static tacit_status add_axes(tacit_sweep *sweep, const tacit_sweep_grid *grid, tacit_error *err)
{
    const char *const nobody[] = {NULL};
    const char *base[2] = {base_protocol(sweep), NULL};
    tacit_sweep names = {.axes = &(tacit_sweep_axis){0}};
    const char **protocols = base;
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < grid->vary_count && !status && protocols == base; k++) {
        if (!names_protocol(grid->vary[k]))
            continue;
        if ((status = add_axis(&names, grid->vary[k], nobody, err)))
            return status;
        const tacit_values *values = &names.axes[0].values;
        protocols = calloc(values->count + 1, sizeof *protocols);
        if (!protocols)
            status = tacit_out_of_memory(err);
        for (size_t i = 0; i < values->count && !status; i++)
            protocols[i] = values->text[i];
    }
    for (size_t k = 0; k < grid->vary_count && !status; k++)
        status = add_axis(sweep, grid->vary[k], protocols, err);
    if (protocols != base)
        free(protocols);
    if (names.axis_count) {
        free(names.axes[0].key);
        tacit_values_clear(&names.axes[0].values);
    }
    return status;
}

/* ---- seeds ---- */

static tacit_status set_seeds(tacit_sweep *sweep, const char *text, int64_t first, tacit_error *err)
{
    tacit_option option = *tacit_section_find(&tacit_run_section, "seed", 4);
    tacit_option how_many = {
        .key = "--seeds", .type = TACIT_OPT_INT, .min = 1, .max = TACIT_SWEEP_MOST};
    int64_t count = 0;
    tacit_values values = {0};
    tacit_error why = {0};
    option.key = "run.seed";
    if (strpbrk(text, ",.") == NULL) {
        if (tacit_option_set(&how_many, &count, text, &why))
            return tacit_fail(err, TACIT_EUSAGE, "%s, or which: 3..7", why.text);
        if ((double)first > option.max - (double)(count - 1))
            return tacit_fail(err, TACIT_EUSAGE,
                              "\"--seeds\" is \"%s\", but there are not so many above run.seed",
                              text);
    } else {
        tacit_status status = tacit_values_parse(&values, &option, "--seeds", text, err);
        if (status)
            return status;
    }
    sweep->seed_count = values.count ? values.count : (size_t)count;
    sweep->seeds = calloc(sweep->seed_count, sizeof *sweep->seeds);
    for (size_t i = 0; sweep->seeds && i < sweep->seed_count; i++)
        sweep->seeds[i] = values.count ? (int64_t)values.number[i] : first + (int64_t)i;
    tacit_values_clear(&values);
    return sweep->seeds ? TACIT_OK : tacit_out_of_memory(err);
}

/* ---- points ---- */

static tacit_status check_size(const tacit_sweep *sweep, size_t *cells, tacit_error *err)
{
    double runs = (double)sweep->seed_count;
    *cells = 1;
    for (size_t k = 0; k < sweep->axis_count; k++) {
        runs *= (double)sweep->axes[k].values.count;
        if (runs <= TACIT_SWEEP_MOST)
            *cells *= sweep->axes[k].values.count;
    }
    if (runs > TACIT_SWEEP_MOST)
        return tacit_fail(err, TACIT_EUSAGE,
                          "the grid has %.15g runs, %zu seeds each; at most %d are done at once, "
                          "so vary fewer values",
                          runs, sweep->seed_count, TACIT_SWEEP_MOST);
    return TACIT_OK;
}

/* The cell's value of each axis; false if it is the twin of an earlier cell. */
static bool fill_point(const tacit_sweep *sweep, size_t cell, uint32_t *at)
{
    for (size_t k = sweep->axis_count; k-- > 0;) {
        at[k] = (uint32_t)(cell % sweep->axes[k].values.count);
        cell /= sweep->axes[k].values.count;
    }
    const char *protocol = point_protocol(sweep, at);
    for (size_t k = 0; k < sweep->axis_count; k++) {
        if (!is_own_key(sweep->axes[k].key) || tacit_protocol_knows(protocol, sweep->axes[k].key))
            continue;
        if (at[k] != 0)
            return false;
        at[k] = TACIT_SWEEP_FOREIGN;
    }
    return true;
}

static tacit_status expand(tacit_sweep *sweep, tacit_error *err)
{
    size_t cells, bytes;
    tacit_status status = check_size(sweep, &cells, err);
    if (status)
        return status;
    if (!tacit_mul_size(cells, sweep->axis_count + 1, &bytes))
        return tacit_out_of_memory(err);
    sweep->at = calloc(bytes, sizeof *sweep->at); /* one more: fill_point writes ahead */
    if (!sweep->at)
        return tacit_out_of_memory(err);
    for (size_t cell = 0; cell < cells; cell++)
        if (fill_point(sweep, cell, &sweep->at[sweep->point_count * sweep->axis_count]))
            sweep->point_count++;
    sweep->results = calloc(tacit_sweep_runs(sweep), sizeof *sweep->results);
    return sweep->results ? TACIT_OK : tacit_out_of_memory(err);
}

tacit_status tacit_sweep_config(const tacit_sweep *sweep, size_t run, tacit_config *config,
                                tacit_error *err)
{
    const size_t point = run / sweep->seed_count;
    const uint32_t *at = &sweep->at[point * sweep->axis_count];
    char seed[24];
    tacit_config_clear(config);
    tacit_status status = copy_config(config, &sweep->base, err);
    if (status)
        return status;
    /* Beside protocols that are compared, the file may hold options of each. */
    for (size_t i = config->count; name_axis(sweep) && i-- > 0;) {
        const char *key = config->settings[i].key;
        bool known_to_others = false;
        for (size_t p = 0; p < name_axis(sweep)->values.count; p++)
            known_to_others =
                known_to_others || tacit_protocol_knows(name_axis(sweep)->values.text[p], key);
        if (is_own_key(key) && known_to_others &&
            !tacit_protocol_knows(point_protocol(sweep, at), key))
            drop_setting(config, key);
    }
    for (size_t k = 0; k < sweep->axis_count && !status; k++)
        if (at[k] != TACIT_SWEEP_FOREIGN)
            status = set(config, sweep->axes[k].key, sweep->axes[k].values.text[at[k]], err);
    snprintf(seed, sizeof seed, "%lld", (long long)sweep->seeds[run % sweep->seed_count]);
    return status ? status : set(config, "run.seed", seed, err);
}

/* Every point must be an experiment. */
static tacit_status check_points(tacit_sweep *sweep, tacit_error *err)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = TACIT_OK;
    for (size_t point = 0; point < sweep->point_count && !status; point++) {
        tacit_experiment experiment;
        tacit_error why = {0};
        status = tacit_sweep_config(sweep, point * sweep->seed_count, &config, &why);
        if (!status && !(status = tacit_experiment_init(&experiment, &config, &why))) {
            const int secrecy = tacit_experiment_secrecy(&experiment);
            sweep->secrecy = secrecy > sweep->secrecy ? secrecy : sweep->secrecy;
            tacit_experiment_clear(&experiment);
        }
        char words[200];
        tacit_sweep_describe(sweep, point, words, sizeof words);
        if (status)
            tacit_fail(err, status, "%s%s%s%s", *words ? "at " : "", words, *words ? ": " : "",
                       why.text);
    }
    tacit_config_clear(&config);
    return status;
}

/* Without protocols to compare, the base must be an experiment by itself: complaints then
 * point at its file. */
static tacit_status check_base(const tacit_sweep *sweep, const tacit_sweep_grid *grid,
                               tacit_error *err)
{
    for (size_t k = 0; k < grid->vary_count; k++)
        if (names_protocol(grid->vary[k]))
            return TACIT_OK;
    tacit_config config;
    tacit_experiment experiment;
    tacit_status status = copy_config(&config, &sweep->base, err);
    if (!status && !(status = tacit_experiment_init(&experiment, &config, err)))
        tacit_experiment_clear(&experiment);
    tacit_config_clear(&config);
    return status;
}

static tacit_status build(tacit_sweep *sweep, const tacit_config *base,
                          const tacit_sweep_grid *grid, tacit_error *err)
{
    tacit_run_options run;
    tacit_status status;
    sweep->keep_runs = grid->keep_runs;
    sweep->axes = calloc(grid->vary_count + 1, sizeof *sweep->axes);
    if (!sweep->axes)
        return tacit_out_of_memory(err);
    if ((status = copy_config(&sweep->base, base, err)) ||
        (status = tacit_config_apply(&sweep->base, &tacit_run_section, &run, err)) ||
        (status = check_base(sweep, grid, err)) || (status = add_axes(sweep, grid, err)))
        return status;
    memcpy(sweep->name, run.name, sizeof sweep->name);
    for (size_t k = 0; k < sweep->axis_count; k++)
        drop_setting(&sweep->base, sweep->axes[k].key);
    drop_setting(&sweep->base, "run.seed");
    if ((status = set_seeds(sweep, grid->seeds, run.seed, err)) || (status = expand(sweep, err)))
        return status;
    status = check_points(sweep, err);
    return status || !grid->tune ? status : tacit_tuner_create(sweep, grid->tune, err);
}

tacit_status tacit_sweep_plan(tacit_sweep **out, const tacit_config *base,
                              const tacit_sweep_grid *grid, tacit_error *err)
{
    *out = NULL;
    tacit_sweep *sweep = calloc(1, sizeof *sweep);
    if (!sweep)
        return tacit_out_of_memory(err);
    tacit_status status = build(sweep, base, grid, err);
    if (status)
        tacit_sweep_free(sweep);
    else
        *out = sweep;
    return status;
}

void tacit_sweep_free(tacit_sweep *sweep)
{
    if (!sweep)
        return;
    tacit_tuner_free(sweep);
    for (size_t r = 0; sweep->results && r < tacit_sweep_runs(sweep); r++)
        tacit_sweep_forget(&sweep->results[r]);
    for (size_t k = 0; k < sweep->axis_count; k++) {
        free(sweep->axes[k].key);
        tacit_values_clear(&sweep->axes[k].values);
    }
    tacit_config_clear(&sweep->base);
    free(sweep->axes);
    free(sweep->at);
    free(sweep->seeds);
    free(sweep->results);
    free(sweep);
}
