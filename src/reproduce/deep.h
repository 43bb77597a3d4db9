/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_DEEP_H
#define TACIT_REPRODUCE_DEEP_H
/*
 * The experiments of paper 004: one neural net for ten agents, by dsgd, dsgt and dinno, beside a
 * curator's dp-sgd, on MNIST. Where there is no folder of data, drawn digits stand in, and that is
 * said first.
 */
#include "reproduce/figure.h"

typedef enum deep_method {
    DEEP_CENTRAL,
    DEEP_DSGD,
    DEEP_DSGT,
    DEEP_DINNO,
    DEEP_METHODS
} deep_method;
extern const char *const deep_names[DEEP_METHODS];     /* "central", "dsgd", ... */
extern const char *const deep_protocols[DEEP_METHODS]; /* "dp-sgd", "dsgd", ... */

/* Which noise. The paper's accountant, RDP, has neighbours with one record more or less (slip S14),
 * its definition has one record replaced; pld adds up the same as RDP, and closer. */
typedef enum deep_counting {
    DEEP_ADD_REMOVE, /* by pld */
    DEEP_REPLACE,    /* by pld */
    DEEP_RDP,        /* add-remove by RDP, as the paper has it */
    DEEP_COUNTINGS
} deep_counting;
extern const char *const deep_countings[DEEP_COUNTINGS]; /* "add-remove", ... */

#define DEEP_DELTA 1e-5
#define DEEP_AGENTS 10

/* One training, and what came of it. */
typedef struct deep_run {
    deep_method method;
    double epsilon; /* infinity: bare */
    deep_counting counting;
    double fiedler; /* of the graph, divided by n; 1: complete. Nothing to dp-sgd */
    double t;       /* of the partition A(t): 1 gives everybody one digit */
    int64_t seed;
    /* What came of it: */
    double accuracy; /* on all test records, mean over agents */
    double spread;   /* standard deviation over agents */
    double pld;      /* epsilon of the agent that spent most; infinity: bare */
    double rdp;      /* the same by RDP, the accountant of the paper */
    double noise;    /* over the clip, the largest of an agent */
} deep_run;

/* All runs, on the request's threads, one thread a run. */
tacit_status deep_perform(deep_run *runs, size_t count, const tacit_reproduce_request *request,
                          tacit_error *err);
/* Is there MNIST, or do drawn digits stand in? */
bool deep_has_data(const tacit_reproduce_request *request);
/* Apply "key=value;key=value". */
tacit_status deep_apply(tacit_config *config, const char *settings, tacit_error *err);

/* ---- deep_settings.c ---- */
/* Learning rate, clip and the like of a run: "key=value;key=value". */
const char *deep_settings(const deep_run *run);

/* ---- deep_canary.c ---- */
#define DEEP_AUDITED 3 /* agents, with digits 0, 1 and 2 */
/* Of `data` the records that table 5 trains on, with the canary (the last of agent 0) or without.
 */
tacit_status deep_canary(tacit_dataset **out, const tacit_dataset *data, bool with,
                         tacit_error *err);

/* ---- deep_show.c ---- */
/* In percent, as the paper prints it. */
typedef struct deep_figure {
    double mean, deviation;
} deep_figure;
/* Over `seeds` runs that lie one after the other; the deviation of one run is 0. */
deep_figure deep_mean(const deep_run *runs, size_t seeds);

/* Cells of a table: `seeds` runs each, one cell after the other. */
typedef struct deep_table {
    const tacit_reproduce_request *request;
    deep_run *runs;
    size_t cells, capacity;
    deep_figure *printed; /* a cell's in the paper */
    bool failed;          /* memory ran out */
} deep_table;
/* A cell like `like`, with all seeds. */
void deep_add(deep_table *table, const deep_run *like, deep_figure printed);
/* Run it, and state what all these tables have: settings, rows, findings. */
tacit_status deep_make(tacit_reproduced *out, deep_table *table, tacit_error *err);
void deep_clear(deep_table *table);
/* The cell's number, or `cells`. */
size_t deep_cell(const deep_table *table, const deep_run *like);
/* A line of a panel: cells like `like` at the `count` values of x, which `at` points into it at,
 * as far as there are such cells; ours or the paper's. */
void deep_line(tacit_reproduced *out, size_t panel, const char *name, const deep_table *table,
               deep_run *like, double *at, size_t count, const double *x, bool printed);
/* A sentence: `what`, as in "accuracy changes", by how much for each method; NaN: not known. */
void deep_find_ranges(tacit_reproduced *out, const char *what, const double range[DEEP_METHODS]);

#endif
