/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_REPORT_H
#define TACIT_EXPERIMENT_REPORT_H
/*
 * From run folders to a page. A run leaves files (report_files.c); one loader reads them back
 * (report_load.c, report_tables.c), runs are compared and grouped (report_groups.c), and one
 * renderer draws what they say (report_page.c, report_charts.c), whether it is the page a run
 * writes about itself or one that compares several.
 */
#include "experiment/run.h"
#include "report/json_read.h"
#include "report/network.h"
#include "report/page.h"
#include "report/table_read.h"

enum {
    TACIT_REPORT_AGENTS = 2000,  /* rows of agents.csv at most */
    TACIT_REPORT_BINS = 20,      /* rows of sizes.csv */
    TACIT_REPORT_DEGREES = 1000, /* about as many rows of degrees.csv */
    TACIT_REPORT_MOMENTS = 4096, /* times of metrics.csv that are kept */
};
#define TACIT_AGENTS_HEADER "agent,name,records,neighbours,degree,score,validation,loss"
#define TACIT_SIZES_HEADER "low,high,agents,mean,q05,q25,q50,q75,q95"
#define TACIT_DEGREES_HEADER "low,high,agents"
#define TACIT_EDGES_HEADER "a,b,weight"

/* What the curves of a report are made of: aggregates over all agents. */
typedef enum tacit_curve {
    TACIT_CURVE_SCORE,
    TACIT_CURVE_DEVIATION,
    TACIT_CURVE_VALIDATION,
    TACIT_CURVE_LOSS,
    TACIT_CURVE_OBJECTIVE,
    TACIT_CURVE_MESSAGES,
    TACIT_CURVE_BYTES,
    TACIT_CURVE_Q05,
    TACIT_CURVE_Q25,
    TACIT_CURVE_Q50,
    TACIT_CURVE_Q75,
    TACIT_CURVE_Q95,
    TACIT_CURVES
} tacit_curve;

/* One time of metrics.csv; NaN where it says nothing. */
typedef struct tacit_moment {
    double time, value[TACIT_CURVES];
} tacit_moment;

/* A table of numbers, column by column of the file. */
typedef struct tacit_columns {
    bool found; /* older runs have no such file */
    size_t rows, columns, capacity;
    double *cell; /* rows x columns */
} tacit_columns;

/* A folder as read. Texts point into `summary`. */
typedef struct tacit_report_run {
    char *path;        /* as given, for messages and labels */
    const char *label; /* its last part, or all of it where others end alike */
    tacit_json_tree summary;
    tacit_config config;
    char *yaml; /* config.yaml */
    /* from summary.json */
    const char *name, *protocol;
    char score[40]; /* "accuracy" */
    bool complete, unbounded;
    double time, test, deviation, objective, optimum, epsilon, delta;
    double least_budget, most_budget; /* NAN unless agents have different ones */
    uint64_t agents, records, features, messages, bytes, edges, components, lost, refused;
    uint64_t tested; /* test records that every agent is scored on; 0: each has its own */
    const char *adversary, *sees, *unit, *adjacency, *mechanism;
    const char *keep;              /* what of the folder is nobody's business; or NULL */
    const tacit_json_value *leaks; /* an array, or NULL */
    /* from metrics.csv: all times, or evenly thinned ones and the last */
    tacit_moment *moments;
    size_t moment_count, moment_capacity;
    /* the others */
    tacit_columns rows_of_agents, sizes, degrees, edge_list;
} tacit_report_run;

/* Columns of those tables; the name of agents.csv is not kept. */
enum { AGENT_NUMBER, AGENT_RECORDS, AGENT_NEIGHBOURS, AGENT_DEGREE, AGENT_SCORE, AGENT_COLUMNS };
enum { SIZE_LOW, SIZE_HIGH, SIZE_AGENTS, SIZE_MEAN, SIZE_Q05, SIZE_Q25, SIZE_Q50, SIZE_Q75 };
enum { SIZE_Q95 = SIZE_Q75 + 1, SIZE_COLUMNS };
enum { DEGREE_LOW, DEGREE_HIGH, DEGREE_AGENTS, DEGREE_COLUMNS };
enum { EDGE_A, EDGE_B, EDGE_WEIGHT, EDGE_COLUMNS };

