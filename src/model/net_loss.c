/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax cross-entropy: loss = log sum_k exp(z_k) - z_y, d loss / d z = q - e_y, where q is exp(z)
 * over its sum. */
#include <math.h>

#include "model/net_layer.h"

static float largest(size_t n, const float *z)
{
    float most = z[0];
    for (size_t k = 1; k < n; k++)
        most = z[k] > most ? z[k] : most;
    return most;
}

void tacit_net_loss(const tacit_pass *pass, size_t classes, size_t row, float *scores,
                    const uint32_t *label, double *loss, bool *right)
{
    for (size_t r = 0; r < pass->records; r++) {
        float *z = scores + r * row;
        const float most = largest(classes, z), own = z[label[r]];
        const float sum = pass->kernels->exponentials(classes, most, z); /* NaN if any z is */
        for (size_t k = 0; k < classes; k++)
            z[k] /= sum;
        z[label[r]] -= 1;
        loss[r] = log((double)sum) + ((double)most - (double)own);
        right[r] = own == most;
    }
}
