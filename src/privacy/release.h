/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RELEASE_H
#define TACIT_RELEASE_H
/*
 * Inside of permits and bounded values, for the kernels that make them (src/model) and the
 * runtimes that hand them out. Protocols see only the opaque types of privacy.h.
 */
#include "base/scratch.h"
#include "tacit/privacy.h"

typedef enum tacit_permit_state {
    TACIT_PERMIT_RESERVED, /* charged, nothing computed: may be handed back */
    TACIT_PERMIT_TOUCHED,  /* something was computed from data under it */
    TACIT_PERMIT_SPENT     /* released, or handed back */
} tacit_permit_state;

struct tacit_permit {
    tacit_cost cost;
    tacit_permit_state state;
};

struct tacit_bounded {
    tacit_vector *value;
    const tacit_permit *permit; /* under which it was computed */
    tacit_norm norm;
    double sensitivity; /* in `norm`, for the permit's unit and adjacency */
};

/* The one door from data to a bounded value: marks the permit as touched, and refuses one
 * that was used before. The value, in scratch memory, is zero and for the caller to fill. */
tacit_status tacit_bounded_create(tacit_bounded **out, tacit_permit *permit, tacit_norm norm,
                                  double sensitivity, const tacit_shape *shape,
                                  tacit_scratch *scratch, tacit_error *err);

#endif
