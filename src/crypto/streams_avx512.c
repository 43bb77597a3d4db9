/* SPDX-License-Identifier: Apache-2.0 */
/* For CPUs with AVX-512; compiled with its flags (cmake/flags.cmake). */
#ifdef TACIT_HAVE_X86_KERNELS
#define LANES 16
#define NAME tacit_streams_avx512
#define EXPAND tacit_expand_avx512
#include "crypto/streams_impl.h"
#endif
typedef int tacit_streams_avx512_translation_unit;
