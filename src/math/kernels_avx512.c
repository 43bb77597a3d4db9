/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX-512; compiled with those flags (CMakeLists.txt). */
#ifdef TACIT_HAVE_X86_KERNELS
#define F32_LANES 16
#define TABLE tacit_kernels_avx512
#define TABLE_NAME "avx512"
#include "math/kernels_all.h"
#endif
typedef int tacit_kernels_avx512_translation_unit;
