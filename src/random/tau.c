/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of discrete Gaussians are nearly discrete Gaussians (Kairouz, Liu, Steinke 2021,
 * 2102.06387, theorem 9 and proposition 13). Why, and with which constant:
 *
 * Let X, Y be of parameters a, b (variances), v = a b / (a + b). Completing the square,
 *
 *     P(X + Y = z) ~ exp(-z^2 / (2 (a + b))) g(z),    g(z) = sum over x of exp(-(x - c z)^2 / (2
 * v)),
 *
 * c = a / (a + b), and by Poisson summation g = sqrt(2 pi v) (1 + 2 sum_j q^(j^2) cos(2 pi j c z)),
 * q = exp(-2 pi^2 v). So g lies within a factor of (1 +- 2 (q + q^4 + ...)) of a constant, and
 * after normalising the law of X + Y and the discrete Gaussian of parameter a + b differ at every
 * integer by a factor whose logarithm is at most log((1 + 2q + ...) / (1 - 2q - ...)) <= 5 q, for v
 * >= 1/8. (At v = 1/8 it is 4.05 q, and less beyond.)
 *
 * Add n shares of parameter s^2 one by one: where k are added already, a = k s^2, b = s^2 and
 * v = s^2 k / (k + 1). Adding something independent brings two laws no further apart in this
 * sense, so the logarithms add up: 5 sum_{k<n} exp(-2 pi^2 s^2 k / (k + 1)). Neighbouring data are
 * two such laws, each to be exchanged for its Gaussian: twice that is tau, and
 *
 *     (epsilon, delta) of the Gaussian becomes (epsilon + d tau, e^(d tau / 2) delta) of the sum
 *
 * for d coordinates.
 */
#include <math.h>

#include "tacit/noise.h"

#define LOOKED_AT 4096 /* terms that are computed; later ones are no larger */
#define TWO_PI_SQUARED 19.739208802178716
#define UP (1 + 0x1p-30) /* above what rounding and exp get wrong, for exponents below 750 */

double tacit_noise_sum_tau(double sigma, uint64_t shares)
{
    if (shares < 2)
        return 0;
    if (!(sigma >= 0.5))
        return INFINITY;
    double sum = 0, term = 0;
    uint64_t k = 1;
    for (; k < shares && k <= LOOKED_AT; k++) {
        term = exp(-TWO_PI_SQUARED * sigma * sigma * (double)k / (double)(k + 1));
        sum += term;
    }
    return 10 * (sum + (double)(shares - k) * term) * UP;
}
