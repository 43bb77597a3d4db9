/* SPDX-License-Identifier: Apache-2.0 */
/* What is public about agents before a chorus starts: their columns, from a graph or from a kernel
 * in a file, and who will leave. */
#include "protocol/chorus.h"

#include <math.h>
#include <stdlib.h>

#include "tacit/data.h"

#define RANK_BY_RULE 3
#define MOST_VOICES 500

/* ---- a kernel that is given ---- */

/* The kernel of the file as a graph with a diagonal; `diagonal` for the caller to free. */
static tacit_status read_kernel(const chorus_options *o, uint64_t agents, tacit_graph *graph,
                                double **diagonal, tacit_error *err)
{
    tacit_matrix m = {0};
    if (o->kernel_file[0] == '\0')
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel: given\" needs \"protocol.kernel-file\": a matrix of "
                          "one row and one column an agent");
    tacit_status status = tacit_matrix_read(&m, o->kernel_file, NULL, err);
    if (status != TACIT_OK)
        return status;
    if (m.rows != agents || m.columns != agents)
        status = tacit_fail(err, TACIT_EINPUT,
                            "%.300s: a matrix of %zu rows and %zu columns; a kernel of the %llu "
                            "agents has as many of both",
                            o->kernel_file, m.rows, m.columns, (unsigned long long)agents);
    if (status == TACIT_OK && !(*diagonal = calloc(m.rows, sizeof **diagonal)))
        status = tacit_out_of_memory(err);
    if (status == TACIT_OK) {
        tacit_error why = {0};
        status = tacit_kernel_graph(graph, *diagonal, (uint32_t)m.rows, m.value, &why);
        if (status != TACIT_OK)
            tacit_fail(err, status, "%.300s: %s", o->kernel_file, why.text);
    }
    tacit_matrix_clear(&m);
    return status;
}

/* ---- columns ---- */

/* `graph` NULL: nobody knows yet who is near whom, and how many pieces that makes. */
static tacit_status choose_rank(chorus_shared *s, const tacit_graph *graph, tacit_error *err)
{
    const uint64_t n = s->agents;
    if ((uint64_t)s->options.rank > n)
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.rank: %lld\" is more than the %llu agents; lower it",
                          (long long)s->options.rank, (unsigned long long)n);
    s->rank = (size_t)s->options.rank;
    if (s->rank == 0 && !graph)
        s->rank = n < RANK_BY_RULE ? (size_t)n : RANK_BY_RULE;
    if (s->rank > 0)
        return TACIT_OK;
    uint32_t *component = calloc(n, sizeof *component);
    if (!component)
        return tacit_out_of_memory(err);
    uint64_t components = tacit_graph_components(graph, component);
    for (uint64_t i = 0; i < n; i++) /* isolated agents have no voice */
        components -= graph->row[i + 1] == graph->row[i];
    free(component);
    s->rank = (size_t)(components <= 1 ? RANK_BY_RULE : components + 2);
    if (s->rank > n)
        s->rank = (size_t)n;
    if (s->rank > MOST_VOICES)
        return tacit_fail(err, TACIT_EINPUT,
                          "the graph falls into %llu pieces, too many for one sum; connect it, or "
                          "set \"protocol.rank\"",
                          (unsigned long long)components);
    return TACIT_OK;
}

tacit_status chorus_basis(const chorus_shared *s, const tacit_graph *graph, const double *diagonal,
                          double *column, tacit_error *err)
{
    const bool optimal = s->options.factor == CHORUS_FACTOR_OPTIMAL;
    tacit_kernel kernel = s->options.kernel;
    kernel.raw = optimal; /* of columns of length 1 nothing could be better */
    if (chorus_learned(s))
        kernel.kind = TACIT_KERNEL_SPECTRAL;
    tacit_status status = diagonal
                              ? tacit_kernel_basis(graph, diagonal, optimal, s->rank, column, err)
                              : tacit_graph_basis(graph, &kernel, s->rank, column, err);
    /* Weights of 1: peers do not know each other's numbers of records beforehand. */
    if (status == TACIT_OK && optimal)
        status = tacit_basis_optimise(graph->agents, s->rank, NULL, column, NULL, err);
    return status;
}

