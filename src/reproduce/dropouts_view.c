/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A round as a coalition sees it that is curious and keeps to the rules: the agent that added up,
 * and as many others of the sum as are allowed, all of whose secrets it knows. Of an honest member
 * it has the word that crossed, the seed that uncovers it, and the keys of its pairs with colluders
 * and with whom dropped out (whose keys were told). Taking all that away leaves
 *
 *     r_u = x_u + eta_u + sum over honest partners v of Delta_uv.
 *
 * It knows all x but one. With Gaussian pair noise r is a Gaussian vector of covariance
 * A = diag(own^2) + pair^2 L, and the best test of whether the victim v holds Delta more is the
 * likelihood ratio Delta <w, r - x> - Delta^2 w_v / 2 with w = A^-1 e_v. Uniform masks are the
 * limit of wide pair noise: all w are alike, and only the sum over the honest, modulo 2^64, tells
 * anything. The victim is whoever is worst off.
 *
 * A word is linear in the number it hides, so a victim that holds more has the same r and more:
 * every number of a round without the canary is one trial, and with `lift` added one with it.
 */
#include <math.h>
#include <stdlib.h>

#include "protocol/totals_inside.h"
#include "reproduce/dropouts.h"

#define COALITION 0x636f616c /* who colludes is drawn apart from everything else */

typedef struct view {
    const dropouts_past *past;
    bool *colludes;   /* by agent */
    uint32_t *honest; /* in the sum, and not colluding */
    uint32_t count;
    const tacit_public **word; /* by agent */
    tacit_public **rest;       /* r, of each honest member */
    double *matrix;            /* A, then its inverse: count x count; Gaussian masks only */
    double *weight;            /* w */
    double own;                /* of w: w_v */
} view;

/* ---- who looks ---- */

static void draw_coalition(view *v)
{
    const dropouts_past *p = v->past;
    const totals_roles roles = totals_roles_of(&p->shared->plan, p->run, p->trial);
    tacit_random random;
    tacit_stream stream;
    tacit_random_init(&random, p->seed);
    tacit_stream_open(&stream, &random, 0, TACIT_FOR_CHURN, COALITION);
    v->colludes[totals_agent_at(&roles, 0)] = true; /* speaker and only adder */
    for (uint32_t left = p->task->colluders - 1; left > 0;) {
        const uint64_t u = tacit_stream_below(&stream, p->task->agents);
        if (!p->in[u] || v->colludes[u])
            continue;
        v->colludes[u] = true;
        left--;
    }
    tacit_stream_clear(&stream);
    tacit_random_clear(&random);
    for (uint32_t u = 0; u < p->task->agents; u++)
        if (p->in[u] && !v->colludes[u])
            v->honest[v->count++] = u;
}

static void find_words(view *v)
{
    const tacit_trace_row *rows;
    const size_t count = tacit_trace_rows(v->past->trace, &rows);
    for (size_t k = 0; k < count; k++)
        if (rows[k].kind == TACIT_TRACE_SEND && rows[k].at.kind == TOTALS_WORD && rows[k].payload &&
            totals_head(rows[k].payload, 0) == v->past->trial)
            v->word[rows[k].agent] = rows[k].payload;
}

/* ---- what is left of a word ---- */

static tacit_status uncover(view *v, uint32_t place, tacit_error *err)
{
    const dropouts_past *p = v->past;
    const uint32_t agent = v->honest[place];
    tacit_totals *s = dropouts_totals(p->rt, agent);
    const totals_at a = {.s = s};
    uint8_t seed[TACIT_MASK_KEY];
    if (!v->word[agent])
        return tacit_fail(err, TACIT_EINTERNAL, "agent %u is in the sum without a word", agent);
    tacit_public *rest = v->rest[place] = tacit_mask_sum_create(p->task->numbers);
    if (!rest)
        return tacit_out_of_memory(err);
    tacit_mask_gather(rest, v->word[agent], 1);
    totals_seed(&a, p->trial, seed);
    tacit_mask_uncover(rest, seed, p->trial, 0);
    for (uint32_t k = 0; k < s->partners; k++) {
        const totals_partner *q = &s->partner[k];
        if (!q->masked || (p->in[q->agent] && !v->colludes[q->agent]))
            continue;
        tacit_mask mask = {.minus = q->agent < agent};
        totals_pair_key(q, p->trial, mask.key);
        tacit_mask_undo(rest, &mask, p->shared->plan.noise, p->trial, 0);
    }
    return TACIT_OK;
}

/* ---- the test ---- */

static double own_variance(const view *v, uint32_t place)
{
    const dropouts_past *p = v->past;
    const double noise = p->shared->cost.noise;
    return noise * noise / dropouts_parts(p->broken, v->honest[place], (uint32_t)p->parts);
}

