/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A random graph with a wanted Fiedler value (paper 004 gives it divided by n: 1 is complete).
 *
 * Every pair of agents gets one random number; the pairs in order of it are a random order of
 * all edges, and the first m of them are an Erdos-Renyi graph with m edges. These graphs are
 * nested, and an edge more never lowers the Fiedler value: so halving finds the m at which the
 * wanted value is passed. With few agents one edge moves the value a lot; then single edges are
 * added, removed or moved as long as that brings the value nearer. To first order an edge (a, b)
 * changes it by (v_a - v_b)^2, v the Fiedler vector; here the candidates are few enough to try.
 *
 * Tolerance: a tenth of the wanted value, and at most 0.01. Not every value can be reached: no
 * graph but the complete one is above (n - 2)/n. The edges have weight 1.
 */
#include "graph/laplacian.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ABSOLUTE 0.01
#define RELATIVE 0.1
#define GOOD_ENOUGH 0.1 /* of the tolerance: then polishing ends */
#define POLISH_AGENTS 200
#define POLISH_ROUNDS 40
#define CANDIDATES 48

typedef struct ranked {
    uint64_t number;
    uint32_t a, b;
} ranked;

typedef struct hunt {
    uint32_t agents;
    double wanted;    /* divided by n */
    tacit_edge *edge; /* all pairs; the first `count` are there */
    size_t pairs, count;
    double value; /* of the graph that is there, divided by n */
    tacit_stream stream;
    tacit_error *err;
} hunt;

static int by_number(const void *left, const void *right)
{
    const ranked *x = left, *y = right;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static tacit_status order_pairs(hunt *h)
{
    ranked *all = calloc(h->pairs, sizeof *all);
    size_t count = 0;
    if (!all)
        return tacit_out_of_memory(h->err);
    for (uint32_t a = 0; a < h->agents; a++) {
        for (uint32_t b = a + 1; b < h->agents; b++)
            all[count++] = (ranked){tacit_stream_u64(&h->stream), a, b};
    }
    qsort(all, count, sizeof *all, by_number);
    for (size_t k = 0; k < count; k++)
        h->edge[k] = (tacit_edge){all[k].a, all[k].b, 1};
    free(all);
    return TACIT_OK;
}

/* The value of the graph of the first `count` edges. */
static tacit_status measure(hunt *h, size_t count, double *value)
{
    tacit_graph g;
    tacit_status status = tacit_graph_from_edges(&g, h->agents, h->edge, count, h->err);
    if (status)
        return status;
    status = tacit_graph_fiedler(&g, false, value, h->err);
    *value /= h->agents;
    tacit_graph_clear(&g);
    return status;
}

/* Afterwards the first `count` edges are not above the wanted value, and one more is (or there
 * are no more). */
static tacit_status halve(hunt *h)
{
    size_t low = 0, high = h->pairs + 1;
    h->value = 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        double value;
        tacit_status status = measure(h, middle, &value);
        if (status)
            return status;
        if (value > h->wanted * (1 + 1e-12)) {
            high = middle;
        } else {
            low = middle;
            h->value = value;
        }
    }
    h->count = low;
    return TACIT_OK;
}

static void swap_edges(hunt *h, size_t d, size_t e)
{
    tacit_edge other = h->edge[d];
    h->edge[d] = h->edge[e];
    h->edge[e] = other;
}

static double miss(const hunt *h, double value)
{
    /* A graph in pieces is never meant. */
    return value > 0 ? fabs(value - h->wanted) : INFINITY;
}

/* One change, drawn at random: 0 an edge more, 1 one less, 2 one moved. The places at the border
 * between what is there and what is not are where edges are exchanged. */
static tacit_status try_change(hunt *h, int change)
{
    size_t was = h->count, absent = h->pairs - was;
    size_t out = was, in = was, count = was;
    double value;
    if ((change != 1 && absent == 0) || (change != 0 && was == 0))
        return TACIT_OK;
    if (change != 0) {
        out = (size_t)tacit_stream_below(&h->stream, was);
        swap_edges(h, out, --count);
    }
    if (change != 1) {
        in = was + (size_t)tacit_stream_below(&h->stream, absent);
        swap_edges(h, in, count++);
    }
    tacit_status status = measure(h, count, &value);
    if (!status && miss(h, value) < miss(h, h->value)) {
        h->value = value;
        h->count = count;
        return TACIT_OK;
    }
    if (change != 1)
        swap_edges(h, in, --count);
    if (change != 0)
        swap_edges(h, out, count);
    return status;
}

static double tolerance(double wanted)
{
    return fmin(ABSOLUTE, RELATIVE * wanted);
}

static tacit_status polish(hunt *h)
{
    for (int round = 0; round < POLISH_ROUNDS; round++) {
        for (int n = 0; n < CANDIDATES; n++) {
            if (miss(h, h->value) <= GOOD_ENOUGH * tolerance(h->wanted))
                return TACIT_OK;
            tacit_status status = try_change(h, h->value > h->wanted ? 1 + n % 2 : n % 2 * 2);
            if (status)
                return status;
        }
    }
    return TACIT_OK;
}

static tacit_status run_hunt(hunt *h)
{
    tacit_status status = order_pairs(h);
    if (!status)
        status = halve(h);
    if (status)
        return status;
    double above = NAN;
    if (h->count < h->pairs && (status = measure(h, h->count + 1, &above)))
        return status;
    if (h->count < h->pairs && miss(h, above) < miss(h, h->value)) {
        h->value = above;
        h->count++;
    }
    if (h->agents <= POLISH_AGENTS || miss(h, h->value) > tolerance(h->wanted))
        status = polish(h);
    if (!status && miss(h, h->value) > tolerance(h->wanted))
        status = tacit_fail(h->err, TACIT_EINPUT,
                            "no graph of %" PRIu32 " agents with a Fiedler value of %g times n "
                            "was found (tolerance %g); the nearest had %g: want that, or take "
                            "another seed",
                            h->agents, h->wanted, tolerance(h->wanted), h->value);
    return status;
}

tacit_status tacit_graph_wanted_fiedler(tacit_graph *graph, uint32_t agents, double wanted,
                                        uint64_t seed, tacit_error *err)
{
    *graph = (tacit_graph){0};
    if (agents < 2 || agents > TACIT_GRAPH_WANTED_AGENTS)
        return tacit_fail(err, TACIT_EINPUT,
                          "a wanted Fiedler value needs 2 to %d agents, not \"%" PRIu32 "\"",
                          TACIT_GRAPH_WANTED_AGENTS, agents);
    if (!(wanted > 0 && wanted <= 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "the wanted Fiedler value is \"%g\"; expected above 0, and at most 1 as "
                          "it is divided by n",
                          wanted);
    tacit_random random;
    hunt h = {
        .agents = agents, .wanted = wanted, .pairs = (size_t)agents * (agents - 1) / 2, .err = err};
    h.edge = calloc(h.pairs, sizeof *h.edge);
    if (!h.edge)
        return tacit_out_of_memory(err);
    tacit_random_init(&random, seed);
    tacit_stream_open(&h.stream, &random, 0, TACIT_FOR_GRAPH, 0);
    tacit_status status = run_hunt(&h);
    if (!status)
        status = tacit_graph_from_edges(graph, agents, h.edge, h.count, err);
    tacit_stream_clear(&h.stream);
    tacit_random_clear(&random);
    free(h.edge);
    return status;
}
