/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX-512; compiled with those flags (cmake/flags.cmake). */
#ifdef TACIT_HAVE_X86_KERNELS
#define LANES 16
#define ROWS 14
#define TABLE tacit_net_kernels_avx512
#define TABLE_NAME "avx512"
#include "math/net_kernels_all.h"
#endif
typedef int tacit_net_kernels_avx512_translation_unit;
