/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratings to agents: the recommendation task of paper 000, section 5.2. Every user is an agent;
 * a record is an item it rated, x the item's features, y the rating less the user's mean.
 *
 * Order matters, for nothing may be made from ratings that a score is taken on:
 *  1. Each user's ratings are split (split.c): test_fraction for test, then
 *     validation_fraction *of the rest* for validation. Which go to test depends neither on the
 *     validation fraction nor on the other users, so choices made on validation and a last run
 *     without it see the same test set.
 *  2. Means, features and profiles then come from training ratings only. What validation and
 *     test get is the mean of the training ratings and the features made from those.
 *
 * What leaks (slip S6: in the paper this comes from the users' own training ratings, before any
 * noise is added, and nobody is charged for it):
 *  - TACIT_LEAK_FEATURES: items' vectors by alternating least squares over all users;
 *  - TACIT_LEAK_OFFSET: a change of one rating moves the user's mean and so all its labels;
 *  - targets_leak: profiles, for graphs, are the training ratings themselves.
 *
 * The paper compares users by the cosine "between their training ratings": as given (`profile:
 * ratings`), or less the user's mean (`centred`)? docs/studies/movielens.md tries both.
 */
#include "data/ratings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/als.h"
#include "data/bytes.h"
#include "data/dataset.h"
#include "data/split.h"
#include "data/table.h"

enum { PROFILE_RATINGS, PROFILE_CENTRED };

/* What is made on the way. */
typedef struct making {
    const tacit_data_options *options;
    tacit_random random;
    tacit_names known;
    tacit_ratings ratings;
    uint32_t users, items;
    uint8_t *split; /* of each rating */
    uint32_t *counts[TACIT_SPLITS];
    double *mean; /* of each user's training ratings */
    tacit_als als;
    tacit_source source;
} making;

static void making_clear(making *m)
{
    tacit_names_clear(&m->known);
    tacit_ratings_clear(&m->ratings);
    free(m->split);
    for (int split = 0; split < TACIT_SPLITS; split++)
        free(m->counts[split]);
    free(m->mean);
    tacit_als_clear(&m->als);
    tacit_source_clear(&m->source);
    tacit_random_clear(&m->random);
}

/* ---- options ---- */

static tacit_status check(const tacit_data_options *o, tacit_error *err)
{
    const struct {
        bool wrong;
        const char *what;
    } checks[] = {
        {o->factors < 1 || o->factors > 1000, "data.factors must be 1 to 1000"},
        {o->als_sweeps < 1, "data.als-sweeps must be at least 1"},
        {o->positive[0] || o->threshold[0],
         "ratings are numbers to predict; leave data.positive and data.threshold empty"},
        {o->labels_path[0], "ratings hold their labels; leave data.labels-path empty"},
        {o->partition != TACIT_PARTITION_OWN,
         "ratings belong to their users; set data.partition to \"own\""},
        {o->standardise != TACIT_STANDARDISE_NONE,
         "features of ratings are made, not read; set data.standardise to \"none\""},
    };
    for (size_t k = 0; k < sizeof checks / sizeof *checks; k++)
        if (checks[k].wrong)
            return tacit_fail(err, TACIT_EINPUT, "%s", checks[k].what);
    return TACIT_OK;
}

/* The users there are, if the configuration says where they are listed. */
static tacit_status read_known(making *m, tacit_error *err)
{
    const tacit_data_options *o = m->options;
    tacit_bytes text = {0};
    if (!o->agents_path[0])
        return TACIT_OK;
    tacit_status status = tacit_bytes_load(&text, o->agents_path, o->folder, NULL, err);
    if (!status)
        status =
            tacit_ratings_known(&m->known, o->agents_path, tacit_bytes_at(&text), text.len, err);
    tacit_bytes_clear(&text);
    return status;
}

/* ---- splits and means ---- */

static tacit_status claim(making *m, tacit_error *err)
{
    m->users = m->ratings.users.count;
    m->items = m->ratings.items.count;
    m->split = calloc(m->ratings.count, sizeof *m->split);
    m->mean = calloc(m->users, sizeof *m->mean);
    bool enough = m->split && m->mean;
    for (int split = 0; split < TACIT_SPLITS; split++)
        enough &= (m->counts[split] = calloc(m->users, sizeof *m->counts[split])) != NULL;
    return enough ? TACIT_OK : tacit_out_of_memory(err);
}

/* The end of the ratings of the user whose first one is at `begin`. */
static size_t end_of_user(const tacit_ratings *r, size_t begin)
{
    size_t end = begin;
    while (end < r->count && r->rating[end].user == r->rating[begin].user)
        end++;
    return end;
}

static tacit_status split_all(making *m, tacit_error *err)
{
    tacit_data_options o = *m->options;
    const tacit_ratings *r = &m->ratings;
    o.validation_fraction *= 1 - o.test_fraction; /* a share of the rest */
    tacit_status status = tacit_split_check(&o, err);
    for (size_t begin = 0, end; begin < r->count && !status; begin = end) {
        uint32_t user = r->rating[begin].user, counts[TACIT_SPLITS];
        end = end_of_user(r, begin);
        if (end - begin > UINT32_MAX)
            return tacit_fail(err, TACIT_EINPUT,
                              "user \"%.200s\" has more than %" PRIu32 " ratings",
                              tacit_names_get(&r->users, r->user_name[user]), UINT32_MAX);
        tacit_split_deal(m->split + begin, counts, user, (uint32_t)(end - begin), &o, &m->random);
        double sum = 0;
        for (size_t k = begin; k < end; k++)
            sum += m->split[k] == TACIT_TRAIN ? r->rating[k].value : 0;
        m->mean[user] = sum / counts[TACIT_TRAIN];
        for (int split = 0; split < TACIT_SPLITS; split++)
            m->counts[split][user] = counts[split];
    }
    return status;
}

