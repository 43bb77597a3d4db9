/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_CSV_SCAN_H
#define TACIT_DATA_CSV_SCAN_H
/*
 * From bytes to fields: RFC 4180 (quotes, doubled quotes, line breaks inside quotes), LF or
 * CRLF, a UTF-8 byte order mark; between fields a comma, a tab, a semicolon or blanks. Knows
 * nothing of columns or numbers.
 */
#include "tacit/base.h"

#define TACIT_CSV_FIELD_MAX 65536 /* bytes of a field */
#define TACIT_CSV_SHOWN_MAX 64    /* bytes of a field that a message shows */

typedef struct tacit_csv_field {
    const char *text; /* blanks around it removed unless it was quoted; not NUL-terminated */
    size_t len;
    uint64_t line; /* where it starts, from 1 */
    bool quoted;
    bool last; /* of its record */
} tacit_csv_field;

typedef struct tacit_csv_scan {
    const char *name; /* of the file, for messages */
    const char *at, *end;
    uint64_t line;
    char separator; /* ',' unless set otherwise after opening; ' ' for runs of blanks and tabs */
    bool plain;     /* quotes are letters like others; for separators beside those above, too */
    char *unquoted; /* TACIT_CSV_FIELD_MAX bytes for fields with doubled quotes */
} tacit_csv_scan;

/* `text` is borrowed. */
tacit_status tacit_csv_open(tacit_csv_scan *scan, const char *name, const char *text, size_t len,
                            tacit_error *err);
void tacit_csv_close(tacit_csv_scan *scan);
/* Back to the start of the text. */
void tacit_csv_rewind(tacit_csv_scan *scan, const char *text, size_t len);
/* Skip empty lines; false at the end of the text. Call before the first field of a record. */
bool tacit_csv_more(tacit_csv_scan *scan);
/* The next field of the record; it is good until the next call. */
tacit_status tacit_csv_next(tacit_csv_scan *scan, tacit_csv_field *field, tacit_error *err);
/* The field as a message may show it: cut, without control characters. */
const char *tacit_csv_shown(const char *text, size_t len, char out[TACIT_CSV_SHOWN_MAX + 4]);

/* A decimal number such as -1.5e-3 that is finite as a double, and nothing else ("0x1",
 * "inf", "1 2" and "" are not). Correctly rounded. */
bool tacit_csv_number(const char *text, size_t len, double *out);
/* The longest such number from `at`: where it ends, NULL if there is none or it takes a slower
 * way (many digits, large exponents). */
const char *tacit_csv_quick_number(const char *at, const char *end, double *out);

#endif
