/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pld accountant against the textbook, in one run and on one thread: a Gaussian with noise 1,
 * sampled with rate 0.01, 10,000 steps, delta 1e-5, add-remove.
 *
 * The textbook: a fixed grid of losses, step 1e-4, the curve delta(eps) in closed form at its
 * points and straight lines between (connect the dots), one FFT, its 10,000th power, one FFT
 * back, for either direction. It uses our FFT, so that the ratio says something about the method
 * and nothing about transforms. Its errors are of the second order in the step: the value that
 * both are compared with is the extrapolation from steps 1e-4 and 5e-5, with masses in long
 * double, because second differences of a curve in double lose the digits that this needs.
 *
 * On the machine of the issue a well-known library took 680 ms for this line at the same step.
 */
#include <math.h>

#include "bench.h"
#include "math/fft.h"
#include "tacit/account.h"

enum { TURNS = 15, STEPS = 10000 };
#define NOISE 1.0
#define RATE 0.01
#define DELTA 1e-5
#define REACH 26.0 /* half the window: mass beyond is below 1e-12 */

static double tail(double x)
{
    return 0.5 * erfc(x / sqrt(2));
}

/* delta(eps) of one step; `add` is the direction. */
static double curve(double eps, bool add)
{
    const double s = NOISE, q = RATE, x = expm1(add ? -eps : eps) / q;
    if (x <= -1)
        return add ? 0 : 1 - exp(eps);
    const double y = s * s * log1p(x) + 0.5;
    if (add)
        return (1 - exp(eps) * (1 - q)) * tail(-y / s) - exp(eps) * q * tail((1 - y) / s);
    return (1 - q - exp(eps)) * tail(y / s) + q * tail((y - 1) / s);
}

static long double precise_tail(long double x)
{
    return 0.5L * erfcl(x / sqrtl(2));
}

static long double precise_curve(long double eps, bool add)
{
    const long double s = NOISE, q = (long double)RATE, x = expm1l(add ? -eps : eps) / q;
    if (x <= -1)
        return add ? 0 : -expm1l(eps);
    const long double y = s * s * log1pl(x) + 0.5L;
    if (add)
        return (1 - expl(eps) * (1 - q)) * precise_tail(-y / s) -
               expl(eps) * q * precise_tail((1 - y) / s);
    return (1 - q - expl(eps)) * precise_tail(y / s) + q * precise_tail((y - 1) / s);
}

/* Masses of the law that interpolates the curve, on a circle of n points. */
static void discretise(double *mass, size_t n, double h, bool add)
{
    const long most = lround(12 / h);
    const double gap = -expm1(-h), shrink = exp(-h);
    memset(mass, 0, n * sizeof *mass);
    double before = curve(-(double)(most + 1) * h, add), now = curve(-(double)most * h, add);
    for (long k = -most; k <= most; k++) {
        const double next = curve((double)(k + 1) * h, add);
        const double value = ((next - now) * shrink - (now - before)) / gap;
        mass[k < 0 ? n - (size_t)-k : (size_t)k] = fmax(value, 0);
        before = now;
        now = next;
    }
}

static void discretise_precisely(double *mass, size_t n, double h, bool add)
{
    const long most = lround(12 / h);
    const long double gap = -expm1l(-(long double)h), shrink = expl(-(long double)h);
    memset(mass, 0, n * sizeof *mass);
    long double before = precise_curve(-(most + 1) * (long double)h, add);
    long double now = precise_curve(-most * (long double)h, add);
    for (long k = -most; k <= most; k++) {
        const long double next = precise_curve((k + 1) * (long double)h, add);
        const long double value = ((next - now) * shrink - (now - before)) / gap;
        mass[k < 0 ? n - (size_t)-k : (size_t)k] = (double)fmaxl(value, 0);
        before = now;
        now = next;
    }
}

