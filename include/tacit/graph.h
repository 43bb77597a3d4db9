/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GRAPH_H
#define TACIT_GRAPH_H
/*
 * A weighted, undirected similarity graph over agents, in compressed rows.
 * W_ij = W_ji >= 0, no self-loops; a row's neighbours are sorted by index.
 */
#include "tacit/base.h"
#include "tacit/config.h"
#include "tacit/targets.h"

typedef struct tacit_graph {
    uint32_t agents;
    size_t entries; /* of the arrays below: two for each edge */
    uint64_t *row;  /* agents + 1 offsets into the arrays below */
    uint32_t *neighbour;
    double *weight;
    uint32_t *mirror; /* for e in row i, j = neighbour[e]: neighbour[row[j] + mirror[e]] == i */
    double *degree;   /* D_i = sum_j W_ij */
} tacit_graph;

typedef struct tacit_edge {
    uint32_t a, b;
    double weight;
} tacit_edge;

/* No generator makes more edges than this; a file or an array of edges may hold more. */
#define TACIT_GRAPH_MAX_EDGES ((uint64_t)1 << 28)

/* Build from edges, each given once in any order and direction. Refuses self-loops,
 * duplicates, indices out of range and weights that are not finite and positive. */
tacit_status tacit_graph_from_edges(tacit_graph *graph, uint32_t agents, const tacit_edge *edges,
                                    size_t count, tacit_error *err);
/* An edge list as text: "a b" or "a b weight" a line (blanks, tabs or commas between; weight 1
 * if left out; '#' starts a comment). An edge may be given once or, with the same weight, in
 * both directions. `agents` 0: the largest index in the text and one. `name` is the file for
 * messages. */
tacit_status tacit_graph_read_edges(tacit_graph *graph, uint32_t agents, const char *name,
                                    const char *text, size_t len, tacit_error *err);
void tacit_graph_clear(tacit_graph *graph);

/* ---- computed from what is known of the agents ---- */
/* Paper 000 section 5.1: W_ij = exp((cos(phi_ij) - 1) / gamma); weights below `cutoff` are left
 * out. A row of zeros has no angle and is refused. */
tacit_status tacit_graph_similarity(tacit_graph *graph, uint32_t agents,
                                    const tacit_targets *targets, double gamma, double cutoff,
                                    tacit_error *err);
/* The same over pairs that were drawn only: everybody meets `draws` others at random, and is met
 * by as many on average. For graphs of so many agents that not all pairs can be looked at: weights
 * are those of the whole graph, thinned evenly, so that its smooth directions stay. As many draws
 * as there are others: all pairs. */
tacit_status tacit_graph_similarity_drawn(tacit_graph *graph, uint32_t agents,
                                          const tacit_targets *targets, double gamma, double cutoff,
                                          uint32_t draws, uint64_t seed, tacit_error *err);
/* Paper 000 section 5.2: each agent chooses the k others of largest cosine, the smaller index
 * where cosines are equal; an edge of weight 1 if either end chose the other. An agent with a
 * row of zeros neither chooses nor is chosen. */
tacit_status tacit_graph_nearest(tacit_graph *graph, uint32_t agents, const tacit_targets *targets,
                                 uint32_t k, tacit_error *err);

/* ---- fixed shapes, weight 1; any number of agents from 1 ---- */
tacit_status tacit_graph_ring(tacit_graph *graph, uint32_t agents, tacit_error *err);
/* Rows of ceil(sqrt(n)) agents, the last one perhaps shorter; neighbours to the four sides. */
tacit_status tacit_graph_grid(tacit_graph *graph, uint32_t agents, tacit_error *err);
tacit_status tacit_graph_complete(tacit_graph *graph, uint32_t agents, tacit_error *err);
/* Agent 0 knows all others. */
tacit_status tacit_graph_star(tacit_graph *graph, uint32_t agents, tacit_error *err);

/* ---- drawn, weight 1; the same seed gives the same graph ---- */
/* Each agent draws k others; an edge if either end drew the other. */
tacit_status tacit_graph_k_out(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                               tacit_error *err);
/* Every agent has exactly k neighbours; agents * k must be even. */
tacit_status tacit_graph_k_regular(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                                   tacit_error *err);
/* Every pair is an edge with this probability, independently. */
tacit_status tacit_graph_erdos_renyi(tacit_graph *graph, uint32_t agents, double probability,
                                     uint64_t seed, tacit_error *err);
/* A ring in which everybody knows the k nearest (k even), each edge then led elsewhere with
 * this probability: its first end stays, the other becomes anyone who is not yet a neighbour. */
tacit_status tacit_graph_watts_strogatz(tacit_graph *graph, uint32_t agents, uint32_t k,
                                        double probability, uint64_t seed, tacit_error *err);
