/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pld accountant against values by independent accountants and closed forms
 * (tests/golden/epsilon.csv). Of a group of rows with one name, an epsilon is valid if it is at
 * least every `lower` and `exact`, and tight if it is at most 1.001 times the least PLD `upper`, or
 * the `exact` where there is none. The optimistic twin may exceed no `exact` and no `upper`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/account.h"
#include "testing.h"

enum { EVERY = SLOW ? 5 : 1, MOST_PARTS = 8 };

typedef struct group {
    char name[128], mechanism[64], params[400];
    double delta;
    double least; /* an answer must be at least this */
    double exact; /* NAN if unknown */
    double upper; /* the least of a PLD accountant */
    double most;  /* the least of all uppers and exacts: above the optimistic answer */
} group;

/* The next field of a CSV line, quotes taken off. */
static const char *field(const char *from, char *to, size_t size)
{
    size_t n = 0;
    const bool quoted = *from == '"';
    for (from += quoted; *from && *from != '\r' && *from != '\n'; from++) {
        if (quoted && from[0] == '"' && from[1] == '"')
            from++;
        else if (quoted ? *from == '"' : *from == ',')
            break;
        if (n + 1 < size)
            to[n++] = *from;
    }
    to[n] = '\0';
    from += quoted && *from == '"';
    return *from == ',' ? from + 1 : from;
}

static double number(const char *params, const char *key)
{
    char quoted[40];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *found = strstr(params, quoted);
    return found ? strtod(found + strlen(quoted), NULL) : NAN;
}

/* The losses a group is about; 0 if it is not ours. */
static size_t losses(const group *g, tacit_loss *loss)
{
    const char *m = g->mechanism, *p = g->params;
    tacit_loss l = {.adjacency = TACIT_REPLACE, .sampling = 1, .count = 1};
    if (strcmp(m, "sampled_gaussian") == 0 || strcmp(m, "sampled_gaussian_replace_one") == 0) {
        const bool replaced = strcmp(m, "sampled_gaussian") != 0;
        l.kind = TACIT_LOSS_GAUSSIAN;
        l.adjacency = replaced ? TACIT_REPLACE : TACIT_ADD_REMOVE;
        l.noise = number(p, "sigma");
        l.shift = replaced ? 2 : 1;
        l.sampling = number(p, "q");
        l.count = (uint64_t)number(p, "steps");
    } else if (strcmp(m, "gaussian") == 0 || strcmp(m, "gaussian_calibrated") == 0) {
        l.kind = TACIT_LOSS_GAUSSIAN;
        l.noise = number(p, "sigma");
        l.shift = number(p, "sensitivity");
    } else if (strcmp(m, "discrete_gaussian") == 0) {
        l.kind = TACIT_LOSS_DISCRETE_GAUSSIAN;
        l.noise = number(p, "sigma");
        l.shift = number(p, "sensitivity");
        l.count = (uint64_t)number(p, "T");
    } else if (strcmp(m, "laplace_composed") == 0) {
        l.kind = TACIT_LOSS_LAPLACE;
        l.noise = 1 / number(p, "eps0");
        l.shift = 1;
        l.count = (uint64_t)number(p, "k");
    } else if (strcmp(m, "pure_dp_composed") == 0) {
        l.kind = TACIT_LOSS_PURE;
        l.epsilon = number(p, "eps0");
        l.count = (uint64_t)number(p, "k");
    } else if (strncmp(m, "k_ary_", 6) == 0) {
        l.kind = TACIT_LOSS_RESPONSE;
        l.categories = (uint32_t)number(p, "k");
        l.epsilon = log(number(p, "p_true") / number(p, "p_other"));
        l.count = isnan(number(p, "n")) ? 1 : (uint64_t)number(p, "n");
    } else if (strcmp(m, "pure_dp_composed_hetero") == 0) {
        size_t parts = 0;
        l.kind = TACIT_LOSS_PURE;
        for (const char *at = strstr(p, "[["); at && parts < MOST_PARTS; at = strchr(at + 1, '[')) {
            char *end;
            l.epsilon = strtod(at + strspn(at, "[ "), &end);
            l.count = (uint64_t)strtod(end + 1, NULL);
            loss[parts++] = l;
            if (at[1] == '[')
                at++;
        }
        return parts;
    } else {
        return 0;
    }
    loss[0] = l;
    return 1;
}

