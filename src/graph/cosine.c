/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dense rows are packed: BLOCK agents side by side, one column after the other, so that the
 * inner loop runs over agents and the compiler makes vectors of it without reordering any sum.
 * A block is used by TACIT_COSINE_ROWS rows before the next one is fetched.
 *
 * Compressed rows have an index by column: who has something there, and how much. A row's
 * cosines are its columns' members added up: work for the pairs that share a column only.
 */
#include "graph/cosine.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64

static void *array(size_t count, size_t item)
{
    return calloc(count ? count : 1, item);
}

/* Scale `count` numbers to norm 1, in place; squares must not overflow on the way. */
static tacit_status normalise(double *value, size_t count, uint32_t agent, bool *is_zero,
                              tacit_error *err)
{
    double largest = 0, sum = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(value[k]))
            return tacit_fail(err, TACIT_EINPUT,
                              "the target of agent \"%" PRIu32 "\" is not finite; its angle to "
                              "others is undefined",
                              agent);
        largest = fmax(largest, fabs(value[k]));
    }
    *is_zero = largest == 0;
    if (*is_zero)
        return TACIT_OK;
    for (size_t k = 0; k < count; k++) {
        value[k] /= largest;
        sum += value[k] * value[k];
    }
    for (size_t k = 0; k < count; k++)
        value[k] /= sqrt(sum);
    return TACIT_OK;
}

/* ---- dense ---- */

static double *block_of(const tacit_cosines *c, uint32_t i)
{
    return c->packed + (size_t)(i / BLOCK) * BLOCK * c->dimension + i % BLOCK;
}

static tacit_status pack(tacit_cosines *c, tacit_error *err)
{
    size_t blocks = (size_t)c->agents / BLOCK + 1, values;
    double *row = array(c->dimension, sizeof *row);
    if (tacit_mul_size(blocks * BLOCK, c->dimension, &values))
        c->packed = array(values, sizeof *c->packed);
    tacit_status status = row && c->packed ? TACIT_OK : tacit_out_of_memory(err);
    for (uint32_t i = 0; i < c->agents && !status; i++) {
        memcpy(row, c->targets->dense + i * c->dimension, c->dimension * sizeof *row);
        status = normalise(row, c->dimension, i, &c->is_zero[i], err);
        double *to = block_of(c, i);
        for (size_t k = 0; k < c->dimension && !status; k++)
            to[k * BLOCK] = row[k];
    }
    free(row);
    return status;
}

static void dense_block(const tacit_cosines *c, uint32_t i, uint32_t block, double *out)
{
    const double *x = block_of(c, i), *y = block_of(c, block);
    double sum[BLOCK] = {0};
    for (size_t k = 0; k < c->dimension; k++) {
        double factor = x[k * BLOCK];
        for (size_t j = 0; j < BLOCK; j++)
            sum[j] += factor * y[k * BLOCK + j];
    }
    uint32_t count = c->agents - block < BLOCK ? c->agents - block : BLOCK;
    memcpy(out + block, sum, count * sizeof *sum);
}

static void dense_rows(const tacit_cosines *c, uint32_t first, uint32_t count, uint32_t from,
                       double *out)
{
    for (uint32_t block = from / BLOCK * BLOCK; block < c->agents; block += BLOCK) {
        for (uint32_t r = 0; r < count; r++)
            dense_block(c, first + r, block, out + (size_t)r * c->agents);
        if (c->agents - block <= BLOCK)
            break; /* block + BLOCK may not fit */
    }
}

/* ---- compressed ---- */

static tacit_status check_row(const tacit_targets *t, uint32_t i, tacit_error *err)
{
    for (uint64_t e = t->row[i]; e < t->row[i + 1]; e++) {
        if (t->column[e] >= t->dimension || (e > t->row[i] && t->column[e] <= t->column[e - 1]))
            return tacit_fail(err, TACIT_EINPUT,
                              "the target of agent \"%" PRIu32 "\" has column \"%" PRIu32
                              "\" out of order or beyond the %zu columns",
                              i, t->column[e], t->dimension);
    }
    return TACIT_OK;
}

