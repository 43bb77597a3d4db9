/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Users who gave their ratings to everybody: they are no agents, nothing is scored on them, and
 * features, offsets and means of items may be made of all their ratings without anybody else
 * being charged. That holds only if *nothing* of the rest gets in. The readers number items by
 * what stands in the whole file, so here
 *  - items are numbered anew, by name, among those that public users rated: the draw of an item's
 *    first vector (als.c) is then the same whatever others rated;
 *  - ratings are sorted by that number: sums are added up in an order of their own.
 * Who the users are, and how many ratings each has, is public (adjacency `replace`), and the
 * draw depends on nothing else.
 */
#include "data/ratings_make.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/shares.h"

/* ---- who ---- */

tacit_status tacit_making_draw(tacit_making *m, tacit_error *err)
{
    double share = m->options->public_users;
    uint32_t count = (uint32_t)floor(share * m->users + 0.5);
    if (share > 0 && (count == 0 || count == m->users))
        return tacit_fail(err, TACIT_EINPUT,
                          "data.public-users is \"%g\": of %" PRIu32 " users that makes %" PRIu32
                          " public, but there must be at least one, and one agent beside",
                          share, m->users, count);
    uint32_t *order = calloc(m->users, sizeof *order);
    if (!order)
        return tacit_out_of_memory(err);
    for (uint32_t user = 0; user < m->users; user++)
        order[user] = user;
    if (count > 0)
        tacit_deal_shuffle(order, m->users, &m->random, TACIT_DRAW_PUBLIC);
    for (uint32_t k = 0; k < count; k++)
        m->agent[order[k]] = TACIT_PUBLIC_USER;
    free(order);
    for (uint32_t user = 0; user < m->users; user++)
        if (m->agent[user] != TACIT_PUBLIC_USER)
            m->agent[user] = m->agents++;
    return TACIT_OK;
}

/* ---- what they rated ---- */

typedef struct named {
    const char *name;
    uint32_t item;
} named;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const named *)a)->name, ((const named *)b)->name);
}

static int by_user_and_item(const void *a, const void *b)
{
    const tacit_public_rating *x = a, *y = b;
    if (x->user != y->user)
        return x->user < y->user ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static bool is_public(const tacit_making *m, size_t k)
{
    return m->agent[m->ratings.rating[k].user] == TACIT_PUBLIC_USER;
}

static tacit_status number_items(tacit_making *m, tacit_error *err)
{
    m->public_item = malloc(m->items * sizeof *m->public_item);
    named *list = calloc(m->items, sizeof *list);
    if (!m->public_item || !list) {
        free(list);
        return tacit_out_of_memory(err);
    }
    memset(m->public_item, 0xff, m->items * sizeof *m->public_item);
    for (size_t k = 0; k < m->ratings.count; k++) {
        uint32_t item = m->ratings.rating[k].item;
        if (!is_public(m, k) || m->public_item[item] != UINT32_MAX)
            continue;
        m->public_item[item] = 0;
        list[m->public_items++] = (named){tacit_making_item(m, item), item};
    }
    qsort(list, m->public_items, sizeof *list, by_name);
    for (size_t k = 0; k < m->public_items; k++)
        m->public_item[list[k].item] = (uint32_t)k;
    free(list);
    return TACIT_OK;
}

/* Values as given; sorted. */
static tacit_status collect(tacit_making *m, tacit_error *err)
{
    for (size_t k = 0; k < m->ratings.count; k++)
        m->publics += is_public(m, k);
    if (!(m->public = calloc(m->publics + 1, sizeof *m->public)))
        return tacit_out_of_memory(err);
    size_t n = 0;
    for (size_t k = 0; k < m->ratings.count; k++) {
        const tacit_rating *r = &m->ratings.rating[k];
        if (is_public(m, k))
            m->public[n++] = (tacit_public_rating){r->user, m->public_item[r->item], r->value};
    }
    qsort(m->public, n, sizeof *m->public, by_user_and_item);
    return TACIT_OK;
}

/* ---- means ---- */

/* Values become differences from their user's mean. */
static void centre(tacit_making *m)
{
    double all = 0;
    for (size_t begin = 0, end; begin < m->publics; begin = end) {
        double sum = 0;
        for (end = begin; end < m->publics && m->public[end].user == m->public[begin].user; end++)
            sum += m->public[end].value;
        all += sum;
        double mean = sum / (double)(end - begin);
        m->mean[m->public[begin].user] = mean;
        for (size_t k = begin; k < end; k++)
            m->public[k].value -= mean;
    }
    m->public_mean = all / (double)m->publics;
}

/* effect_i = sum of differences / (n_i + shrinkage): few ratings say little. */
static tacit_status find_effects(tacit_making *m, tacit_error *err)
{
    double *count = calloc(m->public_items, sizeof *count);
    m->effect = calloc(m->public_items, sizeof *m->effect);
    if (!count || !m->effect) {
        free(count);
        return tacit_out_of_memory(err);
    }
    for (size_t k = 0; k < m->publics; k++) {
        m->effect[m->public[k].item] += m->public[k].value;
        count[m->public[k].item]++;
    }
    for (size_t k = 0; k < m->public_items; k++)
        m->effect[k] /= count[k] + m->options->shrinkage;
    free(count);
    return TACIT_OK;
}

tacit_status tacit_making_public(tacit_making *m, tacit_error *err)
{
    tacit_status status;
    if (m->agents == m->users)
        return TACIT_OK;
    if ((status = number_items(m, err)) || (status = collect(m, err)))
        return status;
    if (m->publics == 0)
        return tacit_fail(err, TACIT_EINPUT,
                          "the public users have no rating; raise data.public-users or choose "
                          "another run.seed");
    centre(m);
    return find_effects(m, err);
}
