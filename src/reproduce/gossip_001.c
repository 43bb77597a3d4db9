/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The adversary of thesis 001, section 4.1.3, simulated. A trial draws every pair's and every
 * user's noise and publishes (4.1). The adversary takes away the pair noise that it knows: of
 * colluders, and of users that dropped out, whose noise was rolled back. What is left is a Gaussian
 * whose covariance it knows, and the best test of whether the victim holds 1 or 0 is one number,
 * the inner product with A^-1 e_v. The victim is the user for whom that is most telling.
 *
 * A broken build draws less noise than it claims. The adversary knows how it is broken and uses the
 * covariance that there really is.
 */
#include <math.h>
#include <stdlib.h>

#include "reproduce/table_001.h"
#include "tacit/account.h"
#include "tacit/audit.h"
#include "tacit/gopa.h"

#define SLACK 1.25 /* own noise above what the sum alone needs */
#define CONFIDENCE 0.95

const char *const gossip_breaks[GOSSIP_BREAKS] = {"as claimed", "nobody adds own noise",
                                                  "half of the users add no own noise",
                                                  "pair noise of a tenth"};

/* ---- the test ---- */

typedef struct law {
    const gossip *of;
    gossip_break broken;
    double pair;
} law;

static law law_of(const gossip *g, gossip_break broken)
{
    return (law){g, broken, broken == GOSSIP_TENTH_PAIR ? g->pair / 10 : g->pair};
}

static double own_of(const law *l, uint32_t user)
{
    const bool none = l->broken == GOSSIP_NO_OWN || (l->broken == GOSSIP_HALF_OWN && user % 2 == 0);
    return none ? 0 : l->of->own;
}

/* out = A in, on the survivors; 0 elsewhere. */
static void apply(const law *l, const double *in, double *out)
{
    const tacit_graph *g = &l->of->graph;
    for (uint32_t u = 0; u < g->agents; u++) {
        double sum = 0;
        for (uint64_t e = g->row[u]; e < g->row[u + 1] && l->of->honest[u]; e++)
            sum += l->of->honest[g->neighbour[e]] ? in[u] - in[g->neighbour[e]] : 0;
        out[u] =
            l->of->honest[u] ? own_of(l, u) * own_of(l, u) * in[u] + l->pair * l->pair * sum : 0;
    }
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

/* w = A^-1 e_v by conjugate gradients; `scratch` has room for 3 n. */
static void find_weights(const law *l, uint32_t victim, double *w, double *scratch)
{
    const size_t n = l->of->graph.agents;
    double *r = scratch, *p = scratch + n, *q = scratch + 2 * n, before = 1;
    for (size_t k = 0; k < n; k++)
        w[k] = 0, r[k] = p[k] = k == victim;
    for (size_t step = 0; step < 20 * n && before > 1e-24; step++) {
        apply(l, p, q);
        const double a = before / dot(n, p, q);
        for (size_t k = 0; k < n; k++) {
            w[k] += a * p[k];
            r[k] -= a * q[k];
        }
        const double after = dot(n, r, r);
        for (size_t k = 0; k < n; k++)
            p[k] = r[k] + after / before * p[k];
        before = after;
    }
}

/* ---- what is claimed ---- */

static tacit_status claimed_mu(double *mu, double epsilon, double delta, tacit_error *err)
{
    const tacit_loss one = {
        .kind = TACIT_LOSS_GAUSSIAN, .noise = 1, .shift = 1, .sampling = 1, .count = 1};
    double noise;
    tacit_status status =
        tacit_account_calibrate(TACIT_BY_GDP, &one, NULL, 0, epsilon, delta, &noise, err);
    *mu = status ? NAN : 1 / noise;
    return status;
}

static void draw_roles(gossip *g, tacit_stream *stream)
{
    for (uint32_t u = 0; u < g->users; u++)
        g->honest[u] = true;
    for (uint32_t left = g->colluders + g->drops; left > 0;) {
        const uint64_t u = tacit_stream_below(stream, g->users);
        left -= g->honest[u];
        g->honest[u] = false;
    }
    g->survivors = g->users - g->colluders - g->drops;
}

/* Whether this pair noise is enough on this graph. */
static tacit_status is_enough(const gossip *g, double pair, bool *enough, tacit_error *err)
{
    double mu;
    const tacit_status status = tacit_gopa_mu(&mu, &g->graph, g->honest, g->own, pair, err);
    *enough = !status && mu <= g->mu;
    return status;
}

static tacit_status find_pair(gossip *g, tacit_error *err)
{
    double low = 0, high = g->own;
    bool enough = false;
    tacit_status status = is_enough(g, INFINITY, &enough, err);
    if (!status && !enough)
        status = tacit_fail(err, TACIT_EINTERNAL, "the honest users are not in one piece");
    for (enough = false; !status && !enough;) {
        high *= 2;
        status = is_enough(g, high, &enough, err);
    }
    while (!status && high > low + 1e-6 * high) {
        const double middle = (low + high) / 2;
        status = is_enough(g, middle, &enough, err);
        *(enough ? &high : &low) = middle;
    }
    g->pair = high;
    return status;
}

static tacit_status find_victim(gossip *g, tacit_error *err)
{
    double *w = calloc(4 * (size_t)g->users, sizeof *w), worst = 0;
    if (!w)
        return tacit_out_of_memory(err);
    const law l = law_of(g, GOSSIP_SOUND);
    for (uint32_t u = 0; u < g->users; u++) {
        if (!g->honest[u])
            continue;
        find_weights(&l, u, w, w + g->users);
        if (w[u] > worst) {
            worst = w[u]; /* mu^2 of u */
            g->victim = u;
        }
    }
    free(w);
    return TACIT_OK;
}

tacit_status gossip_plan(gossip *g, tacit_error *err)
{
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, g->seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_GRAPH, 0);
    g->honest = calloc(g->users, sizeof *g->honest);
    tacit_status status = g->honest ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = tacit_gopa_graph(&g->graph, g->users, g->partners, &stream, err);
    if (!status)
        status = claimed_mu(&g->mu, g->epsilon, g->delta, err);
    if (!status) {
        draw_roles(g, &stream);
        g->own = SLACK / (g->mu * sqrt(g->survivors));
        status = find_pair(g, err);
    }
    if (!status)
        status = find_victim(g, err);
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
    return status;
}

