/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_FORECAST_PAGE_H
#define TACIT_EXPERIMENT_FORECAST_PAGE_H
#include "report/page.h"
#include "tacit/forecast.h"

/* Both: the caller frees; NULL when memory ran out. */
char *tacit_forecast_page(const tacit_forecast_view *view);
char *tacit_forecast_svg(const tacit_forecast_view *view); /* the map alone */

#endif
