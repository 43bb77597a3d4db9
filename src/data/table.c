/* SPDX-License-Identifier: Apache-2.0 */
#include "data/table.h"

#include "data/dataset.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t value_bytes(const tacit_table *table)
{
    return table->narrow ? 1 : tacit_scalar_size(table->scalar);
}

static tacit_status claim(tacit_table *table, const tacit_data_options *options, tacit_error *err)
{
    const size_t rows = table->rows, features = table->features;
    size_t bytes;
    table->stride = features;
    table->subtract = options->subtract;
    table->divide = options->divide > 0 ? options->divide : 1;
    /* A table may have no features: the bias comes later. */
    tacit_status status =
        tacit_dataset_check_size(1, rows, features > 0 ? features : 1, table->scalar, err);
    if (status)
        return status;
    if (!tacit_mul_size(rows, features, &bytes) ||
        !tacit_mul_size(bytes, value_bytes(table), &bytes))
        return tacit_out_of_memory(err);
    const char *scratch = options->storage == 1 ? options->scratch : NULL;
    /* Never nothing: a pointer to no features is still a pointer. */
    if ((status = tacit_block_claim(&table->x, bytes > 0 ? bytes : 1, scratch, err)))
        return status;
    table->y = calloc(rows > 0 ? rows : 1, sizeof *table->y);
    if (table->y)
        return TACIT_OK;
    tacit_table_clear(table);
    return tacit_out_of_memory(err);
}

tacit_status tacit_table_create(tacit_table *table, size_t rows, size_t features,
                                tacit_scalar scalar, const tacit_data_options *options,
                                tacit_error *err)
{
    *table = (tacit_table){.rows = rows, .features = features, .scalar = scalar};
    return claim(table, options, err);
}

tacit_status tacit_table_create_narrow(tacit_table *table, size_t rows, size_t features,
                                       tacit_scalar scalar, const tacit_data_options *options,
                                       tacit_error *err)
{
    *table = (tacit_table){.rows = rows, .features = features, .scalar = scalar, .narrow = true};
    return claim(table, options, err);
}

void tacit_table_clear(tacit_table *table)
{
    tacit_block_release(&table->x);
    free(table->y);
    free(table->owner);
    tacit_names_clear(&table->owners);
    tacit_names_clear(&table->columns);
    *table = (tacit_table){0};
}

tacit_status tacit_table_own(tacit_table *table, tacit_error *err)
{
    tacit_names_clear(&table->owners);
    free(table->owner);
    table->owner = calloc(table->rows > 0 ? table->rows : 1, sizeof *table->owner);
    return table->owner ? TACIT_OK : tacit_out_of_memory(err);
}

/* Store values; the first that is infinite once stored, or `count`. The loops have no branch,
 * so that the compiler can vectorise them. */
static size_t store(tacit_table *table, size_t row, const double *x)
{
    size_t count = table->features, at = row * count;
    bool infinite = false, missing = false;
    if (table->narrow) {
        unsigned char *to = (unsigned char *)table->x.bytes + at;
        for (size_t k = 0; k < count; k++)
            to[k] = (unsigned char)x[k];
    } else if (table->scalar == TACIT_F32) {
        float *to = (float *)table->x.bytes + at;
        for (size_t k = 0; k < count; k++) {
            to[k] = (float)x[k];
            infinite |= fabsf(to[k]) > FLT_MAX;
            missing |= to[k] != to[k];
        }
    } else {
        double *to = (double *)table->x.bytes + at;
        for (size_t k = 0; k < count; k++) {
            to[k] = x[k];
            infinite |= fabs(x[k]) > DBL_MAX;
            missing |= x[k] != x[k];
        }
    }
    table->missing |= missing;
    size_t k = infinite ? 0 : count;
    while (k < count && (table->scalar == TACIT_F32 ? !isinf((float)x[k]) : !isinf(x[k])))
        k++;
    return k;
}

tacit_status tacit_table_put(tacit_table *table, size_t row, const double *x, double y,
                             tacit_error *err)
{
    if (row >= table->rows)
        return tacit_fail(err, TACIT_EINPUT, "a table of %zu rows has no row %zu", table->rows,
                          row);
    if (table->features > 0) {
        size_t bad = store(table, row, x);
        if (bad < table->features)
            return tacit_fail(
                err, TACIT_EINPUT, "record %zu, feature %zu is \"%g\"; expected a finite number%s",
                row + 1, bad + 1, x[bad],
                isinf(x[bad]) ? "" : " that fits in f32 (or set model.scalar to f64)");
    }
    if (!isfinite(y) || (table->scalar == TACIT_F32 && fabs(y) > (double)FLT_MAX))
        return tacit_fail(err, TACIT_EINPUT,
                          "record %zu has label \"%g\"; expected a finite number", row + 1, y);
    table->y[row] = y;
    return TACIT_OK;
}

size_t tacit_table_row_bytes(const tacit_table *table)
{
    return table->stride * value_bytes(table);
}

void tacit_table_unpack(const tacit_table *table, const void *bytes, double *x)
{
    const size_t count = table->stride;
    const unsigned char *pixel = bytes;
    const float *single = bytes;
    if (table->narrow) {
        for (size_t k = 0; k < count; k++)
            x[k] = pixel[k];
    } else if (table->scalar == TACIT_F32) {
        for (size_t k = 0; k < count; k++)
            x[k] = (double)single[k];
    } else if (count > 0)
        memcpy(x, bytes, count * sizeof *x);
    for (size_t k = count; k < table->features; k++)
        x[k] = 0;
    if (table->subtract != 0 || table->divide != 1)
        for (size_t k = 0; k < table->features; k++)
            x[k] = (x[k] - table->subtract) / table->divide;
}

