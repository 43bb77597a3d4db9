/* SPDX-License-Identifier: Apache-2.0 */
/* From the words that all agents said of themselves to columns: nothing here but arithmetic on
 * public numbers, done once for all agents of a process. */
#include <stdlib.h>

#include "protocol/chorus.h"

tacit_status chorus_book_open(chorus_shared *s, tacit_error *err)
{
    chorus_book *book = calloc(1, sizeof *book);
    if (!book || pthread_mutex_init(&book->lock, NULL)) {
        free(book);
        return tacit_out_of_memory(err);
    }
    s->book = book;
    book->column = calloc((size_t)s->agents * s->rank, sizeof *book->column);
    return book->column ? TACIT_OK : tacit_out_of_memory(err);
}

void chorus_book_close(chorus_shared *s)
{
    if (!s->book)
        return;
    pthread_mutex_destroy(&s->book->lock);
    free(s->book->column);
    free(s->book);
}

/* A row an agent; of zeros, whom nobody is near, if it did not speak. */
static tacit_status near_whom(const chorus_shared *s, const chorus_learning *l, tacit_graph *graph,
                              tacit_error *err)
{
    const size_t n = s->agents, p = s->features;
    tacit_targets rows = {.dimension = p};
    size_t numbers;
    if (!tacit_mul_size(n, p, &numbers) || !(rows.dense = calloc(numbers, sizeof *rows.dense)))
        return tacit_out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; l->word[i] && k < p; k++)
            rows.dense[i * p + k] = (double)tacit_public_get_int(l->word[i], 0, k);
    const tacit_status status =
        tacit_graph_nearest(graph, (uint32_t)n, &rows, (uint32_t)s->options.kernel_neighbours, err);
    free(rows.dense);
    return status;
}

/* An eigenvector and its opposite are as good, and machines may differ in which one they find. */
static void settle_signs(const chorus_shared *s, double *column)
{
    for (size_t k = 0; k < s->rank; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < s->agents; i++) /* no mode has this shape */
            sum += column[i * s->rank + k] * (1 + (i * UINT32_C(2654435769)) * 0x1p-32);
        for (size_t i = 0; i < s->agents && sum < 0; i++)
            column[i * s->rank + k] = -column[i * s->rank + k];
    }
}

static tacit_status make_columns(const chorus_shared *s, const chorus_learning *l, double *column,
                                 tacit_error *err)
{
    tacit_graph graph = {0};
    tacit_status status = near_whom(s, l, &graph, err);
    if (status == TACIT_OK)
        status = chorus_basis(s, &graph, NULL, column, err);
    if (status == TACIT_OK)
        settle_signs(s, column);
    tacit_graph_clear(&graph);
    return status;
}

tacit_status chorus_book_find(tacit_env *env, const chorus_shared *s, chorus_agent *self)
{
    if (self->phase != CHORUS_SETTLED)
        return TACIT_OK;
    chorus_learning *l = chorus_learning_of(s, self);
    const tacit_agent agent = tacit_facts_of(env)->self;
    const uint64_t own = chorus_prints(s, l)[agent];
    chorus_book *book = s->book;
    tacit_status status = TACIT_OK;
    pthread_mutex_lock(&book->lock);
    if (book->print == 0)
        status = make_columns(s, l, book->column, tacit_own_error(env));
    if (status == TACIT_OK && book->print == 0)
        book->print = own;
    if (status == TACIT_OK && book->print == own)
        self->column = book->column + (size_t)agent * s->rank;
    else /* others lied about their prints to one of two agents of this process */
        self->phase = CHORUS_APART;
    pthread_mutex_unlock(&book->lock);
    return status;
}
