/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/base.h"

#include <stdio.h>

tacit_status tacit_fail(tacit_error *err, tacit_status code, const char *fmt, ...)
{
    if (err) {
        err->code = code;
        va_list args;
        va_start(args, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, args);
        va_end(args);
    }
    return code;
}

tacit_status tacit_out_of_memory(tacit_error *err)
{
    return tacit_fail(err, TACIT_EINTERNAL, "out of memory; use fewer agents or smaller models");
}

size_t tacit_scalar_size(tacit_scalar scalar)
{
    return scalar == TACIT_F32 ? 4 : 8;
}

bool tacit_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

bool tacit_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}
