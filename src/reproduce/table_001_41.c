/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table 4.1 of thesis 001 (section 4.1.3): pair noise and number of partners that a private average
 * of 10,000 users needs for epsilon 0.1, with own noise as a trusted curator would add.
 *
 * Four numbers for each column: the printed one, Corollary 4.1 as its formulas give it, what graphs
 * drawn at random need exactly (the largest of them), and what is proved to be enough for all but a
 * part 2^-30 of graphs. All of them have the same own noise, so the same error of the average, and
 * the same (epsilon, delta); the exact ones by the curve of the Gaussian mechanism.
 *
 * The audit takes the exact law at its word: trials of a smaller sum with colluders and drop-outs,
 * as claimed and broken in three ways.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "reproduce/table_001.h"
#include "tacit/account.h"
#include "tacit/gopa.h"

enum { COLUMNS = 2, MOST_KS = 14, CHUNK = 10 };
#define EPSILON 0.1
#define BITS 30

typedef struct column {
    double rho;
    double printed_pair, printed_simulated; /* sigma_Delta of the theorem, and by simulation */
    uint32_t printed_k, simulated_k;
    uint32_t k[MOST_KS]; /* of the chart; 0 ends them */
} column;
static const column columns[COLUMNS] = {
    {1, 44.7, 34.7, 105, 20, {3, 4, 5, 7, 10, 14, 20, 28, 40, 56, 75, 105, 150, 203}},
    {0.5, 34.4, 28.4, 203, 40, {14, 17, 20, 24, 28, 34, 40, 50, 65, 80, 105, 150, 192, 203}}};
static const uint32_t quick_k[COLUMNS][MOST_KS] = {{10, 20, 50}, {40, 60}};

/* Noise for one column and k. */
typedef struct point {
    uint32_t column, k;
    uint32_t graphs;
    double exact;  /* the largest over the graphs; INFINITY: one of them needs masks */
    double proved; /* INFINITY: nothing is */
} point;

/* Ten of a point's graphs. */
typedef struct piece {
    uint32_t point, graphs;
    uint64_t seed;
    double pair;
} piece;

typedef struct table {
    const tacit_reproduce_request *request;
    figure_work work;
    uint32_t users;
    tacit_gopa_corollary plan[COLUMNS];
    double delta[COLUMNS], wanted[COLUMNS]; /* mu */
    point points[COLUMNS * MOST_KS];
    size_t point_count;
    piece *pieces;
    size_t piece_count;
    gossip gossip;
    double shown[GOSSIP_BREAKS];
    double theirs[COLUMNS]; /* epsilon that the theorem's noise really has */
} table;

/* ---- what is run ---- */

static bool is_main(const table *t, uint32_t c, uint32_t k)
{
    return k == columns[c].simulated_k || k == t->plan[c].partners;
}

static void add_point(table *t, uint32_t c, uint32_t k)
{
    const uint32_t seeds = t->request->seeds;
    const uint32_t graphs = is_main(t, c, k) || seeds < 10 ? seeds : seeds / 10;
    t->points[t->point_count++] = (point){.column = c, .k = k, .graphs = graphs};
}

static tacit_status plan_column(table *t, uint32_t c, tacit_error *err)
{
    const double honest = columns[c].rho * t->users, inner = 1 / (honest * honest);
    const tacit_loss one = {
        .kind = TACIT_LOSS_GAUSSIAN, .noise = 1, .shift = 1, .sampling = 1, .count = 1};
    double noise;
    t->delta[c] = 10 * inner;
    tacit_status status = tacit_gopa_corollary_plan(&t->plan[c], t->users, columns[c].rho, EPSILON,
                                                    inner, t->delta[c], err);
    if (!status)
        status =
            tacit_account_calibrate(TACIT_BY_GDP, &one, NULL, 0, EPSILON, t->delta[c], &noise, err);
    if (status)
        return status;
    t->wanted[c] = 1 / noise;
    const uint32_t *k = t->request->quick ? quick_k[c] : columns[c].k;
    for (size_t n = 0; n < MOST_KS && k[n]; n++)
        add_point(t, c, k[n]);
    if (t->request->quick)
        add_point(t, c, (uint32_t)t->plan[c].partners);
    return TACIT_OK;
}