/* A random graph whose Fiedler value divided by n is `wanted` (0 to 1; 1: complete), to within
 * a tenth of it and within 0.01; an error that names the nearest value met if there is no such
 * graph. Up to TACIT_GRAPH_WANTED_AGENTS agents. */
#define TACIT_GRAPH_WANTED_AGENTS 2000
tacit_status tacit_graph_wanted_fiedler(tacit_graph *graph, uint32_t agents, double wanted,
                                        uint64_t seed, tacit_error *err);

/* ---- from the YAML section "graph" ---- */
typedef enum tacit_graph_kind {
    TACIT_GRAPH_SIMILARITY,
    TACIT_GRAPH_NEAREST, /* k nearest by cosine, either end may have chosen */
    TACIT_GRAPH_K_OUT,
    TACIT_GRAPH_K_REGULAR,
    TACIT_GRAPH_RING,
    TACIT_GRAPH_GRID,
    TACIT_GRAPH_COMPLETE,
    TACIT_GRAPH_STAR,
    TACIT_GRAPH_ERDOS_RENYI,
    TACIT_GRAPH_WATTS_STROGATZ,
    TACIT_GRAPH_EDGES, /* a file */
} tacit_graph_kind;

/* What similarity and nearest neighbours compare. */
typedef enum tacit_compare {
    TACIT_COMPARE_TARGETS, /* what the source knows of its agents */
    TACIT_COMPARE_MODELS,  /* models each agent learned alone: says something of its records */
    TACIT_COMPARE_MEANS,   /* mean training record: likewise */
} tacit_compare;

typedef struct tacit_graph_options {
    int kind;    /* tacit_graph_kind */
    int compare; /* tacit_compare */
    double gamma, cutoff;
    int64_t draws; /* similarity: pairs to look at, of each agent; 0: all */
    int64_t k;
    double probability; /* erdos-renyi: of an edge; watts-strogatz: of rewiring */
    double fiedler;     /* > 0: draw until the Fiedler value divided by n is this */
    char path[TACIT_TEXT_MAX];
} tacit_graph_options;
extern const tacit_section tacit_graph_section;
extern const char *const tacit_graph_kinds[]; /* names, NULL behind the last */

/* `targets` is for similarity and nearest neighbours; the other kinds need none (NULL). */
tacit_status tacit_graph_make(tacit_graph *graph, const tacit_graph_options *options,
                              uint32_t agents, const tacit_targets *targets, uint64_t seed,
                              tacit_error *err);

/* component[i] = smallest agent index reachable from i; returns how many components. */
uint32_t tacit_graph_components(const tacit_graph *graph, uint32_t *component);

/* ---- mixing weights ---- */
/* Both depend on who knows whom only, not on the weights of the edges, and give a matrix that
 * is symmetric, nonnegative and doubly stochastic on any graph; d_i counts neighbours.
 *   metropolis: 1 / (1 + max(d_i, d_j)) on an edge;
 *   uniform:    1 / (1 + max_i d_i) on every edge, so 1/n throughout on a complete graph. */
typedef enum tacit_mixing_kind { TACIT_MIXING_METROPOLIS, TACIT_MIXING_UNIFORM } tacit_mixing_kind;
/* `weight` has one number an entry of graph->neighbour, `self` one an agent (the diagonal). */
tacit_status tacit_graph_mixing(const tacit_graph *graph, tacit_mixing_kind kind, double *weight,
                                double *self, tacit_error *err);

/* ---- combination weights ---- */
/* What agent p makes of what it holds and hears: column p of a matrix A of weights a_mp, which are
 * nonnegative and sum to one over m (left-stochastic). They depend on who knows whom only; d_p
 * counts p's neighbours, n_p = d_p + 1 counts p with them.
 *   metropolis:      1 / (1 + max(d_m, d_p))           doubly stochastic, symmetric
 *   averaging:       1 / n_p                           favours, over time, who knows many
 *   relative-degree: n_m / (sum of n_k over p and its neighbours)        so even more
 *   uniform:         1 / (1 + largest degree)          doubly stochastic, symmetric
 *   none:            the identity: nothing is combined
 * What is left of the unit is p's own, a_pp = 1 - sum of the others: never zero. */
typedef enum tacit_combination {
    TACIT_COMBINE_METROPOLIS,
    TACIT_COMBINE_AVERAGING,
    TACIT_COMBINE_RELATIVE_DEGREE,
    TACIT_COMBINE_UNIFORM,
    TACIT_COMBINE_NONE
} tacit_combination;
extern const char *const tacit_combination_kinds[]; /* names, NULL behind the last */