static tacit_status make(chorus_shared *s, const tacit_graph *graph, const double *diagonal,
                         tacit_error *err)
{
    size_t numbers, bytes;
    if (!tacit_mul_size(graph->agents, s->rank, &numbers) ||
        !tacit_mul_size(numbers, sizeof *s->column, &bytes))
        return tacit_out_of_memory(err);
    s->column = malloc(bytes);
    return s->column ? chorus_basis(s, graph, diagonal, s->column, err) : tacit_out_of_memory(err);
}

const double *chorus_column(const chorus_shared *s, tacit_agent agent)
{
    const double *all = s->column;
    if (chorus_learned(s)) {
        pthread_mutex_lock(&s->book->lock);
        all = s->book->print ? s->book->column : NULL;
        pthread_mutex_unlock(&s->book->lock);
    }
    return all ? all + (size_t)agent * s->rank : NULL;
}

tacit_status chorus_columns(chorus_shared *s, const tacit_setup *setup, tacit_error *err)
{
    const bool given = s->options.kernel.kind == TACIT_KERNEL_GIVEN;
    tacit_graph kernel = {0};
    double *diagonal = NULL;
    tacit_status status = TACIT_OK;
    if (!given && s->options.kernel_file[0])
        return tacit_fail(err, TACIT_EINPUT,
                          "\"protocol.kernel-file\" is for \"protocol.kernel: given\"; set that, "
                          "or leave the file out");
    if (chorus_learned(s))
        return choose_rank(s, NULL, err);
    if (given)
        status = read_kernel(&s->options, setup->agents, &kernel, &diagonal, err);
    const tacit_graph *graph = given ? &kernel : setup->graph;
    if (status == TACIT_OK)
        status = choose_rank(s, graph, err);
    if (status == TACIT_OK)
        status = make(s, graph, diagonal, err);
    tacit_graph_clear(&kernel);
    free(diagonal);
    return status;
}

/* ---- who leaves ---- */

static bool is_whole(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

static tacit_status note_leave(uint64_t *leaves, uint64_t agents, const char *path,
                               const double *line, tacit_error *err)
{
    if (!is_whole(line[0], 0, (double)agents - 1))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: agent %g does not exist; expected a number from 0 to %llu", path,
                          line[0], (unsigned long long)(agents - 1));
    if (!is_whole(line[1], 1, 1e15))
        return tacit_fail(err, TACIT_EINPUT,
                          "%.300s: agent %g leaves in round %g; rounds are counted from 1", path,
                          line[0], line[1]);
    uint64_t *at = &leaves[(size_t)line[0]];
    if (*at != UINT64_MAX)
        return tacit_fail(err, TACIT_EINPUT, "%.300s: agent %g is listed twice; keep one line",
                          path, line[0]);
    *at = (uint64_t)line[1];
    return TACIT_OK;
}

tacit_status chorus_leavers(chorus_shared *s, uint64_t agents, tacit_error *err)
{
    const char *path = s->options.opt_out;
    tacit_matrix m = {0};
    size_t bytes;
    if (path[0] == '\0')
        return TACIT_OK;
    if (!tacit_mul_size((size_t)agents, sizeof *s->leaves, &bytes) || !(s->leaves = malloc(bytes)))
        return tacit_out_of_memory(err);
    for (uint64_t i = 0; i < agents; i++)
        s->leaves[i] = UINT64_MAX;
    tacit_status status = tacit_matrix_read(&m, path, "agent,round", err);
    if (status == TACIT_OK && m.columns != 2)
        status =
            tacit_fail(err, TACIT_EINPUT, "%.300s: %zu numbers a line; expected \"agent,round\"",
                       path, m.columns);
    for (size_t k = 0; k < m.rows && status == TACIT_OK; k++)
        status = note_leave(s->leaves, agents, path, m.value + 2 * k, err);
    tacit_matrix_clear(&m);
    return status;
}

bool chorus_has_left(const chorus_shared *s, tacit_agent agent, uint64_t round)
{
    return s->leaves && round >= s->leaves[agent];
}
