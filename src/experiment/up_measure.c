/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What real peers learned, seen by the simulator that dealt them their records: it holds all
 * records and can do what nobody else may, compare everybody with the optimum.
 */
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/bytes.h"
#include "data/grid.h"
#include "experiment/consortium.h"
#include "experiment/session.h"

#define PATH_ROOM (TACIT_TEXT_MAX + 128)

typedef struct look {
    tacit_session *session;
    size_t agents, parameters;
    double *models, *optimum; /* agents x parameters each */
    tacit_up_result *out;
} look;

/* The models of one member, to their places. */
static tacit_status read_models(const look *l, const tacit_node_member *m, const char *path,
                                const tacit_bytes *bytes, tacit_error *err)
{
    tacit_grid grid;
    tacit_status status = tacit_npy_open(&grid, path, tacit_bytes_at(bytes), bytes->len, err);
    if (status)
        return status;
    if (grid.rank != 2 || grid.rows != m->count || grid.width != l->parameters)
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s has %zu models of %zu numbers; expected %u of %zu", path,
                          grid.rows, grid.width, (unsigned)m->count, l->parameters);
    for (uint32_t k = 0; k < m->count; k++) {
        double *to = l->models + (size_t)m->agents[k] * l->parameters;
        for (size_t i = 0; i < l->parameters; i++) {
            to[i] = tacit_grid_at(&grid, k, i);
            if (!isfinite(to[i]))
                return tacit_fail(err, TACIT_EINPUT,
                                  "%.300s: the model of agent %u has a number that is not finite",
                                  path, (unsigned)m->agents[k]);
        }
    }
    return TACIT_OK;
}

static tacit_status read_member(const look *l, const char *folder, const tacit_node_member *m,
                                tacit_error *err)
{
    char path[PATH_ROOM];
    tacit_bytes bytes = {0};
    int len = snprintf(path, sizeof path, "%s/%s/state/models.npy", folder, m->name);
    if (len < 0 || (size_t)len >= sizeof path)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.300s\" is too long", folder);
    if (!tacit_bytes_exist(path, "")) {
        l->out->missing += m->count;
        return TACIT_OK;
    }
    tacit_status status = tacit_bytes_load(&bytes, path, "", NULL, err);
    if (!status)
        status = read_models(l, m, path, &bytes, err);
    tacit_bytes_clear(&bytes);
    return status;
}

static tacit_status read_all(const look *l, const char *folder, tacit_error *err)
{
    char path[PATH_ROOM];
    tacit_roster roster;
    int len = snprintf(path, sizeof path, "%s/members.csv", folder);
    if (len < 0 || (size_t)len >= sizeof path)
        return tacit_fail(err, TACIT_EINPUT, "the path \"%.300s\" is too long", folder);
    tacit_status status = tacit_roster_read(&roster, path, err);
    if (status)
        return status;
    if (roster.agents != l->agents)
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s has %u agents, but the experiment %zu; they do not belong "
                            "together",
                            path, (unsigned)roster.agents, l->agents);
    for (uint32_t k = 0; k < roster.count && !status; k++)
        status = read_member(l, folder, &roster.members[k], err);
    tacit_roster_clear(&roster);
    return status;
}

/* The largest relative distance. Who has no neighbours learns alone, and is nobody's optimum. */
static double farthest(const look *l)
{
    double most = 0;
    for (size_t i = 0; i < l->agents; i++) {
        const double *a = l->models + i * l->parameters, *b = l->optimum + i * l->parameters;
        double apart = 0, size = 0;
        if (!(l->session->graph.degree[i] > 0))
            continue;
        for (size_t k = 0; k < l->parameters; k++) {
            apart += (a[k] - b[k]) * (a[k] - b[k]);
            size += b[k] * b[k];
        }
        most = fmax(most, sqrt(apart) / (size > 0 ? sqrt(size) : 1));
    }
    return most;
}

/* Protocols that minimise nothing in common have no optimum, and neither have very large ones. */
static void compare(look *l)
{
    const tacit_experiment *x = l->session->experiment;
    tacit_error why;
    l->out->optimum = l->out->distance = NAN;
    if (!x->protocol->coupling || l->parameters != tacit_model_parameters(l->session->model))
        return;
    if (tacit_session_optimum_models(l->session, &l->out->optimum, l->optimum, &why))
        l->out->optimum = NAN;
    else
        l->out->distance = farthest(l);
}

static tacit_status measure(look *l, tacit_error *err)
{
    tacit_status status = tacit_session_adopt(l->session, l->models, err);
    if (!status)
        status = tacit_session_measure(l->session, &l->out->now, err);
    tacit_session_adopt(l->session, NULL, err);
    if (!status)
        compare(l);
    return status;
}

tacit_status tacit_up_measure(tacit_session *session, const char *folder, tacit_up_result *out,
                              tacit_error *err)
{
    const tacit_shape *shape = tacit_model_shape(session->model);
    look l = {.session = session, .agents = session->graph.agents, .out = out};
    size_t numbers, bytes;
    *out = (tacit_up_result){0};
    for (uint32_t k = 0; k < shape->segments; k++)
        l.parameters += shape->segment[k].count;
    if (!tacit_mul_size(l.agents, l.parameters, &numbers) ||
        !tacit_mul_size(numbers, sizeof *l.models, &bytes))
        return tacit_out_of_memory(err);
    l.models = calloc(1, bytes ? bytes : 1);
    l.optimum = calloc(1, bytes ? bytes : 1);
    tacit_status status =
        l.models && l.optimum ? read_all(&l, folder, err) : tacit_out_of_memory(err);
    if (!status)
        status = measure(&l, err);
    if (l.models)
        sodium_memzero(l.models, bytes);
    if (l.optimum)
        sodium_memzero(l.optimum, bytes);
    free(l.models);
    free(l.optimum);
    return status;
}
