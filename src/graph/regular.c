/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs in which degrees are kept: random regular graphs and rewired rings.
 *
 * k-regular: every agent has k stubs; a random order of all stubs pairs them up (the pairing
 * model of Bollobas). About (k^2 - 1)/4 pairs, however many agents there are, are loops or
 * repetitions; each of those, u-v, is switched with a random good edge x-y to u-x and v-y, which
 * keeps all degrees, until both new edges are edges of a simple graph. With many agents that
 * changes next to nothing of a uniform law; with few it does, so there each edge is switched a
 * few times more, a walk whose stationary law is uniform. Above k = (n - 1)/2 the complement is
 * drawn instead. Streams: (seed, 0, TACIT_FOR_GRAPH, attempt).
 *
 * Watts-Strogatz (Nature 393, 1998): ring edges i, i + d in order of d, then i, decided about by
 * the stream (seed, 0, TACIT_FOR_GRAPH, 0). An agent that knows everybody keeps its edge.
 */
#include "graph/build.h"
#include "graph/pair_set.h"
#include "tacit/random.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/pages.h"

#define ATTEMPTS 1000
#define MIXED_EDGES 200000
#define MIXING_ROUNDS 10

/* ---- k-regular ---- */

typedef struct pairing {
    uint32_t *stub; /* edge e is stub[2e], stub[2e + 1] */
    size_t edges;
    size_t good; /* edges before this one are simple and in `known`, the others are not */
    tacit_pair_set known;
} pairing;

static void shuffle(pairing *p, uint32_t agents, uint32_t k, tacit_stream *s)
{
    size_t stubs = 0;
    for (uint32_t i = 0; i < agents; i++) {
        for (uint32_t n = 0; n < k; n++)
            p->stub[stubs++] = i;
    }
    for (size_t left = stubs; left > 1; left--) {
        size_t pick = (size_t)tacit_stream_below(s, left);
        uint32_t other = p->stub[pick];
        p->stub[pick] = p->stub[left - 1];
        p->stub[left - 1] = other;
    }
}

static void swap_edges(pairing *p, size_t d, size_t e)
{
    for (size_t end = 0; end < 2; end++) {
        uint32_t other = p->stub[2 * d + end];
        p->stub[2 * d + end] = p->stub[2 * e + end];
        p->stub[2 * e + end] = other;
    }
}

/* Bad edges go to the end. */
static void tell_apart(pairing *p)
{
    p->good = p->edges;
    for (size_t e = 0; e < p->good;) {
        if (tacit_pair_set_add(&p->known, p->stub[2 * e], p->stub[2 * e + 1]))
            e++;
        else
            swap_edges(p, e, --p->good);
    }
}

/* Switch edge e, u-v, with a random good one, x-y: to u-x and v-y, if both are new. */
static bool switch_edge(pairing *p, size_t e, tacit_stream *s)
{
    size_t pick = (size_t)tacit_stream_below(s, 2 * (uint64_t)p->good);
    size_t x = pick, y = pick ^ 1, u = 2 * e, v = u + 1; /* places of stubs */
    uint32_t *stub = p->stub;
    tacit_pair_set *known = &p->known;
    if (!tacit_pair_set_add(known, stub[u], stub[x]))
        return false;
    if (!tacit_pair_set_add(known, stub[v], stub[y])) {
        tacit_pair_set_remove(known, stub[u], stub[x]);
        return false;
    }
    tacit_pair_set_remove(known, stub[x], stub[y]);
    if (e < p->good)
        tacit_pair_set_remove(known, stub[u], stub[v]);
    uint32_t other = stub[v];
    stub[v] = stub[x];
    stub[x] = other;
    return true;
}

/* True: the graph is simple. */
static bool repair(pairing *p, tacit_stream *s)
{
    /* Mostly one or two tries a bad edge; small dense graphs may be stuck and start again. */
    uint64_t patience = 1000 + 100 * (uint64_t)(p->edges - p->good);
    while (p->good > 0 && p->good < p->edges && patience-- > 0)
        p->good += switch_edge(p, p->good, s);
    return p->good == p->edges;
}