static tacit_gopa_question question_of(const table *t, const point *p)
{
    return (tacit_gopa_question){.users = t->users,
                                 .partners = p->k,
                                 .rho = columns[p->column].rho,
                                 .own = t->plan[p->column].own,
                                 .wanted = t->wanted[p->column]};
}

static tacit_status plan_pieces(table *t, tacit_error *err)
{
    size_t count = 0;
    for (size_t n = 0; n < t->point_count; n++)
        count += (t->points[n].graphs + CHUNK - 1) / CHUNK;
    t->pieces = calloc(count, sizeof *t->pieces);
    if (!t->pieces)
        return tacit_out_of_memory(err);
    for (uint32_t n = 0; n < t->point_count; n++)
        for (uint32_t g = 0; g < t->points[n].graphs; g += CHUNK) {
            const uint32_t left = t->points[n].graphs - g;
            const uint64_t seed = (uint64_t)t->request->seed * 1000003 + t->piece_count;
            t->pieces[t->piece_count++] =
                (piece){.point = n, .graphs = left < CHUNK ? left : CHUNK, .seed = seed};
            t->work.total += 1;
        }
    t->work.total += GOSSIP_BREAKS;
    return TACIT_OK;
}

/* The audits come first: they take longest. */
static tacit_status run_piece(void *ctx, size_t k, const figure_worker *worker, tacit_error *err)
{
    table *t = ctx;
    tacit_status status;
    if (k < GOSSIP_BREAKS) {
        status = gossip_audit(&t->shown[k], &t->gossip, (gossip_break)k, t->request->stop, err);
    } else {
        piece *p = &t->pieces[k - GOSSIP_BREAKS];
        tacit_gopa_question q = question_of(t, &t->points[p->point]);
        q.graphs = p->graphs;
        q.seed = p->seed;
        status = tacit_gopa_pair(&p->pair, &q, err);
    }
    return status ? status : figure_done(worker, 1);
}

/* What the theorem's noise is worth on one graph, and points from their pieces. */
static tacit_status finish(table *t, tacit_error *err)
{
    for (size_t n = 0; n < t->piece_count; n++) {
        point *p = &t->points[t->pieces[n].point];
        p->exact = fmax(p->exact, t->pieces[n].pair);
    }
    for (size_t n = 0; n < t->point_count; n++) {
        const tacit_gopa_question q = question_of(t, &t->points[n]);
        t->points[n].proved = tacit_gopa_pair_proved(&q, BITS);
    }
    tacit_status status = TACIT_OK;
    for (uint32_t c = 0; c < COLUMNS && !status; c++) {
        tacit_random random;
        tacit_stream stream;
        tacit_graph graph;
        double mu;
        tacit_random_init(&random, (uint64_t)t->request->seed);
        tacit_stream_open(&stream, &random, c, TACIT_FOR_GRAPH, 0);
        status = tacit_gopa_graph(&graph, t->users, (uint32_t)t->plan[c].partners, &stream, err);
        bool *honest = calloc(t->users, sizeof *honest);
        if (!status && !honest)
            status = tacit_out_of_memory(err);
        for (uint32_t u = 0; u < columns[c].rho * t->users && !status; u++)
            honest[u] = true; /* draws do not know who is honest: any are as good */
        if (!status)
            status = tacit_gopa_mu(&mu, &graph, honest, t->plan[c].own, t->plan[c].pair, err);
        if (!status)
            status = tacit_account_epsilon(TACIT_BY_GDP,
                                           &(tacit_loss){.kind = TACIT_LOSS_GAUSSIAN,
                                                         .noise = 1,
                                                         .shift = mu,
                                                         .sampling = 1,
                                                         .count = 1},
                                           1, t->delta[c], &t->theirs[c], err);
        free(honest);
        tacit_graph_clear(&graph);
        tacit_stream_clear(&stream);
        tacit_random_clear(&random);
    }
    return status;
}

