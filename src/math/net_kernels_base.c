/* SPDX-License-Identifier: Apache-2.0 */
/* For any CPU the compiler was asked to serve. */
#define LANES 4
#define ROWS 3
#define TABLE tacit_net_kernels_base
#define TABLE_NAME "base"
#include "math/net_kernels_all.h"