/* All an agent must know, on a peer as well, to weigh its neighbours. */
typedef struct tacit_combination_sight {
    uint64_t degree;  /* own */
    uint64_t closed;  /* relative-degree: sum of n_k over the agent and its neighbours */
    uint64_t largest; /* uniform: the largest degree of the whole graph (no peer hears that) */
} tacit_combination_sight;
/* The weight it gives a neighbour of this degree. */
double tacit_combination_weight(tacit_combination kind, const tacit_combination_sight *sight,
                                uint64_t degree);
/* All of them: weight[e] is what agent p gives neighbour[e], for e in p's row; self[p] is a_pp. */
tacit_status tacit_graph_combination(const tacit_graph *graph, tacit_combination kind,
                                     double *weight, double *self, tacit_error *err);
/* Agents that mix with A1, then A0, then A2 (kinds[j] is A_j) approach the minimiser of the mean
 * of their losses weighted by q: A1 A0 A2 q = q, positive, sum 1. A graph in several parts has no
 * such q and is refused. TACIT_NO, with words, if the iteration did not get there. */
tacit_status tacit_graph_perron(const tacit_graph *graph, const tacit_combination kinds[3],
                                double *q, tacit_error *err);

/* ---- spectra ---- */
/* The second smallest eigenvalue of the Laplacian D - W: with the weights of the edges, or as if
 * all were 1. 0 exactly when there are several components or one agent. TACIT_NO, with words,
 * when the iteration did not get there (it never hands out a doubtful number). */
tacit_status tacit_graph_fiedler(const tacit_graph *graph, bool weighted, double *value,
                                 tacit_error *err);
/* 1 - max(|lambda_2|, |lambda_n|) of the mixing matrix: what is left of a disagreement after one
 * averaging is at most 1 - gap. 0 exactly with several components, 1 with one agent. */
tacit_status tacit_graph_spectral_gap(const tacit_graph *graph, tacit_mixing_kind kind, double *gap,
                                      tacit_error *err);

/* ---- kernels over agents ---- */
typedef enum tacit_kernel_kind {
    TACIT_KERNEL_SPECTRAL, /* (I + alpha L')^-2decay, L' the normalised Laplacian of W^kappa */
    TACIT_KERNEL_POWER,    /* W^kappa + I, entry by entry */
    TACIT_KERNEL_HEAT,     /* (I + alpha L)^-1, L = D - W */
    TACIT_KERNEL_GIVEN     /* a matrix from outside: tacit_kernel_graph */
} tacit_kernel_kind;
extern const char *const tacit_kernel_kinds[]; /* names, NULL behind the last */
typedef struct tacit_kernel {
    int kind; /* tacit_kernel_kind */
    double kappa, alpha;
    double decay, constant; /* spectral: the exponent; a factor for constant modes */
    bool raw;               /* coordinates as the kernel has them, the longest of norm 1 */
} tacit_kernel;
/* `rank` coordinates of each agent, agent after agent, from the kernel's leading eigenvectors
 * (times the roots of their eigenvalues), of norm 1; zeros for agents they do not reach. */
tacit_status tacit_graph_basis(const tacit_graph *graph, const tacit_kernel *kernel, size_t rank,
                               double *basis, tacit_error *err);

/* A kernel that somebody made: agents x agents numbers, finite, nonnegative, symmetric (up to 1e-9
 * of the larger one: then the mean of both counts), without a row of zeros. Its entries off the
 * diagonal become a graph, those on it `diagonal` (one an agent). */
#define TACIT_KERNEL_MOST_AGENTS 20000
tacit_status tacit_kernel_graph(tacit_graph *graph, double *diagonal, uint32_t agents,
                                const double *kernel, tacit_error *err);
/* tacit_graph_basis of such a kernel: leading eigenvectors times the roots of their eigenvalues;
 * what is negative in its spectrum, which no covariance has, is left out. `raw` as in tacit_kernel.
 */
tacit_status tacit_kernel_basis(const tacit_graph *graph, const double *diagonal, bool raw,
                                size_t rank, double *basis, tacit_error *err);

/* ---- factorisations ----
 * With columns C (the basis) and A = C^T C, the prior of agent i from a noisy sum Y = C S + Z is
 * row i of C^T Y over (A m)_i: its error is the noise times |c_i| / (A m)_i, and over all agents
 * the root of the sum of their squares. For any r x r matrix G the same A is (C^T G^-1)(G C), and
 * the error is that of the rows of C^T G^-1. This looks for the G of least error under which no
 * column is longer than 1, and puts G C into `basis`. `weight` is m; NULL: 1 for all. It never
 * makes the error larger; columns of length 1 each are the best there are, and stay. `error` (NULL:
 * not wanted) is that before and after, for noise 1, and a bound below which no G gets. */
typedef struct tacit_factored {
    double before, after, bound;
} tacit_factored;
tacit_status tacit_basis_optimise(size_t agents, size_t rank, const double *weight, double *basis,
                                  tacit_factored *error, tacit_error *err);

#endif
