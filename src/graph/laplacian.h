/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_LAPLACIAN_H
#define TACIT_GRAPH_LAPLACIAN_H
/*
 * L = D - W of a connected graph, as an operator, and the ends of its spectrum. The constant
 * vector is taken out everywhere: "smallest" is the smallest of the others.
 */
#include "tacit/graph.h"

typedef struct tacit_laplacian {
    const tacit_graph *graph;
    const double *weight; /* one an entry, or NULL: all 1 */
    double scale;         /* the largest degree; the operator is L / scale, at most 2 */
} tacit_laplacian;

void tacit_laplacian_init(tacit_laplacian *l, const tacit_graph *graph, const double *weight);
/* The weight of entry e, divided by the scale. */
double tacit_laplacian_weight(const tacit_laplacian *l, uint64_t e);
/* y = L x / scale */
void tacit_laplacian_apply(const tacit_laplacian *l, const double *x, double *y);
/* Subtract the mean. */
void tacit_centre(double *x, uint32_t n);

/* Eigenvalues of L itself (not divided by the scale), of at least two agents. Up to this many
 * agents by LAPACK, above by Lanczos iteration, which may end with TACIT_NO. */
#define TACIT_DENSE_AGENTS 1500
tacit_status tacit_laplacian_dense(const tacit_laplacian *l, double *smallest, double *largest,
                                   tacit_error *err);
tacit_status tacit_laplacian_smallest(const tacit_laplacian *l, double *value, tacit_error *err);
tacit_status tacit_laplacian_largest(const tacit_laplacian *l, double *value, tacit_error *err);

/* ---- lanczos.c ---- */
/* y = A x for a symmetric A; false: give up. */
typedef bool tacit_operator(void *ctx, const double *x, double *y);
typedef struct tacit_lanczos {
    uint32_t n;
    tacit_operator *apply;
    void *ctx;
    uint32_t basis, restarts;
    double tolerance; /* of the residual, relative to the eigenvalue */
} tacit_lanczos;
/* The largest eigenvalue of A on the vectors with mean zero, which A must not leave, and its
 * unit eigenvector (n numbers). TACIT_NO: not found. */
tacit_status tacit_lanczos_largest(const tacit_lanczos *lanczos, double *value, double *vector,
                                   tacit_error *err);

/* ---- solve.c ---- */
/* Solves L x / scale = b for b of mean zero by conjugate gradients. */
typedef struct tacit_solver {
    const tacit_laplacian *l;
    uint32_t *order, *parent; /* a depth-first tree, if it serves as preconditioner */
    double *link;             /* weight of the edge to the parent, divided by the scale */
    double *diagonal;
    double *r, *z, *p, *q;
    uint64_t work, most_work; /* entries touched so far, and when to give up */
} tacit_solver;
tacit_status tacit_solver_init(tacit_solver *solver, const tacit_laplacian *l, tacit_error *err);
void tacit_solver_clear(tacit_solver *solver);
bool tacit_solver_run(tacit_solver *solver, const double *b, double *x);

#endif
