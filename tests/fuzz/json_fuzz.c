/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as summary.json: an error with words and an empty tree, or a tree of sane values
 * that can be written and read again.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_read.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void write_value(tacit_json *json, const tacit_json_tree *t, const tacit_json_value *v)
{
    switch (v->kind) {
    case TACIT_JSON_OBJECT:
    case TACIT_JSON_ARRAY:
        tacit_json_begin(json, v->key, v->kind == TACIT_JSON_OBJECT ? '{' : '[');
        for (const tacit_json_value *m = tacit_json_first(t, v); m; m = tacit_json_next(t, m)) {
            demand(v->kind == TACIT_JSON_ARRAY ? !m->key : tacit_json_member(t, v, m->key) == m);
            write_value(json, t, m);
        }
        tacit_json_end(json, v->kind == TACIT_JSON_OBJECT ? '}' : ']');
        break;
    case TACIT_JSON_TEXT:
        tacit_json_text(json, v->key, v->text);
        break;
    case TACIT_JSON_NUMBER:
        demand(isfinite(v->number));
        tacit_json_real(json, v->key, v->number);
        break;
    case TACIT_JSON_BOOL:
        tacit_json_bool(json, v->key, v->number != 0);
        break;
    default:
        tacit_json_null(json, v->key);
    }
}

static char *written(const tacit_json_tree *t)
{
    tacit_writer out = {0};
    write_value(&(tacit_json){.out = &out, .compact = true}, t, &t->values[0]);
    return tacit_writer_take(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    tacit_json_tree tree, again;
    tacit_error err = {0};
    tacit_status status = tacit_json_read(&tree, "fuzz.json", (const char *)bytes, len, &err);
    if (status) {
        demand(err.text[0] && !tree.values && !tree.text);
        return 0;
    }
    char *first = written(&tree);
    demand(tacit_json_read(&again, "again.json", first, strlen(first), &err) == TACIT_OK);
    demand(again.count == tree.count);
    char *second = written(&again);
    demand(strcmp(first, second) == 0);
    free(first);
    free(second);
    tacit_json_clear(&tree);
    tacit_json_clear(&again);
    return 0;
}
