/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_EXPERIMENT_ADVISE_H
#define TACIT_EXPERIMENT_ADVISE_H
/* Inside of the adviser. */
#include "tacit/advise.h"

/* advise_chorus.c: for `records` of all agents together, and noise of `sigma` clip radii. */
tacit_status tacit_advise_voices(tacit_voices *out, const tacit_graph *graph, double records,
                                 double features, double signal, double sigma, tacit_error *err);

#endif
