/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX2 and FMA; compiled with those flags (CMakeLists.txt). */
#ifdef TACIT_HAVE_X86_KERNELS
#define F32_LANES 8
#define TABLE tacit_kernels_avx2
#define TABLE_NAME "avx2"
#include "math/kernels_all.h"
#endif
typedef int tacit_kernels_avx2_translation_unit;
