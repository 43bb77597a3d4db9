/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_KERNELS_TABLES_H
#define TACIT_KERNELS_TABLES_H
#include "math/kernels.h"

extern const tacit_kernels tacit_kernels_base;
#ifdef TACIT_HAVE_X86_KERNELS
extern const tacit_kernels tacit_kernels_avx2;
extern const tacit_kernels tacit_kernels_avx512;
#endif

#endif
