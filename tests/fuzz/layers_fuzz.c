/* SPDX-License-Identifier: Apache-2.0 */
/* Any words as layers: an error with words, or a net whose gradient is as long as it says. Three
 * bytes for what goes in, then the words. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/net.h"

enum { WORDS = 4000, LARGE = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* One record of zeros up and down again. */
static void learn(const tacit_net *net)
{
    const size_t n = tacit_net_parameters(net);
    float *theta = calloc(n, sizeof *theta), *sum = malloc(n * sizeof *sum);
    float *x = calloc(tacit_net_inputs(net), sizeof *x);
    const float *row = x;
    const uint32_t label = (uint32_t)tacit_net_classes(net) - 1;
    const tacit_net_lot lot = {1, &row, &label};
    tacit_net_report report;
    tacit_net_room *room = NULL;
    tacit_error err = {0};
    if (!theta || !sum || !x || tacit_net_room_create(&room, net, &err) ||
        tacit_net_gradient(net, room, theta, &lot, 1, sum, &report, &err) || report.broken)
        abort();
    tacit_net_room_free(room);
    free(theta);
    free(sum);
    free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    static tacit_layer layers[TACIT_LAYERS_MOST];
    char text[WORDS + 1] = "";
    size_t count = 0;
    tacit_net *net = NULL;
    tacit_error err = {0};
    if (len < 3 || len > WORDS)
        return 0;
    const tacit_volume in = {bytes[0] % 8, bytes[1] % 40, bytes[2] % 40};
    memcpy(text, bytes + 3, len - 3);
    tacit_status status = tacit_layers_parse(text, layers, &count, &err);
    if (!status)
        status = tacit_net_create(&net, in, layers, count, &err);
    if (status ? net != NULL || err.text[0] == '\0' : net == NULL)
        abort();
    if (net && tacit_net_parameters(net) < LARGE && tacit_net_room_bytes(net) < (1 << 22))
        learn(net);
    tacit_net_free(net);
    return 0;
}
