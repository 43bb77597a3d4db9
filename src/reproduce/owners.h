/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_OWNERS_H
#define TACIT_REPRODUCE_OWNERS_H
/*
 * The experiments of paper 002: data owners with equal numbers of records and a learner, on tables
 * whose features are principal components of public records. Runs are independent; what the
 * figures want of one is its relative fitness on the way.
 */
#include "reproduce/figure.h"
#include "tacit/sweep.h"

/* A table, and how it becomes a regression. */
typedef struct owners_set {
    const char *name, *label;
    const char *file;    /* under the folder of data */
    const char *data;    /* YAML of the section "data", but for who gets how many */
    uint32_t records;    /* that are not public */
    uint32_t parameters; /* of a model: components and the bias */
    double deviation;    /* of labels */
    double range;        /* of a weight of the best model */
} owners_set;
enum { OWNERS_LENDING, OWNERS_DIABETES, OWNERS_HOUSING, OWNERS_DRAWN, OWNERS_SETS };
extern const owners_set owners_sets[OWNERS_SETS];

#define OWNERS_HORIZON 1000 /* T of the paper */
#define OWNERS_PUBLIC 1000  /* records of a set that everybody knows */
#define OWNERS_LAMBDA 1e-5  /* of the paper */

typedef enum owners_split { OWNERS_CAP, OWNERS_PRINTED, OWNERS_SPLITS } owners_split;
extern const char *const owners_splits[OWNERS_SPLITS];

/* One run, and what was seen of it. */
typedef struct owners_run {
    int set; /* OWNERS_LENDING, ... */
    owners_split split;
    uint32_t owners, records; /* of each */
    uint32_t iterations;
    double epsilon; /* of everybody */
    int64_t seed;
    const double *at; /* iterations to look at, rising; the last is the end */
    size_t points;
    double *psi;  /* one for each */
    double last;  /* psi after the last iteration */
    double zero;  /* psi of the zero model, with which it begins */
    double alone; /* psi of the model of an owner's own records, without noise: the median owner */
    double least; /* f(theta*) */
    double scale; /* of the noise on each number of a mean gradient */
    double answers; /* of the owner who answered most */
    double made;    /* iterations there were before budgets were spent */
    double spent;   /* epsilon of the owner who spent most */
} owners_run;

/* The step alpha, and the l1 clip of a gradient: rules that look at no record. */
double owners_step(uint32_t owners, uint32_t iterations);
double owners_clip(const owners_set *set);

/* Is the set's file in the folder of data? OWNERS_DRAWN always is. */
bool owners_has(const tacit_reproduce_request *request, int set);
/* All runs, on the request's threads. */
tacit_status owners_perform(owners_run *runs, size_t count, const tacit_reproduce_request *request,
                            tacit_error *err);
/* Mean of psi after the last iteration over runs that are alike, and its 95 % interval. */
tacit_interval owners_mean(const owners_run *runs, size_t count);
/* The lower end as drawn: it may reach below zero, axes cannot. */
double owners_low(tacit_interval of);
/* Percentile `share` (0 to 1) of n values, which are sorted. */
double owners_percentile(double *value, size_t n, double share);
/* Settings that these figures share, and the warning of the sets that stand in for others. */
void owners_settings(tacit_reproduced *out, const tacit_reproduce_request *request);

/* Iterations to look at: `points` numbers from 1 to `most`, by equal factors as far as they are
 * whole. Returns how many there are. */
size_t owners_times(double *at, size_t points, uint32_t most);

#endif
