/* SPDX-License-Identifier: Apache-2.0 */
#include "tacit/graph.h"
tacit_status tacit_graph_wanted_fiedler(tacit_graph *graph, uint32_t agents, double wanted,
                                        uint64_t seed, tacit_error *err)
{
    (void)graph;(void)agents;(void)wanted;(void)seed;
    return tacit_fail(err, TACIT_EINPUT, "not built");
}
