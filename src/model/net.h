/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_MODEL_NET_H
#define TACIT_MODEL_NET_H
/*
 * What a net does with records. Everything here is computed from records and stays at home until a
 * release has made it public.
 *
 * Clipping each record's gradient without having it. A layer's gradient for one record is known by
 * its input x and the slope dy of the loss at its output: for a dense layer it is dy x^T, of norm
 * |dy| |x|. So one sweep back keeps every layer's dy, norms come from x and dy ("ghost norms"), and
 * after that the clipped sum is one product a layer: x^T diag(factor) dy. Lots go through in tiles
 * of a few records, so that a tile stays in the second-level cache, and the sum of a lot is that of
 * its tiles.
 */
#include "tacit/net.h"

/* Records of a lot, wherever they lie. */
typedef struct tacit_net_lot {
    size_t count; /* 0 happens: lots are drawn at random */
    const float *const *row;
    const uint32_t *label;
} tacit_net_lot;

typedef struct tacit_net_report {
    double loss;    /* sum over records that are not broken */
    size_t right;   /* whose own class has the largest score */
    size_t clipped; /* whose gradient was longer than the bound */
    size_t broken;  /* whose loss or gradient is not finite: they count as gradient zero */
} tacit_net_report;

/* Memory for one thread at a time; nothing else is allocated while learning. */
typedef struct tacit_net_room tacit_net_room;
tacit_status tacit_net_room_create(tacit_net_room **out, const tacit_net *net, tacit_error *err);
void tacit_net_room_free(tacit_net_room *room); /* wipes it */
size_t tacit_net_room_bytes(const tacit_net *net);

/* sum = sum over the lot of gradients, each scaled to norm at most `clip`. INFINITY: not scaled,
 * and no norms are taken; then a sum that is not finite is an error.
 * Labels out of range are an error. */
tacit_status tacit_net_gradient(const tacit_net *net, tacit_net_room *room, const float *theta,
                                const tacit_net_lot *lot, float clip, float *sum,
                                tacit_net_report *report, tacit_error *err);

/* The same in double precision, for a release with noise: `total` += the clipped sum. A record's
 * gradient is measured as it is added, whatever that costs (`strict` in net_layer.h), and floats
 * are only added up over TACIT_NET_CHAIN records at most, in `part`: so, with every
 * record's part within the clip, total is off by no more than tacit_net_total_error of the clip.
 * Both have room for all parameters. */
#define TACIT_NET_CHAIN 64
tacit_status tacit_net_total(const tacit_net *net, tacit_net_room *room, const float *theta,
                             const tacit_net_lot *lot, float clip, float *part, double *total,
                             tacit_net_report *report, tacit_error *err);
/* For lots of at most `most` records. */
double tacit_net_total_error(size_t most);

/* Scores of each class for `count` records, a row each. */
void tacit_net_scores(const tacit_net *net, tacit_net_room *room, const float *theta, size_t count,
                      const float *const *row, float *scores);

/* Norms of each record's gradient, as clipping uses them. For tests and audits. */
tacit_status tacit_net_norms(const tacit_net *net, tacit_net_room *room, const float *theta,
                             const tacit_net_lot *lot, double *norm, tacit_error *err);

#endif
