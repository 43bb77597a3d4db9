/* SPDX-License-Identifier: Apache-2.0 */
/* A forecast in words: what pilots say of the law, each owner's stake, and the map. */
#include "forecast.h"
#include "terminal.h"

#include <math.h>
#include <string.h>

enum { INDENT = 14, OWNERS_SHOWN = 20, MAP_ROWS = 13, CELL = 5 };

static void say(const char *what, const char *words)
{
    printf("  %-*s", INDENT - 2, what);
    cli_wrap(words, INDENT, INDENT);
}

/* ---- laws ---- */

static void say_warnings(const tacit_forecast_view *view)
{
    bool outside = false, lone_outside = false;
    for (size_t i = 0; i < view->count; i++) {
        outside = outside || view->stakes[i].together.outside;
        lone_outside = lone_outside || view->stakes[i].alone.outside;
    }
    if (tacit_fitness_law_is_bad(view->together) || tacit_fitness_law_is_bad(view->alone))
        say("UNRELIABLE", "the pilots do not follow the law, so that the numbers below are worth "
                          "little; see \"misfit\", and tune step, range and clip of the learner "
                          "first");
    if (outside && view->pilots)
        say("beyond", "what is asked for lies outside of what the pilots showed: it holds if the "
                      "law goes on, which nobody has seen");
    if (lone_outside && view->pilots)
        say("beyond", "no owner of a pilot had so many or so few records: \"alone\" holds if its "
                      "law goes on");
}

/* Pilots are smaller than what is asked about, as a rule, and a floor may fall with size. */
static void say_floor(const tacit_forecast_view *view, size_t below)
{
    char text[400];
    const tacit_fitness_law *law = view->together;
    double records = 0;
    for (size_t i = 0; i < view->count; i++)
        records += view->owners[i].records;
    if (tacit_fitness_law_floor_seen(law))
        snprintf(text, sizeof text,
                 "%zu of %zu owners are better alone at any epsilon: what is left without noise "
                 "(%.2g) is more than they have%s. More iterations, another step or a larger clip "
                 "may lower it",
                 below, view->count, law->c[0],
                 view->pilots && records > view->pilots->records
                     ? ", if that does not fall with more records than pilots had"
                     : "");
    else
        snprintf(text, sizeof text,
                 "the pilots cannot tell whether %zu of %zu owners are better alone at any "
                 "epsilon: all pilots had noise, and what is left without it (%.2g) is a guess",
                 below, view->count, law->c[0]);
    say("floor", text);
}

/* What the law itself says, however well it fits. */
static void say_limits(const tacit_forecast_view *view)
{
    char text[300];
    const tacit_fitness_law *law = view->together;
    size_t below = 0;
    for (size_t i = 0; i < view->count; i++)
        below += view->stakes[i].alone.psi <= law->c[0];
    if (view->pilots && law->fewest == law->largest) {
        snprintf(text, sizeof text,
                 "one law did not hold for all numbers of owners, so this is that of %.0f owners; "
                 "what it says of other numbers is a guess",
                 law->fewest);
        say("owners", text);
    }
    if (below > 0)
        say_floor(view, below);
}

static void say_misfit(const tacit_forecast_view *view)
{
    char text[500];
    const tacit_fitness_law *t = view->together, *a = view->alone;
    const tacit_pilot *worst = &view->pilots->run[t->worst_at];
    snprintf(text, sizeof text,
             "%zu runs of %zu settings, and %zu more that ended worse than a model of zeros; equal "
             "runs differ by a factor of %.2f, their means miss the law by %.2f typically and %.2f "
             "at worst (%.0f owners, %.0f records); models of one's own miss theirs by %.2f and "
             "%.2f",
             t->points, t->settings, view->pilots->hopeless, exp(t->within), exp(t->between),
             t->worst, worst->owners, worst->records, exp(a->between), a->worst);
    say("misfit", text);
}

static void say_laws(const tacit_forecast_view *view)
{
    char text[500], crowd[40] = "";
    const tacit_fitness_law *t = view->together, *a = view->alone;
    if (t->crowd != 0)
        snprintf(crowd, sizeof crowd, "N^%.2f ", t->crowd);
    snprintf(text, sizeof text,
             "psi = %.3g + %.3g s + %.3g s^2 with s = %ssqrt(sum of 1/epsilon^2) / n%s", t->c[0],
             t->c[1], t->c[2], crowd,
             t->exchange.count ? ", where epsilon stands for the pure budget with as much noise"
                               : "");
    say("together", text);
    snprintf(text, sizeof text, "psi = %.3g (1/own - 1/n)", a->c[1]);
    say("alone", text);
    if (view->pilots)
        say_misfit(view);
    say_limits(view);
}

