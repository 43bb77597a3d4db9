/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a net tells of its records under a permit: the clipped gradients of a lot, added up.
 *
 * With noise the sum must be an integer vector that one record moves by at most the cost's limit
 * (steps of the grid). Gradients of nets exist only inside products, in single precision, so
 * integers come last here, not first as for linear models (gradient_grid.c):
 *
 *  1. what counts of a record is within a clip of c steps (docs/nets.md);
 *  2. the sum S of at most N records is computed to within E(N) c (tacit_net_total_error);
 *  3. each coordinate is rounded to a whole step, by half a step at most.
 *
 * Neighbouring data so give sums that differ by at most c + 2 E(N) c + sqrt(p) steps if a record is
 * put in or left out, and twice c in place of c if it is replaced. c is chosen so that the first is
 * at most the limit; then the second is at most twice the limit. N is public: the number of
 * records, or for a lot of L expected L + 12 sqrt(L) + 100; more records than that are drawn with
 * probability below 2^-100 (Chernoff), and then the last of them do not count. Under add-remove the
 * number of records is a secret: N is LOT_MOST for all, and an agent that would draw more than
 * LOT_EXPECTED on average cannot take part, which is what all who do say of themselves.
 */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/scratch.h"
#include "model/linear.h"
#include "model/net.h"
#include "privacy/release.h"

/* Under add-remove; more are drawn with probability below 2^-200. */
#define LOT_MOST 4096
#define LOT_EXPECTED 3000

static void *make_room(const void *net)
{
    tacit_net_room *room;
    return tacit_net_room_create(&room, net, NULL) == TACIT_OK ? room : NULL;
}

static void free_room(void *room)
{
    tacit_net_room_free(room);
}

static const tacit_guest rooms = {make_room, free_room};

/* ---- who takes part ---- */

/* How many records a sum is planned for. */
static size_t planned(const tacit_cost *cost, size_t records)
{
    const bool lots = cost->sampling > 0 && cost->sampling < 1;
    if (cost->mechanism != TACIT_MECHANISM_NONE && cost->adjacency == TACIT_ADD_REMOVE)
        return LOT_MOST;
    if (!lots)
        return records;
    const double expected = cost->sampling * (double)records;
    const double most = expected + 12 * sqrt(expected) + 100;
    return most < (double)records ? (size_t)most : records;
}

/* Rows and labels of who takes part, `most` at most. */
static tacit_status draw_lot(tacit_net_lot *lot, const tacit_model *model,
                             const tacit_permit *permit, const tacit_shard *shard, size_t most,
                             tacit_scratch *scratch, tacit_error *err)
{
    tacit_lot draw;
    tacit_status status = tacit_lot_open(&draw, permit, tacit_shard_rows(shard), err);
    if (status != TACIT_OK)
        return status;
    const float **row = tacit_scratch_alloc(scratch, (most + 1) * sizeof *row);
    uint32_t *label = tacit_scratch_alloc(scratch, (most + 1) * sizeof *label);
    if (!row || !label) {
        tacit_lot_close(&draw);
        return tacit_out_of_memory(err);
    }
    size_t count = 0;
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++)
            if (tacit_lot_takes(&draw) && count < most) {
                row[count] = (const float *)batch.x + r * model->features;
                label[count++] = (uint32_t)((const float *)batch.y)[r];
            }
    tacit_lot_close(&draw);
    *lot = (tacit_net_lot){.count = count, .row = row, .label = label};
    return TACIT_OK;
}

/* ---- without noise ---- */

static tacit_status bare(const tacit_model *model, tacit_permit *permit, const tacit_shard *shard,
                         const tacit_public *at, tacit_clip clip, tacit_scratch *scratch,
                         tacit_bounded **out, tacit_error *err)
{
    const size_t records = tacit_shard_rows(shard);
    const double q = permit->cost.sampling > 0 ? permit->cost.sampling : 1;
    tacit_net_room *room = tacit_scratch_guest(scratch, &rooms, model->net);
    tacit_net_lot lot;
    tacit_net_report report;
    if (!room)
        return tacit_out_of_memory(err);
    /* Nothing is claimed: noise would refuse it. */
    tacit_status status =
        tacit_bounded_create(out, permit, clip.norm, INFINITY, &model->shape, scratch, err);
    if (status == TACIT_OK)
        status =
            draw_lot(&lot, model, permit, shard, planned(&permit->cost, records), scratch, err);
    float *sum = status == TACIT_OK ? tacit_vector_segment((*out)->value, 0) : NULL;
    if (status == TACIT_OK)
        status = tacit_net_gradient(model->net, room,
                                    tacit_vector_segment(tacit_vector_of_public(at), 0), &lot,
                                    (float)clip.radius, sum, &report, err);
    if (status == TACIT_OK && report.broken > 0)
        status = tacit_fail(err, TACIT_EINPUT,
                            "the loss or the gradient of %zu of %zu records is not finite: the "
                            "model has run away; use smaller steps (\"protocol.step\") or a clip "
                            "(\"privacy.clip\")",
                            report.broken, lot.count);
    const float scale = records ? (float)(1 / (q * (double)records)) : 0;
    for (size_t k = 0; status == TACIT_OK && k < model->parameters; k++)
        sum[k] *= scale;
    return status;
}