static void mix(pairing *p, tacit_stream *s)
{
    if (p->edges > MIXED_EDGES)
        return;
    for (size_t round = 0; round < MIXING_ROUNDS; round++) {
        for (size_t e = 0; e < p->edges; e++)
            (void)switch_edge(p, e, s);
    }
}

static bool try_pairing(pairing *p, uint32_t agents, uint32_t k, const tacit_random *random,
                        uint64_t attempt)
{
    tacit_stream s;
    tacit_stream_open(&s, random, 0, TACIT_FOR_GRAPH, attempt << 8);
    shuffle(p, agents, k, &s);
    tell_apart(p);
    bool simple = repair(p, &s);
    if (simple)
        mix(p, &s);
    tacit_stream_clear(&s);
    return simple;
}

static void each_paired(const void *ctx, tacit_emit *emit, void *to)
{
    const pairing *p = ctx;
    for (size_t e = 0; e < p->edges; e++)
        emit(to, p->stub[2 * e], p->stub[2 * e + 1], 1);
}

typedef struct complement {
    uint32_t agents;
    const pairing *missing;
} complement;

static void each_missing(const void *ctx, tacit_emit *emit, void *to)
{
    const complement *c = ctx;
    for (uint32_t i = 0; i < c->agents; i++) {
        for (uint32_t j = i + 1; j < c->agents; j++) {
            if (!tacit_pair_set_has(&c->missing->known, i, j))
                emit(to, i, j, 1);
        }
    }
}

static tacit_status pair_up(pairing *p, uint32_t agents, uint32_t k, uint64_t seed,
                            tacit_error *err)
{
    tacit_random random;
    tacit_random_init(&random, seed);
    bool done = false;
    for (uint64_t attempt = 0; attempt < ATTEMPTS && !done; attempt++) {
        tacit_pair_set_clear(&p->known);
        /* A switch adds two edges before it removes one. */
        tacit_status status = tacit_pair_set_init(&p->known, p->edges + 2, err);
        if (status) {
            tacit_random_clear(&random);
            return status;
        }
        done = try_pairing(p, agents, k, &random, attempt);
    }
    tacit_random_clear(&random);
    return done ? TACIT_OK
                : tacit_fail(err, TACIT_EINTERNAL,
                             "no %" PRIu32 "-regular graph of %" PRIu32
                             " agents was found in %d attempts; try another seed",
                             k, agents, ATTEMPTS);
}

tacit_status tacit_graph_k_regular(tacit_graph *graph, uint32_t agents, uint32_t k, uint64_t seed,
                                   tacit_error *err)
{
    *graph = (tacit_graph){0};
    if (k == 0 || k >= agents || (uint64_t)agents * k % 2)
        return tacit_fail(err, TACIT_EINPUT,
                          "k is \"%" PRIu32 "\"; expected at least 1, less than the %" PRIu32
                          " agents, and an even product with them",
                          k, agents);
    tacit_status status = tacit_graph_check_size(agents, 0.5 * agents * k, err);
    if (status)
        return status;
    bool dense = k > (agents - 1) / 2;
    uint32_t degree = dense ? agents - 1 - k : k;
    pairing p = {.edges = (size_t)agents * degree / 2};
    const complement rest = {agents, &p};
    const tacit_edge_source source =
        dense ? (tacit_edge_source){each_missing, &rest} : (tacit_edge_source){each_paired, &p};
    p.stub = tacit_pages_alloc(2 * p.edges, sizeof *p.stub);
    if (!p.stub)
        return tacit_out_of_memory(err);
    status = pair_up(&p, agents, degree, seed, err);
    if (!dense) /* its memory is the graph's now */
        tacit_pair_set_clear(&p.known);
    if (!status)
        status = tacit_graph_build(graph, agents, &source, err);
    tacit_pair_set_clear(&p.known);
    tacit_pages_free(p.stub, 2 * p.edges, sizeof *p.stub);
    return status;
}

