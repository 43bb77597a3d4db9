/* SPDX-License-Identifier: Apache-2.0 */
#include "report/writer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void tacit_csv_text(tacit_writer *writer, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        tacit_write_text(writer, text);
        return;
    }
    tacit_write_text(writer, "\"");
    for (const char *c = text; *c; c++)
        tacit_write_bytes(writer, *c == '"' ? "\"\"" : c, *c == '"' ? 2 : 1);
    tacit_write_text(writer, "\"");
}

void tacit_csv_cell(tacit_writer *writer, double value)
{
    if (!isnan(value))
        tacit_write_real(writer, value);
}

void tacit_csv_row(tacit_writer *writer, double time, tacit_agent agent, const char *name,
                   double value)
{
    if (isnan(value))
        return;
    tacit_write_real(writer, time);
    if (agent == TACIT_NOBODY)
        tacit_write_text(writer, ",all,");
    else
        tacit_write_format(writer, ",%llu,", (unsigned long long)agent);
    tacit_csv_text(writer, name);
    tacit_write_text(writer, ",");
    tacit_write_real(writer, value);
    tacit_write_text(writer, "\n");
}

void tacit_npy_header(tacit_writer *writer, tacit_scalar scalar, uint64_t rows, uint64_t columns)
{
    const uint16_t probe = 1;
    const char order = *(const unsigned char *)&probe ? '<' : '>';
    const char *kind = scalar == TACIT_F32 ? "f4" : scalar == TACIT_F64 ? "f8" : "i8";
    char words[160];
    int len = snprintf(words, sizeof words,
                       "{'descr': '%c%s', 'fortran_order': False, 'shape': (%llu, %llu), }", order,
                       kind, (unsigned long long)rows, (unsigned long long)columns);
    /* The numbers start at a multiple of 64 bytes; the header ends in a line break. */
    size_t total = ((size_t)len + 11 + 63) / 64 * 64;
    size_t inner = total - 10;
    const unsigned char prefix[10] = {0x93,
                                      'N',
                                      'U',
                                      'M',
                                      'P',
                                      'Y',
                                      1,
                                      0,
                                      (unsigned char)(inner & 255),
                                      (unsigned char)(inner >> 8)};
    tacit_write_bytes(writer, prefix, sizeof prefix);
    tacit_write_text(writer, words);
    for (size_t i = (size_t)len; i + 1 < inner; i++)
        tacit_write_text(writer, " ");
    tacit_write_text(writer, "\n");
}
