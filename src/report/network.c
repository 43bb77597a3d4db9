/* SPDX-License-Identifier: Apache-2.0 */
#include "report/network.h"

void tacit_draw_network(tacit_writer *out, const tacit_network *network, bool standalone)
{
    (void)network;
    (void)standalone;
    tacit_write_text(out, "");
}
