/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_FIG_003_H
#define TACIT_REPRODUCE_FIG_003_H
/*
 * The experiments of paper 003: runs of `diffusion` with each strategy and each noise, looked at
 * after given iterations. A simulation may look at models; no peer could.
 */
#include "reproduce/figure.h"
#include "tacit/sweep.h"

enum { SPREAD_NONE, SPREAD_INDEPENDENT, SPREAD_HOMOMORPHIC, SPREAD_MASKED, SPREAD_NOISES };
extern const char *const spread_noises[SPREAD_NOISES];
enum { SPREAD_CONSENSUS, SPREAD_CTA, SPREAD_ATC, SPREAD_STRATEGIES };
extern const char *const spread_strategies[SPREAD_STRATEGIES];

/* What is seen of the centroid, and of single models on average: squared distance or test error,
 * and with errors the test loss (without the regulariser). */
enum { SPREAD_CENTROID, SPREAD_SINGLE, SPREAD_LOSS, SPREAD_SINGLE_LOSS, SPREAD_SEEN };

/* One run. */
typedef struct spread_run {
    const char *task; /* YAML of the sections data, graph and model */
    int strategy, noise;
    double step, sigma; /* sigma 0: found from epsilon */
    double epsilon;     /* infinity: no budget */
    double clip, radius, reach;
    int64_t batch, iterations;
    int64_t seed;
    const double *at; /* iterations after which it is looked at, rising */
    size_t looks;
    bool distances; /* to the minimiser of the mean loss; else test errors */
    /* What was seen: */
    double *seen[SPREAD_SEEN]; /* a look each */
    double *models;            /* agents x parameters a look */
    size_t numbers;            /* of models a look */
    double spent;              /* epsilon of the agent that spent most */
    double never; /* test error of the constant -1, the last feature being 1: errors only */
    double alone; /* of models that agents learn alone, on average: distances only */
} spread_run;

/* All runs, on the request's threads; spread_free whatever came of it. */
tacit_status spread_perform(spread_run *runs, size_t count, const tacit_reproduce_request *request,
                            tacit_error *err);
void spread_free(spread_run *runs, size_t count);

/* Mean of the looks from `from` iterations on. */
double spread_late(const spread_run *r, const double *seen, double from);
/* Over `seeds` runs that lie one after the other: the mean and its interval (of one run: itself).
 */
tacit_interval spread_interval(const double *value, size_t n);
/* A curve of their means at every look; `decibel`: 10 log10 of them. */
void spread_curve(tacit_reproduced *out, size_t panel, const char *name, uint32_t colour,
                  const spread_run *runs, size_t seeds, int what, bool decibel);

#endif
