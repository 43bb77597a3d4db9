/* SPDX-License-Identifier: Apache-2.0 */
/* For any CPU the compiler was asked to serve. */
#define F32_LANES 4
#define TABLE tacit_kernels_base
#define TABLE_NAME "base"
#include "math/kernels_all.h"
