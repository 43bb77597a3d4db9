/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_STORE_TOOLS_H
#define TACIT_STORE_TOOLS_H
/* What the tests of a node's store share: a node of two agents in the folder "peer". */
#include "runtime/node/store_inside.h"

#define EPSILON 0.0625 /* of a release */
enum { STATE_MAX = 10000 };

extern node_moment moment; /* what its clocks say */
extern node_store_agent pair[2];
void told_time(void *ctx, node_moment *now); /* a node_clock: ctx is a moment */
node_store_plan plan_of(void);
node_store *opened(void);
void closed(node_store *store);
node_store *again(node_store *store); /* closed and opened */
/* A test's set-up: no folder, plenty of budget. */
int start_empty(void **state);

tacit_permit *permit_of(node_store *store, uint32_t index); /* touched */
tacit_status try_tell(node_store *store, uint32_t index, const char *frames, const char *state,
                      tacit_error *err);
void tell(node_store *store, uint32_t index, const char *frames, const char *state);
uint64_t releases(node_store *store, uint32_t index);
/* NULL stands for none. */
bool is_text(const void *bytes, size_t len, const char *want);
void check_restores(node_store *store, uint32_t index, const char *frames, const char *state,
                    bool current);
void checkpoint(node_store *store, double elapsed, const char *first, const char *second);

#endif