/* ---- with noise ---- */

/* c, in steps; 0 if the grid has no room for it. */
static double clip_steps(const tacit_model *model, const tacit_cost *cost, size_t most)
{
    const double room = tacit_cost_limit(cost) - ceil(sqrt((double)model->parameters)) - 1;
    const double steps = room / (1 + 2 * tacit_net_total_error(most)) * (1 - 0x1p-40);
    return steps > 0 ? steps : 0;
}

/* To whole steps: adding 1.5 * 2^52 rounds to the nearest, and the sum's last bits are the number.
 * Sums are below 2^24 steps a record, far below 2^51. */
static void round_steps(size_t count, double per_step, const double *total, int64_t *steps)
{
    const double magic = 0x1.8p52;
    int64_t zero;
    memcpy(&zero, &magic, sizeof zero);
    for (size_t k = 0; k < count; k++) {
        const double shifted = total[k] * per_step + magic;
        int64_t bits;
        memcpy(&bits, &shifted, sizeof bits);
        steps[k] = bits - zero;
    }
}

static tacit_status check_cost(const tacit_cost *cost, size_t records, tacit_error *err)
{
    if (cost->norm != TACIT_L2 || cost->unit != TACIT_UNIT_RECORD)
        return tacit_fail(err, TACIT_EINPUT,
                          "nets clip each record's gradient in l2: set \"privacy.mechanism: "
                          "gaussian\" and \"privacy.unit: record\"");
    if (cost->claimed)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"privacy.claimed\" is for linear models: nets always clip");
    const double q = cost->sampling > 0 ? cost->sampling : 1;
    if (cost->adjacency == TACIT_ADD_REMOVE && q * (double)records > LOT_EXPECTED)
        return tacit_fail(err, TACIT_EINPUT,
                          "under \"privacy.adjacency: add-remove\" lots of nets have at most %d "
                          "records on average: an agent with %zu records needs a smaller "
                          "\"privacy.sampling\"",
                          LOT_EXPECTED, records);
    if (records < UINT64_C(1) << 26)
        return TACIT_OK;
    return tacit_fail(err, TACIT_EINPUT, "\"%s\" of %zu records does not fit the grid", cost->what,
                      records);
}

static tacit_status no_room(const tacit_model *model, size_t most, tacit_error *err)
{
    return tacit_fail(
        err, TACIT_EINPUT,
        "noise for %zu parameters and lots of up to %zu records leaves no room on the "
        "grid of the clip: raise \"privacy.epsilon\", or use smaller lots",
        model->parameters, most);
}

static tacit_status on_grid(const tacit_model *model, tacit_permit *permit,
                            const tacit_shard *shard, const tacit_public *at,
                            tacit_scratch *scratch, tacit_bounded **out, tacit_error *err)
{
    const tacit_cost *cost = &permit->cost;
    const size_t n = model->parameters, records = tacit_shard_rows(shard);
    const size_t most = planned(cost, records);
    const double step = tacit_cost_step(cost), steps = clip_steps(model, cost, most);
    tacit_status status = check_cost(cost, records, err);
    if (status != TACIT_OK)
        return status;
    /* Floats of the clip are rounded down: what counts of a record is within c. */
    const float clip = nextafterf((float)(steps * step), 0);
    if (!(clip > 0) || isinf(clip))
        return no_room(model, most, err);
    tacit_net_room *room = tacit_scratch_guest(scratch, &rooms, model->net);
    float *part = tacit_scratch_alloc(scratch, n * sizeof *part);
    double *total = tacit_scratch_alloc(scratch, n * sizeof *total);
    if (!room || !part || !total)
        return tacit_out_of_memory(err);
    memset(total, 0, n * sizeof *total);
    tacit_net_lot lot;
    tacit_net_report report;
    status = tacit_bounded_on_grid(out, permit, &model->shape, scratch, err);
    if (status == TACIT_OK)
        status = draw_lot(&lot, model, permit, shard, most, scratch, err);
    if (status == TACIT_OK)
        status =
            tacit_net_total(model->net, room, tacit_vector_segment(tacit_vector_of_public(at), 0),
                            &lot, clip, part, total, &report, err);
    if (status == TACIT_OK)
        round_steps(n, 1 / step, total, (*out)->steps);
    memset(total, 0, n * sizeof *total); /* `part` is zero after tacit_net_total */
    if (status != TACIT_OK)
        return status;
    const double q = cost->sampling > 0 ? cost->sampling : 1;
    (*out)->factor =
        cost->adjacency == TACIT_ADD_REMOVE || records == 0 ? 1 : 1 / (q * (double)records);
    return TACIT_OK;
}

tacit_status tacit_net_model_gradient(const tacit_model *model, tacit_permit *permit,
                                      const tacit_shard *shard, const tacit_public *at,
                                      tacit_clip clip, tacit_scratch *scratch, tacit_bounded **out,
                                      tacit_error *err)
{
    return permit->cost.mechanism == TACIT_MECHANISM_NONE
               ? bare(model, permit, shard, at, clip, scratch, out, err)
               : on_grid(model, permit, shard, at, scratch, out, err);
}
