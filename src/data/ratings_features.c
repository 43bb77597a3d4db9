/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features of items and profiles of users, each from where data.features and data.profile say:
 *
 *     als          alternating least squares over all agents' training ratings: leaks (slip S6)
 *     als-public   the same over public users' ratings only; items they did not rate have zeros
 *     items        facts from a file that everybody has (attributes.h)
 *     both         those of als-public, then those of the file
 *
 * With `offset: public-items` the labels of others come without the items' public effects, so
 * these are removed before als-public, too.
 *
 * Public factors are turned so that a model has weights of one size: with P the mean of p_u p_u^T
 * over public users and P = L L^T, item i gets L^T q_i. The products p_u . q_i stay what they are
 * for weights L^-1 p_u, whose second moments are the identity. A ridge then shrinks directions
 * in which tastes differ as much as they deserve, instead of by how als.c happened to scale them.
 *
 * Profiles from a file of users: age, gender, occupation. Who uses this says that profiles are
 * public; nothing checks that people agreed.
 */
#include "data/ratings_make.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/bytes.h"

/* ---- facts ---- */

static tacit_status read_facts(tacit_attributes *out, const tacit_making *m, const char *path,
                               const char *what, const tacit_names *known, tacit_error *err)
{
    tacit_bytes text = {0};
    tacit_status status = tacit_bytes_load(&text, path, m->options->folder, NULL, err);
    if (!status)
        status =
            tacit_attributes_read(out, known, what, path, tacit_bytes_at(&text), text.len, err);
    tacit_bytes_clear(&text);
    return status;
}

/* Every rated item must be there: one that is not would be left to chance. */
static tacit_status all_items_known(const tacit_making *m, tacit_error *err)
{
    uint32_t missing = 0, example = 0;
    for (uint32_t item = m->items; item-- > 0;)
        if (!tacit_attributes_find(&m->item_facts, tacit_making_item(m, item))) {
            missing++;
            example = item;
        }
    if (missing == 0)
        return TACIT_OK;
    uint64_t line = UINT64_MAX;
    for (size_t k = 0; k < m->ratings.count; k++)
        if (m->ratings.rating[k].item == example && m->ratings.rating[k].line < line)
            line = m->ratings.rating[k].line;
    return tacit_fail(err, TACIT_EINPUT,
                      "%.200s:%" PRIu64
                      ": item \"%.100s\" is not in data.items \"%.200s\" (nor %" PRIu32
                      " more); add what is missing there, or remove the ratings",
                      m->options->path[0] ? m->options->path : "ratings", line,
                      tacit_making_item(m, example), m->options->items, missing - 1);
}

static tacit_status all_users_known(const tacit_making *m, tacit_error *err)
{
    for (uint32_t user = 0; user < m->users; user++)
        if (m->agent[user] != TACIT_PUBLIC_USER &&
            !tacit_attributes_find(&m->user_facts, tacit_making_user(m, user)))
            return tacit_fail(
                err, TACIT_EINPUT,
                "user \"%.100s\" has ratings but is not in data.users \"%.200s\"; add "
                "it there, or choose another data.profile",
                tacit_making_user(m, user), m->options->users);
    return TACIT_OK;
}

tacit_status tacit_making_facts(tacit_making *m, tacit_error *err)
{
    const tacit_data_options *o = m->options;
    tacit_status status = TACIT_OK;
    if (o->features == FEATURES_ITEMS || o->features == FEATURES_BOTH) {
        status = read_facts(&m->item_facts, m, o->items, "item", &m->ratings.items, err);
        if (!status)
            status = all_items_known(m, err);
    }
    if (!status && o->profile == PROFILE_USERS) {
        status = read_facts(&m->user_facts, m, o->users, "user", &m->ratings.users, err);
        if (!status)
            status = all_users_known(m, err);
    }
    m->features = o->features == FEATURES_ITEMS ? 0 : (size_t)o->factors;
    m->features += m->item_facts.features;
    return status;
}

