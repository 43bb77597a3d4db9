/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LEDGER_H
#define CLI_LEDGER_H
/* What the files of "tacit ledger" share: of a run or a peer (ledger.c), and of a data set's life
 * (ledger_life*.c). */
#include "tacit/lifetime.h"
#include "verbs.h"

typedef struct ledger_flags {
    bool json, force;
    int64_t last, releases;
    double epsilon, delta, noise, sampling, aside;
    int mechanism, unit, adjacency, filter;
    char key[TACIT_TEXT_MAX], svg[TACIT_TEXT_MAX], lifetime[TACIT_TEXT_MAX],
        data_set[TACIT_TEXT_MAX];
} ledger_flags;

enum { LEDGER_AS_KNOWN }; /* first choice of --unit and --adjacency; those of privacy.h follow */

/* Is it one? By its first bytes. */
bool ledger_is_life(const char *path);

/* ---- a data set with what was found out about it ---- */
typedef struct life_set {
    const tacit_lifetime_dataset *set;
    double spent;  /* by its filter */
    double fixed;  /* by the best accountant, if costs were not chosen by earlier outputs */
    double *until; /* spent by each entry and all before it, in the order of time */
    double *alone; /* of each entry by itself */
    size_t *entry; /* in the order of time */
} life_set;

typedef struct life {
    char path[CLI_PATH_MAX];
    tacit_lifetime *ledger;
    tacit_lifetime_view *view;
    life_set *sets;
} life;

/* To look, or with `write` to change it; `path` "": the default. */
tacit_status ledger_life_open(life *life, const char *path, bool write, tacit_error *err);
void ledger_life_close(life *life);
double ledger_life_left(const life_set *set);

/* ---- ledger_life_words.c ---- */
void ledger_life_words(const life *life, const ledger_flags *flags);
char *ledger_life_json(const life *life);
char *ledger_life_svg(const life *life);
/* "for one record (adjacency replace)" */
void ledger_life_about(const tacit_lifetime_terms *terms, char *out, size_t size);

/* ---- the words after "tacit ledger" ---- */
tacit_status ledger_life_show(const char *path, const ledger_flags *flags, tacit_error *err);
tacit_status ledger_life_budget(const cli_args *args, tacit_error *err);
tacit_status ledger_life_join(const cli_args *args, tacit_error *err);
tacit_status ledger_life_plan(const cli_args *args, tacit_error *err);

#endif
