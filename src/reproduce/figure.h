/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_FIGURE_H
#define TACIT_REPRODUCE_FIGURE_H
/*
 * What a figure puts together while it runs: settings, panels with series, rows of numbers and
 * sentences. How they are shown (page, CSV, JSON, words) is not its business. Texts are copied.
 * Running out of memory is remembered and told once, at the end.
 */
#include "tacit/reproduce.h"

typedef struct figure_setting {
    char *key, *value;
} figure_setting;

typedef struct figure_panel {
    const char *id; /* "gap-by-iterations", a literal like all texts of a panel */
    const char *title, *x_label, *y_label, *note;
    bool log_x, log_y;
} figure_panel;

typedef struct figure_series {
    size_t panel;
    char *name;
    size_t count;
    double *x, *y, *low, *high; /* mean over runs, and its spread */
    uint32_t colour;            /* 0: by its place; else one more than the colour's number */
    bool dashed;                /* not to be trusted: an unsound claim */
} figure_series;

struct tacit_reproduced {
    const tacit_reproduction *of;
    bool quick;
    figure_setting *settings;
    size_t setting_count, setting_capacity;
    figure_panel *panels;
    size_t panel_count, panel_capacity;
    figure_series *series;
    size_t series_count, series_capacity;
    tacit_reproduced_row *rows;
    size_t row_count, row_capacity;
    const char **findings;
    size_t finding_count, finding_capacity;
    const char *paper_numbers; /* a sentence about what the paper prints; a literal */
    const char *spread;        /* what low and high are; NULL: the least and the largest run */
    const char *warning;       /* stands first on the page; a literal, or NULL */
    bool failed;               /* memory ran out */
};

void figure_set(tacit_reproduced *f, const char *key, const char *fmt, ...) TACIT_PRINTF(3, 4);
size_t figure_add_panel(tacit_reproduced *f, const figure_panel *panel);
/* Takes over nothing: the numbers are copied. */
void figure_add_series(tacit_reproduced *f, size_t panel, const char *name, size_t count,
                       const double *x, const double *y, const double *low, const double *high);
/* How the series added last is drawn. */
void figure_draw(tacit_reproduced *f, uint32_t colour, bool dashed);
void figure_add_row(tacit_reproduced *f, double ours, double low, double high, double paper,
                    const char *fmt, ...) TACIT_PRINTF(6, 7);
/* The row added last is as good as the paper's if it is at least `least`. */
void figure_judge(tacit_reproduced *f, double least);
void figure_find(tacit_reproduced *f, const char *fmt, ...) TACIT_PRINTF(2, 3);

/* ---- work.c: independent pieces of work on many threads ---- */
typedef struct figure_work {
    const tacit_reproduce_request *request;
    double total;              /* of everything the figure will do, in any unit */
    _Atomic uint64_t millions; /* millionths of a unit that are done */
    _Atomic bool failed;       /* a piece did: the others need not go on */
} figure_work;
typedef struct figure_worker {
    figure_work *work;
    uint32_t number; /* 0 is the thread that asked */
} figure_worker;
/* Piece `k`; it calls figure_done now and then and ends when that says so. */
typedef tacit_status figure_piece(void *ctx, size_t k, const figure_worker *worker,
                                  tacit_error *err);
/* All pieces, in any order; of failures the one of the first piece is reported. */
tacit_status figure_run(figure_work *work, size_t pieces, figure_piece *piece, void *ctx,
                        tacit_error *err);
/* `amount` more is done. TACIT_EINTERRUPTED: stop here. */
tacit_status figure_done(const figure_worker *worker, double amount);

#endif
