/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_H
#define TACIT_REPRODUCE_H
/*
 * Figures and tables of the papers, run again and put beside what the papers print. One figure
 * is one const struct in one file of src/reproduce/ and one line in its registry.
 */
#include "tacit/experiment.h"

typedef struct tacit_reproduce_request {
    int64_t seed;   /* of the first run; the others follow */
    uint32_t seeds; /* runs to average over; 0: as many as the figure says */
    uint32_t threads;
    bool quick;       /* a smaller task, to see that all works: not the figure */
    bool full;        /* all that the paper has, where that takes hours; not with `quick` */
    const char *only; /* of a table the cells whose names hold this; NULL or "": all */
    const char *data; /* folder of data files; NULL or "": none, and figures that need it fail */
    const tacit_stop *stop;
    tacit_progress *progress;
    void *progress_ctx;
} tacit_reproduce_request;

typedef struct tacit_reproduced tacit_reproduced; /* what came of it */

typedef struct tacit_reproduction {
    const char *name;    /* "000-fig1" */
    const char *paper;   /* authors, year, where in the paper */
    const char *title;   /* one line */
    uint32_t seeds;      /* the paper's number of runs, or what a long figure can afford */
    uint32_t full_seeds; /* with request.full; 0: the figure has no longer form */
    bool needs_data;     /* files that are not part of Tacit: request.data */
    bool has_cells;      /* a table that takes request.only */
    /* `request` has its zeros filled in; the result does not depend on `threads`. */
    tacit_status (*run)(tacit_reproduced *out, const tacit_reproduce_request *request,
                        tacit_error *err);
} tacit_reproduction;

extern const tacit_reproduction *const tacit_reproductions[]; /* NULL-terminated, by name */
const tacit_reproduction *tacit_reproduction_find(const char *name);

tacit_status tacit_reproduce(tacit_reproduced **out, const tacit_reproduction *reproduction,
                             const tacit_reproduce_request *request, tacit_error *err);
void tacit_reproduced_free(tacit_reproduced *result);

/* A figure of ours, and the paper's beside it. */
typedef struct tacit_reproduced_row {
    const char *what;
    double ours;      /* mean over runs */
    double low, high; /* tacit_reproduced_spread says what they are; NaN: unknown */
    double paper;     /* NaN: the paper prints no such number */
    double least;     /* ours is as good as the paper's from here on; NaN: nobody judges */
} tacit_reproduced_row;
size_t tacit_reproduced_rows(const tacit_reproduced *result, const tacit_reproduced_row **rows);
/* What `low` and `high` are: "the least and the largest of them", "its 95 % interval". */
const char *tacit_reproduced_spread(const tacit_reproduced *result);
/* What a reader must know before any number: that curves are unsound, that data leak. "": nothing.
 */
const char *tacit_reproduced_warning(const tacit_reproduced *result);
/* For people: "12,345", "0.881", "1.2e-09"; "not reached" for NaN. */
void tacit_reproduced_number(double value, char *out, size_t size);
/* ", reached" or ", NOT REACHED"; "" where nobody judges. */
const char *tacit_reproduced_verdict(const tacit_reproduced_row *row);
/* What one sees, a sentence each. */
size_t tacit_reproduced_findings(const tacit_reproduced *result, const char *const **findings);

/* Schema tacit.reproduce/1 (caller frees). */
char *tacit_reproduced_json(const tacit_reproduced *result);
/* reproduce.html, data.csv and summary.json into `folder`, which must not exist or be empty; all
 * of them or none. */
tacit_status tacit_reproduced_write(const tacit_reproduced *result, const char *folder,
                                    tacit_error *err);
/* Several figures on one page and in one data.csv ("figure:panel" under "panel") and one
 * summary.json (schema tacit.reproductions/1). `note` stands first on the page, or NULL. */
tacit_status tacit_reproduced_write_all(const tacit_reproduced *const *results, size_t count,
                                        const char *note, const char *folder, tacit_error *err);
char *tacit_reproduced_json_all(const tacit_reproduced *const *results, size_t count);

#endif
