/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two data sets that differ in the canary alone.
 *
 * The worst canary lies along one axis, the one the agent's records use least: l1 and l2 noise
 * both hide a vector least along an axis, and a model that hardly moves there keeps the slopes of
 * the canary and of its opposite both near their largest. Its length is what data.bound allows,
 * or else four times the clip radius over the label: clipped, yet not so long that the model's
 * first steps make it certain of the label. Where nothing is clipped it is as long as the agent's
 * longest record: the data itself contradicts the claim.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/shard.h"
#include "experiment/audit.h"
#include "model/linear.h"

#define LONGER 4.0

typedef struct planting {
    const tacit_session *session;
    uint32_t agent;
    bool adds; /* one record more */
    bool all;  /* unit user */
    const double *x;
    double y;    /* the canary's label */
    double *row; /* room for one */
} planting;

/* ---- the canary ---- */

typedef struct profile {
    double *energy; /* a feature: sum of squares */
    double longest; /* l2 norm of a row */
    double label;   /* largest, without sign */
} profile;

static void look_at(profile *out, const tacit_shard *shard, size_t p, double *row)
{
    tacit_batch batch;
    for (size_t cursor = 0; tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows; r++) {
            double y, squares = 0;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, row, &y);
            for (size_t k = 0; k < p; k++) {
                out->energy[k] += row[k] * row[k];
                squares += row[k] * row[k];
            }
            out->longest = fmax(out->longest, sqrt(squares));
            out->label = fmax(out->label, fabs(y));
        }
}

static void worst(const tacit_experiment *e, const profile *seen, size_t p, double *x, double *y)
{
    size_t least = 0;
    for (size_t k = 1; k < p; k++)
        if (seen->energy[k] < seen->energy[least])
            least = k;
    *y = seen->label > 0 ? seen->label : 1;
    double length = seen->longest > 0 ? seen->longest : 1;
    if (e->data.bound != TACIT_BOUND_NONE)
        length = 1;
    else if (e->privacy.clip > 0 && !e->privacy.claimed)
        length = LONGER * e->privacy.clip / *y;
    memset(x, 0, p * sizeof *x);
    x[least] = length;
}

static tacit_status choose(planting *w, tacit_canary_kind kind, double *x, tacit_error *err)
{
    const tacit_dataset *data = w->session->source.data;
    const tacit_shard *shard = tacit_dataset_shard(data, w->agent, TACIT_TRAIN);
    const size_t p = tacit_dataset_features(data);
    profile seen = {.energy = calloc(p, sizeof *seen.energy)};
    if (!seen.energy)
        return tacit_out_of_memory(err);
    look_at(&seen, shard, p, w->row);
    if (kind == TACIT_CANARY_WORST)
        worst(w->session->experiment, &seen, p, x, &w->y);
    else {
        tacit_batch batch;
        size_t cursor = 0;
        tacit_shard_next(shard, &cursor, &batch);
        tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, 0, x, &w->y);
        w->y = -w->y;
    }
    free(seen.energy);
    w->x = x;
    return TACIT_OK;
}

/* ---- copies ---- */

/* Rows of one agent's split, from `first` on, to agent `to`. */
static tacit_status copy_rows(const planting *w, tacit_dataset *out, uint32_t to, uint32_t agent,
                              tacit_split split, size_t skip, tacit_error *err)
{
    const tacit_shard *shard = tacit_dataset_shard(w->session->source.data, agent, split);
    const size_t p = tacit_shard_features(shard);
    tacit_status status = TACIT_OK;
    tacit_batch batch;
    size_t at = 0;
    for (size_t cursor = 0; !status && tacit_shard_next(shard, &cursor, &batch);)
        for (size_t r = 0; r < batch.rows && !status; r++, at++) {
            double y;
            tacit_row_doubles(&batch, tacit_shard_scalar(shard), p, r, w->row, &y);
            if (at >= skip)
                status = tacit_dataset_put(out, to, split, at - skip, w->row, y, err);
        }
    return status;
}

