/* SPDX-License-Identifier: Apache-2.0 */
/* Real nodes under the suite that all runtimes share. */
#include "loopback.h"
#include "suite.h"

int main(void)
{
    const conformance nodes = {.ops = &tacit_loopback, .threads = 1};
    return conformance_run(&nodes);
}