/* ---- what is shown ---- */

static double drawable(double value)
{
    return isinf(value) ? NAN : value;
}

static const point *point_of(const table *t, uint32_t c, uint32_t k)
{
    for (size_t n = 0; n < t->point_count; n++)
        if (t->points[n].column == c && t->points[n].k == k)
            return &t->points[n];
    return NULL;
}

/* Noise by k as the formulas of the theorem give it, from the k on that it asks for. */
static double theorem_pair(const table *t, uint32_t c, uint32_t k)
{
    const tacit_gopa_corollary *plan = &t->plan[c];
    if (k < plan->partners)
        return NAN;
    const double honest = columns[c].rho * t->users;
    const double bracket = tacit_gopa_theorem_theta(t->users, columns[c].rho, k, plan->own, 1) -
                           1 / (honest * plan->own * plan->own);
    return plan->own * sqrt(plan->kappa * honest * bracket);
}

static void add_panel(tacit_reproduced *out, const table *t, uint32_t c)
{
    static const char note[] = "lower is better; no point: a graph was met that needs masks, or "
                               "nothing is proved; dashed: as printed";
    static const figure_panel panels[COLUMNS] = {
        {"noise-all-honest", "All honest and there to the end (rho = 1)", "partners drawn, k",
         "pair noise needed, sigma_Delta", note, true, true},
        {"noise-half-honest", "Half honest and there to the end (rho = 0.5)", "partners drawn, k",
         "pair noise needed, sigma_Delta", note, true, true}};
    const size_t at = figure_add_panel(out, &panels[c]);
    double x[MOST_KS], exact[MOST_KS], proved[MOST_KS], theorem[MOST_KS];
    size_t count = 0;
    for (size_t n = 0; n < t->point_count; n++) {
        const point *p = &t->points[n];
        if (p->column != c)
            continue;
        x[count] = p->k;
        exact[count] = drawable(p->exact);
        proved[count] = drawable(p->proved);
        theorem[count++] = theorem_pair(t, c, p->k);
    }
    figure_add_series(out, at, "exact, largest of the graphs drawn", count, x, exact, NULL, NULL);
    figure_draw(out, 2, false);
    figure_add_series(out, at, "proved, all but 2^-30 of graphs", count, x, proved, NULL, NULL);
    figure_draw(out, 0, false);
    figure_add_series(out, at, "Corollary 4.1 by its formulas", count, x, theorem, NULL, NULL);
    figure_draw(out, 6, false);
    const double px[2] = {columns[c].simulated_k, columns[c].printed_k};
    const double py[2] = {columns[c].printed_simulated, columns[c].printed_pair};
    figure_add_series(out, at, "printed: simulation, theorem", t->request->quick ? 0 : 2, px, py,
                      NULL, NULL);
    figure_draw(out, 3, true);
}