static int checked, checked_below;

static void check_group(const group *g)
{
    tacit_loss loss[MOST_PARTS];
    const size_t parts = losses(g, loss);
    if (parts == 0)
        return;
    tacit_error err = {0};
    double up, low;
    check_ok(tacit_account_pld.epsilon(loss, parts, g->delta, &up, &err), &err);
    check_ok(tacit_account_pld_optimistic.epsilon(loss, parts, g->delta, &low, &err), &err);
    const double tight = isfinite(g->upper) ? g->upper : g->exact;
    const double rounding = 1e-12;                   /* values of the file have 15 digits or so */
    assert_true(isfinite(g->most) && !isnan(tight)); /* there is something to check */
    if (!(up >= g->least * (1 - rounding)))
        fail_msg("%s: %.15g is not valid: at least %.15g", g->name, up, g->least);
    if (!(up <= 1.001 * tight))
        fail_msg("%s: %.15g is not tight: %.15g", g->name, up, tight);
    if (!(low <= g->most * (1 + rounding) && low <= up))
        fail_msg("%s: optimistic %.15g above %.15g or %.15g", g->name, low, g->most, up);
    if (!(low >= 0.998 * up))
        fail_msg("%s: optimistic %.15g far from %.15g", g->name, low, up);
    checked++;
    checked_below += g->least >= 0;
}

static void take_row(group *g, const char *line)
{
    char mechanism[64], params[400], delta[40], value[40], source[200], kind[20], name[128];
    const char *at = field(line, name, sizeof name);
    at = field(at, mechanism, sizeof mechanism);
    at = field(at, params, sizeof params);
    at = field(at, delta, sizeof delta);
    at = field(at, value, sizeof value);
    at = field(at, source, sizeof source);
    field(at, kind, sizeof kind);
    const double epsilon = strtod(value, NULL);
    if (g->name[0] == '\0') {
        memcpy(g->name, name, sizeof name);
        memcpy(g->mechanism, mechanism, sizeof mechanism);
        memcpy(g->params, params, sizeof params);
        g->delta = strtod(delta, NULL);
        g->exact = NAN;
        g->least = -1;
        g->upper = g->most = INFINITY;
    }
    const bool exact = strcmp(kind, "exact") == 0, upper = strcmp(kind, "upper") == 0;
    if (exact || strcmp(kind, "lower") == 0)
        g->least = fmax(g->least, epsilon);
    if (exact)
        g->exact = epsilon;
    if (exact || upper)
        g->most = fmin(g->most, epsilon);
    if (upper && strstr(source, "PLD"))
        g->upper = fmin(g->upper, epsilon);
}

static void golden(void **state)
{
    (void)state;
    static char line[4096], name[128];
    char path[600];
    const char *top = getenv("TACIT_SOURCE_DIR");
    assert_non_null(top);
    snprintf(path, sizeof path, "%s/tests/golden/epsilon.csv", top);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    group g = {0};
    int groups = 0;
    assert_non_null(fgets(line, sizeof line, file)); /* the header */
    while (fgets(line, sizeof line, file)) {
        field(line, name, sizeof name);
        if (g.name[0] && strcmp(name, g.name) != 0) {
            if (groups++ % EVERY == 0)
                check_group(&g);
            g = (group){0};
        }
        take_row(&g, line);
    }
    check_group(&g);
    fclose(file);
    assert_true(checked >= (SLOW ? 50 : 340));
    assert_true(checked_below >= (SLOW ? 40 : 280));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