static void weigh_alike(view *v)
{
    double sum = 0;
    for (uint32_t k = 0; k < v->count; k++)
        sum += own_variance(v, k);
    for (uint32_t k = 0; k < v->count; k++)
        v->weight[k] = 1 / sum;
    v->own = 1 / sum;
}

static void fill_matrix(view *v, uint32_t *place)
{
    const dropouts_past *p = v->past;
    const double pair = p->shared->plan.pair * p->shared->plan.step;
    const size_t n = v->count;
    for (uint32_t k = 0; k < n; k++)
        place[v->honest[k]] = k + 1;
    for (uint32_t k = 0; k < n; k++) {
        const tacit_totals *s = dropouts_totals(p->rt, v->honest[k]);
        v->matrix[k * n + k] += own_variance(v, k);
        for (uint32_t q = 0; q < s->partners; q++) {
            const uint32_t other = s->partner[q].masked ? place[s->partner[q].agent] : 0;
            if (other == 0)
                continue;
            v->matrix[k * n + k] += pair * pair;
            v->matrix[k * n + other - 1] -= pair * pair;
        }
    }
}

/* Gauss and Jordan in place: A has no pivot that could vanish. */
static void invert(double *a, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        const double pivot = a[c * n + c];
        a[c * n + c] = 1;
        for (size_t k = 0; k < n; k++)
            a[c * n + k] /= pivot;
        for (size_t r = 0; r < n; r++) {
            const double f = a[r * n + c];
            if (r == c)
                continue;
            a[r * n + c] = 0;
            for (size_t k = 0; k < n; k++)
                a[r * n + k] -= f * a[c * n + k];
        }
    }
}

static tacit_status weigh_pairs(view *v, tacit_error *err)
{
    const size_t n = v->count;
    uint32_t *place =
        calloc(v->past->task->agents, sizeof *place); /* one more than that; 0: none */
    v->matrix = calloc(n * n, sizeof *v->matrix);
    if (!place || !v->matrix) {
        free(place);
        return tacit_out_of_memory(err);
    }
    fill_matrix(v, place);
    free(place);
    invert(v->matrix, n);
    size_t victim = 0;
    for (size_t k = 1; k < n; k++)
        if (v->matrix[k * n + k] > v->matrix[victim * n + victim])
            victim = k;
    memcpy(v->weight, v->matrix + victim * n, n * sizeof *v->weight);
    v->own = v->weight[victim];
    return TACIT_OK;
}

static int64_t rest_of(const view *v, uint32_t place, uint32_t k)
{
    return tacit_public_get_int(v->rest[place], 0, k);
}

/* <w, r - x>; with uniform masks by way of the sum, which alone is small. */
static double product(const view *v, uint32_t k)
{
    const gopa_shared *s = v->past->shared;
    double sum = 0, known = 0;
    uint64_t total = 0;
    for (uint32_t place = 0; place < v->count; place++) {
        const double x = dropouts_value(v->honest[place], k) - s->centre[k];
        if (v->past->task->gaussian)
            sum += v->weight[place] * ((double)rest_of(v, place, k) * s->plan.step - x);
        total += (uint64_t)rest_of(v, place, k);
        known += x;
    }
    return v->past->task->gaussian ? sum
                                   : v->weight[0] * ((double)(int64_t)total * s->plan.step - known);
}

static tacit_status look(view *v, double *score, double *lift, tacit_error *err)
{
    const dropouts_past *p = v->past;
    const double shift = p->shared->cost.sensitivity;
    tacit_status status = TACIT_OK;
    draw_coalition(v);
    find_words(v);
    for (uint32_t k = 0; k < v->count && !status; k++)
        status = uncover(v, k, err);
    if (!status && p->task->gaussian)
        status = weigh_pairs(v, err);
    else if (!status)
        weigh_alike(v);
    *lift = shift * shift * v->own;
    for (uint32_t k = 0; k < p->task->numbers && !status; k++)
        score[k] = shift * product(v, k) - *lift / 2;
    return status;
}

tacit_status dropouts_view(double *score, double *lift, const dropouts_past *past, tacit_error *err)
{
    const size_t n = past->task->agents;
    view v = {.past = past,
              .colludes = calloc(n, sizeof *v.colludes),
              .honest = calloc(n, sizeof *v.honest),
              .word = calloc(n, sizeof *v.word),
              .rest = calloc(n, sizeof *v.rest),
              .weight = calloc(n, sizeof *v.weight)};
    tacit_status status = v.colludes && v.honest && v.word && v.rest && v.weight
                              ? look(&v, score, lift, err)
                              : tacit_out_of_memory(err);
    for (size_t k = 0; v.rest && k < n; k++)
        if (v.rest[k])
            tacit_mask_sum_free(v.rest[k]);
    free(v.colludes);
    free(v.honest);
    free(v.word);
    free(v.rest);
    free(v.weight);
    free(v.matrix);
    return status;
}