static void add_rows(tacit_reproduced *out, const table *t, uint32_t c)
{
    const column *col = &columns[c];
    const tacit_gopa_corollary *plan = &t->plan[c];
    const double honest = col->rho * t->users;
    const bool paper = !t->request->quick;
    figure_add_row(out, (double)plan->partners, NAN, NAN, paper ? (double)col->printed_k : NAN,
                   "rho %g: k by Theorem 4.1", col->rho);
    figure_add_row(out, plan->pair, NAN, NAN, paper ? col->printed_pair : NAN,
                   "rho %g: sigma_Delta by Corollary 4.1", col->rho);
    figure_add_row(out, plan->kappa, NAN, NAN, NAN, "rho %g: kappa", col->rho);
    figure_add_row(out, plan->own, NAN, NAN, NAN, "rho %g: own noise sigma_eta, in all rows",
                   col->rho);
    figure_add_row(out, t->theirs[c], NAN, NAN, NAN,
                   "rho %g: epsilon that Corollary 4.1's noise really has (one graph)", col->rho);
    figure_add_row(out, 1 / (t->wanted[c] * sqrt(honest)), NAN, NAN, NAN,
                   "rho %g: own noise that would be enough with masks", col->rho);
    for (size_t n = 0; n < t->point_count; n++) {
        const point *p = &t->points[n];
        if (p->column != c)
            continue;
        const double printed = p->k == col->simulated_k ? col->printed_simulated
                               : p->k == col->printed_k ? col->printed_pair
                                                        : NAN;
        figure_add_row(out, drawable(p->exact), NAN, NAN, paper ? printed : NAN,
                       "rho %g, k = %u: sigma_Delta, exact, largest of %u graphs", col->rho, p->k,
                       p->graphs);
        figure_add_row(out, drawable(p->proved), NAN, NAN, NAN,
                       "rho %g, k = %u: sigma_Delta, proved, all but 2^-30 of graphs", col->rho,
                       p->k);
    }
}

static void find_column(tacit_reproduced *out, const table *t, uint32_t c)
{
    const tacit_gopa_corollary *plan = &t->plan[c];
    const point *same = point_of(t, c, (uint32_t)plan->partners);
    const point *few = point_of(t, c, columns[c].simulated_k);
    const uint32_t *k = t->request->quick ? quick_k[c] : columns[c].k;
    if (!same || !few)
        return;
    figure_find(out,
                "rho = %g: Corollary 4.1 gives k = %llu and sigma_Delta = %.2f (printed: %u and "
                "%g). At the same k and the same own noise %.2f is exactly enough on %u graphs, "
                "%.2f is proved for all but 2^-30 of graphs. With k = %u it is %.2f on graphs "
                "drawn, %.2f by proof (printed, by simulation: %g).",
                columns[c].rho, (unsigned long long)plan->partners, plan->pair,
                columns[c].printed_k, columns[c].printed_pair, same->exact, same->graphs,
                same->proved, few->k, few->exact, few->proved, columns[c].printed_simulated);
    for (size_t n = 0; n < MOST_KS && k[n]; n++) {
        const point *p = point_of(t, c, k[n]);
        if (!(p->exact <= plan->pair))
            continue;
        figure_find(
            out,
            "rho = %g: with the corollary's noise %.1f, k = %u was enough on %u graphs drawn, "
            "which is no proof: rarer graphs are worse.",
            columns[c].rho, plan->pair, p->k, p->graphs);
        break;
    }
}

static void add_audit(tacit_reproduced *out, const table *t)
{
    const gossip *g = &t->gossip;
    for (size_t b = 0; b < GOSSIP_BREAKS; b++)
        figure_add_row(out, t->shown[b], NAN, NAN, NAN,
                       "audit of a claimed epsilon %g: shown at least, %s", g->epsilon,
                       gossip_breaks[b]);
    figure_find(
        out,
        "Audit of a claimed epsilon %g: the best test shows an epsilon of at least %.2f with "
        "the noise as claimed, %.2f if nobody adds own noise, %.2f if half of the users do not, "
        "%.2f if pair noise is a tenth (confidence 0.95 each).",
        g->epsilon, t->shown[GOSSIP_SOUND], t->shown[GOSSIP_NO_OWN], t->shown[GOSSIP_HALF_OWN],
        t->shown[GOSSIP_TENTH_PAIR]);
    figure_set(out, "audit",
               "%u users, each drawing %u partners; %u collude and tell all they know, %u drop out "
               "and have their noise rolled back; own noise %.3f (a quarter above what the sum "
               "alone needs), pair noise %.3f, just enough on this graph for (%g, %g); the worst "
               "user holds 1 or 0, the test is the likelihood ratio; %llu trials each way",
               g->users, g->partners, g->colluders, g->drops, g->own, g->pair, g->epsilon, g->delta,
               (unsigned long long)g->trials);
}

