/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_REPRODUCE_STUDY_CHORUS_H
#define TACIT_REPRODUCE_STUDY_CHORUS_H
/*
 * "tacit reproduce chorus": a study of our own (docs/studies/chorus.md) in four figures, on the
 * task of paper 000, section 5.1, at p = 100. Nothing is chosen while they run: settings are those
 * that validation records of seeds 201 to 205 chose (docs/studies/personalized-private.md).
 */
#include "reproduce/separators.h"

/* What all methods here have in common, and what alone was given by validation. */
#define STUDY_ALONE "model.lambda-records=0.1;"
#define STUDY_PRIVATE "privacy.mechanism=gaussian;privacy.delta=" SEPARATORS_DELTA ";"
/* One sum: the protocol's defaults, and the clip of a first gradient. */
#define STUDY_CHORUS "protocol.name=chorus;privacy.clip=0.5;run.time=1;" STUDY_PRIVATE STUDY_ALONE
#define STUDY_PAPER "a study of ours, docs/studies/chorus.md; task of paper 000, section 5.1"
#define STUDY_SPREAD "the 95 % interval of the mean (Student, over seeds)"

extern const case_method study_alone, study_chorus;

/* Settings that the figures share: task, runs, privacy. `agents` in words. */
void study_settings(tacit_reproduced *f, const tacit_reproduce_request *request,
                    const char *agents);
/* "0.907 (0.905 to 0.910)". */
void study_words(tacit_interval i, char *out, size_t size);

#endif