static double centred(const making *m, size_t k)
{
    const tacit_rating *rating = &m->ratings.rating[k];
    return rating->value - m->mean[rating->user];
}

/* ---- features ---- */

static tacit_status create_als(making *m, tacit_error *err)
{
    const tacit_ratings *r = &m->ratings;
    size_t n = 0;
    uint32_t *user = calloc(r->count, sizeof *user), *item = calloc(r->count, sizeof *item);
    double *value = calloc(r->count, sizeof *value);
    tacit_status status = TACIT_OK;
    if (!user || !item || !value)
        status = tacit_out_of_memory(err);
    for (size_t k = 0; k < r->count && !status; k++) {
        if (m->split[k] != TACIT_TRAIN)
            continue;
        user[n] = r->rating[k].user;
        item[n] = r->rating[k].item;
        value[n++] = centred(m, k);
    }
    if (!status)
        status = tacit_als_create(&m->als, m->users, m->items, (size_t)m->options->factors,
                                  m->options->als_lambda, n, user, item, value, err);
    free(user);
    free(item);
    free(value);
    return status;
}

static tacit_status make_features(making *m, tacit_error *err)
{
    tacit_status status = create_als(m, err);
    if (!status)
        tacit_als_start(&m->als, &m->random);
    for (int64_t sweep = 0; sweep < m->options->als_sweeps && !status; sweep++)
        status = tacit_als_sweep(&m->als, err);
    return status;
}

/* ---- profiles ---- */

/* Compressed rows; ratings are sorted by user and item already. */
static tacit_status make_profiles(making *m, tacit_error *err)
{
    tacit_targets *t = &m->source.targets;
    const tacit_ratings *r = &m->ratings;
    t->row = calloc((size_t)m->users + 1, sizeof *t->row);
    t->column = calloc(m->als.ratings + 1, sizeof *t->column);
    t->value = calloc(m->als.ratings + 1, sizeof *t->value);
    if (!t->row || !t->column || !t->value)
        return tacit_out_of_memory(err);
    t->dimension = m->items;
    uint64_t n = 0;
    for (size_t k = 0; k < r->count; k++) {
        if (m->split[k] != TACIT_TRAIN)
            continue;
        t->column[n] = r->rating[k].item;
        t->value[n++] = m->options->profile == PROFILE_CENTRED ? centred(m, k) : r->rating[k].value;
        t->row[r->rating[k].user + 1]++;
    }
    for (uint32_t user = 0; user < m->users; user++)
        t->row[user + 1] += t->row[user];
    m->source.targets_leak = true;
    return TACIT_OK;
}

/* ---- records ---- */

static tacit_status put_ratings(making *m, double *x, tacit_scalar scalar, tacit_error *err)
{
    const tacit_ratings *r = &m->ratings;
    size_t p = m->als.factors, features = p + m->options->bias;
    size_t row[TACIT_SPLITS] = {0};
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < r->count && !status; k++) {
        const tacit_rating *rating = &r->rating[k];
        if (k == 0 || rating->user != rating[-1].user)
            memset(row, 0, sizeof row);
        memcpy(x, m->als.item.vector + rating->item * p, p * sizeof *x);
        if (m->options->bias)
            x[p] = 1;
        tacit_bound_row(x, features, (tacit_bound)m->options->bound, scalar);
        status = tacit_dataset_put(m->source.data, rating->user, (tacit_split)m->split[k],
                                   row[m->split[k]]++, x, centred(m, k), err);
    }
    return status;
}

static tacit_status make_records(making *m, tacit_scalar scalar, tacit_error *err)
{
    size_t features = (size_t)m->options->factors + m->options->bias;
    const uint32_t *const counts[] = {m->counts[0], m->counts[1], m->counts[2]};
    double *x = calloc(features, sizeof *x);
    tacit_status status = x ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = tacit_dataset_create_in(&m->source.data, tacit_data_scratch(m->options), m->users,
                                         features, scalar, counts, err);
    if (!status)
        status = put_ratings(m, x, scalar, err);
    free(x);
    for (uint32_t user = 0; user < m->users && !status; user++) {
        const char *name = tacit_names_get(&m->ratings.users, m->ratings.user_name[user]);
        status = tacit_dataset_set_name(m->source.data, user, name, err);
    }
    m->source.leaks = TACIT_LEAK_FEATURES | TACIT_LEAK_OFFSET;
    return status;
}

tacit_status tacit_data_ratings(tacit_source *out, const tacit_data_options *options,
                                const char *name, const char *bytes, size_t len,
                                tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    making m = {.options = options};
    tacit_status status;
    *out = (tacit_source){0};
    tacit_random_init(&m.random, seed);
    if ((status = check(options, err)) || (status = read_known(&m, err)) ||
        (status = tacit_ratings_read(&m.ratings, &m.known, name, bytes, len, err)))
        goto out;
    /* Refuse what would not fit before hours are spent on features. */
    size_t features = (size_t)options->factors + options->bias;
    if ((status = tacit_dataset_check_size(m.ratings.users.count, m.ratings.count, features, scalar,
                                           err)) ||
        (status = claim(&m, err)) || (status = split_all(&m, err)) ||
        (status = make_features(&m, err)) || (status = make_profiles(&m, err)) ||
        (status = make_records(&m, scalar, err)))
        goto out;
    *out = m.source;
    m.source = (tacit_source){0};
out:
    making_clear(&m);
    return status;
}
