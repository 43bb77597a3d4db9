/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_EIGEN_H
#define TACIT_GRAPH_EIGEN_H
/* Several eigenvectors at the upper end of a sparse symmetric matrix. */
#include "tacit/graph.h"

/* A matrix with the pattern of a graph. */
typedef struct tacit_sparse {
    const tacit_graph *graph;
    const double *weight;   /* one an entry of graph->neighbour, symmetric */
    const double *diagonal; /* one an agent */
} tacit_sparse;

/* The `count` largest eigenvalues, largest first, and their unit eigenvectors, one after the
 * other; 1 <= count <= agents. The number of largest size in a vector is positive, the first of
 * them if several are. Up to TACIT_EIGEN_DENSE agents by LAPACK; above by filtered subspace
 * iteration, which stops at a residual of about 1e-6 of the spectrum's width, or after so many
 * rounds with what it has: the vectors are orthonormal in any case, and the same every time. */
#define TACIT_EIGEN_DENSE 1200
tacit_status tacit_sparse_largest(const tacit_sparse *matrix, size_t count, double *value,
                                  double *vector, tacit_error *err);

#endif
