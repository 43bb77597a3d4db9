/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normal tail comes from Mills' ratio: below 3 from the library's erfc, above from Laplace's
 * continued fraction 1/(x + 1/(x + 2/(x + 3/...))), all of whose parts are positive, so that it is
 * as good at 1e8 as at 4. Quantiles are Newton's on the logarithm of the distribution function,
 * which is concave: one step from anywhere lands left of the root, and all others stay there.
 *
 * The binomial probability is written as a product of the value at its own mean and what is lost
 * by moving away (Loader 2000), because differences of lgamma lose six digits at n = 1e6. The same
 * product with real arguments is the front factor of the incomplete beta function, whose
 * continued fraction (Abramowitz and Stegun 26.5.8) is evaluated from the side where it converges.
 */
#include "math/special.h"

#include <math.h>
#include <stdbool.h>

#define HALF_LOG_TWO_PI 0.918938533204672741780329736406
#define SQRT_HALF 0.707106781186547524400844362105
#define SQRT_HALF_PI 1.25331413731550025120788264241
#define TINY 1e-300

double tacit_log_add(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    if (isinf(high) || isinf(low))
        return isnan(a) || isnan(b) ? NAN : high;
    return high + log1p(exp(low - high));
}

double tacit_log_sub(double a, double b)
{
    if (b == -INFINITY)
        return a;
    if (!(a >= b))
        return NAN;
    if (a == b)
        return -INFINITY;
    double gap = b - a;
    return a + (gap > -0.6931471805599453 ? log(-expm1(gap)) : log1p(-exp(gap)));
}

double tacit_log_sum(const double *value, size_t n)
{
    double most = -INFINITY, sum = 0;
    for (size_t k = 0; k < n; k++)
        most = value[k] > most ? value[k] : most;
    if (isinf(most))
        return most;
    for (size_t k = 0; k < n; k++)
        sum += exp(value[k] - most);
    return most + log(sum);
}

/* ---- normal ---- */
double tacit_mills(double x)
{
    if (isnan(x))
        return x;
    if (x < 3)
        return x < -38 ? INFINITY : SQRT_HALF_PI * exp(x * x / 2) * erfc(x * SQRT_HALF);
    double below = x;
    for (int k = 16 + (int)(900 / (x * x)); k > 0; k--)
        below = x + k / below;
    return 1 / below;
}

double tacit_normal_cdf(double x)
{
    return erfc(-x * SQRT_HALF) / 2;
}

double tacit_log_normal_cdf(double x)
{
    if (x < -3)
        return x == -INFINITY ? x : -x * x / 2 - HALF_LOG_TWO_PI + log(tacit_mills(-x));
    return x > 0 ? log1p(-erfc(x * SQRT_HALF) / 2) : log(erfc(-x * SQRT_HALF) / 2);
}

double tacit_normal_quantile(double p)
{
    if (!(p >= 0 && p <= 1))
        return NAN;
    if (p > 0.5)
        return -tacit_normal_quantile(1 - p);
    if (p == 0 || p == 0.5)
        return p == 0 ? -INFINITY : 0;
    const double want = log(p);
    double x = -sqrt(-2 * want); /* left of the root: P(Z < x) < exp(-x^2/2) / 2 */
    for (int k = 0; k < 100; k++) {
        double step = (want - tacit_log_normal_cdf(x)) * tacit_mills(-x);
        x += step;
        if (!(fabs(step) > 1e-15 * fabs(x)))
            break;
    }
    return x;
}

/* ---- binomial ---- */
/* log(n!) - log of Stirling's formula, for real n > 0. */
static double stirling_error(double n)
{
    if (n < 15) {
        int sign;
        return lgamma_r(n + 1, &sign) - (n + 0.5) * log(n) + n - HALF_LOG_TWO_PI;
    }
    double s = 1 / (n * n);
    return (1.0 / 12 - s * (1.0 / 360 - s * (1.0 / 1260 - s * (1.0 / 1680 - s / 1188)))) / n;
}

/* x log(x / m) + m - x without cancellation near x = m. */
static double deviance(double x, double m)
{
    if (fabs(x - m) > 0.1 * (x + m))
        return x * log(x / m) + m - x;
    double v = (x - m) / (x + m), power = 2 * x * v, sum = (x - m) * v;
    for (int j = 3; j < 100; j += 2) {
        power *= v * v;
        double more = sum + power / j;
        if (more == sum)
            break;
        sum = more;
    }
    return sum;
}

