/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFORMANCE_LOOPBACK_H
#define TACIT_CONFORMANCE_LOOPBACK_H
/*
 * Real nodes as a runtime: a few of them in this process, each with its own keys, ledgers, store
 * and links (TCP over loopback, CURVE), the world's agents dealt to them in turn. Only the clock
 * is not real: it stands still while a frame is under way and then goes to the next thing that is
 * due, so that nothing here depends on how fast the machine is.
 */
#include "tacit/runtime.h"

extern const tacit_runtime_ops tacit_loopback;

#endif
