/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as metrics.csv, in pieces whose size the first byte chooses: the same outcome as
 * in one piece, an error with words or rows that can be written and read again.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_read.h"
#include "report/writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static tacit_status take(void *ctx, const tacit_metric_row *row, tacit_error *err)
{
    (void)err;
    demand(isfinite(row->time) && !isnan(row->value));
    tacit_csv_row(ctx, row->time, row->agent, row->name, row->value);
    return TACIT_OK;
}

static tacit_status scan(tacit_writer *out, const char *text, size_t len, size_t piece,
                         tacit_error *err)
{
    tacit_metrics_reader m;
    tacit_metrics_open(&m, "fuzz.csv", take, out);
    tacit_write_text(out, TACIT_CSV_HEADER);
    tacit_status status = TACIT_OK;
    for (size_t at = 0; at < len && !status; at += piece)
        status = tacit_table_feed(&m.table, text + at, len - at < piece ? len - at : piece, err);
    return status ? status : tacit_table_end(&m.table, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    if (len == 0)
        return 0;
    const char *text = (const char *)bytes + 1;
    tacit_writer whole = {0}, pieces = {0}, again = {0};
    tacit_error err = {0}, other = {0};
    tacit_status status = scan(&whole, text, len - 1, len, &err);
    demand(scan(&pieces, text, len - 1, 1 + bytes[0] % 64, &other) == status);
    demand(strcmp(whole.text, pieces.text) == 0);
    demand(status ? err.text[0] && strcmp(err.text, other.text) == 0 : true);
    if (!status) {
        demand(scan(&again, whole.text, whole.len, 4096, &err) == TACIT_OK);
        demand(strcmp(whole.text, again.text) == 0);
    }
    tacit_writer_clear(&whole);
    tacit_writer_clear(&pieces);
    tacit_writer_clear(&again);
    return 0;
}
