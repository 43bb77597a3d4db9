/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much pair noise is enough: random k-out graphs, drawn and asked one after the other.
 *
 * On one graph the worst user's mu^2 falls with pair noise, nearly as K + C / pair^2 with K what
 * the sum over the smallest component tells. A step goes where that law, through the point at hand,
 * meets the wanted mu; two points known to be too little and enough are kept, and where a step
 * leaves them the middle is taken instead. Three or four solves do.
 *
 * Over many graphs the largest answer counts. A graph that is content with the largest so far costs
 * one solve, and that most are: records are rare.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "graph/build.h"
#include "graph/gopa.h"

#define PRECISION 1e-6
#define NUDGE 2e-7
#define MOST_STEPS 200
#define MOST_GRAPHS 1000000

/* ---- one graph ---- */

static double next_pair(double pair, double square, double sum, double wanted, double low,
                        double high)
{
    const double factor = sqrt((square - sum) / (wanted * wanted - sum));
    const double next = pair * factor * (square <= wanted * wanted ? 1 - NUDGE : 1 + NUDGE);
    if (next > low && next < high)
        return next;
    if (isinf(high))
        return pair * 2;
    return low > 0 ? sqrt(low * high) : pair / 2;
}

tacit_status gopa_view_pair(double *pair, const gopa_view *view, double own, double wanted,
                            double least, tacit_error *err)
{
    const double sum = 1 / (view->least * own * own); /* mu^2 of masks */
    double low = 0, high = INFINITY, square;
    tacit_status status = TACIT_OK;
    *pair = least;
    if (own * wanted >= 1)
        return TACIT_OK; /* own noise alone is enough */
    *pair = INFINITY;
    if (!(sum < wanted * wanted))
        return TACIT_OK;
    if (least > 0) {
        status = gopa_view_worst(&square, view, own, least, err);
        if (status || square <= wanted * wanted) {
            *pair = least;
            return status;
        }
        low = least;
    }
    double at = fmax(1 / sqrt(view->fewest * (wanted * wanted - sum)), low * (1 + NUDGE));
    for (int n = 0; n < MOST_STEPS && !(high <= low * (1 + PRECISION)); n++) {
        status = gopa_view_worst(&square, view, own, at, err);
        if (status)
            return status;
        *(square <= wanted * wanted ? &high : &low) = at;
        at = next_pair(at, square, sum, wanted, low, high);
    }
    *pair = high;
    return TACIT_OK;
}

/* ---- random graphs ---- */

static int by_index(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* `count` distinct numbers below `all` (Floyd's sampling); stamp[j] == mark says j is taken. */
static void draw_some(uint32_t *out, uint32_t count, uint32_t all, uint32_t *stamp, uint32_t mark,
                      tacit_stream *stream)
{
    for (uint32_t n = 0; n < count; n++) {
        const uint32_t last = all - count + n;
        uint32_t pick = (uint32_t)tacit_stream_below(stream, (uint64_t)last + 1);
        if (stamp[pick] == mark)
            pick = last;
        stamp[pick] = mark;
        out[n] = pick;
    }
}

tacit_status tacit_gopa_graph(tacit_graph *out, uint32_t users, uint32_t partners,
                              tacit_stream *stream, tacit_error *err)
{
    size_t draws;
    *out = (tacit_graph){0};
    if (partners == 0 || partners >= users)
        return tacit_fail(err, TACIT_EINPUT,
                          "partners is \"%" PRIu32 "\"; expected at least 1 and less than the "
                          "%" PRIu32 " users",
                          partners, users);
    tacit_status status = tacit_graph_check_size(users, (double)users * partners, err);
    if (status)
        return status;
    if (!tacit_mul_size(users, partners, &draws))
        return tacit_out_of_memory(err);
    uint32_t *drawn = calloc(draws, sizeof *drawn), *stamp = calloc(users, sizeof *stamp);
    if (!drawn || !stamp)
        status = tacit_out_of_memory(err);
    for (uint32_t u = 0; u < users && !status; u++) {
        uint32_t *mine = drawn + (size_t)u * partners;
        draw_some(mine, partners, users - 1, stamp, u + 1, stream);
        for (uint32_t n = 0; n < partners; n++)
            mine[n] += mine[n] >= u;
        qsort(mine, partners, sizeof *mine, by_index);
    }
    free(stamp);
    if (!status)
        status = tacit_graph_from_choices(
            out, &(tacit_choices){.agents = users, .k = partners, .chosen = drawn}, err);
    free(drawn);
    return status;
}

static tacit_status draw_honest(bool *honest, uint32_t users, uint32_t count, tacit_stream *stream,
                                tacit_error *err)
{
    uint32_t *stamp = calloc(users, sizeof *stamp), *drawn = calloc(count, sizeof *drawn);
    tacit_status status = stamp && drawn ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        draw_some(drawn, count, users, stamp, 1, stream);
        for (uint32_t u = 0; u < users; u++)
            honest[u] = stamp[u] == 1;
    }
    free(stamp);
    free(drawn);
    return status;
}

static tacit_status check(const tacit_gopa_question *q, tacit_error *err)
{
    if (!(q->rho > 0 && q->rho <= 1))
        return tacit_fail(err, TACIT_EINPUT, "rho is \"%g\"; expected above 0 and at most 1",
                          q->rho);
    if (!(q->own > 0 && q->own < INFINITY))
        return tacit_fail(err, TACIT_EINPUT, "own noise is \"%g\"; expected more than 0", q->own);
    if (!(q->wanted > 0 && q->wanted < INFINITY))
        return tacit_fail(err, TACIT_EINPUT, "the wanted mu is \"%g\"; expected more than 0",
                          q->wanted);
    if (q->graphs == 0 || q->graphs > MOST_GRAPHS)
        return tacit_fail(err, TACIT_EINPUT, "graphs is \"%" PRIu32 "\"; expected 1 to %d",
                          q->graphs, MOST_GRAPHS);
    return TACIT_OK;
}

/* Graph number g, and the largest of *pair and what it needs. */
static tacit_status ask_graph(double *pair, const tacit_gopa_question *q, bool *honest,
                              const tacit_random *random, uint64_t g, tacit_error *err)
{
    tacit_stream stream;
    tacit_graph graph;
    gopa_view view;
    const uint32_t count = (uint32_t)ceil(q->rho * q->users - 1e-9);
    tacit_stream_open(&stream, random, 0, TACIT_FOR_GRAPH, g);
    tacit_status status = tacit_gopa_graph(&graph, q->users, q->partners, &stream, err);
    if (!status)
        status = draw_honest(honest, q->users, count, &stream, err);
    tacit_stream_clear(&stream);
    if (!status)
        status = gopa_view_open(&view, &graph, honest, err);
    tacit_graph_clear(&graph);
    if (status)
        return status;
    status = gopa_view_pair(pair, &view, q->own, q->wanted, *pair, err);
    gopa_view_close(&view);
    return status;
}

tacit_status tacit_gopa_pair(double *pair, const tacit_gopa_question *q, tacit_error *err)
{
    tacit_random random;
    *pair = INFINITY;
    tacit_status status = check(q, err);
    if (status)
        return status;
    bool *honest = calloc(q->users ? q->users : 1, sizeof *honest);
    if (!honest)
        return tacit_out_of_memory(err);
    double most = 0;
    tacit_random_init(&random, q->seed);
    for (uint32_t g = 0; g < q->graphs && !status && !isinf(most); g++)
        status = ask_graph(&most, q, honest, &random, g, err);
    tacit_random_clear(&random);
    free(honest);
    if (!status)
        *pair = most;
    return status;
}
