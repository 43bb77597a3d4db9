/* SPDX-License-Identifier: Apache-2.0 */
#include "base/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tacit_writer_clear(tacit_writer *writer)
{
    free(writer->text);
    *writer = (tacit_writer){0};
}

static bool reserve(tacit_writer *writer, size_t more)
{
    size_t need;
    if (writer->failed || !tacit_add_size(writer->len, more, &need) ||
        !tacit_add_size(need, 1, &need)) {
        writer->failed = true;
        return false;
    }
    if (need <= writer->capacity)
        return true;
    size_t capacity = writer->capacity ? writer->capacity : 256;
    while (capacity < need)
        if (!tacit_mul_size(capacity, 2, &capacity)) {
            writer->failed = true;
            return false;
        }
    char *text = realloc(writer->text, capacity);
    if (!text) {
        writer->failed = true;
        return false;
    }
    writer->text = text;
    writer->capacity = capacity;
    return true;
}

void tacit_write_bytes(tacit_writer *writer, const void *bytes, size_t len)
{
    if (!reserve(writer, len))
        return;
    if (len > 0)
        memcpy(writer->text + writer->len, bytes, len);
    writer->len += len;
    writer->text[writer->len] = '\0';
}

void tacit_write_text(tacit_writer *writer, const char *text)
{
    tacit_write_bytes(writer, text, strlen(text));
}

void tacit_write_format(tacit_writer *writer, const char *fmt, ...)
{
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0)
        writer->failed = true;
    else if (reserve(writer, (size_t)len)) {
        vsnprintf(writer->text + writer->len, (size_t)len + 1, fmt, again);
        writer->len += (size_t)len;
    }
    va_end(again);
}

void tacit_write_real(tacit_writer *writer, double value)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (!isfinite(value) || strtod(text, NULL) == value)
            break;
    }
    if (isnan(value))
        snprintf(text, sizeof text, "nan"); /* never "-nan" */
    tacit_write_text(writer, text);
}

char *tacit_writer_take(tacit_writer *writer)
{
    char *text = NULL;
    if (writer->text && !writer->failed)
        text = writer->text;
    else
        free(writer->text);
    *writer = (tacit_writer){0};
    return text;
}

double tacit_rounded_up(double value)
{
    double found = value;
    for (int k = 0; k <= 10; k++) { /* six digits are at most 1e-5 of the value apart */
        char text[40];
        snprintf(text, sizeof text, "%.6g", value * (1 + k * 1e-6));
        found = strtod(text, NULL);
        if (!(found < value))
            break;
    }
    return found;
}
