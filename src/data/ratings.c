/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ratings to agents: the recommendation task of paper 000, section 5.2. Every user is an agent,
 * but for those who are public; a record is an item it rated, x the item's features, y the rating
 * less an offset.
 *
 * Order matters, for nothing may be made from ratings that a score is taken on:
 *  1. Public users are drawn (ratings_public.c): no agents, all their ratings are everybody's.
 *  2. Each other user's ratings are split (split.c): test_fraction for test, then
 *     validation_fraction *of the rest* for validation. Which go to test depends neither on the
 *     validation fraction nor on the other users, so choices made on validation and a last run
 *     without it see the same test set.
 *  3. Means, features and profiles then come from training ratings, from public users or from
 *     files (ratings_features.c). What validation and test get is made of the same.
 *
 * What leaks (slip S6: in the paper this comes from the users' own training ratings, before any
 * noise is added, and nobody is charged for it):
 *  - TACIT_LEAK_FEATURES: items' vectors by alternating least squares over all users;
 *  - TACIT_LEAK_OFFSET: a change of one rating moves the user's mean (`offset: user`), or that of
 *    all (`global`), and with it all labels it is subtracted from;
 *  - targets_leak: profiles, for graphs, that are the training ratings themselves.
 * Nothing leaks with features from items' files or public users, an offset that is a constant or
 * comes from public users, and profiles from users' files. A user's own level is then for its
 * own model to learn: a bias does it.
 *
 * The paper compares users by the cosine "between their training ratings": as given (`profile:
 * ratings`), or less the user's mean (`centred`)? docs/studies/movielens.md tries both.
 */
#include "data/ratings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "data/bytes.h"
#include "data/dataset.h"
#include "data/ratings_make.h"
#include "data/split.h"
#include "data/table.h"

static void making_clear(tacit_making *m)
{
    tacit_names_clear(&m->known);
    tacit_ratings_clear(&m->ratings);
    tacit_attributes_clear(&m->item_facts);
    tacit_attributes_clear(&m->user_facts);
    free(m->agent);
    free(m->split);
    for (int split = 0; split < TACIT_SPLITS; split++)
        free(m->counts[split]);
    free(m->mean);
    free(m->public);
    free(m->public_item);
    free(m->effect);
    free(m->feature);
    tacit_source_clear(&m->source);
    tacit_random_clear(&m->random);
}

/* ---- options ---- */

typedef struct check {
    bool wrong;
    const char *what;
} check;

static tacit_status check_all(const check *checks, size_t count, tacit_error *err)
{
    for (size_t k = 0; k < count; k++)
        if (checks[k].wrong)
            return tacit_fail(err, TACIT_EINPUT, "%s", checks[k].what);
    return TACIT_OK;
}

static tacit_status check_table(const tacit_data_options *o, tacit_error *err)
{
    const check checks[] = {
        {o->factors < 1 || o->factors > 1000, "data.factors must be 1 to 1000"},
        {o->als_sweeps < 1, "data.als-sweeps must be at least 1"},
        {o->positive[0] || o->threshold[0] || o->classes[0],
         "ratings are numbers to predict; leave data.positive, data.threshold and data.classes "
         "empty"},
        {o->labels_path[0], "ratings hold their labels; leave data.labels-path empty"},
        {o->partition != TACIT_PARTITION_OWN,
         "ratings belong to their users; set data.partition to \"own\""},
        {o->without != 0, "every user of ratings has some; set data.without to 0"},
        {o->standardise != TACIT_STANDARDISE_NONE,
         "features of ratings are made, not read; set data.standardise to \"none\""},
    };
    return check_all(checks, sizeof checks / sizeof *checks, err);
}