/* log of Gamma(n+1)/(Gamma(k+1) Gamma(n-k+1)) p^k q^(n-k) for real 0 < k < n, q = 1 - p. */
static double log_bell(double k, double j, double p, double q)
{
    const double n = k + j;
    return stirling_error(n) - stirling_error(k) - stirling_error(j) - deviance(k, n * p) -
           deviance(j, n * q) - HALF_LOG_TWO_PI + log(n / k / j) / 2;
}

double tacit_log_binomial(double k, double n, double p)
{
    if (!(p >= 0 && p <= 1 && n >= 0 && k >= 0 && k <= n))
        return NAN;
    if (p == 0 || p == 1)
        return k == n * p ? 0 : -INFINITY;
    if (k == 0)
        return n * log1p(-p);
    if (k == n)
        return n * log(p);
    return log_bell(k, n - k, p, 1 - p);
}

double tacit_log_choose(double n, double k)
{
    if (!(n >= 0 && k >= 0 && k <= n))
        return NAN;
    if (k == 0 || k == n)
        return 0;
    double p = k / n, q = (n - k) / n;
    return log_bell(k, n - k, p, q) - k * log(p) - (n - k) * log(q);
}

/* ---- incomplete beta ---- */
/* Continued fraction for I_x(a, b) / (x^a (1-x)^b / (a B(a, b))), by Lentz's method; good for
 * x below (a + 1) / (a + b + 2), in about sqrt(max(a, b)) steps. */
static double beta_fraction(double x, double a, double b)
{
    const double sum = a + b;
    double c = 1, d = 1 - sum * x / (a + 1);
    d = 1 / (fabs(d) < TINY ? TINY : d);
    double value = d;
    for (int m = 1; m < 1000000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        double odd = -(a + m) * (sum + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 + even * d, c = 1 + even / c;
        d = 1 / (fabs(d) < TINY ? TINY : d), c = fabs(c) < TINY ? TINY : c;
        value *= d * c;
        d = 1 + odd * d, c = 1 + odd / c;
        d = 1 / (fabs(d) < TINY ? TINY : d), c = fabs(c) < TINY ? TINY : c;
        value *= d * c;
        if (fabs(d * c - 1) < 1e-15)
            break;
    }
    return value;
}

/* log of the smaller side of I_x(a, b); *upper says that it is 1 - I. */
static double beta_side(double x, double a, double b, bool *upper)
{
    *upper = x > (a + 1) / (a + b + 2);
    /* x^a (1-x)^b / B(a, b), divided by a or b as the side asks for */
    double front = log_bell(a, b, x, 1 - x) + log(*upper ? a / (a + b) : b / (a + b));
    return front + log(*upper ? beta_fraction(1 - x, b, a) : beta_fraction(x, a, b));
}

double tacit_log_beta_cdf(double x, double a, double b)
{
    if (!(a > 0 && b > 0) || isnan(x))
        return NAN;
    if (x <= 0 || x >= 1)
        return x <= 0 ? -INFINITY : 0;
    bool upper;
    double side = beta_side(x, a, b, &upper);
    if (!upper)
        return side < 0 ? side : 0;
    return side < 0 ? log1p(-exp(side)) : -INFINITY;
}

double tacit_beta_cdf(double x, double a, double b)
{
    return exp(tacit_log_beta_cdf(x, a, b));
}

double tacit_log_binomial_tail(double k, double n, double p)
{
    if (!(p >= 0 && p <= 1 && n >= 0))
        return NAN;
    if (k <= 0)
        return 0;
    if (k > n)
        return -INFINITY;
    return tacit_log_beta_cdf(p, k, n - k + 1);
}

double tacit_beta_quantile(double p, double a, double b)
{
    if (!(p >= 0 && p <= 1 && a > 0 && b > 0))
        return NAN;
    if (p == 0 || p == 1)
        return p;
    /* Bisection, first by orders of magnitude so that tiny answers keep their digits. */
    double low = 0, high = 1;
    for (int k = 0; k < 2000; k++) {
        double middle =
            low == 0 && high > 1e-300 && high < 0.1 ? high / 64 : low + (high - low) / 2;
        if (!(middle > low && middle < high) || high - low < 1e-15 * high)
            break;
        if (tacit_beta_cdf(middle, a, b) < p)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}
