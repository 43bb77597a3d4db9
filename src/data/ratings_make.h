/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TACIT_DATA_RATINGS_MAKE_H
#define TACIT_DATA_RATINGS_MAKE_H
/* What is made on the way from ratings to agents: ratings.c in parts. */
#include "data/als.h"
#include "data/attributes.h"
#include "data/ratings.h"
#include "tacit/data.h"

/* data.features, data.offset and data.profile */
enum { FEATURES_ALS, FEATURES_ITEMS, FEATURES_PUBLIC, FEATURES_BOTH };
enum { OFFSET_USER, OFFSET_GLOBAL, OFFSET_CONSTANT, OFFSET_PUBLIC, OFFSET_PUBLIC_ITEMS };
enum { PROFILE_RATINGS, PROFILE_CENTRED, PROFILE_USERS, PROFILE_NONE };

#define TACIT_PUBLIC_USER UINT32_MAX /* whose ratings everybody may know: no agent */

/* A rating of a public user. Sorted by user, then item; items are numbered among those that
 * public users rated, by name, so that nothing made of these depends on anybody else. */
typedef struct tacit_public_rating {
    uint32_t user, item;
    double value; /* less the user's mean */
} tacit_public_rating;

typedef struct tacit_making {
    const tacit_data_options *options;
    tacit_random random;
    tacit_names known;
    tacit_ratings ratings;
    tacit_attributes item_facts, user_facts;
    uint32_t users, items, agents;
    uint32_t *agent;                /* of each user, or TACIT_PUBLIC_USER */
    uint8_t *split;                 /* of each rating */
    uint32_t *counts[TACIT_SPLITS]; /* of each agent */
    size_t trained;                 /* ratings that agents train on */
    double *mean;                   /* of each user's training ratings; public users: of all */
    /* from public users; empty if there are none */
    size_t publics, public_items;
    tacit_public_rating *public;
    uint32_t *public_item; /* of each item, UINT32_MAX: no public user rated it */
    double public_mean;    /* of their ratings */
    double *effect;        /* of each public item: how much better it is liked, shrunk */
    /* of records */
    double constant; /* what is subtracted from every rating */
    size_t features; /* of an item, without the bias */
    double *feature; /* items x features */
    double constant_feature;
    tacit_source source;
} tacit_making;

/* The rating less the mean of its user's training ratings. */
static inline double tacit_making_centred(const tacit_making *m, size_t k)
{
    const tacit_rating *rating = &m->ratings.rating[k];
    return rating->value - m->mean[rating->user];
}
static inline const char *tacit_making_user(const tacit_making *m, uint32_t user)
{
    return tacit_names_get(&m->ratings.users, m->ratings.user_name[user]);
}
static inline const char *tacit_making_item(const tacit_making *m, uint32_t item)
{
    return tacit_names_get(&m->ratings.items, m->ratings.item_name[item]);
}

/* ---- ratings_public.c: before the split, who is no agent; after it, what they tell ---- */
tacit_status tacit_making_draw(tacit_making *m, tacit_error *err);
tacit_status tacit_making_public(tacit_making *m, tacit_error *err);

/* ---- ratings_features.c ---- */
/* The files of facts about items and users, as far as they are asked for. */
tacit_status tacit_making_facts(tacit_making *m, tacit_error *err);
tacit_status tacit_making_features(tacit_making *m, tacit_error *err);
/* ratings_whiten.c: turns features, and sets the constant one. */
tacit_status tacit_making_whiten(tacit_making *m, tacit_error *err);
/* What a graph compares. */
tacit_status tacit_making_profiles(tacit_making *m, tacit_error *err);

#endif
