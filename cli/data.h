/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DATA_H
#define CLI_DATA_H
/* Inside of tacit data: what was found out, and the ways to show it. */
#include "data/describe.h"
#include "data/known.h"
#include "report/partition.h"
#include "tacit/experiment.h"

#define CLI_DATA_FILES 200

typedef struct cli_data_file {
    const char *key; /* "path", "labels-path", ... */
    char path[TACIT_TEXT_MAX];
    tacit_file_facts facts;
} cli_data_file;

typedef struct cli_data_facts {
    const tacit_experiment *experiment;
    tacit_source source;
    tacit_description about;
    cli_data_file *files;
    size_t file_count;
    /* the partition as a picture shows it */
    uint32_t columns;
    uint32_t *counts; /* agents x columns */
    char (*column_names)[32];
} cli_data_facts;

/* How a choice of section "data" is written, as in "dirichlet". */
void cli_data_choice(const cli_data_facts *facts, const char *key, char *out, size_t size);
/* "partition dirichlet, alpha 0.5" */
void cli_data_partition(const cli_data_facts *facts, char *out, size_t size);
/* What of it was made from training records and charged to nobody; returns how many. */
size_t cli_data_leaks(const cli_data_facts *facts, const char *words[TACIT_LEAKS]);

/* ---- data_words.c ---- */
void cli_data_words(const cli_data_facts *facts);
void cli_data_known(void);

/* ---- data_look.c ---- */
/* Say what a file of records is, and print a section "data" to start from. */
tacit_status cli_data_look(const char *path, const char *folder, tacit_error *err);

/* ---- data_out.c: texts that the caller frees; NULL when memory ran out ---- */
char *cli_data_json(const cli_data_facts *facts);
char *cli_data_svg(const cli_data_facts *facts);
char *cli_data_csv(const cli_data_facts *facts);

#endif
