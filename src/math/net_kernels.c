/* SPDX-License-Identifier: Apache-2.0 */
#include "math/net_kernels.h"

#include <string.h>

#include "math/kernels.h"

/* What suits the other kernels suits these. */
const tacit_net_kernels *tacit_net_kernels_get(void)
{
    return tacit_net_kernels_named(tacit_kernels_get()->name);
}

const tacit_net_kernels *tacit_net_kernels_named(const char *name)
{
    if (!tacit_kernels_named(name))
        return NULL;
#ifdef TACIT_HAVE_X86_KERNELS
    if (strcmp(name, "avx512") == 0)
        return &tacit_net_kernels_avx512;
    if (strcmp(name, "avx2") == 0)
        return &tacit_net_kernels_avx2;
#endif
    return &tacit_net_kernels_base;
}
