/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.yaml: what a sweep does, so that it can go on without the file and the flags it was
 * started with. `identity` is a hash of all that follows it: results of two plans must never
 * meet in one table.
 */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "config/settings.h"
#include "experiment/sweep.h"
#include "experiment/tune.h"

#define VARY_MOST 1000 /* keys: more than there are */

static void write_scalar(tacit_writer *out, const char *key, const char *value)
{
    tacit_json json = {.out = out}; /* a JSON string is a double-quoted YAML scalar */
    tacit_write_format(out, "  %s: ", key);
    tacit_json_text(&json, NULL, value);
    tacit_write_text(out, "\n");
}

static void write_list(tacit_writer *out, size_t index, const tacit_sweep_axis *axis)
{
    char key[32];
    tacit_writer list = {0};
    tacit_write_format(&list, "%s=", axis->key);
    for (size_t i = 0; i < axis->values.count; i++)
        tacit_write_format(&list, "%s%s", i ? "," : "", axis->values.text[i]);
    snprintf(key, sizeof key, "vary-%zu", index + 1);
    char *text = tacit_writer_take(&list);
    if (text)
        write_scalar(out, key, text);
    else
        out->failed = true;
    free(text);
}

/* "1..5" where seeds follow each other, so that the list stays short; never a lone number,
 * which would be how many. */
static void write_seeds(tacit_writer *out, const tacit_sweep *sweep)
{
    tacit_writer list = {0};
    for (size_t i = 0; i < sweep->seed_count;) {
        size_t end = i;
        while (end + 1 < sweep->seed_count && sweep->seeds[end + 1] == sweep->seeds[end] + 1)
            end++;
        tacit_write_format(&list, "%s%lld..%lld", i ? "," : "", (long long)sweep->seeds[i],
                           (long long)sweep->seeds[end]);
        i = end + 1;
    }
    char *text = tacit_writer_take(&list);
    if (text)
        write_scalar(out, "seeds", text);
    else
        out->failed = true;
    free(text);
}

