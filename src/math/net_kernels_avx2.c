/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX2 and FMA; compiled with those flags (cmake/flags.cmake). */
#ifdef TACIT_HAVE_X86_KERNELS
#define LANES 8
#define ROWS 6
#define TABLE tacit_net_kernels_avx2
#define TABLE_NAME "avx2"
#include "math/net_kernels_all.h"
#endif
typedef int tacit_net_kernels_avx2_translation_unit;
