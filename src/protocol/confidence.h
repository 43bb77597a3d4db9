/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_CONFIDENCE_H
#define TACIT_CONFIDENCE_H
/*
 * What the protocols of paper 000 share: confidences c_i = min(1, m_i / M) and the bare
 * release of a value computed from data.
 */
#include "tacit/protocol.h"

/* M: the option if given, otherwise the largest m_i, which only a simulator knows. */
tacit_status tacit_full_confidence(double option, const tacit_setup *setup, double *out,
                                   tacit_error *err);
double tacit_confidence(double full, size_t records);
/* What one release of `what` costs under the run's privacy options. */
tacit_cost tacit_cost_of(const tacit_privacy_options *privacy, const char *what);

/* An agent without neighbours learns alone: the exact local model, never sent. */
tacit_status tacit_learn_alone(tacit_env *env, tacit_secret **out);
/* Publish the exact local model: reserve, solve, release, copy into a vector that lasts. */
tacit_status tacit_publish_local(tacit_env *env, const tacit_privacy_options *privacy,
                                 tacit_public **out);

#endif