void gossip_clear(gossip *g)
{
    tacit_graph_clear(&g->graph);
    free(g->honest);
    g->honest = NULL;
}

/* ---- trials ---- */

typedef struct trials {
    law law;
    double *weight;
    double *published, *known; /* what users say, and how much of it the adversary can take away */
} trials;

static tacit_status one_trial(void *ctx, const tacit_audit_trial *trial, double *score,
                              tacit_error *err)
{
    const trials *t = ctx;
    const gossip *g = t->law.of;
    const tacit_graph *graph = &g->graph;
    (void)err;
    for (uint32_t u = 0; u < g->users; u++) {
        t->published[u] = own_of(&t->law, u) * tacit_stream_normal(trial->stream);
        t->known[u] = 0;
    }
    for (uint32_t u = 0; u < g->users; u++)
        for (uint64_t e = graph->row[u]; e < graph->row[u + 1]; e++) {
            const uint32_t v = graph->neighbour[e];
            if (v < u)
                continue;
            const double noise = t->law.pair * tacit_stream_normal(trial->stream);
            const bool told = !g->honest[u] || !g->honest[v];
            t->published[u] += noise;
            t->published[v] -= noise;
            t->known[u] += told ? noise : 0;
            t->known[v] -= told ? noise : 0;
        }
    t->published[g->victim] += trial->with;
    *score = 0;
    for (uint32_t u = 0; u < g->users; u++)
        if (g->honest[u])
            *score += t->weight[u] * (t->published[u] - t->known[u]);
    return TACIT_OK;
}

tacit_status gossip_audit(double *shown, const gossip *g, gossip_break broken,
                          const tacit_stop *stop, tacit_error *err)
{
    const size_t n = g->users;
    double *memory = calloc(6 * n, sizeof *memory);
    if (!memory)
        return tacit_out_of_memory(err);
    const trials t = {.law = law_of(g, broken),
                      .weight = memory,
                      .published = memory + n,
                      .known = memory + 2 * n};
    if (broken == GOSSIP_NO_OWN) /* the sum over all is bare */
        for (size_t u = 0; u < n; u++)
            t.weight[u] = 1;
    else
        find_weights(&t.law, g->victim, t.weight, memory + 3 * n);
    const tacit_audit_plan plan = {.trials = g->trials,
                                   .delta = g->delta,
                                   .confidence = CONFIDENCE,
                                   .curve = TACIT_CURVE_GAUSSIAN,
                                   .seed = g->seed + 1 + (uint64_t)broken,
                                   .threads = 1,
                                   .stop = stop};
    tacit_audit audit = {0};
    tacit_status status = tacit_audit_run(&audit, &plan, one_trial, (void *)(uintptr_t)&t, err);
    *shown = status ? NAN : tacit_audit_shown(&audit);
    tacit_audit_clear(&audit);
    free(memory);
    return status;
}
