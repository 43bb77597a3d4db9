/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a search looks. A grid that is too large for all of it to be tried is covered by Halton's
 * points: along key k the n-th setting is n with its digits in base p_k mirrored at the point, p_k
 * being the k-th prime. They fill a box more evenly than draws would, also seen from each side,
 * and depend on nothing. Then neighbours of the best are tried, first far, then near.
 *
 * A fine range (0.01..100:x1.1) so stands for a continuous one.
 */
#include <stdlib.h>
#include <string.h>

#include "experiment/tune.h"

/* ---- keys ---- */

typedef struct ranked {
    double number;
    uint32_t value;
} ranked;

static int by_number(const void *left, const void *right)
{
    const ranked *a = left, *b = right;
    if (a->number < b->number || a->number > b->number)
        return a->number < b->number ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

static bool order_values(tacit_tune_axis *axis, const tacit_sweep_axis *of)
{
    axis->count = of->values.count;
    axis->ordered = of->numeric && axis->count > 2;
    axis->order = calloc(axis->count, sizeof *axis->order);
    axis->place = calloc(axis->count, sizeof *axis->place);
    ranked *all = calloc(axis->count, sizeof *all);
    if (!axis->order || !axis->place || !all) {
        free(all);
        return false;
    }
    for (uint32_t i = 0; i < axis->count; i++)
        all[i] = (ranked){of->numeric ? of->values.number[i] : 0, i};
    qsort(all, axis->count, sizeof *all, by_number);
    for (uint32_t i = 0; i < axis->count; i++) {
        axis->order[i] = all[i].value;
        axis->place[all[i].value] = i;
    }
    free(all);
    return true;
}

bool tacit_tune_axes(tacit_tuner *tuner, const tacit_sweep *sweep)
{
    tuner->axes = calloc(sweep->axis_count + 1, sizeof *tuner->axes);
    for (size_t k = 0; tuner->axes && k < sweep->axis_count; k++)
        if (!order_values(&tuner->axes[k], &sweep->axes[k]))
            return false;
    return tuner->axes != NULL;
}

/* The first point with these values; a key that it does not have fits anything. */
static size_t find_point(const tacit_sweep *sweep, const uint32_t *want)
{
    for (size_t p = 0; p < sweep->point_count; p++) {
        const uint32_t *at = &sweep->at[p * sweep->axis_count];
        bool fits = true;
        for (size_t k = 0; k < sweep->axis_count && fits; k++)
            fits =
                at[k] == want[k] || at[k] == TACIT_SWEEP_FOREIGN || want[k] == TACIT_SWEEP_FOREIGN;
        if (fits)
            return p;
    }
    return SIZE_MAX;
}

/* ---- spread ---- */

static unsigned next_prime(unsigned p)
{
    for (bool prime = false; !prime;) {
        p++;
        prime = true;
        for (unsigned d = 2; d * d <= p && prime; d++)
            prime = p % d != 0;
    }
    return p;
}

static double mirrored(size_t n, unsigned base)
{
    double x = 0, digit = 1;
    for (; n > 0; n /= base) {
        digit /= base;
        x += digit * (double)(n % base);
    }
    return x;
}

static bool has(const size_t *list, size_t count, size_t item)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == item)
            return true;
    return false;
}

static void cell_of(const tacit_tuner *tuner, size_t axes, size_t n, uint32_t *want)
{
    unsigned base = 1;
    for (size_t k = 0; k < axes; k++) {
        const tacit_tune_axis *axis = &tuner->axes[k];
        base = next_prime(base);
        size_t place = (size_t)(mirrored(n, base) * (double)axis->count);
        place = place < axis->count ? place : axis->count - 1;
        want[k] = axis->order[place];
    }
}

bool tacit_tune_spread(tacit_tuner *tuner, const tacit_sweep *sweep, size_t count)
{
    const bool all = count >= sweep->point_count;
    count = all ? sweep->point_count : count;
    uint32_t *want = calloc(sweep->axis_count + 1, sizeof *want);
    tuner->spread = calloc(count + 1, sizeof *tuner->spread);
    if (!want || !tuner->spread) {
        free(want);
        return false;
    }
    for (size_t n = 1; !all && n <= 20 * count && tuner->spread_count < count; n++) {
        cell_of(tuner, sweep->axis_count, n, want);
        const size_t point = find_point(sweep, want);
        if (point != SIZE_MAX && !has(tuner->spread, tuner->spread_count, point))
            tuner->spread[tuner->spread_count++] = point;
    }
    /* All of them, or what those points did not meet in small grids. */
    for (size_t p = 0; p < sweep->point_count && tuner->spread_count < count; p++)
        if (all || !has(tuner->spread, tuner->spread_count, p))
            tuner->spread[tuner->spread_count++] = p;
    free(want);
    return true;
}

/* ---- near ---- */

typedef struct nearby {
    const tacit_sweep *sweep;
    uint32_t *want;
    size_t *out;
    size_t count, room;
} nearby;

static void consider(nearby *n)
{
    const size_t point = find_point(n->sweep, n->want);
    if (n->count < n->room && point != SIZE_MAX && n->sweep->tuner->level[point] == 0 &&
        !has(n->out, n->count, point))
        n->out[n->count++] = point;
}

/* One key moved, to both sides. */
static void move_key(nearby *n, size_t key, size_t step)
{
    const tacit_tune_axis *axis = &n->sweep->tuner->axes[key];
    const uint32_t here = n->want[key], place = axis->place[here];
    for (int side = 0; side < 2; side++) {
        if (side ? place + step >= axis->count : place < step)
            continue;
        n->want[key] = axis->order[side ? place + step : place - step];
        consider(n);
    }
    n->want[key] = here;
}

static void exchange_key(nearby *n, size_t key)
{
    const uint32_t here = n->want[key];
    for (uint32_t i = 0; i < n->sweep->tuner->axes[key].count; i++) {
        n->want[key] = i;
        if (i != here)
            consider(n);
    }
    n->want[key] = here;
}

size_t tacit_tune_near(const tacit_sweep *sweep, size_t centre, double share, size_t *out,
                       size_t room, bool *finest)
{
    nearby n = {.sweep = sweep, .out = out, .room = room};
    *finest = true;
    n.want = calloc(sweep->axis_count + 1, sizeof *n.want);
    if (!n.want)
        return SIZE_MAX;
    memcpy(n.want, &sweep->at[centre * sweep->axis_count], sweep->axis_count * sizeof *n.want);
    for (size_t k = 0; k < sweep->axis_count; k++) {
        const tacit_tune_axis *axis = &sweep->tuner->axes[k];
        const size_t step = (size_t)(share * (double)axis->count);
        if (n.want[k] == TACIT_SWEEP_FOREIGN)
            continue;
        if (axis->ordered) {
            move_key(&n, k, step > 1 ? step : 1);
            *finest = *finest && step <= 1;
        } else
            exchange_key(&n, k);
    }
    free(n.want);
    return n.count;
}
