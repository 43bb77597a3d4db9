/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What paper 004 leaves to tuning: clip, learning rate, averages and the like, by method and
 * budget, the same for all graphs and splits, as in the paper; so some are compromises. They were
 * chosen by accuracy on validation records, a tenth of the training records of MNIST, one digit an
 * agent, on the complete graph, the sparsest, or both: make study STUDY=consensus_settings has
 * the tries. What that tells of the records is not charged, as in the paper. To change one, edit
 * its line.
 */
#include "reproduce/deep.h"

#include <math.h>

typedef struct rule {
    deep_method method;
    double to; /* epsilon; a method's first rule that reaches as far holds */
    const char *settings;
} rule;

#define LINEAR(first, last) \
    "protocol.schedule=linear;protocol.step=" #first ";protocol.step-last=" #last
#define EXPONENTIAL(first, last) \
    "protocol.schedule=exponential;protocol.step=" #first ";protocol.step-last=" #last
/* dinno: rho of the first and of the last iteration, times weights of neighbours */
#define WEIGHTED(first, last) \
    ";protocol.coupling=weighted;privacy.clip=1;protocol.rho=" #first ";protocol.rho-last=" #last

static const rule rules[] = {
    {DEEP_CENTRAL, 0.7, LINEAR(1, 0.02) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_CENTRAL, 3, LINEAR(2, 0.02) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_CENTRAL, 1e6, LINEAR(4, 2) ";privacy.clip=1;protocol.average=0.998"},
    {DEEP_CENTRAL, INFINITY, LINEAR(6, 0.3) ";privacy.clip=1;protocol.average=0.995"},
    {DEEP_DSGD, 0.35, EXPONENTIAL(0.15, 0.001) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_DSGD, 0.7, EXPONENTIAL(0.3, 0.002) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_DSGD, 3, EXPONENTIAL(0.6, 0.003) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_DSGD, 1e6, EXPONENTIAL(5, 0.005) ";privacy.clip=1;protocol.average=0.95"},
    {DEEP_DSGD, INFINITY, EXPONENTIAL(8, 0.03) ";privacy.clip=1;protocol.average=0.98"},
    {DEEP_DSGT, 0.35, LINEAR(0.15, 0.05) ";privacy.clip=1;protocol.average=0.998"},
    {DEEP_DSGT, 0.7, LINEAR(0.6, 0.3) ";privacy.clip=1;protocol.average=0.998"},
    {DEEP_DSGT, 3, LINEAR(1, 0.5) ";privacy.clip=1;protocol.average=0.998"},
    {DEEP_DSGT, 1e6, LINEAR(4, 1) ";privacy.clip=1;protocol.average=0.998;model.lambda=0.0001"},
    {DEEP_DSGT, INFINITY, LINEAR(0.6, 0.03) ";privacy.clip=10;protocol.average=0.99"},
    {DEEP_DINNO, 0.35, LINEAR(0.02, 0.004) WEIGHTED(2.8, 14) ";protocol.average=0.995"},
    {DEEP_DINNO, 0.7, LINEAR(0.02, 0.004) WEIGHTED(1.4, 7) ";protocol.average=0.995"},
    {DEEP_DINNO, 3, LINEAR(0.014, 0.0014) WEIGHTED(1.4, 14) ";protocol.average=0.99"},
    {DEEP_DINNO, 1e6, LINEAR(0.012, 0.0006) WEIGHTED(0.7, 10) ";protocol.average=0.99"},
    {DEEP_DINNO, INFINITY,
     LINEAR(0.006, 0.0004) ";protocol.rho=0.3;protocol.momentum=0.4;privacy.clip=10;"
                           "protocol.average=0.99"},
};

const char *deep_settings(const deep_run *run)
{
    /* With a record replaced noise is about twice as large: as with half the budget. */
    const double epsilon = run->counting == DEEP_REPLACE ? run->epsilon / 2 : run->epsilon;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].method == run->method && epsilon <= rules[k].to)
            return rules[k].settings;
    return "";
}
