/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double dice_unit(dice *d)
{
    d->state = d->state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = d->state; /* the low bits of the state are weak: fold the high ones in */
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdu;
    x ^= x >> 33;
    return (double)(x >> 11) * 0x1p-53;
}

double dice_between(dice *d, double low, double high)
{
    return low + (high - low) * dice_unit(d);
}

uint64_t dice_below(dice *d, uint64_t n)
{
    return (uint64_t)(dice_unit(d) * (double)n);
}

double dice_normal(dice *d)
{
    double radius = sqrt(-2 * log1p(-dice_unit(d)));
    return radius * cos(6.283185307179586 * dice_unit(d));
}

void check_ok(tacit_status status, const tacit_error *err)
{
    if (status != TACIT_OK)
        fail_msg("status %d: %s", (int)status, err ? err->text : "");
}

void check_fails(tacit_status status, tacit_status want, const tacit_error *err, const char *word)
{
    if (status != want)
        fail_msg("status %d, not %d: %s", (int)status, (int)want, err->text);
    assert_int_equal(err->code, want);
    if (!strstr(err->text, word))
        fail_msg("\"%s\" does not say \"%s\"", err->text, word);
}

static int by_value(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;
    return a < b ? -1 : a > b;
}

double kolmogorov(size_t n, double *value)
{
    qsort(value, n, sizeof *value, by_value);
    double most = 0;
    for (size_t k = 0; k < n; k++) {
        most = fmax(most, value[k] - (double)k / (double)n);
        most = fmax(most, (double)(k + 1) / (double)n - value[k]);
    }
    return most * sqrt((double)n);
}

void graph_ring(tacit_graph *graph, uint32_t n, uint32_t chords, uint64_t seed)
{
    dice d = {seed};
    tacit_error err = {0};
    tacit_edge *edges = calloc(n + (size_t)chords, sizeof *edges);
    size_t count = 0;
    assert_non_null(edges);
    for (uint32_t k = 0; k + 1 < n || (k < n && n > 2); k++)
        edges[count++] = (tacit_edge){k, (k + 1) % n, dice_between(&d, 0.5, 1.5)};
    for (uint32_t tries = 0; tries < 20 * chords && count < n + (size_t)chords; tries++) {
        uint32_t a = (uint32_t)dice_below(&d, n), b = (uint32_t)dice_below(&d, n);
        bool known = a == b;
        for (size_t k = 0; k < count && !known; k++)
            known = (edges[k].a == a && edges[k].b == b) || (edges[k].a == b && edges[k].b == a);
        if (!known)
            edges[count++] = (tacit_edge){a, b, dice_between(&d, 0.5, 1.5)};
    }
    check_ok(tacit_graph_from_edges(graph, n, edges, count, &err), &err);
    free(edges);
}

const uint8_t *save_bytes(const tacit_runtime *rt, tacit_saver **saver, size_t *len)
{
    tacit_error err = {0};
    const uint8_t *bytes;
    *saver = tacit_saver_create();
    assert_non_null(*saver);
    check_ok(rt->ops->save(rt, *saver), NULL);
    check_ok(tacit_saver_finish(*saver, &bytes, len, &err), &err);
    return bytes;
}

tacit_status load_bytes(tacit_runtime *rt, const uint8_t *bytes, size_t len, tacit_error *err)
{
    tacit_loader *loader = NULL;
    tacit_status status = tacit_loader_create(&loader, bytes, len, err);
    if (status != TACIT_OK)
        return status;
    status = rt->ops->load(rt, loader);
    if (status != TACIT_OK)
        tacit_loader_status(loader, err);
    tacit_loader_free(loader);
    return status;
}

double eliminate(size_t n, double *a, double *b)
{
    double log_det = 0;
    for (size_t k = 0; k < n; k++) {
        size_t best = k;
        for (size_t r = k + 1; r < n; r++)
            best = fabs(a[r * n + k]) > fabs(a[best * n + k]) ? r : best;
        for (size_t c = 0; c < n && best != k; c++) {
            const double t = a[k * n + c];
            a[k * n + c] = a[best * n + c];
            a[best * n + c] = t;
        }
        const double t = b[k];
        b[k] = b[best];
        b[best] = t;
        log_det += log(fabs(a[k * n + k]));
        for (size_t r = 0; r < n; r++) {
            const double f = r == k ? 0 : a[r * n + k] / a[k * n + k];
            for (size_t c = k; c < n; c++)
                a[r * n + c] -= f * a[k * n + c];
            b[r] -= f * b[k];
        }
    }
    for (size_t k = 0; k < n; k++)
        b[k] /= a[k * n + k];
    return log_det;
}