/* ---- factors ---- */

static size_t feed_agents(const tacit_making *m, uint32_t *user, uint32_t *item, double *value)
{
    size_t n = 0;
    for (size_t k = 0; k < m->ratings.count; k++) {
        const tacit_rating *r = &m->ratings.rating[k];
        if (m->split[k] != TACIT_TRAIN || m->agent[r->user] == TACIT_PUBLIC_USER)
            continue;
        user[n] = r->user;
        item[n] = r->item;
        value[n++] = tacit_making_centred(m, k);
    }
    return n;
}

static size_t feed_public(const tacit_making *m, uint32_t *user, uint32_t *item, double *value)
{
    bool effects = m->options->offset == OFFSET_PUBLIC_ITEMS;
    for (size_t k = 0; k < m->publics; k++) {
        user[k] = m->public[k].user;
        item[k] = m->public[k].item;
        value[k] = m->public[k].value - (effects ? m->effect[item[k]] : 0);
    }
    return m->publics;
}

static tacit_status run_als(tacit_als *als, tacit_making *m, bool public, tacit_error *err)
{
    const tacit_data_options *o = m->options;
    size_t room = m->ratings.count;
    uint32_t *user = calloc(room, sizeof *user), *item = calloc(room, sizeof *item);
    double *value = calloc(room, sizeof *value);
    tacit_status status = user && item && value ? TACIT_OK : tacit_out_of_memory(err);
    if (!status) {
        size_t n = public ? feed_public(m, user, item, value) : feed_agents(m, user, item, value);
        status = tacit_als_create(als, m->users, public ? (uint32_t)m->public_items : m->items,
                                  (size_t)o->factors, o->als_lambda, n, user, item, value, err);
    }
    free(user);
    free(item);
    free(value);
    if (!status)
        tacit_als_start(als, &m->random);
    for (int64_t sweep = 0; sweep < o->als_sweeps && !status; sweep++)
        status = tacit_als_sweep(als, err);
    return status;
}

/* Lower triangle of P, as above, over users with ratings; then of L, in place. A hair is added to
 * the diagonal: with few users P may be singular. */
static void factor_moments(const tacit_als *als, double *moment)
{
    size_t p = als->factors;
    double users = 0, trace = 0;
    for (uint32_t u = 0; u < als->user.count; u++) {
        const double *v = als->user.vector + (size_t)u * p;
        users += als->user.first[u] < als->user.first[u + 1];
        for (size_t i = 0; i < p; i++)
            for (size_t j = 0; j <= i; j++)
                moment[i * p + j] += v[i] * v[j];
    }
    for (size_t i = 0; i < p; i++)
        trace += moment[i * p + i];
    for (size_t i = 0; i < p; i++) {
        moment[i * p + i] += 1e-6 * trace / (double)p + 1e-300;
        for (size_t j = 0; j <= i; j++) {
            double sum = moment[i * p + j] / users;
            for (size_t k = 0; k < j; k++)
                sum -= moment[i * p + k] * moment[j * p + k];
            moment[i * p + j] = i == j ? sqrt(fmax(sum, 0)) : sum / fmax(moment[j * p + j], 1e-150);
        }
    }
}

static tacit_status turn_factors(tacit_als *als, tacit_error *err)
{
    size_t p = als->factors;
    double *lower = calloc(p * p, sizeof *lower); /* p is at most 1000 */
    if (!lower)
        return tacit_out_of_memory(err);
    factor_moments(als, lower);
    for (uint32_t item = 0; item < als->item.count; item++) {
        double *q = als->item.vector + (size_t)item * p;
        for (size_t j = 0; j < p; j++) { /* L^T q in place: q_j needs q_j and later ones */
            double sum = 0;
            for (size_t i = j; i < p; i++)
                sum += lower[i * p + j] * q[i];
            q[j] = sum;
        }
    }
    free(lower);
    return TACIT_OK;
}

