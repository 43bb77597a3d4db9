/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_VECTOR_H
#define TACIT_VECTOR_H
/*
 * Secret and public numbers are different C types.
 *
 *   tacit_secret   was computed from an agent's data. No function that a protocol
 *                  can reach reads its numbers, and nothing sends it.
 *   tacit_public   may be sent: a constant, a released value, something received,
 *                  or arithmetic on those.
 *
 * Both are opaque records of named segments (a tacit_shape). The only road from
 * secret to public is tacit_release() in env.h, or a cryptographic protocol.
 * Because the types are opaque and the verbs that matter are _Generic macros, a
 * wrong type is an error under any compiler flags, not a warning.
 *
 * Vectors are reference-counted and, once sent, immutable: a broadcast is one
 * buffer that all receivers point at.
 */
#include "tacit/base.h"

typedef struct tacit_secret tacit_secret;
typedef struct tacit_public tacit_public;

/* A figure computed from private records (training loss, test accuracy): for the
 * simulator's report or the owner's eyes. It can be logged as a private metric and
 * averaged with others; it cannot be sent. */
typedef struct tacit_private_metric {
    double owner_only;
} tacit_private_metric;

#define TACIT_MAX_SEGMENTS 8

typedef struct tacit_segment {
    const char *name; /* must outlive the shape: a literal */
    tacit_scalar scalar;
    size_t count;
} tacit_segment;

/* What a vector holds: named tensors, one after the other. Shapes are made once a
 * run and outlive every vector that has them. */
typedef struct tacit_shape {
    uint32_t segments;
    uint32_t any; /* bit k: segment k holds keys or masked numbers, none of which is too large */
    size_t bytes; /* of all segments together */
    tacit_segment segment[TACIT_MAX_SEGMENTS];
    size_t offset[TACIT_MAX_SEGMENTS];
} tacit_shape;

/* `shape` becomes the concatenation of `segments`; fails on absurd sizes. */
tacit_status tacit_shape_init(tacit_shape *shape, const tacit_segment *segments, size_t count,
                              tacit_error *err);

/* ---- reading and writing public numbers (segment 0 unless said) ---- */
const tacit_shape *tacit_public_shape(const tacit_public *v);
size_t tacit_public_count(const tacit_public *v, uint32_t segment);
double tacit_public_get(const tacit_public *v, uint32_t segment, size_t index);
void tacit_public_set(tacit_public *v, uint32_t segment, size_t index, double value);
int64_t tacit_public_get_int(const tacit_public *v, uint32_t segment, size_t index);
void tacit_public_set_int(tacit_public *v, uint32_t segment, size_t index, int64_t value);
/* All of a segment of whole numbers, to read. */
const int64_t *tacit_public_ints(const tacit_public *v, uint32_t segment);
/* What is asked of whole numbers that everybody hears: how many bits are set, and a hash
 * (BLAKE2b-256). Through tacit_gist_of (env.h) a runtime computes it once for all its agents. */
typedef struct tacit_gist {
    uint64_t ones;
    uint8_t hash[32];
} tacit_gist;
void tacit_public_gist(tacit_gist *out, const tacit_public *v, uint32_t segment);

/* ---- arithmetic on public vectors of one shape: public stays public ---- */
void tacit_public_zero(tacit_public *out);
void tacit_public_copy(tacit_public *out, const tacit_public *x);
/* One segment of another vector, of as many numbers of the same scalar. */
void tacit_public_copy_segment(tacit_public *out, uint32_t segment, const tacit_public *x,
                               uint32_t from);
void tacit_public_scale(tacit_public *x, double a);
void tacit_public_axpy(tacit_public *y, double a, const tacit_public *x); /* y += a x */

/* out = sum_k coef[k] x[k], skipping NULL vectors (they stand for zero). */
void tacit_public_combine(tacit_public *out, size_t n, const double *coef,
                          const tacit_public *const *x);
/* out's segment = sum_k coef[k] x[k]'s segment from[k], skipping NULL vectors: all of as many reals
 * of the same scalar. `out` is none of them. */
void tacit_public_combine_segments(tacit_public *out, uint32_t segment, size_t n,
                                   const double *coef, const tacit_public *const *x,
                                   const uint32_t *from);
/* A step of Adam (Kingma and Ba 2015) down `gradient`: the running means `first` and `second` of it
 * and of its square, and then x. All are of one shape of reals. */
typedef struct tacit_adam {
    double rate, beta1, beta2, epsilon;
    uint64_t step; /* from 1 on: means begin at zero, which is corrected for */
} tacit_adam;
void tacit_public_adam(tacit_public *x, tacit_public *first, tacit_public *second,
                       const tacit_public *gradient, const tacit_adam *how);
double tacit_public_distance2(const tacit_public *x, const tacit_public *y); /* ||x - y||^2 */

/* One more reference to an own, received or sent vector; pair with tacit_drop (env.h). A
 * released value lives in an event's memory: copy it instead. */
const tacit_public *tacit_keep(const tacit_public *vector);

/* Ask the caches for a vector that will be read soon (NULL allowed). */
void tacit_public_expect(const tacit_public *v);

/* A public number may always be used where a secret one is asked for. */
const tacit_secret *tacit_public_as_secret(const tacit_public *v);

#endif
