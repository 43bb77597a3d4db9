/* SPDX-License-Identifier: Apache-2.0 */
#include "store_tools.h"

#include <stdlib.h>
#include <string.h>

#include "ledger_tools.h"
#include "privacy/release.h"
#include "testing.h"

/* ---- a node of two agents, and its clock ---- */

node_moment moment = {.wall = 1e9, .boot = 100, .boot_id = "first"};

void told_time(void *ctx, node_moment *now)
{
    *now = *(const node_moment *)ctx;
}

node_store_agent pair[2] = {
    {.agent = 7, .name = "ann", .budget = {1e6, 0, TACIT_TRUST_LOCAL, TACIT_BY_SUM}},
    {.agent = 3, .name = "bob", .budget = {1e6, 0, TACIT_TRUST_LOCAL, TACIT_BY_SUM}},
};

node_store_plan plan_of(void)
{
    return (node_store_plan){.folder = "peer",
                             .run = {1, 2, 3},
                             .identity = {9, 8, 7},
                             .agents = pair,
                             .count = 2,
                             .state_max = STATE_MAX};
}

node_store *opened(void)
{
    tacit_error err = {0};
    node_store *store;
    const node_store_plan plan = plan_of();
    check_ok(node_store_open_by(&store, &plan, told_time, &moment, &err), &err);
    return store;
}

void closed(node_store *store)
{
    tacit_error err = {0};
    check_ok(node_store_close(store, 9, &err), &err);
}

node_store *again(node_store *store)
{
    closed(store);
    return opened();
}

int start_empty(void **state)
{
    (void)state;
    moment = (node_moment){.wall = 1e9, .boot = 100, .boot_id = "first"};
    pair[0].budget.epsilon = pair[1].budget.epsilon = 1e6;
    return system("rm -rf peer full"); /* in a scratch folder of tools/e2e.sh */
}

tacit_permit *permit_of(node_store *store, uint32_t index)
{
    tacit_error err = {0};
    tacit_permit *permit;
    const tacit_cost cost = ledger_cost("gradient", EPSILON);
    check_ok(tacit_ledger_file_reserve(node_store_ledger(store, index), &cost, 1, &permit, &err),
             &err);
    permit->state = TACIT_PERMIT_TOUCHED;
    return permit;
}

tacit_status try_tell(node_store *store, uint32_t index, const char *frames, const char *state,
                      tacit_error *err)
{
    tacit_permit *permit = permit_of(store, index);
    return node_store_release(store, index, &permit, 1, frames, strlen(frames), state,
                              state ? strlen(state) : 0, 2, err);
}

void tell(node_store *store, uint32_t index, const char *frames, const char *state)
{
    tacit_error err = {0};
    check_ok(try_tell(store, index, frames, state, &err), &err);
}

uint64_t releases(node_store *store, uint32_t index)
{
    return tacit_ledger_releases(tacit_ledger_file_ledger(node_store_ledger(store, index)));
}

bool is_text(const void *bytes, size_t len, const char *want)
{
    return want ? bytes && len == strlen(want) && memcmp(bytes, want, len) == 0 : !bytes;
}

void check_restores(node_store *store, uint32_t index, const char *frames, const char *state,
                    bool current)
{
    tacit_error err = {0};
    void *got_state, *got_frames;
    size_t state_len, frames_len;
    bool is_current;
    check_ok(node_store_restore(store, index, &got_state, &state_len, &got_frames, &frames_len,
                                &is_current, &err),
             &err);
    if (!is_text(got_frames, frames_len, frames) || !is_text(got_state, state_len, state))
        fail_msg("frames \"%.*s\" state \"%.*s\"", (int)frames_len,
                 got_frames ? (char *)got_frames : "", (int)state_len,
                 got_state ? (char *)got_state : "");
    assert_int_equal(is_current, current);
    free(got_state);
    free(got_frames);
}

void checkpoint(node_store *store, double elapsed, const char *first, const char *second)
{
    tacit_error err = {0};
    check_ok(node_store_begin(store, elapsed, &err), &err);
    if (first)
        check_ok(node_store_put(store, 0, first, strlen(first), &err), &err);
    if (second)
        check_ok(node_store_put(store, 1, second, strlen(second), &err), &err);
    check_ok(node_store_end(store, &err), &err);
}