static void copy_factors(tacit_making *m, const tacit_als *als, bool public)
{
    size_t p = als->factors;
    for (uint32_t item = 0; item < m->items; item++) {
        uint32_t from = public ? m->public_item[item] : item;
        if (from != UINT32_MAX)
            memcpy(m->feature + (size_t)item * m->features, als->item.vector + (size_t)from * p,
                   p * sizeof *als->item.vector);
    }
}

tacit_status tacit_making_features(tacit_making *m, tacit_error *err)
{
    const int how = m->options->features;
    size_t numbers, facts = m->item_facts.features;
    if (!tacit_mul_size(m->items, m->features, &numbers) ||
        !(m->feature = calloc(numbers + 1, sizeof *m->feature)))
        return tacit_out_of_memory(err);
    for (uint32_t item = 0; item < m->items && facts > 0; item++) {
        const double *fact = tacit_attributes_find(&m->item_facts, tacit_making_item(m, item));
        double *to = m->feature + ((size_t)item + 1) * m->features - facts;
        for (size_t f = 0; f < facts; f++)
            to[f] = m->options->facts_scale * fact[f];
    }
    if (how == FEATURES_ITEMS)
        return TACIT_OK;
    tacit_als als = {0};
    bool public = how != FEATURES_ALS;
    tacit_status status = run_als(&als, m, public, err);
    if (!status && public)
        status = turn_factors(&als, err);
    if (!status)
        copy_factors(m, &als, public);
    tacit_als_clear(&als);
    if (!public)
        m->source.leaks |= TACIT_LEAK_FEATURES;
    return status;
}

/* ---- profiles ---- */

/* Compressed rows; ratings are sorted by user and item already. */
static tacit_status profiles_of_ratings(tacit_making *m, tacit_error *err)
{
    tacit_targets *t = &m->source.targets;
    const tacit_ratings *r = &m->ratings;
    t->row = calloc((size_t)m->agents + 1, sizeof *t->row);
    t->column = calloc(m->trained + 1, sizeof *t->column);
    t->value = calloc(m->trained + 1, sizeof *t->value);
    if (!t->row || !t->column || !t->value)
        return tacit_out_of_memory(err);
    t->dimension = m->items;
    uint64_t n = 0;
    for (size_t k = 0; k < r->count; k++) {
        uint32_t agent = m->agent[r->rating[k].user];
        if (m->split[k] != TACIT_TRAIN || agent == TACIT_PUBLIC_USER)
            continue;
        t->column[n] = r->rating[k].item;
        t->value[n++] = m->options->profile == PROFILE_CENTRED ? tacit_making_centred(m, k)
                                                               : r->rating[k].value;
        t->row[agent + 1]++;
    }
    for (uint32_t agent = 0; agent < m->agents; agent++)
        t->row[agent + 1] += t->row[agent];
    m->source.targets_leak = true;
    return TACIT_OK;
}

static tacit_status profiles_of_users(tacit_making *m, tacit_error *err)
{
    tacit_targets *t = &m->source.targets;
    size_t numbers, dimension = m->user_facts.features;
    if (!tacit_mul_size(m->agents, dimension, &numbers) ||
        !(t->dense = calloc(numbers, sizeof *t->dense)))
        return tacit_out_of_memory(err);
    t->dimension = dimension;
    for (uint32_t user = 0; user < m->users; user++)
        if (m->agent[user] != TACIT_PUBLIC_USER)
            memcpy(t->dense + m->agent[user] * dimension,
                   tacit_attributes_find(&m->user_facts, tacit_making_user(m, user)),
                   dimension * sizeof *t->dense);
    return TACIT_OK;
}

tacit_status tacit_making_profiles(tacit_making *m, tacit_error *err)
{
    switch (m->options->profile) {
    case PROFILE_NONE:
        return TACIT_OK;
    case PROFILE_USERS:
        return profiles_of_users(m, err);
    default:
        return profiles_of_ratings(m, err);
    }
}
