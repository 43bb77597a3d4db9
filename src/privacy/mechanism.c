/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From bounded to public. Each mechanism will be one case here; `none` adds nothing, which
 * is why the ledger has already written down epsilon = infinity for it.
 */
#include <string.h>

#include "privacy/release.h"

tacit_status tacit_bounded_create(tacit_bounded **out, tacit_permit *permit, tacit_norm norm,
                                  double sensitivity, const tacit_shape *shape,
                                  tacit_scratch *scratch, tacit_error *err)
{
    if (permit->state != TACIT_PERMIT_RESERVED)
        return tacit_fail(err, TACIT_EUSAGE, "a permit is good for one release, \"%s\" was used",
                          permit->cost.what);
    tacit_bounded *bounded = tacit_scratch_alloc(scratch, sizeof *bounded);
    tacit_vector *value = tacit_scratch_vector(scratch, shape, TACIT_VECTOR_SECRET);
    if (!bounded || !value)
        return tacit_out_of_memory(err);
    memset(value->data, 0, shape->bytes);
    permit->state = TACIT_PERMIT_TOUCHED;
    *bounded = (tacit_bounded){value, permit, norm, sensitivity};
    *out = bounded;
    return TACIT_OK;
}

static tacit_status check(const tacit_permit *permit, const tacit_bounded *bounded,
                          tacit_error *err)
{
    if (permit->state != TACIT_PERMIT_TOUCHED || bounded->permit != permit)
        return tacit_fail(err, TACIT_EUSAGE, "\"%s\" was not computed under this permit",
                          permit->cost.what);
    if (permit->cost.mechanism != TACIT_MECHANISM_NONE &&
        (bounded->norm != permit->cost.norm || !(bounded->sensitivity <= permit->cost.sensitivity)))
        return tacit_fail(err, TACIT_EBUDGET,
                          "\"%s\" has sensitivity %g, more than the %g that was paid for",
                          permit->cost.what, bounded->sensitivity, permit->cost.sensitivity);
    return TACIT_OK;
}

tacit_status tacit_mechanism_apply(tacit_permit *permit, tacit_bounded *bounded, tacit_public **out,
                                   tacit_error *err)
{
    tacit_status status = check(permit, bounded, err);
    if (status != TACIT_OK)
        return status;
    permit->state = TACIT_PERMIT_SPENT;
    tacit_vector *value = bounded->value;
    bounded->value = NULL;
    value->flags &= ~(uint32_t)TACIT_VECTOR_SECRET;
    *out = tacit_vector_public(value);
    return TACIT_OK;
}
