/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPORT_LAYOUT_H
#define TACIT_REPORT_LAYOUT_H
#include "report/network.h"

typedef struct tacit_point {
    double x, y;
} tacit_point;

typedef struct tacit_box {
    double x, y, width, height;
} tacit_box;

/* Places for the agents of a network, inside the box; false when memory is out. */
bool tacit_network_layout(const tacit_network *network, tacit_box box, tacit_point *at);

#endif
