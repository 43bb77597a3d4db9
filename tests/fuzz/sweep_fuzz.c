/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as the lists of a sweep or as its runs.csv, or that of a search: an error with words,
 * or a plan whose values differ, of a size that was promised. The first byte chooses which.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/tune.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static tacit_sweep *plan(const char *vary, const char *seeds, const tacit_tune_options *tune)
{
    tacit_config config;
    tacit_config_init(&config);
    tacit_sweep *sweep;
    tacit_error err = {0};
    if (tune && tacit_config_set(&config, "privacy.accountant=sum", &err)) /* the fastest */
        abort();
    const char *const all[] = {"protocol.name=cd,alone", vary};
    const tacit_sweep_grid grid = {.vary = all, .vary_count = 2, .seeds = seeds, .tune = tune};
    tacit_status status = tacit_sweep_plan(&sweep, &config, &grid, &err);
    tacit_config_clear(&config);
    if (status ? sweep != NULL || err.text[0] == '\0' : sweep == NULL)
        abort();
    return sweep;
}

static void check(const tacit_sweep *sweep)
{
    const size_t runs = tacit_sweep_runs(sweep);
    if (runs == 0 || runs > TACIT_SWEEP_MOST)
        abort();
    /* What a plan writes is what it reads. */
    const tacit_sweep_axis *axis = &sweep->axes[1];
    for (size_t i = 1; i < axis->values.count && i < 50; i++)
        if (strcmp(axis->values.text[i], axis->values.text[i - 1]) == 0)
            abort();
    char *text = tacit_sweep_text(sweep);
    if (!text)
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0 || len > 4096)
        return 0;
    char *text = calloc(1, len + 20);
    if (!text)
        return 0;
    static const tacit_tune_options charged = {.on = TACIT_TUNED_PRIVATE};
    static const char *const keys[] = {"protocol.mu=", "graph.k=", "data.path=", ""};
    const char *key = keys[(bytes[0] >> 2) % 4];
    tacit_sweep *sweep = NULL;
    memcpy(text, key, strlen(key));
    memcpy(text + ((bytes[0] & 3) == 0 ? strlen(key) : 0), bytes + 1, len - 1);
    if ((bytes[0] & 3) == 0)
        sweep = plan(text, "2", NULL);
    else if ((bytes[0] & 3) == 1) {
        text[len - 1] = '\0';
        sweep = plan("protocol.mu=1,2", text, NULL);
    } else if ((sweep = plan("protocol.mu=1,2", "2", (bytes[0] & 3) == 3 ? &charged : NULL))) {
        text[len - 1] = '\0';
        tacit_error err = {0};
        if (tacit_sweep_read_rows(sweep, "fuzz", text, &err) && !err.text[0])
            abort();
        bool more;
        if (sweep->tuner && tacit_tune_next(sweep, &more, &err) && !err.text[0])
            abort();
        char *means = tacit_sweep_means(sweep), *page = tacit_sweep_page(sweep);
        char *json = tacit_sweep_json(sweep, TACIT_SWEEP_VALIDATION);
        if (!means || !page || !json)
            abort();
        free(means);
        free(page);
        free(json);
    }
    if (sweep)
        check(sweep);
    tacit_sweep_free(sweep);
    free(text);
    return 0;
}
