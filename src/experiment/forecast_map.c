/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The border of where joining pays, as curves (paper 002, Fig. 7): the least epsilon of everyone
 * over the number of owners, and over the records of each. Where laws come from pilots there are
 * two more curves, above which joining pays with a chance of 95 % and below which with one of 5 %.
 */
#include <math.h>

#include "tacit/forecast.h"

#define LOG_LEAST (-60.0) /* of epsilon: what lies beyond is no budget */
#define LOG_MOST 60.0
#define SURE 0.95
#define HOPELESS 0.05

double tacit_forecast_epsilon(const tacit_fitness_law *together, const tacit_fitness_law *alone,
                              double owners, double own, double pooled, double chance)
{
    const tacit_outlook at_home = tacit_fitness_law_alone_at(alone, own, pooled, 0.5);
    double low = LOG_LEAST, high = LOG_MOST;
    for (int k = 0; k < 80; k++) {
        const double middle = (low + high) / 2;
        const tacit_pilot place = {
            .owners = owners,
            .records = pooled,
            .noise = owners * tacit_epsilon_rate_noise(&together->exchange, exp(middle))};
        const tacit_outlook out = tacit_fitness_law_at(together, &place, 0.5);
        if (tacit_outlook_below(&out, &at_home) >= chance)
            high = middle;
        else
            low = middle;
    }
    return high < LOG_MOST ? exp(high) : INFINITY;
}

/* About evenly in the logarithm, whole, from 2 on, each more than the last. */
static void spread_owners(double *owners, double count)
{
    const double most = fmax(4 * count, 100);
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        const double share = (double)k / (TACIT_MAP_COLUMNS - 1);
        owners[k] = round(2 * pow(most / 2, share));
        if (k > 0)
            owners[k] = fmax(owners[k], owners[k - 1] + 1);
    }
}

static void spread_records(double *records, double own)
{
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        const double share = (double)k / (TACIT_MAP_COLUMNS - 1);
        records[k] = fmax(round(own * pow(10, 3 * share - 1.5)), 1);
        if (k > 0)
            records[k] = fmax(records[k], records[k - 1] + 1);
    }
}

tacit_forecast_map tacit_forecast_draw(const tacit_forecast_view *view)
{
    const tacit_fitness_law *together = view->together, *alone = view->alone;
    const double count = (double)view->count;
    tacit_forecast_map map = {0};
    for (size_t i = 0; i < view->count; i++)
        map.own += view->owners[i].records / count;
    spread_owners(map.owners, count);
    spread_records(map.records, map.own);
    for (int k = 0; k < TACIT_MAP_COLUMNS; k++) {
        const double n = map.owners[k], own = map.records[k];
        map.border[k] = tacit_forecast_border(together, alone, n, map.own, n * map.own);
        map.sure[k] = tacit_forecast_epsilon(together, alone, n, map.own, n * map.own, SURE);
        map.hopeless[k] =
            tacit_forecast_epsilon(together, alone, n, map.own, n * map.own, HOPELESS);
        map.outside[k] = tacit_forecast_border_outside(together, alone, n, map.own, n * map.own);
        map.records_outside[k] =
            tacit_forecast_border_outside(together, alone, count, own, count * own);
        map.by_records[k] = tacit_forecast_border(together, alone, count, own, count * own);
        map.records_sure[k] =
            tacit_forecast_epsilon(together, alone, count, own, count * own, SURE);
        map.records_hopeless[k] =
            tacit_forecast_epsilon(together, alone, count, own, count * own, HOPELESS);
    }
    return map;
}