static void show(tacit_reproduced *out, const table *t)
{
    const uint32_t seeds = t->request->seeds;
    for (uint32_t c = 0; c < COLUMNS; c++)
        find_column(out, t, c);
    figure_find(out, "The printed column for rho = 0.5 does not follow from the formulas above it, "
                     "which give k = 192 and sigma_Delta = 45.99 (slip S19 of our list).");
    for (uint32_t c = 0; c < COLUMNS; c++) {
        add_panel(out, t, c);
        add_rows(out, t, c);
    }
    add_audit(out, t);
    out->spread = "no interval: noise is the largest over the graphs drawn, not a mean";
    out->paper_numbers = "The thesis' numbers stand beside ours; those with k = 20 and 40 are its "
                         "simulation, which it does not describe.";
    figure_set(out, "task",
               "a sum over %u users, epsilon %g, inner delta 1/n_H^2, delta ten times that (rho = "
               "1: %.3g, rho = 0.5: %.3g)",
               t->users, EPSILON, t->delta[0], t->delta[1]);
    figure_set(
        out, "privacy",
        "unit: user; adjacency: replace, one number in [0, 1]; adversary: sees what everyone "
        "publishes, knows the graph, and all pair noise of those who are not honest or not "
        "there to the end");
    figure_set(out, "exact",
               "mu of the worst user from the covariance, (epsilon, delta) from mu by the Gaussian "
               "mechanism's own curve: mu = %.5f and %.5f, of which the sum alone takes %.5f and "
               "%.5f",
               t->wanted[0], t->wanted[1], 1 / (t->plan[0].own * sqrt(columns[0].rho * t->users)),
               1 / (t->plan[1].own * sqrt(columns[1].rho * t->users)));
    figure_set(
        out, "graphs",
        "random k-out, %u at the table's k and %u elsewhere; if all of m graphs are content, "
        "then with confidence 0.95 all but a part 3/m of graphs is (%.3g here). The proved "
        "rows hold for all but 2^-30 = 9.3e-10, which is to be added to delta",
        seeds, seeds < 10 ? seeds : seeds / 10, fmin(1 - pow(0.05, 1. / seeds), 1));
}

static tacit_status reproduce(tacit_reproduced *out, const tacit_reproduce_request *request,
                              tacit_error *err)
{
    const bool quick = request->quick;
    table t = {.request = request,
               .work = {.request = request},
               .users = quick ? 300 : 10000,
               .gossip = {.users = quick ? 50 : 200,
                          .partners = quick ? 12 : 20,
                          .colluders = quick ? 8 : 40,
                          .drops = quick ? 4 : 20,
                          .epsilon = 1,
                          .delta = 1e-5,
                          .trials = quick ? 500 : 20000,
                          .seed = (uint64_t)request->seed}};
    tacit_status status = TACIT_OK;
    for (uint32_t c = 0; c < COLUMNS && !status; c++)
        status = plan_column(&t, c, err);
    if (!status)
        status = gossip_plan(&t.gossip, err);
    if (!status)
        status = plan_pieces(&t, err);
    if (!status)
        status = figure_run(&t.work, t.piece_count + GOSSIP_BREAKS, run_piece, &t, err);
    if (!status)
        status = finish(&t, err);
    if (!status)
        show(out, &t);
    gossip_clear(&t.gossip);
    free(t.pieces);
    return status;
}

const tacit_reproduction tacit_reproduction_001_table4_1 = {
    .name = "001-table4.1",
    .paper = "thesis 001: Bellet, Contributions to Decentralized and Privacy-Preserving Machine "
             "Learning (2021), section 4.1.3, table 4.1",
    .title = "How much pair noise a private average needs",
    .seeds = 100,
    .run = reproduce,
};
