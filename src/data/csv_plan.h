/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_CSV_PLAN_H
#define TACIT_DATA_CSV_PLAN_H
/* What each column of a text table is for: from the header and the options. */
#include "data/csv_scan.h"
#include "data/names.h"
#include "tacit/data.h"

#define TACIT_CSV_MAX_COLUMNS 100000

typedef enum tacit_csv_role {
    TACIT_CSV_NUMBER, /* a feature */
    TACIT_CSV_WORD,   /* a feature for each declared word */
    TACIT_CSV_PLACE,  /* a feature: the place of its word in the declared list */
    TACIT_CSV_HASHED, /* a feature for each bucket, which are its words: "#0", "#1", ... */
    TACIT_CSV_AGENT,
    TACIT_CSV_LABEL,
    TACIT_CSV_IGNORED
} tacit_csv_role;

typedef struct tacit_csv_column {
    tacit_csv_role role;
    size_t feature;    /* the first of this column */
    tacit_names words; /* declared */
} tacit_csv_column;

typedef struct tacit_csv_plan {
    tacit_names names; /* of all columns: "1", "2", ... without a header */
    tacit_csv_column *column;
    uint32_t columns;
    size_t features;
    bool has_agent, has_label;
} tacit_csv_plan;

/* Reads the header if there is one; the scan then stands before the first record. */
tacit_status tacit_csv_plan_read(tacit_csv_plan *plan, tacit_csv_scan *scan,
                                 const tacit_data_options *options, tacit_error *err);
void tacit_csv_plan_clear(tacit_csv_plan *plan); /* {0} is empty */
/* Names of the features, such as "age" and "colour=red". */
tacit_status tacit_csv_plan_features(const tacit_csv_plan *plan, tacit_names *features,
                                     tacit_error *err);
/* "red, green, blue" for a message. */
void tacit_csv_words(const tacit_names *words, char *out, size_t size);

/* ---- csv_words.c ---- */
/* Declare the words of `list`, the value of option `key`; its columns get `role`. */
tacit_status tacit_csv_declare(tacit_csv_plan *plan, const char *name, const char *key,
                               const char *list, tacit_csv_role role, tacit_error *err);
/* Columns of any words; words fall into `buckets` buckets. */
tacit_status tacit_csv_declare_hashed(tacit_csv_plan *plan, const char *name, const char *list,
                                      uint32_t buckets, tacit_error *err);
/* The bucket of a word in a column of this name: the same everywhere and always. */
uint32_t tacit_csv_bucket(const char *column, const char *word, size_t len, uint32_t buckets);
/* The column called so, or an error that names the option `key` and the nearest column. */
tacit_status tacit_csv_find(const tacit_csv_plan *plan, const char *name, const char *key,
                            const char *wanted, size_t len, uint32_t *at, tacit_error *err);

#endif