void tacit_table_get(const tacit_table *table, size_t row, double *x)
{
    const char *bytes = table->x.bytes;
    tacit_table_unpack(table, bytes + row * tacit_table_row_bytes(table), x);
}

/* ---- several files ---- */

static tacit_status check_alike(const tacit_table *a, const char *a_name, const tacit_table *b,
                                const char *b_name, bool widen, tacit_error *err)
{
    if (a->features != b->features && !widen)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"%.200s\" has %zu features and \"%.200s\" %zu; files that are read "
                          "together must have the same columns",
                          a_name, a->features, b_name, b->features);
    for (uint32_t k = 0; k < a->columns.count && k < b->columns.count; k++) {
        const char *one = tacit_names_get(&a->columns, k), *two = tacit_names_get(&b->columns, k);
        if (strcmp(one, two) != 0)
            return tacit_fail(err, TACIT_EINPUT,
                              "feature %u is \"%.60s\" in \"%.150s\" and \"%.60s\" in \"%.150s\"; "
                              "files that are read together must have the same columns",
                              k + 1, one, a_name, two, b_name);
    }
    return TACIT_OK;
}

tacit_status tacit_table_match(tacit_table *a, const char *a_name, tacit_table *b,
                               const char *b_name, bool widen, tacit_error *err)
{
    tacit_status status = check_alike(a, a_name, b, b_name, widen, err);
    if (!status)
        a->features = b->features = a->features > b->features ? a->features : b->features;
    return status;
}

static void widen_row(void *to, const unsigned char *from, size_t count, tacit_scalar scalar)
{
    for (size_t k = 0; k < count && scalar == TACIT_F32; k++)
        ((float *)to)[k] = from[k];
    for (size_t k = 0; k < count && scalar == TACIT_F64; k++)
        ((double *)to)[k] = from[k];
}

/* Rows of `part` to `first` and on. */
static void copy_rows(tacit_table *out, size_t first, const tacit_table *part)
{
    size_t from_row = tacit_table_row_bytes(part), to_row = tacit_table_row_bytes(out);
    for (size_t row = 0; row < part->rows && from_row > 0; row++) {
        char *to = (char *)out->x.bytes + (first + row) * to_row;
        const char *from = (const char *)part->x.bytes + row * from_row;
        if (part->narrow == out->narrow)
            memcpy(to, from, from_row);
        else
            widen_row(to, (const unsigned char *)from, part->stride, out->scalar);
    }
    memcpy(out->y + first, part->y, part->rows * sizeof *out->y);
    out->missing |= part->missing;
    out->by_words |= part->by_words;
    out->positives |= part->positives;
}

static tacit_status copy_owners(tacit_table *out, size_t first, const tacit_table *part,
                                tacit_error *err)
{
    tacit_status status = TACIT_OK;
    uint32_t *number = calloc(part->owners.count + (size_t)1, sizeof *number);
    if (!number)
        return tacit_out_of_memory(err);
    for (uint32_t k = 0; k < part->owners.count && !status; k++) {
        const char *name = tacit_names_get(&part->owners, k);
        bool added;
        status = tacit_names_intern(&out->owners, name, strlen(name), &number[k], &added, err);
    }
    for (size_t row = 0; row < part->rows && !status; row++)
        out->owner[first + row] = number[part->owner[row]];
    free(number);
    return status;
}

static tacit_status create_joint(tacit_table *out, const tacit_table *parts,
                                 const char *const *names, size_t count, bool widen,
                                 const tacit_data_options *options, tacit_error *err)
{
    size_t rows = 0, features = 0;
    bool owned = true, narrow = true; /* only if all are */
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < count && !status; k++) {
        if (!tacit_add_size(rows, parts[k].rows, &rows))
            return tacit_out_of_memory(err);
        owned &= parts[k].owner != NULL;
        narrow &= parts[k].narrow;
        features = parts[k].features > features ? parts[k].features : features;
        status = check_alike(&parts[0], names[0], &parts[k], names[k], widen, err);
    }
    if (!status)
        status = (narrow ? tacit_table_create_narrow
                         : tacit_table_create)(out, rows, features, parts[0].scalar, options, err);
    if (status)
        return status;
    return owned ? tacit_table_own(out, err) : TACIT_OK;
}

tacit_status tacit_table_join(tacit_table *out, tacit_table *parts, const char *const *names,
                              size_t count, bool widen, const tacit_data_options *options,
                              tacit_error *err)
{
    *out = (tacit_table){0};
    if (count == 1) {
        *out = parts[0];
        parts[0] = (tacit_table){0};
        return TACIT_OK;
    }
    tacit_status status = create_joint(out, parts, names, count, widen, options, err);
    size_t first = 0;
    if (!status) {
        out->columns = parts[0].columns;
        parts[0].columns = (tacit_names){0};
    }
    for (size_t k = 0; k < count && !status; k++) {
        copy_rows(out, first, &parts[k]);
        if (out->owner)
            status = copy_owners(out, first, &parts[k], err);
        first += parts[k].rows;
        tacit_table_clear(&parts[k]); /* at once: two copies of everything may be too much */
    }
    if (status)
        tacit_table_clear(out);
    return status;
}
