/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FORECAST_H
#define CLI_FORECAST_H
/* forecast_words.c: a forecast on a screen. */
#include "tacit/forecast.h"

enum { CLI_MAP_OWNERS, CLI_MAP_RECORDS };

/* The laws, the owners and the map; warnings first. */
void cli_forecast_say(const tacit_forecast_view *view, int map);

#endif
