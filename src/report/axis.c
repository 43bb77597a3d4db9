/* SPDX-License-Identifier: Apache-2.0 */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond this, differences overflow; nobody draws such numbers on purpose. */
#define ABSURD 1e300

void tacit_axis_init(tacit_axis *axis, bool log, double from, double to)
{
    *axis = (tacit_axis){.log = log, .low = INFINITY, .high = -INFINITY, .from = from, .to = to};
}

bool tacit_axis_takes(const tacit_axis *axis, double value)
{
    return isfinite(value) && fabs(value) < ABSURD && (!axis->log || value > 1 / ABSURD);
}

void tacit_axis_widen(tacit_axis *axis, double value)
{
    if (!tacit_axis_takes(axis, value))
        return;
    axis->low = fmin(axis->low, value);
    axis->high = fmax(axis->high, value);
}

static void add_tick(tacit_axis *axis, double value, bool minor)
{
    if (axis->ticks < TACIT_AXIS_TICKS)
        axis->tick[axis->ticks++] = (tacit_tick){value, minor};
}

static void round_linear(tacit_axis *a, int wanted)
{
    if (a->high - a->low < 1e-12 * fmax(1e-280, fmax(fabs(a->high), fabs(a->low)))) {
        double room = a->high != 0 ? 0.05 * fabs(a->high) : 1;
        a->low -= room;
        a->high += room;
    }
    double rough = (a->high - a->low) / wanted, power = pow(10, floor(log10(rough)));
    double lead = rough / power;
    a->step = power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
    double first = floor(a->low / a->step + 1e-9), last = ceil(a->high / a->step - 1e-9);
    a->low = a->step * first;
    a->high = a->step * last;
    for (double k = first; k <= last && a->ticks < TACIT_AXIS_TICKS; k++)
        add_tick(a, a->step * k, false);
}

/* The largest 1, 2 or 5 times a power of ten that is not above `value`; the smallest not below. */
static double round_down(double value)
{
    double power = pow(10, floor(log10(value) + 1e-12)), lead = value / power * (1 + 1e-9);
    return power * (lead >= 5 ? 5 : lead >= 2 ? 2 : 1);
}

static double round_up(double value)
{
    double power = pow(10, floor(log10(value) + 1e-12)), lead = value / power * (1 - 1e-9);
    return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10);
}

static bool inside(const tacit_axis *a, double value)
{
    return value >= a->low * (1 - 1e-9) && value <= a->high * (1 + 1e-9);
}

static void round_log(tacit_axis *a, int wanted)
{
    double low = a->low, high = a->high;
    bool narrow = log10(high) - log10(low) < 3;
    a->low = narrow ? round_down(low) : pow(10, floor(log10(low) + 1e-9));
    a->high = narrow ? round_up(high) : pow(10, ceil(log10(high) - 1e-9));
    if (a->high < a->low * 1.5) {
        a->low /= 10;
        a->high *= 10;
    }
    double first = floor(log10(a->low) + 1e-9), last = ceil(log10(a->high) - 1e-9);
    double stride = fmax(1, ceil((last - first) / (1.6 * wanted)));
    bool dense = last - first <= 8;
    for (double k = first; k <= last; k++)
        for (int lead = 1; lead <= (dense ? 9 : 1); lead++) {
            double value = lead * pow(10, k);
            bool labelled =
                lead == 1 ? fmod(k - first, stride) == 0 : narrow && (lead == 2 || lead == 5);
            if (inside(a, value) && (labelled || stride < 5))
                add_tick(a, value, !labelled);
        }
}

bool tacit_axis_round(tacit_axis *axis, int wanted)
{
    if (!(axis->low <= axis->high))
        return false;
    if (axis->log)
        round_log(axis, wanted);
    else
        round_linear(axis, wanted);
    return true;
}

double tacit_axis_place(const tacit_axis *a, double value)
{
    double share = a->log ? (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low))
                          : (value - a->low) / (a->high - a->low);
    return a->from + share * (a->to - a->from);
}

/* ---- numbers as people write them ---- */

static void superscript(int n, char *out, size_t size)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char plain[16];
    snprintf(plain, sizeof plain, "%d", n);
    size_t len = 0;
    out[0] = '\0';
    for (const char *c = plain; *c; c++) {
        int n_bytes =
            snprintf(out + len, size - len, "%s", *c == '-' ? "⁻" : digit[(*c - '0') % 10]);
        len += n_bytes > 0 ? (size_t)n_bytes : 0;
        if (len >= size)
            return;
    }
}

/* lead × 10ⁿ; the lead is left out when it is 1. */
static void power_words(double value, int digits, char out[TACIT_LABEL_MAX])
{
    int n = (int)floor(log10(fabs(value)) + 1e-12);
    double lead = value / pow(10, n);
    char up[20], front[32];
    superscript(n, up, sizeof up);
    snprintf(front, sizeof front, "%.*g", digits, lead);
    if (!strcmp(front, "1"))
        snprintf(out, TACIT_LABEL_MAX, "10%s", up);
    else
        snprintf(out, TACIT_LABEL_MAX, "%s×10%s", front, up);
}

static void log_label(const tacit_axis *a, double value, char out[TACIT_LABEL_MAX])
{
    if (a->low >= 0.9e-3 && a->high < 1.1e4)
        snprintf(out, TACIT_LABEL_MAX, "%.6g", value);
    else
        power_words(value, 2, out);
}

static void linear_label(const tacit_axis *a, double value, char out[TACIT_LABEL_MAX])
{
    static const struct {
        double from, unit;
        const char *suffix;
    } units[] = {{1e12, 1e12, "T"}, {1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e4, 1e3, "k"}, {0, 1, ""}};
    double most = fmax(fabs(a->low), fabs(a->high));
    if (fabs(value) < a->step / 2) {
        snprintf(out, TACIT_LABEL_MAX, "0");
        return;
    }
    if (most >= 1e15 || most < 1e-3) {
        power_words(value, 3, out);
        return;
    }
    size_t k = 0;
    while (most < units[k].from)
        k++;
    int decimals = (int)-floor(log10(a->step / units[k].unit) + 1e-9);
    decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
    snprintf(out, TACIT_LABEL_MAX, "%.*f%s", decimals, value / units[k].unit, units[k].suffix);
}

void tacit_axis_label(const tacit_axis *axis, double value, char out[TACIT_LABEL_MAX])
{
    if (axis->log)
        log_label(axis, value, out);
    else
        linear_label(axis, value, out);
}

void tacit_number_words(double value, int digits, char out[TACIT_LABEL_MAX])
{
    double size = fabs(value);
    if (!isfinite(value))
        snprintf(out, TACIT_LABEL_MAX, isnan(value) ? "—" : value > 0 ? "∞" : "-∞");
    else if (size >= pow(10, digits) && size < 1e15)
        snprintf(out, TACIT_LABEL_MAX, "%.0f", value);
    else if (value == 0 || (size >= 0.9e-3 && size < 1e15))
        snprintf(out, TACIT_LABEL_MAX, "%.*g", digits, value);
    else
        power_words(value, digits, out);
}
