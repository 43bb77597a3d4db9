/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_GOPA_H
#define TACIT_GRAPH_GOPA_H
/*
 * The honest users' graph, opened once and asked for many noises: component after component,
 * without weights, each with a lower bound on its Fiedler value.
 */
#include "tacit/gopa.h"

typedef struct gopa_part {
    uint32_t first, size; /* of the users as they are numbered here */
    double gap;           /* the Fiedler value is at least this */
} gopa_part;

typedef struct gopa_view {
    uint32_t users;        /* honest ones */
    uint32_t parts, least; /* components, and the size of the smallest */
    uint32_t fewest;       /* partners of the user who has fewest */
    gopa_part *part;
    uint64_t *row;       /* users + 1 offsets */
    uint32_t *neighbour; /* numbered within the component */
} gopa_view;

/* `honest` NULL: all. Refuses a graph without any honest user. */
tacit_status gopa_view_open(gopa_view *view, const tacit_graph *graph, const bool *honest,
                            tacit_error *err);
void gopa_view_close(gopa_view *view);

/* mu^2 of the worst user, from above, to a relative 1e-6; own finite and above 0, pair above 0. */
tacit_status gopa_view_worst(double *square, const gopa_view *view, double own, double pair,
                             tacit_error *err);
/* The least pair noise, to a relative 1e-6, with which the worst mu is at most `wanted`, no smaller
 * than `least`; INFINITY: none. */
tacit_status gopa_view_pair(double *pair, const gopa_view *view, double own, double wanted,
                            double least, tacit_error *err);

/* pair^2 times the Gauss-Radau bound on mu^2 of a user with d partners, shift = own^2 / pair^2;
 * and the least that it can be (Jensen). */
double gopa_bound_user(const gopa_part *part, double d, double shift, double *least);

/* ---- gopa_proof.c ---- */
/* What holds for all but a part 2^-bits of graphs. */
typedef struct gopa_proof {
    double fewest, most; /* honest partners of anyone */
    double mutual;       /* partners that chose each other, of anyone, at most */
    double leaving;      /* edges a member that leave any set of at most half, at least */
    gopa_part part;      /* all honest users, and the gap that follows */
} gopa_proof;
void gopa_prove(gopa_proof *proof, const tacit_gopa_question *question, double bits);
double gopa_proof_square(const gopa_proof *proof, double own, double pair);

/* ---- gopa_solve.c ---- */
#define GOPA_COLUMNS 8
typedef struct gopa_solver {
    const gopa_view *view;
    const gopa_part *part;
    double shift;          /* own^2 / pair^2 */
    double *x, *r, *p, *q; /* `size` rows of GOPA_COLUMNS numbers */
    uint64_t work, most_work;
} gopa_solver;
/* For columns c below `count`, low[c] <= b^T (shift + L)^-1 b <= high[c] with b = e_v - 1/size for
 * v = vertex[c]; high - low at most `precision`. TACIT_NO: too much work. */
tacit_status gopa_solver_run(gopa_solver *solver, const uint32_t *vertex, size_t count,
                             double precision, double *low, double *high, tacit_error *err);

#endif