/* The canary (or its opposite) where it belongs. */
static tacit_status plant(const planting *w, tacit_dataset *out, bool with, tacit_error *err)
{
    const uint32_t rows = tacit_dataset_rows(out, w->agent, TACIT_TRAIN);
    tacit_status status = TACIT_OK;
    if (w->adds && !with)
        return TACIT_OK;
    const uint32_t first = w->adds ? rows - 1 : 0, last = w->all ? rows : first + 1;
    for (uint32_t r = first; r < last && !status; r++)
        status = tacit_dataset_put(out, w->agent, TACIT_TRAIN, r, w->x, with ? w->y : -w->y, err);
    return status;
}

/* Everybody's records, with the canary or without. Protocols learn from training records only, so
 * the other splits stay behind. */
static tacit_status make_one(const planting *w, bool with, tacit_dataset **out, tacit_error *err)
{
    const tacit_dataset *data = w->session->source.data;
    const uint32_t agents = tacit_dataset_agents(data);
    uint32_t *counts = calloc(agents, sizeof *counts);
    if (!counts)
        return tacit_out_of_memory(err);
    for (uint32_t i = 0; i < agents; i++)
        counts[i] = tacit_dataset_rows(data, i, TACIT_TRAIN);
    counts[w->agent] += w->adds && with;
    tacit_status status =
        tacit_dataset_create(out, agents, tacit_dataset_features(data), tacit_dataset_scalar(data),
                             (const uint32_t *const[TACIT_SPLITS]){counts}, err);
    for (uint32_t i = 0; i < agents && !status; i++)
        status = copy_rows(w, *out, i, i, TACIT_TRAIN, 0, err);
    free(counts);
    return status ? status : plant(w, *out, with, err);
}

static tacit_status make_rest(const planting *w, tacit_dataset **out, tacit_error *err)
{
    const tacit_dataset *data = w->session->source.data;
    const uint32_t rows = tacit_dataset_rows(data, w->agent, TACIT_TRAIN);
    const uint32_t kept = w->all ? 0 : w->adds ? rows : rows - 1;
    tacit_status status =
        tacit_dataset_create(out, 1, tacit_dataset_features(data), tacit_dataset_scalar(data),
                             (const uint32_t *const[TACIT_SPLITS]){&kept}, err);
    return status ? status : copy_rows(w, *out, 0, w->agent, TACIT_TRAIN, rows - kept, err);
}

tacit_status tacit_canary_data_make(tacit_canary_data *out, const tacit_session *session,
                                    uint32_t agent, tacit_canary_kind kind, tacit_error *err)
{
    const size_t p = tacit_dataset_features(session->source.data);
    const tacit_privacy_options *privacy = &session->experiment->privacy;
    *out = (tacit_canary_data){.x = calloc(p, sizeof *out->x)};
    planting w = {.session = session,
                  .agent = agent,
                  .all = privacy->unit == TACIT_UNIT_USER,
                  .adds =
                      privacy->adjacency == TACIT_ADD_REMOVE && privacy->unit == TACIT_UNIT_RECORD,
                  .row = calloc(p, sizeof *w.row)};
    tacit_status status = out->x && w.row ? TACIT_OK : tacit_out_of_memory(err);
    if (!status && tacit_model_classes(session->model) > 0) /* no label has an opposite */
        status = tacit_fail(err, TACIT_EINPUT,
                            "canaries are for labels with a sign, which those of \"model.loss: "
                            "softmax\" are not; audit it with \"logistic\"");
    if (!status)
        status = choose(&w, kind, out->x, err);
    if (!status)
        status = make_one(&w, true, &out->with, err);
    if (!status)
        status = make_one(&w, false, &out->without, err);
    if (!status)
        status = make_rest(&w, &out->rest, err);
    free(w.row);
    return status;
}

void tacit_canary_data_clear(tacit_canary_data *data)
{
    tacit_dataset_free(data->with);
    tacit_dataset_free(data->without);
    tacit_dataset_free(data->rest);
    free(data->x);
    *data = (tacit_canary_data){0};
}
