/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX2; compiled with that flag (cmake/flags.cmake). */
#ifdef TACIT_HAVE_X86_KERNELS
#define LANES 8
#define NAME tacit_streams_avx2
#define EXPAND tacit_expand_avx2
#include "crypto/streams_impl.h"
#endif
typedef int tacit_streams_avx2_translation_unit;
