/* SPDX-License-Identifier: Apache-2.0 */
/* tacit model show: what is in a model file, in words and as JSON. */
#include "model.h"
#include "terminal.h"

#include "base/writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- JSON: tacit.model/1 ---- */

static void json_volume(tacit_json *json, const char *key, tacit_volume v)
{
    tacit_json_begin(json, key, '[');
    tacit_json_count(json, NULL, v.planes);
    tacit_json_count(json, NULL, v.height);
    tacit_json_count(json, NULL, v.width);
    tacit_json_end(json, ']');
}

static void json_layers(tacit_json *json, const tacit_net *net)
{
    tacit_json_begin(json, "layers", '[');
    for (size_t k = 0; k < tacit_net_layers(net); k++) {
        tacit_volume out;
        size_t parameters;
        const tacit_layer layer = tacit_net_layer_at(net, k, &out, &parameters);
        char *words = tacit_layers_text(&layer, 1);
        json->out->failed |= !words;
        tacit_json_begin(json, NULL, '{');
        tacit_json_text(json, "layer", words ? words : "");
        json_volume(json, "out", out);
        tacit_json_count(json, "parameters", parameters);
        tacit_json_end(json, '}');
        free(words);
    }
    tacit_json_end(json, ']');
}

static char *json_of(const tacit_net_model *m)
{
    tacit_writer out = {0};
    tacit_json json = {.out = &out};
    tacit_json_begin(&json, NULL, '{');
    tacit_json_text(&json, "schema", "tacit.model/1");
    json_volume(&json, "input", tacit_net_input(m->net));
    json_layers(&json, m->net);
    tacit_json_count(&json, "parameters", tacit_net_parameters(m->net));
    tacit_json_count(&json, "classes", tacit_net_classes(m->net));
    tacit_json_begin(&json, "names", '[');
    for (size_t k = 0; m->names && k < tacit_net_classes(m->net); k++)
        tacit_json_text(&json, NULL, m->names[k]);
    tacit_json_end(&json, ']');
    tacit_json_count(&json, "constants", m->pairs);
    tacit_json_end(&json, '}');
    return tacit_writer_take(&out);
}

/* ---- words ---- */

static tacit_status say_layers(const tacit_net *net, tacit_error *err)
{
    char text[100], count[40];
    printf("\n  %5s  %-32s %-20s %12s\n", "", "layer", "out", "parameters");
    for (size_t k = 0; k < tacit_net_layers(net); k++) {
        tacit_volume out;
        size_t parameters;
        const tacit_layer layer = tacit_net_layer_at(net, k, &out, &parameters);
        char *words = tacit_layers_text(&layer, 1);
        if (!words)
            return tacit_out_of_memory(err);
        model_volume(out, text, sizeof text);
        cli_count(parameters, count, sizeof count);
        if (parameters > 0)
            printf("  %5zu  %-32s %-20s %12s\n", k + 1, words, text, count);
        else
            printf("  %5zu  %-32s %s\n", k + 1, words, text);
        free(words);
    }
    return TACIT_OK;
}

static void say_constants(const tacit_net_model *m)
{
    printf("  %-22s", "constants");
    if (m->pairs == 0)
        puts("none: numbers go in as they are");
    else if (m->pairs == 1)
        printf("%.9g times a number, plus %.9g\n", (double)m->scale[0], (double)m->shift[0]);
    else
        puts("a scale and a shift for each number of a record");
}

static void say_classes(const tacit_net_model *m)
{
    char text[400];
    size_t used = 0;
    const size_t classes = tacit_net_classes(m->net);
    for (size_t k = 0; m->names && k < classes && used < 300; k++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%.60s", k ? ", " : ": ",
                                 m->names[k]);
    printf("  %-22s", "classes");
    char all[440];
    snprintf(all, sizeof all, "%zu%s%s", classes, m->names ? text : "", used >= 300 ? ", ..." : "");
    cli_wrap(all, 24, 24);
}

tacit_status model_show(const char *path, const tacit_net_model *model, bool json, tacit_error *err)
{
    char text[100], count[40];
    if (json)
        return cli_print_text(json_of(model), err);
    cli_count(tacit_net_parameters(model->net), count, sizeof count);
    printf("%s%s%s: a net of %s parameters\n", cli_bold(), path, cli_plain(), count);
    model_volume(tacit_net_input(model->net), text, sizeof text);
    printf("  %-22s%s\n", "records", text);
    say_constants(model);
    say_classes(model);
    return say_layers(model->net, err);
}