static tacit_status check_sources(const tacit_data_options *o, tacit_error *err)
{
    const bool reads = o->features == FEATURES_ITEMS || o->features == FEATURES_BOTH;
    const bool public = o->features == FEATURES_PUBLIC || o->features == FEATURES_BOTH ||
                        o->offset == OFFSET_PUBLIC || o->offset == OFFSET_PUBLIC_ITEMS;
    const check checks[] = {
        {reads && !o->items[0],
         "data.features takes facts about items; say which file in data.items"},
        {!reads && o->items[0],
         "data.items is given but not used; set data.features to \"items\" or \"both\""},
        {o->profile == PROFILE_USERS && !o->users[0],
         "data.profile \"users\" compares facts about users; say which file in data.users"},
        {o->profile != PROFILE_USERS && o->users[0],
         "data.users is given but not used; set data.profile to \"users\""},
        {public && !(o->public_users > 0),
         "data.features or data.offset takes public users' ratings, but data.public-users is 0"},
        {o->features == FEATURES_ALS && o->public_users > 0,
         "features \"als\" are made of everybody's ratings; set data.features to \"als-public\", "
         "or data.public-users to 0"},
        {!o->bias && o->bias_scale != 1 && o->bias_scale != 0,
         "data.bias-scale is given, but there is no bias; set data.bias to true"},
        {o->features == FEATURES_ALS && o->whiten,
         "data.whiten takes moments of public features, but features \"als\" are made of "
         "everybody's "
         "ratings; leave it out, or set data.features to another source"},
    };
    return check_all(checks, sizeof checks / sizeof *checks, err);
}

/* The users there are, if the configuration says where they are listed. */
static tacit_status read_known(tacit_making *m, tacit_error *err)
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

