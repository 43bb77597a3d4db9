/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_GOPA_H
#define TACIT_GOPA_H
/*
 * How much noise a private sum needs (thesis 001, section 4.1; MATH.md section 10). Users u hold
 * x_u, neighbouring inputs differ by at most 1 in one of them; each publishes
 *
 *     x_u + sum over partners v of Delta_uv + eta_u,   Delta_uv = -Delta_vu ~ N(0, pair^2),
 *                                                      eta_u ~ N(0, own^2).
 *
 * Three ways to say what an adversary learns who knows the graph, the dropped-out users' and the
 * colluders' numbers: the theorem, its corollary, and the exact law. All are about Gaussians of
 * real numbers in the unit of the sensitivity; src/privacy accounts for discreteness.
 */
#include "tacit/graph.h"
#include "tacit/random.h"

/* ---- the thesis ---- */
/* The least k that theorem 4.1 asks for (with delta as it stands in the theorem: the result is
 * (epsilon, 3 delta)-DP); 0: it says nothing about so few honest users (rho n < 81). */
uint64_t tacit_gopa_theorem_partners(double users, double rho, double delta);
/* theta of theorem 4.1; infinity if k is too small for the formula. */
double tacit_gopa_theorem_theta(double users, double rho, uint64_t partners, double own,
                                double pair);
/* Whether (4.2) and (4.3) hold. */
bool tacit_gopa_theorem_holds(double theta, double epsilon, double delta);
/* Corollary 4.1: own = c / (sqrt(n_H) epsilon) with c^2 = 2 log(1.25 / inner), and the kappa and
 * pair noise for (epsilon, delta), delta = 3.75 (inner / 1.25)^(kappa / (kappa + 1)). */
typedef struct tacit_gopa_corollary {
    double own, pair, kappa;
    uint64_t partners;
} tacit_gopa_corollary;
tacit_status tacit_gopa_corollary_plan(tacit_gopa_corollary *out, double users, double rho,
                                       double epsilon, double inner, double delta,
                                       tacit_error *err);

/* ---- the exact law ---- */
/* A random k-out graph over `users` (who chose whom, made symmetric, weights 1), as a tacit_graph;
 * tacit_graph_clear when done. */
tacit_status tacit_gopa_graph(tacit_graph *out, uint32_t users, uint32_t partners,
                              tacit_stream *stream, tacit_error *err);
/* mu of the worst honest user: mu^2 = max_v [(own^2 I + pair^2 L)^-1]_vv, L the Laplacian of the
 * honest survivors' graph (honest[u] says who; NULL: all). Exact up to a relative error of 1e-6 and
 * never below the truth by more. `pair` infinity: masks; then mu = 1 / (own sqrt(size of the
 * component)). An isolated honest user has mu = 1 / own. */
tacit_status tacit_gopa_mu(double *mu, const tacit_graph *graph, const bool *honest, double own,
                           double pair, tacit_error *err);
/* The least pair noise for which mu <= wanted in `graphs` random graphs with random honest sets of
 * ceil(rho users), i.e. for all but a part `risk` of graphs with confidence 1 - (1 - risk)^graphs.
 * Infinity if none is enough. `own` is given: the slack it has above 1 / (wanted sqrt(n_H)) is what
 * pair noise can use. */
typedef struct tacit_gopa_question {
    uint32_t users, partners;
    double rho;    /* honest and there to the end */
    double own;    /* eta's standard deviation */
    double wanted; /* mu */
    uint32_t graphs;
    uint64_t seed;
} tacit_gopa_question;
tacit_status tacit_gopa_pair(double *pair, const tacit_gopa_question *question, tacit_error *err);
/* The same by proof instead of by drawing, for all but a part 2^-bits of graphs (of `question`,
 * graphs and seed do not matter), so that bits can be chosen with delta in mind. INFINITY if none
 * is enough, nothing can be proved or the question makes no sense. */
double tacit_gopa_pair_proved(const tacit_gopa_question *question, double bits);

/* ---- are the honest in one piece? ---- */
/* Everybody chooses `partners` of the `agents` at random and takes part in a sum only together with
 * `quorum` of those. An upper bound on log2 of the chance that some set of at most half of the
 * honest agents, `colluders` not being honest, could be told a sum of its own: the union bound over
 * sets of a members, C(n_H, a) P(X >= quorum)^a with X of k draws without repetition from n - 1
 * agents, a - 1 + c of them in the set or colluding. 0 at most, and where nothing can be said. */
double tacit_gopa_split_risk(uint64_t agents, uint64_t partners, uint64_t quorum,
                             uint64_t colluders);
/* The same if those who add up may lie, so that up to `lost` of an agent's choices are taken for
 * gone by it and for present by others; agents open others' words only after their own. */
double tacit_gopa_lying_risk(uint64_t agents, uint64_t partners, uint64_t quorum, uint64_t lost,
                             uint64_t colluders);
/* So many honest agents are in any sum that comes out then, but for a chance of 2^-bits; 0: nothing
 * can be said. More than half of the honest. */
uint64_t tacit_gopa_sure(uint64_t agents, uint64_t partners, uint64_t quorum, uint64_t lost,
                         uint64_t colluders, double bits);
/* The least number of partners for which the first is below 2^-bits with quorum = ceil(share * k);
 * 0: none is. agents - 1 at most (then all pairs share masks). Past 4096 the search is by bisection
 * and may miss a slightly smaller number. */
uint64_t tacit_gopa_partners(uint64_t agents, double share, uint64_t colluders, double bits);

#endif