/* ---- owners ---- */

static void least_words(double least, bool outside, char *out, size_t size)
{
    const char *mark = outside ? "*" : "";
    if (isinf(least))
        snprintf(out, size, "none%s", mark);
    else if (least < TACIT_JOIN_EPSILON_LEAST)
        snprintf(out, size, "any%s", mark);
    else
        snprintf(out, size, least >= 1000 && least < 1e7 ? "%.0f%s" : "%.3g%s", least, mark);
}

static void say_owner(const char *name, const tacit_joiner *owner, const tacit_stake *s)
{
    char interval[40] = "";
    if (s->together.low < s->together.high)
        snprintf(interval, sizeof interval, "%.2g to %.2g", s->together.low, s->together.high);
    printf("  %-16.16s %9.6g %7.3g %8.3g %8.3g  %-18s %4.0f %%\n", name, owner->records,
           owner->epsilon, s->alone.psi, s->together.psi, interval, 100 * s->chance);
}

static void say_least(const char *name, const tacit_stake *s)
{
    char own[20], everyone[20], partners[20];
    least_words(s->own, s->own_outside, own, sizeof own);
    least_words(s->everyone, s->everyone_outside, everyone, sizeof everyone);
    least_words(s->partners, s->partners_outside, partners, sizeof partners);
    printf("  %-16.16s %16s %16s %16s\n", name, own, everyone, partners);
}

static bool all_alike(const tacit_forecast_view *view)
{
    for (size_t i = 1; i < view->count; i++)
        if (view->owners[i].records != view->owners[0].records ||
            view->owners[i].epsilon != view->owners[0].epsilon)
            return false;
    return true;
}

static void explain(const tacit_forecast_view *view, size_t shown)
{
    bool marked = false;
    for (size_t i = 0; i < shown; i++) {
        const tacit_stake *s = &view->stakes[i];
        marked = marked || s->own_outside || s->everyone_outside || s->partners_outside;
    }
    say("columns", "alone, together: relative fitness psi = f/f* - 1 of a model of one's own, and "
                   "of a single run together; less is better. pays: the chance that together is "
                   "better. least: what it takes for a typical run to be so");
    if (marked)
        say("*", "beyond the pilots: no pilot had such noise or so many owners");
}

static void say_owners(const tacit_forecast_view *view)
{
    char interval[40], each[40];
    const bool alike = all_alike(view);
    const size_t shown = alike ? 1 : view->count < OWNERS_SHOWN ? view->count : OWNERS_SHOWN;
    snprintf(interval, sizeof interval, "(%.3g %%)", 100 * view->coverage);
    snprintf(each, sizeof each, "each of %zu", view->count);
    printf("\n  %s%-16s %9s %7s %8s %8s  %-18s %6s%s\n", cli_faint(), "owner", "records", "epsilon",
           "alone", "together", view->pilots ? interval : "", "pays", cli_plain());
    for (size_t i = 0; i < shown; i++)
        say_owner(alike ? each : view->owners[i].name, &view->owners[i], &view->stakes[i]);
    printf("\n  %s%-16s %16s %16s %16s%s\n", cli_faint(), "least", "own epsilon", "common epsilon",
           "partners", cli_plain());
    for (size_t i = 0; i < shown; i++)
        say_least(alike ? each : view->owners[i].name, &view->stakes[i]);
    if (!alike && view->count > shown)
        printf("  and %zu more: --json or --out lists all\n", view->count - shown);
    putchar('\n');
    explain(view, shown);
}

/* What was predicted, and what came. */
static void say_checked(const tacit_forecast_view *view)
{
    char text[400];
    const tacit_outlook *t = &view->stakes[0].together, *a = &view->stakes[0].alone;
    size_t inside = 0, alone_inside = 0, pays = 0;
    double least = INFINITY, most = 0, sum = 0, alone = 0;
    for (size_t k = 0; k < view->checks; k++) {
        const tacit_checked *c = &view->checked[k];
        inside += c->together >= t->low && c->together <= t->high;
        alone_inside += c->alone >= a->low && c->alone <= a->high;
        pays += c->together < c->alone;
        least = fmin(least, c->together);
        most = fmax(most, c->together);
        sum += log(c->together);
        alone += log(c->alone);
    }
    const double runs = (double)view->checks;
    snprintf(
        text, sizeof text,
        "%zu runs of it came to psi from %.2g to %.2g, typically %.3g (predicted %.3g; %zu "
        "within the interval); alone typically %.3g (predicted %.3g; %zu within); together was "
        "better in %zu",
        view->checks, least, most, exp(sum / runs), t->psi, inside, exp(alone / runs), a->psi,
        alone_inside, pays);
    say("checked", text);
}

