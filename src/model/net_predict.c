/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model says of records. They go through in pieces, as large as some memory allows, because
 * the net packs its weights once a piece; nothing of a record's scores depends on its piece.
 */
#include <math.h>
#include <stdlib.h>

#include "model/net.h"
#include "tacit/net_file.h"

enum { PIECE = 1024, PIECE_FLOATS = 1 << 22 };
#define ROOM_MOST ((size_t)1 << 33) /* bytes: a small file may ask for any amount */

typedef struct piece {
    size_t most; /* records */
    const float **row;
    float *x;      /* records after the constants; NULL: there are none */
    float *scores; /* NULL: the caller's are written to */
    tacit_net_room *room;
} piece;

static tacit_status claim(piece *p, const tacit_net_model *m, bool own_scores, tacit_error *err)
{
    const size_t inputs = tacit_net_inputs(m->net), classes = tacit_net_classes(m->net);
    const size_t larger = inputs > classes ? inputs : classes, fit = PIECE_FLOATS / larger;
    const size_t need = tacit_net_room_bytes(m->net);
    *p = (piece){.most = fit < 1 ? 1 : fit < PIECE ? fit : PIECE};
    if (need > ROOM_MOST)
        return tacit_fail(err, TACIT_EINPUT,
                          "the net needs %.3g GB of memory to predict, more than the %.3g it may "
                          "have",
                          (double)need / 1e9, (double)ROOM_MOST / 1e9);
    p->row = calloc(p->most, sizeof *p->row);
    p->x = m->pairs ? calloc(p->most * inputs, sizeof *p->x) : NULL;
    p->scores = own_scores ? calloc(p->most * classes, sizeof *p->scores) : NULL;
    if (!p->row || (m->pairs && !p->x) || (own_scores && !p->scores))
        return tacit_out_of_memory(err);
    return tacit_net_room_create(&p->room, m->net, err);
}

static void release(piece *p)
{
    tacit_net_room_free(p->room);
    free(p->row);
    free(p->x);
    free(p->scores);
}

/* Rows for the net: as they are, or scale x + shift. */
static void fill(piece *p, const tacit_net_model *m, size_t count, const float *x)
{
    const size_t inputs = tacit_net_inputs(m->net), step = m->pairs > 1;
    for (size_t r = 0; r < count; r++) {
        const float *from = x + r * inputs;
        float *to = p->x ? p->x + r * inputs : NULL;
        for (size_t k = 0; to && k < inputs; k++)
            to[k] = m->scale[k * step] * from[k] + m->shift[k * step];
        p->row[r] = to ? to : from;
    }
}

/* SIZE_MAX if a score is not finite. */
static size_t largest(const float *score, size_t count)
{
    size_t best = 0;
    for (size_t k = 0; k < count; k++) {
        if (!isfinite(score[k]))
            return SIZE_MAX;
        if (score[k] > score[best])
            best = k;
    }
    return best;
}

tacit_status tacit_net_predict(const tacit_net_model *model, size_t count, const float *x,
                               float *scores, uint32_t *best, tacit_error *err)
{
    const size_t inputs = tacit_net_inputs(model->net), classes = tacit_net_classes(model->net);
    piece p;
    tacit_status status = claim(&p, model, scores == NULL, err);
    for (size_t from = 0; from < count && !status; from += p.most) {
        const size_t now = count - from < p.most ? count - from : p.most;
        float *to = scores ? scores + from * classes : p.scores;
        fill(&p, model, now, x + from * inputs);
        tacit_net_scores(model->net, p.room, model->theta, now, p.row, to);
        for (size_t r = 0; r < now && !status; r++) {
            const size_t class = largest(to + r * classes, classes);
            if (class == SIZE_MAX)
                status = tacit_fail(err, TACIT_EINPUT,
                                    "record %zu has scores that are not finite: its numbers are "
                                    "too large for this model, or not finite themselves",
                                    from + r + 1);
            else if (best)
                best[from + r] = (uint32_t) class;
        }
    }
    release(&p);
    return status;
}
