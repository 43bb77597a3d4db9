/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The least value of Q (measure.c, equation 2) for a session's data, graph and model and the mu
 * and confidence of its protocol: what a run is compared with when a gap is drawn.
 *
 * Newton's method on all models at once. The Hessian is the graph's Laplacian (times identity)
 * plus one block an agent, X^T diag(curve) X; it is never formed: conjugate gradients multiply
 * by it, with its diagonal as preconditioner. Everything in doubles, on one thread, in a fixed
 * order. Shares no code with the protocols.
 *
 * It ends when half the squared Newton decrement, which near the minimum is the gap itself, is
 * below 1e-12 of Q, and takes that last step as well. Where Q is flat (agents without records
 * that are connected to nobody with records) any point will do, and conjugate gradients stay
 * where they started.
 */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/session.h"
#include "model/curvature.h"

#define MOST_UNKNOWNS ((size_t)4 << 20)
#define NEWTON_STEPS 100
#define ENOUGH 1e-12   /* of Q: half the decrement squared */
#define PROMISED 1e-10 /* ... where rounding hides what is left to gain */

enum { THETA, GRADIENT, STEP, RESIDUAL, SCALED, DIRECTION, IMAGE, DIAGONAL, VECTORS };

typedef struct problem {
    tacit_session *session;
    size_t n, p, unknowns;
    double *v[VECTORS]; /* n x p each */
    double *weight;     /* mu D_i c_i */
    double *curve;      /* tacit_linear_curves a record */
    size_t *records_at; /* where an agent's curves begin */
    double *memory;
    size_t doubles;
} problem;

static const tacit_shard *records_of(const problem *q, size_t i)
{
    return tacit_dataset_shard(q->session->source.data, (uint32_t)i, TACIT_TRAIN);
}

/* ---- Q and its derivatives ---- */

static double dot(size_t n, const double *x, const double *y)
{
    double part[2] = {0, 0};
    if (n > 1024)
        return dot(n / 2, x, y) + dot(n - n / 2, x + n / 2, y + n / 2);
    for (size_t k = 0; k < n; k++)
        part[k & 1] += x[k] * y[k];
    return part[0] + part[1];
}

/* out += Laplacian of the graph * x; returns x . Laplacian x / 2. */
static double add_laplacian(const problem *q, const double *x, double *out)
{
    const tacit_graph *g = &q->session->graph;
    double energy = 0;
    for (size_t i = 0; i < q->n; i++)
        for (uint64_t e = g->row[i]; e < g->row[i + 1]; e++) {
            const double *a = x + i * q->p, *b = x + (size_t)g->neighbour[e] * q->p;
            double *to = out + i * q->p, sum = 0;
            for (size_t k = 0; k < q->p; k++) {
                double difference = a[k] - b[k];
                to[k] += g->weight[e] * difference;
                sum += difference * difference;
            }
            energy += 0.25 * g->weight[e] * sum; /* each edge comes twice */
        }
    return energy;
}

/* Q at `theta`; its gradient and the records' curves as well. */
static double derive(problem *q, const double *theta, double *gradient)
{
    double sum = 0;
    for (size_t i = 0; i < q->n; i++) {
        double *g = gradient + i * q->p;
        double loss = tacit_linear_derive(q->session->model, records_of(q, i), theta + i * q->p, g,
                                          q->curve + q->records_at[i]);
        for (size_t k = 0; k < q->p; k++)
            g[k] *= q->weight[i];
        if (q->weight[i] > 0)
            sum += q->weight[i] * loss;
    }
    return sum + add_laplacian(q, theta, gradient);
}

static void multiply(const problem *q, const double *x, double *out)
{
    memset(out, 0, q->unknowns * sizeof *out);
    for (size_t i = 0; i < q->n; i++)
        if (q->weight[i] > 0)
            tacit_linear_bend(q->session->model, records_of(q, i), q->curve + q->records_at[i],
                              q->weight[i], x + i * q->p, out + i * q->p);
    add_laplacian(q, x, out);
}

static void find_diagonal(problem *q)
{
    const tacit_graph *g = &q->session->graph;
    for (size_t i = 0; i < q->n; i++) {
        double *d = q->v[DIAGONAL] + i * q->p;
        for (size_t k = 0; k < q->p; k++)
            d[k] = g->degree[i];
        if (q->weight[i] > 0)
            tacit_linear_diagonal(q->session->model, records_of(q, i), q->curve + q->records_at[i],
                                  q->weight[i], d);
        for (size_t k = 0; k < q->p; k++)
            if (!(d[k] > 0))
                d[k] = 1; /* an agent that nothing depends on */
    }
}

/* ---- solving ---- */

static void precondition(const problem *q)
{
    for (size_t k = 0; k < q->unknowns; k++)
        q->v[SCALED][k] = q->v[RESIDUAL][k] / q->v[DIAGONAL][k];
}

/* Hessian * STEP = GRADIENT, until the residual is `tolerance` of the gradient. */
static void conjugate_gradients(problem *q, double tolerance)
{
    double *step = q->v[STEP], *r = q->v[RESIDUAL], *s = q->v[SCALED], *d = q->v[DIRECTION];
    memset(step, 0, q->unknowns * sizeof *step);
    memcpy(r, q->v[GRADIENT], q->unknowns * sizeof *r);
    precondition(q);
    memcpy(d, s, q->unknowns * sizeof *d);
    double now = dot(q->unknowns, r, s), goal = now * tolerance * tolerance;
    size_t most = q->unknowns + 100;
    for (size_t k = 0; k < most && now > goal && now > 0; k++) {
        multiply(q, d, q->v[IMAGE]);
        double curvature = dot(q->unknowns, d, q->v[IMAGE]);
        if (!(curvature > 0))
            return;
        double length = now / curvature, before = now;
        for (size_t j = 0; j < q->unknowns; j++) {
            step[j] += length * d[j];
            r[j] -= length * q->v[IMAGE][j];
        }
        precondition(q);
        now = dot(q->unknowns, r, s);
        for (size_t j = 0; j < q->unknowns; j++)
            d[j] = s[j] + now / before * d[j];
    }
}