/* ---- report_files.c: what a run leaves ---- */
tacit_status tacit_run_stage_tables(tacit_run *r, const tacit_measure *measure, tacit_error *err);
tacit_status tacit_run_publish_tables(tacit_run *r, tacit_error *err);

/* ---- report_load.c, report_tables.c ---- */
/* `staged`: results still have their temporary names. */
tacit_status tacit_report_load(tacit_report_run *run, const tacit_folder *folder, bool staged,
                               tacit_error *err);
void tacit_report_run_clear(tacit_report_run *run);
/* Read `name` of the folder piece by piece; *found is false if there is no such file. */
tacit_status tacit_report_scan(const tacit_folder *folder, const char *name, bool staged,
                               tacit_table_reader *reader, bool *found, tacit_error *err);
tacit_status tacit_report_load_metrics(tacit_report_run *run, const tacit_folder *folder,
                                       bool staged, tacit_error *err);
tacit_status tacit_report_load_tables(tacit_report_run *run, const tacit_folder *folder,
                                      bool staged, tacit_error *err);
static inline double tacit_cell(const tacit_columns *table, size_t row, size_t column)
{
    return table->cell[row * table->columns + column];
}

/* ---- report_groups.c ---- */
#define TACIT_REPORT_RUNS 12
#define TACIT_REPORT_LABEL 120

/* Runs of one configuration, which differ in their seed only; usually one run. */
typedef struct tacit_report_group {
    char label[TACIT_REPORT_LABEL];
    size_t count;
    size_t run[TACIT_REPORT_RUNS];
} tacit_report_group;

typedef struct tacit_report {
    const char *title;
    size_t runs;
    tacit_report_run run[TACIT_REPORT_RUNS];
    size_t groups;
    tacit_report_group group[TACIT_REPORT_RUNS];
    char score[40];                   /* that the pictures show: the first run's */
    double lowest[TACIT_REPORT_RUNS]; /* of each run's problem: optimum or lowest objective seen */
    bool has_optimum;                 /* all of `lowest` are optima */
} tacit_report;

/* Labels, groups and lowest objectives of the runs that were loaded. */
void tacit_report_compare(tacit_report *report);
/* The k-th key the runs disagree about, NULL if there are no more; run.name and the like are
 * not among them. */
const char *tacit_report_difference(const tacit_report *report, size_t k);
/* Have two runs the same value of every key that begins so? */
bool tacit_report_same(const tacit_report_run *a, const tacit_report_run *b, const char *prefix);
const char *tacit_report_value(const tacit_report_run *run, const char *key, const char *fallback);

/* ---- report_lines.c ---- */
/* A curve of a group: the mean over its runs. */
typedef enum tacit_band {
    TACIT_BAND_NONE,
    TACIT_BAND_DEVIATION, /* of one run: standard deviation over agents */
    TACIT_BAND_HALF,      /* quartiles over agents */
    TACIT_BAND_MOST,      /* 5 % and 95 % quantile */
} tacit_band;

typedef struct tacit_line_spec {
    tacit_curve y;
    bool by_messages; /* x: messages instead of time */
    bool gap;         /* y less the lowest of its problem */
    tacit_band band;  /* several seeds: the 95 % interval of the mean stands for a deviation */
} tacit_line_spec;

typedef struct tacit_report_line {
    size_t count;
    double *x, *y;
    double *low, *high; /* NULL: no band */
} tacit_report_line;

/* False when memory ran out. */
bool tacit_report_line_make(tacit_report_line *line, const tacit_report *report, size_t group,
                            const tacit_line_spec *spec);
void tacit_report_line_clear(tacit_report_line *line);

/* ---- report_page.c, report_charts.c ---- */
/* Caller frees; NULL when memory ran out. */
char *tacit_report_render(const tacit_report *report);
void tacit_report_charts(tacit_writer *out, const tacit_report *report);
/* report_counts.c */
void tacit_report_histogram(tacit_writer *out, const tacit_report *report);
void tacit_report_graphs(tacit_writer *out, const tacit_report *report);

#endif
