/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

/* One field of a CSV line, quotes undone; returns what follows it. */
static const char *field(const char *at, size_t room, char *out)
{
    const bool quoted = *at == '"';
    size_t used = 0;
    for (at += quoted; *at && *at != '\n' && *at != '\r'; at++) {
        if (quoted && *at == '"' && *++at != '"')
            break;
        if (!quoted && *at == ',')
            break;
        assert_true(used + 1 < room);
        out[used++] = *at;
    }
    out[used] = 0;
    return *at == ',' ? at + 1 : at;
}

static void parse(const char *line, golden_row *row)
{
    char number[40];
    line = field(line, sizeof row->name, row->name);
    line = field(line, sizeof row->mechanism, row->mechanism);
    line = field(line, sizeof row->params, row->params);
    line = field(line, sizeof number, number);
    row->delta = strtod(number, NULL);
    line = field(line, sizeof number, number);
    row->epsilon = strtod(number, NULL);
    line = field(line, sizeof row->source, row->source);
    field(line, sizeof row->kind, row->kind);
}

golden golden_read(const char *file)
{
    char path[600], line[1200];
    const char *root = getenv("TACIT_SOURCE_DIR");
    assert_non_null(root);
    snprintf(path, sizeof path, "%s/tests/golden/%s", root, file);
    FILE *in = fopen(path, "r");
    if (!in)
        fail_msg("cannot open %s", path);
    golden g = {0};
    size_t room = 0;
    assert_non_null(fgets(line, sizeof line, in)); /* the header */
    while (fgets(line, sizeof line, in)) {
        if (g.count == room) {
            room = room ? 2 * room : 256;
            g.row = realloc(g.row, room * sizeof *g.row);
            assert_non_null(g.row);
        }
        parse(line, &g.row[g.count++]);
    }
    fclose(in);
    return g;
}

void golden_free(golden *g)
{
    free(g->row);
    *g = (golden){0};
}

double golden_number(const golden_row *row, const char *key)
{
    char name[48];
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = strstr(row->params, name);
    return at ? strtod(at + strlen(name), NULL) : NAN;
}

bool golden_says(const golden_row *row, const char *word)
{
    return strstr(row->source, word) || strstr(row->params, word);
}

static uint64_t times(double number)
{
    return isnan(number) ? 1 : (uint64_t)number;
}

/* {"groups": [[eps, count], ...]} */
static bool groups(const golden_row *row, tacit_loss *loss, size_t *count)
{
    const char *at = strstr(row->params, "[[");
    for (*count = 0; at && *count < 4; ++*count) {
        char *end;
        loss[*count] = (tacit_loss){.kind = TACIT_LOSS_PURE, .sampling = 1};
        loss[*count].epsilon = strtod(at + (*at == '[' ? 1 + (at[1] == '[') : 0), &end);
        loss[*count].count = (uint64_t)strtod(end + 1, &end);
        at = strchr(end, '[');
    }
    return *count > 0;
}

bool golden_losses(const golden_row *row, tacit_loss *loss, size_t *count)
{
    const char *m = row->mechanism;
    *count = 1;
    *loss = (tacit_loss){.adjacency = TACIT_REPLACE, .sampling = 1, .shift = 1, .count = 1};
    if (strcmp(m, "sampled_gaussian") == 0 || strcmp(m, "sampled_gaussian_replace_one") == 0) {
        const bool replace = strcmp(m, "sampled_gaussian") != 0;
        loss->kind = TACIT_LOSS_GAUSSIAN;
        loss->adjacency = replace ? TACIT_REPLACE : TACIT_ADD_REMOVE;
        loss->shift = replace ? 2 : 1;
        loss->noise = golden_number(row, "sigma");
        loss->sampling = golden_number(row, "q");
        loss->count = times(golden_number(row, "steps"));
    } else if (strcmp(m, "gaussian") == 0 || strcmp(m, "gaussian_calibrated") == 0) {
        loss->kind = TACIT_LOSS_GAUSSIAN;
        loss->noise = golden_number(row, "sigma");
    } else if (strncmp(m, "discrete_gaussian", 17) == 0) {
        loss->kind = TACIT_LOSS_DISCRETE_GAUSSIAN;
        loss->noise = golden_number(row, "sigma");
        loss->count = times(golden_number(row, "T"));
    } else if (strcmp(m, "laplace_composed") == 0) {
        loss->kind = TACIT_LOSS_LAPLACE;
        loss->noise = 1 / golden_number(row, "eps0");
        loss->count = times(golden_number(row, "k"));
    } else if (strcmp(m, "pure_dp_composed") == 0) {
        loss->kind = TACIT_LOSS_PURE;
        loss->epsilon = golden_number(row, "eps0");
        loss->count = times(golden_number(row, "k"));
    } else if (strcmp(m, "pure_dp_composed_hetero") == 0) {
        return groups(row, loss, count);
    } else if (strncmp(m, "k_ary_", 6) == 0) {
        loss->kind = TACIT_LOSS_RESPONSE;
        loss->categories = (uint32_t)golden_number(row, "k");
        loss->epsilon = log(golden_number(row, "p_true") / golden_number(row, "p_other"));
        loss->count = times(golden_number(row, "n"));
    } else {
        return false;
    }
    return true;
}