/* Go along -STEP as far as Q falls; false where rounding hides any fall. */
static bool advance(problem *q, double *value, double decrement)
{
    double *trial = q->v[DIRECTION], *gradient = q->v[RESIDUAL];
    for (double t = 1; t > 1e-10; t /= 2) {
        for (size_t k = 0; k < q->unknowns; k++)
            trial[k] = q->v[THETA][k] - t * q->v[STEP][k];
        double after = derive(q, trial, gradient);
        if (after <= *value - 1e-4 * t * decrement) {
            memcpy(q->v[THETA], trial, q->unknowns * sizeof *trial);
            memcpy(q->v[GRADIENT], gradient, q->unknowns * sizeof *gradient);
            *value = after;
            return true;
        }
    }
    return false;
}

static tacit_status minimise(problem *q, double *value, tacit_error *err)
{
    *value = derive(q, q->v[THETA], q->v[GRADIENT]);
    double tolerance = 1e-2;
    for (int k = 0; k < NEWTON_STEPS; k++) {
        find_diagonal(q);
        conjugate_gradients(q, tolerance);
        double decrement = dot(q->unknowns, q->v[STEP], q->v[GRADIENT]);
        if (!isfinite(decrement) || !isfinite(*value))
            return tacit_fail(err, TACIT_EINPUT,
                              "the objective is not finite; scale the records down");
        double left = 0.5 * decrement / (fabs(*value) > 0 ? fabs(*value) : 1);
        bool advanced = advance(q, value, decrement);
        if (left <= ENOUGH || (!advanced && left <= PROMISED))
            return TACIT_OK;
        if (!advanced)
            break;
        tolerance = fmax(1e-10, fmin(tolerance, 1e-2 * sqrt(decrement / (1 + fabs(*value)))));
    }
    return tacit_fail(err, TACIT_EINPUT,
                      "the optimum was not found in %d Newton steps: the problem is too "
                      "ill-conditioned; set \"model.lambda\"",
                      NEWTON_STEPS);
}

/* ---- setting up ---- */

static tacit_status find_weights(problem *q, tacit_error *err)
{
    tacit_session *s = q->session;
    const tacit_protocol *protocol = s->experiment->protocol;
    const void *shared = s->runtime->ops->shared(s->runtime);
    for (size_t i = 0; i < q->n; i++) {
        size_t records = tacit_dataset_rows(s->source.data, (uint32_t)i, TACIT_TRAIN);
        double mu, confidence;
        if (!protocol->coupling || !protocol->coupling(shared, records, &mu, &confidence))
            return tacit_fail(err, TACIT_EINPUT,
                              "protocol \"%s\" minimises no objective in common, so there is no "
                              "optimum to find",
                              protocol->name);
        q->weight[i] = records > 0 ? mu * s->graph.degree[i] * confidence : 0;
    }
    return TACIT_OK;
}

static tacit_status claim(problem *q, tacit_error *err)
{
    size_t records = 0, bytes;
    q->records_at = calloc(q->n + 1, sizeof *q->records_at);
    if (!q->records_at)
        return tacit_out_of_memory(err);
    for (size_t i = 0; i < q->n; i++) {
        q->records_at[i] = records;
        records += tacit_linear_curves(q->session->model) *
                   tacit_dataset_rows(q->session->source.data, (uint32_t)i, TACIT_TRAIN);
    }
    q->doubles = VECTORS * q->unknowns + q->n + records + 1;
    if (tacit_mul_size(q->doubles, sizeof *q->memory, &bytes))
        q->memory = calloc(1, bytes);
    if (!q->memory)
        return tacit_out_of_memory(err);
    for (size_t k = 0; k < VECTORS; k++)
        q->v[k] = q->memory + k * q->unknowns;
    q->weight = q->memory + VECTORS * q->unknowns;
    q->curve = q->weight + q->n;
    return TACIT_OK;
}

tacit_status tacit_session_optimum(tacit_session *session, double *objective, tacit_error *err)
{
    return tacit_session_optimum_models(session, objective, NULL, err);
}

tacit_status tacit_session_optimum_models(tacit_session *session, double *objective, double *models,
                                          tacit_error *err)
{
    problem q = {.session = session,
                 .n = session->graph.agents,
                 .p = tacit_model_parameters(session->model)};
    if (!tacit_mul_size(q.n, q.p, &q.unknowns) || q.unknowns > MOST_UNKNOWNS)
        return tacit_fail(err, TACIT_EINPUT,
                          "%zu agents with %zu weights are too many for the exact optimum, which "
                          "takes %zu numbers at most",
                          q.n, q.p, MOST_UNKNOWNS);
    tacit_status status = claim(&q, err);
    if (!status)
        status = find_weights(&q, err);
    if (!status)
        status = minimise(&q, objective, err);
    if (!status && models)
        memcpy(models, q.v[THETA], q.unknowns * sizeof *models);
    if (q.memory)
        sodium_memzero(q.memory, q.doubles * sizeof *q.memory);
    free(q.memory);
    free(q.records_at);
    return status;
}