/* ---- the map ---- */

typedef struct rows {
    double top, factor;
} rows;

/* Epsilons of the map: around the border and the owners' own, six decades at most. */
static rows choose_rows(const tacit_forecast_view *view, const double *border)
{
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < view->count; i++) {
        low = fmin(low, view->owners[i].epsilon);
        high = fmax(high, view->owners[i].epsilon);
    }
    const double middle = sqrt(low * high);
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        if (!isfinite(border[k]) || !(border[k] > 0))
            continue;
        low = fmin(low, border[k] / 3);
        high = fmax(high, border[k] * 3);
    }
    low = fmax(low, middle / 1000);
    high = fmin(high, middle * 1000);
    const double from = floor(log10(low)), to = fmax(ceil(log10(high)), from + 1);
    return (rows){.top = pow(10, to), .factor = pow(10, (to - from) / (MAP_ROWS - 1))};
}

static char cell(double epsilon, double border, double sure, double hopeless)
{
    if (epsilon >= sure)
        return '#';
    if (epsilon >= border)
        return '+';
    return epsilon >= hopeless ? '-' : '.';
}

static void short_count(double count, char *out, size_t size)
{
    if (count >= 1e9)
        snprintf(out, size, "%.0fG", count / 1e9);
    else if (count >= 1e6)
        snprintf(out, size, "%.0fM", count / 1e6);
    else if (count >= 1e4)
        snprintf(out, size, "%.0fk", count / 1000);
    else
        snprintf(out, size, "%.0f", count);
}

/* A row of stars under columns whose border no pilot was near. */
static void mark_columns(const bool *outside)
{
    bool any = false;
    for (int j = 0; j < TACIT_MAP_COLUMNS; j++)
        any = any || outside[j];
    if (any) {
        printf("\n  %8s ", "beyond");
        for (int j = 0; j < TACIT_MAP_COLUMNS; j++)
            printf("%*s", CELL, outside[j] ? "*" : "");
    }
    printf("\n\n");
    say("map", "# joining pays with a chance of 95 %, + rather yes, - rather no, . hardly (5 %)");
    if (any)
        say("*", "the border lies at a noise or a number of owners that no pilot had");
}

static void say_map(const tacit_forecast_view *view, int which)
{
    const tacit_forecast_map map = tacit_forecast_draw(view);
    const bool owners = which == CLI_MAP_OWNERS;
    const double *x = owners ? map.owners : map.records;
    const double *border = owners ? map.border : map.by_records;
    const double *sure = owners ? map.sure : map.records_sure;
    const double *hopeless = owners ? map.hopeless : map.records_hopeless;
    const rows r = choose_rows(view, border);
    if (owners)
        printf("\n  %sepsilon of everyone, by owners of %.6g records each%s\n", cli_faint(),
               map.own, cli_plain());
    else
        printf("\n  %sepsilon of everyone, by records of each of %zu owners%s\n", cli_faint(),
               view->count, cli_plain());
    for (int k = 0; k < MAP_ROWS; k++) {
        const double epsilon = r.top * pow(r.factor, -k);
        printf("  %8.3g ", epsilon);
        for (int j = 0; j < TACIT_MAP_COLUMNS; j++)
            printf("%*c", CELL, cell(epsilon, border[j], sure[j], hopeless[j]));
        putchar('\n');
    }
    printf("  %8s ", "");
    for (int j = 0; j < TACIT_MAP_COLUMNS; j++) {
        char label[20];
        short_count(x[j], label, sizeof label);
        printf("%*s", CELL, label);
    }
    mark_columns(owners ? map.outside : map.records_outside);
}

void cli_forecast_say(const tacit_forecast_view *view, int map)
{
    say_warnings(view);
    say_laws(view);
    say_owners(view);
    if (view->checks > 0)
        say_checked(view);
    say_map(view, map);
}