static void index_columns(tacit_cosines *c, uint64_t *at)
{
    const tacit_targets *t = c->targets;
    uint64_t entries = t->row[c->agents];
    for (uint64_t e = 0; e < entries; e++)
        c->start[t->column[e] + 1]++;
    for (size_t k = 0; k < c->dimension; k++)
        c->start[k + 1] += c->start[k];
    memcpy(at, c->start, c->dimension * sizeof *at);
    for (uint32_t i = 0; i < c->agents; i++) {
        for (uint64_t e = t->row[i]; e < t->row[i + 1]; e++) {
            uint64_t to = at[t->column[e]]++;
            c->member[to] = i;
            c->share[to] = c->unit[e];
        }
    }
}

static tacit_status make_index(tacit_cosines *c, tacit_error *err)
{
    const tacit_targets *t = c->targets;
    size_t entries = t->row[c->agents];
    uint64_t *at = array(c->dimension, sizeof *at);
    c->unit = array(entries, sizeof *c->unit);
    c->start = array(c->dimension + 1, sizeof *c->start);
    c->member = array(entries, sizeof *c->member);
    c->share = array(entries, sizeof *c->share);
    tacit_status status = TACIT_OK;
    if (!at || !c->unit || !c->start || !c->member || !c->share)
        status = tacit_out_of_memory(err);
    if (!status && entries > 0)
        memcpy(c->unit, t->value, entries * sizeof *c->unit);
    for (uint32_t i = 0; i < c->agents && !status; i++) {
        status = check_row(t, i, err);
        if (!status)
            status =
                normalise(c->unit + t->row[i], t->row[i + 1] - t->row[i], i, &c->is_zero[i], err);
    }
    if (!status)
        index_columns(c, at);
    free(at);
    return status;
}

static void compressed_row(const tacit_cosines *c, uint32_t i, double *out)
{
    const tacit_targets *t = c->targets;
    memset(out, 0, c->agents * sizeof *out);
    for (uint64_t e = t->row[i]; e < t->row[i + 1]; e++) {
        double factor = c->unit[e];
        uint64_t end = c->start[t->column[e] + 1];
        for (uint64_t m = c->start[t->column[e]]; m < end; m++)
            out[c->member[m]] += factor * c->share[m];
    }
}

static double dense_pair(const tacit_cosines *c, uint32_t i, uint32_t j)
{
    const double *x = block_of(c, i), *y = block_of(c, j);
    double sum = 0;
    for (size_t k = 0; k < c->dimension; k++)
        sum += x[k * BLOCK] * y[k * BLOCK];
    return sum;
}

static double compressed_pair(const tacit_cosines *c, uint32_t i, uint32_t j)
{
    const tacit_targets *t = c->targets;
    double sum = 0;
    for (uint64_t a = t->row[i], b = t->row[j]; a < t->row[i + 1] && b < t->row[j + 1];) {
        const uint32_t x = t->column[a], y = t->column[b];
        if (x == y)
            sum += c->unit[a] * c->unit[b];
        a += x <= y;
        b += y <= x;
    }
    return sum;
}

/* ---- both ---- */

tacit_status tacit_cosines_init(tacit_cosines *c, uint32_t agents, const tacit_targets *targets,
                                tacit_error *err)
{
    *c = (tacit_cosines){.agents = agents, .dimension = targets->dimension, .targets = targets};
    c->is_zero = array(agents, sizeof *c->is_zero);
    tacit_status status = c->is_zero ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = targets->dense ? pack(c, err) : make_index(c, err);
    if (status)
        tacit_cosines_clear(c);
    return status;
}

void tacit_cosines_clear(tacit_cosines *c)
{
    free(c->packed);
    free(c->unit);
    free(c->start);
    free(c->member);
    free(c->share);
    free(c->is_zero);
    *c = (tacit_cosines){0};
}

void tacit_cosines_rows(const tacit_cosines *c, uint32_t first, uint32_t count, uint32_t from,
                        double *out)
{
    if (c->packed) {
        dense_rows(c, first, count, from, out);
        return;
    }
    for (uint32_t r = 0; r < count; r++)
        compressed_row(c, first + r, out + (size_t)r * c->agents);
}

double tacit_cosines_pair(const tacit_cosines *c, uint32_t i, uint32_t j)
{
    return c->packed ? dense_pair(c, i, j) : compressed_pair(c, i, j);
}