static tacit_status claim(tacit_making *m, tacit_error *err)
{
    m->users = m->ratings.users.count;
    m->items = m->ratings.items.count;
    m->agent = calloc(m->users, sizeof *m->agent);
    m->split = calloc(m->ratings.count, sizeof *m->split);
    m->mean = calloc(m->users, sizeof *m->mean);
    bool enough = m->agent && m->split && m->mean;
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

/* The ratings begin to end - 1 of an agent: where they go, and the mean of those to train on. */
static tacit_status split_user(tacit_making *m, const tacit_data_options *o, size_t begin,
                               size_t end, tacit_error *err)
{
    const tacit_ratings *r = &m->ratings;
    uint32_t user = r->rating[begin].user, counts[TACIT_SPLITS];
    if (end - begin > UINT32_MAX)
        return tacit_fail(err, TACIT_EINPUT, "user \"%.200s\" has more than %" PRIu32 " ratings",
                          tacit_making_user(m, user), UINT32_MAX);
    tacit_split_deal(m->split + begin, counts, user, (uint32_t)(end - begin), o, &m->random);
    double sum = 0;
    for (size_t k = begin; k < end; k++)
        sum += m->split[k] == TACIT_TRAIN ? r->rating[k].value : 0;
    m->mean[user] = sum / counts[TACIT_TRAIN];
    m->trained += counts[TACIT_TRAIN];
    for (int split = 0; split < TACIT_SPLITS; split++)
        m->counts[split][m->agent[user]] = counts[split];
    return TACIT_OK;
}

static tacit_status split_all(tacit_making *m, tacit_error *err)
{
    tacit_data_options o = *m->options;
    const tacit_ratings *r = &m->ratings;
    o.validation_fraction *= 1 - o.test_fraction; /* a share of the rest */
    tacit_status status = tacit_split_check(&o, err);
    for (size_t begin = 0, end; begin < r->count && !status; begin = end) {
        end = end_of_user(r, begin);
        if (m->agent[r->rating[begin].user] != TACIT_PUBLIC_USER)
            status = split_user(m, &o, begin, end, err);
    }
    return status;
}

/* ---- offsets ---- */

static bool is_trained_on(const tacit_making *m, size_t k)
{
    return m->split[k] == TACIT_TRAIN && m->agent[m->ratings.rating[k].user] != TACIT_PUBLIC_USER;
}

static void find_offset(tacit_making *m)
{
    double sum = 0;
    for (size_t k = 0; k < m->ratings.count; k++)
        sum += is_trained_on(m, k) ? m->ratings.rating[k].value : 0;
    switch (m->options->offset) {
    case OFFSET_CONSTANT:
        m->constant = m->options->offset_value;
        break;
    case OFFSET_PUBLIC:
    case OFFSET_PUBLIC_ITEMS:
        m->constant = m->public_mean;
        break;
    case OFFSET_GLOBAL:
        m->constant = m->trained ? sum / (double)m->trained : 0;
        m->source.leaks |= TACIT_LEAK_OFFSET;
        break;
    default:
        m->source.leaks |= TACIT_LEAK_OFFSET;
    }
}

static double label(const tacit_making *m, size_t k)
{
    const tacit_rating *rating = &m->ratings.rating[k];
    if (m->options->offset == OFFSET_USER)
        return tacit_making_centred(m, k);
    double y = rating->value - m->constant;
    if (m->options->offset == OFFSET_PUBLIC_ITEMS && m->public_item[rating->item] != UINT32_MAX)
        y -= m->effect[m->public_item[rating->item]];
    return y;
}

/* ---- records ---- */

static void make_row(const tacit_making *m, uint32_t item, tacit_scalar scalar, double *x)
{
    size_t p = m->features;
    memcpy(x, m->feature + item * p, p * sizeof *x);
    if (m->options->bias)
        x[p] = m->constant_feature;
    tacit_bound_row(x, p + m->options->bias, (tacit_bound)m->options->bound, scalar);
}

static tacit_status put_ratings(tacit_making *m, double *x, tacit_scalar scalar, tacit_error *err)
{
    const tacit_ratings *r = &m->ratings;
    size_t row[TACIT_SPLITS] = {0};
    tacit_status status = TACIT_OK;
    for (size_t k = 0; k < r->count && !status; k++) {
        const tacit_rating *rating = &r->rating[k];
        uint32_t agent = m->agent[rating->user];
        if (k == 0 || rating->user != rating[-1].user)
            memset(row, 0, sizeof row);
        if (agent == TACIT_PUBLIC_USER)
            continue;
        make_row(m, rating->item, scalar, x);
        status = tacit_dataset_put(m->source.data, agent, (tacit_split)m->split[k],
                                   row[m->split[k]]++, x, label(m, k), err);
    }
    return status;
}

static tacit_status make_records(tacit_making *m, tacit_scalar scalar, tacit_error *err)
{
    size_t features = m->features + m->options->bias;
    const uint32_t *const counts[] = {m->counts[0], m->counts[1], m->counts[2]};
    double *x = calloc(features, sizeof *x);
    tacit_status status = x ? TACIT_OK : tacit_out_of_memory(err);
    if (!status)
        status = tacit_dataset_create_in(&m->source.data, tacit_data_scratch(m->options), m->agents,
                                         features, scalar, counts, err);
    if (!status)
        status = put_ratings(m, x, scalar, err);
    free(x);
    for (uint32_t user = 0; user < m->users && !status; user++)
        if (m->agent[user] != TACIT_PUBLIC_USER)
            status = tacit_dataset_set_name(m->source.data, m->agent[user],
                                            tacit_making_user(m, user), err);
    return status;
}

/* What depends on files only; then refuse what would not fit before hours are spent on features. */
static tacit_status prepare(tacit_making *m, tacit_scalar scalar, tacit_error *err)
{
    tacit_status status = claim(m, err);
    if (!status)
        status = tacit_making_draw(m, err);
    if (!status)
        status = tacit_making_facts(m, err);
    return status ? status
                  : tacit_dataset_check_size(m->agents, m->ratings.count,
                                             m->features + m->options->bias, scalar, err);
}

tacit_status tacit_data_ratings(tacit_source *out, const tacit_data_options *options,
                                const char *name, const char *bytes, size_t len,
                                tacit_scalar scalar, uint64_t seed, tacit_error *err)
{
    tacit_making m = {.options = options};
    tacit_status status;
    *out = (tacit_source){0};
    tacit_random_init(&m.random, seed);
    if ((status = check_table(options, err)) || (status = check_sources(options, err)) ||
        (status = read_known(&m, err)) ||
        (status = tacit_ratings_read(&m.ratings, &m.known, name, bytes, len, err)) ||
        (status = prepare(&m, scalar, err)) || (status = split_all(&m, err)) ||
        (status = tacit_making_public(&m, err)))
        goto out;
    find_offset(&m);
    if ((status = tacit_making_features(&m, err)) || (status = tacit_making_whiten(&m, err)) ||
        (status = tacit_making_profiles(&m, err)) || (status = make_records(&m, scalar, err)))
        goto out;
    if (!options->agents_path[0])
        m.source.leaks_number |= TACIT_LEAK_AGENTS;
    if (options->test_fraction > 0 || options->validation_fraction > 0)
        m.source.leaks_number |= TACIT_LEAK_SPLIT;
    *out = m.source;
    m.source = (tacit_source){0};
out:
    making_clear(&m);
    return status;
}