static void power(double *re, double *im, size_t bins, int times)
{
    for (size_t k = 0; k < bins; k++) {
        const double size = 0.5 * log(re[k] * re[k] + im[k] * im[k]), angle = atan2(im[k], re[k]);
        const double r = exp(times * size), a = times * angle;
        re[k] = r * cos(a);
        im[k] = r * sin(a);
    }
}

static double read_epsilon(const double *mass, size_t n, double h)
{
    double p = 0, q = 0; /* sums above: of masses, and of masses times e^-loss */
    for (size_t k = n / 2; k-- > 0;) {
        p += mass[k];
        q += mass[k] * exp(-(double)k * h);
        const double eps = ((double)k - 1) * h;
        if (p - exp(eps) * q >= DELTA)
            return log((p - DELTA) / q);
    }
    return 0;
}

static double textbook_direction(double h, bool add, bool precise)
{
    tacit_error err = {0};
    tacit_fft *plan;
    size_t n = 4;
    while ((double)n * h < 2 * REACH)
        n *= 2;
    double *mass = malloc(n * sizeof *mass), *re = malloc((n / 2 + 1) * sizeof *re),
           *im = malloc((n / 2 + 1) * sizeof *im);
    if (!mass || !re || !im)
        exit(TACIT_EINTERNAL);
    bench_must(tacit_fft_create(&plan, n, &err), &err);
    (precise ? discretise_precisely : discretise)(mass, n, h, add);
    tacit_fft_forward(plan, mass, re, im);
    power(re, im, n / 2 + 1, STEPS);
    tacit_fft_inverse(plan, re, im, mass);
    const double eps = read_epsilon(mass, n, h);
    tacit_fft_free(plan);
    free(mass);
    free(re);
    free(im);
    return eps;
}

static double textbook(double h, bool precise)
{
    return fmax(textbook_direction(h, false, precise), textbook_direction(h, true, precise));
}

static const tacit_loss line = {.kind = TACIT_LOSS_GAUSSIAN,
                                .adjacency = TACIT_ADD_REMOVE,
                                .noise = NOISE,
                                .shift = 1,
                                .sampling = RATE,
                                .count = STEPS};

static double ours(void)
{
    tacit_error err = {0};
    double eps;
    bench_must(tacit_account_epsilon(TACIT_BY_PLD, &line, 1, DELTA, &eps, &err), &err);
    return eps;
}

int main(void)
{
    tacit_error err = {0};
    double mine[TURNS], theirs[TURNS], eps = 0, book = 0, low, noise;
    for (int turn = 0; turn < TURNS; turn++) {
        double start = bench_seconds();
        eps = ours();
        mine[turn] = bench_seconds() - start;
        start = bench_seconds();
        book = textbook(1e-4, false);
        theirs[turn] = bench_seconds() - start;
    }
    const double truth = (4 * textbook(5e-5, true) - textbook(1e-4, true)) / 3;
    bench_must(tacit_account_optimistic(&line, 1, DELTA, &low, &err), &err);
    FILE *out = bench_open("account");
    char note[160];
    snprintf(note, sizeof note, "epsilon %.6f; optimistic %.6f; medians of %d turns; one thread",
             eps, low, TURNS);
    bench_row(out, "pld 10000 steps", bench_median(mine, TURNS) * 1e3,
              bench_median(theirs, TURNS) * 1e3, "ms", note);
    snprintf(note, sizeof note, "above %.7f which is extrapolated; both are upper bounds", truth);
    bench_row(out, "error of its epsilon", eps - truth, book - truth, "", note);
    double start = bench_seconds();
    bench_must(tacit_account_calibrate(TACIT_BY_PLD, &line, NULL, 0, 6, DELTA, &noise, &err), &err);
    snprintf(note, sizeof note, "noise %.7f for epsilon 6; the baseline is what is allowed", noise);
    bench_row(out, "calibration by pld", bench_seconds() - start, 1, "s", note);
    fclose(out);
    return 0;
}
