/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which voices, and how many rounds, a chorus should have (docs/advise.md, "Voices and rounds").
 *
 * Voices. Every voice that is sung in takes its share of the records: with M records in all and r
 * voices about q = M / r stand behind each. What a voice of smooth functions adds falls fast after
 * those that circle once around the graph: a constant for each of its parts, and two more.
 *
 * Rounds. A sum's signal is q^2 S / p in squares, its noise p sigma^2: their ratio
 *
 *     clarity = S q^2 / (p sigma)^2
 *
 * is how much clearer than noise a voice is heard after one round that spends everything. T rounds
 * have T times the noise variance each; of the error of a step (the loss is no parabola, features
 * are not alike) LEFT remains, LEFT^T after T. So the error is LEFT^T + T / clarity, and the best
 * T is 1 unless clarity exceeds 1 / (LEFT - LEFT^2).
 */
#include <math.h>
#include <stdlib.h>

#include "experiment/advise.h"

#define VOICES 3
#define MOST_VOICES 500
#define LEFT 0.05 /* of the squared error, by one step: measured, docs/advise.md */
#define MOST_ROUNDS 16

static uint64_t best_rounds(double clarity)
{
    uint64_t best = 1;
    double least = INFINITY;
    for (uint64_t t = 1; t <= MOST_ROUNDS; t++) {
        const double error = pow(LEFT, (double)t) + (double)t / clarity;
        if (error < least) {
            least = error;
            best = t;
        }
    }
    return best;
}

tacit_status tacit_advise_voices(tacit_voices *out, const tacit_graph *graph, double records,
                                 double features, double signal, double sigma, tacit_error *err)
{
    const uint32_t n = graph->agents;
    uint32_t *component = calloc(n ? n : 1, sizeof *component);
    if (!component)
        return tacit_out_of_memory(err);
    uint32_t parts = tacit_graph_components(graph, component);
    for (uint32_t i = 0; i < n; i++) /* who is near nobody has no voice */
        parts -= graph->row[i + 1] == graph->row[i];
    free(component);
    const uint32_t wanted = parts <= 1 ? VOICES : parts < MOST_VOICES - 2 ? parts + 2 : MOST_VOICES;
    *out = (tacit_voices){.rank = wanted < n ? wanted : n, .alpha = 10, .kappa = 1, .rounds = 1};
    const double behind = out->rank ? records / out->rank : 0;
    const double noise = features * sigma;
    out->clarity = noise > 0 ? signal * behind * behind / (noise * noise) : INFINITY;
    if (out->clarity > 0)
        out->rounds = best_rounds(out->clarity);
    return TACIT_OK;
}