/* ---- Watts-Strogatz ---- */

typedef struct small_world {
    uint32_t agents, reach; /* reach = k / 2 */
    double probability;
    tacit_random random;
    uint32_t *far;    /* the other end of edge (i, d) is far[i * reach + d - 1] */
    uint32_t *degree; /* neighbours, of either direction */
    tacit_pair_set known;
} small_world;

static void rewire(small_world *w, uint32_t i, uint32_t d, tacit_stream *s)
{
    uint32_t *end = &w->far[(size_t)i * w->reach + d - 1], pick;
    if (tacit_stream_unit(s) >= w->probability || w->degree[i] == w->agents - 1)
        return;
    do
        pick = (uint32_t)tacit_stream_below(s, w->agents);
    while (!tacit_pair_set_add(&w->known, i, pick));
    tacit_pair_set_remove(&w->known, i, *end);
    w->degree[*end]--;
    w->degree[pick]++;
    *end = pick;
}

static void draw_small_world(small_world *w)
{
    for (uint32_t i = 0; i < w->agents; i++) {
        w->degree[i] = 2 * w->reach;
        for (uint32_t d = 1; d <= w->reach; d++) {
            uint32_t j = (uint32_t)(((uint64_t)i + d) % w->agents);
            w->far[(size_t)i * w->reach + d - 1] = j;
            tacit_pair_set_add(&w->known, i, j);
        }
    }
    tacit_stream s;
    tacit_stream_open(&s, &w->random, 0, TACIT_FOR_GRAPH, 0);
    for (uint32_t d = 1; d <= w->reach; d++) {
        for (uint32_t i = 0; i < w->agents; i++)
            rewire(w, i, d, &s);
    }
    tacit_stream_clear(&s);
}

static void each_far(const void *ctx, tacit_emit *emit, void *to)
{
    const small_world *w = ctx;
    for (uint32_t i = 0; i < w->agents; i++) {
        for (uint32_t d = 0; d < w->reach; d++)
            emit(to, i, w->far[(size_t)i * w->reach + d], 1);
    }
}

tacit_status tacit_graph_watts_strogatz(tacit_graph *graph, uint32_t agents, uint32_t k,
                                        double probability, uint64_t seed, tacit_error *err)
{
    *graph = (tacit_graph){0};
    if (k < 2 || k >= agents || k % 2)
        return tacit_fail(err, TACIT_EINPUT,
                          "k is \"%" PRIu32 "\"; expected an even number from 2, less than the "
                          "%" PRIu32 " agents",
                          k, agents);
    if (!(probability >= 0 && probability <= 1))
        return tacit_fail(err, TACIT_EINPUT, "probability is \"%g\"; expected 0 to 1", probability);
    tacit_status status = tacit_graph_check_size(agents, 0.5 * agents * k, err);
    if (status)
        return status;
    small_world w = {.agents = agents, .reach = k / 2, .probability = probability};
    const tacit_edge_source source = {each_far, &w};
    const size_t edges = (size_t)agents * w.reach;
    tacit_random_init(&w.random, seed);
    w.far = tacit_pages_alloc(edges, sizeof *w.far);
    w.degree = tacit_pages_alloc(agents, sizeof *w.degree);
    if (!w.far || !w.degree) {
        status = tacit_out_of_memory(err);
        goto out;
    }
    if ((status = tacit_pair_set_init(&w.known, edges + 1, err)))
        goto out;
    draw_small_world(&w);
    tacit_pair_set_clear(&w.known);
    status = tacit_graph_build(graph, agents, &source, err);
out:
    tacit_pair_set_clear(&w.known);
    tacit_pages_free(w.degree, agents, sizeof *w.degree);
    tacit_pages_free(w.far, edges, sizeof *w.far);
    tacit_random_clear(&w.random);
    return status;
}
