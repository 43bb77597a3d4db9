/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_RELEASE_H
#define TACIT_RELEASE_H
/*
 * Inside of permits and bounded values, for the kernels that make them (src/model) and the
 * runtimes that hand them out. Protocols see only the opaque types of privacy.h.
 */
#include "base/vector_internal.h"
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
 * that was used before. */
tacit_status tacit_bounded_init(tacit_bounded *bounded, tacit_permit *permit, tacit_vector *value,
                                tacit_norm norm, double sensitivity, tacit_error *err);

#endif
