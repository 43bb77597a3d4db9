/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_AVERAGE_H
#define CLI_AVERAGE_H
/* What the files of "tacit average" share. */
#include "verbs.h"

#include "tacit/average.h"
#include "tacit/board_file.h"

typedef struct average_flags {
    int64_t peers, columns, colluders, port, threads, seed;
    double epsilon, delta, absent, patience, wait;
    int what, unit, masks, adders;
    bool json, quiet;
    char range[TACIT_TEXT_MAX], bins[TACIT_TEXT_MAX];
    char value[TACIT_TEXT_MAX], values[TACIT_TEXT_MAX], members[TACIT_TEXT_MAX],
        key[TACIT_TEXT_MAX], lifetime[TACIT_TEXT_MAX], data_set[TACIT_TEXT_MAX];
} average_flags;

/* What prepare and simulate are asked for. */
tacit_average_plan average_plan(const average_flags *flags);

/* ---- average_words.c ---- */
/* What came out, and what can be said about it. */
typedef struct average_result {
    const tacit_question *question;
    uint64_t peers, members; /* who could take part, and who did */
    uint64_t records;        /* of the members: means by record; 0: by peer */
    double *value;           /* question->numbers: means or sums; shares of a histogram */
    double error;            /* of each of them, standard, by the noise alone */
    double epsilon, delta;
    const char *unit, *adjacency, *adversary, *sees;
    const char *board; /* file, or NULL */
    bool rehearsal;    /* its noise follows from a seed: epsilon says what it would be */
} average_result;
void average_say(const average_result *result);
char *average_json(const average_result *result); /* schema tacit.average/1; caller frees */

/* ---- average_join.c, average_simulate.c, average_verify.c ---- */
tacit_status average_join(const char *folder, const average_flags *flags, tacit_error *err);
tacit_status average_simulate(const char *path, const average_flags *flags, tacit_error *err);
tacit_status average_verify(const char *path, const average_flags *flags, tacit_error *err);
/* ---- average_held.c ---- */
/* From `file`; "" or "-": standard input, or typed unseen where that is a terminal. `folder`, for
 * messages. */
tacit_status average_read_held(tacit_held *values, const tacit_question *question, const char *file,
                               const char *folder, tacit_error *err);
/* A remark on stderr about numbers out of range. */
void average_remark_clipped(const tacit_held *values, const tacit_question *question);

#endif
