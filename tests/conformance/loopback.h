/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFORMANCE_LOOPBACK_H
#define TACIT_CONFORMANCE_LOOPBACK_H
/* Four real nodes as a runtime, with real links and a clock that waits for them: nodes.h. */
#include "tacit/runtime.h"

extern const tacit_runtime_ops tacit_loopback;

#endif
