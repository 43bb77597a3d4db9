/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every distinct cost of a run, kept once. A million ledgers then hold pointers instead of
 * copies, and equal costs are equal pointers. Kept costs never move and never change.
 *
 * One lock: a ledger asks only when a cost differs from the one before.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "privacy/costs.h"

typedef struct kept {
    struct kept *next; /* of the same bucket */
    uint64_t hash;
    _Atomic(tacit_noise *) noise; /* prepared when first asked for */
    tacit_cost cost;
    char what[];
} kept;

struct tacit_costs {
    pthread_mutex_t lock;
    kept **bucket;
    size_t buckets, count; /* buckets: a power of two */
    tacit_answers *answers;
    tacit_vouches *vouches;
};

tacit_costs *tacit_costs_create(void)
{
    tacit_costs *costs = calloc(1, sizeof *costs);
    if (!costs)
        return NULL;
    costs->buckets = 16;
    costs->bucket = calloc(costs->buckets, sizeof(kept *));
    costs->answers = tacit_answers_create();
    costs->vouches = tacit_vouches_create();
    if (!costs->bucket || !costs->answers || !costs->vouches ||
        pthread_mutex_init(&costs->lock, NULL) != 0) {
        tacit_answers_free(costs->answers);
        tacit_vouches_free(costs->vouches);
        free(costs->bucket);
        free(costs);
        return NULL;
    }
    return costs;
}

void tacit_costs_free(tacit_costs *costs)
{
    if (!costs)
        return;
    for (size_t i = 0; i < costs->buckets; i++)
        for (kept *k = costs->bucket[i], *next; k; k = next) {
            next = k->next;
            tacit_noise_free(atomic_load(&k->noise));
            free(k);
        }
    tacit_answers_free(costs->answers);
    tacit_vouches_free(costs->vouches);
    pthread_mutex_destroy(&costs->lock);
    free(costs->bucket);
    free(costs);
}

bool tacit_cost_same(const tacit_cost *a, const tacit_cost *b)
{
    return a->mechanism == b->mechanism && a->norm == b->norm && a->unit == b->unit &&
           a->adjacency == b->adjacency && a->grid == b->grid && a->categories == b->categories &&
           a->coordinates == b->coordinates && a->sensitivity == b->sensitivity &&
           a->noise == b->noise && a->sampling == b->sampling && a->claimed == b->claimed &&
           (a->what == b->what || strcmp(a->what, b->what) == 0);
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *b = bytes;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const tacit_cost *cost)
{
    const uint32_t kinds[] = {cost->mechanism,      cost->norm,       cost->unit,   cost->adjacency,
                              (uint32_t)cost->grid, cost->categories, cost->claimed};
    const double numbers[] = {cost->sensitivity + 0.0, cost->noise + 0.0, /* -0 is 0 */
                              cost->sampling + 0.0, (double)cost->coordinates};
    uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), kinds, sizeof kinds);
    hash = mix(hash, numbers, sizeof numbers);
    return mix(hash, cost->what, strlen(cost->what));
}

/* A larger table when it gets crowded; without memory for one the old one still serves. */
static void widen(tacit_costs *costs)
{
    size_t buckets = costs->buckets * 2;
    kept **bucket = costs->count < costs->buckets ? NULL : calloc(buckets, sizeof *bucket);
    if (!bucket)
        return;
    for (size_t i = 0; i < costs->buckets; i++)
        for (kept *k = costs->bucket[i], *next; k; k = next) {
            next = k->next;
            k->next = bucket[k->hash & (buckets - 1)];
            bucket[k->hash & (buckets - 1)] = k;
        }
    free(costs->bucket);
    costs->bucket = bucket;
    costs->buckets = buckets;
}

static const tacit_cost *find_or_add(tacit_costs *costs, const tacit_cost *cost, uint64_t hash)
{
    for (const kept *k = costs->bucket[hash & (costs->buckets - 1)]; k; k = k->next)
        if (k->hash == hash && tacit_cost_same(&k->cost, cost))
            return &k->cost;
    size_t len = strlen(cost->what) + 1;
    kept *added = malloc(sizeof *added + len);
    if (!added)
        return NULL;
    widen(costs);
    added->next = costs->bucket[hash & (costs->buckets - 1)];
    added->hash = hash;
    added->cost = *cost;
    atomic_init(&added->noise, NULL);
    memcpy(added->what, cost->what, len);
    added->cost.what = added->what;
    costs->bucket[hash & (costs->buckets - 1)] = added;
    costs->count++;
    return &added->cost;
}

const tacit_cost *tacit_costs_keep(tacit_costs *costs, const tacit_cost *cost)
{
    const uint64_t hash = hash_of(cost);
    pthread_mutex_lock(&costs->lock);
    const tacit_cost *found = find_or_add(costs, cost, hash);
    pthread_mutex_unlock(&costs->lock);
    return found;
}

tacit_answers *tacit_costs_answers(tacit_costs *costs)
{
    return costs->answers;
}

tacit_vouches *tacit_costs_vouches(tacit_costs *costs)
{
    return costs->vouches;
}

/* ---- noise ---- */

/* A ratio that is exactly `value`, a whole number of 1/1024. */
static tacit_ratio exactly(double value)
{
    if (value == floor(value))
        return (tacit_ratio){(uint64_t)value, 1};
    return (tacit_ratio){(uint64_t)(value * 1024), 1024};
}

static tacit_status prepare(const tacit_cost *cost, tacit_noise **out, tacit_error *err)
{
    const double steps = ldexp(cost->noise, -cost->grid);
    if (!(steps > 0 && steps <= 0x1p31) || (steps > 0x1p20 && steps != floor(steps)) ||
        steps * 1024 != floor(steps * 1024))
        return tacit_fail(err, TACIT_EINPUT,
                          "the noise of \"%s\" is %.17g grid steps, which was never planned so",
                          cost->what, steps);
    const tacit_ratio ratio = exactly(steps);
    if (cost->mechanism == TACIT_MECHANISM_LAPLACE)
        return tacit_noise_laplace(out, ratio, err);
    return tacit_noise_gaussian(out, (tacit_ratio){ratio.num * ratio.num, ratio.den * ratio.den},
                                err);
}

tacit_status tacit_costs_noise(tacit_costs *costs, const tacit_cost *cost,
                               const tacit_noise **noise, tacit_error *err)
{
    *noise = NULL;
    if (cost->mechanism != TACIT_MECHANISM_LAPLACE && cost->mechanism != TACIT_MECHANISM_GAUSSIAN)
        return TACIT_OK;
    kept *k = (kept *)((uintptr_t)cost - offsetof(kept, cost));
    if ((*noise = atomic_load_explicit(&k->noise, memory_order_acquire)))
        return TACIT_OK;
    tacit_noise *made = NULL;
    tacit_status status = prepare(cost, &made, err);
    if (status != TACIT_OK)
        return status;
    pthread_mutex_lock(&costs->lock);
    *noise = atomic_load(&k->noise);
    if (!*noise) {
        atomic_store_explicit(&k->noise, made, memory_order_release);
        *noise = made;
        made = NULL;
    }
    pthread_mutex_unlock(&costs->lock);
    tacit_noise_free(made); /* somebody else was faster */
    return TACIT_OK;
}