void tacit_sweep_describe(const tacit_sweep *sweep, size_t point, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (size_t k = 0; k < sweep->axis_count && used < size; k++) {
        const char *value = tacit_sweep_value(sweep, point, k);
        int wrote = value ? snprintf(out + used, size - used, "%s%s=%s", used ? ", " : "",
                                     sweep->axes[k].key, value)
                          : 0;
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* What a search does with the grid. */
static void write_tuning(tacit_writer *out, const tacit_tune_options *o)
{
    char number[40];
    if (!o)
        return;
    write_scalar(out, "optimize", "validation");
    write_scalar(out, "tuned-on", tacit_tuned_on_names[o->on]);
    snprintf(number, sizeof number, "%zu", o->tries);
    write_scalar(out, "tries", number);
    if (o->on != TACIT_TUNED_PRIVATE)
        return;
    snprintf(number, sizeof number, "%.17g", o->choice_epsilon);
    write_scalar(out, "choice-epsilon", number);
    snprintf(number, sizeof number, "%.17g", o->score_bound);
    write_scalar(out, "score-bound", number);
}

static void write_base(tacit_writer *out, const tacit_config *base)
{
    for (size_t s = 0; s < tacit_experiment_section_count; s++) {
        const char *section = tacit_experiment_sections[s]->name;
        const size_t len = strlen(section);
        bool begun = false;
        for (size_t i = 0; i < base->count; i++) {
            const char *key = base->settings[i].key;
            if (strncmp(key, section, len) != 0 || key[len] != '.')
                continue;
            if (!begun)
                tacit_write_format(out, "%s:\n", section);
            begun = true;
            write_scalar(out, key + len + 1, base->settings[i].value);
        }
    }
}

static void identify(const tacit_writer *body, char hex[33])
{
    unsigned char hash[16];
    crypto_generichash(hash, sizeof hash, (const unsigned char *)body->text, body->len, NULL, 0);
    sodium_bin2hex(hex, 33, hash, sizeof hash);
}

/* The text, and its identity. */
static char *plan_text(const tacit_sweep *sweep, char identity[33])
{
    tacit_writer body = {0}, out = {0};
    write_scalar(&body, "version", TACIT_VERSION);
    write_seeds(&body, sweep);
    write_scalar(&body, "keep-runs", sweep->keep_runs ? "true" : "false");
    write_tuning(&body, tacit_sweep_tuning(sweep));
    for (size_t k = 0; k < sweep->axis_count; k++)
        write_list(&body, k, &sweep->axes[k]);
    write_base(&body, &sweep->base);
    if (body.failed || sodium_init() < 0) {
        tacit_writer_clear(&body);
        return NULL;
    }
    identify(&body, identity);
    tacit_write_text(&out,
                     "# The plan of a sweep. \"tacit sweep --resume FOLDER\" goes on with it; "
                     "an edited one is refused.\nsweep:\n");
    write_scalar(&out, "identity", identity);
    tacit_write_bytes(&out, body.text, body.len);
    tacit_writer_clear(&body);
    return tacit_writer_take(&out);
}

char *tacit_sweep_text(const tacit_sweep *sweep)
{
    char identity[33];
    return plan_text(sweep, identity);
}

bool tacit_sweep_same(const tacit_sweep *a, const tacit_sweep *b)
{
    char *one = tacit_sweep_text(a), *other = tacit_sweep_text(b);
    bool same = one && other && strcmp(one, other) == 0;
    free(one);
    free(other);
    return same;
}

/* ---- reading ---- */

static const char *value_of(const tacit_config *config, const char *key)
{
    const tacit_setting *setting = tacit_config_get(config, key);
    return setting ? setting->value : NULL;
}

/* What stands in sections other than "sweep". */
static tacit_status take_base(tacit_config *base, const tacit_config *config, tacit_error *err)
{
    for (size_t i = 0; i < config->count; i++) {
        const tacit_setting *s = &config->settings[i];
        if (strncmp(s->key, "sweep.", 6) == 0)
            continue;
        if (!tacit_settings_add(base, s->key, s->value, strlen(s->value)))
            return tacit_out_of_memory(err);
    }
    return TACIT_OK;
}

static tacit_status edited(const char *path, tacit_error *err)
{
    return tacit_fail(err, TACIT_EVERIFY,
                      "\"%.300s\" was edited or is not the plan of a sweep; start a new sweep",
                      path);
}

/* Numbers that make no sense are found when the plan is written again. */
static void read_tuning(const tacit_config *config, tacit_tune_options *out)
{
    const char *on = value_of(config, "sweep.tuned-on"), *tries = value_of(config, "sweep.tries");
    const char *choice = value_of(config, "sweep.choice-epsilon");
    const char *bound = value_of(config, "sweep.score-bound");
    *out = (tacit_tune_options){.on = TACIT_TUNED_UNSAID};
    for (int k = 1; on && tacit_tuned_on_names[k]; k++)
        if (strcmp(on, tacit_tuned_on_names[k]) == 0)
            out->on = (tacit_tuned_on)k;
    out->tries = tries ? (size_t)strtoull(tries, NULL, 10) : 0;
    out->choice_epsilon = choice ? strtod(choice, NULL) : 0;
    out->score_bound = bound ? strtod(bound, NULL) : 0;
}

static tacit_status read_plan(tacit_sweep **out, const tacit_config *config, const char *path,
                              tacit_error *err)
{
    const char *vary[VARY_MOST], *seeds = value_of(config, "sweep.seeds");
    const char *version = value_of(config, "sweep.version");
    const char *identity = value_of(config, "sweep.identity");
    const char *keep = value_of(config, "sweep.keep-runs");
    tacit_sweep_grid grid = {
        .vary = vary, .seeds = seeds, .keep_runs = keep && strcmp(keep, "true") == 0};
    char key[32], now[33];
    tacit_tune_options tune;
    read_tuning(config, &tune);
    if (value_of(config, "sweep.optimize"))
        grid.tune = &tune;
    if (!seeds || !version || !identity)
        return edited(path, err);
    if (strcmp(version, TACIT_VERSION) != 0)
        return tacit_fail(err, TACIT_EVERIFY,
                          "\"%.300s\" is of tacit %.20s and this is %s: results of two versions do "
                          "not belong in one table; start a new sweep",
                          path, version, TACIT_VERSION);
    for (; grid.vary_count < VARY_MOST; grid.vary_count++) {
        snprintf(key, sizeof key, "sweep.vary-%zu", grid.vary_count + 1);
        if (!(vary[grid.vary_count] = value_of(config, key)))
            break;
    }
    tacit_config base;
    tacit_config_init(&base);
    tacit_status status = take_base(&base, config, err);
    if (!status)
        status = tacit_sweep_plan(out, &base, &grid, err);
    tacit_config_clear(&base);
    if (status)
        return status == TACIT_EINTERNAL ? status : edited(path, err);
    char *text = plan_text(*out, now);
    status = !text                        ? tacit_out_of_memory(err)
             : strcmp(now, identity) != 0 ? edited(path, err)
                                          : TACIT_OK;
    free(text);
    if (status) {
        tacit_sweep_free(*out);
        *out = NULL;
    }
    return status;
}

tacit_status tacit_sweep_read(tacit_sweep **out, const char *folder, tacit_error *err)
{
    *out = NULL;
    tacit_writer name = {0};
    tacit_write_format(&name, "%s/sweep.yaml", folder);
    char *path = tacit_writer_take(&name);
    if (!path)
        return tacit_out_of_memory(err);
    tacit_config config;
    tacit_config_init(&config);
    tacit_status status = tacit_config_read(&config, path, err);
    if (!status)
        status = read_plan(out, &config, path, err);
    tacit_config_clear(&config);
    free(path);
    return status;
}
