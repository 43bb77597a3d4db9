/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator under the suite that all runtimes share, with one thread and with several. */
#include "suite.h"

int main(void)
{
    int failed = 0;
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        const conformance simulator = {.ops = &tacit_simulator,
                                       .simulates_network = true,
                                       .shares_memory = true,
                                       .repeats = true,
                                       .groups = true,
                                       .threads = threads};
        failed += conformance_run(&simulator);
    }
    return failed;
}
